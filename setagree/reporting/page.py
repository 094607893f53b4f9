"""Report as an HTML page, as Markdown or as PDF."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setagree.errors import FileError, MissingDependencyError, counted, shorten
from setagree.plots.base import inline_svg
from setagree.progress import stages
from setagree.reporting.findings import claims_note, main_findings, next_steps, sections
from setagree.reporting.headline import (
    caution,
    counts_line,
    distance_phrase,
    headline,
    humans_only,
    interval_about,
    interval_name,
    limits_sentence,
    plain_verdict,
    verdict_sentence,
)
from setagree.reporting.methods import Methods, version
from setagree.reporting.sections.base import Findings, Picture, Piece, Section, Table
from setagree.scoring.coefficients import coefficient_name
from setagree.wording.number_format import MINUS, interval, is_nothing, number
from setagree.wording.sentences import Name, Sentence, as_markdown, plain
from setagree.wording.tables import Column, markdown_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


TEMPLATES = Path(__file__).parent / "templates"

_WIDTH, _BROAD = 4.6, 9.8
"""Widths of pictures in inches: half of a laptop page, also legible on a phone; and all of it."""

_MAX_HEIGHT = 4.4
"""Largest height of a picture in inches, in which the first rows fit; the table has all."""

_MOST_COLUMNS = 12
"""Columns of a matrix whose names can be read in half of a page."""

_JOINT = re.compile(r"([_/.:\\-]|\w{24})(?=\w)")
"""Places where a long name may break: after a sign inside it, or after 24 letters."""

_SHORT = 16
"""Number of letters up to which a name does not break."""

_FIRST_FINDINGS = 3
"""Number of findings that are always visible, in addition to that on models."""

_LIMITS = (0.667, 0.800)
"""Krippendorff's, which divide the ruler of the headline."""


@dataclass(frozen=True)
class Page:
    """The findings about one question, under its name, with the methods paragraph."""

    title: Name
    findings: Findings
    methods: Methods


def html_report(pages: Sequence[Page], title: Name, overview: Table | None) -> str:
    """Return the page, or the overview of several questions with the page of each."""
    section_lists = [sections(page.findings) for page in pages]
    with stages("drawing", sum(map(len, section_lists))) as reached:
        drawn = [
            [_section(section) for section in listed if reached(section.id) is None]
            for listed in section_lists
        ]
    script = _trusted("report.js")
    digest = hashlib.sha256(script.encode()).digest()
    prefixes = [f"q{k}-" for k in range(1, len(pages) + 1)] if overview else [""]
    text: str = _template().render(
        title=title,
        counts=counted(len(pages), "question") if overview else counts_line(pages[0].findings),
        overview=overview and _table(overview),
        pages=list(map(_page, pages, drawn, prefixes)),
        seed=pages[0].findings.seed,
        version=version(),
        style=_trusted("report.css"),
        script=script,
        script_hash=base64.b64encode(digest).decode(),
    )
    return text


@cache
def _template() -> Any:
    """Return the template of the page, compiled once."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["breakable"] = breakable
    environment.filters["with_minus_signs"] = partial(re.sub, r"(?<![\w-])-(?=\d)", MINUS)
    return environment.get_template("report.html.j2")


def _page(page: Page, drawn: list[dict[str, Any]], prefix: str) -> dict[str, Any]:
    """Return the variables of the template for one question, whose ids begin with the prefix."""
    f, methods = page.findings, page.methods
    return {
        "title": page.title,
        "prefix": prefix,
        "counts": counts_line(f),
        "headline": _headline(f),
        # The finding on models is the first.
        "findings": sorted(main_findings(f), key=lambda one: one.section != "models"),
        "shown": _FIRST_FINDINGS + bool(f.models),
        "steps": next_steps(f),
        "claims": claims_note(f),
        "sections": drawn,
        "methods": [methods.paragraph, *(one.text for one in methods.references)],
        "bibtex": methods.bibtex,
    }


def breakable(text: str) -> Any:
    """Return text that may break inside a long name."""
    from markupsafe import Markup, escape

    if len(text) <= _SHORT:
        return text
    # Escape the text before the breaks, which are HTML tags, are inserted.
    return Markup(_JOINT.sub(r"\1<wbr>", str(escape(text))))  # noqa: S704


def _trusted(name: str) -> Any:
    """Return a template file of the package as text that is not escaped."""
    from markupsafe import Markup

    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))  # noqa: S704 - our own file


def _headline(f: Findings) -> dict[str, Any]:
    main = f.main
    low, high = main.interval(f.level)
    is_defined = main.reason is None
    name = coefficient_name(main.definition, [main.distance])
    return {
        "symbol": main.definition.symbol,
        "estimate": number(main.estimate),
        "what": f"{name}, {distance_phrase(main)}",
        "whose": f"of the {humans_only(f)}" if f.models else "",
        "interval_name": interval_name(f),
        "about": interval_about(f),
        "interval": interval(low, high) if np.isfinite(low) else "",
        "ruler": _ruler(main.estimate, low, high) if is_defined else None,
        "verdict": plain_verdict(f) if is_defined else f"Undefined, because {main.reason}.",
        "limits": limits_sentence(f) if is_defined else "",
        "caution": caution(f),
    }


def _ruler(estimate: float, low: float, high: float) -> dict[str, Any]:
    """Return positions on a line from 0, or the interval's lower end, to 1, in percent."""
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
        "description": (
            f"{number(estimate)} on a line from {start:g} to 1, with limits at 0.667 and 0.800"
        ),
    }


