"""Parquet files and Excel workbooks as tables."""

from __future__ import annotations

import datetime as dt
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO

import pandas as pd

from setagree.errors import (
    FileError,
    SetagreeError,
    counted,
    did_you_mean,
    listing,
    missing_package,
    option,
)
from setagree.files.delimited import check_title, with_header
from setagree.files.streams import LargeError, Source, is_bounded
from setagree.study.frames import as_pandas

_MOST_UNPACKED = 2**32
_MOST_XML = 2**31
_FEW_BYTES = 2**20


def read_parquet(source: Source, *, limit: int | None = None) -> pd.DataFrame:
    """Return the columns of a Parquet file; text, lists and objects stay in Arrow.

    A `limit` is how many rows are wanted at most.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise missing_package(f"{source}, a Parquet file,", "pyarrow", "files") from None
    most = max(_MOST_UNPACKED, source.n_stored())
    content = source.content(most)  # a compressed file does not seek from its end
    if len(content) > most:
        raise FileError(
            f"{source} unpacks to more than {most:,} bytes; a Parquet file is compressed inside, "
            "so that it need not be outside."
        )
    if bounded := is_bounded():
        # Arrow reserves 1 GiB at once where it can. SciPy's linear algebra does not load in what is
        # left, but waits for memory for ever: it goes first.
        import scipy.special  # noqa: F401
    try:
        if bounded or len(content) <= _FEW_BYTES:  # no threads, which may not be had
            table = pq.read_table(pa.BufferReader(content), use_threads=False).slice(0, limit)
        elif limit is None:
            table = pq.read_table(pa.BufferReader(content))
        else:
            file = pq.ParquetFile(pa.BufferReader(content))
            batches = islice(file.iter_batches(limit), 1)
            table = pa.Table.from_batches(batches, file.schema_arrow)
        table.validate(full=True)  # text that is none would fail later, far from here
    except MemoryError:  # Arrow's, too; the caller words it
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if "launch worker thread" in str(error):
            raise FileError(
                f"{source} cannot be read: this computer allows the process no more threads."
            ) from error
        raise FileError(f"{source} is a damaged Parquet file: {error}.") from error
    if not table.num_rows:
        raise FileError(f"{source} has columns and no rows.")
    return as_pandas(table)


def read_workbook(source: Source, *, limit: int | None = None) -> pd.DataFrame:
    """Return the cells of a sheet, the only one with some unless it is named, as text of a CSV.

    A `limit` is how many rows are wanted at most.
    """
    try:
        import openpyxl  # noqa: F401 - what follows needs it
    except ImportError:
        raise missing_package(f"{source}, an Excel workbook,", "openpyxl", "files") from None
    with source.raw() as file, zipfile.ZipFile(file) as archive:
        if sum(info.file_size for info in archive.infolist()) > _MOST_XML:
            raise LargeError(
                f"{source} unpacks to more than {_MOST_XML:,} bytes of XML, too many to read into "
                "memory. Save the sheet as CSV, or parts of it as workbooks of their own."
            )
    with source.raw() as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and the like, which hold no cells
        try:
            numbered = list(_text_rows(source, file, limit))
        except SetagreeError:
            raise
        except (KeyError, TypeError, ValueError, SyntaxError, OSError) as error:
            raise FileError(f"{source} is a damaged workbook: {error}.") from error
    if not numbered:
        raise FileError(f"{source} has no cells but blank ones.")
    if source.header_row is None and limit is None:
        check_title(source, numbered, "row")
    rows = [texts for _, texts in numbered]
    # One cell far to the right makes thousands of columns, all blank but itself.
    places = sorted({place for row in rows for place, text in enumerate(row) if text})
    cells = [[row[place] if place < len(row) else "" for place in places] for row in rows]
    return with_header(source, pd.DataFrame(cells, columns=places))


def _text_rows(
    source: Source, file: BinaryIO, limit: int | None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, with their numbers in the sheet."""
    sheet = _only_sheet(source, _loaded(file))
    first = source.n_above
    rows = slice(first, None if limit is None else first + limit)
    cells = list(islice(_cells(sheet), rows.start, rows.stop))
    formulas = any(cell.data_type == "f" for row in cells for cell in row)
    # What a formula gave when the workbook was saved stands in a second reading of it.
    stored = iter(cells)
    if formulas:
        read_again = _cells(_loaded(file, data_only=True)[sheet.title])
        stored = islice(read_again, rows.start, rows.stop)
    for n, (row, values) in enumerate(zip(cells, stored, strict=True), start=first + 1):
        for cell, value in zip(row, values, strict=True):
            if cell.data_type == "f" and value.value is None:
                raise FileError(
                    f"{source}, cell {cell.coordinate} is a formula whose result is not stored; "
                    "open the workbook, save it, and read it again."
                )
            if value.data_type == "e":
                raise FileError(f"{source}, cell {cell.coordinate} is an error, {value.value}.")
        texts = [_as_text(cell.value) for cell in values]
        if any(text.strip() for text in texts):
            yield n, texts


def _loaded(file: BinaryIO, *, data_only: bool = False) -> Any:
    import openpyxl

    file.seek(0)
    return openpyxl.load_workbook(file, read_only=True, data_only=data_only)


def _only_sheet(source: Source, book: Any) -> Any:
    """Return the sheet of a name or number (a text may spell one), or the only one with cells."""
    sheets: Sequence[Any] = book.worksheets
    titles, name = [sheet.title for sheet in sheets], source.sheet
    if name is not None:
        number = str(name).strip()
        if name in titles:
            return sheets[titles.index(name)]
        if number.isdecimal() and 1 <= int(number) <= len(sheets):
            return sheets[int(number) - 1]
        known = f"it has {counted(len(titles), 'sheet')}, {listing(titles)}, numbered from 1"
        raise FileError(f"{source} has no sheet {name!r}; {known}.{did_you_mean(name, titles)}")
    filled = [s for s in sheets if any(c.value is not None for row in _cells(s) for c in row)]
    if not filled:
        raise FileError(f"{source} has no cells.")
    if len(filled) > 1:
        raise FileError(
            f"{source} has cells in {len(filled)} sheets ({listing([s.title for s in filled])}); "
            f"say which with {option('sheet', filled[0].title)}."
        )
    return filled[0]


def _cells(sheet: Any) -> Iterator[Sequence[Any]]:
    sheet.reset_dimensions()  # some programs store a size that is too small
    return iter(sheet.rows)


def _as_text(value: object) -> str:
    """Return what a spreadsheet writes to CSV for a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    return str(value)
