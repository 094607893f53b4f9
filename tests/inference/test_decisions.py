"""Thresholds and acceptance sampling: worked figures and what the sentences say."""

import warnings
from fractions import Fraction
from math import ceil, comb, floor

import numpy as np
import pytest
from diagnosis_support import walkthrough
from scipy import stats

import setagree as sa
from setagree.errors import DataError, OptionError


def test_at_least_is_the_low_end_of_the_score_interval_of_90_percent():
    found = sa.at_least(walkthrough(), 0.1)
    assert found.low == pytest.approx(0.1273285, abs=5e-8)
    assert found.high == pytest.approx(0.6740731, abs=5e-8)
    assert found.passes
    assert found.verdict == (
        "Krippendorff's alpha is at least 0.1: with 95% confidence (these raters) it is at "
        "least 0.1273."
    )


def test_at_least_says_below_and_undecided():
    assert sa.at_least(walkthrough(), 0.7).verdict.startswith("Krippendorff's alpha is below 0.7")
    undecided = sa.at_least(walkthrough(), 0.3)
    assert not undecided.passes
    assert undecided.verdict.startswith("Not shown: Krippendorff's alpha is 0.4026")


def test_at_least_takes_tables_and_says_why_not():
    table = sa.at_least(sa.agreement(walkthrough()), 0.1)
    assert table.to_frame()["passes"].tolist() == [True, True]
    alike = sa.Annotations.from_triples([("ann", 1, "a"), ("ben", 1, "a"), ("ann", 2, "a")])
    with pytest.warns(sa.UndefinedAgreementWarning):
        assert sa.at_least(alike, 0.1).verdict.startswith("No verdict: ")
    for wrong in (1.0, "much"):
        with pytest.raises(OptionError, match="must be a number below 1"):
            sa.at_least(walkthrough(), wrong)
    with pytest.raises(OptionError, match=r"must be above 0\.5"):
        sa.at_least(walkthrough(), 0.5, level=0.4)


@pytest.mark.parametrize(("n_odd", "has_verdict"), [(1, False), (7, False), (8, True)])
def test_no_verdict_on_too_rare_answers(n_odd, has_verdict):
    rows = [(rater, k, "b" if k < n_odd and rater == "ann" else "a") for k in range(20)
            for rater in ("ann", "ben")]  # fmt: skip
    alpha = sa.krippendorff_alpha(sa.Annotations.from_triples(rows))
    found, judged = sa.at_least(alpha, 0.39), sa.benchmark(alpha)
    assert np.isfinite(found.low) == has_verdict
    assert found.verdict.startswith("No verdict: too few rarer answers") != has_verdict
    assert found.passes is False
    assert judged.verdict.startswith("none: Too few rarer answers") != has_verdict
    assert judged.levels["membership"].notna().all() == has_verdict


def test_a_threshold_that_t_reaches_is_doubted():
    study = sa.simulate(100, 3, skill=0.95, rng=1)
    strata = {unit: "ab"[k % 2] for k, unit in enumerate(study.units)}
    drawn = study.sampled(strata=strata, population_size={"a": 500, "b": 500})
    with pytest.warns(sa.SetagreeWarning, match="is at least 0.667 rests on its t interval"):
        assert sa.at_least(drawn, 0.667).passes
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not sa.at_least(drawn, 0.95).passes
        assert sa.at_least(study, 0.667).passes


def test_the_worked_acceptance_plan():
    plan = sa.acceptance_plan(acceptable_rate=0.02, rejectable_rate=0.10)
    assert (plan.n, plan.c) == (65, 3)
    assert plan.accepts(0.02) == pytest.approx(stats.binom.cdf(3, 65, 0.02))
    assert plan.accepts(0.10) <= 0.10


@pytest.mark.parametrize(("good", "bad"), [(0.01, 0.05), (0.02, 0.1), (0.05, 0.2), (0.2, 0.4)])
def test_no_smaller_plan_keeps_both_risks(good, bad):
    plan = sa.acceptance_plan(acceptable_rate=good, rejectable_rate=bad)
    for n in range(1, plan.n):
        c = np.arange(n + 1)
        keeps = (stats.binom.cdf(c, n, good) >= 0.95) & (stats.binom.cdf(c, n, bad) <= 0.10)
        assert not keeps.any()


