"""Variance estimates from a pilot study, and the interval widths and powers of a plan."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, inf, isfinite, isnan, nan, sqrt
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.checks import LOOPED, check_drawing, check_level
from setagree.coefficients.chance import ROUNDING, Floats
from setagree.coefficients.estimated import LEAST_DF, estimated
from setagree.coefficients.score_interval import Moments, moments
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
from setagree.inference.panel_members import known_study
from setagree.inference.unit_order import is_clustered
from setagree.limits import LONG_LOOP
from setagree.progress import track
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score_part
from setagree.study.annotations import Annotations

MANY_UNITS = 100_000_000

_NORMAL = 3.0
"""Kurtosis of a normal distribution, used for pilots with fewer than four values."""


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
        sizes, times = np.array([self.size, n - (c - 1) * self.size]), np.array([c - 1.0, 1.0])
        if self.shares:  # evenly spaced among them, in order: all of them where c are as many
            ranks = np.ceil(np.arange(len(self.shares) + 1) * c / len(self.shares) - 0.5)
            sizes, times = np.sort(self.shares), np.diff(ranks)
        sizes, times = sizes[times > 0], times[times > 0]
        total = float(times @ sizes)
        if sizes.max() >= total * (1 - 1e-9):
            return nan
        b = sizes**2 / (1 - sizes / total)
        among = ((times @ b) ** 2 - times @ b**2) / total**2
        df = float(total**2 / (times @ sizes**2 + among))
        return df if df > LEAST_DF - 1e-9 else nan

    def too_few(self, n: float) -> str | None:
        """Return the reason why n units in clusters have no interval, or None."""
        if not np.isnan(self.freedom(n)):
            return None
        few = counted(self.clusters(n), "cluster")
        return f"{n:,} units in {few} leave fewer than {LEAST_DF} degrees of freedom"


ONE_BY_ONE = Drawing()


@dataclass(frozen=True)
class Widths:
    """Half width of an interval, with or without assurance.

    Without `assurance`, it is t SE, which half of the studies exceed. With it, it is the value that
    this share of the studies does not exceed: t SE sqrt(F), where F is the quantile of s²_n /
    s²_pilot, a ratio of two estimated variances. Each has the degrees of freedom of a chi-square
    with the variance due to its kurtosis K (Satterthwaite), nu_n = 2 / [(K - 3) / n + 2/(n - 1)].

    Attributes
    ----------
    level : float
        The level of the interval.
    assurance : float or None
        The share of studies.
    kurtosis : float
        K of the linearised values of the pilot's units, or of its clusters.
    n_pilot : float
        Number of units, or clusters, of the pilot.
    df_pilot : float
        Degrees of freedom of the pilot's t: n_pilot - 1, or Bell and McCaffrey's for clusters.
    """

    level: float
    assurance: float | None = None
    kurtosis: float = _NORMAL
    n_pilot: float = inf
    df_pilot: float = inf

    def half_width(self, variance: float, n: float, drawing: Drawing = ONE_BY_ONE) -> float:
        """Return the half width for n units, from their variance n SE².

        Return NaN if n units have no degrees of freedom for an interval.
        """
        from scipy.special import stdtrit

        df = drawing.freedom(n)
        wide = float(stdtrit(df, (1 + self.level) / 2) * np.sqrt(variance / n))
        if self.assurance is None or np.isnan(df):
            return wide
        return wide * self._more(drawing.clusters(n), df, self.assurance)

    def units_for(self, variance: float, half_width: float, drawing: Drawing = ONE_BY_ONE) -> int:
        """Return the smallest number of units with at most this half width."""

        def narrow(drawn: int) -> bool:
            return self.half_width(variance, drawn * drawing.size, drawing) <= half_width

        return least_units(narrow, drawing.size, option("half_width", half_width))

    def _more(self, drawn: float, df: float, share: float) -> float:
        """Return the factor by which the interval is wider than expected, at that share."""
        from scipy.special import fdtri

        pilot = self._freedom(self.n_pilot, self.df_pilot)
        return float(np.sqrt(fdtri(self._freedom(drawn, df), min(pilot, _MUCH), share)))

    def _freedom(self, n: float, df: float) -> float:
        wide = (self.kurtosis - 3) / n + 2 / df
        return min(_MUCH, 2 / wide) if wide > 0 else _MUCH


_MUCH = 1e9
"""Degrees of freedom at which a variance is treated as known."""


def least_units(enough: Callable[[int], bool], m: float, wish: str) -> int:
    """Return the smallest sufficient number of units, in clusters of m (1 without clusters)."""
    low, high = 2, MANY_UNITS
    if not enough(high):
        raise OptionError(f"{wish} takes more than {MANY_UNITS:,} units.")
    while low < high:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle + 1
    return ceil(low * m)


def shape_of(agreement: Agreement) -> tuple[float, float, float]:
    """Return the kurtosis K of the sampled values, their number, and the degrees of freedom of t.

    The values are those of units or clusters. K is 3 plus the unbiased G2 of the linearised values
    (or, if the coefficient has none, of the leave-one-out estimates), at least 1, and 3 for fewer
    than four values.
    """
    x, times = _drawn_values(agreement)
    n = float(times.sum())
    df = agreement.degrees_of_freedom if is_clustered(agreement) else n - 1
    off = x - float(times @ x) / n
    squares = float(times @ off**2) / n
    if n < 4 or not squares > 0:
        return _NORMAL, n, df
    excess = float(times @ off**4) / n / squares**2 - 3
    return max(1.0, 3 + (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * excess + 6)), n, df


def _drawn_values(agreement: Agreement) -> tuple[Floats, Floats]:
    """Return the linearised values with their multiplicities."""
    parts = agreement.parts
    if is_clustered(agreement):
        each = estimated(agreement.case, parts).deviations
        return each, np.ones(len(each))
    if parts.influence.size:
        counted = parts.counted > 0
        return parts.influence[counted], parts.counted[counted]
    values = jackknife(agreement).values.to_numpy(dtype=float)
    without: Floats = np.asarray(values[np.isfinite(values)], dtype=np.float64)
    return without, np.ones(len(without))


Variances: TypeAlias = dict[float | None, tuple[float, str]]
"""n SE² by number of raters, with its basis."""


class Seen(NamedTuple):
    """Result for one number of raters."""

    variance: float
    """n SE²."""
    ratings: float
    """Mean ratings per pairable unit: fewer than the raters if ratings are missing."""


_SPARSE = 0.5
"""Minimum share of the busiest rater's ratings; raters below it are sparse."""

