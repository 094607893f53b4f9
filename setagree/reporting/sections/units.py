"""Units to adjudicate: those with the largest disagreement, with all answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from setagree.diagnosis.by_unit import COLUMNS, disagreement_of_units
from setagree.errors import counted
from setagree.plots import diagnosis
from setagree.reporting.sections.base import (
    Findings,
    Picture,
    Section,
    Topic,
    table_of,
    with_sentences,
)
from setagree.study.annotations import Annotations
from setagree.wording.number_format import count, share
from setagree.wording.sentences import Name, Sentence, Words, enumeration
from setagree.wording.tables import Column

MOST_ROWS = 12

_NAMED_UNITS = 3
"""Number of units that are named as the first to adjudicate."""

NAMED_RATINGS = 6
"""Largest number of ratings of a unit for which the raters of each answer are named."""

MOST_ANSWERS = 8
"""Largest number of distinct answers that are shown for a unit."""


def compute(f: Findings) -> pd.DataFrame:
    """Return the disagreement on each unit."""
    return disagreement_of_units(f.main)


def summary(f: Findings, units: pd.DataFrame) -> Sentence:
    """Return sentences on the fewest units with half of the disagreement, and on the first ones."""
    if not units["disagreement"].iloc[0] > 0:
        return (f"The raters agree fully in all {counted(len(units), 'unit')}.",)
    ordered = diagnosis.largest_share_first(units)
    n, lies = diagnosis.half_of(ordered)
    agreed = f"; all ratings are equal in {f.main.full_agreement_text}"
    perfect = agreed if f.main.full_agreement else ""
    part = f"{count(n)} of {counted(len(units), 'unit')} ({share(n / len(units))})"
    return (
        f"{lies} in {part}{perfect}. To adjudicate first: ",
        *_first(ordered[ordered["disagreement"] > 0]),
        ".",
    )


def _first(ordered: pd.DataFrame) -> Sentence:
    """Return the first units, and the number of ties if not all are named."""
    names = enumeration([(Name.of(unit),) for unit in ordered["unit"].iloc[:_NAMED_UNITS]])
    worst = ordered[["share_of_disagreement", "disagreement"]].to_numpy(dtype=float)
    n_tied = int(np.isclose(worst, worst[0], rtol=1e-9, atol=0).all(axis=1).sum())
    tied = f"{counted(n_tied, 'unit')} with the same disagreement, among them "
    return (tied, *names) if n_tied > _NAMED_UNITS else names


def sections(f: Findings, units: pd.DataFrame) -> list[Section]:
    """Return the table of units to adjudicate with their answers."""
    frame, picture = diagnosis.largest_share_first(units), None
    frame = frame[frame["disagreement"] > 0]
    if not len(frame):
        return []
    if f.main.reason is None:
        picture = Picture(partial(diagnosis.units, units), 3.0)
    frame = with_sentences(frame, answers(f.study, list(frame["unit"].iloc[:MOST_ROWS])))
    unit, _, *numbers, _ = COLUMNS
    columns = [unit, Column("sentence", "text", "answers"), *numbers]
    note = (
        "Disagreement: the mean distance between the answers to the unit. Of two units with the "
        "same disagreement, the one with more ratings has the larger share."
    )
    caption = "Units to adjudicate, the largest share of the disagreement first"
    table = table_of(frame, columns, caption, limit=MOST_ROWS, function="by_unit")
    return [Section(table, picture, note)]


def answers(study: Annotations, units: Sequence[Any]) -> list[Sentence]:
    """Return the answers to each of some units, with their raters or the number of these."""
    wanted = dict.fromkeys(units)
    place = {code: unit for code, unit in enumerate(study.units) if unit in wanted}
    rows = np.flatnonzero(np.isin(study.unit_codes, list(place)))
    raters_of_answer: dict[Any, dict[int, list[Any]]] = {unit: {} for unit in wanted}
    for row in rows.tolist():
        of_unit = raters_of_answer[place[int(study.unit_codes[row])]]
        raters = of_unit.setdefault(int(study.value_codes[row]), [])
        raters.append(study.raters[study.rater_codes[row]])
    return [_answers_of_unit(study, raters_of_answer[unit]) for unit in units]


def _answers_of_unit(study: Annotations, given: dict[int, list[Any]]) -> Sentence:
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
    "Units to adjudicate",
    sections,
    compute,
    about="Units",
    summary=summary,
    optional=True,
    one_by_one="The changes",
)
