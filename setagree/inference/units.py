"""Which unit of a study is which: its row, its answers as a number, its place beside others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import DataError, counted, listing
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
