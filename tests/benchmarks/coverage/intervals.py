"""How often intervals hold the true alpha: the designs, and the intervals of each study."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

import setagree as sa
from tests.benchmarks.coverage import batch
from tests.benchmarks.coverage.record import Found
from tests.benchmarks.coverage.worlds import (
    Codes,
    Floats,
    World,
    as_study,
    dominated,
    hard_units,
    scored,
    slips,
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
CHECKED = 5
"""Studies of each cell in which the arrays of a batch are compared with the library."""
_ROUNDING = 1e-9


class Answers(NamedTuple):
    """The answers to B studies as codes, who gave them, and which exist: each (B, n, R)."""

    codes: Codes
    raters: Codes
    given: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Intervals:
    """Studies of one design.

    - labels: How often answers are.
    - alpha: The truth.
    - n_raters, n_units: 50 raters are a crowd, of whom three rate each unit.
    - suffix: What tells a second run from the first.
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
        return (
            f"{self.family} {self.distance} {self.labels} alpha={self.alpha:g} "
            f"raters={self.n_raters} units={self.n_units}{self.further}{self.suffix}"
        )

    @property
    def further(self) -> str:
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
        if self.n_raters == CROWD:
            return unlike_raters(self.distance, self.labels, self.alpha, (0.0,), CROWD)
        return slips(self.distance, self.labels, self.alpha)

    def answers(self, n: int, generator: np.random.Generator) -> Answers:
        """Return the answers to n studies that all raters, or some of a crowd, have given."""
        world, shape = self.world, (n, self.n_units)
        types = drawn_types(world, (*shape, 1), generator)
        raters = np.broadcast_to(np.arange(self.n_raters), (*shape, self.n_raters))
        if self.n_raters == CROWD:
            order = generator.random(raters.shape).argpartition(A_UNIT, axis=2)
            raters = order[..., :A_UNIT]
        codes = world.draw(types, raters % len(world.raters), generator)
        return Answers(codes, raters, self.given(codes.shape, generator))

    def studies(self, n: int, generator: np.random.Generator) -> Iterator[Drawn]:
        for one, who, there in zip(*self.answers(n, generator), strict=True):
            yield as_study(self.world.template, one, there, who, self.n_raters), self.alpha

    def given(
        self,
        shape: tuple[int, ...],
        generator: np.random.Generator,
    ) -> npt.NDArray[np.bool_]:
        return np.ones(shape, dtype=bool)

    def scored(self, study: sa.Annotations) -> sa.Agreement:
        return scored(self.world.template, study)

    def intervals(self, row: sa.Agreement, generator: np.random.Generator) -> dict[str, Ends]:
        raise NotImplementedError

    def run(self, generator: np.random.Generator) -> Found:
        left_out = 0
        seen: dict[str, list[Any]] = {}
        for start in range(0, self.n_studies, AT_ONCE):
            n = min(AT_ONCE, self.n_studies - start)
            for study, truth in self.studies(n, generator):
                row = self.scored(study)
                if row.reason is not None:
                    left_out += 1
                    continue
                for method, (low, high) in self.intervals(row, generator).items():
                    seen.setdefault(method, []).append(verdict(low, high, truth))
        return Found(
            self.n_studies,
            left_out,
            {method: summed(*np.array(rows, dtype=float).T) for method, rows in seen.items()},
        )


def verdict(low: Any, high: Any, truth: float) -> tuple[Any, Any, Any, Any]:
    """Return whether an interval is none, below the truth, above it; and its width."""
    return np.isnan(low + high), high < truth - _ROUNDING, low > truth + _ROUNDING, high - low


def summed(
    none: Floats, too_low: Floats, too_high: Floats, width: Floats
) -> tuple[float, float, float, float]:
    """Return how many studies have no interval, one below and one above the truth; the width."""
    mean = float(np.nanmean(width)) if np.isfinite(width).any() else float("nan")
    return float(none.sum()), float(too_low.sum()), float(too_high.sum()), mean


def drawn_types(world: World, shape: tuple[int, ...], generator: np.random.Generator) -> Codes:
    return generator.choice(len(world.units), shape, p=[unit.share for unit in world.units])


