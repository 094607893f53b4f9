"""EM algorithm of Dawid and Skene, for categories and for many labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from setagree.checks import Codes, Flags, Floats, check_cost
from setagree.errors import option, python_or_command
from setagree.study.annotations import Annotations
from setagree.study.codes import entries_of

_BITS = 64
"""Number of members up to which a set is encoded with one bit per member."""

_CELL_BLOCK_SIZE = 1_000_000
_SUMS = 4
"""Sums that each rating and label enters in an iteration."""
_ITERATIONS = 20
"""Typical number of iterations of a label."""
_STILL_GOING = 0.75
"""Share of rows still iterating below which those of converged questions are removed."""
_PRIOR_ANSWERS = 8.0
"""m: answers with the rates of all raters that are added to those of a rater to each class."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Estimates of the EM algorithm, and whether each question converged.

    T_ij of shape (n_rows, n_classes) is the probability that the true answer in row i is j, and
    pi_kjl of shape (n_raters, n_classes, n_classes) the probability that rater k answers l if j is
    true.
    """

    posterior: Floats
    error_rates: Floats
    converged: Flags


def answer_counts(rows: Codes, raters: Codes, answers: Codes, shape: tuple[int, int, int]) -> Any:
    """Return n_kil in row i and column k J + l, sparse, for the shape (rows, raters, J classes)."""
    from scipy import sparse

    n_rows, n_raters, n_classes = shape
    cells = rows, raters.astype(np.intp) * n_classes + answers
    return sparse.csr_array((np.ones(len(rows)), cells), shape=(n_rows, n_raters * n_classes))


def dawid_skene(
    counts: Any,
    n_classes: int,
    questions: Codes | None = None,
    times: Floats | None = None,
    *,
    tolerance: float = 1e-5,
    max_iterations: int = 1000,
    on_iteration: Callable[[float], None] = lambda n_entries: None,  # noqa: ARG005
) -> Fit:
    r"""Return the fit of EM from the shares of the answers, with error rates that are shrunk.

    Assumes that each unit has one true answer, and that raters err independently of each other
    given it, with rates that are constant over units. The rates of a rater are shrunk to those of
    all raters together, because those of few answers alone give probabilities close to 0 and 1 that
    are often wrong:

    .. math::

        p_j &= (\textstyle\sum_i T_{ij} + 1) / (I + J) \\
        c_{kjl} &= \textstyle\sum_i T_{ij} n_{kil} \\
        \bar\pi_{jl} &= \textstyle (\sum_k c_{kjl} + 1 / J) / (\sum_k \sum_l c_{kjl} + 1) \\
        \pi_{kjl} &= (c_{kjl} + m \bar\pi_{jl}) / (\textstyle\sum_l c_{kjl} + m), \quad m = 8 \\
        T_{ij} &\propto p_j \textstyle\prod_k \prod_l \pi_{kjl}^{n_{kil}}

    If no row of a question has class j twice, T_ij = 0 in rows without j: answers that never agree
    on a class do not identify its error rates. The estimates would become equal to those of another
    class, and both classes equally probable in all units without j.

    Parameters
    ----------
    counts : sparse array
        `answer_counts`; those of one rater to several questions are counted as several raters.
    n_classes : int
        Number of classes.
    questions : ndarray of int, shape (n_rows,), optional
        The question of each row, which has its own frequencies of the classes, and stops when its
        probabilities change by at most the tolerance. Default: one question.
    times : ndarray of shape (n_rows,), optional
        Number of units with the answers of the row. Default: 1.
    tolerance, max_iterations
        Limits of the iteration.
    on_iteration : callable, optional
        Called before each iteration with its number of entries of `counts`.

    References
    ----------
    Dawid and Skene (1979), "Maximum likelihood estimation of observer error-rates using the EM
    algorithm", Applied Statistics 28, whose estimates are those without the terms of the prior.
    """
    n_rows, J = counts.shape[0], n_classes
    questions = np.zeros(n_rows, dtype=np.intp) if questions is None else questions
    times = np.ones(n_rows) if times is None else times
    n_units = np.bincount(questions, times)
    Q, n_cells = len(n_units), counts.shape[1]
    # T_ij = sum_k n_kij / sum_k sum_l n_kil (3.1); the axis of j is the first.
    T = np.stack([counts @ (np.arange(n_cells) % J == j).astype(float) for j in range(J)])
    # T_ij = 0 if n_ij = 0 and no n_hj > 1, where n_ij = sum_k n_kij
    lone = np.stack([np.bincount(questions, n_j > 1, Q) == 0 for n_j in T])
    never = (T == 0) & lone[:, questions]
    T /= T.sum(axis=0)
    posterior, rates = np.empty_like(T), np.empty((J, Q, n_cells // Q // J, J))
    rows, converged, left = np.arange(n_rows), np.zeros(Q, dtype=bool), np.ones(Q, dtype=bool)
    for n in range(1, max_iterations + 1):
        on_iteration(counts.nnz)
        M = T * times
        # p_j = (sum_i T_ij + 1) / (I + J)
        p = np.stack([np.bincount(questions, m, Q) + 1 for m in M]) / (n_units + J)
        # c_kjl = sum_i T_ij n_kil
        c = np.stack([(counts.T @ m).reshape(Q, -1, J) for m in M])
        # pool_jl = (sum_k c_kjl + 1 / J) / sum_l (sum_k c_kjl + 1 / J)
        pool = c.sum(axis=2, keepdims=True) + 1 / J
        pool /= pool.sum(axis=3, keepdims=True)
        # pi_kjl = (c_kjl + m pool_jl) / (sum_l c_kjl + m)
        pi = (c + _PRIOR_ANSWERS * pool) / (c.sum(axis=3, keepdims=True) + _PRIOR_ANSWERS)
        # T_ij is in proportion to p_j prod_k prod_l pi_kjl ** n_kil
        log_pi, log_p = np.log(pi), np.log(p)
        logs = np.stack([counts @ log_pi[j].ravel() + log_p[j][questions] for j in range(J)])
        logs[never] = -np.inf
        odds = np.exp(logs - logs.max(axis=0))
        before, T = T, odds / odds.sum(axis=0)
        moved = np.zeros(Q)
        np.maximum.at(moved, questions, np.abs(T - before).max(axis=0))
        done = left & ((moved <= tolerance) | (n == max_iterations))
        if not done.any():
            continue
        converged |= done & (moved <= tolerance)
        left &= ~done
        at, live = done[questions], left[questions]
        posterior[:, rows[at]] = T[:, at]
        rates[:, done] = pi[:, done]
        if not live.any():
            break
        if live.sum() <= _STILL_GOING * len(live):
            counts, T, never, rows = counts[live], T[:, live], never[:, live], rows[live]
            questions, times = questions[live], times[live]
    return Fit(posterior.T, rates.reshape(J, -1, J).swapaxes(0, 1), converged)


def set_codes(units: Codes, members: Codes, n_units: int, n_members: int) -> tuple[Codes, Codes]:
    """Return the code of each unit's set of members, and the first unit of each; units ascend.

    Sets of more than 64 members are hashed as the sums of two random numbers per member; the
    probability of a collision among a million distinct sets is below 1e-26.
    """
    number = np.uint64(1) << np.arange(min(n_members, _BITS), dtype=np.uint64)[None]
    if n_members > _BITS:
        number = np.random.default_rng(0).integers(2**63, size=(2, n_members), dtype=np.uint64)
    starts = np.flatnonzero(np.diff(units, prepend=-1))
    prints = np.zeros((len(number), n_units), dtype=np.uint64)
    if len(starts):
        prints[:, units[starts]] = np.add.reduceat(number[:, members], starts, axis=1)
    codes, *more = (pd.factorize(each)[0] for each in prints)
    for other in more:
        codes, _ = pd.factorize(codes + n_units * other)
    return codes, np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1))


def panels_of(study: Annotations) -> tuple[Codes, Any]:
    """Return the panel of raters of each unit, and the members of each panel, sparse, (P, R)."""
    from scipy import sparse

    order = np.argsort(study.unit_codes, kind="stable")
    shape = study.n_units, study.n_raters
    panel, first = set_codes(study.unit_codes[order], study.rater_codes[order], *shape)
    cells = (np.ones(study.n_ratings), (study.unit_codes, study.rater_codes))
    return panel, sparse.csr_array(cells, shape=shape)[first]


def label_fits(
    study: Annotations, flags: Any, named: tuple[Codes, Codes], panel: Codes, panels: Any
) -> Iterator[tuple[Floats, Floats, Floats, bool]]:
    """Yield the fit of each label, computed in blocks of labels.

    `flags` of shape (K, L) are those of the labels in each value, `named` the label and unit of
    each pair that was given, sorted by both, `panel` and `panels` what `panels_of` returns. A fit
    has the probability of the label in each unit with it, and in those without it of each panel;
    the probabilities, (2, R), that each rater omits the label if it is false, and gives it if it is
    true; and whether it converged.

    Labels with little information may use all iterations, which cannot be predicted: the steps are
    counted during the iteration.
    """
    order = np.argsort(study.unit_codes, kind="stable")
    sizes = np.bincount(study.unit_codes, minlength=study.n_units)
    starts = np.append(0, np.cumsum(sizes))
    (P, R), n_labels, entries = panels.shape, flags.shape[1], float(sizes[named[1]].sum())
    _check_steps(_ITERATIONS * _SUMS * (n_labels * float(panels.nnz) + entries))
    spent = 0.0

    def count(n_entries: float) -> None:
        nonlocal spent
        spent += _SUMS * n_entries
        _check_steps(spent)

    at_once = max(1, _CELL_BLOCK_SIZE // (panels.nnz + int(entries / max(n_labels, 1))))
    for first in range(0, n_labels, at_once):
        B = min(at_once, n_labels - first)
        ends = np.searchsorted(named[0], np.arange(first, first + B + 1))
        label, unit = (each[ends[0] : ends[-1]] for each in named)
        label, n = label - first, len(label)
        # A row for each unit with each label, and for the units of each panel without it.
        row = np.repeat(np.arange(n), sizes[unit])
        at = order[entries_of(starts, unit)]
        answer = flags[:, first : first + B].tocsr()[study.value_codes[at], label[row]]
        times = np.bincount(panel, minlength=P) - np.zeros((B, 1))
        np.subtract.at(times, (label, panel[unit]), 1.0)
        absent, without = np.nonzero(times)
        questions = np.concatenate([label, absent])
        rows = np.concatenate(
            [row, n + np.repeat(np.arange(len(without)), np.diff(panels.indptr)[without])]
        )
        raters = np.concatenate(
            [study.rater_codes[at], panels.indices[entries_of(panels.indptr, without)]]
        )
        answers = np.concatenate([np.asarray(answer).ravel(), np.zeros(len(rows) - len(row))])
        counts = answer_counts(
            rows, questions[rows] * R + raters, answers.astype(np.intp), (len(questions), B * R, 2)
        )
        weights = np.concatenate([np.ones(n), times[absent, without]])
        fit = dawid_skene(counts, 2, questions, weights, on_iteration=count)
        of_panels = np.zeros((B, P))
        of_panels[absent, without] = fit.posterior[n:, 1]
        right = fit.error_rates[:, [0, 1], [0, 1]].reshape(B, R, 2)
        for b, (start, end) in enumerate(zip(ends - ends[0], ends[1:] - ends[0], strict=False)):
            yield fit.posterior[start:end, 1], of_panels[b], right[b].T, bool(fit.converged[b])


def _check_steps(n: float) -> None:
    what = python_or_command("consensus(method='dawid_skene')", "consensus --method dawid_skene")
    instead = f"Use {option('method', 'label_majority')}, or fewer labels."
    check_cost(what, n_steps=n, instead=instead)
