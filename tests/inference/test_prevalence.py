"""`prevalence`: the vectors of golden/prevalence.json, limits, and prediction-powered inference.

The vectors come from the reference program of the method, label by label in plain numpy.
"""

import json

import numpy as np
import pandas as pd
import pytest
from golden_support import golden

import setagree as sa
from setagree.errors import DataError, OptionError, SetagreeWarning
from tests.benchmarks.prevalence import MODELS, PREVALENCES, SIZES, coverage

GOLDEN = golden("prevalence.json")
SAME = ("low", "high", "humans", "humans_low", "humans_high", "model", "n_marked", "worth")
COLUMNS = {name: name for name in (*SAME, "corrected")} | {
    "estimate": "prevalence",
    "se": "standard_error",
    "df": "degrees_of_freedom",
    "deff": "design_effect",
    "phi": "dispersion",
    "humans_se": "humans_standard_error",
    "n": "n_checked",
}
CLUSTERS = [1, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4]
pytestmark = pytest.mark.filterwarnings("ignore::setagree.errors.SetagreeWarning")


def people(units):
    """Return a study of one-letter labels: for each unit the answers of its raters."""
    units = [[each] if isinstance(each, str) else each for each in units]
    rows = [(f"h{g}", i, {*x}) for i, answers in enumerate(units) for g, x in enumerate(answers)]
    return sa.Annotations.from_triples(rows)


def machine(answers):
    return pd.DataFrame({"unit": range(len(answers)), "labels": [frozenset(x) for x in answers]})


MODEL = machine(GOLDEN["model_n"] + GOLDEN["model_rest"])
ONE = people(GOLDEN["humans"])
WEIGHTS = dict(enumerate([1, 2, 1, 3, 1, 1, 2, 2, 1, 1, 1, 4]))


def tally(*answers, kind="labels"):
    """Return the answers of one rater each to one unit."""
    rows = [(f"r{k}", 1, x) for k, x in enumerate(answers)]
    return sa.Tally.from_annotations(sa.Annotations.from_triples(rows, kind=kind))


EMPTY = sa.Tally.from_annotations(
    sa.Annotations.from_long(MODEL.assign(labels=[frozenset()] * 40, rater="gpt"))
)

RUNS = {
    "one human": (ONE, {}),
    "one human, beyond": (ONE, {"target": "beyond"}),
    "one human, .90": (ONE, {"level": 0.9}),
    "three humans": (people(GOLDEN["three"]), {}),
    "weights 1 2 1 3 1 1 2 2 1 1 1 4": (ONE.sampled(sampling_weight=WEIGHTS), {}),
    "clusters 1-3 4-5 6-9 10-12": (ONE.sampled(cluster=dict(enumerate(CLUSTERS))), {}),
}


@pytest.mark.parametrize("run", RUNS)
def test_the_vectors(run):
    study, options = RUNS[run]
    frame = sa.prevalence(study, model=MODEL, **options).to_frame().set_index("label")
    for label, expected in GOLDEN["results"][run].items():
        got = {name: frame.loc[label, column] for name, column in COLUMNS.items()}
        assert got == pytest.approx({name: expected[name] for name in COLUMNS}, abs=1e-12, rel=1e-9)


def drawn(seed, n=60, N=400):
    """Return 0/1 answers of people to n units, and of the model to all N, the n first."""
    rng = np.random.default_rng(seed)
    truth = rng.random(N) < 0.3
    model = np.where(rng.random(N) < 0.85, truth, ~truth)
    return truth[:n] * 1.0, model * 1.0


def of_flags(h, m, **options):
    study, model = people(["a" if x else "" for x in h]), machine(["a" if x else "" for x in m])
    frame = sa.prevalence(study, model=model, labels=["a"], **options).to_frame()
    return frame.iloc[0]


def ppi_lambda(h, m):
    return np.cov(h, m[: len(h)])[0, 1] / np.var(m[: len(h)], ddof=1) * (1 - len(h) / len(m))


