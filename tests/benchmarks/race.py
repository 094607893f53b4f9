"""The race: ours and every installed peer on the same studies, from a hundred units to a million.

For each contest and size the tools take turns, each in its own process under a cap of time and
memory. A tool that stops at one size is not started at larger ones. Where a tool is absent, its row
says so. Processor seconds; ratios are of numbers from one run.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

import numpy as np

from tests.benchmarks import race_picture, race_worker
from tests.benchmarks.race_tools import CONTESTS, LIMIT, OURS
from tests.benchmarks.race_worker import Caps, Outcome
from tests.benchmarks.table import Row, duration, megabytes

SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
QUICK_SIZES = (100, 1_000)
QUICK_CONTESTS = ("masi",)
CAPS = Caps(seconds=60, n_bytes=4_000_000_000)
QUICK_CAPS = Caps(seconds=5, n_bytes=2_000_000_000)
TOLERANCE = 1e-9

Course: TypeAlias = Mapping[int, Outcome]


@dataclass(frozen=True)
class Result:
    """How the tools of one contest did.

    - contest: Its name in `CONTESTS`.
    - courses: For each tool its outcome at each size it started at; the last may be where it
      stopped.
    - caps: What a process could use.
    """

    contest: str
    courses: Mapping[str, Course]
    caps: Caps

    def finished(self, tool: str) -> dict[int, Outcome]:
        return {n: found for n, found in self.courses[tool].items() if found.status == "done"}

    def exponent(self, tool: str) -> float:
        """Return the growth of the time with the units, over the last decade that was finished."""
        found = self.finished(tool)
        tail = {n: one.seconds for n, one in found.items() if 10 * n >= max(found)}
        if len(tail) < 2:
            return math.nan
        return float(np.polyfit(np.log(list(tail)), np.log(list(tail.values())), 1)[0])

    def stop(self, tool: str) -> tuple[int, Outcome] | None:
        """Return where a tool stopped and why; None if it went all the way."""
        n_units, last = list(self.courses[tool].items())[-1]
        return None if last.status == "done" else (n_units, last)

    def title(self, tool: str) -> str:
        """Return the tool with its version, if it is there."""
        if self.courses[tool][min(self.courses[tool])].status == "absent":
            return tool
        return f"{tool} {version(CONTESTS[self.contest].tools[tool].package)}"


def race(*, quick: bool, picture: Path | None = None) -> Iterator[Row]:
    """Run the race, print a table of seconds a contest and draw the picture."""
    caps = QUICK_CAPS if quick else CAPS
    sizes = QUICK_SIZES if quick else SIZES
    names = QUICK_CONTESTS if quick else tuple(CONTESTS)
    results = [_run(name, sizes, caps) for name in names]
    print(*map(sheet, results), machine(), sep="\n\n", end="\n\n")
    if picture:
        race_picture.draw(results, picture)
    for result in results:
        yield from _rows(result)


def _run(contest: str, sizes: tuple[int, ...], caps: Caps) -> Result:
    """Return the result of one contest: for each size the tools in turn."""
    courses: dict[str, dict[int, Outcome]] = {tool: {} for tool in CONTESTS[contest].tools}
    going = list(courses)
    for n_units in sizes:
        for tool in list(going):
            start = time.perf_counter()
            found = race_worker.run(contest, tool, n_units, caps=caps)
            courses[tool][n_units] = found
            if found.status != "done":
                going.remove(tool)
            wall = time.perf_counter() - start
            print(
                f"  {contest} {tool} {n_units:.0e}: {found.status} {found.seconds:.4g} s "
                f"({found.wall:.4g} on the wall, {wall:.0f} with its input) {found.reason}",
                file=sys.stderr,
            )
    return Result(contest, courses, caps)


def sheet(result: Result) -> str:
    """Return one contest as a Markdown table: seconds by decade of units, growth, memory, stop."""
    ours = result.finished(OURS)
    sizes = [n for n in ours if round(math.log10(n), 6).is_integer()]
    head = ["seconds", *(f"{n:,} units" for n in sizes), "growth", "memory", "beside ours", "stops"]
    distinct = ["distinct sets", *(f"{ours[n].n_values:,}" for n in sizes), "", "", "", ""]
    lines = [head, ["---", *["--:"] * len(sizes), "--:", "--:", "--:", "---"], distinct]
    lines += [_line(result, tool, sizes) for tool in result.courses]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{CONTESTS[result.contest].title}\n\n{table}"


def _line(result: Result, tool: str, sizes: list[int]) -> list[str]:
    """Return the cells of one tool; memory and ratio are of the largest size it finished."""
    found = result.finished(tool)
    cells = [seconds(found[n].seconds) if n in found else "-" for n in sizes]
    if not found:
        return [result.title(tool), *cells, "", "", "", _stop(result, tool)]
    last = found[max(found)]
    growth = result.exponent(tool)
    ratio = last.seconds / result.courses[OURS][max(found)].seconds
    return [
        f"**{result.title(tool)}**" if tool == OURS else result.title(tool),
        *cells,
        "" if math.isnan(growth) else f"n^{growth:.2f}",
        megabytes(last.n_bytes),
        "" if tool == OURS else f"{times(ratio)} at {max(found):,}",
        _stop(result, tool),
    ]


def _stop(result: Result, tool: str) -> str:
    """Return where and why a tool stopped, in words."""
    stop = result.stop(tool)
    if stop is None:
        return ""
    n_units, found = stop
    if found.status == "absent":
        return "not installed" + (f"; {found.reason}" if found.reason else "")
    why = {
        "time": f"over {result.caps.seconds} s",
        "memory": f"over {result.caps.n_bytes / 1e9:.0f} GB",
        "refused": ": ".join(found.reason.split(": ")[:2]),
        "failed": found.reason,
    }
    return f"at {n_units:,}: {why[found.status]}"


def _rows(result: Result) -> Iterator[Row]:
    """Yield a row for each tool but ours."""
    ours = result.finished(OURS)
    for tool in result.courses:
        found = result.finished(tool)
        what = f"race, {result.contest}: {result.title(tool)}"
        if tool == OURS:
            yield _own(result)
        elif not found:
            yield Row(what, other=_stop(result, tool))
        else:
            largest = max(found)
            mine, other = ours[largest], found[largest]
            same = None if tool == LIMIT else _gap(ours, found) <= TOLERANCE
            yield Row(
                f"{what} at {largest:,} units",
                f"{duration(mine.seconds)}, {megabytes(mine.n_bytes)}",
                f"{duration(other.seconds)}, {megabytes(other.n_bytes)}",
                f"{times(other.seconds / mine.seconds)}",
                "" if same is None else f"same number to {TOLERANCE:.0e}",
                same,
            )


def _own(result: Result) -> Row:
    found = result.finished(OURS)
    growth = result.exponent(OURS)
    return Row(
        f"race, {result.contest}: {OURS} at {max(found):,} units",
        f"{duration(found[max(found)].seconds)}, growth n^{growth:.2f} over the last decade",
    )


def _gap(ours: Course, theirs: Course) -> float:
    """Return the largest difference of two estimates at one size."""
    return max(abs(ours[n].estimate - found.estimate) for n, found in theirs.items())


def seconds(value: float) -> str:
    """Return seconds with two figures, without a unit.

    Examples
    --------
    >>> seconds(0.00123), seconds(0.456), seconds(12.3)
    ('0.0012', '0.46', '12')
    """
    if value >= 9.95:
        return f"{value:,.0f}"
    digits = 1 - math.floor(math.log10(value))
    return f"{value:.{digits}f}"


def times(ratio: float) -> str:
    """Return a ratio as a factor with two figures.

    Examples
    --------
    >>> times(0.123), times(4.56), times(234.5)
    ('0.12 x', '4.6 x', '230 x')
    """
    figures = float(f"{ratio:.2g}")
    return f"{figures:,.0f} x" if figures >= 10 else f"{figures:.2g} x"


def machine() -> str:
    """Return what the race was run on, in one line."""
    cores = os.cpu_count()
    n_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return (
        f"{cores} cores{_processor()}, {n_bytes / 2**30:.0f} GB, one thread a process. Processor "
        "seconds of the call alone, input ready; memory is what the call adds to it."
    )


def _processor() -> str:
    """Return the name of the processor in brackets, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f" ({names[0]})" if names else ""
