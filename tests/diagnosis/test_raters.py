"""Which raters, units and groups cost the agreement: against rebuilt studies and plain loops."""

import itertools
import math
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from diagnosis_support import STUDIES, assert_same, quietly, study_of, walkthrough
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

import setagree as sa
from setagree import checks as limits
from setagree.coefficients import parts as parts_module
from setagree.credit import build
from setagree.diagnosis import by_pair, common, grouping


def triples(study):
    table = study.to_long()
    return list(zip(table["rater"], table["unit"], table.iloc[:, 2], strict=True))


def rebuilt(study, keep):
    """Return the study of the triples that are kept, built anew."""
    kind = "labels" if study.kind == "labels" else "value"
    return sa.Annotations.from_triples([t for t in triples(study) if keep(*t)], kind=kind)


def incomplete(seed=3):
    """Return 40 units by 5 raters with a third of the answers missing."""
    return sa.simulate(40, 5, n_labels=4, missing=0.35, rng=seed)


class TestByRater:
    def test_the_walk_through(self):
        frame = sa.by_rater(walkthrough()).set_index("rater")
        # STATISTICS, table T1, leave one rater out.
        assert frame.loc["r1", "estimate_without"] == pytest.approx(0.30082147, abs=5e-9)
        assert frame.loc["r2", "estimate_without"] == pytest.approx(0.39107211, abs=5e-9)
        assert frame.loc["r3", "estimate_without"] == pytest.approx(0.43624161, abs=5e-9)
        assert frame["difference"].is_monotonic_decreasing

    @pytest.mark.slow
    @pytest.mark.parametrize("coefficient", ["krippendorff_alpha", "conger_kappa", "gwet_ac"])
    def test_change_is_a_paired_comparison(self, coefficient):
        study = incomplete()
        score = getattr(sa, coefficient)
        options = {"categories": study.values} if coefficient == "gwet_ac" else {}
        whole = score(study, distance="masi", **options)
        frame = sa.by_rater(study, coefficient=coefficient, level=0.9).set_index("rater")
        for rater in study.raters:
            part = rebuilt(study, lambda r, u, v, rater=rater: r != rater)
            without = score(part, distance="masi", **options)
            compared = sa.compare(without, whole, design="same_units", level=0.9)
            row = frame.loc[rater]
            assert row["estimate_without"] == pytest.approx(without.estimate)
            assert row["difference"] == pytest.approx(compared.difference)
            assert row["difference_standard_error"] == pytest.approx(compared.standard_error)
            assert (row["difference_low"], row["difference_high"]) == pytest.approx(
                compared.interval()
            )

    def test_p_is_of_the_answers_exchanged_within_units(self):
        """P is that of all exchanges of the answers of a unit among its raters (STATISTICS 10.11).

        Five units of three raters with two or three answers have 3^5 to 6^5 arrangements: all are
        listed here by a loop, and 4,999 are drawn.
        """
        rows = ["aab", "abb", "aac", "bbc", "cab"]
        arranged = [sorted({*itertools.permutations(row)}) for row in rows]

        def alpha(pairs):
            pool = "".join(pairs)
            expected = sum(x != y for x, y in itertools.permutations(pool, 2)) / (10 * 9)
            return 1 - sum(x != y for x, y in pairs) / 5 / expected

        def far(units):
            without = np.array([alpha([u[:g] + u[g + 1 :] for u in units]) for g in range(3)])
            return np.abs(without - without.mean())

        observed = far(rows)
        every = [far([*map("".join, units)]) for units in itertools.product(*arranged)]
        assert len(every) == 3**4 * 6
        exact = np.mean(np.array(every) >= observed - 1e-9, axis=0)
        answers = [(f"r{g}", u, v) for u, unit in enumerate(rows) for g, v in enumerate(unit)]
        study = sa.Annotations.from_triples(answers, kind="category")
        frame = sa.by_rater(study, n_resamples=4_999, rng=1).set_index("rater")
        p = frame.loc[["r0", "r1", "r2"], "p_value"].to_numpy()
        # Four standard errors of a share of 4,999 reshuffles.
        assert p == pytest.approx(exact, abs=4 * math.sqrt(0.25 / 4_999))
        assert frame["no_test"].isna().all()

    def test_holm_over_the_raters(self):
        study = incomplete()
        frame = sa.by_rater(study, n_resamples=199, rng=1).set_index("rater")
        corrected = multipletests(frame["p_value"], method="holm")[1]
        assert frame["p_holm"].tolist() == pytest.approx(corrected.tolist())
        assert (frame["n_tests"] == study.n_raters).all()
        turned = sa.Annotations.from_triples(triples(study)[::-1])
        again = sa.by_rater(turned, n_resamples=199, rng=1).set_index("rater")
        assert again["p_value"].to_dict() == frame["p_value"].to_dict()

    def test_too_few_reshuffles_for_any_corrected_p_of_five_per_cent(self):
        study = sa.simulate(80, 5, skill=[0.9, 0.9, 0.9, 0.9, 0.0], rng=1)
        few, enough = (sa.by_rater(study, n_resamples=n, rng=1) for n in (49, 99))
        assert few["p_holm"].min() == pytest.approx(5 / 50)
        assert set(few["no_test"]) == {"with 49 reshuffles p_holm is at least 0.1"}
        assert enough["p_holm"].min() == pytest.approx(0.05)
        assert enough["no_test"].isna().all()

    def test_a_rater_who_guesses_is_found(self):
        study = sa.simulate(80, 5, skill=[0.8, 0.8, 0.8, 0.8, 0.0], missing=0.2, rng=1)
        weights = {unit: 1 + k % 3 for k, unit in enumerate(study.units)}
        for one in (study, study.sampled(sampling_weight=weights)):
            frame = sa.by_rater(one, n_resamples=299, rng=1)
            assert frame["rater"].iloc[0] == "r5"
            assert frame["p_holm"].iloc[0] < 0.05

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            ({}, "no reshuffles were requested (n_resamples)"),
            ({"n_resamples": 9, "coefficient": "mv_alpha"}, "mv_alpha without a rater has no"),
            ({"n_resamples": 9, "coefficient": "conger_kappa"}, "conger_kappa without a rater has"),
        ],
    )
    def test_no_p(self, options, reason):
        frame = quietly(sa.by_rater, sa.simulate(20, 3, rng=1), **options)
        assert frame[["p_value", "p_holm"]].isna().all(axis=None)
        assert frame["no_test"].str.startswith(reason).all()
        two = quietly(sa.by_rater, sa.simulate(20, 2, rng=1), n_resamples=9)
        assert set(two["no_test"]) == {"the coefficient without the rater is undefined"}

    @pytest.mark.parametrize(
        "coefficient", ["krippendorff_alpha", "fleiss_kappa", "gwet_ac", "percent_agreement"]
    )
    @settings(max_examples=15)
    @given(STUDIES, st.sampled_from(["masi", "nominal", "hamming", "any_overlap"]))
    # All credit is full: AC has pe = 1 for all raters, and less without r1 or r2.
    @example([[None, {"a", "b"}, {"a", "b", "d"}], [{"a", "b"}, {"a", "b", "d"}]], "any_overlap")
    # Percent agreement does not change in any unit without r0 or r2.
    @example([[None, set()], [set(), {"a"}], [None, set(), {"a"}], [set()] * 3 + [{"a"}]], "masi")
    # The others agree without r2, which leaves a standard error of 0.
    @example([[{"a"}, {"a"}, {"b"}], [{"b"}, {"b"}, {"a"}], [{"a"}] * 3, [{"b"}] * 3], "nominal")
    def test_without_each_rater(self, coefficient, rows, distance):
        study = study_of(rows)
        frame = quietly(sa.by_rater, study, coefficient=coefficient, distance=distance)
        whole = quietly(getattr(sa, coefficient), study, distance=distance)
        module = sys.modules["setagree.diagnosis.by_rater"]
        anew = module._scored_changes(study, whole, 0.95, np.arange(study.n_raters))
        if whole.inference.n_rarer < 4:  # then there are no intervals
            anew[["difference_low", "difference_high"]] = np.nan
        anew.index = pd.Index(study.raters, name="rater")
        frame = frame.set_index("rater").loc[study.raters, anew.columns]
        pd.testing.assert_frame_equal(frame, anew, check_dtype=False, atol=1e-11)

    @pytest.mark.slow
    @given(STUDIES)
    def test_habits_against_loops(self, rows):
        study = study_of(rows)
        d = sa.distances.masi
        frame = quietly(sa.by_rater, study).set_index("rater")
        answers = {}
        for rater, unit, answer in triples(study):
            answers.setdefault(unit, {})[rater] = answer
        for rater in study.raters:
            own = [unit[rater] for unit in answers.values() if rater in unit]
            shared = [u for u in answers.values() if rater in u and len(u) > 1]
            others = [[a for r, a in u.items() if r != rater] for u in shared]
            mine = [u[rater] for u in shared]
            row = frame.loc[rater]
            assert row["n_ratings"] == len(own)
            assert row["n_paired_ratings"] == len(shared)
            assert row["mean_set_size"] == pytest.approx(np.mean([len(a) for a in own]))
            assert row["empty_rate"] == pytest.approx(np.mean([not a for a in own]))
            assert_same(row["mean_distance"], _mean_gap(mine, others, d))
            assert_same(row["set_size_bias"], _bias(mine, others, len))
            assert_same(row["empty_bias"], _bias(mine, others, lambda a: not a))
            biases = {
                label: _bias(mine, others, lambda a, label=label: label in a)
                for label in study.labels
            }
            top = max(biases.values(), default=np.nan)
            bottom = min(biases.values(), default=np.nan)
            assert_same(row["overuse"], top if top > 1e-12 else np.nan)
            assert_same(row["underuse"], bottom if bottom < -1e-12 else np.nan)
            if top > 1e-12:
                assert biases[row["overused_label"]] == pytest.approx(top)

    def test_numbers_have_no_habits(self):
        study = sa.Annotations.from_triples(
            [(g, u, (u * 7 + 3 * g) % 5) for u in range(8) for g in range(3)], kind="value"
        )
        frame = sa.by_rater(study, distance="interval")
        assert frame["mean_distance"].notna().all()
        assert frame[["mean_set_size", "overuse", "underuse", "empty_rate"]].isna().all(axis=None)

    def test_no_habit_out_of_rounding(self):
        full = sa.simulate(60, 1, n_labels=5, rng=1)
        study = sa.Annotations.from_triples(
            [(g, u, v) for _, u, v in triples(full) for g in range(6) if (int(u[1:]) + g) % 4]
        )
        frame = sa.by_rater(study)
        assert frame[["overused_label", "underused_label", "overuse"]].isna().all(axis=None)

    def test_one_rater_and_two(self):
        frame = sa.by_rater(sa.simulate(10, 2, rng=1))
        assert frame["estimate_without"].isna().all()
        one = sa.by_rater(sa.Annotations.from_triples([("a", 1, "x"), ("a", 2, "y")]))
        assert one[["estimate_without", "difference_low"]].isna().all(axis=None)
        assert one[["rater", "n_paired_ratings"]].to_numpy().tolist() == [["a", 0]]

    def test_a_tally_is_refused(self):
        tally = sa.Tally.from_counts(pd.DataFrame({"a": [2, 1], "b": [0, 1]}))
        for function in (sa.by_rater, sa.by_pair, sa.what_if):
            with pytest.raises(sa.SetagreeError, match="a tally of counts lacks"):
                function(tally)
        with pytest.raises(sa.SetagreeError, match="No column has a usual name"):
            sa.by_rater(pd.DataFrame())
        for other in (tally, pd.DataFrame()):
            with pytest.raises(sa.SetagreeError, match="expected the result of by_pair"):
                sa.pair_matrix(other)


