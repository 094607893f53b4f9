"""Ctrl-C and SIGTERM while a large file is reduced: an end at once, and nothing is left."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError
from setagree.files import delimited
from setagree.large import files as copies
from setagree.large.engines import DuckDB, run_query

ROOT = Path(sa.__file__).parents[1]
ROWS = """
    SELECT 'doc ' || (i // 3) AS doc, 'rater ' || (i % 3) AS who, 'label ' || (hash(i) % 9) AS tags
    FROM range(4000000) AS rows(i) ORDER BY hash(i + 1)
"""
SCORE = """
import sys, setagree as sa
sa.agreement(sys.argv[1], unit="doc", rater="who", labels="tags", memory_limit="200MB",
             temp_directory=sys.argv[2])
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="the signals are those of POSIX"),
    pytest.mark.usefixtures("ctrl_c_is_heard"),
]


class SlowConnection:
    def __init__(self):
        self.runs, self.stopped = threading.Event(), threading.Event()
        self.times = 0

    def query(self):
        """Wait to be stopped, and fail as DuckDB does."""
        self.runs.set()
        assert self.stopped.wait(30)
        raise ValueError("Interrupted!")

    def interrupt(self):
        """Stop the query, but not at the first asking, which may come before it runs."""
        self.times += 1
        if self.times == 2:
            self.stopped.set()


class TestQueries:
    def test_results_and_errors(self):
        for connection in (None, SlowConnection()):
            assert run_query(lambda: 7, connection) == 7
            with pytest.raises(RuntimeError, match="another"):
                run_query(lambda: (_ for _ in ()).throw(RuntimeError("another")), connection)

    def test_a_signal_stops_it(self):
        connection = SlowConnection()
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            run_query(connection.query, connection)
        assert connection.times == 2

    @pytest.mark.parametrize("has_begun", [True, False])
    def test_a_signal_while_the_thread_starts(self, monkeypatch, has_begun):
        connection, started, start = SlowConnection(), [], threading.Thread.start

        def interrupted(thread):
            started.append(thread)
            if has_begun:
                start(thread)
                assert connection.runs.wait(30)
            raise KeyboardInterrupt

        monkeypatch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_query(connection.query, connection)
        if not has_begun:
            start(started[0])
        started[0].join(5)
        assert not started[0].is_alive()
        assert connection.times == (2 if has_begun else 0)

    def test_connections_of_others(self):
        with pytest.raises(KeyboardInterrupt):
            DuckDB().run(lambda: (_ for _ in ()).throw(RuntimeError("Query interrupted")))


@pytest.fixture(scope="module")
def ratings(tmp_path_factory):
    """Write 4 million ratings, which take some seconds to reduce."""
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("narwhals")
    path = tmp_path_factory.mktemp("large") / "ratings.parquet"
    with duckdb.connect() as connection:
        connection.sql(ROWS).write_parquet(str(path))
    return path


def ended_by(number, command, room, *, after=0.5):
    """Start a command, send it a signal once it has its folder; return its end and the seconds."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = subprocess.Popen(
        [sys.executable, *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    begun = time.monotonic()
    while not [*room.iterdir()] and time.monotonic() - begun < 60:
        time.sleep(0.01)
    time.sleep(after)
    assert started.poll() is None, started.stderr.read()
    sent = time.monotonic()
    started.send_signal(number)
    _, said = started.communicate(timeout=60)
    return started.returncode, time.monotonic() - sent, said


class TestProcesses:
    def test_ctrl_c(self, ratings, tmp_path):
        command = ["-c", SCORE, ratings, tmp_path]
        code, seconds, said = ended_by(signal.SIGINT, command, tmp_path, after=0.0)
        assert code == -signal.SIGINT
        assert said.rstrip().endswith("KeyboardInterrupt")
        assert seconds < 10  # it takes less than one; machines under load have their time
        assert [*tmp_path.iterdir()] == []

    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_the_command(self, ratings, tmp_path, number, code):
        pytest.importorskip("typer")
        words = ["score", ratings, "--unit", "doc", "--rater", "who", "--labels", "tags"]
        words += ["--memory-limit", "200MB", "--temp-directory", tmp_path]
        ended, seconds, said = ended_by(number, ["-m", "setagree", *words], tmp_path)
        assert (ended, said) == (code, "")
        assert seconds < 10
        assert [*tmp_path.iterdir()] == []


class TestCopies:
    def files(self, folder, *broken):
        """Return the paths of three files, some of them broken in their last row."""
        for place in range(3):
            rows = [f"{place}-{k},{rater},x" for k in range(3) for rater in "ab"]
            rows += ["9,a"] * (place in broken)
            text = "\n".join(["unit,rater,labels", *rows]) + "\n"
            (folder / f"{place}.csv").write_text(text, "utf-8")
        return sorted(folder.glob("*.csv"))

    def test_all_of_them(self, tmp_path):
        pytest.importorskip("duckdb")
        assert sa.tally(self.files(tmp_path), memory_limit="100MB").n_ratings == 18
        with pytest.raises(sa.SetagreeError, match=r"1\.csv.* has 2 cells, the header 3"):
            sa.tally(self.files(tmp_path, 1, 2), memory_limit="100MB")

    def test_a_signal_stops_them(self, tmp_path, monkeypatch):
        pytest.importorskip("duckdb")
        begun = []

        def endless(copy, columns):
            begun.append(copy.path)
            while True:
                time.sleep(0.01)
                yield {role: ["x"] for role in columns}

        monkeypatch.setattr(copies, "_delimited", endless)
        monkeypatch.setattr(copies, "_BLOCK_SIZE", 2)
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        paths = self.files(tmp_path)
        with pytest.raises(KeyboardInterrupt):
            sa.tally(paths, memory_limit="100MB")
        assert len(begun) == min(2, os.cpu_count() or 1)


def test_other_errors_stay(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("narwhals")
    with duckdb.connect() as connection:
        rows = "SELECT 1 AS unit, 1 AS rater, error('so it is')::VARCHAR AS labels FROM range(3)"
        with pytest.raises(DataError, match=r"DuckDB stopped, and there is no result: .*so it is"):
            sa.tally(connection.sql(rows))


def test_lost_in_a_parser(tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    pytest.importorskip("narwhals")
    path = tmp_path / "study.csv"
    path.write_text("unit,rater,labels\n1,a,x\n1,b,x\n", "utf-8")

    def failing(*_):
        raise pd.errors.ParserError(
            "Error tokenizing data. C error: Calling read(nbytes) on source failed. "
            "Try engine='python'."
        )

    monkeypatch.setattr(delimited, "_next_rows", failing)
    with pytest.raises(KeyboardInterrupt):
        sa.agreement(path, memory_limit="100MB")
