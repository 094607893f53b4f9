"""A model in the place of a human: worked figures, what is refused, what the sentences say."""

import numpy as np
import pandas as pd
import pytest
from diagnosis_support import walkthrough
from scipy import stats

import setagree as sa
from setagree.errors import DataError, OptionError, SetagreeWarning

pytestmark = pytest.mark.filterwarnings("ignore:Some humans answered fewer than 30 units")

MODEL = ["a,b", "a,b", "a", "c", "a,c", "d", "b", "a", "a,b", None, "a"]

# Worked by hand in exact arithmetic for the published walk-through with a model beside it:
# alpha of the masked panel, with the model, the change, its SE, the 90% t interval, p at .1.
WORKED = {
    "r1": (
        *(0.3899912527, 0.4516435138, 0.0955610048, 0.0758434140),
        *(-0.04190223, 0.23302424, 0.01374386),
    ),
    "r2": (
        *(0.4610919360, 0.5546687949, 0.1450441313, 0.0752717843),
        *(0.00861695, 0.28147131, 0.00432015),
    ),
    "r3": (
        *(0.3899912527, 0.5830861791, 0.3325523733, 0.1275149561),
        *(0.10143647, 0.56366827, 0.00343038),
    ),
}


@pytest.fixture(scope="module")
def study():
    """Return the walk-through with a model beside its raters."""
    table = walkthrough().to_long()
    units = [f"u{k}" for k in range(1, 12)]
    model = [
        {"unit": unit, "rater": "gpt", "labels": frozenset(answer.split(","))}
        for unit, answer in zip(units, MODEL, strict=True)
        if answer is not None
    ]
    rows = pd.concat([table[["unit", "rater", "labels"]], pd.DataFrame(model)])
    return sa.Annotations.from_long(rows)


def test_the_worked_figures_of_each_human(study):
    found = sa.noninferiority_test(study, model="gpt", margin=0.1)["gpt"].humans
    columns = [
        "alpha",
        "alpha_with_model",
        "difference",
        "standard_error",
        "low",
        "high",
        "p_value",
    ]
    for human, figures in WORKED.items():
        assert found.loc[human, columns].to_numpy(float) == pytest.approx(figures, abs=6e-9)
    assert found["n_units"].tolist() == [11, 11, 11]


def test_the_worked_figures_of_the_mean(study):
    test = sa.noninferiority_test(study, model="gpt", margin=0.1)["gpt"]
    assert test.difference == pytest.approx(0.1910525031, abs=5e-11)
    assert test.standard_error == pytest.approx(0.0504748045, abs=5e-11)
    assert test.skewness * np.sqrt(11) == pytest.approx(0.3637962413, abs=5e-11)
    assert test.interval() == pytest.approx((0.10585748, 0.29044289), abs=5e-9)
    # From the worked example's own Delta, SE and k: p = .00001676023844.
    assert test.p_value == pytest.approx(0.00001676023844, rel=1e-7)
    assert test.passes
    assert test.worst == "r1"


def test_against_all_takes_the_largest_p(study):
    test = sa.noninferiority_test(study, model="gpt", margin=0.1, against="all")["gpt"]
    assert test.p_value == pytest.approx(0.01374386, abs=5e-9)
    assert "any human of this panel does not lower agreement by 0.1" in test.verdict
    assert test.verdict.endswith("; not reliable: 9 shared units, fewer than 30.")


def test_a_better_model_is_not_equivalent(study):
    test = sa.noninferiority_test(study, model="gpt", margin=0.1, equivalence=True)["gpt"]
    assert test.interval()[0] > 0.1
    assert not test.passes
    assert "was not shown to change agreement by less than 0.1" in test.verdict
    with pytest.raises(OptionError, match="against='all' does not apply to a test of equiv"):
        sa.noninferiority_test(study, model="gpt", against="all", equivalence=True)


def test_a_random_model_loses_what_the_humans_agree():
    for n_humans in (3, 5):
        study = sa.simulate(4000, n_humans + 1, skill=[0.9] * n_humans + [0.0], rng=3)
        test = sa.noninferiority_test(study, model=f"r{n_humans + 1}", margin=0.1)
        row = test.rows[0]
        assert row.difference == pytest.approx(-row.reference_alpha, abs=0.03)
        assert not row.passes


