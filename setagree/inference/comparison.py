"""Differences between coefficients: on the same units, or between independent studies."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import Rng, as_generator, check_level, check_resamples
from setagree.coefficients.chance import ROUNDING, Floats
from setagree.coefficients.replicates import replicates
from setagree.errors import OptionError, check_choice, counted
from setagree.inference.designs import Comparable, design_of, n_shared, on_shared_units
from setagree.inference.differences import (
    Design,
    Places,
    difference_row,
    linearised_difference,
    rows_of_units,
    unit_keys,
    unit_places,
)
from setagree.inference.draws import draw_units, row_weights
from setagree.scoring.results import Agreement, check_agreement

Method: TypeAlias = Literal["linearised", "bootstrap"]

_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The difference of two coefficients, for one pair or for all pairs of several.

    Attributes
    ----------
    frame : DataFrame
        One row a pair: first, second, difference, standard_error, low, high, p_value, n_undefined
        (resamples in which one of the two is undefined; they are not in the interval), n_shared
        (units that both have; 0 for independent studies), p_holm.
    design : {"same_units", "shared_units", "independent"}
        Whether the coefficients stand on the same units.
    method : {"linearised", "bootstrap"}
        Where the standard error and the interval come from.
    level : float
        The level of the interval.
    reasons : tuple of str or None
        Why a pair has no interval and no p, though the difference is known.
    """

    frame: pd.DataFrame
    design: str
    method: str
    level: float
    reasons: tuple[str | None, ...] = ()

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
        missed = f", {counted(n, 'resample')} undefined" if (n := int(first["n_undefined"])) else ""
        found = next(iter(self.reasons), None) or (
            f"{100 * self.level:g}% {first['low']:.4f} to {first['high']:.4f}, "
            f"p = {self.p_value:.4g}"
        )
        return (
            f"<Comparison ({self.design}, {self.method}): {first['first']} - {first['second']} = "
            f"{self.difference:.4f} ({found}{missed}){more}>"
        )

    def __str__(self) -> str:
        if len(self.frame) == 1:
            return repr(self)
        hidden = ["n_shared"] if self.frame["n_undefined"].any() else ["n_undefined", "n_shared"]
        shown = self.frame.drop(columns=hidden).round(
            {"difference": 4, "standard_error": 4, "low": 4, "high": 4}
        )
        p = dict.fromkeys(("p_value", "p_holm"), "{:.3g}".format)
        head = f"{len(shown)} pairs ({self.design}, {self.method}, {100 * self.level:g}% intervals)"
        said = "".join(f"\n\n{why}." for why in dict.fromkeys(self.reasons) if why)
        return f"{head}\n\n{shown.to_string(index=False, formatters=p)}{said}"


