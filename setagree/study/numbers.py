"""Numbers as answers: which of them are one, and as what they are kept."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

Number: TypeAlias = int | float | Decimal | Fraction

EXACT = 2.0**53
"""Floats below it are no whole number but the one they seem to be."""

MOST_DIGITS = 4_000
"""Digits before or after the point beyond which a number is refused; Python writes 4,300."""

_MOST = 10**MOST_DIGITS
_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?)", re.IGNORECASE)
_SHORT = 15
"""So many decimal digits go through a float and come back."""
_NO_FRACTION = re.compile(r"\.0*$")


def as_number(value: object) -> Number | None:
    """Return the number that a scalar is or spells, else None: the one rule, for every road.

    Numbers that are equal are one answer, whatever their type or spelling; numbers that differ are
    two, however near. To that end a number is kept as

    - an ``int`` where it is whole: 1, 1.0, ``Decimal("1.00")``, ``"1e2"``, ``"1e400"``. A whole
      float is the number that it holds.
    - else a ``float`` where one holds it (``Decimal("0.5")``), or is written so: the text
      ``"0.1"``, ``Decimal("0.1")`` and the float 0.1 are the same answer.
    - else a ``Decimal``, or a ``Fraction`` where its decimals never end.

    Such a Decimal, Fraction or int is a category; see `is_double` for answers that are numbers. A
    number with more than 4,000 digits before or after the point is returned as infinity, which is
    refused.

    Examples
    --------
    >>> as_number("9007199254740993.0"), as_number(Decimal("0.10")), as_number(Fraction(1, 3))
    (9007199254740993, 0.1, Fraction(1, 3))
    >>> as_number("0.10000000000000000001"), as_number("1,5")
    (Decimal('0.10000000000000000001'), None)
    """
    if isinstance(value, int):
        return value if -_MOST < value < _MOST else math.inf
    if isinstance(value, float):
        return int(value) if value.is_integer() else float(value)
    if isinstance(value, Decimal):
        return _of_decimal(value)
    if isinstance(value, Fraction):
        return _of_fraction(value)
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return number_of_text(value)
    return None


def number_of_text(text: str) -> Number:
    """Return the number that a decimal numeral spells.

    Examples
    --------
    >>> number_of_text("1E2"), number_of_text("-.5")
    (100, -0.5)
    """
    if len(text) <= _SHORT and text.strip("+-0123456789.") == "":
        number = float(text)
        return int(number) if number.is_integer() else number
    near = float(text)
    if repr(near) == text:  # as programs write floats
        return int(near) if near.is_integer() else near
    try:
        return _of_decimal(Decimal(text))
    except InvalidOperation:  # an exponent beyond what even a Decimal holds
        return math.inf


def number_of_json(text: str) -> Number:
    """Return the number that stands so in JSON: a float, unless that is another number.

    Examples
    --------
    >>> number_of_json("1.0"), number_of_json("9007199254740993.0")
    (1.0, 9007199254740993)
    """
    near = float(text)
    if len(text) <= _SHORT and "e" not in text.lower():
        return near
    number = number_of_text(text)
    return near if number == near else number


def exact(number: Number) -> Fraction:
    """Return the exact number; a float that is not whole is the number that it is written as.

    Examples
    --------
    >>> exact(0.1), exact(Decimal("0.25"))
    (Fraction(1, 10), Fraction(1, 4))
    """
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(number)


def is_double(number: Number) -> bool:
    """Return whether double precision holds a number, so that no other one is the same double.

    Examples
    --------
    >>> is_double(0.1), is_double(2**60), is_double(2**53 + 1)
    (True, True, False)
    """
    if isinstance(number, int):
        return as_float(number) == number
    return isinstance(number, float)


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


def as_float(number: Number) -> float:
    """Return a number as a float, infinite if none is large enough."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


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


def _of_decimal(number: Decimal) -> Number:
    if not number.is_finite():
        return -math.inf if number.is_signed() else math.inf
    if not number:
        return 0
    if number.adjusted() >= MOST_DIGITS or -_exponent(number) > MOST_DIGITS:
        return math.inf
    whole = int(number)
    if whole == number:
        return whole
    near = float(number)
    return near if near == number or Decimal(repr(near)) == number else _trimmed(number)


def _of_fraction(number: Fraction) -> Number:
    if max(abs(number.numerator), number.denominator) >= _MOST:
        return math.inf
    whole, places = number.denominator, 0
    while (whole % 2 == 0 or whole % 5 == 0) and places < MOST_DIGITS:
        whole, places = whole // math.gcd(whole, 10), places + 1
    if whole > 1:  # its decimals never end, so that no float is the number
        return number
    sign, digits, _ = Decimal(number.numerator * 10**places // number.denominator).as_tuple()
    return _of_decimal(Decimal((sign, digits, -places)))


def _exponent(number: Decimal) -> int:
    return int(number.as_tuple().exponent)


def _trimmed(number: Decimal) -> Decimal:
    """Return a number without zeros at its end; its own method would round it to 28 digits."""
    sign, digits, _ = number.as_tuple()
    kept = len("".join(map(str, digits)).rstrip("0")) or 1
    return Decimal((sign, digits[:kept], _exponent(number) + len(digits) - kept))


def _written(cell: object) -> str:
    """Return a number without an exponent."""
    number = cell if isinstance(cell, Decimal) else as_number(cell)
    if number is None or isinstance(number, Fraction):
        return str(number)
    return format(_trimmed(Decimal(repr(number) if isinstance(number, float) else number)), "f")