def test_a_copy_of_a_human_has_no_test_in_that_place():
    study = sa.simulate(60, 3, rng=2)
    copy = study.to_long().query("rater == 'r1'").assign(rater="copy")
    both = sa.Annotations.from_long(pd.concat([study.to_long(), copy]))
    humans = sa.noninferiority_test(both, model="copy")["copy"].humans
    assert humans.loc["r1", "difference"] == 0
    assert np.isnan(humans.loc["r1", "p_value"])
    test = sa.noninferiority_test(both, model="copy", against="all")["copy"]
    assert np.isnan(test.p_value)
    assert not test.passes
    assert "a test is missing in the place of 'r1'" in test.verdict


def test_missing_answers_keep_one_layout():
    study = sa.simulate(200, 4, missing=0.3, rng=5)
    frame = sa.noninferiority_test(study, model="r4")["r4"].humans
    wide = study.to_wide()
    for human in ("r1", "r2", "r3"):
        both = wide[human].notna() & wide["r4"].notna()
        others = wide[[c for c in ("r1", "r2", "r3") if c != human]]
        panel = others.assign(**{human: wide[human].where(both)})
        before = sa.Annotations.from_wide(panel.dropna(how="all"))
        after = sa.Annotations.from_wide(
            panel.assign(**{human: wide["r4"].where(both)}).dropna(how="all")
        )
        alphas = [sa.krippendorff_alpha(one).estimate for one in (before, after)]
        found = frame.loc[human, ["alpha", "alpha_with_model"]].to_numpy(float)
        assert found == pytest.approx(alphas, abs=1e-12)


def test_several_models_are_ranked_and_corrected():
    study = sa.simulate(150, 5, skill=[0.8, 0.8, 0.8, 0.75, 0.95], rng=4)
    table = sa.noninferiority_test(study, model=["r4", "r5"], margin=0.15)
    assert [row.model for row in table] == ["r5", "r4"]
    raw = sorted(row.p_value for row in table)
    adjusted = sorted(row.p_holm for row in table)
    assert adjusted == pytest.approx([min(1, 2 * raw[0]), max(min(1, 2 * raw[0]), raw[1])])
    frame = table.to_frame()
    assert frame["model"].tolist() == ["r5", "r4"]
    assert frame.loc[0, ["low", "high"]].tolist() == pytest.approx(table["r5"].interval())
    with pytest.raises(KeyError, match="no model 'gpt'"):
        table["gpt"]


def test_margins_that_pass_anything_are_refused():
    study = sa.simulate(100, 4, rng=1)
    with pytest.raises(OptionError, match="a model that answers at random would pass"):
        sa.noninferiority_test(study, model="r4", margin=0.9)
    with pytest.warns(SetagreeWarning, match="of the alpha of the humans"):
        sa.noninferiority_test(study, model="r4", margin=0.2)
    with pytest.raises(DataError, match="needs two humans or more"):
        sa.noninferiority_test(study, model="r4", humans=["r1"])
    chance = sa.simulate(60, 4, skill=0.0, rng=7)
    with pytest.raises(DataError, match="do not agree beyond chance"):
        sa.noninferiority_test(chance, model="r4")


def test_few_shared_units_are_said():
    with pytest.warns(SetagreeWarning, match="fewer than 30 units together with the model"):
        sa.noninferiority_test(sa.simulate(25, 4, skill=0.95, rng=1), model="r4")


def test_units_needed_is_the_normal_formula(study):
    """N = (z_.95 + z_.8)² sd² / margin² for a model as good as the humans."""
    test = sa.noninferiority_test(study, model="gpt", margin=0.1)["gpt"]
    variance = 11 * 0.0504748045**2
    assert test.units_needed() == int(np.ceil((1.6448536 + 0.8416212) ** 2 * variance / 0.01))
    with pytest.raises(OptionError, match="no number of units"):
        test.units_needed(difference=-0.1)


def panel(n, of_humans, of_model):
    """Return three humans, each of whom errs on every twentieth unit, and a model."""
    rows = []
    for k in range(n):
        rows += [(f"h{h}", k, of_humans(k, k % 20 == 5 * h)) for h in (1, 2, 3)]
        rows.append(("model", k, of_model(k)))
    return sa.Annotations.from_triples(rows)


