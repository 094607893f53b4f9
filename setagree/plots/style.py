"""What the pictures share: colours, how things are worded, what is left out of large ones."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.wording.text import short_text

Floats: TypeAlias = npt.NDArray[np.float64]

# Both are seen by every eye as two colours, and stand out from white and from near-black alike (4.2
# to 1); in grey they are one, so that whatever differs in colour differs in form as well.
BLUE = "#2f7fc1"
ORANGE = "#c9590a"

FAINT = 0.15
"""How much of the ink a line that only guides the eye has."""

SOFT = 0.72
"""How much of the ink a text has that explains."""

NAME_SIZE, TITLE_SIZE = 8.5, 11.0
"""Points of type."""


def wrapped(lines: Iterable[str], *, width: int) -> str:
    """Return the lines that are not empty, each broken where it gets wider than ``width``."""
    return "\n".join(textwrap.fill(line, width) for line in lines if line)


def floats(frame: pd.DataFrame, name: str) -> Floats:
    """Return a column as doubles, whatever pandas made of its gaps; nan where it is absent."""
    if name not in frame.columns:
        return np.full(len(frame), np.nan)
    return np.asarray(pd.to_numeric(frame[name], errors="coerce"), dtype=np.float64)


def texts(frame: pd.DataFrame, name: str) -> list[str]:
    """Return a column of names as short texts."""
    return [short_text(value) for value in frame[name]]


def coded(frame: pd.DataFrame, one: str, other: str) -> tuple[npt.NDArray[np.intp], list[object]]:
    """Return the codes of two columns of names, shape (rows, 2), -1 for none, and the names."""
    both = pd.Series([*frame[one], *frame[other]], dtype=object)
    codes, names = pd.factorize(both.to_numpy())
    return codes.reshape(2, -1).T, list(names)


def reasons(frame: pd.DataFrame) -> list[str]:
    """Return why each row is undefined; an empty text where it says nothing."""
    if "reason" not in frame.columns:
        return [""] * len(frame)
    return ["" if pd.isna(why) else str(why) for why in frame["reason"]]


def largest(weight: Floats, limit: int) -> npt.NDArray[np.intp]:
    """Return where the ``limit`` largest stand, in the order they came in; nan is last."""
    ranked = np.argsort(-np.nan_to_num(weight, nan=-np.inf), kind="stable")
    return np.sort(ranked[:limit])


def rescaled(x: Any, top: float) -> Floats:
    """Return x / top where that says something, else zeros."""
    values = np.asarray(x, dtype=np.float64)
    return values / top if np.isfinite(top) and top > 0 else np.zeros_like(values)
