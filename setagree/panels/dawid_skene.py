"""EM algorithm of Dawid and Skene, for categories and for many labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from setagree.checks import check_cost
from setagree.coefficients.chance import Floats
from setagree.errors import option, python_or_command
from setagree.inference.panel_members import Codes, Flags
from setagree.study.annotations import Annotations
from setagree.study.codes import entries_of


@dataclass(frozen=True, eq=False)
class Fit:
    """Estimates of the EM algorithm, and whether each probability changed within the tolerance.

    T_ij of shape (n_units, n_classes) is the probability that the true answer of unit i is j, p_j
    the frequency of j, and pi_kjl the probability that rater k answers l if j is true; NaN if the
    rater has no unit that may be j.
    """

    posterior: Floats
    marginals: Floats
    error_rates: Floats
    n_iterations: int
    converged: bool


@dataclass(frozen=True, eq=False)
class Responses:
    """Answers of raters to units, possibly several by one rater to one unit.

    Positions of units, raters and answers, one entry per answer; `shape` is the number of units,
    raters and classes.
    """

    units: Codes
    raters: Codes
    answers: Codes
    shape: tuple[int, int, int]

    def shares(self) -> Floats:
        """Return the share of each class among the answers to a unit (their equation 3.1)."""
        n_units, _, n_classes = self.shape
        cells = self.units.astype(np.intp) * n_classes + self.answers
        counts = np.bincount(cells, minlength=n_units * n_classes).reshape(n_units, n_classes)
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def error_rates(self, T: Floats) -> Floats:
        """Return pi_kjl = sum_i T_ij n_kil / sum_l sum_i T_ij n_kil (2.3)."""
        _, n_raters, n_classes = self.shape
        cells = self.raters.astype(np.intp) * n_classes + self.answers
        rates = np.empty((n_raters, n_classes, n_classes))
        for j in range(n_classes):
            counts = np.bincount(cells, T[self.units, j], n_raters * n_classes)
            rates[:, j, :] = counts.reshape(n_raters, n_classes)
        return _normalised(rates, axis=2)

    def posterior(self, marginals: Floats, rates: Floats) -> Floats:
        """Return T_ij, in proportion to p_j prod_k prod_l pi_kjl ** n_kil (2.5)."""
        n_units, _, n_classes = self.shape
        logs = np.empty((n_units, n_classes))
        with np.errstate(divide="ignore"):
            # A rate without any unit belongs to a class that is impossible for all units of the
            # rater.
            log_rates, log_marginals = np.log(np.nan_to_num(rates)), np.log(marginals)
        for j in range(n_classes):
            each = log_rates[self.raters, j, self.answers]
            logs[:, j] = log_marginals[j] + np.bincount(self.units, each, n_units)
        logs -= logs.max(axis=1, keepdims=True)
        odds = np.exp(logs)
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _normalised(rates: Floats, axis: int) -> Floats:
    """Return rates over their sum along an axis, or NaN if that is 0."""
    seen = rates.sum(axis=axis, keepdims=True)
    return np.asarray(np.divide(rates, seen, out=np.full(rates.shape, np.nan), where=seen > 0))


def dawid_skene(
    responses: Responses, *, tolerance: float = 1e-5, max_iterations: int = 1000
) -> Fit:
    """Return the fit that EM reaches from the shares of the answers.

    Assumes that each unit has one true answer, and that raters err independently of each other
    given it, with rates that are constant over units.

    References
    ----------
    Dawid and Skene (1979), "Maximum likelihood estimation of observer error-rates using the EM
    algorithm", Applied Statistics 28.
    """
    T = responses.shares()
    moved, n_iterations = np.inf, 0
    while moved > tolerance and n_iterations < max_iterations:
        marginals, rates = T.mean(axis=0), responses.error_rates(T)
        before, T = T, responses.posterior(marginals, rates)
        moved = float(np.abs(T - before).max())
        n_iterations += 1
    return Fit(T, marginals, rates, n_iterations, moved <= tolerance)


_CELL_BLOCK_SIZE = 1_000_000
_SUMS = 4
"""Sums that each rating and label enters in an iteration."""
_ITERATIONS = 20
"""Typical number of iterations of a label."""
_STILL_GOING = 0.75
"""Share of labels still iterating below which converged ones are removed."""


def panels_of(study: Annotations) -> tuple[Codes, Any]:
    """Return the panel of raters of each unit, and the members of each panel, sparse, (P, R).

    Panels are hashed by the sums of two random numbers per rater, as in `code_sets`.
    """
    from scipy import sparse

    random = np.random.default_rng(0).integers(2**63, size=(2, study.n_raters), dtype=np.uint64)
    prints = np.zeros((study.n_units, 2), dtype=np.uint64)
    np.add.at(prints, study.unit_codes, random[:, study.rater_codes].T)
    _, first, panel = np.unique(prints, axis=0, return_index=True, return_inverse=True)
    cells = (np.ones(study.n_ratings), (study.unit_codes, study.rater_codes))
    return panel.ravel(), sparse.csr_array(cells, shape=(study.n_units, study.n_raters))[first]


@dataclass(frozen=True, eq=False)
class Question:
    """Some labels, the units with them, and the panels of the units without them.

    `rows` has the position in `labels` of each pair of a label and a unit with it, `entries` of
    shape (3, n_entries) the row, the rater and the answer (0 or 1) of each rating of such a unit,
    `times` of shape (P, B) the number of units of each of P panels without each of B labels.
    """

    labels: Codes
    rows: Codes
    entries: Codes
    panels: Any
    times: Floats

    @cached_property
    def asked(self) -> Any:
        """Indicator of each rater's answer in each row, sparse, (n_rows, 2 R B)."""
        from scipy import sparse

        R, B = self.panels.shape[1], len(self.labels)
        row, rater, answer = self.entries
        cells = (row, (answer * R + rater) * B + self.rows[row])
        return sparse.csr_array((np.ones(len(row)), cells), shape=(len(self.rows), 2 * R * B))

    @property
    def n_steps(self) -> int:
        """Cost of an iteration."""
        n_entries: int = self.entries.shape[1] + int(self.panels.nnz) * len(self.labels)
        return _SUMS * n_entries

    def take(self, kept: Flags) -> Question:
        """Return the data of some of the labels."""
        rows = kept[self.rows]
        entries = self.entries[:, rows[self.entries[0]]]
        entries = np.stack([(np.cumsum(rows) - 1)[entries[0]], *entries[1:]])
        place = np.cumsum(kept) - 1
        return replace(
            self,
            labels=self.labels[kept],
            rows=place[self.rows[rows]],
            entries=entries,
            times=self.times[:, kept],
        )

    def shares(self) -> tuple[Floats, Floats]:
        """Return the shares of no and yes: of the rows, (2, n_rows), and of the panels."""
        (row, _, answer), P = self.entries, self.times.shape
        n = np.bincount(row)
        shares = [np.bincount(row, each, len(self.rows)) / n for each in (1 - answer, answer)]
        return np.stack(shares), np.stack([np.ones(P), np.zeros(P)])

    def rates(self, T: Floats, S: Floats) -> Floats:
        """Return pi_jlkb = P(rater k answers l to label b | true answer j); (2, 2, R, B)."""
        R, B = self.panels.shape[1], len(self.labels)
        rates = np.stack([(self.asked.T @ T[j]).reshape(2, R, B) for j in (0, 1)])
        for j in (0, 1):
            rates[j, 0] += self.panels.T @ (self.times * S[j])
        return _normalised(rates, axis=1)

    def posterior(self, marginals: Floats, rates: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities of no and yes, of the rows and of the panels."""
        with np.errstate(divide="ignore"):
            logs, prior = np.log(np.nan_to_num(rates)), np.log(marginals)
        of_rows = [prior[j][self.rows] + self.asked @ logs[j].ravel() for j in (0, 1)]
        of_panels = [prior[j] + self.panels @ logs[j, 0] for j in (0, 1)]
        # A rate without any unit of a panel may make both answers impossible.
        told = self.times > 0
        return _odds(*of_rows), _odds(*(np.where(told, logs, 0.0) for logs in of_panels)) * told

    def marginals(self, T: Floats, S: Floats) -> Floats:
        """Return p_jb, the frequencies of no and yes."""
        B = len(self.labels)
        sums = [np.bincount(self.rows, T[j], B) + (self.times * S[j]).sum(axis=0) for j in (0, 1)]
        n = np.bincount(self.rows, minlength=B) + self.times.sum(axis=0)
        return np.asarray(np.stack(sums) / n)


@dataclass(frozen=True, eq=False)
class LabelFit:
    """Estimates for one label: its probability in each unit with it, and in those of each panel.

    `rates` of shape (2, R) are the probabilities that each rater omits the label if it is false,
    and gives it if it is true.
    """

    named: Floats
    panels: Floats
    rates: Floats
    converged: bool


def label_fits(
    study: Annotations, flags: Any, named: tuple[Codes, Codes], panel: Codes, panels: Any
) -> Iterator[LabelFit]:
    """Yield the fit of each label, computed in blocks.

    `flags` of shape (K, L) are those of the labels in each value, `named` the label and unit of
    each pair that was given, sorted by both, `panel` and `panels` what `panels_of` returns.
    """
    order = np.argsort(study.unit_codes, kind="stable")
    sizes = np.bincount(study.unit_codes, minlength=study.n_units)
    starts = np.append(0, np.cumsum(sizes))
    n_labels, entries = flags.shape[1], float(sizes[named[1]].sum())
    _check_steps(_ITERATIONS * _SUMS * (n_labels * float(panels.nnz) + entries))
    spent = 0.0
    cells = sum(panels.shape) + int(entries / max(n_labels, 1))
    at_once = max(1, _CELL_BLOCK_SIZE // cells)
    for first in range(0, n_labels, at_once):
        labels = np.arange(first, min(first + at_once, n_labels))
        some = slice(*np.searchsorted(named[0], (first, labels[-1] + 1)))
        rows, units = named[0][some] - first, named[1][some]
        row = np.repeat(np.arange(len(rows)), sizes[units])
        at = order[entries_of(starts, units)]
        answer = flags[:, labels].tocsr()[study.value_codes[at], rows[row]]
        times = np.bincount(panel, minlength=panels.shape[0])[:, None] - np.zeros(len(labels))
        np.subtract.at(times, (panel[units], rows), 1.0)
        who = study.rater_codes[at].astype(np.intp)
        asked = np.stack([row, who, np.asarray(answer).ravel().astype(np.intp)])
        fits, spent = _fits(Question(labels, rows, asked, panels, times), spent)
        yield from fits


def _fits(
    question: Question, spent: float, tolerance: float = 1e-5, max_iterations: int = 1000
) -> tuple[list[LabelFit], float]:
    """Return the fits that EM reaches from the shares of the answers, and the steps so far.

    Each label stops separately. Labels with little information may use all iterations, which cannot
    be predicted: the steps are counted during the iteration.
    """
    fits: dict[int, LabelFit] = {}
    T, S = question.shares()
    left, n = np.arange(len(question.labels)), 0
    while left.size:
        n, spent = n + 1, spent + question.n_steps
        _check_steps(spent)
        rates = question.rates(T, S)
        before, (T, S) = (T, S), question.posterior(question.marginals(T, S), rates)
        moved = np.abs(S[1] - before[1][1]).max(axis=0)
        np.maximum.at(moved, question.rows, np.abs(T[1] - before[0][1]))
        done = ((moved <= tolerance) | (n == max_iterations)) & ~np.isin(left, list(fits))
        bounds = np.searchsorted(question.rows, np.arange(len(left) + 1))
        for b in np.flatnonzero(done).tolist():
            named, right = T[1, bounds[b] : bounds[b + 1]], rates[[0, 1], [0, 1], :, b]
            fits[left[b]] = LabelFit(named, S[1, :, b], right, bool(moved[b] <= tolerance))
        going = ~np.isin(left, list(fits))
        if going.sum() <= _STILL_GOING * len(left):
            question, T = question.take(going), T[:, going[question.rows]]
            S, left = S[:, :, going], left[going]
    return [fits[b] for b in range(len(fits))], spent


def _odds(no: Floats, yes: Floats) -> Floats:
    """Return the probabilities of no and yes from their logs up to a constant."""
    apart = yes - no
    less = np.exp(-np.abs(apart))
    more, less = 1 / (1 + less), less / (1 + less)
    return np.stack([np.where(apart > 0, less, more), np.where(apart > 0, more, less)])


def _check_steps(n: float) -> None:
    what = python_or_command("consensus(method='dawid_skene')", "consensus --method dawid_skene")
    instead = f"Use {option('method', 'label_majority')}, or fewer labels."
    check_cost(what, n_steps=n, instead=instead)
