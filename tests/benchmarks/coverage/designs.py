"""Designs in which units, or raters, are drawn in other ways; and the list of all designs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import numpy as np
import pandas as pd

import setagree as sa
from setagree.study.sampling import Sampling
from tests.benchmarks.coverage.intervals import (
    A_UNIT,
    ALPHAS,
    CROWD,
    LEVEL,
    MISSED,
    N_RESAMPLES,
    SHAPES,
    UNITS,
    Dominated,
    Drawn,
    Ends,
    Hard,
    Intervals,
    Numbers,
    OneLabel,
    Plain,
    Promised,
    Resampled,
    drawn_types,
)
from tests.benchmarks.coverage.worlds import (
    Codes,
    World,
    as_study,
    clustered,
    scored,
    two_parts,
    unlike_raters,
)

POPULATION = 4_000
OVERSAMPLED = np.array([1.0, 3.0])
"""How likely an easy and a hard unit are to be drawn."""


@dataclass(frozen=True)
class Clusters(Intervals):
    """Units in clusters that lean towards some answers and are easy or hard as a whole."""

    n_clusters: int = 10
    sizes: str = "like"

    family: ClassVar[str] = "clusters"

    @property
    def promised(self) -> Promised:
        """CR2: 0.93 for clusters of like size and alpha up to 0.7; clustered score: 0.94."""
        found = {"clustered score": (0.94, 1.0)}
        return found | ({"CR2": (0.93, 1)} if self.sizes == "like" and self.alpha <= 0.7 else {})

    @property
    def further(self) -> str:
        """How many clusters, of which sizes."""
        return f" clusters={self.n_clusters} sizes={self.sizes}"

    @property
    def world(self) -> World:
        return clustered(self.distance, self.alpha)

    def _sizes(self, generator: np.random.Generator) -> Codes:
        """Return sizes that differ by a fifth, or of which the first is as large as c others."""
        mean = self.n_units / self.n_clusters
        if self.sizes == "like":
            return generator.integers(round(0.8 * mean), round(1.2 * mean) + 1, self.n_clusters)
        share = 1 / np.arange(1, self.n_clusters + 1)
        return np.maximum(1, np.round(self.n_units * share / share.sum())).astype(np.int64)

    def studies(self, n: int, generator: np.random.Generator) -> Iterator[Drawn]:
        world = self.world
        raters = np.zeros((1, 1, self.n_raters), dtype=np.int64)
        for _ in range(n):
            cluster = np.repeat(np.arange(self.n_clusters), self._sizes(generator))
            types = drawn_types(world, (self.n_clusters,), generator)[cluster]
            codes = world.draw(types[None, :, None], raters, generator)[0]
            study = as_study(world.template, codes)
            table = pd.DataFrame({"cluster": cluster}, index=pd.Index(study.units, name="unit"))
            yield replace(study, unit_table=table, sampling=Sampling("cluster")), self.alpha

    def intervals(self, row: sa.Agreement, generator: np.random.Generator) -> dict[str, Ends]:
        """Return the clustered intervals, and t as if units were independent."""
        study = row.study
        assert study is not None
        alone = scored(self.world.template, replace(study, sampling=None))
        return {
            "t of units": alone.interval(LEVEL, method="t"),
            "CR2": row.interval(LEVEL, method="t"),
            "clustered score": row.interval(LEVEL, method="score"),
        }


@dataclass(frozen=True)
class RatersToo(Intervals):
    """Raters from a population of raters, who differ in skill and, where said, in habits."""

    tilt: float = 0.0

    family: ClassVar[str] = "both"

    @property
    def promised(self) -> Promised:
        """Two-way: 0.93 to 0.985 for 3 to 10 raters."""
        return {"two-way": (0.93, 0.985)} if self.n_raters <= 10 else {}

    @property
    def further(self) -> str:
        return f" tilt={self.tilt:g}" if self.tilt else ""

    @property
    def world(self) -> World:
        tilts = (-self.tilt, self.tilt) if self.tilt else (0.0,)
        return unlike_raters(self.distance, self.labels, self.alpha, tilts)

    def studies(self, n: int, generator: np.random.Generator) -> Iterator[Drawn]:
        world, shape = self.world, (n, self.n_units, self.n_raters)
        who = generator.integers(len(world.raters), size=(n, 1, self.n_raters))
        raters, types = (
            np.broadcast_to(np.arange(self.n_raters), shape),
            np.broadcast_to(who, shape),
        )
        if self.n_raters == CROWD:
            raters = generator.random(shape).argpartition(A_UNIT, axis=2)[..., :A_UNIT]
            types = np.take_along_axis(types, raters, axis=2)
        codes = world.draw(np.zeros((*shape[:2], 1), dtype=np.int64), types, generator)
        for one, names in zip(codes, raters, strict=True):
            yield as_study(world.template, one, None, names, self.n_raters), self.alpha

    def intervals(self, row: sa.Agreement, generator: np.random.Generator) -> dict[str, Ends]:
        """Return t over units alone, and over both."""
        t = row.interval(LEVEL, method="t")
        return {"t of units": t, "two-way": row.interval(LEVEL, over="both")}


@dataclass(frozen=True)
class RatersResampled(RatersToo):
    """The same, with the bootstrap over units and raters beside the two-way interval."""

    family: ClassVar[str] = "both resampled"

    @property
    def promised(self) -> Promised:
        return {}

    def intervals(self, row: sa.Agreement, generator: np.random.Generator) -> dict[str, Ends]:
        """Return the two-way interval, and the percentile interval of the bootstrap over both."""
        found = sa.bootstrap(row, n_resamples=N_RESAMPLES, over="both", rng=generator)
        percentile = found.interval(LEVEL, method="percentile")
        return {"two-way": row.interval(LEVEL, over="both"), "percentile": percentile}


@dataclass(frozen=True)
class Weighted(Intervals):
    """A sample in which the hard units are three times as likely; the truth is the population's."""

    family: ClassVar[str] = "weights"

    @property
    def promised(self) -> Promised:
        """Weighted t: 0.935 to 0.955 for alpha up to 0.7."""
        return {"weighted t": (0.935, 0.955)} if self.alpha <= 0.7 else {}

    @property
    def world(self) -> World:
        return two_parts(self.distance, self.alpha)

    def studies(self, n: int, generator: np.random.Generator) -> Iterator[Drawn]:
        world = self.world
        odds = np.array([unit.share for unit in world.units]) * OVERSAMPLED
        hard = generator.random((n, self.n_units, 1)) < odds[1] / odds.sum()
        types = hard.astype(np.int64)
        codes = world.draw(types, np.zeros((1, 1, self.n_raters), dtype=np.int64), generator)
        for one, part in zip(codes, types[..., 0], strict=True):
            study = as_study(world.template, one)
            index = pd.Index(study.units, name="unit")
            table = pd.DataFrame({"weight": 1 / OVERSAMPLED[part]}, index=index)
            how = Sampling(sampling_weight="weight")
            yield replace(study, unit_table=table, sampling=how), self.alpha

    def intervals(self, row: sa.Agreement, generator: np.random.Generator) -> dict[str, Ends]:
        """Return t and score with weights, and t as if there were none."""
        study = row.study
        assert study is not None
        alone = scored(self.world.template, replace(study, sampling=None))
        found = {"t without weights": alone.interval(LEVEL, method="t")}
        found["weighted t"] = row.interval(LEVEL, method="t")
        if row.inference.no_score_reason is None:
            found["weighted score"] = row.interval(LEVEL, method="score")
        return found


