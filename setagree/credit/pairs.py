"""Sums of distances inside groups of values, such as the answers to one unit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.credit.base import Codes, Floats, Weights


def neighbours(groups: Codes) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Yield the pairs of entries that stand in one group, some at a time: k with k + 1, k + 2, ...

    Entries of one group stand side by side, so that the cost is the number of pairs inside groups.
    """
    left, shift = np.arange(len(groups)), 0
    while left.size:
        shift += 1
        left = left[left + shift < len(groups)]
        left = left[groups[left + shift] == groups[left]]
        yield left, left + shift


def sums_to_others(
    groups: npt.NDArray[Any], values: npt.NDArray[Any], counts: Floats, weights: Weights
) -> Floats:
    """Return sum_l counts_l d_kl over the other entries l of the group of each entry k.

    Parameters
    ----------
    groups, values : ndarray of shape (n_entries,)
        Entries of one group stand side by side.
    counts : ndarray of shape (n_entries,)
        How much each entry weighs in the sums of the others.
    """
    out = np.zeros(len(values))
    for left, right in neighbours(groups):
        d = weights.distance_at(values[left], values[right])
        out[left] += d * counts[right]
        out[right] += d * counts[left]
    return out
