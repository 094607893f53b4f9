"""Plans: number of units and raters for a desired interval or test."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import Any, overload

import numpy as np
import pandas as pd

from setagree.checks import Rng, as_generator, check_resamples, public
from setagree.errors import DataError, OptionError, counted, option
from setagree.inference.comparison import Comparison
from setagree.inference.pilot_variance import (
    ONE_BY_ONE,
    Drawing,
    PilotClusters,
    PlannedTest,
    Variances,
    Widths,
    Wishes,
    affordable_raters,
    checked,
    pilot_clusters,
    planned_test,
    ratings_a_unit,
    shape_of,
    take_turns,
    unit_variance,
    variances_by_raters,
)
from setagree.inference.unit_order import is_clustered, refuse_weighted
from setagree.large.opening import Data
from setagree.scoring.result_tables import ResultTable, for_each_row
from setagree.scoring.results import ABOUT, Agreement, AgreementTable, t_interval
from setagree.study.unit_columns import OfUnits
from setagree.wording.result_base import Result
from setagree.wording.tables import Column

_FEW_UNITS = 30
"""Number of units below which a plan warns that the pilot is small."""


_UNITS = (Column("units", "count"), Column("more_units", "count"))
_WIDTHS = (
    Column("half_width", "half_width"),
    Column("standard_error", head="se"),
    Column("power"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """Expected interval widths or powers by number of units and raters.

    Attributes
    ----------
    agreement : Agreement
        The pilot.
    frame : DataFrame
        Columns raters, units, standard_error, half_width, more_units, basis; for a pilot with
        clusters units_per_cluster (mean), clusters, degrees_of_freedom, and reason (for a missing
        interval and the numbers that need one); with `at_least` power, and with costs cost.
    wishes : Wishes
        The options, with defaults.
    pilot_half_width : float
        Half width of the pilot's interval, without truncation at 1.
    pilot_units : int
        Number of units that count in the pilot: for most coefficients, pairable units.
    alike : float
        Intracluster correlation rho of the pilot; NaN without clusters.
    unaffordable : tuple of (raters, units per cluster)
        Combinations for which the budget covers too few units for an interval.
    """

    agreement: Agreement
    frame: pd.DataFrame
    wishes: Wishes
    pilot_half_width: float
    pilot_units: int
    alike: float = nan
    unaffordable: tuple[tuple[float, float], ...] = ()

    columns = (
        Column("raters", "count"),
        *_UNITS,
        Column("units_per_cluster", "count"),
        Column("clusters", "count"),
        *_WIDTHS,
        Column("cost", "amount"),
        Column("basis", "text"),
    )

    @property
    def about(self) -> str:
        """Population of the intervals: these raters, judging a sample of units."""
        return ABOUT["units"]

    @property
    def level(self) -> float:
        """Level of the interval."""
        return self.wishes.level

    @property
    def half_width(self) -> float | None:
        """The planned half width, or None if the plan has another goal."""
        return self.wishes.half_width

    @property
    def best(self) -> pd.Series[Any] | None:
        """The row with the smallest half width within the budget, or with the smallest cost.

        None without costs, or if numbers of units were given.
        """
        if not self.wishes.chooses:
            return None
        by = self.frame["half_width" if self.wishes.budget is not None else "cost"]
        return self.frame.iloc[int(by.to_numpy().argmin())]

    @property
    def reached(self) -> str:
        """Sentence if the pilot already reaches the goal, else empty."""
        if self.half_width is None or self.pilot_half_width > self.half_width:
            return ""
        return (
            f"The pilot as it is already gives ± {self.pilot_half_width:.4f}, within the "
            f"± {self.half_width:g} wanted: no more units are needed."
        )

    @property
    def too_few(self) -> str:
        """Sentence on numbers of clusters too small for an interval, else empty."""
        if "reason" not in self.frame or not self.frame["reason"].notna().any():
            return ""
        whys = "; ".join(self.frame["reason"].dropna().unique())
        return f"No interval can be had: {whys}."

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the population, the goal and the best row of the plan."""
        wishes, said = self.wishes, [f"Intervals are about {self.about}."]
        if wishes.assurance is not None:
            said.append(
                f"half width: that which {100 * wishes.assurance:g} % of such studies do not "
                "exceed, allowing for the chance in the pilot, too."
            )
        if wishes.at_least is not None:
            other = "" if wishes.at_least else f" ({option('at_least')} names another bound)"
            said.append(
                f"power: how often such a study shows with {100 * wishes.level:g} % confidence "
                f"(one-sided) that {self.agreement.coefficient} is above {wishes.at_least:g}"
                f"{other}, if it is {self.agreement.estimate:.4f} as in the pilot."
            )
        said += filter(None, [self.too_few, self.left_out, self.larger_clusters, self.doubt])
        if (best := self.best) is not None:
            n, r = counted(int(best["units"]), "unit"), f"{best['raters']:g}"
            if "clusters" in best:
                n += f" in {counted(int(best['clusters']), 'cluster')}"
            what = (
                f"The smallest half width for {wishes.budget:.10g}, ± {best['half_width']:.4f}"
                if wishes.budget is not None
                else f"The smallest cost, {best['cost']:.10g}"
            )
            guess = " (extended: a rough guide)" if best["basis"] == "extended" else ""
            at_edge = wishes.raters is None and best["raters"] == self.frame["raters"].max()
            edge = " More raters were not tried." if at_edge else ""
            said.append(f"{what}: {n} with {r} ratings each{guess}.{edge}")
        return (*said, *filter(None, [self.reached]))

    @property
    def left_out(self) -> str:
        """Sentence on combinations for which the budget covers too few units, else empty."""
        if not self.unaffordable:
            return ""
        by_size: dict[float, list[str]] = {}
        for r, size in self.unaffordable:
            by_size.setdefault(size, []).append(f"{r:.3g}")
        is_plain = not is_clustered(self.agreement)
        what = [
            f"{'units' if is_plain else f'{m:.3g} units a cluster'} with {_either(r)} ratings each"
            for m, r in by_size.items()
        ]
        return (
            f"Left out, as {self.wishes.budget:.10g} buys too few units for an interval: "
            f"{'; '.join(what)}."
        )

    @property
    def larger_clusters(self) -> str:
        """Sentence on the basis of clusters larger than any of the pilot, else empty."""
        found = self.agreement.spread.clusters
        if found is None or self.wishes.units_per_cluster is None:
            return ""
        if (most := int(self.frame["units_per_cluster"].max())) <= found.sizes.max():
            return ""
        wider = sqrt(1 + 0.1 * (most - 1) / (1 + (most - 1) * self.alike))
        return (
            "Clusters larger than those of the pilot rest on how alike its units are, rho "
            f"{self.alike:.2f}, which {found.n:,} clusters tell roughly: with "
            f"{self.alike + 0.1:.2f} intervals of clusters of {most:,} would be {wider:.1f} times "
            "as wide."
        )

    @property
    def doubt(self) -> str:
        """Sentence on the uncertainty of a pilot with fewer than 30 units, else empty."""
        if self.pilot_units >= _FEW_UNITS:
            return ""
        pilot, here = self.agreement, self.pilot_half_width
        low, high = pilot.interval(self.level, method=pilot.best_method)
        if isnan(low):
            low, high = pilot.estimate - here, min(1.0, pilot.estimate + here)
        asked = self.wishes.assurance is not None or self.wishes.power is not None
        room = (
            f" {option('assurance', 0.8)} leaves room for that; without it, half of such studies "
            "come out wider than planned."
        )
        return (
            f"A pilot of {counted(self.pilot_units, 'unit')} says little: its {pilot.coefficient} "
            f"may be anywhere from {low:.4f} to {high:.4f} ({100 * self.level:g} % interval), and "
            f"the spread of units that this plan rests on is as uncertain.{'' if asked else room}"
        )

    def _heading(self) -> str:
        return repr(self.agreement)[1:-1]

    def _notes(self) -> list[str]:
        pilot, n = self.agreement, self.pilot_units
        which = {pilot.n_pairable_units: " that have two ratings", pilot.n_units: ""}
        of_pilot = f"the {counted(n, 'unit')} of the pilot{which.get(n, ' that count')}"
        notes = [f"more units: beyond {of_pilot}."]
        bases = set(self.frame["basis"])
        notes += [text for basis, text in _BASES.items() if basis in bases]
        if isnan(pilot.standard_error):
            notes.append("mv_alpha: se by the jackknife over units, as it has no linearised one.")
        if "extended" in bases and take_turns(pilot):
            notes.append("raters: ratings per unit, as the raters of the pilot take turns.")
        return [*self.notes, " ".join(notes)]

    def __repr__(self) -> str:
        drawn = f" in {self.agreement.drawn}" if is_clustered(self.agreement) else ""
        return (
            f"<Plan from {self.agreement.coefficient} [{self.agreement.distance}] "
            f"{self.agreement.estimate:.4f} on {self.agreement.n_units:,} units{drawn}: "
            f"{counted(len(self.frame), 'row')}, about {self.about}>"
        )


