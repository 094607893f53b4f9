"""The commands that set raters against raters: panel and consensus."""

import csv
import io
import json
import warnings
from pathlib import Path

import pandas as pd
import pytest
from cli_support import Terminal, invoke, ok, refusal, rows, script

import setagree as sa
from setagree.cli.options import CALLED
from setagree.errors import spelling
from setagree.large.joining import with_models

pytest.importorskip("typer", reason="the command needs the cli extra")


# Three humans and two models on 40 units. "near" agrees with all; "far" never does.
ANSWERS = {"ann": "ab", "ben": "ab", "cem": "ab", "near": "ab", "far": "ba"}
# u1: a 3/3, b 2/3. u2: {} twice, a once. u3: a tie. u4: one rater. u5: scattered. u6: quoted.
STUDY = '''unit,rater,labels
u1,ann,"a, b"
u1,ben,"a, b"
u1,cem,a
u2,ann,
u2,ben,
u2,cem,a
u3,ann,a
u3,ben,"a, b"
u4,ann,a
u5,ann,a
u5,ben,b
u5,cem,c
u6,ann,"""x, y"""
u6,ben,"""x, y"""
'''


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, few_draws):
    """Work in a fresh folder with a study of humans and models, and a small one."""
    monkeypatch.chdir(tmp_path)
    rows = [f"u{i},{rater},{word[i % 2]}" for i in range(40) for rater, word in ANSWERS.items()]
    Path("models.csv").write_text("\n".join(["unit,rater,labels", *rows]), encoding="utf-8")
    Path("small.csv").write_text(STUDY, encoding="utf-8")
    Path("scores.csv").write_text("unit,a,b,c\n1,1,1,5\n2,4,4,4\n", encoding="utf-8")
    return tmp_path


class TestPrevalence:
    """Ann has checked 30 of 40 units; the model near answered all."""

    @pytest.fixture(autouse=True)
    def files(self):
        table = pd.read_csv("models.csv", dtype=str)
        table[(table["rater"] == "ann") & (table.index < 150)].to_csv("ann.csv", index=False)
        table[table["rater"] == "near"].to_csv("near.csv", index=False)

    def test_equals_the_library(self):
        found = sa.prevalence(sa.read("ann.csv"), model="near.csv")
        out = json.loads(ok("prevalence", "ann.csv", "--model", "near.csv", "-f", "json"))
        assert (
            [row["prevalence"] for row in out] == found.frame["prevalence"].tolist() == [0.5, 0.5]
        )
        assert ok("prevalence", "ann.csv", "--model", "near.csv") == f"{found}\n"

    def test_how_many_more(self):
        words = ("ann.csv", "--model", "near.csv", "--half-width", "0.02")
        out = rows("prevalence", *words)
        found = sa.prevalence(sa.read("ann.csv"), model="near.csv")
        plan = sa.plan(found, sa.PlanGoals(half_width=0.02)).frame
        assert [int(row["planned_n_units"]) for row in out] == plan["n_units"].tolist()
        assert "more units" in ok("prevalence", *words)

    def test_diagnose_and_report_have_it(self):
        words = ("ann.csv", "--model", "near.csv", "--resamples", "19", "--seed", "1")
        assert "Prevalence: About 20 of 40 units have a" in ok("diagnose", *words)
        ok("report", *words, "-o", "report.md")
        assert "## How many units have each label?" in Path("report.md").read_text("utf-8")

    def test_the_model_is_a_rater(self):
        out = ok("prevalence", "models.csv", "--model", "near", "--humans", "ann", "--truth", "any")
        assert "About 20 of 40 units have 'a' (95%: 20 to 20); the model 'near' alone has 20" in out

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (("--truth", "most"), "--truth 'most' is unknown"),
            (("--model", "near.csv", "--model", "far"), "far"),
            ((), "Error: name one model with --model: a rater of the study ('ann'), or a"),
        ],
    )
    def test_refusals(self, words, sentence):
        model = () if "--model" in words or not words else ("--model", "near.csv")
        assert sentence in refusal("prevalence", "ann.csv", *model, *words)


