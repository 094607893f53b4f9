"""Distances between numbers; low and high are the ends of the scale."""

from __future__ import annotations

import numpy as np

from setagree.distances.base import Floats, ScaleDistance


def _ratio(x: Floats, y: Floats, low: float, high: float) -> Floats:  # noqa: ARG001 - one signature
    total = np.asarray(x + y, dtype=float)
    share = np.divide(x - y, total, out=np.zeros_like(total), where=total != 0)
    return np.asarray(share**2)


def _bipolar(x: Floats, y: Floats, low: float, high: float) -> Floats:
    reach = np.asarray((x + y - 2 * low) * (2 * high - x - y), dtype=float)
    return np.asarray(np.divide((x - y) ** 2, reach, out=np.zeros_like(reach), where=x != y))


def _circular(x: Floats, y: Floats, low: float, high: float) -> Floats:
    step = x - y
    # sin(pi) is not 0 in floating point: equal values stay at 0 by hand.
    return np.where(step == 0, 0.0, np.sin(np.pi * step / (high - low + 1)) ** 2)


def _choose_two(x: Floats, y: Floats, low: float, high: float) -> Floats:  # noqa: ARG001
    steps = np.abs(x - y)
    return (steps + 1) * steps / 2


def _squared(x: Floats, y: Floats, low: float, high: float) -> Floats:  # noqa: ARG001
    return (x - y) ** 2


def _absolute(x: Floats, y: Floats, low: float, high: float) -> Floats:  # noqa: ARG001
    return np.abs(x - y)


def _root(x: Floats, y: Floats, low: float, high: float) -> Floats:  # noqa: ARG001
    return np.sqrt(np.abs(x - y))


interval = ScaleDistance("interval", _squared, form="squared", bounded=False)
"""(x - y)²; equal steps mean equally much. Krippendorff 2011."""

quadratic = ScaleDistance("quadratic", _squared, form="squared", bounded=False)
"""(x - y)², another name of `interval`; the weights of the quadratic kappa."""

linear = ScaleDistance("linear", _absolute, form="absolute", bounded=False)
"""\\|x - y\\|; the weights of the linear kappa."""

ordinal = ScaleDistance("ordinal", _squared, position="mid_rank", form="squared", bounded=False)
"""Squared difference of mid-ranks over the pairable ratings. Krippendorff 2011."""

ratio = ScaleDistance("ratio", _ratio, bounded=False)
"""((x - y) / (x + y))²; for counts and amounts with a true zero. Krippendorff 2011."""

bipolar = ScaleDistance("bipolar", _bipolar, bounded=False)
"""(x - y)² / ((x + y - 2 min)(2 max - x - y)); for scales with two ends. Krippendorff 2011."""

radical = ScaleDistance("radical", _root, bounded=False)
"""sqrt(\\|x - y\\|). Gwet 2014."""

circular = ScaleDistance("circular", _circular, bounded=False)
"""sin²(pi (x - y) / U), U = max - min + 1; for hours and directions. Krippendorff 2011."""

ordinal_gwet = ScaleDistance("ordinal_gwet", _choose_two, position="rank", bounded=False)
"""C(\\|rank x - rank y\\| + 1, 2). Gwet 2014."""

SCALE_DISTANCES = (
    interval,
    quadratic,
    linear,
    ordinal,
    ratio,
    bipolar,
    radical,
    circular,
    ordinal_gwet,
)
