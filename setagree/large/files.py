"""Files larger than memory: their columns, copies in Parquet and repeated ratings."""

from __future__ import annotations

import json
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from itertools import chain, compress, islice
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import no_collection
from setagree.errors import (
    DataError,
    FileError,
    OptionError,
    RepeatsError,
    SetagreeError,
    SetagreeWarning,
    UnnamedError,
    a_type,
    listing,
    needing,
    option,
    python_or_command,
)
from setagree.files.binary import is_dataset
from setagree.files.delimited import delimited_pieces, header_names
from setagree.files.records import line_pieces
from setagree.files.streams import (
    LINES_SUFFIXES,
    TEXT_SUFFIXES,
    Paths,
    Source,
    check_columns,
    file_names,
    find_sources,
    is_stdin,
    matching,
    n_bytes,
    readable,
)
from setagree.files.tables import read_table
from setagree.large import steps
from setagree.large.engines import quoted, run_query, sql_name
from setagree.large.patterns import spelled
from setagree.study.annotations import Annotations
from setagree.study.codes import common_order
from setagree.study.columns import with_columns
from setagree.study.identifiers import check_text, tidied
from setagree.study.labels import is_missing
from setagree.study.preparation import with_order
from setagree.study.reading import Reading
from setagree.study.row_filter import NO_ROWS, Counts, Where

if TYPE_CHECKING:
    import pyarrow as pa


TextKind: TypeAlias = Literal["delimited", "json lines"]
_ENCODER = json.JSONEncoder(default=float)
_APART = ("text", "number")
Cells: TypeAlias = "Mapping[str, Any]"

_BLOCK_SIZE = 4
"""Largest number of files that are copied at once; each has some megabytes in memory."""


@dataclass
class Copy:
    """A text file, copied as Parquet.

    The copy has ``unit``, ``rater`` and ``answer`` as text (answers of JSON as JSON) of the rows
    that match `where`, and `counts` are their numbers. `names` are the columns of the file as in
    memory, and `kinds` are the kinds of cells of each role: text, number or other.
    """

    source: Source
    path: str
    names: dict[str, None] = field(default_factory=dict)
    kinds: dict[str, set[str]] = field(default_factory=dict)
    where: Where | None = None
    counts: Counts = NO_ROWS

    def matching(self, where: Where, cells: Sequence[Any]) -> npt.NDArray[np.bool_]:
        """Return whether each row matches by its cells in the columns of `where`, and count."""
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
    """Copy the columns of the three roles, for the rows that match.

    Several files are copied at once, by threads, because parts of the reading release the GIL: on
    two cores, two files took a quarter to a third less time than in turn.
    """
    stopped = Event()
    copy_file = partial(_copy_text, kind=kind, columns=columns, stopped=stopped)
    copies = [
        Copy(x, str(Path(folder, f"{n}.parquet")), where=where) for n, x in enumerate(sources)
    ]
    if len(copies) == 1:
        return [copy_file(copies[0])]
    with ThreadPoolExecutor(min(len(copies), _BLOCK_SIZE, os.cpu_count() or 1)) as pool:
        tasks = [pool.submit(copy_file, copy) for copy in copies]
        try:
            return [task.result() for task in tasks]
        except BaseException:  # also Ctrl-C, which interrupts only this thread
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise


def _copy_text(copy: Copy, kind: TextKind, columns: Mapping[str, str], stopped: Event) -> Copy:
    """Copy one file, unless the copy of another one has failed."""
    pieces = (_delimited if kind == "delimited" else _of_lines)(copy, columns)
    with needing("pyarrow", "reducing large files"):
        import pyarrow.parquet as pq
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
        copy.where.columns_in(list(copy.names))
    return copy


def check_alike(copies: Sequence[Copy]) -> None:
    """Raise `FileError` if files of one table differ in columns or in text and numbers."""
    first = copies[0]
    for copy in copies:
        check_columns(copy.source, copy.names, first.source, first.names)
    for role in first.kinds:
        text, numbers = ([c for c in copies if c.kinds[role] == {kind}] for kind in _APART)
        if text and numbers:
            raise FileError(
                f"the {role} is text in {text[0].source} and numbers in {numbers[0].source}, where "
                "1 and '1' would differ; write both in one way."
            )


def _schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema([(role, pa.large_string()) for role in ("unit", "rater", "answer")])


