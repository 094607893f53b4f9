"""Progress of long work: shown on a terminal with tqdm, and nowhere else."""

import os
import select
import struct
import sys
import time

import pytest

from setagree import progress
from setagree.progress import stages, track, without_line


class Terminal:
    def __init__(self, *, looked_at):
        self.looked_at = looked_at
        self.written = ""

    def isatty(self):
        return self.looked_at

    def write(self, text):
        self.written += text

    def flush(self):
        """Do nothing."""


def run(monkeypatch, *, long, looked_at):
    """Track five items and return what came through and what was written."""
    terminal = Terminal(looked_at=looked_at)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "_DELAY", 0 if long else 60)
    items = list(track(iter("abcde"), total=5, what="letters"))
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


def test_several_at_once(monkeypatch):
    tqdm = pytest.importorskip("tqdm").tqdm
    terminal, counts = Terminal(looked_at=True), []
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(tqdm, "close", lambda self: counts.append((self.n, self.total)))
    list(track(range(0, 10, 4), total=10, what="draws", at_once=4))
    monkeypatch.undo()
    assert counts[0] == (10, 10)


def test_without_tqdm(monkeypatch):
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
        monkeypatch.setattr(progress, "_DELAY", 0)
        list(track("abcde", total=5, what="letters"))
        terminal.flush()
        monkeypatch.undo()
        os.set_blocking(reader, False)
        written = os.read(reader, 10_000).decode() if select.select([reader], [], [], 1)[0] else ""
    os.close(reader)
    return written


@pytest.mark.parametrize("columns", [0, 40, 100])
def test_terminals_of_every_width(monkeypatch, columns):
    written = on_a_terminal(monkeypatch, columns)
    assert "letters:   0%" in written
    assert max(map(len, written.split("\r"))) <= (columns or 80)


class TestStages:
    def terminal(self, monkeypatch):
        """Return a terminal that somebody looks at, where work is long after a hundredth second."""
        pytest.importorskip("tqdm")
        terminal = Terminal(looked_at=True)
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(progress, "_DELAY", 0.01)
        monkeypatch.setattr(progress, "_INTERVAL", 0.01)
        return terminal

    def seen(self, terminal, text):
        """Wait until a text is shown."""
        for _ in range(500):
            if text in terminal.written:
                return True
            time.sleep(0.01)
        return False

    def test_short_work_is_quiet(self, monkeypatch):
        terminal = self.terminal(monkeypatch)
        monkeypatch.setattr(progress, "_DELAY", 2.0)
        with stages("report", 2) as reached:
            reached("labels")
            list(track("abc", total=3, what="letters"))
        assert terminal.written == ""

    def test_long_work_says_its_stage(self, monkeypatch):
        terminal = self.terminal(monkeypatch)
        with stages("report", 3) as reached:
            reached("labels")
            assert self.seen(terminal, "report: labels 0/3")
            reached("raters")
            assert self.seen(terminal, "report: raters 1/3")
        assert terminal.written.rpartition("\r")[0].rpartition("\r")[2].strip() == ""
        assert "\n" not in terminal.written

    def test_work_is_shown_after_a_while(self, monkeypatch):
        terminal = self.terminal(monkeypatch)
        items = []
        for item in track(range(4), total=4, what="letters"):
            items.append(item)
            time.sleep(0.2)
        assert items == [0, 1, 2, 3]
        assert "letters:  25%" in terminal.written

    def test_one_line(self, monkeypatch):
        terminal = self.terminal(monkeypatch)
        with stages("working"), stages("reading") as _:
            assert self.seen(terminal, "reading")
            monkeypatch.setattr(progress, "_DELAY", 0)
            for item in track("ab", total=2, what="letters"):
                assert self.seen(terminal, "letters")
                if item == "a":
                    terminal.written = ""
                    time.sleep(0.1)
                    assert "reading" not in terminal.written
            terminal.written = ""
            assert self.seen(terminal, "reading")
            # What says less may be quicker to come back, until then; from now on it waits.
            terminal.written = ""
            time.sleep(0.1)
            assert "working" not in terminal.written
            with without_line():
                time.sleep(0.1)
                assert terminal.written.endswith("\r")
        assert "\n" not in terminal.written

    def test_nobody_looks(self, monkeypatch):
        for looked_at in (False, True):
            terminal = Terminal(looked_at=looked_at)
            monkeypatch.setattr(sys, "stderr", terminal)
            monkeypatch.setattr(progress, "_DELAY", 0.0)
            if looked_at:
                monkeypatch.setitem(sys.modules, "tqdm", None)
            with stages("report", 1) as reached:
                reached("labels")
                time.sleep(0.05)
            assert terminal.written == ""
