"""Which raters agree with whom."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import MOST_BYTES, MOST_STEPS, check_cost, public
from setagree.coefficients.chance import NOTHING, ROUNDING, Floats
from setagree.coefficients.within_raters import spread_within_groups
from setagree.credit.base import Weights
from setagree.diagnosis.common import score_whole, uncertainty, why_nan
from setagree.diagnosis.pairs_within import SortedRatings, sorted_ratings
from setagree.distances.registry import DistanceLike
from setagree.errors import DataError, OptionError, a_type, counted, did_you_mean, shorten
from setagree.inference.known_raters import known_raters
from setagree.large.opening import Data
from setagree.scoring.coefficients import krippendorff_alpha
from setagree.scoring.registry import CoefficientLike, get_coefficient
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score_part
from setagree.study.annotations import Annotations

_STEPS_A_PAIR = 40
"""Elementary steps of a pair of ratings of one unit."""

_STEPS_A_PAIR_OF_RATERS = 25_000
"""Elementary steps of a pair of raters that is scored on its own."""

_BYTES_A_ROW, _BYTES_A_PAIR = 300, 250
"""Memory of a pair of raters in the table, and of a pair of ratings in a block."""


@public
def by_pair(
    study: Data,
    *,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return the coefficient of every pair of raters, on the units that both rated.

    For Krippendorff's alpha all pairs are computed together: a pair that shares n units, with mean
    distance ``Do``, has ``De = 2n / (2n - 1) pi' D pi`` and ``alpha = 1 - Do / De``, ``pi`` the
    shares of the values among its 2n ratings, and the standard error of two raters on complete
    data. Other coefficients are computed pair by pair.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Who gave what.
    coefficient, distance
        As in `setagree.agreement`; by default the distance for the kind of values. What a distance
        takes from the data (mid-ranks, the largest distance) is that of the whole study.
    level : float
        The level of the intervals.

    Returns
    -------
    DataFrame
        One row a pair that shares a unit, the lowest estimate first: rater_a, rater_b, n_shared,
        estimate, standard_error, low, high, mean_distance, reason (why the estimate is nan, or
        there is no interval), coefficient, distance. `pair_matrix` makes a square of it.

    Raises
    ------
    DataError
        Who gave what is unknown.
    CostError
        There are tens of millions of pairs.

    Examples
    --------
    >>> import setagree as sa
    >>> pairs = by_pair(sa.simulate(60, 3, rng=1))
    >>> pairs[["rater_a", "rater_b", "n_shared", "estimate"]].round(3)
      rater_a rater_b  n_shared  estimate
    0      r1      r2        60     0.271
    1      r1      r3        60     0.310
    2      r2      r3        60     0.383
    """
    study = known_raters(study, "by_pair")
    asked = get_coefficient(coefficient)
    # Two raters are what some coefficients ask for, and every pair is.
    whole = score_whole(study, asked.for_more or asked, distance, level)
    ratings = sorted_ratings(study)
    at_once = asked is krippendorff_alpha and whole.case.sample is None
    _check_cost(ratings, study.n_raters, 0 if at_once else _STEPS_A_PAIR_OF_RATERS)
    blocks = [
        _alphas_of(study, ratings, left, right, whole.weights, level)
        if at_once
        else _one_by_one(study, ratings, left, right, whole, level)
        for left, right in ratings.pairs_by_first_rater()
        if len(left)
    ]
    if not blocks:
        raise DataError("no two raters share a unit, so that there is no pair to compare.")
    frame = pd.concat(blocks, ignore_index=True)
    frame = frame.assign(coefficient=asked.name, distance=whole.distance)
    return frame.sort_values("estimate", kind="stable").reset_index(drop=True)


