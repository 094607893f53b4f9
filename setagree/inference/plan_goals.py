"""Goals and costs of a planned study, its pilot, and the number of units that reaches a goal."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, inf, isfinite, isnan, nan, sqrt
from numbers import Real
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.checks import LOOPED, check_drawing, check_level, public
from setagree.coefficients.case import ROUNDING
from setagree.coefficients.score_interval import ScoreInterval
from setagree.coefficients.tails import normal_quantile, normal_tail, t_quantile
from setagree.coefficients.uncertain import LEAST_DF, uncertain_number
from setagree.errors import (
    DataError,
    OptionError,
    SparseRatersWarning,
    UndefinedAgreementWarning,
    counted,
    option,
    shorten,
    warn,
)
from setagree.inference.jackknife import jackknife
from setagree.inference.panel_members import require_study
from setagree.inference.resampling import random_ranks
from setagree.inference.unit_order import is_clustered
from setagree.limits import MAX_PLANNED_UNITS
from setagree.progress import track
from setagree.scoring.intervals import FEWEST_RARER
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score_part
from setagree.study.annotations import Annotations
from setagree.study.attributes import of_raters

_QUESTIONS = {
    "half_width": "how many units?",
    "n_units": "what interval?",
    "power": "how many units for a test?",
    "budget": "which units and raters?",
}
"""Options of which a plan takes one, with the question that each answers."""

_DEFAULT_HALF_WIDTH, _DEFAULT_POWER = 0.05, 0.8

_MAX_DF = 1e9
"""Degrees of freedom at which a variance is treated as exact."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlanGoals:
    """Goals of a planned study, for `plan`.

    Only one of `half_width`, `n_units` and `power` can be given, and none of them with a budget.

    Attributes
    ----------
    half_width : float, optional
        Half the width of the desired interval; 0.05 without another goal.
    n_units : sequence of int, optional
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
    n_units: Sequence[int] | None = None
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
        check_counts("n_units", self.n_units, 2)
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
    """Return the goals with their defaults, or raise OptionError if two exclude each other."""
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

    `size` is the mean number of units per cluster; the last cluster has the remaining units.
    `shares` are the sizes of the pilot's clusters over their mean, if the plan has the same
    variation of sizes; empty for equal sizes.
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
        few = f"{few} of such sizes" if self.size == 1 else f"{n:,} units in {few}"
        return f"{few} leave fewer than {LEAST_DF} degrees of freedom"


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
    pilot and k proportional to n SE². The power is the smaller of the two probabilities, times that
    of an interval. A study has none if its rarer answers, all except the commonest, weigh less than
    four units. In n units they weigh n q on average, with a variance of at most n q (1 - q), that
    of units in full agreement. At least half of the studies must have an interval, or the share
    `assurance`.

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
    score : ScoreInterval or None
        The score interval of the pilot; None if there is none.
    rarer : float
        q, the weight in units of the rarer answers per unit of the pilot.
    kurtosis, n_pilot, df_pilot : float
        K of the linearised values of the pilot's units, or of its clusters; their number; the
        degrees of freedom of the pilot's t.
    """

    goals: PlanGoals
    estimate: float
    variance: float
    name: str
    score: ScoreInterval | None = None
    rarer: float = inf
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

    def _share_with_interval(self, n: float) -> float:
        if self.rarer == inf:
            return 1.0
        # Phi([n q - 4] / sqrt[n q (1 - q)])
        mean = n * self.rarer
        return normal_tail((FEWEST_RARER - mean) / sqrt(mean * max(1 - self.rarer, ROUNDING)))

    def power(self, variance: float, n: float, drawing: Drawing = ONE_BY_ONE) -> float:
        """Return the power of n units, from their variance n SE².

        Return NaN if n units have no degrees of freedom for an interval.
        """
        df, level, th0 = drawing.freedom(n), self.goals.level, 1 - (self.goals.at_least or 0)
        if isnan(df):
            return df
        th, error, t = 1 - self.estimate, sqrt(variance / n), -t_quantile(df, level)
        # Phi([(th0 - th) / SE - t (1 - 1 / 4 df)] / sqrt(1 + t² / 2 df))
        ahead = (th0 - th) / error - t * (1 - 0.25 / df)
        by_t = normal_tail(-ahead / sqrt(1 + t * t / (2 * df)))
        has_interval = self._share_with_interval(n)
        if self.score is None:
            return by_t * has_interval
        m, z = self.score, -normal_quantile(level)
        k = (z * z + m.of_t * (t * t - z * z)) / n * variance / self.variance
        reach = sqrt(max(0.0, k * (m.sig * th0 + m.B * th0 * th0)))
        return min(by_t, normal_tail(-(th0 - reach - th) / error)) * has_interval

    def units(self, variance: float, drawing: Drawing = ONE_BY_ONE) -> Sequence[int]:
        """Return the numbers of units to try, or the smallest number that reaches the goal."""
        goals = self.goals
        if goals.n_units is not None:
            return goals.n_units
        if (width := goals.half_width) is not None:

            def narrow(n: float) -> bool:
                is_interval_likely = self._share_with_interval(n) >= (goals.assurance or 0.5)
                return is_interval_likely and self.half_width(variance, n, drawing) <= width

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
    if not enough(MAX_PLANNED_UNITS * drawing.size):
        raise OptionError(f"{goal} requires more than {MAX_PLANNED_UNITS:,} units.")
    n = first_number(range(2, MAX_PLANNED_UNITS), lambda n: enough(n * drawing.size))
    return ceil(n * drawing.size)