def test_how_often_and_by_how_much_are_two_questions():
    seldom = panel(
        300, lambda k, errs: "abcd"[(k + errs) % 4], lambda k: "abcd"[(k + (k % 8 == 0)) % 4]
    )
    twelve = [{f"{letter}{i}" for i in range(12)} for letter in "abcd"]
    always = panel(
        100,
        lambda k, errs: {"none"} if errs else twelve[k % 4],
        lambda k: twelve[k % 4] | {"extra"},
    )
    for study, distance, passes in ((seldom, "nominal", True), (always, "jaccard", False)):
        often = sa.alt_test(study, model="model", epsilon=0.15, distance=distance)["model"]
        much = sa.noninferiority_test(study, model="model", margin=0.1, distance=distance)
        assert (often.passes, much["model"].passes) == (passes, not passes)


def test_the_verdict_follows_from_the_numbers():
    """A loss whose whole interval is beyond the margin is called one; p is the one that decides.

    Of several models that is the corrected p; against all humans the largest of theirs.
    """
    study = sa.simulate(150, 6, skill=[0.8, 0.8, 0.8, 0.8, 0.75, 0.3], rng=4)
    table = sa.noninferiority_test(study, model=["r5", "r6"], margin=0.1)
    near, far = table["r5"], table["r6"]
    assert far.interval()[1] < -0.1
    assert "lowers agreement by more than 0.1" in far.verdict
    low, high = near.interval()
    assert low < -0.1 < high
    assert "was not shown to keep the loss of agreement below 0.1" in near.verdict
    assert near.p_holm == pytest.approx(2 * near.p_value)
    assert f"p = {near.p_holm:.3f}" + " (Holm)" in near.verdict
    alone = sa.noninferiority_test(study, model="r5", humans=["r1", "r2", "r3", "r4"],
                                   margin=0.1, against="all")["r5"]  # fmt: skip
    largest = f"largest p = {alone.humans['p_value'].max():.3f}"
    assert largest in alone.verdict
    assert "Holm" not in alone.verdict


def test_seldom_and_far_is_not_passed_by_t_alone():
    study = sa.simulate(100, 4, skill=[1, 0.6, 0.6, 0.9], n_labels=4, rng=1)
    test = sa.noninferiority_test(study, model="r4", margin=0.1, against="all")["r4"]
    for one in test.changes:
        T = (one.difference + 0.1) / one.standard_error
        k = (one.psi**3).sum() / one.standard_error**3
        of_t, of_hall = (
            stats.t.sf(T + k * T**2 / 3 + k**2 * T**3 / 27 + k / 6, 99) for k in (0.0, k)
        )
        assert (of_hall > of_t) == (k < 0)
        assert test.humans.loc[one.human, "p_value"] == pytest.approx(max(of_t, of_hall))
    assert test.p_value == test.humans["p_value"].max()
    assert any((one.psi**3).sum() < 0 for one in test.changes)


def test_a_margin_of_hardly_a_unit_is_warned_of():
    answers = [["ab"[(k + (k % 40 == h)) % 2] for h in range(3)] for k in range(400)]
    rows = [(f"h{h}", k, answers[k][h]) for k in range(400) for h in range(3)]
    wrong = {210: "b", 211: "a"}
    rows += [("model", k, wrong.get(k, answers[k][0])) for k in range(400)]
    change = sa.noninferiority_test(
        sa.Annotations.from_triples(rows), model="model", distance="nominal"
    )["model"].changes[0]
    assert change.difference == pytest.approx(-2 * change.one_unit, rel=0.01)
    few = sa.Annotations.from_triples([row for row in rows if row[1] % 8 in (0, 1)])
    with pytest.warns(SetagreeWarning, match=r"worth fewer than 3 units .*h0 with model: 2\.5"):
        sa.noninferiority_test(few, model="model", margin=0.05, distance="nominal")
    with pytest.warns(SetagreeWarning, match=r"worth fewer than 4 units .*h0 with model: 3\.5"):
        sa.noninferiority_test(few, model="model", margin=0.07, against="all", distance="nominal")


def test_humans_without_a_test_are_said():
    rows = [(h, k, "abcd"[(k + (k % 9 == n)) % 4]) for k in range(160) for n, h in enumerate("xyz")]
    rows = [row for row in rows if row[0] != "z" or row[1] >= 80]
    rows += [("model", k, "abcd"[(k + (k % 11 == 3)) % 4]) for k in range(80)]
    study = sa.Annotations.from_triples(rows)
    left_out = "'z' (shares no unit with the model)"
    (mean,) = sa.noninferiority_test(study, model="model")
    assert mean.verdict.endswith(f"; left out: {left_out}.")
    (each,) = sa.noninferiority_test(study, model="model", against="all")
    assert each.verdict == f"No verdict: a test is missing in the place of {left_out}."