@dataclass(frozen=True)
class Strata(Weighted):
    """As many hard units as easy ones from a population of 4,000; the truth is its alpha."""

    family: ClassVar[str] = "strata"

    def studies(self, n: int, generator: np.random.Generator) -> Iterator[Drawn]:
        world = self.world
        sizes = np.round(POPULATION * np.array([unit.share for unit in world.units])).astype(int)
        types = np.repeat([0, 1], sizes)
        raters = np.zeros((1, 1, self.n_raters), dtype=np.int64)
        codes = world.draw(types[None, :, None], raters, generator)[0]
        truth = scored(world.template, as_study(world.template, codes)).estimate
        each = self.n_units // 2
        for _ in range(n):
            drawn = [generator.permutation(np.flatnonzero(types == k))[:each] for k in (0, 1)]
            units = np.concatenate(drawn)
            study = as_study(world.template, codes[units])
            weight = (sizes / each)[types[units]]
            table = pd.DataFrame(
                {"weight": weight, "stratum": types[units]},
                index=pd.Index(study.units, name="unit"),
            )
            how = Sampling(None, "weight", "stratum", dict(enumerate(sizes.tolist())))
            yield replace(study, unit_table=table, sampling=how), truth


def interval_cells() -> Iterator[Intervals]:
    both, two, few = ("nominal", "masi"), ("equal", "skewed"), (0.4, 0.7, 0.9)
    grid = product(both, two, ALPHAS, (2, 3, 5, CROWD), UNITS, (0.0, MISSED))
    for *design, n_units, missing in grid:
        yield Plain(*design, n_units, 1_000 if n_units > 100 else 2_000, missing)
    for *design, c, sizes in product(both, (*few, 0.97), (6, 10, 20), ("like", "unequal")):
        yield Clusters(design[0], "equal", design[1], 3, 10 * c, 1_000, c, sizes)
    for family, distance, alpha, n in product((Weighted, Strata), both, few, (30, 100, 300)):
        yield family(distance, "equal", alpha, 3, n, 1_000)
    for *design, n_raters, n_units in product(both, few, (3, 5, 10, CROWD), (50, 200)):
        yield RatersToo(design[0], "equal", design[1], n_raters, n_units, 500, 0.7)
    for *design, n_raters, n_units in product(both, few, (3, 5, 10), (50, 200)):
        yield RatersResampled(design[0], "equal", design[1], n_raters, n_units, 250, 0.7)
    for design in product(both, two, (*few, 0.97), (3,), UNITS):
        yield Resampled(*design, 250)
    for shape, n_raters, n_units in product(SHAPES, (2, 5), UNITS):
        yield Numbers("interval", shape, SHAPES[shape].alpha, n_raters, n_units, 500)
    for alpha, n_raters, n_units in product(few, (2, 3, 4, 5, 8), (20, 30, 50, 100, 300)):
        for warned in (False, True) if n_raters > 3 else (False,):
            yield Dominated("nominal", "one", alpha, n_raters, n_units, 2_000, warned=warned)
    for alpha, n_raters, n_units in product(few, (2, 3, 4, 5, 8), (30, 50, 100)):
        for warned in (False, True) if n_raters > 3 else (False,):
            yield OneLabel("nominal", "one", alpha, n_raters, n_units, 2_000, warned=warned)
    for design in product(both, ("rare",), ALPHAS[1:], (2, 3, 5), (20, 50, 100)):
        yield Plain(*design, 2_000)
    for design in product(both, (*two, "rare"), few, (2, 5), (20, 50, 100)):
        yield Hard(*design, 2_000)
