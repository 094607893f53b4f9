"""Groups of raters: how far each agrees with itself and with the others."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from math import factorial, prod
from typing import Any

import numpy as np

from setagree.checks import check_drawing
from setagree.coefficients.chance import Floats
from setagree.coefficients.shuffler import arrangements
from setagree.diagnosis.common import Row, counts, named, uncertainty
from setagree.diagnosis.grouping import Grouped
from setagree.diagnosis.pairs_within import sorted_ratings
from setagree.distances import Distance
from setagree.errors import DataError, UndefinedAgreementWarning
from setagree.inference.cross_replication import cross_replication
from setagree.inference.draws import ENTRIES_AT_ONCE
from setagree.inference.permutation import SURE
from setagree.inference.raters import Codes
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score_part
from setagree.study.annotations import Annotations

_TIE = 1e-12
"""Gaps closer than this to the observed one count as equal to it."""


def between_raters(
    grouped: Grouped,
    whole: Agreement,
    *,
    distance: Distance,
    level: float,
    n_resamples: int,
    generator: np.random.Generator,
) -> list[Row]:
    """Return a row for each group of raters: its own agreement, and that with all others."""
    study = grouped.study
    n_groups = len(grouped.names)
    parts = [score_part(whole, study.take(grouped.of_rating == g)) for g in range(n_groups)]
    drawing: Row = {"distance": distance, "n_resamples": n_resamples, "rng": generator}
    # Of two groups the one is the other's others.
    told = range(1 if n_groups == 2 else n_groups)
    beside = [_beside_others(grouped, g, level=level, **drawing) for g in told]
    beside += beside * (n_groups - len(told))
    p, why = Dealing.of(study, whole, grouped.of_rater).tested(n_resamples, generator)
    tested = {"dealing_p_value": p, "no_test": why}
    return [
        {**counts(part), **uncertainty(part, level), **row, **tested, **named(part)}
        for part, row in zip(parts, beside, strict=True)
    ]


def no_raters_compared() -> Row:
    """Return the same columns where groups are not of raters."""
    return {**dict.fromkeys(_BETWEEN, np.nan), "dealing_p_value": np.nan}


_BETWEEN = (
    *("between", "between_low", "between_high"),
    *("normalised", "normalised_low", "normalised_high", "n_shared_units"),
)


def _beside_others(grouped: Grouped, g: int, *, level: float, **drawing: Any) -> Row:
    """Return the agreement of a group of raters with all others; nan without shared units."""
    members = grouped.study.raters[grouped.of_rater == g].tolist()
    try:
        with warnings.catch_warnings():
            # The numbers that are nan say so.
            warnings.simplefilter("ignore", UndefinedAgreementWarning)
            found = cross_replication(grouped.study, panels={"group": members}, **drawing)
    except DataError:
        return dict.fromkeys(_BETWEEN, np.nan) | {"n_shared_units": 0}
    numbers = (
        *(found.estimate, *found.interval(level)),
        *(found.normalised, *found.normalised_interval(level), found.n_units),
    )
    return dict(zip(_BETWEEN, numbers, strict=True))


@dataclass(frozen=True, eq=False)
class Dealing:
    """What pairs of raters have in common, and to which group each rater belongs.

    Attributes
    ----------
    one, two : ndarray of int, shape (n_pairs,)
        The raters of each pair that shares units.
    apart, shared : ndarray of shape (n_pairs,)
        The distance of their answers summed over shared units, and the sum of the weights of these;
        a pair of ratings of a unit with r of them weighs 1 / (r - 1), as in alpha.
    of_rater : ndarray of int, shape (n_raters,)
        The group of each rater.
    """

    one: Codes
    two: Codes
    apart: Floats
    shared: Floats
    of_rater: Codes

    @classmethod
    def of(cls, study: Annotations, whole: Agreement, of_rater: Codes) -> Dealing:
        """Return the pairs of raters of a study, at the distances of its coefficient."""
        ratings, R = sorted_ratings(study), study.n_raters
        pairs, apart, shared = [], [], []
        # Gaps are told from ties by a fixed amount, so distances are taken beside the largest.
        largest = whole.weights.max_distance
        for left, right in ratings.pairs_by_first_rater():
            keys = ratings.raters[left].astype(np.int64) * R + ratings.raters[right]
            found, place = np.unique(keys, return_inverse=True)
            weight = 1 / (ratings.unit_ratings[left] - 1)
            d = whole.weights.distance_at(ratings.values[left], ratings.values[right])
            pairs.append(found)
            apart.append(np.bincount(place, weight * d / largest, len(found)))
            shared.append(np.bincount(place, weight, len(found)))
        one, two = np.divmod(np.concatenate(pairs), R)
        return cls(one, two, np.concatenate(apart), np.concatenate(shared), of_rater)

    def gaps(self, dealt: Codes) -> Floats:
        """Return how much farther apart raters of two groups are than those of one.

        `dealt` has the groups of the raters, of shape (b, n_raters).
        """
        same = (dealt[:, self.one] == dealt[:, self.two]).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            within = same @ self.apart / (same @ self.shared)
            between = (1 - same) @ self.apart / ((1 - same) @ self.shared)
        return np.asarray(between - within)

    @property
    def n_ways(self) -> int:
        """In how many ways the raters can be dealt to groups of these sizes; names do not count."""
        sizes = Counter(np.bincount(self.of_rater).tolist())
        alike = prod(factorial(times) * factorial(size) ** times for size, times in sizes.items())
        return int(factorial(len(self.of_rater)) // alike)

    def tested(self, n_resamples: int, generator: np.random.Generator) -> tuple[float, str | None]:
        """Return the share of dealings with a gap as large as the observed one; or why none."""
        observed = float(self.gaps(self.of_rater[None, :])[0])
        if np.isnan(observed):
            return np.nan, "no two raters of one group share a unit, or none of two groups do"
        if self.n_ways * SURE < 1:
            ways = f"{self.n_ways} ways" if self.n_ways > 1 else "one way"
            return np.nan, (
                f"so few raters can be dealt to groups of these sizes in only {ways}, so that p "
                f"cannot be below {1 / self.n_ways:.2g}"
            )
        return self._p_value(observed, n_resamples, generator), None

    def _p_value(self, observed: float, n: int, generator: np.random.Generator) -> float:
        sizes = np.bincount(self.of_rater).tolist()
        n_orders = factorial(len(self.of_rater)) // prod(map(factorial, sizes))
        exact = n_orders <= max(n, 1)
        check_drawing(min(n_orders, n), len(self.one))
        drawn = (generator.permutation(self.of_rater) for _ in range(n))
        dealt = arrangements([self.of_rater]) if exact else drawn
        rows = max(1, ENTRIES_AT_ONCE // max(len(self.one), 1))
        reached = 0
        for block in _blocks(dealt, rows):
            gaps = self.gaps(block)
            # What is undefined is counted against a difference.
            reached += int((~(gaps < observed - _TIE)).sum())
        return reached / n_orders if exact else (reached + 1) / (n + 1)


def _blocks(rows: Iterable[Codes], size: int) -> Iterator[Codes]:
    rows = iter(rows)
    while block := list(islice(rows, size)):
        yield np.stack(block)
