"""The answers of a rater to one unit in the order of their times."""

from __future__ import annotations

import re
import warnings

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import DataError, SetagreeWarning, counted, option, shorten
from setagree.study.assembly import code_ids, pick_column
from setagree.study.codes import Codes, as_objects
from setagree.study.frames import Frame, as_pandas
from setagree.study.reading import Reading
from setagree.study.where import key_of

_DATE = re.compile(r"\d{4}-\d\d-\d\d( |$)")


def in_order(data: Frame, reading: Reading) -> pd.DataFrame:
    """Return a long table in which a rater's answers to one unit stand in the order of a column.

    They exchange their rows with one another alone, so that units and raters keep their places.

    Raises
    ------
    DataError
        The column is absent; some answers have no time there, or it holds numbers and text.

    Examples
    --------
    >>> table = pd.DataFrame({"unit": [1, 2, 1], "rater": "ann", "at": [9, 1, 5], "labels": "abc"})
    >>> in_order(table, Reading(unit="unit", rater="rater", order_by="at"))["at"].tolist()
    [5, 1, 9]
    """
    table = as_pandas(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetagreeWarning)  # all said when the study is read
        units, raters = (
            code_ids(pick_column(table, name), role)[0].astype(np.int64)
            for name, role in ((reading.unit, "unit"), (reading.rater, "rater"))
        )
    pairs = units * (raters.max(initial=0) + 1) + raters
    ranks = _ranks(as_objects(pick_column(table, reading.order_by)), str(reading.order_by))
    places = np.empty(len(table), dtype=np.int64)
    places[np.argsort(pairs, kind="stable")] = np.lexsort((ranks, pairs))
    return table.iloc[places]


def _ranks(cells: npt.NDArray[np.object_], name: str) -> Codes:
    """Return the place of each cell among the distinct ones."""
    codes, distinct = pd.factorize(cells)
    keys = [key_of(one) for one in distinct]
    told = np.array([key is not None for key in keys] + [False])[codes]
    if not told.all():
        absent = int((~told).sum())
        raise DataError(
            f"{option('order_by', name)}: {counted(absent, 'row')} of {len(cells):,} "
            f"{'has' if absent == 1 else 'have'} nothing in that column."
        )
    numbers = [key for key in keys if not isinstance(key, str | None)]
    texts = [key for key in keys if isinstance(key, str)]
    odd = [text for text in texts if numbers or not _DATE.match(text)]
    if odd:
        raise DataError(
            f"{option('order_by', name)}: {shorten(odd[0])} in that column is neither a number nor "
            "a time as in 2026-01-31 or 2026-01-31 14:05; all must be one of the two."
        )
    place = {key: k for k, key in enumerate([*sorted({*numbers}), *sorted({*texts})])}
    return np.array([place[key] for key in keys if key is not None], dtype=np.int64)[codes]
