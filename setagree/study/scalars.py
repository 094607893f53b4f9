"""Integer codes of columns of single values: numbers or categories."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Literal

import numpy as np

from setagree.checks import Codes
from setagree.errors import DataError, SetagreeWarning, a_type, listing, option, shorten, warn
from setagree.study.answer_warnings import (
    n_cells,
    warn_markers,
    warn_mixed_scale,
    warn_similar,
    warn_spellings,
)
from setagree.study.codes import (
    Answers,
    Column,
    Kind,
    distinct_cells,
    failure_sentence,
    merge,
    order_of,
    parse_all,
    recode,
    without_markers,
)
from setagree.study.identifiers import check_text, tidied
from setagree.study.labels import Blank, Case
from setagree.study.numbers import Number, as_number, with_points


def code_scalars(
    column: Column,
    blank: Blank,
    *,
    case: Case = "keep",
    markers: Sequence[str | float] = (),
    place: Callable[[int], str],
    times: Codes | None = None,
    kind: Kind | Literal["value"] = "value",
) -> Answers:
    """Return the coded scalars of a column: numbers if every cell is one, otherwise categories.

    With `kind` the type is fixed. Categories keep their text, so that 007 is not 7. Equal numbers
    are one value, as defined by `as_number`.

    `markers` are the answers that mean no annotation; `place` and `times` are as in
    `code_label_sets`.
    """
    codes, cells = without_markers(*distinct_cells(column), markers, case)
    cleaned, failures = parse_all(cells, lambda cell: _clean_scalar(cell, case))
    if failures:
        raise DataError(failure_sentence(failures, codes, place, times))
    is_blank = np.array([isinstance(value, str) and not value for value in cleaned], dtype=bool)
    n_blank = n_cells((codes >= 0) & is_blank[codes], times) if is_blank.size else 0
    if n_blank and blank != "missing":
        row = int(np.flatnonzero((codes >= 0) & is_blank[codes])[0])
        raise DataError(
            f"{place(row)}: the cell is blank; a scalar has no empty answer, so use "
            f"{option('blank', 'missing')} or remove the rows ({n_blank:,} of them)."
        )
    cleaned = [None if b else v for v, b in zip(cleaned, is_blank, strict=True)]
    cleaned = cleaned if kind == "category" else [*with_points(cleaned)]
    numbers = [as_number(value) for value in cleaned]
    is_other = [n is None and v is not None for n, v in zip(numbers, cleaned, strict=True)]
    if kind == "number" and any(is_other):
        row = int(np.flatnonzero((codes >= 0) & np.array(is_other)[codes])[0])
        raise DataError(
            f"{place(row)}: {shorten(cells[codes[row]])} is not a number, as "
            f"{option('kind', 'number')} requires; use {option('kind', 'category')}, or list "
            f"markers of missing answers in {option('na_values')}."
        )
    is_number = kind != "category" and not any(is_other)
    _check_numbers(numbers, codes, cells, place, kind="number" if is_number else "category")
    if not is_number:
        if kind == "category":
            warn_markers(codes, cleaned, what="categories", times=times)
        else:
            finite = [n is not None and math.isfinite(n) for n in numbers]
            warn_mixed_scale(finite, cleaned, codes, place, times=times)
        warn_similar("Categories", {v for v in cleaned if isinstance(v, str | int | float)})
    merged, values = merge(numbers if is_number else [*map(_category, cleaned)])
    order = _order(column, case, markers)
    if is_number:
        warn_spellings(cleaned, merged)
        _warn_unsorted(order, column.name)
        return Answers(recode(codes, merged), values, "number", n_blank)
    return Answers(recode(codes, merged), values, "category", n_blank, order=order)


def _order(column: Column, case: Case, markers: Sequence[str | float]) -> tuple[object, ...]:
    """Return the categories of an ordered column, cleaned as its cells."""
    absent = {"", *(_clean_scalar(marker, case) for marker in markers)}
    cleaned = [_clean_scalar(category, case) for category in order_of(column)]
    return tuple(dict.fromkeys(_category(value) for value in cleaned if value not in absent))


def _warn_unsorted(order: Sequence[object], name: Hashable) -> None:
    """Warn if ordered categories are numbers that are not sorted by size."""
    numbers = [number for category in order if (number := as_number(category)) is not None]
    if numbers not in (ascending := sorted(numbers), ascending[::-1]):
        warn(
            f"the ordered categories {listing(order)}{'' if name is None else f' of {name!r}'} are "
            "numbers, and their size counts, not the order of the categories. To use that order, "
            f"pass {option('kind', 'category')} or give the categories names.",
            SetagreeWarning,
        )


def _clean_scalar(cell: object, case: Case) -> object:
    if isinstance(cell, str):
        check_text(cell, "the answer")
        text = tidied(cell)
        return text.lower() if case == "lower" else text
    if isinstance(cell, bool | np.bool_):
        return int(cell)
    if isinstance(cell, np.generic):
        return cell.item()
    if isinstance(cell, Decimal) and cell.is_snan():
        raise DataError(
            f"{cell!r} is a signaling NaN, which is not a number; use None for no answer."
        )
    if isinstance(cell, Hashable) and not isinstance(cell, frozenset):
        return cell
    raise DataError(f"{shorten(cell)} is {a_type(cell)}, not one value; use {option('labels')}.")


def _category(value: object) -> object:
    """Return a category; equal numbers of different types become one."""
    if not isinstance(value, Decimal | Fraction):
        return value
    number = as_number(value)
    return str(value) if number is None or math.isnan(number) else number


def _check_numbers(
    numbers: Sequence[Number | None],
    codes: Codes,
    cells: Sequence[object],
    place: Callable[[int], str],
    *,
    kind: Kind,
) -> None:
    """Raise `DataError` for infinite numbers and for numbers that double precision rounds.

    Text that spells such a number is an error only if the answers are numbers.
    """
    for position, number in enumerate(numbers):
        if number is None or math.isfinite(number):
            continue
        if kind == "category" and (isinstance(cells[position], str) or math.isnan(number)):
            continue
        where = f"{place(int(np.flatnonzero(codes == position)[0]))}: {shorten(cells[position])}"
        if math.isinf(number):
            raise DataError(f"{where} is not a finite number.")
        raise DataError(
            f"{where} has more digits than double precision holds. If the answers are codes, use "
            f"{option('kind', 'category')}; else round them."
        )
