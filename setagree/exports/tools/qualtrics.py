"""Qualtrics exports: one row a respondent, one loop of a question, or one question, a unit."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import commonprefix
from pathlib import Path
from typing import Any

import numpy as np

from setagree.errors import FileError, SetagreeWarning, counted, option, shorten, warn
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.sheets import (
    Sheet,
    of_columns,
    pick_question,
    question_units,
    read_json,
    splitter,
)
from setagree.exports.unclear import Flags, settle
from setagree.study.layouts import from_cube
from setagree.wording.label_sets import LabelSet

_LOOP = re.compile(r"(\d+)_(.+)")
_QUESTION = re.compile(r"QID\d+(_\d+)?")
_SELECTED = " - Selected Choice"
_SEEN = "-99"
_NO_QUESTION = (
    "no looped question (columns such as '1_Q1', '2_Q1') and no other that is known as one by its "
    "ImportId (QID1, QID2)"
)
_LONG_HEADER = 50_000
_TRIALS = {"1", "2", "9", "17", "survey preview", "survey test", "survey preview spam"}


def has_layout(peek: Peek, layout: str) -> bool:
    """Return whether a table may have one column per choice ("split"), "values" or "labels"."""
    return layout in _layouts(peek)


def _layouts(peek: Peek) -> set[str]:
    """Return which layouts a table may have: all where the first response is beyond the head."""
    rows = peek.rows
    if len(rows) < 3 and ("ImportId" in peek.head or len(peek.head) > _LONG_HEADER):
        return {"split", "values", "labels"}
    if len(rows) < 3 or "ImportId" not in rows[1][0]:
        return set()
    if '"choiceId"' in "".join(rows[1]):
        return {"split"}
    return {"values" if _holds_codes(peek, rows[2:]) else "labels"}


def _holds_codes(peek: Peek, rows: Sequence[Sequence[str]]) -> bool:
    """Return whether answers are numbers: by the column that says so, else by the answers."""
    if "Finished" in peek.header:
        place = peek.header.index("Finished")
        return all(row[place] in {"0", "1"} for row in rows)
    loops = [k for k, name in enumerate(peek.header) if _LOOP.fullmatch(name)]
    asked = [k for k, cell in enumerate(peek.rows[1]) if re.search(r'"QID\d+(_\d+)?"', cell)]
    cells = (row[k] for row in rows for k in loops or asked)
    return all(re.fullmatch(r"[-\d,]*", cell) for cell in cells)


@dataclass(frozen=True)
class _Survey:
    """A Qualtrics table: its rows, and the two further rows of its header."""

    sheet: Sheet
    texts: dict[str, str]
    imports: dict[str, Any]

    @classmethod
    def open(cls, path: Path, request: Request) -> _Survey:
        sheet = Sheet.open(path, request)
        if len(sheet.frame) < 2 or "ImportId" not in str(sheet.frame.iloc[1, 0]):
            raise FileError(
                f"{sheet.name}, line 3 holds no ImportId; export CSV with its three header rows."
            )
        texts, imports = (
            dict(zip(sheet.columns, sheet.frame.iloc[k], strict=True)) for k in (0, 1)
        )
        parsed = {name: _import_id(cell, sheet.name) for name, cell in imports.items()}
        body = np.arange(len(sheet.frame)) >= 2
        trials = body & sheet.among("Status", _TRIALS)
        if n := int(np.count_nonzero(trials)):
            responses = counted(n, "preview or test response")
            warn(f"{sheet.name}: {responses} left out.", SetagreeWarning)
        return cls(sheet.keep(body & ~trials), texts, parsed)


def _import_id(cell: str, name: str) -> dict[str, Any]:
    try:
        found = read_json(cell)
    except FileError as error:
        raise FileError(f"{name}, line 3: {error}") from error
    return found if isinstance(found, dict) else {}


def read_unsplit(path: Path, request: Request, layout: str) -> Answers:
    """Read one column per unit: choices by their numbers ("values") or texts, commas between."""
    survey = _Survey.open(path, request)
    columns = _loops(survey, request, survey.sheet.columns)
    if not columns:
        asked = [
            name
            for name, meta in survey.imports.items()
            if "choiceId" not in meta and _QUESTION.fullmatch(str(meta.get("ImportId")))
        ]
        columns = question_units(survey.sheet.name, request, dict.fromkeys(asked), _NO_QUESTION)
    units = _loop_units(columns, survey.texts)
    sheet = survey.sheet
    split = None if request.label_sep is None else splitter(request.label_sep)
    read = _codes if layout == "values" else _texts
    own = read if split is None else lambda cell: split(cell) - {_SEEN}
    found = of_columns(
        sheet, _respondents(sheet), units, lambda c: (sheet.parse(c, own), sheet.blank(c))
    )
    why = (
        "A question without a choice and one that was not shown are alike blank, unless the "
        "columns are split and unanswered choices recoded as -99."
    )
    return settle(found, request, why=why)


def _codes(cell: str) -> LabelSet:
    codes = cell.split(",")
    if not all(re.fullmatch(r"-?\d+", code) for code in codes):
        hint = f"is the export one of choice text? Then say {option('tool', 'qualtrics_labels')}."
        raise FileError(f"{shorten(cell)} is not a list of codes; {hint}")
    return frozenset(codes) - {_SEEN}


def _texts(cell: str) -> LabelSet:
    """Return the labels of a cell, where Qualtrics puts no space after the comma between two."""
    labels = cell.split(",")
    if any(label != label.strip() or not label for label in labels):
        hint = "export numeric values, or split the choices into columns."
        raise FileError(f"{shorten(cell)}: a label seems to contain a comma itself; {hint}")
    return frozenset(labels) - {_SEEN}


def read_split(path: Path, request: Request) -> Answers:
    """Read one column a choice; -99 says that a choice was seen and not taken."""
    survey = _Survey.open(path, request)
    columns_of = _choice_columns(survey)
    stems = {base: _stem([survey.texts[c] for c in cs]) for base, cs in columns_of.items()}
    loops = _loops(survey, request, columns_of)
    if not loops:
        labels_of = {
            base: tuple(survey.texts[c].removeprefix(stems[base]) for c in cs)
            for base, cs in columns_of.items()
        }
        loops = question_units(survey.sheet.name, request, labels_of, _NO_QUESTION)
    units = _loop_units(loops, {base: stems[base].partition(_SELECTED)[0] for base in loops})

    def read(base: str) -> tuple[list[LabelSet | None], Flags]:
        labels = {c: survey.texts[c].removeprefix(stems[base]) for c in columns_of[base]}
        return _choices(survey, labels)

    found = of_columns(survey.sheet, _respondents(survey.sheet), units, read)
    columns = [column for base in loops for column in columns_of[base]]
    if any((survey.sheet.cells(column) == _SEEN).any() for column in columns):
        # Then a blank choice was not seen, so that nothing is open.
        found = replace(found, unclear=np.zeros_like(found.unclear))
    why = (
        "Nothing is chosen, and unanswered choices are not recoded as -99 in this export, which "
        "would tell an answer without a choice from none."
    )
    return settle(found, request, why=why)


def _choice_columns(survey: _Survey) -> dict[str, list[str]]:
    """Return the columns of the choices of each looped question, by its name."""
    columns_of: dict[str, list[str]] = {}
    for column, meta in survey.imports.items():
        if "choiceId" in meta and not column.endswith("_TEXT"):
            base = column.removesuffix(f"_{meta['choiceId']}")
            columns_of.setdefault(base, []).append(column)
    return columns_of


def _stem(texts: Sequence[str]) -> str:
    """Return what stands before the label in the texts of the choices of a question."""
    marked = texts[0].partition(f"{_SELECTED} - ")
    if marked[1]:
        return marked[0] + marked[1]
    # Letter by letter is what is meant here: these are no paths.
    head, glue, _ = (commonprefix(texts) if len(texts) > 1 else texts[0]).rpartition(" - ")  # noqa: RUF071
    return head + glue


def _choices(survey: _Survey, labels: Mapping[str, str]) -> tuple[list[LabelSet | None], Flags]:
    """Return the choices that were taken in each row, and which rows say nothing at all."""
    sheet = survey.sheet
    blank = np.logical_and.reduce([sheet.blank(column) for column in labels])
    taken = np.column_stack([_taken(survey, column, label) for column, label in labels.items()])
    sets = from_cube(taken[None], list(labels.values()), None, None, blank[None]).answer
    return sets.tolist(), blank


def _taken(survey: _Survey, column: str, label: str) -> Flags:
    sheet, choice = survey.sheet, str(survey.imports[column]["choiceId"])
    on = sheet.among(column, {label.lower().strip(), "1", choice})
    odd = np.flatnonzero(~(on | sheet.among(column, {"", _SEEN})))
    if odd.size:
        said = shorten(sheet.frame[column].iloc[odd[0]])
        hint = f"neither {label!r}, 1, {_SEEN} nor blank."
        raise sheet.error(int(odd[0]), column, f"{said} is {hint}")
    return on


def _loops(survey: _Survey, request: Request, columns: Iterable[str]) -> dict[str, str]:
    """Return the columns of a looped question with the number of their loop, if there is one."""
    loops = {c: m for c in columns if (m := _LOOP.fullmatch(c)) and not c.endswith("_TEXT")}
    if not loops:
        return {}
    known = list(dict.fromkeys(match[2] for match in loops.values()))
    question = pick_question(request.question, known, survey.sheet.name)
    return {c: match[1] for c, match in loops.items() if match[2] == question}


def _loop_units(loops: Mapping[str, str], texts: Mapping[str, str]) -> dict[str, str]:
    """Return the unit of each column: what the text of its question ends in, else the loop."""
    parts = [texts[column].removesuffix(" - ").rpartition(" - ") for column in loops]
    stems, ends = {stem for stem, _, _ in parts}, [end.strip() for _, _, end in parts]
    if stems.isdisjoint({""}) and len(stems) == 1 and all(ends) and len({*ends}) == len(ends):
        return dict(zip(loops, ends, strict=True))
    return dict(loops)


def _respondents(sheet: Sheet) -> list[Hashable]:
    """Return the raters: by the reference given to them where all have their own."""
    for name in ("ExternalReference", "ExternalDataReference", "RecipientEmail"):
        if name in sheet.frame:
            cells = sheet.cells(name)
            if cells.is_unique and not (cells == "").any():
                return sheet.ids(name)
    return sheet.ids("ResponseId")
