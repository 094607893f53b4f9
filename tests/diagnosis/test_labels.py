"""Which labels cost the agreement: against the published walk-through, and against plain loops."""

import itertools
import math
import tracemalloc
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest
from diagnosis_support import STUDIES, assert_same, quietly, study_of, walkthrough
from hypothesis import given, settings
from plain_score import plain
from scipy import stats

import setagree as sa
from setagree import checks as limits
from setagree.diagnosis import label_differences
from setagree.diagnosis.confusions import exceed_chance
from setagree.errors import CostError, DataError, FewClustersWarning, OptionError


def answers_by_unit(study):
    table = study.to_long()
    return [list(part) for _, part in table.groupby("unit", sort=False)["labels"]]


ONE_UNIT = pytest.mark.filterwarnings("ignore::setagree.errors.SwappedColumnsWarning")


class TestByLabel:
    def test_the_walk_through(self):
        # Exact fractions of STATISTICS, table T1: alpha (Do, De) of the binary study of each label.
        expected = {
            "a": (0.37246964, 0.3125, 0.49798387),
            "b": (0.48333333, 0.25, 0.48387097),
            "c": (0.82285714, 0.0625, 0.35282258),
            "d": (0.54074074, 0.125, 0.27217742),
            "e": (-0.03333333, 0.125, 0.12096774),
            "i": (0.0, 0.0625, 0.0625),
        }
        frame = sa.by_label(walkthrough()).set_index("label")
        assert set(frame.index) == set(expected)
        for label, figures in expected.items():
            row = frame.loc[label, ["estimate", "observed_disagreement", "expected_disagreement"]]
            assert row.tolist() == pytest.approx(figures, abs=5e-9)

    def test_hamming_alpha_is_made_of_the_labels(self):
        frame = sa.by_label(walkthrough())
        pooled = 1 - frame["observed_disagreement"].sum() / frame["expected_disagreement"].sum()
        alpha = sa.krippendorff_alpha(walkthrough(), distance="hamming").estimate
        assert pooled == pytest.approx(alpha, abs=1e-14)
        assert alpha == pytest.approx(0.4763513514, abs=5e-11)  # the walk-through's
        assert frame["share_of_disagreement"].sum() == pytest.approx(1)
        assert frame["share_of_disagreement"].is_monotonic_decreasing

    @given(STUDIES)
    def test_hamming_identity(self, rows):
        study = study_of(rows)
        if not study.labels:
            return
        frame = sa.by_label(study)
        expected = frame["expected_disagreement"].sum()
        if expected > 0:
            with_hamming = quietly(sa.krippendorff_alpha, study, distance="hamming")
            if with_hamming.reason is None:
                pooled = 1 - frame["observed_disagreement"].sum() / expected
                assert pooled == pytest.approx(with_hamming.estimate, abs=1e-12)

    @pytest.mark.slow
    @settings(max_examples=25)
    @given(STUDIES)
    def test_each_label_is_a_study_of_yes_and_no(self, rows):
        study = study_of(rows)
        frame = sa.by_label(study, level=0.9).set_index("label") if study.labels else {}
        for label in study.labels:
            binary = sa.Annotations.from_triples(
                [
                    (f"r{g}", f"u{i}", "yes" if label in cell else "no")
                    for i, row in enumerate(rows)
                    for g, cell in enumerate(row)
                    if cell is not None
                ],
                kind="value",
            )
            alpha = quietly(sa.krippendorff_alpha, binary, distance="nominal")
            ac1 = quietly(sa.gwet_ac, binary, distance="nominal", categories=["yes", "no"])
            row = frame.loc[label]
            assert_same(row["estimate"], alpha.estimate)
            assert_same(row["standard_error"], alpha.standard_error)
            given = [[label in cell for cell in unit if cell is not None] for unit in rows]
            units = [unit for unit in given if len(unit) > 1]
            with_label, n = sum(map(sum, units)), sum(map(len, units))
            few = 10**9 * len(units) * min(with_label, n - with_label) < 4 * n * (10**9 - 1)
            ends = (math.nan, math.nan) if few else alpha.interval(0.9, method="score")
            assert_same(row[["low", "high"]].tolist(), ends)
            assert_same(row["ac1"], ac1.estimate)
            assert_same(row["ac1_standard_error"], ac1.standard_error)
            assert_same(row[["ac1_low", "ac1_high"]].tolist(), ac1.interval(0.9))
            assert (None if pd.isna(row["reason"]) else row["reason"]) == alpha.interval_reason

    @pytest.mark.parametrize(
        ("coefficient", "raters"),
        [("fleiss_kappa", 3), ("conger_kappa", 3), ("cohen_kappa", 2), ("scott_pi", 2)],
    )
    def test_every_coefficient_of_yes_and_no(self, coefficient, raters):
        study = walkthrough()
        study = study.take(np.isin(study.rater_codes, range(raters))).with_used_values()
        frame = sa.by_label(study, coefficient=coefficient).set_index("label")
        assert set(frame["coefficient"]) == {coefficient}
        for label in "ab":
            long = study.to_long()
            long["yes"] = [str(label in cell) for cell in long["labels"]]
            binary = sa.Annotations.from_long(long, unit="unit", rater="rater", value="yes")
            (wanted,) = sa.agreement(binary, coefficient=coefficient, distance="nominal")
            assert_same(frame.loc[label, "estimate"], wanted.estimate)
            assert_same(frame.loc[label, ["low", "high"]].tolist(), wanted.interval())

    @given(STUDIES)
    def test_counts_and_specific_agreement(self, rows):
        study = study_of(rows)
        if not study.labels:
            return
        units = answers_by_unit(study)
        frame = sa.by_label(study).set_index("label")
        for label in study.labels:
            row = frame.loc[label]
            given = [[label in answer for answer in unit] for unit in units]
            assert row["n_ratings"] == sum(map(sum, given))
            assert row["n_units"] == sum(map(any, given))
            assert row["prevalence"] == pytest.approx(row["n_ratings"] / study.n_ratings)
            pairs = [pair for unit in given for pair in itertools.permutations(unit, 2)]
            for wanted, name in ((True, "positive_agreement"), (False, "negative_agreement")):
                others = [other for own, other in pairs if own is wanted]
                same = sum(other is wanted for other in others) / len(others) if others else np.nan
                assert_same(row[name], same)

    def test_the_score_interval_of_the_walk_through(self):
        study = walkthrough()
        frame = sa.by_label(study).set_index("label")
        units = answers_by_unit(study)
        for label in "ab":
            rows = [[label in answer for answer in unit] for unit in units]
            low, high = plain(rows, lambda x, y: float(x != y))
            row = frame.loc[label]
            by_t = row["estimate"] - stats.t.ppf(0.975, 10) * row["standard_error"]
            expected = (min(low, by_t), high)
            assert row[["low", "high"]].tolist() == pytest.approx(expected, abs=1e-12)

    def test_too_few_to_say(self):
        """A label that weighs less than four units has an alpha without an interval, and why.

        Of the 32 ratings of 11 units 2 have e and 1 has i: 11 * 2 / 32 and 11 / 32 units.
        """
        frame = sa.by_label(walkthrough()).set_index("label")
        for label, weight in (("e", "0.7"), ("i", "0.3")):
            row = frame.loc[label]
            assert math.isfinite(row["estimate"])
            assert row[["low", "high"]].isna().all()
            assert row["reason"].startswith("Too few rarer answers for an interval or a p-value")
            assert f"weigh as much as {weight} units, fewer than 4; " in row["reason"]
        # b is in 12 of them: 11 * 12 / 32 = 4.1 units.
        assert frame.loc["b", ["low", "high"]].notna().all()
        assert pd.isna(frame.loc["b", "reason"])

    @pytest.mark.parametrize(("n", "is_known"), [(7, False), (8, True)])
    def test_what_nearly_all_hold_is_too_few_as_well(self, n, is_known):
        both, one = [{"a", "b"}, {"a", "b"}], [{"a", "b"}, {"b"}]
        row = sa.by_label(study_of([*[both] * 15, *[one] * n])).set_index("label").loc["a"]
        assert math.isfinite(row["estimate"])
        assert row[["low", "high"]].notna().all() == is_known
        assert pd.isna(row["reason"]) == is_known

    def test_a_lone_rating_does_not_hold_a_label_up(self):
        """Units with one rating do not count: 3 of the 6 others have a, 3 * 3 / 6 units."""
        rows = [[{"a"}, {"a"}], [{"a"}, {"b"}], [{"b"}, {"b"}], [{"a"}, None], [{"a"}, None]]
        row = sa.by_label(study_of(rows)).set_index("label").loc["a"]
        assert row["n_units"] == 4
        assert "weigh as much as 1.5 units, fewer than 4; " in row["reason"]

    @pytest.mark.slow
    def test_a_rare_label_is_covered(self):
        """Prevalence 0.10, 60 units: of 200 studies score holds alpha in 0.93, t in far fewer.

        Two raters copy the truth with 0.9, else draw anew: alpha of the label is 0.81.
        """
        rng, hits, by_t, known = np.random.default_rng(4), 0, 0, 0
        for _ in range(200):
            truth = rng.random(60) < 0.1
            kept, drawn = rng.random((2, 60)) < 0.9, rng.random((2, 60)) < 0.1
            yes = np.where(kept, truth, drawn)
            rows = [[{"yes"} if cell else {"no"} for cell in unit] for unit in yes.T]
            frame = quietly(sa.by_label, study_of(rows)).set_index("label")
            if "yes" not in frame.index or not math.isfinite(frame.loc["yes", "low"]):
                continue
            row = frame.loc["yes"]
            half = stats.t.ppf(0.975, 59) * row["standard_error"]
            known += 1
            hits += row["low"] <= 0.81 <= row["high"]
            by_t += abs(row["estimate"] - 0.81) <= half
        assert known > 133
        assert hits / known >= 0.93
        assert by_t / known < 0.9

    @staticmethod
    def held_by(n_units, held, ratings=4):
        """Return units of the label "a", and of "b" beside it as often as `held` says."""
        rows = [[{"a"}] * (ratings - k) + [{"a", "b"}] * k for k in held]
        return study_of(rows + [[{"a"}] * ratings] * (n_units - len(held)))

    @pytest.mark.parametrize(
        ("n_units", "held", "ratings", "has_interval"),
        [
            (30, [4, 4, 4, 4], 4, True),  # four units
            (30, [4, 4, 4, 3], 4, False),  # 3.75 units
            (40, [3, 3, 3, 2], 3, False),
            (20, [2] * 8, 4, True),
            (30, [], 4, False),
        ],
    )
    def test_rare_labels_have_no_interval(self, n_units, held, ratings, has_interval):
        study = self.held_by(n_units, held, ratings)
        for one in (study, sa.Tally.from_annotations(study)):
            frame = sa.by_label(one).set_index("label")
            if "b" not in frame.index:
                assert not held
                continue
            row = frame.loc["b"]
            assert np.isfinite(row[["low", "high"]].astype(float)).all() == has_interval
            assert pd.isna(row["reason"]) == has_interval
            assert has_interval or row["reason"].startswith("Too few rarer answers")

    def test_lone_and_fractional_tallies(self):
        study = walkthrough()
        counts = study.to_long().assign(n=1.0)
        counts["labels"] = counts["labels"].map(sa.format_labels)
        table = counts.pivot_table(index="unit", columns="labels", values="n", aggfunc="sum")
        tally = sa.Tally.from_counts(table.fillna(0))
        one, two = (sa.by_label(x).set_index("label").sort_index() for x in (study, tally))
        pd.testing.assert_frame_equal(one, two)

    def test_categories_are_labels_of_their_own(self):
        study = sa.Annotations.from_triples(
            [
                ("x", 1, "p"),
                ("y", 1, "q"),
                ("x", 2, "p"),
                ("y", 2, "p"),
                ("x", 3, "r"),
                ("y", 3, "r"),
            ],
            kind="value",
        )
        frame = sa.by_label(study).set_index("label")
        assert frame.loc["r", "estimate"] == 1
        # p: answers 1 0 / 1 1 / 0 0. Do = 1/3, De = 2 * 3 * 3 / (6 * 5) = 3/5.
        assert frame.loc["p", "estimate"] == pytest.approx(1 - (1 / 3) / (3 / 5))

    def test_categories_without_an_order(self):
        study = sa.Annotations.from_triples(
            [("x", 1, (1, 2)), ("y", 1, (1, "a")), ("x", 2, "p"), ("y", 2, "p")], kind="value"
        )
        assert set(sa.by_label(study)["label"]) == {(1, 2), (1, "a"), "p"}

    def test_numbers_are_refused(self):
        study = sa.Annotations.from_triples([("x", 1, 1), ("y", 1, 2)], kind="value")
        with pytest.raises(sa.SetagreeError, match="numbers have no labels"):
            sa.by_label(study)

    def test_a_label_that_all_gave_has_a_reason(self):
        study = study_of([[{"a"}, {"a", "b"}], [{"a"}, {"a"}]])
        row = sa.by_label(study).set_index("label").loc["a"]
        assert math.isnan(row["estimate"])
        assert row["reason"] == "only one value was used"
        assert row["positive_agreement"] == 1

    def test_only_empty_sets(self):
        study = sa.Annotations.from_triples([("x", 1, set()), ("y", 1, set())])
        frame = sa.by_label(study)
        assert frame.empty
        assert list(frame.columns) == list(sa.by_label(walkthrough()).columns)

    def test_level(self):
        """A level outside (0, 1) is refused."""
        with pytest.raises(sa.SetagreeError, match="level=95"):
            sa.by_label(walkthrough(), level=95)


