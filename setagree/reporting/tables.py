"""Tables as all views show them: cells as they are, and how to word them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import pandas as pd

from setagree.wording.numbers import DASH, count, interval, is_nothing, number, p_value, share
from setagree.wording.words import Name, Sentence

Kind: TypeAlias = Literal[
    "name", "text", "count", "number", "signed", "share", "p", "estimate", "change"
]
"""A name is what a user wrote; a text is ours, perhaps a sentence with names in it; an estimate and
a change are triples that end with an interval."""

_signed = partial(number, signed=True)
_WITH_INTERVAL: dict[str, Callable[[Any], str]] = {"estimate": number, "change": _signed}
_FORMATS: dict[str, Callable[[Any], str]] = {
    "count": count,
    "number": number,
    "signed": _signed,
    "share": share,
    "p": p_value,
}


@dataclass(frozen=True)
class Column:
    """A column of a table: what stands above it, and how its cells are shown."""

    head: str
    kind: Kind
    source: str | tuple[str, str, str] = ""
    """The column of the frame that it shows, or three of them: the number and its interval."""

    @property
    def is_number(self) -> bool:
        """Whether it stands to the right."""
        return self.kind not in {"name", "text"}


@dataclass(frozen=True)
class Table:
    """Cells as they are, nothing rounded; `more` says what is left out."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: str = ""
    is_ranking: bool = True
    """Whether its first rows matter most, so that a terminal shows no more than these."""

    sortable: bool = True
    """Whether a reader may order it by another column."""


def table_of(
    frame: pd.DataFrame, columns: Sequence[Column], caption: str, *, limit: int, function: str
) -> Table:
    """Return the first rows of a frame; columns that say nothing are left out."""
    kept = tuple(column for column in columns if _says_something(frame, column))
    top = frame.head(limit)
    cells = [_cells(top, column) for column in kept]
    more = ""
    if len(top) < len(frame):
        more = f"The first {len(top):,} of {len(frame):,}; sa.{function} returns all."
    return Table(caption, kept, tuple(zip(*cells, strict=True)), more)


def _says_something(frame: pd.DataFrame, column: Column) -> bool:
    """Say whether a column is there and has anything but gaps, or rates that are all 0."""
    first = column.source if isinstance(column.source, str) else column.source[0]
    if first not in frame:
        return False
    known = frame[first].dropna()
    return len(known) > 0 and not (first.endswith("_rate") and bool((known == 0).all()))


def _cells(frame: pd.DataFrame, column: Column) -> list[Any]:
    if isinstance(column.source, tuple):
        return list(zip(*(frame[name].tolist() for name in column.source), strict=True))
    return list(frame[column.source])


def shown(value: Any, kind: Kind) -> Sentence:
    """Return a cell as pieces of a sentence.

    Examples
    --------
    >>> shown((0.25, 0.1, 0.4), "estimate"), shown(0.5, "number"), shown(("a", "b"), "name")
    (('0.250',), ('0.500',), (Name(text="('a', 'b')"),))
    """
    if kind == "name":
        return (DASH,) if is_nothing(value) else (Name.of(value),)
    if kind == "text":
        return (value,) if isinstance(value, str) else cast(Sentence, value)
    if kind in _WITH_INTERVAL:
        return (_WITH_INTERVAL[kind](value[0]),)
    return (_FORMATS[kind](value),)


def span(value: Any, kind: Kind) -> str:
    """Return the interval of a cell, where it has one."""
    known = kind in _WITH_INTERVAL and bool(np.isfinite(value[1]))
    return interval(*value[1:]) if known else ""


def cell_text(value: Any, kind: Kind, say: Callable[[Sentence], str]) -> str:
    """Return a cell with its interval, as a sentence is said."""
    ends = span(value, kind)
    return say(shown(value, kind)) + (f" ({ends})" if ends else "")


def sorts_as(value: Any, kind: Kind) -> str:
    """Return what a cell sorts by: a number as text, or nothing where its text will do."""
    if kind in {"name", "text"}:
        return ""
    x = value[0] if kind in _WITH_INTERVAL else value
    return "" if is_nothing(x) else repr(float(x))
