"""Plots of units, raters and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.plots.answers import UNDEFINED, Cells, draw_cells
from setagree.plots.base import (
    BLUE,
    CELL,
    FAINT,
    NAME_SIZE,
    Floats,
    Rows,
    axes_or_new,
    beside,
    cells_height,
    check_limit,
    coded,
    draw_rows,
    estimates_column,
    fitting,
    floats,
    heading,
    ink,
    is_narrow,
    label_x,
    label_y,
    largest,
    list_axes,
    need_columns,
    nothing,
    picture,
    reasons,
    rescaled,
    rows_height,
    texts,
)
from setagree.scoring.coefficients import measured
from setagree.wording.number_format import MINUS, count, level_text, number, p_phrase, share
from setagree.wording.sentences import short_text

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
        heading(ax, "Disagreement per unit", measured(frame))
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
    """Return the number of units with half of the disagreement, and a clause on it.

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
    heading(ax, "Disagreement per unit", measured(frame), _held(frame, len(frame)))
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
    values = np.nan_to_num(floats(frame, "share_of_disagreement"))
    n, text = len(values), ""
    # A frame with a part of the disagreement does not show where half of all of it is.
    if values.sum() > 0.999:
        half, lies = half_of(frame)
        text = f"{lies} in the first {half:,} ({share(half / n)})"
    title = "Disagreement per unit, largest share first"
    # The text next to the line does not fit narrow axes.
    above = [f"Dashed: {text}."] if text and is_narrow(ax) else []
    heading(ax, title, measured(frame), *_curve_lines(frame), *above)
    at = np.unique(np.linspace(0, n - 1, min(n, _POINTS)).round().astype(int))
    ax.fill_between(at + 1, values[at], step="mid", color=BLUE, alpha=0.35, linewidth=0)
    ax.plot(at + 1, values[at], color=BLUE, linewidth=1.8, drawstyle="steps-mid")
    ax.set_xlim(1, n)
    ax.set_ylim(0, 1.25 * max(float(values.max()), 1e-9))
    if text:
        ax.axvline(half, ymax=0.9, color=ink(ax), linestyle="--", linewidth=1)
    if text and not above:
        right = half < 0.5 * n
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
    """Return a clause on the share of the disagreement in the frame, or a blank if it is all."""
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

    Each window is drawn at its middle. Windows without an estimate and times without a window
    leave gaps.

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
    """Return whether the windows start and end at numbers or at times."""
    kinds = (pd.api.types.is_numeric_dtype, pd.api.types.is_datetime64_any_dtype)
    return any(known(frame["start"]) and known(frame["end"]) for known in kinds)


@picture(
    takes="What `by_rater` returned.",
    most="raters are drawn at most: those with the largest change, up or down",
)
def raters(
    frame: pd.DataFrame, *, level: float = 0.95, limit: int = 40, ax: Axes | None = None
) -> Axes:
    """Draw how the coefficient changes when each rater is left out.

    Examples
    --------
    >>> import pandas as pd
    >>> from setagree import plots
    >>> frame = pd.DataFrame({"rater": ["ann", "ben"], "change": [0.05, -0.02],
    ...                       "change_low": [0.01, -0.04], "change_high": [0.09, 0.0],
    ...                       "n_ratings": [60, 58], "mean_distance": [0.6, 0.4]})
    >>> [name.get_text() for name in plots.raters(frame).get_yticklabels()]
    ['ann', 'ben']
    """
    check_limit(limit)
    needed = ("rater", "change", "change_low", "change_high", "n_ratings", "mean_distance")
    need_columns(frame, needed, "raters")
    what = "raters that change it most"
    ax, shown, note = list_axes(frame, ax, limit=limit, by="change", what=what)
    line = f"Change without the rater, lines: {level_text(level)} intervals."
    right = "To the right: higher without."
    heading(ax, "Agreement without each rater", measured(frame), f"{line} {right}", note)
    if not len(frame):
        return nothing(ax, "No rater shares a unit with another.")
    draw_rows(ax, _rater_rows(shown))
    label_x(ax, "change when the rater is left out")
    return ax


def _rater_rows(frame: pd.DataFrame) -> Rows:
    columns = {
        "ratings": [count(x) for x in floats(frame, "n_ratings")],
        "distance to others": [number(x) for x in floats(frame, "mean_distance")],
        "change": [number(x, digits=4, signed=True) for x in floats(frame, "change")],
    }
    values, low, high = (floats(frame, n) for n in ("change", "change_low", "change_high"))
    return Rows(texts(frame, "rater"), values, low, high, (), columns)


