"""NVivo: refused, as its tables have no raters."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from setagree.errors import DataError
from setagree.exports.format import Request


def read(path: Path, _request: Request, what: str) -> NoReturn:
    """Raise an error for what has no raters."""
    raise DataError(
        f"{path.name} is {what}: who gave which codes to which file cannot be told from it. "
        "In NVivo, run a matrix coding query for each user alone (files in rows, codes in "
        "columns, coded by one user), and stack the matrices as a table with columns unit and "
        "rater and one column of 0 and 1 for each code."
    )
