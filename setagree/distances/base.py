"""The kinds of distance, each a frozen value that can be called on two answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar, cast

import numpy as np

from setagree.checks import Floats, Ints
from setagree.errors import DistanceError, LabelError, check_flag, check_type, shorten
from setagree.study.labels import parse_labels
from setagree.wording.label_sets import LabelSet

OverlapFunction: TypeAlias = Callable[[Ints, Ints, Ints], Floats]


@dataclass(frozen=True)
class Distance:
    """Base of all distances.

    Attributes
    ----------
    name : str
        The name of the distance in results.
    bounded : bool
        Whether 1 is the largest distance there is. Else the largest distance among the observed
        values scales the credit: w = 1 - d / d_max.
    is_squared : bool
        Whether its square roots can be distances between points, which variance components
        require. False if they cannot for some values.
    title, formula, source : str, optional
        What papers call it, how they write it, and who proposed it: a key of the list of
        references, or a reference in full.

    Examples
    --------
    >>> import setagree as sa
    >>> isinstance(sa.distances.masi, Distance), sa.distances.masi.bounded
    (True, True)
    """

    name: str
    bounded: bool = field(default=True, kw_only=True)
    is_squared: bool = field(default=True, kw_only=True, compare=False)
    title: str | None = field(default=None, kw_only=True, compare=False)
    formula: str | None = field(default=None, kw_only=True, compare=False)
    source: str | None = field(default=None, kw_only=True, compare=False)

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
    r"""A distance between sets that depends only on \|A\|, \|B\| and \|A ∩ B\|.

    Such a distance is fast: no values x values array is made. Every built-in set distance is one,
    and users can add theirs.

    Parameters
    ----------
    function : callable
        ``function(a, b, i)`` on integer arrays of one shape: the two sizes and the size of the
        intersection; returns the distances as an array of that shape. Must be 0 if a = b = i,
        finite, not negative, and symmetric in a and b (checked up to size 40, then on a sample).
    name : str
        The name of the distance in results.
    bounded : bool
        Whether 1 is the largest distance there is.
    title, formula, source : str, optional
        What papers call it, how they write it, and who proposed it.

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
    function: OverlapFunction = field(hash=False)

    def __post_init__(self) -> None:
        check_type("function", self.function, Callable, "a function of three arrays")
        check_type("name", self.name, str, "text")
        check_flag("bounded", self.bounded)
        for option in ("title", "formula", "source"):
            check_type(option, getattr(self, option), str | None, "text or None")
        object.__setattr__(self, "__doc__", self.function.__doc__)

    def __call__(self, A: Iterable[Any], B: Iterable[Any]) -> float:
        """Return the distance between two label sets."""
        A, B = as_label_set(A), as_label_set(B)
        sizes = (np.array([n]) for n in (len(A), len(B), len(A & B)))
        return float(np.asarray(self.function(*sizes), dtype=float)[0])


_Kind = TypeVar("_Kind", "OverlapDistance", "ScaleDistance")

Form: TypeAlias = Literal["points", "absolute", "squared"]


@dataclass(frozen=True, repr=False)
class ScaleDistance(Distance):
    r"""A distance between numbers.

    Attributes
    ----------
    function : callable
        ``function(x, y, low, high)`` on arrays of numbers; low and high are the ends of the scale.
    position : {"value", "mid_rank", "rank"}
        The number of each value: itself, its mid-rank among the pairable ratings (Krippendorff's
        ordinal), or its position among the distinct values (Gwet's ordinal).
    form : {"points", "absolute", "squared"}
        Whether a closed form exists for the chance term: of \|x - y\| or of (x - y)².
    takes_order : bool
        Whether the positions of ordered categories may be used as numbers.
    needs_ends : bool
        Whether the function uses the ends of the scale.
    from_zero : bool
        Whether the numbers must be 0 or more.
    """

    name: str
    function: Callable[[Floats, Floats, float, float], Floats] = field(repr=False)
    position: Literal["value", "mid_rank", "rank"] = "value"
    form: Form = "points"
    takes_order: bool = False
    needs_ends: bool = field(default=False, kw_only=True)
    from_zero: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.function.__doc__)

    def __call__(self, x: float, y: float) -> float:
        """Return the distance between two numbers; raise if it depends on the scale."""
        if self.position != "value" or self.needs_ends:
            raise DistanceError(
                f"{self.name!r} depends on the whole scale, not on two values alone."
            )
        try:
            points = np.array([[float(x)], [float(y)]])
        except OverflowError as error:
            raise DistanceError(f"{self.name!r} computes with floats: {error}.") from error
        except (TypeError, ValueError):
            raise DistanceError(f"{self.name!r} compares numbers: {shorten((x, y))}.") from None
        with np.errstate(all="ignore"):
            distance = float(self.function(points[0], points[1], np.nan, np.nan)[0])
        if not np.isfinite(distance):
            raise DistanceError(f"{self.name!r} of {shorten((x, y))} is not a finite number.")
        return distance


@dataclass(frozen=True, repr=False)
class CallableDistance(Distance):
    """A plain Python function of two answers.

    Called once for each unordered pair of distinct observed values, and to check it: each value
    with itself, and pairs the other way round, all of them up to 100 values, of more a random
    sample (15% more calls). The credit is 1 - d if no observed distance is larger than 1, otherwise
    1 - d / d_max. `bounded=True` asserts the former; `bounded=False` always uses the latter.

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
        check_type("function", function, Callable, "a function of two answers")
        check_type("name", name, str | None, "text or None")
        check_type("bounded", bounded, bool | np.bool_ | None, "True, False or None")
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "name", name or getattr(function, "__name__", repr(function)))
        object.__setattr__(self, "bounded", bool(bounded))
        object.__setattr__(self, "relative", bounded is not None and not bounded)

    def __call__(self, x: object, y: object) -> float:
        """Return the distance between two answers."""
        return float(self.function(x, y))


def distance_of(kind: type[_Kind], **options: Any) -> Callable[[Callable[..., Floats]], _Kind]:
    """Turn a function into the distance of its name, of a kind that has a function."""

    def wrap(function: Callable[..., Floats]) -> _Kind:
        # The distance takes the function's name here; pickle finds the function behind it.
        name = function.__name__
        function.__qualname__ = f"{name}.function"
        return kind(name=name, function=function, **options)

    return wrap


def as_label_set(answer: object) -> LabelSet:
    """Return a set, list or label text as a frozenset, for distances called by hand."""
    if isinstance(answer, str):
        return parse_labels(answer, blank="empty") or frozenset()
    try:
        return frozenset(cast(Any, answer) if _is_collection(answer) else [cast(Any, answer)])
    except TypeError:
        raise LabelError(f"{shorten(answer)} is not a label set.") from None


def _is_collection(answer: object) -> bool:
    return isinstance(answer, set | frozenset | list | tuple | np.ndarray)
