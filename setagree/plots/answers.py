"""Plots of answers and of the credit between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.credit.base import Codes, Weights, display_value, reading_key
from setagree.errors import OptionError, counted, shorten
from setagree.plots.base import (
    BLUE,
    CELL,
    FAINT,
    NAME_SIZE,
    ORANGE,
    WRITTEN,
    Floats,
    Rows,
    axes_or_new,
    beside,
    cells_height,
    check_limit,
    check_result,
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
    nothing,
    picture,
    reasons,
    rows_height,
    text_columns,
    texts,
)
from setagree.scoring.coefficients import distance_name
from setagree.wording.number_format import DASH, MINUS, count, level_text, number
from setagree.wording.sentences import LONGEST, cut, short_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from setagree.diagnosis.intra_rater import IntraRater
    from setagree.diagnosis.next_ratings import Queue
    from setagree.inference.acceptance import AcceptancePlan, AcceptanceTest


@picture(takes="What `next_ratings` returned.", most="units are drawn by name at most")
def queue(result: Queue, *, limit: int = 30, ax: Axes | None = None) -> Axes:
    """Draw the expected gain from each rating of a queue, in the order of the queue.

    Up to ``limit`` units have a named bar each; more become a curve, with the place up to which the
    ratings bring half of what all bring. Units with fewer than two ratings come first and have no
    value, and a queue for a coefficient has none: the picture then has the ratings so far.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> study = sa.Annotations.from_triples([
    ...     ("ann", 1, "a"), ("ben", 1, "a"), ("ann", 2, "a"), ("ben", 2, "b"), ("ann", 3, "b"),
    ... ])
    >>> ax = plots.queue(sa.next_ratings(study, budget=2, raters=["ann", "ben", "eva"]))
    >>> [name.get_text() for name in ax.get_yticklabels()]
    ['3', '2']
    """
    from setagree.diagnosis.next_ratings import Queue as Known

    check_limit(limit)
    result = check_result(result, Known, "queue", "next_ratings")
    frame = result.to_frame()
    has_bars = len(frame) <= limit
    ax = axes_or_new(ax, height=rows_height(len(frame), limit=limit) if has_bars else 4)
    has_bars = len(frame) <= fitting(ax, limit)
    order = "the most useful" if result.goal == "consensus" else "units with the fewest ratings"
    asked = f"{counted(result.n_asked, 'rating')} of {counted(len(frame), 'unit')}"
    heading(
        ax, "Units to rate next", f"{asked}, {order} first.", _first(frame, shaded=not has_bars)
    )
    if not len(frame):
        return nothing(ax, "No unit needs another rating.")
    return (_queue_bars if has_bars else _queue_curve)(ax, frame)


def _first(frame: pd.DataFrame, *, shaded: bool) -> str:
    """Return a sentence on ratings of a queue without a value, which precede the others."""
    has_none = np.isnan(floats(frame, "expected_gain"))
    n = int(floats(frame, "more")[has_none].sum())
    if not n or has_none.all():
        return ""
    how, come = " (hatched)" if shaded else "", "come" if n > 1 else "comes"
    return f"Before them {come} {counted(n, 'rating')}{how} of units with fewer than two."


def _queue_bars(ax: Axes, frame: pd.DataFrame) -> Axes:
    """Draw one bar per unit, labelled with the requested ratings and raters."""
    y, narrow = np.arange(len(frame)), is_narrow(ax)
    value, so_far, more = (floats(frame, name) for name in ("expected_gain", "n_ratings", "more"))
    has_value = bool(np.isfinite(value).any())
    bars = np.nan_to_num(value) if has_value else so_far
    ax.barh(y, bars, height=0.7, color=BLUE, alpha=0.6, edgecolor=BLUE)
    if has_value:
        for row in y[np.isnan(value)]:
            beside(ax, "fewer than two ratings", (0.01, row), (0, 0), size=8, of="row")
    else:
        ax.barh(y, more, left=bars, height=0.7, fill=False, edgecolor=ORANGE, hatch="////")
        bars = bars + more
    ax.set_xlim(0, 1.04 * max(float(bars.max()), 1e-9))
    ax.set_ylim(len(y) - 0.4, -0.6 if narrow else -1.4)
    ax.set_yticks(y, texts(frame, "unit"), fontsize=NAME_SIZE, usetex=False)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.locator_params(axis="x", nbins=4 if narrow else 6, integer=not has_value)
    if not narrow:
        who = [short_text(names) if names else DASH for names in frame["raters"]]
        counts = {"so far": [*map(count, so_far)], "more": [*map(count, more)]}
        text_columns(ax, counts | {"raters": who})
    label_x(ax, _GAIN if has_value else "ratings so far, and (hatched) more")
    return ax


_GAIN = "labels that a rating is expected to correct"


def _queue_curve(ax: Axes, frame: pd.DataFrame) -> Axes:
    """Draw one step per unit, as wide as its number of requested ratings."""
    value, more = floats(frame, "expected_gain"), floats(frame, "more")
    has_value = bool(np.isfinite(value).any())
    heights = value if has_value else floats(frame, "n_ratings")
    ends = np.append(0.0, np.cumsum(more))
    known = np.flatnonzero(np.isfinite(heights))
    top = 1.25 * max(float(np.nanmax(heights)), 1e-9)
    first = ends[known[0]]
    if first > 0:
        ax.axvspan(0, first, facecolor="none", edgecolor=ORANGE, hatch="////", alpha=0.4)
    edges = np.append(ends[known], ends[-1])
    ax.stairs(heights[known], edges, fill=True, color=BLUE, alpha=0.35)
    ax.stairs(heights[known], edges, color=BLUE, linewidth=1.8, baseline=None)
    ax.set_xlim(0, ends[-1])
    ax.set_ylim(0, top)
    gain = np.cumsum((heights * more)[known])
    if has_value and gain[-1] > 0:
        half = int(ends[known[int(np.searchsorted(gain, (0.5 - 1e-9) * gain[-1]))] + 1])
        ax.axvline(half, ymax=0.9, color=ink(ax), linestyle="--", linewidth=1)
        shift, side = (5, "left") if half < 0.5 * ends[-1] else (-5, "right")
        text = f"half of this by rating {half:,}"
        beside(ax, text, (half, 0.9), (shift, 0), of="column", ha=side, va="top", loud=True)
    ax.grid(axis="y", color=ink(ax), alpha=FAINT, linewidth=0.6)
    label_x(ax, "ratings asked for, in the order of the queue")
    label_y(ax, _GAIN if has_value else "ratings so far")
    return ax


@picture(takes="What `acceptance_plan` or `acceptance_test` returned.")
def acceptance(result: AcceptancePlan | AcceptanceTest, *, ax: Axes | None = None) -> Axes:
    """Draw how likely a delivery is accepted, over its true error rate.

    The acceptable and rejectable rates are marked; if answers were checked, a dashed
    line marks the observed error rate.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> ax = plots.acceptance(sa.acceptance_plan(good=0.02, bad=0.10))
    >>> [text.get_text() for text in ax.get_legend().get_texts()][0]
    'good, 0.02: accepted with probability 0.959'
    """
    from setagree.inference.acceptance import AcceptancePlan as Known
    from setagree.inference.acceptance import AcceptanceTest as Test

    test = result if isinstance(result, Test) else None
    plan = check_result(test.plan if test else result, Known, "acceptance", "acceptance_plan")
    ax = axes_or_new(ax, height=3.8)
    allowed = f"Check {plan.n:,} answers; accept with at most {counted(plan.c, 'error')}."
    title = "Is the delivery good enough?" if test is None else test.outcome
    heading(ax, title, allowed if test is None else test.verdict)
    found = [] if test is None else [test.n_errors / test.n_checked]
    gap = plan.bad - plan.good
    ends = [max(0.0, plan.good - gap), min(1.0, plan.bad + 2.5 * gap), *found]
    rates = np.linspace(min(ends), max(ends), 400)
    curve = np.array([plan.accepts(rate) for rate in rates])
    ax.fill_between(rates, curve, color=BLUE, alpha=0.15, linewidth=0)
    ax.plot(rates, curve, color=BLUE, linewidth=1.8)
    how = "" if is_narrow(ax) else "accepted with probability "
    for name, form, colour in (("good", "o", BLUE), ("bad", "D", ORANGE)):
        rate = getattr(plan, name)
        (mark,) = ax.plot(rate, plan.accepts(rate), form, color=colour, markersize=7, zorder=3)
        mark.set(label=f"{name}, {rate:g}: {how}{number(plan.accepts(rate))}", clip_on=False)
    for rate in found:
        line = ax.axvline(rate, color=ink(ax), linestyle="--", linewidth=1, clip_on=False)
        line.set_label(f"found: {number(rate)}")
    legend = ax.legend(loc="best", fontsize=NAME_SIZE, labelcolor=ink(ax), framealpha=1.0)
    legend.get_frame().set(facecolor=ax.get_facecolor(), edgecolor="none")
    ax.set_xlim(min(ends), max(ends))
    ax.set_ylim(0, 1.06)
    ax.grid(axis="y", color=ink(ax), alpha=FAINT, linewidth=0.6)
    label_x(ax, "true error rate of the delivery")
    label_y(ax, "probability to accept it")
    return ax


@picture(
    takes="What `intra_rater_agreement` returned.",
    most="raters are drawn at most: those with the most answers repeated",
)
def repeats(result: IntraRater, *, limit: int = 40, ax: Axes | None = None) -> Axes:
    """Draw how far raters agree with themselves, one line a rater.

    The first row is all of them together; a dashed line marks how far they agree with one another,
    and the band around it is the interval of that.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> rows = [("ann", 1, "a"), ("ann", 1, "a"), ("ann", 2, "b"), ("ann", 2, "a, b"),
    ...         ("ben", 1, "a"), ("ben", 2, "c"), ("ann", 3, "c"), ("ben", 3, "c"), ("ben", 3, "c")]
    >>> study = sa.Annotations.from_triples(rows, duplicates="repeats")
    >>> ax = plots.repeats(sa.intra_rater_agreement(study))
    >>> [name.get_text() for name in ax.get_yticklabels()]
    ['all raters', 'ann', 'ben']
    """
    from setagree.diagnosis.intra_rater import IntraRater as Known

    check_limit(limit)
    result = check_result(result, Known, "repeats", "intra_rater_agreement")
    place = {rater: k for k, (rater, _) in enumerate(result.by_rater)}
    # As in the study: of raters with equally many repeats not the least steady ones are drawn.
    frame = result.to_frame().sort_values("rater", key=lambda names: names.map(place.__getitem__))
    what = "raters with the most answers repeated"
    # One row is of all raters; the verdict above takes the height of two more.
    ax, shown, note = list_axes(frame, ax, limit=limit, by="n_units", what=what, more=3)
    shown = shown.sort_values("estimate", kind="stable")
    distance = short_text(distance_name(result.pooled.distance))
    heading(
        ax,
        "Agreement of raters with themselves",
        short_text(result.verdict, limit=400),
        f"Alpha of the answers of a rater to the same unit ({distance} distance), "
        f"{level_text(result.level)} intervals; dashes: raters with one another.",
        note,
    )
    own, between = (
        (one.estimate, *one.interval(result.level, method=one.best_method))
        for one in (result.pooled, result.between)
    )
    values, lows, highs = (
        np.append(first, floats(shown, name))
        for first, name in zip(own, ("estimate", "low", "high"), strict=True)
    )
    names = ["all raters", *texts(shown, "rater")]
    why = [result.pooled.reason or "", *reasons(shown)]
    rows = Rows(names, values, lows, highs, why)
    rows.columns["units"] = [count(n) for n in (result.pooled.n_units, *shown["n_units"])]
    rows.columns["alpha (interval)"] = estimates_column(rows)
    draw_rows(ax, rows)
    if np.isfinite(between[0]):
        left, right = ax.get_xlim()
        ax.set_xlim(min(left, between[0] - 0.02), max(right, between[0] + 0.02))
        if np.isfinite(between[1]):
            ax.axvspan(*between[1:], color=ORANGE, alpha=0.12, linewidth=0, zorder=0)
        ax.axvline(between[0], color=ORANGE, linewidth=1.4, linestyle="--", zorder=1)
    ax.axhline(0.5, color=ink(ax), alpha=0.3, linewidth=0.6)
    label_x(ax, "alpha")
    return ax


UNDEFINED = "·"
"""Text of a cell without a number."""

_FEW, _FEW_NARROW = 12, 6
"""Columns that fill the width."""


@dataclass(frozen=True)
class Cells:
    """A matrix with the intensity (-1 to 1, or NaN for blank) and the text of each cell."""

    strength: Floats
    texts: Sequence[Sequence[str]]
    rows: Sequence[str]
    columns: Sequence[str]
    key: tuple[str, str]
    """What the darkest cell means, and the lightest."""


def draw_cells(ax: Axes, cells: Cells) -> None:
    """Draw a matrix in one colour that fades into the page, negative cells in the other.

    Text that does not fit in the cells is omitted.
    """
    ax.imshow(shades(cells.strength), interpolation="none", aspect="auto", zorder=1)
    # Few columns do not fill the width: their cells would be bars.
    across = max(len(cells.columns), _FEW_NARROW if is_narrow(ax) else _FEW)
    ax.set_xlim(-0.5, across - 0.5)
    size = 7.0 if max(cells.strength.shape) > WRITTEN else NAME_SIZE
    names = [cut(name, LONGEST - 8) for name in cells.columns]
    ax.set_xticks(range(len(names)), names, fontsize=size, rotation=90, usetex=False)
    ax.set_yticks(range(len(cells.rows)), list(cells.rows), fontsize=size, usetex=False)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    longest = max((len(text) for row in cells.texts for text in row), default=0)
    points = 72 * ax.get_window_extent().width / ax.figure.dpi
    if across * max(longest, 3) * 5.0 <= points and len(cells.rows) <= WRITTEN:
        for (i, j), text in np.ndenumerate(np.array(cells.texts, dtype=object)):
            ax.text(j, i, text, ha="center", va="center", fontsize=7, color=ink(ax), usetex=False)
    else:
        _sign_cells(ax, cells)
        _key(ax, cells.key)


def shades(strength: Floats) -> Floats:
    """Return the colours of cells, shape (..., 4): opaque if strong, transparent if NaN."""
    from matplotlib.colors import to_rgb

    out = np.zeros((*strength.shape, 4))
    out[..., :3] = to_rgb(BLUE)
    out[strength < 0, :3] = to_rgb(ORANGE)
    shown = 0.06 + 0.84 * np.minimum(np.abs(strength), 1)
    out[..., 3] = np.nan_to_num(shown, nan=0.0)
    return out


def _sign_cells(ax: Axes, cells: Cells) -> None:
    """Mark negative cells with a minus and undefined cells with a dot, in addition to colour."""
    undefined = np.array([[text == UNDEFINED for text in row] for row in cells.texts])
    for where, mark in ((cells.strength < 0, "_"), (undefined, ".")):
        i, j = np.nonzero(where)
        ax.plot(j, i, mark, color=ink(ax), alpha=0.6, markersize=3.5, zorder=2)


def _key(ax: Axes, ends: tuple[str, str]) -> None:
    """Draw the scale of the cells to the right of the matrix."""
    bar = ax.inset_axes((1.04, 0.6, 0.03, 0.4))
    bar.imshow(shades(np.linspace(1, 0, 64)[:, None]), aspect="auto", extent=(0, 1, 0, 1))
    bar.yaxis.tick_right()
    bar.set_xticks([])
    bar.set_yticks([1, 0], list(ends), fontsize=7.5, usetex=False)
    bar.tick_params(length=0)
    for spine in bar.spines.values():
        spine.set_visible(False)


@picture(takes="What `weights` returned.", most="values are drawn at most")
def weights(
    credit: Weights, *, counts: npt.ArrayLike | None = None, limit: int = 30, ax: Axes | None = None
) -> Axes:
    """Draw the credit w = 1 - d / d_max between observed answers: 1 full, 0 none.

    Parameters
    ----------
    credit : Weights
        What `weights` returned.
    counts : array_like of shape (K,), optional
        Number of occurrences of each value in the study. If there are many values, the most
        frequent are drawn; without counts, an even selection in reading order.

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
    check_limit(limit)
    if not isinstance(credit, Weights):
        raise OptionError(f"plots.weights draws what sa.weights returned, not {shorten(credit)}.")
    ax = axes_or_new(ax, height=cells_height(credit.n_values, limit=limit))
    codes, note = _drawn(credit, counts, fitting(ax, limit, each=CELL))
    heading(
        ax,
        "Credit between answers",
        f"1: the same, 0: as far apart as can be (w = 1 {MINUS} d / largest d).",
        note,
    )
    grid = np.meshgrid(codes, codes, indexing="ij")
    matrix = credit.at(grid[0].ravel(), grid[1].ravel()).reshape(grid[0].shape)
    names = [short_text(display_value(credit.values[code])) for code in codes]
    texts = [[number(x, digits=2) for x in row] for row in matrix]
    draw_cells(ax, Cells(matrix, texts, names, names, ("1", "0")))
    return ax


def _drawn(credit: Weights, counts: npt.ArrayLike | None, limit: int) -> tuple[Codes, str]:
    """Return the codes of the values that are drawn, in reading order, and which they are."""
    n = credit.n_values
    if counts is not None:
        try:
            found = np.asarray(counts, dtype=np.float64)
        except (TypeError, ValueError):
            raise OptionError(f"counts={shorten(counts)} must be a number a value.") from None
        if found.shape != (n,):
            raise OptionError(f"counts has the shape {found.shape}; there are {n:,} values.")
        chosen, which = largest(found, limit), "most frequent answers"
    else:
        chosen, which = np.arange(n), "answers spread evenly in reading order"
    ordered = np.array(
        sorted(chosen, key=lambda code: reading_key(credit.values[code])), dtype=np.intp
    )
    if len(ordered) > limit:
        ordered = ordered[np.linspace(0, n - 1, limit).round().astype(int)]
    note = f"The {len(ordered):,} {which}, of {n:,}." if len(ordered) < n else ""
    return ordered, note
