"""Intervals of variance components, and of how far raters agree with themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import ClassVar

import numpy as np
import pandas as pd

import setagree as sa
from tests.benchmarks.coverage.intervals import LEVEL, MISSED
from tests.benchmarks.coverage.worlds import (
    Codes,
    Floats,
    World,
    as_study,
    joint,
    slips,
    unlike_raters,
)
from tests.benchmarks.decisions.cells import LEAST, Decisions, Generator, Seen, held

TILT = 2.0
NUMBERS = {"unit": 1.0, "rater": 0.25, "residual": 0.5}
"""Variances of numbers."""
RATERS, UNITS = (3, 5, 10), (20, 50, 100)
REPLICATE = (1, 3)
"""Raters of whose mean the reliability is asked."""


@cache
def variances(world: World) -> dict[str, float]:
    """Return the components of a world, by summing over all types and answers."""
    D, (unit,) = world.distances, world.units
    m = [rater.share for rater in world.raters]
    pairs = {
        (g, h): joint(unit, one, two)
        for (g, one), (h, two) in product(enumerate(world.raters), repeat=2)
    }
    pi: list[Floats] = [pairs[g, g].sum(axis=1) for g in range(len(m))]
    every = np.asarray(sum(share * own for share, own in zip(m, pi, strict=True)))
    A = sum(m[g] * m[h] * float((J * D).sum()) for (g, h), J in pairs.items()) / 2
    B = sum(share * float(own @ D @ own) for share, own in zip(m, pi, strict=True)) / 2
    T = float(every @ D @ every) / 2
    return {"unit": T - A, "rater": T - B, "residual": A + B - T}


@dataclass(frozen=True)
class Variances(Decisions):
    """Studies with units and raters of their own.

    - habits: How far the habits of raters differ; of numbers, how many times their variance is
      0.25.
    """

    answers: str
    habits: float
    n_raters: int
    n_units: int
    missing: float = 0.0

    family: ClassVar[str] = "variances"

    @property
    def promised(self) -> dict[str, float]:
        names = ["unit", "residual", "dependability", "generalizability"]
        return dict.fromkeys(names + ["rater"] * (self.n_raters >= 5), LEAST)

    @property
    def truth(self) -> dict[str, float]:
        if self.answers == "numbers":
            return NUMBERS | {"rater": NUMBERS["rater"] * self.habits}
        return variances(self._world)

    @property
    def _world(self) -> World:
        tilts = (-self.habits, self.habits) if self.habits else (0.0,)
        return unlike_raters(self.answers, "equal", 0.5, tilts)

    def _study(self, generator: Generator) -> tuple[sa.Annotations, str]:
        shape = (self.n_units, self.n_raters)
        given = generator.random(shape) >= self.missing
        if self.answers == "numbers":
            spread = [np.sqrt(x) for x in self.truth.values()]
            parts = [generator.normal(size=size) for size in ((shape[0], 1), shape[1], shape)]
            x = sum(s * part for s, part in zip(spread, parts, strict=True))
            frame = pd.DataFrame(np.where(given, np.round(x, 1), np.nan))
            return sa.Annotations.from_wide(frame, raters=[*frame], kind="number"), "interval"
        world = self._world
        raters = generator.integers(len(world.raters), size=(1, 1, shape[1]))
        codes = world.draw(np.zeros((1, shape[0], 1), dtype=np.int64), raters, generator)[0]
        return as_study(world.template, codes, given).with_used_values(), self.answers

    def seen(self, generator: Generator) -> Iterator[Seen]:
        u, r, e = self.truth.values()
        for _ in range(self.n_studies):
            study, distance = self._study(generator)
            found = sa.variance_components(study, distance=distance, level=LEVEL)
            out: Seen = {}
            for name, row in found.frame.set_index("component").iterrows():
                out[name] = held((row["low"], row["high"]), self.truth[name])
            for m, row in found.by_raters(REPLICATE).set_index("raters").iterrows():
                true = {"dependability": u / (u + (r + e) / m), "generalizability": u / (u + e / m)}
                for name, x in true.items():
                    ends = (row[f"{name}_low"], row[f"{name}_high"])
                    out[name if m == 1 else f"{name} of {m}"] = held(ends, x)
            yield out


SPREAD = 0.25
"""How far the alpha of hard and easy units is from the mean."""


@dataclass(frozen=True)
class Repeats(Decisions):
    """Studies in which raters rate units twice.

    A rater has a reading of the unit, which other raters may share, and gives it again with a
    probability that may depend on the unit; else an answer is drawn from the urn.

    - units: Whether units differ in how likely a reading is given again.
    - alpha: The agreement of raters with themselves.
    - n_raters: How many rate each unit twice.
    """

    distance: str
    units: str
    alpha: float
    n_raters: int
    n_units: int

    family: ClassVar[str] = "repeats"

    @property
    def promised(self) -> dict[str, float]:
        """The coverage of the pooled interval, and of each rater's."""
        return {"pooled": LEAST, "one rater": LEAST}

    def seen(self, generator: Generator) -> Iterator[Seen | None]:
        world = slips(self.distance, "skewed" if self.distance == "nominal" else "equal", 0.6)
        noise = replace(world, units=(replace(world.units[0], skill=0.0),))
        shape, spread = (2, self.n_units, self.n_raters), min(SPREAD, 0.9 * (1 - self.alpha))
        one, each = np.zeros((1, 1, 1), int), np.zeros(shape, int)
        for _ in range(self.n_studies):
            sign = generator.choice([-1, 1], (1, self.n_units, 1)) * (self.units == "hard")
            steady = np.sqrt(self.alpha + spread * sign)
            reading = world.draw(each[:1, :, :1], each[:1, :1], generator)
            own = noise.draw(each, one, generator)
            codes = np.where(generator.random(shape) < steady, reading, own)
            yield self._held(_repeated(world, codes))

    def _held(self, study: sa.Annotations) -> Seen | None:
        found = sa.intra_rater_agreement(study, distance=self.distance, level=LEVEL)
        one = found.by_rater[0][1]
        if found.pooled.reason is not None or one.reason is not None:
            return None
        rows = {"pooled": found.pooled, "one rater": one}
        return {name: held(row.interval(LEVEL), self.alpha) for name, row in rows.items()}


