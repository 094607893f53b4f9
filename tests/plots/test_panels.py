"""The pictures of panels: the model beside each human, and the raters on a map."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from picture_frames import HOSTILE, chart, contest

import setagree as sa
from setagree.errors import OptionError

pytest.importorskip("matplotlib")

from axes_support import drawn, fresh
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from setagree import plots
from setagree.plots.base import inline_svg
from setagree.plots.shapes import _LETTER, _free_spot, free_spots
from setagree.wording.number_format import MINUS

STUDY = sa.simulate(200, 6, skill=[0.8, 0.7, 0.7, 0.6, 0.6, 0.9], rng=1)


@pytest.fixture(scope="module")
def tested():
    """Return the test of the best rater as a model."""
    return sa.alt_test(STUDY, model="r6")["r6"]


@pytest.fixture(scope="module")
def mapped():
    found = sa.rater_map(STUDY, n_resamples=19, rng=1)
    return replace(found, table=found.table.assign(cluster=[1, 1, 1, 2, 1, 2]))


def texts(ax):
    """Return what is written on the axes, beside ticks and title."""
    return [text.get_text() for text in ax.texts]


def flat(ax):
    """Return the lines below the title as one line."""
    return " ".join(ax.texts[0].get_text().split())


class TestAdvantage:
    def test_marks(self, tested):
        """Dots stand for the model, diamonds for the humans, short lines epsilon to their left."""
        ax = plots.advantage(tested, ax=fresh())
        humans = tested.humans
        forms = {line.get_marker(): line.get_xydata() for line in ax.lines}
        np.testing.assert_array_equal(forms["o"][:, 0], humans["advantage"])
        np.testing.assert_array_equal(forms["D"][:, 0], humans["human_advantage"])
        ends = [segment[:, 0].tolist() for segment in ax.collections[0].get_segments()]
        assert ends == humans[["low", "high"]].to_numpy().tolist()
        limits = np.array(ax.collections[-1].get_segments())
        np.testing.assert_allclose(limits[:, 0, 0], humans["human_advantage"] - 0.1, rtol=1e-15)
        assert (np.ptp(limits[:, :, 1], axis=1) > 0.5).all()  # of the height of a row, 1

    def test_words(self, tested):
        """The verdict and what a mark is stand above, the numbers beside."""
        ax = plots.advantage(tested, ax=fresh(9.8))
        assert ax.get_title(loc="left") == "r6 compared with each human"
        assert tested.verdict[:80] in flat(ax)
        assert f"Diamonds: the human. Short lines: the human {MINUS} 0.1." in flat(ax)
        said = texts(ax)
        first = tested.humans.iloc[0]
        assert f"{first['advantage']:.3f} ({first['low']:.3f} to {first['high']:.3f})" in said
        won = int(tested.humans["rejected"].sum())
        assert (said.count("yes"), said.count("no")) == (won, 5 - won)

    def test_no_epsilon(self):
        """Lines far to the left are inside the axes; without epsilon none are named."""
        test = contest(3)
        ax = plots.advantage(replace(test, epsilon=0.9), ax=fresh())
        assert ax.get_xlim()[0] < (test.humans["human_advantage"] - 0.9).min()
        assert "Short lines" not in flat(plots.advantage(replace(test, epsilon=0.0), ax=fresh()))

    def test_thins(self):
        """Of many humans those with the most units are drawn, and the picture says so."""
        test = contest(90)
        ax = plots.advantage(test, ax=fresh(7.2, 9))
        largest = test.humans["n_units"].nlargest(30).index
        assert {name.get_text() for name in ax.get_yticklabels()} == set(largest)
        assert "The 30 humans who share the most units, of 90." in flat(ax)

    def test_undefined(self):
        """Where no human could be tested, the reason stands there."""
        with pytest.warns(sa.UndefinedAgreementWarning):
            test = sa.alt_test(STUDY, model="r6", min_units=1000)["r6"]
        ax = drawn(plots.advantage(test, ax=fresh()))
        assert "undefined: no human shares enough" in texts(ax)[-1]

    def test_one_model_at_a_time(self):
        table = sa.alt_test(STUDY, model=["r5", "r6"])
        with pytest.raises(OptionError, match=r"Of a table, take one model: table\['gpt'\]"):
            plots.advantage(table)


class TestRaterMap:
    def test_points(self, mapped):
        """Every rater is a point at its coordinates; clusters differ in form and in colour."""
        ax = plots.rater_map(mapped, ax=fresh())
        assert len(ax.lines) == mapped.table["cluster"].max() > 1
        for cluster, line in enumerate(ax.lines, start=1):
            mine = mapped.table[mapped.table["cluster"] == cluster]
            np.testing.assert_array_equal(line.get_xydata(), mine[["x", "y"]])
        looks = {(line.get_marker(), to_rgb(line.get_color())) for line in ax.lines[:2]}
        assert len({form for form, _ in looks}) == len({colour for _, colour in looks}) == 2

    @pytest.mark.parametrize("p", [0.051, 0.01])
    def test_no_clusters_have_no_key(self, mapped, p):
        """Without evidence, or with single raters apart, all points have one form."""
        of_one = mapped.table.assign(cluster=[1, 1, 1, 2, 1, 1])
        found = mapped if p > 0.05 else replace(mapped, table=of_one)
        ax = plots.rater_map(found, p_value=p, ax=fresh())
        assert "No clusters" in flat(ax)
        assert len(ax.lines) == 1
        assert ax.get_legend() is None

    def test_forms_differ_without_colour(self):
        found = chart(40)
        few = replace(found, table=found.table.assign(cluster=1 + np.arange(40) % 8))
        ax = plots.rater_map(few, ax=fresh())
        assert len({line.get_marker() for line in ax.lines}) == 8

    def test_words(self, mapped):
        """The verdict stands below the title; names stand beside points, the key says how many."""
        ax = drawn(plots.rater_map(mapped, ax=fresh()))
        assert mapped.verdict in flat(ax)
        assert f"explain {100 * mapped.explained:.0f}% of the variance" in flat(ax)
        assert sorted(texts(ax)[1:]) == [f"r{k}" for k in range(1, 7)]
        key = [text.get_text() for text in ax.get_legend().get_texts()]
        sizes = mapped.table["cluster"].value_counts()
        assert key == [
            f"cluster {k}: {n} rater{'s' if n > 1 else ''}" for k, n in sizes.sort_index().items()
        ]

    def test_both_axes_have_one_scale(self, mapped):
        ax = drawn(plots.rater_map(mapped, ax=fresh(9.8, 4.0)))
        (x0, y0), (x1, y1) = ax.transData.transform([(0, 0), (0.1, 0.1)])
        assert x1 - x0 == pytest.approx(y1 - y0, rel=1e-6)
        left, right = ax.get_xlim()
        assert left < mapped.table["x"].min() < mapped.table["x"].max() < right

    @pytest.mark.parametrize("n", [5, 40, 300])
    def test_names_lie_apart(self, n):
        ax = drawn(plots.rater_map(chart(n), ax=fresh(7.2, 5.4)))
        boxes = [text.get_window_extent() for text in ax.texts[1:]]
        assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
        inside = ax.get_window_extent().padded(3)
        assert all(inside.x0 <= box.x0 and box.x1 <= inside.x1 for box in boxes)
        if len(boxes) < n:
            assert f"Named: the {len(boxes)} farthest from the others that fit, of {n}." in flat(ax)

    def test_spots_of_names_are_symmetric(self):
        """To the right and left of a point, then above and below it, at one distance."""
        taken, areas, edges = np.empty((0, 4)), [], np.array([-99.0, -99, 99, 99])
        for _ in range(4):
            _, area = _free_spot(np.zeros(2), 20.0, taken, edges)
            areas.append(area)
            middle = (area[:2] + area[2:]) / 2
            taken = np.vstack([taken, [*middle - 0.1, *middle + 0.1]])
        right, left, above, below = areas
        assert left.tolist() == (right[[2, 1, 0, 3]] * [-1, 1, -1, 1]).tolist()
        assert below.tolist() == (above[[0, 3, 2, 1]] * [1, -1, 1, -1]).tolist()
        assert right[0] == above[1] > 0
        assert {*(area[2] - area[0] for area in areas)} == {20.0}

    def test_names_do_not_touch_other_points(self):
        """The point at the end of the place to the right of a name is as wide as a mark."""
        ax = Figure(figsize=(4, 4), dpi=72).add_axes([0, 0, 1, 1], xlim=(0, 288), ylim=(0, 288))
        for beyond, side in ((2.0, "right"), (5.0, "left")):
            points = np.array([[100.0, 100.0], [105.0 + 3 * _LETTER + 2 + beyond, 100.0]])
            spots = free_spots(ax, points, ["abc", ""], np.array([1.0, 0.0]))
            assert spots[0][1] == side

    def test_the_farthest_are_named_first(self):
        found = chart(60)
        found = replace(found, table=found.table.assign(x=np.arange(60) % 6, y=np.arange(60) // 6))
        ax = plots.rater_map(found, ax=fresh(20, 20))
        assert set(texts(ax)[1:]) == set(found.table["mean_distance"].nlargest(40).index)

    def test_what_is_not_on_the_map(self):
        """Raters without shared units are counted, and so are pairs that share none.

        r0 and r1 share no units with r4; r3 rates alone.
        """
        rows = [("r0", u, "ab"[u % 2]) for u in range(6)] + [("r1", u, "a") for u in range(6)]
        rows += [("r2", u, "b") for u in range(4, 10)] + [("r4", u, "a") for u in range(7, 10)]
        rows += [("r3", 99, "a")]
        found = sa.rater_map(sa.Annotations.from_triples(rows), n_resamples=0)
        assert found.n_bridged == 2
        ax = plots.rater_map(found, ax=fresh())
        assert "2 pairs without shared units: placed by their distances to others." in flat(ax)
        assert "Not on the map, without shared units: 1 rater." in flat(ax)
        assert "r3" not in texts(ax)

    def test_one_place(self):
        rows = [(r, u, "ab"[u % 2]) for r in "vwxyz" for u in range(6)]
        found = sa.rater_map(sa.Annotations.from_triples(rows), n_resamples=19, rng=1)
        ax = drawn(plots.rater_map(found, ax=fresh()))
        assert 1 <= len(texts(ax)) - 1 <= 4

    def test_no_noise_in_the_log(self, mapped, caplog):
        drawn(plots.rater_map(mapped, ax=fresh()))
        assert not caplog.records

    @pytest.mark.parametrize("make", [contest, chart])
    def test_hostile_names_stay_text(self, make):
        draw = plots.advantage if make is contest else plots.rater_map
        result = make(len(HOSTILE), hostile=True)
        svg = inline_svg(lambda ax: draw(result, ax=ax), description="x", height=6)
        assert "<script" not in svg
        assert "x" * 100 not in svg


def test_index_of_tuples():
    found = chart(4)
    index = pd.Index([("a", 1), 2, "c", 4.5], dtype=object, tupleize_cols=False)
    ax = plots.rater_map(replace(found, table=found.table.set_axis(index)), ax=fresh())
    assert "('a', 1)" in texts(ax)


def test_models_stand_below_the_pairs_that_they_are_part_of():
    study = sa.simulate(60, 6, rng=1)
    model = {"r1": "gpt", "r2": "gpt", "r3": "mini", "r4": "mini"}
    found = sa.facet_agreement(study.with_raters({"model": model}), facets=["model"])
    names = [name.get_text() for name in plots.facets(found, ax=fresh()).get_yticklabels()]
    own = ["… gpt", "… mini"]
    wanted = ["same model", *own, "other model", "models with people", *own]
    assert names == [*wanted, "people with one another"]
