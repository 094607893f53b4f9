"""Weights of overlap distances, with frequent and rare labels, and closed forms for scales."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from setagree.checks import Codes, Floats, cached_property
from setagree.credit.base import (
    BlockWeights,
    Weights,
    add_symmetric_blocks,
    in_blocks,
    largest_in_blocks,
)
from setagree.credit.cost_model import CostModel, Plan
from setagree.credit.geometry import SetGeometry, zeroed
from setagree.credit.subsets import SizeFunction, SizeTable, SubsetIndex
from setagree.distances.base import OverlapDistance, ScaleDistance
from setagree.distances.matrix import LEAST, MOST, ROUNDING
from setagree.errors import DistanceError
from setagree.wording.label_sets import LabelSet

_PRODUCT_BLOCK_SIZE = 200_000
"""Number of products of ones that one block of rows sums; its arrays take about 15 MB."""

_BANDS = 16
"""Number of bands of rows; each is multiplied by itself and the bands below it."""


_MANY_COLUMNS = 16
"""Number of columns from which a product counts as one of many; fewer count as one column."""

Change: TypeAlias = tuple[slice, slice, Any]
"""Rows, columns, and the change of their distances by shared tail labels."""


class HeavyTail:
    """Sums by heavy labels and tails over some sets, those of `codes`, of shape (n_sets,)."""

    def __init__(self, geometry: SetGeometry, codes: Codes, plan: Plan) -> None:
        self.geometry = geometry
        self.codes = codes
        self.plan = plan
        self._kept: tuple[SizeTable, list[Change]] | None = None

    @cached_property
    def subsets(self) -> SubsetIndex:
        """The subsets of heavy labels."""
        plan = self.plan
        return SubsetIndex(self.geometry, self.codes, plan.n_heavy, keeps=plan.keeps)

    def dot(self, y: Floats, function: SizeFunction, table: SizeTable) -> Floats:
        """Return D @ y over the sets, y of shape (n_sets, B)."""
        out = self.subsets.dot(y, function)
        if self.plan.n_heavy < len(self.geometry.labels):
            live = self._tail[0]
            x, added = y[live], np.zeros((len(live), y.shape[1]))
            for rows, columns, change in self._changes(table):
                added[rows] += change @ x[columns]
                added[columns] += change.T @ x[rows]
            out[live] += added
        return out

    def _changes(self, table: SizeTable) -> Iterable[Change]:
        """Return the changes of distances by tail labels, over pairs of sets that share one."""
        if self.plan.keeps and self._kept is None:
            self._kept = table, list(self._made(table))
        if self._kept is not None and self._kept[0] is table:
            return self._kept[1]
        return self._made(table)

    def _made(self, table: SizeTable) -> Iterator[Change]:
        from scipy import sparse

        live, tail, words = self._tail
        sizes = table.codes[self.codes[live]]
        for first, rows, columns, product in self._products(tail):
            n_partners = np.diff(product.indptr)
            l = product.indices + np.int32(first)
            heavy = np.zeros(len(l), dtype=np.uint8)
            for word in words:
                heavy += np.bitwise_count(np.repeat(word[rows], n_partners) & word.take(l))
            k_sizes = np.repeat(sizes[rows], n_partners)
            change = table.step(k_sizes, sizes.take(l), heavy, product.data)
            # Each pair once, without pairs of a set with itself.
            k = np.arange(rows.start, rows.stop, dtype=np.int32)
            change *= l > np.repeat(k, n_partners)
            entries = (change, product.indices, product.indptr)
            yield rows, columns, sparse.csr_array(entries, shape=product.shape)

    @cached_property
    def _tail(self) -> tuple[Codes, Any, Any]:
        """The sets with tail labels, these labels as a sparse matrix, the heavy ones as bits."""
        from scipy import sparse

        geometry, h = self.geometry, self.plan.n_heavy
        n, ranks = geometry.n_values, geometry.ranks
        rows = np.repeat(np.arange(n), geometry.sizes)
        is_tail = ranks >= h
        words = np.zeros((-(-h // 64), n), dtype=np.uint64)
        bits = np.uint64(1) << (ranks[~is_tail] % 64).astype(np.uint64)
        np.bitwise_or.at(words, (ranks[~is_tail] // 64, rows[~is_tail]), bits)
        indptr = np.append(0, np.cumsum(np.bincount(rows[is_tail], minlength=n)))
        ones = np.ones(indptr[-1], dtype=np.int32)
        members = (ranks[is_tail] - h).astype(np.int32)
        entries = (ones, members, indptr.astype(np.int32))
        tail = sparse.csr_array(entries, shape=(n, len(geometry.labels) - h))[self.codes]
        live = np.flatnonzero(np.diff(tail.indptr))
        return live, tail[live], words[:, self.codes[live]]

    def _products(self, tail: Any) -> Iterator[tuple[int, slice, slice, Any]]:
        """Yield the counts of shared tail labels of a block of rows with itself and all below."""
        n = tail.shape[0]
        if not n:
            return  # the rare labels are in sets that are compared in blocks
        bands = _cuts(_work(tail, np.bincount(tail.indices, minlength=tail.shape[1])), _BANDS)
        for first, last in pairwise(bands):
            below = tail[first:].T.tocsr()
            work = _work(tail[first:last], np.diff(below.indptr))
            runs = first + _cuts(work, 1 + int(work.sum()) // _PRODUCT_BLOCK_SIZE)
            for start, stop in pairwise(runs):
                rows = slice(start, stop)
                yield first, rows, slice(first, n), tail[rows] @ below


def _work(tail: Any, n_sets: Codes) -> Codes:
    """Return the number of products of each row."""
    ends = np.append(0, np.cumsum(n_sets[tail.indices], dtype=np.int64))
    return np.asarray(np.diff(ends[tail.indptr]))


def _cuts(work: Codes, n_parts: int) -> Codes:
    """Return the bounds of blocks of rows with about equally many products."""
    ends = np.cumsum(work)
    inner = np.searchsorted(ends, np.linspace(0, ends[-1], n_parts + 1)[1:-1])
    return np.unique(np.concatenate([[0], inner, [len(work)]]))


class Algorithms:
    """The algorithms for products of the weights of some sets; they do not depend on the distance.

    The choice depends on the sets and on the number of columns alone.
    """

    def __init__(self, geometry: SetGeometry) -> None:
        self.geometry = geometry
        self.costs = CostModel(geometry)
        self.by_size = np.argsort(geometry.sizes, kind="stable")
        self._made: dict[Plan, HeavyTail] = {}
        self._plans: dict[int, Plan] = {}

    def of(self, n_columns: int) -> HeavyTail:
        """Return the cheapest algorithm for products of about so many columns."""
        n_columns = 1 if n_columns < _MANY_COLUMNS else _MANY_COLUMNS
        if n_columns not in self._plans:
            self._plans[n_columns] = self.costs.cheapest(n_columns)
        plan = self._plans[n_columns]
        if plan not in self._made:
            n_small = np.count_nonzero(self.geometry.sizes <= plan.largest)
            self._made[plan] = HeavyTail(self.geometry, self.by_size[:n_small], plan)
        return self._made[plan]


_TRIED = 40

_PAIR_BLOCK_SIZE = 32_768
"""Number of pairs whose arrays fit in the cache."""


class OverlapWeights(BlockWeights):
    r"""Credit from (\|A\|, \|B\|, \|A ∩ B\|).

    `geometry` has the sets that are compared: the values themselves, or their closures. `distance`
    was checked for all sizes that can occur.
    """

    def __init__(
        self,
        values: tuple[LabelSet, ...],
        geometry: SetGeometry,
        distance: OverlapDistance,
        algorithms: Algorithms | None = None,
    ) -> None:
        super().__init__(values)
        self.geometry = geometry
        self.distance = distance
        self.algorithms = algorithms or Algorithms(geometry)
        self.function = zeroed(distance)
        self.table = SizeTable(self.function, geometry.sizes)
        self.sizes, self.size_codes = self.table.sizes, self.table.codes

    @cached_property
    def max_distance(self) -> float:
        """d_max; for an unbounded distance the largest among the values, never 0."""
        return 1.0 if self.distance.bounded else self._largest() or 1.0

    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""
        return in_blocks(self._distance_at, k, l, _PAIR_BLOCK_SIZE)

    def _distance_at(self, k: Codes, l: Codes) -> Floats:
        return self.table.between(k, l, self.geometry.shared(k, l))

    def block(self, rows: Codes, columns: Codes) -> Floats:
        """Return the distances between all of some values and all of some others."""
        return self.table.across(rows, columns, self.geometry.shared_block(rows, columns))

    def distance_dot(self, x: Floats) -> Floats:
        """Return D @ x for x of shape (K,) or (K, B), by the cheaper algorithm for each part."""
        out = np.zeros(x.shape)
        by_labels = self.algorithms.of(x[:1].size)
        small = by_labels.codes
        large = self.algorithms.by_size[len(small) :]
        if small.size:
            part = by_labels.dot(x[small].reshape(len(small), -1), self.function, self.table)
            out[small] += part.reshape((len(small), *x.shape[1:]))
        add_symmetric_blocks(self, large, small, x, out)
        return out

    def squares(self, x: Floats) -> float:
        """Return sum_kl x_k x_l (d_kl / d_max)²; the square is an overlap distance, too."""
        function, d_max = self.function, self.max_distance
        squared = OverlapDistance(
            lambda a, b, i: (np.asarray(function(a, b, i)) / d_max) ** 2, name="squared"
        )
        # Shared labels do not depend on the distance.
        other = OverlapWeights(self.values, self.geometry, squared, self.algorithms)
        return float(x @ other.distance_dot(x))

    def _largest(self) -> float:
        """Search the pairs of sizes by descending largest possible distance, and stop early."""
        if self.n_values**2 <= 2 * len(self.sizes) ** 2 * int(self.sizes[-1]):
            return largest_in_blocks(self, self.algorithms.by_size)
        bounds = self._bounds()
        largest = 0.0
        for a, b in np.argwhere(bounds >= 0)[np.argsort(-bounds.ravel(), kind="stable")]:
            if a > b:
                continue
            if bounds[a, b] <= largest:
                break
            rows, columns = (np.flatnonzero(self.size_codes == s) for s in (a, b))
            largest = max(largest, self._largest_between(rows, columns, bounds[a, b]))
        return largest

    def _bounds(self) -> Floats:
        """Return the largest possible distance between sets, for all pairs of sizes."""
        b, i = self.sizes[:, None], np.arange(int(self.sizes[-1]) + 1)
        out = np.zeros((len(self.sizes), len(self.sizes)))
        for k, a in enumerate(self.sizes):
            possible = (i >= a + b - len(self.geometry.labels)) & (i <= np.minimum(a, b))
            of_b, shared = np.nonzero(possible)
            d = np.zeros(possible.shape)
            d[possible] = self.function(np.full(of_b.shape, a), self.sizes[of_b], shared)
            out[k] = d.max(axis=1)
        return out

    def _largest_between(self, rows: Codes, columns: Codes, bound: float) -> float:
        largest = 0.0
        for start in range(0, len(rows), 256):
            for begin in range(0, len(columns), 4_096):
                part = self.block(rows[start : start + 256], columns[begin : begin + 4_096])
                largest = max(largest, float(part.max()))
                if largest >= bound:
                    return largest
        return largest


def check_overlap_function(distance: OverlapDistance, sizes: Codes) -> None:
    """Raise `DistanceError` if the function of a distance is not a distance between sets.

    All sizes up to 40 and below the largest are tried, and at most 40 of those above.
    """
    above = sizes[sizes > _TRIED]
    some = above[np.linspace(0, len(above) - 1, min(_TRIED, len(above))).astype(np.int64)]
    top = np.concatenate([np.arange(min(int(sizes[-1]), _TRIED) + 1), some])
    a, b, i = (grid.ravel() for grid in np.meshgrid(top, top, top, indexing="ij"))
    possible = i <= np.minimum(a, b)
    a, b, i = a[possible], b[possible], i[possible]
    d, swapped = _tried(distance, a, b, i), _tried(distance, b, a, i)
    same = (a == b) & (b == i)
    slack = ROUNDING * float(d.max(initial=0.0, where=np.isfinite(d)))
    rules = {
        "is finite": ~np.isfinite(d),
        "is not negative": d < -ROUNDING,
        "is 0 between equal sets (is it a similarity?)": same & (np.abs(d) > ROUNDING),
        "is symmetric": ~(np.abs(d - swapped) <= slack),
        f"is 0 or between {LEAST:g} and {MOST:g}": ~same & (d > 0) & ((d < LEAST) | (d > MOST)),
        "stays at 1 or below unless bounded=False": distance.bounded & (d > 1),
    }
    for rule, broken in rules.items():
        if broken.any():
            k = int(np.flatnonzero(broken)[0])
            shown = f"{d[k]} one way and {swapped[k]} the other" if "symm" in rule else f"{d[k]}"
            raise DistanceError(
                f"a distance {rule}; {distance.name!r} gives {shown} for |A|={a[k]}, |B|={b[k]}, "
                f"|A ∩ B|={i[k]}."
            )


def _tried(distance: OverlapDistance, a: Any, b: Any, i: Any) -> Floats:
    """Call a user's function for the first time; errors are chained with a message."""
    try:
        with np.errstate(all="ignore"):
            d: Floats = np.asarray(distance.function(a, b, i), dtype=np.float64)
    except Exception as error:
        raise DistanceError(
            f"the function of {distance.name!r} raised {error!r}; it is called with three arrays, "
            "|A|, |B| and |A ∩ B|, and returns an array of their shape."
        ) from error
    if d.shape not in {(), a.shape}:
        raise DistanceError(
            f"the function of {distance.name!r} returned shape {d.shape} for arrays of shape "
            f"{a.shape}."
        )
    return np.broadcast_to(d, a.shape)


