r"""The linear-time road for sums over pairs of sets.

A distance that depends on a = \|A\|, b = \|B\| and i = \|A ∩ B\| alone has, for each pair of sizes,
an expansion in binomials: d(a, b, i) = sum_p g_p(a, b) C(i, p) with
g_p(a, b) = sum_{j <= p} (-1)^(p - j) C(p, j) d(a, b, j). As C(\|A ∩ B\|, p) counts the p-subsets
that lie in both sets,

    (D y)_A = sum_p sum_{S in A, \|S\| = p} sum_b g_p(a, b) Y_b(S),

where Y_b(S) is the sum of y_B over the sets B of size b that contain S. The cost is the number of
(set, subset) pairs instead of K x K.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.weights.base import Codes, Floats
from setagree.weights.geometry import SetGeometry

Ints: TypeAlias = npt.NDArray[np.int64]
SizeFunction: TypeAlias = Callable[[Any, Any, Any], Floats]


@dataclass(frozen=True)
class SubsetLevel:
    """The pairs of a set and one of its subsets of one size, where another set shares the subset.

    Attributes
    ----------
    kept : ndarray of shape (n_sets,)
        How many entries each enumerated set has; the entries stand in the order of the sets.
    cells : ndarray of shape (n_entries,)
        Position in the flattened (n_subsets, n_sizes) table of Y_b(S) with b the set's own size.
    n_subsets : int
        How many subsets of this size are shared.
    """

    kept: Codes
    cells: Codes
    n_subsets: int

    def totals(self, y: Floats, n_sizes: int) -> Floats:
        """Return Y_b(S) of shape (n_subsets, n_sizes)."""
        of_entry = np.repeat(y, self.kept)
        totals = np.bincount(self.cells, of_entry, self.n_subsets * n_sizes).astype(np.float64)
        return totals.reshape(-1, n_sizes)

    def add_to_sets(self, out: Floats, credit: Floats) -> None:
        """Add to each set the credit of its entries, credit of shape (n_subsets, n_sizes)."""
        held = np.flatnonzero(self.kept)
        starts = (np.cumsum(self.kept) - self.kept)[held]
        out[held] += np.add.reduceat(credit.ravel()[self.cells], starts)


class SubsetIndex:
    """The shared subsets of some of the sets, level by level; knows nothing of the distance."""

    def __init__(self, geometry: SetGeometry, codes: Codes) -> None:
        sizes = geometry.sizes[codes]
        self.sizes, self.size_codes = np.unique(sizes, return_inverse=True)
        self.levels = self._enumerate(geometry, codes, sizes)

    def dot(self, y: Floats, distance: SizeFunction) -> Floats:
        """Return D @ y over the enumerated sets, y of shape (n_sets,)."""
        out = np.zeros(len(y))
        own = np.zeros(len(y))
        for p, level in enumerate(self.levels):
            g = binomial_coefficients(self.sizes, p, distance)
            if not g.any():
                continue
            # Not matmul: the table is tall and thin, and BLAS threads cost more than they save.
            credit = np.einsum("sb,ab->sa", level.totals(y, len(self.sizes)), g)
            level.add_to_sets(out, credit)
            own += level.kept * np.diagonal(g)[self.size_codes]
        # Subsets that one set alone holds were left out. They would only complete the distance of
        # that set to itself, which is 0: so what was counted of it is taken off again.
        return out - own * y

    def _enumerate(self, geometry: SetGeometry, codes: Codes, sizes: Ints) -> list[SubsetLevel]:
        n_sizes, n_labels = len(self.sizes), max(1, len(geometry.labels))
        values = np.arange(len(codes))
        subsets = np.zeros(len(codes), dtype=np.int64)
        places = np.full(len(codes), -1)
        levels = [SubsetLevel(np.ones(len(codes), dtype=np.int64), self.size_codes, 1)]
        while True:
            longer = sizes[values] - 1 - places
            parent = np.repeat(np.arange(len(values)), longer)
            offset = np.arange(len(parent)) - np.repeat(np.cumsum(longer) - longer, longer)
            values, places = values[parent], places[parent] + 1 + offset
            labels = geometry.indices[geometry.indptr[codes[values]] + places]
            keys, n_keys = _factorise(subsets[parent] * n_labels + labels)
            keep, subsets, n_shared = _shared_only(keys, n_keys)
            if not n_shared:
                return levels
            values, places = values[keep], places[keep]
            cells = subsets * n_sizes + self.size_codes[values]
            kept = np.bincount(values, minlength=len(codes))
            levels.append(SubsetLevel(kept, cells, n_shared))


def binomial_coefficients(sizes: Ints, p: int, distance: SizeFunction) -> Floats:
    """Return g_p(a, b) for all pairs of sizes, 0 where no subset of size p fits in both."""
    a, b = np.meshgrid(sizes, sizes, indexing="ij")
    fits = np.minimum(a, b) >= p
    out = np.zeros(a.shape)
    size = np.zeros(a.shape)
    for j in range(p + 1):
        term = comb(p, j) * distance(a[fits], b[fits], np.full(int(fits.sum()), j))
        out[fits] += (-1) ** (p - j) * term
        size[fits] += np.abs(term)
    # What rounding leaves of a coefficient that is 0 would only cost time.
    return np.where(np.abs(out) <= 1e-15 * size, 0.0, out)


def _factorise(keys: Ints) -> tuple[Ints, int]:
    codes, distinct = pd.factorize(keys)
    return codes.astype(np.int64, copy=False), len(distinct)


def _shared_only(keys: Ints, n_keys: int) -> tuple[npt.NDArray[np.bool_], Ints, int]:
    """Keep the entries whose subset lies in two sets or more, and number those subsets anew."""
    shared = np.bincount(keys, minlength=n_keys) > 1
    keep = shared[keys]
    numbers = np.cumsum(shared) - 1
    return keep, numbers[keys[keep]], int(shared.sum())
