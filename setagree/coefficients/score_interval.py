"""The score interval, from the observed and the chance disagreement together, and its p-value.

The t interval rests on a standard error that small studies with high agreement or rare labels
underestimate, up to 0 without any disagreement. The score interval solves

    (Do / De - th)² = k (sig th + B th²),    k = q(z) / n,    q(z) = z² + 4 p (1 - p) (t(z)² - z²)

for th = 1 - coefficient: Wilson's idea in Do, Fieller's in De, with the null variance of
disagreement - th x chance. Half a disagreement drawn from the urn is added to the observed ones, so
that the interval is defined without any disagreement, too. Where units were drawn in clusters,
clusters take the place of units; sampling weights count in every mean. The p-value of a coefficient
a0 is the smallest a at which a0 lies outside the interval of level 1 - a.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, inf, log, nan, pi, sqrt

import numpy as np

from setagree.checks import Floats
from setagree.coefficients.case import Case, dot
from setagree.coefficients.chance_models import NoChance, Urn
from setagree.coefficients.sums import UnitSums
from setagree.coefficients.tails import (
    log_t_density,
    normal_quantile,
    normal_tail,
    t_quantile,
    t_tail,
)

_PSEUDO = 0.5
"""Weight of the disagreement from the urn that is added, and the shift of the lower root."""

_LARGEST_Z, _LEAST_SF = 37.0, 1e-300
"""Normal quantile beyond which p-values are not told apart, and the least tail probability."""


@dataclass(frozen=True, eq=False)
class ScoreInterval:
    """The score interval of a study, and its p-value, which never contradicts it.

    All distances are shares of d_max.

    Attributes
    ----------
    n : float
        Units: pairable ones if ratings count, rated ones if units count; or their clusters.
    df : float
        Degrees of freedom of t: n - 1, with weights those of n_Kish = (sum w)² / sum w².
    Do, De, E : float
        Observed and chance disagreement, and the latter without a correction for small samples.
    s : float
        sum del² / sum del: what one disagreement weighs.
    B : float
        The curvature 1 - 2 c / E + Var(psi) / E², with c = sum del psi / sum del.
    v0 : float
        n times the variance of Do / De if answers are drawn by chance; 0 if a coefficient of 0 is
        not what one urn gives (Gwet's AC, Brennan-Prediger, Conger) or units have one answer each.
    standard_error, t_df : float
        Of the coefficient's t interval, above whose low end that of the score interval never lies;
        without a standard error above 0 there is no such bound.
    least : float or None
        The smallest value of the coefficient, or None if it has none.
    """

    n: float
    df: float
    Do: float
    De: float
    E: float
    s: float
    B: float
    v0: float
    standard_error: float
    t_df: float
    least: float | None

    @property
    def estimate(self) -> float:
        """The coefficient."""
        return 1 - self.th

    @property
    def th(self) -> float:
        """Do / De, 1 less the coefficient."""
        return self.Do / self.De

    @property
    def sig(self) -> float:
        """The slope of the null variance in th."""
        return self.s / self.E

    @property
    def of_t(self) -> float:
        """4 p (1 - p), the weight of t in q, with p = min(1, Do / s)."""
        p = min(1.0, self.Do / self.s)
        return 4 * p * (1 - p)

    @property
    def shifted(self) -> float:
        """Th' = th - sig / (2 n sqrt(x)), for the lower root, with x = n Do / s."""
        x = self.n * self.Do / self.s
        return max(0.0, self.th - _PSEUDO * self.sig / (self.n * sqrt(x))) if x > 0 else 0.0

    def q(self, z: float) -> float:
        """Return q(z) = z² + 4 p (1 - p) (t(z)² - z²), with t(z) the quantile of t at sf(z)."""
        if (c := self.of_t) == 0:
            return z * z
        t = t_of(z, self.df)
        return z * z + c * (t * t - z * z)  # t ** 2 raises an error if it overflows

    def z_of(self, q: float) -> float:
        """Return the z in [0, 37] at which q(z) is `q`.

        By Newton's method on log q and log t, q = (1 - c) z(t)² + c t² with c the weight of t:
        z(t), unlike its inverse, is computed to the last digit.
        """
        c, df, least = self.of_t, self.df, sqrt(q)  # q(z) >= z²
        if c == 0 or least == 0 or (least > _LARGEST_Z and self.q(_LARGEST_Z) <= q):
            return min(least, _LARGEST_Z)
        low, high, t = least, sqrt(q / c), least
        for _ in range(100):
            z = z_of_t(t, df)
            found = (1 - c) * z * z + c * t * t
            low, high = (t, high) if found < q else (low, t)
            # dz/dt = f(t) / phi(z), of the densities of t and of the normal distribution
            dz = exp(log_t_density(df, t) + (z * z + log(2 * pi)) / 2)
            slope = 2 * (1 - c) * z * dz + 2 * c * t
            step = t * exp((log(q) - log(found)) * found / (t * slope)) if slope > 0 else high
            step = step if low <= step <= high else (low + high) / 2
            if abs(step - t) <= 1e-8 * t:
                return z + dz * (step - t)
            t = step
        return z

    def roots(self, q: float) -> tuple[float, float]:
        """Return the ends of the interval for k = q / n, before any cut.

        The larger root of A x² - (2 th + k sig) x + th² = 0 with A = 1 - k B gives the low end, the
        smaller root, of the equation in th', the high end.
        """
        k, th = q / self.n, self.th
        A, b = 1 - k * self.B, 2 * th + k * self.sig
        upper = (b + sqrt(max(0.0, b * b - 4 * A * th * th))) / (2 * A) if A > 1e-9 else inf
        lower, th = 0.0, self.shifted
        if th > 0:
            b = 2 * th + k * self.sig
            lower = 2 * th * th / (b + sqrt(max(0.0, b * b - 4 * A * th * th)))
        return 1 - upper, 1 - lower

    def interval(self, level: float) -> tuple[float, float]:
        """Return the ends of the interval of a level."""
        return self.at(z_of_level(level))

    def at(self, z: float) -> tuple[float, float]:
        """Return the ends of the interval of the level 1 - 2 sf(z)."""
        low, high = self.roots(self.q(z))
        if self.standard_error > 0:
            low = min(low, self.estimate - t_of(z, self.t_df) * self.standard_error)
        if high < 0 and self.z_against() < z:  # the variance of chance is the larger one
            high = 0.0
        return self._cut(low), high

    def at_q(self, q: float) -> tuple[float, float]:
        """Return the ends for a given q, as sequential monitoring has it.

        A low end above 0 is 0 if the variance of chance does not exclude 0. Without this it was
        above a true 0 at some look of 10% to 31% of simulated sequences, with it of 1%. If the
        estimate is below 1/3, V(T) of the low end is (1 - w) V(T) + w T (v0 + 1 - T), w = min(1, 1
        - 3 estimate), in part the variance of units that all raters know or all guess. Without this
        the low end was above a true 0.1 of label sets at some look of 9% to 14%, with it of 1%.
        """
        low, high = self.roots(q)
        if low > 0 and self.n * (1 - self.th) ** 2 <= q * max(self.sig + self.B, self.v0):
            low = 0.0
        if (w := min(1.0, 1 - 3 * self.estimate)) > 0:
            slope, B = (1 - w) * self.sig + w * (self.v0 + 1), (1 - w) * self.B - w
            low = min(low, replace(self, s=self.E * slope, B=B).roots(q)[0])
        return self._cut(low), high

    def _cut(self, low: float) -> float:
        # If all units disagree alike, V(th) may be below 0, and the root above the estimate.
        low = min(low, self.estimate)
        return max(low, min(self.estimate, -1.0) if self.least is None else self.least)

    def z_against(self, value: float = 0.0, *, chance: bool = True) -> float:
        """Return z of the test of H0: coefficient = value; 2 sf(z) is the p-value.

        With T = 1 - value and V(T) = sig T + B T², the ends of the interval cross `value` where
        q(z) = n (T - th)² / V(T), th' for th if the estimate is below it. Below 0, V is at least
        v0 if `chance`. Above, z is at most that of the t interval.
        """
        T = 1 - value
        V = self.sig * T + self.B * T * T
        if self.th < T:
            z = self.z_of(self.n * (T - self.th) ** 2 / V) if V > 0 else _LARGEST_Z
            if self.standard_error > 0:
                z = min(z, z_of_t((T - self.th) / self.standard_error, self.t_df))
            return z
        if value == 0 and chance:
            V = max(V, self.v0)
        if self.shifted <= T:
            return 0.0
        return self.z_of(self.n * (self.shifted - T) ** 2 / V) if V > 0 else _LARGEST_Z

    def p_value(self, value: float = 0.0) -> float:
        """Return the two-sided p-value of H0: coefficient = value."""
        return two_sided(self.z_against(value))


def z_of_level(level: float) -> float:
    """Return the normal quantile of a two-sided level."""
    return -normal_quantile((1 + level) / 2)


def two_sided(z: float) -> float:
    """Return 2 sf(z), the two-sided p-value of a normal quantile z >= 0."""
    return min(1.0, 2 * normal_tail(z))


def t_of(z: float, df: float) -> float:
    """Return the quantile of t with as much above it as the normal distribution has above z."""
    return t_quantile(df, normal_tail(z))


def z_of_t(t: float, df: float) -> float:
    """Return the normal quantile with as much above it as t with `df` degrees has above t."""
    return normal_quantile(max(t_tail(df, t), _LEAST_SF))


def score_interval(
    whole: UnitSums, standard_error: float = nan, t_df: float = nan
) -> ScoreInterval | None:
    """Return the score interval of a coefficient, or None if it is undefined.

    The standard error and the degrees of freedom are those of its t interval.

    With the features of units (see `sums`), ratio = n' / M (n' the units that count, by weight) and
    y_i = c_i' F X / (r_i P), the linearised values of x = O / M and of y without its small-sample
    correction, E = y (1 - own / P²), are

        del_i = x + ratio (O_i - x M_i),
        psi_i = E + 2 m_i (y_i - E),    m_i = ratio M_i if ratings count, 1 if units do;

    psi_i = E if chance is fixed. What one disagreement from the urn weighs rests on the shares of
    the answers, pi, and e = F pi, whatever the chance model is.
    """
    case, model, by_ratings = whole.case, whole.model, whole.model.weigh == "ratings"
    tally, urn = case.tally, Urn(model.weigh)
    if whole.undefined is not None or tally.n_pairable_units < 2:
        return None
    pi = whole.urn / whole.urn.sum()
    e = whole.to_values / whole.urn.sum() if model == urn else urn.form_dot(case, pi)
    apart = dot(pi, e)
    if not urn.rounding(case, pi) < apart:
        return None
    S, (f, _), y, y_i = whole.totals, whole.of_patterns, whole.y, whole.y_i
    x, E = float(S.O / S.M), float(y * (1 - S.own / S.P**2))
    ratio = 1 / whole.rbar if by_ratings else S.P / S.M
    delta = x + ratio * (f.O - x * f.M)
    if whole.linearised.by_unit:
        delta = delta[tally.unit_patterns]
    share: Floats | float = ratio * f.M if by_ratings else 1.0
    psi = np.full(len(delta), E) if y_i is None else E + 2 * share * (y_i - E)
    drawn = _as_drawn(case, x, E, delta, psi, whole.linearised.counted)
    if drawn is None:
        return None
    delta, psi, m, df, pseudo = drawn
    n, M2, S2 = float(m.sum()), case.weights.squares(pi), dot(pi, e * e)
    # s0 = sum del² / sum del, and c0 = sum del psi / sum del, of a unit of rb answers from the urn
    mass = case.pairable_mass * tally.pairable
    rb = dot(mass, tally.pattern_ratings) / float(mass.sum())
    pairs = rb * (rb - 1) / 2
    s0 = (M2 + 2 * (rb - 2) * S2 + (pairs - 1 - 2 * (rb - 2)) * apart**2) / (pairs * apart)
    s0 *= pseudo * float(S.P / S.M)
    psi_k = np.full(len(pi), E)
    if not model.fixed:
        has_urn = isinstance(model, Urn)
        psi_k = 2 * (whole.to_values / S.P if has_urn else model.of_values(case)) - E
    c0 = dot(pi * e, psi_k) / apart
    seen = dot(m, delta) + _PSEUDO * s0
    s = (dot(m, delta * delta) + _PSEUDO * s0**2) / seen
    c = (dot(m, delta * psi) + _PSEUDO * s0 * c0) / seen
    V = dot(m, psi * psi) / n - E * E
    v0 = 0.0
    if type(model) is Urn:  # the variance of Do / De if all answers are drawn from the urn
        v0 = n * _chance_variance(whole, E, M2 - 2 * S2 + apart**2)
    # Without a chance term 0 is the least value; the others have none.
    least = 0.0 if isinstance(model, NoChance) else None
    B = 1 - 2 * c / E + V / E**2
    return ScoreInterval(n, df, x, y, E, s, B, v0, standard_error, t_df, least)


def _chance_variance(whole: UnitSums, E: float, M: float) -> float:
    """Return the variance of Do / De if all answers are drawn from the urn.

    sum w_i² a_i M / (mass E)² over pairable units, with M = sum_kl pi_k pi_l (d_kl - e_k - e_l +
    E)² = M2 - 2 S2 + E². If ratings count (alpha), a_i = 2 r_i / (r_i - 1) and the mass is sum w r;
    if units count (Fleiss, Scott), a_i = 2 / (r_i (r_i - 1)) and the mass is sum w.
    """
    case, f = whole.case, whole.of_patterns[0]
    r = case.tally.pattern_ratings
    a = 2 * f.M**2 / np.maximum(r * (r - 1), 1)
    return dot(case.squared_mass, a) * M / (float(whole.totals.M) * E) ** 2


def _as_drawn(
    case: Case, Do: float, E: float, delta: Floats, psi: Floats, m: Floats
) -> tuple[Floats, Floats, Floats, float, float] | None:
    """Return del and psi of the sampled entities: patterns of units, weighted units or clusters.

    Then how often each entity counts, the degrees of freedom of t and the factor of s0. None if all
    units are in one cluster. `delta` and `psi` are those of patterns or units, of which `m` count.
    del_g = Do + (G/n) sum_{i in g} (del_i - Do) over G clusters, del_i = Do + w_i (del_i - Do) with
    weights of mean 1; psi alike.
    """
    sample, patterns = case.sample, case.tally.unit_patterns
    if sample is None or patterns is None:
        return delta, psi, m, float(m.sum()) - 1, 1.0
    of_unit = slice(None) if len(m) == len(patterns) else patterns
    units = np.flatnonzero(m[of_unit])
    n, delta, psi = len(units), delta[of_unit][units] - Do, psi[of_unit][units] - E
    if not sample.is_clustered:
        w = case.unit_weights[units]
        w = w / w.mean()
        df = n**2 / float(w @ w) - 1
        return Do + w * delta, E + w * psi, np.ones(n), df, float(w @ w) / n
    groups = np.unique(case.clusters[0][units], return_inverse=True)[1]
    sizes = np.bincount(groups)
    G = len(sizes)
    if G == 1:
        return None
    sums = [np.asarray(G / n * np.bincount(groups, x)) for x in (delta, psi)]
    pseudo = float(sizes @ sizes) / n * G / n
    return Do + sums[0], E + sums[1], np.ones(G), G - 1.0, pseudo
