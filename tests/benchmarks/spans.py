"""Labelled spans: from a table of spans to alpha."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

import setagree as sa
from tests.benchmarks.table import Row, at_most
from tests.benchmarks.timing import alternate

BAR, GROWTH_BAR = 2.0, 1.2
LENGTH, N_RATERS, N_SPANS = 10_000, 3, 30


def made(n_documents: int) -> pd.DataFrame:
    """Return random spans of three raters, 30 in each document of 10,000 characters."""
    generator, n = np.random.default_rng(1), n_documents * N_RATERS * N_SPANS
    start = generator.integers(0, LENGTH - 200, n)
    document = np.repeat([f"d{k}" for k in range(n_documents)], N_RATERS * N_SPANS)
    rater = np.tile(np.repeat(["a", "b", "c"], N_SPANS), n_documents)
    label, end = generator.choice([*"PQRST"], n), start + generator.integers(1, 200, n)
    columns = {"document": document, "rater": rater, "start": start, "end": end, "label": label}
    return pd.DataFrame(columns).assign(length=LENGTH)


def spans(*, quick: bool) -> Iterator[Row]:
    """Yield the time of 1,000 documents, and its growth from a tenth of them."""
    n = 200 if quick else 1_000
    tables = {size: made(size) for size in (n // 10, n)}

    def scored(frame: pd.DataFrame) -> sa.Agreement:
        return sa.krippendorff_alpha(sa.Annotations.from_spans(frame, length="length"))

    best = alternate(
        {str(size): lambda frame=frame: scored(frame) for size, frame in tables.items()}, rounds=3
    )
    few, many = best.values()
    what = f"alpha of {n:,} documents of 10,000 characters, 3 raters, 30 spans each"
    yield Row(what, f"{many:.2f} s", "", "", f"<= {BAR:g} s", many <= BAR)
    growth = np.log10(many / few)
    yield at_most(
        f"growth of the time of spans from {n // 10:,} to {n:,} documents, exponent",
        ours=f"{many:.2f} s",
        other=f"{few:.3f} s",
        ratio=float(growth),
        bar=GROWTH_BAR,
    )
