"""Which group each rating belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import DataError, OptionError, a_type, counted, did_you_mean, listing, shorten
from setagree.study.annotations import Annotations
from setagree.study.assembly import code_ids, pick_column
from setagree.study.codes import as_objects
from setagree.study.columns import with_columns
from setagree.study.labels import is_missing
from setagree.study.names import check_text, tidied
from setagree.study.reading import Reading


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
    table: pd.DataFrame, column: str, reading: Reading, *, without: Sequence[Any] = ()
) -> tuple[Annotations, npt.NDArray[np.object_]]:
    """Return the study of a long table, and what a further column says of each of its units.

    A unit of which the column says several things is one unit for each of them, called (unit,
    group): answers are compared inside a group only.

    Parameters
    ----------
    reading : Reading
        How the table is read; columns that are not named are guessed.
    without : sequence of raters
        They do not count, but what nulls and numbers mean is decided by all answers, as in a study
        which they are taken out of.

    Raises
    ------
    DataError
        The column is absent, or a row has nothing in it.
    """
    found, cells, kept = _columns(table, column, reading, without)
    unit_cells = pick_column(table, found.unit)
    units, names = code_ids(unit_cells[kept], "unit")
    groups, listed = code_ids(cells, "group")
    first = np.zeros(len(names), dtype=np.int64)
    first[units[::-1]] = groups[::-1]
    if (first[units] == groups).all():
        study = Annotations.from_reading(table, found).without_raters(without)
        place = dict(zip(names, first, strict=True))
        return study, listed[[place[unit] for unit in study.units]]
    pairs, which = np.unique(units.astype(np.int64) * len(listed) + groups, return_inverse=True)
    ids = as_objects((names[k // len(listed)], listed[k % len(listed)]) for k in pairs)
    called = as_objects(unit_cells)
    called[kept] = ids[which]
    renamed = table.assign(**{str(found.unit): called})
    study = Annotations.from_reading(renamed, found).without_raters(without)
    return study, as_objects(group for _, group in study.units)


def study_and_column(
    table: pd.DataFrame, column: str, reading: Reading, *, without: Sequence[Any] = ()
) -> tuple[Annotations, pd.Series[Any], npt.NDArray[np.int64]]:
    """Return the study of a long table, a further column, and the unit of each row (-1: none).

    For `without` see `study_of_table`; the column and the units are those of the other rows.
    """
    found, cells, kept = _columns(table, column, reading, without)
    study = Annotations.from_reading(table, found).without_raters(without)
    units, names = code_ids(pick_column(table, found.unit)[kept], "unit")
    place = {unit: k for k, unit in enumerate(study.units)}
    return study, cells, np.array([place.get(name, -1) for name in names])[units]


def _columns(
    table: pd.DataFrame, column: str, reading: Reading, without: Sequence[Any]
) -> tuple[Reading, pd.Series[Any], npt.NDArray[np.bool_]]:
    """Return how the table is read, with the columns found, the further column, and whose rows.

    The rows are those of raters who count, and so is the column.
    """
    cells = pick_column(table, column)
    named = reading.columns.items()
    taken = [role for role, name in named if isinstance(name, str) and name == column]
    if taken:
        raise OptionError(
            f"column {column!r} is the {taken[0]}; groups need a column of their own."
        )
    found = with_columns(reading, [name for name in table.columns if name != column])
    codes, known = code_ids(pick_column(table, str(found.rater)), "rater")
    kept = ~np.isin(codes, [code for code, name in enumerate(known) if name in without])
    nothing = int(cells[kept].isna().sum())
    if nothing:
        raise DataError(
            f"{counted(nothing, 'row')} of {kept.sum():,} have nothing in column {column!r}; fill "
            "it in, or drop these rows."
        )
    return found, cells[kept], kept
