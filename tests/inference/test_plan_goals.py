"""Plans with an assurance, for a test with a power, and for a cost."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference_support import noisy_rows, planned, score
from results_support import flat
from scipy import stats

import setagree as sa
from setagree.coefficients.score_interval import ScoreInterval
from setagree.errors import DataError, OptionError
from setagree.inference.plan_goals import PlanGoals, Precision, affordable_raters, unit_variance

PILOT = score(noisy_rows(3, units=30, raters=4, missing=0.1), "krippendorff_alpha")


def freedom(kurtosis, n):
    """Return the degrees of freedom of the chi-square with the variance of s² over sigma²."""
    return 2 / ((kurtosis - 3) / n + 2 / (n - 1))


def variances(n, raters, seeds, skill=0.8):
    studies = (sa.simulate(n, raters, skill=skill, rng=seed) for seed in seeds)
    return np.array([unit_variance(sa.krippendorff_alpha(study))[0] for study in studies])


def clustered(pilot):
    """Return the study of a pilot, its units in clusters of three."""
    study = pilot.study
    return study.sampled(cluster={unit: k // 3 for k, unit in enumerate(study.units)})


class TestAssurance:
    @pytest.mark.parametrize("name", ["krippendorff_alpha", "conger_kappa", "gwet_ac"])
    @pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
    def test_by_hand(self, name, share):
        """It is t SE sqrt(F), with the unbiased kurtosis of the influence (by scipy)."""
        pilot = score(noisy_rows(3, units=30, raters=4, missing=0.1), name)
        x = pilot.influence.dropna()
        K = stats.kurtosis(x, bias=False) + 3
        row = planned(pilot, n_units=[80], assurance=share).frame.iloc[0]
        F = stats.f.ppf(share, freedom(K, 80), freedom(K, len(x)))
        expected = stats.t.ppf(0.975, 79) * row["standard_error"] * math.sqrt(F)
        assert row["half_width"] == pytest.approx(expected)

    @pytest.mark.parametrize("wanted", [0.2, 0.05])
    def test_the_least_that_reaches_it(self, wanted):
        found = [planned(PILOT, half_width=wanted, assurance=a) for a in (0.6, 0.8, 0.9)]
        units = [plan.frame["n_units"].item() for plan in found]
        assert units == sorted(set(units))
        n = units[1]
        near = planned(PILOT, n_units=[n - 1, n], assurance=0.8).frame["half_width"].tolist()
        assert near[1] <= wanted < near[0]
        assert "80% of such studies" in flat(found[1])

    def test_a_tally(self):
        tally = sa.Tally.from_annotations(PILOT.study)
        ours, theirs = (
            planned(sa.krippendorff_alpha(x), half_width=0.1, assurance=0.8).frame["n_units"].item()
            for x in (tally, PILOT.study)
        )
        assert ours == theirs

    @pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")
    def test_clusters(self):
        """Clusters take the place of units: their number, and the kurtosis of their sums."""
        study = clustered(PILOT)
        alpha = sa.krippendorff_alpha(study)
        row = planned(study, n_units=[100], units_per_cluster=[4], assurance=0.8).frame.iloc[0]
        x = alpha.influence.dropna()
        place = {unit: k // 3 for k, unit in enumerate(study.units)}
        groups = np.array([place[unit] for unit in x.index])
        sizes = np.bincount(groups)
        sums = np.bincount(groups, x - x.mean()) / np.sqrt(1 - sizes / sizes.sum())
        K = stats.kurtosis(sums, bias=False) + 3
        F = stats.f.ppf(0.8, freedom(K, 25), freedom(K, len(sizes)))
        expected = stats.t.ppf(0.975, 24) * row["standard_error"] * math.sqrt(F)
        assert row["half_width"] == pytest.approx(expected)
        assert row["clusters"] == 25

    @pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")
    def test_unequal_clusters(self):
        """The pilot's variance has the degrees of freedom of its own interval, not clusters - 1."""
        study = sa.simulate(40, 3, rng=7)
        sizes = (1, 1, 1, 2, 2, 3, 5, 10, 15)
        of_unit = np.repeat(np.arange(9), sizes)
        study = study.sampled(cluster=dict(zip(study.units, of_unit.tolist(), strict=True)))
        alpha = sa.krippendorff_alpha(study)
        x, n_g, n = alpha.influence.to_numpy(), np.array(sizes), 40
        b = n_g**2 / (1 - n_g / n)
        df = n**2 / ((n_g**2).sum() + (b.sum() ** 2 - (b**2).sum()) / n**2)  # Bell and McCaffrey
        assert df < 5
        sums = np.bincount(of_unit, x - x.mean()) / np.sqrt(1 - n_g / n)
        K = stats.kurtosis(sums, bias=False) + 3
        row = planned(alpha, n_units=[100], units_per_cluster=[4], assurance=0.8).frame.iloc[0]
        F = stats.f.ppf(0.8, freedom(K, 25), 2 / ((K - 3) / 9 + 2 / df))
        expected = stats.t.ppf(0.975, 24) * row["standard_error"] * math.sqrt(F)
        assert row["half_width"] == pytest.approx(expected)

    def test_no_linearised_error(self):
        pilot = sa.mv_alpha(sa.simulate(30, 3, rng=1))
        x = sa.jackknife(pilot).values
        K = stats.kurtosis(x, bias=False) + 3
        row = planned(pilot, n_units=[80], assurance=0.8).frame.iloc[0]
        F = stats.f.ppf(0.8, freedom(K, 80), freedom(K, 30))
        expected = stats.t.ppf(0.975, 79) * row["standard_error"] * math.sqrt(F)
        assert row["half_width"] == pytest.approx(expected)

    def test_a_large_pilot_keeps_its_word(self):
        """Of 200 studies as large as planned, 80% reach the half width; without it, half do.

        The standard error of a share of 0.8 in 200 studies is 0.028.
        """
        pilot = sa.krippendorff_alpha(sa.simulate(4000, 3, skill=0.8, rng=1))
        realised = variances(80, 3, range(200))
        for assurance, share in ((0.8, 0.8), (None, 0.5)):
            row = planned(pilot, n_units=[80], assurance=assurance).frame.iloc[0]
            reached = stats.t.ppf(0.975, 79) * np.sqrt(realised / 80) <= row["half_width"]
            assert np.mean(reached) == pytest.approx(share, abs=0.1)

    def test_small_pilots_keep_their_word_on_average(self):
        realised = variances(150, 3, range(100))
        for assurance, low, high in ((0.8, 0.72, 0.88), (None, 0.4, 0.6)):
            shares = []
            for seed in range(60):
                pilot = sa.krippendorff_alpha(sa.simulate(50, 3, skill=0.8, rng=1000 + seed))
                row = planned(pilot, n_units=[150], assurance=assurance).frame.iloc[0]
                width = stats.t.ppf(0.975, 149) * np.sqrt(realised / 150)
                shares.append(np.mean(width <= row["half_width"]))
            assert low < np.mean(shares) < high


