"""Pictures of how sure we are: null distributions, bootstraps, estimates with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from setagree.errors import counted
from setagree.plots.base import (
    Rows,
    axes_or_new,
    beside,
    check_limit,
    check_result,
    draw_rows,
    estimates_column,
    heading,
    ink,
    label_x,
    label_y,
    list_axes,
    need_columns,
    nothing,
    picture,
)
from setagree.plots.style import BLUE, NAME_SIZE, Floats, floats, reasons
from setagree.scoring.names import distance_name, measure_name, picture_name
from setagree.scoring.results import Agreement, AgreementTable
from setagree.wording.numbers import level_text, number, p_phrase
from setagree.wording.text import short_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from setagree.inference.bootstrap import Bootstrap
    from setagree.inference.permutation import PermutationTest

_SCHEMES = {
    "pooled": "all answers over all cells",
    "within_rater": "within each rater's answers",
    "table": "all cells of the table, missing ones too",
}
_HIGH, _LOW = 0.97, 0.84
"""Where what is written above the bars stands: fractions of the axes."""

_BARS = 50
_NARROW = 0.08
"""The part of the width below which a null distribution is drawn a second time, larger."""


@picture(takes="What `permutation_test` returned.")
def null(test: PermutationTest, *, ax: Axes | None = None) -> Axes:
    """Draw what chance alone gives, and where the observed value stands in it.

    A histogram of the null distribution has a line at the observed value with p, and a line up to
    which 95 % of it lie.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> alpha = sa.krippendorff_alpha(sa.simulate(60, 3, rng=1))
    >>> ax = plots.null(sa.permutation_test(alpha, n_resamples=99, rng=1))
    >>> [text.get_text() for text in ax.texts][1]
    'observed 0.321, p = .010 (greater)'
    """
    from setagree.inference.permutation import PermutationTest as Known

    check_result(test, Known, "null", "permutation_test")
    ax = axes_or_new(ax, height=3.8)
    heading(ax, "What chance alone gives", *_null_lines(test))
    estimate = test.agreement.estimate
    if not len(test.defined) or np.isnan(estimate):
        return nothing(ax, f"undefined: {test.agreement.reason or 'all reshuffles are'}")
    _histogram(ax, test.defined, estimate)
    below = test.quantile(0.95)
    # The line to the right is the higher one: what is written to its left is above the other.
    own, other = (_HIGH, _LOW) if below <= estimate else (_LOW, _HIGH)
    observed = f"observed {number(estimate)}, {p_phrase(test.p_value)} ({test.alternative})"
    _mark(ax, estimate, observed, height=own)
    _mark(ax, below, f"95 % are at most {number(below)}", height=other, thin=True)
    label_x(ax, f"{_named(test.agreement)}, of reshuffled answers")
    label_y(ax, "arrangements" if test.exact else "reshuffles")
    if np.ptp(test.defined) < _NARROW * np.ptp(ax.get_xlim()):
        _magnified(ax, test.defined)
    return ax


def _null_lines(test: PermutationTest) -> list[str]:
    n = len(test.distribution)
    how = f"all {n:,} arrangements" if test.exact else counted(n, "reshuffle")
    missed = f" ({test.n_undefined:,} undefined)" if test.n_undefined else ""
    first = f"{_named(test.agreement)}: {how}{missed}, {_SCHEMES[test.scheme]}."
    if not len(test.defined):
        return [first]
    expected = "" if np.isnan(test.exact_mean) else f", expected {number(test.exact_mean)}"
    return [first, f"Their mean is {number(float(test.defined.mean()))}{expected}."]


@picture(takes="What `bootstrap` returned for one coefficient.")
def bootstrap(result: Bootstrap, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the distribution of a coefficient over resamples, with its percentile interval.

    Parameters
    ----------
    level : float
        The level of the interval.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> alpha = sa.krippendorff_alpha(sa.simulate(60, 3, rng=1))
    >>> ax = plots.bootstrap(sa.bootstrap(alpha, n_resamples=99, rng=1))
    >>> ax.get_title(loc="left")
    'How far the agreement could move'
    """
    from setagree.inference.bootstrap import Bootstrap as Known

    check_result(result, Known, "bootstrap", "bootstrap", hint=" Of a table, take one row.")
    low, high = result.interval(level)
    ax = axes_or_new(ax, height=3.8)
    heading(ax, "How far the agreement could move", _bootstrap_line(result, level))
    estimate = result.agreement.estimate
    if not len(result.defined) or np.isnan(estimate):
        return nothing(ax, f"undefined: {result.agreement.reason or 'all resamples are'}")
    _histogram(ax, result.defined, estimate)
    label_x(ax, f"{_named(result.agreement)}, of resamples")
    label_y(ax, "resamples")
    _mark(ax, estimate, f"{number(estimate)} (standard error {number(result.standard_error)})")
    if np.isnan(low):
        return ax
    ax.axvspan(low, high, ymax=_LOW, color=BLUE, alpha=0.12, linewidth=0)
    _mark(ax, low, number(low), height=_LOW, thin=True, on_left=True)
    _mark(ax, high, number(high), height=_LOW, thin=True, on_left=False)
    return ax


def _bootstrap_line(result: Bootstrap, level: float) -> str:
    missed = f" ({result.n_undefined:,} undefined)" if result.n_undefined else ""
    what = {"both": "units and raters"}.get(result.over, result.over)
    how = "Krippendorff's bootstrap" if result.method == "krippendorff" else f"{what} redrawn"
    n = counted(len(result.distribution), "resample")
    ends = f"{level_text(level)} percentile interval"
    if result.standard_error == 0:
        ends = f"no interval. {result.interval_reason}"
    return f"{_named(result.agreement)}: {n}{missed}, {how}; {ends}."