def compare(
    *agreements: Agreement,
    design: Comparable | None = None,
    method: Method = "linearised",
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: Rng = None,
) -> Comparison:
    """Return the difference of two coefficients, or of all pairs of several.

    On the same units the linearised values x_i of the two are subtracted unit by unit:
    Var = sum_i (psi_i1 - psi_i2)², psi_i = (x_i - mean) / sqrt(n (n - 1)) and 0 for a unit that one
    of them does not count; t with n - 1 degrees of freedom (Gwet 2021, for n equal). For
    independent studies z = difference / sqrt(SE1² + SE2²). A standard error of 0 is no certainty:
    a difference from such a coefficient has no interval and no p (nan), and `reasons` says why.

    Another distance, or another coefficient, measures another thing: that one is above the other
    is in their nature, and no better agreement. Compare raters, guidelines or studies by one and
    the same.

    Parameters
    ----------
    *agreements : Agreement
        Two or more: coefficients, distances, groups of raters, versions of guidelines, studies.
    design : {"same_units", "shared_units", "independent"}, optional
        ``"same_units"``: units of one name are one thing; one that a study lacks counts in the
        other alone. ``"shared_units"``: all studies are first cut down to the units that all of
        them have and scored anew, so that differences in the units play no part (after and before
        "on the same documents"). Default: the same units where the identifiers are the same ones;
        independent where none is shared. Where some are, you must say.
    method : {"linearised", "bootstrap"}
        The bootstrap redraws units, the same ones for both where they are the same; its p is twice
        the smaller share of differences on one side of 0, each with one added.
    level : float
        The level of the intervals.
    n_resamples, rng
        For the bootstrap. A seed gives the same numbers whatever the order of rows, the names of
        units, or the engine that found the patterns.

    Returns
    -------
    Comparison
        With Holm's (1979) correction over the pairs in ``p_holm``.

    Raises
    ------
    DataError
        The units overlap in part and the design is not said; or they cannot be told apart, because
        they have no identifiers or two have the same one.
    OptionError
        Fewer than two agreements, an unknown option, or linearised values of mv_alpha, which has
        none.

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
    _check_agreements(agreements, method)
    if design is None:
        design = design_of(agreements)
    check_choice("design", design, ("same_units", "shared_units", "independent"))
    if design == "shared_units":
        agreements = tuple(on_shared_units(agreements))
    seed = as_generator(rng).integers(2**63)
    names = _names(agreements)
    rows, reasons = [], []
    for (k, one), (l, two) in itertools.combinations(enumerate(agreements), 2):
        if method == "bootstrap":
            row = _bootstrapped(one, two, design, level, n_resamples, int(seed))
        else:
            paired: Design = "independent" if design == "independent" else "same_units"
            row = linearised_difference(one, two, design=paired, level=level)
        shared = 0 if design == "independent" else n_shared(one, two)
        rows.append({"first": names[k], "second": names[l], **row, "n_shared": shared})
        reasons.append(_why_unsure(one, two, row))
    frame = pd.DataFrame(rows)
    frame["p_holm"] = holm(frame["p_value"].to_numpy())
    return Comparison(frame, design, method, level, tuple(reasons))


def holm(p: Floats) -> Floats:
    """Return Holm's (1979) step-down corrected p-values: max over j <= i of (m - j) p_(j), <= 1.

    What is nan stays so and is not counted in m, as in R's p.adjust.
    """
    # statsmodels has it, but would be a new dependency of the core for three lines; scipy has not.
    m = int((~np.isnan(p)).sum())
    order = np.argsort(p)[:m]  # nan comes last
    out = np.full(len(p), np.nan)
    out[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(m, 0, -1)), 1)
    return out


def _check_agreements(agreements: tuple[Agreement, ...], method: str) -> None:
    for one in agreements:
        check_agreement(one)
        if method == "linearised" and one.reason is None and not one.parts.influence.size:
            raise OptionError(
                f"{one.coefficient} has no linearised values; say method='bootstrap'."
            )


def _why_unsure(one: Agreement, two: Agreement, row: dict[str, float]) -> str | None:
    """Return why a difference that is known has no interval; None where it has one."""
    if np.isnan(row["difference"]) or not np.isnan(row["p_value"]):
        return None
    whys = dict.fromkeys(x.interval_reason for x in (one, two) if x.interval_reason)
    return "; ".join(whys) if whys else "The difference shows no spread to judge it by"


def _names(agreements: tuple[Agreement, ...]) -> list[str]:
    """Return what tells the agreements apart: coefficient and distance, numbered where alike."""
    plain = [f"{one.coefficient} [{one.distance}]" for one in agreements]
    return [
        name if plain.count(name) == 1 else f"{name} #{plain[: k + 1].count(name)}"
        for k, name in enumerate(plain)
    ]


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
    difference = one.estimate - two.estimate
    missed = {"n_undefined": n_resamples - len(gaps)}
    row = difference_row(difference, float("nan"), 0.0, np.inf) | missed
    if len(gaps) < 2 or np.isnan(difference):
        return row
    alike = any(np.ptp(values[np.isfinite(values)]) <= ROUNDING for values in drawn)
    error = float(gaps.std(ddof=1))
    if alike or error <= ROUNDING:
        return difference_row(difference, float("nan") if alike else error, 0.0, np.inf) | missed
    low, high = np.quantile(gaps, [(1 - level) / 2, (1 + level) / 2])
    tail = 1 + min(int((gaps <= ROUNDING).sum()), int((gaps >= -ROUNDING).sum()))
    return row | {
        "standard_error": error,
        "low": float(low),
        "high": float(high),
        "p_value": min(1.0, 2 * tail / (len(gaps) + 1)),
    }


def _resampled(
    agreements: list[Agreement], n_resamples: int, generator: np.random.Generator
) -> list[Floats]:
    """Return the estimates over resamples of the units of all of them together."""
    places = _in_order(agreements, unit_places(agreements))
    n_places = 1 + max(int(place.max(initial=-1)) for place in places)
    of_row = [
        _rows_by_unit(one, place, n_places) for one, place in zip(agreements, places, strict=True)
    ]
    evaluate = [replicates(one.case, one.definition.model) for one in agreements]
    parts: list[list[Floats]] = [[] for _ in agreements]
    width = max(agreement.n_values for agreement in agreements)
    for draws in draw_units(n_places, n_resamples, generator, width=width):
        times = row_weights(draws, np.arange(n_places), n_places)
        for k, matrix in enumerate(of_row):
            parts[k].append(evaluate[k](times @ matrix))
    return [np.concatenate(part) for part in parts]


def _in_order(agreements: list[Agreement], places: list[Places]) -> list[Places]:
    """Return the places of the units once they are sorted by what all of them were answered."""
    keys = np.zeros(1 + max(int(place.max(initial=-1)) for place in places), dtype=np.uint64)
    for one, place in zip(agreements, places, strict=True):
        keys *= _ODD
        keys[place] += unit_keys(one)
    rank = np.empty(len(keys), dtype=np.int64)
    rank[np.argsort(keys, kind="stable")] = np.arange(len(keys))
    return [rank[place] for place in places]


def _rows_by_unit(agreement: Agreement, places: npt.NDArray[Any], n_places: int) -> Any:
    """Return which row (pattern or unit) the unit at each place is, as a sparse 0/1 array."""
    from scipy import sparse

    rows, n_rows = rows_of_units(agreement)
    ones = np.ones(len(rows))
    return sparse.coo_array((ones, (places, rows)), shape=(n_places, n_rows)).tocsr()
