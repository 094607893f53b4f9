"""Size and power, at 0.05 and 0.01, of the tests that default outputs use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

import setagree as sa
from tests.benchmarks.coverage.defaults import (
    A_CLUSTER,
    FOUR,
    UNITS,
    Generator,
    bounds,
    is_rough,
    rare_answer,
    study_of,
    two_to_twelve,
)
from tests.benchmarks.coverage.designs import Weighted
from tests.benchmarks.coverage.intervals import drawn_types
from tests.benchmarks.coverage.nulls import Null, P, in_clusters
from tests.benchmarks.coverage.record import Found
from tests.benchmarks.coverage.worlds import Codes, World, clustered, scored, slips

MOST = 0.07
"""Size that a test must not exceed significantly."""
POWER = "power: "
"""Begins the name of a world in which the hypothesis is false."""
ANY, NOT_ROUGH = "p", "p not called rough"
"""Tests of clusters, of which the output calls some rough."""


@dataclass(frozen=True)
class Level(Null):
    """Tests of a hypothesis in one world, by a name in `LEVELS`."""

    @property
    def name(self) -> str:
        """What is tested, in how many units."""
        return f"level {self.what} units={self.n_units}{self.suffix}"

    def p_values(self, generator: Generator) -> P:
        return LEVELS[self.what](self.n_units, generator)

    def promised(self, found: Found) -> list[str]:
        """Return the tests that must keep their level: all that the output does not call rough."""
        is_split = NOT_ROUGH in found.results
        names = [name for name in found.results if not (is_split and name == ANY)]
        return [] if POWER in self.what else names

    def misses(self, found: Found) -> bool:
        """Say whether a test rejects significantly more than 0.07 at 0.05, of studies with a p."""
        tests = [found.results[test] for test in self.promised(found)]
        return any(bounds(at, found.n - none)[0] > MOST for none, at, _ in tests)


def _codes(world: World, n: int, n_raters: int, generator: Generator) -> Codes:
    types = drawn_types(world, (1, n, 1), generator)
    return world.draw(types, np.zeros((1, 1, n_raters), dtype=np.int64), generator)[0]


def _p(world: World, codes: Codes) -> P:
    return {"p": scored(world.template, study_of(world, codes)).p_value}


def _of_world(labels: str, alpha: float, distance: str = "nominal") -> Callable[..., P]:
    world = slips(distance, labels, alpha)
    return lambda n, generator: _p(world, _codes(world, n, 3, generator))


def _of_clusters(n: int, generator: Generator) -> P:
    world = slips("nominal", "skewed", 0.0)
    study = study_of(world, _codes(world, n, 3, generator))
    row = scored(world.template, in_clusters(study, np.arange(n) // A_CLUSTER))
    return {ANY: row.p_value, NOT_ROUGH: np.nan if is_rough(row) else row.p_value}


def _clustered_study(n: int, generator: Generator) -> sa.Annotations:
    """Return units in clusters of five, which lean and are easy or hard as a whole; alpha 0.5."""
    world = clustered("nominal", 0.5)
    cluster = np.arange(n) // A_CLUSTER
    types = generator.integers(len(world.units), size=cluster[-1] + 1)[cluster]
    codes = world.draw(types[None, :, None], np.zeros((1, 1, 3), dtype=np.int64), generator)[0]
    return in_clusters(study_of(world, codes), cluster)


def _weighted_study(n: int, generator: Generator) -> sa.Annotations:
    """Return a sample in which hard units are three times as likely; alpha 0.5."""
    ((study, _),) = Weighted("nominal", "equal", 0.5, 3, n).studies(1, generator)
    return study


Drawn = Callable[[int, Generator], sa.Annotations]


def _compared_samples(drawn: Drawn) -> Callable[..., P]:
    def p(n: int, generator: Generator) -> P:
        one, two = (scored(FOUR.template, drawn(n, generator)) for _ in range(2))
        return {"p": sa.compare(one, two, design="independent").p_value}

    return p


def _grouped_samples(drawn: Drawn) -> Callable[..., P]:
    """Return the tests of `by_group`, four groups of n units of one sample."""

    def p(n: int, generator: Generator) -> P:
        study = drawn(4 * n, generator)
        by = {unit: k // n for k, unit in enumerate(study.units.tolist())}
        return _group_tests(study, by, "nominal", generator)

    return p


Design = tuple[World, float, int]
"""World, units as a multiple of n, raters."""


def _compared(*designs: Design) -> Callable[..., P]:
    def p(n: int, generator: Generator) -> P:
        one, two = (
            scored(w.template, study_of(w, _codes(w, round(k * n), R, generator)))
            for w, k, R in designs
        )
        return {"p": sa.compare(one, two, design="independent").p_value}

    return p


def _grouped(*designs: Design) -> Callable[..., P]:
    """Return the tests of `by_group`: all groups together, and the least p of Holm of one group."""

    def p(n: int, generator: Generator) -> P:
        parts = [_codes(w, round(k * n), R, generator) for w, k, R in designs]
        R = max(part.shape[1] for part in parts)
        padded = [np.pad(c, ((0, 0), (0, R - c.shape[1])), constant_values=-1) for c in parts]
        world = designs[0][0]
        study = study_of(world, np.concatenate(padded))
        group = np.repeat(np.arange(len(parts)), [len(part) for part in parts]).tolist()
        by = dict(zip(study.units.tolist(), group, strict=True))
        return _group_tests(study, by, world.distance, generator)

    return p


def _group_tests(
    study: sa.Annotations, by: dict[int, int], distance: str, generator: Generator
) -> P:
    frame = sa.by_group(study, by, distance=distance, n_resamples=1, rng=generator)
    p = float(frame["homogeneity_p_value"].iloc[0])
    return {"all groups": p, "one group": frame["p_holm"].min()}


def _at(alpha: float, labels: str = "equal", distance: str = "nominal") -> World:
    return slips(distance, labels, alpha)


def _four(*worlds: World) -> Sequence[Design]:
    return [(world, 1.0, 3) for world in worlds]


_MIXED = (_at(0.5), 2.0, 5), (_at(0.5, "skewed"), 0.5, 2), (_at(0.5, "skewed"), 1.0, 3)
_SETS = (_at(0.5, "equal", "masi"), 1.0, 3), (_at(0.5, "skewed", "masi"), 1.0, 3)

LEVELS: dict[str, Callable[[int, Generator], P]] = {
    "p_value, equal labels": _of_world("equal", 0.0),
    "p_value, one label 80%": _of_world("skewed", 0.0),
    "p_value, label sets": _of_world("skewed", 0.0, "masi"),
    "p_value, 2 to 12 ratings": lambda n, g: _p(FOUR, two_to_twelve(n, g, (0.0, 0.0))),
    "p_value, a rare answer, five raters": lambda n, g: _p(FOUR, rare_answer(n, g, 0.0)),
    "p_value, clusters of five": _of_clusters,
    f"p_value, {POWER}one label 80%, alpha 0.4": _of_world("skewed", 0.4),
    "compare, equal labels": _compared(*_four(_at(0.5), _at(0.5))),
    "compare, other labels and sizes": _compared(*_MIXED[:2]),
    "compare, label sets, other labels": _compared(*_SETS),
    "compare, clusters of five": _compared_samples(_clustered_study),
    "compare, hard units oversampled": _compared_samples(_weighted_study),
    f"compare, {POWER}alpha 0.5 and 0.7": _compared(*_four(_at(0.5), _at(0.7))),
    "by_group, four groups alike": _grouped(*_four(*[_at(0.5, "skewed")] * 4)),
    "by_group, other labels and sizes": _grouped(*_MIXED, (_at(0.5, "rare"), 1.0, 3)),
    "by_group, label sets, other labels": _grouped(*_SETS, *_SETS),
    "by_group, ten mixed groups": _grouped(*_MIXED, *_MIXED, *_MIXED, (_at(0.5), 1.0, 2)),
    "by_group, clusters of five": _grouped_samples(_clustered_study),
    "by_group, hard units oversampled": _grouped_samples(_weighted_study),
    f"by_group, {POWER}three at 0.5, one at 0.85": _grouped(*_four(_at(0.85), *[_at(0.5)] * 3)),
}
"""What is tested, in which world; units are those of a study or of a group."""


def level_cells() -> Iterator[Level]:
    for what, n_units in product(LEVELS, UNITS):
        yield Level(what, n_units, 1_000 if what.startswith("p_value") else 400)
