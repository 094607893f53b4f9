"""How often, by chance, a label is left out where all else is contained."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.coefficients.chance import Floats
from setagree.diagnosis.membership import Membership

_LISTED_SIZE = 12
"""The size of a value up to which its subsets are listed; they are 4,096."""

_LOOKUPS_AT_MOST = 50_000_000
"""Subsets, or pairs of a large value with any other, beyond which nothing is looked up."""

_SUMS_AT_MOST = 50_000_000
"""Additions beyond which the sums over all subsets of the labels are not made."""

_PAIRS_AT_ONCE = 4_000_000


def gone_by_chance(membership: Membership, c: Floats) -> Floats:
    """Return sum over A with label a, and over B within A without a, of c_A c_B, for each label.

    Every subset of a small value is looked up among the values, 2^|A| lookups; a large value is
    compared with all values. Of few labels, the sums over all subsets are made instead where that
    is less work. All are nan where that would be too much.
    """
    used = np.flatnonzero(c > 0)
    sizes = membership.sizes[used]
    listed = sizes <= min(_LISTED_SIZE, np.log2(max(len(used), 1)))
    small, large = used[listed], used[~listed]
    lookups = float((2.0 ** membership.sizes[small]).sum()) + float(len(large)) * len(used)
    if membership.n_labels * 2.0 ** min(membership.n_labels, 64) <= min(lookups, _SUMS_AT_MOST):
        return _by_subset_sums(membership, used, c)
    if lookups > _LOOKUPS_AT_MOST:
        return np.full(membership.n_labels, np.nan)
    out = np.zeros(membership.n_labels)
    names = np.random.default_rng(0).integers(2**63, size=membership.n_labels, dtype=np.uint64)
    book = _Book(membership, used, c, names)
    for size in np.unique(membership.sizes[small]):
        values = small[membership.sizes[small] == size]
        labels = membership.spread(values)[1].reshape(len(values), size)
        lost = _lost(labels, names, book) * c[values][:, None]
        out += np.bincount(labels.ravel(), lost.ravel(), membership.n_labels)
    return out + _lost_from_large(membership, large, used, c)


def _by_subset_sums(membership: Membership, used: npt.NDArray[Any], c: Floats) -> Floats:
    """Return the same from f(S), the total of all values within S, for every set S of labels."""
    owner, label = membership.spread(used)
    codes = np.bincount(owner, 2.0**label, len(used)).astype(np.intp)
    f = np.bincount(codes, c[used], 2**membership.n_labels)
    for bit in range(membership.n_labels):
        halves = f.reshape(-1, 2, 2**bit)
        halves[:, 1] += halves[:, 0]
    weight = c[used][owner] * f[codes[owner] - 2**label]
    return np.bincount(label, weight, membership.n_labels).astype(np.float64)


def _lost_from_large(
    membership: Membership, large: npt.NDArray[Any], used: npt.NDArray[Any], c: Floats
) -> Floats:
    """Return the same sum over the large values alone, each compared with every value in use."""
    out = np.zeros(membership.n_labels)
    at_once = max(1, _PAIRS_AT_ONCE // max(len(used), 1))
    for start in range(0, len(large), at_once):
        rows = large[start : start + at_once]
        shared = (membership.matrix[rows] @ membership.matrix[used].T).toarray()
        inside = (shared == membership.sizes[used]) & (shared < membership.sizes[rows][:, None])
        A, B = np.nonzero(inside)
        position, label = membership.spread(rows[A])
        gone = ~membership.holds(used[B][position], label)
        weight = (c[rows[A]] * c[used[B]])[position[gone]]
        out += np.bincount(label[gone], weight, membership.n_labels)
    return out


class _Book:
    """The totals of the values in use, found by the sum of their labels' random names."""

    def __init__(
        self,
        membership: Membership,
        used: npt.NDArray[Any],
        c: Floats,
        names: npt.NDArray[np.uint64],
    ) -> None:
        owner, label = membership.spread(used)
        sums = np.zeros(len(used), dtype=np.uint64)
        np.add.at(sums, owner, names[label])
        order = np.argsort(sums)
        self._sums, self._totals = sums[order], c[used][order]
        self._sizes = membership.sizes[used][order]

    def totals(self, sums: npt.NDArray[np.uint64], size: int) -> Floats:
        """Return the total of the value with that sum of names and that size; 0 for none."""
        found = np.minimum(np.searchsorted(self._sums, sums), len(self._sums) - 1)
        same = (self._sums[found] == sums) & (self._sizes[found] == size)
        return np.where(same, self._totals[found], 0.0)


def _lost(labels: npt.NDArray[Any], names: npt.NDArray[np.uint64], book: _Book) -> Floats:
    """Return, for each label of each value, the total of the values within it without the label.

    labels : (n, size), the values of one size.
    """
    n, size = labels.shape
    out = np.zeros((n, size))
    for mask in range(2**size - 1):
        kept = [j for j in range(size) if mask >> j & 1]
        gone = [j for j in range(size) if not mask >> j & 1]
        sums = names[labels[:, kept]].sum(axis=1, dtype=np.uint64)
        out[:, gone] += book.totals(sums, len(kept))[:, None]
    return out
