"""The pictures: each draws what its result says, fits its place, and survives hostile names."""

import inspect
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from picture_frames import (
    HOSTILE,
    chart,
    checked,
    confusion_frame,
    contest,
    forest_frame,
    group_frame,
    in_facets,
    label_frame,
    pair_frame,
    queued,
    rated_again,
    rater_frame,
    replaced,
    time_frame,
    unit_frame,
    watched,
)

import setagree as sa
from setagree.errors import DataError, MissingDependencyError, OptionError

pytest.importorskip("matplotlib")

from axes_support import drawn, fresh, rows_named
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from setagree import plots
from setagree.plots.base import ORANGE, cells_height, inline_svg, rows_height, svg_element
from setagree.plots.diagnosis import clustered_order
from setagree.plots.inference import _mark
from setagree.plots.shapes import draw_matrix, span
from setagree.wording.number_format import DASH, MINUS

STUDY = sa.simulate(60, 3, rng=1)
ALPHA = sa.krippendorff_alpha(STUDY)
TABLE = sa.agreement(
    STUDY, coefficient=["krippendorff_alpha", "fleiss_kappa"], distance=["nominal", "masi"]
)


def undefined():
    """Return an alpha that is nan: all answers are the same."""
    rows = [("ann", 1, "x"), ("ben", 1, "x"), ("ann", 2, "x"), ("ben", 2, "x")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.UndefinedAgreementWarning)
        return sa.krippendorff_alpha(sa.Annotations.from_triples(rows))


def said(ax):
    """Return all that is written on the axes beside their ticks, as one text."""
    return "\n".join([ax.get_title(loc="left"), *(text.get_text() for text in ax.texts)])


def dots(ax, marker="o"):
    """Return the places (x, y) of the marks of one form."""
    (line,) = [line for line in ax.lines if line.get_marker() == marker]
    return line.get_xydata()


def intervals(ax):
    """Return the ends (low, high) of the interval of each row."""
    lines = ax.collections[0]
    none = np.full((2, 2), np.nan)
    return np.array([(s if s.size else none)[:, 0] for s in lines.get_segments()])


def upright(ax):
    """Return where the vertical lines stand."""
    lines = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2]
    return [x[0] for x in lines if x[0] == x[1]]


def windows(n):
    start = pd.Series(pd.date_range("2024-01-01", periods=n, freq="W"))
    return time_frame(start, start + pd.Timedelta("7D"))


def test_everything():
    assert sorted(PICTURES) == sorted(plots.__all__)


PICTURES = {
    "null": lambda n, h: sa.permutation_test(ALPHA, n_resamples=max(n, 5), rng=1),
    "bootstrap": lambda n, h: sa.bootstrap(ALPHA, n_resamples=max(n, 5), rng=1),
    "forest": lambda n, h: forest_frame(n, hostile=h),
    "labels": lambda n, h: label_frame(n, hostile=h),
    "confusions": lambda n, h: confusion_frame(min(n, 60), hostile=h),
    "raters": lambda n, h: rater_frame(n, hostile=h),
    "pairs": lambda n, h: pair_frame(n, hostile=h),
    "units": lambda n, h: unit_frame(n, hostile=h),
    "groups": lambda n, h: group_frame(n, hostile=h),
    "over_time": lambda n, h: windows(n),
    "weights": lambda n, h: sa.weights(answers(HOSTILE[:n] if h else range(n))),
    "advantage": lambda n, h: contest(n, hostile=h),
    "rater_map": lambda n, h: chart(n, hostile=h),
    "monitor": lambda n, h: watched(n),
    "replacement": lambda n, h: replaced(n, hostile=h),
    "facets": lambda n, h: in_facets(n, hostile=h),
    "prevalence": lambda n, h: checked(n, hostile=h),
    "queue": lambda n, h: queued(n, hostile=h),
    "acceptance": lambda n, h: sa.acceptance_plan(acceptable_rate=0.02, rejectable_rate=0.1),
    "repeats": lambda n, h: rated_again(n, hostile=h),
    "reliability": lambda n, h: sa.variance_components(sa.simulate(max(n, 9), 6, rng=1)),
}
RESULTS = [
    *("acceptance", "advantage", "bootstrap", "facets", "monitor", "null", "prevalence"),
    *("queue", "rater_map", "reliability", "repeats", "replacement", "weights"),
]
NOT_ROWS = {"acceptance", "null", "bootstrap", "monitor", "reliability"}
FRAMES = sorted(set(PICTURES) - set(RESULTS))


def answers(labels):
    """Return a study in which every label is an answer of its own, and so is no label."""
    rows = [("ann", i, {label}) for i, label in enumerate(labels)]
    return sa.Annotations.from_triples([*rows, ("ben", 0, set())])


