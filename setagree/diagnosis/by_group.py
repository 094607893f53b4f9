"""Agreement by group of units, with tests of the differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import copysign, inf, sqrt
from typing import Any, Unpack

import numpy as np
import pandas as pd

from setagree.checks import Codes, Floats, Rng, as_generator, check_least
from setagree.coefficients.case import ROUNDING, Case
from setagree.coefficients.chance_models import Fixed, Urn
from setagree.coefficients.parts import Parts, are_computed_together
from setagree.coefficients.score_interval import ScoreInterval
from setagree.coefficients.sums import UnitSums
from setagree.coefficients.uncertain import UncertainNumber, uncertain_number, units_drawn
from setagree.diagnosis.by_pair import BETWEEN, between_raters
from setagree.diagnosis.common import REASONS, Row, score_whole, unit_sums
from setagree.diagnosis.grouping import (
    Grouped,
    edges,
    first_times,
    group_by_mapping,
    grouped_table,
    score_parts,
    study_and_column,
    windowed_times,
    windows,
)
from setagree.distances.registry import DistanceLike
from setagree.errors import DataError, OptionError, listing, option, shorten
from setagree.inference.comparison import holm
from setagree.inference.panel_members import plain_units, require_raters, require_unsized
from setagree.inference.resampling import block_sizes
from setagree.large.opening import Data, ReadingOptions, open_table, takes_data, with_reading
from setagree.limits import BLOCK_UNITS, MAX_PERMUTED_UNITS, MAX_SCORED_GROUPS
from setagree.scoring.coefficients import CoefficientLike
from setagree.scoring.intervals import FEWEST_RARER
from setagree.scoring.results import Agreement
from setagree.scoring.table_notes import warn_clusters
from setagree.study.annotations import Annotations
from setagree.study.attributes import OfUnits, read_column
from setagree.study.preparation import Times
from setagree.study.tally import Tally, take_rows
from setagree.wording.result_frames import ResultFrame
from setagree.wording.tables import Column

COLUMNS = (
    Column("group", "name"),
    Column("start", "name"),
    Column("end", "name"),
    Column("estimate"),
    Column(("low", "high"), "interval"),
    Column("difference", "signed", "vs. others"),
    Column("p_holm", "p", "p, Holm"),
    Column("between"),
    Column(("between_low", "between_high"), "interval", "interval, between"),
    Column("n_units", "count", "units"),
    Column("n_raters", "count", "raters"),
    Column("n_ratings", "count", "ratings"),
    *REASONS,
)
"""The main columns, which notebooks show."""

TESTS = (
    *("difference", "difference_standard_error", "difference_p_value", "p_holm"),
    *("homogeneity_p_value", "tested_by", "no_test"),
)
"""The columns of the tests: of each group, and of all groups, the same in every row."""

_TIE = 1e-9
"""Relative difference of statistics up to which a permutation counts as the observed one."""


def _exchangeability(parts: Parts, n_resamples: int, generator: np.random.Generator) -> float:
    """Return p that units are exchangeable between groups, by permutations of the groups.

    The statistic is sum_g n_g (k_g - k)² over the pairable units n_g, with k the mean of the k_g
    weighted by n_g. A permutation in which a group is undefined is left out.
    """
    G, n, model = parts.n_parts, len(parts.part), parts.whole.model
    if not (G > 1 and are_computed_together(model) and n * n_resamples <= MAX_PERMUTED_UNITS):
        return float("nan")
    order, groups = _in_one_order(parts)
    observed = _between(parts, 1)[0]
    if np.isnan(observed) or not isinstance(model, Fixed | Urn):
        return float("nan")
    case, reached, total = parts.whole.case, 1, 1
    for B in block_sizes(n_resamples, n, most=BLOCK_UNITS, what="permutations"):
        of_row = np.empty((B, n), dtype=np.intp)
        of_row[:, order] = generator.permuted(np.tile(groups, (B, 1)), axis=1)
        # B copies of the units, one after the other.
        rows = np.tile(np.arange(n), B)
        tally = replace(take_rows(case.tally, rows, np.ones(len(rows)), None), units=None)
        copies = UnitSums(Case(tally, case.weights, case.distance), model)
        places = (of_row + G * np.arange(B)[:, None]).ravel()
        statistics = _between(Parts(copies, places, G * B), B)
        reached += int((statistics >= observed * (1 - _TIE)).sum())
        total += int(np.isfinite(statistics).sum())
    return reached / total


def _between(parts: Parts, B: int) -> Floats:
    """Return the statistic of `_exchangeability` for B copies of the units, of shape (B,)."""
    k, n = (x.reshape(B, -1) for x in (parts.estimates().estimate, parts.n_pairable))
    mean = (n * k).sum(axis=1, keepdims=True) / n.sum(axis=1, keepdims=True)
    return np.asarray((n * (k - mean) ** 2).sum(axis=1))


def _in_one_order(parts: Parts) -> tuple[Codes, Codes]:
    """Return the units, and the groups to permute, in an order that depends only on the answers.

    A seed then gives equal permutations for any order of units and groups in a table.
    """
    keys = parts.whole.case.tally.keys
    sums, sizes = np.zeros(parts.n_parts, dtype=np.uint64), np.bincount(parts.part)
    np.add.at(sums, parts.part, keys)
    groups = np.lexsort((sums, sizes))
    return np.argsort(keys, kind="stable"), np.repeat(groups, sizes[groups])


@takes_data
def by_group(
    data: Data,
    by: OfUnits,
    *,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    n_resamples: int = 999,
    cluster: OfUnits | None = None,
    rng: Rng = None,
    **options: Unpack[ReadingOptions],
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
        As in `setagree.agreement`. Quantities that a distance takes from the data (mid-ranks, the
        largest distance) and the list of values are those of the whole study.
    level : float
        The level of the intervals.
    n_resamples : int
        Number of permutations of units between groups of units. For groups of raters: number of
        resamples of units, and of permutations of raters if more are possible.
    **options
        How a table is read: options of `Reading`, or a `Reading` as ``reading=``; that of a study
        is ``study.reading``. Default: with the usual names of columns.
    cluster : str, mapping or Series, optional
        The document, patient or conversation of each unit; see `Annotations.sampled`.
    rng : int or numpy Generator, optional
        The seed of the permutations and resamples.

    Returns
    -------
    DataFrame
        One row per group, in order of first unit (or rater): group, n_units, n_pairable_units,
        n_raters, n_ratings, n_values; estimate, standard_error, low, high, interval_method;
        difference (from the common value of all other groups), difference_standard_error,
        difference_p_value and p_holm (that the group has that value, and the same corrected for the
        number of groups; for two groups homogeneity_p_value; see Notes); homogeneity_p_value (one
        test of all groups against one common value, the same in every row); tested_by (its method:
        "score", "Wald", or "permutation" for groups of raters); exchangeability_p_value (another
        hypothesis, that units are exchangeable between groups; see Notes); compares ("units",
        "raters", or "units and raters" if each group has its own units and raters, so that
        differences between units and between raters are confounded). Of groups of raters, else nan:
        between (the cross-replication kappa_x of the group with all other raters), between_low,
        between_high (percentiles over redrawn units), in_group_cohesion (alpha of the group on the
        units shared with others) and group_association_index (it over `between`, the cross-group
        cohesion, above 1 if the group is nearer to itself: GRASP, Prabhakaran et al. 2024) with
        group_association_low, group_association_high; normalised, normalised_low, normalised_high
        (kappa_x divided by the root of both alphas: below 1 if raters agree less between groups
        than within them), n_shared_units, permutation_p_value (see Notes; the same in every row).
        Of all: no_test (the groups that the test leaves out, or the reason for a missing p of the
        test of the groups), reason (for an estimate of NaN, or for no interval because the standard
        error is 0), remark (on a rough interval, as `Agreement.remark`), coefficient, distance.

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
    With z_g(a0) that of the p-value of group g against a coefficient of a0 (the score test of
    `Agreement.p_value`), ``X = min over a0 of sum_g z_g(a0)²`` has a chi-squared distribution with
    G - 1 degrees of freedom if all G groups have one value. A group is tested by the drop of X
    without it, with one degree, and p_holm corrects for the groups; there are at most 30 of these
    tests. Groups may differ in size, raters and label mix: in twelve simulated designs of 2 to 10
    groups with equal alpha, p was at most 0.05 in 0 to 7% of the studies. Groups are left out, and
    named in `no_test`, if they are undefined, if all their units disagree alike, or if all answers
    except the commonest weigh less than four units. More than 200 groups are not tested, and have
    t intervals.

    Units that are sampled in clusters, from strata or with weights have Wald tests: Welch's (1951)
    F with the covariances C of the groups in place of diag(SE²), and for each group the difference
    from the mean of the others, weighted by 1 / SE², by t with Satterthwaite's degrees of freedom.
    A group is left out if it has fewer than 9 degrees of freedom, or 12 without clusters.
    With ``w_g = 1 / SE_g²``, W their sum, ``k`` the mean of the k_g weighted by them, f_g the
    degrees of freedom of SE_g and ``L = sum_g (1 - w_g / W)² / f_g``, F without covariances is
    ``F = [sum_g w_g (k_g - k)² / (G - 1)] / [1 + 2 (G - 2) L / (G² - 1)]`` on G - 1 and
    ``(G² - 1) / (3 L)`` degrees of freedom.

    `exchangeability_p_value` is the share of `n_resamples` permutations of units between groups of
    equal sizes, including the observed one, whose ``sum_g n_g (k_g - k)²`` is as large. A small p
    shows that the groups differ in some way, be it only in their label mix, and not that they
    differ in agreement. It is NaN for samples, for coefficients that need raters, and if
    permutation would score more than 20 million units.

    Of a sample from strata, or from a population of known size, a group is a domain: the fraction
    drawn is that of the whole sample in each stratum, f_s = n_s / N_s, and how many of its n_s
    units are of the group is chance. The variance is ``c sum_s (1 - f_s) n_s s²_u,s`` with
    ``u_i = w_i (x_i - mean) / sum w`` in the group and 0 outside (Särndal, Swensson & Wretman
    1992, ch. 10), ``c = (m - p) / (m - 1)`` for its m units, the share p of those drawn of its
    strata. Without strata it is the group's own variance times 1 - n / N. Groups that share a
    stratum or a cluster are not independent, which the tests take into account.

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
    0   first       45     0.426       0.124                0.11
    1  second       45     0.302      -0.124                0.11
    """
    if isinstance(by, str) and not isinstance(data, Annotations | Tally):
        table, how = open_table(*with_reading(data))
        if isinstance(cluster, str):
            how = replace(how, cluster=cluster)
        grouped = grouped_table(table, by, how)
    else:
        grouped = group_by_mapping(require_raters(data, "by_group"), by)
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
    by: OfUnits,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    n_resamples: int = 999,
    rng: Rng = None,
) -> pd.DataFrame:
    """Return the coefficient of each group of a study; see `by_group`."""
    check_least("n_resamples", n_resamples, 1)
    drawing: Row = {"n_resamples": n_resamples, "generator": as_generator(rng)}
    study, compares = grouped.study, grouped.compares
    whole = score_whole(study, coefficient, distance, level)
    _check_group_sizes(by, len(grouped.names), study, compares)
    exchangeable = float("nan")
    if compares == "raters":
        plain_units(study, "a comparison of groups of raters")
        found = whole.case.distance
        assert found is not None  # noqa: S101 - every scored study has one
        rows = between_raters(grouped, whole, distance=found, level=level, **drawing)
        tests: Row = dict.fromkeys(TESTS, np.nan) | {"tested_by": "permutation"}
        frame = pd.DataFrame([{**tests, **row} for row in rows])
    else:
        frame = _of_units(grouped, whole, level).assign(
            **dict.fromkeys((*BETWEEN, "permutation_p_value"), np.nan)
        )
        if whole.case.sample is None:
            of_unit = np.zeros(study.n_units, dtype=np.intp)
            of_unit[study.unit_codes] = grouped.of_rating
            parts = Parts(unit_sums(whole), of_unit, len(grouped.names))
            exchangeable = _exchangeability(parts, **drawing)
    frame = frame.assign(
        group=grouped.names, compares=compares, exchangeability_p_value=exchangeable
    )
    return ResultFrame.of(frame[[*_COLUMNS]], COLUMNS)


