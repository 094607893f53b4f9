"""Distances that a labelled matrix states, and the rules that every entry of one keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from setagree.checks import public
from setagree.distances.base import Distance, Floats
from setagree.errors import DistanceError, check_flag, check_type, listing, shorten
from setagree.study.labels import LabelSyntax, read_cell
from setagree.study.numbers import as_number

LEAST, MOST = 1e-150, 1e150
"""Between these lies a distance that is not 0, so that it can be squared and added up."""


@dataclass(frozen=True, repr=False)
class MatrixDistance(Distance):
    """A labelled square matrix of distances; made by `distance_matrix`, where an example stands."""

    frame: pd.DataFrame = field(repr=False)

    def __call__(self, x: object, y: object) -> float:
        """Return the distance between two answers that the matrix lists."""
        row, column = self.position(x), self.position(y)
        if row is None or column is None:
            absent = shorten(x if row is None else y)
            raise DistanceError(f"the distance matrix {self.name!r} has no row for {absent}.")
        return float(self.frame.to_numpy()[row, column])

    def position(self, value: object) -> int | None:
        """Return where the axes list a value; None where they do not."""
        key = _axis_key(value)
        found = self._positions.get(key)
        # Text on an axis was read as a label set; a number is found under the set of its text.
        return self._positions.get(frozenset([str(key)])) if found is None else found

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return {key: k for k, key in enumerate(self.frame.index)}


@public
def distance_matrix(
    frame: pd.DataFrame, *, similarity: bool = False, name: str = "matrix"
) -> MatrixDistance:
    """Return the distance that a labelled square matrix states.

    Parameters
    ----------
    frame : DataFrame
        Index and columns name the values: label sets, label text (``"l1, l2"``; blank is the empty
        set), or scalars. Rows and columns are aligned by what they mean, never by position.
    similarity : bool
        Whether the entries are similarities in [0, 1] with 1 on the diagonal; then d = 1 - s.
    name : str
        What results call it.

    Raises
    ------
    DistanceError
        The matrix is not labelled, not symmetric, not zero on the diagonal, or not finite.

    Examples
    --------
    >>> import pandas as pd
    >>> credit = pd.DataFrame([[1, 0.5], [0.5, 1]], index=["a", "a, b"], columns=["a", "b, a"])
    >>> distance_matrix(credit, similarity=True)({"b", "a"}, {"a"})
    0.5
    """
    check_flag("similarity", similarity)
    check_type("name", name, str, "text")
    if not isinstance(frame, pd.DataFrame):
        raise DistanceError(
            "a distance matrix needs its labels: pass a DataFrame with both axes named."
        )
    if not frame.size:
        raise DistanceError(f"a distance matrix of shape {frame.shape} has no entries.")
    if _is_numbered(frame.index) and _is_numbered(frame.columns):
        raise DistanceError(
            "the distance matrix is not labelled, only numbered: name the values on both axes, as "
            "in DataFrame(..., index=values, columns=values)."
        )
    rows, columns = ([_axis_key(k) for k in axis] for axis in (frame.index, frame.columns))
    if len(set(rows)) < len(rows) or len(set(columns)) < len(columns):
        raise DistanceError("two rows or columns of the distance matrix name the same value.")
    unpaired = [k for k in (*rows, *columns) if (k in rows) != (k in columns)]
    if unpaired:
        raise DistanceError(
            f"only one axis of the distance matrix lists {listing(_texts(unpaired))}."
        )
    order = [columns.index(row) for row in rows]
    try:
        entries = frame.to_numpy(dtype=float)[:, order]
    except (TypeError, ValueError) as error:
        raise DistanceError("the distance matrix holds entries that are not numbers.") from error
    if similarity:
        entries = 1 - _checked_similarities(entries, rows)
    check_entries(entries, rows)
    bounded = bool((entries <= 1).all())
    aligned = pd.DataFrame(entries, index=pd.Index(rows, dtype=object, tupleize_cols=False))
    return MatrixDistance(name, aligned, bounded=bounded)


def _checked_similarities(entries: Floats, values: list[Any]) -> Floats:
    """Return similarities as they are, refused where they do not lie in [0, 1] with 1 for equal."""
    bad = ~((entries >= 0) & (entries <= 1))
    if bad.any():
        k, l = np.argwhere(bad)[0]
        raise DistanceError(
            f"a similarity lies between 0 and 1; {_pair(values, k, l)} has {entries[k, l]}."
        )
    if (np.diagonal(entries) != 1).any():
        k = int(np.flatnonzero(np.diagonal(entries) != 1)[0])
        hint = "" if np.diagonal(entries).any() else " It looks like a distance: drop similarity=."
        raise DistanceError(
            f"a similarity is 1 between equal values; {_pair(values, k, k)} has {entries[k, k]}."
            f"{hint}"
        )
    _check_symmetric(entries, values, "similarity")
    return entries


def check_entries(entries: Floats, values: list[Any]) -> None:
    """Raise `DistanceError` unless entries are finite, >= 0, symmetric and 0 on the diagonal."""
    check_range(entries, values)
    if (np.diagonal(entries) != 0).any():
        k = int(np.flatnonzero(np.diagonal(entries))[0])
        ones = bool((np.diagonal(entries) == 1).all())
        hint = " It looks like a similarity: say similarity=True." if ones else ""
        raise DistanceError(f"{_pair(values, k, k)} has {entries[k, k]}, not 0.{hint}")
    _check_symmetric(entries, values, "distance")


def check_range(entries: Floats, values: list[Any]) -> None:
    """Raise `DistanceError` unless entries are finite and not negative, and can be squared."""
    bad = ~np.isfinite(entries) | (entries < 0)
    if bad.any():
        k, l = np.argwhere(bad)[0]
        raise DistanceError(
            f"a distance is finite and >= 0; {_pair(values, k, l)} has {entries[k, l]}."
        )
    least = float(entries.min(initial=np.inf, where=entries > 0))
    if least < LEAST or entries.max(initial=0.0) > MOST:
        k, l = np.argwhere((entries > 0) & ((entries < LEAST) | (entries > MOST)))[0]
        raise DistanceError(
            f"a distance that is not 0 lies between {LEAST:g} and {MOST:g}, so that it can be "
            f"squared and added up; {_pair(values, k, l)} has {entries[k, l]}."
        )


def _check_symmetric(entries: Floats, values: list[Any], what: str) -> None:
    slack = 1e-12 * float(entries.max(initial=0.0))
    if not np.allclose(entries, entries.T, rtol=1e-12, atol=slack):
        k, l = np.argwhere(~np.isclose(entries, entries.T, rtol=1e-12, atol=slack))[0]
        raise DistanceError(
            f"a {what} is symmetric; {_pair(values, k, l)} has {entries[k, l]} one way and "
            f"{entries[l, k]} the other."
        )


def _axis_key(name: object) -> Any:
    """Return what an axis entry means: a label set, or the scalar itself."""
    if isinstance(name, str) and name.strip() == "{}":  # how the empty set is shown
        return frozenset()
    if isinstance(name, str | set | frozenset | list | tuple | np.ndarray):
        return read_cell(name, LabelSyntax(blank="empty"))
    number = as_number(name)
    return name if number is None else number


def _is_numbered(axis: pd.Index[Any]) -> bool:
    """Say whether an axis is what pandas gives where none was named: 0, 1, 2, ..."""
    return isinstance(axis, pd.RangeIndex) and axis.start == 0 and axis.step == 1


def _texts(keys: list[Any]) -> list[str]:
    return [shorten(set(k) if isinstance(k, frozenset) else k) for k in keys]


def _pair(values: list[Any], k: int, l: int) -> str:
    x, y = _texts([values[k], values[l]])
    return f"the pair {x}, {y}"
