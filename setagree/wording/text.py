"""Text of one line: how wide it is, what is left of it where room is short."""

from __future__ import annotations

import unicodedata

from setagree.wording.escaping import JOINERS
from setagree.wording.label_sets import display_labels

LONGEST = 30
"""How many columns of type a name may take in a picture."""

_UNSEEN = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}


def columns_of(text: str) -> int:
    """Return how many columns of type a text takes: wide signs two, marks above others none."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, limit: int = LONGEST) -> str:
    """Return the text, or its head and an ellipsis where it is wider than ``limit`` columns."""
    head = text[: 20 * limit]  # marks take no column, and one letter may bear thousands of them
    if head == text and columns_of(text) <= limit:
        return text
    width = end = 0
    for end, character in enumerate(head):  # noqa: B007 - it is where the head ends
        width += _columns(character)
        if width >= limit:
            break
    # What joins two signs, or escapes the next one, is no end.
    return head[:end].rstrip(JOINERS + "\\") + "…"


def short_text(value: object, *, limit: int = LONGEST) -> str:
    """Return a label, unit, rater or group as the text of a picture: one line, cut, never markup.

    Characters that steer (control characters, changes of direction) are not drawn, and a dollar
    sign opens no formula.
    """
    text = display_labels(value) if isinstance(value, frozenset) else str(value)
    text = text[: 20 * limit]  # what is far beyond the cut needs no cleaning
    line = " ".join("".join(map(_drawable, text)).split()) or repr(text[:LONGEST])
    return cut(line, limit).replace("$", r"\$")


def _drawable(character: str) -> str:
    if ord(character) in _UNSEEN:
        return ""
    match unicodedata.category(character):
        case "Cc" | "Zl" | "Zp":
            return " "
        case "Cs" | "Cn":
            return "\ufffd"
    return character
