"""Pairs of labels that raters give to the same unit, and the test of their excess over chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import Codes, Floats, Rng, as_generator, check_cost, check_resamples
from setagree.coefficients.case import summed_weights
from setagree.coefficients.uncertain import patterns_of_units
from setagree.credit.geometry import SetGeometry, labels_of_values
from setagree.diagnosis.common import NOT_REQUESTED, SURE
from setagree.distances.hierarchy import Parents, read_hierarchy
from setagree.errors import CostError, OptionError, option
from setagree.inference.panel_members import plain_units
from setagree.inference.resampling import block_sizes
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, open_study, takes_data
from setagree.limits import BLOCK_ENTRIES
from setagree.scoring.scorer import Scorer
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects
from setagree.study.degrees import warn_degrees
from setagree.study.identifiers import value_numbers
from setagree.study.sampling import sample_of
from setagree.study.tally import Tally
from setagree.wording.result_frames import ResultFrame
from setagree.wording.tables import Column

ENOUGH_PAIRS = 5
"""Pairs that a confusion needs, observed and expected: below, their ratio is mostly noise."""

BLOCK_STEPS = 1_000_000
"""Pairs of labels that are compared at once."""

_BYTES_PER_PAIR = 200
"""Memory of a pair of labels in the sums and in the table made of them."""

_BYTES_PER_ANSWER_PAIR, _STEPS_PER_ANSWER_PAIR = 100, 50
"""Memory and work of a pair of different answers while the pairs are summed."""

_STEPS_PER_DRAWN_PAIR = 50
"""Work of a pair of answers of one reshuffle."""

_MAX_ANSWERS = 100
"""Different answers to a unit that is reshuffled: products of more shares could be rounded to 0."""

_TOO_FEW_PAIRS = f"fewer than {ENOUGH_PAIRS} observed or expected pairs"

_MAX_LISTED_SIZE = 12
"""The size of a value up to which its subsets are listed; they are 4,096."""

_MAX_LOOKUPS = 50_000_000
"""Subsets, or pairs of a large value with any other, beyond which nothing is looked up."""

_INSTEAD = "Merge labels, or use a part of the units."

COLUMNS = (
    Column("label", "name"),
    Column("other", "name"),
    Column("kind", "text"),
    Column(
        *("n_pairs", "count", "pairs"),
        "pairs of ratings of one unit; one can count in several rows",
    ),
    Column("share", "share", "share of differing pairs", is_part=True),
    Column(
        *("expected_pairs", "count", "expected"),
        "the number if the pairs that differ were pairs of answers drawn at random",
    ),
    Column("lift", "number", "ratio to expected"),
    Column("p_value", "p", "p"),
    Column("relation", "name"),
)
"""The main columns, which notebooks show, and the report with a sentence for the first three."""

_COLUMNS = (
    *("label", "other", "kind", "n_pairs", "expected_pairs", "lift", "share"),
    *("p_value", "tested_by", "no_test", "relation"),
)


@takes_data
def confusions(
    study: Data,
    *more: RaterAnswers,
    parents: Parents | None = None,
    n_resamples: int | None = None,
    rng: Rng = None,
    **options: Unpack[ReadingOptions],
) -> pd.DataFrame:
    """Return the labels that are exchanged for one another, and those that are left out.

    Two raters of a unit, with answers A and B, confuse label a with b if a is in A and not in B
    and b is in B and not in A (kind "instead"). One of them left label a out if a is in A and not
    in B, and B is a subset of A (kind "left out"). A pair of answers can show several confusions.

    Parameters
    ----------
    study : Annotations, Tally, or a table or path as `agreement` takes it
        Label sets; or categories, which can only be exchanged for one another.
    parents : mapping, DataFrame, path or taxonomy, optional
        The label hierarchy, as `setagree.distances.taxonomy` takes it, or what that returned.
    n_resamples : int, optional
        Number of reshuffles for p, such as 999. Default: none, and p is NaN.
    rng : int or numpy Generator, optional
        The seed of the reshuffles.

    Returns
    -------
    DataFrame
        The most frequent first: label, other (None for "left out"), kind, n_pairs (of ratings of
        one unit, by the size of the unit if units have sizes), expected_pairs (their expected
        number if the pairs that differ did so as two answers drawn at random do: see the notes),
        lift (n_pairs / expected_pairs), share (of all pairs that differ), p_value (that no
        confusion exceeds its expected pairs: see the notes), tested_by (the basis of p, or None),
        no_test (the reason for a missing p, or None), relation
        ("parent" if one is an ancestor of the other, a matter of granularity; "sibling";
        "unrelated"; None without a taxonomy).

    Raises
    ------
    DataError
        The values are numbers.
    CostError
        Tens of millions of pairs of labels are confused, or thousands of millions compared; or
        units have so many different answers that tens of millions of pairs of answers differ; or
        the reshuffles have more than 200 million of these.

    Warns
    -----
    DegreesWarning
        Labels have degrees, which do not count here.
    SetagreeWarning
        The study has clusters, weights, strata or a population size, which do not count here.

    Notes
    -----
    Raters who agree more than by chance confuse all labels less than expected. So `expected_pairs`
    is conditional on pairs that differ: with D the pairs of ratings of one unit that differ, N the
    pairable ratings, ``c_k`` of them with value k, and ``c(a, not b)`` those with a and not b,
    it is ``D c(a, not b) c(b, not a) / ((N² - sum_k c_k²) / 2)``, the share among all pairs of
    different answers times D; for "left out" the sum over all A and subsets B of A replaces
    the product. If every answer is one label, all pairs of labels together have an expected
    count of D, as many as the pairs that are counted. It is NaN for "left out" if large sets are so
    many that comparing them would take minutes. Pairs are those of the sample, each counted once.

    For p, the answers of the units in which raters differ are replaced: a unit keeps the number of
    its distinct answers and how often each was given, in random order, and these are drawn from all
    pairable ratings, given that they differ. With ``z = (n_pairs - expected_pairs) /
    sqrt(expected_pairs)``, p is ``(1 + #{max z of a reshuffle >= z}) / (n_resamples + 1)``, the
    maximum over all confusions with at least 5 expected pairs, observed or not. It thereby accounts
    for the number of confusions, and is given for those with at least 5 observed and expected
    pairs. In simulated studies without a particular confusion, the smallest p was at most 0.05 in 0
    to 4%.

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
    if n_resamples is not None:
        check_resamples(n_resamples)
    opened = open_study(study)
    sample = sample_of(opened) if isinstance(opened, Annotations) else None
    has_sizes = sample is not None and sample.is_sized
    if has_sizes and n_resamples is not None:
        raise OptionError(
            f"{option('n_resamples')}: pieces of one document are alike, so that reshuffles of "
            "their answers do not test confusions; omit it."
        )
    if isinstance(opened, Annotations) and not has_sizes:
        opened = plain_units(opened, "confusions")
    tally = Scorer(opened).tally
    if sample is not None and has_sizes:  # each unit counts by its size
        mass = summed_weights(tally, sample.weights)
        tally = replace(tally, multiplicity=mass, units=None, unit_patterns=None)
    warn_degrees(tally.values, "confusions")
    sets = labels_of_values(tally.values, tally.kind)
    labels = as_objects(sets.labels)
    k, l, m = _differing_pairs(tally)
    a, b, pairs = _confused(sets, k, l, m)
    expected = _Expected(sets, tally.pairable_totals, float(m.sum()))
    e = expected.of(a, b)
    frame = pd.DataFrame(
        {
            "label": labels[a],
            "other": _objects(a == b, None, labels[b]),
            "kind": _objects(a == b, "left out", "instead"),
            "n_pairs": pairs,
            "expected_pairs": e,
        }
    )
    frame["lift"] = frame["n_pairs"] / frame["expected_pairs"]
    frame["share"] = frame["n_pairs"] / float(m.sum())
    frame["p_value"], frame["tested_by"], frame["no_test"] = np.nan, None, NOT_REQUESTED
    if n_resamples is not None:
        z = expected.excess(pairs, e)
        # If the number expected by chance is unknown, the observed one decides.
        tested = (pairs >= ENOUGH_PAIRS) & ~(e < ENOUGH_PAIRS) & np.isfinite(z)
        largest = np.sort(_largest_excesses(tally, expected, n_resamples, as_generator(rng)))
        n_reached = n_resamples - np.searchsorted(largest, z)
        frame["p_value"] = np.where(tested, (1 + n_reached) / (1 + n_resamples), np.nan)
        kept = "reshuffles that keep how often the answers of a unit repeat"
        basis = f"{n_resamples:,} {kept}; p is at least {1 / (1 + n_resamples):.2g}"
        frame["tested_by"] = _objects(tested, basis, None)
        frame["no_test"] = _objects(tested, None, _TOO_FEW_PAIRS)
    frame["relation"] = None if parents is None else _relations(frame, parents)
    frame = frame.sort_values("n_pairs", ascending=False, kind="stable")
    return ResultFrame.of(frame[list(_COLUMNS)].reset_index(drop=True), COLUMNS)


def _objects(condition: npt.NDArray[np.bool_], one: Any, other: Any) -> pd.Series[Any]:
    """Return one value or the other elementwise, as objects."""
    return pd.Series(np.where(condition, np.array(one, object), other), dtype=object)


def exceed_chance(frame: pd.DataFrame) -> pd.Series[bool]:
    """Return whether confusions have more pairs than expected by chance: a p of at most 0.05."""
    return frame["p_value"] <= SURE


def _differing_pairs(tally: Tally) -> tuple[Codes, Codes, Floats]:
    """Return the distinct pairs k < l of values that meet in units, and how many rater pairs."""
    from scipy import sparse

    K, answers = tally.n_values, np.diff(tally.indptr).astype(np.float64)
    n_pairs = float((answers * (answers - 1)).sum()) / 2
    check_cost(
        "Listing the pairs of different answers to a unit",
        n_bytes=_BYTES_PER_ANSWER_PAIR * min(n_pairs, K * (K - 1) / 2),
        n_steps=_STEPS_PER_ANSWER_PAIR * n_pairs,
        instead=_INSTEAD,
    )
    shape = (tally.n_patterns, K)
    counts = sparse.csr_array((tally.counts, tally.indices, tally.indptr), shape)
    both = counts.T @ (counts * tally.multiplicity[:, None])
    met = sparse.coo_array(sparse.triu(both, 1))
    k, l = (axis.astype(np.int64) for axis in met.coords)
    return k, l, met.data


def _confused(sets: SetGeometry, k: Codes, l: Codes, m: Floats) -> tuple[Codes, Codes, Floats]:
    """Return the confusions in m pairs of ratings of values k and l, and their numbers of pairs.

    They are ordered: first labels a < b of kind "instead", then a = b for a label left out.
    """
    from scipy import sparse

    sizes, L = sets.sizes, sets.n_labels
    steps = sizes[k] * sizes[l] + sizes[k] + sizes[l]
    check_cost("Comparing all pairs of labels", n_steps=float(steps.sum()), instead=_INSTEAD)
    total = sparse.csr_array((L, L))
    portion = np.cumsum(steps) // BLOCK_STEPS
    for part in np.split(np.arange(len(k)), np.flatnonzero(np.diff(portion)) + 1):
        # The steps of a block bound its confusions, except of a single pair of large answers.
        _check_table(float(steps[part].max(initial=0)) if len(part) == 1 else 0)
        row, a, b = _confusions_of(sets, k[part], l[part])
        total = total + sparse.coo_array((m[part][row], (a, b)), (L, L)).tocsr()
        _check_table(total.nnz)
    found = total.tocoo()
    a, b = (axis.astype(np.int64) for axis in found.coords)
    order = np.lexsort((b, a, a == b))
    return a[order], b[order], found.data[order]


def _check_table(n_pairs: float) -> None:
    """Raise `CostError` if the table of so many pairs of labels would be too large."""
    n_bytes = _BYTES_PER_PAIR * n_pairs
    check_cost("The table of confusions", n_bytes=n_bytes, instead=_INSTEAD)


def _confusions_of(sets: SetGeometry, k: Codes, l: Codes) -> tuple[Codes, Codes, Codes]:
    """Return each confusion a <= b in pairs of values k and l: the position of the pair, a and b.

    a = b denotes a label that is left out.
    """
    held = [sets.flags[k], sets.flags[l]]
    both = held[0].multiply(held[1])
    # The labels in one value of each pair and not in the other
    one, two = (x - both for x in held)
    for alone in (one, two):
        alone.eliminate_zeros()
    n_one, n_two = np.diff(one.indptr), np.diff(two.indptr)
    row_one, row_two = (np.repeat(np.arange(len(k)), n) for n in (n_one, n_two))
    # Every label that only k has, with every label that only l has.
    times = n_two[row_one]
    row, a = np.repeat(row_one, times), np.repeat(one.indices, times)
    within = np.arange(len(row)) - np.repeat(np.cumsum(times) - times, times)
    b = two.indices[two.indptr[row] + within]
    lone, other = n_two[row_one] == 0, n_one[row_two] == 0
    left_out = np.concatenate([one.indices[lone], two.indices[other]])
    return (
        np.concatenate([row, row_one[lone], row_two[other]]),
        np.concatenate([np.minimum(a, b), left_out]).astype(np.int64),
        np.concatenate([np.maximum(a, b), left_out]).astype(np.int64),
    )


class _Expected:
    """The expected pairs of confusions, if `differing` pairs of ratings of one unit differ.

    c : ndarray of shape (K,), the pairable ratings of each value.
    """

    def __init__(self, sets: SetGeometry, c: Floats, differing: float) -> None:
        self.sets, self.c = sets, c
        # D divided by the pairs of all ratings, of any units, that differ
        drawn = (float(c.sum()) ** 2 - float(c @ c)) / 2
        self._times = differing / drawn if drawn > 0 else float("nan")
        matrix = sets.flags.astype(np.float64)
        self._alone = np.asarray(matrix.T @ c)
        self._together = (matrix.T @ (matrix * c[:, None])).tocsr()
        self._left_out = expected_omissions(sets, c) * self._times

    def of(self, a: Codes, b: Codes) -> Floats:
        """Return D c(a, not b) c(b, not a) / pairs, or of label a left out if a = b."""
        # An empty selection is a sparse array.
        both = np.asarray(self._together[a, b]).ravel() if len(a) else np.zeros(0)
        instead = (self._alone[a] - both) * (self._alone[b] - both) * self._times
        return np.where(a == b, self._left_out[a], instead)

    def frequent(self) -> tuple[Codes, Codes, Floats]:
        """Return all confusions a <= b that are expected often enough, observed or not."""
        most = self._alone * self._alone.max(initial=0) * self._times
        some, L = np.flatnonzero(most >= ENOUGH_PAIRS), np.arange(self.sets.n_labels)
        _check_table(len(some) ** 2 / 2)
        a, b = np.concatenate([some[list(np.triu_indices(len(some), 1))], [L, L]], axis=1)
        e = self.of(a, b)
        return a[e >= ENOUGH_PAIRS], b[e >= ENOUGH_PAIRS], e[e >= ENOUGH_PAIRS]

    @staticmethod
    def excess(pairs: Floats, expected: Floats) -> Floats:
        """Return (pairs - expected) / sqrt(expected), or NaN if none is expected."""
        root = np.sqrt(np.where(expected > 0, expected, np.nan))
        return np.asarray((pairs - expected) / root)


def _largest_excesses(
    tally: Tally, expected: _Expected, n_resamples: int, generator: np.random.Generator
) -> Floats:
    """Return the largest (pairs - e) / sqrt(e) of each reshuffle, over the frequent confusions."""
    from scipy import sparse

    sets, (a, b, e) = expected.sets, expected.frequent()
    if not len(e):
        return np.zeros(n_resamples)
    _check_table(n_resamples * len(e) / 25)
    # The position of each confusion; all that are not frequent have the last one.
    labels = np.unique([a, b])
    number = np.full(sets.n_labels, len(labels))
    number[labels] = np.arange(len(labels))
    position = np.full((len(labels) + 1, len(labels) + 1), len(e), dtype=np.int32)
    position[number[a], number[b]] = np.arange(len(e))
    sums = np.zeros((n_resamples, len(e) + 1))
    # Neither the order of the units nor that of the values changes the reshuffles of a seed.
    values = np.argsort(value_numbers(tally.values))
    c, K = expected.c[values], len(values)
    for repeats in _repeats(tally, n_resamples):
        for rows, k, l, times in _drawn_pairs(c, repeats, n_resamples, generator):
            place, distinct = pd.factorize((values[k] * K + values[l]).ravel())
            pair, a, b = _confusions_of(sets, distinct // K, distinct % K)
            shape, cell = (len(distinct), len(e) + 1), position[number[a], number[b]]
            cells = sparse.coo_array((np.ones(len(cell)), (pair, cell)), shape).tocsr()
            n, width = len(times), times[0].size
            drawn = (times.ravel(), place, width * np.arange(n + 1))
            sums[rows] += (sparse.csr_array(drawn, (n, len(distinct))) @ cells).toarray()
    return np.asarray(expected.excess(sums[:, :-1], e).max(axis=1))


def _repeats(tally: Tally, n_resamples: int) -> list[Floats]:
    """Return how often each distinct answer was given in the units that have several of them.

    One array of shape (n_units, j) for each number j of distinct answers, and for j = 2 for each
    pair of numbers.
    """
    n_answers, out = np.diff(tally.indptr), []
    n_units = np.bincount(patterns_of_units(tally), minlength=tally.n_patterns)
    for j in np.unique(n_answers[n_answers > 1]).tolist():
        patterns = np.flatnonzero(n_answers == j)
        given = tally.counts[tally.indptr[patterns][:, None] + np.arange(j)]
        kinds, which = np.unique(np.sort(given, axis=1), axis=0, return_inverse=True)
        n = np.bincount(which.ravel(), n_units[patterns], len(kinds)).astype(np.intp)
        repeated = np.repeat(kinds, n, axis=0)
        out += np.split(repeated, np.cumsum(n)[:-1]) if j == 2 else [repeated]
    n_pairs = float(sum(_width(each, tally.n_values) for each in out))
    check_cost(
        f"{n_resamples:,} reshuffles of {n_pairs:,.0f} pairs of answers",
        n_steps=_STEPS_PER_DRAWN_PAIR * n_resamples * n_pairs,
        instead="Use fewer (n_resamples), or a part of the units.",
    )
    if (most := n_answers.max(initial=0)) > _MAX_ANSWERS:
        raise CostError(
            f"a unit has {most:,} distinct answers; at most {_MAX_ANSWERS} can be reshuffled. "
            f"{_INSTEAD}"
        )
    return out


def _width(repeats: Floats, K: int) -> int:
    """Return the number of entries per reshuffle: pairs of answers, or of values if fewer."""
    n, j = repeats.shape
    return int(min(n, K * (K - 1) // 2) if j == 2 else n * j * (j - 1) // 2)


def _drawn_pairs(
    c: Floats, repeats: Floats, n_resamples: int, generator: np.random.Generator
) -> Iterator[tuple[slice, Codes, Codes, Floats]]:
    """Yield reshuffles of units in blocks: their rows, the pairs of values, and how often they are.

    The pairs have the shape (b, n_units, j (j - 1) / 2). The distinct values of a unit are drawn
    from the urn c, given that they differ.
    """
    (n, j), K, width = repeats.shape, len(c), _width(repeats, len(c))
    s, t = np.triu_indices(j, 1)
    k, l = np.triu_indices(K if width < n * len(s) else 1, 1)
    tails, last = _tails(c, j), 0
    for b in block_sizes(n_resamples, width, what="reshuffles"):
        rows, last = slice(last, last + b), last + b
        if len(k):
            shares = c[k] * c[l] / (c[k] @ c[l])
            met = (generator.multinomial(n, shares, size=b) * repeats[0].prod()).astype(np.float64)
            yield rows, np.tile(k, (b, 1)), np.tile(l, (b, 1)), met
            continue
        v = _distinct_values(tails, (b, n), generator)
        times = np.broadcast_to(repeats, v.shape)
        if j > 2 and (repeats != repeats[:, :1]).any():
            times = generator.permuted(times, axis=2)
        yield rows, v[..., s], v[..., t], times[..., s] * times[..., t]


def _tails(c: Floats, j: int) -> Floats:
    """Return T[m, k], the sum of the products of m of the c_k, c_k+1, ..., of shape (j + 1, K + 1).

    T[m, k] = c_k T[m - 1, k + 1] + T[m, k + 1], up to a factor.
    """
    tails = np.zeros((j + 1, len(c) + 1))
    tails[0], share = 1, c * j / c.sum()
    for m in range(1, j + 1):
        tails[m, :-1] = np.cumsum((share * tails[m - 1, 1:])[::-1])[::-1]
    return tails


def _distinct_values(
    tails: Floats, shape: tuple[int, int], generator: np.random.Generator
) -> Codes:
    """Return j ascending values per unit, of shape (*shape, j), with probability prod_k c_k.

    The first of m values from k0 on is at least k with probability T[m, k] / T[m, k0].
    """
    j, K = len(tails) - 1, tails.shape[1] - 1
    out, start = np.empty((*shape, j), dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for position in range(j):
        tail = tails[j - position]
        drawn = generator.random(shape) * tail[start]
        # The largest k with T[m, k] above the number drawn.
        out[..., position] = K - np.searchsorted(tail[::-1], drawn, side="right")
        start = out[..., position] + 1
    return out


def expected_omissions(sets: SetGeometry, c: Floats) -> Floats:
    """Return sum over A with label a, and over B within A without a, of c_A c_B, for each label.

    Every subset of a small value is looked up among the values, with 2^|A| lookups, by the sum of
    random numbers of its labels; a large value is compared with all values. All are NaN if there
    are too many lookups or comparisons.
    """
    used, L = np.flatnonzero(c > 0), sets.n_labels
    sizes, out = sets.sizes[used], np.zeros(L)
    listed = sizes <= min(_MAX_LISTED_SIZE, np.log2(max(len(used), 1)))
    large = used[~listed]
    if float((2.0 ** sizes[listed]).sum()) + float(len(large)) * len(used) > _MAX_LOOKUPS:
        return np.full(L, np.nan)
    names = np.random.default_rng(0).integers(2**63, size=L, dtype=np.uint64)
    flags = sets.flags.astype(np.float64)
    sums = np.zeros(len(used), dtype=np.uint64)
    np.add.at(sums, np.repeat(np.arange(len(used)), sizes), names[flags[used].indices])
    order = np.argsort(sums)
    sums, totals = sums[order], c[used][order]
    for size in np.unique(sizes[listed]).tolist():
        values = used[listed & (sizes == size)]
        labels = flags[values].indices.reshape(len(values), size)
        lost = np.zeros(labels.shape)
        for mask in range(2**size - 1):
            kept = (mask >> np.arange(size) & 1).astype(bool)
            wanted = names[labels[:, kept]].sum(axis=1, dtype=np.uint64)
            at = np.minimum(np.searchsorted(sums, wanted), len(sums) - 1)
            lost[:, ~kept] += np.where(sums[at] == wanted, totals[at], 0.0)[:, None]
        out += np.bincount(labels.ravel(), (lost * c[values][:, None]).ravel(), L)
    at_once = max(1, BLOCK_ENTRIES // max(len(used), 1))
    for start in range(0, len(large), at_once):
        rows = large[start : start + at_once]
        shared = (flags[rows] @ flags[used].T).toarray()
        inside = (shared == sizes) & (shared < sets.sizes[rows][:, None])
        A, B = np.nonzero(inside)
        position, label = np.repeat(np.arange(len(A)), sets.sizes[rows[A]]), flags[rows[A]].indices
        # An empty selection is a sparse array.
        gone = np.asarray(flags[used[B][position], label]).ravel() == 0 if len(label) else label > 0
        weight = (c[rows[A]] * c[used[B]])[position[gone]]
        out += np.bincount(label[gone], weight, L)
    return out


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
