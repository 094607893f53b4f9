"""Differences between coefficients: on the same units, or between independent studies."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import Rng, as_generator, check_level, check_resamples, public
from setagree.coefficients.chance import ROUNDING, Floats
from setagree.errors import DataError, OptionError, check_choice, counted, option
from setagree.inference.clusters import cluster_places, counted_in, refuse_weighted, welch_df
from setagree.inference.designs import Comparable, design_of, n_shared, on_shared_units
from setagree.inference.differences import Design, Difference, linearised_difference
from setagree.inference.draws import over_resamples, row_weights
from setagree.inference.units import Places, rows_of_units, unit_keys, unit_places
from setagree.large.opening import Data
from setagree.scoring.intervals import ABOUT
from setagree.scoring.remarks import drawn_beside
from setagree.scoring.result_tables import as_agreement
from setagree.scoring.results import Agreement, AgreementTable
from setagree.study.unit_columns import OfUnits
from setagree.wording.results import Result

Method: TypeAlias = Literal["linearised", "bootstrap"]

_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """The difference of two coefficients, for one pair or for all pairs of several.

    Attributes
    ----------
    names : tuple of pairs of str
        What is compared: the first less the second.
    differences : tuple of Difference
        How far apart the pairs are.
    n_shared : tuple of int
        Units that both have; 0 for independent studies.
    design : {"same_units", "shared_units", "independent"}
        Whether the coefficients stand on the same units.
    method : {"linearised", "bootstrap"}
        Where the standard error and the interval come from.
    level : float
        The level of the interval.
    reasons : tuple of str or None
        Why a pair has no interval and no p.
    drawn : str
        How the units were drawn, such as "12 clusters"; blank where that is not said.
    """

    names: tuple[tuple[str, str], ...]
    differences: tuple[Difference, ...]
    n_shared: tuple[int, ...]
    design: str
    method: str
    level: float
    reasons: tuple[str | None, ...]
    drawn: str = ""

    @property
    def about(self) -> str:
        """What the intervals are about: these raters, judging a sample of units."""
        return ABOUT["units"]

    @property
    def difference(self) -> float:
        """The first coefficient minus the second, of the first pair."""
        return self.differences[0].value

    @property
    def standard_error(self) -> float:
        """The standard error of the first difference."""
        return self.differences[0].standard_error

    @property
    def p_value(self) -> float:
        """The two-sided p of the first difference, not corrected."""
        return self.differences[0].p_value

    def interval(self, level: float | None = None) -> tuple[float, float]:
        """Return the interval of the first difference, by default at the level asked for."""
        if level is not None:
            check_level(level)
        return self.differences[0].interval(self.level if level is None else level)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """What `to_frame` returns a copy of."""
        rows = [
            {"first": first, "second": second, **difference.row(self.level), "n_shared": shared}
            for (first, second), difference, shared in zip(
                self.names, self.differences, self.n_shared, strict=True
            )
        ]
        frame = pd.DataFrame(rows)
        return frame.assign(p_holm=holm(frame["p_value"].to_numpy()))

    def to_frame(self) -> pd.DataFrame:
        """Return one row a pair, nothing rounded.

        The columns are first, second, difference, standard_error, low, high, p_value, n_undefined
        (resamples in which one of the two is undefined; they are not in the interval), n_shared
        (units that both have; 0 for independent studies) and p_holm.
        """
        return self.frame.copy()

    @property
    def rests_on(self) -> list[dict[str, Any]]:
        """What the interval of each pair rests on: degrees of freedom, how units were drawn."""
        how = {"design": self.design, "method": self.method, "level": self.level}
        how |= {"drawn": self.drawn} if self.drawn else {}
        return [{"degrees_of_freedom": one.freedom_of_t, **how} for one in self.differences]

    @property
    def _how(self) -> list[str]:
        return [self.design, self.method, *([self.drawn] if self.drawn else [])]

    def __repr__(self) -> str:
        first = self.frame.iloc[0]
        more = f", and {len(self.frame) - 1} more pairs" if len(self.frame) > 1 else ""
        missed = f", {counted(n, 'resample')} undefined" if (n := int(first["n_undefined"])) else ""
        found = next(iter(self.reasons), None) or (
            f"{100 * self.level:g}% {first['low']:.4f} to {first['high']:.4f}, "
            f"p = {self.p_value:.4g}"
        )
        return (
            f"<Comparison ({', '.join(self._how)}): {first['first']} - {first['second']} = "
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
        how = ", ".join([*self._how, f"{100 * self.level:g}% intervals"])
        head = f"{len(shown)} pairs ({how})"
        said = "".join(f"\n\n{why}." for why in dict.fromkeys(self.reasons) if why)
        return f"{head}\n\n{shown.to_string(index=False, formatters=p)}{said}"


@public
def compare(
    *agreements: Agreement | AgreementTable | Data,
    design: Comparable | None = None,
    method: Method = "linearised",
    level: float = 0.95,
    n_resamples: int = 2000,
    cluster: OfUnits | None = None,
    rng: Rng = None,
) -> Comparison:
    """Return the difference of two coefficients, or of all pairs of several.

    On the same units the linearised values x_i of the two are subtracted unit by unit:
    Var = sum_i (psi_i1 - psi_i2)², psi_i = (x_i - mean) / sqrt(n (n - 1)) and 0 for a unit that one
    of them does not count; t with n - 1 degrees of freedom (Gwet 2021, for n equal). For
    independent studies t = difference / sqrt(SE1² + SE2²) with the degrees of freedom of Welch
    (1947). Where units were drawn in clusters, the deviations of clusters take the place of psi_i,
    and t has their degrees of freedom. A standard error of 0 is no certainty:
    a difference from such a coefficient has no interval and no p (nan), and `reasons` says why.

    Another distance, or another coefficient, measures another thing: that one is above the other
    is in their nature, and no better agreement. Compare raters, guidelines or studies by one and
    the same.

    Parameters
    ----------
    *agreements : Agreement, AgreementTable, or a study
        Two or more: coefficients, distances, groups of raters, versions of guidelines, studies. Of
        a study, a table or a path, it is Krippendorff's alpha with its default distance.
        All rows of one table are compared with each other; of several tables those of one
        coefficient and distance.
    design : {"same_units", "shared_units", "independent"}, optional
        ``"same_units"``: units of one name are one thing; one that a study lacks counts in the
        other alone. ``"shared_units"``: all studies are first cut down to the units that all of
        them have and scored anew, so that differences in the units play no part (after and before
        "on the same documents"). Default: the same units where the identifiers are the same ones;
        independent where none is shared (with a warning where clusters of one name are in several
        studies: of the same clusters the same units can be said, too). Where some are, you must
        say.
    method : {"linearised", "bootstrap"}
        The bootstrap redraws units, the same ones for both where they are the same. Its interval
        is the expanded percentile interval (Hesterberg 2015), its p the level at which that reaches
        0. With 10 to 50 units plain percentiles rejected up to .11 of true hypotheses at .05, these
        .06 at most.
    level : float
        The level of the intervals.
    cluster : str, mapping or Series, optional
        The document, patient or conversation of each unit, in all of the studies; clusters of one
        name are one where units of one name are. Default: as they say themselves.
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
        they have no identifiers or two have the same one. A table stands beside a single agreement,
        or a table with other rows.
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
    families = _families([as_agreement(one, cluster) for one in agreements])
    check_level(level)
    check_resamples(n_resamples)
    check_choice("method", method, ("linearised", "bootstrap"))
    for one in itertools.chain(*families):
        if method == "linearised" and one.reason is None and not one.parts.influence.size:
            raise OptionError(
                f"{one.coefficient} has no linearised values; say {option('method', 'bootstrap')}."
            )
    if design is None:
        design = design_of(families[0])
    check_choice("design", design, ("same_units", "shared_units", "independent"))
    if design == "shared_units":
        families = [on_shared_units(family) for family in families]
    seed = int(as_generator(rng).integers(2**63))
    paired: Design = "independent" if design == "independent" else "same_units"
    names: list[tuple[str, str]] = []
    differences, shared, reasons = [], [], []
    for family in families:
        names += itertools.combinations(_names(family), 2)
        for one, two in itertools.combinations(family, 2):
            if method == "bootstrap":
                difference = _bootstrapped(one, two, paired, n_resamples, seed)
            else:
                difference = linearised_difference(one, two, design=paired)
            differences.append(difference)
            shared.append(0 if design == "independent" else n_shared(one, two))
            reasons.append(_why_unsure(one, two, difference))
    found = (tuple(names), tuple(differences), tuple(shared))
    drawn = drawn_beside(families[0], independent=design == "independent")
    return Comparison(*found, design, method, level, tuple(reasons), drawn)


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


