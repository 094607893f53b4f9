"""Distances from answers to the answers of their group: (D p_g)(v) for a value v of group g."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.checks import Floats
from setagree.credit.base import Weights, sums_to_others
from setagree.limits import BLOCK_ENTRIES

FEW_VALUES = 32
"""Distinct values of a group up to which the pairs of all such groups are looked up together."""

_SQUARE, _LARGEST_SQUARE = 32, 2_000
"""Largest squares of distances between the values of one group, per value and in all."""

_LOOKUP = 6
"""For groups with more than one in six of all values, products are faster than pairs."""

_CELLS_A_KEY = 12
"""Cells for each key up to which it is faster to mark those in use than to sort the keys."""


def distinct_keys(
    keys: npt.NDArray[Any], n_keys: int
) -> tuple[npt.NDArray[Any], npt.NDArray[np.integer[Any]]]:
    """Return the distinct of some keys, ascending, and each key's position, as ``np.unique``.

    All keys are below `n_keys`.
    """
    if n_keys > _CELLS_A_KEY * len(keys):
        distinct, place = np.unique(keys, return_inverse=True)
        return distinct, place
    seen = np.zeros(n_keys, dtype=bool)
    seen[keys] = True
    distinct, place = np.flatnonzero(seen), np.empty(n_keys, dtype=np.int32)
    place[distinct] = np.arange(len(distinct))
    return distinct, place[keys]


def spread_within_groups(
    groups: npt.NDArray[Any],
    values: npt.NDArray[Any],
    *,
    n_groups: int,
    weights: Weights,
    times: Floats | None = None,
) -> Floats:
    """Return (D p_g)(v) for each answer of value v in group g, p_g the group's shares.

    `times` is the number of times that each answer counts; default: once. Groups with few distinct
    values are computed from their pairs of values, those with more from a square of distances, and
    the others from one product with D each, in blocks of bounded memory.
    """
    keys = groups.astype(np.int64) * weights.n_values + values
    distinct, entry = distinct_keys(keys, n_groups * weights.n_values)
    counts = np.bincount(entry, times, len(distinct))
    owners = distinct // weights.n_values  # much faster than divmod
    own_values = (distinct - owners * weights.n_values).astype(np.intp)
    owners = owners.astype(np.intp)
    shares = counts / np.bincount(groups, times, n_groups)[owners]
    return np.asarray(group_spread(owners, own_values, shares, weights)[entry])


def group_spread(
    owners: npt.NDArray[Any], values: npt.NDArray[Any], x: Floats, weights: Weights
) -> Floats:
    """Return (D x_g)(v) for each entry x of a value v in a group g.

    The groups ascend, and each value of a group has one entry.
    """
    own = np.bincount(owners)[owners] if len(owners) else owners
    alone = _LOOKUP * own < weights.n_values
    few = alone & (own <= FEW_VALUES)
    some = alone & ~few & (own**2 <= min(_SQUARE * weights.n_values, _LARGEST_SQUARE**2))
    out = np.zeros(len(owners))
    methods = {sums_to_others: few, _by_blocks: some, _by_products: ~(few | some)}
    for method, entries in methods.items():
        if entries.any():
            out[entries] = method(owners[entries], values[entries], x[entries], weights)
    return out


def _by_blocks(
    owners: npt.NDArray[Any], values: npt.NDArray[Any], x: Floats, weights: Weights
) -> Floats:
    out = np.zeros(len(owners))
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    for first, last in pairwise([*starts.tolist(), len(owners)]):
        own = values[first:last]
        out[first:last] = np.einsum("kl,l->k", weights.block(own, own), x[first:last])
    return out


def _by_products(
    raters: npt.NDArray[Any], values: npt.NDArray[Any], shares: Floats, weights: Weights
) -> Floats:
    out = np.zeros(len(values))
    ids, columns = np.unique(raters, return_inverse=True)
    at_once = max(1, BLOCK_ENTRIES // weights.n_values)
    for start in range(0, len(ids), at_once):
        part = np.flatnonzero((columns >= start) & (columns < start + at_once))
        width = min(at_once, len(ids) - start)
        x = np.zeros((weights.n_values, width))
        x[values[part], columns[part] - start] = shares[part]
        out[part] = weights.distance_dot(x)[values[part], columns[part] - start]
    return out