def _write(writer: Any, cells: Cells, copy: Copy) -> None:
    import pyarrow as pa

    try:
        table = pa.table(cells, schema=_schema())
    except UnicodeEncodeError:
        for role in ("unit", "rater"):  # answers are JSON, which escapes lone surrogates
            for name in cells[role]:
                check_text(name, f"{copy.source}: the {role}", FileError)
        raise
    try:
        writer.write_table(table)
    except OSError as error:
        raise FileError(
            f"the copy of {copy.source} cannot be written ({error}); name a folder with space as "
            f"{option('temp_directory')}."
        ) from error


def _delimited(copy: Copy, columns: Mapping[str, str]) -> Iterator[Cells]:
    """Yield the cells of the roles, and set the columns of the copy."""
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
            cells = [piece[name] for name in where.columns_in(list(piece))]
            piece = piece[copy.matching(where, cells)]
        yield {role: piece[name] for role, name in columns.items()}
    copy.names = {name: None for name in copy.names if name not in (blank or set())}


def _of_lines(copy: Copy, columns: Mapping[str, str]) -> Iterator[Cells]:
    """Yield the cells of the roles, identifiers as text and answers as JSON, and set the keys."""
    spell: dict[str, Callable[[Any], str]] = {
        "unit": partial(_id, role="unit"),
        "rater": partial(_id, role="rater"),
        "answer": lambda cell: str(cell) if isinstance(cell, Decimal) else _ENCODER.encode(cell),
    }
    copy.kinds = {role: set() for role in columns}
    for rows in line_pieces(copy.source):
        copy.names.update(dict.fromkeys(name for row in rows for name in row))
        for role, name in columns.items():
            cells = {type(c) for row in rows if not is_nothing(c := row.get(name))}
            copy.kinds[role].update(map(_kind, cells))
        kept = rows
        if (where := copy.where) is not None:
            tested = [[row.get(name) for row in rows] for name in where.columns]
            kept = list(compress(rows, copy.matching(where, tested)))
        cells_of = {role: [row.get(name) for row in kept] for role, name in columns.items()}
        yield {
            role: [None if is_nothing(c) else spell[role](c) for c in cells]
            for role, cells in cells_of.items()
        }


def is_nothing(cell: object) -> bool:
    """Return whether a JSON value is null or NaN, which Python writes."""
    return cell is None or (isinstance(cell, float) and is_missing(cell))


def _kind(kind: type) -> str:
    if kind is str:
        return "text"
    return "number" if kind in {int, float, bool, Decimal} else "other"


def _id(cell: Any, role: str) -> str:
    if isinstance(cell, list | dict):
        raise DataError(f"a {role} is named by text or a number (this is {a_type(cell)}).")
    return spelled(cell)


FileKind: TypeAlias = Literal["parquet", "delimited", "json lines"]


_WILD = set("*?[]")
_AMOUNT = re.compile(r"\d+(\.\d+)?\s*[KMGT]i?B", re.IGNORECASE)
# Types of Arrow that Parquet has too; DuckDB reads others as their storage type.
_READ = re.compile(
    r"u?int\d|float|double|bool|string|large_string|binary|large_binary|null|date|time|decimal"
    r"|list|large_list|fixed_size_list|struct|map|extension<arrow.(uuid|json)>"
)
_DIGITS = re.compile(r"decimal\d+\((\d+)")
_MAX_DIGITS = 38


