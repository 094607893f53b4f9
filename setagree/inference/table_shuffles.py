"""The units x raters table with all its cells reshuffled, the missing ones among them."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from setagree.checks import check_drawing
from setagree.coefficients.chance import Case, Floats
from setagree.coefficients.chance_models import Fixed, Redrawn, Urn, one_minus
from setagree.coefficients.conger import UrnOfEachRater
from setagree.errors import DataError, option
from setagree.inference import shuffles
from setagree.inference.inside_units import Codes, CountedUnits, dense_distances, lists_pairs
from setagree.inference.known_raters import known_study
from setagree.progress import track
from setagree.scoring.results import Agreement

_LONG_WORK = 100_000_000
_TABLE_LIMIT = 50_000_000


class TableShuffler:
    """The cells of the table of a study, and the coefficient as a function of their order.

    A missing cell has the code K, one more than any value. Reshuffled tables T have the shape
    (n_raters, B, n_units).
    """

    def __init__(self, agreement: Agreement) -> None:
        study = known_study(agreement, f"{option('scheme', 'table')} needs to know")
        n_cells = study.n_units * study.n_raters
        if n_cells > _TABLE_LIMIT:
            raise DataError(
                f"{option('scheme', 'table')} would move {n_cells:,} cells; the limit is "
                f"{_TABLE_LIMIT:,}."
            )
        self.agreement, self.model = agreement, agreement.definition.model
        self.n_units, self.n_raters = study.n_units, study.n_raters
        self.cells = np.full(n_cells, agreement.weights.n_values)
        place = study.unit_codes.astype(np.int64) * study.n_raters + study.rater_codes
        self.cells[place] = study.value_codes
        self.w = agreement.case.pairable_weights  # in sums over pairable units
        self.v = agreement.case.unit_weights  # in sums over rated units

    def estimates(self, n_resamples: int, generator: np.random.Generator) -> Floats:
        """Return the estimates of random reshuffles."""
        check_drawing(n_resamples, len(self.cells))
        width = max(len(self.cells), self.agreement.weights.n_values)
        at_once = max(1, shuffles.ENTRIES_AT_ONCE // width)
        starts = range(0, n_resamples, at_once)
        long = n_resamples * len(self.cells) > _LONG_WORK
        parts = []
        for start in track(starts, total=len(starts), what="reshuffles", long=long):
            B = min(at_once, n_resamples - start)
            T = np.empty((self.n_raters, B, self.n_units), dtype=np.intp)
            for b in range(B):
                T[:, b] = generator.permutation(self.cells).reshape(self.n_units, -1).T
            parts.append(self.evaluate(T))
        return np.concatenate(parts)

    def evaluate(self, T: Codes) -> Floats:
        """Return the estimates of tables T."""
        r = (self.agreement.weights.n_values > T).sum(axis=0)
        pairable, pooled = r >= 2, self.model.weigh == "ratings"
        mass = self.w * (r * pairable if pooled else pairable)
        total = mass.sum(axis=1)
        # One unit cannot show what chance would do, unless chance is fixed beforehand.
        lone = (pairable if pooled else r > 0).sum(axis=1) == 1
        undefined = (total == 0) | (lone & (pooled or not self.model.fixed))
        x = np.einsum("bu,bu->b", mass, self._means(T, r))
        return one_minus(x / np.where(undefined, np.nan, total), self._chance(T, r))

    def _means(self, T: Codes, r: Codes) -> Floats:
        """Return the mean distance / d_max of the pairs of each unit; 0 where there is none."""
        each = np.arange(self.n_raters + 1.0)
        each = 1 / np.where(each < 2, np.inf, each * (each - 1))
        return np.asarray(self._disagreement(T) * each[r] / self.agreement.weights.max_distance)

    def _disagreement(self, T: Codes) -> Floats:
        """Return the summed distance of the ordered pairs of ratings of each unit."""
        K, shape = self.agreement.weights.n_values, T.shape[1:]
        if self._bordered is None:
            by_unit = np.moveaxis(T, 0, -1).ravel()
            rated = np.flatnonzero(by_unit < K)
            unit, value, ones = rated // self.n_raters, by_unit[rated], np.ones(len(rated))
            return self._counted.disagreement(unit, value, ones, T[0].size).reshape(shape)
        out = np.zeros(shape)
        for g in range(1, self.n_raters):
            row = T[g] * (K + 1)
            for h in range(g):
                out += self._bordered.take(row + T[h])
        return 2 * out

    @cached_property
    def _bordered(self) -> Floats | None:
        """The distances in a row, 0 to a missing cell; None where pairs are better not listed."""
        K = self.agreement.weights.n_values
        if self._dense is None or not lists_pairs(np.full(self.n_units, self.n_raters), K):
            return None
        return np.pad(self._dense.reshape(K, K), (0, 1)).ravel()

    @cached_property
    def _counted(self) -> CountedUnits:
        agreement = self.agreement
        r = agreement.tally.pattern_ratings[agreement.tally.unit_patterns]
        return CountedUnits(r, agreement.tally, agreement.weights, self._dense)

    def _chance(self, T: Codes, r: Codes) -> Floats:
        """Return the chance disagreement / d_max of each table."""
        case = self._case
        match model := self.model:
            case Fixed():
                return np.full(T.shape[1], model.level(case))
            case UrnOfEachRater():
                w = np.broadcast_to(self.v, r.shape)
                by_rater = (self._totals(T_g, self._margin_weights(T_g, w, r)) for T_g in T)
                return model.chance(case, (totals[:, None] for totals in by_rater))
            case Urn() | Redrawn() if model.weigh == "ratings":
                each = self.w * (r >= 2)
                own = np.einsum("bu,bu->b", each**2, r)
                weighted = self.agreement.case.is_weighted
                totals = self._totals(T, each) if weighted else self._without_lone(T, r)
                return model.chance(case, totals, own)
            case Urn() | Redrawn():
                return model.chance(case, self._totals(T, self.v / np.maximum(r, 1)))
        raise TypeError(f"{model!r} is not a model of chance that can be reshuffled")

    def _margin_weights(self, T_g: Codes, v: Floats, r: Codes) -> Floats:
        """Return the weights of a rater's answers; see `Rated.times`, here for each table."""
        sample = self.agreement.case.sample
        strata = None if sample is None else sample.strata_of_size
        if strata is None:
            return v
        of_stratum = np.eye(strata.max() + 1)[strata]
        given = (self.agreement.weights.n_values > T_g) @ of_stratum
        return np.asarray(((v * (r > 0)) @ of_stratum / np.maximum(given, 1))[:, strata])

    def _totals(self, T: Codes, each: Floats) -> Floats:
        """Return the summed weight of each value in each table, of shape (K, B)."""
        B, K = len(each), self.agreement.weights.n_values
        cells = T + (K + 1) * np.arange(B)[:, None]
        weight = np.broadcast_to(each, T.shape).ravel()
        sums = np.bincount(cells.ravel(), weight, (K + 1) * B).astype(np.float64, copy=False)
        return sums.reshape(B, K + 1)[:, :K].T

    def _without_lone(self, T: Codes, r: Codes) -> Floats:
        """Return the same of ratings that are not alone in their unit, each counted once."""
        B, K = len(r), self.agreement.weights.n_values
        row, unit = np.nonzero(r == 1)
        lone = np.bincount(K * row + T[:, row, unit].min(axis=0), minlength=K * B)
        every = np.bincount(self.cells, minlength=K)[:K]
        return np.asarray(every[:, None] - lone.reshape(B, K).T, dtype=np.float64)

    @cached_property
    def _dense(self) -> Floats | None:
        return dense_distances(self.agreement.weights)

    @cached_property
    def _case(self) -> Case:
        return shuffles.with_dense(self.agreement.case, self._dense)
