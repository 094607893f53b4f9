"""JSON and JSON lines as tables."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import (
    FileError,
    SwappedColumnsWarning,
    counted,
    listing,
    option,
    shorten,
    warn,
)
from setagree.files.streams import BYTE_MEMORY, LargeError, Room, Source, in_pieces
from setagree.study.codes import Column, as_objects
from setagree.study.columns import usual_roles
from setagree.study.identifiers import check_text
from setagree.study.numbers import inferred, number_of_json

_MOST_BYTES = 2**30
_PIECE = 2**22
_MOST_NAMES = 1000
_LINES = {".jsonl", ".ndjson"}

_ESCAPED = r'["\\\x00-\x1f]'
_TEXT = r'"[^"\\\x00-\x1f]*+"'
"""A text of JSON without escapes."""


def read_json(source: Source, room: Room) -> pd.DataFrame:
    """Return the table in a JSON file: a list of objects, one object a line, or lists by name.

    A key that an object does not have is a missing cell, as null is.
    """
    most = int(min(_MOST_BYTES, room.left / BYTE_MEMORY))
    content = source.content(most)
    if len(content) > most:
        raise LargeError(f"{source} is over {most:,} bytes of JSON. {in_pieces()}")
    room.left -= BYTE_MEMORY * len(content)
    text = source.decoded(content)
    lines = {number: line for number, line in enumerate(text.split("\n"), 1) if line.strip()}
    if not lines:
        raise FileError(f"{source} is empty.")
    if _in_lines(source, lines):
        if (table := _table_of_texts(text, next(iter(lines.values())))) is not None:
            return table
        rows, noun, numbers = _read_lines(source, lines), "line", [*lines]
    else:
        rows = _parsed(source, text, 1)
        if isinstance(rows, dict):
            return _of_columns(source, rows)
        if not isinstance(rows, list):
            raise FileError(f"{source} holds {shorten(rows)}, not a list of objects.")
        noun, numbers = "record", [*range(len(rows))]
    if not rows:
        raise FileError(f"{source} has no rows.")
    _check_objects(source, rows, noun, numbers)
    names = dict.fromkeys(name for row in rows for name in row)
    return typed_columns(source, {name: [row.get(name) for row in rows] for name in names})


def line_pieces(source: Source) -> Iterator[list[dict[str, Any]]]:
    """Yield the objects of JSON lines, some megabytes of the file at a time."""
    empty = True
    for lines in _line_pieces(source):
        if empty and not _in_lines(source, lines):
            raise FileError(
                f"{source} is one list of JSON, which is read into memory as a whole; write one "
                f"object a line, or drop {option('memory_limit')} and the like."
            )
        rows, empty = _read_lines(source, lines), False
        _check_objects(source, rows, "line", list(lines))
        yield rows
    if empty:
        raise FileError(f"{source} is empty.")


def _line_pieces(source: Source) -> Iterator[dict[int, str]]:
    """Yield lines that are not blank by their numbers."""
    lines: dict[int, str] = {}
    size = number = 0
    try:
        with (
            source.open() as stream,
            io.TextIOWrapper(stream, source.encoding, newline="\n") as text,
        ):
            for number, line in enumerate(text, 1):
                if line.strip():
                    lines[number] = line.removesuffix("\n")
                    size += len(line)
                if size > _PIECE:
                    yield lines
                    lines, size = {}, 0
    except UnicodeDecodeError as error:
        raise FileError(
            f"{source} is not {source.encoding_name}, somewhere below line {number:,}; name its "
            f"encoding, perhaps {option('encoding', 'utf-16')}."
        ) from error
    if lines:
        yield lines


def _in_lines(source: Source, lines: Mapping[int, str]) -> bool:
    """Return whether each line is an object of its own."""
    if source.suffix in _LINES:
        return not next(iter(lines.values())).lstrip().startswith("[")
    try:
        return len(lines) > 1 and isinstance(json.loads(next(iter(lines.values()))), dict)
    except (ValueError, RecursionError):
        return False


def _table_of_texts(text: str, first: str) -> pd.DataFrame | None:
    """Return the table of lines that have the keys of the first in its order and plain texts.

    A plain text has no escapes; Arrow reads it as Python does, in less time. Return None for other
    lines, or without Arrow.
    """
    try:
        import pyarrow as pa
        from pyarrow import json as arrow

        names = [*_loads(first)]
        cells = "[ \t]*,[ \t]*".join(rf'"{re.escape(name)}"[ \t]*:[ \t]*{_TEXT}' for name in names)
        lines = rf"(?:[ \t\r\n]*\{{[ \t]*{cells}[ \t]*\}}[ \t\r]*(?:\n|\Z))++[ \t\r\n]*"
        odd = not names or any(map(re.compile(_ESCAPED).search, names))
        if odd or not re.fullmatch(lines, text):
            return None
        options = arrow.ParseOptions(explicit_schema=pa.schema([(n, pa.string()) for n in names]))
        table = arrow.read_json(pa.BufferReader(text.encode()), parse_options=options)
    except (ImportError, TypeError, ValueError, RecursionError):
        return None
    frame: pd.DataFrame = table.to_pandas()
    return frame


def _read_lines(source: Source, lines: Mapping[int, str]) -> list[Any]:
    try:
        # One call for all is several times as fast as one for each.
        rows = _loads(f"[{','.join(lines.values())}]")
    except (ValueError, RecursionError):
        rows = []
    if len(rows) == len(lines):
        return list(rows)
    return [_parsed(source, line, number) for number, line in lines.items()]


def _parsed(source: Source, text: str, line: int) -> Any:
    """Return what JSON text stands for; it begins in that line of the file."""
    try:
        return _loads(text)
    except json.JSONDecodeError as error:
        cut = " (is the file cut off?)" if not text[error.pos :].strip() else ""
        place = f"line {line + error.lineno - 1:,}, column {error.colno:,}"
        raise FileError(f"{source}, {place}: {error.msg}{cut}.") from error
    except (ValueError, RecursionError) as error:
        place = f", line {line:,}" if line > 1 else ""
        raise FileError(f"{source}{place}: {error}.") from error


def _loads(text: str) -> Any:
    return json.loads(text, object_pairs_hook=unique_keys, parse_float=number_of_json)


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object that JSON writes so; `ValueError` where a key stands in it twice."""
    out = dict(pairs)
    if len(out) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has the key {shorten(twice)} twice")
    return out


