"""Readers of survey exports: Google Forms and REDCap."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from setagree.errors import DataError, SetagreeWarning, counted, listing, shorten, warn
from setagree.exports.format import Answers, Format, Peek, Request
from setagree.exports.sheets import (
    FALSE,
    TRUE,
    Sheet,
    doubt_columns,
    flag_sets,
    of_columns,
    pick_question,
    plain,
    split_column,
    splitter,
    usual_column,
)
from setagree.exports.unclear import Flags, Found, settle
from setagree.files.tables import sniff_delimiter
from setagree.wording.label_sets import LabelSet

# ---- Google Forms -------------------------------------------------------------------------------

_GRID = re.compile(r"(.*\S)\s*\[(.+)\]", re.DOTALL)
# As in "2026/03/01 10:01:00 am GMT+1": the download names the time zone, a sheet does not.
_DOWNLOADED = re.compile(
    r'^"?\d{4}/\d\d?/\d\d? \d\d?:\d\d:\d\d\b[^,;"\n]{0,12}?\b[A-Z]{3,5}\b', re.MULTILINE
)
_SEMICOLON = re.compile(r"[^\s;];[^\s;]")
_EMAIL = ("email", "username")


def _is_form(peek: Peek) -> bool:
    return not peek.is_folder and peek.header[:1] == ("Timestamp",)


def _is_form_download(peek: Peek) -> bool:
    return _is_form(peek) and (_DOWNLOADED.search(peek.head) is not None or _has_semicolons(peek))


def _is_form_sheet(peek: Peek) -> bool:
    return _is_form(peek) and not _is_form_download(peek)


def _has_semicolons(peek: Peek) -> bool:
    """Say whether more cells have the semicolon of the download than the comma of the sheet."""
    delimiter = sniff_delimiter(peek.head)
    lines = csv.reader(io.StringIO(peek.head, newline=""), delimiter=delimiter)
    cells = [cell for row in islice(lines, 1, None) for cell in row[1:]]
    semicolons = sum(_SEMICOLON.search(cell) is not None for cell in cells)
    return semicolons > sum(", " in cell for cell in cells)


def _read_form_download(path: Path, request: Request) -> Answers:
    return _read_form(path, request, ";")


def _read_form_sheet(path: Path, request: Request) -> Answers:
    return _read_form(path, request, ", ")


def _read_form(path: Path, request: Request, usual_sep: str) -> Answers:
    """Read the responses to a checkbox grid (one row a rater), or to one unit at a time."""
    sheet = Sheet.open(path, request)
    sep = usual_sep if request.sep is None else request.sep
    rater = _form_rater(sheet)
    grid = {name: match for name in sheet.columns if (match := _GRID.fullmatch(name))}
    if grid:
        known = list(dict.fromkeys(match[1] for match in grid.values()))
        question = pick_question(request.question, known, sheet.name)
        rows = {name: match[2] for name, match in grid.items() if match[1] == question}
        found = _form_of_grid(sheet, rater, rows, sep)
    else:
        found = _form_of_units(sheet, request, rater, sep)
    why = "Google Forms leaves a question without a tick and one that was passed over alike blank."
    return settle(found, request, why=why)


def _form_of_grid(sheet: Sheet, rater: str, rows: Mapping[str, str], sep: str) -> Found:
    """Return the responses to a grid, whose rows are units."""
    split = splitter(sep)
    doubt_columns(sheet, rows, sep)
    raters = sheet.ids(rater)
    return of_columns(sheet, raters, rows, lambda c: (sheet.parse(c, split), sheet.blank(c)))


def _form_of_units(sheet: Sheet, request: Request, rater: str, sep: str) -> Found:
    """Return the responses of a form that was filled in once for each unit."""
    rest = [name for name in sheet.columns[1:] if name != rater]
    unit = _form_unit(sheet, rater, rest)
    questions = [name for name in rest if name != unit]
    question = pick_question(request.question, questions, sheet.name)
    answers = split_column(sheet, question, sep)
    return sheet.found(sheet.ids(unit), sheet.ids(rater), answers, sheet.blank(question))


def _form_unit(sheet: Sheet, rater: str, names: Sequence[str]) -> str:
    try:
        return usual_column("unit", names, f"{sheet.name} has no checkbox grid ('Question [row]')")
    except DataError:
        raise DataError(
            f"{sheet.name} has no checkbox grid ('Question [row]') and no column with a usual name "
            f"for the unit; the columns are {listing(names, limit=3)}. Read it as a table: by "
            f"from_long where each row is one answer (on the command line --from table --unit "
            f"COLUMN --rater {rater!r} --labels COLUMN); by from_wide(table.set_index({rater!r}).T)"
            " where each row is a person and each column a unit (--from table --people-in-rows)."
        ) from None


def _form_rater(sheet: Sheet) -> str:
    emails = [name for name in sheet.columns if plain(name).startswith(_EMAIL)]
    if len(emails) == 1:
        return emails[0]
    try:
        return usual_column("rater", sheet.columns, sheet.name)
    except DataError as error:
        hint = "Let the form collect email addresses, or ask for a name."
        raise DataError(f"{error} {hint}") from None


# ---- REDCap -------------------------------------------------------------------------------------

_RAW_BOX = re.compile(r"([a-z0-9_]+?)___(\w+)")
_LABEL_BOX = re.compile(r"(.+) \(choice=(.+)\)", re.DOTALL)
_COMPLETE = {"2", "complete"}
_INCOMPLETE = {"0", "1", "", "incomplete", "unverified"}


def _is_redcap_raw(peek: Peek) -> bool:
    names = [name for name in peek.header if not name.startswith("redcap_")]
    known = any(name.endswith("_complete") or name == "record_id" for name in names)
    return not peek.is_folder and known and any(map(_RAW_BOX.fullmatch, names))


def _is_redcap_labels(peek: Peek) -> bool:
    return not peek.is_folder and any(map(_LABEL_BOX.fullmatch, peek.header))


def _read_redcap_raw(path: Path, request: Request) -> Answers:
    # REDCap writes a minus before a code as an underscore.
    return _read_redcap(path, request, _RAW_BOX, lambda code: re.sub(r"^_(?=\d)", "-", code))


def _read_redcap_labels(path: Path, request: Request) -> Answers:
    return _read_redcap(path, request, _LABEL_BOX, str)


def _read_redcap(
    path: Path, request: Request, box: re.Pattern[str], label: Callable[[str], str]
) -> Answers:
    """Read one row a record; the status of the form tells the empty set from no answer."""
    sheet = Sheet.open(path, request)
    boxes = {name: match for name in sheet.columns if (match := box.fullmatch(name))}
    known = list(dict.fromkeys(match[1] for match in boxes.values()))
    question = pick_question(request.question, known, sheet.name)
    columns = {name: label(match[2]) for name, match in boxes.items() if match[1] == question}
    ticked = flag_sets(sheet, columns, true={*TRUE, "checked"}, false={*FALSE, "unchecked"})
    rest = [name for name in sheet.columns if name not in boxes]
    unit, rater = _record_unit(rest, sheet.name), usual_column("rater", rest, sheet.name)
    _doubt_events(sheet, unit)
    labels, unclear = _by_status(sheet, *ticked, _status_column(sheet.columns, [*columns][-1]))
    found = sheet.found(sheet.ids(unit), sheet.ids(rater), labels, unclear)
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
        return [None if o else each for each, o in zip(labels, open_, strict=True)], open_
    done = sheet.among(status, _COMPLETE)
    odd = np.flatnonzero(~(done | sheet.among(status, _INCOMPLETE)))
    if odd.size:
        said = shorten(sheet.frame[status].iloc[odd[0]])
        raise sheet.error(int(odd[0]), status, f"{said} is no status of a form.")
    if n := int(np.count_nonzero(~done & ~unticked)):
        boxes = counted(n, "record with ticks", "records with ticks")
        warn(f"{sheet.name}: {boxes} left out, as {status!r} is not Complete.", SetagreeWarning)
    kept = [each if d else None for each, d in zip(labels, done, strict=True)]
    return kept, np.zeros(len(kept), dtype=bool)


_BLANK = "A blank answer needs blank= or roster=."

FORMATS: tuple[Format, ...] = (
    Format(
        "google_forms_csv",
        "Google Forms, downloaded CSV",
        "documented",
        _is_form_download,
        _read_form_download,
        _BLANK,
    ),
    Format(
        "google_forms_sheet",
        "Google Forms, linked sheet",
        "documented",
        _is_form_sheet,
        _read_form_sheet,
        f"{_BLANK} A label that contains ', ' is taken for two, which codebook= shows.",
    ),
    Format(
        "redcap_raw",
        "REDCap, raw",
        "documented",
        _is_redcap_raw,
        _read_redcap_raw,
        "Without the column '<form>_complete', a record without a tick needs blank= or roster=.",
    ),
    Format(
        "redcap_labels",
        "REDCap, labels",
        "documented",
        _is_redcap_labels,
        _read_redcap_labels,
        "Without the column 'Complete?', a record without a tick needs blank= or roster=.",
    ),
)
