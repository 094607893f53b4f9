"""CSV and TSV files as tables of text."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from math import inf
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

import numpy as np

from setagree.errors import (
    FileError,
    SetagreeWarning,
    counted,
    listing,
    option,
    shorten,
    warn,
)
from setagree.files.streams import (
    LargeError,
    Room,
    Source,
    in_pieces,
    is_bounded,
    memory_of_computer,
)
from setagree.lazy import pd
from setagree.study.codes import TextColumn, TextFrame
from setagree.study.columns import usual_roles

if TYPE_CHECKING:
    from pandas.io.parsers import TextFileReader

DELIMITERS = (",", ";", "\t", "|")
"""Possible delimiters of columns, in order of preference."""

# The error of pandas if Ctrl-C interrupts the reading of bytes.
_INTERRUPTED = "Calling read(nbytes) on source failed"
_SAMPLE = 2**16
_BLOCK = 2**20
_FEW_ROWS = 10
"""Number of rows that are searched for the names of the columns below a title."""
_FEWEST_NAMES = 3
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")
_LONGEST_LINE = 16 * 2**20
_PIECE = 2**22
_MEMORY = memory_of_computer()
_CELL_MEMORY, _BYTE_MEMORY = 48, 2
"""Memory in bytes per cell and per byte of text until a study is built, accurate to a third."""

_MAX_MEMORY_PER_BYTE = 50
"""Upper bound of the memory per byte of text, because each cell has at least a delimiter."""


def read_delimited(source: Source, delimiter: str | None, room: Room) -> pd.DataFrame:
    """Return the cells of a CSV or TSV file as text; see `read_table`."""
    source = _with_layout(source, delimiter)
    # An uncompressed file of any size is read.
    limit = min(room.left, max(_MEMORY, _MAX_MEMORY_PER_BYTE * source.n_stored()))
    if (plain := _plain_table(source, room, limit)) is not None:
        return plain
    cells = _arrow_cells(source, _widths(_sample(source), source.delimiter)[0], room, limit)
    if cells is None:
        survey = _survey(source, limit)
        room.left -= survey.memory
        with _parsed(source) as reader:
            cells = reader.read()
        if survey.is_ambiguous(len(cells) + source.n_above, _n_blank(cells)):
            _check_records(source)
    return with_header(source, cells)


def _with_layout(source: Source, delimiter: str | None = None) -> Source:
    """Return the source with the delimiter of its columns, and the row of its header."""
    sample = _sample(source)
    is_tabbed = source.suffix in {".tsv", ".tab"} and _widths(sample, "\t")[0] > 1
    likely = "\t" if is_tabbed else sniff_delimiter(sample)
    source = replace(source, delimiter=delimiter or likely)
    # A title without a delimiter does not show the delimiter of the columns below it.
    is_open = not delimiter and _widths(sample, source.delimiter)[0] == 1
    marks = DELIMITERS if is_open else (source.delimiter,)
    for mark in marks if source.header_row is None else ():
        fits = not is_open or len({*_widths(sample, mark)[1:]} - {1}) == 1
        if fits and (row := header_below_title(source, _first_records(sample, mark), "line")):
            return replace(source, delimiter=mark, header_row=row)
    return source


def _plain_table(source: Source, room: Room, limit: float) -> pd.DataFrame | None:
    """Return the table in a small file without oddities, or None if other readers must read it."""
    with source.open() as stream:
        start = stream.read(_SAMPLE)
    try:
        text = io.StringIO(start.decode(source.encoding), newline="")
        first, *rows = csv.reader(text, delimiter=source.delimiter, strict=True)
    except (ValueError, csv.Error):
        return None
    names = [name.strip() for name in first]
    n_lines = text.getvalue().removesuffix("\n").count("\n") + 1
    memory = _CELL_MEMORY * n_lines * len(names) + _BYTE_MEMORY * len(start)
    is_plain = (
        len(start) < _SAMPLE
        and memory <= limit
        and not source.n_above
        and len({*names} - {""}) == len(names) > 1
        and {*map(len, rows)} == {len(names)}
        and n_lines == len(rows) + 1
        and names[0] not in (row[0] for row in rows)
        and {*'"\r\n\0\ufeff'}.isdisjoint("".join(chain(first, *rows)))
    )
    if not is_plain:
        return None
    room.left -= memory
    columns = zip(names, zip(*rows, strict=True), strict=True)
    return cast("pd.DataFrame", TextFrame({x: TextColumn(cells, x) for x, cells in columns}))


class _CountingStream:
    """Stream of a file for Arrow that counts bytes and lines.

    `is_odd` is whether the file has NUL characters, or needs more memory than `limit`.
    """

    closed = False

    def __init__(self, stream: BinaryIO, n_columns: int, limit: float) -> None:
        self.stream, self.n_columns, self.limit = stream, n_columns, limit
        self.n_bytes = self.n_lines = self.n_returns = 0
        self.last, self.is_odd = b"", False

    def read(self, n_bytes: int) -> bytes:
        """Return the next bytes, or none if the file is odd."""
        block = b"" if self.is_odd else self.stream.read(n_bytes)
        self.n_bytes += len(block)
        self.n_lines += block.count(b"\n")
        if b"\r" in block or self.last.endswith(b"\r"):
            self.n_returns += block.count(b"\r")
            self.n_returns -= (self.last[-1:] + block).count(b"\r\n")
        self.is_odd = self.is_odd or b"\0" in block or self.memory > self.limit
        self.last = block or self.last
        return block

    def close(self) -> None:
        """Do nothing, because the caller closes the file."""

    def is_ambiguous(self, n_rows: int, delimiter: str) -> bool:
        """Return whether rows and lines differ in number, or the last line may end in a quote."""
        _, mark, line = self.last.removesuffix(b"\n").rpartition(b"\n")
        n_lines = self.n_lines + (not self.last.endswith(b"\n"))
        is_whole_line = mark or self.n_bytes == len(self.last)
        with _long_cells():
            is_open = _is_open([line.decode(errors="replace")], delimiter)
        return n_lines != n_rows or not is_whole_line or is_open

    @property
    def memory(self) -> int:
        """Bytes of memory that a study of the lines read so far needs."""
        return _CELL_MEMORY * self.n_lines * self.n_columns + _BYTE_MEMORY * self.n_bytes


def _arrow_reader(source: Source, n_columns: int, block_size: int) -> Callable[[Any], Any] | None:
    """Return a function that opens a stream with Arrow, or None if pandas must read the file.

    Arrow takes a third of the time. It rejects short and long rows without their location.
    """
    if source.encoding != "utf-8-sig" or source.n_above or n_columns < 2 or is_bounded():
        return None
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError:
        return None
    names = [*map(str, range(n_columns))]
    options = (
        csv.ReadOptions(column_names=names, use_threads=False, block_size=block_size),
        csv.ParseOptions(delimiter=source.delimiter, newlines_in_values=True),
        csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )
    return lambda stream: csv.open_csv(pa.PythonFile(stream, "r"), *options)


def _arrow_cells(source: Source, n_columns: int, room: Room, limit: float) -> pd.DataFrame | None:
    """Return the cells of a file as read by Arrow, or None if pandas must read it."""
    if (opened := _arrow_reader(source, n_columns, _BLOCK)) is None:
        return None
    with source.open() as stream:
        file = _CountingStream(stream, n_columns, limit)
        try:
            table = opened(file).read_all()
        except ValueError:  # includes those of Arrow
            return None
    if file.is_odd or file.n_returns:  # carriage returns alone: Arrow reads them unlike pandas
        return None
    if file.is_ambiguous(table.num_rows, source.delimiter):
        _check_records(source)  # blank lines, cells of several lines, or a quote left open
    room.left -= file.memory
    frame: pd.DataFrame = table.to_pandas()
    return frame


def delimited_pieces(source: Source) -> Iterator[pd.DataFrame]:
    """Yield the rows of a CSV or TSV file in pieces of some megabytes.

    Columns without a name are kept, also if they are blank.
    """
    source = _with_layout(source)
    survey = _survey(source)
    pieces = _pieces(source, survey)
    first = next(pieces)
    written, names = _header(source, first)
    n_rows, n_blank = 1, _n_blank(first[:1])
    for cells in chain([first[1:].reset_index(drop=True)], pieces):
        if len(cells):
            frame = cells.set_axis(names, axis="columns")
            _check_header(source, frame, written, above=n_rows - 1)
            yield frame
            n_rows, n_blank = n_rows + len(cells), n_blank + _n_blank(cells)
    if survey.is_ambiguous(n_rows + source.n_above, n_blank):
        _check_records(source)
    if n_rows == 1:
        raise FileError(f"{source} has a header and no rows below it.")


def _pieces(source: Source, survey: _Survey) -> Iterator[pd.DataFrame]:
    """Yield the cells of a file in pieces, by pandas what Arrow cannot read."""
    n_columns, n_rows = _widths(_sample(source), source.delimiter)[0], 0
    opened = None if survey.has_returns else _arrow_reader(source, n_columns, _PIECE)
    is_read = False
    if opened is not None:
        with suppress(ValueError), source.open() as stream:  # includes the errors of Arrow
            file = _CountingStream(stream, n_columns, inf)
            for batch in opened(file):
                yield batch.to_pandas()
                n_rows += batch.num_rows
            is_read = True
    if is_read:
        if file.is_ambiguous(n_rows, source.delimiter):
            _check_records(source)  # as in memory: a quote may be left open
        return
    rows_of_piece = max(1, _PIECE * survey.n_lines // max(survey.n_bytes, 1))
    with _parsed(source) as reader:
        while len(cells := _next_rows(reader, rows_of_piece)):
            yield cells[n_rows:].reset_index(drop=True)
            n_rows = max(0, n_rows - len(cells))


def header_names(source: Source) -> list[str]:
    """Return the names of the columns of a CSV or TSV file; the first is ``column 1`` if blank."""
    source = _with_layout(source)
    with _parsed(source) as reader:
        return _header(source, _next_rows(reader, 1))[1]


def sniff_delimiter(sample: str) -> str:
    """Return the column delimiter of a table that begins with ``sample``.

    The delimiter must split the header, because labels with their separators are in the rows below
    it. Delimiters that split every row into the same number of cells are preferred.
    """
    widths = {mark: _widths(sample, mark) for mark in DELIMITERS}
    fitting = [mark for mark in DELIMITERS if widths[mark][0] > 1]
    return max(fitting, key=lambda m: (len(set(widths[m])) == 1, widths[m][0]), default=",")


def _widths(sample: str, delimiter: str) -> list[int]:
    """Return the number of cells of each record of the sample."""
    rows = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    return [len(cells) for cells in rows if cells] or [0]


def _sample(source: Source) -> str:
    """Return the beginning of a file as text, starting with the header."""
    with source.open() as stream:
        start = stream.read(_SAMPLE)
    if not start:
        raise FileError(f"{source} is empty.")
    try:
        sample = codecs.getincrementaldecoder(source.encoding)("replace").decode(start)
    except UnicodeError as error:  # the first character is invalid, as in UTF-16 without its mark
        raise FileError(f"{source} is not {source.encoding} text: {error}.") from error
    if len(start) == _SAMPLE and "\n" in sample:
        sample = sample[: sample.rindex("\n")]
    return "".join(islice(io.StringIO(sample, newline=""), source.n_above, None))


@contextmanager
def _parsed(source: Source) -> Iterator[TextFileReader]:
    """Open a file as rows of cells, with the header as the first row."""
    try:
        with (
            source.open() as file,
            _from_header(source, file) as stream,
            # Closing the reader of pandas does not close the stream.
            pd.read_csv(
                stream,
                sep=source.delimiter,
                encoding=source.encoding,
                # With a header, pandas would hide repeated names and shift long rows.
                header=None,
                dtype=str,
                keep_default_na=False,
                na_filter=False,
                iterator=True,
            ) as reader,
        ):
            yield reader
    except pd.errors.EmptyDataError:
        where = f" from line {source.header_row:,} on" if source.n_above else ""
        raise FileError(f"{source} has blank lines and nothing else{where}.") from None
    except pd.errors.ParserError as error:
        if _INTERRUPTED in str(error):
            raise KeyboardInterrupt from error
        _check_records(source)
        raise FileError(f"{source} cannot be read as a table: {error}") from error
    except UnicodeDecodeError:
        _survey(source)  # raises the error with the line
        raise


@contextmanager
def _from_header(source: Source, file: BinaryIO) -> Iterator[BinaryIO | io.TextIOWrapper]:
    """Yield a stream that begins at the header; the lines above it may contain quotes."""
    if not source.n_above:
        yield file
        return
    text = io.TextIOWrapper(file, source.encoding, newline="")
    try:
        for _ in islice(text, source.n_above):
            pass
        yield text
    finally:
        text.detach()  # the caller closes the file


def _next_rows(reader: TextFileReader, n: int) -> pd.DataFrame:
    """Return the next rows, or an empty frame at the end."""
    try:
        return reader.get_chunk(n).reset_index(drop=True)
    except StopIteration:
        return pd.DataFrame()


def _n_blank(cells: pd.DataFrame) -> int:
    """Return the number of rows with a blank last cell."""
    return int((cells.iloc[:, -1] == "").sum())


def _first_records(sample: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of a sample with the numbers of their first lines."""
    reader, line = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter), 1
    with suppress(csv.Error):  # reading the whole file gives the error and its line
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1


