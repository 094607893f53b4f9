"""The line below a table: which rows the printed t interval is too narrow for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

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
    wide = [row for row in rows if row.best_method == "score" and _reaches_lower(row, level)]
    said += [_score_intervals(wide, level)] if wide else []
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
    return f"{'. '.join(said)}; permutation_test gives a p for that."


def _reaches_lower(row: Agreement, level: float) -> bool:
    """Say whether the low end lies far below that of t; where there is no t, whether there is."""
    low, t_low = row.interval(level, method="score")[0], row.interval(level)[0]
    return low < t_low - _FAR if row.standard_error > 0 else low == low


def _score_intervals(wide: Sequence[Agreement], level: float) -> str:
    ends = [(_name(row), *row.interval(level, method="score")) for row in wide[:_NAMED]]
    shown = ", ".join(f"{name} {four(low)} to {four(high)}" for name, low, high in ends)
    more = f" and {len(wide) - _NAMED:,} more rows" if len(wide) > _NAMED else ""
    return f"{level_text(level, gap='')} score interval, for small studies: {shown}{more}."
