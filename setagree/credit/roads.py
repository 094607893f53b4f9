"""Which road a sum over pairs of sets takes: what each costs in time and memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.credit.base import Floats
from setagree.credit.geometry import SetGeometry
from setagree.credit.subsets import ranked

# Measured on one core, in seconds: a (set, subset) entry by rank and by list, a pair of sizes for
# each cell of a table, two sets that share a tail label, a pair in a block and each word of it.
_RANKED_COST = 3.0e-8
_LISTED_COST = 1.1e-7
_CELL_COST = 1.0e-9
_TAIL_COST = 4.5e-8
_PAIR_COST = 5.0e-9
_WORD_COST = 2.0e-9
_LEVEL_COST = 2.0e-4

_MOST_BYTES = 500_000_000
"""Memory that one level of subsets may take."""

_RANKED_BYTES, _LISTED_BYTES = 8, 40
_DEEPEST = 24
"""Labels beyond which a set's subsets are too many in any case."""

_ALL_TRIED, _FURTHER = 64, 24
"""Numbers of heavy labels: all up to 64 are tried, and 24 beyond; of sizes 16 at most."""

_SIZES_TRIED = 16


@dataclass(frozen=True)
class Plan:
    """How the sum is taken.

    Attributes
    ----------
    largest : int
        The size up to which sets go by shared labels; -1 sends all of them by blocks.
    n_heavy : int
        How many of the most frequent labels go by subsets; the others by pairs that share one.
    """

    largest: int
    n_heavy: int


@dataclass(frozen=True)
class _Counts:
    """What sets up to one size hold, for each number of heavy labels that is tried.

    Attributes
    ----------
    entries : ndarray of shape (n_levels, n_tried)
        How many subsets of each size, 0 first, all sets hold of the heavy labels.
    pairs : ndarray of shape (n_tried,)
        How often two of the sets share a tail label.
    """

    largest: int
    n_sets: int
    n_sizes: int
    entries: Floats
    pairs: Floats


def cheapest(geometry: SetGeometry) -> Plan:
    """Return the plan that takes least time among those that memory allows."""
    n = geometry.n_values
    of_pair = _PAIR_COST + _WORD_COST * (geometry.n_words - 1)
    best, least = Plan(-1, 0), of_pair * n**2 / 2
    if least <= _LEVEL_COST:
        return best
    tried = _tried(len(geometry.labels))
    for counts in _counts(geometry, tried):
        seconds = _seconds(counts, tried) + of_pair * (n**2 - counts.n_sets**2) / 2
        k = int(seconds.argmin())
        if seconds[k] < least:
            best, least = Plan(counts.largest, int(tried[k])), float(seconds[k])
    return best


def _tried(n_labels: int) -> npt.NDArray[np.int64]:
    further = np.geomspace(_ALL_TRIED, max(n_labels, _ALL_TRIED), _FURTHER).astype(np.int64)
    return np.unique(np.minimum([*range(_ALL_TRIED), *further, n_labels], n_labels))


def _counts(geometry: SetGeometry, tried: npt.NDArray[np.int64]) -> Iterator[_Counts]:
    """Yield what there is to count, from the smallest sets on, by one walk over all members."""
    sizes, ranks = geometry.sizes, geometry.ranks
    distinct = np.flatnonzero(np.bincount(sizes))
    some = np.linspace(0, len(distinct) - 1, min(_SIZES_TRIED, len(distinct))).astype(np.int64)
    own_size = np.repeat(sizes, sizes)
    place = np.arange(len(ranks)) - np.repeat(geometry.indptr[:-1], sizes)
    # The label of rank r is heavy from the first number above r on; as the j-th of its set it
    # brings C(j, p - 1) subsets of size p.
    cells = np.searchsorted(tried, ranks, side="right") * (_DEEPEST + 1)
    cells += np.minimum(place, _DEEPEST)
    grown = np.array([[comb(j, p) for j in range(_DEEPEST + 1)] for p in range(_DEEPEST + 1)])
    found = np.zeros((len(tried), _DEEPEST + 1))
    with_label = np.zeros(len(geometry.labels))
    below = -1
    for k in some:
        new = (own_size > below) & (own_size <= distinct[k])
        below = int(distinct[k])
        found += np.bincount(cells[new], minlength=found.size).reshape(found.shape)
        with_label += np.bincount(ranks[new], minlength=len(with_label))
        n_sets = int(np.count_nonzero(sizes <= below))
        entries = np.vstack([np.full(len(tried), n_sets), grown @ found.cumsum(axis=0).T])
        shared = np.append(0, np.cumsum(with_label * (with_label - 1) / 2))
        yield _Counts(below, n_sets, int(k) + 1, entries, shared[-1] - shared[tried])


def _seconds(counts: _Counts, tried: npt.NDArray[np.int64]) -> Floats:
    """Return the time for each number of heavy labels; infinite where memory forbids it."""
    n_cells = np.array(
        [[float(comb(h, p)) for h in tried.tolist()] for p in range(len(counts.entries))]
    )
    n_cells *= counts.n_sizes
    by_rank = np.asarray(ranked(n_cells, counts.entries))
    by_rank = np.logical_and.accumulate(by_rank | (counts.entries == 0), axis=0)
    # A subset that is listed is shared by two sets or more, so there are fewer than entries.
    filled = np.where(by_rank, n_cells, counts.n_sizes * counts.entries / 8)
    seconds = np.where(by_rank, _RANKED_COST, _LISTED_COST) * counts.entries
    seconds += (counts.entries > 0) * (_LEVEL_COST + _CELL_COST * counts.n_sizes * filled)
    n_bytes = np.where(by_rank, _RANKED_BYTES, _LISTED_BYTES) * counts.entries
    out: Any = seconds.sum(axis=0) + _TAIL_COST * counts.pairs
    return np.where(n_bytes.max(axis=0) > _MOST_BYTES, np.inf, out)
