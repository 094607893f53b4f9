"""Variance components of distances: published and worked figures, leave-one-out, remarks."""

import numpy as np
import pandas as pd
import pytest
from diagnosis_support import walkthrough
from scipy import stats

import setagree as sa
from setagree.errors import DataError

# Shrout and Fleiss (1979), table 2: six targets, four judges.
RATINGS = [(9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7)]


def numbers(rows):
    """Return the study of a table of numbers, a column a rater."""
    cells = [
        {"unit": i, "rater": f"r{g}", "score": x}
        for i, row in enumerate(rows)
        for g, x in enumerate(row)
    ]
    return sa.Annotations.from_long(pd.DataFrame(cells), value="score")


def test_squared_distances_give_the_analysis_of_variance():
    found = sa.variance_components(numbers(RATINGS), distance="interval")
    parts = found.components
    assert float(parts.A) == pytest.approx(6.2638888889, abs=5e-11)
    assert float(parts.B) == pytest.approx(3.575, abs=5e-11)
    assert float(parts.T) == pytest.approx(8.8194444444, abs=5e-11)
    three = (found.unit, found.rater, found.residual)
    assert three == pytest.approx((2.5555555556, 5.2444444444, 1.0194444444), abs=5e-11)
    # The paper prints 0.29, 0.62 and 0.71.
    assert found.dependability(1) == pytest.approx(0.2897637795, abs=5e-11)
    assert found.dependability(4) == pytest.approx(0.6200505476, abs=5e-11)
    assert found.generalizability(1) == pytest.approx(0.7148407148, abs=5e-11)


def test_the_worked_figures_of_label_sets():
    found = sa.variance_components(walkthrough())
    parts = [float(x) for x in (found.components.A, found.components.B, found.components.T)]
    assert parts == pytest.approx([0.2374551971, 0.3879032258, 0.3983691756], abs=5e-11)
    three = (found.unit, found.rater, found.residual)
    assert three == pytest.approx((0.1609139785, 0.0104659498, 0.2269892473), abs=5e-11)
    assert found.dependability(1) == pytest.approx(0.4039318008, abs=5e-11)
    assert found.dependability(3) == pytest.approx(0.6702913878, abs=5e-11)
    assert found.generalizability(3) == pytest.approx(0.6801757443, abs=5e-11)


@pytest.mark.parametrize("distance", ["masi", "jaccard", "nominal"])
def test_leaving_out_is_the_study_without(distance):
    study = sa.simulate(25, 4, missing=0.2, rng=3)
    found = sa.variance_components(study, distance=distance)
    for codes, parts in (
        (study.unit_codes, found.without_unit),
        (study.rater_codes, found.without_rater),
    ):
        for k in range(int(codes.max()) + 1):
            rest = sa.variance_components(study.take(codes != k), distance=distance).components
            for name in "ABT":
                assert getattr(parts, name)[k] == pytest.approx(float(getattr(rest, name)))


def test_complete_data_tie_the_components_to_alpha():
    """De / 2 = [(R-1) A + (n-1) B + (n-1)(R-1) T] / (nR - 1), and alpha = 1 - 2A / De."""
    study = sa.simulate(40, 4, rng=5)
    found, alpha = sa.variance_components(study), sa.krippendorff_alpha(study)
    A, B, T = (float(x) for x in (found.components.A, found.components.B, found.components.T))
    n, R = 40, 4
    chance = ((R - 1) * A + (n - 1) * B + (n - 1) * (R - 1) * T) / (n * R - 1)
    assert alpha.expected_disagreement == pytest.approx(2 * chance)
    assert alpha.estimate == pytest.approx(1 - A / chance)


def test_intervals_take_enough_raters():
    two = sa.variance_components(sa.simulate(40, 2, rng=1)).frame
    assert two[["low", "high"]].isna().all(axis=None)
    four = sa.variance_components(sa.simulate(40, 4, rng=1)).frame.set_index("component")
    assert four.loc["rater", "reason"] == "4 raters; an interval takes 5"
    assert np.isfinite(four.loc["unit", "low"])
    six = sa.variance_components(sa.simulate(40, 6, rng=1)).frame
    assert np.isfinite(six[["low", "high"]]).all(axis=None)


