"""CSV and TSV files as tables of text."""

from __future__ import annotations

import codecs
import csv
import encodings.aliases
import glob
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import pandas as pd

from setagree.errors import FileError, OptionError, counted, did_you_mean, listing

DELIMITERS = (",", ";", "\t", "|")
"""What may stand between two columns, in order of preference."""

_SAMPLE = 2**16
_BLOCK = 2**20
_LONGEST_LINE = 16 * 2**20

_OTHER_FORMATS = {
    b"PK\x03\x04": "a zip archive or a workbook",
    b"\xd0\xcf\x11\xe0": "an Excel workbook",
    b"BZh91AY": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"PAR1\x15": "a Parquet file",
}


def read_table(
    path: str | os.PathLike[str], *, encoding: str = "utf-8", sep: str | None = None
) -> pd.DataFrame:
    r"""Return the cells of a CSV or TSV file, or of several, as text.

    Every cell stays the text it is: ``NA`` and ``None`` are no missing values, and numbers are not
    parsed. The file is never changed.

    Parameters
    ----------
    path : str or path
        A file, perhaps compressed with gzip, or a pattern such as ``"round-*.csv"`` that matches
        files with the same columns; these are read in the order of their names.
    encoding : str
        How the bytes spell text. A byte order mark is allowed for.
    sep : str, optional
        The one character between two columns (not the separator of labels inside a cell). Default:
        a tab where the name ends in ``.tsv``, else whichever of ``, ; | \t`` the first lines fit.

    Returns
    -------
    DataFrame
        A column for each name of the header, all text. A column without a name is called
        ``column 1`` by its place, or left out if it is blank all the way down.

    Raises
    ------
    FileError
        The file is absent, is no text table, or has a row that does not fit the header.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "study.csv")
    ...     _ = file.write_text('unit,rater,labels\nu1,ann,"joy, fear"\nu1,bob,\nu1,cy,None\n')
    ...     read_table(file)["labels"].tolist()
    ['joy, fear', '', 'None']
    """
    _check_encoding(encoding)
    if sep is not None and (len(sep) != 1 or sep in '"\r\n'):
        raise OptionError(f"{sep!r} cannot stand between columns; that is one character, as ','.")
    paths = _matching(path)
    return _stack(paths, [_read_one(each, encoding, sep) for each in paths])


def sniff_delimiter(sample: str) -> str:
    r"""Return what stands between the columns of a table that begins with ``sample``.

    The header decides: labels, and so their separators, are in the rows below it. Among the
    characters that split the header, one that splits every row into as many cells is preferred.

    Examples
    --------
    >>> sniff_delimiter("unit;rater;labels\nu1;ann;joy, fear\nu1;bob;joy\n")
    ';'
    """
    widths = {mark: _widths(sample, mark) for mark in DELIMITERS}
    fitting = [mark for mark in DELIMITERS if widths[mark][0] > 1]
    return max(fitting, key=lambda m: (len(set(widths[m])) == 1, widths[m][0]), default=",")


def _widths(sample: str, delimiter: str) -> list[int]:
    """Return how many cells each record of the sample has."""
    rows = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    return [len(cells) for cells in rows if cells] or [0]


def _check_encoding(encoding: str) -> None:
    try:
        "a".encode(encoding)
    except (LookupError, ValueError):
        known = [name.replace("_", "-") for name in encodings.aliases.aliases.values()]
        hint = did_you_mean(encoding.replace("_", "-"), known)
        raise OptionError(f"encoding={encoding!r} is no text encoding.{hint}") from None


def _matching(path: str | os.PathLike[str]) -> list[Path]:
    """Return the file of that name, or the files that match the pattern in the order of names."""
    name = os.path.expanduser(os.fspath(path))  # noqa: PTH111 - Path's raises for unknown users
    if os.path.lexists(name) or not glob.has_magic(name):
        return [Path(name)]
    matches = map(Path, glob.glob(name, recursive=True))  # noqa: PTH207 - Path's takes no "/*"
    if found := sorted(match for match in matches if not match.is_dir()):
        return found
    raise FileError(f"No file matches {name!r}.{_nearby(Path(name))}")


def _nearby(path: Path) -> str:
    """Return a hint for a file that is not there, from its folder's contents."""
    try:
        with os.scandir(path.parent) as entries:
            return did_you_mean(path.name, [entry.name for entry in islice(entries, 10_000)])
    except (OSError, ValueError):
        return f" There is no folder {str(path.parent)!r} either."


