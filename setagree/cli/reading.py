"""From the file and the options of the command to a study."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

import setagree as sa
from setagree.cli.options import Reading
from setagree.cli.output import say
from setagree.errors import (
    FileError,
    OptionError,
    SetagreeError,
    SetagreeWarning,
    counted,
)
from setagree.exports import Format
from setagree.files.columns import (
    guess_columns,
    guess_people,
    guess_wide_unit,
    with_missing_ids,
)
from setagree.files.streams import Source, expanded, readable
from setagree.files.tables import read_table
from setagree.large.opening import find_format, plain_table, seen_format
from setagree.progress import stages
from setagree.study.identifiers import code_ids
from setagree.study.names import find_names
from setagree.study.reading import Reading as HowRead
from setagree.wording.label_sets import Label

Note: TypeAlias = Callable[[str], None]


def read_study(file: str, reading: Reading, *, note: Note = say) -> sa.Annotations:
    """Return the study of a file; note which columns were guessed, or which format was seen."""
    with stages(f"reading {Path(file).name}"):
        found = export_seen(file, reading)
        if found is not None:
            study = _export(file, found, reading, note)
        else:
            _check_table(reading)
            study = _table(file, reading, note)
    if study.n_repeated:
        done = "united with others" if reading.duplicates == "union" else "dropped"
        repeats = counted(study.n_repeated, "repeated rating")
        note(f"{repeats} {done} (--duplicates {reading.duplicates}).")
    return _without_raters(study, reading.without, note)


def _without_raters(
    study: sa.Annotations, named: Sequence[str] | None, note: Note
) -> sa.Annotations:
    """Return the study without the raters who do not count."""
    if named is None:
        return study
    rest = study.without_raters(rater_names(study, named))
    n_units = study.n_units - rest.n_units
    units = f" and {counted(n_units, 'unit')} that nobody else rated" if n_units else ""
    note(f"Left out: {counted(study.n_ratings - rest.n_ratings, 'rating')}{units} (--without).")
    return rest


def rater_names(study: sa.Annotations, given: Sequence[str] | None) -> list[Any]:
    """Return the raters that are named, one a time or with commas between them."""
    return find_names(given or (), [*study.raters.tolist(), *study.missing_by_rater])


def _table(file: str, reading: Reading, note: Note) -> sa.Annotations:
    """Return the study of a long or wide table."""
    cells = cell_options(reading)
    long_only = {name: getattr(reading, name) for name in ("rater", "labels", "value")}
    wide_only = {"raters": reading.raters, "kind": reading.kind}
    _check_layout(reading, wide_only, long_only)
    frame = _frame(file, reading)
    wide_only["raters"] = find_names(reading.raters or (), frame.columns)
    with _spelled(reading):
        if reading.people_in_rows:
            return _people(frame, reading, cells, note)
        if reading.wide:
            return _wide(frame, {"unit": reading.unit, **wide_only}, cells, note)
        return _long(frame, {"unit": reading.unit, **long_only}, cells, note)


def _frame(file: str, reading: Reading) -> pd.DataFrame:
    delimiter = reading.delimiter and unescaped(reading.delimiter)
    return _open(reading)(file, encoding=reading.encoding, sep=delimiter)


def cell_options(reading: Reading) -> dict[str, Any]:
    """Return how the cells of a table are read."""
    sep = "," if reading.sep is None else unescaped(reading.sep)
    cells: dict[str, Any] = {"sep": sep, "blank": reading.blank, "case": reading.case}
    cells["duplicates"] = reading.duplicates
    cells["codebook"] = read_codebook(reading.codebook, sep, reading.encoding)
    return {**cells, "missing": _missing(reading)}


def _missing(reading: Reading) -> list[str] | None:
    """Return the answers that mean no annotation."""
    if reading.missing is None:
        return None
    if missing := names(reading.missing):
        return missing
    raise OptionError("--missing names answers; what a blank cell means is said with --blank.")


def long_table(
    file: str, reading: Reading, *, besides: str, option: str
) -> tuple[pd.DataFrame, HowRead, list[Any]]:
    """Return a long table that has a column besides, how it is read, and who does not count.

    `option` is the option that names the column.
    """
    if reading.wide or reading.people_in_rows:
        layout = "--wide" if reading.wide else "--people-in-rows"
        raise OptionError(f"{option} makes sense only without {layout}.")
    frame = _frame(file, reading)
    roles = {role: getattr(reading, role) for role in _ROLES}
    found = guess_columns([str(name) for name in frame if name != besides], **roles)
    frame = with_missing_ids(frame, [found.unit, found.rater])
    columns = {role: getattr(found, role) for role in _ROLES}
    how = HowRead(**columns, **cell_options(reading))
    if reading.without is None:
        return frame, how, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetagreeWarning)  # all said when the study was read
        known = code_ids(frame[found.rater], "rater")[1]
    return frame, how, find_names(reading.without, known)


_ROLES = ("unit", "rater", "labels", "value")


_TABLE_ONLY = (
    *("unit", "rater", "labels", "value", "wide", "raters", "kind", "delimiter", "people_in_rows"),
)
_EXPORT_ONLY = ("question", "roster")


def export_seen(file: str, reading: Reading) -> Format | None:
    """Return the format of a tool's export: the one named, or seen; None for a table.

    Where a column is named, the file is a table and nothing is looked for.
    """
    of_table = [name for name in _TABLE_ONLY if getattr(reading, name)]
    if reading.source == "table":
        return None
    if reading.source is not None:
        for name in of_table:
            option = reading.option(name)
            raise OptionError(
                f"{option} is for tables: say --from table, or drop it with --from "
                f"{reading.source}."
            )
        with _named_from():
            return find_format(Path(file), name=reading.source, encoding=reading.encoding)
    if of_table:
        return None
    with _named_from():
        return seen_format(Path(file), encoding=reading.encoding)


def _open(reading: Reading) -> Callable[..., pd.DataFrame]:
    """Return the reader of tables: where nothing says that a file is one, exports are refused."""
    is_table = reading.source or any(getattr(reading, name) for name in _TABLE_ONLY)
    return read_table if is_table else _plain_table


def _plain_table(file: str, *, encoding: str, sep: str | None) -> pd.DataFrame:
    with _named_from():
        return plain_table(file, encoding=encoding, sep=sep)


def _export(file: str, found: Format, reading: Reading, note: Note) -> sa.Annotations:
    sep = None if reading.sep is None else unescaped(reading.sep)
    if reading.source is None:
        note(f"Read as {found.title} (--from {found.name})")
    given: dict[str, Any] = {name: getattr(reading, name) for name in _EXPORT_ONLY}
    given |= {name: getattr(reading, name) for name in ("blank", "case", "duplicates", "encoding")}
    given["codebook"] = read_codebook(reading.codebook, sep or ",", reading.encoding)
    given["missing"] = _missing(reading)
    with _named_from():
        return sa.read(file, format=found.name, sep=sep, **given)


@contextmanager
def _named_from() -> Iterator[None]:
    """Let errors call the option of the format what it is called here."""
    try:
        yield
    except SetagreeError as error:
        spelled = str(error).replace("format=", "--from ").replace("setagree.formats()", _LISTS)
        raise type(error)(spelled) from error


_LISTS = "'setagree formats'"


def _check_table(reading: Reading) -> None:
    for name in _EXPORT_ONLY:
        if getattr(reading, name):
            raise OptionError(f"--{name} is for the export of a tool; see {_LISTS} and --from.")


def names(given: Sequence[str] | None) -> list[str]:
    """Return the names of a repeated option, each of which may hold several."""
    return [name.strip() for names in given or () for name in names.split(",") if name.strip()]


def _long(
    frame: pd.DataFrame,
    named: Mapping[str, Any],
    cells: Mapping[str, Any],
    note: Note,
) -> sa.Annotations:
    columns = guess_columns(frame.columns, **named)
    if columns.guessed:
        note(f"Columns guessed: {columns}")
    roles = {role: getattr(columns, role) for role in _ROLES}
    frame = with_missing_ids(frame, [columns.unit, columns.rater])
    return sa.Annotations.from_long(frame, **roles, **cells)


def _wide(
    frame: pd.DataFrame,
    named: Mapping[str, Any],
    cells: Mapping[str, Any],
    note: Note,
) -> sa.Annotations:
    given = {option: value for option, value in named.items() if value}
    if "unit" not in given:
        raters = given.get("raters")
        unit = guess_wide_unit(frame.drop(columns=raters or [], errors="ignore"))
        raters = raters or [name for name in frame if name != unit]
        shown = ", ".join(raters[:8]) + (", ..." if len(raters) > 8 else "")
        note(f"Columns guessed: unit = {unit or 'none, one a row'}, raters = {shown}")
        given["unit"] = unit
    frame = with_missing_ids(frame, [given["unit"]])
    return sa.Annotations.from_wide(frame, **given, **cells)


def _people(
    frame: pd.DataFrame, reading: Reading, cells: Mapping[str, Any], note: Note
) -> sa.Annotations:
    """Return the study of a table with one row a rater and one column a unit."""
    rater, units = guess_people(frame.columns, rater=reading.rater, units=reading.unit)
    left_out = [str(name) for name in frame if name not in {rater, *units}]
    shown = [", ".join(some[:8]) + (", ..." if len(some) > 8 else "") for some in (units, left_out)]
    beside = f"; left out: {shown[1]}" if left_out else ""
    kind: Any = reading.kind or "labels"
    note(f"Columns: rater = {rater}, {counted(len(units), 'unit')} = {shown[0]}{beside}")
    people = with_missing_ids(frame, [rater])[rater]
    code_ids(people, "rater")  # rows without a name are counted as they stand in the file
    triples = (
        (who, unit, cell) for unit in units for who, cell in zip(people, frame[unit], strict=True)
    )
    return sa.Annotations.from_triples(triples, kind=kind, **cells)


@contextmanager
def _spelled(reading: Reading) -> Iterator[None]:
    """Let errors call the option of the rater columns what it is called here."""
    try:
        yield
    except SetagreeError as error:
        spelled = reading.raters_option.replace("-", "_")
        raise type(error)(str(error).replace("raters=", f"{spelled}=")) from error


def _check_layout(
    reading: Reading, wide_only: Mapping[str, Any], long_only: Mapping[str, Any]
) -> None:
    """Refuse options of another layout."""
    if reading.people_in_rows:
        odd = {**long_only, "raters": wide_only["raters"], "wide": reading.wide}
        _refuse(reading, {name: odd[name] for name in odd if name != "rater"}, _WITHOUT_PEOPLE)
    elif reading.wide:
        _refuse(reading, long_only, "without --wide")
    else:
        _refuse(reading, wide_only, "with --wide")


_WITHOUT_PEOPLE = "without --people-in-rows"


def _refuse(reading: Reading, misplaced: Mapping[str, Any], place: str) -> None:
    for name, value in misplaced.items():
        if value:
            raise OptionError(f"{reading.option(name)} makes sense only {place}.")


def read_codebook(text: str | None, sep: str, encoding: str) -> list[Label] | None:
    """Return the labels of a file, or of the text itself: between commas, or what `sep` says."""
    if text is None:
        return None
    looks_like_a_file = Path(text).suffix or os.sep in text
    path = expanded(text)
    is_there = os.path.isfile(path)  # noqa: PTH113 - Path's raises where the text is long
    if looks_like_a_file and (is_there or not ("," in text or sep in text)):
        lines = _lines(path, encoding)
    else:
        lines = [text]
        commas = "," in text and (sep not in text or not sep.strip())
        sep = "," if commas else sep
    sets = [sa.parse_labels(line, sep=sep) for line in lines]
    return sorted(set().union(*(labels for labels in sets if labels)))


def _lines(path: Path, encoding: str) -> list[str]:
    try:
        with readable(Source(path)):
            text = path.read_bytes()
    except FileError as error:
        raise FileError(f"--codebook: {error}") from error
    try:
        return text.decode(encoding).lstrip("\ufeff").splitlines()
    except (ValueError, LookupError) as error:
        raise FileError(f"The codebook {str(path)!r} cannot be read: {error}.") from error


def unescaped(text: str) -> str:
    """Return the tab or the newline that an option spells with a backslash."""
    return {r"\t": "\t", r"\n": "\n"}.get(text, text)