@dataclass(frozen=True)
class Plain(Intervals):
    """Independent units, answers missing at random; intervals without resampling."""

    missing: float = 0.0

    family: ClassVar[str] = "plain"

    @property
    def further(self) -> str:
        return f" missing={self.missing:g}" if self.missing else ""

    @property
    def promised(self) -> Promised:
        """Score: 0.94 for 10 to 100 units, two to five raters, no answer rare."""
        usual = self.labels != "rare" and self.n_raters <= 5 and self.n_units <= 100
        return {"score": (0.94, 1)} if usual else {}

    def given(
        self, shape: tuple[int, ...], generator: np.random.Generator
    ) -> npt.NDArray[np.bool_]:
        return generator.random(shape) >= self.missing

    def intervals(self, row: sa.Agreement, generator: np.random.Generator) -> dict[str, Ends]:
        return {name: row.interval(LEVEL, method=name) for name in ("t", "score")}

    def run(self, generator: np.random.Generator) -> Found:
        """Simulate the studies and count, many at once."""
        found: list[tuple[Floats, dict[str, batch.Ends]]] = []
        for start in range(0, self.n_studies, AT_ONCE):
            answers = self.answers(min(AT_ONCE, self.n_studies - start), generator)
            alpha, ends = self.batched(answers)
            if not start:
                self.check(answers, ends)
            found.append((alpha, ends))
        kept = np.isfinite(np.concatenate([alpha for alpha, _ in found]))
        results = {}
        for method in ("t", "score"):
            low, high = np.concatenate([ends[method] for _, ends in found], axis=1)[:, kept]
            results[method] = summed(*verdict(low, high, self.alpha))
        return Found(self.n_studies, int((~kept).sum()), results)

    def batched(self, answers: Answers) -> tuple[Floats, dict[str, batch.Ends]]:
        D = self.world.distances
        with np.errstate(divide="ignore", invalid="ignore"):
            studies = batch.Studies.of(batch.counted(answers.codes, answers.given, len(D)), D)
            return studies.alpha, {"t": studies.t(LEVEL), "score": studies.score(LEVEL)}

    def check(self, answers: Answers, ends: dict[str, batch.Ends]) -> None:
        """Compare the first studies with what the library says of them."""
        some = Answers(*(one[:CHECKED] for one in answers))
        for k, (codes, raters, given) in enumerate(zip(*some, strict=True)):
            row = self.scored(as_study(self.world.template, codes, given, raters, self.n_raters))
            for method, theirs in self.intervals(row, np.random.default_rng()).items():
                ours = [end[k] for end in ends[method]]
                if not np.allclose(ours, theirs, rtol=0, atol=1e-9, equal_nan=True):
                    raise AssertionError(f"{self.name}, {method}: {ours} and {theirs}")


@dataclass(frozen=True)
class Hard(Plain):
    """The same where units are known by all or guessed by all."""

    family: ClassVar[str] = "hard"

    @property
    def promised(self) -> Promised:
        return {}

    @property
    def world(self) -> World:
        return hard_units(self.distance, self.labels, self.alpha)


OTHERS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 20.0)
"""What all answers but one weigh, in units, where one dominates."""


@dataclass(frozen=True)
class Dominated(Plain):
    """Studies in which one answer dominates, and of which the library warns; or does not.

    Each share of the others, and each of two worlds, is drawn equally often.
    """

    warned: bool = False

    family: ClassVar[str] = "dominated"

    @property
    def further(self) -> str:
        return " warned" if self.warned else ""

    @property
    def promised(self) -> Promised:
        """Score: 0.94 where the library does not warn."""
        return {} if self.warned else {"score": (0.94, 1)}

    @property
    def world(self) -> World:
        """One of the worlds; they have the same answers."""
        return self.with_others(OTHERS[0], guessed=False)

    def with_others(self, others: float, *, guessed: bool) -> World:
        """Return the world in which all other answers weigh so many units."""
        return dominated(self.alpha, others / self.n_units, guessed=guessed)

    def answers(self, n: int, generator: np.random.Generator) -> Answers:
        worlds = [
            self.with_others(others, guessed=guessed)
            for others, guessed in product(OTHERS, (False, True))
            if others <= self.n_units / 2
        ]
        raters = np.zeros((1, 1, self.n_raters), dtype=np.int64)
        codes = []
        for k in generator.integers(len(worlds), size=n).tolist():
            types = drawn_types(worlds[k], (1, self.n_units, 1), generator)
            codes.append(worlds[k].draw(types, raters, generator))
        drawn = np.concatenate(codes)
        who = np.broadcast_to(np.arange(self.n_raters), drawn.shape)
        return Answers(drawn, who, np.ones(drawn.shape, dtype=bool))

    def batched(self, answers: Answers) -> tuple[Floats, dict[str, batch.Ends]]:
        """Return alpha, nan where there is a warning and should be none; and the ends."""
        alpha, ends = super().batched(answers)
        counts = batch.counted(answers.codes, answers.given, len(self.world.distances))
        ratings = self.n_units * self.n_raters
        others = self.n_units * (ratings - counts.sum(axis=1).max(axis=1)) / ratings
        is_warned = (others < 4) & (self.n_raters >= 4)
        kept = (is_warned == self.warned) & self.shown(counts)
        return np.where(kept, alpha, np.nan), ends

    def shown(self, counts: Floats) -> npt.NDArray[np.bool_]:
        """Return of which studies an interval is shown, by counts (studies, units, values)."""
        return np.ones(len(counts), dtype=bool)

    def check(self, answers: Answers, ends: dict[str, batch.Ends]) -> None:
        """Compare the first studies with the library, and whether it warns of them."""
        super().check(answers, ends)
        alpha = self.batched(answers)[0]
        for k in range(CHECKED):
            row = self.scored(as_study(self.world.template, answers.codes[k]))
            is_other = self.is_warned_of(row) is not self.warned
            if row.reason is None and bool(np.isnan(alpha[k])) != is_other:
                raise AssertionError(f"{self.name}: study {k} is warned of, or is not")

    def is_warned_of(self, row: sa.Agreement) -> bool | None:
        """Return whether the library shows no interval of the study."""
        return row.interval_method is None


