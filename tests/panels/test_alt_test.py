"""The alternative annotator test: published figures, a slow reference, what it refuses."""

import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from golden_support import golden
from hypothesis import given, settings
from hypothesis import strategies as st
from inference_support import one_line
from scipy import stats
from small_studies import annotations, numbers, random_rows, sets_of, text

import setagree as sa
from setagree.errors import DataError, OptionError, UndefinedAgreementWarning
from setagree.panels.alt_test import AltTest, AltTestTable, Contest, alt_test
from setagree.wording.sentences import in_message

DATA = os.environ.get("SETAGREE_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="SETAGREE_DATA names the folder of the data sets")

# By the authors' program (q = 0.05, two humans a unit, 30 units a human) on HS-Brexit (LeWiDi
# 2023), one rater taken as the model.
PUBLISHED = [
    (
        case["candidate"],
        case["distance"],
        case["epsilon"],
        case["winning_rate"],
        case["average_advantage_probability"],
    )
    for case in golden("alt_test.json")["cases"]
]


def one_test(study, **options):
    (test,) = alt_test(study, **options)
    return test


def jaccard(A, B):
    return Fraction(len(A & B), len(A | B)) if A | B else Fraction(1)


def masi(A, B):
    """Return the exact similarity, 1 - d."""
    if A == B:
        return Fraction(1)
    M = Fraction(2, 3) if A < B or B < A else Fraction(1, 3) if A & B else Fraction(0)
    return M * jaccard(A, B)


SIMILARITIES = {
    "nominal": lambda A, B: Fraction(A == B),
    "jaccard": jaccard,
    "masi": masi,
    "interval": lambda x, y: -((Fraction(x) - Fraction(y)) ** 2),
    "linear": lambda x, y: -abs(Fraction(x) - Fraction(y)),
}


def wins(rows, model, distance, exact=True):
    """Return, for each human (a column), the list of (model wins, human wins), one pair a unit."""
    similarity = SIMILARITIES[distance]
    kind = (lambda x: x) if exact else float
    humans = [g for g in range(len(rows[0])) if g != model]
    out = {h: [] for h in humans}
    for row in rows:
        there = [h for h in humans if row[h] is not None]
        if row[model] is None or len(there) < 2:
            continue
        for h in there:
            others = [row[o] for o in there if o != h]
            s_model = sum(kind(similarity(row[model], o)) for o in others) / len(others)
            s_human = sum(kind(similarity(row[h], o)) for o in others) / len(others)
            out[h].append((s_model >= s_human, s_human >= s_model))
    return out


def study_rows(seed, units=60, raters=4, missing=0.2):
    """Draw rows of subsets of {a, b, c}; the last rater is the model."""
    rng = np.random.default_rng(seed)
    return random_rows(rng, sets_of("abc"), units=units, raters=raters, missing=missing)


class TestPublished:
    @needs_data
    @pytest.mark.parametrize(("model", "distance", "epsilon", "rate", "advantage"), PUBLISHED)
    def test_hs_brexit(self, model, distance, epsilon, rate, advantage):
        result = one_test(brexit(), model=model, distance=distance, epsilon=epsilon)
        assert result.winning_rate == rate
        assert result.average_advantage_probability == pytest.approx(advantage, abs=1e-15)


def brexit():
    frame = pd.read_csv(Path(DATA) / "hs_brexit.csv", dtype=str, keep_default_na=False)
    return sa.Annotations.from_long(frame, blank="empty")


class TestReference:
    @pytest.mark.parametrize("distance", ["nominal", "jaccard", "masi"])
    def test_equals_the_loop(self, distance):
        rows = study_rows(1)
        result = one_test(
            annotations(rows), model="r3", distance=distance, epsilon=0.05, min_units=2
        )
        p = []
        for h, won in wins(rows, 3, distance, exact=False).items():
            row = result.humans.loc[f"r{h}"]
            model, human = (np.array(x, dtype=float) for x in zip(*won, strict=True))
            t = stats.ttest_1samp(human - model, 0.05, alternative="less")
            p.append(t.pvalue)
            interval = stats.binomtest(int(model.sum()), len(won)).proportion_ci(method="wilson")
            assert row["n_units"] == len(won)
            assert row["advantage"] == pytest.approx(model.mean(), abs=1e-15)
            assert row["human_advantage"] == pytest.approx(human.mean(), abs=1e-15)
            assert row["standard_error"] == pytest.approx(stats.sem(human - model), abs=1e-14)
            assert row["p_value"] == pytest.approx(t.pvalue, abs=1e-12)
            assert (row["low"], row["high"]) == pytest.approx(tuple(interval), abs=1e-12)
        adjusted = stats.false_discovery_control(p, method="by")
        assert result.humans["p_adjusted"].tolist() == pytest.approx(adjusted.tolist())
        assert result.winning_rate == np.mean(adjusted <= 0.05)

    @settings(max_examples=25)
    @given(seed=st.integers(0, 10_000), order=st.permutations(range(5)))
    def test_ties_do_not_depend_on_the_order(self, seed, order):
        rows = study_rows(seed, units=12, raters=5, missing=0.1)
        study = annotations(rows)
        frame = study.to_long().iloc[::-1]
        by_rater = frame["rater"].map({f"r{g}": k for k, g in enumerate(order)})
        other = sa.Annotations.from_long(frame.iloc[by_rater.argsort(kind="stable")])
        options = {"model": "r4", "distance": "nominal", "min_units": 2}
        one, two = one_test(study, **options), one_test(other, **options)
        pd.testing.assert_frame_equal(one.humans, two.humans.loc[one.humans.index])

    def test_numbers_and_unbounded_distances(self):
        study = annotations(numbers(" / ".join(["1 3 2 2"] * 40 + ["1 3 2 9"] * 40)))
        result = one_test(study, model="r3", distance="interval")
        # Against r2 (2): equal in 40 units, farther in 40.
        assert result.humans.loc["r2", "advantage"] == 0.5
        assert result.humans.loc["r2", "human_advantage"] == 1


class TestNumbers:
    @pytest.mark.parametrize("distance", ["interval", "linear"])
    def test_numbers_of_all_sizes(self, distance):
        """Units whose numbers differ by powers of ten are judged each by its own distances.

        Whatever the numbers of other units. A model 5 away from humans who are 1 apart loses to
        all; a rater like the humans is not certain to be as near in nine of ten.
        """
        rng = np.random.default_rng(0)
        rows = []
        for _ in range(100):
            base = int(10 ** rng.uniform(1, 7))
            near = [base + int(x) for x in rng.integers(-1, 2, size=3)]
            rows.append([*near, base + 5, base + int(rng.integers(-1, 2))])
        for model in ("r3", "r4"):
            humans = ["r0", "r1", "r2"]
            result = one_test(annotations(rows), model=model, humans=humans, distance=distance)
            beside = [[*row[:3], row[int(model[1])]] for row in rows]
            for h, won in wins(beside, 3, distance).items():
                found = result.humans.loc[f"r{h}", ["advantage", "human_advantage"]]
                assert found.tolist() == pytest.approx(np.mean(won, axis=0), abs=1e-15)
            assert result.winning_rate == 0

    def test_rounding_makes_no_winner(self):
        """Tenths that are as far apart tie, though their doubles do not.

        The model is 0.1 above what the human is 0.1 below: |0.4 - 0.3| and |0.2 - 0.3|
        differ as doubles.
        """
        rows = [[0.2, 0.3, 0.3, 0.4]] * 30
        result = one_test(annotations(rows), model="r3", distance="linear")
        assert abs(0.4 - 0.3) != abs(0.2 - 0.3)
        assert result.humans.loc["r0", ["advantage", "human_advantage"]].tolist() == [1, 1]

    def test_small_differences_are_differences(self):
        rows = [[0.5, 0.5, 0.5, 0.500001]] * 30 + [[0.0, 1.0, 0.5, 0.5]]
        result = one_test(annotations(rows), model="r3", distance="interval", min_units=2)
        assert result.humans["advantage"].max() <= 1 / 31
        assert not result.passes

    def test_strangers_have_no_say(self):
        rng = np.random.default_rng(1)
        rows = random_rows(rng, [1, 2, 3, 4, 5], units=60, raters=4)
        more = [[*row, *([1, 1, 2] if k % 2 else [2, 2, 2])] for k, row in enumerate(rows)]
        humans = ["r0", "r1", "r2"]
        for distance in ("ordinal", "bipolar"):
            one = one_test(annotations(rows), model="r3", humans=humans, distance=distance)
            two = one_test(annotations(more), model="r3", humans=humans, distance=distance)
            pd.testing.assert_frame_equal(one.humans, two.humans)

    def test_a_crowded_unit(self):
        """A unit with thousands of humans costs its own pairs, not a look at all units each time.

        Each answer is looked at once for each other answer of its unit.
        """
        triples = [(g, "crowd", g % 2) for g in range(300)]
        triples += [(g, u, 1) for u in range(2000) for g in (0, 1, 2)]
        triples += [("m", u, 1) for u in [*range(2000), "crowd"]]
        study = sa.Annotations.from_triples(triples, kind="value")
        seen = []

        class Counting(Contest):
            def _nearness(self, k, l):
                seen.append(len(k))
                return super()._nearness(k, l)

        people = np.array([name != "m" for name in study.raters])
        contest = Counting(study, sa.weights(study, "nominal"), people, 2, bounded=False)
        contest.wins(study.raters.tolist().index("m"))
        # Once for the humans' own answers, once for the model's.
        assert sum(seen) == 2 * (300 * 299 + 2000 * 3 * 2)
        assert sum(n > 300 for n in seen) <= 2 * 3


class TestDecision:
    def test_a_copy_of_the_others_wins(self):
        result = one_test(annotations(text(" / ".join(["a a a a", "b b b b"] * 20))), model="r3")
        assert result.humans["difference"].tolist() == [0, 0, 0]
        assert result.humans["p_value"].tolist() == [0, 0, 0]
        assert result.passes
        assert result.verdict.startswith("'r3' may replace a human: it wins over 3 of 3 humans")
        at_zero = one_test(
            annotations(text(" / ".join(["a a a a", "b b b b"] * 20))), model="r3", epsilon=0.0
        )
        assert at_zero.humans["p_value"].tolist() == [1, 1, 1]
        assert "may not replace" in at_zero.verdict

    def test_a_stranger_loses(self):
        result = one_test(annotations(text(" / ".join(["a a a b", "b b b c"] * 20))), model="r3")
        assert (result.winning_rate, result.average_advantage_probability) == (0, 0)
        assert not result.passes

    def test_by_epsilon(self):
        """A row at epsilon is what the test at that epsilon gives; the rate never falls."""
        study = annotations(study_rows(3, units=80, missing=0))
        result = one_test(study, model="r3", epsilon=0.2)
        table = result.by_epsilon()
        assert (table["winning_rate"].diff().dropna() >= 0).all()
        for epsilon in (0, 0.1, 0.2):
            again = one_test(study, model="r3", epsilon=epsilon)
            assert table.loc[epsilon, "winning_rate"] == again.winning_rate
            assert table.loc[epsilon, "passes"] == again.passes

    def test_who_is_skipped(self):
        rows = text(" / ".join(["a a a a"] * 30 + ["b b . b"] * 5 + ["a . . a", "a a a ."]))
        result = one_test(annotations(rows), model="r3", min_units=35)
        assert result.humans["n_units"].to_dict() == {"r0": 35, "r1": 35}
        assert result.skipped.to_dict() == {"r2": 30}
        assert result.n_units == 35
        assert "Fewer than three humans could be tested" in result.verdict

    def test_nobody_is_left(self):
        with pytest.warns(UndefinedAgreementWarning, match="alt-test of 'r3': undefined"):
            result = one_test(annotations(text("a a a a / b b b b")), model="r3")
        assert np.isnan(result.winning_rate)
        assert np.isnan(result.average_advantage_probability)
        assert result.verdict.startswith("No verdict on ")
        assert result.verdict.endswith(": no human shares enough units with the model.")
        assert not result.passes
        assert result.by_epsilon()["winning_rate"].isna().all()
        assert one_line(result)

    def test_min_humans(self):
        rows = text(" / ".join(["a a a a"] * 30 + ["a a . a"] * 10))
        result = one_test(annotations(rows), model="r3", min_humans=3)
        assert result.humans["n_units"].tolist() == [30, 30, 30]


def agreement(rows, h, distance):
    """Return 1 - d_o / d_e of column h with the other columns, by loops; exact."""
    similarity = SIMILARITIES[distance]
    there = [[x for x in row if x is not None] for row in rows]
    rows = [row for row, given_answers in zip(rows, there, strict=True) if len(given_answers) > 1]
    others = [[x for g, x in enumerate(row) if g != h and x is not None] for row in rows]
    own = [(row[h], unit) for row, unit in zip(rows, others, strict=True) if row[h] is not None]

    def mean(x, answers):
        return sum(similarity(x, x) - similarity(x, y) for y in answers) / Fraction(len(answers))

    pool = [x for unit in others for x in unit]
    observed = sum(mean(x, unit) for x, unit in own)
    return 1 - observed / sum(mean(x, pool) for x, _ in own)


class TestHumans:
    @pytest.mark.parametrize("distance", ["nominal", "jaccard", "masi", "interval", "linear"])
    def test_agreement_with_the_others(self, distance):
        rng = np.random.default_rng(7)
        values = [1, 2, 5, 9] if distance in {"interval", "linear"} else sets_of("abc")
        rows = random_rows(rng, values, units=40, raters=4, missing=0.2)
        result = one_test(annotations(rows), model="r3", distance=distance, min_units=2)
        people = [row[:3] for row in rows]
        for h in range(3):
            expected = float(agreement(people, h, distance))
            assert result.humans.loc[f"r{h}", "agreement"] == pytest.approx(expected, abs=1e-12)
        pairable = [row for row in people if sum(x is not None for x in row) > 1]
        alpha = sa.krippendorff_alpha(annotations(pairable), distance=distance).estimate
        assert result.reference_alpha == pytest.approx(alpha, abs=1e-12)

    def test_a_guesser_among_the_humans(self):
        rng = np.random.default_rng(8)
        rows = [[x, x, x, "ab"[rng.integers(2)], x] for x in "ab" * 200]
        triples = [(f"r{g}", i, x) for i, row in enumerate(rows) for g, x in enumerate(row)]
        result = one_test(sa.Annotations.from_triples(triples), model="r4")
        lottery = result.humans.loc["r3", "agreement"]
        assert abs(lottery) < 0.1
        note = in_message(result.reservations)
        assert note.startswith(" Agrees with the other humans hardly more than chance: 'r3' (")
        assert f"({lottery:.2f}); a win there is weak evidence." in note
        assert result.verdict.endswith(note)

    def test_humans_who_agree_poorly(self):
        rng = np.random.default_rng(9)
        rows = random_rows(rng, sets_of("ab"), units=200, raters=8)
        result = one_test(annotations(rows), model="r7")
        assert abs(result.reference_alpha) < 0.1
        note = in_message(result.reservations)
        assert note.startswith(" The humans agree poorly with each other (alpha ")
        assert note.endswith(" and 2 more; a win there is weak evidence.")
        assert "(alpha 0.00)" in in_message(replace(result, reference_alpha=-0.001).reservations)

    def test_nothing_to_agree_on(self):
        rows = text(" / ".join(["a a a a"] * 30))
        result = one_test(annotations(rows), model="r3")
        assert np.isnan(result.reference_alpha)
        assert result.humans["agreement"].isna().all()
        assert result.reservations == ()

    def test_no_unit_with_two_humans(self):
        rows = text("a . . a / . a . a / . . a a")
        with pytest.warns(UndefinedAgreementWarning, match="undefined"):
            result = one_test(annotations(rows), model="r3")
        assert np.isnan(result.reference_alpha)


class TestSeveral:
    def test_one_is_a_table_of_one(self):
        study = annotations(text(" / ".join(["a a a b", "b b b c"] * 20)))
        one, listed = alt_test(study, model="r3"), alt_test(study, model=["r3"])
        assert type(one) is type(listed) is AltTestTable
        shown = " ".join(str(one).split())
        assert one["r3"].verdict in shown
        assert one["r3"].power_note in shown
        pd.testing.assert_frame_equal(one.to_frame(), listed.to_frame())

    def test_ranked(self):
        """The model with the larger advantage comes first; none of the models is a human."""
        rows = text(" / ".join(["a a a b a", "b b b c b"] * 20))
        table = alt_test(annotations(rows), model=["r3", "r4"])
        assert isinstance(table, AltTestTable)
        assert [row.model for row in table] == ["r4", "r3"]
        assert len(table) == 2
        assert table["r3"].humans.index.tolist() == ["r0", "r1", "r2"]
        frame = table.to_frame()
        assert frame["average_advantage_probability"].tolist() == [1, 0]
        assert frame["passes"].tolist() == [True, False]
        assert one_line(table)
        with pytest.raises(KeyError, match="no model 'r9'"):
            _ = table["r9"]

    def test_one_of_several_is_undefined(self):
        rows = text(" / ".join(["a a a . a", "b b b . b"] * 20 + ["a a a a a"]))
        with pytest.warns(UndefinedAgreementWarning, match="'r3'"):
            table = alt_test(annotations(rows), model=["r3", "r4"])
        assert [row.model for row in table] == ["r4", "r3"]

    def test_humans_by_name(self):
        study = annotations(study_rows(5, units=50, raters=6, missing=0))
        result = one_test(study, model="r5", humans=["r0", "r2", "r4"])
        assert isinstance(result, AltTest)
        assert result.to_frame().index.tolist() == ["r0", "r2", "r4"]

    def test_names_of_any_type(self):
        triples = [(g, i, "a") for i in range(40) for g in (1, "1", ("x", 2), "m")]
        with pytest.warns(sa.SetagreeWarning, match="Raters that look alike are kept apart"):
            study = sa.Annotations.from_triples(triples)
        assert one_test(study, model=("x", 2)).humans.index.tolist() == [1, "1", "m"]
        assert one_test(study, model=np.int64(1)).humans.index.tolist() == ["1", ("x", 2), "m"]
        assert one_test(study, model=1).humans.index.tolist() == ["1", ("x", 2), "m"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "error", "words"),
        [
            ({"model": "R3"}, DataError, "model 'R3' gave no answer in this study. Did you mean"),
            ({"model": "zzz"}, DataError, "The raters are 'r0'"),
            ({"model": []}, OptionError, "no model is named"),
            ({"model": ["r3", "r3"]}, OptionError, "model= lists 'r3' more than once"),
            ({"model": "r3", "humans": "r1"}, OptionError, "humans='r1' must be a list of raters"),
            ({"model": "r3", "humans": ["r1", "r3", "r0"]}, OptionError, "'r3' cannot be a model"),
            ({"model": "r3", "humans": ["r0", "r1"]}, DataError, "three humans or more; here 2"),
            ({"model": "r3", "epsilon": 1}, OptionError, "epsilon=1 must be 0 or more and below"),
            ({"model": "r3", "q": True}, OptionError, "q=True"),
            ({"model": "r3", "min_units": 1}, OptionError, "min_units=1 must be a whole number"),
            ({"model": "r3", "min_humans": 2.5}, OptionError, "min_humans=2.5"),
            ({"model": "r3", "distance": "masy"}, OptionError, "Did you mean 'masi'"),
        ],
    )
    def test_options(self, options, error, words):
        with pytest.raises(error, match=words):
            alt_test(annotations(text("a a a a / b b b b")), **options)

    def test_numbers_of_numpy(self):
        study = annotations(study_rows(3, units=40, missing=0))
        one = one_test(study, model="r3", epsilon=np.float32(0.25), q=np.float64(0.05))
        assert one.epsilon == 0.25
        assert "epsilon 0.25" in one.verdict

    def test_tally(self):
        """Who gave what must be known."""
        tally = sa.Tally.from_annotations(annotations(text("a a a a / b b b b")))
        with pytest.raises(DataError, match="alt_test requires the rater"):
            alt_test(tally, model="r3")
