"""Raters and models against the consensus or the single answers of a panel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import Codes, Flags, Floats, check_cost, check_level
from setagree.coefficients.case import ROUNDING, divided
from setagree.coefficients.sums import root
from setagree.credit import WeightBuilder
from setagree.credit.base import Weights
from setagree.credit.geometry import SetGeometry, zeroed
from setagree.distances import Distance, NominalDistance, OverlapDistance
from setagree.distances.base import OverlapFunction
from setagree.distances.degrees import DegreeDistance
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    DataError,
    UndefinedAgreementWarning,
    a_type,
    check_list,
    counted,
    listing,
    warn,
)
from setagree.inference.panel_members import (
    Compared,
    answers_of,
    case_of,
    flags,
    part_of,
    rater_codes,
    rater_index,
    unweighted_units,
)
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.limits import BLOCK_ENTRIES
from setagree.panels.consensus import Method, Rule, Ties, warn_unconverged
from setagree.progress import track
from setagree.scoring.intervals import t_interval
from setagree.scoring.scorer import main_distance
from setagree.study.annotations import Annotations
from setagree.study.codes import entries_of, have_degrees
from setagree.study.degrees import warn_degrees
from setagree.study.labels import is_missing
from setagree.study.tally import Tally
from setagree.wording.label_sets import Label
from setagree.wording.result_base import Result
from setagree.wording.tables import Column


@dataclass(frozen=True, eq=False, repr=False)
class ConsensusScores(Result):
    """Scores of each rater against the consensus of the others.

    Attributes
    ----------
    method : str
        Method of the consensus.
    table : DataFrame
        One row per rater: `n_units` with a consensus of others, `n_left_out` without one (no other
        rater, or no agreed answer), `exact` (share of equal answers), `jaccard` (mean over units, 1
        if both are empty), `micro_f1` and `macro_f1`; NaN without compared units.
    by_label : DataFrame
        One row per rater and label: true positives, false positives, false negatives, precision,
        recall and F1; 0 if the denominator is 0.
    """

    method: str
    table: pd.DataFrame
    by_label: pd.DataFrame

    frame_name = "table"
    columns = (
        Column("rater", "name"),
        Column("n_units", "count", "units"),
        Column("exact"),
        Column("jaccard", head="Jaccard"),
        Column("micro_f1", head="micro F1"),
        Column("macro_f1", head="macro F1"),
    )

    def _heading(self) -> str:
        return f"Against the consensus of the others ({self.method}):"


@takes_data
def score_against_consensus(
    study: Data,
    *more: RaterAnswers,
    raters: Sequence[object] | None = None,
    panel: Sequence[object] | None = None,
    method: Method | None = None,
    threshold: float | None = None,
    ties: Ties = "missing",
    distance: DistanceLike | None = None,
    **options: Unpack[ReadingOptions],
) -> ConsensusScores:
    """Return scores of raters or models against the consensus of a panel.

    The consensus for a rater is computed without that rater, from the others of the panel on the
    rater's units. With tp, fp and fn the numbers of labels that are in both, in the rater's answer
    only, and in the consensus only, F1 = 2 tp / (2 tp + fp + fn): `micro_f1` is from the sums over
    all labels, `macro_f1` the mean over the labels that occur on either side. A scalar is its own
    label. The consensus is assumed to be correct; the scores are not chance-corrected.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Who gave what.
    raters : sequence of raters, optional
        Raters to score. Default: all raters.
    panel : sequence of raters, optional
        Raters of the consensus. Default: all raters; if models are among them, pass the humans.
    method, threshold, ties, distance
        Options of the consensus; see `consensus`.

    Returns
    -------
    ConsensusScores

    Raises
    ------
    DataError
        A rater is unknown, or the panel is one rater who is scored.
    OptionError
        An option is unknown or does not fit the method.

    Warns
    -----
    DegreesWarning
        Labels have degrees, which count only in the column exact.
    UndefinedAgreementWarning
        A rater has no unit with a consensus of others.
    ConvergenceWarning
        As in `consensus`.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(200, 4, skill=[0.8, 0.8, 0.8, 0.5], rng=1)
    >>> scores = score_against_consensus(study, raters=["r1", "r4"], panel=["r1", "r2", "r3"])
    >>> scores.to_frame()["micro_f1"].round(3).to_dict()
    {'r1': 0.789, 'r4': 0.659}
    """
    study = unweighted_units(study, "score_against_consensus")
    study = study.with_queued or study
    warn_degrees(study.values, "score_against_consensus, except for the column exact,")
    rule = Rule.of(study, method, threshold, ties, distance)
    scored, members = _scored_and_members(study, raters, panel, "consensus")
    results = [_consensus_scores(study, rule, members, rater) for rater in scored]
    table = pd.DataFrame([row for row, _ in results], index=rater_index(study, scored))
    warn_unconverged(int(table.pop("n_unconverged").max()))
    _warn_unshared(table, "no unit has a consensus of others to compare with for {}: nan.")
    by_label = pd.concat([part for _, part in results], ignore_index=True)
    return ConsensusScores(rule.method, table, by_label)


def _warn_unshared(table: pd.DataFrame, message: str) -> None:
    """Warn of raters without a unit to compare, whose scores are NaN."""
    if (table["n_units"] == 0).any():
        unshared = table.index[table["n_units"] == 0].tolist()
        warn(message.format(listing(unshared)), UndefinedAgreementWarning)


def _consensus_scores(
    study: Annotations, rule: Rule, members: Sequence[int], rater: int
) -> tuple[dict[str, float], pd.DataFrame]:
    """Return the scores of a rater against the consensus of others, and those by label."""
    from scipy import sparse

    answers, rows = _shared_with_others(study, rater, members)
    left: Codes = np.zeros(0, dtype=np.int64)
    right = left
    codes, n_unconverged = {value: code for code, value in enumerate(study.values)}, 0
    if rows.any():
        decision = rule.decide(part_of(study, rows))
        agreed = np.array([codes.setdefault(v, len(codes)) for v in decision.values] + [-1])
        right, n_unconverged = agreed[decision.codes], decision.n_unconverged
        left = answers[np.unique(study.unit_codes[rows])][right >= 0]
        right = right[right >= 0]
    # The labels of each value; a scalar is its own label.
    table, names = sparse.eye_array(len(codes), format="csr"), list(codes)
    if all(isinstance(value, frozenset) for value in codes):
        sets = SetGeometry(tuple(codes))
        table, names = sets.flags, sets.labels
    sides = table[left].multiply(table[right]), table[left], table[right]
    (tp, given, agreed), (both, of_rater, of_others) = (
        [np.asarray(x.sum(axis=axis), dtype=np.float64).ravel() for x in sides] for axis in (0, 1)
    )
    either, n = of_rater + of_others - both, len(left)
    # F1 = 2 tp / (2 tp + fp + fn), with tp + fp the labels of the rater, tp + fn the consensus.
    f1, seen = divided(2 * tp, given + agreed, 0.0), np.flatnonzero(given + agreed)
    row = {
        "n_units": n,
        "n_left_out": int((study.rater_codes == rater).sum()) - n,
        "n_unconverged": n_unconverged,
        "exact": _mean(left == right),
        "jaccard": _mean(divided(both, either, 1.0)),
        # Without any label, the scores are NaN, not 0.
        "micro_f1": 2 * tp.sum() / (given + agreed).sum() if len(seen) else float("nan"),
        "macro_f1": _mean(f1[seen]),
    }
    by_label = {
        "rater": [study.raters[rater]] * len(seen),
        "label": [names[k] for k in seen],
        "true_positives": tp[seen].astype(np.int64),
        "false_positives": (given - tp)[seen].astype(np.int64),
        "false_negatives": (agreed - tp)[seen].astype(np.int64),
        "precision": divided(tp, given, 0.0)[seen],
        "recall": divided(tp, agreed, 0.0)[seen],
        "f1": f1[seen],
    }
    return row, pd.DataFrame(by_label)


def _mean(each: npt.NDArray[Any]) -> float:
    return float(each.mean()) if len(each) else float("nan")


_MOST_SUBSETS = 4_096
"""Maximum number of subsets tried as answers to a unit: all subsets of 12 labels."""

_MOST_ANSWERS = 60
"""Maximum number of distinct answers to a unit, for bits of an integer."""

_TABLED = 64
"""Sizes of sets below which distances are looked up; 2 MB."""

_LARGEST_SET = 200
"""Maximum number of labels of an answer for which a distance is tested."""


@dataclass(frozen=True, eq=False, repr=False)
class PanelScores(Result):
    """Scores of raters against the single answers of a panel, with the attainable maximum.

    Attributes
    ----------
    distance : str
        Name of the distance.
    level : float
        The level of the intervals.
    table : DataFrame
        One row per rater: `n_units` that others of the panel rated, too; `score`, the mean credit 1
        - d / d_max of the rater's answers with theirs, with its interval `low` to `high`;
        `ceiling`, the mean credit of the best answer to each unit; `share`, the score over the
        ceiling, with `share_low` and `share_high`. NaN without shared units; the bounds of
        intervals are also NaN for one unit, or if all units are equal.
    """

    distance: str
    level: float
    table: pd.DataFrame

    frame_name = "table"
    columns = (
        Column("rater", "name"),
        Column("n_units", "count", "units"),
        Column("score"),
        Column(("low", "high"), "interval"),
        Column("ceiling", meaning="the score of the best answer to each unit"),
        Column("share", meaning="the score over the ceiling"),
        Column(("share_low", "share_high"), "interval", "of the share"),
    )

    @property
    def reasons(self) -> list[str | None]:
        """Reason for NaN in each row, or None."""
        whys = {0: "no unit is shared with the panel", 1: "only one unit is shared with the panel"}
        alike = "all shared units are alike, so that the interval is undefined"
        no_ends = self.table[["low", "share_low"]].isna().any(axis=1)
        return [
            whys.get(n, alike if absent else None)
            for n, absent in zip(self.table["n_units"], no_ends, strict=True)
        ]

    def _heading(self) -> str:
        return f"Against the answers of the others [{self.distance}]:"


@takes_data
def score_against_panel(
    study: Data,
    *more: RaterAnswers,
    raters: Sequence[object] | None = None,
    panel: Sequence[object] | None = None,
    distance: DistanceLike | None = None,
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> PanelScores:
    """Return scores of raters against the answers of a panel, with the ceiling of the scores.

    The score is the mean over units of the mean credit 1 - d / d_max of the rater's answer with the
    answers of the other panel members to the unit. If these differ, no single answer has a credit
    of 1. The ceiling is the credit of the best answer to each unit, of all answers in the study. If
    the distance depends only on the sizes of two sets and of their intersection, as for MASI and
    Jaccard, all subsets of the unit's labels are tried, too, unless more than 4,096 of them differ
    in credit: labels given by the same raters are interchangeable. Raters are never scored against
    themselves.

    Scores are not chance-corrected. The intervals are t intervals over units with these raters,
    truncated at 0 and 1; that of the share uses the variance of a ratio of means.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Ratings, with models among the raters.
    raters : sequence of raters, optional
        Raters to score. Default: all raters.
    panel : sequence of raters, optional
        Raters whose answers count. Default: all raters; if models are among them, pass the humans.
    distance : name, callable, Distance or labelled matrix, optional
        Default: MASI for label sets, interval for numbers, else nominal.
    level : float
        The level of the intervals.

    Returns
    -------
    PanelScores

    Raises
    ------
    DataError
        A rater is unknown, or the panel is one rater who is scored.
    CostError
        There are too many distinct answers to try each on each unit. This is necessary for units
        with too many subsets, and for distances that do not depend on set sizes only.

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
    study = unweighted_units(study, "score_against_panel")
    study = study.with_queued or study
    check_level(level)
    scored, members = _scored_and_members(study, raters, panel, "answers")
    compared = case_of(study, distance)
    best = BestSubsets(study, compared)
    rows = [_row(*_by_unit(study, compared, g, members, best), level) for g in scored]
    table = pd.DataFrame(rows, index=rater_index(study, scored))
    unshared = "score_against_panel: no unit is shared with others of the panel by {}: nan."
    _warn_unshared(table, unshared)
    return PanelScores(compared.name, level, table)


