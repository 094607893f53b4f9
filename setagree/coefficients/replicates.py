"""Every coefficient again, for many reweightings of the units at once.

A reweighting says how often each unit counts, as in a bootstrap sample. The distance stays that of
the full study: its d_max, its mid-ranks, its list of values. What is undefined in one is nan there;
so is a chance term that a single unit would have to show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.coefficients.chance import Case, Floats, Rated
from setagree.coefficients.models import Fixed, Model, Redrawn, Urn, UrnOfEachRater, one_minus

Replicates: TypeAlias = Callable[[Floats], Floats]
"""From weights of shape (B, n_rows) to estimates of shape (B,); rows are patterns, or units."""


def replicates(case: Case, model: Model) -> Replicates:
    """Return the coefficient as a function of the weights of its rows.

    Raises
    ------
    TypeError
        The model is of no kind that can be reweighted.
    """
    match model:
        case Fixed():
            return _fixed(case, model)
        case UrnOfEachRater():
            return _rater_by_rater(case, model)
        case Urn() | Redrawn():
            return _by_ratings(case, model) if model.weigh == "ratings" else _by_units(case, model)
    raise TypeError(f"{model!r} is not a model of chance that can be reweighted")


def _by_ratings(case: Case, model: Urn | Redrawn) -> Replicates:
    used, d_max = case.tally.pairable, case.weights.max_distance
    r = np.where(used, case.tally.pattern_ratings, 0.0)
    q = np.where(used, case.disagreement / np.maximum(r - 1, 1), 0.0)
    counts = pattern_matrix(case, used.astype(float))

    def evaluate(M: Floats) -> Floats:
        N = _dots(M, r)
        chance = model.chance(case, counts.T @ M.T, own=N) * (_dots(M, used) != 1)
        return one_minus(_dots(M, q), chance * d_max * N)

    return evaluate


def _by_units(case: Case, model: Urn | Redrawn) -> Replicates:
    shares = pattern_matrix(case, 1 / case.tally.pattern_ratings)

    def evaluate(M: Floats) -> Floats:
        return one_minus(_observed(case, M), model.chance(case, shares.T @ M.T) * several(M))

    return evaluate


def _fixed(case: Case, model: Fixed) -> Replicates:
    level = model.level(case)
    return lambda M: one_minus(_observed(case, M), np.full(len(M), level))


def _rater_by_rater(case: Case, model: UrnOfEachRater) -> Replicates:
    """Return the same for a model that asks who; raters without a rating are left out."""
    rated, K = case.rated, case.weights.n_values
    answers = [rater_matrix(rated, g, K) for g in range(rated.n_raters)]
    x, used = case.mean_disagreement[rated.patterns], case.tally.pairable[rated.patterns]

    def totals(M: Floats) -> Iterator[Floats]:
        for matrix in answers:
            yield (matrix.T @ M.T)[:, None]

    def evaluate(M: Floats) -> Floats:
        return one_minus(_mean(M, x, used), model.chance(case, totals(M)) * several(M))

    return evaluate


def several(M: Floats) -> npt.NDArray[np.bool_]:
    """Return which reweightings have more than one unit; one cannot show what chance would do."""
    return np.asarray(M.sum(axis=1) != 1)


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


def _observed(case: Case, M: Floats) -> Floats:
    """Return 1 - pa for each reweighting: the mean of x_i over its pairable units."""
    return _mean(M, case.mean_disagreement, case.tally.pairable)


def _dots(M: Floats, x: Floats | npt.NDArray[np.bool_]) -> Floats:
    """Return M @ x: not by BLAS, whose threads cost more than they save."""
    return np.asarray(np.einsum("bp,p->b", M, x.astype(np.float64)))


def _mean(M: Floats, x: Floats, used: npt.NDArray[np.bool_]) -> Floats:
    n, out = _dots(M, used), np.full(len(M), np.nan)
    return np.asarray(np.divide(_dots(M, np.where(used, x, 0.0)), n, out=out, where=n > 0))
