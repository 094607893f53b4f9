"""Units whose raters stand in two camps."""

from __future__ import annotations

import numpy as np
import pandas as pd

from setagree.credit.base import Weights
from setagree.credit.pairs import neighbours, sums_to_others
from setagree.inference.raters import Codes
from setagree.panels.votes import Ballot
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects


def unit_camps(study: Annotations, weights: Weights) -> pd.DataFrame:
    """Return how far the raters of each unit disagree, and how far they do so as two camps.

    With p_k the share of the unit's raters who gave value k, `bimodality` is the largest
    4 p_k p_l d_kl / d_max over pairs of values: 1 where two halves stand at the largest distance, 0
    where all agree, and small where answers scatter. `disagreement` is the mean distance of two
    different raters of the unit over d_max, nan for one rater. Answers that are near each other are
    not added up to one camp.
    """
    ballot = Ballot(study)
    units, values, counts = ballot.cells
    shares = counts / ballot.ratings[units]
    to_others = sums_to_others(units, values, counts, weights)
    summed = np.bincount(units, counts * to_others, study.n_units)
    pairs = ballot.ratings * (ballot.ratings - 1) * weights.max_distance
    disagreement = np.divide(summed, pairs, out=np.full(study.n_units, np.nan), where=pairs > 0)
    bimodality, one, two = _widest(units, values, shares, weights, study.n_units)
    named = as_objects([*study.values, None])
    return pd.DataFrame(
        {
            "unit": study.units,
            "n_ratings": ballot.ratings.astype(np.int64),
            "disagreement": disagreement,
            "bimodality": bimodality,
            "first": named[one],
            "second": named[two],
        }
    )


def _widest(
    units: Codes, values: Codes, shares: np.ndarray, weights: Weights, n_units: int
) -> tuple[np.ndarray, Codes, Codes]:
    """Return the largest 4 p_k p_l d_kl / d_max of each unit, and its two values; -1 for none."""
    best, held = np.zeros(n_units), np.zeros((2, n_units))
    poles = np.full((2, n_units), -1)
    for left, right in neighbours(units):
        d = weights.distance_at(values[left], values[right]) / weights.max_distance
        strength = 4 * shares[left] * shares[right] * d
        wider = np.flatnonzero(strength > best[units[left]])
        # Of several in one unit the last one stays: the strongest, the first among equals.
        wider = wider[np.argsort(strength[wider], kind="stable")]
        at = units[left[wider]]
        best[at] = strength[wider]
        poles[:, at] = values[left[wider]], values[right[wider]]
        held[:, at] = shares[left[wider]], shares[right[wider]]
    # The pole that more raters hold comes first.
    first, second = np.where(held[1] > held[0], poles[::-1], poles)
    return best, first, second
