"""Consensus answer of each unit, by majority, medoid, Dawid-Skene or unanimity."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import Codes, Flags, Floats, expanded, is_number, replace_file
from setagree.credit.base import Weights, reading_key, sums_to_others
from setagree.credit.geometry import SetGeometry
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    ConvergenceWarning,
    DataError,
    OptionError,
    SetagreeWarning,
    check_choice,
    counted,
    listing,
    option,
    warn,
)
from setagree.inference.panel_members import case_of, check_share, unweighted_units
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.panels.dawid_skene import answer_counts, dawid_skene, label_fits, panels_of, set_codes
from setagree.progress import track
from setagree.scoring.scorer import default_distances
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects, entries_of, have_degrees
from setagree.wording.label_sets import Degrees, LabelSep, LabelSet, display_labels, written_set
from setagree.wording.result_base import Result
from setagree.wording.tables import Column, csv_text

Ties: TypeAlias = Literal["missing", "plurality", "empty"]

_ROUNDING = 1e-9
"""Absolute rounding tolerance of a share or a probability."""

_IN_SUMS = 1e-12
"""Relative rounding tolerance of a sum of distances."""

_POOR, _SURE, _FEW_SURE, _RARE = 0.2, 0.95, 0.2, 4
"""The confidence of Dawid-Skene may be too high if alpha is below the first number, or if it is
above the second for a share of the units below the third; not judged if the rarer of two answers
weighs fewer units than the fourth."""

_MOST_RATES = 20_000_000
"""Maximum number of error rates (raters x values x values); 160 MB."""


_DENSE = 4
"""Cells (units times labels) per observed label up to which cells are counted densely."""


@dataclass(frozen=True, eq=False)
class Decision:
    """One answer per unit: its position in the distinct `values`, or -1, with its confidence.

    `tied` flags units with a tied label or answer, `undecided` those where neither a label nor "no
    label" has a majority. `rates` are `Consensus.error_rates`; those of `n_unconverged` labels had
    not converged. `too_sure` has the labels whose confidence may be too high (scalars: None).
    """

    values: tuple[Any, ...]
    codes: Codes
    confidence: Floats
    tied: Flags
    undecided: Flags
    rates: pd.DataFrame | None = None
    n_unconverged: int = 0
    too_sure: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class Ballot:
    """The answers of a study, counted by unit."""

    study: Annotations

    @cached_property
    def ratings(self) -> Floats:
        """Number of answers per unit."""
        study = self.study
        return np.bincount(study.unit_codes, minlength=study.n_units).astype(np.float64)

    @cached_property
    def cells(self) -> tuple[Codes, Codes, Floats]:
        """Unit, value and count of each distinct answer of a unit, sorted by unit."""
        K = self.study.n_values
        return self._counted(self.study.unit_codes.astype(np.int64) * K + self.study.value_codes, K)

    @cached_property
    def empty(self) -> Floats:
        """Number of raters per unit who gave the empty set."""
        study = self.study
        is_empty = np.array([value == frozenset() for value in study.values])
        empty = study.unit_codes[is_empty[study.value_codes]]
        return np.bincount(empty, minlength=study.n_units).astype(np.float64)

    @cached_property
    def geometry(self) -> SetGeometry:
        """The label sets as arrays."""
        return SetGeometry(self.study.values)

    @cached_property
    def votes(self) -> tuple[Codes, Codes, Floats]:
        """Unit, label and count of each label that a rater gave to a unit, sorted by unit."""
        study, geometry, L = self.study, self.geometry, max(1, len(self.geometry.labels))
        sizes = geometry.sizes[study.value_codes]
        # The cells of the units x labels table, one for each label of each answer.
        cells = np.repeat(study.unit_codes, sizes).astype(np.int64) * L
        cells += geometry.indices[entries_of(geometry.indptr, study.value_codes)]
        return self._counted(cells, L)

    def _counted(self, cells: Codes, width: int) -> tuple[Codes, Codes, Floats]:
        """Return row, column and count of the distinct cells of a table of the units."""
        size = self.study.n_units * width
        if size <= _DENSE * len(cells):
            # Dense tables have few cells, whose numbers fit in the index type of the platform.
            table = np.bincount(cells.astype(np.intp), minlength=size)
            distinct = np.flatnonzero(table > 0)  # faster than of numbers
            counts = table[distinct]
        else:
            distinct, counts = np.unique(cells, return_counts=True)
        rows = distinct // width  # faster than divmod
        columns = (distinct - rows * width).astype(np.intp)
        return rows.astype(np.intp), columns, counts.astype(np.float64)


def label_majority(ballot: Ballot, threshold: float, ties: Ties) -> Decision:
    """Return the labels that enough raters of each unit gave.

    A unit is undecided if no label is taken and at most half of its raters gave the empty set. The
    confidence is the smallest share of raters behind any of the decisions.
    """
    (units, labels, counts), n = ballot.votes, ballot.study.n_units
    share = counts / ballot.ratings[units]
    tied = (2 * counts == ballot.ratings[units]) & (threshold == 0.5)
    taken = (share >= threshold - _ROUNDING) & ~tied
    undecided = (np.bincount(units, taken, n) == 0) & (2 * ballot.empty <= ballot.ratings)
    if ties == "plurality":
        # The answer is "no label" if that has more votes than any label.
        most = np.maximum(-_least(units, -counts, n), ballot.empty)
        taken |= tied | (undecided[units] & (counts == most[units]))
    confidence = np.minimum(_least(units, np.where(taken, share, 1 - share), n), 1)
    any_tied = np.bincount(units, tied, n) > 0
    codes, values = code_sets(units[taken], labels[taken], n, ballot.geometry.labels)
    return Decision(values, codes, confidence, any_tied, undecided)


def label_dawid_skene(ballot: Ballot, threshold: float, ties: Ties) -> Decision:
    """Return the labels that are probable enough by the algorithm of Dawid and Skene.

    Labels that nobody gave to the unit are never taken. A unit is undecided if no label is taken
    and nobody gave the empty set. The confidence is the joint probability of all decisions, with
    the labels assumed independent.
    """
    study, (units, labels, _) = ballot.study, ballot.votes
    n_labels = len(ballot.geometry.labels)
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(n_labels + 1))
    panel, panels = panels_of(study)
    taken, tied = np.zeros(len(units), dtype=bool), np.zeros(study.n_units, dtype=bool)
    logs, rates, unconverged = np.zeros(study.n_units), [], 0
    n_units, sure = np.bincount(panel, minlength=panels.shape[0]), np.zeros(n_labels)
    fits = label_fits(study, ballot.geometry.flags, (labels[order], units[order]), panel, panels)
    tracked = track(fits, total=n_labels, what="labels")
    for l, (p, of_panels, rates_of_label, converged) in enumerate(tracked):
        named = order[starts[l] : starts[l + 1]]
        close = np.abs(p - threshold) <= _ROUNDING
        taken[named] = (p > threshold) & ~close | close & (ties == "plurality")
        tied[units[named][close]] = True
        with np.errstate(divide="ignore"):
            each = np.log(1 - of_panels)[panel]
            each[units[named]] = np.log(np.where(taken[named], p, 1 - p))
        logs += each
        without = n_units - np.bincount(panel[units[named]], minlength=len(n_units))
        sure[l] = (abs(p - 0.5) > _SURE - 0.5).sum() + without @ (
            abs(of_panels - 0.5) > _SURE - 0.5
        )
        rates.append(rates_of_label)
        unconverged += not converged
    undecided = (np.bincount(units, taken, study.n_units) == 0) & (ballot.empty == 0)
    names = ballot.geometry.labels
    specificity, sensitivity = np.concatenate([np.zeros((2, 0)), *rates], axis=1)
    table = pd.DataFrame(
        {
            "rater": np.tile(study.raters, n_labels),
            "label": np.repeat(as_objects(names), study.n_raters),
            "sensitivity": sensitivity,
            "specificity": specificity,
        }
    )
    codes, values = code_sets(units[taken], labels[taken], study.n_units, names)
    doubted = np.flatnonzero(is_too_sure(ballot, ballot.votes, sure / study.n_units))
    too_sure = tuple(names[l] for l in doubted)
    return Decision(values, codes, np.exp(logs), tied, undecided, table, unconverged, too_sure)


def value_dawid_skene(ballot: Ballot, ties: Ties) -> Decision:
    """Return the most probable of each unit's values by the algorithm of Dawid and Skene."""
    study = ballot.study
    shape = (study.n_units, study.n_raters, study.n_values)
    if max(study.n_raters * study.n_values, study.n_units) * study.n_values > _MOST_RATES:
        raise OptionError(
            f"{option('method', 'dawid_skene')} has an error rate for each rater between any two "
            f"values; {study.n_raters:,} raters and {study.n_values:,} values are too many. Use "
            "'medoid'."
        )
    counts = answer_counts(study.unit_codes, study.rater_codes, study.value_codes, shape)
    fit = dawid_skene(counts, study.n_values)
    units, values, _ = ballot.cells
    p = fit.posterior[units, values]
    likely = p >= -_least(units, -p, study.n_units)[units] - _ROUNDING
    codes, tied = _best(ballot, likely, ties)
    confidence = fit.posterior[np.arange(study.n_units), codes]
    sure = np.array([(fit.posterior.max(axis=1) > _SURE).mean()])
    too_sure = (None,) * int(is_too_sure(ballot, ballot.cells, sure)[0])
    unconverged, undecided = int(not fit.converged[0]), np.zeros_like(tied)
    return Decision(study.values, codes, confidence, tied, undecided, None, unconverged, too_sure)


