"""The report as a page: one HTML file that needs no network and no JavaScript."""

from __future__ import annotations

import base64
import hashlib
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setagree.plots.svg import inline_svg
from setagree.progress import stages
from setagree.reporting.headline import (
    caution,
    distance_phrase,
    humans_only,
    interval_about,
    interval_name,
    quoted_interval,
    verdict_sentence,
)
from setagree.reporting.methods import bibtex_of, version
from setagree.reporting.sections.base import Findings, Picture, Section
from setagree.reporting.sections.registry import main_findings, sections
from setagree.reporting.tables import Column, Table, shown, sorts_as, span
from setagree.scoring.names import coefficient_name
from setagree.wording.numbers import interval, is_nothing, number
from setagree.wording.words import Name, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEMPLATES = Path(__file__).parent / "templates"

_WIDTH, _NARROW = 9.8, 3.75
"""Inches of a picture; a page on a laptop is about as wide, and one on a phone."""

_MOST_NARROW = 9
"""Columns of a matrix whose names can be read on a phone."""

_JOINT = re.compile(r"([_/.:\\-]|\w{24})(?=\w)")
"""Where a long name may break: after a sign inside it, or where a word goes on and on."""

_LIMITS = (0.667, 0.800)
"""Krippendorff's, which divide the ruler of the headline."""


def html_report(f: Findings, title: Name, methods: str, counts: str) -> str:
    """Return the page."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["breakable"] = breakable
    told = sections(f)
    with stages("drawing", len(told)) as reached:
        drawn = [_section(section) for section in told if reached(section.id) is None]
    script = _trusted("report.js")
    digest = hashlib.sha256(script.encode()).digest()
    return environment.get_template("report.html.j2").render(
        title=title,
        counts=counts,
        headline=_headline(f),
        findings=main_findings(f),
        sections=drawn,
        methods=[line for line in methods.splitlines() if line],
        bibtex=bibtex_of(methods),
        seed=f.seed,
        version=version(),
        style=_trusted("report.css"),
        script=script,
        script_hash=base64.b64encode(digest).decode(),
    )


def breakable(text: str) -> Any:
    """Return text that may break inside a long name."""
    from markupsafe import Markup, escape

    # The signs that mean something to HTML are escaped before the breaks are put in.
    return Markup(_JOINT.sub(r"\1<wbr>", str(escape(text))))  # noqa: S704


def _trusted(name: str) -> Any:
    """Return a file of the package as text that needs no escape."""
    from markupsafe import Markup

    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))  # noqa: S704 - our own file


def _headline(f: Findings) -> dict[str, Any]:
    main = f.main
    low, high = quoted_interval(f)
    known = main.reason is None
    named = coefficient_name(main.definition, [main.distance])
    return {
        "symbol": main.definition.symbol,
        "estimate": number(main.estimate),
        "what": f"{named}, {distance_phrase(main)}",
        "whose": f"of the {humans_only(f)}" if f.models else "",
        "interval_name": interval_name(f),
        "about": interval_about(f),
        "interval": interval(low, high) if np.isfinite(low) else "",
        "ruler": _ruler(main.estimate, low, high) if known else None,
        "verdict": verdict_sentence(f) if known else f"Undefined, because {main.reason}.",
        "caution": caution(f),
    }


def _ruler(estimate: float, low: float, high: float) -> dict[str, Any]:
    """Return where things stand on a line from 0, or the interval's lower end, to 1, in percent."""
    low, high = (estimate, estimate) if np.isnan(low) else (max(low, -1.0), high)
    start = min(0.0, np.floor(10 * low) / 10)

    def at(x: float) -> float:
        return round(float(100 * (x - start) / (1 - start)), 2)

    edges = (start, *_LIMITS, 1.0)
    zones = [{"left": at(a), "width": round(at(b) - at(a), 2)} for a, b in pairwise(edges)]
    ticks = [{"at": at(x), "text": f"{x:g}"} for x in edges]
    if start < 0:
        ticks.insert(1, {"at": at(0), "text": "0"})
    return {
        "zones": zones,
        "ticks": ticks,
        "low": at(low),
        "width": round(at(high) - at(low), 2),
        "at": at(max(estimate, start)),
        "says": f"{number(estimate)} on a line from {start:g} to 1, with limits at .667 and .800",
    }


def _section(section: Section) -> dict[str, Any]:
    """Return a section with its picture drawn, and its cells in words."""
    picture = section.picture and _drawn(section, section.picture)
    return {**vars(section), "picture": picture, "table": section.table and _table(section.table)}


def _drawn(section: Section, picture: Picture) -> Any:
    """Return a picture as an SVG element for wide pages and one for narrow ones.

    The page shows the one that fits, so that letters can be read on either.
    """
    from markupsafe import Markup

    def draw(ax: Axes) -> None:
        picture.draw(ax=ax)

    # What a screen reader says: what it is, and what it shows.
    said = f"{section.title}. {plain(section.lead)} The numbers are in the table."
    broad = inline_svg(draw, description=said, width=_WIDTH, height=picture.height)
    narrow = '<p class="note">This picture needs a wider screen.</p>'
    if picture.columns <= _MOST_NARROW:
        # Lines below the title break more often.
        height = picture.height + picture.more
        narrow = inline_svg(draw, description=said, width=_NARROW, height=height)
    # matplotlib escapes every text that it writes.
    both = f'<div class="broad">{broad}</div><div class="narrow">{narrow}</div>'
    return Markup(both)  # noqa: S704


def _table(table: Table) -> dict[str, Any]:
    longest = [
        max((float(row[k] or 0) for row in table.rows), default=0.0)
        if column.kind == "share" and column.head.startswith("Share")
        else 0.0
        for k, column in enumerate(table.columns)
    ]
    rows = [list(map(_cell, row, table.columns, longest)) for row in table.rows]
    return {**vars(table), "rows": rows, "sortable": len(table.rows) > 2 and table.sortable}


def _cell(value: Any, column: Column, longest: float) -> dict[str, Any]:
    """Return a cell as the page shows it, with a bar where its column has a longest one."""
    kind = column.kind
    bar = round(75 * float(value) / longest, 1) if longest and not is_nothing(value) else None
    words = {"said": shown(value, kind), "span": span(value, kind), "sort": sorts_as(value, kind)}
    return {**words, "bar": bar, "column": column}
