"""What a study holds: counts with what became of them, and the answers to a unit side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from setagree.errors import counted
from setagree.scoring.definition import Coefficient
from setagree.scoring.results import Agreement
from setagree.study.annotations import Annotations
from setagree.wording import words
from setagree.wording.words import Name, Sentence

Counted: TypeAlias = tuple[str, float, str]
"""What, how many, and what became of it."""

NAMED_RATINGS = 6
"""Ratings of a unit up to which it is said who gave which answer."""

MOST_ANSWERS = 8
"""Distinct answers to a unit that are shown side by side."""


def contents(study: Annotations, main: Agreement) -> Iterator[Counted]:
    """Yield what the study holds and what was left out of the coefficient."""
    yield "Units", study.n_units, _ratings_spread(study)
    lone = main.n_units - main.n_pairable_units
    if lone:
        yield "Units with a single rating", lone, _fate_of_lone(main.definition)
    yield "Raters", study.n_raters, _rater_spread(study)
    yield "Ratings", study.n_ratings, _share_of_cells(study)
    if study.n_missing:
        yield "Missing ratings", study.n_missing, "cells without an answer: left out, never counted"
    yield from _label_counts(study) if study.kind == "labels" else _value_counts(study)


def counts_line(study: Annotations) -> str:
    """Return what the study holds, in a line."""
    noun = "distinct set" if study.kind == "labels" else "distinct value"
    parts = [
        counted(study.n_units, "unit"),
        counted(study.n_raters, "rater"),
        counted(study.n_ratings, "rating"),
        counted(study.n_values, noun),
    ]
    return " · ".join(parts)


def _ratings_spread(study: Annotations) -> str:
    ratings = np.bincount(study.unit_codes, minlength=study.n_units)
    if ratings.min() == ratings.max():
        return f"{counted(int(ratings[0]), 'rating')} each"
    return f"{ratings.min():,} to {ratings.max():,} ratings each"


def _fate_of_lone(coefficient: Coefficient[...]) -> str:
    if coefficient.model.weigh == "ratings":
        return "left out: nobody to compare with"
    return "used for what chance gives, not for what was observed"


def _rater_spread(study: Annotations) -> str:
    load = np.bincount(study.rater_codes, minlength=study.n_raters)
    if load.min() == load.max():
        return f"{counted(int(load[0]), 'unit')} each"
    return f"{load.min():,} to {load.max():,} units each, the middle one {np.median(load):,.0f}"


def _share_of_cells(study: Annotations) -> str:
    cells = study.n_units * study.n_raters
    if study.n_ratings == cells:
        return "every rater rated every unit"
    return f"{words.share(study.n_ratings / cells)} of all units by raters"


def _label_counts(study: Annotations) -> Iterable[Counted]:
    summary = study.summary()
    n_empty = round(summary["share_empty"] * study.n_ratings)
    said = "no rating says that no label applies"
    if n_empty:
        part = words.share(n_empty / study.n_ratings)
        said = f"{part} of the ratings say that no label applies: an answer like any other"
    return [
        ("Empty sets", n_empty, said),
        ("Labels", summary["n_labels"], f"{summary['labels_per_rating']:.2f} a rating"),
        ("Distinct label sets", study.n_values, "in use"),
    ]


def _value_counts(study: Annotations) -> Iterable[Counted]:
    return [("Distinct values", study.n_values, "in use")]


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
    pieces: list[words.Words] = []
    for code, raters in ordered[:MOST_ANSWERS]:
        pieces += ["; "] if pieces else []
        pieces += [Name.of(study.values[code]), *_givers(raters, by_name=by_name)]
    rest = len(ordered) - MOST_ANSWERS
    return (*pieces, f"; and {counted(rest, 'other answer')}") if rest > 0 else tuple(pieces)


def _givers(raters: Sequence[Any], *, by_name: bool) -> Sentence:
    if not by_name:
        return (f"\u00a0×{len(raters)}",)
    return (" (", *words.enumeration([(Name.of(rater),) for rater in raters]), ")")
