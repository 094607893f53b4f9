"""Matrices of cells: agreements of pairs, confusions, credit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from setagree.plots.base import WRITTEN, ink, is_narrow
from setagree.plots.style import BLUE, NAME_SIZE, ORANGE, Floats
from setagree.wording.text import LONGEST, cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNDEFINED = "·"
"""What is written in a cell that has no number."""

_FEW, _FEW_NARROW = 12, 6
"""Columns that fill the width."""


@dataclass(frozen=True)
class Cells:
    """A matrix: how strong each cell is (-1 to 1, nan for none), and what is written in it."""

    strength: Floats
    texts: Sequence[Sequence[str]]
    rows: Sequence[str]
    columns: Sequence[str]
    key: tuple[str, str]
    """What the darkest cell means, and the lightest."""


def draw_cells(ax: Axes, cells: Cells) -> None:
    """Draw a matrix in one colour that fades into the page, negative cells in the other.

    What is written in the cells is left out where it does not fit.
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
    """Return the colours of cells, shape (..., 4): opaque where strong, clear where nan."""
    from matplotlib.colors import to_rgb

    out = np.zeros((*strength.shape, 4))
    out[..., :3] = to_rgb(BLUE)
    out[strength < 0, :3] = to_rgb(ORANGE)
    shown = 0.06 + 0.84 * np.minimum(np.abs(strength), 1)
    out[..., 3] = np.nan_to_num(shown, nan=0.0)
    return out


def _sign_cells(ax: Axes, cells: Cells) -> None:
    """Mark what colour alone does not tell: a minus where negative, a dot where undefined."""
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