def _check_regular(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, ValueError):
        raise FileError(f"There is no file {str(path)!r}.{_nearby(path)}") from None
    if stat.S_ISDIR(mode):
        pattern = str(path / "*.csv")
        raise FileError(f"{str(path)!r} is a folder; name a file in it, or say {pattern!r}.")
    if not stat.S_ISREG(mode):
        raise FileError(f"{str(path)!r} is a pipe or a device; write its contents to a file first.")


@dataclass(frozen=True)
class _Source:
    """A regular file and how to read it."""

    path: Path
    encoding: str
    delimiter: str = ","

    def __str__(self) -> str:
        return repr(str(self.path))

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the bytes of the table, decompressed where they are gzip."""
        with self.path.open("rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            with gzip.GzipFile(fileobj=file) if zipped else file as stream:
                yield cast("BinaryIO", stream)


def _read_one(path: Path, encoding: str, sep: str | None) -> pd.DataFrame:
    is_utf8 = codecs.lookup(encoding).name == "utf-8"
    try:
        _check_regular(path)
        source = _Source(path, "utf-8-sig" if is_utf8 else encoding)
        source = _Source(path, source.encoding, sep or _delimiter(source))
        survey = _survey(source)
        cells = _parse(source)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(f"{str(path)!r} is damaged or cut off: {error}.") from error
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    if survey.doubts(cells):
        _check_records(source)
    return _with_header(source, cells)


def _delimiter(source: _Source) -> str:
    with source.open() as stream:
        start = stream.read(_SAMPLE)
    _check_format(source, start)
    sample = codecs.getincrementaldecoder(source.encoding)("replace").decode(start)
    if len(start) == _SAMPLE and "\n" in sample:
        sample = sample[: sample.rindex("\n")]
    tabbed = source.path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab"))
    return "\t" if tabbed and _widths(sample, "\t")[0] > 1 else sniff_delimiter(sample)


def _check_format(source: _Source, start: bytes) -> None:
    if not start:
        raise FileError(f"{source} is empty.")
    for magic, what in _OTHER_FORMATS.items():
        if start.startswith(magic):
            raise FileError(f"{source} is {what}, not text; save the table as CSV and name that.")


def _parse(source: _Source) -> pd.DataFrame:
    """Return all cells, the header's as the first row."""
    try:
        with source.open() as stream:
            return pd.read_csv(
                stream,
                sep=source.delimiter,
                encoding=source.encoding,
                # A header that pandas knows of would hide repeated names and shift long rows.
                header=None,
                dtype=str,
                keep_default_na=False,
                na_filter=False,
            )
    except pd.errors.EmptyDataError:
        raise FileError(f"{source} has blank lines and nothing else.") from None
    except pd.errors.ParserError as error:
        _check_records(source)
        raise FileError(f"{source} cannot be read as a table: {error}") from error


def _with_header(source: _Source, cells: pd.DataFrame) -> pd.DataFrame:
    written = [str(name).lstrip("\ufeff").strip() for name in cells.iloc[0]]
    names = [name or f"column {place}" for place, name in enumerate(written, start=1)]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise FileError(f"{source} has several columns called {listing(repeated)}; rename them.")
    frame = cells.iloc[1:].reset_index(drop=True)
    if frame.empty:
        raise FileError(f"{source} has a header and no rows below it.")
    frame.columns = pd.Index(names)
    again = np.flatnonzero((frame.iloc[:, 0] == written[0]).to_numpy())
    again = again[(frame.iloc[again] == written).all(axis=1).to_numpy(dtype=bool)]
    if again.size:
        raise FileError(
            f"{source} repeats its header in row {again[0] + 1} below the first: it looks like "
            "several files in one. Drop those rows, or pass the files as a pattern."
        )
    unnamed = [name for name, text in zip(names, written, strict=True) if not text]
    return frame.drop(columns=[name for name in unnamed if (frame[name] == "").all()])


