"""Bounds of alpha over completions of the missing answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import pandas as pd

from setagree.checks import Codes, Floats, check_cost
from setagree.coefficients.case import ROUNDING, divided
from setagree.coefficients.sums import UnitSums
from setagree.credit.base import neighbours
from setagree.distances.registry import DistanceLike
from setagree.errors import UndefinedAgreementWarning, check_choice, check_list, warn
from setagree.inference.panel_members import case_of, unweighted_units
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.scoring.coefficients import krippendorff_alpha
from setagree.scoring.scorer import reason_of
from setagree.study.annotations import Annotations
from setagree.study.preparation import STATUSES
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
    statuses : tuple of str
        Statuses of the completed answers.
    reason : str or None
        Reason for an alpha of NaN, or None.
    """

    distance: str
    estimate: float
    lowest: float
    highest: float
    n_completed: int
    statuses: tuple[str, ...]
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
    the lowest and the highest alpha if each missing answer is one of the answers of the study.
    Units without any answer are completed, too.

    All completions are tried if there are at most 4,096. Otherwise a local search changes one
    answer at a time until no change helps. It starts from the answers nearest to (or furthest from)
    the other answers to the unit, from the same answer everywhere, and from random answers. Both
    bounds are attained by a completion, but those of the search are not proven to be extreme: of
    1,130 bounds of small studies it missed 5, by at most 0.13. The bounds do not include sampling
    error.

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
    compared = case_of(study, distance)
    whole = UnitSums(compared.case, krippendorff_alpha.model)
    observed, reason = whole.estimate, reason_of(whole.undefined, study.n_raters)
    units, values, missing = _pairable(study, statuses)
    lowest, highest, K, n = observed, observed, study.n_values, len(missing)
    if n:
        instead = "Merge or leave out rare answers, or take a part of the units."
        check_cost(
            "The distances between all answers", n_bytes=8 * K * (2 * K + 3 * n), instead=instead
        )
        n_steps = float(n) * (K + _LOOPED) * (2 * _STARTS + 1) * _ASSUMED_SWEEPS
        check_cost("The search for the completions", n_steps=n_steps, instead=instead)
        D = compared.weights.block(np.arange(K), np.arange(K))
        lowest, highest = _Search(D, units, values, missing).alphas()
    if np.isnan([observed, lowest, highest]).any():
        reason = reason or "every completion leaves alpha undefined"
        warn(
            f"completion_bounds [{compared.name}]: undefined (nan), because {reason}.",
            UndefinedAgreementWarning,
        )
    return CompletionBounds(compared.name, observed, lowest, highest, n, tuple(statuses), reason)


def _pairable(study: Annotations, statuses: Sequence[str]) -> tuple[Codes, Codes, Codes]:
    """Return the units and values of the ratings by unit, and the unit of each missing answer.

    Units with one answer, observed or missing, are left out.
    """
    position = {unit: k for k, unit in enumerate(study.units.tolist())}
    named = []
    if (table := study.unobserved) is not None:
        named = table.loc[table["status"].isin([*statuses]), "unit"].tolist()
    missing = np.array([position.setdefault(unit, len(position)) for unit in named], dtype=np.intp)
    order = np.argsort(study.unit_codes, kind="stable")
    units, values = study.unit_codes[order].astype(np.intp), study.value_codes[order]
    is_kept = np.bincount(np.concatenate([units, missing]), minlength=len(position)) > 1
    return units[is_kept[units]], values[is_kept[units]], missing[is_kept[missing]]


