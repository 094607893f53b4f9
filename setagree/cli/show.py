"""Printing of texts for people, and orderly termination by signals and closed pipes."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO


@contextmanager
def orderly_termination() -> Iterator[None]:
    """Let SIGTERM end the program as Ctrl-C does, so that temporary files are removed."""

    def end(*_: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def discard_stdout() -> int:
    """Discard what is still written to stdout, also when Python exits; return the exit code 1."""
    _discard(sys.stdout)
    return 1


def _discard(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


_WIDTH = 80
_LAYOUT = "\n\xa0"
"""Characters of the layout of results; neither moves the cursor back."""

_TAG = re.compile(r"\[(?:/|/?(?:not )?(?:bold|dim))\]")


def has_rich() -> bool:
    """Return whether rich is installed."""
    return importlib.util.find_spec("rich") is not None


def marked(text: str) -> str:
    """Return a help text, without its markup if rich is not installed."""
    return text if has_rich() else _TAG.sub("", text)


def print_list(rows: Sequence[tuple[str, str]]) -> None:
    """Print names with their descriptions."""
    if not (sys.stdout.isatty() and has_rich()):
        sys.stdout.writelines(f"{line}\n" for line in list_lines(rows, width=_WIDTH))
        return
    from rich.console import Console
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    for row in rows:
        grid.add_row(*row)
    Console(markup=False, highlight=False).print(grid)


def list_lines(rows: Sequence[tuple[str, str]], *, width: int = sys.maxsize) -> Iterator[str]:
    """Yield the lines of a list of names with their descriptions."""
    indent = max(len(name) for name, _ in rows) + 2
    for name, text in rows:
        lines = textwrap.wrap(text, width - indent, break_on_hyphens=False) or [""]
        yield f"{name:<{indent}}{lines[0]}".rstrip()
        yield from (f"{'':<{indent}}{line}" for line in lines[1:])


def print_text(text: str, *, heads: bool) -> None:
    """Print results: a table for people with `heads`, else data for programs.

    On a terminal, control characters are escaped, and heads are bold if rich is installed. A file
    or a pipe gets the text unchanged.
    """
    if sys.stdout.isatty():
        from setagree.wording.sentences import visible  # loads pandas

        text = visible(text, keep=_LAYOUT)
        if heads and has_rich():
            _print_with_heads(text)
            return
    sys.stdout.write(text)
    sys.stdout.flush()


def _print_with_heads(text: str) -> None:
    """Print text with the heads of tables in bold: lines above others that are no sentences."""
    from rich.console import Console
    from rich.text import Text

    console = Console(markup=False, highlight=False)
    lines = text.removesuffix("\n").split("\n")
    around = ["", *lines, ""]
    for k, line in enumerate(lines):
        is_head = line and not around[k] and around[k + 2] and not around[k + 2].endswith(".")
        console.print(Text(line, style="bold" if is_head else ""), soft_wrap=True)


def say(sentence: str) -> None:
    """Write one line to stderr."""
    # Imported here because the help of the command loads this module.
    from setagree.progress import without_line
    from setagree.wording.sentences import visible

    line = " ".join(sentence.splitlines())
    try:
        with without_line():
            sys.stderr.write(f"{visible(line)}\n")
            sys.stderr.flush()
    except OSError:  # the stream is closed
        _discard(sys.stderr)