def is_too_sure(ballot: Ballot, cells: tuple[Codes, Codes, Floats], sure: Floats) -> Flags:
    """Return whether the confidence of each label (of all values together) may be too high.

    It may be if alpha is poor or few units are above 0.95; `sure` is their share. `cells` are the
    votes for labels, or the counts of values, whose alpha is nominal.
    """
    units, classes, counts = cells
    ratings = ballot.ratings
    r, is_pairable = ratings[units], ratings > 1
    n, N = is_pairable.sum(), ratings[is_pairable].sum()
    # alpha = 1 - sum_c D_c / sum_c E_c, over one label or over all values, with the counts m_ic:
    # D_c = sum_i m_ic (r_i - m_ic) / (r_i - 1), E_c = m_c (N - m_c) / (N - 1)
    m = np.where(r > 1, counts, 0)
    D = np.bincount(classes, m * (r - m) / np.maximum(r - 1, 1), len(sure))
    totals = np.bincount(classes, m, len(sure))
    E = totals * (N - totals) / max(N - 1, 1)
    commonest = np.maximum(totals, N - totals)
    if ballot.study.kind != "labels":
        D, E, commonest = D.sum(), E.sum(), totals.max()
    rarer = n * (1 - commonest / max(N, 1))
    return np.asarray((rarer >= _RARE) & ((D > (1 - _POOR) * E) | (sure < _FEW_SURE)))


