"""Pictures of the raters: what each does to the agreement, and who agrees with whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.plots.base import (
    CELL,
    Rows,
    axes_or_new,
    cells_height,
    check_limit,
    draw_rows,
    fitting,
    heading,
    label_x,
    list_axes,
    need_columns,
    nothing,
    picture,
)
from setagree.plots.cells import UNDEFINED, Cells, draw_cells
from setagree.plots.style import Floats, coded, floats, largest, texts
from setagree.scoring.names import measured
from setagree.wording.numbers import MINUS, count, level_text, number
from setagree.wording.text import short_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    """Draw the agreement of each pair of raters, those who agree alike beside one another.

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
    """Return the raters of a square of agreements, those who agree alike beside one another."""
    n = len(matrix)
    if n < 3 or not np.isfinite(matrix).any():
        return np.arange(n)
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering

    upper = matrix[np.triu_indices(n, 1)]
    apart = np.maximum(0.0, 1 - np.where(np.isfinite(upper), upper, np.nanmean(upper)))
    tree = optimal_leaf_ordering(linkage(apart, "average"), apart)
    return np.asarray(leaves_list(tree), dtype=np.intp)
