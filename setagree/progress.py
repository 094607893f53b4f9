"""Progress of long work: one line on a terminal, with tqdm, and nowhere else."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, TypeVar

T = TypeVar("T")

_PATIENCE = 2.0
"""Seconds after which work is shown that was not known to be long."""

_STEADY = 1.0
"""Seconds between two looks at work that does not say how far it is."""


def track(
    items: Iterable[T], *, total: int, what: str, long: bool, at_once: int = 1
) -> Iterator[T]:
    """Yield the items; show how far it is where the work is long and somebody looks.

    ``long`` means that it is known to be: otherwise it is shown after two seconds. Where an item
    stands for several things, ``at_once`` of them, these are counted, ``total`` in all.
    """
    bars, rest, done = _bars(), iter(items), 0
    if bars is not None and not long:
        start = time.monotonic()
        for item in rest:
            yield item
            done += at_once
            if time.monotonic() - start > _PATIENCE:
                break
        else:
            return
    if bars is None:
        yield from rest
        return
    bar = _opened(bars, rank=2, total=total, desc=what, initial=done)
    if bar is None:
        yield from rest
        return
    try:
        for item in rest:
            yield item
            bar.update(min(at_once, total - bar.n))
    finally:
        bar.close()


@contextmanager
def stages(
    what: str, total: int | None = None, *, rank: int = 1
) -> Iterator[Callable[[str], None]]:
    """Yield what is told the stage that work has reached; after two seconds it is shown.

    There is one line at a time, that of the highest rank; `track` has 2.

    Examples
    --------
    >>> with stages("report", 2) as reached:
    ...     for stage in ("labels", "raters"):
    ...         reached(stage)
    """
    bars = _bars()
    if bars is None:
        yield lambda _: None
        return
    line = _Line(bars, what, total, rank)
    try:
        yield line.reached
    finally:
        line.close()


@contextmanager
def without_line() -> Iterator[None]:
    """Take away the line of progress while something else is written; it comes back."""
    bars = sys.modules.get("tqdm") and _bars()
    if not bars:
        yield
        return
    with bars.get_lock():  # so that no thread shows it meanwhile
        for bar in _lines(bars):
            bar.clear()
        yield


class _Line:
    """A line that a thread of its own shows, as the work has no time for it."""

    def __init__(self, bars: Any, what: str, total: int | None, rank: int) -> None:
        self._bars, self._what, self._total, self._rank = bars, what, total, rank
        self._said, self._done, self._start = what, -1, time.time()
        self._bar: Any = None
        self._over = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()

    def reached(self, stage: str) -> None:
        """Take note of the next stage."""
        self._said, self._done = f"{self._what}: {stage}", self._done + 1
        if self._bar is not None:
            self._show()

    def close(self) -> None:
        """End, and leave nothing on the terminal."""
        self._over.set()
        self._thread.join()
        if self._bar is not None:
            self._bar.close()

    def _watch(self) -> None:
        wait = _PATIENCE
        while not self._over.wait(wait):
            self._show()
            wait = _STEADY

    def _show(self) -> None:
        with self._bars.get_lock():
            if self._bar is None or self._bar.disable:
                form = "{desc} {n_fmt}/{total_fmt} |{bar}| [{elapsed}]"
                form = "{desc} [{elapsed}]" if self._total is None else form
                options = {"total": self._total, "bar_format": form}
                self._bar = _opened(self._bars, rank=self._rank, desc=self._said, **options)
                if self._bar is None:
                    return
                self._bar.start_t = self._start
            self._bar.n = max(self._done, 0)
            self._bar.set_description_str(self._said)


def _opened(bars: Any, *, rank: int, **options: Any) -> Any:
    """Return a new line in the place of those of lower rank, or None if another one stays."""
    columns, lines = _size()
    with bars.get_lock():
        shown = _lines(bars)
        if any(bar.rank >= rank for bar in shown):
            return None
        for bar in shown:
            bar.close()
        bar = bars(leave=False, ncols=columns, nrows=lines, **options)
        bar.rank = rank
        return bar


def _lines(bars: Any) -> list[Any]:
    """Return the lines of ours that are shown."""
    return [bar for bar in getattr(bars, "_instances", ()) if hasattr(bar, "rank")]


def _bars() -> Any:
    """Return tqdm where somebody looks and it is installed; else None."""
    if not sys.stderr.isatty():
        return None
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
        said = os.get_terminal_size(sys.stderr.fileno())
    except (AttributeError, OSError):
        return None, None
    usual = shutil.get_terminal_size()
    return None if said.columns else usual.columns, None if said.lines else usual.lines
