"""Cost model of the algorithms for products of weights."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
import numpy.typing as npt

from setagree.checks import Floats, cached_property, check_cost
from setagree.credit.geometry import SetGeometry
from setagree.credit.subsets import ranked
from setagree.study.codes import ranges

# Seconds on one core, once: a (set, subset) entry by rank and by list, two sets that share a tail
# label, a pair in a block and each further word of it.
_RANKED_COST = 1.0e-8
_LISTED_COST = 8.0e-8
_TAIL_COST = 2.2e-8
_PAIR_COST = 2.6e-9
_WORD_COST = 8.0e-10
_LEVEL_COST = 2.0e-4

# Seconds per column: an entry, two sets that share a tail label, a pair in a block, and a pair of
# sizes for each cell of a table.
_ENTRY_COLUMN = 5.0e-9
_TAIL_COLUMN = 5.0e-9
_PAIR_COLUMN = 1.0e-10
_CELL_COLUMN = 1.0e-9

_STEP_COST = 3.0e-8
"""Seconds per step of `check_cost`."""

_FREE_BYTES, _MOST_BYTES = 64e6, 1e9
"""Bytes that any algorithm may use, and bytes if it is much faster than the others."""

_BYTE_COST = 2.0e-9
"""Seconds that an algorithm must save per byte beyond that."""

# A (set, subset) entry while its level is built, by rank and by list, and if it is kept; two sets
# that share a tail label, if kept; a cell of a table.
_RANKED_BYTES, _LISTED_BYTES, _ENTRY_BYTES, _TAIL_BYTES, _CELL_BYTES = 12, 50, 6, 12, 16

_DEEPEST = 24
"""Number of labels beyond which a set always has too many subsets."""

_ALL_TRIED, _FURTHER = 64, 24
"""Numbers of heavy labels: all up to 64 are tried, and 24 beyond; at most 16 sizes."""

_SIZES_TRIED = 16

_N_PRODUCTS = 2
"""Number of products for which the fastest plan is sought: alpha and kappa need one each."""


@dataclass(frozen=True)
class Plan:
    """Plan of a sum over pairs of sets.

    Sets of a size up to `largest` are compared by shared labels, larger ones in blocks; -1: all in
    blocks. The `n_heavy` most frequent labels use subsets, the others pairs of sets that share one.
    With `keeps`, shared subsets and labels are kept for further products.
    """

    largest: int
    n_heavy: int
    keeps: bool = False


@dataclass(frozen=True)
class _Counts:
    """Counts over the sets up to one size, for each number of heavy labels that is tried.

    Attributes
    ----------
    entries : ndarray of shape (n_levels, n_tried)
        Number of subsets of heavy labels in all sets, by size from 0.
    pairs : ndarray of shape (n_tried,)
        Number of times that two of the sets share a tail label.
    """

    largest: int
    n_sets: int
    n_sizes: int
    entries: Floats
    pairs: Floats


class CostModel:
    """Costs of the algorithms for some sets."""

    def __init__(self, geometry: SetGeometry) -> None:
        self.geometry = geometry

    @cached_property
    def tried(self) -> npt.NDArray[np.int64]:
        """Numbers of heavy labels."""
        n_labels = len(self.geometry.labels)
        further = np.geomspace(_ALL_TRIED, max(n_labels, _ALL_TRIED), _FURTHER).astype(np.int64)
        return np.unique(np.minimum([*range(_ALL_TRIED), *further, n_labels], n_labels))

    def cheapest(self, n_columns: int) -> Plan:
        """Return the fastest plan for a few products; memory beyond a limit counts as time."""
        n, n_words = self.geometry.n_values, self.geometry.n_words
        of_pair = _PAIR_COST + _WORD_COST * (n_words - 1) + _PAIR_COLUMN * n_columns
        of_pair *= _N_PRODUCTS
        best, least = Plan(-1, 0), of_pair * n**2 / 2
        if least <= _LEVEL_COST * _N_PRODUCTS:
            return best
        for counts in self.counts:
            blocks = of_pair * (n**2 - counts.n_sets**2) / 2
            for keeps in (True, False):
                seconds = blocks + self._seconds(counts, n_columns, keeps=keeps)
                k = int(seconds.argmin())
                if seconds[k] < least:
                    best = Plan(counts.largest, int(self.tried[k]), keeps)
                    least = float(seconds[k])
        check_cost(
            f"The distances between {n:,} label sets over {len(self.geometry.labels):,} labels",
            n_bytes=8 * n * n_words * (best.largest < 0),
            n_steps=least / _STEP_COST / _N_PRODUCTS,
            instead="Merge or leave out rare labels, or take a part of the units.",
        )
        return best

    @cached_property
    def counts(self) -> list[_Counts]:
        """The counts from the smallest sets on, from one pass over all members."""
        sizes, ranks, tried = self.geometry.sizes, self.geometry.ranks, self.tried
        distinct = np.flatnonzero(np.bincount(sizes))
        some = np.linspace(0, len(distinct) - 1, min(_SIZES_TRIED, len(distinct))).astype(np.int64)
        own_size = np.repeat(sizes, sizes)
        place = ranges(0, sizes)
        # The label of rank r is heavy from the first number above r on; as the j-th of its set it
        # adds C(j, p - 1) subsets of size p.
        cells = np.searchsorted(tried, ranks, side="right") * (_DEEPEST + 1)
        cells += np.minimum(place, _DEEPEST)
        grown = np.array([[comb(j, p) for j in range(_DEEPEST + 1)] for p in range(_DEEPEST + 1)])
        found = np.zeros((len(tried), _DEEPEST + 1))
        with_label = np.zeros(len(self.geometry.labels))
        below, counts = -1, []
        for k in some:
            new = (own_size > below) & (own_size <= distinct[k])
            below = int(distinct[k])
            found += np.bincount(cells[new], minlength=found.size).reshape(found.shape)
            with_label += np.bincount(ranks[new], minlength=len(with_label))
            n_sets = int(np.count_nonzero(sizes <= below))
            entries = np.vstack([np.full(len(tried), n_sets), grown @ found.cumsum(axis=0).T])
            shared = np.append(0, np.cumsum(with_label * (with_label - 1) / 2))
            tails = shared[-1] - shared[tried]
            counts.append(_Counts(below, n_sets, int(k) + 1, entries, tails))
        return counts

    @cached_property
    def _subsets(self) -> Floats:
        """Number of subsets of each size of the heavy labels, of shape (n_levels, n_tried)."""
        tried = self.tried.tolist()
        return np.array([[float(comb(h, p)) for h in tried] for p in range(_DEEPEST + 2)])

    def _seconds(self, counts: _Counts, n_columns: int, *, keeps: bool) -> Floats:
        """Return the time for each number of heavy labels, or infinity if memory is too small."""
        entries, pairs, n_sizes = counts.entries, counts.pairs, counts.n_sizes
        cells = n_sizes * self._subsets
        by_rank = np.asarray(ranked(cells, entries))
        by_rank = np.logical_and.accumulate(by_rank | (entries == 0), axis=0)
        # A listed subset is shared by at least two sets, so there are fewer of them than entries.
        filled = np.where(by_rank, cells, n_sizes * entries / 8)
        made = (np.where(by_rank, _RANKED_COST, _LISTED_COST) * entries).sum(axis=0)
        made += _TAIL_COST * pairs
        each = _ENTRY_COLUMN * entries + (entries > 0) * _CELL_COLUMN * n_sizes * filled
        columns = each.sum(axis=0) + _TAIL_COLUMN * pairs
        levels = _LEVEL_COST * (entries > 0).sum(axis=0)
        n_bytes = np.where(by_rank, _RANKED_BYTES, _LISTED_BYTES) * entries
        n_bytes = (n_bytes + (entries > 0) * _CELL_BYTES * filled).max(axis=0)
        if keeps:
            n_bytes = n_bytes + _ENTRY_BYTES * entries.sum(axis=0) + _TAIL_BYTES * pairs
        seconds = made * (1 if keeps else _N_PRODUCTS) + _N_PRODUCTS * (
            levels + columns * n_columns
        )
        seconds += _BYTE_COST * np.maximum(n_bytes - _FREE_BYTES, 0)
        return np.where(n_bytes > _MOST_BYTES, np.inf, seconds)