@dataclass(frozen=True)
class Files:
    """Files with one table.

    `names` are its columns; for JSON lines, those of the first lines. `types` are the types of the
    columns of each Parquet file.
    """

    sources: list[Source]
    kind: FileKind
    names: list[str]
    types: tuple[Mapping[str, str], ...] = ()

    def all_names(self) -> list[str]:
        """Return all keys of objects in JSON lines, or the columns of other files."""
        if self.kind != "json lines":
            return self.names
        names: dict[str, None] = {}
        for source in self.sources:
            with readable(source), no_collection():
                for rows in line_pieces(source):
                    names.update(dict.fromkeys(name for row in rows for name in row))
        return list(names)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Raise `FileError` if a file changes while it is read, which is done several times."""
        before = list(map(_stamp, self.sources))
        yield
        for source, stamp in zip(self.sources, before, strict=True):
            if _stamp(source) != stamp:
                raise FileError(f"{source} changed while it was read, so there is no result.")

    def ready(self, folder: str, columns: Mapping[str, str], where: Where | None = None) -> Ready:
        """Return the Parquet files that DuckDB reads: the files, or copies in a folder.

        Copies have only the rows that match; for Parquet files the columns of the condition are
        read, too.
        """
        if self.kind == "parquet":
            if where is not None:
                tested = where.columns_in(self.names)
                columns = {**columns, **dict(zip(condition_columns(where), tested, strict=True))}
            self._check_names(columns)
            self._check_types(columns)
            return Ready(_plain([str(source.path) for source in self.sources]), self.names, columns)
        copies = copy_texts(self.sources, self.kind, columns, folder, where)
        check_alike(copies)
        paths = _plain([copy.path for copy in copies])
        names, roles = [*copies[0].names], {r: r for r in columns}
        counts = sum((copy.counts for copy in copies), NO_ROWS)
        return Ready(paths, names, roles, self.kind == "json lines", counts)

    def order(self, column: str) -> tuple[Any, ...]:
        """Return the ordered categories of a column of Parquet files; () if it has none."""
        if self.kind != "parquet":
            return ()
        orders = (_orders(source, column) for source in self.sources)
        return common_order(chain.from_iterable(orders), ())

    def _check_types(self, columns: Mapping[str, str]) -> None:
        """Raise an error for columns whose types DuckDB would unify or convert by rounding."""
        for column in columns.values():
            for source, types in zip(self.sources, self.types, strict=True):
                if types[column] != self.types[0][column]:
                    raise FileError(
                        f"{source} holds column {column!r} as {types[column]}, {self.sources[0]} "
                        f"as {self.types[0][column]}; write one type in all, or {_in_memory()}."
                    )
                # DuckDB converts decimals with more digits than its own to floats.
                digits = _DIGITS.match(types[column])
                is_wide = digits is not None and int(digits[1]) > _MAX_DIGITS
                if is_wide or not _READ.match(types[column]):
                    raise FileError(
                        f"{source} holds column {column!r} as {types[column]}, which DuckDB reads "
                        f"otherwise; write text or numbers, or {_in_memory()}."
                    )

    def _check_names(self, columns: Mapping[str, str]) -> None:
        """Raise an error for names that DuckDB confuses, because it ignores case, or rejects."""
        for column in columns.values():
            alike = [name for name in self.names if name.lower() == column.lower()]
            if len(alike) > 1:
                raise FileError(
                    f"{self.sources[0]} has the columns {listing(alike)}, which are one to DuckDB; "
                    f"rename all but one, or {_in_memory()}."
                )
            if not column or "\0" in column:
                raise FileError(
                    f"{self.sources[0]} has a column {column!r}, which DuckDB does not "
                    f"accept as a name; rename it, or {_in_memory()}."
                )


@dataclass(frozen=True)
class Ready:
    """Parquet files for DuckDB.

    `names` are all columns of the table as in memory, and `columns` the names of the roles' columns
    in the files. With `in_json`, answers are JSON. `counts` are the counts of a condition if the
    files have only matching rows.
    """

    paths: list[str]
    names: list[str]
    columns: Mapping[str, str]
    in_json: bool = False
    counts: Counts | None = None

    def rows(self, connection: Any, paths: Sequence[str]) -> Any:
        """Return the columns of some of the files by role."""
        picked = ", ".join(f"{sql_name(column)} AS {role}" for role, column in self.columns.items())
        listed = f"[{', '.join(map(quoted, paths))}]"
        reader = f"read_parquet({listed}, hive_partitioning=false)"
        return connection.sql(f"SELECT {picked} FROM {reader}")  # noqa: S608 - all quoted


def condition_columns(where: Where | None) -> list[str]:
    """Return the names of the columns of a condition in a table of roles."""
    return [f"condition_{k}" for k in range(0 if where is None else len(where.columns))]


@contextmanager
def connect(
    memory_limit: str | None, temp_directory: str | os.PathLike[str] | None
) -> Iterator[tuple[Any, str]]:
    """Yield a connection to DuckDB with a memory limit, and its folder for temporary data.

    The folder is created in `temp_directory`, or in the folder for temporary files, and removed at
    the end, also after Ctrl-C, but not if the process is killed.
    """
    with needing("duckdb", "reducing large files"):
        import duckdb
    is_amount = isinstance(memory_limit, str) and _AMOUNT.fullmatch(memory_limit.strip())
    if memory_limit is not None and not is_amount:
        raise _no_amount(memory_limit)
    limit = {} if memory_limit is None else {"memory_limit": memory_limit.strip()}
    parent = _folder(temp_directory)
    if set(parent) & _WILD:
        raise OptionError(
            f"the folder {parent!r} is a pattern to DuckDB; name another as "
            f"{option('temp_directory')}."
        )
    with _new_folder(parent) as folder:
        config: dict[str, Any] = {"temp_directory": folder, "preserve_insertion_order": False}
        try:
            connection = duckdb.connect(config={**config, **limit})
        except duckdb.Error as error:
            raise _no_amount(memory_limit) from error
        with connection:
            # In interactive sessions DuckDB writes a progress bar to the standard output.
            no_bar = "SET enable_progress_bar = false"
            # Rows that are kept in memory per file; more rows are not written faster.
            flush = "SET partitioned_write_flush_threshold = 100000"
            run_query(lambda: connection.execute(f"{no_bar}; {flush}"), connection)
            yield connection, folder


def _new_folder(parent: str) -> tempfile.TemporaryDirectory[str]:
    """Create a temporary folder in another folder."""
    try:
        return tempfile.TemporaryDirectory(prefix="setagree-", dir=parent)
    except OSError as error:
        raise OptionError(
            f"no folder can be made in {parent!r} ({error.strerror}); name another as "
            f"{option('temp_directory')}."
        ) from error


def _no_amount(memory_limit: object) -> OptionError:
    return OptionError(
        f"{option('memory_limit', memory_limit)} is not an amount of memory; write '2GB'."
    )


def _folder(temp_directory: object) -> str:
    """Return the folder `temp_directory`, or the folder for temporary files of the system."""
    if temp_directory is None:
        return tempfile.gettempdir()
    if not isinstance(temp_directory, str | os.PathLike) or not os.fspath(temp_directory):
        raise OptionError(
            f"{option('temp_directory', temp_directory)} is not a folder; name one or omit it."
        )
    # Path.expanduser raises an error for unknown users
    folder = os.path.expanduser(os.fspath(temp_directory))  # noqa: PTH111
    if not Path(folder).is_dir():
        raise OptionError(f"{option('temp_directory', temp_directory)} is not a folder.")
    return os.path.abspath(folder)  # noqa: PTH100 - resolves no links


def find_files(path: Paths, *, encoding: str) -> Files | None:
    """Return files that can be read in pieces, or None for other kinds of files."""
    with find_sources(path, encoding) as sources:
        kinds = {_file_kind(source) for source in sources}
        kind = kinds.pop() if len(kinds) == 1 else None
        if kind is None:
            return None
        types = tuple(map(_types, sources)) if kind == "parquet" else ()
        heads = [*map(list, types)] or [_head(source, kind) for source in sources]
    if kind != "json lines":
        # Columns without a name are not compared, because blank ones are dropped.
        names = [{n for k, n in enumerate(head, 1) if n != f"column {k}"} for head in heads]
        for source, own_names in zip(sources, names, strict=True):
            check_columns(source, own_names, sources[0], names[0])
    return Files(sources, kind, list(dict.fromkeys(chain.from_iterable(heads))), types)


def _stamp(source: Source) -> tuple[int, ...]:
    """Return inode, size and time of change of a file, or () if it is absent."""
    try:
        status = source.path.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _file_kind(source: Source) -> FileKind | None:
    if source.spool is not None or is_dataset(source.path):
        return None
    with readable(source), source.raw() as file:
        start = file.read(4)
    if start == b"PAR1":
        return "parquet"
    if source.suffix in LINES_SUFFIXES:
        return "json lines"
    with readable(source):
        return "delimited" if source.suffix in TEXT_SUFFIXES and not source.is_workbook() else None


def _head(source: Source, kind: FileKind) -> list[str]:
    """Return the names of the columns of text; for JSON lines, those of the first lines."""
    with readable(source):
        if kind == "delimited":
            return header_names(source)
        return list(dict.fromkeys(name for row in next(line_pieces(source)) for name in row))


def _types(source: Source) -> dict[str, str]:
    """Return the type of each column, with one name for all storage types of text."""
    with needing("pyarrow", f"{source}, a Parquet file,"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    try:
        schema = pq.read_schema(source.path)
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{source} is a damaged Parquet file: {error}.") from error
    plain = [f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in schema]
    texts = {"large_string": "string", "string_view": "string"}
    names = [texts.get(str(kind), str(kind)) for kind in plain]
    return dict(zip(schema.names, names, strict=True))


def _orders(source: Source, column: str) -> Iterator[tuple[Any, ...]]:
    """Yield the ordered categories of a column in each row group."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(source.path) as file:
        if getattr(file.schema_arrow.field(column).type, "ordered", False):
            for group in range(file.num_row_groups):
                for batch in islice(file.iter_batches(1, [group], columns=[column]), 1):
                    yield tuple(batch.column(0).dictionary.drop_null().to_pylist())


