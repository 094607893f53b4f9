"""The kappas: one observed agreement, several models of chance. Gwet 2014, chapters 2 to 5.

Inside, everything is disagreement as a share of d_max: x = 1 - pa and y = 1 - pe. Agreements near 1
keep their digits so, and the estimate is 1 - x / y.
"""

from __future__ import annotations

import numpy as np

from setagree.coefficients.chance import (
    NOTHING,
    Case,
    Estimate,
    Floats,
    rated_shares,
    reach,
    undefined_estimate,
)
from setagree.coefficients.within_raters import spread_within_raters
from setagree.tally import dot
from setagree.weights.base import Weights


def fleiss_kappa(case: Case) -> Estimate:
    """Return Fleiss' kappa: pe = pi' W pi (two raters: Scott's pi)."""
    tally, weights = case.tally, case.weights
    shares = rated_shares(tally)
    spread = weights.distance_dot(shares) / weights.max_distance
    return _corrected(case, dot(shares, spread), tally.pattern_means(spread))


def gwet_ac(case: Case) -> Estimate:
    """Return Gwet's AC1 or AC2: pe = T_w / (K (K - 1)) sum_k pi_k (1 - pi_k)."""
    tally, weights = case.tally, case.weights
    shares, scale = rated_shares(tally), ac_scale(weights)
    y = 1 - scale * dot(shares, 1 - shares)
    return _corrected(case, y, 1 - scale * tally.pattern_means(1 - shares))


def brennan_prediger(case: Case) -> Estimate:
    """Return the Brennan-Prediger coefficient: pe = T_w / K²."""
    return _corrected(case, uniform_chance(case.weights), None)


def ac_scale(weights: Weights) -> float:
    """Return T_w / (K (K - 1)), nan for one value."""
    K = weights.n_values
    credit_total = K * K - weights.distance_total / weights.max_distance
    return credit_total / (K * (K - 1)) if K > 1 else float("nan")


def uniform_chance(weights: Weights) -> float:
    """Return 1 - T_w / K², the chance disagreement where all values are equally likely."""
    return weights.distance_total / weights.max_distance / weights.n_values**2


def percent_agreement(case: Case) -> Estimate:
    """Return the observed agreement pa, uncorrected: pe = 0."""
    return _corrected(case, 1.0, None)


def conger_kappa(case: Case) -> Estimate:
    """Return Conger's kappa (two raters: Cohen's), where every rater g has shares p_g of their own.

    pe = sum_kl w_kl (pbar_k pbar_l - s2_kl / r), which is the mean of p_g' W p_h over ordered pairs
    of different raters; z_g = sum_{h != g} D p_h / d_max is needed at the values that g gave only.
    """
    rated, weights, n = case.rated, case.weights, case.tally.n_units
    r, g, v = rated.n_raters, rated.rater_codes, rated.value_codes
    if r < 2:
        return undefined_estimate(case, observed=np.nan, expected=np.nan)
    one = (1 / rated.ratings)[g]
    each = rated.times * one
    shares = np.bincount(v, each, weights.n_values).astype(np.float64)
    spread = weights.distance_dot(shares)
    z = (spread[v] - spread_within_raters(rated, weights)) / weights.max_distance
    z_mean = np.bincount(g, z * each, r)
    y = float(z_mean.sum()) / (r * (r - 1))
    # Linearised: sum_g n/n_g 1[g rated i] (z_g(v_ig) - mean of z_g), around the mean.
    gap = (z - z_mean[g]) * n * one
    y_i = y + np.bincount(rated.row_codes, gap, len(rated.row_times)) / (r * (r - 1))
    return _corrected(case, y, y_i, by_unit=case.study is not None)


def _corrected(case: Case, y: float, y_i: Floats | None, *, by_unit: bool = False) -> Estimate:
    """Return 1 - x / y with its linearised values.

    kappa_i = (n/n') (pa_i - pe 1[pairable]) / (1 - pe), and
    kappa*_i = kappa_i - 2 (1 - kappa) (pe_i - pe) / (1 - pe); y_i = 1 - pe_i, None where pe is
    fixed.
    """
    tally, d_max = case.tally, case.weights.max_distance
    x_i, used, m = case.mean_disagreement, tally.pairable, tally.multiplicity
    n, n_pairable = tally.n_units, tally.n_pairable_units
    x = dot(m[used], x_i[used]) / n_pairable if n_pairable else np.nan
    # One unit cannot show what chance would do, unless chance is fixed beforehand.
    nothing = NOTHING * reach(case.weights, tally.value_totals(m)) / d_max
    if not n_pairable or not y > nothing or (n == 1 and y_i is not None):
        return undefined_estimate(case, observed=x * d_max, expected=y * d_max)
    if by_unit:
        patterns = tally.unit_patterns
        x_i, used, m = x_i[patterns], used[patterns], np.ones(n)
    kappa = 1 - x / y
    influence = np.where(used, n / n_pairable * (1 - x_i / y), 0.0)
    if y_i is not None:
        influence = influence + 2 * (1 - kappa) * (y_i - y) / y
    return Estimate(kappa, 1 - x, 1 - y, x * d_max, y * d_max, influence, m, by_unit=by_unit)
