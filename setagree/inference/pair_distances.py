"""All pairs of ratings by how far they are apart: inside units, and whoever they are of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from setagree.checks import check_cost
from setagree.coefficients.chance import ROUNDING, Codes, Floats
from setagree.coefficients.shuffler import Cells, pairs_of
from setagree.coefficients.within_units import value_pairs
from setagree.credit.base import Weights, chunks
from setagree.inference.permutation import pairable_ratings, ratings_of
from setagree.progress import track
from setagree.scoring.results import Agreement
from setagree.study.tally import Tally

_MOST_LISTED = 40_000_000
"""Pairs of ratings beyond which a reshuffle does not list them; 640 MB."""

_MERGED_AT, _ROW_BYTES = 4_000_000, 120
"""Distinct distances at which those found so far are merged, and what each takes meanwhile."""

_BINS_A_PAIR = 4
"""Distinct distances for each pair up to which counting them is faster than sorting the pairs."""

_LONG_WORK = 20_000_000


@dataclass(frozen=True, eq=False)
class PairDistances:
    """The distinct distances between ratings of pairable units, and how many pairs have them.

    Attributes
    ----------
    distances : ndarray of shape (n_distances,)
        Ascending; distances that rounding alone tells apart are one.
    cuts : ndarray of shape (n_distances - 1,)
        What lies between each distance and the next.
    observed, every : ndarray of shape (n_distances,)
        Pairs of ratings of one unit, and of ratings of any units.
    """

    distances: Floats
    cuts: Floats
    observed: Floats
    every: Floats

    @classmethod
    def of(cls, tally: Tally, weights: Weights) -> PairDistances:
        """Count the pairs of a study."""
        found = _merged([*_every(tally, weights), *_observed(tally, weights)])
        d, n = found[0], found[1:]
        # Of a distance up to 1 rounding may change the twelfth decimal, of a larger one the digit.
        least = weights.max_distance if weights.max_distance <= 1 else 0.0
        is_new = np.diff(d) > ROUNDING * np.maximum(d[1:], least)
        starts = np.flatnonzero(np.append(d.size > 0, is_new))
        every, observed = np.add.reduceat(n, starts, axis=1) if d.size else n
        return cls(d[starts], (d[1:] + d[:-1])[is_new] / 2, observed, every)

    @property
    def observed_shares(self) -> Floats:
        """F_o, the share of the pairs inside units that are no further apart."""
        return _cumulative(self.observed)

    @property
    def expected_shares(self) -> Floats:
        """F_e, the same of the pairs of two units."""
        return _cumulative(self.every - self.observed)

    def places(self, d: Floats) -> Codes:
        """Return the position of each distance."""
        return np.searchsorted(self.cuts, d)


def _cumulative(n: Floats) -> Floats:
    sums = np.cumsum(n)
    return np.asarray(sums / sums[-1]) if sums.size and sums[-1] else np.full(len(n), np.nan)


def _merged(parts: list[Floats]) -> Floats:
    """Return the distinct distances in order, with their counts; each part has three rows."""
    d, *n = np.concatenate([np.zeros((3, 0)), *parts], axis=1)
    distinct, place = np.unique(d, return_inverse=True)
    return np.stack([distinct, *(np.bincount(place, each, len(distinct)) for each in n)])


def _every(tally: Tally, weights: Weights) -> list[Floats]:
    """Return distances with the number of pairs of ratings of any units, and 0 observed ones.

    The values that were given are compared in blocks, so that no K x K array is made.
    """
    n = tally.pairable_totals
    blocks = [*chunks(np.flatnonzero(n))]
    K = sum(map(len, blocks))
    instead = "Merge or leave out rare answers, or take a part of the units."
    check_cost(f"The distances between {K:,} answers", n_steps=K**2 / 2, instead=instead)
    parts, size = [np.array([[0.0], [float((n * (n - 1)).sum()) / 2], [0.0]])], 0
    long = K**2 > 2 * _LONG_WORK
    for i, rows in enumerate(track(blocks, total=len(blocks), what="blocks", long=long)):
        for columns in blocks[i:]:
            times = np.outer(n[rows], n[columns])
            if columns is rows:
                times = np.triu(times, 1)
            parts.append(_distinct(weights.block(rows, columns).ravel(), times.ravel(), 1))
            size += parts[-1].shape[1]
            if size > _MERGED_AT:
                parts, size = [_merged(parts)], 0
                n_bytes = _ROW_BYTES * parts[0].shape[1]
                check_cost("The list of distinct distances", n_bytes=n_bytes, instead=instead)
    return parts


def _observed(tally: Tally, weights: Weights) -> Iterable[Floats]:
    """Yield distances with the number of pairs of ratings of one unit that are so far apart."""
    times = tally.multiplicity[tally.rows]
    same = float((times * tally.counts * (tally.counts - 1)).sum()) / 2
    yield np.array([[0.0], [0.0], [same]])
    for left, right in value_pairs(tally):
        n = times[left] * tally.counts[left] * tally.counts[right]
        yield _distinct(weights.distance_at(tally.indices[left], tally.indices[right]), n, 2)


def _distinct(d: Floats, n: Floats, row: int) -> Floats:
    """Return the distinct distances, with the summed numbers of pairs in one of the rows."""
    place, distinct = pd.factorize(d)
    out = np.zeros((3, len(distinct)))
    out[0], out[row] = distinct, np.bincount(place, n, len(distinct))
    # What stands on or below a diagonal is no pair.
    return out[:, out[row] > 0]


class PairShuffler(Cells):
    """The answers of pairable units, and the statistic as a function of their order.

    A reshuffle does not change the distances of all pairs, but which of them lie within units.
    """

    max_pairs = _MOST_LISTED

    def __init__(self, agreement: Agreement, pairs: PairDistances) -> None:
        unit, _, value = ratings_of(agreement)
        kept = pairable_ratings(unit)
        unit, value = unit[kept], value[kept]
        super().__init__(unit, value, np.zeros_like(unit), agreement.tally, agreement.weights)
        self.distances = pairs
        self.up_to = np.cumsum(pairs.every)
        self.n_pairs = round(float((self.sizes * (self.sizes - 1)).sum()) / 2)

    @cached_property
    def lists_pairs(self) -> bool:
        """Whether pairs are compared one by one: if few, or without a matrix of distances."""
        return self.dense is None or super().lists_pairs

    @property
    def width(self) -> int:
        """Number of entries that the evaluation of one reshuffle visits."""
        K, n = self.n_values, len(self.units)
        inside = self.n_pairs if self.lists_pairs else max(n * K, K**2)
        return max(len(self.value), inside, min(len(self.up_to), _BINS_A_PAIR * self.n_pairs))

    @property
    def n_held(self) -> int:
        """Number of entries per reshuffle that are in memory at a time."""
        return self.width

    def evaluate(self, V: Codes) -> Floats:
        """Return the statistics of answers V of shape (B, n_ratings)."""
        B, n_bins = len(V), len(self.up_to)
        if not self.lists_pairs:
            return np.array([self._largest(self._matrix_counts(row))[0] for row in V])
        bins = [self._bins(k, l).reshape(B, -1) for _, k, l in pairs_of(self.answers(V))]
        bin_of_pair = np.concatenate(bins, axis=1)
        if n_bins > _BINS_A_PAIR * self.n_pairs:
            bin_of_pair.sort(axis=1)
            within = np.arange(1.0, self.n_pairs + 1)
            return np.asarray(self._leads(within, self.up_to[bin_of_pair]).max(axis=1))
        cells = bin_of_pair + n_bins * np.arange(B)[:, None]
        counts = np.bincount(cells.ravel(), minlength=B * n_bins).astype(np.float64)
        return self._largest(counts.reshape(B, n_bins))

    def _largest(self, observed: Floats) -> Floats:
        """Return the statistics of so many pairs inside units at each distance, (B, n_bins)."""
        within = np.cumsum(np.atleast_2d(observed), axis=1)
        return np.asarray(self._leads(within, self.up_to).max(axis=1))

    def _leads(self, within: Floats, every: Floats) -> Floats:
        """Return F_o - F_e where so many of the pairs are no further apart."""
        n_expected = self.up_to[-1] - self.n_pairs
        return np.asarray(within / self.n_pairs - (every - within) / n_expected)

    def _bins(self, k: Codes, l: Codes) -> Codes:
        """Return the position of the distance between values."""
        if self.dense is not None:
            return self._table.take(k * self.n_values + l)
        d = self.weights.distance_at(k.ravel(), l.ravel())
        return self.distances.places(d).reshape(k.shape)

    @cached_property
    def _table(self) -> Codes:
        """The positions of all K x K distances in a row, where these are at hand."""
        return self.distances.places(np.zeros(0) if self.dense is None else self.dense)

    def _matrix_counts(self, values: Codes) -> Floats:
        """Return how many pairs inside units have each distance, from how often each value comes.

        With C_ik ratings of value k in unit i, C' C counts each pair twice, and each rating once.
        """
        K, n = self.n_values, len(self.units)
        counts = np.bincount(self.unit * K + values, minlength=n * K).reshape(n, K)
        counts = counts.astype(np.float64)
        both = counts.T @ counts
        both[np.diag_indices(K)] -= counts.sum(axis=0)
        found = np.bincount(self._table, both.ravel() / 2, len(self.up_to))
        return found.astype(np.float64, copy=False)
