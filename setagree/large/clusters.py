"""Frames of Dask and Spark, whose workers reduce partitions of whole units."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from setagree.errors import DataError, SetagreeError
from setagree.large.engines import fetch, stopped
from setagree.large.filtering import kept_part
from setagree.large.partitions import (
    Part,
    code_part,
    find_cell,
    merge_parts,
    merge_surveys,
    reduce_part,
    survey_part,
)
from setagree.large.patterns import CodedCells, code_cells, merge_all, tally_of_entries
from setagree.large.steps import CodedRows
from setagree.study.codes import MISSING, order_of
from setagree.study.reading import Reading
from setagree.study.row_filter import NO_ROWS, Where
from setagree.study.tally import Given, Tally

if TYPE_CHECKING:
    import pyarrow as pa
    from dask.delayed import Delayed


_FAN = 8


def is_dask(data: object) -> bool:
    """Return whether an object is a data frame of Dask, without importing it."""
    package = type(data).__module__.partition(".")[0]
    return package in {"dask", "dask_expr"} and hasattr(data, "to_delayed")


def reduce_dask(
    frame: Any,
    columns: Mapping[str, str],
    reading: Reading,
    *,
    assume_unique: bool,
    partitioned_by_unit: bool,
    keep_raters: bool = False,
) -> tuple[CodedCells, Part]:
    """Return the coded answers of a Dask frame and its patterns.

    The rows are shuffled once, so that a partition holds whole units, unless it does already.
    """
    from dask.delayed import delayed

    where = reading.condition
    asked = [] if where is None else where.found_in(list(frame.columns))
    names = [*columns.values(), *asked]
    frame = _before_text(frame)[list(dict.fromkeys(names))]
    _check_made_text(frame)
    if where is None:
        parts = frame.rename(columns={c: r for r, c in columns.items()}).to_delayed()
    else:
        parts = _kept(frame.to_delayed(), where, asked, columns)
    survey = _compute(_tree([delayed(survey_part)(p) for p in parts], merge_surveys))
    survey = replace(survey, order=_order(frame[columns["answer"]]))

    def place(position: int) -> str:
        cell = survey.cells[position] if position < len(survey.cells) else None
        return str(_compute(_tree([delayed(find_cell)(p, cell) for p in parts], max)))

    coded = code_cells(survey, reading, name=columns["answer"], place=place)
    codes = delayed(dict(zip(survey.cells, coded.answers.codes.tolist(), strict=False)))
    rows: Sequence[Delayed] = [delayed(code_part)(p, codes, coded.null_code) for p in parts]
    if not partitioned_by_unit:
        rows = _shuffled(rows)
    how = {"assume_unique": assume_unique, "keep_raters": keep_raters}
    reduced = [delayed(reduce_part)(p, **how) for p in rows]
    return coded, _compute(_tree(reduced, merge_parts))


def _order(column: Any) -> tuple[Any, ...]:
    """Return the ordered categories of a column, or () if Dask has not computed them."""
    is_known = isinstance(column.dtype, pd.CategoricalDtype) and column.cat.known
    return order_of(pd.Series([], dtype=column.dtype)) if is_known else ()


def _kept(
    parts: Sequence[Delayed], where: Where, asked: Sequence[Any], columns: Mapping[str, str]
) -> Sequence[Delayed]:
    """Return the roles of the rows of each part that match; warn how many do not."""
    from dask.delayed import delayed

    kept = [delayed(kept_part, nout=2)(part, where, asked, columns) for part in parts]
    counts = _compute(_tree([n for _, n in kept], partial(sum, start=NO_ROWS)))
    counts.check(where)
    counts.warn_dropped(where)
    return [part for part, _ in kept]


def _before_text(frame: Any) -> Any:
    """Return a frame as it was before Dask made text of its objects, if that was the last step."""
    before = _source(frame, frame.expr)
    return frame if before is None else before


def _source(frame: Any, step: Any) -> Any:
    """Return the frame that a step of another makes text of, or None if it does something else."""
    # Where Dask keeps this function has changed with its releases.
    collection: Any = vars(inspect.getmodule(type(frame)))["new_collection"]
    kind = type(step).__name__
    if kind == "ArrowStringConversion":
        return collection(step.frame)
    if kind.startswith("FromPandas") and step.operand("pyarrow_strings_enabled"):
        return collection(step.substitute_parameters({"pyarrow_strings_enabled": False}))
    return None


def _check_made_text(frame: Any) -> None:
    """Raise an error for objects that Dask converts to text by default.

    Raises
    ------
    DataError
        Some are no text: True would be read as the text 'True', and 1 be the same as '1'.
    """
    from dask.delayed import delayed

    # Optimised, the steps read the columns of need alone.
    sources = [_source(frame, step) for step in frame.optimize(fuse=False).expr.walk()]
    for source in [one for one in sources if one is not None and "object" in map(str, one.dtypes)]:
        parts = [delayed(_no_text)(part) for part in source.to_delayed()]
        for name, what in _compute(_tree(parts, _merged)).items():
            raise DataError(
                f"column {name!r} holds {what} objects, of which Dask makes text (True becomes "
                "'True'); give the column one type, or say dask.config.set({'dataframe.convert-"
                "string': False}) before the frame is made."
            )


def _merged(found: Sequence[dict[Any, str]]) -> dict[Any, str]:
    return {name: what for one in found for name, what in one.items()}


def _no_text(part: pd.DataFrame) -> dict[Any, str]:
    """Return the columns of objects that are no text, and what they are."""
    objects = [name for name in part.columns if part[name].dtype == object]
    kinds = {name: pd.api.types.infer_dtype(part[name], skipna=True) for name in objects}
    return {name: kind for name, kind in kinds.items() if kind not in {"string", "empty"}}


def _shuffled(parts: Sequence[Delayed]) -> Sequence[Delayed]:
    """Bring all annotations of a unit together."""
    import dask.dataframe as dd

    meta = pd.DataFrame({"unit": [""], "rater": [""], "code": [0]}, dtype=object).astype(
        {"code": "int64"}
    )
    rows = dd.from_delayed(parts, meta=meta.iloc[:0], verify_meta=False)
    return rows.shuffle("unit").to_delayed()  # type: ignore[no-any-return]


def _tree(parts: Sequence[Delayed], merge: Callable[[Sequence[Any]], Any]) -> Delayed:
    """Merge a few at a time, so that no worker holds all parts."""
    from dask.delayed import delayed

    parts = [delayed(merge)(parts[k : k + _FAN]) for k in range(0, len(parts), _FAN)]
    return parts[0] if len(parts) == 1 else _tree(parts, merge)


def _compute(result: Delayed) -> Any:
    try:
        return result.compute()  # type: ignore[no-untyped-call]
    except SetagreeError:
        raise
    except Exception as error:  # whatever goes wrong in a cluster, or in the user's own graph
        raise stopped("Dask", error) from error


_COLUMNS = ("part", "pattern", "times", "code", "count")
_BY_RATER = (*_COLUMNS, "who")


def reduce_partitions(rows: CodedRows, *, assume_unique: bool, keep_raters: bool) -> Tally | None:
    """Return the patterns of a Spark frame whose partitions hold whole units.

    None says that a pair of unit and rater occurs more than once.
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
    """Give the entries of the patterns of one partition; one entry -1 where a pair repeats.

    Raters that are kept are codes already.
    """
    import pyarrow as pa
    from pyspark import TaskContext

    held = [batch for batch in batches if batch.num_rows]
    if not held:
        return
    table = pa.Table.from_batches(held).to_pandas()
    part = reduce_part(table, assume_unique=assume_unique, keep_raters=keep_raters)
    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    if part.repeats.n:
        yield _batch([[number], [0], [0], [MISSING], [0], [0]][: 5 + keep_raters])
        return
    (tally,) = part.tallies
    columns = [np.full(len(tally.rows), number), *_entries(tally)]
    if tally.given is not None:
        columns = [np.full(len(tally.given.rows), number), *_entries_by_rater(tally, tally.given)]
    yield _batch([np.asarray(column).astype(np.int64) for column in columns])


def _entries(tally: Tally) -> list[Any]:
    codes = np.array(tally.values)[tally.indices]
    return [tally.rows, tally.multiplicity[tally.rows], codes, tally.counts]


def _entries_by_rater(tally: Tally, given: Given) -> list[Any]:
    codes, who = np.array(tally.values)[given.value_codes], given.raters[given.rater_codes]
    return [given.rows, tally.multiplicity[given.rows], codes, np.ones(len(codes)), who]


def _batch(columns: list[Any]) -> pa.RecordBatch:
    import pyarrow as pa

    arrays = [pa.array(column, pa.int64()) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, names=list(_BY_RATER[: len(columns)]))
