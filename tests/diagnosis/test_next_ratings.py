"""What to rate next: worked values, order, budget, whom to ask."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from diagnosis_support import walkthrough
from scipy import stats

import setagree as sa
from setagree.diagnosis.next_ratings import _expected_gains, _gain, _risk
from setagree.errors import DataError, OptionError, SimilarLabelsWarning


def test_the_worked_expected_gains_of_votes():
    """The risk and the gain of m = 1, 2, 3 ratings are the worked figures, to their digits."""
    y, r = np.array([1, 1, 0, 0]), np.array([2, 3, 2, 1])
    worked = {
        1: [0.22882793, 0, 0, 0],
        2: [0.11441396, 0.03178166, 0, 0.01906899],
        3: [0.09746375, 0.02118777, 0.00211878, 0.01271266],
    }
    for m, figures in worked.items():
        assert _gain(y, r, m) == pytest.approx(figures, abs=5e-9)
    risk = _risk(np.array([0, 0, 1, 0, 1]), np.array([1, 2, 2, 3, 3]))
    assert risk == pytest.approx([0.11862012, 0.04234414, 0.5, 0.01691882, 0.27117207], abs=5e-9)


def test_the_gain_is_the_expected_fall_of_the_risk():
    for r in range(7):
        for y in range(r + 1):
            for m in (1, 2, 3):
                law = stats.betabinom(m, 0.25 + y, 0.25 + r - y)
                after = sum(law.pmf(k) * _risk(y + k, r + m) for k in range(m + 1))
                found = _gain(np.array([y]), np.array([r]), m)[0]
                assert found == pytest.approx((_risk(y, r) - after) / m, abs=1e-12)


def test_the_worked_expected_gains_of_the_walkthrough():
    values = _expected_gains(walkthrough(), 11)[0]
    worked = [0.06356331, 0, 0, 0.01271266, 0.03178166, 0, 0.09534497, 0.06356331, 0.06356331]
    assert values == pytest.approx([*worked, 0.09534497, 0.06356331], abs=5e-9)


def test_the_budget_is_spent_from_the_top():
    queue = sa.next_ratings(walkthrough(), budget=5)
    assert queue.n_asked == 5
    assert queue.frame["unit"].tolist() == ["u7", "u10", "u11"]
    assert queue.frame["more"].tolist() == [2, 2, 1]
    assert queue.frame["queued"].all()
    assert "must be computed without them" in queue.caution


def test_units_with_fewer_than_two_ratings_come_first():
    study = sa.Annotations.from_triples(
        [("ann", 1, "a"), ("ben", 1, "b"), ("ann", 2, "a"), ("ann", 3, "b"), ("ben", 3, "b")]
    )
    frame = sa.next_ratings(study, budget=9, units=[1, 2, 3, 4]).frame
    assert frame["unit"].tolist()[:3] == [4, 2, 1]
    assert frame["more"].tolist()[:2] == [2, 1]
    assert frame["reason"].tolist()[0] == "fewer than two ratings"
    assert frame["expected_gain"].isna().tolist()[:3] == [True, True, False]


def test_what_is_asked_for_whatever_the_answers_say_is_not_marked():
    rows = [("ann", 1, "a"), ("ben", 1, "b"), ("ann", 2, "a")]
    both = sa.next_ratings(sa.Annotations.from_triples(rows), budget=9)
    assert both.frame[["unit", "queued"]].to_numpy().tolist() == [[2, False], [1, True]]
    assert "uses answers where its column queued is True. Keep the column" in both.caution
    few = sa.next_ratings(sa.Annotations.from_triples(rows), budget=1)
    assert few.frame["queued"].tolist() == [False]
    assert "does not use answers" in few.caution


def test_the_loop_keeps_the_coefficient_of_the_design():
    study = sa.simulate(60, 3, missing=0.4, rng=1)
    frame = sa.next_ratings(study, budget=60).frame
    assert 0 < frame["queued"].sum() < len(frame)
    asked = frame.loc[frame["raters"] != "", ["unit", "raters", "queued"]]
    new = asked.assign(rater=asked["raters"].str.split(", ")).explode("rater").assign(labels="a")
    both = pd.concat([study.to_long(), new.drop(columns="raters")])
    with pytest.warns(sa.SetagreeWarning, match="came from a queue"):
        found = sa.Annotations.from_long(both, queued="queued")
    design = pd.concat([study.to_long(), new[~new["queued"]]])[["unit", "rater", "labels"]]
    expected = sa.krippendorff_alpha(sa.Annotations.from_long(design))
    assert sa.krippendorff_alpha(found).estimate == expected.estimate
    assert found.with_queued.n_ratings == study.n_ratings + len(new)


def test_agreed_units_are_left_alone():
    rows = [(rater, 1, "a") for rater in "abcdefgh"] + [(rater, 2, "b") for rater in "abcdefgh"]
    queue = sa.next_ratings(sa.Annotations.from_triples(rows), budget=9)
    assert queue.frame.empty
    assert "three more ratings of a unit cannot change the majority" in " ".join(f"{queue}".split())


def test_for_agreement_no_answer_is_looked_at():
    study = sa.simulate(30, 4, missing=0.5, rng=3)
    other = study.with_answers(lambda _: frozenset({"x"}))
    frames = [
        sa.next_ratings(one, budget=20, goal="agreement", rng=5).frame for one in (study, other)
    ]
    pd.testing.assert_frame_equal(*frames)
    r = frames[0]["n_ratings"].tolist()
    assert r[: r.count(1)] == [1] * r.count(1)
    assert not frames[0]["queued"].any()


def test_those_are_asked_who_answered_least():
    study = sa.Annotations.from_triples(
        [("ann", 1, "a"), ("ben", 1, "b"), ("ann", 2, "a"), ("ben", 2, "b"), ("eva", 2, "b")]
    )
    frame = sa.next_ratings(study, budget=2, pool=["ann", "eva", "new"]).frame
    assert frame.set_index("unit").loc[1, "raters"] == "new"
    assert frame.set_index("unit").loc[2, "raters"] == "new"
    assert sa.next_ratings(study, budget=2, pool=["new"]).no_rater_reason == ""
    with pytest.raises(OptionError, match="is empty; omit it"):
        sa.next_ratings(study, budget=2, pool=[])
    for options, what in (({"pool": ["a", None]}, "raters"), ({"units": [float("nan")]}, "units")):
        with pytest.raises(OptionError, match=f"lists {what} without a name"):
            sa.next_ratings(study, budget=2, **options)
    with pytest.warns(SimilarLabelsWarning, match="Raters that look alike are kept apart"):
        sa.next_ratings(study, budget=2, pool=[str(study.raters[0]).upper()])


def test_where_nobody_is_left_to_ask():
    rows = [("ann", 1, "a"), ("ben", 1, "b"), ("ann", 2, "a")]
    study = sa.Annotations.from_triples(rows)
    queue = sa.next_ratings(study, budget=3)
    assert queue.frame["raters"].tolist() == ["ben", ""]
    assert queue.no_rater_reason == (
        "1 unit has no rater here: all available raters have already rated it; name others (pool=)."
    )
    assert sa.next_ratings(study, budget=3, pool=["eva"]).no_rater_reason == ""


def test_a_pool_is_asked_for_what_it_can_give():
    study = sa.simulate(60, 3, skill=0.5, missing=0.3, rng=2)
    gave = {(rater, unit) for rater, unit, _ in study.to_triples()}
    for goal in ("consensus", "agreement"):
        free = sa.next_ratings(study, budget=30, goal=goal, rng=1).frame
        queue = sa.next_ratings(study, budget=30, goal=goal, pool=["r1", "r2", "r1"], rng=1)
        assert queue.n_asked == 30
        asked = [who.split(", ") for who in queue.frame["raters"]]
        assert [*map(len, asked)] == queue.frame["more"].tolist()
        rows = zip(queue.frame["unit"], asked, strict=True)
        pairs = {(who, unit) for unit, several in rows for who in several}
        assert len(pairs) == 30
        assert not pairs & gave
        full = [u for u in free["unit"] if {("r1", u), ("r2", u)} <= gave]
        assert queue.n_left_out == len(full) > 0
        assert queue.no_rater_reason.startswith(
            f"{len(full)} units are left out: all available raters"
        )
    both = [("ann", 1, "a"), ("ben", 1, "b")]
    nothing = sa.next_ratings(sa.Annotations.from_triples(both), budget=2, pool=["ann", "ben"])
    assert nothing.frame.empty
    assert nothing.no_rater_reason.startswith("1 unit is left out: all available raters have")


def test_what_is_refused():
    """Numbers have no labels to vote on; a budget is a whole number of 1 or more."""
    with pytest.raises(OptionError, match="budget=0 must be a whole number"):
        sa.next_ratings(walkthrough(), budget=0)
    scores = sa.Annotations.from_long(
        pd.DataFrame({"unit": [1, 1], "rater": ["a", "b"], "score": [1.0, 2.0]}), value="score"
    )
    with pytest.raises(DataError, match="numbers have no labels"):
        sa.next_ratings(scores, budget=3)


def test_the_queue_makes_the_majority_right_more_often():
    rng = np.random.default_rng(9)
    n_units, labels = 600, "abcde"
    hard = rng.random(n_units) < 0.4
    truth = rng.random((n_units, 5)) < 0.3
    flip = np.where(hard, 0.3, 0.05)[:, None, None]
    votes = truth[:, None] ^ (rng.random((n_units, 12, 5)) < flip)

    def study(counts):
        return sa.Annotations.from_triples(
            [
                (f"r{g}", i, ",".join(np.array([*labels])[votes[i, g]]))
                for i in range(n_units)
                for g in range(counts[i])
            ],
            blank="empty",
        )

    def right(counts):
        majority = [votes[i, : counts[i]].mean(axis=0) > 0.5 for i in range(n_units)]
        return (np.array(majority) == truth).all(axis=1).mean()

    counts = np.full(n_units, 2)
    while counts.sum() < 5 * n_units:
        frame = sa.next_ratings(study(counts), budget=200).frame
        for unit, more in zip(frame["unit"], frame["more"], strict=True):
            counts[unit] = min(counts[unit] + more, 12)
    assert right(counts) > right(np.full(n_units, 5)) + 0.02


def test_a_rater_who_has_not_answered_yet_is_asked_first():
    study = sa.simulate(4, 3, rng=1)
    part = replace(study.take(study.rater_codes < 2), raters=study.raters)
    queue = sa.next_ratings(part, budget=2, goal="agreement", rng=1)
    assert queue.frame["raters"].tolist() == ["r3", "r3"]


def test_printed_numbers_are_rounded():
    rows = [(f"r{k}", unit, "ab"[k * unit % 2]) for unit in (1, 2, 3) for k in range(2 + unit)]
    queue = sa.next_ratings(sa.Annotations.from_triples(rows), budget=4, pool=["x", "y", "z"])
    value = queue.frame["expected_gain"].max()
    for text in (queue.to_markdown(), queue._repr_html_()):
        assert f"{value:.4f}" in text
        assert f"{value:.6f}" not in text
    weights = sa.weights(
        sa.Annotations.from_triples([("x", 1, 0.123456), ("y", 1, 0.5)], kind="number"), "interval"
    )
    assert "0.123456<" in weights._repr_html_()


class TestPrevalence:
    """Units to check for the prevalence of labels, drawn by the answers of a model."""

    MODEL = pd.DataFrame({"unit": range(200), "labels": ["a"] * 120 + ["b"] * 78 + ["c", "d"]})

    @staticmethod
    def people(answers):
        rows = [{"unit": unit, "rater": "ann", "labels": x} for unit, x in answers.items()]
        return sa.Annotations.from_long(pd.DataFrame(rows))

    def drawn(self, pilot, budget=20, **options):
        return sa.next_ratings(
            self.people(pilot), goal="prevalence", model=self.MODEL, budget=budget, rng=1, **options
        )

    def test_weights_are_the_inverse_of_the_probability(self):
        """Answers c and d of one unit each are one stratum, of which one unit is drawn."""
        model = sa.Annotations.from_long(self.MODEL.assign(rater="gpt"))
        queue = sa.next_ratings(model, goal="prevalence", model="gpt", budget=20, rng=1)
        answer = queue.frame["unit"].map(self.MODEL.set_index("unit")["labels"])
        n = answer.replace({"d": "c"}).value_counts().to_dict()
        assert n == {"a": 12, "b": 7, "c": 1}
        expected = answer.map({"a": 120 / 12, "b": 78 / 7, "c": 2, "d": 2})
        assert queue.frame["sampling_weight"].tolist() == expected.tolist()

    def test_more_of_what_people_contradict(self):
        """People contradict all ten b and no a, by a Hamming distance of 2, so that the mean is 1.

        Shrunk by four ratings d_a = (0 + 4) / 14 and d_b = (20 + 4) / 14; the rest has the mean.
        """
        pilot = dict.fromkeys(range(10), "a") | dict.fromkeys(range(120, 130), "a")
        frame = self.drawn(pilot, budget=40).frame
        new = frame.loc[frame["more"] > 0, "unit"]
        answer = new.map(self.MODEL.set_index("unit")["labels"])
        n = answer.replace({"d": "c"}).value_counts()
        root = np.sqrt([4 / 14, 24 / 14, 1])
        total = 60 * np.array([120, 78, 2]) * root / (np.array([120, 78, 2]) @ root)
        assert n["a"] == pytest.approx(total[0] - 10, abs=1)
        assert n["b"] == pytest.approx(total[1] - 10, abs=1)
        assert set(new).isdisjoint(pilot)
        weights = frame.set_index("unit")["sampling_weight"]
        assert len(weights) == 60
        assert weights.sum() == pytest.approx(200)
        assert weights[0] == pytest.approx(120 / (10 + n["a"]))

    def test_the_weights_are_read_by_themselves(self):
        queue = self.drawn({0: "a", 120: "b"}, budget=30)
        weights = queue.frame.set_index("unit")["sampling_weight"]
        again = self.people({unit: self.MODEL["labels"][unit] for unit in weights.index})
        drawn = again.sampled(sampling_weight=weights)
        found = sa.prevalence(drawn, model=self.MODEL, labels=["a", "b"])
        frame = found.frame.set_index("label")
        assert frame.loc["a", "prevalence"] == pytest.approx(0.6)
        assert queue.caution.startswith("Give all ratings of people the column sampling_weight")
        assert queue.asks == "30 ratings of 30 units"
        assert not queue.frame["queued"].any()

    def test_a_budget_beyond_all_units(self):
        queue = self.drawn({0: "a"}, budget=1000)
        assert queue.n_asked == 199
        assert queue.frame["reason"].tolist() == ["drawn at random"] * 199 + ["checked already"]
        assert {*queue.frame["sampling_weight"]} == {1.0}
        queue = self.drawn(dict.fromkeys(range(200), "a"))
        assert queue.notes == [
            "People have checked all units that the model answered, so that none is drawn."
        ]

    def test_the_model_is_needed(self):
        with pytest.raises(
            OptionError, match=r"name one model with model=: a rater of the study \('ann'\)"
        ):
            sa.next_ratings(self.people({0: "a"}), budget=3, goal="prevalence")
        with pytest.raises(OptionError, match="goal='prevalence' draws units itself; omit units="):
            self.drawn({0: "a"}, units=[1, 2])
