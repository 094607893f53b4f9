"""Pictures of the units: which cost the agreement, how groups of them differ, how it goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.plots.base import (
    Rows,
    axes_or_new,
    beside,
    check_limit,
    draw_rows,
    estimates_column,
    fitting,
    heading,
    ink,
    label_x,
    label_y,
    list_axes,
    need_columns,
    nothing,
    picture,
    rows_height,
)
from setagree.plots.style import BLUE, FAINT, NAME_SIZE, floats, reasons, rescaled, texts
from setagree.scoring.names import measured
from setagree.wording.numbers import count, level_text, number, p_phrase, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 300
_WINDOWS, _FEW = 300, 60


@picture(takes="What `by_unit` returned.", most="units are drawn by name at most")
def units(frame: pd.DataFrame, *, limit: int = 30, ax: Axes | None = None) -> Axes:
    """Draw the disagreement of each unit.

    Up to ``limit`` units have a named bar each, the largest mean distance first. More become a
    curve of their shares of the disagreement, the largest share first, with a line at the rank up
    to which they hold half of it. A unit with a larger mean distance but fewer ratings can hold a
    smaller share.

    Examples
    --------
    >>> import pandas as pd
    >>> from setagree import plots
    >>> frame = pd.DataFrame({"unit": ["u7", "u2"], "disagreement": [1.0, 0.25],
    ...                       "share_of_disagreement": [0.8, 0.2]})
    >>> [name.get_text() for name in plots.units(frame).get_yticklabels()]
    ['u7', 'u2']
    """
    check_limit(limit)
    need_columns(frame, ("unit", "disagreement", "share_of_disagreement"), "units")
    ax = axes_or_new(ax, height=rows_height(len(frame), limit=limit) if len(frame) <= limit else 4)
    if not len(frame):
        heading(ax, "Disagreement unit by unit", measured(frame))
        return nothing(ax, "No unit has two ratings.")
    if len(frame) > fitting(ax, limit):
        return _unit_curve(ax, costliest_first(frame))
    values = np.nan_to_num(floats(frame, "disagreement"), nan=-1.0)
    return _unit_bars(ax, frame.iloc[np.argsort(-values, kind="stable")])


def costliest_first(frame: pd.DataFrame) -> pd.DataFrame:
    """Return units by their share of the disagreement, then by their mean distance."""
    worst = ["share_of_disagreement", "disagreement"]
    return frame.sort_values(worst, ascending=False, kind="stable")


def half_of(costly: pd.DataFrame) -> tuple[int, str]:
    """Return how many of the costliest units hold half of the disagreement, and a clause on it.

    Count all units that disagree if their shares are equal. Both the sentence and the picture of
    units use this count.
    """
    shares = np.nan_to_num(floats(costly, "share_of_disagreement"))
    held = shares[shares > 0]
    if len(held) > 1 and np.allclose(held, held[0], rtol=1e-9, atol=0):
        return len(held), "The disagreement lies in equal parts"
    running = np.cumsum(shares)
    n = int(np.searchsorted(running, 0.5 - 1e-12)) + 1
    part = float(running[n - 1])
    words = {"50": "Half", "100": "Almost all"}.get(f"{100 * part:.0f}", share(part))
    return n, f"{'All' if part > 1 - 1e-12 else words} of the disagreement lies"


def _unit_bars(ax: Axes, frame: pd.DataFrame) -> Axes:
    heading(ax, "Disagreement unit by unit", measured(frame), _held(frame, len(frame)))
    values = floats(frame, "disagreement")
    y = np.arange(len(values))
    ax.barh(y, np.nan_to_num(values), height=0.7, color=BLUE, alpha=0.6, edgecolor=BLUE)
    for row, value in enumerate(values):
        at = (float(np.nan_to_num(value)), row)
        beside(ax, number(value), at, (4, 0), of="data", size=8, loud=True)
    ax.set_xlim(0, 1.12 * max(float(np.nanmax(values, initial=0.0)), 1e-9))
    ax.set_ylim(len(y) - 0.4, -0.6)
    ax.set_yticks(y, texts(frame, "unit"), fontsize=NAME_SIZE, usetex=False)
    ax.tick_params(axis="y", length=0)
    label_x(ax, "mean distance among the ratings of the unit")
    return ax


def _unit_curve(ax: Axes, frame: pd.DataFrame) -> Axes:
    heading(
        ax,
        "Disagreement unit by unit, largest share first",
        measured(frame),
        *_curve_lines(frame),
    )
    values = np.nan_to_num(floats(frame, "share_of_disagreement"))
    n = len(values)
    at = np.unique(np.linspace(0, n - 1, min(n, _POINTS)).round().astype(int))
    ax.fill_between(at + 1, values[at], step="mid", color=BLUE, alpha=0.35, linewidth=0)
    ax.plot(at + 1, values[at], color=BLUE, linewidth=1.8, drawstyle="steps-mid")
    ax.set_xlim(1, n)
    ax.set_ylim(0, 1.25 * max(float(values.max()), 1e-9))
    # A frame with a part of the disagreement does not show where half of all of it is.
    if values.sum() > 0.999:
        half, lies = half_of(frame)
        ax.axvline(half, ymax=0.9, color=ink(ax), linestyle="--", linewidth=1)
        right = half < 0.5 * n
        text = f"{lies} in the first {half:,} ({share(half / n)})"
        shift, side = (5, "left") if right else (-5, "right")
        beside(ax, text, (half, 0.9), (shift, 0), of="column", ha=side, va="top", loud=True)
    ax.grid(axis="y", color=ink(ax), alpha=FAINT, linewidth=0.6)
    label_x(ax, f"units by rank, 1 to {n:,}")
    label_y(ax, "share of the disagreement")
    return ax


def _curve_lines(frame: pd.DataFrame) -> list[str]:
    values = floats(frame, "disagreement")
    share = np.nan_to_num(floats(frame, "share_of_disagreement"))
    top = int((share >= share.max()).sum())
    names = ", ".join(texts(frame.iloc[:3], "unit"))
    worst = f"They cost most: {names}." if top <= 3 else f"{top:,} tie for the largest share."
    zero = int((values == 0).sum())
    return [f"{worst} {zero:,} of {len(values):,} agree fully.", _held(frame, len(values))]


def _held(frame: pd.DataFrame, n: int) -> str:
    """Return what part of the disagreement is in the frame, where it is not all."""
    held = float(np.nansum(floats(frame, "share_of_disagreement")))
    return f"These {n:,} hold {share(held)} of the disagreement." if 0 < held < 0.999 else ""


@picture(
    takes="What `by_group` returned.", most="groups are drawn at most: those with the most units"
)
def groups(
    frame: pd.DataFrame, *, level: float = 0.95, limit: int = 40, ax: Axes | None = None
) -> Axes:
    """Draw the agreement within each group of units, with intervals.

    Examples
    --------
    >>> import pandas as pd
    >>> from setagree import plots
    >>> frame = pd.DataFrame({"group": ["May", "June"], "estimate": [0.4, 0.6], "low": [0.3, 0.5],
    ...                       "high": [0.5, 0.7], "n_units": [100, 120],
    ...                       "homogeneity_p_value": [0.01, 0.01]})
    >>> [name.get_text() for name in plots.groups(frame).get_yticklabels()]
    ['May', 'June']
    """
    check_limit(limit)
    need_columns(frame, ("group", "estimate", "low", "high", "n_units"), "groups")
    what = "groups with the most units"
    ax, shown, note = list_axes(frame, ax, limit=limit, by="n_units", what=what)
    heading(ax, "Agreement within each group", *_group_lines(frame, level), note)
    if not len(frame):
        return nothing(ax, "There are no groups.")
    low, high = floats(shown, "low"), floats(shown, "high")
    rows = Rows(texts(shown, "group"), floats(shown, "estimate"), low, high, reasons(shown))
    rows.columns["units"] = [count(x) for x in floats(shown, "n_units")]
    rows.columns["estimate (interval)"] = estimates_column(rows)
    draw_rows(ax, rows)
    label_x(ax, measured(frame) or "agreement")
    return ax


def _group_lines(frame: pd.DataFrame, level: float) -> list[str]:
    what = measured(frame)
    p = floats(frame, "homogeneity_p_value")
    known = p[np.isfinite(p)]
    tested = f"One test that all groups agree alike: {p_phrase(known[0])}." if len(known) else ""
    if not tested and "no_test" in frame and isinstance(why := frame["no_test"].iloc[0], str):
        tested = f"Whether the groups differ cannot be tested: {why}."
    return [f"{f'{what}, lines' if what else 'Lines'}: {level_text(level)} intervals.", tested]


@picture(takes="What `over_time` returned; ``start`` and ``end`` are times or numbers.")
def over_time(frame: pd.DataFrame, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the agreement in windows of time, with intervals and how many units there are.

    Each window stands at its middle. Windows without an estimate leave a gap, and so does time that
    no window covers.

    Examples
    --------
    >>> import pandas as pd
    >>> from setagree import plots
    >>> frame = pd.DataFrame({"start": [0, 10], "end": [10, 20], "estimate": [0.4, 0.6],
    ...                       "low": [0.3, 0.5], "high": [0.5, 0.7], "n_units": [100, 120]})
    >>> plots.over_time(frame).lines[0].get_xydata().tolist()
    [[5.0, 0.4], [15.0, 0.6]]
    """
    need_columns(frame, ("start", "end", "estimate", "low", "high", "n_units"), "over_time")
    ax = axes_or_new(ax, height=3.8)
    spread = np.linspace(0, len(frame) - 1, min(len(frame), _WINDOWS)).round().astype(int)
    shown, runs = frame.iloc[spread], unbroken(frame)[spread]
    note = f"{len(shown):,} windows spread evenly, of {len(frame):,}."
    what = measured(frame) or "Estimate"
    line = f"{what}, in windows of time, band: {level_text(level)} interval."
    heading(ax, "Agreement over time", line, note if len(shown) < len(frame) else "")
    if not len(frame):
        return nothing(ax, "There are no windows.")
    _line_with_band(ax, shown, runs)
    _counts_below(ax, shown)
    label_y(ax, measured(frame) or "agreement")
    return ax


