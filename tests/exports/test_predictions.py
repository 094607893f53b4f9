"""Answers of models that an export holds beside those of people."""

import json
import warnings

import pytest
from exports.json_writers import OPTIONS, TRUTH, WRITERS, answered, choices, found, write
from typer.testing import CliRunner

import setagree as sa
from setagree.cli import app as cli
from setagree.errors import DataError, OptionError

pytestmark = pytest.mark.usefixtures("few_draws")

MODELS = {"gpt": {"crow"}, "owlet": set()}
SAID = {(unit, model): labels for unit in ("p1", "p2") for model, labels in MODELS.items()}


def _label_studio(record):
    record["predictions"] = [
        {"model_version": model, "result": [choices(labels)] if labels else []}
        for model, labels in MODELS.items()
    ]
    record["predictions"].append(17)  # exported as its number


def _flat(record):
    record |= {"birds.suggestion": ["crow"], "birds.suggestion.agent": "gpt"}


def _nested(record):
    record["suggestions"] = {"birds": {"value": ["crow"], "agent": "gpt", "score": None}}


def _labelbox(record):
    ticked = [{"name": "birds", "checklist_answers": [{"name": "crow"}]}]
    prediction = {"annotations": {"classifications": ticked}}
    record["experiments"] = {"e1": {"name": "gpt", "runs": {"r1": {"predictions": [prediction]}}}}


ADD = {
    "label_studio_json": _label_studio,
    "argilla_flat": _flat,
    "argilla_nested": _nested,
    "labelbox": _labelbox,
}


def _records(name):
    records = WRITERS[name][0](TRUTH)
    for record in records[:2]:
        ADD[name](record)
    return records


@pytest.mark.parametrize("name", ADD)
def test_models_are_raters_that_are_marked(name, tmp_path):
    path = write(tmp_path, name, _records(name))
    study = sa.read(path, predictions=True, **OPTIONS.get(name, {}))
    expected = {pair: x for pair, x in SAID.items() if name.startswith("label_") or "gpt" in pair}
    assert found(study) == answered(TRUTH) | expected
    marks = study.raters_frame["is_model"]
    assert {*marks.index[marks]} == {model for _, model in expected}
    with pytest.warns(sa.SetagreeWarning, match=r"left out\. To read models .* predictions=True"):
        study = sa.read(path, **OPTIONS.get(name, {}))
    assert found(study) == answered(TRUTH)


def test_some_of_the_models(tmp_path):
    records = _records("label_studio_json")
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, half in zip(paths, (records[:1], records[1:]), strict=True):
        path.write_text(json.dumps(half))
    with pytest.warns(sa.SetagreeWarning) as told:
        study = sa.read(paths, predictions=["gpt"])
    assert study.raters.tolist() == ["mia", "noa", "ola", "gpt"]
    [sentence] = [str(one.message) for one in told]
    assert "2 answers of 1 model ('owlet') left out" in sentence


def test_a_model_that_is_not_there(tmp_path):
    path = write(tmp_path, "label_studio_json", _records("label_studio_json"))
    words = r"no model or rater 'owl'\. The models are 'gpt', 'owlet'\."
    with pytest.raises(DataError, match=words):
        sa.read(path, predictions=["gpt", "owl"])
    done = CliRunner().invoke(cli.app, ["panel", str(path), "--model", "gpt,owl"])
    assert "The models are 'gpt', 'owlet'." in done.output
    with pytest.warns(sa.SetagreeWarning, match=r"\('owlet'\) left out"):
        assert "gpt" in sa.read(path, predictions="mia,gpt").raters


def test_an_answer_that_is_left_out_is_not_parsed(tmp_path):
    records = _records("label_studio_json")
    records[0]["predictions"][0]["result"][0]["value"]["start"] = 1
    path = write(tmp_path, "label_studio_json", records)
    with pytest.warns(sa.SetagreeWarning, match="4 answers of 2 models"):
        assert found(sa.read(path)) == answered(TRUTH)
    with pytest.raises(sa.errors.FileError, match=r"tasks\[0\]\.predictions\[0\].*region"):
        sa.read(path, predictions=True)


def test_refused(tmp_path):
    """A model called as a person, no models at all, and a plain table are refused."""
    records = _records("label_studio_json")
    records[0]["predictions"][0]["model_version"] = "mia"
    path = write(tmp_path, "label_studio_json", records)
    with pytest.raises(DataError, match="'mia' is the name of a model and of a rater"):
        sa.read(path, predictions=True)
    path = write(tmp_path, "label_studio_json")
    with pytest.raises(OptionError, match="has no answers of models"):
        sa.read(path, predictions=True)
    table = sa.read(path).to_long()
    with pytest.raises(OptionError, match="predictions= is for the export of a tool"):
        sa.agreement(table, predictions=True)


