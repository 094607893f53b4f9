"""Scores of a model against the shares of people who gave each label, where people differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from setagree.checks import Rng, as_generator, check_cost, check_level, check_resamples
from setagree.coefficients.chance import ROUNDING, Floats
from setagree.errors import DataError, option
from setagree.inference.panel_members import people_of, unweighted_units
from setagree.inference.prevalence import label_flags, vote_shares, with_one_model
from setagree.large.opening import Data, takes_data
from setagree.scoring.intervals import t_interval
from setagree.study.codes import Codes
from setagree.wording.label_sets import Degrees


@takes_data
def soft_scores(
    study: Data,
    *,
    model: Any,
    humans: Sequence[object] | None = None,
    level: float = 0.95,
    n_splits: int = 20,
    rng: Rng = None,
) -> pd.DataFrame:
    """Return scores of the degrees of a model against the shares of people with each label.

    With p_il the share of the people of unit i who gave label l (the mean degree, if they gave
    degrees), q_il the degree of the model (1 or 0 for a label set), H the entropy in bits of p and
    1 - p, and means over units and labels::

        jensen_shannon_divergence = mean of H((p + q) / 2) - (H(p) + H(q)) / 2     0 is best
        soft_micro_f1 = 2 sum_il min(p, q) / sum_il (p + q)
        soft_macro_f1 = mean over labels of 2 sum_i min(p, q) / sum_i (p + q)
        entropy_correlation = mean over labels of Pearson's r of H(p) and H(q) over units

    Of categories, H is the entropy of their distribution. Labels that nobody gave, or whose
    entropies do not vary, are left out of the last two. The ceiling is the score of one half of the
    people of each unit against the other; halves are noisy, so that a model may exceed it.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        The answers of people, perhaps with those of the model: label sets or categories.
    model : rater, DataFrame, path or Annotations
        As in `prevalence`; degrees (`degree=`) from 0 to 1.
    humans : sequence of raters, optional
        Default: all raters that are not models.
    level : float
        The level of the t intervals over units, from linearised values.
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
    check_resamples(n_splits)
    known, code, answers = with_one_model(unweighted_units(study, "soft_scores"), model)
    rows = people_of(known, humans, [code])[known.rater_codes] & (answers[known.unit_codes] >= 0)
    units, unit = np.unique(known.unit_codes[rows], return_inverse=True)
    if not len(units):
        raise DataError("no unit has an answer of the model and of a human.")
    degrees, n = _degrees(known.values, known.kind), len(units)
    if not degrees.shape[1]:
        raise DataError("nobody gave a label, so that there is nothing to compare.")
    check_cost("The shares of labels", n_bytes=80 * n * degrees.shape[1], instead="Take a part.")
    values = known.value_codes[rows]
    p, q = vote_shares(unit, values, degrees).toarray(), degrees[answers[units]].toarray()
    halves = [
        {name: estimate for name, (estimate, _) in _scores(one, other, known.kind).items()}
        for one, other in _halves(degrees, unit, values, as_generator(rng), n_splits)
    ]
    table = []
    for name, (estimate, psi) in _scores(p, q, known.kind).items():
        # SE² = sum psi² / [n (n - 1)] of the linearised values
        error = float(np.sqrt(psi @ psi / n / (n - 1))) if n > 1 else np.nan
        low, high = t_interval(estimate, error, n - 1.0, level)
        row = {"score": name, "estimate": estimate, "standard_error": error, "low": low}
        ceiling = pd.Series([half[name] for half in halves], dtype=float).mean()
        table.append(row | {"high": high, "ceiling": ceiling, "n_units": n})
    return pd.DataFrame(table)


def _degrees(values: Sequence[Any], kind: str) -> Any:
    """Return the degree of each label in each value, sparse of shape (n_values, n_labels)."""
    flags, names = label_flags(values, kind)
    for k, value in enumerate(values):
        if isinstance(value, Degrees):
            own = slice(flags.indptr[k], flags.indptr[k + 1])
            flags.data[own] = [value.degrees[names[l]] for l in flags.indices[own]]
    if flags.data.max(initial=0) > 1:
        raise DataError(f"a degree is above 1; divide {option('degree')} by its largest value.")
    return flags


def _halves(degrees: Any, unit: Codes, values: Codes, rng: Any, n_splits: int) -> Any:
    """Yield the shares of two random halves of the people of each unit with at least two."""
    several = np.bincount(unit)[unit] > 1
    unit, values = np.unique(unit[several], return_inverse=True)[1], values[several]
    r = np.bincount(unit)
    for _ in range(n_splits if len(r) else 0):
        order = np.lexsort((rng.random(len(unit)), unit))
        place = np.arange(len(unit)) - np.repeat(np.cumsum(r) - r, r)
        first = place < np.repeat(r, r) // 2
        parts = [order[first], order[~first]]
        yield tuple(vote_shares(unit[part], values[part], degrees).toarray() for part in parts)


def _scores(p: Floats, q: Floats, kind: str) -> dict[str, tuple[float, Floats]]:
    """Return each score with the linearised value of each unit; p and q are (n_units, n_labels)."""
    from scipy.special import entr

    def entropy(x: Floats) -> Floats:
        """Return the entropy in bits of each label, or of the distribution of categories."""
        nats = entr(x) + entr(1 - x) if kind == "labels" else entr(x).sum(axis=1, keepdims=True)
        return np.asarray(nats / np.log(2))

    x, y, n = entropy(p), entropy(q), len(p)
    divergence = np.maximum(entropy((p + q) / 2) - (x + y) / 2, 0.0).mean(axis=1)
    both, either = 2 * np.minimum(p, q), p + q
    with np.errstate(divide="ignore", invalid="ignore"):
        micro, per_label = both.sum() / either.sum(), both.sum(axis=0) / either.sum(axis=0)
        of_micro = n * (both - micro * either).sum(axis=1) / either.sum()
        of_macro = n * (both - per_label * either) / either.sum(axis=0)
        # r = mean of x y, psi = x y - r (x² + y²) / 2, of standardised entropies
        spread = [np.where(np.ptp(e, axis=0) > ROUNDING, e.std(axis=0), np.nan) for e in (x, y)]
        x, y = ((e - e.mean(axis=0)) / sd for e, sd in zip((x, y), spread, strict=True))
        r = (x * y).mean(axis=0)
        of_r = x * y - r * (x**2 + y**2) / 2
    used, varies = either.sum(axis=0) > 0, np.isfinite(r)

    def mean(each: Floats, kept: Any) -> Any:
        return each[..., kept].mean(axis=-1) if kept.any() else np.full(each.shape[:-1], np.nan)

    return {
        "jensen_shannon_divergence": (float(divergence.mean()), divergence - divergence.mean()),
        "soft_micro_f1": (float(micro), of_micro),
        "soft_macro_f1": (float(mean(per_label, used)), mean(of_macro, used)),
        "entropy_correlation": (float(mean(r, varies)), mean(of_r, varies)),
    }