@dataclass(frozen=True)
class OneLabel(Dominated):
    """The same of one label, given or not, as `by_label` takes it: three units hold it, or more."""

    family: ClassVar[str] = "label"

    @property
    def promised(self) -> Promised:
        """Score: 0.94 where the library does not warn, 0.93 of three raters."""
        return {} if self.warned else {"score": (0.93 if self.n_raters == 3 else 0.94, 1)}

    def with_others(self, others: float, *, guessed: bool) -> World:
        """Return the world in which ratings with the label weigh so many units."""
        return dominated(self.alpha, others / self.n_units, guessed=guessed, shares=(1.0,))

    def shown(self, counts: Floats) -> npt.NDArray[np.bool_]:
        """Return of which studies three units hold the label, and three have a rating without."""
        return np.asarray(((counts > 0).sum(axis=1) >= 3).all(axis=1))

    def is_warned_of(self, row: sa.Agreement) -> bool | None:
        study = row.study
        assert study is not None
        return bool(sa.by_label(study)["low"].isna().all())


class Shape(NamedTuple):
    """Numbers that units have, and that raters give: of spread 1, with errors of a spread.

    alpha is the covariance of two raters over the variance, as distances are squared.
    """

    alpha: float
    drawn: Callable[[tuple[int, int], np.random.Generator], Floats]


def _lognormal(error: float) -> Shape:
    def drawn(shape: tuple[int, int], generator: np.random.Generator) -> Floats:
        truth, off = generator.normal(size=(shape[0], 1)), generator.normal(size=shape)
        return np.exp(truth + error * off)

    e = error**2
    covariance, variance = np.exp(e) * (np.exp(2) - np.exp(1)), np.exp(2 + 2 * e) - np.exp(1 + e)
    return Shape(float(covariance / variance), drawn)


def _normal(shape: tuple[int, int], generator: np.random.Generator) -> Floats:
    return generator.normal(size=(shape[0], 1)) + generator.normal(size=shape)


def _slips(shape: tuple[int, int], generator: np.random.Generator) -> Floats:
    far = 10.0 * generator.choice([-1, 1], shape) * (generator.random(shape) < 0.01)
    return np.asarray(generator.normal(size=(shape[0], 1)) + far)


SHAPES = {
    "normal": Shape(1 / 2, _normal),
    "long tail, small errors": _lognormal(0.3),
    "long tail, large errors": _lognormal(1.0),
    "one answer in 100 far off": Shape(1 / 2, _slips),
}


@dataclass(frozen=True)
class Numbers(Intervals):
    """Numbers at squared distances; `labels` is their shape."""

    family: ClassVar[str] = "numbers"

    def studies(self, n: int, generator: np.random.Generator) -> Iterator[Drawn]:
        for _ in range(n):
            answers = SHAPES[self.labels].drawn((self.n_units, self.n_raters), generator)
            frame = pd.DataFrame(answers.round(2))
            yield sa.Annotations.from_wide(frame, raters=[*frame], kind="number"), self.alpha

    def scored(self, study: sa.Annotations) -> sa.Agreement:
        return sa.krippendorff_alpha(study, distance=self.distance)

    def intervals(self, row: sa.Agreement, generator: np.random.Generator) -> dict[str, Ends]:
        return {"t": row.interval(LEVEL, method="t"), "score": row.interval(LEVEL, method="score")}


@dataclass(frozen=True)
class Resampled(Intervals):
    """Independent units; bootstrap intervals, and the others of the same studies."""

    family: ClassVar[str] = "resampled"

    def intervals(self, row: sa.Agreement, generator: np.random.Generator) -> dict[str, Ends]:
        """Return t, score, jackknife, percentile and BCa."""
        found = sa.bootstrap(row, n_resamples=N_RESAMPLES, rng=generator)
        return {
            "t": row.interval(LEVEL, method="t"),
            "score": row.interval(LEVEL, method="score"),
            "jackknife": sa.jackknife(row).interval(LEVEL),
            "percentile": found.interval(LEVEL, method="percentile"),
            "BCa": found.interval(LEVEL, method="BCa"),
        }
