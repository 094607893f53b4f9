"""Coefficients of studies whose answers are permuted, and disagreement within large units.

A unit of r ratings has r (r - 1) / 2 pairs. A short list of them is fastest. A unit with thousands
of ratings has millions of pairs but few distinct values, so its values are counted instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from math import exp, inf, lgamma

import numpy as np

from setagree.checks import Codes, Flags, Floats
from setagree.coefficients.case import Case, pattern_disagreement
from setagree.coefficients.chance_models import Model
from setagree.coefficients.sums import Sums, coefficient, features
from setagree.credit.base import DenseWeights, Weights
from setagree.inference.resampling import block_sizes
from setagree.study.tally import Tally

BLOCK_SIZE = 120_000
"""Number of answers that are permuted at a time: 960 kB, which fit in the cache."""

_REUSED = 1_000_000
"""Entries of an array that is released before the first block. The C library then keeps released
memory for the arrays of the next block; allocating it every time costs as much as the work."""

_MAX_SLICES = 2_000
"""Slices of pairs per block of reshuffles. Beyond it the calls cost more than the look-ups."""

PAIRS_LISTED = 4_000_000
"""Maximum number of listed pairs of ratings: about 250 MB."""

_FEW_PAIRS = 50_000
_DENSE_VALUES = 1_500
_CELL_BLOCK_SIZE = 1_000_000
_CELLS_A_PAIR = 32
_CELLS_A_LOOKUP = 200
"""Multiply-adds in the time of one pair look-up: in a dense matrix, or by its operator."""


class Cells:
    """Answers in cells, and their permutations within groups of cells.

    The cells are kept in the order of their groups. A reshuffle assigns answers to them: V has the
    shape (B, n_cells), one row per reshuffle.

    Parameters
    ----------
    unit, value : ndarray of int, shape (n_cells,)
        Unit and value of each cell. The value K denotes a missing rating.
    group : ndarray of int, shape (n_cells,)
        Answers are permuted among the cells of one group.
    tally : Tally
        The study, of which the kind and the values are used.
    weights : Weights
        The distances between its K values.
    """

    def __init__(
        self, unit: Codes, value: Codes, group: Codes, tally: Tally, weights: Weights
    ) -> None:
        self.order = np.argsort(group, kind="stable")
        self.unit, self.value = unit[self.order], value[self.order].astype(np.intp)
        changes = np.flatnonzero(np.diff(group[self.order])) + 1
        ends = [0, *changes.tolist(), len(value)] if len(value) else [0]
        self.groups = [slice(*pair) for pair in itertools.pairwise(ends)]
        self.tally, self.weights, self.n_values = tally, weights, weights.n_values
        self.dense = dense_weights(weights)
        self.is_complete = bool((self.value < self.n_values).all())
        sizes = np.bincount(self.unit, minlength=tally.n_units)
        # Units of equal size are adjacent, so that their pairs are pairs of slices.
        self.units = np.argsort(sizes, kind="stable")
        self.sizes = sizes[self.units]
        self.place = np.argsort(self.units)[self.unit]  # of each cell's unit in this order
        self._by_unit = np.argsort(self.place, kind="stable")

    # -- permutations

    def n_arrangements(self) -> float:
        """Return the number of distinct arrangements, or infinity if it exceeds exp(40)."""
        logs = 0.0
        for cells in self.groups:
            counts = np.bincount(self.value[cells])
            logs += lgamma(counts.sum() + 1) - sum(map(lgamma, counts + 1))
        return round(exp(logs)) if logs < 40 else inf

    def estimates(self, n_resamples: int, generator: np.random.Generator) -> Floats:
        """Return the estimates of random reshuffles, of shape (n_resamples,)."""
        np.empty(_REUSED)
        sizes = block_sizes(n_resamples, self.n_held, most=BLOCK_SIZE, what="reshuffles")
        return np.concatenate([self.evaluate(self.reshuffled(n, generator)) for n in sizes])

    def reshuffled(self, n: int, generator: np.random.Generator) -> Codes:
        """Return random reshuffles, of shape (n, n_cells)."""
        V = np.tile(self.value, (n, 1))
        # Row by row, so that the draws do not depend on the number of rows in a block.
        for row in V:
            for cells in self.groups:
                generator.shuffle(row[cells])
        return V

    def all_estimates(self) -> Floats:
        """Return the estimates of all distinct arrangements."""
        orders = arrangements([self.value[cells] for cells in self.groups])
        at_once = max(1, BLOCK_SIZE // self.n_held)
        blocks = iter(lambda: list(itertools.islice(orders, at_once)), [])
        return np.concatenate([self.evaluate(np.stack(block)) for block in blocks])

    def evaluate(self, V: Codes) -> Floats:
        """Return the estimates of reshuffles V."""
        raise NotImplementedError

    @property
    def n_held(self) -> int:
        """Number of entries per reshuffle that are in memory at a time."""
        return max(len(self.value), self.n_values)

    # -- pairs of answers within units

    @property
    def width(self) -> int:
        """Number of entries that the evaluation of one reshuffle visits."""
        n_pairs = round(float((self.sizes * (self.sizes - 1)).sum()) / 2)
        return max(len(self.value), self.n_values, n_pairs if self.lists_pairs else 0)

    @cached_property
    def lists_pairs(self) -> bool:
        """Whether pairs of answers are compared one by one, instead of counts of values."""
        n_slices = float((np.unique(self.sizes) - 1).clip(0).sum())
        return n_slices <= _MAX_SLICES and lists_pairs(self.sizes, self.n_values)

    @cached_property
    def _tables(self) -> list[tuple[slice, Codes]]:
        """Units of each size r, and their cells as a table of shape (r, n_units_of_r)."""
        sizes, counts = np.unique(self.sizes, return_counts=True)
        cells = np.split(self._by_unit, np.cumsum(sizes * counts)[:-1])
        units = (slice(end - n, end) for end, n in zip(np.cumsum(counts), counts, strict=True))
        tables = (each.reshape(n, -1).T for each, n in zip(cells, counts, strict=True))
        return [*zip(units, map(np.ascontiguousarray, tables), strict=True)]

    def answers(self, V: Codes) -> Iterator[tuple[slice, Codes]]:
        """Yield units of each size r, and their answers, of shape (B, r, n_units)."""
        for units, cells in self._tables:
            yield units, V.take(cells.ravel(), axis=1).reshape(len(V), *cells.shape)

    def disagreement(self, V: Codes, tables: Iterable[tuple[slice, Codes]]) -> Floats:
        """Return q_i / d_max = sum_{g != h} d(v_ig, v_ih) / d_max, of shape (B, n_units).

        The units have the order of `units`; a missing answer is at distance 0.
        """
        K, d_max, (B, n) = self.n_values, self.weights.max_distance, (len(V), len(self.units))
        if not self.lists_pairs:
            unit = np.repeat(np.arange(n), self.sizes) + n * np.arange(B)[:, None]
            value = V.take(self._by_unit, axis=1)
            rated = value < K
            cells = unit[rated], value[rated], np.ones(int(rated.sum()))
            q = counted_disagreement(self.sizes, self.tally, self.weights, self.dense, *cells, B)
            return q.reshape(B, n) / d_max
        q = np.zeros((B, n))
        for units, k, l in pairs_of(tables):
            if self._bordered is not None:
                d = self._bordered.take((k * (K + 1) + l).astype(np.intp, copy=False))
            elif self.is_complete:
                d = self.weights.distance_at(k.ravel(), l.ravel()).reshape(k.shape) / d_max
            else:
                d, rated = np.zeros(k.shape), (k < K) & (l < K)
                d[rated] = self.weights.distance_at(k[rated], l[rated]) / d_max
            q[:, units] += d.sum(axis=1)
        return 2 * q

    @cached_property
    def _bordered(self) -> Floats | None:
        """The distances / d_max in a row, with a row and a column of zeros for missing ratings."""
        if self.dense is None:
            return None
        return np.pad(self.dense.distances / self.weights.max_distance, (0, 1)).ravel()


class Shuffler(Cells):
    """A coefficient as a function of the answers in the cells of a study; see `Cells`."""

    def __init__(
        self, case: Case, model: Model, unit: Codes, rater: Codes, value: Codes, group: Codes
    ) -> None:
        super().__init__(unit, value, group, case.tally, case.weights)
        self.case = case if self.dense is None else replace(case, weights=self.dense)
        self.model = model
        self.rater = np.unique(rater[self.order], return_inverse=True)[1]
        self.urn = self.rater * model.needs_raters  # the urn of each cell: its rater's, or one
        self.n_urns = int(self.urn.max(initial=0)) + 1
        w, v = case.pairable_weights[self.units], case.unit_weights[self.units]
        self.w, self.v = w, w if model.weigh == "ratings" else v  # of M and O, of the urn
        # x_i = q_i / (r_i (r_i - 1)), so that O_i is this feature of a unit of r ratings times q_i.
        r = np.arange(self.sizes.max(initial=0) + 1)
        self.features, self.share = features(model, r, r, 1 / np.maximum(r * (r - 1), 1))
        strata = None if case.sample is None else case.sample.strata_of_size
        self.strata = None if strata is None or not model.needs_raters else strata[self.units]

    @property
    def n_held(self) -> int:
        """Number of entries per reshuffle that are in memory at a time."""
        return max(len(self.value), self.n_values * self.n_urns)

    def evaluate(self, V: Codes) -> Floats:
        """Return the estimates of reshuffles V; NaN if undefined."""
        r, tables = self.sizes, list(self.answers(V))
        if not self.is_complete:  # the ratings per unit, of shape (B, n_units)
            r = np.empty((len(V), len(self.units)), dtype=np.intp)
            for units, answers in tables:
                r[:, units] = (answers < self.n_values).sum(axis=1)
        sums, a = self._fixed_sums if self.is_complete else self._sums(r)
        # Not by BLAS, whose threads cost more than they save.
        sums = sums._replace(O=np.einsum("...u,...u->...", a, self.disagreement(V, tables)))
        if not self._varies:
            return coefficient(self.model, sums, self._y)
        y = self.model.of_samples(self.case, self._totals(V, r), sums.own)
        return coefficient(self.model, sums, y)

    def _sums(self, r: Codes) -> tuple[Sums, Floats]:
        """Return the sums without O, and a_i in O = sum a_i q_i, for r ratings per unit."""
        n, M, O, _, own = (each.take(r) for each in self.features)
        pairs = ((M, self.w), (own, self.w**2))
        of_M, of_own = (np.einsum("...u,u->...", each, w) for each, w in pairs)
        not_needed = np.zeros(())
        return Sums(n.sum(axis=-1), of_M, not_needed, not_needed, of_own), O * self.w

    @cached_property
    def _fixed_sums(self) -> tuple[Sums, Floats]:
        return self._sums(self.sizes)

    @cached_property
    def _varies(self) -> bool:
        """Whether a reshuffle changes y: cells of one group add unequal amounts, or to other urns.

        If not, and if chance is fixed, y is that of the study.
        """
        if self.model.fixed:
            return False
        each = self._amounts(self.value[None, :], self.sizes) + 1j * self.urn
        moved = ((each[..., cells] != each[..., cells][..., :1]).any() for cells in self.groups)
        return not self.is_complete or self.strata is not None or any(moved)

    @cached_property
    def _y(self) -> Floats:
        """1 - pe of the study."""
        own = self.features.own.take(self.sizes) @ self.w**2
        return self.model.of_samples(self.case, self._totals(self.value[None, :], self.sizes), own)

    def _totals(self, V: Codes, r: Codes) -> Iterator[Floats]:
        """Yield the summed amount of each value in each urn, of shape (K, n_urns, B)."""
        K, n = self.n_values, self.n_urns
        codes = V if n == 1 else V + (K + 1) * self.urn
        sums = summed(codes, self._amounts(V, r), (K + 1) * n)
        yield sums.reshape(len(V), n, K + 1)[:, :, :K].transpose(2, 1, 0)

    def _amounts(self, V: Codes, r: Codes) -> Floats:
        """Return the amount that each cell adds to its urn, for r ratings per unit."""
        if self.strata is not None:
            # N_s / n_gs, with n_gs the units of stratum s that rater g rated: `Rated.times`.
            S, s = int(self.strata.max()) + 1, self.strata[self.place]
            of_cell = np.broadcast_to(self.urn * S + s, V.shape)
            n_gs = summed(of_cell, self.n_values > V, self.n_urns * S).take(of_cell[0], axis=1)
            N_s = (self.v * (r > 0)) @ np.eye(S)[self.strata]
            return np.asarray(N_s.take(s, axis=-1) / np.maximum(n_gs, 1))
        each = self.v if self.model.needs_raters else self.v * self.share.take(r)
        return np.asarray(each.take(self.place, axis=-1))


def summed(codes: Codes, each: Floats | Flags, n: int) -> Floats:
    """Return the sums by code 0, ..., n - 1 in each row of `codes`, of shape (B, n)."""
    B = len(codes)
    cells = (codes + n * np.arange(B)[:, None]).ravel()
    sums = np.bincount(cells, np.broadcast_to(each, codes.shape).ravel(), n * B)
    return sums.astype(np.float64, copy=False).reshape(B, n)


def lists_pairs(r: Floats | Codes, n_values: int) -> bool:
    """Return whether the pairs of units of r ratings are few enough to be listed.

    They are if counts of the values, with n_units x K² work, would not be faster.
    """
    pairs = float((r * (r - 1)).sum()) / 2
    quick = pairs <= _FEW_PAIRS or _CELLS_A_PAIR * pairs <= len(r) * n_values**2
    return quick and pairs <= PAIRS_LISTED


def dense_weights(weights: Weights) -> DenseWeights | None:
    """Return the weights with all K x K distances in memory, or None if there are too many."""
    K = weights.n_values
    if K > _DENSE_VALUES:
        return None
    distances = weights.block(np.arange(K), np.arange(K))
    return DenseWeights(weights.values, distances, relative=weights.max_distance < 1)


def counted_disagreement(
    r: Floats | Codes,
    tally: Tally,
    weights: Weights,
    dense: DenseWeights | None,
    unit: Codes,
    value: Codes,
    each: Floats,
    n_copies: int,
) -> Floats:
    """Return t_i' D t_i of each unit, t_ik the summed weight of its ratings of value k.

    There are several copies of all units, which have at most r ratings each; their codes ascend.
    `dense` has the distances if they are few, and `each` the weights of ratings.
    """
    from scipy import sparse

    K, n_units = weights.n_values, len(r) * n_copies
    lookups = float((np.minimum(r, K) ** 2).sum()) / 2
    if dense is None or len(r) * K**2 > _CELLS_A_LOOKUP * lookups:
        c = sparse.coo_array((each, (unit, value)), shape=(n_units, K)).tocsr()
        c.sum_duplicates()
        counts = (c.indptr.astype(np.intp), c.indices, c.data, np.ones(n_units))
        return pattern_disagreement(Tally(tally.kind, weights.values, *counts), weights)
    out, starts = np.zeros(n_units), range(0, n_units, max(1, _CELL_BLOCK_SIZE // K))
    for first, last in itertools.pairwise([*starts, n_units]):
        here = slice(*np.searchsorted(unit, (first, last)))
        cells = (unit[here] - first) * K + value[here]
        t = np.bincount(cells, each[here], (last - first) * K).reshape(-1, K)
        out[first:last] = np.einsum("uk,uk->u", t @ dense.distances, t)
    return out


def pairs_of(tables: Iterable[tuple[slice, Codes]]) -> Iterator[tuple[slice, Codes, Codes]]:
    """Yield pairs of answers within units: the units, and two answers per pair.

    The answers have the shape (B, n_pairs, n_units), with cell i of each unit in the first and
    cell i + s in the second, for s = 1, 2, ...
    """
    for units, answers in tables:
        for s in range(1, answers.shape[1]):
            yield units, answers[:, :-s], answers[:, s:]


def arrangements(groups: list[Codes]) -> Iterator[Codes]:
    """Yield every distinct order of the answers within the groups once, group after group."""
    whole = np.concatenate([np.sort(answers) for answers in groups])
    inside = np.split(whole, np.cumsum([len(answers) for answers in groups])[:-1])
    moving = [answers for answers in inside if answers[0] != answers[-1]]
    yield whole.copy()
    while any(_next_order(answers) for answers in reversed(moving)):
        yield whole.copy()


def _next_order(answers: Codes) -> bool:
    """Put the answers in their next distinct order, or after the last one in the first.

    In lexicographic order: the last answer that a larger one follows is exchanged with the smallest
    of those, and the answers after it are sorted (Narayana's algorithm). Return False after the
    last order.
    """
    rises = np.flatnonzero(answers[:-1] < answers[1:])
    if not len(rises):
        answers.sort()
        return False
    i = rises[-1]
    j = np.flatnonzero(answers > answers[i])[-1]
    answers[[i, j]] = answers[[j, i]]
    answers[i + 1 :] = answers[:i:-1].copy()
    return True
