"""Columns that say one thing of each unit, or of each rater, beside the answers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import DataError, OptionError, a_type, listing, shorten
from setagree.study.assembly import pick_column
from setagree.study.codes import as_objects, as_ordered, is_ordered
from setagree.study.doubts import warn_merged_names
from setagree.study.frames import Frame, as_pandas
from setagree.study.labels import is_missing
from setagree.study.names import tidied

GROUPS = {"cluster": "Clusters", "strata": "Strata"}
"""The roles that name groups of units, and these as sentences call them."""

_TIME = re.compile(r"\d{4}-\d\d-\d\d|\d{9,}$")
"""How a time begins: a date, or the seconds since 1970."""


def attribute_values(
    known: npt.NDArray[np.object_],
    data: Frame,
    by: str | None,
    names: Sequence[str],
    what: str,
    *,
    numbers: Collection[str | None] = (),
) -> dict[str, npt.NDArray[np.object_]]:
    """Return what columns of a table say of each unit, or of each rater, or None for nothing.

    Parameters
    ----------
    known : ndarray of object
        The units, or the raters.
    data : DataFrame
        The table.
    by : str or None
        The column that identifies them; None for the index.
    names : list of str
        The columns.
    what : {"unit", "rater"}
        Which they are.
    numbers : collection of str
        The columns whose cells are numbers, and no names of groups.

    Raises
    ------
    DataError
        A column is absent, or says several things of one of them.
    """
    table = as_pandas(data, [*([] if by is None else [by]), *names])
    ids = as_objects(table.index) if by is None else as_objects(pick_column(table, by))
    codes, listed = pd.factorize(ids)
    place = {name: k for k, name in enumerate(known.tolist())}
    of_row = np.array([place.get(tidied(one), -1) for one in listed], dtype=np.int64)[codes]
    kept = np.flatnonzero(of_row >= 0)
    which, found = of_row[kept], {}
    for name in names:
        given = as_objects(pick_column(table, name).iloc[kept])
        cells, things = _things(given, name, what, is_group=name not in numbers)
        said, told = np.full(len(known), -1, dtype=np.int64), cells >= 0
        said[which[told]] = cells[told]
        other = told & (said[which] != cells)
        if other.any():
            one = which[np.flatnonzero(other)[0]]
            several = [things[k] for k in np.unique(cells[told & (which == one)])]
            timed = what == "unit" and all(_TIME.match(str(thing)) for thing in several)
            raise DataError(
                f"column {name!r} says several things of {what} {shorten(known[one])}: "
                f"{listing(several)}. A column of {what}s says one thing of each."
                f"{_how_complete(name, by) if timed else ''}"
            )
        found[name] = as_objects([*things, None])[said]
    return found


def _how_complete(name: str, by: str | None) -> str:
    """Return a sentence on how to derive the time of a unit from those of its answers."""
    return (
        " If each answer has its own time, make a column with the latest of each unit, when it was "
        f"complete: table.groupby({by or 'unit'!r})[{name!r}].transform('max') in pandas, or "
        "MAXIFS in a spreadsheet."
    )


def with_columns(
    table: pd.DataFrame, columns: pd.DataFrame | Mapping[str, Any], what: str
) -> pd.DataFrame:
    """Return a table of units, or of raters, with further columns, each a mapping from them."""
    if not isinstance(columns, Mapping | pd.DataFrame):
        raise OptionError(f"columns is {a_type(columns)}; give a frame, or a mapping of mappings.")
    for name, of_each in columns.items():
        each = _of_each(table.index, of_each, str(name), what)
        table[name] = as_column(each, table, getattr(of_each, "dtype", None))
    return table


def _of_each(known: pd.Index[Any], of_each: Any, name: str, what: str) -> list[Any]:
    """Return what a mapping or a Series says of each, or None if it says nothing."""
    if not isinstance(of_each, Mapping | pd.Series):
        raise OptionError(
            f"{name}: a column of {what}s by name, or a mapping or Series from {what}, is wanted, "
            f"not {a_type(of_each)}."
        )
    keys = as_objects(of_each.index if isinstance(of_each, pd.Series) else of_each).tolist()
    ids = [tidied(one) for one in keys]
    if len({*ids}) < len(ids):
        twice = [one for one in dict.fromkeys(ids) if ids.count(one) > 1]
        raise DataError(f"{name}: the {what}s {listing(twice)} have several entries.")
    entries = as_objects(of_each if isinstance(of_each, pd.Series) else of_each.values())
    if name in GROUPS:
        codes, things = _things(entries, name, what)
        entries = as_objects([*things, None])[codes]
    found = dict(zip(ids, map(_said, entries), strict=True))
    return [found.get(one) for one in known.tolist()]


def _things(
    cells: npt.NDArray[np.object_], name: str, what: str, *, is_group: bool = True
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.object_]]:
    """Return what cells say as codes of distinct things, -1 where a cell says nothing.

    Names of groups that become one without the space around them are said in a warning. A truth
    value among numbers is made text: it is no number, and would be taken for 1 or 0.
    """
    if not is_group:
        cells = as_objects(str(one) if isinstance(one, bool | np.bool_) else one for one in cells)
    try:
        codes, given = pd.factorize(cells)
    except TypeError:
        raise DataError(f"column {name!r}: {no_name(cells, what)}") from None
    merged, things = pd.factorize(as_objects(map(_said, given)))
    if is_group:
        first: dict[int, object] = {}
        pairs = [(first.setdefault(k, n), n) for k, n in zip(merged.tolist(), given, strict=True)]
        spelled = [pair for pair, k in zip(pairs, merged, strict=True) if k >= 0]
        warn_merged_names("group", [(one, other) for one, other in spelled if one != other])
    return np.append(merged, -1)[codes], things


def no_name(cells: Iterable[Any], what: str = "unit") -> str:
    """Word which of some cells cannot be the name of something, nor a number."""
    for cell in cells:
        try:
            hash(cell)
        except TypeError:
            return f"text, a number or a date is wanted of each {what}, not {shorten(cell)}."
    return f"text, a number or a date is wanted of each {what}."


def _said(cell: Any) -> Any:
    """Return what a cell says, or None if it says nothing."""
    said = tidied(cell)
    return None if is_missing(said) or (isinstance(said, str) and not said) else said


def as_column(cells: Iterable[Any], table: pd.DataFrame, dtype: Any = None) -> pd.Series[Any]:
    """Return a column of a table whose cells stay what they are, in the order of their dtype."""
    column = pd.Series(as_objects(cells), index=table.index, dtype=object)
    if not is_ordered(dtype):
        return column
    return as_ordered(column, dict.fromkeys(map(tidied, dtype.categories)))
