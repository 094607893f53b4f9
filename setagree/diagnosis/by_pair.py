"""Agreement of pairs and of groups of raters."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from math import factorial, prod
from typing import Any, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import MOST_BYTES, MOST_STEPS, Codes, Floats, check_cost, check_drawing, public
from setagree.coefficients.case import Case, divided
from setagree.coefficients.parts import Parts, are_computed_together
from setagree.coefficients.sums import UnitSums
from setagree.credit.within_groups import distinct_keys
from setagree.diagnosis.common import (
    REASONS,
    SCORE_STEPS,
    SURE,
    Row,
    SortedRatings,
    columns_of,
    counts,
    named,
    rarer_answers_of,
    reasons,
    score_whole,
    sorted_ratings,
    uncertainty,
)
from setagree.diagnosis.grouping import Grouped
from setagree.distances import Distance
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    DataError,
    OptionError,
    UndefinedAgreementWarning,
    a_type,
    counted,
    did_you_mean,
    shorten,
)
from setagree.inference.cross_replication import cross_replication
from setagree.inference.panel_members import require_raters
from setagree.inference.shuffler import arrangements
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.limits import BLOCK_ENTRIES, MAX_SCORED_GROUPS, TIE
from setagree.scoring.coefficients import CoefficientLike, get_coefficient
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score_part
from setagree.study.annotations import Annotations
from setagree.study.attributes import weighted_by_sizes
from setagree.study.tally import Given, Tally
from setagree.wording.result_frames import ResultFrame
from setagree.wording.tables import Column

Positions: TypeAlias = npt.NDArray[np.int64]

COLUMNS = (
    Column("rater_a", "name", "rater"),
    Column("rater_b", "name", "and rater"),
    Column("estimate"),
    Column(("low", "high"), "interval"),
    Column("n_shared_units", "count", "shared units"),
    Column("mean_distance"),
    *REASONS,
)
"""The main columns, which notebooks and the report show."""

_STEPS_PER_PAIR = 40
"""Elementary steps of a pair of ratings of one unit."""

_BYTES_PER_ROW, _BYTES_PER_PAIR = 300, 250
"""Memory of a pair of raters in the table, and of a pair of ratings in a block."""


@takes_data
def by_pair(
    study: Data,
    *more: RaterAnswers,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> pd.DataFrame:
    """Return the coefficient of every pair of raters, on the units that both rated.

    More than 200 pairs are computed together: a pair that shares n units, with mean distance
    ``Do``, has ``De = 2n / (2n - 1) pi' D pi`` and, of Krippendorff's alpha, ``1 - Do / De``, with
    ``pi`` the shares of the values among its 2n ratings.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        A study with rater identities.
    coefficient, distance
        As in `setagree.agreement`; by default the distance for the kind of values. Quantities that
        a distance takes from the data (mid-ranks, the largest distance) are those of the study.
    level : float
        The level of the intervals.

    Returns
    -------
    DataFrame
        One row per pair with a shared unit, the lowest estimate first: rater_a, rater_b,
        n_shared_units, estimate, standard_error, low, high (those of `Agreement.interval`; by t
        for more than 200 pairs), interval_method, mean_distance, reason (for an estimate of NaN, or
        for no interval), remark (on a rough interval, as `Agreement.remark`), coefficient,
        distance. `pair_matrix` makes a square matrix of it.

    Raises
    ------
    DataError
        The study has no rater identities.
    CostError
        There are tens of millions of pairs.

    Examples
    --------
    >>> import setagree as sa
    >>> pairs = by_pair(sa.simulate(60, 3, rng=1))
    >>> pairs[["rater_a", "rater_b", "n_shared_units", "estimate"]].round(3)
      rater_a rater_b  n_shared_units  estimate
    0      r1      r2              60     0.271
    1      r1      r3              60     0.310
    2      r2      r3              60     0.383
    """
    study = require_raters(study, "by_pair")
    definition = get_coefficient(coefficient)
    # A coefficient for two raters applies to each pair.
    whole = score_whole(study, definition.for_more or definition, distance, level)
    ratings, model = sorted_ratings(study), whole.definition.model
    is_together = (
        are_computed_together(model) and not model.redraws_labels and whole.case.sample is None
    )
    _check_cost(ratings, study.n_raters, 0 if is_together else SCORE_STEPS)
    frame = _pairs_of(study, ratings, whole, level).assign(
        coefficient=definition.name, distance=whole.distance
    )
    frame = frame.sort_values("estimate", kind="stable").reset_index(drop=True)
    return ResultFrame.of(frame, COLUMNS)


@public
def pair_matrix(pairs: pd.DataFrame, *, column: str = "estimate") -> pd.DataFrame:
    """Return one column of `by_pair` as a square matrix of raters; NaN without a shared unit.

    Parameters
    ----------
    pairs : DataFrame
        The result of `by_pair`.
    column : str
        The column to take.

    Raises
    ------
    DataError
        `pairs` is not a result of `by_pair`.
    OptionError
        The column does not exist.

    Examples
    --------
    >>> import setagree as sa
    >>> pair_matrix(by_pair(sa.simulate(60, 3, rng=1))).round(2)  # doctest: +NORMALIZE_WHITESPACE
    rater_b    r1    r2    r3
    rater_a
    r1        NaN  0.27  0.31
    r2       0.27   NaN  0.38
    r3       0.31  0.38   NaN
    """
    if not isinstance(pairs, pd.DataFrame) or not {"rater_a", "rater_b"} <= {*pairs.columns}:
        raise DataError(
            f"expected the result of by_pair, got {a_type(pairs)}; pass by_pair(study)."
        )
    numbers = list(pairs.select_dtypes("number").columns)
    if not isinstance(column, str) or column not in numbers:
        raise OptionError(
            f"the pairs have no column of numbers {shorten(column)}.{did_you_mean(column, numbers)}"
        )
    sides = pairs["rater_a"].tolist(), pairs["rater_b"].tolist()
    raters = sorted(dict.fromkeys([*sides[0], *sides[1]]), key=str)
    place = {rater: k for k, rater in enumerate(raters)}
    a, b = ([place[rater] for rater in side] for side in sides)
    square = np.full((len(raters), len(raters)), np.nan)
    square[a, b] = square[b, a] = pairs[column]
    names = pd.Index(raters, tupleize_cols=False)
    return pd.DataFrame(square, index=names.rename("rater_a"), columns=names.rename("rater_b"))


def _check_cost(ratings: SortedRatings, n_raters: int, steps_per_pair_of_raters: int) -> None:
    """Raise an error if pairs exceed memory or minutes, with the permitted number of raters."""
    after = ratings.stop - np.arange(len(ratings.stop)) - 1
    within, block = float(after.sum()), float(np.bincount(ratings.raters, after).max())
    pairs = min(within, n_raters * (n_raters - 1) / 2)
    n_bytes = _BYTES_PER_ROW * pairs + _BYTES_PER_PAIR * block
    n_steps = _STEPS_PER_PAIR * within + steps_per_pair_of_raters * pairs
    # Pairs grow with the square of the raters.
    share = min(MOST_BYTES / max(n_bytes, 1), MOST_STEPS / max(n_steps, 1)) ** 0.5
    check_cost(
        f"by_pair of {counted(n_raters, 'rater')}",
        n_bytes=n_bytes,
        n_steps=n_steps,
        instead=f"About {counted(int(share * n_raters), 'rater')} are possible: omit some "
        "(exclude_raters), or use by_rater, which compares each with all others.",
    )


def _pairs_of(
    study: Annotations, ratings: SortedRatings, whole: Agreement, level: float
) -> pd.DataFrame:
    """Return the columns of all pairs of raters that share a unit."""
    is_known = are_computed_together(whole.definition.model) and whole.case.sample is None
    is_known &= study.n_raters * (study.n_raters - 1) // 2 > MAX_SCORED_GROUPS
    blocks = []
    for left, right in ratings.pairs_by_first_rater():
        if not len(left):
            continue
        keys = ratings.raters[left].astype(np.int64) * study.n_raters + ratings.raters[right]
        keys_found, pair = distinct_keys(keys, study.n_raters**2)
        n = np.bincount(pair)
        if is_known:
            sums = UnitSums(_case_of_two(ratings, left, right, whole), whole.definition.model)
            scores = Parts(sums, pair, len(n)).estimates()
            values = np.concatenate([ratings.values[left], ratings.values[right]])
            n_rarer = rarer_answers_of(n, np.tile(pair, 2), values)
            pairs = np.full(len(n), 2)
            columns_together = columns_of(scores, level, whole.case.distance, n, pairs, n_rarer)
            columns_together["mean_distance"] = scores.observed * whole.weights.max_distance
            columns = pd.DataFrame(columns_together)
        else:
            order = np.argsort(pair, kind="stable")
            shared = np.stack([ratings.order[left], ratings.order[right]], axis=1)[order]
            parts = np.split(shared, np.cumsum(n)[:-1])
            studies = [weighted_by_sizes(study.take(part.ravel())) for part in parts]
            scored = [score_part(whole, part, is_domain=False) for part in studies]
            columns = pd.DataFrame([_pair_row(one, level) for one in scored])
        first, second = np.divmod(keys_found, study.n_raters)
        names = {
            "rater_a": study.raters[first],
            "rater_b": study.raters[second],
            "n_shared_units": n,
        }
        blocks.append(columns.assign(**names)[[*_COLUMNS]])
    if not blocks:
        raise DataError("no two raters share a unit, so that no pair can be compared.")
    return pd.concat(blocks, ignore_index=True)


def _pair_row(part: Agreement, level: float) -> Row:
    """Return the columns of two raters from the agreement of their study."""
    case, mass = part.case, part.case.pairable_mass
    mean = float(mass @ case.mean_disagreement / mass.sum()) * part.weights.max_distance
    return {**uncertainty(part, level), "mean_distance": mean, **reasons(part)}


_COLUMNS = (
    *("rater_a", "rater_b", "n_shared_units", "estimate", "standard_error", "low", "high"),
    *("interval_method", "mean_distance", "reason", "remark"),
)


def _case_of_two(
    ratings: SortedRatings,
    left: Positions,
    right: Positions,
    whole: Agreement,
) -> Case:
    """Return the case of pairs of ratings, each a unit with two ratings."""
    n = len(left)
    values = np.stack([ratings.values[left], ratings.values[right]], axis=1).ravel()
    ends = np.arange(0, 2 * n + 1, 2)
    given = None
    if whole.definition.model.needs_raters:
        given = Given(np.array(["first", "second"], dtype=object), ends, np.tile([0, 1], n), values)
    tally = whole.tally
    units = Tally(
        tally.kind, tally.values, ends, values, np.ones(2 * n), np.ones(n), n_raters=2, given=given
    )
    return Case(units, whole.weights, whole.case.distance)


def between_raters(
    grouped: Grouped,
    whole: Agreement,
    *,
    distance: Distance,
    level: float,
    n_resamples: int,
    generator: np.random.Generator,
) -> list[Row]:
    """Return a row for each group of raters: its own agreement, and that with all others."""
    study = grouped.study
    n_groups = len(grouped.names)
    parts = [score_part(whole, study.take(grouped.of_rating == g)) for g in range(n_groups)]
    drawing: Row = {"distance": distance, "n_resamples": n_resamples, "rng": generator}
    # With two groups, the others of one group are the other group.
    n_sides = 1 if n_groups == 2 else n_groups
    sides = [_versus_others(grouped, g, level=level, **drawing) for g in range(n_sides)]
    with_others = sides[0] if n_groups == 2 else [columns for columns, _ in sides]
    p, no_test = RaterPermutation.of(study, whole, grouped.of_rater).tested(n_resamples, generator)
    tested = {"permutation_p_value": p, "no_test": no_test}
    rows = []
    for part, row in zip(parts, with_others, strict=True):
        columns = {**counts(part), **uncertainty(part, level), **named(part)}
        remark = " ".join(filter(None, [columns["remark"], row["remark"]])) or None
        rows.append({**columns, **row, **tested, "remark": remark})
    return rows


BETWEEN = (
    *("between", "between_low", "between_high", "in_group_cohesion", "group_association_index"),
    *("group_association_low", "group_association_high"),
    *("normalised", "normalised_low", "normalised_high", "n_shared_units"),
)
"""Columns that only groups of raters have."""


def _versus_others(grouped: Grouped, g: int, *, level: float, **drawing: Any) -> tuple[Row, Row]:
    """Return the agreement of a group with all others, for it and for them; NaN if undefined."""
    members = grouped.study.raters[grouped.of_rater == g].tolist()
    try:
        with warnings.catch_warnings():
            # The result contains NaN for undefined estimates.
            warnings.simplefilter("ignore", UndefinedAgreementWarning)
            replication = cross_replication(grouped.study, panels={"group": members}, **drawing)
    except DataError:
        none: Row = dict.fromkeys(BETWEEN, np.nan) | {"n_shared_units": 0, "remark": None}
        return none, none
    first = replication.estimate, *replication.interval(level)
    last = replication.normalised, *replication.normalised_interval(level), replication.n_units
    sides = [(replication.alphas[side], *replication.association(side, level)) for side in (0, 1)]
    remark = None if replication.remark is None else f"Between groups: {replication.remark}"
    columns = (*BETWEEN, "remark")
    for_group, for_others = (
        dict(zip(columns, (*first, *each, *last, remark), strict=True)) for each in sides
    )
    return for_group, for_others


@dataclass(frozen=True, eq=False)
class RaterPermutation:
    """Common ratings of pairs of raters, and the group of each rater.

    Attributes
    ----------
    one, two : ndarray of int, shape (n_pairs,)
        The raters of each pair that shares units.
    apart, shared : ndarray of shape (n_pairs,)
        The distance of their answers summed over shared units, and the sum of the weights of these;
        a pair of ratings of a unit with r of them weighs 1 / (r - 1), as in alpha.
    of_rater : ndarray of int, shape (n_raters,)
        The group of each rater.
    """

    one: Codes
    two: Codes
    apart: Floats
    shared: Floats
    of_rater: Codes

    @classmethod
    def of(cls, study: Annotations, whole: Agreement, of_rater: Codes) -> RaterPermutation:
        """Return the pairs of raters of a study, at the distances of its coefficient."""
        ratings, R = sorted_ratings(study), study.n_raters
        pairs, apart, shared = [], [], []
        # Ties have a fixed tolerance, so distances are relative to the largest.
        largest = whole.weights.max_distance
        for left, right in ratings.pairs_by_first_rater():
            keys = ratings.raters[left].astype(np.int64) * R + ratings.raters[right]
            found, place = np.unique(keys, return_inverse=True)
            weight = 1 / (ratings.unit_ratings[left] - 1)
            d = whole.weights.distance_at(ratings.values[left], ratings.values[right])
            pairs.append(found)
            apart.append(np.bincount(place, weight * d / largest, len(found)))
            shared.append(np.bincount(place, weight, len(found)))
        one, two = np.divmod(np.concatenate(pairs), R)
        return cls(one, two, np.concatenate(apart), np.concatenate(shared), of_rater)

    def gaps(self, permuted: Codes) -> Floats:
        """Return the mean distance between groups minus that within groups.

        `permuted` contains the permuted groups of the raters, of shape (b, n_raters).
        """
        same = (permuted[:, self.one] == permuted[:, self.two]).astype(np.float64)
        within, between = (divided(x @ self.apart, x @ self.shared) for x in (same, 1 - same))
        return between - within

    @property
    def n_ways(self) -> int:
        """Number of partitions of the raters into unnamed groups of these sizes."""
        sizes = Counter(np.bincount(self.of_rater).tolist())
        alike = prod(factorial(times) * factorial(size) ** times for size, times in sizes.items())
        return int(factorial(len(self.of_rater)) // alike)

    def tested(self, n_resamples: int, generator: np.random.Generator) -> tuple[float, str | None]:
        """Return the share of permutations with a gap as large as observed, or a reason."""
        observed = float(self.gaps(self.of_rater[None, :])[0])
        if np.isnan(observed):
            return np.nan, "no two raters of one group share a unit, or none of two groups do"
        if self.n_ways * SURE < 1:
            ways = f"{self.n_ways} ways" if self.n_ways > 1 else "one way"
            return np.nan, (
                f"so few raters can be divided into groups of these sizes in only {ways}, so "
                f"that p cannot be below {1 / self.n_ways:.2g}"
            )
        return self._p_value(observed, n_resamples, generator), None

    def _p_value(self, observed: float, n: int, generator: np.random.Generator) -> float:
        sizes = np.bincount(self.of_rater).tolist()
        n_orders = factorial(len(self.of_rater)) // prod(map(factorial, sizes))
        exact = n_orders <= max(n, 1)
        check_drawing(min(n_orders, n), len(self.one))
        drawn = (generator.permutation(self.of_rater) for _ in range(n))
        permuted = arrangements([self.of_rater]) if exact else drawn
        rows = max(1, BLOCK_ENTRIES // max(len(self.one), 1))
        reached = 0
        for block in iter(lambda: list(islice(permuted, rows)), []):
            gaps = self.gaps(np.stack(block))
            # An undefined gap counts as large: it must not make p smaller.
            reached += int((~(gaps < observed - TIE)).sum())
        return reached / n_orders if exact else (reached + 1) / (n + 1)