@picture(takes="What `agreement` returned, or a frame.", most="rows are drawn at most")
def forest(
    result: AgreementTable | pd.DataFrame,
    *,
    level: float | None = None,
    limit: int = 40,
    ax: Axes | None = None,
) -> Axes:
    """Draw the estimates of coefficients x distances with their intervals, one under the other.

    A frame needs the columns coefficient, distance, estimate, low and high.

    Parameters
    ----------
    level : float, optional
        The level of the intervals: a table computes them (by default at its own level), of a frame
        it is what the picture says (by default 0.95).

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> table = sa.agreement(sa.simulate(60, 3, rng=1), distance=["masi", "jaccard"])
    >>> ax = plots.forest(table)
    >>> [name.get_text() for name in ax.get_yticklabels()][0]
    "Krippendorff's alpha [MASI]"
    """
    check_limit(limit)
    if isinstance(result, AgreementTable):
        level = result.level if level is None else level
        frame = result.to_frame(level=level)
    else:
        frame = result
    need_columns(frame, ("coefficient", "distance", "estimate", "low", "high"), "forest")
    ax, shown, note = list_axes(frame, ax, limit=limit, what="first rows")
    title, names = _forest_names(shown)
    heading(ax, title, _forest_line(frame, 0.95 if level is None else level), note)
    if not len(frame):
        return nothing(ax, "The frame has no rows.")
    low, high = floats(shown, "low"), floats(shown, "high")
    rows = Rows(names, floats(shown, "estimate"), low, high, reasons(shown))
    rows.columns["estimate (interval)"] = estimates_column(rows)
    draw_rows(ax, rows)
    for row in np.flatnonzero(np.diff(pd.factorize(shown["coefficient"])[0])):
        ax.axhline(row + 0.5, color=ink(ax), alpha=0.3, linewidth=0.6)
    label_x(ax, "agreement")
    return ax


def _forest_names(frame: pd.DataFrame) -> tuple[str, list[str]]:
    """Return the title and the names of the rows: what all rows share stands in the title."""
    pairs = list(zip(frame["coefficient"], frame["distance"], strict=True))
    coefficients = [picture_name(c, d) for c, d in pairs]
    distances = [short_text(distance_name(str(d))) for _, d in pairs]
    if frame["coefficient"].nunique() == 1 and len(set(distances)) > 1:
        known = len(set(coefficients)) == 1
        return f"{coefficients[0] if known else 'Agreement'} by distance", distances
    if len(set(distances)) == 1 and len(set(coefficients)) > 1:
        return f"Agreement with the {distances[0]} distance by coefficient", coefficients
    names = [f"{c} [{d}]" for c, d in zip(coefficients, distances, strict=True)]
    return "Agreement by coefficient and distance", names


def _forest_line(frame: pd.DataFrame, level: float) -> str:
    counts = [
        counted(int(frame[f"n_{what}s"].iloc[0]), what)
        for what in ("unit", "rating")
        if f"n_{what}s" in frame.columns and len(frame) and frame[f"n_{what}s"].nunique() == 1
    ]
    alone = (frame["estimate"].notna() & frame["low"].isna()).any()
    said = "; a point without a line has none" if alone else ""
    return f"Lines: {level_text(level)} intervals{said}. {', '.join(counts)}".strip()


def _named(agreement: Agreement) -> str:
    return measure_name(agreement.coefficient, agreement.distance)


def _histogram(ax: Axes, values: Floats, estimate: float) -> None:
    """Draw the bars, with room above them for what is written."""
    low, high, highest = _bars(ax, values)
    ax.set_ylim(0, 1.4 * highest)
    left, right = min(low, estimate), max(high, estimate)
    ax.set_xlim(left - 0.04 * (right - left), right + 0.04 * (right - left))
    ax.locator_params(axis="y", integer=True)


def _bars(ax: Axes, values: Floats) -> tuple[float, float, float]:
    """Draw the bars; return where they begin and end, and how high the highest is."""
    low, high = float(values.min()), float(values.max())
    if high - low < 1e-9 * max(1.0, abs(low)):
        low, high = low - 0.01, high + 0.01
    bars = int(np.clip(2 * np.sqrt(len(values)), 8, _BARS))
    heights, _, _ = ax.hist(
        values, bins=bars, range=(low, high), color=BLUE, alpha=0.75, edgecolor=BLUE, linewidth=0.4
    )
    return low, high, float(np.max(heights))


def _magnified(ax: Axes, values: Floats) -> None:
    """Draw a narrow distribution a second time, in the room between it and the observed value."""
    lens = ax.inset_axes((0.3, 0.16, 0.4, 0.42))
    lens.patch.set_alpha(0)
    _bars(lens, values)
    lens.set_title("the same, magnified", fontsize=NAME_SIZE - 1, color=ink(ax), usetex=False)
    lens.set_yticks([])
    lens.tick_params(labelsize=NAME_SIZE - 1)
    lens.locator_params(axis="x", nbins=5)
    for side in ("top", "right", "left"):
        lens.spines[side].set_visible(False)


def _mark(
    ax: Axes,
    x: float,
    text: str,
    *,
    height: float = _HIGH,
    thin: bool = False,
    on_left: bool | None = None,
) -> None:
    """Draw a line up to a height (a fraction of the axes), the text beside its end."""
    if not np.isfinite(x):
        return
    left, right = ax.get_xlim()
    if on_left is None:
        on_left = (x - left) / (right - left) > 0.42
    style, width = ("--", 1.0) if thin else ("-", 1.8)
    ax.axvline(x, ymax=height, color=ink(ax), linestyle=style, linewidth=width)
    shift, side = (-5, "right") if on_left else (5, "left")
    beside(ax, text, (x, height), (shift, 0), of="column", ha=side, va="top", loud=True)
