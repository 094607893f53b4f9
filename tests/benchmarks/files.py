"""Files reduced within a memory limit: against DuckDB's own group-by, and against memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import setagree as sa
from tests.benchmarks import data, huge
from tests.benchmarks.table import Row, at_most, duration
from tests.benchmarks.timing import alternate

UNIQUE_BAR = 5
SEARCH_BAR = 8
LONG_BAR = 5
TEXT_BAR = 2
LIMIT = "1GB"
NAMES = {"unit": "doc", "rater": "who", "labels": "tags"}


def reduced_files(*, quick: bool) -> Iterator[Row]:
    """Compare the reduction of Parquet and of CSV with the least that each road can cost."""
    with tempfile.TemporaryDirectory() as folder:
        short, long = Path(folder, "short"), Path(folder, "long")
        yield from _parquet(short, 900_000 if quick else 9_000_000)
        yield _long(long, 450_000 if quick else 4_500_000)
        yield from _text(Path(folder), 100_000 if quick else 1_000_000)


def _parquet(folder: Path, n_rows: int) -> Iterator[Row]:
    """Yield the rows of Parquet, as `huge` writes it: units in random order."""
    huge.write(folder, n_rows)
    pattern = str(folder / "*.parquet")
    reduce = partial(sa.tally, pattern, **NAMES, memory_limit=LIMIT)
    calls = {
        "group-by": partial(huge.group_by, [pattern], LIMIT, str(folder)),
        "unique": partial(reduce, assume_unique=True),
        "search": reduce,
    }
    times = alternate(calls, rounds=3)
    for case, what, bar in (
        ("unique", "unique rows", UNIQUE_BAR),
        ("search", "with the search for repeats", SEARCH_BAR),
    ):
        yield at_most(
            f"tally of {n_rows / 1e6:g}e6 rows of Parquet under {LIMIT}, {what}",
            ours=duration(times[case]),
            other=f"DuckDB, units grouped by fingerprint: {duration(times['group-by'])}",
            ratio=times[case] / times["group-by"],
            bar=bar,
        )


def _long(folder: Path, n_rows: int) -> Row:
    """Return the row of answers of up to five labels, whose patterns are half as many as units."""
    paths = [*map(str, huge.write(folder, n_rows, data.Recipe()))]
    calls = {
        "group-by": partial(huge.group_by, paths, LIMIT, str(folder)),
        "ours": partial(sa.tally, paths, **NAMES, memory_limit=LIMIT),
    }
    times = alternate(calls, rounds=2)
    return at_most(
        f"tally of {n_rows / 1e6:g}e6 rows of Parquet under {LIMIT}, up to five labels",
        ours=duration(times["ours"]),
        other=f"DuckDB, units grouped by fingerprint: {duration(times['group-by'])}",
        ratio=times["ours"] / times["group-by"],
        bar=LONG_BAR,
    )


def _text(folder: Path, n_units: int) -> Iterator[Row]:
    """Yield the row of CSV, which is read in memory and by the reader of memory in pieces."""
    path = folder / "ratings.csv"
    data.simulate(n_units, huge.N_RATERS).write_csv(path, order="shuffled")
    agree = partial(sa.agreement, path, **NAMES)
    calls = {"memory": agree, "pieces": partial(agree, memory_limit=LIMIT)}
    times = alternate(calls, rounds=2)
    yield at_most(
        f"agreement of {n_units * 4.5e-6:g}e6 rows of CSV under {LIMIT}",
        ours=duration(times["pieces"]),
        other=f"in memory: {duration(times['memory'])}",
        ratio=times["pieces"] / times["memory"],
        bar=TEXT_BAR,
    )
