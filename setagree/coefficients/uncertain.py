"""An estimate with its deviations: standard errors, differences and means, as units were drawn.

A unit, or a cluster, has one deviation, made of the linearised values x_i:

    units drawn alike   psi_i = (x_i - mean) / sqrt(n (n - 1))   Gwet (2014)
    clusters            psi_g = S_g / (n sqrt(1 - h_g))          CR2, Bell & McCaffrey (2002)
    sizes               psi_g = the same with sizes in the place of units
    weights, strata     u_i = w_i (x_i - mean) / sum w           Särndal, Swensson & Wretman (1992)

Var = sum psi², or sum_s (1 - n_s / N_s) n_s s²_u,s over strata. The deviations of a + b and of k a
are the sums and multiples of those of a and b, unit by unit. What shares units is thereby paired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from setagree.checks import Codes, Floats, cached_property
from setagree.coefficients.case import ROUNDING, dot
from setagree.coefficients.measured import SizedAlpha
from setagree.coefficients.sums import UnitSums, root, standard_error
from setagree.errors import DataError, counted, shorten
from setagree.study.sampling import Sample
from setagree.study.tally import Tally

LEAST_DF, _LEAST_WEIGHTED_DF = 2, 1
"""Degrees of freedom below which an interval of clusters, or of weighted units, is not given. With
at most one, t has no mean."""


@dataclass(frozen=True, eq=False)
class UncertainNumber:
    """A number with the deviation of each unit or cluster.

    Attributes
    ----------
    value : float
        The number.
    units : ndarray of int, shape (n,)
        Units, or clusters, as codes of one list. Sums are only defined for codes of the same list.
    deviations : ndarray of shape (n,)
        The deviation of each.
    degrees_of_freedom : float
        Of t.
    sample : Sample or None
        How the units of the list were drawn, if anything is given of that.
    drawn : ndarray of int, shape (n_strata,), or None
        Number of units of each stratum in the whole sample, if these units are a domain of it.
    """

    value: float
    units: Codes
    deviations: Floats
    degrees_of_freedom: float
    sample: Sample | None = None
    drawn: Codes | None = None

    def __mul__(self, k: float) -> UncertainNumber:
        return replace(self, value=k * self.value, deviations=k * self.deviations)

    def __add__(self, other: UncertainNumber) -> UncertainNumber:
        """Return the sum.

        Units drawn alike leave one degree of freedom less than there are units. Otherwise the sum
        has the fewer degrees of freedom of the two, and Welch's if they share no cluster.
        """
        n = 1 + max(int(each.units.max(initial=-1)) for each in (self, other))
        total, n_of_unit = np.zeros(n), np.zeros(n)
        for each in (self, other):
            total[each.units] += each.deviations
            n_of_unit[each.units] += 1
        units, dfs = np.flatnonzero(n_of_unit), [self.degrees_of_freedom, other.degrees_of_freedom]
        df = len(units) - 1.0 if self.sample is None else min(dfs)
        if self.sample is not None and self.sample.is_clustered and not (n_of_unit > 1).any():
            df = welch_df([self.variance, other.variance], dfs)
        return UncertainNumber(self.value + other.value, units, total[units], df, self.sample)

    def __sub__(self, other: UncertainNumber) -> UncertainNumber:
        return self + other * -1

    @cached_property
    def variance(self) -> float:
        """The variance; NaN if a stratum has one unit."""
        if self.sample is None or self.sample.is_clustered:
            return dot(self.deviations, self.deviations)
        # Var = c sum_s (1 - n_s / N_s) n_s s²_u,s over the n_s units drawn of each stratum, with
        # u = 0 for those outside the domain, whose size is random (Särndal, Swensson & Wretman
        # 1992, ch. 10). c = (m - p) / (m - 1) for m units of the domain, the share p of
        # the units drawn: 1 for a whole sample; of one stratum c makes Var the variance of the
        # domain's own units times 1 - n / N.
        if not len(self.deviations):
            return float("nan")
        (strata, n_strata), u, n = self._strata, self.deviations, self.n_drawn
        own, m = np.bincount(strata, minlength=n_strata), float(len(u))
        means = self.stratum_sums / np.maximum(own, 1)
        inside = np.bincount(strata, (u - means[strata]) ** 2, n_strata)
        squares = inside + own * means**2 * (1 - own / np.maximum(n, 1))
        f = np.minimum(n / self.sample.sizes, 1)
        each = (1 - f) * n / np.where(n == 1, np.nan, n - 1) * squares
        return (m - m / float(n.sum())) / max(m - 1, 1) * float(each[n > 0].sum())

    @property
    def standard_error(self) -> float:
        """The root of the variance, or 0 if that is rounding."""
        return float(root(np.asarray(self.variance)))

    @cached_property
    def n_drawn(self) -> Codes:
        """Number of units drawn of each stratum, 0 for a stratum outside the domain."""
        strata, n_strata = self._strata
        own = np.bincount(strata, minlength=n_strata)
        return own if self.drawn is None else np.maximum(own, self.drawn) * (own > 0)

    @property
    def stratum_sums(self) -> Floats:
        """The sum of the deviations in each stratum."""
        strata, n = self._strata
        return np.asarray(np.bincount(strata, self.deviations, n), dtype=np.float64)

    @property
    def _strata(self) -> tuple[Codes, int]:
        """The stratum of each unit, and the number of strata."""
        if self.sample is None or self.sample.groups is None:
            return 0 * self.units, 1
        return self.sample.groups[self.units], len(self.sample.names)


def uncertain_number(
    sums: UnitSums, places: Codes | None = None, sample: Sample | None = None
) -> UncertainNumber:
    """Return an estimate with its deviations; no units if the variance has no closed form.

    `places`, of shape (n_units,), are the codes of the study's units in a list that is common to
    several studies, and `sample` is how the units of that list were drawn. Default: its own.
    """
    case, (units, x) = sums.case, unit_values(sums)
    sample = case.sample if sample is None else sample
    at, n = units if places is None else places[units], len(x)
    if not n:
        return UncertainNumber(sums.estimate, at, x, float("nan"), sample)
    if sample is None:
        psi = (x - x.mean()) / np.sqrt(n * (n - 1)) if n > 1 else np.full(1, np.nan)
        return UncertainNumber(sums.estimate, at, psi, n - 1.0)
    w = sums.unit_weights[1][units]  # those of the sums that the values are of
    u = w * (x - dot(w, x) / w.sum()) / w.sum()
    if sample.is_clustered and sample.groups is not None:
        clusters, groups = np.unique(sample.groups[at], return_inverse=True)
        if sample.is_sized:
            mass = w
            if isinstance(sums, SizedAlpha) and sums.without_same_rater:
                mass = w * case.tally.pattern_ratings[patterns_of_units(case.tally)[units]]
            # Their mean is not the estimate if pairs of one rater are left out.
            u = w * (x - sums.estimate) / w.sum()
            found = cluster_deviations(groups, u, mass, mass)
        elif sample.cluster_strata is None:
            found = cluster_deviations(groups, u, w, w**2)
            known = sample.sizes if np.isfinite(sample.sizes).any() else None
            if known is not None:  # a finite population of clusters
                found = found[0] * np.sqrt(1 - len(clusters) / known), found[1]
        else:
            strata = sample.cluster_strata[clusters]
            found = stratified_deviations(groups, strata, u, w, sample.sizes)
        return UncertainNumber(sums.estimate, clusters, *found, sample)
    out = UncertainNumber(sums.estimate, at, u, float("nan"), sample)
    if case.drawn is not None:
        out = replace(out, drawn=np.array([case.drawn.get(name, 0) for name in sample.names]))
    # n_Kish - 1 degrees of freedom, less one for each further stratum.
    df = float(w.sum() ** 2 / dot(w, w) - (out.n_drawn > 0).sum())
    return replace(out, degrees_of_freedom=df)


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters of the units that count: their column, their numbers of units, their names."""

    by: str
    sizes: Floats
    names: np.ndarray

    @property
    def n(self) -> int:
        """Number of clusters."""
        return len(self.sizes)

    @property
    def largest_share(self) -> float:
        """Share of the units in the largest cluster."""
        return float(self.sizes.max() / self.sizes.sum())