# ---- What holds of all ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_returns_the_axes_it_was_given(name):
    _, current = plt.subplots()
    ax = fresh()
    assert getattr(plots, name)(PICTURES[name](6, False), ax=ax) is ax
    assert ax.get_title(loc="left")
    assert plt.gca() is current
    assert len(plt.get_fignums()) == 1
    assert not current.lines
    drawn(ax)


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_makes_a_figure_of_its_own(name):
    with plt.style.context("dark_background"):
        ax = getattr(plots, name)(PICTURES[name](6, False))
    assert ax.figure.number in plt.get_fignums()
    assert {to_rgb(text.get_color()) for text in ax.texts} == {(1.0, 1.0, 1.0)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "size"), [*((n, (7.2, 5.0)) for n in (1, 15, 500)), (15, (3.2, 2.4))]
)
@pytest.mark.parametrize("name", sorted(PICTURES))
def test_any_size(name, n, size):
    if name == "pairs":
        n = max(2, min(n, 120))
    ax = drawn(getattr(plots, name)(PICTURES[name](n, False), ax=fresh(*size)))
    if size[0] > 5:
        _check_apart(ax.get_yticklabels(), 1)
    shown = max(len(ax.get_yticklabels()), 1)
    assert shown <= 41
    if n == 500 and name not in NOT_ROWS | {"queue", "units"}:
        assert re.search(r", of (500|501|120|60)\.", " ".join(said(ax).split()))


def _check_apart(names, axis):
    """Check that the boxes of the names do not overlap along an axis."""
    boxes = [name.get_window_extent() for name in names if name.get_text()]
    ends = sorted((box.min[axis], box.max[axis]) for box in boxes)
    assert all(a[1] <= b[0] + 1 for a, b in pairwise(ends))


@pytest.mark.parametrize("name", ["pairs", "confusions", "weights"])
def test_columns_do_not_overlap(name):
    ax = drawn(getattr(plots, name)(PICTURES[name](60, False), ax=fresh(7.2, 8.4)))
    _check_apart(ax.get_xticklabels(), 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PICTURES))
def test_hostile_names(name):
    """Markup, formulas, other scripts and 10,000 characters are drawn as text, cut to a width."""
    ax = drawn(getattr(plots, name)(PICTURES[name](len(HOSTILE), True), ax=fresh(7.2, 6.0)))
    texts = [t.get_text() for t in [*ax.get_yticklabels(), *ax.get_xticklabels()]]
    assert max(map(len, texts)) <= 40
    if name in FRAMES and name != "over_time":
        assert r"\$x\$ costs \$5" in texts
        assert "x" * 29 + "…" in texts
    for text in [*texts, *(t.get_text() for t in [*ax.texts, ax.title])]:
        plain = text.replace(r"\$", "")
        # Ticks with numbers are matplotlib's own.
        assert "$" not in plain or "mathdefault" in plain


@pytest.mark.parametrize("name", FRAMES)
def test_empty_frames(name):
    empty = PICTURES[name](3, False).iloc[:0]
    ax = drawn(getattr(plots, name)(empty, ax=fresh()))
    assert ax.texts[-1].get_text().endswith(".")
    assert not ax.get_yticklabels()


@pytest.mark.parametrize("name", FRAMES)
def test_rows_of_nan(name):
    frame = PICTURES[name](6, False)
    if "reason" in frame:
        frame["reason"] = None
    numbers = frame.select_dtypes("number").columns.difference(["start", "end"])
    frame[numbers] = np.nan
    drawn(getattr(plots, name)(frame, ax=fresh()))


@pytest.mark.parametrize("name", FRAMES)
def test_columns_are_needed(name):
    frame = PICTURES[name](3, False)
    column = frame.columns[0]
    said = rf"plots.{name} needs .*lacks {column}.*\. Pass the result of sa\.\w+\(study.*\)\."
    with pytest.raises(DataError, match=said):
        getattr(plots, name)(frame.drop(columns=column))
    with pytest.raises(DataError, match=f"plots.{name} draws a DataFrame, not 'text'"):
        getattr(plots, name)("text")


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_needed(name):
    with pytest.raises(OptionError, match=f"plots.{name} draws the result of sa.*, not 'text'"):
        getattr(plots, name)("text")


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_axes_are_checked(name):
    with pytest.raises(OptionError, match="ax='here' is not a matplotlib Axes"):
        getattr(plots, name)(PICTURES[name](3, False), ax="here")


def test_matplotlib_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=re.escape('pip install "setagree[plot]"')):
        plots.labels(label_frame(2))


LEVEL = "level : float\n    Level of the intervals, for the caption.\n"
AX = "ax : matplotlib Axes, optional\n    Axes to draw on. Default: those of a new figure.\n"
RETURNS = "Returns\n-------\nmatplotlib Axes\n"
RAISES = """\
Raises
------
{}
MissingDependencyError
    matplotlib is not installed.
"""
OF_FRAMES = RAISES.format(
    "DataError\n    The frame is not a DataFrame, or lacks a column.\n"
    "OptionError\n    An option is out of range."
)
OF_RESULTS = RAISES.format(
    "OptionError\n    The result is of another function, or an option is out of range."
)
REFERRED = {
    True: "Raises\n------\nDataError, OptionError, MissingDependencyError\n    As in `units`.\n",
    False: "Raises\n------\nOptionError, MissingDependencyError\n    As in `weights`.\n",
}
"""What the plots of frames, and of results, have in place of the paragraphs of these two."""


@pytest.mark.parametrize("name", plots.__all__)
def test_docstrings_share_paragraphs(name):
    """Each plot documents all its parameters, and common parameters and errors in the same words.

    The level of a bootstrap or of a table is an option of the computation: it has other words.
    """
    function = getattr(plots, name)
    text = inspect.getdoc(function)
    documented = re.findall(r"^(\w+) : ", text, re.MULTILINE)
    assert documented == list(inspect.signature(function).parameters)
    heads = re.findall(r"^(\w+)\n-+$", text, re.MULTILINE)
    assert heads == ["Parameters", "Returns", "Raises", "Examples"]
    whole = {"units": OF_FRAMES, "weights": OF_RESULTS}
    raises = whole.get(name, REFERRED[name in FRAMES])
    assert f"{AX}\n{RETURNS}\n{raises}\nExamples" in text
    assert (LEVEL in text) == ("level" in documented and name not in {"bootstrap", "forest"})


