"""Numbers, shares, counts, levels and p-values as a person reads them, each spelled in one way."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from setagree.checks import check_level
from setagree.lazy import pd

MINUS, DASH = "\N{MINUS SIGN}", "\N{EN DASH}"


def is_nothing(x: Any) -> bool:
    """Return whether a number is missing."""
    return x is None or x is pd.NA or (isinstance(x, float | np.floating) and math.isnan(x))


def number(x: Any, *, digits: int = 3, signed: bool = False, plain: bool = False) -> str:
    """Return a number with a minus sign, or a dash if it is NaN; rounded zeros have no sign.

    ``plain`` means the minus sign of the keyboard, as in tables on a terminal.
    """
    if is_nothing(x):
        return "-" if plain else DASH
    if math.isinf(x) and not plain:
        return "∞" if x > 0 else f"{MINUS}∞"
    text = f"{x:+.{digits}f}" if signed else f"{x:.{digits}f}"
    if not text.strip("+-0."):
        text = text.lstrip("+-")
    return text if plain else text.replace("-", MINUS)


def four(x: Any) -> str:
    """Return a number as the tables of results have it: four decimals."""
    return number(x, digits=4, plain=True)


def interval(low: Any, high: Any) -> str:
    """Return the ends of an interval."""
    return DASH if is_nothing(low) or is_nothing(high) else f"{number(low)} to {number(high)}"


def rough(lows: Iterable[float]) -> str:
    """Return a note on intervals if the lower end of one is below -1, otherwise a blank."""
    # With distances such as overlap an estimate can be below -1 for any number of units.
    unless = f"unless the estimate is below {MINUS}1."
    sentence = f"An interval that begins below {MINUS}1 is a rough one, {unless}"
    return sentence if any(low < -1 for low in lows) else ""


def four_interval(low: Any, high: Any) -> str:
    """Return the ends of an interval as the tables of results have them."""
    return "-" if is_nothing(low) else f"{four(low)}, {four(high)}"


def share(x: Any) -> str:
    """Return a share in per cent: whole from 10% to 99%, otherwise with a decimal."""
    if is_nothing(x):
        return DASH
    if 0 < x < 0.0005:
        return "<0.1%"
    if 0.9995 <= x < 1:
        return ">99.9%"
    return f"{100 * x:.{int(0 < x < 0.0995 or 0.995 <= x < 1)}f}%"


def count(x: Any, *, plain: bool = False) -> str:
    """Return a whole number with its thousands apart; a small mean of counts has two decimals."""
    if is_nothing(x):
        return "-" if plain else DASH
    return f"{x:,.0f}" if x >= 100 or float(x).is_integer() else f"{x:,.2f}"


def two_digits(x: float) -> str:
    """Return a number with two significant digits, such as 0.015, 1.5 and 23."""
    return np.format_float_positional(x, precision=2, fractional=False, trim="-")


def level_text(level: float) -> str:
    """Return a level as ``95%`` or ``99.9%``, never rounded."""
    check_level(level)
    return f"{100 * level:.12g}%"


def p_value(p: Any, *, digits: int = 3, plain: bool = False) -> str:
    """Return a p-value as text, with ``<`` if it is below the last digit.

    ``plain`` means the dash of the keyboard for a missing value, as in tables on a terminal.
    """
    if is_nothing(p):
        return "-" if plain else DASH
    least = 10**-digits
    return f"<{least:.{digits}f}" if p < least else f"{p:.{digits}f}"


def p_four(p: Any) -> str:
    """Return a p-value as the tables of results have it: four decimals."""
    return p_value(p, digits=4, plain=True)


def p_phrase(p: Any) -> str:
    """Return a p-value for a sentence: ``p = 0.012`` or ``p < 0.001``."""
    text = p_value(p)
    if is_nothing(p):
        return "p undefined"
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"
