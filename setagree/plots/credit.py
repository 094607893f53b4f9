"""The picture of a distance: the credit between observed answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from setagree.credit.base import Codes, Weights, display_value, reading_key
from setagree.errors import OptionError, shorten
from setagree.plots.base import (
    CELL,
    axes_or_new,
    cells_height,
    check_limit,
    fitting,
    heading,
    picture,
)
from setagree.plots.cells import Cells, draw_cells
from setagree.plots.style import largest
from setagree.wording.numbers import MINUS, number
from setagree.wording.text import short_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        How often each value stands in the study. Of many values the most frequent are drawn then;
        without counts, some that are spread evenly over all in reading order.

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
