r"""The road for large vocabularies: a few frequent labels, and pairs that share a rare one.

With i_H of the shared labels among the h most frequent ("heavy") ones and i_T among the rest, the
tail, exactly

    (D y)_A = sum_B d(a, b, i_H) y_B + sum_{B shares a tail label} [d(a, b, i_H + i_T)
                                                                    - d(a, b, i_H)] y_B.

The first sum goes by subsets of the heavy labels. The second is over few pairs, where tail labels
are rare: they are the entries of the sparse product of the sets' tails with themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from setagree.credit.base import Codes, Floats
from setagree.credit.geometry import SetGeometry
from setagree.credit.roads import Plan
from setagree.credit.subsets import Ints, SizeFunction, SubsetIndex
from setagree.credit.table import SizeTable

_PRODUCTS_AT_ONCE = 200_000
"""Products of two ones that one run of rows adds up; its arrays take about 15 MB."""

_BANDS = 16
"""Bands of rows, each multiplied with itself and the bands below it: half of the pairs."""


Change: TypeAlias = tuple[slice, slice, Any]
"""Rows, columns, and by how much shared tail labels change the distances between their sets."""


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
        """Return what tail labels change, over pairs of sets that share one."""
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
            # Each pair once, and no set with itself.
            k = np.arange(rows.start, rows.stop, dtype=np.int32)
            change *= l > np.repeat(k, n_partners)
            entries = (change, product.indices, product.indptr)
            yield rows, columns, sparse.csr_array(entries, shape=product.shape)

    @cached_property
    def _tail(self) -> tuple[Ints, Any, Any]:
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
        """Yield the counts of shared tail labels, of some rows with themselves and all below."""
        n = tail.shape[0]
        if not n:
            return  # the rare labels stand in sets that go by blocks
        bands = _cuts(_work(tail, np.bincount(tail.indices, minlength=tail.shape[1])), _BANDS)
        for first, last in pairwise(bands):
            below = tail[first:].T.tocsr()
            work = _work(tail[first:last], np.diff(below.indptr))
            runs = first + _cuts(work, 1 + int(work.sum()) // _PRODUCTS_AT_ONCE)
            for start, stop in pairwise(runs):
                rows = slice(start, stop)
                yield first, rows, slice(first, n), tail[rows] @ below


def _work(tail: Any, n_sets: Ints) -> Ints:
    """Return how many products each row asks for."""
    ends = np.append(0, np.cumsum(n_sets[tail.indices], dtype=np.int64))
    return np.asarray(np.diff(ends[tail.indptr]))


def _cuts(work: Ints, n_parts: int) -> Ints:
    """Return the bounds of runs of rows that ask for about equally many products."""
    ends = np.cumsum(work)
    inner = np.searchsorted(ends, np.linspace(0, ends[-1], n_parts + 1)[1:-1])
    return np.unique(np.concatenate([[0], inner, [len(work)]]))
