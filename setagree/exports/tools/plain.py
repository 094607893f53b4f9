"""Readers of plain tables: long, wide, one column per label, one row per label."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.errors import DataError, option, python_or_command
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.sheets import Sheet, drop, flag_sets, usual_column
from setagree.exports.unclear import Flags, Found, listed_pairs, settle
from setagree.study.answer_warnings import warn_brackets, warn_markers, warn_separator
from setagree.study.assembly import warn_blanks
from setagree.study.columns import Columns, guess_columns
from setagree.study.labels import LabelSyntax, read_cell
from setagree.study.layouts import from_wide
from setagree.wording.label_sets import LabelSet

_SEVERAL = re.compile(r"[,;|\n\[]")
_MARKER = re.compile(r"#?n/?a|<na>|nan|null", re.IGNORECASE)


# ---- Recognising --------------------------------------------------------------------------------


def is_rows(peek: Peek) -> bool:
    """Return whether a long table may have one row per label.

    Several rows for a unit and a rater may be one answer or several: nothing here tells.
    """
    names = [name.strip() for name in peek.header]
    places = [names.index(name) for name in peek.roles.values()]
    return _row_a_label([[row[k] for k in places] for row in peek.rows])


def is_flags(peek: Peek) -> bool:
    """Return whether a table has one column of 0 and 1 a label, beside units and raters."""
    ids = {*peek.roles.values()}
    places = [k for k, name in enumerate(peek.header) if name.strip() not in ids]
    rows = peek.rows
    return bool(places) and all(row[k].strip() in {"0", "1", ""} for row in rows for k in places)


def is_wide(peek: Peek) -> bool:
    """Return whether a table of units has one column per rater.

    One of the first columns has a usual name for answers in no wide table.
    """
    first = [name.strip() for name in peek.header[:50]]
    return len(peek.header) > 2 and not any(map(_is_answer, first))


def _is_answer(name: str) -> bool:
    try:
        guess_columns([name, "\0unit", "\0rater"], unit="\0unit", rater="\0rater")
    except DataError:
        return False
    return True


def _row_a_label(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether pairs of unit and rater stand in several rows, each with another label."""
    if any(_SEVERAL.search(answer) for _, _, answer in rows):
        return False
    pairs = {(unit, rater) for unit, rater, _ in rows}
    return len(pairs) < len(rows) and len({tuple(row) for row in rows}) == len(rows)


# ---- Reading ------------------------------------------------------------------------------------


def read_long(path: Path, request: Request) -> Answers:
    """Read one row per annotation, as `from_long` does."""
    sheet = Sheet.open(path, request)
    columns = _long_columns(sheet, request)
    name = str(columns.labels)
    labels = _parsed(sheet, [name], request)
    unclear, null = _open(labels), sheet.is_null(name)
    if (unclear & ~null).any():  # beside blank text, a null is no annotation, as in `from_long`
        unclear &= ~null
    units, raters = sheet.ids(columns.unit, "unit"), sheet.ids(columns.rater, "rater")
    found = sheet.found(units, raters, labels, unclear)
    return _settled(found, request)


def _long_columns(sheet: Sheet, request: Request) -> Columns:
    columns = guess_columns(sheet.columns, labels=request.question)
    if columns.labels is None:
        way = python_or_command("from_long(value=...)", "--tool table --value COLUMN")
        raise DataError(
            f"{sheet.name}: column {columns.value!r} holds one value each, not label sets; read it "
            f"with {way}, or say {option('question', '...')} if its values are labels."
        )
    return columns


def read_wide(path: Path, request: Request) -> Answers:
    """Read one row per unit and one column per rater, as `from_wide` does."""
    sheet = Sheet.open(path, request)
    unit = usual_column("unit", sheet.columns, sheet.name)
    raters = [name for name in sheet.columns if name != unit]
    from_wide(sheet.frame, unit, None)  # refuses columns that look like no rater
    labels = _parsed(sheet, raters, request)
    units = sheet.ids(unit, "unit") * len(raters)
    who: list[Hashable] = [rater for rater in raters for _ in range(len(sheet.frame))]
    # Only a roster can tell a missing annotation from a label that is called NA.
    odd = _markers(sheet, raters) & ~listed_pairs(request, units, who)
    kept = drop(labels, odd)
    places = [f"{place}, column {rater!r}" for rater in raters for place in sheet.places]
    # As in `from_wide`, a null is no annotation, whatever a blank is.
    unclear = _open(labels) & ~np.concatenate([sheet.is_null(name) for name in raters])
    return _settled(Found(sheet.name, units, who, kept, places, unclear), request)


