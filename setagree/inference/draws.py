"""What inference asks of an agreement before it draws, and the rows of its units."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.draws import (
    ENTRIES_AT_ONCE,
    Rng,
    as_generator,
    check_level,
    check_resamples,
    draw_units,
    row_weights,
)
from setagree.errors import DataError
from setagree.results import Agreement, AgreementTable
from setagree.scoring import COEFFICIENTS

__all__ = [
    "ENTRIES_AT_ONCE",
    "Rng",
    "as_generator",
    "check_agreement",
    "check_level",
    "check_resamples",
    "draw_units",
    "row_weights",
    "rows_of_units",
]


def check_agreement(agreement: object) -> None:
    """Raise `DataError` unless it is what a coefficient function returns."""
    if isinstance(agreement, AgreementTable):
        raise DataError("a table has several coefficients; pass one row: table[name, distance].")
    if not isinstance(agreement, Agreement):
        raise DataError(
            f"a {type(agreement).__name__} is no agreement; pass what krippendorff_alpha, "
            "fleiss_kappa, ... returned."
        )


def rows_of_units(agreement: Agreement) -> tuple[npt.NDArray[Any], int]:
    """Return the row of each unit that the coefficient is computed on, and how many rows there are.

    Raises
    ------
    DataError
        The tally has fractional units, which cannot be drawn.
    """
    tally = agreement.tally
    if COEFFICIENTS[agreement.coefficient].by_unit:
        return np.arange(tally.n_units), tally.n_units
    if tally.unit_patterns is not None:
        return tally.unit_patterns, tally.n_patterns
    times = tally.multiplicity.astype(np.int64)
    if (times != tally.multiplicity).any():
        raise DataError("units that count by fractions cannot be resampled.")
    return np.repeat(np.arange(tally.n_patterns), times), tally.n_patterns
