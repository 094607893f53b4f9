"""The chance term over thousands of labels and of large sets, beside a plain sparse product."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from setagree.credit.geometry import SetGeometry
from setagree.credit.overlap import OverlapWeights
from setagree.distances import get_distance
from tests.benchmarks import memory
from tests.benchmarks.table import Row, at_most, duration, megabytes
from tests.benchmarks.timing import alternate, seconds

Sets = tuple[frozenset[int], ...]

PRODUCT_BAR = 0.25  # of the time of X X' in blocks of rows
EQUAL_SIZES_BARS = 3.0, 5e8  # seconds and bytes, 90,000 sets of 10 of 30 labels
HUGE_BARS = 20.0, 1e9  # seconds and bytes, 200,000 sets of up to 20 of 10,000 labels
BLOCK_BAR = 2.3  # nanoseconds a pair of sets, of up to 64 labels
PAIR_BAR = 0.4  # microseconds a pair of sets inside units, over 10,000 labels
ROWS = 500  # of a block of the sparse product


def large_vocabularies(*, quick: bool) -> Iterator[Row]:
    """Measure D @ x where labels are many, where sets are large, and one pair of sets."""
    for n in (10_000,) if quick else (10_000, 40_000):
        yield _against_product(n)
    yield _pairs(skewed(2_000 if quick else 10_000))
    yield _blocks(2_000 if quick else 10_000)
    if not quick:
        what = "D @ x, 90,000 sets of 10 of 30 labels"
        yield from _from_nothing(what, of_size(10, 90_000, n_labels=30), EQUAL_SIZES_BARS)
        what = "D @ x, 200,000 sets of 10,000 labels"
        yield from _from_nothing(what, skewed(200_000), HUGE_BARS)


def skewed(n: int, *, n_labels: int = 10_000, least: int = 5, most: int = 20) -> Sets:
    """Return distinct sets whose labels follow Zipf's law, as terms of MeSH, codes and tags do."""
    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, n_labels + 1)
    ends = np.cumsum(share / share.sum())
    found: set[frozenset[int]] = set()
    while len(found) < n:
        sizes = rng.integers(least, most + 1, size=n - len(found))
        drawn = np.searchsorted(ends, rng.random((len(sizes), 3 * most)))
        members = (list(dict.fromkeys(row)) for row in drawn.tolist())
        found |= {frozenset(row[:k]) for row, k in zip(members, sizes, strict=True) if len(row) > k}
    return tuple(found)


def of_size(size: int, n: int, *, n_labels: int) -> Sets:
    rng = np.random.default_rng(0)
    found: set[frozenset[int]] = set()
    while len(found) < n:
        order = np.argsort(rng.random((5_000, n_labels)), axis=1)[:, :size]
        found |= set(map(frozenset, order.tolist()))
    return tuple(found)[:n]


def _against_product(n: int) -> Row:
    """Return the row of one product beside the sparse product that counts all intersections."""
    sets = skewed(n)
    geometry, x = SetGeometry(sets), np.ones(n)
    flags = geometry.flags.astype(np.int32)

    def plain() -> None:
        across = flags.T.tocsr()
        for start in range(0, n, ROWS):
            _ = flags[start : start + ROWS] @ across

    ours = {"ours": lambda: _weights(sets, geometry).distance_dot(x), "plain": plain}
    times = alternate(ours, rounds=2)
    return at_most(
        f"D @ x, {n:,} sets of 5 to 20 of 10,000 labels, against X X'",
        ours=duration(times["ours"]),
        other=duration(times["plain"]),
        ratio=times["ours"] / times["plain"],
        bar=PRODUCT_BAR,
    )


def _pairs(sets: Sets) -> Row:
    geometry, n = SetGeometry(sets), 300_000
    k, l = np.random.default_rng(1).integers(len(sets), size=(2, n))
    taken = alternate({"ours": lambda: geometry.shared(k, l)}, rounds=3)["ours"]
    each = taken / n * 1e6
    what = "|A n B| of a pair over 10,000 labels, in microseconds"
    return at_most(what, ours=duration(taken), other="", ratio=each, bar=PAIR_BAR)


def _blocks(n: int) -> Row:
    """Return the row of the nanoseconds that a pair takes where all sets go by blocks."""
    sets = of_size(20, n, n_labels=64)
    weights, x = _weights(sets, SetGeometry(sets)), np.ones(n)
    taken = alternate({"ours": lambda: weights.distance_dot(x)}, rounds=3)["ours"]
    each = taken / (n * n / 2) * 1e9
    what = f"D @ x, {n:,} sets of 20 of 64 labels, in nanoseconds a pair"
    return at_most(what, ours=duration(taken), other="", ratio=each, bar=BLOCK_BAR)


def _from_nothing(what: str, sets: Sets, bars: tuple[float, float]) -> Iterator[Row]:
    """Yield the row of the seconds of one product, and that of the memory that it adds."""
    geometry, x = SetGeometry(sets), np.ones(len(sets))
    most, n_bytes = bars

    def product() -> object:
        return _weights(sets, geometry).distance_dot(x)

    taken = seconds(product)
    yield at_most(f"{what}, in seconds", ours=duration(taken), other="", ratio=taken, bar=most)
    if memory.available():
        memory.settle()
        before = memory.resident()
        added = memory.high_water(product) - before
        name = f"{what}, memory, of {megabytes(n_bytes)}"
        yield at_most(name, ours=megabytes(added), other="", ratio=added / n_bytes, bar=1.0)


def _weights(sets: Sets, geometry: SetGeometry) -> OverlapWeights:
    """Return weights that know nothing of earlier products."""
    return OverlapWeights(sets, geometry, get_distance("masi"))
