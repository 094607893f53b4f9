"""Tables of every layout to three long columns: unit, rater, answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.coding import Column, as_objects
from setagree.errors import DataError, counted, did_you_mean, listing
from setagree.labels import Label, parse_labels


class LongColumns(NamedTuple):
    """One annotation a row."""

    unit: Column
    rater: Column
    answer: Column


def pick_column(data: pd.DataFrame, name: object) -> Column:
    """Return the one column called ``name``."""
    columns: list[Any] = list(data.columns)
    found = columns.count(name)
    if found == 0:
        hint = did_you_mean(name, columns)
        raise DataError(f"there is no column {name!r}; the columns are {listing(columns)}.{hint}")
    if found > 1:
        raise DataError(f"{found} columns are called {name!r}; rename all but one.")
    return data[name]


def from_wide(
    data: pd.DataFrame, unit: object | None, raters: Sequence[object] | None
) -> LongColumns:
    """Stack a table with one row a unit and one column a rater."""
    ids = data.index.to_series() if unit is None else pick_column(data, unit)
    names = [c for c in data.columns if c != unit] if raters is None else list(raters)
    columns = [pick_column(data, name) for name in names]
    if not columns or not len(data):
        raise DataError(
            f"a wide table of {len(data)} rows and {len(columns)} raters has no answers."
        )
    if raters is None:
        _refuse_stray_columns(columns)
    return LongColumns(
        pd.Series(np.tile(as_objects(ids), len(columns))),
        pd.Series(np.repeat(as_objects(names), len(data))),
        _stack(columns),
    )


def from_triples(triples: Iterable[tuple[object, object, object]]) -> LongColumns:
    """Read (rater, unit, answer) triples."""
    rows = list(triples)
    for position, row in enumerate(rows):
        if not isinstance(row, tuple | list) or len(row) != 3:
            raise DataError(f"triple {position} is {row!r}; write (rater, unit, labels).")
    raters, units, answers = (as_objects(row[k] for row in rows) for k in range(3))
    return LongColumns(pd.Series(units), pd.Series(raters), pd.Series(answers, name="labels"))


def from_contingency(table: pd.DataFrame, raters: tuple[object, object]) -> LongColumns:
    """Write a table of counts (rows: first rater, columns: second) as one unit a count."""
    counts = _whole_counts(table)
    rows, columns = np.nonzero(counts)
    times = counts[rows, columns]
    first = np.repeat(as_objects(table.index)[rows], times)
    second = np.repeat(as_objects(table.columns)[columns], times)
    n = int(times.sum())
    return LongColumns(
        pd.Series(np.tile(np.arange(n), 2)),
        pd.Series(np.repeat(as_objects(raters), n)),
        pd.Series(np.concatenate([first, second])).infer_objects(),
    )


def from_cube(
    cube: npt.ArrayLike,
    labels: Sequence[Label] | None,
    units: Sequence[object] | None,
    raters: Sequence[object] | None,
    mask: npt.ArrayLike | None,
) -> LongColumns:
    """Read flags of shape (raters, units, labels); a true mask entry is a missing annotation."""
    flags = _flags(cube)
    n_raters, n_units, n_labels = flags.shape
    names = as_objects(range(n_labels) if labels is None else labels)
    missing = np.zeros((n_raters, n_units), bool) if mask is None else np.asarray(mask, bool)
    unit_ids = as_objects(range(n_units) if units is None else units)
    rater_ids = as_objects(range(n_raters) if raters is None else raters)
    if (missing.shape, len(names), len(unit_ids), len(rater_ids)) != (
        (n_raters, n_units),
        n_labels,
        n_units,
        n_raters,
    ):
        raise DataError(
            f"flags of shape {flags.shape} (raters, units, labels) do not fit "
            f"mask {missing.shape}, {len(rater_ids)} raters, {len(unit_ids)} units, "
            f"{len(names)} labels."
        )
    answer = _rows_to_sets(flags.reshape(-1, n_labels), names)
    answer[missing.ravel()] = None
    return LongColumns(
        pd.Series(np.tile(unit_ids, n_raters)),
        pd.Series(np.repeat(rater_ids, n_units)),
        pd.Series(answer, dtype=object),
    )


def from_flag_frame(frame: pd.DataFrame) -> LongColumns:
    """Read flags with one row an annotation, indexed by (unit, rater), one column a label."""
    if frame.index.nlevels != 2:
        raise DataError("a frame of flags needs an index of two levels: unit, rater.")
    flags = _as_flags(frame.to_numpy())
    answer = _rows_to_sets(flags, as_objects(frame.columns))
    unit, rater = (frame.index.get_level_values(k).to_series() for k in (0, 1))
    return LongColumns(unit, rater, pd.Series(answer, dtype=object))


def _stack(columns: Sequence[Column]) -> Column:
    if all(pd.api.types.is_numeric_dtype(c.dtype) for c in columns):
        return pd.concat(list(columns), ignore_index=True)
    return pd.Series(np.concatenate([as_objects(c) for c in columns]), dtype=object)


def _refuse_stray_columns(columns: Sequence[Column]) -> None:
    """Refuse a column that looks like identifiers or free text among columns of answers."""
    parts = [_answer_parts(column) for column in columns]
    for position, column in enumerate(columns):
        others: set[object] = set().union(*(p for k, p in enumerate(parts) if k != position))
        cells = [cell for cell in column.tolist() if isinstance(cell, str | int) and cell != ""]
        if len(cells) < 4 or len(columns) < 2 or len(set(cells)) < len(cells):
            continue
        if not parts[position] & others:
            names = [c.name for c in columns]
            raise DataError(
                f"column {column.name!r} looks like unit identifiers or free text, not like the "
                f"answers of a rater (each of its {len(cells)} cells is different, and none stands "
                f"in another column); say unit={column.name!r}, or name the raters= of {names!r}."
            )


def _answer_parts(column: Column) -> set[object]:
    parts: set[object] = set()
    for cell in column.dropna().tolist():
        if isinstance(cell, str):
            parts.update(piece.strip().casefold() for piece in cell.replace(";", ",").split(","))
        elif isinstance(cell, int | float):
            parts.add(cell)
        elif isinstance(cell, list | tuple | set | frozenset):
            parts.update(str(label).casefold() for label in cell)
    return parts - {""}


def _whole_counts(table: pd.DataFrame) -> npt.NDArray[np.int64]:
    try:
        counts = table.to_numpy(dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError("a contingency table holds counts and labels on both axes.") from error
    if not counts.size:
        raise DataError("the contingency table has no cells.")
    if not np.isfinite(counts).all() or (counts < 0).any() or (counts != np.round(counts)).any():
        raise DataError("a contingency table holds whole counts of zero or more.")
    if not counts.any():
        raise DataError("the contingency table counts no unit.")
    return counts.astype(np.int64)


def _flags(cube: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    flags = _as_flags(np.asarray(cube))
    if flags.ndim != 3:
        raise DataError(f"indicators of shape {flags.shape}; they are (raters, units, labels).")
    return flags


def _as_flags(array: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    try:
        numbers = array.astype(float)
    except (TypeError, ValueError) as error:
        raise DataError("indicators are flags: True and False, or 1 and 0.") from error
    bad = ~np.isin(numbers, (0.0, 1.0))
    if bad.any():
        raise DataError(
            f"{counted(int(bad.sum()), 'indicator')} neither 0 nor 1 (first: "
            f"{numbers[bad][0]!r}); pass mask= for missing annotations."
        )
    return numbers.astype(bool)


def _rows_to_sets(
    flags: npt.NDArray[np.bool_], names: npt.NDArray[np.object_]
) -> npt.NDArray[np.object_]:
    """Return one frozenset a row; equal rows share theirs."""
    if not flags.size:
        return as_objects([frozenset()] * len(flags))
    packed = np.packbits(flags, axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    sets = as_objects(parse_labels(names[flags[row]].tolist()) for row in first)
    return sets[inverse]
