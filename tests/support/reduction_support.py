"""What the tests of the reduction share: a table with odd text, and patterns to compare.

Nothing in here computes an agreement.
"""

from __future__ import annotations

import os
import signal
import warnings
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

import setagree as sa

HOSTILE = {
    "unit": ["u1", " u1\u3000", "u1", "u2", "u2", "é", "e\u0301", "u4", "u4", "u5", "u6", "u6"],
    "rater": ["ann", "bob", "cy", "ann", "bob ", "ann", "bob", "ann", "cy", "ann", "ann", "bob"],
    "labels": [
        *("joy, fear", "fear,joy,joy", 'joy, "a, b"', '"a, b",joy', "<script>", "😀, מילה"),
        *("מילה,😀", "", "x" * 10_000, "joy", None, "fear , joy"),
    ],
}
LISTS = [
    *(["joy", "fear"], ["fear", "joy", "joy"], ["joy", "a, b"], ["a, b", "joy"], ["<script>"]),
    *(["😀", "מילה"], ["מילה", "😀"], [], ["x" * 10_000], ["joy"], None, ['fe"ar', "joy"]),
]


CONNECTIONS = []
"""Connections of DuckDB, which relations need as long as they are used."""


def relation(data):
    import duckdb
    import pyarrow as pa

    CONNECTIONS.append(duckdb.connect())
    return CONNECTIONS[-1].from_arrow(pa.table(data))


def ibis_table(data):
    import duckdb
    import pyarrow as pa

    ibis = pytest.importorskip("ibis", reason="the extra 'ibis' is not installed")
    connection = duckdb.connect()
    connection.register("setagree_view", pa.table(data))
    connection.execute("CREATE TABLE ratings AS SELECT * FROM setagree_view")
    CONNECTIONS.append(ibis.duckdb.from_connection(connection))
    return CONNECTIONS[-1].table("ratings")


def columns(table):
    return {name: table[name].tolist() for name in table}


def patterns(tally):
    """Return how many units have which counts of which values, whatever their order."""
    found = Counter()
    for row, times in enumerate(tally.multiplicity):
        entries = slice(tally.indptr[row], tally.indptr[row + 1])
        values = [tally.values[code] for code in tally.indices[entries]]
        found[frozenset(zip(values, tally.counts[entries], strict=True))] += times
    return found


def who_gave_what(tally):
    """Return how many units have which answers of whom."""
    found = Counter()
    for row, times in enumerate(tally.multiplicity):
        here = slice(tally.given.indptr[row], tally.given.indptr[row + 1])
        raters = tally.given.raters[tally.given.rater_codes[here]].tolist()
        values = [tally.values[code] for code in tally.given.value_codes[here]]
        found[frozenset(zip(raters, values, strict=True))] += times
    return found


def generated(n_units=400, seed=1):
    """Return a table of generated annotations, its rows in random order."""
    study = sa.simulate(n_units, 4, n_labels=5, missing=0.2, rng=seed)
    table = study.to_long()
    table["labels"] = [sa.format_labels(value) for value in table["labels"]]
    return table.sample(frac=1, random_state=seed).reset_index(drop=True)


def in_whole_units(table, n_parts=4):
    place = table["unit"].astype("category").cat.codes % n_parts
    return [part.reset_index(drop=True) for _, part in table.groupby(place)]


def quiet(function, *args, **options):
    """Call without the warnings about labels that look odd, which hostile ones do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SetagreeWarning)
        return function(*args, **options)


def part_of_a_worker_that_dies(place, *, parts, deaths, folder):
    """Return one of the parts; the worker that is asked for the second is killed a few times."""
    dead = sorted(Path(folder).glob("death-*"))
    if place == 1 and len(dead) < deaths:
        (Path(folder) / f"death-{len(dead)}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return pd.DataFrame(parts[place])


def rows_of_an_executor_that_dies(places, *, parts, deaths, folder):
    """Give the rows of one of the parts; the executor that has the second is killed a few times.

    The executor is the parent of the daemon that this process was forked from.
    """
    (place,) = places
    dead = sorted(Path(folder).glob("death-*"))
    if place == 1 and len(dead) < deaths:
        (Path(folder) / f"death-{len(dead)}").touch()
        status = Path(f"/proc/{os.getppid()}/status").read_text()
        executor = next(line for line in status.splitlines() if line.startswith("PPid:"))
        os.kill(int(executor.split()[1]), signal.SIGKILL)
    yield from zip(*parts[place].values(), strict=True)
