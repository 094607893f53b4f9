"""Which label stands where another rater put which."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import check_cost, public
from setagree.coefficients.chance import Floats
from setagree.credit.pairs import neighbours
from setagree.diagnosis.contained import gone_by_chance
from setagree.diagnosis.crowded import BYTES_A_PAIR, INSTEAD, KeySums, add_crowds, crowded
from setagree.diagnosis.membership import Membership, membership_of
from setagree.distances.hierarchy import Parents, read_hierarchy
from setagree.inference.known_raters import plain_units
from setagree.large.opening import Data, open_study
from setagree.scoring.scorer import Scorer
from setagree.study.annotations import Annotations
from setagree.study.degrees import doubt_degrees
from setagree.study.tally import Tally

COLUMNS = ("label", "other", "kind", "pairs", "expected", "lift", "share", "relation")

STEPS_AT_ONCE = 5_000_000
"""Pairs of labels that are compared at once."""


@public
def confusions(study: Data, *, parents: Parents | None = None) -> pd.DataFrame:
    """Return which labels stand for one another, and which are left out.

    Two raters of a unit, with answers A and B, confuse label a with b where a is in A and not in B
    and b is in B and not in A (kind "instead"). One of them left label a out where a is in A and B
    holds nothing that A lacks (kind "left out"). A pair of answers can show several confusions.

    Parameters
    ----------
    study : Annotations, Tally, or a table or path as `agreement` takes it
        Label sets; or categories, which can only stand for one another.
    parents : mapping, DataFrame, path or taxonomy, optional
        Which label stands above which, as `setagree.distances.taxonomy` takes it, or what that
        returned.

    Returns
    -------
    DataFrame
        The most frequent first: label, other (None for "left out"), kind, pairs (of ratings of one
        unit), expected (how many there would be if the pairs that differ differed as two answers
        do that are drawn at random: see the notes), lift (pairs / expected), share (of all pairs
        that differ), relation ("parent" where one is an ancestor of the other, a matter of
        granularity; "sibling"; "unrelated"; None without a taxonomy).

    Raises
    ------
    DataError
        The values are numbers.
    CostError
        Tens of millions of pairs of labels are confused, or thousands of millions compared.

    Warns
    -----
    DegreesWarning
        Labels have degrees, which do not count here.
    SetagreeWarning
        The study has clusters, weights, strata or a population size, which do not count here.

    Notes
    -----
    Raters who agree more than chance confuse everything less than chance has it. So `expected` is
    the chance of a confusion among pairs that differ: with D the pairs of ratings of one unit that
    differ, N the pairable ratings, ``c_k`` of them with value k, and ``c(a, not b)`` those that
    hold a and not b, it is ``D c(a, not b) c(b, not a) / ((N² - sum_k c_k²) / 2)``, the share among
    all pairs of different answers times D; for "left out" the sum over all A and subsets B of A
    takes the place of the product. Where every answer is one label, all pairs of labels together
    have an expected count of D, as many as the pairs that are counted. It is nan where
    large sets are so many that comparing them would take minutes; so are the pairs of a label that
    may have been left out in a unit with that many large answers, and a warning says so.
    Pairs are those of the sample, each counted once.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.Annotations.from_triples([
    ...     ("ann", 1, "a"), ("ben", 1, "b"), ("ann", 2, "a, c"), ("ben", 2, "b, c"),
    ...     ("ann", 3, "c"), ("ben", 3, ""),
    ... ], blank="empty")
    >>> confusions(study)[["label", "other", "kind", "pairs", "expected"]].round(3)
      label other      kind  pairs  expected
    0     a     b   instead    2.0       0.8
    1     c  None  left out    1.0       1.0
    """
    opened = open_study(study)
    if isinstance(opened, Annotations):
        opened = plain_units(opened, "confusions")
    tally = Scorer(opened).tally
    doubt_degrees(tally.values, "confusions")
    membership = membership_of(tally)
    k, l, m = _differing_pairs(tally)
    sums, left_out = KeySums(membership.n_labels**2, BYTES_A_PAIR), np.zeros(membership.n_labels)
    _add_pairs(membership, k, l, m, sums, left_out)
    differing = float(m.sum()) + add_crowds(tally, membership, sums, left_out)
    c = tally.pairable_totals
    # D over the pairs of all ratings, whatever their units, that differ.
    drawn = (float(c.sum()) ** 2 - float(c @ c)) / 2
    times = differing / drawn if drawn > 0 else float("nan")
    frames = [_instead(membership, sums, c, times), _left_out(membership, left_out, c, times)]
    frame = pd.concat([one for one in frames if len(one)] or frames[:1], ignore_index=True)
    frame["lift"] = frame["pairs"] / frame["expected"]
    frame["share"] = frame["pairs"] / differing if differing else np.nan
    frame["relation"] = None if parents is None else _relations(frame, parents)
    frame = frame.sort_values("pairs", ascending=False, kind="stable")
    return frame[list(COLUMNS)].reset_index(drop=True)


def _differing_pairs(tally: Tally) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Floats]:
    """Return the distinct pairs k < l of values that meet in units, and how many rater pairs.

    Units with a crowd of answers are left to `add_crowds`.
    """
    K, sums = tally.n_values, KeySums()
    entries = np.flatnonzero(~crowded(tally)[tally.rows])
    for left, right in neighbours(tally.rows[entries]):
        one, two = entries[left], entries[right]
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
    """Add what m pairs of ratings of values k and l confuse, in portions of bounded memory."""
    sizes, L = membership.sizes, membership.n_labels
    steps = sizes[k] * sizes[l] + sizes[k] + sizes[l]
    check_cost("Comparing all pairs of labels", n_steps=float(steps.sum()), instead=INSTEAD)
    portion = np.cumsum(steps) // STEPS_AT_ONCE
    for part in np.split(np.arange(len(k)), np.flatnonzero(np.diff(portion)) + 1):
        one, two = membership.alone(k[part], l[part]), membership.alone(l[part], k[part])
        n_one, n_two = np.diff(one.indptr), np.diff(two.indptr)
        # Each pair of answers confuses as many pairs of labels at least.
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
            "pairs": pairs,
            "expected": drawn * times,
        }
    )


def _left_out(membership: Membership, pairs: Floats, c: Floats, times: float) -> pd.DataFrame:
    expected = gone_by_chance(membership, c) * times
    found = np.flatnonzero(pairs)
    return pd.DataFrame(
        {
            "label": membership.labels[found],
            "other": np.full(len(found), None, dtype=object),
            "kind": "left out",
            "pairs": pairs[found],
            "expected": expected[found],
        }
    )


def _relations(frame: pd.DataFrame, parents: Parents) -> list[str | None]:
    """Return how the two labels of each row are related."""
    tree = read_hierarchy(parents)

    def related(a: Any, b: Any) -> str | None:
        if b is None:
            return None
        if a in tree.steps_up(b) or b in tree.steps_up(a):
            return "parent"
        return "sibling" if tree.above(a) & tree.above(b) else "unrelated"

    return [related(a, b) for a, b in zip(frame["label"], frame["other"], strict=True)]