_TOGETHER = 0.75
"""Minimum share of rated cells for raters who rate all units together."""

_MOST = 0.8
"""Minimum share of ratings by raters who are not sparse; below it, raters alternate."""

_THINNINGS = 20
"""Number of draws of ratings within units; each averages over all units."""

_POINTS = 6
"""Maximum number of rater counts to which the curve is fitted."""

_ALL_TRIED = 10
"""Largest number of raters up to which every number is tried if costs are compared."""


def unit_variance(agreement: Agreement) -> tuple[float, int]:
    """Return n SE², and n, the number of units of the standard error.

    Without a linearised standard error, that of the jackknife over units is used.
    """
    if agreement.parts.influence.size:
        n = int(agreement.degrees_of_freedom + 1)
        return agreement.standard_error**2 * n, n
    n = agreement.n_pairable_units
    if agreement.reason is not None:
        return float("nan"), n
    return jackknife(agreement).standard_error ** 2 * n, n


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


def pilot_clusters(agreement: Agreement) -> PilotClusters | None:
    """Return the clusters of a pilot, or None if its units were drawn one by one."""
    study, found = agreement.study, agreement.spread.clusters
    if study is None or agreement.case.sample is None:
        return None
    if found is None or not agreement.standard_error > 0:
        raise DataError(f"a plan in clusters needs their spread: {agreement.interval_reason}.")
    plain = score_part(agreement, replace(study, sampling=None))
    m = float(found.sizes @ found.sizes / found.sizes.sum())
    more = (agreement.standard_error / plain.standard_error) ** 2 - 1
    alike = max(0.0, more / (m - 1)) if m > 1 else 0.0
    mean = float(found.sizes.mean())
    shares = () if (found.sizes == mean).all() else tuple((found.sizes / mean).tolist())
    return PilotClusters(plain, Drawing(mean, shares), m, alike)


