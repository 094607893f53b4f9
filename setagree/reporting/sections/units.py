"""Units to adjudicate: where the raters disagree most, with their answers side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from setagree.diagnosis.by_unit import by_unit
from setagree.errors import counted
from setagree.plots import diagnosis
from setagree.reporting.sections.base import (
    MOST_DRAWN,
    Column,
    Findings,
    Listing,
    Picture,
    Section,
    Topic,
    with_sentences,
)
from setagree.study.annotations import Annotations
from setagree.wording.number_format import count, share
from setagree.wording.sentences import Name, Sentence, Words, enumeration

MOST_ROWS = 12

_NAMED_UNITS = 5
"""Units that are named as the first to adjudicate."""

NAMED_RATINGS = 6
"""Number of ratings of a unit up to which answers are listed with their raters."""

MOST_ANSWERS = 8
"""Distinct answers to a unit that are shown side by side."""


def compute(f: Findings) -> pd.DataFrame:
    """Return the disagreement on each unit."""
    return by_unit(f.study, **f.measure)


def summary(f: Findings) -> Sentence:
    """Return in how few units half of the disagreement lies, and which hold most of it."""
    units = f.frame("units")
    if units is None:
        return ()
    if not units["disagreement"].iloc[0] > 0:
        return (f"In all of {counted(len(units), 'unit')} the raters agree fully.",)
    costly = diagnosis.costliest_first(units)
    n, lies = diagnosis.half_of(costly)
    agreed = int((units["disagreement"] == 0).sum())
    perfect = f"; in {counted(agreed, 'unit')} all agree fully" if agreed else ""
    part = f"{count(n)} of {counted(len(units), 'unit')} ({share(n / len(units))})"
    said = f"{lies} in {part}{perfect}."
    return (f"{said} To adjudicate first: ", *_first(costly[costly["disagreement"] > 0]), ".")


def _first(costly: pd.DataFrame) -> Sentence:
    """Return the units that cost most, and the number of ties if more than are named."""
    names = enumeration([(Name.of(unit),) for unit in costly["unit"].iloc[:_NAMED_UNITS]])
    worst = costly[["share_of_disagreement", "disagreement"]].to_numpy(dtype=float)
    n_tied = int(np.isclose(worst, worst[0], rtol=1e-9, atol=0).all(axis=1).sum())
    tied = f"{counted(n_tied, 'unit')} tie at the maximum, among them "
    return (tied, *names) if n_tied > _NAMED_UNITS else names


def sections(f: Findings) -> list[Section]:
    """Return the units to adjudicate, the worst first, with their answers side by side."""
    frame, picture = f.frame("units"), None
    if frame is not None:
        if f.main.reason is None:
            picture = Picture(partial(diagnosis.units, frame, limit=MOST_DRAWN), 3.6)
        frame = diagnosis.costliest_first(frame)
        frame = frame[frame["disagreement"] > 0] if (frame["disagreement"] > 0).any() else None
    if frame is not None:
        worst = list(frame["unit"].iloc[:MOST_ROWS])
        frame = with_sentences(frame, answers(f.study, worst))
    columns = [
        Column("Unit", "name", "unit"),
        Column("Answers", "text", "said"),
        Column("Share of all", "share", "share_of_disagreement", is_part=True),
        Column("Disagreement", "number", "disagreement"),
        Column("Ratings", "count", "n_ratings"),
    ]
    note = (
        "Disagreement: the mean distance between the answers to the unit. Units with more ratings "
        "account for more of the disagreement."
    )
    caption = "Units to adjudicate, those that cost most first"
    listing = Listing("units", "Units to adjudicate", caption, "by_unit", MOST_ROWS, note)
    return listing.section(f, frame, columns, lead=summary(f), picture=picture)


def answers(study: Annotations, units: Sequence[Any]) -> list[Sentence]:
    """Return the answers to some units side by side: who gave each, or how many where many did.

    One pass over the ratings, whatever the number of units that are asked for.
    """
    asked = dict.fromkeys(units)
    place = {code: unit for code, unit in enumerate(study.units) if unit in asked}
    rows = np.flatnonzero(np.isin(study.unit_codes, list(place)))
    given: dict[Any, dict[int, list[Any]]] = {unit: {} for unit in asked}
    for row in rows.tolist():
        of_unit = given[place[int(study.unit_codes[row])]]
        raters = of_unit.setdefault(int(study.value_codes[row]), [])
        raters.append(study.raters[study.rater_codes[row]])
    return [_side_by_side(study, given[unit]) for unit in units]


def _side_by_side(study: Annotations, given: dict[int, list[Any]]) -> Sentence:
    """Return the answers to one unit, the most frequent first."""
    by_name = sum(map(len, given.values())) <= NAMED_RATINGS
    ordered = sorted(given.items(), key=lambda item: -len(item[1]))
    pieces: list[Words] = []
    for code, raters in ordered[:MOST_ANSWERS]:
        pieces += ["; "] if pieces else []
        who = (" (", *enumeration([(Name.of(rater),) for rater in raters]), ")")
        pieces += [Name.of(study.values[code]), *(who if by_name else (f"\u00a0×{len(raters)}",))]
    rest = len(ordered) - MOST_ANSWERS
    return (*pieces, f"; and {counted(rest, 'other answer')}") if rest > 0 else tuple(pieces)


TOPIC = Topic(
    "units",
    sections,
    compute,
    about="Units",
    summary=summary,
    optional=True,
    one_by_one="The changes",
)
