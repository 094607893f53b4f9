"""Scores against the answers of a panel, and the best that any answer could reach."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference_support import T1
from scipy import stats
from small_studies import annotations, numbers, row_lists, sets_of, text

import setagree as sa
from setagree.errors import CostError, DataError, OptionError, UndefinedAgreementWarning
from setagree.panels import references
from setagree.panels.references import score_against_panel

SUBSETS = sets_of("abc")
BOUNDED = [
    *("nominal", "masi", "jaccard", "dice", "overlap", "ochiai", "kulczynski", "augmented"),
    *("any_overlap", "masi_nltk", "masi_dkpro", "passonneau_2004", "ruzicka"),
]
ONE_OVER = sa.OverlapDistance(
    lambda a, b, i: np.where((a == b) & (b == i), 0.0, 1 / np.maximum(a + b, 1)), name="one over"
)
"""The larger two different sets are, the nearer."""


def loops(rows, rater, distance):
    """Return credit and ceiling of each shared unit; any subset of {a, b, c} may be the answer."""
    d = sa.distances.get_distance(distance)
    out = []
    for row in rows:
        others = [x for g, x in enumerate(row) if g != rater and x is not None]
        if row[rater] is None or not others:
            continue
        credit = [np.mean([1 - d(x, y) for y in others]) for x in (row[rater], *SUBSETS)]
        out.append((credit[0], max(credit)))
    return np.array(out).reshape(-1, 2)


def joined(named, answer):
    """Return the text of an answer in each unit, whose letters are places in `named`."""
    text = np.full(len(named[0]), "")
    for letter in answer:
        text = np.char.add(np.char.add(text, ","), named["abcdefg".index(letter)])
    return np.char.lstrip(text, ",")


class TestScores:
    @pytest.mark.filterwarnings("ignore::setagree.SetagreeWarning")
    @given(
        rows=row_lists(SUBSETS, units=5, raters=4),
        distance=st.sampled_from(BOUNDED),
    )
    def test_any_study(self, rows, distance):
        rows = [[*row, frozenset("a")] for row in rows]
        table = score_against_panel(annotations(rows), distance=distance).table
        for name, row in table.iterrows():
            want = loops(rows, int(name[1:]), distance)
            assert row["n_units"] == len(want)
            if len(want):
                got = [row["score"], row["ceiling"]]
                np.testing.assert_allclose(got, want.mean(axis=0), atol=1e-12)

    def test_an_answer_that_nobody_gave(self):
        """Against ab, bc and ac by Jaccard the best answer is abc, 2/3; each of them has 5/9."""
        study = annotations(text("ab bc ac ab / ab bc ac ab"))
        row = score_against_panel(
            study, raters=["r3"], panel=["r0", "r1", "r2"], distance="jaccard"
        )
        assert row.table[["score", "ceiling"]].to_numpy().tolist() == [
            [pytest.approx(5 / 9), pytest.approx(2 / 3)]
        ]

    def test_the_best_answer_has_labels_of_other_units(self):
        study = annotations(text("a b a / cdefghijk cdefghijk ."))
        # Of r2's unit, a and b have (0 + 1 / 2) / 2, ab has 1 / 3, the nine others have 1 / 10.
        row = score_against_panel(study, raters=["r2"], panel=["r0", "r1"], distance=ONE_OVER).table
        assert row["ceiling"].tolist() == [pytest.approx(0.9)]

    @pytest.mark.parametrize("distance", ["masi", "nominal"])
    def test_many_units_of_many_labels(self, distance):
        answers = ["abc", "abd", "aef", "bg", ""]
        labels = np.argsort(np.random.default_rng(1).random((15_000, 100)), axis=1)[:, :7].T
        named = [np.char.add("l", row.astype(str)) for row in labels]
        frame = pd.DataFrame(
            {
                "unit": np.tile(np.arange(15_000), len(answers)),
                "rater": np.repeat([*"vwxyz"], 15_000),
                "labels": np.concatenate([joined(named, answer) for answer in answers]),
            }
        )
        study = sa.Annotations.from_long(
            frame, unit="unit", rater="rater", labels="labels", blank="empty"
        )
        assert study.n_values > 30_000
        columns = ["score", "ceiling", "share"]
        found = score_against_panel(study, distance=distance).table[columns].to_numpy()
        row = [frozenset(answer) for answer in answers]
        some = [frozenset(c) for n in range(8) for c in itertools.combinations("abcdefg", n)]
        d = sa.distances.get_distance(distance)
        for g, (score, ceiling, share) in enumerate(found):
            others = row[:g] + row[g + 1 :]
            own, *others_get = (np.mean([1 - d(x, y) for y in others]) for x in (row[g], *some))
            assert score == pytest.approx(own)
            assert ceiling == pytest.approx(max(others_get))
            assert share == pytest.approx(own / max(others_get))

    def test_a_distance_of_any_kind(self):
        table = score_against_panel(
            annotations(numbers("1 3 1 / 2 2 2 / 9 1 1")), distance="linear"
        )
        # r2 gives 1, 2, 1 against 1 3, 2 2, 9 1; no number does better.
        assert table.table.loc["r2", "score"] == pytest.approx(1 - (2 / 2 + 0 + 8 / 2) / 3 / 8)
        assert table.table.loc["r2", "share"] == 1
        own = score_against_panel(annotations(T1), distance=lambda a, b: float(len(a ^ b) > 0))
        same = score_against_panel(annotations(T1), distance="nominal")
        np.testing.assert_allclose(own.table["ceiling"], same.table["ceiling"])

    def test_blocks(self, monkeypatch):
        study = sa.simulate(60, 4, missing=0.2, rng=1)
        whole = score_against_panel(study).table
        monkeypatch.setattr(references, "BLOCK_ENTRIES", 1)
        np.testing.assert_allclose(score_against_panel(study).table, whole)


class TestIntervals:
    def test_the_t_interval(self):
        study = sa.simulate(40, 3, rng=1)
        row = score_against_panel(study, raters=["r1"], level=0.9).table.iloc[0]
        rows = [list(cells) for cells in study.to_wide()[["r1", "r2", "r3"]].to_numpy()]
        d = sa.distances.get_distance("masi")
        score = np.array([np.mean([1 - d(x[0], y) for y in x[1:]]) for x in rows])
        low, high = stats.t.interval(0.9, 39, score.mean(), stats.sem(score))
        assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))
        labels = sorted({label for cells in rows for x in cells for label in x})
        every = [
            frozenset(c) for n in range(len(labels) + 1) for c in itertools.combinations(labels, n)
        ]
        most = np.array(
            [max(np.mean([1 - d(x, y) for y in cells[1:]]) for x in every) for cells in rows]
        )
        error = stats.sem(score - row["share"] * most) / most.mean()
        half = stats.t.ppf(0.95, 39) * error
        assert row["share_high"] - row["share"] == pytest.approx(half)
        assert row["share"] == pytest.approx(score.mean() / most.mean())

    def test_units_that_are_all_alike(self):
        found = score_against_panel(annotations(text("a a / b b / c c")))
        ends = found.table[["low", "high", "share_low", "share_high"]]
        assert found.table["score"].tolist() == [1, 1]
        assert ends.isna().all(axis=None)
        assert (
            found.reasons == ["all shared units are alike, so that the interval is undefined"] * 2
        )

    def test_the_upper_end(self):
        """No score, and no share of the ceiling, is above 1."""
        found = score_against_panel(annotations(text("a a / b b / c cd"))).table
        assert (found["high"] == 1).all()
        assert (found["share_high"] == 1).all()
        assert (found["low"] < found["score"]).all()

    def test_the_lower_end(self):
        """A credit is at least 0; the plain end is 1/2 - 12.7 / 2."""
        found = score_against_panel(annotations(text("a a / b c"))).table
        assert found["score"].tolist() == [0.5, 0.5]
        assert (found[["low", "share_low"]] == 0).all(axis=None)


class TestWords:
    def test_refusals(self, monkeypatch):
        """A panel of oneself, a level that is none, a tally, too much."""
        study = annotations(T1)
        with pytest.raises(DataError, match="who is compared with the answers of others"):
            score_against_panel(study, raters=["r1"], panel=["r1"])
        with pytest.raises(OptionError, match="level=2 must lie"):
            score_against_panel(study, level=2)
        with pytest.raises(DataError, match="score_against_panel requires the rater"):
            score_against_panel(sa.Tally.from_annotations(study))
        monkeypatch.setattr("setagree.checks.MOST_STEPS", 10)
        with pytest.raises(CostError, match="The credit of 10 answers with"):
            score_against_panel(study, distance=ONE_OVER)

    def test_nothing_shared(self):
        study = annotations(text("a a . / . . b"))
        with pytest.warns(UndefinedAgreementWarning, match="by 'r2': nan"):
            found = score_against_panel(study)
        rows = json.loads(found.to_json())
        assert [row["score"] for row in rows] == [1, 1, None]
        assert [row["reason"] for row in rows] == [
            *["only one unit is shared with the panel"] * 2,
            "no unit is shared with the panel",
        ]
        assert repr(found) == "<PanelScores: Against the answers of the others [masi]; 3 rows>"
