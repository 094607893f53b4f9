"""Files that DuckDB reads piece by piece: Parquet, delimited text, JSON lines."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from setagree.errors import FileError, OptionError, listing, missing_package
from setagree.sources.delimited import sniff_delimiter
from setagree.sources.reduction.engines import run_query
from setagree.sources.streams import Source, find_sources, readable

FileKind: TypeAlias = Literal["parquet", "delimited", "json lines"]

LARGE = 2**30
"""Files of more bytes than this together are reduced, not read into memory."""

_SAMPLE = 2**16
_AMOUNT = re.compile(r"\d+(\.\d+)?\s*[KMGT]i?B", re.IGNORECASE)
_TEXT = {".csv", ".tsv", ".tab", ".txt"}
_LINES = {".jsonl", ".ndjson"}


@dataclass(frozen=True)
class Files:
    """Files with one table.

    Attributes
    ----------
    paths : list of str
        The files.
    kind : {"parquet", "delimited", "json lines"}
        What they are.
    names : list of str
        The columns.
    delimiter : str
        What stands between the columns of text.
    encoding : str
        How the bytes of text spell it.
    types : tuple of dict
        The types of the columns of each Parquet file.
    """

    paths: list[str]
    kind: FileKind
    names: list[str]
    delimiter: str = ","
    encoding: str = "utf-8"
    types: tuple[Mapping[str, str], ...] = ()

    def check(self, connection: Any, columns: Mapping[str, str]) -> None:
        """Refuse columns of several types, which DuckDB would make one by rounding.

        Raises
        ------
        FileError
            Two Parquet files hold a column in different types; or identifiers in JSON lines are
            neither all text nor all whole numbers.
        """
        for column in columns.values():
            for path, known in zip(self.paths, self.types, strict=False):
                if known[column] != self.types[0][column]:
                    raise FileError(
                        f"{path!r} holds column {column!r} as {known[column]}, "
                        f"{self.paths[0]!r} as {self.types[0][column]}; write one type in all."
                    )
        if self.kind == "json lines":
            for role in ("unit", "rater"):
                self._check_ids(connection, columns[role])

    def _check_ids(self, connection: Any, column: str) -> None:
        kind = f"json_type(json, {_text(_field(column))})"
        reader = self._reader(self.paths)
        select = f"SELECT DISTINCT {kind} FROM {reader}"  # noqa: S608 - all quoted
        try:
            rows = run_query(connection.sql(select).fetchall, connection)
        except Exception as error:
            raise FileError(f"{self.paths[0]!r} and the like are not read: {error}.") from error
        found = {row[0] for row in rows} - {None, "NULL"}
        if found > {"VARCHAR"} or not found <= {"VARCHAR", "UBIGINT", "BIGINT"}:
            raise FileError(
                f"{column!r} holds identifiers of several kinds ({', '.join(sorted(found))}); "
                "write them all as text, or all as whole numbers."
            )

    def rows(self, connection: Any, columns: Mapping[str, str], paths: Sequence[str]) -> Any:
        """Return the columns by role; answers of JSON lines stay JSON."""
        if self.kind != "json lines":
            picked = [f"{_name(c)} AS {role}" for role, c in columns.items()]
        else:
            arrow = {"unit": "->>", "rater": "->>", "answer": "->"}
            picked = [
                f"CAST(json {arrow[role]} {_text(_field(c))} AS VARCHAR) AS {role}"
                for role, c in columns.items()
            ]
        select = f"SELECT {', '.join(picked)} FROM {self._reader(paths)}"  # noqa: S608 - all quoted
        return connection.sql(select)

    def _reader(self, paths: Sequence[str]) -> str:
        listed = f"[{', '.join(map(_text, paths))}]"
        if self.kind == "parquet":
            return f"read_parquet({listed}, hive_partitioning=false)"
        if self.kind == "json lines":
            return f"read_ndjson_objects({listed})"
        types = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in self.names)
        blanks = ", ".join(map(_text, self.names))
        return (
            f"read_csv({listed}, auto_detect=false, header=true, columns={{{types}}}, "
            f"force_not_null=[{blanks}], delim={_text(self.delimiter)}, quote='\"', "
            f"escape='\"', encoding={_text(self.encoding)}, hive_partitioning=false)"
        )


@contextmanager
def connect(memory_limit: str | None, spill: str | os.PathLike[str] | None) -> Iterator[Any]:
    """Open DuckDB within a memory limit; what does not fit goes to a folder of its own.

    The folder is made in `spill`, or among the temporary files, and removed in the end, also after
    Ctrl-C; a process that is killed leaves it behind.
    """
    try:
        import duckdb
    except ImportError:
        raise missing_package("reducing large files", "duckdb", "files") from None
    if spill is not None and not (isinstance(spill, str | os.PathLike) and Path(spill).is_dir()):
        raise OptionError(f"spill={spill!r} is no folder.")
    if memory_limit is not None and not _AMOUNT.fullmatch(str(memory_limit)):
        raise OptionError(f"memory_limit={memory_limit!r} is no amount of memory; write '2GB'.")
    with tempfile.TemporaryDirectory(prefix="setagree-", dir=spill) as folder:
        config: dict[str, Any] = {"temp_directory": folder, "preserve_insertion_order": False}
        if memory_limit is not None:
            config["memory_limit"] = memory_limit
        try:
            connection = duckdb.connect(config=config)
        except duckdb.Error as error:
            raise OptionError(
                f"memory_limit={memory_limit!r} is no amount of memory; write '2GB'."
            ) from error
        with connection:
            yield connection


def find_files(path: str | os.PathLike[str], *, encoding: str) -> Files | None:
    """Return the files that DuckDB can read; None where they are of another kind.

    Raises
    ------
    FileError
        A file is absent, or the files have different columns.
    """
    with find_sources(path, encoding) as sources:
        kinds = {_kind(source) for source in sources}
        kind = kinds.pop() if len(kinds) == 1 else None
        if kind is None:
            return None
        heads = [_head(source, kind) for source in sources]
        types = tuple(_types(source) for source in sources) if kind == "parquet" else ()
    for source, head in zip(sources, heads, strict=True):
        if not _alike(kind, head, heads[0]):
            raise FileError(
                f"{source} and {sources[0]} have different columns: {listing(head[0])}, and "
                f"{listing(heads[0][0])}."
            )
    names, delimiter = heads[0]
    paths = [str(source.path) for source in sources]
    if wild := [path for path in paths if "*" in path or "?" in path]:
        raise FileError(f"{wild[0]!r} is the name of a file, but a pattern to DuckDB; rename it.")
    encoding = sources[0].encoding.removesuffix("-sig")
    return Files(paths, kind, names, delimiter, encoding, types)


def _alike(kind: FileKind, one: tuple[list[str], str], two: tuple[list[str], str]) -> bool:
    """Say whether two files can be read as one table; objects may lack any key."""
    if kind == "json lines":
        return True
    return one == two if kind == "delimited" else sorted(one[0]) == sorted(two[0])


def n_bytes(path: str | os.PathLike[str], *, encoding: str) -> int:
    """Return how large files are together; 0 where there are none, or for standard input."""
    if os.fspath(path) == "-":
        return 0
    try:
        with find_sources(path, encoding) as sources:
            return sum(source.path.stat().st_size for source in sources)
    except (OSError, ValueError):
        return 0


def _kind(source: Source) -> FileKind | None:
    if source.spool is not None:
        return None
    with readable(source), source.raw() as file:
        start = file.read(4)
    if start == b"PAR1":
        return "parquet"
    if start.startswith(b"PK"):
        return None
    if source.suffix in _LINES:
        return "json lines"
    return "delimited" if source.suffix in _TEXT else None


def _head(source: Source, kind: FileKind) -> tuple[list[str], str]:
    """Return the names of the columns, and what stands between them."""
    if kind == "parquet":
        return _schema(source), ""
    with readable(source), source.open() as stream:
        sample = stream.read(_SAMPLE).decode(source.encoding, "replace")
    if not sample.strip():
        raise FileError(f"{source} is empty.")
    if kind == "json lines":
        return _keys(source, sample), ""
    delimiter = "\t" if source.suffix in {".tsv", ".tab"} else sniff_delimiter(sample)
    return _header(source, sample, delimiter), delimiter


def _schema(source: Source) -> list[str]:
    return list(_types(source))


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


def _header(source: Source, sample: str, delimiter: str) -> list[str]:
    """Return the names of the columns of text; one without a name is called by its place."""
    cells = next(csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter), [])
    written = [name.lstrip("\ufeff").strip() for name in cells]
    names = [name or f"column {place}" for place, name in enumerate(written, start=1)]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise FileError(f"{source} has several columns called {listing(repeated)}; rename them.")
    return names


def _keys(source: Source, sample: str) -> list[str]:
    try:
        first = json.loads(sample.lstrip("\ufeff\r\n\t ").partition("\n")[0])
    except ValueError as error:
        raise FileError(f"{source}, line 1 is no JSON: {error}.") from error
    if not isinstance(first, dict):
        raise FileError(f"{source}, line 1 is no object.")
    return list(first)


def _text(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _name(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _field(key: str) -> str:
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'$."{escaped}"'
