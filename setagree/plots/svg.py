"""A picture as an SVG element that can stand in a page."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from setagree.plots.base import need_matplotlib
from setagree.wording.text import short_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK = "#010203"
_TAG = re.compile(r"<[^<>]*>")
_QUIET = ("Glyph .* missing", "Matplotlib currently does not support", "constrained_layout not")


def inline_svg(
    draw: Callable[[Axes], object], *, description: str, width: float = 7.2, height: float = 4.2
) -> str:
    """Return what ``draw`` draws as an SVG element that can stand in an HTML page.

    Its ground is clear and its ink is that of the page (``currentColor``), so that it follows a
    light or a dark page; its text stays text; its ids are its own; it refers to nothing outside.

    Parameters
    ----------
    draw : callable
        Takes the axes to draw on, such as ``lambda ax: plots.labels(frame, ax=ax)``.
    description : str
        What a screen reader says.
    width, height : float
        Inches; the element takes the width of its place on the page, up to this.
    """
    need_matplotlib()
    from matplotlib.figure import Figure

    with page_style():
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure.add_subplot())
        return svg_element(figure, description)


@contextmanager
def page_style() -> Iterator[None]:
    """Let what is drawn take the ink of a page, and leave its letters to the browser."""
    from matplotlib import style

    inks = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    letters = {"svg.fonttype": "none", "svg.hashsalt": "setagree"}
    page = {**dict.fromkeys(inks, _INK), **letters}
    with style.context(["default", page]), warnings.catch_warnings():
        for message in _QUIET:
            warnings.filterwarnings("ignore", message=message)
        yield


def svg_element(figure: Figure, description: str) -> str:
    """Return a figure that was drawn in the style of a page as an SVG element."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    out = io.StringIO()
    for ground in (figure.patch, *(ax.patch for ax in figure.axes)):
        ground.set(facecolor="none", edgecolor="none")
    # Not savefig, which draws once more to find the layout that drawing finds itself.
    FigureCanvasSVG(figure).print_svg(out)  # type: ignore[no-untyped-call]
    return _for_page(out.getvalue(), description, 72 * figure.get_figwidth())


def _for_page(svg: str, description: str, width: float) -> str:
    """Return the SVG element alone, without ids, styles and addresses that reach outside it."""
    body = svg[svg.index("<svg") :]
    for part in (r"<metadata>.*?</metadata>", r"<style[^>]*>.*?</style>", r"<!--.*?-->"):
        body = re.sub(part, "", body, flags=re.DOTALL)
    box = re.search(r'viewBox="[^"]*"', body)
    said = " ".join(short_text(description, limit=600).replace(r"\$", "$").split())
    head = (
        f'<svg {box[0] if box else ""} role="img" aria-label={quoteattr(said)} '
        f'style="width:100%;max-width:{width:g}pt;height:auto;'
        'overflow:visible;stroke-linejoin:round;stroke-linecap:butt">'
    )
    rest = body[body.index(">") + 1 :].strip()
    used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', "".join(_TAG.findall(rest))))
    own = f"p{hashlib.sha256(rest.encode()).hexdigest()[:10]}-"
    return head + _TAG.sub(lambda tag: _page_tag(tag[0], used, own), rest)


def _page_tag(tag: str, used: set[str], own: str) -> str:
    """Return a tag with the ink and the letters of the page, and ids that no other picture has."""

    def renamed(found: re.Match[str]) -> str:
        return f' id="{own}{found[1]}"' if found[1] in used else ""

    tag = re.sub(r' id="([^"]*)"', renamed, tag.replace(" xlink:href=", " href="))
    tag = re.sub(r'(url\(|href=")#', rf"\g<1>#{own}", tag).replace(_INK, "currentColor")
    return re.sub(r"'DejaVu Sans'[^;\"]*", "system-ui, sans-serif", tag)
