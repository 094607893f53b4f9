"""Pairs of labels that raters give to the same unit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import check_cost, public
from setagree.coefficients.chance import Floats
from setagree.credit.base import neighbours
from setagree.diagnosis.by_label import Membership, membership_of
from setagree.distances.hierarchy import Parents, read_hierarchy
from setagree.inference.panel_members import plain_units
from setagree.large.opening import Data, open_study
from setagree.limits import BLOCK_ENTRIES
from setagree.scoring.scorer import Scorer
from setagree.study.annotations import Annotations
from setagree.study.degrees import warn_degrees
from setagree.study.tally import Tally

_MAX_LISTED_SIZE = 12
"""The size of a value up to which its subsets are listed; they are 4,096."""

_MAX_LOOKUPS = 50_000_000
"""Subsets, or pairs of a large value with any other, beyond which nothing is looked up."""

_MAX_SUMS = 50_000_000
"""Additions beyond which the sums over all subsets of the labels are not made."""


def expected_omissions(membership: Membership, c: Floats) -> Floats:
    """Return sum over A with label a, and over B within A without a, of c_A c_B, for each label.

    Every subset of a small value is looked up among the values, with 2^|A| lookups; a large value
    is compared with all values. For few labels, sums over all subsets are used if that is less
    work. All are NaN if that would be too much.
    """
    used = np.flatnonzero(c > 0)
    sizes = membership.sizes[used]
    listed = sizes <= min(_MAX_LISTED_SIZE, np.log2(max(len(used), 1)))
    small, large = used[listed], used[~listed]
    lookups = float((2.0 ** membership.sizes[small]).sum()) + float(len(large)) * len(used)
    if membership.n_labels * 2.0 ** min(membership.n_labels, 64) <= min(lookups, _MAX_SUMS):
        return _by_subset_sums(membership, used, c)
    if lookups > _MAX_LOOKUPS:
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
    """Return sum over A with a, and B within A without a, of c_A c_B, for each label a.

    By f(S), the total of the values within S, of every set S of labels.
    """
    owner, label = membership.spread(used)
    codes = np.bincount(owner, 2.0**label, len(used)).astype(np.intp)
    # f(S) = sum of c_B over B within S, label by label; then sum over A of c_A f(A without a).
    f = np.bincount(codes, c[used], 2**membership.n_labels)
    for bit in range(membership.n_labels):
        halves = f.reshape(-1, 2, 2**bit)
        halves[:, 1] += halves[:, 0]
    weight = c[used][owner] * f[codes[owner] - 2**label]
    return np.bincount(label, weight, membership.n_labels).astype(np.float64)


def _lost_from_large(
    membership: Membership, large: npt.NDArray[Any], used: npt.NDArray[Any], c: Floats
) -> Floats:
    """Return that sum over the large values A alone, each compared with every value in use."""
    out = np.zeros(membership.n_labels)
    at_once = max(1, BLOCK_ENTRIES // max(len(used), 1))
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


_BLOCK_KEYS = 2_000_000
"""Least number of keys that wait before they are sorted: 32 MB."""

_MAX_PLACES = 20_000_000
"""Keys that have a place each; 160 MB."""

ENOUGH_PAIRS = 5
"""Pairs that a confusion needs, observed and expected: below, their ratio is mostly noise."""

BYTES_PER_PAIR = 200
"""Memory of a pair of labels in the sums and in the table made of them."""

_BYTES_PER_ANSWER_PAIR, _STEPS_PER_ANSWER_PAIR = 100, 50
"""Memory and work of a pair of different answers while the pairs are sorted and summed."""

INSTEAD = "Merge labels, or look at a part of the units."


class KeySums:
    """Sums by key, added to in portions; memory follows the distinct keys.

    Parameters
    ----------
    n_keys : int, optional
        Upper bound of the keys. If it is small enough, keys are indexed and not sorted.
    bytes_per_key : int
        Bytes per key in the table of the sums, which raises an error beyond the limit.
    """

    def __init__(self, n_keys: int | None = None, bytes_per_key: int = 0) -> None:
        self._bytes_per_key = bytes_per_key
        many = n_keys is None or n_keys > _MAX_PLACES
        self._places: Floats | None = None if many else np.zeros(n_keys or 0)
        self._keys: list[npt.NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
        self._sums: list[npt.NDArray[Any]] = [np.zeros(0)]
        self._waiting, self._room = 0, _BLOCK_KEYS

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
            self._room = max(_BLOCK_KEYS, len(self.totals()[0]))

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
        """Raise `CostError` if the table of so many keys would be too large."""
        check_cost("The table of confusions", n_bytes=self._bytes_per_key * n_keys, instead=INSTEAD)


COLUMNS = ("label", "other", "kind", "n_pairs", "expected_pairs", "lift", "share", "relation")

BLOCK_STEPS = 5_000_000
"""Pairs of labels that are compared at once."""

CLEARLY = 3.0
"""Pairs beyond chance of a clear confusion, in square roots of the pairs by chance."""


@public
def confusions(study: Data, *, parents: Parents | None = None) -> pd.DataFrame:
    """Return the labels that are exchanged for one another, and those that are left out.

    Two raters of a unit, with answers A and B, confuse label a with b if a is in A and not in B
    and b is in B and not in A (kind "instead"). One of them left label a out if a is in A and B
    holds nothing that A lacks (kind "left out"). A pair of answers can show several confusions.

    Parameters
    ----------
    study : Annotations, Tally, or a table or path as `agreement` takes it
        Label sets; or categories, which can only be exchanged for one another.
    parents : mapping, DataFrame, path or taxonomy, optional
        The label hierarchy, as `setagree.distances.taxonomy` takes it, or what that returned.

    Returns
    -------
    DataFrame
        The most frequent first: label, other (None for "left out"), kind, n_pairs (of ratings of
        one unit), expected_pairs (their expected number if the pairs that differ did so as two
        answers drawn at random do: see the notes), lift (n_pairs / expected_pairs), share (of all
        pairs that differ), relation ("parent" if one is an ancestor of the other, a matter of
        granularity; "sibling"; "unrelated"; None without a taxonomy).

    Raises
    ------
    DataError
        The values are numbers.
    CostError
        Tens of millions of pairs of labels are confused, or thousands of millions compared; or
        units have so many different answers that tens of millions of pairs of answers differ.

    Warns
    -----
    DegreesWarning
        Labels have degrees, which do not count here.
    SetagreeWarning
        The study has clusters, weights, strata or a population size, which do not count here.

    Notes ----- Raters who agree more than by chance confuse all labels less than expected. So
    `expected_pairs` is conditional on pairs that differ: with D the pairs of ratings of one unit
    that differ, N the pairable ratings, ``c_k`` of them with value k, and ``c(a, not b)`` those
    that hold a and not b, it is ``D c(a, not b) c(b, not a) / ((N² - sum_k c_k²) / 2)``, the share
    among all pairs of different answers times D; for "left out" the sum over all A and subsets B of
    A takes the place of the product. Where every answer is one label, all pairs of labels together
    have an expected count of D, as many as the pairs that are counted. It is nan for "left out" if
    large sets are so many that comparing them would take minutes. Pairs are those of the sample,
    each counted once.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.Annotations.from_triples([
    ...     ("ann", 1, "a"), ("ben", 1, "b"), ("ann", 2, "a, c"), ("ben", 2, "b, c"),
    ...     ("ann", 3, "c"), ("ben", 3, ""),
    ... ], blank="empty")
    >>> confusions(study)[["label", "other", "kind", "n_pairs", "expected_pairs"]].round(3)
      label other      kind  n_pairs  expected_pairs
    0     a     b   instead      2.0             0.8
    1     c  None  left out      1.0             1.0
    """
    opened = open_study(study)
    if isinstance(opened, Annotations):
        opened = plain_units(opened, "confusions")
    tally = Scorer(opened).tally
    warn_degrees(tally.values, "confusions")
    membership = membership_of(tally)
    k, l, m = _differing_pairs(tally)
    sums, left_out = KeySums(membership.n_labels**2, BYTES_PER_PAIR), np.zeros(membership.n_labels)
    _add_pairs(membership, k, l, m, sums, left_out)
    differing = float(m.sum())
    c = tally.pairable_totals
    # D over the pairs of all ratings, whatever their units, that differ.
    drawn = (float(c.sum()) ** 2 - float(c @ c)) / 2
    times = differing / drawn if drawn > 0 else float("nan")
    frames = [_instead(membership, sums, c, times), _left_out(membership, left_out, c, times)]
    frame = pd.concat([one for one in frames if len(one)] or frames[:1], ignore_index=True)
    frame["lift"] = frame["n_pairs"] / frame["expected_pairs"]
    frame["share"] = frame["n_pairs"] / differing if differing else np.nan
    frame["relation"] = None if parents is None else _relations(frame, parents)
    frame = frame.sort_values("n_pairs", ascending=False, kind="stable")
    return frame[list(COLUMNS)].reset_index(drop=True)


def has_enough_pairs(frame: pd.DataFrame) -> pd.Series[bool]:
    """Return whether confusions have enough pairs, observed and expected, for a comparison.

    If the number expected by chance is unknown, the observed one decides.
    """
    return (frame["n_pairs"] >= ENOUGH_PAIRS) & ~(frame["expected_pairs"] < ENOUGH_PAIRS)


def exceed_chance(frame: pd.DataFrame) -> pd.Series[bool]:
    """Return whether confusions have enough pairs and clearly more than expected by chance.

    The pairs of a unit are not independent, so that this is a filter of noise and not a test.
    """
    expected = frame["expected_pairs"]
    near = frame["n_pairs"] - expected < CLEARLY * expected**0.5
    return has_enough_pairs(frame) & ~near


def _differing_pairs(tally: Tally) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Floats]:
    """Return the distinct pairs k < l of values that meet in units, and how many rater pairs."""
    K, sums = tally.n_values, KeySums()
    answers = np.diff(tally.indptr).astype(np.float64)
    n_pairs = float((answers * (answers - 1)).sum()) / 2
    check_cost(
        "Listing the pairs of different answers to a unit",
        n_bytes=_BYTES_PER_ANSWER_PAIR * min(n_pairs, K * (K - 1) / 2),
        n_steps=_STEPS_PER_ANSWER_PAIR * n_pairs,
        instead=INSTEAD,
    )
    for one, two in neighbours(tally.rows):
        k, l = tally.indices[one].astype(np.int64), tally.indices[two].astype(np.int64)
        m = tally.multiplicity[tally.rows[one]] * tally.counts[one] * tally.counts[two]
        sums.add(np.minimum(k, l) * K + np.maximum(k, l), m)
    met, total = sums.totals()
    return met // K, met % K, total


def _add_pairs(
    membership: Membership,
    k: npt.NDArray[Any],
    l: npt.NDArray[Any],
    m: Floats,
    sums: KeySums,
    left_out: Floats,
) -> None:
    """Add the confusions in m pairs of ratings of values k and l, in bounded memory."""
    sizes, L = membership.sizes, membership.n_labels
    steps = sizes[k] * sizes[l] + sizes[k] + sizes[l]
    check_cost("Comparing all pairs of labels", n_steps=float(steps.sum()), instead=INSTEAD)
    portion = np.cumsum(steps) // BLOCK_STEPS
    for part in np.split(np.arange(len(k)), np.flatnonzero(np.diff(portion)) + 1):
        one, two = membership.alone(k[part], l[part]), membership.alone(l[part], k[part])
        n_one, n_two = np.diff(one.indptr), np.diff(two.indptr)
        # Each pair of answers confuses at least so many pairs of labels.
        sums.check(float((n_one * n_two).max(initial=0)))
        weighted = two * m[part][:, None]
        confused = (one.T @ weighted).tocoo()
        a, b = (confused.coords[axis].astype(np.int64) for axis in (0, 1))
        sums.add(np.minimum(a, b) * L + np.maximum(a, b), confused.data)
        left_out += m[part][n_two == 0] @ one[n_two == 0] + (n_one == 0) @ weighted


def _instead(membership: Membership, sums: KeySums, c: Floats, times: float) -> pd.DataFrame:
    keys, pairs = sums.totals()
    a, b = np.divmod(keys, max(membership.n_labels, 1))
    # How many pairs of all ratings, whatever their units, confuse labels a and b.
    alone = np.asarray(membership.matrix.T @ c)
    weighted = membership.matrix * c[:, None]
    together = np.asarray((membership.matrix.T @ weighted).tocsr()[a, b]).ravel()
    drawn = (alone[a] - together) * (alone[b] - together)
    return pd.DataFrame(
        {
            "label": membership.labels[a],
            "other": membership.labels[b],
            "kind": "instead",
            "n_pairs": pairs,
            "expected_pairs": drawn * times,
        }
    )


def _left_out(membership: Membership, pairs: Floats, c: Floats, times: float) -> pd.DataFrame:
    expected = expected_omissions(membership, c) * times
    found = np.flatnonzero(pairs)
    return pd.DataFrame(
        {
            "label": membership.labels[found],
            "other": np.full(len(found), None, dtype=object),
            "kind": "left out",
            "n_pairs": pairs[found],
            "expected_pairs": expected[found],
        }
    )


def _relations(frame: pd.DataFrame, parents: Parents) -> list[str | None]:
    """Return the relation between the two labels of each row."""
    tree = read_hierarchy(parents)

    def related(a: Any, b: Any) -> str | None:
        if b is None:
            return None
        if a in tree.steps_up(b) or b in tree.steps_up(a):
            return "parent"
        return "sibling" if tree.above(a) & tree.above(b) else "unrelated"

    return [related(a, b) for a, b in zip(frame["label"], frame["other"], strict=True)]


_BLOCK_PAIRS = 150_000
"""Pairs of ratings in a block, unless one rater has more: their arrays stay in the cache."""


@dataclass(frozen=True, eq=False)
class SortedRatings:
    """The ratings of a study, unit by unit, inside a unit by rater.

    Attributes
    ----------
    order : ndarray of int, shape (n_ratings,)
        The position in the study of each rating in this order.
    units, raters, values : ndarray of int, shape (n_ratings,)
        Codes, in this order.
    stop : ndarray of int, shape (n_ratings,)
        The end of the unit of each rating.
    unit_ratings : ndarray of int, shape (n_ratings,)
        r_i of the unit of each rating.
    """

    order: npt.NDArray[Any]
    units: npt.NDArray[Any]
    raters: npt.NDArray[Any]
    values: npt.NDArray[Any]
    stop: npt.NDArray[Any]
    unit_ratings: npt.NDArray[Any]

    def pairs_by_first_rater(self) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """Yield blocks of pairs (left, right), rater of left before rater of right.

        A block has all pairs of its first raters.
        """
        by_rater = np.argsort(self.raters, kind="stable")
        after = (self.stop - np.arange(len(self.stop)) - 1)[by_rater]
        ends = np.flatnonzero(np.diff(self.raters[by_rater], append=-1)) + 1
        done = np.cumsum(after)
        start = 0
        while start < len(by_rater):
            room = done[start] - after[start] + _BLOCK_PAIRS
            fits = ends[(ends > start) & (done[ends - 1] <= room)]
            end = int(fits[-1]) if len(fits) else int(ends[ends > start][0])
            left = np.repeat(by_rater[start:end], after[start:end])
            steps = np.arange(len(left)) - np.repeat(
                np.cumsum(after[start:end]) - after[start:end], after[start:end]
            )
            yield left, left + 1 + steps
            start = end


def sorted_ratings(study: Annotations) -> SortedRatings:
    """Return the ratings of a study in order of unit, then rater."""
    order = np.lexsort((study.rater_codes, study.unit_codes))
    units = study.unit_codes[order]
    r = np.bincount(study.unit_codes, minlength=study.n_units)
    return SortedRatings(
        order,
        units,
        study.rater_codes[order],
        study.value_codes[order],
        np.cumsum(r)[units],
        r[units],
    )
