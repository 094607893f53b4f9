"""The race: one tool on one study, in a process of its own under a cap of time and memory.

Run as ``python -m tests.benchmarks.race_worker CONTEST TOOL N_UNITS SECONDS BYTES``; prints the
outcome as JSON.
"""

from __future__ import annotations

import gc
import json
import math
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Literal, TypeAlias

from tests.benchmarks import memory
from tests.benchmarks.probe import ROOT
from tests.benchmarks.race_tools import CONTESTS, Call, Tool

Status: TypeAlias = Literal["done", "time", "memory", "refused", "absent", "failed"]
ROUNDS = 3
SHORT = 0.2  # seconds; shorter calls are repeated, for the clock of a process may tick slowly
ENOUGH = 2.0  # seconds after which no further round is run
WARM_UP = 20  # units
PATIENCE = 10  # seconds on the wall for a second of processor time, on a busy machine


@dataclass(frozen=True)
class Caps:
    """What one process may use.

    - seconds: Processor time of a call; making its input is not counted.
    - n_bytes: Memory of the process in all, its input included.
    """

    seconds: int
    n_bytes: int


@dataclass(frozen=True)
class Outcome:
    """How one tool did on one study.

    - status: ``"done"``, or why there is no number: over the cap of time or memory, refused by
      the tool, absent, or failed.
    - seconds, wall: Processor time and time on the wall of the fastest call.
    - n_bytes: Resident high-water mark of the first call less what was resident before it; so
      the input is not counted.
    - estimate: What the tool returned.
    - n_ratings, n_values: Size of the study: ratings, distinct sets among them.
    - reason: What the tool said when it did not return a number.
    """

    status: Status
    seconds: float = math.nan
    wall: float = math.nan
    n_bytes: int = 0
    estimate: float = math.nan
    n_ratings: int = 0
    n_values: int = 0
    reason: str = ""


def run(contest: str, tool: str, n_units: int, *, caps: Caps) -> Outcome:
    """Let one tool run once in a fresh interpreter."""
    task = [contest, tool, str(n_units), str(caps.seconds), str(caps.n_bytes)]
    command = [sys.executable, "-m", "tests.benchmarks.race_worker", *task]
    limit = PATIENCE * (caps.seconds + 60)
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return Outcome("time", reason=f"{limit} s on the wall")
    if done.returncode == -signal.SIGXCPU:
        return Outcome("time", reason=f"{caps.seconds} s of processor time")
    if done.returncode == -signal.SIGKILL:
        return Outcome("memory", reason="killed by the system")
    if done.returncode:
        return Outcome("failed", reason=_last_line(done.stderr) or f"exit {done.returncode}")
    return Outcome(**json.loads(_last_line(done.stdout)))


def measure(contest: str, tool: str, n_units: int, caps: Caps) -> Outcome:
    """Measure one tool in this process; what it raises becomes the outcome."""
    runner = CONTESTS[contest].tools[tool]
    try:
        version(runner.package)
        return _measure(contest, runner, n_units, caps)
    except (ImportError, PackageNotFoundError) as error:
        return Outcome("absent", reason=runner.hint or _last_line(str(error)))
    except MemoryError as error:
        return Outcome("memory", reason=_last_line(str(error)))
    except Exception as error:  # noqa: BLE001  whatever a tool raises is its outcome
        return Outcome("refused", reason=f"{type(error).__name__}: {error}"[:200])


def _measure(contest: str, runner: Tool, n_units: int, caps: Caps) -> Outcome:
    """Return time, memory and estimate; modules that load on first use load before."""
    runner.prepare(CONTESTS[contest].study(WARM_UP))()
    _cap_memory(caps.n_bytes)
    ratings = CONTESTS[contest].study(n_units)
    call = runner.prepare(ratings)
    size = Outcome("done", n_ratings=len(ratings.units), n_values=len(ratings.masks))
    del ratings
    _cap_seconds(caps.seconds)
    return _timed(call, size)


def _timed(call: Call, outcome: Outcome) -> Outcome:
    """Return the outcome with the first call's memory and estimate and the fastest round's time."""
    estimates: list[float] = []
    rounds: list[tuple[float, float]] = []

    def once() -> None:
        estimates.append(call())

    n_bytes = _memory(lambda: rounds.append(_seconds(once, 1)))
    number = math.ceil(SHORT / max(rounds[0][1], 1e-4))
    if number > 1:
        rounds.clear()
    while len(rounds) < ROUNDS and number * sum(taken for taken, _ in rounds) < ENOUGH:
        rounds.append(_seconds(once, number))
    processor, wall = min(rounds)
    return replace(outcome, seconds=processor, wall=wall, n_bytes=n_bytes, estimate=estimates[0])


def _seconds(call: Callable[[], object], number: int) -> tuple[float, float]:
    """Return processor time and time on the wall of one of several calls in a row."""
    gc.collect()
    wall, processor = time.perf_counter(), time.process_time()
    for _ in range(number):
        call()
    return (time.process_time() - processor) / number, (time.perf_counter() - wall) / number


def _memory(call: Callable[[], object]) -> int:
    """Return the bytes that a call adds to what is resident; 0 where that cannot be seen."""
    if not memory.available():
        call()
        return 0
    memory.settle()
    before = memory.resident()
    return memory.high_water(call) - before


def _cap_memory(n_bytes: int) -> None:
    """Cap the memory that this process may write to; what is only reserved is not counted."""
    resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, n_bytes))


def _cap_seconds(limit: int) -> None:
    """Cap the processor time from here on; the signal that ends the process names the reason."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    end = math.ceil(used.ru_utime + used.ru_stime) + limit
    resource.setrlimit(resource.RLIMIT_CPU, (end, end + 5))


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]


if __name__ == "__main__":
    name, runner_name, units, time_cap, memory_cap = sys.argv[1:]
    limits = Caps(int(time_cap), int(memory_cap))
    print(json.dumps(asdict(measure(name, runner_name, int(units), limits))))