@pytest.fixture
def batches(tmp_path, monkeypatch):
    """Write two batches of 40 tasks, of which two models answered all."""
    monkeypatch.chdir(tmp_path)
    for batch in (0, 1):
        tasks = []
        for k in range(batch * 40, batch * 40 + 40):
            answers = [{"ab"[(k * 7 // (step + batch)) % 2]} for step in (1, 1, 2, 1, 3)]
            results = [[choices(x)] for x in answers]
            people = [
                {"completed_by": who, "was_cancelled": False, "result": result}
                for who, result in zip((1, 2, 3), results, strict=False)
            ]
            models = [
                {"model_version": who, "result": result}
                for who, result in zip(("gpt", "owlet"), results[3:], strict=True)
            ]
            tasks.append({"id": k, "data": {}, "annotations": people, "predictions": models})
        (tmp_path / f"b{batch}.json").write_text(json.dumps(tasks))


def run(*words):
    """Return what a command prints, once it has ended well."""
    done = CliRunner().invoke(cli.app, [*words])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.usefixtures("batches")
def test_panel_reads_the_model_that_is_named():
    for words in (["--model", "gpt"], ["--model", "gpt", "--predictions"]):
        rows = json.loads(run("panel", "b0.json", "b1.json", *words, "-f", "json"))
        assert {row["human"] for row in rows} == {1, 2, 3}
        assert {row["model"] for row in rows} == {"gpt"}
    rows = json.loads(run("panel", "b0.json", "b1.json", "--predictions", "-f", "json"))
    assert {row["model"] for row in rows} == {"gpt", "owlet"}


@pytest.mark.usefixtures("batches")
def test_a_report_takes_marked_models_out():
    study = sa.read("b?.json", predictions=True)
    table = sa.alt_test(study, model="gpt")
    assert {*table["gpt"].humans.index} == {1, 2, 3}
    text = run("diagnose", "b0.json", "b1.json", "--predictions", "--resamples", "19")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        people = sa.krippendorff_alpha(sa.read("b?.json")).estimate
    assert f"is {people:.3f}" in text
    assert "owlet" in text


@pytest.mark.usefixtures("batches")
@pytest.mark.parametrize(
    "words",
    [
        ("score",),
        ("consensus",),
        ("monitor", "--filename-column", "b", "--batch", "b", "--threshold=0.4"),
    ],
)
def test_models_among_the_raters_are_named(words):
    files = ("b0.json", "b1.json", "--predictions")
    done = CliRunner().invoke(cli.app, [words[0], *files, *words[1:]])
    assert done.exit_code == 0, done.output
    line = "Models count as raters: 'gpt', 'owlet'. --model sets models apart."
    assert line in done.output.splitlines()
    done = CliRunner().invoke(
        cli.app, [words[0], *files, *words[1:], "--exclude-raters", "gpt,owlet"]
    )
    assert "Models count as raters" not in done.output
    done = CliRunner().invoke(cli.app, ["panel", *files])
    assert "Models count as raters" not in done.output


SEVERAL = ("b0.json", "b1.json", "--filename-column", "batch")


@pytest.mark.usefixtures("batches")
@pytest.mark.filterwarnings("ignore::setagree.SetagreeWarning")
def test_the_file_is_a_column_wherever_a_column_is():
    one = sa.krippendorff_alpha(sa.read("b0.json"))
    rows = json.loads(
        run("monitor", *SEVERAL, "--batch", "batch", "--threshold", "0.4", "-f", "json")
    )
    assert [(row["batch"], row["n_units"]) for row in rows] == [("b0.json", 40), ("b1.json", 80)]
    assert rows[0]["estimate"] == pytest.approx(one.estimate)
    kept = ("--where", "batch == b0.json", "-c", "krippendorff_alpha", "-f", "json")
    [row] = json.loads(run("score", *SEVERAL, *kept))
    assert (row["n_units"], row["estimate"]) == (40, pytest.approx(one.estimate))
    text = run("diagnose", *SEVERAL, "--tables", "--by", "batch", "--resamples", "19")
    assert f"b0.json  {one.estimate:.3f} (" in text[text.index("GROUPS") :]
    run("report", *SEVERAL, "--by", "batch", "--resamples", "19", "-o", "report.md")
    study = sa.read("b?.json", filename_column="batch", cluster="batch")
    assert study.sampling.cluster == "batch"
    lines = run("convert", *SEVERAL).splitlines()
    assert lines[0] == "unit,rater,labels,batch"
    assert {line.rpartition(",")[2] for line in lines[1:121]} == {"b0.json"}
    assert {line.rpartition(",")[2] for line in lines[121:]} == {"b1.json"}


@pytest.mark.usefixtures("batches")
@pytest.mark.filterwarnings("ignore::setagree.SetagreeWarning")
def test_a_unit_of_several_files_is_converted(tmp_path):
    for name, rater in (("x", "ann"), ("y", "bob")):
        (tmp_path / f"{name}.csv").write_text(f"unit,rater,labels\nu1,{rater},a\nu2,{rater},\n")
    lines = run(
        "convert", "x.csv", "y.csv", "--filename-column", "wave", "--blank", "missing"
    ).splitlines()
    assert lines == ["unit,rater,labels,wave", "u1,ann,a,x.csv", "u1,bob,a,y.csv"]
