"""Intervals at every look: worked figures, planned looks, order of batches, verdicts."""

import numpy as np
import pandas as pd
import pytest
from diagnosis_support import walkthrough

import setagree as sa
from setagree.errors import DataError, OptionError
from setagree.inference.monitor import pocock_bound, robbins_factor, robbins_rho


def four_times():
    """Return the walk-through four times over, a batch each: 44 units."""
    table = walkthrough().to_long()[["unit", "rater", "labels"]]
    rows = [table.assign(unit=[f"{unit}/{k}" for unit in table["unit"]]) for k in range(4)]
    return sa.Annotations.from_long(pd.concat(rows))


def batch_of(study):
    """Return the batch of each unit of it."""
    return {unit: int(unit.split("/")[1]) for unit in study.units}


def test_the_widths_are_those_of_robbins_mixture():
    """The tuning and A(n) at 95% are the worked figures, to their digits."""
    assert robbins_rho(0.95) == pytest.approx(0.281711813770, abs=5e-13)
    found = [robbins_factor(n, 0.95) for n in (30, 40, 100, 400)]
    worked = [0.5841733052, 0.4939128418, 0.3035208990, 0.1563557072]
    assert found == pytest.approx(worked, abs=5e-11)


def test_the_bounds_of_planned_looks_are_pococks():
    """Pocock (1977, table 1) has 2.413 for 5 equal looks; others were integrated on their own."""
    assert pocock_bound([1, 2, 3, 4, 5], 0.95) == pytest.approx(2.4132, abs=5e-5)
    assert pocock_bound(range(1, 21), 0.95) == pytest.approx(2.6720, abs=5e-5)
    assert pocock_bound(range(40, 401, 20), 0.95) == pytest.approx(2.6305, abs=5e-5)
    assert pocock_bound([100], 0.95) == pytest.approx(1.959964, abs=1e-6)


def test_the_bound_of_two_near_looks_is_little_more_than_one():
    """Looks at 399 and 400 of 400 units are nearly one: checked by simulation of both."""
    z = np.random.default_rng(1).standard_normal((400_000, 2))
    first = z[:, 0]
    second = np.sqrt(399 / 400) * first + np.sqrt(1 / 400) * z[:, 1]
    largest = np.quantile(np.maximum(abs(first), abs(second)), 0.95)
    assert pocock_bound([399, 400], 0.95) == pytest.approx(largest, abs=0.01)


def test_the_worked_figures_of_an_interval():
    """44 units: the plain half-width, and the low end with the unit that may still come."""
    study = four_times()
    found = sa.monitor(study, at=batch_of(study), threshold=0.667)
    last = found.frame.iloc[-1]
    assert last["n_units"] == 44
    assert last["estimate"] == pytest.approx(0.3881176094, abs=5e-11)
    assert last["low"] == pytest.approx(0.13855779, abs=5e-9)
    assert last["high"] == pytest.approx(0.62181338, abs=5e-9)
    assert found.frame["n_units"].tolist() == [33, 44]
    assert found.decision == "stop and retrain"
    assert "below 0.667" in found.verdict


def test_no_look_before_thirty_units():
    """The first look has 30 pairable units; before it the verdict says when it comes."""
    study = walkthrough()
    found = sa.monitor(study, at=dict.fromkeys(study.units, "only"), threshold=0.667)
    assert found.frame.empty
    assert found.decision == "go on"
    assert found.verdict == "Go on: no look yet; the first is at 30 units."