@pytest.mark.slow
def test_import_is_light():
    code = "import sys, setagree.plots; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


# ---- Distributions -------------------------------------------------------------------------------


@pytest.mark.parametrize("score", [sa.krippendorff_alpha, sa.fleiss_kappa])
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_null(score, alternative):
    """All reshuffles are in the bars; lines stand at the observed value and the 95% quantile."""
    test = sa.permutation_test(score(STUDY), n_resamples=199, alternative=alternative, rng=1)
    ax = plots.null(test, ax=fresh())
    assert sum(bar.get_height() for bar in ax.patches) == 199
    assert upright(ax) == [test.agreement.estimate, sorted(test.distribution)[189]]  # 190 of 199
    text = said(ax)
    p = f"{test.p_value:.3f}"
    assert f"observed {test.agreement.estimate:.3f}, p = {p} ({alternative})" in text
    name = test.agreement.definition.title
    assert f"{name}, the MASI distance: 199 reshuffles of all answers over all" in text
    left, right = ax.get_xlim()
    assert left < min(test.distribution) < test.agreement.estimate < right


def test_null_says_what_was_reshuffled():
    small = sa.krippendorff_alpha(sa.simulate(3, 2, rng=2))
    test = sa.permutation_test(small, n_resamples=9999, rng=1)
    assert test.exact
    text = said(plots.null(test, ax=fresh()))
    assert f"all {len(test.distribution):,} arrangements" in text
    assert "Their mean is 0.000, expected 0.000." in text
    within = sa.permutation_test(ALPHA, n_resamples=9, scheme="within_rater", rng=1)
    text = said(plots.null(within, ax=fresh()))
    assert "reshuffles of the answers within each rater." in " ".join(text.split())
    assert "theory" not in text


def test_narrow_null_is_magnified():
    test = sa.permutation_test(ALPHA, n_resamples=99, rng=1)
    assert not plots.null(test, ax=fresh()).child_axes
    far = replace(test, distribution=np.linspace(-0.001, 0.001, 99))
    ax = drawn(plots.null(far, ax=fresh()))
    (lens,) = ax.child_axes
    assert sum(bar.get_height() for bar in lens.patches) == 99
    assert lens.get_xlim()[1] < 0.01 < ax.get_xlim()[1]


@pytest.mark.parametrize("middle", [0.0, 0.2, 0.32, 0.5])
def test_null_texts_do_not_collide(middle):
    test = sa.permutation_test(ALPHA, n_resamples=99, rng=1)
    near = replace(test, distribution=np.linspace(middle - 0.2, middle + 0.1, 99))
    ax = drawn(plots.null(near, ax=fresh()))
    boxes = [text.get_window_extent() for text in ax.texts[1:]]
    assert not boxes[0].overlaps(boxes[1])
    lines = [line.get_window_extent() for line in ax.lines]
    assert not any(box.overlaps(line) for box in boxes for line in lines)


def test_null_of_nothing():
    test = sa.permutation_test(undefined(), n_resamples=9, rng=1)
    ax = drawn(plots.null(test, ax=fresh()))
    assert f"undefined: {test.agreement.reason}" in said(ax)
    assert "9 reshuffles (9 undefined)" in said(ax)
    assert not ax.patches


def test_null_of_one_value():
    test = sa.permutation_test(ALPHA, n_resamples=9, rng=1)
    ax = drawn(plots.null(replace(test, distribution=np.zeros(9)), ax=fresh()))
    assert [bar.get_height() for bar in ax.patches if bar.get_height()] == [9]
    ends = [ax.patches[0].get_x(), ax.patches[-1].get_x() + ax.patches[-1].get_width()]
    assert ends == pytest.approx([-0.01, 0.01])


@pytest.mark.parametrize("level", [0.95, 0.9, 0.999])
def test_bootstrap(level):
    """Lines stand at the estimate and the ends of the percentile interval of the level."""
    boot = sa.bootstrap(ALPHA, n_resamples=200, rng=1)
    ax = plots.bootstrap(boot, level=level, ax=fresh())
    low, high = boot.interval(level)
    assert upright(ax) == [ALPHA.estimate, low, high]
    text = said(ax)
    assert {f"{low:.3f}", f"{high:.3f}"} <= set(text.split("\n"))
    assert f"{ALPHA.estimate:.3f} (standard error {boot.standard_error:.3f})" in text
    left, right = ax.get_xlim()
    assert boot.defined.min() - left == pytest.approx(right - boot.defined.max())
    how = f"200 resamples, units redrawn; {100 * level:g}% percentile interval."
    assert how in " ".join(text.split())


def test_bootstrap_says_how():
    both = sa.bootstrap(ALPHA, n_resamples=9, over="both", rng=1)
    assert "units and raters redrawn" in " ".join(said(plots.bootstrap(both, ax=fresh())).split())
    nothing = sa.bootstrap(undefined(), n_resamples=9, rng=1)
    assert "(9 undefined)" in said(plots.bootstrap(nothing, ax=fresh()))
    assert "undefined: only one" in said(plots.bootstrap(nothing, ax=fresh()))


