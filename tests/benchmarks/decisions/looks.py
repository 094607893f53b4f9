"""How often the intervals of `monitor` cover the truth at all looks, and what its verdicts are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np

import setagree as sa
from setagree.inference.monitor import pocock_bound, robbins_factor
from tests.benchmarks.coverage.batch import Ends, Studies, counted
from tests.benchmarks.coverage.intervals import CHECKED, LEVEL, Hard, Plain
from tests.benchmarks.coverage.worlds import Floats, as_study
from tests.benchmarks.decisions.cells import LEAST, Decisions, Generator, Seen, held, in_batches

ALPHAS = (0.0, 0.1, 0.2, 0.4, 0.7, 0.9)
BATCHES = ((20, 20), (50, 5), (50, 20))
"""Units of a batch, and batches."""
ANY_TIME, PLANNED, EACH = "at any time", "planned looks", "t at each look"
EARLY, RARE = 8, 4
"""Weight of all answers except the commonest from which on there is a verdict, or an interval."""


@dataclass(frozen=True)
class Looks(Decisions):
    """Studies that are looked at after each batch.

    - units: Whether units are known by all or guessed by all.
    - alpha: The truth.
    """

    distance: str
    labels: str
    units: str
    alpha: float
    batch: int
    n_batches: int
    n_raters: int = 3

    family: ClassVar[str] = "looks"

    @property
    def promised(self) -> dict[str, float]:
        return {ANY_TIME: LEAST, PLANNED: LEAST}

    @property
    def sizes(self) -> list[int]:
        return [self.batch * k for k in range(1, self.n_batches + 1)]

    def looked(self, generator: Generator) -> Iterator[dict[str, Floats]]:
        """Yield for each batch of studies the ends at all looks, of shape (looks, 2, B)."""
        kind: type[Plain] = Plain if self.units == "alike" else Hard
        n_units = self.batch * self.n_batches
        design = kind(self.distance, self.labels, self.alpha, self.n_raters, n_units)
        D, bound = design.world.distances, pocock_bound(self.sizes, LEVEL)
        for start, n in enumerate(in_batches(self.n_studies, 100)):
            codes, _, given = design.answers(n, generator)
            ends: dict[str, list[Ends]] = {ANY_TIME: [], PLANNED: [], EACH: []}
            with np.errstate(divide="ignore", invalid="ignore"):
                for size in self.sizes:
                    counts = counted(codes[:, :size], given[:, :size], len(D))
                    seen = Studies.of(counts, D)
                    widths = {
                        ANY_TIME: np.array([robbins_factor(int(n), LEVEL) for n in seen.n]) ** 2,
                        PLANNED: bound**2 / seen.n,
                    }
                    early = rarer(counts) < EARLY
                    for name, width in widths.items():
                        ends[name].append(
                            np.where(early, np.nan, seen.roots(LEVEL, width, looks=True))
                        )
                    ends[EACH].append(seen.t(LEVEL))
            found = {name: np.array(each) for name, each in ends.items()}
            if not start:
                for k in range(min(n, CHECKED)):
                    study = as_study(design.world.template, codes[k])
                    self._check(study, {name: one[..., k] for name, one in found.items()})
            yield found

    def _check(self, study: sa.Annotations, ends: dict[str, Floats]) -> None:
        at = {unit: k // self.batch for k, unit in enumerate(study.units)}
        for name, looks in ((ANY_TIME, None), (PLANNED, self.sizes)):
            frame = sa.monitor(
                study, batch=at, threshold=0.667, distance=self.distance, looks=looks
            ).frame
            theirs = frame[["low", "high"]].to_numpy()
            if not np.allclose(theirs, ends[name], rtol=0, atol=1e-9, equal_nan=True):
                raise AssertionError(f"{self.name}, {name}: {ends[name]} and {theirs}")

    def seen(self, generator: Generator) -> Iterator[Seen]:
        """Yield whether intervals miss the truth at any look, and the width at the last look."""
        for found in self.looked(generator):
            for k in range(found[ANY_TIME].shape[2]):
                yield {name: _over_all(*ends[..., k].T, self.alpha) for name, ends in found.items()}


def rarer(counts: Floats) -> Floats:
    """Return n (1 - share of the commonest answer) of each study, over pairable units."""
    used = counts.sum(axis=2) >= 2
    totals = (counts * used[..., None]).sum(axis=1)
    N = totals.sum(axis=1)
    return np.asarray(used.sum(axis=1) * (N - totals.max(axis=1)) / N)


def _over_all(low: Floats, high: Floats, truth: float) -> tuple[float, ...]:
    """Return what is to be said of all looks: a miss at the first look that misses."""
    there = np.isfinite(low)
    if not there.any():
        return 1.0, 0.0, 0.0, float("nan")
    missed = np.flatnonzero((high < truth - 1e-9) | (low > truth + 1e-9))
    last = int(np.flatnonzero(there)[-1])
    k = int(missed[0]) if len(missed) else last
    return (*held((low[k], high[k]), truth)[:3], float(high[last] - low[last]))


THRESHOLD = 0.667
STOP_ALPHAS = (0.5, 0.6, 0.667, 0.75, 0.85)
GOOD, BAD, ON = "good enough", "stop and retrain", "go on"


@dataclass(frozen=True)
class Stops(Looks):
    """Studies of which the first verdict is kept, and after how many units it came."""

    family: ClassVar[str] = "stops"

    @property
    def promised(self) -> dict[str, float]:
        """What is not so is said in no more studies than an interval misses the truth."""
        found = {GOOD: 1 - LEVEL} if self.alpha <= THRESHOLD else {}
        return found | ({BAD: 1 - LEVEL} if self.alpha >= THRESHOLD else {})

    def seen(self, generator: Generator) -> Iterator[Seen]:
        """Yield the first verdict, and by which numbers of units it has come."""
        sizes = np.array([*self.sizes, np.inf])
        for found in self.looked(generator):
            low, high = np.moveaxis(found[ANY_TIME], 1, 0)
            good, bad = low > THRESHOLD, high < THRESHOLD
            first = np.argmax(np.pad(good | bad, ((0, 1), (0, 0)), constant_values=True), axis=0)
            for k, look in enumerate(first.tolist()):
                stopped = look < len(low)
                said = {
                    GOOD: stopped and bool(good[look, k]),
                    BAD: stopped and bool(bad[look, k]),
                    ON: not stopped,
                }
                by = [float(sizes[look] <= limit) for limit in STEPS]
                yield {name: (0.0, float(one), 0.0) for name, one in said.items()} | {
                    "stopped by": (0.0, 0.0, 0.0, *by)
                }


FAR = "far below"
DROPS = (0.0, 0.2, 0.4)
LAST = ((20, 3), (50, 3), (50, 10))
"""Units of a batch, and batches."""


@dataclass(frozen=True)
class LastBatch(Decisions):
    """Studies whose last batch is compared with the earlier ones.

    - alpha, drop: The truth of the earlier batches, and what that of the last one is lower by.
    """

    distance: str
    labels: str
    alpha: float
    drop: float
    batch: int
    n_batches: int
    n_raters: int = 3

    family: ClassVar[str] = "last"

    @property
    def promised(self) -> dict[str, float]:
        """The share of studies of one population whose last batch is called far below."""
        return {} if self.drop else {FAR: 0.01}

    def seen(self, generator: Generator) -> Iterator[Seen]:
        """Yield whether there is no interval, and whether it lies below 0."""
        sizes = (self.batch * (self.n_batches - 1), self.batch)
        designs = [
            Plain(self.distance, self.labels, alpha, self.n_raters, n)
            for n, alpha in zip(sizes, (self.alpha, self.alpha - self.drop), strict=True)
        ]
        D = designs[0].world.distances
        for start, n in enumerate(in_batches(self.n_studies)):
            drawn = [design.answers(n, generator) for design in designs]
            parts = []
            with np.errstate(divide="ignore", invalid="ignore"):
                for one in drawn:
                    counts = counted(one.codes, one.given, len(D))
                    found = Studies.of(counts, D)
                    ends = np.where(rarer(counts) < RARE, np.nan, found.score(_LEVEL))
                    parts.append((found.alpha, *ends))
            (a2, l2, u2), (a1, l1, u1) = parts
            d, low, high = a1 - a2, np.hypot(a1 - l1, u2 - a2), np.hypot(u1 - a1, a2 - l2)
            if not start:
                for k in range(min(n, CHECKED)):
                    codes = np.concatenate([one.codes[k] for one in drawn])
                    self._check(
                        as_study(designs[0].world.template, codes), d[k] - low[k], d[k] + high[k]
                    )
            for none, far in zip(np.isnan(high), d + high < 0, strict=True):
                yield {FAR: (float(none), float(far), 0.0)}

    def _check(self, study: sa.Annotations, low: float, high: float) -> None:
        at = {unit: k // self.batch for k, unit in enumerate(study.units)}
        found = sa.monitor(study, batch=at, threshold=0.667, distance=self.distance)
        theirs = found.last_difference[1:]
        if not np.allclose(theirs, (low, high), rtol=0, atol=1e-9, equal_nan=True):
            raise AssertionError(f"{self.name}: {(low, high)} and {theirs}")


_LEVEL = 0.99

STEPS = (40, 80, 120, 200, 400, 800)
"""Numbers of units by which it is counted how many studies have stopped."""


def look_cells() -> Iterator[Looks | LastBatch]:
    both = (("nominal", "skewed"), ("masi", "equal"))
    for answers, alpha, batches in product(both, ALPHAS, BATCHES):
        n_studies = 1_000 if batches == BATCHES[-1] else 2_000
        yield Looks(*answers, "alike", alpha, *batches, n_studies=n_studies)
    for answers, alpha in product(both, ALPHAS[3:]):
        yield Looks(*answers, "hard", alpha, *BATCHES[0])
    for answers, alpha in product(both, STOP_ALPHAS):
        yield Stops(*answers, "alike", alpha, 40, 20)
    for answers, alpha, drop, batches in product(both, ALPHAS[3:], DROPS, LAST):
        if drop < alpha:
            yield LastBatch(*answers, alpha, drop, *batches, n_studies=2_000)