@public
def pair_matrix(pairs: pd.DataFrame, *, column: str = "estimate") -> pd.DataFrame:
    """Return one column of `by_pair` as a square of raters; nan where two share no unit.

    Parameters
    ----------
    pairs : DataFrame
        What `by_pair` returned.
    column : str
        Which of its numbers.

    Raises
    ------
    DataError
        It is not what `by_pair` returned.
    OptionError
        There is no such column.

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
        raise DataError(f"Expected what by_pair returns, got {a_type(pairs)}; pass by_pair(study).")
    numbers = list(pairs.select_dtypes("number").columns)
    if not isinstance(column, str) or column not in numbers:
        raise OptionError(
            f"the pairs have no column of numbers {shorten(column)}.{did_you_mean(column, numbers)}"
        )
    turned = pairs.rename(columns={"rater_a": "rater_b", "rater_b": "rater_a"})
    both = pd.concat([pairs, turned], ignore_index=True)
    codes, raters = pd.factorize(both["rater_a"])
    order = np.argsort([str(rater) for rater in raters], kind="stable")
    place = np.argsort(order)
    square = np.full((len(raters), len(raters)), np.nan)
    others = raters.get_indexer(pd.Index(both["rater_b"], tupleize_cols=False))
    square[place[codes], place[others]] = both[column]
    names = pd.Index(raters[order], tupleize_cols=False)
    return pd.DataFrame(square, index=names.rename("rater_a"), columns=names.rename("rater_b"))


def _check_cost(ratings: SortedRatings, n_raters: int, steps_a_pair_of_raters: int) -> None:
    """Refuse more pairs than memory or minutes suffice for, with the raters that pass."""
    after = ratings.stop - np.arange(len(ratings.stop)) - 1
    within, block = float(after.sum()), float(np.bincount(ratings.raters, after).max())
    pairs = min(within, n_raters * (n_raters - 1) / 2)
    n_bytes = _BYTES_A_ROW * pairs + _BYTES_A_PAIR * block
    n_steps = _STEPS_A_PAIR * within + steps_a_pair_of_raters * pairs
    # Pairs grow with the square of the raters.
    share = min(MOST_BYTES / max(n_bytes, 1), MOST_STEPS / max(n_steps, 1)) ** 0.5
    check_cost(
        f"by_pair of {counted(n_raters, 'rater')}",
        n_bytes=n_bytes,
        n_steps=n_steps,
        instead=f"Some {counted(int(share * n_raters), 'rater')} pass: take part of them "
        "(without_raters), or by_rater, which compares each with all others.",
    )


def _alphas_of(
    study: Annotations,
    ratings: SortedRatings,
    left: npt.NDArray[np.int64],
    right: npt.NDArray[np.int64],
    weights: Weights,
    level: float,
) -> pd.DataFrame:
    """Return alpha and its interval of all pairs of raters in a block."""
    from scipy.special import stdtrit

    keys = ratings.raters[left].astype(np.int64) * study.n_raters + ratings.raters[right]
    found, pair = np.unique(keys, return_inverse=True)
    k, l = ratings.values[left], ratings.values[right]
    d = weights.distance_at(k, l)
    both = spread_within_groups(
        np.concatenate([pair, pair]), np.concatenate([k, l]), n_groups=len(found), weights=weights
    )
    spread = (both[: len(d)] + both[len(d) :]) / 2
    n = np.bincount(pair, minlength=len(found)).astype(np.float64)
    mean_d = np.bincount(pair, d, len(found)) / n
    chance = np.bincount(pair, spread, len(found)) / n
    chance[chance <= NOTHING * _reach(pair, k, l, len(found), weights)] = 0.0
    estimate, error = _alpha_of_two(d, spread, pair, (n, mean_d, chance))
    half = stdtrit(np.maximum(n - 1, 1), (1 + level) / 2) * np.where(error > 0, error, np.nan)
    return pd.DataFrame(
        {
            "rater_a": study.raters[found // study.n_raters],
            "rater_b": study.raters[found % study.n_raters],
            "n_shared": n.astype(np.int64),
            "estimate": estimate,
            "standard_error": error,
            "low": estimate - half,
            "high": np.minimum(estimate + half, 1.0),
            "mean_distance": mean_d,
            "reason": _reasons(n, mean_d, chance, error),
        }
    )


def _alpha_of_two(
    d: Floats, spread: Floats, pair: npt.NDArray[np.int64], means: tuple[Floats, Floats, Floats]
) -> tuple[Floats, Floats]:
    """Return 1 - (2n - 1) Do / (2n S), S = pi' D pi, with its standard error (r_i = 2 throughout).

    The linearised value of a unit is (S - d_i) / S - 2 (1 - alpha') (S - s_i) / S, alpha' = 1 -
    Do / S and s_i the mean of D pi over its two values.
    """
    n, mean_d, chance = means
    S = np.where((chance > 0) & (n > 1), chance, np.nan)
    estimate = 1 - (2 * n - 1) / (2 * n) * mean_d / S
    x = ((S[pair] - d) - 2 * (mean_d / S)[pair] * (S[pair] - spread)) / S[pair]
    deviation = np.bincount(pair, (x - (1 - mean_d / S)[pair]) ** 2, len(n))
    error = np.sqrt(deviation / np.where(n > 1, n * (n - 1), np.nan))
    error[error <= ROUNDING] = 0.0
    return estimate, error


def _reach(
    pair: npt.NDArray[np.int64],
    k: npt.NDArray[Any],
    l: npt.NDArray[Any],
    n_pairs: int,
    weights: Weights,
) -> Floats:
    """Return the largest distance from one value of each pair to its others, for rounding.

    The largest distance of the study may be far from those that a pair uses.
    """
    first = np.zeros(n_pairs, dtype=np.int64)
    first[pair[::-1]] = k[::-1]
    out = np.zeros(n_pairs)
    for values in (k, l):
        np.maximum.at(out, pair, weights.distance_at(values, first[pair]))
    return out


def _reasons(n: Floats, mean_d: Floats, chance: Floats, error: Floats) -> npt.NDArray[np.object_]:
    out = np.full(len(n), None, dtype=object)
    out[error == 0] = "All units disagree alike"
    for pair in np.flatnonzero((error == 0) & (mean_d <= ROUNDING * chance)).tolist():
        out[pair] = f"No disagreement was seen in {counted(int(n[pair]), 'unit')}"
    out[chance == 0] = "only one value was used"
    out[(n == 1) & (chance > 0)] = "there is only one unit"
    return out


def _one_by_one(
    study: Annotations,
    ratings: SortedRatings,
    left: npt.NDArray[np.int64],
    right: npt.NDArray[np.int64],
    whole: Agreement,
    level: float,
) -> pd.DataFrame:
    """Return any coefficient and its interval of all pairs of raters in a block."""
    keys = ratings.raters[left].astype(np.int64) * study.n_raters + ratings.raters[right]
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    rows = []
    for group in np.split(order, starts[1:]):
        a, b = divmod(int(keys[group[0]]), study.n_raters)
        shared = ratings.order[np.concatenate([left[group], right[group]])]
        part = score_part(whole, study.take(shared))
        means = part.case.mean_disagreement * part.weights.max_distance
        rows.append(
            {
                "rater_a": study.raters[a],
                "rater_b": study.raters[b],
                "n_shared": len(shared) // 2,
                **uncertainty(part, level),
                "mean_distance": float(part.tally.multiplicity @ means) / part.n_units,
                "reason": why_nan(part),
            }
        )
    return pd.DataFrame(rows)
