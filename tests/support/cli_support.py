"""How the tests run the command: in this process, with what it must or must not do."""

import functools
import io
import json
import os
import subprocess
import sys

import pytest
import typer.testing
from typer.testing import CliRunner

from setagree import __main__
from setagree.cli import app as cli

# Half of what a short run takes is the tree of commands and options: it is built once a session.
typer.testing._get_command = functools.cache(typer.testing._get_command)

# T1: the published R walk-through, 11 units x 3 raters; one answer is missing.
WALKTHROUGH = """unit,r1,r2,r3
1,"a, b",a,b
2,"a, b","a, b","a, b"
3,a,a,a
4,c,c,
5,c,"a, c","a, c"
6,d,d,d
7,b,d,e
8,"a, b",a,b
9,"a, b","a, b, c","a, b, c, i"
10,a,"b, d",a
11,a,a,e
"""


def invoke(*words):
    return CliRunner().invoke(cli.app, list(map(str, words)))


def ok(*words):
    """Run the command, which must succeed, and return what it printed on stdout."""
    result = invoke(*words)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def rows(*words):
    return json.loads(ok(*words, "--format", "json"), parse_constant=pytest.fail)


def refusal(*words):
    """Run the command, which must end with 2 and one sentence, and return the sentence."""
    result = invoke(*words)
    assert (result.exit_code, result.stdout) == (2, ""), result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert len(lines) == 1, result.stderr
    assert "Traceback" not in result.stderr
    return lines[0]


class Terminal(io.TextIOWrapper):
    def isatty(self):
        return True


def script(*words, env=None, stdout=None, stderr=None):
    """Run the console script's own entry in this process; return exit code, stdout and stderr.

    What only a process of its own can show, imports and signals, has its own tests.
    """
    out = stdout or io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    err = stderr or io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["setagree", *map(str, words)])
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        try:
            code = __main__.main()
        except SystemExit as end:
            code = end.code or 0
    texts = [shown_on(stream) for stream in (out, err)]
    return subprocess.CompletedProcess(words, code, *texts)


def shown_on(stream):
    """Return what was written to a stream in memory; a device keeps nothing."""
    if not isinstance(stream.buffer, io.BytesIO):
        return ""
    stream.flush()
    return stream.buffer.getvalue().decode(stream.encoding)


def on_a_terminal(*words, env=None):
    """Run the command with a terminal as its stdout and return what it shows there."""
    ours, theirs = os.openpty()
    run = subprocess.Popen(
        [sys.executable, "-m", "setagree", *words],
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **(env or {})},
    )
    os.close(theirs)
    shown = _all_of(ours)
    run.communicate()
    assert run.returncode == 0
    return shown


def _all_of(terminal):
    """Return all that is written on a terminal until the other side hangs up."""
    shown = b""
    while True:
        try:
            block = os.read(terminal, 4096)
        except OSError:  # how Linux says so
            break
        if not block:
            break
        shown += block
    os.close(terminal)
    return shown.decode().replace("\r\n", "\n")


_IMPATIENT = """
import sys
from setagree import __main__, progress
progress._DELAY = progress._INTERVAL = 0.01
sys.exit(__main__.main())
"""


def on_one_screen(*words):
    """Run the command with one terminal for all it writes, which shows progress at once.

    Return all that it wrote, and the lines that are left on the screen.
    """
    ours, theirs = os.openpty()
    env = {**os.environ, "TERM": "dumb", "COLUMNS": "80", "LINES": "24"}
    run = subprocess.Popen(
        [sys.executable, "-c", _IMPATIENT, *map(str, words)], stdout=theirs, stderr=theirs, env=env
    )
    os.close(theirs)
    written = _all_of(ours)
    assert run.wait() == 0, written
    return written, [_overwritten(line) for line in written.split("\n")]


def _overwritten(line):
    """Return what is left of a line where the terminal goes back to its beginning."""
    cells = []
    for part in line.split("\r"):
        cells[: len(part)] = part
    return "".join(cells).rstrip()
