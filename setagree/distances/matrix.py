"""Distances that a labelled matrix states, and the rules that every entry of one keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from setagree.checks import Floats, public
from setagree.distances.base import Distance
from setagree.errors import DistanceError, check_flag, check_type, listing, shorten
from setagree.lazy import pd
from setagree.study.labels import LabelSyntax, read_cell
from setagree.study.numbers import as_number

Key: TypeAlias = Callable[[Any], Any]
"""Value of a name on an axis."""

ROUNDING = 1e-9
"""Up to here a distance below zero, or between equal values, is rounding, and is zero."""

LEAST, MOST = 1e-150, 1e150
"""Between these lies a distance that is not 0, so that it can be squared and added up."""


@dataclass(frozen=True, repr=False)
class MatrixDistance(Distance):
    """A labelled square matrix of distances; see `distance_matrix` for an example."""

    frame: pd.DataFrame = field(repr=False)

    def __call__(self, x: object, y: object) -> float:
        """Return the distance between two answers that the matrix lists."""
        row, column = self.position(x), self.position(y)
        if row is None or column is None:
            absent = shorten(x if row is None else y)
            raise DistanceError(f"the distance matrix {self.name!r} has no row for {absent}.")
        return float(self.frame.to_numpy()[row, column])

    def position(self, value: object) -> int | None:
        """Return the position of a value on the axes, or None if it is not listed."""
        key = _axis_key(value)
        found = self._positions.get(key)
        # Text on an axis was read as a label set; a number is found under the set of its text.
        return self._positions.get(frozenset([str(key)])) if found is None else found

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return {key: k for k, key in enumerate(self.frame.index)}


@public
def distance_matrix(
    frame: pd.DataFrame | Mapping[Any, Any], *, similarity: bool = False, name: str = "matrix"
) -> MatrixDistance:
    """Return the distance defined by a labelled square matrix.

    Parameters
    ----------
    frame : DataFrame or mapping
        Index and columns contain the values: label sets, label text (``"l1, l2"``; blank is the
        empty set), or scalars. Rows and columns are aligned by value, never by position. Or a
        dict by unordered pair of values, or a dict of dicts.
    similarity : bool
        Whether the entries are similarities in [0, 1] with 1 on the diagonal; then d = 1 - s.
    name : str
        The name of the distance in results.

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
    if isinstance(frame, Mapping):
        frame = _square(frame, _axis_key, "values", diagonal=float(similarity))
        for x, y in np.argwhere(frame.isna().to_numpy())[:1]:
            raise DistanceError(f"no distance is given for {_pair([*frame], x, y)}.")
    rows, entries = _aligned(frame, _axis_key)
    if similarity:
        entries = 1 - _checked_similarities(entries, rows)
    entries = check_entries(entries, rows, similar="use similarity=True.")
    bounded = bool((entries <= 1).all())
    aligned = pd.DataFrame(entries, index=pd.Index(rows, dtype=object, tupleize_cols=False))
    return MatrixDistance(name, aligned, bounded=bounded)


def _aligned(frame: object, key: Key) -> tuple[list[Any], Floats]:
    """Return the row values of a square table, and its entries with the columns in that order.

    `key` returns the value of a name.
    """
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
    rows, columns = ([key(k) for k in axis] for axis in (frame.index, frame.columns))
    if len(set(rows)) < len(rows) or len(set(columns)) < len(columns):
        raise DistanceError("two rows or columns of the distance matrix name the same value.")
    unpaired = [k for k in (*rows, *columns) if (k in rows) != (k in columns)]
    if unpaired:
        raise DistanceError(
            f"only one axis of the distance matrix lists {listing(_texts(unpaired))}."
        )
    order = [columns.index(row) for row in rows]
    try:
        return rows, frame.to_numpy(dtype=float)[:, order]
    except (TypeError, ValueError) as error:
        raise DistanceError("the distance matrix holds entries that are not numbers.") from error


def stated(table: pd.DataFrame | Mapping[Any, Any], key: Key) -> dict[frozenset[Any], float]:
    """Return the checked distances of unordered pairs that a square table or a dict states."""
    is_dict = isinstance(table, Mapping)
    names, entries = _aligned(
        _square(table, key, "labels", diagonal=0.0) if is_dict else table, key
    )
    lacking = np.isnan(entries) & is_dict
    entries = check_entries(np.where(lacking, 0.0, entries), names)
    pairs = np.argwhere(np.triu(~lacking)).tolist()
    return {frozenset((names[k], names[l])): float(entries[k, l]) for k, l in pairs}


