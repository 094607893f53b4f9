"""JSON and JSON lines as tables."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.errors import (
    FileError,
    SwappedColumnsWarning,
    counted,
    listing,
    option,
    shorten,
    warn,
)
from setagree.files.streams import (
    BYTE_MEMORY,
    LINES_SUFFIXES,
    LargeError,
    Room,
    Source,
    in_pieces,
    readable,
)
from setagree.lazy import pd
from setagree.study.codes import Column, as_objects
from setagree.study.columns import usual_roles
from setagree.study.identifiers import check_text
from setagree.study.numbers import inferred, number_of_json

_MAX_BYTES = 2**30
_PIECE = 2**22
_MAX_NAMES = 1000
_NOT_BLANK = re.compile(r"^.*\S.*$", re.MULTILINE)

ParseFloat: TypeAlias = Callable[[str], Any] | None
"""The function that reads numbers with a point or an exponent; None for floats."""


def read_json(source: Source, room: Room) -> pd.DataFrame:
    """Return the table in a JSON file: a list of objects, one object per line, or lists by name.

    An absent key is a missing cell, as is null.
    """
    max_bytes = int(min(_MAX_BYTES, room.left / BYTE_MEMORY))
    content = source.content(max_bytes)
    if len(content) > max_bytes:
        raise LargeError(f"{source} is over {max_bytes:,} bytes of JSON. {in_pieces()}")
    room.left -= BYTE_MEMORY * len(content)
    text = source.decoded(content)
    if not (first := _NOT_BLANK.search(text)):
        raise FileError(f"{source} is empty.")
    if _in_lines(source, first[0], has_more=bool(_NOT_BLANK.search(text, first.end()))):
        if (table := _table_of_texts(text, first[0])) is not None:
            return table
        lines = {number: line for number, line in enumerate(text.split("\n"), 1) if line.strip()}
        rows, noun, numbers = read_lines(source, lines), "line", [*lines]
    else:
        rows = parsed_json(source, text)
        if isinstance(rows, dict):
            return _from_object(source, rows)
        if not isinstance(rows, list):
            raise FileError(f"{source} has {shorten(rows)}, not a list of objects.")
        noun, numbers = "record", [*range(len(rows))]
    if not rows:
        raise FileError(f"{source} has no rows.")
    _check_objects(source, rows, noun, numbers)
    _name_classes(source, rows)
    names = dict.fromkeys(name for row in rows for name in row)
    return typed_columns(source, {name: [row.get(name) for row in rows] for name in names})


def class_files(path: Path) -> list[Path]:
    """Return the files next to a file of rows that may name its classes."""
    end = path.name.lower().rfind(Source(path).suffix)  # -1 if the suffix is that of a member
    stem = path.name[:end] if end > 0 else path.stem
    files = [path.with_name(name) for name in (f"{stem}.features.json", "dataset_info.json")]
    return [file for file in files if file.is_file()]


def class_names(source: Source, column: str) -> list[str]:
    """Return the names of the integers in a column, or [] if no file next to it has them."""
    for file in class_files(source.path):
        beside = Source(file, source.encoding)
        with readable(beside):
            text = beside.decoded(beside.content(_MAX_BYTES))
        names = _find_names(parsed_json(beside, text), column, inside=False)
        if names is None:
            continue
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise FileError(f"{beside}: the names of a ClassLabel must be a list of text.")
        return names
    return []


def _find_names(tree: object, column: str, *, inside: bool) -> object | None:
    """Return the names of the first ClassLabel at or below a column."""
    if not isinstance(tree, dict):
        return None
    if inside and tree.get("_type") == "ClassLabel":
        return tree.get("names")
    for key, value in tree.items():
        names = _find_names(value, column, inside=inside or key == column)
        if names is not None:
            return names
    return None


def class_name(label: Any, names: Sequence[str]) -> Any:
    """Return the name of a class by its number, and other labels unchanged.

    Raise ValueError if no class has the number.
    """
    if not isinstance(label, int) or isinstance(label, bool):
        return label
    if not 0 <= label < len(names):
        raise ValueError(f"{label} is not the number of a class, which are 0 to {len(names) - 1}")
    return names[label]


def _name_classes(source: Source, rows: Sequence[dict[str, Any]]) -> None:
    """Replace the numbers of classes in lists by their names, if a file next to it has them."""
    has_files = source.spool is None and bool(class_files(source.path))
    for column in dict.fromkeys(name for row in rows for name in row) if has_files else ():
        names = class_names(source, column)
        for row in rows if names else ():
            if isinstance(cell := row.get(column), list):
                try:
                    row[column] = [class_name(label, names) for label in cell]
                except ValueError as error:
                    raise FileError(f"{source}: column {column!r}: {error}.") from None


def line_pieces(source: Source) -> Iterator[list[dict[str, Any]]]:
    """Yield the objects of JSON lines in pieces of some megabytes."""
    empty = True
    for lines in _line_pieces(source):
        if empty and not _in_lines(source, next(iter(lines.values())), has_more=len(lines) > 1):
            raise FileError(
                f"{source} is one JSON list, which must be read into memory at once; write one "
                f"object per line, or omit {option('memory_limit')} and similar options."
            )
        rows, empty = read_lines(source, lines), False
        _check_objects(source, rows, "line", list(lines))
        _name_classes(source, rows)
        yield rows
    if empty:
        raise FileError(f"{source} is empty.")


def _line_pieces(source: Source) -> Iterator[dict[int, str]]:
    """Yield the lines that are not blank, by number."""
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
            f"encoding, perhaps {option('encoding', 'cp1252')}."
        ) from error
    if lines:
        yield lines


def _in_lines(source: Source, first: str, *, has_more: bool) -> bool:
    """Return whether the file has one object per line, by the first line that is not blank."""
    if source.suffix in LINES_SUFFIXES:
        return not first.lstrip().startswith("[")
    try:
        return has_more and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _table_of_texts(text: str, first: str) -> pd.DataFrame | None:
    """Return the table of lines with equal keys and texts without escapes, read by Arrow.

    Return None for other lines, or if Arrow is not installed.
    """
    if "\\" in text:
        return None
    try:
        import pyarrow as pa
        from pyarrow import json as arrow

        names = [*_loads(first)]
        schema = pa.schema([(name, pa.string()) for name in names])
        options = arrow.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
        # Blocks of 1 MB, the default, take a quarter more time.
        blocks = arrow.ReadOptions(block_size=_PIECE)
        table = arrow.read_json(pa.BufferReader(text.encode()), blocks, options)
    except (ImportError, TypeError, ValueError, RecursionError):
        return None
    n_lines = text.rstrip().count("\n") + 1
    # Arrow reads two objects on a line, and rows that lack a key.
    is_strict = names and table.num_rows == n_lines
    is_strict = is_strict and not any(column.null_count for column in table.columns)
    return table.to_pandas() if is_strict else None


def read_lines(
    source: Source, lines: Mapping[int, str], parse_float: ParseFloat = number_of_json
) -> list[Any]:
    """Return the value of each numbered line."""
    try:
        # One call for all lines is several times as fast as one call per line.
        rows = _loads(f"[{','.join(lines.values())}]", parse_float)
    except (ValueError, RecursionError):
        rows = []
    if len(rows) == len(lines):
        return list(rows)
    return [parsed_json(source, line, number, parse_float) for number, line in lines.items()]


def parsed_json(
    source: Source, text: str, line: int = 1, parse_float: ParseFloat = number_of_json
) -> Any:
    """Return the value of JSON text that begins at a line of the file."""
    try:
        return _loads(text, parse_float)
    except json.JSONDecodeError as error:
        is_cut = not text[error.pos :].strip()
        problem = "the JSON is cut off" if is_cut else f"this is not JSON ({error.msg})"
        place = f"line {line + error.lineno - 1:,}, column {error.colno:,}"
        raise FileError(f"{source}, {place}: {problem}.") from error
    except (ValueError, RecursionError) as error:
        place = f", line {line:,}" if line > 1 else ""
        is_deep = isinstance(error, RecursionError)
        problem = f"the JSON cannot be read ({error})" if is_deep else str(error)
        raise FileError(f"{source}{place}: {problem}.") from error


def _loads(text: str, parse_float: ParseFloat = number_of_json) -> Any:
    return json.loads(text, object_pairs_hook=unique_keys, parse_float=parse_float)


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dict; raise `ValueError` for a repeated key."""
    out = dict(pairs)
    if len(out) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has the key {shorten(repeated)} twice")
    return out


