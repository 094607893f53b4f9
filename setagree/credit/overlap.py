"""Weights of overlap distances: by shared labels, or by blocks of bit counts."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np

from setagree.credit.base import (
    BlockWeights,
    Codes,
    Floats,
    add_symmetric_blocks,
    largest_in_blocks,
)
from setagree.credit.geometry import SetGeometry
from setagree.credit.heavy_tail import HeavyTail
from setagree.credit.roads import Roads, Use
from setagree.credit.table import SizeTable
from setagree.distances.base import OverlapDistance, OverlapFunction
from setagree.distances.matrix import LEAST, MOST, ROUNDING
from setagree.errors import DistanceError
from setagree.wording.label_sets import LabelSet

_TRIED = 40

_PAIRS_AT_ONCE = 32_768
"""Pairs whose arrays stay in the cache."""


class OverlapWeights(BlockWeights):
    r"""Credit from (\|A\|, \|B\|, \|A ∩ B\|).

    `geometry` has the sets that are compared: the values themselves, or their closures; `distance`
    was checked over all that can occur.
    """

    def __init__(
        self, values: tuple[LabelSet, ...], geometry: SetGeometry, distance: OverlapDistance
    ) -> None:
        super().__init__(values)
        self.geometry = geometry
        self.distance = distance
        self.function = zeroed(distance)
        self.table = SizeTable(self.function, geometry.sizes)
        self._use = Use(0, 0)
        self._road: HeavyTail | None = None
        self.sizes, self.size_codes = self.table.sizes, self.table.codes

    @cached_property
    def max_distance(self) -> float:
        """d_max; for an unbounded distance the largest among the values, never 0."""
        return 1.0 if self.distance.bounded else self._largest() or 1.0

    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""
        out = np.empty(len(k))
        for start in range(0, len(k), _PAIRS_AT_ONCE):
            part = slice(start, start + _PAIRS_AT_ONCE)
            shared = self.geometry.shared(k[part], l[part])
            out[part] = self.table.between(k[part], l[part], shared)
        return out

    def block(self, rows: Codes, columns: Codes) -> Floats:
        """Return the distances between all of some values and all of some others."""
        return self.table.across(rows, columns, self.geometry.shared_block(rows, columns))

    def distance_dot(self, x: Floats) -> Floats:
        """Return D @ x for x of shape (K,) or (K, B), by the cheaper road for each part."""
        out = np.zeros(x.shape)
        road = self._road_of(x[:1].size)
        small, large = road.codes, self._by_size[len(road.codes) :]
        if small.size:
            part = road.dot(x[small].reshape(len(small), -1), self.function, self.table)
            out[small] += part.reshape((len(small), *x.shape[1:]))
        add_symmetric_blocks(self, large, small, x, out)
        return out

    def squares(self, x: Floats) -> float:
        """Return the sum of x_k x_l (d_kl / d_max)²: squared, an overlap distance is one again."""
        function, d_max = self.function, self.max_distance
        squared = OverlapDistance(
            lambda a, b, i: (np.asarray(function(a, b, i)) / d_max) ** 2, name="squared"
        )
        other = OverlapWeights(self.values, self.geometry, squared)
        # What is shared does not depend on the distance.
        vars(other).update(roads=self.roads, _road=self._road)
        return float(x @ other.distance_dot(x))

    @cached_property
    def roads(self) -> Roads:
        """What each way to D @ x would cost."""
        return Roads(self.geometry)

    @cached_property
    def _by_size(self) -> Codes:
        return np.argsort(self.geometry.sizes, kind="stable")

    def _road_of(self, n_columns: int) -> HeavyTail:
        """Return the road for as many products and columns as there were until now, with this one.

        So what is worth making only for many products is made once there were many. That is asked
        at the first product, the second, the fourth, the eighth ...
        """
        calls, columns = self._use
        self._use = use = Use(calls + 1, columns + n_columns)
        road = self._road
        if road is None or (use.calls & calls) == 0 or use.columns >= 4 * columns:
            plan = self.roads.cheapest(use)
            # What is kept is not made anew for a slightly better plan.
            if road is None or not (plan == road.plan or (plan.keeps and road.plan.keeps)):
                n_small = np.count_nonzero(self.geometry.sizes <= plan.largest)
                road = self._road = HeavyTail(self.geometry, self._by_size[:n_small], plan)
        return road

    def _largest(self) -> float:
        """Look at pairs of sizes from the greatest possible distance down, and stop early."""
        if self.n_values**2 <= 2 * len(self.sizes) ** 2 * int(self.sizes[-1]):
            return largest_in_blocks(self, self._by_size)
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
        """Return the greatest distance that sets of two sizes can have, for all pairs of sizes."""
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


def zeroed(distance: OverlapDistance) -> OverlapFunction:
    """Return the function of a distance that was checked, with its rounding taken as 0."""
    if vars(distance).get("_rounds"):
        return partial(_without_rounding, distance.function)
    return distance.function


def _without_rounding(function: OverlapFunction, a: Any, b: Any, i: Any) -> Floats:
    """Return the distances of a function, with rounding below zero and between equal sets as 0."""
    d = np.asarray(function(a, b, i), dtype=np.float64)
    return np.where((d < 0) | ((a == b) & (b == i)), 0.0, d)


def check_overlap_function(distance: OverlapDistance, sizes: Codes) -> bool:
    """Say whether the function of a distance rounds where it is to be 0; refuse what is none.

    All sizes up to 40 are tried, below the largest, and 40 of those above at most.
    """
    above = sizes[sizes > _TRIED]
    some = above[np.linspace(0, len(above) - 1, min(_TRIED, len(above))).astype(np.int64)]
    top = np.concatenate([np.arange(min(int(sizes[-1]), _TRIED) + 1), some])
    a, b, i = (grid.ravel() for grid in np.meshgrid(top, top, top, indexing="ij"))
    possible = i <= np.minimum(a, b)
    a, b, i = a[possible], b[possible], i[possible]
    d, swapped = _tried(distance, a, b, i), _tried(distance, b, a, i)
    same = (a == b) & (b == i)
    rounds = bool(((d < 0) | (same & (d != 0))).any())
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
    return rounds


def _tried(distance: OverlapDistance, a: Any, b: Any, i: Any) -> Floats:
    """Call a user's function for the first time; what goes wrong is worded and chained."""
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