@dataclass(frozen=True, eq=False)
class Spread:
    """A standard error with its degrees of freedom of t.

    `reason` explains a standard error of NaN, or of 0, by the way the units were drawn.
    """

    standard_error: float
    degrees_of_freedom: float
    reason: str | None = None
    clusters: Clusters | None = None


def standard_error_as_drawn(sums: UnitSums) -> Spread:
    """Return the standard error of an estimate. It is NaN for fewer than two units."""
    case, n = sums.case, float(sums.linearised.counted.sum())
    sample = case.sample
    if n < 2:
        return Spread(float("nan"), n - 1)
    if sample is None:
        return Spread(standard_error(sums), n - 1)
    out = uncertain_number(sums)
    df, clusters, reason = out.degrees_of_freedom, None, None
    if sample.is_clustered and sample.groups is not None:
        at = unit_values(sums)[0]
        w = case.pairable_weights[at] if sample.is_sized else np.ones(len(at))
        sizes = np.bincount(sample.groups[at], w)[out.units]
        clusters = Clusters(sample.by, sizes.astype(np.float64), sample.names[out.units])
        if clusters.n == 1:
            reason = f"all units are in one cluster ({sample.by} {shorten(clusters.names[0])})"
        elif len(out.units) >= sample.sizes.sum():
            return Spread(0.0, df, "All clusters of the population were rated")
        elif df < LEAST_DF * (1 - ROUNDING):
            n_clusters = counted(clusters.n, "cluster")
            reason = f"{n_clusters} of such sizes leave {df:.2f} degrees of freedom"
    elif ((drawn := out.n_drawn) == 1).any():
        alone = shorten(sample.names[drawn == 1][0])
        reason = f"stratum {alone} has one unit that counts, which shows no spread"
    elif (drawn >= sample.sizes)[drawn > 0].all():
        return Spread(0.0, df, "All units of the population were rated, so that none is a sample")
    elif df <= 0 or (sample.weights is not None and df < _LEAST_WEIGHTED_DF):
        n_units = counted(len(out.units), "unit")
        reason = f"{n_units} with such weights leave {max(df, 0):.2g} degrees of freedom"
        if len(out.units) <= (drawn > 0).sum():
            reason = f"{n_units} of as many strata leave no degrees of freedom"
    return Spread(out.standard_error if reason is None else float("nan"), df, reason, clusters)


