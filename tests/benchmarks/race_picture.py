"""The picture of the race: seconds over units, both axes logarithmic, a line a tool."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.benchmarks.race_tools import LIMIT, OURS

if TYPE_CHECKING:
    from tests.benchmarks.race import Result

TITLES = {
    "masi": "Sets of labels: alpha with MASI",
    "single": "One label each: nominal alpha",
}
HEIGHT, WIDTH = 4.9, 5.0  # inches, of one panel
DPI = 160
COLOURS = 48
INK, GREY, FAINT, ACCENT = "#222222", "#767676", "#e4e4e4", "#b3001b"
LEFT, END, RIGHT = 70, 1_300_000, 30_000_000  # units; names stand right of the end
LOW, HIGH = 1e-4, 150  # seconds
APART = 1.7  # factor between the names of two lines
# Dashes and marks tell the peers apart without colour.
STYLES: dict[str, tuple[str, Any, str]] = {
    OURS: (ACCENT, "-", "o"),
    LIMIT: (GREY, (0, (1, 1.5)), ""),
    "NLTK": ("#303030", "-", "s"),
    "crowd-kit": (GREY, (0, (5, 2)), "D"),
    "simpledorff": ("#303030", (0, (5, 2)), "^"),
    "irrCAC": (GREY, "-", "v"),
    "krippendorff": ("#303030", (0, (4, 1.5, 1, 1.5)), "P"),
}
NAMES = {LIMIT: "limit: pandas.factorize", "crowd-kit": "crowd-kit (calls NLTK)"}
TICKS = {1e-4: "0.1 ms", 1e-3: "1 ms", 1e-2: "10 ms", 0.1: "0.1 s", 1: "1 s", 10: "10 s"}


def draw(results: Sequence[Result], path: Path) -> None:
    """Draw the contests that have a title side by side."""
    plt: Any = importlib.import_module("matplotlib.pyplot")
    shown = [result for result in results if result.contest in TITLES]
    size = (WIDTH * len(shown), HEIGHT)
    figure, grid = plt.subplots(1, len(shown), figsize=size, sharey=True, squeeze=False)
    for axes, result in zip(grid[0], shown, strict=True):
        _frame(axes, result)
        for tool in result.courses:
            _line(axes, result, tool)
        _names(axes, result)
    figure.tight_layout(w_pad=1.5)
    figure.savefig(path, dpi=DPI, facecolor="white")
    plt.close(figure)
    if path.suffix == ".png":
        shrink(path)


def shrink(path: Path) -> None:
    """Write a PNG file again with few colours, a third of the bytes; Pillow is matplotlib's own."""
    pillow: Any = importlib.import_module("PIL.Image")
    pillow.open(path).convert("RGB").quantize(COLOURS).save(path, optimize=True)


def _frame(axes: Any, result: Result) -> None:
    """Draw what stands around the lines."""
    axes.set(xscale="log", yscale="log", xlim=(LEFT, RIGHT), ylim=(LOW, HIGH))
    axes.minorticks_off()
    ours = result.finished(OURS)
    sizes = [n for n in ours if round(math.log10(n), 6).is_integer()]
    words = [f"{_short(n)}\n({_short(ours[n].n_values)})" for n in sizes]
    axes.set_xticks(sizes, words, fontsize=8.5, color=INK)
    axes.set_yticks(list(TICKS), list(TICKS.values()), fontsize=8.5, color=INK)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.hlines(list(TICKS), LEFT, END, color=FAINT, linewidth=0.8, zorder=0)
    axes.hlines(result.caps.seconds, LEFT, END, color=GREY, linewidth=0.8, zorder=0)
    axes.annotate(
        f"cap: {result.caps.seconds} s and {result.caps.n_bytes / 1e9:.0f} GB",
        (LEFT, result.caps.seconds),
        xytext=(2, 3),
        textcoords="offset points",
        fontsize=8.5,
        color=GREY,
    )
    axes.set_title(TITLES[result.contest], loc="left", fontsize=11.5, color=INK, weight="bold")
    what = "sets" if result.contest == "masi" else "labels"
    axes.set_xlabel(f"units, 3 raters (distinct {what})", fontsize=9, color=INK, loc="left")


def _short(number: int) -> str:
    """Return a number with two or three figures, thousands as k."""
    if number >= 1_000_000:
        return f"{number / 1e6:.0f}M"
    if number >= 10_000:
        return f"{number / 1e3:.0f}k"
    return f"{number / 1e3:.2g}k" if number >= 1_000 else f"{number}"


def _line(axes: Any, result: Result, tool: str) -> None:
    """Draw the times of one tool, a cross where it stops."""
    times = _times(result, tool)
    if not times:
        return
    colour, dashes, mark = STYLES[tool]
    width = 2.8 if tool == OURS else 1.3
    layer = 4 if tool == OURS else 3
    pen = {"color": colour, "linewidth": width, "linestyle": dashes, "zorder": layer}
    axes.plot(list(times), list(times.values()), marker=mark, markersize=3.6, **pen)
    if result.stop(tool) is not None:
        end = max(times)
        axes.plot(end, times[end], marker="x", markersize=9, markeredgewidth=2, color=colour)


def _names(axes: Any, result: Result) -> None:
    """Write each tool's name at the end of its line, and why it stops there."""
    ends = {}
    for tool in result.courses:
        times = _times(result, tool)
        if times:
            ends[tool] = (max(times), times[max(times)])
    top = result.caps.seconds / 2  # below the line of the cap
    heights = _spread({tool: min(height, top) for tool, (_, height) in ends.items()})
    # Beside the end where no other line passes there, else beside the longest line.
    apart = max((x for x, _ in ends.values() if x < 100_000), default=0)
    for tool, (x, y) in ends.items():
        colour = STYLES[tool][0]
        place = 2.2 * (x if x >= 1_000_000 else apart or 1_000_000)
        axes.annotate(
            _name(result, tool),
            (x, y),
            xytext=(place, heights[tool]),
            va="center",
            fontsize=10.5 if tool == OURS else 9,
            color=colour,
            weight="bold" if tool == OURS else "normal",
            linespacing=1.05,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkB": 5},
        )


def _name(result: Result, tool: str) -> str:
    """Return a tool's name with the reason why it stops."""
    name = NAMES.get(tool, tool)
    stop = result.stop(tool)
    if stop is None:
        return name
    n_units, found = stop
    why = {
        "time": f"over {result.caps.seconds} s",
        "memory": f"over {result.caps.n_bytes / 1e9:.0f} GB",
        "refused": "refuses",
        "failed": "fails",
    }
    return f"{name}: {why[found.status]} at {_short(n_units)}"


def _times(result: Result, tool: str) -> dict[int, float]:
    return {n: found.seconds for n, found in result.finished(tool).items()}


def _spread(heights: Mapping[str, float]) -> dict[str, float]:
    """Push heights apart until neighbours differ by `APART`, each as little as can be."""
    order = sorted(heights, key=lambda name: heights[name])
    logs = [math.log(heights[name]) for name in order]
    gap = math.log(APART)
    for _ in range(1000):
        for low in range(len(logs) - 1):
            short = gap - (logs[low + 1] - logs[low])
            if short > 1e-9:
                logs[low] -= short / 2
                logs[low + 1] += short / 2
    return {name: math.exp(height) for name, height in zip(order, logs, strict=True)}
