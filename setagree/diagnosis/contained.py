"""How often, by chance, a label is left out where all else is contained."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.coefficients.chance import Floats
from setagree.diagnosis.membership import Membership

_SUBSETS_AT_MOST = 50_000_000
"""Subsets of all values together, beyond which they are not listed (some seconds)."""


def gone_by_chance(membership: Membership, c: Floats) -> Floats:
    """Return sum over A with label a, and over B within A without a, of c_A c_B, for each label.

    Every subset of every value in use is looked up among the values: 2^|A| lookups for a value A.
    All are nan where that would be too many.
    """
    used = np.flatnonzero(c > 0)
    sizes = membership.sizes[used]
    out = np.zeros(membership.n_labels)
    if float((2.0**sizes).sum()) > _SUBSETS_AT_MOST:
        return np.full(membership.n_labels, np.nan)
    names = np.random.default_rng(0).integers(2**63, size=membership.n_labels, dtype=np.uint64)
    book = _Book(membership, used, c, names)
    for size in np.unique(sizes):
        values = used[sizes == size]
        labels = membership.spread(values)[1].reshape(len(values), size)
        lost = _lost(labels, names, book) * c[values][:, None]
        out += np.bincount(labels.ravel(), lost.ravel(), membership.n_labels)
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
