"""Google Forms: responses to a checkbox grid, or to a form about one unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from setagree.errors import DataError, listing, option
from setagree.exports.blank_answers import settle
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.table_exports import (
    Sheet,
    cell_splitter,
    from_columns,
    pick_question,
    split_column,
    usual_column,
    warn_columns,
)
from setagree.study.columns import plain_name

_GRID = re.compile(r"(.*\S)\s*\[(.+)\]", re.DOTALL)
# As in "2026/03/01 10:01:00 am GMT+1": a download has the time zone, a linked sheet does not.
_DOWNLOADED = re.compile(
    r'^"?\d{4}/\d\d?/\d\d? \d\d?:\d\d:\d\d\b[^,;"\n]{0,12}?\b[A-Z]{3,5}\b', re.MULTILINE
)
_SEMICOLON = re.compile(r"[^\s;];[^\s;]")
_EMAIL = ("email", "username")


def is_download(peek: Peek) -> bool:
    """Return whether responses were downloaded, by their time zone or their semicolons."""
    cells = [cell for row in peek.rows for cell in row[1:]]
    semicolons = sum(_SEMICOLON.search(cell) is not None for cell in cells)
    has_semicolons = semicolons > sum(", " in cell for cell in cells)
    return _DOWNLOADED.search(peek.head) is not None or has_semicolons


def is_sheet(peek: Peek) -> bool:
    """Return whether responses are from the linked sheet, because they were not downloaded."""
    return not is_download(peek)


def read(path: Path, request: Request, usual_sep: str) -> Answers:
    """Return the responses to a checkbox grid (one row per rater), or to a form about one unit."""
    sheet = Sheet.open(path, request)
    label_sep = request.sep_or(usual_sep)
    rater = _form_rater(sheet)
    grid = {name: match for name in sheet.columns if (match := _GRID.fullmatch(name))}
    if grid:
        questions = list(dict.fromkeys(match[1] for match in grid.values()))
        question = pick_question(request.question, questions, sheet.name)
        units = {name: match[2] for name, match in grid.items() if match[1] == question}
        split = cell_splitter(label_sep)
        warn_columns(sheet, units, label_sep)
        found = from_columns(
            sheet, sheet.ids(rater), units, lambda c: (sheet.parse(c, split), sheet.blank(c))
        )
    else:
        names = [name for name in sheet.columns[1:] if name != rater]
        unit = _form_unit(sheet, rater, names)
        questions = [name for name in names if name != unit]
        question = pick_question(request.question, questions, sheet.name)
        labels = split_column(sheet, question, label_sep)
        found = sheet.found(sheet.ids(unit), sheet.ids(rater), labels, sheet.blank(question))
    why = "Google Forms does not distinguish a question without a tick from a skipped one."
    return settle(found, request, why=why)


def _form_unit(sheet: Sheet, rater: str, names: Sequence[str]) -> str:
    try:
        return usual_column("unit", names, f"{sheet.name} has no checkbox grid ('Question [row]')")
    except DataError:
        raters, table = sheet.cells(rater), option("tool", "table")
        one_row_each = 2 * raters.nunique() > len(raters)
        raise DataError(
            f"{sheet.name} has no checkbox grid ('Question [row]') and no column with a usual name "
            f"for the unit; the columns are {listing(names, limit=3)}. Read it as a table: if each "
            f"row is a rater and each column a unit, use {table} and "
            f"{option('raters_in_rows', value=True)}; if each row is one answer, use {table}, "
            f"{option('unit', '...')}, {option('rater', rater)} and {option('labels', '...')}."
        ).having(remedy={"tool": "table", "raters_in_rows": True} if one_row_each else {}) from None


def _form_rater(sheet: Sheet) -> str:
    emails = [name for name in sheet.columns if plain_name(name).startswith(_EMAIL)]
    if len(emails) == 1:
        return emails[0]
    try:
        return usual_column("rater", sheet.columns, sheet.name)
    except DataError as error:
        hint = "Let the form collect email addresses, or add a question for the name."
        raise DataError(f"{error} {hint}") from None
