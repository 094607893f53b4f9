"""Coefficients of studies whose answers are permuted."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from math import exp, inf, lgamma
from typing import TypeAlias

import numpy as np

from setagree.coefficients.chance import Case, Codes, Floats
from setagree.coefficients.chance_models import Fixed, Model, Redrawn, Urn, one_minus
from setagree.coefficients.conger import UrnOfEachRater
from setagree.coefficients.within_units import CountedUnits, dense_distances, lists_pairs
from setagree.credit.base import DenseWeights, Weights
from setagree.study.tally import Tally

Tables: TypeAlias = Iterable[tuple[slice, Codes]]
"""Units of equal size with their answers in reshuffles, of shape (B, size, n_units)."""

BLOCK_SIZE = 60_000
"""Answers that are permuted at a time. They take 480 kB and stay in the cache."""

_REUSED = 1_000_000
"""Entries of an array that is released before the first block. The C library then keeps released
memory for the arrays of the next block; to fetch it anew each time costs as much as the work."""

_MAX_SLICES = 2_000
"""Slices of pairs per block of reshuffles. Beyond it the calls cost more than the look-ups."""

_PROGRESS_BLOCKS = 1_000
"""Blocks from which a progress bar is shown at once, not after two seconds."""


class Cells:
    """Answers in cells, and their permutations within groups of cells.

    The cells are kept in the order of their groups. A reshuffle assigns answers to them: V has the
    shape (B, n_cells), one row per reshuffle.

    Parameters
    ----------
    unit, value : ndarray of int, shape (n_cells,)
        Unit and value of each cell. The value K stands for a missing rating.
    group : ndarray of int, shape (n_cells,)
        Answers are permuted among the cells of one group.
    tally : Tally
        The study, of which the kind and the values are used.
    weights : Weights
        The distances between its K values.
    """

    max_pairs: int | None = None

    def __init__(
        self, unit: Codes, value: Codes, group: Codes, tally: Tally, weights: Weights
    ) -> None:
        self.order = np.argsort(group, kind="stable")
        self.unit, self.value = unit[self.order], value[self.order].astype(np.intp)
        changes = np.flatnonzero(np.diff(group[self.order])) + 1
        self.bounds = [0, *changes.tolist(), len(value)] if len(value) else [0]
        self.tally, self.weights, self.n_values = tally, weights, weights.n_values
        self.is_complete = bool((self.value < self.n_values).all())
        sizes = np.bincount(self.unit, minlength=tally.n_units)
        # Units of equal size stand together, so that their pairs are pairs of slices.
        self.units = np.argsort(sizes, kind="stable")
        self.sizes = sizes[self.units].astype(np.float64)
        self.place = np.argsort(self.units)[self.unit]  # of each cell's unit in this order

    # -- permutations

    def groups(self) -> list[slice]:
        """Return the cells of each group."""
        return [slice(*ends) for ends in itertools.pairwise(self.bounds)]

    def n_arrangements(self) -> float:
        """Return the number of distinct arrangements, or infinity if it exceeds exp(40)."""
        logs = 0.0
        for cells in self.groups():
            counts = np.unique(self.value[cells], return_counts=True)[1]
            logs += lgamma(int(counts.sum()) + 1) - sum(lgamma(n + 1) for n in counts)
        return round(exp(logs)) if logs < 40 else inf

    def estimates(
        self,
        n_resamples: int,
        generator: np.random.Generator,
        track: Callable[..., Iterable[int]] = lambda starts, **_: starts,
    ) -> Floats:
        """Return the estimates of random reshuffles, of shape (n_resamples,).

        `track` shows the progress of the blocks; see `setagree.progress`.
        """
        at_once = self._block_rows
        starts = range(0, n_resamples, at_once)
        np.empty(_REUSED)
        long = len(starts) > _PROGRESS_BLOCKS
        parts = []
        for start in track(
            starts, total=n_resamples, at_once=at_once, what="reshuffles", long=long
        ):
            V = self.reshuffled(min(at_once, n_resamples - start), generator)
            parts.append(self.evaluate(V))
        return np.concatenate(parts)

    def reshuffled(self, n: int, generator: np.random.Generator) -> Codes:
        """Return random reshuffles, of shape (n, n_cells)."""
        V, groups = np.tile(self.value, (n, 1)), self.groups()
        # Row by row, so that the draws do not depend on the number of rows in a block.
        for row in V:
            for cells in groups:
                generator.shuffle(row[cells])
        return V

    def all_estimates(self) -> Floats:
        """Return the estimates of all distinct arrangements."""
        orders = arrangements([self.value[cells] for cells in self.groups()])
        parts = []
        while block := list(itertools.islice(orders, self._block_rows)):
            parts.append(self.evaluate(np.stack(block)))
        return np.concatenate(parts)

    def evaluate(self, V: Codes) -> Floats:
        """Return the estimates of reshuffles V."""
        raise NotImplementedError

    @property
    def _block_rows(self) -> int:
        return max(1, BLOCK_SIZE // self.n_held)

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
        is_short = lists_pairs(self.sizes, self.n_values, most=self.max_pairs)
        return n_slices <= _MAX_SLICES and is_short

    @cached_property
    def _by_unit(self) -> Codes:
        """Cells unit by unit, in the order of `units`."""
        return np.argsort(self.place, kind="stable")

    @cached_property
    def _tables(self) -> list[tuple[slice, Codes]]:
        """Units of each size r, and their cells as a table of shape (r, n_units_of_r)."""
        tables, first_unit, first = [], 0, 0
        for r, n in zip(*np.unique(self.sizes.astype(np.intp), return_counts=True), strict=True):
            cells = self._by_unit[first : first + r * n].reshape(n, r).T
            tables.append((slice(first_unit, first_unit + n), np.ascontiguousarray(cells)))
            first_unit, first = first_unit + n, first + r * n
        return tables

    def answers(self, V: Codes) -> Tables:
        """Yield units of each size r, and their answers, of shape (B, r, n_units)."""
        for units, cells in self._tables:
            yield units, V.take(cells.ravel(), axis=1).reshape(len(V), *cells.shape)

    def disagreement(self, V: Codes, tables: Tables) -> Floats:
        """Return q_i / d_max = sum_{g != h} d(v_ig, v_ih) / d_max, of shape (B, n_units).

        The units have the order of `units`.
        """
        B, n = len(V), len(self.units)
        if not self.lists_pairs:
            unit = np.repeat(np.arange(n), self.sizes.astype(np.intp)) + n * np.arange(B)[:, None]
            value = V.take(self._by_unit, axis=1)
            rated = value < self.n_values
            ones = np.ones(int(rated.sum()))
            q = self._counted.disagreement(unit[rated], value[rated], ones, B * n)
            return q.reshape(B, n) / self.weights.max_distance
        q = np.zeros((B, n))
        for units, k, l in pairs_of(tables):
            q[:, units] += self._distances(k, l).sum(axis=1)
        return 2 * q

    def _distances(self, k: Codes, l: Codes) -> Floats:
        """Return d / d_max of pairs of answers. It is 0 if one of them is missing."""
        if self._bordered is not None:
            return np.asarray(
                self._bordered.take((k * (self.n_values + 1) + l).astype(np.intp, copy=False))
            )
        out, rated = np.zeros(k.shape), (k < self.n_values) & (l < self.n_values)
        out[rated] = self.weights.distance_at(k[rated], l[rated]) / self.weights.max_distance
        return out

    @cached_property
    def dense(self) -> Floats | None:
        """All K x K distances in a row, or None if there are too many."""
        return dense_distances(self.weights)

    @cached_property
    def _bordered(self) -> Floats | None:
        """The distances / d_max in a row, with a row and a column of zeros for missing ratings."""
        if self.dense is None:
            return None
        K = self.n_values
        return np.pad(self.dense.reshape(K, K) / self.weights.max_distance, (0, 1)).ravel()

    @cached_property
    def _counted(self) -> CountedUnits:
        return CountedUnits(self.sizes, self.tally, self.weights, self.dense)


class Shuffler(Cells):
    """A coefficient as a function of the answers in the cells of a study.

    Parameters
    ----------
    case : Case
        The study and the distance.
    model : Model
        The chance model of the coefficient.
    unit, rater, value : ndarray of int, shape (n_cells,)
        Unit, rater and value of each cell. The value K stands for a missing rating.
    group : ndarray of int, shape (n_cells,)
        Answers are permuted among the cells of one group.
    """

    def __init__(
        self, case: Case, model: Model, unit: Codes, rater: Codes, value: Codes, group: Codes
    ) -> None:
        super().__init__(unit, value, group, case.tally, case.weights)
        self.case, self.model, self.rater = with_dense(case, self.dense), model, rater[self.order]
        self.w = case.pairable_weights[self.units]  # in sums over pairable units
        self.v = case.unit_weights[self.units]  # in sums over rated units
        strata = None if case.sample is None else case.sample.strata_of_size
        self.strata = None if strata is None else strata[self.units]

    def evaluate(self, V: Codes) -> Floats:
        """Return the estimates 1 - (O / M) / chance of reshuffles V; NaN if undefined.

        Krippendorff (2011): O / M = sum_i w_i q_i / (r_i - 1) / sum_i w_i r_i over pairable units.
        Gwet (2014, ch. 2): O / M = sum_i w_i q_i / (r_i (r_i - 1)) / sum_i w_i over the same.
        """
        tables = list(self.answers(V))
        r, q = self._ratings(V, tables), self.disagreement(V, tables)
        pairable = r >= 2
        x = q / np.where(pairable, r * (r - 1), 1)
        by_ratings = self.model.weigh == "ratings"
        mass = np.asarray(self.w * (r * pairable if by_ratings else pairable))
        M = mass.sum(axis=-1)
        # One unit does not show what chance does, unless chance is fixed in advance.
        n = np.count_nonzero(pairable if by_ratings else r > 0, axis=-1)
        undefined = (M == 0) | ((n == 1) & (not self.model.fixed))
        # Not by BLAS, whose threads cost more than they save.
        O = np.einsum("...u,...u->...", x, mass)
        return one_minus(O / np.where(undefined, np.nan, M), self._chance(V, r))

    def _ratings(self, V: Codes, tables: Tables) -> Floats:
        """Return the number of ratings per unit, of shape (n_units,) or (B, n_units)."""
        if self.is_complete:
            return self.sizes
        r = np.empty((len(V), len(self.units)))
        for units, answers in tables:
            r[:, units] = (answers < self.n_values).sum(axis=1)
        return r

    def _chance(self, V: Codes, r: Floats) -> Floats:
        """Return 1 - pe of each reshuffle."""
        kept = self._kept_chance
        return self._chance_of(V, r) if kept is None else np.repeat(kept, len(V))

    @cached_property
    def _kept_chance(self) -> Floats | None:
        """1 - pe, of shape (1,), if no reshuffle changes it."""
        if not self.is_complete:
            return None
        each = self._cell_weights(self.sizes)
        if isinstance(self.model, UrnOfEachRater):
            if self.strata is not None:
                return None
            each = each + 1j * self.rater
        if any(len(np.unique(each[cells])) > 1 for cells in self.groups()):
            return None
        return self._chance_of(self.value[None, :], self.sizes)

    def _cell_weights(self, r: Floats) -> Floats:
        """Return the amount that each cell adds to the urn, from the number of ratings per unit."""
        match self.model:
            case Fixed():
                each = np.zeros_like(self.v)
            case UrnOfEachRater():
                each = self.v
            case Urn() | Redrawn() if self.model.weigh == "ratings":
                each = self.w * (r >= 2)
            case Urn() | Redrawn():
                each = self.v / np.maximum(r, 1)
            case _:
                raise TypeError(f"{self.model!r} is not a model of chance that can be reshuffled")
        return np.asarray(each.take(self.place, axis=-1))

    def _chance_of(self, V: Codes, r: Floats) -> Floats:
        model, each = self.model, self._cell_weights(r)
        match model:
            case Fixed():
                return np.full(len(V), model.level(self.case))
            case UrnOfEachRater():
                return model.chance(self.case, self._rater_totals(V, r, each))
        assert isinstance(model, Urn | Redrawn)  # noqa: S101 - seen to by _cell_weights
        # own = sum_i w_i² r_i over pairable units: the pairs of a rating with itself.
        by_ratings = model.weigh == "ratings"
        own = (self.w**2 * r * (r >= 2)).sum(axis=-1) if by_ratings else 0.0
        return model.chance(self.case, self._totals(V, each), own)

    def _rater_totals(self, V: Codes, r: Floats, each: Floats) -> Iterator[Floats]:
        """Yield the totals of each rater, of shape (K, 1, B)."""
        for g in np.unique(self.rater):
            cells = np.flatnonzero(self.rater == g)
            answers, amounts = V.take(cells, axis=1), each[cells]
            if self.strata is not None:
                # N_s / n_gs, with n_gs the units of stratum s that rater g rated: `Rated.times`.
                of_stratum = np.eye(self.strata.max() + 1)[self.strata]
                own = self.place[cells]
                n_gs = (answers < self.n_values) @ of_stratum[own]
                N_s = (self.v * (r > 0)) @ of_stratum
                amounts = (N_s / np.maximum(n_gs, 1))[:, self.strata[own]]
            yield self._totals(answers, amounts)[:, None]

    def _totals(self, V: Codes, each: Floats) -> Floats:
        """Return the summed amount of each value in each reshuffle, of shape (K, B)."""
        B, K = len(V), self.n_values
        cells = V + (K + 1) * np.arange(B)[:, None]
        amounts = np.broadcast_to(each, V.shape).ravel()
        sums = np.bincount(cells.ravel(), amounts, (K + 1) * B).astype(np.float64, copy=False)
        return sums.reshape(B, K + 1)[:, :K].T


def pairs_of(tables: Tables) -> Iterator[tuple[slice, Codes, Codes]]:
    """Yield pairs of answers within units: the units, and two answers per pair.

    The answers have the shape (B, n_pairs, n_units), with cell i of each unit in the first and
    cell i + s in the second, for s = 1, 2, ...
    """
    for units, answers in tables:
        for s in range(1, answers.shape[1]):
            yield units, answers[:, :-s], answers[:, s:]


def with_dense(case: Case, dense: Floats | None) -> Case:
    """Return the case with a matrix of distances, if their K x K entries are given."""
    if dense is None:
        return case
    values, is_relative = case.weights.values, case.weights.max_distance < 1
    distances = dense.reshape(len(values), len(values))
    return replace(case, weights=DenseWeights(values, distances, relative=is_relative))


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
