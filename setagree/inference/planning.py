"""How many units, and how many raters, a wanted interval takes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import pandas as pd

from setagree.checks import Rng, as_generator, check_resamples, public
from setagree.errors import DataError, OptionError, option
from setagree.inference.clusters import is_clustered, refuse_weighted
from setagree.inference.comparison import Comparison
from setagree.inference.pilots import (
    PilotClusters,
    Variances,
    affordable_raters,
    pilot_clusters,
    ratings_a_unit,
    unit_variance,
    variances_by_raters,
)
from setagree.inference.plan_results import Plan
from setagree.inference.planned_differences import DifferencePlan, planned_differences
from setagree.inference.planned_tests import PlannedTest, planned_test
from setagree.inference.widths import ONE_BY_ONE, Drawing, Widths, shape_of
from setagree.inference.wishes import Wishes, checked
from setagree.large.opening import Data
from setagree.scoring.intervals import t_interval
from setagree.scoring.result_tables import ResultTable, for_each_row
from setagree.scoring.results import Agreement, AgreementTable
from setagree.study.unit_columns import OfUnits


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
    """Return how many units give a wanted interval, or which interval given units give.

    The standard error of n units is that of the pilot times sqrt(n_pilot / n). For fewer raters
    than the pilot has, its raters are left out (all choices, or some at random) and the mean
    variance is taken. For more, n SE² = A + B / (r - 1) with A, B >= 0 is extended from the pilot:
    the curve goes through what the pilot has and is fitted to what fewer raters gave (r is the
    mean number of ratings a unit). That is a rough guide, marked as such: on simulated pilots the
    standard error of twice the raters came out 2 to 12 % too large on average, that of 20 ratings a
    unit judged by pilots of 3 up to half too large. More raters never need more units in a plan,
    as one could leave some out: what fewer raters gave is raised to what more gave where chance has
    it otherwise.

    A number of raters is how many rate each unit, but for gaps like those of the pilot. A rater
    with fewer than half the ratings of the busiest is no example of that: where `raters` are asked
    for, it is left out with a warning.
    Where raters take turns (less than three quarters of the units x raters table is filled), fewer
    ratings are drawn at random inside each unit that has as many. In both cases the pilot as it is
    counts as its mean number of ratings a unit.

    A coefficient without a linearised standard error (`mv_alpha`) is planned by the jackknife.

    **Assurance.** Half of the studies of a planned size come out wider than planned, as their
    standard errors differ. `assurance` plans for the half width which that share of them does not
    exceed, t SE sqrt(F): F is that quantile of the F distribution with nu_n and nu_pilot degrees of
    freedom, nu_n = 2 / [(K - 3) / n + 2 / (n - 1)], K the kurtosis of the pilot's linearised values
    (of its clusters, where there are some; the degrees of freedom of t, of the plan and of the
    pilot, take the place of n - 1 then). It allows for
    the pilot being a sample, too. On simulated pilots 80 % came to 69 to 87 % for pilots of 20
    units, 72 to 86 % for 50 and 76 to 83 % for 150 (two raters with nominal answers: 97 to 98, 87
    to 95 and 78 to 84 %), and to 86 to 91 % for pilots of 12 and 30 clusters.

    **Tests.** With `at_least` it is reckoned how often a study shows with confidence `level`, that
    is by the low end of the interval of 2 level - 1, that the coefficient is above it: by the score
    interval where there is one, else by t, for a coefficient that is truly what the pilot gave. A
    pilot that is too high by chance promises too much. On simulated studies of 50 units or more it
    was within .07 of what came out, where half or more succeed; of 20 units, up to .08 too high.
    Gwet's AC came out up to .2 higher than planned, as its chance agreement falls with the number
    of distinct values, which grows with the units (that of Brennan-Prediger does, too); name
    `categories` there.

    Of a comparison on the same units it is the difference that is planned, by t: `at_least=0` is
    for the first being above the second, ``at_least=-margin`` for not being below it by the margin.

    **Costs.** n units with r ratings each cost n (cost_unit + r cost_rating), those of the pilot
    and missing ones too. All numbers of raters are tried. Where n SE² = A + B / (r - 1), the best
    is near 1 + sqrt((B / A) (1 + cost_unit / cost_rating)).

    Parameters
    ----------
    pilot : Agreement, AgreementTable, Comparison, or a study
        Coefficients of a pilot study; of a study, a table or a path, Krippendorff's alpha with its
        default distance. `simulate` makes one where there is no pilot. Or the differences of some
        on the same units, of which `half_width`, `units`, `at_least`, `power` and `level` hold.
    half_width : float, optional
        Half the width of the interval that is wanted; 0.05 where nothing else is. One of it,
        `units`, `power` and `budget` can be named.
    units : sequence of int, optional
        Numbers of units to try.
    raters : sequence of int, optional
        Numbers of raters to try. Default: that of the pilot; where costs are compared, from 2 to
        twice that of the pilot (some of them where that is above 10).
    cluster : str, mapping or Series, optional
        The document, patient or conversation of each unit; see `Annotations.sampled`. Then units
        are planned in clusters: n SE² = s² (1 + (m - 1) rho) for m units each, with s² that of the
        units alone and rho, how alike units of a cluster are, from both standard errors of the
        pilot (0 at least; there m is the mean over its units); t with the degrees of freedom of
        Bell and McCaffrey for clusters of such sizes: one less than clusters where all are as
        large. Below 2 of them there is no interval, and the plan says so.
    units_per_cluster : sequence of int, optional
        Numbers of units of a cluster to try, 1 or more; the last cluster has what is left. Default:
        clusters as large as those of the pilot, and as unequal.
    level : float
        The level of the interval, and the confidence of the test.
    assurance : float, optional
        The share of such studies that reach the half width, such as 0.8. Default: about half.
    at_least : float, optional
        What the coefficient is to exceed. Default: 0, where `power` is named.
    power : float, optional
        How often that is to be shown. Default: 0.8, where `at_least` alone is named.
    cost_unit, cost_rating : float, optional
        What a unit costs before it is rated (default: 0), and what each of its ratings does.
    budget : float, optional
        What the study may cost: which units and raters give the smallest half width for it? With
        costs and `half_width` or `power`: which cost least?
    n_resamples : int
        How many choices of raters at most for each number (of ratings, 20).
    rng : int or numpy Generator, optional
        The seed of those choices, for each row of a table.

    Returns
    -------
    Plan, ResultTable of Plan, or DifferencePlan

    Raises
    ------
    DataError
        The pilot has no standard error, or other numbers of raters are asked of a tally.
    OptionError
        A number is out of range.

    Warns
    -----
    SparseRatersWarning
        `raters` were asked for, and some of the pilot's are left out.
    UndefinedAgreementWarning
        Some choices of fewer raters have no standard error, or one of 0; it counts them.

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
    """What is reckoned for each number of raters, and of units in a cluster."""

    wishes: Wishes
    widths: Widths
    test: PlannedTest | None
    inside: PilotClusters | None

    def frame(self, per_unit: Variances, done: int) -> pd.DataFrame:
        """Return a row for each of them, and for each number of units."""
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
        """Return the raters, and units per cluster, of which the frame has no row."""
        sizes = frame.get("units_per_cluster", pd.Series(1.0, index=frame.index))
        there = {*zip(frame["raters"], sizes, strict=True)}
        drawings = [drawing.size for drawing, _ in self._drawings()]
        tried = itertools.product((r for r in per_unit if r is not None), drawings)
        return tuple(one for one in tried if one not in there)

    def _drawings(self) -> list[tuple[Drawing, float]]:
        """Return how units may be drawn, and by how much that multiplies n SE²."""
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
