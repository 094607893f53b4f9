"""Qualtrics: one row per respondent; units are the loops of a question, or questions."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import commonprefix
from pathlib import Path
from typing import Any

import numpy as np

from setagree.checks import Flags
from setagree.errors import FileError, option, shorten
from setagree.exports.blank_answers import settle
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.table_exports import (
    Sheet,
    cell_splitter,
    from_columns,
    pick_question,
    question_units,
    read_json,
    sets_of_flags,
    warn_left_out,
)
from setagree.wording.label_sets import LabelSet

_LOOP = re.compile(r"(\d+)_(.+)")
_QUESTION = re.compile(r"QID\d+(_\d+)?")
_SELECTED = " - Selected Choice"
_SEEN = "-99"
_NO_QUESTION = (
    "no looped question (columns such as '1_Q1', '2_Q1') and no other question with an ImportId "
    "such as QID1"
)
_LONG_HEADER = 50_000
_TRIALS = {"1", "2", "9", "17", "survey preview", "survey test", "survey preview spam"}


def has_layout(peek: Peek, layout: str) -> bool:
    """Return whether a table may have one column per choice ("split"), "values" or "labels"."""
    return layout in _layouts(peek)


def _layouts(peek: Peek) -> set[str]:
    """Return the possible layouts of a table: all if its first response is beyond the head."""
    rows = peek.rows
    if len(rows) < 3 and ("ImportId" in peek.head or len(peek.head) > _LONG_HEADER):
        return {"split", "values", "labels"}
    if len(rows) < 3 or "ImportId" not in rows[1][0]:
        return set()
    if '"choiceId"' in "".join(rows[1]):
        return {"split"}
    return {"values" if _holds_codes(peek, rows[2:]) else "labels"}


def _holds_codes(peek: Peek, rows: Sequence[Sequence[str]]) -> bool:
    """Return whether answers are numbers, by the column Finished or by the answers."""
    if "Finished" in peek.header:
        place = peek.header.index("Finished")
        return all(row[place] in {"0", "1"} for row in rows)
    loops = [k for k, name in enumerate(peek.header) if _LOOP.fullmatch(name)]
    questions = [k for k, cell in enumerate(peek.rows[1]) if re.search(r'"QID\d+(_\d+)?"', cell)]
    cells = (row[k] for row in rows for k in loops or questions)
    return all(re.fullmatch(r"[-\d,]*", cell) for cell in cells)


@dataclass(frozen=True)
class _Survey:
    """A table of Qualtrics, with the texts and import ids in its second and third header rows."""

    sheet: Sheet
    texts: dict[str, str]
    imports: dict[str, Any]

    @classmethod
    def open(cls, path: Path, request: Request) -> _Survey:
        sheet = Sheet.open(path, request)
        if len(sheet.frame) < 2 or "ImportId" not in str(sheet.frame.iloc[1, 0]):
            raise FileError(
                f"{sheet.name}, line 3: no ImportId; export CSV with all three header rows."
            )
        texts, imports = (
            dict(zip(sheet.columns, sheet.frame.iloc[k], strict=True)) for k in (0, 1)
        )
        parsed = {name: _import_id(cell, sheet.name) for name, cell in imports.items()}
        body = np.arange(len(sheet.frame)) >= 2
        trials = body & sheet.among("Status", _TRIALS)
        warn_left_out(trials, "preview or test response", sheet.name)
        return cls(sheet.keep(body & ~trials), texts, parsed)


def _import_id(cell: str, name: str) -> dict[str, Any]:
    try:
        value = read_json(cell)
    except FileError as error:
        raise FileError(f"{name}, line 3: {error}") from error
    return value if isinstance(value, dict) else {}


def read_unsplit(path: Path, request: Request, layout: str) -> Answers:
    """Return the answers in one column per unit, with numbers ("values") or texts of choices."""
    survey = _Survey.open(path, request)
    columns = _loops(survey, request, survey.sheet.columns)
    if not columns:
        questions = {
            name: None
            for name, meta in survey.imports.items()
            if "choiceId" not in meta and _QUESTION.fullmatch(str(meta.get("ImportId")))
        }
        columns = question_units(survey.sheet.name, request, questions, _NO_QUESTION)
    units = _loop_units(columns, survey.texts)
    sheet = survey.sheet
    read: Callable[[str], LabelSet] = _codes if layout == "values" else _texts
    if request.label_sep is not None:
        read = cell_splitter(request.label_sep)
    found = from_columns(
        *(sheet, _respondents(sheet), units),
        lambda c: (sheet.parse(c, lambda cell: read(cell) - {_SEEN}), sheet.blank(c)),
    )
    why = (
        "Qualtrics does not distinguish a question without a choice from one that was not shown, "
        "unless the columns are split and unanswered choices are recoded as -99."
    )
    return settle(found, request, why=why)


def _codes(cell: str) -> LabelSet:
    codes = cell.split(",")
    if not all(re.fullmatch(r"-?\d+", code) for code in codes):
        hint = f"for an export of choice text use {option('tool', 'qualtrics_labels')}."
        raise FileError(f"{shorten(cell)} is not a list of codes; {hint}")
    return frozenset(codes)


def _texts(cell: str) -> LabelSet:
    """Return the labels of a cell, which Qualtrics separates by commas without spaces."""
    labels = cell.split(",")
    if any(label != label.strip() or not label for label in labels):
        hint = "export numeric values, or split the choices into columns."
        raise FileError(f"{shorten(cell)}: a label appears to contain a comma; {hint}")
    return frozenset(labels)


def read_split(path: Path, request: Request) -> Answers:
    """Return the answers in one column per choice; -99 is a shown choice that was not taken."""
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

    found = from_columns(survey.sheet, _respondents(survey.sheet), units, read)
    columns = [column for base in loops for column in columns_of[base]]
    if any((survey.sheet.cells(column) == _SEEN).any() for column in columns):
        # A blank choice was not shown, so that no answer is unclear.
        found = replace(found, unclear=np.zeros_like(found.unclear))
    why = (
        "Only an export with unanswered choices recoded as -99 distinguishes an answer without a "
        "choice from a missing one."
    )
    return settle(found, request, why=why)


def _choice_columns(survey: _Survey) -> dict[str, list[str]]:
    """Return the columns of the choices of each question, by its name."""
    columns_of: dict[str, list[str]] = {}
    for column, meta in survey.imports.items():
        if "choiceId" in meta and not column.endswith("_TEXT"):
            base = column.removesuffix(f"_{meta['choiceId']}")
            columns_of.setdefault(base, []).append(column)
    return columns_of


def _stem(texts: Sequence[str]) -> str:
    """Return the text before the label in the texts of the choices of a question."""
    marked = texts[0].partition(f"{_SELECTED} - ")
    if marked[1]:
        return marked[0] + marked[1]
    # character by character, because these are not paths
    head, glue, _ = (commonprefix(texts) if len(texts) > 1 else texts[0]).rpartition(" - ")  # noqa: RUF071
    return head + glue


def _choices(survey: _Survey, labels: Mapping[str, str]) -> tuple[list[LabelSet | None], Flags]:
    """Return the taken choices of each row, and the rows whose choices are all blank."""
    sheet = survey.sheet
    blank = np.logical_and.reduce([sheet.blank(column) for column in labels])
    taken = []
    for column, label in labels.items():
        marks = {label.lower().strip(), "1", str(survey.imports[column]["choiceId"])}
        problem = f"is neither {label!r}, 1, {_SEEN} nor blank."
        taken.append(sheet.one_of(column, marks, {"", _SEEN}, problem))
    return sets_of_flags(np.column_stack(taken), labels.values(), blank), blank


def _loops(survey: _Survey, request: Request, columns: Iterable[str]) -> dict[str, str]:
    """Return the columns of a looped question with the numbers of their loops; {} without loops."""
    loops = {c: m for c in columns if (m := _LOOP.fullmatch(c)) and not c.endswith("_TEXT")}
    if not loops:
        return {}
    questions = list(dict.fromkeys(match[2] for match in loops.values()))
    question = pick_question(request.question, questions, survey.sheet.name)
    return {c: match[1] for c, match in loops.items() if match[2] == question}


def _loop_units(loops: Mapping[str, str], texts: Mapping[str, str]) -> dict[str, str]:
    """Return the unit of each column: the last part of its question, or the number of the loop."""
    parts = [texts[column].removesuffix(" - ").rpartition(" - ") for column in loops]
    stems, ends = {stem for stem, _, _ in parts}, [end.strip() for _, _, end in parts]
    if stems.isdisjoint({""}) and len(stems) == 1 and all(ends) and len({*ends}) == len(ends):
        return dict(zip(loops, ends, strict=True))
    return dict(loops)


def _respondents(sheet: Sheet) -> list[Hashable]:
    """Return the raters, by a unique reference or email of each, or the id of the response."""
    for name in ("ExternalReference", "ExternalDataReference", "RecipientEmail"):
        if name in sheet.frame:
            cells = sheet.cells(name)
            if cells.is_unique and not (cells == "").any():
                return sheet.ids(name)
    return sheet.ids("ResponseId")
