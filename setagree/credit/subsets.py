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

from setagree.credit.base import Codes, Floats
from setagree.credit.geometry import SetGeometry, size_classes

Ints: TypeAlias = npt.NDArray[np.int64]
_CELLS_AT_ONCE = 4_000_000
"""Entries of the table of Y_b(S) that are held at a time; 32 MB of doubles."""

SizeFunction: TypeAlias = Callable[[Any, Any, Any], Floats]


@dataclass(frozen=True)
class SubsetLevel:
    r"""The pairs of a set and one of its subsets of one size, where another set shares the subset.

    Attributes
    ----------
    kept : ndarray of shape (n_sets,)
        How many entries each enumerated set has.
    incidence : sparse array of shape (n_sets, n_sizes * n_subsets)
        1 where set A holds subset S, in the column of (\|A\|, S).
    """

    kept: Codes
    incidence: Any


class SubsetIndex:
    """The shared subsets of some of the sets, level by level; knows nothing of the distance."""

    def __init__(self, geometry: SetGeometry, codes: Codes) -> None:
        sizes = geometry.sizes[codes]
        self.sizes, self.size_codes = size_classes(sizes)
        self.levels = self._enumerate(geometry, codes, sizes)

    def dot(self, y: Floats, distance: SizeFunction) -> Floats:
        """Return D @ y over the enumerated sets, y of shape (n_sets, B)."""
        out = np.zeros(y.shape)
        own = np.zeros(len(y))
        for p, level in enumerate(self.levels):
            g = binomial_coefficients(self.sizes, p, distance)
            if not g.any():
                continue
            width = max(1, _CELLS_AT_ONCE // level.incidence.shape[1])
            for start in range(0, y.shape[1], width):
                part = slice(start, start + width)
                totals = (level.incidence.T @ y[:, part]).reshape(len(g), -1)
                # Not matmul: the table is long and thin, and BLAS threads cost more than they save.
                credit = np.einsum("ab,bs->as", g, totals).reshape(level.incidence.shape[1], -1)
                out[:, part] += level.incidence @ credit
            own += level.kept * np.diagonal(g)[self.size_codes]
        # Subsets that one set alone holds were left out. They would only complete the distance of
        # that set to itself, which is 0: so what was counted of it is taken off again.
        return np.asarray(out - own[:, None] * y)

    def _enumerate(self, geometry: SetGeometry, codes: Codes, sizes: Ints) -> list[SubsetLevel]:
        n_sizes, n_labels = len(self.sizes), max(1, len(geometry.labels))
        values = np.arange(len(codes))
        subsets = np.zeros(len(codes), dtype=np.int64)
        places = np.full(len(codes), -1)
        ones = np.ones(len(codes), dtype=np.int64)
        levels = [_level(ones, self.size_codes, n_sizes)]
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
            kept = np.bincount(values, minlength=len(codes))
            cells = self.size_codes[values] * n_shared + subsets
            levels.append(_level(kept, cells, n_sizes * n_shared))


def _level(kept: Codes, cells: Codes, n_cells: int) -> SubsetLevel:
    from scipy import sparse

    indptr = np.concatenate([[0], np.cumsum(kept)])
    entries = (np.ones(len(cells)), cells.astype(np.int32), indptr.astype(np.int32))
    return SubsetLevel(kept, sparse.csr_array(entries, shape=(len(kept), n_cells)))


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
