"""The sweeps of CrowdTruth: quality of units, raters and labels, each from that of the others.

All sums are products with sparse matrices of ones, over the pairs of ratings inside units. The
qualities have a column for each study that is swept: the study itself, or its resamples, which
differ by how often each unit counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from setagree.checks import check_cost
from setagree.coefficients.chance import Floats
from setagree.credit.pairs import neighbours
from setagree.inference.raters import Codes, Flags

_STILL, _MOST_SWEEPS = 0.001, 100
"""The change at which the sweeps stop, and how many there are at most, as published."""

_LEAST = 1e-8
"""The least denominator of a cosine."""

_ENTRY_BYTES = 100
"""What a pair of ratings, or a label of one, takes."""


@dataclass(frozen=True, eq=False)
class Qualities:
    """The quality of units, raters and labels, each with a column for each study.

    Attributes
    ----------
    units : ndarray of shape (n_units, B)
    raters : ndarray of shape (n_raters, B)
    labels : ndarray of shape (n_labels, B)
    """

    units: Floats
    raters: Floats
    labels: Floats

    def take(self, columns: Flags) -> Qualities:
        """Return some of the columns."""
        return Qualities(self.units[:, columns], self.raters[:, columns], self.labels[:, columns])

    def moved(self, other: Qualities) -> Floats:
        """Return the largest change of each column; what is nan in both did not change."""
        parts = zip(self.parts, other.parts, strict=True)
        moved = [np.nan_to_num(np.abs(a - b)).max(axis=0, initial=0) for a, b in parts]
        return np.asarray(np.max(moved, axis=0))

    @property
    def parts(self) -> tuple[Floats, Floats, Floats]:
        """The three of them."""
        return self.units, self.raters, self.labels


@dataclass(frozen=True, eq=False)
class Swept:
    """What sweeps gave, a column for each study.

    Attributes
    ----------
    first, last : Qualities
        After the first sweep, and after the last.
    n_sweeps : ndarray of int, shape (B,)
    converged : ndarray of bool, shape (B,)
        Whether the last sweep changed no quality by .001 or more.
    """

    first: Qualities
    last: Qualities
    n_sweeps: Codes
    converged: Flags


class Answers:
    """The ratings of units with two or more, and their pairs.

    Parameters
    ----------
    units, raters, values : ndarray of int, shape (n_ratings,)
        Codes; the units ascend.
    flags : sparse array of shape (K, L)
        Which labels each value has.
    shape : pair of int
        How many units and raters there are.
    """

    def __init__(
        self, units: Codes, raters: Codes, values: Codes, flags: Any, shape: tuple[int, int]
    ) -> None:
        self.units, self.raters, self.values = units, raters, values
        self.flags = flags.astype(np.float64)
        self.n_units, self.n_raters = shape
        r = np.bincount(units)
        labels = np.diff(flags.indptr)[values]
        entries = float((r * (r - 1)).sum()) / 2
        entries += float((labels * (r - 1)[units]).sum())
        n_bytes = _ENTRY_BYTES * entries
        check_cost("The pairs of ratings", n_bytes=n_bytes, instead="Take a part of the units.")
        lefts, rights = zip((units[:0], units[:0]), *neighbours(units), strict=True)
        self.left, self.right = np.concatenate(lefts), np.concatenate(rights)

    @property
    def n_steps(self) -> int:
        """What a sweep costs."""
        return 2 * len(self.left) + 2 * len(self.members[0]) + int(self.given.nnz)

    @cached_property
    def of_pairs(self) -> Any:
        """Which pairs of ratings each unit has, (n_units, n_pairs)."""
        return ones(self.units[self.left], self.n_units)

    @cached_property
    def value_pairs(self) -> tuple[Codes, Codes, Codes, Any]:
        """The distinct pairs of values, which of them each pair is, and their common labels."""
        K = self.flags.shape[0]
        keys = self.values[self.left].astype(np.int64) * K + self.values[self.right]
        distinct, place = np.unique(keys, return_inverse=True)
        k, l = np.divmod(distinct, K)
        return k, l, place, self.flags[k].multiply(self.flags[l]).tocsr()

    @cached_property
    def of_left(self) -> Any:
        """Whose rating stands on the left of each pair, (n_raters, n_pairs)."""
        return ones(self.raters[self.left], self.n_raters)

    @cached_property
    def of_right(self) -> Any:
        """Whose rating stands on the right of each pair, (n_raters, n_pairs)."""
        return ones(self.raters[self.right], self.n_raters)

    @cached_property
    def of_raters(self) -> Any:
        """Which ratings each rater gave, (n_raters, n_ratings)."""
        return ones(self.raters, self.n_raters)

    @cached_property
    def members(self) -> tuple[Codes, Codes, Codes]:
        """The rating, the label and the cell of each label of each rating.

        A cell is a unit and a label that it got.
        """
        of_ratings = self.flags[self.values]
        rating = np.repeat(np.arange(len(self.values)), np.diff(of_ratings.indptr))
        label = of_ratings.indices.astype(np.intp)
        keys = self.units[rating].astype(np.int64) * self.flags.shape[1] + label
        self._cells, cell = np.unique(keys, return_inverse=True)
        return rating, label, cell

    @cached_property
    def cells(self) -> tuple[Codes, Codes]:
        """The unit and the label of each cell."""
        _ = self.members
        return np.divmod(self._cells, max(1, self.flags.shape[1]))

    @cached_property
    def votes(self) -> Any:
        """Who gave each label to each unit, (n_cells, n_raters)."""
        rating, _, cell = self.members
        return ones(cell, len(self._cells)) @ ones(self.raters, self.n_raters).T[rating]

    @cached_property
    def of_units(self) -> Any:
        """Which cells each unit has, (n_units, n_cells)."""
        return ones(self.cells[0], self.n_units)

    @cached_property
    def of_ratings(self) -> Any:
        """Which of the members each rating has, (n_ratings, n_members)."""
        return ones(self.members[0], len(self.values))

    @cached_property
    def of_labels(self) -> Any:
        """Which triples each label has, (n_labels, n_triples)."""
        return ones(self.triples[2], self.n_labels)

    @cached_property
    def given(self) -> Any:
        """In which units rater j gave label a beside rater i, (n_triples, n_units)."""
        return self._triples[0]

    @cached_property
    def shared(self) -> Any:
        """In which of them i gave it too, (n_triples, n_units)."""
        return self._triples[1]

    @cached_property
    def triples(self) -> tuple[Codes, Codes, Codes]:
        """The raters i and j and the label a of each triple."""
        return self._triples[2]

    @cached_property
    def _triples(self) -> tuple[Any, Any, tuple[Codes, Codes, Codes]]:
        """Return for which raters i and j and which label a units tell P_ij(a), and what."""
        from scipy import sparse

        R, L = self.n_raters, self.flags.shape[1]
        one = np.concatenate([self.left, self.right])
        two = np.concatenate([self.right, self.left])
        of_two = self.flags[self.values[two]]
        pair = np.repeat(np.arange(len(two)), np.diff(of_two.indptr))
        label = of_two.indices.astype(np.int64)
        both = (self.raters[one].astype(np.int64) * R + self.raters[two]) * L
        distinct, triple = np.unique(both[pair] + label, return_inverse=True)
        ij, a = np.divmod(distinct, max(1, L))
        where = triple, self.units[two][pair]
        too = np.zeros(0)
        if len(pair):  # of no entries at all scipy returns no array
            too = np.asarray(self.flags[self.values[one][pair], label], dtype=np.float64).ravel()
        shape = (len(distinct), self.n_units)
        given, shared = (
            sparse.csr_array((each, where), shape=shape) for each in (np.ones(len(pair)), too)
        )
        return given, shared, (*np.divmod(ij, R), a)

    def swept(self, times: Floats) -> Swept:
        """Sweep until nothing moves, for units that count so often, (n_units, B)."""
        B = times.shape[1]
        old = Qualities(*(np.ones((n, B)) for n in (self.n_units, self.n_raters, self.n_labels)))
        n_sweeps, converged, left = np.zeros(B, dtype=int), np.zeros(B, dtype=bool), np.arange(B)
        first, last = old, Qualities(*(part.copy() for part in old.parts))
        for sweep in range(_MOST_SWEEPS):
            new = self.sweep(old, times)
            first = first if sweep else new
            done = new.moved(old) < _STILL
            n_sweeps[left] += 1
            converged[left[done]] = True
            for kept, found in zip(last.parts, new.parts, strict=True):
                kept[:, left] = found
            times, left, old = times[:, ~done], left[~done], new.take(~done)
            if not len(left):
                break
        return Swept(first, last, n_sweeps, converged)

    @property
    def n_labels(self) -> int:
        """L, how many labels there are."""
        return int(self.flags.shape[1])

    def sweep(self, old: Qualities, times: Floats) -> Qualities:
        """Return the qualities that follow from old ones, in which nan counts as 0.

        What units or raters of quality 0 alone tell about has quality 0; what no pair of ratings
        tells about is nan.
        """
        q, w = np.nan_to_num(old.labels), np.nan_to_num(old.raters)
        u = np.nan_to_num(old.units) * times
        k, l, place, common = self.value_pairs
        norms = self.flags @ q
        c = (common @ q / _floored(norms[k] * norms[l]))[place]
        one, two = w[self.raters[self.left]], w[self.raters[self.right]]
        units = _mean(self.of_pairs @ (c * one * two), self.of_pairs @ (one * two))
        of_unit = u[self.units[self.left]]
        beside = _mean(
            self.of_left @ (c * two * of_unit) + self.of_right @ (c * one * of_unit),
            self.of_left @ (two * of_unit) + self.of_right @ (one * of_unit),
        )
        own = self._to_others(q, w, norms) * u[self.units]
        raters = beside * _mean(self.of_raters @ own, self.of_raters @ u[self.units])
        return self._known(units, raters, self._label_qualities(w, u), times)

    def _to_others(self, q: Floats, w: Floats, norms: Floats) -> Floats:
        """Return the cosine of each rating with what the others gave to its unit."""
        rating, label, cell = self.members
        of_cell = self.cells[1]
        vector = self.votes @ w
        mine = w[self.raters]
        rest = vector[cell] - mine[rating]
        weighted = q[of_cell] * vector**2
        squares = (self.of_units @ weighted)[self.units] - self.of_ratings @ weighted[cell]
        squares = np.maximum(squares, 0) + self.of_ratings @ (q[label] * rest**2)
        dots = mine * (self.of_ratings @ (q[label] * rest))
        return np.asarray(dots / _floored(mine**2 * norms[self.values] * squares))

    def _label_qualities(self, w: Floats, u: Floats) -> Floats:
        i, j, _ = self.triples
        given, weight = self.given @ u, w[i] * w[j]
        weight[given <= 0] = 0
        sums = self.of_labels @ (weight * _mean(self.shared @ u, given))
        return _mean(sums, self.of_labels @ weight)

    def _known(self, units: Floats, raters: Floats, labels: Floats, times: Floats) -> Qualities:
        """Return the qualities, nan where no pair of ratings tells about them."""
        here = (times > 0).astype(np.float64)
        has_pairs = np.bincount(self.units[self.left], minlength=self.n_units) > 0
        seen = np.asarray(self.of_raters @ here[self.units] > 0)
        unit, label = self.cells
        used = np.asarray(ones(label, self.n_labels) @ here[unit] > 0)
        return Qualities(
            np.where(has_pairs[:, None] & (times > 0), units, np.nan),
            np.where(seen, raters, np.nan),
            np.where(used, labels, np.nan),
        )


def ones(rows: Codes, n_rows: int) -> Any:
    """Return the sparse matrix that sums entries by their row, (n_rows, n_entries)."""
    from scipy import sparse

    n = len(rows)
    return sparse.csr_array((np.ones(n), (rows, np.arange(n))), shape=(n_rows, n))


def _mean(sums: Floats, weights: Floats) -> Floats:
    """Return the weighted means; 0 where nothing has weight."""
    return np.divide(sums, weights, out=np.zeros(sums.shape), where=weights > 0)


def _floored(squares: Floats) -> Floats:
    return np.maximum(np.sqrt(squares), _LEAST)
