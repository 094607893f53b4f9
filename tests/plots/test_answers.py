"""The pictures of answers that come in: queues, acceptance sampling, answers that are repeated."""

import warnings

import numpy as np
import pytest
from picture_frames import names, queued, rated_again

import setagree as sa
from setagree.errors import OptionError

pytest.importorskip("matplotlib")


from axes_support import fresh, rows_named

from setagree import plots
from setagree.wording.number_format import DASH

PLAN = sa.acceptance_plan(acceptable_rate=0.02, rejectable_rate=0.10)


def texts(ax):
    """Return what is written on the axes, beside ticks and title; lines are joined."""
    return [" ".join(text.get_text().split()) for text in ax.texts]


class TestQueue:
    def test_few(self):
        """Few units have a bar each, as long as their value; one without a value says why."""
        ax = plots.queue(queued(4), ax=fresh())
        assert [bar.get_width() for bar in ax.patches] == [0, 0.75, 0.5, 0.25]
        assert rows_named(ax) == names(4, "unit")
        said = texts(ax)
        assert "4 ratings of 4 units, the most useful first. Before them is 1 rating" in said[0]
        assert said.count("fewer than two ratings") == 1
        assert {"so far", "more", "raters", "rater 3"} <= set(said)

    def test_nobody_left(self):
        found = queued(3)
        found.frame.loc[1, "raters"] = ""
        assert texts(plots.queue(found, ax=fresh())).count(DASH) == 1

    def test_many(self):
        """Many units are steps over their ratings; a line stands where half is reached."""
        found = queued(401)
        found.frame["expected_gain"] = [np.nan] + [1.0] * 100 + [1 / 3] * 300
        ax = plots.queue(found, ax=fresh())
        steps = ax.patches[-1].get_data()
        np.testing.assert_array_equal(steps.values, found.frame["expected_gain"][1:])
        assert (steps.edges[0], steps.edges[-1]) == (1, 401)
        (line,) = ax.lines
        assert line.get_xdata()[0] == 101
        assert texts(ax)[-1] == "half of the total gain: rating 101"

    def test_for_agreement(self):
        study = sa.Annotations.from_triples(
            [("ann", 1, "a"), ("ben", 1, "a"), ("ann", 2, "b"), ("ben", 2, "b"), ("ann", 3, "b")]
        )
        found = sa.next_ratings(study, budget=2, goal="agreement", pool=["eva"], rng=1)
        ax = plots.queue(found, ax=fresh())
        so_far = [(bar.get_x(), bar.get_width()) for bar in ax.patches]
        assert so_far == [(0, 1), (0, 2), (1, 1), (2, 1)]
        assert texts(ax)[0] == "2 ratings of 2 units, units with the fewest ratings first."

    def test_nothing_to_ask(self):
        study = sa.Annotations.from_triples([("ann", 1, set()), ("ben", 1, set())])
        found = sa.next_ratings(study, budget=5)
        assert not len(found.frame)
        assert texts(plots.queue(found, ax=fresh()))[-1] == "No unit needs another rating."


class TestAcceptance:
    def test_curve(self):
        """The curve is the plan's, and the good and the bad rate are marked on it."""
        ax = plots.acceptance(PLAN, ax=fresh())
        curve, good, bad = (line.get_xydata() for line in ax.lines)
        np.testing.assert_allclose(curve[:, 1], [PLAN.accepts(x) for x in curve[:, 0]])
        assert (good[0].tolist(), bad[0].tolist()) == (
            [0.02, PLAN.accepts(0.02)],
            [0.10, PLAN.accepts(0.10)],
        )
        # P(X <= 3), X binomial of 65 and 0.02 or 0.10.
        assert [text.get_text() for text in ax.get_legend().get_texts()] == [
            "acceptable, 0.02: accepted with probability 0.959",
            "rejectable, 0.1: accepted with probability 0.100",
        ]

    @pytest.mark.parametrize("n_errors", [0, 4, 65])
    def test_found(self, n_errors):
        """Where answers were checked, a line stands at the rate that was found, in sight."""
        test = sa.acceptance_test(PLAN, n_errors=n_errors, n_checked=65)
        ax = plots.acceptance(test, ax=fresh())
        assert ax.get_title(loc="left") == ("Accepted" if n_errors == 0 else "Refused")
        assert texts(ax)[0] == test.verdict
        assert ax.lines[-1].get_xdata()[0] == n_errors / 65
        left, right = ax.get_xlim()
        assert left <= n_errors / 65 <= right

    @pytest.mark.parametrize(("good", "bad"), [(0.1, 0.105), (0.5, 0.9), (0.001, 0.5)])
    def test_rates_in_sight(self, good, bad):
        """However near or far the two rates are, both are on the picture, none above 1."""
        ax = plots.acceptance(
            sa.acceptance_plan(acceptable_rate=good, rejectable_rate=bad), ax=fresh()
        )
        left, right = ax.get_xlim()
        assert 0 <= left <= good < bad <= right <= 1

    def test_takes_a_plan(self):
        with pytest.raises(OptionError, match=r"draws the result of sa.acceptance_plan, not 3"):
            plots.acceptance(3)


class TestRepeats:
    def test_rows(self):
        """All together stand first, then the raters, the least steady one first."""
        found = rated_again(4)
        ax = plots.repeats(found, ax=fresh(9.8))
        frame = found.to_frame()
        assert rows_named(ax) == ["all raters", *frame["rater"]]
        (dots,) = [line.get_xdata() for line in ax.lines if line.get_marker() == "o"]
        np.testing.assert_array_equal(dots, [found.pooled.estimate, *frame["estimate"]])
        (between,) = [line for line in ax.lines if line.get_linestyle() == "--"]
        assert between.get_xdata()[0] == found.between.estimate
        assert found.verdict[:60] in texts(ax)[0]

    def test_undefined(self):
        """A rater who always gave one answer has the reason instead of a dot."""
        ax = plots.repeats(rated_again(5), ax=fresh())
        assert texts(ax).count("undefined: only one value was used") == 1

    def test_many(self):
        """Of raters with as many repeats those of the study's order stay, not the least steady."""
        found = rated_again(40)
        ax = plots.repeats(found, ax=fresh(7.2, 10))
        assert {*rows_named(ax)} == {"all raters", *(f"rater {k}" for k in range(30))}
        assert "The 30 raters with the most answers repeated, of 40." in texts(ax)[0]

    def test_one_rater(self):
        rows = [("ann", k, label) for k, label in enumerate("aabb") for _ in range(2)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sa.SetagreeWarning)
            study = sa.Annotations.from_triples(rows, duplicates="repeats")
            found = sa.intra_rater_agreement(study)
        ax = plots.repeats(found, ax=fresh())
        assert "No comparison: there is only one rater." in texts(ax)[0]
        assert not [line for line in ax.lines if line.get_linestyle() == "--"]

    def test_few_raters_have_room_below_the_verdict(self):
        ax = plots.repeats(rated_again(2))
        ax.figure.draw_without_rendering()
        below = ax.transData.transform([(0, 0), (0, 1)])[:, 1]
        points = abs(below[1] - below[0]) * 72 / ax.figure.dpi
        assert points > 1.2 * ax.get_yticklabels()[0].get_fontsize()