class TestConfusions:
    @pytest.mark.slow
    @given(STUDIES)
    def test_against_loops(self, rows):
        """Pairs and expected pairs are those of loops over all pairs of ratings.

        Each of the labels in which two answers differ is a label that they do not share, drawn in
        proportion to the ratings of as many labels with it.

        Few pairs are compared at once.
        """
        study = study_of(rows)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(label_differences, "BLOCK_STEPS", 4)
            self.check_against_loops(study)

    def check_against_loops(self, study):
        """Count confusions by loops over pairs."""
        found = {
            (row.kind, row.label, row.other): (row.n_pairs, row.expected_pairs)
            for row in sa.confusions(study).itertuples()
        }
        units = [unit for unit in answers_by_unit(study) if len(unit) > 1]
        within = [pair for unit in units for pair in itertools.combinations(unit, 2)]
        counted = _confusions_of(within)
        by_chance = _expected_of(within, [answer for unit in units for answer in unit])
        assert set(found) == set(counted)
        for key, (pairs, expected) in found.items():
            assert pairs == counted[key]
            assert expected == pytest.approx(by_chance[key])

    def test_share_and_lift(self):
        frame = sa.confusions(walkthrough())
        pairs = [
            pair
            for unit in answers_by_unit(walkthrough())
            for pair in itertools.combinations(unit, 2)
        ]
        differ = sum(a != b for a, b in pairs)
        assert frame["share"].tolist() == pytest.approx((frame["n_pairs"] / differ).tolist())
        assert frame["lift"].tolist() == pytest.approx(
            (frame["n_pairs"] / frame["expected_pairs"]).tolist()
        )
        assert frame["n_pairs"].is_monotonic_decreasing

    def test_expected_is_for_pairs_that_differ(self):
        """Of single labels every differing pair is one confusion, seen and expected alike.

        100 units of two raters, 90 of them agreed: what differs is spread over pairs of labels as
        answers drawn at random differ, so that no lift is below 1 because raters agree.
        """
        rows = [[{x}, {x}] for x in "abc" for _ in range(30)]
        rows += [[{x}, {y}] for x, y in ("ab", "bc", "ca") for _ in range(3)]
        frame = sa.confusions(study_of(rows))
        assert frame["n_pairs"].sum() == 9
        assert frame["expected_pairs"].sum() == pytest.approx(9)
        assert frame["lift"].tolist() == pytest.approx([1, 1, 1])

    def test_relations(self):
        """A taxonomy says whether a confusion is one of granularity."""
        study = study_of(
            [[{"cat"}, {"dog"}], [{"cat"}, {"mammal"}], [{"cat"}, {"oak"}], [{"x"}, set()]]
        )
        parents = {"cat": "mammal", "dog": "mammal", "mammal": "animal", "oak": "plant"}
        frame = sa.confusions(study, parents=parents)
        relation = {
            frozenset([a, b]): r
            for a, b, r in zip(frame.label, frame.other, frame.relation, strict=True)
        }
        assert relation[frozenset(["cat", "dog"])] == "sibling"
        assert relation[frozenset(["cat", "mammal"])] == "parent"
        assert relation[frozenset(["cat", "oak"])] == "unrelated"
        assert pd.isna(next(r for pair, r in relation.items() if "x" in pair))
        assert sa.confusions(study)["relation"].isna().all()

    def test_what_exceeds_chance_has_a_p_of_at_most_0_05(self):
        frame = pd.DataFrame({"p_value": [0.04, 0.05, 0.0501, np.nan]})
        assert exceed_chance(frame).tolist() == [True, True, False, False]

    def test_perfect_agreement(self):
        frame = sa.confusions(study_of([[{"a"}, {"a"}], [{"b"}, {"b"}]]))
        assert frame.empty
        assert list(frame.columns) == list(sa.confusions(walkthrough()).columns)

    def test_a_label_that_all_share_is_not_expected_to_differ(self):
        """English is in every answer, so that the pairs of the other labels are as if it were not.

        As many pairs are expected as observed, though raters agree on most.
        """
        rows = [[{x}, {x}] for x in "abc" for _ in range(30)]
        rows += [[{x}, {y}] for x, y in ("ab", "ab", "bc", "ca") for _ in range(3)]
        rows += [[{"a"}, set()], [{"b"}, set()]]
        plain_frame = sa.confusions(study_of(rows))
        frame = sa.confusions(study_of([[{*x, "english"} for x in row] for row in rows]))
        columns = ["label", "other", "n_pairs", "expected_pairs"]
        pd.testing.assert_frame_equal(frame[columns], plain_frame[columns])
        for _, kind in frame.groupby("kind"):
            seen = kind["n_pairs"].sum()
            assert seen <= 12
            assert kind["expected_pairs"].sum() <= seen + 1e-9

    @ONE_UNIT
    def test_a_thousand_answers_to_one_unit(self):
        rng = np.random.default_rng(0)
        flags = np.unique(rng.random((1_100, 18)) < 0.4, axis=0)[:1_000]
        names = [f"l{k:02}" for k in range(18)]
        study = sa.Annotations.from_indicators(flags[:, None, :], labels=names)
        frame = sa.confusions(study).set_index(["kind", "label", "other"])["n_pairs"]
        a, b = flags[:, 3], flags[:, 11]
        assert frame["instead", "l03", "l11"] == (a & ~b).sum() * (b & ~a).sum()
        codes = flags @ 2 ** np.arange(18)
        within = codes[:, None] & ~codes == 0
        lost = (within & (flags[None, :, 3] & ~flags[:, None, 3])).sum()
        assert frame["left out"].loc["l03"].item() == lost

    @ONE_UNIT
    def test_too_many_answers_to_one_unit(self):
        many = sa.Annotations.from_triples([(k, 1, [f"l{k}"]) for k in range(7_000)])
        with pytest.raises(CostError, match=r"pairs of different answers .* limit is 2\.0 GB"):
            sa.confusions(many)
        names = {f"l{k:03}" for k in range(800)}
        answers = [names - {f"l{k:03}"} for k in range(300)]
        large = sa.Annotations.from_triples([(g, 1, one) for g, one in enumerate(answers)])
        with pytest.raises(CostError, match=r"all pairs of labels .* limit is 10,000,000,000"):
            sa.confusions(large)

    @ONE_UNIT
    def test_a_table_beyond_memory_is_refused(self, monkeypatch):
        study = sa.Annotations.from_triples([(k, 1, [f"l{k}"]) for k in range(300)])
        assert len(sa.confusions(study)) == 300 * 299 / 2
        monkeypatch.setattr(limits, "MOST_BYTES", 5_000_000)
        with pytest.raises(sa.SetagreeError, match=r"The table of confusions would take about"):
            sa.confusions(study)

    def test_pairs_beyond_memory_are_not_reshuffled(self, monkeypatch):
        """60 units have three different answers of ten: 180 pairs, of 45 kinds, of 100 bytes."""
        units = itertools.islice(itertools.combinations("abcdefghij", 3), 60)
        study = sa.Annotations.from_triples(
            [
                (g, unit, [label])
                for unit, three in enumerate(units)
                for g, label in enumerate(three)
            ]
        )
        monkeypatch.setattr(limits, "MOST_BYTES", 17_999)
        assert sa.confusions(study)["n_pairs"].sum() == 180
        with pytest.raises(CostError, match=r"Listing the pairs of different answers would take"):
            sa.confusions(study, n_resamples=9, rng=1)
        monkeypatch.setattr(limits, "MOST_BYTES", 18_000)
        assert sa.confusions(study, n_resamples=9, rng=1)["n_pairs"].sum() == 180

    def test_large_sets_over_many_labels(self, monkeypatch):
        one, two = ({f"{side}{k}" for k in range(500)} for side in "xy")
        study = sa.Annotations.from_triples([("g", 1, one), ("h", 1, two)])
        tracemalloc.start()
        frame = sa.confusions(study)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(frame) == 250_000
        assert peak < 80e6
        monkeypatch.setattr(limits, "MOST_BYTES", 40_000_000)
        with pytest.raises(sa.SetagreeError, match=r"The table of confusions would take about"):
            sa.confusions(study)
        monkeypatch.setattr(limits, "MOST_STEPS", 250_000)
        with pytest.raises(sa.SetagreeError, match=r"Comparing all pairs of labels .* 251,000 ste"):
            sa.confusions(study)

    def test_categories(self):
        """Categories stand for one another and are never left out."""
        study = sa.Annotations.from_triples(
            [("x", 1, "p"), ("y", 1, "q"), ("z", 1, "q")], kind="value"
        )
        frame = sa.confusions(study)
        assert frame[["label", "other", "kind", "n_pairs"]].values.tolist() == [
            ["p", "q", "instead", 2]
        ]


