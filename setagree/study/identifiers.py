"""Identifiers of units and raters to integer codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import DataError, counted, listing, shorten
from setagree.study.codes import MISSING, Codes, Column, as_objects, merge, recode
from setagree.study.doubts import doubt_merged_names
from setagree.study.names import check_text, is_whole, tidied

_PROBED = 10_000


def code_ids(column: Column, role: str) -> tuple[Codes, npt.NDArray[np.object_]]:
    """Return codes and distinct identifiers, in the order of their first row."""
    try:
        codes, ids = _factorised_ids(column)
    except (TypeError, NotImplementedError) as error:
        raise DataError(f"a {role} is named by text or a number ({error}).") from error
    tidy, names = _tidy_names(codes.astype(np.int32), as_objects(ids), role)
    blank = [k for k, one in enumerate(names) if one == ""] if "" in names.tolist() else []
    bad = np.flatnonzero((tidy == MISSING) | np.isin(tidy, blank) if blank else tidy == MISSING)
    if bad.size:
        raise DataError(
            f"{counted(bad.size, 'row')} without a {role} (first: {_rows(bad)}, counted from 1 "
            f"below the header); name the {role} or drop the rows."
        )
    return tidy, names


def _factorised_ids(column: Column) -> tuple[Codes, pd.Index[Any] | npt.NDArray[Any]]:
    """Factorise identifiers; where they stand in runs, one of each run, which takes half the time.

    Neighbours are compared in Arrow alone, where that costs a tenth of the factorisation.
    """
    if getattr(column.dtype, "storage", None) != "pyarrow" or not _in_runs(column[:_PROBED]):
        return pd.factorize(column)
    heads = _run_heads(column)
    codes, ids = pd.factorize(column[heads])
    ends = np.append(np.flatnonzero(heads), len(heads))
    return np.repeat(codes, np.diff(ends)), ids


def _in_runs(column: Column) -> bool:
    return int(np.count_nonzero(_run_heads(column))) * 2 < len(column)


def _run_heads(column: Column) -> npt.NDArray[np.bool_]:
    """Say of each row whether it differs from the one above; a missing one does."""
    return (column != column.shift()).to_numpy(dtype=bool, na_value=True)


def _tidy_names(
    codes: Codes, names: npt.NDArray[np.object_], role: str
) -> tuple[Codes, npt.NDArray[np.object_]]:
    """Take the space around text names off and compose accents, as in labels."""
    listed = names.tolist()
    try:
        tidy = list(map(str.strip, listed))
        plain = "".join(tidy).isascii()
    except TypeError:  # not all are text
        if odd := next((one for one in listed if isinstance(one, frozenset)), None):
            raise DataError(
                f"a {role} is named by text or a number, not by {shorten({*odd})}."
            ) from None
        plain = False
    if not plain:
        _refuse_halves(codes, listed, role)
        tidy = [tidied(name) for name in listed]
    if tidy == listed:
        return codes, names
    merged, distinct = merge(tidy)
    first: dict[int, object] = {}
    spelled = [(first.setdefault(k, n), n) for k, n in zip(merged.tolist(), listed, strict=True)]
    doubt_merged_names(role, [pair for pair in spelled if pair[0] != pair[1]])
    return recode(codes, merged), as_objects(distinct)


def _refuse_halves(codes: Codes, names: Sequence[object], role: str) -> None:
    """Refuse half characters, with the first row that has one."""
    for code, name in enumerate(names):
        if not is_whole(name):
            first = _rows(np.flatnonzero(codes == code)[:1])
            check_text(name, f"{first} (counted from 1 below the header): the {role}")


def _rows(positions: npt.NDArray[np.intp]) -> str:
    numbers = (positions + 1).tolist()
    return f"rows {listing(numbers)}" if len(numbers) > 1 else f"row {numbers[0]}"
