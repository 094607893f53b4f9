"""The shapes of plots: rows of estimates or bars, a matrix, a curve, and a map of points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import Floats
from setagree.errors import counted
from setagree.plots.base import (
    BLUE,
    FAINT,
    NAME_SIZE,
    ORANGE,
    WRITTEN,
    axes_or_new,
    fitting,
    floats,
    heading,
    inches,
    ink,
    is_broad,
    label_x,
    largest,
    rows_height,
    show_message,
    wrapped,
    write_text,
)
from setagree.wording.number_format import interval, number
from setagree.wording.sentences import LONGEST, cut, short_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FOR_TEXT = 0.77
"""Largest part of the width next to the names of a list that columns of text take."""

# ---- Rows ----------------------------------------------------------------------------------------


def draw_rows(
    frame: pd.DataFrame,
    ax: Axes | None,
    *,
    names: Sequence[str],
    title: str,
    lines: Iterable[str],
    label: str,
    selection: str,
    by: str = "",
    order: str = "",
    marks: tuple[str, str, str] = ("estimate", "low", "high"),
    second: str = "",
    columns: Mapping[str, tuple[str, Callable[[Any], str]]] | None = None,
    intervals: str = "",
    first: Mapping[str, Any] | None = None,
    room: int = 0,
    origin: float = 0.0,
    undefined: str = "",
) -> tuple[Axes, pd.DataFrame]:
    """Draw a dot with its interval in each row, from the top, and return the rows that fit.

    If not all fit, those with the largest absolute value in the column ``by`` are drawn, or else
    the first, and a note names the ``selection``. They are in the order of the column ``order``, or
    of the frame. ``marks`` are the columns of the estimate and of the ends of its interval, which
    is dashed if the row has a ``remark`` (that it is rough); ``second`` is that of another estimate
    (a hollow diamond). ``columns`` maps the title of a column of text to its column and the format
    of a value, ``intervals`` is the title of a last one with estimates and intervals. ``first`` is
    an additional row at the top, ``room`` the number of further rows for which a new figure has
    space, ``undefined`` the reason for an empty plot.
    """
    ax = axes_or_new(ax, height=rows_height(len(frame) + room))
    n = fitting(ax)
    weight = np.abs(floats(frame, by)) if by else -np.arange(len(frame), dtype=float)
    chosen = largest(weight, n)
    if order:
        chosen = chosen[np.argsort(floats(frame, order)[chosen], kind="stable")]
    shown = frame.iloc[:0] if undefined else frame.iloc[chosen]
    written = [names[row] for row in chosen]
    table = shown
    if first is not None:
        written = [first["name"], *written]
        used = [name for name in frame.columns if name in first]
        table = pd.DataFrame({name: [first[name], *shown[name]] for name in used})
    remarks = [*table["remark"]] if "remark" in table.columns else [None] * len(table)
    is_rough = ~pd.isna(remarks)
    note = f"The {n:,} {selection}, of {len(frame):,}." if len(frame) > n else ""
    heading(ax, title, *lines, "Dashed: rough intervals." if is_rough.any() else "", note)
    if undefined:
        return show_message(ax, undefined), shown
    y = np.arange(len(table))
    values, low, high = (floats(table, name) for name in marks)
    cells = _fitting(ax, written, _text_columns(table, columns or {}, intervals, marks))
    left, right = span(np.append(values, floats(table, second)), low, high, origin)
    ax.axvline(origin, color=ink(ax), alpha=0.5, linewidth=0.8, zorder=1)
    styles: tuple[Any, ...] = ("-", (0, (2, 1.2)))
    for rows, style in zip((~is_rough, is_rough), styles, strict=True):
        ends = y[rows], low[rows], high[rows]
        ax.hlines(*ends, color=BLUE, linewidth=1.8, linestyles=style, zorder=2)
    ax.plot(values, y, "o", color=BLUE, markersize=5.5, zorder=3)
    if second:
        (line,) = ax.plot(floats(table, second), y, "D", color=ink(ax), markersize=4.5, zorder=3)
        line.set_fillstyle("none")
    # An arrow marks an interval that ends outside the plot.
    for beyond, edge, mark in ((low < left, left, "<"), (high > right, right, ">")):
        at = np.flatnonzero(beyond)
        if len(at):
            x = np.full(len(at), edge)
            ax.plot(x, at, mark, color=BLUE, markersize=5, clip_on=False, zorder=4)
    ax.set_xlim(left, right)
    ax.grid(axis="x", color=ink(ax), alpha=FAINT, linewidth=0.6)
    _name_rows(ax, written, label, header=bool(cells))
    reasons = [*table["reason"]] if "reason" in table.columns else [None] * len(table)
    for row in np.flatnonzero(np.isnan(values)).tolist():
        reason = "" if pd.isna(reasons[row]) else f": {reasons[row]}"
        text = short_text(f"undefined{reason}", limit=44)
        write_text(ax, text, (0.01, row), (0, 0), size=7.5, of="row")
    write_columns(ax, cells)
    return ax, shown


def _text_columns(
    table: pd.DataFrame,
    columns: Mapping[str, tuple[str, Callable[[Any], str]]],
    intervals: str,
    marks: tuple[str, str, str],
) -> dict[str, list[str]]:
    """Return the texts of each column, the last one such as ``0.403 (0.064 to 0.741)``."""
    cells = {
        title: [*map(words, table[name] if words is str else floats(table, name))]
        for title, (name, words) in columns.items()
    }
    if intervals:
        cells[intervals] = [
            f"{number(value)} ({interval(low, high)})" if np.isfinite(low) else number(value)
            for value, low, high in zip(*(floats(table, name) for name in marks), strict=True)
        ]
    return cells


def span(values: Floats, low: Floats, high: Floats, origin: float) -> tuple[float, float]:
    """Return the limits: all estimates and the origin, and intervals as far as they help."""
    values = np.append(values[np.isfinite(values)], origin)
    halves = (high - low)[np.isfinite(high - low)] / 2
    reach = max(float(np.ptp(values)), 2 * float(np.median(halves)) if len(halves) else 0.0)
    reach = reach or 1.0
    low, high = (ends[np.isfinite(ends)] for ends in (low, high))
    left = max(min(values.min(), low.min(initial=np.inf)), values.min() - reach)
    right = min(max(values.max(), high.max(initial=-np.inf)), values.max() + reach)
    pad = 0.04 * (right - left) or 0.5 * reach
    return float(left - pad), float(right + pad)


def draw_bars(
    ax: Axes,
    names: Sequence[str],
    lengths: Floats,
    *,
    label: str,
    more: Floats | None = None,
    room: float = 1.04,
    columns: Mapping[str, list[str]] | None = None,
) -> None:
    """Draw a bar in each row, from the top, and ``more`` as a hatched bar at its end.

    The horizontal axis is ``room`` times as long as the longest bar.
    """
    y, ends = np.arange(len(names)), np.nan_to_num(lengths)
    ax.barh(y, ends, height=0.7, color=BLUE, alpha=0.6, edgecolor=BLUE)
    if more is not None:
        ax.barh(y, more, left=ends, height=0.7, fill=False, edgecolor=ORANGE, hatch="////")
        ends = ends + more
    columns = _fitting(ax, names, columns or {})
    ax.set_xlim(0, room * max(float(ends.max(initial=0.0)), 1e-9))
    _name_rows(ax, names, label, header=bool(columns))
    write_columns(ax, columns)


def _name_rows(ax: Axes, names: Sequence[str], label: str, *, header: bool) -> None:
    """Name the rows and the horizontal axis, with room for the titles of columns of text."""
    ax.set_axisbelow(True)
    ax.set_ylim(len(names) - 0.4, -1.4 if header else -0.6)
    ax.set_yticks(range(len(names)), names, fontsize=NAME_SIZE, usetex=False)
    ax.tick_params(axis="y", length=0, pad=7)
    ax.locator_params(axis="x", nbins=6 if is_broad(ax) else 3 if header else 4)
    ax.spines["left"].set_visible(False)
    label_x(ax, label)


def _fitting(
    ax: Axes, names: Sequence[str], columns: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    """Return the last columns of text, the most important ones, that leave room for the marks."""
    room = _FOR_TEXT * (72 * inches(ax) - 5 * max(map(len, names), default=0))
    widths = np.array([_column_width(*column) for column in columns.items()])
    taken = np.cumsum(widths[::-1])[::-1]
    kept = zip(columns.items(), taken.tolist(), strict=True)
    return dict(column for column, width in kept if width <= room)


def _column_width(name: str, cells: Sequence[str]) -> float:
    """Return the width of a column of text in points."""
    return 4.6 * max(map(len, (name, *cells))) + 10


def write_columns(ax: Axes, columns: Mapping[str, list[str]]) -> None:
    """Write columns of text to the right of the axes, aligned on the right."""
    end = 6.0
    for name, cells in columns.items():
        end += _column_width(name, cells)
        write_text(ax, name, (1, -1), (end, 0), size=8, ha="right", of="row")
        for row, text in enumerate(cells):
            write_text(ax, text, (1, row), (end, 0), size=8, ha="right", of="row", loud=True)


# ---- Matrix --------------------------------------------------------------------------------------

UNDEFINED = "·"
"""Text of a cell without a number."""

_FEW, _FEW_NARROW = 12, 6
"""Number of columns that fill wide and narrow axes: the cells of fewer columns would be bars."""


def draw_matrix(
    ax: Axes,
    strength: Floats,
    texts: Sequence[Sequence[str]],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    key: tuple[str, str],
) -> None:
    """Draw a matrix in one colour that fades into the page, negative cells in the other.

    ``strength`` is from -1 to 1, or NaN for a blank cell. If the texts do not fit in the cells,
    they are omitted, and a scale shows ``key``, the meaning of the darkest and the lightest cell.
    """
    ax.imshow(_shades(strength), interpolation="none", aspect="auto", zorder=1)
    across = max(len(columns), _FEW if is_broad(ax) else _FEW_NARROW)
    ax.set_xlim(-0.5, across - 0.5)
    size = 7.0 if max(strength.shape) > WRITTEN else NAME_SIZE
    names = [cut(name, LONGEST - 8) for name in columns]
    ax.set_xticks(range(len(names)), names, fontsize=size, rotation=90, usetex=False)
    ax.set_yticks(range(len(rows)), rows, fontsize=size, usetex=False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    longest = max((len(text) for row in texts for text in row), default=0)
    points = 72 * inches(ax)
    written = np.array(texts, dtype=object)
    if across * max(longest, 3) * 5.0 <= points and len(rows) <= WRITTEN:
        for (i, j), text in np.ndenumerate(written):
            ax.text(j, i, text, ha="center", va="center", fontsize=7, color=ink(ax), usetex=False)
        return
    # Forms, in addition to colours, mark negative and undefined cells.
    for is_marked, mark in ((strength < 0, "_"), (written == UNDEFINED, ".")):
        i, j = np.nonzero(is_marked)
        ax.plot(j, i, mark, color=ink(ax), alpha=0.6, markersize=3.5, zorder=2)
    bar = ax.inset_axes((1.04, 0.6, 0.03, 0.4))
    bar.imshow(_shades(np.linspace(1, 0, 64)[:, None]), aspect="auto", extent=(0, 1, 0, 1))
    bar.yaxis.tick_right()
    bar.set_xticks([])
    bar.set_yticks([1, 0], key, fontsize=7.5, usetex=False)
    bar.tick_params(length=0)
    bar.spines[:].set_visible(False)


def _shades(strength: Floats) -> Floats:
    """Return the colours of cells, shape (..., 4): more opaque if strong, transparent if NaN.

    At most 0.8 opaque, so that the text of a cell has a contrast of 4.5 to 1 on a dark page, too.
    """
    from matplotlib.colors import to_rgb

    out = np.zeros((*strength.shape, 4))
    out[..., :3] = to_rgb(BLUE)
    out[strength < 0, :3] = to_rgb(ORANGE)
    shown = 0.06 + 0.74 * np.minimum(np.abs(strength), 1)
    out[..., 3] = np.nan_to_num(shown, nan=0.0)
    return out


# ---- Curve ---------------------------------------------------------------------------------------


def draw_curve(
    ax: Axes,
    x: npt.NDArray[Any],
    y: Floats,
    low: Floats | float,
    high: Floats,
    *,
    form: str = "-",
    colour: str = BLUE,
    band: float = 0.15,
    whiskers: bool = False,
    steps: bool = False,
    name: str | None = None,
) -> None:
    """Draw a line with a band from ``low`` to ``high``, and grid lines behind it."""
    between: Literal["mid"] | None = "mid" if steps else None
    line = "steps-mid" if steps else "default"
    ax.fill_between(x, low, high, step=between, color=colour, alpha=band, linewidth=0)
    ax.plot(x, y, form, color=colour, markersize=4.5, linewidth=1.6, drawstyle=line, label=name)
    if whiskers:
        ax.vlines(x, low, high, color=colour, alpha=0.5, linewidth=0.8)
    ax.grid(axis="y", color=ink(ax), alpha=FAINT, linewidth=0.6)


def label_axes(ax: Axes, across: str, up: str) -> Axes:
    """Name both axes, and return them."""
    label_x(ax, across)
    ax.set_ylabel(up, fontsize=NAME_SIZE, usetex=False)
    ax.tick_params(axis="y", labelsize=NAME_SIZE)
    return ax


def mark_half(ax: Axes, at: float, end: float, text: str) -> None:
    """Draw a dashed line at a place of a curve that ends at ``end``, with a text next to it."""
    ax.axvline(at, ymax=0.9, color=ink(ax), linestyle="--", linewidth=1)
    shift, side = (5, "left") if at < 0.5 * end else (-5, "right")
    text = text if is_broad(ax) else wrapped([text], width=28)
    write_text(ax, text, (at, 0.9), (shift, 0), of="column", ha=side, va="top", loud=True)


# ---- Map -----------------------------------------------------------------------------------------

_FORMS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Forms of the clusters, which differ in addition to the colours."""

