"""Operations that differ between engines, such as uploads, lists as text, and accents."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from setagree.errors import DataError, missing_package, needing, option
from setagree.study.identifiers import tidied
from setagree.study.numbers import number_of_json

if TYPE_CHECKING:
    import narwhals as nw

Home: TypeAlias = Literal["pyarrow", "polars"]
Result = TypeVar("Result")

_RAISED = re.compile(r"^[\w.]+(?:Error|Exception): .*$", re.MULTILINE)
_NOT_ASCII = r"[^\x00-\x7F]"
_MAY_NEED_TIDYING = r"^\s|\s$|[^ -~]"
# Memory in bytes that DuckDB needs to group a row, if each is of another unit.
_BYTES_PER_ROW = 100
_HASH = "hash(unit)"
_FULL = [os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)]
_UNITS = {"bytes": 1} | {f"{prefix}iB": 2 ** (10 * k) for k, prefix in enumerate("KMGTPE", 1)}


class Engine:
    """Engine of a lazy table, which returns results as tables of `home`.

    `is_remote`: tables may be on another machine, so that they are not read into memory by default.
    `tidies`: `composed` also removes the space around text.
    """

    name: str
    home: Home = "pyarrow"
    options: Mapping[str, Any] = MappingProxyType({})
    is_remote = tidies = False

    def run(self, work: Callable[[], Result]) -> Result:
        """Compute a query."""
        return work()

    def upload(self, native: Any, small: Any) -> Any:
        """Return a small eager table as a lazy one that joins with `native`."""
        raise NotImplementedError

    def composed(self, native: Any, column: str) -> Any:
        """Return the table with the accents of a text column composed (Unicode NFC)."""
        raise NotImplementedError

    def odd(self, native: Any, column: str) -> Any:
        """Return the table with ``odd_...``: whether text may have space around it or accents."""
        raise NotImplementedError

    def pieces(self, native: Any, n_rows: int) -> AbstractContextManager[list[Any]]:  # noqa: ARG002
        """Yield a table with a column ``unit`` in pieces of whole units that fit in memory."""
        return nullcontext([native])

    def bit_count(self, native: Any, column: str) -> Any:
        """Return the table with the number of set bits of a column of whole numbers."""
        raise NotImplementedError

    def as_json(self, native: Any, column: str) -> Any:
        """Return the table with a column of lists written as JSON text."""
        raise NotImplementedError

    def from_json(self, text: str) -> object:
        """Return the list, or another value of JSON lines, of a text."""
        return json.loads(text, parse_float=number_of_json)


class DuckDB(Engine):
    """Relations of DuckDB, of a connection that can be interrupted or else of that of a relation.

    `folder` is the folder for pieces of a table that does not fit in the memory of the connection.
    """

    name = "DuckDB"

    def __init__(
        self, connection: Any = None, folder: str | None = None, *, relation: Any = None
    ) -> None:
        self.connection = connection
        self.folder = folder
        self.relation = relation

    def run(self, work: Callable[[], Result]) -> Result:
        """Compute a query, which Ctrl-C stops at once if the connection is known."""
        return run_query(work, self.connection)

    def upload(self, native: Any, small: Any) -> Any:  # noqa: ARG002 - joins with any
        """Return a small Arrow table as a relation of the same connection."""

        def select() -> Any:
            if self.connection is not None:
                return self.connection.from_arrow(small)
            # Only a query on its relation uses a connection that was not passed. It finds the table
            # by the name of the variable, unless the connection has such a table.
            setagree_codes_3f9a1c = small  # noqa: F841
            return self.relation.query("setagree_rows", "SELECT * FROM setagree_codes_3f9a1c")

        try:
            return self.run(select)
        except Exception as error:  # such as a connection without access to Python tables
            raise stopped(self.name, error) from error

    def composed(self, native: Any, column: str) -> Any:
        """Return the relation with composed accents."""
        return replaced(native, [column], "nfc_normalize({})")

    def odd(self, native: Any, column: str) -> Any:
        """Compare ends and bytes of the text, which takes half as long as a regular expression."""
        ends = f"{column} < '!' OR reverse({column}) < '!'"
        return native.project(f"*, {ends} OR strlen({column}) <> length({column}) AS odd_{column}")

    @contextmanager
    def pieces(self, native: Any, n_rows: int) -> Iterator[list[Any]]:
        """Yield the relation in as few pieces as the memory limit permits, if it is known.

        Several pieces are files, which are written in one pass over the rows and removed at the
        end.
        """
        query = "SELECT current_setting('memory_limit')"
        n = 1
        if self.folder is not None:
            [[limit]] = self.run(lambda: self.connection.sql(query).fetchall())
            amount, unit = limit.split()
            n = math.ceil(n_rows * _BYTES_PER_ROW / (float(amount) * _UNITS[unit]))
        if n < 2:
            yield [native]
            return
        # DuckDB groups by the lower bits of the hash, which vary within a piece only if n is odd.
        by = f"*, {_HASH} % {n | 1} AS piece"
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            self._write(native, by, folder)
            yield [self._read(f"{piece}/*") for piece in sorted(Path(folder).iterdir())]

    def grouped(self, native: Any, key: str, *, is_marked: bool) -> Any:
        """Return the sorted lists of keys, the number of units of each, and whether one repeats."""
        repeats = "bit_count(bit_or(1::BIGINT << who)) <> count(*)" if is_marked else "false"
        sorted_keys = f"list({key} ORDER BY {key}) AS keys"
        units = native.aggregate(f"{sorted_keys}, {repeats} AS repeated", "unit")
        return units.aggregate("keys, count(*) AS times, bool_or(repeated) AS repeated", "keys")

    def _write(self, native: Any, columns: str, folder: str) -> None:
        """Write rows to a folder, those of each value of ``piece`` to a folder in it."""
        rows = f"SELECT {columns} FROM setagree_rows"  # noqa: S608 - the path is quoted
        copy = f"COPY ({rows}) TO {quoted(folder)} (FORMAT parquet, PARTITION_BY (piece))"
        try:
            written = self.run(lambda: native.query("setagree_rows", copy))
            if written is not None:  # DuckDB 1 returns None and has written the rows
                self.run(written.fetchall)
        except Exception as error:  # such as a full disk
            raise stopped(self.name, error) from error

    def _read(self, pattern: str) -> Any:
        """Return the relation of written files."""
        rows = f"SELECT * FROM read_parquet({quoted(pattern)}, hive_partitioning=false)"  # noqa: S608
        return self.connection.sql(rows)

    def as_json(self, native: Any, column: str) -> Any:
        """Return the relation with lists as text."""
        return replaced(native, [column], "CAST(to_json({}) AS VARCHAR)")


class Polars(Engine):
    """Lazy frames of Polars, computed in batches where Polars can."""

    name = "Polars"
    home: Home = "polars"
    options = MappingProxyType({"engine": "streaming"})

    def upload(self, native: Any, small: Any) -> Any:  # noqa: ARG002 - frames join with any
        """Return a small frame as a lazy one."""
        return small.lazy()

    def composed(self, native: Any, column: str) -> Any:
        """Return the frame with composed accents."""
        import polars as pl

        return native.with_columns(pl.col(column).str.normalize("NFC"))

    def odd(self, native: Any, column: str) -> Any:
        """Return the frame with the result of a regular expression."""
        import polars as pl

        odd = pl.col(column).str.contains(_MAY_NEED_TIDYING)
        return native.with_columns(odd.alias(f"odd_{column}"))

    def bit_count(self, native: Any, column: str) -> Any:
        """Return the frame with bits counted."""
        import polars as pl

        return native.with_columns(pl.col(column).bitwise_count_ones().cast(pl.Int64))

    def as_json(self, native: Any, column: str) -> Any:
        """Return the frame with lists as text."""
        import polars as pl

        cell = pl.struct(pl.col(column).alias("answer")).struct.json_encode()
        return native.with_columns(cell.alias(column))

    def from_json(self, text: str) -> object:
        """Return the list, which `as_json` writes as a field of an object."""
        return json.loads(text)["answer"]


class Spark(Engine):
    """Data frames of Spark."""

    name = "Spark"
    is_remote = True

    def upload(self, native: Any, small: Any) -> Any:
        """Return a small Arrow table as a data frame that is copied to every worker."""
        from pyspark.sql import functions, types

        answer, *others = small.column_names
        long = [types.StructField(name, types.LongType()) for name in others]
        schema = types.StructType([native.schema[answer], *long])
        rows = list(zip(*(column.to_pylist() for column in small.columns), strict=True))
        return functions.broadcast(native.sparkSession.createDataFrame(rows, schema))

    def composed(self, native: Any, column: str) -> Any:
        """Return the data frame with composed accents, by a Python function for Spark."""
        import unicodedata

        from pyspark.sql import functions

        name = functions.col(column)
        try:
            ascii_only = not native.filter(name.rlike(_NOT_ASCII)).head(1)
        except Exception as error:  # a cluster or the user's query may raise any exception
            raise stopped(self.name, error) from error
        if ascii_only:
            return native
        compose = functions.udf(lambda text: text and unicodedata.normalize("NFC", text))
        return native.withColumn(column, compose(name))

    def odd(self, native: Any, column: str) -> Any:
        """Return the data frame with the result of a regular expression."""
        from pyspark.sql import functions

        odd = functions.col(column).rlike(_MAY_NEED_TIDYING)
        return native.withColumn(f"odd_{column}", odd)

    def bit_count(self, native: Any, column: str) -> Any:
        """Return the data frame with bits counted."""
        from pyspark.sql import functions

        return native.withColumn(column, functions.bit_count(column).cast("long"))

    def as_json(self, native: Any, column: str) -> Any:
        """Return the data frame with lists as text."""
        from pyspark.sql import functions

        return native.withColumn(column, functions.to_json(functions.col(column)))


class Ibis(Engine):
    """Tables of Ibis, which compiles one expression for many databases."""

    name = "Ibis"
    is_remote = tidies = True

    def upload(self, native: Any, small: Any) -> Any:
        """Return a small Arrow table as part of the query; the join column keeps its type."""
        import ibis

        on, *others = small.column_names
        types = {on: native.schema().get(on, "int64"), **dict.fromkeys(others, "int64")}
        return ibis.memtable(small, schema=ibis.schema(types))

    def composed(self, native: Any, column: str) -> Any:
        """Return the table with tidied text; distinct texts that change are tidied in Python."""
        import ibis
        import pyarrow as pa

        odd = native.filter(native[f"odd_{column}"]).select(column).distinct()
        try:
            texts = odd.to_pyarrow()[column].to_pylist()
        except Exception as error:  # a database may raise any exception
            raise stopped(self.name, error) from error
        changed = {text: new for text in texts if (new := tidied(text)) != text}
        if not changed:
            return native
        new = f"new_{column}"
        tidy = ibis.memtable(pa.table({column: [*changed], new: [*changed.values()]}))
        joined = native.left_join(tidy, column)
        others = [name for name in native.columns if name != column]
        kept = joined.select(*others, **{column: ibis.coalesce(joined[new], native[column])})
        # Without a condition above it, Ibis 12 merges this join with later ones and loses columns.
        return kept.filter(kept[others[0]].notnull() | kept[others[0]].isnull())

    def odd(self, native: Any, column: str) -> Any:
        """Return the table with the result of a regular expression."""
        return native.mutate(**{f"odd_{column}": native[column].re_search(_MAY_NEED_TIDYING)})

    def bit_count(self, native: Any, column: str) -> Any:
        """Return the table with bits counted individually."""
        bits = [(native[column] >> k) & 1 for k in range(_MARK_BITS)]
        return native.mutate(**{column: sum(bits[1:], bits[0])})

    def as_json(self, native: Any, column: str) -> Any:
        """Return the table with lists of text as their length and their joined labels."""
        import ibis

        cell = native[column]
        if not cell.type().value_type.is_string():
            raise DataError(
                "lists in a table of Ibis must hold text; read the table into memory: "
                "setagree.read(table)."
            )
        text = cell.length().cast("string") + ":" + cell.join(_UNIT_SEPARATOR).fill_null("")
        return native.mutate(**{column: cell.isnull().ifelse(ibis.null("string"), text)})

    def from_json(self, text: str) -> object:
        """Return the list of labels."""
        n, _, rest = text.partition(":")
        labels = rest.split(_UNIT_SEPARATOR) if int(n) else []
        if len(labels) != int(n):
            raise DataError("a label inside a list is missing, or holds the character U+001F.")
        return labels


_MARK_BITS, _UNIT_SEPARATOR = 63, "\x1f"


def wrapped(native: Any) -> nw.LazyFrame[Any]:
    """Return a lazy frame of an engine, wrapped by narwhals."""
    with needing("narwhals", "reducing a large table"):
        import narwhals as nw
    return nw.from_native(native)  # type: ignore[no-any-return]


def find_engine(frame: object) -> Engine | None:
    """Return the engine of a lazy frame, or None for tables in memory and unknown engines."""
    if not hasattr(frame, "collect_schema") or not hasattr(frame, "implementation"):
        return None
    import narwhals as nw

    if not isinstance(frame, nw.LazyFrame):
        return None
    kind = frame.implementation
    if kind.is_duckdb():
        return DuckDB(relation=frame.to_native())
    if kind.is_polars():
        return Polars()
    if kind.is_ibis():
        return Ibis()
    return Spark() if kind.is_pyspark() else None


def fetch(frame: nw.LazyFrame[Any], engine: Engine) -> nw.DataFrame[Any]:
    """Compute a lazy frame; errors of the engine become `DataError`."""
    try:
        return engine.run(lambda: frame.collect(engine.home, **engine.options))
    except ImportError as error:
        package = error.name or "pyarrow"
        raise missing_package(f"reducing a table in {engine.name}", package, "files") from error
    except Exception as error:  # an engine or the user's query may raise any exception
        raise stopped(engine.name, error) from error


def stopped(name: str, error: Exception) -> DataError:
    """Return the error for the failure of an engine, with a remedy for lack of memory or space."""
    reason, _, rest = str(error).strip().partition("\n")
    if reason.endswith(":") and (raised := _RAISED.findall(rest)):
        reason = f"{reason} {raised[-1]}"  # the exception of Python in a worker
    remedy = ""
    if "new thread" in reason or "Allocation failure" in reason:  # a limit of the process
        reason, remedy = reason.rstrip("."), ". This computer allows the process no more memory."
    elif any(full in reason for full in _FULL):
        reason = reason.rstrip(".")
        remedy = f". Name a folder with room as {option('temp_directory')}."
    elif "memory" in reason.lower():
        remedy = f" Raise {option('memory_limit')}, or name a folder with room as "
        remedy += f"{option('temp_directory')}."
    return DataError(f"{name} stopped, and there is no result: {reason}{remedy}")


_WAIT_SECONDS = 0.2


def quoted(text: str) -> str:
    """Return text as an SQL literal."""
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def sql_name(text: str) -> str:
    """Return a name as an SQL identifier."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def run_query(work: Callable[[], Result], connection: Any) -> Result:
    """Run a query of DuckDB in a separate thread, and interrupt it if a signal ends the waiting.

    DuckDB itself checks for signals only between pieces of work that may take many seconds, and
    raises an error other than KeyboardInterrupt. Without a connection only this error is converted.
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
            wait([query], timeout=_WAIT_SECONDS)
    finally:
        # A signal may arrive while the thread starts: the query then runs, or must not begin.
        while not (query.cancel() or query.done()):
            connection.interrupt()
            wait([query], timeout=_WAIT_SECONDS)
    return query.result()


def _answer(query: Future[Result], work: Callable[[], Result]) -> None:
    """Do the work unless it was cancelled."""
    if not query.set_running_or_notify_cancel():
        return
    try:
        query.set_result(work())
    except BaseException as error:  # noqa: BLE001 - result() raises it in the waiting thread
        query.set_exception(error)


def uncollated(relation: Any, columns: Collection[str]) -> Any:
    """Return a relation of DuckDB whose text is compared by characters, not by collation."""
    query = "SELECT current_setting('default_collation')"
    default = relation.query("setagree_rows", query).fetchall()[0][0]
    if default:
        raise DataError(
            f"the connection compares text by the collation {default!r}, so that A and a may be "
            "one; execute SET default_collation = ''."
        )
    return replaced(relation, _of_type(relation, columns, "VARCHAR"), "decode(encode({}))")


def without_uuids(relation: Any, columns: Collection[str]) -> Any:
    """Return a relation of DuckDB with UUIDs, a type that narwhals does not have, as text."""
    return replaced(relation, _of_type(relation, columns, "UUID"), "CAST({} AS VARCHAR)")


def _of_type(relation: Any, columns: Collection[str], kind: str) -> list[str]:
    """Return those of the columns that have a type of DuckDB."""
    types = zip(relation.columns, relation.types, strict=True)
    return [name for name, each in types if name in columns and str(each) == kind]


def replaced(relation: Any, columns: Sequence[str], expression: str) -> Any:
    """Return a relation with columns replaced by an expression, in which {} is their name."""
    names = map(sql_name, columns)
    new = ", ".join(f"{expression.format(name)} AS {name}" for name in names)
    return relation.project(f"* REPLACE ({new})") if new else relation
