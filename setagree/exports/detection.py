"""Which format a file or folder has, by its beginning."""

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

import pandas as pd

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
from setagree.exports.nodes import first_object, read_records, shown
from setagree.exports.registry import FORMATS
from setagree.files.streams import SQLITE, Source, listable, readable
from setagree.files.tables import first_rows, sniff_delimiter
from setagree.study.labels import is_missing
from setagree.study.reading import check_encoding

_HEAD = 2**16
_HEAD_ROWS = 500
_MOST_NAMES = 10_000
_TYPED = (b"PAR1", SQLITE)
_BINARY = (b"PK\x03\x04", *_TYPED)
_JSON_ENDINGS = {".json", ".jsonl", ".ndjson", ".manifest"}


def peek(path: Path, encoding: str = "utf-8", sheet: str | int | None = None) -> Peek:
    r"""Return the beginning of a file, or the names of the files in a folder.

    The first rows of a workbook, a Parquet file or a database are shown as the CSV they would be.

    Raises
    ------
    FileError
        There is no such file, or its name says JSON and it is none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "study.csv")
    ...     _ = file.write_text("unit,rater,labels\nu1,ann,joy\n")
    ...     peek(file).header, peek(file.parent).names
    (('unit', 'rater', 'labels'), ('study.csv',))
    """
    check_encoding(encoding)
    if os.path.isdir(path):  # noqa: PTH112 - Path's raises for a name that is too long
        from setagree.files.binary import dataset_rows, is_dataset  # loaded for folders

        if is_dataset(path):
            return Peek(path, record=dataset_rows(Source(path), limit=1).to_pylist()[0])
        return Peek(path, is_folder=True, names=_names(path))
    if path.suffix.lower() in {".qdpx", ".eval"} and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return Peek(path, names=tuple(archive.namelist()), is_binary=True)
    source = Source(path, sheet=sheet)
    with readable(source), source.raw() as file:
        source = replace(source, held=file)
        with source.open() as stream:
            start = stream.read(_HEAD)
        if start.startswith(_BINARY):
            return replace(peek_frame(first_rows(source, _HEAD_ROWS), path), is_binary=True)
    head = start.decode(encoding, errors="replace").removeprefix("\ufeff")
    record = _record(path, head, encoding)
    header = _header(head) if record is None else ()
    return Peek(path, head=head, header=header, record=record)


def peek_frame(frame: pd.DataFrame, path: Path) -> Peek:
    """Return the beginning of a table that is already read, as the CSV that it would be."""
    header = tuple(str(name) for name in frame)
    return Peek(path, head=frame.head(_HEAD_ROWS).to_csv(index=False), header=header)


def peek_record(frame: pd.DataFrame, path: Path) -> Peek:
    """Return the first row of a table as the JSON object that it may have been.

    A row of text alone is none.
    """
    first = {str(name): frame[name].iloc[0] for name in frame}
    if all(isinstance(cell, str) for cell in first.values()):
        return Peek(path)
    return Peek(path, record={name: c for name, c in first.items() if not is_missing(c)})


def recognised(peeked: Peek, formats: Sequence[Format]) -> list[Format]:
    """Return every format that a file or folder may have.

    Those of other packages are asked where none of `formats` is one, and where the objects of JSON
    only look like one: they hold labels, under keys that no tool is known by.
    """
    found = _fitting(peeked, formats)
    # Those are known by what the objects of JSON hold, not by names of keys.
    signatures = [one for each in found for one in each.signatures]
    if all(s.shape == "records" and not (s.names or s.some) for s in signatures):
        return found + _fitting(peeked, other_formats())
    return found


def _fitting(peeked: Peek, formats: Sequence[Format]) -> list[Format]:
    tools = [each for each in formats if each.basis != "plain" and each.fits(peeked)]
    # A file of a folder, such as doccano's, may be a plain table all the same.
    if any(each.shapes == {"table"} for each in tools):
        return tools
    return tools + [each for each in formats if each.basis == "plain" and each.fits(peeked)]


@cache
def other_formats() -> tuple[Format, ...]:
    """Return the formats that other packages offer as entry points of ``setagree.formats``.

    One that is none, or has the name of another, is left out with a warning: it says nothing about
    the file at hand.
    """
    known = {each.name: each for each in FORMATS}
    for entry in metadata.entry_points(group="setagree.formats"):
        try:
            each = _offered(entry, known)
        except Exception as error:  # noqa: BLE001 - whatever another package raises
            warn(f"The entry point {entry.value!r} is left out: {error}.", SetagreeWarning)
        else:
            known[each.name] = each
    return tuple(known.values())[len(FORMATS) :]


def _offered(entry: metadata.EntryPoint, known: Collection[str]) -> Format:
    found = entry.load()
    if not isinstance(found, Format):
        raise OptionError(f"it is {type(found).__name__}, not setagree.exports.Format")
    if found.name in known:
        raise OptionError(f"there is another format {found.name!r}")
    return found


def the_one(found: Sequence[Format], path: Path) -> Format | None:
    """Return the only format that was found, or None where none was."""
    if len(found) > 1:
        names = [each.name for each in found]
        raise OptionError(
            f"{shown(path)} could be {listing(names)}; say which with {option('tool', names[0])}."
        )
    return found[0] if found else None


def format_of_name(name: str, formats: Sequence[Format]) -> Format:
    """Return the format of that name."""
    known = {each.name: each for each in formats}
    if name not in known:
        known |= {each.name: each for each in other_formats()}
    if name in known:
        return known[name]
    hint = did_you_mean(name, list(known))
    listed = python_or_command("setagree.formats()", "'setagree formats'")
    raise OptionError(f"{option('tool', name)} is unknown; {listed} lists them.{hint}")


def _names(folder: Path) -> tuple[str, ...]:
    """Return the relative names of the files in a folder, as many as are needed to know it."""
    with listable(folder):
        files = (each for each in folder.rglob("*") if each.is_file())
        names = [each.relative_to(folder).as_posix() for each in islice(files, _MOST_NAMES)]
    return tuple(sorted(names))


def _record(path: Path, head: str, encoding: str) -> object:
    """Return the first JSON object; the whole file is read where it goes beyond the head."""
    if head.lstrip()[:1] not in {"{", "["}:
        return None
    record = first_object(head)
    if record is None and Source(path).suffix in _JSON_ENDINGS:
        record = read_records(path, encoding)[0].members()
    return record


def _header(head: str) -> tuple[str, ...]:
    """Return the cells of the first row."""
    rows = csv.reader(io.StringIO(head, newline=""), delimiter=sniff_delimiter(head))
    return tuple(cell.strip() for cell in next(rows, ()))