def _repeated(world: World, codes: Codes) -> sa.Annotations:
    """Return the study of answers of shape (occasions, units, raters)."""
    values = world.template.study.values  # type: ignore[union-attr]
    _, units, raters = (axis.ravel() for axis in np.indices(codes.shape))
    cells = np.empty(codes.size, dtype=object)
    cells[:] = [values[code] for code in codes.ravel()]
    what = "value" if isinstance(values[0], str) else "labels"
    frame = pd.DataFrame({"unit": units, "rater": raters, what: cells})
    return sa.Annotations.from_long(frame, duplicates="repeats", **{what: what})


def component_cells() -> Iterator[Variances | Repeats]:
    for answers, R, n in product((("masi", TILT), ("masi", 0.0), ("nominal", TILT)), RATERS, UNITS):
        yield Variances(*answers, R, n, n_studies=400 if R > 3 else 1_000)
    for habits, R, n in product((0.0, 1.0), RATERS, UNITS):
        yield Variances("numbers", habits, R, n, n_studies=400 if R > 3 else 1_000)
    for R, n in product(RATERS, UNITS[1:]):
        yield Variances("masi", TILT, R, n, MISSED, n_studies=400)
    who = (("alike", 1), ("alike", 3), ("hard", 1), ("hard", 3), ("hard", 8))
    for distance, (units, R), alpha, n in product(("nominal", "masi"), who, (0.7, 0.9), UNITS):
        yield Repeats(distance, units, alpha, R, n, n_studies=500)
