"""Raters and models against the single answers of a panel, and the best that any answer could do.

Where a panel differs, no single answer agrees with all of it: even a perfect model has a ceiling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from setagree.checks import check_cost, check_level, public
from setagree.coefficients.chance import ROUNDING, Floats
from setagree.credit.base import Weights
from setagree.credit.overlap import zeroed
from setagree.distances import OverlapDistance
from setagree.distances.degrees import DegreeDistance
from setagree.distances.registry import DistanceLike
from setagree.errors import DataError, UndefinedAgreementWarning, counted, listing, warn
from setagree.inference.known_raters import known_plain
from setagree.inference.raters import Compared, case_of, flags, rater_codes
from setagree.large.opening import Data
from setagree.progress import track
from setagree.study.annotations import Annotations
from setagree.study.codes import have_degrees
from setagree.study.tally import Tally
from setagree.wording.results import Result

_ENTRIES_AT_ONCE = 4_000_000
"""Values times patterns whose credit is computed at a time; 32 MB."""

_MOST_LABELS = 12
"""Labels of a unit up to which all of their subsets are tried as answers."""

_LONG_WORK = 5_000


@dataclass(frozen=True, eq=False, repr=False)
class PanelScores(Result):
    """How near raters come to the single answers of a panel, beside what any answer could reach.

    Attributes
    ----------
    distance : str
        How answers are compared.
    level : float
        The level of the intervals.
    table : DataFrame
        A row for each rater: `n_units` that others of the panel rated too; `score`, the mean credit
        1 - d / d_max of the rater's answers with theirs, with its interval `low` to `high`;
        `ceiling`, the same of the best answer to each unit; `share`, the score over the ceiling,
        with `share_low` and `share_high`. nan where no unit is shared, and the ends of an interval
        where one is, or where all units are alike.
    """

    distance: str
    level: float
    table: pd.DataFrame

    @property
    def reasons(self) -> list[str | None]:
        """Why numbers of each row are nan, or None."""
        whys = {0: "no unit is shared with the panel", 1: "only one unit is shared with the panel"}
        alike = "all shared units are alike, so that no interval can be told"
        no_ends = self.table[["low", "share_low"]].isna().any(axis=1)
        return [
            whys.get(n, alike if absent else None)
            for n, absent in zip(self.table["n_units"], no_ends, strict=True)
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each rater."""
        return self.table.copy()

    def __repr__(self) -> str:
        known = self.table["ceiling"].dropna()
        upto = f", ceiling {known.min():.4f} to {known.max():.4f}" if len(known) else ""
        return f"<PanelScores [{self.distance}] of {counted(len(self.table), 'rater')}{upto}>"


@public
def score_against_panel(
    study: Data,
    *,
    raters: Sequence[object] | None = None,
    panel: Sequence[object] | None = None,
    distance: DistanceLike | None = None,
    level: float = 0.95,
) -> PanelScores:
    """Return how near raters or models come to the answers of a panel, and the ceiling of that.

    The score is the mean over units of the mean credit 1 - d / d_max of the rater's answer with the
    answers of the others of the panel to the unit. Where these differ, no single answer reaches 1.
    The ceiling is what the best answer to each unit reaches: the best of all answers that anybody
    in the study gave; where the distance asks for the sizes of two sets and of what they share
    alone, as MASI and Jaccard do, also of all subsets of the labels that the unit got, if there
    are 12 of them at most. A rater never counts in the panel that he or she is scored against.

    Nothing is corrected for chance. The intervals are t intervals over units, that of the share by
    the variance of a ratio of means, with an upper end of 1 at most; the raters are these.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Who gave what, models among the raters.
    raters : sequence of raters, optional
        Who is scored. Default: everybody.
    panel : sequence of raters, optional
        Whose answers count. Default: everybody; where models are among the raters, name the humans.
    distance : name, callable, Distance or labelled matrix, optional
        Default: MASI for label sets, nominal for scalars.
    level : float
        The level of the intervals.

    Returns
    -------
    PanelScores

    Raises
    ------
    DataError
        A rater is unknown, or the panel is one rater who would be compared with nobody.
    CostError
        There are too many distinct answers.

    Warns
    -----
    UndefinedAgreementWarning
        A rater shares no unit with others of the panel.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.Annotations.from_triples([
    ...     ("ann", 1, "a"), ("bob", 1, "a"), ("cem", 1, "b"), ("gpt", 1, "b"),
    ...     ("ann", 2, "a"), ("bob", 2, "a"), ("cem", 2, "a"), ("gpt", 2, "a"),
    ... ])
    >>> scores = score_against_panel(study, raters=["gpt"], panel=["ann", "bob", "cem"])
    >>> scores.table[["score", "ceiling", "share"]].round(3).to_dict("list")
    {'score': [0.667], 'ceiling': [0.833], 'share': [0.8]}
    """
    study = known_plain(study, "score_against_panel")
    study = study.with_queued or study
    check_level(level)
    everybody = list(range(study.n_raters))
    scored = everybody if raters is None else rater_codes(study, raters)
    members = (
        everybody if panel is None else rater_codes(study, panel, "rater of the panel", "panel")
    )
    if any(set(members) == {g} for g in scored):
        raise DataError(
            f"the panel is {listing(study.raters[members].tolist())} alone, who is compared with "
            "the answers of others; name more raters."
        )
    compared = case_of(study, distance)
    rows = [_row(*_by_unit(study, compared, g, members), level) for g in scored]
    index = pd.Index(study.raters[scored], name="rater", dtype=object, tupleize_cols=False)
    table = pd.DataFrame(rows, index=index)
    empty = table.index[table["n_units"] == 0].tolist()
    if empty:
        warn(
            f"score_against_panel: no unit is shared with others of the panel by {listing(empty)}: "
            "nan.",
            UndefinedAgreementWarning,
        )
    return PanelScores(compared.name, level, table)


