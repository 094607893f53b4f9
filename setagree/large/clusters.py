"""Reduction of frames of Dask and Spark by their workers, part by part."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from setagree.checks import Codes
from setagree.errors import DataError, SetagreeError, shorten
from setagree.large.engines import fetch, stopped
from setagree.large.filtering import kept_part
from setagree.large.patterns import (
    CodedCells,
    Held,
    Repeats,
    Survey,
    anonymous,
    code_cells,
    id_of_text,
    merge_all,
    spelled,
    tally_of_entries,
)
from setagree.large.steps import CodedRows
from setagree.study.annotations import Annotations
from setagree.study.assembly import code_ids
from setagree.study.codes import (
    MISSING,
    Column,
    as_objects,
    distinct_cells,
    factorise,
    merge,
    order_of,
    recode,
)
from setagree.study.frames import is_inexact, without_dictionary
from setagree.study.reading import Plan, Reading
from setagree.study.row_filter import NO_ROWS, Where
from setagree.study.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa
    from dask.delayed import Delayed


_FAN = 8


@dataclass(frozen=True)
class Part:
    """Result of the reduction of some parts: at most one tally, whose values are codes."""

    tallies: list[Tally]
    repeats: Repeats
    raters: frozenset[Any]


def merge_parts(parts: Sequence[Part]) -> Part:
    """Return the result of several parts."""
    tallies = [tally for part in parts for tally in part.tallies]
    return Part(
        [merge_all(tallies)] if tallies else [],
        sum((part.repeats for part in parts), Repeats(0, [])),
        frozenset().union(*(part.raters for part in parts)),
    )


def survey_part(part: pd.DataFrame) -> Survey:
    """Return the counts of distinct answers of a part, and of its rows without a unit or rater."""
    codes, cells = _distinct(part["answer"])
    times = np.bincount(codes[codes != MISSING], minlength=len(cells)).astype(np.int64)
    n_bad = {role: _count_nameless(part[role]) for role in ("unit", "rater")}
    inexact = tuple(role for role in n_bad if is_inexact(part[role]))
    return Survey(cells, times, int(np.count_nonzero(codes == MISSING)), n_bad, inexact)


def merge_surveys(surveys: Sequence[Survey]) -> Survey:
    """Return the survey of several parts, with sorted cells."""
    times: dict[Any, int] = {}
    for survey in surveys:
        for cell, n in zip(survey.cells, survey.times.tolist(), strict=True):
            times[cell] = times.get(cell, 0) + n
    try:
        cells = sorted(times)
    except TypeError:
        cells = sorted(times, key=repr)
    return Survey(
        cells,
        np.array([times[cell] for cell in cells], dtype=np.int64),
        sum(survey.n_null for survey in surveys),
        {role: sum(survey.n_bad[role] for survey in surveys) for role in ("unit", "rater")},
        tuple(dict.fromkeys(role for survey in surveys for role in survey.inexact)),
    )


def find_cell(part: pd.DataFrame, cell: object) -> str:
    """Return the place of a cell, or of a null if `cell` is None, in a part; "" if it is absent."""
    codes, cells = _distinct(part["answer"])
    first = part[codes == (cells.index(cell) if cell in cells else MISSING)].iloc[:1]
    if first.empty or (cell is not None and cell not in cells):
        return ""
    unit, rater = (as_objects(first[role])[0] for role in ("unit", "rater"))
    return f"Unit {shorten(unit)}, rater {shorten(rater)}"


def code_part(
    part: pd.DataFrame, codes: Mapping[Hashable, int], null_code: int = MISSING
) -> pd.DataFrame:
    """Return the annotations of a part: ``unit`` and ``rater`` as text, and ``code``.

    `codes` are those of the cells, and `null_code` is that of nulls; -1 is no annotation.
    """
    places, cells = _distinct(part["answer"])
    of_cells = np.array([*(codes[cell] for cell in cells), null_code], dtype=np.int64)
    code = of_cells[places]
    rated = code != MISSING
    ids = {role: _as_text(part[role][rated], role) for role in ("unit", "rater")}
    return pd.DataFrame({**ids, "code": code[rated]})


def reduce_part(part: pd.DataFrame, *, assume_unique: bool, keep_raters: bool = False) -> Part:
    """Return the patterns of a part with whole units, from the result of `code_part`."""
    if not len(part):
        return Part([], Repeats(0, []), frozenset())
    units, unit_names = pd.factorize(part["unit"])
    raters, rater_names = pd.factorize(part["rater"])
    used, codes = np.unique(part["code"].to_numpy(), return_inverse=True)
    names = as_objects(unit_names), as_objects(rater_names)
    study = Annotations("category", *names, tuple(used.tolist()), units, raters, codes)
    tally = anonymous(Tally.of(study, keep_raters=keep_raters))
    # With kept raters, repeats are detected without a search, and no coefficient is defined.
    unique = assume_unique and (tally.given is None or not tally.given.has_repeats())
    repeats = Repeats(0, []) if unique else _find_repeats(study)
    return Part([tally], repeats, frozenset(rater_names))


def _find_repeats(study: Annotations) -> Repeats:
    keys = study.unit_codes.astype(np.int64) * study.n_raters + study.rater_codes
    pairs, times = np.unique(keys, return_counts=True)
    repeated = np.flatnonzero(times > 1)
    few = [
        (
            id_of_text(study.units[pairs[k] // study.n_raters]),
            id_of_text(study.raters[pairs[k] % study.n_raters]),
            int(times[k]),
        )
        for k in repeated[:3]
    ]
    return Repeats(len(repeated), few)


def _distinct(column: Column) -> tuple[Codes, list[Any]]:
    """Return codes and distinct cells, with lists, sets and objects as hashable `Held` cells."""
    codes, cells = distinct_cells(without_dictionary(column))
    merged, values = merge([*map(_hashable, cells)])
    return recode(codes, merged), [*values]


def _hashable(cell: Any) -> Any:
    """Return a hashable cell, or a `Held` cell that is compared by text: [1] is not [True]."""
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    if isinstance(cell, set):
        return Held(f"{{{sorted(map(repr, cell))}}}", cell)
    return Held(repr(cell), cell) if isinstance(cell, list | dict) else cell


def _count_nameless(column: Column) -> int:
    codes, names = factorise(without_dictionary(column))
    blank = [k for k, name in enumerate(names) if isinstance(name, str) and not name.strip()]
    return int(np.isin(codes, [MISSING, *blank]).sum())


def _as_text(column: Column, role: str) -> Column:
    """Return identifiers as text, so that equal ones are equal on every machine."""
    codes, names = code_ids(without_dictionary(column), role)
    return pd.Series(as_objects(map(spelled, names))[codes], dtype=object)


def is_dask(data: object) -> bool:
    """Return whether an object is a data frame of Dask, without importing it."""
    package = type(data).__module__.partition(".")[0]
    return package in {"dask", "dask_expr"} and hasattr(data, "to_delayed")


def reduce_dask(
    frame: Any,
    columns: Mapping[str, str],
    reading: Reading,
    plan: Plan,
) -> tuple[CodedCells, Part]:
    """Return the coded answers of a Dask frame and its patterns.

    The rows are shuffled once, so that each partition has whole units, unless the plan states that.
    """
    from dask.delayed import delayed

    where = reading.condition
    tested = [] if where is None else where.columns_in(list(frame.columns))
    names = [*columns.values(), *tested]
    before = _source(frame, frame.expr)  # the frame before a conversion of objects to text
    frame = (frame if before is None else before)[list(dict.fromkeys(names))]
    _check_made_text(frame)
    if where is None:
        parts = frame.rename(columns={c: r for r, c in columns.items()}).to_delayed()
    else:
        parts = _kept(frame.to_delayed(), where, tested, columns)
    survey = _compute(_tree([delayed(survey_part)(p) for p in parts], merge_surveys))
    survey = replace(survey, order=_order(frame[columns["answer"]]))

    def place(position: int) -> str:
        cell = survey.cells[position] if position < len(survey.cells) else None
        return str(_compute(_tree([delayed(find_cell)(p, cell) for p in parts], max)))

    coded = code_cells(survey, reading, name=columns["answer"], place=place)
    codes = delayed(dict(zip(survey.cells, coded.answers.codes.tolist(), strict=False)))
    rows: Sequence[Delayed] = [delayed(code_part)(p, codes, coded.null_code) for p in parts]
    if not plan.partitioned_by_unit:
        rows = _shuffled(rows)
    options = {"assume_unique": plan.assume_unique, "keep_raters": plan.keep_raters}
    reduced = [delayed(reduce_part)(p, **options) for p in rows]
    return coded, _compute(_tree(reduced, merge_parts))


def _order(column: Any) -> tuple[Any, ...]:
    """Return the ordered categories of a column, or () if Dask has not computed them."""
    is_known = isinstance(column.dtype, pd.CategoricalDtype) and column.cat.known
    return order_of(pd.Series([], dtype=column.dtype)) if is_known else ()


def _kept(
    parts: Sequence[Delayed], where: Where, tested: Sequence[Any], columns: Mapping[str, str]
) -> Sequence[Delayed]:
    """Return the roles of the matching rows of each part, and warn of the number of other rows."""
    from dask.delayed import delayed

    kept = [delayed(kept_part, nout=2)(part, where, tested, columns) for part in parts]
    counts = _compute(_tree([n for _, n in kept], partial(sum, start=NO_ROWS)))
    counts.report(where)
    return [part for part, _ in kept]


def _source(frame: Any, step: Any) -> Any:
    """Return the frame before a step that converts objects to text, or None for other steps."""
    # The module of this function differs between releases of Dask.
    collection: Any = vars(inspect.getmodule(type(frame)))["new_collection"]
    kind = type(step).__name__
    if kind == "ArrowStringConversion":
        return collection(step.frame)
    if kind.startswith("FromPandas") and step.operand("pyarrow_strings_enabled"):
        return collection(step.substitute_parameters({"pyarrow_strings_enabled": False}))
    return None


def _check_made_text(frame: Any) -> None:
    """Raise an error for objects that Dask converts to text: True to 'True', and 1 to '1'."""
    from dask.delayed import delayed

    # After optimisation, the steps read only the required columns.
    sources = [_source(frame, step) for step in frame.optimize(fuse=False).expr.walk()]
    for source in [x for x in sources if x is not None and "object" in map(str, x.dtypes)]:
        parts = [delayed(_other_objects)(part) for part in source.to_delayed()]
        for name, what in _compute(_tree(parts, _merged)).items():
            raise DataError(
                f"column {name!r} holds {what} objects, which Dask converts to text (True becomes "
                "'True'); give the column one type, or use dask.config.set({'dataframe.convert-"
                "string': False}) before you create the frame."
            )


def _merged(kinds: Sequence[dict[Any, str]]) -> dict[Any, str]:
    return {name: kind for part in kinds for name, kind in part.items()}


def _other_objects(part: pd.DataFrame) -> dict[Any, str]:
    """Return the kind of objects of each column of objects that are not text."""
    objects = [name for name in part.columns if part[name].dtype == object]
    kinds = {name: pd.api.types.infer_dtype(part[name], skipna=True) for name in objects}
    return {name: kind for name, kind in kinds.items() if kind not in {"string", "empty"}}


def _shuffled(parts: Sequence[Delayed]) -> Sequence[Delayed]:
    """Return parts with all annotations of their units."""
    import dask.dataframe as dd

    meta = pd.DataFrame({"unit": [""], "rater": [""], "code": [0]}, dtype=object).astype(
        {"code": "int64"}
    )
    rows = dd.from_delayed(parts, meta=meta.iloc[:0], verify_meta=False)
    return rows.shuffle("unit").to_delayed()  # type: ignore[no-any-return]


def _tree(parts: Sequence[Delayed], merge: Callable[[Sequence[Any]], Any]) -> Delayed:
    """Merge a few parts at a time, so that no worker needs all of them."""
    from dask.delayed import delayed

    parts = [delayed(merge)(parts[k : k + _FAN]) for k in range(0, len(parts), _FAN)]
    return parts[0] if len(parts) == 1 else _tree(parts, merge)


def _compute(result: Delayed) -> Any:
    try:
        return result.compute()  # type: ignore[no-untyped-call]
    except SetagreeError:
        raise
    except Exception as error:  # a cluster or the user's graph may raise any exception
        raise stopped("Dask", error) from error


_COLUMNS = ("part", "pattern", "times", "code", "count")
_BY_RATER = (*_COLUMNS, "who")


def reduce_partitions(rows: CodedRows, *, assume_unique: bool, keep_raters: bool) -> Tally | None:
    """Return the patterns of a Spark frame whose partitions have whole units.

    Return None if a pair of unit and rater occurs more than once.
    """
    import narwhals as nw

    def reduced(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return reduced_batches(batches, assume_unique=assume_unique, keep_raters=keep_raters)

    rater = nw.col("who" if keep_raters else "rater").alias("rater")
    native = rows.frame.select("unit", rater, "code").to_native()
    schema = ", ".join(f"{name} long" for name in (_BY_RATER if keep_raters else _COLUMNS))
    entries = fetch(nw.from_native(native.mapInArrow(reduced, schema)), rows.engine)
    if (entries["code"] == MISSING).any():
        return None
    parts = [
        tally_of_entries(entries.filter(nw.col("part") == part), ("pattern",))
        for part in entries["part"].unique().to_list()
    ]
    return merge_all(parts)


def reduced_batches(
    batches: Iterator[pa.RecordBatch], *, assume_unique: bool, keep_raters: bool = False
) -> Iterator[pa.RecordBatch]:
    """Yield the entries of the patterns of one partition, or one entry -1 for a repeated pair.

    Kept raters are already codes.
    """
    import pyarrow as pa
    from pyspark import TaskContext

    filled = [batch for batch in batches if batch.num_rows]
    if not filled:
        return
    table = pa.Table.from_batches(filled).to_pandas()
    part = reduce_part(table, assume_unique=assume_unique, keep_raters=keep_raters)
    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    if part.repeats.n:
        yield _batch([[number], [0], [0], [MISSING], [0], [0]][: 5 + keep_raters])
        return
    (tally,) = part.tallies
    given, values = tally.given, np.array(tally.values)
    if given is None:
        rows, entries = tally.rows, [values[tally.indices], tally.counts]
    else:
        rows, codes = given.rows, values[given.value_codes]
        entries = [codes, np.ones(len(codes)), given.raters[given.rater_codes]]
    columns = [np.full(len(rows), number), rows, tally.multiplicity[rows], *entries]
    yield _batch([np.asarray(column).astype(np.int64) for column in columns])


def _batch(columns: list[Any]) -> pa.RecordBatch:
    import pyarrow as pa

    arrays = [pa.array(column, pa.int64()) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, names=list(_BY_RATER[: len(columns)]))
