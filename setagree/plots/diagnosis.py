"""Plots of units, groups, windows of time, raters, labels and the credit between answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import Floats, public
from setagree.credit.base import Weights, display_value, reading_key
from setagree.errors import OptionError, counted, shorten
from setagree.plots.base import (
    CELL,
    MAX_CELLS,
    MAX_ROWS,
    axes_or_new,
    cells_height,
    coded,
    fitting,
    floats,
    heading,
    ink,
    largest,
    need_columns,
    rescaled,
    rows_height,
    show_message,
    texts,
    write_text,
)
from setagree.plots.shapes import (
    UNDEFINED,
    draw_bars,
    draw_curve,
    draw_matrix,
    draw_rows,
    label_axes,
    mark_half,
)
from setagree.scoring.coefficients import measured, picture_name
from setagree.wording.number_format import MINUS, count, level_text, number, p_phrase, share
from setagree.wording.sentences import short_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_POINTS = 300
"""Largest number of points of a curve: further ones have less than a pixel each."""

_MAX_LABELS = 20
"""Largest number of labels of a table of confusions."""

_MAX_WHISKERS = 60
"""Largest number of windows with an interval and a dot each; of twice as many, with a point."""


@public
def units(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the disagreement of each unit.

    Up to 30 units have a named bar each, the largest mean distance first. More units are
    drawn as a curve of their shares of the disagreement, the largest share first, with a line at
    the rank up to which the shares sum to half. A unit with a larger mean distance but fewer
    ratings can have a smaller share.

    Parameters
    ----------
    frame : DataFrame
        The result of `by_unit`.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    DataError
        The frame is not a DataFrame, or lacks a column.
    OptionError
        An option is out of range.
    MissingDependencyError
        matplotlib is not installed.

    Examples
    --------
    >>> import pandas as pd
    >>> from setagree import plots
    >>> frame = pd.DataFrame({"unit": ["u7", "u2"], "disagreement": [1.0, 0.25],
    ...                       "share_of_disagreement": [0.8, 0.2]})
    >>> [name.get_text() for name in plots.units(frame).get_yticklabels()]
    ['u7', 'u2']
    """
    need_columns(frame, ("unit", "disagreement", "share_of_disagreement"), "units")
    n = len(frame)
    ax = axes_or_new(ax, height=rows_height(n) if n <= MAX_ROWS else 4)
    shares = floats(frame, "share_of_disagreement")
    total = float(np.nansum(shares))
    part = f"These {n:,} have {share(total)} of the disagreement." if 0 < total < 0.999 else ""
    if n > fitting(ax):
        return _unit_curve(ax, largest_share_first(frame), part)
    heading(ax, "Disagreement per unit", measured(frame), part)
    if not n:
        return show_message(ax, "No unit has two ratings.")
    values = np.nan_to_num(floats(frame, "disagreement"), nan=-1.0)
    frame = frame.iloc[np.argsort(-values, kind="stable")]
    values = floats(frame, "disagreement")
    label = "mean distance among the ratings of the unit"
    draw_bars(ax, texts(frame, "unit"), values, label=label, room=1.12)
    for row, value in enumerate(values):
        at = (float(np.nan_to_num(value)), row)
        write_text(ax, number(value), at, (4, 0), of="data", size=8, loud=True)
    return ax


def largest_share_first(frame: pd.DataFrame) -> pd.DataFrame:
    """Return units by their share of the disagreement, then by their mean distance."""
    worst = ["share_of_disagreement", "disagreement"]
    return frame.sort_values(worst, ascending=False, kind="stable")


def half_of(ordered: pd.DataFrame) -> tuple[int, str]:
    """Return the number of units with half of the disagreement, and a clause on it.

    Count all units that disagree if their shares are equal. Both the sentence and the picture of
    units use this count.
    """
    shares = np.nan_to_num(floats(ordered, "share_of_disagreement"))
    positive = shares[shares > 0]
    if len(positive) > 1 and np.allclose(positive, positive[0], rtol=1e-9, atol=0):
        return len(positive), "The disagreement lies in equal parts"
    running = np.cumsum(shares)
    n = int(np.searchsorted(running, 0.5 - 1e-12)) + 1
    part = float(running[n - 1])
    words = {"50": "Half", "100": "Almost all"}.get(f"{100 * part:.0f}", share(part))
    return n, f"{'All' if part > 1 - 1e-12 else words} of the disagreement lies"