def test_bootstrap_of_one_resample():
    boot = sa.bootstrap(ALPHA, n_resamples=2, rng=1)
    boot = replace(boot, distribution=np.array([0.3, np.nan]))
    ax = drawn(plots.bootstrap(boot, ax=fresh()))
    assert upright(ax) == [ALPHA.estimate]
    assert DASH not in said(ax).split("\n")
    nothing = replace(boot, distribution=np.full(2, np.nan))
    assert "undefined: all resamples are" in said(plots.bootstrap(nothing, ax=fresh()))


def test_texts_of_lines_are_on_the_side_with_room():
    ax = fresh()
    ax.set_xlim(10, 20)
    for x in (12, 18):
        _mark(ax, x, "text")
    assert [text.get_ha() for text in ax.texts] == ["left", "right"]


def test_limits_of_rows():
    """All estimates and the origin, and intervals up to their own reach, 0.4, with 4% more."""
    values, low, high = np.array([[0.2, 0.4, 0.3], [0.1, 0.3, -5], [0.3, 0.5, 9]])
    assert span(values, low, high, 0.0) == pytest.approx((-0.4 - 0.048, 0.8 + 0.048))


@pytest.mark.parametrize(("text", "is_written"), [("1.00", True), ("x" * 40, False)])
def test_texts_of_cells_that_do_not_fit(text, is_written):
    ax = fresh()
    names = ["a", "b"]
    draw_matrix(ax, np.ones((2, 2)), [[text] * 2] * 2, rows=names, columns=names, key=("1", "0"))
    assert (text in said(ax)) == is_written


def test_bootstrap_draws_one():
    boots = sa.bootstrap(TABLE, n_resamples=9, rng=1)
    with pytest.raises(OptionError, match="Of a table, take one row"):
        plots.bootstrap(boots)


# ---- Rows ----------------------------------------------------------------------------------------


def test_forest():
    """A dot and an interval a row, as the table has them, and the numbers beside."""
    ax = plots.forest(TABLE, ax=fresh())
    frame = TABLE.to_frame()
    assert dots(ax)[:, 0].tolist() == frame["estimate"].tolist()
    assert dots(ax)[:, 1].tolist() == [0, 1, 2, 3]
    assert intervals(ax).tolist() == frame[["low", "high"]].to_numpy().tolist()
    assert rows_named(ax)[:2] == ["Krippendorff's alpha [nominal]", "Krippendorff's alpha [MASI]"]
    first = frame.iloc[0]
    assert f"{first.estimate:.3f} ({first.low:.3f} to {first.high:.3f})" in said(ax)
    assert "Lines: 95% intervals. 60 units, 180 ratings" in said(ax)
    # One thin line parts the two coefficients.
    assert [line.get_ydata()[0] for line in ax.lines if line.get_ydata()[0] == 1.5] == [1.5]


def test_forest_without_an_interval():
    study = sa.Annotations.from_triples([(r, u, "xy"[u]) for r in "ab" for u in (0, 1)])
    assert "a point without a line has none" in said(plots.forest(sa.agreement(study), ax=fresh()))
    assert "has none" not in said(plots.forest(TABLE, ax=fresh()))


def test_forest_level():
    """A table computes its intervals at the level that is asked; a frame is only described."""
    ax = plots.forest(TABLE, level=0.8, ax=fresh())
    assert intervals(ax).tolist() == TABLE.to_frame(level=0.8)[["low", "high"]].to_numpy().tolist()
    assert "Lines: 80% intervals." in said(ax)
    assert "Lines: 99%" in said(plots.forest(TABLE.to_frame(), level=0.99, ax=fresh()))


def test_forest_titles():
    """What all rows share stands in the title, and not in each row."""
    alphas = sa.agreement(STUDY, coefficient="krippendorff_alpha", distance=["masi", "dice"])
    ax = plots.forest(alphas, ax=fresh())
    assert ax.get_title(loc="left") == "Krippendorff's alpha by distance"
    assert rows_named(ax) == ["MASI", "Dice"]
    both = sa.agreement(STUDY, coefficient=["krippendorff_alpha", "fleiss_kappa"])
    ax = plots.forest(both, ax=fresh())
    assert ax.get_title(loc="left") == "Agreement with the MASI distance by coefficient"
    assert rows_named(ax) == ["Krippendorff's alpha", "Fleiss' kappa"]
    gwet = sa.agreement(STUDY, coefficient="gwet_ac", distance=["nominal", "dice"])
    assert plots.forest(gwet, ax=fresh()).get_title(loc="left") == "Agreement by distance"


def test_forest_thins():
    ax = plots.forest(forest_frame(63), ax=fresh(7.2, 9))
    assert rows_named(ax) == [f"label {i}" for i in range(30)]
    assert "The 30 first rows, of 63." in said(ax)


def test_far_intervals_become_arrows():
    frame = forest_frame(3)
    frame.loc[1, ["low", "high"]] = [-50.0, 60.0]
    ax = plots.forest(frame, ax=fresh())
    left, right = ax.get_xlim()
    assert left > -3
    assert right < 3
    assert dots(ax, "<").tolist() == [[left, 1]]
    assert dots(ax, ">").tolist() == [[right, 1]]
    assert f"({MINUS}50.000 to 60.000)" in said(ax)