def _families(given: Sequence[Agreement | AgreementTable]) -> list[list[Agreement]]:
    """Return what is compared pair by pair: agreements, the rows of a table, or one row of each."""
    tables = [one for one in given if isinstance(one, AgreementTable)]
    if not tables:
        families = [cast(list[Agreement], [*given])]
    elif len(given) == 1:
        families = [[*tables[0]]]
    elif len(tables) < len(given) or len({frozenset(one.by_name) for one in tables}) > 1:
        raise DataError(
            "a table is compared with tables of the same coefficients and distances; beside "
            "anything else pass one row: table[name, distance]."
        )
    else:
        families = [[table[name] for table in tables] for name in tables[0].by_name]
    if len(families[0]) < 2:
        raise OptionError("compare needs two agreements or more.")
    return families


def _why_unsure(one: Agreement, two: Agreement, difference: Difference) -> str | None:
    """Return why a difference has no interval; None where it has one."""
    if not np.isnan(difference.p_value):
        return None
    whys = dict.fromkeys(x.interval_reason for x in (one, two) if x.interval_reason)
    return "; ".join(whys) if whys else "The difference shows no spread to judge it by"


def _names(agreements: Sequence[Agreement]) -> list[str]:
    """Return what tells the agreements apart: coefficient and distance, numbered where alike."""
    plain = [f"{one.coefficient} [{one.distance}]" for one in agreements]
    return [
        name if plain.count(name) == 1 else f"{name} #{plain[: k + 1].count(name)}"
        for k, name in enumerate(plain)
    ]