def _plain(paths: Sequence[str]) -> list[str]:
    """Return absolute paths; raise `FileError` for names that are patterns to DuckDB."""
    absolute = [os.path.abspath(path) for path in paths]  # noqa: PTH100 - resolves no links
    if wild := [path for path in absolute if set(path) & _WILD]:
        raise FileError(f"{wild[0]!r} is the name of a file, but a pattern to DuckDB; rename it.")
    return absolute


def _in_memory() -> str:
    """Return the remedy that applies to every file."""
    return f"omit {option('memory_limit')} and similar options to read it into memory"


_FILE = "\0file"


def naming_places(
    error: RepeatsError, path: Paths, frame: pd.DataFrame, reading: Reading
) -> RepeatsError:
    """Return the error with the files, or the rows of one file, of the first pair.

    If a column has a usual name of a count of attempts, a condition on it is suggested.
    """
    if not error.rows or reading.raters_in_rows:
        return error
    places = (np.array(error.rows) - 1) % len(frame)  # columns of raters are joined
    if not _is_one(path):
        # The files are read again, because rows do not have the name of their file.
        source = reading.filename_column or _FILE
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SetagreeWarning)  # the first reading raised all
            table = read_table(path, **reading.of_file | {"filename_column": source})
        return with_files(error, [*dict.fromkeys(table[source].iloc[places])])
    rows = [f"row {row + 1:,}" for row in places.tolist()]
    where = " and ".join(rows) if len(rows) < 3 else f"{', '.join(rows[:3])} and more"
    message = f"{error} The first pair is in {where}, counted from 1 below any header."
    attempts = [name for name in frame if tidied(str(name)).lower() in _ATTEMPTS]
    if attempts and not reading.wide and reading.condition is None:
        only = option("where", Where.equality(str(attempts[0]), frame[attempts[0]].iloc[places[0]]))
        message += f" If column {attempts[0]!r} distinguishes them, keep one of them: {only}."
    return error.worded(message)


