"""The table of a plan that people read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import setagree as sa
from setagree.cli.tables import counts, of_rows, paragraphs, table_text, whole, wrapped
from setagree.errors import counted
from setagree.inference.pilot_variance import take_turns
from setagree.inference.planning import Plan
from setagree.wording.number_format import four, level_text


def plans(table: sa.AgreementTable, planned: Sequence[Plan], frame: pd.DataFrame) -> str:
    """Return what the pilot gave, and a table of what more units and raters would give."""
    parts = [counts(table)]
    together = [name for name in ("units_per_cluster", "clusters") if name in frame]
    for row, plan in zip(table, planned, strict=True):
        mine = frame[
            (frame["coefficient"] == row.coefficient) & (frame["distance"] == row.distance)
        ]
        shown = {
            "raters": map(_raters, mine["raters"]),
            "units": map(whole, mine["units"]),
            **{name.replace("_", " "): map(_raters, mine[name]) for name in together},
            "more units": map(whole, mine["more_units"]),
            f"{level_text(table.level, gap='')} interval": [
                f"± {four(half)}" for half in mine["half_width"]
            ],
            "se": map(four, mine["standard_error"]),
            **{name: map(four, mine[name]) for name in ("power",) if name in mine},
            **{name: (f"{x:,.10g}" for x in mine[name]) for name in ("cost",) if name in mine},
            "basis": mine["basis"],
        }
        parts += [
            repr(row)[1:-1],
            table_text(shown),
            *map(wrapped, plan.notes),
        ]
    notes = [text for basis, text in _BASES.items() if basis in set(frame["basis"])]
    if any(np.isnan(row.standard_error) for row in table):
        notes.append("mv_alpha: se by the jackknife over units, as it has no linearised one.")
    if "extended" in set(frame["basis"]) and any(take_turns(row) for row in table):
        notes.append("raters: ratings a unit, as the raters of the pilot take turns.")
    return paragraphs(*parts, wrapped(" ".join([_beyond(planned), *notes])))


def _beyond(planned: Sequence[Plan]) -> str:
    """Return which units of the pilot the others are added to."""
    said = []
    for plan in planned:
        one, n = plan.agreement, plan.pilot_units
        which = {one.n_pairable_units: " that have two ratings", one.n_units: ""}
        said.append(f"the {counted(n, 'unit')} of the pilot{which.get(n, ' that count')}")
    return f"more units: beyond {of_rows(said, [plan.agreement.coefficient for plan in planned])}."


_BASES = {
    "raters left out": "raters left out: the mean of what the pilot gives with so many of its "
    "raters.",
    "ratings left out": "ratings left out: as raters take turns in the pilot, so many ratings a "
    "unit, drawn at random.",
    "extended": "extended: extrapolated from fewer raters, a rough guide.",
}


def _raters(number: Any) -> str:
    """Return how many raters; a decimal where it is a mean number of ratings a unit."""
    return whole(number) if pd.isna(number) or number == int(number) else f"{number:.1f}"
