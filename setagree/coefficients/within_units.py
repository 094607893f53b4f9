"""Disagreement within units, from a list of their pairs of ratings or from counts of their values.

A unit of r ratings has r (r - 1) / 2 pairs. A short list of them is fastest. A unit with thousands
of ratings has millions of pairs but few distinct values, so its values are counted instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.coefficients.chance import PAIRS_AT_ONCE, Floats, pattern_disagreement
from setagree.credit.base import Weights, neighbours
from setagree.study.tally import Tally

Codes: TypeAlias = npt.NDArray[np.integer[Any]]

PAIRS_LISTED = 4_000_000
"""Maximum number of listed pairs of ratings: about 250 MB."""

_FEW_PAIRS = 50_000
_DENSE_VALUES = 1_500
_CELLS_AT_ONCE = 1_000_000
_CELLS_A_PAIR = 32
_CELLS_A_LOOKUP = 200
"""Multiply-adds in the time of one pair look-up: in a dense matrix, or by its operator."""


def lists_pairs(r: Floats | Codes, n_values: int, most: int | None = None) -> bool:
    """Return whether the pairs of units of r ratings are few enough to be listed.

    They are if counts of the values, with n_units x K² work, would not be faster.
    """
    pairs = float((r * (r - 1)).sum()) / 2
    quick = pairs <= _FEW_PAIRS or _CELLS_A_PAIR * pairs <= len(r) * n_values**2
    return quick and pairs <= (PAIRS_LISTED if most is None else most)


def rating_pairs(unit: Codes) -> tuple[Codes, Codes]:
    """Return the positions of the two ratings of every pair of ratings of one unit."""
    order = np.argsort(unit, kind="stable")
    found = [(order[left], order[right]) for left, right in neighbours(unit[order])]
    lefts, rights = zip((order[:0], order[:0]), *found, strict=True)
    return np.concatenate(lefts), np.concatenate(rights)


def value_pairs(tally: Tally) -> Iterator[tuple[Codes, Codes]]:
    """Yield all pairs of different values of one pattern, as positions of its stored counts."""
    for first in range(0, len(tally.indices), PAIRS_AT_ONCE):
        left, shift = np.arange(first, min(first + PAIRS_AT_ONCE, len(tally.indices))), 0
        while left.size:
            shift += 1
            left = left[left + shift < tally.indptr[tally.rows[left] + 1]]
            yield left, left + shift


def dense_distances(weights: Weights) -> Floats | None:
    """Return all K x K distances as one row, or None if there are too many."""
    K = weights.n_values
    if K > _DENSE_VALUES:
        return None
    k, l = np.divmod(np.arange(K * K), K)
    return weights.distance_at(k, l)


class CountedUnits:
    """Units whose disagreement is computed from the counts of their values.

    Parameters
    ----------
    r : ndarray of shape (n_units,)
        Number of ratings of each unit.
    tally : Tally
        The study, of which the kind and the values are used.
    weights : Weights
        The distances between its values.
    dense : ndarray of shape (K * K,), or None
        These distances as one row, if they are few.
    """

    def __init__(
        self, r: Floats | Codes, tally: Tally, weights: Weights, dense: Floats | None
    ) -> None:
        K = weights.n_values
        self.tally, self.weights = tally, weights
        lookups = float((np.minimum(r, K) ** 2).sum()) / 2
        by_matrix = dense is not None and len(r) * K**2 <= _CELLS_A_LOOKUP * lookups
        self.D = dense.reshape(K, K) if dense is not None and by_matrix else None

    def disagreement(self, unit: Codes, value: Codes, each: Floats, n_units: int) -> Floats:
        """Return t_i' D t_i of each unit, t_ik the summed weight of its ratings of value k.

        The units are in ascending order.
        """
        if self.D is None:
            return pattern_disagreement(self._tally_of(unit, value, each, n_units), self.weights)
        K, out = self.weights.n_values, np.zeros(n_units)
        starts = range(0, n_units, max(1, _CELLS_AT_ONCE // K))
        for first, last in itertools.pairwise([*starts, n_units]):
            here = slice(*np.searchsorted(unit, (first, last)))
            cells = (unit[here] - first) * K + value[here]
            t = np.bincount(cells, each[here], (last - first) * K).reshape(-1, K)
            out[first:last] = np.einsum("uk,uk->u", t @ self.D, t)
        return out

    def _tally_of(self, unit: Codes, value: Codes, each: Floats, n_units: int) -> Tally:
        from scipy import sparse

        shape = (n_units, self.weights.n_values)
        counts = sparse.coo_array((each, (unit, value)), shape=shape).tocsr()
        counts.sum_duplicates()
        rows = counts.indptr.astype(np.intp)
        values = self.weights.values
        return Tally(self.tally.kind, values, rows, counts.indices, counts.data, np.ones(n_units))