def medoid(ballot: Ballot, weights: Weights, ties: Ties) -> Decision:
    """Return the answer of each unit with the smallest sum of distances to its answers.

    The tolerance for ties is relative to the sums of the unit. The confidence is the mean credit 1
    - d / d_max of the answers.
    """
    units, values, counts = ballot.cells
    sums = sums_to_others(units, values, counts, weights)
    least = _least(units, sums, ballot.study.n_units)
    codes, tied = _best(ballot, sums <= least[units] * (1 + _IN_SUMS), ties)
    confidence = 1 - least / ballot.ratings / weights.max_distance
    return Decision(ballot.study.values, codes, confidence, tied, np.zeros_like(tied))


def unanimous(ballot: Ballot) -> Decision:
    """Return the answer that all raters of each unit gave, or no answer."""
    units, values, _ = ballot.cells
    n = ballot.study.n_units
    codes, none = np.full(n, -1), np.zeros(n, dtype=bool)
    codes[units] = np.where(np.bincount(units, minlength=n)[units] == 1, values, -1)
    confidence = np.where(codes >= 0, 1.0, np.nan)
    return Decision(ballot.study.values, codes, confidence, none, none)


def code_sets(
    units: Codes, labels: Codes, n_units: int, names: list[Any]
) -> tuple[Codes, tuple[Any, ...]]:
    """Return the index of the label set of each unit, and the distinct sets; units ascend."""
    codes, first = set_codes(units, labels, n_units, len(names))
    ends = np.searchsorted(units, [first, first + 1])
    return codes, tuple(frozenset(names[k] for k in labels[a:b]) for a, b in ends.T.tolist())


