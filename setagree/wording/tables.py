"""Tables as text: aligned lines for a terminal, Markdown, HTML, JSON, comma-separated values."""

from __future__ import annotations

import csv
import html
import json
import math
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from setagree.wording.label_sets import Degrees, sorted_labels
from setagree.wording.number_format import four, is_nothing, p_four
from setagree.wording.sentences import as_markdown, columns_of, visible

TERMINAL = 80
"""Columns of a terminal, where nobody knows how many it has."""

_P_VALUES = {"p_value", "analytic_p_value", "p_holm"}
_NEVER_ROUNDED = {"unit", "rater", "value"}

_SHOWN = 20
"""Rows that a notebook shows."""

_ACROSS = 8
"""Columns of a single row that fit the width of a notebook."""


def aligned(
    columns: Iterable[Sequence[str]], *, left: Sequence[bool], terminal: int = TERMINAL
) -> list[str]:
    """Return columns of cells, their heads first, as lines: some to the left, others to the right.

    Two spaces stand between columns where that fits the terminal, else one.
    """
    columns = list(columns)
    widths = [max(map(columns_of, column)) for column in columns]
    gutter = "  " if sum(widths) + 2 * (len(widths) - 1) <= terminal else " "
    padded = [
        [_padded(cell, width, left=is_left) for cell in column]
        for column, width, is_left in zip(columns, widths, left, strict=True)
    ]
    return [gutter.join(cells).rstrip() for cells in zip(*padded, strict=True)]


def _padded(cell: str, width: int, *, left: bool) -> str:
    gap = " " * (width - columns_of(cell))
    return cell + gap if left else gap + cell


def markdown_table(
    heads: Iterable[str], rows: Iterable[Iterable[str]], *, left: Iterable[bool]
) -> list[str]:
    """Return the lines of a Markdown table of cells that are Markdown already."""
    rules = [":---" if is_left else "---:" for is_left in left]
    return [f"| {' | '.join(cells)} |" for cells in (heads, rules, *rows)]


def markdown_text(frame: pd.DataFrame) -> str:
    """Return a frame as a Markdown table: results with four decimals, answers and names in full."""
    rows = (
        [_markdown_cell(value, str(name)) for value, name in zip(row, frame, strict=True)]
        for row in frame.to_numpy()
    )
    left = [not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
    return "".join(f"{line}\n" for line in markdown_table(map(str, frame), rows, left=left))


def _markdown_cell(value: Any, column: str) -> str:
    text = _number_text(value, column)
    return as_markdown(str(value)) if text is None else text


def _number_text(value: Any, column: str) -> str | None:
    """Return a number as tables have it, a dash where there is none; None of what is no number."""
    # Of an answer or a name that is a number all digits count: rounded, two of them could be one.
    if column in _NEVER_ROUNDED and isinstance(value, float) and not is_nothing(value):
        return str(value)
    if is_nothing(value) or isinstance(value, float):
        return p_four(value) if column in _P_VALUES else four(value)
    return None


def html_table(frame: pd.DataFrame, *, left: Collection[str] | None = None) -> str:
    """Return a frame as a table of a notebook: rounded as in Markdown, of many rows the ends.

    A single row with many columns stands upright. Columns of text stand to the left, or `left`.

    Examples
    --------
    >>> html_table(pd.DataFrame({"label": ["<b>"], "alpha": [0.25]})).count("<td")
    2
    """
    names = [str(name) for name in frame]
    rows = [*frame.head(_SHOWN // 2).to_numpy(dtype=object)]
    if len(frame) > _SHOWN:
        rows.append(np.full(len(names), "…", dtype=object))
    rows += [*frame.iloc[len(rows) :].tail(_SHOWN // 2).to_numpy(dtype=object)]
    cells = [[_html_text(x, name) for x, name in zip(row, names, strict=True)] for row in rows]
    if len(cells) == 1 and len(names) > _ACROSS:
        pairs = zip(map(_html_text, names, names), cells[0], strict=True)
        return _html_lines(None, pairs, [True, False])
    if left is None:
        numeric = map(pd.api.types.is_numeric_dtype, frame.dtypes)
        return _html_lines(names, cells, [not is_numeric for is_numeric in numeric])
    return _html_lines(names, cells, [name in left for name in names])


def _html_text(value: Any, column: str) -> str:
    text = _number_text(value, column)
    return html.escape(visible(str(value)) if text is None else text)


def _html_lines(
    heads: Sequence[str] | None, rows: Iterable[Iterable[str]], left: Sequence[bool]
) -> str:
    """Return the table of cells that are HTML already."""
    sides = ["left" if is_left else "right" for is_left in left]

    def line(tag: str, cells: Iterable[str]) -> str:
        pairs = zip(cells, sides, strict=True)
        return "".join(f'<{tag} style="text-align: {side}">{c}</{tag}>' for c, side in pairs)

    named = [] if heads is None else [html.escape(visible(head)) for head in heads]
    head = f"<thead><tr>{line('th', named)}</tr></thead>" if named else ""
    body = "".join(f"<tr>{line('td', row)}</tr>\n" for row in rows)
    return f"<table>{head}\n<tbody>\n{body}</tbody></table>"


def json_text(frame: pd.DataFrame) -> str:
    """Return a frame as a list of objects, null for what is not a finite number.

    Examples
    --------
    >>> print(json_text(pd.DataFrame({"unit": ["u1"], "alpha": [float("nan")]})), end="")
    [
      {
        "unit": "u1",
        "alpha": null
      }
    ]
    """
    rows = frame.astype(object).to_dict("records")
    plain = [{str(name): _json_value(value) for name, value in row.items()} for row in rows]
    return json.dumps(plain, indent=2, allow_nan=False, default=str) + "\n"


def _json_value(value: Any) -> Any:
    """Return what JSON can say: null for what is not a finite number, also inside a list."""
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
    """Return a frame as comma-separated values, nothing rounded and every character as it is."""
    text = frame.to_csv(index=False, lineterminator="\n")
    if "\r" not in text:
        return text
    # It would stand without quotes, and end a row for those who read it.
    return frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
