"""Spark: partitions that hold whole units are reduced where they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from setagree.coding import MISSING
from setagree.sources.reduction.engines import fetch
from setagree.sources.reduction.parts import reduce_part
from setagree.sources.reduction.patterns import merge_all, tally_of_entries
from setagree.sources.reduction.program import CodedRows
from setagree.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa

_COLUMNS = ("part", "pattern", "times", "code", "count")


def reduce_partitions(rows: CodedRows, *, assume_unique: bool) -> Tally | None:
    """Return the patterns of a Spark frame whose partitions hold whole units.

    None says that a pair of unit and rater occurs more than once.
    """
    import narwhals as nw

    def reduced(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return reduced_batches(batches, assume_unique=assume_unique)

    native = rows.frame.select("unit", "rater", "code").to_native()
    schema = ", ".join(f"{name} long" for name in _COLUMNS)
    entries = fetch(nw.from_native(native.mapInArrow(reduced, schema)), rows.engine)
    if (entries["code"] == MISSING).any():
        return None
    parts = [
        tally_of_entries(entries.filter(nw.col("part") == part), ("pattern",))
        for part in entries["part"].unique().to_list()
    ]
    return merge_all(parts)


def reduced_batches(
    batches: Iterator[pa.RecordBatch], *, assume_unique: bool
) -> Iterator[pa.RecordBatch]:
    """Give the entries of the patterns of one partition; one entry -1 where a pair repeats."""
    import pyarrow as pa
    from pyspark import TaskContext

    held = [batch for batch in batches if batch.num_rows]
    if not held:
        return
    part = reduce_part(pa.Table.from_batches(held).to_pandas(), assume_unique=assume_unique)
    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    if part.repeats.n:
        yield _batch([[number], [0], [0], [MISSING], [0]])
        return
    (tally,) = part.tallies
    codes = np.array(tally.values)[tally.indices]
    times = tally.multiplicity[tally.rows]
    columns = [np.full(len(codes), number), tally.rows, times, codes, tally.counts]
    yield _batch([np.asarray(column).astype(np.int64) for column in columns])


def _batch(columns: list[Any]) -> pa.RecordBatch:
    import pyarrow as pa

    arrays = [pa.array(column, pa.int64()) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, names=list(_COLUMNS))
