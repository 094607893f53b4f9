"""Krippendorff's bootstrap: the observed pairs of ratings redrawn as if they were independent."""

from __future__ import annotations

import numpy as np

from setagree.coefficients.chance import Floats
from setagree.errors import DataError, OptionError
from setagree.inference.draws import ENTRIES_AT_ONCE
from setagree.results import Agreement


def resample_pairs(
    agreement: Agreement, n_resamples: int, generator: np.random.Generator
) -> Floats:
    """Return 1 - sum of E over redrawn pairs, E = 2 d / ((r_i - 1) N De) for a pair of unit i.

    All observed pairs together give 1 - Do / De; each resample draws as many of them with
    replacement (Krippendorff 2006, "Bootstrapping distributions for alpha"). On incomplete data
    other programs divide by r - 1 of the unit a pair is drawn for, not of its own.
    """
    if agreement.coefficient != "krippendorff_alpha":
        raise OptionError("method='krippendorff' is an algorithm for krippendorff_alpha alone.")
    if agreement.reason is not None:
        return np.full(n_resamples, np.nan)
    loss = _pair_losses(agreement)
    at_once = max(1, ENTRIES_AT_ONCE // len(loss))
    parts = []
    for start in range(0, n_resamples, at_once):
        size = (min(at_once, n_resamples - start), len(loss))
        parts.append(1 - loss[generator.integers(len(loss), size=size)].sum(axis=1))
    return np.concatenate(parts)


def _pair_losses(agreement: Agreement) -> Floats:
    """Return E of every pair of ratings of every unit, equal answers included."""
    tally, weights = agreement.tally, agreement.weights
    if (tally.counts % 1).any() or (tally.multiplicity % 1).any():
        raise DataError("counts that are fractions make no list of pairs.")
    unit = np.repeat(tally.rows, tally.counts.astype(np.int64))
    value = np.repeat(tally.indices, tally.counts.astype(np.int64))
    r, m = tally.pattern_ratings, tally.multiplicity
    N = float(m[tally.pairable] @ r[tally.pairable])
    losses = []
    left, shift = np.arange(len(unit)), 0
    while left.size:
        shift += 1
        left = left[left + shift < len(unit)]
        left = left[unit[left + shift] == unit[left]]
        d = weights.distance_at(value[left], value[left + shift])
        loss = 2 * d / ((r[unit[left]] - 1) * N * agreement.expected_disagreement)
        losses.append(np.repeat(loss, m[unit[left]].astype(np.int64)))
    return np.concatenate(losses)
