"""Detection of the format of a file or folder from its beginning."""

from __future__ import annotations

import csv
import io
import os
import zipfile
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from importlib import metadata
from itertools import islice
from pathlib import Path

from setagree.errors import (
    OptionError,
    SetagreeWarning,
    did_you_mean,
    listing,
    option,
    python_or_command,
    warn,
)
from setagree.exports.format import Format, Peek
from setagree.exports.json_nodes import first_object, read_records, shown
from setagree.exports.registry import FORMATS
from setagree.files.streams import JSON_SUFFIXES, SQLITE, Source, listable, readable
from setagree.files.tables import first_rows, sniff_delimiter
from setagree.lazy import pd
from setagree.study.columns import has_answers
from setagree.study.labels import is_missing
from setagree.study.reading import check_encoding

_HEAD_BYTES = 2**16
_HEAD_ROWS = 500
_MAX_NAMES = 10_000
_BINARY = (b"PK\x03\x04", b"PAR1", SQLITE)
_JSON_ENDINGS = {*JSON_SUFFIXES, ".manifest"}


def peek(path: Path, encoding: str = "utf-8", sheet: str | int | None = None) -> Peek:
    """Return the beginning of a file, or the names of the files in a folder.

    The first rows of a workbook, a Parquet file or a database are returned as CSV.
    """
    check_encoding(encoding)
    if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises an error for names that are too long
        from setagree.files.binary import dataset_rows, is_dataset  # loaded for folders

        if is_dataset(path):
            return Peek(path, record=dataset_rows(Source(path), limit=1).to_pylist()[0])
        with listable(path):
            files = (file for file in path.rglob("*") if file.is_file())
            names = [file.relative_to(path).as_posix() for file in islice(files, _MAX_NAMES)]
        return Peek(path, is_folder=True, names=tuple(sorted(names)))
    if path.suffix.lower() in {".qdpx", ".eval"} and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return Peek(path, names=tuple(archive.namelist()), is_binary=True)
    source = Source(path, encoding, sheet=sheet)
    with readable(source), source.raw() as file:
        source = replace(source, held=file)
        with source.open() as stream:
            start = stream.read(_HEAD_BYTES)
        if start.startswith(_BINARY):
            return replace(peek_frame(first_rows(source, _HEAD_ROWS), path), is_binary=True)
    head = start.decode(encoding, errors="replace").removeprefix("\ufeff")
    record = _record(path, head, encoding)
    rows = csv.reader(io.StringIO(head, newline=""), delimiter=sniff_delimiter(head))
    header = [cell.strip() for cell in next(rows, ())] if record is None else []
    return Peek(path, head=head, header=tuple(header), record=record)


def peek_frame(frame: pd.DataFrame, path: Path) -> Peek:
    """Return the beginning of a table in memory, as if it was a CSV file."""
    header = tuple(str(name) for name in frame)
    return Peek(path, head=frame.head(_HEAD_ROWS).to_csv(index=False), header=header)


def peek_record(frame: pd.DataFrame, path: Path) -> Peek:
    """Return the first row of a table as a JSON object, or nothing if all its cells are text."""
    first = {str(name): frame[name].iloc[0] for name in frame}
    if all(isinstance(cell, str) for cell in first.values()):
        return Peek(path)
    return Peek(path, record={name: c for name, c in first.items() if not is_missing(c)})


def recognised(peeked: Peek, formats: Sequence[Format]) -> list[Format]:
    """Return all formats that fit a file or folder, except that of a plain table.

    Formats of other packages are tried if none of `formats` fits and the file is not a plain table,
    or if those that fit test only the contents of JSON objects, without the key of a tool.
    """
    fitting = [tool for tool in formats if tool.fits(peeked)]
    if is_table(peeked):  # it may have columns of a file from the folder of a tool
        return [tool for tool in fitting if "folder" not in tool.shapes]
    signatures = [signature for tool in fitting for signature in tool.signatures]
    if all(s.shape == "records" and not (s.names or s.some) for s in signatures):
        return fitting + [tool for tool in other_formats() if tool.fits(peeked)]
    return fitting


def is_table(peeked: Peek) -> bool:
    """Return whether a file is a plain table, by the usual names of its columns.

    Such a table has one row per annotation, or one column per rater: a unit, and none of the first
    columns has a usual name for answers.
    """
    roles, first = peeked.roles, [name.strip() for name in peeked.header[:50]]
    if "rater" in roles or len(peeked.header) < 3:
        return {"unit", "rater", "labels"} <= {*roles}
    return "unit" in roles and not has_answers(first)


@cache
def other_formats() -> tuple[Format, ...]:
    """Return the formats that other packages offer as entry points of ``setagree.formats``.

    An entry point that is not a `Format`, or has the name of another, is ignored with a warning.
    """
    formats = {tool.name: tool for tool in FORMATS}
    for entry in metadata.entry_points(group="setagree.formats"):
        try:
            tool = _loaded(entry, formats)
        except Exception as error:  # noqa: BLE001 - another package may raise anything
            warn(f"The entry point {entry.value!r} is ignored: {error}.", SetagreeWarning)
        else:
            formats[tool.name] = tool
    return tuple(formats.values())[len(FORMATS) :]


def _loaded(entry: metadata.EntryPoint, names: Collection[str]) -> Format:
    """Return the format of an entry point, whose name must not be among `names`."""
    tool = entry.load()
    if not isinstance(tool, Format):
        raise OptionError(f"it is {type(tool).__name__}, not setagree.exports.Format")
    if tool.name in names:
        raise OptionError(f"there is another format {tool.name!r}")
    return tool


def the_one(formats: Sequence[Format], path: Path) -> Format | None:
    """Return the only one of the fitting formats, or None if there is none."""
    if len(formats) > 1:
        names = [tool.name for tool in formats]
        raise OptionError(
            f"{shown(path)} could be {listing(names)}; choose one with {option('tool', names[0])}."
        )
    return formats[0] if formats else None


def format_of_name(name: str, formats: Sequence[Format]) -> Format:
    """Return the format with a name."""
    by_name = {tool.name: tool for tool in formats}
    if name not in by_name:
        by_name |= {tool.name: tool for tool in other_formats()}
    if name in by_name:
        return by_name[name]
    hint = did_you_mean(name, list(by_name))
    listed = python_or_command("setagree.formats()", "'setagree formats'")
    raise OptionError(f"{option('tool', name)} is unknown; {listed} lists them.{hint}")


def _record(path: Path, head: str, encoding: str) -> object:
    """Return the first JSON object of a file, which is read whole if it is longer than the head."""
    if head.lstrip()[:1] not in {"{", "["}:
        return None
    record = first_object(head)
    if record is None and Source(path).suffix in _JSON_ENDINGS:
        record = read_records(path, encoding)[0].members()
    return record
