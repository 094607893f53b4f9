"""Krippendorff's alpha without each rater, unit by unit: what a study scored anew would give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.checks import check_cost
from setagree.coefficients.chance import NOTHING, ROUNDING, Floats, reach
from setagree.credit.base import Weights
from setagree.diagnosis.confusions import SortedRatings
from setagree.progress import track

_ENTRIES_AT_ONCE = 2_000_000

PASSES = 50_000_000
"""Ratings times raters up to which each rater has a pass over the units of its own."""

_STEPS_A_RATING = 4
"""Elementary steps that a rating takes in a pass."""

_VALUES_AT_MOST = 2_000
"""Distinct values up to which arrays of values x values are made; 32 MB each."""

_LOST = 1e-6
"""A share of the whole below which what is left of a sum is computed anew."""

_LEVEL = 1e-9
"""The same of a sum of squares."""


@dataclass(frozen=True)
class Without:
    """Alpha without each rater, of shape (n_raters,).

    Attributes
    ----------
    estimate : ndarray
    own, gap : ndarray
        The root of the sum over units of psi², and of (psi - psi of all raters)²; psi is
        (x_i - mean) / sqrt(n (n - 1)) of the linearised values, 0 for a unit that does not count.
    """

    estimate: Floats
    own: Floats
    gap: Floats


@dataclass(frozen=True, eq=False)
class AlphaWithout:
    """The sums over units that all raters' absences share.

    `far`, of shape (n_ratings,), has the sum of distances from each rating to the others of its
    unit.
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

    def without(self, n_raters: int, psi: Floats, *, instead: str) -> Without:
        """Return alpha without each rater; `psi` is that of all raters, by unit."""
        N, K = float(len(self.far)), self.weights.n_values
        if n_raters * N > PASSES and min(n_raters, _VALUES_AT_MOST) >= K:
            check_cost("by_rater", n_steps=_STEPS_A_RATING * K * N, instead=instead)
            out, raters = ClosedForm(
                self, n_raters, varies=float(psi @ psi) > ROUNDING**2
            ).without()
        else:
            out, raters = Without(*np.full((3, n_raters), np.nan)), np.arange(n_raters)
        check_cost("by_rater", n_steps=_STEPS_A_RATING * len(raters) * N, instead=instead)
        long = len(raters) * N > PASSES
        for g, own in track(self._each(raters), total=len(raters), what="raters", long=long):
            out.estimate[g], deviations = own
            out.own[g] = np.sqrt(deviations @ deviations)
            out.gap[g] = np.sqrt((deviations - psi) @ (deviations - psi))
        return out

    def _each(self, raters: npt.NDArray[Any]) -> Iterator[tuple[int, tuple[float, Floats]]]:
        """Yield alpha without each of these raters in turn, and psi by unit."""
        order = np.argsort(self.ratings.raters, kind="stable")
        first, stop = (
            np.searchsorted(self.ratings.raters[order], raters, side).tolist()
            for side in ("left", "right")
        )
        K = self.weights.n_values
        at_once = max(1, min(64, _ENTRIES_AT_ONCE // K))
        for start in range(0, len(raters), at_once):
            part = range(start, min(start + at_once, len(raters)))
            mine = [order[first[k] : stop[k]] for k in part]
            left = np.stack(
                [self.totals - np.bincount(self.taken(rows)[1], minlength=K) for rows in mine],
                axis=1,
            )
            spread = self.weights.distance_dot(left)
            for column, (k, rows) in enumerate(zip(part, mine, strict=True)):
                yield int(raters[k]), self._without(rows, left[:, column], spread[:, column])

    def taken(self, mine: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the ratings whose raters' absence takes values from the totals, and the values.

        A rating that leaves another single takes that one along.
        """
        shared = mine[self.ratings.unit_ratings[mine] >= 2]
        two = shared[self.ratings.unit_ratings[shared] == 2]
        # The partner stands just before or after, as units are together.
        partner = np.where(self.ratings.stop[two] - 1 == two, two - 1, two + 1)
        values = self.ratings.values
        return np.concatenate([shared, two]), np.concatenate([values[shared], values[partner]])

    def _without(
        self, mine: npt.NDArray[Any], left: Floats, spread: Floats
    ) -> tuple[float, Floats]:
        """Return alpha and psi from the totals that are left and D times them (Gwet's form)."""
        of = self.ratings.units[mine]
        r, q = self.r.astype(np.float64), self.q.copy()
        r[of] -= 1
        q[of] -= 2 * self.far[mine]
        used = r >= 2
        n, N, pairs = int(used.sum()), float(left.sum()), float(left @ spread)
        rounding = NOTHING * reach(self.weights, left) * N**2
        if n < 2 or not pairs > rounding:
            return float("nan"), np.zeros(len(r))
        near = np.add.reduceat(spread[self.ratings.values], self.starts)
        near[of] -= spread[self.ratings.values[mine]]
        observed = float((q[used] / (r[used] - 1)).sum()) / N
        x = np.zeros(len(r))
        terms = np.stack([np.ones(n), r[used], q[used] / (r[used] - 1), near[used]], axis=1)
        x[used] = terms @ _linearised(np.array([n]), np.array([N]), np.array([observed]), pairs)[0]
        return 1 - observed * N * (N - 1) / pairs, x


def _linearised(n: Floats, N: Floats, observed: Floats, pairs: Floats | float) -> Floats:
    """Return how psi_i is made of 1, r_i, s_i = q_i / (r_i - 1) and near_i; (len(n), 4).

    near_i: the sum of (D n)_k over the unit's ratings; observed: Do; pairs: n' D n. The linearised
    values of `krippendorff_alpha` are x_i = 1 + [(r_i / r - 1) (1 - 1 / N) Do - s_i / r] / y
    - 2 (Do / y) (r_i - near_i / (N y)) / r, with r the mean of r_i and y = pairs / N².
    """
    r, y = N / n, pairs / N**2
    c = np.stack(
        [
            np.zeros(len(n)),
            -(1 + 1 / N) * observed / (y * r),
            -1 / (y * r),
            2 * observed / (y * y * N * r),
        ],
        axis=1,
    )
    means = np.stack([np.ones(len(n)), r, observed * r, pairs / n], axis=1)
    c[:, 0] = -(c * means).sum(axis=1)
    return np.asarray(c / np.sqrt(n * (n - 1))[:, None])


@dataclass(frozen=True, eq=False)
class _Absent:
    """What the absence of some raters, B of them, changes.

    Attributes
    ----------
    who, units : ndarray of int
        The rater and the unit of each of their ratings.
    nu, psi : ndarray
        nu_i of each of these units, and its psi without the rater.
    crossed, square : ndarray of shape (B, 4) and (B,)
        The sums over all units of nu_i z_i and of nu_i².
    """

    who: npt.NDArray[Any]
    units: npt.NDArray[Any]
    nu: Floats
    psi: Floats
    crossed: Floats
    square: Floats


class ClosedForm:
    """Alpha without every rater at once, from sums over units that all absences share.

    A unit that a rater did not rate has psi = c . z - c_3 nu, with z = (1, r_i, s_i, near_i) and
    nu_i the sum of (D lost)_k over its ratings: sums of squares follow from those of z, from D C' z
    and from D C' C D, C the counts of units x values. The rater's own units are put right after.

    varies: psi of all raters is more than rounding, so that sums of squares are of use.
    """

    def __init__(self, parts: AlphaWithout, n_raters: int, *, varies: bool) -> None:
        from scipy import sparse

        ratings, K = parts.ratings, parts.weights.n_values
        self.parts, self.n_raters, self.varies = parts, n_raters, varies
        self.order = np.argsort(ratings.raters, kind="stable")
        self.r = parts.r.astype(np.float64)
        self.s = np.where(self.r >= 2, parts.q / np.maximum(self.r - 1, 1), 0.0)
        self.n, self.N, self.apart = (self.r >= 2).sum(), parts.totals.sum(), self.s.sum()
        self.D = parts.weights.distance_dot(np.eye(K))
        self.spread = self.D @ parts.totals
        self.pairs = float(parts.totals @ self.spread)
        sums = (np.array([x]) for x in (self.n, self.N, self.apart / self.N, self.pairs))
        self.whole = _linearised(*sums)
        ones = np.ones(len(ratings.units))
        self.C: Any = sparse.csr_array((ones, (ratings.units, ratings.values)), (len(self.r), K))
        z = np.stack([np.ones(len(self.r)), self.r, self.s, self.C @ self.spread], axis=1)
        self.z = z * (self.r >= 2)[:, None]
        counted = self.C[np.flatnonzero(self.r >= 2)]
        self.squares, self.crossed = self.z.T @ self.z, self.D @ (self.C.T @ self.z)
        self.H = self.D @ ((counted.T @ counted) @ self.D)
        takers, values = parts.taken(self.order)
        by_rater = (ratings.raters[takers], values)
        self.taken: Any = sparse.csr_array((np.ones(len(takers)), by_rater), (n_raters, K))

    def without(self) -> tuple[Without, npt.NDArray[Any]]:
        """Return alpha without each rater, and the raters of whom that has lost its digits."""
        raters = self.parts.ratings.raters[self.order]
        entries = np.diff(self.C.indptr)[self.parts.ratings.units[self.order]]
        cells = self.D.shape[0] + np.bincount(raters, entries, self.n_raters)
        ends = np.flatnonzero(np.diff(np.cumsum(cells) // _ENTRIES_AT_ONCE)) + 1
        with np.errstate(divide="ignore", invalid="ignore"):
            found = [
                self._some(start, stop, self.order[slice(*np.searchsorted(raters, [start, stop]))])
                for start, stop in pairwise([0, *ends.tolist(), self.n_raters])
            ]
        estimate, own, gap, lost = np.concatenate(found, axis=1)
        return Without(estimate, own, gap), np.flatnonzero(lost)

    def _some(self, start: int, stop: int, mine: npt.NDArray[Any]) -> Floats:
        """Return estimate, own, gap, and whether digits are lost, of raters with ratings `mine`."""
        taken, ratings = self.taken[start:stop], self.parts.ratings
        who, of, delta = ratings.raters[mine] - start, ratings.units[mine], taken @ self.D
        r = self.r[of]
        s = np.where(r >= 3, (self.parts.q[of] - 2 * self.parts.far[mine]) / (r - 2), 0.0)
        N, n = self.N - taken.sum(axis=1), self.n - np.bincount(who, r == 2, stop - start)
        apart = self.apart + np.bincount(who, s - self.s[of], stop - start)
        left = self.pairs - 2 * (taken @ self.spread) + taken.multiply(delta).sum(axis=1)
        c = _linearised(n, N, apart / N, left)
        nu = self._nu(of, who, delta)
        v = ratings.values[mine]
        near = self.z[of, 3] - nu - self.spread[v] + delta[who, v]
        after = np.stack([np.ones(len(of)), r - 1, s, near], axis=1)
        psi = np.where(r >= 3, (c[who] * after).sum(axis=1), 0.0)
        square = taken.multiply(taken @ self.H).sum(axis=1)
        absent = _Absent(who, of, nu, psi, taken @ self.crossed, square)
        own, gap = self._squares(absent, c), self._squares(absent, c, beside_all=True)
        level = (c**2 * np.diag(self.squares)).max(axis=1)
        lost = (own <= _LEVEL * level) if self.varies else np.zeros(len(own), dtype=bool)
        for part, of_all in ((left, self.pairs), (apart, self.apart)):
            lost |= (part <= _LOST * of_all) & (of_all > 0)
        estimate = np.where(n >= 2, 1 - apart * (N - 1) / left, np.nan)
        return np.stack([estimate, np.sqrt(own), np.sqrt(gap), lost & (n >= 2)])

    def _nu(self, of: npt.NDArray[Any], who: npt.NDArray[Any], delta: Floats) -> Floats:
        """Return nu of units `of`, each without its rater; 0 where a unit does not count."""
        counts = self.C[of]
        row = np.repeat(np.arange(len(of)), np.diff(counts.indptr))
        each = counts.data * delta[who[row], counts.indices]
        return np.where(self.r[of] >= 2, np.bincount(row, each, len(of)), 0.0)

    def _squares(self, absent: _Absent, c: Floats, *, beside_all: bool = False) -> Floats:
        """Return the sum over units of psi², or of the square of what psi is beside all raters'."""
        others = self.whole if beside_all else np.zeros((1, 4))
        v, z = c - others, self.z[absent.units]
        everywhere = np.einsum("bi,ij,bj->b", v, self.squares, v)
        everywhere += c[:, 3] * (c[:, 3] * absent.square - 2 * (absent.crossed * v).sum(axis=1))
        before = (z * v[absent.who]).sum(axis=1) - c[absent.who, 3] * absent.nu
        after = absent.psi - z @ others[0]
        change = np.bincount(absent.who, after**2 - before**2, len(c))
        return np.asarray(np.maximum(everywhere + change, 0.0))