def unit_values(sums: UnitSums) -> tuple[Codes, Floats]:
    """Return the positions of the units that count, and their linearised values.

    None count if the estimate is undefined.
    """
    x, counted_ = sums.linearised.values, sums.linearised.counted > 0
    if not len(x):
        return np.zeros(0, dtype=np.int64), x
    if not sums.linearised.by_unit:
        patterns = patterns_of_units(sums.case.tally)
        x, counted_ = x[patterns], counted_[patterns]
    units = np.flatnonzero(counted_)
    return units, x[units]


def patterns_of_units(tally: Tally) -> Codes:
    """Return the pattern of each unit. Units without identifiers are listed pattern by pattern.

    Raise DataError if the tally has fractional units.
    """
    if tally.unit_patterns is not None:
        return tally.unit_patterns
    times = tally.multiplicity.astype(np.intp)
    if (times != tally.multiplicity).any():
        raise DataError("units that count by fractions cannot be resampled.")
    return np.repeat(np.arange(tally.n_patterns), times)


def cluster_deviations(
    groups: Codes, u: Floats, mass: Floats, squares: Floats
) -> tuple[Floats, float]:
    """Return sqrt(c_g) (S_g - h_g sum S) of each cluster, and its degrees of freedom of t.

    Sums over the units of a cluster are S_g = sum u_i, its share h_g of the mass of all, and Q_g,
    of the squares, which is the variance of S_g but for a factor. With Q the sum of Q_g,

        c_g = Q_g / (Q_g (1 - 2 h_g) + h_g² Q),    df = Q² / sum_gh c_g c_h C_gh²,
        C_gh = [g = h] Q_g - Q_g h_h - h_g Q_h + h_g h_h Q,

    so that the sum of the squares is unbiased if units have equal variances. If Q_g and h_g are
    proportional this is CR2: c_g = 1 / (1 - h_g) (Bell & McCaffrey 2002). Clusters without a mass
    are left out. NaN for one cluster.
    """
    sums = [np.bincount(groups, each).astype(np.float64) for each in (u, mass, squares)]
    S, N_g, Q_g = (each[sums[1] > 0] for each in sums)
    h, Q = N_g / N_g.sum(), Q_g.sum()
    rest = Q_g * (1 - 2 * h) + h**2 * Q
    if not (rest > ROUNDING * Q).all():
        return np.full(len(Q_g), np.nan), 0.0
    c = Q_g / rest
    # sum_gh c_g c_h C_gh² with C_gh = Q h_g h_h - Q_g h_h - h_g Q_h off the diagonal, multiplied
    # out; on the diagonal c_g C_gg = Q_g.
    qq, qh, hh = dot(c * Q_g, Q_g), dot(c * Q_g, h), dot(c * h, h)
    total = 2 * qq * hh + 2 * qh**2 + Q**2 * hh**2 - 4 * Q * qh * hh
    off_diagonal = c * (Q * h**2 - 2 * Q_g * h)
    total += dot(Q_g, Q_g) - dot(off_diagonal, off_diagonal)
    return np.sqrt(c) * (S - h * S.sum()), float(Q**2 / total)


