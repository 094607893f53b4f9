"""Pictures of the labels: agreement on each, and which stands where another rater put which."""

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
    ink,
    label_x,
    list_axes,
    need_columns,
    nothing,
    picture,
)
from setagree.plots.cells import Cells, draw_cells
from setagree.plots.style import Floats, coded, floats, reasons, rescaled, texts
from setagree.wording.numbers import count, level_text, number, share
from setagree.wording.text import short_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OFTEN = 2.0
"""Times as often as by chance that a confusion is framed."""


@picture(
    takes="What `by_label` returned.",
    most="labels are drawn at most: those with the largest share of the disagreement",
)
def labels(
    frame: pd.DataFrame, *, level: float = 0.95, limit: int = 40, ax: Axes | None = None
) -> Axes:
    """Draw the agreement on each label with its interval, and what the label costs.

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
    heading(ax, "Agreement label by label", f"{drawn} Diamonds: Gwet's AC1.", note)
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
    """Draw which label stands where another rater put which.

    Examples
    --------
    >>> import pandas as pd
    >>> from setagree import plots
    >>> frame = pd.DataFrame({"label": ["joy", "joy"], "other": ["calm", None],
    ...                       "kind": ["instead", "left out"], "pairs": [12, 5],
    ...                       "lift": [3.0, 0.5]})
    >>> [name.get_text() for name in plots.confusions(frame).get_xticklabels()]
    ['left out', 'joy', 'calm']
    """
    check_limit(limit)
    need_columns(frame, ("label", "other", "kind", "pairs", "lift"), "confusions")
    codes, names = coded(frame, "label", "other")
    ax = axes_or_new(ax, height=cells_height(len(names), limit=limit))
    pairs = floats(frame, "pairs")
    total = np.zeros(len(names) + 1)
    np.add.at(total, codes, np.nan_to_num(pairs)[:, None])
    kept = np.argsort(-total[:-1], kind="stable")[: fitting(ax, limit, each=CELL)]
    heading(ax, "Which label stands where another rater put which", *_how_read(kept, names))
    if not names:
        return nothing(ax, "No two ratings of a unit differ.")
    shown = [short_text(names[code]) for code in kept]
    draw_cells(ax, _confusion_cells(_matrix(codes, pairs, kept, len(names)), shown))
    _frame_cells(ax, _matrix(codes, floats(frame, "lift"), kept, len(names)) >= _OFTEN)
    ax.axvline(0.5, color=ink(ax), alpha=0.6, linewidth=0.8)
    return ax


def _how_read(kept: npt.NDArray[np.intp], names: list[object]) -> list[str]:
    note = f"The {len(kept):,} labels with the most pairs, of {len(names):,}."
    return [
        "Pairs of ratings: one has the row's label, the other the column's instead.",
        "Left out: the other has nothing in its place. Framed: at least twice chance.",
        note if len(kept) < len(names) else "",
    ]


def _matrix(
    codes: npt.NDArray[np.intp], values: Floats, kept: npt.NDArray[np.intp], n: int
) -> Floats:
    """Return the values of the labels that are kept, labels x (left out, labels); nan for none."""
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
    """Return the cells, shaded up to the largest confusion of two labels.

    Labels are left out more often than confused; their column would leave the others pale.
    """
    texts = [["" if np.isnan(x) else count(x) for x in row] for row in counts]
    most = float(np.nanmax(counts[:, 1:], initial=0.0)) or float(np.nanmax(counts, initial=0.0))
    strength = np.where(counts > 0, np.minimum(rescaled(counts, most), 1), np.nan)
    return Cells(strength, texts, names, ["left out", *names], (f"{count(most)} or more", "0"))


def _frame_cells(ax: Axes, often: npt.NDArray[np.bool_]) -> None:
    from matplotlib.patches import Rectangle

    for i, j in np.argwhere(often):
        place = (j - 0.44, i - 0.44)
        ax.add_patch(Rectangle(place, 0.88, 0.88, fill=False, edgecolor=ink(ax), linewidth=1.2))
