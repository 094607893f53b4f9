"""Variance of a coefficient by number of raters, estimated from a pilot study."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.checks import LOOPED, check_drawing
from setagree.coefficients.chance import ROUNDING
from setagree.coefficients.estimated import estimated
from setagree.errors import (
    DataError,
    SparseRatersWarning,
    UndefinedAgreementWarning,
    counted,
    shorten,
    warn,
)
from setagree.inference.jackknife import jackknife
from setagree.inference.panel_members import require_study
from setagree.inference.plan_goals import Drawing
from setagree.inference.unit_order import is_clustered
from setagree.limits import LONG_LOOP
from setagree.progress import track
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score_part
from setagree.study.annotations import Annotations

_NORMAL = 3.0
"""Kurtosis of a normal distribution, used for pilots with fewer than four values."""

_SPARSE = 0.5
"""Minimum share of the busiest rater's ratings; raters below it are sparse."""

_TOGETHER = 0.75
"""Minimum share of rated cells for raters who rate all units together."""

_REGULAR_SHARE = 0.8
"""Minimum share of ratings by raters who are not sparse; below it, raters alternate."""

_THINNINGS = 20
"""Number of draws of ratings within units; each averages over all units."""

_POINTS = 6
"""Maximum number of rater counts to which the curve is fitted."""

_ALL_TRIED = 10
"""Largest number of raters up to which every number is tried if costs are compared."""

Variances: TypeAlias = dict[float | None, tuple[float, str]]
"""n SE² by number of raters, with its basis."""


class RaterVariance(NamedTuple):
    """n SE² for one number of raters, with the mean number of ratings per pairable unit."""

    variance: float
    ratings: float


def unit_variance(agreement: Agreement) -> tuple[float, int]:
    """Return n SE², and n, the number of units of the standard error.

    Without a linearised standard error, that of the jackknife over units is used.
    """
    if agreement.parts.influence.size:
        n = int(agreement.degrees_of_freedom + 1)
        return agreement.standard_error**2 * n, n
    n = agreement.n_pairable_units
    if agreement.reason is not None:
        return float("nan"), n
    return jackknife(agreement).standard_error ** 2 * n, n


def kurtosis_of(agreement: Agreement) -> tuple[float, float, float]:
    """Return the kurtosis K of the sampled values, their number, and the degrees of freedom of t.

    The values are the linearised ones of units, or the deviations of clusters. K is 3 plus their
    unbiased G2 (or, if the coefficient has none, that of the leave-one-out estimates), at least 1,
    and 3 for fewer than four values.
    """
    parts, in_clusters = agreement.parts, is_clustered(agreement)
    if in_clusters:
        x = estimated(agreement.case, parts).deviations
        times = np.ones(len(x))
    elif parts.influence.size:
        x, times = parts.influence, parts.counted
        x, times = x[times > 0], times[times > 0]
    else:
        without = jackknife(agreement).values.to_numpy(dtype=np.float64)
        x = np.asarray(without[np.isfinite(without)], dtype=np.float64)
        times = np.ones(len(x))
    n = float(times.sum())
    df = agreement.degrees_of_freedom if in_clusters else n - 1
    off = x - float(times @ x) / n
    squares = float(times @ off**2) / n
    if n < 4 or not squares > 0:
        return _NORMAL, n, df
    # G2 = (n - 1) / [(n - 2)(n - 3)] [(n + 1) g2 + 6] with g2 = m4 / m2² - 3
    g2 = float(times @ off**4) / n / squares**2 - 3
    return max(1.0, 3 + (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * g2 + 6)), n, df


class PilotClusters(NamedTuple):
    """Clusters of a pilot whose units were drawn in clusters."""

    plain: Agreement
    """The agreement computed as if units had been drawn one by one."""
    own: Drawing
    """Clusters with the mean size and the variation of sizes of the pilot's."""
    together: float
    """sum m_g² / n: the mean over units of the size of their cluster."""
    alike: float
    """rho, where SE² is 1 + (m - 1) rho times that of units drawn one by one."""

    def drawings(self, sizes: Sequence[int] | None) -> list[tuple[Drawing, float]]:
        """Return clusters of these sizes, with the factor by which each multiplies n SE²."""
        if sizes is None:
            return [(self.own, 1 + (self.together - 1) * self.alike)]
        return [(Drawing(m), 1 + (m - 1) * self.alike) for m in sizes]


