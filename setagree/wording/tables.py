"""Tables as text: aligned lines for a terminal, Markdown, HTML, JSON, comma-separated values."""

from __future__ import annotations

import csv
import html
import json
import math
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from shutil import get_terminal_size
from typing import Any, Literal, TypeAlias

import numpy as np

from setagree.lazy import pd
from setagree.wording.label_sets import Degrees, display_labels, sorted_labels
from setagree.wording.number_format import (
    DASH,
    count,
    four,
    four_interval,
    interval,
    is_nothing,
    level_text,
    number,
    p_four,
    p_value,
    share,
)
from setagree.wording.sentences import (
    LONGEST,
    Name,
    Sentence,
    as_markdown,
    columns_of,
    cut,
    visible,
)

TERMINAL = 80
"""Number of columns of a terminal of unknown width."""

_P_VALUES = {"p_value", "p_holm"}
_NEVER_ROUNDED = {"unit", "rater", "value"}

_SHOWN = 20
"""Rows that a notebook shows."""

_ACROSS = 8
"""Columns of a single row that fit the width of a notebook."""


_Plain: TypeAlias = Literal["name", "text", "count", "number", "signed", "p", "share", "amount"]
Kind: TypeAlias = Literal[_Plain, "yes", "interval", "half_width", "estimate", "change"]
"""Format of a cell. A name is text from a user, and is cut; a text is from setagree, in a report
perhaps a sentence with names in it. An estimate and a change (signed) have their interval."""

Cells: TypeAlias = "pd.DataFrame | Mapping[str, Sequence[Any]]"
"""A frame, or the cells of its columns by name."""


@dataclass(frozen=True)
class Column:
    """A column of the table that a result prints or a report shows.

    Attributes
    ----------
    source : str, or tuple of str
        The column of `to_frame`, or the two with the ends of an interval, or the three with an
        estimate and its interval.
    kind : str
        How its cells are printed.
    head : str
        Its heading. Default: the name of the source; of an interval, its level.
    meaning : str
        What it is, for the note below the table.
    is_part : bool
        Whether its cells are parts of one whole, which a page shows with bars.
    is_optional : bool
        Whether some frames lack it.
    is_extra : bool
        Whether LaTeX, whose pages have room for about eight columns, leaves it out.
    longest : int
        Width at which a name is cut, in columns of a terminal.
    """

    source: str | tuple[str, ...]
    kind: Kind = "number"
    head: str = ""
    meaning: str = ""
    is_part: bool = False
    is_optional: bool = False
    is_extra: bool = False
    longest: int = LONGEST

    @property
    def is_number(self) -> bool:
        """Whether its cells are right-aligned."""
        return self.kind not in {"name", "text"}

    @property
    def first(self) -> str:
        """The column of `to_frame`, or the first of two."""
        return self.source if isinstance(self.source, str) else self.source[0]

    def heading(self, level: float = 0.95) -> str:
        """Return the heading in a table of intervals of a level."""
        if self.kind in {"interval", "half_width"} and not self.head:
            return f"{level_text(level)} interval"
        return self.head or self.first.replace("_", " ")

    def note(self, level: float = 0.95) -> str:
        """Return a sentence on the meaning of the column, blank if it has none."""
        return f"{self.heading(level)}: {self.meaning}." if self.meaning else ""

    def is_in(self, frame: pd.DataFrame) -> bool:
        """Return whether a frame has a cell of the column that is not missing."""
        return self.first in frame and bool(frame[self.first].notna().any())

    def values(self, frame: Cells) -> list[Any]:
        """Return the cells of the column, a tuple each if it has several sources."""
        if isinstance(self.source, tuple):
            return [*zip(*(frame[name] for name in self.source), strict=True)]
        return [*frame[self.source]]

    def cells(self, frame: Cells) -> list[str]:
        """Return the cells of the column as text."""
        texts = ["-" if is_nothing(x) else _FORMATS[self.kind][0](x) for x in self.values(frame)]
        return [cut(text, self.longest) for text in texts] if self.kind == "name" else texts

    def sentence(self, value: Any) -> Sentence:
        """Return a cell of a report without its interval, as pieces of a sentence."""
        if not self.is_number and is_nothing(value):
            return (DASH,)
        if self.kind == "name":
            return (Name.of(value),)
        if self.kind == "text":
            return value if isinstance(value, tuple) else (value,)
        return (_FORMATS[self.kind][1](value[0] if self.kind in _TRIPLES else value),)

    def interval(self, value: Any) -> str:
        """Return the interval of a cell of a report, blank if it has none."""
        return interval(*value[1:]) if self.kind in _TRIPLES and np.isfinite(value[1]) else ""

    def text(self, value: Any, in_words: Callable[[Sentence], str]) -> str:
        """Return a cell of a report with its interval."""
        ends = self.interval(value)
        return in_words(self.sentence(value)) + (f" ({ends})" if ends else "")

    def sort_key(self, value: Any) -> str:
        """Return the text of the number that a cell of a report is sorted by, blank if none."""
        x = value[0] if self.kind in _TRIPLES else value
        return repr(float(x)) if self.is_number and not is_nothing(x) else ""


