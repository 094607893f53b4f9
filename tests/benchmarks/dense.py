"""Two honest dense references for x' W y under MASI, with bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tests.benchmarks.data import Masks

Floats = npt.NDArray[np.float64]
PAIRS = 1 << 17  # pairs at a time: what fits the second-level cache is fastest
ROWS = 128  # of a tile of the matrix product


def by_matmul(masks: Masks, x: Floats, y: Floats) -> float:
    """Return x' W y from blocks of a 0/1 matrix product."""
    bits = masks[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)
    flags = bits.astype(np.float32)[:, bits.any(axis=0)]
    sizes = np.bitwise_count(masks).astype(np.float64)
    total = 0.0
    for rows in _tiles(len(masks), ROWS):
        for columns in _tiles(len(masks), PAIRS // ROWS):
            shared = (flags[rows] @ flags[columns].T).astype(np.float64)
            credit = _masi_credit(sizes[rows, None], sizes[columns], shared)
            total += float(x[rows] @ (credit @ y[columns]))
    return total


def by_popcount(masks: Masks, x: Floats, y: Floats) -> float:
    """Return x' W y from blocks of population counts and a credit table for each pair of sizes."""
    sizes = np.bitwise_count(masks)
    groups = [(int(size), np.flatnonzero(sizes == size)) for size in np.unique(sizes)]
    total = 0.0
    for a, left in groups:
        for b, right in groups:
            credit = _masi_credit(a, b, np.arange(min(a, b) + 1.0))
            columns, weights = masks[right], y[right]
            for tile in _tiles(len(left), max(1, PAIRS // len(right))):
                rows = left[tile]
                shared = np.bitwise_count(masks[rows, None] & columns)
                total += float(x[rows] @ (credit.take(shared) @ weights))
    return total


def _tiles(length: int, step: int) -> Iterator[slice]:
    """Yield slices that cover a length, ``step`` at a time."""
    for start in range(0, length, step):
        yield slice(start, start + step)


def _masi_credit(a: Floats | int, b: Floats | int, shared: Floats) -> Floats:
    """Return 1 - MASI from set sizes and intersections."""
    jaccard = shared / (a + b - shared)
    monotone = np.where(shared == np.minimum(a, b), 2 / 3, 1 / 3)
    return jaccard * np.where(shared == np.maximum(a, b), 1.0, monotone)