def _least(units: Codes, cost: Floats, n_units: int) -> Floats:
    """Return the smallest cost of each unit, infinite if there is none; units ascend."""
    least = np.full(n_units, np.inf)
    starts = np.flatnonzero(np.diff(units, prepend=-1))
    if len(starts):
        least[units[starts]] = np.minimum.reduceat(cost, starts)
    return least


def _best(ballot: Ballot, near: Flags, ties: Ties) -> tuple[Codes, Flags]:
    """Return one of the best answers of each unit, and flags of ties.

    Of tied answers, ``"plurality"`` takes the last in reading order, any other rule the first:
    numbers by size, label sets by number of labels, other values as text.
    """
    study, (units, values, _) = ballot.study, ballot.cells
    best = np.flatnonzero(near)
    tied = np.bincount(units[best], minlength=study.n_units) > 1
    order = sorted(range(study.n_values), key=lambda k: reading_key(study.values[k]))
    place = np.empty(study.n_values, dtype=np.int64)
    place[order] = np.arange(study.n_values)
    sign = -1 if ties == "plurality" else 1
    ranked = best[np.lexsort((sign * place[values[best]], units[best]))]
    _, first = np.unique(units[ranked], return_index=True)
    return values[ranked[first]], tied


Method: TypeAlias = Literal["label_majority", "medoid", "dawid_skene", "unanimous"]

METHODS = ("label_majority", "medoid", "dawid_skene", "unanimous")

WHY = (
    "tie",
    "no majority",
    "one rating",
    "no answer",
    "an answer that nobody gave",
    "low confidence",
    "no rating",
)
"""Reasons to adjudicate a unit, in the order of the bits of `Consensus.doubts`."""

_NO_RATING = 1 << WHY.index("no rating")


@dataclass(frozen=True, eq=False, repr=False)
class Consensus(Result):
    """One answer per unit.

    Attributes
    ----------
    method : str
        Name of the method.
    kind : {"labels", "number", "category"}
        Kind of the answers.
    units : ndarray of object, shape (n_units,)
        The units with a rating, then those without.
    values : tuple
        The distinct answers.
    codes : ndarray of int, shape (n_units,)
        Positions in `values`; -1 without an answer.
    support : ndarray of shape (n_units,)
        Share of the unit's raters who gave exactly this answer; NaN without an answer.
    confidence : ndarray of shape (n_units,)
        Confidence by the method, in [0, 1]; NaN without an answer.
    n_ratings : ndarray of int, shape (n_units,)
        Number of raters per unit.
    doubts : ndarray of int, shape (n_units,)
        Reasons to adjudicate the unit, as bits; 0 without a reason. See `to_frame`.
    error_rates : DataFrame or None
        For ``"dawid_skene"`` on labels, by rater and label: `sensitivity`, the probability that the
        rater gives the label if it is true, and `specificity`, that of not giving it if it is not,
        both shrunk to those of all raters together.
    """

    method: str
    kind: str
    units: npt.NDArray[np.object_]
    values: tuple[Any, ...]
    codes: Codes
    support: Floats
    confidence: Floats
    n_ratings: Codes
    doubts: Codes
    error_rates: pd.DataFrame | None = None

    max_rows = 20
    columns = (
        Column("unit", "name"),
        Column("labels", "name", "agreed", is_optional=True),
        Column("value", "name", "agreed", is_optional=True),
        Column("support"),
        Column("confidence"),
        Column("n_ratings", "count", "raters"),
        Column("reason", "text"),
    )

    @property
    def adjudicate(self) -> Flags:
        """The units to adjudicate."""
        return np.asarray(self.doubts > 0)

    @property
    def answers(self) -> pd.Series[Any]:
        """The answer of each unit, or None."""
        index = pd.Index(self.units, name="unit", dtype=object, tupleize_cols=False)
        # Code -1 selects the last entry, None.
        cells = as_objects([*self.values, None])[self.codes]
        return pd.Series(cells, index=index, name=self._answer, dtype=object)

    @property
    def _answer(self) -> str:
        return "labels" if self.kind == "labels" else "value"

    def to_frame(self) -> pd.DataFrame:
        """Return one row per unit.

        The columns are the unit, its `labels` (a frozenset; or `value`; None without an answer),
        support, confidence, n_ratings, adjudicate (whether an expert should decide) and reason (for
        that).
        """
        texts = [
            "; ".join(why for bit, why in enumerate(WHY) if doubt >> bit & 1)
            for doubt in range(2 ** len(WHY))
        ]
        return pd.DataFrame(
            {
                "unit": self.units,
                self._answer: self.answers.to_numpy(),
                "support": self.support,
                "confidence": self.confidence,
                "n_ratings": self.n_ratings,
                "adjudicate": self.adjudicate,
                "reason": as_objects(texts)[self.doubts],
            }
        )

    def to_written(self, *, label_sep: LabelSep = ",") -> pd.DataFrame:
        """Return the rows of `to_frame` with label sets as text that is read as the same sets.

        The empty set is ``[]``. Supports and confidences have four decimals.
        """
        frame = self.to_frame().round({"support": 4, "confidence": 4})
        if self.kind == "labels":
            frame["labels"] = [_cell(labels, label_sep) for labels in frame["labels"]]
        return frame

    def to_csv(self, path: str | os.PathLike[str], *, label_sep: LabelSep = ",") -> Path:
        """Write the file of ``setagree consensus -o FILE``, and return its path.

        Parameters
        ----------
        path : str or path
            The file, which is replaced.
        label_sep : str or list of str
            Text between two labels. Of several, the first is written, and labels that have another
            are quoted.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import setagree as sa
        >>> agreed = sa.consensus([["a", "b"], ["a", "c"], ["a", "b"]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(agreed.to_csv(f"{folder}/gold.csv").read_text().splitlines()[2])
        1,b,0.6667,0.6667,3,False,
        """
        target = expanded(path)
        replace_file(target, csv_text(self.to_written(label_sep=label_sep)))
        return target

    def _to_print(self) -> pd.DataFrame:
        return self.to_frame().iloc[np.argsort(~self.adjudicate, kind="stable")]

    def _notes(self) -> list[str]:
        missing = int((self.codes < 0).sum())
        without = f", {missing:,} without an answer" if missing else ""
        again = f"{int(self.adjudicate.sum()):,} of {counted(len(self), 'unit')} to adjudicate"
        return [
            f"By {self.method}; {again} (see reason){without}. {{}} is the empty set, - no answer."
        ]

    def __len__(self) -> int:
        return len(self.units)


