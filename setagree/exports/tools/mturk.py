"""Amazon Mechanical Turk: the results of a batch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from setagree.checks import Flags
from setagree.errors import FileError, shorten
from setagree.exports.blank_answers import settle
from setagree.exports.format import Answers, Request
from setagree.exports.table_exports import (
    Sheet,
    cell_splitter,
    flag_sets,
    label_list,
    leave_out,
    pick_question,
    read_json,
    split_column,
    unit_names,
)
from setagree.wording.label_sets import LabelSet

Column: TypeAlias = tuple[list[LabelSet | None], Flags]
"""The label set of each row, or None if it is blank, and the blank rows."""


_BOX = re.compile(r"Answer\.(.+)\.on")
_TASK_ANSWERS = "Answer.taskAnswers"


def read(path: Path, request: Request, layout: str) -> Answers:
    """Return the answers of a batch: labels separated by |, a column per checkbox, or JSON.

    Rejected assignments are left out.
    """
    columns = {"pipe": _pipe_column, "boxes": _box_columns, "task answers": _task_answers}
    sheet = Sheet.open(path, request)
    labels, blank = columns[layout](sheet, request)
    rejected = sheet.among("AssignmentStatus", {"rejected"})
    labels = leave_out(labels, rejected, "rejected assignment", sheet.name)
    inputs = sheet.after("Input.")
    # Equal inputs are one unit, even in different HITs.
    hits = unit_names(sheet, list(inputs.values()) or ["HITId"], inputs, "HITId")
    found = sheet.found(hits, sheet.ids("WorkerId"), labels, blank & ~rejected)
    return settle(found, request, why="A worker submitted it without a label.", default="empty")


def _pipe_column(sheet: Sheet, request: Request) -> Column:
    answers = sheet.after("Answer.")
    questions = [name for name, column in answers.items() if not _BOX.fullmatch(column)]
    question = request.question and request.question.removeprefix("Answer.")
    name = answers[pick_question(question, questions, sheet.name)]
    return split_column(sheet, name, request.sep_or("|")), sheet.blank(name)


def _box_columns(sheet: Sheet, request: Request) -> Column:
    """Read one column per label, of one question if the names of questions precede the labels."""
    boxes = {column: match[1] for column in sheet.columns if (match := _BOX.fullmatch(column))}
    questions = list(dict.fromkeys(label.partition(".")[0] for label in boxes.values()))
    # Several prefixes, each of several labels, are questions, as in q1.joy and q2.joy.
    n_labels = Counter(label.partition(".")[0] for label in boxes.values() if "." in label)
    are_questions = len(questions) > 1 and all(n_labels[prefix] > 1 for prefix in questions)
    if request.question is not None or are_questions:
        prefix = pick_question(request.question, questions, sheet.name) + "."
        boxes = {c: b.removeprefix(prefix) for c, b in boxes.items() if b.startswith(prefix)}
    if not boxes:
        raise FileError(f"{sheet.name} has no columns 'Answer.<label>.on' for that question.")
    return flag_sets(sheet, boxes)


def _task_answers(sheet: Sheet, request: Request) -> Column:
    records = sheet.parse(_TASK_ANSWERS, _task_record)
    answers = [(key, record[key]) for record in records if record for key in record]
    others = dict.fromkeys(key for key, answer in answers if not _is_box(answer))
    has_boxes = len(others) < len({key for key, _ in answers})
    # Text next to boxes is a comment; a list or an object is the answer to another question.
    are_comments = all(isinstance(answer, str) or key not in others for key, answer in answers)
    if has_boxes and are_comments and request.question is None:
        boxes = [r and {k for k, x in r.items() if _is_box(x) and x["on"]} for r in records]
        return [None if x is None else frozenset(x) for x in boxes], sheet.blank(_TASK_ANSWERS)
    name = pick_question(request.question, list(others), sheet.name)
    labels = sheet.parse(_TASK_ANSWERS, lambda cell: _task_labels(_task_record(cell), name))
    return labels, sheet.blank(_TASK_ANSWERS)


def _task_record(cell: str) -> dict[str, Any]:
    """Return the answers of one assignment by question."""
    record = read_json(cell)
    if isinstance(record, list) and len(record) == 1:
        record = record[0]
    if not isinstance(record, dict):
        raise FileError(f"{shorten(cell)} is not one JSON object of answers.")
    return record


def _is_box(answer: object) -> bool:
    return isinstance(answer, dict) and list(answer) == ["on"] and isinstance(answer["on"], bool)


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
        return cell_splitter("|")(answer)
    return label_list(answer, str(record[question]))
