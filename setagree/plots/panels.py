"""Pictures that compare raters: a model with the humans, and a map of all raters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import counted
from setagree.plots.base import (
    BLUE,
    FAINT,
    ORANGE,
    Floats,
    Rows,
    axes_or_new,
    beside,
    check_limit,
    check_result,
    draw_rows,
    estimates_column,
    floats,
    heading,
    ink,
    is_narrow,
    label_x,
    label_y,
    list_axes,
    nothing,
    picture,
)
from setagree.scoring.coefficients import distance_name
from setagree.wording.number_format import MINUS, count, p_value, share
from setagree.wording.sentences import short_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from setagree.panels.alt_test import AltTest, AltTestTable
    from setagree.panels.rater_map import RaterMap

_FORMS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Of the clusters; every one differs from every other, whatever its colour."""

_LETTER, _LINE = 4.6, 10.0
"""Points that a letter of a name takes, and a line of it."""

_NAME = 22
"""Columns of type that a name on the map may take."""


@picture(
    takes="What `alt_test` returned for one model.",
    most="humans are drawn at most: those who share the most units",
)
def advantage(alt_test: AltTest | AltTestTable, *, limit: int = 40, ax: Axes | None = None) -> Axes:
    """Draw how often the model is at least as near to the other humans as each human is.

    In each row a dot is the model, with its 95% interval, a hollow diamond is the human, and a
    short line is the human minus epsilon. The model wins over a human if a test, corrected for all
    humans, puts it to the right of that line.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> study = sa.simulate(200, 5, skill=[0.7, 0.7, 0.7, 0.7, 0.9], rng=1)
    >>> ax = plots.advantage(sa.alt_test(study, model="r5"))
    >>> [name.get_text() for name in ax.get_yticklabels()]
    ['r1', 'r2', 'r3', 'r4']
    """
    from setagree.panels.alt_test import AltTest as Known
    from setagree.panels.alt_test import AltTestTable as Table

    check_limit(limit)
    if isinstance(alt_test, Table) and len(alt_test) == 1:
        (alt_test,) = alt_test.rows
    hint = " Of a table, take one model: table['gpt']."
    alt_test = check_result(alt_test, Known, "advantage", "alt_test", hint=hint)
    what = "humans who share the most units"
    ax, shown, note = list_axes(alt_test.humans, ax, limit=limit, by="n_units", what=what, more=2)
    heading(
        ax,
        f"{short_text(alt_test.model)} beside each human",
        short_text(alt_test.verdict, limit=700),
        f"How often each is at least as near to the other humans ({_distance(alt_test)}); "
        "line: 95% interval.",
        note,
    )
    if alt_test.reason is not None:
        return nothing(ax, f"undefined: {alt_test.reason}")
    draw_rows(ax, _advantage_rows(shown), origin=1.0)
    _draw_limits(ax, shown, alt_test.epsilon)
    _name_marks(ax, alt_test, shown)
    label_x(ax, "share of the units, ties count for both")
    return ax


def _distance(result: AltTest | RaterMap) -> str:
    return f"the {short_text(distance_name(result.distance))} distance"


def _advantage_rows(frame: pd.DataFrame) -> Rows:
    columns = {
        "units": [count(x) for x in floats(frame, "n_units")],
        "p, corrected": [p_value(x) for x in floats(frame, "p_adjusted")],
        "model wins": ["yes" if won else "no" for won in frame["rejected"]],
    }
    values, low, high, own = (
        floats(frame, name) for name in ("advantage", "low", "high", "human_advantage")
    )
    rows = Rows([short_text(x) for x in frame.index], values, low, high, (), columns, own)
    columns["model (interval)"] = estimates_column(rows)
    return rows


def _draw_limits(ax: Axes, frame: pd.DataFrame, epsilon: float) -> None:
    """Mark the human less epsilon in each row, joined to the human."""
    y, own = np.arange(len(frame)), floats(frame, "human_advantage")
    ax.hlines(y, own - epsilon, own, color=ORANGE, linewidth=0.9, linestyles=":", zorder=1)
    ax.vlines(own - epsilon, y - 0.28, y + 0.28, color=ORANGE, linewidth=1.8, zorder=2)
    left, right = ax.get_xlim()
    lowest = float((own - epsilon).min())
    ax.set_xlim(min(left, lowest - 0.04 * (right - lowest)), right)
    ax.set_ylim(len(frame) - 0.4, -2.3)


def _name_marks(ax: Axes, alt_test: AltTest, frame: pd.DataFrame) -> None:
    """Label each mark of the first row above it, the middle one above the others."""
    first = frame.iloc[0]
    human = float(first["human_advantage"])
    marks = [
        (float(first["advantage"]), short_text(alt_test.model, limit=_NAME)),
        (human, "the human"),
    ]
    levels, sides = [-0.95, -0.95], ["right", "left"]
    if alt_test.epsilon:
        marks.append((human - alt_test.epsilon, f"the human {MINUS} {alt_test.epsilon:g}"))
        levels, sides = [-0.95, -1.75, -0.95], ["right", "center", "left"]
    for (x, text), level, side in zip(sorted(marks), levels, sides, strict=True):
        ax.plot([x, x], [level + 0.3, -0.3], color=ink(ax), alpha=0.4, linewidth=0.7, zorder=1)
        shift = ({"right": -1, "center": 0, "left": 1}[side], 0)
        beside(ax, text, (x, level), shift, of="data", size=8, ha=side, loud=True)


# ---- The map -------------------------------------------------------------------------------------


