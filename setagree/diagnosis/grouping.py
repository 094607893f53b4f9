"""Which group each rating belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import DataError, OptionError, a_type, counted, did_you_mean, listing, shorten
from setagree.files.columns import guess_columns
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects
from setagree.study.identifiers import code_ids
from setagree.study.labels import is_missing
from setagree.study.layouts import pick_column
from setagree.study.names import check_text, tidied


def group_of_units(
    study: Annotations, by: Mapping[Any, Any] | pd.Series[Any], what: str
) -> npt.NDArray[np.object_]:
    """Return what a mapping from unit says of each unit of a study.

    Raises
    ------
    DataError
        It says nothing of some units, or several things of one.
    """
    if not isinstance(by, Mapping | pd.Series):
        raise OptionError(
            f"{what}: a mapping or Series from unit is wanted, not {a_type(by)}; for a "
            "column, pass the table itself as data."
        )
    named = [*by] if isinstance(by, Mapping) else as_objects(by.index).tolist()
    entries = by.values() if isinstance(by, Mapping) else as_objects(by)
    units = pd.Index(as_objects(map(tidied, named)), dtype=object, tupleize_cols=False)
    if units.has_duplicates:
        twice = units[units.duplicated()].unique().tolist()
        raise DataError(f"{what}: the units {listing(twice)} have several entries.")
    by = dict(zip(units, map(tidied, entries), strict=True))
    for unit, group in by.items():
        check_text(group, f"{what}: unit {shorten(unit)}: the group")
    found = as_objects([by.get(unit) for unit in study.units])
    without = [unit for unit, one in zip(study.units, found, strict=True) if is_missing(one)]
    if without:
        hint = did_you_mean(without[0], by)
        raise DataError(
            f"{what}: {counted(len(without), 'unit')} of {study.n_units:,} have no entry "
            f"({listing(without)}).{hint}"
        )
    return found


def study_of_table(
    table: pd.DataFrame, column: str, reading: Mapping[str, Any]
) -> tuple[Annotations, npt.NDArray[np.object_]]:
    """Return the study of a long table, and what a further column says of each of its units.

    A unit of which the column says several things is one unit for each of them, called (unit,
    group): answers are compared inside a group only.

    Parameters
    ----------
    reading : mapping
        The options of `Annotations.from_long`; columns that are None are guessed.

    Raises
    ------
    DataError
        The column is absent, or a row has nothing in it.
    """
    found, cells = _columns(table, column, reading)
    units, names = code_ids(pick_column(table, found["unit"]), "unit")
    groups, listed = code_ids(cells, "group")
    first = np.zeros(len(names), dtype=np.int64)
    first[units[::-1]] = groups[::-1]
    if (first[units] == groups).all():
        study = Annotations.from_long(table, **found)
        place = dict(zip(names, first, strict=True))
        return study, listed[[place[unit] for unit in study.units]]
    pairs, which = np.unique(units.astype(np.int64) * len(listed) + groups, return_inverse=True)
    ids = as_objects((names[k // len(listed)], listed[k % len(listed)]) for k in pairs)
    study = Annotations.from_long(table.assign(**{found["unit"]: ids[which]}), **found)
    return study, as_objects(group for _, group in study.units)


def study_and_column(
    table: pd.DataFrame, column: str, reading: Mapping[str, Any]
) -> tuple[Annotations, pd.Series[Any], npt.NDArray[np.int64]]:
    """Return the study of a long table, a further column, and the unit of each row (-1: none)."""
    found, cells = _columns(table, column, reading)
    study = Annotations.from_long(table, **found)
    units, names = code_ids(pick_column(table, found["unit"]), "unit")
    place = {unit: k for k, unit in enumerate(study.units)}
    return study, cells, np.array([place.get(name, -1) for name in names])[units]


def _columns(
    table: pd.DataFrame, column: str, reading: Mapping[str, Any]
) -> tuple[dict[str, Any], pd.Series[Any]]:
    """Return the options of `from_long` with the columns found, and the further column."""
    cells = pick_column(table, column)
    nothing = int(cells.isna().sum())
    if nothing:
        raise DataError(
            f"{counted(nothing, 'row')} of {len(table):,} have nothing in column {column!r}; fill "
            "it in, or drop these rows."
        )
    roles = ("unit", "rater", "labels", "value")
    taken = [role for role in roles if isinstance(reading[role], str) and reading[role] == column]
    if taken:
        raise OptionError(
            f"column {column!r} is the {taken[0]}; groups need a column of their own."
        )
    free = [name for name in table.columns if name != column]
    found = guess_columns(free, **{role: reading[role] for role in roles})
    return {**reading, **{role: getattr(found, role) for role in roles}}, cells
