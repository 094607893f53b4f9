"""Weights of distances between vectors, in hierarchies and between degrees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from setagree.checks import Codes, Floats, cached_property, check_cost
from setagree.credit.base import BlockWeights, Weights, chunks, in_blocks
from setagree.credit.geometry import SetGeometry
from setagree.credit.overlap import AbsoluteWeights
from setagree.distances.degrees import DegreeDistance
from setagree.distances.embeddings import (
    ROUNDING,
    CentroidDistance,
    check_directions,
    without_rounding,
)
from setagree.errors import counted, option
from setagree.study.codes import entries_of
from setagree.wording.label_sets import Degrees, LabelSet

_NUMBERS_AT_ONCE, _PAIR_BLOCK_SIZE = 2_000_000, 50_000
"""Numbers that are gathered at once, and pairs of sets."""


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
        lengths = np.linalg.norm(self._vectors, axis=1)
        unit = self._vectors / np.maximum(lengths, 1e-300)[:, None]
        blocks = chunks(np.arange(len(unit)))
        return 2.0 if any((unit[k] @ unit.T < -ROUNDING).any() for k in blocks) else 1.0

    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""
        return in_blocks(self._distance_at, k, l, self._step)

    def _distance_at(self, k: Codes, l: Codes) -> Floats:
        cosines = np.einsum("ij,ij->i", self._rows(k), self._rows(l))
        return np.where(k == l, 0.0, without_rounding(1 - cosines))

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
    """1 - the mean similarity of each label to the nearest one of the other set, both ways.

    The similarity of each of L labels to each of K sets is computed once.
    """

    def __init__(self, values: tuple[LabelSet, ...], geometry: SetGeometry, near: Floats) -> None:
        from scipy import sparse

        super().__init__(values)
        self._geometry = geometry
        filled = np.flatnonzero(geometry.sizes)
        check_cost(
            f"Matching {counted(len(near), 'label')} with {counted(len(values), 'set')}",
            n_bytes=8 * len(near) * len(values),
            instead=f"{option('credit', 'ancestors')} needs no such table.",
        )
        self._best = np.zeros((len(values), len(near)))
        step = max(1, _NUMBERS_AT_ONCE // max(1, len(geometry.indices)))
        for start in range(0, len(near) if filled.size else 0, step):
            to_members = near[start : start + step, geometry.indices]
            best = np.maximum.reduceat(to_members, geometry.indptr[filled], axis=1)
            self._best[filled, start : start + step] = best.T
        shares = 1 / np.maximum(geometry.sizes, 1)
        self._shares = sparse.csr_array(sparse.diags_array(shares) @ geometry.flags)

    max_distance = 1.0

    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""
        return in_blocks(self._distance_at, k, l, _PAIR_BLOCK_SIZE)

    def _distance_at(self, k: Codes, l: Codes) -> Floats:
        return self._with_empty(1 - (self._nearest(k, l) + self._nearest(l, k)) / 2, k, l)

    def _nearest(self, k: Codes, l: Codes) -> Floats:
        """Return the mean over the labels of k of the nearest in l, elementwise."""
        sizes = self._geometry.sizes[k]
        pair = np.repeat(np.arange(len(k)), sizes)
        labels = self._geometry.indices[entries_of(self._geometry.indptr, k)]
        return np.bincount(pair, self._best[l[pair], labels], len(k)) / np.maximum(sizes, 1)

    def block(self, rows: Codes, columns: Codes) -> Floats:
        """Return the distances between all of some values and all of some others."""
        there = self._shares[rows] @ self._best[columns].T
        back = self._shares[columns] @ self._best[rows].T
        return self._with_empty(1 - (there + back.T) / 2, rows[:, None], columns[None, :])

    def _with_empty(self, distances: Floats, k: Codes, l: Codes) -> Floats:
        """Return the distances with 1 between an empty set and another, and 0 for one value."""
        empty = self._geometry.sizes == 0
        distances = np.where(empty[k] | empty[l], 1.0, distances)
        return np.where(k == l, 0.0, np.clip(distances, 0.0, 1.0))


_DEGREE_PAIRS_AT_ONCE, _CELL_BLOCK_SIZE = 50_000, 250_000
"""Number of pairs of values, and of cells of rows x values, that fit in the cache."""


class DegreeWeights(Weights):
    """d from the sums of degrees of two answers, and the sum over labels of the smaller degree.

    These sums come in rows of values x values; the chance term of "manhattan", a sum over labels of
    absolute differences, needs no pairs.
    """

    def __init__(self, values: Sequence[LabelSet], distance: DegreeDistance) -> None:
        from scipy import sparse

        super().__init__(tuple(values))
        self._distance = distance
        answers = [Degrees.of(value).degrees for value in values]
        place: dict[Any, int] = {}
        labels = [place.setdefault(one, len(place)) for one in chain.from_iterable(answers)]
        degrees = np.array([x for one in answers for x in one.values()], dtype=np.float64)
        ends = np.concatenate([[0], np.cumsum([len(one) for one in answers])])
        shape = (len(answers), len(place))
        self._degrees = sparse.csr_array((degrees, np.array(labels, dtype=np.int64), ends), shape)
        self._by_label = self._degrees.tocsc()
        self._sums = np.asarray(self._degrees.sum(axis=1), dtype=np.float64)

    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""
        return in_blocks(self._distance_at, k, l, _DEGREE_PAIRS_AT_ONCE)

    def _distance_at(self, k: Codes, l: Codes) -> Floats:
        shared: Any = np.asarray(self._degrees[k].minimum(self._degrees[l]).sum(axis=1))
        return np.where(k == l, 0.0, self._from_sums(self._sums[k] + self._sums[l], shared))

    def block(self, rows: Codes, columns: Codes) -> Floats:
        """Return the distances between all of some values and all of some others."""
        out = self._between(rows, self._degrees[columns].tocsc(), self._sums[columns])
        out[rows[:, None] == columns] = 0.0
        return out

    def _rows(self, rows: Codes) -> Floats:
        """Return the distances between some values and all values."""
        out = self._between(rows, self._by_label, self._sums)
        out[np.arange(len(rows)), rows] = 0.0
        return out

    def _between(self, rows: Codes, others: Any, sums: Floats) -> Floats:
        """Return the distances between some values and others, of which label by label is known."""
        held, n = self._degrees[rows], len(sums)
        ends = others.indptr.astype(np.int64)
        entries = entries_of(ends, held.indices)
        times = np.diff(ends)[held.indices]
        smaller = np.minimum(np.repeat(held.data, times), others.data[entries])
        row = np.repeat(np.repeat(np.arange(len(rows)), np.diff(held.indptr)), times)
        cells = row * n + others.indices[entries]
        shared = np.bincount(cells, smaller, len(rows) * n).reshape(len(rows), n)
        # Without any entry, bincount gives integers.
        return self._from_sums(self._sums[rows][:, None] + sums, shared.astype(np.float64))

    def _from_sums(self, sums: Floats, shared: Floats) -> Floats:
        """Return the distances, in the array of the sums of all degrees of both answers."""
        if self._distance.bounded:
            sums -= shared
            np.divide(shared, sums, out=sums, where=sums > 0)  # two answers without a label are one
            np.subtract(1, sums, out=sums)
        else:
            sums -= 2 * shared
        return np.maximum(sums, 0.0, out=sums)

    def distance_dot(self, x: Floats) -> Floats:
        """Return D @ x for x of shape (K,) or (K, B)."""
        out = np.zeros(x.shape)
        if self._distance.bounded:
            for rows in self._runs():
                out[rows] = self._rows(rows) @ x
            return out
        # A value that does not hold a label is as far from the others as these have degrees of it.
        out += np.tensordot(self._sums, x, axes=(0, 0))
        total = x.sum(axis=0)
        for label in range(self._by_label.shape[1]):
            entries = slice(*self._by_label.indptr[label : label + 2])
            k, degrees = self._by_label.indices[entries], self._by_label.data[entries]
            among = AbsoluteWeights((), degrees).distance_dot(x[k])
            others = np.multiply.outer(degrees, total - x[k].sum(axis=0))
            out[k] += among + others - np.tensordot(degrees, x[k], axes=(0, 0))
        return out

    def squares(self, x: Floats) -> float:
        """Return the sum of x_k x_l (d_kl / d_max)² for x of shape (K,)."""
        parts = (
            x[rows] @ ((self._rows(rows) / self.max_distance) ** 2 @ x) for rows in self._runs()
        )
        return float(sum(parts))

    def _runs(self) -> Iterator[Codes]:
        """Yield the codes of all values in runs, those with the largest sums first.

        Raise CostError if there are too many pairs.
        """
        n, held = self.n_values, np.diff(self._by_label.indptr).astype(np.float64)
        check_cost(
            f"The distances between {counted(n, 'answer')} with degrees",
            n_steps=(n**2 + float(held @ held)) / 2,
            instead="Round the degrees, so that fewer answers are distinct, or use 'manhattan'.",
        )
        order, step = np.argsort(-self._sums, kind="stable"), max(1, _CELL_BLOCK_SIZE // n)
        for start in range(0, n, step):
            yield order[start : start + step]

    @cached_property
    def max_distance(self) -> float:
        """d_max: 1, or of "manhattan" the largest distance among the values, never 0."""
        if self._distance.bounded:
            return 1.0
        largest = 0.0
        for rows in self._runs():
            # No two answers are further apart than the sums of their degrees together.
            if 2 * self._sums[rows[0]] <= largest:
                break
            largest = max(largest, float(self._rows(rows).max()))
        return largest or 1.0
