"""Fieller's interval of alpha for labelled spans, over documents.

Documents have 150 to 250 characters and three marks of 30, with one of two labels. A rater finds
each mark with a probability, and otherwise marks 30 characters somewhere, with a random label.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
from numpy.random import Generator

import setagree as sa
from tests.benchmarks.coverage.defaults import LEAST, LEVEL, bounds
from tests.benchmarks.coverage.intervals import summed, verdict
from tests.benchmarks.coverage.record import Found

LENGTH, N_MARKS = 30, 3
N_TRUTH = 20_000
"""Documents of the study that gives the alpha of a world."""


def marked(n_documents: int, found: float, generator: Generator) -> sa.Annotations:
    """Return a study of two raters who find each mark with a probability."""
    size = generator.integers(150, 251, n_documents)
    shape = (n_documents, N_MARKS)
    room = (size - LENGTH)[:, None]
    place = (generator.random(shape) * room).astype(int)
    label = generator.integers(2, size=shape)
    tables = []
    for rater in ("a", "b"):
        own = generator.random(shape) < found
        start = np.where(own, place, (generator.random(shape) * room).astype(int))
        kind = np.where(own, label, generator.integers(2, size=shape))
        document = np.repeat(np.arange(n_documents), N_MARKS)
        columns = {"document": document, "start": start.ravel(), "label": kind.ravel()}
        tables.append(pd.DataFrame(columns).assign(rater=rater))
    frame = pd.concat(tables)
    frame = frame.assign(end=frame["start"] + LENGTH, label=frame["label"].map({0: "P", 1: "Q"}))
    return sa.Annotations.from_spans(frame, length=dict(enumerate(size.tolist())))


@cache
def truth_of(found: float) -> float:
    """Return the alpha of a world, from a study of `N_TRUTH` documents."""
    return sa.krippendorff_alpha(marked(N_TRUTH, found, np.random.default_rng(N_TRUTH))).estimate


@dataclass(frozen=True)
class OfSpans:
    """Fieller's interval, the t interval and the p-value in one world of labelled spans.

    - found: Probability that a rater finds a mark.
    - suffix: What tells a second run from the first.
    """

    found: float
    n_documents: int
    n_studies: int = 1_000
    suffix: str = ""

    @property
    def name(self) -> str:
        """The parameters."""
        return f"spans found={self.found:g} documents={self.n_documents}{self.suffix}"

    def misses(self, found: Found) -> bool:
        """Return whether Fieller's interval covers significantly less than `LEAST`."""
        none, low, high, _ = found.results["fieller"]
        n = found.n - none
        return bounds(n - low - high, n)[1] < LEAST

    def run(self, generator: Generator) -> Found:
        """Simulate the studies and count."""
        truth, n, left_out = truth_of(self.found), self.n_studies, 0
        counts: dict[str, list[tuple[float, ...]]] = {"fieller": [], "t": []}
        for _ in range(n):
            alpha = sa.krippendorff_alpha(marked(self.n_documents, self.found, generator))
            if alpha.reason is not None:
                left_out += 1
                continue
            for method, rows in counts.items():
                rows.append(verdict(*alpha.interval(LEVEL, method=method), truth))
        results = {name: summed(*np.array(rows, dtype=float).T) for name, rows in counts.items()}
        return Found(n, left_out, results)


def span_cells() -> Iterator[OfSpans]:
    """Yield all cells: alpha 0, 0.2 and 0.6, nearly."""
    for found, n in product((0.0, 0.5, 0.8), (10, 20, 50)):
        yield OfSpans(found, n)
