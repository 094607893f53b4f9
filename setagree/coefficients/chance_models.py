"""Chance models of the coefficients.

A model defines 1 - pe, the disagreement expected by chance as a share of d_max. Point estimates,
replicates, reshuffles, two-way resamples and the closed forms without one unit all use it.

Totals X have the shape (K, B): the amount of each value in each of B samples. Two answers drawn
from an urn with totals x have the mean distance x' F x / (sum x)², with F the form of the model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from setagree.coefficients.chance import (
    NOTHING,
    Case,
    Codes,
    Floats,
    dot,
    reach,
)
from setagree.coefficients.multivalued import redrawn_disagreement, size_function
from setagree.credit.base import Weights
from setagree.credit.within_groups import group_spread

Weigh: TypeAlias = Literal["ratings", "units"]


class Model(ABC):
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

    @abstractmethod
    def linearised(self, case: Case) -> tuple[float, Floats | None]:
        """Return 1 - pe of a study, and of the answers of each row against those of the study.

        The second is None if chance is fixed or there is no closed form.
        """

    def of_values(self, case: Case) -> Floats:
        """Return 1 - pe of rows whose answers are all k, against the study, of shape (K,)."""
        raise TypeError(
            f"{type(self).__name__} does not distinguish values: {case.weights.n_values}"
        )


@dataclass(frozen=True)
class Urn(Model):
    """One urn with all answers: alpha if ratings count, Fleiss and Scott if units count.

    Krippendorff (2011): De = n' D n / (N (N - 1)); Gwet (2014, ch. 2): pe = pi' W pi.
    """

    weigh: Weigh = "units"

    def form(self, case: Case, x: Floats) -> Floats:
        """Return x_b' F x_b for each column of totals x, of shape (K, B)."""
        return quadratic(case.weights, x) / case.weights.max_distance

    def spread(self, case: Case, x: Floats) -> Floats:
        """Return F x for totals x of shape (K,) or (K, B)."""
        return case.weights.distance_dot(x) / case.weights.max_distance

    def spread_in_groups(self, case: Case, groups: Codes, values: Codes, x: Floats) -> Floats:
        """Return F x of each group at its values, for totals x of sorted groups and values."""
        return group_spread(groups, values, x, case.weights) / case.weights.max_distance

    def within(self, case: Case) -> Floats:
        """Return c' F c for the counts c of each pattern."""
        return case.disagreement / case.weights.max_distance

    def rounding(self, case: Case, x: Floats) -> float:
        """Return the largest form of totals x, of shape (K,), that is treated as rounding."""
        scale = reach(case.weights, x) / case.weights.max_distance
        return NOTHING * scale * float(x.sum()) ** 2

    def chance(self, case: Case, totals: Floats, own: Floats | float = 0.0) -> Floats:
        """Return 1 - pe of each column of totals; `own` counts pairs of a rating with itself."""
        pairs = totals.sum(axis=0) ** 2 - own  # alpha: N (N - 1), Krippendorff (2011)
        return np.asarray(self.form(case, totals) / np.where(pairs > 0, pairs, np.nan))

    def totals(self, case: Case) -> Floats:
        """Return the totals of the study, of shape (K,): pairable ratings, or shares of units."""
        return case.rated_shares if self.weigh == "units" else case.pairable_totals

    def linearised(self, case: Case) -> tuple[float, Floats]:
        """Return 1 - pe of a study, and of each pattern: x' F x and c' F x, per pair of answers."""
        x = self.totals(case)
        spread = self.spread(case, x)
        N = float(x.sum())
        used = case.tally.pattern_ratings * case.tally.pairable
        pairs = N**2 - dot(case.squared_mass, used) if self.weigh == "ratings" else 1.0
        mass = N if self.weigh == "ratings" else 1.0
        return dot(x, spread) / pairs, case.tally.pattern_means(spread) / mass

    def of_values(self, case: Case) -> Floats:
        """Return 1 - pe of a row whose answers are all k, of shape (K,)."""
        x = self.totals(case)
        return np.asarray(self.spread(case, x) / x.sum())


