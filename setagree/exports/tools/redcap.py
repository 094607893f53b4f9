"""REDCap: one row a record, raw or with labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from setagree.errors import DataError, SetagreeWarning, counted, shorten, warn
from setagree.exports.format import Answers, Request
from setagree.exports.sheets import FALSE, TRUE, Sheet, drop, flag_sets, pick_question, usual_column
from setagree.exports.unclear import Flags, settle
from setagree.wording.label_sets import LabelSet

_BOXES = {
    "raw": re.compile(r"([a-z0-9_]+?)___(\w+)"),
    "labels": re.compile(r"(.+) \(choice=(.+)\)", re.DOTALL),
}
_COMPLETE = {"2", "complete"}
_INCOMPLETE = {"0", "1", "", "incomplete", "unverified"}


def read(path: Path, request: Request, kind: str) -> Answers:
    """Read the export with labels, or the raw one, whose labels are codes: one row a record.

    The status of the form tells the empty set from no answer.
    """
    sheet = Sheet.open(path, request)
    boxes = {name: match for name in sheet.columns if (match := _BOXES[kind].fullmatch(name))}
    known = list(dict.fromkeys(match[1] for match in boxes.values()))
    question = pick_question(request.question, known, sheet.name)
    columns = {name: match[2] for name, match in boxes.items() if match[1] == question}
    if kind == "raw":  # REDCap writes a minus before a code as an underscore.
        columns = {name: re.sub(r"^_(?=\d)", "-", code) for name, code in columns.items()}
    ticked = flag_sets(sheet, columns, true={*TRUE, "checked"}, false={*FALSE, "unchecked"})
    rest = [name for name in sheet.columns if name not in boxes]
    unit, rater = _record_unit(rest, sheet.name), usual_column("rater", rest, sheet.name)
    _doubt_events(sheet, unit)
    labels, unclear = _by_status(sheet, *ticked, _status_column(sheet.columns, [*columns][-1]))
    found = sheet.found(sheet.ids(unit, "unit"), sheet.ids(rater, "rater"), labels, unclear)
    why = "REDCap exports boxes that nobody saw as unchecked, and there is no '<form>_complete'."
    return settle(found, request, why=why)


def _doubt_events(sheet: Sheet, unit: str) -> None:
    """Say that a unit was rated in several events or instances, as a patient at two visits is."""
    for name in ("redcap_event_name", "redcap_repeat_instance"):
        if name not in sheet.frame or name == unit:
            continue
        times = sheet.cells(name).groupby(sheet.cells(unit)).nunique()
        if n := int((times > 1).sum()):
            warn(
                f"{sheet.name}: {counted(n, 'unit')} with rows of several {name!r}, which are "
                f"taken as one unit each; if they are not, join {unit!r} and {name!r} in one "
                "column called 'unit'.",
                SetagreeWarning,
            )


def _record_unit(names: Sequence[str], where: str) -> str:
    """Return the column of the units: one of their own, else the record, which comes first."""
    try:
        return usual_column("unit", names[1:], where)
    except DataError:
        return usual_column("unit", names, where)


def _status_column(names: Sequence[str], last: str) -> str | None:
    """Return the status of the form that a field is in: the next one to its right."""
    after = names[names.index(last) + 1 :]
    return next((n for n in after if n.endswith("_complete") or n == "Complete?"), None)


def _by_status(
    sheet: Sheet, labels: list[LabelSet | None], blank: Flags, status: str | None
) -> tuple[list[LabelSet | None], Flags]:
    """Return the answers of complete forms; without a status, a row without a tick is open."""
    unticked = np.array([not each for each in labels], dtype=bool)
    if status is None:
        open_ = unticked & ~blank
        return drop(labels, open_), open_
    done = sheet.among(status, _COMPLETE)
    odd = np.flatnonzero(~(done | sheet.among(status, _INCOMPLETE)))
    if odd.size:
        said = shorten(sheet.frame[status].iloc[odd[0]])
        raise sheet.error(int(odd[0]), status, f"{said} is not a status of a form.")
    if n := int(np.count_nonzero(~done & ~unticked)):
        boxes = counted(n, "record with ticks", "records with ticks")
        warn(f"{sheet.name}: {boxes} left out, as {status!r} is not Complete.", SetagreeWarning)
    return drop(labels, ~done), np.zeros(len(labels), dtype=bool)