def _check_objects(source: Source, rows: Sequence[Any], noun: str, numbers: Sequence[int]) -> None:
    """Raise an error for rows that are not objects."""
    for number, row in zip(numbers, rows, strict=True):
        if not isinstance(row, dict):
            raise FileError(
                f"{source}, {noun} {number:,} is {shorten(row)}; each is to be an object with a "
                "key for each column."
            )


def _of_columns(source: Source, found: Mapping[str, Any]) -> pd.DataFrame:
    """Return the table in an object: lists or objects are its columns, by name.

    Objects with the same keys are its rows if that is what their keys show, or if there are more of
    them than keys. The name of a row is then its unit, unless the row names its unit and rater.
    """
    many = [value for value in found.values() if isinstance(value, list | dict)]
    cells = [value if isinstance(value, dict) else dict(enumerate(value)) for value in many]
    if len(cells) < len(found) or not cells:
        raise FileError(
            f"{source} is one object of {counted(len(found), 'key')}; a list of objects, "
            "one a row, or a list of cells for each column is needed."
        )
    if not any(isinstance(value, list) for value in many) and _are_rows(found):
        return _of_keyed(source, found)
    if any(column.keys() != cells[0].keys() for column in cells):
        raise FileError(f"{source} has columns of different lengths.")
    rows = list(cells[0])
    if len(found) == len(rows) > 1 and isinstance(many[0], dict) and not usual_roles(found):
        warn(
            f"{source} is an object of {len(found):,} objects with {len(rows):,} keys each: the "
            f"names {listing(list(found))} are read as columns. If they are units, write a list "
            "of objects, one per row.",
            SwappedColumnsWarning,
        )
    return typed_columns(
        source, {n: [each[row] for row in rows] for n, each in zip(found, cells, strict=True)}
    )


def _are_rows(found: Mapping[str, dict[str, Any]]) -> bool:
    """Return whether the objects in an object are rows of a table, not its columns."""
    first = next(iter(found.values()))
    if {*map(str, range(len(first)))} == {*first}:  # how pandas numbers rows
        return False
    some = islice(found, _MOST_NAMES)  # a table has fewer columns
    names, keys = ({*usual_roles(each)} & {"rater", "labels", "value"} for each in (some, first))
    if names or keys:
        return bool(keys) and not names
    return len(found) > len(first) and all(row.keys() == first.keys() for row in found.values())


def _of_keyed(source: Source, found: Mapping[str, dict[str, Any]]) -> pd.DataFrame:
    """Return a row for each object, and its name in a column that is called as a unit."""
    names = dict.fromkeys(name for row in found.values() for name in row)
    key = "unit" if len(usual_roles(names)) < 3 else "key"  # of a rating
    if key in names:
        raise FileError(f"{source}: its objects have the key {key!r}, as their names are called.")
    columns = {name: [row.get(name) for row in found.values()] for name in names}
    return typed_columns(source, {key: list(found), **columns})


def typed_columns(source: Source, columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Return columns whose whole numbers stay whole beside a missing one."""
    for name in columns:
        check_text(name, f"{source}: the column", FileError)
    return pd.DataFrame({name: _series(as_objects(cells)) for name, cells in columns.items()})


def _series(cells: npt.NDArray[np.object_]) -> Column:
    """Return a column of numbers, text or objects; a whole number is rounded to no float."""
    written = pd.Series(cells, dtype=object)
    if written.isna().any():
        return written
    try:
        return inferred(cells)
    except UnicodeEncodeError:  # half a character, which JSON can write, is no text to Arrow
        return written