_BASES = {
    "raters left out": "raters left out: the mean of what the pilot gives with so many of its "
    "raters.",
    "ratings left out": "ratings left out: as raters take turns in the pilot, so many ratings per "
    "unit, drawn at random.",
    "extended": "extended: extrapolated from fewer raters, a rough guide.",
}


def _either(numbers: list[str]) -> str:
    """Return a list such as ``2, 3 or 5``."""
    return " or ".join(filter(None, [", ".join(numbers[:-1]), numbers[-1]]))


_OTHERS = ("raters", "units_per_cluster", "assurance", "cost_unit", "cost_rating", "budget")


@dataclass(frozen=True, eq=False, repr=False)
class DifferencePlan(Result):
    """Expected interval widths or powers of a difference by number of shared units.

    Attributes
    ----------
    comparison : Comparison
        The pilot.
    frame : DataFrame
        Columns first, second, difference (that of the pilot), units, standard_error, half_width,
        with `at_least` power, and more_units.
    wishes : Wishes
        The options, with defaults.
    """

    comparison: Comparison
    frame: pd.DataFrame
    wishes: Wishes

    columns = (
        Column("first", "text"),
        Column("second", "text"),
        Column("difference"),
        *_UNITS,
        *_WIDTHS,
    )

    @property
    def about(self) -> str:
        """Population of the intervals: these raters, judging a sample of units."""
        return self.comparison.about

    def __repr__(self) -> str:
        first, n = self.frame.iloc[0], counted(len(self.frame), "row")
        what = f"{first['first']} - {first['second']}"
        return f"<DifferencePlan of {what}: {n}, about {self.about}>"

    @property
    def level(self) -> float:
        """Level of the interval."""
        return self.wishes.level

    def _notes(self) -> list[str]:
        about, wishes = f"Intervals are about {self.about}.", self.wishes
        if wishes.at_least is None:
            return [about]
        power = (
            f"power: how often such a study shows with {100 * wishes.level:g} % confidence "
            f"(one-sided) that the difference is above {wishes.at_least:g}, if it is as in the "
            "pilot."
        )
        return [about, power]