def _line_with_band(ax: Axes, frame: pd.DataFrame, runs: npt.NDArray[np.intp]) -> None:
    breaks = np.flatnonzero(np.diff(runs)) + 1
    x = np.insert(middles(frame), breaks, middles(frame)[breaks])
    values, low, high = (
        np.insert(floats(frame, name), breaks, np.nan) for name in ("estimate", "low", "high")
    )
    marker = "o" if len(frame) <= _FEW else ("." if len(frame) <= 2 * _FEW else "")
    ax.plot(x, values, color=BLUE, marker=marker, markersize=4.5, linewidth=1.6, zorder=3)
    ax.fill_between(x, low, high, color=BLUE, alpha=0.2, linewidth=0)
    if len(frame) <= _FEW:
        ax.vlines(x, low, high, color=BLUE, alpha=0.5, linewidth=1)
    known = np.concatenate([values, low, high, [0.0]])
    known = known[np.isfinite(known)]
    bottom, top = float(known.min()), float(known.max()) or 1.0
    ax.set_ylim(bottom - 0.3 * (top - bottom), top + 0.06 * (top - bottom))
    ax.axhline(0, color=ink(ax), alpha=0.5, linewidth=0.8)
    ax.grid(axis="y", color=ink(ax), alpha=FAINT, linewidth=0.6)
    if np.issubdtype(x.dtype, np.datetime64):
        _date_ticks(ax)
    label_x(ax, "middle of the window" if known_times(frame) else "windows, in order")


