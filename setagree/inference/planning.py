"""How many units, and how many raters, a wanted interval takes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf
from numbers import Real
from typing import Any, overload

import numpy as np
import pandas as pd

from setagree.checks import Rng, as_generator, check_level, check_resamples, public
from setagree.errors import DataError, OptionError, option
from setagree.inference.clusters import is_clustered, refuse_weighted
from setagree.inference.pilots import (
    PilotClusters,
    pilot_clusters,
    unit_variance,
    variances_by_raters,
)
from setagree.large.opening import Data
from setagree.scoring.intervals import t_interval
from setagree.scoring.result_tables import ResultTable, for_each_row
from setagree.scoring.results import Agreement, AgreementTable
from setagree.study.unit_columns import OfUnits
from setagree.wording.results import Result

_MANY_UNITS = 100_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """What interval to expect from how many units and raters.

    Attributes
    ----------
    agreement : Agreement
        The pilot, which the plan is made from.
    frame : DataFrame
        raters, units, standard_error, half_width, more_units, basis; of a pilot with clusters
        units_per_cluster and clusters, too.
    level : float
        The level of the interval.
    half_width : float or None
        What was wanted; None where numbers of units were.
    pilot_half_width : float
        What the pilot has, its upper end not cut at 1.
    pilot_units : int
        The units that count in the pilot: for most coefficients those of two ratings.
    """

    agreement: Agreement
    frame: pd.DataFrame
    level: float
    half_width: float | None
    pilot_half_width: float
    pilot_units: int

    @property
    def reached(self) -> str:
        """A sentence that says so where the pilot has what is wanted; else nothing."""
        if self.half_width is None or self.pilot_half_width > self.half_width:
            return ""
        return (
            f"The pilot as it is already gives ± {self.pilot_half_width:.4f}, within the "
            f"± {self.half_width:g} wanted: no more units are needed."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the plan, nothing rounded."""
        return self.frame.copy()

    def __repr__(self) -> str:
        drawn = f" in {self.agreement.drawn}" if is_clustered(self.agreement) else ""
        return (
            f"<Plan from {self.agreement.coefficient} [{self.agreement.distance}] "
            f"{self.agreement.estimate:.4f} on {self.agreement.n_units:,} units{drawn}: "
            f"{len(self.frame)} rows>"
        )

    def __str__(self) -> str:
        shown = self.frame.round({"standard_error": 4, "half_width": 4})
        return "\n\n".join(filter(None, [shown.to_string(index=False), self.reached]))


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
    n_resamples: int = ...,
    rng: Rng = ...,
) -> Plan: ...


