"""REDCap: one row per record or repeat of a form, raw or with labels."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from setagree.checks import Flags
from setagree.errors import DataError, SetagreeWarning, counted, warn
from setagree.exports.blank_answers import settle
from setagree.exports.format import Answers, Request
from setagree.exports.table_exports import (
    FALSE,
    TRUE,
    Sheet,
    drop,
    flag_sets,
    pick_question,
    usual_column,
)
from setagree.wording.label_sets import LabelSet

_BOXES = {
    "raw": re.compile(r"([a-z0-9_]+?)___(\w+)"),
    "labels": re.compile(r"(.+) \(choice=(.+)\)", re.DOTALL),
}
_COMPLETE = {"2", "complete"}
_INCOMPLETE = {"0", "1", "", "incomplete", "unverified"}
_EVENT = ("redcap_event_name", "Event Name")
_INSTRUMENT = ("redcap_repeat_instrument", "Repeat Instrument")
_INSTANCE = ("redcap_repeat_instance", "Repeat Instance")


def read(path: Path, request: Request, kind: str) -> Answers:
    """Return the checked boxes in the export with labels, or in the raw one, as codes.

    A row is a record, or one of several repeats of a form in it. The status of the form
    distinguishes the empty set from a missing answer.
    """
    records = sheet = Sheet.open(path, request)
    boxes = {name: match for name in sheet.columns if (match := _BOXES[kind].fullmatch(name))}
    questions = list(dict.fromkeys(match[1] for match in boxes.values()))
    question = pick_question(request.question, questions, sheet.name)
    columns = {name: match[2] for name, match in boxes.items() if match[1] == question}
    if kind == "raw":  # REDCap writes the minus of a code as an underscore.
        columns = {name: re.sub(r"^_(?=\d)", "-", code) for name, code in columns.items()}
    # The status of a form is the next status to the right of its fields.
    after = sheet.columns[sheet.columns.index([*columns][-1]) + 1 :]
    status = next((n for n in after if n.endswith("_complete") or n == "Complete?"), None)
    if instance := _column(sheet, _INSTANCE):
        sheet = records.keep(_rows_of_form(records, columns, status, instance))
    ticked = flag_sets(sheet, columns, true={*TRUE, "checked"}, false={*FALSE, "unchecked"})
    fields = {*boxes, *_EVENT, *_INSTRUMENT, *_INSTANCE}
    names = [name for name in sheet.columns if name not in fields]
    unit, rater = _record_unit(names, sheet.name), _rater(names, sheet, instance)
    units = _of_record(records, sheet, unit, "unit", names[0])
    _warn_events(sheet, units, unit)
    labels, unclear = _by_status(sheet, *ticked, status)
    raters = _of_record(records, sheet, rater, "rater", names[0])
    found = sheet.found(units, raters, labels, unclear)
    why = (
        "REDCap exports boxes that were not shown as unchecked, and there is no '<form>_complete'."
    )
    return settle(found, request, why=why)


def _column(sheet: Sheet, names: Collection[str]) -> str | None:
    return next((name for name in names if name in sheet.frame), None)


def _rows_of_form(sheet: Sheet, boxes: Collection[str], status: str | None, instance: str) -> Flags:
    """Return which rows contain the form of a question: its repeats, or the row of the record."""
    instrument = _column(sheet, _INSTRUMENT)
    form = (status or "").removesuffix("_complete")
    if instrument is not None and form in set(sheet.cells(instrument)):
        return np.array(sheet.cells(instrument) == form, dtype=bool)
    if sheet.blank(instance).all():
        return np.ones(len(sheet.frame), dtype=bool)
    # The fields of a form are blank in the rows of other forms.
    fields = boxes if status is None else [status]
    is_other: Flags = np.logical_and.reduce([sheet.blank(name) for name in fields])
    return ~is_other


def _rater(names: Sequence[str], sheet: Sheet, instance: str | None) -> str:
    """Return the column of the raters, or that of the instances if none has a usual name."""
    try:
        return usual_column("rater", names, sheet.name)
    except DataError:
        if instance is None or sheet.blank(instance).any():
            raise
    warn(
        f"{sheet.name}: no column identifies the rater, so that the instances of the repeated form "
        f"are read as raters; if {instance!r} 1 is another person in each record, use coefficients "
        "that do not require raters (alpha, Fleiss' kappa).",
        SetagreeWarning,
    )
    return instance


def _of_record(records: Sheet, sheet: Sheet, name: str, role: str, record: str) -> list[Hashable]:
    """Return identifiers, which may be in another row of the record than its repeats."""
    ids = sheet.ids(name, role)
    if None not in ids or name == record:
        return ids
    id_of: dict[str, Hashable] = {}
    for key, value in zip(records.cells(record).tolist(), records.ids(name, role), strict=True):
        if value is not None and id_of.setdefault(key, value) != value:
            raise DataError(
                f"{records.name}: record {key!r} has rows without {name!r}, and others with "
                f"{id_of[key]!r} and {value!r}; write it in every row."
            )
    keys = sheet.cells(record).tolist()
    return [id_of.get(key) if x is None else x for x, key in zip(ids, keys, strict=True)]


def _warn_events(sheet: Sheet, units: Sequence[Hashable], unit: str) -> None:
    """Warn if a unit was rated in several events or instances, such as a patient at two visits.

    There is no warning if each instance has one row, because it is then one of several ratings.
    """
    for name in filter(None, (_column(sheet, _EVENT), _column(sheet, _INSTANCE))):
        pairs = pd.DataFrame({"unit": units, "time": sheet.cells(name).to_numpy()})
        times = pairs.groupby("unit")["time"].nunique()
        if name in _INSTANCE and not pairs.duplicated().any():
            continue
        if n := int((times > 1).sum()):
            warn(
                f"{sheet.name}: {counted(n, 'unit')} with rows of several {name!r}, each read as "
                f"one unit; if they are several, join {unit!r} and {name!r} in a column 'unit'.",
                SetagreeWarning,
            )


def _record_unit(names: Sequence[str], file: str) -> str:
    """Return the column of the units, or that of the record, the first, if there is no other."""
    try:
        return usual_column("unit", names[1:], file)
    except DataError:
        return usual_column("unit", names, file)


def _by_status(
    sheet: Sheet, labels: list[LabelSet | None], blank: Flags, status: str | None
) -> tuple[list[LabelSet | None], Flags]:
    """Return the answers of complete forms; without a status, a row without a tick is unclear."""
    unticked = np.array([not each for each in labels], dtype=bool)
    if status is None:
        unclear = unticked & ~blank
        return drop(labels, unclear), unclear
    done = sheet.one_of(status, _COMPLETE, _INCOMPLETE, "is not a status of a form.")
    if n := int(np.count_nonzero(~done & ~unticked)):
        boxes = counted(n, "record with ticks", "records with ticks")
        warn(f"{sheet.name}: {boxes} left out: {status!r} is not Complete.", SetagreeWarning)
    return drop(labels, ~done), np.zeros(len(labels), dtype=bool)