@pytest.mark.parametrize("lot", [1, 4, 17, 40, 100])
@pytest.mark.parametrize(("good", "bad"), [("0.02", "0.1"), ("0.1", "0.3")])
def test_a_plan_for_a_small_delivery_is_the_smallest(lot, good, bad):
    def accepted(n, c, wrong):
        ways = sum(comb(wrong, k) * comb(lot - wrong, n - k) for k in range(c + 1) if k <= n)
        return Fraction(ways, comb(lot, n))

    few, many = floor(Fraction(good) * lot), ceil(Fraction(bad) * lot)
    first = next(
        (n, c)
        for n in range(1, lot + 1)
        for c in range(n + 1)
        if accepted(n, c, many) <= Fraction("0.1") and accepted(n, c, few) >= Fraction("0.95")
    )
    plan = sa.acceptance_plan(acceptable_rate=float(good), rejectable_rate=float(bad), lot=lot)
    assert (plan.n, plan.c) == first
    assert plan.accepts(float(bad)) == pytest.approx(float(accepted(*first, many)), abs=1e-9)
    for k in (0, plan.n):
        possible = range(k, lot - (plan.n - k) + 1)
        likely = [D for D in possible if k == D or accepted(plan.n, k, D) > Fraction("0.05")]
        test = sa.acceptance_test(plan, n_errors=k, n_checked=plan.n)
        assert test.upper_bound == pytest.approx(max(likely) / lot)
        # P(X >= k) is 1 - P(X <= k - 1).
        likely = [D for D in possible if accepted(plan.n, k - 1, D) < Fraction("0.95")]
        assert test.lower_bound == pytest.approx(min(likely) / lot)


def test_the_worked_plan_for_a_delivery_of_100():
    plan = sa.acceptance_plan(acceptable_rate=0.02, rejectable_rate=0.10, lot=100)
    assert (plan.n, plan.c) == (44, 2)
    assert str(plan).startswith("Check 44 of the 100 answers, drawn at random; accept with at most")
    with pytest.raises(OptionError, match="lot=0 must be a whole number"):
        sa.acceptance_plan(acceptable_rate=0.02, rejectable_rate=0.10, lot=0)


def test_acceptance_says_what_was_found():
    plan = sa.acceptance_plan(acceptable_rate=0.02, rejectable_rate=0.10)
    passed = sa.acceptance_test(plan, n_errors=3, n_checked=65)
    end = stats.binomtest(3, 65, alternative="less").proportion_ci(0.95).high
    assert passed.upper_bound == pytest.approx(end)
    assert passed.passes
    refused = sa.acceptance_test(plan, n_errors=4, n_checked=65)
    assert refused.verdict.startswith("Refused: 4 errors in 65 answers checked, 3 are allowed")
    end = stats.binomtest(4, 65, alternative="greater").proportion_ci(0.95).low
    assert refused.lower_bound == pytest.approx(end)
    assert refused.verdict.endswith(f"the error rate is {end:.3f} or more.")
    assert sa.acceptance_test(plan, n_errors=0, n_checked=65).lower_bound == 0
    one = sa.acceptance_test(plan, n_errors=1, n_checked=65).verdict
    assert one.startswith("Accepted: 1 error in 65 answers checked, 3 are allowed")
    assert sa.acceptance_test(plan, n_errors=65, n_checked=65).upper_bound == 1
    assert refused.to_frame()["passes"].tolist() == [False]
    assert plan.to_frame()["n"].tolist() == [65]


def test_acceptance_refuses_other_numbers():
    plan = sa.acceptance_plan(acceptable_rate=0.02, rejectable_rate=0.10)
    with pytest.raises(DataError, match="the plan requires 65 answers, and 60 were checked"):
        sa.acceptance_test(plan, n_errors=1, n_checked=60)
    with pytest.raises(DataError, match="errors are more than"):
        sa.acceptance_test(plan, n_errors=66, n_checked=65)
    with pytest.raises(OptionError, match="must be below rejectable_rate"):
        sa.acceptance_plan(acceptable_rate=0.1, rejectable_rate=0.1)
    with pytest.raises(
        OptionError, match=r"acceptable_rate=2 must lie between 0 and 1\. 2% is 0\.02\.$"
    ):
        sa.acceptance_plan(acceptable_rate=2, rejectable_rate=10)
    with pytest.raises(OptionError, match=r"acceptable_rate=0 must lie between 0 and 1\.$"):
        sa.acceptance_plan(acceptable_rate=0, rejectable_rate=0.1)
    with pytest.raises(OptionError, match="too near"):
        sa.acceptance_plan(acceptable_rate=0.1, rejectable_rate=0.10001)
