"""Chance models of the coefficients.

A model defines y = 1 - pe, the disagreement expected by chance as a share of d_max. Two answers
drawn from an urn with the amounts X of the K values have the mean distance

    y = X' F X / (P² - own),    P = sum X,

with `own` the pairs of a rating with itself, and F the form of the model: F = D / d_max for alpha,
Fleiss' kappa and Scott's pi, F = (1 - s) 1 1' + s I for Gwet's AC. y is fixed for Brennan and
Prediger's coefficient and for percent agreement. `conger` has one urn for each rater.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from setagree.checks import Codes, Floats
from setagree.coefficients.case import NOTHING, Case, divided, reach
from setagree.coefficients.multivalued import redrawn_disagreement, size_function
from setagree.credit.base import Weights
from setagree.credit.within_groups import group_spread

Weigh: TypeAlias = Literal["ratings", "units"]

Totals: TypeAlias = Iterable[Floats]
"""Amounts of each value in B samples, in blocks of raters: arrays of shape (K, n_raters, B). A
model with one urn takes one block with n_raters = 1."""


class Model:
    """A model of chance.

    Attributes
    ----------
    weigh : {"ratings", "units"}
        Whether a unit counts once per rating (alpha), or once (the kappas).
    needs_raters : bool
        Whether it needs the rater of each answer; totals are then per rater.
    fixed : bool
        Whether it does not depend on the answers.
    lists_values : bool
        Whether it depends on the list of categories.
    redraws_labels : bool
        Whether it needs label sets, and a distance that depends only on their sizes and overlap.
    """

    weigh: Weigh = "units"
    needs_raters: ClassVar[bool] = False
    fixed: ClassVar[bool] = False
    lists_values: ClassVar[bool] = False
    redraws_labels: ClassVar[bool] = False

    def of_rows(self, case: Case) -> tuple[float, Floats | None]:  # noqa: ARG002
        """Return y of a study, and y_i, that of each row's answers against those of the study.

        The second is None if chance is fixed or there is no closed form. `UnitSums` computes both
        for an urn.
        """
        raise TypeError(f"{self!r} does not define the disagreement expected by chance")

    def of_values(self, case: Case) -> Floats:  # noqa: ARG002
        """Return y_i of a row whose answers are all k, of shape (K,); not needed for an urn."""
        raise TypeError(f"{self!r} does not define chance by value")

    def of_samples(self, case: Case, totals: Totals, own: Any = 0.0, weight: Any = None) -> Floats:  # noqa: ARG002
        """Return 1 - pe of B other samples of answers, or one number if it is fixed.

        `own` counts the pairs of a rating with itself. `weight`, of shape (n_raters, B), is the
        number of times that each rater counts, for models that need raters.
        """
        raise TypeError(f"{self!r} is not a model of chance whose answers can be resampled")


@dataclass(frozen=True)
class Urn(Model):
    """One urn with all answers: alpha if ratings count, Fleiss and Scott if units count.

    Krippendorff (2011): De = n' D n / (N (N - 1)); Gwet (2014, ch. 2): pe = pi' W pi.
    """

    weigh: Weigh = "units"

    def label_credit(self, case: Case) -> float | None:  # noqa: ARG002 - F = D / d_max has none
        """Return s if F = (1 - s) 1 1' + s I, or None if F = D / d_max."""
        return None

    def form_dot(self, case: Case, x: Floats) -> Floats:
        """Return F x for totals x of shape (K,) or (K, B)."""
        if (s := self.label_credit(case)) is None:
            return case.weights.distance_dot(x) / case.weights.max_distance
        return np.asarray((1 - s) * x.sum(axis=0) + s * x)

    def form_dot_in_groups(self, case: Case, groups: Codes, values: Codes, x: Floats) -> Floats:
        """Return F x of each group at its values, for totals x of sorted groups and values."""
        if (s := self.label_credit(case)) is None:
            return group_spread(groups, values, x, case.weights) / case.weights.max_distance
        return np.asarray((1 - s) * np.bincount(groups, x)[groups] + s * x)

    def within(self, case: Case) -> Floats:
        """Return c' F c for the counts c of each pattern."""
        tally = case.tally
        if (s := self.label_credit(case)) is None:
            return case.disagreement / case.weights.max_distance
        squares = np.bincount(tally.rows, tally.counts**2, tally.n_patterns)
        return np.asarray((1 - s) * tally.pattern_ratings**2 + s * squares)

    def rounding(self, case: Case, x: Floats) -> float:
        """Return the largest form of totals x, of shape (K,), that is treated as rounding."""
        has_distance = self.label_credit(case) is None
        scale = reach(case.weights, x) / case.weights.max_distance if has_distance else 1.0
        return NOTHING * scale * float(x.sum()) ** 2

    def of_samples(self, case: Case, totals: Totals, own: Any = 0.0, weight: Any = None) -> Floats:  # noqa: ARG002
        """Return X' F X / (P² - own) of the totals X of each sample."""
        X = next(iter(totals))[:, 0]
        P2 = X.sum(axis=0) ** 2
        if (s := self.label_credit(case)) is None:
            form = quadratic(case.weights, X) / case.weights.max_distance
        else:
            form = beyond_rounding((1 - s) * P2 + s * (X * X).sum(axis=0), P2)
        return divided(form, P2 - own)  # alpha: N (N - 1), Krippendorff (2011)