@public
def plan(
    pilot: Agreement | AgreementTable | Data,
    *,
    half_width: float | None = None,
    units: Sequence[int] | None = None,
    raters: Sequence[int] | None = None,
    cluster: OfUnits | None = None,
    units_per_cluster: Sequence[int] | None = None,
    level: float = 0.95,
    n_resamples: int = 200,
    rng: Rng = None,
) -> Plan | ResultTable[Plan]:
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

    Parameters
    ----------
    pilot : Agreement, AgreementTable, or a study
        Coefficients of a pilot study; of a study, a table or a path, Krippendorff's alpha with its
        default distance. `simulate` makes one where there is no pilot.
    half_width : float, optional
        Half the width of the interval that is wanted. Without it and `units`, 0.05.
    units : sequence of int, optional
        Numbers of units to try.
    raters : sequence of int, optional
        Numbers of raters to try. Default: that of the pilot.
    cluster : str, mapping or Series, optional
        The document, patient or conversation of each unit; see `Annotations.sampled`. Then units
        are planned in clusters: n SE² = s² (1 + (m - 1) rho) for m units each, with s² that of the
        units alone and rho, how alike units of a cluster are, from both standard errors of the
        pilot (0 at least; there m is the mean over its units); t with one degree of freedom less
        than clusters.
    units_per_cluster : sequence of int, optional
        Numbers of units of a cluster to try, 1 or more. Default: those of the pilot, on average.
    level : float
        The level of the interval.
    n_resamples : int
        How many choices of raters at most for each number (of ratings, 20).
    rng : int or numpy Generator, optional
        The seed of those choices, for each row of a table.

    Returns
    -------
    Plan or ResultTable of Plan

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
    """
    check_level(level)
    check_resamples(n_resamples)
    _check_wishes(half_width, units, raters, units_per_cluster)
    as_generator(rng)
    wanted = 0.05 if half_width is None and units is None else half_width
    drawing: dict[str, Any] = {"n_resamples": n_resamples, "sizes": units_per_cluster}
    return for_each_row(
        pilot,
        lambda row: _planned(row, wanted, units, raters, level, as_generator(rng), **drawing),
        cluster=cluster,
    )


def _planned(
    agreement: Agreement,
    half_width: float | None,
    units: Sequence[int] | None,
    raters: Sequence[int] | None,
    level: float,
    generator: np.random.Generator,
    *,
    n_resamples: int,
    sizes: Sequence[int] | None,
) -> Plan:
    refuse_weighted(agreement, "A plan")
    if sizes is not None and not is_clustered(agreement):
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
    per_unit = variances_by_raters(plain, raters, n_resamples, generator)
    rows = []
    for (r, (each, basis)), m in itertools.product(per_unit.items(), _sizes(inside, sizes)):
        spread = each if inside is None else each * (1 + (m - 1) * inside.alike)
        enough = [] if half_width is None else [_units_for(spread, half_width, level, m)]
        for n in enough if units is None else units:
            clusters = {} if inside is None else {"units_per_cluster": m, "clusters": ceil(n / m)}
            row = {"raters": r, "units": n, **clusters, **_spread(spread, n, level, m)}
            rows.append({**row, "more_units": max(0, n - done), "basis": basis})
    here = _spread(variance, done, level)["half_width"]
    if inside is not None:
        here = -t_interval(0.0, agreement.standard_error, agreement.degrees_of_freedom, level)[0]
    return Plan(agreement, pd.DataFrame(rows), level, half_width, here, done)


def _check_wishes(
    half_width: float | None,
    units: Sequence[int] | None,
    raters: Sequence[int] | None,
    sizes: Sequence[int] | None,
) -> None:
    if half_width is not None and not _is_share(half_width):
        raise OptionError(f"{option('half_width', half_width)} must lie between 0 and 1.")
    if half_width is not None and units is not None:
        raise OptionError(
            f"say {option('half_width')} (how many units?) or {option('units')} (what interval?), "
            "not both."
        )
    for name, wanted in (("units", units), ("raters", raters)):
        if wanted is not None and not _is_list_of_numbers(wanted):
            raise OptionError(
                f"{option(name, wanted)} must be a list of whole numbers of 2 or more."
            )
    if sizes is not None and not _is_list_of_numbers(sizes, least=1):
        raise OptionError(
            f"{option('units_per_cluster', sizes)} must be a list of whole numbers above 0."
        )


def _is_share(wanted: object) -> bool:
    return isinstance(wanted, float | np.floating | Real) and 0 < float(wanted) < 1


def _is_list_of_numbers(wanted: object, *, least: int = 2) -> bool:
    if not isinstance(wanted, Sequence | np.ndarray) or not len(wanted):
        return False
    return all(isinstance(n, int | np.integer) and n >= least for n in wanted)


def _sizes(inside: PilotClusters | None, sizes: Sequence[int] | None) -> Sequence[float]:
    """Return the numbers of units a cluster to plan for; 1 where units are drawn one by one."""
    if inside is None:
        return [1]
    return [inside.mean_size] if sizes is None else sizes


def _spread(variance: float, n: int, level: float, m: float = 1) -> dict[str, float]:
    se = float(np.sqrt(variance / n))
    return {"standard_error": se, "half_width": _quantile(ceil(n / m), level) * se}


def _quantile(n: float, level: float) -> float:
    """Return the quantile of t with n - 1 degrees of freedom; infinite for one unit, or cluster."""
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, (1 + level) / 2)) if n > 1 else inf


def _units_for(variance: float, half_width: float, level: float, m: float = 1) -> int:
    """Return the least c m with t(c - 1) sqrt(variance / (c m)) <= half_width."""
    low, high = 2, _MANY_UNITS
    if _quantile(high, level) * np.sqrt(variance / (high * m)) > half_width:
        raise OptionError(
            f"{option('half_width', half_width)} takes more than {_MANY_UNITS:,} units."
        )
    while low < high:
        middle = (low + high) // 2
        if _quantile(middle, level) * np.sqrt(variance / (middle * m)) <= half_width:
            high = middle
        else:
            low = middle + 1
    return ceil(low * m)
