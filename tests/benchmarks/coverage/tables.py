"""The tables of the guide, made from the file of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from tests.benchmarks.coverage import default_tables
from tests.benchmarks.coverage.designs import interval_cells
from tests.benchmarks.coverage.intervals import CROWD, UNITS, Intervals
from tests.benchmarks.coverage.nulls import TESTS, Null
from tests.benchmarks.coverage.nulls import UNITS as NULL_UNITS
from tests.benchmarks.coverage.record import AGAIN, Found

Known: TypeAlias = Mapping[str, Found]
Pairs: TypeAlias = Sequence[tuple[Intervals, Found]]

TABLE, OF_TABLE = "permutation pooled", "t of the table"
"""Where the test that a table prints is shown: only there it has the same hypothesis."""
METHODS = ("t", "jackknife", "percentile", "BCa", "score")


def results_of(known: Known) -> Pairs:
    """Return the designs that were run, with the second run of those that were run twice."""
    return [
        (cell, known.get(cell.name + AGAIN, known[cell.name]))
        for cell in interval_cells()
        if cell.name in known
    ]


def tables(known: Known) -> dict[str, str]:
    """Return each table of the guide by name, as Markdown."""
    return {
        "methods": by_method(known),
        "grid": by_alpha(known),
        "designs": by_design(known),
        "tests": sizes(known),
        "defaults": markdown(default_tables.defaults(known), left=1),
        "switch": markdown(default_tables.switch(known)),
        "levels": markdown(default_tables.levels(known), left=3),
        "broken": default_tables.broken(known),
    }


def printed(found: Mapping[str, str]) -> str:
    """Return tables below each other, each under its name."""
    return "\n\n".join(f"{name}\n\n{table}" for name, table in found.items())


def by_method(known: Known) -> str:
    """Return a row for each number of units, a column for each method, on the same studies."""
    pairs = [pair for pair in results_of(known) if pair[0].family == "resampled"]
    rows = [["units", *METHODS]]
    for n in UNITS:
        found = [one for cell, one in pairs if cell.n_units == n]
        rows.append([f"{n}", *(_mean_and_lowest(found, method) for method in METHODS)])
    return markdown(rows)


def is_usual(cell: Intervals) -> bool:
    """Say whether a design is one of the large grid."""
    return cell.family == "plain" and cell.labels != "rare"


def by_alpha(known: Known) -> str:
    """Return a row for each alpha and method, a column for each number of units."""
    pairs = [pair for pair in results_of(known) if is_usual(pair[0])]
    rows = [["alpha", "interval", *(f"{n} units" for n in UNITS)]]
    for alpha in dict.fromkeys(cell.alpha for cell, _ in pairs):
        for method in ("t", "score"):
            of_size = [
                [one for cell, one in pairs if cell.alpha == alpha and cell.n_units == n]
                for n in UNITS
            ]
            cells = [_mean_and_lowest(found, method) for found in of_size]
            rows.append([f"{alpha:g}" if method == "t" else "", method, *cells])
    return markdown(rows)


DESIGNS: tuple[tuple[str, str, Callable[[Intervals], bool]], ...] = (
    ("clusters of like size, alpha to 0.7", "clusters", lambda c: _like(c) and c.alpha <= 0.7),
    ("clusters of like size, alpha 0.9 and 0.97", "clusters", lambda c: _like(c) and c.alpha > 0.7),
    ("clusters of unequal size", "clusters", lambda c: not _like(c)),
    ("weights", "weights", lambda c: True),
    ("strata", "strata", lambda c: True),
    ("raters like these, 3 to 10 of them", "both", lambda c: c.n_raters < CROWD),
    ("raters like these, a crowd of 50", "both", lambda c: c.n_raters == CROWD),
    ("3 raters, bootstrap over both", "both resampled", lambda c: c.n_raters == 3),
    ("5 raters, bootstrap over both", "both resampled", lambda c: c.n_raters == 5),
    ("10 raters, bootstrap over both", "both resampled", lambda c: c.n_raters == 10),
    ("a rare answer", "plain", lambda c: c.labels == "rare"),
    ("one answer dominates, interval shown", "dominated", lambda c: not _warned(c)),
    ("the same, none shown, 4 raters", "dominated", lambda c: _warned(c) and c.n_raters == 4),
    ("the same, none shown, 5 raters", "dominated", lambda c: _warned(c) and c.n_raters == 5),
    ("the same, none shown, 8 raters", "dominated", lambda c: _warned(c) and c.n_raters == 8),
    ("a rare label, interval shown", "label", lambda c: not _warned(c)),
    ("a rare label, none shown, 4 raters", "label", lambda c: _warned(c) and c.n_raters == 4),
    ("a rare label, none shown, 5 raters", "label", lambda c: _warned(c) and c.n_raters == 5),
    ("a rare label, none shown, 8 raters", "label", lambda c: _warned(c) and c.n_raters == 8),
    ("units known by all or guessed by all", "hard", lambda c: c.labels != "rare"),
    ("the same, a rare answer", "hard", lambda c: c.labels == "rare"),
    ("squared distances: normal", "numbers", lambda c: c.labels == "normal"),
    ("long tail, small errors", "numbers", lambda c: c.labels == "long tail, small errors"),
    ("long tail, large errors", "numbers", lambda c: c.labels == "long tail, large errors"),
    ("one answer in 100 far off", "numbers", lambda c: c.labels == "one answer in 100 far off"),
)


def _like(cell: Intervals) -> bool:
    return getattr(cell, "sizes", "") == "like"


def _warned(cell: Intervals) -> bool:
    return bool(getattr(cell, "warned", False))


def by_design(known: Known) -> str:
    pairs = results_of(known)
    rows = [["design", "interval", "cells", "mean", "lowest", "highest"]]
    for title, family, belongs in DESIGNS:
        found = [one for cell, one in pairs if cell.family == family and belongs(cell)]
        for k, method in enumerate(found[0].results if found else ()):
            shares = [one.coverage(method) for one in found]
            numbers = [share(x) for x in (float(np.mean(shares)), min(shares), max(shares))]
            first = [title, method, f"{len(found)}"] if not k else ["", method, ""]
            rows.append([*first, *numbers])
    return markdown(rows, left=2)


def sizes(known: Known) -> str:
    """Return a row for each test: how often it rejects at 0.05 and 0.01, by the number of units."""
    rows = [["test", "how", *(f"{n} units" for n in NULL_UNITS)]]
    for what in TESTS:
        names = [Null(what, n).name for n in NULL_UNITS]
        found = [known.get(name + AGAIN, known.get(name)) for name in names]
        of_test = next((one.results for one in found if one is not None), {})
        for k, test in enumerate(t for t in of_test if t != OF_TABLE or what == TABLE):
            cells = ["" if one is None else _sizes_of(one, test) for one in found]
            rows.append(["" if k else what, test, *cells])
    return markdown(rows, left=2)


def _sizes_of(found: Found, test: str) -> str:
    return " ".join(share(found.size(test, level)) for level in (0.05, 0.01))


def share(x: float) -> str:
    """Return a share as coverage is written: 0.943."""
    return f"{x:.3f}"


def _mean_and_lowest(found: Sequence[Found], method: str) -> str:
    shares = [one.coverage(method) for one in found]
    if not shares:
        return "-"
    return f"{share(float(np.mean(shares)))} ({share(min(shares))})"


def markdown(rows: Sequence[Sequence[str]], *, left: int = 0) -> str:
    """Return rows, the first of them the header, as a Markdown table."""
    head = [f"|{'---|' * left}{'--:|' * (len(rows[0]) - left)}"]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], *head, *lines[1:]])
