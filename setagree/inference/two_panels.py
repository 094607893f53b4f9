"""Two panels on the same units, as counts of their answers beside each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.coefficients.chance import Floats, reach
from setagree.coefficients.chance_models import beyond_rounding, one_minus, quadratic
from setagree.credit.base import Weights
from setagree.credit.pairs import sums_to_others
from setagree.errors import DataError
from setagree.inference.raters import Flags, part_of
from setagree.study.annotations import Annotations
from setagree.study.keys import value_numbers
from setagree.study.tally import Tally, row_keys


@dataclass(frozen=True, eq=False)
class Side:
    """What one panel gave to the patterns of units.

    Attributes
    ----------
    counts : sparse array of shape (n_patterns, K)
        How many raters of the panel gave each value.
    ratings : ndarray of shape (n_patterns,)
        Their sums.
    within : ndarray of shape (n_patterns,)
        The distance summed over the ordered pairs of a pattern's answers.
    """

    counts: Any
    ratings: Floats
    within: Floats

    def alphas(self, weights: Weights, M: Floats) -> Floats:
        """Return Krippendorff's alpha of the panel for each row of pattern weights; nan if none."""
        used = self.ratings >= 2
        r = np.where(used, self.ratings, 0.0)
        q = np.where(used, self.within / np.maximum(r - 1, 1), 0.0)
        N = M @ r
        expected = quadratic(weights, self.counts.T @ (M * used).T) * (M[:, used].sum(axis=1) != 1)
        return one_minus(M @ q, expected / (N - 1))


@dataclass(frozen=True, eq=False)
class Joint:
    """Two panels on the units that both rated.

    Attributes
    ----------
    weights : Weights
        The distances.
    x, y : Side
        What each panel gave.
    between : ndarray of shape (n_patterns,)
        The distance summed over the pairs of an answer of each panel.
    unit_patterns : ndarray of shape (n_units,)
        The pattern of each unit that both panels rated, in an order that the answers alone decide,
        so that a seed draws the same units in whatever order the rows came.
    """

    weights: Weights
    x: Side
    y: Side
    between: Floats
    unit_patterns: npt.NDArray[Any]

    @classmethod
    def of(cls, study: Annotations, weights: Weights, in_y: Flags) -> Joint:
        """Return the two panels of a study, `in_y` the flags of the ratings of the second one.

        A value of the second panel is coded apart, K further on, so that equal pairs of counts
        make one pattern.
        """
        coded = replace(
            study,
            values=study.values * 2,
            value_codes=study.value_codes + study.n_values * in_y.astype(np.int32),
        )
        return cls.of_tally(Tally.from_annotations(coded), weights)

    @classmethod
    def of_tally(cls, tally: Tally, weights: Weights) -> Joint:
        """Return the panels of a tally whose values are those of one panel, then the other."""
        second = tally.indices >= weights.n_values
        values = tally.indices % weights.n_values
        x, y = (tally.counts * flags for flags in (~second, second))
        to_x, to_y = (sums_to_others(tally.rows, values, counts, weights) for counts in (x, y))
        n = tally.n_patterns

        def summed(each: Floats) -> Floats:
            return np.bincount(tally.rows, each, n).astype(np.float64)

        def side(counts: Floats, to_own: Floats) -> Side:
            from scipy import sparse

            matrix = sparse.csr_array((counts, (tally.rows, values)), shape=(n, weights.n_values))
            return Side(matrix, summed(counts), summed(counts * to_own))

        patterns = _in_order(tally, weights.n_values)
        return cls(weights, side(x, to_x), side(y, to_y), summed(x * to_y), patterns)

    @property
    def multiplicity(self) -> Floats:
        """How many units have each pattern."""
        return np.bincount(self.unit_patterns, minlength=len(self.between)).astype(np.float64)

    def disagreements(self, M: Floats) -> tuple[Floats, Floats]:
        """Return d_o and d_e for each row of pattern weights.

        Wong, Paritosh and Aroyo 2021: units count by R + S, the answers that they have.
        """
        R, S = self.x.ratings, self.y.ratings
        observed = M @ ((R + S) / (R * S) * self.between) / (M @ (R + S))
        x, y = (side.counts.T @ M.T for side in (self.x, self.y))
        spread = (x * self.weights.distance_dot(np.ascontiguousarray(y))).sum(axis=0)
        mass = (M @ R) * (M @ S)
        scale = reach(self.weights, (x + y).sum(axis=1)) * mass
        return np.asarray(observed), beyond_rounding(spread, scale) / mass

    def kappas(self, M: Floats) -> Floats:
        """Return kappa_x = 1 - d_o / d_e for each row of pattern weights; nan where d_e is 0."""
        observed, expected = self.disagreements(M)
        return one_minus(observed, expected * (M.sum(axis=1) != 1))


def shared_part(study: Annotations, x: Flags, y: Flags) -> tuple[Annotations, Flags]:
    """Return the answers of two panels to the units of both, and which are of the second.

    The panels are flags of shape (n_raters,).

    Raises
    ------
    DataError
        No unit was rated by both.
    """
    in_x, in_y = x[study.rater_codes], y[study.rater_codes]
    shared = np.ones(study.n_units, dtype=bool)
    for members in (in_x, in_y):
        shared &= np.bincount(study.unit_codes[members], minlength=study.n_units) > 0
    rows = (in_x | in_y) & shared[study.unit_codes]
    if not rows.any():
        raise DataError("no unit has an answer of both panels.")
    return part_of(study, rows), in_y[rows]


def _in_order(tally: Tally, n_values: int) -> npt.NDArray[Any]:
    """Return the pattern of each unit, sorted by what either panel answered."""
    patterns = np.arange(tally.n_patterns) if tally.unit_patterns is None else tally.unit_patterns
    numbers = value_numbers(tally.values)
    numbers[n_values:] *= np.uint64(0x9E3779B97F4A7C15)  # what the second panel says is its own
    keys = row_keys(numbers, tally.counts, tally.indices, tally.indptr)
    return np.asarray(patterns[np.argsort(keys[patterns], kind="stable")])
