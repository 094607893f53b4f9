"""How often intervals hold the true alpha: the designs, and the intervals of each study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

import setagree as sa
from setagree.study.unit_columns import Sampling
from tests.benchmarks.coverage.record import Found
from tests.benchmarks.coverage.worlds import (
    Codes,
    World,
    as_study,
    clustered,
    hard_units,
    scored,
    slips,
    two_parts,
    unlike_raters,
)

Ends: TypeAlias = tuple[float, float]
Promised: TypeAlias = dict[str, tuple[float, float]]
Drawn: TypeAlias = tuple[sa.Annotations, float]
"""A study, and the alpha of what it was drawn from."""

LEVEL = 0.95
AT_ONCE = 250
N_RESAMPLES = 599
ALPHAS = (0.0, 0.4, 0.7, 0.9, 0.97)
UNITS = (10, 20, 30, 50, 100, 300)
CROWD = 50
A_UNIT = 3
"""Ratings of a unit by a crowd."""
MISSED = 0.3
POPULATION = 4_000


@dataclass(frozen=True)
class Intervals:
    """Studies of one design.

    Attributes
    ----------
    distance : {"nominal", "masi", "interval"}
    labels : {"equal", "skewed", "rare"}
        How often answers are.
    alpha : float
        The truth.
    n_raters, n_units : int
        50 raters are a crowd, of whom three rate each unit.
    n_studies : int
    suffix : str
        What tells a second run from the first.
    """

    distance: str
    labels: str
    alpha: float
    n_raters: int
    n_units: int
    n_studies: int = 1_000
    suffix: str = field(default="", kw_only=True)

    family: ClassVar[str]

    @property
    def name(self) -> str:
        """The family and the parameters."""
        return (
            f"{self.family} {self.distance} {self.labels} alpha={self.alpha:g} "
            f"raters={self.n_raters} units={self.n_units}{self.further}{self.suffix}"
        )

    @property
    def further(self) -> str:
        """What else tells it from others."""
        return ""

    @property
    def promised(self) -> Promised:
        """Which methods must hold the truth how often, by the least and the largest share."""
        return {}

    def misses(self, found: Found) -> bool:
        """Say whether a promise is missed, by whatever little."""
        return not all(
            low <= found.coverage(method) <= high for method, (low, high) in self.promised.items()
        )

    @property
    def world(self) -> World:
        """What studies are drawn from."""
        if self.n_raters == CROWD:
            return unlike_raters(self.distance, self.labels, self.alpha, (0.0,), CROWD)
        return slips(self.distance, self.labels, self.alpha)

    def studies(self, n: int, generator: np.random.Generator) -> Iterator[Drawn]:
        """Yield n studies of units that all raters, or some of a crowd, have rated."""
        world, shape = self.world, (n, self.n_units)
        types = _types(world, (*shape, 1), generator)
        raters = np.broadcast_to(np.arange(self.n_raters), (*shape, self.n_raters))
        if self.n_raters == CROWD:
            order = generator.random(raters.shape).argpartition(A_UNIT, axis=2)
            raters = order[..., :A_UNIT]
        codes = world.draw(types, raters % len(world.raters), generator)
        given = self.given(codes.shape, generator)
        for one, who, there in zip(codes, raters, given, strict=True):
            study = as_study(world.template, one, there, who, self.n_raters)
            yield study, self.alpha

    def given(
        self,
        shape: tuple[int, ...],
        generator: np.random.Generator,
    ) -> npt.NDArray[np.bool_]:
        """Return which of the answers exist."""
        return np.ones(shape, dtype=bool)

    def intervals(self, row: sa.Agreement, generator: np.random.Generator) -> dict[str, Ends]:
        """Return the ends of each interval of a study."""
        raise NotImplementedError

    def run(self, generator: np.random.Generator) -> Found:
        """Simulate the studies and count."""
        template, left_out = self.world.template, 0
        seen: dict[str, list[tuple[bool, bool, bool, float]]] = {}
        for start in range(0, self.n_studies, AT_ONCE):
            n = min(AT_ONCE, self.n_studies - start)
            for study, truth in self.studies(n, generator):
                row = scored(template, study)
                if row.reason is not None:
                    left_out += 1
                    continue
                for method, (low, high) in self.intervals(row, generator).items():
                    none = bool(np.isnan(low + high))
                    verdict = (none, high < truth - 1e-9, low > truth + 1e-9, high - low)
                    seen.setdefault(method, []).append(verdict)
        results = {
            method: (*map(float, np.sum(columns[:3], axis=1)), float(np.nanmean(columns[3])))
            for method, rows in seen.items()
            for columns in [np.array(rows, dtype=float).T]
        }
        return Found(self.n_studies, left_out, results)


def _types(world: World, shape: tuple[int, ...], generator: np.random.Generator) -> Codes:
    return generator.choice(len(world.units), shape, p=[unit.share for unit in world.units])


@dataclass(frozen=True)
class Plain(Intervals):
    """Independent units, answers missing at random; intervals without resampling."""

    missing: float = 0.0

    family: ClassVar[str] = "plain"

    @property
    def further(self) -> str:
        """How many answers are missing."""
        return f" missing={self.missing:g}" if self.missing else ""

    @property
    def promised(self) -> Promised:
        """Score: .94 for 10 to 100 units, two to five raters, no answer rare."""
        usual = self.distance != "interval" and self.labels != "rare"
        return {"score": (0.94, 1)} if usual and self.n_raters <= 5 and self.n_units <= 100 else {}

    def given(
        self, shape: tuple[int, ...], generator: np.random.Generator
    ) -> npt.NDArray[np.bool_]:
        """Return which of the answers exist."""
        return generator.random(shape) >= self.missing

    def intervals(self, row: sa.Agreement, generator: np.random.Generator) -> dict[str, Ends]:
        """Return t and score."""
        return {"t": row.interval(LEVEL), "score": row.interval(LEVEL, method="score")}


@dataclass(frozen=True)
class Hard(Plain):
    """The same where units are known by all or guessed by all."""

    family: ClassVar[str] = "hard"

    @property
    def promised(self) -> Promised:
        """Nothing."""
        return {}

    @property
    def world(self) -> World:
        """What studies are drawn from."""
        return hard_units(self.distance, self.labels, self.alpha)


@dataclass(frozen=True)
class Resampled(Intervals):
    """Independent units; bootstrap intervals, and the others of the same studies."""

    family: ClassVar[str] = "resampled"

    def intervals(self, row: sa.Agreement, generator: np.random.Generator) -> dict[str, Ends]:
        """Return t, score, jackknife, percentile and BCa."""
        found = sa.bootstrap(row, n_resamples=N_RESAMPLES, rng=generator)
        return {
            "t": row.interval(LEVEL),
            "score": row.interval(LEVEL, method="score"),
            "jackknife": sa.jackknife(row).interval(LEVEL),
            "percentile": found.interval(LEVEL, method="percentile"),
            "BCa": found.interval(LEVEL, method="BCa"),
        }


@dataclass(frozen=True)
class Clusters(Intervals):
    """Units in clusters that lean towards some answers and are easy or hard as a whole."""

    n_clusters: int = 10
    sizes: str = "like"

    family: ClassVar[str] = "clusters"

    @property
    def promised(self) -> Promised:
        """CR2: .93 for clusters of like size and alpha up to .7; clustered score: .94."""
        found = {"clustered score": (0.94, 1.0)}
        return found | ({"CR2": (0.93, 1)} if self.sizes == "like" and self.alpha <= 0.7 else {})

    @property
    def further(self) -> str:
        """How many clusters, of which sizes."""
        return f" clusters={self.n_clusters} sizes={self.sizes}"

    @property
    def world(self) -> World:
        """What studies are drawn from."""
        return clustered(self.distance, self.alpha)

    def _sizes(self, generator: np.random.Generator) -> Codes:
        """Return sizes that differ by a fifth, or of which the first is as large as c others."""
        mean = self.n_units / self.n_clusters
        if self.sizes == "like":
            return generator.integers(round(0.8 * mean), round(1.2 * mean) + 1, self.n_clusters)
        share = 1 / np.arange(1, self.n_clusters + 1)
        return np.maximum(1, np.round(self.n_units * share / share.sum())).astype(np.int64)

    def studies(self, n: int, generator: np.random.Generator) -> Iterator[Drawn]:
        """Yield n studies."""
        world = self.world
        raters = np.zeros((1, 1, self.n_raters), dtype=np.int64)
        for _ in range(n):
            cluster = np.repeat(np.arange(self.n_clusters), self._sizes(generator))
            types = _types(world, (self.n_clusters,), generator)[cluster]
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
            "t of units": alone.interval(LEVEL),
            "CR2": row.interval(LEVEL),
            "clustered score": row.interval(LEVEL, method="score"),
        }


@dataclass(frozen=True)
class RatersToo(Intervals):
    """Raters from a population of raters, who differ in skill and, where said, in habits."""

    tilt: float = 0.0

    family: ClassVar[str] = "both"

    @property
    def promised(self) -> Promised:
        """Two-way: .93 to .985 for 3 to 10 raters."""
        return {"two-way": (0.93, 0.985)} if self.n_raters <= 10 else {}

    @property
    def further(self) -> str:
        """How far habits differ."""
        return f" tilt={self.tilt:g}" if self.tilt else ""

    @property
    def world(self) -> World:
        """What studies are drawn from."""
        tilts = (-self.tilt, self.tilt) if self.tilt else (0.0,)
        return unlike_raters(self.distance, self.labels, self.alpha, tilts)

    def studies(self, n: int, generator: np.random.Generator) -> Iterator[Drawn]:
        """Yield n studies, each with raters of its own."""
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
        return {"t of units": row.interval(LEVEL), "two-way": row.interval(LEVEL, over="both")}


@dataclass(frozen=True)
class Weighted(Intervals):
    """A sample in which the hard units are three times as likely; the truth is the population's."""

    family: ClassVar[str] = "weights"

    @property
    def promised(self) -> Promised:
        """Weighted t: .935 to .955."""
        return {"weighted t": (0.935, 0.955)}

    @property
    def world(self) -> World:
        """What studies are drawn from."""
        return two_parts(self.distance, self.alpha)

    def studies(self, n: int, generator: np.random.Generator) -> Iterator[Drawn]:
        """Yield n studies."""
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
        found = {"t without weights": alone.interval(LEVEL), "weighted t": row.interval(LEVEL)}
        if row.best_method == "score":
            found["weighted score"] = row.interval(LEVEL, method="score")
        return found


