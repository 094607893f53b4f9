"""Krippendorff's alpha without each rater, unit by unit: what a study scored anew would give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.coefficients.chance import NOTHING, Floats, reach
from setagree.credit.base import Weights
from setagree.diagnosis.pairs_within import SortedRatings

_ENTRIES_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Without:
    """Alpha without one rater, and its linearised values.

    Attributes
    ----------
    estimate : float
    deviations : ndarray of shape (n_units,)
        (x_i - mean) / sqrt(n (n - 1)) of the linearised values; 0 for a unit that does not count.
    """

    estimate: float
    deviations: Floats


@dataclass(frozen=True, eq=False)
class AlphaWithout:
    """The sums over units that all raters' absences share.

    Attributes
    ----------
    ratings : SortedRatings
    far : ndarray of shape (n_ratings,)
        The sum of distances from each rating to the others of its unit.
    weights : Weights
    """

    ratings: SortedRatings
    far: Floats
    weights: Weights

    @cached_property
    def starts(self) -> npt.NDArray[Any]:
        """Where each unit begins among the ratings."""
        units = self.ratings.units
        return np.flatnonzero(np.diff(units, prepend=-1))

    @cached_property
    def r(self) -> npt.NDArray[Any]:
        """r_i of each unit."""
        return np.asarray(self.ratings.unit_ratings[self.starts])

    @cached_property
    def q(self) -> Floats:
        """q_i = sum_kl r_ik r_il d_kl of each unit."""
        return np.add.reduceat(self.far, self.starts)

    @cached_property
    def totals(self) -> Floats:
        """How often each value stands in pairable units, of shape (K,)."""
        counted = self.ratings.unit_ratings >= 2
        values = self.ratings.values[counted]
        return np.bincount(values, minlength=self.weights.n_values).astype(np.float64)

    def each(self, n_raters: int) -> Iterator[Without]:
        """Yield alpha without each rater in turn."""
        order = np.argsort(self.ratings.raters, kind="stable")
        bounds = np.searchsorted(self.ratings.raters[order], np.arange(n_raters + 1))
        at_once = max(1, min(64, _ENTRIES_AT_ONCE // self.weights.n_values))
        for start in range(0, n_raters, at_once):
            mine = [order[bounds[g] : bounds[g + 1]] for g in range(start, n_raters)[:at_once]]
            left = np.stack([self._left(rows) for rows in mine], axis=1)
            spread = self.weights.distance_dot(left)
            for k, rows in enumerate(mine):
                yield self._without(rows, left[:, k], spread[:, k])

    def _left(self, mine: npt.NDArray[Any]) -> Floats:
        """Return the totals without a rater's ratings, and without the units that leaves single."""
        shared = mine[self.ratings.unit_ratings[mine] >= 2]
        gone = [self.ratings.values[shared]]
        two = shared[self.ratings.unit_ratings[shared] == 2]
        # The partner stands just before or after, as units are together.
        partner = np.where(self.ratings.stop[two] - 1 == two, two - 1, two + 1)
        gone.append(self.ratings.values[partner])
        lost = np.bincount(np.concatenate(gone), minlength=self.weights.n_values)
        return self.totals - lost

    def _without(self, mine: npt.NDArray[Any], left: Floats, spread: Floats) -> Without:
        """Return alpha from the totals that are left and D times them (Gwet's form of it)."""
        of = self.ratings.units[mine]
        r, q = self.r.astype(np.float64), self.q.copy()
        r[of] -= 1
        q[of] -= 2 * self.far[mine]
        used = r >= 2
        n, N, pairs = int(used.sum()), float(left.sum()), float(left @ spread)
        rounding = NOTHING * reach(self.weights, left) * N**2
        if n < 2 or not pairs > rounding:
            return Without(float("nan"), np.zeros(len(r)))
        near = np.add.reduceat(spread[self.ratings.values], self.starts)
        near[of] -= spread[self.ratings.values[mine]]
        observed = float((q[used] / (r[used] - 1)).sum()) / N
        x = np.zeros(len(r))
        x[used] = _linearised(r[used], q[used], near[used], observed=observed, pairs=pairs)
        x[used] -= x[used].mean()
        estimate = 1 - observed * N * (N - 1) / pairs
        return Without(estimate, x / np.sqrt(n * (n - 1)))


def _linearised(r: Floats, q: Floats, near: Floats, *, observed: float, pairs: float) -> Floats:
    """Return the linearised values of alpha over its pairable units, as `krippendorff_alpha` does.

    near: the sum of (D n)_k over the unit's ratings; observed: Do; pairs: n' D n.
    """
    N = float(r.sum())
    mean_r = N / len(r)
    y = pairs / N**2
    excess = r / mean_r - 1
    a = 1 + (excess * (1 - 1 / N) * observed - q / (r - 1) / mean_r) / y
    e = (1 + excess) * (1 - near / (r * N * y))
    return a - 2 * (observed / y) * e
