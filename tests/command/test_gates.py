"""Decisions with an exit code: check, and panel with --require."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pandas as pd
import pytest
from cli_support import invoke, refusal

import setagree as sa


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Write a study with two batches, the second with one unit, and return it."""
    monkeypatch.chdir(tmp_path)
    found = sa.simulate(120, 4, skill=[0.9, 0.9, 0.9, 0.5], rng=1)
    table = found.to_long()
    table["labels"] = [", ".join(sorted(x)) or "[]" for x in table["labels"]]
    table["batch"] = ["b" if unit == found.units[0] else "a" for unit in table["unit"]]
    table.to_csv("study.csv", index=False)
    table[table["batch"] == "b"].to_csv("one.csv", index=False)
    return found


def checked(*words):
    """Return the exit code and the printed text of a command."""
    result = invoke(*words)
    return result.exit_code, result.stdout


@pytest.mark.parametrize("coefficient", ["krippendorff_alpha", "fleiss_kappa"])
def test_check_holds_where_at_least_does(study, coefficient):
    low = sa.at_least(sa.agreement(study)[coefficient, "masi"], 0.5).low
    for value, holds in [(low - 1e-9, True), (low + 1e-9, False)]:
        code, text = checked("check", "study.csv", "--at-least", repr(value), "-c", coefficient)
        assert code == (0 if holds else 1)
        assert text.startswith("holds: " if holds else "fails: ")
        assert f"Low end {low:.4f}." in text
        assert text.count("\n") == 1


def test_no_verdict_is_two(study):
    code, text = checked("check", "one.csv", "--at-least", 0.5)
    assert code == 2
    assert text.startswith("no verdict: one.csv: krippendorff_alpha [masi] at least 0.5.")
    assert "There is no file" in refusal("check", "none.csv", "--at-least", 0.5)


def test_a_rough_interval_is_named(study):
    rows = [(u, r, 10 * u + (u * k) % 7) for u in range(15) for k, r in enumerate("abc")]
    pd.DataFrame(rows, columns=["unit", "rater", "score"]).to_csv("numbers.csv", index=False)
    remark = sa.at_least("numbers.csv", 0.5, value="score").remark
    assert remark.startswith("The interval is rough: with squared distances 15 units are few")
    code, text = checked("check", "numbers.csv", "--value", "score", "--at-least", 0.5)
    assert code == 0
    assert text.endswith(f". {remark}\n")


def test_a_model_among_the_raters_is_named(study):
    table = pd.read_csv("study.csv").replace({"rater": {"r4": "gpt-4o"}})
    table.to_csv("models.csv", index=False)
    result = invoke("check", "models.csv", "--at-least", 0.2)
    assert "Raters with names of models: 'gpt-4o'" in result.stderr
    apart = invoke("check", "models.csv", "--at-least", 0.2, "--model", "gpt-4o")
    assert "Set apart, as models: 'gpt-4o'" in apart.stderr


def test_what_is_not_decided_is_not_called_below(study):
    text = checked("check", "study.csv", "--at-least", 0.48)[1]
    low = sa.at_least(study, 0.48).low
    assert text.startswith("fails: study.csv: ")
    assert f"Low end {low:.4f}. Not shown: " in text
    assert f"it is at least {low:.4f}; these data do not exclude 0.48." in text
    assert "--at-least 1.0 must be a number below 1" in refusal(
        "check", "study.csv", "--at-least", 1
    )


def test_questions_take_several_distances(study):
    asked = ["score", "study.csv", "--questions", "labels,batch", "-d", "masi,nominal"]
    rows = json.loads(invoke(*asked, "--format", "json").stdout)
    assert [(row["question"], row["distance"]) for row in rows] == [
        *(("labels", "masi"), ("batch", "masi"), ("mean", "masi")),
        *(("labels", "nominal"), ("batch", "nominal"), ("mean", "nominal")),
    ]
    assert rows[0]["estimate"] == sa.krippendorff_alpha(study).estimate


def test_a_report_has_a_page_per_question(study):
    asked = ["report", "study.csv", "--questions", "labels,batch", "--resamples", 19]
    asked += ["--seed", 1, "-o", "r.md"]
    assert invoke(*asked).exit_code == 0
    lines = Path("r.md").read_text("utf-8").splitlines()
    assert [line for line in lines if line.startswith("## ")] == ["## labels", "## batch"]
    assert "--by does not apply to --questions" in refusal(*asked, "--by", "batch")


def test_each_group_is_checked(study):
    code, text = checked("check", "study.csv", "--at-least", 0.2, "--by", "batch")
    assert [line.split(": ")[:2] for line in text.splitlines()] == [
        ["no verdict", "b"], ["holds", "a"],
    ]  # fmt: skip
    assert code == 2
    assert checked("check", "study.csv", "--at-least", 0.9, "--by", "batch")[0] == 1


def test_formats_of_decisions(study):
    asked = ["check", "study.csv", "--at-least", 0.45, "-d", "masi,nominal", "-o"]
    assert invoke(*asked, "gate.xml").exit_code == 1
    suite = ET.parse("gate.xml").getroot()  # noqa: S314
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert [[kid.tag for kid in case] for case in suite] == [["system-out"], ["failure"]]
    invoke(*asked, "gate.json")
    found = json.loads(Path("gate.json").read_text("utf-8"))
    assert [row["holds"] for row in found] == [True, False]
    assert found[0]["low"] == sa.at_least(sa.krippendorff_alpha(sa.read("study.csv")), 0.45).low
    lines = checked(*asked[:-1], "--format", "github")[1].splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::notice", "::error"]
    assert "95%25 confidence" in lines[0]


def test_hostile_names_stay_on_their_line(study):
    table = pd.read_csv("study.csv")
    table["batch"] = '<x>&"\n::error::%'
    table.to_csv("study.csv", index=False)
    asked = ["check", "study.csv", "--at-least", 0.2, "--by", "batch", "--format"]
    assert checked(*asked, "github")[1].count("\n") == 1
    case = ET.fromstring(checked(*asked, "junit")[1])[0]  # noqa: S314
    assert case.get("name").startswith('<x>&"\\n::error::%: krippendorff_alpha')


@pytest.mark.parametrize(("model", "margin", "code"), [("r1", 0.2, 0), ("r4", 0.05, 1)])
def test_panel_with_require(study, model, margin, code):
    found, text = checked(
        "panel", "study.csv", "--model", model, "--margin", margin, "--require", "--epsilon", 0.2
    )
    assert found == code
    starts = [re.match(r"(holds|fails): r\d: ", line) for line in text.splitlines()]
    assert len(starts) == 2
    assert all(starts)
    assert "omit --facets" in refusal("panel", "study.csv", "--facets", "batch", "--require")
