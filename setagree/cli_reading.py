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
from setagree.cli_options import Reading
from setagree.cli_output import say
from setagree.errors import (
    BlankLabelsWarning,
    FileError,
    OptionError,
    SetagreeError,
    listing,
)
from setagree.labels import Label
from setagree.sources import guess_columns, guess_wide_unit, read_table, with_missing_ids
from setagree.sources.exports import Format
from setagree.sources.reading import find_format, plain_table, seen_format

Note: TypeAlias = Callable[[str], None]


def read_study(file: str, reading: Reading, *, note: Note = say) -> sa.Annotations:
    """Return the study of a file; note which columns were guessed, or which format was seen."""
    found = _export_format(file, reading)
    if found is not None:
        return _export(file, found, reading, note)
    _check_table(reading)
    return _table(file, reading, note)


def _table(file: str, reading: Reading, note: Note) -> sa.Annotations:
    """Return the study of a long or wide table."""
    sep = "," if reading.sep is None else unescaped(reading.sep)
    cells: dict[str, Any] = {"sep": sep, "blank": reading.blank, "case": reading.case}
    cells["duplicates"] = reading.duplicates
    cells["codebook"] = read_codebook(reading.codebook, sep, reading.encoding)
    long_only = {name: getattr(reading, name) for name in ("rater", "labels", "value")}
    wide_only = {"raters": names(reading.raters), "kind": reading.kind}
    _check_layout(reading, wide_only if not reading.wide else long_only)
    missing = names(reading.missing)
    if reading.missing is not None and not missing:
        raise OptionError("--missing names answers; what a blank cell means is said with --blank.")
    delimiter = reading.delimiter and unescaped(reading.delimiter)
    frame = _open(reading)(file, encoding=reading.encoding, sep=delimiter)
    with _spelled(reading), warnings.catch_warnings():
        # It asks whether pandas made blank cells missing, which here none did.
        warnings.filterwarnings("ignore", ".* and none blank, ", BlankLabelsWarning)
        if reading.wide:
            return _wide(frame, {"unit": reading.unit, **wide_only}, missing, cells, note)
        return _long(frame, {"unit": reading.unit, **long_only}, missing, cells, note)


_TABLE_ONLY = (
    *("unit", "rater", "labels", "value", "wide", "raters", "kind", "delimiter", "missing"),
)
_EXPORT_ONLY = ("question", "roster")


def _export_format(file: str, reading: Reading) -> Format | None:
    """Return the format of a tool's export: the one named, or seen; None for a table.

    Where a column is named, the file is a table and nothing is looked for.
    """
    of_table = [name for name in _TABLE_ONLY if getattr(reading, name)]
    if reading.source == "table":
        return None
    if reading.source is not None:
        for name in of_table:
            option = reading.raters_option if name == "raters" else name
            raise OptionError(f"--{option} is for tables; it makes no sense with --from.")
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
    missing: Sequence[str],
    cells: Mapping[str, Any],
    note: Note,
) -> sa.Annotations:
    columns = guess_columns(frame.columns, **named)
    if columns.guessed:
        note(f"Columns guessed: {columns}")
    roles = {role: getattr(columns, role) for role in ("unit", "rater", "labels", "value")}
    frame = with_missing_ids(frame, [columns.unit, columns.rater])
    frame = _without(missing, frame, [columns.labels or columns.value], note)
    return sa.Annotations.from_long(frame, **roles, **cells)


def _wide(
    frame: pd.DataFrame,
    named: Mapping[str, Any],
    missing: Sequence[str],
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
    answers = given.get("raters") or [name for name in frame if name != given["unit"]]
    frame = _without(missing, frame, answers, note)
    return sa.Annotations.from_wide(frame, **given, **cells)


def _without(
    missing: Sequence[str], frame: pd.DataFrame, columns: Sequence[str | None], note: Note
) -> pd.DataFrame:
    """Return the table in which the answers that mean no annotation are missing."""
    found: set[str] = set()
    for name in {*columns} & {*frame} if missing else ():
        cells = [cell for cell in frame[name].unique() if cell.strip() in missing]
        found.update(cell.strip() for cell in cells)
        frame = frame.assign(**{str(name): frame[name].mask(frame[name].isin(cells))})
    absent = [text for text in missing if text not in found]
    if absent:
        note(f"No answer is {listing(absent)}, which --missing names.")
    return frame


@contextmanager
def _spelled(reading: Reading) -> Iterator[None]:
    """Let errors call the option of the rater columns what it is called here."""
    try:
        yield
    except SetagreeError as error:
        spelled = reading.raters_option.replace("-", "_")
        raise type(error)(str(error).replace("raters=", f"{spelled}=")) from error


def _check_layout(reading: Reading, misplaced: Mapping[str, Any]) -> None:
    for name, value in misplaced.items():
        if value:
            option = reading.raters_option if name == "raters" else name
            place = "without" if reading.wide else "with"
            raise OptionError(f"--{option} makes sense only {place} --wide.")


def read_codebook(text: str | None, sep: str, encoding: str) -> list[Label] | None:
    """Return the labels of a file, or of the text itself: between commas, or what `sep` says."""
    if text is None:
        return None
    looks_like_a_file = Path(text).suffix or os.sep in text
    is_there = os.path.isfile(text)  # noqa: PTH113 - Path's raises where the text is long
    if looks_like_a_file and (is_there or not ("," in text or sep in text)):
        lines = _lines(Path(text), encoding)
    else:
        lines = [text]
        commas = "," in text and (sep not in text or not sep.strip())
        sep = "," if commas else sep
    sets = [sa.parse_labels(line, sep=sep) for line in lines]
    return sorted(set().union(*(labels for labels in sets if labels)))


def _lines(path: Path, encoding: str) -> list[str]:
    try:
        return path.read_text(encoding=encoding).lstrip("\ufeff").splitlines()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"The codebook {str(path)!r} cannot be read: {reason}.") from error


def unescaped(text: str) -> str:
    """Return the tab or the newline that an option spells with a backslash."""
    return {r"\t": "\t", r"\n": "\n"}.get(text, text)