def test_components_without_spread_have_no_interval():
    """Two camps of three raters who always differ: leaving out any one changes nothing."""
    rows = [("abcdef"[g], u, "xy"[(u + g // 3) % 2]) for u in range(20) for g in range(6)]
    found = sa.variance_components(sa.Annotations.from_triples(rows))
    assert found.frame[["low", "high"]].isna().all(axis=None)
    assert {*found.frame["reason"]} == {"it does not change if any one unit or rater is left out"}
    assert found.by_raters()[["dependability_low", "dependability_high"]].isna().all(axis=None)


def test_the_interval_is_the_two_way_jackknife():
    found = sa.variance_components(sa.simulate(30, 6, rng=2))
    variance = 0.0
    for parts in (found.without_unit, found.without_rater):
        u = parts.T - parts.A
        variance += (len(u) - 1) / len(u) * ((u - u.mean()) ** 2).sum()
    row = found.frame.set_index("component").loc["unit"]
    assert row["high"] - row["low"] == pytest.approx(2 * 2.570581836 * np.sqrt(variance))


def test_few_raters_may_differ_more_than_they_show():
    rng = np.random.default_rng(5)
    rows = (rng.normal(size=(30, 1)) + rng.normal(size=5) + rng.normal(size=(30, 5))).round(2)
    found = sa.variance_components(numbers(rows), distance="interval")
    mean_square = 30 * rows.mean(axis=0).var(ddof=1)  # its mean is e + 30 r
    most = found.rater + (4 / stats.chi2.ppf(0.025, 4) - 1) * mean_square / 30
    rater = found.frame.set_index("component").loc["rater"]
    assert rater["high"] == pytest.approx(most)
    half = found.rater - rater["low"]  # the lower end is that of the jackknife
    assert most > found.rater + 2 * half


def test_a_component_below_zero_counts_as_zero():
    study = sa.simulate(100, 5, rng=8)
    found = sa.variance_components(study)
    assert found.rater < 0
    assert found.frame.set_index("component").loc["rater", "share"] == 0
    assert "estimated below 0 and counts as 0" in str(found)


def test_units_below_zero_are_said():
    rows = [(rater, u, "abc"[(u + k) % 3]) for u in range(60) for k, rater in enumerate("xyz")]
    found = sa.variance_components(sa.Annotations.from_triples(rows))
    assert found.unit < 0
    assert "(that between units and between raters was estimated below 0" in found.verdict


def test_raters_with_habits_show():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 10, 80)
    shifted = [[t + s + rng.normal(0, 0.3) for s in (0, 3, -3, 6)] for t in truth]
    found = sa.variance_components(numbers(shifted), distance="interval")
    assert found.rater > found.residual
    assert "habits of their own more than from unit to unit" in found.verdict
    assert found.verdict.endswith("4 raters are too few to be sure of that.")


@pytest.mark.parametrize("noise", [0.3, 3.0])
def test_the_verdict_follows_the_intervals(noise):
    """Where the interval of the difference of both sources holds 0, none is called the larger.

    The difference is checked against the two-way jackknife of the parts, by hand.
    """
    rng = np.random.default_rng(1)
    rows = [[t + s + rng.normal(0, noise) for s in (3, -3) * 4] for t in range(8)]
    found = sa.variance_components(numbers(rows), distance="interval")
    variance, x = 0.0, found.residual - found.rater
    for parts in (found.without_unit, found.without_rater):
        d = parts.by_name["residual"] - parts.by_name["rater"]
        variance += (len(d) - 1) / len(d) * ((d - d.mean()) ** 2).sum()
    half = stats.t.ppf(0.975, 7) * np.sqrt(variance)
    assert (abs(x) <= half) == (noise > 1)
    assert ("is not decided" in found.verdict) == (noise > 1)
    assert found.verdict.endswith("from unit to unit.") == (noise < 1)


def test_each_label_has_its_components():
    study = sa.simulate(60, 3, rng=1)
    frame = sa.variance_components(study).by_label()
    assert sorted(frame["label"]) == list(study.labels)
    assert frame["residual"].is_monotonic_decreasing
    label = frame["label"].iloc[0]
    own = study.with_answers(frozenset({label}).intersection)
    alone = sa.variance_components(own, distance="nominal")
    assert frame["unit"].iloc[0] == pytest.approx(alone.unit)
    with pytest.raises(DataError, match="needs label sets"):
        sa.variance_components(numbers(RATINGS), distance="interval").by_label()


def test_reliability_by_raters_rises():
    frame = sa.variance_components(sa.simulate(60, 6, rng=1)).by_raters([1, 3, 9])
    assert frame["dependability"].is_monotonic_increasing
    assert (frame["generalizability_high"] <= 1).all()


def test_distances_that_are_no_squared_ones_are_remarked():
    study = sa.simulate(60, 3, n_labels=6, rng=1)
    assert sa.variance_components(study, distance="nominal").remark is None
    remark = sa.variance_components(study, distance="overlap").remark
    assert "not squared distances of points here" in remark


@pytest.mark.parametrize(("name", "is_squared"), [("overlap", True), ("own", False)])
def test_a_distance_declares_whether_it_is_squared(monkeypatch, name, is_squared):
    monkeypatch.setattr("setagree.inference.variance_components._MAX_CHECKED", 0)
    function = sa.distances.jaccard.function
    distance = sa.distances.OverlapDistance(function, name=name, is_squared=is_squared)
    remark = sa.variance_components(sa.simulate(30, 3, rng=1), distance=distance).remark
    assert (remark is None) == is_squared
    assert is_squared or "own distances are not squared" in remark


def test_studies_that_cannot_tell_are_refused():
    one_each = sa.Annotations.from_triples([("ann", 1, "a"), ("ben", 2, "b")])
    with pytest.raises(DataError, match="no two ratings are of one unit"):
        sa.variance_components(one_each)
    one_unit = sa.Annotations.from_triples([("ann", 1, "a"), ("ben", 1, "b")])
    with pytest.raises(DataError, match="no two ratings are by one rater"):
        sa.variance_components(one_unit)


def test_raters_who_do_not_differ():
    found = sa.variance_components(numbers([[t] * 5 for t in range(6)]), distance="interval")
    assert found.verdict.endswith("0% in single answers: raters do not differ.")


def test_intervals_are_described_only_if_there_are_some():
    rows = [(rater, unit, "ab"[unit % 2]) for rater in "AB" for unit in range(9)]
    without = sa.variance_components(sa.Annotations.from_triples(rows))
    assert without.frame["low"].isna().all()
    assert "Intervals are" not in str(without)
    study = sa.simulate(40, 6, rng=3)
    assert "Intervals are about raters" in " ".join(str(sa.variance_components(study)).split())