def _by_unit(
    study: Annotations, compared: Compared, rater: int, members: Sequence[int], best: BestSubsets
) -> tuple[Floats, Floats]:
    """Return the credit of a rater, and the largest credit of any answer, in each shared unit."""
    answers, rows = _shared_with_others(study, rater, members)
    if not rows.any():
        return np.zeros(0), np.zeros(0)
    part = study.take(rows)
    credit = compared.weights.at(answers[study.unit_codes[rows]], part.value_codes)
    score = np.bincount(part.unit_codes, credit) / np.bincount(part.unit_codes)
    tally = Tally.of(part)
    assert tally.unit_patterns is not None  # noqa: S101 - its units have identifiers
    most = best.credit(tally)
    rest = np.flatnonzero(np.isinf(most) | (not best.beat_others))
    most[rest] = np.maximum(most[rest], _most_given(tally, rest, compared.weights))
    return score, np.maximum(score, most[tally.unit_patterns])


def _most_given(tally: Tally, patterns: Codes, weights: Weights) -> Floats:
    """Return the largest credit that any answer of the study has with each of some patterns."""
    from scipy import sparse

    K, P = tally.n_values, len(patterns)
    check_cost(
        f"The credit of {counted(K, 'answer')} with {counted(P, 'pattern')} of answers",
        n_steps=K * P * min(K, 100),
        instead="Merge or leave out rare answers, or take a part of the units.",
    )
    shape, most, at_once = (tally.n_patterns, K), np.empty(P), max(1, BLOCK_ENTRIES // K)
    table = sparse.csr_array((tally.counts, tally.indices, tally.indptr), shape=shape)
    for first in range(0, P, at_once):
        X = table[patterns[first : first + at_once]].T.toarray(order="C").astype(np.float64)
        most[first : first + at_once] = weights.dot(X).max(axis=0)
    return most / tally.pattern_ratings[patterns]


class BestSubsets:
    """The largest credit that a subset of the labels of a pattern has with the pattern.

    Labels of a pattern that are members of the same answers are interchangeable: the credit of a
    subset depends only on its number of labels of each such class. Patterns with classes of the
    same sizes have the same best subset, which is computed once. `beat_others` is whether an answer
    with labels that the pattern does not have is never better.
    """

    def __init__(self, study: Annotations, compared: Compared) -> None:
        self._max_distance = compared.weights.max_distance
        distance = compared.case.distance
        if isinstance(distance, DegreeDistance) and not have_degrees(study.values):
            distance = distance.of_sets
        self._known: dict[tuple[bytes, bytes], float] = {}
        self._function, self._is_nominal = None, isinstance(distance, NominalDistance)
        self.beat_others = self._is_nominal
        if isinstance(distance, OverlapDistance):
            self._sets, self._function = SetGeometry(study.values), zeroed(distance)
            self.beat_others = _grows(self._function, np.unique(self._sets.sizes))

    def credit(self, tally: Tally) -> Floats:
        """Return the largest credit per pattern, or -inf if too many subsets differ."""
        most = np.full(tally.n_patterns, -np.inf)
        if self._is_nominal:
            return np.maximum.reduceat(tally.counts, tally.indptr[:-1]) / tally.pattern_ratings
        if self._function is None:
            return most
        counts, starts, classes = self._classes(tally)
        n, c = counts.tobytes(), classes.tobytes()
        ends = zip(tally.indptr[1:].tolist(), starts[1:].tolist(), strict=True)
        i, j, tracked = 0, 0, track(ends, total=tally.n_patterns, what="patterns")
        for p, (i_end, j_end) in enumerate(tracked):
            key = n[8 * i : 8 * i_end], c[16 * j : 16 * j_end]
            if key not in self._known:
                self._known[key] = self._most(counts[i:i_end], *classes[j:j_end].T)
            most[p], i, j = self._known[key], i_end, j_end
        return most

    def _classes(self, tally: Tally) -> tuple[Floats, Codes, Codes]:
        """Return the counts of the tally in another order, and the classes of labels.

        A class is a pair: its answers as bits, in the order of the counts, and its number of
        labels. The second array has the start of the classes of each pattern. Answers are ordered
        by properties that are equal in similar patterns: count, size, and the frequency of their
        labels.
        """
        sets, L = self._sets, max(len(self._sets.labels), 1)
        n = sets.sizes[tally.indices]
        entry = np.repeat(np.arange(len(n)), n)
        label = sets.indices[entries_of(sets.indptr, tally.indices)]
        # Each pair of a pattern and one of its labels, and its members, as bits.
        pairs, pair = np.unique(tally.rows[entry] * L + label, return_inverse=True)
        common = np.bincount(entry, np.bincount(pair)[pair] ** 2, minlength=len(n))
        order = np.lexsort((common, n, tally.counts, tally.rows))
        bit = np.empty(len(n), dtype=np.int64)
        bit[order] = np.arange(len(n)) - tally.indptr[tally.rows]
        bits = np.zeros(len(pairs), dtype=np.int64)
        np.bitwise_or.at(bits, pair, np.left_shift(1, np.minimum(bit, _MOST_ANSWERS))[entry])
        kinds, kind = np.unique(bits, return_inverse=True)
        found, sizes = np.unique(pairs // L * len(kinds) + kind, return_counts=True)
        pattern, kind = np.divmod(found, max(len(kinds), 1))
        starts = np.searchsorted(pattern, np.arange(tally.n_patterns + 1))
        classes = np.column_stack([kinds[kind], sizes]).astype(np.int64)
        return tally.counts[order].astype(np.float64), starts, classes

    def _most(self, n: Floats, bits: Codes, sizes: Codes) -> float:
        """Return the largest credit with answers given n times, by their classes of labels."""
        if len(n) > _MOST_ANSWERS or np.prod(sizes + 1.0) > _MOST_SUBSETS:
            return -np.inf
        of_answer = (bits >> np.arange(len(n))[:, None]) & 1
        # Column s: the number of labels of each class in subset s.
        shape = tuple((sizes + 1).tolist())
        subsets = np.indices(shape).reshape(len(shape), math.prod(shape))
        a, b, i = subsets.sum(axis=0), of_answer @ sizes, of_answer @ subsets
        d = self._distances(a[None, :], b[:, None], i)
        return float(1 - (n @ d).min() / n.sum() / self._max_distance)

    def _distances(self, a: Any, b: Any, i: Any) -> Floats:
        """Return the distances of sets of sizes a and b, elementwise, from a table if small."""
        assert self._function is not None  # noqa: S101 - the caller has checked it
        if max(int(a.max()), int(b.max())) < _TABLED:
            return np.asarray(self._table[a, b, i])
        of_a, of_b = np.broadcast_to(a, i.shape).ravel(), np.broadcast_to(b, i.shape).ravel()
        return np.asarray(self._function(of_a, of_b, i.ravel())).reshape(i.shape)

    @cached_property
    def _table(self) -> Floats:
        """The distances of sets by size, size and number of shared labels."""
        assert self._function is not None  # noqa: S101 - the caller has checked it
        a, b, i = np.indices((_TABLED,) * 3, dtype=np.int64)
        possible = i <= np.minimum(a, b)
        table = np.zeros(a.shape)
        table[possible] = self._function(a[possible], b[possible], i[possible])
        return table


def _grows(function: OverlapFunction, sizes: Codes) -> bool:
    """Return whether a label that no other set has never makes a set nearer to the others."""
    largest = int(sizes[-1])
    if largest > _LARGEST_SET:
        return False
    grid = np.meshgrid(np.arange(largest), sizes, np.arange(largest + 1))
    possible = grid[2] <= np.minimum(grid[0], grid[1])
    a, b, i = (np.asarray(x[possible], dtype=np.int64) for x in grid)
    growth = np.asarray(function(a + 1, b, i)) - np.asarray(function(a, b, i))
    return bool((growth >= -ROUNDING).all())


def _row(score: Floats, most: Floats, level: float) -> dict[str, float]:
    """Return the means of score and ceiling, their ratio, and the intervals of score and ratio."""
    n = len(score)
    mean, ceiling = _mean(score), _mean(most)
    share = mean / ceiling if ceiling > 0 else float("nan")
    # Cochran (1977), equation 2.39: the variance of a ratio of means.
    deviations = (score - mean, (score - share * most) / (ceiling or np.nan))
    variances = [float((x**2).sum() / (n - 1) / n) if n > 1 else 0.0 for x in deviations]
    intervals = (
        t_interval(x, float(root(np.asarray(variance))), n - 1.0, level)
        for x, variance in zip((mean, share), variances, strict=True)
    )
    (low, high), (share_low, share_high) = ((max(low, 0.0), high) for low, high in intervals)
    own = {"n_units": n, "score": mean, "low": low, "high": high, "ceiling": ceiling}
    return own | {"share": share, "share_low": share_low, "share_high": share_high}


@dataclass(frozen=True, repr=False)
class PanelScorer:
    """A scikit-learn scorer of the agreement of a model with a panel of raters.

    Created by `panel_scorer`. Called with a fitted model and its input, it returns the agreement;
    larger is better.
    """

    study: Annotations = field(repr=False)
    distance: Distance
    labels: tuple[Label, ...]

    def __repr__(self) -> str:
        return f"<PanelScorer: {self.distance.name}, {self.study!r}>"

    def __call__(self, model: Any, X: Any, y: object = None) -> float:  # noqa: ARG002
        """Return the agreement of a model's predictions with the panel.

        Parameters
        ----------
        model : estimator
            An estimator whose `predict` returns one answer per row of `X`.
        X : DataFrame or Series
            Rows that represent units, which are the index.
        y : object
            Ignored: the study has the answers of the panel.
        """
        if isinstance(X, pd.DataFrame | pd.Series):
            return self.score([*X.index], model.predict(X))
        raise DataError(
            f"{a_type(X)} has no index of units; pass a DataFrame, or score the predictions with "
            "their units: scorer.score(units, model.predict(X))."
        )

    def score(self, units: Sequence[Any], predictions: Any) -> float:
        """Return the agreement of answers to units with the panel."""
        model = self._coded(units, predictions)
        places = pd.Index(self.study.units, tupleize_cols=False).get_indexer(
            pd.Index(model.units, tupleize_cols=False)
        )
        if (places < 0).all():
            raise DataError(
                f"none of the {counted(len(places), 'predicted unit')} (first: "
                f"{listing(model.units[:3].tolist())}) is among those of the panel."
            )
        # The answers of the model and of the raters to the units of both, as codes of all values.
        study = self.study
        values = {v: k for k, v in enumerate(dict.fromkeys([*study.values, *model.values]))}
        merged = np.array([values[value] for value in model.values])
        answers, is_rated = np.full(study.n_units, -1, dtype=np.intp), places[model.unit_codes] >= 0
        answers[places[model.unit_codes[is_rated]]] = merged[model.value_codes[is_rated]]
        rated = np.flatnonzero(answers[study.unit_codes] >= 0)
        unit, human = study.unit_codes[rated], study.value_codes[rated]
        n_human = np.bincount(unit, minlength=study.n_units)
        used = n_human > 0
        of_human = np.bincount(human, minlength=len(values)).astype(float)
        of_model = np.bincount(answers[used], minlength=len(values)).astype(float)
        builder = WeightBuilder(tuple(values), study.kind, of_human + of_model, order=study.order)
        weights = builder.build(self.distance)
        # kappa_x = 1 - d_o / d_e (Wong et al. 2021), of a panel and one more rater
        share = (n_human[unit] + 1) / n_human[unit]
        d = weights.distance_at(human, answers[unit])
        observed = float((share * d).sum()) / float((n_human[used] + 1).sum())
        chance = float(of_human @ weights.distance_dot(of_model))
        expected = chance / (of_human.sum() * of_model.sum())
        if not expected:
            warn(
                "the score is undefined (nan), because model and panel used one value only.",
                UndefinedAgreementWarning,
            )
            return float("nan")
        return float(1 - observed / expected)

    def _coded(self, units: Sequence[Any], predictions: Any) -> Annotations:
        if len(units) != len(set(units)):
            raise DataError("a unit occurs in two rows of X; each must be predicted once.")
        shape = predictions.shape if hasattr(predictions, "shape") else (len(predictions),)
        if len(units) != shape[0]:
            raise DataError(f"{shape[0]:,} predictions do not fit {len(units):,} units.")
        if self.study.kind == "labels" and len(shape) == 2:
            flags = predictions.toarray() if hasattr(predictions, "toarray") else predictions
            cube = np.asarray(flags)[None]
            return Annotations.from_indicators(cube, labels=self.labels, units=units)
        pairs = zip(units, predictions, strict=True)
        rows = [("model", unit, answer) for unit, answer in pairs if not is_missing(answer)]
        return Annotations.from_triples(
            rows, kind=self.study.kind, blank="empty" if self.study.kind == "labels" else None
        )


@takes_data
def panel_scorer(
    study: Data,
    *more: RaterAnswers,
    distance: DistanceLike | None = None,
    labels: Sequence[Label] | None = None,
) -> PanelScorer:
    """Return a scikit-learn scorer that measures a model against the panel of a study.

    The score is kappa_x = 1 - d_o / d_e, where d_o is the mean distance between the model's answer
    and those of the raters of the same unit, and d_e that between all its answers and all theirs.
    It is 1 if the model's answers equal those of every rater, and 0 if they agree as expected by
    chance.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        The answers of the panel. Units that are not in a fold are left out.
    distance : name, callable, Distance or labelled matrix, optional
        Distance of two answers. Default: MASI for label sets, interval for numbers, else nominal.
    labels : sequence, optional
        Labels of the columns of predicted flags. Default: the sorted labels of the study, as in
        ``MultiLabelBinarizer``.

    Returns
    -------
    PanelScorer
        For ``scoring=`` of ``cross_val_score``, ``GridSearchCV`` and similar functions. Predictions
        may be flags (units x labels, also sparse), label sets, label text (blank for the empty
        set), or single values; None is not an answer.

    Raises
    ------
    DataError
        No predicted unit is one of the panel, a unit is predicted twice, or `X` has no index.

    Warns
    -----
    UndefinedAgreementWarning
        Model and panel have only one value: the score is NaN.

    References
    ----------
    Wong, Paritosh & Aroyo (2021), "Cross-replication reliability", ACL.

    Examples
    --------
    >>> study = Annotations.from_triples([
    ...     ("ann", "u1", "joy"), ("bob", "u1", "joy, fear"), ("ann", "u2", []), ("bob", "u2", []),
    ... ])
    >>> scorer = panel_scorer(study)
    >>> round(scorer.score(["u1", "u2"], ["joy", ""]), 4)
    0.7143
    """
    study = unweighted_units(study, "panel_scorer")
    found = main_distance(study, distance)
    check_list("labels", () if labels is None else labels, "labels")
    names = study.labels if labels is None else tuple(labels)
    return PanelScorer(study, found, names)


def _scored_and_members(
    study: Annotations,
    raters: Sequence[object] | None,
    panel: Sequence[object] | None,
    reference: str,
) -> tuple[list[int], list[int]]:
    """Return the raters to score and the members of the panel; default: all raters.

    Raise DataError if a rater is unknown, or the panel is one rater who is scored.
    """
    everybody = list(range(study.n_raters))
    scored = everybody if raters is None else rater_codes(study, raters)
    members = (
        everybody if panel is None else rater_codes(study, panel, "rater of the panel", "panel")
    )
    if any(set(members) == {g} for g in scored):
        raise DataError(
            f"the panel is {listing(study.raters[members].tolist())} alone, who is compared with "
            f"the {reference} of others; name more raters."
        )
    return scored, members


def _shared_with_others(
    study: Annotations, rater: int, members: Sequence[int]
) -> tuple[Codes, Flags]:
    """Return `answers_of`, and flags of the ratings of these units by other members of a panel."""
    answers, others = answers_of(study, rater), flags(study.n_raters, members)
    others[rater] = False
    return answers, others[study.rater_codes] & (answers[study.unit_codes] >= 0)
