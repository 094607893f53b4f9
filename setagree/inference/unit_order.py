"""Order of the units of a study, and the clusters that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.coefficients.chance import Codes
from setagree.coefficients.spread import (
    cluster_deviations,
    stratified_variance,
    unit_values,
    weights_of,
)
from setagree.errors import DataError, OptionError, counted, listing, option, shorten
from setagree.scoring.results import Agreement
from setagree.study.keys import Keys, value_numbers

Places: TypeAlias = npt.NDArray[np.integer[Any]]


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
    times = tally.multiplicity.astype(np.intp)
    if (times != tally.multiplicity).any():
        raise DataError("units that count by fractions cannot be resampled.")
    return np.repeat(np.arange(tally.n_patterns), times), tally.n_patterns


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


_ROWS_AT_ONCE = 2_000_000


def is_clustered(agreement: Agreement) -> bool:
    """Say whether the units of an agreement were drawn in clusters."""
    sample = agreement.case.sample
    return sample is not None and sample.is_clustered


def refuse_weighted(agreement: Agreement, what: str) -> None:
    """Refuse what takes all units for alike where they have weights, strata or a known number."""
    sample = agreement.case.sample
    if sample is not None and not sample.is_clustered:
        both = agreement.best_method == "score"
        takes = "t and the score interval" if both else "t interval"
        raise OptionError(
            f"{what} is not defined for {sample.said}, which the {takes} of the agreement "
            f"{'take' if both else 'takes'} into account."
        )


def rows_of_clusters(agreements: Sequence[Agreement]) -> list[Any]:
    """Return how often each row (pattern or unit) stands in each cluster, sparse, by agreement.

    The clusters stand in an order that their answers alone decide, so that a seed draws the same
    ones whatever the order of rows and the names; it is the same for all agreements.
    """
    groups, n = _groups(agreements[0])
    keys = np.zeros(n, dtype=np.uint64)
    for one in agreements:
        np.add.at(keys, groups, unit_keys(one))
    rank = np.argsort(np.argsort(keys, kind="stable"), kind="stable")
    return [counted_in(rank[groups], *rows_of_units(one), n) for one in agreements]


def counted_in(groups: Codes, rows: Codes, n_rows: int, n_groups: int) -> Any:
    """Return how many units of each row each group has, as a sparse array."""
    from scipy import sparse

    ones = np.ones(len(rows))
    return sparse.coo_array((ones, (groups, rows)), shape=(n_groups, n_rows)).tocsr()


def without_clusters(agreement: Agreement) -> pd.Series[float]:
    """Return the estimate without each cluster."""
    groups, n = _groups(agreement)
    rows, n_rows = rows_of_units(agreement)
    inside, sample = counted_in(groups, rows, n_rows, n), agreement.case.sample
    assert sample is not None  # noqa: S101 - it has clusters
    evaluate = agreement.sums.reweighted
    whole = np.asarray(inside.sum(axis=0), dtype=np.float64)
    at_once = max(1, _ROWS_AT_ONCE // n_rows)
    starts = range(0, n, at_once)
    parts = [evaluate(whole - inside[start : start + at_once].toarray()) for start in starts]
    index = pd.Index(sample.names, name="cluster", tupleize_cols=False)
    return pd.Series(np.concatenate(parts), index=index)


def _groups(agreement: Agreement) -> tuple[Codes, int]:
    sample = agreement.case.sample
    if sample is None or sample.groups is None:
        raise TypeError("the units of this agreement have no clusters")
    return sample.groups, len(sample.names)


def cluster_places(agreements: Sequence[Agreement], places: Sequence[Places]) -> Codes | None:
    """Return the cluster of each place in a common list of units; None where there are none.

    Raises
    ------
    DataError
        Some have clusters and others not, or a unit is in two clusters.
    """
    clustered = [is_clustered(one) for one in agreements]
    if not any(clustered):
        return None
    if not all(clustered):
        raise DataError(
            f"some of the agreements have clusters and others none; say {option('cluster')} of all "
            "of them."
        )
    named = np.full(1 + max(int(place.max(initial=-1)) for place in places), None, dtype=object)
    for one, place in zip(agreements, places, strict=True):
        groups, sample = _groups(one)[0], one.case.sample
        names = sample.names[groups] if sample is not None else groups
        before = named[place]
        moved = [k for k, old in enumerate(before) if old is not None and old != names[k]]
        if moved:
            k = moved[0]
            raise DataError(
                f"a unit is in one cluster, and one is in {shorten(before[k])} in one study, in "
                f"{shorten(names[k])} in another."
            )
        named[place] = names
    return np.asarray(pd.factorize(named)[0])


def clustered_gap(
    agreements: tuple[Agreement, Agreement], places: tuple[Places, Places], groups: Codes
) -> tuple[float, float]:
    """Return the standard error of a difference, and its degrees of freedom.

    The CR2 deviations of the two are subtracted cluster by cluster. The degrees of freedom are
    Welch's where no cluster is in both, else the fewer of the two.
    """
    psi, seen, dfs = [], [], []
    n = int(groups.max(initial=-1)) + 1
    for one, place in zip(agreements, places, strict=True):
        units, x = unit_values(one.case, one.parts)
        mine = groups[place[units]]
        each, df = cluster_deviations(mine, x, n) if len(x) else (np.full(n, np.nan), 0.0)
        psi.append(each)
        dfs.append(df)
        seen.append(np.bincount(mine, minlength=n) > 0)
    gap = psi[0] - psi[1]
    se = float(np.sqrt(gap @ gap))
    if (seen[0] & seen[1]).any():
        return se, min(dfs)
    return se, welch_df([float(each @ each) for each in psi], dfs)


def weighted_gap(
    agreements: tuple[Agreement, Agreement], places: tuple[Places, Places]
) -> tuple[float, float]:
    """Return the same where units have sampling weights or strata: u_i is subtracted unit by unit.

    u_i = w_i (x_i - mean) / sum w; the degrees of freedom are the fewer of the two.

    Raises
    ------
    DataError
        The two say different strata, or different sizes, of one unit.
    """
    n = 1 + max(int(place.max(initial=-1)) for place in places)
    u, counts, sizes = np.zeros(n), np.zeros(n, dtype=bool), np.full(n, np.inf)
    named = np.full(n, None, dtype=object)
    for sign, one, place in zip((1, -1), agreements, places, strict=True):
        units, x = unit_values(one.case, one.parts)
        if not len(x):  # undefined, and so is the difference
            return float("nan"), float("nan")
        w, at, sample = weights_of(one.case, one.parts, units), place[units], one.case.sample
        u[at] += sign * w * (x - w @ x / w.sum()) / w.sum()
        counts[at] = True
        names, of_names = np.full(len(units), "", dtype=object), np.full(len(units), np.inf)
        if sample is not None:
            groups = 0 * units if sample.groups is None else sample.groups[units]
            names, of_names = sample.names[groups], sample.sizes[groups]
        known = np.array([name is not None for name in named[at]], dtype=bool)
        if (known & (np.not_equal(named[at], names) | (sizes[at] != of_names))).any():
            raise DataError(
                "a unit is drawn from one stratum, or population, of one size; the studies that "
                "are compared say different ones of the same units. Say the same of both."
            )
        named[at], sizes[at] = names, of_names
    strata, first = pd.factorize(named[counts], use_na_sentinel=False)
    of_stratum = np.full(len(first), np.inf)
    of_stratum[strata] = sizes[counts]
    variance = stratified_variance(u[counts], np.asarray(strata), of_stratum)
    return float(np.sqrt(variance)), min(one.degrees_of_freedom for one in agreements)


def welch_df(variances: Sequence[float], dfs: Sequence[float]) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of variances; nan without any spread."""
    terms = sum(v**2 / df for v, df in zip(variances, dfs, strict=True) if df > 0)
    return sum(variances) ** 2 / terms if terms > 0 else float("nan")