def variances_by_raters(
    agreement: Agreement,
    raters: Sequence[int] | None,
    n_resamples: int,
    generator: np.random.Generator,
) -> Variances:
    """Return n SE² for each number of raters, not increasing in that number.

    Warns
    -----
    SparseRatersWarning
        Some raters have so few ratings that they are left out.
    """
    own, _ = unit_variance(agreement)
    regular, together = _regular_raters(agreement)
    here = agreement.n_raters if together and regular.all() else ratings_a_unit(agreement)
    if raters is None or (regular.all() and list(raters) == [here]):
        return {here: (own, "pilot")}
    study = known_study(agreement, "other numbers of raters need to know")
    if not together:
        return _by_ratings(agreement, study, raters, min(n_resamples, _THINNINGS), generator)
    if not regular.all():
        _say_sparse(study, regular)
    return _by_choices(agreement, study, regular, raters, n_resamples, generator)


def affordable_raters(agreement: Agreement) -> list[int]:
    """Return the numbers of raters to compare by cost.

    They range from 2 to twice that of the pilot: all numbers to 10, some above. A pilot of two
    raters cannot be extrapolated.
    """
    regular, together = _regular_raters(agreement)
    study = known_study(agreement, "the best number of raters needs to know")
    sizes = np.bincount(study.unit_codes)
    most = int(regular.sum()) if together else int(np.median(sizes[sizes >= 2]))
    if most == 2:
        return [2]
    beyond = np.geomspace(_ALL_TRIED, 2 * most, _POINTS).round().astype(int).tolist()
    return sorted({*range(2, min(2 * most, _ALL_TRIED) + 1), *beyond * (2 * most > _ALL_TRIED)})


def take_turns(agreement: Agreement) -> bool:
    """Return whether raters alternate, so that a plan sets the ratings per unit."""
    return not _regular_raters(agreement)[1]


def _regular_raters(agreement: Agreement) -> tuple[npt.NDArray[np.bool_], bool]:
    """Return flags of the raters who are not sparse, and whether these rated all units together.

    If raters alternate, as in a crowd, nobody is left out. Without rater identities, all raters are
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
    if full and regular.sum() >= 2 and theirs >= _MOST * tally.n_ratings:
        return regular, True
    return everybody, False


def _say_sparse(study: Annotations, regular: npt.NDArray[np.bool_]) -> None:
    ratings = np.bincount(study.rater_codes, minlength=study.n_raters)
    sparse = np.flatnonzero(~regular)
    named = ", ".join(
        f"{shorten(study.raters[g])} with {ratings[g]:,} of {study.n_units:,} units"
        for g in sparse[:3]
    )
    more = f" and {len(sparse) - 3:,} more" if len(sparse) > 3 else ""
    warn(
        f"{counted(len(sparse), 'rater')} with fewer than half the ratings of the busiest left out "
        f"({named}{more}), because they do not show what one more rater adds; the pilot counts "
        f"as one of {int(regular.sum())} raters.",
        SparseRatersWarning,
    )


def ratings_a_unit(agreement: Agreement) -> float:
    """Return the mean number of ratings of pairable units, as an int if it is whole."""
    tally = agreement.tally
    m = tally.multiplicity * tally.pairable
    mean = float(m @ tally.pattern_ratings) / float(m.sum()) if m.any() else float("nan")
    return int(mean) if mean.is_integer() else mean


def _by_choices(
    agreement: Agreement,
    study: Annotations,
    regular: npt.NDArray[np.bool_],
    raters: Sequence[int],
    n_resamples: int,
    generator: np.random.Generator,
) -> Variances:
    """Return n SE² of the pilot's raters, of fewer of them, and of more."""
    able = np.flatnonzero(regular)
    most, whole = len(able), bool(regular.all())
    asked = {*raters, most} | (_some_numbers(most) if max(raters) > most else set())
    found, names = {}, {}
    for r in sorted(asked & set(range(2, most + 1))):
        names[r] = "pilot" if whole and r == most else "raters left out"
        if names[r] == "pilot":
            found[r] = Seen(unit_variance(agreement)[0], ratings_a_unit(agreement))
            continue
        chosen = _choices(able, r, n_resamples, generator, study.n_ratings)
        kept = (np.isin(study.rater_codes, some) for some in chosen)
        found[r] = _seen(agreement, study, kept, r, total=len(chosen))
    return _table(found, names, raters)


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


