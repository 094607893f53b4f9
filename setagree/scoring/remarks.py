"""The line below a table: which rows the printed t interval is too narrow for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from setagree.wording.escaping import visible
from setagree.wording.numbers import four, level_text

if TYPE_CHECKING:
    from setagree.scoring.results import Agreement

_FAR = 0.02
"""How much lower than t the score interval must reach for the table to say so."""

_NAMED = 4
"""Rows that the line gives the score interval of."""


def remarks(rows: Sequence[Agreement], level: float) -> list[str]:
    """Return, in one line, why rows have no t interval and which have a much lower score interval.

    Nothing where all t intervals are as good.
    """
    alike = [row for row in rows if row.standard_error == 0]
    said = [_no_interval(alike, len(rows))] if alike else []
    wide = [shown for row in rows if (shown := _much_lower(row, level))]
    if wide:
        more = f" and {len(wide) - _NAMED:,} more rows" if len(wide) > _NAMED else ""
        listed = f"{', '.join(wide[:_NAMED])}{more}"
        said.append(f"{level_text(level, gap='')} score interval, for small studies: {listed}.")
    return [" ".join(said)] if said else []


def _name(row: Agreement) -> str:
    return visible(f"{row.coefficient} [{row.distance}]")


def _no_interval(alike: Sequence[Agreement], n_rows: int) -> str:
    found: dict[str, list[str]] = {}
    for row in alike:
        found.setdefault(str(row.interval_reason), []).append(_name(row))
    said = [
        why if len(names) == n_rows else f"{why} ({', '.join(names)})"
        for why, names in found.items()
    ]
    return f"{'. '.join(said)}; permutation_test gives a p-value for this case."


def _much_lower(row: Agreement, level: float) -> str | None:
    """Return the score interval of a row where it reaches far below t, or where there is no t."""
    if row.best_method != "score":
        return None
    low, high = row.interval(level, method="score")
    if np.isnan(low) or (row.standard_error > 0 and low >= row.interval(level)[0] - _FAR):
        return None
    return f"{_name(row)} {four(low)} to {four(high)}"
