"""Files that need not fit in memory: their columns, copies in Parquet and repeated ratings."""

from __future__ import annotations

import json
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
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
    SetagreeWarning,
    a_type,
    listing,
    missing_package,
    option,
    python_or_command,
)
from setagree.files.binary import is_dataset
from setagree.files.delimited import delimited_pieces, header_names
from setagree.files.records import line_pieces
from setagree.files.streams import (
    Paths,
    Source,
    check_columns,
    file_names,
    find_sources,
    is_stdin,
    matching,
    readable,
)
from setagree.files.tables import read_table
from setagree.large import steps
from setagree.large.engines import quoted, run_query
from setagree.large.filtering import kept_where
from setagree.large.patterns import spelled
from setagree.study.codes import common_order
from setagree.study.columns import guess_wide_unit, with_columns
from setagree.study.identifiers import check_text, tidied
from setagree.study.labels import is_missing
from setagree.study.reading import Reading
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
        copy.where.columns_in(list(copy.names))
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
            cells = [piece[name] for name in where.columns_in(list(piece))]
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


FileKind: TypeAlias = Literal["parquet", "delimited", "json lines"]


_WILD = set("*?[]")
_AMOUNT = re.compile(r"\d+(\.\d+)?\s*[KMGT]i?B", re.IGNORECASE)
_TEXT = {".csv", ".tsv", ".tab", ".txt"}
_LINES = {".jsonl", ".ndjson"}
# The types of Arrow that are types of Parquet, too; of others DuckDB sees what they are stored as.
_READ = re.compile(
    r"u?int\d|float|double|bool|string|large_string|binary|large_binary|null|date|time|decimal"
    r"|list|large_list|fixed_size_list|struct|map|extension<arrow.(uuid|json)>"
)
_DIGITS = re.compile(r"decimal\d+\((\d+)")
_MOST_DIGITS = 38


@dataclass(frozen=True)
class Files:
    """Files with one table.

    `names` are its columns, of JSON lines those that the first lines have; `types` are those of the
    columns of each Parquet file.
    """

    sources: list[Source]
    kind: FileKind
    names: list[str]
    types: tuple[Mapping[str, str], ...] = ()

    def all_names(self) -> list[str]:
        """Return the keys that objects in JSON lines have anywhere, or the columns."""
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
        """Read the files, which is done several times; refuse those that change meanwhile."""
        before = list(map(_stamp, self.sources))
        yield
        for source, stamp in zip(self.sources, before, strict=True):
            if _stamp(source) != stamp:
                raise FileError(f"{source} changed while it was read, so there is no result.")

    def ready(self, folder: str, columns: Mapping[str, str], where: Where | None = None) -> Ready:
        """Return what DuckDB reads of the columns by role: the files, or copies in a folder.

        Copies are of the rows that match; of other files the column of the condition is read, too.

        Raises
        ------
        FileError
            Two files cannot be parts of one table; or one is no table.
        """
        if self.kind == "parquet":
            if where is not None:
                found = where.columns_in(self.names)
                columns = {**columns, **dict(zip(condition_columns(where), found, strict=True))}
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
        return common_order(chain.from_iterable(_orders(one, column) for one in self.sources), ())

    def _check_types(self, columns: Mapping[str, str]) -> None:
        """Raise an error for columns of several types, which DuckDB would make one by rounding."""
        for column in columns.values():
            for source, known in zip(self.sources, self.types, strict=True):
                if known[column] != self.types[0][column]:
                    raise FileError(
                        f"{source} holds column {column!r} as {known[column]}, {self.sources[0]} "
                        f"as {self.types[0][column]}; write one type in all, or {_in_memory()}."
                    )
                # Of decimals with more digits than its own DuckDB makes floats.
                digits = _DIGITS.match(known[column])
                is_wide = digits is not None and int(digits[1]) > _MOST_DIGITS
                if is_wide or not _READ.match(known[column]):
                    raise FileError(
                        f"{source} holds column {column!r} as {known[column]}, which DuckDB reads "
                        f"otherwise; write text or numbers, or {_in_memory()}."
                    )

    def _check_names(self, columns: Mapping[str, str]) -> None:
        """Raise an error for names that DuckDB, which ignores case, would confuse or reject."""
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
    """Parquet files that DuckDB reads.

    `names` are all columns of the table, as memory finds them; `columns` says what those of the
    roles are called in the files. `in_json` says that the answers are JSON; `counts` how many rows
    match a condition, where no others are in the files.
    """

    paths: list[str]
    names: list[str]
    columns: Mapping[str, str]
    in_json: bool = False
    counts: Counts | None = None

    def rows(self, connection: Any, paths: Sequence[str]) -> Any:
        """Return the columns of some of the files by role."""
        picked = ", ".join(f"{_name(column)} AS {role}" for role, column in self.columns.items())
        listed = f"[{', '.join(map(quoted, paths))}]"
        reader = f"read_parquet({listed}, hive_partitioning=false)"
        return connection.sql(f"SELECT {picked} FROM {reader}")  # noqa: S608 - all quoted


