"""What a command reads, so that nothing it writes takes the place of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from setagree.cli.options import Reading
from setagree.errors import FileError
from setagree.exports.tools.hugging_face import class_files
from setagree.files.streams import matching

_STDIN = Path("/dev/stdin")
"""The file that the shell reads from, where standard input is one."""


def check_not_read(output: Path, files: Sequence[str], reading: Reading | None) -> None:
    """Raise `FileError` where an output is a file that the command reads.

    Paths are followed through links, and every file in a folder that is read counts.
    """
    if not output.exists():
        return
    for path, what in _inputs(files, reading):
        if _is_same(path, output):
            raise FileError(f"{str(output)!r} is {what}; it is never changed.")


def _inputs(files: Sequence[str], reading: Reading | None) -> Iterator[tuple[Path, str]]:
    """Yield every file that may be read, and what it is to the command."""
    for file in files:
        for path in _files_of(file) if file != "-" else [_STDIN]:
            yield path, "the input"
    for option in ("roster", "codebook", "config"):
        named = getattr(reading, option, None)
        for path in [] if named is None else _files_of(str(named)):
            yield path, f"what --{option} reads"


def _files_of(name: str) -> Iterator[Path]:
    """Yield the file of that name, those of a pattern, or all in a folder."""
    try:
        found = matching(name)
    except FileError:
        found = []
    for path in found:
        yield path
        if path.is_file():
            yield from class_files(path)
        for folder, _, inside in os.walk(path):
            yield from (Path(folder, each) for each in inside)


def _is_same(path: Path, output: Path) -> bool:
    """Say whether two paths lead to one file; a path may lead nowhere, as labels for a codebook."""
    try:
        return path.samefile(output)
    except (OSError, ValueError):
        return False
