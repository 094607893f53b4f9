"""Bytes of tables: files, patterns of files and standard input."""

from __future__ import annotations

import bz2
import codecs
import glob
import gzip
import os
import stat
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, TypeAlias, cast

from setagree.checks import MOST_BYTES, on_this_computer
from setagree.errors import (
    FileError,
    check_path,
    counted,
    did_you_mean,
    listing,
    needing,
    option,
    python_or_command,
)
from setagree.study.reading import check_encoding

Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"
"""A file, a pattern of files, or a list of both."""

_STDIN = "-"
_IN_MEMORY = 64 * 2**20
_PIECE = 2**22
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")
TEXT_SUFFIXES = {".csv", ".tsv", ".tab", ".txt"}
LINES_SUFFIXES = {".jsonl", ".ndjson"}
JSON_SUFFIXES = {".json", *LINES_SUFFIXES}
_ZIP = b"PK\x03\x04"
BYTE_MEMORY = 4
"""Least memory in bytes per byte of a file, in most tables, until a study is built."""

SQLITE = b"SQLite format 3\0"
"""First bytes of a database."""

_ZSTD = b"\x28\xb5\x2f\xfd"
OPEN_DOCUMENT = "content.xml"
"""File of the cells in the archive of an OpenDocument workbook (.ods)."""
_WORKBOOK = "xl/workbook.xml"
_DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile)


class LargeError(FileError):
    """A table needs more memory than its limit."""


@dataclass
class Room:
    """Remaining memory, in bytes, for the files of one table."""

    left: float = inf


@dataclass(frozen=True)
class Source:
    """A file, or the content of standard input, with the options for reading it; see `Reading`.

    `spool` is the content of standard input, whose path is ``-``; `held` is the open file, if the
    caller has opened it.
    """

    path: Path
    encoding: str = "utf-8"
    delimiter: str = ","
    sheet: str | int | None = None
    header_row: int | None = None
    sql: str | None = None
    spool: BinaryIO | None = field(default=None, repr=False)
    held: BinaryIO | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return repr(str(self.path)) if self.spool is None else "standard input"

    @property
    def suffix(self) -> str:
        """Ending of the name without that of the compression: ``.tsv`` for ``study.TSV.gz``.

        For a zip archive without another ending, it is the ending of its only file.
        """
        name = self.path.name.lower()
        ending = next((end for end in COMPRESSED if name.endswith(end)), "")
        suffix = PurePosixPath(name.removesuffix(ending)).suffix
        if suffix or ending != ".zip" or not zipfile.is_zipfile(self.path):
            return suffix
        with zipfile.ZipFile(self.path) as archive:
            members = _members(archive)
        return PurePosixPath(members[0].lower()).suffix if len(members) == 1 else ""

    @property
    def n_above(self) -> int:
        """Number of lines or rows above the header, which are not read."""
        return (self.header_row or 1) - 1

    @contextmanager
    def raw(self) -> Iterator[BinaryIO]:
        """Open the stored bytes, which may be compressed."""
        stream = self.spool if self.held is None else self.held
        if stream is not None:
            stream.seek(0)
            yield stream
            return
        with self.path.open("rb") as file:
            yield file

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the decompressed bytes of the table."""
        with self.raw() as file:
            unpacked = self._unpacked(file)
            with nullcontext(file) if unpacked is None else unpacked as stream:
                mark = b""
                if stream.seekable():
                    stream.seek(0)
                    mark = stream.read(4)
                    stream.seek(0)
                is_utf16 = mark.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
                is_utf16 = is_utf16 and mark[2:] != b"\0\0"  # the mark of UTF-32
                is_utf16 = is_utf16 and with_mark(self.encoding) == "utf-8-sig"
                with _as_utf8(stream, self) if is_utf16 else nullcontext(stream) as text:
                    yield text

    def content(self, limit: int) -> bytes:
        """Return the bytes of the table, or slightly more than `limit` of a larger one.

        They are read in pieces, because a single read would allocate memory for the limit.
        """
        size, blocks = 0, []
        with self.open() as stream:
            while size <= limit and (block := stream.read(_PIECE)):
                blocks.append(block)
                size += len(block)
        return b"".join(blocks)

    def decoded(self, content: bytes) -> str:
        """Return bytes of the table as text."""
        try:
            return content.decode(self.encoding)
        except UnicodeDecodeError as error:
            start = len(content) - len(error.object)  # after a byte order mark
            line = content.count(b"\n", 0, start + error.start) + 1
            raise self.undecodable(error, start, line) from error

    def undecodable(self, error: UnicodeDecodeError, start: int, line: int) -> FileError:
        """Return the error for a byte in a line; the decoded piece begins at offset `start`."""
        likely = "latin-1" if self.encoding == "cp1252" else "cp1252"
        other = option("encoding", likely) + " or 'latin-1'" * (likely == "cp1252")
        return FileError(
            f"{self} is not {self.encoding_name}: byte 0x{error.object[error.start]:02x} at offset "
            f"{start + error.start:,} (line {line:,}); name its encoding, perhaps {other}."
        ).having(remedy={"encoding": likely})

    @property
    def encoding_name(self) -> str:
        """Usual name of the encoding."""
        return "UTF-8" if self.encoding == "utf-8-sig" else self.encoding

    def n_stored(self) -> int:
        """Return the number of stored bytes, before decompression."""
        with self.raw() as file:
            return file.seek(0, os.SEEK_END)

    def _unpacked(self, file: BinaryIO) -> BinaryIO | None:
        """Return the decompressed stream of a file, or None if it is not compressed."""
        start = file.read(10)
        file.seek(0)
        if start.startswith(_ZIP):
            return None if self.is_workbook() else self._only_member(file)
        if start.startswith(_ZSTD):
            with needing("pyarrow", f"{self}, compressed with zstd,"):
                import pyarrow as pa
            stream = pa.PythonFile(_UnclosedFile(file), "r")
            return cast("BinaryIO", pa.CompressedInputStream(stream, "zstd"))
        is_bzip2 = start[:3] == b"BZh" and start[4:] == b"1AY&SY"
        if start.startswith(b"\x1f\x8b"):
            return cast("BinaryIO", gzip.GzipFile(fileobj=file, mode="rb"))
        if start.startswith(b"\xfd7zXZ\0"):
            import lzma  # absent in some builds of Python

            return cast("BinaryIO", lzma.LZMAFile(file))
        return cast("BinaryIO", bz2.BZ2File(file)) if is_bzip2 else None

    def is_workbook(self) -> bool:
        """Return whether the file is a workbook of Excel or OpenDocument, an archive of XML."""
        with self.raw() as file:
            if file.read(len(_ZIP)) != _ZIP:
                return False
            file.seek(0)
            with zipfile.ZipFile(file) as archive:
                names = archive.namelist()
                return _WORKBOOK in names or {OPEN_DOCUMENT, "mimetype"} <= {*names}

    def _only_member(self, file: BinaryIO) -> BinaryIO:
        archive = zipfile.ZipFile(file)
        names = _members(archive)
        if len(names) != 1:
            files = f"{counted(len(names), 'file')}{f' ({listing(names)})' if names else ''}"
            raise FileError(f"{self} is a zip archive of {files}; it must have exactly one file.")
        return cast("BinaryIO", archive.open(names[0]))


@contextmanager
def _as_utf8(stream: BinaryIO, source: Source) -> Iterator[BinaryIO]:
    """Open UTF-16 text that begins with its mark as UTF-8."""
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as copy:
        try:
            for text in codecs.iterdecode(iter(lambda: stream.read(_PIECE), b""), "utf-16"):
                copy.write(text.encode())
        except UnicodeError as error:
            raise FileError(f"{source} begins with the mark of UTF-16: {error}.") from error
        copy.seek(0)
        yield cast("BinaryIO", copy)


class _UnclosedFile:
    """A file that its reader cannot close."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.read = file.read

    def close(self) -> None:
        """Do nothing, because the caller closes the file."""