def _cell(labels: LabelSet | None, label_sep: LabelSep) -> str | None:
    """Return the text that is read as this label set again; a blank cell has no answer."""
    if isinstance(labels, Degrees) and labels:
        return display_labels(labels)  # a table that is read has a row per label
    return written_set(labels, label_sep)


@dataclass(frozen=True)
class Rule:
    """Options of `consensus` that fit a study, and its parts."""

    method: Method
    threshold: float
    ties: Ties
    distance: DistanceLike | None

    @classmethod
    def of(
        cls,
        study: Annotations,
        method: Method | None,
        threshold: float | None,
        ties: Ties,
        distance: DistanceLike | None,
    ) -> Rule:
        """Return the options, with the defaults for a study, or raise if they do not fit it."""
        if method is not None:
            check_choice("method", method, METHODS)
        check_choice("ties", ties, ("missing", "plurality", "empty"))
        if threshold is not None and (not is_number(threshold) or not 0 < threshold <= 1):
            raise OptionError(f"{option('threshold', threshold)} must be above 0 and at most 1.")
        degrees = have_degrees(study.values)
        labels = study.kind == "labels" and not degrees
        method = method or ("label_majority" if labels else "medoid")
        if degrees and method in {"label_majority", "dawid_skene"}:
            raise DataError(
                f"{option('method', method)} decides which labels apply; these labels have "
                "degrees. Use 'medoid', the answer that is nearest to all."
            )
        if method == "label_majority" and not labels:
            raise DataError(
                f"{option('method', 'label_majority')} counts labels; these values are scalars. "
                "Use 'medoid', which with the nominal distance is the most frequent value."
            )
        if threshold is not None and not (labels and method in {"label_majority", "dawid_skene"}):
            raise OptionError(
                f"{option('threshold')} does not apply to {option('method', method)} here; omit it."
            )
        if distance is not None and method != "medoid":
            raise OptionError(
                f"{option('distance')} is for {option('method', 'medoid')}; {method!r} uses none."
            )
        return cls(method, 0.5 if threshold is None else threshold, ties, distance)

    def _weights(self, study: Annotations) -> Weights:
        # The coarsest default distance: the medoid of numbers is then the most frequent one.
        coarsest = default_distances(study)[0]
        return case_of(study, coarsest if self.distance is None else self.distance).weights

    def decide(self, study: Annotations) -> Decision:
        """Return one answer per unit of a study."""
        ballot = Ballot(study)
        if self.method == "label_majority":
            decision = label_majority(ballot, self.threshold, self.ties)
        elif self.method == "medoid":
            decision = medoid(ballot, self._weights(study), self.ties)
        elif self.method == "unanimous":
            decision = unanimous(ballot)
        elif study.kind == "labels":
            decision = label_dawid_skene(ballot, self.threshold, self.ties)
        else:
            decision = value_dawid_skene(ballot, self.ties)
        if self.ties != "missing":
            return decision
        by_label = study.kind == "labels" and self.method in {"label_majority", "dawid_skene"}
        without = decision.undecided if by_label else decision.tied
        return replace(
            decision,
            codes=np.where(without, -1, decision.codes),
            confidence=np.where(without, np.nan, decision.confidence),
        )