class TestPanel:
    def test_the_condition_holds_for_a_models_file(self):
        table = pd.read_csv("models.csv", dtype=str)
        is_model = table["rater"] == "near"
        table[~is_model].assign(repeat=0).to_csv("humans.csv", index=False)
        near = table[is_model].assign(repeat=0)
        again = near.assign(repeat=1, labels="odd")
        pd.concat([again, near]).to_csv("near.csv", index=False)
        humans = ("--humans", "ann,ben,cem")
        wanted = rows("panel", "models.csv", "-m", "near", *humans)
        for said, told in (
            (("--where", "repeat == 0"), "near.csv: --where 'repeat == 0' drops 40 of 80 rows."),
            (("--duplicates", "last"), "Models: 40 repeated ratings dropped (--duplicates last)."),
        ):
            found = invoke("panel", "humans.csv", "-m", "near.csv", *humans, *said, "-f", "json")
            assert json.loads(found.stdout) == wanted
            assert told in found.stderr
        kept = ("--where", "repeat == 0")
        assert "near" in ok("diagnose", "--tables", "humans.csv", "-m", "near.csv", *kept)
        near.drop(columns="repeat").to_csv("near.csv", index=False)
        found = invoke("report", "humans.csv", "-m", "near.csv", *kept, "-o", "report.md")
        assert found.stderr.count("was not applied to the model's answers") == 1

    def test_equals_the_library(self):
        found = rows("panel", "models.csv", "-m", "far", "-m", "near")
        study = sa.Annotations.from_long(pd.read_csv("models.csv"))
        table = sa.alt_test(study, model=["far", "near"])
        assert [row["model"] for row in found] == ["near"] * 3 + ["far"] * 3
        assert [row["human"] for row in found[:3]] == ["ann", "ben", "cem"]
        for row in found:
            test = table[row["model"]]
            assert row["winning_rate"] == test.winning_rate
            assert row["passes"] == test.passes
            assert (row["power"], row["units_for_80"]) == (test.power(), test.units_for())
            human = test.humans.loc[row["human"]]
            assert row["p_adjusted"] == human["p_adjusted"]
            assert row["advantage"] == human["advantage"]
            assert row["exact"] == (row["model"] == "near")

    def test_power(self):
        """The verdict is followed by the power of the test, and the units that give 0.80."""
        study = sa.Annotations.from_long(pd.read_csv("models.csv"))
        said = " ".join(ok("panel", "--tables", "models.csv", "-m", "near").split())
        assert sa.alt_test(study, model="near")["near"].power_note in said

    def test_units_of_the_test_and_of_the_consensus(self):
        lines = Path("models.csv").read_text(encoding="utf-8").splitlines()
        kept = [line for k, line in enumerate(lines) if "cem" not in line or k > 40]
        Path("holes.csv").write_text("\n".join(kept), encoding="utf-8")
        found = rows("panel", "holes.csv", "--model", "near", "--min-units", "20")
        # Rows 1 to 40 are the first eight units of five raters: cem lacks these.
        shared = {row["human"]: row["n_units"] for row in found}
        assert shared == {"ann": 40, "ben": 40, "cem": 32, "far": 40}
        assert {row["consensus_n_units"] for row in found} == {40}
        assert {row["consensus_n_left_out"] for row in found} == {0}
        assert found[0]["reference_alpha"] is not None

    def test_a_model_that_could_not_be_tested(self):
        lines = Path("models.csv").read_text(encoding="utf-8").splitlines()
        kept = [line for k, line in enumerate(lines) if "far" not in line or k <= 100]
        Path("few.csv").write_text("\n".join(kept), encoding="utf-8")
        words = ["panel", "few.csv", "--model", "near,far"]
        found = rows(*words)
        assert [(row["model"], row["human"]) for row in found] == [
            ("near", "ann"),
            ("near", "ben"),
            ("near", "cem"),
            ("far", None),
        ]
        assert (found[3]["n_units"], found[3]["winning_rate"]) == (None, None)
        assert found[3]["consensus_n_units"] == 20
        assert found[3]["passes"] is False
        result = invoke(*words, "-f", "csv")
        cells = list(csv.DictReader(io.StringIO(result.stdout)))
        assert [row["human"] for row in cells] == ["ann", "ben", "cem", ""]
        assert [row["n_units"] for row in cells] == ["40", "40", "40", ""]
        assert (cells[0]["rejected"], cells[3]["consensus_n_units"]) == ("True", "20")
        assert "| far" in invoke(*words, "-f", "markdown").stdout

    def test_nobody_could_be_tested(self):
        (found,) = rows("panel", "models.csv", "--model", "near", "--min-units", "50")
        assert (found["model"], found["human"], found["exact"]) == ("near", None, 1)

    def test_the_table(self):
        text = " ".join(ok("panel", "--tables", "models.csv", "--model", "near,far").split())
        assert "'near' may replace a human: it wins over 3 of 3 humans" in text
        assert "'far' may not replace a human: it wins over 0 of 3 humans" in text
        assert "Winning rate 1.00 at 0.1, 1.00 at 0.15, 1.00 at 0.2" in text
        assert "Against the consensus of the others (label_majority):" in text
        assert "near 40 1.0000 1.0000 1.0000 1.0000" in text

    @pytest.mark.parametrize("width", [45, 60])
    def test_a_narrow_terminal(self, width):
        stream = Terminal(io.BytesIO(), encoding="utf-8")
        env = {"COLUMNS": str(width), "TERM": "dumb"}
        shown = script("panel", "models.csv", "--model", "near,far", env=env, stdout=stream).stdout
        assert max(map(len, shown.splitlines())) <= width
        assert "may replace" in shown

    @pytest.mark.filterwarnings("ignore:The margin")
    def test_results_print_the_same(self):
        study = sa.read("models.csv")
        given = {"model": ["near", "far"], "humans": ["ann", "ben", "cem"]}
        shown = ok("panel", "--tables", "models.csv", "--model", "near,far", "--margin", "0.1")
        for made in (
            sa.alt_test(study, **given),
            sa.score_against_consensus(study, raters=["near", "far"], panel=given["humans"]),
            sa.noninferiority_test(study, margin=0.1, **given),
        ):
            assert str(made) in shown
        with spelling(CALLED):
            assert str(sa.consensus(study)) in ok("consensus", "models.csv")
        assert "nan" not in shown

    @pytest.mark.filterwarnings("ignore:The margin of 0.2 is worth fewer than 3 units")
    def test_whom_it_took_for_people(self):
        taken = "People: ann, ben, cem, far; if one is a model, name the people with --humans."
        assert " ".join(ok("panel", "--tables", "models.csv", "-m", "near").split()).startswith(
            taken
        )
        assert "'ann', 'ben', 'cem', 'far'" in refusal(
            "panel", "models.csv", "-m", "near", "--margin", "0.1"
        )
        named = ["panel", "models.csv", "-m", "near", "--humans", "ann,ben,cem"]
        assert "People:" not in ok(*named)
        assert "People:" not in ok(*named, "--margin", "0.2")
        text = " ".join(ok("panel", "models.csv", "-m", "near,far", "--margin", "0.2").split())
        assert text.startswith("People: ann, ben, cem; if one is")
        table = pd.read_csv("models.csv", dtype=str)
        table["model"] = table["rater"].map({"near": "gpt", "far": "gpt"})
        table.to_csv("runs.csv", index=False)
        text = " ".join(ok("panel", "runs.csv", "--facets", "model").split())
        assert text.startswith("People: ann, ben, cem; if one is")
        assert "People:" not in ok("panel", "runs.csv", "--facets", "model", "--humans", "ann,ben")
        assert "People:" not in ok("panel", "models.csv", "-m", "near", "-f", "csv")

    def test_a_column_of_roles_marks_the_models(self):
        table = pd.read_csv("models.csv", dtype=str)
        is_model = table["rater"].isin(["near", "far"])
        table.assign(role=is_model.map({True: "model", False: "human"})).to_csv("roles.csv")
        wanted = rows("panel", "models.csv", "-m", "near,far")
        assert rows("panel", "roles.csv", "--role", "role") == wanted
        marked = "Models count as raters: 'near', 'far'. --model sets models apart."
        assert marked in ok("score", "roles.csv", "--role", "role")
        for words, sentence in (
            (("--role", "kind"), "there is no column 'kind'"),
            (("--role", "role", "--wide"), "--role makes sense only without --wide"),
        ):
            assert sentence in refusal("score", "roles.csv", *words)

    def test_who_answers_like_chance_is_named(self):
        text = " ".join(ok("panel", "models.csv", "--model", "near").split())
        found = {
            row["human"]: row["agreement"] for row in rows("panel", "models.csv", "-m", "near")
        }
        assert found["far"] < 0 < found["ann"]
        assert f"hardly more than chance: 'far' ({found['far']:.2f}); a win there is" in text

    def test_humans_in_one_file_the_model_in_another(self):
        table = pd.read_csv("models.csv")
        near = table["rater"] == "near"
        table[~near].to_csv("humans.csv", index=False)
        table[near].drop(columns="rater").to_csv("near.csv", index=False)
        people = ["--humans", "ann,ben,cem"]
        expected = rows("panel", "models.csv", "--model", "near", *people)
        assert rows("panel", "humans.csv", "--model", "near.csv", *people) == expected
        both = rows("panel", "humans.csv", "-m", "far", "-m", "near.csv")
        assert both == rows("panel", "models.csv", "-m", "far", "-m", "near")
        more = table[near].replace({"unit": {"u1": "u99"}})
        more.to_csv("other.csv", index=False)
        result = invoke("panel", "humans.csv", "--model", "other.csv")
        assert "other.csv: 1 of the model's 40 units left out" in " ".join(result.stderr.split())
        said = refusal("panel", "humans.csv", "--model", "near.csv", "-o", "near.csv")
        assert "is the input; choose another" in said

    def test_options(self):
        words = ["--epsilon", "0.2", "-d", "jaccard", "--humans", "ann,ben", "--humans", "far"]
        found = rows("panel", "models.csv", "--model", "near", *words)
        assert [row["human"] for row in found] == ["ann", "ben", "far"]
        assert {(row["epsilon"], row["distance"]) for row in found} == {(0.2, "jaccard")}

    def test_a_name_with_a_comma(self):
        text = Path("models.csv").read_text(encoding="utf-8").replace("near", '"gpt, mini"')
        Path("comma.csv").write_text(text, encoding="utf-8")
        assert rows("panel", "comma.csv", "--model", "gpt, mini")[0]["model"] == "gpt, mini"

    def test_too_few_units(self):
        result = invoke("panel", "--tables", "models.csv", "--model", "near", "--min-units", "50")
        assert result.exit_code == 0
        assert "Warning: alt-test of 'near': undefined (nan)" in result.stderr
        text = " ".join(result.stdout.split())
        assert "No verdict" in text
        assert "nan" not in text
        assert "Too few shared units: 'ann', 'ben', 'cem', 'far'." in text

    @pytest.mark.filterwarnings("ignore:The margin of 0.1 is worth fewer than 3 units")
    def test_two_humans_and_a_margin(self):
        words = ["panel", "models.csv", "--model", "near,far", "--humans", "ann,ben"]
        assert "--margin requires only two" in refusal(*words)
        result = invoke(*words, "--margin", "0.2")
        assert "No alternative annotator test: it requires three humans" in result.stderr
        assert "The test above" not in result.stdout
        study, models = sa.read("models.csv"), ["near", "far"]
        expected = sa.noninferiority_test(study, model=models, humans=["ann", "ben"], margin=0.2)
        assert all(" ".join(x.verdict.split()) in " ".join(result.stdout.split()) for x in expected)
        found = rows(*words, "--margin", "0.2")
        assert [row["noninferior"] for row in found] == [x.passes for x in expected for _ in "ab"]
        assert [row["human"] for row in found] == ["ann", "ben"] * 2

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["--model", "nears"], "model 'nears' gave no answer in this study. Did you mean"),
            (["--model", "near", "--humans", "ann,ben"], "three humans or more; here 2 humans"),
            (["--model", "near", "--humans", ","], "no human is named; list one or more"),
            (["--model", "near", "--epsilon", "2"], "--epsilon 2.0 must be 0 or more"),
            (["--model", "near", "-d", "masy"], "Did you mean 'masi'"),
            (["--model", "ann,ben,cem,near,far"], "no human remains"),
        ],
    )
    def test_refusals(self, words, sentence):
        assert sentence in refusal("panel", "models.csv", *words)

    def test_a_model_is_needed(self):
        assert invoke("panel", "models.csv").exit_code == 2


