"""The little that engines do not share: uploading a small table, lists, accents."""

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

from setagree.errors import DataError, missing_package, option
from setagree.study.identifiers import tidied
from setagree.study.numbers import number_of_json

if TYPE_CHECKING:
    import narwhals as nw

Home: TypeAlias = Literal["pyarrow", "polars"]
Result = TypeVar("Result")

_RAISED = re.compile(r"^[\w.]+(?:Error|Exception): .*$", re.MULTILINE)
_NOT_ASCII = r"[^\x00-\x7F]"
_MAY_NEED_TIDYING = r"^\s|\s$|[^ -~]"
# What DuckDB needs of its memory limit to group rows, if each were of another unit.
_BYTES_A_ROW = 100
_HASH = "hash(unit)"
_FULL = [os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)]
_UNITS = {"bytes": 1} | {f"{prefix}iB": 2 ** (10 * k) for k, prefix in enumerate("KMGTPE", 1)}


class Engine:
    """What a lazy table is computed by.

    Attributes
    ----------
    name : str
        For sentences.
    home : str
        The library whose eager tables results arrive in.
    options : dict
        How results are computed.
    is_remote : bool
        Whether tables may lie on another machine, so that none is read into memory unasked.
    tidies : bool
        Whether `composed` also removes the space around text.
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
        """Give a table with a column ``unit`` in pieces of whole units that fit in memory."""
        return nullcontext([native])

    def kept(self, natives: Sequence[Any]) -> Any:
        """Return tables as one, each computed once and alone where the engine can keep it."""
        return natives[0]

    def bit_count(self, native: Any, column: str) -> Any:
        """Return the table with a column of whole numbers as how many of their bits are set."""
        raise NotImplementedError

    def as_json(self, native: Any, column: str) -> Any:
        """Return the table with a column of lists written as JSON text."""
        raise NotImplementedError

    def from_json(self, text: str) -> object:
        """Return the list, or what else JSON lines hold, that was written so."""
        return json.loads(text, parse_float=number_of_json)


class DuckDB(Engine):
    """Relations of DuckDB; of a connection that can be told to stop, where it is given."""

    name = "DuckDB"

    def __init__(self, connection: Any = None, folder: str | None = None) -> None:
        self.connection = connection
        self.folder = folder

    def run(self, work: Callable[[], Result]) -> Result:
        """Compute a query; Ctrl-C stops it at once."""
        return run_query(work, self.connection)

    def upload(self, native: Any, small: Any) -> Any:
        """Return a small Arrow table as a relation of the same connection."""

        def ask() -> Any:
            # DuckDB finds it by its name, unless the connection has a table that is called so.
            setagree_codes_3f9a1c = small  # noqa: F841
            asked = "SELECT * FROM setagree_codes_3f9a1c"
            if self.connection is not None:
                return self.connection.sql(asked)
            return native.query("setagree_rows", asked)  # which plans all of the relation again

        try:
            return self.run(ask)
        except Exception as error:  # such as a connection that reads no tables of Python
            raise stopped(self.name, error) from error

    def composed(self, native: Any, column: str) -> Any:
        """Return the relation with composed accents."""
        return replaced(native, column, "nfc_normalize", None)

    def odd(self, native: Any, column: str) -> Any:
        """Tell text by its ends and its bytes, which takes half as long as an expression."""
        ends = f"{column} < '!' OR reverse({column}) < '!'"
        return native.project(f"*, {ends} OR strlen({column}) <> length({column}) AS odd_{column}")

    @contextmanager
    def pieces(self, native: Any, n_rows: int) -> Iterator[list[Any]]:
        """Give the relation as few pieces as its memory limit asks for, where we have set it.

        Several are files, written in one pass over the rows and removed in the end.
        """
        asked = "SELECT current_setting('memory_limit')"
        n = 1
        if self.folder is not None:
            [[said]] = self.run(lambda: self.connection.sql(asked).fetchall())
            amount, unit = said.split()
            n = math.ceil(n_rows * _BYTES_A_ROW / (float(amount) * _UNITS[unit]))
        if n < 2:
            yield [native]
            return
        # Grouping goes by the lower bits of the hash, which differ in a piece where n is odd.
        by = f"*, {_HASH} % {n | 1} AS piece"
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            self._write(native, by, folder, ", PARTITION_BY (piece)")
            yield [self._read(f"{piece}/*") for piece in sorted(Path(folder).iterdir())]

    def grouped(self, native: Any, key: str, *, is_marked: bool) -> Any:
        """Return the sorted lists of keys, the number of units of each, and whether one repeats."""
        repeats = "bit_count(bit_or(1::BIGINT << who)) <> count(*)" if is_marked else "false"
        sorted_keys = f"list({key} ORDER BY {key}) AS keys"
        units = native.aggregate(f"{sorted_keys}, {repeats} AS repeated", "unit")
        return units.aggregate("keys, count(*) AS times, bool_or(repeated) AS repeated", "keys")

    def kept(self, natives: Sequence[Any]) -> Any:
        """Return relations as the relation of files that they are written to."""
        if self.folder is None:
            return natives[0]
        folder = tempfile.mkdtemp(dir=self.folder)
        for place, native in enumerate(natives):
            self._write(native, "*", f"{folder}/{place}.parquet")
        return self._read(f"{folder}/*")

    def _write(self, native: Any, columns: str, path: str, options: str = "") -> None:
        rows = f"SELECT {columns} FROM setagree_rows"  # noqa: S608 - the path is quoted
        copy = f"COPY ({rows}) TO {quoted(path)} (FORMAT parquet{options})"
        try:
            written = self.run(lambda: native.query("setagree_rows", copy))
            if written is not None:  # DuckDB 1 has written the rows by now
                self.run(written.fetchall)
        except Exception as error:  # such as a full disk
            raise stopped(self.name, error) from error

    def _read(self, pattern: str) -> Any:
        """Return the relation of files that were written so."""
        rows = f"SELECT * FROM read_parquet({quoted(pattern)}, hive_partitioning=false)"  # noqa: S608
        return self.connection.sql(rows)

    def bit_count(self, native: Any, column: str) -> Any:
        """Return the relation with bits counted."""
        return replaced(native, column, "bit_count", "BIGINT")

    def as_json(self, native: Any, column: str) -> Any:
        """Return the relation with lists as text."""
        return replaced(native, column, "to_json", "VARCHAR")


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
        """Return the frame with what a regular expression tells."""
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
        """Return the list, which Polars writes as a field of an object."""
        return json.loads(text)["answer"]


class Spark(Engine):
    """Data frames of Spark."""

    name = "Spark"
    is_remote = True

    def upload(self, native: Any, small: Any) -> Any:
        """Return a small Arrow table as a data frame that every worker gets a copy of."""
        from pyspark.sql import functions, types

        answer, *others = small.column_names
        long = [types.StructField(name, types.LongType()) for name in others]
        schema = types.StructType([native.schema[answer], *long])
        rows = list(zip(*(column.to_pylist() for column in small.columns), strict=True))
        return functions.broadcast(native.sparkSession.createDataFrame(rows, schema))

    def composed(self, native: Any, column: str) -> Any:
        """Return the data frame with composed accents, which Spark has no function for."""
        import unicodedata

        from pyspark.sql import functions

        name = functions.col(column)
        try:
            ascii_only = not native.filter(name.rlike(_NOT_ASCII)).head(1)
        except Exception as error:  # whatever goes wrong in a cluster, or in the user's own query
            raise stopped(self.name, error) from error
        if ascii_only:
            return native
        compose = functions.udf(lambda text: text and unicodedata.normalize("NFC", text))
        return native.withColumn(column, compose(name))

    def odd(self, native: Any, column: str) -> Any:
        """Return the data frame with what a regular expression tells."""
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
        """Return the table with tidied text; the distinct texts that change are tidied here."""
        import ibis
        import pyarrow as pa

        odd = native.filter(native[f"odd_{column}"]).select(column).distinct()
        try:
            texts = odd.to_pyarrow()[column].to_pylist()
        except Exception as error:  # whatever goes wrong in a database
            raise stopped(self.name, error) from error
        changed = {text: new for text in texts if (new := tidied(text)) != text}
        if not changed:
            return native
        new = f"new_{column}"
        known = ibis.memtable(pa.table({column: [*changed], new: [*changed.values()]}))
        joined = native.left_join(known, column)
        others = [name for name in native.columns if name != column]
        kept = joined.select(*others, **{column: ibis.coalesce(joined[new], native[column])})
        # Without a condition above it, Ibis 12 merges this join with later ones and loses columns.
        return kept.filter(kept[others[0]].notnull() | kept[others[0]].isnull())

    def odd(self, native: Any, column: str) -> Any:
        """Return the table with the result of a regular expression."""
        return native.mutate(**{f"odd_{column}": native[column].re_search(_MAY_NEED_TIDYING)})

    def bit_count(self, native: Any, column: str) -> Any:
        """Return the table with bits counted, one after the other."""
        bits = [(native[column] >> k) & 1 for k in range(_MARK_BITS)]
        return native.mutate(**{column: sum(bits[1:], bits[0])})

    def as_json(self, native: Any, column: str) -> Any:
        """Return the table with lists of text as their length and their labels, separated."""
        import ibis

        cell = native[column]
        if not cell.type().value_type.is_string():
            raise DataError(
                "lists in a table of Ibis hold text alone; read the table into memory: "
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
    """Return a lazy frame of an engine in the words of narwhals.

    Raises
    ------
    MissingDependencyError
        Narwhals is not installed.
    """
    try:
        import narwhals as nw
    except ImportError:
        raise missing_package("reducing a large table", "narwhals", "files") from None
    return nw.from_native(native)  # type: ignore[no-any-return]


def find_engine(frame: object) -> Engine | None:
    """Return the engine that computes a lazy frame, or None if it is in memory or not known."""
    if not hasattr(frame, "collect_schema") or not hasattr(frame, "implementation"):
        return None
    import narwhals as nw

    if not isinstance(frame, nw.LazyFrame):
        return None
    kind = frame.implementation
    if kind.is_duckdb():
        return DuckDB()
    if kind.is_polars():
        return Polars()
    if kind.is_ibis():
        return Ibis()
    return Spark() if kind.is_pyspark() else None


def fetch(frame: nw.LazyFrame[Any], engine: Engine) -> nw.DataFrame[Any]:
    """Compute a lazy frame.

    Raises
    ------
    DataError
        The engine fails.
    """
    try:
        return engine.run(lambda: frame.collect(engine.home, **engine.options))
    except ImportError as error:
        package = error.name or "pyarrow"
        raise missing_package(f"reducing a table in {engine.name}", package, "files") from error
    except Exception as error:  # whatever goes wrong in an engine, or in the user's own query
        raise stopped(engine.name, error) from error


def stopped(name: str, error: Exception) -> DataError:
    """Return the error that says that an engine failed, so that there is no result."""
    said, _, rest = str(error).strip().partition("\n")
    if said.endswith(":") and (raised := _RAISED.findall(rest)):
        said = f"{said} {raised[-1]}"  # what Python raised in a worker
    room = ""
    if "new thread" in said or "Allocation failure" in said:  # which no setting of ours brings on
        said, room = said.rstrip("."), ". This computer allows the process no more memory."
    elif any(full in said for full in _FULL):
        said, room = said.rstrip("."), f". Name a folder with room as {option('temp_directory')}."
    elif "memory" in said.lower():
        room = f" Raise {option('memory_limit')}, or name a folder with room as "
        room += f"{option('temp_directory')}."
    return DataError(f"{name} stopped, and there is no result: {said}{room}")


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