def test_a_planned_look_to_come_is_named():
    """Where planned looks are still to come, going on says when the next one is."""
    study = sa.simulate(240, 3, skill=0.9, rng=1)
    at = {unit: k // 40 for k, unit in enumerate(study.units)}
    found = sa.monitor(study, at=at, threshold=0.667, looks=[60, 120, 900])
    assert found.decision == "go on"
    assert found.verdict.endswith("which holds 0.667. The next look is at 900 units.")


def test_planned_looks_that_do_not_fit_the_data():
    """Looks at too few units, and units after the last look, are warned of; the end is said."""
    study = sa.simulate(240, 3, skill=0.9, rng=1)
    at = {unit: k // 40 for k, unit in enumerate(study.units)}
    with pytest.warns(sa.SetagreeWarning) as seen:
        found = sa.monitor(study, at=at, threshold=0.667, looks=[5, 10])
    said = [str(one.message) for one in seen]
    assert said[0].startswith("looks= begins at 5 units")
    assert "looks= ends at 10 units, and there are 240 with two ratings or more" in said[1]
    assert len(said) == 2
    assert found.decision == "go on"
    assert found.verdict.endswith("It was the last look that was planned, so that the question "
                                  "stays open.")  # fmt: skip


def test_planned_looks_take_exactly_their_units():
    """A planned look is at the first n pairable units in order; later ones are still to come."""
    study = sa.simulate(240, 3, skill=0.95, rng=1)
    at = {unit: k // 40 for k, unit in enumerate(study.units)}
    found = sa.monitor(study, at=at, threshold=0.667, looks=[50, 100, 300])
    assert found.frame["n_units"].tolist() == [50, 100]
    assert found.frame["at"].tolist() == [1, 2]
    same = sa.monitor(study, at=at, threshold=0.667, looks=3, max_units=300)
    assert same.planned == (100, 200, 300)
    assert "3 planned looks" in str(same)


def test_planned_looks_are_narrower():
    """Looks that were planned beforehand cost less than looks at any time."""
    study = sa.simulate(400, 3, rng=2)
    at = {unit: k // 20 for k, unit in enumerate(study.units)}
    free = sa.monitor(study, at=at, threshold=0.667).frame.iloc[-1]
    planned = sa.monitor(study, at=at, threshold=0.667, looks=[*range(40, 401, 20)]).frame.iloc[-1]
    ratio = (planned["high"] - planned["estimate"]) / (free["high"] - free["estimate"])
    assert ratio == pytest.approx(0.2630 / 0.3127, abs=0.02)


def test_batches_are_put_in_order_by_their_numbers():
    """Text is ordered by the numbers in it, so that batch 10 comes after batch 9."""
    study = sa.simulate(400, 3, rng=2)
    at = {unit: f"batch {10 - k // 40}" for k, unit in enumerate(study.units)}
    found = sa.monitor(study, at=at, threshold=0.667)
    assert found.frame["at"].tolist() == [f"batch {k}" for k in range(1, 11)]


@pytest.mark.parametrize("dates", [("31.01.2026", "01.02.2026"), ("12/30/2025", "2/1/2026")])
def test_dates_with_the_year_last_are_refused(dates):
    """By the numbers in them the first of February would stand before the end of January."""
    study = sa.simulate(80, 3, rng=1)
    at = {unit: dates[k // 40] for k, unit in enumerate(study.units)}
    with pytest.raises(DataError, match=r"'(01.02.2026|2/1/2026)' cannot be put in order"):
        sa.monitor(study, at=at, threshold=0.667)
    alike = dict.fromkeys(at, dates[0])
    assert sa.monitor(study, at=alike, threshold=0.667).frame["n_units"].tolist() == [80]


def test_batches_are_the_second_argument():
    """As in by_group and over_time, the batches need no name; a forgotten threshold is named."""
    study = sa.simulate(80, 3, rng=1)
    week = {unit: k // 40 for k, unit in enumerate(study.units)}
    assert sa.monitor(study, week, threshold=0.667).frame["at"].tolist() == [0, 1]
    with pytest.raises(
        OptionError, match=r"monitor\(\) needs threshold=, how high alpha has to be"
    ):
        sa.monitor(study, week)


def test_an_ordered_categorical_is_in_its_own_order():
    """Weekdays have the order of their dtype, in a table and in a Series of units."""
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
        assert found.frame["at"].tolist() == days
    with pytest.raises(DataError, match=r"at='day': 'Wed' cannot .* ordered categorical"):
        sa.monitor(table.astype({"day": object}), "day", threshold=0.667)


def test_a_column_of_a_table_names_the_batches():
    """A table may hold the batch beside the answers."""
    study = sa.simulate(60, 3, rng=2)
    table = study.to_long()
    table["week"] = [int(unit[1:]) % 2 for unit in table["unit"]]
    found = sa.monitor(table, at="week", threshold=0.667)
    assert found.frame["at"].tolist() == [0, 1]


def test_full_agreement_has_a_low_end_and_no_certainty():
    """Without any disagreement the low end comes from the unit that may still come."""
    rows = [(rater, k, "ab"[k % 2]) for k in range(60) for rater in ("ann", "ben")]
    study = sa.Annotations.from_triples(rows)
    found = sa.monitor(study, at=dict.fromkeys(study.units, 1), threshold=0.667)
    row = found.frame.iloc[0]
    assert row["high"] == 1
    assert 0.5 < row["low"] < 0.95


def test_many_times_are_thinned_to_a_hundred_looks():
    """A time for every unit gives a hundred looks, the last of them at all units."""
    study = sa.simulate(500, 3, rng=2)
    found = sa.monitor(study, at={unit: k for k, unit in enumerate(study.units)}, threshold=0.667)
    assert len(found.frame) == 100
    assert found.frame["n_units"].iloc[-1] == 500


def test_weights_are_not_taken_into_account_as_the_warning_says():
    """The estimate is that of units that are all alike, as its interval is."""
    study = sa.simulate(60, 3, rng=2)
    at = dict.fromkeys(study.units, 1)
    weights = {unit: 1 + k % 5 for k, unit in enumerate(study.units)}
    with pytest.warns(sa.SetagreeWarning, match="sampling_weight= is ignored"):
        found = sa.monitor(study.sampled(sampling_weight=weights), at=at, threshold=0.667)
    plain = sa.monitor(study, at=at, threshold=0.667)
    assert found.frame.equals(plain.frame)
    assert "The intervals are about these raters" in str(plain)


def test_what_is_refused():
    """Wrong thresholds, looks that do not rise, tallies, and units without a batch."""
    study = sa.simulate(60, 3, rng=2)
    at = dict.fromkeys(study.units, 1)
    with pytest.raises(OptionError, match=r"threshold=1\.5 must be a number below 1"):
        sa.monitor(study, at=at, threshold=1.5)
    with pytest.raises(OptionError, match="numbers of units that rise"):
        sa.monitor(study, at=at, threshold=0.667, looks=[50, 40])
    with pytest.raises(OptionError, match="needs max_units="):
        sa.monitor(study, at=at, threshold=0.667, looks=5)
    with pytest.raises(OptionError, match="goes with looks="):
        sa.monitor(study, at=at, threshold=0.667, max_units=5)
    with pytest.raises(DataError, match="have none in 'at'"):
        sa.monitor(study, at={"u1": 1}, threshold=0.667)
    with pytest.raises(DataError, match="requires the identities of the units"):
        sa.monitor(sa.Tally.from_annotations(study), at=at, threshold=0.667)
    mixed = {unit: 1 if k else "one" for k, unit in enumerate(study.units)}
    with pytest.raises(DataError, match="cannot be put in order"):
        sa.monitor(study, at=mixed, threshold=0.667)


@pytest.mark.slow
def test_the_intervals_hold_at_all_looks():
    """Simulated: alpha is inside all of 18 looks in at least 94% of the studies."""
    pool = sa.simulate(200_000, 3, skill=0.9, rng=11)
    truth = sa.krippendorff_alpha(pool).estimate
    values = pool.value_codes.reshape(-1, 3)
    rng, held = np.random.default_rng(12), 0
    n = 120
    for _ in range(n):
        drawn = values[rng.integers(0, len(values), 400)]
        rows = {f"r{g}": [pool.values[k] for k in drawn[:, g]] for g in range(3)}
        study = sa.Annotations.from_wide(pd.DataFrame(rows))
        at = {unit: max(k // 20, 1) for k, unit in enumerate(study.units)}
        frame = sa.monitor(study, at=at, threshold=0.667).frame
        held += bool(((frame["low"] <= truth) & (truth <= frame["high"])).all())
    # P(X < 107) is below 0.01 where the coverage is 0.94; two-sided t at each look has some 0.75.
    assert held >= 107