def test_labels():
    """Alpha with its interval, AC1, and the columns of text are those of the frame."""
    frame = label_frame(6)
    ax = plots.labels(frame, level=0.9, ax=fresh())
    np.testing.assert_array_equal(dots(ax)[:, 0], frame["estimate"])
    assert dots(ax, "D")[:, 0].tolist() == frame["ac1"].tolist()
    kept = frame["low"].notna()
    assert intervals(ax)[kept].tolist() == frame.loc[kept, ["low", "high"]].to_numpy().tolist()
    assert rows_named(ax) == frame["label"].tolist()
    text = said(ax)
    assert "undefined: only one value was used" in text
    assert "90% intervals" in text
    shares = [f"{100 * x:.{int(x < 0.0995)}f}%" for x in frame["prevalence"]]
    assert {"estimate", "prevalence", "of disagreement", *shares} <= set(text.split("\n"))


@pytest.mark.parametrize("shuffled", [1, 2])
def test_labels_thin(shuffled):
    frame = label_frame(200, seed=shuffled)
    ax = plots.labels(frame, ax=fresh(7.2, 9))
    ranks = frame["share_of_disagreement"].rank(ascending=False)
    assert rows_named(ax) == frame["label"][ranks <= 30].tolist()
    assert "The 30 labels with the largest share of the disagreement, of 200." in said(ax)


def test_room_limits_rows():
    ax = plots.labels(label_frame(40), ax=fresh(7.2, 2.4))
    assert 5 <= len(rows_named(ax)) < 15
    assert f"The {len(rows_named(ax))} labels" in said(ax)


def test_raters():
    """The change without each rater, its interval, and in signed numbers beside."""
    frame = rater_frame(4)
    ax = plots.raters(frame, ax=fresh())
    assert dots(ax)[:, 0].tolist() == frame["difference"].tolist()
    assert (
        intervals(ax).tolist() == frame[["difference_low", "difference_high"]].to_numpy().tolist()
    )
    text = said(ax)
    assert f"{frame['difference'][0]:+.3f}" in text
    assert f"{frame['difference'][3]:+.3f}".replace("-", MINUS) in text
    assert "Krippendorff's alpha, the MASI distance\nChange without the rater" in text


def test_raters_thin():
    frame = rater_frame(100)
    ax = plots.raters(frame, ax=fresh(7.2, 9))
    ranks = frame["difference"].abs().rank(ascending=False)
    assert rows_named(ax) == frame["rater"][ranks <= 30].tolist()
    assert "The 30 raters with the largest change, of 100." in said(ax)


def test_groups():
    """Estimates with intervals, units beside, and the one test of all groups."""
    frame = group_frame(6)
    ax = plots.groups(frame, ax=fresh())
    np.testing.assert_array_equal(dots(ax)[:, 0], frame["estimate"])
    text = said(ax)
    assert "Test that all groups have one common value: p = 0.012." in text
    assert ax.get_xlabel() == "Krippendorff's alpha, the MASI distance"
    untested = frame.assign(homogeneity_p_value=np.nan, no_test="they share clusters")
    text = said(plots.groups(untested, ax=fresh()))
    assert "Whether the groups differ cannot be tested: they share clusters." in text
    bare = frame.drop(columns=["homogeneity_p_value", "coefficient", "distance", "reason"])
    text = said(plots.groups(bare, ax=fresh()))
    assert "One test" not in text
    assert "\nLines: 95% intervals." in text
    assert "\nundefined" in text


def test_groups_thin():
    frame = group_frame(100)
    ax = plots.groups(frame, ax=fresh(7.2, 9))
    assert rows_named(ax) == frame["group"][frame["n_units"] > 101 - 30].tolist()
    assert "The 30 groups with the most units, of 100." in said(ax)


# ---- Cells ---------------------------------------------------------------------------------------


def opacity(ax):
    """Return how opaque the cells are, and whether they are of the colour for negative."""
    cells = np.asarray(ax.images[0].get_array())
    return cells[..., 3], np.isclose(cells[..., :3], to_rgb(ORANGE)).all(axis=-1)


def written(ax, rows, columns):
    texts = [text.get_text() for text in ax.texts[-rows * columns :]]
    return np.array(texts, dtype=object).reshape(rows, columns)


CONFUSED = pd.DataFrame(
    {
        "label": ["joy", "calm", "joy", "joy"],
        "other": ["calm", "awe", None, "awe"],
        "kind": ["instead", "instead", "left out", "instead"],
        "n_pairs": [12.0, 6.0, 30.0, 0.0],
        "expected_pairs": [5.0, 6 / 1.9, 15.0, np.nan],
        "lift": [2.4, 1.9, 2.0, np.nan],
        "p_value": [0.01, np.nan, 0.05, 0.2],
    }
)