@picture(
    takes="What `rater_map` returned.",
    most="raters are named at most, those farthest from the others first",
)
def rater_map(rater_map: RaterMap, *, limit: int = 40, ax: Axes | None = None) -> Axes:
    """Draw the raters as points: the nearer, the more they agree beyond chance.

    Clusters differ in form and colour; the text above states whether they are more than noise. All
    raters are drawn; names that would overlap are omitted.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> found = sa.rater_map(sa.simulate(60, 4, rng=1), n_resamples=19, rng=1)
    >>> sorted(text.get_text() for text in plots.rater_map(found).texts[1:])
    ['r1', 'r2', 'r3', 'r4']
    """
    from setagree.panels.rater_map import RaterMap as Known

    check_limit(limit)
    check_result(rater_map, Known, "rater_map", "rater_map")
    ax = axes_or_new(ax, height=5.4)
    table = rater_map.table[rater_map.table["cluster"] > 0]
    points = np.column_stack([floats(table, "x"), floats(table, "y")])
    _draw_clusters(ax, points, table["cluster"].to_numpy())
    _frame_points(ax, points)
    placed = _placed_names(ax, points, table, limit)
    heading(ax, "Raters on a map", *_map_lines(rater_map, len(placed), len(table)))
    for code, (shift, side) in placed.items():
        name, (x, y) = short_text(table.index[code], limit=_NAME), points[code]
        beside(ax, name, (x, y), shift, of="data", size=8, ha=side, loud=True)
    label_x(ax, "first axis, in disagreement over chance")
    label_y(ax, "second axis")
    return ax


def _map_lines(found: RaterMap, named: int, total: int) -> list[str]:
    """Return the verdict, what a distance on the map is, and what is not on it."""
    held = f"two dimensions hold {share(found.explained)} of their spread"
    lines = [
        short_text(found.verdict, limit=400),
        f"Apart: disagreement ({_distance(found)}) over what chance gives; {held}.",
    ]
    if found.n_bridged:
        pairs = counted(found.n_bridged, "pair")
        lines.append(f"{pairs} without shared units: placed by way of others.")
    left_out = len(found.table) - total
    if left_out:
        lines.append(f"Not on the map, without shared units: {counted(left_out, 'rater')}.")
    if named < total:
        lines.append(f"Named: the {named:,} farthest from the others that fit, of {total:,}.")
    return lines


def _frame_points(ax: Axes, points: Floats) -> None:
    """Set limits that leave room for names, one unit as long across as upwards."""
    box = ax.get_window_extent()
    low, high = points.min(axis=0), points.max(axis=0)
    across = (high - low) * (1.35, 1.2)
    unit = max(across[0] / box.width, across[1] / box.height) or 1 / box.width
    half = 0.5 * unit * np.array([box.width, box.height])
    (left, bottom), (right, top) = (low + high) / 2 - half, (low + high) / 2 + half
    # The aspect may widen them once the layout is known.
    ax.set_xlim(left, right, auto=True)
    ax.set_ylim(bottom, top, auto=True)
    ax.set_aspect("equal", adjustable="datalim")
    ax.locator_params(nbins=6)
    ax.grid(color=ink(ax), alpha=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)


def _draw_clusters(ax: Axes, points: Floats, clusters: npt.NDArray[np.integer]) -> None:
    """Draw the points of each cluster in its own form, with a key of the cluster sizes."""
    for place, cluster in enumerate(np.unique(clusters).tolist()):
        mine = points[clusters == cluster]
        ax.plot(
            *mine.T,
            _FORMS[place % len(_FORMS)],
            color=(BLUE, ORANGE)[place % 2],
            fillstyle="full" if place < 4 else "none",
            markersize=6.5,
            alpha=0.85,
            linestyle="",
            zorder=3,
            label=f"cluster {cluster}: {counted(len(mine), 'rater')}",
        )
    if len(np.unique(clusters)) > 1:
        ax.legend(
            loc="upper left",
            bbox_to_anchor=(0.0, -0.14) if is_narrow(ax) else (1.0, 1.0),
            borderaxespad=0.2,
            frameon=False,
            fontsize=8,
            labelcolor=ink(ax),
            handletextpad=0.3,
        )


Place = tuple[tuple[float, float], str]


def _placed_names(ax: Axes, points: Floats, table: pd.DataFrame, limit: int) -> dict[int, Place]:
    """Return the names that fit, with their positions relative to their points.

    Names are placed in free space to the right, left, above or below; points farthest from the
    others come first.
    """
    scale = 72 / ax.figure.dpi
    at = ax.transData.transform(points) * scale
    box = ax.get_window_extent()
    edges = np.array([box.x0, box.y0, box.x1, box.y1]) * scale
    taken = np.column_stack([at - 3.5, at + 3.5])
    order = np.argsort(-np.nan_to_num(floats(table, "mean_distance")), kind="stable")
    placed: dict[int, Place] = {}
    for code in order.tolist():
        width = _LETTER * min(len(str(table.index[code])), _NAME) + 2
        found = _free_place(at[code], width, taken, edges)
        if len(placed) < limit and found is not None:
            spot, area = found
            placed[code] = spot
            taken = np.vstack([taken, area])
    return placed


def _free_place(
    at: Floats, width: float, taken: Floats, edges: Floats
) -> tuple[Place, Floats] | None:
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
        inside = (area[:2] >= edges[:2]).all() and (area[2:] <= edges[2:]).all()
        apart = (
            (taken[:, 0] >= area[2])
            | (taken[:, 2] <= area[0])
            | (taken[:, 1] >= area[3])
            | (taken[:, 3] <= area[1])
        )
        if inside and apart.all():
            return (shift, side), area
    return None
