"""The table that a run prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HEADER = ("what", "ours", "other", "ratio", "bar", "holds")


@dataclass(frozen=True)
class Row:
    """One measured promise, in words.

    - what: What was measured.
    - ours, other: Our number and the one it is compared with.
    - ratio: The number that the bar is about.
    - bar: The promise; empty for a row that only informs.
    - holds: Whether the promise is kept; None where there is none or it could not be measured.
    """

    what: str
    ours: str = ""
    other: str = ""
    ratio: str = ""
    bar: str = ""
    holds: bool | None = None

    def cells(self) -> tuple[str, ...]:
        """Return the row as text, one cell for each column of the table."""
        verdict = {True: "yes", False: "NO", None: "-"}[self.holds]
        return (self.what, self.ours, self.other, self.ratio, self.bar, verdict)


def at_most(what: str, *, ours: str, other: str, ratio: float, bar: float) -> Row:
    return Row(what, ours, other, f"{ratio:.2f}", f"<= {bar:g}", ratio <= bar)


def at_least(what: str, *, ours: str, other: str, ratio: float, bar: float) -> Row:
    return Row(what, ours, other, f"{ratio:,.0f}", f">= {bar:g}", ratio >= bar)


def duration(value: float) -> str:
    """Return seconds as people read them.

    Examples
    --------
    >>> duration(0.01234), duration(2.5)
    ('12.3 ms', '2.50 s')
    """
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.3g} ms"


def megabytes(n_bytes: float) -> str:
    """Return bytes as megabytes.

    Examples
    --------
    >>> megabytes(3_000_000)
    '3 MB'
    """
    return f"{n_bytes / 1e6:,.0f} MB"


def markdown(rows: Sequence[Row]) -> str:
    lines: list[tuple[str, ...]] = [HEADER, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join(f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)
