"""Names of distances, and whatever a user may pass as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any, TypeAlias, TypeVar

from setagree.distances import scales, sets
from setagree.distances.base import CallableDistance, Distance
from setagree.distances.degrees import manhattan, ruzicka
from setagree.distances.matrix import distance_matrix
from setagree.errors import DistanceError, OptionError, did_you_mean
from setagree.lazy import pd

DistanceLike: TypeAlias = (
    str | Distance | Callable[[Any, Any], float] | pd.DataFrame | Mapping[Any, Any]
)

T = TypeVar("T")

_BY_NAME: dict[str, Distance] = {
    **{name: getattr(sets, name) for name in sets.__all__},
    **{one.name: one for one in (ruzicka, manhattan)},
    **{name: getattr(scales, name) for name in scales.__all__},
}


_GROUP = "setagree.distances"  # of entry points


def distance_names() -> tuple[str, ...]:
    """Return the names of the built-in distances.

    Examples
    --------
    >>> distance_names()[:4]
    ('nominal', 'masi', 'jaccard', 'dice')
    """
    return tuple(_BY_NAME)


def all_distance_names() -> list[str]:
    """Return the names of the distances; those of other packages are not loaded."""
    return [*_BY_NAME, *offered_names(_GROUP)]


def available_distances() -> dict[str, Distance]:
    """Return the distances by name: those of this package, then those of installed ones."""
    return {name: get_distance(name) for name in all_distance_names()}


def get_distance(distance: DistanceLike) -> Distance:
    """Return the distance of a name, a callable, a `Distance` or a labelled matrix.

    A name that is not built in may be one that an installed package offers through the entry-point
    group ``setagree.distances``.

    Raises
    ------
    OptionError
        The name is unknown.
    DistanceError
        The object cannot be a distance.

    Examples
    --------
    >>> get_distance("masi")
    <OverlapDistance 'masi'>
    """
    if isinstance(distance, str):
        found = _BY_NAME.get(distance.lower()) or offered(_GROUP, distance, Distance, "distance")
        if found is not None:
            return found
        hint = did_you_mean(distance, _BY_NAME) or f" Known: {', '.join(_BY_NAME)}."
        raise OptionError(f"distance {distance!r} is unknown.{hint}")
    if isinstance(distance, Distance):
        return distance
    if isinstance(distance, pd.DataFrame) or (
        isinstance(distance, Mapping)
        and any(
            isinstance(k, tuple | frozenset) or isinstance(v, Mapping) for k, v in distance.items()
        )
    ):
        return distance_matrix(distance)
    if callable(distance):
        return CallableDistance(distance)
    raise DistanceError(
        f"{type(distance).__name__} is not a distance; pass a name, a function of two answers, or "
        "a DataFrame with label sets on both axes."
    )


def offered_names(group: str) -> list[str]:
    """Return the names in a group of entry points of installed packages, sorted."""
    return sorted(entry.name for entry in entry_points(group=group))


def offered(group: str, name: str, kind: type[T], noun: str) -> T | None:
    """Return the object of an entry point, or None without one; raise if it is of another kind."""
    for entry in entry_points(group=group, name=name):
        found = entry.load()
        if isinstance(found, kind):
            return found
        raise OptionError(f"the entry point {entry.value!r} of {name!r} is not a {noun}.")
    return None
