"""Random tables on random roads, against the exact reference."""

from __future__ import annotations

import inspect
from importlib.util import find_spec
from random import Random
from typing import Any

from . import reference, roads
from .cells import Table, make_table
from .meant_roads import MEANT_ROADS, MEANT_SHARED, SETS_ALONE
from .programs import Program, literal
from .roads import ROADS, Road, source_of

CHECK = '''
def part(found, name):
    """Return a part of a result, which is an Agreement or a row of JSON."""
    return found[name] if isinstance(found, dict) else getattr(found, name)


def number(found, name):
    """Return a number of a result; nan is null in JSON."""
    value = part(found, name)
    return nan if value is None else float(value)


def same(found, wanted, what):
    """Compare with an exact fraction; None is not defined."""
    right = math.isnan(found) if wanted is None else abs(found - wanted) < 1e-9
    assert right, f"{what} is {found!r}; right is {wanted if wanted is None else float(wanted)!r}"


def check(take, units):
    """Compare what a road gives with the reference, or see that it refuses the table."""
    try:
        table = take()
    except sa.SetagreeError as error:
        assert units is None, f"refused: {error}"
        return
    assert units is not None, f"not refused: {table}"
    for row in table if isinstance(table, list) else table.rows:
        name, d = part(row, "coefficient"), part(row, "distance")
        formula = {"krippendorff_alpha": alpha, "fleiss_kappa": fleiss}[name]
        wanted = formula(units, {"nominal": nominal, "jaccard": jaccard, "masi": masi}[d])
        same(number(row, "estimate"), wanted and wanted[2], f"{name} ({d})")
        if wanted and wanted[2] is not None:
            same(number(row, "observed_disagreement"), wanted[0], f"{name} ({d}), observed")
            same(number(row, "expected_disagreement"), wanted[1], f"{name} ({d}), expected")
        n = sum(map(len, units.values()))
        assert number(row, "n_ratings") == n, f"{number(row, 'n_ratings')} ratings, right is {n}"
'''


def table_programs(rng: Random, n_roads: int = 4) -> list[Program]:
    """Return the programs of one random table: a few of the roads that can carry it."""
    table = make_table(rng)
    able = [road for road in ROADS.values() if carries(road, table)]
    made = [_program(r, table) for r in rng.sample(able, min(n_roads, len(able)))]
    return [*made, _meant_program(rng, table)]


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


def _program(road: Road, table: Table) -> Program:
    role = "value" if table.shape in {"number", "category"} else "labels"
    policies = _policies(road, table)
    body = [
        _functions(roads.SHARED),
        *([source_of(roads.lines_file)] if road.name.startswith("json") else []),
        *([source_of(roads.parquet_file)] if road.name.startswith("parquet") else []),
        road.source,
        f"columns = {literal(table.columns)}\noptions = {literal(table.options)}",
        f"meant = {literal(_meanings(road, table))}",
        f"units = units_of(meant, **{policies!r})" if not table.breaks_codebook else "units = None",
        "with tempfile.TemporaryDirectory() as folder:",
        f"    check(lambda: {road.name}(columns, folder, {role!r}, options), units)",
    ]
    return Program("tables", road.name, "\n\n".join([_REFERENCE_TEXT, CHECK, *body]) + "\n")


def _meant_program(rng: Random, table: Table) -> Program:
    """Return a program that hands over what is meant as flags, counts or a wide table."""
    scalars = table.shape in {"number", "category"}
    take = rng.choice([one for one in MEANT_ROADS if not scalars or one not in SETS_ALONE])
    policies = {k: v for k, v in table.options.items() if k in {"blank", "duplicates"}}
    body = [
        _functions((*roads.SHARED, *MEANT_SHARED, take)),
        f"meant = {literal(table.meant)}",
        f"units = units_of(meant, **{policies!r})",
        f"if units is not None:\n    check(lambda: {take.__name__}(units), units)",
    ]
    return Program("tables", take.__name__, "\n\n".join([_REFERENCE_TEXT, CHECK, *body]) + "\n")


def _functions(functions: Any) -> str:
    return "\n\n".join(source_of(function) for function in functions)


# Read once, so that a run is not disturbed where somebody edits these files meanwhile.
_REFERENCE_TEXT = "".join(inspect.getsource(reference).partition("def units_of")[1:])
for _function in (*roads.SHARED, *MEANT_SHARED, *MEANT_ROADS, roads.lines_file, roads.parquet_file):
    source_of(_function)
for _road in ROADS.values():
    source_of(_road.take)
