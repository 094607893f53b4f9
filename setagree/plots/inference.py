"""Plots of intervals, null distributions and decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from setagree.checks import Floats, public
from setagree.errors import counted
from setagree.plots.base import (
    BLUE,
    FAINT,
    MAX_ROWS,
    NAME_SIZE,
    ORANGE,
    axes_or_new,
    check_result,
    fitting,
    floats,
    heading,
    ink,
    is_broad,
    need_columns,
    rows_height,
    show_message,
    texts,
    write_text,
)
from setagree.plots.shapes import draw_bars, draw_curve, draw_rows, label_axes, mark_half
from setagree.scoring.coefficients import distance_name, measure_name, picture_name
from setagree.scoring.results import AgreementTable
from setagree.wording.number_format import DASH, count, level_text, number, p_phrase
from setagree.wording.sentences import short_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from setagree.diagnosis.next_ratings import Queue
    from setagree.inference.acceptance import AcceptancePlan, AcceptanceTest
    from setagree.inference.bootstrap import Bootstrap
    from setagree.inference.monitor import Monitor
    from setagree.inference.permutation import PermutationTest
    from setagree.inference.variance_components import VarianceComponents


_SCHEMES = {
    "pooled": "all answers over all cells",
    "rotation": "each rater's answers along documents",
    "within_rater": "the answers within each rater",
    "table": "all cells of the table, missing ones too",
}
_HIGH, _LOW = 0.97, 0.84
"""Height of the text above the bars, in fractions of the axes."""

_MAX_BARS = 50
"""Largest number of bars of a histogram: more are narrower than their edges."""

_NARROW = 0.08
"""Part of the width below which a null distribution is drawn again in an inset."""

_RATERS = (1, 2, 3, 4, 5, 6, 8, 10)
"""Numbers of raters whose mean is assessed: larger numbers hardly change it."""


@public
def null(test: PermutationTest, *, p_value: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw the null distribution of a permutation test and the observed value.

    A histogram of the null distribution has a line at the observed value with p, and a line at its
    95th percentile.

    Parameters
    ----------
    test : PermutationTest
        The result of `permutation_test`.
    p_value : float, optional
        The p to show, such as one corrected for several tests. Default: that of the test.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    OptionError, MissingDependencyError
        As in `weights`.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> alpha = sa.krippendorff_alpha(sa.simulate(60, 3, rng=1))
    >>> ax = plots.null(sa.permutation_test(alpha, n_resamples=99, rng=1))
    >>> [text.get_text() for text in ax.texts][1]
    'observed 0.321, p = 0.010 (greater)'
    """
    check_result(test, "PermutationTest", "null", "permutation_test")
    ax = axes_or_new(ax, height=3.8)
    name = measure_name(test.agreement.coefficient, test.agreement.distance)
    n, estimate = len(test.distribution), test.agreement.estimate
    how = f"all {n:,} arrangements" if test.exact else counted(n, "reshuffle")
    missed = f" ({test.n_undefined:,} undefined)" if test.n_undefined else ""
    lines = [f"{name}: {how}{missed} of {_SCHEMES[test.scheme]}."]
    if len(test.defined):
        expected = "" if np.isnan(test.exact_mean) else f", expected {number(test.exact_mean)}"
        lines.append(f"Their mean is {number(float(test.defined.mean()))}{expected}.")
    heading(ax, "Agreement expected by chance", *lines)
    if not len(test.defined) or np.isnan(estimate):
        return show_message(ax, f"undefined: {test.agreement.reason or 'all reshuffles are'}")
    _histogram(ax, test.defined, estimate)
    below = test.quantile(0.95)
    # The text of the right line is to its left: it is written higher, so that texts do not overlap.
    height, other = (_HIGH, _LOW) if below <= estimate else (_LOW, _HIGH)
    p = p_phrase(test.p_value if p_value is None else p_value)
    observed = f"observed {number(estimate)}, {p} ({test.alternative})"
    _mark(ax, estimate, observed, height=height)
    _mark(ax, below, f"95% are at most {number(below)}", height=other, thin=True)
    if np.ptp(test.defined) < _NARROW * np.ptp(ax.get_xlim()):
        # A narrow distribution is drawn again in an inset, larger.
        lens = ax.inset_axes((0.3, 0.16, 0.4, 0.42))
        lens.patch.set_alpha(0)
        _bars(lens, test.defined)
        lens.set_title("the same, magnified", fontsize=NAME_SIZE - 1, color=ink(ax), usetex=False)
        lens.set_yticks([])
        lens.tick_params(labelsize=NAME_SIZE - 1)
        lens.locator_params(axis="x", nbins=5)
        lens.spines[["top", "right", "left"]].set_visible(False)
    up = "arrangements" if test.exact else "reshuffles"
    return label_axes(ax, f"{name}, of reshuffled answers", up)