def first_number(numbers: range, is_met: Callable[[int], bool]) -> int:
    """Return the first number from which on a condition is met, or the end of the range."""
    return numbers.start + bisect_left(numbers, 1, key=is_met)


_NORMAL = 3.0
"""Kurtosis of a normal distribution, used for pilots with fewer than four values."""

_SPARSE = 0.5
"""Minimum share of the busiest rater's ratings; raters below it are sparse."""

_TOGETHER = 0.75
"""Minimum share of rated cells for raters who rate all units together."""

_REGULAR_SHARE = 0.8
"""Minimum share of ratings by raters who are not sparse; below it, raters alternate."""

_THINNINGS = 20
"""Number of draws of ratings within units; each averages over all units."""

_POINTS = 6
"""Maximum number of rater counts to which the curve is fitted."""

_ALL_TRIED = 10
"""Largest number of raters up to which every number is tried if costs are compared."""

Variances: TypeAlias = dict[float | None, tuple[float, str]]
"""n SE² by number of raters, with its basis."""


class RaterVariance(NamedTuple):
    """n SE² for one number of raters, with the mean number of ratings per pairable unit."""

    variance: float
    ratings: float


def unit_variance(agreement: Agreement) -> tuple[float, int]:
    """Return n SE², and n, the number of units (or documents, with sizes) of the standard error.

    Without a linearised standard error, that of the jackknife over units is used.
    """
    if agreement.sums.linearised.values.size:
        clusters = agreement.spread.clusters if agreement.case.is_sized else None
        n = int(agreement.degrees_of_freedom + 1) if clusters is None else clusters.n
        return agreement.standard_error**2 * n, n
    n = agreement.n_pairable_units
    if agreement.reason is not None:
        return float("nan"), n
    return jackknife(agreement).standard_error ** 2 * n, n


def rarer_per_unit(agreement: Agreement, n: int) -> float:
    """Return the weight in units of all answers except the commonest, per unit of n.

    Infinite if the interval of the agreement does not depend on it.
    """
    is_required = agreement.requested_method is None and agreement.standard_error > 0
    return agreement.inference.n_rarer / n if is_required else inf


