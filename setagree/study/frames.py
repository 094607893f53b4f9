"""Conversion of tables of other libraries to pandas, with text and lists in Arrow if installed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from setagree.errors import (
    DataError,
    NoTableError,
    a_type,
    did_you_mean,
    listing,
    missing_package,
    shorten,
)
from setagree.lazy import pd
from setagree.study.codes import (
    Column,
    TextFrame,
    as_objects,
    as_ordered,
    common_order,
    is_text,
    order_of,
)
from setagree.study.numbers import EXACT

if TYPE_CHECKING:
    import narwhals as nw
    from narwhals.typing import IntoFrame

Frame: TypeAlias = "pd.DataFrame | IntoFrame"
"""A table of pandas, or of any library that narwhals supports."""


def open_frame(data: object, *, also: str = "") -> Any:
    """Return a frame of pandas or text unchanged, and that of another library with narwhals.

    `also` describes other accepted types, for the error.
    """
    if isinstance(data, pd.DataFrame | TextFrame):
        return data
    try:
        streams = hasattr(data, "__arrow_c_stream__") and hasattr(data, "schema")
    except Exception as error:  # hasattr makes a DuckDB relation resolve its table
        raise _cannot_compute(error) from error
    try:
        import narwhals as nw
    except ImportError:
        if streams or hasattr(data, "columns"):
            library = type(data).__module__.partition(".")[0].lstrip("_")
            kind = f"a {library} {type(data).__name__}"
            raise missing_package(kind, "narwhals", "frames") from None
        raise _no_table(data, also) from None
    try:
        frame: object = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise DataError(f"two columns have one name: {' '.join(str(error).split())}.") from error
    if isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return frame
    if streams:  # a library with the Arrow stream interface
        return nw.from_arrow(data, backend="pyarrow")
    raise _no_table(data, also)


def column_names(data: Frame) -> list[Any]:
    """Return the names of the columns of a table without reading it."""
    frame = open_frame(data)
    return [*frame.columns] if isinstance(frame, pd.DataFrame | TextFrame) else _names(frame)


def as_pandas(data: Frame, names: Iterable[object] | None = None) -> pd.DataFrame:
    """Return the named columns of a table (default: all) as a pandas frame.

    A pandas frame or a `TextFrame` is returned unchanged. Text, lists of text and objects remain in
    Arrow, so that only their distinct cells become Python objects, and ordered categories remain
    ordered. Numbers and flags with missing cells become nullable, so that large whole numbers keep
    all digits.
    """
    frame = open_frame(data)
    if isinstance(frame, pd.DataFrame | TextFrame):
        return cast("pd.DataFrame", frame)
    present = _names(frame)
    selected = present if names is None else list(names)
    check_columns(present, selected)
    selected = list(dict.fromkeys(selected))
    longest = _longest(frame, selected)
    picked = frame.select(*selected) if selected else frame
    eager = _collected(picked.with_columns(*longest.values()) if longest else picked)
    if eager.implementation.is_pandas_like():
        return eager.to_pandas()
    columns = {name: _column(eager[str(name)]) for name in selected}
    for name in longest:
        cells = (int(c) if isinstance(c, str) else None for c in columns[name].tolist())
        columns[name] = pd.Series(as_objects(cells), dtype=object)
    return pd.DataFrame(columns)


def without_dictionary(column: Column) -> Column:
    """Return a pandas column with Arrow dictionaries decoded, and other columns unchanged.

    pandas treats a null in a dictionary as a cell, does not join chunks with different
    dictionaries, and counts their unused entries as distinct cells.
    """
    if not hasattr(getattr(column.dtype, "pyarrow_dtype", None), "index_type"):
        return column
    array: Any = column.array
    decoded = _of_arrow(array.__arrow_array__())
    return pd.Series(decoded.array, index=column.index, name=column.name)


def is_inexact(column: Column) -> bool:
    """Return whether a column has floats that are too large to represent whole numbers exactly."""
    if not pd.api.types.is_float_dtype(column.dtype):
        return False
    return bool((column.abs() >= EXACT).any())


def inexact_ids(role: str) -> DataError:
    """Return the error for identifiers that may have been rounded."""
    return DataError(
        f"{role}s are floats of 2**53 and more, where two that differ may be rounded to one; "
        "read that column as text (in pandas dtype=str) or as whole numbers."
    )


def stacked(columns: Sequence[Column]) -> Column:
    """Return the concatenated columns; whole numbers among floats keep all digits."""
    kind = columns[0].dtype
    if isinstance(kind, np.dtype) and all(column.dtype == kind for column in columns):
        return pd.Series(np.concatenate([column.to_numpy() for column in columns]), dtype=kind)
    joined = pd.concat(list(columns), ignore_index=True)
    if any(orders := [order_of(column) for column in columns]):
        return as_ordered(joined.astype(object), common_order(orders, joined.dropna()))
    is_whole = [pd.api.types.is_integer_dtype(column.dtype) for column in columns]
    if not any(is_whole) or not is_inexact(joined):
        return joined
    return pd.Series(np.concatenate([as_objects(column) for column in columns]), dtype=object)


def check_columns(columns: Sequence[Any], names: Sequence[object]) -> None:
    """Raise `DataError` unless exactly one column has each name; list all absent ones."""
    absent = [name for name in names if not isinstance(name, Hashable) or name not in columns]
    if len(absent) > 1:
        raise DataError(
            f"there are no columns {listing(absent, limit=12)}; the {columns_listed(columns)}."
        )
    for name in names:
        check_column(columns, name)


def check_column(columns: Sequence[Any], name: object) -> None:
    """Raise `DataError` unless exactly one column is called ``name``."""
    n = columns.count(name) if isinstance(name, Hashable) else 0
    if n == 0:
        hint = did_you_mean(name, columns)
        raise DataError(f"there is no column {shorten(name)}; the {columns_listed(columns)}.{hint}")
    if n > 1:
        raise DataError(f"{n} columns are called {name!r}; rename all but one.")


def columns_listed(names: Sequence[Any]) -> str:
    """Return a phrase with the columns of a table."""
    return f"columns are {listing(names, limit=12)}" if names else "table has no columns"


def _no_table(data: object, also: str) -> NoTableError:
    expected, remedy = "a table", f"a DataFrame (pandas, Polars, Arrow, DuckDB, ...){also}"
    if type(data).__module__.startswith("setagree.") and hasattr(data, "to_frame"):
        expected, remedy = "annotations", "the study that it was computed from"
    elif isinstance(data, list | tuple | dict | np.ndarray):
        remedy += ", or Python objects to setagree.read"
    return NoTableError(f"Expected {expected}, got {a_type(data)}; pass {remedy}.")


def _names(frame: Any) -> list[Any]:
    try:
        return list(frame.collect_schema().names())
    except Exception as error:  # a user's query may raise any exception
        raise _cannot_compute(error) from error


def _longest(frame: Any, names: Sequence[Any]) -> dict[Any, nw.Expr]:
    """Return casts to text of the UInt128 columns of a lazy table, which overflow otherwise."""
    import narwhals as nw

    if not isinstance(frame, nw.LazyFrame):
        return {}
    schema = frame.collect_schema()
    return {n: nw.col(n).cast(nw.String) for n in names if schema[n] == nw.UInt128}


def _cannot_compute(error: Exception) -> DataError:
    first_line = str(error).strip().partition("\n")[0]
    return DataError(f"the lazy table cannot be computed: {first_line}")


def _collected(frame: Any) -> nw.DataFrame[Any]:
    import narwhals as nw

    if isinstance(frame, nw.DataFrame):
        return frame
    try:
        return frame.collect()  # type: ignore[no-any-return]
    except ImportError as error:
        package = error.name or "pyarrow"
        raise missing_package("collecting the lazy table", package, "files") from error
    except Exception as error:  # a user's query may raise any exception
        raise _cannot_compute(error) from error


def _column(series: nw.Series[Any]) -> Column:
    """Return a column through Arrow if it is installed and has the type of the cells."""
    import narwhals as nw

    dtype, order = series.dtype, getattr(series.dtype, "categories", ())  # categories of an Enum
    if dtype not in {nw.Object, nw.Int128, nw.UInt128}:
        try:
            is_arrow = series.implementation.is_pyarrow()  # narwhals would join its chunks
            column = _of_arrow(series.to_native() if is_arrow else series.to_arrow())
            return as_ordered(column, order) if order else column  # Arrow drops the order
        except ImportError:
            if isinstance(dtype, nw.Datetime) and dtype.time_unit == "ns":
                # Python's datetime has no nanoseconds.
                raise missing_package("times to the nanosecond", "pyarrow", "files") from None
            if dtype.is_float() or (dtype.is_integer() and not series.null_count()):
                return pd.Series(series.to_numpy())
    return as_ordered(pd.Series(as_objects(series.to_list()), dtype=object), order)


def _of_arrow(array: Any) -> Column:
    """Return a pandas column: numbers as numbers, text and objects in Arrow, others as objects."""
    import pyarrow as pa

    kinds, kind = pa.types, array.type
    array = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    if kinds.is_dictionary(kind):
        decoded = [chunk.dictionary_decode() for chunk in array.chunks]
        plain = _of_arrow(pa.chunked_array(decoded, type=kind.value_type))
        listed = [
            chunk.dictionary.drop_null().to_pylist() for chunk in array.chunks if kind.ordered
        ]
        return as_ordered(plain, common_order(map(tuple, listed), ()))
    if kinds.is_string_view(kind):
        array = array.cast(pa.large_string())
    # Unused columns of long texts or pictures must not become Python objects.
    if is_text(array.type) or kinds.is_struct(kind) or is_text(getattr(kind, "value_type", kind)):
        return pd.Series(pd.arrays.ArrowExtensionArray(array))
    if kinds.is_boolean(kind) or kinds.is_integer(kind):
        if not array.null_count:
            return pd.Series(array.to_numpy())
        values = array.fill_null(0 if kinds.is_integer(kind) else False).to_numpy()
        wrapped = pd.arrays.IntegerArray if kinds.is_integer(kind) else pd.arrays.BooleanArray
        return pd.Series(wrapped(np.array(values), array.is_null().to_numpy()))
    # Python's datetime has no nanoseconds.
    if kinds.is_floating(kind) or (kinds.is_timestamp(kind) and kind.unit == "ns"):
        return pd.Series(array.to_pandas())
    return pd.Series(as_objects(array.to_pylist()), dtype=object)


_INDEX = "\0row"
"""Name of an index of original row positions."""


def numbered(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose rows keep their numbers when some are dropped."""
    if table.index.name == _INDEX:
        return table
    return table.set_axis(numbered_rows(np.arange(len(table)) + 1), axis=0)


def numbered_rows(numbers: npt.NDArray[np.int64]) -> pd.Index[Any]:
    """Return the index of rows with these numbers, for `row_numbers`."""
    return pd.Index(numbers - 1, name=_INDEX)


def row_numbers(rows: pd.DataFrame | pd.Series[Any]) -> npt.NDArray[np.int64]:
    """Return the number of each row, counted from 1 below the header."""
    return (rows.index.to_numpy() if rows.index.name == _INDEX else np.arange(len(rows))) + 1
