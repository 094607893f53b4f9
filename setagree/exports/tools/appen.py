"""Appen, once CrowdFlower and Figure Eight: the full report."""

from __future__ import annotations

from pathlib import Path

from setagree.exports.format import Answers, Request
from setagree.exports.sheets import Sheet, leave_out, pick_question, split_column
from setagree.exports.unclear import settle


def _answers(sheet: Sheet, names: list[str]) -> list[str]:
    """Return the columns that differ within a unit; the others are input. All if none differs."""
    units = sheet.groups(["_unit_id"])
    return [n for n in names if sheet.cells(n).groupby(units).nunique().gt(1).any()] or names


def read(path: Path, request: Request) -> Answers:
    """Read a full report; test questions and tainted judgments are no annotations."""
    sheet = Sheet.open(path, request)
    own = [name for name in sheet.columns if not name.startswith("_")]
    # A column of answers has one of test answers next to it; without, any may be the question.
    asked = [name for name in own if f"{name}_gold" in own] if request.question is None else []
    question = pick_question(request.question, asked or _answers(sheet, own), sheet.name)
    labels = split_column(sheet, question, "\n" if request.label_sep is None else request.label_sep)
    tainted = sheet.among("_tainted", {"true"})
    gold = sheet.among("_golden", {"true"})
    if (answer := f"{question}_gold") in sheet.frame:
        gold |= ~sheet.blank(answer)
    gold &= ~tainted
    labels = leave_out(labels, tainted, "tainted judgment", sheet.name)
    labels = leave_out(labels, gold, "test-question judgment", sheet.name)
    open_ = sheet.blank(question) & ~tainted & ~gold
    found = sheet.found(sheet.ids("_unit_id"), sheet.ids("_worker_id"), labels, open_)
    return settle(found, request, why="A worker submitted it without a label.", default="empty")
