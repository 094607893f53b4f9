"""What the cells of the study share: a name, studies one after another, and what is counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from tests.benchmarks.coverage.intervals import verdict
from tests.benchmarks.coverage.record import Found

Generator: TypeAlias = np.random.Generator
Flags: TypeAlias = npt.NDArray[np.bool_]
Seen: TypeAlias = dict[str, tuple[float, ...]]
"""What is seen in one study: three counts for each test or interval, and further numbers."""

RESULTS = Path(__file__).with_name("results.csv")
COUNTED = 3
MOST, LEAST = 0.055, 0.94
"""The size of a test at 0.05, and the coverage of a 95% interval, that are promised."""


@dataclass(frozen=True)
class Decisions:
    """Studies of one design, in which a decision is taken.

    - suffix: What tells a second run from the first.
    """

    n_studies: int = field(default=1_000, kw_only=True)
    suffix: str = field(default="", kw_only=True)

    family: ClassVar[str]

    @property
    def name(self) -> str:
        given = {one.name: getattr(self, one.name) for one in fields(self) if not one.kw_only}
        told = (f"{key}={_short(value)}" for key, value in given.items())
        return f"{self.family} {' '.join(told)}{self.suffix}"

    @property
    def promised(self) -> Mapping[str, float]:
        """The most that a test may reject at 0.05, or the least that an interval must hold."""
        return {}

    def kept(self, found: Found, key: str, slack: float = 0.0) -> bool:
        """Say whether a promise is kept up to a number of Monte-Carlo errors."""
        bound = self.promised[key]
        error = slack * np.sqrt(bound * (1 - bound) / found.n)
        if bound < 0.5:
            return bool(found.size(key, 0.05) <= bound + error)
        return bool(found.coverage(key) >= bound - error)

    def misses(self, found: Found) -> bool:
        """Say whether a promise is missed by more than a Monte-Carlo error."""
        return not all(self.kept(found, key, slack=1) for key in self.promised)

    def seen(self, generator: Generator) -> Iterable[Seen | None]:
        raise NotImplementedError

    def run(self, generator: Generator) -> Found:
        """Simulate the studies and count: sums of three counts, means of further numbers."""
        studies = [*self.seen(generator)]
        seen: dict[str, list[tuple[float, ...]]] = {}
        for one in studies:
            for key, numbers in (one or {}).items():
                seen.setdefault(key, []).append(numbers)
        left_out = sum(one is None for one in studies)
        return Found(len(studies), left_out, {key: _added(rows) for key, rows in seen.items()})


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{value}"


def _added(rows: list[tuple[float, ...]]) -> tuple[float, ...]:
    table = np.array(rows, dtype=float)
    counts, more = table[:, :COUNTED].sum(axis=0), table[:, COUNTED:]
    there = np.isfinite(more)
    means = np.where(there, more, 0).sum(axis=0) / np.maximum(1, there.sum(axis=0))
    return (*counts.tolist(), *means.tolist())


def rejected(p: float) -> tuple[float, ...]:
    """Return whether there is no p, and whether it is at most 0.05 and 0.01."""
    return float(np.isnan(p)), float(p <= 0.05 + 1e-9), float(p <= 0.01 + 1e-9)


def held(ends: tuple[float, float], truth: float) -> tuple[float, ...]:
    """Return whether an interval is none, below the truth, above it; and its width."""
    return tuple(map(float, verdict(*ends, truth)))


def in_batches(n: int, size: int = 250) -> Iterator[int]:
    """Yield numbers of studies that are drawn at once."""
    for start in range(0, n, size):
        yield min(size, n - start)
