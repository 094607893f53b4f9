"""Answers that are Python objects: what is read as raters, units and label sets."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError, OptionError, SwappedColumnsWarning

A, B = ["x", "y", "x", "y"], ["x", "y", "y", "y"]
TRIPLES = [(who, k, x) for who, given in (("ann", A), ("bob", B)) for k, x in enumerate(given)]
SETS = [["x"], ["x", "y"], []], [["x"], ["y"], []]
SCORES = [[1, 2, 3, None], [1, 2, 2, 4], [None, 2, 3, 4]]
FLAGS = np.array([[[1, 0], [1, 1], [0, 0]], [[1, 0], [0, 1], [0, 0]]])
FRAME = pd.DataFrame([[1, 0], [0, 1], [1, 1], [1, 0]], columns=["a", "b"], index=[1, 2, 3, 4])

# Two raters, who differ on one of five units, use each of two answers five times:
# alpha = 1 - (1/5) / (2 * 5 * 5 / (10 * 9)) = 0.64.
ANN, BOB = (dict(zip("stuvw", answers, strict=True)) for answers in ("xyxyx", "xyyyx"))


def long(study):
    """Return who gave what, with raters by their order."""
    codes = {rater: k for k, rater in enumerate(study.raters)}
    rows = study.to_triples()
    return {(codes[rater], unit, answer) for rater, unit, answer in rows}


OF_TEXT = [
    (A, B),
    (np.array(A), np.array(B)),
    (tuple(A), pd.Series(B)),
    (pd.Series(A, name="ann"), pd.Series(B, name="bob")),
    (pd.Categorical(A), pd.Index(B)),
    ({"ann": A, "bob": B},),
    ({k: {"ann": a, "bob": b} for k, (a, b) in enumerate(zip(A, B, strict=True))},),
    (dict(enumerate(A)), dict(reversed([*enumerate(B)]))),
    (TRIPLES,),
    ([A, B],),
    (np.array([A, B]),),
    ([{"unit": unit, "rater": who, "labels": x} for who, unit, x in TRIPLES],),
    ({"unit": [t[1] for t in TRIPLES], "rater": [t[0] for t in TRIPLES], "tags": A + B},),
]


@pytest.mark.parametrize("data", OF_TEXT)
def test_one_study_in_many_forms(data):
    # po = 3/4; the raters give x in 2/4 and 1/4: pe = 1/2 1/4 + 1/2 3/4 = 1/2
    assert sa.cohen_kappa(*data).estimate == pytest.approx(0.5, abs=1e-15)
    assert sa.cohen_kappa(*data, kind="category").observed_agreement == 0.75


@pytest.mark.parametrize(
    "data",
    [
        SETS,
        ([*SETS],),
        (FLAGS,),
        ([tuple(map(set, of)) for of in SETS],),
    ],
)
def test_collections_and_flags_are_label_sets(data):
    by_names = {"x": 0, "y": 1}
    sets = [[frozenset(by_names.get(x, x) for x in a) for a in of] for of in SETS]
    wanted = {(k, unit, a) for k, of in enumerate(sets) for unit, a in enumerate(of)}
    found = sa.krippendorff_alpha(*data).study
    assert {(k, u, frozenset(by_names.get(x, x) for x in a)) for k, u, a in long(found)} == wanted


@pytest.mark.parametrize(
    ("data", "options"),
    [
        ((SCORES,), {}),
        ((np.array(SCORES, dtype=float),), {}),
        ((np.array(SCORES, dtype=object),), {}),
        ((np.array(SCORES, dtype=float).T,), {"raters_in_rows": False}),
        (([list(row) for row in zip(*SCORES, strict=True)],), {"raters_in_rows": False}),
        (([list(row) for row in zip(*SCORES, strict=True)],), {"wide": True}),
        (tuple(SCORES), {}),
        ((pd.DataFrame(SCORES).T,), {"wide": True}),
    ],
)
def test_numbers_are_values_and_none_is_no_answer(data, options):
    study = sa.krippendorff_alpha(*data, distance="interval", **options).study
    assert study.kind == "number"
    assert study.n_missing == 2
    given = {(g, u, x) for g, of in enumerate(SCORES) for u, x in enumerate(of) if x is not None}
    assert long(study) == given


def test_sequences_name_raters_and_units():
    study = sa.read({"ann": pd.Series(A, index=list("abcd")), "bob": pd.Series(B, list("abcd"))})
    assert list(study.raters) == ["ann", "bob"]
    assert list(study.units) == list("abcd")
    assert list(sa.read([A, B]).raters) == ["rater 1", "rater 2"]
    alike = [pd.Series(A, name="answer"), pd.Series(B, name="answer")]
    assert list(sa.read(alike).raters) == ["rater 1", "rater 2"]


@pytest.mark.parametrize("shape", [dict, pd.DataFrame])
def test_ordered_categories_are_single_values(shape):
    levels = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    a, b = (pd.Series(x, dtype=levels) for x in (["low", "mid", "high"], ["low", "high", "high"]))
    alpha = sa.krippendorff_alpha(shape({"a": a, "b": b}), wide=True)
    assert alpha.study.order == ("low", "mid", "high")
    assert alpha.distance == "ordinal"


def test_an_order_of_categories_is_kept():
    levels = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    a, b = (pd.Series(x, dtype=levels) for x in (["low", "mid", "high"], ["low", "high", "high"]))
    alpha = sa.krippendorff_alpha(a, b, kind="category", distance="ordinal")
    assert alpha.study.order == ("low", "mid", "high")


GROUPS = {0: 1, 1: 1, 2: 2, 3: 2}


@pytest.mark.parametrize(
    ("function", "name", "value", "options"),
    [
        (sa.score, "coefficient", sa.cohen_kappa, {}),
        (sa.at_least, "threshold", 0.1, {}),
        (sa.plan, "goals", sa.PlanGoals(half_width=0.1), {"rng": 1}),
        (sa.plan, None, None, {"rng": 1}),
        (sa.weights, "distance", "jaccard", {}),
        (sa.weights, None, None, {}),
        (sa.by_group, "by", GROUPS, {"rng": 1}),
        (sa.over_time, "time", GROUPS, {"window": 1}),
        (sa.report, "path", "report.md", {"n_resamples": 19, "rng": 1}),
    ],
)
@pytest.mark.filterwarnings("ignore::setagree.SetagreeWarning")
def test_raters_come_before_a_second_argument(
    function, name, value, options, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shown = Path.read_text if function is sa.report else str
    others = [] if name is None else [value]
    calls = [lambda: function({"rater 1": A, "rater 2": B}, *others, **options)]
    calls.append(lambda: function(A, B, *others, **options))
    if name is not None:
        calls.append(lambda: function(A, B, **{name: value}, **options))
    found = [shown(call()) for call in calls]
    assert found == found[:1] * len(calls)


REFUSED = [
    (([["x"], ["x", "y"]],), "shape 2 rows of 1, 2 answers"),
    ((A, B[:3]), r"shape \(4,\) and \(3,\)"),
    (({"ann": A, "bob": B[:3]},), r"shape {2 keys: \(4,\), \(3,\)}"),
    (([1, 2, 3],), r"shape \(3,\)"),
    ((np.zeros(4),), r"shape \(4,\)"),
    ((np.zeros((2, 2, 2, 2)),), r"shape \(2, 2, 2, 2\)"),
    ((A, "masi"), r"shape \(4,\) and str \('masi'\); .* Options have names, as in distance="),
    (({},), "shape {0 keys: }"),
    (
        tuple(FLAGS),
        r"shape \(\d, 2\) and \(\d, 2\); .* or flags of shape \(raters, units, labels\)",
    ),
    ((np.array(["x", np.nan]), ["x", "y"]), "'nan', which NumPy makes of NaN"),
    ((pd.Series(A), pd.Series(B, index=[1, 2, 3, 4])), "have different indexes"),
    (([ANN, {0: "x", 1: "y"}],), "use wide=True"),
    (({"u": {"ann": "x"}}, {"u": {"bob": "x"}}), "shape {1 key: {1 key: "),
    (({"u": "x"}, {}), "and {0 keys: }"),
    (({"u": "x"}, ["x"]), r"and \(1,\)"),
    (({"unit": 1, "rater": 1, "labels": "x"},) * 2, "rows of a table, or tables: pass one list"),
]


@pytest.mark.parametrize(("data", "sentence"), REFUSED)
def test_other_forms_are_refused_with_their_shapes(data, sentence):
    with pytest.raises(DataError, match=sentence):
        sa.krippendorff_alpha(*data)


@pytest.mark.parametrize("options", [{"unit": "doc"}, {"where": "a == 1"}, {"labels": "tags"}])
def test_options_of_tables_are_refused(options):
    with pytest.raises(OptionError, match="is for tables, not for answers as Python objects"):
        sa.krippendorff_alpha(A, B, **options)


def test_many_short_rows_may_be_units_or_triples():
    rows = [["ann", "u1", "x"], ["bob", "u1", "x"], ["ann", "u2", "y"]] * 2
    with pytest.warns(SwappedColumnsWarning, match=re.escape("raters_in_rows=False; if it is")):
        sa.krippendorff_alpha(rows)


@pytest.mark.parametrize(
    ("data", "options"),
    [
        ((ANN, BOB), {}),
        ((ANN, dict(sorted(BOB.items(), reverse=True))), {"kind": "category"}),
        (({"ann": ANN, "bob": BOB},), {"raters_in_rows": True}),
        (({u: {"ann": ANN[u], "bob": BOB[u]} for u in ANN},), {}),
        (({u: [ANN[u], BOB[u]] for u in ANN},), {"raters_in_rows": False}),
        (({"ann": pd.Series(ANN), "bob": pd.Series(BOB)},), {"wide": True}),
    ],
)
def test_dicts_give_alpha_of_five_units(data, options):
    alpha = sa.krippendorff_alpha(*data, **options)
    assert alpha.estimate == pytest.approx(0.64, abs=1e-15)
    assert sorted(alpha.study.units) == [*"stuvw"]
    assert alpha.study.n_raters == 2


def test_a_missing_key_is_a_missing_answer():
    alpha = sa.krippendorff_alpha({**ANN, "z": "x"}, {"q": "y", **BOB})
    assert alpha.estimate == pytest.approx(0.64, abs=1e-15)


@pytest.mark.parametrize(
    ("data", "options", "remedy"),
    [
        (
            {"ann": ANN, "bob": BOB},
            {},
            "{unit: {rater: answer}}. If it is {rater: {unit: answer}}, use raters_in_rows=True",
        ),
        (
            {u: {"ann": ANN[u], "bob": BOB[u]} for u in ANN},
            {"raters_in_rows": True},
            "{rater: {unit: answer}}. If it is {unit: {rater: answer}}, use raters_in_rows=False",
        ),
        (
            {u: [ANN[u], BOB[u]] for u in ANN},
            {},
            "{rater: [answers]}. If it is {unit: [answers]}, use raters_in_rows=False",
        ),
        (
            {"ann": [*ANN.values()], "bob": [*BOB.values()]},
            {"raters_in_rows": False},
            "{unit: [answers]}. If it is {rater: [answers]}, use raters_in_rows=True",
        ),
    ],
)
def test_far_more_raters_than_units_in_a_dict_may_be_exchanged(data, options, remedy):
    sentence = f"5 raters and only 2 units: the dict is read as {remedy}"
    with pytest.warns(SwappedColumnsWarning, match=re.escape(sentence)):
        sa.krippendorff_alpha(data, **options)


def test_far_more_columns_than_rows_may_be_exchanged():
    rows = [[*ANN.values()], [*BOB.values()]]
    with pytest.warns(SwappedColumnsWarning, match=r"rows are read as units.*raters_in_rows=True"):
        sa.krippendorff_alpha(rows, raters_in_rows=False)
