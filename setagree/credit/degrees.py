"""Weights of answers whose labels have degrees."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from setagree.checks import check_cost
from setagree.credit.base import BLOCK, BlockWeights, Codes, DenseWeights, Floats, Weights, chunks
from setagree.credit.closed_form import AbsoluteWeights
from setagree.distances.degrees import DegreeDistance, manhattan
from setagree.errors import counted
from setagree.wording.label_sets import Degrees, LabelSet

_PAIRS_AT_ONCE = 50_000


class DegreeWeights(BlockWeights):
    """d from the sums of degrees of two answers, and the sum over labels of the smaller degree.

    These sums come in blocks of values x values; the chance term of "manhattan", a sum over labels
    of absolute differences, needs no pairs.
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
            part = slice(start, start + _PAIRS_AT_ONCE)
            shared = self._degrees[k[part]].minimum(self._degrees[l[part]]).sum(axis=1)
            out[part] = self._from_shared(np.asarray(shared), k[part], l[part])
        return out

    def block(self, rows: Codes, columns: Codes) -> Floats:
        """Return the distances between all of some values and all of some others."""
        left, right = (self._degrees[codes].tocsc() for codes in (rows, columns))
        shared = np.zeros((len(rows), len(columns)))
        for label in np.flatnonzero(
            (np.diff(left.indptr) > 0) & (np.diff(right.indptr) > 0)
        ).tolist():
            (r, x), (c, y) = (_column(each, label) for each in (left, right))
            shared[np.ix_(r, c)] += np.minimum.outer(x, y)
        return self._from_shared(shared, rows[:, None], columns[None, :])

    def _from_shared(self, shared: Floats, k: Codes, l: Codes) -> Floats:
        a, b = np.broadcast_arrays(self._sums[k], self._sums[l])
        of_sums: Any = self._distance.of_sets.function  # which is written for sizes
        d = of_sums(a, b, shared)
        return np.where(k == l, 0.0, np.maximum(d, 0.0))

    def distance_dot(self, x: Floats) -> Floats:
        """Return D @ x for x of shape (K,) or (K, B)."""
        if self._distance != manhattan:
            self._check_pairs()
            return super().distance_dot(x)
        # A value that does not hold a label is as far from the others as these have degrees of it.
        out = np.zeros(x.shape)
        out += np.tensordot(self._sums, x, axes=(0, 0))
        total = x.sum(axis=0)
        for label in range(self._by_label.shape[1]):
            k, degrees = _column(self._by_label, label)
            among = AbsoluteWeights((), degrees).distance_dot(x[k])
            others = np.multiply.outer(degrees, total - x[k].sum(axis=0))
            out[k] += among + others - np.tensordot(degrees, x[k], axes=(0, 0))
        return out

    def squares(self, x: Floats) -> float:
        """Return the sum of x_k x_l (d_kl / d_max)² for x of shape (K,)."""
        self._check_pairs()
        return super().squares(x)

    @cached_property
    def max_distance(self) -> float:
        """d_max: 1, or of "manhattan" the largest distance among the values, never 0."""
        if self._distance.bounded:
            return 1.0
        order, largest = np.argsort(-self._sums, kind="stable"), 0.0
        # No two answers are further apart than their sums together; the largest sums come first.
        for k, rows in enumerate(chunks(order)):
            for columns in chunks(order[k * BLOCK :]):
                if self._sums[rows[0]] + self._sums[columns[0]] <= largest:
                    break
                largest = max(largest, float(self.block(rows, columns).max()))
        return largest or 1.0

    def _check_pairs(self) -> None:
        """Refuse what would take too many pairs of values."""
        held = np.diff(self._by_label.indptr).astype(np.float64)
        check_cost(
            f"The distances between {counted(self.n_values, 'answer')} with degrees",
            n_steps=(self.n_values**2 + float(held @ held)) / 2,
            instead="Round the degrees, so that fewer answers are distinct, or use 'manhattan'.",
        )


def _column(matrix: Any, label: int) -> tuple[Codes, Floats]:
    """Return the rows that hold a label, and its degrees there."""
    entries = slice(matrix.indptr[label], matrix.indptr[label + 1])
    return matrix.indices[entries], matrix.data[entries]


def degree_weights(values: Sequence[LabelSet], distance: DegreeDistance) -> Weights:
    """Return the weights of answers with degrees: of few values a matrix."""
    weights = DegreeWeights(values, distance)
    if len(values) > BLOCK:
        return weights
    every = np.arange(len(values))
    relative = not distance.bounded
    return DenseWeights(weights.values, weights.block(every, every), relative=relative)
