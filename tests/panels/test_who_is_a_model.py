"""Who is a model: what is named, what marks it, and who counts among the people."""

import pandas as pd
import pytest

import setagree as sa
from setagree.errors import OptionError
from setagree.inference.panel_members import people_of
from setagree.study.attributes import marked_models, models_sentences

ANSWERS = {
    "ann": ["a", "b", "a", "c"],
    "bob": ["a", "b", "b", "c"],
    "gpt-4o": ["a", "a", "a", "a"],
    "llama-3": ["c", "b", "a", "c"],
}
ROLES = {"ann": "human", "bob": "Human", "gpt-4o": "model", "llama-3": "model"}
TABLE = pd.DataFrame(ANSWERS).melt(var_name="rater", value_name="labels", ignore_index=False)
TABLE = TABLE.rename_axis("unit").reset_index().assign(role=TABLE["rater"].map(ROLES).to_numpy())
PEOPLE = TABLE[TABLE["rater"].isin(["ann", "bob"])]


def test_a_model_is_set_apart_in_every_function():
    wanted = sa.krippendorff_alpha(PEOPLE).estimate
    for data in (TABLE, sa.read(TABLE), ANSWERS):
        alpha = sa.krippendorff_alpha(data, model=["gpt-4o", "llama-3"])
        assert alpha.estimate == wanted
        assert alpha.study.models_apart == ("gpt-4o", "llama-3")
    table = sa.agreement(TABLE, model="gpt-4o,llama-3")
    assert "\nSet apart, as models: 'gpt-4o', 'llama-3'.\n" in str(table)
    assert table["alpha"].estimate == wanted


def test_a_column_of_roles_marks_models():
    study = sa.read(TABLE, rater_columns=["role"])
    assert marked_models(study) == ["gpt-4o", "llama-3"]
    said = "Models count as raters: 'gpt-4o', 'llama-3'. model= sets models apart."
    assert said in str(sa.agreement(study))
    one = sa.read(TABLE[TABLE["rater"] != "gpt-4o"], rater_columns=["role"])
    assert "Models count as raters: 'llama-3'." in str(sa.agreement(one))


@pytest.mark.parametrize("roles", [{"gpt-4o": "judge"}, {}])
def test_other_columns_mark_nobody(roles):
    study = sa.read(TABLE).with_raters({"role": ROLES | {"ann": "lead"} | roles})
    assert marked_models(study) == []


def test_a_role_counts_more_than_a_name():
    study = sa.read(TABLE).with_raters({"role": ROLES | {"llama-3": "human"}})
    assert marked_models(study) == ["gpt-4o"]
    assert people_of(study, None, [2]).tolist() == [True, True, False, True]


def test_other_models_are_not_among_the_people():
    marked = sa.read(TABLE, rater_columns=["role"])
    assert people_of(marked, None, [2]).tolist() == [True, True, False, False]
    with pytest.warns(sa.SetagreeWarning, match="because of names of models: 'llama-3'. If they"):
        assert people_of(sa.read(TABLE), None, [2]).tolist() == [True, True, False, False]
    assert people_of(sa.read(TABLE), ["ann", "llama-3"], [2]).tolist() == [True, False, False, True]


@pytest.mark.filterwarnings("ignore:The margin of")
def test_marked_models_need_no_name():
    table = pd.concat([TABLE.assign(unit=TABLE["unit"] + 10 * k) for k in range(10)])
    people = table.assign(rater=table["rater"].replace("llama-3", "eva"))
    people["role"] = people["rater"].map(ROLES).fillna("human")
    for function, more in (
        (sa.alt_test, {"min_units": 10}),
        (sa.noninferiority_test, {"margin": 0.01}),
        (sa.prevalence, {}),
        (sa.soft_scores, {"rng": 1}),
    ):
        role = function(sa.read(people, rater_columns=["role"]), **more)
        assert str(role) == str(function(people, model="gpt-4o", **more))
        with pytest.raises(OptionError, match=r"no(ne| model) is named"):
            function(people[people["role"] == "human"], **more)


def test_a_report_counts_no_marked_model(tmp_path):
    study = sa.read(TABLE, rater_columns=["role"])
    words = sa.report(study, tmp_path / "r.md", model="gpt-4o", n_resamples=20, rng=1).read_text()
    assert "4 units · 2 humans (2 models are left out) · 8 ratings" in words


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["ChatGPT"], "Raters with names of models: 'ChatGPT'. "),
        (["GPT", "Qwen-max"], "Raters with names of models: 'GPT', 'Qwen-max'. "),
        (["claude-opus"], "Raters with names of models: 'claude-opus'. "),
        (["Claude"], "Raters who may be models: 'Claude'. "),
        (["Claude", "gemini"], "Raters who may be models: 'Claude', 'gemini'. "),
        (["Claudette", "Gemma B.", "Philip", "Claude-Marie", "Grokowski"], ""),
    ],
)
def test_names_that_only_models_have_and_names_that_people_have_too(names, sentence):
    study = sa.Annotations.from_triples([(who, k, "a") for who in ["ann", *names] for k in (1, 2)])
    said = " ".join(models_sentences(study))
    assert said == (sentence and f"{sentence}model= sets models apart.")


def test_who_may_be_a_person_is_counted_and_asked_about():
    study = sa.Annotations.from_triples([(x, 1, "a") for x in ("ann", "Claude", "gpt-4")])
    with pytest.warns(sa.SetagreeWarning, match="Counted among the people: 'Claude'. If that is a"):
        assert people_of(study, None, [2]).tolist() == [True, True, False]


def test_units_of_models_alone_are_not_called_unrated():
    answers = {"ann": ["a", "b", None], "bob": ["a", "b", None], "gpt": ["a", "a", "a"]}
    said = str(sa.agreement(answers, model="gpt"))
    assert "1 unit that nobody else rated was left out" in said


def test_names_are_checked():
    with pytest.raises(sa.SetagreeError, match="rater 'gpt-5' gave no answer in this study"):
        sa.agreement(TABLE, model="gpt-5")
    tally = sa.tally(TABLE)
    with pytest.raises(sa.SetagreeError, match="model= requires raters, which a tally lacks"):
        sa.agreement(tally, model="gpt-4o")
