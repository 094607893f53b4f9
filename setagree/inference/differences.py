"""The difference of two coefficients, on the same units or of independent studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.coefficients.chance import ROUNDING, Floats
from setagree.errors import DataError, counted, listing
from setagree.scoring.results import Agreement
from setagree.study.keys import Keys, value_numbers

Design: TypeAlias = Literal["same_units", "independent"]
Places: TypeAlias = npt.NDArray[np.integer[Any]]


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
        The defined differences of a bootstrap, from which the interval and p are then taken.
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
        from scipy.special import ndtri, stdtrit

        if self.resampled is not None:
            low, high = np.quantile(self.resampled, [(1 - level) / 2, (1 + level) / 2])
            return float(low), float(high)
        if not (self.standard_error > 0 or self._same):
            return float("nan"), float("nan")
        df, tail = self.degrees_of_freedom, (1 + level) / 2
        half = float(ndtri(tail) if np.isinf(df) else stdtrit(df, tail)) * self.standard_error
        return self.value - half, self.value + half

    @property
    def p_value(self) -> float:
        """The two-sided p."""
        from scipy.special import ndtr, stdtr

        if (gaps := self.resampled) is not None:
            tail = 1 + min(int((gaps <= ROUNDING).sum()), int((gaps >= -ROUNDING).sum()))
            return min(1.0, 2 * tail / (len(gaps) + 1))
        if self._same:
            return float("nan") if np.isnan(self.standard_error) else 1.0
        if not self.standard_error > 0:
            return float("nan")
        t, df = -abs(self.value) / self.standard_error, self.degrees_of_freedom
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
    independent studies z = difference / sqrt(SE1² + SE2²). Where one of the two has a standard
    error of 0, or none, so has the difference: none.

    Parameters
    ----------
    places : pair of int arrays, optional
        Where each unit of the one and of the two stands in a list of units that is common to
        both. Default: units are matched by their identifiers.
    """
    known = one.standard_error > 0 and two.standard_error > 0
    df = np.inf
    if design == "independent":
        se = float(np.hypot(one.standard_error, two.standard_error))
    else:
        first, second = unit_places([one, two]) if places is None else places
        psi = np.zeros(1 + max(first.max(initial=-1), second.max(initial=-1)))
        counts = np.zeros(len(psi), dtype=bool)
        for sign, agreement, place in ((1, one, first), (-1, two, second)):
            x = deviations(agreement)
            counts[place] |= np.isfinite(x)
            psi[place] += sign * np.nan_to_num(x)
        se, df = float(np.sqrt(psi @ psi)), int(counts.sum()) - 1
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


def rows_of_units(agreement: Agreement) -> tuple[npt.NDArray[Any], int]:
    """Return the row of each unit that the coefficient is computed on, and how many rows there are.

    Raises
    ------
    DataError
        The tally has fractional units, which cannot be drawn.
    """
    tally = agreement.tally
    if agreement.definition.asks_who and agreement.study is not None:
        return np.arange(tally.n_units), tally.n_units
    if tally.unit_patterns is not None:
        return tally.unit_patterns, tally.n_patterns
    times = tally.multiplicity.astype(np.int64)
    if (times != tally.multiplicity).any():
        raise DataError("units that count by fractions cannot be resampled.")
    return np.repeat(np.arange(tally.n_patterns), times), tally.n_patterns


def row_times(agreement: Agreement) -> Floats:
    """Return how many units each of these rows stands for."""
    by_rater = agreement.definition.asks_who
    return agreement.case.rated.row_times if by_rater else agreement.tally.multiplicity


def drawn_rows(agreement: Agreement) -> tuple[npt.NDArray[Any], int]:
    """Return the same with the units in an order that what they were answered alone decides.

    Draws of positions in it are the same whatever the order of rows, the names of the units, or
    the engine that found the patterns. Units with one pattern stand together, so that coefficients
    of one study have theirs at the same positions.
    """
    rows, n_rows = rows_of_units(agreement)
    keys = agreement.tally.keys
    if agreement.definition.asks_who:
        order = np.lexsort((_keys_by_rater(agreement), keys[agreement.case.rated.patterns]))
    else:
        order = np.argsort(keys, kind="stable")
    return np.repeat(order, np.bincount(rows, minlength=n_rows)[order]), n_rows


def unit_keys(agreement: Agreement) -> Keys:
    """Return a number of each unit that its answers alone decide, and who gave them if it counts.

    Units are in the order of `rows_of_units`.
    """
    by_unit = agreement.definition.asks_who
    keys = _keys_by_rater(agreement) if by_unit else agreement.tally.keys
    return np.asarray(keys[rows_of_units(agreement)[0]])


def _keys_by_rater(agreement: Agreement) -> Keys:
    """Return for each row of the ratings a sum of numbers, one of each value and its rater."""
    rated = agreement.case.rated
    raters = value_numbers(rated.raters) | np.uint64(1)
    out = np.zeros(len(rated.row_times), dtype=np.uint64)
    each = value_numbers(agreement.tally.values)[rated.value_codes] * raters[rated.rater_codes]
    np.add.at(out, rated.row_codes, each)
    return out


def on_one_tally(agreements: Sequence[Agreement]) -> bool:
    """Say whether all were computed from one and the same study."""
    first = agreements[0].tally
    return all(one.tally.indptr is first.indptr for one in agreements)


def unit_places(agreements: Sequence[Agreement]) -> list[Places]:
    """Return where each unit of each stands in one list of all their units.

    Units are matched by position where all stand on one tally, else by their identifiers.
    """
    if on_one_tally(agreements):
        return [np.arange(one.n_units) for one in agreements]
    indexes = [_identifiers(one) for one in agreements]
    pooled = indexes[0]
    for index in indexes[1:]:
        pooled = pooled.union(index, sort=False)
    return [pooled.get_indexer(index) for index in indexes]


def _identifiers(agreement: Agreement) -> pd.Index[Any]:
    tally = agreement.tally
    if tally.units is None or tally.unit_patterns is None:
        raise DataError("the same units are matched by their identifiers, and some have none.")
    index = pd.Index(tally.units, tupleize_cols=False)
    twice = tally.units[index.duplicated()]
    if len(twice):
        raise DataError(
            "the same units are matched by their identifiers, and "
            f"{counted(len(twice), 'unit')} of {agreement.coefficient} [{agreement.distance}] "
            f"have that of another ({listing(twice.tolist())})."
        )
    return index