def condition_columns(where: Where | None) -> list[str]:
    """Return the names that the columns of a condition have next to those of the roles."""
    return [f"condition_{k}" for k in range(0 if where is None else len(where.columns))]


@contextmanager
def connect(
    memory_limit: str | None, temp_directory: str | os.PathLike[str] | None
) -> Iterator[tuple[Any, str]]:
    """Open DuckDB within a memory limit; what does not fit goes to a folder of its own.

    The folder is made in `temp_directory`, or among the temporary files, and removed in the end,
    also after Ctrl-C; a process that is killed leaves it behind.
    """
    try:
        import duckdb
    except ImportError:
        raise missing_package("reducing large files", "duckdb", "files") from None
    limit = _limit(memory_limit)
    home = _folder(temp_directory)
    if set(home) & _WILD:
        raise OptionError(
            f"the folder {home!r} is a pattern to DuckDB; name another as "
            f"{option('temp_directory')}."
        )
    with _own_folder(home) as folder:
        config: dict[str, Any] = {"temp_directory": folder, "preserve_insertion_order": False}
        try:
            connection = duckdb.connect(config={**config, **limit})
        except duckdb.Error as error:
            raise _no_amount(memory_limit) from error
        with connection:
            # Where DuckDB takes the session for interactive, it would draw on the standard output.
            quiet = "SET enable_progress_bar = false"
            # Rows in memory before they go to one of several files: more are not written faster.
            some = "SET partitioned_write_flush_threshold = 100000"
            run_query(lambda: connection.execute(f"{quiet}; {some}"), connection)
            yield connection, folder


def _own_folder(home: str) -> tempfile.TemporaryDirectory[str]:
    """Make a folder in another, which is removed in the end."""
    try:
        return tempfile.TemporaryDirectory(prefix="setagree-", dir=home)
    except OSError as error:
        raise OptionError(
            f"no folder can be made in {home!r} ({error.strerror}); name another as "
            f"{option('temp_directory')}."
        ) from error


def _limit(memory_limit: object) -> dict[str, Any]:
    """Return the limit as DuckDB takes it."""
    if memory_limit is None:
        return {}
    if not (isinstance(memory_limit, str) and _AMOUNT.fullmatch(memory_limit.strip())):
        raise _no_amount(memory_limit)
    return {"memory_limit": memory_limit.strip()}


def _no_amount(memory_limit: object) -> OptionError:
    return OptionError(
        f"{option('memory_limit', memory_limit)} is not an amount of memory; write '2GB'."
    )


def _folder(temp_directory: object) -> str:
    """Return the folder that `temp_directory` names, or that of the system."""
    if temp_directory is None:
        return tempfile.gettempdir()
    if not isinstance(temp_directory, str | os.PathLike) or not os.fspath(temp_directory):
        raise OptionError(
            f"{option('temp_directory', temp_directory)} is not a folder; name one or omit it."
        )
    # Path.expanduser raises for unknown users
    folder = os.path.expanduser(os.fspath(temp_directory))  # noqa: PTH111
    if not Path(folder).is_dir():
        raise OptionError(f"{option('temp_directory', temp_directory)} is not a folder.")
    return os.path.abspath(folder)  # noqa: PTH100 - resolves no links


