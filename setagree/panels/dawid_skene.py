"""The EM algorithm of Dawid and Skene: true answers and error rates from answers alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setagree.coefficients.chance import Floats
from setagree.inference.raters import Codes


@dataclass(frozen=True, eq=False)
class Fit:
    """What the algorithm found.

    Attributes
    ----------
    posterior : ndarray of shape (n_units, n_classes)
        T_ij, the probability that the true answer of unit i is j.
    marginals : ndarray of shape (n_classes,)
        p_j, how frequent the true answers are.
    error_rates : ndarray of shape (n_raters, n_classes, n_classes)
        pi_kjl, the probability that rater k answers l where j is true; nan where the rater saw no
        unit that may be j.
    n_iterations : int
        How often both steps were made.
    converged : bool
        Whether no probability moved further than the tolerance at last.
    """

    posterior: Floats
    marginals: Floats
    error_rates: Floats
    n_iterations: int
    converged: bool


@dataclass(frozen=True, eq=False)
class Responses:
    """Who answered what; a rater may answer a unit more than once.

    Positions of units, raters and answers, one entry an answer; `shape` says how many units, raters
    and classes there are.
    """

    units: Codes
    raters: Codes
    answers: Codes
    shape: tuple[int, int, int]

    def shares(self) -> Floats:
        """Return how often each class was the answer to a unit (their equation 3.1)."""
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
        seen = rates.sum(axis=2, keepdims=True)
        out = np.full(rates.shape, np.nan)
        return np.asarray(np.divide(rates, seen, out=out, where=seen > 0))

    def posterior(self, marginals: Floats, rates: Floats) -> Floats:
        """Return T_ij, in proportion to p_j prod_k prod_l pi_kjl ** n_kil (2.5)."""
        n_units, _, n_classes = self.shape
        logs = np.empty((n_units, n_classes))
        with np.errstate(divide="ignore"):
            # A rate that no unit tells about belongs to a class that no unit of the rater can have.
            log_rates, log_marginals = np.log(np.nan_to_num(rates)), np.log(marginals)
        for j in range(n_classes):
            each = log_rates[self.raters, j, self.answers]
            logs[:, j] = log_marginals[j] + np.bincount(self.units, each, n_units)
        logs -= logs.max(axis=1, keepdims=True)
        odds = np.exp(logs)
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def dawid_skene(
    responses: Responses, *, tolerance: float = 1e-5, max_iterations: int = 1000
) -> Fit:
    """Return the fit that EM reaches from the shares of the answers.

    It assumes that a unit has one true answer and that raters err independently of each other given
    it, each with rates that are the same for all units.

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
