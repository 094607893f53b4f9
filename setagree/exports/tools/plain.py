"""Reader of plain tables with one row per label."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from setagree.errors import DataError, option, python_or_command
from setagree.exports.blank_answers import Found, settle
from setagree.exports.format import Answers, Request
from setagree.exports.table_exports import Sheet
from setagree.study.columns import guess_columns


def read_rows(path: Path, request: Request) -> Answers:
    """Return the answers in one row per label of an annotation."""
    sheet = Sheet.open(path, request)
    columns = guess_columns(sheet.columns, labels=request.question)
    if columns.labels is None:
        way = python_or_command("from_long(value=...)", "--tool table --value COLUMN")
        raise DataError(
            f"{sheet.name}: column {columns.value!r} has single values, not label sets; read it "
            f"with {way}, or use {option('question', '...')} if its values are labels."
        )
    names = (columns.unit, columns.rater, columns.labels)
    units, raters, labels = (sheet.cells(str(name)).tolist() for name in names)
    row_of: dict[tuple[str, str], dict[str, int]] = {}
    for row, (unit, rater, label) in enumerate(zip(units, raters, labels, strict=True)):
        rows = row_of.setdefault((unit, rater), {})
        if rows.setdefault(label, row) != row:
            raise DataError(
                f"{sheet.name}: {sheet.places[row]} repeats {sheet.places[rows[label]]}; remove "
                "repeated rows, such as those of a file that was appended twice."
            )
    found = Found(
        sheet.name,
        [unit or None for unit, _ in row_of],
        [rater or None for _, rater in row_of],
        [frozenset(rows) - {""} for rows in row_of.values()],
        [sheet.places[min(rows.values())] for rows in row_of.values()],
        np.zeros(len(row_of), dtype=bool),
    )
    why = "One row per label cannot express the empty set: a rater without a label has no row."
    return settle(found, request, why=why, writes_empty=False)
