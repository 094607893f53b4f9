"""Files, patterns of files, standard input: where the bytes of a table come from."""

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
from contextlib import contextmanager
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
    missing_package,
    option,
    python_or_command,
)
from setagree.study.reading import check_encoding

Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"
"""A file, the pattern of several, or a list of both."""

_STDIN = "-"
_IN_MEMORY = 64 * 2**20
_PIECE = 2**22
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")
_ZIP = b"PK\x03\x04"
BYTE_MEMORY = 4
"""Bytes of memory that a byte of a file needs at least, in most tables, until a study is built."""

SQLITE = b"SQLite format 3\0"
"""What a database begins with."""

_ZSTD = b"\x28\xb5\x2f\xfd"
OPEN_DOCUMENT = "content.xml"
"""The cells of a workbook of OpenDocument (.ods) in its archive."""
_WORKBOOK = "xl/workbook.xml"
_DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile)


class LargeError(FileError):
    """A table needs more memory than a reader may take."""


@dataclass
class Room:
    """Memory, in bytes, that the files of one table may still take."""

    left: float = inf


@dataclass(frozen=True)
class Source:
    """A file, or the content of standard input, with the options for reading it; see `Reading`.

    `spool` is the content of standard input, whose path is ``-``; `held` is the file if it is open
    already, so that it is not opened again.
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
        """The ending of the name that tells the format: ``.tsv`` for ``study.TSV.gz``.

        A zip archive whose name has no other ending has that of its only file.
        """
        name = self.path.name.lower()
        ending = next((end for end in _COMPRESSED if name.endswith(end)), "")
        suffix = PurePosixPath(name.removesuffix(ending)).suffix
        if suffix or ending != ".zip" or not zipfile.is_zipfile(self.path):
            return suffix
        with zipfile.ZipFile(self.path) as archive:
            members = _members(archive)
        return PurePosixPath(members[0].lower()).suffix if len(members) == 1 else ""

    @property
    def n_above(self) -> int:
        """The lines or rows above the header, which are not read."""
        return (self.header_row or 1) - 1

    @contextmanager
    def raw(self) -> Iterator[BinaryIO]:
        """Open the bytes as they are stored."""
        known = self.spool if self.held is None else self.held
        if known is not None:
            known.seek(0)
            yield known
            return
        with self.path.open("rb") as file:
            yield file

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the bytes of the table, decompressed where they are compressed."""
        with self.raw() as file:
            unpacked = self._unpacked(file)
            if unpacked is None:
                file.seek(0)
                yield file
                return
            with unpacked:
                yield unpacked

    def content(self, most: int) -> bytes:
        """Return the bytes of the table, or somewhat more than `most` of them where it has more.

        They are asked for in pieces: a reader that is asked for all makes room for as many at once.
        """
        size, blocks = 0, []
        with self.open() as stream:
            while size <= most and (block := stream.read(_PIECE)):
                blocks.append(block)
                size += len(block)
        return b"".join(blocks)

    def decoded(self, content: bytes) -> str:
        """Return the text that bytes of the table spell."""
        try:
            return content.decode(self.encoding)
        except UnicodeDecodeError as error:
            start = len(content) - len(error.object)  # after a byte order mark
            line = content.count(b"\n", 0, start + error.start) + 1
            raise self.undecodable(error, start, line, utf16=True) from error

    def undecodable(
        self, error: UnicodeDecodeError, start: int, line: int, *, utf16: bool
    ) -> FileError:
        """Return the error of a byte in a line; the piece that was decoded begins at `start`."""
        other = option("encoding", "utf-16" if utf16 else "cp1252") + " or 'latin-1'" * (not utf16)
        return FileError(
            f"{self} is not {self.encoding_name}: byte 0x{error.object[error.start]:02x} at offset "
            f"{start + error.start:,} (line {line:,}); name its encoding, perhaps {other}."
        )

    @property
    def encoding_name(self) -> str:
        """The encoding as people call it."""
        return "UTF-8" if self.encoding == "utf-8-sig" else self.encoding

    def n_stored(self) -> int:
        """Return how many bytes are stored, compressed or not."""
        with self.raw() as file:
            return file.seek(0, os.SEEK_END)

    def _unpacked(self, file: BinaryIO) -> BinaryIO | None:
        """Return the decompressed stream of a file, or None where it is not compressed."""
        start = file.read(10)
        file.seek(0)
        if start.startswith(_ZIP):
            return None if self.is_workbook() else self._only_member(file)
        if start.startswith(_ZSTD):
            try:
                import pyarrow as pa
            except ImportError:
                raise missing_package(
                    f"{self}, compressed with zstd,", "pyarrow", "files"
                ) from None
            kept = pa.PythonFile(_Kept(file), "r")
            return cast("BinaryIO", pa.CompressedInputStream(kept, "zstd"))
        is_bzip2 = start[:3] == b"BZh" and start[4:] == b"1AY&SY"
        if start.startswith(b"\x1f\x8b"):
            return cast("BinaryIO", gzip.GzipFile(fileobj=file, mode="rb"))
        if start.startswith(b"\xfd7zXZ\0"):
            import lzma  # which not every Python has

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
            held = f"{counted(len(names), 'file')}{f' ({listing(names)})' if names else ''}"
            raise FileError(f"{self} is a zip archive of {held}; one alone can be read from it.")
        return cast("BinaryIO", archive.open(names[0]))