_LETTER, _LINE = 4.6, 10.0
"""Width in points of a letter of a name, and height of a line."""

MAX_NAME = 22
"""Largest width of a name on the map, in columns of type."""

Spot = tuple[tuple[float, float], str]


def draw_points(ax: Axes, points: Floats, clusters: npt.NDArray[np.integer]) -> None:
    """Draw points with one scale for both axes, and a key of the clusters.

    Every cluster has its own form.
    """
    sizes = np.unique(clusters, return_counts=True)
    for k, (cluster, size) in enumerate(zip(*sizes, strict=True)):
        ax.plot(
            *points[clusters == cluster].T,
            _FORMS[k % len(_FORMS)],
            color=(BLUE, ORANGE)[k % 2],
            fillstyle="full" if k < 4 else "none",
            markersize=6.5,
            alpha=0.85,
            zorder=3,
            label=f"cluster {cluster}: {counted(int(size), 'rater')}",
        )
    if len(sizes[0]) > 1:
        # Below narrow axes, the key leaves room for the name of the horizontal axis.
        place, pad = ((1.0, 1.0), 0.2) if is_broad(ax) else ((0.0, 0.0), 6.0)
        options = {"frameon": False, "fontsize": 8, "labelcolor": ink(ax), "handletextpad": 0.3}
        ax.legend(loc="upper left", bbox_to_anchor=place, borderaxespad=pad, **options)
    box = ax.get_window_extent()
    low, high = points.min(axis=0), points.max(axis=0)
    # Names need a margin, wider than high.
    extent = (high - low) * (1.35, 1.2)
    unit = max(extent[0] / box.width, extent[1] / box.height) or 1 / box.width
    half = 0.5 * unit * np.array([box.width, box.height])
    (left, bottom), (right, top) = (low + high) / 2 - half, (low + high) / 2 + half
    # The aspect may widen the limits after the layout.
    ax.set_xlim(left, right, auto=True)
    ax.set_ylim(bottom, top, auto=True)
    ax.set_aspect("equal", adjustable="datalim")
    ax.locator_params(nbins=6)
    ax.grid(color=ink(ax), alpha=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)


