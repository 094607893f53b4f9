"""ATLAS.ti: a table of quotations."""

from __future__ import annotations

from pathlib import Path

from setagree.exports.format import Answers, Request
from setagree.exports.sheets import Sheet, segments, split_column
from setagree.exports.unclear import settle


def read(path: Path, request: Request) -> Answers:
    """Read a table of quotations."""
    sheet = Sheet.open(path, request)
    found = sheet.found(
        segments(sheet, "Document", "Reference"),
        sheet.ids("Created by"),
        split_column(sheet, "Codes", "\n" if request.label_sep is None else request.label_sep),
        sheet.blank("Codes"),
    )
    return settle(found, request, why="The quotation has no codes.", default="empty")
