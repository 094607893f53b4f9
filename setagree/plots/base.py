"""Axes, colours and vector graphics of the plots."""

from __future__ import annotations

import hashlib
import io
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import Floats
from setagree.errors import DataError, MissingDependencyError, OptionError, shorten
from setagree.wording.result_base import Result
from setagree.wording.sentences import short_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_svg import RendererSVG
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation


# Both are distinguishable with colour blindness, and have a contrast of 4.2 to 1 with white and
# near-black. Their grey value is equal, so that marks that differ in colour also differ in form.
BLUE = "#2f7fc1"
ORANGE = "#c9590a"

FAINT = 0.15
"""Opacity of guide lines."""

SOFT = 0.72
"""Opacity of explanatory text."""

NAME_SIZE, TITLE_SIZE = 8.5, 11.0
"""Points of type."""


def wrapped(lines: Iterable[str], *, width: int) -> str:
    """Return the non-empty lines, each broken at ``width``."""
    return "\n".join(textwrap.fill(line, width) for line in lines if line)


def floats(frame: pd.DataFrame, name: str) -> Floats:
    """Return a column as doubles, with NaN for missing values or a missing column."""
    if name not in frame.columns:
        return np.full(len(frame), np.nan)
    return np.asarray(pd.to_numeric(frame[name], errors="coerce"), dtype=np.float64)


def texts(frame: pd.DataFrame, name: str) -> list[str]:
    """Return a column of names as short texts."""
    return [short_text(value) for value in frame[name]]


def coded(frame: pd.DataFrame, one: str, other: str) -> tuple[npt.NDArray[np.intp], list[object]]:
    """Return the codes of two columns of names, shape (rows, 2), -1 for none, and the names."""
    both = pd.Series([*frame[one], *frame[other]], dtype=object)
    codes, names = pd.factorize(both.to_numpy())
    return codes.reshape(2, -1).T, list(names)


def largest(weight: Floats, limit: int) -> npt.NDArray[np.intp]:
    """Return the positions of the ``limit`` largest, in the original order; NaN is last."""
    ranked = np.argsort(-np.nan_to_num(weight, nan=-np.inf), kind="stable")
    return np.sort(ranked[:limit])


def rescaled(x: Any, top: float) -> Floats:
    """Return x / top, or zeros if that is undefined."""
    values = np.asarray(x, dtype=np.float64)
    return values / top if np.isfinite(top) and top > 0 else np.zeros_like(values)


MAX_ROWS, MAX_CELLS = 30, 40
"""Largest number of rows of a list, and of a matrix without another limit."""

ROW, CELL = 0.17, 0.125
"""Minimum height in inches of a row of a list, and of a cell of a matrix."""

_LINE = 110
"""Letters per line below a title, in axes of the width of a page."""

WRITTEN = 22
"""Rows of a matrix in which numbers can be read."""

_BROAD = 4.5
"""Width of axes in inches above which there is room next to them."""


def rows_height(n: int) -> float:
    """Return the height in inches of a list of ``n`` rows, of which `MAX_ROWS` are drawn."""
    return 1.3 + 0.24 * min(max(n, 2), MAX_ROWS)


def cells_height(n: int, *, limit: int = MAX_CELLS) -> float:
    """Return the height in inches of a matrix of ``n`` rows, up to the limit."""
    n = min(max(n, 2), limit)
    return 2.0 + n * (0.32 if n <= WRITTEN else 0.18)


def need_matplotlib() -> None:
    """Raise `MissingDependencyError` if matplotlib is not installed."""
    try:
        import matplotlib as mpl  # noqa: F401  # tests that it is installed
    except ImportError as error:
        raise MissingDependencyError(
            'pictures need matplotlib; install it with pip install "setagree[plot]".'
        ) from error


_MAKERS = {
    "confusions": "confusions(study)",
    "forest": "agreement(study)",
    "groups": "by_group(study, groups)",
    "labels": "by_label(study)",
    "over_time": "over_time(study, times, window=...)",
    "pairs": "by_pair(study)",
    "raters": "by_rater(study)",
    "units": "by_unit(study)",
}
"""Call that returns the frame of each plot."""


def need_columns(frame: object, names: tuple[str, ...], picture: str) -> None:
    """Raise `DataError` if it is not a frame with these columns."""
    hint = f" Pass the result of sa.{_MAKERS[picture]}."
    if not isinstance(frame, pd.DataFrame):
        raise DataError(f"plots.{picture} draws a DataFrame, not {shorten(frame)}.{hint}")
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise DataError(
            f"plots.{picture} needs the columns {', '.join(names)}; the frame lacks "
            f"{', '.join(missing)}.{hint}"
        )


def check_result(result: Any, kind: str, picture: str, maker: str, *, hint: str = "") -> Any:
    """Return a result, that of the only row if it is a table of such results.

    Raise `OptionError` if it is not a result of the class ``kind``, which is compared by its name
    so that a plot does not load the functions that make results.
    """
    if type(result).__name__ == f"{kind}Table" and len(result) == 1:
        result = result.rows[0]
    if not isinstance(result, Result) or type(result).__name__ != kind:
        raise OptionError(
            f"plots.{picture} draws the result of sa.{maker}, not {shorten(result)}.{hint}"
        )
    return result


