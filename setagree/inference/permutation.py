"""Permutation tests of a coefficient."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Literal, TypeAlias, Unpack, get_args

import numpy as np
import pandas as pd

from setagree.checks import Codes, Floats, Rng, as_generator, check_drawing, check_least
from setagree.coefficients.chance_models import Urn
from setagree.coefficients.conger import UrnOfEachRater
from setagree.errors import DataError, OptionError, check_choice, option
from setagree.inference.panel_members import require_study
from setagree.inference.resampling import Resampled
from setagree.inference.rotation import rotated_estimates
from setagree.inference.shuffler import Cells, Shuffler
from setagree.inference.unit_order import is_clustered
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.limits import MAX_RESHUFFLED, MAX_TABLE_CELLS, TIE
from setagree.scoring.result_tables import ResultTable, for_each_row, per_row
from setagree.scoring.results import Agreement, AgreementTable
from setagree.study.attributes import OfUnits
from setagree.study.codes import entries_of
from setagree.study.sampling import warn_ignored
from setagree.wording.number_format import p_four
from setagree.wording.tables import Column

Scheme: TypeAlias = Literal["pooled", "within_rater", "table", "within_cluster", "rotation"]
Alternative: TypeAlias = Literal["greater", "less", "two-sided"]

SURE = 0.025
"""One-sided p up to which agreement is called more, or less, than expected by chance."""

_MOVED = {
    "pooled": "all answers over all raters and units",
    "within_rater": "each rater's answers over the units of that rater",
    "table": "all cells of the table, the missing ones too",
    "within_cluster": "the answers of each cluster over its own units and raters",
    "rotation": "each rater's answers along each document, by a random offset",
}
_REACHED = {"greater": "at least as high", "less": "at least as low", "two-sided": "as far out"}


@dataclass(frozen=True, eq=False, repr=False)
class PermutationTest(Resampled):
    """Permutation test: null distribution and p-value of a coefficient.

    Attributes
    ----------
    agreement : Agreement
        The tested coefficient.
    distribution : ndarray of shape (n_resamples,)
        The estimates of the reshuffled studies; NaN if undefined.
    scheme : {"pooled", "within_rater", "table", "within_cluster", "rotation"}
        What is reshuffled.
    alternative : {"greater", "less", "two-sided"}
        The tail that counts as extreme.
    exact : bool
        Whether the distribution contains every arrangement once.
    exact_mean : float
        Expected mean of the null distribution; NaN if no formula is known.
    other : PermutationTest or None
        The test with the other scheme, whose p is not larger, if the default made two.
    scheme_reason : str
        Why the default made one test, or two; empty if a scheme was named or all units are
        complete.
    """

    agreement: Agreement
    distribution: Floats
    scheme: str
    alternative: Alternative
    exact: bool
    exact_mean: float
    other: PermutationTest | None = None
    scheme_reason: str = ""

    columns = (
        Column("coefficient", "text"),
        Column("distance", "text"),
        Column("estimate"),
        Column("null_mean", head="by chance", meaning="the mean of the reshuffles"),
        Column("exact_mean", head="expected", meaning="that of all reshuffles, if it is known"),
        Column("null_95", head="95th percentile", meaning="of the reshuffles"),
        Column("p_value", "p", "p"),
    )

    @property
    def p_value(self) -> float:
        """(1 + #{at least as extreme as observed}) / (B + 1).

        If `exact`, the share of arrangements. Two-sided: twice the smaller tail.
        """
        if self.alternative == "two-sided":
            return float(np.minimum(1.0, 2 * min(self._own_tail(1), self._own_tail(-1))))
        return self._own_tail(1 if self.alternative == "greater" else -1)

    def tail(self, side: Literal["greater", "less"]) -> float:
        """Return the p-value of one tail: the share of reshuffles at least as high, or as low.

        It is the larger one of two tests, and as in `claim_p`. Return NaN if the coefficient, or
        every reshuffle of it, is undefined.
        """
        others = [] if self.other is None else [self.other.tail(side)]
        p = max([self._own_tail(1 if side == "greater" else -1), *others])
        return self.claim_p(p, side)

    def claim_p(self, p: float, alternative: Alternative) -> float:
        """Return p of a claim on chance: `p`, or that of the estimate over clusters if larger.

        Reshuffles ignore clusters: if raters repeat their answers inside clusters, p of the
        reshuffles alone rejects too often. Return NaN if the estimate then has no p.
        """
        if not self.ignoring:
            return p
        own = self.agreement.p_value
        if alternative != "two-sided":
            is_on_side = (self.agreement.estimate > 0) == (alternative == "greater")
            own = own / 2 if is_on_side else 1 - own / 2
        return float(np.maximum(p, own))

    def _own_tail(self, sign: int) -> float:
        if np.isnan(self.agreement.estimate):
            return float("nan")
        gaps = sign * (self.defined - self.agreement.estimate)
        return share_reached(gaps, exact=self.exact)

    @property
    def ignoring(self) -> str:
        """Clause on clusters that reshuffles ignore, such as ", ignoring 12 clusters", or empty."""
        inside = self.scheme in {"within_cluster", "rotation"} or not is_clustered(self.agreement)
        return "" if inside else f", ignoring {self.ignored}"

    @property
    def ignored(self) -> str:
        """Sampling design that reshuffles ignore, such as "weights and 12 clusters"."""
        groups, design = self.agreement.sampled_groups, self.agreement.rests_on
        return " and ".join(["weights", *groups] if "sampling_weight" in design else groups)

    @property
    def versus_chance(self) -> Literal["above chance", "below chance"] | None:
        """Whether the upper, or the lower, tail has a p of at most 0.025."""
        # The smallest p of 39 reshuffles is exactly 0.025.
        if self.tail("greater") <= SURE + TIE:
            return "above chance"
        return "below chance" if self.tail("less") <= SURE + TIE else None

    def quantile(self, q: float) -> float:
        """Return the smallest reshuffled estimate that a share q of them does not exceed.

        Return NaN if all reshuffled estimates are undefined.
        """
        if not len(self.defined):
            return float("nan")
        # Interpolation would give a value that fewer than a share q of the estimates reach.
        return float(np.quantile(self.defined, q, method="inverted_cdf"))

    def to_frame(self) -> pd.DataFrame:
        """Return one row with the estimate, a summary of the null distribution, and p."""
        has_null = bool(len(self.defined))
        return self._one_row(
            "coefficient distance estimate p_value alternative scheme null_mean exact_mean null_95 "
            "n_resamples n_undefined exact",
            null_mean=float(self.defined.mean()) if has_null else float("nan"),
            null_95=self.quantile(0.95),
            n_resamples=len(self.distribution),
        )

    def _notes(self) -> list[str]:
        notes = []
        if (versus := self.versus_chance) is not None:
            above = versus == "above chance"
            tail, p = ("upper", self.tail("greater")) if above else ("lower", self.tail("less"))
            notes.append(f"{versus.capitalize()} ({tail} tail: p {p_four(p)}).")
        if self.agreement.standard_error == 0:
            notes.append(f"{self.agreement.standard_error_reason}.")
        n = f"{len(self.distribution):,}"
        often = f"all {n} arrangements" if self.exact else f"{n} reshuffles and the study itself"
        twice = " (twice the smaller side)" if self.alternative == "two-sided" else ""
        lost = f" Undefined reshuffles, left out: {self.n_undefined:,}." if self.n_undefined else ""
        meaning = f"p: the share of {often} that come out {_REACHED[self.alternative]} as the"
        least = (1 + bool(twice)) / (len(self.defined) + 1)
        is_least = not self.exact and self.p_value <= least + TIE
        floor = " This is the smallest p that so many reshuffles can give." if is_least else ""
        moved = _MOVED[self.scheme]
        notes += [f"{meaning} estimate{twice}.{floor} Reshuffled: {moved}.{lost}"]
        notes.append(self.scheme_reason)
        if (other := self.other) is not None:
            notes[-1] += f" With {_MOVED[other.scheme]} reshuffled, p is {p_four(other.p_value)}."
        if self.ignoring:
            notes.append(
                f"The reshuffles ignore {self.ignored}: agreement is called above or below "
                "chance by the larger p of the reshuffles and of the estimate over clusters "
                f"({p_four(self.agreement.p_value)}, two-sided)."
            )
        return notes


@per_row(PermutationTest, ResultTable[PermutationTest])
@takes_data
def permutation_test(
    agreement: Agreement | AgreementTable | Data,
    *more: RaterAnswers,
    n_resamples: int = 9999,
    scheme: Scheme | None = None,
    alternative: Alternative = "greater",
    cluster: OfUnits | None = None,
    rng: Rng = None,
    **options: Unpack[ReadingOptions],
) -> PermutationTest | ResultTable[PermutationTest]:
    """Return the null distribution of a coefficient by reshuffling answers.

    Parameters
    ----------
    agreement : Agreement, AgreementTable, or a study
        Result of a coefficient function or of `agreement`. For a study, a table or a path,
        Krippendorff's alpha with its default distance.
    n_resamples : int
        Number of reshuffles. If there are at most as many arrangements, all of them are used.
    scheme : {"pooled", "within_rater", "table", "within_cluster", "rotation"}, optional
        Default: ``"pooled"`` if every rater rated every unit; otherwise that one of ``"pooled"``
        and ``"within_rater"`` whose p is larger, because raters with different habits who rated
        different units agree more than reshuffles over all raters do. If the raters are unknown,
        or gave one answer each, the default is ``"pooled"`` alone.
        ``"pooled"``: all answers over the same cells, across raters (for alpha the pairable ones;
        the mean of the null distribution is then exactly 0). ``"within_rater"``: each rater's
        answers over the units of that rater, which preserves each rater's label frequencies.
        ``"table"``: all cells of the units x raters table, including missing ones.
        ``"within_cluster"``: the answers of each cluster over its own cells, which tests agreement
        beyond that due to the cluster; the other schemes ignore clusters, so that their p is too
        small if raters repeat answers inside clusters; see `PermutationTest.claim_p`.
        ``"rotation"``, the default and the only scheme of units with sizes: each rater's answers
        along each document, by a random offset, and those beyond the end to the beginning; pieces
        keep their neighbours. p is too small if all raters begin at the top of a document and stop
        somewhere.
    alternative : {"greater", "less", "two-sided"}
        The tail that counts as extreme.
    cluster : str, mapping or Series, optional
        The document, patient or conversation of each unit; see `Annotations.sampled`.
    rng : int or numpy Generator, optional
        The seed; equal seeds give equal numbers. Each row of a table uses it.

    Returns
    -------
    PermutationTest or ResultTable of PermutationTest

    Raises
    ------
    DataError
        The scheme needs raters and the study is a tally: ``"table"`` does not accept any tally,
        ``"within_rater"`` none without rater identities.
    OptionError
        An option is unknown.

    Warns
    -----
    SetagreeWarning
        The study has clusters, strata or a population size, which this scheme ignores.

    Examples
    --------
    >>> import setagree as sa
    >>> alpha = sa.krippendorff_alpha(sa.simulate(60, 3, rng=1))
    >>> test = sa.permutation_test(alpha, n_resamples=499, rng=1)
    >>> test.p_value, test.exact_mean
    (0.002, 0.0)
    """
    check_least("n_resamples", n_resamples, 1)
    as_generator(rng)
    if scheme is not None:
        check_choice("scheme", scheme, get_args(Scheme))
    check_choice("alternative", alternative, ("greater", "less", "two-sided"))
    return for_each_row(
        agreement,
        lambda row: (
            _default_test(row, n_resamples, alternative, as_generator(rng))
            if scheme is None
            else _tested(row, n_resamples, scheme, alternative, as_generator(rng))
        ),
        cluster=cluster,
    )


def _default_test(
    agreement: Agreement, n_resamples: int, alternative: Alternative, generator: np.random.Generator
) -> PermutationTest:
    """Return the pooled test, or that of two schemes whose p is larger."""
    if agreement.case.is_sized:
        return _tested(agreement, n_resamples, "rotation", alternative, generator)
    schemes, reason = _default_schemes(agreement)
    tests = [_tested(agreement, n_resamples, each, alternative, generator) for each in schemes]
    # The pooled test is first, also if the other p is equal or undefined.
    first, *others = sorted(tests, key=lambda test: -np.nan_to_num(test.p_value, nan=-1.0))
    return replace(first, other=next(iter(others), None), scheme_reason=reason)


def _default_schemes(agreement: Agreement) -> tuple[tuple[Scheme, ...], str]:
    """Return the schemes of the default, and the reason if there may be doubt about them."""
    if agreement.reason is not None:
        return ("pooled",), ""
    if agreement.study is None and agreement.tally.given is None:
        return ("pooled",), (
            "The raters are unknown: if not all of them rated every unit, p may be too small."
        )
    unit, rater, _ = ratings_of(agreement)
    if agreement.definition.model.weigh == "ratings":
        kept = pairable_ratings(unit)
        unit, rater = unit[kept], rater[kept]
    each = np.bincount(rater)
    if len(unit) == len(np.unique(unit)) * np.count_nonzero(each):
        return ("pooled",), ""
    if each.max() == 1:
        return ("pooled",), (
            "Each rater gave one answer, so that answers cannot be reshuffled within raters."
        )
    return ("pooled", "within_rater"), (
        "Not every rater rated every unit: p is the larger one of two reshuffles."
    )


def _tested(
    agreement: Agreement,
    n_resamples: int,
    scheme: Scheme,
    alternative: Alternative,
    generator: np.random.Generator,
) -> PermutationTest:
    if scheme == "within_rater" and agreement.study is None and agreement.tally.given is None:
        raise DataError(
            f"{option('scheme', 'within_rater')} requires the rater of each answer, which a tally "
            "lacks unless it keeps raters: tally(..., keep_raters=True)."
        )
    if scheme == "within_cluster" and not is_clustered(agreement):
        raise OptionError(
            f"{option('scheme', 'within_cluster')} needs {option('cluster')}, what each unit "
            "belongs to."
        )
    if agreement.case.is_sized != (scheme == "rotation"):
        raise OptionError(
            f"{option('scheme', scheme)} is not for units "
            f"{'with' if agreement.case.is_sized else 'without'} sizes."
        )
    sampling = None if agreement.study is None else agreement.study.sampling
    is_ignored = sampling is not None and not (sampling.is_weighted and sampling.cluster is None)
    if sampling is not None and is_ignored and scheme not in {"within_cluster", "rotation"}:
        within = f" To keep answers in their cluster, use {option('scheme', 'within_cluster')}."
        instead = "" if sampling.cluster is None else within
        warn_ignored(sampling, f"permutation_test with {option('scheme', scheme)}", instead)
    exact = False
    if agreement.reason is not None:
        check_drawing(n_resamples, 1)
        distribution = np.full(n_resamples, np.nan)
    elif scheme == "rotation":
        distribution = rotated_estimates(agreement, n_resamples, generator)
    else:
        shuffler, is_table = shuffler_of(agreement, scheme), scheme == "table"
        distribution, exact = null_estimates(shuffler, n_resamples, generator, is_table=is_table)
    mean = exact_mean(agreement, scheme)
    return PermutationTest(agreement, distribution, scheme, alternative, exact, mean)


def share_reached(gaps: Floats, *, exact: bool) -> float:
    """Return (1 + #{gap >= 0}) / (B + 1) of B reshuffles, or the share if they are all there are.

    A gap is a reshuffled estimate minus the observed one. Return NaN without reshuffles.
    """
    if not len(gaps):
        return float("nan")
    return (int((gaps >= -TIE).sum()) + (not exact)) / (len(gaps) + (not exact))


def null_estimates(
    cells: Cells, n_resamples: int, generator: np.random.Generator, *, is_table: bool = False
) -> tuple[Floats, bool]:
    """Return the estimates of random reshuffles and False, or of all arrangements and True.

    All arrangements are evaluated if there are at most `n_resamples` of them, but not of the cells
    of a table.
    """
    n_arrangements = inf if is_table else cells.n_arrangements()
    exact = n_arrangements <= n_resamples
    width = len(cells.value) if is_table else cells.width
    check_drawing(int(min(n_arrangements, n_resamples)), width)
    estimates = cells.all_estimates() if exact else cells.estimates(n_resamples, generator)
    return estimates, exact


def shuffler_of(agreement: Agreement, scheme: str) -> Shuffler:
    """Return the cells of a study whose answers a scheme permutes, with the coefficient."""
    case, model = agreement.case, agreement.definition.model
    table = scheme == "table"
    unit, rater, value = _table_cells(agreement) if table else ratings_of(agreement)
    if scheme in {"pooled", "within_cluster"}:
        # Alpha ignores the answers of units that are not pairable.
        kept = pairable_ratings(unit) if model.weigh == "ratings" else slice(None)
        unit, rater, value = unit[kept], rater[kept], value[kept]
    group: Codes = np.zeros(len(unit), dtype=np.intp)
    if scheme == "within_rater":
        group = rater
    elif scheme == "within_cluster":
        group = case.clusters[0][unit]
    return Shuffler(case, model, unit, rater, value, group)


def pairable_ratings(unit: Codes) -> Codes:
    """Return the positions of the ratings of units with at least two."""
    return np.flatnonzero(np.bincount(unit)[unit] >= 2)


def _table_cells(agreement: Agreement) -> tuple[Codes, Codes, Codes]:
    """Return the unit, rater and value of each cell of the units x raters table; K if missing."""
    study = require_study(agreement, option("scheme", "table"))
    n_cells = study.n_units * study.n_raters
    if n_cells > MAX_TABLE_CELLS:
        raise DataError(
            f"{option('scheme', 'table')} would move {n_cells:,} cells; the limit is "
            f"{MAX_TABLE_CELLS:,}."
        )
    value = np.full(n_cells, agreement.weights.n_values)
    value[study.unit_codes.astype(np.int64) * study.n_raters + study.rater_codes] = (
        study.value_codes
    )
    unit, rater = np.divmod(np.arange(n_cells), study.n_raters)
    return unit, rater, value


def ratings_of(agreement: Agreement) -> tuple[Codes, Codes, Codes]:
    """Return the unit, rater and value of each rating. Raters are 0 if they are unknown.

    The units of a tally are listed pattern by pattern.
    """
    study, tally = agreement.study, agreement.tally
    if study is not None:
        return study.unit_codes, study.rater_codes, study.value_codes.astype(np.intp)
    counts, times = tally.counts.astype(np.intp), tally.multiplicity.astype(np.intp)
    if (counts != tally.counts).any() or (times != tally.multiplicity).any():
        raise DataError("counts that are fractions cannot be reshuffled.")
    if tally.n_ratings > MAX_RESHUFFLED:
        raise DataError(
            f"a reshuffle would move {tally.n_ratings:,} answers; the limit is {MAX_RESHUFFLED:,}."
        )
    patterns = np.repeat(np.arange(tally.n_patterns), times)
    if tally.given is not None:
        whole = tally.given.take(patterns)
        return whole.rows, whole.rater_codes, whole.value_codes.astype(np.intp)
    rated = tally.pattern_ratings.astype(np.intp)
    places = entries_of(np.append(0, np.cumsum(rated)), patterns)
    value = np.repeat(tally.indices, counts)[places].astype(np.intp)
    unit = np.repeat(np.arange(len(patterns)), rated[patterns])
    return unit, np.zeros(len(unit), dtype=np.intp), value


def exact_mean(agreement: Agreement, scheme: str) -> float:
    """Return the mean of the null distribution, or NaN if no formula is known.

    Pooled: 0 for alpha, whose De no reshuffle changes; -1 / (N - 1) for Fleiss' kappa and Scott's
    pi on complete data with N ratings. Within raters on complete data: 0 for Conger's and Cohen's
    kappa. NaN if the coefficient is undefined or has sampling weights.
    """
    tally = agreement.tally
    if agreement.reason is not None or agreement.case.is_weighted:
        return float("nan")
    complete = bool((tally.pattern_ratings == tally.pattern_ratings[0]).all())
    model = agreement.definition.model
    if scheme == "pooled" and model == Urn("ratings"):
        return 0.0
    if scheme == "pooled" and model == Urn("units") and complete:
        return -1.0 / (tally.n_ratings - 1)
    everybody = complete and tally.pattern_ratings[0] == tally.n_raters
    by_rater = model == UrnOfEachRater()
    return 0.0 if scheme == "within_rater" and everybody and by_rater else float("nan")