def test_confusions():
    """Cells hold the pairs, on both sides of the diagonal; those with a small p are framed.

    By hand: joy has 12 + 30 + 0 pairs, calm 12 + 6, awe 6 + 0.
    """
    ax = plots.confusions(CONFUSED, ax=fresh())
    assert rows_named(ax) == ["joy", "calm", "awe"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["left out", "joy", "calm", "awe"]
    cells = written(ax, 3, 4)
    assert cells.tolist() == [["30", "", "12", "0"], ["", "12", "", "6"], ["", "0", "6", ""]]
    shade, _ = opacity(ax)
    # Shaded up to 12 pairs, the largest confusion of two labels; nothing where there is none.
    np.testing.assert_allclose(shade[0], [0.8, 0, 0.8, 0])
    np.testing.assert_allclose(shade[1], [0, 0.8, 0, 0.43])
    assert "\nDarkest: 30 pairs left out, 12 in other columns.\n" in said(ax)
    frames = sorted((round(p.get_y() + 0.44), round(p.get_x() + 0.44)) for p in ax.patches)
    assert frames == [(0, 0), (0, 2), (1, 1)]
    assert "Framed: more pairs than expected by chance (p at most 0.05)." in said(ax)


def test_confusions_without_p():
    ax = plots.confusions(CONFUSED.assign(p_value=np.nan), ax=fresh())
    assert not ax.patches
    assert "Framed" not in said(ax)


def test_confusions_both_ways_round():
    turned = CONFUSED.copy()
    both = turned["other"].notna()
    turned.loc[both, ["label", "other"]] = CONFUSED.loc[both, ["other", "label"]].to_numpy()
    ax, other = plots.confusions(CONFUSED, ax=fresh()), plots.confusions(turned, ax=fresh())
    assert written(ax, 3, 4).tolist() == written(other, 3, 4).tolist()


def test_confusions_thin():
    frame = confusion_frame(40)
    ax = plots.confusions(frame, ax=fresh(7.2, 8))
    sides = [frame.groupby(side)["n_pairs"].sum() for side in ("label", "other")]
    total = sides[0].add(sides[1], fill_value=0).sort_values(ascending=False, kind="stable")
    assert rows_named(ax) == total.index[:20].tolist()
    assert "The 20 labels with the most pairs, of 40." in said(ax)
    first, second = total.index[:2]
    named = frame[["label", "other"]].isin([first, second]).all(axis=1)
    assert written(ax, 20, 21)[0, 2] == f"{frame['n_pairs'][named].item():.0f}"


def test_confusions_only_left_out():
    ax = plots.confusions(CONFUSED.iloc[2:3], ax=fresh())
    np.testing.assert_allclose(opacity(ax)[0], [[0.8, 0]])
    assert "Darkest" not in said(ax)


def test_pairs():
    """Both halves of the matrix hold the estimate; the diagonal is empty; undefined is a dot."""
    frame = pair_frame(3)
    frame.loc[0, "estimate"] = np.nan
    frame.loc[2, "estimate"] = -0.4
    ax = plots.pairs(frame, ax=fresh())
    raters = rows_named(ax)
    cells = pd.DataFrame(written(ax, 3, 3), index=raters, columns=raters)
    for row in frame.itertuples():
        known = "·" if np.isnan(row.estimate) else f"{row.estimate:.2f}".replace("-", MINUS)
        assert cells.loc[row.rater_a, row.rater_b] == known
        assert cells.loc[row.rater_b, row.rater_a] == known
    assert "".join(np.diag(cells)) == ""
    shade, negative = opacity(ax)
    assert negative.sum() == 2
    assert (shade > 0).sum() == 4


def test_pairs_without_a_unit():
    frame = pair_frame(3)
    frame.loc[0, ["n_shared_units", "estimate"]] = [0, np.nan]
    ax = plots.pairs(frame.iloc[:2], ax=fresh())
    assert sorted(written(ax, 3, 3).ravel()) == ["", "", "", "", "", "", "", "0.80", "0.80"]


def test_pairs_are_clustered():
    ax = plots.pairs(pair_frame(8), ax=fresh(7.2, 6))
    clusters = [int(name.split()[1]) % 2 for name in rows_named(ax)]
    assert np.count_nonzero(np.diff(clusters)) == 1


def test_clustered_order():
    assert clustered_order(np.full((2, 2), 0.5)).tolist() == [0, 1]
    assert clustered_order(np.full((4, 4), np.nan)).tolist() == [0, 1, 2, 3]
    rng = np.random.default_rng(1)
    matrix = np.where(rng.random((9, 9)) < 0.5, np.nan, rng.random((9, 9)))
    assert sorted(clustered_order(matrix)) == list(range(9))


def test_pairs_thin():
    frame = pair_frame(70)
    frame.loc[frame.index[-1], "estimate"] = np.nan
    frame.loc[frame.index[-2], "estimate"] = -0.2
    ax = plots.pairs(frame, ax=fresh(7.2, 9))
    assert sorted(rows_named(ax)) == sorted(f"rater {i}" for i in range(30, 70))
    assert "The 40 raters with the most shared units, of 70." in said(ax)
    assert len(dots(ax, "_")) == 2
    assert len(dots(ax, ".")) == 2
    (key,) = ax.child_axes
    assert [name.get_text() for name in key.get_yticklabels()] == ["1", f"0 ({MINUS}: less)"]


def test_weights():
    study = sa.simulate(12, 3, n_labels=3, rng=1)
    credit = sa.weights(study, "masi")
    ax = plots.weights(credit, ax=fresh())
    known = credit.to_frame()
    assert rows_named(ax) == known.index.tolist()
    shade, _ = opacity(ax)
    np.testing.assert_allclose((shade - 0.06) / 0.74, known)
    n = len(known)
    assert written(ax, n, n).tolist() == [[f"{x:.2f}" for x in row] for row in known.to_numpy()]


def test_weights_thin():
    study = answers([f"l{i:03}" for i in range(100)])
    credit = sa.weights(study, "nominal")
    ax = plots.weights(credit, ax=fresh(7.2, 9))
    assert rows_named(ax) == ["{}", *(f"l{round(100 * k / 29) - 1:03}" for k in range(1, 30))]
    assert "The 30 answers spread evenly in reading order, of 101." in said(ax)


# ---- Units, and time -----------------------------------------------------------------------------


def test_units_by_name():
    frame = unit_frame(4).iloc[::-1]
    ax = plots.units(frame, ax=fresh())
    assert rows_named(ax) == ["unit 0", "unit 1", "unit 2", "unit 3"]
    assert [bar.get_width() for bar in ax.patches] == [1, 0.75, 0.5, 0.25]
    assert {"1.000", "0.750", "0.500", "0.250"} <= set(said(ax).split("\n"))


def test_units_as_a_curve():
    """Many units are a falling curve of shares, with the rank up to which they hold half.

    By brute force: the first rank at which the running sum of 100, 99, ..., 1 reaches half of
    5,050.
    """
    ax = plots.units(unit_frame(100), ax=fresh())
    (curve,) = [line for line in ax.lines if len(line.get_xdata()) > 2]
    assert curve.get_ydata() == pytest.approx([i / 5050 for i in range(100, 0, -1)], rel=1e-14)
    assert curve.get_xdata().tolist() == list(range(1, 101))
    half = next(k for k in range(101) if sum(range(101 - k, 101)) >= 2525)
    assert upright(ax) == [half]
    assert f"51% of the disagreement lies in the first {half} ({half}%)" in said(ax)
    assert "Largest shares: unit 0, unit 1, unit 2. 0 of 100 agree fully." in said(ax)
    assert "largest share first" in said(ax)


def test_units_tie_and_agree():
    frame = unit_frame(100)
    frame["disagreement"] = np.repeat([1.0, 0.5, 0.0], [40, 20, 40])
    frame["share_of_disagreement"] = frame["disagreement"] / 50
    ax = plots.units(frame, ax=fresh())
    assert "40 have the same largest share. 40 of 100 agree fully." in said(ax)
    assert upright(ax) == [25]
    late = frame.assign(share_of_disagreement=np.repeat([0.0, 1 / 40], [60, 40]))
    ax = plots.units(late, ax=fresh())
    assert upright(ax) == [40]
    assert "The disagreement lies in equal parts in the first 40 (40%)" in said(ax)


@pytest.mark.parametrize("n", [10, 100])
def test_units_that_are_a_part(n):
    frame = unit_frame(n)
    frame["share_of_disagreement"] /= 4
    ax = plots.units(frame, ax=fresh())
    assert f"These {n} have 25% of the disagreement." in said(ax)
    assert upright(ax) == []


def test_large_curves_are_thinned():
    ax = plots.units(unit_frame(100_000), ax=fresh())
    (curve,) = [line for line in ax.lines if len(line.get_xdata()) > 2]
    assert len(curve.get_xdata()) <= 300
    assert curve.get_xdata()[[0, -1]].tolist() == [1, 100_000]


TIMES = pd.Series(pd.date_range("2024-03-01", periods=6, freq="D"))
DAY = pd.Timedelta("1D")


@pytest.mark.parametrize(
    ("start", "end", "middle", "named"),
    [
        (pd.Series(range(6)), pd.Series(range(2, 8)), np.arange(1.0, 7), "middle of the window"),
        (TIMES, TIMES + DAY, TIMES + DAY / 2, "middle of the window"),
        (
            TIMES.dt.tz_localize("Asia/Tokyo"),
            TIMES.dt.tz_localize("Asia/Tokyo") + DAY,
            TIMES + DAY / 2,
            "middle of the window",
        ),
        (pd.Series(list("abcdef")), pd.Series(list("bcdefg")), np.arange(6.0), "windows, in order"),
    ],
)
def test_over_time(start, end, middle, named):
    frame = time_frame(start, end)
    ax = drawn(plots.over_time(frame, ax=fresh()))
    line = ax.lines[0]
    np.testing.assert_array_equal(line.get_xdata(orig=True), np.asarray(middle))
    np.testing.assert_array_equal(line.get_ydata(), frame["estimate"])
    assert np.isnan(line.get_ydata()[2])
    assert ax.get_xlabel() == named
    assert "units, at most 6" in said(ax)


def test_over_time_breaks():
    start = pd.Series([0, 10, 15, 100])
    ax = plots.over_time(time_frame(start, start + 10), ax=fresh())
    x, y = ax.lines[0].get_data()
    assert np.isnan(y).tolist() == [False, False, False, True, False]
    assert x.tolist() == [5, 15, 20, 105, 105]


def test_over_time_thins():
    ax = plots.over_time(windows(1000), ax=fresh())
    assert len(ax.lines[0].get_xdata()) == 300
    assert "300 windows spread evenly, of 1,000." in said(ax)
    assert ax.lines[0].get_marker() == "None"
    assert plots.over_time(windows(100), ax=fresh()).lines[0].get_marker() == "."


# ---- SVG for a page ------------------------------------------------------------------------------


def svg(name="labels", n=15, description="Agreement by label", **size):
    result = PICTURES[name](n, True)
    return inline_svg(
        lambda ax: getattr(plots, name)(result, ax=ax), description=description, **size
    )


def parsed(element):
    return ET.fromstring(element)  # noqa: S314  # made two lines above, not received


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PICTURES))
def test_svg_stands_alone(name):
    element = svg(name)
    root = parsed(element)
    assert root.tag == "svg"
    assert root.get("role") == "img"
    assert root.get("viewBox")
    tags = re.sub(r">[^<]*<", "><", element)
    for foreign in ("http", "<style", "<script", "xmlns", "xlink", "#010203", "DejaVu", "<!"):
        assert foreign not in tags
    assert "currentColor" in tags
    assert plt.get_fignums() == []