@pytest.mark.parametrize("seed", range(5))
def test_it_is_prediction_powered_inference(seed):
    """The rectified mean of Angelopoulos et al. (2023) with lambda = cov / var (1 - n / N)."""
    h, m = drawn(seed)
    lam, n = ppi_lambda(h, m), len(h)
    rectified = lam * m[n:].mean() + (h - lam * m[:n]).mean()
    assert of_flags(h, m)["prevalence"] == pytest.approx(rectified, abs=1e-12)


@pytest.mark.slow
def test_it_is_what_ppi_py_gives():
    ppi = pytest.importorskip(
        "ppi_py", reason="ppi-python, whose package tests hides ours, is not installed"
    )
    for seed in range(20):
        h, m = drawn(seed)
        n, lam = len(h), ppi_lambda(h, m)
        theirs = ppi.ppi_mean_pointestimate(h, m[:n], m[n:], lam=lam)
        assert of_flags(h, m)["prevalence"] == pytest.approx(float(np.ravel(theirs)[0]), abs=1e-12)


@pytest.mark.parametrize(
    ("truth", "expected"),
    [("share", [1 / 2, 0, 1]), ("majority", [1 / 2, 0, 1]), ("any", [1, 0, 1]), ("all", [0, 0, 1])],
)
def test_the_truth_of_a_unit(truth, expected):
    study = people([["a", ""], ["", ""], ["a", "a"]])
    row = sa.prevalence(study, model=machine(["a", "", "a"]), truth=truth).to_frame().iloc[0]
    assert row["humans"] == pytest.approx(np.mean(expected))


def test_a_majority_is_more_than_half():
    study = people([["a", "a", ""], ["a", "", ""], ["", "", ""]])
    row = sa.prevalence(study, model=machine(["a", "", ""]), truth="majority").to_frame().iloc[0]
    assert row["humans"] == pytest.approx(1 / 3)


# ---- Limits --------------------------------------------------------------------------------------


def test_all_units_are_checked():
    row = of_flags([1, 0, 1, 0], [1, 1, 0, 0])
    assert row["standard_error"] == 0
    assert row[["prevalence", "low", "high"]].tolist() == [0.5, 0.5, 0.5]
    found = sa.prevalence(ONE, model=MODEL.head(12))
    expected = "About 6 of 12 units have 'a' (95%: 6 to 6); the model alone has 5; 12 checked"
    assert found.sentences[0] == f"{expected} units."
    assert found.caution == ""


def test_shares_of_all_units_have_no_error():
    """Sums of thirds in two strata: the ends must not differ from the estimate by rounding."""
    study = people([[{"a"} if (unit + g) % 7 < 3 else "" for g in range(3)] for unit in range(39)])
    found = sa.prevalence(study, model=machine(["a" if k % 4 else "" for k in range(39)]))
    row = found.frame.iloc[0]
    assert row["low"] == row["high"] == row["prevalence"] == pytest.approx(found.frame["humans"][0])
    assert row["worth"] == np.inf
    expected = "About 17 of 39 units have 'a' (95%: 17 to 17); the model alone has 29"
    assert found.sentences[0] == f"{expected}; 39 checked units."


def test_a_population_of_which_all_units_were_checked():
    """None of 50 units has the label: Wilson's t² / (50 + t²) with 49 degrees of freedom."""
    row = of_flags([0] * 50, [0] * 50, target="beyond")
    assert row["high"] == pytest.approx(4.0383871 / 54.0383871, abs=1e-7)
    found = sa.prevalence(ONE, model=MODEL, target="beyond")
    assert found.sentences[0].startswith("About 19 in 40 units of the population have 'a' (95%: ")


