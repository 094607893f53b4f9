"""Axes, colours and vector graphics of the plots."""

from __future__ import annotations

import hashlib
import inspect
import io
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import public
from setagree.errors import DataError, MissingDependencyError, OptionError, shorten
from setagree.wording.number_format import interval, number
from setagree.wording.sentences import short_text, split_sections

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Floats: TypeAlias = npt.NDArray[np.float64]

# Both are distinguishable with colour blindness, and have a contrast of 4.2 to 1 with white and
# near-black. They are equal in grey, so that whatever differs in colour differs in form as well.
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


def reasons(frame: pd.DataFrame) -> list[str]:
    """Return the reason for each undefined row, or an empty text without a reason."""
    if "reason" not in frame.columns:
        return [""] * len(frame)
    return ["" if pd.isna(why) else str(why) for why in frame["reason"]]


def largest(weight: Floats, limit: int) -> npt.NDArray[np.intp]:
    """Return the positions of the ``limit`` largest, in the original order; NaN is last."""
    ranked = np.argsort(-np.nan_to_num(weight, nan=-np.inf), kind="stable")
    return np.sort(ranked[:limit])


def rescaled(x: Any, top: float) -> Floats:
    """Return x / top, or zeros if that is undefined."""
    values = np.asarray(x, dtype=np.float64)
    return values / top if np.isfinite(top) and top > 0 else np.zeros_like(values)


ROW, CELL = 0.17, 0.125
"""Minimum height in inches of a row of a list, and of a cell of a matrix."""

_LINE = 110
"""Letters of a line below a title, in axes as wide as a page."""

WRITTEN = 22
"""Rows of a matrix in which numbers can be read."""

_NARROW = 3.4
"""Inches of axes below which a list has no columns of text: they would leave no room."""


T = TypeVar("T")
Draws = TypeVar("Draws", bound=Callable[..., object])

_PARAMETERS = {
    "level": " : float\n    The level that the intervals were computed at, for the picture to say.",
    "ax": " : matplotlib Axes, optional\n    Where to draw; a new figure by default.",
}
_RETURNS = """\
Returns
-------
matplotlib Axes"""
_RAISES = """\
Raises
------
{}
MissingDependencyError
    There is no matplotlib."""
_NO_FRAME = """\
DataError
    It is no DataFrame, or lacks a column.
OptionError
    An option is out of range."""
_NO_RESULT = """\
OptionError
    It is something else, or an option is out of range."""


def picture(*, takes: str, most: str = "") -> Callable[[Draws], Draws]:
    """Return the decorator of public drawing functions, which documents their common parameters.

    Parameters
    ----------
    takes : str
        What is drawn.
    most : str
        How many of what are drawn at most: what follows "How many".
    """

    def documented(draws: Draws) -> Draws:
        if draws.__doc__ is None:  # under python -OO
            return public(draws)
        text, *sections = split_sections(draws.__doc__)
        own = "" if not sections or sections[0].startswith("Examples") else sections.pop(0)
        parameters = inspect.signature(draws).parameters
        kind = next(iter(parameters.values())).annotation.replace("pd.", "").replace(" |", " or")
        known = {
            next(iter(parameters)): f" : {kind}\n    {takes}",
            "limit": f" : int\n    How many {most}.",
            **_PARAMETERS,
            **dict(re.findall(r"^(\w+)( : .*(?:\n    .*)*)", own, re.MULTILINE)),
        }
        told = "\n".join(["Parameters\n----------", *(name + known[name] for name in parameters)])
        raises = _RAISES.format(_NO_FRAME if "DataFrame" in kind else _NO_RESULT)
        draws.__doc__ = "\n\n".join([text, told, _RETURNS, raises, *sections])
        return public(draws)

    return documented


def rows_height(n: int, *, limit: int = 40) -> float:
    """Return the height in inches of a picture of ``n`` rows."""
    return 1.3 + 0.24 * min(max(n, 2), limit)


def cells_height(n: int, *, limit: int = 40) -> float:
    """Return the height in inches of a matrix of ``n`` rows."""
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


def check_limit(limit: int) -> None:
    """Raise `OptionError` if the limit permits no row."""
    if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or limit < 1:
        raise OptionError(f"limit={limit!r} must be a whole number of 1 or more.")


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
"""What returns the frame that a picture draws."""


def need_columns(frame: object, names: tuple[str, ...], picture: str) -> None:
    """Raise `DataError` if it is not a frame with these columns."""
    hint = f" Pass what sa.{_MAKERS[picture]} returns."
    if not isinstance(frame, pd.DataFrame):
        raise DataError(f"plots.{picture} draws a DataFrame, not {shorten(frame)}.{hint}")
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise DataError(
            f"plots.{picture} needs the columns {', '.join(names)}; the frame lacks "
            f"{', '.join(missing)}.{hint}"
        )


