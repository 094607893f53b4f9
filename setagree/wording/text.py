"""Numbers and names as text of one line."""

from __future__ import annotations

import unicodedata

import numpy as np

from setagree.checks import check_level
from setagree.wording.label_sets import display_labels

MINUS, DASH = "\N{MINUS SIGN}", "\N{EN DASH}"

LONGEST = 30
"""How many columns of type a name may take in a picture."""

_UNSEEN = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}


def short_text(value: object, *, limit: int = LONGEST) -> str:
    """Return a label, unit, rater or group as the text of a picture: one line, cut, never markup.

    Characters that steer (control characters, changes of direction) are not drawn, and a dollar
    sign opens no formula.
    """
    text = display_labels(value) if isinstance(value, frozenset) else str(value)
    # What is far beyond the cut needs no cleaning.
    return cut(_one_line(text[: 20 * limit]), limit=limit).replace("$", r"\$")


def cut(text: str, *, limit: int = LONGEST) -> str:
    """Return the text, or its head and an ellipsis where it is wider than ``limit`` columns."""
    widths = np.cumsum([_columns(character) for character in text])
    if not len(widths) or widths[-1] <= limit:
        return text
    return text[: int(np.searchsorted(widths, limit - 1, side="right"))].rstrip(" \\") + "…"


def _one_line(text: str) -> str:
    kept = "".join(_drawable(character) for character in text)
    return " ".join(kept.split()) or repr(text[:LONGEST])


def _drawable(character: str) -> str:
    if ord(character) in _UNSEEN:
        return ""
    match unicodedata.category(character):
        case "Cc" | "Zl" | "Zp":
            return " "
        case "Cs" | "Cn":
            return "\ufffd"
    return character


def _columns(character: str) -> int:
    """Return how many columns a character takes: none, one, or two as in East Asian type."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def number(x: float, *, digits: int = 3, signed: bool = False) -> str:
    """Return a number with a real minus sign; nan is a dash, and what rounds to 0 has no sign."""
    if not np.isfinite(x):
        return DASH if np.isnan(x) else ("∞" if x > 0 else f"{MINUS}∞")
    text = f"{x:+.{digits}f}" if signed else f"{x:.{digits}f}"
    if not text.strip("+-0."):
        text = text.lstrip("+-")
    return text.replace("-", MINUS)


def percent(x: float) -> str:
    """Return a share in per cent: whole from ten on, with a decimal below."""
    if np.isnan(x):
        return DASH
    if 0 < x < 0.0005:
        return "< 0.1 %"
    return f"{100 * x:.1f} %" if 0 < x < 0.0995 else f"{100 * x:.0f} %"


def level_text(level: float) -> str:
    """Return a level as ``95 %`` or ``99.9 %``, never rounded."""
    check_level(level)
    return f"{100 * level:.10g} %"


def whole(x: float) -> str:
    """Return a count with thousands apart; a count that is not whole with two decimals."""
    if np.isnan(x):
        return DASH
    return f"{x:,.0f}" if float(x).is_integer() else f"{x:,.2f}"


def p_text(p: float) -> str:
    """Return ``p = 0.012``, or ``p < 0.0001``."""
    if np.isnan(p):
        return "p undefined"
    return f"p = {p:.2g}" if p >= 1e-4 else "p < 0.0001"
