"""Rosters: who was asked, or who answered what, where an export cannot tell."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import pandas as pd

from setagree.errors import (
    DataError,
    SetagreeWarning,
    counted,
    did_you_mean,
    listing,
    shorten,
    warn,
)
from setagree.exports.format import Request
from setagree.files.tables import read_table
from setagree.study.assembly import pick_column
from setagree.study.frames import as_pandas
from setagree.study.identifiers import tidied
from setagree.study.labels import is_missing

Pair: TypeAlias = tuple[str, str]
"""A unit and a rater, as text without the space around it."""


def read_roster(request: Request) -> dict[Pair, None] | None:
    """Return the pairs of a roster in its order, or None if none was given."""
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
            f"roster: {error} It is a table, or the path of one, with columns 'unit' and 'rater'."
        ) from error
    return dict.fromkeys(text_pairs(units, raters))


def text_pairs(units: Sequence[object], raters: Sequence[object]) -> list[Pair]:
    """Return units and raters as the pairs that a roster has."""
    return [(tidied(str(u)), tidied(str(r))) for u, r in zip(units, raters, strict=True)]


def check_roster(
    roster: Mapping[Pair, None], pairs: Iterable[Pair], name: str, *, adds: bool = False
) -> None:
    """Doubt a roster that lists what the file does not have, as a misspelt name is.

    One of which nothing is in the file is refused.

    Under `adds`, who gave no label has no row in the file: a rater without any is possible, though
    rare, and a pair is usual.
    """
    seen = {*pairs}
    raters = {rater: None for _, rater in seen}
    if strangers := list(dict.fromkeys(r for _, r in roster if r not in raters)):
        who = f"{listing(strangers)}, who {'is' if len(strangers) == 1 else 'are'} nowhere in it"
        hint = did_you_mean(strangers[0], raters)
        sentence = f"{name}: the roster lists {who}; spell raters as in the file.{hint}"
        if not adds:
            raise DataError(sentence)
        warn(sentence, SetagreeWarning)
    absent = [] if adds else [pair for pair in roster if pair not in seen]
    if absent:
        unit, rater = (shorten(each) for each in absent[0])
        if len(absent) == len(roster):
            raise DataError(
                f"{name}: none of the {counted(len(roster), 'row')} of the roster has a "
                f"counterpart (first: unit {unit}, rater {rater}); spell units as in the file."
            )
        warn(
            f"{name}: {counted(len(absent), 'row')} of the roster without a counterpart (first: "
            f"unit {unit}, rater {rater}), which say nothing; spell units as in the file.",
            SetagreeWarning,
        )


def _ids(frame: pd.DataFrame, role: str) -> list[Any]:
    ids: list[Any] = pick_column(frame, role).tolist()
    bad = [row for row, each in enumerate(ids, 1) if is_missing(each) or not str(each).strip()]
    if bad:
        raise DataError(
            f"{counted(len(bad), 'row')} without a {role} (first: row {bad[0]}, counted from 1 "
            "below the header)."
        )
    return ids
