"""The JSON of every command fits its schema, which is made of the declared columns."""

import json
from pathlib import Path

import pandas as pd
import pytest
from cli_support import invoke

import setagree as sa
from examples.guide.schemas import RESULTS, schemas
from setagree.cli.app import COMMANDS

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema comes with the dev extra")

RUNS = {
    "score": [
        ["study.csv"],
        ["same.csv"],
        ["study.csv", "--interval", "t", "--cluster", "batch"],
    ],
    "score --questions": [["--questions", "labels,other", "study.csv"]],
    "test": [["study.csv", "--resamples", "99", "--seed", "1"], ["same.csv", "--resamples", "19"]],
    "compare": [["study.csv", "-d", "masi,jaccard"], ["same.csv", "-d", "masi,jaccard"]],
    "check": [["study.csv", "--at-least", "0.3"], ["same.csv", "--at-least", "0.3"]],
    "plan": [["study.csv", "--half-width", "0.05"], ["study.csv", "--units", "50,100"]],
    "panel": [["study.csv", "-m", "r4"]],
    "prevalence": [["humans.csv", "-m", "model.csv"]],
    "consensus": [["study.csv"], ["study.csv", "--value", "batch"]],
    "next": [["study.csv", "--budget", "3"]],
    "monitor": [["study.csv", "--batch", "batch", "--threshold", "0.3"]],
    "components": [["study.csv"], ["same.csv"]],
    "repeats": [["twice.csv"]],
    "accept": [["--acceptable-rate", "0.02", "--rejectable-rate", "0.1"]],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write a study with batches and two questions, one without a spread, and a model's answers."""
    here = tmp_path_factory.mktemp("schemas")
    found = sa.simulate(120, 4, skill=[0.9, 0.9, 0.9, 0.6], missing=0.1, rng=1)
    table = found.to_long()
    table["labels"] = [", ".join(sorted(x)) or "[]" for x in table["labels"]]
    table["batch"] = [f"b{int(unit[1:]) // 30}" for unit in table["unit"]]
    table["other"] = table["labels"]
    table.to_csv(here / "study.csv", index=False)
    pd.concat([table, table.head(80)]).to_csv(here / "twice.csv", index=False)
    is_model = table["rater"] == "r4"
    table[is_model].to_csv(here / "model.csv", index=False)
    rated = table["unit"].isin(table["unit"][is_model])
    table[~is_model & rated].head(200).to_csv(here / "humans.csv", index=False)
    (here / "same.csv").write_text("unit,rater,labels\n1,a,x\n1,b,x\n2,a,x\n2,b,x\n")
    return here


@pytest.mark.parametrize("command", RESULTS)
def test_json_fits_the_schema(command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    schema = schemas()[f"{command.replace(' --', '-')}.schema.json"]
    jsonschema.Draft202012Validator.check_schema(schema)
    for words in RUNS[command]:
        done = invoke(command.split()[0], *words, "-f", "json")
        assert done.stdout, done.stderr
        rows = json.loads(done.stdout, parse_constant=pytest.fail)
        assert rows
        jsonschema.validate(rows, schema)


def test_each_command_with_a_result_has_a_schema():
    without = {"diagnose", "report", "convert", "page", "formats", "cite"}
    without |= {"distances", "coefficients"}
    assert {command.split()[0] for command in RESULTS} == {*COMMANDS} - without


def test_the_guide_names_each_schema():
    guide = (Path(__file__).parents[2] / "examples/guide/from-r.md").read_text("utf-8")
    named = [name.removesuffix(".schema.json") for name in schemas()]
    assert [name for name in named if f"`{name}`" not in guide] == ["score"]
