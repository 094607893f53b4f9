"""A distance written in Python, beside the bare loop over pairs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

import setagree as sa
from tests.benchmarks import data
from tests.benchmarks.peers import exact_masi
from tests.benchmarks.table import Row, at_most, duration
from tests.benchmarks.timing import alternate

BAR = 1.3
COUNTS = {1: 20, 2: 160, 3: 600, 4: 220}


def custom_callback(*, quick: bool) -> Iterator[Row]:
    """Compare an alpha with a Python distance with calling it once for each pair."""
    masks = data.distinct_masks(COUNTS, n_labels=30)
    study = _study(data.as_sets(masks))
    calls = {"ours": lambda: _alpha(study), "loop": lambda: _loop(study)}
    best = alternate(calls, rounds=3 if quick else 7)
    yield at_most(
        f"alpha with a Python callback, K = {study.n_values:,}",
        ours=duration(best["ours"]),
        other=f"double loop over pairs: {duration(best['loop'])}",
        ratio=best["ours"] / best["loop"],
        bar=BAR,
    )


def _study(answers: list[frozenset[str]]) -> sa.Annotations:
    """Return 1,000 units x 3 raters which use all the answers."""
    codes = np.random.default_rng(1).permutation(np.arange(3 * len(answers)) % len(answers))
    columns = {"doc": np.arange(len(codes)) // 3, "who": np.arange(len(codes)) % 3}
    frame = pd.DataFrame(columns | {"tags": [answers[code] for code in codes]})
    return sa.Annotations.from_long(frame, unit="doc", rater="who", labels="tags")


def _alpha(study: sa.Annotations) -> float:
    alpha = sa.krippendorff_alpha(study, distance=exact_masi)
    return alpha.estimate + alpha.standard_error


def _loop(study: sa.Annotations) -> list[float]:
    """Return the distance of each unordered pair of distinct values, by the barest loop."""
    values = study.values
    return [
        exact_masi(first, second)
        for place, first in enumerate(values)
        for second in values[place + 1 :]
    ]