def header_below_title(
    source: Source, rows: Iterable[tuple[int, Sequence[str]]], what: Literal["line", "row"]
) -> int | None:
    """Return the row of the header below a title, with a warning, or None if there is no title.

    The header is certain if it is the first wide row and has a usual name of a unit or rater;
    otherwise, raise `FileError`.
    """
    filled = [(n, [text for x in row if (text := x.strip())]) for n, row in islice(rows, _FEW_ROWS)]
    filled = [(n, texts) for n, texts in filled if texts]
    width = max((len(texts) for _, texts in filled), default=0)
    if width < _FEWEST_NAMES or 2 * len(filled[0][1]) >= width:
        return None
    (first, title), *rest = filled
    wide = [(n, texts) for n, texts in rest if len(texts) >= width - 1]
    for n, texts in wide:
        if len({*texts}) == len(texts) and not any(map(_NUMBER.fullmatch, texts)):
            text = shorten(title[0].lstrip("\ufeff"))
            # A wide row above may be the header, with repeated names.
            if n == wide[0][0] and usual_roles(texts) and not usual_roles(title):
                names = f"{what} {n} is read as the names of the columns"
                above = f"what is above it ({text}, ...) is ignored"
                warn(f"{source}: {names}; {above} ({option('header_row', n)}).", SetagreeWarning)
                return n
            raise FileError(
                f"{source}: {what} {first} has text in {counted(len(title), 'cell')}, {text}, and "
                f"{what} {n} in {len(texts)}. If {what} {n} has the names of the columns, use "
                f"{option('header_row', n)}, or delete the {what}s above it; if {what} {first} has "
                f"them, use {option('header_row', first)}."
            ).having(remedy={"header_row": n})
    if wide and not any(map(_NUMBER.fullmatch, wide[0][1])):  # texts are repeated
        raise FileError(
            f"{source}: {what}s {first} to {wide[0][0]} seem to have the names; write a row "
            f"per unit and rater below one {what} of names, or use {option('header_row', first)}."
        )
    return None