_FORMATS: dict[str, tuple[Callable[[Any], str], Callable[[Any], str]]] = {
    "name": (
        lambda x: visible(display_labels(x) if isinstance(x, frozenset) else str(x)),
        str,
    ),
    "text": (lambda x: visible(str(x)), str),
    "count": (partial(count, plain=True), count),
    "number": (four, number),
    "signed": (four, partial(number, signed=True)),
    "estimate": (four, number),
    "change": (four, partial(number, signed=True)),
    "p": (p_four, p_value),
    "share": (lambda x: f"{number(100 * x, digits=1, plain=True)}%", share),
    "amount": (lambda x: f"{x:,.10g}", str),
    "half_width": (lambda x: f"± {four(x)}", number),
    "yes": (lambda x: "yes" if x else "no", lambda x: "yes" if x else "no"),
    "interval": (lambda ends: four_interval(*ends), lambda ends: interval(*ends)),
}
"""The text of a cell of each kind: on a terminal, and in a report."""

_TRIPLES = {"estimate", "change"}
"""Kinds whose cells are a number and the ends of its interval."""


_WITH_INTERVAL: dict[Kind, Kind] = {"number": "estimate", "signed": "change"}
"""The kind of a number with its interval in the same cell."""


def with_intervals(columns: Iterable[Column]) -> list[Column]:
    """Return columns in which a number and the interval that follows it are one cell."""
    joined: list[Column] = []
    for column in columns:
        last = joined[-1] if joined else column
        if column.kind == "interval" and (kind := _WITH_INTERVAL.get(last.kind)):
            joined[-1] = replace(last, source=(last.first, *column.source), kind=kind)
        else:
            joined.append(column)
    return joined


def columns_for(frame: pd.DataFrame) -> list[Column]:
    """Return columns for all that a frame has, printed by what is in them."""
    kinds = pd.api.types

    def kind(name: str) -> Kind:
        if name in _P_VALUES:
            return "p"
        if kinds.is_bool_dtype(frame[name]):
            return "yes"
        if kinds.is_integer_dtype(frame[name]):
            return "count"
        return "number" if kinds.is_float_dtype(frame[name]) else "name"

    return [Column(str(name), kind(str(name)), str(name)) for name in frame]


