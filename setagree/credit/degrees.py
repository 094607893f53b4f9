"""Weights of answers whose labels have degrees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from setagree.checks import check_cost
from setagree.credit.base import BLOCK, Codes, DenseWeights, Floats, Weights
from setagree.credit.closed_form import AbsoluteWeights
from setagree.distances.degrees import DegreeDistance
from setagree.errors import counted
from setagree.study.codes import entries_of
from setagree.wording.label_sets import Degrees, LabelSet

_PAIRS_AT_ONCE, _CELLS_AT_ONCE = 50_000, 250_000
"""Pairs of values, and cells of rows x values, whose arrays stay in the cache."""


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
        out = np.empty(len(k))
        for start in range(0, len(k), _PAIRS_AT_ONCE):
            left, right = (codes[start : start + _PAIRS_AT_ONCE] for codes in (k, l))
            shared = self._degrees[left].minimum(self._degrees[right]).sum(axis=1)
            sums = self._sums[left] + self._sums[right]
            out[start : start + len(left)] = self._from_sums(sums, np.asarray(shared))
        out[k == l] = 0.0
        return out

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

        Raises
        ------
        CostError
            There are too many pairs.
        """
        n, held = self.n_values, np.diff(self._by_label.indptr).astype(np.float64)
        check_cost(
            f"The distances between {counted(n, 'answer')} with degrees",
            n_steps=(n**2 + float(held @ held)) / 2,
            instead="Round the degrees, so that fewer answers are distinct, or use 'manhattan'.",
        )
        order, step = np.argsort(-self._sums, kind="stable"), max(1, _CELLS_AT_ONCE // n)
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


def degree_weights(values: Sequence[LabelSet], distance: DegreeDistance) -> Weights:
    """Return the weights of answers with degrees: of few values a matrix."""
    weights = DegreeWeights(values, distance)
    if len(values) > BLOCK:
        return weights
    every = np.arange(len(values))
    relative = not distance.bounded
    return DenseWeights(weights.values, weights.block(every, every), relative=relative)
