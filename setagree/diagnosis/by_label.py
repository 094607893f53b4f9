"""Agreement on each label, on whether any applies, and at each depth of a hierarchy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import pandas as pd

from setagree.checks import Floats, check_level
from setagree.coefficients.case import divided
from setagree.credit.geometry import SetGeometry, labels_of_values
from setagree.diagnosis.common import (
    NO_DEGREE,
    REASONS,
    Row,
    counts,
    named,
    reasons,
    score_whole,
    uncertainty,
)
from setagree.distances import get_distance
from setagree.distances.hierarchy import Parents, read_hierarchy
from setagree.distances.registry import DistanceLike
from setagree.distances.sets import nominal
from setagree.errors import DataError
from setagree.inference.comparison import distance_of
from setagree.inference.panel_members import require_unsized
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.scoring.coefficients import (
    CoefficientLike,
    get_coefficient,
    gwet_ac,
    krippendorff_alpha,
)
from setagree.scoring.definition import Coefficient
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import Scorer
from setagree.study.annotations import Annotations
from setagree.study.codes import have_degrees
from setagree.study.degrees import warn_degrees
from setagree.study.tally import Tally
from setagree.wording.result_frames import ResultFrame
from setagree.wording.tables import Column

COLUMNS = (
    Column("label", "name"),
    Column("share_of_disagreement", "share", is_part=True),
    Column("estimate"),
    Column(("low", "high"), "interval"),
    Column("interval_method", "text", is_extra=True),
    Column("n_ratings", "count", "ratings with it"),
    Column("prevalence", "share"),
    Column("ac1", head="AC1"),
    Column("positive_agreement", "share", "agree on yes"),
    Column("negative_agreement", "share", "agree on no", is_extra=True),
    *REASONS,
)
"""The main columns, which notebooks and the report show."""


def label_counts(tally: Tally, sets: SetGeometry) -> Any:
    """Return the number of ratings with each label per unit of each pattern, sparse, (P, L)."""
    from scipy import sparse

    shape = (tally.n_patterns, tally.n_values)
    counts = sparse.csr_array((tally.counts, tally.indices, tally.indptr), shape)
    return counts @ sets.flags


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

    Intervals are score intervals, because the coverage of t intervals of a rare label's alpha or
    AC1 is far too low. There is none if the ratings with a label, or those without it, weigh less
    than four units (prevalence x units), because either answer can be the rare one; with at least
    five ratings per unit, intervals from four to eight units are rough.
    If units were drawn in clusters or with weights (`Annotations.sampled`), every share and
    interval respects it. Intervals of most clusters, of strata and of a population of known size
    are t intervals (`interval_method`), which are too narrow for rare labels.

    Parameters
    ----------
    study : Annotations, Tally, or a table or path as `agreement` takes it
        Label sets; or categories, each of which is a label.
    coefficient : str or Coefficient
        The coefficient of each binary study, with the distance nominal. The other columns do not
        depend on it, except the disagreements and their shares.
    level : float
        The level of the intervals.

    Returns
    -------
    DataFrame
        One row per label, the largest share of the disagreement first: label, n_ratings (with the
        label), n_units (with at least one such rating), prevalence (share of all ratings), estimate
        (of the binary study) with standard_error, low, high, interval_method; ac1 (Gwet's) with
        ac1_standard_error, ac1_low, ac1_high, ac1_interval_method; positive_agreement and
        negative_agreement (``sum_i n_i (n_i - 1) / sum_i n_i (r_i - 1)`` over the ratings with, or
        without, the label: the probability that another rater agrees); observed_disagreement,
        expected_disagreement, share_of_disagreement; reason (for an estimate or interval of NaN: if
        the rarer of yes and no weighs less than four units, there is none); remark (on a rough
        interval, as `Agreement.remark`); coefficient.

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
    tally, study_with_raters = whole.tally, whole.annotations
    warn_degrees(tally.values, "by_label")
    sets = labels_of_values(tally.values, tally.kind)
    is_sampled = study_with_raters is not None and study_with_raters.sampling is not None
    if is_sampled:
        score_whole(study, "krippendorff_alpha", "nominal", level)  # warns of few clusters
    parts: Iterator[Data] = _binary_tallies(tally, label_counts(tally, sets))
    if study_with_raters is not None and (is_sampled or chosen.needs_raters or chosen.for_more):
        parts = _binary_studies(study_with_raters, sets)
    rows = [
        {"label": label, **_binary_row(binary, chosen, level)}
        for label, binary in zip(sets.labels, parts, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=_COLUMNS.split())
    disagreement = frame["observed_disagreement"].fillna(0.0).to_numpy(dtype=float)
    frame["share_of_disagreement"] = divided(disagreement, disagreement.sum())
    frame = frame.sort_values("share_of_disagreement", ascending=False, kind="stable")
    return ResultFrame.of(frame.reset_index(drop=True), COLUMNS)


_COLUMNS = (
    "label n_ratings n_units prevalence estimate standard_error low high interval_method ac1 "
    "ac1_standard_error ac1_low ac1_high ac1_interval_method positive_agreement negative_agreement "
    "observed_disagreement expected_disagreement share_of_disagreement reason remark coefficient"
)


def _binary_row(binary: Data, coefficient: Coefficient[...], level: float) -> Row:
    """Return the columns of one label from the study of yes and no."""
    scorer, nominal = Scorer(binary), get_distance("nominal")
    agreement, ac1 = (scorer.score(one, nominal) for one in (coefficient, gwet_ac))
    tally, m = scorer.tally, ac1.case.mass
    yes = _given(tally)
    return {
        "n_ratings": round(float(tally.multiplicity @ yes)),
        "n_units": round(float(tally.multiplicity[yes > 0].sum())),
        "prevalence": float(m @ yes) / float(m @ tally.pattern_ratings),
        **uncertainty(agreement, level),
        "ac1": ac1.estimate,
        **{f"ac1_{name}": number for name, number in uncertainty(ac1, level).items()},
        **specific_agreements(ac1),
        "observed_disagreement": agreement.observed_disagreement,
        "expected_disagreement": agreement.expected_disagreement,
        **reasons(agreement),
        "coefficient": agreement.coefficient,
    }


def _given(tally: Tally) -> Floats:
    """Return the number of yes in each pattern of a study of yes and no."""
    yes = tally.indices == 0
    return np.bincount(tally.rows[yes], tally.counts[yes], tally.n_patterns).astype(np.float64)


def specific_agreements(binary: Agreement) -> Row:
    """Return the probabilities that another rater of the unit also answers yes, or also no."""
    r, m, yes = binary.tally.pattern_ratings, binary.case.pairable_mass, _given(binary.tally)
    # sum m n (n - 1) / sum m n (r - 1), or NaN if no such rating is in a pair
    return {
        name: float(divided(m @ (n * (n - 1)), m @ (n * (r - 1))))
        for name, n in (("positive_agreement", yes), ("negative_agreement", r - yes))
    }


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


def _binary_studies(study: Annotations, sets: SetGeometry) -> Iterator[Annotations]:
    """Yield the binary study of each label, with all units of the study."""
    flags = sets.flags.tocsc()
    for label in range(sets.n_labels):
        codes = (flags[:, [label]].toarray().ravel() == 0).astype(np.int32)[study.value_codes]
        yield replace(study, kind="category", values=(True, False), value_codes=codes)


PRESENCE_COLUMNS = (
    Column("part", "text"),
    Column("estimate"),
    Column(("low", "high"), "interval"),
    Column("positive_agreement", "share", "agree on some"),
    Column("negative_agreement", "share", "agree on none"),
    Column("n_pairable_units", "count", "pairable units"),
    Column("n_ratings", "count", "ratings"),
    *REASONS,
)
"""The main columns, which notebooks and the report show."""


@takes_data
def by_presence(
    study: Data,
    *more: RaterAnswers,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> pd.DataFrame:
    """Return the agreement on whether any label applies, and on which, given that some do.

    With many empty answers, a coefficient of all answers mixes the two questions: a pair of an
    empty and another answer is at the largest distance, and two empty answers agree fully.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Label sets.
    coefficient, distance
        As in `agreement`. The first part always has the distance nominal.
    level : float
        The level of the intervals.

    Returns
    -------
    DataFrame
        Two rows. ``"none against some"`` is about all answers as empty or not, with
        positive_agreement and negative_agreement (the probability that another rater of the unit
        also gives some label, or none). ``"which, given some"`` is about the answers that are not
        empty. Columns: part, estimate, standard_error, low, high, interval_method,
        positive_agreement, negative_agreement, n_pairable_units, n_ratings, reason (for no
        interval), remark (on a rough one), coefficient, distance.

    Raises
    ------
    DataError
        The answers are not label sets, or none of them is empty, or all are.

    Examples
    --------
    Six units; the last has one rating. Of the ten answers in pairs three are empty, and one pair
    of five has an empty and another answer: 1 - 9 x 1 / (3 x 7) = 4 / 7.

    >>> import setagree as sa
    >>> answers = {"u1": "a|a", "u2": "a,b|a", "u3": "b|b", "u4": "|", "u5": "|a", "u6": "b"}
    >>> study = sa.Annotations.from_triples([
    ...     (rater, unit, labels) for unit, cells in answers.items()
    ...     for rater, labels in enumerate(cells.split("|"))
    ... ], blank="empty")
    >>> by_presence(study, distance="nominal")[["part", "estimate", "n_ratings"]].round(4)
                    part  estimate  n_ratings
    0  none against some    0.5714         11
    1  which, given some    0.5455          8
    """
    check_level(level)
    annotations = require_unsized(study, "by_presence")
    if annotations.kind != "labels":
        raise DataError("by_presence is about label sets; single values are never empty.")
    has_labels = np.array([len(value) > 0 for value in annotations.values])
    is_given = has_labels[annotations.value_codes]
    if is_given.all() or not is_given.any():
        answers = "no answer" if is_given.all() else "every answer"
        raise DataError(f"{answers} is the empty set, so that agreement has no two parts.")
    codes = (~is_given).astype(np.int32)
    binary = replace(
        annotations, kind="category", values=(True, False), value_codes=codes, order=()
    )
    some = annotations.take(is_given).with_used_values()
    whether = score_whole(binary, coefficient, "nominal", level)
    which = score_whole(some, coefficient, distance, level)
    specific = specific_agreements(whether)
    rows = [
        {"part": part}
        | uncertainty(found, level)
        | agreements
        | {"n_pairable_units": found.n_pairable_units, "n_ratings": found.n_ratings}
        | named(found)
        for part, found, agreements in (
            ("none against some", whether, specific),
            ("which, given some", which, dict.fromkeys(specific, np.nan)),
        )
    ]
    return ResultFrame.of(pd.DataFrame(rows), PRESENCE_COLUMNS)


@takes_data
def by_depth(
    study: Data,
    *more: RaterAnswers,
    parents: Parents,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> pd.DataFrame:
    """Return the agreement at each depth of a hierarchy, and the disagreement below it.

    At depth k every deeper label is replaced by its ancestors at that depth; a root has depth 1.
    Answers that agree at a depth and differ in the study differ inside a branch: they have the
    same parent and different children.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Label sets.
    parents : mapping, DataFrame, path or taxonomy
        The hierarchy, as `setagree.distances.taxonomy` takes it, or what that returned. If labels
        are paths, such as emotion/joy, the text between their steps: "/".
    coefficient, distance
        As in `setagree.agreement`.
    level : float
        The level of the intervals.

    Returns
    -------
    DataFrame
        One row per depth, that of the deepest label last, which is the unchanged study: depth,
        n_labels (how many there are then), inside (the share of the pairs of ratings of one unit
        that differ, in which both are the same at this depth: with D(k) the observed disagreement
        of alpha with the nominal distance at depth k, 1 - D(k) / D), estimate, standard_error,
        low, high, observed_disagreement, expected_disagreement, n_units, n_pairable_units,
        n_raters, n_ratings, n_values, reason (for no interval), remark (on a rough one),
        coefficient, distance.

    Raises
    ------
    DataError
        The values are numbers or categories.

    Notes
    -----
    A higher coefficient at a smaller depth does not mean a better codebook: its labels distinguish
    less. If ``inside`` is large, raters agree on the branch but not on the child: merge the
    children, or define in the guidelines how they differ. `what_if` tests such a change, and
    `confusions` lists the pairs of labels.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.Annotations.from_triples([
    ...     ("ann", 1, "joy"), ("ben", 1, "pride"), ("ann", 2, "fear"), ("ben", 2, "fear"),
    ...     ("ann", 3, "joy"), ("ben", 3, "fear"), ("ann", 4, "pride"), ("ben", 4, "joy"),
    ... ])
    >>> tree = {"good": ["joy", "pride"], "bad": {"fear": None}}
    >>> by_depth(study, parents=tree)[["depth", "n_labels", "inside", "estimate"]].round(3)
       depth  n_labels  inside  estimate
    0      1         2   0.667     0.533
    1      2         3   0.000     0.000
    """
    study = require_unsized(study, "by_depth")
    if study.kind != "labels":
        raise DataError("a hierarchy needs labels; these values are scalars.")
    if have_degrees(study.values):
        raise DataError(NO_DEGREE)
    tree = read_hierarchy(parents)
    whole = score_whole(study, coefficient, distance, level)
    differ = _nominal(study)
    deepest, rows = max((tree.depth(label) for label in study.labels), default=1), []
    for depth in range(1, deepest + 1):
        merged = study.with_answers(tree.lifting(depth))
        agreement = Scorer(merged).score(whole.definition, distance_of(whole))
        row: Row = {
            "depth": depth,
            "n_labels": len(merged.labels),
            "inside": 1 - _nominal(merged) / differ if differ else float("nan"),
            **uncertainty(agreement, level),
            "observed_disagreement": agreement.observed_disagreement,
            "expected_disagreement": agreement.expected_disagreement,
        }
        rows.append(row | counts(agreement) | named(agreement))
    return pd.DataFrame(rows)


def _nominal(study: Annotations) -> float:
    """Return the share of the pairs of ratings of one unit that differ."""
    return Scorer(study).score(krippendorff_alpha, nominal).observed_disagreement