def test_no_checked_unit_has_the_label():
    """The high end is that of PREVALENCE: 20 of 200 units, none with the label."""
    row = of_flags([0] * 20, [0] * 200)
    assert row[["prevalence", "standard_error", "low"]].tolist() == [0, 0, 0]
    assert row["high"] == pytest.approx(0.1646714400, abs=5e-11)
    assert row["count_high"] == 33


def test_the_model_marks_none_of_the_checked_units():
    """7 of 20 checked units have the label; the model marks 10 of the other 180."""
    row = of_flags([1] * 7 + [0] * 13, [0] * 190 + [1] * 10)
    found = row[["prevalence", "standard_error", "low", "high"]].tolist()
    assert found == pytest.approx([0.35, 0.1038090352, 0.1382267133, 0.5698234414], abs=5e-11)
    assert not row["corrected"]
    assert row["reason"] == "humans alone: the model marks none of the checked units"
    assert row["worth"] == 20


@pytest.mark.parametrize("n", [1, 2])
def test_fewer_than_three_checked_units_have_no_interval(n):
    row = of_flags([1] * n, [1, 0, 1, 0, 0, 1])
    assert np.isnan(row[["low", "high", "humans_low", "worth"]].astype(float)).all()
    assert row["reason"] == "fewer than 3 checked units"


@pytest.mark.parametrize("clusters", [[1] * 12, [1] * 11 + [2]])
def test_too_few_clusters_have_no_interval(clusters):
    study = ONE.sampled(cluster=dict(enumerate(clusters)))
    found = sa.prevalence(study, model=MODEL)
    assert found.frame["low"].isna().all()
    assert {*found.frame["reason"]} == {"clusters leave too few degrees of freedom"}
    assert "no interval" in found.sentences[0]
    assert [*json.loads(found.to_json())[0]][:3] == ["label", "humans", "humans_low"]


def test_a_label_that_nobody_gave():
    with pytest.warns(SetagreeWarning, match=r"labels=: nobody gave 'A'. Did you mean 'a'\?"):
        found = sa.prevalence(ONE, model=MODEL, labels=["A", "b"])
    assert found.frame["label"].tolist() == ["A", "b"]
    assert found.frame["prevalence"].tolist() == pytest.approx([0, 0.228125])
    assert found.frame["high"][0] > 0


def test_equal_shares_have_no_spread():
    """One of three people gives the label everywhere: the squares are 0, not rounding."""
    found = sa.prevalence(people([["a", "", ""]] * 50), model=machine(["a"] * 25 + [""] * 75))
    assert found.frame["standard_error"].tolist() == [0]


def test_weights_that_are_equal_change_no_number_but_the_finite_correction():
    plain = sa.prevalence(ONE, model=MODEL).frame
    equal = sa.prevalence(ONE.sampled(sampling_weight=dict.fromkeys(range(12), 7)), model=MODEL)
    assert equal.frame["prevalence"].tolist() == pytest.approx(plain["prevalence"].tolist())
    assert (equal.frame["high"] > plain["high"]).all()


def test_strata_of_known_size_are_weights():
    """20 units of stratum s and 40 of t with 5 checked units each; t weighs twice as much."""
    study = people([["a", "a"], *[["", ""]] * 4, *[["a", "a"]] * 3, *[["", ""]] * 2])
    strata = {unit: "s" if unit < 5 else "t" for unit in range(10)}
    drawn = study.sampled(strata=strata, population_size={"s": 20, "t": 40})
    weighted = study.sampled(sampling_weight={u: 1 + (u >= 5) for u in range(10)})
    model = machine(["a", "", "a", "", "", "a", "a", "", "", "a"] + ["a", ""] * 25)
    frames = [sa.prevalence(each, model=model).frame for each in (drawn, weighted)]
    pd.testing.assert_frame_equal(*frames)
    assert frames[0]["humans"][0] == pytest.approx((20 * 1 / 5 + 40 * 3 / 5) / 60)


# ---- Where answers come from ---------------------------------------------------------------------


