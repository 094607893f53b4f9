"""Answers as Python objects (sequences, mappings, triples, arrays) as three long columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import DataError, counted, listing, option, shorten
from setagree.study import layouts
from setagree.study.assembly import LongColumns
from setagree.study.codes import Column, as_objects
from setagree.study.columns import usual_roles
from setagree.study.labels import is_missing

_ROWS = (list, tuple, range, np.ndarray, pd.Series, pd.Index, pd.api.extensions.ExtensionArray)

_FORMS = (
    "pass one sequence of answers per rater (None where there is none), as in "
    "krippendorff_alpha(a, b); one array or list of lists, raters x units; a dict of rater to "
    "answers, or of unit to a dict; (rater, unit, answer) triples; or flags of shape (raters, "
    "units, labels)"
)


def is_record_table(data: Any) -> bool:
    """Return whether Python objects are a table: a list of rows, or a dict of usual columns.

    Examples
    --------
    >>> is_record_table([{"unit": 1, "rater": "ann", "labels": "a"}])
    True
    >>> is_record_table({"ann": ["a"], "bob": ["b"]})
    False
    """
    if isinstance(data, Mapping):
        roles = usual_roles(name for name in data if isinstance(name, str))
        return roles.keys() >= {"unit", "rater"} and len(roles) > 2
    is_list = isinstance(data, list | tuple) and len(data) > 0
    return is_list and all(isinstance(row, Mapping) for row in data)


def long_answers(data: Sequence[Any], *, raters_in_rows: bool = True) -> LongColumns:
    """Return the long columns of answers that are Python objects.

    Parameters
    ----------
    data : sequence
        One object (a dict, triples, an array or list of lists), or the answers of several raters,
        one sequence each, whose collections are label sets and whose arrays of flags have a row
        per unit.
    raters_in_rows : bool
        Whether the rows of one array or list of lists are raters, or units.

    Raises
    ------
    DataError
        The objects have none of these forms; the message gives their shapes.

    Examples
    --------
    >>> long_answers([["x", "y"], ["x", None]]).rater.tolist()
    ['rater 1', 'rater 1', 'rater 2', 'rater 2']
    """
    if len(data) > 1:
        return _by_rater(_rater_names(data), data, data)
    one = data[0]
    if isinstance(one, Mapping):
        if one and all(isinstance(answers, Mapping) for answers in one.values()):
            triples = ((who, unit, x) for unit, of in one.items() for who, x in of.items())
            return layouts.from_triples(triples)
        return _by_rater([*one], [*one.values()], data)
    if isinstance(one, np.ndarray) and one.ndim == 3:
        return layouts.from_cube(one, None, None, None, None)
    if isinstance(one, list | tuple) and one and all(map(_is_triple, one)):
        return layouts.from_triples(one)
    if isinstance(one, np.ndarray) and one.ndim == 2:
        rows = list(one if raters_in_rows else one.T)
    elif isinstance(one, list | tuple) and one and all(isinstance(row, _ROWS) for row in one):
        rows = list(one)
        if not raters_in_rows and len({len(row) for row in rows}) == 1:
            rows = [list(column) for column in zip(*rows, strict=True)]
    else:
        raise _no_answers(data)
    return _by_rater(_rater_names(rows), rows, data, if_swapped=_transpose())


def are_numbers(answers: Column) -> bool:
    """Return whether all answers that are not missing are numbers.

    Examples
    --------
    >>> are_numbers(pd.Series([1, None, 2.5])), are_numbers(pd.Series([1, "2"]))
    (True, False)
    """
    if answers.dtype.kind in "iufb":
        return True
    if answers.dtype != object:
        return bool(pd.api.types.is_numeric_dtype(answers.dtype))
    present = [cell for cell in answers.tolist() if not is_missing(cell)]
    return bool(present) and all(isinstance(x, int | float | np.number) for x in present)


def _by_rater(
    names: Sequence[object], rows: Sequence[Any], data: Sequence[Any], *, if_swapped: str = ""
) -> LongColumns:
    """Return the columns of one sequence of answers per rater, which must be equally long."""
    columns = [_answers(row) for row in rows]
    found = [column for column in columns if column is not None]
    lengths = {*map(len, found)}
    if len(found) < max(2, len(columns)) or len(lengths) != 1 or 0 in lengths:
        raise _no_answers(data)
    units = _units([row for row in rows if isinstance(row, pd.Series)], next(iter(lengths)))
    return LongColumns(
        pd.Series(np.tile(units, len(found)), dtype=object).infer_objects(),
        layouts.repeated(names, len(units)),
        layouts.stacked_answers(found),
        if_swapped=if_swapped,
    )


def _answers(row: Any) -> Column | None:
    """Return the answers of one rater as a column, or None if they are not a sequence of them."""
    if isinstance(row, pd.DataFrame) or (isinstance(row, np.ndarray) and row.ndim == 2):
        return layouts.flag_sets(row)
    if not isinstance(row, _ROWS) and callable(getattr(row, "to_list", None)):  # of Polars
        row = row.to_list()
    if not isinstance(row, _ROWS) or (isinstance(row, np.ndarray) and row.ndim != 1):
        return None
    if isinstance(row, list | tuple):
        return pd.Series(as_objects(row), dtype=object)
    if isinstance(row, np.ndarray) and row.dtype.kind == "U" and (row == "nan").any():
        raise DataError(
            "an array of text has the cell 'nan', which NumPy makes of NaN: build it with "
            "dtype=object, or pass a list with None."
        )
    return pd.Series(row).reset_index(drop=True)


def _rater_names(rows: Iterable[Any]) -> list[object]:
    """Return the names of the raters: those of pandas columns, otherwise numbers."""
    named = [getattr(row, "name", None) for row in rows]
    if None not in named and len({*named}) == len(named):
        return named
    return [f"rater {k + 1}" for k in range(len(named))]


def _units(series: Sequence[pd.Series[Any]], n_units: int) -> npt.NDArray[np.object_]:
    """Return the names of the units: the index of pandas columns, which must be common to all."""
    if not series:
        return as_objects(range(n_units))
    first = series[0].index
    if others := [one.index for one in series if not one.index.equals(first)]:
        raise DataError(
            "the columns of the raters have different indexes, which begin with "
            f"{listing(first[:3].tolist())} and {listing(others[0][:3].tolist())}: align them, "
            "as in pandas.concat([a, b], axis=1), or pass their values without an index."
        )
    return as_objects(first)


def _is_triple(row: Any) -> bool:
    """Return whether a row is a (rater, unit, answer) tuple, which begins with two names."""
    is_tuple = isinstance(row, tuple) and len(row) == 3
    return is_tuple and not any(isinstance(name, (set, frozenset, *_ROWS)) for name in row[:2])


def _transpose() -> str:
    """Return the remedy for an array in which raters and units are exchanged."""
    return (
        "rows are read as raters and columns as units. If each row is a unit, use "
        f"{option('raters_in_rows', value=False)}; if it is a (rater, unit, answer) triple, make "
        "it a tuple."
    )


def _no_answers(data: Sequence[Any]) -> DataError:
    """Return the error for objects of another form, with their shapes."""
    shapes = " and ".join([_shape(one) for one in data][:12])
    return DataError(f"cannot read answers of shape {shapes}; {_FORMS}.")


def _shape(data: object) -> str:
    """Return the shape of an object in words."""
    if isinstance(data, pd.DataFrame | np.ndarray):
        return str(data.shape)
    if isinstance(data, Mapping):
        return f"{{{counted(len(data), 'key')}: {_joined(map(_shape, data.values()))}}}"
    if not isinstance(data, _ROWS):
        return f"{type(data).__name__} ({shorten(data, limit=40)})"
    if any(isinstance(row, _ROWS) for row in data):
        lengths = [len(row) if isinstance(row, _ROWS) else 1 for row in data]
        if len({*lengths}) == 1:
            return f"({len(data)}, {lengths[0]})"
        return f"{counted(len(data), 'row')} of {_joined(map(str, lengths))} answers"
    return f"({len(data)},)"


def _joined(parts: Iterable[str]) -> str:
    distinct = [*dict.fromkeys(parts)]
    return ", ".join(distinct[:5]) + (", ..." if len(distinct) > 5 else "")