def axes_or_new(ax: Axes | None, *, height: float) -> Axes:
    """Return the axes that were given, or those of a new pyplot figure."""
    need_matplotlib()
    if ax is None:
        from matplotlib import pyplot as plt

        return plt.subplots(figsize=(7.2, height), layout="constrained")[1]
    from matplotlib.axes import Axes as AxesClass

    if not isinstance(ax, AxesClass):
        raise OptionError(f"ax={shorten(ax)} is not a matplotlib Axes.")
    return ax


def ink(ax: Axes) -> str:
    """Return the colour of the text, which is light if the axes are for a dark page."""
    return str(ax.title.get_color())


def inches(ax: Axes) -> float:
    """Return the width of the axes in inches."""
    return float(ax.get_window_extent().width / ax.figure.dpi)


def fitting(ax: Axes, limit: int = MAX_ROWS, *, each: float = ROW) -> int:
    """Return the number of rows of ``each`` inches that fit the axes, at most ``limit``."""
    height = ax.get_window_extent().height / ax.figure.dpi
    return max(1, min(limit, int(height / each)))


def is_broad(ax: Axes) -> bool:
    """Return whether the axes are so wide that a key fits next to them."""
    return inches(ax) > _BROAD


def _letters(ax: Axes) -> float:
    """Return the number of small letters that fit across the axes."""
    return 72 * inches(ax) / 5


def heading(ax: Axes, title: str, *lines: str) -> None:
    """Write the title, and below it in smaller type the lines."""
    letters = _letters(ax)
    text = wrapped(lines, width=int(np.clip(letters, 30, _LINE)))
    below = 12 * (text.count("\n") + 1) if text else 0
    # A bold letter is about 0.62 of its size wide, a small one 5 points.
    title = wrapped([title], width=int(5 * letters / (0.62 * NAME_SIZE)))
    longest = max(map(len, title.split("\n")))
    size = float(np.clip(5 * letters / (0.62 * longest), NAME_SIZE, TITLE_SIZE))
    # With y, matplotlib does not measure the ticks to look for a free place.
    style: dict[str, Any] = {"fontsize": size, "fontweight": "bold", "usetex": False}
    ax.set_title(title, loc="left", y=1.0, pad=8 + below, gid=_HEADING, **style)
    if text:
        write_text(ax, text, (0, 1), (0, 5), size=NAME_SIZE, va="bottom").set_gid(_HEADING)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def write_text(
    ax: Axes,
    text: str,
    at: tuple[float, float],
    shift: tuple[float, float],
    *,
    of: Literal["axes", "row", "column", "data"] = "axes",
    size: float = NAME_SIZE,
    ha: str = "left",
    va: str = "center",
    loud: bool = False,
) -> Annotation:
    """Write a text some points away from a place, and return it.

    ``of`` is the coordinate system: fractions of the axes, fractions at the height of a row,
    fractions above a value of the horizontal axis, or data. ``loud`` makes the text opaque.
    """
    across, up = ("data" if of in {"data", name} else "axes fraction" for name in ("column", "row"))
    return ax.annotate(
        text,
        at,
        xycoords=(across, up),
        xytext=shift,
        textcoords="offset points",
        fontsize=size,
        ha=ha,
        va=va,
        color=ink(ax),
        alpha=1.0 if loud else SOFT,
        annotation_clip=False,
        usetex=False,
        zorder=4,
    )


def label_x(ax: Axes, text: str) -> None:
    """Name the horizontal axis."""
    text = wrapped([text], width=int(max(_letters(ax), 30)))
    ax.set_xlabel(text, fontsize=NAME_SIZE, usetex=False)
    ax.tick_params(axis="x", labelsize=NAME_SIZE)


def show_message(ax: Axes, message: str) -> Axes:
    """Show only a message on the axes."""
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_xticks([])
    ax.set_yticks([])
    write_text(ax, wrapped([short_text(message, limit=300)], width=50), (0, 0.5), (0, 0), size=10)
    return ax


_HEADING = "heading"
"""Mark of the texts of a heading."""

_PAD, _AROUND = 3, 80
"""Points between a picture and its edge, and points of its height outside the axes."""


# ---- Vector graphics for a page ------------------------------------------------------------------

_INK = "#010203"
_TAG = re.compile(r"<[^<>]*>")
_QUIET = ("Glyph .* missing", "Matplotlib currently does not support")


def inline_svg(
    draw: Callable[[Axes], object], *, description: str, width: float = 7.2, height: float = 4.2
) -> str:
    """Return the picture of ``draw`` as an SVG element for an HTML page.

    The background is transparent and the ink is that of the page (``currentColor``), for light and
    dark pages. Text stays text, the ids are unique on a page, and there are no external references.
    `description` is the text for screen readers. The width and height, in inches, are upper limits.
    """
    need_matplotlib()
    from matplotlib.figure import Figure

    with page_style():
        figure = Figure(figsize=(width, height))
        # The width that the heading is wrapped for.
        draw(figure.add_axes((0.08, 0.11, 0.9, 0.77)))
        return svg_element(figure, description)


