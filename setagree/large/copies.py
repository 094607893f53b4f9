"""Files of text as Parquet: copied by the readers of tables in memory, some megabytes at a time.

DuckDB reads CSV and JSON itself, and faster, but not every file as the readers of memory do, and
a row that is read otherwise is another number. So these read it here, too. What they keep of a
file, three columns of it, is written into the folder for what does not fit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from itertools import compress
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.checks import no_collection
from setagree.errors import DataError, FileError, a_type, missing_package, option
from setagree.files.delimited import delimited_pieces
from setagree.files.records import line_pieces
from setagree.files.streams import Source, check_columns, readable
from setagree.large.partitions import spelled
from setagree.study.labels import is_missing
from setagree.study.names import check_text
from setagree.study.row_filter import NO_ROWS, Counts, Where

if TYPE_CHECKING:
    import pyarrow as pa

TextKind: TypeAlias = Literal["delimited", "json lines"]
_ENCODER = json.JSONEncoder(default=float)
_APART = ("text", "number")
Cells: TypeAlias = "Mapping[str, Any]"

_BLOCK_SIZE = 4
"""Files that are copied at a time at most: each has some megabytes of its rows in memory."""


@dataclass
class Copy:
    """A file of text, copied as Parquet.

    The copy holds ``unit``, ``rater`` and ``answer`` as text, answers of JSON as JSON, of the rows
    that match `where`; `counts` says how many do. `names` are the columns of the file as memory
    finds them, and `kinds` tells for each role whether its cells are text, numbers, or neither.
    """

    source: Source
    path: str
    names: dict[str, None] = field(default_factory=dict)
    kinds: dict[str, set[str]] = field(default_factory=dict)
    where: Where | None = None
    counts: Counts = NO_ROWS

    def matching(self, where: Where, cells: Sequence[Any]) -> npt.NDArray[np.bool_]:
        """Return whether each row matches by its cells in the columns of `where`; count them."""
        kept, counts = where.match(cells)
        self.counts += counts
        return kept


def copy_texts(
    sources: Sequence[Source],
    kind: TextKind,
    columns: Mapping[str, str],
    folder: str,
    where: Where | None = None,
) -> list[Copy]:
    """Copy the three columns of files, which are named by role, of the rows that match.

    Several files are copied at a time, by threads, as parts of the reading hold no lock of Python:
    on two cores, two files took a quarter to a third less time than one after the other.
    """
    stopped = Event()
    one = partial(_copy_text, kind=kind, columns=columns, stopped=stopped)
    copies = [
        Copy(x, str(Path(folder, f"{n}.parquet")), where=where) for n, x in enumerate(sources)
    ]
    if len(copies) == 1:
        return [one(copies[0])]
    with ThreadPoolExecutor(min(len(copies), _BLOCK_SIZE, os.cpu_count() or 1)) as pool:
        tasks = [pool.submit(one, copy) for copy in copies]
        try:
            return [task.result() for task in tasks]
        except BaseException:  # also Ctrl-C, which only this thread hears
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise


def _copy_text(copy: Copy, kind: TextKind, columns: Mapping[str, str], stopped: Event) -> Copy:
    """Copy one file, unless another one has failed meanwhile."""
    pieces = (_delimited if kind == "delimited" else _of_lines)(copy, columns)
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise missing_package("reducing large files", "pyarrow", "files") from None
    with (
        readable(copy.source),
        pq.ParquetWriter(copy.path, _schema()) as writer,
        no_collection(),
    ):
        for cells in pieces:
            if stopped.is_set():
                break
            _write(writer, cells, copy)
    if copy.where is not None:
        copy.where.found_in(list(copy.names))
    return copy


def check_alike(copies: Sequence[Copy]) -> None:
    """Raise `FileError` where files of one table differ as memory does not let them."""
    first = copies[0]
    for copy in copies:
        check_columns(copy.source, copy.names, first.source, first.names)
    for role in first.kinds:
        found = {kind: [c for c in copies if c.kinds[role] == {kind}] for kind in _APART}
        text, numbers = (found[kind] for kind in _APART)
        if text and numbers:
            raise FileError(
                f"the {role} is text in {text[0].source} and numbers in {numbers[0].source}, where "
                "1 and '1' would be two things; write both in one way."
            )


def _schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema([(role, pa.large_string()) for role in ("unit", "rater", "answer")])


def _write(writer: Any, cells: Cells, copy: Copy) -> None:
    import pyarrow as pa

    try:
        table = pa.table(cells, schema=_schema())
    except UnicodeEncodeError:
        for role in ("unit", "rater"):  # answers are copied as JSON, which spells it
            for name in cells[role]:
                check_text(name, f"{copy.source}: the {role}", FileError)
        raise
    try:
        writer.write_table(table)
    except OSError as error:
        raise FileError(
            f"the copy of {copy.source} cannot be written ({error}); name a folder with room as "
            f"{option('temp_directory')}."
        ) from error


def _delimited(copy: Copy, columns: Mapping[str, str]) -> Iterator[Cells]:
    """Yield the cells of the roles; find the columns."""
    blank: set[str] | None = None
    for piece in delimited_pieces(copy.source):
        copy.names = dict.fromkeys(piece.columns)
        blank = {name for place, name in enumerate(piece, 1) if name == f"column {place}"} & (
            set(piece) if blank is None else blank
        )
        blank = {name for name in blank if (piece[name] == "").all()}
        if missing := [name for name in columns.values() if name not in copy.names]:
            raise FileError(f"{copy.source} has no column {missing[0]!r}.")
        if (where := copy.where) is not None:
            cells = [piece[name] for name in where.found_in(list(piece))]
            piece = piece[copy.matching(where, cells)]
        yield {role: piece[name] for role, name in columns.items()}
    copy.names = {name: None for name in copy.names if name not in (blank or set())}


def _of_lines(copy: Copy, columns: Mapping[str, str]) -> Iterator[Cells]:
    """Yield the cells of the roles, identifiers as text and answers as JSON; find the keys."""
    spell: dict[str, Callable[[Any, str], str]] = {"unit": _id, "rater": _id, "answer": _json}
    copy.kinds = {role: set() for role in columns}
    for rows in line_pieces(copy.source):
        copy.names.update(dict.fromkeys(name for row in rows for name in row))
        for role, name in columns.items():
            cells = {type(c) for row in rows if not is_nothing(c := row.get(name))}
            copy.kinds[role].update(map(_kind, cells))
        some = rows
        if (where := copy.where) is not None:
            asked = [[row.get(name) for row in rows] for name in where.columns]
            some = list(compress(rows, copy.matching(where, asked)))
        found = {role: [row.get(name) for row in some] for role, name in columns.items()}
        yield {
            role: [None if is_nothing(c) else spell[role](c, role) for c in cells]
            for role, cells in found.items()
        }


def is_nothing(cell: object) -> bool:
    """Return whether JSON has no value there: null, or NaN, which Python writes."""
    return cell is None or (isinstance(cell, float) and is_missing(cell))


def _kind(kind: type) -> str:
    if kind is str:
        return "text"
    return "number" if kind in {int, float, bool, Decimal} else "other"


def _id(cell: Any, role: str) -> str:
    if isinstance(cell, list | dict):
        raise DataError(f"a {role} is named by text or a number (this is {a_type(cell)}).")
    return spelled(cell)


def _json(cell: Any, role: str) -> str:  # noqa: ARG001 - as identifiers are
    return str(cell) if isinstance(cell, Decimal) else _ENCODER.encode(cell)