def _unit_curve(ax: Axes, frame: pd.DataFrame, part: str) -> Axes:
    """Draw the shares of the disagreement of units, the largest first."""
    shares = np.nan_to_num(floats(frame, "share_of_disagreement"))
    n, text = len(shares), ""
    # A frame with only a part of the disagreement does not show the rank of half of it.
    if shares.sum() > 0.999:
        half, lies = half_of(frame)
        text = f"{lies} in the first {half:,} ({share(half / n)})"
    top = int((shares >= shares.max()).sum())
    names = ", ".join(texts(frame.iloc[:3], "unit"))
    worst = f"Largest shares: {names}." if top <= 3 else f"{top:,} have the same largest share."
    zero = int((floats(frame, "disagreement") == 0).sum())
    title = "Disagreement per unit, largest share first"
    lines = [f"{worst} {zero:,} of {n:,} agree fully.", part]
    heading(ax, title, measured(frame), *lines)
    at = np.unique(np.linspace(0, n - 1, min(n, _MAX_POINTS)).round().astype(int))
    draw_curve(ax, at + 1, shares[at], 0.0, shares[at], band=0.35, steps=True)
    ax.set_xlim(1, n)
    ax.set_ylim(0, 1.25 * max(float(shares.max()), 1e-9))
    # As many ticks at any height, so that the layout leaves room for their labels.
    ax.locator_params(axis="y", nbins=5)
    if text:
        mark_half(ax, half, n, text)
    return label_axes(ax, f"units by rank, 1 to {n:,}", "share of the disagreement")


