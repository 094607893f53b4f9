"""How often the alternative annotator test passes a model that deserves it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from setagree.coefficients.chance import Floats

MOST_HUMANS = 1_000
"""Humans whose outcomes are set against each other, pair by pair."""

_MANY_UNITS = 100_000_000
_DRAWS, _CELLS = 10_000, 1_000_000
_SEED = 20250125


class Outcomes:
    """What is won and lost on a unit, and what follows for tests on other numbers of units.

    With d = (the human wins) - (the model wins) on a unit, the mean of d over n units is normal
    with the variance mean(d²) / n, so that ties stay as frequent as they were. The means of two
    humans are correlated as their d are over the units that they share. s² / sigma² is a chi-square
    by its degrees of freedom (Wilson and Hilferty 1931), correlated as squares are. The t-tests of
    10,000 draws (a fixed seed; fewer for more than 100 humans) are decided as the test itself is.

    Parameters
    ----------
    n : ndarray of shape (n_humans,)
        The units that each human shares with the model and the others.
    n_units : int
        The units of the test.
    products : ndarray of shape (n_humans, n_humans)
        The sum of the products of the d of two humans.
    """

    def __init__(self, n: npt.NDArray[np.int64], n_units: int, products: Floats) -> None:
        self.share = n / max(n_units, 1)
        self.n_units = n_units
        squares = np.diag(products)
        self.deviation = np.sqrt(squares / n)
        self._alike = products / np.sqrt(np.maximum(np.outer(squares, squares), 1))

    def power(self, n_units: float, lead: float, *, q: float) -> float:
        """Return how often a model passes whose mean d is epsilon less the lead.

        It must win over half of H humans. By Benjamini and Yekutieli it does where, for some
        k >= H / 2, k of the p-values are q k / (H (1 + 1/2 + ... + 1/H)) or less.
        """
        from scipy.special import stdtr

        n = np.maximum(self.share * n_units, 2.0)
        means, spread = self._drawn
        df = n - 1
        step = 2 / (9 * df)
        s = np.maximum(1 - step + spread * np.sqrt(step), 1e-3) ** 1.5
        # Without any spread the sign of the lead decides, as in the test.
        ahead = np.full(len(n), np.inf if lead > 0 else -np.inf)
        np.divide(lead * np.sqrt(n), self.deviation, out=ahead, where=self.deviation > 0)
        p = np.sort(stdtr(df, (means - ahead) / s), axis=1)
        H = len(n)
        rank = np.arange(1, H + 1)
        won = p <= q * rank / (H * (1 / rank).sum())
        return float(won[:, (H + 1) // 2 - 1 :].any(axis=1).mean())

    def units_for(self, power: float, lead: float, *, q: float) -> int | None:
        """Return the fewest units that reach a power, to 1 %; None where no number does."""

        def enough(n_units: int) -> bool:
            return self.power(n_units, lead, q=q) >= power

        return _least(enough, max(self.n_units, 2)) if lead > 0 else None

    @cached_property
    def _drawn(self) -> tuple[Floats, Floats]:
        """Standard normal means, correlated as the humans are, and what their s² is made of."""
        H = len(self.share)
        generator = np.random.default_rng(_SEED)
        shape = (max(_CELLS // H, 1_000) if H * _DRAWS > _CELLS else _DRAWS, H)
        means = generator.standard_normal(shape) @ _root(self._alike)
        # Squares of normal numbers are correlated as the square of their correlation.
        return means, generator.standard_normal(shape) @ _root(self._alike**2)


def _root(correlations: Floats) -> Floats:
    """Return R with R' R the correlations."""
    values, vectors = np.linalg.eigh(correlations)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))).T)


def products_of(
    units: npt.NDArray[Any], humans: npt.NDArray[Any], lost: Floats, tested: npt.NDArray[Any]
) -> Floats | None:
    """Return the sums of the products of d, of all pairs of humans tested; None for too many."""
    if not 0 < len(tested) <= MOST_HUMANS:
        return None
    d = sparse.coo_array((lost, (units, humans))).tocsc()[:, tested]
    return np.asarray((d.T @ d).toarray())


def _least(enough: Callable[[int], bool], start: int) -> int | None:
    """Return the fewest units that are enough, to 1 %, sought from a number near to it."""
    low, high = 2, start
    while not enough(high):
        low, high = high, high * 2
        if high > _MANY_UNITS:
            return None
    while high - low > 0.01 * low:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