def test_the_model_is_a_rater_of_the_study():
    rows = pd.concat([ONE.to_long(), MODEL.assign(rater="gpt")], ignore_index=True)
    inside = sa.prevalence(sa.Annotations.from_long(rows), model="gpt")
    outside = sa.prevalence(ONE, model=MODEL)
    pd.testing.assert_frame_equal(inside.frame, outside.frame)
    assert inside.model == "gpt"


def test_the_corpus_is_a_tally():
    alone = sa.Annotations.from_long(MODEL.assign(rater="gpt"))
    small = sa.prevalence(ONE, model=MODEL.head(12), corpus=sa.Tally.from_annotations(alone))
    pd.testing.assert_frame_equal(small.frame, sa.prevalence(ONE, model=MODEL).frame)


def test_categories_are_labels():
    rows = [("ann", k, "yes" if k % 3 else "no") for k in range(40)]
    rows += [("gpt", k, "yes" if k % 4 else "no") for k in range(200)]
    study = sa.Annotations.from_triples(rows, kind="category")
    frame = sa.prevalence(study, model="gpt").frame.set_index("label")
    assert frame["prevalence"].sum() == pytest.approx(1)
    assert frame.loc["no", "model"] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"model": MODEL.drop(index=[3, 5])}, DataError, "no answer to 2 checked units of 12"),
        ({"model": MODEL.assign(unit=MODEL["unit"] + 99)}, DataError, "no unit of the model is"),
        ({"model": pd.concat([MODEL, MODEL.head(1)])}, DataError, "unit 0"),
        ({"model": "gpt"}, DataError, "model 'gpt' gave no answer"),
        ({"model": [MODEL, MODEL]}, DataError, "rater of the study"),
        ({"model": ["h0"]}, DataError, "no unit has a human answer"),
        ({"model": MODEL, "truth": "mean"}, OptionError, "truth='mean' is unknown"),
        ({"model": MODEL, "target": "all"}, OptionError, "target='all' is unknown"),
        ({"model": MODEL, "labels": "a"}, OptionError, "must be a list of labels"),
        ({"model": MODEL, "level": 95}, OptionError, "level=95"),
        ({"model": MODEL, "labels": [["a"]]}, OptionError, "must be a list of labels"),
        ({"model": MODEL, "labels": []}, OptionError, "must be a list of labels"),
        ({"model": []}, OptionError, r"rater of the study \('h0'\), .* none is named"),
        ({"model": MODEL, "corpus": MODEL}, OptionError, "corpus="),
        ({"model": MODEL, "corpus": tally("a")}, DataError, "corpus= lacks answers of the model"),
        ({"model": MODEL, "corpus": EMPTY}, DataError, "corpus= lacks answers of the model"),
        ({"model": MODEL, "corpus": tally("a", "a")}, DataError, "one answer per unit"),
        ({"model": MODEL, "corpus": tally(1, kind="number")}, DataError, "of the kind 'labels'"),
    ],
)
def test_refusals(options, error, match):
    with pytest.raises(error, match=match):
        sa.prevalence(ONE, **options)


def test_weights_and_clusters_together():
    """The variance by clusters of 10.10 in STATISTICS, for the humans alone, from its matrix."""
    study = ONE.sampled(cluster=dict(enumerate(CLUSTERS)), sampling_weight=WEIGHTS)
    found = sa.prevalence(study, model=machine([""] * 40), labels=["a"]).frame.iloc[0]
    h, w = np.array(["a" in x for x in GOLDEN["humans"]]), np.array([*WEIGHTS.values()])
    sums = [np.bincount(CLUSTERS, x)[1:] for x in (w * (h - np.average(h, weights=w)), w**2, w)]
    S, Q_g, share = sums[0], sums[1], sums[2] / w.sum()
    Q = Q_g.sum()
    C = np.diag(Q_g) - np.outer(Q_g, share) - np.outer(share, Q_g) + np.outer(share, share) * Q
    c = Q_g / np.diag(C)
    plain = (w**2 * (h - np.average(h, weights=w)) ** 2).sum()
    assert found["design_effect"] == pytest.approx(max(1, (c * S**2).sum() / plain))
    df = Q**2 / (np.outer(c, c) * C**2).sum()
    assert found["degrees_of_freedom"] == pytest.approx(df)
    weighted = sa.prevalence(RUNS["weights 1 2 1 3 1 1 2 2 1 1 1 4"][0], model=MODEL).frame
    both = sa.prevalence(study, model=MODEL).frame
    assert both["prevalence"].tolist() == weighted["prevalence"].tolist()


