"""A worker of Spark that is killed: ``python -m tests.benchmarks.spark FOLDER [--ratings N ...]``.

Starts a standalone master and two workers of one core each on loopback, and reduces generated
ratings in Parquet, whose units are scattered over 16 files. The largest number of ratings is
reduced again, and one of the workers is killed while a shuffle is half written; the numbers must be
the same. Prints the bytes that were shuffled and collected. Requires Java and the extra ``spark``.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import setagree as sa
from tests.benchmarks.data import simulate
from tests.benchmarks.huge import N_RATERS, RECIPE, numbers

N_FILES = 16
_START_SECONDS = 60


def write(folder: Path, n_ratings: int) -> Path:
    """Write about so many ratings to 16 files of a folder, their rows in random order."""
    made = folder / f"ratings-{n_ratings}"
    if not made.exists():
        ratings = simulate(
            round(n_ratings / N_RATERS / (1 - RECIPE.missing)), N_RATERS, recipe=RECIPE
        )
        frame = ratings.frame()
        made.mkdir(parents=True)
        rows = np.random.default_rng(1).permutation(len(frame))
        for k, part in enumerate(np.array_split(rows, N_FILES)):
            frame.iloc[part].to_parquet(made / f"{k:02d}.parquet", index=False)
    return made


@dataclass
class Cluster:
    """A master and two workers, each in a process group of its own."""

    url: str
    workers: list[subprocess.Popen[bytes]]
    folders: list[Path]

    def shuffled(self, worker: int) -> int:
        total = 0
        for path in self.folders[worker].rglob("shuffle_*.data"):
            try:
                total += path.stat().st_size
            except FileNotFoundError:
                continue
        return total

    def kill_half_way(self, n_bytes: int, killed: list[int]) -> None:
        """Kill the second worker and its executor once it has written so many bytes."""
        while (written := self.shuffled(1)) < n_bytes and self.workers[1].poll() is None:
            time.sleep(0.02)
        os.killpg(self.workers[1].pid, signal.SIGKILL)
        killed.append(written)


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Run a master and two workers on loopback while the block lasts."""
    import pyspark

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-class")]
    package, host = "org.apache.spark.deploy", ["--host", "127.0.0.1", "--webui-port", "0"]
    url, started = f"spark://127.0.0.1:{port}", []

    def start(*arguments: str, local: Path) -> subprocess.Popen[bytes]:
        local.mkdir(parents=True, exist_ok=True)
        log = (local / "log").open("wb")
        environment = os.environ | {"SPARK_LOCAL_DIRS": str(local), "SPARK_LOCAL_IP": "127.0.0.1"}
        started.append(
            subprocess.Popen(
                [*command, *arguments],
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        )
        return started[-1]

    folders = [folder / f"worker-{k}" for k in range(2)]
    try:
        start(f"{package}.master.Master", *host, "--port", str(port), local=folder / "master")
        _wait_for(port)
        of_worker = [f"{package}.worker.Worker", *host, "--cores", "1", "--memory", "2g"]
        workers = [start(*of_worker, "--work-dir", str(each), url, local=each) for each in folders]
        yield Cluster(url, workers, folders)
    finally:
        for process in started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_for(port: int) -> None:
    """Return when something listens on a port of loopback."""
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError(f"nothing listens on port {port}: see the log of the master.")


def reduce(url: str, table: Path, events: Path) -> dict[str, Any]:
    """Reduce a table in a session of its own; return the numbers, and what Spark moved."""
    from pyspark.sql import SparkSession

    events.mkdir(parents=True, exist_ok=True)
    settings = {
        "ui.enabled": "false",
        "ui.showConsoleProgress": "false",
        "driver.host": "127.0.0.1",
        "executor.memory": "1g",
        "sql.shuffle.partitions": str(N_FILES),
        "executorEnv.PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "eventLog.enabled": "true",
        "eventLog.dir": events.as_uri(),
        "eventLog.compress": "false",
        "eventLog.rolling.enabled": "false",
    }
    builder = SparkSession.builder.master(url).appName("setagree")
    for name, setting in settings.items():
        builder = builder.config(f"spark.{name}", setting)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    start = time.perf_counter()
    try:
        frame = session.read.parquet(str(table))
        tally = sa.tally(frame, unit="doc", rater="who", labels="tags")
        found = {"numbers": numbers(tally), "patterns": tally.n_patterns, "units": tally.n_units}
        found |= {"ratings": tally.n_ratings, "seconds": round(time.perf_counter() - start, 1)}
    finally:
        session.stop()
    return found | _moved(max(events.iterdir(), key=lambda path: path.stat().st_mtime))


def _moved(log: Path) -> dict[str, int]:
    """Return the bytes shuffled and collected, and the tasks that failed, from an event log."""
    out = {"bytes shuffled": 0, "bytes collected": 0, "tasks lost": 0}
    with log.open(encoding="utf-8") as lines:
        events = [event for event in map(json.loads, lines) if "Task End Reason" in event]
    for event in events:
        metrics = event.get("Task Metrics") or {}
        written = metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
        out["bytes shuffled"] += written
        out["bytes collected"] += 0 if written else metrics.get("Result Size", 0)
        out["tasks lost"] += event["Task End Reason"]["Reason"] != "Success"
    return out


def main() -> None:
    """Write, reduce, kill a worker, compare and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.spark", description=__doc__)
    parser.add_argument("folder", type=Path, help="where files are written, or are already")
    parser.add_argument("--ratings", type=float, nargs="+", default=[5e5, 5e6])
    options = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    tables = [write(options.folder, n) for n in sorted(map(int, options.ratings))]
    with cluster(options.folder / "spark") as running:
        for table in tables:
            found = reduce(running.url, table, options.folder / "events")
            print(json.dumps(found, indent=2), flush=True)
        killed: list[int] = []
        # Half of what the worker writes, if both write as much.
        half = found["bytes shuffled"] // 4
        watch = threading.Thread(target=running.kill_half_way, args=(half, killed), daemon=True)
        watch.start()
        again = reduce(running.url, tables[-1], options.folder / "events")
    print(f"worker killed after {killed} bytes of shuffles:", json.dumps(again, indent=2))
    if not killed or again["numbers"] != found["numbers"]:
        gap = max(abs(again["numbers"][name] - x) for name, x in found["numbers"].items())
        print(f"largest difference of the numbers: {gap:.1e}")
    else:
        print("the numbers are the same")


if __name__ == "__main__":
    main()
