"""Agreement by group of units, with tests of the differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import MOST_STEPS, Rng, as_generator, check_cost, check_resamples, public
from setagree.coefficients.chance import Case, Codes, Floats
from setagree.coefficients.chance_models import Fixed, Urn
from setagree.coefficients.estimated import Estimated, estimated, units_drawn
from setagree.coefficients.parts import Estimates, Parts, are_computed_together
from setagree.coefficients.sums import UnitSums
from setagree.diagnosis.by_pair import between_raters, no_raters_compared
from setagree.diagnosis.common import (
    Row,
    counts,
    estimates_of,
    named,
    own_columns,
    score_whole,
    steps_to_score,
    uncertainty,
    unit_sums,
)
from setagree.diagnosis.grouping import (
    Grouped,
    edges,
    first_times,
    group_by_mapping,
    group_of_units,
    grouped_table,
    is_constant_in,
    score_windows,
    study_and_column,
    windowed_times,
    windows,
)
from setagree.distances.registry import DistanceLike
from setagree.errors import DataError, OptionError, listing, option
from setagree.inference.comparison import Difference
from setagree.inference.panel_members import plain_units, require_raters
from setagree.inference.unit_order import is_clustered
from setagree.large.opening import Data, open_table
from setagree.limits import BLOCK_UNITS, LONG_WORK, MAX_PERMUTED_GROUPS, MAX_PERMUTED_UNITS
from setagree.progress import track
from setagree.scoring.coefficients import CoefficientLike
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score_part
from setagree.study.annotations import Annotations
from setagree.study.ordering import Times
from setagree.study.reading import Reading, as_reading
from setagree.study.tally import Tally, take_rows
from setagree.study.unit_columns import OfUnits

BESIDE = ("difference", "difference_standard_error", "difference_p_value")
"""The columns that compare a group with all others together."""


def of_sampled_units(grouped: Grouped, whole: Agreement, level: float) -> list[Row]:
    """Return a row for each group of units that were drawn in clusters or with weights."""
    study, of_rating = grouped.study, grouped.of_rating
    sample = whole.case.sample
    if sample is not None and sample.cluster_strata is not None:
        raise OptionError(
            f"groups of clusters that were drawn from strata have no standard error here; omit "
            f"{option('strata')}."
        )
    masks = [of_rating == g for g in range(len(grouped.names))]
    parts = [score_part(whole, study.take(mask)) for mask in masks]
    domains = [_domain(part, mask, whole) for part, mask in zip(parts, masks, strict=True)]
    clusters = sample.groups if sample is not None and sample.is_clustered else None
    if clusters is not None and not is_constant_in(clusters[study.unit_codes], of_rating):
        tests: Row = {"homogeneity_p_value": np.nan}
        tests["no_test"] = "a cluster has units in several of the groups"
    else:
        known = [[x.estimate, x.standard_error, x.degrees_of_freedom] for x in parts]
        tests = homogeneity(*np.array(known).T, covariance=_covariance(whole, domains))
    rows = []
    long = len(parts) * study.n_ratings > LONG_WORK
    for g, part in enumerate(track(parts, total=len(parts), what="groups", long=long)):
        # Of two groups, each is all others of the other one.
        if len(parts) == 2:
            gap = _difference(whole, part, domains[g], parts[1 - g], domains[1 - g])
        elif len(parts) > 2:
            others = score_part(whole, study.take(~masks[g]))
            gap = _difference(whole, part, domains[g], others, _domain(others, ~masks[g], whole))
        else:
            gap = dict.fromkeys(BESIDE, float("nan"))
        rows.append({**counts(part), **uncertainty(part, level), **gap, **tests, **named(part)})
    return rows


def _difference(
    whole: Agreement, part: Agreement, domain: Estimated, others: Agreement, rest: Estimated
) -> Row:
    """Return the difference of a group from all others together, both domains of a sample."""
    gap = domain - rest
    se, df = gap.standard_error, gap.degrees_of_freedom
    if not (part.standard_error > 0 and others.standard_error > 0):
        se = float("nan")
    elif not is_clustered(whole):
        # SE² = SE_1² + SE_2² - 2 cov, with Satterthwaite's degrees of freedom.
        variances = np.array([part.standard_error, others.standard_error]) ** 2
        variance = float(variances.sum() - 2 * _covariance(whole, [domain, rest])[0, 1])
        terms = variances**2 / [part.degrees_of_freedom, others.degrees_of_freedom]
        se, df = math.sqrt(variance), variance**2 / float(terms.sum())
    return dict(zip(BESIDE, (gap.value, se, Difference(gap.value, se, df).p_value), strict=True))


def _domain(part: Agreement, mask: npt.NDArray[np.bool_], whole: Agreement) -> Estimated:
    """Return the estimate of a group with its deviations by unit, or by cluster, of the study."""
    assert whole.study is not None  # noqa: S101 - it was drawn
    places = np.unique(whole.study.unit_codes[mask])
    return estimated(part.case, part.parts, places, whole.case.sample)


def _covariance(whole: Agreement, domains: Sequence[Estimated]) -> Floats:
    """Return the covariances of groups of units, of shape (G, G). The variances are left 0.

    -sum_s (1 - n_s / N_s) (sum u)_gs (sum u)_hs / (n_s - 1): a stratum of which one group has more
    units than chance would have it leaves fewer to the others.
    """
    sample, drawn = whole.case.sample, units_drawn(whole.case, whole.parts)
    if sample is None or drawn is None:
        return np.zeros((len(domains), len(domains)))
    sums = np.array([domain.stratum_sums for domain in domains])
    n = np.array([drawn[name] for name in sample.names])
    each = (1 - np.minimum(n / sample.sizes, 1)) / np.maximum(n - 1, 1)
    out = np.asarray(-(sums * each) @ sums.T)
    np.fill_diagonal(out, 0)
    return out


def homogeneity(
    estimate: Floats, error: Floats, df: Floats, *, covariance: Floats | None = None
) -> Row:
    """Return Welch's p of one common value for all groups that have an estimate; or why none.

    With covariances of the groups C = diag(SE²) + covariance takes the place of diag(SE²).
    """
    from scipy.special import fdtrc

    known = np.flatnonzero(np.isfinite(estimate))
    errors, G = error[known], len(known)
    why = "fewer than two groups can be scored" if G < 2 else None
    if why is None and not (errors > 0).all():
        why = "one of the groups has no standard error above 0"
    if why is not None:
        return {"homogeneity_p_value": np.nan, "no_test": why}
    estimates, f = estimate[known], df[known]
    w = 1 / errors**2
    off = estimates - w @ estimates / w.sum()
    between = float(w @ off**2) / (G - 1)
    if covariance is not None and covariance.any():
        C = np.diag(errors**2) + covariance[np.ix_(known, known)]
        both = np.linalg.solve(C, np.stack([off, np.ones(G)], axis=1))
        between = float(off @ both[:, 0] - both[:, 0].sum() ** 2 / both[:, 1].sum()) / (G - 1)
    L = float(((1 - w / w.sum()) ** 2 / f).sum())
    F = between / (1 + 2 * (G - 2) * L / (G**2 - 1))
    p = float(fdtrc(G - 1, (G**2 - 1) / (3 * L), F))
    return {"homogeneity_p_value": p, "no_test": None}


_FEW_UNITS = 100
"""Pairable units of a group, or of all others, below which units are permuted."""

_TIE = 1e-9
"""Relative difference of p up to which a permutation counts as the observed one."""


def beside(own: Estimates, rests: Estimates) -> dict[str, Floats]:
    """Return the columns of the difference of each group from all others together, by Welch's t."""
    from scipy.special import stdtr

    difference = own.estimate - rests.estimate
    both = np.stack([own.standard_error, rests.standard_error])
    se = np.where((both > 0).all(axis=0), np.hypot(*both), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = both**4 / (np.stack([own.counted, rests.counted]) - 1)
        p = 2 * stdtr(se**4 / terms.sum(axis=0), -np.abs(difference) / se)
    return dict(zip(BESIDE, (difference, se, p), strict=True))


def group_tests(
    parts: Parts,
    own: Estimates,
    rests: Estimates,
    n_resamples: int,
    generator: np.random.Generator,
) -> dict[str, Any]:
    """Return the differences of groups of units, and the test of all groups together.

    Welch's p is the result if all groups are large. Otherwise p is the share of permutations,
    including the observed one, whose Welch's p is as small.
    """
    found: dict[str, Any] = {**beside(own, rests), **_homogeneity(own)}
    few = np.minimum(own.counted, rests.counted) < _FEW_UNITS
    G, n = parts.n_parts, len(parts.part)
    is_known = isinstance(parts.whole.model, Fixed | Urn) and 1 < G <= MAX_PERMUTED_GROUPS
    if not (is_known and few.any() and n * (G + 1) * n_resamples <= MAX_PERMUTED_UNITS):
        return {**found, "tested_by": "t"}
    together = "homogeneity_p_value"
    seen = np.append(found[BESIDE[2]], found[together])
    # A permutation without a p is left out, as the study would be.
    reached, total = np.ones(G + 1), np.ones(G + 1)
    for p in _permuted(parts, n_resamples, generator):
        reached += (p <= seen * (1 + _TIE)).sum(axis=0)
        total += np.isfinite(p).sum(axis=0)
    shares = np.where(np.isfinite(seen), reached / total, np.nan)
    found[BESIDE[2]] = np.where(few, shares[:G], seen[:G])
    found[together] = float(shares[G])
    return {**found, "tested_by": np.where(few, "permutation", "t")}


def _permuted(parts: Parts, n_resamples: int, generator: np.random.Generator) -> Iterator[Floats]:
    """Yield Welch's p of B permutations, (B, G + 1): of each group and the rest, and of all."""
    G, (order, groups) = parts.n_parts, _in_one_order(parts)
    case, model = parts.whole.case, parts.whole.model
    at_once = max(1, BLOCK_UNITS // len(order))
    for start in range(0, n_resamples, at_once):
        B = min(at_once, n_resamples - start)
        of_row = np.empty((B, len(order)), dtype=np.intp)
        of_row[:, order] = generator.permuted(np.tile(groups, (B, 1)), axis=1)
        # B copies of the units, one after the other.
        rows = np.tile(np.arange(len(order)), B)
        tally = replace(take_rows(case.tally, rows, np.ones(len(rows)), None), units=None)
        copies = UnitSums(Case(tally, case.weights, case.distance), model)
        own = _scored(copies, of_row, G)
        if G == 2:
            rests = _each(lambda x: x[:, ::-1], own)
        else:
            twos = [_scored(copies, (of_row != g).astype(np.intp), 2) for g in range(G)]
            rests = _each(lambda *x: np.stack([one[:, 1] for one in x], axis=1), *twos)
        together = [_homogeneity(_each(lambda x, b=b: x[b], own)) for b in range(B)]
        p_all = [one["homogeneity_p_value"] for one in together]
        yield np.column_stack([beside(own, rests)[BESIDE[2]], p_all])


def _in_one_order(parts: Parts) -> tuple[Codes, Codes]:
    """Return the units, and the groups to permute, in an order that depends only on the answers.

    A seed then gives equal permutations for any order of units and groups in a table.
    """
    keys = parts.whole.case.tally.keys
    sums, sizes = np.zeros(parts.n_parts, dtype=np.uint64), np.bincount(parts.part)
    np.add.at(sums, parts.part, keys)
    groups = np.lexsort((sums, sizes))
    return np.argsort(keys, kind="stable"), np.repeat(groups, sizes[groups])


def _scored(copies: UnitSums, of_row: Codes, n_parts: int) -> Estimates:
    """Return the parts of each copy of the units, of shape (B, n_parts)."""
    B = len(of_row)
    places = (of_row + n_parts * np.arange(B)[:, None]).ravel()
    found = Parts(copies, places, n_parts * B).estimates()
    return _each(lambda x: x.reshape(B, n_parts), found)


def _each(change: Callable[..., Any], *estimates: Estimates) -> Estimates:
    """Return estimates with one function applied to all of their columns."""
    return Estimates._make(map(change, *estimates))


def _homogeneity(own: Estimates) -> Row:
    return homogeneity(own.estimate, own.standard_error, own.counted - 1)


Grouping: TypeAlias = "Mapping[Any, Any] | pd.Series[Any] | str"


@public
def by_group(
    data: Data,
    by: Grouping,
    *,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    n_resamples: int = 999,
    reading: Reading | None = None,
    cluster: OfUnits | None = None,
    rng: Rng = None,
) -> pd.DataFrame:
    """Return the coefficient of each group: of units (batches, sources), or of raters (panels).

    Groups of units are compared by their coefficients. If each rater is in one group and units are
    in several, the groups are panels of raters. Each row then also has the agreement of the panel
    with the others, to compare with the agreement within it.

    Parameters
    ----------
    data : Annotations, or a table or path as `agreement` takes it
        A study, or what `agreement` reads; if `by` is a further column, a long table.
    by : str, mapping or Series
        A column of the table, or of a study's units (`Annotations.units_frame`); or a mapping
        from each unit, or from each rater, of the study to its group. A column with one value
        per rater makes groups of raters; otherwise a unit with several groups in a table is
        compared within each of them.
    coefficient, distance
        As in `setagree.agreement`. What a distance takes from the data (mid-ranks, the largest
        distance) and the list of values are those of the whole study.
    level : float
        The level of the intervals.
    n_resamples : int
        Number of permutations of units between small groups of units. For groups of raters:
        number of resamples of units, and of permutations of raters if more are possible.
    reading : Reading, optional
        How a table is read; that of a study that was read from it is ``study.reading``. Default:
        with the usual names of columns, and as `agreement` reads cells.
    cluster : str, mapping or Series, optional
        The document, patient or conversation of each unit; see `Annotations.sampled`. If a
        cluster has units in several groups, these are not independent samples: differences
        account for that, and homogeneity is not tested.
    rng : int or numpy Generator, optional
        The seed of the permutations and resamples.

    Returns
    -------
    DataFrame
        One row per group, in order of first unit (or rater): group, n_units, n_pairable_units,
        n_raters, n_ratings, n_values; estimate, standard_error, low, high; difference (from the
        estimate of all other groups together), difference_standard_error, difference_p_value (see
        Notes; not corrected for the number of groups; NaN if one of the two has no standard
        error above 0); homogeneity_p_value (one test of all groups against one common value, the
        same in every row); tested_by (the method of p: "t" or "permutation"); compares ("units",
        "raters", or "units and raters" if each group has its own units and raters, so that
        differences between units and between raters are confounded). Of groups of raters,
        else nan: between (the cross-replication kappa_x of the group with all other raters),
        between_low, between_high (percentiles over redrawn units), normalised, normalised_low,
        normalised_high (kappa_x divided by the root of both alphas: below 1 if raters agree less
        between groups than within them), n_shared_units, permutation_p_value (see Notes; the same
        in every row). Of all: no_test (the reason for a missing p of the test of the groups),
        reason (for an estimate of NaN, or for no interval because the standard error is 0),
        coefficient, distance.

    Raises
    ------
    DataError
        A unit of a mapping or every row of a table has no group, or there are more than 20 groups
        and fewer than two units in one on average.

    Warns
    -----
    DroppedRowsWarning
        Rows of a table have no group and are left out.

    Notes
    -----
    The difference has Welch's t with Satterthwaite's degrees of freedom. All groups are tested
    against one common value by Welch's (1951) F: with ``w_g = 1 / SE_g²``, W their sum, ``k`` the
    mean of the k_g weighted by them, f_g the degrees of freedom of SE_g and
    ``L = sum_g (1 - w_g / W)² / f_g``, it is
    ``F = [sum_g w_g (k_g - k)² / (G - 1)] / [1 + 2 (G - 2) L / (G² - 1)]`` on G - 1 and
    ``(G² - 1) / (3 L)`` degrees of freedom. Groups without an estimate are left out of the test;
    it is NaN if one has no standard error above 0.

    If a group, or all others together, have fewer than 100 units, standard errors are too rough for
    t. Units are then permuted between groups of equal sizes `n_resamples` times. p is the share of
    permutations, including the observed one, whose p by t is as small, among those that have one (a
    studentised permutation test; Chung & Romano 2013). The test of all groups is by permutation if
    the test of any difference is (`tested_by`). t remains for more than 20 groups, for
    samples in clusters or with weights, for coefficients that need raters, and if permutation
    would score more than 20 million units.

    Of a sample from strata, or from a population of known size, a group is a domain: the fraction
    drawn is that of the whole sample in each stratum, f_s = n_s / N_s, and how many of its n_s
    units are of the group is chance. The variance is ``c sum_s (1 - f_s) n_s s²_u,s`` with
    ``u_i = w_i (x_i - mean) / sum w`` in the group and 0 outside (Särndal, Swensson & Wretman
    1992, ch. 10), ``c = (m - p) / (m - 1)`` for its m units, the share p of those drawn of its
    strata. Without strata it is the group's own variance times 1 - n / N. Groups that share a
    stratum are not independent, which the differences and the test take into account.

    Groups of raters share units, so these tests do not apply: differences are NaN. Whether raters
    of one group are nearer to each other than to those of other groups is tested by permuting all
    raters between groups of equal sizes. `permutation_p_value` is the share of permutations
    whose mean distance between groups exceeds that within groups by as much as observed. All
    permutations are used if there are at most `n_resamples`. The test is omitted if p cannot be as
    low as 0.05 for so few raters.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(90, 3, rng=1)
    >>> batch = {unit: "first" if k < 45 else "second" for k, unit in enumerate(study.units)}
    >>> frame = by_group(study, batch, rng=1)
    >>> frame[["group", "n_units", "estimate", "difference", "difference_p_value"]].round(3)
        group  n_units  estimate  difference  difference_p_value
    0   first       45     0.426       0.124               0.079
    1  second       45     0.302      -0.124               0.079
    """
    grouped = _grouped(data, by, reading, cluster)
    if cluster is not None:
        grouped = replace(grouped, study=grouped.study.sampled(cluster=cluster))
    return compare_groups(
        grouped,
        by=by,
        coefficient=coefficient,
        distance=distance,
        level=level,
        n_resamples=n_resamples,
        rng=rng,
    )


def compare_groups(
    grouped: Grouped,
    *,
    by: Grouping,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    n_resamples: int = 999,
    rng: Rng = None,
) -> pd.DataFrame:
    """Return the coefficient of each group of a study; see `by_group`."""
    check_resamples(n_resamples)
    drawing: Row = {"n_resamples": n_resamples, "generator": as_generator(rng)}
    study, compares = grouped.study, grouped.compares
    whole = score_whole(study, coefficient, distance, level)
    _check_group_sizes(by, len(grouped.names), study, compares)
    if compares == "raters":
        plain_units(study, "a comparison of groups of raters")
        found = whole.case.distance
        assert found is not None  # noqa: S101 - every scored study has one
        rows = between_raters(grouped, whole, distance=found, level=level, **drawing)
        beside = {**dict.fromkeys(BESIDE, np.nan), "homogeneity_p_value": np.nan}
        frame = pd.DataFrame([{**row, **beside, "tested_by": "permutation"} for row in rows])
    else:
        if whole.case.sample is None:
            frame = pd.DataFrame(_of_units(grouped, whole, level, **drawing))
        else:
            frame = pd.DataFrame(of_sampled_units(grouped, whole, level)).assign(tested_by="t")
        frame = frame.assign(**no_raters_compared())
    return frame.assign(group=grouped.names, compares=compares)[[*_COLUMNS]]


def _of_units(grouped: Grouped, whole: Agreement, level: float, **drawing: Any) -> dict[str, Any]:
    """Return the columns of groups of units, with how each differs from all others together."""
    study, of_rating, n = grouped.study, grouped.of_rating, len(grouped.names)
    of_unit = np.zeros(study.n_units, dtype=np.intp)
    of_unit[study.unit_codes] = of_rating
    parts = Parts(unit_sums(whole), of_unit, n)
    own, rests = _own_and_rests(grouped, whole, parts)
    return {
        **own_columns(study, parts, own, of_rating, level),
        **group_tests(parts, own, rests, **drawing),
        "coefficient": whole.coefficient,
        "distance": whole.distance,
    }


def _own_and_rests(grouped: Grouped, whole: Agreement, parts: Parts) -> tuple[Estimates, Estimates]:
    """Return the coefficient of each group, and of all units but those of the group."""
    study, groups = grouped.study, np.arange(parts.n_parts)

    def one_by_one(some: npt.NDArray[Any], *, rest: bool) -> Estimates:
        n_steps = len(some) * steps_to_score(study)
        few = f"Some {int(MOST_STEPS / steps_to_score(study)):,} groups pass."
        check_cost(f"by_group of {len(groups):,} groups", n_steps=n_steps, instead=few)
        rows = ((grouped.of_rating == g) != rest for g in some)
        long = len(some) * study.n_ratings > LONG_WORK
        tracked = track(rows, total=len(some), what="groups", long=long)
        return estimates_of(score_part(whole, study.take(row)) for row in tracked)

    known = are_computed_together(parts.whole.model)
    own = parts.estimates() if known else one_by_one(groups, rest=False)
    if len(groups) == 1:  # without another group
        return own, own._replace(estimate=np.full(1, np.nan), standard_error=np.full(1, np.nan))
    if not isinstance(parts.whole.model, Fixed | Urn):
        return own, one_by_one(groups, rest=True)
    rests, lost = parts.rests()
    for each, anew in zip(rests, one_by_one(np.flatnonzero(lost), rest=True), strict=True):
        each[lost] = anew
    return own, rests


_COLUMNS = (
    *("group", "n_units", "n_pairable_units", "n_raters", "n_ratings", "n_values"),
    *("estimate", "standard_error", "low", "high", *BESIDE, "homogeneity_p_value", "tested_by"),
    *("compares", "between", "between_low", "between_high"),
    *("normalised", "normalised_low", "normalised_high", "n_shared_units", "permutation_p_value"),
    *("no_test", "reason", "coefficient", "distance"),
)


@public
def over_time(
    data: Data,
    at: Grouping,
    *,
    window: float | str | pd.Timedelta,
    step: float | str | pd.Timedelta | None = None,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    reading: Reading | None = None,
) -> pd.DataFrame:
    """Return the coefficient in windows that roll over time.

    Parameters
    ----------
    data : Annotations, or a table or path as `agreement` takes it
        As in `by_group`.
    at : str, mapping or Series
        When each unit was annotated: numbers or dates, also as text, such as 2026-01-31 (see
        `monitor`; names of batches have no length). A column may have
        a time for every annotation: a unit belongs to the time of its first one.
    window, step : int, number, str or Timedelta
        How long a window is and how far the next one begins: in units of `at` for numbers, as
        ``"7D"`` for times. Default step: the window, so that windows do not overlap.
    coefficient, distance, level, reading
        As in `by_group`.

    Returns
    -------
    DataFrame
        One row a window ``[start, end)`` that holds a unit, in the time zone of `at`: start, end,
        n_units, n_pairable_units,
        n_raters, n_ratings, n_values, estimate, standard_error, low, high, reason, coefficient,
        distance. A window of a sample from strata is a domain, as a group is in `by_group`.

    Raises
    ------
    OptionError
        The window does not fit the times, or there would be more than 2,000 windows.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(90, 3, rng=1)
    >>> day = {unit: k // 3 for k, unit in enumerate(study.units)}
    >>> over_time(study, day, window=10)[["start", "end", "n_units", "estimate"]].round(3)
       start  end  n_units  estimate
    0      0   10       30     0.447
    1     10   20       30     0.336
    2     20   30       30     0.310
    """
    study, when = _dated(data, at, reading)
    whole = score_whole(study, coefficient, distance, level)
    assert when.values is not None  # noqa: S101 - names raise an error above
    order = np.argsort(when.values[study.unit_codes], kind="stable")
    times = when.values[study.unit_codes][order]
    held = []
    for start, end in windows(when.values, window, step):
        first, last = np.searchsorted(times, edges(start, end))
        if first < last:
            shown = {"start": when.shown(start), "end": when.shown(end)}
            held.append((shown, np.sort(order[first:last])))
    spans = pd.DataFrame([shown for shown, _ in held])
    scored = score_windows(study, [rows for _, rows in held], whole, level)
    return pd.concat([spans, scored], axis=1)


def _dated(data: Data, at: Grouping, reading: Reading | None) -> tuple[Annotations, Times]:
    """Return the study, and when each of its units began."""
    if isinstance(at, str) and not isinstance(data, Annotations | Tally):
        how = as_reading(reading)
        study, cells, unit_of_row = study_and_column(open_table(data, how), at, how)
        times = windowed_times(cells, option("at", at))
        return study, first_times(times, unit_of_row, study.n_units)
    said = option("at", at) if isinstance(at, str) else option("at")
    study, at = _known(data, at, "over_time", reading)
    return study, windowed_times(pd.Series(group_of_units(study, at, "over_time")), said)


def _check_group_sizes(by: Grouping, n_groups: int, study: Annotations, compares: str) -> None:
    """Raise an error if groups are nearly as many as the units, such as in a column of times."""
    n, what = (study.n_raters, "raters") if compares == "raters" else (study.n_units, "units")
    if n_groups > _FEW_GROUPS and 2 * n_groups > n:
        column = f"column {by!r} makes " if isinstance(by, str) else ""
        raise DataError(
            f"by_group: {column}{n_groups:,} groups of {n:,} {what}, which are too few in "
            "each to compare. Name batches or the like; for times use over_time (on the command "
            "line --over-time COLUMN --window 7D)."
        )


_FEW_GROUPS = 20


def _grouped(data: Data, by: Grouping, reading: Reading | None, cluster: OfUnits | None) -> Grouped:
    """Return the study, and the groups of its units or raters."""
    if isinstance(by, str) and not isinstance(data, Annotations | Tally):
        how = as_reading(reading)
        if isinstance(cluster, str):
            how = replace(how, cluster=cluster)
        return grouped_table(open_table(data, how), by, how)
    study, by = _known(data, by, "by_group", reading)
    return group_by_mapping(study, by, "by_group")


def _known(
    data: Data, by: Grouping, what: str, reading: Reading | None
) -> tuple[Annotations, Mapping[Any, Any] | pd.Series[Any]]:
    """Return the study that a mapping is about, and the mapping: a column of its units is one."""
    study = require_raters(data, what, reading)
    if not isinstance(by, str):
        return study, by
    if by not in (known := study.units_frame):
        listed = f" ({listing([*known])})" if len(known.columns) else ""
        raise OptionError(
            f"{what}: {by!r} names a column, so pass the table; a study keeps its units and what "
            f"is named when it is read{listed}: unit_columns=[{by!r}]. Or pass a mapping from unit."
        )
    return study, known[by]