def _of_units(grouped: Grouped, whole: Agreement, level: float) -> pd.DataFrame:
    """Return the columns of groups of units and of their tests; ratings of group -1 have none."""
    of_rating, n = grouped.of_rating, len(grouped.names)
    order = np.argsort(of_rating, kind="stable")
    bounds = np.searchsorted(of_rating[order], np.arange(n + 1))
    rows = [order[first:last] for first, last in pairwise(bounds.tolist())]
    frame, scored = score_parts(grouped.study, rows, whole, level)
    if whole.spread.clusters is not None and scored:
        g = min(range(len(scored)), key=lambda g: scored[g].degrees_of_freedom)
        warn_clusters([scored[g]], of=f" of the group {shorten(grouped.names[g])}")
    return frame.assign(**group_tests(whole, scored, rows, grouped.names.tolist()))


_COLUMNS = (
    *("group", "n_units", "n_pairable_units", "n_raters", "n_ratings", "n_values"),
    *("estimate", "standard_error", "low", "high", "interval_method", *TESTS[:-1]),
    *("exchangeability_p_value", "compares", *BETWEEN, "permutation_p_value"),
    *("no_test", "reason", "remark", "coefficient", "distance"),
)


@takes_data
def over_time(
    data: Data,
    time: OfUnits,
    *,
    window: float | str | pd.Timedelta,
    step: float | str | pd.Timedelta | None = None,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> pd.DataFrame:
    """Return the coefficient in windows that roll over time.

    Parameters
    ----------
    data : Annotations, or a table or path as `agreement` takes it
        As in `by_group`.
    time : str, mapping or Series
        The time of the annotation of each unit: numbers or dates, also as text, such as 2026-01-31
        (see `monitor`; names of batches have no length). A column may have a time for every
        annotation: a unit belongs to the time of its first one.
    window, step : int, number, str or Timedelta
        Length of a window, and distance to the start of the next one: a number in units of `time`,
        or such as ``"7D"`` for times. Default step: the window, so that windows do not overlap.
    coefficient, distance, level, reading
        As in `by_group`.

    Returns
    -------
    DataFrame
        One row per window ``[start, end)`` with a unit, in the time zone of `time`: start, end,
        n_units, n_pairable_units, n_raters, n_ratings, n_values, estimate, standard_error, low,
        high, interval_method; the tests of `by_group` of windows that do not overlap: difference,
        difference_standard_error, difference_p_value, p_holm, homogeneity_p_value, tested_by,
        no_test; reason, remark, coefficient, distance. A window of a sample from strata is a
        domain, as a group is in `by_group`.

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
    study, when = _dated(data, time)
    whole = score_whole(study, coefficient, distance, level)
    assert when.values is not None  # noqa: S101 - names raise an error above
    order = np.argsort(when.values[study.unit_codes], kind="stable")
    times = when.values[study.unit_codes][order]
    spans, rows, end_before, is_overlapping = [], [], 0, False
    for start, end in windows(when.values, window, step):
        first, last = np.searchsorted(times, edges(start, end))
        if first < last:
            spans.append({"start": when.shown(start), "end": when.shown(end)})
            rows.append(np.sort(order[first:last]))
            is_overlapping |= bool(first < end_before)
            end_before = last
    frame, scored = score_parts(study, rows, whole, level)
    if is_overlapping:
        tests: Row = dict.fromkeys(TESTS, np.nan) | {
            "tested_by": None,
            "no_test": "the windows overlap",
        }
    else:
        tests = group_tests(whole, scored, rows, [str(span["start"]) for span in spans])
    frame = frame.assign(**tests)[[*frame.columns[:-4], *TESTS, *frame.columns[-4:]]]
    return ResultFrame.of(pd.concat([pd.DataFrame(spans), frame], axis=1), COLUMNS)


def _dated(data: Data, time: OfUnits) -> tuple[Annotations, Times]:
    """Return the study, and the time of the first annotation of each unit."""
    if isinstance(time, str) and not isinstance(data, Annotations | Tally):
        table, how = open_table(*with_reading(data))
        study, cells, unit_of_row = study_and_column(table, time, how)
        times = windowed_times(cells, option("time", time))
        return study, first_times(times, unit_of_row, study.n_units)
    described = option("time", time) if isinstance(time, str) else option("time")
    study = require_unsized(data, "over_time")
    return study, windowed_times(read_column(study, time, "time"), described)


def _check_group_sizes(by: OfUnits, n_groups: int, study: Annotations, compares: str) -> None:
    """Raise an error if groups are nearly as many as the units, such as in a column of times."""
    n, what = (study.n_raters, "raters") if compares == "raters" else (study.n_units, "units")
    if n_groups > _FEW_GROUPS and 2 * n_groups > n:
        column = f"column {by!r} makes " if isinstance(by, str) else ""
        raise DataError(
            f"by_group: {column}{n_groups:,} groups of {n:,} {what}, which are too few in "
            "each to compare. Name a column of larger groups, such as batches; for times use "
            "over_time (on the command line --time COLUMN --window 7D)."
        )


_FEW_GROUPS = 20


MAX_TESTED_GROUPS = 30
"""Groups up to which each is tested against the others: the work grows with their square."""

_GRID = 41
"""Values of a0 among which the least sum is bracketed."""

_TOLERANCE = 1e-7
"""Precision of a0; that of the sum, which is flat at its least value, is about the square."""

_GOLDEN = (3 - sqrt(5)) / 2


class _CommonValue:
    """X(a0) = sum_g z_g(a0)² of some groups, with z_g that of the score test of a0.

    The values on a grid between the least and the greatest estimate are computed once.
    """

    def __init__(self, scores: Sequence[ScoreInterval]) -> None:
        self.scores, self.estimates = scores, np.array([score.estimate for score in scores])
        self.grid = np.linspace(self.estimates.min(), self.estimates.max(), _GRID)
        self.squares = np.array(
            [[self._square(g, a0) for a0 in self.grid] for g in range(len(scores))]
        )

    def _square(self, g: int, a0: float) -> float:
        return self.scores[g].z_against(a0, chance=False) ** 2

    def least(self, without: int | None = None) -> tuple[float, float]:
        """Return min X(a0), and a0, between the least and the greatest estimate of the groups."""
        some = [g for g in range(len(self.scores)) if g != without]
        low, high = self.estimates[some].min(), self.estimates[some].max()
        if high - low < 1e-12:
            return 0.0, float(low)
        sums = np.where(
            (self.grid >= low) & (self.grid <= high), self.squares[some].sum(axis=0), inf
        )
        k = int(sums.argmin())
        ends = self.grid[[max(k - 1, 0), min(k + 1, _GRID - 1)]].clip(low, high)
        return _least_between(lambda a0: sum(self._square(g, a0) for g in some), *ends.tolist())


def _least_between(f: Callable[[float], float], a: float, b: float) -> tuple[float, float]:
    """Return the least value of f in [a, b], and its place, by Brent's (1973) method.

    Parabolas through the three best points, and golden sections where these do not converge.
    """
    x = w = v = a + _GOLDEN * (b - a)
    fx = fw = fv = f(x)
    step = last = 0.0
    while max(x - a, b - x) > 2 * _TOLERANCE:
        r, q = (x - w) * (fx - fv), (x - v) * (fx - fw)
        top, bottom = (x - v) * q - (x - w) * r, 2 * (q - r)
        parabola = -top / bottom if bottom else inf
        if a < x + parabola < b and abs(parabola) < abs(last) / 2:
            last, step = step, parabola
        else:
            last = (b if 2 * x < a + b else a) - x
            step = _GOLDEN * last
        u = x + (step if abs(step) >= _TOLERANCE else copysign(_TOLERANCE, step))
        fu = f(u)
        if fu <= fx:
            a, b = (x, b) if u >= x else (a, x)
            v, fv, w, fw, x, fx = w, fw, x, fx, u, fu
            continue
        a, b = (u, b) if u < x else (a, u)
        if fu <= fw or w == x:
            v, fv, w, fw = w, fw, u, fu
        elif fu <= fv or v in (x, w):
            v, fv = u, fu
    return fx, x


_FEWEST_DF = {"clusters": 9, "units": 12}
"""Degrees of freedom of a group below which it has no Wald test. Of four groups alike, with fewer
one differed at 0.05 in 8% to 14% of simulated studies; with as many or more in 5% to 7%."""


def group_tests(
    whole: Agreement, groups: Sequence[Agreement], rows: Sequence[Codes], names: Sequence[Any]
) -> dict[str, Any]:
    """Return `TESTS` for groups of units, `rows` their ratings.

    `groups` is empty if there are too many to be scored one by one.
    """
    out: dict[str, Any] = {name: np.full(len(rows), np.nan) for name in TESTS[:4]}
    out |= {"homogeneity_p_value": np.nan, "tested_by": None, "no_test": None}
    if len(groups) < len(rows):
        return out | {"no_test": f"there are more than {MAX_SCORED_GROUPS} groups"}
    sample = whole.case.sample
    if sample is not None and sample.cluster_strata is not None:
        raise OptionError(
            f"groups of clusters that were drawn from strata have no standard error here; omit "
            f"{option('strata')}."
        )
    if sample is None and whole.inference.no_score_reason is not None:
        return out | {"no_test": f"the score test was not simulated for {whole.coefficient}"}
    tested = [g for g, group in enumerate(groups) if _is_testable(group)]
    if absent := [name for g, name in enumerate(names) if g not in tested]:
        few = "rarer answers" if sample is None else "degrees of freedom"
        why = f"undefined, without spread or with too few {few}"
        out["no_test"] = f"left out ({why}): {listing(absent)}"
    if len(tested) < 2:
        few = "fewer than two groups can be tested"
        return out | {"no_test": f"{few}; {out['no_test']}" if absent else few}
    if sample is None:
        found = score_tests([groups[g].inference.score for g in tested])
    else:
        # The estimates with their deviations by unit, or by cluster, of the study
        assert whole.study is not None  # noqa: S101 - it was drawn
        units = whole.study.unit_codes
        domains = [
            uncertain_number(groups[g].sums, np.unique(units[rows[g]]), sample) for g in tested
        ]
        f = np.array([groups[g].degrees_of_freedom for g in tested])
        values = np.array([domain.value for domain in domains])
        found = wald_tests(values, _covariances(whole, domains), f)
    *each, p = found
    each.append(each[-1] if len(tested) == 2 else holm(each[-1]))
    for name, column in zip(TESTS[:4], each, strict=True):
        out[name][tested] = column
    return out | {"homogeneity_p_value": p, "tested_by": "score" if sample is None else "Wald"}


def _is_testable(group: Agreement) -> bool:
    """Return whether a group has an estimate whose uncertainty is known."""
    found = group.inference
    if (sample := group.case.sample) is not None:
        least = _FEWEST_DF["clusters" if sample.is_clustered else "units"] * (1 - ROUNDING)
        return bool(group.standard_error > 0 and group.degrees_of_freedom >= least)
    is_alike = group.standard_error == 0 and group.observed_disagreement > 0
    return found.score is not None and found.n_rarer >= FEWEST_RARER and not is_alike


def score_tests(scores: Sequence[Any]) -> tuple[Floats, Floats, Floats, float]:
    """Return difference, NaN and p of each group, and p of all groups.

    X, the least sum of all groups, has a chi-squared distribution with G - 1 degrees of freedom; X
    less the least sum of the other groups has one. A difference is that from the value a0 of these.
    """
    from scipy.special import chdtrc

    common, G = _CommonValue(scores), len(scores)
    X = common.least()[0]
    gaps, p, unknown = np.full((3, G), np.nan)
    for g in range(G if G <= MAX_TESTED_GROUPS else 0):
        least, a0 = common.least(without=g)
        gaps[g], p[g] = common.estimates[g] - a0, chdtrc(1, max(0.0, X - least))
    return gaps, unknown, p, float(chdtrc(G - 1, X))


def wald_tests(k: Floats, C: Floats, f: Floats) -> tuple[Floats, Floats, Floats, float]:
    """Return difference, standard error and p of each group, and p of all groups.

    k, f : ndarray of shape (G,), estimates and degrees of freedom; C : (G, G), covariances.

    A group differs from the mean of the others, weighted by 1 / SE², by t with Satterthwaite's
    degrees of freedom. All have one value by Welch's (1951) F, with C in place of diag(SE²).
    """
    from scipy.special import fdtrc, stdtr

    G, variances = len(k), np.diag(C)
    w = 1 / variances
    M = np.eye(G) - (1 - np.eye(G)) * w / (w.sum() - w)[:, None]
    gaps, errors = M @ k, np.sqrt(np.einsum("gi,ij,gj->g", M, C, M))
    terms = M**2 * variances
    df = terms.sum(axis=1) ** 2 / (terms**2 / f).sum(axis=1)
    p = 2 * stdtr(df, -np.abs(gaps) / errors)
    off = k - w @ k / w.sum()
    solved = np.linalg.solve(C, np.stack([off, np.ones(G)], axis=1))
    between = float(off @ solved[:, 0] - solved[:, 0].sum() ** 2 / solved[:, 1].sum()) / (G - 1)
    L = float(((1 - w / w.sum()) ** 2 / f).sum())
    F = between / (1 + 2 * (G - 2) * L / (G**2 - 1))
    return gaps, errors, p, float(fdtrc(G - 1, (G**2 - 1) / (3 * L), F))


def _covariances(whole: Agreement, domains: Sequence[UncertainNumber]) -> Floats:
    """Return the covariances of groups of units, of shape (G, G).

    Of clusters sum psi_gc psi_hc. Of units -sum_s (1 - n_s / N_s) (sum u)_gs (sum u)_hs / (n_s - 1)
    for two groups: if a group has more units of a stratum than expected, others have fewer.
    """
    sample, drawn = whole.case.sample, units_drawn(whole.sums)
    variances = np.array([domain.variance for domain in domains])
    if sample is not None and sample.is_clustered:
        psi = np.zeros((len(domains), 1 + max(int(d.units.max()) for d in domains)))
        for row, domain in zip(psi, domains, strict=True):
            row[domain.units] = domain.deviations
        return np.asarray(psi @ psi.T)
    if sample is None or drawn is None:
        return np.diag(variances)
    sums = np.array([domain.stratum_sums for domain in domains])
    n = np.array([drawn[name] for name in sample.names])
    each = (1 - np.minimum(n / sample.sizes, 1)) / np.maximum(n - 1, 1)
    out = np.asarray(-(sums * each) @ sums.T)
    np.fill_diagonal(out, variances)
    return out
