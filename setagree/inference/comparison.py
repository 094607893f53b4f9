"""Differences between coefficients: on the same units, or between independent studies."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from setagree.coefficients.chance import Floats
from setagree.errors import DataError, OptionError, check_choice
from setagree.inference.draws import (
    Rng,
    check_level,
    check_resamples,
    draw_units,
    row_weights,
    rows_of_units,
)
from setagree.results import Agreement
from setagree.scoring import COEFFICIENTS

Design: TypeAlias = Literal["same_units", "independent"]
Method: TypeAlias = Literal["linearised", "bootstrap"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The difference of two coefficients, for one pair or for all pairs of several.

    Attributes
    ----------
    frame : DataFrame
        One row a pair: first, second, difference, standard_error, low, high, p_value, p_holm.
    design : {"same_units", "independent"}
        Whether the coefficients stand on the same units.
    method : {"linearised", "bootstrap"}
        Where the standard error and the interval come from.
    level : float
        The level of the interval.
    """

    frame: pd.DataFrame
    design: str
    method: str
    level: float

    @property
    def difference(self) -> float:
        """The first coefficient minus the second, of the first pair."""
        return float(self.frame["difference"].iloc[0])

    @property
    def standard_error(self) -> float:
        """The standard error of the first difference."""
        return float(self.frame["standard_error"].iloc[0])

    @property
    def p_value(self) -> float:
        """The two-sided p of the first difference, not corrected."""
        return float(self.frame["p_value"].iloc[0])

    def interval(self) -> tuple[float, float]:
        """Return the interval of the first difference, at the level asked for."""
        return float(self.frame["low"].iloc[0]), float(self.frame["high"].iloc[0])

    def to_frame(self) -> pd.DataFrame:
        """Return one row a pair, nothing rounded."""
        return self.frame

    def __repr__(self) -> str:
        first = self.frame.iloc[0]
        more = f", and {len(self.frame) - 1} more pairs" if len(self.frame) > 1 else ""
        return (
            f"<Comparison ({self.design}, {self.method}): {first['first']} - {first['second']} = "
            f"{self.difference:.4f} ({self.level:.0%} {first['low']:.4f} to {first['high']:.4f}, "
            f"p = {self.p_value:.4g}){more}>"
        )


def compare(
    *agreements: Agreement,
    design: Design | None = None,
    method: Method = "linearised",
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: Rng = None,
) -> Comparison:
    """Return the difference of two coefficients, or of all pairs of several.

    On the same units the linearised values x_i of the two are subtracted unit by unit:
    Var = sum_i (psi_i1 - psi_i2)², psi_i = (x_i - mean) / sqrt(n (n - 1)) and 0 for a unit that one
    of them does not count; t with n - 1 degrees of freedom (Gwet 2021, for n equal). For
    independent studies z = difference / sqrt(SE1² + SE2²).

    Parameters
    ----------
    *agreements : Agreement
        Two or more: coefficients, distances, groups of raters, versions of guidelines, studies.
    design : {"same_units", "independent"}, optional
        Default: the same units where the unit identifiers are the same ones; independent where none
        is shared. Where some are, you must say.
    method : {"linearised", "bootstrap"}
        The bootstrap redraws units, the same ones for both where they are the same; its p is twice
        the smaller share of differences on one side of 0, each with one added.
    level : float
        The level of the intervals.
    n_resamples, rng
        For the bootstrap.

    Returns
    -------
    Comparison
        With Holm's (1979) correction over the pairs in ``p_holm``.

    Raises
    ------
    DataError
        The units overlap in part and the design is not said, or they are not known.
    OptionError
        Fewer than two agreements, or an unknown option.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(100, 3, rng=1)
    >>> a, b = (sa.krippendorff_alpha(study, distance=d) for d in ("masi", "nominal"))
    >>> result = sa.compare(a, b)
    >>> result.design, round(result.difference, 3), result.p_value < 0.001
    ('same_units', 0.086, True)
    """
    if len(agreements) < 2:
        raise OptionError("compare needs two agreements or more.")
    check_level(level)
    check_resamples(n_resamples)
    check_choice("method", method, ("linearised", "bootstrap"))
    if design is None:
        design = _design(agreements)
    check_choice("design", design, ("same_units", "independent"))
    seed = np.random.default_rng(rng).integers(2**63)
    names = _names(agreements)
    rows = []
    for (k, one), (l, two) in itertools.combinations(enumerate(agreements), 2):
        if method == "bootstrap":
            row = _bootstrapped(one, two, design, level, n_resamples, int(seed))
        else:
            row = _linearised(one, two, design, level)
        rows.append({"first": names[k], "second": names[l], **row})
    frame = pd.DataFrame(rows)
    frame["p_holm"] = holm(frame["p_value"].to_numpy())
    return Comparison(frame, design, method, level)


def holm(p: Floats) -> Floats:
    """Return Holm's (1979) step-down corrected p-values: max over j <= i of (m - j) p_(j), <= 1."""
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    out = np.empty(len(p))
    out[order] = np.minimum(steps, 1)
    return out


