"""Spark: partitions that hold whole units are reduced where they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from setagree.large.engines import fetch
from setagree.large.partitions import reduce_part
from setagree.large.patterns import merge_all, tally_of_entries
from setagree.large.steps import CodedRows
from setagree.study.codes import MISSING
from setagree.study.tally import Given, Tally

if TYPE_CHECKING:
    import pyarrow as pa

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
