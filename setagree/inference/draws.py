"""What inference asks of an agreement before it draws, and the rows of its units."""

from __future__ import annotations

from setagree.draws import (
    ENTRIES_AT_ONCE,
    Rng,
    as_generator,
    check_level,
    check_resamples,
    draw_units,
    row_weights,
)
from setagree.errors import DataError, a_type
from setagree.results import Agreement, AgreementTable

__all__ = [
    "ENTRIES_AT_ONCE",
    "Rng",
    "as_generator",
    "check_agreement",
    "check_level",
    "check_resamples",
    "draw_units",
    "row_weights",
]


def check_agreement(agreement: object) -> None:
    """Raise `DataError` unless it is what a coefficient function returns."""
    if isinstance(agreement, AgreementTable):
        raise DataError("a table has several coefficients; pass one row: table[name, distance].")
    if not isinstance(agreement, Agreement):
        raise DataError(
            f"{a_type(agreement)} is no agreement; pass what krippendorff_alpha, "
            "fleiss_kappa, ... returned."
        )
