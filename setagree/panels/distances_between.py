"""How far raters are from each other on the units that they share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from setagree.coefficients.chance import Floats
from setagree.credit.base import Weights
from setagree.inference.raters import Codes
from setagree.study.annotations import Annotations

Run: TypeAlias = tuple[Codes, Codes, Floats]

PAIRS_AT_ONCE = 1_000_000

_KEPT_PAIRS = 10_000_000
"""Pairs of ratings up to which their distances are kept for reshuffles; 240 MB."""


@dataclass(frozen=True, eq=False)
class SharedPairs:
    """The pairs of ratings inside units; each pair of raters has those of their shared units.

    Attributes
    ----------
    study : Annotations
        Who gave what.
    weights : Weights
        The distances.
    """

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

    @cached_property
    def _kept(self) -> list[Run]:
        return list(self._computed())

    def _computed(self) -> Iterator[Run]:
        """Yield runs of pairs: two positions in the order by unit, and the distance."""
        study = self.study
        units, values = study.unit_codes[self._order], study.value_codes[self._order]
        left, shift = np.arange(len(units)), 0
        while left.size:
            shift += 1
            left = left[left + shift < len(units)]
            left = left[units[left + shift] == units[left]]
            for start in range(0, len(left), PAIRS_AT_ONCE):
                run = left[start : start + PAIRS_AT_ONCE]
                yield run, run + shift, self.weights.distance_at(values[run], values[run + shift])

    def counts(self) -> Floats:
        """Return how many units each pair of raters shares, of shape (n_raters, n_raters)."""
        raters = self.study.rater_codes[self._order]
        return self._added(raters, distances=False)

    def sums(self) -> Floats:
        """Return the summed distance of each pair of raters, of shape (n_raters, n_raters)."""
        return self._added(self.study.rater_codes[self._order], distances=True)

    def shuffled_sums(self, generator: np.random.Generator) -> Floats:
        """Return the same where the answers to each unit are dealt out anew to its raters.

        Who shares which units stays as it is.
        """
        study = self.study
        dealt = np.lexsort((generator.random(study.n_ratings), study.unit_codes[self._order]))
        return self._added(study.rater_codes[self._order][dealt], distances=True)

    def _added(self, raters: Codes, *, distances: bool) -> Floats:
        n = self.study.n_raters
        out = np.zeros(n * n)
        for left, right, d in self._kept if self.n_pairs <= _KEPT_PAIRS else self._computed():
            cells = raters[left].astype(np.int64) * n + raters[right]
            out += np.bincount(cells, d if distances else None, n * n)
        table = out.reshape(n, n)
        return np.asarray(table + table.T)