@contextmanager
def find_sources(path: Paths, encoding: str, **attributes: Any) -> Iterator[list[Source]]:
    """Yield standard input for ``-``, otherwise the files of names and patterns.

    `attributes` are further attributes of each `Source`.
    """
    check_encoding(encoding)
    encoding = with_mark(encoding)
    if not is_stdin(path):
        yield [Source(file, encoding, **attributes) for file in matching(path)]
        return
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as spool:
        stream = cast("BinaryIO", spool)
        _copy_stdin(stream)
        yield [Source(Path(_STDIN), encoding, **attributes, spool=stream)]


def is_stdin(path: Paths) -> bool:
    """Return whether a path is ``-``, standard input."""
    return isinstance(path, str | os.PathLike) and os.fspath(path) == _STDIN


def _copy_stdin(spool: BinaryIO) -> None:
    """Copy standard input; raise `FileError` if it is closed, binary or too large."""
    if sys.stdin is None:
        raise FileError("Standard input cannot be read: it is closed.")
    try:
        while block := sys.stdin.buffer.read(_PIECE):
            if not spool.tell() and len(block) == _PIECE and not block.strip(b"\0"):
                raise FileError("standard input, line 1 has a NUL character; it is not text.")
            if spool.tell() + len(block) > MOST_BYTES:
                raise FileError(
                    f"standard input has more than {MOST_BYTES:,.0f} bytes, too many to read into "
                    f"memory; write it to a file and use {option('memory_limit')}."
                )
            spool.write(block)
    except OSError as error:
        raise FileError(f"Standard input cannot be read: {error.strerror or error}.") from error


def with_mark(encoding: str) -> str:
    """Return an encoding that accepts a byte order mark."""
    return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding


def check_columns(
    source: Source, names: Iterable[object], other: Source, others: Iterable[object]
) -> None:
    """Raise an error if two files of one table have different columns, in any order."""
    if differing := sorted(map(str, {*names} ^ {*others})):
        raise FileError(
            f"{source} and {other} have different columns: only one of them has "
            f"{listing(differing)}."
        )


def _damage() -> tuple[type[Exception], ...]:
    """Return the exceptions for damaged data, with that of xz if its reader is loaded."""
    return (*_DAMAGED, xz.LZMAError) if (xz := sys.modules.get("lzma")) else _DAMAGED


@contextmanager
def readable(source: Source) -> Iterator[None]:
    """Check that a source is a regular file, and convert reading errors to `FileError`."""
    try:
        if source.spool is None:
            check_regular(source.path)
        yield
    except _damage() as error:
        raise FileError(f"{source} is damaged or cut off: {error}.") from error
    except OSError as error:
        raise FileError(f"{source} cannot be read: {error.strerror or error}.") from error
    except MemoryError:
        raise does_not_fit(source) from None
    # unknown compression, encrypted archive, no module for xz
    except (NotImplementedError, RuntimeError, ModuleNotFoundError) as error:
        raise FileError(f"{source} cannot be unpacked: {error}.") from error


@contextmanager
def listable(folder: Path) -> Iterator[None]:
    """Convert errors while the files of a folder are listed and read to `FileError`."""
    try:
        yield
    except OSError as error:
        path = folder if error.filename is None else error.filename
        raise FileError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error


def memory_of_computer() -> int:
    """Return the memory of the computer in bytes, or 16 GiB if it is unknown."""
    try:
        n_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows
        n_bytes = 0
    return n_bytes if n_bytes > 0 else 2**34


def is_bounded() -> bool:
    """Return whether the address space of the process is limited, as by ``ulimit -v``."""
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def does_not_fit(what: object) -> FileError:
    """Return the error for data that exceed the memory of the computer."""
    return FileError(f"{what} does not fit into the memory of this computer. {in_pieces()}")


def in_pieces() -> str:
    """Return a sentence with the remedy for a table that does not fit into memory."""
    way = python_or_command("setagree.tally(path)", "'setagree score' with --memory-limit 2GB")
    return f"If it is CSV, TSV, JSON lines or Parquet, use {way}, which reads it in pieces."


def _members(archive: zipfile.ZipFile) -> list[str]:
    """Return the names of the files in an archive, except those that macOS adds."""
    infos = [info for info in archive.infolist() if not info.is_dir()]
    return [info.filename for info in infos if not info.filename.startswith("__MACOSX/")]


def file_names(files: Sequence[Path]) -> list[str]:
    """Return the names of files, or their paths if two names are equal."""
    names = [file.name for file in files]
    return names if len({*names}) == len(names) else [str(file) for file in files]


def matching(path: Paths) -> list[Path]:
    """Return the file of a name, or the files that match a pattern, sorted by name.

    For a list of names and patterns, return the files of each in turn.
    """
    if not isinstance(path, str | os.PathLike):
        for entry in path:
            check_path(entry)
            if is_stdin(entry):
                raise FileError("Standard input ('-') cannot be read together with other files.")
        files = [file for entry in path for file in matching(entry)]
        if not files:
            raise FileError("The list of files is empty; name at least one.")
        if repeated := next((file for k, file in enumerate(files) if file in files[:k]), None):
            raise FileError(f"{str(repeated)!r} is named twice; name each file once.")
        return files
    name = on_this_computer(path)
    if os.path.lexists(name) or not glob.has_magic(name):
        return [Path(name)]
    matches = map(Path, glob.glob(name, recursive=True))  # noqa: PTH207 - Path.glob rejects "/*"
    if files := sorted(match for match in matches if not match.is_dir()):
        return files
    raise FileError(f"No file matches {name!r}.{_nearby(Path(name))}")


def n_bytes(path: Paths) -> int:
    """Return the total size of files; 0 for absent files and standard input."""
    try:
        return 0 if is_stdin(path) else sum(p.stat().st_size for p in matching(path))
    except (OSError, ValueError):
        return 0


def _nearby(path: Path) -> str:
    """Return a hint for an absent file, from the contents of its folder."""
    try:
        with os.scandir(path.parent) as entries:
            return did_you_mean(path.name, [entry.name for entry in islice(entries, 10_000)])
    except (OSError, ValueError):
        return f" There is no folder {str(path.parent)!r} either."


def check_regular(path: Path) -> None:
    """Raise `FileError` unless a path is a regular file."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, ValueError):
        raise FileError(f"There is no file {str(path)!r}.{_nearby(path)}") from None
    if stat.S_ISDIR(mode):
        pattern = str(path / "*.csv")
        raise FileError(f"{str(path)!r} is a folder; name a file in it, or use {pattern!r}.")
    if not stat.S_ISREG(mode):
        raise FileError(f"{str(path)!r} is a pipe or a device; write its contents to a file first.")
