"""Plans: number of units and raters for a desired interval or test."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import Any, TypedDict, Unpack, overload

import numpy as np
import pandas as pd

from setagree.checks import Rng, as_generator, check_least
from setagree.coefficients.score_interval import score_interval
from setagree.errors import (
    DataError,
    OptionError,
    SetagreeWarning,
    check_type,
    counted,
    enumerated,
    option,
    warn,
)
from setagree.inference.comparison import Comparison
from setagree.inference.plan_goals import (
    ONE_BY_ONE,
    PilotClusters,
    PlanCosts,
    PlanGoals,
    Precision,
    Variances,
    affordable_raters,
    check_counts,
    kurtosis_of,
    pilot_clusters,
    rarer_per_unit,
    raters_alternate,
    ratings_per_unit,
    unit_variance,
    variances_by_raters,
    with_defaults,
)
from setagree.inference.prevalence import PrevalenceTable
from setagree.inference.unit_order import check_weighted, is_clustered
from setagree.large.opening import Data, ReadingOptions, takes_data
from setagree.scoring.intervals import FEWEST_RARER, around, t_interval
from setagree.scoring.result_tables import ResultTable, for_each_row
from setagree.scoring.results import ABOUT, Agreement, AgreementTable, raters_in_words
from setagree.study.attributes import OfUnits
from setagree.wording.result_base import Result
from setagree.wording.tables import Column

_FEW_UNITS = 30
"""Number of units below which a plan warns that the pilot is small."""

_BASES = {
    "raters left out": "raters left out: the mean of what the pilot gives with so many of its "
    "raters.",
    "ratings left out": "ratings left out: as raters take turns in the pilot, so many ratings per "
    "unit, drawn at random.",
    "extended": "extended: extrapolated from fewer raters, a rough guide.",
}

_UNITS = (Column("n_units", "count", "units"), Column("n_additional_units", "count", "more units"))
_WIDTHS = (
    Column("half_width", "half_width"),
    Column("standard_error", head="se"),
    Column("power", is_optional=True),
)


class _OfGoals(Result):
    """A plan for goals."""

    goals: PlanGoals

    about = ABOUT["units"]
    """Population of the intervals: these raters, judging a sample of units."""

    @property
    def level(self) -> float:
        """Level of the interval."""
        return self.goals.level


@dataclass(frozen=True, eq=False, repr=False)
class Plan(_OfGoals):
    """Expected interval widths or powers by number of units and raters.

    Attributes
    ----------
    agreement : Agreement
        The pilot.
    frame : DataFrame
        Columns n_raters, n_units, standard_error, half_width, n_additional_units, basis; for a
        pilot with clusters units_per_cluster (mean), clusters, degrees_of_freedom, and reason (for
        a missing interval and the numbers that need one); with `at_least` power, and with costs
        cost.
    goals : PlanGoals
        The goals, with defaults.
    costs : PlanCosts or None
        The costs.
    n_raters : sequence of int or None
        The requested numbers of raters.
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
    goals: PlanGoals
    costs: PlanCosts | None
    n_raters: Sequence[int] | None
    pilot_half_width: float
    pilot_units: int
    alike: float = nan
    unaffordable: tuple[tuple[float, float], ...] = ()

    columns = (
        Column("n_raters", "count", "raters"),
        *_UNITS,
        Column("units_per_cluster", "count", is_optional=True),
        Column("clusters", "count", is_optional=True),
        *_WIDTHS,
        Column("cost", "amount", is_optional=True),
        Column("basis", "text"),
    )

    @property
    def _noun(self) -> str:
        """What the plan counts: documents if the units of the pilot have sizes."""
        return "document" if self.agreement.case.is_sized else "unit"

    @property
    def best(self) -> pd.Series[Any] | None:
        """The row with the smallest half width within the budget, or with the smallest cost.

        None without costs, or if numbers of units were given.
        """
        if self.costs is None or self.goals.n_units is not None:
            return None
        by = self.frame["cost" if self.costs.budget is None else "half_width"]
        return self.frame.iloc[int(by.to_numpy().argmin())]

    @property
    def reached(self) -> str:
        """Sentence if the pilot already reaches the goal, else empty."""
        goal = self.goals.half_width
        has_none = self.agreement.interval_reason is not None
        if goal is None or self.pilot_half_width > goal or has_none:
            return ""
        return (
            f"The pilot itself already gives ± {self.pilot_half_width:.4f}, within the "
            f"± {goal:g} of the goal: no more units are needed."
        )

    @property
    def too_few(self) -> str:
        """Sentence on numbers of clusters too small for an interval, else empty."""
        if "reason" not in self.frame or not self.frame["reason"].notna().any():
            return ""
        return f"No interval is possible: {'; '.join(self.frame['reason'].dropna().unique())}."

    @property
    def rarity(self) -> str:
        """Sentence on numbers of units with too few rarer answers for an interval, else empty."""
        n_units = self.frame["n_units"]
        few = n_units[n_units * rarer_per_unit(self.agreement, self.pilot_units) < FEWEST_RARER]
        if few.empty:
            return ""
        most = counted(int(few.max()), self._noun)
        return (
            f"Most studies of at most {most} have no interval, because their answers except the "
            f"commonest weigh less than {counted(FEWEST_RARER, self._noun)}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the population, the goal and the best row of the plan."""
        goals, name, found = self.goals, self.agreement.coefficient, self.agreement.estimate
        notes = [f"Intervals are about {raters_in_words([self.agreement])}."]
        if goals.assurance is not None:
            notes.append(
                f"half width: that which {100 * goals.assurance:g}% of such studies do not "
                "exceed, allowing for the chance in the pilot, too."
            )
        other = "" if goals.at_least else f" ({option('at_least')} names another bound)"
        notes.append(_power_note(goals, name, other, f"it is {found:.4f} as in the pilot"))
        notes += [self.too_few, self.rarity, self.left_out, self.larger_clusters, self.doubt]
        if (best := self.best) is not None and self.costs is not None:
            units = counted(int(best["n_units"]), self._noun)
            if "clusters" in best:
                units += f" in {counted(int(best['clusters']), 'cluster')}"
            what = f"The smallest cost, {best['cost']:.10g}"
            if (budget := self.costs.budget) is not None:
                what = f"The smallest half width for {budget:.10g}, ± {best['half_width']:.4f}"
            guess = " (extended: a rough guide)" if best["basis"] == "extended" else ""
            at_edge = self.n_raters is None and best["n_raters"] == self.frame["n_raters"].max()
            edge = " More raters were not tried." if at_edge else ""
            notes.append(f"{what}: {units} with {best['n_raters']:g} ratings each{guess}.{edge}")
        return tuple(filter(None, [*notes, self.reached]))

    @property
    def left_out(self) -> str:
        """Sentence on combinations for which the budget covers too few units, else empty."""
        if self.costs is None or not self.unaffordable:
            return ""
        by_size: dict[float, list[str]] = {}
        for r, size in self.unaffordable:
            by_size.setdefault(size, []).append(f"{r:.3g}")
        parts = []
        for m, raters in by_size.items():
            what = f"{m:.3g} units per cluster" if is_clustered(self.agreement) else "units"
            parts.append(f"{what} with {enumerated(raters, 'or')} ratings each")
        return (
            f"Left out, because {self.costs.budget:.10g} covers too few units for an interval: "
            f"{'; '.join(parts)}."
        )

    @property
    def larger_clusters(self) -> str:
        """Sentence on the basis of clusters larger than any of the pilot, else empty."""
        clusters = self.agreement.spread.clusters
        if clusters is None or "units_per_cluster" not in self.frame:
            return ""
        if (most := int(self.frame["units_per_cluster"].max())) <= clusters.sizes.max():
            return ""
        # sqrt{[1 + (m - 1)(rho + 0.1)] / [1 + (m - 1) rho]}
        wider = sqrt(1 + 0.1 * (most - 1) / (1 + (most - 1) * self.alike))
        return (
            "Clusters larger than those of the pilot rest on how alike its units are, rho "
            f"{self.alike:.2f}, which {clusters.n:,} clusters show roughly: with "
            f"{self.alike + 0.1:.2f} intervals of clusters of {most:,} would be {wider:.1f} times "
            "as wide."
        )

    @property
    def doubt(self) -> str:
        """Sentence on the uncertainty of a pilot with fewer than 30 units, else empty."""
        if self.pilot_units >= _FEW_UNITS:
            return ""
        pilot = self.agreement
        low, high = pilot.interval(self.level)
        if pilot.inference.n_rarer < FEWEST_RARER:  # it has no interval, and a warning of its own
            return ""
        if isnan(low):
            low, high = around(pilot.estimate, self.pilot_half_width)
        room = (
            f" {option('assurance', 0.8)} allows for that; without it, half of such studies have "
            "wider intervals than planned."
        )
        is_room_asked = self.goals.assurance is not None or self.goals.power is not None
        return (
            f"A pilot of {counted(self.pilot_units, self._noun)} shows little: its "
            f"{pilot.coefficient} may be anywhere from {low:.4f} to {high:.4f} "
            f"({100 * self.level:g}% interval), and the spread of {self._noun}s that this plan "
            "rests on is as uncertain."
            f"{'' if is_room_asked else room}"
        )

    def _heading(self) -> str:
        return repr(self.agreement)[1:-1]

    def _notes(self) -> list[str]:
        pilot, n = self.agreement, self.pilot_units
        which = {pilot.n_pairable_units: " that have two ratings", pilot.n_units: ""}
        of_pilot = f"the {counted(n, self._noun)} of the pilot{which.get(n, ' that count')}"
        notes = [f"more units: beyond {of_pilot}."]
        if pilot.case.is_sized:
            notes = [f"units: documents, of the lengths of {of_pilot}."]
        bases = set(self.frame["basis"])
        notes += [text for basis, text in _BASES.items() if basis in bases]
        if isnan(pilot.standard_error):
            notes.append("mv_alpha: se by the jackknife over units, as it has no linearised one.")
        if "extended" in bases and raters_alternate(pilot):
            notes.append("raters: ratings per unit, as the raters of the pilot take turns.")
        return [*self.notes, " ".join(notes)]


def _power_note(goals: PlanGoals, name: str, other: str, condition: str) -> str:
    """Return the note on the column of powers, or an empty text without one."""
    if goals.at_least is None:
        return ""
    return (
        f"power: how often such a study shows with {100 * goals.level:g}% confidence (one-sided) "
        f"that {name} is above {goals.at_least:g}{other}, if {condition}."
    )


@dataclass(frozen=True, eq=False, repr=False)
class DifferencePlan(_OfGoals):
    """Expected interval widths or powers of a difference by number of shared units.

    Attributes
    ----------
    comparison : Comparison
        The pilot.
    frame : DataFrame
        Columns first, second, difference (that of the pilot), n_units, standard_error, half_width,
        with `at_least` power, and n_additional_units.
    goals : PlanGoals
        The goals, with defaults.
    """

    comparison: Comparison
    frame: pd.DataFrame
    goals: PlanGoals

    columns = (
        Column("first", "text"),
        Column("second", "text"),
        Column("difference"),
        *_UNITS,
        *_WIDTHS,
    )

    def _notes(self) -> list[str]:
        power = _power_note(self.goals, "the difference", "", "it is as in the pilot")
        return [f"Intervals are about {self.comparison.raters}.", power]


@dataclass(frozen=True, eq=False, repr=False)
class PrevalencePlan(Result):
    """Expected interval widths of prevalences by number of checked units.

    The frame has label, prevalence (as in the pilot), n_units, half_width, n_additional_units.
    """

    pilot: PrevalenceTable
    frame: pd.DataFrame
    level: float

    columns = (Column("label", "name"), Column("prevalence"), *_UNITS, *_WIDTHS)


class _Tried(TypedDict, total=False):
    costs: PlanCosts | None
    n_raters: Sequence[int] | None
    cluster: OfUnits | None
    units_per_cluster: Sequence[int] | None
    n_resamples: int
    rng: Rng


class _TriedOfData(_Tried, ReadingOptions, total=False):
    """The options of a plan, and those of reading the pilot."""


@overload
def plan(
    pilot: AgreementTable, goals: PlanGoals | None = ..., **options: Unpack[_Tried]
) -> ResultTable[Plan]: ...


@overload
def plan(
    pilot: Agreement | Data, goals: PlanGoals | None = ..., **options: Unpack[_TriedOfData]
) -> Plan: ...


@overload
def plan(pilot: Comparison, goals: PlanGoals | None = ...) -> DifferencePlan: ...


@overload
def plan(pilot: PrevalenceTable, goals: PlanGoals | None = ...) -> PrevalencePlan: ...


@takes_data
def plan(
    pilot: Agreement | AgreementTable | Comparison | PrevalenceTable | Data,
    goals: PlanGoals | None = None,
    *,
    costs: PlanCosts | None = None,
    n_raters: Sequence[int] | None = None,
    cluster: OfUnits | None = None,
    units_per_cluster: Sequence[int] | None = None,
    n_resamples: int = 200,
    rng: Rng = None,
    **options: Unpack[ReadingOptions],
) -> Plan | DifferencePlan | PrevalencePlan | ResultTable[Plan]:
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
    pilot. With `n_raters`, a rater with fewer than half the ratings of the busiest rater is left
    out with a warning. If raters alternate (less than three quarters of the units x raters table is
    filled), fewer ratings are drawn at random within each unit that has enough. In both cases the
    unchanged pilot counts as its mean number of ratings per unit.

    A coefficient without a linearised standard error (`mv_alpha`) is planned by the jackknife.

    A study has no interval if all answers except the commonest weigh less than four units. The
    number of units is therefore at least that of which half of the studies (or the share
    `assurance`) have one, and the power includes its probability, both from the frequency of these
    answers in the pilot.

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

    **Costs.** All numbers of raters are tried. If n SE² = A + B / (r - 1), the optimum is near 1 +
    sqrt((B / A) (1 + per_unit / per_rating)).

    Parameters
    ----------
    pilot : Agreement, AgreementTable, Comparison, or a study
        Coefficients of a pilot study; for a study, a table or a path, Krippendorff's alpha with its
        default distance. `simulate` makes a pilot if there is none. Or differences on the same
        units, or a `prevalence`, for which only `goals` applies, without an assurance.
    goals : PlanGoals, optional
        What the study is to reach, such as ``PlanGoals(half_width=0.05)``, its default.
    costs : PlanCosts, optional
        Cost of a rating and of a unit. With a budget, the plan finds the units and raters with the
        smallest half width; with a half width or a power, it finds the cheapest.
    n_raters : sequence of int, optional
        Numbers of raters to try. Default: that of the pilot; if costs are compared, from 2 to twice
        that of the pilot (above 10, only some of them).
    cluster : str, mapping or Series, optional
        The document, patient or conversation of each unit; see `Annotations.sampled`. Units are
        then planned in clusters: n SE² = s² (1 + (m - 1) rho) for m units each, with s² that of the
        units alone and rho, the intracluster correlation, from both standard errors of the pilot
        (at least 0; there m is the mean over its units). t has the degrees of freedom of Bell and
        McCaffrey for clusters of these sizes: the number of clusters minus 1 if they are equal.
        Below 2 an interval is undefined, and the plan has the reason.
    units_per_cluster : sequence of int, optional
        Numbers of units per cluster to try, 1 or more; the last cluster has the remaining units.
        Default: the mean size and the variation of sizes of the pilot.
    n_resamples : int
        Maximum number of choices of raters per number of raters (of ratings, 20).
    rng : int or numpy Generator, optional
        The seed of those choices, for each row of a table.

    Returns
    -------
    Plan, ResultTable of Plan, DifferencePlan or PrevalencePlan

    Raises
    ------
    DataError
        The pilot has no standard error, or other numbers of raters are requested for a tally.
    OptionError
        A number is out of range, or two goals exclude each other.

    Warns
    -----
    SparseRatersWarning
        `n_raters` is given, and some raters of the pilot are left out.
    SetagreeWarning
        All answers of the pilot except the commonest weigh less than four units, so that its
        variance is not a basis for a plan.
    UndefinedAgreementWarning
        Some choices of fewer raters have no standard error, or one of 0; the message counts them.

    Examples
    --------
    >>> import setagree as sa
    >>> alpha = sa.krippendorff_alpha(sa.simulate(60, 3, rng=1))
    >>> found = sa.plan(alpha, sa.PlanGoals(half_width=0.05))
    >>> found.frame[["n_raters", "n_units", "n_additional_units"]]
       n_raters  n_units  n_additional_units
    0         3      164                 104

    The same, if four of five such studies are to reach it:

    >>> sa.plan(alpha, sa.PlanGoals(half_width=0.05, assurance=0.8)).frame["n_units"].tolist()
    [201]

    The best numbers of raters and units, if a text costs 1 and a rating 2:

    >>> costs = sa.PlanCosts(per_unit=1, per_rating=2, budget=1000)
    >>> sa.plan(alpha, costs=costs).best[["n_raters", "n_units"]].to_dict()
    {'n_raters': 6, 'n_units': 76}

    The number of units that show with 95% confidence, in nine of ten studies, that alpha is above
    0.2:

    >>> sa.plan(alpha, sa.PlanGoals(at_least=0.2, power=0.9)).frame["n_units"].tolist()
    [64]

    The number that show that alpha is not lower by 0.1 or more than with another distance:

    >>> both = sa.agreement(alpha.study, distance=["masi", "jaccard"])
    >>> gap = sa.compare(both["alpha", "masi"], both["alpha", "jaccard"])
    >>> sa.plan(gap, sa.PlanGoals(at_least=-0.1)).frame["n_units"].tolist()
    [14]
    """
    as_generator(rng)
    check_least("n_resamples", n_resamples, 1)
    check_type("goals", goals, PlanGoals | None, "sa.PlanGoals(...)")
    check_type("costs", costs, PlanCosts | None, "sa.PlanCosts(...)")
    goals = with_defaults(goals or PlanGoals(), costs)
    check_counts("n_raters", n_raters, 2)
    check_counts("units_per_cluster", units_per_cluster, 1)
    if isinstance(pilot, Comparison | PrevalenceTable):
        if cluster is not None:
            raise OptionError(
                f"{option('cluster')} is given to the studies, before they are compared."
            )
        others = {"costs": costs, "n_raters": n_raters, "units_per_cluster": units_per_cluster}
        what = "a difference" if isinstance(pilot, Comparison) else "a prevalence"
        power = goals.power if isinstance(pilot, PrevalenceTable) else None
        for name, given in {**others, "assurance": goals.assurance, "power": power}.items():
            if given is not None:
                raise OptionError(f"{name}= is for the plan of a coefficient, not of {what}.")
        if isinstance(pilot, PrevalenceTable):
            return _planned_prevalences(pilot, goals)
        return _planned_differences(pilot, goals)

    def planned(row: Agreement) -> Plan:
        generator = as_generator(rng)
        return _planned(row, goals, costs, n_raters, units_per_cluster, n_resamples, generator)

    return for_each_row(pilot, planned, cluster=cluster)


def _planned_prevalences(pilot: PrevalenceTable, goals: PlanGoals) -> PrevalencePlan:
    """Return the smallest numbers of units for a half width, or the half widths for units."""
    checked, N, half_width = pilot.checked, pilot.checked.n_units, goals.half_width
    if max(goals.n_units or [0]) > N:
        raise OptionError(f"n_units={goals.n_units}: the corpus has {counted(N, 'unit')}.")

    def planned(n: Any) -> pd.DataFrame:
        found = checked.table(goals.level, pilot.target, n / checked.n)
        more = {"half_width": (found["high"] - found["low"]) / 2}
        more["n_additional_units"] = np.maximum(n - checked.n, 0)
        return pilot.frame[["label", "prevalence"]].assign(n_units=n, **more)

    low, n = (np.full(len(pilot.frame), end) for end in (3, N))
    while half_width is not None and (low < n).any():
        middle = (low + n) // 2
        is_enough = planned(middle)["half_width"] <= half_width
        low, n = np.where(is_enough, low, middle + 1), np.where(is_enough, middle, n)
    tried = [n] if goals.n_units is None else goals.n_units
    frame = pd.concat([planned(each) for each in tried], ignore_index=True)
    return PrevalencePlan(pilot, frame, goals.level)


def _planned_differences(comparison: Comparison, goals: PlanGoals) -> DifferencePlan:
    """Return the plan of each pair; see `plan`."""
    if comparison.design == "independent" or comparison.drawn:
        raise OptionError(
            "a difference is planned if both coefficients have the same units, drawn one by one; "
            f"here {comparison.drawn or 'they are independent studies'}."
        )
    rows = []
    compared = [
        pair for family in comparison.families for pair in itertools.combinations(family, 2)
    ]
    of_pairs = comparison.names, comparison.differences, comparison.n_shared_units
    for (first, second), pair, shared, two in zip(*of_pairs, compared, strict=True):
        if not pair.standard_error > 0:
            raise DataError(
                f"{first} - {second} has no standard error above 0, so no plan follows."
            )
        done = int(pair.degrees_of_freedom + 1) if np.isfinite(pair.degrees_of_freedom) else shared
        variance = pair.standard_error**2 * done
        rarer = min(one.inference.n_rarer for one in two) / done
        precision = Precision(goals, pair.value, variance, "difference", rarer=rarer)
        row = {"first": first, "second": second, "difference": pair.value}
        for n in precision.units(variance):
            more = {"n_additional_units": max(0, n - done)}
            rows.append(row | {"n_units": n} | precision.columns(variance, n) | more)
    return DifferencePlan(comparison, pd.DataFrame(rows), goals)


def _planned(
    agreement: Agreement,
    goals: PlanGoals,
    costs: PlanCosts | None,
    n_raters: Sequence[int] | None,
    units_per_cluster: Sequence[int] | None,
    n_resamples: int,
    generator: np.random.Generator,
) -> Plan:
    check_weighted(agreement, "A plan")
    if units_per_cluster is not None and (agreement.case.is_sized or not is_clustered(agreement)):
        raise OptionError(
            f"{option('units_per_cluster')} needs {option('cluster')}, what each unit belongs to, "
            "and units without sizes, of which a plan counts documents."
        )
    clusters = pilot_clusters(agreement)
    plain = agreement if clusters is None else clusters.plain
    variance, done = unit_variance(plain)
    if not variance > 0:
        why = f" {agreement.standard_error_reason}." if agreement.standard_error == 0 else ""
        raise DataError(f"the pilot has no standard error above 0, so no plan follows.{why}")
    if agreement.inference.n_rarer < FEWEST_RARER:
        warn(
            "the pilot is too small in its rarer answers for a plan to rely on its variance: "
            f"{agreement.inference.rarer}, fewer than {FEWEST_RARER}.",
            SetagreeWarning,
        )
    precision = Precision(
        goals,
        plain.estimate,
        variance,
        f"{plain.coefficient} [{plain.distance}]",
        score_interval(plain.sums) if plain.inference.method == "score" else None,
        rarer_per_unit(agreement, done),
        *(() if goals.assurance is None else kurtosis_of(agreement)),
    )
    tried = n_raters
    if n_raters is None and costs is not None and goals.n_units is None:
        tried = affordable_raters(plain)
    per_unit = variances_by_raters(plain, tried, n_resamples, generator)
    if None in per_unit and costs is not None:
        per_unit = {ratings_per_unit(plain): per_unit[None]}
    rows, left = _rows(precision, per_unit, done, costs, clusters, units_per_cluster)
    error, df = agreement.standard_error, agreement.degrees_of_freedom
    if clusters is None:
        error, df = sqrt(variance / done), done - 1.0
    half = -t_interval(0.0, error, df, goals.level)[0]
    alike = nan if clusters is None else clusters.alike
    frame = pd.DataFrame(rows)
    if agreement.case.is_sized:  # documents are the units of the plan
        frame = frame.drop(columns=["units_per_cluster", "clusters"])
    return Plan(agreement, frame, goals, costs, n_raters, half, done, alike, left)


def _rows(
    precision: Precision,
    per_unit: Variances,
    done: int,
    costs: PlanCosts | None,
    clusters: PilotClusters | None,
    sizes: Sequence[int] | None,
) -> tuple[list[dict[str, Any]], tuple[tuple[float, float], ...]]:
    """Return a row per number of raters, size of clusters and number of units.

    Also return the numbers of raters and sizes of clusters that the budget does not cover.
    """
    drawings = [(ONE_BY_ONE, 1.0)] if clusters is None else clusters.drawings(sizes)
    budget, rows, left = None if costs is None else costs.budget, [], []
    for (r, (each, basis)), (drawing, factor) in itertools.product(per_unit.items(), drawings):
        variance = each * factor  # n SE²
        if costs is None or budget is None:
            units = precision.units(variance, drawing)
        elif not isnan(drawing.freedom(costs.affordable(r or 0))):
            units = [costs.affordable(r or 0)]
        else:
            left.append((r or 0, drawing.size))
            continue
        for n in units:
            row: dict[str, Any] = {"n_raters": r, "n_units": n}
            if clusters is not None:
                row |= {"units_per_cluster": drawing.size, "clusters": drawing.clusters(n)}
                row["degrees_of_freedom"] = drawing.freedom(n)
            row |= precision.columns(variance, n, drawing)
            if costs is not None:
                row["cost"] = costs.total(n, r or 0)
            row |= {"n_additional_units": max(0, n - done), "basis": basis}
            rows.append(row if clusters is None else row | {"reason": drawing.too_few(n)})
    if not rows:
        few = "fewer than two units" if clusters is None else "too few clusters"
        raise OptionError(f"{option('budget', budget)} covers {few}, too few for an interval.")
    return rows, tuple(left)
