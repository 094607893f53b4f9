"""Tables as text: aligned lines for a terminal, Markdown, comma-separated values."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from setagree.wording.escaping import as_markdown
from setagree.wording.numbers import four, is_nothing, p_four
from setagree.wording.text import columns_of

TERMINAL = 80
"""Columns of a terminal, where nobody knows how many it has."""

_P_VALUES = {"p_value", "analytic_p_value", "p_holm"}
_NEVER_ROUNDED = {"unit", "rater", "value"}


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
    # Of an answer or a name that is a number all digits count: rounded, two of them could be one.
    if column in _NEVER_ROUNDED and isinstance(value, float) and not is_nothing(value):
        return str(value)
    if is_nothing(value) or isinstance(value, float):
        return p_four(value) if column in _P_VALUES else four(value)
    return as_markdown(str(value))


def csv_text(frame: pd.DataFrame) -> str:
    """Return a frame as comma-separated values, nothing rounded and every character as it is."""
    text = frame.to_csv(index=False, lineterminator="\n")
    if "\r" not in text:
        return text
    # It would stand without quotes, and end a row for those who read it.
    return frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