def stratified_deviations(
    groups: Codes, strata: Codes, u: Floats, w: Floats, sizes: Floats
) -> tuple[Floats, float]:
    """Return the deviation of each cluster drawn from strata, and its degrees of freedom of t.

    The deviation is sqrt(k_s) (S_g - mean of S in stratum s) with S_g = sum u_i, k_s = (1 - f_s)
    G_s / (G_s - 1) and f_s = G_s / N_s the share of the stratum's clusters that was drawn.
    Satterthwaite's degrees of freedom take Var S_g = Q_g = sum w_i²:

        df = [sum_s (1 - f_s) sum_g Q_g]² / T,
        T = sum_s k_s² {sum_g [Q_g (1 - 1/G_s)]² + [(sum_g Q_g)² - sum_g Q_g²] / G_s²}.
    """
    S, Q_g, G = np.bincount(groups, u), np.bincount(groups, w**2), np.bincount(strata)
    n_strata = len(G)
    f = np.minimum(G / sizes[:n_strata], 1)
    k = (1 - f) * G / np.where(G > 1, G - 1, np.nan)
    means = np.bincount(strata, S, n_strata) / np.maximum(G, 1)
    squares, totals = np.bincount(strata, Q_g**2, n_strata), np.bincount(strata, Q_g, n_strata)
    with np.errstate(invalid="ignore", divide="ignore"):
        T = k**2 * ((1 - 1 / G) ** 2 * squares + (totals**2 - squares) / G**2)
    used = G > 0
    df = float(((1 - f) * totals)[used].sum() ** 2 / T[used].sum())
    return np.sqrt(k)[strata] * (S - means[strata]), df


def jackknife_variance(values: Floats) -> Any:
    """Return (n - 1) / n sum (value - mean)² of n leave-one-out estimates, or of each column."""
    return (len(values) - 1) * values.var(axis=0)


def welch_df(variances: Sequence[float], dfs: Sequence[float]) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of variances; NaN without any spread."""
    terms = sum(v**2 / df for v, df in zip(variances, dfs, strict=True) if df > 0)
    return sum(variances) ** 2 / terms if terms > 0 else float("nan")


def units_drawn(sums: UnitSums) -> Mapping[Any, int] | None:
    """Return the number of units of each stratum (or in all) that count, or None if unknown."""
    case = sums.case
    sample = case.sample
    if case.drawn is not None or sample is None or sample.is_clustered:
        return case.drawn
    return dict(zip(sample.names, uncertain_number(sums).n_drawn.tolist(), strict=True))
