"""The little that engines do not share: uploading a small table, lists, accents."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

from setagree.errors import DataError, missing_package, option
from setagree.study.numbers import number_of_json

if TYPE_CHECKING:
    import narwhals as nw

Home: TypeAlias = Literal["pyarrow", "polars"]
Result = TypeVar("Result")

_RAISED = re.compile(r"^[\w.]+(?:Error|Exception): .*$", re.MULTILINE)
_PATIENCE = 0.2
_NOT_ASCII = r"[^\x00-\x7F]"
# What DuckDB needs of its memory limit to group the rows of units, most of which are on disk then.
_BYTES_A_ROW = 10
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


class Engine(Protocol):
    """What a lazy table is computed by.

    Attributes
    ----------
    name : str
        For sentences.
    home : str
        The library whose eager tables results arrive in.
    options : dict
        How results are computed.
    """

    name: str
    home: Home
    options: dict[str, Any]

    def upload(self, native: Any, small: Any) -> Any:
        """Return a small eager table as a lazy one that joins with `native`."""

    def composed(self, native: Any, column: str) -> Any:
        """Return the table with the accents of a text column composed (Unicode NFC)."""

    def pieces(self, native: Any, n_rows: int) -> list[Any]:
        """Return a table with a column ``unit`` in pieces of whole units that fit in memory."""

    def bit_count(self, native: Any, column: str) -> Any:
        """Return the table with a column of whole numbers as how many of their bits are set."""

    def as_json(self, native: Any, column: str) -> Any:
        """Return the table with a column of lists written as JSON text."""

    def from_json(self, text: str) -> object:
        """Return the list that was written so."""

    def run(self, work: Callable[[], Result]) -> Result:
        """Compute a query."""


class DuckDB:
    """Relations of DuckDB; of a connection that can be told to stop, where it is given."""

    name = "DuckDB"
    home: Home = "pyarrow"
    options: dict[str, Any] = {}  # noqa: RUF012 - never written to

    def __init__(self, connection: Any = None) -> None:
        self.connection = connection

    def run(self, work: Callable[[], Result]) -> Result:
        """Compute a query; Ctrl-C stops it at once."""
        return run_query(work, self.connection)

    def upload(self, native: Any, small: Any) -> Any:
        """Return a small Arrow table as a relation of the same connection."""

        def ask() -> Any:
            # DuckDB finds it by its name, unless the connection has a table that is called so.
            setagree_codes_3f9a1c = small  # noqa: F841
            return native.query("setagree_rows", "SELECT * FROM setagree_codes_3f9a1c")

        try:
            return self.run(ask)
        except Exception as error:  # such as a connection that reads no tables of Python
            raise stopped(self.name, error) from error

    def composed(self, native: Any, column: str) -> Any:
        """Return the relation with composed accents."""
        return _replaced(native, column, "nfc_normalize", None)

    def pieces(self, native: Any, n_rows: int) -> list[Any]:
        """Return the relation as few pieces as its memory limit asks for, where we have set it."""
        if self.connection is None:
            return [native]
        asked = "SELECT current_setting('memory_limit')"
        amount, unit = self.connection.execute(asked).fetchall()[0][0].split()
        n = max(1, math.ceil(n_rows * _BYTES_A_ROW / (float(amount) * _UNITS[unit])))
        # Grouping goes by hash(unit) itself, which should differ in all of its bits in a piece.
        tests = [f"hash(unit, 1) % {n} = {k}" for k in range(n)] if n > 1 else []
        return list(map(native.filter, tests)) or [native]

    def bit_count(self, native: Any, column: str) -> Any:
        """Return the relation with bits counted."""
        return _replaced(native, column, "bit_count", "BIGINT")

    def as_json(self, native: Any, column: str) -> Any:
        """Return the relation with lists as text."""
        return _replaced(native, column, "to_json", "VARCHAR")

    def from_json(self, text: str) -> object:
        """Return the list, or what else JSON lines hold."""
        return json.loads(text, parse_float=number_of_json)


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
    with ThreadPoolExecutor(1) as pool:
        query = pool.submit(work)
        try:
            while not query.done():
                wait([query], timeout=_PATIENCE)
        finally:
            while not query.done():  # it may not have begun, and would not hear then
                connection.interrupt()
                wait([query], timeout=_PATIENCE)
        return query.result()


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


def _replaced(relation: Any, column: str, function: str, cast: str | None) -> Any:
    import duckdb

    called = duckdb.FunctionExpression(function, duckdb.ColumnExpression(column))
    new = called if cast is None else called.cast(cast)
    return relation.select(duckdb.StarExpression(exclude=[column]), new.alias(column))


class Polars:
    """Lazy frames of Polars, computed in batches where Polars can."""

    name = "Polars"
    home: Home = "polars"
    options: dict[str, Any] = {"engine": "streaming"}  # noqa: RUF012 - never written to

    def run(self, work: Callable[[], Result]) -> Result:
        """Compute a query."""
        return work()

    def upload(self, native: Any, small: Any) -> Any:  # noqa: ARG002 - frames join with any
        """Return a small frame as a lazy one."""
        return small.lazy()

    def composed(self, native: Any, column: str) -> Any:
        """Return the frame with composed accents."""
        import polars as pl

        return native.with_columns(pl.col(column).str.normalize("NFC"))

    def pieces(self, native: Any, n_rows: int) -> list[Any]:  # noqa: ARG002 - as in DuckDB
        """Return the frame in one piece."""
        return [native]

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


class Spark:
    """Data frames of Spark."""

    name = "Spark"
    home: Home = "pyarrow"
    options: dict[str, Any] = {}  # noqa: RUF012 - never written to

    def run(self, work: Callable[[], Result]) -> Result:
        """Compute a query."""
        return work()

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

    def pieces(self, native: Any, n_rows: int) -> list[Any]:  # noqa: ARG002 - as in DuckDB
        """Return the data frame in one piece."""
        return [native]

    def bit_count(self, native: Any, column: str) -> Any:
        """Return the data frame with bits counted."""
        from pyspark.sql import functions

        return native.withColumn(column, functions.bit_count(column).cast("long"))

    def as_json(self, native: Any, column: str) -> Any:
        """Return the data frame with lists as text."""
        from pyspark.sql import functions

        return native.withColumn(column, functions.to_json(functions.col(column)))

    def from_json(self, text: str) -> object:
        """Return the list."""
        return json.loads(text)


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
    """Return the engine that computes a lazy frame, None where it is in memory or not known."""
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
    if kind.is_pyspark():
        return Spark()
    return None


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
    elif "memory" in said.lower():
        room = f" Raise {option('memory_limit')}, or name a folder with room as {option('spill')}."
    return DataError(f"{name} stopped, and there is no result: {said}{room}")
