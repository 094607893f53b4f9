"""The file of results: a line a cell, added as soon as the cell is done."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from zlib import crc32

import numpy as np

RESULTS = Path(__file__).with_name("results.csv")
SEED = 20
AGAIN = " again"
"""Ends the name of a cell that was drawn anew, because it missed a promise the first time."""
HEADER = ("cell", "studies", "left_out", "results")


@dataclass(frozen=True)
class Found:
    """What was counted in the studies of a cell.

    - left_out: Those without an estimate, such as those with one used value.
    - results: For each kind of interval: studies without one, with one that lies below the
      truth, above it, and the mean width. For each test: studies without a p, with p <= 0.05,
      with p <= 0.01.
    """

    n_studies: int
    left_out: int
    results: Mapping[str, tuple[float, ...]]

    @property
    def n(self) -> int:
        return self.n_studies - self.left_out

    def coverage(self, method: str) -> float:
        """Return the share of studies whose interval holds the truth; one without does not."""
        return 1 - sum(self.results[method][:3]) / self.n

    def size(self, test: str, level: float) -> float:
        """Return the share of studies with a p of at most 0.05 or 0.01."""
        return self.results[test][{0.05: 1, 0.01: 2}[level]] / self.n


class Cell(Protocol):
    """A design of studies that are counted together."""

    @property
    def name(self) -> str: ...

    def run(self, generator: np.random.Generator) -> Found: ...

    def misses(self, found: Found) -> bool:
        """Say whether a promise is missed, by whatever little."""
        ...


def run(cell: Cell) -> Found:
    """Return what a cell gives; its name is its seed."""
    return cell.run(np.random.default_rng([SEED, crc32(cell.name.encode())]))


def read(path: Path = RESULTS) -> dict[str, Found]:
    """Return what is known, by the names of cells."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as lines:
        rows = [*csv.reader(lines)][1:]
    return {
        name: Found(int(n), int(left_out), dict(map(_result, results.split("; "))))
        for name, n, left_out, results in rows
    }


def _result(text: str) -> tuple[str, tuple[float, ...]]:
    name, _, numbers = text.rpartition(" ")
    return name, tuple(map(float, numbers.split("/")))


def write(path: Path, known: Mapping[str, Found]) -> None:
    path.write_text(",".join(HEADER) + "\n", encoding="utf-8")
    append(path, known.items())


def append(path: Path, found: Iterable[tuple[str, Found]]) -> None:
    with path.open("a", encoding="utf-8", newline="") as lines:
        out = csv.writer(lines, lineterminator="\n")
        for name, one in found:
            results = "; ".join(
                f"{key} {'/'.join(f'{x:.4g}' for x in numbers)}"
                for key, numbers in one.results.items()
            )
            out.writerow((name, one.n_studies, one.left_out, results))
