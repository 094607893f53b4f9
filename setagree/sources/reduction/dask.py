"""Dask: each partition is reduced where it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from setagree.errors import SetagreeError
from setagree.sources.reduction.answers import CodedCells, Reading, code_cells
from setagree.sources.reduction.engines import stopped
from setagree.sources.reduction.parts import (
    Part,
    code_part,
    find_cell,
    merge_parts,
    merge_surveys,
    reduce_part,
    survey_part,
)

if TYPE_CHECKING:
    from dask.delayed import Delayed

_FAN = 8


def is_dask(data: object) -> bool:
    """Say whether an object is a data frame of Dask, without importing it."""
    package = type(data).__module__.partition(".")[0]
    return package in {"dask", "dask_expr"} and hasattr(data, "to_delayed")


def reduce_dask(
    frame: Any,
    columns: Mapping[str, str],
    reading: Reading,
    *,
    assume_unique: bool,
    partitioned_by_unit: bool,
    keep_raters: bool = False,
) -> tuple[CodedCells, Part]:
    """Return the coded answers of a Dask frame and its patterns.

    The rows are shuffled once, so that a partition holds whole units, unless it does already.
    """
    from dask.delayed import delayed

    picked = frame[list(columns.values())].rename(columns={c: r for r, c in columns.items()})
    parts = picked.to_delayed()
    survey = _compute(_tree([delayed(survey_part)(p) for p in parts], merge_surveys))

    def place(position: int) -> str:
        cell = survey.cells[position]
        return str(_compute(_tree([delayed(find_cell)(p, cell) for p in parts], max)))

    coded = code_cells(survey, reading, name=columns["answer"], place=place)
    codes = delayed(dict(zip(survey.cells, coded.answers.codes.tolist(), strict=False)))
    rows: Sequence[Delayed] = [delayed(code_part)(p, codes) for p in parts]
    if not partitioned_by_unit:
        rows = _shuffled(rows)
    how = {"assume_unique": assume_unique, "keep_raters": keep_raters}
    reduced = [delayed(reduce_part)(p, **how) for p in rows]
    return coded, _compute(_tree(reduced, merge_parts))


def _shuffled(parts: Sequence[Delayed]) -> Sequence[Delayed]:
    """Bring all annotations of a unit together."""
    import dask.dataframe as dd

    meta = pd.DataFrame({"unit": [""], "rater": [""], "code": [0]}, dtype=object).astype(
        {"code": "int64"}
    )
    rows = dd.from_delayed(parts, meta=meta.iloc[:0], verify_meta=False)
    return rows.shuffle("unit").to_delayed()  # type: ignore[no-any-return]


def _tree(parts: Sequence[Delayed], merge: Callable[[Sequence[Any]], Any]) -> Delayed:
    """Merge a few at a time, so that no worker holds all parts."""
    from dask.delayed import delayed

    parts = [delayed(merge)(parts[k : k + _FAN]) for k in range(0, len(parts), _FAN)]
    return parts[0] if len(parts) == 1 else _tree(parts, merge)


def _compute(result: Delayed) -> Any:
    try:
        return result.compute()  # type: ignore[no-untyped-call]
    except SetagreeError:
        raise
    except Exception as error:  # whatever goes wrong in a cluster, or in the user's own graph
        raise stopped("Dask", error) from error
