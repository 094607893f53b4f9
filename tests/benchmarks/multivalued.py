"""mv-alpha with many labels."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import setagree as sa
from tests.benchmarks.table import Row, duration
from tests.benchmarks.timing import alternate

BAR = 0.2
MAX_SIZE = 10


def many_labels(*, quick: bool) -> Iterator[Row]:
    """Time mv-alpha with 300 labels in sets of up to 10."""
    study = sa.Annotations.from_triples(_triples(1_000, 3, n_labels=300))
    estimate = sa.mv_alpha(study).estimate
    taken = alternate({"ours": lambda: sa.mv_alpha(study)}, rounds=3 if quick else 7)["ours"]
    yield Row(
        f"mv-alpha: {study.n_units:,} units x 3, {len(study.labels)} labels, sizes to {MAX_SIZE}",
        duration(taken),
        f"estimate {estimate:.6f}",
        "",
        f"<= {BAR} s, finite",
        taken <= BAR and math.isfinite(estimate),
    )


def _triples(n_units: int, n_raters: int, *, n_labels: int) -> list[tuple[str, str, set[str]]]:
    """Return ratings that share most of their labels within a unit."""
    rng = random.Random(1)
    rows = []
    for unit in range(n_units):
        pool = rng.sample(range(n_labels), MAX_SIZE + 2)
        for rater in range(n_raters):
            answer = {f"label {code}" for code in rng.sample(pool, rng.randint(1, MAX_SIZE))}
            rows.append((f"rater {rater}", f"doc {unit}", answer))
    return rows
