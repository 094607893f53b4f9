"""Every coefficient as one function of five sums over units and of an urn.

A unit i with r_i ratings, of counts c_i, and with the mean distance x_i between two of its ratings
as a share of d_max, adds n_i, M_i, O_i, P_i and own_i to five sums, and share_i c_i to the urn X:

    ==================  =============  ===========  ========  =====  ==============  =============
    coefficients        n_i            M_i          O_i       P_i    own_i           share_i
    ==================  =============  ===========  ========  =====  ==============  =============
    alpha ("ratings")   1[r_i >= 2]    n_i r_i      M_i x_i   M_i    M_i             n_i
    kappas ("units")    1[r_i >= 1]    1[r_i >= 2]  M_i x_i   n_i    0               n_i / r_i
    ==================  =============  ===========  ========  =====  ==============  =============

    coefficient = 1 - x / y,    x = 1 - pa = O / M,    y = 1 - pe = X' F X / (P² - own)

F is the form of the chance model: D / d_max for alpha (Krippendorff 2011: De = n' D n / (N (N -
1))) and for Fleiss and Scott (Gwet 2014, ch. 2: pe = pi' W pi); see `chance_models` for the others
and `conger` for the coefficient without a single urn. A sampling weight w_i multiplies M_i and O_i,
w_i² multiplies own_i, and the weight among rated units multiplies P_i and share_i c_i; n counts
units. To reweight units, or to leave out a unit, is to change the sums.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.coefficients.chance import (
    NOTHING,
    ROUNDING,
    Case,
    Codes,
    Floats,
    Undefined,
    dot,
    reach,
)
from setagree.coefficients.chance_models import (
    Fixed,
    GwetUrn,
    Model,
    Redrawn,
    Urn,
    one_minus,
)
from setagree.coefficients.conger import UrnOfEachRater
from setagree.limits import BLOCK_ENTRIES

Flags: TypeAlias = npt.NDArray[np.bool_]

CANCELLATION_TOL = 1e-6
"""Share of a sum below which a difference from it is recomputed, because its digits cancelled."""


class Sums(NamedTuple):
    """The five sums, or the contribution of each of several units to them; see the module."""

    n: Floats
    M: Floats
    O: Floats
    P: Floats
    own: Floats

    def minus(self, other: Sums) -> Sums:
        """Return these sums minus the other ones."""
        return Sums(*(a - b for a, b in zip(self, other, strict=True)))

    def weighted(self, w: Floats, v: Floats) -> Sums:
        """Return the sums of units with sampling weights w_i, and v_i among rated units."""
        return Sums(self.n, w * self.M, w * self.O, v * self.P, w**2 * self.own)


class Left(NamedTuple):
    """A study without each of several parts: sums, form (X - z)' F (X - z), and y.

    The form is y itself if the chance model has no single urn.
    """

    sums: Sums
    form: Floats
    y: Floats


@dataclass(frozen=True)
class Estimate:
    """A coefficient with its parts, as bare numbers.

    Attributes
    ----------
    estimate : float
        (pa - pe) / (1 - pe), or NaN if it is undefined.
    observed_agreement, expected_agreement : float
        pa and pe.
    observed_disagreement, expected_disagreement : float
        In the units of the distance.
    influence : ndarray of shape (n_patterns,), or (n_units,) under `by_unit`
        The linearised value of each pattern (or unit). Their mean over units is the estimate (for
        alpha, up to its small-sample term). Empty if the variance has no closed form.
    counted : ndarray of the same shape
        Number of units for which each entry of `influence` counts in the variance.
    by_unit : bool
        Whether influence is by unit, not by pattern.
    undefined : str or None
        The reason for an estimate of NaN.
    pairable_only : bool
        Whether only pairable units count (alpha), with the sampling weights of these.
    sums : UnitSums or None
        The sums that the estimate is a function of.
    """

    estimate: float
    observed_agreement: float
    expected_agreement: float
    observed_disagreement: float
    expected_disagreement: float
    influence: Floats
    counted: Floats
    by_unit: bool = False
    undefined: Undefined | None = None
    pairable_only: bool = False
    sums: UnitSums | None = None


def features(model: Model, r: Floats, r2: Floats, x: Floats) -> tuple[Sums, Floats]:
    """Return the contributions of units to the sums, and `share`; see the table of the module.

    Parameters
    ----------
    r, r2 : ndarray
        r_i, and the sum of squared copies of its ratings: r_i unless raters are redrawn.
    x : ndarray
        x_i, 0 for a unit without a pair of ratings.
    """
    used = (r**2 > r2).astype(np.float64)
    if model.weigh == "ratings":
        mass = used * r
        return Sums(used, mass, mass * x, mass, mass if r2 is r else used * r2), used
    rated = (r > 0).astype(np.float64)
    return Sums(rated, used, used * x, rated, np.zeros_like(rated)), rated / np.where(r > 0, r, 1)


def is_undefined(model: Model, sums: Sums) -> Flags:
    """Return whether no pair is observed, or the chance term would rest on one unit."""
    return np.asarray((sums.M <= 0) | ((sums.n == 1) & (not model.fixed)))


def coefficient(model: Model, sums: Sums, y: Floats) -> Floats:
    """Return 1 - (O / M) / y, or NaN if it is undefined."""
    return one_minus(sums.O / np.where(is_undefined(model, sums), np.nan, sums.M), y)


def slopes(
    model: Model, sums: Sums, y: Floats | float, rbar: Floats | float, *, varies: bool = True
) -> tuple[Floats | float, Floats, Floats, Floats]:
    """Return a, b, c, d of the linearised values a + b M_i + c O_i + d share_i c_i' F X.

    Gwet (2014, ch. 2 to 5).

    Units, where n / n' = P / M is the share of rated over pairable units and y_i that of the unit:
    kappa*_i = (n / n') (M_i - O_i / y) + 2 (x / y) (y_i - y) / y,    y_i = share_i c_i' F X / P.

    Ratings, with Gwet's x' = (1 - 1/N) x and y' = (1 - 1/N) y, 1/N = own / M², and rbar the mean of
    M_i: 1 + [(M_i / rbar - 1) x' - O_i / rbar] / y' - 2 (x / y') (M_i / rbar) (1 - y_i / y'),
    where M_i y_i = share_i c_i' F X / N.

    `varies` states whether y depends on the answers.
    """
    x = sums.O / sums.M
    if model.weigh == "units":
        shift = 2 * x / y if varies else 0.0 * y
        ratio = sums.P / sums.M
        return -shift, ratio, -ratio / y, shift / (y * sums.P)
    small = (1 - sums.own / sums.M**2) * y
    of_M, of_O = (x / y - 2 * x / small) / rbar, -1 / (rbar * small)
    return 1 - x / y, of_M, of_O, 2 * x / (small**2 * rbar * sums.M)


def estimate(case: Case, model: Model) -> Estimate:
    """Return the coefficient of a study under a model of chance, with its linearised values."""
    whole, by_ratings = UnitSums(case, model), model.weigh == "ratings"
    tally, d_max, S = case.tally, case.weights.max_distance, whole.sums
    if by_ratings and not S.M:
        return undefined_estimate(case, observed=np.nan, expected=np.nan)
    y, y_i = whole.chance  # y = 1 - pe = X' F X / (P² - own)
    x = float(S.O / S.M) if S.M else np.nan  # x = 1 - pa
    # Gwet's pa and pe of alpha are 1 - (1 - 1/N) x and 1 - (1 - 1/N) y.
    fewer = 1.0 if y_i is None else float(1 - S.own / S.P**2)
    shown = (1 - fewer * x, 1 - fewer * y, x * d_max, y * d_max)
    least = NOTHING * reach(case.weights, whole.urn) / d_max
    if is_undefined(model, S) or not y > least:
        gone = undefined_estimate(case, observed=shown[2], expected=shown[3])
        return replace(gone, observed_agreement=shown[0], expected_agreement=shown[1], sums=whole)
    alpha = 1 - x / y  # (pa - pe) / (1 - pe)
    if by_ratings and y_i is None:  # the variance has no closed form
        return Estimate(alpha, *shown, np.zeros(0), np.zeros(0), pairable_only=True, sums=whole)
    f, _ = whole.of_patterns
    M, O, counted = f.M, f.O, tally.multiplicity * f.n
    strata = None if by_ratings or case.sample is None else case.sample.strata_of_size
    by_unit = (model.needs_raters and case.study is not None) or strata is not None
    if by_unit:
        at = tally.unit_patterns
        M, O, counted = M[at], O[at], np.ones(tally.n_units)
        y_i = y_i if y_i is None or model.needs_raters else y_i[at]
    if strata is not None:
        M, O = _stratified(case, strata, S, np.where(M > 0, O, np.nan))
    # kappa*_i = a + b M_i + c O_i + d share_i c_i' F X, with c_i' F X = r_i P y_i
    a, b, c, d = slopes(model, S, y, whole.rbar, varies=y_i is not None)
    influence = a + b * M + c * O
    if y_i is not None:
        influence = influence + d * S.P * y_i * (M if by_ratings else 1.0)
    return Estimate(
        alpha, *shown, influence, counted, by_unit=by_unit, pairable_only=by_ratings, sums=whole
    )


def _stratified(case: Case, strata: Codes, S: Sums, x_i: Floats) -> tuple[Floats, Floats]:
    """Return M_i and O_i of each unit if the sizes of strata make the weights.

    O = sum_s N_s x_s, with x_s the mean of the pairable units of a stratum, x if there is none. Its
    linearised value is x_s + (w_i / v_i) 1[pairable] (x_i - x_s), with v_i the weight among rated
    units; the mean over v_i is x. `x_i` is NaN for a unit that is not pairable.
    """
    used = ~np.isnan(x_i)
    n = np.bincount(strata[used], minlength=strata.max() + 1)
    sums = np.bincount(strata[used], x_i[used], len(n))
    x_s = np.where(n > 0, sums / np.maximum(n, 1), S.O / S.M)[strata]
    ratio = case.pairable_weights / case.unit_weights
    z = x_s + np.where(used, ratio * (x_i - x_s), 0.0)
    return np.full(len(z), S.M / S.P), np.asarray(z * (S.M / S.P))


def undefined_reasons(n_pairable: Any, n_values: Any) -> Any:
    """Return the reasons for undefined estimates by the numbers of pairable units and values."""
    reasons = {"no pairable unit": n_pairable == 0, "one value": n_values == 1}
    reasons["one unit"] = n_pairable == 1
    return np.select([*reasons.values()], [*reasons], "no chance disagreement").astype(object)


def undefined_estimate(case: Case, *, observed: float, expected: float) -> Estimate:
    """Return an estimate of NaN that keeps the parts that are defined."""
    tally, d_max, none = case.tally, case.weights.max_distance, np.zeros(0)
    why = undefined_reasons(tally.n_pairable_units, len(np.unique(tally.indices))).item()
    agreements = (1 - observed / d_max, 1 - expected / d_max)
    return Estimate(np.nan, *agreements, observed, expected, none, none, undefined=why)


def standard_error(parts: Estimate) -> float:
    """Return sqrt(sum_i (x_i - mean)² / (n (n - 1))) over the linearised values x_i.

    This is the variance by linearisation of every coefficient (Gwet 2014). NaN for fewer than two
    units, and 0 if the result is rounding.
    """
    n = float(parts.counted.sum())
    if n < 2 or parts.undefined is not None or not parts.influence.size:
        return float("nan")
    mean = dot(parts.counted, parts.influence) / n
    squares = dot(parts.counted, (parts.influence - mean) ** 2)
    return float(root(np.asarray(squares / (n * (n - 1)))))


def root(variance: Floats) -> Floats:
    """Return the standard error of a variance, or 0 if it is rounding."""
    error = np.sqrt(variance)
    return np.where(error > ROUNDING, error, 0.0 * error)


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

    @cached_property
    def sums(self) -> Sums:
        """The sums of the study."""
        f, c = self.of_patterns[0], self.case
        of_P = c.pairable_mass if self.model.weigh == "ratings" else c.mass
        masses = (c.tally.multiplicity, c.pairable_mass, c.pairable_mass, of_P, c.squared_mass)
        return Sums(*(np.asarray(dot(m, each)) for m, each in zip(masses, f, strict=True)))

    @property
    def unit_weights(self) -> tuple[Floats, Floats]:
        """The sampling weights of each unit: in M and O, and in P and the urn."""
        w = self.case.pairable_weights
        return w, w if self.model.weigh == "ratings" else self.case.unit_weights

    @cached_property
    def rbar(self) -> float:
        """rbar, the mean of M_i over pairable units."""
        pairable = dot(self.case.pairable_mass, self.case.tally.pairable.astype(np.float64))
        return float(self.sums.M / pairable)

    @cached_property
    def urn(self) -> Floats:
        """The totals X of the values, of shape (K,)."""
        totals = Urn(self.model.weigh).totals(self.case)
        return totals if self.model.weigh == "ratings" else totals * self.sums.P

    @cached_property
    def chance(self) -> tuple[float, Floats | None]:
        """Y, and y_i of each row, or None if no unit moves y, or not in closed form.

        Y is NaN if no answer is in the urn.
        """
        return self.model.linearised(self.case) if self.sums.P else (float("nan"), None)

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

        Raises
        ------
        TypeError
            The chance model does not define what it gives for other samples.
        """
        f, _ = self.rows
        n, M, O = (np.einsum("bp,p->b", times, each) for each in f[:3])
        sums = Sums(n, M, O, M, M) if self.model.weigh == "ratings" else Sums(n, M, O, n, 0 * n)
        match self.model:
            case Fixed():
                y = np.full(len(times), self.model.level(self.case))
            case UrnOfEachRater():
                y = self.model.reweighted(self.case, times)
            case Urn() | Redrawn():
                y = self.model.chance(self.case, self.counts.T @ times.T, sums.own)
            case _:
                raise TypeError(f"{self.model!r} is not a model of chance that can be reweighted")
        return coefficient(self.model, sums, y)

    @property
    def has_closed_form(self) -> bool:
        """Whether a unit is left out without computing the chance term of the others."""
        return isinstance(self.model, Fixed | Urn | UrnOfEachRater)

    def without_units(self) -> Floats:
        """Return the coefficient without one unit of each row; it adds share_i c_i to the urn."""
        f, share = self.rows
        if not self.has_closed_form:
            return self._recomputed(np.arange(len(share)))
        if isinstance(self.model, UrnOfEachRater):
            y = self.model.without_units(self.case)
            left = Left(self.sums.minus(f), y, y)
        else:
            left = self.left(f, *self._taken(share, slice(None)))
        out, lost = self.of_left(left)
        out[lost] = self._recomputed(np.flatnonzero(lost))
        return out

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

    def without_weighted_units(self) -> Floats:
        """Return the coefficient without each unit of a weighted sample, of shape (n_units,).

        NaN if digits cancelled. Only for a fixed chance model or an urn.
        """
        at, (w, v) = self.case.tally.unit_patterns, self.unit_weights
        gone = Sums(*(each[at] for each in self.of_patterns[0])).weighted(w, v)
        taken = self._taken(v * self.of_patterns[1][at], at)
        out, lost = self.of_left(self.left(gone, *taken))
        return np.where(lost, np.nan, out)

    def _taken(self, s: Floats, at: Any) -> tuple[Floats, Floats]:
        """Return s c' F X and s² c' F c for units of the patterns `at`; 0 if y is fixed."""
        if not isinstance(self.model, Urn):
            return np.zeros(len(s)), np.zeros(len(s))
        return s * self.to_urn[at], s**2 * self.model.within(self.case)[at]

    @cached_property
    def to_urn(self) -> Floats:
        """c_i' F X of each pattern; 0 if y is fixed."""
        r, y_i = self.case.tally.pattern_ratings, self.chance[1]
        if y_i is None or not isinstance(self.model, Urn):
            return np.zeros(len(r))
        return y_i * r * self.sums.P

    def spread(self, x: Floats) -> Floats:
        """Return F x for totals x of shape (K,) or (K, B); 0 if y is fixed."""
        return self.model.spread(self.case, x) if isinstance(self.model, Urn) else np.zeros(x.shape)

    @cached_property
    def to_values(self) -> Floats:
        """F X of shape (K,); 0 if y is fixed."""
        return self.spread(self.urn)

    @cached_property
    def form(self) -> float:
        """X' F X, or y if the chance model has no single urn."""
        y = self.chance[0]
        return float(y * (self.sums.P**2 - self.sums.own)) if isinstance(self.model, Urn) else y

    @cached_property
    def _rounding(self) -> float:
        """The largest form that is treated as rounding."""
        if not isinstance(self.model, Urn):
            return NOTHING * reach(self.case.weights, self.urn) / self.case.weights.max_distance
        return self.model.rounding(self.case, self.urn)

    @property
    def _is_nothing(self) -> bool:
        """Whether the study leaves no chance disagreement.

        Then no study without a part of it does, unless F has entries below 0.
        """
        return not self.sums.M or not self.form > self._rounding

    def left(self, gone: Sums, to_urn: Floats, own_form: Floats) -> Left:
        """Return the study without parts that add `gone` to the sums and z to the urn.

        (X - z)' F (X - z) = X' F X - 2 z' F X + z' F z. `to_urn` is z' F X, `own_form` z' F z.
        """
        sums = self.sums.minus(gone)
        if isinstance(self.model, Fixed):
            y = np.full(len(to_urn), self.chance[0])
            return Left(sums, y, y)
        form = self.form - 2 * to_urn + own_form
        pairs = sums.P**2 - sums.own
        return Left(sums, form, form / np.where(pairs > 0, pairs, np.nan))

    def of_left(self, left: Left) -> tuple[Floats, Flags]:
        """Return the coefficient without each part, and whether its digits cancelled.

        NaN if the study itself leaves no chance disagreement. GwetUrn is then recomputed.
        """
        if self._is_nothing:
            # F = (1 - s) 1 1' + s I has entries below 0 if nearly all credit is full, so that
            # pe = 1 may hold for the study alone; its parts are then recomputed.
            recomputed = isinstance(self.model, GwetUrn) and bool(self.sums.M)
            return np.full(len(left.y), np.nan), np.full(len(left.y), recomputed)
        lost = (left.sums.O <= CANCELLATION_TOL * self.sums.O) & (self.sums.O > 0)
        lost |= left.sums.M <= CANCELLATION_TOL * self.sums.M
        lost |= left.form <= max(CANCELLATION_TOL * self.form, self._rounding)
        lost &= ~is_undefined(self.model, left.sums)
        return coefficient(self.model, left.sums, left.y), lost
