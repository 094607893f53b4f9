"""x' W y, the chance term, beside dense products."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

import setagree as sa
from tests.benchmarks import data, dense
from tests.benchmarks.table import Row, at_least, at_most, duration
from tests.benchmarks.timing import alternate
from tests.benchmarks.vocabularies import large_vocabularies

SPEED_BAR = 200
MEMORY_BAR = 64
TOLERANCE = 1e-12
# Sets of each size per 1,000 sets: mean size 3.1, and 64 labels so that a set is one word,
# which is the best case of the dense references.
SHARES = {1: 1, 2: 40, 3: 819, 4: 120, 5: 20}


def chance_term(*, quick: bool) -> Iterator[Row]:
    """Compare x' W y with blocked dense products of the same numbers."""
    thousands = 10 if quick else 50
    counts = {size: share * thousands for size, share in SHARES.items()}
    masks = data.distinct_masks(counts, n_labels=64)
    study = _study(masks)
    masks = _aligned(masks, study)
    x, y = np.random.default_rng(1).dirichlet(np.ones(len(masks)), size=2)
    product = _product(study, x, y)
    times = alternate({"cold": product, "warm": _warm(study, x, y)}, rounds=7)
    what = f"x'Wy at K = {len(masks):,}"
    for name in (dense.by_matmul, dense.by_popcount):
        taken = alternate({"dense": lambda: name(masks, x, y)}, rounds=1)["dense"]  # noqa: B023
        for state, ours in times.items():
            yield _faster(f"{what}, {state}, against blocks", ours, name.__name__, taken)
    yield _same(what, product(), dense.by_popcount(masks, x, y))
    yield _memory(what, product)
    yield from large_vocabularies(quick=quick)


def _study(masks: data.Masks) -> sa.Annotations:
    """Return a study of two raters in which each set is given once."""
    rows = np.arange(len(masks))
    frame = pd.DataFrame({"doc": rows // 2, "who": rows % 2, "tags": data.as_sets(masks)})
    return sa.Annotations.from_long(frame, unit="doc", rater="who", labels="tags")


def _aligned(masks: data.Masks, study: sa.Annotations) -> data.Masks:
    place = dict(zip(data.as_sets(masks), masks.tolist(), strict=True))
    return np.array([place[answer] for answer in study.values], dtype=np.uint64)


def _product(study: sa.Annotations, x: dense.Floats, y: dense.Floats) -> Callable[[], float]:
    """Return x' W y as a call that builds the weights, too."""
    return lambda: _dot(x, sa.weights(study, "masi").dot(y))


def _warm(study: sa.Annotations, x: dense.Floats, y: dense.Floats) -> Callable[[], float]:
    """Return x' W y as a call on weights that exist."""
    weights = sa.weights(study, "masi")
    return lambda: _dot(x, weights.dot(y))


def _dot(x: dense.Floats, y: dense.Floats) -> float:
    """Return x' y on one core; the threads of BLAS would be counted as time of ours."""
    return float(np.einsum("i,i", x, y))


def _faster(what: str, ours: float, name: str, taken: float) -> Row:
    """Return the row of the times; the bar is that of a dense product, which bit counts are not."""
    other, ratio = f"{name}: {duration(taken)}", taken / ours
    if name == dense.by_popcount.__name__:
        return Row(what, duration(ours), other, f"{ratio:,.0f}")
    return at_least(what, ours=duration(ours), other=other, ratio=ratio, bar=SPEED_BAR)


def _same(what: str, ours: float, theirs: float) -> Row:
    gap = abs(ours / theirs - 1)
    return Row(
        f"{what}: the same number",
        f"{ours:.15f}",
        f"{theirs:.15f}",
        f"differ by {gap:.1e}",
        f"<= {TOLERANCE:g}",
        gap <= TOLERANCE,
    )


def _memory(what: str, product: Callable[[], float]) -> Row:
    """Return the row of what all arrays of the call take together at their peak."""
    tracemalloc.start()
    product()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    what = f"{what}: all allocations of the call together (no array can be larger)"
    return at_most(what, ours=f"{peak:.1f} MB", other="", ratio=peak, bar=MEMORY_BAR)