def _design(agreements: tuple[Agreement, ...]) -> Design:
    units = [agreement.tally.units for agreement in agreements]
    known = [frozenset(one.tolist()) for one in units if one is not None]
    if len(known) < len(units):
        raise DataError("some units have no identifiers; say design='same_units' or 'independent'.")
    if all(one == known[0] for one in known):
        return "same_units"
    if all(one.isdisjoint(two) for one, two in itertools.combinations(known, 2)):
        return "independent"
    raise DataError(
        "the studies share some units and not others; say design='same_units' (the shared ones are "
        "the same things) or 'independent' (the identifiers are alike by chance)."
    )


def _names(agreements: tuple[Agreement, ...]) -> list[str]:
    """Return what tells the agreements apart: coefficient and distance, numbered where alike."""
    plain = [f"{one.coefficient} [{one.distance}]" for one in agreements]
    return [
        name if plain.count(name) == 1 else f"{name} #{plain[: k + 1].count(name)}"
        for k, name in enumerate(plain)
    ]


def _linearised(one: Agreement, two: Agreement, design: str, level: float) -> dict[str, float]:
    from scipy.special import ndtri, stdtrit

    difference = one.estimate - two.estimate
    if design == "independent":
        se = float(np.hypot(one.standard_error, two.standard_error))
        return _row(difference, se, float(ndtri((1 + level) / 2)), np.inf)
    both = pd.concat([_deviations(one), _deviations(two)], axis=1).fillna(0.0).to_numpy()
    se = float(np.sqrt(((both[:, 0] - both[:, 1]) ** 2).sum()))
    if np.isnan(one.standard_error + two.standard_error):
        se = float("nan")
    df = len(both) - 1
    return _row(difference, se, float(stdtrit(df, (1 + level) / 2)), df)


def _deviations(agreement: Agreement) -> pd.Series[float]:
    """Return psi_i by unit: (x_i - mean) / sqrt(n (n - 1))."""
    x = agreement.influence
    n = len(x)
    return (x - x.mean()) / np.sqrt(n * (n - 1)) if n > 1 else x


def _row(difference: float, se: float, quantile: float, df: float) -> dict[str, float]:
    from scipy.special import ndtr, stdtr

    if se > 0:
        t = -abs(difference) / se
        p = 2 * float(ndtr(t) if np.isinf(df) else stdtr(df, t))
    else:
        p = (1.0 if difference == 0 else 0.0) if se == 0 else float("nan")
    return {
        "difference": difference,
        "standard_error": se,
        "low": difference - quantile * se,
        "high": difference + quantile * se,
        "p_value": p,
    }


def _bootstrapped(
    one: Agreement, two: Agreement, design: str, level: float, n_resamples: int, seed: int
) -> dict[str, float]:
    if design == "independent":
        streams = np.random.default_rng(seed).spawn(2)
        drawn = [
            _resampled([x], n_resamples, g)[0] for x, g in zip((one, two), streams, strict=True)
        ]
    else:
        drawn = _resampled([one, two], n_resamples, np.random.default_rng(seed))
    gaps = drawn[0] - drawn[1]
    gaps = gaps[np.isfinite(gaps)]
    if len(gaps) < 2:
        return dict.fromkeys(("difference", "standard_error", "low", "high", "p_value"), np.nan)
    low, high = np.quantile(gaps, [(1 - level) / 2, (1 + level) / 2])
    tail = 1 + min(int((gaps <= 0).sum()), int((gaps >= 0).sum()))
    return {
        "difference": one.estimate - two.estimate,
        "standard_error": float(gaps.std(ddof=1)),
        "low": float(low),
        "high": float(high),
        "p_value": min(1.0, 2 * tail / (len(gaps) + 1)),
    }


def _resampled(
    agreements: list[Agreement], n_resamples: int, generator: np.random.Generator
) -> list[Floats]:
    """Return the estimates over resamples of the units of all of them together."""
    pooled = _pooled_units(agreements)
    of_row = [_rows_by_unit(agreement, pooled) for agreement in agreements]
    evaluate = [COEFFICIENTS[one.coefficient].replicates(one.case) for one in agreements]
    parts: list[list[Floats]] = [[] for _ in agreements]
    width = max(agreement.n_values for agreement in agreements)
    for draws in draw_units(len(pooled), n_resamples, generator, width=width):
        times = row_weights(draws, np.arange(len(pooled)), len(pooled))
        for k, matrix in enumerate(of_row):
            parts[k].append(evaluate[k](times @ matrix))
    return [np.concatenate(part) for part in parts]


def _pooled_units(agreements: list[Agreement]) -> pd.Index[Any]:
    """Return the identifiers of the units of all agreements; positions where they have none."""
    pooled = _unit_index(agreements[0])
    for agreement in agreements[1:]:
        pooled = pooled.union(_unit_index(agreement), sort=False)
    return pooled


def _unit_index(agreement: Agreement) -> pd.Index[Any]:
    units = agreement.tally.units
    return (
        pd.RangeIndex(agreement.n_units) if units is None else pd.Index(units, tupleize_cols=False)
    )


def _rows_by_unit(agreement: Agreement, pooled: pd.Index[Any]) -> Any:
    """Return which row (pattern or unit) each pooled unit is, as a sparse 0/1 array."""
    from scipy import sparse

    rows, n_rows = rows_of_units(agreement)
    places = pooled.get_indexer(_unit_index(agreement))
    ones = np.ones(len(rows))
    return sparse.coo_array((ones, (places, rows)), shape=(len(pooled), n_rows)).tocsr()
