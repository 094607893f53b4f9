"""Plans: the printed number of units is the least that does it, fewer raters are brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference_support import T1, noisy_rows, one_line, planned, score
from scipy import stats
from small_studies import annotations, text

import setagree as sa
from setagree.errors import (
    DataError,
    OptionError,
    SetagreeWarning,
    SparseRatersWarning,
    UndefinedAgreementWarning,
)
from setagree.inference.plan_goals import (
    Precision,
    RaterVariance,
    _mean_variance,
    _monotone,
    extended,
)
from setagree.inference.resampling import random_ranks

ROWS = noisy_rows(3, units=30, raters=4, missing=0.1)
PILOT = score(ROWS, "krippendorff_alpha")
COLUMNS = ["n_raters", "n_units", "standard_error", "half_width", "n_additional_units", "basis"]


def half_width(pilot, n, level=0.95):
    """Return t(n - 1) SE_n with SE_n = SE sqrt(n_pilot / n)."""
    se = pilot.standard_error * math.sqrt((pilot.degrees_of_freedom + 1) / n)
    return stats.t.ppf((1 + level) / 2, n - 1) * se


class TestUnits:
    @pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "conger_kappa"])
    @pytest.mark.parametrize("wanted", [0.3, 0.1, 0.05, 0.01])
    @pytest.mark.parametrize("level", [0.95, 0.8])
    def test_the_least_that_reaches_it(self, name, wanted, level):
        pilot = score(ROWS, name)
        row = planned(pilot, half_width=wanted, level=level).frame.iloc[0]
        n = int(row["n_units"])
        answers = [answer for row in ROWS for answer in row if answer is not None]
        rarer = 1 - max(map(answers.count, answers)) / len(answers)
        assert half_width(pilot, n, level) <= wanted
        assert half_width(pilot, n - 1, level) > wanted or (n - 1) * rarer < 4  # no interval
        assert row["half_width"] == pytest.approx(half_width(pilot, n, level))
        assert row["n_additional_units"] == max(0, n - len(pilot.influence))
        assert (row["n_raters"], row["basis"]) == (4, "pilot")

    @given(variance=st.floats(1e-6, 50), wanted=st.floats(0.01, 0.99))
    def test_for_any_variance(self, variance, wanted):
        def reach(n):
            return stats.t.ppf(0.975, n - 1) * math.sqrt(variance / n)

        (n,) = Precision(sa.PlanGoals(half_width=wanted), 0.5, 1.0, "alpha").units(variance)
        assert reach(n) <= wanted
        assert n == 2 or reach(n - 1) > wanted

    def test_units_given(self):
        frame = planned(PILOT, n_units=[20, len(PILOT.influence), 400]).frame
        assert frame["n_units"].tolist() == [20, len(PILOT.influence), 400]
        expected = [half_width(PILOT, n) for n in frame["n_units"]]
        assert frame["half_width"].tolist() == pytest.approx(expected)
        assert frame["standard_error"].iloc[1] == pytest.approx(PILOT.standard_error)
        assert frame["n_additional_units"].tolist() == [0, 0, 400 - len(PILOT.influence)]

    def test_the_pilots_own_interval(self):
        row = planned(PILOT, n_units=[len(PILOT.influence)]).frame.iloc[0]
        low, _ = PILOT.interval()
        assert row["half_width"] == pytest.approx(PILOT.estimate - low)

    def test_default_half_width(self):
        """Nothing said: 0.05."""
        assert planned(PILOT).frame.equals(planned(PILOT, half_width=0.05).frame)

    def test_a_study_for_a_pilot(self):
        study = annotations(ROWS)
        result = planned(study, half_width=0.1)
        assert result.agreement.coefficient == "krippendorff_alpha"
        assert result.frame.equals(planned(sa.krippendorff_alpha(study), half_width=0.1).frame)

    def test_a_tally_for_a_pilot(self):
        tally = sa.Tally.from_counts(pd.DataFrame({"a": [2, 0, 1, 3], "b": [1, 3, 2, 0]}))
        alpha = sa.krippendorff_alpha(tally)
        with pytest.warns(SetagreeWarning, match="its variance: .* 2.0 units, fewer than 4"):
            row = planned(alpha, half_width=0.2).frame.iloc[0]
        assert half_width(alpha, int(row["n_units"])) <= 0.2
        assert row["n_raters"] is None
        with (
            pytest.raises(
                DataError,
                match="a plan for other numbers of raters requires the rater and the unit",
            ),
            pytest.warns(SetagreeWarning),
        ):
            planned(alpha, n_raters=[2])

    def test_a_study_twice_as_large(self):
        small, large = (sa.simulate(n, 3, rng=1) for n in (400, 1600))
        wide = planned(small, n_units=[1600]).frame["half_width"].item()
        low, high = sa.krippendorff_alpha(large).interval()
        assert wide == pytest.approx((high - low) / 2, rel=0.1)


def brute_force(name, r, distance="masi"):
    """Return the mean of n SE² over all choices of r raters, each scored by itself."""
    found = []
    for kept in itertools.combinations(range(4), r):
        rows = [[row[g] for g in kept] for row in ROWS]
        part = score([row for row in rows if any(x is not None for x in row)], name, distance)
        found.append(part.standard_error**2 * (part.degrees_of_freedom + 1))
    return float(np.mean(found)), found


class TestRaters:
    @pytest.mark.parametrize(
        "name",
        ["krippendorff_alpha", "fleiss_kappa", "conger_kappa", "gwet_ac", "percent_agreement"],
    )
    def test_fewer_are_left_out(self, name):
        frame = planned(score(ROWS, name), n_units=[100], n_raters=[2, 3, 4]).frame
        assert frame["basis"].tolist() == ["raters left out", "raters left out", "pilot"]
        for r, se in zip((2, 3), frame["standard_error"], strict=False):
            assert se == pytest.approx(math.sqrt(brute_force(name, r)[0] / 100))

    def test_many_choices_are_drawn(self):
        options = {"n_units": [100], "n_raters": [2], "n_resamples": 3}
        found = [
            planned(PILOT, **options, rng=rng).frame["standard_error"].item() for rng in (1, 1, 2)
        ]
        _, each = brute_force("krippendorff_alpha", 2)
        means = {
            round(math.sqrt(np.mean(some) / 100), 12)
            for some in itertools.combinations_with_replacement(each, 3)
        }
        assert found[0] == found[1]
        assert {round(se, 12) for se in found} <= means

    def test_more_are_extended(self):
        """For more: through the pilot, the slope from fewer; by mean ratings a unit, some missing.

        With t = 1 / (ratings - 1) - that of the pilot and y = n SE² less that of the pilot, the
        slope is sum(t y) / sum(t²); 6 raters give 6 / 4 of the ratings of 4.
        """
        frame = planned(PILOT, n_units=[100], n_raters=[4, 6]).frame
        assert frame["basis"].tolist() == ["pilot", "extended"]
        ratings = {}
        for r in (2, 3, 4):
            each = []
            for kept in itertools.combinations(range(4), r):
                sizes = np.array([sum(row[g] is not None for g in kept) for row in ROWS])
                each.append(sizes[sizes >= 2].mean())
            ratings[r] = np.mean(each)
        here = PILOT.standard_error**2 * len(PILOT.influence)
        t = np.array([1 / (ratings[r] - 1) - 1 / (ratings[4] - 1) for r in (2, 3)])
        y = np.array([brute_force("krippendorff_alpha", r)[0] - here for r in (2, 3)])
        slope = (t @ y) / (t @ t)
        assert 0 < slope < here * (ratings[4] - 1)
        variance = here + slope * (1 / (1.5 * ratings[4] - 1) - 1 / (ratings[4] - 1))
        assert frame["standard_error"].iloc[1] == pytest.approx(math.sqrt(variance / 100))

    def test_extended_by_hand(self):
        """On the line 1 + 4 / (r - 1) it stays on the line."""
        assert extended(
            [RaterVariance(5, 2), RaterVariance(3, 3), RaterVariance(2, 5)], 9
        ) == pytest.approx(1.5)

    def test_never_below_what_raters_can_do(self):
        """A line that would fall below 0 is one through 0: no number of raters is worth all units.

        2 and 3 raters with 6 and 2: the line is -2 + 8 / (r - 1), 0 at 5 raters. With A = 0 and
        through the pilot's 2 at 3 raters, B = 4.
        """
        assert extended([RaterVariance(6, 2), RaterVariance(2, 3)], 9) == pytest.approx(4 / 8)

    def test_never_growing_with_raters(self):
        assert extended([RaterVariance(1, 2), RaterVariance(2, 3), RaterVariance(3, 4)], 50) == 3

    @pytest.mark.parametrize("seed", [174, 0, 1])
    def test_one_rater_more_never_hurts(self, seed):
        pilot = sa.krippendorff_alpha(sa.simulate(40, 4, rng=seed))
        found = planned(pilot, n_units=[40], n_raters=[4, 5, 6, 9, 20]).frame["standard_error"]
        assert found.iloc[0] == pytest.approx(pilot.standard_error)
        assert (found.diff().iloc[1:] < 0).all()

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("raters", "missing", "skill", "more"),
        [(4, 0.0, 0.5, 8), (5, 0.2, 0.8, 7)],
    )
    def test_near_studies_with_more_raters(self, raters, missing, skill, more):
        """On average a plan has the standard error of studies simulated with so many raters.

        A standard error of n units is sqrt(variance / n) with n the units of two ratings.
        """

        def pilot(seed, r):
            study = sa.simulate(200, r, missing=missing, skill=skill, rng=seed)
            return sa.krippendorff_alpha(study)

        ours, found = [], []
        for seed in range(25):
            frame = planned(pilot(seed, raters), n_units=[200], n_raters=[2, more], rng=1).frame
            ours.append(frame["standard_error"])
            found.append(
                [
                    one.standard_error * math.sqrt(one.n_pairable_units / 200)
                    for one in (pilot(1000 + seed, 2), pilot(2000 + seed, more))
                ]
            )
        ratio = np.mean(ours, axis=0) / np.mean(found, axis=0)
        assert ratio[0] == pytest.approx(1, abs=0.04)
        assert ratio[1] == pytest.approx(1, abs=0.09)

    def test_many_raters(self):
        """A curve of 40 raters rests on six numbers of them, all tried in well under a second.

        A number that is asked for is tried as well; all 39 would take 117 studies.
        """
        study = sa.simulate(20, 40, rng=1)
        alpha = sa.krippendorff_alpha(study)
        frame = planned(alpha, n_units=[50], n_raters=[50, 7], n_resamples=3, rng=1).frame
        assert frame["basis"].tolist() == ["extended", "raters left out"]
        generator, found = np.random.default_rng(1), []
        for r in (2, 4, 7, 12, 22):
            parts = [
                sa.krippendorff_alpha(study.take(np.isin(study.rater_codes, some)))
                for some in [generator.choice(40, r, replace=False) for _ in range(3)]
            ]
            mean = np.mean([part.standard_error**2 * 20 for part in parts])
            found.append(RaterVariance(mean, r))
        found.append(RaterVariance(alpha.standard_error**2 * 20, 40))
        expected = extended(found, 50)
        assert frame["standard_error"][0] == pytest.approx(math.sqrt(expected / 50))

    def test_no_free_lunch(self):
        for seed in range(4, 8):
            pilot = sa.krippendorff_alpha(sa.simulate(30, 4, rng=seed))
            frame = planned(pilot, half_width=0.05, n_raters=[2, 3, 4, 8, 50]).frame
            assert frame["n_units"].is_monotonic_decreasing
            assert (frame["standard_error"] > 0.01).all()

    def test_two_raters_tell_nothing_of_three(self):
        pilot = score([row[:2] for row in ROWS if any(row[:2])], "cohen_kappa")
        assert planned(pilot, n_raters=[2]).frame["basis"].item() == "pilot"
        with pytest.raises(DataError, match="two raters does not show the effect of more raters"):
            planned(pilot, n_raters=[3])

    def test_choices_without_a_standard_error(self):
        pilot = score(text("a a a / b b b / a a . / b b ."), "krippendorff_alpha")
        study = pilot.study
        none = np.zeros((2, study.n_ratings), dtype=bool)
        none[:, study.unit_codes == 0] = True
        with pytest.raises(DataError, match="2 raters of the pilot have no standard error"):
            _mean_variance(pilot, study, none, 2, total=2)

    def test_degenerate_choices_are_counted(self):
        pilot = score(text("a a . / b b . / a b a / b a ."), "krippendorff_alpha", "nominal")
        study = pilot.study
        two = [np.isin(study.rater_codes, some) for some in ((0, 1), (0, 2), (1, 2))]
        with pytest.warns(
            UndefinedAgreementWarning,
            match="2 raters of the pilot: of 3 choices 2 without a standard error .left out.; the",
        ):
            seen = _mean_variance(pilot, study, two, 2, total=3)
        one = sa.krippendorff_alpha(study.take(two[0]), distance="nominal")
        assert seen.variance == pytest.approx(one.standard_error**2 * 4)

    @pytest.mark.filterwarnings("ignore:the pilot is too small in its rarer answers")
    def test_perfect_choices_are_counted(self):
        pilot = score(text("a a b / b b b / a a a / b b a / c c c"), "krippendorff_alpha")
        study = pilot.study
        with pytest.warns(
            UndefinedAgreementWarning,
            match=r"of 3 choices 1 with one of 0 \(which lowers the mean\); the pilot is too",
        ):
            frame = planned(pilot, n_units=[50], n_raters=[2]).frame
        each = [
            sa.krippendorff_alpha(study.take(study.rater_codes != g)).standard_error
            for g in range(3)
        ]
        assert min(each) == 0
        # As it is less than that of all three, it is raised to it: one could leave one out.
        mean = max(5 * np.mean(np.square(each)), 5 * pilot.standard_error**2)
        assert frame["standard_error"].item() == pytest.approx(math.sqrt(mean / 50))

    @pytest.mark.filterwarnings("ignore:the pilot is too small in its rarer answers")
    def test_perfect_but_for_a_sparse_rater(self):
        pilot = score(text("a a b / b b . / a a . / b b ."), "krippendorff_alpha")
        with (
            pytest.warns(SparseRatersWarning),
            pytest.warns(UndefinedAgreementWarning),
            pytest.raises(DataError, match="2 raters of the pilot have no standard error above 0"),
        ):
            planned(pilot, n_raters=[2])

    def test_fewer_never_need_fewer(self):
        seen = {2: RaterVariance(2.0, 2), 3: RaterVariance(5.0, 3), 4: RaterVariance(3.0, 4)}
        assert _monotone(seen, dict.fromkeys((2, 3, 4), "x"), [2, 3, 4, 5]) == {
            2: (5.0, "x"),
            3: (5.0, "x"),
            4: (3.0, "x"),
            5: (3.0, "extended"),  # the slope from 2, 5, 3 is below 0
        }


def without(study, gone):
    """Return the study without some ratings: an array of bool, units x raters."""
    return study.take(~gone[study.unit_codes, study.rater_codes])


def crowd(seed, units=300, raters=40, each=3):
    """Return a study whose units each have some of many raters, drawn at random."""
    drawn = np.random.default_rng(seed).random((units, raters)).argsort(axis=1)
    return without(sa.simulate(units, raters, skill=0.8, rng=seed), drawn >= each)


class TestIncomplete:
    def sparse(self, seed=1):
        """Return 120 units by 5 raters, of whom the last rated 10, and the study of the others."""
        study = sa.simulate(120, 5, rng=seed)
        gone = np.zeros((120, 5), dtype=bool)
        gone[10:, 4] = True
        most = np.zeros((120, 5), dtype=bool)
        most[:, 4] = True
        return without(study, gone), without(study, most)

    @pytest.mark.parametrize("seed", range(3))
    def test_a_sparse_rater_is_left_out(self, seed):
        study, others = self.sparse(seed)
        said = "1 rater with fewer than half the .* ('r5' with 10 of 120 units).*one of 4 raters"
        with pytest.warns(SparseRatersWarning, match=said.replace("(", r"\(").replace(")", r"\)")):
            frame = planned(study, n_raters=[2, 3, 4, 5]).frame
        expected = planned(others, n_raters=[2, 3, 4, 5]).frame
        assert frame["standard_error"].tolist() == pytest.approx(
            expected["standard_error"].tolist(), rel=1e-9
        )
        assert frame["n_units"].tolist() == expected["n_units"].tolist()
        assert frame["basis"].tolist() == ["raters left out"] * 3 + ["extended"]
        assert frame["n_units"].is_monotonic_decreasing
        # Without a question about raters: as it is, 4 x 120 + 10 ratings on 120 units.
        row = planned(study).frame.iloc[0]
        assert (row["n_raters"], row["basis"]) == (pytest.approx(490 / 120), "pilot")

    def test_many_sparse_raters(self):
        study = sa.simulate(60, 9, rng=1)
        gone = np.zeros((60, 9), dtype=bool)
        gone[3:, 4:] = True
        with pytest.warns(SparseRatersWarning, match="^5 raters .* units and 2 more"):
            planned(without(study, gone), n_raters=[2])

    def test_turns(self):
        """Where raters take turns, the number is of ratings a unit: here each unit has 3."""
        study = crowd(1)
        frame = planned(study, n_raters=[2, 3, 5], rng=1).frame
        assert frame["basis"].tolist() == ["ratings left out", "pilot", "extended"]
        assert planned(study).frame["n_raters"].item() == 3
        assert frame["n_units"].iloc[1] == planned(study).frame["n_units"].item()
        assert frame["n_units"].is_monotonic_decreasing
        again = planned(study, n_raters=[2, 3, 5], rng=1).frame
        pd.testing.assert_frame_equal(frame, again)

    def test_turns_tell_what_fewer_ratings_give(self):
        of_three, of_two = (sa.krippendorff_alpha(crowd(2, 2000, each=n)) for n in (3, 2))
        error = (
            planned(of_three, n_units=[2000], n_raters=[2], rng=1).frame["standard_error"].item()
        )
        assert error == pytest.approx(of_two.standard_error, rel=0.05)

    def test_uneven_turns(self):
        """Units of 2 and of 3 ratings: 2 ratings are had by leaving out, 3 from those that have."""
        gone = np.random.default_rng(3).random((400, 5)).argsort(axis=1) >= 3
        gone[:100] |= np.random.default_rng(4).random((100, 5)).argsort(axis=1) >= 4
        study = without(sa.simulate(400, 5, rng=3), gone)
        ratings = np.bincount(study.unit_codes)
        pilot = planned(study).frame
        assert pilot["n_raters"].item() == pytest.approx(ratings[ratings >= 2].mean())
        frame = planned(study, n_raters=[2, 3, 4], rng=1).frame
        assert frame["basis"].tolist() == ["ratings left out", "ratings left out", "extended"]
        three = study.unit_codes[np.isin(study.unit_codes, np.flatnonzero(ratings >= 3))]
        part = study.take(np.isin(study.unit_codes, three))
        row = planned(part, n_units=[100], n_raters=[3]).frame.iloc[0]
        assert planned(study, n_units=[100], n_raters=[3]).frame["standard_error"].item() == (
            pytest.approx(row["standard_error"])
        )

    def test_random_ranks(self):
        """The ratings of each unit have the ranks 0, 1, ..., in any order."""
        units = annotations(ROWS).unit_codes
        ranks = random_ranks(units, np.random.default_rng(1))
        for unit in range(units.max() + 1):
            own = ranks[units == unit].tolist()
            assert sorted(own) == [*range(len(own))]

    @pytest.mark.filterwarnings("ignore:the pilot is too small in its rarer answers")
    def test_two_ratings_a_unit(self):
        pilot = score(text("a b . / . a b / a . c"), "krippendorff_alpha")
        frame = planned(pilot, n_units=[50], n_raters=[2]).frame
        assert frame["basis"].item() == "pilot"
        with pytest.raises(DataError, match="two raters does not show the effect of more raters"):
            planned(pilot, n_raters=[3])


class TestMultivalued:
    def test_planned_by_the_jackknife(self):
        study = sa.simulate(40, 3, rng=1)
        pilot = sa.mv_alpha(study)
        kept = [study.take(study.unit_codes != i) for i in range(40)]
        values = np.array([sa.mv_alpha(part).estimate for part in kept])
        se = math.sqrt(39 / 40 * ((values - values.mean()) ** 2).sum())
        row = planned(pilot, n_units=[40]).frame.iloc[0]
        assert row["standard_error"] == pytest.approx(se)
        assert (row["n_raters"], row["basis"], row["n_additional_units"]) == (3, "pilot", 0)
        frame = planned(pilot, n_raters=[2, 3, 4]).frame
        assert frame["n_units"].is_monotonic_decreasing

    @pytest.mark.slow
    def test_near_the_bootstrap(self):
        pilot = sa.mv_alpha(sa.simulate(100, 3, rng=1))
        boot = sa.bootstrap(pilot, n_resamples=1000, rng=1)
        error = planned(pilot, n_units=[100]).frame["standard_error"].item()
        assert error == pytest.approx(boot.standard_error, rel=0.1)


class TestResult:
    def test_frame(self):
        """A row for each number of raters and units, raters first."""
        result = planned(PILOT, n_units=[50, 100], n_raters=[3, 4])
        frame = result.to_frame()
        assert frame.columns.tolist() == COLUMNS
        assert frame[["n_raters", "n_units"]].to_numpy().tolist() == [
            [3, 50],
            [3, 100],
            [4, 50],
            [4, 100],
        ]
        assert (frame["half_width"] / frame["standard_error"]).tolist() == pytest.approx(
            [stats.t.ppf(0.975, n - 1) for n in (50, 100, 50, 100)]
        )

    def test_repr(self):
        """One line; as text a table that a person can act on."""
        result = planned(PILOT, half_width=0.1, n_raters=[2, 4])
        assert one_line(result)
        start = f"<Plan: {repr(PILOT)[1:-1]}; 2 rows. Intervals are about these raters."
        assert repr(result).startswith(start)
        assert '"about":"these raters"' in result.to_json().replace(": ", ":")
        pilot, table, about, _ = str(result).split("\n\n")
        assert f"<{pilot}>" == repr(PILOT)
        head, *lines = table.splitlines()
        assert " ".join(head.split()) == "raters units more units 95% interval se basis"
        assert lines[0].endswith("raters left out")
        assert about == "Intervals are about these raters."

    def test_already_reached(self):
        half = PILOT.estimate - PILOT.interval()[0]
        met = planned(PILOT, half_width=half + 1e-9)
        assert met.pilot_half_width == pytest.approx(half)
        assert met.frame["n_additional_units"].item() == 0
        assert f"already gives ± {half:.4f}, within the ± {half:g} of the goal" in met.reached
        assert met.reached in " ".join(str(met).split())
        for other in (planned(PILOT, half_width=half - 1e-3), planned(PILOT, n_units=[5])):
            assert other.reached == ""
            assert "already" not in str(other)

    def test_a_pilot_without_an_interval_reaches_nothing(self):
        rows = [(g, k, "b" if (g, k) == (2, 50) else "a") for k in range(51) for g in range(3)]
        with pytest.warns(SetagreeWarning, match="too small in its rarer answers"):
            plan = planned(sa.krippendorff_alpha(sa.Annotations.from_triples(rows)), half_width=0.1)
        assert plan.pilot_half_width < 0.1
        assert plan.reached == ""


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"half_width": 0.0}, "half_width=0.0 must lie between 0 and 1"),
            ({"half_width": "a"}, "half_width='a' must lie between 0 and 1"),
            ({"half_width": [0.1]}, r"half_width=\[0.1\] must lie between 0 and 1"),
            ({"half_width": True}, "half_width=True must lie between 0 and 1"),
            ({"half_width": math.nan}, "half_width=nan must lie between 0 and 1"),
            ({"half_width": 5}, "half_width=5 must lie between 0 and 1"),
            ({"half_width": 0.1, "n_units": [50]}, "or n_units= .what interval.., not both"),
            ({"half_width": 1e-9}, "half_width=1e-09 requires more than 100,000,000 units"),
            ({"n_units": 100}, "n_units=100 must be a list of whole numbers of 2 or more"),
            ({"n_units": []}, r"n_units=\[\] must be a list of whole numbers"),
            (
                {"n_units": [50, 1]},
                r"n_units=\[50, 1\] must be a list of whole numbers of 2 or more",
            ),
            ({"n_units": [50.5]}, r"n_units=\[50.5\] must be a list of whole numbers"),
            ({"n_units": "50"}, "n_units='50' must be a list of whole numbers"),
            ({"n_raters": 5}, "n_raters=5 must be a list of whole numbers of 2 or more"),
            ({"n_raters": [1]}, r"n_raters=\[1\] must be a list of whole numbers of 2 or more"),
            ({"level": 95}, "level=95 must lie between 0 and 1"),
            ({"n_resamples": 0}, "n_resamples=0 must be a whole number"),
            ({"rng": "x"}, "rng='x' is neither a seed"),
        ],
    )
    def test_options(self, options, said):
        """An option out of range is named with its value."""
        with pytest.raises(OptionError, match=said):
            planned(PILOT, **options)

    def test_numpy_numbers(self):
        assert planned(PILOT, n_units=np.array([50, 60])).frame["n_units"].tolist() == [50, 60]

    @pytest.mark.parametrize(
        ("rows", "name"),
        [
            ("a a / b b / c c", "krippendorff_alpha"),
            ("a a / a a", "fleiss_kappa"),
            ("a a / b ab", "mv_alpha"),
        ],
    )
    def test_nothing_follows_from_nothing(self, rows, name):
        with pytest.raises(DataError, match="no standard error above 0, so no plan follows"):
            planned(score(text(rows), name, "nominal"))

    def test_no_pilot(self):
        """A table of numbers is no study."""
        with pytest.raises(DataError, match="No column has a usual name for the unit"):
            planned(pd.DataFrame({"a": [1]}))


def test_walkthrough():
    """T1 with its se 0.15186146 on 11 units: 0.05 takes t(n - 1) x 0.50367 / sqrt(n) <= 0.05.

    For n = 392 that is 1.966 x 0.50367 / 19.799 = 0.05001, for n = 393 0.04995.
    """
    row = planned(sa.krippendorff_alpha(annotations(T1)), half_width=0.05).frame.iloc[0]
    assert (row["n_units"], row["n_additional_units"]) == (393, 382)


class TestTallies:
    @pytest.mark.parametrize("missing", [0.0, 0.1, 0.4])
    @pytest.mark.parametrize("keep_raters", [False, True])
    def test_turns(self, missing, keep_raters):
        """Where raters take turns a plan is for ratings a unit, not for all who ever rated."""
        study = sa.simulate(200, 4, missing=missing, rng=1)
        tally = sa.Tally.from_annotations(study, keep_raters=keep_raters)
        ours, theirs = (
            planned(sa.krippendorff_alpha(s), half_width=0.05).frame for s in (tally, study)
        )
        pd.testing.assert_frame_equal(ours, theirs, rtol=1e-12)
        counts = np.bincount(study.unit_codes)
        per_unit = counts[counts > 1].mean() if missing == 0.4 else 4
        assert ours["n_raters"][0] == pytest.approx(per_unit, abs=1e-12)

    def test_a_sparse_rater(self):
        study = sa.simulate(100, 3, rng=1)
        rows = [row for row in study.to_triples() if row[0] != "r3" or row[1] in study.units[:10]]
        study = sa.Annotations.from_triples(rows)
        tally = sa.Tally.from_annotations(study, keep_raters=True)
        ours, theirs = (
            planned(sa.krippendorff_alpha(s), half_width=0.05).frame for s in (tally, study)
        )
        assert ours["n_raters"][0] == theirs["n_raters"][0] == pytest.approx(2.1, abs=1e-12)
