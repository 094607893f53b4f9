"""Readers of tables from annotation and coding tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

from setagree.errors import DataError, FileError, SetagreeWarning, counted, shorten, warn
from setagree.exports.format import Answers, Format, Peek, Request
from setagree.exports.sheets import (
    Sheet,
    drop,
    flag_sets,
    has,
    label_list,
    pick_question,
    read_json,
    split_column,
    ticked,
)
from setagree.exports.unclear import settle
from setagree.wording.label_sets import LabelSet

# ---- Label Studio -------------------------------------------------------------------------------

_OF_LABEL_STUDIO = (
    *("annotation_id", "annotator", "created_at", "id", "lead_time", "updated_at"),
    *("agreement", "comments"),
)


def _is_label_studio(peek: Peek) -> bool:
    return has(peek, "annotation_id", "annotator", "lead_time", "id")


def _read_label_studio(path: Path, request: Request) -> Answers:
    """Read a CSV export; a task that nobody annotated has a row without an annotator."""
    sheet = Sheet.open(path, request)
    sheet = sheet.keep(~(sheet.blank("annotation_id") & sheet.blank("annotator")))
    name = _label_studio_question(sheet, request)
    found = sheet.found(
        sheet.ids("id"),
        sheet.ids("annotator"),
        sheet.parse(name, _choices),
        sheet.blank(name),
    )
    several = _asks_more(sheet, name)
    why = f"It was submitted without a choice{', or not shown' if several else ''}."
    return settle(found, request, why=why, default=None if several else "empty")


def _asks_more(sheet: Sheet, question: str) -> bool:
    """Say whether another column may be a question: data are the same in all rows of a task."""
    task = sheet.cells("id")
    others = [name for name in sheet.columns if name not in {*_OF_LABEL_STUDIO, question}]
    return any(
        sheet.cells(name).str.startswith('{"choices"').any()
        or (sheet.cells(name).groupby(task).nunique() > 1).any()
        for name in others
    )


def _label_studio_question(sheet: Sheet, request: Request) -> str:
    """Return the column of the answers: the one where somebody chose several labels."""
    known = [name for name in sheet.columns if name not in _OF_LABEL_STUDIO]
    if request.question is None:
        several = [n for n in known if sheet.cells(n).str.startswith('{"choices"').any()]
        known = several or known
        if not several:
            raise DataError(
                f"{sheet.name}: which column holds the choices? Nobody chose several labels, so "
                f"it may be any of {', '.join(map(repr, known))}; say question='...'."
            )
    return pick_question(request.question, known, sheet.name)


def _choices(cell: str) -> LabelSet:
    """Return the one choice that a cell is, or those of its JSON."""
    if cell.startswith(('{"choices"', "[")):
        try:
            found = read_json(cell)
        except FileError:
            if cell.startswith('{"choices"'):
                raise
            found = None
        if isinstance(found, dict):
            return label_list(found["choices"], cell)
        if isinstance(found, list) or cell.startswith("{"):
            raise FileError(
                f"{shorten(cell)} is no label and no list of choices for the whole task; export "
                "JSON if the choices belong to regions."
            )
    return frozenset({cell})


# ---- ATLAS.ti and Dedoose: a row is a segment that a rater marked -------------------------------


def _is_atlasti(peek: Peek) -> bool:
    return has(peek, "Document", "Codes", "Created by")


def _read_atlasti(path: Path, request: Request) -> Answers:
    """Read a table of quotations."""
    sheet = Sheet.open(path, request)
    found = sheet.found(
        _segments(sheet, "Document", "Reference"),
        sheet.ids("Created by"),
        split_column(sheet, "Codes", "\n" if request.sep is None else request.sep),
        sheet.blank("Codes"),
    )
    return settle(found, request, why="The quotation has no codes.", default="empty")


_APPLIED = re.compile(r"Code: (.+) Applied")


def _is_dedoose(peek: Peek) -> bool:
    return has(peek, "Media Title", "Excerpt Creator")


def _read_dedoose(path: Path, request: Request) -> Answers:
    """Read a table of excerpts, from the columns of the codes or else the combined one."""
    sheet = Sheet.open(path, request)
    codes = {name: match[1] for name in sheet.columns if (match := _APPLIED.fullmatch(name))}
    if codes:
        labels, blank = flag_sets(sheet, codes)
    else:
        combined = "Codes Applied Combined"
        labels = split_column(sheet, combined, ", " if request.sep is None else request.sep)
        blank = sheet.blank(combined)
    units = _segments(sheet, "Media Title", "Excerpt Range")
    found = sheet.found(units, sheet.ids("Excerpt Creator"), labels, blank)
    why = "Dedoose does not export excerpts without codes, so that who gave none is not in it."
    return settle(found, request, why=why, writes_empty=False)


def _segments(sheet: Sheet, document: str, part: str) -> list[Hashable]:
    """Return the units: documents where each has one marked part, else the parts."""
    if part not in sheet.frame:
        return sheet.ids(document)
    sizes = np.bincount(sheet.groups([document, part]))
    if sizes.size == sheet.groups([document]).max() + 1:
        return sheet.ids(document)
    if alone := int(np.count_nonzero(sizes == 1)):
        warn(
            f"{sheet.name}: {counted(alone, 'segment')} of {sizes.size:,} marked by one rater "
            f"only; segments are one unit where {document!r} and {part!r} are the same.",
            SetagreeWarning,
        )
    return [f"{d} [{p}]" for d, p in zip(sheet.cells(document), sheet.cells(part), strict=True)]


# ---- NVivo: refused, as it has no raters --------------------------------------------------------

_MATRIX_COLUMN = re.compile(r"[A-Z]+ : .+")


def _is_matrix(peek: Peek) -> bool:
    first, *rest = peek.header or ("",)
    return not peek.is_folder and not first.strip() and any(map(_MATRIX_COLUMN.fullmatch, rest))


def _is_comparison(peek: Peek) -> bool:
    return has(peek, "Code", "File", "Kappa")


def _refuser(what: str) -> Callable[[Path, Request], NoReturn]:
    def refuse(path: Path, _request: Request) -> NoReturn:
        raise DataError(
            f"{path.name} is {what}: who gave which codes to which file cannot be told from it. "
            "In NVivo, run a matrix coding query for each user alone (files in rows, codes in "
            "columns, coded by one user), and stack the matrices as a table with columns unit and "
            "rater and one column of 0 and 1 for each code."
        )

    return refuse


# ---- Flags in the layout of GoEmotions ----------------------------------------------------------

_UNCLEAR = "example_very_unclear"


def _is_onehot(peek: Peek) -> bool:
    return has(peek, "id", "rater_id", _UNCLEAR)


def _read_onehot(path: Path, request: Request) -> Answers:
    """Read one column a label; an example that was called very unclear is no annotation."""
    sheet = Sheet.open(path, request)
    unclear = ticked(sheet, _UNCLEAR)
    place = sheet.columns.index(_UNCLEAR)
    _refuse_flags(sheet, sheet.columns[:place])
    labels, blank = flag_sets(sheet, {n: n for n in sheet.columns[place + 1 :]})
    found = sheet.found(
        sheet.ids("id"), sheet.ids("rater_id"), drop(labels, unclear), blank & ~unclear
    )
    return settle(found, request, why="All its labels are blank.")


def _refuse_flags(sheet: Sheet, names: Sequence[str]) -> None:
    """Refuse labels to the left of the labels, where nobody would look for them."""
    for name in names:
        flags = sheet.among(name, {"0", "1"})
        if name not in {"id", "rater_id", "column 1"} and flags.all():
            raise DataError(
                f"{sheet.name}: column {name!r} holds 0 and 1 and stands to the left of "
                f"{_UNCLEAR!r}; labels stand to its right. Move or drop that column."
            )


FORMATS: tuple[Format, ...] = (
    Format(
        "label_studio_csv",
        "Label Studio, CSV",
        "tool",
        _is_label_studio,
        _read_label_studio,
        "A blank answer is the empty set unless blank='missing' is said; with several questions, "
        "blank= must say it.",
    ),
    Format(
        "atlasti",
        "ATLAS.ti, quotations",
        "documented",
        _is_atlasti,
        _read_atlasti,
        "A quotation without codes is the empty set unless blank='missing' is said.",
    ),
    Format(
        "dedoose",
        "Dedoose, excerpts",
        "documented",
        _is_dedoose,
        _read_dedoose,
        "Excerpts without codes are not exported: roster= lists who annotated what, or "
        "blank='missing'.",
    ),
    Format(
        "nvivo_matrix",
        "NVivo, matrix coding query",
        "documented",
        _is_matrix,
        _refuser("a matrix of counts over all users"),
        "Refused: it has no raters.",
    ),
    Format(
        "nvivo_comparison",
        "NVivo, coding comparison",
        "documented",
        _is_comparison,
        _refuser("a comparison of two users or groups, code by code"),
        "Refused: it has no raters.",
    ),
    Format(
        "hf_onehot",
        "Flags in the layout of GoEmotions",
        "documented",
        _is_onehot,
        _read_onehot,
    ),
)
