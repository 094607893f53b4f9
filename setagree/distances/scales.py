"""Distances between numbers, as functions of x and y and of the ends of the scale."""

from __future__ import annotations

from functools import partial

import numpy as np

from setagree.checks import Floats
from setagree.distances.base import ScaleDistance, distance_of

__all__ = [  # noqa: RUF022 - in the order of `distance_names`
    "interval",
    "quadratic",
    "linear",
    "ordinal",
    "ratio",
    "bipolar",
    "radical",
    "circular",
    "ordinal_gwet",
]
"""The distances of this module. `setagree.distances` and the registry take them from here."""

scale_distance = partial(distance_of, ScaleDistance, bounded=False)
"""Turn a function of (x, y, low, high) into the distance of its name."""


@scale_distance(formula="(x − y)²", source="Krippendorff 2011", form="squared")
def interval(x: Floats, y: Floats, low: float, high: float) -> Floats:  # noqa: ARG001 - one signature
    """(x - y)²; equal steps mean equally much.

    Krippendorff 2011.

    Examples
    --------
    >>> interval(1, 4), interval(2, 2)
    (9.0, 0.0)
    """
    return np.asarray((x - y) ** 2)


@scale_distance(formula="(x − y)²", source="Fleiss & Cohen 1973", form="squared", takes_order=True)
def quadratic(x: Floats, y: Floats, low: float, high: float) -> Floats:  # noqa: ARG001
    """(x - y)²; the weights of the quadratic kappa.

    For numbers it is `interval`; ordered categories count by their places, also unused ones.

    Fleiss & Cohen 1973.

    Examples
    --------
    >>> quadratic(1, 4), quadratic(2, 2)
    (9.0, 0.0)
    """
    return np.asarray((x - y) ** 2)


@scale_distance(
    formula="|x − y|", source="Cicchetti & Allison 1971", form="absolute", takes_order=True
)
def linear(x: Floats, y: Floats, low: float, high: float) -> Floats:  # noqa: ARG001
    r"""\|x - y\|; the weights of the linear kappa.

    Ordered categories count by their places, also unused ones.

    Cicchetti & Allison 1971.

    Examples
    --------
    >>> linear(1, 4), linear(2, 2)
    (3.0, 0.0)
    """
    return np.abs(x - y)


@scale_distance(
    formula="the squared difference of mid-ranks",
    source="Krippendorff 2011",
    position="mid_rank",
    form="squared",
    takes_order=True,
)
def ordinal(x: Floats, y: Floats, low: float, high: float) -> Floats:  # noqa: ARG001
    """Squared difference of mid-ranks over the pairable ratings; only the order counts.

    Krippendorff 2011. It takes numbers or ordered categories. It depends on the whole study, so it
    cannot be called on two values alone.
    """
    return np.asarray((x - y) ** 2)


@scale_distance(formula="((x − y) / (x + y))²", source="Krippendorff 2011", from_zero=True)
def ratio(x: Floats, y: Floats, low: float, high: float) -> Floats:  # noqa: ARG001
    """((x - y) / (x + y))²; for counts and amounts with a true zero.

    Krippendorff 2011.

    Examples
    --------
    >>> ratio(1, 3), ratio(0, 0)
    (0.25, 0.0)
    """
    total = np.asarray(x + y, dtype=float)
    share = np.divide(x - y, total, out=np.zeros_like(total), where=total != 0)
    return np.asarray(share**2)


@scale_distance(
    formula="(x − y)² / ((x + y − 2 min)(2 max − x − y))",
    source="Krippendorff 2011",
    needs_ends=True,
)
def bipolar(x: Floats, y: Floats, low: float, high: float) -> Floats:
    """(x - y)² / ((x + y - 2 min)(2 max - x - y)); for scales with two ends.

    Krippendorff 2011. It depends on the ends of the scale, so it cannot be called on two values.
    """
    reach = np.asarray((x + y - 2 * low) * (2 * high - x - y), dtype=float)
    return np.asarray(np.divide((x - y) ** 2, reach, out=np.zeros_like(reach), where=x != y))


@scale_distance(formula="√|x − y|", source="Gwet 2014")
def radical(x: Floats, y: Floats, low: float, high: float) -> Floats:  # noqa: ARG001
    r"""sqrt(\|x - y\|).

    Gwet 2014.

    Examples
    --------
    >>> radical(1, 5), radical(2, 2)
    (2.0, 0.0)
    """
    return np.sqrt(np.abs(x - y))


@scale_distance(
    formula="sin²(π(x − y) / (max − min + 1))", source="Krippendorff 2011", needs_ends=True
)
def circular(x: Floats, y: Floats, low: float, high: float) -> Floats:
    """sin²(pi (x - y) / U), U = max - min + 1; for hours and directions.

    Krippendorff 2011. It depends on the ends of the scale, so it cannot be called on two values.
    """
    step = x - y
    # sin(pi) is not 0 in floating point: set the distance of equal values to 0.
    return np.where(step == 0, 0.0, np.sin(np.pi * step / (high - low + 1)) ** 2)


@scale_distance(
    formula="the pairs of ranks between", source="Gwet 2014", position="rank", takes_order=True
)
def ordinal_gwet(x: Floats, y: Floats, low: float, high: float) -> Floats:  # noqa: ARG001
    r"""C(\|rank x - rank y\| + 1, 2).

    Gwet 2014. It depends on the values in use, so it cannot be called on two of them alone.
    """
    steps = np.abs(x - y)
    return np.asarray((steps + 1) * steps / 2)


SCALE_DISTANCES = tuple(globals()[name] for name in __all__)

# doctest looks at functions; these are objects that carry the docstring of one.
__test__ = {distance.name: str(distance.__doc__) for distance in SCALE_DISTANCES}