def _markers(sheet: Sheet, columns: Sequence[str]) -> Flags:
    cells = [sheet.cells(name).str.fullmatch(_MARKER).to_numpy(dtype=bool) for name in columns]
    return np.concatenate(cells)


def _parsed(sheet: Sheet, columns: Sequence[str], request: Request) -> list[LabelSet | None]:
    """Return the label sets of columns one after another, with the doubts about them."""
    label_sep = request.sep_or(",")
    syntax = LabelSyntax(label_sep=label_sep)
    cells = np.concatenate([sheet.cells(name).to_numpy(dtype=object) for name in columns])
    distinct, codes = np.unique(cells.astype(str), return_inverse=True)
    warn_separator(distinct.tolist(), label_sep)
    warn_brackets(distinct.tolist(), label_sep)
    if request.roster is None:
        cased = str.lower if request.case == "lower" else str
        said = {cased(str(one).strip()) for one in request.na_values or ()}
        open_ = ["" if cased(cell.strip()) in said else cell for cell in distinct.tolist()]
        warn_markers(codes, open_)
    return [
        labels
        for name in columns
        for labels in sheet.parse(name, lambda cell: read_cell(cell, syntax))
    ]


def _open(labels: Sequence[LabelSet | None]) -> Flags:
    return np.array([each is None for each in labels], dtype=bool)


def _settled(found: Found, request: Request) -> Answers:
    if request.blank is None and request.roster is None:
        warn_blanks(int(np.count_nonzero(found.unclear)))
    return settle(found, request, why="", default="missing")


def read_flags(path: Path, request: Request) -> Answers:
    """Read one row per annotation and one column of 0 and 1 for each label."""
    sheet = Sheet.open(path, request)
    unit, rater = (usual_column(role, sheet.columns, sheet.name) for role in ("unit", "rater"))
    labels, blank = flag_sets(sheet, {n: n for n in sheet.columns if n not in {unit, rater}})
    found = sheet.found(sheet.ids(unit, "unit"), sheet.ids(rater, "rater"), labels, blank)
    return settle(found, request, why="All labels are blank.", default="missing")


def read_rows(path: Path, request: Request) -> Answers:
    """Read one row for each label of an annotation."""
    sheet = Sheet.open(path, request)
    columns = _long_columns(sheet, request)
    units, raters, texts = (
        sheet.cells(str(name)) for name in (columns.unit, columns.rater, columns.labels)
    )
    codes = sheet.groups([columns.unit, columns.rater])
    labels: list[set[str]] = [set() for _ in range(codes.max() + 1)]
    for code, text in zip(codes.tolist(), texts.tolist(), strict=True):
        labels[code] |= {text} - {""}
    _check_repeats(sheet, codes, texts.tolist())
    first = np.unique(codes, return_index=True)[1]
    sets: list[LabelSet | None] = [frozenset(each) for each in labels]
    found = Found(
        sheet.name,
        [units.iloc[row] or None for row in first],
        [raters.iloc[row] or None for row in first],
        sets,
        [sheet.places[row] for row in first],
        np.zeros(len(sets), dtype=bool),
    )
    why = "One row per label cannot express the empty set: a rater who gave no label has no row."
    return settle(found, request, why=why, writes_empty=False)


def _check_repeats(sheet: Sheet, codes: npt.NDArray[np.integer[Any]], texts: Sequence[str]) -> None:
    """Raise an error for a row that stands twice, as in a file that was written twice."""
    seen: dict[tuple[int, str], int] = {}
    for row, key in enumerate(zip(codes.tolist(), texts, strict=True)):
        if seen.setdefault(key, row) != row:
            raise DataError(
                f"{sheet.name}: {sheet.places[row]} says the same as {sheet.places[seen[key]]}: is "
                "the file in there twice? Drop the repeated rows."
            )
