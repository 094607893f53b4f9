"""Pairs of raters by the facets that they share, and the distances of their answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import check_cost
from setagree.coefficients.chance import Floats
from setagree.credit.base import Weights
from setagree.credit.pairs import neighbours
from setagree.inference.raters import Codes, Flags
from setagree.panels.facet_results import ALL, PEOPLE, WITH_PEOPLE
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects
from setagree.study.rater_columns import text_of_cell

_STEPS_A_PAIR, _BYTES_A_CELL = 60, 48
"""Elementary steps of a pair of ratings, and memory of a row of the table for each unit."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """Which rows of the table a pair of raters counts in.

    The rows are the k + 1 kinds of pairs of models, the most alike first; models with people,
    people with one another; then for each group of models its own pairs, and those with people.

    Attributes
    ----------
    facets : list of str
        The k facets.
    is_model : ndarray of bool, shape (n_raters,)
        Who is a model.
    prefix : ndarray of int, shape (n_raters, k)
        Raters who share the first facets have the same number there.
    depth : int
        How many facets a group of models shares; 0 where each model is its own group.
    group : ndarray of int, shape (n_raters,)
        The group of each model; -1, which is the last, for humans.
    groups : list of str
        Their names.
    """

    facets: list[str]
    is_model: Flags
    prefix: Codes
    depth: int
    group: Codes
    groups: list[str]

    @classmethod
    def of(cls, study: Annotations, facets: list[str], is_model: Flags) -> Kinds:
        """Return the kinds of the raters of a study."""
        known = study.raters_frame[facets]
        k, tuples = len(facets), [*known.itertuples(index=False, name=None)]
        prefix = np.stack(
            [pd.factorize(as_objects(row[: j + 1] for row in tuples))[0] for j in range(k)], axis=1
        )
        whole = prefix[is_model, -1]
        depth = k if len(np.unique(whole)) < len(whole) else k - 1
        shared = max(depth, 1)
        group = np.full(len(tuples), -1, dtype=np.int64)
        group[is_model], first = pd.factorize(prefix[is_model, shared - 1])
        heads = [tuples[np.flatnonzero(prefix[:, shared - 1] == one)[0]][:shared] for one in first]
        names = [" / ".join(map(text_of_cell, head)) for head in heads]
        return cls(facets, is_model, prefix, depth, group, names)

    @property
    def own(self) -> str:
        """The pairs that tell how far a model agrees with itself."""
        return self.names[len(self.facets) - self.depth] if self.depth else f"same {self.facets[0]}"

    @property
    def names(self) -> list[str]:
        """The kinds of pairs, in the order of the first rows."""
        k = len(self.facets)
        models = [_kind(self.facets, depth) for depth in range(k, -1, -1)]
        return [*models, WITH_PEOPLE, PEOPLE]

    @property
    def rows(self) -> list[tuple[int, str, str]]:
        """The rows as people read them: its number, the kind of pairs, whose."""
        k, G, names = len(self.facets), len(self.groups), self.names
        each = {k - self.depth: len(names), k + 1: len(names) + G}
        if not self.depth:
            del each[k]
        found = []
        for row, name in enumerate(names):
            found.append((row, name, ALL))
            if row in each and G > 1:
                found += [(each[row] + g, name, group) for g, group in enumerate(self.groups)]
        return found

    @property
    def own_rows(self) -> list[int]:
        """The rows of each group's own pairs, and in the end that of people with one another."""
        k = len(self.facets)
        return [*range(k + 3, k + 3 + len(self.groups)), k + 2]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.facets) + 3 + 2 * len(self.groups)

    def of_pairs(self, a: Codes, b: Codes) -> tuple[Codes, Codes]:
        """Return the row of each pair of raters, and that of its group; -1 where it has none."""
        k, G = len(self.facets), len(self.groups)
        shared = (self.prefix[a] == self.prefix[b]).sum(axis=1)
        n_models = self.is_model[a].astype(np.int64) + self.is_model[b]
        row = np.where(n_models == 2, k - shared, np.where(n_models == 1, k + 1, k + 2))
        of_model = np.maximum(self.group[a], self.group[b])
        own = (n_models == 2) & (row == k - self.depth) & (self.depth > 0)
        more = np.where(own, k + 3 + of_model, np.where(n_models == 1, k + 3 + G + of_model, -1))
        return row, more


