"""Pictures of decisions: when to stop, a model in the place of a human, how many raters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
    is_narrow,
    label_x,
    label_y,
    list_axes,
    nothing,
    picture,
)
from setagree.plots.style import BLUE, FAINT, NAME_SIZE, ORANGE, floats
from setagree.scoring.names import distance_name
from setagree.wording.numbers import count, level_text, p_value
from setagree.wording.text import short_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from setagree.inference.monitor import Monitor
    from setagree.inference.variance_components import VarianceComponents
    from setagree.panels.facet_results import FacetAgreement
    from setagree.panels.replacement import Replacement, ReplacementTable

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
    takes="What `noninferiority_test` or `equivalence_test` returned for one model.",
    most="humans are drawn at most: those in whose place the model loses or gains most",
)
def replacement(
    result: Replacement | ReplacementTable, *, limit: int = 40, ax: Axes | None = None
) -> Axes:
    """Draw how far agreement changes where a model answers in the place of each human.

    The first row is the mean, with Hall's 90 % interval; a line marks the margin.

    Examples
    --------
    >>> import setagree as sa
    >>> from setagree import plots
    >>> study = sa.simulate(200, 5, skill=[0.7, 0.7, 0.7, 0.7, 0.9], rng=1)
    >>> ax = plots.replacement(sa.noninferiority_test(study, model="r5"))
    >>> [name.get_text() for name in ax.get_yticklabels()][:2]
    ['mean', 'r1']
    """
    from setagree.panels.replacement import Replacement as Known
    from setagree.panels.replacement import ReplacementTable as Table

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
        "distance); line: 90 % interval; dashes: the margin.",
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
    from setagree.panels.facet_results import ALL
    from setagree.panels.facet_results import FacetAgreement as Known

    check_limit(limit)
    result = check_result(result, Known, "facets", "facet_agreement")
    frame = result.to_frame()
    ax, shown, note = list_axes(frame, ax, limit=limit, what="first rows")
    heading(
        ax,
        "Do models agree with themselves?",
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
    'Where disagreement comes from'
    """
    from setagree.inference.variance_components import VarianceComponents as Known

    result = check_result(result, Known, "reliability", "variance_components")
    ax = axes_or_new(ax, height=3.8)
    heading(ax, "Where disagreement comes from", short_text(result.verdict, limit=300))
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
