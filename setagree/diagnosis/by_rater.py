"""Raters that lower the agreement, and their differences from the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import Floats, Rng, as_generator, check_cost, check_least
from setagree.coefficients.case import ROUNDING, divided
from setagree.coefficients.chance_models import Fixed, Urn
from setagree.coefficients.parts import RaterParts
from setagree.coefficients.tails import t_quantile
from setagree.credit.geometry import SetGeometry, labels_of_values
from setagree.diagnosis.common import (
    NOT_REQUESTED,
    REASONS,
    SURE,
    Row,
    SortedRatings,
    corrected,
    score_whole,
    sorted_ratings,
    steps_to_score,
)
from setagree.distances.registry import DistanceLike
from setagree.inference.comparison import paired_difference
from setagree.inference.panel_members import require_raters
from setagree.inference.resampling import block_sizes
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.limits import BLOCK_ENTRIES
from setagree.progress import track
from setagree.scoring.coefficients import CoefficientLike
from setagree.scoring.intervals import FEWEST_RARER
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score_part
from setagree.scoring.table_notes import remark_of, rough_change_reason, rough_reasons
from setagree.study.annotations import Annotations
from setagree.study.attributes import of_raters
from setagree.study.codes import as_objects
from setagree.study.identifiers import value_numbers
from setagree.wording.result_frames import ResultFrame
from setagree.wording.tables import Column

COLUMNS = (
    Column("rater", "name"),
    Column("difference", "signed", "change"),
    Column(("difference_low", "difference_high"), "interval"),
    Column("p_holm", "p", "p, Holm"),
    Column("n_ratings", "count", "ratings"),
    Column("mean_distance"),
    Column("mean_set_size", head="labels", is_extra=True),
    Column("set_size_bias", "signed", "vs. others"),
    Column("empty_rate", "share", "empty"),
    Column("overused_label", "name", "overuses", is_extra=True),
    Column("underused_label", "name", "underuses", is_extra=True),
    *REASONS,
)
"""The main columns, which notebooks and the report show."""


@takes_data
def by_rater(
    study: Data,
    *more: RaterAnswers,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    n_resamples: int | None = None,
    rng: Rng = None,
    **options: Unpack[ReadingOptions],
) -> pd.DataFrame:
    """Return the differences of each rater from the others, and the coefficient without the rater.

    Every comparison is with the other raters on the same units: ``set_size_bias`` is the mean over
    the rater's shared units of (own set size - mean set size of the others), and so for the empty
    answers and for each label.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        A study with rater identities.
    coefficient, distance
        As in `setagree.agreement`. Quantities that a distance takes from the data (mid-ranks, the
        largest distance) and the list of values are those of the whole study.
    level : float
        The level of the intervals.
    n_resamples : int, optional
        Number of reshuffles for p, such as 999. Default: none, and p is NaN.
    rng : int or numpy Generator, optional
        The seed of the reshuffles.

    Returns
    -------
    DataFrame
        One row per rater, sorted by the rise of the coefficient on removal: rater, n_ratings,
        n_paired_ratings (in units with another rating), mean_distance (to the others, averaged over
        its shared units), estimate_without, difference (estimate_without - estimate of all) with
        difference_standard_error, difference_low, difference_high (paired by unit, linearised: see
        `compare`; NaN if all answers except the commonest weigh less than four units), reason (for
        no interval of the difference), remark (on rough ones, as `Agreement.remark`, and where the
        sum of 1 / r_i over the units that the rater rated and that disagree, of r_i ratings, is
        below 8: such intervals miss 0 too often if raters differ only by chance), p_value
        (that the raters of a unit are exchangeable: see Notes), p_holm (the same corrected for the
        n_tests raters that have a p), no_test (the reason for a missing p, or for a p_holm that is
        above 0.05 for any answers, or None), mean_set_size, set_size_bias, empty_rate, empty_bias,
        overused_label and underused_label with overuse and underuse (difference of the rates),
        coefficient, distance. Columns on labels have no values if the answers are numbers.

    Raises
    ------
    DataError
        The study has no rater identities.
    CostError
        Raters times ratings are thousands of millions, and there are as many distinct values, or
        raters are scored one by one: of Conger's kappa and mv_alpha, and of units that were drawn
        in clusters or with weights. `jackknife` over raters, which has no
        difference_standard_error, takes one pass for all. Or reshuffles times ratings are tens of
        millions.

    Notes
    -----
    For p, the answers of each unit are permuted among the raters who gave them, which keeps the
    coefficient. With k_g the coefficient without rater g and ``t = |k_g - mean of all k_h|``, p of
    g is ``(1 + #{t of a reshuffle >= t of the study}) / (n_resamples + 1)``. This is exact if
    raters differ only by chance, for any assignment of raters to units. In simulated studies of
    five to nine such raters, complete, incomplete and in blocks, the smallest p_holm was at most
    0.05 in 2 to 5%. As p_holm is at least ``n_tests / (n_resamples + 1)``, take 40 reshuffles per
    rater or more. There is none for Conger's kappa and mv-alpha, whose values without a rater have
    no closed form.

    Examples
    --------
    >>> import setagree as sa
    >>> raters = by_rater(sa.simulate(60, 3, rng=1))
    >>> raters[["rater", "n_ratings", "mean_distance", "estimate_without", "difference"]].round(3)
      rater  n_ratings  mean_distance  estimate_without  difference
    0    r1         60          0.610             0.383       0.062
    1    r2         60          0.579             0.310      -0.011
    2    r3         60          0.563             0.271      -0.050
    """
    study = require_raters(study, "by_rater")
    if n_resamples is not None:
        check_least("n_resamples", n_resamples, 1)
    whole = score_whole(study, coefficient, distance, level)
    ratings = sorted_ratings(study)
    raters = RaterParts(whole.sums, study.rater_codes, study.n_raters)
    size = whole.case.unit_weights if whole.case.is_sized else np.ones(study.n_units)
    columns = {
        "rater": study.raters,
        "n_ratings": np.bincount(study.rater_codes, minlength=study.n_raters),
        **_distances(study, ratings, raters.distances[ratings.order], size[ratings.units]),
    }
    changes, reason = _changes(raters, study, whole, level), NOT_REQUESTED
    if whole.case.is_sized and n_resamples is not None:
        n_resamples, reason = None, "pieces of one document are alike, so that none is reshuffled"
    if whole.inference.n_rarer < FEWEST_RARER:
        changes[["difference_low", "difference_high"]] = np.nan
    missing, lows = whole.interval_reason, changes["difference_low"].tolist()
    reasons = [
        None if np.isfinite(low) else missing or (_UNDEFINED if np.isnan(x) else _NO_SPREAD)
        for low, x in zip(lows, changes["estimate_without"].tolist(), strict=True)
    ]
    # The intervals of changes are t intervals.
    rough, own = rough_reasons(replace(whole, requested_method="t")), _own_disagreements(whole)
    remarks = [
        remark_of([*rough, rough_change_reason(e)]) if reason is None else None
        for reason, e in zip(reasons, own.tolist(), strict=True)
    ]
    p = np.full(study.n_raters, np.nan)
    if n_resamples is not None:
        reason = f"{whole.coefficient} without a rater has no closed form"
        if isinstance(whole.definition.model, Fixed | Urn):
            reason = _UNDEFINED
            without = changes["estimate_without"].to_numpy()
            if whole.case.sample is not None:  # with the weights that the reshuffles have
                without = raters.left.estimate
            p = _exchanged(raters, study, without, n_resamples, as_generator(rng))
    tests = {"reason": reasons, "remark": remarks, "p_value": p, **corrected(p)}
    least = tests["n_tests"] / (1 + (n_resamples or 0))
    floor = f"with {n_resamples} reshuffles p_holm is at least {min(least, 1):.2g}"
    no_test = [reason if np.isnan(one) else floor if least > SURE else None for one in p]
    tests["no_test"] = np.array(no_test, dtype=object)
    habits = _habits(study, ratings, whole, size[ratings.units])
    frame = pd.concat([pd.DataFrame(columns), changes, pd.DataFrame({**tests, **habits})], axis=1)
    frame = frame.assign(coefficient=whole.coefficient, distance=whole.distance)
    frame = frame.sort_values("difference", ascending=False, kind="stable").reset_index(drop=True)
    return ResultFrame.of(frame, COLUMNS)


_UNDEFINED = "the coefficient without the rater is undefined"
_NO_SPREAD = "the difference shows no spread to judge it by"


def _own_disagreements(whole: Agreement) -> Floats:
    """Return the sum of 1 / r_i over the units that each rater rated and that disagree."""
    tally, study = whole.tally, whole.study
    assert study is not None  # noqa: S101 - the study was scored with its raters
    assert tally.unit_patterns is not None  # noqa: S101 - as above
    each = (whole.case.mean_disagreement > ROUNDING) / tally.pattern_ratings
    of_rating = each[tally.unit_patterns[study.unit_codes]]
    return np.asarray(np.bincount(study.rater_codes, of_rating, study.n_raters), np.float64)


def _changes(
    raters: RaterParts, study: Annotations, whole: Agreement, level: float
) -> pd.DataFrame:
    """Return the coefficient without each rater, and its difference from that of all.

    In closed form for one urn, or fixed chance, of units that are drawn one by one; the other
    coefficients, and raters whose digits cancelled there, are scored.
    """
    if whole.case.sample is not None or not isinstance(whole.definition.model, Fixed | Urn):
        return _scored_changes(study, whole, level, np.arange(study.n_raters))
    check_cost("by_rater", n_steps=raters.n_steps, instead=_instead(whole))
    estimate, (error, lost_squares) = raters.left.estimate, raters.errors()
    change = estimate - whole.estimate
    is_defined = np.isfinite(change) & (whole.standard_error > 0)
    error = np.where(is_defined, error, np.nan)
    # As in a comparison: without any spread only a change of 0 is known.
    is_zero = is_defined & (np.abs(change) <= ROUNDING)
    df = max(float(whole.sums.totals.n) - 1, 1)
    half = np.where((error > 0) | is_zero, -t_quantile(df, (1 + level) / 2) * error, np.nan)
    numbers = (estimate, change, error, change - half, change + half)
    frame = pd.DataFrame(dict(zip(_CHANGES, numbers, strict=True)))
    anew = np.flatnonzero(raters.left.lost | (lost_squares & is_defined))
    if anew.size:
        frame.iloc[anew] = _scored_changes(study, whole, level, anew)
    return frame


def _scored_changes(
    study: Annotations, whole: Agreement, level: float, raters: npt.NDArray[Any]
) -> pd.DataFrame:
    """Return `_changes` of some raters, each scored without the rater."""
    check_cost("by_rater", n_steps=len(raters) * steps_to_score(study), instead=_instead(whole))
    everyone = np.arange(study.n_units)
    numbers = np.full((len(raters), len(_CHANGES)), np.nan)
    for k, g in track(enumerate(raters), total=len(raters), what="raters"):
        kept = study.rater_codes != g
        if not kept.any():
            continue
        part = score_part(whole, of_raters(study, kept), is_domain=False)
        places = (np.unique(study.unit_codes[kept]), everyone)
        gap = paired_difference(part, whole, places, whole.case.sample)
        numbers[k] = part.estimate, gap.value, gap.standard_error, *gap.interval(level)
    return pd.DataFrame(numbers, columns=list(_CHANGES))


def _exchanged(
    raters: RaterParts,
    study: Annotations,
    without: Floats,
    n_resamples: int,
    generator: np.random.Generator,
) -> Floats:
    """Return p of each rater, by reshuffles of the answers of each unit among its raters.

    without : ndarray of shape (n_raters,), the coefficient without each rater.
    """
    whole, R = raters.whole, study.n_raters
    check_cost(
        f"{n_resamples:,} reshuffles of {study.n_ratings:,} ratings",
        n_steps=_STEPS_PER_RESHUFFLED * n_resamples * study.n_ratings,
        instead="Use fewer (n_resamples), or omit some raters (exclude_raters).",
    )
    # The order of units and answers, and so the draws of a seed, depend only on the ratings.
    numbers = value_numbers(study.values)[study.value_codes]
    numbers *= (value_numbers(study.raters) | np.uint64(1))[study.rater_codes]
    keys = np.zeros(study.n_units, dtype=np.uint64)
    np.add.at(keys, study.unit_codes, numbers)
    order = np.lexsort((numbers, study.unit_codes, keys[study.unit_codes]))
    sizes = np.bincount(study.unit_codes)[study.unit_codes[order]]
    observed, reached = _far(without), np.zeros(R)
    for B in block_sizes(n_resamples, 2 * study.n_ratings, what="reshuffles"):
        codes = np.tile(study.rater_codes, (B, 1))
        for size in np.unique(sizes).tolist():
            cells = order[sizes == size].reshape(-1, size)
            codes[:, cells] = generator.permuted(codes[:, cells], axis=2)
        # Raters are left out of one study with a copy of the raters for each reshuffle.
        codes += R * np.arange(B)[:, None]
        parts = RaterParts(whole, codes.ravel(), B * R)
        estimates = parts.left.estimate.reshape(B, R)
        reached += (_far(estimates) >= observed - _TIE).sum(axis=0)
    return np.where(np.isfinite(observed), (1 + reached) / (1 + n_resamples), np.nan)


def _far(without: Floats) -> Floats:
    """Return |k_g - mean of all k_h|, over the raters without whom k is defined."""
    is_defined = np.isfinite(without)
    sums = np.where(is_defined, without, 0.0).sum(axis=-1, keepdims=True)
    return np.asarray(
        np.abs(without - sums / np.maximum(is_defined.sum(axis=-1, keepdims=True), 1))
    )


_STEPS_PER_RESHUFFLED = 150
"""Elementary steps of a rating of one reshuffle."""

_TIE = 1e-9
"""Difference of estimates up to which a reshuffle counts as the observed one, if digits cancel."""


def _instead(whole: Agreement) -> str:
    return (
        f"jackknife({whole.coefficient}(study), over='raters') gives the coefficient without each "
        "rater in one pass; or omit some raters (exclude_raters)."
    )


_CHANGES = (
    *("estimate_without", "difference", "difference_standard_error"),
    *("difference_low", "difference_high"),
)


def _distances(study: Annotations, ratings: SortedRatings, far: Floats, size: Floats) -> Row:
    """Return the shared ratings of each rater, and the mean distance to the others in them.

    `size` is that of the unit of each rating; 1 without sizes.
    """
    shared = ratings.unit_ratings > 1
    mean = far / np.maximum(ratings.unit_ratings - 1, 1)
    n = np.bincount(ratings.raters[shared], minlength=study.n_raters)
    total = np.bincount(ratings.raters[shared], size[shared], study.n_raters)
    sums = np.bincount(ratings.raters[shared], (size * mean)[shared], study.n_raters)
    return {"n_paired_ratings": n, "mean_distance": divided(sums, total)}


def _habits(study: Annotations, ratings: SortedRatings, whole: Agreement, size: Floats) -> Row:
    """Return the columns on labels, with NaN and None for numbers.

    A bias is the mean of (own x - mean x of the others) over the shared ratings of the rater, with
    x the size of the set, whether it is empty, or whether it has a label.
    """
    from scipy import sparse

    R, out = study.n_raters, dict.fromkeys(_HABITS, np.full(study.n_raters, np.nan))
    out |= dict.fromkeys(("overused_label", "underused_label"), np.full(R, None))
    if study.kind == "number":
        return out
    sets = labels_of_values(whole.tally.values, whole.tally.kind)
    sizes = np.stack([sets.sizes, sets.sizes == 0], axis=1).astype(np.float64)
    everyone = np.bincount(ratings.raters, size, R)
    for name, each in zip(("mean_set_size", "empty_rate"), sizes[ratings.values].T, strict=True):
        out[name] = np.bincount(ratings.raters, size * each, R) / everyone
    shared = np.flatnonzero(ratings.unit_ratings > 1)
    n, g, u, w = len(shared), ratings.raters[shared], ratings.units[shared], size[shared]
    rows, apart = np.arange(n), w / (ratings.unit_ratings[shared] - 1)
    x: Any = sparse.hstack([sparse.csr_array(sizes), sets.flags], format="csr")
    x = x[ratings.values[shared]]
    by_unit = sparse.csr_array((np.ones(n), (u, rows)), (study.n_units, n)) @ x
    of_rater = sparse.csr_array((w, (g, rows)), (R, n))
    thinned = sparse.csr_array((apart, (g, rows)), (R, n))
    around = sparse.csr_array((apart, (g, u)), (R, study.n_units))
    # gap_gl = sum over i of [x_il - mean of x_jl over the other raters j of the unit], (R, 2 + L).
    gaps = (of_rater @ x - (around @ by_unit - thinned @ x)).tocsr()
    total = np.bincount(g, w, R)
    out["set_size_bias"], out["empty_bias"] = divided(gaps[:, :2].toarray().T, total)
    found, at_once = [], max(1, BLOCK_ENTRIES // max(sets.n_labels, 1))
    for start in range(0, R if sets.n_labels else 0, at_once):
        part = slice(start, start + at_once)
        bias = divided(gaps[part, 2:].toarray(), total[part, None], 0.0)
        found.append((*_largest(bias, sets), *_largest(-bias, sets)))
    if found:
        over, overuse, under, underuse = map(np.concatenate, zip(*found, strict=True))
        out |= {"overused_label": over, "overuse": overuse}
        out |= {"underused_label": under, "underuse": -underuse}
    return out


_HABITS = (
    *("mean_set_size", "set_size_bias", "empty_rate", "empty_bias"),
    *("overused_label", "overuse", "underused_label", "underuse"),
)
"""Columns on the labels of each rater."""


def _largest(bias: Floats, sets: SetGeometry) -> tuple[npt.NDArray[np.object_], Floats]:
    """Return the label of the largest bias of each row, and its size, or None and NaN."""
    best = bias.argmax(axis=1)
    size = bias[np.arange(len(bias)), best]
    labels = as_objects(sets.labels)[best]
    real = size > ROUNDING
    labels[~real] = None
    return labels, np.where(real, size, np.nan)