def pilot_clusters(agreement: Agreement) -> PilotClusters | None:
    """Return the clusters of a pilot, or None if its units were drawn one by one."""
    study, clusters = agreement.study, agreement.spread.clusters
    if study is None or agreement.case.sample is None:
        return None
    if clusters is None or not agreement.standard_error > 0:
        raise DataError(
            f"a plan in clusters needs their spread: {agreement.standard_error_reason}."
        )
    plain = score_part(agreement, replace(study, sampling=None))
    m = float(clusters.sizes @ clusters.sizes / clusters.sizes.sum())
    more = (agreement.standard_error / plain.standard_error) ** 2 - 1
    alike = max(0.0, more / (m - 1)) if m > 1 else 0.0
    mean = float(clusters.sizes.mean())
    shares = () if (clusters.sizes == mean).all() else tuple((clusters.sizes / mean).tolist())
    return PilotClusters(plain, Drawing(mean, shares), m, alike)


def variances_by_raters(
    agreement: Agreement,
    raters: Sequence[int] | None,
    n_resamples: int,
    generator: np.random.Generator,
) -> Variances:
    """Return n SE² for each number of raters, not increasing in that number.

    Warns
    -----
    SparseRatersWarning
        Some raters have so few ratings that they are left out.
    """
    own, per_unit = unit_variance(agreement)[0], ratings_per_unit(agreement)
    regular, together = _regular_raters(agreement)
    here = agreement.n_raters if together and regular.all() else per_unit
    if raters is None or (regular.all() and list(raters) == [here]):
        return {here: (own, "pilot")}
    study = require_study(agreement, "a plan for other numbers of raters")
    if not regular.all():
        _warn_sparse(study, regular)
    sizes = np.bincount(study.unit_codes, minlength=study.n_units)
    pairable = sizes[sizes >= 2]
    most = int(regular.sum()) if together else int(np.median(pairable))
    tried = {*raters, most}
    if max(raters) > most:  # The curve is fitted to some numbers, with 2 and the largest.
        tried |= set(np.geomspace(2, most, _POINTS).round().astype(int).tolist())
    found, names = {}, {}
    for r in sorted(tried & set(range(2, most + 1))):
        if (regular.all() and r == most) if together else (pairable == r).all():
            found[r], names[r] = RaterVariance(own, per_unit), "pilot"
            continue
        if together:
            chosen = _choices(np.flatnonzero(regular), r, n_resamples, generator, study.n_ratings)
            kept, total = (np.isin(study.rater_codes, some) for some in chosen), len(chosen)
        else:
            total = min(n_resamples, _THINNINGS)
            kept = (_thinned(study, sizes, r, generator) for _ in range(total))
        found[r] = _mean_variance(agreement, study, kept, r, total=total)
        names[r] = "raters left out" if together else "ratings left out"
    return _monotone(found, names, raters)


def affordable_raters(agreement: Agreement) -> list[int]:
    """Return the numbers of raters to compare by cost.

    They range from 2 to twice that of the pilot: all numbers to 10, some above. A pilot of two
    raters cannot be extrapolated.
    """
    regular, together = _regular_raters(agreement)
    study = require_study(agreement, "the best number of raters")
    sizes = np.bincount(study.unit_codes)
    most = int(regular.sum()) if together else int(np.median(sizes[sizes >= 2]))
    if most == 2:
        return [2]
    beyond = np.geomspace(_ALL_TRIED, 2 * most, _POINTS).round().astype(int).tolist()
    return sorted({*range(2, min(2 * most, _ALL_TRIED) + 1), *beyond * (2 * most > _ALL_TRIED)})


def raters_alternate(agreement: Agreement) -> bool:
    """Return whether raters alternate, so that a plan sets the ratings per unit."""
    return not _regular_raters(agreement)[1]


def _regular_raters(agreement: Agreement) -> tuple[npt.NDArray[np.bool_], bool]:
    """Return flags of the raters who are not sparse, and whether these rated all units together.

    If raters alternate, as in a crowd, nobody is left out. Without rater identities, all raters are
    assumed to have the same number of ratings.
    """
    tally, n_raters = agreement.tally, agreement.n_raters or 0
    everybody = np.ones(n_raters, dtype=bool)
    if agreement.study is None and tally.given is None:
        return everybody, tally.n_ratings >= _TOGETHER * tally.n_units * n_raters
    ratings = agreement.case.rated.ratings
    regular = ratings >= _SPARSE * ratings.max()
    theirs = int(ratings[regular].sum())
    full = theirs >= _TOGETHER * tally.n_units * regular.sum()
    if full and regular.sum() >= 2 and theirs >= _REGULAR_SHARE * tally.n_ratings:
        return regular, True
    return everybody, False


def _warn_sparse(study: Annotations, regular: npt.NDArray[np.bool_]) -> None:
    ratings = np.bincount(study.rater_codes, minlength=study.n_raters)
    sparse = np.flatnonzero(~regular)
    named = ", ".join(
        f"{shorten(study.raters[g])} with {ratings[g]:,} of {study.n_units:,} units"
        for g in sparse[:3]
    )
    more = f" and {len(sparse) - 3:,} more" if len(sparse) > 3 else ""
    warn(
        f"{counted(len(sparse), 'rater')} with fewer than half the ratings of the busiest left out "
        f"({named}{more}), because they do not show what one more rater adds; the pilot counts "
        f"as one of {int(regular.sum())} raters.",
        SparseRatersWarning,
    )