def _mean_gap(mine, others, d):
    gaps = [np.mean([d(a, b) for b in rest]) for a, rest in zip(mine, others, strict=True)]
    return np.mean(gaps) if gaps else np.nan


def _bias(mine, others, x):
    gaps = [x(a) - np.mean([x(b) for b in rest]) for a, rest in zip(mine, others, strict=True)]
    return np.mean(gaps) if gaps else np.nan


def test_rare_answers():
    """Two of 40 units with another answer: no interval and no p of a change, or of many groups."""
    rows = [
        (g, u, "b" if (u == 0 and g != "r") or (u, g) == (1, "r") else "a")
        for u in range(40)
        for g in "pqr"
    ]
    study = sa.Annotations.from_triples(rows)
    assert sa.by_rater(study)[["difference_low", "difference_high"]].isna().all(axis=None)
    changes = sa.what_if(study, exclude_raters=["p", "q"]).iloc[1:]
    assert changes["difference"].notna().all()
    assert changes[["p_value", "p_holm"]].isna().all(axis=None)
    assert changes["reason"].str.startswith("Too few rarer answers").all()
    groups = {f"{g} {k}": g for g in range(201) for k in range(40)}
    each = [(rater, f"{g} {u}", v) for g in range(201) for rater, u, v in rows]
    found = sa.by_group(sa.Annotations.from_triples(each), groups)
    assert len(found) == 201
    assert found[["low", "high"]].isna().all(axis=None)
    assert found["estimate"].notna().all()
    assert (found["reason"] == changes["reason"].iloc[0]).all()