@picture(
    takes="What `by_pair` returned.",
    most="raters are drawn at most: those who share the most units with others",
)
def pairs(frame: pd.DataFrame, *, limit: int = 40, ax: Axes | None = None) -> Axes:
    """Draw the agreement of each pair of raters, with similar raters adjacent.

    Raters are ordered by average-linkage clustering of 1 - estimate (pairs without an estimate
    count as the mean), the leaves turned so that neighbours are near.

    Examples
    --------
    >>> import pandas as pd
    >>> from setagree import plots
    >>> frame = pd.DataFrame({"rater_a": ["ann"], "rater_b": ["ben"], "estimate": [0.61],
    ...                       "n_shared": [40]})
    >>> [text.get_text() for text in plots.pairs(frame).texts][1:]
    ['', '0.61', '0.61', '']
    """
    check_limit(limit)
    need_columns(frame, ("rater_a", "rater_b", "estimate", "n_shared"), "pairs")
    codes, names = coded(frame, "rater_a", "rater_b")
    ax = axes_or_new(ax, height=cells_height(len(names), limit=limit))
    n_shared = np.zeros(len(names))
    np.add.at(n_shared, codes, np.nan_to_num(floats(frame, "n_shared"))[:, None])
    kept = largest(n_shared, fitting(ax, limit, each=CELL))
    note = f"The {len(kept):,} raters with the most shared units, of {len(names):,}."
    line = f"{measured(frame) or 'Estimate'}, of the units both rated; a dot: undefined."
    lines = [line, "In clustered order: neighbours agree alike."]
    heading(ax, "Agreement of each pair of raters", *lines, note if len(kept) < len(names) else "")
    if not names:
        return nothing(ax, "No two raters share a unit.")
    matrix = _square(codes, floats(frame, "estimate"), len(names))
    kept = kept[clustered_order(matrix[np.ix_(kept, kept)])]
    shared = _square(codes, floats(frame, "n_shared"), len(names))[np.ix_(kept, kept)]
    matrix, shown = matrix[np.ix_(kept, kept)], [short_text(names[code]) for code in kept]
    written = [[UNDEFINED if np.isnan(x) else number(x, digits=2) for x in row] for row in matrix]
    cells = np.where(shared > 0, np.array(written, dtype=object), "").tolist()
    draw_cells(ax, Cells(matrix, cells, shown, shown, ("1", f"0 ({MINUS}: less)")))
    return ax


def _square(codes: npt.NDArray[np.intp], values: Floats, n: int) -> Floats:
    out = np.full((n, n), np.nan)
    out[codes[:, 0], codes[:, 1]] = values
    out[codes[:, 1], codes[:, 0]] = values
    return out


def clustered_order(matrix: Floats) -> npt.NDArray[np.intp]:
    """Return the order of raters of a square matrix of agreements, with similar raters adjacent."""
    n = len(matrix)
    if n < 3 or not np.isfinite(matrix).any():
        return np.arange(n)
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering

    upper = matrix[np.triu_indices(n, 1)]
    apart = np.maximum(0.0, 1 - np.where(np.isfinite(upper), upper, np.nanmean(upper)))
    tree = optimal_leaf_ordering(linkage(apart, "average"), apart)
    return np.asarray(leaves_list(tree), dtype=np.intp)


_OFTEN = 2.0
"""Times as often as by chance from which a confusion is framed if it has enough pairs."""


@picture(
    takes="What `by_label` returned.",
    most="labels are drawn at most: those with the largest share of the disagreement",
)
def labels(
    frame: pd.DataFrame, *, level: float = 0.95, limit: int = 40, ax: Axes | None = None
) -> Axes:
    """Draw the agreement on each label with its interval, and the cost of the label.

    Examples
    --------
    >>> import pandas as pd
    >>> from setagree import plots
    >>> frame = pd.DataFrame({"label": ["joy", "anger"], "alpha": [0.4, 0.7], "low": [0.2, 0.6],
    ...                       "high": [0.6, 0.8], "ac1": [0.8, 0.9], "prevalence": [0.1, 0.3],
    ...                       "share_of_disagreement": [0.6, 0.4]})
    >>> [name.get_text() for name in plots.labels(frame).get_yticklabels()]
    ['joy', 'anger']
    """
    check_limit(limit)
    needed = ("label", "alpha", "low", "high", "ac1", "prevalence", "share_of_disagreement")
    need_columns(frame, needed, "labels")
    what = "labels with the largest share of the disagreement"
    ax, shown, note = list_axes(frame, ax, limit=limit, by="share_of_disagreement", what=what)
    drawn = f"Dots: Krippendorff's alpha of the label, {level_text(level)} intervals."
    heading(ax, "Agreement per label", f"{drawn} Diamonds: Gwet's AC1.", note)
    if not len(frame):
        return nothing(ax, "No label stands in two ratings of a unit.")
    draw_rows(ax, _label_rows(shown))
    label_x(ax, "agreement on the label")
    return ax


