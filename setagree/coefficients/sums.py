"""Every coefficient as one function of five sums over units and of an urn.

The docstring of `setagree.coefficients` lists the symbols with the functions that compute them.

A unit i with r_i ratings, of counts c_i, and with the mean distance x_i between two of its ratings
as a share of d_max, adds n_i, M_i, O_i, P_i and own_i to five sums, and share_i c_i to the urn X:

    ==================  =============  ===========  ========  =====  ==============  =============
    coefficients        n_i            M_i          O_i       P_i    own_i           share_i
    ==================  =============  ===========  ========  =====  ==============  =============
    alpha ("ratings")   1[r_i >= 2]    n_i r_i      M_i x_i   M_i    M_i             n_i
    kappas ("units")    1[r_i >= 1]    1[r_i >= 2]  M_i x_i   n_i    0               n_i / r_i
    ==================  =============  ===========  ========  =====  ==============  =============

n is whether the unit counts, M its weight in pa, O that times its mean distance, P its part of the
total of the urn, and own its pairs of a rating with itself. A unit with one rating counts in the
urn of the kappas and not at all for alpha. For alpha, X_k is Krippendorff's n_k, and P his n.

    coefficient = 1 - x / y,    x = O / M,    y = X' F X / (P² - own)

x = 1 - pa and y = 1 - pe for the kappas; Gwet's pa and pe of alpha, which are reported, are
1 - (1 - 1/N) x and 1 - (1 - 1/N) y.

F is the form of the chance model, D / d_max for alpha, Fleiss and Scott; see `chance_models` for
the others and `conger` for the coefficient without a single urn:

- alpha: De = d_max y = X' D X / (N (N - 1)) with X = sum c_i and N = sum r_i over units with
  r_i >= 2 (Krippendorff 2011);
- Fleiss, Scott: pe = 1 - X' F X / n² with X = sum c_i / r_i over the n units with r_i >= 1
  (Gwet 2014, ch. 2: pe = pi' W pi).

A sampling weight w_i multiplies M_i and O_i, w_i² multiplies own_i, and the weight among rated
units multiplies P_i and share_i c_i; n counts units. A size w_i multiplies n_i, M_i, O_i, P_i and
share_i c_i; `measured` defines own and what is subtracted from X' F X. To reweight units, or to
leave out a unit, is to change the sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from setagree.checks import Codes, Flags, Floats, cached_property
from setagree.coefficients.case import NOTHING, ROUNDING, Case, Undefined, divided, dot, reach
from setagree.coefficients.chance_models import Fixed, GwetUrn, Model, Urn
from setagree.coefficients.conger import UrnOfEachRater
from setagree.limits import BLOCK_ENTRIES

CANCELLATION_TOL = 1e-6
"""Share of a sum below which a difference from it is recomputed, because its digits cancelled."""


class Sums(NamedTuple):
    """The five sums, or the contribution of each of several units to them; see the module."""

    n: Floats
    M: Floats
    O: Floats
    P: Floats
    own: Floats

    def weighted(self, w: Floats, v: Floats) -> Sums:
        """Return the sums of units with sampling weights w_i, and v_i among rated units."""
        return Sums(self.n, w * self.M, w * self.O, v * self.P, w**2 * self.own)


class Linearised(NamedTuple):
    """The linearised values z_i of units, whose spread is the standard error.

    Attributes
    ----------
    values : ndarray
        z_i of each pattern of the tally, or of each unit. Their mean over units is the estimate;
        for alpha of N ratings, without weights, it is alpha - (1 - alpha) / (N - 1).
    counted : ndarray
        Number of units for which each value counts in the variance.
    by_unit : bool
        Whether values are by unit, not by pattern.
    """

    values: Floats
    counted: Floats
    by_unit: bool


def features(model: Model, r: Floats, r2: Floats, x: Floats) -> tuple[Sums, Floats]:
    """Return the contributions of units to the sums, and `share`; see the table of the module.

    r is r_i, and r2 the sum over raters of (times drawn)² if raters are redrawn, else r; x is x_i,
    0 for a unit without a pair of ratings.
    """
    # r_i >= 2; if raters are redrawn, ratings of at least two different raters
    pairable = (r**2 > r2).astype(np.float64)
    if model.weigh == "ratings":
        M = pairable * r
        return Sums(pairable, M, M * x, M, M if r2 is r else pairable * r2), pairable
    rated = (r > 0).astype(np.float64)
    share = rated / np.where(r > 0, r, 1)
    return Sums(rated, pairable, pairable * x, rated, np.zeros(rated.shape)), share


def is_undefined(model: Model, sums: Sums) -> Flags:
    """Return whether no pair is observed, or the chance term would rest on one unit."""
    return np.asarray((sums.M <= 0) | ((sums.n == 1) & (not model.fixed)))


def slopes(
    model: Model, sums: Sums, y: Floats | float, rbar: Floats | float
) -> tuple[Floats | float, Floats, Floats, Floats]:
    """Return a, b, c, d of the linearised values a + b M_i + c O_i + d P y_i h_i.

    h_i is M_i for alpha and 1 for the kappas, and P y_i h_i = share_i c_i' F X. Gwet (2014, ch. 2
    to 5), with y_i = 1 - pe_i as in `UnitSums.y_i`. For the kappas, with n rated and m pairable
    units, n / m = P / M, and 1 - kappa = x / y:

        kappa_i = (n / m) (pa_i - pe 1[r_i >= 2]) / (1 - pe) = (n / m) (M_i - O_i / y)
        kappa*_i - kappa_i = -2 (1 - kappa) (pe_i - pe) / (1 - pe) = 2 (x / y) (y_i - y) / y

    For alpha, with rbar the mean of M_i, 1/N = own / M² and y' = (1 - 1/N) y, which is the mean of
    y_i with weights M_i:

        alpha*_i = 1 + (M_i / rbar - 1) x / y - O_i / (rbar y')
                   - 2 (x / y') (M_i / rbar) (1 - y_i / y').

    The first line is the part of pa, the second that of pe. The first ratio is x / y and the last
    x / y', as in irrCAC.
    """
    x = sums.O / sums.M
    if model.weigh == "units":
        shift = 0.0 * y if model.fixed else 2 * x / y
        ratio = sums.P / sums.M
        return -shift, ratio, -ratio / y, shift / (y * sums.P)  # a, b, c, d
    y_gwet = (1 - sums.own / sums.M**2) * y  # y' = X' F X / N²
    b, c = (x / y - 2 * x / y_gwet) / rbar, -1 / (rbar * y_gwet)
    return 1 - x / y, b, c, 2 * x / (y_gwet**2 * rbar * sums.M)


def standard_error(sums: UnitSums) -> float:
    """Return the standard error of units drawn one by one, NaN for fewer than two units.

    The units are the pairable ones for alpha, and the rated ones for the kappas. See
    `uncertain.standard_error_as_drawn` for clusters, strata and sampling weights.
    """
    z, counted, _ = sums.linearised  # z_i of each pattern, and the number of its units
    n = float(counted.sum())
    if n < 2:
        return float("nan")
    # Var = sum_i (z_i - mean)² / (n (n - 1)) over units, by linearisation (Gwet 2014)
    squares = dot(counted, (z - dot(counted, z) / n) ** 2)
    return float(root(np.asarray(squares / (n * (n - 1)))))


def undefined_reasons(n_pairable: Any, n_values: Any, n: Any) -> Any:
    """Return the reasons for undefined estimates; n is the number of units that count."""
    reasons = {"no pairable unit": n_pairable == 0, "one value": n_values == 1}
    reasons["one unit"] = n == 1
    return np.select([*reasons.values()], [*reasons], "no chance disagreement").astype(object)


def root(variance: Floats) -> Floats:
    """Return the standard error of a variance, or 0 if it is rounding."""
    error = np.sqrt(variance)
    return error * (error > ROUNDING)


@dataclass(frozen=True, eq=False)
class UnitSums:
    """The sums of a study under one chance model, and the coefficient for other choices of sums.

    A row is a pattern of the tally; under a model that needs raters, a row of `Case.rated`.
    """

    case: Case
    model: Model

    @cached_property
    def of_patterns(self) -> tuple[Sums, Floats]:
        """The contribution of a unit of each pattern to the sums, and `share`."""
        r = self.case.tally.pattern_ratings
        return features(self.model, r, r, self.case.mean_disagreement)

    @cached_property
    def totals(self) -> Sums:
        """The five sums of the study."""
        f, c = self.of_patterns[0], self.case
        of_P = c.pairable_mass if self.model.weigh == "ratings" else c.mass
        n = c.pairable_mass if c.is_sized else c.tally.multiplicity
        masses = (n, c.pairable_mass, c.pairable_mass, of_P, c.squared_mass)
        totals: list[Any] = [np.float64(dot(m, x)) for m, x in zip(masses, f, strict=True)]
        return Sums(*totals)  # scalars, not arrays without dimensions, which take longer

    @cached_property
    def urn(self) -> Floats:
        """The totals X of the values, of shape (K,), over all raters."""
        if self.model.weigh == "ratings":
            return self.case.pairable_totals
        return self.case.tally.value_totals(self.case.mass * self.of_patterns[1])

    def form_dot(self, x: Floats) -> Floats:
        """Return F x for totals x of shape (K,) or (K, B); 0 if the chance model has no urn."""
        if not isinstance(self.model, Urn):
            return np.zeros(x.shape)
        return self.model.form_dot(self.case, x)

    @cached_property
    def to_values(self) -> Floats:
        """F X of shape (K,)."""
        return self.form_dot(self.urn)

    @cached_property
    def to_urn(self) -> Floats:
        """c_i' F X of each pattern; 0 if the chance model has no urn."""
        tally = self.case.tally
        if not isinstance(self.model, Urn):
            return np.zeros(tally.n_patterns)
        return tally.pattern_ratings * tally.pattern_means(self.to_values)

    @cached_property
    def form(self) -> float:
        """X' F X, or y if the chance model has no single urn."""
        return dot(self.urn, self.to_values) if isinstance(self.model, Urn) else self.y

    @cached_property
    def y(self) -> float:
        """The expected disagreement y = 1 - pe; NaN if no answer is in the urn."""
        S = self.totals
        if not S.P:
            return float("nan")
        if not isinstance(self.model, Urn):
            return self._without_urn[0]
        return self.form / float(S.P**2 - S.own)  # y = X' F X / (P² - own)

    @property
    def y_i(self) -> Floats | None:
        """Mean distance y_i from the answers of a unit of each row to the urn, c_i' F X / (r_i P).

        None if no unit moves y, or if it has no closed form.
        """
        if not isinstance(self.model, Urn):
            return self._without_urn[1]
        return self.to_urn / (self.case.tally.pattern_ratings * self.totals.P)

    @cached_property
    def _without_urn(self) -> tuple[float, Floats | None]:
        """The y and y_i of a chance model without a single urn."""
        return self.model.of_rows(self.case)

    @cached_property
    def undefined(self) -> Undefined | None:
        """The reason for an estimate of NaN, or None."""
        y, S, weights = self.y, self.totals, self.case.weights
        if np.isnan(S.M):  # the weights, see `Sample.pairable_weights`
            return "no pairable unit in a stratum"
        if not is_undefined(self.model, S):
            # Chance disagreement is rounding relative to the distances in use, which are <= d_max.
            d_max = weights.max_distance
            if y > NOTHING or y > NOTHING * reach(weights, self.urn) / d_max:
                return None
        n_values = len(np.unique(self.case.tally.indices))
        reason: Undefined = undefined_reasons(
            self.case.tally.n_pairable_units, n_values, S.n
        ).item()
        return reason

    @cached_property
    def estimate(self) -> float:
        """The coefficient 1 - x / y, or NaN if it is undefined."""
        if self.undefined is not None:
            return float("nan")
        return float(1 - self.totals.O / self.totals.M / self.y)

    @property
    def figures(self) -> tuple[float, float, float, float]:
        """Observed and expected agreement pa and pe, and disagreement Do and De.

        Do and De are in the units of the distance; pa and pe of alpha are Gwet's, see the module.
        """
        S, y, d_max = self.totals, self.y, self.case.weights.max_distance
        x = float(S.O / S.M) if S.M else np.nan
        return 1 - self._shrunk * x, 1 - self._shrunk * y, x * d_max, y * d_max

    @property
    def _shrunk(self) -> float:
        """1 - 1/N for alpha, 1 for the kappas."""
        S = self.totals
        return float(1 - S.own / S.P**2) if isinstance(self.model, Urn) and S.own else 1.0

    @cached_property
    def rbar(self) -> float:
        """rbar, the mean of M_i over pairable units."""
        pairable = dot(self.case.pairable_mass, self.case.tally.pairable.astype(np.float64))
        return float(self.totals.M / pairable)

    @cached_property
    def linearised(self) -> Linearised:
        """The linearised values; none if the estimate is undefined or they have no closed form."""
        none = Linearised(np.zeros(0), np.zeros(0), by_unit=False)
        if self.undefined is not None:
            return none
        y, y_i, model, tally = self.y, self.y_i, self.model, self.case.tally
        if y_i is None and not model.fixed:
            return none
        f, strata = self.of_patterns[0], self._strata_of_size
        M, O, counted = f.M, f.O, tally.multiplicity * f.n
        by_unit = strata is not None or (model.needs_raters and self.case.study is not None)
        if by_unit:
            at = tally.unit_patterns
            M, O, counted = f.M[at], f.O[at], f.n[at]
            y_i = y_i if y_i is None or model.needs_raters else y_i[at]
        if strata is not None:
            M, O = self._stratified(strata, np.where(M > 0, O, np.nan))
        # z_i = a + b M_i + c O_i + d P y_i h_i, with h_i = M_i for alpha and 1 for the kappas
        a, b, c, d = slopes(model, self.totals, y, self.rbar)
        values = a + b * M + c * O
        if y_i is not None:
            values += d * self.totals.P * y_i * (M if model.weigh == "ratings" else 1.0)
        return Linearised(values, counted, by_unit)

    # -- sampling weights, strata, and raters

    @property
    def _strata_of_size(self) -> Codes | None:
        """The stratum of each unit if their sizes make the weights of the kappas."""
        sample = self.case.sample
        return None if sample is None or self.model.weigh == "ratings" else sample.strata_of_size

    def _stratified(self, strata: Codes, x_i: Floats) -> tuple[Floats, Floats]:
        """Return M_i and O_i of each unit if the sizes of strata make the weights.

        O = sum_s N_s x_s, with x_s the mean of the pairable units of a stratum, x if there is none.
        Its linearised value is x_s + (w_i / v_i) 1[pairable] (x_i - x_s), with v_i the weight among
        rated units; the mean over v_i is x. `x_i` is NaN for a unit that is not pairable.
        """
        S, used = self.totals, ~np.isnan(x_i)
        n = np.bincount(strata[used], minlength=strata.max() + 1)
        sums = np.bincount(strata[used], x_i[used], len(n))
        x_s = np.where(n > 0, sums / np.maximum(n, 1), S.O / S.M)[strata]
        ratio = self.case.pairable_weights / self.case.unit_weights
        z = x_s + np.where(used, ratio * (x_i - x_s), 0.0)
        return np.full(len(z), S.M / S.P), np.asarray(z * (S.M / S.P))

    @cached_property
    def rows(self) -> tuple[Sums, Floats]:
        """The contribution of a unit of each row to the sums, and `share`."""
        f, share = self.of_patterns
        if not self.model.needs_raters:
            return f, share
        at = self.case.rated.patterns
        return Sums(*(each[at] for each in f)), share[at]

    @cached_property
    def times(self) -> Floats:
        """Number of units of each row."""
        by_rater = self.model.needs_raters
        return self.case.rated.row_times if by_rater else self.case.tally.multiplicity

    @property
    def unit_weights(self) -> tuple[Floats, Floats]:
        """The sampling weights of each unit: in M and O, and in P and the urn."""
        w = self.case.pairable_weights
        return w, w if self.model.weigh == "ratings" else self.case.unit_weights

    @cached_property
    def counts(self) -> Any:
        """share_i c_i of each row as a sparse array of shape (n_rows, K)."""
        from scipy import sparse

        tally, share = self.case.tally, self.of_patterns[1]
        shape = (tally.n_patterns, self.case.weights.n_values)
        each = tally.counts * share[tally.rows]
        return sparse.csr_array((each, tally.indices, tally.indptr), shape=shape)

    def reweighted(self, times: Floats) -> Floats:
        """Return the coefficient of samples in which each row counts `times` times.

        `times` has the shape (B, n_rows), the result (B,). The distance remains that of the study.
        Raise TypeError if the chance model does not define what it gives for other samples.
        """
        S = self.reweighted_totals(times)
        y = self.model.of_samples(self.case, self.urns(times), S.own)
        return coefficient(self.model, S, y)

    def reweighted_totals(self, times: Floats) -> Sums:
        """Return the five sums of such samples."""
        n, M, O = (np.einsum("bp,p->b", times, each) for each in self.rows[0][:3])
        return Sums(n, M, O, M, M) if self.model.weigh == "ratings" else Sums(n, M, O, n, 0 * n)

    def urns(self, times: Floats) -> Iterator[Floats]:
        """Yield the totals X of samples, of shape (K, 1, B), or those of one rater at a time."""
        from scipy import sparse

        if not self.model.needs_raters:
            yield (self.counts.T @ times.T)[:, None]
            return
        rated, shape = self.case.rated, (len(self.times), self.case.weights.n_values)
        for g in range(rated.n_raters):
            kept = np.flatnonzero(rated.rater_codes == g)
            at = rated.row_codes[kept], rated.value_codes[kept]
            answers = sparse.coo_array((np.ones(len(kept)), at), shape=shape).tocsr()
            yield np.asarray(answers.T @ times.T)[:, None]

    # -- without units, groups of units or raters (see `parts`)

    @property
    def has_closed_form(self) -> bool:
        """Whether a unit is left out without computing the chance term of the others."""
        return isinstance(self.model, Fixed | Urn | UrnOfEachRater)

    def without_units(self) -> Floats:
        """Return the coefficient without one unit of each row; recomputed if digits cancel."""
        (f, share), model = self.rows, self.model
        if not self.has_closed_form:
            return self._recomputed(np.arange(len(share)))
        if isinstance(model, Urn):  # a unit adds share_i c_i to the urn
            left = self.without(f, share * self.to_urn, share**2 * model.within(self.case))
        else:
            y = model.without_units(self.case) if isinstance(model, UrnOfEachRater) else None
            left = self.without(f, y=y)
        left.estimate[left.lost] = self._recomputed(np.flatnonzero(left.lost))
        return left.estimate

    def without_weighted_units(self) -> Floats:
        """Return the coefficient without each unit, which has a sampling weight or a size.

        NaN if digits cancel. Only for a fixed chance model or one urn.
        """
        left = self.without(*self.weighted_units)
        return np.where(left.lost, np.nan, left.estimate)

    @property
    def weighted_units(self) -> tuple[Sums, Floats, Floats]:
        """What each unit adds to the sums, and z' F X and z' F z of what it adds to the urn."""
        (f, share), at, (w, v) = self.of_patterns, self.case.tally.unit_patterns, self.unit_weights
        gone = Sums(*(each[at] for each in f)).weighted(w, v)
        if not isinstance(self.model, Urn):
            return gone, 0 * w, 0 * w
        within = self.model.within(self.case)[at]
        return gone, v * share[at] * self.to_urn[at], (v * share[at]) ** 2 * within

    def _recomputed(self, rows: Codes) -> Floats:
        """Return the coefficient without one unit of some rows, each from the units left."""
        out = np.empty(len(rows))
        block_size = max(1, BLOCK_ENTRIES // len(self.times))
        for start in range(0, len(rows), block_size):
            block = rows[start : start + block_size]
            times = np.tile(self.times, (len(block), 1))
            times[np.arange(len(block)), block] -= 1
            out[start : start + block_size] = self.reweighted(times)
        return out

    def without(
        self,
        gone: Sums,
        to_urn: Floats | float = 0.0,
        own_form: Floats | float = 0.0,
        y: Floats | None = None,
    ) -> Left:
        """Return the study without parts that add `gone` to the sums and z to the urn.

        (X - z)' F (X - z) = X' F X - 2 z' F X + z' F z. `to_urn` is z' F X, `own_form` z' F z; a
        model that varies and has no single urn takes y. NaN if the study itself leaves no chance
        disagreement: then no study without a part of it does, unless F has entries below 0.
        """
        case, model, S = self.case, self.model, self.totals
        left = Sums(*(a - b for a, b in zip(S, gone, strict=True)))
        if isinstance(model, Urn):
            form = np.asarray(self.form - 2 * to_urn + own_form)
            y, least = divided(form, left.P**2 - left.own), model.rounding(case, self.urn)
        else:
            form = y = np.full(left.n.shape, self.form) if y is None else y
            least = NOTHING * reach(case.weights, self.urn) / case.weights.max_distance
        if not S.M or not self.form > least:
            # F = (1 - s) 1 1' + s I has entries below 0 if nearly all credit is full, so that pe =
            # 1 may hold for the study alone; its parts are then recomputed.
            lost = np.full(y.shape, isinstance(model, GwetUrn) and bool(S.M))
            return Left(left, form, y, np.full(y.shape, np.nan), lost)
        lost = (left.O <= CANCELLATION_TOL * S.O) & (S.O > 0)
        lost |= left.M <= CANCELLATION_TOL * S.M
        lost |= form <= max(CANCELLATION_TOL * self.form, least)
        lost &= ~is_undefined(model, left)
        return Left(left, form, y, coefficient(model, left, y), lost)


class Left(NamedTuple):
    """A study without each of several parts, and whether the digits of its estimate cancelled.

    The form is (X - z)' F (X - z), or y itself if the chance model has no single urn.
    """

    sums: Sums
    form: Floats
    y: Floats
    estimate: Floats
    lost: Flags


def coefficient(model: Model, sums: Sums, y: Floats) -> Floats:
    """Return 1 - (O / M) / y of each of several choices of sums, or NaN if it is undefined."""
    return 1 - divided(sums.O / np.where(is_undefined(model, sums), np.nan, sums.M), y)
