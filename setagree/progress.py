"""Progress of long work, on a terminal with tqdm and nowhere else."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def track(items: Iterable[T], *, total: int, what: str, long: bool) -> Iterator[T]:
    """Yield the items; show how far it is where the work is long and somebody looks."""
    if long and sys.stderr.isatty():
        try:
            from tqdm import tqdm
        except ImportError:
            yield from items
            return
        columns, lines = _size()
        yield from tqdm(items, total=total, desc=what, leave=False, ncols=columns, nrows=lines)
        return
    yield from items


def _size() -> tuple[int | None, int | None]:
    """Return columns and lines, the usual ones where a terminal says 0; else None for tqdm to ask.

    Terminals in containers and of continuous integration say 0, at which tqdm shows nothing.
    """
    try:
        said = os.get_terminal_size(sys.stderr.fileno())
    except (AttributeError, OSError):
        return None, None
    usual = shutil.get_terminal_size()
    return None if said.columns else usual.columns, None if said.lines else usual.lines
