"""Answers as Python objects (sequences, mappings, triples, arrays) as three long columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.errors import DataError, counted, listing, option, shorten
from setagree.lazy import pd
from setagree.study import layouts
from setagree.study.assembly import LongColumns
from setagree.study.codes import Column, as_objects, is_ordered
from setagree.study.columns import usual_roles
from setagree.study.labels import is_missing


@cache
def _rows() -> Any:
    """Return the types of rows."""
    return (list, tuple, range, np.ndarray, pd.api.extensions.ExtensionArray, pd.Series, pd.Index)


_SHOWN = 12
_FORMS = (
    "pass one sequence of answers per rater (None where there is none), as in "
    "krippendorff_alpha(a, b); one array or list of lists, raters x units; a dict of rater to "
    "answers, or of unit to a dict; one dict of unit to answer per rater; (rater, unit, answer) "
    "triples; or flags of shape (raters, units, labels)"
)


def is_record_table(data: Any) -> bool:
    """Return whether Python objects are a table: a list of rows, or a dict of usual columns."""
    if isinstance(data, Mapping):
        roles = usual_roles(name for name in data if isinstance(name, str))
        return roles.keys() >= {"unit", "rater"} and len(roles) > 2
    is_list = isinstance(data, list | tuple) and len(data) > 0
    return is_list and all(isinstance(row, Mapping) for row in data)


def long_answers(data: Sequence[Any], *, raters_in_rows: bool | None = None) -> LongColumns:
    """Return the long columns of answers that are Python objects.

    `data` has one object (a dict, triples, an array or list of lists), or one sequence, or dict of
    unit to answer, per rater. Collections in them are label sets. `raters_in_rows` states whether
    the rows of one array or list of lists, or the keys of one dict, are raters, or units. Default:
    raters, but units for a dict of dicts.
    """
    if len(data) > 1:
        if not all(isinstance(answers, Mapping) for answers in data):
            return _by_rater(_rater_names(data), data, data)
        if any(map(is_record_table, data)):
            raise DataError("the dicts are rows of a table, or tables: pass one list of its rows.")
        if not all(data) or any(isinstance(x, Mapping) for of in data for x in of.values()):
            raise _no_answers(data)
        by_rater = dict(zip(_rater_names(data), data, strict=True))
        return _of_dict(by_rater, raters_in_rows=True)._replace(if_swapped="")
    obj = data[0]
    if isinstance(obj, Mapping):
        return _of_dict(obj, raters_in_rows=raters_in_rows)
    in_rows = raters_in_rows is not False
    if isinstance(obj, np.ndarray) and obj.ndim == 3:
        return layouts.from_cube(obj, None, None, None, None)
    if isinstance(obj, list | tuple) and obj and all(map(_is_triple, obj)):
        return layouts.from_triples(obj)
    if isinstance(obj, np.ndarray) and obj.ndim == 2:
        rows = list(obj if in_rows else obj.T)
    elif isinstance(obj, list | tuple) and obj and all(isinstance(row, _rows()) for row in obj):
        rows = list(obj)
        if not in_rows and len({len(row) for row in rows}) == 1:
            rows = [list(column) for column in zip(*rows, strict=True)]
    else:
        raise _no_answers(data)
    read, other = ("raters", "a unit") if in_rows else ("units", "a rater")
    if_swapped = (
        f"rows are read as {read}. If each row is {other}, use "
        f"{option('raters_in_rows', value=not in_rows)}; if it is a (rater, unit, answer) triple, "
        "make it a tuple."
    )
    return _by_rater(_rater_names(rows), rows, data, if_swapped=if_swapped)


def are_on_a_scale(answers: Column) -> bool:
    """Return whether answers are ordered categories, or all that are not missing are numbers."""
    if answers.dtype != object:
        return is_ordered(answers.dtype) or bool(pd.api.types.is_numeric_dtype(answers.dtype))
    present = [cell for cell in answers.tolist() if not is_missing(cell)]
    return bool(present) and all(isinstance(x, int | float | np.number) for x in present)


def _of_dict(by_key: Mapping[Any, Any], *, raters_in_rows: bool | None) -> LongColumns:
    """Return the columns of a dict of dicts, or of sequences; its keys are raters or units."""
    rows = [*by_key.values()]
    if rows and all(isinstance(row, Mapping) for row in rows):
        forms = "{unit: {rater: answer}}", "{rater: {unit: answer}}"
        are_raters = raters_in_rows is True
        triples = ((key, name, x) for key, row in by_key.items() for name, x in row.items())
        long = layouts.from_triples(triples)
    else:
        forms = "{unit: [answers]}", "{rater: [answers]}"
        are_raters = raters_in_rows is not False
        long = _by_rater([*by_key], rows, [by_key])
        if not (are_raters or any(isinstance(row, pd.Series) for row in rows)):
            long = long._replace(unit=long.unit.map(lambda k: f"rater {k + 1}"))
    if not are_raters:
        long = long._replace(unit=long.rater, rater=long.unit)
    return long._replace(
        if_swapped=f"the dict is read as {forms[are_raters]}. If it is {forms[not are_raters]}, "
        f"use {option('raters_in_rows', value=not are_raters)}."
    )


def _by_rater(
    names: Sequence[object], rows: Sequence[Any], data: Sequence[Any], *, if_swapped: str = ""
) -> LongColumns:
    """Return the columns of one sequence of answers per rater, which must be equally long."""
    columns = [_answers(row) for row in rows]
    lengths = {*map(len, columns)}
    if len(columns) < 2 or len(lengths) != 1 or 0 in lengths:
        raise _no_answers(data)
    units = _units([row for row in rows if isinstance(row, pd.Series)], len(columns[0]))
    return LongColumns(
        pd.Series(np.tile(units, len(columns)), dtype=object).infer_objects(),
        layouts.repeated(names, len(units)),
        layouts.stacked_answers(columns),
        if_swapped=if_swapped,
    )


def _answers(row: Any) -> Column:
    """Return the answers of one rater as a column, which is empty if they are not a sequence."""
    if not isinstance(row, _rows()) and callable(getattr(row, "to_list", None)):  # of Polars
        row = row.to_list()
    if not isinstance(row, _rows()) or (isinstance(row, np.ndarray) and row.ndim != 1):
        return pd.Series(dtype=object)
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
    names = [getattr(row, "name", None) for row in rows]
    if None not in names and len({*names}) == len(names):
        return names
    return [f"rater {k + 1}" for k in range(len(names))]


def _units(indexed: Sequence[pd.Series[Any]], n_units: int) -> npt.NDArray[np.object_]:
    """Return the names of the units: the index of pandas objects, which must be common to all."""
    if not indexed:
        return as_objects(range(n_units))
    first = indexed[0].index
    if others := [obj.index for obj in indexed if not obj.index.equals(first)]:
        raise DataError(
            "the columns of the raters have different indexes, which begin with "
            f"{listing(first[:3].tolist())} and {listing(others[0][:3].tolist())}: align them, "
            "as in pandas.concat([a, b], axis=1), or pass their values without an index."
        )
    return as_objects(first)


def _is_triple(row: Any) -> bool:
    """Return whether a row is a (rater, unit, answer) tuple, which begins with two names."""
    is_tuple = isinstance(row, tuple) and len(row) == 3
    return is_tuple and not any(isinstance(name, (set, frozenset, *_rows())) for name in row[:2])


def _no_answers(data: Sequence[Any]) -> DataError:
    """Return the error for objects of another form, with their shapes."""
    shapes = " and ".join([_shape(obj) for obj in data[:_SHOWN]])
    is_option = any(isinstance(obj, str | int | float) for obj in data)
    hint = f" Options have names, as in {option('distance', 'jaccard')}." if is_option else ""
    return DataError(f"cannot read answers of shape {shapes}; {_FORMS}.{hint}")


def _shape(data: object) -> str:
    """Return the shape of an object in words."""
    if isinstance(data, pd.DataFrame | np.ndarray):
        return str(data.shape)
    if isinstance(data, Mapping):
        shapes = [*dict.fromkeys(map(_shape, data.values()))]
        return f"{{{counted(len(data), 'key')}: {', '.join(shapes[:_SHOWN])}}}"
    if not isinstance(data, _rows()):
        return f"{type(data).__name__} ({shorten(data, limit=40)})"
    lengths = {len(row): None for row in data if isinstance(row, _rows())}
    if len(lengths) > 1:
        return f"{counted(len(data), 'row')} of {listing([*lengths])} answers"
    return str((len(data), *lengths))
