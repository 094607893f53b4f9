"""How a unit's answers become one: majority of each label, medoid, Dawid and Skene, unanimity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from setagree.coefficients.chance import Floats
from setagree.credit.base import Weights, reading_key
from setagree.credit.geometry import SetGeometry
from setagree.credit.pairs import sums_to_others
from setagree.errors import OptionError, option
from setagree.inference.raters import Codes, Flags
from setagree.panels.dawid_skene import Responses, dawid_skene
from setagree.panels.label_errors import label_fits, panels_of
from setagree.progress import track
from setagree.study.annotations import Annotations
from setagree.study.codes import entries_of

Ties: TypeAlias = Literal["missing", "plurality", "empty"]

_ROUNDING = 1e-9
"""What rounding may change in a share or a probability."""

_IN_SUMS = 1e-12
"""The share of a sum of distances that rounding may change."""

_MOST_RATES = 20_000_000
"""Error rates (raters x values x values) beyond which the algorithm is refused; 160 MB."""

_LONG_WORK = 20_000_000

_DENSE = 4
"""Cells of units times labels for each label that was given, up to which cells are counted."""

_BITS = 64
"""Labels up to which a set is told apart from all others by one bit for each."""


@dataclass(frozen=True, eq=False)
class Decision:
    """One answer for each unit.

    Attributes
    ----------
    values : tuple
        The distinct answers.
    codes : ndarray of shape (n_units,)
        Positions in `values`; -1 where there is no answer.
    confidence : ndarray of shape (n_units,)
        In [0, 1]; nan where there is no answer.
    tied : ndarray of bool, shape (n_units,)
        Where a label, or a whole answer, is tied.
    undecided : ndarray of bool, shape (n_units,)
        Where no label has a majority, and "no label" has none either.
    rates : ndarray of shape (n_rows, 4) or None
        Rater, label, and how often the rater gives the label where it is true, and keeps from it
        where it is not.
    n_unconverged : int
        Labels whose error rates still moved at the end.
    """

    values: tuple[Any, ...]
    codes: Codes
    confidence: Floats
    tied: Flags
    undecided: Flags
    rates: Floats | None = None
    n_unconverged: int = 0


@dataclass(frozen=True, eq=False)
class Ballot:
    """The answers of a study, counted by unit."""

    study: Annotations

    @cached_property
    def ratings(self) -> Floats:
        """How many answers each unit has."""
        study = self.study
        return np.bincount(study.unit_codes, minlength=study.n_units).astype(np.float64)

    @cached_property
    def cells(self) -> tuple[Codes, Codes, Floats]:
        """Unit, value and count of each distinct answer of a unit, sorted by unit."""
        keys = self.study.unit_codes.astype(np.int64) * self.study.n_values + self.study.value_codes
        distinct, counts = np.unique(keys, return_counts=True)
        units, values = np.asarray(np.divmod(distinct, self.study.n_values), dtype=np.intp)
        return units, values, counts.astype(np.float64)

    @cached_property
    def empty(self) -> Floats:
        """How many raters of each unit gave the empty set."""
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
        study, L = self.study, max(1, len(self.geometry.labels))
        if study.n_units * L <= _DENSE * int(self.geometry.sizes[study.value_codes].sum()):
            table = self._table.ravel()
            found = np.flatnonzero(table > 0)
            counts = table[found]
        else:
            found, counts = np.unique(self._memberships, return_counts=True)
        units = found // L  # much faster than divmod
        labels = (found - units * L).astype(np.intp)
        return units.astype(np.intp), labels, counts.astype(np.float64)

    @property
    def _memberships(self) -> Codes:
        """The cells of a table of units and labels that each label of each answer stands for."""
        study, geometry = self.study, self.geometry
        cells = np.repeat(study.unit_codes, geometry.sizes[study.value_codes]).astype(np.int64)
        cells *= max(1, len(geometry.labels))
        return cells + geometry.indices[entries_of(geometry.indptr, study.value_codes)]

    @property
    def _table(self) -> Codes:
        """How many raters gave each label to each unit, of shape (n_units, n_labels)."""
        study = self.study
        shape, r = (study.n_units, max(1, len(self.geometry.labels))), int(self.ratings[0])
        regular = study.n_ratings == r * study.n_units
        if not regular or (study.unit_codes != np.repeat(np.arange(study.n_units), r)).any():
            return np.bincount(
                self._memberships.astype(np.intp), minlength=shape[0] * shape[1]
            ).reshape(shape)
        flags = self.geometry.flags.toarray().astype(np.int32)
        rows = study.value_codes.reshape(-1, r).T
        return np.asarray(sum(flags.take(row, axis=0) for row in rows))


def label_majority(ballot: Ballot, threshold: float, ties: Ties) -> Decision:
    """Take each label that enough raters of the unit gave.

    A unit is undecided where no label is taken and no more than half of its raters gave the empty
    set. The confidence is the smallest share of raters behind any of the decisions.
    """
    units, _, counts = ballot.votes
    n = ballot.study.n_units
    share = counts / ballot.ratings[units]
    tied = (2 * counts == ballot.ratings[units]) & (threshold == 0.5)
    taken = (share >= threshold - _ROUNDING) & ~tied
    undecided = _without(units, taken, n) & (2 * ballot.empty <= ballot.ratings)
    if ties == "plurality":
        # Where "no label" has more votes than any label, it is the answer.
        most = np.maximum(-_least(units, -counts, n), ballot.empty)
        taken |= tied | (undecided[units] & (counts == most[units]))
    confidence = np.minimum(_least(units, np.where(taken, share, 1 - share), n), 1)
    any_tied = np.bincount(units, tied, n) > 0
    return _of_labels(ballot, taken, confidence, any_tied, undecided, ties)


def label_dawid_skene(ballot: Ballot, threshold: float, ties: Ties) -> Decision:
    """Take each label that is probable enough by the algorithm of Dawid and Skene, one by one.

    Labels that nobody gave to the unit are never taken, whatever their probability. A unit is
    undecided where no label is taken and nobody gave the empty set. The confidence is the
    probability of all decisions at once, the labels taken as independent.
    """
    study, (units, labels, _) = ballot.study, ballot.votes
    n_labels = len(ballot.geometry.labels)
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(n_labels + 1))
    panel, panels = panels_of(study)
    taken, tied = np.zeros(len(units), dtype=bool), np.zeros(study.n_units, dtype=bool)
    logs, rates, unconverged = np.zeros(study.n_units), [], 0
    fits = label_fits(study, ballot.geometry.flags, (labels[order], units[order]), panel, panels)
    long = n_labels * study.n_ratings > _LONG_WORK
    for l, fit in enumerate(track(fits, total=n_labels, what="labels", long=long)):
        named, p = order[starts[l] : starts[l + 1]], fit.named
        close = np.abs(p - threshold) <= _ROUNDING
        taken[named] = (p > threshold) & ~close | close & (ties == "plurality")
        tied[units[named][close]] = True
        with np.errstate(divide="ignore"):
            each = np.log(1 - fit.panels)[panel]
            each[units[named]] = np.log(np.where(taken[named], p, 1 - p))
        logs += each
        which = np.full(study.n_raters, l)
        rates.append(np.column_stack([np.arange(len(which)), which, *fit.rates[::-1]]))
        unconverged += not fit.converged
    undecided = _without(units, taken, study.n_units) & (ballot.empty == 0)
    decision = _of_labels(ballot, taken, np.exp(logs), tied, undecided, ties)
    table = np.concatenate(rates) if rates else np.zeros((0, 4))
    return replace(decision, rates=table, n_unconverged=unconverged)


def value_dawid_skene(ballot: Ballot, ties: Ties) -> Decision:
    """Take the most probable of a unit's values by the algorithm of Dawid and Skene."""
    study = ballot.study
    shape = (study.n_units, study.n_raters, study.n_values)
    if max(study.n_raters * study.n_values, study.n_units) * study.n_values > _MOST_RATES:
        raise OptionError(
            f"{option('method', 'dawid_skene')} has an error rate for each rater between any two "
            f"values; {study.n_raters:,} raters and {study.n_values:,} values are too many. Use "
            "'medoid'."
        )
    fit = dawid_skene(Responses(study.unit_codes, study.rater_codes, study.value_codes, shape))
    units, values, _ = ballot.cells
    p = fit.posterior[units, values]
    likely = p >= -_least(units, -p, study.n_units)[units] - _ROUNDING
    codes, tied = _best(ballot, likely, ties)
    confidence = fit.posterior[np.arange(study.n_units), codes]
    decision = _of_answers(ballot, codes, confidence, tied, ties)
    return replace(decision, n_unconverged=int(not fit.converged))