def _check_objects(source: Source, rows: Sequence[Any], noun: str, numbers: Sequence[int]) -> None:
    """Raise an error for rows that are not objects."""
    for number, row in zip(numbers, rows, strict=True):
        if not isinstance(row, dict):
            raise FileError(
                f"{source}, {noun} {number:,} is {shorten(row)}; each must be an object with one "
                "key per column."
            )


def _from_object(source: Source, values: Mapping[str, Any]) -> pd.DataFrame:
    """Return the table in an object whose values are columns (lists or objects) or rows.

    Objects are rows if their keys are names of columns, or if there are more objects than keys.
    """
    parts = [value for value in values.values() if isinstance(value, list | dict)]
    cells = [part if isinstance(part, dict) else dict(enumerate(part)) for part in parts]
    if len(cells) < len(values) or not cells:
        raise FileError(
            f"{source} is one object of {counted(len(values), 'key')}; write a list of objects, "
            "one per row, or a list of cells per column."
        )
    if not any(isinstance(part, list) for part in parts) and _are_rows(values):
        return _from_keyed_rows(source, values)
    if any(column.keys() != cells[0].keys() for column in cells):
        raise FileError(f"{source} has columns of different lengths.")
    rows = list(cells[0])
    if len(values) == len(rows) > 1 and isinstance(parts[0], dict) and not usual_roles(values):
        warn(
            f"{source} is an object of {len(values):,} objects with {len(rows):,} keys each: the "
            f"names {listing(list(values))} are read as columns. If they are units, write a list "
            "of objects, one per row.",
            SwappedColumnsWarning,
        )
    return typed_columns(
        source, {n: [part[row] for row in rows] for n, part in zip(values, cells, strict=True)}
    )


