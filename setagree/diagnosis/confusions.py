"""Pairs of labels that raters give to the same unit, and the test of their excess over chance."""

from __future__ import annotations

from dataclasses import replace
from operator import add
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import Codes, Floats, Rng, as_generator, check_cost, check_least
from setagree.coefficients.case import summed_weights
from setagree.credit.geometry import SetGeometry, labels_of_values
from setagree.diagnosis.common import NOT_REQUESTED, SURE
from setagree.diagnosis.label_differences import (
    BYTES_PER_ANSWER_PAIR,
    INSTEAD,
    Differences,
    DiscordantLabels,
    LabelUrn,
    check_table,
    compared,
)
from setagree.distances.hierarchy import Parents, read_hierarchy
from setagree.errors import OptionError, option
from setagree.inference.panel_members import plain_units
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, open_study, takes_data
from setagree.scoring.scorer import Scorer
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects
from setagree.study.degrees import warn_degrees
from setagree.study.sampling import sample_of
from setagree.study.tally import Tally
from setagree.wording.result_frames import ResultFrame
from setagree.wording.tables import Column

ENOUGH_PAIRS = 5
"""Pairs that a confusion needs, observed and expected: below, their ratio is mostly noise."""

_STEPS_PER_ANSWER_PAIR = 50
"""Work of a pair of different answers while the pairs are summed."""

