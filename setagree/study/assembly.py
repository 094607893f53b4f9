"""Units, raters and answers of a table as a coded study."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from setagree.checks import Codes
from setagree.errors import (
    BlankLabelsWarning,
    DataError,
    DroppedRowsWarning,
    LabelError,
    RepeatsError,
    SetagreeWarning,
    SwappedColumnsWarning,
    UnnamedError,
    counted,
    listing,
    option,
    python_or_command,
    shorten,
    warn,
)
from setagree.lazy import pd
from setagree.study.answer_warnings import (
    N_LAST,
    is_total,
    n_cells,
    warn_merged_names,
    warn_similar,
    warn_totals,
)
from setagree.study.codes import (
    MISSING,
    Answers,
    Column,
    TextColumn,
    as_objects,
    code_label_sets,
    factorise,
    may_look_alike,
    merge,
    ranges,
    recode,
)
from setagree.study.columns import guess_columns
from setagree.study.frames import (
    check_column,
    check_columns,
    inexact_ids,
    is_inexact,
    numbered_rows,
    row_numbers,
    without_dictionary,
)
from setagree.study.identifiers import check_text, is_whole, tidied
from setagree.study.labels import EMPTY, Blank, is_blank
from setagree.study.reading import Duplicates, Reading
from setagree.study.scalars import code_scalars
from setagree.wording.label_sets import LabelSet

if TYPE_CHECKING:
    from setagree.study.annotations import Annotations


_MANY_RATERS = 10
_MANY_NAMES = 100_000


class LongColumns(NamedTuple):
    """One annotation per row; `if_swapped` is a hint for objects with swapped raters and units."""

    unit: Column
    rater: Column
    answer: Column
    if_swapped: str = ""


def from_long(frame: pd.DataFrame, unit: object, rater: object, answer: object) -> LongColumns:
    """Return the three columns of a table with one row per annotation."""
    names = (unit, rater, answer)
    if not all(isinstance(name, str) and name in frame.columns for name in names):
        _check_named(list(frame.columns), names)
    units, raters, answers = (pick_column(frame, name) for name in names)
    last = zip(*(as_objects(column[-N_LAST:]) for column in (units, raters)), strict=True)
    # Totals without a rater are left out.
    warn_totals([None if is_blank(who) else name for name, who in last], unit)
    return LongColumns(units, raters, answers)


def _check_named(columns: list[Any], names: Sequence[object]) -> None:
    """Raise an error if named columns are absent, with the call for the columns of the table."""
    try:
        check_columns(columns, names)
    except DataError as error:
        roles = zip(("unit", "rater", "labels"), names, strict=True)
        try:
            guess = guess_columns(
                [str(name) for name in columns], **{k: str(x) for k, x in roles if x in columns}
            )
            named = {role: shorten(name) for role, name in vars(guess).items() if name is not None}
        except DataError:
            named = dict.fromkeys(("unit", "rater", "labels"), "...")
        way = ", ".join(f"{role}={name}" for role, name in named.items())
        raise DataError(f"{error} Name the columns: from_long(table, {way}).") from None


def pick_column(data: pd.DataFrame, name: object) -> Column:
    """Return the one column called ``name``."""
    is_unique = getattr(data.columns, "is_unique", True)
    if not (isinstance(name, str) and is_unique and name in data.columns):
        check_column(list(data.columns), name)
    column = data[name]
    return without_dictionary(column) if isinstance(column.dtype, pd.ArrowDtype) else column


def assemble(
    record: type[Annotations], long: LongColumns, reading: Reading, *, is_long: bool = False
) -> Annotations:
    """Return a study of coded columns, without missing answers and repeats.

    With `is_long`, the answers are one column of a long table, in which nulls may be blanks.
    """
    if not len(long.answer):
        raise no_answers(0)
    try:
        unit_codes, units = _coded_ids(long.unit, "unit")
        rater_codes, raters = _coded_ids(long.rater, "rater")
    except UnnamedError:
        rest = _without_blank_rows(long, reading) if is_long or reading.wide else long
        if len(rest.unit) == len(long.unit):
            raise
        return assemble(record, rest, reading, is_long=is_long)

    def place(row: int) -> str:
        unit, rater = (as_objects(ids.iloc[[row]])[0] for ids in (long.unit, long.rater))
        return f"Unit {shorten(unit)}, rater {shorten(rater)}"

    answers = code_answers(long.answer, reading, is_long=is_long, place=place)
    ids = (units, raters, answers.values, unit_codes, rater_codes)
    coded = record(answers.kind, *ids, answers.codes, reading=reading, order=answers.order)
    kept = _drop_missing(coded)
    if (repeated := _repeated(kept)) is not None:
        if reading.duplicates == "error":
            numbers = row_numbers(long.unit)[answers.codes != MISSING]
            raise _repeats_error(kept, repeated, numbers, is_long=is_long)
        kept = _settle_duplicates(kept, repeated, reading.duplicates)
    if kept.n_repeated > kept.n_ratings:
        names = (long.unit.name, long.rater.name)
        _warn_repeats(reading.duplicates, kept.n_repeated, kept.n_ratings, names)
    n = {"n_raters": kept.n_raters, "n_ratings": kept.n_ratings}
    warn_exchanged(kept.n_units, **n, if_swapped=long.if_swapped)
    if kept.n_units < len(units):
        rated = np.bincount(unit_codes[answers.codes != MISSING], minlength=len(units)) > 0
        kept = replace(kept, unanswered=units[~rated])
    # Every value occurs in a cell, so only dropped rows can leave one unused.
    return kept if kept.n_ratings == len(unit_codes) else kept.with_used_values()


def no_answers(n_cells: int) -> DataError:
    """Return the error for a table without an answer."""
    what = f"all {counted(n_cells, 'cell')} are missing" if n_cells else "the table has 0 rows"
    return DataError(f"{what}; there is nothing to score.")


def warn_exchanged(n_units: int, *, n_raters: int, n_ratings: int, if_swapped: str = "") -> None:
    """Warn if there are far more raters than units, or if every rater gave one rating.

    `if_swapped` is the remedy for an array or a dict, which does not name its raters and units.
    """
    one_each = n_raters == n_ratings
    is_odd = n_raters > n_units and (one_each or n_raters >= 4 * n_units)
    is_odd = is_odd and n_raters >= _MANY_RATERS
    way = "are the unit and the rater column exchanged?"
    if if_swapped:
        is_odd, way = is_odd or n_raters >= max(2 * n_units, 5), if_swapped
    if is_odd:
        count = f"{counted(n_raters, 'rater')} and only {counted(n_units, 'unit')}"
        warn(f"{count}: {way}", SwappedColumnsWarning)


def _coded_ids(column: Column, role: str) -> tuple[Codes, npt.NDArray[np.object_]]:
    if column.dtype.kind == "f" and is_inexact(column):
        raise inexact_ids(role)
    codes, names = code_ids(column, role)
    warn_names(f"{role.capitalize()}s", names)
    return codes, names


def warn_names(what: str, names: npt.NDArray[np.object_]) -> None:
    """Warn of names that look alike, unless there are more than `_MANY_NAMES`."""
    if len(names) <= _MANY_NAMES and may_look_alike(listed := names.tolist()):
        warn_similar(what, listed, have_case=False)


def code_answers(
    column: Column,
    reading: Reading,
    *,
    is_long: bool,
    place: Callable[[int], str],
    times: Codes | None = None,
) -> Answers:
    """Return a coded column of answers; `times` is the number of rows that each cell represents."""
    syntax = reading.syntax
    if reading.answers == "labels":
        way = partial(_way_to_scalars, reading, is_long=is_long)
        coded = code_label_sets(column, syntax, place=place, times=times, scalars=way)
    else:
        cells: dict[str, Any] = {"case": syntax.case, "markers": syntax.markers}
        cells["kind"] = reading.answers
        coded = code_scalars(column, syntax.blank, **cells, place=place, times=times)
    if (coded.codes != MISSING).all():
        return coded
    flags = {"is_explicit": reading.blank is not None, "is_long": is_long}
    return read_nulls(coded, column, syntax.blank, **flags, place=place, times=times)


def _way_to_scalars(reading: Reading, *, is_long: bool) -> str:
    """Return the option that reads one value per cell, in the function that was called."""
    if is_long:
        return "" if reading.degree else option("value")
    return option("kind", "value")


def _drop_missing(coded: Annotations) -> Annotations:
    rated = coded.value_codes != MISSING
    n_rated = int(np.count_nonzero(rated))
    if not n_rated:
        raise no_answers(len(rated))
    if n_rated == len(rated):
        return coded
    by_rater = np.bincount(coded.rater_codes[~rated], minlength=coded.n_raters).tolist()
    return replace(
        coded.take(np.flatnonzero(rated)),
        n_missing=len(rated) - n_rated,
        missing_by_rater={who: n for who, n in zip(coded.raters, by_rater, strict=True) if n},
    )


def _settle_duplicates(
    coded: Annotations, keys: npt.NDArray[np.int64], policy: Duplicates
) -> Annotations:
    """Return the study with one annotation for each of the pairs of unit and rater in `keys`."""
    if policy == "union":
        coded = _unite(coded, keys)
    repeated = pd.Series(keys).duplicated(keep="last" if policy == "last" else "first")
    kept = replace(
        coded.take(~repeated.to_numpy()),
        n_repeated=int(repeated.sum()),
        missing_by_rater=coded.missing_by_rater,
    )
    return replace(kept, repeats=_kept_apart(coded, keys)) if policy == "repeats" else kept


def _kept_apart(coded: Annotations, keys: npt.NDArray[np.int64]) -> Annotations:
    """Return a study of the repeated answers, with one unit per (unit, rater)."""
    rows = np.flatnonzero(pd.Series(keys).duplicated(keep=False))
    pairs, unit_codes = np.unique(keys[rows], return_inverse=True)
    times = pd.Series(unit_codes).groupby(unit_codes).cumcount().to_numpy()
    both = zip(pairs // coded.n_raters, pairs % coded.n_raters, strict=True)
    return replace(
        coded,
        units=as_objects((coded.units[u], coded.raters[g]) for u, g in both),
        raters=as_objects(f"answer {k + 1}" for k in range(int(times.max()) + 1)),
        unit_codes=unit_codes.astype(np.int32),
        rater_codes=times.astype(np.int32),
        value_codes=coded.value_codes[rows],
        n_missing=0,
        missing_by_rater={},
    )


def _warn_repeats(policy: str, n_left_out: int, n_kept: int, names: tuple[object, object]) -> None:
    """Warn if most annotations are repeats, which is rarely intended."""
    unit, rater = ("its column" if name is None else f"column {shorten(name)}" for name in names)
    done = "united with others" if policy == "union" else "dropped"
    warn(
        f"{option('duplicates', policy)}: {n_left_out:,} of "
        f"{counted(n_left_out + n_kept, 'rating')} {done}, as their rater had annotated the same "
        f"unit, and only {n_kept:,} remain. Check that the unit ({unit}) identifies the rated "
        f"items and the rater ({rater}) the raters.",
        SetagreeWarning,
    )


def _repeated(coded: Annotations) -> npt.NDArray[np.int64] | None:
    """Return the number of the pair of unit and rater of each row, or None if none is repeated."""
    keys = coded.unit_codes.astype(np.int64) * coded.n_raters + coded.rater_codes
    n_pairs = coded.n_units * coded.n_raters
    if n_pairs <= 8 * len(keys):
        seen = np.zeros(n_pairs, dtype=bool)
        seen[keys] = True
        return keys if np.count_nonzero(seen) < len(keys) else None
    ordered = np.sort(keys)
    return keys if (ordered[1:] == ordered[:-1]).any() else None


def row_a_label() -> str:
    """Return a sentence on repeats as labels of one set, for the error on repeats."""
    file = python_or_command(
        "setagree.read(file, tool='plain_row_per_label')", "--tool plain_row_per_label"
    )
    return (
        f" If each row has one label of a set, use {option('duplicates', 'union')}, or for a file "
        f"{file}; if it has a degree of the label, too, name its column with {option('degree')}."
    )


def _repeats_error(
    coded: Annotations,
    keys: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.int64],
    *,
    is_long: bool,
) -> RepeatsError:
    """Return the error for repeated pairs; `numbers` are the numbers of the rows."""
    times = pd.Series(keys).value_counts(sort=False)
    repeated = times[times > 1]
    few = [
        (coded.units[key // coded.n_raters], coded.raters[key % coded.n_raters], n)
        for key, n in zip(repeated.index[:3].tolist(), repeated, strict=False)
    ]
    rows = pd.DataFrame({"key": keys, "value": coded.value_codes})
    is_doubled = (times == 2).all() and rows.duplicated().sum() == len(times)
    doubled = " Every pair occurs twice: was the file appended to itself?"
    also = row_a_label() if is_long and _may_be_rows_a_label(coded, pd.Series(keys)) else ""
    remedy = {} if also else {"duplicates": "last"}
    pairs = counted_repeats(len(repeated), few)
    return RepeatsError(
        f"{pairs}; use {option('duplicates', 'last')} (corrections), "
        "'first' or 'union'; 'repeats' compares raters with themselves."
        f"{also}{doubled if is_doubled else ''}"
    ).having(rows=numbers[keys == repeated.index[0]].tolist(), remedy=remedy, pairs=pairs)


def counted_repeats(n: int, few: Iterable[tuple[Any, Any, int]]) -> str:
    """Return the number of repeated pairs, and a few units, raters and their numbers of ratings."""
    places = "; ".join(
        f"unit {shorten(unit)}, rater {shorten(rater)}: {times} times" for unit, rater, times in few
    )
    return f"{counted(n, 'pair')} of unit and rater annotated more than once ({places})"


def _may_be_rows_a_label(coded: Annotations, keys: pd.Series[int]) -> bool:
    """Return whether no answer has several labels, and the repeats of a pair differ."""
    rows = keys.duplicated(keep=False).to_numpy()
    answers = pd.DataFrame({"pair": keys[rows], "value": coded.value_codes[rows]})
    if coded.kind != "labels" or answers.duplicated().any():
        return False
    texts = ["".join(map(str, value)) for value in coded.values]  # may be split at a sign
    return max(map(len, coded.values)) == 1 and {";", "|"}.isdisjoint("".join(texts))


def _unite(coded: Annotations, keys: npt.NDArray[np.int64]) -> Annotations:
    """Return the study with the union of the label sets of a pair in each of its rows."""
    if coded.kind != "labels":
        raise DataError(f"{option('duplicates', 'union')} needs label sets; scalars have no union.")
    pairs, codes, values = united(coded.values, coded.value_codes, keys)
    codes = codes[np.searchsorted(pairs, keys)].astype(np.int32)
    return replace(coded, values=tuple(values), value_codes=codes)


def united(
    values: Iterable[LabelSet], codes: Codes, keys: Codes
) -> tuple[Codes, Codes, list[LabelSet]]:
    """Return the sorted distinct keys, and the union of the label sets of each, coded.

    Neighbours with one key are united two by two until each key has one set.
    """
    code_of = {value: code for code, value in enumerate(values)}
    order = np.argsort(keys, kind="stable")
    keys, codes = keys[order], codes[order].astype(np.int64)
    while len(starts := np.flatnonzero(np.diff(keys, prepend=-1))) < len(keys):
        position = ranges(0, np.diff(starts, append=len(keys)))
        odd, sets, K = np.flatnonzero(position % 2), [*code_of], len(code_of)
        pairs, place = np.unique(codes[odd - 1] * K + codes[odd], return_inverse=True)
        both = [sets[pair // K] | sets[pair % K] for pair in pairs.tolist()]
        codes[odd - 1] = np.array([code_of.setdefault(x, len(code_of)) for x in both])[place]
        keys, codes = np.delete(keys, odd), np.delete(codes, odd)
    return keys, codes, [*code_of]


def code_ids(column: Column, role: str) -> tuple[Codes, npt.NDArray[np.object_]]:
    """Return codes and distinct identifiers, in the order of first occurrence."""
    try:
        codes, ids = factorise(column)
    except (TypeError, NotImplementedError) as error:
        rows = " Write a row per annotation, as df.explode(['raters', 'labels']) does."
        hint = rows if column.map(lambda cell: isinstance(cell, list)).any() else ""
        raise DataError(f"a {role} is named by text or a number ({error}).{hint}") from error
    tidy, names = _tidy_names(codes.astype(np.int32, copy=False), ids, role, column)
    unnamed = tidy == MISSING
    if not all(listed := names.tolist()) and "" in listed:  # names are distinct
        unnamed |= tidy == listed.index("")
    if unnamed.any():
        bad = np.flatnonzero(unnamed)
        n = len({*row_numbers(column)[bad].tolist()})  # columns of raters are joined
        way, remedy = f"name the {role} or drop the rows", dict[str, str]()
        if role == "unit" and column.name is not None and _may_be_merged(unnamed):
            way = (
                "cells may be merged, with their text in the first row only. Write the unit in "
                f"every row (in pandas: df[{column.name!r}].ffill())"
            )
        elif column.name is not None and role in {"unit", "rater"}:
            name = str(column.name).replace("`", "``")
            remedy = {"where": f'`{name}` != "-"'}
            call = python_or_command("setagree.read with ", "") + option("where", remedy["where"])
            way += f", as {call} does, because blank cells never match"
        raise UnnamedError(
            f"{counted(n, 'row')} without a {role} (first: {_rows(column, bad)}, counted from 1 "
            f"below the header); {way}."
        ).having(remedy=remedy)
    return tidy, names


def _may_be_merged(blank: npt.NDArray[np.bool_]) -> bool:
    """Return whether half of the rows are blank and follow the others, as below merged cells."""
    n_filled = int(np.count_nonzero(~blank))
    n_before = int(np.count_nonzero(blank[1:] & ~blank[:-1]))
    is_half = 2 * n_filled <= len(blank) and not blank[0]
    return bool(is_half and n_filled > 2 and 4 * n_before >= 3 * n_filled)


def _without_blank_rows(long: LongColumns, reading: Reading) -> LongColumns:
    """Return the rows that are not blank, without totals: rows of them without a rater.

    In wide tables, rows of totals stand below a blank row.
    """
    unnamed, raterless, blank = (np.array([*map(is_blank, x)], dtype=bool) for x in long[:3])
    kept = ~(unnamed & blank & (raterless | reading.wide))
    numbers, units = row_numbers(long.unit), as_objects(long.unit)
    last_blank = max(numbers[~kept].tolist(), default=inf)
    rest = kept & ((numbers > last_blank) if reading.wide else raterless)
    totals = [*dict.fromkeys(units[rest])]
    if totals and all(map(is_total, totals)):
        kept &= ~rest
        warn(f"Rows left out as totals: {listing(totals)}.", DroppedRowsWarning)
    columns = {name: getattr(long, name) for name in ("unit", "rater", "answer")}
    rows = {name: x.set_axis(numbered_rows(row_numbers(x)))[kept] for name, x in columns.items()}
    return long._replace(**rows)


def _tidy_names(
    codes: Codes, names: npt.NDArray[np.object_], role: str, column: Column
) -> tuple[Codes, npt.NDArray[np.object_]]:
    """Return codes and names with stripped spaces and composed accents, as in labels."""
    listed = names.tolist()
    try:
        joined = "".join(listed)
        plain = joined.isascii()
        # The search for spaces in one text takes half the time of stripping each name.
        tidy = listed if joined.split() == [joined] else list(map(str.strip, listed))
    except TypeError:  # not all are text
        if all(issubclass(kind, int) for kind in set(map(type, listed))):
            return codes, names
        if odd := next((name for name in listed if isinstance(name, frozenset)), None):
            raise DataError(
                f"a {role} is named by text or a number, not by {shorten({*odd})}."
            ) from None
        plain = False
    if not plain:
        _check_halves(codes, listed, role, column)
        tidy = [tidied(name) for name in listed]
    if tidy == listed:
        return codes, names
    merged, distinct = merge(tidy)
    warn_merged_names(role, zip(merged.tolist(), listed, strict=True))
    return recode(codes, merged), as_objects(distinct)


def _check_halves(codes: Codes, names: Sequence[object], role: str, column: Column) -> None:
    """Raise an error for half characters, with the first row that has one."""
    for code, name in enumerate(names):
        if not is_whole(name):
            first = _rows(column, np.flatnonzero(codes == code)[:1])
            check_text(name, f"{first} (counted from 1 below the header): the {role}")


def _rows(column: Column, positions: npt.NDArray[np.intp]) -> str:
    numbers = [*dict.fromkeys(row_numbers(column)[positions].tolist())]
    return f"rows {listing(numbers)}" if len(numbers) > 1 else f"row {numbers[0]}"


def read_nulls(
    answers: Answers,
    column: Column | TextColumn,
    blank: Blank,
    *,
    is_explicit: bool,
    is_long: bool,
    place: Callable[[int], str],
    times: Codes | None = None,
) -> Answers:
    """Return the answers with nulls read as missing or as the empty set, and warn about it.

    Many readers convert blank cells to nulls. In the label column of a long table a null is
    therefore read as a blank, unless the column also has blank text: then nulls are missing.
    In other columns a null is always missing.

    With `is_explicit`, `blank` was passed by the caller and is not the default. With `is_long`, the
    column is that of a long table. `place` and `times` are as in `code_label_sets`.
    """
    is_null = answers.codes == MISSING
    is_null &= not isinstance(column, TextColumn) and column.isna().to_numpy(dtype=bool)
    n_null, explicit = n_cells(is_null, times), blank if is_explicit else None
    if n_null and is_long and answers.is_text:
        read_as: Blank = "missing" if answers.n_blank else blank
        if read_as == "error":
            raise LabelError(
                f"{place(int(np.flatnonzero(is_null)[0]))}: the cell is null (None or NaN), and "
                f"with {counted(n_null, 'null')} and no blank text in the column "
                f"{option('blank', 'error')} applies to nulls; use {option('blank', 'missing')} "
                "(no annotation) or 'empty' (no label applies)."
            )
        if read_as == "empty" or answers.values:  # a column without answers raises an error later
            warn_nulls(n_null, answers, read_as=read_as, explicit=explicit)
        if read_as == "missing":
            return answers
        values = tuple(dict.fromkeys([*answers.values, EMPTY]))
        codes = np.where(is_null, np.int32(values.index(EMPTY)), answers.codes)
        return replace(answers, codes=codes, values=values)
    if explicit is not None:
        warn_nulls_left(n_null, explicit, has_sets=answers.kind == "labels")
    elif answers.kind == "labels" and blank == "missing":  # of scalars, blanks can only be missing
        warn_blanks(answers.n_blank)
    return answers


def warn_blanks(n_blank: int) -> None:
    """Warn that blank cells were read as missing by default, with their number."""
    if n_blank:
        warn(
            f"{counted(n_blank, 'blank cell')} read as missing; use {option('blank', 'empty')} if "
            f"blank means 'no label applies'. Otherwise nothing changes, and "
            f"{option('blank', 'missing')} omits this warning.",
            BlankLabelsWarning,
        )


_KEPT_AS_TEXT = "(pandas: keep_default_na=False; Polars: missing_utf8_is_empty_string=True)"


def warn_nulls(n_null: int, answers: Answers, *, read_as: Blank, explicit: Blank | None) -> None:
    """Warn how nulls and blank texts in a long column of label text were read, with their numbers.

    `explicit` is the value of blank=, or None by default.
    """
    spelled = " Other cells spell out the empty set, such as []."
    warn(
        f"{counted(n_null, 'null')} (None or NaN) and {counted(answers.n_blank, 'blank text')} "
        f"among the labels: {_read_as(answers.n_blank, read_as, explicit)}."
        f"{spelled if read_as == 'empty' and answers.spells_empty else ''} Many readers convert "
        "blank cells to nulls, and pandas also texts such as NA or None: keep them as text "
        f"{_KEPT_AS_TEXT}, or pass the path. If a null means no annotation, remove its row to "
        "silence this warning.",
        BlankLabelsWarning,
    )


def _read_as(n_blank: int, read_as: Blank, explicit: Blank | None) -> str:
    """Return how nulls and blank texts were read, in words."""
    basis = "" if explicit is None else f" ({option('blank', explicit)})"
    if explicit == "empty" and n_blank:
        return f"the nulls are read as missing, the blank texts as the empty set{basis}"
    subject = "blank text means" if n_blank else "they mean"
    hint = "" if explicit else f"; use {option('blank', 'empty')} if {subject} 'no label applies'"
    if n_blank:
        return f"both are read as missing{basis}{hint}"
    what = "the empty set" if read_as == "empty" else "missing"
    return f"the nulls are read as {what}{basis}{hint}"


def warn_nulls_left(n_null: int, explicit: Blank, *, has_sets: bool) -> None:
    """Warn that nulls are missing although `blank`, which concerns blank text, is not "missing"."""
    if explicit == "missing" or not n_null:
        return
    reason = (
        "outside a long column of label text a null means no annotation. If a reader converted "
        f"blank cells to nulls, keep these as text {_KEPT_AS_TEXT}"
        if has_sets
        else "a single value has no empty answer"
    )
    warn(
        f"{counted(n_null, 'null')} (None or NaN) read as missing, because "
        f"{option('blank', explicit)} applies to blank text: {reason}.",
        BlankLabelsWarning,
    )