@contextmanager
def page_style() -> Iterator[None]:
    """Draw in the ink of a page, with letters that the browser renders."""
    import matplotlib as mpl

    inks = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    letters = {"svg.fonttype": "none", "svg.hashsalt": "setagree"}
    # Not with `matplotlib.style`, which reads the files of all styles when it is imported.
    kept = {"backend", "timezone"}
    defaults = {x: y for x, y in mpl.rcParamsDefault.items() if x not in kept}
    page: dict[Any, Any] = {**defaults, **dict.fromkeys(inks, _INK), **letters}
    with mpl.rc_context(page), warnings.catch_warnings():
        for message in _QUIET:
            warnings.filterwarnings("ignore", message=message)
        yield


def svg_element(figure: Figure, description: str) -> str:
    """Return a figure, drawn in the style of a page, as an SVG element."""
    from matplotlib.backends.backend_svg import RendererSVG

    out = io.StringIO()
    figure.set_dpi(72)
    for ground in (figure.patch, *(ax.patch for ax in figure.axes)):
        ground.set(facecolor="none", edgecolor="none")
    # One renderer, so that texts are measured once for the layout and the drawing.
    renderer = RendererSVG(*figure.bbox.size, out, image_dpi=72)  # type: ignore[no-untyped-call]
    more = _fit(figure, renderer) if len(figure.axes) == 1 else 0.0
    width, height = figure.bbox.size
    figure.draw(renderer)
    renderer.finalize()  # type: ignore[no-untyped-call]
    box = f"0 {-more:.1f} {width:g} {height + more:.1f}"
    return _for_page(out.getvalue(), description, box, width)


def _fit(figure: Figure, renderer: RendererSVG) -> float:
    """Make room for the texts around the axes, with the heading at the left edge.

    This is faster than matplotlib's constrained layout, which measures everything four times.
    Return the height in points by which the texts above the axes exceed the figure.
    """
    from matplotlib.text import Annotation

    figure.set_layout_engine("none")
    (ax,), (width, height), more = figure.axes, figure.bbox.size, 0.0
    headings: Any = [one for one in ax.get_children() if one.get_gid() == _HEADING]
    for text in headings:
        text.set_in_layout(False)
    left = across = width
    for _ in range(2):
        outer = ax.get_tightbbox(renderer, for_layout_only=True)
        inner = ax.get_window_extent().frozen()
        assert outer is not None  # noqa: S101 - the axes are visible
        top = max([outer.y1, *(text.get_window_extent(renderer).y1 for text in headings)])
        left, below = inner.x0 - outer.x0 + _PAD, inner.y0 - outer.y0 + _PAD
        right, above = outer.x1 - inner.x1 + _PAD, top - inner.y1 + _PAD
        more = max(0.0, float(below + above) - _AROUND)
        across = max(width - left - right, 0.1 * width)
        up = max(height - below - above + more, 0.1 * height)
        ax.set_position((left / width, below / height, across / width, up / height))
        # Texts at data values extend farther beyond axes that became much narrower: repeat.
        if across > 0.7 * inner.width:
            break
    label = ax.xaxis.label
    half = label.get_window_extent(renderer).width / 2 + _PAD
    label.set_x((np.clip(left + across / 2, half, max(half, width - half)) - left) / across)
    for text in headings:
        if isinstance(text, Annotation):
            text.xyann = (-left, text.xyann[1])
        else:
            text.set_x(-left / across)
    return more


def _for_page(svg: str, description: str, box: str, width: float) -> str:
    """Return the SVG element without metadata, style sheets and ids that could clash."""
    body = svg[svg.index("<svg") :]
    for part in (r"<metadata>.*?</metadata>", r"<style[^>]*>.*?</style>", r"<!--.*?-->"):
        body = re.sub(part, "", body, flags=re.DOTALL)
    label = " ".join(short_text(description, limit=600).replace(r"\$", "$").split())
    head = (
        f'<svg viewBox="{box}" role="img" aria-label={quoteattr(label)} '
        f'style="width:100%;max-width:{width:g}pt;height:auto;'
        'overflow:visible;stroke-linejoin:round;stroke-linecap:butt">'
    )
    rest = body[body.index(">") + 1 :].strip()
    used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', "".join(_TAG.findall(rest))))
    own = f"p{hashlib.sha256(rest.encode()).hexdigest()[:10]}-"
    return head + _TAG.sub(lambda tag: _page_tag(tag[0], used, own), rest)


def _page_tag(tag: str, used: set[str], own: str) -> str:
    """Return a tag with the ink and the letters of the page, and with unique ids."""

    def renamed(found: re.Match[str]) -> str:
        return f' id="{own}{found[1]}"' if found[1] in used else ""

    tag = re.sub(r' id="([^"]*)"', renamed, tag.replace(" xlink:href=", " href="))
    tag = re.sub(r'(url\(|href=")#', rf"\g<1>#{own}", tag).replace(_INK, "currentColor")
    return re.sub(r"'DejaVu Sans'[^;\"]*", "system-ui, sans-serif", tag)
