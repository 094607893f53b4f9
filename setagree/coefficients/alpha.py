"""Krippendorff's alpha."""

from __future__ import annotations

import numpy as np

from setagree.coefficients.chance import NOTHING, Case, Estimate, reach, undefined_estimate
from setagree.tally import dot


def krippendorff_alpha(case: Case) -> Estimate:
    """Return alpha = 1 - Do / De over the pairable units.

    Do = (1/N) sum_i q_i / (r_i - 1), q_i the distance summed over the ordered pairs of unit i;
    De = n' D n / (N (N - 1)), n_k the value totals and N their sum (Krippendorff 2011). pa, pe and
    the linearised values are Gwet's (2014, ch. 2): pa = (1 - 1/N) pa' + 1/N, pe = pi' W pi.
    """
    tally, weights = case.tally, case.weights
    m = tally.multiplicity * tally.pairable
    n, d_max = float(m.sum()), weights.max_distance
    if not n:
        return undefined_estimate(case, observed=np.nan, expected=np.nan)
    r = tally.pattern_ratings
    N = dot(m, r)
    q = case.disagreement / np.where(tally.pairable, r - 1, 1)
    totals = tally.value_totals(m)
    spread = weights.distance_dot(totals)

    observed = dot(m, q) / N
    expected = dot(totals, spread) / (N * (N - 1))
    if not expected > NOTHING * reach(weights, totals) or tally.n_pairable_units == 1:
        return undefined_estimate(case, observed=observed, expected=expected)

    alpha = 1 - observed / expected
    # Everything below is disagreement in the units of the distance: y = (1 - pe) d_max.
    x, y = (1 - 1 / N) * observed, (1 - 1 / N) * expected
    mean_r = N / n
    excess = r / mean_r - 1
    a = 1 + (excess * x - q / mean_r) / y
    e = (1 + excess) * (1 - tally.pattern_means(spread) / (N * y))
    # The linearised values belong to alpha without its small-sample term: 1 - x N / (N - 1) / y.
    plain = 1 - (1 - alpha) * N / (N - 1)
    influence = a - 2 * (1 - plain) * e
    pa, pe = 1 - x / d_max, 1 - y / d_max
    return Estimate(alpha, pa, pe, observed, expected, influence, m)
