"""The interval that `Agreement.interval` gives by default, in studies that other worlds make.

Beside the default stand the t interval of the same studies and the oracle: the interval between the
2.5% and 97.5% quantiles of the estimates of these studies.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any, TypeAlias

import numpy as np

import setagree as sa
from setagree.scoring.intervals import NONE
from setagree.scoring.table_notes import rough_reasons, warn_clusters
from tests.benchmarks.coverage.designs import Clusters, Strata
from tests.benchmarks.coverage.intervals import (
    LEVEL,
    SHAPES,
    Ends,
    Intervals,
    Numbers,
    summed,
    verdict,
)
from tests.benchmarks.coverage.record import Found
from tests.benchmarks.coverage.worlds import (
    URNS,
    Codes,
    Floats,
    Units,
    World,
    as_study,
    scored,
)

Generator: TypeAlias = np.random.Generator
Answers: TypeAlias = Callable[[int, Generator], Codes]
"""Returns coded answers of shape (units, raters), -1 where there is none."""

UNITS = (10, 20, 50, 100, 300)
N_STUDIES = 1_000
N_TRUTH = 200_000
"""Units of the study whose alpha is the truth."""
A_CLUSTER = 5
LEAST = 0.93
"""Coverage that a default interval must not miss significantly."""
Z = 1.645
"""Quantile of the one-sided 95% Monte-Carlo bounds."""

FOUR = World("nominal", (Units(1.0, 0.0, URNS["nominal", "equal"]),))
_LABELS = {K: World("masi", (Units(1.0, 0.0, ((0.5, 0.5),) * K),)) for K in (5, 7)}
"""Worlds that only list the possible answers: one of four, or sets of five and of seven labels."""


def _urn(shares: Any, shape: tuple[int, ...], generator: Generator) -> Codes:
    return generator.choice(len(shares), shape, p=np.array(shares))


def _coded(flags: Floats) -> Codes:
    """Return sets, whose labels are the last axis, as codes."""
    K = flags.shape[-1]
    return np.asarray(flags @ (1 << np.arange(K)[::-1]), dtype=np.int64)


def _crowd(n: int, generator: Generator) -> Codes:
    """Latent classes: five of 40 workers of different skill rate each unit.

    Who errs mostly takes the neighbouring class.
    """
    skill = np.linspace(0.3, 0.95, 40)
    truth = _urn((0.5, 0.25, 0.15, 0.1), (n, 1), generator)
    near = (truth + 1) % 4
    errs = np.where(generator.random((n, 40)) < 0.7, near, generator.integers(4, size=(n, 40)))
    codes = np.where(generator.random((n, 40)) < skill, truth, errs)
    return np.where(_some(5, (n, 40), generator), codes, -1)


def _some(k: int, shape: tuple[int, int], generator: Generator) -> Any:
    return generator.random(shape).argsort(axis=1) < k


def _correlated(n: int, generator: Generator) -> Codes:
    """Give sets of labels that belong to a topic; who errs gives another set of the same topic."""
    likely = np.array([[0.8, 0.7, 0.1, 0, 0], [0.1, 0.1, 0.8, 0.7, 0.1], [0, 0.1, 0.1, 0.2, 0.8]])
    topic = generator.integers(3, size=n)
    truth = generator.random((n, 1, 5)) < likely[topic][:, None]
    other = generator.random((n, 3, 5)) < likely[topic][:, None]
    return _coded(np.where(generator.random((n, 3, 1)) < 0.6, truth, other))


def _heavy(n: int, generator: Generator) -> Codes:
    """Give sets of 1 to 7 labels, of size s with a share proportional to 1 / s²."""
    truth = _sets((n, 1, 7), generator)
    other = _sets((n, 3, 7), generator)
    kept = truth & (generator.random((n, 3, 7)) < 0.7) | other
    return _coded(np.where(generator.random((n, 3, 1)) < 0.6, truth, kept))


def _sets(shape: tuple[int, ...], generator: Generator) -> Any:
    share = 1 / np.arange(1.0, 8) ** 2
    size = 1 + _urn(share / share.sum(), (*shape[:-1], 1), generator)
    keys = generator.gumbel(size=shape) - np.log(np.arange(1, 8))
    return (-keys).argsort(axis=-1).argsort(axis=-1) < size


def two_to_twelve(n: int, generator: Generator, skills: tuple[float, float] = (0.85, 0.4)) -> Codes:
    """One of four answers; three in ten units are hard, and get more of the 2 to 12 ratings."""
    hard = generator.random((n, 1)) < 0.3
    truth = generator.integers(4, size=(n, 1))
    knows = generator.random((n, 12)) < np.where(hard, skills[1], skills[0])
    codes = np.where(knows, truth, generator.integers(4, size=(n, 12)))
    more = generator.geometric(np.where(hard, 0.15, 0.4)) - 1
    return np.where(np.arange(12) < 2 + np.minimum(more, 10), codes, -1)


def _slipped(codes: Codes, skill: Any, urn: Any, generator: Generator) -> Codes:
    guess = _urn(urn, codes.shape, generator)
    return np.where(generator.random(codes.shape) < skill, codes, guess)


def _rare_disagreement(n: int, generator: Generator) -> Codes:
    """Three raters agree except on about one unit in 25."""
    truth = np.repeat(generator.integers(4, size=(n, 1)), 3, axis=1)
    hard = generator.random((n, 1)) < 0.06
    return _slipped(truth, np.where(hard, 0.4, 1.0), (0.25,) * 4, generator)


def rare_answer(n: int, generator: Generator, skill: float = 0.8) -> Codes:
    """Five raters, and one answer that has 94%."""
    (urn,) = URNS["nominal", "rare"]
    truth = np.repeat(_urn(urn, (n, 1), generator), 5, axis=1)
    return _slipped(truth, skill, urn, generator)


def _panels(n: int, generator: Generator) -> Codes:
    """Four panels of three raters with habits of their own, each on a quarter of the units."""
    panel = np.arange(n) % 4
    truth = np.repeat(generator.integers(4, size=(n, 1)), 12, axis=1)
    codes = truth.copy()
    for g, habit in enumerate(np.eye(4) * 0.4 + 0.15):
        mine = slice(3 * g, 3 * g + 3)
        codes[:, mine] = _slipped(truth[:, mine], 0.5 + 0.15 * g, habit, generator)
    return np.where(np.arange(12) // 3 == panel[:, None], codes, -1)


WORLDS: dict[str, tuple[World, Answers]] = {
    "latent-class crowd": (FOUR, _crowd),
    "correlated labels": (_LABELS[5], _correlated),
    "heavy-tailed set sizes": (_LABELS[7], _heavy),
    "2 to 12 ratings": (FOUR, two_to_twelve),
    "rare disagreement": (FOUR, _rare_disagreement),
    "a rare answer": (FOUR, rare_answer),
    "panels of raters": (FOUR, _panels),
}
CLUSTERED, SWITCH = "clusters of five", "switch"
STRATA, SQUARED = "strata", "numbers: "


def study_of(world: World, codes: Codes) -> sa.Annotations:
    """Return the study of coded answers, -1 where there is none."""
    return as_study(world.template, codes, codes >= 0)


@cache
def truth_of(name: str) -> float:
    """Return the alpha of a world, from a study of `N_TRUTH` units."""
    world, answers = WORLDS[name]
    codes = answers(N_TRUTH, np.random.default_rng(N_TRUTH))
    return scored(world.template, study_of(world, codes)).estimate


def bounds(k: float, n: float) -> tuple[float, float]:
    """Return the lower and the upper 95% bound, each one-sided, of a share k / n (Wilson 1927)."""
    if n == 0:
        return 0.0, 1.0
    middle, half = k + Z**2 / 2, Z * np.sqrt(k * (n - k) / n + Z**2 / 4)
    return float((middle - half) / (n + Z**2)), float((middle + half) / (n + Z**2))


def is_rough(row: sa.Agreement) -> bool:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warn_clusters([row])
    return bool(seen or rough_reasons(row))


@dataclass(frozen=True)
class Default:
    """The default interval in one world.

    - world: A name in `WORLDS`, or of clusters.
    - suffix: What tells a second run from the first.
    """

    world: str
    n_units: int
    n_studies: int = N_STUDIES
    suffix: str = field(default="", kw_only=True)

    @property
    def name(self) -> str:
        return f"default {self.world} units={self.n_units}{self.suffix}"

    def misses(self, found: Found) -> bool:
        """Say whether intervals that are not called rough cover significantly less than 0.93."""
        none, low, high, _ = found.results["not rough"]
        n = found.n - none
        return bounds(n - low - high, n)[1] < LEAST

    def drawn(self, generator: Generator) -> Iterator[tuple[sa.Agreement, float]]:
        """Yield the alpha of each study, and the truth."""
        world, answers = WORLDS[self.world]
        truth = truth_of(self.world)
        for _ in range(self.n_studies):
            study = study_of(world, answers(self.n_units, generator))
            yield scored(world.template, study), truth

    def intervals(self, row: sa.Agreement) -> dict[str, Ends]:
        """Return the default, the default unless it is called rough, and t; nan for none."""
        ends = row.interval(LEVEL)
        return {
            "default": ends,
            "not rough": NONE if is_rough(row) else ends,
            "t": row.interval(LEVEL, method="t"),
        }

    def run(self, generator: Generator) -> Found:
        """Simulate the studies and count; t and others only where the default is shown."""
        seen: dict[str, list[Any]] = {"default": []}
        estimates, truth = [], np.nan
        for row, truth in self.drawn(generator):
            if row.reason is None:
                estimates.append(row.estimate)
                for method, ends in self.intervals(row).items():
                    seen.setdefault(method, []).append(verdict(*ends, truth))
        counts = {method: np.array(rows, dtype=float) for method, rows in seen.items()}
        shown = counts["default"][:, 0] == 0
        every = ("default", "not rough")
        results: dict[str, tuple[float, ...]] = {
            method: summed(*(rows if method in every else rows[shown]).T)
            for method, rows in counts.items()
        }
        ends = np.quantile(np.array(estimates)[shown], (0.025, 0.975)) if shown.any() else NONE
        results["oracle"] = (truth, float(ends[1] - ends[0]))
        return Found(self.n_studies, self.n_studies - len(estimates), results)


@dataclass(frozen=True)
class DefaultOfClusters(Default):
    """Units in clusters that lean towards some answers and are easy or hard as a whole."""

    alpha: float = 0.7
    n_clusters: int = 2
    sizes: str = "like"

    @property
    def name(self) -> str:
        further = f"alpha={self.alpha:g} clusters={self.n_clusters} sizes={self.sizes}"
        return f"default {self.world} units={self.n_units} {further}{self.suffix}"

    def drawn(self, generator: Generator) -> Iterator[tuple[sa.Agreement, float]]:
        given = ("nominal", "equal", self.alpha, 3, self.n_units)
        like = Clusters(*given, n_clusters=self.n_clusters, sizes=self.sizes)
        for study, truth in like.studies(self.n_studies, generator):
            yield scored(like.world.template, study), truth

    def intervals(self, row: sa.Agreement) -> dict[str, Ends]:
        """Return the same, the score interval, and the default where it is that of the score."""
        found = super().intervals(row)
        is_score = row.interval_method == "score"
        return found | {
            "score": row.interval(LEVEL, method="score"),
            "switched": found["default"] if is_score else NONE,
        }


@dataclass(frozen=True)
class DefaultOfDesign(Default):
    """Strata of alpha 0.9, or numbers of a shape at squared distances."""

    @property
    def design(self) -> Intervals:
        if self.world == STRATA:
            return Strata("nominal", "equal", 0.9, 3, self.n_units)
        shape = self.world.removeprefix(SQUARED)
        return Numbers("interval", shape, SHAPES[shape].alpha, 2, self.n_units)

    def drawn(self, generator: Generator) -> Iterator[tuple[sa.Agreement, float]]:
        for study, truth in self.design.studies(self.n_studies, generator):
            yield self.design.scored(study), truth


def default_cells() -> Iterator[Default]:
    for world, n_units in product(WORLDS, UNITS):
        yield Default(world, n_units)
    for n_units in UNITS:
        yield DefaultOfClusters(CLUSTERED, n_units, n_clusters=n_units // A_CLUSTER)
    for world, n_units in product((STRATA, *(f"{SQUARED}{shape}" for shape in SHAPES)), UNITS):
        yield DefaultOfDesign(world, n_units, 500)
    for alpha, c, sizes in product((0.4, 0.9, 0.97), (6, 10, 20, 40), ("like", "unequal")):
        yield DefaultOfClusters(SWITCH, 10 * c, alpha=alpha, n_clusters=c, sizes=sizes)
