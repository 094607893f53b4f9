"""Readers of plain tables: long, wide, one column per label, one row per label."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from pathlib import Path

import numpy as np

from setagree.checks import Flags
from setagree.errors import DataError, option, python_or_command
from setagree.exports.blank_answers import Found, read_roster, settle, text_pairs
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.table_exports import Sheet, drop, flag_sets, usual_column
from setagree.study.answer_warnings import warn_brackets, warn_markers, warn_separator
from setagree.study.assembly import warn_blanks
from setagree.study.columns import Columns, guess_columns
from setagree.study.labels import LabelSyntax, read_cell
from setagree.study.layouts import from_wide
from setagree.wording.label_sets import LabelSet

_SEVERAL = re.compile(r"[,;|\n\[]")
_MARKER = re.compile(r"#?n/?a|<na>|nan|null", re.IGNORECASE)


# ---- Detection -----------------------------------------------------------------------------------


def is_rows(peek: Peek) -> bool:
    """Return whether a long table may have one row per label.

    Its pairs of unit and rater have several rows, each with another label. The rows of a pair may
    also be several answers.
    """
    names = [name.strip() for name in peek.header]
    places = [names.index(name) for name in peek.roles.values()]
    rows = [tuple(row[k] for k in places) for row in peek.rows]
    pairs = {(unit, rater) for unit, rater, _ in rows}
    has_lists = any(_SEVERAL.search(answer) for _, _, answer in rows)
    return not has_lists and len(pairs) < len(rows) == len({*rows})


def is_flags(peek: Peek) -> bool:
    """Return whether a table has one column of 0 and 1 per label, with units and raters."""
    ids = {*peek.roles.values()}
    places = [k for k, name in enumerate(peek.header) if name.strip() not in ids]
    rows = peek.rows
    return bool(places) and all(row[k].strip() in {"0", "1", ""} for row in rows for k in places)


def is_wide(peek: Peek) -> bool:
    """Return whether a table of units has one column per rater.

    In a wide table, none of the first columns has a usual name for answers.
    """
    first = [name.strip() for name in peek.header[:50]]
    return len(peek.header) > 2 and not any(map(_is_answer, first))


def _is_answer(name: str) -> bool:
    try:
        guess_columns([name, "\0unit", "\0rater"], unit="\0unit", rater="\0rater")
    except DataError:
        return False
    return True


# ---- Reading ------------------------------------------------------------------------------------


def read_long(path: Path, request: Request) -> Answers:
    """Return the answers in one row per annotation, as in `from_long`."""
    sheet = Sheet.open(path, request)
    columns = _long_columns(sheet, request)
    name = str(columns.labels)
    labels = _parsed(sheet, [name], request)
    unclear, null = _blank(labels), sheet.is_null(name)
    if (unclear & ~null).any():  # with blank text, a null is missing, as in `from_long`
        unclear &= ~null
    units, raters = sheet.ids(columns.unit, "unit"), sheet.ids(columns.rater, "rater")
    found = sheet.found(units, raters, labels, unclear)
    return _settled(found, request)


def _long_columns(sheet: Sheet, request: Request) -> Columns:
    columns = guess_columns(sheet.columns, labels=request.question)
    if columns.labels is None:
        way = python_or_command("from_long(value=...)", "--tool table --value COLUMN")
        raise DataError(
            f"{sheet.name}: column {columns.value!r} has single values, not label sets; read it "
            f"with {way}, or use {option('question', '...')} if its values are labels."
        )
    return columns


def read_wide(path: Path, request: Request) -> Answers:
    """Return the answers in one row per unit and one column per rater, as in `from_wide`."""
    sheet = Sheet.open(path, request)
    unit = usual_column("unit", sheet.columns, sheet.name)
    raters = [name for name in sheet.columns if name != unit]
    from_wide(sheet.frame, unit, None)  # raises an error for columns that are not raters
    labels = _parsed(sheet, raters, request)
    units = sheet.ids(unit, "unit") * len(raters)
    rater_of: list[Hashable] = [rater for rater in raters for _ in range(len(sheet.frame))]
    # As in `from_wide`, a null is missing for any `blank`.
    unclear = _blank(labels) & ~np.concatenate([sheet.is_null(name) for name in raters])
    if (roster := read_roster(request)) is not None:
        # Only a roster distinguishes a missing annotation from a label NA.
        cells = [sheet.cells(name).str.fullmatch(_MARKER) for name in raters]
        pairs = text_pairs(units, rater_of)
        unlisted = np.array([pair not in roster for pair in pairs], dtype=bool)
        labels = drop(labels, np.concatenate(cells).astype(bool) & unlisted)
    places = [f"{place}, column {rater!r}" for rater in raters for place in sheet.places]
    return _settled(Found(sheet.name, units, rater_of, labels, places, unclear), request)


def _parsed(sheet: Sheet, columns: Sequence[str], request: Request) -> list[LabelSet | None]:
    """Return the label sets of columns one after another, and warn of unusual cells."""
    label_sep = request.sep_or(",")
    syntax = LabelSyntax(label_sep=label_sep)
    cells = np.concatenate([sheet.cells(name).to_numpy(dtype=object) for name in columns])
    distinct, codes = np.unique(cells.astype(str), return_inverse=True)
    warn_separator(distinct.tolist(), label_sep)
    warn_brackets(distinct.tolist(), label_sep)
    if request.roster is None:
        cased = str.lower if request.case == "lower" else str
        missing = {cased(str(value).strip()) for value in request.na_values or ()}
        answers = ["" if cased(cell.strip()) in missing else cell for cell in distinct.tolist()]
        warn_markers(codes, answers)
    return [
        labels
        for name in columns
        for labels in sheet.parse(name, lambda cell: read_cell(cell, syntax))
    ]


def _blank(labels: Sequence[LabelSet | None]) -> Flags:
    return np.array([label_set is None for label_set in labels], dtype=bool)


def _settled(found: Found, request: Request) -> Answers:
    if request.blank is None and request.roster is None:
        warn_blanks(int(np.count_nonzero(found.unclear)))
    return settle(found, request, why="", default="missing")


def read_flags(path: Path, request: Request) -> Answers:
    """Return the answers in one row per annotation and one column of 0 and 1 per label."""
    sheet = Sheet.open(path, request)
    unit, rater = (usual_column(role, sheet.columns, sheet.name) for role in ("unit", "rater"))
    labels, blank = flag_sets(sheet, {n: n for n in sheet.columns if n not in {unit, rater}})
    found = sheet.found(sheet.ids(unit, "unit"), sheet.ids(rater, "rater"), labels, blank)
    return settle(found, request, why="All labels are blank.", default="missing")


def read_rows(path: Path, request: Request) -> Answers:
    """Return the answers in one row per label of an annotation."""
    sheet = Sheet.open(path, request)
    columns = _long_columns(sheet, request)
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
