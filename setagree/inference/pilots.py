"""What one unit adds to the variance in a pilot study, and what it would with other raters."""

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
from setagree.errors import (
    DataError,
    SparseRatersWarning,
    UndefinedAgreementWarning,
    counted,
    shorten,
    warn,
)
from setagree.inference.jackknife import jackknife
from setagree.inference.known_raters import known_study
from setagree.inference.widths import Drawing
from setagree.progress import track
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score_part
from setagree.study.annotations import Annotations

Variances: TypeAlias = dict[float | None, tuple[float, str]]
"""n SE² by number of raters, and what it rests on."""


class Seen(NamedTuple):
    """What some number of raters gave."""

    variance: float
    """n SE²."""
    ratings: float
    """Ratings of a unit that has two, on average: fewer than the raters where some are missing."""


_SPARSE = 0.5
"""A rater with a smaller share of the busiest rater's ratings is no example of one more rater."""

_TOGETHER = 0.75
"""Cells that are rated at least where the same raters are said to rate all units."""

_MOST = 0.8
"""Ratings that the raters who are not sparse must have at least, or else raters take turns."""

_THINNINGS = 20
"""Draws of ratings inside units; each averages over all units already."""

_POINTS = 6
"""Numbers of raters at most that are tried to see what more would bring."""

_ALL_TRIED = 10
"""Up to which every number of raters is weighed by its cost."""

_LONG_WORK = 2_000_000


def unit_variance(agreement: Agreement) -> tuple[float, int]:
    """Return n SE² and n, the units behind the standard error.

    Where there is no linearised standard error, it is that of the jackknife over units.
    """
    if agreement.parts.influence.size:
        n = int(agreement.degrees_of_freedom + 1)
        return agreement.standard_error**2 * n, n
    n = agreement.n_pairable_units
    if agreement.reason is not None:
        return float("nan"), n
    return jackknife(agreement).standard_error ** 2 * n, n


class PilotClusters(NamedTuple):
    """What a pilot whose units were drawn in clusters tells of them."""

    plain: Agreement
    """The same agreement as if units had been drawn one by one."""
    own: Drawing
    """Clusters as large as those of the pilot, and as unequal."""
    together: float
    """sum m_g² / n: how many units there are in the cluster of a unit, on average."""
    alike: float
    """rho, by which SE² is 1 + (m - 1) rho times that of units drawn one by one."""


def pilot_clusters(agreement: Agreement) -> PilotClusters | None:
    """Return the clusters of a pilot; None where its units were drawn one by one."""
    study, found = agreement.study, agreement.spread.clusters
    if study is None or agreement.case.sample is None:
        return None
    if found is None or not agreement.standard_error > 0:
        raise DataError(f"a plan in clusters needs their spread: {agreement.interval_reason}.")
    plain = score_part(agreement, replace(study, sampling=None))
    m = float(found.sizes @ found.sizes / found.sizes.sum())
    more = (agreement.standard_error / plain.standard_error) ** 2 - 1
    alike = max(0.0, more / (m - 1)) if m > 1 else 0.0
    mean = float(found.sizes.mean())
    shares = () if (found.sizes == mean).all() else tuple((found.sizes / mean).tolist())
    return PilotClusters(plain, Drawing(mean, shares), m, alike)


def variances_by_raters(
    agreement: Agreement,
    raters: Sequence[int] | None,
    n_resamples: int,
    generator: np.random.Generator,
) -> Variances:
    """Return n SE² for each wanted number of raters; never more of it for more raters.

    Warns
    -----
    SparseRatersWarning
        Some raters rated so little that they are left out.
    """
    own, _ = unit_variance(agreement)
    regular, together = _regular_raters(agreement)
    here = agreement.n_raters if together and regular.all() else ratings_a_unit(agreement)
    if raters is None or (regular.all() and list(raters) == [here]):
        return {here: (own, "pilot")}
    study = known_study(agreement, "other numbers of raters need to know")
    if not together:
        return _by_ratings(agreement, study, raters, min(n_resamples, _THINNINGS), generator)
    if not regular.all():
        _say_sparse(study, regular)
    return _by_choices(agreement, study, regular, raters, n_resamples, generator)


