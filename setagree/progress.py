"""Progress of long work, on a terminal with tqdm and nowhere else."""

from __future__ import annotations

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
        yield from tqdm(items, total=total, desc=what, leave=False)
        return
    yield from items
