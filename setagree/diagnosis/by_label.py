"""Agreement on each label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import check_level
from setagree.coefficients.chance import Floats
from setagree.diagnosis.common import REASONS, Row, reasons, score_whole, shares, uncertainty
from setagree.distances import get_distance
from setagree.errors import DataError
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.scoring.coefficients import CoefficientLike, get_coefficient, gwet_ac
from setagree.scoring.definition import Coefficient
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import Scorer
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects, used_labels
from setagree.study.degrees import warn_degrees
from setagree.study.tally import Tally
from setagree.wording.label_sets import sorted_labels
from setagree.wording.result_base import ResultFrame
from setagree.wording.tables import Column

COLUMNS = (
    Column("label", "name"),
    Column("share_of_disagreement", "share", is_part=True),
    Column("estimate"),
    Column(("low", "high"), "interval"),
    Column("n_ratings", "count", "ratings with it"),
    Column("prevalence", "share"),
    Column("ac1", head="AC1"),
    Column("positive_agreement", "share", "agree on yes"),
    Column("negative_agreement", "share", "agree on no"),
    *REASONS,
)
"""The main columns, which notebooks and the report show."""


@dataclass(frozen=True, eq=False)
class Membership:
    """The labels of K values, in compressed rows.

    Attributes
    ----------
    labels : ndarray of object, shape (L,)
        All labels in use, sorted; the categories if values are categories.
    indptr, indices : ndarray
        The labels of value k are ``indices[indptr[k]:indptr[k + 1]]``.
    """

    labels: npt.NDArray[np.object_]
    indptr: npt.NDArray[np.intp]
    indices: npt.NDArray[np.intp]

    @property
    def n_labels(self) -> int:
        """L, how many labels there are."""
        return len(self.labels)

    @cached_property
    def sizes(self) -> npt.NDArray[np.intp]:
        """Number of labels in each value."""
        return np.diff(self.indptr)

    @cached_property
    def matrix(self) -> Any:
        """The sparse array of shape (K, L), 1 if the value contains the label."""
        from scipy import sparse

        shape = (len(self.sizes), self.n_labels)
        return sparse.csr_array((np.ones(len(self.indices)), self.indices, self.indptr), shape)

    @cached_property
    def _keys(self) -> npt.NDArray[np.int64]:
        rows = np.repeat(np.arange(len(self.sizes), dtype=np.int64), self.sizes)
        return rows * self.n_labels + self.indices

    def holds(self, values: npt.NDArray[Any], labels: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return whether each value contains the label, elementwise."""
        if not len(self._keys):
            return np.zeros(len(values), dtype=bool)
        keys = values * self.n_labels + labels
        found = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.asarray(self._keys[found] == keys)

    def alone(self, own: npt.NDArray[Any], other: npt.NDArray[Any]) -> Any:
        """Return the labels in each `own` but not in its `other`, sparse, one row per pair."""
        held = self.matrix[own]
        out = held - held.multiply(self.matrix[other])
        out.eliminate_zeros()
        return out

    def spread(self, values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return position and label of every label of the values, one after the other."""
        sizes = self.sizes[values]
        owner = np.repeat(np.arange(len(values)), sizes)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return owner, self.indices[self.indptr[values][owner] + within]


def membership_of(tally: Tally) -> Membership:
    """Return the labels of the values of a tally: a category is its own, a number has none."""
    if tally.kind == "number":
        raise DataError("numbers have no labels to look at; this is for label sets and categories.")
    sets = [v if isinstance(v, frozenset) else frozenset([v]) for v in tally.values]
    labels = _sorted(used_labels(sets))
    column = {label: position for position, label in enumerate(labels)}
    rows = [sorted(column[label] for label in one) for one in sets]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.intp)
    flat = [label for row in rows for label in row]
    return Membership(as_objects(labels), indptr, np.array(flat, dtype=np.intp))


def _sorted(labels: frozenset[Any]) -> list[Any]:
    """Return the labels in reading order; categories that have none, by type and text."""
    try:
        return sorted_labels(labels)
    except TypeError:
        return sorted(labels, key=lambda one: (type(one).__name__, str(one)))


def label_counts(tally: Tally, membership: Membership) -> Any:
    """Return the number of ratings with each label per unit of each pattern, sparse, (P, L)."""
    from scipy import sparse

    shape = (tally.n_patterns, tally.n_values)
    counts = sparse.csr_array((tally.counts, tally.indices, tally.indptr), shape)
    return counts @ membership.matrix


@takes_data
def by_label(
    study: Data,
    *more: RaterAnswers,
    coefficient: CoefficientLike = "krippendorff_alpha",
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> pd.DataFrame:
    """Return the agreement of raters on each label as a binary question.

    Each label is a study of its own: did the rater give it to the unit? Its observed and expected
    disagreement under alpha are ``Do_l`` and ``De_l``, and alpha with the Hamming distance on the
    sets is made of them exactly, ``alpha = 1 - sum_l Do_l / sum_l De_l``:
    ``share_of_disagreement`` is ``Do_l / sum_l Do_l``.

    Intervals are score intervals, because t intervals of a rare label's alpha or AC1 cover the true
    value far too seldom. There is none if the ratings with a label, or those without it, weigh less
    than four units (prevalence x units), because either answer can be the rare one; with at least
    five ratings per unit, intervals from four to eight units are rough.
    If units were drawn in clusters or with weights (`Annotations.sampled`), every share and
    interval respects it; if from strata or a population of known size, the interval is t, which
    is too narrow for rare labels.

    Parameters
    ----------
    study : Annotations, Tally, or a table or path as `agreement` takes it
        Label sets; or categories, of which each is a label of its own.
    coefficient : str or Coefficient
        The coefficient of each binary study, with the distance nominal. The other columns do not
        depend on it, except the disagreements and their shares.
    level : float
        The level of the intervals.

    Returns
    -------
    DataFrame
        One row per label, the largest share of the disagreement first: label, n_ratings (with the
        label), n_units (with at least one such rating), prevalence (share of all ratings),
        estimate (of the binary study) with standard_error, low, high (score); ac1 (Gwet's) with
        ac1_standard_error, ac1_low, ac1_high (score); positive_agreement and negative_agreement
        (``sum_i n_i (n_i - 1) / sum_i n_i (r_i - 1)`` over the ratings with, or without, the
        label: the probability that another rater agrees); observed_disagreement,
        expected_disagreement, share_of_disagreement; reason (for an estimate or interval of
        NaN: if the rarer of yes and no weighs less than four units, there is none); remark (on a
        rough interval, as `Agreement.remark`); coefficient.

    Raises
    ------
    DataError
        The values are numbers, or the coefficient requires raters that the data do not have.

    Warns
    -----
    DegreesWarning
        Labels have degrees, which do not count here.

    References
    ----------
    Krippendorff (2011) for binary alpha; Gwet (2008) for AC1; specific agreement: Uebersax, after
    Fleiss (1971), and Cicchetti & Feinstein (1990) for two raters.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.Annotations.from_triples([
    ...     ("ann", 1, "a"), ("ben", 1, "a, b"), ("ann", 2, ""), ("ben", 2, "a"),
    ...     ("ann", 3, "b"), ("ben", 3, "b"),
    ... ], blank="empty")
    >>> by_label(study)[["label", "n_ratings", "estimate", "share_of_disagreement"]].round(3)
      label  n_ratings  estimate  share_of_disagreement
    0     a          3     0.444                    0.5
    1     b          3     0.444                    0.5
    """
    check_level(level)
    chosen = get_coefficient(coefficient)
    whole = Scorer(study, keep_raters=chosen.needs_raters)
    tally, known = whole.tally, whole.annotations
    warn_degrees(tally.values, "by_label")
    membership = membership_of(tally)
    is_sampled = known is not None and known.sampling is not None
    if is_sampled:
        score_whole(study, "krippendorff_alpha", "nominal", level)  # warns of few clusters
    if known is not None and (is_sampled or chosen.needs_raters or chosen.for_more):
        parts = _binary_studies(known, membership)
    else:
        parts = _binary_tallies(tally, label_counts(tally, membership))
    rows = [
        {"label": label, **_binary_row(binary, chosen, level)}
        for label, binary in zip(membership.labels, parts, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=_COLUMNS.split())
    of_all = shares(frame["observed_disagreement"].fillna(0.0).to_numpy(dtype=float))
    frame["share_of_disagreement"] = of_all
    frame = frame.sort_values("share_of_disagreement", ascending=False, kind="stable")
    return ResultFrame.of(frame.reset_index(drop=True), COLUMNS)


_COLUMNS = (
    "label n_ratings n_units prevalence estimate standard_error low high ac1 ac1_standard_error "
    "ac1_low ac1_high positive_agreement negative_agreement observed_disagreement "
    "expected_disagreement share_of_disagreement reason remark coefficient"
)


def _binary_row(binary: Data, coefficient: Coefficient[...], level: float) -> Row:
    """Return the columns of one label from the study of yes and no."""
    scorer, nominal = Scorer(binary), get_distance("nominal")
    found, ac1 = (scorer.score(one, nominal) for one in (coefficient, gwet_ac))
    tally, m = scorer.tally, ac1.case.mass
    yes = _given(tally)
    ac1_low, ac1_high = ac1.interval(level)
    return {
        "n_ratings": round(float(tally.multiplicity @ yes)),
        "n_units": round(float(tally.multiplicity[yes > 0].sum())),
        "prevalence": float(m @ yes) / float(m @ tally.pattern_ratings),
        **uncertainty(found, level),
        "ac1": ac1.estimate,
        "ac1_standard_error": ac1.standard_error,
        "ac1_low": ac1_low,
        "ac1_high": ac1_high,
        **specific_agreements(ac1),
        "observed_disagreement": found.observed_disagreement,
        "expected_disagreement": found.expected_disagreement,
        **reasons(found),
        "coefficient": found.coefficient,
    }


def _given(tally: Tally) -> Floats:
    """Return the number of yes in each pattern of a study of yes and no."""
    yes = tally.indices == 0
    return np.bincount(tally.rows[yes], tally.counts[yes], tally.n_patterns).astype(np.float64)


def specific_agreements(binary: Agreement) -> Row:
    """Return the probabilities that another rater of the unit also says yes, or also no."""
    r, m, yes = binary.tally.pattern_ratings, binary.case.pairable_mass, _given(binary.tally)
    return {
        "positive_agreement": _specific(yes, r, m),
        "negative_agreement": _specific(r - yes, r, m),
    }


def _specific(n: Floats, r: Floats, m: Floats) -> float:
    """Return sum m n (n - 1) / sum m n (r - 1), or NaN if no such rating is in a pair."""
    possible = float(m @ (n * (r - 1)))
    return float(m @ (n * (n - 1))) / possible if possible > 0 else float("nan")


def _binary_tallies(tally: Tally, counts: Any) -> Iterator[Data]:
    """Yield for each label the study of yes and no: patterns (ratings with it, ratings).

    Units without the label differ only in their number of ratings.
    """
    from scipy import sparse

    by_label_ = sparse.csc_array(counts)
    r, m = tally.pattern_ratings, tally.multiplicity
    lengths, of_pattern = np.unique(r, return_inverse=True)
    units = np.bincount(of_pattern, m, len(lengths))
    for start, stop in zip(by_label_.indptr[:-1], by_label_.indptr[1:], strict=True):
        patterns, n = by_label_.indices[start:stop], by_label_.data[start:stop]
        seen, which = np.unique(np.stack([n, r[patterns]]), axis=1, return_inverse=True)
        times = np.bincount(which.ravel(), m[patterns], seen.shape[1])
        rest = units - np.bincount(of_pattern[patterns], m[patterns], len(lengths))
        yes = np.concatenate([seen[0], np.zeros(len(lengths))])
        ratings = np.concatenate([seen[1], lengths])
        m_of = np.concatenate([times, rest])
        # A rest below half a spacing of the largest number of units is rounding.
        used = m_of > 0.5 * np.spacing(m_of.max(initial=1.0))
        both = np.stack([yes, ratings - yes], axis=1)[used]
        rows, columns = np.nonzero(both)
        ends = np.searchsorted(rows, np.arange(len(both) + 1))
        values, codes = (True, False), columns.astype(np.int32)
        yield Tally("category", values, ends, codes, both[rows, columns], m_of[used])


def _binary_studies(study: Annotations, membership: Membership) -> Iterator[Data]:
    """Yield the binary study of each label, with all units of the study."""
    for label in range(membership.n_labels):
        every = np.arange(study.n_values)
        without = ~membership.holds(every, np.full(study.n_values, label))
        codes = without.astype(np.int32)[study.value_codes]
        yield replace(study, kind="category", values=(True, False), value_codes=codes)