def ratings_per_unit(agreement: Agreement) -> float:
    """Return the mean number of ratings of pairable units, as an int if it is whole."""
    tally = agreement.tally
    m = tally.multiplicity * tally.pairable
    mean = float(m @ tally.pattern_ratings) / float(m.sum()) if m.any() else float("nan")
    return int(mean) if mean.is_integer() else mean


def _choices(
    able: npt.NDArray[np.intp],
    r: int,
    n_resamples: int,
    generator: np.random.Generator,
    n_ratings: int,
) -> list[list[int]]:
    """Return all choices of r raters, or n_resamples random ones if there are more."""
    check_drawing(min(n_resamples, math.comb(len(able), r)), n_ratings + LOOPED)
    some = itertools.islice(itertools.combinations(able.tolist(), r), n_resamples + 1)
    choices = [list(choice) for choice in some]
    if len(choices) <= n_resamples:
        return choices
    return [generator.choice(able, r, replace=False).tolist() for _ in range(n_resamples)]


def _thinned(
    study: Annotations, sizes: npt.NDArray[np.intp], r: int, generator: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Return flags of r random ratings of each unit that has at least r."""
    order = np.lexsort((generator.random(study.n_ratings), study.unit_codes))
    units = study.unit_codes[order]
    rank = np.arange(study.n_ratings) - (np.cumsum(sizes) - sizes)[units]
    kept = np.zeros(study.n_ratings, dtype=bool)
    kept[order[(rank < r) & (sizes[units] >= r)]] = True
    return kept


def _mean_variance(
    agreement: Agreement,
    study: Annotations,
    kept: Iterable[npt.NDArray[np.bool_]],
    r: int,
    *,
    total: int,
) -> RaterVariance:
    """Return the means over parts of the study; warn if n SE² is undefined or 0."""
    long = total * study.n_ratings > LONG_LOOP
    drawn = track(kept, total=total, what=f"{r} raters", long=long)
    parts = (score_part(agreement, study.take(some)) for some in drawn)
    pairs = [(unit_variance(part)[0], ratings_per_unit(part)) for part in parts]
    variances, ratings = np.array(pairs).T
    undefined, perfect = int(np.isnan(variances).sum()), int((variances <= ROUNDING**2).sum())
    if undefined == total:
        raise DataError(f"{r} raters of the pilot have no standard error, so no plan follows.")
    if undefined + perfect:
        counts = [f"{undefined:,} without a standard error (left out)"] if undefined else []
        counts += [f"{perfect:,} with one of 0 (which lowers the mean)"] if perfect else []
        warn(
            f"{r} raters of the pilot: of {counted(total, 'choice')} {', '.join(counts)}; the "
            f"pilot is too small to show much of {r} raters.",
            UndefinedAgreementWarning,
        )
    return RaterVariance(float(np.nanmean(variances)), float(np.nanmean(ratings)))


def _monotone(
    found: Mapping[int, RaterVariance], names: Mapping[int, str], raters: Sequence[int]
) -> Variances:
    """Return n SE² by number of raters: the observed values made monotone, or extrapolated.

    It does not increase with the number of raters, because one can leave raters out. The value of
    the largest number of raters, the unchanged pilot, is kept.
    """
    most = max(found)
    if not found[most].variance > 0:
        raise DataError(
            f"{most} raters of the pilot have no standard error above 0, so no plan follows."
        )
    falling: dict[int, float] = {}
    for r in sorted(found, reverse=True):
        falling[r] = max(found[r].variance, *falling.values()) if falling else found[r].variance
    each = found[most].ratings / most
    return {
        r: (falling[r], names[r])
        if r <= most
        else (extended([*found.values()], each * r), "extended")
        for r in raters
    }


def extended(found: Sequence[RaterVariance], ratings: float) -> float:
    """Return A + B / (ratings - 1), which equals the pilot's value at the pilot's ratings.

    B is fitted by least squares to the values of fewer ratings, with A, B >= 0: the value never
    increases with the ratings.
    """
    if len(found) < 2:
        raise DataError("a pilot of two raters does not show the effect of more raters.")
    pilot = max(found, key=lambda one: one.ratings)
    # V(r) - V(pilot) = B [1 / (r - 1) - 1 / (r_pilot - 1)]
    farther = np.array([1 / (one.ratings - 1) - 1 / (pilot.ratings - 1) for one in found])
    worse = np.array([one.variance - pilot.variance for one in found])
    most = pilot.variance * (pilot.ratings - 1)
    slope = float(np.clip(farther @ worse / (farther @ farther), 0, most))
    return pilot.variance - slope * (1 / (pilot.ratings - 1) - 1 / (ratings - 1))