def kurtosis_of(agreement: Agreement) -> tuple[float, float, float]:
    """Return the kurtosis K of the sampled values, their number, and the degrees of freedom of t.

    The values are the linearised ones of units, or the deviations of clusters. K is 3 plus their
    unbiased G2 (or, if the coefficient has none, that of the leave-one-out estimates), at least 1,
    and 3 for fewer than four values.
    """
    found, in_clusters = agreement.sums.linearised, is_clustered(agreement)
    if in_clusters:
        x = uncertain_number(agreement.sums).deviations
        times = np.ones(len(x))
    elif found.values.size:
        x, times, _ = found
        x, times = x[times > 0], times[times > 0]
    else:
        without = jackknife(agreement).values.to_numpy(dtype=np.float64)
        x = np.asarray(without[np.isfinite(without)], dtype=np.float64)
        times = np.ones(len(x))
    n = float(times.sum())
    df = agreement.degrees_of_freedom if in_clusters else n - 1
    off = x - float(times @ x) / n
    squares = float(times @ off**2) / n
    if n < 4 or not squares > 0:
        return _NORMAL, n, df
    # G2 = (n - 1) / [(n - 2)(n - 3)] [(n + 1) g2 + 6] with g2 = m4 / m2² - 3
    g2 = float(times @ off**4) / n / squares**2 - 3
    return max(1.0, 3 + (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * g2 + 6)), n, df


class PilotClusters(NamedTuple):
    """Clusters of a pilot whose units were drawn in clusters."""

    plain: Agreement
    """The agreement computed as if units had been drawn one by one."""
    own: Drawing
    """Clusters with the mean size and the variation of sizes of the pilot's."""
    together: float
    """sum m_g² / n: the mean over units of the size of their cluster."""
    alike: float
    """rho, where SE² is 1 + (m - 1) rho times that of units drawn one by one."""

    def drawings(self, sizes: Sequence[int] | None) -> list[tuple[Drawing, float]]:
        """Return clusters of these sizes, with the factor by which each multiplies n SE²."""
        if sizes is None:
            return [(self.own, 1 + (self.together - 1) * self.alike)]
        return [(Drawing(m), 1 + (m - 1) * self.alike) for m in sizes]


def pilot_clusters(agreement: Agreement) -> PilotClusters | None:
    """Return the clusters of a pilot, or None if its units were drawn one by one."""
    study, clusters = agreement.study, agreement.spread.clusters
    if study is None or agreement.case.sample is None:
        return None
    if clusters is None or not agreement.standard_error > 0:
        raise DataError(
            f"a plan in clusters needs their spread: {agreement.standard_error_reason}."
        )
    mean = float(clusters.sizes.mean())
    shares = () if (clusters.sizes == mean).all() else tuple((clusters.sizes / mean).tolist())
    if agreement.case.is_sized:  # documents are the units of the plan
        return PilotClusters(agreement, Drawing(1, shares), 1, 0)
    plain = score_part(agreement, replace(study, sampling=None))
    m = float(clusters.sizes @ clusters.sizes / clusters.sizes.sum())
    more = (agreement.standard_error / plain.standard_error) ** 2 - 1
    alike = max(0.0, more / (m - 1)) if m > 1 else 0.0
    return PilotClusters(plain, Drawing(mean, shares), m, alike)