class TestConsensus:
    def test_gold_is_read_again(self):
        assert ok("consensus", "small.csv", "--blank", "empty", "-o", "gold.csv") == ""
        frame = pd.read_csv("gold.csv", dtype=str, keep_default_na=False)
        assert list(frame) == [
            "unit",
            "labels",
            "support",
            "confidence",
            "n_ratings",
            "adjudicate",
            "reason",
        ]
        read = [sa.parse_labels(cell) if cell else None for cell in frame["labels"]]
        assert read == [
            {"a", "b"},
            frozenset(),
            {"a"},
            {"a"},
            None,
            {"x, y"},
        ]
        assert frame["reason"].tolist() == [
            "",
            "",
            "tie",
            "one rating",
            "no majority; no answer",
            "",
        ]

    @pytest.mark.parametrize(
        ("ties", "cell", "in_json"),
        [("missing", "", None), ("plurality", "a, b, c", "a, b, c"), ("empty", "[]", "[]")],
    )
    def test_nobody_agrees(self, ties, cell, in_json):
        words = ["consensus", "small.csv", "--blank", "empty", "--ties", ties]
        found = list(csv.DictReader(io.StringIO(ok(*words, "-f", "csv"))))[4]
        assert (found["unit"], found["labels"], found["adjudicate"]) == ("u5", cell, "True")
        assert "no majority" in found["reason"]
        assert rows(*words)[4]["labels"] == in_json

    def test_no_answer(self):
        words = ["consensus", "small.csv", "--blank", "empty", "--method", "unanimous"]
        assert [row["labels"] for row in rows(*words)] == [None, None, None, "a", None, '"x, y"']
        cells = list(csv.DictReader(io.StringIO(ok(*words, "-f", "csv"))))
        assert cells[0]["labels"] == ""

    @pytest.mark.parametrize("file", ["gold.csv", "gold.json"])
    def test_undecided_units_are_told_apart(self, file):
        said = invoke("consensus", "small.csv", "--blank", "empty", "-o", file).stderr
        assert "1 unit without an answer has a blank cell" in said
        assert "use --blank missing, or remove such rows" in said
        study = sa.read("small.csv", blank="empty")
        expected = sa.consensus(study).answers.dropna()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "^1 null ")  # which are the blanks of JSON
            joined, _ = with_models(study, [file])
        assert joined.reading.blank == "empty"
        gold = joined.to_wide()["gold"].dropna()
        assert gold.to_dict() == expected.to_dict()
        assert frozenset() in gold.tolist()
        assert "u5" not in gold.index

    def test_decided_units_need_no_word(self):
        words = ["consensus", "small.csv", "--blank", "empty", "--ties", "plurality"]
        assert "without an answer" not in invoke(*words, "-o", "gold.csv").stderr

    def test_the_table(self):
        text = ok("consensus", "small.csv", "--blank", "empty")
        lines = text.splitlines()
        assert lines[0] == "6 units, 3 raters, 14 ratings"
        assert [line.split()[0] for line in lines[3:9]] == ["u3", "u4", "u5", "u1", "u2", "u6"]
        assert "3 of 6 units to adjudicate (see reason)" in " ".join(text.split())

    def test_long_tables_are_cut(self):
        text = " ".join(ok("consensus", "models.csv").split())
        assert "20 more rows; -o FILE writes all." in text
        assert len(rows("consensus", "models.csv")) == 40

    def test_options(self):
        blank = ["--blank", "empty"]
        assert rows("consensus", "small.csv", *blank, "--ties", "plurality")[2]["labels"] == "a, b"
        assert rows("consensus", "small.csv", *blank, "--threshold", "1")[0]["labels"] == "a"
        assert (
            rows("consensus", "small.csv", *blank, "--exclude-raters", "ann,ben")[0]["labels"]
            == "a"
        )
        low = rows("consensus", "small.csv", *blank, "--adjudicate-below", "0.7")[0]
        assert low["reason"] == "low confidence"

    def test_numbers(self):
        """Single values agree on their medoid."""
        found = rows("consensus", "scores.csv", "--wide", "--kind", "value", "-d", "linear")
        assert [row["value"] for row in found] == [1, 4]
        assert "medoid" in ok("consensus", "scores.csv", "--wide", "--kind", "value")

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["--method", "majority"], "--method 'majority' is unknown"),
            (["--threshold", "2"], "--threshold 2.0 must be above 0"),
            (["--exclude-raters", "bob"], "rater 'bob' gave no answer"),
            (["--exclude-raters", "ann,ben,cem"], "no rater remains"),
            (["-d", "masi"], "'label_majority' uses none"),
            (["-o", "small.csv"], "is the input; choose another"),
        ],
    )
    def test_refusals(self, words, sentence):
        assert sentence in refusal("consensus", "small.csv", "--blank", "empty", *words)

    def test_hostile_names(self):
        name = "u\x1b[31m" + "x" * 100
        Path("odd.csv").write_text(f"unit,rater,labels\n{name},a,b\n{name},c,b\n", encoding="utf-8")
        line = ok("consensus", "odd.csv").splitlines()[3]
        assert "\x1b" not in line
        assert len(line) < 80

    def test_for_a_spreadsheet(self):
        Path("sum.csv").write_text("unit,rater,labels\n=1+1,a,@x\n=1+1,b,@x\n", encoding="utf-8")
        assert rows("consensus", "sum.csv")[0]["labels"] == "@x"
        found = rows("consensus", "sum.csv", "--escape")[0]
        assert (found["unit"], found["labels"], found["n_ratings"]) == ("'=1+1", "'@x", 2)