def test_svg_text_stays_text():
    root = parsed(svg(height=6.0))
    texts = {"".join(node.itertext()).strip() for node in root.iter("text")}
    assert {"<script>alert(1)</script>", "$x$ costs $5", "שלום עולם", "]]>", "-->"} <= texts
    assert 'style="fill: #010203" id="x" …' in texts
    assert not any(node.tag == "script" for node in root.iter())


@pytest.mark.slow
def test_svg_ids_are_its_own():
    one, other = svg("pairs"), svg("pairs", n=14)
    ids = [re.findall(r'<[^<>]* id="([^"]*)"', element) for element in (one, other)]
    for element, own in zip((one, other), ids, strict=True):
        assert len(own) == len(set(own))
        tags = "".join(re.findall(r"<[^<>]*>", element))
        assert set(re.findall(r'(?:url\(|href=")#([^)"]+)', tags)) == set(own)
    assert ids[0]
    assert set(ids[0]).isdisjoint(ids[1])


def test_svg_is_the_same_twice():
    with plt.style.context("dark_background"):
        dark = svg()
    assert dark == svg()


def test_svg_description():
    element = svg(description='of "joy" & <b> \x00$5')
    assert parsed(element).get("aria-label") == 'of "joy" & <b> $5'


def test_svg_lets_warnings_through():
    svg("labels")

    def draw(ax):
        warnings.warn("something else", UserWarning, stacklevel=1)

    with pytest.warns(UserWarning, match="something else"):
        inline_svg(draw, description="")