_MAX_NAMES = 40
"""Largest number of points with a name."""


def free_spots(ax: Axes, points: Floats, names: Sequence[str], priority: Floats) -> dict[int, Spot]:
    """Return the positions of the names that fit, relative to their points.

    Names are placed in free space to the right, left, above or below; points of the largest
    priority come first.
    """
    scale = 72 / ax.figure.dpi
    at = ax.transData.transform(points) * scale
    box = ax.get_window_extent()
    edges = np.array([box.x0, box.y0, box.x1, box.y1]) * scale
    taken = np.column_stack([at - 3.5, at + 3.5])
    spots: dict[int, Spot] = {}
    for k in np.argsort(-np.nan_to_num(priority), kind="stable").tolist():
        width = _LETTER * min(len(names[k]), MAX_NAME) + 2
        found = _free_spot(at[k], width, taken, edges)
        if len(spots) < _MAX_NAMES and found is not None:
            spots[k], area = found
            taken = np.vstack([taken, area])
    return spots


def _free_spot(
    at: Floats, width: float, taken: Floats, edges: Floats
) -> tuple[Spot, Floats] | None:
    """Return a free position inside the axes for a name of that width, with its area."""
    x, y = at
    half = _LINE / 2
    spots = [
        ((6.0, 0.0), "left", (x + 5, y - half, x + 5 + width, y + half)),
        ((-6.0, 0.0), "right", (x - 5 - width, y - half, x - 5, y + half)),
        ((0.0, 10.0), "center", (x - width / 2, y + 5, x + width / 2, y + 5 + _LINE)),
        ((0.0, -10.0), "center", (x - width / 2, y - 5 - _LINE, x + width / 2, y - 5)),
    ]
    for shift, side, corners in spots:
        area = np.array(corners)
        is_inside = (area[:2] >= edges[:2]).all() and (area[2:] <= edges[2:]).all()
        is_apart = (taken[:, :2] >= area[2:]) | (taken[:, 2:] <= area[:2])
        if is_inside and is_apart.any(axis=1).all():
            return (shift, side), area
    return None