def with_header(source: Source, cells: pd.DataFrame) -> pd.DataFrame:
    """Return a table of text with the first row as its header."""
    written, names = _header(source, cells)
    frame = cells.iloc[1:].reset_index(drop=True)
    if frame.empty:
        raise FileError(f"{source} has a header and no rows below it.")
    frame.columns = pd.Index(names)
    _check_header(source, frame, written)
    unnamed = [name for name, text in zip(names, written, strict=True) if not text]
    return frame.drop(columns=[name for name in unnamed if (frame[name] == "").all()])


def _header(source: Source, cells: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the texts of the first row, and the distinct names of the columns."""
    written = [str(name).lstrip("\ufeff").strip() for name in cells.iloc[0]]
    # The columns of a workbook are numbered before blank ones are dropped.
    numbered = zip(written, map(int, cells.columns), strict=True)
    names = [name or f"column {place + 1}" for name, place in numbered]
    if repeated := sorted(name for name, n in Counter(names).items() if n > 1):
        raise FileError(f"{source} has several columns called {listing(repeated)}; rename them.")
    return written, names


def _check_header(
    source: Source, frame: pd.DataFrame, written: Sequence[str], *, above: int = 0
) -> None:
    """Raise an error for a repeated header; `above` rows precede the frame."""
    # An appended file may begin with a byte order mark.
    again = np.flatnonzero(frame.iloc[:, 0].isin([written[0], f"\ufeff{written[0]}"]).to_numpy())
    if again.size:
        again = again[(frame.iloc[again, 1:] == written[1:]).all(axis=1).to_numpy(dtype=bool)]
    if again.size:
        raise FileError(
            f"{source} repeats its header in row {above + again[0] + 1:,} below the first: it "
            "looks like several files in one. Remove these rows, or pass the files as a pattern."
        )


@dataclass
class _Survey:
    """Counts of one pass over the text of a file, in bounded memory.

    `n_open_ends` is the number of lines that end in a delimiter, so that their last cell is blank.
    `line` is the unfinished line.
    """

    source: Source
    n_bytes: int = 0
    n_lines: int = 0
    n_open_ends: int = 0
    n_columns: int = 0
    line: str = ""
    decoder: io.IncrementalNewlineDecoder = field(init=False)

    def __post_init__(self) -> None:
        decode = codecs.getincrementaldecoder(self.source.encoding)()
        self.decoder = io.IncrementalNewlineDecoder(decode, translate=True)

    def feed(self, block: bytes, *, final: bool = False) -> None:
        """Process the next bytes, and with `final` the end of the file."""
        lines, end, self.line = (self.line + self._decode(block, final=final)).rpartition("\n")
        self.n_bytes += len(block)
        self._count(lines + end)
        if len(self.line) > _LONGEST_LINE:
            place = f"{self.source}, line {self.n_lines + 1:,}"
            raise FileError(f"{place} is longer than {_LONGEST_LINE:,} characters; is it a table?")
        if final and self.line:
            self._count(self.line + "\n")

    def is_ambiguous(self, n_rows: int, n_blank: int) -> bool:
        """Return whether the rows of the table may differ from the lines of the file.

        pandas pads a short row with blank cells, and an unclosed quote may join lines. `n_blank` is
        the number of rows with a blank last cell.
        """
        return self.n_lines != n_rows or self.n_open_ends != n_blank

    @property
    def has_returns(self) -> bool:
        """Whether some lines end in a carriage return alone, which Arrow reads unlike pandas."""
        ends = self.decoder.newlines
        return ends == "\r" or (isinstance(ends, tuple) and "\r" in ends)

    @property
    def memory(self) -> int:
        """Bytes of memory that a study of the lines read so far needs."""
        return _CELL_MEMORY * self.n_lines * self.n_columns + _BYTE_MEMORY * self.n_bytes

    def _count(self, lines: str) -> None:
        if "\0" in lines:
            line = self.n_lines + lines[: lines.index("\0")].count("\n") + 1
            raise FileError(f"{self.source}, line {line:,} has a NUL character; it is not text.")
        mark = self.source.delimiter
        self.n_columns = self.n_columns or lines.partition("\n")[0].count(mark) + 1
        self.n_lines += lines.count("\n")
        self.n_open_ends += lines.count(f"{mark}\n") + lines.count(f'{mark}""\n')

    def _decode(self, block: bytes, *, final: bool) -> str:
        try:
            return self.decoder.decode(block, final)
        except UnicodeDecodeError as error:
            # The decoder may keep the first bytes of a character from the previous block.
            start = self.n_bytes + len(block) - len(error.object)
            line = self.n_lines + error.object[: error.start].count(b"\n") + 1
            raise self.source.undecodable(error, start, line) from error


def _survey(source: Source, limit: float = inf) -> _Survey:
    """Read the text of a file once; raise `LargeError` if it needs more memory than `limit`."""
    survey = _Survey(source)
    with source.open() as stream:
        while block := stream.read(_BLOCK):
            survey.feed(block)
            if survey.memory > limit:
                raise LargeError(
                    f"{source} needs more than {limit / 1e9:,.1f} GB of memory. {in_pieces()}"
                )
    survey.feed(b"", final=True)
    return survey


def _check_records(source: Source) -> None:
    """Raise `FileError` for the first record of a file that does not fit the header."""
    width = 0
    with (
        source.open() as stream,
        io.TextIOWrapper(stream, source.encoding, newline="") as text,
        _long_cells(),
    ):
        above = [*islice(text, source.n_above)]
        for line, cells in _records(text, source):
            if len(cells) < 2 and not "".join(cells).strip():
                continue
            width = width or len(cells)
            if len(cells) == width:
                continue
            mark = repr(source.delimiter)
            hint = f"write {mark} for blank cells too, and check that the file is not cut off"
            if len(cells) > width:
                hint = f"put a cell that contains {mark} in double quotes"
            raise FileError(
                f"{source}, line {line + len(above):,} has {counted(len(cells), 'cell')}, the "
                f"header {width:,}; {hint}."
            )


def _records(lines: Iterable[str], source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the cells of each record."""
    taken: list[str] = []
    recorded = (taken.append(line) or line for line in lines)  # type: ignore[func-returns-value]
    reader = csv.reader(recorded, delimiter=source.delimiter)
    try:
        for cells in reader:
            # An unclosed quote may have extended the record; strict reading raises an error then.
            may_be_last = not taken[-1].endswith("\n") or "\n" in "".join(cells[-1:])
            is_odd = len(taken) > 1 or taken[0].count('"') % 2
            if is_odd or (may_be_last and _is_open(taken, source.delimiter)):
                list(csv.reader(taken, delimiter=source.delimiter, strict=True))
            yield reader.line_num - len(taken) + 1, cells
            taken.clear()
    except csv.Error:
        line = reader.line_num - len(taken) + 1
        raise FileError(
            f"{source}, line {line:,}: a quote opens a cell and is not closed before the "
            'delimiter; write a quote inside a quoted cell as two: "".'
        ) from None


def _is_open(lines: Sequence[str], delimiter: str) -> bool:
    """Return whether a quote is open at the end of the lines."""
    ended = [*lines[:-1], lines[-1].rstrip("\r\n") + "\n", "next"]
    return len(list(csv.reader(ended, delimiter=delimiter))) < 2


@contextmanager
def _long_cells() -> Iterator[None]:
    """Raise the limit of the csv module to the longest permitted line."""
    previous = csv.field_size_limit(_LONGEST_LINE)
    try:
        yield
    finally:
        csv.field_size_limit(previous)