def test_texts_around_the_axes_fit():
    """Long names take room from the axes, or from the page above them; the label is centred."""
    figure = Figure(figsize=(6, 2))
    ax = figure.add_subplot(xlabel="x", ylabel="y")
    ax.set_xticks(range(2), ["a long name of a label", "another"], rotation=90)
    ax.set_yticks(range(2), ["a rater with a long name", "b"])
    box = [*map(float, parsed(svg_element(figure, "")).get("viewBox").split())]
    outer = ax.get_tightbbox(for_layout_only=True)
    assert [outer.x0, outer.x1] == pytest.approx([3, box[2] - 3], abs=4)
    assert [outer.y0, outer.y1] == pytest.approx([3, box[3] - 3], abs=4)
    assert ax.get_window_extent().height == pytest.approx(2 * 72 - 80)
    assert ax.xaxis.label.get_position()[0] == pytest.approx(0.5)


def test_heights():
    assert rows_height(1) == rows_height(2) < rows_height(10) < rows_height(30) == rows_height(99)
    assert cells_height(1) == cells_height(2) < cells_height(10) < cells_height(40)
    assert cells_height(99, limit=20) == cells_height(20)


def test_narrow_axes_have_no_columns_of_text():

    frame = TABLE.to_frame()
    ax = plots.forest(frame, ax=Figure(figsize=(3.75, 3)).add_subplot())
    assert "estimate (interval)" not in said(ax)
    assert "estimate (interval)" in said(plots.forest(frame, ax=fresh()))


@pytest.mark.parametrize("width", [3.6, 4.4, 4.8])
def test_titles_fit(width):
    ax = drawn(plots.confusions(CONFUSED, ax=fresh(width)))
    title = ax._left_title
    assert title.get_window_extent().x1 <= ax.figure.bbox.x1
    assert title.get_text().replace("\n", " ").endswith("another rater did not")


def test_names_that_are_not_ours_stay():
    frame = TABLE.to_frame().assign(coefficient="mine $", distance="own")
    ax = plots.forest(frame, ax=fresh())
    assert rows_named(ax)[0].replace("\\", "") == "mine $ [own]"


# ---- Prevalence ----------------------------------------------------------------------------------


def test_prevalence_has_people_the_model_and_both():
    found = checked(3)
    ax = plots.prevalence(found, ax=fresh())
    assert rows_named(ax) == ["label 0", "label 1", "label 2"]
    assert dots(ax)[:, 0].tolist() == found.frame["prevalence"].tolist()
    assert dots(ax, "D")[:, 0].tolist() == found.frame["model"].tolist()
    assert dots(ax, "|")[:, 0].tolist() == found.frame["humans"].tolist()
    assert "people and m together (30 of 90 units checked)" in said(ax)


@pytest.mark.parametrize("name", ["raters", "labels", "groups", "forest"])
def test_rough_intervals_are_dashed(name):
    """Only the rows with a remark have a dashed interval, and a line below the title says so."""
    frame = PICTURES[name](3, False).assign(remark=[None, "The interval is rough: ...", None])
    ax = getattr(plots, name)(frame, ax=fresh())
    whole, dashed = ax.collections[:2]
    assert [line[0, 1] for line in dashed.get_segments()] == [1]
    assert [line[0, 1] for line in whole.get_segments()] == [0, 2]
    assert dashed.get_linestyle()[0][1] is not None
    assert "Dashed: rough intervals." in said(ax)
    assert "Dashed" not in said(getattr(plots, name)(frame.assign(remark=None), ax=fresh()))