def _are_rows(objects: Mapping[str, dict[str, Any]]) -> bool:
    """Return whether the objects in an object are rows of a table, not its columns."""
    first = next(iter(objects.values()))
    if {*map(str, range(len(first)))} == {*first}:  # row numbers of pandas
        return False
    some = islice(objects, _MAX_NAMES)  # a table has fewer columns
    names, keys = ({*usual_roles(x)} & {"rater", "labels", "value"} for x in (some, first))
    if names or keys:
        return bool(keys) and not names
    return len(objects) > len(first) and all(row.keys() == first.keys() for row in objects.values())


def _from_keyed_rows(source: Source, rows: Mapping[str, dict[str, Any]]) -> pd.DataFrame:
    """Return a table with one row per object.

    The name of an object is the unit, or the column "key" if the objects name unit and rater.
    """
    names = dict.fromkeys(name for row in rows.values() for name in row)
    key = "unit" if len(usual_roles(names)) < 3 else "key"
    if key in names:
        raise FileError(
            f"{source}: its objects have the key {key!r}, which is the column of their names; "
            "rename it."
        )
    columns = {name: [row.get(name) for row in rows.values()] for name in names}
    return typed_columns(source, {key: list(rows), **columns})


def typed_columns(source: Source, columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Return a table whose whole numbers are not converted to floats by missing cells."""
    for name in columns:
        check_text(name, f"{source}: the column", FileError)
    return pd.DataFrame({name: _series(as_objects(cells)) for name, cells in columns.items()})


def _series(cells: npt.NDArray[np.object_]) -> Column:
    """Return a column of numbers, text or objects, without rounding whole numbers to floats."""
    objects = pd.Series(cells, dtype=object)
    if objects.isna().any():
        return objects
    try:
        return inferred(cells)
    except UnicodeEncodeError:  # Arrow text cannot hold lone surrogates
        return objects
