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

from setagree.checks import LOOPED, check_drawing
from setagree.coefficients.chance import Floats
from setagree.coefficients.models import Fixed, Redrawn, Urn, UrnOfEachRater, one_minus
from setagree.errors import DataError, ResamplingWarning, warn
from setagree.inference.inside_units import (
    CountedUnits,
    dense_distances,
    lists_pairs,
    rating_pairs,
)
from setagree.inference.known_raters import known_study
from setagree.progress import track
from setagree.scoring.results import Agreement
from setagree.study.annotations import Annotations

_LONG_WORK = 20_000_000


def two_way_replicates(
    agreement: Agreement, n_resamples: int, generator: np.random.Generator, *, units: bool
) -> Floats:
    """Return the estimates of resamples of the raters, and of the units too where asked."""
    study = known_study(agreement, "to draw raters it must be known")
    if study.n_raters < 3 and agreement.reason is None:
        _check_two_raters(units=units)
    check_drawing(n_resamples, study.n_ratings + LOOPED)
    two_way = TwoWay(agreement, study)
    sample = agreement.case.sample
    groups = np.arange(study.n_units) if sample is None else sample.groups
    assert groups is not None  # noqa: S101 - weights without clusters were refused
    out = np.empty(n_resamples)
    long = n_resamples * study.n_ratings > _LONG_WORK
    for b in track(range(n_resamples), total=n_resamples, what="resamples", long=long):
        w = _counts(study.n_raters, generator)
        m = _counts(int(groups.max()) + 1, generator)[groups] if units else np.ones(study.n_units)
        out[b] = two_way.estimate(m, w)
    return out


def _check_two_raters(*, units: bool) -> None:
    """Refuse to draw from two raters alone; say what the units show where they are drawn too."""
    if not units:
        raise DataError(
            "to draw raters there must be three or more of them, and there are 2: a resample of "
            "both is the study itself, one of the same rater twice has no pair to compare, and so "
            "nothing would ever vary. Draw units: over='units'."
        )
    warn(
        "over='both' of 2 raters: wherever the coefficient is defined, both raters were drawn, "
        "and so the spread is that of the units alone; two raters cannot show whether others would "
        "agree.",
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
        model = self.agreement.definition.model
        pooled = model.weigh == "ratings"
        share = counted * ratings if pooled else counted
        total = float(share.sum())
        rated = counted if pooled else m * (ratings > 0)
        # One unit cannot show what chance would do, unless chance is fixed beforehand.
        if not total or (rated.sum() == 1 and not model.fixed):
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
        study, case, K = self.study, self.agreement.case, self.agreement.weights.n_values
        weight, own = w[study.rater_codes], 0.0
        match model := self.agreement.definition.model:
            case Fixed():
                return model.level(case)
            case UrnOfEachRater():
                table = np.zeros((K, study.n_raters))
                np.add.at(table, (study.value_codes, study.rater_codes), m[study.unit_codes])
                return float(model.chance(case, [table[:, :, None]], w)[0])
            case Urn() | Redrawn() if model.weigh == "ratings":
                # A rating and its rater's other copies of it are no pair.
                each = counted[study.unit_codes] * weight
                own = float(each @ weight)
            case Urn() | Redrawn():
                each = (m / np.where(ratings > 0, ratings, 1))[study.unit_codes] * weight
            case _:
                raise TypeError(f"{model!r} is not a model of chance whose raters can be redrawn")
        return float(model.chance(case, _sums(study.value_codes, each, K)[:, None], own)[0])

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