def _by_ratings(
    agreement: Agreement,
    study: Annotations,
    raters: Sequence[int],
    n_draws: int,
    generator: np.random.Generator,
) -> Variances:
    """Return n SE² by number of ratings per unit, if raters alternate."""
    sizes = np.bincount(study.unit_codes, minlength=study.n_units)
    pairable = sizes[sizes >= 2]
    most = int(np.median(pairable))
    asked = {*raters, most} | (_some_numbers(most) if max(raters) > most else set())
    found, names = {}, {}
    for r in sorted(asked & set(range(2, most + 1))):
        if (pairable == r).all():
            found[r], names[r] = Seen(unit_variance(agreement)[0], r), "pilot"
            continue
        kept = (_thinned(study, sizes, r, generator) for _ in range(n_draws))
        found[r] = _seen(agreement, study, kept, r, total=n_draws)
        names[r] = "ratings left out"
    return _table(found, names, raters)


def _thinned(
    study: Annotations, sizes: npt.NDArray[np.intp], r: int, generator: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Return flags of r random ratings of each unit that has at least r."""
    order = np.lexsort((generator.random(study.n_ratings), study.unit_codes))
    units = study.unit_codes[order]
    rank = np.arange(study.n_ratings) - (np.cumsum(sizes) - sizes)[units]
    kept = np.zeros(study.n_ratings, dtype=bool)
    kept[order[(rank < r) & (sizes[units] >= r)]] = True
    return kept


def _seen(
    agreement: Agreement,
    study: Annotations,
    kept: Iterable[npt.NDArray[np.bool_]],
    r: int,
    *,
    total: int,
) -> Seen:
    """Return the means over parts of the study; warn if n SE² is undefined or 0."""
    long = total * study.n_ratings > LONG_LOOP
    drawn = track(kept, total=total, what=f"{r} raters", long=long)
    parts = (score_part(agreement, study.take(some)) for some in drawn)
    pairs = [(unit_variance(part)[0], ratings_a_unit(part)) for part in parts]
    variances, ratings = np.array(pairs).T
    if np.isnan(variances).all():
        raise DataError(
            f"{r} raters of the pilot have no standard error, so nothing follows from it."
        )
    _say_degenerate(variances, r)
    return Seen(float(np.nanmean(variances)), float(np.nanmean(ratings)))


def _say_degenerate(found: npt.NDArray[np.float64], r: int) -> None:
    undefined = int(np.isnan(found).sum())
    perfect = int((found <= ROUNDING**2).sum())
    if not undefined + perfect:
        return
    said = [f"{undefined:,} without a standard error (left out)"] if undefined else []
    said += [f"{perfect:,} with one of 0 (they pull the mean down)"] if perfect else []
    warn(
        f"{r} raters of the pilot: of {counted(len(found), 'choice')} {', '.join(said)}; the pilot "
        f"is too small to say much of {r} raters.",
        UndefinedAgreementWarning,
    )


def _table(found: Mapping[int, Seen], names: Mapping[int, str], raters: Sequence[int]) -> Variances:
    """Return n SE² by number of raters: the observed values made monotone, or extrapolated."""
    most = max(found)
    if not found[most].variance > 0:
        raise DataError(
            f"{most} raters of the pilot have no standard error above 0, so nothing follows from "
            "it."
        )
    falling = _never_rising({r: seen.variance for r, seen in found.items()})
    each = found[most].ratings / most
    return {
        r: (falling[r], names[r])
        if r <= most
        else (extended([*found.values()], each * r), "extended")
        for r in raters
    }


def _never_rising(found: Mapping[int, float]) -> dict[int, float]:
    """Return n SE² made non-increasing in the number of raters, because one can leave raters out.

    The value of the largest number of raters, the unchanged pilot, is kept.
    """
    out: dict[int, float] = {}
    for r in sorted(found, reverse=True):
        out[r] = max(found[r], *out.values()) if out else found[r]
    return out


def extended(found: Sequence[Seen], ratings: float) -> float:
    """Return A + B / (ratings - 1), which equals the pilot's value at the pilot's ratings.

    B is fitted by least squares to the values of fewer ratings, with A, B >= 0: the value never
    increases with the ratings.
    """
    if len(found) < 2:
        raise DataError("a pilot of two raters cannot tell what more raters would bring.")
    pilot = max(found, key=lambda seen: seen.ratings)
    farther = np.array([1 / (seen.ratings - 1) - 1 / (pilot.ratings - 1) for seen in found])
    worse = np.array([seen.variance - pilot.variance for seen in found])
    most = pilot.variance * (pilot.ratings - 1)
    slope = float(np.clip(farther @ worse / (farther @ farther), 0, most))
    return pilot.variance - slope * (1 / (pilot.ratings - 1) - 1 / (ratings - 1))


def _some_numbers(most: int) -> set[int]:
    """Return the numbers of raters for the fit: all if few, else some with 2 and the maximum."""
    return set(np.geomspace(2, most, _POINTS).round().astype(int).tolist())


@dataclass(frozen=True)
class PlannedTest:
    """Test that a coefficient is above a threshold if its true value is the pilot's.

    The test succeeds if the lower bound of the interval with level ``2 level - 1`` is above the
    threshold. Let th = 1 - coefficient and th0 = 1 - threshold.

    The t interval succeeds if a noncentral t (n - 1 degrees of freedom, noncentrality (th0 - th) /
    SE) exceeds its quantile, computed as in Johnson and Welch (1940). The score interval succeeds
    if the estimate of th, normal about th with SE, is below th0 - sqrt(k (sig th0 + B th0²)), with
    the moments of the pilot and k proportional to n SE².

    The power is the smaller of the two probabilities.

    Attributes
    ----------
    threshold : float
        The value that the coefficient must exceed.
    level : float
        One-sided confidence level.
    th : float
        1 - coefficient of the pilot.
    score : Moments or None
        Moments of the pilot for the score interval; None for coefficients without one.
    variance : float
        n SE² of the pilot, to which that of a plan is relative.
    """

    threshold: float
    level: float
    th: float
    score: Moments | None
    variance: float

    def power(self, variance: float, n: float, drawing: Drawing = ONE_BY_ONE) -> float:
        """Return the power of n units, from their variance n SE².

        Return NaN if n units have no degrees of freedom for an interval.
        """
        from scipy.special import ndtr, ndtri, stdtrit

        df, error, th0 = drawing.freedom(n), sqrt(variance / n), 1 - self.threshold
        if isnan(df):
            return df
        t = float(stdtrit(df, self.level))
        ahead = (th0 - self.th) / error - t * (1 - 0.25 / df)
        by_t = float(ndtr(ahead / sqrt(1 + t * t / (2 * df))))
        if self.score is None:
            return by_t
        found, z = self.score, float(ndtri(self.level))
        p = min(1.0, found.Do / found.s)
        k = (z * z + 4 * p * (1 - p) * (t * t - z * z)) / n * variance / self.variance
        reach = sqrt(max(0.0, k * (found.s / found.E * th0 + found.B * th0 * th0)))
        return min(by_t, float(ndtr((th0 - reach - self.th) / error)))

    def units_for(self, variance: float, power: float, drawing: Drawing = ONE_BY_ONE) -> int:
        """Return the smallest number of units with at least this power."""

        def enough(drawn: int) -> bool:
            return self.power(variance, drawn * drawing.size, drawing) >= power

        return least_units(enough, drawing.size, option("power", power))


def planned_test(plain: Agreement, threshold: float, level: float, variance: float) -> PlannedTest:
    """Return the test of a plan, from a pilot treated as if its units were drawn one by one."""
    model: Any = plain.definition.model
    scored = moments(plain.case, model) if plain.best_method == "score" else None
    return PlannedTest(threshold, level, 1 - plain.estimate, scored, variance)


_GOALS = {
    "half_width": "how many units?",
    "units": "what interval?",
    "power": "how many units for a test?",
    "budget": "which units and raters?",
}
"""Options of which a plan takes one, with their meanings."""

_HALF_WIDTH, _POWER = 0.05, 0.8


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """The options of `plan`, which explains them."""

    half_width: float | None = None
    units: Sequence[int] | None = None
    raters: Sequence[int] | None = None
    units_per_cluster: Sequence[int] | None = None
    level: float = 0.95
    assurance: float | None = None
    at_least: float | None = None
    power: float | None = None
    cost_unit: float | None = None
    cost_rating: float | None = None
    budget: float | None = None

    @property
    def chooses(self) -> bool:
        """Whether numbers of raters are compared by cost."""
        return self.cost_rating is not None and self.units is None

    def cost(self, units: float, raters: float) -> float:
        """Return the cost of a number of units with a number of ratings each."""
        return units * ((self.cost_unit or 0) + raters * (self.cost_rating or 0))

    def affordable(self, raters: float) -> int:
        """Return the number of units that the budget covers."""
        return floor((self.budget or 0) / self.cost(1, raters) * (1 + 1e-12))


def checked(wishes: Wishes) -> Wishes:
    """Return the options with their defaults.

    Raises
    ------
    OptionError
        A number is out of range, or two options exclude each other.
    """
    check_level(wishes.level)
    _check_numbers(wishes)
    if (threshold := wishes.at_least) is not None and not -1 <= _number(threshold) < 1:
        raise OptionError(f"{option('at_least', threshold)} must be a number from -1 to below 1.")
    goals = [name for name in _GOALS if getattr(wishes, name) is not None]
    if len(goals) > 1:
        said = " or ".join(f"{option(name)} ({_GOALS[name]})" for name in goals[:2])
        raise OptionError(f"say {said}, not both.")
    _check_costs(wishes)
    if wishes.power is not None and wishes.at_least is None:
        return replace(wishes, at_least=0.0)
    if goals:
        return wishes
    if wishes.at_least is not None:
        return replace(wishes, power=_POWER)
    return replace(wishes, half_width=_HALF_WIDTH)


def _check_numbers(wishes: Wishes) -> None:
    for name in ("half_width", "assurance", "power"):
        share = getattr(wishes, name)
        if share is not None and not 0 < _number(share) < 1:
            raise OptionError(f"{option(name, share)} must lie between 0 and 1.")
    for name in ("units", "raters"):
        wanted = getattr(wishes, name)
        if wanted is not None and not _is_list_of_numbers(wanted, least=2):
            raise OptionError(
                f"{option(name, wanted)} must be a list of whole numbers of 2 or more."
            )
    sizes = wishes.units_per_cluster
    if sizes is not None and not _is_list_of_numbers(sizes, least=1):
        raise OptionError(
            f"{option('units_per_cluster', sizes)} must be a list of whole numbers above 0."
        )


def _check_costs(wishes: Wishes) -> None:
    for name, least in (("cost_unit", 0.0), ("cost_rating", 5e-324), ("budget", 5e-324)):
        cost = getattr(wishes, name)
        if cost is not None and not least <= _number(cost) < inf:
            which = "0 or more" if least == 0 else "above 0"
            raise OptionError(f"{option(name, cost)} must be a number {which}.")
    for name in ("cost_unit", "budget"):
        if getattr(wishes, name) is not None and wishes.cost_rating is None:
            raise OptionError(
                f"{option(name)} needs {option('cost_rating')}, what one rating costs."
            )


def _number(wanted: object) -> float:
    """Return a number as a float, or NaN if the input is not a finite number."""
    if isinstance(wanted, bool) or not isinstance(wanted, Real | np.floating):
        return float("nan")
    return float(wanted) if isfinite(wanted) else float("nan")


def _is_list_of_numbers(wanted: object, *, least: int) -> bool:
    if not isinstance(wanted, Sequence | np.ndarray) or not len(wanted):
        return False
    return all(isinstance(n, int | np.integer) and n >= least for n in wanted)
