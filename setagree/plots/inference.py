"""Plots of intervals, null distributions and decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from setagree.errors import counted
from setagree.plots.base import (
    BLUE,
    FAINT,
    NAME_SIZE,
    ORANGE,
    Floats,
    Rows,
    axes_or_new,
    beside,
    check_limit,
    check_result,
    draw_rows,
    estimates_column,
    floats,
    heading,
    ink,
    is_narrow,
    label_x,
    label_y,
    list_axes,
    need_columns,
    nothing,
    picture,
    reasons,
)
from setagree.scoring.coefficients import distance_name, measure_name, picture_name
from setagree.scoring.results import Agreement, AgreementTable
from setagree.wording.number_format import count, level_text, number, p_phrase, p_value
from setagree.wording.sentences import short_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from setagree.inference.bootstrap import Bootstrap
    from setagree.inference.monitor import Monitor
    from setagree.inference.permutation import PermutationTest
    from setagree.inference.variance_components import VarianceComponents
    from setagree.panels.facets import FacetAgreement
    from setagree.panels.noninferiority import Replacement, ReplacementTable


_SCHEMES = {
    "pooled": "all answers over all cells",
    "within_rater": "within each rater's answers",
    "table": "all cells of the table, missing ones too",
}
_HIGH, _LOW = 0.97, 0.84
"""Height of the text above the bars, in fractions of the axes."""

_BARS = 50
_NARROW = 0.08
"""The part of the width below which a null distribution is drawn a second time, larger."""


@picture(takes="What `permutation_test` returned.")
def null(test: PermutationTest, *, ax: Axes | None = None) -> Axes:
    """Draw the null distribution of a permutation test and the observed value.

    A histogram of the null distribution has a line at the observed value with p, and a line up to
    which 95% of it lie.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> alpha = sa.krippendorff_alpha(sa.simulate(60, 3, rng=1))
    >>> ax = plots.null(sa.permutation_test(alpha, n_resamples=99, rng=1))
    >>> [text.get_text() for text in ax.texts][1]
    'observed 0.321, p = 0.010 (greater)'
    """
    from setagree.inference.permutation import PermutationTest as Known

    check_result(test, Known, "null", "permutation_test")
    ax = axes_or_new(ax, height=3.8)
    heading(ax, "Agreement expected by chance", *_null_lines(test))
    estimate = test.agreement.estimate
    if not len(test.defined) or np.isnan(estimate):
        return nothing(ax, f"undefined: {test.agreement.reason or 'all reshuffles are'}")
    _histogram(ax, test.defined, estimate)
    below = test.quantile(0.95)
    # The line to the right is the higher one: what is written to its left is above the other.
    own, other = (_HIGH, _LOW) if below <= estimate else (_LOW, _HIGH)
    observed = f"observed {number(estimate)}, {p_phrase(test.p_value)} ({test.alternative})"
    _mark(ax, estimate, observed, height=own)
    _mark(ax, below, f"95% are at most {number(below)}", height=other, thin=True)
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
    'Bootstrap distribution of the agreement'
    """
    from setagree.inference.bootstrap import Bootstrap as Known

    check_result(result, Known, "bootstrap", "bootstrap", hint=" Of a table, take one row.")
    low, high = result.interval(level)
    ax = axes_or_new(ax, height=3.8)
    heading(ax, "Bootstrap distribution of the agreement", _bootstrap_line(result, level))
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
    n = counted(len(result.distribution), "resample")
    ends = f"{level_text(level)} percentile interval"
    if result.standard_error == 0:
        ends = f"no interval. {result.interval_reason}"
    return f"{_named(result.agreement)}: {n}{missed}, {what} redrawn; {ends}."


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
        The level of the intervals: of a table, they are computed (by default at its own level); of
        a frame, it is the level in the caption (by default 0.95).

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
    """Return the title, with the common part of the names, and the names of the rows."""
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
    """Draw the bars, with room for text above them."""
    low, high, highest = _bars(ax, values)
    ax.set_ylim(0, 1.4 * highest)
    left, right = min(low, estimate), max(high, estimate)
    ax.set_xlim(left - 0.04 * (right - left), right + 0.04 * (right - left))
    ax.locator_params(axis="y", integer=True)


