"""The interval and the p-value of a coefficient, and the reasons for a missing one.

A study has one of each. Which method gives them depends on how the units were sampled; the tables,
the report and the sentences all use the method that `CoefficientInterval.method` names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from setagree.checks import Floats, cached_property
from setagree.coefficients.case import ROUNDING, Case, dot
from setagree.coefficients.chance_models import GwetUrn, NoChance, Uniform, Urn
from setagree.coefficients.conger import UrnOfEachRater
from setagree.coefficients.measured import FiellerInterval, SizedAlpha
from setagree.coefficients.score_interval import ScoreInterval, score_interval
from setagree.coefficients.sums import UnitSums
from setagree.coefficients.tails import t_quantile, t_tail
from setagree.coefficients.uncertain import (
    Spread,
    cluster_deviations,
    patterns_of_units,
    standard_error_as_drawn,
)
from setagree.errors import counted, python_or_command

Method: TypeAlias = Literal["score", "t", "fieller"]

NONE = (float("nan"), float("nan"))

FEWEST_RARER = 4
"""Weight in units of all answers except the commonest below which no interval is given by default.

From that weight on, the score interval of alpha covered the true value in 94% to 100% of the
studies of eight simulated worlds; below it, in 84% of those of the worst one."""

ALIKE = "All units disagree alike"
NEGLIGIBLE = f"The observed disagreement is at most {ROUNDING:g} of the largest distance"

_SIMULATED = (Urn, GwetUrn, UrnOfEachRater, Uniform, NoChance)
"""Chance models for which simulations confirmed the coverage of the score interval."""


def t_interval(estimate: float, error: float, df: float, level: float) -> tuple[float, float]:
    """Return estimate ± t SE, its upper end cut at 1; NaN without an SE above 0."""
    return around(estimate, -t_quantile(df, (1 + level) / 2) * error) if error > 0 else NONE


def around(estimate: float, half: float) -> tuple[float, float]:
    """Return the ends estimate ± half, the upper one cut at 1."""
    return estimate - half, min(1.0, estimate + half)


def same_value_reason(what: str = "units") -> str:
    """Return the reason for a standard error of 0 of units that do not disagree alike."""
    return f"All {what} have the same linearised value, which leaves a standard error of 0"


def rarer_answers(n: float) -> str:
    """Return a clause on the weight of all answers except the commonest, in units."""
    weight = f"{n:.1f}"
    units = "unit" if weight == "1.0" else "units"
    return f"all answers except the commonest weigh as much as {weight} {units}"


def rarity_reason(clause: str, reason: str | None = None) -> str:
    """Return the reason for a missing interval from a clause on rarer answers, with another."""
    few = f"{clause}, fewer than {FEWEST_RARER}"
    lead = f"Too few rarer answers for an interval or a p-value: {few}"
    if reason is not None:
        lead = f"{reason}, and {few}: too few for an interval or a p-value"
    test = python_or_command("permutation_test", "'setagree test'")
    return f"{lead}; {test} compares the estimate with chance"


@dataclass(frozen=True, eq=False)
class CoefficientInterval:
    """The interval and the p-value of a coefficient over units, with these raters."""

    name: str
    sums: UnitSums
    requested: Method | None

    @property
    def case(self) -> Case:
        """The study under its distance."""
        return self.sums.case

    @cached_property
    def spread(self) -> Spread:
        """Standard error, degrees of freedom and clusters."""
        return standard_error_as_drawn(self.sums)

    @cached_property
    def score(self) -> ScoreInterval | None:
        """The score interval, or None if it is undefined."""
        if self.sums.undefined is not None or self.spread.reason is not None:
            return None
        error, df = self.spread.standard_error, self.spread.degrees_of_freedom
        return score_interval(self.sums, error, df)

    @cached_property
    def fieller(self) -> FiellerInterval | None:
        """Fieller's interval over documents, or None if it is undefined.

        It is defined for alpha of units with sizes in at least two documents.
        """
        if self.sums.undefined is not None or self.spread.reason is not None:
            return None
        if not isinstance(sums := self.sums, SizedAlpha):
            return None
        groups, (size, *deviations) = self.case.clusters[0], sums.terms
        (o, df), (e, _) = (cluster_deviations(groups, u, size, size) for u in deviations)
        return FiellerInterval(float(sums.totals.O / sums.totals.M), sums.y, o, e, df)

    @cached_property
    def n_rarer(self) -> float:
        """Weight, in pairable units, of all answers except the commonest: n (1 - its share).

        With sampling weights shares are weighted, and n is n_Kish = (sum w)² / sum w². With sizes,
        the number of documents with such an answer, as documents are the independent evidence.
        """
        if self.case.is_sized:
            return float(np.count_nonzero(self.rarer_by_cluster))
        case, pairable = self.case, self.case.tally.pairable
        totals = case.pairable_totals
        if not totals.any():
            return 0.0
        n = float(case.tally.n_pairable_units)
        if case.is_weighted:
            used = pairable.astype(np.float64)
            n = dot(case.pairable_mass, used) ** 2 / dot(case.squared_mass, used)
        N = float(totals.sum())
        return n * (N - float(totals.max())) / N

    @cached_property
    def rarer_by_cluster(self) -> Floats:
        """Weight of the answers except the commonest in each cluster; empty without clusters."""
        case, sample, tally = self.case, self.case.sample, self.case.tally
        if sample is None or not sample.is_clustered or sample.groups is None:
            return np.empty(0)
        commonest = case.pairable_totals.argmax()
        of_pattern = np.bincount(
            tally.rows, tally.counts * (tally.indices != commonest), tally.n_patterns
        )
        weight = np.where(tally.pairable, of_pattern, 0)[patterns_of_units(tally)]
        return np.bincount(sample.groups, weight * case.pairable_weights).astype(np.float64)

    @property
    def rarer(self) -> str:
        """Clause on the answers except the commonest."""
        if self.case.is_sized:
            n = counted(int(self.n_rarer), "document")
            return f"answers other than the commonest occur in {n}"
        return rarer_answers(self.n_rarer)

    @property
    def rarity(self) -> str | None:
        """Clause on too few rarer answers for an interval, or None if they suffice."""
        is_few = self.requested is None and self.n_rarer < FEWEST_RARER
        return f"{self.rarer}, fewer than {FEWEST_RARER}" if is_few else None

    @cached_property
    def method(self) -> Method:
        """The method of the interval and of the p-value.

        That of the score, except for strata, populations of known size and clusters with sampling
        weights or sizes, which have t intervals; alpha of units with sizes has Fieller's. Clusters
        have t intervals, too, unless there is no standard error or the low end of the score
        interval is below that of t by more than the width of t.
        """
        if self.requested is not None:
            return self.requested
        if self.case.is_sized:
            return "t" if self.fieller is None else "fieller"
        if self.no_score_reason is not None:
            return "t"
        sample = self.case.sample
        if sample is None or not sample.is_clustered:
            return "score"
        low, high = self.by_t(0.95)
        if self.score is None or np.isnan(low):
            return "t" if self.score is None else "score"
        return "score" if self.score.interval(0.95)[0] < low - (high - low) else "t"

    @property
    def no_score_reason(self) -> str | None:
        """The reason for a missing score interval, as a predicate, or None if there is one."""
        if type(self.sums.model) not in _SIMULATED:
            return f"was not simulated for {self.name}; the bootstrap gives an interval"
        sample = self.case.sample
        if sample is None or sample.is_plain_clusters:
            return None
        if sample.is_sized:
            return "is for units that count once each, and these have sizes; use the t interval"
        if sample.is_clustered:
            return "is for clusters without weights, strata and population size; use the t interval"
        if sample.groups is not None:
            return "is for one sample of units, these were drawn from strata; use the t interval"
        if np.isfinite(sample.sizes).any():
            return "is about an unlimited population; use the t interval"
        return None

    @property
    def error_reason(self) -> str | None:
        """Reason for a standard error of NaN or 0, or None if it is above 0."""
        error = self.spread.standard_error
        if error > 0:
            return None
        if self.sums.undefined is not None or self.spread.reason is not None:
            return self.sums.undefined or self.spread.reason
        if self.case.tally.n_pairable_units < 2:
            return "Only one unit has two ratings"
        if np.isnan(error):
            return f"{self.name} has no standard error here"
        x = self.case.mean_disagreement[self.case.tally.pairable]
        if not x.any():
            n, clusters = self.case.tally.n_pairable_units, self.spread.clusters
            if self.case.is_sized and clusters is not None:
                return f"No disagreement was seen in {counted(clusters.n, 'document')}"
            return f"No disagreement was seen in {counted(n, 'unit')}"
        if x.max() - x.min() <= ROUNDING * x.max():
            return ALIKE
        if self._is_full:
            return NEGLIGIBLE
        sample, what = self.case.sample, "units"
        if sample is not None and sample.is_clustered:
            what = "clusters" if sample.cluster_strata is None else "clusters of a stratum"
        elif sample is not None and sample.groups is not None:
            what = "units of a stratum that was sampled"
        return same_value_reason(what)

    @property
    def reason(self) -> str | None:
        """Reason for a missing interval or p-value, or None if there are both."""
        reason = self.error_reason
        if self.sums.undefined is not None or self.spread.reason is not None:
            return reason
        if np.isnan(self.spread.standard_error) and self.case.tally.n_pairable_units > 1:
            other = python_or_command("bootstrap", "'score --interval bootstrap'")
            test = python_or_command("permutation_test", "'setagree test'")
            return f"{reason}; {other} gives an interval and {test} a p-value"
        if self.rarity is not None:
            return rarity_reason(self.rarer, reason)
        is_scored = self._is_full and self.method == "score" and self.score is not None
        return None if is_scored else reason

    @property
    def _is_full(self) -> bool:
        """Whether no disagreement was observed, up to rounding."""
        d_max = self.case.weights.max_distance
        return self.sums.figures[2] <= ROUNDING * d_max

    def by_t(self, level: float) -> tuple[float, float]:
        """Return the t interval, or NaN without a standard error above 0."""
        error, df = self.spread.standard_error, self.spread.degrees_of_freedom
        return t_interval(self.sums.estimate, error, df, level)

    def interval(self, level: float, method: Method | None = None) -> tuple[float, float]:
        """Return the interval of a method, by default that of the study.

        The default is NaN if the answers except the commonest weigh less than `FEWEST_RARER` units;
        a requested method is computed in any case.
        """
        if method is None and self.rarity is not None:
            return NONE
        if (method or self.method) == "t":
            return self.by_t(level)
        if (method or self.method) == "fieller":
            fieller = None if self._is_full else self.fieller
            return NONE if fieller is None else fieller.at(t_quantile(fieller.df, (1 + level) / 2))
        return NONE if self.score is None else self.score.interval(level)

    @cached_property
    def p_value(self) -> float:
        """The two-sided p-value against 0 of the same method; NaN if `reason` has a reason.

        NaN for percent agreement, of which chance gives more than 0.
        """
        if isinstance(self.sums.model, NoChance) or self.reason is not None:
            return float("nan")
        if self.method == "score":
            return float("nan") if self.score is None else self.score.p_value()
        if self.method == "fieller":
            return float("nan") if self.fieller is None else self.fieller.p_value()
        t = abs(self.sums.estimate) / self.spread.standard_error
        return 2 * t_tail(self.spread.degrees_of_freedom, t)