def variances_by_raters(
    agreement: Agreement,
    raters: Sequence[int] | None,
    n_resamples: int,
    generator: np.random.Generator,
) -> Variances:
    """Return n SE² for each number of raters, not increasing in that number.

    Warn (SparseRatersWarning) if some raters have so few ratings that they are left out.
    """
    own, per_unit = unit_variance(agreement)[0], ratings_per_unit(agreement)
    regular, together = _regular_raters(agreement)
    here = agreement.n_raters if together and regular.all() else per_unit
    if raters is None or (regular.all() and list(raters) == [here]):
        return {here: (own, "pilot")}
    study = require_study(agreement, "a plan for other numbers of raters")
    if not regular.all():
        ratings, sparse = np.bincount(study.rater_codes), np.flatnonzero(~regular)
        named = ", ".join(
            f"{shorten(study.raters[g])} with {ratings[g]:,} of {study.n_units:,} units"
            for g in sparse[:3]
        )
        more = f" and {len(sparse) - 3:,} more" if len(sparse) > 3 else ""
        warn(
            f"{counted(len(sparse), 'rater')} with fewer than half the ratings of the busiest left "
            f"out ({named}{more}), because they do not show what one more rater adds; the pilot "
            f"counts as one of {int(regular.sum())} raters.",
            SparseRatersWarning,
        )
    sizes = np.bincount(study.unit_codes, minlength=study.n_units)
    pairable = sizes[sizes >= 2]
    most = int(regular.sum()) if together else int(np.median(pairable))
    tried = {*raters, most}
    if max(raters) > most:  # The curve is fitted to some numbers, with 2 and the largest.
        tried |= set(np.geomspace(2, most, _POINTS).round().astype(int).tolist())
    found, names = {}, {}
    for r in sorted(tried & set(range(2, most + 1))):
        if (regular.all() and r == most) if together else (pairable == r).all():
            found[r], names[r] = RaterVariance(own, per_unit), "pilot"
            continue
        if together:
            chosen = _choices(np.flatnonzero(regular), r, n_resamples, generator, study.n_ratings)
            kept, total = (np.isin(study.rater_codes, some) for some in chosen), len(chosen)
        else:
            total = min(n_resamples, _THINNINGS)
            enough = sizes[study.unit_codes] >= r
            ranks = (random_ranks(study.unit_codes, generator) for _ in range(total))
            kept = (enough & (each < r) for each in ranks)
        found[r] = _mean_variance(agreement, study, kept, r, total=total)
        names[r] = "raters left out" if together else "ratings left out"
    return _monotone(found, names, raters)


def affordable_raters(agreement: Agreement) -> list[int]:
    """Return the numbers of raters to compare by cost.

    They range from 2 to twice that of the pilot: all numbers to 10, some above. A pilot of two
    raters cannot be extrapolated.
    """
    regular, together = _regular_raters(agreement)
    study = require_study(agreement, "the best number of raters")
    sizes = np.bincount(study.unit_codes)
    most = int(regular.sum()) if together else int(np.median(sizes[sizes >= 2]))
    if most == 2:
        return [2]
    beyond = np.geomspace(_ALL_TRIED, 2 * most, _POINTS).round().astype(int).tolist()
    return sorted({*range(2, min(2 * most, _ALL_TRIED) + 1), *beyond * (2 * most > _ALL_TRIED)})


def raters_alternate(agreement: Agreement) -> bool:
    """Return whether raters alternate, so that a plan sets the ratings per unit."""
    return not _regular_raters(agreement)[1]


def _regular_raters(agreement: Agreement) -> tuple[npt.NDArray[np.bool_], bool]:
    """Return flags of the raters who are not sparse, and whether these rated all units together.

    If raters alternate, as in a crowd, none is left out. Without rater identities, all raters are
    assumed to have the same number of ratings.
    """
    tally, n_raters = agreement.tally, agreement.n_raters or 0
    everybody = np.ones(n_raters, dtype=bool)
    if agreement.study is None and tally.given is None:
        return everybody, tally.n_ratings >= _TOGETHER * tally.n_units * n_raters
    ratings = agreement.case.rated.ratings
    regular = ratings >= _SPARSE * ratings.max()
    theirs = int(ratings[regular].sum())
    full = theirs >= _TOGETHER * tally.n_units * regular.sum()
    if full and regular.sum() >= 2 and theirs >= _REGULAR_SHARE * tally.n_ratings:
        return regular, True
    return everybody, False