@dataclass(frozen=True)
class GwetUrn(Urn):
    """Gwet's chance: pe = T_w / (K (K - 1)) sum_k pi_k (1 - pi_k) (Gwet 2014, ch. 4).

    An urn whose form is F = (1 - s) 1 1' + s I, with s = T_w / (K (K - 1)).
    """

    lists_values: ClassVar[bool] = True

    def label_credit(self, case: Case) -> float:
        """Return s, or NaN if there is one value."""
        K, weights = case.weights.n_values, case.weights
        credit_total = K * K - weights.distance_total / weights.max_distance
        return credit_total / (K * (K - 1)) if K > 1 else float("nan")


class Fixed(Model, ABC):
    """Chance that does not depend on the answers."""

    fixed: ClassVar[bool] = True

    @abstractmethod
    def level(self, case: Case) -> float:
        """Return 1 - pe."""

    def of_rows(self, case: Case) -> tuple[float, None]:
        """Return 1 - pe, and None because no row changes it."""
        return self.level(case), None

    def of_samples(self, case: Case, totals: Totals, own: Any = 0.0, weight: Any = None) -> Floats:  # noqa: ARG002
        """Return 1 - pe, whatever the answers of the samples are."""
        return np.asarray(self.level(case))


@dataclass(frozen=True)
class Uniform(Fixed):
    """All values are equally likely: pe = T_w / K² (Brennan & Prediger 1981)."""

    lists_values: ClassVar[bool] = True

    def level(self, case: Case) -> float:
        """Return 1 - T_w / K²."""
        weights = case.weights
        return weights.distance_total / weights.max_distance / weights.n_values**2


@dataclass(frozen=True)
class NoChance(Fixed):
    """No correction for chance: pe = 0."""

    def level(self, case: Case) -> float:  # noqa: ARG002 - the same for every study
        """Return 1."""
        return 1.0


@dataclass(frozen=True)
class Redrawn(Model):
    """Labels are redrawn and sets keep their sizes (Krippendorff & Craggs 2016)."""

    redraws_labels: ClassVar[bool] = True
    weigh: Weigh = "ratings"

    def of_samples(self, case: Case, totals: Totals, own: Any = 0.0, weight: Any = None) -> Floats:  # noqa: ARG002
        """Return 1 - pe of each sample, computed in turn."""
        function, d_max = size_function(case.distance), case.weights.max_distance
        X = next(iter(totals))[:, 0]
        apart = [redrawn_disagreement(case.weights.values, x, function) for x in X.T]
        return beyond_rounding(np.array(apart) / d_max, 1.0)

    def of_rows(self, case: Case) -> tuple[float, None]:
        """Return 1 - pe of a study, and None because rows have no closed form."""
        return float(self.of_samples(case, [case.pairable_totals[:, None, None]])[0]), None


def quadratic(weights: Weights, x: Floats) -> Floats:
    """Return x_b' D x_b for each column of x >= 0, of shape (K, B), or 0 if it is rounding."""
    x = np.ascontiguousarray(x)
    out = np.asarray(np.einsum("kb,kb->b", x, weights.distance_dot(x)))
    mass = x.sum(axis=0) ** 2
    # Only the few small forms need the distances between their own values.
    for b in np.flatnonzero(out <= NOTHING * weights.max_distance * mass):
        out[b] = beyond_rounding(out[b], reach(weights, x[:, b]) * mass[b])
    return out


def beyond_rounding(whole: Floats, scale: Floats | float) -> Floats:
    """Return the whole, or 0 if it is rounding relative to the scale."""
    return np.where(whole > NOTHING * scale, whole, 0.0)
