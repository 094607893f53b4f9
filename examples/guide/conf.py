"""How Sphinx makes the site: ``python -m sphinx -M html examples/guide build -W``.

The pages are those beside this file, the reference comes from the docstrings, and the pictures of a
page come from its own Python blocks, which run while the site is built. Nothing is fetched.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import latex2mathml.converter
from docutils.nodes import SkipNode
from matplotlib import pyplot as plt

import setagree as sa
from examples.guide.schemas import schemas
from setagree.cli.app import COMMANDS, imported
from setagree.cli.options import COLUMNS, READING
from setagree.errors import MissingDependencyError
from setagree.plots.base import page_style, svg_element
from setagree.reporting.page import browser, printed

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

project = "setagree"
copyright = "the setagree developers, BSD-3-Clause"  # noqa: A001 - Sphinx calls it so
version = release = sa.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
exclude_patterns = ["README.md"]  # GitHub shows it; the front page of the site includes it

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autosummary_generate = False  # each page of the reference holds what its table lists
autodoc_typehints = "none"  # numpydoc says the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_use_plots = False

html_theme = "pydata_sphinx_theme"
html_title = f"setagree {version}"
html_static_path = ["site.css"]
html_extra_path = ["llms.txt"]
html_css_files = ["site.css"]
templates_path = ["templates"]
html_sidebars = {"**": ["contents.html"], "index": ["contents.html"]}
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it fetches pages, which a browser forbids in a folder
html_theme_options = {
    "logo": {"text": "setagree"},
    "navbar_center": [],
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "article_header_start": [],
    "footer_start": ["copyright"],
    "footer_end": [],
    "search_bar_text": "Search",
    "search_as_you_type": True,
}

SHARED = (COLUMNS, READING)
"""The groups of options that all commands which read files share."""

MARKS = re.compile(r"\[(/?[a-z ]+|/)\]| (Also|Then):")
"""What the help of a command has for a terminal, and for the examples below it."""

BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n```text\n.*?^```$)?", re.MULTILINE | re.DOTALL)
"""A Python block with what it prints."""


def setup(app: Sphinx) -> None:
    """Tell Sphinx what is ours."""
    plt.switch_backend("agg")
    app.add_html_math_renderer("mathml", (inline_formula, None), (formula, None))
    app.config.html_math_renderer = "mathml"
    app.connect("source-read", with_pictures)
    app.connect("source-read", with_pdf)
    app.connect("source-read", with_commands)
    app.connect("build-finished", print_cheat_sheet)
    app.connect("build-finished", write_schemas)


def inline_formula(writer: HTML5Translator, node: nodes.math) -> None:
    """Write a formula as MathML, which browsers draw without a script."""
    writer.body.append(latex2mathml.converter.convert(node.astext()))
    raise SkipNode


def formula(writer: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, which scrolls where the page is narrow."""
    drawn = latex2mathml.converter.convert(node.astext(), display="block")
    writer.body.append(f'<div class="formula" tabindex="0">{drawn}</div>')
    raise SkipNode


def with_pictures(_: Sphinx, page: str, source: list[str]) -> None:
    """Run the Python blocks of a page that draws, and put each picture below its block."""
    if "sa.plots." not in source[0]:
        return
    names: dict[str, Any] = {}

    def drawn(block: re.Match[str]) -> str:
        exec(compile(block[1], page, "exec"), names)  # noqa: S102 - it is our own page
        figures = [plt.figure(number) for number in plt.get_fignums()]
        pictures = [svg_element(one, one.axes[0].get_title(loc="left")) for one in figures]
        plt.close("all")
        shown = (f'<figure class="picture" tabindex="0">{one}</figure>' for one in pictures)
        return "\n\n".join([block[0], *(f"```{{raw}} html\n{one}\n```" for one in shown)])

    with page_style(), contextlib.chdir(ROOT), contextlib.redirect_stdout(io.StringIO()):
        source[0] = BLOCK.sub(drawn, source[0])


def with_pdf(_: Sphinx, page: str, source: list[str]) -> None:
    """Link the cheat sheet to its PDF, where there is a browser that prints it."""
    if page == "cheat-sheet" and can_print():
        source[0] += '\n\n<a class="pdf" href="cheat-sheet.pdf">This page as a PDF</a>\n'


def with_commands(_: Sphinx, page: str, source: list[str]) -> None:
    """Put every command below the heading of their page, as the command itself knows them.

    Options of reading stand once, at the end, as those of `score`; a command has what else it has.
    """
    if page != "reference/commands":
        return
    of_score = options_of(imported("score"))
    shared = {row for head in SHARED for row in of_score[head]}
    parts: list[str] = []
    for name, (place, _function, line) in COMMANDS.items():
        module = import_module(f"setagree.cli.{place}")
        told = MARKS.sub("", getattr(module, f"{name.upper()}_HELP", line))
        examples = [row for row in told.splitlines() if row.startswith("setagree ")]
        said = [row for row in told.splitlines() if row and row not in examples]
        parts += [f"## setagree {name}", "\n".join(said)]
        parts += ["\n".join(["```bash", *examples, "```"])] if examples else []
        for head, rows in options_of(imported(name)).items():
            parts += table_of(head, [row for row in rows if row not in shared])
    parts += ["## Options of reading"]
    parts += [part for head in SHARED for part in table_of(head, of_score[head])]
    source[0] = source[0].replace("<!-- commands -->", "\n\n".join(parts))


def options_of(command: Any) -> dict[str, list[str]]:
    """Return the rows of a command's options, in the groups of its help."""
    found: dict[str, list[str]] = {}
    for one in command.params:
        if one.param_type_name == "option" and not one.hidden:
            names = ", ".join(f"`{name}`" for name in one.opts)
            metavar = f" {one.metavar}" if one.metavar else ""
            told = re.sub(r"(--[a-z-]+)|'([^']+)'", r"`\1\2`", one.help.replace("|", "&#124;"))
            row = f"| {names}{metavar.replace('|', ' or ')} | {told} |"
            found.setdefault(one.rich_help_panel or "Options", []).append(row)
    return found


def table_of(head: str, rows: list[str]) -> list[str]:
    """Return a group of options as a table; nothing where it has none."""
    return ["\n".join([f"| {head} | |", "|---|---|", *rows])] if rows else []


def can_print() -> bool:
    """Say whether there is a browser that prints."""
    try:
        return bool(browser())
    except MissingDependencyError:
        return False


def write_schemas(app: Sphinx, error: Exception | None) -> None:
    """Write the JSON schema of each command beside the pages."""
    for name, schema in [] if error else schemas().items():
        Path(app.outdir, name).write_text(json.dumps(schema, indent=2) + "\n", "utf-8")


def print_cheat_sheet(app: Sphinx, error: Exception | None) -> None:
    """Print the cheat sheet on one page of paper."""
    made = Path(app.outdir, "cheat-sheet.html")
    if error or not made.exists() or not can_print():
        return
    article = re.search(r"<article[^>]*>(.*?)</article>", made.read_text("utf-8"), re.DOTALL)
    text = re.sub(r'<a class="(headerlink|pdf)".*?</a>', "", article[1] if article else "")
    style = (HERE / "cheat-sheet.css").read_text("utf-8")
    page = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>setagree</title>'
    made.with_suffix(".pdf").write_bytes(printed(f"{page}<style>{style}</style>{text}</html>"))