class TestBudget:
    @pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")
    def test_clusters_that_it_does_not_buy(self):
        plan = planned(
            clustered(PILOT),
            budget=60,
            per_rating=1,
            n_raters=[2, 4],
            units_per_cluster=[1, 6, 30],
        )
        assert plan.frame[["n_raters", "units_per_cluster"]].to_numpy().tolist() == [
            *([2, 1], [2, 6], [4, 1]),
        ]
        said = (
            "Left out, because 60 covers too few units for an interval: 30 units per cluster with "
            "2 or 4 ratings each; 6 units per cluster with 4 ratings each."
        )
        assert plan.left_out == said
        assert said in flat(plan)
        assert "clusters of 30" not in plan.larger_clusters
        assert "15 units in 15 clusters with 4 ratings each." in flat(plan)

    def test_raters_that_it_does_not_buy(self):
        plan = planned(PILOT, budget=40, per_rating=1, n_raters=[2, 30], rng=1)
        assert plan.left_out == (
            "Left out, because 40 covers too few units for an interval: units with 30 ratings each."
        )
        assert planned(PILOT, budget=400, per_rating=1, n_raters=[2, 3], rng=1).left_out == ""
        assert planned(PILOT, half_width=0.1).left_out == ""


class TestPower:
    @pytest.mark.parametrize("name", ["krippendorff_alpha", "conger_kappa"])
    def test_the_least_that_reaches_it(self, name):
        pilot = score(noisy_rows(3, units=30, raters=4, missing=0.1), name)
        threshold = pilot.estimate - 0.1
        plan = planned(pilot, at_least=threshold, power=0.9)
        n = plan.frame["n_units"].item()
        near = planned(pilot, at_least=threshold, n_units=[n - 1, n]).frame["power"].tolist()
        assert near[0] < 0.9 <= near[1]
        assert plan.frame["power"].item() == near[1]
        assert "95% confidence (one-sided)" in flat(plan)

    def test_defaults(self):
        """A threshold alone is planned for with power 0.8, a power alone against 0."""
        pd.testing.assert_frame_equal(
            planned(PILOT, at_least=0.1).frame, planned(PILOT, at_least=0.1, power=0.8).frame
        )
        pd.testing.assert_frame_equal(
            planned(PILOT, power=0.8).frame, planned(PILOT, at_least=0.0, power=0.8).frame
        )

    def test_the_bound_is_named(self):
        said = "is above 0 (at_least= names another bound), if"
        assert said in flat(planned(PILOT, power=0.8))
        assert "is above 0.1, if" in flat(planned(PILOT, at_least=0.1))

    @pytest.mark.parametrize("name", ["krippendorff_alpha", "mv_alpha"])
    def test_a_pilot_of_few_units_is_doubted(self, name):
        few = sa.agreement(sa.simulate(12, 3, rng=1), coefficient=name)[name]
        said = flat(planned(few, half_width=0.1))
        low, high = re.search(r"may be anywhere from (.*) to (.*) \(95%", said).groups()
        assert float(low) < few.estimate < float(high)
        assert "A pilot of 12 units shows little" in said
        assert "assurance=0.8 allows for that" in said
        assert "allows for that" not in flat(planned(few, half_width=0.1, assurance=0.8))
        assert "allows for that" not in flat(planned(few, power=0.8))
        assert "shows little" not in flat(planned(PILOT, half_width=0.1))

    @pytest.mark.parametrize("n", [15, 60, 500])
    @pytest.mark.parametrize("ahead", [0.5, 1.7, 3.0])
    def test_of_t_by_scipy(self, n, ahead):
        test = Precision(PlanGoals(at_least=0.3), 0.3 + ahead / math.sqrt(n), 1.0, "alpha")
        expected = stats.nct.sf(stats.t.ppf(0.95, n - 1), n - 1, ahead)
        assert test.power(1.0, n) == pytest.approx(expected, abs=0.01)

    def test_a_pilot_at_the_threshold(self):
        test = Precision(PlanGoals(at_least=0.3), 0.3, 1.0, "alpha")
        assert test.power(1.0, 60) == pytest.approx(0.05, abs=2e-3)

    @pytest.mark.parametrize("Do", [0.8, 0.4])  # p = 1 and 1/2: q is z², or t(z)²
    def test_of_the_score_by_hand(self, Do):
        """Th0 is 0.7, th 0.4, V(th0) = 0.8 th0 + 2 th0²; a plan of twice the variance per unit."""
        score = ScoreInterval(50, 49, Do, 1, 1, 0.8, 2, 0, math.nan, math.nan, None)
        test = Precision(PlanGoals(at_least=0.3), 0.6, 1.0, "alpha", score=score)
        q = (stats.norm.ppf(0.95) if Do == 0.8 else stats.t.ppf(0.95, 9)) ** 2
        reach = math.sqrt(2 * q / 10 * (0.8 * 0.7 + 2 * 0.7**2))
        expected = stats.norm.cdf((0.3 - reach) / math.sqrt(2.0 / 10))
        assert test.power(2.0, 10) == pytest.approx(expected, abs=1e-9)

    @pytest.mark.slow
    @pytest.mark.parametrize(("raters", "skill"), [(3, 0.9), (2, 0.85)])
    def test_simulated(self, raters, skill):
        """What a large pilot promises comes true in 300 studies, to 0.08 (standard error 0.03)."""
        pilot = sa.krippendorff_alpha(sa.simulate(20_000, raters, skill=skill, rng=99))
        seeds = range(1000, 1300)
        found = [sa.krippendorff_alpha(sa.simulate(60, raters, skill=skill, rng=s)) for s in seeds]
        for below in (0.1, 0.15):
            threshold = pilot.estimate - below
            promised = planned(pilot, n_units=[60], at_least=threshold).frame["power"].item()
            lows = np.array([one.interval(0.9, method="score")[0] for one in found])
            assert np.mean(lows > threshold) == pytest.approx(promised, abs=0.08)

    @pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")
    def test_clusters(self):
        """Alike units in clusters take more of them for the same power."""
        study = clustered(PILOT)
        plan = planned(study, at_least=0.1, power=0.8, units_per_cluster=[1, 10])
        one_by_one, together = plan.frame["n_units"]
        assert together >= one_by_one
        assert (plan.frame["power"] >= 0.8).all()

    def test_other_raters(self):
        options = {"n_units": [40], "at_least": PILOT.estimate - 0.15, "n_raters": [2, 4]}
        few, more = planned(PILOT, **options, rng=1).frame["power"]
        assert few < more