class TestConfusionsAboveChance:
    def test_two_raters_of_three_labels(self):
        """P is that of a multinomial count of the pairs that differ, summed over all outcomes.

        Units of two raters have one pair each: a, b and c are drawn twice, given that they differ.
        """
        n = {"ab": 24, "ac": 8, "bc": 8}
        rows = [[{x}, {x}] for x in "abccc" for _ in range(12)]
        rows += [[{x}, {y}] for (x, y), times in n.items() for _ in range(times)]
        c = {x: 24 * "abccc".count(x) + sum(n[k] for k in n if x in k) for x in "abc"}
        share = np.array([c[x] * c[y] for x, y in n], dtype=float)
        share /= share.sum()
        e = 40 * share
        outcomes = np.array([(i, j, 40 - i - j) for i in range(41) for j in range(41 - i)])
        mass = stats.multinomial(40, share).pmf(outcomes)
        far = ((outcomes - e) / np.sqrt(e)).max(axis=1)
        frame = sa.confusions(study_of(rows), n_resamples=9_999, rng=1)
        for row in frame.itertuples():
            k = list(n).index(row.label + row.other)
            p = mass[far >= (n[row.label + row.other] - e[k]) / np.sqrt(e[k]) - 1e-12].sum()
            # Four standard errors of a share of 9,999 reshuffles.
            assert row.p_value == pytest.approx(p, abs=4 * math.sqrt(0.25 / 9_999))
        assert frame["p_value"].min() < 0.05
        assert frame["no_test"].isna().all()
        drawn = "reshuffles of the labels in which the answers of a unit differ"
        assert set(frame["tested_by"]) == {f"9,999 {drawn}; p is at least 0.0001"}

    @pytest.mark.parametrize("seed", [1, 2])
    def test_against_loops(self, seed):
        rng = np.random.default_rng(seed)
        study = sa.simulate(60, 4, n_labels=3, skill=0.3, missing=0.1, rng=seed)
        frame = sa.confusions(study, n_resamples=1_999, rng=1)
        tested = frame[frame["p_value"].notna()]
        assert (tested[["n_pairs", "expected_pairs"]] >= 5).all(axis=None)
        assert (frame.loc[frame["p_value"].isna(), "no_test"].str.startswith("fewer than 5")).all()
        units = [unit for unit in answers_by_unit(study) if len(unit) > 1]
        urn = [answer for unit in units for answer in unit]
        expected = {(r.kind, r.label, r.other): r.expected_pairs for r in frame.itertuples()}
        expected = {key: e for key, e in expected.items() if e >= 5}
        far = []
        for _ in range(400):
            pairs = [
                pair
                for unit in units
                for pair in itertools.combinations(_reshuffled(unit, urn, rng), 2)
            ]
            counts = _confusions_of(pairs)
            far.append(max((counts.get(k, 0) - e) / e**0.5 for k, e in expected.items()))
        z = (tested["n_pairs"] - tested["expected_pairs"]) / tested["expected_pairs"] ** 0.5
        p = [(1 + sum(np.array(far) >= one)) / 401 for one in z]
        # Four standard errors of a share of 400 reshuffles.
        assert tested["p_value"].tolist() == pytest.approx(p, abs=4 * math.sqrt(0.25 / 400))

    def test_a_seed_is_of_the_answers(self):
        study = sa.simulate(50, 3, n_labels=4, rng=1)
        rows = list(study.to_long()[["rater", "unit", "labels"]].itertuples(index=False))
        turned = sa.Annotations.from_triples(rows[::-1])
        keys = ["kind", "label", "other"]
        one, two = (
            sa.confusions(x, n_resamples=99, rng=7).sort_values(keys)["p_value"].tolist()
            for x in (study, turned)
        )
        assert one == pytest.approx(two, nan_ok=True)
        plain_frame = sa.confusions(study)
        assert plain_frame["p_value"].isna().all()
        assert set(plain_frame["no_test"]) == {"no reshuffles were requested (n_resamples)"}
        with pytest.raises(OptionError, match=r"n_resamples=0 must be a whole number of 1"):
            sa.confusions(study, n_resamples=0)

    @ONE_UNIT
    def test_too_much_work(self):
        study = sa.simulate(3_000, 12, n_labels=6, rng=1)
        with pytest.raises(CostError, match=r"reshuffles of .* pairs of labels .* \(n_resamples\)"):
            sa.confusions(study, n_resamples=9_999)
        wide = [(g, i, [f"l{g % 110}"]) for g in range(220) for i in range(2)]
        with pytest.raises(CostError, match=r"differ in 110 labels; at most 100"):
            sa.confusions(sa.Annotations.from_triples(wide), n_resamples=9)

    @pytest.mark.slow
    @pytest.mark.parametrize("world", ["guess", "agree", "skewed", "two", "sets", "labels"])
    def test_the_level_holds(self, world):
        """Without a particular confusion, the smallest p is at most 0.05 in 5% of 60 studies."""
        rng, found = np.random.default_rng(4), 0
        share = np.array([0.8, 0.1, 0.05, 0.03, 0.02]) if world == "skewed" else np.full(5, 0.2)
        n_raters = 2 if world == "two" else 4
        for k in range(60):
            if world == "sets":
                study = sa.simulate(80, 3, n_labels=5, skill=0.5, rng=k)
            elif world == "labels":
                study = _label_errors(rng, swapped=0)
            else:
                truth = rng.choice(5, 100, p=share)
                known = rng.random((n_raters, 100)) < (0 if world == "guess" else 0.6)
                values = np.where(known, truth, rng.choice(5, (n_raters, 100), p=share))
                triples = [
                    (g, i, [f"l{v}"]) for g, row in enumerate(values) for i, v in enumerate(row)
                ]
                study = sa.Annotations.from_triples(triples)
            found += bool((sa.confusions(study, n_resamples=99, rng=k)["p_value"] <= 0.05).any())
        assert stats.binomtest(found, 60).proportion_ci(0.95).low <= 0.07

    def test_a_swap_within_sets_is_found(self):
        """One of four raters gives label 5 for label 2 in 35%: found in most of 10 studies.

        In at most one of them, another confusion is found.
        """
        rng, found = np.random.default_rng(5), []
        for k in range(10):
            frame = sa.confusions(_label_errors(rng, swapped=0.35), n_resamples=99, rng=k)
            clear = frame[frame["p_value"] <= 0.05]
            found += [*zip(clear["label"], clear["other"], strict=True)]
        assert found.count(("l2", "l5")) >= 6
        assert len(found) - found.count(("l2", "l5")) <= 1