def find_files(path: Paths, *, encoding: str) -> Files | None:
    """Return the files that are read piece by piece, or None if they are of another kind."""
    with find_sources(path, encoding) as sources:
        kinds = {_file_kind(source) for source in sources}
        kind = kinds.pop() if len(kinds) == 1 else None
        if kind is None:
            return None
        heads = [_head(source, kind) for source in sources]
        types = tuple(_types(source) for source in sources) if kind == "parquet" else ()
    if kind != "json lines":
        # Columns without a name may be blank and be none.
        named = [{n for k, n in enumerate(head, 1) if n != f"column {k}"} for head in heads]
        for source, names in zip(sources, named, strict=True):
            check_columns(source, names, sources[0], named[0])
    return Files(sources, kind, list(dict.fromkeys(chain.from_iterable(heads))), types)


def _stamp(source: Source) -> tuple[int, ...]:
    """Return what tells one state of a file from another; nothing where it is gone."""
    try:
        found = source.path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _file_kind(source: Source) -> FileKind | None:
    if source.spool is not None or is_dataset(source.path):
        return None
    with readable(source), source.raw() as file:
        start = file.read(4)
    if start == b"PAR1":
        return "parquet"
    if source.suffix in _LINES:
        return "json lines"
    with readable(source):
        return "delimited" if source.suffix in _TEXT and not source.is_workbook() else None


def _head(source: Source, kind: FileKind) -> list[str]:
    """Return the names of the columns; of JSON lines those of the first."""
    if kind == "parquet":
        return list(_types(source))
    with readable(source):
        if kind == "delimited":
            return header_names(source)
        return list(dict.fromkeys(name for row in next(line_pieces(source)) for name in row))


def _types(source: Source) -> dict[str, str]:
    """Return the type of each column; text is text however it is stored."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise missing_package(f"{source}, a Parquet file,", "pyarrow", "files") from None
    try:
        schema = pq.read_schema(source.path)
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{source} is a damaged Parquet file: {error}.") from error
    plain = [f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in schema]
    texts = {"large_string": "string", "string_view": "string"}
    spelled = [texts.get(str(one), str(one)) for one in plain]
    return dict(zip(schema.names, spelled, strict=True))


def _orders(source: Source, column: str) -> Iterator[tuple[Any, ...]]:
    """Yield the ordered categories of a column, as each row group has them."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(source.path) as file:
        if getattr(file.schema_arrow.field(column).type, "ordered", False):
            for group in range(file.num_row_groups):
                for batch in islice(file.iter_batches(1, [group], columns=[column]), 1):
                    yield tuple(batch.column(0).dictionary.drop_null().to_pylist())


def _plain(paths: Sequence[str]) -> list[str]:
    """Return whole paths; refuse those that DuckDB would take as patterns."""
    whole = [os.path.abspath(path) for path in paths]  # noqa: PTH100 - resolves no links
    if wild := [path for path in whole if set(path) & _WILD]:
        raise FileError(f"{wild[0]!r} is the name of a file, but a pattern to DuckDB; rename it.")
    return whole


def _name(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _in_memory() -> str:
    """Return the way out that every file has."""
    return f"drop {option('memory_limit')} and the like to read it into memory"


Flags: TypeAlias = npt.NDArray[np.bool_]

_FILE = "\0file"


def naming_places(
    error: RepeatsError, path: Paths, frame: pd.DataFrame, how: Reading
) -> RepeatsError:
    """Return the error with the files, or the rows of one long file, that the first pair stands in.

    A column that is called like one that counts the attempts is named with a condition.
    """
    if error.pair is None:
        return error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetagreeWarning)  # all said before
        if not _is_one(path):
            return with_files(error, _files_of(path, error.pair, how))
        if how.wide or how.raters_in_rows or how.condition is not None:
            return error
        here = _long_rows(frame, error.pair, how)
    if here is None:
        return error
    rows = [f"row {row + 1:,}" for row in np.flatnonzero(here).tolist()]
    where = " and ".join(rows) if len(rows) < 3 else f"{', '.join(rows[:3])} and more"
    said = f"{error} The first pair stands in {where}, counted from 1 below any header."
    if again := next((name for name in frame if tidied(str(name)).lower() in _AGAIN), None):
        only = Where.equality(str(again), frame[again][here].iloc[0])
        said += f" If column {again!r} tells them apart, keep one of them: {option('where', only)}."
    return RepeatsError(said, error.pair)