class NominalWeights(Weights):
    """d = 1 between different values."""

    max_distance = 1.0

    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""
        return np.asarray(k != l).astype(float)

    def distance_dot(self, x: Floats) -> Floats:
        """Return D @ x = sum(x) - x."""
        return np.asarray(x.sum(axis=0) - x)

    def squares(self, x: Floats) -> float:
        """Return the sum of x_k x_l over different values."""
        return float(x @ self.distance_dot(x))


class _ScaleWeights(Weights):
    """Weights of a distance between one position per value."""

    def __init__(self, values: tuple[Any, ...], positions: Floats) -> None:
        super().__init__(values)
        self.positions = positions

    def block(self, rows: Codes, columns: Codes) -> Floats:
        """Return the distances between all of some values and all of some others."""
        return self.distance_at(rows[:, None], columns)


class SquaredWeights(_ScaleWeights):
    """d = (p_k - p_l)² with one position per value."""

    @cached_property
    def max_distance(self) -> float:
        """d_max, the squared width of the positions; never 0."""
        return float(np.ptp(self.positions) ** 2) or 1.0

    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""
        return np.asarray((self.positions[k] - self.positions[l]) ** 2)

    def distance_dot(self, x: Floats) -> Floats:
        """Return D @ x = p² sum(x) - 2 p sum(p x) + sum(p² x), with p around its weighted mean."""
        # Around that mean the mixed term is almost 0, so that no digits cancel; the position of a
        # value of weight 0 does not matter.
        p = _around_mean(self.positions, x)
        total, first, second = x.sum(axis=0), (p * x).sum(axis=0), (p * p * x).sum(axis=0)
        return np.asarray(p * p * total - 2 * p * first + second)

    def squares(self, x: Floats) -> float:
        """Return the sum of x_k x_l (p_k - p_l)^4 / d_max², from the moments around the mean."""
        p = _around_mean(self.positions, x) / np.sqrt(self.max_distance)
        m = [float(x @ p**power) for power in range(5)]
        return 2 * (m[0] * m[4] - 4 * m[1] * m[3] + 3 * m[2] ** 2)


class AbsoluteWeights(_ScaleWeights):
    r"""d = \|p_k - p_l\| with one position per value."""

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
    r"""Return the positions minus their mean weighted by \|x\|, in a shape that matches x."""
    # Subtract the lowest position in use first: the mean of numbers far from 0 loses digits.
    used = positions[(x != 0).reshape(len(x), -1).any(axis=1)]
    p = (positions - (used.min() if used.size else 0.0)).reshape(-1, *(1,) * (x.ndim - 1))
    size = np.abs(x)
    total = np.asarray(size.sum(axis=0))
    return np.asarray(p - (p * size).sum(axis=0) / np.where(total == 0, 1, total))


class PointWeights(_ScaleWeights, BlockWeights):
    """d = f(p_k, p_l) with one position per value, in blocks."""

    def __init__(self, values: tuple[Any, ...], positions: Floats, distance: ScaleDistance) -> None:
        super().__init__(values, positions)
        self.distance = distance

    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""
        p = self.positions
        return self.distance.function(p[k], p[l], float(p.min()), float(p.max()))