def test_too_many_raters_are_refused(monkeypatch):
    study = sa.simulate(20, 5, rng=1)
    monkeypatch.setattr(limits, "MOST_STEPS", 1_000)
    with pytest.raises(sa.SetagreeError, match=r"by_rater would take about 2,000 steps.*jackknife"):
        sa.by_rater(study)
    with pytest.raises(sa.SetagreeError, match=r"by_rater would take about 385,000 steps.*conger"):
        sa.by_rater(study, coefficient="conger_kappa")


def crowd_of_raters(n, kind="labels"):
    """Return a study of n raters, n units and three answers to each, of three values."""
    rng = np.random.default_rng(n)
    raters = (np.arange(n)[:, None] + rng.integers(1, n // 3, (n, 3)).cumsum(axis=1)) % n
    answers = np.array(["a", "b", "a, b"])[rng.integers(0, 3, (n, 3))]
    rows = zip(raters.ravel(), np.repeat(np.arange(n), 3), answers.ravel(), strict=True)
    return sa.Annotations.from_triples(list(rows), kind=kind)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::setagree.errors.SwappedColumnsWarning")
class TestByManyRaters:
    @given(STUDIES, st.sampled_from(["masi", "jaccard", "nominal"]), st.integers(0, 5))
    def test_all_at_once_as_one_by_one(self, rows, distance, lone):
        few = study_of(rows)
        # More raters than values; some stand alone, or with one other.
        more = [(f"lone {k}", f"unit {k // 2}", "a") for k in range(3 + lone)]
        more += [(f"lone {k}", 0, "a, b") for k in range(3 + lone, 16)]
        study = sa.Annotations.from_triples([*triples(few), *more])
        each = quietly(sa.by_rater, study, distance=distance)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parts_module, "_MAX_DENSE_VALUES", 0)
            patch.setattr(parts_module, "BLOCK_ENTRIES", 40)
            at_once = quietly(sa.by_rater, study, distance=distance)
        one, two = (
            frame.set_index("rater").sort_index(key=lambda k: k.map(str))
            for frame in (each, at_once)
        )
        pd.testing.assert_frame_equal(one, two, rtol=1e-9, atol=1e-11)

    def test_thousands_of_raters(self):
        study = crowd_of_raters(30_000)
        frame = sa.by_rater(study).set_index("rater")
        whole = sa.krippendorff_alpha(study)
        for rater in (*frame.index[[0, 7, -1]],):
            rest = sa.krippendorff_alpha(study.exclude_raters([rater]))
            gap = sa.compare(rest, whole, design="same_units")
            assert frame.loc[rater, "estimate_without"] == pytest.approx(rest.estimate, abs=1e-12)
            assert frame.loc[rater, "difference_standard_error"] == pytest.approx(
                gap.standard_error, rel=1e-8
            )

    def test_nothing_to_tell(self):
        n = 10_000
        raters, units = np.arange(n), np.arange(n) // 2
        for answers in (np.where(raters % 2, "a", "b"), np.where(units % 2, "a", "b")):
            rows = zip(raters.tolist(), units.tolist(), answers.tolist(), strict=True)
            study = sa.Annotations.from_triples(list(rows))
            frame = sa.by_rater(study)
            assert frame["difference_standard_error"].isna().all()
            rest = sa.krippendorff_alpha(study.exclude_raters([0])).estimate
            assert frame["estimate_without"].to_numpy() == pytest.approx(rest, abs=1e-12)


class TestTooMany:
    def test_pairs_of_raters(self):
        n = 30_000
        units = [("same", g) for g in range(n)] + [(f"own {g}", g) for g in range(n)]
        study = sa.Annotations.from_triples([(g, unit, "a") for unit, g in units], kind="value")
        cost = r"by_pair of 30,000 raters would take about 135.0 GB"
        with pytest.raises(sa.SetagreeError, match=cost + r".* About 3,651 raters are possible"):
            sa.by_pair(study)
        with pytest.raises(sa.SetagreeError, match=cost + r".* About 3,651 raters are possible"):
            sa.by_pair(study, coefficient="cohen_kappa")

    def test_pairs_that_are_scored(self, monkeypatch):
        study = sa.simulate(20, 10, rng=1)
        monkeypatch.setattr(limits, "MOST_STEPS", 1_000_000)
        assert len(sa.by_pair(study)) == len(sa.by_pair(study, coefficient="fleiss_kappa")) == 45
        with pytest.raises(sa.SetagreeError, match="by_pair of 10 raters would take about 3,411,0"):
            sa.by_pair(study, coefficient="mv_alpha")

    def test_raters_left_out_one_by_one(self):
        study = crowd_of_raters(30_000)
        message = (
            r"what_if with 28,492 changes would take about .* 5,333 changes are possible: name"
        )
        with pytest.raises(sa.SetagreeError, match=message):
            sa.what_if(study)
        assert len(sa.what_if(study, exclude_raters=study.raters[:2])) == 3


class TestByPair:
    @pytest.mark.parametrize(
        ("coefficient", "distance"),
        [
            ("krippendorff_alpha", "masi"),
            ("krippendorff_alpha", "hamming"),
            ("scott_pi", "jaccard"),
            ("cohen_kappa", "masi"),
            ("percent_agreement", "dice"),
        ],
    )
    def test_pairs_are_studies_of_their_own(self, coefficient, distance):
        study = incomplete()
        frame = sa.by_pair(study, coefficient=coefficient, distance=distance, level=0.9)
        seen = {}
        for rater, unit, _ in triples(study):
            seen.setdefault(rater, set()).add(unit)
        pairs = [p for p in itertools.combinations(study.raters, 2) if seen[p[0]] & seen[p[1]]]
        assert {frozenset(p) for p in zip(frame.rater_a, frame.rater_b, strict=True)} == set(
            map(frozenset, pairs)
        )
        assert frame["estimate"].is_monotonic_increasing
        for row in frame.itertuples():
            shared = seen[row.rater_a] & seen[row.rater_b]
            part = rebuilt(
                study, lambda r, u, v, s=shared, two=(row.rater_a, row.rater_b): u in s and r in two
            )
            expected = getattr(sa, coefficient)(part, distance=distance)
            assert row.n_shared_units == len(shared)
            assert row.estimate == pytest.approx(expected.estimate)
            assert row.standard_error == pytest.approx(expected.standard_error)
            assert (row.low, row.high) == pytest.approx(expected.interval(0.9), nan_ok=True)
            assert row.interval_method == expected.interval_method
            between = sa.percent_agreement(part, distance=distance).observed_disagreement
            assert row.mean_distance == pytest.approx(between)
            assert row.coefficient == coefficient

    @pytest.mark.parametrize("coefficient", ["krippendorff_alpha", "fleiss_kappa"])
    def test_many_pairs_are_computed_together(self, coefficient):
        study = sa.simulate(60, 21, missing=0.3, rng=4)
        frame = sa.by_pair(study, coefficient=coefficient, distance="hamming")
        assert len(frame) == 210
        for row in frame.iloc[[0, 100, 209]].itertuples():
            two = (row.rater_a, row.rater_b)
            both = {u for u in study.units if {r for r, x, _ in triples(study) if x == u} >= {*two}}
            part = rebuilt(study, lambda r, u, v, s=both, p=two: u in s and r in p)
            expected = getattr(sa, coefficient)(part, distance="hamming")
            assert row.estimate == pytest.approx(expected.estimate)
            ends = expected.interval(method="t")
            assert (row.low, row.high) == pytest.approx(ends, nan_ok=True)
            between = sa.percent_agreement(part, distance="hamming").observed_disagreement
            assert row.mean_distance == pytest.approx(between)

    def test_pairs_without_spread_that_are_computed_together(self, monkeypatch):
        """Raters 0 and 1 always agree, and rater 2 never agrees with them."""
        monkeypatch.setattr(by_pair, "MAX_SCORED_GROUPS", 0)
        rows = [(g, u, "ab"[(u + g // 2) % 2]) for u in range(12) for g in range(3)]
        frame = sa.by_pair(sa.Annotations.from_triples(rows), distance="nominal")
        frame = frame.set_index(["rater_a", "rater_b"])
        assert (frame["standard_error"] == 0).all()
        assert frame[["low", "high"]].isna().all(axis=None)
        assert frame["reason"].to_dict() == {
            (0, 1): "No disagreement was seen in 12 units",
            (0, 2): "All units disagree alike",
            (1, 2): "All units disagree alike",
        }

    def test_far_values_of_others(self):
        rows = [(g, u, (u * (g + 2)) % 5 + 1) for u in range(30) for g in (1, 2, 3)]
        rows[-1] = (3, 29, 10**8)
        study = sa.Annotations.from_triples(rows, kind="value")
        frame = sa.by_pair(study, distance="interval").set_index(["rater_a", "rater_b"])
        alone = rebuilt(study, lambda r, u, v: r != 3)
        expected = sa.krippendorff_alpha(alone, distance="interval")
        assert frame.loc[(1, 2), "estimate"] == pytest.approx(expected.estimate)
        assert frame.loc[(1, 2), "standard_error"] == pytest.approx(expected.standard_error)

    def test_blocks(self, monkeypatch):
        study = incomplete()
        whole = sa.by_pair(study)
        monkeypatch.setattr(common, "_BLOCK_PAIRS", 3)
        pd.testing.assert_frame_equal(sa.by_pair(study), whole)
        r = np.bincount(study.unit_codes)
        monkeypatch.setattr(common, "_BLOCK_PAIRS", 120)
        ratings = common.sorted_ratings(study)
        pairs = [(ratings.raters[x], len(x)) for x, _ in ratings.pairs_by_first_rater()]
        assert sum(n for _, n in pairs) == (r * (r - 1)).sum() / 2
        assert 1 < len(pairs) < study.n_raters - 1
        assert all(n <= 120 or len(np.unique(first)) == 1 for first, n in pairs)

    def test_undefined_pairs(self):
        """One shared unit, or one value only, is nan with its reason."""
        study = sa.Annotations.from_triples(
            [
                ("a", 1, "x"),
                ("b", 1, "y"),
                ("c", 2, "x"),
                ("d", 2, "x"),
                ("c", 3, "x"),
                ("d", 3, "x"),
            ]
        )
        frame = sa.by_pair(study).set_index("rater_a")
        assert frame.loc["a", "reason"] == "only one unit has two ratings"
        assert frame.loc["c", "reason"] == "only one value was used"
        assert frame["estimate"].isna().all()

    @pytest.mark.parametrize("coefficient", ["krippendorff_alpha", "conger_kappa"])
    def test_no_shared_unit(self, coefficient):
        study = sa.Annotations.from_triples([("a", 1, "x"), ("b", 2, "y"), ("c", 3, "x")])
        with pytest.raises(sa.SetagreeError, match="no two raters share a unit"):
            sa.by_pair(study, coefficient=coefficient)

    def test_matrix(self):
        """The square holds every pair twice and nan on the diagonal."""
        pairs = sa.by_pair(incomplete())
        square = sa.pair_matrix(pairs, column="n_shared_units")
        assert list(square.index) == list(square.columns) == ["r1", "r2", "r3", "r4", "r5"]
        assert np.isnan(np.diagonal(square)).all()
        for row in pairs.itertuples():
            assert square.loc[row.rater_a, row.rater_b] == row.n_shared_units
            assert square.loc[row.rater_b, row.rater_a] == row.n_shared_units
        with pytest.raises(sa.SetagreeError, match="Did you mean 'estimate'"):
            sa.pair_matrix(pairs, column="estimat")
        with pytest.raises(sa.SetagreeError, match="no column of numbers 'rater_a'"):
            sa.pair_matrix(pairs, column="rater_a")


class TestByUnit:
    def test_the_walk_through(self):
        frame = sa.by_unit(walkthrough()).set_index("unit")
        # STATISTICS, table T1: unit mean distance (masi).
        expected = [0.777778, 0, 0, 0, 0.444444, 0, 1, 0.777778, 0.574074, 0.666667, 0.666667]
        found = [frame.loc[f"u{i}", "disagreement"] for i in range(1, 12)]
        assert found == pytest.approx(expected, abs=5e-7)

    @pytest.mark.parametrize("coefficient", ["krippendorff_alpha", "fleiss_kappa", "conger_kappa"])
    def test_without_each_unit(self, coefficient):
        study = incomplete()
        frame = sa.by_unit(study, coefficient=coefficient).set_index("unit")
        score = getattr(sa, coefficient)
        whole = score(study, distance="masi")
        for unit in frame.index[:6]:
            part = rebuilt(study, lambda r, u, v, unit=unit: u != unit)
            without = score(part, distance="masi").estimate
            assert frame.loc[unit, "estimate_without"] == pytest.approx(without)
            assert frame.loc[unit, "difference"] == pytest.approx(without - whole.estimate)
            assert frame.loc[unit, "influence"] == pytest.approx(whole.influence[unit])

    @pytest.mark.slow
    @given(STUDIES)
    def test_against_loops(self, rows):
        study = study_of(rows)
        frame = quietly(sa.by_unit, study)
        answers = {}
        for rater, unit, answer in triples(study):
            answers.setdefault(unit, {})[rater] = answer
        pairable = {unit: a for unit, a in answers.items() if len(a) > 1}
        assert set(frame["unit"]) == set(pairable)
        d = sa.distances.masi
        weights = {
            unit: sum(d(x, y) for x, y in itertools.permutations(a.values(), 2)) / (len(a) - 1)
            for unit, a in pairable.items()
        }
        for row in frame.itertuples():
            given = pairable[row.unit]
            assert row.n_ratings == len(given)
            assert row.n_distinct == len(set(given.values()))
            assert row.disagreement == pytest.approx(weights[row.unit] / len(given))
            total = sum(weights.values())
            assert_same(row.share_of_disagreement, weights[row.unit] / total if total else np.nan)
        assert frame["disagreement"].is_monotonic_decreasing

    def test_answers_side_by_side(self):
        study = sa.Annotations.from_triples(
            [("ann", 1, "b, a"), ("ben", 1, set()), ("cem", 1, "a,b"), ("ann", 2, "z")]
        )
        frame = sa.by_unit(study)
        assert frame["answers"].tolist() == ["a, b: ann, cem | {}: ben"]
        assert frame["unit"].tolist() == [1]

    def test_tallies(self):
        """A tally gives the same numbers, with counts in the place of names."""
        table = pd.DataFrame({"a": [2, 2, 1], "a, b": [0, 1, 1]}, index=["u", "v", "w"])
        frame = sa.by_unit(sa.Tally.from_counts(table)).set_index("unit")
        assert frame.loc["v", "answers"] == "a: 2 x | a, b: 1 x"
        # masi(a, ab) = 2/3: v has two of three pairs apart, w its only one, u none.
        assert frame["disagreement"].to_dict() == pytest.approx({"w": 2 / 3, "v": 4 / 9, "u": 0})
        merged = sa.Tally.from_counts(table).merge(
            sa.Tally.from_counts(table.reset_index(drop=True))
        )
        assert len(sa.by_unit(merged)) == 6

    def test_a_tally_without_units(self):
        from dataclasses import replace

        tally = sa.Tally.from_counts(pd.DataFrame({"a": [2, 2, 1], "b": [0, 0, 1]}))
        frame = sa.by_unit(replace(tally, units=None, unit_patterns=None))
        assert frame["unit"].tolist() == [None] * 3

    def test_mv_alpha_has_no_closed_form(self):
        frame = sa.by_unit(walkthrough(), coefficient="mv_alpha")
        assert frame[["estimate_without", "influence"]].isna().all(axis=None)
        assert frame["disagreement"].notna().all()

    @pytest.mark.parametrize("limit", [0, -1, 2.5, True, "3"])
    def test_limit(self, limit):
        with pytest.raises(sa.SetagreeError, match="limit="):
            sa.by_unit(walkthrough(), limit=limit)

    def test_limited(self):
        whole = sa.by_unit(walkthrough())
        pd.testing.assert_frame_equal(sa.by_unit(walkthrough(), limit=3), whole.head(3))


class TestByGroup:
    def test_standard_errors_of_rounding(self):
        rows = [("x", "y")] * 7 + [("x", "x")] * 7
        study = sa.Annotations.from_triples(
            [(g, u, answer) for u, row in enumerate(rows) for g, answer in enumerate(row)]
        )
        frame = sa.by_group(study, {u: u // 7 for u in range(14)}, coefficient="gwet_ac")
        assert frame[["homogeneity_p_value", "difference_p_value"]].isna().all(axis=None)

    @pytest.mark.parametrize(
        "coefficient",
        ["krippendorff_alpha", "conger_kappa", "fleiss_kappa", "percent_agreement"],
    )
    def test_groups_are_studies_of_their_own(self, coefficient):
        study = incomplete()
        group = {unit: "xyz"[k % 3] for k, unit in enumerate(study.units)}
        frame = sa.by_group(study, group, coefficient=coefficient, level=0.9).set_index("group")
        score = getattr(sa, coefficient)
        for name, row in frame.iterrows():
            part = score(rebuilt(study, lambda r, u, v, n=name: group[u] == n), distance="masi")
            assert row["estimate"] == pytest.approx(part.estimate)
            assert (row["low"], row["high"]) == pytest.approx(part.interval(0.9))
            assert (row["n_units"], row["n_ratings"]) == (part.n_units, part.n_ratings)
            assert (row["n_values"], row["n_raters"]) == (part.n_values, part.n_raters)

    def test_columns_of_a_table(self):
        study = incomplete()
        group = {unit: k % 2 for k, unit in enumerate(study.units)}
        table = study.to_long().assign(labels=lambda t: t["labels"].map(sa.format_labels))
        table["batch"] = table["unit"].map(group)
        from_table = sa.by_group(table, "batch", reading=sa.Reading(blank="empty"), rng=1)
        from_mapping = sa.by_group(study, group, rng=1)
        pd.testing.assert_frame_equal(from_table, from_mapping, check_dtype=False)
        from_series = sa.by_group(study, pd.Series(group), rng=1)
        pd.testing.assert_frame_equal(from_series, from_mapping)

    def test_versions_of_the_same_units(self):
        study = sa.simulate(30, 3, rng=1).to_long().assign(version="first")
        again = sa.simulate(30, 3, rng=2).to_long().assign(version="second")
        frame = sa.by_group(pd.concat([study, again], ignore_index=True), "version")
        for name, table in (("first", study), ("second", again)):
            alpha = sa.krippendorff_alpha(sa.Annotations.from_long(table))
            row = frame.set_index("group").loc[name]
            assert row["estimate"] == pytest.approx(alpha.estimate)
            assert row["standard_error"] == pytest.approx(alpha.standard_error)

    def test_one_group(self):
        study = walkthrough()
        row = sa.by_group(study, dict.fromkeys(study.units, "all")).iloc[0]
        assert row["estimate"] == pytest.approx(sa.krippendorff_alpha(study).estimate)
        assert np.isnan(row["difference"])
        assert np.isnan(row["homogeneity_p_value"])

    def test_what_is_refused(self):
        study = walkthrough()
        table = study.to_long().assign(batch=None)
        for data, by, match in [
            (study, {"u1": 1}, "10 units of 11 have none in 'group'"),
            (study, dict.fromkeys(["U1", *study.units[1:]], 1), "Did you mean 'U1'"),
            (study, dict.fromkeys(study.units, " "), "11 units of 11 have none"),
            (study, dict.fromkeys(study.units, 1) | {"u1": None}, r"in 'group' \('u1'\)\.$"),
            (study, pd.Series([1, 2], index=["u1", "u1"]), "'u1' have several entries"),
            (study, "batch", r"no unit column 'batch'.*unit_columns=\['batch'\]"),
            (study, [1, 2], "a mapping or Series from unit"),
            (
                study,
                {unit: ["x"] for unit in study.units},
                r"must have text, a number or a date, not \['x'\]",
            ),
            (table, "batch", "32 rows of 32 have nothing in column 'batch'"),
            (table, "bach", "no column 'bach'"),
        ]:
            with pytest.raises(sa.SetagreeError, match=match):
                sa.by_group(data, by)
        used = "column is already used as the rater; name another"
        with pytest.raises(sa.SetagreeError, match=used):
            sa.by_group(table, "rater", reading=sa.Reading(rater="rater"))

    @pytest.mark.parametrize("blank", [None, " "])
    def test_rows_without_a_group_are_left_out(self, blank):
        table = walkthrough().to_long()
        table["batch"] = [k % 2 for k in pd.factorize(table["unit"])[0]]
        table["batch"] = table["batch"].astype(object)
        rest = table[table["unit"] != "u1"]
        n = len(table) - len(rest)
        table.loc[table["unit"] == "u1", "batch"] = blank
        with pytest.warns(sa.SetagreeWarning, match=f"{n} rows with nothing in column 'batch'"):
            found = sa.by_group(table, "batch", rng=1)
        pd.testing.assert_frame_equal(found, sa.by_group(rest, "batch", rng=1))


class TestOverTime:
    def test_windows_are_studies_of_their_own(self):
        study = incomplete()
        day = {unit: (k * 7) % 40 for k, unit in enumerate(study.units)}
        frame = sa.over_time(study, day, window=15, step=5)
        assert frame["start"].tolist() == list(range(0, 40, 5))
        for row in frame.itertuples():
            part = rebuilt(study, lambda r, u, v, w=(row.start, row.end): w[0] <= day[u] < w[1])
            assert row.estimate == pytest.approx(sa.krippendorff_alpha(part).estimate)
            assert row.n_units == part.n_units

    @pytest.mark.parametrize("at_once", [1, 60, 10**6])
    @pytest.mark.parametrize(
        "coefficient",
        ["krippendorff_alpha", "conger_kappa", "fleiss_kappa", "gwet_ac", "percent_agreement"],
    )
    def test_windows_together(self, monkeypatch, coefficient, at_once):
        """Windows that are scored together have every column of the studies by themselves.

        However many go together; some hold one unit, or units that nobody rated twice.
        """
        monkeypatch.setattr(grouping, "_BLOCK_RATINGS", at_once)
        study = incomplete()
        day = {unit: (k * 7) % 40 for k, unit in enumerate(study.units)}
        options = {"window": 3, "step": 2, "coefficient": coefficient}
        together = sa.over_time(study, day, **options)
        monkeypatch.setattr(grouping, "are_computed_together", lambda _: False)
        pd.testing.assert_frame_equal(together, sa.over_time(study, day, **options), rtol=1e-10)

    def test_a_time_for_every_annotation(self):
        study = sa.simulate(12, 2, n_labels=4, rng=3)
        table = study.to_long()
        day = table["unit"].str[1:].astype(int) + (table["rater"] == "r2")
        table["when"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(day, unit="D")
        alpha = sa.krippendorff_alpha(study)
        frame = sa.over_time(table, "when", window="60D")
        assert frame["estimate"].tolist() == pytest.approx([alpha.estimate])
        table.loc[0, "labels"] = None  # a row without an answer has no say
        assert sa.over_time(table, "when", window="1D")["n_units"].sum() == 12

    @pytest.mark.parametrize(("n", "step", "window"), [(50, 0.01, 0.05), (11, 0.1, 0.1)])
    def test_no_unit_falls_between_windows(self, n, step, window):
        study = sa.simulate(n, 2, rng=1)
        at = {unit: k * step for k, unit in enumerate(study.units)}
        frame = sa.over_time(study, at, window=window)
        assert frame["n_units"].sum() == n
        assert frame["end"].tolist()[:-1] == frame["start"].tolist()[1:]

    def test_time_zones(self):
        study = walkthrough()
        start = pd.Timestamp("2026-01-01 00:30", tz="Europe/Berlin")
        frame = sa.over_time(study, dict.fromkeys(study.units, start), window="1D")
        assert frame["start"].tolist() == [start]
        mixed = dict.fromkeys(study.units, start) | {"u1": pd.Timestamp("2026-01-01")}
        with pytest.raises(sa.SetagreeError, match="all with a time zone or none"):
            sa.over_time(study, mixed, window="1D")

    def test_dates(self):
        """Dates as text or Timestamps make windows of days; empty windows have no row."""
        study = walkthrough()
        start = pd.Timestamp("2026-01-01")
        when = {u: start + pd.Timedelta(days=k + 20 * (k > 5)) for k, u in enumerate(study.units)}
        frame = sa.over_time(study, when, window="7D")
        text = {u: str(t.date()) for u, t in when.items()}
        pd.testing.assert_frame_equal(
            sa.over_time(study, text, window="7D"), frame, check_dtype=False
        )
        assert frame["n_units"].sum() == 11
        assert pd.Timestamp(frame["start"].iloc[0]) == start
        assert frame["start"].diff().max() > pd.Timedelta("7D")
        table = study.to_long()
        table["when"] = table["unit"].map(when)
        pd.testing.assert_frame_equal(
            sa.over_time(table, "when", window="7D"), frame, check_dtype=False
        )

    def test_what_is_refused(self):
        study = walkthrough()
        number = {u: k for k, u in enumerate(study.units)}
        date, soon = (dict.fromkeys(study.units, x) for x in ("2026-01-01", "soon"))
        above, length = "must be a number above 0", "must be a length of time"
        for times, window, match in [
            *((number, window, above) for window in (0, -1, "7D", True, None, np.inf, np.nan)),
            *((date, window, length) for window in (7, "soon", "-1D")),
            (number, 1e-320, "more than 2,000 windows"),
            (number | {"u1": np.inf}, 1, "1 time of 11 are not finite numbers"),
            (soon, "1D", r"'soon' .* neither a number nor a date"),
        ]:
            with pytest.raises(sa.SetagreeError, match=match):
                sa.over_time(study, times, window=window)
        with pytest.raises(sa.SetagreeError, match="would make more than 2,000 windows"):
            sa.over_time(study, number, window=1, step=0.001)


@pytest.mark.slow
def test_the_best_of_six_raters_alike():
    """Of raters who are alike the best to leave out raises alpha by 0.02 on average (error 0.0015).

    80 studies of 50 units.
    """
    best = [sa.by_rater(sa.simulate(50, 6, rng=k)).iloc[0] for k in range(80)]
    assert np.mean([one["difference"] for one in best]) == pytest.approx(0.022, abs=0.004)


@pytest.mark.slow
@pytest.mark.parametrize("world", ["guess", "one label dominates", "incomplete", "blocks"])
def test_no_rater_of_raters_alike(world):
    rng, found, R = np.random.default_rng(3), 0, 6
    share = np.array([0.9, 0.05, 0.05]) if world == "one label dominates" else np.full(3, 1 / 3)
    for k in range(60):
        truth, n = rng.choice(3, 60, p=share), 60
        known = rng.random((n, R)) < (0 if world == "guess" else 0.6)
        if world == "blocks":  # three raters each rate 30 units, the first 30 of which are harder
            known &= (np.arange(n) >= 30)[:, None] | (rng.random((n, R)) < 0.4)
        answers = np.where(known, truth[:, None], rng.choice(3, (n, R), p=share))
        rates = np.full((n, R), True)
        if world == "incomplete":
            rates = rng.permuted(np.tile(np.arange(R) < 3, (n, 1)), axis=1)
        if world == "blocks":
            rates = (np.arange(R) < 3) == (np.arange(n) < 30)[:, None]
        rows = [(g, i, f"l{v}") for (i, g), v in np.ndenumerate(answers) if rates[i, g]]
        study = sa.Annotations.from_triples(rows, kind="category")
        found += bool((sa.by_rater(study, n_resamples=119, rng=k)["p_holm"] <= 0.05).any())
    assert stats.binomtest(found, 60).proportion_ci(0.95).low <= 0.07


class TestWhatIf:
    def test_all_that_was_tried_is_corrected_for(self):
        frame = sa.what_if(sa.simulate(40, 4, rng=2))
        p = frame["p_value"].dropna()
        assert (frame["n_tests"] == len(p)).all()
        assert len(p) > 4
        corrected = multipletests(p, method="holm")[1]
        assert frame["p_holm"].dropna().tolist() == pytest.approx(corrected.tolist())

    def test_large_sets_are_checked_once(self, monkeypatch):
        flags = np.random.default_rng(0).random((3, 15, 200)) < 0.5
        study = sa.Annotations.from_indicators(flags)
        checks = []
        check = build.check_overlap_function
        monkeypatch.setattr(
            build, "check_overlap_function", lambda *of: checks.append(1) or check(*of)
        )
        frame = sa.what_if(study)
        assert (frame["action"] == "drop label").sum() == 200
        assert len(checks) == 1

    def study(self):
        """Return a study of 40 units with words for labels."""
        return sa.simulate(40, 4, n_labels=3, labels=["joy", "anger", "fear"], missing=0.2, rng=5)

    def changed(self, study, rewrite):
        return sa.Annotations.from_triples([(r, u, rewrite(v)) for r, u, v in triples(study)])

    def check(self, row, part, whole):
        alpha = sa.krippendorff_alpha(part)
        compared = sa.compare(alpha, whole, design="same_units")
        assert row["estimate"] == pytest.approx(alpha.estimate)
        assert row["standard_error"] == pytest.approx(alpha.standard_error)
        assert row["difference"] == pytest.approx(compared.difference)
        assert row["difference_standard_error"] == pytest.approx(compared.standard_error)
        # by_rater has the one p of a rater.
        p = np.nan if row["action"] == "drop rater" else compared.p_value
        assert row["p_value"] == pytest.approx(p, nan_ok=True)
        assert ("by_rater" in str(row["reason"])) == (row["action"] == "drop rater")
        assert row["n_values"] == alpha.n_values
        assert row["n_units"] == alpha.n_units

    def test_each_change(self):
        study = self.study()
        whole = sa.krippendorff_alpha(study)
        parents = {"anger": "bad", "fear": "bad", "joy": None}
        frame = sa.what_if(
            study,
            merge=[["anger", "fear"]],
            exclude_labels=["joy"],
            exclude_raters=["r2"],
            parents=parents,
        )
        assert frame["action"].iloc[0] == "as it is"
        assert frame["estimate"].iloc[0] == whole.estimate
        assert frame["difference"].iloc[1:].is_monotonic_decreasing
        rows = {row["action"]: row for _, row in frame.iterrows()}

        def lifted(answer):
            return {"bad" if one in {"anger", "fear"} else one for one in answer}

        self.check(rows["merge"], self.changed(study, lifted), whole)
        self.check(rows["to parents"], self.changed(study, lifted), whole)
        self.check(rows["drop label"], self.changed(study, lambda a: a - {"joy"}), whole)
        self.check(rows["drop rater"], rebuilt(study, lambda r, u, v: r != "r2"), whole)
        assert rows["merge"]["target"] == "anger + fear"
        assert rows["to parents"]["target"] == "3 of 3 labels have an entry"

    def test_what_is_tried_unasked(self):
        frame = sa.what_if(self.study())
        assert set(frame["action"]) == {"as it is", "merge", "drop label", "drop rater"}
        assert (frame["action"] == "drop label").sum() == 3
        assert (frame["action"] == "drop rater").sum() == 4
        assert (frame["action"] == "merge").sum() == 3
        two = sa.what_if(sa.simulate(20, 2, rng=1))
        assert "drop rater" not in set(two["action"])

    def test_distances_that_know_labels(self):
        study = self.study()
        parents = {"joy": "good", "anger": "bad", "fear": "bad"}
        taxonomy = sa.distances.taxonomy(parents)
        frame = sa.what_if(study, merge=[["anger", "fear"]], distance=taxonomy)
        merged = self.changed(study, lambda a: {"anger" if x == "fear" else x for x in a})
        expected = sa.krippendorff_alpha(merged, distance=taxonomy).estimate
        assert frame["estimate"].iloc[1] == pytest.approx(expected)
        single = study_of([[{"a", "b"}, {"a"}], [{"a", "b"}, {"a", "b"}], [{"a"}, {"a"}]])
        known = sa.weights(single, "masi").to_frame(distance=True)
        frame = sa.what_if(single, distance=known).set_index("target")
        assert "no row" in frame.loc["a", "reason"]  # without a, {b} is not in the matrix
        with pytest.raises(sa.SetagreeError, match="drop label a: "):
            sa.what_if(single, exclude_labels=["a"], distance=known)

    def test_a_dropped_rater_takes_values_along(self):
        rows = [("ann", u, "ab"[u % 2]) for u in range(6)] + [
            ("ben", u, "aabbab"[u]) for u in range(6)
        ]
        rows += [("cat", u, "abcdef"[u]) for u in range(6)]
        study = sa.Annotations.from_triples(rows)
        frame = sa.what_if(
            study, exclude_raters=["cat"], coefficient="brennan_prediger", distance="nominal"
        )
        alone = sa.brennan_prediger(
            sa.Annotations.from_triples([r for r in rows if r[0] != "cat"]), distance="nominal"
        )
        assert frame["estimate"].iloc[1] == pytest.approx(alone.estimate)
        assert frame["n_values"].iloc[1] == 2

    def test_undefined_as_it_is(self):
        study = study_of([[{"a"}, {"a"}], [{"a"}, {"a"}]])
        row = sa.what_if(study, exclude_labels=["a"]).iloc[0]
        assert np.isnan(row["difference"])

    def test_labels_that_look_alike(self):
        with pytest.warns(sa.SetagreeWarning, match="look alike"):
            study = study_of([[{1}, {"1"}], [{"1"}, {"1"}]])
        frame = sa.what_if(study, exclude_labels=[1, "1"])
        assert set(frame["target"]) == {"", "1", "'1'"}

    def test_numbers(self):
        """Of numbers and categories, raters can be dropped."""
        study = sa.Annotations.from_triples(
            [(g, u, (u * 7 + 3 * g) % 5) for u in range(8) for g in range(3)], kind="value"
        )
        frame = sa.what_if(study, distance="interval")
        assert frame["action"].tolist() == ["as it is"] + ["drop rater"] * 3
        part = rebuilt(study, lambda r, u, v: r != 2)
        alpha = sa.krippendorff_alpha(part, distance="interval")
        assert frame.set_index("target").loc["2", "estimate"] == pytest.approx(alpha.estimate)

    def test_what_is_refused(self):
        numbers = sa.Annotations.from_triples([("x", 1, 1), ("y", 1, 2)], kind="value")
        alone, study = (
            sa.Annotations.from_triples([("x", 1, "a"), ("x", 2, "b")]),
            self.study(),
        )
        circle = {"anger": "fear", "fear": "anger"}
        for data, options, match in [
            (study, {"exclude_labels": ["ager"]}, r"has the label 'ager'\. Did you mean 'anger'"),
            (study, {"merge": [["joy", "bliss"]]}, "no rating has the label"),
            (study, {"merge": [[["joy"], "fear"]]}, "no rating has the label"),
            (study, {"merge": ["joy", "fear"]}, "must be a list of groups"),
            (study, {"merge": [5]}, "must be a list of groups"),
            (study, {"merge": [[]]}, "has a group without labels"),
            (study, {"exclude_labels": "joy"}, "exclude_labels='joy' must be a list"),
            (study, {"exclude_labels": [["joy"]]}, "no rating has the label"),
            (study, {"exclude_raters": "r1"}, "exclude_raters='r1' must be a list"),
            (study, {"exclude_raters": [["r1"]]}, r"rater \['r1'\] gave no answer"),
            (study, {"exclude_raters": ["r9"]}, "rater 'r9' gave no answer in this study"),
            (study, {"parents": circle}, "its own ancestor"),
            (numbers, {"exclude_labels": ["1"]}, "values are scalars"),
            (alone, {"exclude_raters": ["x"]}, "no rating would remain"),
        ]:
            with pytest.raises(sa.SetagreeError, match=match):
                sa.what_if(data, **options)

    def test_groups_that_are_sets_and_generators(self):
        study = sa.simulate(20, 3, rng=1)
        found = [
            sa.what_if(study, merge=[group])["estimate"].iloc[1]
            for group in (["l1", "l2"], {"l1", "l2"}, (name for name in ("l2", "l1")))
        ]
        assert found == pytest.approx([found[0]] * 3)


def timed(numbers, dtype):
    """Return a long table of two raters whose units have these times."""
    frame = pd.DataFrame(
        [(f"u{k:02}", rater, "ab"[k % 2]) for k in range(len(numbers)) for rater in ("x", "y")],
        columns=["unit", "rater", "labels"],
    )
    return frame.assign(t=np.repeat(np.array(numbers, dtype=dtype), 2))


def in_windows(numbers, width):
    """Return how many numbers lie in [first + k width, first + (k + 1) width), in a plain loop.

    The numbers are whole or decimal text, so that nothing is rounded.
    """
    exact, step = [Fraction(str(x)) for x in numbers], Fraction(str(width))
    counts = {}
    for x in exact:
        k = (x - min(exact)) // step
        counts[k] = counts.get(k, 0) + 1
    return [counts[k] for k in sorted(counts)]


class TestWindows:
    def test_a_window_of_numpy(self):
        numbers = list(range(10))
        found = sa.over_time(timed(numbers, int), "t", window=np.int64(3))
        assert found["n_units"].tolist() == in_windows(numbers, 3) == [3, 3, 3, 1]

    @pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "float32", "float64"])
    def test_small_whole_numbers(self, dtype):
        """A column of one byte, from -100 to 100, gives the windows of any other column."""
        numbers = list(range(-100, 101, 20))
        found = sa.over_time(timed(numbers, dtype), "t", window=30)
        assert found["n_units"].tolist() == in_windows(numbers, 30)
        assert found["start"].tolist() == list(range(-100, 101, 30))

    def test_whole_numbers_beyond_64_bits(self):
        numbers = [0, 2**63]
        found = sa.over_time(timed(numbers, "uint64"), "t", window=2.0**62)
        assert found["n_units"].tolist() == in_windows(numbers, 2**62)

    @pytest.mark.parametrize("step", [None, 0.1])
    def test_decimals(self, step):
        """Tenths fall each into a window of its own, although 3 x 0.1 is not 0.3 in binary."""
        numbers = [f"{k / 10:.1f}" for k in range(11)]
        found = sa.over_time(timed([float(x) for x in numbers], float), "t", window=0.1, step=step)
        assert found["n_units"].tolist() == in_windows(numbers, "0.1") == [1] * 11

    def test_decimals_far_from_zero(self):
        numbers = [f"1700000000.{k}" for k in range(10)]
        found = sa.over_time(timed([float(x) for x in numbers], float), "t", window=0.1, step=0.1)
        assert found["n_units"].sum() == 10
