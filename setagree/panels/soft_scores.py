"""Scores of a model against the shares of people who gave each label, where people differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import pandas as pd

from setagree.checks import Codes, Floats, Rng, as_generator, check_cost, check_least, check_level
from setagree.coefficients.case import ROUNDING
from setagree.errors import DataError, option
from setagree.inference.panel_members import unweighted_units
from setagree.inference.prevalence import label_flags, vote_shares, with_one_model
from setagree.inference.resampling import random_ranks
from setagree.large.opening import Data, ModelReadingOptions, RaterAnswers, takes_data
from setagree.scoring.intervals import t_interval
from setagree.wording.label_sets import Degrees


@takes_data
def soft_scores(
    study: Data,
    *more: RaterAnswers,
    model: Any = None,
    humans: Sequence[object] | None = None,
    level: float = 0.95,
    n_splits: int = 20,
    rng: Rng = None,
    **options: Unpack[ModelReadingOptions],
) -> pd.DataFrame:
    """Return scores of the degrees of a model against the shares of people with each label.

    With p_il the share of the people of unit i who gave label l (the mean degree, if they gave
    degrees), q_il the degree of the model (1 or 0 for a label set), H the entropy in bits of p and
    1 - p (of categories, of their distribution), and means over units and labels::

        jensen_shannon_divergence = mean of H((p + q) / 2) - (H(p) + H(q)) / 2     0 is best
        soft_micro_f1 = 2 sum_il min(p, q) / sum_il (p + q)
        soft_macro_f1 = mean over labels of 2 sum_i min(p, q) / sum_i (p + q)
        entropy_correlation = mean over labels of Pearson's r of H(p) and H(q) over units

    Labels that nobody gave, or whose entropies do not vary, are left out of the last two. The
    ceiling is the score of one half of the people of each unit against the other; halves are noisy,
    so that a model may exceed it.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        The answers of people, perhaps with those of the model: label sets or categories.
    model, humans
        As in `prevalence`; degrees (`degree=`) are from 0 to 1.
    level : float
        The level of the t intervals over units, from linearised values, cut at the least score.
    n_splits, rng : int, and int or numpy Generator, optional
        Number of random halves for the ceiling, and their seed.

    Returns
    -------
    DataFrame
        One row per score: score, estimate, standard_error, low, high, ceiling (NaN if no unit has
        two people), n_units (with answers of both).

    Raises
    ------
    DataError
        No unit has answers of both, a degree is above 1, or values are numbers.

    References
    ----------
    Kurniawan, Mistica, Baldwin & Lau (2025), "Training and evaluating with human label variation".

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(100, 5, skill=[0.7, 0.7, 0.7, 0.7, 0.8], rng=1)
    >>> sa.soft_scores(study, model="r5", rng=1)[["score", "estimate", "ceiling"]].round(3).head(3)
                           score  estimate  ceiling
    0  jensen_shannon_divergence     0.129    0.128
    1              soft_micro_f1     0.700    0.695
    2              soft_macro_f1     0.696    0.696
    """
    check_level(level)
    check_least("n_splits", n_splits, 1)
    study = unweighted_units(study, "soft_scores")
    joined, _, answers, rows = with_one_model(study, model, humans)
    rows &= answers[joined.unit_codes] >= 0
    units, unit = np.unique(joined.unit_codes[rows], return_inverse=True)
    if not (n := len(units)):
        raise DataError("no unit has an answer of the model and of a human.")
    degrees, names = label_flags(joined.values, joined.kind)
    for k, value in enumerate(joined.values):
        if isinstance(value, Degrees):
            entries = slice(*degrees.indptr[k : k + 2])
            degrees.data[entries] = [value.degrees[names[l]] for l in degrees.indices[entries]]
    if degrees.data.max(initial=0) > 1:
        raise DataError(f"a degree is above 1; divide {option('degree')} by its largest value.")
    check_cost("The shares of labels", n_bytes=80 * n * len(names), instead="Take a part.")
    values, rng = joined.value_codes[rows], as_generator(rng)
    p, q = vote_shares(unit, values, degrees).toarray(), degrees[answers[units]].toarray()
    estimates, psi = _scores(p, q, joined.kind)
    halves = _halves(degrees, unit, values, rng, n_splits)
    ceilings = [_scores(one, other, joined.kind)[0] for one, other in halves]
    frame = pd.DataFrame({"estimate": estimates, "standard_error": psi.std() / np.sqrt(n)})
    ends = [t_interval(x, error, n - 1.0, level) for x, error in frame.to_numpy()]
    frame[["low", "high"]] = np.maximum(ends, [[0], [0], [0], [-1]])
    frame["ceiling"] = pd.DataFrame(ceilings, columns=frame.index, dtype=float).mean()
    return frame.assign(n_units=n).rename_axis("score").reset_index()


def _halves(degrees: Any, unit: Codes, values: Codes, rng: Any, n_splits: int) -> Any:
    """Yield the shares of two random halves of the people of each unit with at least two."""
    several = np.bincount(unit)[unit] > 1
    unit, values = np.unique(unit[several], return_inverse=True)[1], values[several]
    for _ in range(n_splits if len(unit) else 0):
        first = random_ranks(unit, rng) < np.bincount(unit)[unit] // 2
        parts = (first, ~first)
        yield tuple(vote_shares(unit[part], values[part], degrees).toarray() for part in parts)


def _scores(p: Floats, q: Floats, kind: str) -> tuple[pd.Series[float], pd.DataFrame]:
    """Return the scores, and their linearised values by unit; p and q are (n_units, n_labels).

    Each score is the mean over labels of R = sum_i a_i / sum_i b_i, with the linearised values
    n (a_i - R b_i) / sum b; labels whose sum b is 0 are left out.
    """
    from scipy.special import entr

    def entropy(x: Floats) -> Floats:
        """Return the entropy in bits of each label, or of the distribution of categories."""
        nats = entr(x) + entr(1 - x) if kind == "labels" else entr(x).sum(axis=1, keepdims=True)
        return np.asarray(nats / np.log(2))

    x, y, both, either = entropy(p), entropy(q), 2 * np.minimum(p, q), p + q
    divergence = np.maximum(entropy(either / 2) - (x + y) / 2, 0.0)
    # r = sum x y / sum (x² + y²) / 2 of standardised entropies
    spread = (np.where(np.ptp(e, axis=0) > ROUNDING, e.std(axis=0), np.nan) for e in (x, y))
    x, y = ((e - e.mean(axis=0)) / sd for e, sd in zip((x, y), spread, strict=True))
    ratios = {
        "jensen_shannon_divergence": (divergence, np.ones_like(divergence)),
        "soft_micro_f1": [each.sum(axis=1, keepdims=True) for each in (both, either)],
        "soft_macro_f1": (both, either),
        "entropy_correlation": (x * y, (x**2 + y**2) / 2),
    }
    R, psi = {}, {}
    with np.errstate(invalid="ignore"):
        for name, (a, b) in ratios.items():
            each = a.sum(axis=0) / b.sum(axis=0)
            R[name] = pd.Series(each).mean()
            psi[name] = pd.DataFrame(len(p) * (a - each * b) / b.sum(axis=0)).mean(axis=1)
    return pd.Series(R), pd.DataFrame(psi)
