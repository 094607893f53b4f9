"""Dedoose: a table of excerpts."""

from __future__ import annotations

import re
from pathlib import Path

from setagree.exports.format import Answers, Request
from setagree.exports.sheets import Sheet, flag_sets, segments, split_column
from setagree.exports.unclear import settle

_APPLIED = re.compile(r"Code: (.+) Applied")


def read(path: Path, request: Request) -> Answers:
    """Read a table of excerpts, from the columns of the codes or else the combined one."""
    sheet = Sheet.open(path, request)
    codes = {name: match[1] for name in sheet.columns if (match := _APPLIED.fullmatch(name))}
    if codes:
        labels, blank = flag_sets(sheet, codes)
    else:
        combined = "Codes Applied Combined"
        labels = split_column(
            sheet, combined, ", " if request.label_sep is None else request.label_sep
        )
        blank = sheet.blank(combined)
    units = segments(sheet, "Media Title", "Excerpt Range")
    found = sheet.found(units, sheet.ids("Excerpt Creator"), labels, blank)
    why = "Dedoose does not export excerpts without codes, so that who gave none is not in it."
    return settle(found, request, why=why, writes_empty=False)
