"""Weights whose chance term needs no pairs: nominal, squared and absolute differences."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from setagree.credit.base import BlockWeights, Codes, Floats, Weights
from setagree.distances.base import ScaleDistance


class NominalWeights(Weights):
    """d = 1 between different values."""

    @property
    def max_distance(self) -> float:
        """d_max = 1."""
        return 1.0

    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""
        return np.asarray(k != l).astype(float)

    def distance_dot(self, x: Floats) -> Floats:
        """Return D @ x = sum(x) - x."""
        return np.asarray(x.sum(axis=0) - x)

    def squares(self, x: Floats) -> float:
        """Return the sum of x_k x_l over different values."""
        return float(x @ self.distance_dot(x))


class SquaredWeights(Weights):
    """d = (p_k - p_l)² of one position a value."""

    def __init__(self, values: tuple[Any, ...], positions: Floats) -> None:
        super().__init__(values)
        self.positions = positions

    @cached_property
    def max_distance(self) -> float:
        """d_max, the squared width of the positions; never 0."""
        return float(np.ptp(self.positions) ** 2) or 1.0

    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""
        return np.asarray((self.positions[k] - self.positions[l]) ** 2)

    def distance_dot(self, x: Floats) -> Floats:
        """Return D @ x = p² sum(x) - 2 p sum(p x) + sum(p² x), with p around its weighted mean."""
        # Around that mean the mixed term is next to nothing, so that nothing cancels; a value of
        # weight 0 may lie anywhere.
        p = _around_mean(self.positions, x)
        total, first, second = x.sum(axis=0), (p * x).sum(axis=0), (p * p * x).sum(axis=0)
        return np.asarray(p * p * total - 2 * p * first + second)

    def squares(self, x: Floats) -> float:
        """Return the sum of x_k x_l (p_k - p_l)^4 / d_max², from the moments around the mean."""
        p = _around_mean(self.positions, x) / np.sqrt(self.max_distance)
        m = [float(x @ p**power) for power in range(5)]
        return 2 * (m[0] * m[4] - 4 * m[1] * m[3] + 3 * m[2] ** 2)


class AbsoluteWeights(Weights):
    r"""d = \|p_k - p_l\| of one position a value."""

    def __init__(self, values: tuple[Any, ...], positions: Floats) -> None:
        super().__init__(values)
        self.positions = positions

    @cached_property
    def max_distance(self) -> float:
        """d_max, the width of the positions; never 0."""
        return float(np.ptp(self.positions)) or 1.0

    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""
        return np.asarray(np.abs(self.positions[k] - self.positions[l]))

    def distance_dot(self, x: Floats) -> Floats:
        """Return D @ x from cumulated sums over the sorted positions."""
        order = np.argsort(self.positions, kind="stable")
        p = _around_mean(self.positions, x)[order]
        below, below_p = np.cumsum(x[order], axis=0), np.cumsum(p * x[order], axis=0)
        out = np.empty(x.shape)
        out[order] = p * (2 * below - below[-1]) - (2 * below_p - below_p[-1])
        return out

    def squares(self, x: Floats) -> float:
        """Return the sum of x_k x_l (p_k - p_l)² / d_max², from the moments around the mean."""
        p = _around_mean(self.positions, x) / self.max_distance
        return float(2 * (x.sum() * (x @ p**2) - (x @ p) ** 2))


def _around_mean(positions: Floats, x: Floats) -> Floats:
    r"""Return the positions less their mean weighted by \|x\|, of a shape that fits x."""
    # First less the lowest position in use: the mean of numbers far from 0 would lose digits.
    used = positions[(x != 0).reshape(len(x), -1).any(axis=1)]
    p = (positions - (used.min() if used.size else 0.0)).reshape(-1, *(1,) * (x.ndim - 1))
    size = np.abs(x)
    total = np.asarray(size.sum(axis=0))
    return np.asarray(p - (p * size).sum(axis=0) / np.where(total == 0, 1, total))


class PointWeights(BlockWeights):
    """d = f(p_k, p_l) of one position a value, in blocks."""

    def __init__(self, values: tuple[Any, ...], positions: Floats, distance: ScaleDistance) -> None:
        super().__init__(values)
        self.positions = positions
        self.distance = distance

    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""
        p = self.positions
        return self.distance.function(p[k], p[l], float(p.min()), float(p.max()))

    def block(self, rows: Codes, columns: Codes) -> Floats:
        """Return the distances between all of some values and all of some others."""
        return self.distance_at(rows[:, None], columns[None, :])
