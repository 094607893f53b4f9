"""Ratings that were asked for because of the answers before them, which no coefficient may use."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import (
    DataError,
    DroppedRowsWarning,
    SetagreeWarning,
    counted,
    option,
    python_or_command,
    shorten,
    warn,
)
from setagree.study.assembly import pick_column
from setagree.study.codes import as_objects
from setagree.study.frames import Frame, as_pandas, listed_columns, numbered, row_numbers
from setagree.study.labels import is_missing
from setagree.study.reading import QUEUED, Reading

if TYPE_CHECKING:
    from setagree.study.annotations import Annotations

_YES, _NO = {"true", "yes", "y", "1", "x"}, {"false", "no", "n", "0", ""}


def without_queued(record: type[Annotations], data: Frame, reading: Reading) -> Annotations:
    """Return the study of a long table without the ratings that ``queued=`` marks.

    Raises
    ------
    DataError
        The column is absent, a mark is neither yes nor no, or all ratings are marked.
    """
    name, others = str(reading.queued), replace(reading, queued=None)
    table = numbered(as_pandas(data))
    marks, table = _marks(pick_column(table, name), name), table.drop(columns=name)
    n, n_rows = int(marks.sum()), len(marks)
    if not n:
        return replace(record.from_reading(table, others), reading=reading)
    if reading.degree is not None:
        n, n_rows = _marked_ratings(table, reading, marks)
    if n == n_rows:
        raise DataError(
            f"all {counted(n, 'rating')} are marked in column {name!r}, so that none is left for a "
            "coefficient."
        )
    warn(
        f"{n:,} of {counted(n_rows, 'rating')} came from a queue that looks at answers (column "
        f"{name!r}): coefficients leave them out, the consensus takes them.",
        DroppedRowsWarning,
    )
    with warnings.catch_warnings():
        # The ratings that count raise the same warnings below.
        warnings.simplefilter("ignore", SetagreeWarning)
        with_queued = record.from_reading(table, others)
    study = record.from_reading(table[~marks], others)
    return replace(study, reading=reading, with_queued=with_queued)


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
            f"Unit {unit}, rater {rater}: column {reading.queued!r} marks some of the "
            f"{n_rows[partly[0]]} rows of this answer and others not; with {option('degree')} they "
            "are one rating."
        )
    return int((n_marked > 0).sum()), len(n_rows)


def _remedy() -> str:
    return option("queued", QUEUED) + python_or_command(" to setagree.read", "")


def _words(cells: Iterable[Any]) -> list[str]:
    """Return the cells of a column of marks as lower-case text, blank if they are missing."""
    words = ("" if is_missing(cell) else str(cell).strip().lower() for cell in cells)
    return [word.removesuffix(".0") for word in words]


def _marks(column: pd.Series[Any], name: str) -> npt.NDArray[np.bool_]:
    """Return which rows are marked."""
    cells = as_objects(column)
    words = _words(cells)
    odd = [row for row, word in enumerate(words) if word not in _YES | _NO]
    if odd:
        raise DataError(
            f"{option('queued', name)}: the column must mark ratings by yes or no; row "
            f"{row_numbers(column)[odd[0]]}, counted from 1 below the header, has "
            f"{shorten(cells[odd[0]])}. Name another column, or omit {option('queued')}."
        )
    return np.array([word in _YES for word in words], dtype=bool)


def has_unnamed_marks(names: Collection[object], reading: Reading) -> bool:
    """Return whether a table has a column ``queued`` that neither an option nor `where` names."""
    is_asked = reading.condition is not None and QUEUED in reading.condition.columns
    return QUEUED in names and not (is_asked or reading.names_column(QUEUED))


def warn_unnamed_marks(data: Frame, reading: Reading) -> None:
    """Warn if a table in memory marks ratings in a column ``queued`` that no option names."""
    if has_unnamed_marks(listed_columns(data), reading):
        cells = as_objects(as_pandas(data, [QUEUED])[QUEUED])
        warn_marks(cells, np.ones(len(cells), dtype=np.int64))


def warn_marks(cells: Iterable[Any], counts: Iterable[int]) -> None:
    """Warn how many ratings a column ``queued`` of yes and no marks; `counts` are of its cells."""
    words, n = _words(cells), np.array([*counts], dtype=np.int64)
    n_marked = int(n[[word in _YES for word in words]].sum())
    if not n_marked or not {*words} <= _YES | _NO:
        return
    warn(
        f"column {QUEUED!r} marks {n_marked:,} of {counted(int(n.sum()), 'row')} by yes; they "
        "count like all others. If a queue asked for them because of the answers, pass "
        f"{_remedy()}, which leaves them out of coefficients.",
        SetagreeWarning,
    )


def warn_unread_marks(names: Collection[object], reading: Reading) -> None:
    """Warn if a table that is reduced piece by piece has a column ``queued``."""
    if has_unnamed_marks(names, reading):
        warn(
            f"column {QUEUED!r} is not read in an engine. If it marks ratings that a queue asked "
            f"for because of the answers, pass {_remedy()} and "
            f"read the table into memory, or omit them with {option('where')}.",
            SetagreeWarning,
        )