class TestRarerAnswers:
    """Studies whose rarer answers weigh less than four units have no interval."""

    NOISY = sa.percent_agreement(
        sa.simulate(600, 3, n_labels=1, prevalence=0.1, skill=0.9, rng=1), distance="nominal"
    )

    def test_half_of_the_studies_have_an_interval(self):
        q = self.NOISY.inference.n_rarer / 600
        frame = planned(self.NOISY, half_width=0.3).frame
        assert frame["n_units"].item() == math.ceil(4 / q)
        assert (frame["half_width"] < 0.2).all()

    def test_a_share_of_the_studies_has_an_interval(self):
        q = self.NOISY.inference.n_rarer / 600
        n = planned(self.NOISY, half_width=0.3, assurance=0.8).frame["n_units"].item()
        assert stats.binom.sf(4, n, q) < 0.8 < stats.binom.sf(3, n, q)

    def test_the_power_includes_the_interval(self):
        """Without disagreement, the units with the rarer answer are binomial."""
        q = self.NOISY.inference.n_rarer / 600
        test = Precision(PlanGoals(at_least=-1), 0.9, 1e-12, "alpha", rarer=q)
        for n in (40, 60, 80, 100):
            more_than_four, at_least_four = stats.binom.sf([4, 3], n, q)
            assert more_than_four < test.power(1e-12, n) < at_least_four

    def test_the_power_comes_true(self):
        """In 200 studies, to 0.08 (standard error 0.03)."""
        n = planned(self.NOISY, at_least=0.3).frame["n_units"].item()
        seeds = range(1000, 1200)
        found = [sa.simulate(n, 3, n_labels=1, prevalence=0.1, skill=0.9, rng=s) for s in seeds]
        tests = [sa.at_least(sa.percent_agreement(one, distance="nominal"), 0.3) for one in found]
        assert np.mean([one.passes for one in tests]) == pytest.approx(0.85, abs=0.08)

    def test_a_difference_has_an_interval_if_both_have(self):
        both = sa.agreement(
            self.NOISY.study,
            coefficient=["percent_agreement", "krippendorff_alpha"],
            distance="nominal",
        )
        frame = sa.plan(sa.compare(*both), PlanGoals(half_width=0.9)).frame
        assert frame["n_units"].item() == math.ceil(4 * 600 / self.NOISY.inference.n_rarer)

    def test_few_units_are_named(self):
        said = flat(planned(self.NOISY, n_units=[10, 20, 300]))
        assert "Most studies of at most 20 units have no interval, because" in said
        assert "weigh less than 4 units" in said
        assert "have no interval" not in flat(planned(self.NOISY, n_units=[300]))

    def test_a_requested_t_interval_needs_none(self):
        by_t = sa.agreement(
            self.NOISY.study, coefficient="percent_agreement", distance="nominal", interval="t"
        )[0]
        assert planned(by_t, half_width=0.3).frame["n_units"].item() < 10