def _stack(paths: Sequence[Path], frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all files, which must have the same columns in whatever order."""
    for path, frame in zip(paths, frames, strict=True):
        if differing := sorted(map(str, set(frames[0]).symmetric_difference(frame))):
            raise FileError(
                f"{str(path)!r} and {str(paths[0])!r} have different columns: only one of them "
                f"has {listing(differing)}."
            )
    return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)


@dataclass
class _Survey:
    """What one pass over the text of a file finds, in bounded memory.

    `n_open_ends` counts the lines that end in a delimiter, so that their last cell is blank;
    `line` is the one that is still being read.
    """

    source: _Source
    n_bytes: int = 0
    n_lines: int = 0
    n_open_ends: int = 0
    line: str = ""
    decoder: io.IncrementalNewlineDecoder = field(init=False)

    def __post_init__(self) -> None:
        decode = codecs.getincrementaldecoder(self.source.encoding)()
        self.decoder = io.IncrementalNewlineDecoder(decode, translate=True)

    def feed(self, block: bytes, *, final: bool = False) -> None:
        """Take in the next bytes."""
        lines, end, self.line = (self.line + self._decode(block, final=final)).rpartition("\n")
        self.n_bytes += len(block)
        self._count(lines + end)
        if len(self.line) > _LONGEST_LINE:
            place = f"{self.source}, line {self.n_lines + 1:,}"
            raise FileError(f"{place} is longer than {_LONGEST_LINE:,} characters; is it a table?")

    def finish(self) -> None:
        """Take in the end of the file."""
        self.feed(b"", final=True)
        if self.line:
            self._count(self.line + "\n")

    def doubts(self, cells: pd.DataFrame) -> bool:
        """Say whether the rows of the table are not plainly the lines of the file.

        pandas pads a short row with blank cells, and a forgotten quote may swallow lines.
        """
        n_blank = int((cells.iloc[:, -1] == "").sum())
        return self.n_lines != len(cells) or self.n_open_ends != n_blank

    def _count(self, lines: str) -> None:
        if "\0" in lines:
            line = self.n_lines + lines[: lines.index("\0")].count("\n") + 1
            raise FileError(f"{self.source}, line {line:,} has a NUL character; it is no text.")
        mark = self.source.delimiter
        self.n_lines += lines.count("\n")
        self.n_open_ends += lines.count(f"{mark}\n") + lines.count(f'{mark}""\n')

    def _decode(self, block: bytes, *, final: bool) -> str:
        try:
            return self.decoder.decode(block, final)
        except UnicodeDecodeError as error:
            # The decoder may hold back the first bytes of a character from the block before.
            start = self.n_bytes + len(block) - len(error.object)
            raise self._undecodable(error, start) from error

    def _undecodable(self, error: UnicodeDecodeError, start: int) -> FileError:
        line = self.n_lines + error.object[: error.start].count(b"\n") + 1
        utf16 = start == 0 and error.object[:2] in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}
        other = "'utf-16'" if utf16 else "'cp1252' or 'latin-1'"
        called = "UTF-8" if self.source.encoding == "utf-8-sig" else self.source.encoding
        return FileError(
            f"{self.source} is not {called}: byte 0x{error.object[error.start]:02x} at offset "
            f"{start + error.start:,} (line {line:,}); name its encoding, perhaps encoding={other}."
        )


def _survey(source: _Source) -> _Survey:
    survey = _Survey(source)
    with source.open() as stream:
        while block := stream.read(_BLOCK):
            survey.feed(block)
    survey.finish()
    return survey


def _check_records(source: _Source) -> None:
    """Read a file record by record and raise at the first that does not fit the header."""
    width = 0
    with (
        source.open() as stream,
        io.TextIOWrapper(stream, source.encoding, newline="") as text,
        _long_cells(),
    ):
        for line, cells in _records(text, source):
            if len(cells) < 2 and not "".join(cells).strip():
                continue
            width = width or len(cells)
            if len(cells) != width:
                raise _misfit(source, line, len(cells), width)


def _records(lines: Iterable[str], source: _Source) -> Iterator[tuple[int, list[str]]]:
    """Yield the line where each record starts and its cells."""
    taken: list[str] = []
    kept = (taken.append(line) or line for line in lines)  # type: ignore[func-returns-value]
    reader = csv.reader(kept, delimiter=source.delimiter)
    try:
        for cells in reader:
            _check_quotes(source, taken)
            yield reader.line_num - len(taken) + 1, cells
            taken.clear()
    except csv.Error:
        line = reader.line_num - len(taken) + 1
        raise FileError(
            f"{source}, line {line:,}: a quote opens a cell and is not closed as it should be; "
            'a quote inside a quoted cell is written as two: "".'
        ) from None


def _check_quotes(source: _Source, record: Sequence[str]) -> None:
    """Raise csv.Error where a forgotten quote may have opened or stretched a record."""
    if len(record) > 1 or record[0].count('"') % 2:
        list(csv.reader(record, delimiter=source.delimiter, strict=True))


def _misfit(source: _Source, line: int, n_cells: int, width: int) -> FileError:
    mark = repr(source.delimiter)
    hint = (
        f"put a cell that contains {mark} in double quotes"
        if n_cells > width
        else f"write {mark} for blank cells too, and see that the file is not cut off"
    )
    cells = counted(n_cells, "cell")
    return FileError(f"{source}, line {line:,} has {cells}, the header {width:,}; {hint}.")


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let the csv module read cells as long as a line may be."""
    usual = csv.field_size_limit(_LONGEST_LINE)
    try:
        yield
    finally:
        csv.field_size_limit(usual)
