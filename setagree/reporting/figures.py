"""The pictures of a report as SVG: small, without ids or addresses that reach outside."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from setagree.plots.base import cells_height, inline_svg, rows_height
from setagree.plots.by_label import confusions, labels
from setagree.plots.by_rater import pairs, raters
from setagree.plots.by_unit import groups, units
from setagree.plots.inference import forest, null
from setagree.plots.panels import advantage, rater_map
from setagree.reporting.findings import Findings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, NARROW = 9.8, 3.75
"""Inches; a page on a laptop is about as wide, and one on a phone."""

MOST_DRAWN = 24
"""Rows of a picture: more do not help on a page that has the table below."""


def figure(f: Findings, name: str, description: str) -> str:
    """Return the picture of a section as an SVG element for wide pages and one for narrow ones.

    The page shows the one that fits, so that letters can be read on either.
    """
    draw, height = _drawing(f, name)
    broad = inline_svg(draw, description=description, width=WIDTH, height=height)
    # Lines below the title break more often; a verdict on a model takes several.
    more = 1.5 if name.startswith("model-") else 0.5
    narrow = inline_svg(draw, description=description, width=NARROW, height=height + more)
    return f'<div class="broad">{broad}</div><div class="narrow">{narrow}</div>'


def _drawing(f: Findings, name: str) -> tuple[Callable[[Axes], object], float]:
    """Return what draws a picture on axes, and how many inches high these should be."""
    if name == "forest":
        rows = _nearest(f)
        return _on(forest, rows, level=f.level), rows_height(len(rows))
    if name == "null":
        return _on(null, f.null), 3.4
    if name == "map":
        return _on(rater_map, f.panels.map), 5.6
    if name.startswith("model-"):
        test = f.panels.tests[int(name.removeprefix("model-")) - 1]
        height = rows_height(len(test.humans) + 2) + 0.4 * len(test.notes)
        return _on(advantage, test, limit=MOST_DRAWN), height
    frame = f.frames[name]
    n = min(len(frame), MOST_DRAWN)
    if name == "confusions":
        n = min(_n_labels(f), 20)
        return _on(confusions, frame), 2.4 + n * min(0.45, 7 / n)
    if name == "pairs":
        return _on(pairs, frame), cells_height(f.study.n_raters)
    if name == "units":
        return _on(units, frame, limit=MOST_DRAWN), 3.6
    if name == "groups":
        frame = frame.sort_values("estimate", kind="stable")  # as the table has them
    lists: dict[str, Any] = {"labels": labels, "raters": raters, "groups": groups}
    return _on(lists[name], frame, level=f.level, limit=MOST_DRAWN), rows_height(n)


def _nearest(f: Findings) -> pd.DataFrame:
    """Return the rows that differ from the headline in the distance or in the coefficient alone."""
    frame = f.table.to_frame()
    same = frame["coefficient"] == f.main.coefficient
    others = (frame["distance"] == f.main.distance) & (frame["coefficient"] != "percent_agreement")
    return frame[same | others]


def _on(draw: Callable[..., Any], result: object, **options: Any) -> Callable[[Axes], object]:
    """Return the drawing of a result, still without its axes."""
    return lambda ax: partial(draw, result, **options)(ax=ax)


def _n_labels(f: Findings) -> int:
    frame = f.frames["confusions"]
    return len(set(frame["label"]) | {other for other in frame["other"] if other is not None})
