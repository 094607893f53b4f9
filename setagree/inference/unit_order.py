"""Order of the units of a study, and their clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.checks import Codes
from setagree.coefficients.measured import SizedAlpha
from setagree.coefficients.uncertain import patterns_of_units
from setagree.errors import DataError, OptionError, counted, listing, option, shorten
from setagree.lazy import pd
from setagree.limits import BLOCK_ENTRIES
from setagree.scoring.results import Agreement
from setagree.study.identifiers import Keys, value_numbers
from setagree.study.sampling import Sample

Places: TypeAlias = npt.NDArray[np.integer[Any]]


def rows_of_units(agreement: Agreement) -> tuple[npt.NDArray[Any], int]:
    """Return the row of each unit in the data of the coefficient, and the number of rows.

    Raise DataError if the tally has fractional units, which cannot be drawn.
    """
    tally = agreement.tally
    if agreement.definition.needs_raters and agreement.study is not None:
        return np.arange(tally.n_units), tally.n_units
    return patterns_of_units(tally), tally.n_patterns


def drawn_rows(agreement: Agreement) -> tuple[npt.NDArray[Any], int]:
    """Return the row of each unit and the number of rows, with units ordered by their answers.

    Draws of positions do not depend on the order of rows, the names of the units or the engine that
    reduced the data. Units with the same pattern are adjacent, so that coefficients of one study
    have them at the same positions.
    """
    rows, n_rows = rows_of_units(agreement)
    keys = agreement.tally.keys
    if agreement.definition.needs_raters:
        order = np.lexsort((_keys_by_rater(agreement), keys[agreement.case.rated.patterns]))
    else:
        order = np.argsort(keys, kind="stable")
    return np.repeat(order, np.bincount(rows, minlength=n_rows)[order]), n_rows


def unit_keys(agreement: Agreement) -> Keys:
    """Return a hash per unit of its answers, and of their raters if the coefficient uses them.

    Units are in the order of `rows_of_units`.
    """
    by_unit = agreement.definition.needs_raters
    keys = _keys_by_rater(agreement) if by_unit else agreement.tally.keys
    return np.asarray(keys[rows_of_units(agreement)[0]])


def _keys_by_rater(agreement: Agreement) -> Keys:
    """Return per row of the ratings the sum of hashes of its pairs of value and rater."""
    rated = agreement.case.rated
    raters = value_numbers(rated.raters) | np.uint64(1)
    out = np.zeros(len(rated.row_times), dtype=np.uint64)
    each = value_numbers(agreement.tally.values)[rated.value_codes] * raters[rated.rater_codes]
    np.add.at(out, rated.row_codes, each)
    return out


def on_one_tally(agreements: Sequence[Agreement]) -> bool:
    """Return whether all agreements were computed from the same study."""
    first = agreements[0].tally
    return all(one.tally.indptr is first.indptr for one in agreements)


def unit_places(agreements: Sequence[Agreement]) -> list[Places]:
    """Return the positions of the units of each agreement in one common list of units.

    Units are matched by position if all agreements share one tally, else by their identifiers.
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


def is_clustered(agreement: Agreement) -> bool:
    """Return whether the units of an agreement were drawn in clusters."""
    sample = agreement.case.sample
    return sample is not None and sample.is_clustered


def check_weighted(agreement: Agreement, what: str) -> None:
    """Raise OptionError if units have sampling weights, strata or a population size."""
    sample = agreement.case.sample
    if sample is not None and not (sample.is_plain_clusters or sample.is_sized):
        both = agreement.inference.method == "score"
        takes = "t and the score interval" if both else "t interval"
        raise OptionError(
            f"{what} is not defined for {sample.design.description}, which the {takes} of the "
            f"agreement {'take' if both else 'takes'} into account."
        )


def rows_of_clusters(agreements: Sequence[Agreement]) -> list[Any]:
    """Return per agreement the number of units by cluster and row (pattern or unit), sparse.

    Clusters are ordered by their answers alone, so that a seed draws the same ones for any order of
    rows and any names. The order is the same for all agreements.
    """
    groups, names = agreements[0].case.clusters
    keys = np.zeros(n := len(names), dtype=np.uint64)
    for one in agreements:
        np.add.at(keys, groups, unit_keys(one))
    rank = np.argsort(np.argsort(keys, kind="stable"), kind="stable")
    return [counted_in(rank[groups], one, n) for one in agreements]