def affordable_raters(agreement: Agreement) -> list[int]:
    """Return the numbers of raters among which the best is sought for its cost.

    They go from 2 to twice that of the pilot, which few studies let us look beyond: all of them to
    10, some above. Of two raters nothing follows for more.
    """
    regular, together = _regular_raters(agreement)
    study = known_study(agreement, "the best number of raters needs to know")
    sizes = np.bincount(study.unit_codes)
    most = int(regular.sum()) if together else int(np.median(sizes[sizes >= 2]))
    if most == 2:
        return [2]
    beyond = np.geomspace(_ALL_TRIED, 2 * most, _POINTS).round().astype(int).tolist()
    return sorted({*range(2, min(2 * most, _ALL_TRIED) + 1), *beyond * (2 * most > _ALL_TRIED)})


def take_turns(agreement: Agreement) -> bool:
    """Say whether the raters share the units out, so that a plan is for ratings a unit."""
    return not _regular_raters(agreement)[1]


def _regular_raters(agreement: Agreement) -> tuple[npt.NDArray[np.bool_], bool]:
    """Return which raters are not sparse, and whether these rated all units together.

    They did not where raters take turns, as crowd workers do; then nobody is left out. Where it is
    not known who gave what, all are taken to have given as much.
    """
    tally, n_raters = agreement.tally, agreement.n_raters or 0
    everybody = np.ones(n_raters, dtype=bool)
    if agreement.study is None and tally.given is None:
        return everybody, tally.n_ratings >= _TOGETHER * tally.n_units * n_raters
    ratings = agreement.case.rated.ratings
    regular = ratings >= _SPARSE * ratings.max()
    theirs = int(ratings[regular].sum())
    full = theirs >= _TOGETHER * tally.n_units * regular.sum()
    if full and regular.sum() >= 2 and theirs >= _MOST * tally.n_ratings:
        return regular, True
    return everybody, False


def _say_sparse(study: Annotations, regular: npt.NDArray[np.bool_]) -> None:
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


def ratings_a_unit(agreement: Agreement) -> float:
    """Return the mean number of ratings of units that have two; a whole number as such."""
    tally = agreement.tally
    m = tally.multiplicity * tally.pairable
    mean = float(m @ tally.pattern_ratings) / float(m.sum()) if m.any() else float("nan")
    return int(mean) if mean.is_integer() else mean


def _by_choices(
    agreement: Agreement,
    study: Annotations,
    regular: npt.NDArray[np.bool_],
    raters: Sequence[int],
    n_resamples: int,
    generator: np.random.Generator,
) -> Variances:
    """Return n SE² of the pilot's raters, of fewer of them, and of more."""
    able = np.flatnonzero(regular)
    most, whole = len(able), bool(regular.all())
    asked = {*raters, most} | (_some_numbers(most) if max(raters) > most else set())
    found, names = {}, {}
    for r in sorted(asked & set(range(2, most + 1))):
        names[r] = "pilot" if whole and r == most else "raters left out"
        if names[r] == "pilot":
            found[r] = Seen(unit_variance(agreement)[0], ratings_a_unit(agreement))
            continue
        chosen = _choices(able, r, n_resamples, generator, study.n_ratings)
        kept = (np.isin(study.rater_codes, some) for some in chosen)
        found[r] = _seen(agreement, study, kept, r, total=len(chosen))
    return _table(found, names, raters)


def _choices(
    able: npt.NDArray[np.intp],
    r: int,
    n_resamples: int,
    generator: np.random.Generator,
    n_ratings: int,
) -> list[list[int]]:
    """Return all choices of r raters, or some at random where there are more than n_resamples."""
    check_drawing(min(n_resamples, math.comb(len(able), r)), n_ratings + LOOPED)
    some = itertools.islice(itertools.combinations(able.tolist(), r), n_resamples + 1)
    choices = [list(choice) for choice in some]
    if len(choices) <= n_resamples:
        return choices
    return [generator.choice(able, r, replace=False).tolist() for _ in range(n_resamples)]


def _by_ratings(
    agreement: Agreement,
    study: Annotations,
    raters: Sequence[int],
    n_draws: int,
    generator: np.random.Generator,
) -> Variances:
    """Return n SE² for so many ratings a unit, where raters take turns."""
    sizes = np.bincount(study.unit_codes, minlength=study.n_units)
    pairable = sizes[sizes >= 2]
    most = int(np.median(pairable))
    asked = {*raters, most} | (_some_numbers(most) if max(raters) > most else set())
    found, names = {}, {}
    for r in sorted(asked & set(range(2, most + 1))):
        if (pairable == r).all():
            found[r], names[r] = Seen(unit_variance(agreement)[0], r), "pilot"
            continue
        kept = (_thinned(study, sizes, r, generator) for _ in range(n_draws))
        found[r] = _seen(agreement, study, kept, r, total=n_draws)
        names[r] = "ratings left out"
    return _table(found, names, raters)


