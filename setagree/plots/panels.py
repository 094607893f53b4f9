"""Plots that compare raters: panels, models with humans, and a map of all raters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setagree.checks import Floats, public
from setagree.errors import counted
from setagree.plots.base import (
    ORANGE,
    axes_or_new,
    check_result,
    floats,
    heading,
    ink,
    texts,
    write_text,
)
from setagree.plots.shapes import MAX_NAME, draw_points, draw_rows, free_spots, label_axes
from setagree.scoring.coefficients import distance_name
from setagree.wording.number_format import MINUS, count, level_text, p_value, share
from setagree.wording.sentences import in_message, short_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from setagree.diagnosis.intra_rater import IntraRater
    from setagree.inference.prevalence import PrevalenceTable
    from setagree.panels.alt_test import AltTest, AltTestTable
    from setagree.panels.facets import FacetAgreement
    from setagree.panels.noninferiority import Replacement, ReplacementTable
    from setagree.panels.rater_map import RaterMap


def _distance(result: Any) -> str:
    """Return the name of the distance of a result."""
    return f"the {short_text(distance_name(result.distance))} distance"


_ONE_MODEL = " Of a table, take one model: table['gpt']."


@public
def advantage(alt_test: AltTest | AltTestTable, *, ax: Axes | None = None) -> Axes:
    """Draw how often the model is at least as near to the other humans as each human is.

    In each row a dot is the model, with its 95% interval, a hollow diamond is the human, and a
    short line is the human minus epsilon. The model wins over a human if it is significantly to the
    right of that line, by a test that is corrected for all humans.

    Parameters
    ----------
    alt_test : AltTest or AltTestTable
        The result of `alt_test` for one model.
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
    >>> study = sa.simulate(200, 5, skill=[0.7, 0.7, 0.7, 0.7, 0.9], rng=1)
    >>> ax = plots.advantage(sa.alt_test(study, model="r5"))
    >>> [name.get_text() for name in ax.get_yticklabels()]
    ['r1', 'r2', 'r3', 'r4']
    """
    result = check_result(alt_test, "AltTest", "advantage", "alt_test", hint=_ONE_MODEL)
    near = f"How often each is at least as near to the other humans ({_distance(result)})."
    marks = "Dots: the model, 95% intervals. Diamonds: the human."
    if result.epsilon:
        marks += f" Short lines: the human {MINUS} {result.epsilon:g}."
    ax, shown = draw_rows(
        result.humans,
        ax,
        names=[short_text(human) for human in result.humans.index],
        title=f"{short_text(result.model)} compared with each human",
        lines=[short_text(result.verdict, limit=700), near, marks],
        label="share of the units, ties count for both",
        selection="humans who share the most units",
        by="n_units",
        marks=("advantage", "low", "high"),
        second="human_advantage",
        columns={
            "units": ("n_units", count),
            "p, corrected": ("p_adjusted", p_value),
            "beaten": ("rejected", lambda won: "yes" if won == 1 else "no"),
        },
        intervals="model (interval)",
        origin=1.0,
        undefined="" if result.reason is None else f"undefined: {result.reason}",
    )
    if len(shown):
        _mark_limits(ax, floats(shown, "human_advantage"), result.epsilon)
    return ax


def _mark_limits(ax: Axes, humans: Floats, epsilon: float) -> None:
    """Mark the human minus epsilon in each row."""
    y = np.arange(len(humans))
    ax.hlines(y, humans - epsilon, humans, color=ORANGE, linewidth=0.9, linestyles=":", zorder=1)
    ax.vlines(humans - epsilon, y - 0.28, y + 0.28, color=ORANGE, linewidth=1.8, zorder=2)
    left, right = ax.get_xlim()
    lowest = float((humans - epsilon).min())
    ax.set_xlim(min(left, lowest - 0.04 * (right - left)), right)


@public
def replacement(result: Replacement | ReplacementTable, *, ax: Axes | None = None) -> Axes:
    """Draw the change of agreement if a model replaces each human.

    The first row is the mean, with Hall's 90% interval; a line marks the margin.

    Parameters
    ----------
    result : Replacement or ReplacementTable
        The result of `noninferiority_test` for one model.
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
    >>> study = sa.simulate(200, 5, skill=[0.7, 0.7, 0.7, 0.7, 0.9], rng=1)
    >>> ax = plots.replacement(sa.noninferiority_test(study, model="r5"))
    >>> [name.get_text() for name in ax.get_yticklabels()][:2]
    ['mean', 'r1']
    """
    one = check_result(result, "Replacement", "replacement", "noninferiority_test", hint=_ONE_MODEL)
    low, high = (np.nan, np.nan) if one.reason else one.interval()
    # The verdict on all humans has no p-value of the mean.
    what = f"Change of alpha with the others ({_distance(one)})"
    p = "" if one.against == "all" else p_value(one.p_value)
    mean = {
        "difference": one.difference,
        "low": low,
        "high": high,
        "n_shared_units": len(one.psi),
        "p": p,
    }
    ax, shown = draw_rows(
        one.humans.assign(p=[*map(p_value, floats(one.humans, "p_value"))]),
        ax,
        names=[short_text(human) for human in one.humans.index],
        title=f"{short_text(one.model)} in the place of a human",
        lines=[
            short_text(one.verdict, limit=700),
            f"{what}; line: 90% interval; dashes: the margin.",
        ],
        label="change of alpha",
        selection="humans in whose place most changes",
        by="difference",
        marks=("difference", "low", "high"),
        columns={"units": ("n_shared_units", count), "p": ("p", str)},
        intervals="change (interval)",
        first={"name": "mean", **mean},
        room=1,
        undefined="" if one.reason is None else f"undefined: {one.reason}",
    )
    if not len(shown):
        return ax
    margins = [-one.margin, one.margin] if one.equivalence else [-one.margin]
    left, right = ax.get_xlim()
    ax.set_xlim(min(left, -1.2 * one.margin), max(right, 1.2 * max(margins)))
    for margin in margins:
        ax.axvline(margin, color=ORANGE, linewidth=1.4, linestyle="--")
    ax.axhline(0.5, color=ink(ax), alpha=0.3, linewidth=0.6)
    return ax


@public
def facets(result: FacetAgreement, *, ax: Axes | None = None) -> Axes:
    """Draw the agreement of models with themselves, with one another and with people.

    A hollow diamond marks the largest agreement that the stability of the raters permits.

    Parameters
    ----------
    result : FacetAgreement
        The result of `facet_agreement`.
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
    >>> study = sa.simulate(60, 4, rng=1).with_raters({"model": {"r1": "gpt", "r2": "gpt"}})
    >>> ax = plots.facets(sa.facet_agreement(study, facets=["model"]))
    >>> [name.get_text() for name in ax.get_yticklabels()]
    ['same model', 'models with people', 'people with one another']
    """
    from setagree.panels.facets import ALL

    result = check_result(result, "FacetAgreement", "facets", "facet_agreement")
    frame = result.to_frame()
    names = [
        short_text(pairs, limit=40) if who == ALL else f"… {short_text(who)}"
        for pairs, who in zip(frame["pairs"], frame["who"], strict=True)
    ]
    line = f"1 - D / De ({_distance(result)}), {level_text(result.level)} intervals"
    return draw_rows(
        frame,
        ax,
        names=names,
        title="Agreement of models with themselves",
        lines=[
            short_text(result.lead, limit=400),
            f"{line}; diamond: the largest that stability permits.",
        ],
        label="agreement",
        selection="first rows",
        second="upper_bound",
        columns={"units": ("n_units", count)},
        intervals="agreement (interval)",
    )[0]


@public
def repeats(result: IntraRater, *, ax: Axes | None = None) -> Axes:
    """Draw the agreement of raters with themselves, one row per rater.

    The first row is the pooled agreement. A dashed line marks the agreement of different raters,
    and the band around it is its interval.

    Parameters
    ----------
    result : IntraRater
        The result of `intra_rater_agreement`.
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
    >>> rows = [("ann", 1, "a"), ("ann", 1, "a"), ("ann", 2, "b"), ("ann", 2, "a, b"),
    ...         ("ben", 1, "a"), ("ben", 2, "c"), ("ann", 3, "c"), ("ben", 3, "c"), ("ben", 3, "c")]
    >>> study = sa.Annotations.from_triples(rows, duplicates="repeats")
    >>> ax = plots.repeats(sa.intra_rater_agreement(study))
    >>> [name.get_text() for name in ax.get_yticklabels()]
    ['all raters', 'ann', 'ben']
    """
    result = check_result(result, "IntraRater", "repeats", "intra_rater_agreement")
    place = {rater: k for k, (rater, _) in enumerate(result.by_rater)}
    # Of raters with equally many repeats, the first of the study are drawn, not the lowest.
    frame = result.to_frame().sort_values("rater", key=lambda names: names.map(place.__getitem__))
    what = f"Alpha of the answers of a rater to the same unit ({_distance(result.pooled)})"
    level = level_text(result.level)
    (pooled, low, high), (between, least, most) = (
        (one.estimate, *one.interval(result.level)) for one in (result.pooled, result.between)
    )
    ax, _ = draw_rows(
        frame,
        ax,
        names=texts(frame, "rater"),
        title="Agreement of raters with themselves",
        lines=[
            short_text(result.verdict, limit=400),
            f"{what}, {level} intervals; dashes: raters with one another.",
        ],
        label="alpha",
        selection="raters with the most answers repeated",
        by="n_units",
        order="estimate",
        columns={"units": ("n_units", count)},
        intervals="alpha (interval)",
        first={
            "name": "all raters",
            "estimate": pooled,
            "low": low,
            "high": high,
            "n_units": result.pooled.n_units,
            "reason": result.pooled.reason,
            "remark": result.pooled.remark,
        },
        # The verdict and the note on rough intervals take the height of three rows.
        room=4,
    )
    if np.isfinite(between):
        left, right = ax.get_xlim()
        ax.set_xlim(min(left, between - 0.02), max(right, between + 0.02))
        if np.isfinite(least):
            ax.axvspan(least, most, color=ORANGE, alpha=0.12, linewidth=0, zorder=0)
        ax.axvline(between, color=ORANGE, linewidth=1.4, linestyle="--", zorder=1)
    ax.axhline(0.5, color=ink(ax), alpha=0.3, linewidth=0.6)
    return ax


@public
def prevalence(table: PrevalenceTable, *, ax: Axes | None = None) -> Axes:
    """Draw the prevalence of each label by people, by the model, and by both together.

    Parameters
    ----------
    table : PrevalenceTable
        The result of `prevalence`.
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
    >>> study = sa.simulate(100, 3, n_labels=2, rng=1)
    >>> ax = plots.prevalence(sa.prevalence(study, model="r3"))
    >>> [name.get_text() for name in ax.get_yticklabels()]
    ['l1', 'l2']
    """
    result = check_result(table, "PrevalenceTable", "prevalence", "prevalence")
    n, N = f"{result.checked.n:,}", counted(result.checked.n_units, "unit")
    ax, shown = draw_rows(
        result.frame,
        ax,
        names=texts(result.frame, "label"),
        title="How many units have each label",
        lines=[
            f"Dot: people and {short_text(result.model)} together ({n} of {N} checked).",
            f"Grey: people; diamond: the model; lines: {level_text(result.level)} intervals.",
        ],
        label="share of the units",
        selection="most frequent labels",
        by="prevalence",
        marks=("prevalence", "low", "high"),
        second="model",
        columns={"count": ("count", lambda x: count(round(x)))},
        intervals="together (interval)",
    )
    y = np.arange(len(shown)) + 0.3
    ax.hlines(y, floats(shown, "humans_low"), floats(shown, "humans_high"), color="0.5", lw=1)
    ax.plot(floats(shown, "humans"), y, "|", color="0.5", markersize=6)
    ax.set_xlim(right=np.nanmax([ax.get_xlim()[1], *floats(shown, "humans_high") + 0.01]))
    return ax


@public
def rater_map(
    rater_map: RaterMap,
    *,
    p_value: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the raters as points: the closer two are, the more they agree beyond chance.

    Clusters differ in form and colour unless the test says that there are none; the text above has
    its verdict. All raters are drawn; names that would overlap are omitted.

    Parameters
    ----------
    rater_map : RaterMap
        The result of `rater_map`.
    p_value : float, optional
        The p to show, such as one corrected for several tests. Default: that of the map.
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
    >>> found = sa.rater_map(sa.simulate(60, 4, rng=1), n_resamples=19, rng=1)
    >>> sorted(text.get_text() for text in plots.rater_map(found).texts[1:])
    ['r1', 'r2', 'r3', 'r4']
    """
    check_result(rater_map, "RaterMap", "rater_map", "rater_map")
    ax = axes_or_new(ax, height=5.4)
    table = rater_map.table[rater_map.table["cluster"] > 0]
    points = np.column_stack([floats(table, "x"), floats(table, "y")])
    p = rater_map.p_value if p_value is None else p_value
    clusters = table["cluster"] if rater_map.has_clusters(p) else table["cluster"].clip(upper=1)
    draw_points(ax, points, clusters.to_numpy())
    names = [str(name) for name in table.index]
    spots = free_spots(ax, points, names, floats(table, "mean_distance"))
    n, left_out = len(table), len(rater_map.table) - len(table)
    explained = f"two dimensions explain {share(rater_map.explained)} of the variance"
    lines = [
        short_text(in_message(rater_map.words_at(p)), limit=400),
        f"Distance: disagreement ({_distance(rater_map)}) relative to chance; {explained}.",
    ]
    if rater_map.n_bridged:
        pairs = counted(rater_map.n_bridged, "pair")
        lines.append(f"{pairs} without shared units: placed by their distances to others.")
    if left_out:
        lines.append(f"Not on the map, without shared units: {counted(left_out, 'rater')}.")
    if len(spots) < n:
        lines.append(f"Named: the {len(spots):,} farthest from the others that fit, of {n:,}.")
    heading(ax, "Raters on a map", *lines)
    for k, (shift, side) in spots.items():
        name, (x, y) = short_text(names[k], limit=MAX_NAME), points[k]
        write_text(ax, name, (x, y), shift, of="data", size=8, ha=side, loud=True)
    return label_axes(ax, "first axis, in disagreement relative to chance", "second axis")
