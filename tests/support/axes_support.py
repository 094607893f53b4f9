"""Axes for the tests of the pictures, and what is on them."""

import warnings

from matplotlib.figure import Figure


def fresh(width=7.2, height=5.0):
    """Return axes of a figure that pyplot does not know."""
    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def drawn(ax):
    """Draw the figure; only letters that no font has may be warned of."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing|Matplotlib currently does not")
        ax.figure.canvas.draw()
    return ax


def rows_named(ax):
    return [name.get_text() for name in ax.get_yticklabels()]