@takes_data
def consensus(
    study: Data,
    *more: RaterAnswers,
    method: Method | None = None,
    threshold: float | None = None,
    ties: Ties = "missing",
    distance: DistanceLike | None = None,
    adjudicate_below: float = 0.0,
    **options: Unpack[ReadingOptions],
) -> Consensus:
    """Return one answer per unit, with its support, and the units to adjudicate.

    A unit never gets a label that none of its raters gave. Units that the votes do not decide have
    no answer by default; see `ties`. The methods:

    ``"label_majority"`` (default for label sets): each label that at least the threshold share of
    the unit's raters gave; the empty set if more than half of them gave that. Assumes that labels
    can be decided one by one; a set that no rater gave as a whole is marked for adjudication.
    Confidence: the smallest share of raters behind any of the decisions.

    ``"medoid"`` (default for scalars, and for labels with degrees): the answer of the unit with the
    smallest mean distance to all of its answers. Confidence: 1 - that distance / d_max.

    ``"dawid_skene"``: the EM algorithm, per label (scalars: for all values at once), which
    estimates how often each rater misses a label and wrongly gives it. The error rates of a rater
    are shrunk to those of all raters together, by eight answers per true class, so that raters may
    have few units. A label (scalars: a value) that no two raters of a unit agreed on is excluded in
    units where nobody gave it. Assumes that raters err independently of each other, with constant
    rates over units. Confidence: the probability of the answer, with labels assumed independent;
    use `adjudicate_below` to flag units below, for example, 0.95. In simulated studies 97 to 99% of
    the answers above it were right, unless raters were poor; a warning is given if that is likely.
    The cost is at most labels x ratings x iterations; units without a label cost as much as one
    unit per panel of raters.

    ``"unanimous"``: the answer that all raters gave, or none.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Who gave what.
    method : {"label_majority", "medoid", "dawid_skene", "unanimous"}, optional
        How the answers of a unit are aggregated.
    threshold : float, optional
        Minimum share of raters (or probability) for a label; default 0.5, with which a label
        of exactly half of the raters is a tie.
    ties : {"missing", "plurality", "empty"}
        Answer of a unit that the votes do not decide; it is always flagged. With methods by label
        (``"label_majority"``, ``"dawid_skene"`` of label sets), this is a unit in which no label
        has a majority, and at most half of the raters gave the empty set (with ``"dawid_skene"``:
        none did). ``"missing"`` (default) gives it no answer; ``"plurality"`` takes all labels with
        the most votes (``"dawid_skene"``: those at exactly the threshold); ``"empty"`` takes the
        empty set, even if no rater gave it. If other labels have a majority, a tied label, given by
        exactly half of the raters, is left out; ``"plurality"`` includes it. Of equally good whole
        answers (``"medoid"``; ``"dawid_skene"`` of scalars), ``"missing"`` takes none, ``"empty"``
        the smallest and ``"plurality"`` the largest: by number of labels, by size for numbers, else
        in reading order. ``"unanimous"`` has no ties.
    distance : name, callable, Distance or labelled matrix, optional
        For the medoid. Default: MASI for label sets, else nominal: the most frequent value.
    adjudicate_below : float
        Units with less confidence are flagged, too.

    Returns
    -------
    Consensus

    Raises
    ------
    OptionError
        An option is unknown or does not fit the method.
    DataError
        The method does not fit the values.
    CostError
        Labels times ratings are too many for ``"dawid_skene"``.

    Warns
    -----
    ConvergenceWarning
        The algorithm of Dawid and Skene stopped before it converged.
    SetagreeWarning
        Its confidence may be too high: alpha (of a label; scalars: nominal) is below 0.2, or fewer
        than 20% of the units have a confidence above 0.95. Not judged if the rarer answers weigh
        less than four units. Or the study has clusters, weights, strata or a population size, which
        are ignored.

    References
    ----------
    Dawid and Skene (1979), Applied Statistics 28, 20-28.

    Examples
    --------
    >>> study = Annotations.from_triples([
    ...     ("ann", "u1", "joy, fear"), ("bob", "u1", "joy"), ("cem", "u1", "joy"),
    ...     ("ann", "u2", "joy"), ("bob", "u2", "fear"), ("cem", "u2", "anger"),
    ...     ("ann", "u3", set()), ("bob", "u3", set()),
    ... ])
    >>> agreed = consensus(study)
    >>> agreed.to_frame()[["unit", "support", "confidence", "adjudicate"]].round(2)
      unit  support  confidence  adjudicate
    0   u1     0.67        0.67       False
    1   u2      NaN         NaN        True
    2   u3     1.00        1.00       False
    >>> agreed.answers["u1"], agreed.to_frame()["reason"][1]
    (frozenset({'joy'}), 'no majority; no answer')
    """
    study = unweighted_units(study, "consensus")
    study = study.with_queued or study
    rule = Rule.of(study, method, threshold, ties, distance)
    check_share("adjudicate_below", adjudicate_below)
    decision = rule.decide(study)
    warn_unconverged(decision.n_unconverged)
    if decision.too_sure:
        labels = [label for label in decision.too_sure if label is not None]
        of = f" of {counted(len(labels), 'label')} ({listing(labels)})" if labels else ""
        warn(
            f"{option('method', 'dawid_skene')}: the confidence{of} may be too high, because alpha "
            f"is below {_POOR} or fewer than {_FEW_SURE:.0%} of the units have a confidence above "
            f"{_SURE}. Compare it with the majority, or have units adjudicated.",
            SetagreeWarning,
        )
    ratings = np.bincount(study.unit_codes, minlength=study.n_units)
    # The share of the raters of each unit who gave exactly its answer.
    codes_of = {value: code for code, value in enumerate(study.values)}
    as_given = np.array([codes_of.get(value, -2) for value in decision.values] + [-1])
    same = study.value_codes == as_given[decision.codes][study.unit_codes]
    share = np.bincount(study.unit_codes, same, study.n_units) / ratings
    support = np.where(decision.codes < 0, np.nan, share)
    bits = (
        decision.tied,
        decision.undecided,
        ratings == 1,
        decision.codes < 0,
        support == 0,
        decision.confidence < adjudicate_below,
    )
    doubts = np.asarray(sum(flag.astype(np.int64) << bit for bit, flag in enumerate(bits)))
    # Units without a rating follow.
    units, n = np.concatenate([study.units, study.unanswered]), (0, len(study.unanswered))
    codes = np.pad(decision.codes, n, constant_values=-1)
    support, confidence = np.pad(
        [support, decision.confidence], ((0, 0), n), constant_values=np.nan
    )
    ratings, doubts = np.pad(ratings, n), np.pad(doubts, n, constant_values=_NO_RATING)
    answers = (decision.values, codes, support, confidence, ratings, doubts, decision.rates)
    return Consensus(rule.method, study.kind, units, *answers)


def warn_unconverged(n: int) -> None:
    """Warn that error rates of some labels (or of all scalars) have not converged."""
    if n:
        warn(
            f"{option('method', 'dawid_skene')}: error rates of {counted(n, 'label')} had not "
            "converged after 1,000 iterations; the probabilities are not final.",
            ConvergenceWarning,
        )
