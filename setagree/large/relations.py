"""Queries and relations of DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Future, wait
from threading import Thread
from typing import Any, TypeVar

from setagree.errors import DataError

Result = TypeVar("Result")

_PATIENCE = 0.2


def quoted(text: str) -> str:
    """Return text as SQL has it."""
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def run_query(work: Callable[[], Result], connection: Any) -> Result:
    """Run a query of DuckDB in a thread of its own, and stop it when a signal ends the waiting.

    DuckDB looks for signals itself, but only between pieces of work that may take many seconds,
    and then it fails with an error of its own in the place of KeyboardInterrupt. So it does where
    the connection is not known.
    """
    if connection is None:
        try:
            return work()
        except RuntimeError as error:
            if str(error) == "Query interrupted":
                raise KeyboardInterrupt from error
            raise
    query: Future[Result] = Future()
    try:
        Thread(target=_answer, args=(query, work)).start()
        while not query.done():
            wait([query], timeout=_PATIENCE)
    finally:
        # A signal may come while the thread starts: the query then runs, or must never begin.
        while not (query.cancel() or query.done()):
            connection.interrupt()
            wait([query], timeout=_PATIENCE)
    return query.result()


def _answer(query: Future[Result], work: Callable[[], Result]) -> None:
    """Do the work unless nobody waits for it any more."""
    if not query.set_running_or_notify_cancel():
        return
    try:
        query.set_result(work())
    except BaseException as error:  # noqa: BLE001 - it comes out where the result is asked for
        query.set_exception(error)


def uncollated(relation: Any, columns: Collection[str]) -> Any:
    """Return a relation of DuckDB whose text is compared letter by letter, whatever its collation.

    Raises
    ------
    DataError
        The connection compares all text by a collation.
    """
    import duckdb

    asked = "SELECT current_setting('default_collation')"
    default = relation.query("setagree_rows", asked).fetchall()[0][0]
    if default:
        raise DataError(
            f"the connection compares text by the collation {default!r}, so that A and a may be "
            "one; say SET default_collation = ''."
        )
    known = zip(relation.columns, relation.types, strict=True)
    for name in [name for name, kind in known if name in columns and str(kind) == "VARCHAR"]:
        bytes_of = duckdb.FunctionExpression("encode", duckdb.ColumnExpression(name))
        text = duckdb.FunctionExpression("decode", bytes_of).alias(name)
        relation = relation.select(duckdb.StarExpression(exclude=[name]), text)
    return relation


def without_uuids(relation: Any, columns: Collection[str]) -> Any:
    """Return a relation of DuckDB with UUIDs, which narwhals has no name for, as text."""
    import duckdb

    known = zip(relation.columns, relation.types, strict=True)
    for name in [name for name, kind in known if name in columns and str(kind) == "UUID"]:
        text = duckdb.ColumnExpression(name).cast("VARCHAR").alias(name)
        relation = relation.select(duckdb.StarExpression(exclude=[name]), text)
    return relation


def replaced(relation: Any, column: str, function: str, cast: str | None) -> Any:
    """Return a relation with a function of a column in its place."""
    import duckdb

    called = duckdb.FunctionExpression(function, duckdb.ColumnExpression(column))
    new = called if cast is None else called.cast(cast)
    return relation.select(duckdb.StarExpression(exclude=[column]), new.alias(column))
