"""Tables of counts: one row per unit, one column per value."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import DataError, a_type, check_choice, counted, listing, option, shorten
from setagree.study.codes import Answers, as_objects, as_ordered, code_label_sets, order_of
from setagree.study.labels import Case, LabelSyntax, is_missing
from setagree.study.names import check_text, tidied
from setagree.study.numbers import inferred
from setagree.study.reading import ANSWER_KINDS, AnswerKind
from setagree.study.scalars import code_scalars

UNIT_NAMES = {"unit", "unit_id", "item", "item_id", "id", "doc", "doc_id", "text_id"}
"""What columns of units are called, which are neither raters nor counts."""

_SUM_NAMES = {"all", "total", "sum"}

Floats: TypeAlias = npt.NDArray[np.float64]


def read_counts(
    table: pd.DataFrame, *, kind: AnswerKind, label_sep: str, case: Case
) -> tuple[Floats, npt.NDArray[np.object_], Answers]:
    """Return the counts (n_units, K) of the units that have any, their names, and the K values."""
    check_choice("kind", kind, ANSWER_KINDS)
    counts = checked_counts(table)
    names = inferred(as_objects(table.columns)).rename("column names")
    names = as_ordered(names, order_of(table.columns))

    def place(column: int) -> str:
        return f"Column {shorten(names[column])}"

    if kind == "labels":
        syntax = LabelSyntax(label_sep=label_sep, blank="empty", case=case)
        answers = code_label_sets(
            names, syntax, place=place, scalars=partial(option, "kind", "value")
        )
    else:
        answers = code_scalars(names, "error", case=case, place=place, kind=kind)
    rows, columns = np.nonzero(counts)
    merged = np.zeros((len(counts), len(answers.values)))
    np.add.at(merged, (rows, answers.codes[columns]), counts[rows, columns])
    rated = merged.sum(axis=1) > 0
    return merged[rated], as_objects(unit_names(table))[rated], answers


def checked_counts(table: pd.DataFrame) -> Floats:
    """Return the counts of shape (n_units, n_columns), or refuse what may be no counts."""
    if not isinstance(table, pd.DataFrame):
        raise DataError(
            f"Expected a table of counts, got {a_type(table)}; pass a DataFrame with one row a "
            "unit and one column per value."
        )
    if not table.size:
        raise DataError(f"a table of counts of shape {table.shape} has no counts.")
    for column in table.columns:
        check_text(column, "the column of counts")
    nameless = [k for k, name in enumerate(as_objects(table.columns)) if is_missing(name)]
    if nameless:
        raise DataError(
            f"{counted(len(nameless), 'column')} of counts without a name (first: column "
            f"{nameless[0]}); name the value that it counts, the empty set as ''."
        )
    counts = _as_counts(table)
    _check_odd_axes(table, counts)
    return counts


def unit_names(table: pd.DataFrame) -> pd.Index[Any]:
    """Return the names of the rows, read as those of units are everywhere."""
    for unit in table.index:
        check_text(unit, "the unit")
    return pd.Index(as_objects(map(tidied, table.index)), dtype=object, tupleize_cols=False)


def _check_odd_axes(table: pd.DataFrame, counts: Floats) -> None:
    """Raise an error for repeated units, a column of units, and sums."""
    units = unit_names(table)
    if units.has_duplicates:
        twice = listing(units[units.duplicated()].unique().tolist())
        raise DataError(f"the table of counts has several rows for the units {twice}.")
    names = [str(name).strip().casefold() for name in table.columns]
    odd = [c for c, name in zip(table.columns, names, strict=True) if name in UNIT_NAMES]
    if odd:
        raise DataError(f"column {odd[0]!r} sounds like the units; make it the index.")
    sums = counts[:, :-1].sum(axis=1)
    if names[-1] in _SUM_NAMES and len(names) > 2 and np.allclose(counts[:, -1], sums):
        raise DataError(f"column {table.columns[-1]!r} is the sum of the others; drop it.")


def _as_counts(table: pd.DataFrame) -> Floats:
    try:
        counts = table.to_numpy(dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(
            "a table of counts holds numbers only; make the units the index."
        ) from error
    bad = ~np.isfinite(counts) | (counts < 0)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise DataError(
            f"a count is a number of zero or more; unit {table.index[row]!r}, value "
            f"{table.columns[column]!r} has {counts[row, column]}."
        )
    if not counts.any():
        raise DataError("the table counts no rating.")
    return counts
