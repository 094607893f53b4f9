"""Tables in files: text, JSON, Parquet, Excel, SQLite; compressed, several, or from stdin."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from setagree.checks import MOST_BYTES, no_collection
from setagree.errors import FileError, OptionError, option
from setagree.files.binary import dataset_rows, is_dataset, read_parquet, read_workbook
from setagree.files.delimited import DELIMITERS, read_delimited, sniff_delimiter
from setagree.files.records import read_json
from setagree.files.streams import (
    JSON_SUFFIXES,
    SQLITE,
    TEXT_SUFFIXES,
    Paths,
    Room,
    Source,
    check_columns,
    file_names,
    find_sources,
    readable,
)
from setagree.lazy import pd
from setagree.study.codes import Column, TextFrame
from setagree.study.frames import as_pandas, stacked

__all__ = ["DELIMITERS", "first_rows", "read_table", "read_text", "sniff_delimiter"]

_JSON_START = re.compile(rb"(\xef\xbb\xbf)?\s*(\[\s*)?\{\s*\"")
_SAMPLE = 2**12

# First bytes of other formats, which are not read.
_OTHER_FORMATS = {
    b"\xd0\xcf\x11\xe0": "a workbook of Excel 2003 or older; save it as .xlsx",
    b"ARROW1": "an Arrow file; read it with pyarrow and pass the table",
    b"%PDF-": "a PDF",
    b"7z\xbc\xaf": "a 7-zip archive; unpack it",
}


def read_table(
    path: Paths,
    *,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    filename_column: str | None = None,
    sheet: str | int | None = None,
    header_row: int | None = None,
    sql: str | None = None,
    queued: str | None = None,
    most: float = inf,
    may_be_text: bool = False,
) -> pd.DataFrame:
    """Return the table in a file, or in several: CSV, JSON, Parquet, Excel, SQLite.

    The first bytes of a file show its format and compression (gzip, bzip2, xz, zstd, or a zip
    archive of one file); the ending of its name may show JSON, too. The options are those of
    `Reading`. `queued` is a column that some of several files may lack: their cells are missing.
    `most` is the number of bytes of memory that text and JSON may need until a study is built. With
    `may_be_text`, the table of one small CSV file may be a `TextFrame`.

    In CSV, TSV and Excel every cell is text: ``NA`` and ``None`` are not missing values, and
    numbers are not parsed. JSON, Parquet and SQLite keep lists, numbers and missing values. A
    column of text without a name is called ``column 1`` by its position, or omitted if blank.
    """
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise OptionError(f"{option('delimiter', delimiter)} must be one character, such as ','.")
    options = {"sheet": sheet, "header_row": header_row, "sql": sql}
    with find_sources(path, encoding, **options) as sources:
        room = Room(most)
        frames: list[Any] = [_read_one(source, delimiter, room) for source in sources]
        if not (may_be_text and len(frames) == 1):
            frames = [x.to_pandas() if isinstance(x, TextFrame) else x for x in frames]
        frame = _stack(sources, frames, queued)
        if filename_column is None:
            return frame
        if filename_column in frame:
            raise OptionError(
                f"{option('filename_column', filename_column)}: the table has a column of that "
                "name; use another."
            )
        names = np.array(file_names([source.path for source in sources]))
        return frame.assign(**{filename_column: np.repeat(names, [*map(len, frames)])})


def read_text(path: Paths, *, encoding: str = "utf-8") -> str:
    """Return the text in a file, which may be compressed."""
    with find_sources(path, encoding) as sources:
        texts = []
        for source in sources:
            with readable(source):
                texts.append(source.decoded(source.content(MOST_BYTES)))
    return "\n".join(texts)


def first_rows(source: Source, n: int) -> pd.DataFrame:
    """Return the first rows of a workbook, a Parquet file or a database."""
    if source.is_workbook():
        return read_workbook(source, limit=n)
    with source.open() as stream:
        is_database = stream.read(len(SQLITE)) == SQLITE
    return _read_database(source, limit=n) if is_database else read_parquet(source, limit=n)


def _read_database(source: Source, *, limit: int | None = None) -> pd.DataFrame:
    """Return the result of a query; `sqlite3` is imported only here."""
    from setagree.files.sqlite import read_sqlite

    return read_sqlite(source, limit=limit)


def _read_one(source: Source, delimiter: str | None, room: Room) -> pd.DataFrame:
    # Path.is_dir raises an error for names that are too long.
    is_folder = source.spool is None and os.path.isdir(source.path)  # noqa: PTH112
    if is_folder and is_dataset(source.path):
        _check_options(source, "sheet", "header_row", "sql")
        return as_pandas(dataset_rows(source))
    with readable(source), source.raw() as file:
        source = replace(source, held=file)
        if source.is_workbook():
            _check_options(source, "sql")
            return read_workbook(source)
        _check_options(source, "sheet")
        with source.open() as stream:
            start = stream.read(_SAMPLE)
        if start.startswith(SQLITE):
            _check_options(source, "header_row")
            return _read_database(source)
        _check_options(source, "sql")
        if start.startswith(b"PAR1\x15"):
            _check_options(source, "header_row")
            return read_parquet(source)
        for magic, what in _OTHER_FORMATS.items():
            if start.startswith(magic):
                raise FileError(f"{source} is {what}.")
        is_named_text = source.suffix in TEXT_SUFFIXES
        if source.suffix in JSON_SUFFIXES or (not is_named_text and _JSON_START.match(start)):
            _check_options(source, "header_row")
            with no_collection():
                return read_json(source, room)
        return read_delimited(source, delimiter, room)


def _check_options(source: Source, *names: str) -> None:
    """Raise an error for options of other kinds of files."""
    whose = {"sheet": "Excel workbooks", "header_row": "CSV files and Excel workbooks"}
    whose["sql"] = "SQLite databases"
    for name in names:
        if (value := getattr(source, name)) is not None:
            raise OptionError(f"{option(name, value)} is for {whose[name]}; {source} is not one.")


def _stack(
    sources: Sequence[Source], frames: Sequence[pd.DataFrame], queued: str | None
) -> pd.DataFrame:
    """Return the rows of all files, which must have the same columns except for `queued`."""
    if queued is not None and any(queued in frame for frame in frames):
        frames = [f if queued in f else f.assign(**{queued: None}) for f in frames]
    for source, frame in zip(sources, frames, strict=True):
        check_columns(source, frame, sources[0], frames[0])
    if len(frames) == 1:
        return frames[0]
    columns = {name: [frame[name] for frame in frames] for name in frames[0]}
    for name, parts in columns.items():
        kinds = [*map(_kind, parts)]
        if {"text", "numbers"} <= {*kinds}:
            text, numbers = (sources[kinds.index(kind)] for kind in ("text", "numbers"))
            raise FileError(
                f"column {name!r} is text in {text} and numbers in {numbers}, where 1 and '1' "
                "would differ; save both in one format."
            )
    return pd.DataFrame({name: stacked(parts) for name, parts in columns.items()})


def _kind(column: Column) -> str | None:
    """Return "text" (as in every CSV file), "numbers", or None for mixed cells."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        return "numbers"
    if not pd.api.types.is_object_dtype(column.dtype):
        return "text" if pd.api.types.is_string_dtype(column.dtype) else None
    kind = pd.api.types.infer_dtype(column, skipna=True)
    numbers = dict.fromkeys(("integer", "floating", "decimal"), "numbers")
    return {"string": "text", **numbers}.get(kind)
