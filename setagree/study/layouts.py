"""Layouts of tables as long columns, and tables of counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from setagree.checks import Floats
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
from setagree.lazy import pd
from setagree.study.answer_warnings import TOTALS, is_agreed, warn_agreed, warn_totals
from setagree.study.assembly import LongColumns, pick_column
from setagree.study.codes import (
    MISSING,
    Answers,
    Column,
    TextColumn,
    as_objects,
    as_ordered,
    code_label_sets,
    common_order,
    distinct_cells,
    order_of,
)
from setagree.study.columns import (
    MARKS,
    TRUTH_VALUES,
    answer_families,
    answer_parts,
    are_truth_values,
    check_one_row_per_unit,
    check_roles,
    distinct_texts,
    has_rater_ids,
)
from setagree.study.frames import (
    Frame,
    as_pandas,
    check_columns,
    numbered_rows,
    row_numbers,
    stacked,
)
from setagree.study.identifiers import check_text, tidied
from setagree.study.labels import Case, LabelSyntax, is_blank, is_missing, parse_labels
from setagree.study.numbers import inferred
from setagree.study.reading import ANSWER_KINDS, AnswerKind
from setagree.study.scalars import code_scalars
from setagree.wording.label_sets import Label, LabelSep

_MARGINS = {"all", "sum", "total", "totals"}
UNIT_NAMES = {"unit", "unit_id", "item", "item_id", "id", "doc", "doc_id", "text_id"}
"""Usual names of columns of units, which are neither raters nor counts."""


def read_counts(
    data: object,
    values: Sequence[object] | None,
    *,
    kind: AnswerKind,
    label_sep: LabelSep,
    case: Case,
) -> tuple[Floats, npt.NDArray[np.object_], Answers]:
    """Return the counts (n_units, K) of the rated units, their names, and the K values."""
    check_choice("kind", kind, ANSWER_KINDS)
    table = _table_of_counts(data, values)
    counts = _as_counts(table)
    _check_odd_axes(table, counts)
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


def _table_of_counts(table: Any, values: Sequence[object] | None) -> pd.DataFrame:
    """Return a table whose columns have names: those of `values` for an array or a list of rows."""
    if values is not None:
        if isinstance(table, pd.DataFrame):
            raise OptionError("values= is for arrays and lists; the columns have names.")
        check_list("values", values, "values")
        names = [frozenset(x) if isinstance(x, list | set) else x for x in values]
        columns = pd.Index(as_objects(names), dtype=object, tupleize_cols=False)
        try:
            table = pd.DataFrame(np.array(table), columns=columns)
        except ValueError as error:
            raise DataError(
                f"the counts must be one row per unit, of {counted(len(names), 'count')} each."
            ) from error
    if not isinstance(table, pd.DataFrame):
        raise DataError(
            f"Expected a table of counts, got {a_type(table)}; pass a DataFrame with one row per "
            "unit and one column per value, or name the columns of an array: "
            "values=['a', 'b']."
        )
    if not table.size:
        raise DataError(f"a table of counts of shape {table.shape} has no counts.")
    _check_nameless("column of counts", as_objects(table.columns))
    return table


def unit_names(table: pd.DataFrame) -> pd.Index[Any]:
    """Return the tidied names of the rows."""
    for unit in table.index:
        check_text(unit, "the unit")
    return pd.Index(as_objects(map(tidied, table.index)), dtype=object, tupleize_cols=False)


def _check_odd_axes(table: pd.DataFrame, counts: Floats) -> None:
    """Raise an error for repeated units, a column of units, and sums."""
    units = unit_names(table)
    if units.has_duplicates:
        repeated = listing(units[units.duplicated()].unique().tolist())
        raise DataError(f"the table of counts has several rows for the units {repeated}.")
    names = [str(name).strip().casefold() for name in table.columns]
    odd = [c for c, name in zip(table.columns, names, strict=True) if name in UNIT_NAMES]
    if odd:
        raise DataError(f"column {odd[0]!r} has the name of units; make it the index.")
    sums = counts[:, :-1].sum(axis=1)
    if names[-1] in _MARGINS and len(names) > 2 and np.allclose(counts[:, -1], sums):
        raise DataError(f"column {table.columns[-1]!r} is the sum of the others; remove it.")


def _as_counts(table: pd.DataFrame, *, whole: bool = False) -> Floats:
    """Return the cells of a table of counts; raise an error unless they are counts."""
    try:
        counts = table.to_numpy(dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(
            "a table of counts must have only numbers; make the names of its rows the index."
        ) from error
    bad = ~np.isfinite(counts) | (counts < 0) | (whole & (counts != np.round(counts)))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise DataError(
            f"a count must be a {'whole ' * whole}number of at least 0; row {table.index[row]!r}, "
            f"column {table.columns[column]!r} has {counts[row, column]}."
        )
    if not counts.any():
        raise DataError("the table of counts has no count above 0.")
    return counts


_MAX_UNITS = 100_000_000
_ENOUGH = 4
_TRANSPOSE = (
    "rows are read as units and columns as raters. If each row is a rater, as in a reliability "
    "matrix, pass table.T."
)

Cells: TypeAlias = tuple[list[Any], list[int]]
"""The distinct cells of a column that are not missing, and the number of each."""

_NO_RATERS = {
    *("note", "notes", "comment", "comments", "remark", "remarks", "date", "time", "timestamp"),
    *("url", "created_at", "batch", "split"),
    *TOTALS,
}


def from_flags(frame: pd.DataFrame, unit: object, rater: object, flags: list[Any]) -> LongColumns:
    """Return the columns of a long table with a column of flags for each label."""
    check_columns(list(frame.columns), (unit, rater, *flags))
    sets = _sets(frame, flags)
    return LongColumns(pick_column(frame, unit), pick_column(frame, rater), sets)


def from_wide(data: Frame, unit: object | None, raters: Sequence[object] | None) -> LongColumns:
    """Return the long columns of a table with one row per unit and one column per rater."""
    if raters is not None:
        check_list("raters", raters, "columns")
        check_roles([("unit", unit), *(("rater", name) for name in raters)])
    used = None if raters is None else [*([] if unit is None else [unit]), *raters]
    data = as_pandas(data, used)
    check_columns(list(data.columns), used or ())
    ids: Any = data.index if unit is None else pick_column(data, unit)
    # A column may be called None, so compare names only if a unit column was passed.
    others = [c for c in data.columns if unit is None or c != unit]
    names = others if raters is None else list(raters)
    _check_nameless("column of a rater", [None if is_blank(x) else x for x in names])
    is_whole = ids.dtype.kind in "iu" and not ids.hasnans
    if not isinstance(ids, TextColumn):
        kind = ids.dtype if is_whole else object
        ids = pd.Series(ids if is_whole else as_objects(ids), dtype=kind, name=ids.name)
    if isinstance(ids, TextColumn) and not all(map(str.strip, ids)):
        return from_wide(cast("Any", data).to_pandas(), unit, raters)  # rows keep their numbers
    columns = [pick_column(data, name) for name in names]
    if not columns or not len(data):
        raise DataError(
            f"a wide table of {counted(len(data), 'row')} and {counted(len(columns), 'rater')} has "
            "no answers."
        )
    warn_totals(ids.tolist(), unit)
    if raters is None:
        if isinstance(unit, str):
            check_one_row_per_unit(data, unit)
        _check_stray_columns(columns, has_unit=unit is not None)
        warn_agreed(names)
    else:
        _warn_texts(columns)
    if isinstance(ids, TextColumn):
        parts = [*ids] * len(names), [name for name in names for _ in ids], chain(*columns)
        return LongColumns(*map(TextColumn, parts))
    is_array = unit is None and raters is None and isinstance(data.columns, pd.RangeIndex)
    rows = numbered_rows(np.tile(row_numbers(data), len(names)))
    units = pd.Series(np.tile(ids.to_numpy(), len(names)), rows, ids.dtype, ids.name)
    answers, swapped = stacked_answers(columns), _TRANSPOSE * is_array
    return LongColumns(units, repeated(names, len(data)), answers, if_swapped=swapped)


def from_triples(triples: Iterable[tuple[object, object, object]]) -> LongColumns:
    """Return the long columns of (rater, unit, answer) triples."""
    try:
        rows = list(triples)
    except TypeError:  # a zero-dimensional array is not iterable
        raise DataError(
            f"Expected a list of (rater, unit, labels) triples, got {a_type(triples)}."
        ) from None
    for position, row in enumerate(rows):
        if not isinstance(row, tuple | list) or len(row) != 3:
            raise DataError(f"triple {position} is {shorten(row)}; write (rater, unit, labels).")
    raters, units, answers = (as_objects(row[k] for row in rows) for k in range(3))
    return LongColumns(_series(units), _series(raters), _series(answers).rename("labels"))


def from_contingency(table: pd.DataFrame, raters: tuple[object, object]) -> LongColumns:
    """Return the long columns of a table of counts (rows: first rater, columns: second).

    Each count of one becomes a unit.
    """
    if not isinstance(table, pd.DataFrame):
        raise DataError("a contingency table needs its labels: pass a DataFrame with both axes.")
    if not isinstance(raters, tuple | list) or len(raters) != 2 or raters[0] == raters[1]:
        raise OptionError(f"{option('raters', raters, limit=80)} must name two raters.")
    _check_halves("rater", raters)
    _check_nameless("row of the contingency table", as_objects(table.index))
    _check_nameless("column of the contingency table", as_objects(table.columns))
    cells = _as_counts(table, whole=True)
    if (total := cells.sum()) > _MAX_UNITS:
        raise DataError(
            f"the contingency table counts {total:,.0f} units; at most {_MAX_UNITS:,} can be "
            "written as annotations."
        )
    counts = cells.astype(np.int64)
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
    """Return the long columns of flags of shape (raters, units, labels).

    A true entry of `mask`, of shape (raters, units), is a missing annotation.
    """
    flags = _as_flags(cube, "indicators")
    if flags.ndim != 3:
        raise DataError(f"indicators must have shape (raters, units, labels), not {flags.shape}.")
    for axis, axis_names in (("labels", labels), ("units", units), ("raters", raters)):
        # A text names units or raters by its letters; _label_names() rejects it for labels.
        is_text = axis_names is None or isinstance(axis_names, str)
        check_list(axis, () if is_text else axis_names, "names")
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
    """Return the long columns of flags with index (unit, rater) and one column per label."""
    if frame.index.nlevels != 2:
        raise DataError("a frame of flags needs an index of two levels: unit, rater.")
    flags = _as_flags(frame.to_numpy(), "indicators")
    answer = _rows_to_sets(flags, _label_names(frame.columns))
    levels = ("rater", "unit") if list(frame.index.names) == ["rater", "unit"] else (1, 0)
    rater, unit = (frame.index.get_level_values(level).to_series() for level in levels)
    return LongColumns(unit, rater, pd.Series(answer, dtype=object))


def _sets(frame: pd.DataFrame, names: Sequence[Any]) -> Column:
    """Return the label sets of columns of flags; a row without any flag is missing.

    If the flags are marks, such as x, a row without any is a blank answer.
    """
    labels = _label_names(names)
    if not names:
        raise OptionError(f"{option('labels', [])} names no column of flags.")
    columns = [pick_column(frame, name) for name in names]
    texts = set[str]().union(*map(distinct_texts, columns)) - {""}
    are_marks = bool(texts) and texts <= MARKS
    if are_marks:
        columns = [column.isin([*MARKS - {""}]) for column in columns]
    elif are_truth_values(texts):
        columns = [x if x.dtype == bool else x.map(_truth_value) for x in columns]
    n_missing = sum(column.isna().to_numpy(dtype=np.int32) for column in columns)
    packed = np.zeros((len(frame), (len(names) + 7) // 8), dtype=np.uint8)
    for place, column in enumerate(columns):
        flags = np.zeros(len(column), dtype=np.uint8)  # missing flags are 0
        cells = column.dropna().to_numpy()
        flags[column.notna().to_numpy()] = _as_flags(cells, f"column {column.name!r}")
        packed[:, place // 8] |= flags << np.uint8(7 - place % 8)
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
    if are_marks:
        answer[~packed.any(axis=1)] = ""
    return pd.Series(answer, dtype=object, name="labels")


def _truth_value(cell: object) -> object:
    return TRUTH_VALUES.get(str(cell).strip().lower())


def repeated(names: Sequence[object], n: int) -> Column:
    """Return a categorical column with each name `n` times."""
    categories = pd.Index(as_objects(names), dtype=object, tupleize_cols=False)
    codes = np.repeat(np.arange(len(names)), n)
    return pd.Series(pd.Categorical.from_codes(codes, categories))


def stacked_answers(columns: Sequence[Column]) -> Column:
    """Return the concatenated columns of answers, with their order of categories if any."""
    is_numeric = all(pd.api.types.is_numeric_dtype(c.dtype) for c in columns)
    is_text = all(isinstance(c.dtype, pd.StringDtype) for c in columns)
    if is_numeric or is_text or any(map(order_of, columns)):
        return stacked(columns)
    return pd.Series(np.concatenate([as_objects(c) for c in columns]), dtype=object)


def _check_stray_columns(columns: Sequence[Column], *, has_unit: bool) -> None:
    """Raise an error for a column of identifiers or free text among columns of answers."""
    cells, parts = _distinct_answers(columns)
    strays = _strays(cells, parts)
    unlike = [(c.name, *x) for c, x in zip(columns, strays, strict=True) if x[0]]
    odd = next((column.name for column in columns if _is_no_rater(column.name)), None)
    may_be_unit = odd is None
    if not may_be_unit:
        what = "seems not to be a rater; if it is not one,"
    elif unlike:
        odd, n, n_cells = unlike[0]
        what = (
            "looks like unit identifiers or free text, not like the answers of a rater "
            f"({n} of its {n_cells} cells are different, and most occur in no other column);"
        )
    elif (odd := next((c.name for c in columns if _plain(c.name) in UNIT_NAMES), None)) is not None:
        what = "has the name of units;"
    else:
        _warn_families(columns, cells, parts)
        return
    advice, raters = _advice(columns, parts, strays)
    or_unit = f" use {option('unit', odd)}, or" if may_be_unit else ""
    is_sure = len(raters) == 1 and (has_unit or not may_be_unit)
    raise DataError(f"column {odd!r} {what}{or_unit} list the raters: {advice}").having(
        remedy={"raters": raters[0]} if is_sure else {}
    )


def _warn_families(
    columns: Sequence[Column], cells: Sequence[Cells], parts: Sequence[set[str]]
) -> None:
    """Warn if some columns of raters have no answer in common with the others."""
    families = [
        [columns[k].name for k in family if sum(cells[k][1]) >= _ENOUGH]
        for family in answer_families(parts)
    ]
    several = [family for family in families if len(family) > 1]
    alone = [family[0] for family in families if len(family) == 1]
    if len(several) > 1:
        first, second = several[:2]
        warn(
            f"the columns {listing(first)} are read as raters, and so are {listing(second)}, which "
            "have no answer in common with them; if only some of them are raters, list these: "
            f"{option('raters', first)} or {option('raters', second)}.",
            SetagreeWarning,
        )
    elif several and alone:
        warn(
            f"column {shorten(alone[0])} is read as a rater and has no answer in common with any "
            f"other; if it is not one, leave it out: {option('raters', several[0])}.",
            SetagreeWarning,
            wide=True,
            raters=several[0],
        )


def _warn_texts(columns: Sequence[Column]) -> None:
    """Warn of free text among the columns that are listed as raters."""
    cells, parts = _distinct_answers(columns)
    strays = _strays(cells, parts)
    for column, (distinct, _), (n_distinct, _) in zip(columns, cells, strays, strict=True):
        if n_distinct and all(isinstance(cell, str) for cell in distinct):
            warn(
                f"column {column.name!r} is read as a rater, but has "
                f"{counted(n_distinct, 'distinct text')} in {counted(len(column), 'row')}, and "
                f"most occur in no other column. If these are texts or names of units, use "
                f"{option('unit', column.name)}, or list the raters without it: "
                f"{_advice(columns, parts, strays)[0]}",
                SetagreeWarning,
            )
    if not any(n for n, _ in strays):
        _warn_families(columns, cells, parts)


def _distinct_answers(columns: Sequence[Column]) -> tuple[list[Cells], list[set[str]]]:
    """Return the distinct cells of each column with their numbers, and their parts (labels)."""
    cells: list[Cells] = []
    for codes, distinct in map(distinct_cells, columns):
        n_cells = np.bincount(codes[codes != MISSING], minlength=len(distinct))
        cells.append((distinct, n_cells.tolist()))
    return cells, [answer_parts(distinct) for distinct, _ in cells]


def _strays(cells: Sequence[Cells], parts: Sequence[set[str]]) -> list[tuple[int, int]]:
    """Return the numbers of distinct cells and of cells of columns that are unlike answers.

    Both are 0 for columns that may be answers of a rater.
    """
    times = Counter(part for column in parts for part in column)
    strays = []
    for counted_cells, of_column in zip(cells, parts, strict=True):
        counts = [n for cell, n in zip(*counted_cells, strict=True) if _may_identify(cell)]
        n_cells, n_distinct = sum(counts), len(counts)
        n_shared = sum(times[part] > 1 for part in of_column)
        few = n_cells < _ENOUGH or sum(map(bool, parts)) < 2
        is_answer = few or 10 * n_distinct < 9 * n_cells or 2 * n_shared >= len(of_column)
        strays.append((0, 0) if is_answer else (n_distinct, n_cells))
    return strays


def _advice(
    columns: Sequence[Column], parts: Sequence[set[str]], strays: Sequence[tuple[int, int]]
) -> tuple[str, list[list[Any]]]:
    """Return the option that lists the possible raters, once per group of columns; the groups."""
    names = [column.name for column in columns]
    possible = [
        k
        for k, (name, (n, _)) in enumerate(zip(names, strays, strict=True))
        if not (n or _is_no_rater(name) or _plain(name) in UNIT_NAMES)
    ]
    agreed = [names[k] for k in possible if is_agreed(names[k])]
    families = [[names[k] for k in possible if k in family] for family in answer_families(parts)]
    several = [family for family in families if len(family) > 1] or [[names[k] for k in possible]]
    rest = [[name for name in family if not is_agreed(name)] for family in several]
    end = "."
    if agreed and min(map(len, rest)) > 1:
        several = rest
        end = f" (without {listing(agreed)}, which may be derived from the others' answers)."
    return f"{' or '.join(option('raters', family) for family in several)}{end}", several


def _is_no_rater(name: object) -> bool:
    """Return whether a column has the name of something else than the answers of a rater."""
    return _plain(name) in _NO_RATERS or has_rater_ids(name)


def _plain(name: object) -> str:
    return str(name).strip().lower()


def _may_identify(cell: object) -> bool:
    if isinstance(cell, float):
        return cell.is_integer()  # identifiers with missing cells are read as floats
    return isinstance(cell, str | int | datetime) and cell != ""


def _check_nameless(what: str, names: Iterable[object]) -> None:
    _check_halves(what, names := [*names])
    nameless = [k for k, name in enumerate(names, 1) if is_missing(name)]
    if nameless:
        several = counted(len(nameless), what, what.replace(" of", "s of", 1))
        raise DataError(
            f"{several} without a name (first: number {nameless[0]}); name it or remove it."
        )


def _check_halves(what: str, names: Iterable[object]) -> None:
    """Raise an error for lone surrogates in the names along an axis."""
    for number, name in enumerate(names, 1):
        check_text(name, f"{what} (number {number}),")


def _series(cells: npt.NDArray[np.object_]) -> Column:
    """Return cells as a column, of objects if they are lone surrogates or huge numbers."""
    try:
        return pd.Series(cells)
    # Arrow text cannot hold lone surrogates, and pandas 2 converts large whole numbers to floats.
    except (UnicodeEncodeError, OverflowError):
        return pd.Series(cells, dtype=object)


def _check_margins(table: pd.DataFrame, counts: npt.NDArray[np.int64]) -> None:
    """Raise an error for margins among the counts, as of crosstab(margins=True)."""
    for axis, names in enumerate((table.index, table.columns)):
        name = as_objects(names)[-1]
        inner = np.delete(counts, -1, axis).sum(axis)
        if str(name).casefold() in _MARGINS and (np.take(counts, -1, axis) == inner).all():
            raise DataError(
                f"the last {('row', 'column')[axis]} of the contingency table, {name!r}, is the "
                "sum of the others; remove the margins."
            )


def _as_flags(array: npt.ArrayLike, what: str) -> npt.NDArray[np.bool_]:
    if np.ma.isMaskedArray(array):
        raise DataError(f"{what}: a masked array; pass plain flags, and missing ones as mask=.")
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
    """Return the names along the axis of labels; equal labels raise an error."""
    if isinstance(names, str):
        raise OptionError(f"{option('labels', names)} must be a list of labels, not one text.")
    labels = as_objects(names)
    flags = [label for label in labels if isinstance(label, bool | np.bool_)]
    cleaned = parse_labels([*labels], blank="empty") if len(labels) and not flags else frozenset()
    if cleaned is None or len(cleaned) != len(labels):
        raise DataError(
            f"{counted(len(labels), 'label')} need as many different names; these are "
            f"{listing(labels.tolist())}."
        )
    return labels


def _rows_to_sets(
    flags: npt.NDArray[np.bool_], names: npt.NDArray[np.object_]
) -> npt.NDArray[np.object_]:
    """Return one frozenset per row; equal rows share one object."""
    if not flags.size:
        return as_objects([frozenset()] * len(flags))
    codes, sets = code_flags(np.packbits(flags, axis=1), names)
    return sets[codes]


def code_flags(
    packed: npt.NDArray[np.uint8], names: npt.NDArray[np.object_]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.object_]]:
    """Return the codes of rows of flags, packed eight per byte, and their distinct frozensets."""
    width = packed.shape[1]
    if width <= 8:  # one number per row
        keys = np.zeros((len(packed), 8), dtype=np.uint8)
        keys[:, :width] = packed
        inverse, _ = pd.factorize(keys.view(np.uint64).ravel())
        first = np.flatnonzero(np.diff(np.maximum.accumulate(inverse), prepend=-1))
    else:
        rows = np.ascontiguousarray(packed).view(f"V{width}").ravel()
        _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    flags = np.unpackbits(packed[first], axis=1, count=len(names)).astype(bool)
    return inverse, as_objects(parse_labels(names[row].tolist()) for row in flags)
