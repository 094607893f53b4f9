"""A coefficient of a study: (pa - pe) / (1 - pe), with its linearised values.

Inside, everything is disagreement as a share of d_max: x = 1 - pa and y = 1 - pe. Agreements near 1
keep their digits so, and the estimate is 1 - x / y.
"""

from __future__ import annotations

import numpy as np

from setagree.coefficients.chance import NOTHING, Case, Estimate, reach, undefined_estimate
from setagree.coefficients.models import Model
from setagree.study.tally import dot


def estimate(case: Case, model: Model) -> Estimate:
    """Return the coefficient of a study under a model of chance."""
    return _by_ratings(case, model) if model.weigh == "ratings" else _by_units(case, model)


def _by_ratings(case: Case, model: Model) -> Estimate:
    """Return 1 - Do / De over the pairable units, each of which counts as often as it was rated.

    Do = (1/N) sum_i q_i / (r_i - 1), q_i the distance summed over the ordered pairs of unit i
    (Krippendorff 2011). pa, pe and the linearised values are Gwet's (2014, ch. 2):
    pa = (1 - 1/N) pa' + 1/N, pe = pi' W pi.
    """
    tally, d_max = case.tally, case.weights.max_distance
    m = tally.multiplicity * tally.pairable
    n = float(m.sum())
    if not n:
        return undefined_estimate(case, observed=np.nan, expected=np.nan)
    r = tally.pattern_ratings
    N = dot(m, r)
    q = case.disagreement / np.where(tally.pairable, r - 1, 1)
    observed = dot(m, q) / N
    chance, chance_i = model.linearised(case)
    expected = chance * d_max
    nothing = NOTHING * reach(case.weights, tally.value_totals(m))
    if not expected > nothing or tally.n_pairable_units == 1:
        return undefined_estimate(case, observed=observed, expected=expected)
    alpha = 1 - observed / expected
    if chance_i is None:
        agreements, none = (1 - observed / d_max, 1 - chance), np.zeros(0)
        return Estimate(alpha, *agreements, observed, expected, none, none)
    # What follows is in the units of the distance: y = (1 - pe) d_max.
    x, y = (1 - 1 / N) * observed, (1 - 1 / N) * expected
    mean_r = N / n
    excess = r / mean_r - 1
    a = 1 + (excess * x - q / mean_r) / y
    e = (1 + excess) * (1 - chance_i * d_max / y)
    # The linearised values belong to alpha without its small-sample term: 1 - x N / (N - 1) / y.
    plain = 1 - (1 - alpha) * N / (N - 1)
    influence = a - 2 * (1 - plain) * e
    return Estimate(alpha, 1 - x / d_max, 1 - y / d_max, observed, expected, influence, m)


def _by_units(case: Case, model: Model) -> Estimate:
    """Return 1 - x / y over units that count once each (Gwet 2014, chapters 2 to 5).

    kappa_i = (n/n') (pa_i - pe 1[pairable]) / (1 - pe), and
    kappa*_i = kappa_i - 2 (1 - kappa) (pe_i - pe) / (1 - pe), with y_i = 1 - pe_i.
    """
    tally, d_max = case.tally, case.weights.max_distance
    y, y_i = model.linearised(case)
    x_i, used, m = case.mean_disagreement, tally.pairable, tally.multiplicity
    n, n_pairable = tally.n_units, tally.n_pairable_units
    x = dot(m[used], x_i[used]) / n_pairable if n_pairable else np.nan
    # One unit cannot show what chance would do, unless chance is fixed beforehand.
    nothing = NOTHING * reach(case.weights, tally.value_totals(m)) / d_max
    if not n_pairable or not y > nothing or (n == 1 and not model.fixed):
        return undefined_estimate(case, observed=x * d_max, expected=y * d_max)
    by_unit = model.asks_who and case.study is not None
    if by_unit:
        patterns = tally.unit_patterns
        x_i, used, m = x_i[patterns], used[patterns], np.ones(n)
    kappa = 1 - x / y
    influence = np.where(used, n / n_pairable * (1 - x_i / y), 0.0)
    if y_i is not None:
        influence = influence + 2 * (1 - kappa) * (y_i - y) / y
    return Estimate(kappa, 1 - x, 1 - y, x * d_max, y * d_max, influence, m, by_unit=by_unit)
