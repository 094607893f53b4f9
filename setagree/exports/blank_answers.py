"""Blank answers of exports: the empty set or no annotation, by roster, option or format."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from setagree.checks import Flags
from setagree.errors import (
    DataError,
    SetagreeWarning,
    check_choice,
    counted,
    did_you_mean,
    listing,
    option,
    shorten,
    warn,
)
from setagree.exports.format import Answers, Request
from setagree.exports.reader_helpers import choose_question
from setagree.files.tables import read_table
from setagree.study.assembly import LongColumns, pick_column
from setagree.study.codes import Column, as_objects
from setagree.study.frames import as_pandas, row_numbers
from setagree.study.identifiers import tidied
from setagree.study.labels import EMPTY, Blank, is_missing
from setagree.study.spans import Spans
from setagree.wording.label_sets import LabelSet

Pair: TypeAlias = tuple[str, str]
"""A unit and a rater, as text without surrounding space."""


@dataclass(frozen=True)
class Found:
    """The answers in an export, including those that may be empty or missing.

    `unclear` marks answers that may be the empty set or no annotation; their labels are None.
    `name` is the file in messages, and the others are as in `Answers`.
    """

    name: str
    units: list[Hashable]
    raters: list[Hashable]
    labels: list[LabelSet | None]
    places: list[str]
    unclear: Flags

    @classmethod
    def from_rows(
        cls, name: str, rows: Iterable[tuple[Hashable, Hashable, LabelSet, str]]
    ) -> Found:
        """Return the answers in rows of unit, rater, labels and place; empty sets are unclear."""
        table = list(rows)
        units, raters, sets, places = ([row[k] for row in table] for k in range(4))
        labels: list[Any] = [labels or None for labels in sets]
        unclear = np.array([x is None for x in labels], dtype=bool)
        return cls(name, units, raters, labels, [str(place) for place in places], unclear)


def settle(
    found: Found,
    request: Request,
    *,
    why: str,
    default: Blank | None = None,
    writes_empty: bool = True,
) -> Answers:
    """Return the answers, the unclear ones as the roster, ``blank=`` or the format defines them.

    A roster takes precedence over ``blank=``, and that over the `default` of the format. `why` is
    a sentence that gives the reason for unclear answers; `writes_empty` is whether the file can
    contain an answer without labels.
    """
    if request.blank is not None:
        check_choice("blank", request.blank, ("missing", "empty", "error"))
    if request.roster is not None:
        return _by_roster(found, request, adds=not writes_empty)
    policy = request.blank or default
    if not writes_empty and policy != "missing":
        raise DataError(
            f"{found.name}: {why} Use {_roster_option()}, or {option('blank', 'missing')} if every "
            "annotation has a label."
        )
    if policy == "missing" or not found.unclear.any():
        return Answers(found.units, found.raters, found.labels, found.places)
    if policy == "empty":
        return _filled(found, found.unclear)
    rows = np.flatnonzero(found.unclear)
    blanks = f"{counted(rows.size, 'blank answer')} (first: {found.places[rows[0]]})"
    if policy == "error":
        raise DataError(f"{found.name} has {blanks}, and {option('blank', 'error')} permits none.")
    raise DataError(
        f"{found.name} has {blanks}. {why} Use {option('blank', 'empty')} (no label applies), "
        f"{option('blank', 'missing')} (no annotation), or {_roster_option()}."
    )


def settle_spans(spans: Spans, request: Request, name: str) -> None:
    """Keep the spans of one layer, and the documents that a rater annotated.

    A roster or ``blank=`` defines whether documents without spans were annotated.
    """
    layers = [span.layer for span in spans.rows if span.layer is not None]
    layer = choose_question(request.question, layers, name, name="spans")
    spans.rows = [span for span in spans.rows if span.layer == layer]
    listed = None
    if (roster := read_roster(request)) is not None:
        pairs = [*spans.done, *(spans.open_pairs if spans.why is None else ())]
        texts = text_pairs([document for document, _ in pairs], [rater for _, rater in pairs])
        check_roster(roster, texts, name)
        listed = [pair for pair, text in zip(pairs, texts, strict=True) if text in roster]
    remedy = (
        f"{option('blank', 'empty')} (nothing was found), {option('blank', 'missing')} (not "
        f"annotated), or {_roster_option()}"
    )
    spans.settle(listed, request.blank, name if listed is None else option("roster"), remedy)


def _roster_option() -> str:
    return f"{option('roster')} (a table with columns unit and rater that lists who annotated what)"


def _filled(found: Found, rows: Flags) -> Answers:
    """Return the answers with the empty set in the marked rows."""
    pairs = zip(found.labels, rows.tolist(), strict=True)
    labels = [EMPTY if is_empty else labels for labels, is_empty in pairs]
    return Answers([*found.units], [*found.raters], labels, [*found.places])


def _by_roster(found: Found, request: Request, *, adds: bool) -> Answers:
    """Return the answers of a roster, which makes its unclear answers empty sets.

    With `adds`, pairs that the file does not have are empty sets, too.
    """
    roster = read_roster(request) or {}
    pairs = text_pairs(found.units, found.raters)
    listed = np.array([pair in roster for pair in pairs], dtype=bool)
    answered = np.array([labels is not None for labels in found.labels], dtype=bool)
    rows = np.flatnonzero(answered & ~listed)
    if rows.size:
        unit, rater = (shorten(ids[rows[0]]) for ids in (found.units, found.raters))
        raise DataError(
            f"{found.name} has {counted(rows.size, 'annotation')} that the roster does not list "
            f"(first: {found.places[rows[0]]}, unit {unit}, rater {rater}); list everyone who "
            "annotated, spelled as in the file."
        )
    check_roster(roster, pairs, found.name, adds=adds)
    answers = _filled(found, found.unclear & listed)
    seen = set(pairs)
    for unit, rater in roster if adds else ():
        if (unit, rater) not in seen:
            answers.add(unit, rater, EMPTY, "the roster")
    return answers


_MARKER = re.compile(r"#?n/?a|<na>|nan|null", re.IGNORECASE)


def listed_answers(long: LongColumns, roster: Any) -> Column:
    """Return the answers of a table, with ``[]`` in the blank cells of the pairs of a roster.

    A pair that is not listed has no answer: its cell is blank, or a marker such as NA.
    """
    request = Request(roster=roster)
    listed = read_roster(request) or {}
    units, raters, cells = (as_objects(column).tolist() for column in long[:3])
    texts = ["" if is_missing(cell) else str(cell).strip() for cell in cells]
    answered: list[LabelSet | None] = [
        EMPTY if text and (pair in listed or not _MARKER.fullmatch(text)) else None
        for text, pair in zip(texts, text_pairs(units, raters), strict=True)
    ]
    places = [f"row {number}" for number in row_numbers(long.unit).tolist()]
    blank = np.array([not text for text in texts], dtype=bool)
    found = Found("the table", units, raters, answered, places, blank)
    settled = zip(cells, texts, settle(found, request, why="").labels, strict=True)
    answers = ["" if out is None else cell if text else "[]" for cell, text, out in settled]
    return pd.Series(as_objects(answers), name=long.answer.name, dtype=object)


# ---- Rosters -------------------------------------------------------------------------------------


def read_roster(request: Request) -> dict[Pair, None] | None:
    """Return the pairs of a roster in its order, or None if none was passed."""
    if request.roster is None:
        return None
    table: Any = request.roster
    if isinstance(table, str | os.PathLike):
        table = read_table(table, encoding=request.encoding)
    try:
        frame = as_pandas(table, ("unit", "rater"))
        units, raters = (_ids(frame, role) for role in ("unit", "rater"))
    except DataError as error:
        raise DataError(
            f"roster: {error} It must be a table, or the path of one, with columns 'unit' and "
            "'rater'."
        ) from error
    return dict.fromkeys(text_pairs(units, raters))


def text_pairs(units: Sequence[object], raters: Sequence[object]) -> list[Pair]:
    """Return units and raters as pairs for comparison with a roster."""
    return [(tidied(str(u)), tidied(str(r))) for u, r in zip(units, raters, strict=True)]


def check_roster(
    roster: Mapping[Pair, None], pairs: Iterable[Pair], name: str, *, adds: bool = False
) -> None:
    """Warn if the file lacks rows of a roster; raise an error if it lacks all, or a rater.

    With `adds`, a rater without labels has no row in the file: an absent rater raises a warning,
    and absent pairs are expected.
    """
    seen = {*pairs}
    raters = {rater: None for _, rater in seen}
    if strangers := list(dict.fromkeys(r for _, r in roster if r not in raters)):
        verb = "is" if len(strangers) == 1 else "are"
        hint = did_you_mean(strangers[0], raters)
        sentence = (
            f"{name}: the roster lists {listing(strangers)}, who {verb} not in the file; spell "
            f"raters as in the file.{hint}"
        )
        if not adds:
            raise DataError(sentence)
        warn(sentence, SetagreeWarning)
    absent = [] if adds else [pair for pair in roster if pair not in seen]
    if absent:
        unit, rater = map(shorten, absent[0])
        first = f"(first: unit {unit}, rater {rater}); spell units as in the file."
        if len(absent) == len(roster):
            rows = counted(len(roster), "row")
            raise DataError(f"{name}: none of the {rows} of the roster is in the file {first}")
        rows = counted(len(absent), "row")
        warn(f"{name}: ignored {rows} of the roster that the file lacks {first}", SetagreeWarning)


def _ids(frame: pd.DataFrame, role: str) -> list[Any]:
    ids: list[Any] = pick_column(frame, role).tolist()
    blank = [row for row, cell in enumerate(ids, 1) if is_missing(cell) or not str(cell).strip()]
    if blank:
        raise DataError(
            f"{counted(len(blank), 'row')} without a {role} (first: row {blank[0]}, counted from 1 "
            "below the header)."
        )
    return ids
