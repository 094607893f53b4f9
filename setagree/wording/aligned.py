"""Frames as lines of aligned text, with four decimals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from setagree.wording.escaping import visible

_TERMINAL = 80


def aligned(frame: pd.DataFrame) -> str:
    """Return the cells as lines: names to the left, numbers to the right."""
    columns = [[str(name), *(visible(str(cell)) for cell in frame[name])] for name in frame.columns]
    widths = [max(map(len, column)) for column in columns]
    # Two spaces between columns, where that fits an ordinary terminal.
    gutter = "  " if sum(widths) + 2 * (len(widths) - 1) <= _TERMINAL else " "
    lines = [
        gutter.join(
            cell.ljust(width) if name in {"coefficient", "distance"} else cell.rjust(width)
            for name, cell, width in zip(frame.columns, row, widths, strict=True)
        )
        for row in zip(*columns, strict=True)
    ]
    return "\n".join(line.rstrip() for line in lines)


def four(x: float) -> str:
    """Return four decimals; what rounds to zero has no sign."""
    text = f"{x:.4f}"
    return "0.0000" if text == "-0.0000" else text


def p_four(p: Any) -> str:
    """Return a p-value with four decimals, or that it is smaller."""
    if np.isnan(p):
        return "-"
    return f"{p:.4f}" if p >= 1e-4 else "<.0001"