def _section(section: Section) -> dict[str, Any]:
    """Return a section for the template, with its picture as SVG and its cells as text."""
    picture, is_broad = None, False
    if section.picture is not None:
        picture = _drawn(section, section.picture)
        is_broad = section.picture.columns > _MOST_COLUMNS
    table = section.table and _table(section.table)
    return {**vars(section), "picture": picture, "is_broad": is_broad, "table": table}


def _drawn(section: Section, picture: Picture) -> Any:
    """Return a picture as an SVG element."""
    from markupsafe import Markup

    def draw(ax: Axes) -> None:
        picture.draw(ax=ax)

    # For screen readers: the subject and the content of the picture.
    description = f"{section.title}. {plain(section.lead or ())} The numbers are in the table."
    width = _WIDTH if picture.columns <= _MOST_COLUMNS else _BROAD
    # matplotlib escapes every text that it writes.
    height = min(picture.height, _MAX_HEIGHT)
    svg = inline_svg(draw, description=description, width=width, height=height)
    return Markup(svg)  # noqa: S704


def _table(table: Table) -> dict[str, Any]:
    longest = [
        max((float(row[k] or 0) for row in table.rows), default=0.0) if column.is_part else 0.0
        for k, column in enumerate(table.columns)
    ]
    rows = [list(map(_cell, row, table.columns, longest)) for row in table.rows]
    return {**vars(table), "rows": rows, "sortable": len(table.rows) > 2 and table.sortable}


def _cell(value: Any, column: Column, longest: float) -> dict[str, Any]:
    """Return a cell for the template, with a bar if its column has a longest one."""
    bar = round(75 * float(value) / longest, 1) if longest and not is_nothing(value) else None
    return {
        "sentence": column.sentence(value),
        "interval": column.interval(value),
        "sort_key": column.sort_key(value),
        "bar": bar,
        "column": column,
    }


_COMMANDS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("msedge", "microsoft-edge", "microsoft-edge-stable"),
)
_ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
"""Paths of browsers on macOS and Windows."""

