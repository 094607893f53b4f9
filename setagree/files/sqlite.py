"""SQLite databases as tables: the rows of a query, or of the only table."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pandas as pd

from setagree.checks import check_cost, no_collection
from setagree.errors import FileError, OptionError, listing, option, shorten
from setagree.files.records import typed_columns
from setagree.files.streams import SQLITE, Source

_PIECE = 2**24
_SAMPLE = 1_000
_CELL_BYTES = 64
_STEPS = 100_000
_WAL = b"\x02\x02"


def read_sqlite(source: Source, *, limit: int | None = None) -> pd.DataFrame:
    """Return the first `limit` rows (default: all) of a query, or of the only table without one.

    The database is opened read-only.
    """
    with no_collection(), _opened(source) as connection:
        if (query := source.sql) is None:
            tables = _table_names(source, connection)
            if not tables:
                raise FileError(f"{source} is an SQLite database without a table.")
            quoted = tables[0].replace('"', '""')
            query = f'SELECT * FROM "{quoted}"'  # noqa: S608 - quoted
            if len(tables) > 1:
                raise FileError(
                    f"{source} has {len(tables)} tables ({listing(tables, limit=12)}); choose one "
                    f"with {option('sql', query)}, or another query."
                )
        try:
            cursor = connection.execute(query)
            names = [str(column[0]) for column in cursor.description or ()]
            columns = _fetched(source, cursor, limit) if names else []
        except (sqlite3.Error, sqlite3.Warning, UnicodeError) as error:
            raise _query_error(source, query, error) from error
    if not names:
        raise OptionError(f"{option('sql', query)} returns no table; begin the query with SELECT.")
    if repeated := next((name for k, name in enumerate(names) if name in names[:k]), None):
        raise OptionError(
            f"{option('sql', query)} returns two columns {repeated!r}; rename one of them with AS."
        )
    if not columns[0]:
        raise FileError(f"{source} has columns and no rows: {shorten(query)} returns none.")
    return typed_columns(source, dict(zip(names, columns, strict=True)))


@contextmanager
def _opened(source: Source) -> Iterator[sqlite3.Connection]:
    """Open a database read-only, without access to other files."""
    with source.raw() as file:
        header = file.read(20)
    if source.spool is not None or not header.startswith(SQLITE):
        packed = "came through standard input" if source.spool is not None else "is compressed"
        raise FileError(
            f"{source} is an SQLite database that {packed}; SQLite reads only plain files. Store "
            "it as a plain file and pass its path."
        )
    place = Path(os.path.abspath(source.path))  # noqa: PTH100 - resolves no links
    # Without immutable=1, SQLite leaves two more files next to a database in WAL mode.
    unused = header[18:] == _WAL and not Path(f"{place}-wal").exists()
    uri = f"{place.as_uri()}?mode=ro{'&immutable=1' * unused}"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.set_authorizer(_allowed)
        # Python handles signals only while it runs, so that Ctrl-C needs this handler.
        connection.set_progress_handler(lambda: 0, _STEPS)
        yield connection


def _allowed(action: int, what: str | None, *_: str | None) -> int:
    """Deny attached files and settings, except data_version, which full-text search reads.

    Writing fails because the database is read-only.
    """
    is_setting = action == sqlite3.SQLITE_PRAGMA and what != "data_version"
    is_denied = action == sqlite3.SQLITE_ATTACH or is_setting
    return sqlite3.SQLITE_DENY if is_denied else sqlite3.SQLITE_OK


def _table_names(source: Source, connection: sqlite3.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid"
    try:
        rows = connection.execute(query).fetchall()
    except (sqlite3.Error, UnicodeError) as error:  # a damaged schema
        raise FileError(f"{source} cannot be read as an SQLite database: {error}.") from error
    return [name for (name,) in rows if not name.startswith("sqlite_")]


def _fetched(source: Source, cursor: sqlite3.Cursor, limit: int | None) -> list[list[object]]:
    """Return the columns; raise `CostError` if they exceed the limit of memory."""
    columns: list[list[object]] = [[] for _ in cursor.description]
    n_bytes, n_next = 0, limit or 1
    while piece := cursor.fetchmany(n_next):
        for column, added in zip(columns, zip(*piece, strict=True), strict=True):
            column += added
        some = piece[:: 1 + len(piece) // _SAMPLE]
        cells = [cell for row in some for cell in row]
        size = sum(_CELL_BYTES + (len(x) if isinstance(x, str | bytes) else 0) for x in cells)
        n_bytes += size * len(piece) // len(some)
        check_cost(
            f"Reading {len(columns[0]):,} or more rows of {source}",
            n_bytes=n_bytes,
            instead="Select fewer rows or columns, or query it with DuckDB and pass the relation.",
        )
        if limit is not None:
            break
        n_next = max(1, min(2 * n_next, _PIECE * len(columns[0]) // n_bytes))
    return columns


def _query_error(source: Source, query: str, error: Exception) -> BaseException:
    """Return the exception for an error of SQLite in a query; KeyboardInterrupt after Ctrl-C."""
    reason, spelled = str(error), option("sql", query)
    if reason == "interrupted":
        return KeyboardInterrupt()
    if any(word in reason for word in ("readonly", "authoriz", "authoris", "VACUUM")):
        return OptionError(
            f"{spelled} does more than read ({reason}); the database is never changed and no other "
            "file is opened: write one SELECT."
        )
    if source.sql is None or "decode" in reason:
        return FileError(f"{source} cannot be read as an SQLite database: {reason}.")
    with _opened(source) as connection:
        names = _table_names(source, connection)
    hint = f"; {source} has the tables {listing(names, limit=12)}" if names else ""
    return OptionError(f"{spelled}: {reason.rstrip('.')}{hint}.")
