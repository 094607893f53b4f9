"""Tools whose exports are tables of codes.

Appen, ATLAS.ti, Dedoose, NVivo, SoSci Survey, Toloka and Zooniverse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from setagree.checks import Flags
from setagree.errors import DataError, FileError, OptionError, counted, listing, option, shorten
from setagree.exports.blank_answers import settle
from setagree.exports.format import Answers, Request
from setagree.exports.table_exports import (
    Sheet,
    cell_splitter,
    drop,
    flag_sets,
    from_columns,
    label_list,
    leave_out,
    pick_question,
    question_units,
    read_json,
    segments,
    split_column,
    unit_names,
)
from setagree.wording.label_sets import LabelSep, LabelSet

# ---- Appen, once CrowdFlower and Figure Eight: the full report ----------------------------------


def _answers(sheet: Sheet, names: list[str]) -> list[str]:
    """Return the columns that differ within a unit, or all if none does; the others are input."""
    units = sheet.groups(["_unit_id"])
    return [n for n in names if sheet.cells(n).groupby(units).nunique().gt(1).any()] or names


def read_appen(path: Path, request: Request) -> Answers:
    """Return the judgments of a full report, without test questions and tainted judgments."""
    sheet = Sheet.open(path, request)
    names = [name for name in sheet.columns if not name.startswith("_")]
    # A question has a column of test answers; without such columns any may be the question.
    tested = [n for n in names if f"{n}_gold" in names] if request.question is None else []
    question = pick_question(request.question, tested or _answers(sheet, names), sheet.name)
    labels = split_column(sheet, question, request.sep_or("\n"))
    tainted = sheet.among("_tainted", {"true"})
    gold = sheet.among("_golden", {"true"})
    if (answer := f"{question}_gold") in sheet.frame:
        gold |= ~sheet.blank(answer)
    gold &= ~tainted
    labels = leave_out(labels, tainted, "tainted judgment", sheet.name)
    labels = leave_out(labels, gold, "test-question judgment", sheet.name)
    blank = sheet.blank(question) & ~tainted & ~gold
    found = sheet.found(sheet.ids("_unit_id"), sheet.ids("_worker_id"), labels, blank)
    return settle(found, request, why="A worker submitted it without a label.", default="empty")


# ---- ATLAS.ti: a table of quotations ------------------------------------------------------------


def read_atlasti(path: Path, request: Request) -> Answers:
    """Return the codes of quotations."""
    sheet = Sheet.open(path, request)
    found = sheet.found(
        segments(sheet, "Document", "Reference"),
        sheet.ids("Created by"),
        split_column(sheet, "Codes", request.sep_or("\n")),
        sheet.blank("Codes"),
    )
    return settle(found, request, why="The quotation has no codes.", default="empty")


# ---- Dedoose: a table of excerpts ---------------------------------------------------------------


_APPLIED = re.compile(r"Code: (.+) Applied")


def read_dedoose(path: Path, request: Request) -> Answers:
    """Return the codes of excerpts, from the columns of flags or the combined column."""
    sheet = Sheet.open(path, request)
    codes = {name: match[1] for name in sheet.columns if (match := _APPLIED.fullmatch(name))}
    if codes:
        labels, blank = flag_sets(sheet, codes)
    else:
        combined = "Codes Applied Combined"
        labels = split_column(sheet, combined, request.sep_or(", "))
        blank = sheet.blank(combined)
    units = segments(sheet, "Media Title", "Excerpt Range")
    found = sheet.found(units, sheet.ids("Excerpt Creator"), labels, blank)
    why = "Dedoose does not export excerpts without codes."
    return settle(found, request, why=why, writes_empty=False)


# ---- NVivo, whose tables have no raters ---------------------------------------------------------


def read_nvivo(path: Path, _request: Request, what: str) -> NoReturn:
    """Raise an error for a table without raters."""
    raise DataError(
        f"{path.name} is {what}, which does not contain the codes of each user. In NVivo, run a "
        "matrix coding query for each user (files in rows, codes in columns, coded by one user), "
        "and stack the matrices as a table with columns unit and rater and one column of 0 and 1 "
        "per code."
    )


# ---- SoSci Survey: multiple choices, 1 = not chosen, 2 = chosen ----------------------------------


_OPTION = re.compile(r"([A-Z]{2}\d{2})_(\d{2,})")
_CHOSEN = {"2", "true"}
_NOT_CHOSEN = {"1", "false"}
_NEGATIVE = {"", *(f"-{k}" for k in range(1, 10))}


def read_sosci(path: Path, request: Request) -> Answers:
    """Return the answers to multiple-choice questions, which are units; respondents are raters.

    A multiple-choice question has a column (``AN01``) with the number of chosen options
    (``AN01_01``, ...); a battery of scales does not.
    """
    sheet = Sheet.open(path, request)
    is_text = ~sheet.cells("CASE").str.fullmatch(r"\d+").to_numpy(dtype=bool)
    texts = dict(zip(sheet.columns, sheet.frame.iloc[0], strict=True)) if is_text[:1].all() else {}
    sheet = sheet.keep(~is_text)
    labels_of: dict[str, dict[str, str]] = {}
    for column in sheet.columns:
        match = _OPTION.fullmatch(column)
        is_option = sheet.among(column, _CHOSEN | _NOT_CHOSEN | _NEGATIVE).all()
        if match and match[1] in sheet.frame and is_option:
            label = str(texts.get(column, "")).rpartition(": ")[2].strip() or match[2]
            labels_of.setdefault(match[1], {})[column] = label
    questions = {question: tuple(columns.values()) for question, columns in labels_of.items()}
    without = "no multiple-choice question (columns 'AN01', 'AN01_01', 'AN01_02' with 1 and 2)"
    units = question_units(sheet.name, request, questions, without)

    def read(question: str) -> tuple[list[LabelSet | None], Flags]:
        sets, _ = flag_sets(
            *(sheet, labels_of[question]), true=_CHOSEN, false=_NOT_CHOSEN, no_answer=_NEGATIVE
        )
        is_empty = np.array([labels is not None and not labels for labels in sets], dtype=bool)
        return drop(sets, is_empty), is_empty

    why = "SoSci Survey writes 1 for each option of an unanswered question, too."
    return settle(from_columns(sheet, sheet.ids("CASE"), units, read), request, why=why)


# ---- Toloka: assignments ------------------------------------------------------------------------


_ANSWERED = {"approved", "accepted", "submitted"}
_UNANSWERED = {"skipped", "expired", "rejected", "active"}


def read_toloka(path: Path, request: Request) -> Answers:
    """Return submitted and accepted answers, without those to control tasks."""
    sheet = Sheet.open(path, request)
    outputs, inputs = sheet.after("OUTPUT:"), sheet.after("INPUT:")
    name = request.question and request.question.removeprefix("OUTPUT:")
    question = pick_question(name, list(outputs), sheet.name)
    unanswered = _unanswered(sheet)
    labels = sheet.parse(outputs[question], _toloka_cells(request.label_sep))
    rejected = sheet.among("ASSIGNMENT:status", {"rejected"})
    labels = leave_out(drop(labels, unanswered), rejected, "rejected answer", sheet.name)
    control = f"GOLDEN:{question}"
    golden = ~unanswered & (~sheet.blank(control) if control in sheet.frame else False)
    labels = leave_out(labels, golden, "control-task answer", sheet.name)
    keys = list(inputs.values()) or ["ASSIGNMENT:task_id"]
    otherwise = "ASSIGNMENT:task_id" if "ASSIGNMENT:task_id" in sheet.frame else keys[0]
    units = unit_names(sheet, keys, inputs, otherwise)
    blank = sheet.blank(outputs[question]) & ~unanswered & ~golden
    found = sheet.found(units, sheet.ids("ASSIGNMENT:worker_id"), labels, blank)
    return settle(
        found, request, why="An empty list is written as []; a blank cell may be missing."
    )


def _unanswered(sheet: Sheet) -> Flags:
    """Return which assignments were not submitted, or were rejected."""
    name = "ASSIGNMENT:status"
    if name not in sheet.frame:
        return np.zeros(len(sheet.frame), dtype=bool)
    problem = f"is not a status; use {', '.join(sorted(_ANSWERED | _UNANSWERED)).upper()}."
    return sheet.one_of(name, _UNANSWERED, _ANSWERED, problem)


def _toloka_cells(label_sep: LabelSep | None) -> Callable[[str], LabelSet]:
    def read(cell: str) -> LabelSet:
        if cell.startswith("["):
            return label_list(read_json(cell), cell)
        if label_sep is None:
            raise FileError(
                f"{shorten(cell)} is not a JSON list; set {option('label_sep', '...')}, the "
                "separator of labels (any text if each cell is one label)."
            )
        return cell_splitter(label_sep)(cell)

    return read


# ---- Zooniverse: classifications ----------------------------------------------------------------


def read_zooniverse(path: Path, request: Request) -> Answers:
    """Return the answers to a task of classifications."""
    sheet = Sheet.open(path, request)
    tasks = sheet.parse("annotations", _tasks)
    question = _zooniverse_task(tasks, request, sheet)
    labels = sheet.parse("annotations", lambda cell: _task_value(_tasks(cell), question))
    _check_workflows(sheet, np.array([question in row if row else False for row in tasks]))
    nothing = np.zeros(len(labels), dtype=bool)
    found = sheet.found(sheet.ids("subject_ids"), sheet.ids("user_name"), labels, nothing)
    return settle(found, request, why="")


def _check_workflows(sheet: Sheet, answered: Flags) -> None:
    """Raise an error for classifications of several workflows; each has tasks T0, T1, ..."""
    name = "workflow_id"
    if name in sheet.frame and len(ids := sheet.keep(answered).cells(name).unique()) > 1:
        raise DataError(
            f"{sheet.name} has classifications of {len(ids)} workflows, {listing(ids.tolist())} "
            f"({name!r}), whose tasks have equal names; export one workflow, or keep the rows of "
            "one."
        )


def _zooniverse_task(
    tasks: Sequence[Mapping[str, tuple[str | None, Any]] | None], request: Request, sheet: Sheet
) -> str:
    """Return the name of the requested task, which may be requested by its title."""
    question = request.question
    title_of = [(name, title) for row in tasks if row for name, (title, _) in row.items()]
    names = dict.fromkeys(name for name, _ in title_of)
    titled = dict.fromkeys(name for name, title in title_of if title == question)
    if len(titled) > 1 and question not in names:
        raise OptionError(
            f"{sheet.name}: {counted(len(titled), 'task')} have the title {question!r}; use "
            f"{option('question', next(iter(titled)))} or another of {listing([*titled])}."
        )
    name = question if question in names else next(iter(titled), question)
    return pick_question(name, list(names), sheet.name)


def _tasks(cell: str) -> dict[str, tuple[str | None, Any]]:
    """Return (title, value) of each task in a classification."""
    items = read_json(cell)
    if not isinstance(items, list):
        raise FileError(f"{shorten(cell)} is not a list of tasks.")
    try:
        tasks = {task["task"]: (task.get("task_label"), task["value"]) for task in items}
    except (TypeError, KeyError, AttributeError):
        raise FileError(f"{shorten(cell)} has a task without 'task' or 'value'.") from None
    if len(tasks) < len(items):
        raise FileError(f"{shorten(cell)} has two answers to a task; keep one of them.")
    return tasks


def _task_value(tasks: Mapping[str, tuple[str | None, Any]], question: str) -> LabelSet | None:
    """Return the labels of a task, or None if it is absent or unanswered."""
    _, value = tasks.get(question, (None, None))
    if value is None:
        return None
    if isinstance(value, str):
        return frozenset({value})
    marks = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    if any("tool" in mark for mark in marks):
        raise FileError(
            f"task {question!r} is a drawing task, whose marks have positions; label sets do not. "
            f"Name a question or survey task with {option('question')}."
        )
    if marks and all("choice" in mark for mark in marks):  # of a survey task
        value = [mark["choice"] for mark in marks]
    return label_list(value, str(value))