OVERSAMPLED = np.array([1.0, 3.0])
"""How likely an easy and a hard unit are to be drawn."""


@dataclass(frozen=True)
class Strata(Weighted):
    """As many hard units as easy ones from a population of 4,000; the truth is its alpha."""

    family: ClassVar[str] = "strata"

    def studies(self, n: int, generator: np.random.Generator) -> Iterator[Drawn]:
        """Yield n studies of one population."""
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
    """Yield all designs."""
    both, two, few = ("nominal", "masi"), ("equal", "skewed"), (0.4, 0.7, 0.9)
    grid = product(both, two, ALPHAS, (2, 3, 5, CROWD), UNITS, (0.0, MISSED))
    for *design, n_units, missing in grid:
        yield Plain(*design, n_units, 500 if n_units > 100 else 1_000, missing)
    for *design, c, sizes in product(both, (*few, 0.97), (6, 10, 20), ("like", "unequal")):
        yield Clusters(design[0], "equal", design[1], 3, 10 * c, 1_000, c, sizes)
    for family, distance, alpha, n in product((Weighted, Strata), both, few, (30, 50, 100, 300)):
        yield family(distance, "equal", alpha, 3, n, 1_000)
    panels = product((3, 5, 10, CROWD), (50, 100, 300), (0.0, 0.7))
    for (distance, alpha), (n_raters, n_units, tilt) in product(product(both, few), panels):
        yield RatersToo(distance, "equal", alpha, n_raters, n_units, 500, tilt)
    for design in product(both, two, (*few, 0.97), (3,), UNITS):
        yield Resampled(*design, 300)
    for design in product(("interval",), ("equal", "rare"), ALPHAS[1:], (2, 3), UNITS[:-1]):
        yield Plain(*design, 500)
    for design in product(both, ("rare",), ALPHAS[1:], (2, 3, 5), (20, 50, 100)):
        yield Plain(*design, 500)
    for design in product(both, (*two, "rare"), few, (2, 5), (20, 50, 100)):
        yield Hard(*design, 500)
