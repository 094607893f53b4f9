"""A large table to a tally: the public door, and what it shares with `agreement`."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeAlias

from setagree.assembly import label_syntax
from setagree.errors import DataError, OptionError
from setagree.frames import Frame, column_names, open_frame
from setagree.labels import Blank, Case, Label
from setagree.sources.columns import guess_columns
from setagree.sources.reduction import dask, files, program
from setagree.sources.reduction.answers import CodedCells, Reading
from setagree.sources.reduction.engines import DuckDB, Engine, find_engine
from setagree.sources.reduction.parts import merge_parts
from setagree.sources.reduction.patterns import Repeats, merge_all, with_answers
from setagree.tally import Tally

Large: TypeAlias = "Frame | str | PathLike[str]"


@dataclass(frozen=True)
class Reduction:
    """A reduced table.

    Attributes
    ----------
    tally : Tally
        Its patterns.
    n_missing : int
        Rows without an annotation.
    """

    tally: Tally
    n_missing: int


@dataclass(frozen=True)
class Plan:
    """How a table is reduced; see `reduce`."""

    assume_unique: bool = False
    partitioned_by_unit: bool = False
    memory_limit: str | None = None
    spill: str | PathLike[str] | None = None


@dataclass(frozen=True)
class Columns:
    """Which columns hold what, and how answers are read."""

    by_role: Mapping[str, str]
    reading: Reading


def reduce(
    data: Large,
    *,
    unit: str | None = None,
    rater: str | None = None,
    labels: str | None = None,
    value: str | None = None,
    sep: str = ",",
    blank: Blank | None = None,
    case: Case = "keep",
    codebook: Collection[Label] | None = None,
    encoding: str = "utf-8",
    assume_unique: bool = False,
    partitioned_by_unit: bool = False,
    memory_limit: str | None = None,
    spill: str | PathLike[str] | None = None,
) -> Tally:
    """Return the patterns of a table that need not fit in memory, computed where it is."""
    named = {"unit": unit, "rater": rater, "labels": labels, "value": value}
    reading = {"sep": sep, "blank": blank, "case": case, "codebook": codebook}
    plan = Plan(assume_unique, partitioned_by_unit, memory_limit, spill)
    return reduce_table(data, named, reading, plan, encoding=encoding).tally


def reduce_table(
    data: Large,
    named: Mapping[str, Any],
    reading: Mapping[str, Any],
    plan: Plan,
    *,
    encoding: str = "utf-8",
) -> Reduction:
    """Reduce files or a lazy table."""
    if isinstance(data, str | PathLike):
        return _reduce_files(data, named, reading, plan, encoding)
    if plan.memory_limit is not None or plan.spill is not None:
        raise OptionError(
            "memory_limit= and spill= are for files, which DuckDB reads; of a table that an engine "
            "holds, set them there."
        )
    if dask.is_dask(data):
        return _reduce_dask(data, named, reading, plan)
    frame = open_frame(data)
    engine = find_engine(frame)
    columns = find_columns(column_names(frame), named, reading)
    rows = program.pick_rows(frame, engine, columns.by_role)
    if plan.partitioned_by_unit and engine.name != "Spark":
        raise OptionError("no partitions")
    return _reduce_rows([rows], rows, columns.reading, plan)


def _reduce_rows(
    parts, rows: program.Rows, reading: Reading, plan: Plan
) -> Reduction:
    coded, cells = program.code_answers(rows, reading)
    tallies = []
    raters = set()
    for part in parts:
        coded_rows = program.code_rows(part, cells, coded)
        raters |= program.find_raters(coded_rows)
        tallies.append(_patterns(coded_rows, plan))
    return Reduction(with_answers(merge_all(tallies), coded, n_raters=len(raters)), coded.n_missing)


def _patterns(rows: program.CodedRows, plan: Plan) -> Tally:
    from setagree.sources.reduction.spark import reduce_partitions
    if rows.engine.name == "Spark" and plan.partitioned_by_unit:
        t = reduce_partitions(rows, assume_unique=plan.assume_unique)
        if t is not None:
            return t
    if not plan.assume_unique:
        program.find_repeats(rows).check()
    return program.find_patterns(rows)


def _reduce_files(path, named, reading, plan, encoding):
    from setagree.sources.reduction.engines import DuckDB
    import narwhals as nw
    found = files.find_files(path, encoding=encoding)
    columns = find_columns(found.names, named, reading)
    engine = DuckDB()
    with files.connect(plan.memory_limit, plan.spill) as con:
        def make(paths):
            native = found.rows(con, columns.by_role, paths)
            return program.pick_rows(nw.from_native(native), engine, {r: r for r in columns.by_role}, )
        whole = make(found.paths)
        parts = [make([p]) for p in found.paths] if plan.partitioned_by_unit else [whole]
        return _reduce_rows(parts, whole, columns.reading, plan)


def _reduce_dask(
    data: Any, named: Mapping[str, Any], reading: Mapping[str, Any], plan: Plan
) -> Reduction:
    columns = find_columns(list(data.columns), named, reading)
    coded, part = dask.reduce_dask(
        data,
        columns.by_role,
        columns.reading,
        assume_unique=plan.assume_unique,
        partitioned_by_unit=plan.partitioned_by_unit,
    )
    part.repeats.check()
    return _finished(part.tallies[0], coded, len(part.raters))


def _finished(tally: Tally, coded: CodedCells, n_raters: int) -> Reduction:
    return Reduction(with_answers(tally, coded, n_raters=n_raters), coded.n_missing)


def find_columns(
    names: list[str], named: Mapping[str, Any], reading: Mapping[str, Any]
) -> Columns:
    found = guess_columns(names, **named)
    kind = "labels" if found.value is None else "value"
    answer = found.labels if found.value is None else found.value
    syntax = label_syntax(reading["sep"], reading["blank"], reading["case"], reading["codebook"])
    return Columns(
        {"unit": found.unit, "rater": found.rater, "answer": answer},
        Reading(kind, syntax, quiet=reading["blank"] is not None),
    )
