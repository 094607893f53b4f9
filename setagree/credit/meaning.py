"""Weights of label sets whose labels have vectors, or stand in a hierarchy."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from setagree.credit.base import BLOCK, BlockWeights, Codes, DenseWeights, Floats, Weights, chunks
from setagree.credit.geometry import SetGeometry
from setagree.distances.embeddings import CentroidDistance, check_directions, without_rounding
from setagree.wording.label_sets import LabelSet

_NUMBERS_AT_ONCE = 2_000_000
"""Numbers that are gathered at once."""


class CentroidWeights(Weights):
    """d = 1 - u_k · u_l, with u the directions of the mean vectors; no K x K or K x D array.

    The mean of a set is a row of M V, the members times the vectors of the labels, so that
    D @ x = sum(x) - U U' x is two sparse and two small products.
    """

    def __init__(
        self, values: tuple[Any, ...], geometry: SetGeometry, distance: CentroidDistance
    ) -> None:
        from scipy import sparse

        super().__init__(values)
        flags = geometry.flags.astype(np.float64)
        vectors = distance.vectors.of(geometry.labels)
        # Only directions count: this brings huge and tiny vectors near 1.
        self._vectors = vectors / np.abs(vectors).max(initial=1e-300)
        self._step = max(1, _NUMBERS_AT_ONCE // max(1, vectors.shape[1]))
        self._empty = np.flatnonzero(geometry.sizes == 0)
        lengths = np.ones(len(values))
        for codes in self._runs():
            lengths[codes] = np.linalg.norm(flags[codes] @ self._vectors, axis=1)
        filled = geometry.sizes > 0
        longest = np.linalg.norm(self._vectors, axis=1)[geometry.indices]
        longest = np.maximum.reduceat(longest, geometry.indptr[:-1][filled]) if filled.any() else []
        check_directions(
            lengths[filled] / geometry.sizes[filled],
            longest,
            lambda k: geometry.members(int(np.flatnonzero(filled)[k])),
        )
        lengths[self._empty] = 1.0
        self._units = sparse.csr_array(sparse.diags_array(1 / lengths) @ flags)

    def _runs(self) -> Iterator[Codes]:
        """Yield all codes in runs whose rows are not too many numbers."""
        for start in range(0, self.n_values, self._step):
            yield np.arange(start, min(start + self._step, self.n_values))

    @cached_property
    def max_distance(self) -> float:
        """d_max, the largest that these vectors allow: 1 without a negative cosine, else 2."""
        blocks = chunks(np.arange(len(self._vectors)))
        return 2.0 if any((self._vectors[k] @ self._vectors.T < 0).any() for k in blocks) else 1.0

    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""
        out = np.empty(len(k))
        for start in range(0, len(k), self._step):
            part = slice(start, start + self._step)
            cosines = np.einsum("ij,ij->i", self._rows(k[part]), self._rows(l[part]))
            out[part] = without_rounding(1 - cosines)
        out[k == l] = 0.0
        return out

    def block(self, rows: Codes, columns: Codes) -> Floats:
        """Return the distances between all of some values and all of some others."""
        out = without_rounding(1 - self._rows(rows) @ self._rows(columns).T)
        out[rows[:, None] == columns] = 0.0
        return out

    def _rows(self, codes: Codes) -> Floats:
        """Return the directions of some values; that of the empty set is 0, at 1 from all."""
        return np.asarray(self._units[codes] @ self._vectors)

    def distance_dot(self, x: Floats) -> Floats:
        """Return D @ x = sum(x) - U (U' x); the empty set is at 0 from itself."""
        out = np.asarray(x.sum(axis=0) - self._units @ (self._vectors @ self._sums(x)))
        out[self._empty] -= x[self._empty]
        return out

    def squares(self, x: Floats) -> float:
        """Return the sum of x_k x_l (1 - u_k · u_l)² / d_max², from U' x and U' diag(x) U."""
        total, first = float(x.sum()), self._sums(x)
        second = np.zeros((self._vectors.shape[1],) * 2)
        for codes in self._runs():
            rows = self._rows(codes)
            second += (rows * x[codes, None]).T @ rows
        out = total**2 - 2 * float(first @ first) + float((second**2).sum())
        out -= float((x[self._empty] ** 2).sum())
        return out / self.max_distance**2

    def _sums(self, x: Floats) -> Floats:
        """Return U' x."""
        return np.asarray(self._vectors.T @ (self._units.T @ x))


class BestMatchWeights(BlockWeights):
    """1 - the mean similarity of each label to the nearest one of the other set, both ways."""

    def __init__(self, values: tuple[LabelSet, ...], geometry: SetGeometry, near: Floats) -> None:
        super().__init__(values)
        self.near = near
        self._geometry = geometry
        self._is_empty = geometry.sizes == 0

    @property
    def max_distance(self) -> float:
        """d_max = 1."""
        return 1.0

    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""
        sizes = self._geometry.sizes
        ends = np.cumsum(sizes[k] * sizes[l])
        out = np.empty(len(k))
        starts = np.unique(
            np.searchsorted(ends, np.arange(0, ends[-1] + 1 if len(k) else 0, _NUMBERS_AT_ONCE))
        )
        for part in np.split(np.arange(len(k)), starts):
            both = self._matched(k[part], l[part]) + self._matched(l[part], k[part])
            out[part] = 1 - both / 2
        return self._with_empty(out, k, l)

    def _matched(self, k: Codes, l: Codes) -> Floats:
        """Return the mean over the labels of k of the nearest in l; 0 where one is empty."""
        indptr, indices, sizes = (
            self._geometry.indptr,
            self._geometry.indices,
            self._geometry.sizes,
        )
        out = np.zeros(len(k))
        filled = np.flatnonzero((sizes[k] > 0) & (sizes[l] > 0))
        if not filled.size:
            return out
        # A row for each label of k, as long as l is; rows of one pair stand together.
        row_pair = np.repeat(filled, sizes[k[filled]])
        first = indptr[k[row_pair]] + _places(sizes[k[filled]])
        lengths = sizes[l[row_pair]]
        second = np.repeat(indptr[l[row_pair]], lengths) + _places(lengths)
        found = self.near[np.repeat(indices[first], lengths), indices[second]]
        best = np.maximum.reduceat(found, np.cumsum(lengths) - lengths)
        return np.bincount(row_pair, best, len(k)) / np.maximum(sizes[k], 1)

    def block(self, rows: Codes, columns: Codes) -> Floats:
        """Return the distances between all of some values and all of some others."""
        both = self._nearest(rows, columns) + self._nearest(columns, rows).T
        return self._with_empty(1 - both / 2, rows[:, None], columns[None, :])

    def _nearest(self, rows: Codes, columns: Codes) -> Floats:
        """Return the mean over the labels of each row of the nearest in each column."""
        sizes, flags = self._geometry.sizes, self._geometry.flags
        used = flags[rows]
        labels = np.unique(used.indices)
        inner = flags[columns]
        filled = np.flatnonzero(sizes[columns])
        best = np.zeros((len(labels), len(columns)))
        if filled.size and labels.size:
            found = self.near[np.ix_(labels, inner.indices)]
            best[:, filled] = np.maximum.reduceat(found, inner.indptr[filled], axis=1)
        mean = used[:, labels] @ best / np.maximum(sizes[rows], 1)[:, None]
        return np.asarray(mean, dtype=np.float64)

    def _with_empty(self, distances: Floats, k: Codes, l: Codes) -> Floats:
        """Return the distances with 1 between an empty set and another, and 0 for one value."""
        distances = np.where(self._is_empty[k] | self._is_empty[l], 1.0, distances)
        return np.where(k == l, 0.0, np.clip(distances, 0.0, 1.0))


def _places(lengths: Codes) -> Codes:
    """Return 0, 1, ... up to each length, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)


def best_match_weights(
    values: tuple[LabelSet, ...], geometry: SetGeometry, near: Floats
) -> Weights:
    """Return the weights of best matches: of few values a matrix."""
    weights = BestMatchWeights(values, geometry, near)
    if len(values) > BLOCK:
        return weights
    every = np.arange(len(values))
    return DenseWeights(values, weights.block(every, every))