def _kind(facets: list[str], depth: int) -> str:
    """Return what pairs are called that share the first facets alone."""
    *most, last = facets[:depth] or [""]
    same = f"same {', '.join(most)}{' and ' if most else ''}{last}" if depth else ""
    other = f"other {facets[depth]}" if depth < len(facets) else ""
    return ", ".join(filter(None, [same, other]))


class PairTable:
    """Sums over the pairs of ratings of each unit, by row of the table.

    `apart` and `counts` have the shape (n_units, n_rows): summed distances, and numbers of pairs.
    `sides` of shape (n_rows, n_groups + 1) says how often a rater of each group, or in the end a
    human, is one of a pair.
    """

    def __init__(self, study: Annotations, weights: Weights, kinds: Kinds) -> None:
        r = np.bincount(study.unit_codes, minlength=study.n_units).astype(np.float64)
        check_cost(
            "facet_agreement",
            n_bytes=_BYTES_A_CELL * study.n_units * kinds.n_rows,
            n_steps=_STEPS_A_PAIR * float((r * (r - 1) / 2).sum()),
            instead="Take part of the units, or of the raters (without_raters).",
        )
        shape = (study.n_units, kinds.n_rows)
        self.apart, self.counts, self.r = np.zeros(shape), np.zeros(shape), r
        self.sides = np.zeros((kinds.n_rows, len(kinds.groups) + 1))
        order = np.argsort(study.unit_codes, kind="stable")
        units, raters, values = (
            codes[order] for codes in (study.unit_codes, study.rater_codes, study.value_codes)
        )
        within = np.zeros(study.n_units)
        for left, right in neighbours(units):
            d = weights.distance_at(values[left], values[right])
            np.add.at(within, units[left], d)
            for row in kinds.of_pairs(raters[left], raters[right]):
                has = row >= 0
                at = units[left][has], row[has]
                np.add.at(self.apart, at, d[has])
                np.add.at(self.counts, at, 1.0)
                for side in (left, right):
                    np.add.at(self.sides, (row[has], kinds.group[raters[side]][has]), 1.0)
        totals = np.bincount(study.value_codes, minlength=weights.n_values).astype(np.float64)
        to_all = weights.distance_dot(totals)[study.value_codes]
        self.to_all, self.within = np.bincount(study.unit_codes, to_all, study.n_units), within

    def whole(self) -> Floats:
        """Return 1 - D / De of each row."""
        N = self.r.sum()
        expected = self.to_all.sum() / (N * (N - 1))
        return 1 - _over(_over(self.apart.sum(axis=0), self.counts.sum(axis=0)), expected)

    def without_units(self) -> Floats:
        """Return 1 - D / De of each row without each unit, of shape (n_units, n_rows)."""
        N = self.r.sum() - self.r
        expected = _over(self.to_all.sum() - 2 * self.to_all + 2 * self.within, N * (N - 1))
        apart, counts = (x.sum(axis=0) - x for x in (self.apart, self.counts))
        return 1 - _over(_over(apart, counts), expected[:, None])

    def rooms(self, estimates: Floats, kinds: Kinds) -> Floats:
        """Return what stability leaves room for: of each pair the mean of both sides' own rows.

        `estimates` has the rows in its last axis. Where the own row of one side is unknown, or a
        row is one of these, there is none.
        """
        shares = _over(self.sides, self.sides.sum(axis=1)[:, None])
        own = estimates[..., kinds.own_rows]
        known = np.nan_to_num(own, nan=0.0) @ shares.T
        lacking = np.isnan(own).astype(np.float64) @ shares.T > 0
        is_own = np.isin(np.arange(kinds.n_rows), kinds.own_rows)
        is_own[len(kinds.facets) - kinds.depth] |= kinds.depth > 0
        return np.where(lacking | is_own, np.nan, known)


def _over(x: npt.ArrayLike, y: npt.ArrayLike) -> Floats:
    """Return x / y; nan where y is 0."""
    x, y = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
    return np.asarray(np.divide(x, y, out=np.full(x.shape, np.nan), where=y > 0))