def medoid(ballot: Ballot, weights: Weights, ties: Ties) -> Decision:
    """Take the answer of the unit that is nearest to all of its answers.

    Sums are told apart by how much they differ beside their own size, so that distances elsewhere
    have no say. The confidence is the mean credit 1 - d / d_max of the answers for it.
    """
    units, values, counts = ballot.cells
    sums = sums_to_others(units, values, counts, weights)
    least = _least(units, sums, ballot.study.n_units)
    codes, tied = _best(ballot, sums <= least[units] * (1 + _IN_SUMS), ties)
    confidence = 1 - least / ballot.ratings / weights.max_distance
    return _of_answers(ballot, codes, confidence, tied, ties)


def unanimous(ballot: Ballot) -> Decision:
    """Take the answer that all raters of the unit gave; else there is none."""
    units, values, _ = ballot.cells
    n = ballot.study.n_units
    alone = np.bincount(units, minlength=n) == 1
    codes = np.full(n, -1)
    codes[units] = values
    codes[~alone] = -1
    confidence = np.where(alone, 1.0, np.nan)
    none = np.zeros(n, dtype=bool)
    return Decision(ballot.study.values, codes, confidence, none, none)


def code_sets(
    units: Codes, labels: Codes, n_units: int, names: list[Any]
) -> tuple[Codes, tuple[Any, ...]]:
    """Return which label set each unit has, and the distinct sets; units ascend.

    Sets of more than 64 labels are told apart by the sums of two random numbers a label; that two
    of a million differing sets share both has a probability below 1e-26.
    """
    number = np.uint64(1) << np.arange(min(len(names), _BITS), dtype=np.uint64)[None]
    if len(names) > _BITS:
        number = np.random.default_rng(0).integers(2**63, size=(2, len(names)), dtype=np.uint64)
    starts = _starts(units)
    prints = np.zeros((len(number), n_units), dtype=np.uint64)
    if len(starts):
        prints[:, units[starts]] = np.add.reduceat(number[:, labels], starts, axis=1)
    codes, *more = (pd.factorize(each)[0] for each in prints)
    for other in more:
        codes, _ = pd.factorize(codes + n_units * other)
    first = np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1))
    ends = np.searchsorted(units, [first, first + 1])
    sets = [frozenset(names[k] for k in labels[a:b]) for a, b in ends.T.tolist()]
    return codes, tuple(sets)


