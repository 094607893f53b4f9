"""The study under one distance, and the disagreement that is observed within units.

All computations use disagreement as a share of d_max: x = 1 - pa and y = 1 - pe. The estimate is
1 - x / y. Agreements near 1 thus keep their digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.checks import Codes, Floats, cached_property
from setagree.credit.base import Weights
from setagree.distances import Distance
from setagree.study.annotations import Annotations
from setagree.study.sampling import Sample, sample_of
from setagree.study.tally import Tally

Undefined: TypeAlias = Literal[
    "no pairable unit",
    "no pairable unit in a stratum",
    "one unit",
    "one value",
    "no chance disagreement",
]

PAIR_BLOCK_SIZE = 100_000
"""Number of stored counts that are paired with their neighbours in one block."""

ROUNDING = 1e-12
"""Largest standard error or difference of estimates that is treated as rounding, and so as 0."""

_FEW_PATTERNS = 1_000
"""Number of terms below which BLAS uses one thread."""

NOTHING = 1e-14
"""Largest chance disagreement, relative to the distances in use, that is treated as 0."""


@dataclass(frozen=True, eq=False)
class Case:
    """A study under one distance, with cached quantities that several coefficients need.

    Attributes
    ----------
    tally : Tally
        The counts c_ik.
    weights : Weights
        The credits w_kl between values. Weights of units are `unit_weights` and `pairable_weights`.
    distance : Distance or None
        The distance that the weights were computed from, for values that were not observed.
    study : Annotations or None
        The ratings of every unit with their raters, if the study is in memory.
    drawn : mapping or None
        Number of units of each stratum that count in the whole sample, if this is a part of it.
    """

    tally: Tally
    weights: Weights
    distance: Distance | None = None
    study: Annotations | None = None
    drawn: Mapping[Any, int] | None = None

    @cached_property
    def disagreement(self) -> Floats:
        """q_i = sum_kl c_ik c_il d_kl of each pattern: ordered pairs of its ratings; d_kk = 0."""
        return pattern_disagreement(self.tally, self.weights)

    @cached_property
    def mean_disagreement(self) -> Floats:
        """x_i = q_i / (r_i (r_i - 1) d_max) of each pattern; 0 if it is not pairable."""
        r, d_max = self.tally.pattern_ratings, self.weights.max_distance
        pairs = np.where(self.tally.pairable, r * (r - 1), np.inf)
        return np.asarray(self.disagreement / (d_max * pairs))

    @cached_property
    def rated(self) -> Rated:
        """Ratings with rater identities. The caller guarantees that the study has them."""
        study, tally = self.study, self.tally
        if study is not None and tally.unit_patterns is not None:
            codes = study.unit_codes, study.rater_codes, study.value_codes
            strata = None if self.sample is None else self.sample.strata_of_size
            return Rated(*codes, self.unit_weights, tally.unit_patterns, study.raters, strata)
        if tally.given is None:
            raise TypeError("the ratings of this case have no rater identities")
        given, patterns = tally.given, np.arange(tally.n_patterns)
        codes = given.rows, given.rater_codes, given.value_codes
        return Rated(*codes, tally.multiplicity, patterns, given.raters)

    @cached_property
    def sample(self) -> Sample | None:
        """The sampling design of the units, or None if there is none."""
        study = self.study
        return None if study is None or study.sampling is None else sample_of(study)

    @property
    def clusters(self) -> tuple[Codes, npt.NDArray[np.object_]]:
        """The cluster of each unit as a code, and their names. The caller guarantees clusters."""
        if self.sample is None or self.sample.groups is None:
            raise TypeError("the units of this case have no clusters")
        return self.sample.groups, self.sample.names

    @property
    def is_weighted(self) -> bool:
        """Whether units have sampling weights, or sizes."""
        return self.sample is not None and self.sample.weights is not None

    @property
    def is_sized(self) -> bool:
        """Whether units have sizes, which are then their weights."""
        return self.sample is not None and self.sample.is_sized

    @property
    def unit_weights(self) -> Floats:
        """The sampling weight v_i, or the size, of each unit in sums over rated units; else 1."""
        weights = None if self.sample is None else self.sample.weights
        return np.ones(self.tally.n_units) if weights is None else weights

    @property
    def pairable_weights(self) -> Floats:
        """The sampling weight w_i of each unit in sums over pairable units; see `Sample`."""
        weights = None if self.sample is None else self.sample.pairable_weights
        return np.ones(self.tally.n_units) if weights is None else weights

    @cached_property
    def mass(self) -> Floats:
        """The summed v_i of the units of each pattern; without weights, their number."""
        return summed_weights(self.tally, self.unit_weights if self.is_weighted else None)

    @cached_property
    def pairable_mass(self) -> Floats:
        """The summed w_i of the units of each pattern; it counts only for pairable units."""
        return summed_weights(self.tally, self.pairable_weights if self.is_weighted else None)

    @property
    def full_agreement(self) -> float:
        """Share of the pairable units, by their w_i, with one answer; NaN if none is pairable."""
        tally, pairable = self.tally, self.pairable_mass * self.tally.pairable
        total = float(pairable.sum())
        return dot(pairable, 1.0 * (np.diff(tally.indptr) == 1)) / total if total else float("nan")

    @cached_property
    def squared_mass(self) -> Floats:
        """The summed w_i² of the units of each pattern."""
        return summed_weights(self.tally, self.pairable_weights**2 if self.is_weighted else None)

    @cached_property
    def pairable_totals(self) -> Floats:
        """X_k = sum_i w_i c_ik over pairable units, of shape (K,)."""
        return pairable_totals(self.tally, self.pairable_mass)


@dataclass(frozen=True, eq=False)
class Rated:
    """Ratings with rater identities, by row: a unit of a study, or a pattern that keeps raters.

    Attributes
    ----------
    row_codes, rater_codes, value_codes : ndarray of shape (n_ratings,)
        The row, rater and value of each rating.
    row_times : ndarray of shape (n_rows,)
        Number of units that each row represents, or its sampling weight.
    patterns : ndarray of shape (n_rows,)
        The pattern of each row.
    raters : ndarray of object, shape (n_raters,)
        Identifiers of the raters.
    strata : ndarray of int, shape (n_rows,), or None
        The stratum of each row if the sizes of strata make the weights.
    """

    row_codes: Codes
    rater_codes: Codes
    value_codes: Codes
    row_times: Floats
    patterns: Codes
    raters: npt.NDArray[np.object_]
    strata: Codes | None = None

    @property
    def n_raters(self) -> int:
        """Number of raters."""
        return len(self.raters)

    @cached_property
    def cells(self) -> Codes:
        """The rater and stratum of each rating as one code; the rater alone without strata."""
        if self.strata is None:
            return self.rater_codes
        return self.strata[self.row_codes] * self.n_raters + self.rater_codes

    @cached_property
    def times(self) -> Floats:
        """Number of times that each rating was given, or its sampling weight.

        If the sizes of strata make the weights, it is N_s / n_gs, with n_gs the units of stratum s
        that rater g rated, so that the margins of all raters refer to one population.
        """
        times = self.row_times[self.row_codes]
        if self.strata is None:
            return times
        n = np.bincount(self.strata)[self.strata[self.row_codes]]
        return np.asarray(times * n / np.bincount(self.cells)[self.cells])

    @cached_property
    def ratings(self) -> Floats:
        """n_g, the number of ratings of each rater."""
        sums = np.bincount(self.rater_codes, self.times, self.n_raters)
        return sums.astype(np.float64, copy=False)


def dot(x: Floats, y: Floats) -> float:
    """Return sum_i x_i y_i over up to a million patterns.

    Many are not ``x.dot(y)``: memory bounds this sum, and the waiting threads of BLAS would take
    more processor time than the sum itself.
    """
    return float(x.dot(y) if len(x) < _FEW_PATTERNS else np.einsum("i,i", x, y))


def divided(part: npt.ArrayLike, whole: npt.ArrayLike, undefined: float = np.nan) -> Floats:
    """Return part / whole, or another number where the whole is not above 0."""
    out = np.full(np.broadcast_shapes(np.shape(part), np.shape(whole)), undefined)
    return np.asarray(np.divide(part, whole, out=out, where=np.asarray(whole) > 0))


def summed_weights(tally: Tally, weights: Floats | None) -> Floats:
    """Return the summed weights of the units of each pattern; without weights, their number."""
    if weights is None or tally.unit_patterns is None:
        return tally.multiplicity
    sums = np.bincount(tally.unit_patterns, weights, tally.n_patterns)
    return np.asarray(sums, dtype=np.float64)


def pairable_totals(tally: Tally, mass: Floats) -> Floats:
    """Return X_k = sum_i w_i c_ik over pairable units; `mass` is the summed w_i of each pattern."""
    if mass is tally.multiplicity:  # cached by the tally
        return tally.pairable_totals
    return tally.value_totals(mass * tally.pairable)


def value_pairs(tally: Tally) -> Iterator[tuple[Codes, Codes]]:
    """Yield all pairs of different values of one pattern, as positions of its stored counts.

    Entry i of the counts is paired with entry i + 1, then i + 2, ... while both are in one
    pattern. Blocks of entries are processed in turn, so that memory stays bounded.
    """
    for first in range(0, len(tally.indices), PAIR_BLOCK_SIZE):
        left, shift = np.arange(first, min(first + PAIR_BLOCK_SIZE, len(tally.indices))), 1
        ends = tally.indptr[tally.rows[left] + 1]
        while (paired := (left + shift < ends).nonzero()[0]).size:
            left, ends = left[paired], ends[paired]
            yield left, left + shift
            shift += 1


def pattern_disagreement(tally: Tally, weights: Weights) -> Floats:
    """Return q_i = sum_kl c_ik c_il d_kl of each pattern: ordered pairs of its ratings."""
    out = np.zeros(tally.n_patterns)
    for left, right in value_pairs(tally):
        d = weights.distance_at(tally.indices[left], tally.indices[right])
        rows = tally.rows[left]
        pairs = 2 * tally.counts[left] * tally.counts[right] * d
        out[rows[0] : rows[-1] + 1] += np.bincount(rows - rows[0], pairs)
    return out


def reach(weights: Weights, totals: Floats) -> float:
    """Return the largest distance from one value in use to another, the scale of rounding."""
    used = np.flatnonzero(totals)
    found = weights.distance_at(np.full_like(used, used[0]), used).max() if used.size else 0.0
    # The distances from one value may all be 0 although those between the others are not.
    return float(found) or weights.max_distance
