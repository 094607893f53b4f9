"""The kinds of distance, each a frozen value that can be called on two answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import DistanceError, LabelError, listing, shorten
from setagree.labels import Label, LabelSet, LabelSyntax, parse_labels, read_cell, sorted_labels
from setagree.numbers import as_number

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
OverlapFunction: TypeAlias = Callable[[Ints, Ints, Ints], Floats]

LEAST, MOST = 1e-150, 1e150
"""Between these lies a distance that is not 0, so that it can be squared and added up."""


@dataclass(frozen=True)
class Distance:
    """Base of all distances.

    Attributes
    ----------
    name : str
        What results call it.
    bounded : bool
        Whether 1 is the largest distance there is. Else the largest distance among the observed
        values scales the credit: w = 1 - d / d_max.

    Examples
    --------
    >>> import setagree as sa
    >>> isinstance(sa.distances.masi, Distance), sa.distances.masi.bounded
    (True, True)
    """

    name: str
    bounded: bool = field(default=True, kw_only=True)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


@dataclass(frozen=True, repr=False)
class NominalDistance(Distance):
    """0 for the same answer, 1 for another, whatever the answers are.

    Examples
    --------
    >>> import setagree as sa
    >>> sa.distances.nominal({"a", "b"}, ["b", "a"]), sa.distances.nominal(set(), {"a"})
    (0.0, 1.0)
    >>> sa.distances.nominal(1, 1.0), sa.distances.nominal("low", "high")
    (0.0, 1.0)
    """

    def __call__(self, x: object, y: object) -> float:
        """Return the distance between two answers."""
        both_sets = _is_collection(x) and _is_collection(y)
        return float(as_label_set(x) != as_label_set(y)) if both_sets else float(x != y)


@dataclass(frozen=True, repr=False)
class OverlapDistance(Distance):
    """A distance between sets that depends only on |A|, |B| and |A ∩ B|.

    Such a distance takes the fast road: no values x values array is made. Every built-in set
    distance is one, and users can add theirs.

    Parameters
    ----------
    function : callable
        ``function(a, b, i)`` on integer arrays of one shape: the two sizes and the size of the
        intersection; returns the distances as an array of that shape. Must be 0 where a = b = i,
        finite, not negative, and symmetric in a and b (checked up to size 40, then on a sample).
    name : str
        What results call it.
    bounded : bool
        Whether 1 is the largest distance there is.
    accepts : "labels"
        What kind of value it compares.

    Examples
    --------
    >>> import numpy as np
    >>> tversky = OverlapDistance(
    ...     lambda a, b, i: 1 - (i + (a + b == 0)) / (np.maximum(a, b) + (a + b == 0)),
    ...     name="tversky",
    ... )
    >>> tversky({"a"}, {"a", "b"}), tversky(set(), set())
    (0.5, 0.0)
    """

    name: str = field(kw_only=True)
    function: OverlapFunction = field(repr=False)

    def __init__(self, function: OverlapFunction, *, name: str, bounded: bool = True) -> None:
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "bounded", bounded)
        object.__setattr__(self, "__doc__", function.__doc__)

    def __call__(self, A: Iterable[Any], B: Iterable[Any]) -> float:
        """Return the distance between two label sets."""
        A, B = as_label_set(A), as_label_set(B)
        sizes = (np.array([n]) for n in (len(A), len(B), len(A & B)))
        return float(np.asarray(self.function(*sizes), dtype=float)[0])


@dataclass(frozen=True, repr=False)
class WeightedJaccardDistance(Distance):
    """1 - weight(A ∩ B) / weight(A ∪ B), the weight of a set being the sum over its labels."""

    label_weights: Mapping[Any, float]

    def __call__(self, A: Iterable[Any], B: Iterable[Any]) -> float:
        """Return the distance between two label sets."""
        A, B = as_label_set(A), as_label_set(B)
        self.check_labels(A | B)
        total = sum(self.label_weights[label] for label in A | B)
        return 1 - sum(self.label_weights[label] for label in A & B) / total if total else 0.0

    def check_labels(self, labels: Iterable[Label]) -> None:
        """Raise `DistanceError` where a label has no weight."""
        missing = [label for label in sorted_labels(labels) if label not in self.label_weights]
        if missing:
            raise DistanceError(f"no weight is given for the labels {listing(missing)}.")


@dataclass(frozen=True, repr=False)
class ClosureDistance(Distance):
    """An overlap distance between the ancestor closures of two sets."""

    inner: OverlapDistance
    ancestors: Mapping[Any, LabelSet]

    def close(self, labels: LabelSet) -> LabelSet:
        """Return the labels with all their ancestors."""
        return labels.union(*(self.ancestors.get(label, frozenset()) for label in labels))

    def __call__(self, A: Iterable[Any], B: Iterable[Any]) -> float:
        """Return the distance between two label sets."""
        return self.inner(self.close(as_label_set(A)), self.close(as_label_set(B)))


Form: TypeAlias = Literal["points", "absolute", "squared"]


@dataclass(frozen=True, repr=False)
class ScaleDistance(Distance):
    r"""A distance between numbers.

    Attributes
    ----------
    function : callable
        ``function(x, y, low, high)`` on arrays of numbers; low and high are the ends of the scale.
    position : {"value", "mid_rank", "rank"}
        What number a value stands for: itself, its mid-rank among the pairable ratings
        (Krippendorff's ordinal), or its place among the distinct values (Gwet's ordinal).
    form : {"points", "absolute", "squared"}
        Whether a closed form exists for the chance term: of \|x - y\| or of (x - y)².
    """

    name: str
    function: Callable[[Floats, Floats, float, float], Floats] = field(repr=False)
    position: Literal["value", "mid_rank", "rank"] = "value"
    form: Form = "points"

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.function.__doc__)

    def __call__(self, x: float, y: float) -> float:
        """Return the distance between two numbers, where the scale need not be known."""
        if self.position != "value" or self.name in {"bipolar", "circular"}:
            raise DistanceError(
                f"{self.name!r} depends on the whole scale, not on two values alone."
            )
        try:
            points = (np.array([float(x)]), np.array([float(y)]))
        except (TypeError, ValueError, OverflowError):
            raise DistanceError(f"{self.name!r} compares numbers: {shorten((x, y))}.") from None
        return float(self.function(*points, np.nan, np.nan)[0])


@dataclass(frozen=True, repr=False)
class CallableDistance(Distance):
    """A plain Python function of two answers.

    Called once for each unordered pair of distinct observed values, and to check it: each value
    with itself, and pairs the other way round, all of them up to 100 values, of more a random
    sample (15 % more calls). The credit is 1 - d where no observed distance is larger than 1, else
    1 - d / d_max. `bounded=True` promises the former; `bounded=False` asks for the latter wherever
    the distances lie.

    Examples
    --------
    >>> same_size = CallableDistance(lambda A, B: abs(len(A) - len(B)), name="sizes", bounded=False)
    >>> same_size({"a"}, set())
    1.0
    """

    function: Callable[[Any, Any], float]
    relative: bool = field(default=False, kw_only=True)

    def __init__(
        self,
        function: Callable[[Any, Any], float],
        *,
        name: str | None = None,
        bounded: bool | None = None,
    ) -> None:
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "name", name or getattr(function, "__name__", repr(function)))
        object.__setattr__(self, "bounded", bool(bounded))
        object.__setattr__(self, "relative", bounded is not None and not bounded)

    def __call__(self, x: object, y: object) -> float:
        """Return the distance between two answers."""
        return float(self.function(x, y))


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


def as_label_set(answer: object) -> LabelSet:
    """Return a set, list or label text as a frozenset, for distances called by hand."""
    if isinstance(answer, str):
        return parse_labels(answer, blank="empty") or frozenset()
    try:
        return frozenset(cast(Any, answer) if _is_collection(answer) else [cast(Any, answer)])
    except TypeError:
        raise LabelError(f"{shorten(answer)} is no label set.") from None


def _is_collection(answer: object) -> bool:
    return isinstance(answer, set | frozenset | list | tuple | np.ndarray)


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
