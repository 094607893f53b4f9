"""Random tables on random roads, against the exact reference."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from random import Random
from typing import Any

import setagree as sa

from .cells import Table, make_table
from .meant_roads import MEANT_ROADS, SETS_ALONE
from .programs import failure_of
from .reference import exactly, units_of
from .roads import ROADS, Road


@dataclass(frozen=True)
class TableCase:
    """A table on a road, and the answers of each unit; None where it must be refused."""

    part: str
    table: Table
    units: dict[Any, Any] | None
    take: Callable[[], Any]
    family: str = "tables"

    @property
    def text(self) -> str:
        return f"{self.part}\ncolumns = {self.table.columns!r}\noptions = {self.table.options!r}\n"

    def run(self) -> str | None:
        """Return how the case failed, or None where it ended well."""
        return failure_of(self._check)

    def _check(self) -> None:
        """Compare what the road gives with the reference, or see that it refuses the table."""
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", sa.SetagreeWarning)
        try:
            table = self.take()
        except sa.SetagreeError as error:
            assert self.units is None, f"refused: {error}"  # noqa: PT017 - it may be right
            return
        assert self.units is not None, f"not refused: {table}"
        for row in table if isinstance(table, list) else table.rows:
            _check_row(row, self.units)


def _check_row(row: Any, units: dict[Any, Any]) -> None:
    """Compare an Agreement, or a row of JSON, with exact fractions; None is not defined."""

    def part(name: str) -> Any:
        return row[name] if isinstance(row, dict) else getattr(row, name)

    names = part("coefficient"), part("distance")
    wanted = exactly(*names, units)
    parts = {"estimate": wanted and wanted.estimate}
    if wanted is not None:
        parts |= {
            "observed_disagreement": wanted.observed,
            "expected_disagreement": wanted.expected,
        }
    for name, right in parts.items():
        found = math.nan if part(name) is None else float(part(name))
        same = math.isnan(found) if right is None else abs(found - right) < 1e-9
        said = right if right is None else float(right)
        assert same, f"{names[0]} ({names[1]}) is {found!r} ({name}); right is {said!r}"
    assert part("n_ratings") == sum(map(len, units.values()))


def table_programs(rng: Random, n_roads: int = 4) -> list[TableCase]:
    """Return the cases of one random table: a few of the roads that can carry it."""
    table = make_table(rng)
    able = [road for road in ROADS.values() if carries(road, table)]
    made = [_on_road(r, table) for r in rng.sample(able, min(n_roads, len(able)))]
    return [*made, _meant(rng, table)]


def carries(road: Road, table: Table) -> bool:
    """Say whether a road can carry the table, by the rules of what its columns can hold."""
    if table.shape not in road.shapes or (road.package and find_spec(road.package) is None):
        return False
    if road.reduces and table.options.get("duplicates", "error") != "error":
        return False
    # pandas makes floats of whole numbers with a gap, and rounds them
    rounds = road.name == "pandas_inferred" and table.numbers == "large"
    if rounds and None in table.columns["answer"]:
        return False
    if road.one_type and not _typed(table):
        return False
    ids = [*table.columns["unit"], *table.columns["rater"]]
    if road.name.startswith("json") and len({type(one) for one in ids}) > 1:
        return False
    return not (
        road.name == "command"
        and any("\n" in str(one) for one in table.options.get("codebook", []))
    )


def _typed(table: Table) -> bool:
    """Say whether every column has cells of one type that Arrow, Polars and DuckDB can hold."""
    for cells in table.columns.values():
        kinds = {type(cell) for cell in cells if cell is not None}
        if len(kinds) != 1:
            return False
    if table.shape == "list" and not any(table.columns["answer"]):
        return False  # lists without an item have no type
    return table.numbers not in {"huge", "fraction"}


def _meanings(road: Road, table: Table) -> list[tuple[Any, Any, tuple[str, Any]]]:
    """Return what the answers mean once the road has carried nulls and blanks in its way."""
    meant = []
    for unit, rater, answer in table.meant:
        if road.nulls == "text" and answer[0] == "null":
            answer = ("blank", None)
        meant.append((unit, rater, answer))
    return meant


def _policies(road: Road, table: Table) -> dict[str, Any]:
    kept = {k: v for k, v in table.options.items() if k in {"blank", "duplicates"}}
    # A column of objects that are all text, but for nulls, is a column of text; so is one of nulls.
    cells = zip(table.columns["answer"], table.meant, strict=True)
    is_text = all(isinstance(cell, str) for cell, (*_, (kind, _)) in cells if kind != "null")
    if road.long and table.shape in {"text", "object", "list"} and is_text:
        kept["nulls_follow"] = True
    return kept


def _on_road(road: Road, table: Table) -> TableCase:
    role = "value" if table.shape in {"number", "category"} else "labels"
    units = units_of(_meanings(road, table), **_policies(road, table))
    units = None if table.breaks_codebook else units
    take = partial(road.take, table.columns, ".", role, table.options)
    return TableCase(road.name, table, units, take)


def _meant(rng: Random, table: Table) -> TableCase:
    """Return what is meant as flags, counts or a wide table, if it is not refused."""
    scalars = table.shape in {"number", "category"}
    take = rng.choice([one for one in MEANT_ROADS if not scalars or one not in SETS_ALONE])
    policies = {k: v for k, v in table.options.items() if k in {"blank", "duplicates"}}
    units = units_of(table.meant, **policies)
    if units is None:
        return TableCase(take.__name__, table, None, _refused)
    return TableCase(take.__name__, table, units, partial(take, units))


def _refused() -> None:
    raise sa.SetagreeError("what is refused has no other form")