@public
def bootstrap(result: Bootstrap, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the distribution of a coefficient over resamples, with its percentile interval.

    Parameters
    ----------
    result : Bootstrap
        The result of `bootstrap` for one coefficient.
    level : float
        Level of the percentile interval.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    OptionError, MissingDependencyError
        As in `weights`.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> alpha = sa.krippendorff_alpha(sa.simulate(60, 3, rng=1))
    >>> ax = plots.bootstrap(sa.bootstrap(alpha, n_resamples=99, rng=1))
    >>> ax.get_title(loc="left")
    'Bootstrap distribution of the agreement'
    """
    hint = " Of a table, take one row."
    check_result(result, "Bootstrap", "bootstrap", "bootstrap", hint=hint)
    low, high = result.interval(level)
    ax = axes_or_new(ax, height=3.8)
    name = measure_name(result.agreement.coefficient, result.agreement.distance)
    missed = f" ({result.n_undefined:,} undefined)" if result.n_undefined else ""
    what = {"both": "units and raters"}.get(result.over, result.over)
    ends = f"{level_text(level)} percentile interval"
    if result.standard_error == 0:
        ends = f"no interval. {result.interval_reason}"
    n = counted(len(result.distribution), "resample")
    line = f"{name}: {n}{missed}, {what} redrawn; {ends}."
    heading(ax, "Bootstrap distribution of the agreement", line)
    estimate = result.agreement.estimate
    if not len(result.defined) or np.isnan(estimate):
        return show_message(ax, f"undefined: {result.agreement.reason or 'all resamples are'}")
    _histogram(ax, result.defined, estimate)
    _mark(ax, estimate, f"{number(estimate)} (standard error {number(result.standard_error)})")
    if not np.isnan(low):
        ax.axvspan(low, high, ymax=_LOW, color=BLUE, alpha=0.12, linewidth=0)
        for end, on_left in ((low, True), (high, False)):
            _mark(ax, end, number(end), height=_LOW, thin=True, on_left=on_left)
    return label_axes(ax, f"{name}, of resamples", "resamples")


@public
def forest(
    result: AgreementTable | pd.DataFrame,
    *,
    level: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the estimates of coefficients and distances with their intervals, one per row.

    A frame needs the columns coefficient, distance, estimate, low and high.

    Parameters
    ----------
    result : AgreementTable or DataFrame
        The result of `agreement`, or a frame.
    level : float, optional
        The level of the intervals: of a table, they are computed (by default at its own level); of
        a frame, it is the level in the caption (by default 0.95).
    ax : matplotlib Axes, optional
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    DataError, OptionError, MissingDependencyError
        As in `units`.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> table = sa.agreement(sa.simulate(60, 3, rng=1), distance=["masi", "jaccard"])
    >>> ax = plots.forest(table)
    >>> [name.get_text() for name in ax.get_yticklabels()][0]
    "Krippendorff's alpha [MASI]"
    """
    if isinstance(result, AgreementTable):
        level = result.level if level is None else level
        remarks = pd.Series([row.remark for row in result.rows], dtype=object)
        result = result.to_frame(level=level).assign(remark=remarks)
    frame = result
    need_columns(frame, ("coefficient", "distance", "estimate", "low", "high"), "forest")
    title, names = _forest_names(frame)
    counts = [
        counted(int(frame[f"n_{what}s"].iloc[0]), what)
        for what in ("unit", "rating")
        if f"n_{what}s" in frame.columns and len(frame) and frame[f"n_{what}s"].nunique() == 1
    ]
    lacks_interval = (frame["estimate"].notna() & frame["low"].isna()).any()
    without = "; a point without a line has none" if lacks_interval else ""
    intervals = f"Lines: {level_text(0.95 if level is None else level)} intervals{without}."
    ax, shown = draw_rows(
        frame,
        ax,
        names=names,
        title=title,
        lines=[f"{intervals} {', '.join(counts)}".strip()],
        label="agreement",
        selection="first rows",
        intervals="estimate (interval)",
        undefined="" if len(frame) else "The frame has no rows.",
    )
    for row in np.flatnonzero(np.diff(pd.factorize(shown["coefficient"])[0])):
        ax.axhline(row + 0.5, color=ink(ax), alpha=0.3, linewidth=0.6)
    return ax


def _forest_names(frame: pd.DataFrame) -> tuple[str, list[str]]:
    """Return the title, with the common part of the names, and the names of the rows."""
    pairs = list(zip(frame["coefficient"], frame["distance"], strict=True))
    coefficients = [picture_name(c, d) for c, d in pairs]
    distances = [short_text(distance_name(str(d))) for _, d in pairs]
    if frame["coefficient"].nunique() == 1 and len(set(distances)) > 1:
        has_one_name = len(set(coefficients)) == 1
        return f"{coefficients[0] if has_one_name else 'Agreement'} by distance", distances
    if len(set(distances)) == 1 and len(set(coefficients)) > 1:
        return f"Agreement with the {distances[0]} distance by coefficient", coefficients
    names = [f"{c} [{d}]" for c, d in zip(coefficients, distances, strict=True)]
    return "Agreement by coefficient and distance", names


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
    bars = int(np.clip(2 * np.sqrt(len(values)), 8, _MAX_BARS))
    heights, _, _ = ax.hist(
        values, bins=bars, range=(low, high), color=BLUE, alpha=0.75, edgecolor=BLUE, linewidth=0.4
    )
    return low, high, float(np.max(heights))


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
    left, right = ax.get_xlim()
    if on_left is None:
        on_left = (x - left) / (right - left) > 0.42
    style, width = ("--", 1.0) if thin else ("-", 1.8)
    ax.axvline(x, ymax=height, color=ink(ax), linestyle=style, linewidth=width)
    shift, side = (-5, "right") if on_left else (5, "left")
    write_text(ax, text, (x, height), (shift, 0), of="column", ha=side, va="top", loud=True)


@public
def monitor(result: Monitor, *, ax: Axes | None = None) -> Axes:
    """Draw alpha and its interval at every look, alpha of each batch, and the threshold.

    The look at which the study may stop is marked.

    Parameters
    ----------
    result : Monitor
        The result of `monitor`.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    OptionError, MissingDependencyError
        As in `weights`.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> study = sa.simulate(240, 3, skill=0.95, rng=1)
    >>> week = {unit: k // 40 for k, unit in enumerate(study.units)}
    >>> ax = plots.monitor(sa.monitor(study, batch=week, threshold=0.667))
    >>> ax.get_title(loc="left")
    'Good enough'
    """
    result = check_result(result, "Monitor", "monitor", "monitor")
    ax = axes_or_new(ax, height=3.8)
    heading(ax, result.decision.capitalize(), short_text(result.verdict, limit=300), result.method)
    n, values, low, high = (
        floats(result.frame, name) for name in ("n_units", "estimate", "low", "high")
    )
    if not np.isfinite(values).any():
        return show_message(ax, "No look yet.")
    draw_curve(ax, n, values, low, high, form="o-", whiskers=True, name="all units so far")
    if len(n) > 1:
        of_batch = floats(result.frame, "batch_estimate")
        ax.plot(n, of_batch, "x", color=ink(ax), markersize=4.5, label="each batch alone")
        ax.legend(loc="best", frameon=False, fontsize=NAME_SIZE, labelcolor=ink(ax))
    ax.axhline(result.threshold, color=ORANGE, linewidth=1.4, linestyle="--")
    write_text(ax, f"{result.threshold:g}", (1, result.threshold), (4, 0), of="row")
    if result.stopped is not None:
        at = (float(result.stopped["n_units"]), float(result.stopped["estimate"]))
        ax.plot(*at, "o", color=ink(ax), markersize=9, fillstyle="none", zorder=4)
    up = f"alpha, {level_text(result.level)} at all looks"
    return label_axes(ax, "units with two ratings or more", up)


@public
def reliability(result: VarianceComponents, *, ax: Axes | None = None) -> Axes:
    """Draw the reliability of the mean of one, two, three ... raters.

    Dependability counts differences between the levels of raters as error. Generalizability does
    not, as for raters who all rate the same units.

    Parameters
    ----------
    result : VarianceComponents
        The result of `variance_components`.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    OptionError, MissingDependencyError
        As in `weights`.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> ax = plots.reliability(sa.variance_components(sa.simulate(100, 6, rng=1)))
    >>> ax.get_title(loc="left")
    'Variance components of the disagreement'
    """
    result = check_result(result, "VarianceComponents", "reliability", "variance_components")
    ax = axes_or_new(ax, height=3.8)
    heading(ax, "Variance components of the disagreement", short_text(result.verdict, limit=300))
    frame = result.by_raters(_RATERS)
    if frame["dependability"].isna().all():
        return show_message(ax, "undefined: there is no variance")
    m = floats(frame, "raters")
    forms = (("generalizability", ORANGE, "s--"), ("dependability", BLUE, "o-"))
    for name, colour, form in forms:
        y, low, high = (floats(frame, f"{name}{end}") for end in ("", "_low", "_high"))
        draw_curve(ax, m, y, low, high, form=form, colour=colour, band=0.12, name=name)
    ax.set_ylim(min(0.0, ax.get_ylim()[0]), 1.02)
    ax.set_xticks(m)
    ax.legend(loc="lower right", frameon=False, fontsize=NAME_SIZE, labelcolor=ink(ax))
    n = counted(result.study.n_raters, "rater")
    about = f", {level_text(result.level)}, {n}" if is_broad(ax) else ""
    return label_axes(ax, "raters whose answers are averaged", f"reliability{about}")


@public
def acceptance(result: AcceptancePlan | AcceptanceTest, *, ax: Axes | None = None) -> Axes:
    """Draw the probability that a delivery is accepted, over its true error rate.

    The acceptable and rejectable rates are marked; if answers were checked, a dashed
    line marks the observed error rate.

    Parameters
    ----------
    result : AcceptancePlan or AcceptanceTest
        The result of `acceptance_plan` or `acceptance_test`.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    OptionError, MissingDependencyError
        As in `weights`.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> ax = plots.acceptance(sa.acceptance_plan(acceptable_rate=0.02, rejectable_rate=0.10))
    >>> [text.get_text() for text in ax.get_legend().get_texts()][0]
    'acceptable, 0.02: accepted with probability 0.959'
    """
    from setagree.inference.acceptance import AcceptanceTest as Test

    test = result if isinstance(result, Test) else None
    plan = test.plan if test else result
    plan = check_result(plan, "AcceptancePlan", "acceptance", "acceptance_plan")
    ax = axes_or_new(ax, height=3.8)
    allowed = f"Check {plan.n:,} answers; accept with at most {counted(plan.c, 'error')}."
    title = "Is the delivery good enough?" if test is None else test.outcome
    heading(ax, title, allowed if test is None else test.verdict)
    observed = [] if test is None else [test.n_errors / test.n_checked]
    gap = plan.rejectable_rate - plan.acceptable_rate
    ends = [
        max(0.0, plan.acceptable_rate - gap),
        min(1.0, plan.rejectable_rate + 2.5 * gap),
        *observed,
    ]
    rates = np.linspace(min(ends), max(ends), 400)
    curve = np.array([plan.accepts(rate) for rate in rates])
    draw_curve(ax, rates, curve, 0.0, curve)
    accepted = "accepted with probability " if is_broad(ax) else ""
    for name, form, colour in (("acceptable", "o", BLUE), ("rejectable", "D", ORANGE)):
        rate = getattr(plan, f"{name}_rate")
        (mark,) = ax.plot(rate, plan.accepts(rate), form, color=colour, markersize=7, zorder=3)
        mark.set(label=f"{name}, {rate:g}: {accepted}{number(plan.accepts(rate))}", clip_on=False)
    for rate in observed:
        line = ax.axvline(rate, color=ink(ax), linestyle="--", linewidth=1, clip_on=False)
        line.set_label(f"observed: {number(rate)}")
    legend = ax.legend(loc="best", fontsize=NAME_SIZE, labelcolor=ink(ax), framealpha=1.0)
    legend.get_frame().set(facecolor=ax.get_facecolor(), edgecolor="none")
    ax.set_xlim(min(ends), max(ends))
    ax.set_ylim(0, 1.06)
    return label_axes(ax, "true error rate of the delivery", "probability to accept it")


@public
def queue(result: Queue, *, ax: Axes | None = None) -> Axes:
    """Draw the expected gain from each rating of a queue, in the order of the queue.

    Up to 30 units have a named bar each; more units are drawn as a curve, with the rating up
    to which the expected gain is half of its total. Units with fewer than two ratings are first,
    without an expected gain. A queue for a coefficient has no gains: the bars are then the ratings
    so far.

    Parameters
    ----------
    result : Queue
        The result of `next_ratings`.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    OptionError, MissingDependencyError
        As in `weights`.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> study = sa.Annotations.from_triples([
    ...     ("ann", 1, "a"), ("ben", 1, "a"), ("ann", 2, "a"), ("ben", 2, "b"), ("ann", 3, "b"),
    ... ])
    >>> ax = plots.queue(sa.next_ratings(study, budget=2, pool=["ann", "ben", "eva"]))
    >>> [name.get_text() for name in ax.get_yticklabels()]
    ['3', '2']
    """
    result = check_result(result, "Queue", "queue", "next_ratings")
    frame = result.to_frame()
    ax = axes_or_new(ax, height=rows_height(len(frame)) if len(frame) <= MAX_ROWS else 4)
    has_bars = len(frame) <= fitting(ax)
    gain, so_far, more = (floats(frame, name) for name in ("expected_gain", "n_ratings", "more"))
    has_gain = bool(np.isfinite(gain).any())
    order = "the most useful" if result.goal == "consensus" else "units with the fewest ratings"
    n, before = int(more[np.isnan(gain)].sum()), ""
    if n and has_gain:
        hatched, are = "" if has_bars else " (hatched)", "are" if n > 1 else "is"
        before = f"Before them {are} {counted(n, 'rating')}{hatched} of units with fewer than two."
    heading(ax, "Units to rate next", f"{result.asks}, {order} first.", before)
    if not len(frame):
        return show_message(ax, "No unit needs another rating.")
    label = "labels that a rating is expected to correct" if has_gain else "ratings so far"
    if not has_bars:
        _queue_curve(ax, gain if has_gain else so_far, more, has_half=has_gain)
        return label_axes(ax, "requested ratings, in the order of the queue", label)
    columns = {
        "so far": [*map(count, so_far)],
        "more": [*map(count, more)],
        "raters": [short_text(names) if names else DASH for names in frame["raters"]],
    }
    names = texts(frame, "unit")
    if not has_gain:
        label = f"{label}, and (hatched) more"
        draw_bars(ax, names, so_far, label=label, more=more, columns=columns)
        ax.locator_params(axis="x", integer=True)
        return ax
    draw_bars(ax, names, gain, label=label, columns=columns)
    for row in np.flatnonzero(np.isnan(gain)).tolist():
        write_text(ax, "fewer than two ratings", (0.01, row), (0, 0), size=8, of="row")
    return ax


def _queue_curve(ax: Axes, heights: Floats, more: Floats, *, has_half: bool) -> None:
    """Draw one step per unit, as wide as its number of requested ratings."""
    ends = np.append(0.0, np.cumsum(more))
    known = np.flatnonzero(np.isfinite(heights))
    first = ends[known[0]]
    if first > 0:
        ax.axvspan(0, first, facecolor="none", edgecolor=ORANGE, hatch="////", alpha=0.4)
    edges = np.append(ends[known], ends[-1])
    ax.stairs(heights[known], edges, fill=True, color=BLUE, alpha=0.35)
    ax.stairs(heights[known], edges, color=BLUE, linewidth=1.6, baseline=None)
    ax.set_xlim(0, ends[-1])
    ax.set_ylim(0, 1.25 * max(float(np.nanmax(heights)), 1e-9))
    ax.grid(axis="y", color=ink(ax), alpha=FAINT, linewidth=0.6)
    gain = np.cumsum((heights * more)[known])
    if has_half and gain[-1] > 0:
        half = int(ends[known[int(np.searchsorted(gain, (0.5 - 1e-9) * gain[-1]))] + 1])
        mark_half(ax, half, ends[-1], f"half of the total gain: rating {half:,}")
