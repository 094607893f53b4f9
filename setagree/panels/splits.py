"""Raters of each unit split into two panels, and how far the agreed answers of the two agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from setagree.coefficients.chance import Floats
from setagree.coefficients.chance_models import one_minus, quadratic
from setagree.credit.build import WeightBuilder
from setagree.distances import Distance
from setagree.inference.raters import Codes, part_of
from setagree.panels.consensus import Rule
from setagree.progress import track
from setagree.study.annotations import Annotations

_RATINGS_AT_ONCE = 300_000
"""Ratings whose panels decide together."""

_FEW_VALUES = 1_000
"""Distinct answers up to which splits are so few that they share most of the agreed answers."""

_LONG_WORK = 20_000_000


@dataclass(frozen=True, eq=False)
class Split:
    """One way to split raters.

    Attributes
    ----------
    rows : ndarray of shape (2, n_units, k)
        The ratings of the two panels of each unit, as positions in the study.
    times : ndarray of shape (n_units,)
        How often each unit comes up when the units are redrawn.
    """

    rows: Codes
    times: Floats

    @classmethod
    def drawn(cls, study: Annotations, k: int, generator: np.random.Generator) -> Split:
        """Return k raters of each unit against k others, drawn at random."""
        n = study.n_units
        # Random numbers below 1 keep the units apart.
        order = np.argsort(study.unit_codes + generator.random(study.n_ratings))
        ratings = np.bincount(study.unit_codes, minlength=n)
        first = np.cumsum(ratings) - ratings
        rows = order[first + np.arange(2 * k)[:, None]]
        draws = generator.integers(n, size=(1, n)).astype(np.intp)
        times = np.bincount(draws[0], minlength=n).astype(np.float64)
        return cls(rows.reshape(2, k, n).swapaxes(1, 2), times)


def drawn_splits(
    study: Annotations, k: int, n_splits: int, generator: np.random.Generator
) -> Iterator[list[Split]]:
    """Yield some splits at a time, so many that what they share pays and memory stays bounded."""
    few = study.kind == "labels" and study.n_values <= _FEW_VALUES
    at_once = max(1, _RATINGS_AT_ONCE // study.n_ratings) if few else 1
    long = n_splits * study.n_ratings > _LONG_WORK
    starts = range(0, n_splits, at_once)
    for start in track(starts, total=n_splits, at_once=at_once, what="splits", long=long):
        rounds = range(min(at_once, n_splits - start))
        yield [Split.drawn(study, k, generator) for _ in rounds]


def split_alphas(
    splits: Sequence[Split], study: Annotations, rule: Rule, distance: Distance
) -> Floats:
    """Return alpha between the agreed answers of each split, and again with the units redrawn.

    The third of three rows is the share of the units that are left out.
    """
    n, S = study.n_units, len(splits)
    together = rule.named(study) == "label_majority"
    values, codes = (_decided if together else _decided_apart)(splits, study, rule)
    both = (codes >= 0).all(axis=1)
    if not both.any():
        return np.array([[np.nan] * S, [np.nan] * S, [1.0] * S])
    split, unit = np.nonzero(both)
    answers = np.stack([codes[split, side, unit] for side in (0, 1)]).astype(np.intp)
    given = np.bincount(answers.ravel(), minlength=len(values))
    used = np.flatnonzero(given)
    named, K = tuple(values[code] for code in used), len(used)
    weights = WeightBuilder(named, study.kind, given[used].astype(np.float64)).build(distance)
    answers = (np.cumsum(given > 0) - 1)[answers]
    d, cells, alphas = weights.distance_at(*answers), (split * K + answers).ravel(), []
    for times in (np.ones((S, n)), np.stack([each.times for each in splits])):
        m = times[split, unit]
        pairs, observed = (np.bincount(split, each, S).astype(np.float64) for each in (m, m * d))
        x = np.bincount(cells, np.tile(m, 2), S * K).astype(np.float64).reshape(S, K).T
        # Of two raters alpha is 1 - (2n - 1) (sum of d) 2n / x' D x; one unit shows no chance.
        expected = quadratic(weights, x) * (pairs > 1)
        alphas.append(one_minus(2 * observed * (2 * pairs - 1), expected))
    return np.array([*alphas, 1 - both.mean(axis=1)])


def _decided(
    splits: Sequence[Split], study: Annotations, rule: Rule
) -> tuple[tuple[Any, ...], Codes]:
    """Return the agreed answers of all panels at once, and codes of shape (n_splits, 2, n_units).

    -1 is no answer.
    """
    kept = np.stack([split.rows for split in splits])
    n_panels, n, k = 2 * len(splits), *kept.shape[2:]
    panels = replace(
        study,
        units=np.empty(n_panels * n, dtype=object),
        unit_codes=np.repeat(np.arange(n_panels * n), k),
        rater_codes=study.rater_codes[kept.ravel()],
        value_codes=study.value_codes[kept.ravel()],
    )
    decision = rule.decide(panels)
    return decision.values, decision.codes.reshape(len(splits), 2, n)


def _decided_apart(
    splits: Sequence[Split], study: Annotations, rule: Rule
) -> tuple[tuple[Any, ...], Codes]:
    """Return the same, each panel as a study: a distance may look at its data, as mid-ranks do."""
    values: dict[Any, int] = {}
    sides = []
    for split in splits:
        for rows in split.rows:
            mine = np.zeros(study.n_ratings, dtype=bool)
            mine[rows] = True
            decision = rule.decide(part_of(study, mine))
            codes = [values.setdefault(value, len(values)) for value in decision.values]
            sides.append(np.array([*codes, -1])[decision.codes])
    return tuple(values), np.stack(sides).reshape(len(splits), 2, study.n_units)
