"""What a command reads beside the study, and that nothing it writes takes the place of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from setagree.cli.options import Reading
from setagree.errors import DataError, FileError, listing
from setagree.exports.json_nodes import class_files
from setagree.files.streams import matching

Clean: TypeAlias = Callable[[Any], Any]

_STDIN = Path("/dev/stdin")
"""The file that the shell reads from, where standard input is one."""


def check_not_read(output: Path, files: Sequence[str], reading: Reading | None) -> None:
    """Raise `FileError` where an output is a file that the command reads, or would be next time.

    Paths are followed through links, and every file in a folder that is read counts.
    """
    for path, what in _inputs(files, reading) if output.exists() else ():
        if _is_same(path, output):
            raise FileError(f"{str(output)!r} is {what}; it is never changed.")
    for folder in (path for file in files for path in _found(file) if path.is_dir()):
        if output.resolve().is_relative_to(folder.resolve()):
            raise FileError(
                f"{str(output)!r} would lie inside the input, {str(folder)!r}, and be read as part "
                "of it next time; write it outside."
            )


def _inputs(files: Sequence[str], reading: Reading | None) -> Iterator[tuple[Path, str]]:
    """Yield every file that may be read, and what it is to the command."""
    for file in files:
        for path in _files_of(file) if file != "-" else [_STDIN]:
            yield path, "the input"
    for option in ("roster", "codebook", "config", "population_size"):
        named = getattr(reading, option, None) or []
        for name in named if isinstance(named, list) else [str(named)]:
            for path in _files_of(name):
                yield path, f"what --{option.replace('_', '-')} reads"


def _files_of(name: str) -> Iterator[Path]:
    """Yield the file of that name, those of a pattern, or all in a folder."""
    for path in _found(name):
        yield path
        if path.is_file():
            yield from class_files(path)
        for folder, _, inside in os.walk(path):
            yield from (Path(folder, each) for each in inside)


def _found(name: str) -> list[Path]:
    """Return the file or the folder of that name, or those of a pattern."""
    try:
        return matching(name)
    except FileError:
        return []


def _is_same(path: Path, output: Path) -> bool:
    """Return whether two paths lead to one file; a path need not exist, as for a codebook."""
    try:
        return path.samefile(output)
    except (OSError, ValueError):
        return False


def two_columns(
    frame: pd.DataFrame, first: str, second: str, clean: Clean
) -> list[tuple[Any, Any]]:
    """Return the pairs of two columns that are found by their names, the first of them clean."""
    found = {str(name).strip().casefold(): name for name in frame.columns}
    if not {first, second} <= found.keys():
        raise DataError(
            f"it needs the columns {first} and {second}; it has {listing(list(frame.columns))}."
        )
    return list(zip(map(clean, frame[found[first]]), frame[found[second]], strict=True))
