"""A case is a program: what is run here is, letter by letter, what is printed where it fails."""

from __future__ import annotations

import signal
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from types import FrameType

HEAD = """\
import contextlib, csv, io, json, math, os, subprocess, sys, tempfile, unicodedata, warnings
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
from numpy import inf, nan
from pandas import NA, NaT, Timestamp

import setagree as sa

warnings.simplefilter("error")
warnings.simplefilter("ignore", sa.SetagreeWarning)
"""


@dataclass(frozen=True)
class Program:
    """One case: the family and the part of it that it belongs to, and its text."""

    family: str
    part: str
    body: str

    @property
    def text(self) -> str:
        """The whole program, to be pasted into a file and run."""
        return f"{HEAD}\n{self.body}"

    def run(self) -> str | None:
        """Return how the program failed, or None where it ended well."""
        code = compile(self.text, f"<{self.part}>", "exec")
        return failure_of(lambda: exec(code, {"__name__": "__main__"}))  # noqa: S102


def failure_of(work: Callable[[], object]) -> str | None:
    """Return how work in a fresh folder failed, or None where it ended well."""
    with TemporaryDirectory() as folder, chdir(folder), warnings.catch_warnings(), _patience():
        try:
            work()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is the finding
            return _told(error)
    return None


class TooSlow(BaseException):
    """A program took longer than any of its size may; nothing that catches errors catches it."""


@contextmanager
def _patience(seconds: float = 60.0) -> Iterator[None]:
    """Raise `TooSlow` after a while, where a signal can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TooSlow(f"it took more than {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _told(error: BaseException) -> str:
    """Return the error, and the place in the product where it came up."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "setagree" in f.filename]
    places = [f"{f.filename.rpartition('setagree/')[2]}:{f.lineno} {f.name}" for f in frames[-3:]]
    return f"{type(error).__name__}: {str(error)[:600]}" + "".join(f"\n    at {p}" for p in places)
