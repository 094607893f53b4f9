"""Which labels each distinct answer holds, as a sparse array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.errors import DataError
from setagree.study.codes import as_objects, used_labels
from setagree.study.tally import Tally
from setagree.wording.label_sets import sorted_labels


@dataclass(frozen=True, eq=False)
class Membership:
    """The labels of K values, in compressed rows.

    Attributes
    ----------
    labels : ndarray of object, shape (L,)
        All labels in use, sorted; where values are categories, the categories.
    indptr, indices : ndarray
        The labels of value k are ``indices[indptr[k]:indptr[k + 1]]``.
    """

    labels: npt.NDArray[np.object_]
    indptr: npt.NDArray[np.intp]
    indices: npt.NDArray[np.intp]

    @property
    def n_labels(self) -> int:
        """L, how many labels there are."""
        return len(self.labels)

    @cached_property
    def sizes(self) -> npt.NDArray[np.intp]:
        """How many labels each value holds."""
        return np.diff(self.indptr)

    @cached_property
    def matrix(self) -> Any:
        """The sparse array of shape (K, L), 1 where the value holds the label."""
        from scipy import sparse

        shape = (len(self.sizes), self.n_labels)
        return sparse.csr_array((np.ones(len(self.indices)), self.indices, self.indptr), shape)

    @cached_property
    def _keys(self) -> npt.NDArray[np.int64]:
        rows = np.repeat(np.arange(len(self.sizes), dtype=np.int64), self.sizes)
        return rows * self.n_labels + self.indices

    def holds(self, values: npt.NDArray[Any], labels: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Say of each value whether it holds the label, elementwise."""
        if not len(self._keys):
            return np.zeros(len(values), dtype=bool)
        keys = values * self.n_labels + labels
        found = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.asarray(self._keys[found] == keys)

    def alone(self, own: npt.NDArray[Any], other: npt.NDArray[Any]) -> Any:
        """Return what each value `own` holds and its `other` does not, sparse, a row a pair."""
        held = self.matrix[own]
        out = held - held.multiply(self.matrix[other])
        out.eliminate_zeros()
        return out

    def spread(self, values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return position and label of every label of the values, one after the other."""
        sizes = self.sizes[values]
        owner = np.repeat(np.arange(len(values)), sizes)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return owner, self.indices[self.indptr[values][owner] + within]


def membership_of(tally: Tally) -> Membership:
    """Return the labels of the values of a tally: a category is its own, a number has none."""
    if tally.kind == "number":
        raise DataError("numbers have no labels to look at; this is for label sets and categories.")
    sets = [v if isinstance(v, frozenset) else frozenset([v]) for v in tally.values]
    labels = _sorted(used_labels(sets))
    column = {label: position for position, label in enumerate(labels)}
    rows = [sorted(column[label] for label in one) for one in sets]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.intp)
    flat = [label for row in rows for label in row]
    return Membership(as_objects(labels), indptr, np.array(flat, dtype=np.intp))


def _sorted(labels: frozenset[Any]) -> list[Any]:
    """Return the labels in reading order; categories that have none, by type and text."""
    try:
        return sorted_labels(labels)
    except TypeError:
        return sorted(labels, key=lambda one: (type(one).__name__, str(one)))


def label_counts(tally: Tally, membership: Membership) -> Any:
    """Return how many ratings of a unit of each pattern hold each label, sparse, (P, L)."""
    from scipy import sparse

    shape = (tally.n_patterns, tally.n_values)
    counts = sparse.csr_array((tally.counts, tally.indices, tally.indptr), shape)
    return counts @ membership.matrix
