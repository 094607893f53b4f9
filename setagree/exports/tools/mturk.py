"""Readers of crowd-work exports: Mechanical Turk, Appen, Toloka, Zooniverse."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from setagree.errors import DataError, FileError, OptionError, counted, listing, shorten
from setagree.exports.format import Answers, Format, Peek, Request
from setagree.exports.sheets import (
    Sheet,
    drop,
    flag_sets,
    has,
    label_list,
    leave_out,
    pick_question,
    read_json,
    split_column,
    splitter,
    unit_names,
)
from setagree.exports.unclear import Flags, settle
from setagree.wording.label_sets import LabelSet

Column: TypeAlias = tuple[list[LabelSet | None], Flags]
"""The label set of each row, None where it is open, and which rows are open."""

_SUBMITTED = "A worker submitted it without a label."


# ---- Amazon Mechanical Turk ---------------------------------------------------------------------

_BOX = re.compile(r"Answer\.(.+)\.on")
_TASK_ANSWERS = "Answer.taskAnswers"


def _is_pipe(peek: Peek) -> bool:
    answers = [name for name in peek.header if name.startswith("Answer.")]
    boxes = any(_BOX.fullmatch(name) for name in answers)
    return _is_mturk(peek) and bool(answers) and not boxes and _TASK_ANSWERS not in answers


def _is_boxes(peek: Peek) -> bool:
    boxes = any(_BOX.fullmatch(name) for name in peek.header)
    return _is_mturk(peek) and boxes and _TASK_ANSWERS not in peek.header


def _is_task_answers(peek: Peek) -> bool:
    return _is_mturk(peek) and _TASK_ANSWERS in peek.header


def _is_mturk(peek: Peek) -> bool:
    return has(peek, "HITId", "WorkerId")


def _read_pipe(path: Path, request: Request) -> Answers:
    return _read_mturk(path, request, _pipe_column)


def _read_boxes(path: Path, request: Request) -> Answers:
    return _read_mturk(path, request, _box_columns)


def _read_task_answers(path: Path, request: Request) -> Answers:
    return _read_mturk(path, request, _task_answers)


def _read_mturk(
    path: Path, request: Request, column: Callable[[Sheet, Request], Column]
) -> Answers:
    """Read a batch of results; what was rejected is no annotation."""
    sheet = Sheet.open(path, request)
    labels, blank = column(sheet, request)
    rejected = sheet.among("AssignmentStatus", {"rejected"})
    labels = leave_out(labels, rejected, "rejected assignment", sheet.name)
    found = sheet.found(_hits(sheet), sheet.ids("WorkerId"), labels, blank & ~rejected)
    return settle(found, request, why=_SUBMITTED, default="empty")


def _hits(sheet: Sheet) -> list[Hashable]:
    """Return the units: the same input is the same unit, in whatever HIT."""
    inputs = _after("Input.", sheet)
    return unit_names(sheet, list(inputs.values()) or ["HITId"], inputs, "HITId")


def _after(prefix: str, sheet: Sheet) -> dict[str, str]:
    """Return the columns with a prefix, by what follows it."""
    return {n.removeprefix(prefix): n for n in sheet.columns if n.startswith(prefix)}


def _pipe_column(sheet: Sheet, request: Request) -> Column:
    answers = _after("Answer.", sheet)
    known = [name for name, column in answers.items() if not _BOX.fullmatch(column)]
    asked = request.question and request.question.removeprefix("Answer.")
    name = answers[pick_question(asked, known, sheet.name)]
    sep = "|" if request.sep is None else request.sep
    return split_column(sheet, name, sep), sheet.blank(name)


def _box_columns(sheet: Sheet, request: Request) -> Column:
    """Read one column a label, those of one question where its name goes before the labels."""
    boxes = {column: match[1] for column in sheet.columns if (match := _BOX.fullmatch(column))}
    questions = list(dict.fromkeys(label.partition(".")[0] for label in boxes.values()))
    if request.question is not None or _are_questions(questions, list(boxes.values())):
        prefix = pick_question(request.question, questions, sheet.name) + "."
        boxes = {c: b.removeprefix(prefix) for c, b in boxes.items() if b.startswith(prefix)}
    if not boxes:
        raise FileError(f"{sheet.name} has no columns 'Answer.<label>.on' for that question.")
    return flag_sets(sheet, boxes)


def _are_questions(prefixes: Sequence[str], labels: Sequence[str]) -> bool:
    """Say whether several prefixes each stand before several labels, as in q1.joy and q2.joy."""
    dotted = Counter(label.partition(".")[0] for label in labels if "." in label)
    return len(prefixes) > 1 and all(dotted[prefix] > 1 for prefix in prefixes)


def _task_answers(sheet: Sheet, request: Request) -> Column:
    records = sheet.parse(_TASK_ANSWERS, _task_record)
    answers = [(key, record[key]) for record in records if record for key in record]
    known = dict.fromkeys(key for key, answer in answers if not _is_box(answer))
    # Text beside boxes is a comment; what has labels of its own is another question.
    asked = {key for key, answer in answers if not isinstance(answer, str)} & {*known}
    if len(known) < len({key for key, _ in answers}) and not asked and request.question is None:
        labels = sheet.parse(_TASK_ANSWERS, lambda cell: _ticked_boxes(_task_record(cell)))
        return labels, sheet.blank(_TASK_ANSWERS)
    name = pick_question(request.question, list(known), sheet.name)
    labels = sheet.parse(_TASK_ANSWERS, lambda cell: _task_labels(_task_record(cell), name))
    return labels, sheet.blank(_TASK_ANSWERS)


def _task_record(cell: str) -> dict[str, Any]:
    """Return the answers of one assignment by question."""
    found = read_json(cell)
    record = found[0] if isinstance(found, list) and len(found) == 1 else found
    if not isinstance(record, dict):
        raise FileError(f"{shorten(cell)} is not one JSON object of answers.")
    return record


def _is_box(answer: object) -> bool:
    return isinstance(answer, dict) and list(answer) == ["on"] and isinstance(answer["on"], bool)


def _ticked_boxes(record: Mapping[str, Any]) -> LabelSet:
    return frozenset(label for label, box in record.items() if _is_box(box) and box["on"])


def _task_labels(record: Mapping[str, Any], question: str) -> LabelSet | None:
    """Return the labels of a checkbox group, a crowd classifier, or a text with pipes."""
    if question not in record:
        return None
    answer = record[question]
    if isinstance(answer, dict) and all(isinstance(on, bool) for on in answer.values()):
        return frozenset(label for label, on in answer.items() if on)
    if isinstance(answer, dict) and len(answer) == 1:
        answer = answer.get("labels", answer.get("label"))
    if isinstance(answer, str):
        return splitter("|")(answer)
    return label_list(answer, str(record[question]))


# ---- Appen, once CrowdFlower and Figure Eight ---------------------------------------------------


def _is_appen(peek: Peek) -> bool:
    return has(peek, "_unit_id", "_worker_id")


def _read_appen(path: Path, request: Request) -> Answers:
    """Read a full report; test questions and tainted judgments are no annotations."""
    sheet = Sheet.open(path, request)
    own = [name for name in sheet.columns if not name.startswith("_")]
    # A column of answers has one of test answers beside it; without, any may be the question.
    asked = [name for name in own if f"{name}_gold" in own] if request.question is None else []
    question = pick_question(request.question, asked or own, sheet.name)
    labels = split_column(sheet, question, "\n" if request.sep is None else request.sep)
    tainted = sheet.among("_tainted", {"true"})
    gold = _appen_gold(sheet, question) & ~tainted
    labels = leave_out(labels, tainted, "tainted judgment", sheet.name)
    labels = leave_out(labels, gold, "test-question judgment", sheet.name)
    open_ = sheet.blank(question) & ~tainted & ~gold
    found = sheet.found(sheet.ids("_unit_id"), sheet.ids("_worker_id"), labels, open_)
    return settle(found, request, why=_SUBMITTED, default="empty")


def _appen_gold(sheet: Sheet, question: str) -> Flags:
    gold = sheet.among("_golden", {"true"})
    answer = f"{question}_gold"
    return gold | ~sheet.blank(answer) if answer in sheet.frame else gold


# ---- Toloka -------------------------------------------------------------------------------------

_ANSWERED = {"APPROVED", "ACCEPTED", "SUBMITTED"}
_UNANSWERED = {"SKIPPED", "EXPIRED", "REJECTED", "ACTIVE"}


def _is_toloka(peek: Peek) -> bool:
    return has(peek, "ASSIGNMENT:worker_id", "ASSIGNMENT:assignment_id")


def _read_toloka(path: Path, request: Request) -> Answers:
    """Read a file of assignments; control tasks, and what was not handed in, are left out."""
    sheet = Sheet.open(path, request)
    outputs, inputs = _after("OUTPUT:", sheet), _after("INPUT:", sheet)
    asked = request.question and request.question.removeprefix("OUTPUT:")
    question = pick_question(asked, list(outputs), sheet.name)
    unanswered = _unanswered(sheet)
    labels = sheet.parse(outputs[question], _toloka_cells(request.sep))
    rejected = sheet.among("ASSIGNMENT:status", {"rejected"})
    labels = leave_out(drop(labels, unanswered), rejected, "rejected answer", sheet.name)
    golden = _golden(sheet, question) & ~unanswered
    labels = leave_out(labels, golden, "control-task answer", sheet.name)
    keys = list(inputs.values()) or ["ASSIGNMENT:task_id"]
    named = "ASSIGNMENT:task_id" if "ASSIGNMENT:task_id" in sheet.frame else keys[0]
    units = unit_names(sheet, keys, inputs, named)
    blank = sheet.blank(outputs[question]) & ~unanswered & ~golden
    found = sheet.found(units, sheet.ids("ASSIGNMENT:worker_id"), labels, blank)
    return settle(found, request, why="An empty list is written [], a blank cell may be either.")


def _unanswered(sheet: Sheet) -> Flags:
    name = "ASSIGNMENT:status"
    if name not in sheet.frame:
        return np.zeros(len(sheet.frame), dtype=bool)
    states = sheet.cells(name)
    odd = np.flatnonzero(~states.isin([*_ANSWERED, *_UNANSWERED]).to_numpy(dtype=bool))
    if odd.size:
        said = shorten(states.iloc[odd[0]])
        known = ", ".join(sorted(_ANSWERED | _UNANSWERED))
        raise sheet.error(int(odd[0]), name, f"{said} is no status; these are {known}.")
    return states.isin([*_UNANSWERED]).to_numpy(dtype=bool)


def _golden(sheet: Sheet, question: str) -> Flags:
    name = f"GOLDEN:{question}"
    return ~sheet.blank(name) if name in sheet.frame else np.zeros(len(sheet.frame), dtype=bool)


def _toloka_cells(sep: str | None) -> Callable[[str], LabelSet]:
    def read(cell: str) -> LabelSet:
        if sep is not None and not cell.startswith("["):
            return splitter(sep)(cell)
        if not cell.startswith("["):
            hint = "say sep='...', which stands between labels (a single label may stand alone)."
            raise FileError(f"{shorten(cell)} is no JSON list; {hint}")
        return label_list(read_json(cell), cell)

    return read


# ---- Zooniverse ---------------------------------------------------------------------------------


def _is_zooniverse(peek: Peek) -> bool:
    return has(peek, "classification_id", "annotations", "subject_ids", "user_name")


def _read_zooniverse(path: Path, request: Request) -> Answers:
    """Read a classification export."""
    sheet = Sheet.open(path, request)
    tasks = sheet.parse("annotations", _tasks)
    question = _zooniverse_task(tasks, request, sheet)
    labels = sheet.parse("annotations", lambda cell: _task_value(_tasks(cell), question))
    _refuse_workflows(sheet, np.array([question in row if row else False for row in tasks]))
    nothing = np.zeros(len(labels), dtype=bool)
    found = sheet.found(sheet.ids("subject_ids"), sheet.ids("user_name"), labels, nothing)
    return settle(found, request, why="")


def _refuse_workflows(sheet: Sheet, answered: Flags) -> None:
    """Refuse classifications of several workflows, whose tasks are all called T0, T1, ..."""
    name = "workflow_id"
    if name in sheet.frame and len(found := sheet.keep(answered).cells(name).unique()) > 1:
        raise DataError(
            f"{sheet.name} has classifications of {len(found)} workflows, {listing(found.tolist())}"
            f" ({name!r}), which call different questions alike; export one workflow, or keep the "
            "rows of one."
        )


def _zooniverse_task(
    tasks: Sequence[Mapping[str, tuple[str | None, Any]] | None], request: Request, sheet: Sheet
) -> str:
    """Return the task that is asked for by its name or its title."""
    known = dict.fromkeys(name for row in tasks if row for name in row)
    titles = [(title, name) for row in tasks if row for name, (title, _) in row.items()]
    named = dict.fromkeys(name for title, name in titles if title == request.question)
    if len(named) > 1 and request.question not in known:
        raise OptionError(
            f"{sheet.name}: {counted(len(named), 'task')} are called {request.question!r}; say "
            f"question={next(iter(named))!r} or another of {listing([*named])}."
        )
    asked = request.question if request.question in known else next(iter(named), request.question)
    return pick_question(asked, list(known), sheet.name)


def _tasks(cell: str) -> dict[str, tuple[str | None, Any]]:
    """Return (title, value) of each task in a classification."""
    found = read_json(cell)
    if not isinstance(found, list):
        raise FileError(f"{shorten(cell)} is no list of tasks.")
    try:
        tasks = {task["task"]: (task.get("task_label"), task["value"]) for task in found}
    except (TypeError, KeyError, AttributeError):
        raise FileError(f"{shorten(cell)} has a task without 'task' or 'value'.") from None
    if len(tasks) < len(found):
        raise FileError(f"{shorten(cell)} answers a task twice; which answer counts, none tells.")
    return tasks


def _task_value(tasks: Mapping[str, tuple[str | None, Any]], question: str) -> LabelSet | None:
    """Return the labels of a task; None where it was not asked, or left unanswered."""
    _, value = tasks.get(question, (None, None))
    if value is None:
        return None
    if isinstance(value, str):
        return frozenset({value})
    return label_list(value, str(value))


_DEFAULT = "A blank answer is the empty set unless blank='missing' is said."

FORMATS: tuple[Format, ...] = (
    Format(
        "mturk_pipe",
        "Mechanical Turk, labels with | between",
        "source",
        _is_pipe,
        _read_pipe,
        f"{_DEFAULT} Rejected assignments are left out.",
    ),
    Format(
        "mturk_checkboxes",
        "Mechanical Turk, one column a checkbox",
        "documented",
        _is_boxes,
        _read_boxes,
        f"{_DEFAULT} Rejected assignments are left out.",
    ),
    Format(
        "mturk_task_answers",
        "Mechanical Turk, taskAnswers in JSON",
        "documented",
        _is_task_answers,
        _read_task_answers,
        f"{_DEFAULT} Rejected assignments are left out.",
    ),
    Format(
        "appen",
        "Appen (CrowdFlower, Figure Eight), full report",
        "source",
        _is_appen,
        _read_appen,
        f"{_DEFAULT} Tainted judgments and test questions are left out.",
    ),
    Format(
        "toloka",
        "Toloka, assignments",
        "documented",
        _is_toloka,
        _read_toloka,
        "A blank answer that was handed in needs blank=. Rejected answers and control tasks are "
        "left out.",
    ),
    Format(
        "zooniverse",
        "Zooniverse, classifications",
        "documented",
        _is_zooniverse,
        _read_zooniverse,
    ),
)