_AGAIN = {"repeat", "attempt", "version", "revision", "iteration", "try", "pass", "round"}
"""What a column is called that tells the repeats of an annotation apart."""


def naming_source(error: DataError, path: Paths, columns: Sequence[Any], how: Reading) -> DataError:
    """Return the error with the way out where several files lack a column of raters alone."""
    if how.filename_column is not None or how.wide or how.raters_in_rows or _is_one(path):
        return error
    try:
        with_columns(how, [*map(str, columns), "rater"])
    except DataError:
        return error
    way = python_or_command(
        "setagree.read(files, filename_column='rater')", "--filename-column rater"
    )
    hint = f"If each file holds the answers of one rater, use {way}."
    return type(error)(f"{error} {hint}")


def _is_one(path: Paths) -> bool:
    return is_stdin(path) or len(matching(path)) < 2


def with_files(error: RepeatsError, files: Sequence[str]) -> RepeatsError:
    """Return the error with the files that the first pair stands in, if they were found."""
    where = " and ".join(map(repr, files)) if len(files) < 3 else listing(files)
    said = f"{error} The first pair stands in {where}."
    return RepeatsError(said, error.pair) if files else error


@contextmanager
def naming_parts(
    whole: steps.Rows,
    parts: Callable[[], Sequence[steps.Rows]],
    files: Sequence[str],
    reading: Reading,
) -> Iterator[None]:
    """Name, in an error about repeats, the files whose rows are the parts, if there are several.

    An engine is asked for that again, as rows do not say which file they are from.
    """
    try:
        yield
    except RepeatsError as error:
        if len(files) < 2:
            raise
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SetagreeWarning)  # all said before
            coded, cells, tidy = steps.code_answers(whole, reading)
        rows, *alone = (steps.code_rows(part, cells, coded, tidy) for part in [whole, *parts()])
        names = file_names([*map(Path, files)])
        found = [names[place] for place in steps.places_of_repeat(rows, alone)]
        raise with_files(error, found) from None


def _files_of(path: Paths, pair: tuple[Any, Any], how: Reading) -> list[str]:
    """Return the files with an answer of a rater to a unit, as far as they tell.

    They are read again: rows do not say which file they are from, and there is no result anyway.
    """
    if how.raters_in_rows:
        return []
    source = how.filename_column or _FILE
    table = read_table(
        path,
        encoding=how.encoding,
        delimiter=how.delimiter,
        filename_column=source,
        sheet=how.sheet,
        header_row=how.header_row,
        sql=how.sql,
    )
    if how.condition is not None:
        table = kept_where(table, how.condition)
    files = table[source]
    table = table if how.filename_column else table.drop(columns=_FILE)
    here = _long_rows(table, pair, how)
    return list(dict.fromkeys(files[_wide_rows(table, pair, how) if here is None else here]))


def _long_rows(table: pd.DataFrame, pair: tuple[Any, Any], how: Reading) -> Flags | None:
    """Return which rows are of a unit and a rater, or None if the table is not long."""
    try:
        named = with_columns(replace(how, wide=False, raters=None), table.columns)
    except DataError:
        return None
    units, raters = (table[name].map(tidied) for name in (named.unit, named.rater))
    return np.asarray((units == pair[0]) & (raters == pair[1]))


def _wide_rows(table: pd.DataFrame, pair: tuple[Any, Any], how: Reading) -> Flags:
    """Return which rows are of a unit, and have an answer in the column of a rater."""
    name = how.unit or guess_wide_unit(table)
    here = np.zeros(len(table), dtype=bool) if name is None else table[name].map(tidied) == pair[0]
    for column in (column for column in table if tidied(column) == pair[1]):
        cells = table[column].map(tidied)
        here &= ~cells.map(is_missing) & ((cells != "") | (how.syntax.blank == "empty"))
    return np.asarray(here)