def _of_labels(
    ballot: Ballot, taken: Flags, confidence: Floats, tied: Flags, undecided: Flags, ties: Ties
) -> Decision:
    """Return the sets of the labels that were taken, none where the rule is to leave it open."""
    units, labels, _ = ballot.votes
    n, names = ballot.study.n_units, ballot.geometry.labels
    codes, values = code_sets(units[taken], labels[taken], n, names)
    gone = undecided & (ties == "missing")
    codes, confidence = np.where(gone, -1, codes), np.where(gone, np.nan, confidence)
    return Decision(values, codes, confidence, tied, undecided)


def _of_answers(
    ballot: Ballot, codes: Codes, confidence: Floats, tied: Flags, ties: Ties
) -> Decision:
    """Return the decision between whole answers, none for ties where the rule is to have none."""
    gone = tied & (ties == "missing")
    codes, confidence = np.where(gone, -1, codes), np.where(gone, np.nan, confidence)
    return Decision(ballot.study.values, codes, confidence, tied, np.zeros_like(tied))


def _without(units: Codes, taken: Flags, n_units: int) -> Flags:
    """Say which units have no label that is taken."""
    return np.asarray(np.bincount(units, taken, n_units) == 0)


def _least(units: Codes, cost: Floats, n_units: int) -> Floats:
    """Return the least cost of each unit, infinite where there is none; units ascend."""
    least = np.full(n_units, np.inf)
    starts = _starts(units)
    if len(starts):
        least[units[starts]] = np.minimum.reduceat(cost, starts)
    return least


def _starts(units: Codes) -> Codes:
    """Return where the entries of each unit begin; units ascend."""
    begins = np.ones(len(units), dtype=bool)
    np.not_equal(units[1:], units[:-1], out=begins[1:])
    return np.flatnonzero(begins)


def _best(ballot: Ballot, near: Flags, ties: Ties) -> tuple[Codes, Flags]:
    """Return one of the best answers of each unit, and where several are as good.

    Of these ``"plurality"`` takes the last in reading order, any other rule the first: numbers by
    size, label sets by how many labels they have, the rest as text.
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
