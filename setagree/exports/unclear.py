"""Answers that an export leaves open: none given, or the empty set."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.errors import DataError, OptionError, check_choice, counted, option, shorten
from setagree.exports.format import Answers, Request
from setagree.exports.gathering import choose_question
from setagree.exports.rosters import check_roster, read_roster, text_pairs
from setagree.study.labels import EMPTY, Blank
from setagree.study.spans import Spans, as_spans
from setagree.wording.label_sets import LabelSet

Flags: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Found:
    """What stands in an export, with the answers that it leaves open.

    `unclear` says which may be the empty set or none at all; their labels are None. `name` is what
    sentences call the file, and the rest is as in `Answers`.
    """

    name: str
    units: list[Hashable]
    raters: list[Hashable]
    labels: list[LabelSet | None]
    places: list[str]
    unclear: Flags

    @classmethod
    def of_rows(cls, name: str, rows: Iterable[tuple[Hashable, Hashable, LabelSet, str]]) -> Found:
        """Return what rows of unit, rater, labels and place say; one without labels is open."""
        every = list(rows)
        labels = [found or None for _, _, found, _ in every]
        return cls(
            name,
            [unit for unit, *_ in every],
            [rater for _, rater, *_ in every],
            labels,
            [place for *_, place in every],
            np.array([each is None for each in labels], dtype=bool),
        )


def settle(
    found: Found,
    request: Request,
    *,
    why: str,
    default: Blank | None = None,
    writes_empty: bool = True,
) -> Answers:
    """Return the answers, the open ones as the roster, ``blank=`` or the format says.

    A roster goes before ``blank=``, and that before the `default` of a format that has one. `why`
    is a sentence that says why the format leaves them open; `writes_empty` says whether an answer
    without labels stands in the file at all.
    """
    if request.blank is not None:
        check_choice("blank", request.blank, ("missing", "empty", "error"))
    if request.roster is not None:
        return _by_roster(found, request, adds=not writes_empty)
    policy = request.blank or default
    if not writes_empty and policy != "missing":
        raise DataError(
            f"{found.name}: {why} Say {option('roster')} (a table with columns unit and rater that "
            f"lists who annotated what), or {option('blank', 'missing')} if every annotation has a "
            "label."
        )
    if policy == "missing" or not found.unclear.any():
        return Answers(found.units, found.raters, found.labels, found.places)
    if policy == "empty":
        return _filled(found, found.unclear)
    raise DataError(_open_sentence(found, policy, why))


def settle_spans(spans: Spans, request: Request, name: str) -> None:
    """Keep the spans of one layer, and the documents that are done by roster, ``blank=`` or tool.

    Documents without spans remain open unless the tool tells that they are done: if `spans.why` is
    not blank an error asks for them, and if `spans.is_listed` is false a warning counts them.
    """
    layers = [one.layer for one in spans.rows if one.layer is not None]
    if request.question is not None and not layers:
        raise OptionError(
            f"{option('spans', request.question)} names a layer of an export, and {name} has none; "
            f"use {as_spans()}."
        )
    layer = choose_question(request.question, layers, name, name="spans")
    spans.rows = [one for one in spans.rows if one.layer == layer]
    why, is_listed = spans.why, spans.is_listed
    marked = {(one.document, one.rater) for one in spans.rows}
    roster, more = read_roster(request), [] if is_listed else spans.open_pairs
    unmarked = [one for one in spans.done if one not in marked]
    blank = [*(unmarked if is_listed or roster is not None else []), *more]
    kept, policy = {*blank}, request.blank
    if roster is not None:
        pairs = [*spans.done, *more]
        texts = text_pairs(*zip(*pairs, strict=True))
        check_roster(roster, texts, name)
        kept = {pair for pair, text in zip(pairs, texts, strict=True) if text in roster}
        if odd := [pair for pair in spans.done if pair in marked and pair not in kept]:
            raise DataError(
                f"{spans.done[odd[0]]} has spans, and the roster does not list rater "
                f"{shorten(odd[0][1])} with document {shorten(odd[0][0])}."
            )
    elif blank and why and policy not in {"empty", "missing"}:
        raise DataError(
            f"{counted(len(blank), 'document')} without spans (first: "
            f"{spans.done[blank[0]]}). {why} Say {option('blank', 'empty')} (nothing was found), "
            f"{option('blank', 'missing')} (not annotated), or {option('roster')} (a table with "
            "columns unit and rater that lists who annotated what)."
        )
    elif policy == "missing" or (policy != "empty" and not is_listed):
        kept = set()
        if policy != "missing":
            spans.warn_open(option("blank", "empty"), f"{name}: ")
    for pair in blank:
        if pair in kept:
            spans.done.setdefault(pair, name)
        else:
            spans.done.pop(pair, None)


def _open_sentence(found: Found, policy: Blank | None, why: str) -> str:
    rows = np.flatnonzero(found.unclear)
    blanks = f"{counted(rows.size, 'blank answer')} (first: {found.places[rows[0]]})"
    if policy == "error":
        return f"{found.name} has {blanks}, and {option('blank', 'error')} allows none."
    return (
        f"{found.name} has {blanks}. {why} Say {option('blank', 'empty')} (no label applies), "
        f"{option('blank', 'missing')} (no annotation), or {option('roster')} (a table with "
        "columns unit and rater that lists who annotated what)."
    )


def _filled(found: Found, empty: Flags) -> Answers:
    """Return the answers with the empty set in the rows that are marked."""
    labels = list(found.labels)
    for row in np.flatnonzero(empty):
        labels[row] = EMPTY
    return Answers(found.units, found.raters, labels, found.places)


def _by_roster(found: Found, request: Request, *, adds: bool) -> Answers:
    """Return the answers of a roster: what is open and on it is the empty set."""
    roster = read_roster(request) or {}
    pairs = text_pairs(found.units, found.raters)
    listed = np.array([pair in roster for pair in pairs], dtype=bool)
    answered = np.array([labels is not None for labels in found.labels], dtype=bool)
    _check_unlisted(found, np.flatnonzero(answered & ~listed))
    check_roster(roster, pairs, found.name, adds=adds)
    answers = _filled(found, found.unclear & listed)
    seen = set(pairs)
    rest = [pair for pair in roster if pair not in seen] if adds else []
    return Answers(
        [*answers.units, *(unit for unit, _ in rest)],
        [*answers.raters, *(rater for _, rater in rest)],
        [*answers.labels, *(EMPTY for _ in rest)],
        [*answers.places, *("the roster" for _ in rest)],
    )


def _check_unlisted(found: Found, rows: npt.NDArray[np.intp]) -> None:
    if rows.size:
        unit, rater = (shorten(ids[rows[0]]) for ids in (found.units, found.raters))
        raise DataError(
            f"{found.name} has {counted(rows.size, 'annotation')} that the roster does not list "
            f"(first: {found.places[rows[0]]}, unit {unit}, rater {rater}); list everyone who "
            "annotated, spelled as in the file."
        )


def listed_pairs(request: Request, units: Sequence[object], raters: Sequence[object]) -> Flags:
    """Return which of the pairs a roster lists; all of them where there is no roster."""
    roster = read_roster(request)
    if roster is None:
        return np.ones(len(units), dtype=bool)
    return np.array([pair in roster for pair in text_pairs(units, raters)], dtype=bool)
