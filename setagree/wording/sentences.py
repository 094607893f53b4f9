"""Sentences, text widths and escaping."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from setagree.errors import shorten
from setagree.wording.label_sets import display_labels

JOINERS = "\u200c\u200d"
"""Joiners of emoji and Persian words; all other invisible characters are escaped."""

_MARKS = re.compile(r"([\\`*{}\[\]()#+\-.!|~:@]|(?<![^\W_])_|_(?![^\W_]))")


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Characters that start a formula in a spreadsheet."""


def visible(text: str, *, keep: str = "") -> str:
    """Return text whose invisible characters are spelled out, except those in `keep`.

    They could move the cursor, or reverse or hide the text that follows.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in JOINERS + keep else c.encode("unicode_escape").decode()
        for c in text
    )


def escape_formula(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def as_markdown(text: str) -> str:
    """Return text on one line in which no sign means anything, to Markdown or to HTML."""
    safe = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKS.sub(r"\\\1", safe)


LONGEST = 30
"""Maximum width of a name in a picture, in text columns."""

_UNSEEN = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}


def columns_of(text: str) -> int:
    """Return the width of a text in columns: 2 for wide characters, 0 for combining marks."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, limit: int = LONGEST) -> str:
    """Return the text, or its head and an ellipsis if it is wider than ``limit`` columns."""
    head = text[: 20 * limit]  # marks take no column, and one letter may bear thousands of them
    if head == text and columns_of(text) <= limit:
        return text
    width = end = 0
    for end, character in enumerate(head):  # noqa: B007 - it is where the head ends
        width += _columns(character)
        if width >= limit:
            break
    # Do not end with a joiner or an escape character.
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


LONGEST_NAME = 60
"""Width in columns after which a displayed label, unit or rater is cut."""

LONGEST_TITLE = 400
"""Width in columns after which it is cut even if all of it would fit."""


@dataclass(frozen=True)
class Name:
    """Text that a user wrote: a label, a set of labels, a unit, a rater, a group.

    It may contain anything, so that it must be cut and escaped for display.
    """

    text: str
    thing: object = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, thing: object) -> Name:
        """Return the name of a label, unit, rater or group, or of a set of labels."""
        if isinstance(thing, frozenset):
            return cls(visible(display_labels(thing)), thing)
        return cls(visible(str(thing)), thing)

    @property
    def short(self) -> str:
        """The text, cut to fit a table."""
        return cut(self.text, LONGEST_NAME)

    @property
    def title(self) -> str:
        """The text, cut to a readable length."""
        return cut(self.text, LONGEST_TITLE)


Words: TypeAlias = "str | Name"
Sentence: TypeAlias = tuple[Words, ...]
"""Consecutive pieces of text; text from a user is marked as a `Name`."""


def capitalised(piece: Words) -> Words:
    """Return the beginning of a sentence with a capital letter, if it is ours."""
    return piece[:1].upper() + piece[1:] if isinstance(piece, str) else piece


def enumeration(parts: Sequence[Sentence]) -> Sentence:
    """Return ``a, b and c`` of pieces of a sentence."""
    joined: list[Words] = []
    for position, part in enumerate(parts):
        if position:
            joined.append(" and " if position == len(parts) - 1 else ", ")
        joined.extend(part)
    return tuple(joined)


def plain(sentence: Iterable[Words], *, quoted: bool = True) -> str:
    """Return a sentence as text, names in quotes, which a table needs not."""
    before, after = "“”" if quoted else ("", "")
    return "".join(
        f"{before}{piece.short}{after}" if isinstance(piece, Name) else piece for piece in sentence
    )


def in_message(sentence: Iterable[Words]) -> str:
    """Return a sentence as text, its names quoted as in errors."""
    return "".join(
        shorten(piece.text if piece.thing is None else piece.thing)
        if isinstance(piece, Name)
        else piece
        for piece in sentence
    )


def named(things: Sequence[object], *, limit: int = 3) -> Sentence:
    """Return the names of the first things, and how many more there are."""
    parts: list[Sentence] = [(Name.of(thing),) for thing in things[:limit]]
    more = len(things) - limit
    return enumeration([*parts, (f"{more:,} more",)] if more > 0 else parts)