def _bars(ax: Axes, values: Floats) -> tuple[float, float, float]:
    """Draw the bars; return their start, their end and the largest height."""
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
    """Draw a line up to a height (a fraction of the axes), with the text next to its end."""
    if not np.isfinite(x):
        return
    left, right = ax.get_xlim()
    if on_left is None:
        on_left = (x - left) / (right - left) > 0.42
    style, width = ("--", 1.0) if thin else ("-", 1.8)
    ax.axvline(x, ymax=height, color=ink(ax), linestyle=style, linewidth=width)
    shift, side = (-5, "right") if on_left else (5, "left")
    beside(ax, text, (x, height), (shift, 0), of="column", ha=side, va="top", loud=True)


_RATERS = (1, 2, 3, 4, 5, 6, 8, 10)


@picture(takes="What `monitor` returned.")
def monitor(result: Monitor, *, ax: Axes | None = None) -> Axes:
    """Draw alpha at every look with its interval, and the threshold.

    The look at which the study may stop is marked.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> study = sa.simulate(240, 3, skill=0.95, rng=1)
    >>> week = {unit: k // 40 for k, unit in enumerate(study.units)}
    >>> ax = plots.monitor(sa.monitor(study, at=week, threshold=0.667))
    >>> ax.get_title(loc="left")
    'Good enough'
    """
    from setagree.inference.monitor import Monitor as Known

    result = check_result(result, Known, "monitor", "monitor")
    ax = axes_or_new(ax, height=3.8)
    heading(ax, result.decision.capitalize(), short_text(result.verdict, limit=300), result.method)
    frame = result.frame
    if not np.isfinite(floats(frame, "estimate")).any():
        return nothing(ax, f"The first look is at {result.first_look:,} units.")
    n, low, high = (floats(frame, name) for name in ("n_units", "low", "high"))
    ax.fill_between(n, low, high, color=BLUE, alpha=0.15, linewidth=0)
    ax.vlines(n, low, high, color=BLUE, alpha=0.4, linewidth=0.8)
    ax.plot(n, floats(frame, "estimate"), "o-", color=BLUE, markersize=4.0, linewidth=1.4)
    ax.axhline(result.threshold, color=ORANGE, linewidth=1.4, linestyle="--")
    beside(ax, f"{result.threshold:g}", (1, result.threshold), (4, 0), of="row")
    stopped = result.stopped
    if stopped is not None:
        at = (float(stopped["n_units"]), float(stopped["estimate"]))
        ax.plot(*at, "o", color=ink(ax), markersize=9, fillstyle="none", zorder=4)
    ax.grid(axis="y", color=ink(ax), alpha=FAINT, linewidth=0.6)
    label_x(ax, "units with two ratings or more")
    label_y(ax, f"alpha, {level_text(result.level)} at all looks")
    return ax


@picture(
    takes="What `noninferiority_test` returned for one model.",
    most="humans are drawn at most: those in whose place the model loses or gains most",
)
def replacement(
    result: Replacement | ReplacementTable, *, limit: int = 40, ax: Axes | None = None
) -> Axes:
    """Draw the change of agreement if a model replaces each human.

    The first row is the mean, with Hall's 90% interval; a line marks the margin.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> study = sa.simulate(200, 5, skill=[0.7, 0.7, 0.7, 0.7, 0.9], rng=1)
    >>> ax = plots.replacement(sa.noninferiority_test(study, model="r5"))
    >>> [name.get_text() for name in ax.get_yticklabels()][:2]
    ['mean', 'r1']
    """
    from setagree.panels.noninferiority import Replacement as Known
    from setagree.panels.noninferiority import ReplacementTable as Table

    check_limit(limit)
    if isinstance(result, Table) and len(result) == 1:
        (result,) = result.rows
    hint = " Of a table, take one model: table['gpt']."
    result = check_result(result, Known, "replacement", "noninferiority_test", hint=hint)
    what = "humans in whose place most changes"
    ax, shown, note = list_axes(result.humans, ax, limit=limit, by="change", what=what, more=1)
    heading(
        ax,
        f"{short_text(result.model)} in the place of a human",
        short_text(result.verdict, limit=700),
        f"Change of alpha with the others ({short_text(distance_name(result.distance))} "
        "distance); line: 90% interval; dashes: the margin.",
        note,
    )
    if result.reason is not None:
        return nothing(ax, f"undefined: {result.reason}")
    low, high = result.interval()
    names = ["mean", *(short_text(x) for x in shown.index)]
    values, lows, highs = (
        np.append(first, floats(shown, name))
        for first, name in ((result.change, "change"), (low, "low"), (high, "high"))
    )
    rows = Rows(names, values, lows, highs)
    rows.columns["units"] = [count(len(result.psi)), *map(count, floats(shown, "n_shared"))]
    # The verdict on all humans has no p of the mean.
    mean = "" if result.against == "all" else p_value(result.p_value)
    rows.columns["p"] = [mean, *map(p_value, floats(shown, "p_value"))]
    rows.columns["change (interval)"] = estimates_column(rows)
    draw_rows(ax, rows)
    margins = [-result.margin, result.margin] if result.equivalence else [-result.margin]
    left, right = ax.get_xlim()
    ax.set_xlim(min(left, -1.2 * result.margin), max(right, 1.2 * max(margins)))
    for margin in margins:
        ax.axvline(margin, color=ORANGE, linewidth=1.4, linestyle="--")
    ax.axhline(0.5, color=ink(ax), alpha=0.3, linewidth=0.6)
    label_x(ax, "change of alpha")
    return ax


