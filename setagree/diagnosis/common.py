"""Common parts of the diagnoses: the coefficient of the study, and result columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.checks import Codes, Floats, check_level
from setagree.coefficients.case import ROUNDING, Case
from setagree.coefficients.parts import Estimates, Parts
from setagree.coefficients.sums import UnitSums
from setagree.credit.within_groups import distinct_keys
from setagree.distances import Distance
from setagree.distances.registry import DistanceLike
from setagree.errors import counted
from setagree.inference.comparison import holm
from setagree.large.opening import Data
from setagree.lazy import pd
from setagree.scoring.coefficients import CoefficientLike, get_coefficient
from setagree.scoring.intervals import (
    ALIKE,
    FEWEST_RARER,
    NEGLIGIBLE,
    rarer_answers,
    rarity_reason,
    same_value_reason,
)
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import Scorer, main_distance, reason_of
from setagree.scoring.table_notes import rough_t_remarks, warn_clusters
from setagree.study.annotations import Annotations
from setagree.study.codes import ranges
from setagree.study.tally import Given, Tally
from setagree.wording.tables import Column

NO_DEGREE = (
    "a merge makes one label of several, and its degree is unknown; merge the labels in the table, "
    "with one degree for each merged label."
)

REASONS = (Column("reason", "text", is_extra=True), Column("remark", "text", is_extra=True))
"""Columns on rows without an interval, and on rough intervals."""

SURE = 0.05
"""p up to which a test shows a difference."""

NOT_REQUESTED = "no reshuffles were requested (n_resamples)"

Row: TypeAlias = dict[str, Any]

SCORE_STEPS = 75_000
"""Elementary steps in the time of scoring the smallest study."""

_STEPS_PER_RATING = 20


def score_whole(
    study: Data, coefficient: CoefficientLike, distance: DistanceLike | None, level: float
) -> Agreement:
    """Return the coefficient of the study, and warn if it has few clusters."""
    check_level(level)
    scorer, definition = Scorer(study), get_coefficient(coefficient)
    whole = scorer.score(definition, main_distance(scorer.tally, distance, definition))
    warn_clusters([whole])
    return whole


def steps_to_score(study: Annotations) -> float:
    """Return the approximate number of elementary steps for scoring a part of a study."""
    return SCORE_STEPS + _STEPS_PER_RATING * float(study.n_ratings)


def uncertainty(agreement: Agreement, level: float) -> Row:
    """Return the columns estimate, standard_error, low, high, interval_method."""
    low, high = agreement.interval(level)
    return {
        "estimate": agreement.estimate,
        "standard_error": agreement.standard_error,
        "low": low,
        "high": high,
        "interval_method": agreement.interval_method,
    }


def unit_sums(whole: Agreement, part: Annotations | None = None) -> UnitSums:
    """Return the sums of a study, or of a part of it, with one row of the tally for each unit."""
    study = whole.study if part is None else part
    tally = (whole.tally if part is None else Tally.of(part)).unit_rows()
    if whole.definition.model.needs_raters and study is not None:
        codes = study.unit_codes, study.rater_codes, study.value_codes
        tally = replace(tally, given=Given.of_answers(study.raters, *codes))
    return UnitSums(Case(tally, whole.weights, whole.case.distance), whole.definition.model)


def columns_of(
    found: Estimates,
    level: float,
    distance: Distance | None,
    n_pairable: Any,
    n_raters: Any,
    n_rarer: Floats,
) -> dict[str, Any]:
    """Return the columns of `uncertainty`, reason and remark of many agreements.

    The intervals are t intervals. NaN if rarer answers weigh too little (see `rarer_answers_of`).
    """
    from scipy.special import stdtrit

    error = np.where(found.standard_error > 0, found.standard_error, np.nan)
    half = stdtrit(np.maximum(found.counted - 1, 1), (1 + level) / 2) * error
    reason = np.array([*map(reason_of, found.undefined, n_raters)], dtype=object)
    alike = np.flatnonzero(found.standard_error == 0)
    # Units with a mean disagreement of d_max all have that one; others may differ.
    reason[alike] = np.where(found.observed[alike] < 1 - ROUNDING, same_value_reason(), ALIKE)
    for k in alike[found.observed[alike] <= ROUNDING]:
        text = f"No disagreement was seen in {counted(int(n_pairable[k]), 'unit')}"
        reason[k] = NEGLIGIBLE if found.observed[k] > 0 else text
    ends = found.estimate - half, np.minimum(found.estimate + half, 1.0)
    is_rare = (n_rarer < FEWEST_RARER) & ~np.isnan(found.estimate)
    for k in np.flatnonzero(is_rare):
        reason[k] = rarity_reason(rarer_answers(n_rarer[k]), reason[k])
    low, high = (np.where(is_rare, np.nan, end) for end in ends)
    columns = {"estimate": found.estimate, "standard_error": found.standard_error}
    remark = rough_t_remarks(n_rarer, n_pairable, distance)
    remark[np.isnan(low)] = None
    method = np.where(np.isnan(low), np.array(None), "t")
    columns |= {"low": low, "high": high, "interval_method": method}
    return columns | {"reason": reason, "remark": remark}


def rarer_answers_of(n_pairable: Any, part: Codes, values: Codes) -> Floats:
    """Return the weight in units of the answers of each part except its commonest.

    part, values : ndarray of int
        The part and the value of each rating of a pairable unit.
    """
    n_parts, K = len(n_pairable), int(values.max(initial=0)) + 1
    keys, place = distinct_keys(part.astype(np.int64) * K + values, n_parts * K)
    commonest = np.zeros(n_parts)
    np.maximum.at(commonest, keys // K, np.bincount(place))
    n_ratings = np.maximum(np.bincount(part, minlength=n_parts), 1)
    return np.asarray(n_pairable * (1 - commonest / n_ratings))


def own_columns(
    study: Annotations, parts: Parts, own: Estimates, of_rating: npt.NDArray[Any], level: float
) -> dict[str, Any]:
    """Return the counts of each part of a study, and the columns of its own coefficient."""
    n, n_pairable = parts.n_parts, parts.n_pairable
    n_raters = _distinct(of_rating, study.rater_codes, n)
    paired = np.bincount(study.unit_codes)[study.unit_codes] > 1
    n_rarer = rarer_answers_of(n_pairable, of_rating[paired], study.value_codes[paired])
    return {
        "n_units": parts.n_units,
        "n_pairable_units": n_pairable,
        "n_raters": n_raters,
        "n_ratings": np.bincount(of_rating, minlength=n),
        "n_values": _distinct(of_rating, study.value_codes, n),
        **columns_of(own, level, parts.whole.case.distance, n_pairable, n_raters, n_rarer),
    }


def _distinct(parts: npt.NDArray[Any], codes: npt.NDArray[Any], n_parts: int) -> Any:
    """Return the number of different codes of each part."""
    n_codes = int(codes.max(initial=0)) + 1
    keys = parts.astype(np.int64) * n_codes + codes
    return np.bincount(distinct_keys(keys, n_parts * n_codes)[0] // n_codes, minlength=n_parts)


def counts(agreement: Agreement) -> Row:
    """Return the columns n_units, n_pairable_units, n_raters, n_ratings, n_values in use."""
    tally = agreement.tally
    return {
        "n_units": tally.n_units,
        "n_pairable_units": tally.n_pairable_units,
        "n_raters": tally.n_raters,
        "n_ratings": tally.n_ratings,
        "n_values": len(np.unique(tally.indices)),
    }


def reasons(agreement: Agreement) -> Row:
    """Return the columns reason (for no interval) and remark (on a rough one)."""
    return {"reason": agreement.interval_reason, "remark": agreement.remark}


def named(agreement: Agreement) -> Row:
    """Return the columns reason, remark, coefficient, distance."""
    return {
        **reasons(agreement),
        "coefficient": agreement.coefficient,
        "distance": agreement.distance,
    }


def corrected(p_values: pd.Series[float] | Floats) -> Row:
    """Return the columns p_holm and n_tests of a table of changes."""
    p = np.asarray(p_values, dtype=np.float64)
    return {"p_holm": holm(p), "n_tests": int((~np.isnan(p)).sum())}


_BLOCK_PAIRS = 150_000
"""Pairs of ratings in a block, unless one rater has more: their arrays stay in the cache."""


@dataclass(frozen=True, eq=False)
class SortedRatings:
    """The ratings of a study, unit by unit, inside a unit by rater.

    Attributes
    ----------
    order : ndarray of int, shape (n_ratings,)
        The position in the study of each rating in this order.
    units, raters, values : ndarray of int, shape (n_ratings,)
        Codes, in this order.
    stop : ndarray of int, shape (n_ratings,)
        The end of the unit of each rating.
    unit_ratings : ndarray of int, shape (n_ratings,)
        r_i of the unit of each rating.
    """

    order: npt.NDArray[Any]
    units: npt.NDArray[Any]
    raters: npt.NDArray[Any]
    values: npt.NDArray[Any]
    stop: npt.NDArray[Any]
    unit_ratings: npt.NDArray[Any]

    def pairs_by_first_rater(self) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """Yield blocks of pairs (left, right), rater of left before rater of right.

        A block has all pairs of its first raters.
        """
        by_rater = np.argsort(self.raters, kind="stable")
        after = (self.stop - np.arange(len(self.stop)) - 1)[by_rater]
        ends = np.flatnonzero(np.diff(self.raters[by_rater], append=-1)) + 1
        done = np.cumsum(after)
        start = 0
        while start < len(by_rater):
            room = done[start] - after[start] + _BLOCK_PAIRS
            fits = ends[(ends > start) & (done[ends - 1] <= room)]
            end = int(fits[-1]) if len(fits) else int(ends[ends > start][0])
            first, n = by_rater[start:end], after[start:end]
            yield np.repeat(first, n), ranges(first + 1, n)
            start = end


def sorted_ratings(study: Annotations) -> SortedRatings:
    """Return the ratings of a study in order of unit, then rater."""
    order = np.lexsort((study.rater_codes, study.unit_codes))
    units = study.unit_codes[order]
    r = np.bincount(study.unit_codes, minlength=study.n_units)
    return SortedRatings(
        order,
        units,
        study.rater_codes[order],
        study.value_codes[order],
        np.cumsum(r)[units],
        r[units],
    )
