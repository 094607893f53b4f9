"""Numbers: which cells are one, what double precision holds, and how they are spelled."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import MixedScaleWarning, listing, option, warn

Number: TypeAlias = int | float

EXACT = 2.0**53
"""Floats below it are no whole number but the one they seem to be."""

_MAX_EXPONENT = 4_000
"""Digits before or after the point beyond which a number is compared as infinity."""

_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?)", re.IGNORECASE)
_COMMA = re.compile(r"[+-]?\d+(,\d+)?")
_SHORT = 15
"""So many decimal digits go through a float and come back."""
_NO_FRACTION = re.compile(r"\.0*$")


def as_number(value: object) -> Number | None:
    """Return the number in double precision that a scalar is or spells, or None if it is none.

    Numbers that are equal are one answer, whatever their type or spelling: the text ``"0.1"``,
    ``Decimal("0.1")`` and the float 0.1; 1, 1.0 and ``"1e0"``. A whole number is an int. Return NaN
    if double precision does not hold the number, so that it could not be told from another one.

    Examples
    --------
    >>> as_number("1e2"), as_number(Decimal("0.10")), as_number("1,5")
    (100, 0.1, None)
    >>> as_number(2**53 + 1), as_number("0.10000000000000000001"), as_number(Fraction(1, 3))
    (nan, nan, nan)
    """
    near = as_float(value)
    if near is None:
        return None
    if not isinstance(value, float) and not _is_held(value, near):
        return math.nan
    return int(near) if near.is_integer() else near


def with_points(values: Sequence[object]) -> Sequence[object]:
    """Return answers with decimal points if all are spelled with decimal commas, with a warning.

    One of them at least has other than three digits behind its comma: "1,500" may be 1500.

    Examples
    --------
    >>> with_points(["1,500", "2"])
    ['1,500', '2']
    """
    texts = [one for one in values if one is not None]
    commas = [one for one in texts if isinstance(one, str) and "," in one]
    are_decimal = all(isinstance(one, str) and _COMMA.fullmatch(one) for one in texts)
    if not are_decimal or all(len(one.partition(",")[2]) == 3 for one in commas):
        return values
    warn(
        f"Answers such as {listing(commas[:3])} were read as numbers with a decimal comma; if they "
        f"are none, say {option('kind', 'category')}.",
        MixedScaleWarning,
    )
    return [one.replace(",", ".") if isinstance(one, str) else one for one in values]


def as_float(value: object) -> float | None:
    """Return the float nearest to the number that a scalar is or spells, or None if it is none."""
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
    """Return whether a float is a number, or has it as its shortest decimal form."""
    if isinstance(value, str):
        if (len(value) <= _SHORT and value.strip("+-0123456789.") == "") or repr(near) == value:
            return True
        try:
            value = Decimal(value)
        except InvalidOperation:  # an exponent beyond what even a Decimal holds
            return False
    is_decimal = isinstance(value, Decimal | Fraction) and math.isfinite(near)
    return bool(value == near or (is_decimal and value == type(value)(repr(near))))


def number_of_json(text: str) -> float | Decimal:
    """Return the number that stands so in JSON: a float, unless that is another number.

    Examples
    --------
    >>> number_of_json("1.0"), number_of_json("9007199254740993.0")
    (1.0, Decimal('9007199254740993.0'))
    """
    near = float(text)
    if _is_held(text, near):
        return near
    try:
        return Decimal(text)
    except InvalidOperation:
        return near


def exact(value: str | float | Decimal | Fraction) -> Fraction | float:
    """Return the exact number that a scalar is or spells; a float is the number it is written as.

    Infinite numbers and those with more than 4,000 digits before or after the point are infinity.

    Examples
    --------
    >>> exact(0.1), exact("9007199254740993")
    (Fraction(1, 10), Fraction(9007199254740993, 1))
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
    """Return how a number is spelled, but for what nobody takes for another answer.

    That is a plus sign, a zero before the point, and a point with nothing but zeros behind it: a
    program writes 1.0 for 1 where the column has a gap. Zeros in front (007) and behind another
    digit (1.10) are left, for they tell codes apart; so is an exponent, as a code may have an E.

    Examples
    --------
    >>> [usual_spelling(one) for one in ("+1", "1.00", ".5", "007", "1.10", "1E2", 100.0)]
    ['1', '1', '0.5', '007', '1.10', '1E2', '100']
    """
    text = cell if isinstance(cell, str) else _written(cell)
    text = _NO_FRACTION.sub("", text.removeprefix("+"))
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    digits = f"0{digits}" if digits[:1] in {"", "."} else digits
    return digits if digits == "0" else sign + digits


def inferred(cells: npt.NDArray[np.object_]) -> pd.Series[Any]:
    """Return a column of numbers, text or objects; no whole number is rounded to a float.

    Examples
    --------
    >>> inferred(np.array([2**53 + 1, 0.5], dtype=object)).tolist()
    [9007199254740993, 0.5]
    """
    written = pd.Series(cells, dtype=object)
    try:
        found = written.infer_objects()
    except OverflowError:  # pandas 2 fails on whole numbers of hundreds of digits
        return written
    is_float = pd.api.types.is_float_dtype(found.dtype)
    return written if is_float and (found.abs() >= EXACT).any() else found


def _written(cell: object) -> str:
    """Return a number without an exponent and without zeros at its end."""
    number = cell if isinstance(cell, Decimal | int) else as_number(cell)
    text = format(Decimal(repr(number) if isinstance(number, float) else cast("Any", number)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
