"""Zooniverse: classifications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from setagree.errors import DataError, FileError, OptionError, counted, listing, option, shorten
from setagree.exports.format import Answers, Request
from setagree.exports.sheets import Sheet, label_list, pick_question, read_json
from setagree.exports.unclear import Flags, settle
from setagree.wording.label_sets import LabelSet


def read(path: Path, request: Request) -> Answers:
    """Read a classification export."""
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
            f"{option('question', next(iter(named)))} or another of {listing([*named])}."
        )
    asked = request.question if request.question in known else next(iter(named), request.question)
    return pick_question(asked, list(known), sheet.name)


def _tasks(cell: str) -> dict[str, tuple[str | None, Any]]:
    """Return (title, value) of each task in a classification."""
    found = read_json(cell)
    if not isinstance(found, list):
        raise FileError(f"{shorten(cell)} is not a list of tasks.")
    try:
        tasks = {task["task"]: (task.get("task_label"), task["value"]) for task in found}
    except (TypeError, KeyError, AttributeError):
        raise FileError(f"{shorten(cell)} has a task without 'task' or 'value'.") from None
    if len(tasks) < len(found):
        raise FileError(f"{shorten(cell)} answers a task twice; which answer counts, none tells.")
    return tasks


def _task_value(tasks: Mapping[str, tuple[str | None, Any]], question: str) -> LabelSet | None:
    """Return the labels of a task, or None if it was not asked, or left unanswered."""
    _, value = tasks.get(question, (None, None))
    if value is None:
        return None
    if isinstance(value, str):
        return frozenset({value})
    marks = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    if any("tool" in each for each in marks):
        raise FileError(
            f"task {question!r} is a drawing task: its marks have positions, and label sets have "
            f"none; name a question or survey task with {option('question')}."
        )
    if marks and all("choice" in each for each in marks):  # of a survey task
        value = [each["choice"] for each in marks]
    return label_list(value, str(value))