def _thinned(
    study: Annotations, sizes: npt.NDArray[np.intp], r: int, generator: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Return r ratings at random of each unit that has as many."""
    order = np.lexsort((generator.random(study.n_ratings), study.unit_codes))
    units = study.unit_codes[order]
    rank = np.arange(study.n_ratings) - (np.cumsum(sizes) - sizes)[units]
    kept = np.zeros(study.n_ratings, dtype=bool)
    kept[order[(rank < r) & (sizes[units] >= r)]] = True
    return kept


def _seen(
    agreement: Agreement,
    study: Annotations,
    kept: Iterable[npt.NDArray[np.bool_]],
    r: int,
    *,
    total: int,
) -> Seen:
    """Return the means over parts of the study; say where n SE² is undefined or 0."""
    long = total * study.n_ratings > _LONG_WORK
    drawn = track(kept, total=total, what=f"{r} raters", long=long)
    parts = (score_part(agreement, study.take(some)) for some in drawn)
    pairs = [(unit_variance(part)[0], ratings_a_unit(part)) for part in parts]
    variances, ratings = np.array(pairs).T
    if np.isnan(variances).all():
        raise DataError(
            f"{r} raters of the pilot have no standard error, so nothing follows from it."
        )
    _say_degenerate(variances, r)
    return Seen(float(np.nanmean(variances)), float(np.nanmean(ratings)))


def _say_degenerate(found: npt.NDArray[np.float64], r: int) -> None:
    undefined = int(np.isnan(found).sum())
    perfect = int((found <= ROUNDING**2).sum())
    if not undefined + perfect:
        return
    said = [f"{undefined:,} without a standard error (left out)"] if undefined else []
    said += [f"{perfect:,} with one of 0 (they pull the mean down)"] if perfect else []
    warn(
        f"{r} raters of the pilot: of {counted(len(found), 'choice')} {', '.join(said)}; the pilot "
        f"is too small to say much of {r} raters.",
        UndefinedAgreementWarning,
    )


def _table(found: Mapping[int, Seen], names: Mapping[int, str], raters: Sequence[int]) -> Variances:
    """Return what is wanted: what was found, made monotone, or what it is extended to."""
    most = max(found)
    if not found[most].variance > 0:
        raise DataError(
            f"{most} raters of the pilot have no standard error above 0, so nothing follows from "
            "it."
        )
    falling = _never_rising({r: seen.variance for r, seen in found.items()})
    each = found[most].ratings / most
    return {
        r: (falling[r], names[r])
        if r <= most
        else (extended([*found.values()], each * r), "extended")
        for r in raters
    }


def _never_rising(found: Mapping[int, float]) -> dict[int, float]:
    """Return the same, but for fewer raters at least as much as for more: one can leave some out.

    What the most raters gave, the pilot as it is, stays.
    """
    out: dict[int, float] = {}
    for r in sorted(found, reverse=True):
        out[r] = max(found[r], *out.values()) if out else found[r]
    return out


def extended(found: Sequence[Seen], ratings: float) -> float:
    """Return A + B / (ratings - 1), which goes through what the most raters of the pilot gave.

    B is fitted by least squares to what fewer gave, with A, B >= 0: more raters never make it
    worse than the pilot, and no number of them makes it 0.
    """
    if len(found) < 2:
        raise DataError("a pilot of two raters cannot tell what more raters would bring.")
    pilot = max(found, key=lambda seen: seen.ratings)
    farther = np.array([1 / (seen.ratings - 1) - 1 / (pilot.ratings - 1) for seen in found])
    worse = np.array([seen.variance - pilot.variance for seen in found])
    most = pilot.variance * (pilot.ratings - 1)
    slope = float(np.clip(farther @ worse / (farther @ farther), 0, most))
    return pilot.variance - slope * (1 / (pilot.ratings - 1) - 1 / (ratings - 1))


def _some_numbers(most: int) -> set[int]:
    """Return numbers of raters that a curve is fitted to: all where few, else some, 2 and most."""
    return set(np.geomspace(2, most, _POINTS).round().astype(int).tolist())