def _label_errors(rng, *, swapped):
    """Return 150 units of 4 raters, who leave out, exchange and add single labels at random.

    Every answer has one of four pairs of labels that are often together, and others; the first
    rater gives label 5 for label 2 with a probability of `swapped`.
    """
    share = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05])
    triples = []
    for unit in range(150):
        first = 2 * int(rng.choice(4, p=share.reshape(4, 2).sum(axis=1)))
        truth = {x for x in (first, first + 1) if rng.random() < 0.9} or {first}
        truth |= {int(rng.choice(8, p=share))} if rng.random() < 0.3 else set()
        for rater in range(4):
            answer = set(truth)
            for x in truth:
                error = rng.random()
                answer -= {x} if error < 0.14 else set()
                answer |= {int(rng.choice(8, p=share))} if error < 0.07 else set()
            if rater == 0 and 2 in answer and 5 not in answer and rng.random() < swapped:
                answer = answer - {2} | {5}
            triples.append((rater, unit, [f"l{x}" for x in answer]))
    return sa.Annotations.from_triples(triples, blank="empty")


def _class(answer):
    """Return the number of labels; 5 to 8, 9 to 16, and so on are alike."""
    n = len(answer)
    return n if n < 5 else 2 + math.ceil(math.log2(n))


def _expected_of(pairs, urn):
    """Return the expected pairs of confusions, as a dict, by loops over pairs of answers."""
    expected, c = Counter(), defaultdict(Counter)
    for answer in urn:
        c[_class(answer)].update(answer)
    for A, B in pairs:
        labels = frozenset().union(*urn) - (A & B)
        s, t, c_A, c_B = len(A - B), len(B - A), c[_class(A)], c[_class(B)]
        drawn = {(x, y): c_A[x] * c_B[y] for x, y in itertools.permutations(labels, 2)}
        for (x, y), weight in drawn.items() if s * t else ():
            expected["instead", *sorted([x, y])] += s * t * weight / sum(drawn.values())
        larger = c_A if s else c_B
        for x in labels if A != B and not s * t else ():
            share = larger[x] / sum(larger[y] for y in labels)
            expected["left out", x, None] += (s + t) * share
    return expected


