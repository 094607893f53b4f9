"""A long table with a degree for each label: several rows of a unit and a rater are one answer."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import (
    DataError,
    DegreesWarning,
    SetagreeWarning,
    counted,
    listing,
    option,
    shorten,
    warn,
)
from setagree.study.assembly import LongColumns, code_answers, code_ids, from_long, pick_column
from setagree.study.codes import MISSING, Answers, Codes, Column, Value, as_objects
from setagree.study.frames import Frame, as_pandas, row_numbers
from setagree.study.numbers import as_float
from setagree.study.reading import Reading
from setagree.wording.label_sets import LARGEST_DEGREE, Degrees

_BELOW = "counted from 1 below the header"

_PERCENT = 10.0
"""What the degrees of a rater must reach not to be on the scale of one who stays within 1."""

_ENOUGH = 3
"""Labels with a degree that tell on which scale a rater gave them."""


def from_degrees(data: Frame, reading: Reading) -> LongColumns:
    """Read a long table with one row for each unit, rater and label, and its degree.

    Raises
    ------
    DataError
        A label has no degree, or one that is negative or no number; a rating names a label twice,
        or has a row without a label beside others.

    Examples
    --------
    >>> rows = [("u1", "ann", "joy", 0.8), ("u1", "ann", "fear", 0.2), ("u1", "bob", "joy", 0)]
    >>> table = pd.DataFrame(rows, columns=["unit", "rater", "labels", "degree"])
    >>> from_degrees(table, Reading(unit="unit", rater="rater", degree="degree")).answer.tolist()
    [Degrees({'joy': 0.8, 'fear': 0.2}), Degrees({})]
    """
    name = str(reading.degree)
    frame = as_pandas(data, (reading.unit, reading.rater, reading.answer, name))
    long = from_long(frame, reading.unit, reading.rater, reading.answer)
    if not len(frame):
        return long  # which is refused where it is assembled
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetagreeWarning)  # all said when the ratings are coded
        of_units, (of_raters, names) = code_ids(long.unit, "unit")[0], code_ids(long.rater, "rater")
    units, raters = (codes.astype(np.int64) for codes in (of_units, of_raters))
    numbers = row_numbers(frame)

    def place(row: int) -> str:
        return f"Row {numbers[row]}"

    coded = code_answers(long.answer, reading, is_long=True, place=place)
    labels = _one_each(coded, numbers)
    degrees = _read(pick_column(frame, name), labels, numbers)
    _warn_scales(raters, names, degrees)
    ratings, _ = pd.factorize(units * (raters.max() + 1) + raters)
    first = np.flatnonzero(np.diff(np.maximum.accumulate(ratings), prepend=-1))
    _check_rows(ratings, labels, numbers, long)
    answers: list[dict[Any, float]] = [{} for _ in first]
    for rating, label, degree in zip(ratings.tolist(), labels, degrees.tolist(), strict=True):
        if label is not None:
            answers[rating][label] = degree
    missing = (coded.codes == MISSING)[first].tolist()
    values = [None if gone else Degrees(one) for one, gone in zip(answers, missing, strict=True)]
    answer = pd.Series(as_objects(values), name=long.answer.name)
    return LongColumns(long.unit.iloc[first], long.rater.iloc[first], answer)


def warn_degrees(values: Iterable[Value], what: str) -> None:
    """Warn where a result looks at labels alone and some of these have a degree other than 1."""
    if any(isinstance(one, Degrees) and not one.is_plain for one in values):
        warn(
            f"{what} looks at which labels were given, with any degree above 0; how large the "
            "degrees are does not count.",
            DegreesWarning,
        )


def _warn_scales(raters: Codes, names: Any, degrees: npt.NDArray[np.float64]) -> None:
    """Warn where some raters give degrees of 1 at most and others give ten times as much."""
    largest = np.zeros(len(names))
    np.maximum.at(largest, raters, degrees)
    known = np.bincount(raters[degrees > 0], minlength=len(names)) >= _ENOUGH
    small, large = known & (largest <= 1), largest >= _PERCENT
    if small.any() and large.any():
        some, others = ([names[k] for k in np.flatnonzero(each)] for each in (small, large))
        warn(
            f"No degree of {counted(len(some), 'rater')} ({listing(some)}) is above 1, and those "
            f"of {listing(others)} reach {largest.max():g}: if some are percentages or counts, "
            "bring all to one scale.",
            DegreesWarning,
        )


def _one_each(coded: Answers, numbers: Codes) -> npt.NDArray[np.object_]:
    """Return the label of each row, or None if it has none."""
    several = [k for k, value in enumerate(coded.values) if len(value) > 1]
    if several and (rows := np.flatnonzero(np.isin(coded.codes, several))).size:
        held = sorted(map(str, coded.values[coded.codes[rows[0]]]))
        raise DataError(
            f"Row {numbers[rows[0]]} holds {len(held)} labels ({', '.join(held)}); with "
            f"{option('degree')} each row has one label and its degree. A label that holds the "
            f"separator stands in double quotes; another one is said with {option('label_sep')}."
        )
    labels = [next(iter(value), None) for value in coded.values]
    return as_objects([*labels, None])[coded.codes]  # a missing row (code -1) picks the last


def _read(
    column: Column, labels: npt.NDArray[np.object_], numbers: Codes
) -> npt.NDArray[np.float64]:
    """Return the degrees; refuse a label without one, and a degree without a label."""
    codes, cells = pd.factorize(as_objects(column))
    blank = np.array([isinstance(one, str) and not one.strip() for one in cells] + [True])
    known, has_label = ~blank[codes], labels != None  # noqa: E711 - elementwise
    if (without := np.flatnonzero(has_label & ~known)).size:
        raise DataError(
            f"{counted(without.size, 'row')} with a label and no degree in column {column.name!r} "
            f"(first: row {numbers[without[0]]}, {_BELOW}); write 0 where the label is not given."
        )
    found = [_degree(one) for one in cells]
    for code, degree in enumerate(found):
        if degree is None and not blank[code]:
            row = int(np.flatnonzero(codes == code)[0])
            raise DataError(
                f"Row {numbers[row]}, {_BELOW}: {shorten(cells[code])} in column {column.name!r} "
                f"is no degree, which is a number from 0 to {LARGEST_DEGREE:g}."
            )
    degrees = np.array([0.0 if one is None else one for one in found] + [0.0])[codes]
    if (nameless := np.flatnonzero(~has_label & (degrees > 0))).size:
        raise DataError(
            f"{counted(nameless.size, 'row')} with a degree and no label (first: row "
            f"{numbers[nameless[0]]}, {_BELOW}); name the label or drop the row."
        )
    return degrees


def _degree(cell: object) -> float | None:
    """Return the degree that a cell is or spells, or None if it is none."""
    degree = as_float(cell.item() if isinstance(cell, np.generic) else cell)
    return degree if degree is not None and 0 <= degree <= LARGEST_DEGREE else None


def _check_rows(
    ratings: Codes, labels: npt.NDArray[np.object_], numbers: Codes, long: LongColumns
) -> None:
    """Raise an error for a rating with a repeated label, or with a row without a label."""
    label_codes, _ = pd.factorize(labels)
    twice = np.flatnonzero(
        pd.DataFrame({"rating": ratings, "label": label_codes}).duplicated(keep=False)
    )
    alone = np.bincount(ratings)[ratings] == 1
    beside = np.flatnonzero((label_codes == MISSING) & ~alone)
    for rows, what in ((beside, "has a row without a label beside others"), (twice, "")):
        if rows.size:
            same = (ratings == ratings[rows[0]]) & (label_codes == label_codes[rows[0]])
            found = numbers[same].tolist()
            where = f"row {found[0]}" if len(found) == 1 else f"rows {found[0]} and {found[1]}"
            unit, rater = (shorten(as_objects(ids.iloc[[rows[0]]])[0]) for ids in long[:2])
            said = what or f"names label {shorten(labels[rows[0]])} {len(found)} times"
            raise DataError(
                f"Unit {unit}, rater {rater} {said} ({where}, {_BELOW}); with {option('degree')} "
                "a rating has one row for each label, or a single row without any."
            )