def _square(table: Any, key: Key, noun: str, *, diagonal: float) -> pd.DataFrame:
    """Return a dict by unordered pair, or of dicts, as a square table; NaN if a pair is missing."""
    found: dict[tuple[Any, Any], float] = {}
    for outer, inner in table.items():
        is_nested = isinstance(inner, Mapping)
        pairs = {(outer, name): d for name, d in inner.items()} if is_nested else {outer: inner}
        for pair, d in pairs.items():
            if not isinstance(pair, tuple | frozenset) or not 1 <= len(pair) <= 2:
                raise DistanceError(f"label_distance: {shorten(pair)} is not a pair of {noun}.")
            check_amount(f"the pair {shorten(pair)}", "distance", d, least=-ROUNDING)
            x, y = map(key, (*pair, *pair)[:2])
            found[x, y] = float(d)
    names = pd.Index([*dict.fromkeys(chain(*found))], dtype=object, tupleize_cols=False)
    place = {name: k for k, name in enumerate(names)}
    entries = np.full((len(names), len(names)), np.nan)
    np.fill_diagonal(entries, diagonal)
    for (x, y), d in found.items():
        entries[place[x], place[y]] = d
        if (y, x) not in found:
            entries[place[y], place[x]] = d
    return pd.DataFrame(entries, index=names, columns=names)


def check_amount(whose: str, noun: str, amount: object, *, least: float = 0.0) -> None:
    """Raise `DistanceError` if a weight or a distance is negative or not finite."""
    if not isinstance(amount, int | float | np.number) or not least <= amount < np.inf:
        raise DistanceError(f"{whose} has {noun} {shorten(amount)}; a {noun} is finite and >= 0.")


def _checked_similarities(entries: Floats, values: list[Any]) -> Floats:
    """Return similarities, or raise if they are not in [0, 1] with 1 for equal values."""
    bad = ~((entries >= -ROUNDING) & (entries <= 1 + ROUNDING))
    if bad.any():
        k, l = np.argwhere(bad)[0]
        raise DistanceError(
            f"a similarity lies between 0 and 1; {_pair(values, k, l)} has {entries[k, l]}."
        )
    off = np.flatnonzero(np.abs(np.diagonal(entries) - 1) > ROUNDING)
    if off.size:
        k = int(off[0])
        hint = "" if np.diagonal(entries).any() else " It looks like a distance: drop similarity=."
        raise DistanceError(
            f"a similarity is 1 between equal values; {_pair(values, k, k)} has {entries[k, k]}."
            f"{hint}"
        )
    _check_symmetric(entries, values, "similarity")
    return np.clip(entries, 0, 1)


def check_entries(
    entries: Floats, values: list[Any], *, similar: str = "state 1 - similarity."
) -> Floats:
    """Return entries that are finite, >= 0, symmetric and 0 on the diagonal, within rounding.

    Others raise an error; `similar` is the remedy if they look like similarities.
    """
    entries = check_range(entries, values)
    for k in np.flatnonzero(np.diagonal(entries) > ROUNDING)[:1].tolist():
        ones = bool((np.diagonal(entries) == 1).all())
        hint = f" It looks like a similarity: {similar}" if ones else ""
        raise DistanceError(f"{_pair(values, k, k)} has {entries[k, k]}, not 0.{hint}")
    np.fill_diagonal(entries, 0.0)
    _check_symmetric(entries, values, "distance")
    return (entries + entries.T) / 2


def check_range(entries: Floats, values: list[Any]) -> Floats:
    """Return distances with rounding below zero set to zero; raise if one is invalid."""
    bad = ~np.isfinite(entries) | (entries < -ROUNDING)
    if bad.any():
        k, l = np.argwhere(bad)[0]
        raise DistanceError(
            f"a distance is finite and >= 0; {_pair(values, k, l)} has {entries[k, l]}."
        )
    entries = np.maximum(entries, 0.0)
    least = float(entries.min(initial=np.inf, where=entries > 0))
    if least < LEAST or entries.max(initial=0.0) > MOST:
        k, l = np.argwhere((entries > 0) & ((entries < LEAST) | (entries > MOST)))[0]
        raise DistanceError(
            f"a distance that is not 0 lies between {LEAST:g} and {MOST:g}, so that it can be "
            f"squared and added up; {_pair(values, k, l)} has {entries[k, l]}."
        )
    return entries


def _check_symmetric(entries: Floats, values: list[Any], what: str) -> None:
    slack = ROUNDING * float(entries.max(initial=0.0))
    apart = np.abs(entries - entries.T) > slack
    if apart.any():
        k, l = np.argwhere(apart)[0]
        raise DistanceError(
            f"a {what} is symmetric; {_pair(values, k, l)} has {entries[k, l]} one way and "
            f"{entries[l, k]} the other."
        )


def _axis_key(name: object) -> Any:
    """Return the value of an axis entry: a label set, or the scalar itself."""
    if isinstance(name, str) and name.strip() == "{}":  # how the empty set is shown
        return frozenset()
    if isinstance(name, str | set | frozenset | list | tuple | np.ndarray):
        return read_cell(name, LabelSyntax(blank="empty"))
    number = as_number(name)
    return name if number is None else number


def _is_numbered(axis: pd.Index[Any]) -> bool:
    """Return whether an axis is the default one of pandas: 0, 1, 2, ..."""
    return isinstance(axis, pd.RangeIndex) and axis.start == 0 and axis.step == 1


def _texts(keys: list[Any]) -> list[str]:
    return [shorten(set(k) if isinstance(k, frozenset) else k) for k in keys]


def _pair(values: list[Any], k: int, l: int) -> str:
    x, y = _texts([values[k], values[l]])
    return f"the pair {x}, {y}"