def test_a_study_without_labels():
    study = people([["", ""], ["", ""], ["", ""]])
    with pytest.raises(DataError, match="nobody gave a label"):
        sa.prevalence(study, model=machine([""] * 5))


def test_numbers_have_no_labels():
    rows = [(who, k, k % 3) for who in ("ann", "gpt") for k in range(5)]
    study = sa.Annotations.from_triples(rows, kind="number")
    with pytest.raises(DataError, match="numbers have no labels"):
        sa.prevalence(study, model="gpt")


def test_warnings_name_what_is_few():
    with pytest.warns(SetagreeWarning, match=r"Only 12 units checked.*marks fewer than 5 .*'b'"):
        sa.prevalence(ONE, model=MODEL)


def test_a_hostile_label_stays_in_its_line():
    label = "<script>\n|x"
    study = sa.Annotations.from_triples([("ann", unit, {label}) for unit in range(12)])
    sentence = sa.prevalence(study, model=MODEL).sentences[0]
    assert sentence.startswith("About 40 of 40 units have '<script>\\n|x' (95%: ")


def test_what_is_printed():
    found = sa.prevalence(ONE, model=MODEL)
    assert found.sentences[1] == (
        "About 9 of 40 units have 'b' (95%: 3 to 20); the model alone has 11; 12 checked units."
    )
    row = "a      0.5000  0.2342, 0.7658  0.4000    0.4857    0.3022, 0.6983     19     22"
    assert str(found).splitlines()[1] == row
    assert repr(found).startswith("<PrevalenceTable: 3 rows. About 19 of 40 units have 'a' (95%: ")


# ---- Coverage ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n", SIZES)
def test_coverage(n):
    """At least 94% in each design, within three Monte-Carlo standard errors of 1,500 studies."""
    rng, studies = np.random.default_rng(n), 1_500
    least = min(coverage(p, n, model, studies, rng)[0] for p in PREVALENCES for model in MODELS)
    assert least >= 0.94 - 3 * np.sqrt(0.94 * 0.06 / studies)


# ---- Plans ---------------------------------------------------------------------------------------


def test_a_plan_is_the_smallest_sample_with_that_width():
    found = sa.prevalence(ONE, model=MODEL)
    plan = sa.plan(found, sa.PlanGoals(half_width=0.15))
    n = plan.frame["n_units"].tolist()
    enough = sa.plan(found, sa.PlanGoals(n_units=n)).frame
    less = sa.plan(found, sa.PlanGoals(n_units=[x - 1 for x in n])).frame
    for k, label in enumerate(["a", "b", "c"]):
        widths = [f.loc[f["label"] == label, "half_width"].iloc[k] for f in (enough, less)]
        assert widths[0] <= 0.15 < widths[1]
    assert plan.frame["n_additional_units"].tolist() == [max(0, x - 12) for x in n]
    assert str(plan).startswith("label  prevalence  units  more units  95% interval")


def test_a_plan_for_the_pilot_itself_has_its_width():
    """Without the certain ends, which here bind no interval of a and b."""
    found = sa.prevalence(ONE, model=MODEL, labels=["a", "b"])
    plan = sa.plan(found, sa.PlanGoals(n_units=[12]))
    width = (found.frame["high"] - found.frame["low"]) / 2
    assert plan.frame["half_width"].tolist() == pytest.approx(width.tolist())
    assert repr(plan) == "<PrevalencePlan: 2 rows>"


