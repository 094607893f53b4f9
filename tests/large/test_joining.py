"""Humans in one place, the answers of a model in another: joined, they are one study."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError, FileError, RepeatsError, SetagreeWarning
from setagree.large.joining import with_models
from setagree.study.reading import Reading


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, few_draws):
    monkeypatch.chdir(tmp_path)


def whole(n=60):
    """Return a long table of four humans and a model."""
    study = sa.simulate(n, 5, skill=[0.7, 0.7, 0.7, 0.7, 0.9], rng=1)
    table = study.to_long().replace({"rater": {"r5": "gpt"}})
    return table.assign(labels=table["labels"].map(lambda x: sa.format_labels(x) or "[]"))


def apart(table):
    """Return the rows of the humans, and those of the model without its name."""
    is_model = table["rater"] == "gpt"
    return table[~is_model], table[is_model].drop(columns="rater")


def as_set(study):
    """Return who gave what, in any order."""
    return {(str(r), str(u), v) for r, u, v in study.to_triples()}


class TestJoined:
    def test_equals_one_file(self):
        table = whole()
        humans, gpt = apart(table)
        one = sa.Annotations.from_long(table)
        gpt.to_csv("gpt.csv", index=False)
        for model in ("gpt.csv", Path("gpt.csv"), gpt.assign(rater="gpt"), gpt.assign(model="gpt")):
            study, names = with_models(sa.Annotations.from_long(humans), model)
            assert names == ["gpt"]
            assert as_set(study) == as_set(one)
            assert (study.n_units, study.n_raters, study.n_values) == (60, 5, one.n_values)
            alpha = sa.krippendorff_alpha(study)
            assert alpha.estimate == pytest.approx(sa.krippendorff_alpha(one).estimate, abs=1e-13)

    def test_the_alt_test(self):
        table = whole()
        humans, gpt = apart(table)
        humans.to_csv("humans.csv", index=False)
        gpt.to_csv("gpt.csv", index=False)
        expected = sa.alt_test(table, model="gpt")["gpt"]
        for people, model in (("humans.csv", "gpt.csv"), (humans, Path("gpt.csv"))):
            found = sa.alt_test(people, model=model)["gpt"]
            pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())
        nameless = sa.alt_test(humans, model=gpt)["model"]
        pd.testing.assert_frame_equal(nameless.to_frame(), expected.to_frame())

    def test_several_models(self):
        humans, gpt = apart(whole())
        gpt.to_csv("gpt.csv", index=False)
        gpt.to_csv("claude-3.5.csv", index=False)
        table = sa.alt_test(humans, model=["r4", "gpt.csv", "claude-3.5.csv"])
        assert {row.model for row in table} == {"r4", "gpt", "claude-3.5"}
        assert table["gpt"].winning_rate == table["claude-3.5"].winning_rate

    def test_a_name_wins_over_a_path(self):
        humans, gpt = apart(whole())
        named = humans.replace({"rater": {"r4": "gpt.csv"}})
        gpt.to_csv("gpt.csv", index=False)
        study = sa.Annotations.from_long(named)
        joined, names = with_models(study, "gpt.csv")
        assert joined is study
        assert names == ["gpt.csv"]

    def test_read_as_the_humans_were(self):
        humans = pd.DataFrame(
            {"doc": [1, 1, 2, 2], "who": ["a", "b"] * 2, "said": ["X; y", "y", "x", "n/a"]}
        )
        how = {"unit": "doc", "rater": "who", "labels": "said", "label_sep": ";"}
        cells = {"blank": "empty", "case": "lower", "na_values": ["n/a"]}
        study = sa.Annotations.from_long(humans, **how, **cells)
        gpt = pd.DataFrame({"said": ["Y;X", ""], "doc": ["1", "2"], "label": ["-", "-"]})
        joined, _ = with_models(study, gpt)
        answers = joined.to_wide()["model"]
        assert answers.tolist() == [frozenset("xy"), frozenset()]
        numbers = humans.assign(said=[1, 2, 3, 4])
        study = sa.Annotations.from_long(numbers, unit="doc", rater="who", value="said")
        gpt = pd.DataFrame({"id": [1, 2], "score": ["3", "4"]})
        assert with_models(study, gpt)[0].to_wide()["model"].tolist() == [3, 4]

    def test_wide_humans(self):
        wide = pd.DataFrame({"text": ["t1", "t2"], "ann": ["a", "b"], "bob": ["a", "c"]})
        study = sa.Annotations.from_wide(wide, unit="text")
        joined, names = with_models(study, pd.DataFrame({"text": ["t2", "t1"], "tags": ["b", "a"]}))
        assert joined.to_wide()[names[0]].tolist() == [frozenset("a"), frozenset("b")]

    def test_units_that_no_human_has(self):
        humans, gpt = apart(whole())
        odd = pd.concat([gpt.iloc[5:], pd.DataFrame({"unit": ["new"], "labels": ["l1"]})])
        study = sa.Annotations.from_long(humans)
        with pytest.warns(
            sa.SetagreeWarning, match=r"model: 1 of the model's 56 units left out.*'new'"
        ):
            joined, _ = with_models(study, odd)
        assert joined.n_units == 60
        assert joined.to_wide()["model"].isna().sum() == 5
        said = []
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with_models(study, odd, note=said.append)
        assert len(said) == 1

    def test_units_spelled_alike(self):
        study = sa.Annotations.from_triples([("a", 1, "x"), ("b", 1, "x"), ("a", 2, "y")])
        joined, _ = with_models(study, pd.DataFrame({"unit": ["1", " 2 "], "labels": ["x", "x"]}))
        assert np.bincount(joined.unit_codes).tolist() == [3, 2]
        with pytest.warns(sa.SetagreeWarning):
            both = sa.Annotations.from_triples([("a", 1, "x"), ("a", "1", "y"), ("b", "1", "x")])
        joined, _ = with_models(both, pd.DataFrame({"unit": ["1"], "labels": ["x"]}))
        assert np.bincount(joined.unit_codes).tolist() == [1, 3]


def with_repeats():
    """Return humans and a model whose first answers agree, and whose repeats do not."""
    humans, gpt = apart(whole(200))
    parts = []
    for table, answers in ((humans, humans["labels"]), (gpt, ["odd"] * len(gpt))):
        again = table.assign(labels=answers, repeat=1)
        # Whoever takes the first answer, whatever the condition, takes the repeat.
        parts.append(pd.concat([again, table.assign(repeat=0)]))
    return parts


KEPT = {"where": "repeat == 0"}


@pytest.mark.filterwarnings("ignore:.*where='repeat == 0' drops")
class TestTheConditionOfTheStudy:
    def test_the_verdict(self):
        humans, gpt = with_repeats()
        people = sa.read(humans, **KEPT)
        gpt.to_csv("gpt.csv", index=False)
        gpt.to_json("gpt.jsonl", orient="records", lines=True)
        wanted = sa.alt_test(people, model=gpt[gpt["repeat"] == 0])["model"]
        dropped = gpt[gpt["repeat"] == 1].assign(repeat=0)
        assert wanted.passes
        assert not sa.alt_test(people, model=dropped)["model"].passes
        for model in (gpt, "gpt.csv", Path("gpt.jsonl")):
            (found,) = sa.alt_test(people, model=model)
            assert found.passes
            pd.testing.assert_frame_equal(found.to_frame(), wanted.to_frame())

    def test_what_is_told(self):
        humans, gpt = with_repeats()
        people = sa.read(humans, **KEPT)
        gpt.to_csv("gpt.csv", index=False)
        with pytest.warns(SetagreeWarning) as told:
            with_models(people, "gpt.csv")
        assert [str(one.message) for one in told] == [
            "gpt.csv: where='repeat == 0' drops 200 of 400 rows."
        ]
        gpt[gpt["repeat"] == 1].to_csv("gpt.csv", index=False)
        with pytest.raises(DataError, match=r"^gpt\.csv: .* keeps none of 200 rows"):
            with_models(people, "gpt.csv")

    def test_a_table_without_the_column(self):
        humans, gpt = with_repeats()
        people, once = sa.read(humans, **KEPT), gpt[gpt["repeat"] == 0].drop(columns="repeat")
        said = "model: where='repeat == 0' was not applied to the model's answers, which have no "
        with pytest.warns(SetagreeWarning) as told:
            assert sa.alt_test(people, model=once)["model"].passes
        assert [str(one.message) for one in told] == [f"{said}column 'repeat'."]
        notes = []
        with_models(people, once, note=notes.append)
        assert notes == [f"{said}column 'repeat'."]

    def test_duplicates(self):
        humans, gpt = (part.drop(columns="repeat") for part in with_repeats())
        first, last = (sa.read(humans, duplicates=which) for which in ("first", "last"))
        assert not sa.alt_test(first, model=gpt)["model"].passes
        assert sa.alt_test(last, model=gpt)["model"].passes
        joined, _ = with_models(last, gpt)
        assert joined.n_repeated == 5 * 200

    def test_order_of_times(self):
        people = pd.DataFrame([(r, u, "a", 1) for r in ("ann", "bob") for u in "xy"])
        models = pd.DataFrame([("gpt", u, label, at) for u in "xy" for label, at in ("b9", "a2")])
        tables = [t.set_axis(["rater", "unit", "labels", "at"], axis=1) for t in (people, models)]
        study = sa.read(tables[0], duplicates="last", order_by="at")
        joined, _ = with_models(study, tables[1])
        assert joined.to_wide()["gpt"].tolist() == [frozenset("b")] * 2

    def test_several_answers_of_a_model(self):
        people = sa.Annotations.from_triples([(r, u, "a") for r in ("ann", "bob") for u in "xy"])
        rows = [(u, "gpt", p, run, "a") for u in "xy" for p in ("long", "plain") for run in (1, 2)]
        table = pd.DataFrame(rows, columns=["unit", "model", "prompt", "run", "labels"])
        table = table.assign(seconds=range(100, 108))
        table.insert(0, "batch", table["unit"] == "x")  # which tells no answers apart
        table.to_csv("runs.csv", index=False)
        said = "They differ in columns 'prompt', 'run'"
        asked = r"facet_agreement\(\.\.\., facets=\['model', 'prompt', 'run'\]\)"
        with pytest.raises(RepeatsError, match=rf"^runs.csv: 2 pairs .* {said}: {asked}"):
            with_models(people, "runs.csv")
        given = {"model": "runs.csv", "facets": ["model", "prompt"]}
        with pytest.raises(RepeatsError, match=rf"They differ in column 'run': {asked}"):
            sa.facet_agreement(people, **given)
        table.drop(columns="model").to_csv("gpt.csv", index=False)
        with pytest.raises(RepeatsError, match=r"facets=\['prompt', 'run'\]"):
            with_models(people, "gpt.csv")
        twice = table.query("prompt == 'long' and run == 1")
        with pytest.raises(RepeatsError, match=r"file appended to itself\?$"):
            with_models(people, pd.concat([twice, twice]))

    def test_the_export_of_a_tool(self):
        people = sa.Annotations.from_triples([("ann", "p1", "a"), ("bob", "p1", "b")])
        people = replace(people, reading=Reading(where="_lead_time < 5"))
        head = "_unit_id,_worker_id,_lead_time,topics\n"
        Path("appen.csv").write_text(head.replace("lead", "other") + "p1,m1,-,a\n")
        with pytest.warns(SetagreeWarning, match="^appen.csv: where='_lead_time < 5' was not app"):
            with_models(people, "appen.csv")
        Path("appen.csv").write_text(head + "p1,m1,1.0,a\np1,m1,9.0,b\n")
        with pytest.warns(SetagreeWarning, match="drops 1 of 2 rows"):
            joined, _ = with_models(people, "appen.csv")
        assert joined.to_wide()["m1"].tolist() == [frozenset("a")]


class TestRefusals:
    @pytest.mark.parametrize(
        ("model", "error", "words"),
        [
            (pd.DataFrame({"unit": ["z"], "labels": ["a"]}), DataError, "no unit of the model is"),
            (
                pd.DataFrame({"unit": ["u0"], "labels": ["a"], "rater": ["r1"]}),
                DataError,
                "the model has the name of a rater of the study, 'r1'",
            ),
            (pd.DataFrame({"unit": ["u0"], "seconds": ["1"]}), DataError, "labels"),
            ("gone.csv", FileError, "gone.csv"),
            ("folder/gpt", FileError, "gpt"),
            ("gpt-3.5", DataError, "'gpt-3.5' gave no answer in this study"),
        ],
    )
    def test_sentences(self, model, error, words):
        humans, _ = apart(whole(10))
        units = dict(zip(humans["unit"].unique(), [f"u{k}" for k in range(10)], strict=True))
        with pytest.raises(error, match=words):
            sa.alt_test(humans.assign(unit=humans["unit"].map(units)), model=model)

    def test_columns_of_no_usual_name(self):
        humans, _ = apart(whole(10))
        with pytest.raises(DataError) as refused:
            sa.alt_test(humans, model=pd.DataFrame({"id": ["u0"], "prediction": ["joy"]}))
        assert str(refused.value) == (
            "the columns of model 'model' are 'id', 'prediction': the columns of unit and answers "
            "are not known; call them 'unit' and 'labels' (or 'value'), or as in the study's table."
        )

    def test_a_model_that_writes_none(self):
        humans, model = apart(whole(40))
        said = "1 cell with 'none' read as a label like any other"
        model = model.assign(labels=["none", *model["labels"][1:]])
        with pytest.warns(sa.SetagreeWarning, match=said):
            sa.alt_test(humans, model=model)

    def test_the_unit_is_known(self):
        humans, _ = apart(whole(10))
        study = sa.Annotations.from_long(humans.rename(columns={"unit": "Nr"}), unit="Nr")
        with pytest.raises(DataError) as refused:
            sa.alt_test(study, model=pd.DataFrame({"Nr": ["u0"], "prediction": ["joy"]}))
        assert str(refused.value) == (
            "the columns of model 'model' are 'Nr', 'prediction': the column of the answers is not "
            "known; call it 'labels' (or 'value'), or as in the study's table."
        )

    def test_another_kind(self):
        scores = sa.Annotations.from_triples([("gpt", 1, 3.5)], kind="value")
        with pytest.raises(DataError, match="of kind 'number' and the study's 'labels'"):
            with_models(sa.Annotations.from_triples([("ann", 1, "a")]), scores)


def test_labels_of_the_model_that_look_like_those_of_the_study():
    model = pd.DataFrame({"unit": ["1", "2"], "labels": ["Joy", "fear"]})
    study = sa.Annotations.from_triples([("ann", "1", "joy"), ("ann", "2", "fear")])
    with pytest.warns(
        sa.SetagreeWarning, match="'Joy' and 'joy'. If they are one, use case='lower'"
    ):
        with_models(study, model)