class _Search:
    """Do / De of the observed and the completed answers of a study.

    With c_u the counts of the r_u answers to unit u, n the counts of all N answers and D the K x K
    distances, Do / De is (N - 1) P / Q, where P is the sum of c_u' D c_u / (r_u - 1) and Q is
    n' D n.
    """

    def __init__(self, D: Floats, units: Codes, values: Codes, missing: Codes) -> None:
        r = np.bincount(np.concatenate([units, missing]))
        touched, self.place = np.unique(missing, return_inverse=True)
        self.D, self.share = D, 1 / (r[touched] - 1)
        self.N, self.is_defined = r.sum(), np.count_nonzero(r) > 1
        self.n = np.bincount(values, minlength=len(D)).astype(np.float64)
        self.counts = np.zeros((len(touched), len(D)))
        inside = np.isin(units, touched)
        np.add.at(self.counts, (np.searchsorted(touched, units[inside]), values[inside]), 1.0)
        units, values = units[~inside], values[~inside]
        self.others = sum(
            float((2 * D[values[left], values[right]] / (r[units[left]] - 1)).sum())
            for left, right in neighbours(units)
        )

    def alphas(self) -> tuple[float, float]:
        """Return the lowest and the highest alpha found, or NaN if alpha is undefined."""
        K, m = len(self.D), len(self.place)
        if m > 1 and K**m <= _MAX_TRIED:  # one change tries all values of one answer
            every = self._of_completions(np.indices((K,) * m).reshape(m, -1).T)
            return float(np.fmin.reduce(every)), float(np.fmax.reduce(every))
        generator, away = np.random.default_rng(0), (self.counts @ self.D)[self.place]
        alike = [np.full(m, k) for k in np.argsort(-self.n, kind="stable")[:_STARTS]]
        starts = [*alike, *generator.integers(K, size=(_STARTS, m))]
        lowest = [self._climbed(start, -1) for start in (away.argmax(axis=1), *starts)]
        highest = [self._climbed(start, 1) for start in (away.argmin(axis=1), *starts)]
        return float(np.fmin.reduce(lowest)), float(np.fmax.reduce(highest))

    def _of_completions(self, answers: Codes) -> Floats:
        """Return alpha of each completion, of shape (B,), from answers of shape (B, m)."""
        given = np.eye(len(self.D))[answers]
        to_units = np.equal.outer(np.arange(len(self.counts)), self.place).astype(np.float64)
        counts, n = self.counts + to_units @ given, self.n + given.sum(axis=1)
        P = self.others + np.einsum("buk,buk,u->b", counts @ self.D, counts, self.share)
        return self._alpha(P, np.einsum("bk,bk->b", n @ self.D, n))

    def _climbed(self, start: Codes, sign: int) -> float:
        """Return a local maximum (sign 1) or minimum of alpha over single changes."""
        D, answers = self.D, start.copy()
        counts, n = self.counts.copy(), self.n + np.bincount(answers, minlength=len(D))
        np.add.at(counts, (self.place, answers), 1.0)
        to_unit, to_all = counts @ D, n @ D
        P = self.others + float((np.einsum("uk,uk->u", to_unit, counts) * self.share).sum())
        Q = float(n @ to_all)
        for _ in range(_MAX_SWEEPS):
            before = answers.copy()
            for m, u in enumerate(self.place):
                a = answers[m]
                # The changes of P and Q if answer a becomes each of the K answers.
                dP = 2 * (to_unit[u] - to_unit[u, a] - D[a]) * self.share[u]
                dQ = 2 * (to_all - to_all[a] - D[a])
                alpha = self._alpha(P + dP, Q + dQ)
                gain = np.nan_to_num(sign * (alpha - alpha[a]), nan=-1.0)
                b = int(gain.argmax())
                if gain[b] > _GAIN:
                    P, Q, answers[m] = P + float(dP[b]), Q + float(dQ[b]), b
                    to_unit[u] += D[b] - D[a]
                    to_all += D[b] - D[a]
            if (answers == before).all():
                break
        return float(self._alpha(np.array([P]), np.array([Q]))[0])

    def _alpha(self, P: Floats, Q: Floats) -> Floats:
        """Return 1 - (N - 1) P / Q, or NaN if all answers are equal or belong to one unit."""
        return 1 - divided((self.N - 1) * P, Q * ((Q > ROUNDING) & self.is_defined))