class _Kept:
    """A file that stays open when whoever reads it closes it."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.read = file.read

    def close(self) -> None:
        """Do nothing: the file belongs to whoever opened it."""


@contextmanager
def find_sources(path: Paths, encoding: str, **given: Any) -> Iterator[list[Source]]:
    """Give standard input for ``-``, the file of that name, or the files of patterns.

    `given` are further attributes of each `Source`.
    """
    check_encoding(encoding)
    encoding = with_mark(encoding)
    if not is_stdin(path):
        yield [Source(each, encoding, **given) for each in matching(path)]
        return
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as spool:
        stream = cast("BinaryIO", spool)
        _copy_stdin(stream)
        yield [Source(Path(_STDIN), encoding, **given, spool=stream)]


def is_stdin(path: Paths) -> bool:
    """Return whether standard input is meant."""
    return isinstance(path, str | os.PathLike) and os.fspath(path) == _STDIN


def _copy_stdin(spool: BinaryIO) -> None:
    """Copy all of standard input, which may be closed, or have no end."""
    if sys.stdin is None:
        raise FileError("Standard input cannot be read: it is closed.")
    try:
        while block := sys.stdin.buffer.read(_PIECE):
            if not spool.tell() and len(block) == _PIECE and not block.strip(b"\0"):
                raise FileError("standard input, line 1 has a NUL character; it is not text.")
            if spool.tell() + len(block) > MOST_BYTES:
                raise FileError(
                    f"standard input has more than {MOST_BYTES:,.0f} bytes, too many to read into "
                    f"memory; write it to a file and say {option('memory_limit')}."
                )
            spool.write(block)
    except OSError as error:
        raise FileError(f"Standard input cannot be read: {error.strerror or error}.") from error


def with_mark(encoding: str) -> str:
    """Return an encoding that allows for a byte order mark."""
    return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding


def check_columns(
    one: Source, names: Iterable[object], other: Source, others: Iterable[object]
) -> None:
    """Raise an error for two files of one table that have different columns, in whatever order."""
    if differing := sorted(map(str, {*names} ^ {*others})):
        raise FileError(
            f"{one} and {other} have different columns: only one of them has {listing(differing)}."
        )


def _damage() -> tuple[type[Exception], ...]:
    """Return the errors of damaged data; that of xz is known only where its reader is loaded."""
    return (*_DAMAGED, xz.LZMAError) if (xz := sys.modules.get("lzma")) else _DAMAGED


@contextmanager
def readable(source: Source) -> Iterator[None]:
    """Check that a source is a regular file, and word what fails while it is read."""
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
    except (NotImplementedError, RuntimeError, ModuleNotFoundError) as error:  # odd, locked; no xz
        raise FileError(f"{source} cannot be unpacked: {error}.") from error


@contextmanager
def listable(folder: Path) -> Iterator[None]:
    """Word what fails while the files of a folder are looked for and read."""
    try:
        yield
    except OSError as error:
        path = folder if error.filename is None else error.filename
        raise FileError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error


def memory_of_computer() -> int:
    """Return the bytes of memory that the computer has; 16 GiB if the system does not state it."""
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
    """Return the error of data for which the memory of the computer is too small."""
    return FileError(f"{what} does not fit into the memory of this computer. {in_pieces()}")


def in_pieces() -> str:
    """Return the remedy for a table that does not fit into memory, as a sentence."""
    way = python_or_command("setagree.tally(path)", "'setagree score' with --memory-limit 2GB")
    return f"If it is CSV, TSV, JSON lines or Parquet, use {way}, which reads it in pieces."


def _members(archive: zipfile.ZipFile) -> list[str]:
    """Return the names of the files in an archive, except those that a Mac adds."""
    infos = [info for info in archive.infolist() if not info.is_dir()]
    return [info.filename for info in infos if not info.filename.startswith("__MACOSX/")]


def file_names(files: Sequence[Path]) -> list[str]:
    """Return what files are called: by name, or by path where two have one name.

    Examples
    --------
    >>> file_names([Path("a/one.csv"), Path("b/two.csv")])
    ['one.csv', 'two.csv']
    """
    names = [file.name for file in files]
    return names if len({*names}) == len(names) else [str(file) for file in files]


def matching(path: Paths) -> list[Path]:
    """Return the file of that name, or the files that match the pattern in the order of names.

    A list of names and patterns gives the files of each, one after the other.
    """
    if not isinstance(path, str | os.PathLike):
        for one in path:
            check_path(one)
            if is_stdin(one):
                raise FileError("Standard input ('-') is read alone, not among several files.")
        files = [file for one in path for file in matching(one)]
        if not files:
            raise FileError("The list of files is empty; name one at least.")
        if twice := next((file for k, file in enumerate(files) if file in files[:k]), None):
            raise FileError(f"{str(twice)!r} is named twice; name each file once.")
        return files
    name = on_this_computer(path)
    if os.path.lexists(name) or not glob.has_magic(name):
        return [Path(name)]
    matches = map(Path, glob.glob(name, recursive=True))  # noqa: PTH207 - Path's takes no "/*"
    if found := sorted(match for match in matches if not match.is_dir()):
        return found
    raise FileError(f"No file matches {name!r}.{_nearby(Path(name))}")


def n_bytes(path: Paths) -> int:
    """Return how large files are together; 0 where there are none, or for standard input."""
    try:
        return 0 if is_stdin(path) else sum(p.stat().st_size for p in matching(path))
    except (OSError, ValueError):
        return 0


def _nearby(path: Path) -> str:
    """Return a hint for a file that is not there, from its folder's contents."""
    try:
        with os.scandir(path.parent) as entries:
            return did_you_mean(path.name, [entry.name for entry in islice(entries, 10_000)])
    except (OSError, ValueError):
        return f" There is no folder {str(path.parent)!r} either."


def check_regular(path: Path) -> None:
    """Raise `FileError` unless a path is a file, which a pipe that nobody fills is not."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, ValueError):
        raise FileError(f"There is no file {str(path)!r}.{_nearby(path)}") from None
    if stat.S_ISDIR(mode):
        pattern = str(path / "*.csv")
        raise FileError(f"{str(path)!r} is a folder; name a file in it, or say {pattern!r}.")
    if not stat.S_ISREG(mode):
        raise FileError(f"{str(path)!r} is a pipe or a device; write its contents to a file first.")
