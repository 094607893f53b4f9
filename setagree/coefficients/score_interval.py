"""The score interval, from the observed and the chance disagreement together.

The t interval rests on a standard error that small studies with high agreement or rare labels
underestimate, up to 0 without any disagreement. The score interval solves

    (Do / De - th)² = k (sig th + B th²)

for th = 1 - coefficient: Wilson's idea in Do, Fieller's in De, with the null variance of
disagreement - th x chance. Half a disagreement drawn from the urn is added to what was seen, so
that it is defined without any disagreement, too. Where units were drawn in clusters, clusters take
the place of units; sampling weights count in every mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from setagree.coefficients.chance import Case, Floats, dot
from setagree.coefficients.chance_models import Model, Urn
from setagree.coefficients.sums import UnitSums

_PSEUDO = 0.5
"""Weight of the disagreement from the urn that is added, and the shift of the lower root."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Input of the score interval from a study; all distances are shares of d_max.

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
    """

    n: float
    df: float
    Do: float
    De: float
    E: float
    s: float
    B: float


def score_ends(case: Case, model: Model, level: float) -> tuple[float, float]:
    """Return the ends of the score interval of a coefficient, before any cut.

    NaN if there is one pairable unit, or no chance disagreement.
    """
    from scipy.special import ndtri, stdtrit  # 0.1 s, which import setagree does not pay

    found = moments(case, model)
    if found is None:
        return float("nan"), float("nan")
    n, th, sig = found.n, found.Do / found.De, found.s / found.E
    z, t = float(ndtri((1 + level) / 2)), float(stdtrit(found.df, (1 + level) / 2))
    p = min(1.0, found.Do / found.s)
    k = (z * z + 4 * p * (1 - p) * (t * t - z * z)) / n
    A = 1 - k * found.B
    # The larger root of A x² - (2 th + k sig) x + th² = 0, and the lower one from a shifted th.
    b = 2 * th + k * sig
    upper = (b + np.sqrt(max(0.0, b * b - 4 * A * th * th))) / (2 * A) if A > 1e-9 else np.inf
    disagreements = n * found.Do / found.s
    moved = th - _PSEUDO * sig / (n * np.sqrt(disagreements)) if disagreements > 0 else 0.0
    lower = 0.0
    if moved > 0:
        b = 2 * moved + k * sig
        lower = 2 * moved**2 / (b + np.sqrt(max(0.0, b * b - 4 * A * moved**2)))
    return float(1 - upper), float(1 - lower)


def moments(case: Case, model: Model) -> Moments | None:
    """Return the moments of a study, or None if it is undefined.

    With the features of units (see `sums`), ratio = n' / M (n' the units that count, by weight) and
    y_i = c_i' F X / (r_i P), the linearised values of x = O / M and of y without its small-sample
    correction, E = y (1 - own / P²), are

        del_i = x + ratio (O_i - x M_i),
        psi_i = E + 2 m_i (y_i - E),    m_i = ratio M_i if ratings count, 1 if units do;

    psi_i = E if chance is fixed. What one disagreement from the urn weighs rests on the shares of
    the answers, pi, and e = F pi, whatever the chance model is.
    """
    tally, urn, by_ratings = case.tally, Urn(model.weigh), model.weigh == "ratings"
    if tally.n_pairable_units < 2:
        return None
    whole = UnitSums(case, urn if by_ratings else model)
    pi = whole.urn / whole.urn.sum()
    e = urn.spread(case, pi)
    apart = dot(pi, e)
    if not urn.rounding(case, pi) < apart:
        return None
    S, (f, _), (y, y_i) = whole.sums, whole.of_patterns, whole.chance
    x, E = float(S.O / S.M), float(y * (1 - S.own / S.P**2))
    ratio = 1 / whole.rbar if by_ratings else S.P / S.M
    delta, counted = x + ratio * (f.O - x * f.M), tally.multiplicity * f.n
    share: Floats | float = ratio * f.M if by_ratings else 1.0
    if model.needs_raters and case.study is not None and tally.unit_patterns is not None:
        delta, counted = delta[tally.unit_patterns], np.ones(tally.n_units)
    psi = np.full(len(delta), E) if y_i is None else E + 2 * share * (y_i - E)
    drawn = _as_drawn(case, x, E, delta, psi, counted)
    if drawn is None:
        return None
    delta, psi, m = drawn.delta, drawn.psi, drawn.times
    n, M2, S2 = float(m.sum()), case.weights.squares(pi), dot(pi, e * e)
    # s0 = sum del² / sum del, and c0 = sum del psi / sum del, of a unit of rb answers from the urn
    mass = case.pairable_mass * tally.pairable
    rb = dot(mass, tally.pattern_ratings) / float(mass.sum())
    pairs = rb * (rb - 1) / 2
    s0 = (M2 + 2 * (rb - 2) * S2 + (pairs - 1 - 2 * (rb - 2)) * apart**2) / (pairs * apart)
    s0 *= drawn.pseudo * float(S.P / S.M)
    psi_k = np.full(len(pi), E) if model.fixed else 2 * whole.of_values - E
    c0 = dot(pi * e, psi_k) / apart
    seen = dot(m, delta) + _PSEUDO * s0
    s = (dot(m, delta * delta) + _PSEUDO * s0**2) / seen
    c = (dot(m, delta * psi) + _PSEUDO * s0 * c0) / seen
    V = dot(m, psi * psi) / n - E * E
    return Moments(n, drawn.df, x, y, E, s, 1 - 2 * c / E + V / E**2)


class _Drawn(NamedTuple):
    """del and psi of the sampled entities: patterns of units, weighted units, clusters."""

    delta: Floats
    psi: Floats
    times: Floats
    df: float
    pseudo: float
    """Factor of the piece from the urn."""


def _as_drawn(
    case: Case, Do: float, E: float, delta: Floats, psi: Floats, m: Floats
) -> _Drawn | None:
    """Return del and psi of the sampled entities, or None if all units are in one cluster.

    `delta` and `psi` are those of patterns or units, of which `m` count.
    del_g = Do + (G/n) sum_{i in g} (del_i - Do) over G clusters, del_i = Do + w_i (del_i - Do) with
    weights of mean 1; psi alike.
    """
    sample, patterns = case.sample, case.tally.unit_patterns
    if sample is None or patterns is None:
        return _Drawn(delta, psi, m, float(m.sum()) - 1, 1.0)
    of_unit = slice(None) if len(m) == len(patterns) else patterns
    units = np.flatnonzero(m[of_unit])
    n, delta, psi = len(units), delta[of_unit][units] - Do, psi[of_unit][units] - E
    if not sample.is_clustered:
        w = case.unit_weights[units]
        w = w / w.mean()
        df = n**2 / float(w @ w) - 1
        return _Drawn(Do + w * delta, E + w * psi, np.ones(n), df, float(w @ w) / n)
    assert sample.groups is not None  # noqa: S101 - clusters are groups
    groups = np.unique(sample.groups[units], return_inverse=True)[1]
    sizes = np.bincount(groups)
    G = len(sizes)
    if G == 1:
        return None
    sums = [np.asarray(G / n * np.bincount(groups, x)) for x in (delta, psi)]
    pseudo = float(sizes @ sizes) / n * G / n
    return _Drawn(Do + sums[0], E + sums[1], np.ones(G), G - 1.0, pseudo)