@picture(
    takes="What `facet_agreement` returned.",
    most="rows are drawn at most: the first ones",
)
def facets(result: FacetAgreement, *, limit: int = 40, ax: Axes | None = None) -> Axes:
    """Draw how far models agree with themselves, with one another and with people.

    A hollow diamond marks what stability leaves room for.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> study = sa.simulate(60, 4, rng=1).with_raters({"model": {"r1": "gpt", "r2": "gpt"}})
    >>> ax = plots.facets(sa.facet_agreement(study, facets=["model"]))
    >>> [name.get_text() for name in ax.get_yticklabels()]
    ['same model', 'models with people', 'people with one another']
    """
    from setagree.panels.facets import ALL
    from setagree.panels.facets import FacetAgreement as Known

    check_limit(limit)
    result = check_result(result, Known, "facets", "facet_agreement")
    frame = result.to_frame()
    ax, shown, note = list_axes(frame, ax, limit=limit, what="first rows")
    heading(
        ax,
        "Agreement of models with themselves",
        short_text(result.lead, limit=400),
        f"1 - D / De ({short_text(distance_name(result.distance))} distance), "
        f"{level_text(result.level)} intervals; diamond: what stability leaves room for.",
        note,
    )
    both = zip(shown["pairs"], shown["who"], strict=True)
    names = [
        short_text(pairs, limit=40) if who == ALL else f"… {short_text(who)}" for pairs, who in both
    ]
    values, low, high, most = (
        floats(shown, name) for name in ("estimate", "low", "high", "at_most")
    )
    rows = Rows(names, values, low, high, second=most)
    rows.columns["units"] = [count(n) for n in shown["n_units"]]
    rows.columns["agreement (interval)"] = estimates_column(rows)
    draw_rows(ax, rows)
    label_x(ax, "agreement")
    return ax


@picture(takes="What `variance_components` returned.")
def reliability(result: VarianceComponents, *, ax: Axes | None = None) -> Axes:
    """Draw how reliable the mean of one, two, three ... raters is.

    Dependability counts the habits of raters as error, generalizability does not, as where the same
    ones rate all units.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> ax = plots.reliability(sa.variance_components(sa.simulate(100, 6, rng=1)))
    >>> ax.get_title(loc="left")
    'Variance components of the disagreement'
    """
    from setagree.inference.variance_components import VarianceComponents as Known

    result = check_result(result, Known, "reliability", "variance_components")
    ax = axes_or_new(ax, height=3.8)
    heading(ax, "Variance components of the disagreement", short_text(result.verdict, limit=300))
    frame = result.by_raters(_RATERS)
    if frame["dependability"].isna().all():
        return nothing(ax, "undefined: no variance to divide")
    m = floats(frame, "raters")
    lines = (("generalizability", ORANGE, "s--"), ("dependability", BLUE, "o-"))
    for name, colour, form in lines:
        ends = floats(frame, f"{name}_low"), floats(frame, f"{name}_high")
        ax.fill_between(m, *ends, color=colour, alpha=0.12, linewidth=0)
        ax.plot(m, floats(frame, name), form, color=colour, markersize=4.5, label=name)
    ax.set_ylim(min(0.0, ax.get_ylim()[0]), 1.02)
    ax.set_xticks(m)
    ax.grid(axis="y", color=ink(ax), alpha=FAINT, linewidth=0.6)
    ax.legend(loc="lower right", frameon=False, fontsize=NAME_SIZE, labelcolor=ink(ax))
    label_x(ax, "raters whose answers are averaged")
    n = counted(result.study.n_raters, "rater")
    about = "" if is_narrow(ax) else f", {level_text(result.level)}, {n}"
    label_y(ax, f"reliability{about}")
    return ax
