"""Google Forms: responses to a checkbox grid, or to one unit at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from setagree.errors import DataError, listing
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.sheets import (
    Sheet,
    of_columns,
    pick_question,
    plain,
    split_column,
    splitter,
    usual_column,
    warn_columns,
)
from setagree.exports.unclear import Found, settle

_GRID = re.compile(r"(.*\S)\s*\[(.+)\]", re.DOTALL)
# As in "2026/03/01 10:01:00 am GMT+1": the download names the time zone, a sheet does not.
_DOWNLOADED = re.compile(
    r'^"?\d{4}/\d\d?/\d\d? \d\d?:\d\d:\d\d\b[^,;"\n]{0,12}?\b[A-Z]{3,5}\b', re.MULTILINE
)
_SEMICOLON = re.compile(r"[^\s;];[^\s;]")
_EMAIL = ("email", "username")


def is_download(peek: Peek) -> bool:
    """Return whether responses were downloaded: by their time zone, else by their semicolons."""
    return _DOWNLOADED.search(peek.head) is not None or _has_semicolons(peek)


def is_sheet(peek: Peek) -> bool:
    """Return whether responses come from the linked sheet, which is where else they come from."""
    return not is_download(peek)


def _has_semicolons(peek: Peek) -> bool:
    """Return whether more cells have the semicolon of the download than the comma of the sheet."""
    cells = [cell for row in peek.rows for cell in row[1:]]
    semicolons = sum(_SEMICOLON.search(cell) is not None for cell in cells)
    return semicolons > sum(", " in cell for cell in cells)


def read(path: Path, request: Request, usual_sep: str) -> Answers:
    """Read the responses to a checkbox grid (one row per rater), or to one unit at a time."""
    sheet = Sheet.open(path, request)
    label_sep = request.sep_or(usual_sep)
    rater = _form_rater(sheet)
    grid = {name: match for name in sheet.columns if (match := _GRID.fullmatch(name))}
    if grid:
        known = list(dict.fromkeys(match[1] for match in grid.values()))
        question = pick_question(request.question, known, sheet.name)
        rows = {name: match[2] for name, match in grid.items() if match[1] == question}
        found = _form_of_grid(sheet, rater, rows, label_sep)
    else:
        found = _form_of_units(sheet, request, rater, label_sep)
    why = "Google Forms leaves a question without a tick and one that was passed over alike blank."
    return settle(found, request, why=why)


def _form_of_grid(sheet: Sheet, rater: str, rows: Mapping[str, str], label_sep: str) -> Found:
    """Return the responses to a grid, whose rows are units."""
    split = splitter(label_sep)
    warn_columns(sheet, rows, label_sep)
    raters = sheet.ids(rater)
    return of_columns(sheet, raters, rows, lambda c: (sheet.parse(c, split), sheet.blank(c)))


def _form_of_units(sheet: Sheet, request: Request, rater: str, label_sep: str) -> Found:
    """Return the responses of a form that was filled in once for each unit."""
    rest = [name for name in sheet.columns[1:] if name != rater]
    unit = _form_unit(sheet, rater, rest)
    questions = [name for name in rest if name != unit]
    question = pick_question(request.question, questions, sheet.name)
    answers = split_column(sheet, question, label_sep)
    return sheet.found(sheet.ids(unit), sheet.ids(rater), answers, sheet.blank(question))


def _form_unit(sheet: Sheet, rater: str, names: Sequence[str]) -> str:
    try:
        return usual_column("unit", names, f"{sheet.name} has no checkbox grid ('Question [row]')")
    except DataError:
        raise DataError(
            f"{sheet.name} has no checkbox grid ('Question [row]') and no column with a usual name "
            f"for the unit; the columns are {listing(names, limit=3)}. Read it as a table: by "
            f"from_long where each row is one answer (on the command line --tool table --unit "
            f"COLUMN --rater {rater!r} --labels COLUMN); by from_wide(table.set_index({rater!r}).T)"
            " where each row is a person and each column a unit (--tool table --raters-in-rows)."
        ) from None


def _form_rater(sheet: Sheet) -> str:
    emails = [name for name in sheet.columns if plain(name).startswith(_EMAIL)]
    if len(emails) == 1:
        return emails[0]
    try:
        return usual_column("rater", sheet.columns, sheet.name)
    except DataError as error:
        hint = "Let the form collect email addresses, or ask for a name."
        raise DataError(f"{error} {hint}") from None