def _label_rows(frame: pd.DataFrame) -> Rows:
    columns = {
        "alpha": [number(x) for x in floats(frame, "alpha")],
        "prevalence": [share(x) for x in floats(frame, "prevalence")],
        "of disagreement": [share(x) for x in floats(frame, "share_of_disagreement")],
    }
    values, low, high, second = (floats(frame, name) for name in ("alpha", "low", "high", "ac1"))
    return Rows(texts(frame, "label"), values, low, high, reasons(frame), columns, second)


@picture(
    takes="What `confusions` returned.", most="labels are drawn at most: those with the most pairs"
)
def confusions(frame: pd.DataFrame, *, limit: int = 20, ax: Axes | None = None) -> Axes:
    """Draw how often one rater gave one label and another rater a different one, or none.

    Examples
    --------
    >>> import pandas as pd
    >>> from setagree import plots
    >>> frame = pd.DataFrame({"label": ["joy", "joy"], "other": ["calm", None],
    ...                       "kind": ["instead", "left out"], "pairs": [12, 5],
    ...                       "expected": [4.0, 10.0], "lift": [3.0, 0.5]})
    >>> [name.get_text() for name in plots.confusions(frame).get_xticklabels()]
    ['left out', 'joy', 'calm']
    """
    from setagree.diagnosis.confusions import exceed_chance  # loads more than pictures need

    check_limit(limit)
    need_columns(frame, ("label", "other", "kind", "pairs", "expected", "lift"), "confusions")
    codes, names = coded(frame, "label", "other")
    ax = axes_or_new(ax, height=cells_height(len(names), limit=limit))
    pairs = floats(frame, "pairs")
    total = np.zeros(len(names) + 1)
    np.add.at(total, codes, np.nan_to_num(pairs)[:, None])
    kept = np.argsort(-total[:-1], kind="stable")[: fitting(ax, limit, each=CELL)]
    heading(ax, "Labels that one rater gave and another rater did not", *_how_read(kept, names))
    if not names:
        return nothing(ax, "No two ratings of a unit differ.")
    shown = [short_text(names[code]) for code in kept]
    draw_cells(ax, _confusion_cells(_matrix(codes, pairs, kept, len(names)), shown))
    framed = exceed_chance(frame).to_numpy()
    _frame_cells(ax, _matrix(codes, framed.astype(float), kept, len(names)) == 1)
    ax.axvline(0.5, color=ink(ax), alpha=0.6, linewidth=0.8)
    return ax


def _how_read(kept: npt.NDArray[np.intp], names: list[object]) -> list[str]:
    note = f"The {len(kept):,} labels with the most pairs, of {len(names):,}."
    return [
        "Pairs of ratings: one has the row's label, the other the column's instead.",
        "Left out: the other has nothing in its place.",
        "Framed: clearly more pairs than by chance.",
        note if len(kept) < len(names) else "",
    ]


def _matrix(
    codes: npt.NDArray[np.intp], values: Floats, kept: npt.NDArray[np.intp], n: int
) -> Floats:
    """Return the values of the kept labels, labels x (left out, labels); NaN if missing."""
    place = np.full(n + 1, -1)
    place[kept] = np.arange(len(kept))
    label, other = place[codes].T
    out = np.full((len(kept), len(kept) + 1), np.nan)
    alone = (codes[:, 1] < 0) & (label >= 0)
    out[label[alone], 0] = values[alone]
    both = (label >= 0) & (other >= 0)
    # A confusion of two labels has no direction, whichever of them its row names first.
    out[label[both], other[both] + 1] = values[both]
    out[other[both], label[both] + 1] = values[both]
    return out


def _confusion_cells(counts: Floats, names: list[str]) -> Cells:
    """Return the cells, shaded up to the largest confusion, and up to the label most left out.

    Labels are left out more often than confused: one scale would leave the others pale.
    """
    texts = [["" if np.isnan(x) else count(x) for x in row] for row in counts]
    alone, others = (float(np.nanmax(x, initial=0.0)) for x in (counts[:, :1], counts[:, 1:]))
    scaled = np.hstack([rescaled(counts[:, :1], alone), rescaled(counts[:, 1:], others)])
    key = (f"{count(others)}, left out {count(alone)}", "0")
    return Cells(np.where(counts > 0, scaled, np.nan), texts, names, ["left out", *names], key)


def _frame_cells(ax: Axes, often: npt.NDArray[np.bool_]) -> None:
    from matplotlib.patches import Rectangle

    for i, j in np.argwhere(often):
        place = (j - 0.44, i - 0.44)
        ax.add_patch(Rectangle(place, 0.88, 0.88, fill=False, edgecolor=ink(ax), linewidth=1.2))