@public
def groups(frame: pd.DataFrame, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the agreement within each group of units, with intervals.

    Parameters
    ----------
    frame : DataFrame
        The result of `by_group`.
    level : float
        Level of the intervals, for the caption.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    DataError, OptionError, MissingDependencyError
        As in `units`.

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
    need_columns(frame, ("group", "estimate", "low", "high", "n_units"), "groups")
    what = measured(frame)
    p = floats(frame, "homogeneity_p_value")
    p = p[np.isfinite(p)]
    tested = f"Test that all groups have one common value: {p_phrase(p[0])}." if len(p) else ""
    if not len(p) and "no_test" in frame and isinstance(reason := frame["no_test"].iloc[0], str):
        tested = f"Whether the groups differ cannot be tested: {reason}."
    return draw_rows(
        frame,
        ax,
        names=texts(frame, "group"),
        title="Agreement of each group",
        lines=[f"{f'{what}, lines' if what else 'Lines'}: {level_text(level)} intervals.", tested],
        label=what or "agreement",
        selection="groups with the most units",
        by="n_units",
        columns={"units": ("n_units", count)},
        intervals="estimate (interval)",
        undefined="" if len(frame) else "No groups.",
    )[0]


@public
def over_time(frame: pd.DataFrame, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the agreement in windows of time, with intervals and numbers of units.

    Each window is drawn at its middle. Windows without an estimate and times without a window
    leave gaps.

    Parameters
    ----------
    frame : DataFrame
        The result of `over_time`; ``start`` and ``end`` are times or numbers.
    level : float
        Level of the intervals, for the caption.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    DataError, OptionError, MissingDependencyError
        As in `units`.

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
    n = min(len(frame), _MAX_POINTS)
    spread = np.linspace(0, len(frame) - 1, n).round().astype(int)
    shown, (middle, runs) = frame.iloc[spread], (x[spread] for x in _places(frame))
    what = measured(frame)
    line = f"{what or 'Estimate'}, in windows of time, band: {level_text(level)} interval."
    note = f"{n:,} windows spread evenly, of {len(frame):,}." if n < len(frame) else ""
    heading(ax, "Agreement over time", line, note)
    if not n:
        return show_message(ax, "No windows.")
    # A row of NaN interrupts the line where no window covers the time.
    gaps = np.flatnonzero(np.diff(runs)) + 1
    x = np.insert(middle, gaps, middle[gaps])
    values, low, high = (
        np.insert(floats(shown, name), gaps, np.nan) for name in ("estimate", "low", "high")
    )
    form = "o-" if n <= _MAX_WHISKERS else ".-" if n <= 2 * _MAX_WHISKERS else "-"
    draw_curve(ax, x, values, low, high, form=form, band=0.2, whiskers=n <= _MAX_WHISKERS)
    ends = np.concatenate([values, low, high, [0.0]])
    ends = ends[np.isfinite(ends)]
    bottom, top = float(ends.min()), float(ends.max()) or 1.0
    ax.set_ylim(bottom - 0.3 * (top - bottom), top + 0.06 * (top - bottom))
    ax.axhline(0, color=ink(ax), alpha=0.5, linewidth=0.8)
    # Numbers of units, along the lower edge.
    counts = floats(shown, "n_units")
    most = float(np.nanmax(counts, initial=0.0))
    heights, across = 0.14 * rescaled(np.nan_to_num(counts), most), ax.get_xaxis_transform()
    ax.vlines(middle, 0, heights, transform=across, color=ink(ax), alpha=0.35, linewidth=2)
    write_text(ax, f"units, at most {count(most)}", (0, 0.16), (4, 0), size=7.5, va="bottom")
    if np.issubdtype(x.dtype, np.datetime64):
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator()  # type: ignore[no-untyped-call]  # matplotlib's dates are untyped
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    place = "middle of the window" if _has_times(frame) else "windows, in order"
    return label_axes(ax, place, what or "agreement")


def _has_times(frame: pd.DataFrame) -> bool:
    """Return whether the windows start and end at numbers or at times."""
    kinds = (pd.api.types.is_numeric_dtype, pd.api.types.is_datetime64_any_dtype)
    return any(is_kind(frame["start"]) and is_kind(frame["end"]) for is_kind in kinds)


def _places(frame: pd.DataFrame) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """Return the middle of each window, and the number of gaps before it without a window.

    The middles are numbers, times without a zone, or the places of the windows in the list.
    """
    if not _has_times(frame) or not len(frame):
        return np.arange(len(frame), dtype=np.float64), np.zeros(len(frame), dtype=np.intp)
    start, end = frame["start"].to_numpy(), frame["end"].to_numpy()
    gaps = np.append(0, np.cumsum(start[1:] > end[:-1])).astype(np.intp)
    if pd.api.types.is_numeric_dtype(frame["start"]):
        return (floats(frame, "start") + floats(frame, "end")) / 2, gaps
    middle = frame["start"] + (frame["end"] - frame["start"]) / 2
    return np.asarray((middle.dt.tz_localize(None) if middle.dt.tz else middle).to_numpy()), gaps


@public
def raters(frame: pd.DataFrame, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the change of the coefficient if each rater is left out, with intervals.

    Rough intervals are dashed.

    Parameters
    ----------
    frame : DataFrame
        The result of `by_rater`.
    level : float
        Level of the intervals, for the caption.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    DataError, OptionError, MissingDependencyError
        As in `units`.

    Examples
    --------
    >>> import pandas as pd
    >>> from setagree import plots
    >>> frame = pd.DataFrame({"rater": ["ann", "ben"], "difference": [0.05, -0.02],
    ...                       "difference_low": [0.01, -0.04], "difference_high": [0.09, 0.0],
    ...                       "n_ratings": [60, 58], "mean_distance": [0.6, 0.4]})
    >>> [name.get_text() for name in plots.raters(frame).get_yticklabels()]
    ['ann', 'ben']
    """
    needed = (
        "rater",
        "difference",
        "difference_low",
        "difference_high",
        "n_ratings",
        "mean_distance",
    )
    need_columns(frame, needed, "raters")
    line = f"Change without the rater, lines: {level_text(level)} intervals."
    return draw_rows(
        frame,
        ax,
        names=texts(frame, "rater"),
        title="Agreement without each rater",
        lines=[measured(frame), f"{line} To the right: higher without the rater."],
        label="change if the rater is left out",
        selection="raters with the largest change",
        by="difference",
        marks=("difference", "difference_low", "difference_high"),
        columns={
            "ratings": ("n_ratings", count),
            "distance to others": ("mean_distance", number),
            "difference": ("difference", lambda x: number(x, signed=True)),
        },
        undefined="" if len(frame) else "No rater shares a unit with another.",
    )[0]


@public
def pairs(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the agreement of each pair of raters, with similar raters adjacent.

    Raters are ordered by average-linkage clustering of 1 - estimate (pairs without an estimate
    count as the mean), with the leaf order that makes adjacent raters most similar.

    Parameters
    ----------
    frame : DataFrame
        The result of `by_pair`.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    DataError, OptionError, MissingDependencyError
        As in `units`.

    Examples
    --------
    >>> import pandas as pd
    >>> from setagree import plots
    >>> frame = pd.DataFrame({"rater_a": ["ann"], "rater_b": ["ben"], "estimate": [0.61],
    ...                       "n_shared_units": [40]})
    >>> [text.get_text() for text in plots.pairs(frame).texts][1:]
    ['', '0.61', '0.61', '']
    """
    need_columns(frame, ("rater_a", "rater_b", "estimate", "n_shared_units"), "pairs")
    codes, names = coded(frame, "rater_a", "rater_b")
    ax = axes_or_new(ax, height=cells_height(len(names)))
    totals = np.zeros(len(names))
    np.add.at(totals, codes, np.nan_to_num(floats(frame, "n_shared_units"))[:, None])
    kept = largest(totals, fitting(ax, MAX_CELLS, each=CELL))
    note = f"The {len(kept):,} raters with the most shared units, of {len(names):,}."
    missing = np.isnan(floats(frame, "estimate")) & (floats(frame, "n_shared_units") > 0)
    has_dots = (missing & np.isin(codes, kept).all(axis=1)).any()
    dots = "; a dot: undefined" if has_dots else ""
    line = f"{measured(frame) or 'Estimate'}, of the units that both rated{dots}."
    lines = [line, "Raters are ordered by clustering, similar ones adjacent."]
    heading(ax, "Agreement of each pair of raters", *lines, note if len(kept) < len(names) else "")
    if not names:
        return show_message(ax, "No two raters share a unit.")
    estimates, shared = np.full((2, len(names), len(names)), np.nan)
    for square, name in ((estimates, "estimate"), (shared, "n_shared_units")):
        for a, b in (codes.T, codes.T[::-1]):
            square[a, b] = floats(frame, name)
    kept = kept[clustered_order(estimates[np.ix_(kept, kept)])]
    estimates, shared = (square[np.ix_(kept, kept)] for square in (estimates, shared))
    written = [
        [UNDEFINED if np.isnan(x) else number(x, digits=2) for x in row] for row in estimates
    ]
    cells = np.where(shared > 0, np.array(written, dtype=object), "").tolist()
    shown = [short_text(names[code]) for code in kept]
    key = ("1", f"0 ({MINUS}: less)")
    draw_matrix(ax, estimates, cells, rows=shown, columns=shown, key=key)
    return ax


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


@public
def labels(frame: pd.DataFrame, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the agreement on each label with its interval, and its share of the disagreement.

    Parameters
    ----------
    frame : DataFrame
        The result of `by_label`.
    level : float
        Level of the intervals, for the caption.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    DataError, OptionError, MissingDependencyError
        As in `units`.

    Examples
    --------
    >>> import pandas as pd
    >>> from setagree import plots
    >>> frame = pd.DataFrame({"label": ["joy", "anger"], "estimate": [0.4, 0.7],
    ...                       "low": [0.2, 0.6], "high": [0.6, 0.8], "ac1": [0.8, 0.9],
    ...                       "prevalence": [0.1, 0.3], "share_of_disagreement": [0.6, 0.4],
    ...                       "coefficient": "krippendorff_alpha"})
    >>> [name.get_text() for name in plots.labels(frame).get_yticklabels()]
    ['joy', 'anger']
    """
    needed = ("label", "estimate", "low", "high", "ac1", "prevalence", "share_of_disagreement")
    need_columns(frame, (*needed, "coefficient"), "labels")
    names = [picture_name(one, "nominal") for one in frame["coefficient"].head(1)]
    drawn = f"Dots: {[*names, 'estimate'][0]} of the label, {level_text(level)} intervals."
    return draw_rows(
        frame,
        ax,
        names=texts(frame, "label"),
        title="Agreement per label",
        lines=[f"{drawn} Diamonds: Gwet's AC1."],
        label="agreement on the label",
        selection="labels with the largest share of the disagreement",
        by="share_of_disagreement",
        marks=("estimate", "low", "high"),
        second="ac1",
        columns={
            "estimate": ("estimate", number),
            "prevalence": ("prevalence", share),
            "of disagreement": ("share_of_disagreement", share),
        },
        undefined="" if len(frame) else "No label is in two ratings of a unit.",
    )[0]


@public
def confusions(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how often one rater gave one label and another rater a different one, or none.

    Confusions with a p of at most 0.05 are framed, if p was requested (``n_resamples``). The column
    of labels left out has a separate scale of shades, because labels are left out more often than
    confused: with one scale the other cells would be pale.

    Parameters
    ----------
    frame : DataFrame
        What `confusions`.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    DataError, OptionError, MissingDependencyError
        As in `units`.

    Examples
    --------
    >>> import pandas as pd
    >>> from setagree import plots
    >>> frame = pd.DataFrame({"label": ["joy", "joy"], "other": ["calm", None],
    ...                       "kind": ["instead", "left out"], "n_pairs": [12, 5],
    ...                       "expected_pairs": [4.0, 10.0], "lift": [3.0, 0.5]})
    >>> [name.get_text() for name in plots.confusions(frame).get_xticklabels()]
    ['left out', 'joy', 'calm']
    """
    from setagree.diagnosis.confusions import exceed_chance  # slow to import

    need_columns(
        frame, ("label", "other", "kind", "n_pairs", "expected_pairs", "lift"), "confusions"
    )
    codes, names = coded(frame, "label", "other")
    ax = axes_or_new(ax, height=cells_height(len(names), limit=_MAX_LABELS))
    totals = np.zeros(len(names) + 1)
    np.add.at(totals, codes, np.nan_to_num(floats(frame, "n_pairs"))[:, None])
    kept = np.argsort(-totals[:-1], kind="stable")[: fitting(ax, _MAX_LABELS, each=CELL)]
    counts = _confusion_matrix(codes, floats(frame, "n_pairs"), kept, len(names))
    alone, others = (float(np.nanmax(x, initial=0.0)) for x in (counts[:, :1], counts[:, 1:]))
    scales = f"Darkest: {counted(int(alone), 'pair')} left out, {count(others)} in other columns."
    note = f"The {len(kept):,} labels with the most pairs, of {len(names):,}."
    is_tested = bool(np.isfinite(floats(frame, "p_value")).any())
    heading(
        ax,
        "Labels that one rater gave and another rater did not",
        "Pairs of ratings: one has the row's label, the other the column's instead.",
        "Left out: the other has no label in its place.",
        scales if alone and others else "",
        "Framed: more pairs than expected by chance (p at most 0.05)." if is_tested else "",
        note if len(kept) < len(names) else "",
    )
    if not names:
        return show_message(ax, "No two ratings of a unit differ.")
    strength = np.hstack([rescaled(counts[:, :1], alone), rescaled(counts[:, 1:], others)])
    shown = [short_text(names[code]) for code in kept]
    draw_matrix(
        ax,
        np.where(counts > 0, strength, np.nan),
        [["" if np.isnan(x) else count(x) for x in row] for row in counts],
        rows=shown,
        columns=["left out", *shown],
        key=(f"{count(others)}, left out {count(alone)}", "0"),
    )
    from matplotlib.patches import Rectangle

    is_framed = floats(frame.assign(framed=exceed_chance(frame) if is_tested else 0), "framed")
    for i, j in np.argwhere(_confusion_matrix(codes, is_framed, kept, len(names)) == 1):
        place, edge = (j - 0.44, i - 0.44), ink(ax)
        ax.add_patch(Rectangle(place, 0.88, 0.88, fill=False, edgecolor=edge, linewidth=1.2))
    ax.axvline(0.5, color=ink(ax), alpha=0.6, linewidth=0.8)
    return ax


def _confusion_matrix(
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
    # A confusion of two labels has no direction: both cells have its value.
    out[label[both], other[both] + 1] = values[both]
    out[other[both], label[both] + 1] = values[both]
    return out


@public
def weights(credit: Weights, *, ax: Axes | None = None) -> Axes:
    """Draw the credit w = 1 - d / d_max between observed answers: 1 full, 0 none.

    Of more than 30 answers, as many are drawn, spread evenly in reading order.

    Parameters
    ----------
    credit : Weights
        The result of `weights`.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    OptionError
        The result is of another function, or an option is out of range.
    MissingDependencyError
        matplotlib is not installed.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> triples = [("ann", 1, "a"), ("bob", 1, "a, b"), ("ann", 2, set())]
    >>> study = sa.Annotations.from_triples(triples)
    >>> ax = plots.weights(sa.weights(study, "jaccard"))
    >>> [name.get_text() for name in ax.get_yticklabels()]
    ['{}', 'a', 'a, b']
    """
    if not isinstance(credit, Weights):
        raise OptionError(f"plots.weights draws the result of sa.weights, not {shorten(credit)}.")
    n = credit.n_values
    ax = axes_or_new(ax, height=cells_height(n, limit=MAX_ROWS))
    room = fitting(ax, each=CELL)
    codes = np.array(sorted(range(n), key=lambda code: reading_key(credit.values[code])), dtype=int)
    note = ""
    if n > room:
        codes = codes[np.linspace(0, n - 1, room).round().astype(int)]
        note = f"The {room:,} answers spread evenly in reading order, of {n:,}."
    what = f"1: equal answers, 0: the largest distance (w = 1 {MINUS} d / largest d)."
    heading(ax, "Credit between answers", what, note)
    grid = np.meshgrid(codes, codes, indexing="ij")
    matrix = credit.at(grid[0].ravel(), grid[1].ravel()).reshape(grid[0].shape)
    names = [short_text(display_value(credit.values[code])) for code in codes]
    cells = [[number(x, digits=2) for x in row] for row in matrix]
    draw_matrix(ax, matrix, cells, rows=names, columns=names, key=("1", "0"))
    return ax
