"""How far raters are from each other on the units that they share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from setagree.coefficients.chance import Floats
from setagree.credit.base import Weights
from setagree.credit.pairs import neighbours
from setagree.inference.raters import Codes
from setagree.study.annotations import Annotations

Run: TypeAlias = tuple[Codes, Codes, Floats]

PAIRS_AT_ONCE = 1_000_000

_KEPT_PAIRS = 10_000_000
"""Pairs of ratings up to which their distances are kept for reshuffles; 240 MB."""

_KEPT_VALUES = 3_400
"""Values up to which all their distances are kept; 62 MB."""

_STEPS_A_VALUE, _STEPS_BY_OPERATOR = 4, 100
"""Steps that the chance of a rater takes for each value: where distances are kept, and else."""

_LAST_VALUES = 64
"""The most frequent values, whose distances stand in one square."""

_SPARSE = 0.1
"""The share of all answers that raters may give on average for rows of distances to be added up."""


@dataclass(frozen=True, eq=False)
class SharedPairs:
    """The pairs of ratings inside units; each pair of raters has those of their shared units."""

    study: Annotations
    weights: Weights

    @cached_property
    def _order(self) -> Codes:
        return np.argsort(self.study.unit_codes, kind="stable")

    @cached_property
    def n_pairs(self) -> int:
        """How many pairs of ratings there are."""
        ratings = np.bincount(self.study.unit_codes).astype(np.int64)
        return int((ratings * (ratings - 1) // 2).sum())

    @property
    def n_steps(self) -> int:
        """How many elementary steps a reshuffle takes."""
        n, K = self.study.n_raters, self.weights.n_values
        a_value = _STEPS_A_VALUE if K <= _KEPT_VALUES else _STEPS_BY_OPERATOR
        return self.n_pairs + n * (n + a_value * K)

    @cached_property
    def _kept(self) -> list[Run]:
        return list(self._computed())

    def _computed(self) -> Iterator[Run]:
        """Yield runs of pairs: two positions in the order by unit, and the distance."""
        study = self.study
        values = study.value_codes[self._order]
        for left, right in neighbours(study.unit_codes[self._order]):
            for start in range(0, len(left), PAIRS_AT_ONCE):
                one, two = (each[start : start + PAIRS_AT_ONCE] for each in (left, right))
                yield one, two, self.weights.distance_at(values[one], values[two])

    @cached_property
    def raters(self) -> Codes:
        """The rater of each answer, in the order by unit."""
        return np.asarray(self.study.rater_codes[self._order])

    @cached_property
    def counts(self) -> Floats:
        """How many units each pair of raters shares, of shape (n_raters, n_raters)."""
        return self._added(self.raters, distances=False)

    def dealt(self, generator: np.random.Generator) -> Codes:
        """Return `raters` where the answers to each unit are dealt out anew to its raters.

        Who shares which units stays as it is.
        """
        study = self.study
        order = np.lexsort((generator.random(study.n_ratings), study.unit_codes[self._order]))
        return np.asarray(self.raters[order])

    def sums(self, raters: Codes) -> Floats:
        """Return the summed distance of each pair of raters, of shape (n_raters, n_raters)."""
        return self._added(raters, distances=True)

    def by_chance(self, raters: Codes) -> Floats:
        """Return the mean distance that chance gives each pair, of shape (n_raters, n_raters).

        That is of an answer of the one and an answer of the other, each drawn at random from all
        units that were rated with others: Cohen's chance, where both rated the same units.
        """
        from scipy import sparse

        study, shape = self.study, (self.study.n_raters, self.weights.n_values)
        paired = np.bincount(study.unit_codes)[study.unit_codes[self._order]] > 1
        who, values = raters[paired], study.value_codes[self._order][paired]
        each = 1 / np.bincount(who, minlength=study.n_raters)[who]
        rank, blocks = self._by_frequency
        parts: Any = sparse.coo_array((each, (who, rank[values])), shape=shape).tocsr()
        if not blocks or parts.nnz > _SPARSE * shape[0] * shape[1]:
            parts = sparse.coo_array((each, (who, values)), shape=shape).tocsr()
            far = self.weights.distance_dot(parts.T.toarray())
            return np.asarray(np.maximum(parts @ far, 0))
        far = np.zeros(shape)
        for first, last, block in blocks:
            far[:, first:] += parts[:, first:last] @ block
        half = parts @ np.ascontiguousarray(far.T)
        return np.asarray(np.maximum(half + half.T, 0))

    @cached_property
    def _by_frequency(self) -> tuple[Codes, list[tuple[int, int, Floats]]]:
        """The rank of each value, rare ones first, and the distances from each to all that follow.

        Rare values have long rows, which are seldom added up, and frequent ones have short rows.
        Many reshuffles share them; there are none where they would be too many.
        """
        K = self.weights.n_values
        order = np.argsort(np.bincount(self.study.value_codes, minlength=K), kind="stable")
        blocks, last = [], 0
        while last < K <= _KEPT_VALUES:
            first, last = last, min(K, last + max(_LAST_VALUES, (K - last) // 2))
            block = self.weights.block(order[first:last], order[first:])
            blocks.append((first, last, np.triu(block)))
        return np.argsort(order), blocks

    def _added(self, raters: Codes, *, distances: bool) -> Floats:
        n = self.study.n_raters
        out = np.zeros(n * n)
        for left, right, d in self._kept if self.n_pairs <= _KEPT_PAIRS else self._computed():
            cells = raters[left].astype(np.intp) * n + raters[right]
            out += np.bincount(cells, d if distances else None, n * n)
        table = out.reshape(n, n)
        return np.asarray(table + table.T)
