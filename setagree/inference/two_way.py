"""Resamples of raters, or of raters and units.

A resample draws unit i m_i times and rater g w_g times. A unit then has r_i = sum_g w_g ratings and
r_i² - sum_g w_g² pairs of ratings, because copies of one rater are not compared; it adds m_i times
its features to the five sums (see `coefficients.sums`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.checks import LOOPED, check_drawing
from setagree.coefficients.chance import Floats
from setagree.coefficients.conger import UrnOfEachRater
from setagree.coefficients.shuffler import (
    counted_disagreement,
    dense_weights,
    lists_pairs,
)
from setagree.coefficients.sums import Sums, coefficient, features
from setagree.credit.base import DenseWeights, neighbours
from setagree.errors import DataError, ResamplingWarning, option, warn
from setagree.inference.panel_members import require_study
from setagree.limits import BLOCK_ENTRIES, LONG_WORK
from setagree.progress import track
from setagree.scoring.results import Agreement
from setagree.study.annotations import Annotations


def two_way_replicates(
    agreement: Agreement, n_resamples: int, generator: np.random.Generator, *, units: bool
) -> Floats:
    """Return the estimates of resamples of the raters, or of raters and units."""
    study = require_study(agreement, "drawing raters")
    if study.n_raters < 3 and agreement.reason is None:
        _check_two_raters(units=units)
    check_drawing(n_resamples, study.n_ratings + LOOPED)
    two_way = TwoWay(agreement, study)
    sample = agreement.case.sample
    groups = np.arange(study.n_units) if sample is None else sample.groups
    assert groups is not None  # noqa: S101 - weights without clusters were refused
    at_once = max(1, BLOCK_ENTRIES // two_way.width)
    starts = range(0, n_resamples, at_once)
    long = n_resamples * study.n_ratings > LONG_WORK
    parts = []
    for start in track(starts, total=len(starts), what="resamples", long=long):
        b = min(at_once, n_resamples - start)
        w, m = np.empty((study.n_raters, b)), np.ones((study.n_units, b))
        for k in range(b):
            w[:, k] = _counts(study.n_raters, generator)
            if units:
                m[:, k] = _counts(int(groups.max()) + 1, generator)[groups]
        parts.append(two_way.estimates(m, w))
    return np.concatenate(parts)


def _check_two_raters(*, units: bool) -> None:
    """Raise DataError for resamples of two raters alone; warn if units are resampled, too."""
    if not units:
        raise DataError(
            "to draw raters there must be three or more of them, and there are 2: a resample of "
            "both is the study itself, one of the same rater twice has no pair to compare, and so "
            f"nothing would ever vary. Draw units: {option('over', 'units')}."
        )
    warn(
        f"{option('over', 'both')} of 2 raters: wherever the coefficient is defined, both raters "
        "were drawn, and so the spread is that of the units alone; two raters cannot show whether "
        "others would agree.",
        ResamplingWarning,
    )


@dataclass(frozen=True, eq=False)
class TwoWay:
    """A study whose units and raters can be weighted.

    Attributes
    ----------
    agreement : Agreement
        The coefficient and the distance.
    study : Annotations
        Ratings with rater identities.
    """

    agreement: Agreement
    study: Annotations

    @property
    def width(self) -> int:
        """Number of entries of a resample during its evaluation."""
        n_values = self.agreement.weights.n_values
        if isinstance(self.agreement.definition.model, UrnOfEachRater):
            n_values *= self.study.n_raters
        n_pairs = len(self._pairs[0]) if self._lists_pairs else 0
        return max(self.study.n_ratings, n_pairs, n_values)

    def estimates(self, m: Floats, w: Floats) -> Floats:
        """Return the coefficient with unit weights m and rater weights w, or NaN if undefined.

        Each resample is a column: m has the shape (n_units, B), w (n_raters, B).
        """
        weight, by_unit = w[self.study.rater_codes], _sums(self.study.unit_codes, len(m))
        r, r2 = by_unit @ weight, by_unit @ weight**2
        pairs = r**2 - r2
        x = self._disagreement(w) / np.where(pairs > 0, pairs, 1)
        model = self.agreement.definition.model
        f, share = features(model, r, r2, x)
        sums = Sums(*((m * each).sum(axis=0) for each in f))
        # A rating and its copies by the same rater are not a pair, so they are excluded from
        # chance, too.
        y = model.chance(self.agreement.case, self._totals(m, w, share), sums.own, w)
        return coefficient(model, sums, y)

    def _disagreement(self, w: Floats) -> Floats:
        """Return sum_gh w_g w_h d_gh / d_max over the ordered pairs of ratings of each unit."""
        n, B = self.study.n_units, w.shape[1]
        if self._lists_pairs:
            u, g, h, d = self._pairs
            return np.asarray(_sums(u, n, d) @ (2 * w[g] * w[h]))
        u, g, v = self._by_unit
        units = (u + n * np.arange(B)[:, None]).ravel()
        tally, weights = self.agreement.tally, self.agreement.weights
        cells = units, np.tile(v, B), w[g].T.ravel()
        q = counted_disagreement(self._ratings, tally, weights, self._dense, *cells, B)
        return np.asarray(q.reshape(B, n).T / self.agreement.weights.max_distance)

    @cached_property
    def _lists_pairs(self) -> bool:
        return lists_pairs(self._ratings, self.agreement.weights.n_values)

    def _totals(self, m: Floats, w: Floats, share: Floats) -> Iterator[Floats]:
        """Yield the amounts of each value, of shape (K, 1, B), or (K, n_raters, B)."""
        study, K = self.study, self.agreement.weights.n_values
        if self.agreement.definition.model.needs_raters:
            cells = study.value_codes.astype(np.int64) * study.n_raters + study.rater_codes
            table = _sums(cells, K * study.n_raters) @ m[study.unit_codes]
            yield table.reshape(K, *w.shape)
        else:  # X_k = sum_i m_i share_i sum_g w_g 1[v_ig = k]
            each = (m * share)[study.unit_codes] * w[study.rater_codes]
            yield (_sums(study.value_codes, K) @ each)[:, None]

    @cached_property
    def _ratings(self) -> Floats:
        return np.bincount(self.study.unit_codes, minlength=self.study.n_units).astype(np.float64)

    @cached_property
    def _pairs(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], Floats]:
        """The pairs of ratings within units: unit, two raters, distance / d_max."""
        study, weights = self.study, self.agreement.weights
        order = np.argsort(study.unit_codes, kind="stable")
        pairs = zip((order[:0], order[:0]), *neighbours(study.unit_codes[order]), strict=True)
        one, two = (order[np.concatenate(places)] for places in pairs)
        d = weights.distance_at(study.value_codes[one], study.value_codes[two])
        raters = study.rater_codes
        return study.unit_codes[one], raters[one], raters[two], d / weights.max_distance

    @cached_property
    def _by_unit(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        """The unit, rater and value of each rating, sorted by unit."""
        study = self.study
        order = np.argsort(study.unit_codes, kind="stable")
        return study.unit_codes[order], study.rater_codes[order], study.value_codes[order]

    @cached_property
    def _dense(self) -> DenseWeights | None:
        return dense_weights(self.agreement.weights)


def _sums(codes: npt.NDArray[Any], n: int, each: Floats | None = None) -> Any:
    """Return the sparse matrix that sums rows by code, each row times a factor."""
    from scipy import sparse

    ones = np.ones(len(codes)) if each is None else each
    return sparse.coo_array((ones, (codes, np.arange(len(codes)))), shape=(n, len(codes))).tocsr()


def _counts(n: int, generator: np.random.Generator) -> Floats:
    return np.bincount(generator.integers(n, size=n).astype(np.intp), minlength=n).astype(
        np.float64
    )
