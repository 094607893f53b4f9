"""Model against human, unit by unit: who is nearer to the other humans."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from setagree.coefficients.chance import Case, Floats
from setagree.coefficients.chance_models import Urn
from setagree.coefficients.sums import estimate
from setagree.coefficients.within_raters import spread_within_groups
from setagree.credit.base import Weights
from setagree.inference.raters import Codes, Flags
from setagree.study.annotations import Annotations
from setagree.study.tally import Tally

_PARTS = 720_720
"""A multiple of all numbers up to 16: similarities of small sets are multiples of 1 / this."""

ROUNDING = 1e-12
"""What rounding may change in a mean of similarities, or which share of a mean distance."""


@dataclass(frozen=True, eq=False)
class Contest:
    """What all models of a study are measured against.

    Attributes
    ----------
    people : ndarray of bool, shape (n_raters,)
        Who is a human; units have `min_humans` of them or more.
    tolerance : float
        Mean similarities that differ by no more are a tie.
    bounded : bool
        Whether 1 is the largest distance there is. Else mean distances are compared, and are a tie
        where they differ by no more than rounding leaves of their own size.
    """

    study: Annotations
    weights: Weights
    people: Flags
    min_humans: int
    tolerance: float
    bounded: bool = True

    @cached_property
    def _answers(self) -> tuple[Codes, Codes, Codes]:
        """Unit, rater and value of the humans' answers, in units with enough, sorted by both."""
        study = self.study
        human = self.people[study.rater_codes]
        enough = np.bincount(study.unit_codes[human], minlength=study.n_units) >= self.min_humans
        rows = np.flatnonzero(human & enough[study.unit_codes])
        rows = rows[np.lexsort((study.rater_codes[rows], study.unit_codes[rows]))]
        return study.unit_codes[rows], study.rater_codes[rows], study.value_codes[rows]

    @cached_property
    def _starts(self) -> tuple[Codes, Codes]:
        """Where the unit of each of these answers begins, and how many answers it has."""
        units, _, _ = self._answers
        sizes = np.bincount(units, minlength=self.study.n_units)
        return (np.cumsum(sizes) - sizes)[units], sizes[units]

    @cached_property
    def _to_humans(self) -> Floats:
        """S(j) of each of these answers."""
        _, _, values = self._answers
        return self._mean_nearness(values)

    def _mean_nearness(self, answers: Codes) -> Floats:
        """Return how near an answer for each rating is to the others of its unit, on average.

        Added up human by human, in their order, as the authors' program does.
        """
        _, _, values = self._answers
        start, size = self._starts
        left, out, place = np.arange(len(values)), np.zeros(len(values)), 0
        while left.size:
            others = left[start[left] + place != left]
            out[others] += self._nearness(answers[others], values[start[others] + place])
            place += 1
            left = left[place < size[left]]
        return np.asarray(out / (size - 1))

    def _nearness(self, k: Codes, l: Codes) -> Floats:
        """Return 1 - d where 1 bounds the distance, else -d."""
        if self.bounded:
            return _fractions(self.weights.at(k, l))
        return -self.weights.distance_at(k, l)

    @cached_property
    def alpha(self) -> float:
        """Krippendorff's alpha of the humans on the units with enough of them."""
        units, raters, values = self._answers
        if not len(units):
            return float("nan")
        _, units = np.unique(units, return_inverse=True)
        coded = replace(
            self.study,
            units=np.empty(units.max() + 1, dtype=object),
            unit_codes=units.astype(np.int32),
            rater_codes=raters,
            value_codes=values,
        )
        return estimate(Case(Tally.from_annotations(coded), self.weights), Urn("ratings")).estimate

    @cached_property
    def agreements(self) -> Floats:
        """1 - d_o / d_e of each rater with the humans; nan for others, or where d_e is 0.

        d_o is the mean distance of the rater's answers to those of the other humans, unit by unit;
        d_e that to the answers of the other humans to all units.
        """
        _, raters, values = self._answers
        n_raters, K = self.study.n_raters, self.weights.n_values
        n = np.bincount(raters, minlength=n_raters).astype(np.float64)
        observed = np.bincount(raters, self.bounded - self._to_humans, n_raters)
        totals = np.bincount(values, minlength=K).astype(np.float64)
        to_all = self.weights.distance_dot(totals)[values]
        own = spread_within_groups(raters, values, n_groups=n_raters, weights=self.weights)
        spread = np.bincount(raters, to_all - own * n[raters], n_raters)
        expected = np.asarray(spread / np.maximum(len(values) - n, 1))
        reached = expected > ROUNDING * self.weights.max_distance * n
        share = np.divide(observed, expected, out=np.full(n_raters, np.nan), where=reached)
        return np.asarray(1 - share)

    def wins(self, model: int) -> tuple[Codes, Codes, Flags, Flags]:
        """Return unit and human of each comparison, and whether the model and the human win."""
        study = self.study
        own = study.rater_codes == model
        answer = np.full(study.n_units, -1)
        answer[study.unit_codes[own]] = study.value_codes[own]
        units, humans, _ = self._answers
        kept = answer[units] >= 0
        # Where the model is silent any answer will do: those comparisons are not kept.
        of_model, of_human = self._mean_nearness(np.maximum(answer[units], 0)), self._to_humans
        lead, slack = (of_model - of_human)[kept], self._slack(of_model, of_human)[kept]
        return units[kept], humans[kept], lead >= -slack, lead <= slack

    def _slack(self, one: Floats, two: Floats) -> Floats:
        """Return by how much two means may differ and be a tie."""
        if self.bounded:
            return np.full(len(one), self.tolerance)
        return ROUNDING * np.maximum(np.abs(one), np.abs(two))


def _fractions(similarity: Floats) -> Floats:
    """Return similarities with what rounding took from fractions of small numbers given back.

    A distance comes as 1 - s: the third that is left of it is not the double nearest to 1/3.
    """
    nearest = np.rint(similarity * _PARTS) / _PARTS
    return np.where(np.abs(nearest - similarity) <= ROUNDING, nearest, similarity)