def planned_differences(comparison: Comparison, wishes: Wishes) -> DifferencePlan:
    """Return the plan of each pair; see `plan`."""
    named = [name for name in _OTHERS if getattr(wishes, name) is not None]
    if named:
        raise OptionError(f"{named[0]}= is for the plan of a coefficient, not of a difference.")
    if comparison.design == "independent" or comparison.drawn:
        raise OptionError(
            "a difference is planned where both stand on the same units, drawn one by one; here "
            f"{comparison.drawn or 'they are independent studies'}."
        )
    rows = []
    for (first, second), pair, shared in zip(
        comparison.names, comparison.differences, comparison.n_shared, strict=True
    ):
        if not pair.standard_error > 0:
            raise DataError(
                f"{first} - {second} has no standard error above 0, so nothing follows from it."
            )
        done = int(pair.degrees_of_freedom + 1) if np.isfinite(pair.degrees_of_freedom) else shared
        row = {"first": first, "second": second, "difference": pair.value}
        spread = pair.standard_error**2 * done
        rows += [row | each for each in _rows(pair.value, spread, done, wishes)]
    return DifferencePlan(comparison, pd.DataFrame(rows), wishes)


def _rows(value: float, variance: float, done: int, wishes: Wishes) -> list[dict[str, float]]:
    widths, test = Widths(wishes.level), None
    if wishes.at_least is not None:
        test = PlannedTest(wishes.at_least, wishes.level, 1 - value, None, variance)
    if wishes.units is not None:
        units = [*wishes.units]
    elif wishes.half_width is not None:
        units = [widths.units_for(variance, wishes.half_width)]
    elif wishes.power is not None and test is not None and value > test.threshold:
        units = [test.units_for(variance, wishes.power)]
    else:
        raise OptionError(
            f"{option('at_least', wishes.at_least)} is not below the difference of the pilot, "
            f"{value:.4f}: if that is the truth, no number of units shows more."
        )
    rows = []
    for n in units:
        row = {"units": n, "standard_error": float(np.sqrt(variance / n))}
        row["half_width"] = widths.half_width(variance, n)
        if test is not None:
            row["power"] = test.power(variance, n)
        rows.append({**row, "more_units": max(0, n - done)})
    return rows


