"""CSV and TSV files as tables of text."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from setagree.errors import FileError, counted, listing
from setagree.sources.streams import Source

DELIMITERS = (",", ";", "\t", "|")
"""What may stand between two columns, in order of preference."""

_SAMPLE = 2**16
_BLOCK = 2**20
_LONGEST_LINE = 16 * 2**20


def read_delimited(source: Source, sep: str | None) -> pd.DataFrame:
    """Return the cells of a CSV or TSV file as text; see `read_table`."""
    source = replace(source, delimiter=sep or _delimiter(source))
    survey = _survey(source)
    cells = _parse(source)
    if survey.doubts(cells):
        _check_records(source)
    return with_header(source, cells)


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


def _delimiter(source: Source) -> str:
    with source.open() as stream:
        start = stream.read(_SAMPLE)
    if not start:
        raise FileError(f"{source} is empty.")
    sample = codecs.getincrementaldecoder(source.encoding)("replace").decode(start)
    if len(start) == _SAMPLE and "\n" in sample:
        sample = sample[: sample.rindex("\n")]
    tabbed = source.suffix in {".tsv", ".tab"}
    return "\t" if tabbed and _widths(sample, "\t")[0] > 1 else sniff_delimiter(sample)


def _parse(source: Source) -> pd.DataFrame:
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


def with_header(source: Source, cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells of text below their header, which is the first row."""
    written = [str(name).lstrip("\ufeff").strip() for name in cells.iloc[0]]
    names = [name or f"column {place}" for place, name in enumerate(written, start=1)]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise FileError(f"{source} has several columns called {listing(repeated)}; rename them.")
    frame = cells.iloc[1:].reset_index(drop=True)
    if frame.empty:
        raise FileError(f"{source} has a header and no rows below it.")
    frame.columns = pd.Index(names)
    # A file that was appended to another may begin with a byte order mark.
    again = np.flatnonzero(frame.iloc[:, 0].isin([written[0], f"\ufeff{written[0]}"]).to_numpy())
    again = again[(frame.iloc[again, 1:] == written[1:]).all(axis=1).to_numpy(dtype=bool)]
    if again.size:
        raise FileError(
            f"{source} repeats its header in row {again[0] + 1} below the first: it looks like "
            "several files in one. Drop those rows, or pass the files as a pattern."
        )
    unnamed = [name for name, text in zip(names, written, strict=True) if not text]
    return frame.drop(columns=[name for name in unnamed if (frame[name] == "").all()])


@dataclass
class _Survey:
    """What one pass over the text of a file finds, in bounded memory.

    `n_open_ends` counts the lines that end in a delimiter, so that their last cell is blank;
    `line` is the one that is still being read.
    """

    source: Source
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


def _survey(source: Source) -> _Survey:
    survey = _Survey(source)
    with source.open() as stream:
        while block := stream.read(_BLOCK):
            survey.feed(block)
    survey.finish()
    return survey


def _check_records(source: Source) -> None:
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


def _records(lines: Iterable[str], source: Source) -> Iterator[tuple[int, list[str]]]:
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


def _check_quotes(source: Source, record: Sequence[str]) -> None:
    """Raise csv.Error where a forgotten quote may have opened or stretched a record."""
    if len(record) > 1 or record[0].count('"') % 2:
        list(csv.reader(record, delimiter=source.delimiter, strict=True))


def _misfit(source: Source, line: int, n_cells: int, width: int) -> FileError:
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
