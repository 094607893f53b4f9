"""Confusions inside units to which hundreds of different answers were given.

All pairs of so many answers are far more than the pairs of labels they confuse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.checks import check_cost
from setagree.coefficients.chance import Floats
from setagree.diagnosis.contained import gone_by_chance
from setagree.diagnosis.membership import Membership
from setagree.errors import SetagreeWarning, counted, warn
from setagree.study.tally import Tally

CROWD = 200
"""Distinct answers of a unit beyond which their pairs are not listed."""

_CELLS_AT_ONCE = 4_000_000
_KEYS_AT_ONCE = 2_000_000

_PLACES_AT_MOST = 20_000_000
"""Keys that have a place each; 160 MB."""

BYTES_A_PAIR = 200
"""Memory of a pair of labels in the sums and in the table made of them."""

_ROUNDING = 1e-12
"""The share of a sum of counts that rounding may leave where nothing is left."""

INSTEAD = "Merge labels, or look at a part of the units."


class KeySums:
    """Sums by key, added to in portions; memory follows the distinct keys.

    Parameters
    ----------
    n_keys : int, optional
        Keys are below it. Where that is not too many, each has its place, and none is sorted.
    bytes_a_key : int
        What a key will take in the table made of the sums, which is refused beyond the limit.
    """

    def __init__(self, n_keys: int | None = None, bytes_a_key: int = 0) -> None:
        self._bytes_a_key = bytes_a_key
        many = n_keys is None or n_keys > _PLACES_AT_MOST
        self._places: Floats | None = None if many else np.zeros(n_keys or 0)
        self._keys: list[npt.NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
        self._sums: list[npt.NDArray[Any]] = [np.zeros(0)]
        self._waiting, self._room = 0, _KEYS_AT_ONCE

    def add(self, keys: npt.NDArray[np.int64], amounts: npt.NDArray[Any]) -> None:
        """Add the amounts, all above 0, one for each key."""
        if self._places is not None:
            np.add.at(self._places, keys, amounts)
            return
        self._keys.append(keys)
        self._sums.append(amounts)
        self._waiting += len(keys)
        if self._waiting > self._room:
            # As many again as are there may wait, so that all that is added is sorted a few times.
            self._room = max(_KEYS_AT_ONCE, len(self.totals()[0]))

    def totals(self) -> tuple[npt.NDArray[np.int64], Floats]:
        """Return the distinct keys, sorted, and their sums."""
        if self._places is not None:
            keys = np.flatnonzero(self._places)
            self.check(len(keys))
            return keys, self._places[keys]
        keys, which = np.unique(np.concatenate(self._keys), return_inverse=True)
        sums = np.bincount(which, np.concatenate(self._sums), len(keys)).astype(np.float64)
        self._keys, self._sums, self._waiting = [keys], [sums], 0
        self.check(len(keys))
        return keys, sums

    def check(self, n_keys: float) -> None:
        """Raise `CostError` where the table of so many keys would be too large."""
        check_cost("The table of confusions", n_bytes=self._bytes_a_key * n_keys, instead=INSTEAD)


def crowded(tally: Tally) -> npt.NDArray[np.bool_]:
    """Say of each pattern whether it has a crowd of different answers."""
    return np.asarray(np.diff(tally.indptr) > CROWD)


@dataclass(frozen=True, eq=False)
class Crowd:
    """The answers to one unit, over the labels that some of them hold and others do not.

    `labels` says which labels of the study these are, ascending; `counts` how many raters gave each
    answer.
    """

    membership: Membership
    labels: npt.NDArray[Any]
    counts: Floats

    def add_instead(self, sums: KeySums, times: float, n_labels: int) -> None:
        """Add how many pairs of ratings confuse labels a < b: n(a, not b) n(b, not a)."""
        X = self.membership.matrix
        weighted, by_label = X * self.counts[:, None], X.T.tocsr()
        n, L = by_label @ self.counts, len(self.labels)
        rows_at_once = max(1, _CELLS_AT_ONCE // max(L, 1))
        for start in range(0, L, rows_at_once):
            rows = np.arange(start, min(start + rows_at_once, L))
            both = (by_label[rows] @ weighted).toarray()
            own, other = n[rows, None] - both, n - both
            real = (own > _ROUNDING * n[rows, None]) & (other > _ROUNDING * n)
            a, b = np.nonzero(real & (np.arange(L) > rows[:, None]))
            keys = self.labels[rows[a]].astype(np.int64) * n_labels + self.labels[b]
            sums.add(keys, times * own[a, b] * other[a, b])


def crowd_of(tally: Tally, membership: Membership, pattern: int) -> Crowd:
    """Return the answers to a unit of a pattern."""
    entries = slice(tally.indptr[pattern], tally.indptr[pattern + 1])
    values, counts = tally.indices[entries], tally.counts[entries]
    position, label = membership.spread(values)
    labels, which = np.unique(label, return_inverse=True)
    # What all answers hold is confused with nothing and left out by nobody.
    told_apart = np.bincount(which, minlength=len(labels)) < len(values)
    kept = told_apart[which]
    indices = (np.cumsum(told_apart) - 1)[which[kept]]
    sizes = np.bincount(position[kept], minlength=len(values))
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    labels = labels[told_apart]
    return Crowd(Membership(membership.labels[labels], indptr, indices), labels, counts)


def add_crowds(tally: Tally, membership: Membership, instead: KeySums, left_out: Floats) -> float:
    """Add the confusions of all crowded units; return how many pairs of ratings differ in them.

    `left_out` is by label, and nan where large answers are so many that comparing them would take
    minutes.
    """
    differing, steps, skipped = 0.0, 0.0, 0.0
    for pattern in np.flatnonzero(crowded(tally)).tolist():
        crowd, times = crowd_of(tally, membership, pattern), float(tally.multiplicity[pattern])
        r = float(crowd.counts.sum())
        differing += times * (r * r - float(crowd.counts @ crowd.counts)) / 2
        steps += len(crowd.labels) ** 2
        check_cost("Comparing all pairs of labels", n_steps=steps, instead=INSTEAD)
        crowd.add_instead(instead, times, membership.n_labels)
        gone = gone_by_chance(crowd.membership, crowd.counts)
        left_out[crowd.labels] += times * gone
        skipped += times * bool(np.isnan(gone).any())
    if skipped:
        warn(
            f"confusions: what was left out is unknown (nan) for {np.isnan(left_out).sum():,} "
            f"labels, as the large answers in {counted(round(skipped), 'unit')} are too many to be "
            "compared with one another.",
            SetagreeWarning,
        )
    return differing