@overload
def plan(
    pilot: AgreementTable,
    *,
    half_width: float | None = ...,
    units: Sequence[int] | None = ...,
    raters: Sequence[int] | None = ...,
    cluster: OfUnits | None = ...,
    units_per_cluster: Sequence[int] | None = ...,
    level: float = ...,
    assurance: float | None = ...,
    at_least: float | None = ...,
    power: float | None = ...,
    cost_unit: float | None = ...,
    cost_rating: float | None = ...,
    budget: float | None = ...,
    n_resamples: int = ...,
    rng: Rng = ...,
) -> ResultTable[Plan]: ...


@overload
def plan(
    pilot: Agreement | Data,
    *,
    half_width: float | None = ...,
    units: Sequence[int] | None = ...,
    raters: Sequence[int] | None = ...,
    cluster: OfUnits | None = ...,
    units_per_cluster: Sequence[int] | None = ...,
    level: float = ...,
    assurance: float | None = ...,
    at_least: float | None = ...,
    power: float | None = ...,
    cost_unit: float | None = ...,
    cost_rating: float | None = ...,
    budget: float | None = ...,
    n_resamples: int = ...,
    rng: Rng = ...,
) -> Plan: ...


@overload
def plan(
    pilot: Comparison,
    *,
    half_width: float | None = ...,
    units: Sequence[int] | None = ...,
    raters: Sequence[int] | None = ...,
    cluster: OfUnits | None = ...,
    units_per_cluster: Sequence[int] | None = ...,
    level: float = ...,
    assurance: float | None = ...,
    at_least: float | None = ...,
    power: float | None = ...,
    cost_unit: float | None = ...,
    cost_rating: float | None = ...,
    budget: float | None = ...,
    n_resamples: int = ...,
    rng: Rng = ...,
) -> DifferencePlan: ...


