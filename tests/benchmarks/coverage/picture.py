"""The picture of the study: coverage by the number of units, a line a method."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.coverage.intervals import LEVEL, UNITS
from tests.benchmarks.coverage.tables import Known, Pairs, results_of
from tests.benchmarks.race_picture import ACCENT, DPI, FAINT, GREY, INK, shrink

PANELS = {
    "Moderate agreement: alpha 0.4 and 0.7": (0.4, 0.7),
    "High agreement: alpha 0.9 and 0.97": (0.9, 0.97),
}
DARK = "#303030"
# Dashes and marks tell lines apart without colour, also where they nearly coincide.
STYLES: dict[str, tuple[str, Any, str, str]] = {
    "score": (ACCENT, "-", "o", "score"),
    "BCa": (GREY, (0, (5, 2)), "D", "bootstrap, BCa"),
    "t": (DARK, "-", "s", "t"),
    "jackknife": (DARK, (0, (1, 1.5)), "", "jackknife"),
    "percentile": (GREY, "-", "v", "bootstrap, percentile"),
}
HEIGHT, WIDTH = 4.0, 5.0  # inches, of one panel
LOW = 0.4


def draw(known: Known, path: Path) -> None:
    """Draw the designs in which all methods saw the same studies."""
    plt: Any = importlib.import_module("matplotlib.pyplot")
    pairs = [pair for pair in results_of(known) if pair[0].family == "resampled"]
    size = (WIDTH * len(PANELS), HEIGHT)
    figure, grid = plt.subplots(1, len(PANELS), figsize=size, sharey=True)
    for axes, (title, alphas) in zip(grid, PANELS.items(), strict=True):
        _frame(axes, title)
        for method in STYLES:
            _line(axes, [pair for pair in pairs if pair[0].alpha in alphas], method)
    legend = grid[0].legend(loc="lower right", fontsize=9, handlelength=3.2, labelcolor=INK)
    legend.get_frame().set(edgecolor="none", alpha=1)
    figure.tight_layout(w_pad=1.5)
    figure.savefig(path, dpi=DPI, facecolor="white")
    plt.close(figure)
    if path.suffix == ".png":
        shrink(path)


def _frame(axes: Any, title: str) -> None:
    """Draw what stands around the lines."""
    axes.set(xscale="log", xlim=(0.9 * UNITS[0], 1.1 * UNITS[-1]), ylim=(LOW, 1.005))
    axes.minorticks_off()
    axes.set_xticks(UNITS, [str(n) for n in UNITS], fontsize=8.5, color=INK)
    ticks = [*np.arange(LOW, 0.91, 0.1), LEVEL, 1.0]
    axes.set_yticks(ticks, [f"{100 * tick:.0f}%" for tick in ticks], fontsize=8.5, color=INK)
    axes.tick_params(length=0, labelleft=True)
    axes.spines[:].set_visible(False)
    for tick in ticks:
        wanted = tick == LEVEL
        axes.axhline(tick, color=INK if wanted else FAINT, linewidth=0.8, zorder=int(wanted))
    axes.set_title(title, loc="left", fontsize=11.5, color=INK, weight="bold", pad=24)
    what = "95% intervals that cover the true alpha"
    axes.text(0, 1.03, what, transform=axes.transAxes, fontsize=9, color=INK)
    axes.set_xlabel("units, 3 raters", fontsize=9, color=INK, loc="left")


def _line(axes: Any, pairs: Pairs, method: str) -> None:
    of_size = [[one for cell, one in pairs if cell.n_units == n] for n in UNITS]
    means = [float(np.mean([one.coverage(method) for one in found])) for found in of_size]
    colour, dashes, mark, name = STYLES[method]
    width, layer = (2.8, 4) if method == "score" else (1.3, 3)
    pen = {"color": colour, "linewidth": width, "linestyle": dashes, "zorder": layer}
    axes.plot(UNITS, means, marker=mark, markersize=3.6, label=name, **pen)
