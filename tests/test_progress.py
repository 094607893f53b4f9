"""Progress of long work: shown on a terminal with tqdm, and nowhere else."""

import os
import select
import struct
import sys

import pytest

from setagree.progress import track


class Terminal:
    """A place to write that says whether somebody looks."""

    def __init__(self, *, looked_at):
        self.looked_at = looked_at
        self.written = ""

    def isatty(self):
        """Say whether somebody looks."""
        return self.looked_at

    def write(self, text):
        """Keep the text."""
        self.written += text

    def flush(self):
        """Do nothing."""


def run(monkeypatch, *, long, looked_at):
    """Track five items and return what came through and what was written."""
    terminal = Terminal(looked_at=looked_at)
    monkeypatch.setattr(sys, "stderr", terminal)
    items = list(track(iter("abcde"), total=5, what="letters", long=long))
    monkeypatch.undo()
    return items, terminal.written


@pytest.mark.parametrize(("long", "looked_at"), [(False, False), (False, True), (True, False)])
def test_quiet(monkeypatch, long, looked_at):
    """Short work, and work that nobody looks at, writes nothing."""
    assert run(monkeypatch, long=long, looked_at=looked_at) == (list("abcde"), "")


def test_shown(monkeypatch):
    """Long work on a terminal says what it is about."""
    pytest.importorskip("tqdm")
    items, written = run(monkeypatch, long=True, looked_at=True)
    assert items == list("abcde")
    assert "letters" in written


def test_without_tqdm(monkeypatch):
    """Without tqdm long work runs all the same, and writes nothing."""
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert run(monkeypatch, long=True, looked_at=True) == (list("abcde"), "")


def on_a_terminal(monkeypatch, columns):
    """Track on a terminal of some width, and return what it got."""
    pty, fcntl, termios = map(pytest.importorskip, ("pty", "fcntl", "termios"))
    pytest.importorskip("tqdm")
    monkeypatch.delenv("COLUMNS", raising=False)
    reader, writer = pty.openpty()
    fcntl.ioctl(
        writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0)
    )
    with os.fdopen(writer, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        list(track("abcde", total=5, what="letters", long=True))
        terminal.flush()
        monkeypatch.undo()
        os.set_blocking(reader, False)
        written = os.read(reader, 10_000).decode() if select.select([reader], [], [], 1)[0] else ""
    os.close(reader)
    return written


@pytest.mark.parametrize("columns", [0, 40, 100])
def test_terminals_of_every_width(monkeypatch, columns):
    """A terminal that does not know its width, and says 0, shows the work all the same."""
    written = on_a_terminal(monkeypatch, columns)
    assert "letters:   0%" in written
    assert max(map(len, written.split("\r"))) <= (columns or 80)
