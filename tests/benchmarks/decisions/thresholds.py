"""`at_least` where the truth is the threshold, and `acceptance_plan` against plain sums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from math import comb
from typing import ClassVar

import numpy as np

import setagree as sa
from tests.benchmarks.coverage import batch
from tests.benchmarks.coverage.intervals import CHECKED, MISSED, Answers, Hard, Plain
from tests.benchmarks.coverage.worlds import Floats, as_study
from tests.benchmarks.decisions.cells import MOST, Decisions, Generator, Seen, in_batches

UNITS = (20, 50, 100)
ALPHAS = (0.4, 0.667, 0.8, 0.9)
LEVELS = (0.95, 0.99)
MOST_BELOW = 0.06


@dataclass(frozen=True)
class Thresholds(Decisions):
    """Studies whose true agreement is exactly the threshold.

    - units: Whether units are known by all or guessed by all.
    - alpha: The truth and the threshold.
    """

    distance: str
    labels: str
    units: str
    alpha: float
    n_raters: int
    n_units: int
    missing: float = 0.0
    n_studies: int = field(default=4_000, kw_only=True)

    family: ClassVar[str] = "threshold"

    @property
    def promised(self) -> dict[str, float]:
        """The size of the score interval, which `at_least` uses; "below" is said more often."""
        return {"score": MOST, "score below": MOST_BELOW}

    def seen(self, generator: Generator) -> Iterator[Seen | None]:
        """Yield how often the coefficient is called at least, and below, the threshold.

        Both are errors of a one-sided interval: the first promises too much, the second too little.
        """
        kind: type[Plain] = Plain if self.units == "alike" else Hard
        design = kind(
            self.distance, self.labels, self.alpha, self.n_raters, self.n_units, 0, self.missing
        )
        for start, n in enumerate(in_batches(self.n_studies)):
            answers = design.answers(n, generator)
            alpha, said = self._said(design, answers)
            if not start:
                self._check(design, answers, said)
            for k in range(n):
                seen = {name: tuple(one[:, k].tolist()) for name, one in said.items()}
                yield seen if np.isfinite(alpha[k]) else None

    def _said(self, design: Plain, answers: Answers) -> tuple[Floats, dict[str, Floats]]:
        """Return alpha, and whether there is no end, and what is said at both levels."""
        D, out = design.world.distances, {}
        with np.errstate(divide="ignore", invalid="ignore"):
            studies = batch.Studies.of(batch.counted(answers.codes, answers.given, len(D)), D)
            for method in ("score", "t"):
                ends = [getattr(studies, method)(2 * level - 1) for level in LEVELS]
                none = np.isnan(ends[0][0])
                out[method] = np.array([none, *(low >= self.alpha for low, _ in ends)])
                below = [none, *(high < self.alpha for _, high in ends)]
                out[f"{method} below"] = np.array(below)
            return studies.alpha, {name: one.astype(float) for name, one in out.items()}

    def _check(self, design: Plain, answers: Answers, said: dict[str, Floats]) -> None:
        """Compare the first studies with what the library says of them."""
        some = Answers(*(one[:CHECKED] for one in answers))
        for k, (codes, who, given) in enumerate(zip(*some, strict=True)):
            row = design.scored(as_study(design.world.template, codes, given, who, self.n_raters))
            found = sa.at_least(row, self.alpha)
            ours = [bool(said[name][1, k]) for name in ("score", "score below")]
            if row.reason is None and ours != [found.passes, found.high < self.alpha]:
                raise AssertionError(f"{self.name}: {ours} and {found!r}")


def threshold_cells() -> Iterator[Thresholds]:
    both, two = ("nominal", "masi"), ("equal", "skewed")
    for *design, alpha, R, n in product(both, two, ALPHAS, (2, 3, 5), UNITS):
        yield Thresholds(*design, "alike", alpha, R, n)
    for *design, alpha, n in product(both, two, ALPHAS, UNITS):
        yield Thresholds(*design, "alike", alpha, 3, n, MISSED)
    for *design, alpha, R, n in product(both, ("equal",), ALPHAS[1:3], (2, 5), UNITS):
        yield Thresholds(*design, "hard", alpha, R, n)


def accepted(n: int, c: int, rate: float) -> float:
    """P(X <= c) for errors in n answers, summed."""
    return sum(comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(c + 1))


PLANS = ((0.01, 0.05), (0.02, 0.10), (0.05, 0.10), (0.05, 0.20), (0.10, 0.30))
"""Good and bad error rates."""


def risks() -> list[tuple[sa.AcceptancePlan, float, float]]:
    """Return plans with the risks of the producer and of the consumer, exactly."""
    plans = [sa.acceptance_plan(acceptable_rate=good, rejectable_rate=bad) for good, bad in PLANS]
    return [
        (
            plan,
            1 - accepted(plan.n, plan.c, plan.acceptable_rate),
            accepted(plan.n, plan.c, plan.rejectable_rate),
        )
        for plan in plans
    ]
