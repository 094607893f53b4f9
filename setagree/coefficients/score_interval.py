"""The score interval: where the observed and the chance disagreement together leave the truth.

The t interval rests on a standard error that small studies with high agreement or rare labels
underestimate, up to 0 where no disagreement was seen. The score interval solves

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
import numpy.typing as npt

from setagree.coefficients.chance import Case, Floats, squared_share
from setagree.coefficients.models import Urn
from setagree.study.tally import dot

_PSEUDO = 0.5
"""How much of a disagreement from the urn is added, and how far the lower root is moved."""


@dataclass(frozen=True, eq=False)
class Moments:
    """What the score interval asks of a study; all distances as shares of d_max.

    Attributes
    ----------
    n : float
        Units: pairable ones where ratings count, rated ones where units do; or their clusters.
    df : float
        Degrees of freedom of t: n - 1, with weights those of n_Kish = (sum w)² / sum w².
    Do, De, E : float
        Observed and chance disagreement, and pi' D pi.
    s : float
        sum del² / sum del: what one disagreement weighs.
    B : float
        The curvature 3 - 4 c / E + 4 Ve / E².
    """

    n: float
    df: float
    Do: float
    De: float
    E: float
    s: float
    B: float


def score_ends(case: Case, model: Urn, level: float) -> tuple[float, float]:
    """Return the ends of the score interval of a coefficient with one urn, before any cut.

    nan for one pairable unit, and where chance leaves no disagreement.
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
    upper = _larger_root(2 * th + k * sig, A, th)
    disagreements = n * found.Do / found.s
    moved = th - _PSEUDO * sig / (n * np.sqrt(disagreements)) if disagreements > 0 else 0.0
    lower = 0.0
    if moved > 0:
        b = 2 * moved + k * sig
        lower = 2 * moved**2 / (b + np.sqrt(max(0.0, b * b - 4 * A * moved**2)))
    return 1 - upper, float(1 - lower)


def _larger_root(b: float, A: float, th: float) -> float:
    """Return the larger x of A x² - b x + th² = 0, infinite where there is none."""
    if A <= 1e-9:
        return float("inf")
    return float((b + np.sqrt(max(0.0, b * b - 4 * A * th * th))) / (2 * A))


def moments(case: Case, model: Urn) -> Moments | None:
    """Return the moments of a study; None where it is undefined."""
    tally, weights = case.tally, case.weights
    by_ratings = model.weigh == "ratings"
    used = tally.pairable
    if tally.n_pairable_units < 2:
        return None
    pi = model.totals(case)
    pi = pi / pi.sum()
    e = model.spread(case, pi)
    E = dot(pi, e)
    if not model.rounding(case, pi) < E:
        return None
    mass, pairable = case.mass * (used if by_ratings else 1.0), float(case.mass[used].sum())
    rb = dot(case.mass[used], tally.pattern_ratings[used]) / pairable
    delta, eta, Do = (_of_ratings if by_ratings else _of_units)(case, e, E=E, rb=rb)
    drawn = _as_drawn(case, mass > 0, (delta, eta), (Do, E))
    if drawn is None:
        return None
    (delta, eta), m = drawn.pieces, drawn.times
    n = float(m.sum())
    M2, S2 = weights.squares(pi), dot(pi, e * e)
    pairs = rb * (rb - 1) / 2
    s0 = (M2 + 2 * (rb - 2) * S2 + (pairs - 1 - 2 * (rb - 2)) * E * E) / (pairs * E)
    s0 *= drawn.pseudo * (1.0 if by_ratings else float(mass.sum()) / pairable)
    seen = dot(m, delta) + _PSEUDO * s0
    s = (dot(m, delta * delta) + _PSEUDO * s0**2) / seen
    c = (dot(m, delta * eta) + _PSEUDO * s0 * S2 / E) / seen
    Ve = dot(m, eta * eta) / n - E * E
    De = E / (1 - squared_share(case) / (rb * pairable)) if by_ratings else E
    return Moments(n, drawn.df, Do, De, E, s, 3 - 4 * c / E + 4 * Ve / E**2)


class _Drawn(NamedTuple):
    """del and eta of what was drawn on its own: patterns of units, weighted units, clusters."""

    pieces: list[Floats]
    times: Floats
    df: float
    pseudo: float
    """What the piece from the urn is multiplied by."""


def _as_drawn(
    case: Case, used: npt.NDArray[np.bool_], pieces: tuple[Floats, Floats], means: tuple[float, ...]
) -> _Drawn | None:
    """Return del and eta of what was drawn; None where all units are in one cluster.

    del_g = Do + (G/n) sum_{i in g} (del_i - Do) over G clusters, del_i = Do + w_i (del_i - Do) with
    weights of mean 1; eta alike.
    """
    sample, patterns, m = case.sample, case.tally.unit_patterns, case.tally.multiplicity * used
    if sample is None or patterns is None:
        return _Drawn([*pieces], m, float(m.sum()) - 1, 1.0)
    units = np.flatnonzero(used[patterns])
    n = len(units)
    off = [x[patterns[units]] - mean for x, mean in zip(pieces, means, strict=True)]
    if not sample.is_clustered:
        w = case.unit_weights[units]
        w = w / w.mean()
        each = [mean + w * x for x, mean in zip(off, means, strict=True)]
        return _Drawn(each, np.ones(n), n**2 / float(w @ w) - 1, float(w @ w) / n)
    assert sample.groups is not None  # noqa: S101 - clusters are groups
    groups = np.unique(sample.groups[units], return_inverse=True)[1]
    sizes = np.bincount(groups)
    G = len(sizes)
    each = [mean + G / n * np.bincount(groups, x) for x, mean in zip(off, means, strict=True)]
    pseudo = float(sizes @ sizes) / n * G / n
    return _Drawn(each, np.ones(G), G - 1.0, pseudo) if G > 1 else None


def _of_ratings(case: Case, e: Floats, *, E: float, rb: float) -> tuple[Floats, Floats, float]:
    """Return del_i and eta_i of each pattern, and Do, where units count by their ratings."""
    tally, d_max = case.tally, case.weights.max_distance
    used, r = tally.pairable, tally.pattern_ratings
    off = (r - rb) / rb
    q = np.where(used, case.disagreement, 0.0) / (d_max * np.where(used, r - 1, 1))
    m = case.mass * used
    Do = dot(m, q) / dot(m, r)
    return q / rb - Do * off, r * tally.pattern_means(e) / rb - E * off, Do


def _of_units(case: Case, e: Floats, *, E: float, rb: float) -> tuple[Floats, Floats, float]:  # noqa: ARG001 - one signature
    """Return the same where units count once."""
    tally, used, m = case.tally, case.tally.pairable, case.mass
    x, pairable = case.mean_disagreement, float(m[used].sum())
    Do = dot(m[used], x[used]) / pairable
    scale = float(m.sum()) / pairable
    return Do + scale * np.where(used, x - Do, 0.0), tally.pattern_means(e), Do