@dataclass(frozen=True)
class GwetUrn(Urn):
    """Gwet's chance: pe = T_w / (K (K - 1)) sum_k pi_k (1 - pi_k) (Gwet 2014, ch. 4).

    An urn whose form is F = (1 - s) 1 1' + s I, with s = T_w / (K (K - 1)).
    """

    lists_values: ClassVar[bool] = True

    def form(self, case: Case, x: Floats) -> Floats:
        """Return x_b' F x_b for each column of totals x, of shape (K, B)."""
        mass = x.sum(axis=0)
        # x' F x = (sum x)² - s sum_k x_k (sum x - x_k)
        apart = mass**2 - ac_scale(case.weights) * (x * (mass - x)).sum(axis=0)
        return beyond_rounding(apart, mass**2)

    def spread(self, case: Case, x: Floats) -> Floats:
        """Return F x for totals x of shape (K,) or (K, B)."""
        mass = x.sum(axis=0)
        return np.asarray(mass - ac_scale(case.weights) * (mass - x))

    def spread_in_groups(
        self,
        case: Case,
        groups: Codes,
        values: Codes,  # noqa: ARG002 - each value occurs once per group
        x: Floats,
    ) -> Floats:
        """Return F x of each group at its values, for totals x of sorted groups and values."""
        mass = np.bincount(groups, x)[groups]
        return np.asarray(mass - ac_scale(case.weights) * (mass - x))

    def within(self, case: Case) -> Floats:
        """Return c' F c for the counts c of each pattern."""
        tally = case.tally
        squares = np.bincount(tally.rows, tally.counts**2, tally.n_patterns)
        mass = tally.pattern_ratings**2
        return np.asarray(mass - ac_scale(case.weights) * (mass - squares))

    def rounding(self, case: Case, x: Floats) -> float:  # noqa: ARG002 - no distance in its form
        """Return the largest form of totals x, of shape (K,), that is treated as rounding."""
        return NOTHING * float(x.sum()) ** 2


class Fixed(Model):
    """Chance that does not depend on the answers."""

    fixed: ClassVar[bool] = True

    @abstractmethod
    def level(self, case: Case) -> float:
        """Return 1 - pe."""

    def linearised(self, case: Case) -> tuple[float, None]:
        """Return 1 - pe, and None because no row changes it."""
        return self.level(case), None

    def of_values(self, case: Case) -> Floats:
        """Return 1 - pe of a row whose answers are all k, of shape (K,)."""
        return np.full(case.weights.n_values, self.level(case))


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

    def chance(self, case: Case, totals: Floats, own: Floats | float = 0.0) -> Floats:  # noqa: ARG002 - one signature for all urns
        """Return 1 - pe of each column of totals, computed in turn."""
        function, d_max = size_function(case.distance), case.weights.max_distance
        apart = [redrawn_disagreement(case.weights.values, x, function) for x in totals.T]
        return beyond_rounding(np.array(apart) / d_max, 1.0)

    def linearised(self, case: Case) -> tuple[float, None]:
        """Return 1 - pe of a study, and None because rows have no closed form."""
        return float(self.chance(case, case.tally.pairable_totals[:, None])[0]), None


def ac_scale(weights: Weights) -> float:
    """Return T_w / (K (K - 1)), or NaN if there is one value."""
    K = weights.n_values
    credit_total = K * K - weights.distance_total / weights.max_distance
    return credit_total / (K * (K - 1)) if K > 1 else float("nan")


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


def one_minus(part: Floats, whole: Floats) -> Floats:
    """Return 1 - part / whole, or NaN if the whole is 0."""
    defined = (whole > 0) & np.isfinite(part)
    out = np.full(np.shape(whole), np.nan)
    return np.asarray(1 - np.divide(part, whole, out=out, where=defined))
