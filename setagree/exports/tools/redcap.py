"""REDCap: one row a record or a repeat of a form, raw or with labels."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

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
_EVENT = ("redcap_event_name", "Event Name")
_INSTRUMENT = ("redcap_repeat_instrument", "Repeat Instrument")
_INSTANCE = ("redcap_repeat_instance", "Repeat Instance")


def read(path: Path, request: Request, kind: str) -> Answers:
    """Read the export with labels, or the raw one, whose labels are codes.

    A row is a record, or one of several repeats of a form in it. The status of the form tells the
    empty set from no answer.
    """
    whole = Sheet.open(path, request)
    sheet = whole
    boxes = {name: match for name in sheet.columns if (match := _BOXES[kind].fullmatch(name))}
    known = list(dict.fromkeys(match[1] for match in boxes.values()))
    question = pick_question(request.question, known, sheet.name)
    columns = {name: match[2] for name, match in boxes.items() if match[1] == question}
    if kind == "raw":  # REDCap writes a minus before a code as an underscore.
        columns = {name: re.sub(r"^_(?=\d)", "-", code) for name, code in columns.items()}
    # The status of a form is the next one to the right of its fields.
    after = sheet.columns[sheet.columns.index([*columns][-1]) + 1 :]
    status = next((n for n in after if n.endswith("_complete") or n == "Complete?"), None)
    if instance := _column(sheet, _INSTANCE):
        sheet = whole.keep(_rows_of_form(whole, columns, status, instance))
    ticked = flag_sets(sheet, columns, true={*TRUE, "checked"}, false={*FALSE, "unchecked"})
    own = {*boxes, *_EVENT, *_INSTRUMENT, *_INSTANCE}
    rest = [name for name in sheet.columns if name not in own]
    unit, rater = _record_unit(rest, sheet.name), _rater(rest, sheet, instance)
    units = _of_record(whole, sheet, unit, "unit", rest[0])
    _warn_events(sheet, units, unit)
    labels, unclear = _by_status(sheet, *ticked, status)
    found = sheet.found(units, _of_record(whole, sheet, rater, "rater", rest[0]), labels, unclear)
    why = "REDCap exports boxes that nobody saw as unchecked, and there is no '<form>_complete'."
    return settle(found, request, why=why)


def _column(sheet: Sheet, names: Collection[str]) -> str | None:
    return next((name for name in names if name in sheet.frame), None)


def _rows_of_form(sheet: Sheet, boxes: Collection[str], status: str | None, instance: str) -> Flags:
    """Return which rows hold the form of a question: its repeats, or the record's own row."""
    instrument = _column(sheet, _INSTRUMENT)
    form = (status or "").removesuffix("_complete")
    if instrument is not None and form in set(sheet.cells(instrument)):
        return np.array(sheet.cells(instrument) == form, dtype=bool)
    if sheet.blank(instance).all():
        return np.ones(len(sheet.frame), dtype=bool)
    # The fields of a form are blank in the rows of others.
    fields = boxes if status is None else [status]
    is_other: Flags = np.logical_and.reduce([sheet.blank(name) for name in fields])
    return ~is_other


def _rater(names: Sequence[str], sheet: Sheet, instance: str | None) -> str:
    """Return the column of the raters; where none is called so, the instances are raters."""
    try:
        return usual_column("rater", names, sheet.name)
    except DataError:
        if instance is None or sheet.blank(instance).any():
            raise
    warn(
        f"{sheet.name}: no column names the rater, so the instances of the repeated form are taken "
        f"as raters; if {instance!r} 1 is another person in each record, this suits coefficients "
        "that need no raters (alpha, Fleiss' kappa).",
        SetagreeWarning,
    )
    return instance


def _of_record(whole: Sheet, sheet: Sheet, name: str, role: str, record: str) -> list[Hashable]:
    """Return identifiers, which may stand in another row of the record than its repeats."""
    ids = sheet.ids(name, role)
    if None not in ids or name == record:
        return ids
    known: dict[str, Hashable] = {}
    for key, one in zip(whole.cells(record).tolist(), whole.ids(name, role), strict=True):
        if one is not None and known.setdefault(key, one) != one:
            raise DataError(
                f"{whole.name}: record {key!r} has rows without {name!r}, and others with "
                f"{known[key]!r} and {one!r}; write it in every row."
            )
    keys = sheet.cells(record).tolist()
    return [known.get(key) if one is None else one for one, key in zip(ids, keys, strict=True)]


def _warn_events(sheet: Sheet, units: Sequence[Hashable], unit: str) -> None:
    """Warn that a unit was rated in several events or instances, as a patient at two visits is.

    Where each instance is one row, it is one rating of several.
    """
    for name in filter(None, (_column(sheet, _EVENT), _column(sheet, _INSTANCE))):
        pairs = pd.DataFrame({"unit": units, "time": sheet.cells(name).to_numpy()})
        times = pairs.groupby("unit")["time"].nunique()
        if name in _INSTANCE and not pairs.duplicated().any():
            continue
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