_OPTIONS = (
    *("--headless", "--disable-gpu", "--disable-extensions", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--no-pdf-header-footer",
)
_SECONDS = 120


def browser() -> str:
    """Return the path of an installed Chromium, Chrome or Edge."""
    installed = filter(None, map(shutil.which, _COMMANDS))
    path = next(installed, None) or next(filter(os.path.isfile, _ELSEWHERE), None)
    if path is None:
        raise MissingDependencyError(
            "a PDF is printed by Chromium, Chrome or Edge, and none of them was found; install one "
            "(on Debian: apt install chromium), or let the path end in .html and print that page "
            "from any browser."
        )
    return path


def printed(page: str) -> bytes:
    """Return an HTML page as PDF.

    Raise MissingDependencyError if no such browser is installed, and FileError if printing fails or
    takes more than two minutes.
    """
    command = [browser(), *_OPTIONS]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--no-sandbox")  # Chromium requires it for root
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source, target = Path(folder, "page.html"), Path(folder, "page.pdf")
        # On paper, all parts that a reader could open are shown.
        opened = re.sub("<details(?= |>)", "<details open", page)
        source.write_bytes(opened.encode("utf-8", "backslashreplace"))
        command += [f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}"]
        try:
            done = subprocess.run(  # noqa: S603 - an installed browser and our own page
                [*command, source.as_uri()], capture_output=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise FileError(f"{command[0]} could not print the report: {error}.") from error
        if not target.is_file():
            messages = done.stderr.decode("utf-8", "replace").strip().splitlines()
            reason = shorten(messages[-1]) if messages else f"exit status {done.returncode}"
            raise FileError(f"{command[0]} printed no PDF: {reason}.")
        return target.read_bytes()


def markdown_report(pages: Sequence[Page], title: Name, overview: Table | None) -> str:
    """Return the report as Markdown, with the headings of each of several questions one deeper."""
    first, *_ = pages
    if overview is None:
        lines = [*_lines(first.findings, title, first.methods)]
    else:
        lines = [f"# {as_markdown(title.short)}", "", *table_lines(overview)]
        for page in pages:
            lines_of_page = _lines(page.findings, page.title, page.methods)
            lines += [f"#{line}" if line.startswith("#") else line for line in lines_of_page]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _lines(f: Findings, title: Name, methods: Methods) -> Iterator[str]:
    yield from (f"# {as_markdown(title.short)}", "", counts_line(f), "")
    verdict = "" if f.main.reason is not None else verdict_sentence(f)
    yield from (f"**{sentence_markdown(headline(f))}** {verdict}", "")
    if warned := caution(f):
        yield from (f"*{warned}*", "")
    yield from ("## Main findings", "")
    for finding in main_findings(f):
        yield f"- **{finding.about}.** {sentence_markdown(finding.sentence)}"
    if note := claims_note(f):
        yield from ("", f"*{plain_text(note)}*")
    if steps := next_steps(f):
        lines = (f"{k}. {sentence_markdown(step)}" for k, step in enumerate(steps, 1))
        yield from ("", "## What to do next", "", *lines)
    for section in sections(f):
        yield from _markdown_section(section)
    yield from ("", "## Methods paragraph", "")
    references = [f"- {plain_text(one.text)}" for one in methods.references]
    yield from (plain_text(methods.paragraph), "", *references)
    yield from ("", "<details><summary>The references as BibTeX</summary>", "")
    yield from ("```bibtex", methods.bibtex, "```", "", "</details>")


def _markdown_section(section: Section) -> Iterator[str]:
    yield from ("", f"## {section.title}", "")
    if section.lead:
        yield from (sentence_markdown(section.lead), "")
    for passage in section.passages:
        yield from (sentence_markdown(passage.title), "")
        for rater, pieces in passage.lines:
            yield f"- **{as_markdown(rater.short)}**: {''.join(map(_bracketed, pieces))}"
        yield ""
    if section.table is not None:
        yield from table_lines(section.table)
    if section.note:
        yield from (f"*{plain_text(section.note)}*", "")


def _bracketed(piece: Piece) -> str:
    """Return a piece as Markdown, in brackets with its labels if there are some."""
    text, labels = as_markdown(piece.text), ", ".join(as_markdown(x.short) for x in piece.labels)
    return rf"\[{text}\]<sup>{labels}</sup>" if labels else text


def table_lines(table: Table) -> Iterator[str]:
    """Yield the lines of a table with its caption, and a note on rows that are left out."""
    yield from (f"*{table.caption}*", "")
    heads = [column.heading() for column in table.columns]
    rows = (
        [
            column.text(value, sentence_markdown)
            for value, column in zip(row, table.columns, strict=True)
        ]
        for row in table.rows
    )
    left = [not column.is_number for column in table.columns]
    yield from (*markdown_table(heads, rows, left=left), "")
    if table.more:
        yield from (f"*{plain_text(table.more)}*", "")


def sentence_markdown(sentence: Sentence) -> str:
    """Return a sentence as Markdown, in which the texts of the user are escaped."""
    return "".join(
        as_markdown(piece.short) if isinstance(piece, Name) else plain_text(piece)
        for piece in sentence
    )


def plain_text(text: str) -> str:
    """Return our own text with the signs escaped that could start a tag, a cell or emphasis."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", r"\|").replace("*", r"\*")
