"""Intervals that hold however often one looks: how wide they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import log, sqrt

import numpy as np

from setagree.coefficients.chance import Floats

TUNED_FOR = 100
"""The number of units for which the anytime-valid interval is made narrow."""

_NODES = 48


@lru_cache(maxsize=8)
def _nodes(n: int) -> tuple[Floats, Floats]:
    """Return the nodes and the weights of Gauss-Legendre integration over (-1, 1)."""
    from scipy.special import roots_legendre

    return roots_legendre(n)


def robbins_rho(level: float, units: int = TUNED_FOR) -> float:
    """Return rho of Robbins' mixture, which makes the interval narrow at a number of units.

    rho = sqrt([-2 ln a + ln(-2 ln a + 1)] / n*), a = 1 - level (Waudby-Smith et al. 2024,
    appendix B.2).
    """
    a = 1 - level
    return sqrt((-2 * log(a) + log(-2 * log(a) + 1)) / units)


def robbins_factor(n: int, level: float) -> float:
    """Return A(n), the half-width in standard deviations of an anytime-valid interval.

    A(n) = sqrt[2 (n rho² + 1) / (n² rho²) ln(sqrt(n rho² + 1) / a)]: an asymptotic confidence
    sequence (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024, eq. 3).
    """
    rho = robbins_rho(level)
    grown = n * rho**2 + 1
    return sqrt(2 * grown / (n * rho) ** 2 * log(sqrt(grown) / (1 - level)))


def pocock_bound(sizes: Sequence[int], level: float) -> float:
    """Return c with P(max_k |Z_k| > c) = 1 - level over looks at planned sizes (Pocock 1977).

    Z_k = S(n_k) / sqrt(n_k) of a Brownian motion S. The probability to stay inside is carried from
    look to look by Gauss-Legendre integration (Armitage, McPherson and Rowe 1969).
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    times, a = np.asarray(sizes, dtype=np.float64) / sizes[-1], 1 - level
    # One look is the least, Bonferroni the most.
    least, most = (-float(ndtri(a / 2 / n)) for n in (1, len(times)))
    if len(times) == 1:
        return least
    return float(brentq(lambda c: _stays(c, times) - level, least, most, xtol=1e-9))


def _stays(c: float, times: Floats) -> float:
    """P(|S(t)| <= c sqrt(t) at all times)."""
    at, density, before = np.zeros(1), np.ones(1), 0.0
    for time, after in zip(times, [*times[1:], np.inf], strict=True):
        half, sd = c * np.sqrt(time), np.sqrt(time - before)
        # The next step must not be narrower than what lies between two nodes.
        narrow = half / np.sqrt(after - time)
        nodes, weights = _nodes(max(_NODES, 2 ** int(np.ceil(np.log2(5 * narrow + 1)))))
        new = half * nodes
        steps = (new[:, None] - at) / sd
        density = np.exp(-(steps**2) / 2) @ density / (sd * np.sqrt(2 * np.pi))
        density, at, before = density * weights * half, new, time
    return float(density.sum())
