"""The labels in which answers to a unit differ, and draws of other labels in their place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from setagree.checks import Codes, Floats, check_cost
from setagree.coefficients.uncertain import patterns_of_units
from setagree.credit.geometry import SetGeometry
from setagree.errors import CostError
from setagree.inference.resampling import block_sizes
from setagree.study.codes import ranges
from setagree.study.identifiers import Keys, value_numbers
from setagree.study.tally import Tally, row_keys

BLOCK_STEPS = 1_000_000
"""Pairs of labels that are compared at once."""

_BYTES_PER_PAIR = 200
"""Memory of a pair of labels in the sums and in the table made of them."""

BYTES_PER_ANSWER_PAIR = 100
"""Memory of a pair of different answers to a unit."""

_STEPS_PER_DRAWN_PAIR = 50
"""Work of a pair of labels in one reshuffle."""

_MAX_LABELS = 100
"""Labels that are drawn for a unit: products of more shares could be rounded to 0."""

_MAX_TRIALS = 20
"""Draws of the labels of a unit, or of a group, until no label is drawn twice."""

_SWEEPS = 3
"""How often each group of the other units is drawn again, given the others of the unit."""

_MANY_SETS = 2**15
"""Sets of labels of a size that are drawn at first, and from these for every unit."""

INSTEAD = "Merge labels, or use a part of the units."


class Differences:
    """Pairs of answers: their common labels, and those of one of them alone, as sparse flags."""

    def __init__(self, sets: SetGeometry, k: Codes, l: Codes) -> None:
        held = [sets.flags[k], sets.flags[l]]
        self.common = held[0].multiply(held[1]).tocsr()
        self.one, self.two = (x - self.common for x in held)
        for each in (self.common, self.one, self.two):
            each.eliminate_zeros()

    def confusions(self) -> tuple[Codes, Codes, Codes]:
        """Return each confusion a <= b: the position of the pair of answers, a and b.

        a = b denotes a label that is left out.
        """
        one, two, n = self.one, self.two, self.one.shape[0]
        n_one, n_two = np.diff(one.indptr), np.diff(two.indptr)
        row_one, row_two = (np.repeat(np.arange(n), times) for times in (n_one, n_two))
        # Every label that only the first has, with every label that only the second has.
        times = n_two[row_one]
        row, a = np.repeat(row_one, times), np.repeat(one.indices, times)
        b = two.indices[ranges(two.indptr[row_one], times)]
        lone, other = n_two[row_one] == 0, n_one[row_two] == 0
        left_out = np.concatenate([one.indices[lone], two.indices[other]])
        return (
            np.concatenate([row, row_one[lone], row_two[other]]),
            np.concatenate([np.minimum(a, b), left_out]).astype(np.int64),
            np.concatenate([np.maximum(a, b), left_out]).astype(np.int64),
        )


def compared(sets: SetGeometry, k: Codes, l: Codes) -> Iterator[tuple[Codes, Differences]]:
    """Yield the differences of values k and l in blocks, each with its positions in k and l."""
    steps = sets.sizes[k] * sets.sizes[l] + sets.sizes[k] + sets.sizes[l]
    check_cost("Comparing all pairs of labels", n_steps=float(steps.sum()), instead=INSTEAD)
    block = np.cumsum(steps) // BLOCK_STEPS
    for part in np.split(np.arange(len(k)), np.flatnonzero(np.diff(block)) + 1):
        # The steps of a block bound its confusions, except of a single pair of large answers.
        check_table(float(steps[part].max(initial=0)) if len(part) == 1 else 0)
        yield part, Differences(sets, k[part], l[part])


class DiscordantLabels:
    """The labels that some answers to a unit have and others do not, of which some are redrawn.

    The labels of a unit that the same answers have are a group.

    Attributes
    ----------
    labels : ndarray of shape (n_units, width)
        The labels of each unit, group by group, then those that all answers have, and -1.
    s, t, pairs : ndarray
        The positions in ``labels.ravel()`` of two labels of a unit, or of one that is left out
        (s = t), and how many pairs of ratings confuse them.
    """

    def __init__(self, tally: Tally, sets: SetGeometry, urn: LabelUrn) -> None:
        self._urn, n = urn, tally.n_patterns
        pattern, label, name, lowest, common = _labels_that_differ(tally, sets, urn)
        order, of_pattern, size, answers = _in_groups(pattern, label, name, lowest)
        m, n_common = np.bincount(pattern, minlength=n), np.diff(common.indptr).astype(np.intp)
        _check_labels(m, n_common)
        column = np.empty(len(order), dtype=np.int64)
        column[order] = ranges(0, m)
        width = int((m + n_common).max(initial=1))
        padded = np.full((n, width), -1, dtype=np.int32)
        padded[pattern, column] = label
        rows = np.repeat(np.arange(n), n_common)
        padded[rows, ranges(m, n_common)] = common.indices
        # Neither the order of the units nor that of the values changes the draws of a seed.
        units = patterns_of_units(tally)
        keys = row_keys(urn.numbers, tally.counts, tally.indices, tally.indptr)
        units = units[np.argsort(keys[units], kind="stable")]
        units = units[m[units] > 0]
        self.labels = padded[units]
        label_keys = pattern.astype(np.int64) * sets.n_labels + label
        s, t, pairs = _confused_places(tally, sets, label_keys, pattern * width + column)
        times = np.bincount((s // width).astype(np.intp), minlength=n)
        listed = ranges((np.cumsum(times) - times)[units], times[units])
        shift = np.repeat(width * (np.arange(len(units)) - units), times[units])
        self.s, self.t, self.pairs = s[listed] + shift, t[listed] + shift, pairs[listed]
        is_other = (size > 1) | (answers > 1) | (n_common[of_pattern] > 0)
        is_single = np.bincount(of_pattern[is_other], minlength=n)[units] == 0
        counts = np.unique(m[units][is_single])
        self._single = {k: np.flatnonzero(is_single & (m[units] == k)) for k in counts}
        self._mixed = np.flatnonzero(~is_single)
        n_groups = np.bincount(of_pattern, minlength=n)
        first_column = np.cumsum(size) - size - (np.cumsum(m) - m)[of_pattern]
        times, first = (x[units][self._mixed] for x in (n_groups, np.cumsum(n_groups) - n_groups))
        place = width * np.repeat(self._mixed, times)
        k, groups = ranges(0, times), ranges(first, times)
        place += first_column[groups]
        kinds, kind = np.unique([size, answers], axis=1, return_inverse=True)
        kind = kind.ravel()[groups]
        # Groups of each size and class: the place of the first label, and the number in the unit
        parts = ((*pair, kind == j) for j, pair in enumerate(kinds.T.tolist()))
        self._groups = [(*pair, place[x], k[x]) for *pair, x in parts if x.any()]

    def reshuffles(self, n_resamples: int) -> Iterator[tuple[slice, Codes]]:
        """Yield the numbers of reshuffles in blocks, and a row of labels for each.

        The groups of a unit are drawn given that no label is in two of them or in all answers: at
        once, or, if that fails too often, one given the others (Gibbs sampling).
        """
        n_pairs = len(self.pairs)
        check_cost(
            f"{n_resamples:,} reshuffles of {n_pairs:,} pairs of labels",
            n_steps=_STEPS_PER_DRAWN_PAIR * n_resamples * n_pairs,
            instead="Use fewer (n_resamples), or a part of the units.",
        )
        last, width = 0, max(n_pairs, self.labels.size)
        for b in block_sizes(n_resamples, width, what="reshuffles"):
            rows, last = slice(last, last + b), last + b
            drawn = np.tile(self.labels, (b, 1, 1))
            for m, units in self._single.items():
                drawn[:, units, :m] = self._urn.distinct(m, (b, len(units)))
            self._redraw(drawn)
            yield rows, drawn.reshape(b, -1)

    def _redraw(self, drawn: Codes) -> None:
        """Draw all groups of each unit at once, and those that meet one by one."""
        (n_units, width), flat = self.labels.shape, drawn.reshape(-1)
        rows, starts = drawn.reshape(-1, width), n_units * np.arange(len(drawn))[:, None]
        remaining = (starts + self._mixed).ravel()
        parts = [
            (size, answers, (width * starts + place).ravel(), np.tile(k, len(drawn)))
            for size, answers, place, k in self._groups
        ]
        for _ in range(_MAX_TRIALS if len(remaining) else 0):
            for size, answers, place, _ in parts:
                labels = self._urn.sets_of(size, answers, len(place))
                flat[place[:, None] + np.arange(size)] = labels
            ordered = np.sort(rows[remaining], axis=1)
            is_twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
            is_left = np.zeros(len(rows), dtype=bool)
            is_left[remaining[np.flatnonzero(is_twice) // (width - 1)]] = True
            remaining = np.flatnonzero(is_left)
            left = ((*part, is_left[part[2] // width]) for part in parts)
            parts = [(*kind, place[x], k[x]) for *kind, place, k, x in left if x.any()]
        rows[remaining] = self.labels[remaining % n_units]
        n_groups = max((int(k.max()) + 1 for *_, k in parts), default=0)
        for number in [*range(n_groups)] * _SWEEPS:
            for size, answers, place, k in parts:
                self._redraw_group(flat, size, answers, place[k == number])

    def _redraw_group(self, flat: Codes, size: int, answers: int, place: Codes) -> None:
        """Draw a group of each row again until it has none of the row's other labels."""
        width = self.labels.shape[1]
        own = place[:, None] + np.arange(size)
        found = flat[own]
        flat[own] = -1
        others, remaining = flat.reshape(-1, width)[place // width], np.arange(len(place))
        for _ in range(_MAX_TRIALS):
            if not len(remaining):
                break
            labels = self._urn.sets_of(size, answers, len(remaining))
            fits = ~(labels[:, :, None] == others[remaining, None, :]).any(axis=(1, 2))
            found[remaining[fits]] = labels[fits]
            remaining = remaining[~fits]
        flat[own] = found


class LabelUrn:
    """The pairable ratings, of which other labels are drawn for those that differ.

    Ratings with about as many labels have the same class: 0, 1, 2, 3, 4, 5-8, 9-16, and so on.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        The class of each value.
    c : ndarray of shape (n_classes, L)
        The ratings of each class with each label.
    numbers : ndarray of shape (K,)
        The hash of each value.
    """

    def __init__(self, tally: Tally, sets: SetGeometry, generator: np.random.Generator) -> None:
        self._sets, self._generator = sets, generator
        # The order of the values does not change the draws of a seed.
        self.numbers = value_numbers(tally.values)
        self._order = np.argsort(self.numbers)
        self._totals, sizes = tally.pairable_totals, sets.sizes
        self.classes = np.where(
            sizes < 5, sizes, 2 + np.ceil(np.log2(np.maximum(sizes, 1)))
        ).astype(int)
        of_class = self.classes == np.arange(self.classes.max(initial=0) + 1)[:, None]
        self.c = np.asarray((of_class * self._totals) @ sets.flags, dtype=np.float64)
        self._drawn: dict[tuple[int, int], Codes] = {}

    def distinct(self, m: int, shape: tuple[int, int]) -> Codes:
        """Return m different labels per unit in random order, drawn as ratings of one label."""
        labels = _distinct_labels(_tails(self.c[1], m), shape, self._generator)
        return self._generator.permuted(labels, axis=-1)

    def sets_of(self, size: int, group: int, n: int) -> Codes:
        """Return n sets of labels of a size, drawn in proportion to the ratings that contain them.

        These are the ratings of one class.
        """
        if (size, group) not in self._drawn:
            self._drawn[size, group] = self._many_sets_of(size, group)
        return self._drawn[size, group][self._generator.integers(_MANY_SETS, size=n)]

    def _many_sets_of(self, size: int, group: int) -> Codes:
        """Return many sets of labels of a size, of ratings of a class.

        A rating is drawn in proportion to the number of its subsets of that size, and one of these.
        """
        from scipy.special import comb

        sets, order, n = self._sets, self._order, _MANY_SETS
        weights = self._totals * (self.classes == group) * comb(sets.sizes, size)
        reached = np.cumsum(weights[order])
        # One number from each n-th part, so that frequent sets are as frequent as they should be.
        drawn = (np.arange(n) + self._generator.random(n)) / n * reached[-1]
        drawn = np.minimum(drawn, np.nextafter(reached[-1], 0))  # rounding may reach the end
        k = order[np.searchsorted(reached, drawn, side="right")]
        keys = self._generator.random((n, int(sets.sizes[k].max())))
        keys[np.arange(keys.shape[1]) >= sets.sizes[k][:, None]] = 1
        chosen = np.argpartition(keys, size - 1, axis=1)[:, :size]
        return np.asarray(sets.indices[sets.indptr[k][:, None] + chosen], dtype=np.int32)


def check_table(n_pairs: float) -> None:
    """Raise `CostError` if the table of so many pairs of labels would be too large."""
    n_bytes = _BYTES_PER_PAIR * n_pairs
    check_cost("The table of confusions", n_bytes=n_bytes, instead=INSTEAD)


def _check_labels(m: Codes, n_common: Codes) -> None:
    """Raise `CostError` if the answers to a unit differ in too many labels, or have too many."""
    if (most := m.max(initial=0)) > _MAX_LABELS:
        raise CostError(
            f"the answers to a unit differ in {most:,} labels; at most {_MAX_LABELS} can be drawn. "
            f"{INSTEAD}"
        )
    n_bytes = 8 * float(len(m)) * float((m + n_common).max(initial=0))
    check_cost("The labels of all units", n_bytes=n_bytes, instead=INSTEAD)


def _labels_that_differ(
    tally: Tally, sets: SetGeometry, urn: LabelUrn
) -> tuple[Codes, Codes, Keys, Codes, Any]:
    """Return the labels that some answers of a pattern of units have and others do not.

    They are the pattern and the label of each, a number of its answers, which another label of the
    pattern has only if it is in the same answers, the lowest class of these, and a matrix of the
    labels that all answers have.
    """
    from scipy import sparse

    n, L = tally.n_patterns, sets.n_labels
    value = np.repeat(tally.indices, sets.sizes[tally.indices])
    rows = np.repeat(tally.rows, sets.sizes[tally.indices]).astype(np.int64)
    keys = rows * L + sets.flags[tally.indices].indices
    order = np.argsort(keys, kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    number = np.diff(first, append=len(keys))
    name = np.add.reduceat(urn.numbers[value[order]], first)
    lowest = np.minimum.reduceat(urn.classes[value[order]], first)
    pattern, label = np.divmod(keys[order][first], L)
    pattern = pattern.astype(np.intp)
    differ = number < np.diff(tally.indptr)[pattern]
    ends = np.append(0, np.cumsum(np.bincount(pattern[~differ], minlength=n)))
    common = sparse.csr_array((~differ[~differ], label[~differ], ends), shape=(n, L))
    return pattern[differ], label[differ], name[differ], lowest[differ], common


def _in_groups(
    pattern: Codes, label: Codes, name: Keys, lowest: Codes
) -> tuple[Codes, Codes, Codes, Codes]:
    """Return the order of labels by pattern and group, and the groups in that order.

    The labels of a pattern with the same name are a group. Each has a pattern, a size and a class.
    """
    order = np.lexsort((label, name, pattern))
    is_new = np.diff(pattern[order], prepend=-1) != 0
    is_new[1:] |= name[order][1:] != name[order][:-1]
    group, first = np.cumsum(is_new) - 1, np.flatnonzero(is_new)
    size, of = np.bincount(group, minlength=len(first)), order[first]
    by_size = np.lexsort((label[of], lowest[of], size, pattern[of]))
    place = np.empty(len(first), dtype=np.int64)
    place[by_size] = np.arange(len(first))
    of = of[by_size]
    order = order[np.argsort(place[group], kind="stable")]
    return order, pattern[of], size[by_size], lowest[of]


def _confused_places(
    tally: Tally, sets: SetGeometry, keys: Codes, place: Codes
) -> tuple[Codes, Codes, Floats]:
    """Return the confusions of each pattern: the places of both labels, and the pairs of ratings.

    keys : the patterns and labels that differ, as pattern times L plus label, ascending; place has
    the place of each, ascending from pattern to pattern.
    """
    answers = np.diff(tally.indptr)
    n_pairs = float((answers * (answers - 1)).sum()) / 2
    n_bytes = BYTES_PER_ANSWER_PAIR * n_pairs
    check_cost("Listing the pairs of different answers", n_bytes=n_bytes, instead=INSTEAD)
    later = (tally.indptr[1:][tally.rows] - np.arange(len(tally.rows)) - 1).astype(np.intp)
    i = np.repeat(np.arange(len(later)), later)
    j = ranges(np.arange(len(later)) + 1, later)
    times, base = tally.counts[i] * tally.counts[j], int(place.max(initial=0)) + 1
    found, pairs = [], []
    for part, differences in compared(sets, tally.indices[i], tally.indices[j]):
        row, a, b = differences.confusions()
        from_key = tally.rows[i[part][row]].astype(np.int64) * sets.n_labels
        s, t = (place[np.searchsorted(keys, from_key + x)] for x in (a, b))
        found.append(np.minimum(s, t) * base + np.maximum(s, t))
        pairs.append(times[part][row])
    both, which = np.unique(np.concatenate(found), return_inverse=True)
    s, t = np.divmod(both, base)
    return s, t, np.bincount(which, np.concatenate(pairs)).astype(np.float64)


def _tails(c: Floats, m: int) -> Floats:
    """Return T[q, a], the sum of products of q of the c_a, c_a+1, ..., of shape (m + 1, L + 1).

    T[q, a] = c_a T[q - 1, a + 1] + T[q, a + 1], up to a factor.
    """
    tails = np.zeros((m + 1, len(c) + 1))
    tails[0], share = 1, c * m / c.sum()
    for q in range(1, m + 1):
        tails[q, :-1] = np.cumsum((share * tails[q - 1, 1:])[::-1])[::-1]
    return tails


def _distinct_labels(
    tails: Floats, shape: tuple[int, int], generator: np.random.Generator
) -> Codes:
    """Return m ascending labels per unit, of shape (*shape, m), with probability prod_a c_a.

    The first of q labels from a0 on is at least a with probability T[q, a] / T[q, a0].
    """
    m, L = len(tails) - 1, tails.shape[1] - 1
    out, start = np.empty((*shape, m), dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for position in range(m):
        tail = tails[m - position]
        drawn = generator.random(shape) * tail[start]
        # The largest a with T[q, a] above the number drawn.
        out[..., position] = L - np.searchsorted(tail[::-1], drawn, side="right")
        start = out[..., position] + 1
    return out
