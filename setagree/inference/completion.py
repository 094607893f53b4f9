"""Bounds of alpha over completions of the missing answers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import pandas as pd

from setagree.checks import Codes, Floats, check_cost
from setagree.coefficients.case import ROUNDING, divided, dot, pattern_disagreement
from setagree.credit.base import Weights
from setagree.distances.registry import DistanceLike
from setagree.errors import check_choice, check_list, warn_nan
from setagree.inference.panel_members import unweighted_units
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.limits import BLOCK_ENTRIES
from setagree.scoring.coefficients import krippendorff_alpha
from setagree.scoring.scorer import Scorer, main_distance
from setagree.study.annotations import Annotations
from setagree.study.preparation import STATUSES
from setagree.study.tally import Tally
from setagree.wording.result_base import Result
from setagree.wording.tables import Column

_MAX_TRIED = 4_096
"""Maximum number of completions that are all tried."""

_STARTS = 8
"""Number of random completions, and of completions by one value, that also start a search."""

_MAX_SWEEPS, _ASSUMED_SWEEPS = 50, 10
"""Maximum number of sweeps of a search, and the number that its cost assumes."""

_LOOPED = 3_000
"""Minimum number of steps that one change counts as."""

_GAIN = 1e-12
"""Minimum gain in Do / De of an accepted change."""


@dataclass(frozen=True, eq=False, repr=False)
class CompletionBounds(Result):
    """Bounds of alpha over the possible values of the missing answers.

    Attributes
    ----------
    distance : str
        Name of the distance.
    estimate : float
        Alpha of the observed answers.
    lowest, highest : float
        Lowest and highest alpha found over completions.
    n_completed : int
        Number of completed answers.
    reason : str or None
        Reason for an alpha of NaN, or None.
    """

    distance: str
    estimate: float
    lowest: float
    highest: float
    n_completed: int
    reason: str | None

    columns = (
        Column("distance", "text"),
        Column("estimate", head="alpha", meaning="of the observed answers"),
        Column("lowest"),
        Column("highest"),
        Column("n_completed", "count", "answers completed"),
    )

    def _notes(self) -> list[str]:
        return [] if self.reason is None else [f"Undefined, because {self.reason}."]

    def to_frame(self) -> pd.DataFrame:
        """Return the bounds as one row."""
        return self._one_row("distance estimate lowest highest n_completed")


@takes_data
def completion_bounds(
    study: Data,
    *more: RaterAnswers,
    distance: DistanceLike | None = None,
    statuses: Sequence[str] = ("abstained", "failed to parse", "refused"),
    **options: Unpack[ReadingOptions],
) -> CompletionBounds:
    """Return bounds of Krippendorff's alpha over the answers that are missing for a reason.

    If a rater refuses difficult units, or a model's answer cannot be parsed, answers are not
    missing at random, and alpha of the other answers does not describe these units. The bounds are
    the lowest and the highest alpha if each missing answer is one of the answers of the study, also
    for units without any answer. They do not include sampling error.

    All completions are tried if there are at most 4,096. Otherwise a local search from several
    completions changes one answer at a time until no change helps. Both bounds are attained by a
    completion, but those of the search are not proven to be extreme: of 1,130 bounds of small
    studies it missed 5, by at most 0.13.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Ratings with a column of statuses: ``sa.read(table, status="status")``. Without statuses
        there is nothing to complete.
    distance : name, callable, Distance or labelled matrix, optional
        Default: MASI for label sets, interval for numbers, else nominal.
        Computed from the observed answers.
    statuses : sequence of str
        Statuses to complete, of "abstained", "not applicable", "failed to parse" and "refused".

    Returns
    -------
    CompletionBounds

    Raises
    ------
    CostError
        There are too many distinct answers or too many missing ones.
    OptionError
        A status is unknown.

    Warns
    -----
    UndefinedAgreementWarning
        Alpha of the observed or of the completed answers is undefined.

    Examples
    --------
    >>> import pandas as pd
    >>> import setagree as sa
    >>> table = pd.DataFrame({
    ...     "unit": [1, 1, 2, 2, 3, 3],
    ...     "rater": ["ann", "gpt"] * 3,
    ...     "labels": ["a", "a", "b", "b", "b", None],
    ...     "status": ["observed"] * 5 + ["refused"],
    ... })
    >>> found = completion_bounds(sa.read(table, status="status"))
    >>> found.estimate, round(found.lowest, 4), found.highest
    (1.0, 0.4444, 1.0)
    """
    check_list("statuses", statuses, "statuses")
    for status in statuses:
        check_choice("statuses", status, STATUSES[1:])
    study = unweighted_units(study, "completion_bounds")
    agreement = Scorer(study).score(krippendorff_alpha, main_distance(study, distance))
    lowest = highest = agreement.estimate
    missing, r = _missing(study, statuses)
    if len(missing):
        lowest, highest = _Completions(study, agreement.weights, missing, r).bounds()
    name, reason = agreement.distance, agreement.reason
    if np.isnan([agreement.estimate, lowest, highest]).any():
        reason = reason or "every completion leaves alpha undefined"
        warn_nan(f"completion_bounds [{name}]", reason)
    return CompletionBounds(name, agreement.estimate, lowest, highest, len(missing), reason)


def _missing(study: Annotations, statuses: Sequence[str]) -> tuple[Codes, Codes]:
    """Return the unit of each missing answer, and r_u, the number of all answers to each unit.

    Units that nobody answered come last. Units with one answer, observed or missing, have r_u = 0.
    """
    position = {unit: k for k, unit in enumerate(study.units.tolist())}
    named = []
    if (table := study.unobserved) is not None:
        named = table.loc[table["status"].isin([*statuses]), "unit"].tolist()
    missing = np.array([position.setdefault(unit, len(position)) for unit in named], dtype=np.intp)
    r = np.bincount(np.concatenate([study.unit_codes, missing]), minlength=len(position))
    return missing[r[missing] > 1], np.where(r > 1, r, 0)


class _Completions:
    """Do / De of the observed and the completed answers of a study.

    With c_u the counts of the r_u answers to unit u, n the counts of all N answers and D the K x K
    distances, Do / De is (N - 1) P / Q, where P is the sum of c_u' D c_u / (r_u - 1) and Q is
    n' D n.
    """

    def __init__(self, study: Annotations, weights: Weights, missing: Codes, r: Codes) -> None:
        K, n = study.n_values, len(missing)
        check_cost(
            "The search for the completions",
            n_bytes=8 * K * (2 * K + 3 * n),
            n_steps=float(n) * (K + _LOOPED) * (2 * _STARTS + 1) * _ASSUMED_SWEEPS,
            instead="Merge or leave out rare answers, or take a part of the units.",
        )
        self.D = weights.block(np.arange(K), np.arange(K))
        touched, self.place = np.unique(missing, return_inverse=True)
        self.share, self.N, self.is_defined = 1 / (r[touched] - 1), r.sum(), np.count_nonzero(r) > 1
        units, values = study.unit_codes, study.value_codes
        self.n = np.bincount(values[r[units] > 1], minlength=K).astype(np.float64)
        inside = np.isin(units, touched)
        self.counts = np.zeros((len(touched), K))
        np.add.at(self.counts, (np.searchsorted(touched, units[inside]), values[inside]), 1.0)
        rest = Tally.of(study.take(~inside))
        q = pattern_disagreement(rest, weights)
        self.others = dot(divided(q, rest.pattern_ratings - 1, 0.0), rest.multiplicity)

    def bounds(self) -> tuple[float, float]:
        """Return the lowest and the highest alpha found, or NaN if alpha is undefined."""
        K, m = len(self.D), len(self.place)
        if m > 1 and K**m <= _MAX_TRIED:  # one change tries all values of one answer
            lowest = highest = self._alphas(np.array([*itertools.product(range(K), repeat=m)]))
        else:
            away = (self.counts @ self.D)[self.place]
            alike = np.tile(np.argsort(-self.n, kind="stable")[:_STARTS, None], m)
            starts = [*alike, *np.random.default_rng(0).integers(K, size=(_STARTS, m))]
            lowest = self._alphas(np.array([away.argmax(axis=1), *starts]), sign=-1)
            highest = self._alphas(np.array([away.argmin(axis=1), *starts]), sign=1)
        return float(np.fmin.reduce(lowest)), float(np.fmax.reduce(highest))

    def _alphas(self, answers: Codes, *, sign: int = 0) -> Floats:
        """Return alpha of completions, of shape (B,), from answers of shape (B, m).

        With sign 1 or -1, return the local maximum or minimum over single changes from each.
        """
        if (B := len(answers)) > 1 and B * self.counts.size > BLOCK_ENTRIES:
            return np.concatenate([self._alphas(x, sign=sign) for x in np.array_split(answers, 2)])
        D, each = self.D, np.arange(B)
        counts = np.tile(self.counts, (B, 1, 1))
        np.add.at(counts, (each[:, None], self.place, answers), 1.0)
        n = self.n + (counts - self.counts).sum(axis=1)
        to_unit, to_all = counts @ D, n @ D
        P = self.others + np.einsum("buk,buk,u->b", to_unit, counts, self.share)
        Q = np.einsum("bk,bk->b", to_all, n)
        for _ in range(_MAX_SWEEPS if sign else 0):
            before = answers.copy()
            for m, u in enumerate(self.place):
                a = answers[:, m]
                # The changes of P and Q if answer a becomes each of the K answers.
                dP = 2 * (to_unit[:, u] - to_unit[each, u, a, None] - D[a]) * self.share[u]
                dQ = 2 * (to_all - to_all[each, a, None] - D[a])
                alpha = self._alpha(P[:, None] + dP, Q[:, None] + dQ)
                gain = np.nan_to_num(sign * (alpha - alpha[each, a, None]), nan=-1.0)
                b = gain.argmax(axis=1)
                b = np.where(gain[each, b] > _GAIN, b, a)
                P, Q = P + dP[each, b], Q + dQ[each, b]
                to_unit[:, u] += D[b] - D[a]
                to_all += D[b] - D[a]
                answers[:, m] = b
            if (answers == before).all():
                break
        return self._alpha(P, Q)

    def _alpha(self, P: Floats, Q: Floats) -> Floats:
        """Return 1 - (N - 1) P / Q, or NaN if all answers are equal or belong to one unit."""
        return 1 - divided((self.N - 1) * P, Q * ((Q > ROUNDING) & self.is_defined))
