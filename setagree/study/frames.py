"""Tables of other libraries as pandas columns: text and lists of text arrive as integer codes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import (
    DataError,
    NoTableError,
    a_type,
    did_you_mean,
    listing,
    missing_package,
    shorten,
)
from setagree.study.codes import MISSING, Codes, Column, as_objects
from setagree.study.numbers import EXACT
from setagree.study.objects import as_ordered, common_order, order_of, order_of_arrow

if TYPE_CHECKING:
    import narwhals as nw
    from narwhals.typing import IntoFrame

Frame: TypeAlias = "pd.DataFrame | IntoFrame"
"""A table of pandas, or of any library that narwhals knows."""

_MOST_KEYS = 2**62


def open_frame(data: object, *, also: str = "") -> Any:
    """Return a pandas frame as it is, a table of another library wrapped by narwhals.

    `also` words what else the caller takes, for the error.
    """
    if isinstance(data, pd.DataFrame):
        return data
    try:
        streams = hasattr(data, "__arrow_c_stream__") and hasattr(data, "schema")
    except Exception as error:  # a relation of DuckDB looks for its table when it is asked
        raise _cannot_compute(error) from error
    try:
        import narwhals as nw
    except ImportError:
        if streams or hasattr(data, "columns"):
            raise missing_package(f"a {_kind(data)}", "narwhals", "frames") from None
        raise _no_table(data, also) from None
    try:
        frame: object = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise DataError(f"two columns of one name: {' '.join(str(error).split())}.") from error
    if isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return frame
    if streams:  # of a library that hands over Arrow data
        return nw.from_arrow(data, backend="pyarrow")
    raise _no_table(data, also)


def column_names(data: Frame) -> list[Any]:
    """Return the names of the columns of a table, which is not read for that."""
    frame = open_frame(data)
    return list(frame.columns) if isinstance(frame, pd.DataFrame) else _names(frame)


def listed_columns(data: Frame) -> list[Any]:
    """Return the names of the columns of a table; none of a stream, which is read only once."""
    if isinstance(data, pd.DataFrame):
        return list(data.columns)
    if callable(getattr(data, "collect_schema", None)):  # of Polars and narwhals
        return _names(data)
    names = getattr(data, "column_names", None)  # of Arrow
    if names is None and type(data).__name__ in {"DataFrame", "DuckDBPyRelation"}:
        names = getattr(data, "columns", None)
    return names if isinstance(names, list) else []


def as_pandas(data: Frame, names: Iterable[object] | None = None) -> pd.DataFrame:
    """Return a table as a pandas frame; a pandas frame itself, of others only the named columns.

    Text and lists of text become categorical columns: the library they come from finds the distinct
    cells, and only these become Python objects. Numbers and flags stay what they are; where some
    are missing they become nullable, so that large whole numbers keep all their digits.

    `names` are the columns that are needed; all by default.

    Raises
    ------
    DataError
        The object is no table, or has no such column.
    """
    frame = open_frame(data)
    if isinstance(frame, pd.DataFrame):
        return frame
    known = _names(frame)
    wanted = known if names is None else list(names)
    check_columns(known, wanted)
    wanted = list(dict.fromkeys(wanted))
    longest = _longest(frame, wanted)
    picked = frame.select(*wanted) if wanted else frame
    eager = _collected(picked.with_columns(*longest.values()) if longest else picked)
    if eager.implementation.is_pandas_like():
        return eager.to_pandas()
    found = {name: _column(eager[str(name)]) for name in wanted}
    for name in longest:
        cells = (int(c) if isinstance(c, str) else None for c in found[name].tolist())
        found[name] = pd.Series(as_objects(cells), dtype=object)
    return pd.DataFrame(found)


def without_dictionary(column: Column) -> Column:
    """Return a column of pandas as it is, or as a categorical if it has an Arrow dictionary.

    pandas takes a null in such a dictionary for a cell, does not join chunks with different
    dictionaries, and counts their unused entries as distinct cells.

    Examples
    --------
    >>> without_dictionary(pd.Series(["a", None])).isna().tolist()
    [False, True]
    """
    if not str(getattr(column.dtype, "pyarrow_dtype", "")).startswith("dictionary"):
        return column
    array: Any = column.array
    arrow = array.__arrow_array__()
    found = _categorical(*_distinct_arrow(arrow), order=order_of_arrow(arrow))
    return pd.Series(found.array, index=column.index, name=column.name)


def is_inexact(column: Column) -> bool:
    """Return whether a column of floats has numbers so large that whole ones may be rounded.

    Examples
    --------
    >>> is_inexact(pd.Series([0.5, 2.0**53])), is_inexact(pd.Series([2**60]))
    (True, False)
    """
    if not pd.api.types.is_float_dtype(column.dtype):
        return False
    return bool((column.abs() >= EXACT).any())


def inexact_ids(role: str) -> DataError:
    """Return the error that says that identifiers may have been rounded to one."""
    return DataError(
        f"{role}s are floats of 2**53 and more, where two that differ may be rounded to one; "
        "read that column as text (in pandas dtype=str) or as whole numbers."
    )


def stacked(columns: Sequence[Column]) -> Column:
    """Return columns one below the other; whole numbers among others keep all their digits.

    Examples
    --------
    >>> stacked([pd.Series([2**53 + 1]), pd.Series([0.5])]).tolist()
    [9007199254740993, 0.5]
    """
    joined = pd.concat(list(columns), ignore_index=True)
    if any(orders := [order_of(column) for column in columns]):
        return as_ordered(joined.astype(object), common_order(orders, joined.dropna()))
    is_whole = [pd.api.types.is_integer_dtype(column.dtype) for column in columns]
    if not any(is_whole) or not is_inexact(joined):
        return joined
    return pd.Series(np.concatenate([as_objects(column) for column in columns]), dtype=object)


def check_columns(columns: Sequence[Any], names: Sequence[object]) -> None:
    """Raise `DataError` unless exactly one column has each name; one error tells all absent."""
    absent = [name for name in names if not isinstance(name, Hashable) or name not in columns]
    if len(absent) > 1:
        raise DataError(f"there are no columns {listing(absent, limit=12)}; {_known(columns)}.")
    for name in names:
        check_column(columns, name)


def check_column(columns: Sequence[Any], name: object) -> None:
    """Raise `DataError` unless exactly one column is called ``name``."""
    found = columns.count(name) if isinstance(name, Hashable) else 0
    if found == 0:
        raise DataError(
            f"there is no column {shorten(name)}; {_known(columns)}.{did_you_mean(name, columns)}"
        )
    if found > 1:
        raise DataError(f"{found} columns are called {name!r}; rename all but one.")


def _known(columns: Sequence[Any]) -> str:
    return f"the columns are {listing(columns)}" if columns else "the table has no columns"


def _no_table(data: object, also: str) -> NoTableError:
    wanted, take = "a table", f"a DataFrame (pandas, Polars, Arrow, DuckDB, ...){also}"
    if type(data).__module__.startswith("setagree.") and hasattr(data, "to_frame"):
        wanted, take = "annotations", "the study that it was computed from"
    elif isinstance(data, list | tuple) and data and all(_is_triple(one) for one in data):
        take = "Annotations.from_triples(data), which reads (rater, unit, answer)"
    elif _is_matrix(data):
        take = (
            "Annotations.from_wide(pandas.DataFrame(data)), with one row per unit and one column "
            "per rater (pandas.DataFrame(data).T if each row is a rater)"
        )
    return NoTableError(f"Expected {wanted}, got {a_type(data)}; pass {take}.")


def _is_triple(row: object) -> bool:
    return isinstance(row, list | tuple) and len(row) == 3


def _is_matrix(data: object) -> bool:
    """Return whether the data are a two-dimensional array, or rows of equal length."""
    if isinstance(data, np.ndarray):
        return data.ndim == 2
    rows = data if isinstance(data, list | tuple) else []
    is_row = all(isinstance(row, list | tuple | np.ndarray) for row in rows)
    return is_row and len({len(row) for row in rows}) == 1


def _kind(data: object) -> str:
    return f"{type(data).__module__.partition('.')[0].lstrip('_')} {type(data).__name__}"


def _names(frame: Any) -> list[Any]:
    try:
        return list(frame.collect_schema().names())
    except Exception as error:  # whatever the user's own query raises
        raise _cannot_compute(error) from error


def _longest(frame: Any, names: Sequence[Any]) -> dict[Any, nw.Expr]:
    """Return the columns whose numbers a lazy table hands over as negative ones, as text."""
    import narwhals as nw

    if not isinstance(frame, nw.LazyFrame):
        return {}
    known = frame.collect_schema()
    return {n: nw.col(n).cast(nw.String) for n in names if known[n] == nw.UInt128}


def _cannot_compute(error: Exception) -> DataError:
    said = str(error).strip().partition("\n")[0]
    return DataError(f"the lazy table cannot be computed: {said}")


def _collected(frame: Any) -> nw.DataFrame[Any]:
    import narwhals as nw

    if isinstance(frame, nw.DataFrame):
        return frame
    try:
        return frame.collect()  # type: ignore[no-any-return]
    except ImportError as error:
        package = error.name or "pyarrow"
        raise missing_package("collecting the lazy table", package, "files") from error
    except Exception as error:  # whatever the user's own query raises
        raise _cannot_compute(error) from error


def _column(series: nw.Series[Any]) -> Column:
    """Return one column: numbers as numbers, text and lists of text coded, others as objects."""
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_float():
        return pd.Series(series.to_numpy())
    if dtype in {nw.String, nw.Categorical} or dtype == nw.Enum:
        return _categorical(*_distinct(series), order=_order(series))
    if isinstance(dtype, nw.List) and dtype.inner == nw.String:
        return _categorical(*_distinct_lists(series))
    if dtype == nw.Boolean or (dtype.is_integer() and "128" not in str(dtype)):
        return _nullable(series)
    if isinstance(dtype, nw.Datetime) and dtype.time_unit == "ns":
        # Python's own times end at microseconds.
        times: Column = pd.Series(series.to_numpy())
        zone = dtype.time_zone
        return times if zone is None else times.dt.tz_localize("UTC").dt.tz_convert(zone)
    return pd.Series(as_objects(series.to_list()), dtype=object)


def _nullable(series: nw.Series[Any]) -> Column:
    missing = series.is_null().to_numpy()
    if not missing.any():
        return pd.Series(series.to_numpy())
    flags = series.dtype.is_integer()
    values = series.fill_null(0 if flags else False).to_numpy()
    array = pd.arrays.IntegerArray if flags else pd.arrays.BooleanArray
    return pd.Series(array(np.array(values), np.array(missing)))


def _order(series: nw.Series[Any]) -> tuple[Any, ...]:
    """Return the categories of a column in their order, or () if they have none."""
    if series.implementation.is_pyarrow():
        return order_of_arrow(series.to_native())
    return tuple(getattr(series.dtype, "categories", ()))  # of an Enum


def _categorical(codes: Codes, cells: Sequence[Hashable], order: Sequence[Hashable] = ()) -> Column:
    """Return coded cells as a column; equal cells meet, None is missing."""
    merged: dict[Hashable, int] = {category: k for k, category in enumerate(order)}
    places = [MISSING if c is None else merged.setdefault(c, len(merged)) for c in cells]
    recoded = np.array([*places, MISSING], dtype=np.int32)[codes]
    categories = pd.Index(as_objects(merged), dtype=object, tupleize_cols=False)
    ordered = bool(order)
    return pd.Series(pd.Categorical.from_codes(recoded, categories=categories, ordered=ordered))


def _distinct(series: nw.Series[Any]) -> tuple[Codes, list[Any]]:
    """Return codes (-1 where missing) and cells of a column of text."""
    if series.implementation.is_pyarrow():
        return _distinct_arrow(series.to_native())
    return _distinct_polars(series)


def _distinct_arrow(array: Any) -> tuple[Codes, list[Any]]:
    import pyarrow as pa

    if not len(array):  # which pyarrow below 22 cannot combine
        return np.empty(0, dtype=np.int64), []
    if not pa.types.is_dictionary(array.type) or _null_in_dictionary(array):
        array = _plain_arrow(array).dictionary_encode()
    encoded = array.unify_dictionaries().combine_chunks()
    codes = encoded.indices.cast(pa.int64()).fill_null(MISSING).to_numpy(zero_copy_only=False)
    return codes, encoded.dictionary.to_pylist()


def _null_in_dictionary(array: Any) -> bool:
    return any(chunk.dictionary.null_count for chunk in array.chunks)


def _plain_arrow(array: Any) -> Any:
    """Return an Arrow column without a dictionary: a null in it is no cell, as any other null."""
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        return array
    decoded = [chunk.dictionary_decode() for chunk in array.chunks]
    return pa.chunked_array(decoded, type=array.type.value_type)


def _distinct_polars(series: nw.Series[Any]) -> tuple[Codes, list[Any]]:
    import narwhals as nw

    text = series.dtype == nw.String
    physical = (series.cast(nw.Categorical) if text else series).to_native().to_physical()
    keys = _filled(nw.from_native(physical, series_only=True))
    # The physical codes of Polars are those of all texts it has met, not of this column.
    codes, _ = pd.factorize(keys)
    first = pd.Series(codes).drop_duplicates().index.to_numpy()
    return codes, series[first.tolist()].to_list()


def _filled(series: nw.Series[Any]) -> npt.NDArray[np.int64]:
    """Return whole numbers as an array, -1 where one is missing."""
    import narwhals as nw

    return series.cast(nw.Int64).fill_null(MISSING).to_numpy()


def _distinct_lists(series: nw.Series[Any]) -> tuple[Codes, list[frozenset[Any]]]:
    """Return codes (-1 where missing) and label sets of a column of lists of text.

    Lists are compared as rows of integer codes, those of one length at a time.
    """
    lengths = _filled(series.list.len())
    item_codes, items = _distinct(_flattened(series, lengths))
    starts = np.cumsum(np.maximum(lengths, 0)) - np.maximum(lengths, 0)
    # A missing item has code -1, which picks the last.
    named = as_objects([*items, None])
    codes = np.full(len(lengths), MISSING, dtype=np.int64)
    cells: list[frozenset[Any]] = []
    by_length = np.argsort(lengths, kind="stable")
    for rows in np.split(by_length, np.flatnonzero(np.diff(lengths[by_length])) + 1):
        length = int(lengths[rows[0]]) if rows.size else MISSING
        if length == MISSING:
            continue
        lists = item_codes[starts[rows][:, None] + np.arange(length)]
        keys, first = _row_codes(lists, len(items))
        codes[rows] = keys + len(cells)
        cells.extend(frozenset(named[row]) for row in lists[first])
    return codes, cells


def _flattened(series: nw.Series[Any], lengths: npt.NDArray[np.int64]) -> nw.Series[Any]:
    """Return the items of all lists, one after the other."""
    import narwhals as nw

    if series.implementation.is_pyarrow():
        import pyarrow.compute as pc

        return nw.from_native(pc.list_flatten(series.to_native()), series_only=True)
    # Polars makes a missing item of an empty list.
    filled = series.filter((lengths > 0).tolist())
    return nw.from_native(filled.to_native().explode(), series_only=True)


def _row_codes(rows: Codes, n_items: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return which rows of shape (n_rows, length) are equal, and the first of each."""
    digits = rows.astype(np.int64) + 1
    base, length = n_items + 1, rows.shape[1]
    if base**length <= _MOST_KEYS:
        keys = digits @ np.array([base**k for k in range(length)], dtype=np.int64)
        codes, _ = pd.factorize(keys)
        return codes, pd.Series(codes).drop_duplicates().index.to_numpy()
    packed = np.ascontiguousarray(digits.astype(np.int32)).view(f"V{4 * length}").ravel()
    _, first, codes = np.unique(packed, return_index=True, return_inverse=True)
    return codes, first