def _reshuffled(unit, urn, rng):
    """Return the answers to a unit with other labels for those that only some of them have."""
    common, groups = frozenset.intersection(*unit), defaultdict(set)
    for x in frozenset.union(*unit) - common:
        groups[tuple(x in answer for answer in unit)].add(x)
    subsets = {}
    for key, labels in groups.items():
        lowest = min(_class(answer) for answer, has in zip(unit, key, strict=True) if has)
        alike = [sorted(answer) for answer in urn if _class(answer) == lowest]
        subsets[key] = [x for one in alike for x in itertools.combinations(one, len(labels))]
    while True:
        drawn = {key: each[rng.integers(len(each))] for key, each in subsets.items()}
        labels = [*common, *itertools.chain.from_iterable(drawn.values())]
        if len(set(labels)) == len(labels):
            break
    return [
        common | {x for key, labels in drawn.items() if key[i] for x in labels}
        for i in range(len(unit))
    ]


def _confusions_of(pairs):
    counts = {}
    for A, B in pairs:
        for a, b in itertools.product(A - B, B - A):
            key = ("instead", *sorted([a, b]))
            counts[key] = counts.get(key, 0) + 1
        for larger, smaller in ((A, B), (B, A)):
            if smaller < larger:
                for a in larger - smaller:
                    counts["left out", a, None] = counts.get(("left out", a, None), 0) + 1
    return counts


