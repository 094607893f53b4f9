"""Binary tables: Parquet, workbooks of Excel and OpenDocument, and saved data sets."""

from __future__ import annotations

import datetime as dt
import json
import os
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from setagree.errors import (
    FileError,
    SetagreeError,
    SetagreeWarning,
    counted,
    did_you_mean,
    listing,
    missing_package,
    needing,
    option,
    warn,
)
from setagree.files.delimited import header_below_title, with_header
from setagree.files.streams import OPEN_DOCUMENT, LargeError, Source, check_regular, is_bounded
from setagree.lazy import pd
from setagree.study.frames import as_pandas

_MAX_UNPACKED = 2**32
_MAX_XML = 2**31
_FEW_BYTES = 2**20
_FIRST_ROWS = 20


def read_parquet(source: Source, *, limit: int | None = None) -> pd.DataFrame:
    """Return the first `limit` rows of a Parquet file (default: all), with text in Arrow."""
    with needing("pyarrow", f"{source}, a Parquet file,"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    max_bytes = max(_MAX_UNPACKED, source.n_stored())
    content = source.content(max_bytes)  # a compressed file does not seek from its end
    if len(content) > max_bytes:
        raise FileError(
            f"{source} unpacks to more than {max_bytes:,} bytes. Parquet is already compressed; "
            "store the file without further compression."
        )
    if bounded := is_bounded():
        # Arrow reserves 1 GiB at once. SciPy's linear algebra would then hang while it waits for
        # memory, so import it first.
        import scipy.special  # noqa: F401
    try:
        if bounded or len(content) <= _FEW_BYTES:  # threads may be unavailable
            table = pq.read_table(pa.BufferReader(content), use_threads=False).slice(0, limit)
        elif limit is None:
            table = pq.read_table(pa.BufferReader(content))
        else:
            file = pq.ParquetFile(pa.BufferReader(content))
            batches = islice(file.iter_batches(limit), 1)
            table = pa.Table.from_batches(batches, file.schema_arrow)
        table.validate(full=True)  # invalid text would fail later
    except MemoryError:  # also Arrow's; the caller handles it
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if "launch worker thread" in str(error):
            raise FileError(
                f"{source} cannot be read: the process may not start more threads."
            ) from error
        raise FileError(f"{source} is a damaged Parquet file: {error}.") from error
    if not table.num_rows:
        raise FileError(f"{source} has columns and no rows.")
    return as_pandas(table)


def read_workbook(source: Source, *, limit: int | None = None) -> pd.DataFrame:
    """Return the first `limit` rows (default: all) of a sheet, as text as in a CSV file."""
    with source.raw() as file, zipfile.ZipFile(file) as archive:
        is_open_document = OPEN_DOCUMENT in archive.namelist()
        if sum(info.file_size for info in archive.infolist()) > _MAX_XML:
            raise LargeError(
                f"{source} unpacks to more than {_MAX_XML:,} bytes of XML, too many to read into "
                "memory. Save the sheet as CSV, or parts of it as separate workbooks."
            )
    package = "python-calamine" if is_open_document else "openpyxl"
    if find_spec(package.replace("-", "_")) is None:
        raise missing_package(f"{source}, a workbook,", package, "files")
    with source.raw() as file, warnings.catch_warnings():
        # Warnings on styles do not concern cells.
        warnings.filterwarnings("ignore", module="openpyxl")
        try:
            read = _open_document_rows if is_open_document else _excel_rows
            rows = list(read(source, file, limit))
        except SetagreeError:
            raise
        except Exception as error:  # the packages raise errors of many kinds
            raise FileError(f"{source} is a damaged workbook: {error}.") from error
    texts = ((n, [*map(_as_text, row)]) for n, row in enumerate(rows, start=source.n_above + 1))
    numbered = [(n, row) for n, row in texts if any(map(str.strip, row))]
    if not numbered:
        raise FileError(f"{source} has only blank cells.")
    rows = [texts for _, texts in numbered]
    if source.header_row is None and limit is None:
        header = header_below_title(source, numbered, "row")
        rows = [texts for n, texts in numbered if header is None or n >= header]
    # Drop blank columns, because one cell far to the right makes thousands of them.
    places = sorted({place for row in rows for place, text in enumerate(row) if text})
    cells = [[row[place] if place < len(row) else "" for place in places] for row in rows]
    return with_header(source, pd.DataFrame(cells, columns=places))


def _excel_rows(source: Source, file: BinaryIO, limit: int | None) -> Iterator[list[Any]]:
    """Yield the values of each row of an Excel sheet."""
    book, first = _loaded(file), source.n_above
    sheets = {sheet.title: _cells(sheet) for sheet in book.worksheets}
    title = _sheet_name(source, {x: ([c.value for c in r] for r in y) for x, y in sheets.items()})
    last = None if limit is None else first + limit
    cells = list(islice(_cells(book[title]), first, last))
    if any(cell.data_type == "f" for row in cells for cell in row):
        # The stored results of formulas require a second reading.
        stored = list(islice(_cells(_loaded(file, data_only=True)[title]), first, last))
        pairs = zip(chain(*cells), chain(*stored), strict=True)
        if absent := [a.coordinate for a, b in pairs if a.data_type == "f" and b.value is None]:
            formulas = counted(len(absent), "cell is a formula", "cells are formulas")
            raise FileError(
                f"{source}: {formulas} whose result is not stored ({listing(absent)}); save the "
                "workbook in a spreadsheet program, or delete what is in these cells."
            )
        cells = stored
    for row in cells:
        if wrong := [cell for cell in row if cell.data_type == "e"]:
            raise FileError(f"{source}, cell {wrong[0].coordinate} is an error, {wrong[0].value}.")
        yield [cell.value for cell in row]


def _open_document_rows(source: Source, file: BinaryIO, limit: int | None) -> list[list[Any]]:
    """Return the values of each row of an OpenDocument sheet (.ods)."""
    import python_calamine

    file.seek(0)
    book = python_calamine.CalamineWorkbook.from_filelike(file)
    sheets = {
        name: book.get_sheet_by_name(name).to_python(skip_empty_area=False)
        for name in book.sheet_names
    }
    last = None if limit is None else source.n_above + limit
    return sheets[_sheet_name(source, sheets)][source.n_above : last]


def _loaded(file: BinaryIO, *, data_only: bool = False) -> Any:
    import openpyxl

    file.seek(0)
    return openpyxl.load_workbook(file, read_only=True, data_only=data_only)


def _width(rows: Iterable[Sequence[object]]) -> int:
    """Return the largest number of cells in one of the first rows, up to one with two cells."""
    width = 0
    for n, row in enumerate(rows):
        width = max(width, sum(cell not in (None, "") for cell in row))
        if width > 1 and n >= _FIRST_ROWS:
            break
    return width


def _sheet_name(source: Source, rows: Mapping[str, Iterable[Sequence[object]]]) -> str:
    """Return the name of the sheet of a name or number, or of the only one that may be a table.

    `rows` are the cells of each sheet; a sheet of notes has at most one in a row.
    """
    name, titles = source.sheet, [*rows]
    if name is not None:
        number = str(name).strip()
        if name in titles:
            return str(name)
        if number.isdecimal() and 1 <= int(number) <= len(titles):
            return titles[int(number) - 1]
        present = f"it has {counted(len(titles), 'sheet')}, {listing(titles)}, numbered from 1"
        raise FileError(f"{source} has no sheet {name!r}; {present}.{did_you_mean(name, titles)}")
    widths = {title: _width(rows[title]) for title in titles}
    filled = [title for title, width in widths.items() if width]
    tables = [title for title in filled if widths[title] > 1] or filled
    if not filled:
        raise FileError(f"{source} has no cells.")
    if len(tables) > 1:
        widest = max(tables, key=widths.__getitem__)  # others may be legends
        raise FileError(
            f"{source} has cells in {len(filled)} sheets ({listing(filled)}); "
            f"choose one with {option('sheet', widest)}."
        ).having(remedy={"sheet": widest})
    if len(filled) > 1:
        others = listing([title for title in filled if title != tables[0]])
        way = option("sheet", tables[0])
        warn(f"{source}: {others} ignored, because no row has two cells ({way}).", SetagreeWarning)
    return tables[0]


def _cells(sheet: Any) -> Iterator[Sequence[Any]]:
    sheet.reset_dimensions()  # some programs store a size that is too small
    return iter(sheet.rows)


def _as_text(value: object) -> str:
    """Return the text of a value as spreadsheets write it to CSV."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    return str(value)


_INFO, _STATE, _SPLITS = "dataset_info.json", "state.json", "dataset_dict.json"


def is_dataset(path: Path) -> bool:
    """Return whether a path is the folder of a data set of Hugging Face, or of its splits."""
    # Path.is_dir raises an error for names that are too long.
    is_folder = os.path.isdir(path)  # noqa: PTH112
    return is_folder and any((path / name).is_file() for name in (_STATE, _SPLITS))


def dataset_rows(source: Source, *, limit: int | None = None) -> Any:
    """Return the first `limit` rows (default: all) of a data set as an Arrow table.

    Classes have their names instead of numbers. Raise `FileError` for a folder of several splits.
    """
    folder = source.path
    if (folder / _SPLITS).is_file():
        names = _json(folder / _SPLITS).get("splits")
        if not isinstance(names, list) or not names or not all(map(_is_name, names)):
            raise FileError(f"{str(folder / _SPLITS)!r} does not list the splits of the dataset.")
        if len(names) > 1:
            raise FileError(
                f"{str(folder)!r} is a dataset with {len(names)} splits ({listing(names)}); name "
                f"the folder of one, such as {str(folder / names[0])!r}, or the folders of several "
                "to join them."
            )
        folder /= str(names[0])
    with needing("pyarrow", f"{source}, a dataset in Arrow,"):
        import pyarrow as pa
    features = _json(folder / _INFO).get("features")
    features = features if isinstance(features, dict) else {}
    try:
        table = pa.concat_tables(_stream(file, limit) for file in _data_files(folder))
        table = table.slice(0, limit)
        table.validate(full=True)
        for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
            feature = features.get(name)
            chunks = [_with_class_names(chunk, feature, name, folder) for chunk in column.chunks]
            if chunks:
                table = table.set_column(place, name, pa.chunked_array(chunks))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).rstrip(".")
        raise FileError(f"{str(folder)!r} cannot be read as a dataset: {reason}.") from error
    if not table.num_rows:
        raise FileError(f"{str(folder)!r} has columns and no rows.")
    return table


def _is_name(name: object) -> bool:
    """Return whether a value is the name of a file or folder directly in its folder."""
    return isinstance(name, str) and name not in {"", ".", ".."} and Path(name).name == name


def _json(file: Path) -> dict[str, Any]:
    try:
        check_regular(file)
        content = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(f"{str(file)!r} cannot be read: {error}.") from error
    if not isinstance(content, dict):
        raise FileError(f"{str(file)!r} is not a JSON object.")
    return content


def _data_files(folder: Path) -> list[Path]:
    """Return the files with the rows, in order."""
    state = _json(folder / _STATE)
    files = state.get("_data_files")
    listed = files if isinstance(files, list) else []
    names = [entry.get("filename") for entry in listed if isinstance(entry, dict)]
    if not names or not all(map(_is_name, names)):
        raise FileError(f"{str(folder / _STATE)!r} does not name the files of the rows.")
    if state.get("_indices_data_files"):
        raise FileError(
            f"{str(folder)!r} was saved with a list of selected rows, as old versions of datasets "
            "do; load it and save it again with a current one."
        )
    return [folder / str(name) for name in names]


def _stream(file: Path, limit: int | None) -> Any:
    """Return the rows of one file, mapped into memory, or its first batch with a `limit`."""
    import pyarrow as pa

    check_regular(file)
    with pa.memory_map(str(file)) as mapped, pa.ipc.open_stream(mapped) as stream:
        if limit is None:
            return stream.read_all()
        filled = (batch for batch in stream if batch.num_rows)
        return pa.Table.from_batches(islice(filled, 1), stream.schema)


# ---- Classes ------------------------------------------------------------------------------------


def _with_class_names(
    array: Any, feature: Any, name: str, folder: Path, *, in_list: bool = False
) -> Any:
    """Return an array with the names of classes instead of their numbers, at any depth."""
    import pyarrow as pa

    kind = array.type
    if isinstance(feature, list) and len(feature) == 1:  # lists of old versions
        feature = {"feature": feature[0]}
    if not isinstance(feature, dict):
        return array
    inside = feature.get("feature")
    if pa.types.is_struct(kind):
        # A list of objects is stored as an object of lists.
        lists = inside if isinstance(inside, dict) and "_type" not in inside else None
        fields = {n: {"feature": f} for n, f in lists.items()} if lists else feature
        names = [kind.field(k).name for k in range(kind.num_fields)]
        parts = [
            _with_class_names(array.field(k), fields.get(n), n, folder) for k, n in enumerate(names)
        ]
        return pa.StructArray.from_arrays(parts, names, mask=array.is_null())
    if pa.types.is_fixed_size_list(kind):
        array = array.cast(pa.list_(kind.value_type))
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        values = _with_class_names(array.values, inside, name, folder, in_list=True)
        return type(array).from_arrays(array.offsets, values, mask=array.is_null())
    if feature.get("_type") == "ClassLabel" and pa.types.is_integer(kind):
        classes = _class_names(array, feature.get("names"), name, folder)
        if in_list or not any(_as_one_label(label) != label for label in feature["names"]):
            return classes
        return pa.array([x and _as_one_label(x) for x in classes.to_pylist()], pa.string())
    return array


def _class_names(codes: Any, names: object, column: str, folder: Path) -> Any:
    """Return the names of classes by number; null for -1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise FileError(
            f"{str(folder / _INFO)!r}: the class names of {column!r} must be a list of text."
        )
    codes = pc.if_else(pc.equal(codes, -1), pa.scalar(None, codes.type), codes)
    lowest, highest = pc.min_max(codes).as_py().values()
    if lowest is not None and not 0 <= lowest <= highest < len(names):
        raise FileError(
            f"{str(folder)!r}, column {column!r}: {lowest if lowest < 0 else highest} is not the "
            f"number of a class; there are 0 to {len(names) - 1}."
        )
    return pa.array(names, pa.string()).take(codes)


def _as_one_label(name: str) -> str:
    """Return the name of a class, in quotes if it would be read as several labels."""
    if not set(name) & set(',;|"') and not name.startswith(("[", "{", "(")):
        return name
    return '"' + name.replace('"', '""') + '"'