def counted_in(groups: Codes, agreement: Agreement, n_groups: int) -> Any:
    """Return the number of units by group and row of an agreement, as a sparse array.

    Units with sizes count by these; `SizedAlpha.reweighted` has two more columns.
    """
    from scipy import sparse

    case, sums, (rows, n_rows) = agreement.case, agreement.sums, rows_of_units(agreement)
    sizes = case.pairable_weights if case.is_sized else np.ones(len(rows))
    each, n = [(sizes, groups, rows)], n_rows
    if isinstance(sums, SizedAlpha):
        units = np.zeros(len(groups), dtype=np.int64)
        for k, of_rater in enumerate(sums.same_rater):
            each.append((of_rater, groups, units + n_rows + k))
        n += 2
    x, i, j = (np.concatenate(part) for part in zip(*each, strict=True))
    return sparse.coo_array((x, (i, j)), shape=(n_groups, n)).tocsr()


def without_clusters(agreement: Agreement) -> pd.Series[float]:
    """Return the estimate without each cluster."""
    groups, names = agreement.case.clusters
    inside = counted_in(groups, agreement, len(names))
    evaluate = agreement.sums.reweighted
    whole = np.asarray(inside.sum(axis=0), dtype=np.float64)
    at_once = max(1, BLOCK_ENTRIES // len(whole))
    starts = range(0, len(names), at_once)
    parts = [evaluate(whole - inside[start : start + at_once].toarray()) for start in starts]
    index = pd.Index(names, name="cluster", tupleize_cols=False)
    return pd.Series(np.concatenate(parts), index=index)


def common_sample(agreements: Sequence[Agreement], places: Sequence[Places]) -> Sample | None:
    """Return the sampling design of the units of a common list, or None if there is none.

    Raise DataError if only some agreements have clusters, or a unit has two clusters, two strata or
    two population sizes.
    """
    samples = [one.case.sample for one in agreements]
    kinds = {sample is not None and sample.is_clustered for sample in samples}
    if len(kinds) > 1:
        raise DataError(
            f"some of the agreements have clusters and others none; give {option('cluster')} to "
            "all of them."
        )
    first = next((sample for sample in samples if sample is not None), None)
    if first is None or all(sample is first for sample in samples):
        return first
    if first.is_clustered and not all(
        x is not None and (x.is_plain_clusters or x.is_sized == first.is_sized) for x in samples
    ):
        raise OptionError(
            "studies whose clusters have sampling weights, strata or a population size are only "
            f"compared with {option('design', 'independent')}."
        )
    n = 1 + max(int(place.max(initial=-1)) for place in places)
    named, size = np.full(n, None, dtype=object), np.full(n, np.inf)
    for sample, place in zip(samples, places, strict=True):
        names, sizes = np.full(len(place), "", dtype=object), np.full(len(place), np.inf)
        if sample is not None:
            groups = np.zeros(len(place), np.intp) if sample.groups is None else sample.groups
            names = sample.names[groups]
            sizes = sizes if sample.is_clustered else sample.sizes[groups]
        before = named[place]
        is_named = np.array([name is not None for name in before], dtype=bool)
        moved = is_named & (np.not_equal(before, names).astype(bool) | (size[place] != sizes))
        if moved.any():
            if True not in kinds:
                raise DataError(
                    "a unit is drawn from one stratum, or population, of one size; the studies "
                    "that are compared give different ones for the same units. Give both the same."
                )
            raise DataError(
                f"a unit is in one cluster, and one is in {shorten(before[moved][0])} in one "
                f"study, in {shorten(names[moved][0])} in another."
            )
        named[place], size[place] = names, sizes
    groups, names = pd.factorize(named, use_na_sentinel=False)
    size_of = np.full(len(names), np.inf)
    size_of[groups] = size
    return replace(first, groups=groups, names=names, sizes=size_of)
