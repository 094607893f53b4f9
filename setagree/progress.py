"""Progress of long work: one line on a terminal, with tqdm, and nowhere else."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from threading import Event, Thread
from typing import Any, TypeVar

T = TypeVar("T")

_DELAY = 1.0
"""Seconds before work is shown."""

_INTERVAL = 1.0
"""Seconds between two updates of the time that a stage has taken."""

_OPEN: list[Any] = []
"""The lines that are open, of which only the last is shown."""


def track(items: Iterable[T], *, total: int, what: str, at_once: int = 1) -> Iterator[T]:
    """Yield the items, and show on a terminal how many are done, after a second.

    If an item stands for several things, `at_once` of them, these are counted, `total` in all.
    """
    with _line(total=total, desc=what) as bar:
        for item in items:
            yield item
            if bar is not None:
                bar.update(min(at_once, total - bar.n))


@contextmanager
def stages(what: str, total: int | None = None) -> Iterator[Callable[[str], None]]:
    """Yield a function that takes the stage of the work, which is shown after a second."""
    of_total = "" if total is None else " {n_fmt}/{total_fmt} |{bar}|"
    form = f"{{desc}}{of_total} [{{elapsed}}]"
    with _line(total=total, desc=what, bar_format=form) as bar:
        if bar is None:
            yield lambda _: None
            return

        n_done, over = count(), Event()

        def reached(stage: str) -> None:
            bar.n = next(n_done)
            bar.set_description_str(f"{what}: {stage}", refresh=False)

        # A stage may take long, in which only a thread of its own shows the time.
        thread = Thread(target=_refresh, args=(bar, over), daemon=True)
        thread.start()
        try:
            yield reached
        finally:
            over.set()
            thread.join()


def _refresh(bar: Any, over: Event) -> None:
    """Show a line again and again while it is the last that was opened."""
    wait = _DELAY
    while not over.wait(wait):
        if _OPEN and _OPEN[-1] is bar:
            bar.delay = 0  # so that it is cleared in the end
            bar.refresh()
        wait = _INTERVAL


@contextmanager
def without_line() -> Iterator[None]:
    """Clear the line of progress while something else is written."""
    if not _OPEN:
        yield
        return
    with _OPEN[-1].get_lock():  # so that no thread shows it meanwhile
        for bar in _OPEN:
            bar.clear()
        yield


@contextmanager
def _line(**options: Any) -> Iterator[Any]:
    """Open a line in the place of the others; None if nobody looks, or tqdm is not installed."""
    tqdm = _tqdm() if sys.stderr.isatty() else None
    if tqdm is None:
        yield None
        return
    columns, lines = _size()
    shown = {"leave": False, "position": 0, "ncols": columns, "nrows": lines, "delay": _DELAY}
    with tqdm(**shown, **options) as bar:
        _OPEN.append(bar)
        try:
            yield bar
        finally:
            _OPEN[:] = [one for one in _OPEN if one is not bar]  # lines are equal to tqdm


def _tqdm() -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm


def _size() -> tuple[int | None, int | None]:
    """Return columns and lines, the usual ones where a terminal says 0; else None for tqdm to ask.

    Terminals in containers and of continuous integration say 0, at which tqdm shows nothing.
    """
    try:
        size = os.get_terminal_size(sys.stderr.fileno())
    except (AttributeError, OSError):
        return None, None
    usual = shutil.get_terminal_size()
    return None if size.columns else usual.columns, None if size.lines else usual.lines
