"""Toloka: assignments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from setagree.errors import FileError, option, shorten
from setagree.exports.format import Answers, Request
from setagree.exports.sheets import (
    Sheet,
    drop,
    label_list,
    leave_out,
    pick_question,
    read_json,
    splitter,
    unit_names,
)
from setagree.exports.unclear import Flags, settle
from setagree.wording.label_sets import LabelSet

_ANSWERED = {"APPROVED", "ACCEPTED", "SUBMITTED"}
_UNANSWERED = {"SKIPPED", "EXPIRED", "REJECTED", "ACTIVE"}


def read(path: Path, request: Request) -> Answers:
    """Read a file of assignments; control tasks, and what was not handed in, are left out."""
    sheet = Sheet.open(path, request)
    outputs, inputs = sheet.after("OUTPUT:"), sheet.after("INPUT:")
    asked = request.question and request.question.removeprefix("OUTPUT:")
    question = pick_question(asked, list(outputs), sheet.name)
    unanswered = _unanswered(sheet)
    labels = sheet.parse(outputs[question], _toloka_cells(request.label_sep))
    rejected = sheet.among("ASSIGNMENT:status", {"rejected"})
    labels = leave_out(drop(labels, unanswered), rejected, "rejected answer", sheet.name)
    control = f"GOLDEN:{question}"
    golden = ~unanswered & (~sheet.blank(control) if control in sheet.frame else False)
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
        raise sheet.error(int(odd[0]), name, f"{said} is not a status; these are {known}.")
    return states.isin([*_UNANSWERED]).to_numpy(dtype=bool)


def _toloka_cells(label_sep: str | None) -> Callable[[str], LabelSet]:
    def read(cell: str) -> LabelSet:
        if label_sep is not None and not cell.startswith("["):
            return splitter(label_sep)(cell)
        if not cell.startswith("["):
            hint = (
                f"say {option('label_sep', '...')}, the text between labels (a single label needs "
                "none)."
            )
            raise FileError(f"{shorten(cell)} is not a JSON list; {hint}")
        return label_list(read_json(cell), cell)

    return read