_ATTEMPTS = {"repeat", "attempt", "version", "revision", "iteration", "try", "pass", "round"}
"""Usual names of a column that distinguishes repeated annotations."""


def naming_source(
    error: DataError, path: Paths, columns: Sequence[Any], reading: Reading
) -> DataError:
    """Return the error with a remedy if several files lack only a column of raters."""
    has_raters = reading.filename_column is not None or reading.wide or reading.raters_in_rows
    if has_raters or _is_one(path):
        return error
    names = [*map(str, columns)]
    if not _has_roles(reading, [*names, "rater"]) or _has_roles(reading, names):
        return error
    way = python_or_command(
        "setagree.read(files, filename_column='rater')", "--filename-column rater"
    )
    hint = f"If each file holds the answers of one rater, use {way}."
    return error.worded(f"{error} {hint}")


def as_in_memory(error: DataError, path: Paths, reading: Reading) -> DataError:
    """Return the error of an engine with what tables in memory add, if the files are small."""
    if is_stdin(path) or n_bytes(path) > 2**26:
        return error
    try:
        frame = read_table(path, **reading.of_file)
        reading = with_columns(reading, map(str, frame))
        Annotations.from_reading(frame, reading)
    except RepeatsError as full:
        return with_order(full.worded(str(error)), frame, reading).having(remedy={})
    except UnnamedError as full:
        return full
    except SetagreeError:
        pass
    return error


def _has_roles(reading: Reading, columns: Sequence[str]) -> bool:
    """Return whether a table with these columns is a long one."""
    try:
        with_columns(reading, columns)
    except DataError:
        return False
    return True


def _is_one(path: Paths) -> bool:
    return is_stdin(path) or len(matching(path)) < 2


def with_files(error: RepeatsError, files: Sequence[str]) -> RepeatsError:
    """Return the error with the files of the first pair, if there are any."""
    where = " and ".join(map(repr, files)) if len(files) < 3 else listing(files)
    return error.worded(f"{error} The first pair is in {where}.") if files else error


@contextmanager
def naming_parts(
    whole: steps.Rows,
    parts: Callable[[], Sequence[steps.Rows]],
    files: Sequence[str],
    reading: Reading,
) -> Iterator[None]:
    """Add the files of the first pair to an error about repeats, if there are several files.

    The engine searches each part again, because rows do not have the name of their file.
    """
    try:
        yield
    except RepeatsError as error:
        if len(files) < 2:
            raise
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SetagreeWarning)  # the first pass raised all warnings
            coded, cells, tidy = steps.code_answers(whole, reading)
        rows, *alone = (steps.code_rows(part, cells, coded, tidy) for part in [whole, *parts()])
        names = file_names([*map(Path, files)])
        places = [names[place] for place in steps.places_of_repeat(rows, alone)]
        raise with_files(error, places) from None