def best_by_hand(frame, per_unit, per_rating, budget):
    """Return the raters of the least half width, where units are what the budget buys."""
    widths = {}
    for row in frame.itertuples():
        n = int(budget // (per_unit + per_rating * row.n_raters))
        variance = row.standard_error**2 * row.n_units
        widths[row.n_raters] = stats.t.ppf(0.975, n - 1) * math.sqrt(variance / n)
    return min(widths, key=widths.get), widths


def uneven(n, raters, seed):
    """Return a study in which every third unit is hard."""
    rows = []
    for name, skill, size in (("easy", 0.97, n - n // 3), ("hard", 0.3, n // 3)):
        part = sa.simulate(size, raters, skill=skill, rng=[seed, size])
        rows += [(r, f"{name}{unit}", value) for r, unit, value in part.to_triples()]
    return sa.Annotations.from_triples(rows)


class TestCosts:
    @pytest.mark.parametrize("costs", [(0.0, 1.0), (2.0, 0.5), (10, 1)])
    def test_for_a_budget(self, costs):
        asked = {"per_unit": costs[0], "per_rating": costs[1], "rng": 1}
        plan = planned(PILOT, budget=500.0, **asked)
        known = planned(PILOT, n_units=[100], n_raters=list(range(2, 9)), rng=1).frame
        raters, widths = best_by_hand(known, *costs, 500.0)
        assert plan.frame["n_raters"].tolist() == list(widths)
        assert plan.frame["half_width"].tolist() == pytest.approx(list(widths.values()))
        assert plan.best["n_raters"] == raters
        assert (plan.frame["cost"] <= 500).all()
        more = plan.frame["cost"] + costs[0] + costs[1] * plan.frame["n_raters"]
        assert (more > 500).all()

    @pytest.mark.parametrize("goal", [{"half_width": 0.1}, {"at_least": 0.1, "power": 0.9}])
    def test_least_cost(self, goal):
        plan = planned(PILOT, **goal, per_unit=1.0, per_rating=2.0, n_raters=[2, 3, 4, 6], rng=1)
        free = planned(PILOT, **goal, n_raters=[2, 3, 4, 6], rng=1).frame
        assert plan.frame["n_units"].tolist() == free["n_units"].tolist()
        cost = free["n_units"] * (1 + 2 * free["n_raters"])
        assert plan.frame["cost"].tolist() == cost.tolist()
        assert plan.best["cost"] == cost.min()
        assert f"The smallest cost, {cost.min():g}: " in flat(plan)

    def test_of_given_units(self):
        plan = planned(PILOT, n_units=[50, 100], per_rating=1)
        assert plan.frame["cost"].tolist() == [50 * 4, 100 * 4]
        assert plan.best is None
        assert "smallest" not in flat(plan)

    @given(
        A=st.floats(0.01, 5),
        B=st.floats(0.01, 5),
        unit=st.floats(0, 20),
        rating=st.floats(0.1, 5),
    )
    def test_where_the_best_is(self, A, B, unit, rating):
        """On A + B / (r - 1) the cheapest whole r lies beside 1 + sqrt((B / A)(1 + unit / rating)).

        Without a cost of units that is 1 + sqrt(B / A).
        """
        price = sa.PlanCosts(per_unit=unit, per_rating=rating)
        best = 1 + math.sqrt(B / A * (1 + unit / rating))
        raters = np.arange(2, math.ceil(best) + 3)
        costs = [(A + B / (r - 1)) * price.total(1, r) for r in raters]
        assert abs(raters[int(np.argmin(costs))] - max(best, 2)) < 1

    @pytest.mark.slow
    def test_a_curve_that_studies_follow(self):
        """Where units are not equally hard, n SE² of 2 to 8 raters lies on A + B / (r - 1), to 5%.

        A pilot of 60 units chooses a number of raters that costs at most 5% of the half width.
        """
        raters = np.arange(2, 9)
        seen = np.array(
            [unit_variance(sa.krippendorff_alpha(uneven(3000, r, 1)))[0] for r in raters]
        )
        terms = np.stack([np.ones(len(raters)), 1 / (raters - 1)], axis=1)
        (A, B), *_ = np.linalg.lstsq(terms / seen[:, None], np.ones(len(raters)), rcond=None)
        assert A > 0
        assert B > 0
        assert terms @ [A, B] == pytest.approx(seen, rel=0.05)
        for unit in (0.0, 5.0):
            cost = dict(zip(raters.tolist(), seen * (unit + raters), strict=True))
            pilot = uneven(60, 4, 2)
            chosen = planned(pilot, budget=2000.0, per_unit=unit, per_rating=1.0, rng=1).best
            assert math.sqrt(cost[chosen["n_raters"]] / min(cost.values())) < 1.05
            assert abs(chosen["n_raters"] - (1 + math.sqrt(B / A * (1 + unit)))) < 1.5

    def test_which_raters_are_tried(self):
        alphas = {r: sa.krippendorff_alpha(sa.simulate(20, r, rng=1)) for r in (2, 4, 8)}
        assert affordable_raters(alphas[2]) == [2]
        assert affordable_raters(alphas[4]) == list(range(2, 9))
        assert affordable_raters(alphas[8])[:9] == list(range(2, 11))
        assert affordable_raters(alphas[8])[-1] == 16
        two = planned(alphas[2], budget=100.0, per_rating=1.0)
        assert (two.best["n_raters"], two.best["n_units"]) == (2, 50)
        assert "50 units with 2 ratings each. More raters were not tried." in flat(two)

    def test_assured(self):
        """With an assurance the half widths are those, and the best is the narrowest of them."""
        options = {"budget": 500.0, "per_rating": 1.0, "rng": 1}
        wide, narrow = (planned(PILOT, **options, assurance=a) for a in (0.9, None))
        assert (wide.frame["half_width"] > narrow.frame["half_width"]).all()
        assert wide.best["half_width"] == wide.frame["half_width"].min()

    @pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")
    def test_clusters(self):
        """Each number of raters is tried in each size of clusters."""
        plan = planned(
            clustered(PILOT),
            budget=600.0,
            per_rating=1.0,
            n_raters=[2, 4],
            units_per_cluster=[1, 5],
        )
        assert plan.frame[["n_raters", "units_per_cluster", "n_units"]].to_numpy().tolist() == [
            [2, 1, 300],
            [2, 5, 300],
            [4, 1, 150],
            [4, 5, 150],
        ]

    @pytest.mark.filterwarnings("ignore:the pilot is too small in its rarer answers")
    def test_a_tally(self):
        """Who gave what must be known where raters are compared, as for `raters`."""
        tally = sa.krippendorff_alpha(sa.Tally.from_annotations(PILOT.study))
        with pytest.raises(DataError, match="the best number of raters requires the rater"):
            planned(tally, budget=100.0, per_rating=1.0)
        counts = pd.DataFrame({"a": [2, 0, 1, 3], "b": [1, 3, 2, 0]})
        alpha = sa.krippendorff_alpha(sa.Tally.from_counts(counts))
        row = planned(alpha, n_units=[50], per_unit=1.0, per_rating=2.0).frame.iloc[0]
        assert (row["n_raters"], row["cost"]) == (3, 50 * (1 + 2 * 3))


def compared(n, seed):
    """Return alpha of three raters by MASI less that by nominal distance, on the same units."""
    study = sa.simulate(n, 3, skill=0.9, rng=seed)
    by_name = sa.agreement(study, distance=["masi", "nominal"])
    return sa.compare(by_name["alpha", "masi"], by_name["alpha", "nominal"])


class TestDifferences:
    @pytest.mark.parametrize("threshold", [0.0, -0.05])
    def test_by_hand(self, threshold):
        pilot = compared(40, 1)
        value, error = pilot.difference, pilot.standard_error
        frame = planned(pilot, n_units=[20, 80], at_least=threshold).frame
        for row in frame.itertuples():
            se = error * math.sqrt(40 / row.n_units)
            quantile = stats.t.ppf(0.95, row.n_units - 1)
            expected = stats.nct.sf(quantile, row.n_units - 1, (value - threshold) / se)
            assert row.standard_error == pytest.approx(se)
            assert row.half_width == pytest.approx(stats.t.ppf(0.975, row.n_units - 1) * se)
            assert row.power == pytest.approx(expected, abs=0.01)
        plan = planned(pilot, at_least=threshold, power=0.9)
        n = plan.frame["n_units"].item()
        near = planned(pilot, n_units=[n - 1, n], at_least=threshold).frame["power"]
        assert near[0] < 0.9 <= near[1]
        assert f"the difference is above {threshold:g}" in flat(plan)
        assert repr(plan).startswith("<DifferencePlan: first krippendorff_alpha [masi], second ")

    @pytest.mark.slow
    def test_simulated(self):
        """Of 200 studies as many show it as a large one says, to 0.1 (standard error 0.03)."""
        pilot = compared(6000, 99)
        threshold = pilot.difference - 0.03
        promised = planned(pilot, n_units=[40], at_least=threshold).frame["power"].item()
        found = [compared(40, seed) for seed in range(200)]
        lows = np.array([one.interval(0.9)[0] for one in found])
        assert 0.3 < promised < 0.95
        assert np.mean(lows > threshold) == pytest.approx(promised, abs=0.1)

    def test_half_width(self):
        pilot = compared(60, 2)
        row = planned(pilot, half_width=0.02).frame.iloc[0]
        assert row["half_width"] <= 0.02
        assert row["n_additional_units"] == max(0, row["n_units"] - 60)
        assert "power" not in row

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (
                {"at_least": 0.9, "power": 0.8},
                "at_least=0.9 is not below 0.*, the difference of the pilot",
            ),
            ({"n_raters": [2]}, "n_raters= is for the plan of a coefficient, not of a difference"),
            ({"assurance": 0.8}, "assurance= is for the plan of a coefficient"),
            ({"cluster": "document"}, "cluster= is given to the studies, before"),
        ],
    )
    def test_refusals(self, options, said):
        with pytest.raises(OptionError, match=said):
            planned(compared(40, 1), **options)

    @pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")
    def test_other_designs(self):
        """Independent studies, clusters and known populations are not planned.

        Of 61 units 60 tell nearly all, so that the pilot's standard error is no guide to others.
        Nor is what has no spread.
        """
        apart = sa.compare(PILOT, PILOT, design="independent")
        with pytest.raises(OptionError, match="here they are independent studies"):
            planned(apart)
        study = clustered(PILOT)
        alphas = [sa.krippendorff_alpha(study, distance=d) for d in ("masi", "nominal")]
        with pytest.raises(OptionError, match="drawn one by one; here 10 clusters"):
            planned(sa.compare(*alphas))
        known = sa.simulate(60, 3, rng=1).sampled(population_size=61)
        alphas = [sa.krippendorff_alpha(known, distance=d) for d in ("masi", "nominal")]
        with pytest.raises(OptionError, match="drawn one by one; here a population of 61"):
            planned(sa.compare(*alphas))
        with pytest.raises(DataError, match="has no standard error above 0"):
            planned(sa.compare(PILOT, PILOT))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"assurance": 80}, "assurance=80 must lie between 0 and 1"),
        ({"power": 1.0}, "power=1.0 must lie between 0 and 1"),
        ({"at_least": 1}, "at_least=1 must be a number from -1 to below 1"),
        ({"at_least": "a"}, "at_least='a' must be a number from -1 to below 1"),
        (
            {"at_least": 0.99, "power": 0.8},
            r"at_least=0.99 is not below 0\.\d{4}, the .* of the pilot",
        ),
        ({"power": 0.8, "half_width": 0.1}, "half_width= .how many units.. or power= "),
        (
            {"budget": 100, "per_rating": 1, "n_units": [10]},
            "n_units= .what interval.. or budget= .",
        ),
        ({"budget": 100}, "needs per_rating=, the cost of a rating"),
        ({"per_unit": 1}, "needs per_rating="),
        ({"goals": 0.05}, r"goals=0.05 must be sa.PlanGoals\(...\)"),
        ({"per_rating": 0}, "per_rating=0 must be a number above 0"),
        ({"per_rating": 1, "per_unit": -1}, "per_unit=-1 must be a number 0 or more"),
        ({"per_rating": 1, "budget": math.inf}, "budget=inf must be a number above 0"),
        ({"per_rating": 1, "budget": True}, "budget=True must be a number above 0"),
        ({"per_rating": 1, "budget": 3}, "budget=3 covers fewer than two units"),
        (
            {"power": 0.8, "at_least": PILOT.estimate - 1e-9},
            "power=0.8 requires more than 100,000,000",
        ),
    ],
)
def test_refusals(options, said):
    """A wish out of range, or one that does not go with another, is named with its value."""
    with pytest.raises(OptionError, match=said):
        planned(PILOT, **options)
