"""How the program ends where it is stopped, or where nobody reads what it prints."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
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
