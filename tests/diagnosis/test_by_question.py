"""Agreement per question, and the mean over the questions."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import setagree as sa
from setagree.diagnosis.by_question import by_question
from setagree.errors import DataError, DroppedRowsWarning

RNG = np.random.default_rng(5)
TRUTH = RNG.integers(1, 4, 40)
TABLE = pd.DataFrame(
    [
        (unit, rater, *("abc"[noisy() - 1] for _ in "x"), noisy())
        for unit, t in enumerate(TRUTH)
        for rater in ("ann", "bob", "cem")
        for noisy in [lambda t=t: int(t if RNG.random() < 0.7 else RNG.integers(1, 4))]
    ],
    columns=["unit", "rater", "emotion", "stance"],
)
QUESTIONS = ["emotion", "stance"]


def parts():
    return (
        sa.krippendorff_alpha(TABLE, labels="emotion"),
        sa.krippendorff_alpha(TABLE, value="stance", distance="interval"),
    )


def test_each_question_is_a_study_of_its_kind():
    frame = by_question(TABLE, QUESTIONS).to_frame()
    assert frame["question"].tolist() == ["emotion", "stance", "mean"]
    assert frame["kind"].tolist()[:2] == ["labels", "number"]
    for k, alpha in enumerate(parts()):
        row = frame.iloc[k]
        assert (row["estimate"], row["low"], row["high"]) == (alpha.estimate, *alpha.interval())
        assert (row["n_units"], row["n_ratings"]) == (40, 120)


def test_the_mean_pairs_the_questions_by_unit():
    """SE² = sum_i (x_i - mean)² / (n (n - 1)) with x_i the mean of the linearised values."""
    x = sum(alpha.influence.to_numpy() for alpha in parts()) / 2
    last = by_question(TABLE, QUESTIONS).frame.iloc[-1]
    assert last["estimate"] == pytest.approx(np.mean([a.estimate for a in parts()]), abs=1e-14)
    assert last["standard_error"] == pytest.approx(stats.sem(x), abs=1e-12)
    half = stats.t.ppf(0.975, 39) * stats.sem(x)
    assert last["high"] - last["low"] == pytest.approx(2 * half, abs=1e-12)


@pytest.mark.parametrize("unit", [1, 0.25])
def test_weights_and_distances_of_questions(unit):
    weights = {"stance": 3 * unit, "emotion": unit}
    found = by_question(TABLE, QUESTIONS, weights=weights, distance={"stance": "interval"})
    a, b = (found[q].estimate for q in QUESTIONS)
    assert found["stance"].distance == "interval"
    assert found.mean.value == pytest.approx((a + 3 * b) / 4, abs=1e-14)


def test_a_column_of_questions():
    long = TABLE.melt(["unit", "rater"], var_name="question", value_name="answer")
    for questions in ("question", "all"):
        found = by_question(long, questions, labels="answer")
        pd.testing.assert_frame_equal(found.frame, by_question(TABLE, QUESTIONS).frame)


def test_rows_of_a_column_of_questions():
    long = TABLE.melt(["unit", "rater"], var_name="question", value_name="answer")
    asked = long["question"].map({"emotion": 1, "stance": " 2 "}).astype(object)
    more = long.assign(question=asked)
    more.loc[len(more)] = [0, "ann", None, "a"]
    with pytest.warns(DroppedRowsWarning, match="1 row with nothing in column 'question' left out"):
        found = by_question(more, "question", labels="answer")
    assert found.frame["question"].tolist() == ["1", "2", "mean"]
    assert found["1"].estimate == parts()[0].estimate
    twice = long.assign(question=long["question"].map({"emotion": 1, "stance": "1"}))
    with pytest.raises(DataError, match="has questions as numbers and as text: 1, '1'"):
        by_question(twice, "question", labels="answer")


def test_a_condition_on_the_column_of_questions():
    long = TABLE.melt(["unit", "rater"], var_name="question", value_name="answer")
    with pytest.warns(DroppedRowsWarning, match=r"where='question != stance' drops 120 of 240"):
        found = by_question(long, "question", labels="answer", where="question != stance")
    assert found["emotion"].estimate == parts()[0].estimate


@pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")
@pytest.mark.filterwarnings("ignore::setagree.errors.BlankLabelsWarning")
@pytest.mark.parametrize("missing", [(), ("stance", 7), ("emotion", 0)])
def test_clusters(missing):
    """The mean is that of the estimates; it has a standard error if the units are the same."""
    table = TABLE.assign(doc=TABLE["unit"] // 4)
    if missing:
        name, unit = missing
        table[name] = table[name].astype(object).mask(table["unit"] == unit, None)
    found = by_question(table, QUESTIONS, reading=sa.Reading(cluster="doc", blank="missing"))
    last = found.frame.iloc[-1]
    assert last["estimate"] == pytest.approx(found.frame["estimate"][:2].mean(), abs=1e-14)
    assert last["n_units"] == 40
    reason = "the units were sampled, and differ between questions" if missing else None
    assert (last["reason"], np.isnan(last["standard_error"])) == (reason, bool(missing))


@pytest.mark.parametrize("unit", ["item", "stimulus_text"])
def test_a_column_of_questions_is_no_unit(unit):
    """Whether the unit has a usual name or not, the error names the way to read questions."""
    table = pd.DataFrame(
        {unit: ["t1", "t2"] * 4, "question": ["q1"] * 4 + ["q2"] * 4, "coder": [*"aabb"] * 2}
    ).assign(answer=[*"xyxxzzzy"])
    with pytest.raises(sa.SetagreeError, match=r"use by_question\(data, 'question'\)\."):
        sa.agreement(table)
    found = sa.by_question(table, "question", unit=unit)
    assert found.to_frame()["question"].tolist() == ["q1", "q2", "mean"]


def test_an_export_with_several_controls(tmp_path):
    names = ("emotion", "topic")
    tasks = [
        {"id": unit, "data": {}, "annotations": [
            {"completed_by": rater, "result": [
                {"from_name": name, "to_name": "t", "type": "choices",
                 "value": {"choices": [row["emotion"] if name == "emotion" else "x"]}}
                for name in names
            ]}
            for rater, row in enumerate(rows.to_dict("records"))
        ]}
        for unit, rows in TABLE.groupby("unit")
    ]  # fmt: skip
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(tasks))
    frame = by_question(path, "all").to_frame().set_index("question")
    assert frame.loc["emotion", "estimate"] == parts()[0].estimate
    assert frame.loc["topic", "reason"] == "only one value was used"
    assert frame.loc["mean", "reason"] == "without 'topic'"
    one = by_question(path, ["emotion"]).to_frame()
    assert one["question"].tolist() == ["emotion", "mean"]


@pytest.mark.parametrize(
    ("questions", "options", "sentence"),
    [
        ("all", {}, "the table has no column of questions; list the columns of answers"),
        (["emotoin"], {}, "no column 'emotoin'; the columns are"),
        (
            QUESTIONS,
            {"weights": {"x": 1}},
            "number of 0 or more for each of 'emotion', 'stance', one of them more than 0, not {",
        ),
        (
            QUESTIONS,
            {"distance": {"stnce": "interval"}},
            "distance= has a distance for 'stnce'; the questions are 'emotion', 'stance'.",
        ),
        ([], {}, "questions=[] names no question"),
        (QUESTIONS, {"reading": sa.Reading(question="a")}, "question= names one"),
    ],
)
def test_refusals(questions, options, sentence):
    with pytest.raises(sa.SetagreeError) as caught:
        by_question(TABLE, questions, **options)
    assert sentence in str(caught.value)


def test_no_interval_of_the_mean_if_a_question_has_none():
    rare = TABLE.assign(stance=[1] * 119 + [2])
    last = by_question(rare, QUESTIONS).frame.iloc[-1]
    assert np.isnan(last["low"])
    assert last["reason"] == "there is no interval for 'stance'"
    assert "mean: there is no interval for 'stance'." in str(by_question(rare, QUESTIONS))


def pairs_of_answers(**questions):
    """Return a table of two raters: each question has a word per unit, the answers of both."""
    rows = [
        {"unit": u, "rater": r, **{q: words[u][r] for q, words in questions.items()}}
        for u in range(20)
        for r in (0, 1)
    ]
    return pd.DataFrame(rows)


def test_no_interval_of_a_mean_without_any_disagreement():
    """A standard error of 0 is not certainty: the mean of 1 and 1 is not 1.0000 to 1.0000."""
    agreed = ["aa", "bb", "cc", "dd"] * 5
    found = by_question(pairs_of_answers(x=agreed, y=agreed[::-1]), ["x", "y"])
    last = found.frame.iloc[-1]
    assert found.frame["low"][:2].between(0.5, 0.9).all()
    assert (last["estimate"], last["standard_error"]) == (1, 0)
    assert last[["low", "high", "p_value"]].isna().all()
    assert last["reason"] == "the standard error is 0"


def test_a_mean_with_a_question_without_disagreement_is_rough():
    agreed, mixed = ["aa", "bb", "cc", "dd"] * 5, ["aa", "bb", "ab", "ba", "bb"] * 4
    last = by_question(pairs_of_answers(x=agreed, y=mixed), ["x", "y"]).frame.iloc[-1]
    sentence = "The interval is rough, as there are rough ones, or standard errors of 0, for 'x'."
    assert last["remark"] == sentence
    assert last["low"] < last["estimate"] < last["high"]


def test_the_upper_end_of_a_mean_is_at_most_1():
    words = ["aa", "bb", "cc", "dd"] * 4 + ["aa", "bb", "ab", "cc"]
    last = by_question(pairs_of_answers(x=words, y=words), ["x", "y"]).frame.iloc[-1]
    half = stats.t.ppf(0.975, 19) * last["standard_error"]
    assert last["estimate"] + half > 1
    assert last["low"] == pytest.approx(last["estimate"] - half, abs=1e-12)
    assert last["high"] == 1


@pytest.mark.parametrize(
    ("asked", "weights"),
    [(["x"], None), (["x", "none"], None), (["x", "y"], {"x": 2, "y": 0}), (["agreed"], None)],
)
def test_the_mean_of_one_question_is_the_question(asked, weights):
    """Also next to questions without an estimate or with weight 0, and if all answers agree."""
    words = ["aa", "bb", "cc", "dd"] * 4 + ["aa", "bb", "ab", "cc"]
    table = pairs_of_answers(
        x=words, y=["ab", "bb"] * 10, none=["aa"] * 20, agreed=words[:16] + words[:4]
    )
    frame = by_question(table, asked, weights=weights).frame
    shown = ["estimate", "standard_error", "low", "high", "interval_method", "p_value"]
    assert frame[shown].iloc[0].notna().all()
    assert frame[shown].iloc[-1].tolist() == frame[shown].iloc[0].tolist()


def test_a_mean_names_questions_without_an_estimate_and_without_an_interval():
    same, rare = ["aa"] * 20, ["aa"] * 19 + ["ab"]
    last = by_question(pairs_of_answers(x=same, y=rare), ["x", "y"]).frame.iloc[-1]
    assert last["reason"] == "without 'x'; there is no interval for 'y'"


def test_one_name_is_a_column_of_answers():
    """Answers are not names of questions: disagreement 2/6 of pairs, by chance 18/30, alpha 4/9."""
    table = pd.DataFrame({"unit": [1, 1, 2, 2, 3, 3], "rater": ["ann", "ben"] * 3})
    table = table.assign(emotion=["joy", "fear"] * 3, stance=[*"ppppcc"])
    table.loc[3, "stance"] = "c"
    for questions in ("stance", ["stance"]):
        found = by_question(table, questions).frame
        assert found["question"].tolist() == ["stance", "mean"]
        assert found["estimate"].tolist() == pytest.approx([4 / 9, 4 / 9], abs=1e-14)
    named = by_question(table.rename(columns={"emotion": "topic"}), "topic", labels="stance")
    assert named.frame["question"].tolist() == ["joy", "fear", "mean"]


@pytest.mark.parametrize(
    "asked", [["emotion,stance"], ["emotion", "--questions", "stance"]], ids="+".join
)
def test_command(tmp_path, asked):
    cli = pytest.importorskip("setagree.cli.app")
    from typer.testing import CliRunner

    TABLE.to_csv(tmp_path / "t.csv", index=False)
    words = ["score", str(tmp_path / "t.csv"), "--questions", *asked, "-f", "json"]
    done = CliRunner().invoke(cli.app, words)
    rows = json.loads(done.stdout)
    assert [row["question"] for row in rows] == ["emotion", "stance", "mean"]
    assert rows[1]["estimate"] == pytest.approx(parts()[1].estimate)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ({"emotion": 3, "stance": -1}, "one number of 0 or more for each of"),
        ({"emotion": 0, "stance": 0}, "one number of 0 or more for each of"),
        ({"emotion": 1, "stance": np.nan}, "one number of 0 or more for each of"),
        ({"emotion": 3}, "one number of 0 or more for each of 'emotion', 'stance'"),
    ],
)
def test_weights_that_are_refused(weights, sentence):
    with pytest.raises(sa.SetagreeError, match=sentence):
        by_question(TABLE, QUESTIONS, weights=weights)


def test_models_among_the_raters_are_named():
    rows = [(u, r, role, "x", "y" if u else "x") for u in range(9)
            for r, role in (("ann", "human"), ("ben", "human"), ("gpt", "model"))]  # fmt: skip
    table = pd.DataFrame(rows, columns=["unit", "rater", "role", *QUESTIONS])
    marked = sa.Reading(rater_columns=["role"])
    said = str(sa.by_question(table, QUESTIONS, reading=marked, kind="category"))
    assert said.count("Models count as raters: 'gpt'. model= sets models apart.") == 1
    apart = str(sa.by_question(table, QUESTIONS, reading=marked, kind="category", model="gpt"))
    assert "Set apart, as models: 'gpt'." in apart
    assert "count as raters" not in apart
