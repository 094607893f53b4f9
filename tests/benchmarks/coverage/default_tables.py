"""The tables of default intervals and tests, and the cells that break their rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from tests.benchmarks.coverage.defaults import SWITCH, UNITS, Default, default_cells
from tests.benchmarks.coverage.defaults import DefaultOfClusters as Clustered
from tests.benchmarks.coverage.levels import LEVELS, POWER, Level, level_cells
from tests.benchmarks.coverage.record import AGAIN, Cell, Found

Known: TypeAlias = Mapping[str, Found]
NO_CELL = "No cell misses a limit."


def found_of(known: Known, cell: Cell) -> Found | None:
    """Return what was found in the second run of a cell, or in its only one."""
    return known.get(cell.name + AGAIN, known.get(cell.name))


def _share(x: float) -> str:
    return f"{x:.3f}"


def _held(found: Found, method: str, *, tails: bool = True) -> list[str]:
    """Return coverage, both tails and the width over that of the oracle, of studies shown one."""
    none, low, high, width = found.results[method]
    n = found.n - found.results["default"][0]
    if n == 0:
        return ["-"] * (4 if tails else 2)
    sides = [_share(low / n), _share(high / n)] if tails else []
    missing = none - (found.n - n if method == "default" else 0)
    held = 1 - (missing + low + high) / n
    return [_share(held), *sides, f"{width / found.results['oracle'][1]:.2f}"]


def _not_rough(found: Found) -> list[str]:
    """Return the share of shown intervals that are called rough, and the coverage of the others."""
    none, low, high, _ = found.results["not rough"]
    n, shown = found.n - none, found.n - found.results["default"][0]
    held = _share(1 - (low + high) / n) if n else "-"
    return [_share(1 - n / shown) if shown else "-", held]


def defaults(known: Known) -> list[list[str]]:
    """Return a row for each world and number of units."""
    head = ["design", "alpha", "units", "no interval", "coverage", "below", "above", "width"]
    rows = [[*head, "rough", "not rough", "t", "below", "above", "width"]]
    for cell in default_cells():
        found = found_of(known, cell)
        if found is None or cell.world == SWITCH:
            continue
        none = (found.left_out + found.results["default"][0]) / found.n_studies
        lead = [cell.world, f"{found.results['oracle'][0]:.2f}"] if cell.n_units == UNITS[0] else []
        numbers = [*_held(found, "default"), *_not_rough(found), *_held(found, "t")]
        rows.append([*(lead or ["", ""]), f"{cell.n_units}", _share(none), *numbers])
    return rows


def switch(known: Known) -> list[list[str]]:
    """Return a row for each design of clusters: the default and the two methods it takes."""
    head = ["alpha", "clusters", "sizes", "by score", "coverage", "below", "above", "width"]
    rows = [[*head, "t", "width", "score", "width"]]
    for cell in default_cells():
        found = found_of(known, cell)
        if found is None or not isinstance(cell, Clustered) or cell.world != SWITCH:
            continue
        shown = found.n - found.results["default"][0]
        by_score = _share((found.n - found.results["switched"][0]) / shown) if shown else "-"
        both = [x for method in ("t", "score") for x in _held(found, method, tails=False)]
        lead = [f"{cell.alpha:g}", f"{cell.n_clusters}", cell.sizes, by_score]
        rows.append([*lead, *_held(found, "default"), *both])
    return rows


def levels(known: Known) -> list[list[str]]:
    """Return a row for each test and world: how often p is at most 0.05, of studies with a p."""
    rows = [["test", "design", "p of", *(f"{n} units" for n in UNITS)]]
    for what in LEVELS:
        cells = [found_of(known, Level(what, n)) for n in UNITS]
        test, _, world = what.partition(", ")
        for key in next((one.results for one in cells if one is not None), {}):
            shares = [
                "" if one is None else _level_of(one, key, is_power=POWER in what) for one in cells
            ]
            rows.append([f"`{test}`", world, key, *shares])
    return rows


def _level_of(found: Found, key: str, *, is_power: bool = False) -> str:
    """Return the size in studies with a p, or the power in all; and the share without a p."""
    none, at, _ = found.results[key]
    n = found.n if is_power else found.n - none
    return f"{_share(at / n) if n else '-'}{f' ({none / found.n:.2f})' if none else ''}"


def broken(known: Known) -> str:
    """Return the cells that break the rule as a list."""
    cells: Sequence[Default | Level] = [*default_cells(), *level_cells()]
    pairs = [(cell, found_of(known, cell)) for cell in cells]
    lines = [f"- {_said(c, one)}" for c, one in pairs if one is not None and c.misses(one)]
    return "\n".join(lines) or NO_CELL


def _said(cell: Default | Level, found: Found) -> str:
    """Return where and by how much a cell misses a limit."""
    if isinstance(cell, Level):
        test, _, world = cell.what.partition(", ")
        shares = " and ".join(_level_of(found, key) for key in found.results)
        where = f"`{test}`, {world}, {cell.n_units} units"
        return f"{where}: rejects a true hypothesis in {shares} of {found.n:,} studies."
    where = f"{cell.world}, {cell.n_units} units"
    if isinstance(cell, Clustered):
        where = f"{cell.n_clusters} clusters ({cell.sizes} sizes), alpha {cell.alpha:g}"
    n = found.n - found.results["not rough"][0]
    return f"{where}: the default interval covers {_not_rough(found)[1]} of {n:,.0f} studies."
