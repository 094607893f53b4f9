"""Distances of sets looked up by their sizes and what they share."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from setagree.credit.base import Codes, Floats
from setagree.credit.geometry import size_classes
from setagree.credit.subsets import SizeFunction

_TABLE_LIMIT, _LOOKUPS_A_PAIR = 2_000_000, 8
"""Entries that are made at once: in all, and for each pair of values."""


_KINDS = (np.uint8, np.uint16, np.int32)


class SizeTable:
    r"""d(\|A\|, \|B\|, \|A ∩ B\|) over the sizes in use.

    Attributes
    ----------
    sizes : ndarray of shape (n_sizes,)
        The distinct sizes, ascending.
    codes : ndarray of shape (K,)
        Each set's position among them.
    """

    def __init__(self, function: SizeFunction, sizes: Codes) -> None:
        self.function = function
        self.sizes, self.codes = size_classes(sizes)

    @cached_property
    def entries(self) -> Floats | None:
        """The distances by size codes and overlap, or None where they would be too many.

        So they are where the pairs of values themselves are fewer.
        """
        n, top = len(self.sizes), int(self.sizes[-1]) + 1
        if n * n * top > min(_TABLE_LIMIT, _LOOKUPS_A_PAIR * len(self.codes) ** 2):
            return None
        a, b, i = np.meshgrid(self.sizes, self.sizes, np.arange(top), indexing="ij")
        possible = i <= np.minimum(a, b)
        table = np.full(a.shape, np.nan)
        table[possible] = self.function(a[possible], b[possible], i[possible])
        return table.ravel()

    def at(self, a: Any, b: Any, i: Any) -> Floats:
        """Return the distances, elementwise, for codes of sizes."""
        if self.entries is None:
            shape = np.broadcast_shapes(a.shape, b.shape, i.shape)
            sizes_a, sizes_b = (np.broadcast_to(self.sizes[s], shape) for s in (a, b))
            return np.asarray(self.function(sizes_a, sizes_b, i.astype(np.int64)))
        place = i.astype(np.intp)
        place += self._starts(a, b)
        return np.asarray(self.entries.take(place))

    def between(self, k: Codes, l: Codes, i: Any) -> Floats:
        """Return the distances, elementwise, for codes of values."""
        if self.entries is None:
            return self.at(self.codes[k], self.codes[l], i)
        first, second = self._offsets
        place = first.take(k)
        place += second.take(l)
        return np.asarray(self.entries.take(place + i))

    def across(self, rows: Codes, columns: Codes, i: Any) -> Floats:
        """Return the distances between all of some values and all of some others."""
        if self.entries is None:
            return self.at(self.codes[rows][:, None], self.codes[columns][None, :], i)
        first, second = self._offsets
        place = _once(first[rows])[:, None] + _once(second[columns])[None, :] + i
        return np.asarray(self.entries.take(place))

    @cached_property
    def _offsets(self) -> tuple[Codes, Codes]:
        """Where the entries of each value start, as the first of two and as the second.

        Of few entries in a byte: sums of bytes cost a quarter.
        """
        n, top = len(self.sizes), int(self.sizes[-1]) + 1
        kind = next(kind for kind in _KINDS if n * n * top - 1 <= np.iinfo(kind).max)
        return (self.codes * (n * top)).astype(kind), (self.codes * top).astype(kind)

    def step(self, a: Any, b: Any, i: Any, more: Any) -> Floats:
        """Return by how much the distances change where `more` labels are shared beside i."""
        if self.entries is None:
            return self.at(a, b, i + more) - self.at(a, b, i)
        start = self._starts(a, b) + i
        return np.asarray(self.entries.take(start + more) - self.entries.take(start))

    def _starts(self, a: Any, b: Any) -> Any:
        return (a * len(self.sizes) + b) * (int(self.sizes[-1]) + 1)


def _once(offsets: Codes) -> Codes:
    """Return one offset instead of many equal ones, which saves an addition for each pair."""
    return offsets[:1] if (offsets == offsets[0]).all() else offsets
