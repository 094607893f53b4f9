"""Input files of a command, which its output must not replace, and tables of two columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from setagree.cli.options import Reading
from setagree.errors import DataError, FileError, listing, shorten
from setagree.files.records import class_files
from setagree.files.streams import matching
from setagree.files.tables import read_table

Clean: TypeAlias = Callable[[Any], Any]

_STDIN = Path("/dev/stdin")
"""The file behind standard input, if the shell redirects one."""


def check_not_read(output: Path, files: Sequence[str], reading: Reading | None) -> None:
    """Raise `FileError` if the command reads the output file, or would read it next time.

    Links are resolved, and every file in a folder that is read counts.
    """
    if output.exists():
        for path, role in _inputs(files, reading):
            if _is_same(path, output):
                raise FileError(f"{str(output)!r} is {role}; choose another output file.")
    for folder in (path for file in files for path in _matching(file) if path.is_dir()):
        if output.resolve().is_relative_to(folder.resolve()):
            raise FileError(
                f"{str(output)!r} would lie inside the input, {str(folder)!r}, and be read as part "
                "of it next time; choose an output file outside."
            )


def _inputs(files: Sequence[str], reading: Reading | None) -> Iterator[tuple[Path, str]]:
    """Yield every file that may be read, with its role in the command."""
    for file in files:
        for path in _files_of(file) if file != "-" else [_STDIN]:
            yield path, "the input"
    for option in ("roster", "codebook", "config", "population_size"):
        names = getattr(reading, option, None) or []
        for name in names if isinstance(names, list) else [str(names)]:
            for path in _files_of(name):
                yield path, f"the file of --{option.replace('_', '-')}"


def _files_of(name: str) -> Iterator[Path]:
    """Yield the file of that name, those that match a pattern, or all files in a folder."""
    for path in _matching(name):
        yield path
        if path.is_file():
            yield from class_files(path)
        for folder, _, inside in os.walk(path):
            yield from (Path(folder, each) for each in inside)


def _matching(name: str) -> list[Path]:
    """Return the file or the folder of that name, or those that match a pattern."""
    try:
        return matching(name)
    except FileError:
        return []


def _is_same(path: Path, output: Path) -> bool:
    """Return whether two paths lead to one file; the value of --codebook may not be a path."""
    try:
        return path.samefile(output)
    except (OSError, ValueError):
        return False


def numbers_by_name(
    path: str, encoding: str, first: str, second: str, clean: Clean
) -> dict[Any, float]:
    """Return the numbers in column `second` of a file by the cleaned names in column `first`."""
    frame = read_table(path, encoding=encoding)
    columns = {str(name).strip().casefold(): name for name in frame.columns}
    if not {first, second} <= columns.keys():
        raise DataError(
            f"the columns {first} and {second} are required; it has {listing(list(frame.columns))}."
        )
    numbers: dict[Any, float] = {}
    for name, cell in zip(map(clean, frame[columns[first]]), frame[columns[second]], strict=True):
        if name in numbers:
            raise DataError(f"{first} {shorten(name)} has two {second}s; remove one.")
        try:
            numbers[name] = float(cell)
        except (TypeError, ValueError):
            raise DataError(
                f"{first} {shorten(name)} has {second} {shorten(cell)}; it must be a number."
            ) from None
    return numbers
