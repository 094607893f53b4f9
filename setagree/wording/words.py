"""How results are worded: names, numbers, and text that a user wrote."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pandas as pd

from setagree.wording import text as style
from setagree.wording.escaping import JOINERS, visible
from setagree.wording.label_sets import display_labels

LONGEST_NAME = 60
"""Characters after which a label, unit or rater is cut where it is shown."""

LONGEST_TITLE = 400
"""Characters after which it is cut even where there is room for all of it."""


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


def cut(text: str, longest: int) -> str:
    """Return the beginning of a text, with an ellipsis where something is left out."""
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip(JOINERS)}…"


def number(x: Any) -> str:
    """Return three decimals, a dash for nan; what rounds to zero has no sign."""
    return "–" if is_nothing(x) else style.number(float(x))


def signed(x: Any) -> str:
    """Return three decimals with a sign, as changes have it."""
    return "–" if is_nothing(x) else style.number(float(x), signed=True)


def share(x: Any) -> str:
    """Return a percentage, with a decimal where it is small."""
    if is_nothing(x):
        return "–"
    text = "<0.1 %" if 0 < float(x) < 0.0005 else style.percent(float(x))
    return text.replace(" ", "\u00a0")


def percent(level: float) -> str:
    """Return a confidence level as it stands before the word interval: 95%, 97.5%, 99.99%."""
    return f"{100 * level:.12g}%"


def count(x: Any) -> str:
    """Return a whole number with its thousands apart; a small mean of counts has two decimals."""
    if is_nothing(x):
        return "–"
    return style.whole(round(float(x)) if x >= 100 else float(x))


def p_text(p: Any) -> str:
    """Return a p-value; one that rounds to zero is said to be small."""
    if is_nothing(p):
        return "–"
    return "<.001" if p < 0.0005 else f"{p:.3f}".removeprefix("0")


def p_phrase(p: float) -> str:
    """Return a p-value as it stands in a sentence."""
    text = p_text(p)
    if is_nothing(p):
        return "p undefined"
    return f"p {text[0]} {text[1:]}" if text.startswith("<") else f"p = {text}"


def interval(low: Any, high: Any) -> str:
    """Return the ends of an interval."""
    return "–" if is_nothing(low) or is_nothing(high) else f"{number(low)} to {number(high)}"


def is_nothing(x: Any) -> bool:
    """Say whether there is no number to show."""
    return x is None or x is pd.NA or (isinstance(x, float) and math.isnan(x))


def enumeration(parts: Sequence[Sentence]) -> Sentence:
    """Return ``a, b and c`` of pieces of a sentence."""
    joined: list[Words] = []
    for position, part in enumerate(parts):
        if position:
            joined.append(" and " if position == len(parts) - 1 else ", ")
        joined.extend(part)
    return tuple(joined)


def plain(sentence: Iterable[Words], *, longest: int = LONGEST_NAME) -> str:
    """Return a sentence as text, names in quotes."""
    return "".join(
        f"“{cut(piece.text, longest)}”" if isinstance(piece, Name) else piece for piece in sentence
    )