@dataclass(frozen=True)
class TextTable:
    """Cells of a table as text, by the heading of their column; `left` are the columns of text."""

    cells: Mapping[str, Sequence[str]]
    left: Collection[str]

    @classmethod
    def of(cls, frame: Cells, columns: Iterable[Column], level: float) -> TextTable:
        """Return the columns that a frame has."""
        kept = {each.heading(level): each for each in columns if each.first in frame}
        left = {head for head, each in kept.items() if not each.is_number}
        return cls({head: each.cells(frame) for head, each in kept.items()}, left)

    def has(self, head: str) -> bool:
        """Return whether a column has a cell that is not a dash."""
        return any(cell != "-" for cell in self.cells[head])

    def __str__(self) -> str:
        columns = [[head, *cells] for head, cells in self.cells.items()]
        left = [head in self.left for head in self.cells]
        return "\n".join(aligned(columns, left=left, terminal=terminal_width()))

    def to_html(self) -> str:
        """Return the table of a notebook."""
        return html_table(pd.DataFrame(self.cells, dtype=object), left=self.left)

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        left = [head in self.left for head in self.cells]
        columns = [
            map(as_markdown, cells) if is_text else cells
            for is_text, cells in zip(left, self.cells.values(), strict=True)
        ]
        lines = markdown_table(self.cells, zip(*columns, strict=True), left=left)
        return "".join(f"{line}\n" for line in lines)

    def to_latex(self) -> str:
        """Return the table in LaTeX, with the rules of the package booktabs."""
        sides = "".join("l" if head in self.left else "r" for head in self.cells)
        rows = [" & ".join(map(_as_latex, row)) for row in zip(*self.cells.values(), strict=True)]
        lines = [
            f"\\begin{{tabular}}{{{sides}}}",
            "\\toprule",
            f"{' & '.join(map(_as_latex, self.cells))} \\\\",
            "\\midrule",
            # After the end of a row, these would begin an argument of it.
            *(f"{'{}' * row.startswith(('[', '*'))}{row} \\\\" for row in rows),
            "\\bottomrule",
            "\\end{tabular}",
        ]
        return "".join(f"{line}\n" for line in lines)


_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "±": r"$\pm$",
    }
)


def _as_latex(text: str) -> str:
    """Return text in which no character has a meaning to LaTeX, with minus signs in numbers."""
    return re.sub(r"(?<![\w-])-(?=\d)", "$-$", text.translate(_LATEX))


def terminal_width(most: int = TERMINAL) -> int:
    """Return the width of the terminal that stdout is, from 40 to `most`; otherwise 80."""
    is_terminal = sys.stdout and sys.stdout.isatty()
    return min(max(get_terminal_size().columns, 40), most) if is_terminal else TERMINAL


def aligned(
    columns: Iterable[Sequence[str]], *, left: Sequence[bool], terminal: int = TERMINAL
) -> list[str]:
    """Return columns of cells, their heads first, as lines: some to the left, others to the right.

    Columns are separated by two spaces if that fits the terminal, otherwise by one. What does not
    fit a terminal of less than 80 columns follows below, with the columns that name the rows.
    """
    columns = list(columns)
    widths = [max(map(columns_of, column)) for column in columns]
    ends = np.cumsum(widths) + np.arange(len(widths))
    n = max(int(np.searchsorted(ends, terminal, side="right")), 2)
    if terminal < TERMINAL and n < len(columns):
        k = max([*left[: n - 1], False].index(False), 1)  # columns of text that name the rows
        lines = aligned(columns[:n], left=left[:n], terminal=terminal)
        rest, sides = columns[:k] + columns[n:], [*left[:k], *left[n:]]
        return [*lines, "", *aligned(rest, left=sides, terminal=terminal)]
    gutter = "  " if sum(widths) + 2 * (len(widths) - 1) <= terminal else " "
    padded = []
    for column, width, is_left in zip(columns, widths, left, strict=True):
        gaps = [" " * (width - columns_of(cell)) for cell in column]
        pairs = zip(column, gaps, strict=True)
        padded.append([cell + gap if is_left else gap + cell for cell, gap in pairs])
    return [gutter.join(cells).rstrip() for cells in zip(*padded, strict=True)]


def markdown_table(
    heads: Iterable[str], rows: Iterable[Iterable[str]], *, left: Iterable[bool]
) -> list[str]:
    """Return the lines of a Markdown table of cells that are Markdown already."""
    rules = [":---" if is_left else "---:" for is_left in left]
    return [f"| {' | '.join(cells)} |" for cells in (heads, rules, *rows)]


