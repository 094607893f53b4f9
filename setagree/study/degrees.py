"""Long tables with one row per label and its degree: the rows of a rating are one answer."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.checks import Codes
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
from setagree.lazy import pd
from setagree.study.assembly import LongColumns, code_answers, code_ids, from_long, pick_column
from setagree.study.codes import MISSING, Answers, Column, Value, as_objects
from setagree.study.frames import row_numbers
from setagree.study.numbers import as_float
from setagree.study.reading import Reading
from setagree.wording.label_sets import LARGEST_DEGREE, Degrees

_BELOW = "counted from 1 below the header"

_PERCENT = 10.0
"""Least largest degree of a rater on another scale than that of raters with degrees up to 1."""

_ENOUGH = 3
"""Least number of positive degrees that determine the scale of a rater."""


def from_degrees(frame: pd.DataFrame, reading: Reading) -> LongColumns:
    """Read a long table with one row for each unit, rater and label, and its degree."""
    name = str(reading.degree)
    long = from_long(frame, reading.unit, reading.rater, reading.answer)
    if not len(frame):
        return long  # assemble() raises the error for an empty table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetagreeWarning)  # assemble() repeats all warnings
        of_units, (of_raters, names) = code_ids(long.unit, "unit")[0], code_ids(long.rater, "rater")
    units, raters = (codes.astype(np.int64) for codes in (of_units, of_raters))
    numbers = row_numbers(frame)

    def place(row: int) -> str:
        return f"Row {numbers[row]}"

    coded = code_answers(long.answer, reading, is_long=True, place=place)
    labels = _row_labels(coded, numbers)
    degrees = _read_degrees(pick_column(frame, name), labels, numbers)
    _warn_scales(raters, names, degrees)
    ratings, _ = pd.factorize(units * (raters.max() + 1) + raters)
    first = np.flatnonzero(np.diff(np.maximum.accumulate(ratings), prepend=-1))
    _check_rows(ratings, labels, numbers, long)
    answers: list[dict[Any, float]] = [{} for _ in first]
    for rating, label, degree in zip(ratings.tolist(), labels, degrees.tolist(), strict=True):
        if label is not None:
            answers[rating][label] = degree
    missing = (coded.codes == MISSING)[first].tolist()
    values = [None if m else Degrees(answer) for answer, m in zip(answers, missing, strict=True)]
    answer = pd.Series(as_objects(values), name=long.answer.name)
    return LongColumns(long.unit.iloc[first], long.rater.iloc[first], answer)


def warn_degrees(values: Iterable[Value], what: str) -> None:
    """Warn if a result uses only the labels although some have a degree other than 1."""
    if any(isinstance(value, Degrees) and not value.is_plain for value in values):
        warn(
            f"{what} uses only which labels were given, with any degree above 0; the size of the "
            "degrees is ignored.",
            DegreesWarning,
        )


def _warn_scales(raters: Codes, names: Any, degrees: npt.NDArray[np.float64]) -> None:
    """Warn if some raters give degrees of at most 1 and others ten times as much."""
    largest = np.zeros(len(names))
    np.maximum.at(largest, raters, degrees)
    has_enough = np.bincount(raters[degrees > 0], minlength=len(names)) >= _ENOUGH
    small, large = has_enough & (largest <= 1), largest >= _PERCENT
    if small.any() and large.any():
        some, others = ([names[k] for k in np.flatnonzero(mask)] for mask in (small, large))
        warn(
            f"No degree of {counted(len(some), 'rater')} ({listing(some)}) is above 1, and those "
            f"of {listing(others)} reach {largest.max():g}: if some are percentages or counts, "
            "bring all to one scale.",
            DegreesWarning,
        )


def _row_labels(coded: Answers, numbers: Codes) -> npt.NDArray[np.object_]:
    """Return the label of each row, or None if it has none."""
    several = [k for k, value in enumerate(coded.values) if len(value) > 1]
    if several and (rows := np.flatnonzero(np.isin(coded.codes, several))).size:
        labels = sorted(map(str, coded.values[coded.codes[rows[0]]]))
        raise DataError(
            f"Row {numbers[rows[0]]} has {len(labels)} labels ({', '.join(labels)}); with "
            f"{option('degree')} each row has one label and its degree. Write a label with the "
            f"separator in double quotes, or set another separator with {option('label_sep')}."
        )
    label_of = [next(iter(value), None) for value in coded.values]
    return as_objects([*label_of, None])[coded.codes]  # a missing row (code -1) picks the last


def _read_degrees(
    column: Column, labels: npt.NDArray[np.object_], numbers: Codes
) -> npt.NDArray[np.float64]:
    """Return the degrees; raise an error for labels without degrees and degrees without labels."""
    codes, cells = pd.factorize(as_objects(column))
    blank = np.array([isinstance(cell, str) and not cell.strip() for cell in cells] + [True])
    present, has_label = ~blank[codes], labels != None  # noqa: E711 - elementwise
    if (without := np.flatnonzero(has_label & ~present)).size:
        raise DataError(
            f"{counted(without.size, 'row')} with a label and no degree in column {column.name!r} "
            f"(first: row {numbers[without[0]]}, {_BELOW}); write 0 if the label was not given."
        )
    parsed = [as_float(x.item() if isinstance(x, np.generic) else x) for x in cells]
    for code, degree in enumerate(parsed):
        is_degree = degree is not None and 0 <= degree <= LARGEST_DEGREE
        if not is_degree and not blank[code]:
            row = int(np.flatnonzero(codes == code)[0])
            raise DataError(
                f"Row {numbers[row]}, {_BELOW}: {shorten(cells[code])} in column {column.name!r} "
                f"must be a degree, a number from 0 to {LARGEST_DEGREE:g}."
            )
    degrees = np.array([0.0 if degree is None else degree for degree in parsed] + [0.0])[codes]
    if (nameless := np.flatnonzero(~has_label & (degrees > 0))).size:
        raise DataError(
            f"{counted(nameless.size, 'row')} with a degree and no label (first: row "
            f"{numbers[nameless[0]]}, {_BELOW}); name the label or remove the row."
        )
    return degrees


def _check_rows(
    ratings: Codes, labels: npt.NDArray[np.object_], numbers: Codes, long: LongColumns
) -> None:
    """Raise an error for a rating with a repeated label, or with a row without a label."""
    label_codes, _ = pd.factorize(labels)
    twice = np.flatnonzero(
        pd.DataFrame({"rating": ratings, "label": label_codes}).duplicated(keep=False)
    )
    alone = np.bincount(ratings)[ratings] == 1
    blank = np.flatnonzero((label_codes == MISSING) & ~alone)
    for rows, problem in ((blank, "has a row without a label next to others"), (twice, "")):
        if rows.size:
            same = (ratings == ratings[rows[0]]) & (label_codes == label_codes[rows[0]])
            listed = numbers[same].tolist()
            where = f"row {listed[0]}" if len(listed) == 1 else f"rows {listed[0]} and {listed[1]}"
            unit, rater = (shorten(as_objects(ids.iloc[[rows[0]]])[0]) for ids in long[:2])
            verb = problem or f"has label {shorten(labels[rows[0]])} {len(listed)} times"
            raise DataError(
                f"Unit {unit}, rater {rater} {verb} ({where}, {_BELOW}); with {option('degree')} "
                "a rating has one row per label, or a single row without a label."
            )
