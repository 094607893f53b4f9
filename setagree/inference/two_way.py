"""Resamples of raters, or of raters and units.

A resample gives unit i the weight m_i and rater g the weight w_g, how often each was drawn. Copies
of one rater are not raters who agree: a pair of ratings is compared where its raters differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.annotations import Annotations
from setagree.coefficients.chance import Floats
from setagree.coefficients.kappas import ac_scale, uniform_chance
from setagree.coefficients.multivalued import redrawn_disagreement, size_function
from setagree.coefficients.replicates import ac_chance, beyond_rounding, one_minus, quadratic
from setagree.draws import LOOPED, check_drawing
from setagree.errors import DataError, ResamplingWarning, warn
from setagree.inference.inside_units import (
    CountedUnits,
    dense_distances,
    lists_pairs,
    rating_pairs,
)
from setagree.progress import track
from setagree.results import Agreement

_LONG_WORK = 20_000_000


def two_way_replicates(
    agreement: Agreement, n_resamples: int, generator: np.random.Generator, *, units: bool
) -> Floats:
    """Return the estimates of resamples of the raters, and of the units too where asked."""
    study = agreement.study
    if study is None:
        raise DataError(
            "to draw raters it must be known who gave what to which unit; a tally does not: build "
            "the study in memory with Annotations.from_long."
        )
    if study.n_raters < 3 and agreement.reason is None:
        _check_two_raters(units=units)
    check_drawing(n_resamples, study.n_ratings + LOOPED)
    two_way = TwoWay(agreement, study)
    out = np.empty(n_resamples)
    long = n_resamples * study.n_ratings > _LONG_WORK
    for b in track(range(n_resamples), total=n_resamples, what="resamples", long=long):
        w = _counts(study.n_raters, generator)
        m = _counts(study.n_units, generator) if units else np.ones(study.n_units)
        out[b] = two_way.estimate(m, w)
    return out


def _check_two_raters(*, units: bool) -> None:
    """Refuse to draw from two raters alone; say what the units show where they are drawn too."""
    if not units:
        raise DataError(
            "to draw raters there must be three or more of them, and there are 2: a resample of "
            "both is the study itself, one of the same rater twice has no pair to compare, and so "
            "nothing would ever vary. Draw units: resample='units'."
        )
    warn(
        "resample='both' of 2 raters: wherever the coefficient is defined, both raters were drawn, "
        "and so the spread is that of the units alone; whether other raters would agree, two "
        "cannot show.",
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
        Who gave what.
    """

    agreement: Agreement
    study: Annotations

    def estimate(self, m: Floats, w: Floats) -> float:
        """Return the coefficient with unit weights m and rater weights w; nan where undefined."""
        weight = w[self.study.rater_codes]
        ratings = _sums(self.study.unit_codes, weight, self.study.n_units)
        pairs, disagreement = self._within(w)
        x = disagreement / np.where(pairs > 0, pairs, 1)
        counted = m * (pairs > 0)
        pooled = self.agreement.coefficient in {"krippendorff_alpha", "mv_alpha"}
        share = counted * ratings if pooled else counted
        total = float(share.sum())
        rated = counted if pooled else m * (ratings > 0)
        fixed = self.agreement.coefficient in {"brennan_prediger", "percent_agreement"}
        # One unit cannot show what chance would do, unless chance is fixed beforehand.
        if not total or (rated.sum() == 1 and not fixed):
            return float("nan")
        observed = float(share @ x) / total
        expected = self._expected(m, w, counted, ratings)
        return float(one_minus(np.array(observed), np.array(expected)))

    def _within(self, w: Floats) -> tuple[Floats, Floats]:
        """Return, by unit, the summed weight of its pairs and their summed distance / d_max."""
        n = self.study.n_units
        if self._lists_pairs:
            u, g, h, d = self._pairs
            both = 2 * w[g] * w[h]
            return _sums(u, both, n), _sums(u, both * d, n)
        u, g, v = self._by_unit
        pairs = _sums(u, w[g], n) ** 2 - _sums(u, w[g] ** 2, n)
        disagreement = self._units.disagreement(u, v, w[g], n)
        return pairs, disagreement / self.agreement.weights.max_distance

    @cached_property
    def _lists_pairs(self) -> bool:
        return lists_pairs(self._ratings, self.agreement.weights.n_values)

    def _expected(self, m: Floats, w: Floats, counted: Floats, ratings: Floats) -> float:
        """Return the chance disagreement / d_max of the coefficient."""
        study, weights = self.study, self.agreement.weights
        weight = w[study.rater_codes]
        match self.agreement.coefficient:
            case "krippendorff_alpha":
                return self._pooled(counted[study.unit_codes] * weight, weight)
            case "mv_alpha":
                totals = _sums(
                    study.value_codes, counted[study.unit_codes] * weight, study.n_values
                )
                distance = size_function(self.agreement.case.distance)
                return redrawn_disagreement(study.values, totals, distance) / weights.max_distance
            case "conger_kappa" | "cohen_kappa":
                return self._conger(m, w)
            case "brennan_prediger":
                return uniform_chance(weights)
            case "percent_agreement":
                return 1.0
        rated = np.where(ratings > 0, ratings, 1)
        share = (m / rated)[study.unit_codes] * weight / float(m @ (ratings > 0))
        if self.agreement.coefficient == "gwet_ac":
            pi = _sums(study.value_codes, share, weights.n_values)
            return float(ac_chance(pi[:, None], ac_scale(weights))[0])
        if self.agreement.coefficient in {"fleiss_kappa", "scott_pi"}:
            return self._spread(share) / weights.max_distance
        raise NotImplementedError(
            f"the chance term of {self.agreement.coefficient} is not known here."
        )

    def _pooled(self, each: Floats, weight: Floats) -> float:
        """Return n' D n over the pairs; a rating and its rater's other copies of it are none."""
        N = float(each.sum())
        pairs = N * N - float(each @ weight)
        return self._spread(each) / (pairs * self.agreement.weights.max_distance)

    def _conger(self, m: Floats, w: Floats) -> float:
        """Return the mean of p_g' D p_h over pairs of different raters, weighted w_g w_h."""
        study, weights = self.study, self.agreement.weights
        table = np.zeros((weights.n_values, study.n_raters))
        np.add.at(table, (study.value_codes, study.rater_codes), m[study.unit_codes])
        given = table.sum(axis=0)
        w = w * (given > 0)
        shares = table / np.where(given > 0, given, 1)
        pooled = shares @ w
        both, own = quadratic(weights, pooled[:, None])[0], quadratic(weights, shares) @ w**2
        pairs = float(w.sum() ** 2 - (w**2).sum()) or np.nan
        return float(beyond_rounding(both - own, both)) / (pairs * weights.max_distance)

    def _spread(self, each: Floats) -> float:
        """Return n' D n of the value totals of weighted ratings."""
        totals = _sums(self.study.value_codes, each, self.agreement.weights.n_values)
        return float(quadratic(self.agreement.weights, totals[:, None])[0])

    @cached_property
    def _ratings(self) -> Floats:
        return np.bincount(self.study.unit_codes, minlength=self.study.n_units).astype(np.float64)

    @cached_property
    def _pairs(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], Floats]:
        """The pairs of ratings inside units: unit, two raters, distance / d_max."""
        study, weights = self.study, self.agreement.weights
        one, two = rating_pairs(study.unit_codes)
        d = weights.distance_at(study.value_codes[one], study.value_codes[two])
        raters = study.rater_codes
        return study.unit_codes[one], raters[one], raters[two], d / weights.max_distance

    @cached_property
    def _by_unit(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        """The unit, rater and value of each rating, unit after unit."""
        study = self.study
        order = np.argsort(study.unit_codes, kind="stable")
        return study.unit_codes[order], study.rater_codes[order], study.value_codes[order]

    @cached_property
    def _units(self) -> CountedUnits:
        weights = self.agreement.weights
        return CountedUnits(self._ratings, self.agreement.tally, weights, dense_distances(weights))


def _sums(codes: npt.NDArray[Any], each: Floats, n: int) -> Floats:
    return np.bincount(codes, each, n).astype(np.float64, copy=False)


def _counts(n: int, generator: np.random.Generator) -> Floats:
    return np.bincount(generator.integers(n, size=n), minlength=n).astype(np.float64)
