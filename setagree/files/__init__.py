"""Where annotations come from: files, and what their columns mean."""

from setagree.files.columns import (
    Columns,
    guess_columns,
    guess_people,
    guess_wide_unit,
    with_columns,
    with_missing_ids,
)

__all__ = [
    "Columns",
    "guess_columns",
    "guess_people",
    "guess_wide_unit",
    "with_columns",
    "with_missing_ids",
]
