"""Every coefficient again, for many reweightings of the units at once.

A reweighting says how often each unit counts, as in a bootstrap sample. The distance stays that of
the full study: its d_max, its mid-ranks, its list of values. What is undefined in one is nan there;
so is a chance term that a single unit would have to show.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.coefficients.chance import NOTHING, Case, Floats, Rated, reach
from setagree.coefficients.kappas import ac_scale, uniform_chance
from setagree.coefficients.multivalued import redrawn_disagreement, size_function
from setagree.weights.base import Weights

Replicates: TypeAlias = Callable[[Floats], Floats]
"""From weights of shape (B, n_rows) to estimates of shape (B,); rows are patterns, or units."""


def alpha_replicates(case: Case) -> Replicates:
    """Return Krippendorff's alpha as a function of the weights of the patterns."""
    used, r = case.tally.pairable, case.tally.pattern_ratings
    r = np.where(used, r, 0.0)
    q = np.where(used, case.disagreement / np.maximum(r - 1, 1), 0.0)
    counts = pattern_matrix(case, used.astype(float))

    def evaluate(M: Floats) -> Floats:
        N = M @ r
        expected = quadratic(case.weights, counts.T @ M.T) * several(M[:, used])
        return one_minus(M @ q, expected / (N - 1))

    return evaluate


def fleiss_replicates(case: Case) -> Replicates:
    """Return Fleiss' kappa (two raters: Scott's pi) as a function of the weights."""
    shares, d_max = pattern_matrix(case, 1 / case.tally.pattern_ratings), case.weights.max_distance

    def evaluate(M: Floats) -> Floats:
        pi = shares.T @ M.T / M.sum(axis=1)
        return one_minus(observed(case, M), quadratic(case.weights, pi) / d_max * several(M))

    return evaluate


def ac_replicates(case: Case) -> Replicates:
    """Return Gwet's AC1 or AC2 as a function of the weights."""
    shares, scale = pattern_matrix(case, 1 / case.tally.pattern_ratings), ac_scale(case.weights)

    def evaluate(M: Floats) -> Floats:
        pi = shares.T @ M.T / M.sum(axis=1)
        return one_minus(observed(case, M), ac_chance(pi, scale) * several(M))

    return evaluate


def brennan_prediger_replicates(case: Case) -> Replicates:
    """Return the Brennan-Prediger coefficient as a function of the weights."""
    return lambda M: one_minus(observed(case, M), np.full(len(M), uniform_chance(case.weights)))


def percent_replicates(case: Case) -> Replicates:
    """Return the percent agreement as a function of the weights."""
    return lambda M: one_minus(observed(case, M), np.ones(len(M)))


def mv_alpha_replicates(case: Case) -> Replicates:
    """Return mv-alpha as a function of the weights; one replicate after the other."""
    used, r = case.tally.pairable, case.tally.pattern_ratings
    r = np.where(used, r, 0.0)
    q = np.where(used, case.disagreement / np.maximum(r - 1, 1), 0.0)
    counts = pattern_matrix(case, used.astype(float))

    def evaluate(M: Floats) -> Floats:
        totals, distance = counts.T @ M.T, size_function(case.distance)
        expected = [redrawn_disagreement(case.tally.values, n, distance) for n in totals.T]
        whole = beyond_rounding(np.array(expected), case.weights.max_distance)
        return one_minus(M @ q, whole * (M @ r) * several(M[:, used]))

    return evaluate


def conger_replicates(case: Case) -> Replicates:
    """Return Conger's kappa (two raters: Cohen's) as a function of the weights of the rows.

    A rater who has no rating in a reweighting is left out of it.
    """
    rated, d_max, K = case.rated, case.weights.max_distance, case.weights.n_values
    answers = [rater_matrix(rated, g, K) for g in range(rated.n_raters)]
    x, used = case.mean_disagreement[rated.patterns], case.tally.pairable[rated.patterns]

    def evaluate(M: Floats) -> Floats:
        pooled, own, raters = np.zeros((K, len(M))), np.zeros(len(M)), np.zeros(len(M))
        for matrix in answers:
            totals = matrix.T @ M.T
            given = totals.sum(axis=0)
            shares = totals / np.where(given > 0, given, 1)
            pooled += shares
            own += quadratic(case.weights, shares)
            raters += given > 0
        pairs = np.where(raters > 1, raters * (raters - 1), np.nan)
        both = quadratic(case.weights, pooled)
        chance = beyond_rounding(both - own, both) / (pairs * d_max)
        return one_minus(_mean(M, x, used), chance * several(M))

    return evaluate


def observed(case: Case, M: Floats) -> Floats:
    """Return 1 - pa for each reweighting: the mean of x_i over its pairable units."""
    return _mean(M, case.mean_disagreement, case.tally.pairable)


def several(M: Floats) -> npt.NDArray[np.bool_]:
    """Return which reweightings have more than one unit; one cannot show what chance would do."""
    return np.asarray(M.sum(axis=1) != 1)


def quadratic(weights: Weights, x: Floats) -> Floats:
    """Return x_b' D x_b for each column of x >= 0, of shape (K, B); 0 for what is but rounding."""
    x = np.ascontiguousarray(x)
    out = np.asarray(np.einsum("kb,kb->b", x, weights.distance_dot(x)))
    mass = x.sum(axis=0) ** 2
    # Few are so small that it must be asked how far apart their own values are.
    for b in np.flatnonzero(out <= NOTHING * weights.max_distance * mass):
        out[b] = beyond_rounding(out[b], reach(weights, x[:, b]) * mass[b])
    return out


def ac_chance(pi: Floats, scale: float) -> Floats:
    """Return 1 - pe of Gwet's AC for each column of shares pi, of shape (K, B)."""
    return beyond_rounding(1 - scale * (pi * (1 - pi)).sum(axis=0), 1.0)


def beyond_rounding(whole: Floats, scale: Floats | float) -> Floats:
    """Return the whole, and 0 where rounding cannot tell it from 0 beside the scale."""
    return np.where(whole > NOTHING * scale, whole, 0.0)


def one_minus(part: Floats, whole: Floats) -> Floats:
    """Return 1 - part / whole, nan where the whole is nothing."""
    defined = (whole > 0) & np.isfinite(part)
    out = np.full(np.shape(whole), np.nan)
    return np.asarray(1 - np.divide(part, whole, out=out, where=defined))


def pattern_matrix(case: Case, factor: Floats) -> Any:
    """Return the counts (n_patterns, K) times a factor for each pattern, as a sparse array."""
    from scipy import sparse

    tally = case.tally
    counts = tally.counts * factor[tally.rows]
    return sparse.csr_array(
        (counts, tally.indices, tally.indptr), shape=(tally.n_patterns, case.weights.n_values)
    )


def rater_matrix(rated: Rated, g: int, n_values: int) -> Any:
    """Return which value rater g gave in each row, as a sparse array of shape (n_rows, K)."""
    from scipy import sparse

    kept = np.flatnonzero(rated.rater_codes == g)
    return sparse.coo_array(
        (np.ones(len(kept)), (rated.row_codes[kept], rated.value_codes[kept])),
        shape=(len(rated.row_times), n_values),
    ).tocsr()


def _mean(M: Floats, x: Floats, used: npt.NDArray[np.bool_]) -> Floats:
    n = M @ used.astype(float)
    out = np.full(len(M), np.nan)
    return np.asarray(np.divide(M @ np.where(used, x, 0.0), n, out=out, where=n > 0))
