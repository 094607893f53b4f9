"""Queues of further ratings: what they do to alpha and its interval, and to the consensus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

import setagree as sa
from setagree.study.simulation import _study
from tests.benchmarks.coverage.intervals import LEVEL, drawn_types
from tests.benchmarks.coverage.worlds import (
    Codes,
    World,
    as_study,
    hard_units,
    scored,
    slips,
    two_parts,
)
from tests.benchmarks.decisions.cells import LEAST, Decisions, Generator, Seen, held

Counts: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

FIRST = 2
"""Ratings of each unit before there is a queue."""
DEPTH = 40
"""Ratings of a unit that are ready."""
ROUNDS = 10
DESIGN, FEWEST, QUEUE = "first two", "fewest first", "queue"
DISAGREED, UNTIL = "most disagreement", "until two agree"


def _asked(queue: sa.Queue, n_units: int) -> Counts:
    more = np.zeros(n_units, dtype=np.int64)
    more[queue.frame["unit"].to_numpy(dtype=np.int64)] = queue.frame["more"].to_numpy()
    return more


@dataclass(frozen=True)
class Adaptive(Decisions):
    """Studies in which later ratings were chosen, some by the answers before them.

    - units: Whether two fifths of them are harder, and have other answers; or all are known by
      all or guessed by all.
    - alpha: The truth.
    - mean: Ratings of a unit in the end, on average.
    """

    distance: str
    units: str
    alpha: float
    n_units: int = 200
    mean: int = 4

    family: ClassVar[str] = "adaptive"

    @property
    def promised(self) -> dict[str, float]:
        """The coverage where no answer was looked at."""
        return {DESIGN: LEAST, FEWEST: LEAST}

    @property
    def world(self) -> World:
        if self.units == "alike":
            return slips(self.distance, "equal", self.alpha)
        if self.units == "known":
            return hard_units(self.distance, "equal", self.alpha)
        return two_parts(self.distance, self.alpha, 0.4)

    def seen(self, generator: Generator) -> Iterator[Seen]:
        """Yield whether the interval holds after each queue, and by how much alpha is off."""
        world, n = self.world, self.n_units
        for _ in range(self.n_studies):
            types = drawn_types(world, (1, n, 1), generator)
            codes = world.draw(types, np.zeros((1, 1, DEPTH), dtype=np.int64), generator)[0]
            out = {DESIGN: self._judged(codes, np.full(n, FIRST))}
            for policy, choose in self._policies(codes, generator).items():
                out[policy] = self._judged(codes, self._filled(choose))
            yield out

    def _policies(
        self, codes: Codes, generator: Generator
    ) -> dict[str, Callable[[Counts, int], Counts]]:
        """Return what says, by the ratings so far and a budget, how many more each unit gets."""
        D = self.world.distances

        def by(goal: str) -> Callable[[Counts, int], Counts]:
            def ask(k: Counts, budget: int) -> Counts:
                study = self._study(codes, k)
                found = sa.next_ratings(study, budget=budget, goal=goal, rng=generator)  # type: ignore[arg-type]
                return _asked(found, len(k))

            return ask

        def most(k: Counts, budget: int, *, until: bool = False) -> Counts:
            there = np.arange(DEPTH) < k[:, None]
            pairs = there[:, :, None] & there[:, None] & ~np.eye(DEPTH, dtype=bool)
            apart = np.where(pairs, D[codes[:, :, None], codes[:, None]], 0)
            off = apart.sum(axis=(1, 2)) / (k * (k - 1))
            if until:
                off = (np.where(pairs, apart, 1).min(axis=(1, 2)) > 0) * 1.0
            order = np.lexsort((generator.random(len(k)), -off))[:budget]
            more = np.zeros(len(k), dtype=np.int64)
            more[order] = off[order] > 0
            return more

        return {
            FEWEST: by("agreement"),
            QUEUE: by("consensus"),
            DISAGREED: most,
            UNTIL: lambda k, budget: most(k, budget, until=True),
        }

    def _filled(self, choose: Callable[[Counts, int], Counts]) -> Counts:
        """Return how many ratings each unit has in the end."""
        k = np.full(self.n_units, FIRST)
        budget = (self.mean - FIRST) * self.n_units // ROUNDS
        for _ in range(ROUNDS):
            k = np.minimum(k + choose(k, budget), DEPTH)
        return k

    def _study(self, codes: Codes, k: Counts) -> sa.Annotations:
        return as_study(self.world.template, codes, np.arange(DEPTH) < k[:, None])

    def _judged(self, codes: Codes, k: Counts) -> tuple[float, ...]:
        row = scored(self.world.template, self._study(codes, k))
        ends = row.interval(LEVEL)
        return (*held(ends, self.alpha), row.estimate - self.alpha)


UNITS = ("alike", "hard", "known")
RANDOM = "at random"
AT = (3, 5)
"""Ratings of a unit, on average, at which the consensus is looked at."""


@dataclass(frozen=True)
class Gain(Decisions):
    """Studies of which the majority of each label is held against the truth.

    A rater knows of each label whether it is true, of hard units half as often.

    - hard: Share of units that are hard.
    - skill: How often a rater knows a label of an easy unit; else it is guessed by how frequent
      it is.
    """

    n_labels: int
    hard: float
    skill: float = 0.9
    n_units: int = 200

    family: ClassVar[str] = "gain"

    def seen(self, generator: Generator) -> Iterator[Seen]:
        """Yield the share of units whose label set is right, and what the queue gains."""
        prevalence = min(0.3, 2 / self.n_labels)
        shape = (self.n_units, DEPTH, self.n_labels)
        for _ in range(self.n_studies):
            truth = generator.random((self.n_units, 1, self.n_labels)) < prevalence
            hard = generator.random((self.n_units, 1, 1)) < self.hard
            knows = generator.random(shape) < np.where(hard, self.skill / 2, self.skill)
            flags = np.where(knows, truth, generator.random(shape) < prevalence)
            out: Seen = {}
            right = {
                policy: self._right(flags, truth[:, 0], policy, generator)
                for policy in (RANDOM, FEWEST, QUEUE)
            }
            for policy, shares in right.items():
                gained = np.subtract(shares, right[FEWEST])
                out[policy] = (0.0, 0.0, 0.0, *shares, *gained, *gained**2)
            yield out

    def _right(self, flags: Flags, truth: Flags, policy: str, generator: Generator) -> list[float]:
        """Return the share of units that are right at each mean number of ratings."""
        k, shares = np.full(self.n_units, FIRST), []
        budget = self.n_units // 4
        while len(shares) < len(AT):
            k = np.minimum(k + self._more(flags, k, budget, policy, generator), DEPTH)
            if k.mean() >= AT[len(shares)]:
                votes = (flags & (np.arange(DEPTH) < k[:, None])[..., None]).sum(axis=1)
                answer = votes > k[:, None] / 2
                shares.append(float((answer == truth).all(axis=1).mean()))
        return shares

    def _more(
        self, flags: Flags, k: Counts, budget: int, policy: str, generator: Generator
    ) -> Counts:
        if policy == RANDOM:
            drawn = generator.integers(self.n_units, size=budget)
            return np.bincount(drawn, minlength=self.n_units)
        if policy == FEWEST:
            order = np.lexsort((generator.random(self.n_units), k))[:budget]
            return np.bincount(order, minlength=self.n_units)
        packed = np.packbits(flags, axis=2)
        keys = np.ascontiguousarray(packed).view(f"V{packed.shape[2]}")[..., 0]
        names = [f"l{label}" for label in range(self.n_labels)]
        study = _study(keys, np.arange(DEPTH) < k[:, None], names)
        queue = sa.next_ratings(study, budget=budget)
        queue.frame["unit"] = [int(unit[1:]) - 1 for unit in queue.frame["unit"]]
        return _asked(queue, self.n_units)


def queue_cells() -> Iterator[Adaptive | Gain]:
    for distance, units, alpha in product(("nominal", "masi"), UNITS, (0.4, 0.7)):
        yield Adaptive(distance, units, alpha, n_studies=60 if units == "known" else 120)
    for n_labels, hard in ((5, 0.4), (5, 0.2), (5, 0.0), (20, 0.2), (50, 0.2)):
        yield Gain(n_labels, hard, n_studies=60)