def ratings_per_unit(agreement: Agreement) -> float:
    """Return the mean number of ratings of pairable units, as an int if it is whole."""
    tally = agreement.tally
    m = tally.multiplicity * tally.pairable
    mean = float(m @ tally.pattern_ratings) / float(m.sum()) if m.any() else float("nan")
    return int(mean) if mean.is_integer() else mean


def _choices(
    able: npt.NDArray[np.intp],
    r: int,
    n_resamples: int,
    generator: np.random.Generator,
    n_ratings: int,
) -> list[list[int]]:
    """Return all choices of r raters, or n_resamples random ones if there are more."""
    check_drawing(min(n_resamples, math.comb(len(able), r)), n_ratings + LOOPED)
    some = itertools.islice(itertools.combinations(able.tolist(), r), n_resamples + 1)
    choices = [list(choice) for choice in some]
    if len(choices) <= n_resamples:
        return choices
    return [generator.choice(able, r, replace=False).tolist() for _ in range(n_resamples)]


def _mean_variance(
    agreement: Agreement,
    study: Annotations,
    kept: Iterable[npt.NDArray[np.bool_]],
    r: int,
    *,
    total: int,
) -> RaterVariance:
    """Return the means over parts of the study; warn if n SE² is undefined or 0."""
    drawn = track(kept, total=total, what=f"{r} raters")
    parts = (score_part(agreement, of_raters(study, some)) for some in drawn)
    pairs = [(unit_variance(part)[0], ratings_per_unit(part)) for part in parts]
    variances, ratings = np.array(pairs).T
    undefined, perfect = int(np.isnan(variances).sum()), int((variances <= ROUNDING**2).sum())
    if undefined == total:
        raise DataError(f"{r} raters of the pilot have no standard error, so no plan follows.")
    if undefined + perfect:
        counts = [f"{undefined:,} without a standard error (left out)"] if undefined else []
        counts += [f"{perfect:,} with one of 0 (which lowers the mean)"] if perfect else []
        warn(
            f"{r} raters of the pilot: of {counted(total, 'choice')} {', '.join(counts)}; the "
            f"pilot is too small to show much of {r} raters.",
            UndefinedAgreementWarning,
        )
    return RaterVariance(float(np.nanmean(variances)), float(np.nanmean(ratings)))


def _monotone(
    found: Mapping[int, RaterVariance], names: Mapping[int, str], raters: Sequence[int]
) -> Variances:
    """Return n SE² by number of raters: the observed values made monotone, or extrapolated.

    It does not increase with the number of raters, because one can leave raters out. The value of
    the largest number of raters, the unchanged pilot, is kept.
    """
    most = max(found)
    if not found[most].variance > 0:
        raise DataError(
            f"{most} raters of the pilot have no standard error above 0, so no plan follows."
        )
    falling: dict[int, float] = {}
    for r in sorted(found, reverse=True):
        falling[r] = max(found[r].variance, *falling.values()) if falling else found[r].variance
    each = found[most].ratings / most
    return {
        r: (falling[r], names[r])
        if r <= most
        else (extended([*found.values()], each * r), "extended")
        for r in raters
    }


def extended(found: Sequence[RaterVariance], ratings: float) -> float:
    """Return A + B / (ratings - 1), which equals the pilot's value at the pilot's ratings.

    B is fitted by least squares to the values of fewer ratings, with A, B >= 0: the value never
    increases with the ratings.
    """
    if len(found) < 2:
        raise DataError("a pilot of two raters does not show the effect of more raters.")
    pilot = max(found, key=lambda one: one.ratings)
    # V(r) - V(pilot) = B [1 / (r - 1) - 1 / (r_pilot - 1)]
    farther = np.array([1 / (one.ratings - 1) - 1 / (pilot.ratings - 1) for one in found])
    worse = np.array([one.variance - pilot.variance for one in found])
    most = pilot.variance * (pilot.ratings - 1)
    slope = float(np.clip(farther @ worse / (farther @ farther), 0, most))
    return pilot.variance - slope * (1 / (pilot.ratings - 1) - 1 / (ratings - 1))