_TOO_FEW_PAIRS = f"fewer than {ENOUGH_PAIRS} observed or expected pairs"

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
        "the number if the labels in which answers differ were drawn at random",
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
        number if the labels in which two answers differ were drawn at random: see the notes),
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
    `expected_pairs` is conditional on the number of labels that two answers share and in which they
    differ. Let C be the labels that answers A and B share, ``s = |A - C|``, ``t = |B - C|``, and
    c_Aa the pairable ratings with label a among those with as many labels as A (5 to 8, 9 to 16,
    and so on are alike). Each of the s t pairs of a label of A and one of B is a pair of labels
    outside C with a probability in proportion to ``c_Aa c_Bb``; if t = 0, each of the s labels left
    out is a label outside C with one in proportion to c_Aa::

        e(a, b) = sum over A, B of s t (c_Aa c_Bb + c_Ab c_Ba) / sum over x, y of c_Ax c_By
        e(a)    = sum over A, B with t = 0 of s c_Aa / sum over x of c_Ax

    where x and y are different labels outside C, and A and B of a term have neither a nor b in C.
    The expected pairs of all labels add up to the observed ones, for "instead" and for "left out",
    however well the raters agree. If every answer is one label, e(a, b) is ``D c_a c_b /
    sum_{x < y} c_x c_y`` with D the pairs of ratings that differ. Pairs are those of the sample,
    each counted once.

    For p, the labels are replaced that some answers to a unit have and others do not. Those that
    the same answers have are a group, in whose place an equally large set of labels is drawn in
    proportion to the ratings of that many labels that contain it, given that no label is in two
    groups or in all answers to the unit. With ``z = (n_pairs - expected_pairs) /
    sqrt(expected_pairs)``, p is ``(1 + #{max z of a reshuffle >= z}) / (n_resamples + 1)``, the
    maximum over all confusions with at least 5 expected pairs, observed or not. It thereby accounts
    for the number of confusions, and is given for those with at least 5 observed and expected
    pairs. In simulated studies of 150 units without a particular confusion (all answers drawn at
    random, whole answers or single labels wrong at random), the smallest p was at most 0.05 in 0 to
    7% of 60. A label that one of four raters replaced by another in 35% was found in 82 to 93% if
    single labels were wrong, and in 20 to 25% if whole answers were.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.Annotations.from_triples([
    ...     ("ann", 1, "a"), ("ben", 1, "b"), ("ann", 2, "a, c"), ("ben", 2, "b, c"),
    ...     ("ann", 3, "c"), ("ben", 3, ""),
    ... ], blank="empty")
    >>> confusions(study)[["label", "other", "kind", "n_pairs", "expected_pairs"]].round(3)
      label other      kind  n_pairs  expected_pairs
    0     a     b   instead      2.0           1.333
    1     c  None  left out      1.0           0.333
    """
    if n_resamples is not None:
        check_least("n_resamples", n_resamples, 1)
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
    urn = LabelUrn(tally, sets, as_generator(rng))
    expected = _Expected(urn)
    a, b, pairs = _confused(sets, k, l, m, expected)
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
        tested = (pairs >= ENOUGH_PAIRS) & (e >= ENOUGH_PAIRS)
        largest = np.sort(_largest_excesses(tally, sets, expected, n_resamples))
        n_reached = n_resamples - np.searchsorted(largest, z)
        frame["p_value"] = np.where(tested, (1 + n_reached) / (1 + n_resamples), np.nan)
        drawn = "reshuffles of the labels in which the answers of a unit differ"
        basis = f"{n_resamples:,} {drawn}; p is at least {1 / (1 + n_resamples):.2g}"
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
        n_bytes=BYTES_PER_ANSWER_PAIR * min(n_pairs, K * (K - 1) / 2),
        n_steps=_STEPS_PER_ANSWER_PAIR * n_pairs,
        instead=INSTEAD,
    )
    shape = (tally.n_patterns, K)
    counts = sparse.csr_array((tally.counts, tally.indices, tally.indptr), shape)
    both = counts.T @ (counts * tally.multiplicity[:, None])
    met = sparse.coo_array(sparse.triu(both, 1))
    k, l = (axis.astype(np.int64) for axis in met.coords)
    return k, l, met.data


def _confused(
    sets: SetGeometry, k: Codes, l: Codes, m: Floats, expected: _Expected
) -> tuple[Codes, Codes, Floats]:
    """Return the confusions in m pairs of ratings of values k and l, and their numbers of pairs.

    They are ordered: first labels a < b of kind "instead", then a = b for a label left out. The
    pairs are added to the expected ones, too.
    """
    from scipy import sparse

    total = sparse.csr_array((sets.n_labels, sets.n_labels))
    # Pairs of answers of two classes are summed together.
    order = np.lexsort(np.sort(expected.urn.classes[[k, l]], axis=0))
    k, l, m = k[order], l[order], m[order]
    for part, differences in compared(sets, k, l):
        expected.add(differences, k[part], l[part], m[part])
        row, a, b = differences.confusions()
        total = total + sparse.coo_array((m[part][row], (a, b)), total.shape).tocsr()
        check_table(total.nnz)
    found = total.tocoo()
    a, b = (axis.astype(np.int64) for axis in found.coords)
    order = np.lexsort((b, a, a == b))
    return a[order], b[order], found.data[order]


class _Expected:
    """The expected pairs of confusions, if the labels in which answers differ are drawn at random.

    For two classes i and j of answers, `_exchanged` has the sums of x = m s t / (sum of c_ia c_jb
    over different labels a and b outside C): over all pairs of answers with C, over those with
    each label in C, and over those with each pair of labels. For a class i, `_left_out` has the
    sums of y = m s / (sum of c_ia over labels a outside C).
    """

    def __init__(self, urn: LabelUrn) -> None:
        self.urn = urn
        self._exchanged: dict[tuple[int, int], tuple[float, Floats, Any]] = {}
        self._left_out: dict[int, tuple[float, Floats]] = {}

    def add(self, differences: Differences, k: Codes, l: Codes, m: Floats) -> None:
        """Add m pairs of ratings for each pair of answers with the values k and l."""
        i, j = self.urn.classes[k], self.urn.classes[l]
        s, t = np.diff(differences.one.indptr), np.diff(differences.two.indptr)
        common = differences.common.astype(np.float64)
        for low, high in np.unique(np.sort([i, j], axis=0)[:, s * t > 0], axis=1).T.tolist():
            part = (s * t > 0) & (np.minimum(i, j) == low) & (np.maximum(i, j) == high)
            C, (c, d) = common[part], self.urn.c[[low, high]]
            drawn = (c.sum() - C @ c) * (d.sum() - C @ d) - (c @ d - C @ (c * d))
            x = (m * s * t)[part] / drawn
            sums = (x.sum(), C.T @ x, C.T @ C.multiply(x[:, None]).tocsr())
            _increase(self._exchanged, (low, high), sums)
        # Answers with the same labels differ in their degrees only.
        larger, is_lone = np.where(s > 0, i, j), (s * t == 0) & (s + t > 0)
        for one in np.unique(larger[is_lone]).tolist():
            part = is_lone & (larger == one)
            C, c = common[part], self.urn.c[one]
            y = (m * (s + t))[part] / (c.sum() - C @ c)
            _increase(self._left_out, one, (y.sum(), C.T @ y))

    def of(self, a: Codes, b: Codes) -> Floats:
        """Return the expected pairs of labels a and b, or of label a left out if a = b.

        Of pairs of answers with neither a nor b in C, the sum of x is that of all, less those with
        a and those with b in C, plus those with both.
        """
        instead, left_out, c = np.zeros(len(a)), np.zeros(len(a)), self.urn.c
        for (i, j), (total, with_one, with_both) in self._exchanged.items():
            # An empty selection is a sparse array.
            both = np.asarray(with_both[a, b]).ravel() if len(a) else 0
            x = np.maximum(total - with_one[a] - with_one[b] + both, 0)
            instead += x * (c[i, a] * c[j, b] + c[i, b] * c[j, a])
        for i, (total, with_one) in self._left_out.items():
            left_out += c[i, a] * np.maximum(total - with_one[a], 0)
        return np.where(a == b, left_out, instead)

    def frequent(self) -> tuple[Codes, Codes, Floats]:
        """Return all confusions a <= b that are expected often enough, observed or not."""
        c, L = self.urn.c, np.arange(self.urn.c.shape[1])
        most = np.zeros(len(L))
        for (i, j), (total, *_) in self._exchanged.items():
            most += total * (c[i] * c[j].max(initial=0) + c[j] * c[i].max(initial=0))
        some = np.flatnonzero(most >= ENOUGH_PAIRS)
        check_table(len(some) ** 2 / 2)
        a, b = np.concatenate([some[list(np.triu_indices(len(some), 1))], [L, L]], axis=1)
        e = self.of(a, b)
        return a[e >= ENOUGH_PAIRS], b[e >= ENOUGH_PAIRS], e[e >= ENOUGH_PAIRS]

    @staticmethod
    def excess(pairs: Floats, expected: Floats) -> Floats:
        """Return (pairs - expected) / sqrt(expected), or NaN if none is expected."""
        root = np.sqrt(np.where(expected > 0, expected, np.nan))
        return np.asarray((pairs - expected) / root)


def _increase(sums: dict[Any, Any], key: Any, more: tuple[Any, ...]) -> None:
    """Add numbers to those of a key."""
    sums[key] = tuple(map(add, sums[key], more)) if key in sums else more


def _largest_excesses(
    tally: Tally, sets: SetGeometry, expected: _Expected, n_resamples: int
) -> Floats:
    """Return the largest (pairs - e) / sqrt(e) of each reshuffle, over the frequent confusions."""
    a, b, e = expected.frequent()
    if not len(e):
        return np.zeros(n_resamples)
    check_table(n_resamples * len(e) / 25)
    # The position of each confusion; all that are not frequent have the last one.
    labels, width = np.unique([a, b]), len(e) + 1
    number = np.full(sets.n_labels, len(labels))
    number[labels] = np.arange(len(labels))
    position = np.full((len(labels) + 1, len(labels) + 1), len(e))
    position[number[a], number[b]] = position[number[b], number[a]] = np.arange(len(e))
    units = DiscordantLabels(tally, sets, expected.urn)
    sums = np.zeros((n_resamples, width))
    for rows, drawn in units.reshuffles(n_resamples):
        named = number[drawn]
        places = position[named[:, units.s], named[:, units.t]]
        places += width * np.arange(len(places))[:, None]
        pairs = np.broadcast_to(units.pairs, places.shape)
        counted = np.bincount(places.ravel(), pairs.ravel(), len(drawn) * width)
        sums[rows] = counted.reshape(-1, width)
    return np.asarray(expected.excess(sums[:, :-1], e).max(axis=1))


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
