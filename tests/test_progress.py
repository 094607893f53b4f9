"""Progress of long work: shown on a terminal with tqdm, and nowhere else."""

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
