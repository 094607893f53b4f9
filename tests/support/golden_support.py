"""What the golden tests share: reading printed figures and legible data.

No figure in here comes from setagree; nothing in here calls it, except to code the data.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd

import setagree as sa

GOLDEN = Path(__file__).parents[1] / "golden"
EXACT = 1e-12  # for fractions and whole numbers: double rounding of a short sum, nothing else


def golden(name: str) -> dict[str, Any]:
    """Load one JSON file of published figures."""
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


def printed(text: str) -> tuple[float, float]:
    """Read a figure with its tolerance, half a unit of its last digit ("25/54" is exact)."""
    if "." not in text:
        return float(Fraction(text)), EXACT
    mantissa, _, exponent = text.lower().partition("e")
    digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return float(text), 0.5 * 10.0**-digits + EXACT


def is_printed(actual: float, text: str) -> bool:
    """Tell whether a number rounds to the printed figure, to every printed digit."""
    value, tolerance = printed(text)
    return math.isfinite(actual) and abs(actual - value) <= tolerance


def label_set(word: str) -> frozenset[str] | None:
    """Read one-letter labels: "ab" is {a, b}, "{}" the empty set, "." a missing rating."""
    if word == ".":
        return None
    return frozenset() if word == "{}" else frozenset(word)


def words(text: str) -> pd.DataFrame:
    """Read units ("/" between them) x raters (words) of label sets, None where one is missing."""
    rows = [[label_set(word) for word in unit.split()] for unit in text.split("/")]
    raters = [f"rater {number}" for number in range(1, len(rows[0]) + 1)]
    units = [f"unit {number}" for number in range(1, len(rows) + 1)]
    return pd.DataFrame(rows, index=units, columns=raters, dtype=object)


def scores(rows: list[list[Any]]) -> sa.Annotations:
    """Code single values from units x raters rows, None where a rating is missing."""
    raters = [f"rater {number}" for number in range(1, len(rows[0]) + 1)]
    return sa.Annotations.from_wide(pd.DataFrame(rows, columns=raters, dtype=object), kind="value")


def presence(frame: pd.DataFrame, label: Any) -> sa.Annotations:
    """Ask of every rating only whether it is, or contains, the label."""

    def present(answer: Any) -> int | None:
        if answer is None:
            return None
        return int(label in answer if isinstance(answer, frozenset) else answer == label)

    return scores([[present(answer) for answer in row] for row in frame.to_numpy(dtype=object)])
