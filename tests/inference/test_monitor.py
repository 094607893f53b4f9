"""Intervals at every look: worked figures, planned looks, order of batches, verdicts."""

import numpy as np
import pandas as pd
import pytest
from diagnosis_support import walkthrough

import setagree as sa
from setagree.errors import DataError, OptionError
from setagree.inference.monitor import pocock_bound, robbins_factor, robbins_rho

T1 = walkthrough()
SK = sa.Annotations.from_triples(
    [
        (rater, k, {answer})
        for k, word in enumerate([*["aa"] * 6, "ab", "bb", "aa", "aa", "bb", "aa"])
        for rater, answer in enumerate(word)
    ]
)


def repeated(study, times):
    """Return the units of a study several times, a batch each."""
    table = study.to_long()[["unit", "rater", "labels"]]
    rows = [table.assign(unit=[f"{unit}/{k}" for unit in table["unit"]]) for k in range(times)]
    return sa.Annotations.from_long(pd.concat(rows))


def batch_of(study):
    return {unit: int(unit.split("/")[1]) for unit in study.units}


def weekly(study, per_week):
    return {unit: k // per_week for k, unit in enumerate(study.units)}


def test_the_widths_are_those_of_robbins_mixture():
    assert robbins_rho(0.95) == pytest.approx(0.281711813770, abs=5e-13)
    found = [robbins_factor(n, 0.95) for n in (30, 40, 100, 400)]
    worked = [0.5841733052, 0.4939128418, 0.3035208990, 0.1563557072]
    assert found == pytest.approx(worked, abs=5e-11)


def test_the_bounds_of_planned_looks_are_pococks():
    assert pocock_bound([1, 2, 3, 4, 5], 0.95) == pytest.approx(2.4132, abs=5e-5)
    assert pocock_bound(range(1, 21), 0.95) == pytest.approx(2.6720, abs=5e-5)
    assert pocock_bound(range(40, 401, 20), 0.95) == pytest.approx(2.6305, abs=5e-5)
    assert pocock_bound([100], 0.95) == pytest.approx(1.959964, abs=1e-6)


def test_the_bound_of_two_near_looks_is_little_more_than_one():
    z = np.random.default_rng(1).standard_normal((400_000, 2))
    first = z[:, 0]
    second = np.sqrt(399 / 400) * first + np.sqrt(1 / 400) * z[:, 1]
    largest = np.quantile(np.maximum(abs(first), abs(second)), 0.95)
    assert pocock_bound([399, 400], 0.95) == pytest.approx(largest, abs=0.01)


@pytest.mark.parametrize(
    ("study", "times", "distance", "worked"),
    [
        (T1, 2, "masi", (0.392935581, 0.1401740409, 0.7296955814)),
        (T1, 5, "masi", (0.3871540151, 0.2166148361, 0.5947205359)),
        (SK, 4, "nominal", (0.75, 0.1734145744, 0.9458672377)),
    ],
    ids=["T1 twice", "T1 five times", "SK four times"],
)
def test_the_worked_figures_of_an_interval(study, times, distance, worked):
    found = sa.monitor(
        repeated(study, times),
        batch=batch_of(repeated(study, times)),
        threshold=0.667,
        distance=distance,
    )
    row = found.frame.iloc[-1]
    assert row[["estimate", "low", "high"]].tolist() == pytest.approx(worked, abs=5e-10)


@pytest.mark.parametrize(
    ("study", "distance", "n_rarer"),
    [(T1, "masi", 7.90625), (repeated(SK, 3), "nominal", 7.5)],
    ids=["T1", "SK three times"],
)
def test_too_early(study, distance, n_rarer):
    """There is no interval while all answers except the commonest weigh less than 8 units."""
    at = dict.fromkeys(study.units, "only")
    found = sa.monitor(study, batch=at, threshold=0.667, distance=distance)
    row = found.frame.iloc[0]
    assert row["n_rarer"] == pytest.approx(n_rarer)
    assert np.isnan([row["low"], row["high"]]).all()
    assert found.decision == "go on"
    assert found.verdict == (
        f"Go on: after {study.n_units} units it is too early for a verdict. All answers except the "
        f"commonest weigh as much as {n_rarer:.1f} units, fewer than 8."
    )


def test_an_undefined_alpha_has_no_interval_to_contain_the_threshold():
    """All answers contain a, so that the distance any_overlap is 0 between all of them."""
    rows = [(g, k, {"a", "bcd"[(k + g) % 3]}) for k in range(60) for g in range(3)]
    with pytest.warns(sa.UndefinedAgreementWarning):
        found = sa.monitor(
            sa.Annotations.from_triples(rows),
            {k: k // 20 for k in range(60)},
            threshold=0.667,
            distance="any_overlap",
        )
    assert found.verdict == (
        "Go on: after 60 units there is no interval, because alpha is undefined."
    )


def test_no_look_yet():
    found = sa.monitor(T1, batch=dict.fromkeys(T1.units, 1), threshold=0.667, looks=[50, 100])
    assert found.frame.empty
    assert found.verdict == "Go on: no look yet. The next look is at 50 units."


def test_one_planned_look_is_the_score_interval():
    study = sa.simulate(120, 3, rng=3)
    found = sa.monitor(study, batch=dict.fromkeys(study.units, 1), threshold=0.667, looks=[120])
    alpha = sa.krippendorff_alpha(study)
    assert found.frame["high"][0] == pytest.approx(alpha.interval(0.95)[1], abs=1e-12)


def test_each_batch_by_itself():
    study = sa.simulate(100, 3, rng=4)
    frame = sa.monitor(study, batch=weekly(study, 40), threshold=0.667).frame
    assert frame["n_units"].tolist() == [40, 80, 100]
    assert frame["n_batch_units"].tolist() == [40, 40, 20]
    second = study.take((study.unit_codes >= 40) & (study.unit_codes < 80))
    expected = sa.krippendorff_alpha(second).estimate
    assert frame["batch_estimate"][1] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("skill", "is_far"), [(0.95, False), (0.5, True)])
def test_a_last_batch_far_below_the_others(skill, is_far):
    good, last = sa.simulate(160, 3, skill=0.95, rng=1), sa.simulate(40, 3, skill=skill, rng=2)
    tables = [good.to_long(), last.to_long().assign(unit=lambda t: "x" + t["unit"])]
    study = sa.Annotations.from_long(pd.concat(tables)[["unit", "rater", "labels"]])
    found = sa.monitor(study, batch=weekly(study, 80), threshold=0.667)
    parts = (last, good)
    expected = sa.compare(*map(sa.krippendorff_alpha, parts), design="independent", level=0.99)
    assert found.last_difference == pytest.approx((expected.difference, *expected.interval()))
    assert (found.last_difference[2] < 0) == is_far
    said = "The last batch (2) is far below the earlier ones: alpha "
    assert (said in found.verdict) == is_far
    assert found.decision == "good enough"


def test_a_last_batch_in_which_all_units_disagree_alike():
    good = ["aa", "aa", "aa", "bb", "bb", "bb", "cc", "cc", "cc", "dd"] * 6
    words = good + ["ab", "bc", "cd", "da", "ac", "bd"] * 5
    study = sa.Annotations.from_wide(pd.DataFrame([list(w) for w in words], columns=["x", "y"]))
    found = sa.monitor(study, weekly(study, 30), threshold=0.6)
    assert found.frame["batch_estimate"].iloc[-1] < -0.3
    assert found.last_difference[2] < -1
    assert "The last look does not confirm it: after 90 units" in found.verdict
    assert "The last batch (2) is far below the earlier ones" in found.verdict


def test_a_planned_look_to_come_is_named():
    study = sa.simulate(240, 3, skill=0.9, rng=1)
    at = {unit: k // 40 for k, unit in enumerate(study.units)}
    found = sa.monitor(study, batch=at, threshold=0.667, looks=[60, 120, 900])
    assert found.decision == "go on"
    assert found.verdict.endswith("which contains 0.667. The next look is at 900 units.")


def test_units_after_the_last_planned_look():
    study = sa.simulate(240, 3, skill=0.9, rng=1)
    with pytest.warns(sa.SetagreeWarning, match="looks= ends at 20 units, and there are 240 with"):
        found = sa.monitor(study, batch=weekly(study, 40), threshold=0.667, looks=[10, 20])
    assert found.decision == "go on"
    assert found.verdict.endswith("It was the last look that was planned, so that the question "
                                  "stays open.")  # fmt: skip


def test_planned_looks_take_exactly_their_units():
    study = sa.simulate(240, 3, skill=0.95, rng=1)
    at = {unit: k // 40 for k, unit in enumerate(study.units)}
    found = sa.monitor(study, batch=at, threshold=0.667, looks=[50, 100, 300])
    assert found.frame["n_units"].tolist() == [50, 100]
    assert found.frame["batch"].tolist() == [1, 2]
    same = sa.monitor(study, batch=at, threshold=0.667, looks=3, max_units=300)
    assert same.planned == (100, 200, 300)
    assert "3 planned looks" in str(same)


def test_planned_looks_are_narrower():
    study = sa.simulate(400, 3, rng=2)
    at = {unit: k // 20 for k, unit in enumerate(study.units)}
    free = sa.monitor(study, batch=at, threshold=0.667).frame.iloc[-1]
    planned = sa.monitor(study, batch=at, threshold=0.667, looks=[*range(40, 401, 20)]).frame.iloc[
        -1
    ]
    ratio = (planned["high"] - planned["estimate"]) / (free["high"] - free["estimate"])
    assert ratio == pytest.approx(0.2630 / 0.3127, abs=0.02)


def test_batches_are_put_in_order_by_their_numbers():
    study = sa.simulate(400, 3, rng=2)
    at = {unit: f"batch {10 - k // 40}" for k, unit in enumerate(study.units)}
    found = sa.monitor(study, batch=at, threshold=0.667)
    assert found.frame["batch"].tolist() == [f"batch {k}" for k in range(1, 11)]


@pytest.mark.parametrize("dates", [("31.01.2026", "01.02.2026"), ("12/30/2025", "2/1/2026")])
def test_dates_with_the_year_last_are_refused(dates):
    study = sa.simulate(80, 3, rng=1)
    at = {unit: dates[k // 40] for k, unit in enumerate(study.units)}
    with pytest.raises(DataError, match=r"'(01.02.2026|2/1/2026)' cannot be put in order"):
        sa.monitor(study, batch=at, threshold=0.667)
    alike = dict.fromkeys(at, dates[0])
    assert sa.monitor(study, batch=alike, threshold=0.667).frame["n_units"].tolist() == [80]


def test_batches_are_the_second_argument():
    study = sa.simulate(80, 3, rng=1)
    week = {unit: k // 40 for k, unit in enumerate(study.units)}
    assert sa.monitor(study, week, threshold=0.667).frame["batch"].tolist() == [0, 1]
    with pytest.raises(OptionError, match=r"monitor\(\) needs threshold=, the alpha to reach"):
        sa.monitor(study, week)


def test_an_ordered_categorical_is_in_its_own_order():
    study = sa.simulate(120, 3, rng=1)
    days = ["Mon", "Tue", "Wed"]
    of_unit = {unit: days[2 - k // 40] for k, unit in enumerate(study.units)}
    dtype = pd.CategoricalDtype(days, ordered=True)
    table = study.to_long()
    table["day"] = table["unit"].map(of_unit).astype(dtype)
    for found in (
        sa.monitor(table, "day", threshold=0.667),
        sa.monitor(study, pd.Series(of_unit).astype(dtype), threshold=0.667),
        sa.monitor(sa.read(table, unit_columns=["day"]), "day", threshold=0.667),
    ):
        assert found.frame["batch"].tolist() == days
    with pytest.raises(DataError, match=r"batch='day': 'Wed' cannot .* ordered categorical"):
        sa.monitor(table.astype({"day": object}), "day", threshold=0.667)


def test_a_column_of_a_table_names_the_batches():
    study = sa.simulate(60, 3, rng=2)
    table = study.to_long()
    table["week"] = [int(unit[1:]) % 2 for unit in table["unit"]]
    found = sa.monitor(table, batch="week", threshold=0.667)
    assert found.frame["batch"].tolist() == [0, 1]


def test_full_agreement_has_a_low_end_and_no_certainty():
    rows = [(rater, k, "ab"[k % 2]) for k in range(60) for rater in ("ann", "ben")]
    study = sa.Annotations.from_triples(rows)
    found = sa.monitor(study, batch=dict.fromkeys(study.units, 1), threshold=0.667)
    row = found.frame.iloc[0]
    assert row["high"] == 1
    assert 0.5 < row["low"] < 0.95


def test_many_times_are_thinned_to_a_hundred_looks():
    study = sa.simulate(500, 3, rng=2)
    found = sa.monitor(
        study, batch={unit: k for k, unit in enumerate(study.units)}, threshold=0.667
    )
    assert len(found.frame) == 100
    assert found.frame["n_units"].iloc[-1] == 500


def test_weights_are_not_taken_into_account_as_the_warning_says():
    study = sa.simulate(60, 3, rng=2)
    at = dict.fromkeys(study.units, 1)
    weights = {unit: 1 + k % 5 for k, unit in enumerate(study.units)}
    with pytest.warns(sa.SetagreeWarning, match="sampling_weight= is ignored"):
        found = sa.monitor(study.sampled(sampling_weight=weights), batch=at, threshold=0.667)
    plain = sa.monitor(study, batch=at, threshold=0.667)
    assert found.frame.equals(plain.frame)
    assert "The intervals are about these raters" in str(plain)


def test_what_is_refused():
    study = sa.simulate(60, 3, rng=2)
    at = dict.fromkeys(study.units, 1)
    with pytest.raises(OptionError, match=r"threshold=1\.5 must be a number below 1"):
        sa.monitor(study, batch=at, threshold=1.5)
    with pytest.raises(OptionError, match="numbers of units that rise"):
        sa.monitor(study, batch=at, threshold=0.667, looks=[50, 40])
    with pytest.raises(OptionError, match="needs max_units="):
        sa.monitor(study, batch=at, threshold=0.667, looks=5)
    with pytest.raises(OptionError, match="requires looks="):
        sa.monitor(study, batch=at, threshold=0.667, max_units=5)
    with pytest.raises(DataError, match="have none in 'batch'"):
        sa.monitor(study, batch={"u1": 1}, threshold=0.667)
    with pytest.raises(DataError, match="monitor requires the rater and the unit of each answer"):
        sa.monitor(sa.Tally.from_annotations(study), batch=at, threshold=0.667)
    mixed = {unit: 1 if k else "one" for k, unit in enumerate(study.units)}
    with pytest.raises(DataError, match="cannot be put in order"):
        sa.monitor(study, batch=mixed, threshold=0.667)


@pytest.mark.slow
def test_the_intervals_hold_at_all_looks():
    pool = sa.simulate(50_000, 3, skill=0.9, rng=11)
    truth = sa.krippendorff_alpha(pool).estimate
    values = pool.value_codes.reshape(-1, 3)
    rng, held = np.random.default_rng(12), 0
    for _ in range(60):
        drawn = values[rng.integers(0, len(values), 400)]
        rows = {f"r{g}": [pool.values[k] for k in drawn[:, g]] for g in range(3)}
        study = sa.Annotations.from_wide(pd.DataFrame(rows))
        at = {unit: max(k // 20, 1) for k, unit in enumerate(study.units)}
        frame = sa.monitor(study, batch=at, threshold=0.667).frame
        held += bool(((frame["low"] <= truth) & (truth <= frame["high"])).all())
    # P(X < 52) is below 0.01 where the coverage is 0.94; two-sided t at each look has some 0.75.
    assert held >= 52