def test_a_plan_for_all_units_is_a_count():
    """The pilot has 5 of 12 units with the label, the corpus 16 of 40: it is no exact part."""
    found = sa.prevalence(ONE, model=MODEL)
    plan = sa.plan(found, sa.PlanGoals(half_width=1e-9))
    assert plan.frame["n_units"].tolist() == [40] * 3
    assert plan.frame["half_width"].tolist() == [0] * 3
    with pytest.raises(OptionError, match="the corpus has 40 units"):
        sa.plan(found, sa.PlanGoals(n_units=[41]))


def test_a_plan_that_no_sample_reaches():
    """Weights have no finite correction: the plan has all units, and the width that they give."""
    found = sa.prevalence(ONE.sampled(sampling_weight=WEIGHTS), model=MODEL)
    plan = sa.plan(found, sa.PlanGoals(half_width=0.01)).frame
    assert plan["n_units"].tolist() == [40] * 3
    assert (plan["half_width"] > 0.01).all()


@pytest.mark.parametrize("goals", [{"power": 0.8}, {"assurance": 0.8}, {"at_least": 0.1}])
def test_a_plan_knows_no_other_goals(goals):
    with pytest.raises(OptionError, match="of a coefficient, not of a prevalence"):
        sa.plan(sa.prevalence(ONE, model=MODEL), sa.PlanGoals(**goals))


def test_checked_units_that_are_no_random_sample():
    """All 20 checked units are among the 20 of 60 that the model marks: 1 in C(60, 20)."""
    corpus = ["x" if k < 20 else "y" for k in range(60)]
    model = pd.DataFrame({"unit": range(60), "labels": corpus})
    people = pd.DataFrame(
        [(k, rater, "x") for k in range(20) for rater in "ab"], columns=["unit", "rater", "labels"]
    )
    with pytest.warns(SetagreeWarning, match="'x', 'y' in a share of the checked units"):
        sa.prevalence(sa.Annotations.from_long(people), model=model)


def test_strata_of_known_size_with_one_human_per_unit():
    """Weights N_s / n_s: 1/2 of the 10 units of s and 1/4 of the 30 of t have the label."""
    rows = [
        (f"{stratum}{k}", "ann", "a" if k < 1 else "b", stratum)
        for stratum, n in (("s", 2), ("t", 4))
        for k in range(n)
    ]
    people = sa.Annotations.from_long(
        pd.DataFrame(rows, columns=["unit", "rater", "labels", "stratum"]), unit_columns=["stratum"]
    ).sampled(strata="stratum", population_size={"s": 10, "t": 30})
    corpus = [f"{stratum}{k}" for stratum, n in (("s", 10), ("t", 30)) for k in range(n)]
    model = pd.DataFrame({"unit": corpus, "labels": ["a", "b"] * 20})
    with pytest.warns(SetagreeWarning, match="Only 6 units checked"):
        found = sa.prevalence(people, model=model, labels=["a"])
    assert found.frame["humans"].item() == pytest.approx((10 / 2 + 30 / 4) / 40, rel=1e-12)


def test_a_marked_model_is_no_human_beside_a_model_in_another_table():
    rows = [(u, "zoe", "a", "model") for u in range(12)]
    rows += [(u, h, "ab"[u % 2], "human") for u in range(6) for h in ("h1", "h2")]
    table = pd.DataFrame(rows, columns=["unit", "rater", "labels", "role"])
    study = sa.Annotations.from_long(table, rater_columns=["role"])
    kim = pd.DataFrame({"unit": range(12), "labels": ["a", "b"] * 6})
    with pytest.warns(SetagreeWarning, match="Only 6 units checked"):
        found = sa.prevalence(study, model=kim)
    assert found.checked.n == 6
    assert {*found.frame["reason"]} == {None}
