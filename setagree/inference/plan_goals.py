"""Goals and costs of a planned study, and the number of units that reaches a goal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, inf, isfinite, isnan, nan, sqrt
from numbers import Real

import numpy as np

from setagree.checks import check_level, public
from setagree.coefficients.estimated import LEAST_DF
from setagree.coefficients.score_interval import Moments
from setagree.errors import OptionError, counted, option
from setagree.limits import MAX_PLANNED_UNITS

_QUESTIONS = {
    "half_width": "how many units?",
    "units": "what interval?",
    "power": "how many units for a test?",
    "budget": "which units and raters?",
}
"""Options of which a plan takes one, with the question that each asks."""

_DEFAULT_HALF_WIDTH, _DEFAULT_POWER = 0.05, 0.8

_MAX_DF = 1e9
"""Degrees of freedom at which a variance is treated as known."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlanGoals:
    """What a planned study is to reach, for `plan`.

    Only one of `half_width`, `units` and `power` can be given, and none of them with a budget.

    Attributes
    ----------
    half_width : float, optional
        Half the width of the desired interval; 0.05 without another goal.
    units : sequence of int, optional
        Numbers of units to try.
    power : float, optional
        Probability of showing that the coefficient is above `at_least`. Default: 0.8, if only
        `at_least` is given.
    at_least : float, optional
        Value that the coefficient is to exceed. Default: 0, if `power` is given.
    assurance : float, optional
        Share of studies that reach the half width, such as 0.8. Default: about half.
    level : float
        Level of the interval, and confidence of the test.

    Raises
    ------
    OptionError
        A number is out of range.

    Examples
    --------
    >>> import setagree as sa
    >>> alpha = sa.krippendorff_alpha(sa.simulate(60, 3, rng=1))
    >>> sa.plan(alpha, sa.PlanGoals(half_width=0.1)).frame["n_units"].tolist()
    [43]
    """

    half_width: float | None = None
    units: Sequence[int] | None = None
    power: float | None = None
    at_least: float | None = None
    assurance: float | None = None
    level: float = 0.95

    def __post_init__(self) -> None:
        check_level(self.level)
        for name in ("half_width", "assurance", "power"):
            share = getattr(self, name)
            if share is not None and not 0 < _number(share) < 1:
                raise OptionError(f"{option(name, share)} must lie between 0 and 1.")
        check_counts("units", self.units, 2)
        if self.at_least is not None and not -1 <= _number(self.at_least) < 1:
            raise OptionError(
                f"{option('at_least', self.at_least)} must be a number from -1 to below 1."
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class PlanCosts:
    """Costs of a planned study, for `plan`.

    n units with r ratings each cost n (per_unit + r per_rating), including missing ratings and
    those of the pilot.

    Attributes
    ----------
    per_rating : float
        Cost of a rating.
    per_unit : float
        Cost of a unit before it is rated.
    budget : float, optional
        Maximum cost of the study.

    Raises
    ------
    OptionError
        A cost is out of range.

    Examples
    --------
    >>> import setagree as sa
    >>> sa.PlanCosts(per_rating=2, per_unit=1).total(10, 3)
    70
    """

    per_rating: float
    per_unit: float = 0
    budget: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= _number(self.per_unit) < inf:
            raise OptionError(f"{option('per_unit', self.per_unit)} must be a number 0 or more.")
        for name in ("per_rating", "budget"):
            cost = getattr(self, name)
            if cost is not None and not 0 < _number(cost) < inf:
                raise OptionError(f"{option(name, cost)} must be a number above 0.")

    def total(self, units: float, raters: float) -> float:
        """Return the cost of a number of units with a number of ratings each."""
        return units * (self.per_unit + raters * self.per_rating)

    def affordable(self, raters: float) -> int:
        """Return the number of units with so many ratings each that the budget covers."""
        return floor((self.budget or 0) / self.total(1, raters) * (1 + 1e-12))


for _kind in (PlanGoals, PlanCosts):
    _kind.__init__ = public(_kind.__init__)  # type: ignore[method-assign]


def with_defaults(goals: PlanGoals, costs: PlanCosts | None) -> PlanGoals:
    """Return the goals with their defaults.

    Raises
    ------
    OptionError
        Two of the goals exclude each other.
    """
    values = vars(goals) | {"budget": None if costs is None else costs.budget}
    given = [name for name in _QUESTIONS if values[name] is not None]
    if len(given) > 1:
        both = " or ".join(f"{option(name)} ({_QUESTIONS[name]})" for name in given[:2])
        raise OptionError(f"use {both}, not both.")
    if goals.power is not None and goals.at_least is None:
        return replace(goals, at_least=0.0)
    if given:
        return goals
    if goals.at_least is not None:
        return replace(goals, power=_DEFAULT_POWER)
    return replace(goals, half_width=_DEFAULT_HALF_WIDTH)


def check_counts(name: str, counts: Sequence[int] | None, least: int) -> None:
    """Raise OptionError unless an option is None, or a list of integers of at least a minimum."""
    if counts is None:
        return
    is_list = isinstance(counts, Sequence | np.ndarray) and len(counts)
    if not is_list or not all(isinstance(n, int | np.integer) and n >= least for n in counts):
        raise OptionError(
            f"{option(name, counts)} must be a list of whole numbers of {least} or more."
        )


def _number(value: object) -> float:
    """Return a number as a float, or NaN if the input is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, Real | np.floating):
        return nan
    return float(value) if isfinite(value) else nan


@dataclass(frozen=True)
class Drawing:
    """Sampling of the units of a planned study: one by one, or in clusters.

    Attributes
    ----------
    size : float
        Mean number of units per cluster; the last cluster has the remaining units.
    shares : tuple of float
        Sizes of the clusters of the pilot over their mean, if the plan has the same variation of
        sizes; empty for equal sizes.
    """

    size: float = 1
    shares: tuple[float, ...] = ()

    def clusters(self, n: float) -> int:
        """Return the number of clusters for n units, or n if units are drawn one by one."""
        return ceil(n / self.size - 1e-9)

    def freedom(self, n: float) -> float:
        """Return the degrees of freedom of t for n units: Bell and McCaffrey's if in clusters.

        Return NaN if there are too few clusters for an interval.
        """
        c = self.clusters(n)
        if self.size == 1 and not self.shares:
            return n - 1.0 if n >= 2 else nan
        # The sizes n_g of the clusters, and the number of clusters of each size.
        sizes, times = np.array([self.size, n - (c - 1) * self.size]), np.array([c - 1.0, 1.0])
        if self.shares:  # evenly spaced among them, in order: all of them where c are as many
            ranks = np.ceil(np.arange(len(self.shares) + 1) * c / len(self.shares) - 0.5)
            sizes, times = np.sort(self.shares), np.diff(ranks)
        sizes, times = sizes[times > 0], times[times > 0]
        total = float(times @ sizes)
        if sizes.max() >= total * (1 - 1e-9):
            return nan
        # df = n² / {sum n_g² + [(sum b)² - sum b²] / n²} with b_g = n_g² / (1 - n_g / n)
        b = sizes**2 / (1 - sizes / total)
        among = ((times @ b) ** 2 - times @ b**2) / total**2
        df = float(total**2 / (times @ sizes**2 + among))
        return df if df > LEAST_DF - 1e-9 else nan

    def too_few(self, n: float) -> str | None:
        """Return the reason why n units in clusters have no interval, or None."""
        if not isnan(self.freedom(n)):
            return None
        few = counted(self.clusters(n), "cluster")
        return f"{n:,} units in {few} leave fewer than {LEAST_DF} degrees of freedom"


ONE_BY_ONE = Drawing()


@dataclass(frozen=True)
class Precision:
    """Half width and power of a planned study, from the values of its pilot.

    Without `assurance`, the half width is t SE, which half of the studies exceed. With it, it is
    the value that this share of the studies does not exceed: t SE sqrt(F), where F is the quantile
    of s²_n / s²_pilot, a ratio of two estimated variances. Each has the degrees of freedom of a
    chi-square with the variance due to its kurtosis K (Satterthwaite), nu_n = 2 / [(K - 3) / n +
    2 / (n - 1)].

    The test of `at_least` succeeds if the lower bound of the interval with level ``2 level - 1``
    is above it. Let th = 1 - coefficient and th0 = 1 - at_least. The t interval succeeds if a
    noncentral t (n - 1 degrees of freedom, noncentrality (th0 - th) / SE) exceeds its quantile,
    computed as in Johnson and Welch (1940). The score interval succeeds if the estimate of th,
    normal about th with SE, is below th0 - sqrt(k (sig th0 + B th0²)), with the moments of the
    pilot and k proportional to n SE². The power is the smaller of the two probabilities.

    Attributes
    ----------
    goals : PlanGoals
        The goals, with defaults.
    estimate : float
        The coefficient, or the difference, of the pilot.
    variance : float
        n SE² of the pilot.
    name : str
        What is estimated, for messages.
    score : Moments or None
        Moments of the pilot for the score interval; None if there is none.
    kurtosis, n_pilot, df_pilot : float
        K of the linearised values of the pilot's units, or of its clusters; their number; the
        degrees of freedom of the pilot's t.
    """

    goals: PlanGoals
    estimate: float
    variance: float
    name: str
    score: Moments | None = None
    kurtosis: float = 3.0
    n_pilot: float = inf
    df_pilot: float = inf

    def half_width(self, variance: float, n: float, drawing: Drawing = ONE_BY_ONE) -> float:
        """Return the half width for n units, from their variance n SE².

        Return NaN if n units have no degrees of freedom for an interval.
        """
        from scipy.special import fdtri, stdtrit

        df, share = drawing.freedom(n), self.goals.assurance
        wide = float(stdtrit(df, (1 + self.goals.level) / 2) * np.sqrt(variance / n))
        if share is None or isnan(df):
            return wide
        drawn, pilot = drawing.clusters(n), self._chi_freedom(self.n_pilot, self.df_pilot)
        return wide * float(np.sqrt(fdtri(self._chi_freedom(drawn, df), pilot, share)))

    def _chi_freedom(self, n: float, df: float) -> float:
        # nu = 2 / [(K - 3) / n + 2 / df]
        inverse = (self.kurtosis - 3) / n + 2 / df
        return min(_MAX_DF, 2 / inverse) if inverse > 0 else _MAX_DF

    def power(self, variance: float, n: float, drawing: Drawing = ONE_BY_ONE) -> float:
        """Return the power of n units, from their variance n SE².

        Return NaN if n units have no degrees of freedom for an interval.
        """
        from scipy.special import ndtr, ndtri, stdtrit

        df, level, th0 = drawing.freedom(n), self.goals.level, 1 - (self.goals.at_least or 0)
        if isnan(df):
            return df
        th, error, t = 1 - self.estimate, sqrt(variance / n), float(stdtrit(df, level))
        # Phi([(th0 - th) / SE - t (1 - 1 / 4 df)] / sqrt(1 + t² / 2 df))
        ahead = (th0 - th) / error - t * (1 - 0.25 / df)
        by_t = float(ndtr(ahead / sqrt(1 + t * t / (2 * df))))
        if self.score is None:
            return by_t
        m, z = self.score, float(ndtri(level))
        p = min(1.0, m.Do / m.s)
        k = (z * z + 4 * p * (1 - p) * (t * t - z * z)) / n * variance / self.variance
        reach = sqrt(max(0.0, k * (m.s / m.E * th0 + m.B * th0 * th0)))
        return min(by_t, float(ndtr((th0 - reach - th) / error)))

    def units(self, variance: float, drawing: Drawing = ONE_BY_ONE) -> Sequence[int]:
        """Return the numbers of units to try, or the smallest number that reaches the goal."""
        goals = self.goals
        if goals.units is not None:
            return goals.units
        if (width := goals.half_width) is not None:

            def narrow(n: float) -> bool:
                return self.half_width(variance, n, drawing) <= width

            return [smallest_n_units(narrow, drawing, option("half_width", width))]
        power, threshold = goals.power or 0.0, goals.at_least
        if threshold is None or not self.estimate > threshold:
            raise OptionError(
                f"{option('at_least', threshold)} is not below {self.estimate:.4f}, the "
                f"{self.name} of the pilot: if that is the true value, no number of units shows "
                "more."
            )
        return [
            smallest_n_units(
                lambda n: self.power(variance, n, drawing) >= power, drawing, option("power", power)
            )
        ]

    def columns(self, variance: float, n: int, drawing: Drawing = ONE_BY_ONE) -> dict[str, float]:
        """Return the standard error, the half width and the power of n units."""
        error = nan if isnan(drawing.freedom(n)) else sqrt(variance / n)
        row = {"standard_error": error, "half_width": self.half_width(variance, n, drawing)}
        if self.goals.at_least is not None:
            row["power"] = self.power(variance, n, drawing)
        return row


def smallest_n_units(enough: Callable[[float], bool], drawing: Drawing, goal: str) -> int:
    """Return the smallest number of units that is enough, in whole clusters if there are any."""
    low, high = 2, MAX_PLANNED_UNITS
    if not enough(high * drawing.size):
        raise OptionError(f"{goal} takes more than {MAX_PLANNED_UNITS:,} units.")
    while low < high:
        middle = (low + high) // 2
        if enough(middle * drawing.size):
            high = middle
        else:
            low = middle + 1
    return ceil(low * drawing.size)
