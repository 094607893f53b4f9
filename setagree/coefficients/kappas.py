"""The kappas: one observed agreement, several models of chance. Gwet 2014, chapters 2 to 5.

Inside, everything is disagreement as a share of d_max: x = 1 - pa and y = 1 - pe. Agreements near 1
keep their digits so, and the estimate is 1 - x / y.
"""

from __future__ import annotations

import numpy as np

from setagree.annotations import Annotations
from setagree.coefficients.chance import (
    NOTHING,
    Estimate,
    Floats,
    pattern_disagreement,
    rated_shares,
    undefined_estimate,
)
from setagree.coefficients.within_raters import spread_within_raters
from setagree.tally import Tally
from setagree.weights.base import Weights


def fleiss_kappa(tally: Tally, weights: Weights) -> Estimate:
    """Return Fleiss' kappa: pe = pi' W pi (two raters: Scott's pi)."""
    shares = rated_shares(tally)
    spread = weights.distance_dot(shares) / weights.max_distance
    return _corrected(tally, weights, float(shares @ spread), tally.pattern_means(spread))


def gwet_ac(tally: Tally, weights: Weights) -> Estimate:
    """Return Gwet's AC1 or AC2: pe = T_w / (K (K - 1)) sum_k pi_k (1 - pi_k)."""
    K = weights.n_values
    shares = rated_shares(tally)
    credit_total = K * K - weights.distance_total / weights.max_distance
    scale = credit_total / (K * (K - 1)) if K > 1 else np.nan
    y = 1 - scale * float(shares @ (1 - shares))
    return _corrected(tally, weights, y, 1 - scale * tally.pattern_means(1 - shares))


def brennan_prediger(tally: Tally, weights: Weights) -> Estimate:
    """Return the Brennan-Prediger coefficient: pe = T_w / K²."""
    return _corrected(
        tally, weights, weights.distance_total / weights.max_distance / weights.n_values**2, None
    )


def percent_agreement(tally: Tally, weights: Weights) -> Estimate:
    """Return the observed agreement pa, uncorrected: pe = 0."""
    return _corrected(tally, weights, 1.0, None)


def conger_kappa(study: Annotations, tally: Tally, weights: Weights) -> Estimate:
    """Return Conger's kappa (two raters: Cohen's), where every rater g has shares p_g of their own.

    pe = sum_kl w_kl (pbar_k pbar_l - s2_kl / r), which is the mean of p_g' W p_h over ordered pairs
    of different raters; z_g = sum_{h != g} D p_h / d_max is needed at the values that g gave only.
    """
    r, n = study.n_raters, study.n_units
    if r < 2:
        return undefined_estimate(tally, observed=np.nan, expected=np.nan, d_max=1.0)
    ratings = np.bincount(study.rater_codes, minlength=r)
    each = (1 / ratings)[study.rater_codes]
    spread = weights.distance_dot(np.bincount(study.value_codes, each, study.n_values))
    z = (spread[study.value_codes] - spread_within_raters(study, weights)) / weights.max_distance
    z_mean = np.bincount(study.rater_codes, z * each, r)
    y = float(z_mean.sum()) / (r * (r - 1))
    # Linearised: sum_g n/n_g 1[g rated i] (z_g(v_ig) - mean of z_g), around the mean.
    gap = (z - z_mean[study.rater_codes]) * n * each
    y_i = y + np.bincount(study.unit_codes, gap, n) / (r * (r - 1))
    return _corrected(tally, weights, y, y_i, by_unit=True)


def _corrected(
    tally: Tally, weights: Weights, y: float, y_i: Floats | None, *, by_unit: bool = False
) -> Estimate:
    """Return 1 - x / y with its linearised values.

    kappa_i = (n/n') (pa_i - pe 1[pairable]) / (1 - pe), and
    kappa*_i = kappa_i - 2 (1 - kappa) (pe_i - pe) / (1 - pe); y_i = 1 - pe_i, None where pe is fixed.
    """
    d_max = weights.max_distance
    r, used, m = tally.pattern_ratings, tally.pairable, tally.multiplicity
    x_i = pattern_disagreement(tally, weights) / (d_max * np.where(used, r * (r - 1), 1))
    n, n_pairable = tally.n_units, tally.n_pairable_units
    x = float(m[used] @ x_i[used]) / n_pairable if n_pairable else np.nan
    if not n_pairable or not y > NOTHING:
        return undefined_estimate(tally, observed=x * d_max, expected=y * d_max, d_max=d_max)
    if by_unit:
        x_i, used, m = (part[tally.unit_patterns] for part in (x_i, used, m))
        m = np.ones(n)
    kappa = 1 - x / y
    influence = np.where(used, n / n_pairable * (1 - x_i / y), 0.0)
    if y_i is not None:
        influence = influence + 2 * (1 - kappa) * (y_i - y) / y
    return Estimate(kappa, 1 - x, 1 - y, x * d_max, y * d_max, influence, m, by_unit=by_unit)
