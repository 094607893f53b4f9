"""Sums of distances inside groups of values, such as the answers to one unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.credit.base import Floats, Weights


def sums_to_others(
    groups: npt.NDArray[Any], values: npt.NDArray[Any], counts: Floats, weights: Weights
) -> Floats:
    """Return sum_l counts_l d_kl over the other entries l of the group of each entry k.

    Entry k meets entry k + 1, then k + 2, ... while both stand in one group, so that the cost is
    the number of pairs inside groups.

    Parameters
    ----------
    groups, values : ndarray of shape (n_entries,)
        Entries of one group stand side by side.
    counts : ndarray of shape (n_entries,)
        How much each entry weighs in the sums of the others.
    weights : Weights
        What knows the distances.
    """
    out = np.zeros(len(values))
    left = np.arange(len(values))
    shift = 0
    while left.size:
        shift += 1
        left = left[left + shift < len(groups)]
        left = left[groups[left + shift] == groups[left]]
        d = weights.distance_at(values[left], values[left + shift])
        out[left] += d * counts[left + shift]
        out[left + shift] += d * counts[left]
    return out