@public
def plan(
    pilot: Agreement | AgreementTable | Comparison | Data,
    *,
    half_width: float | None = None,
    units: Sequence[int] | None = None,
    raters: Sequence[int] | None = None,
    cluster: OfUnits | None = None,
    units_per_cluster: Sequence[int] | None = None,
    level: float = 0.95,
    assurance: float | None = None,
    at_least: float | None = None,
    power: float | None = None,
    cost_unit: float | None = None,
    cost_rating: float | None = None,
    budget: float | None = None,
    n_resamples: int = 200,
    rng: Rng = None,
) -> Plan | DifferencePlan | ResultTable[Plan]:
    """Return the number of units for an interval or test, or the interval for given units.

    The standard error for n units is that of the pilot times sqrt(n_pilot / n). For fewer raters
    than the pilot has, raters are left out (all choices, or random ones), and the mean variance is
    used. For more, n SE² = A + B / (r - 1) with A, B >= 0, where r is the mean number of ratings
    per unit; the curve equals the pilot's value and is fitted to the values of fewer raters. This
    extrapolation is a rough guide and marked as such: on simulated pilots, the standard error of
    twice the raters was 2 to 12% too large on average, that of 20 ratings per unit from pilots of 3
    up to half too large. n SE² is made non-increasing in the number of raters, because one could
    leave some out.

    The number of raters is the number of ratings per unit, apart from missing ratings as in the
    pilot. With `raters`, a rater with fewer than half the ratings of the busiest rater is left out
    with a warning. If raters alternate (less than three quarters of the units x raters table is
    filled), fewer ratings are drawn at random within each unit that has enough. In both cases the
    unchanged pilot counts as its mean number of ratings per unit.

    A coefficient without a linearised standard error (`mv_alpha`) is planned by the jackknife.

    **Assurance.** Half of the studies of a planned size have wider intervals than planned, because
    their standard errors vary. `assurance` plans for the half width that this share of them does
    not exceed, t SE sqrt(F). F is that quantile of the F distribution with nu_n and nu_pilot
    degrees of freedom, nu_n = 2 / [(K - 3) / n + 2 / (n - 1)], and K is the kurtosis of the pilot's
    linearised values. With clusters, K is that of clusters, and the degrees of freedom of t, of the
    plan and of the pilot, replace n - 1. F includes the sampling error of the pilot. On simulated
    pilots an assurance of 80% was 69 to 87% for pilots of 20 units, 72 to 86% for 50 and 76 to 83%
    for 150 (two raters with nominal answers: 97 to 98, 87 to 95 and 78 to 84%), and 86 to 91% for
    pilots of 12 and 30 clusters.

    **Tests.** With `at_least`, the power is the probability that a study shows with confidence
    `level` (by the lower bound of the interval with level 2 level - 1) that the coefficient is
    above `at_least`, if its true value is the pilot's. The interval is the score interval if there
    is one, else t. If the pilot is too high by chance, the power is overestimated. In simulated
    studies of 50 units or more, powers of at least half were accurate within 0.07; of 20 units, up
    to 0.08 too high. For Gwet's AC the power was up to 0.2 higher than planned, because its chance
    agreement falls with the number of distinct values, which increases with the units (also for
    Brennan-Prediger); pass `categories` for these.

    For a comparison on the same units, the difference is planned, by t: `at_least=0` tests that the
    first is above the second, ``at_least=-margin`` that it is not below it by the margin.

    **Costs.** n units with r ratings each cost n (cost_unit + r cost_rating), including missing
    ratings and those of the pilot. All numbers of raters are tried. If n SE² = A + B / (r - 1), the
    optimum is near 1 + sqrt((B / A) (1 + cost_unit / cost_rating)).

    Parameters
    ----------
    pilot : Agreement, AgreementTable, Comparison, or a study
        Coefficients of a pilot study; for a study, a table or a path, Krippendorff's alpha with its
        default distance. `simulate` makes a pilot if there is none. Or differences on the same
        units, for which `half_width`, `units`, `at_least`, `power` and `level` apply.
    half_width : float, optional
        Half the width of the desired interval; 0.05 without another goal. Only one of `half_width`,
        `units`, `power` and `budget` can be given.
    units : sequence of int, optional
        Numbers of units to try.
    raters : sequence of int, optional
        Numbers of raters to try. Default: that of the pilot; if costs are compared, from 2 to twice
        that of the pilot (above 10, only some of them).
    cluster : str, mapping or Series, optional
        The document, patient or conversation of each unit; see `Annotations.sampled`. Units are
        then planned in clusters: n SE² = s² (1 + (m - 1) rho) for m units each, with s² that of the
        units alone and rho, the intracluster correlation, from both standard errors of the pilot
        (at least 0; there m is the mean over its units). t has the degrees of freedom of Bell and
        McCaffrey for clusters of these sizes: the number of clusters minus 1 if they are equal.
        Below 2 there is no interval, and the plan has the reason.
    units_per_cluster : sequence of int, optional
        Numbers of units per cluster to try, 1 or more; the last cluster has the remaining units.
        Default: the mean size and the variation of sizes of the pilot.
    level : float
        The level of the interval, and the confidence of the test.
    assurance : float, optional
        The share of studies that reach the half width, such as 0.8. Default: about half.
    at_least : float, optional
        The value that the coefficient is to exceed. Default: 0, if `power` is given.
    power : float, optional
        The probability of showing that. Default: 0.8, if only `at_least` is given.
    cost_unit, cost_rating : float, optional
        Cost of a unit before it is rated (default: 0), and cost per rating.
    budget : float, optional
        Maximum cost of the study: the plan finds the units and raters with the smallest half width.
        With costs and `half_width` or `power`, the plan finds the cheapest.
    n_resamples : int
        Maximum number of choices of raters per number of raters (of ratings, 20).
    rng : int or numpy Generator, optional
        The seed of those choices, for each row of a table.

    Returns
    -------
    Plan, ResultTable of Plan, or DifferencePlan

    Raises
    ------
    DataError
        The pilot has no standard error, or other numbers of raters are requested for a tally.
    OptionError
        A number is out of range.

    Warns
    -----
    SparseRatersWarning
        `raters` is given, and some raters of the pilot are left out.
    UndefinedAgreementWarning
        Some choices of fewer raters have no standard error, or one of 0; the message counts them.

    Examples
    --------
    >>> import setagree as sa
    >>> alpha = sa.krippendorff_alpha(sa.simulate(60, 3, rng=1))
    >>> sa.plan(alpha, half_width=0.05).frame[["raters", "units", "more_units"]]
       raters  units  more_units
    0       3    164         104

    So that four of five such studies reach it; and for which number of raters, if a text costs 1
    and a rating 2:

    >>> sa.plan(alpha, half_width=0.05, assurance=0.8).frame["units"].tolist()
    [201]
    >>> sa.plan(alpha, budget=1000, cost_unit=1, cost_rating=2).best[["raters", "units"]].to_dict()
    {'raters': 6, 'units': 76}

    How many units show with 95 % confidence, in nine of ten studies, that alpha is above .2:

    >>> sa.plan(alpha, at_least=0.2, power=0.9).frame["units"].tolist()
    [64]

    How many show that alpha is not lower by .1 or more than with another distance:

    >>> both = sa.agreement(alpha.study, distance=["masi", "jaccard"])
    >>> gap = sa.compare(both["alpha", "masi"], both["alpha", "jaccard"])
    >>> sa.plan(gap, at_least=-0.1).frame["units"].tolist()
    [14]
    """
    as_generator(rng)
    check_resamples(n_resamples)
    wishes = checked(
        Wishes(
            half_width=half_width,
            units=units,
            raters=raters,
            units_per_cluster=units_per_cluster,
            level=level,
            assurance=assurance,
            at_least=at_least,
            power=power,
            cost_unit=cost_unit,
            cost_rating=cost_rating,
            budget=budget,
        )
    )
    if isinstance(pilot, Comparison):
        if cluster is not None:
            raise OptionError(
                f"{option('cluster')} is said of the studies, before they are compared."
            )
        return planned_differences(pilot, wishes)
    return for_each_row(
        pilot, lambda row: _planned(row, wishes, n_resamples, as_generator(rng)), cluster=cluster
    )


