"""The difference of two coefficients, on the same units or of independent studies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from setagree.coefficients.chance import ROUNDING, Floats
from setagree.inference.clusters import cluster_places, clustered_gap, weighted_gap, welch_df
from setagree.inference.units import Places, rows_of_units, unit_places
from setagree.scoring.results import Agreement

Design: TypeAlias = Literal["same_units", "independent"]


@dataclass(frozen=True, eq=False)
class Difference:
    """One estimate minus another, and how sure that is.

    Attributes
    ----------
    value : float
        The difference.
    standard_error : float
        nan where one of the two has none above 0.
    degrees_of_freedom : float
        Of t; infinite for the normal distribution.
    resampled : ndarray, optional
        The defined differences of a bootstrap, from which the interval and p are then taken: the
        expanded percentile interval (Hesterberg 2015), the tails of which are
        Phi(t_tail sqrt((df + 1) / df)), as resamples of few units spread too little.
    n_undefined : int
        The resamples that left one of the two undefined.
    """

    value: float
    standard_error: float
    degrees_of_freedom: float = np.inf
    resampled: Floats | None = None
    n_undefined: int = 0

    def interval(self, level: float) -> tuple[float, float]:
        """Return the interval.

        A difference without any spread is known only where it is 0: the two are one and the same
        then. Else there is no interval and no p.
        """
        from scipy.special import ndtr, ndtri, stdtrit

        if self.resampled is not None:
            df, tail = self.degrees_of_freedom, (1 - level) / 2
            tail = float(ndtr(stdtrit(df, tail) * np.sqrt((df + 1) / df)))
            low, high = np.quantile(self.resampled, [tail, 1 - tail])
            return float(low), float(high)
        if not (self.standard_error > 0 or self._same):
            return float("nan"), float("nan")
        df, tail = self.degrees_of_freedom, (1 + level) / 2
        half = float(ndtri(tail) if np.isinf(df) else stdtrit(df, tail)) * self.standard_error
        return self.value - half, self.value + half

    @property
    def freedom_of_t(self) -> float:
        """The degrees of freedom of t; nan where the interval is not one of t."""
        is_t = self.resampled is None and self.standard_error > 0
        return self.degrees_of_freedom if is_t else float("nan")

    @property
    def p_value(self) -> float:
        """The two-sided p."""
        from scipy.special import ndtr, ndtri, stdtr

        df = self.degrees_of_freedom
        if (gaps := self.resampled) is not None:
            tail = 1 + min(int((gaps <= ROUNDING).sum()), int((gaps >= -ROUNDING).sum()))
            z = float(ndtri(min(0.5, tail / (len(gaps) + 1))))
            return 2 * float(stdtr(df, z * np.sqrt(df / (df + 1))))
        if self._same:
            return float("nan") if np.isnan(self.standard_error) else 1.0
        if not self.standard_error > 0:
            return float("nan")
        t = -abs(self.value) / self.standard_error
        return 2 * float(ndtr(t) if np.isinf(df) else stdtr(df, t))

    @property
    def _same(self) -> bool:
        return abs(self.value) <= ROUNDING

    def row(self, level: float) -> dict[str, float]:
        """Return the columns of a comparison."""
        low, high = self.interval(level)
        return {
            "difference": self.value,
            "standard_error": self.standard_error,
            "low": low,
            "high": high,
            "p_value": self.p_value,
            "n_undefined": self.n_undefined,
        }


def linearised_difference(
    one: Agreement,
    two: Agreement,
    *,
    design: Design,
    places: tuple[Places, Places] | None = None,
) -> Difference:
    """Return one minus two with its standard error.

    On the same units the linearised values x_i of the two are subtracted unit by unit:
    Var = sum_i (psi_i1 - psi_i2)², psi_i = (x_i - mean) / sqrt(n (n - 1)) and 0 for a unit that one
    of them does not count; t with n - 1 degrees of freedom (Gwet 2021, for n equal). For
    independent studies t = difference / sqrt(SE1² + SE2²) with Welch's degrees of freedom. Where
    one of the two has a standard error of 0, or none, so has the difference: none.

    Parameters
    ----------
    places : pair of int arrays, optional
        Where each unit of the one and of the two stands in a list of units that is common to
        both. Default: units are matched by their identifiers.
    """
    if design == "independent":
        se = float(np.hypot(one.standard_error, two.standard_error))
        variances = [x.standard_error**2 for x in (one, two)]
        df = welch_df(variances, [x.degrees_of_freedom for x in (one, two)])
        return _known(one, two, se, df)
    first, second = unit_places([one, two]) if places is None else places
    groups = cluster_places([one, two], [first, second])
    if groups is not None:
        se, df = clustered_gap((one, two), (first, second), groups)
    elif one.case.sample is not None or two.case.sample is not None:
        se, df = weighted_gap((one, two), (first, second))
    else:
        psi = np.zeros(1 + max(first.max(initial=-1), second.max(initial=-1)))
        counts = np.zeros(len(psi), dtype=bool)
        for sign, agreement, place in ((1, one, first), (-1, two, second)):
            x = deviations(agreement)
            counts[place] |= np.isfinite(x)
            psi[place] += sign * np.nan_to_num(x)
        se, df = float(np.sqrt(psi @ psi)), int(counts.sum()) - 1
    return _known(one, two, se, df)


def _known(one: Agreement, two: Agreement, se: float, df: float) -> Difference:
    known = one.standard_error > 0 and two.standard_error > 0
    se = 0.0 if se <= ROUNDING else se
    return Difference(one.estimate - two.estimate, se if known else float("nan"), df)


def deviations(agreement: Agreement) -> Floats:
    """Return psi_i by unit: (x_i - mean) / sqrt(n (n - 1)); nan for a unit that does not count."""
    x = np.full(agreement.n_units, np.nan)
    if agreement.parts.influence.size:
        rows, _ = rows_of_units(agreement)
        x = np.where(agreement.parts.counted > 0, agreement.parts.influence, np.nan)[rows]
    n = np.isfinite(x).sum()
    return np.asarray((x - np.nanmean(x)) / np.sqrt(n * (n - 1)) if n > 1 else x)
