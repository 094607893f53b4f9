"""How results are worded: sentences, and the names in them that a user wrote."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from setagree.wording.escaping import visible
from setagree.wording.label_sets import display_labels
from setagree.wording.text import cut

LONGEST_NAME = 60
"""Columns of type after which a label, unit or rater is cut where it is shown."""

LONGEST_TITLE = 400
"""Columns after which it is cut even where there is room for all of it."""


@dataclass(frozen=True)
class Name:
    """Text that a user wrote: a label, a set of labels, a unit, a rater, a group.

    It may hold anything, so that who shows it must cut and escape it.
    """

    text: str

    @classmethod
    def of(cls, thing: object) -> Name:
        """Return the name of a label, unit, rater or group, or of a set of labels."""
        if isinstance(thing, frozenset):
            return cls(visible(display_labels(thing)))
        return cls(visible(str(thing)))

    @property
    def short(self) -> str:
        """The text, cut to what fits a table."""
        return cut(self.text, LONGEST_NAME)

    @property
    def title(self) -> str:
        """The text, cut to what a person may want to read."""
        return cut(self.text, LONGEST_TITLE)


Words: TypeAlias = "str | Name"
Sentence: TypeAlias = tuple[Words, ...]
"""Pieces that follow one another; what a user wrote is marked as a `Name`."""


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


def named(things: Sequence[object], *, limit: int = 3) -> Sentence:
    """Return the names of the first things, and how many more there are."""
    parts: list[Sentence] = [(Name.of(thing),) for thing in things[:limit]]
    more = len(things) - limit
    return enumeration([*parts, (f"{more:,} more",)] if more > 0 else parts)
