"""Intervals of how far models agree with themselves, with one another and with people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import ClassVar

import numpy as np

import setagree as sa
from tests.benchmarks.coverage.intervals import LEVEL
from tests.benchmarks.coverage.worlds import URNS, Codes, Floats, Units, World, as_study
from tests.benchmarks.decisions.cells import LEAST, Decisions, Generator, Seen, held

UNITS = (30, 100, 300)
RUNS, OTHERS, WITH_PEOPLE, PEOPLE = (
    "same model, other run",
    "other model",
    "models with people",
    "people with one another",
)
ONE_MODEL, LOST = "one model, other run", "lost with people, low end"
EVERY = (RUNS, ONE_MODEL, OTHERS, WITH_PEOPLE, PEOPLE, LOST)
FACETS = ("model", "run")
MODELS, N_PEOPLE = 2, 3
"""Models, each of which answers twice, and people."""


@dataclass(frozen=True)
class Facets(Decisions):
    """Studies of two models in two runs each, and of three people.

    A unit has an answer that people give with one probability, and that is a model's reading of the
    unit with another. A run gives its model's reading with a third; whoever gives neither draws
    from the urn.

    - units: Whether half of the units are better known, and read more steadily, than the
      others.
    - steady: The mean probability that a run gives the reading of its model.
    """

    distance: str
    units: str
    steady: float
    n_units: int

    family: ClassVar[str] = "facets"

    @property
    def promised(self) -> dict[str, float]:
        """The coverage of all intervals from 100 units on; of fewer it is told, not promised."""
        return dict.fromkeys(EVERY, LEAST) if self.n_units >= 100 else {}

    @cached_property
    def chances(self) -> Floats:
        """Probabilities of the reading, of a run and of people, of both halves of the units."""
        spread = 0.1 if self.units == "hard" else 0.0
        means = np.array([[0.8], [self.steady], [0.75]])
        return np.asarray(means + np.array([-spread, spread]))

    @property
    def truth(self) -> dict[str, float]:
        """The agreement of the pairs of each kind, and what is lost between models and people."""
        reading, run, people = self.chances
        found = {
            RUNS: run**2,
            ONE_MODEL: run**2,
            OTHERS: (reading * run) ** 2,
            WITH_PEOPLE: reading * run * people,
            PEOPLE: people**2,
            LOST: (run**2 + people**2) / 2 - reading * run * people,
        }
        return {name: float(one.mean()) for name, one in found.items()}

    def _study(self, generator: Generator) -> sa.Annotations:
        labels = "skewed" if self.distance == "nominal" else "equal"
        urn = World(self.distance, (Units(1.0, 0.0, URNS[self.distance, labels]),))
        half = generator.integers(2, size=(self.n_units, 1))
        reading, run, people = (one[half] for one in self.chances)
        n_runs, alike = 2 * MODELS, np.zeros((1, self.n_units, 1), int)

        def drawn(n: int) -> Codes:
            return urn.draw(alike, np.zeros((1, 1, n), int), generator)[0]

        def given(p: Floats, answer: Codes, n: int) -> Codes:
            return np.where(generator.random((self.n_units, n)) < p, answer, drawn(n))

        answer = drawn(1)
        own = np.repeat(given(reading, answer, MODELS), 2, axis=1)
        codes = np.hstack([given(run, own, n_runs), given(people, answer, N_PEOPLE)])
        study = as_study(urn.template, codes).with_used_values()
        runs = study.raters[:n_runs].tolist()
        places = {rater: (f"model {k // 2}", k % 2) for k, rater in enumerate(runs)}
        columns = {name: {r: at[k] for r, at in places.items()} for k, name in enumerate(FACETS)}
        return study.with_raters(columns)

    def seen(self, generator: Generator) -> Iterator[Seen]:
        truth = self.truth
        for _ in range(self.n_studies):
            study = self._study(generator)
            found = sa.facet_agreement(study, facets=FACETS, distance=self.distance, level=LEVEL)
            rows = found.frame.set_index(["pairs", "who"])
            out: Seen = {}
            for name in EVERY[:-1]:
                row = rows.loc[(RUNS, "model 0") if name == ONE_MODEL else (name, "all")]
                out[name] = held((row["low"], row["high"]), truth[name])
            least = rows.loc[(WITH_PEOPLE, "all"), "difference_low"]
            yield out | {LOST: held((least, np.inf), truth[LOST])}


def facet_cells() -> Iterator[Facets]:
    for distance, units, steady in product(("nominal", "masi"), ("alike", "hard"), (0.7, 0.9)):
        for n in UNITS:
            yield Facets(distance, units, steady, n)
