"""Ratings that were asked for because of the answers before them, which no coefficient may use."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import (
    DataError,
    DroppedRowsWarning,
    OptionError,
    SetagreeWarning,
    counted,
    option,
    shorten,
    warn,
)
from setagree.study.assembly import QUEUED, pick_column
from setagree.study.codes import as_objects
from setagree.study.columns import with_columns
from setagree.study.frames import Frame, as_pandas
from setagree.study.labels import is_missing
from setagree.study.reading import Reading
from setagree.study.rows import numbered, row_numbers

if TYPE_CHECKING:
    from setagree.study.annotations import Annotations

_YES, _NO = {"true", "yes", "y", "1", "x"}, {"false", "no", "n", "0", ""}


def without_queued(record: type[Annotations], data: Frame, reading: Reading) -> Annotations | None:
    """Return the study of a long table without the ratings that are marked; None without marks.

    Raises
    ------
    DataError
        A mark is neither yes nor no, or all ratings are marked.
    """
    answers = reading.answer if isinstance(reading.answer, list) else [reading.answer]
    if QUEUED in {reading.unit, reading.rater, *answers, *reading.beside}:
        return None
    table = numbered(as_pandas(data))
    marks, table = _marks(table[QUEUED]), table.drop(columns=QUEUED)
    n, n_rows = int(marks.sum()), len(marks)
    if not n:
        return record.from_reading(table, reading)
    if reading.degree is not None:
        n, n_rows = _marked_ratings(table, reading, marks)
    if n == n_rows:
        raise DataError(
            f"all {counted(n, 'rating')} are marked in column {QUEUED!r}, so that none is left "
            "that was asked for without a look at the answers."
        )
    warn(
        f"{n:,} of {counted(n_rows, 'rating')} came from a queue that looks at answers (column "
        f"{QUEUED!r}): coefficients leave them out, the consensus takes them.",
        DroppedRowsWarning,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetagreeWarning)  # all said of the ratings that count
        with_queued = record.from_reading(table, reading)
    return replace(record.from_reading(table[~marks], reading), with_queued=with_queued)


def _marked_ratings(
    table: pd.DataFrame, reading: Reading, marks: npt.NDArray[np.bool_]
) -> tuple[int, int]:
    """Return how many ratings of several rows are marked, and how many there are.

    Raises
    ------
    DataError
        A rating is marked in some of its rows.
    """
    # As text; that 1 and "1" are several units is said where the ratings are read.
    ids = [as_objects(pick_column(table, str(name))).astype(str)
           for name in (reading.unit, reading.rater)]  # fmt: skip
    of_row, _ = pd.MultiIndex.from_arrays(ids).factorize()
    n_rows, n_marked = np.bincount(of_row), np.bincount(of_row, marks)
    if (partly := np.flatnonzero((n_marked > 0) & (n_marked < n_rows))).size:
        first = np.flatnonzero(of_row == partly[0])[0]
        unit, rater = (shorten(each[first]) for each in ids)
        raise DataError(
            f"Unit {unit}, rater {rater}: column {QUEUED!r} marks some of the {n_rows[partly[0]]} "
            f"rows of this answer and others not; with {option('degree')} they are one rating."
        )
    return int((n_marked > 0).sum()), len(n_rows)


def _marks(column: pd.Series[Any]) -> npt.NDArray[np.bool_]:
    """Return which rows are marked."""
    cells = as_objects(column)
    said = ["" if is_missing(one) else str(one).strip().lower() for one in cells]
    said = [one.removesuffix(".0") for one in said]
    odd = [row for row, one in enumerate(said) if one not in _YES | _NO]
    if odd:
        raise DataError(
            f"column {QUEUED!r} marks ratings that came from a queue by yes or no; row "
            f"{row_numbers(column)[odd[0]]}, counted from 1 below the header, has "
            f"{shorten(cells[odd[0]])}. Rename the column if it says something else."
        )
    return np.array([one in _YES for one in said], dtype=bool)


def engine_columns(reading: Reading, names: list[Any]) -> Reading:
    """Return how a table in an engine is read, which looks at no marks.

    Raises
    ------
    OptionError
        Ratings are marked, and no condition says which count.
    """
    found, where = with_columns(reading, names), reading.condition
    is_asked = QUEUED in found.columns.values() or (where and where.column == QUEUED)
    if QUEUED in names and not is_asked:
        raise OptionError(
            f"column {QUEUED!r} marks ratings that a queue asked for, which are left out in memory "
            f"alone: drop {option('memory_limit')} and the like, or keep the others with "
            f"{option('where')}."
        )
    return found
