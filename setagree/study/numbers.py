"""Parsing, exactness and spelling of numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from setagree.errors import MixedScaleWarning, listing, option, warn
from setagree.lazy import pd

Number: TypeAlias = int | float

EXACT = 2.0**53
"""Limit below which floats represent whole numbers exactly."""

_MAX_EXPONENT = 4_000
"""Largest decimal exponent; numbers beyond it are compared as infinity."""

_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?)", re.IGNORECASE)
_DECIMAL = re.compile(r"[+-]?\d+([.,]\d+)?")
_SHORT = 15
"""Largest number of decimal digits that every float conversion preserves."""
_NO_FRACTION = re.compile(r"\.0*$")


def as_number(value: object) -> Number | None:
    """Return the number that a scalar is or spells, in double precision, or None.

    Equal numbers are one answer, whatever their type or spelling: the text ``"0.1"``,
    ``Decimal("0.1")`` and the float 0.1; 1, 1.0 and ``"1e0"``. A whole number is an int. Return NaN
    if double precision does not represent the number, because it might equal another one.
    """
    near = as_float(value)
    if near is None:
        return None
    if not isinstance(value, float) and not _is_held(value, near):
        return math.nan
    return int(near) if near.is_integer() else near


def with_points(values: Sequence[object]) -> Sequence[object]:
    """Return answers with decimal points if all are spelled with decimal commas, with a warning.

    At least one answer must not have three digits after its comma, because "1,500" may be 1500;
    none may have them if others have decimal points.
    """
    texts = [value for value in values if value is not None]
    if not all(isinstance(text, str) and _DECIMAL.fullmatch(text) for text in texts):
        return values
    points, commas = ([text for text in map(str, texts) if mark in text] for mark in ".,")
    n_unclear = sum(text[-4] in ".," for text in (*points, *commas) if len(text) > 3)
    if not commas or n_unclear >= (1 if points else len(commas)):
        return values
    warn(
        f"Answers such as {listing(commas[:3])} were read as numbers with a decimal comma; if they "
        f"are not, use {option('kind', 'category')}.",
        MixedScaleWarning,
    )
    return [value.replace(",", ".") if isinstance(value, str) else value for value in values]


def are_decimals(texts: Sequence[str]) -> bool:
    """Return whether all texts are numbers, and some have a decimal point or a decimal comma."""
    are_whole = all(text.strip("+-").isdecimal() for text in texts)
    return not are_whole and all(map(_DECIMAL.fullmatch, texts))


def as_float(value: object) -> float | None:
    """Return the float nearest to the number that a scalar is or spells, or None."""
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            return None
    elif not isinstance(value, int | float | Decimal | Fraction):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if cast("Any", value) > 0 else -math.inf


def _is_held(value: Any, near: float) -> bool:
    """Return whether a float equals a number, or has it as its shortest decimal form."""
    if isinstance(value, str):
        if (len(value) <= _SHORT and value.strip("+-0123456789.") == "") or repr(near) == value:
            return True
        try:
            value = Decimal(value)
        except InvalidOperation:  # an exponent beyond the range of Decimal
            return False
    is_decimal = isinstance(value, Decimal | Fraction) and math.isfinite(near)
    return bool(value == near or (is_decimal and value == type(value)(repr(near))))


def number_of_json(text: str) -> float | Decimal:
    """Return a number in JSON as a float, or as a Decimal if the float is another number."""
    near = float(text)
    if _is_held(text, near):
        return near
    try:
        return Decimal(text)
    except InvalidOperation:
        return near


def exact(value: str | float | Decimal | Fraction) -> Fraction | float:
    """Return the exact number that a scalar is or spells; a float is its shortest decimal form.

    Numbers with more than 4,000 digits before or after the point become infinity.
    """
    if isinstance(value, int | Fraction):
        return Fraction(value)
    try:
        number = Decimal(repr(value) if isinstance(value, float) else value)
    except InvalidOperation:
        return math.inf
    if not number.is_finite() or (number and abs(number.adjusted()) > _MAX_EXPONENT):
        return -math.inf if number.is_signed() else math.inf
    return Fraction(number)


def usual_spelling(cell: object) -> str:
    """Return the spelling of a number without differences that never distinguish answers.

    A plus sign is removed, a zero before the point added, and a point with only zeros after it
    removed, because programs write 1.0 for 1 in a column with missing cells. Leading zeros (007),
    trailing zeros after another digit (1.10) and exponents remain, because they distinguish codes.
    """
    text = cell if isinstance(cell, str) else _decimal_form(cell)
    text = _NO_FRACTION.sub("", text.removeprefix("+"))
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    digits = f"0{digits}" if digits[:1] in {"", "."} else digits
    return digits if digits == "0" else sign + digits


def inferred(cells: npt.NDArray[np.object_]) -> pd.Series[Any]:
    """Return a column of numbers, text or objects, without rounding whole numbers to floats."""
    objects = pd.Series(cells, dtype=object)
    try:
        column = objects.infer_objects()
    except OverflowError:  # pandas 2 fails on whole numbers of hundreds of digits
        return objects
    is_float = pd.api.types.is_float_dtype(column.dtype)
    return objects if is_float and (column.abs() >= EXACT).any() else column


def _decimal_form(cell: object) -> str:
    """Return a number without an exponent and without trailing zeros."""
    number = cell if isinstance(cell, Decimal | int) else as_number(cell)
    text = format(Decimal(repr(number) if isinstance(number, float) else cast("Any", number)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
