"""The observed label sets as arrays: members, sizes, bits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.checks import Codes, Floats, cached_property
from setagree.credit.base import in_blocks
from setagree.distances.base import OverlapDistance, OverlapFunction
from setagree.errors import DataError
from setagree.wording.label_sets import Label, LabelSet, sorted_labels

_PAIR_CHUNK = 32_768
"""Number of pairs whose arrays fit in the cache."""

_MANY_WORDS, _ROW_CHUNK = 8, 50_000
"""Words of a set beyond which pairs of sets are compared by members, and how many at a time."""

_HALF_A_WORD = 32

_FEW_SETS = 16
"""Largest number of sets that Python compares faster than numpy."""

_BLOCK_AT_ONCE = 20_000
"""Pairs times words up to which a block is counted in one step, which saves a loop over words."""


class SetGeometry:
    """K label sets over L labels, with `sizes` of shape (K,)."""

    def __init__(self, values: Sequence[LabelSet]) -> None:
        self._values = values
        self.sizes = np.fromiter(map(len, values), dtype=np.intp, count=len(values))

    @cached_property
    def indptr(self) -> npt.NDArray[np.intp]:
        """The members of set k are ``indices[indptr[k]:indptr[k + 1]]``; of shape (K + 1,)."""
        return np.concatenate([[0], self.sizes.cumsum()])

    @cached_property
    def _numbered(self) -> tuple[npt.NDArray[np.int64], dict[Label, int]]:
        """The members of each set as numbers of labels, and the number of each label.

        Labels are numbered by first occurrence in one pass over all sets, and sorted only on
        request: bits do not need an order.
        """
        number: defaultdict[Label, int] = defaultdict(lambda: len(number))
        members = map(number.__getitem__, chain.from_iterable(self._values))
        return np.fromiter(members, dtype=np.int64, count=int(self.indptr[-1])), dict(number)

    @property
    def n_values(self) -> int:
        """K, how many sets there are."""
        return len(self.sizes)

    @property
    def n_labels(self) -> int:
        """L, how many labels there are."""
        return len(self._numbered[1])

    @property
    def n_words(self) -> int:
        """Number of 64-bit words of a set."""
        return max(1, -(-self.n_labels // 64))

    @cached_property
    def labels(self) -> list[Label]:
        """The labels in use, sorted."""
        return sorted_labels(self._numbered[1])

    @cached_property
    def indices(self) -> npt.NDArray[np.intp]:
        """The labels of each set, ascending, one set after the other."""
        (found, number), n_labels = self._numbered, self.n_labels
        place = np.zeros(n_labels, dtype=np.int64)
        place[[number[label] for label in self.labels]] = np.arange(n_labels)
        # One sort by set, then label, instead of one for each set.
        keys = place[found] + self._rows * n_labels
        keys.sort()
        return np.asarray(keys % max(1, n_labels), dtype=np.intp)

    def members(self, k: int) -> list[Label]:
        """Return the labels of one set."""
        place = self.indices[self.indptr[k] : self.indptr[k + 1]]
        return [self.labels[one] for one in place.tolist()]

    @cached_property
    def counts(self) -> npt.NDArray[np.intp]:
        """Number of sets that contain each label, of shape (L,)."""
        return np.bincount(self.indices, minlength=len(self.labels))

    @cached_property
    def ranks(self) -> npt.NDArray[np.intp]:
        """The members as ``indices`` has them, numbered and sorted by falling frequency."""
        rank = np.empty(len(self.labels), dtype=np.int64)
        rank[np.argsort(-self.counts, kind="stable")] = np.arange(len(self.labels))
        keys = rank[self.indices] + self._rows * len(self.labels)
        keys.sort()
        return np.asarray(keys % max(1, len(self.labels)), dtype=np.intp)

    @cached_property
    def flags(self) -> Any:
        """The sets as rows of a sparse K x L matrix of ones."""
        from scipy import sparse

        ones = np.ones(len(self.indices), dtype=np.int8)
        entries = (ones, self.indices.astype(np.int32), self.indptr.astype(np.int32))
        return sparse.csr_array(entries, shape=(self.n_values, len(self.labels)))

    @property
    def _rows(self) -> npt.NDArray[np.int64]:
        return np.repeat(np.arange(self.n_values), self.sizes)

    @cached_property
    def words(self) -> npt.NDArray[np.unsignedinteger[Any]]:
        """The sets as bits, of shape (n_words, K); half a word is enough for 32 labels."""
        found, kind = self._numbered[0], np.uint32 if self.n_labels <= _HALF_A_WORD else np.uint64
        out = np.zeros((self.n_words, self.n_values), dtype=kind)
        bits = np.uint64(1) << (found % 64).astype(np.uint64)
        np.bitwise_or.at(out, (found // 64, self._rows), bits.astype(kind))
        return out

    def shared(self, k: Codes, l: Codes) -> npt.NDArray[np.integer[Any]]:
        r"""Return \|A_k ∩ A_l\|, elementwise for k and l of one shape."""
        if self.n_words > _MANY_WORDS and self.indptr[-1] < self.n_words * self.n_values:
            return in_blocks(self._shared_by_rows, k, l, _ROW_CHUNK)
        return in_blocks(self._shared_by_words, k, l, _PAIR_CHUNK)

    def _shared_by_words(self, k: Codes, l: Codes) -> Any:
        out: Any = np.zeros(len(k), dtype=np.uint8 if 64 * self.n_words < 256 else np.int32)
        for word in self.words:
            out += np.bitwise_count(word.take(k) & word.take(l))
        return out

    def _shared_by_rows(self, k: Codes, l: Codes) -> Any:
        """Compare members instead of words, of which most are 0."""
        return np.diff(self.flags[k].multiply(self.flags[l]).indptr).astype(np.int64)

    def shared_block(self, rows: Codes, columns: Codes) -> npt.NDArray[np.integer[Any]]:
        r"""Return \|A_k ∩ A_l\| for all k in rows and l in columns."""
        # A byte a pair holds what sets of up to 255 labels share.
        kind = np.uint8 if self.sizes.max(initial=0) < 256 else np.int32
        if 1 < self.n_words <= _BLOCK_AT_ONCE / max(1, len(rows) * len(columns)):
            both = self.words[:, rows][:, :, None] & self.words[:, columns][:, None, :]
            return np.asarray(np.bitwise_count(both).sum(axis=0, dtype=kind))
        first, *others = self.words
        out = np.bitwise_count(first[rows][:, None] & first[columns])
        out = np.asarray(out, dtype=kind)
        for word in others:
            out += np.bitwise_count(word[rows][:, None] & word[columns])
        return out

    def distances(self, function: Callable[[Any, Any, Any], Any]) -> Floats:
        r"""Return a function of \|A\|, \|B\| and \|A ∩ B\| for all pairs, of shape (K, K)."""
        n = self.n_values
        if n <= _FEW_SETS:
            shared = np.array([len(A & B) for A in self._values for B in self._values])
        else:
            every = np.arange(n)
            shared = self.shared_block(every, every).ravel().astype(np.int64)
        sizes = self.sizes[None].repeat(n, axis=0)
        return np.asarray(function(sizes.T.ravel(), sizes.ravel(), shared)).reshape(n, n)


def size_classes(sizes: Codes) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the distinct sizes, ascending, and each set's position among them."""
    distinct = np.flatnonzero(np.bincount(sizes))
    return distinct, np.searchsorted(distinct, sizes)


def labels_of_values(values: Sequence[Any], kind: str) -> SetGeometry:
    """Return the label sets of values: a category is a label of its own, a number has none."""
    if kind == "number":
        raise DataError("numbers have no labels to look at; this is for label sets and categories.")
    return SetGeometry([v if isinstance(v, frozenset) else frozenset([v]) for v in values])


def zeroed(distance: OverlapDistance) -> OverlapFunction:
    """Return the function of a checked distance, set to 0 for equal sets and if it is negative.

    Only rounding gives other values there.
    """
    return partial(_without_rounding, distance.function)


def _without_rounding(function: OverlapFunction, a: Any, b: Any, i: Any) -> Floats:
    d = np.asarray(function(a, b, i), dtype=np.float64)
    return np.where((d < 0) | ((a == b) & (b == i)), 0.0, d)
