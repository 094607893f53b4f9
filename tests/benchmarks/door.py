"""``sa.agreement`` on a frame of strings: time, memory and growth."""

from __future__ import annotations

import importlib.util
import math
import tempfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import get_args

import numpy as np

from tests.benchmarks import data, probe
from tests.benchmarks.table import Row, at_most, duration, megabytes

TIME_BAR = 3
ENCODE_BAR = 2.5
CATEGORICAL_BAR = 0.6
MEMORY_BAR = 3
GROWTH_BAR = 1.1
N_RATERS = 5


def large_frame(*, quick: bool) -> Iterator[Row]:
    """Compare the door with pandas' factorisation, both row orders and all string storages."""
    n_units = 100_000 if quick else 1_000_000
    for order in get_args(data.Order):
        for storage in _storages():
            found = _probe(n_units, order, storage)
            case = f"{found.n_rows / 1e6:.2g}e6 rows, {order}, {storage} strings"
            yield from _case(case, found)


def growth(*, quick: bool) -> Iterator[Row]:
    """Fit the exponent of the door's time over two decades of units."""
    sizes = (1_000, 10_000, 100_000) if quick else (10_000, 100_000, 1_000_000)
    storage = _storages()[-1]
    for order in get_args(data.Order):
        found = [_probe(n_units, order, storage) for n_units in sizes]
        times = [one.agreement for one in found]
        slope, last = _exponent(sizes, times), _exponent(sizes[-2:], times[-2:])
        limit = _exponent(sizes, [one.factorize for one in found])
        what = f"growth from {sizes[0]:.0e} to {sizes[-1]:.0e} units, {order}, {storage} strings"
        seen = ", ".join(duration(time) for time in times)
        ours = f"n^{slope:.2f}, last decade n^{last:.2f} ({seen})"
        other = f"pandas factorize n^{limit:.2f}"
        yield at_most(what, ours=ours, other=other, ratio=slope, bar=GROWTH_BAR)


def _exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    """Return the slope of log time over log size by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


@lru_cache
def _probe(n_units: int, order: data.Order, storage: str) -> probe.Findings:
    """Return the findings for a study of one size; each case is measured once a run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.csv"
        _ratings(n_units).write_csv(path, order=order)
        return probe.run(path, storage=storage, rounds=3 + math.ceil(40_000 / n_units))


@lru_cache(maxsize=1)
def _ratings(n_units: int) -> data.Ratings:
    return data.simulate(n_units, N_RATERS)


def _case(case: str, found: probe.Findings) -> Iterator[Row]:
    yield at_most(
        f"agreement(df): time ({case}, K = {found.n_values:,})",
        ours=duration(found.agreement),
        other=f"pandas factorize, 3 columns: {duration(found.factorize)}",
        ratio=found.agreement / found.factorize,
        bar=TIME_BAR,
    )
    if found.encode:
        yield at_most(
            f"agreement(df): time ({case})",
            ours=duration(found.agreement),
            other=f"pyarrow dictionary_encode, 3 columns: {duration(found.encode)}",
            ratio=found.agreement / found.encode,
            bar=ENCODE_BAR,
        )
        yield at_most(
            f"agreement(df), categories: time ({case})",
            ours=duration(found.categorical),
            other=f"the same as text: {duration(found.agreement)}",
            ratio=found.categorical / found.agreement,
            bar=CATEGORICAL_BAR,
        )
    if not found.frame:
        yield Row(f"agreement(df): memory ({case})", ours="not measured on this system")
        return
    yield at_most(
        f"agreement(df): peak resident memory, frame included ({case})",
        ours=megabytes(found.peak),
        other=f"the frame: {megabytes(found.frame)} resident",
        ratio=found.peak / found.frame,
        bar=MEMORY_BAR,
    )
    yield Row(
        f"agreement(df): what the call adds to it ({case})",
        ours=megabytes(found.peak - found.frame),
        other=f"the frame: {megabytes(found.frame_deep)} by memory_usage(deep=True)",
        ratio=f"{(found.peak - found.frame) / found.frame_deep:.2f}",
    )


def _storages() -> tuple[str, ...]:
    """Return the string storages this environment has, pandas' default last."""
    return ("python", "pyarrow") if importlib.util.find_spec("pyarrow") else ("python",)