class TestPresence:
    def test_two_parts_by_hand(self):
        """Ten answers in pairs, of which 3 are empty and 1 pair of 5 is mixed: 1 - 9 / (3 x 7).

        The six answers with labels in pairs are a a, ab a, b b: 1 - (1 / 3) / (22 / 30) = 6 / 11.
        Of the 7 answers with labels, those of 6 are met by another one; of 3 empty ones, 2.
        """
        cells = {"u1": "a|a", "u2": "a,b|a", "u3": "b|b", "u4": "|", "u5": "|a", "u6": "b"}
        triples = [(r, u, x) for u, row in cells.items() for r, x in enumerate(row.split("|"))]
        study = sa.Annotations.from_triples(triples, blank="empty")
        none, which = sa.by_presence(study, distance="nominal").to_dict("records")
        assert none["estimate"] == pytest.approx(4 / 7, abs=1e-14)
        assert which["estimate"] == pytest.approx(6 / 11, abs=1e-14)
        assert none["positive_agreement"] == pytest.approx(6 / 7, abs=1e-14)
        assert none["negative_agreement"] == pytest.approx(2 / 3, abs=1e-14)
        assert (none["n_pairable_units"], which["n_pairable_units"]) == (5, 3)

    @pytest.mark.parametrize("cells", [["a", "b"], ["", ""]])
    def test_answers_with_one_part_are_refused(self, cells):
        study = sa.Annotations.from_triples(
            [(r, u, cell) for u, cell in enumerate(cells) for r in "xy"], blank="empty"
        )
        with pytest.raises(DataError, match="no two parts"):
            sa.by_presence(study)
        with pytest.raises(DataError, match="single values are never empty"):
            sa.by_presence(
                sa.Annotations.from_wide(pd.DataFrame({"x": [1, 2], "y": [1, 1]}), kind="value")
            )


@pytest.mark.parametrize("function", [sa.by_label, sa.by_pair, sa.by_rater, sa.what_if])
def test_few_clusters_are_named_with_every_interval(function):
    study = sa.simulate(60, 4, skill=0.7, rng=1)
    drawn = study.sampled(cluster={unit: k // 10 for k, unit in enumerate(study.units)})
    with pytest.warns(FewClustersWarning, match="there are 6 clusters"):
        function(drawn)


def test_confusions_of_answers_that_all_have_several_labels():
    """No answer has a single label, from which one label after another could be drawn."""
    cells = [("a, b", "a, c"), ("a, c", "b, c"), ("b, d", "c, d"), ("a, d", "a, d")] * 8
    study = sa.read([list(column) for column in zip(*cells, strict=True)])
    table = sa.confusions(study, n_resamples=19, rng=1)
    assert table["n_pairs"].sum() == 24
    assert table["p_value"].between(0.05, 1).any()