def _planned(
    agreement: Agreement, wishes: Wishes, n_resamples: int, generator: np.random.Generator
) -> Plan:
    refuse_weighted(agreement, "A plan")
    if wishes.units_per_cluster is not None and not is_clustered(agreement):
        raise OptionError(
            f"{option('units_per_cluster')} needs {option('cluster')}, what each unit belongs to."
        )
    inside = pilot_clusters(agreement)
    plain = agreement if inside is None else inside.plain
    variance, done = unit_variance(plain)
    if not variance > 0:
        why = f" {agreement.interval_reason}." if agreement.standard_error == 0 else ""
        raise DataError(
            f"the pilot has no standard error above 0, so nothing follows from it.{why}"
        )
    test = None
    if wishes.at_least is not None:
        test = planned_test(plain, wishes.at_least, wishes.level, variance)
        if wishes.power is not None and not plain.estimate > wishes.at_least:
            raise OptionError(
                f"{option('at_least', wishes.at_least)} is not below the {plain.estimate:.4f} of "
                f"the pilot ({plain.coefficient} [{plain.distance}]): if that is the truth, no "
                "number of units shows more."
            )
    raters = wishes.raters
    if raters is None and wishes.chooses:
        raters = affordable_raters(plain)
    per_unit = variances_by_raters(plain, raters, n_resamples, generator)
    if None in per_unit and wishes.cost_rating is not None:
        per_unit = {ratings_a_unit(plain): per_unit[None]}
    shape = (3.0, np.inf, np.inf) if wishes.assurance is None else shape_of(agreement)
    sizes = _Sizes(wishes, Widths(wishes.level, wishes.assurance, *shape), test, inside)
    frame = sizes.frame(per_unit, done)
    here = Widths(wishes.level).half_width(variance, done)
    if inside is not None:
        error, df = agreement.standard_error, agreement.degrees_of_freedom
        here = -t_interval(0.0, error, df, wishes.level)[0]
    alike = float("nan") if inside is None else inside.alike
    left = () if wishes.budget is None else sizes.unaffordable(per_unit, frame)
    return Plan(agreement, frame, wishes, here, done, alike, left)


