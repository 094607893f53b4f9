"""Reshuffled answers, and the coefficient of each reshuffle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import islice
from math import exp, inf, lgamma

import numpy as np

from setagree.coefficients.chance import Case, Floats
from setagree.coefficients.chance_models import Fixed, Redrawn, Urn, one_minus
from setagree.coefficients.conger import UrnOfEachRater
from setagree.credit.base import DenseWeights
from setagree.errors import DataError
from setagree.inference.inside_units import (
    Codes,
    CountedUnits,
    dense_distances,
    lists_pairs,
    rating_pairs,
)
from setagree.progress import track
from setagree.scoring.results import Agreement

ENTRIES_AT_ONCE = 100_000
"""Answers that are exchanged at a time; 800 kB, which stay in the cache."""

_LONG_WORK = 100_000_000
_RATINGS_LIMIT = 200_000_000


class Shuffler:
    """The ratings of a study in a row, and the coefficient as a function of their order.

    Parameters
    ----------
    agreement : Agreement
        The coefficient and the study.
    within_rater, within_cluster : bool
        Whether answers stay with their rater; in their cluster.
    """

    def __init__(
        self, agreement: Agreement, *, within_rater: bool, within_cluster: bool = False
    ) -> None:
        self.agreement = agreement
        self.weights = agreement.weights
        self.unit, self.rater, self.value = _ratings(agreement)
        sample = agreement.case.sample
        self.cluster = sample.groups[self.unit] if within_cluster and sample else None  # type: ignore[index]
        sizes = np.bincount(self.unit)
        weighted = agreement.case.is_weighted
        case, ones = agreement.case, np.ones(len(sizes))
        self.w = case.pairable_weights if weighted else ones  # in sums over pairable units
        self.v = case.unit_weights if weighted else ones  # in sums over rated units
        self.model = agreement.definition.model
        alpha_like = self.model.weigh == "ratings"
        if alpha_like and not within_rater:
            kept = sizes[self.unit] >= 2
            units, self.unit = np.unique(self.unit[kept], return_inverse=True)
            self.w = self.w[units]
            self.rater, self.value = self.rater[kept], self.value[kept]
            self.cluster = None if self.cluster is None else self.cluster[kept]
        self.alpha_like = alpha_like
        self.within_rater = within_rater
        self.r = np.bincount(self.unit).astype(np.float64)

    def groups(self) -> list[Codes]:
        """Return the positions that exchange their answers, group by group."""
        inside = self.rater if self.within_rater else self.cluster
        if inside is None:
            return [np.arange(len(self.value))] if len(self.value) else []
        return [np.flatnonzero(inside == g) for g in np.unique(inside)]

    def n_arrangements(self) -> float:
        """Return how many distinct arrangements there are, rounded up from a logarithm."""
        logs = 0.0
        for positions in self.groups():
            counts = np.unique(self.value[positions], return_counts=True)[1]
            logs += lgamma(len(positions) + 1) - sum(lgamma(n + 1) for n in counts)
        return round(exp(logs)) if logs < 40 else inf

    def estimates(self, n_resamples: int, generator: np.random.Generator) -> Floats:
        """Return the estimates of random reshuffles."""
        at_once = self._rows_at_once()
        starts = range(0, n_resamples, at_once)
        long = n_resamples // at_once > _LONG_WORK // ENTRIES_AT_ONCE
        parts = []
        for start in track(
            starts, total=n_resamples, at_once=at_once, what="reshuffles", long=long
        ):
            V = np.tile(self.value, (min(at_once, n_resamples - start), 1))
            parts.append(self.evaluate(self._shuffled(V, generator)))
        return np.concatenate(parts)

    def all_estimates(self) -> Floats:
        """Return the estimates of all distinct arrangements, each once."""
        groups = self.groups()
        order = np.concatenate(groups)
        orders = arrangements([self.value[g] for g in groups])
        parts = []
        while block := list(islice(orders, self._rows_at_once())):
            V = np.empty((len(block), len(self.value)), dtype=self.value.dtype)
            V[:, order] = block
            parts.append(self.evaluate(V))
        return np.concatenate(parts)

    def _rows_at_once(self) -> int:
        return max(1, ENTRIES_AT_ONCE // self.width)

    @property
    def width(self) -> int:
        """The entries of an arrangement while it is evaluated."""
        width = max(len(self.value), self.weights.n_values)
        if self._lists_pairs:
            width = max(width, len(self._pairs[0]))
        return width

    def evaluate(self, V: Codes) -> Floats:
        """Return the estimates of answers V of shape (B, n_ratings)."""
        observed = self._listed(V) if self._lists_pairs else self._counted(V)
        return one_minus(observed / self.weights.max_distance, self._chance(V))

    @cached_property
    def _lists_pairs(self) -> bool:
        return lists_pairs(self.r, self.weights.n_values)

    def _listed(self, V: Codes) -> Floats:
        """Return the observed disagreement of each row, summed over the list of pairs."""
        left, right, share = self._pairs
        d = self._distances(V.take(left, axis=1), V.take(right, axis=1))
        return np.asarray(np.einsum("bp,p->b", d, share))  # BLAS threads cost more than they save

    def _counted(self, V: Codes) -> Floats:
        """Return the same from the values of each unit."""
        B, n = len(V), len(self.r)
        unit = self.unit[self._by_unit] + n * np.arange(B)[:, None]
        value = V.take(self._by_unit, axis=1)
        q = self._units.disagreement(unit.ravel(), value.ravel(), np.ones(V.size), B * n)
        return np.asarray(q.reshape(B, n) @ (self._share / 2))

    @cached_property
    def _units(self) -> CountedUnits:
        agreement = self.agreement
        return CountedUnits(self.r, agreement.tally, agreement.weights, self._dense)

    @cached_property
    def _by_unit(self) -> Codes:
        return np.argsort(self.unit, kind="stable")

    def _shuffled(self, V: Codes, generator: np.random.Generator) -> Codes:
        if not self.within_rater and self.cluster is None:
            return generator.permuted(V, axis=1, out=V)
        # Row by row, so that the draws do not depend on how many rows a block has.
        groups = self.groups()
        for row in V:
            for positions in groups:
                row[positions] = row[generator.permutation(positions)]
        return V

    @cached_property
    def _pairs(self) -> tuple[Codes, Codes, Floats]:
        """The pairs inside units, and what a distance of 1 in each adds to the observed part."""
        one, two = rating_pairs(self.unit)
        return one, two, self._share[self.unit[one]]

    @cached_property
    def _share(self) -> Floats:
        """What a distance of 1 in one pair of each unit adds to the observed part."""
        pairable, r = self.r >= 2, np.where(self.r >= 2, self.r, np.inf)
        if self.alpha_like:
            return np.asarray(2 * self.w / ((r - 1) * (self.w * self.r)[pairable].sum()))
        return np.asarray(2 * self.w / (r * (r - 1) * self.w[pairable].sum()))

    def _chance(self, V: Codes) -> Floats:
        """Return the chance disagreement / d_max of each row of answers."""
        kept = self._kept_chance
        return self._chance_of(V) if kept is None else np.repeat(kept, len(V))

    @cached_property
    def _kept_chance(self) -> Floats | None:
        """The chance disagreement / d_max, of shape (1,), where no reshuffle changes it."""
        kept = (self.r >= 2).all() if self.alpha_like else (self.r == self.r[0]).all()
        alike = not self.agreement.case.is_weighted
        if not (alike and (self.within_rater if self.model.asks_who else kept)):
            return None
        return self._chance_of(self.value[None, :])

    def _chance_of(self, V: Codes) -> Floats:
        match self.model:
            case Fixed():
                return np.full(len(V), self.model.level(self._case))
            case UrnOfEachRater():
                return self.model.chance(self._case, self._by_rater(V))
            case Urn() | Redrawn() if self.model.weigh == "ratings":
                counted = (self.w * (self.r >= 2))[self.unit]
                own = float(counted @ counted)
                return self.model.chance(self._case, self._totals(V, counted), own)
            case Urn() | Redrawn():
                shares = (self.v / self.r)[self.unit] / self.v.sum()
                return self.model.chance(self._case, self._totals(V, shares))
        raise TypeError(f"{self.model!r} is not a model of chance that can be reshuffled")

    @cached_property
    def _case(self) -> Case:
        return with_dense(self.agreement.case, self._dense)

    def _by_rater(self, V: Codes) -> Iterator[Floats]:
        """Yield the totals of each rater, of shape (K, 1, B)."""
        weighted = self.agreement.case.is_weighted
        times = self.agreement.case.rated.times if weighted else self.v[self.unit]
        for g in np.unique(self.rater):
            mine = np.flatnonzero(self.rater == g)
            yield self._totals(V[:, mine], times[mine])[:, None]

    def _totals(self, V: Codes, each: Floats) -> Floats:
        """Return the summed weight of each value in each row, of shape (K, B)."""
        K = self.weights.n_values
        cells = V + K * np.arange(len(V))[:, None]
        weight = np.broadcast_to(each, V.shape).ravel()
        sums = np.bincount(cells.ravel(), weight, K * len(V)).astype(np.float64, copy=False)
        return sums.reshape(len(V), K).T

    def _distances(self, k: Codes, l: Codes) -> Floats:
        if self._dense is not None:
            return np.asarray(self._dense.take(k * self.weights.n_values + l))
        return self.weights.distance_at(k.ravel(), l.ravel()).reshape(k.shape)

    @cached_property
    def _dense(self) -> Floats | None:
        return dense_distances(self.weights)


def with_dense(case: Case, dense: Floats | None) -> Case:
    """Return the case with all distances at hand, where there are few."""
    if dense is None:
        return case
    values, is_relative = case.weights.values, case.weights.max_distance < 1
    distances = dense.reshape(len(values), len(values))
    return replace(case, weights=DenseWeights(values, distances, relative=is_relative))


def _ratings(agreement: Agreement) -> tuple[Codes, Codes, Codes]:
    """Return the unit, rater and value of each rating; raters are 0 where they are unknown.

    A tally is written out again, unit by unit.
    """
    study, tally = agreement.study, agreement.tally
    if study is not None:
        return study.unit_codes, study.rater_codes, study.value_codes.astype(np.intp)
    counts, times = tally.counts.astype(np.intp), tally.multiplicity.astype(np.intp)
    if (counts != tally.counts).any() or (times != tally.multiplicity).any():
        raise DataError("counts that are fractions cannot be reshuffled.")
    if tally.n_ratings > _RATINGS_LIMIT:
        raise DataError(
            f"a reshuffle would move {tally.n_ratings:,} answers; the limit is {_RATINGS_LIMIT:,}."
        )
    patterns = np.repeat(np.arange(tally.n_patterns), times)
    if tally.given is not None:
        whole = tally.given.take(patterns)
        return whole.rows, whole.rater_codes, whole.value_codes.astype(np.intp)
    rated = tally.pattern_ratings.astype(np.intp)
    of_pattern = np.split(np.repeat(tally.indices, counts), np.cumsum(rated)[:-1])
    value = np.concatenate([of_pattern[p] for p in patterns]).astype(np.intp)
    unit = np.repeat(np.arange(len(patterns)), rated[patterns])
    return unit, np.zeros(len(unit), dtype=np.intp), value


def arrangements(groups: list[Codes]) -> Iterator[Codes]:
    """Yield every distinct order of the answers inside the groups once, group after group."""
    whole = np.concatenate([np.sort(answers) for answers in groups])
    inside = np.split(whole, np.cumsum([len(answers) for answers in groups])[:-1])
    moving = [answers for answers in inside if answers[0] != answers[-1]]
    yield whole.copy()
    while any(_moved_on(answers) for answers in reversed(moving)):
        yield whole.copy()


def _moved_on(answers: Codes) -> bool:
    """Put the answers in their next distinct order, or back in the first after the last of all.

    The next in the dictionary: the last answer with a larger one behind it takes the least of
    those, and the rest is sorted (Narayana's algorithm).
    """
    rises = np.flatnonzero(answers[:-1] < answers[1:])
    if not len(rises):
        answers.sort()
        return False
    i = rises[-1]
    j = np.flatnonzero(answers > answers[i])[-1]
    answers[[i, j]] = answers[[j, i]]
    answers[i + 1 :] = answers[:i:-1].copy()
    return True
