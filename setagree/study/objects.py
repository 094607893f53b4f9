"""Columns as they are coded fastest: categoricals by their codes, Python objects by Arrow."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from decimal import Decimal
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import SetagreeWarning, listing, warn


def is_ordered(dtype: Any) -> TypeGuard[pd.CategoricalDtype]:
    """Return whether a column is an ordered categorical."""
    return isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered)


def as_ordered(column: pd.Series[Any], order: Iterable[Any]) -> pd.Series[Any]:
    """Return a column as a categorical of this order, or as it is if the order is empty."""
    categories = [*order]
    return column.astype(pd.CategoricalDtype(categories, ordered=True)) if categories else column


def order_of(column: pd.Series[Any] | pd.Index[Any]) -> tuple[Any, ...]:
    """Return all categories of an ordered categorical in their order; () for other columns.

    Examples
    --------
    >>> order_of(pd.Series(pd.Categorical(["b"], categories=["b", "a"], ordered=True)))
    ('b', 'a')
    """
    return tuple(column.dtype.categories) if is_ordered(column.dtype) else ()


def order_of_arrow(array: Any) -> tuple[Any, ...]:
    """Return the categories of an Arrow column with an ordered dictionary; () for others."""
    if not getattr(array.type, "ordered", False):
        return ()
    found = [tuple(chunk.dictionary.drop_null().to_pylist()) for chunk in array.chunks]
    return common_order(found, ())


def common_order(orders: Iterable[tuple[Any, ...]], cells: Iterable[Any]) -> tuple[Any, ...]:
    """Return the order of categories of what is joined; () if there is none or they differ.

    `cells` are the answers, without missing ones: those of a part without an order must be among
    the categories of the others.

    Warns
    -----
    SetagreeWarning
        The orders differ, or do not have all answers.
    """
    distinct = [*dict.fromkeys(filter(None, orders))]
    if not distinct:
        return ()
    known = {*distinct[0]}
    odd = [cell for cell in cells if not (isinstance(cell, Hashable) and cell in known)]
    if len(distinct) == 1 and not odd:
        return distinct[0]
    shown = " and ".join(listing([*order]) for order in distinct[:2])
    lacks = f"{listing([*dict.fromkeys(map(str, odd))])} not among {shown}"
    warn(
        "the columns or files that are joined do not have the same ordered categories "
        f"({shown if len(distinct) > 1 else lacks}): their order is ignored. Give all of them the "
        "same ordered categories to use it.",
        SetagreeWarning,
    )
    return ()


def encoded(column: pd.Series[Any]) -> tuple[npt.NDArray[Any], Any]:
    """Return codes in the order of their first row, -1 for missing, and what they stand for.

    A categorical column has codes: they are numbered anew, and no cell is hashed.
    """
    if column.dtype == object:  # of a Series pandas 2 makes an Index, which has no large numbers
        return pd.factorize(column.to_numpy())
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return pd.factorize(column)
    codes, categories = column.cat.codes.to_numpy(), column.cat.categories
    n, last = len(codes), len(categories)
    # The place after the last is what a missing row (code -1) picks.
    first = np.full(last + 1, n)
    first[codes[::-1]] = np.arange(n - 1, -1, -1)
    is_first = np.zeros(n + 1, dtype=bool)
    is_first[first[:last]] = True
    order = codes[is_first[:n]]
    places = np.full(last + 1, -1, dtype=np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places[codes], categories.take(order)


def text_of(column: pd.Series[Any], arrow: Any) -> pd.Series[Any]:
    """Return a column of which all cells are text, or missing, as Arrow has it; else as it is."""
    if arrow is None or str(arrow.type) != "string":
        return column
    return pd.Series(pd.arrays.ArrowStringArray(arrow))


def in_arrow(column: pd.Series[Any]) -> Any:
    """Return Python objects as an Arrow array, or None: they are of no one kind."""
    if column.dtype != object and getattr(column.dtype, "storage", None) != "python":
        return None
    try:
        import pyarrow as pa

        found = pa.array(column.to_numpy(dtype=object), from_pandas=True)
    except (ImportError, TypeError, ValueError, ArithmeticError, NotImplementedError):
        return None
    # Arrow takes any NaN for a null, a signaling one too, which no answer may be.
    nulls = column.to_numpy()[np.asarray(found.is_null())] if found.null_count else ()
    return None if any(isinstance(one, Decimal) for one in nulls) else found


def distinct_lists(column: pd.Series[Any], arrow: Any) -> tuple[npt.NDArray[Any], list[Any]] | None:
    """Return the codes of lists of text, told apart by sums of random numbers of their items.

    The order of items does not count. None where there are others, or where a second sum says that
    two lists differ that the first takes for one.
    """
    if arrow is None or str(arrow.type) != "list<item: string>" or not hasattr(arrow, "offsets"):
        return None
    items, ends = arrow.flatten().dictionary_encode(), arrow.offsets.to_numpy()
    if items.null_count:
        return None
    numbers = np.random.default_rng(0).integers(2**63, size=(2, len(items.dictionary) + 1))
    codes_of_items = items.indices.to_numpy()
    sums = np.zeros((2, len(codes_of_items) + 1), dtype=np.uint64)
    for each, number in zip(sums, numbers.astype(np.uint64), strict=True):
        np.cumsum(number[codes_of_items], out=each[1:])
    first_sum, second_sum = sums[:, ends[1:]] - sums[:, ends[:-1]]
    known = np.flatnonzero(np.asarray(arrow.is_valid()))
    codes = np.full(len(column), -1)
    codes[known], _ = pd.factorize(first_sum[known])
    first = known[np.flatnonzero(np.diff(np.maximum.accumulate(codes[known]), prepend=-1))]
    if (second_sum[known] != second_sum[first][codes[known]]).any():
        return None
    return codes, [column.iat[row] for row in first.tolist()]