def check_result(result: object, kind: type[T], picture: str, maker: str, *, hint: str = "") -> T:
    """Return a result, or raise `OptionError` if it does not come from the right function."""
    if not isinstance(result, kind):
        raise OptionError(
            f"plots.{picture} draws what sa.{maker} returned, not {shorten(result)}.{hint}"
        )
    return result


def axes_or_new(ax: Axes | None, *, height: float, width: float = 7.2) -> Axes:
    """Return the axes that were given, or those of a new pyplot figure."""
    need_matplotlib()
    if ax is None:
        from matplotlib import pyplot as plt

        return plt.subplots(figsize=(width, height), layout="constrained")[1]
    from matplotlib.axes import Axes as Known

    if not isinstance(ax, Known):
        raise OptionError(f"ax={shorten(ax)} is not a matplotlib Axes.")
    return ax


def list_axes(
    frame: pd.DataFrame,
    ax: Axes | None,
    *,
    limit: int,
    what: str,
    by: str | None = None,
    more: int = 0,
) -> tuple[Axes, pd.DataFrame, str]:
    """Return the axes of a list, the rows that fit, and a sentence on the selection.

    Of many rows those stay that are largest, up or down, in the column ``by``, or else the first;
    ``more`` rows are left for something else.
    """
    ax = axes_or_new(ax, height=rows_height(len(frame) + more, limit=limit))
    room = fitting(ax, limit)
    if len(frame) <= room:
        return ax, frame, ""
    weight = -np.arange(len(frame), dtype=float) if by is None else np.abs(floats(frame, by))
    return ax, frame.iloc[largest(weight, room)], f"The {room:,} {what}, of {len(frame):,}."


def ink(ax: Axes) -> str:
    """Return the colour of the text, which is light if the axes are for a dark page."""
    return str(ax.title.get_color())


def fitting(ax: Axes, limit: int, *, each: float = ROW) -> int:
    """Return the number of rows of ``each`` inches that fit the axes, at most ``limit``."""
    height = ax.get_window_extent().height / ax.figure.dpi
    return max(1, min(limit, int(height / each)))


def is_narrow(ax: Axes) -> bool:
    """Return whether the axes are as narrow as on a phone."""
    return bool(ax.get_window_extent().width / ax.figure.dpi < _NARROW)


def _letters(ax: Axes) -> float:
    """Return the number of small letters that fit across the axes."""
    return float(72 * ax.get_window_extent().width / ax.figure.dpi / 5)