def markdown_text(frame: pd.DataFrame, columns: Iterable[Column] = ()) -> str:
    """Return a frame as a Markdown table: results with four decimals, answers and names in full.

    A column named as one of answers is rounded if it is declared a number.
    """
    numbers = {column.source for column in columns if column.kind == "number"}
    names = ["" if name in numbers else str(name) for name in frame]
    rows = (
        [_cell(x, name, as_markdown) for x, name in zip(row, names, strict=True)]
        for row in frame.to_numpy()
    )
    left = [not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
    return "".join(f"{line}\n" for line in markdown_table(map(str, frame), rows, left=left))


def _cell(value: Any, column: str, escaped: Callable[[str], str]) -> str:
    """Return a number as table text, a dash if it is missing, and other values escaped."""
    # Of an answer or a name that is a number all digits count: rounded, two of them could be one.
    if column in _NEVER_ROUNDED and isinstance(value, float) and not is_nothing(value):
        return str(value)
    if is_nothing(value) or isinstance(value, float):
        return p_four(value) if column in _P_VALUES else four(value)
    return escaped(str(value))


def html_table(frame: pd.DataFrame, *, left: Collection[str] | None = None) -> str:
    """Return a frame as a table of a notebook: rounded as in Markdown, of many rows the ends.

    A single row with many columns is transposed. Columns of text, or those in `left`, are
    left-aligned.
    """
    names = [str(name) for name in frame]
    rows = [*frame.head(_SHOWN // 2).to_numpy(dtype=object)]
    if len(frame) > _SHOWN:
        rows.append(np.full(len(names), "…", dtype=object))
    rows += [*frame.iloc[len(rows) :].tail(_SHOWN // 2).to_numpy(dtype=object)]
    cells = [[_cell(x, name, _as_html) for x, name in zip(row, names, strict=True)] for row in rows]
    heads = [_as_html(name) for name in names]
    if left is None:
        numeric = map(pd.api.types.is_numeric_dtype, frame.dtypes)
        sides = ["right" if is_numeric else "left" for is_numeric in numeric]
    else:
        sides = ["left" if name in left else "right" for name in names]
    if len(cells) == 1 and len(names) > _ACROSS:
        cells, heads = [*map(list, zip(heads, cells[0], strict=True))], []
        sides = ["left", "right"]

    def line(tag: str, row: Sequence[str]) -> str:
        pairs = zip(row, sides, strict=True)
        whole = "; white-space: nowrap" if tag == "td" else ""
        styles = {"left": "text-align: left", "right": f"text-align: right{whole}"}
        return "".join(f'<{tag} style="{styles[side]}">{c}</{tag}>' for c, side in pairs)

    head = f"<thead><tr>{line('th', heads)}</tr></thead>" if heads else ""
    body = "".join(f"<tr>{line('td', row)}</tr>\n" for row in cells)
    return f"<table>{head}\n<tbody>\n{body}</tbody></table>"


def _as_html(text: str) -> str:
    return html.escape(visible(text))


def latex_text(
    frame: pd.DataFrame, columns: Iterable[Column] | None = None, level: float = 0.95
) -> str:
    """Return columns of a frame (default: all) in LaTeX, without those that are extra."""
    columns = columns_for(frame) if columns is None else columns
    return TextTable.of(frame, [x for x in columns if not x.is_extra], level).to_latex()


def json_text(frame: pd.DataFrame) -> str:
    """Return a frame as a list of objects, null for what is not a finite number."""
    rows = frame.astype(object).to_dict("records")
    plain = [{str(name): _json_value(value) for name, value in row.items()} for row in rows]
    return json.dumps(plain, indent=2, allow_nan=False, default=str) + "\n"


def _json_value(value: Any) -> Any:
    """Return a JSON value: null for a number that is not finite, also inside a list."""
    if isinstance(value, Degrees):
        return {str(label): value.degrees[label] for label in sorted_labels(value)}
    if isinstance(value, frozenset):
        return sorted_labels(value)
    if isinstance(value, list | tuple):
        return [_json_value(each) for each in value]
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, Decimal | Fraction):
        return str(value)  # as a number JSON would be read as a float, and rounded
    no_number = isinstance(value, float) and not math.isfinite(value)
    return None if no_number or value is pd.NA or value is pd.NaT else value


def csv_text(frame: pd.DataFrame) -> str:
    """Return a frame as comma-separated values, without rounding or changed characters."""
    text = frame.to_csv(index=False, lineterminator="\n")
    if "\r" not in text:
        return text
    # Without quotes, some readers would end the row there.
    return frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