@dataclass(frozen=True)
class _Sizes:
    """Inputs that are computed for each number of raters, and of units per cluster."""

    wishes: Wishes
    widths: Widths
    test: PlannedTest | None
    inside: PilotClusters | None

    def frame(self, per_unit: Variances, done: int) -> pd.DataFrame:
        """Return one row for each of them, and for each number of units."""
        rows = []
        for (r, (each, basis)), (drawing, more) in itertools.product(
            per_unit.items(), self._drawings()
        ):
            for n in self._units(r, each * more, drawing):
                row = {"raters": r, "units": n, **self._row(r, each * more, n, drawing)}
                row |= {"more_units": max(0, n - done), "basis": basis}
                rows.append(row if self.inside is None else row | {"reason": drawing.too_few(n)})
        if not rows:
            few = "fewer than two units" if self.inside is None else "too few clusters"
            raise OptionError(
                f"{option('budget', self.wishes.budget)} buys {few}, so that there would be no "
                "interval."
            )
        return pd.DataFrame(rows)

    def unaffordable(
        self, per_unit: Variances, frame: pd.DataFrame
    ) -> tuple[tuple[float, float], ...]:
        """Return the raters, and units per cluster, without a row in the frame."""
        sizes = frame.get("units_per_cluster", pd.Series(1.0, index=frame.index))
        there = {*zip(frame["raters"], sizes, strict=True)}
        drawings = [drawing.size for drawing, _ in self._drawings()]
        tried = itertools.product((r for r in per_unit if r is not None), drawings)
        return tuple(one for one in tried if one not in there)

    def _drawings(self) -> list[tuple[Drawing, float]]:
        """Return the sampling of units, and the factor by which it multiplies n SE²."""
        if self.inside is None:
            return [(ONE_BY_ONE, 1.0)]
        sizes, own = self.wishes.units_per_cluster, self.inside
        if sizes is None:
            return [(own.own, 1 + (own.together - 1) * own.alike)]
        return [(Drawing(m), 1 + (m - 1) * own.alike) for m in sizes]

    def _units(self, raters: float | None, spread: float, drawing: Drawing) -> Sequence[int]:
        wishes = self.wishes
        if wishes.units is not None:
            return wishes.units
        if wishes.half_width is not None:
            return [self.widths.units_for(spread, wishes.half_width, drawing)]
        if wishes.power is not None and self.test is not None:
            return [self.test.units_for(spread, wishes.power, drawing)]
        n = wishes.affordable(raters or 0)
        return [] if np.isnan(drawing.freedom(n)) else [n]

    def _row(
        self, raters: float | None, spread: float, n: int, drawing: Drawing
    ) -> Mapping[str, Any]:
        row: dict[str, Any] = {}
        df = drawing.freedom(n)
        if self.inside is not None:
            row |= {"units_per_cluster": drawing.size, "clusters": drawing.clusters(n)}
            row["degrees_of_freedom"] = df
        row["standard_error"] = float(np.sqrt(spread / n)) if df > 0 else float("nan")
        row["half_width"] = self.widths.half_width(spread, n, drawing)
        if self.test is not None:
            row["power"] = self.test.power(spread, n, drawing)
        if self.wishes.cost_rating is not None:
            row["cost"] = self.wishes.cost(n, raters or 0)
        return row