def _bootstrapped(
    one: Agreement, two: Agreement, design: Design, n_resamples: int, seed: int
) -> Difference:
    if design == "independent":
        streams = np.random.default_rng(seed).spawn(2)
        drawn = [
            _resampled([x], n_resamples, g)[0] for x, g in zip((one, two), streams, strict=True)
        ]
    else:
        drawn = _resampled([one, two], n_resamples, np.random.default_rng(seed))
    gaps = drawn[0] - drawn[1]
    gaps = gaps[np.isfinite(gaps)]
    value, missed = one.estimate - two.estimate, n_resamples - len(gaps)
    alike = any(np.ptp(values[np.isfinite(values)]) <= ROUNDING for values in drawn if len(gaps))
    if len(gaps) < 2 or np.isnan(value) or alike:
        return Difference(value, float("nan"), n_undefined=missed)
    error = float(gaps.std(ddof=1))
    if error <= ROUNDING:
        return Difference(value, 0.0, n_undefined=missed)
    df = min(_freedom(one), _freedom(two))
    if design == "independent":
        variances = [float(np.nanvar(values, ddof=1)) for values in drawn]
        df = welch_df(variances, [_freedom(one), _freedom(two)])
    return Difference(value, error, df, resampled=gaps, n_undefined=missed)


def _freedom(agreement: Agreement) -> float:
    """Return the degrees of freedom of a coefficient, whether or not it has a standard error."""
    if agreement.parts.influence.size:
        return max(agreement.degrees_of_freedom, 1.0)
    clusters = agreement.case.sample
    return max(1.0, (agreement.n_pairable_units if clusters is None else len(clusters.names)) - 1.0)


def _resampled(
    agreements: list[Agreement], n_resamples: int, generator: np.random.Generator
) -> list[Floats]:
    """Return the estimates over resamples of the units of all of them together."""
    for one in agreements:
        refuse_weighted(one, "The bootstrap")
    places = unit_places(agreements)
    groups = cluster_places(agreements, places)
    if groups is not None:
        places = [groups[place] for place in places]
    places = _in_order(agreements, places)
    n_places = 1 + max(int(place.max(initial=-1)) for place in places)
    of_row = [
        counted_in(place, *rows_of_units(one), n_places)
        for one, place in zip(agreements, places, strict=True)
    ]
    evaluate = [one.sums.reweighted for one in agreements]
    width = max(agreement.n_values for agreement in agreements)

    def estimates(draws: npt.NDArray[np.int64]) -> list[Floats]:
        times = row_weights(draws, np.arange(n_places), n_places)
        return [of(times @ matrix) for of, matrix in zip(evaluate, of_row, strict=True)]

    return over_resamples(estimates, n_places, n_resamples, generator, width=width)


def _in_order(agreements: list[Agreement], places: list[Places]) -> list[Places]:
    """Return the places of units, or clusters, once they are sorted by what all were answered."""
    keys = np.zeros(1 + max(int(place.max(initial=-1)) for place in places), dtype=np.uint64)
    for one, place in zip(agreements, places, strict=True):
        keys *= _ODD
        np.add.at(keys, place, unit_keys(one))
    rank = np.empty(len(keys), dtype=np.int64)
    rank[np.argsort(keys, kind="stable")] = np.arange(len(keys))
    return [rank[place] for place in places]
