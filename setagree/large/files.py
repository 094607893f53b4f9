"""Files that are reduced piece by piece: Parquet, delimited text, JSON lines."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from setagree.checks import no_collection
from setagree.errors import FileError, OptionError, listing, missing_package, option
from setagree.files.delimited import header_names
from setagree.files.records import line_pieces
from setagree.files.saved_datasets import is_dataset
from setagree.files.streams import (
    Paths,
    Source,
    check_columns,
    find_sources,
    readable,
)
from setagree.large.copies import check_alike, copy_texts
from setagree.large.engines import quoted, run_query
from setagree.study.codes import common_order
from setagree.study.row_filter import NO_ROWS, Counts, Where

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
                found = where.found_in(self.names)
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
        kinds = {_kind(source) for source in sources}
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


def _kind(source: Source) -> FileKind | None:
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