def heading(ax: Axes, title: str, *lines: str) -> None:
    """Write the title, and below it in smaller type the lines."""
    narrow = is_narrow(ax)
    text = wrapped(lines, width=30 if narrow else int(np.clip(_letters(ax), 30, _LINE)))
    below = 12 * (text.count("\n") + 1) if text else 0
    title = wrapped([title], width=20) if narrow else title
    size = float(np.clip(5 * _letters(ax) / (0.62 * len(title)), NAME_SIZE, TITLE_SIZE))
    size = NAME_SIZE + 1 if narrow else size
    ax.set_title(title, loc="left", fontsize=size, fontweight="bold", pad=8 + below, usetex=False)
    if text:
        beside(ax, text, (0, 1), (0, 5), size=NAME_SIZE, va="bottom")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def beside(
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
) -> None:
    """Write a text some points away from a place.

    ``of`` is the coordinate system: fractions of the axes, fractions at the height of a row,
    fractions above a value of the horizontal axis, or data. ``loud`` makes the text opaque.
    """
    across, up = ("data" if of in {"data", name} else "axes fraction" for name in ("column", "row"))
    ax.annotate(
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


def label_y(ax: Axes, text: str) -> None:
    """Name the vertical axis."""
    ax.set_ylabel(text, fontsize=NAME_SIZE, usetex=False)
    ax.tick_params(axis="y", labelsize=NAME_SIZE)


def nothing(ax: Axes, why: str) -> Axes:
    """Show only a message on the axes."""
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_xticks([])
    ax.set_yticks([])
    beside(ax, wrapped([short_text(why, limit=300)], width=50), (0, 0.5), (0, 0), size=10)
    return ax


# ---- Rows of estimates with intervals ------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Content of a list of estimates: names on the left, marks, columns of text on the right."""

    names: Sequence[str]
    values: Floats
    low: Floats
    high: Floats
    why: Sequence[str] = ()
    columns: dict[str, list[str]] = field(default_factory=dict)
    second: Floats | None = None
    """Another estimate in each row, a hollow diamond."""


def draw_rows(ax: Axes, rows: Rows, *, origin: float = 0.0) -> None:
    """Draw a dot with its interval in each row, from the top; a line marks the origin."""
    y = np.arange(len(rows.names))
    narrow = is_narrow(ax)
    columns = {} if narrow else rows.columns
    left, right = span(rows, origin)
    ax.axvline(origin, color=ink(ax), alpha=0.5, linewidth=0.8, zorder=1)
    ax.hlines(y, rows.low, rows.high, color=BLUE, linewidth=1.8, zorder=2)
    ax.plot(rows.values, y, "o", color=BLUE, markersize=5.5, zorder=3)
    if rows.second is not None:
        ax.plot(rows.second, y, "D", color=ink(ax), markersize=4.5, fillstyle="none", zorder=3)
    _arrows(ax, rows, left, right)
    ax.set_xlim(left, right)
    ax.grid(axis="x", color=ink(ax), alpha=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_ylim(len(y) - 0.4, -1.4 if columns else -0.6)
    ax.set_yticks(y, list(rows.names), fontsize=NAME_SIZE, usetex=False)
    ax.tick_params(axis="y", length=0, pad=7)
    ax.locator_params(axis="x", nbins=4 if narrow else 6)
    ax.spines["left"].set_visible(False)
    _undefined(ax, rows)
    text_columns(ax, columns)


def span(rows: Rows, origin: float) -> tuple[float, float]:
    """Return the limits: all estimates and the origin, and intervals as far as they help."""
    shown = rows.values if rows.second is None else np.append(rows.values, rows.second)
    values = np.append(shown[np.isfinite(shown)], origin)
    halves = (rows.high - rows.low)[np.isfinite(rows.high - rows.low)] / 2
    reach = max(float(np.ptp(values)), 2 * float(np.median(halves)) if len(halves) else 0.0)
    reach = reach or 1.0
    low, high = (x[np.isfinite(x)] for x in (rows.low, rows.high))
    left = max(min(values.min(), low.min(initial=np.inf)), values.min() - reach)
    right = min(max(values.max(), high.max(initial=-np.inf)), values.max() + reach)
    pad = 0.04 * (right - left) or 0.5 * reach
    return float(left - pad), float(right + pad)


def _arrows(ax: Axes, rows: Rows, left: float, right: float) -> None:
    """Mark the intervals that go on beyond the picture."""
    for beyond, edge, mark in ((rows.low < left, left, "<"), (rows.high > right, right, ">")):
        where = np.flatnonzero(beyond)
        if len(where):
            at = np.full(len(where), edge)
            ax.plot(at, where, mark, color=BLUE, markersize=5, clip_on=False, zorder=4)


def _undefined(ax: Axes, rows: Rows) -> None:
    for row in np.flatnonzero(np.isnan(rows.values)).tolist():
        why = rows.why[row] if len(rows.why) else ""
        text = f"undefined: {why}" if why else "undefined"
        beside(ax, short_text(text, limit=44), (0.01, row), (0, 0), size=7.5, of="row")


def text_columns(ax: Axes, columns: dict[str, list[str]]) -> None:
    """Write columns of text to the right of the axes, numbers under one another."""
    end = 6.0
    for name, cells in columns.items():
        end += 4.6 * max(len(text) for text in (name, *cells)) + 10
        beside(ax, name, (1, -1), (end, 0), size=8, ha="right", of="row")
        for row, text in enumerate(cells):
            beside(ax, text, (1, row), (end, 0), size=8, ha="right", of="row", loud=True)


def estimates_column(rows: Rows) -> list[str]:
    """Return ``0.403 (0.064 to 0.741)`` for each row."""
    return [
        f"{number(value)} ({interval(low, high)})" if np.isfinite(low) else number(value)
        for value, low, high in zip(rows.values, rows.low, rows.high, strict=True)
    ]


_INK = "#010203"
_TAG = re.compile(r"<[^<>]*>")
_QUIET = ("Glyph .* missing", "Matplotlib currently does not support", "constrained_layout not")


def inline_svg(
    draw: Callable[[Axes], object], *, description: str, width: float = 7.2, height: float = 4.2
) -> str:
    """Return the picture of ``draw`` as an SVG element for an HTML page.

    Its ground is clear and its ink is that of the page (``currentColor``), so that it follows a
    light or a dark page; its text stays text; its ids are its own; it refers to nothing outside.

    Parameters
    ----------
    draw : callable
        Takes the axes to draw on, such as ``lambda ax: plots.labels(frame, ax=ax)``.
    description : str
        The text for screen readers.
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
