"""Layouts of tables as long columns, and tables of counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import (
    DataError,
    OptionError,
    SetagreeWarning,
    a_type,
    check_choice,
    check_list,
    counted,
    listing,
    option,
    shorten,
    warn,
)
from setagree.study.answer_warnings import is_agreed, warn_agreed, warn_columns, warn_totals
from setagree.study.assembly import LongColumns, pick_column
from setagree.study.codes import (
    MISSING,
    Answers,
    Column,
    as_objects,
    as_ordered,
    code_label_sets,
    common_order,
    distinct_cells,
    order_of,
)
from setagree.study.columns import check_roles
from setagree.study.frames import Frame, as_pandas, check_columns, row_numbers, stacked
from setagree.study.identifiers import check_text, tidied
from setagree.study.labels import Case, LabelSyntax, is_missing, parse_labels
from setagree.study.numbers import as_number, inferred
from setagree.study.reading import ANSWER_KINDS, AnswerKind
from setagree.study.scalars import code_scalars
from setagree.wording.label_sets import Label

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


_MOST_UNITS = 100_000_000
_ENOUGH = 4
_TRANSPOSE = (
    "rows are read as units and columns as raters. If each row is a rater, as in a reliability "
    "matrix, pass table.T."
)
_MARGINS = {"all", "sum", "total", "totals"}

Cells: TypeAlias = tuple[list[Any], list[int]]
"""The distinct cells of a column that are not missing, and the number of each."""

_NO_RATERS = {
    *("note", "notes", "comment", "comments", "remark", "remarks", "date", "time", "timestamp"),
    *("url", "created_at", "batch", "split"),
}


def from_flags(data: Frame, unit: object, rater: object, flags: list[Any]) -> LongColumns:
    """Read a long table that has a column of flags for each label."""
    frame = as_pandas(data, (unit, rater, *flags))
    check_columns(list(frame.columns), (unit, rater, *flags))
    sets = _sets(frame, flags)
    return LongColumns(pick_column(frame, unit), pick_column(frame, rater), sets)


def from_wide(data: Frame, unit: object | None, raters: Sequence[object] | None) -> LongColumns:
    """Stack a table with one row per unit and one column per rater."""
    if raters is not None:
        check_list("raters", raters, "columns")
        check_roles([("unit", unit), *(("rater", name) for name in raters)])
    needed = None if raters is None else [*([] if unit is None else [unit]), *raters]
    data = as_pandas(data, needed)
    check_columns(list(data.columns), needed or ())
    ids: Any = data.index if unit is None else pick_column(data, unit)
    # A column may be called None, as is a unit that is not named.
    others = [c for c in data.columns if unit is None or c != unit]
    names = others if raters is None else list(raters)
    _check_nameless("column of a rater", names)
    is_whole = ids.dtype.kind in "iu" and not ids.hasnans
    ids = pd.Series(ids if is_whole else as_objects(ids), dtype=ids.dtype if is_whole else object)
    if not is_whole:
        _check_nameless("row of a unit", ids)
    columns = [pick_column(data, name) for name in names]
    if not columns or not len(data):
        raise DataError(
            f"a wide table of {counted(len(data), 'row')} and {counted(len(columns), 'rater')} has "
            "no answers."
        )
    warn_totals(ids.tolist())
    if raters is None:
        _check_stray_columns(columns)
        warn_agreed(names)
    else:
        _warn_texts(columns)
    is_array = unit is None and raters is None and isinstance(data.columns, pd.RangeIndex)
    return LongColumns(
        ids.iloc[np.tile(np.arange(len(data)), len(columns))].reset_index(drop=True),
        repeated(names, len(data)),
        stacked_answers(columns),
        if_swapped=_TRANSPOSE * is_array,
    )


def rater_flags(names: Iterable[object], raters: Iterable[object]) -> dict[str, dict[str, str]]:
    """Return the column of each label by rater, if columns are called like ``ann_joy``.

    Examples
    --------
    >>> rater_flags(["id", "ann_joy", "bob_joy"], ["ann", "bob"])
    {'ann': {'joy': 'ann_joy'}, 'bob': {'joy': 'bob_joy'}}
    """
    found: dict[str, dict[str, str]] = {}
    for name in map(str, names):
        for rater in map(str, raters):
            for rest in (name.removeprefix(rater), name.removesuffix(rater)):
                if rest != name and (label := rest.strip("_.:|/- ")) != rest and label:
                    found.setdefault(rater, {})[label] = name
    return found


def from_rater_flags(
    frame: pd.DataFrame, unit: object | None, flags: Mapping[str, Mapping[str, str]]
) -> LongColumns:
    """Read flags with one row per unit and a column for each rater and label."""
    ids = frame.index.to_series() if unit is None else pick_column(frame, unit)
    answers = [
        _sets(frame[[*of.values()]].set_axis([*of], axis="columns"), [*of]) for of in flags.values()
    ]
    return LongColumns(
        pd.concat([ids] * len(flags), ignore_index=True),
        repeated([*flags], len(frame)),
        pd.concat(answers, ignore_index=True),
    )


def from_triples(triples: Iterable[tuple[object, object, object]]) -> LongColumns:
    """Read (rater, unit, answer) triples."""
    try:
        rows = list(triples)
    except TypeError:  # an array without dimensions seems iterable, and is not
        raise DataError(
            f"Expected a list of (rater, unit, labels) triples, got {a_type(triples)}."
        ) from None
    for position, row in enumerate(rows):
        if not isinstance(row, tuple | list) or len(row) != 3:
            raise DataError(f"triple {position} is {shorten(row)}; write (rater, unit, labels).")
    raters, units, answers = (as_objects(row[k] for row in rows) for k in range(3))
    return LongColumns(_series(units), _series(raters), _series(answers).rename("labels"))


def from_contingency(table: pd.DataFrame, raters: tuple[object, object]) -> LongColumns:
    """Write a table of counts (rows: first rater, columns: second) as one unit a count."""
    if not isinstance(table, pd.DataFrame):
        raise DataError("a contingency table needs its labels: pass a DataFrame with both axes.")
    if not isinstance(raters, tuple | list) or len(raters) != 2 or raters[0] == raters[1]:
        raise OptionError(f"{option('raters', raters, limit=80)} must name two raters.")
    _check_halves("rater", raters)
    _check_nameless("row of the contingency table", as_objects(table.index))
    _check_nameless("column of the contingency table", as_objects(table.columns))
    counts = _whole_counts(table)
    axes = (table.index, table.columns)
    if all(isinstance(axis, pd.RangeIndex) and axis.start == 0 for axis in axes):
        raise DataError(
            "the contingency table is not labelled, only numbered: name the values on both axes, "
            "as in DataFrame(counts, index=values, columns=values)."
        )
    _check_margins(table, counts)
    rows, columns = np.nonzero(counts)
    times = counts[rows, columns]
    first = np.repeat(as_objects(table.index)[rows], times)
    second = np.repeat(as_objects(table.columns)[columns], times)
    n = int(times.sum())
    order = common_order(map(order_of, axes), chain.from_iterable(axes))
    return LongColumns(
        pd.Series(np.tile(np.arange(n), 2)),
        pd.Series(np.repeat(as_objects(raters), n)),
        as_ordered(inferred(np.concatenate([first, second])), order),
    )


def from_cube(
    cube: npt.ArrayLike,
    labels: Sequence[Label] | None,
    units: Sequence[object] | None,
    raters: Sequence[object] | None,
    mask: npt.ArrayLike | None,
) -> LongColumns:
    """Read flags of shape (raters, units, labels); a true mask entry is a missing annotation."""
    flags = _as_flags(cube, "indicators")
    if flags.ndim != 3:
        raise DataError(f"indicators of shape {flags.shape}; they are (raters, units, labels).")
    for axis, given in (("labels", labels), ("units", units), ("raters", raters)):
        # one text names letters, of labels it is refused below
        check_list(axis, () if given is None or isinstance(given, str) else given, "names")
    n_raters, n_units, n_labels = flags.shape
    names = _label_names(range(n_labels) if labels is None else labels)
    missing = np.zeros((n_raters, n_units), bool) if mask is None else _as_flags(mask, "mask")
    unit_ids = as_objects(range(n_units) if units is None else units)
    rater_ids = as_objects(range(n_raters) if raters is None else raters)
    _check_halves("unit", unit_ids)
    _check_halves("rater", rater_ids)
    named = (len(rater_ids), len(unit_ids), len(names))
    if missing.shape != (n_raters, n_units) or named != flags.shape:
        raise DataError(
            f"flags of shape {flags.shape} (raters, units, labels) do not fit "
            f"mask {missing.shape}, {len(rater_ids)} raters, {len(unit_ids)} units, "
            f"{len(names)} labels."
        )
    answer = _rows_to_sets(flags.reshape(n_raters * n_units, n_labels), names)
    answer[missing.ravel()] = None
    return LongColumns(
        pd.Series(np.tile(unit_ids, n_raters)),
        pd.Series(np.repeat(rater_ids, n_units)),
        pd.Series(answer, dtype=object),
    )


def from_flag_frame(frame: pd.DataFrame) -> LongColumns:
    """Read flags with one row per annotation, indexed by (unit, rater), one column per label."""
    if frame.index.nlevels != 2:
        raise DataError("a frame of flags needs an index of two levels: unit, rater.")
    flags = _as_flags(frame.to_numpy(), "indicators")
    answer = _rows_to_sets(flags, _label_names(frame.columns))
    levels = ("rater", "unit") if list(frame.index.names) == ["rater", "unit"] else (1, 0)
    rater, unit = (frame.index.get_level_values(level).to_series() for level in levels)
    return LongColumns(unit, rater, pd.Series(answer, dtype=object))


def flag_sets(flags: npt.NDArray[Any] | pd.DataFrame) -> Column:
    """Return the label sets of flags of shape (units, labels); the columns are the labels."""
    names = flags.columns if isinstance(flags, pd.DataFrame) else range(flags.shape[1])
    answer = _rows_to_sets(_as_flags(np.asarray(flags), "answers"), _label_names(names))
    return pd.Series(answer, dtype=object)


def _sets(frame: pd.DataFrame, names: Sequence[Any]) -> Column:
    """Return the label sets of columns of flags; a row without any flag is missing."""
    labels = _label_names(names)
    if not names:
        raise OptionError(f"{option('labels', [])} names no column of flags.")
    columns = [pick_column(frame, name) for name in names]
    n_missing = sum(column.isna().to_numpy(dtype=np.int32) for column in columns)
    packed = np.zeros((len(frame), (len(names) + 7) // 8), dtype=np.uint8)
    for place, column in enumerate(columns):
        packed[:, place // 8] |= _flag_column(column) << np.uint8(7 - place % 8)
    partly = np.flatnonzero((n_missing > 0) & (n_missing < len(names)))
    if partly.size:
        raise DataError(
            f"{counted(partly.size, 'row')} with a flag for some labels and none for others "
            f"(first: row {row_numbers(frame)[partly[0]]}, counted from 1 below the header); fill "
            "them in, or leave all flags of the row missing."
        )
    codes, sets = code_flags(packed, labels)
    answer = sets[codes]
    answer[n_missing > 0] = None
    return pd.Series(answer, dtype=object, name="labels")


def _flag_column(column: Column) -> npt.NDArray[np.uint8]:
    """Return a column of flags as 0 and 1, 0 where one is missing."""
    known = column.dropna()
    flags = np.zeros(len(column), dtype=np.uint8)
    flags[column.notna().to_numpy()] = _as_flags(known.to_numpy(), f"column {column.name!r}")
    return flags


def repeated(names: Sequence[object], n: int) -> Column:
    """Return each name `n` times, as codes."""
    categories = pd.Index(as_objects(names), dtype=object, tupleize_cols=False)
    codes = np.repeat(np.arange(len(names)), n)
    return pd.Series(pd.Categorical.from_codes(codes, categories))


def stacked_answers(columns: Sequence[Column]) -> Column:
    """Return columns of answers one below the other; an order of categories is kept."""
    is_numeric = all(pd.api.types.is_numeric_dtype(c.dtype) for c in columns)
    if is_numeric or any(map(order_of, columns)):
        return stacked(columns)
    return pd.Series(np.concatenate([as_objects(c) for c in columns]), dtype=object)


def _check_stray_columns(columns: Sequence[Column]) -> None:
    """Raise an error for a column of identifiers or free text among columns of answers."""
    cells, parts = _answers_of(columns)
    strays = _strays(cells, parts)
    advice = _advice(columns, parts, strays)
    _refuse_names(columns, _NO_RATERS, advice)
    for column, (n_distinct, n_cells) in zip(columns, strays, strict=True):
        if n_distinct:
            raise DataError(
                f"column {column.name!r} looks like unit identifiers or free text, not like the "
                f"answers of a rater ({n_distinct} of its {n_cells} cells are different, and most "
                f"stand in no other column); say {option('unit', column.name)}, or list the "
                f"raters: {advice}"
            )
    _refuse_names(columns, UNIT_NAMES, advice)
    _warn_families(columns, cells, parts)


def _warn_families(
    columns: Sequence[Column], cells: Sequence[Cells], parts: Sequence[set[str]]
) -> None:
    """Warn if some columns of raters have no answer in common with the others."""
    families = [
        [columns[k].name for k in one if sum(cells[k][1]) >= _ENOUGH] for one in _families(parts)
    ]
    warn_columns([one for one in families if one])


def _warn_texts(columns: Sequence[Column]) -> None:
    """Warn of free text among the columns that are listed as raters."""
    cells, parts = _answers_of(columns)
    strays = _strays(cells, parts)
    for column, (distinct, _), (n_distinct, _) in zip(columns, cells, strays, strict=True):
        if n_distinct and all(isinstance(cell, str) for cell in distinct):
            warn(
                f"column {column.name!r} is read as a rater, but has "
                f"{counted(n_distinct, 'distinct text')} in {counted(len(column), 'row')}, and "
                f"most stand in no other column. If these are texts or names of units, say "
                f"{option('unit', column.name)}, or list the raters without it: "
                f"{_advice(columns, parts, strays)}",
                SetagreeWarning,
            )
    if not any(n for n, _ in strays):
        _warn_families(columns, cells, parts)


def _answers_of(columns: Sequence[Column]) -> tuple[list[Cells], list[set[str]]]:
    """Return the cells of each column that are not missing, and what they consist of."""
    cells: list[Cells] = []
    for codes, distinct in map(distinct_cells, columns):
        n_cells = np.bincount(codes[codes != MISSING], minlength=len(distinct))
        cells.append((distinct, n_cells.tolist()))
    return cells, [_answer_parts(distinct) for distinct, _ in cells]


def _strays(cells: Sequence[Cells], parts: Sequence[set[str]]) -> list[tuple[int, int]]:
    """Return the number of distinct cells and of cells of each column that no rater may have.

    Both are 0 for the others.
    """
    times = Counter(part for of_one in parts for part in of_one)
    found = []
    for counted_cells, of_one in zip(cells, parts, strict=True):
        counts = [n for cell, n in zip(*counted_cells, strict=True) if _may_identify(cell)]
        n_cells, n_distinct = sum(counts), len(counts)
        n_shared = sum(times[part] > 1 for part in of_one)
        few = n_cells < _ENOUGH or sum(map(bool, parts)) < 2
        is_answer = few or 10 * n_distinct < 9 * n_cells or 2 * n_shared >= len(of_one)
        found.append((0, 0) if is_answer else (n_distinct, n_cells))
    return found


def _families(parts: Sequence[set[str]]) -> list[list[int]]:
    """Return the places of columns in groups, between which there is no common answer."""
    families: list[tuple[set[str], list[int]]] = []
    for k, of_one in enumerate(parts):
        joined = [one for one in families if not one[0].isdisjoint(of_one)]
        answers = of_one.union(*(one[0] for one in joined))
        places = [place for one in joined for place in one[1]]
        families = [one for one in families if one not in joined]
        families += [(answers, [*places, k])] if of_one else []
    return sorted(sorted(places) for _, places in families)


def _advice(
    columns: Sequence[Column], parts: Sequence[set[str]], strays: Sequence[tuple[int, int]]
) -> str:
    """Return the option that lists the columns that may be raters, for each of their families."""
    odd = _NO_RATERS | UNIT_NAMES
    named = [column.name for column in columns]
    possible = [
        k
        for k, (name, (n, _)) in enumerate(zip(named, strays, strict=True))
        if not n and str(name).strip().lower() not in odd
    ]
    made = [k for k in possible if is_agreed(named[k])]
    families = [[named[k] for k in possible if k in one] for one in _families(parts)]
    several = [one for one in families if len(one) > 1] or [[named[k] for k in possible]]
    rest = [[name for name in one if not is_agreed(name)] for one in several]
    if not made or min(map(len, rest)) < 2:
        return f"{' or '.join(option('raters', one) for one in several)}."
    return (
        f"{' or '.join(option('raters', one) for one in rest)} (without "
        f"{listing([named[k] for k in made])}, which may be made of the others' answers)."
    )


def _refuse_names(columns: Sequence[Column], odd_names: set[str], advice: str) -> None:
    """Raise an error for a column that is called like something else than a rater."""
    names = [column.name for column in columns]
    odd = [name for name in names if str(name).strip().lower() in odd_names]
    if not odd:
        return
    if odd_names is UNIT_NAMES:
        raise DataError(
            f"column {odd[0]!r} sounds like the units; say {option('unit', odd[0])}, or list the "
            f"raters: {advice}"
        )
    raise DataError(
        f"column {odd[0]!r} does not sound like a rater; if it is not one, list the raters: "
        f"{advice}"
    )


def _may_identify(cell: object) -> bool:
    if isinstance(cell, float):
        return cell.is_integer()  # identifiers with a gap are read as floats
    return isinstance(cell, str | int | datetime) and cell != ""


def _answer_parts(cells: Sequence[object]) -> set[str]:
    parts: set[object] = set()
    for cell in cells:
        if isinstance(cell, str):
            parts.update(piece.strip().casefold() for piece in cell.replace(";", ",").split(","))
        elif isinstance(cell, list | tuple | set | frozenset | np.ndarray):
            parts.update(str(label).casefold() for label in cell)
        elif isinstance(cell, Decimal):
            parts.add(str(cell) if cell.is_nan() else cell)
        elif isinstance(cell, Hashable):
            parts.add(cell)
    # 2 of one column and "2" of another are one answer.
    whole = {p if isinstance(p, str) or (n := as_number(p)) is None else n for p in parts}
    return {str(part) for part in whole} - {""}


def _check_nameless(what: str, names: Iterable[object]) -> None:
    _check_halves(what, names)
    nameless = [k for k, name in enumerate(names) if is_missing(name)]
    if nameless:
        several = counted(len(nameless), what, what.replace(" of", "s of", 1))
        raise DataError(
            f"{several} without a name (first: number {nameless[0]}); name it or drop it."
        )


def _check_halves(what: str, names: Iterable[object]) -> None:
    """Raise an error for half characters in the names along an axis."""
    for number, name in enumerate(names):
        check_text(name, f"{what} (number {number}),")


def _series(cells: npt.NDArray[np.object_]) -> Column:
    """Return cells as a column; half a character is refused, with its place, where it is read."""
    try:
        return pd.Series(cells)
    # pandas makes text Arrow's, which cannot hold it; pandas 2 makes large whole numbers floats.
    except (UnicodeEncodeError, OverflowError):
        return pd.Series(cells, dtype=object)


def _check_margins(table: pd.DataFrame, counts: npt.NDArray[np.int64]) -> None:
    """Raise an error for sums among the counts, which crosstab(margins=True) appends."""
    for axis, names in enumerate((table.index, table.columns)):
        name = as_objects(names)[-1]
        inner = np.delete(counts, -1, axis).sum(axis)
        if str(name).casefold() in _MARGINS and (np.take(counts, -1, axis) == inner).all():
            raise DataError(
                f"the last {('row', 'column')[axis]} of the contingency table, {name!r}, is the "
                "sum of the others; drop the margins."
            )


def _whole_counts(table: pd.DataFrame) -> npt.NDArray[np.int64]:
    try:
        counts = table.to_numpy(dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError("a contingency table holds counts and labels on both axes.") from error
    bad = ~np.isfinite(counts) | (counts < 0) | (counts != np.round(counts))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise DataError(
            f"a contingency table holds whole counts of zero or more; row {table.index[row]!r}, "
            f"column {table.columns[column]!r} has {counts[row, column]}."
        )
    if not 0 < counts.sum() <= _MOST_UNITS:
        raise DataError(
            f"the contingency table counts {counts.sum():,.0f} units; 1 to {_MOST_UNITS:,} can be "
            "written as annotations."
        )
    return counts.astype(np.int64)


def _as_flags(array: npt.ArrayLike, what: str) -> npt.NDArray[np.bool_]:
    if np.ma.isMaskedArray(array):
        raise DataError(f"{what}: a masked array; pass plain flags, and what is missing as mask=.")
    try:
        numbers = np.asarray(array).astype(float)
    except (TypeError, ValueError) as error:
        raise DataError(f"{what} must be flags, True and False or 1 and 0 ({error}).") from error
    bad = np.argwhere(~np.isin(numbers, (0.0, 1.0)))
    if len(bad):
        first = tuple(bad[0].tolist())
        raise DataError(
            f"{what}: {counted(len(bad), 'entry', 'entries')} neither 0 nor 1 (first: "
            f"{numbers[first]} at {first}); pass mask= for missing annotations."
        )
    return numbers.astype(bool)


def _label_names(names: Iterable[object]) -> npt.NDArray[np.object_]:
    """Return the names along the axis of labels, refused where two mean the same label."""
    if isinstance(names, str):
        raise OptionError(f"{option('labels', names)} must be a list of labels, not one text.")
    named = as_objects(names)
    flags = [name for name in named if isinstance(name, bool | np.bool_)]
    cleaned = parse_labels([*named], blank="empty") if len(named) and not flags else frozenset()
    if cleaned is None or len(cleaned) != len(named):
        raise DataError(
            f"{counted(len(named), 'label')} need as many different names; these are "
            f"{listing(named.tolist())}."
        )
    return named


def _rows_to_sets(
    flags: npt.NDArray[np.bool_], names: npt.NDArray[np.object_]
) -> npt.NDArray[np.object_]:
    """Return one frozenset a row; equal rows share theirs."""
    if not flags.size:
        return as_objects([frozenset()] * len(flags))
    codes, sets = code_flags(np.packbits(flags, axis=1), names)
    return sets[codes]


def code_flags(
    packed: npt.NDArray[np.uint8], names: npt.NDArray[np.object_]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.object_]]:
    """Return the codes of rows of flags, eight in a byte, and their distinct frozensets."""
    width = packed.shape[1]
    if width <= 8:  # one number a row
        keys = np.zeros((len(packed), 8), dtype=np.uint8)
        keys[:, :width] = packed
        inverse, _ = pd.factorize(keys.view(np.uint64).ravel())
        first = np.flatnonzero(np.diff(np.maximum.accumulate(inverse), prepend=-1))
    else:
        whole = np.ascontiguousarray(packed).view(f"V{width}").ravel()
        _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    flags = np.unpackbits(packed[first], axis=1, count=len(names)).astype(bool)
    return inverse, as_objects(parse_labels(names[row].tolist()) for row in flags)
