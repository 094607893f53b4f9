"""Printing of texts for people, and the end of a program whose reader is gone."""

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
def ending_in_order() -> Iterator[None]:
    """Let SIGTERM end the program as Ctrl-C does, so that temporary files are removed."""

    def end(*_: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def hang_up() -> int:
    """Let nobody write to a pipe that nobody reads, not even Python at its end."""
    let_go(sys.stdout)
    return 1


def let_go(stream: TextIO) -> None:
    """Send what is still written to a stream nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


_WIDTH = 80
_LAYOUT = "\n\xa0"
"""Characters with which results are laid out; neither moves the cursor back."""

_TAG = re.compile(r"\[(?:/|/?(?:not )?(?:bold|dim))\]")


def has_rich() -> bool:
    """Return whether rich is installed."""
    return importlib.util.find_spec("rich") is not None


def marked(text: str) -> str:
    """Return a help text, without its marks where nobody would understand them."""
    return text if has_rich() else _TAG.sub("", text)


def print_list(rows: Sequence[tuple[str, str]]) -> None:
    """Print names and what is said about each."""
    if sys.stdout.isatty() and has_rich():
        _print_rich(rows)
        return
    width = max(len(name) for name, _ in rows) + 2
    for name, text in rows:
        lines = textwrap.wrap(text, _WIDTH - width, break_on_hyphens=False) or [""]
        sys.stdout.write(f"{name:<{width}}{lines[0]}".rstrip() + "\n")
        sys.stdout.writelines(f"{'':<{width}}{line}\n" for line in lines[1:])


def print_text(text: str, *, heads: bool) -> None:
    """Print results: a table for people with `heads`, else what programs read.

    A terminal gets the control characters spelled out, and bold heads if rich is installed. A file
    or a pipe gets the text as it is.
    """
    if not sys.stdout.isatty():
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    from setagree.wording.sentences import visible  # which loads pandas

    text = visible(text, keep=_LAYOUT)
    if not (heads and has_rich()):
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(markup=False, highlight=False)
    for line, is_head in _with_heads(text):
        console.print(Text(line, style="bold" if is_head else ""), soft_wrap=True)


def _with_heads(text: str) -> list[tuple[str, bool]]:
    """Return each line, and whether it is the first of a paragraph of several lines."""
    lines = text.removesuffix("\n").split("\n")
    around = ["", *lines, ""]
    return [(line, bool(line and not around[k] and around[k + 2])) for k, line in enumerate(lines)]


def _print_rich(rows: Sequence[tuple[str, str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    for row in rows:
        grid.add_row(*row)
    Console(markup=False, highlight=False).print(grid)


def say(sentence: str) -> None:
    """Write one line to stderr."""
    # Imported here because the help of the command loads this module.
    from setagree.cli.show import let_go
    from setagree.progress import without_line
    from setagree.wording.sentences import visible

    line = " ".join(sentence.splitlines())
    try:
        with without_line():
            sys.stderr.write(f"{visible(line)}\n")
            sys.stderr.flush()
    except OSError:  # the stream is closed
        let_go(sys.stderr)
