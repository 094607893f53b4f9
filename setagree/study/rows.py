"""The numbers of rows in the table that somebody gave, of which some may be left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

_INDEX = "\0row"
"""The name of an index that holds the places of the rows."""


def numbered(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose rows keep their numbers when some are left out.

    Examples
    --------
    >>> table = numbered(pd.DataFrame({"unit": ["u1", "u2", "u3"]}))
    >>> row_numbers(table[table["unit"] != "u2"]["unit"]).tolist()
    [1, 3]
    """
    if table.index.name == _INDEX:
        return table
    return table.set_axis(pd.RangeIndex(len(table), name=_INDEX), axis=0)


def row_numbers(rows: pd.DataFrame | pd.Series[Any]) -> npt.NDArray[np.int64]:
    """Return the number of each row, counted from 1 below the header."""
    is_known = rows.index.name == _INDEX
    return (rows.index.to_numpy() if is_known else np.arange(len(rows))) + 1