def _counts_below(ax: Axes, frame: pd.DataFrame) -> None:
    """Draw how many units each window has, along the lower edge."""
    counts = floats(frame, "n_units")
    most = float(np.nanmax(counts, initial=0.0))
    heights = 0.14 * rescaled(np.nan_to_num(counts), most)
    across = ax.get_xaxis_transform()
    ax.vlines(middles(frame), 0, heights, transform=across, color=ink(ax), alpha=0.35, linewidth=2)
    beside(ax, f"units, at most {count(most)}", (0, 0.16), (4, 0), size=7.5, va="bottom")


def _date_ticks(ax: Axes) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator()  # type: ignore[no-untyped-call]  # matplotlib's dates have no types
    ax.xaxis.set_major_locator(locator)
    written = ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]  # the same
    ax.xaxis.set_major_formatter(written)


def middles(frame: pd.DataFrame) -> npt.NDArray[Any]:
    """Return the middle of each window: numbers, times without a zone, or its place in the list."""
    if not known_times(frame):
        return np.arange(len(frame), dtype=np.float64)
    if pd.api.types.is_numeric_dtype(frame["start"]):
        return (floats(frame, "start") + floats(frame, "end")) / 2
    middle = frame["start"] + (frame["end"] - frame["start"]) / 2
    return np.asarray((middle.dt.tz_localize(None) if middle.dt.tz else middle).to_numpy())


def unbroken(frame: pd.DataFrame) -> npt.NDArray[np.intp]:
    """Return for each window how many times before it no window covered the time."""
    if not known_times(frame) or not len(frame):
        return np.zeros(len(frame), dtype=np.intp)
    start, end = frame["start"].to_numpy(), frame["end"].to_numpy()
    return np.append(0, np.cumsum(start[1:] > end[:-1])).astype(np.intp)


def known_times(frame: pd.DataFrame) -> bool:
    """Say whether the windows start and end at numbers or at times."""
    kinds = (pd.api.types.is_numeric_dtype, pd.api.types.is_datetime64_any_dtype)
    return any(known(frame["start"]) and known(frame["end"]) for known in kinds)