def _by_unit(
    study: Annotations, compared: Compared, rater: int, members: Sequence[int]
) -> tuple[Floats, Floats]:
    """Return the credit of a rater, and the most that any answer gets, in each shared unit."""
    own = study.rater_codes == rater
    answer = np.full(study.n_units, -1)
    answer[study.unit_codes[own]] = study.value_codes[own]
    others = flags(study.n_raters, members)
    others[rater] = False
    rows = others[study.rater_codes] & (answer[study.unit_codes] >= 0)
    if not rows.any():
        return np.zeros(0), np.zeros(0)
    part = study.take(rows)
    credit = compared.weights.at(answer[study.unit_codes[rows]], part.value_codes)
    score = np.bincount(part.unit_codes, credit) / np.bincount(part.unit_codes)
    tally = Tally.from_annotations(part)
    assert tally.unit_patterns is not None  # noqa: S101 - its units are known
    most = _most_given(tally, compared.weights)
    distance = compared.case.distance
    if isinstance(distance, DegreeDistance) and not have_degrees(tally.values):
        distance = distance.of_sets
    if isinstance(distance, OverlapDistance):
        most = np.maximum(most, _most_of_subsets(tally, compared.weights, distance))
    return score, np.maximum(score, most[tally.unit_patterns])


def _most_given(tally: Tally, weights: Weights) -> Floats:
    """Return the most credit that any answer of the study has with each pattern."""
    K, P = tally.n_values, tally.n_patterns
    check_cost(
        f"The credit of {counted(K, 'answer')} with {counted(P, 'pattern')} of answers",
        n_steps=K * P * min(K, 100),
        instead="Merge or leave out rare answers, or take a part of the units.",
    )
    most, at_once = np.empty(P), max(1, _ENTRIES_AT_ONCE // K)
    for first in range(0, P, at_once):
        last = min(first + at_once, P)
        some = slice(tally.indptr[first], tally.indptr[last])
        X = np.zeros((K, last - first))
        X[tally.indices[some], tally.rows[some] - first] = tally.counts[some]
        most[first:last] = weights.dot(X).max(axis=0)
    return most / tally.pattern_ratings


def _most_of_subsets(tally: Tally, weights: Weights, distance: OverlapDistance) -> Floats:
    """Return the most credit that any subset of its labels has with each pattern of few labels."""
    function, most = zeroed(distance), np.full(tally.n_patterns, -np.inf)
    patterns = range(tally.n_patterns)
    long = tally.n_patterns > _LONG_WORK
    for p in track(patterns, total=tally.n_patterns, what="patterns", long=long):
        some = slice(tally.indptr[p], tally.indptr[p + 1])
        given: list[frozenset[object]] = [tally.values[k] for k in tally.indices[some]]
        bits = {label: 1 << k for k, label in enumerate(frozenset().union(*given))}
        if len(bits) > _MOST_LABELS:
            continue
        B = np.array([sum(bits[label] for label in labels) for labels in given])
        A = np.arange(1 << len(bits))[:, None]
        a, b, i = (np.bitwise_count(x).astype(np.int64) for x in (A, B, A & B))
        a, b = np.broadcast_to(a, i.shape), np.broadcast_to(b, i.shape)
        d = np.asarray(function(a.ravel(), b.ravel(), i.ravel())).reshape(i.shape)
        n = tally.counts[some]
        most[p] = 1 - (d @ n).min() / n.sum() / weights.max_distance
    return most


def _row(score: Floats, most: Floats, level: float) -> dict[str, float]:
    """Return the means of score and ceiling, their ratio, and the intervals of score and ratio."""
    from scipy.special import stdtrit

    n = len(score)
    mean, ceiling = (float(x.mean()) if n else float("nan") for x in (score, most))
    share = mean / ceiling if n and ceiling > 0 else float("nan")
    # Cochran (1977), equation 2.39: the variance of a ratio of means.
    deviations = (score - mean, (score - share * most) / (ceiling or np.nan))
    t = float(stdtrit(n - 1, (1 + level) / 2)) if n > 1 else float("nan")
    errors = [np.sqrt((x**2).sum() / (n - 1) / n) if n > 1 else np.nan for x in deviations]
    halves = [t * float(error) if error > ROUNDING else float("nan") for error in errors]
    return {
        "n_units": n,
        "score": mean,
        "low": mean - halves[0],
        "high": np.minimum(1.0, mean + halves[0]),
        "ceiling": ceiling,
        "share": share,
        "share_low": share - halves[1],
        "share_high": np.minimum(1.0, share + halves[1]),
    }
