"""Logs of judges: made-up logs of each tool, their answers, and who is a model."""

import io
import json
import zipfile

import pandas as pd
import pytest

import setagree as sa
from setagree.study.attributes import marked_models

INSPECT = {
    "version": 2, "status": "success", "eval": {"model": "m"},
    "samples": [
        {"id": k, "epoch": 1, "scores": {
            "model_graded_qa": {"value": "C", "answer": "x"},
            "human": {"value": "I" if k else "C"},
        }}
        for k in range(2)
    ],
}  # fmt: skip
PROMPTFOO = {
    "evalId": "e", "results": {"version": 3, "results": [
        {"testIdx": k, "promptIdx": 0, "gradingResult": {"pass": True, "componentResults": [
            {"pass": True, "assertion": {"type": "llm-rubric", "metric": "tone"}},
            {"pass": k == 0, "assertion": {"type": "human"}},
        ]}}
        for k in range(2)
    ]},
}  # fmt: skip
DEEPEVAL = {
    "testCases": [
        {"name": f"case {k}", "metricsData": [
            {"name": "Correctness [GEval]", "success": True, "evaluationModel": "gpt-4o"},
            {"name": "Faithfulness", "success": k == 0},
        ]}
        for k in range(2)
    ]
}  # fmt: skip
LANGFUSE = [
    {"id": f"{k}{source}", "traceId": f"t{k}", "name": "helpful", "source": source,
     "authorUserId": author, "value": 1, "dataType": "CATEGORICAL", "stringValue": text}
    for k in range(2)
    for source, author, text in (("EVAL", None, "yes"), ("ANNOTATION", "ann", "no" if k else "yes"))
]  # fmt: skip
MLFLOW = [
    {"info": {"trace_id": f"tr-{k}", "assessments": [
        {"assessment_name": "safe", "feedback": {"value": True},
         "source": {"source_type": "LLM_JUDGE", "source_id": "gpt-4o"}},
        {"assessment_name": "safe", "feedback": {"value": k == 0},
         "source": {"source_type": "HUMAN", "source_id": "ann@x.org"}},
        {"assessment_name": "answer", "expectation": {"value": "42"},
         "source": {"source_type": "HUMAN", "source_id": "ann@x.org"}},
    ]}}
    for k in range(2)
]  # fmt: skip
LOGS = {
    "inspect": (json.dumps(INSPECT), "model_graded_qa", "human", ("C", "I")),
    "promptfoo": (json.dumps(PROMPTFOO), "tone", "human", ("pass", "fail")),
    "deepeval": (
        *(json.dumps(DEEPEVAL), "Correctness [GEval] / gpt-4o"),
        *("Faithfulness", ("pass", "fail")),
    ),
    "langfuse": ("\n".join(map(json.dumps, LANGFUSE)), "EVAL", "ann", ("yes", "no")),
    "mlflow": (json.dumps(MLFLOW), "gpt-4o", "ann@x.org", ("pass", "fail")),
}


@pytest.mark.parametrize("tool", LOGS)
def test_scores_are_answers_of_raters(tool, save):
    text, model, other, (good, bad) = LOGS[tool]
    study = sa.read(save(text, "log.jsonl" if "\n" in text else "log.json"))
    assert study.reading.tool == tool
    assert study.n_units == 2
    answers = [(rater, *labels) for rater, _, labels in study.to_triples()]
    assert sorted(answers) == sorted([(model, good), (model, good), (other, good), (other, bad)])
    models = [model, other] if tool == "deepeval" else [model]
    assert marked_models(study) == models


def test_other_files_of_the_same_logs(save):
    """The last run of DeepEval, a page and version 3 of Langfuse's API, and a table of MLflow."""
    version_3 = [
        {**{key: x[key] for key in ("name", "source", "authorUserId")}, "value": x["stringValue"],
         "subject": {"kind": "trace", "id": x["traceId"]}}
        for x in LANGFUSE
    ]  # fmt: skip
    rows = [x["info"] | {"request": "?"} for x in MLFLOW]
    logs = {
        "deepeval": ({"testRunData": DEEPEVAL},),
        "langfuse": ({"data": LANGFUSE, "meta": {}}, version_3, {"data": version_3, "meta": {}}),
        "mlflow": (rows,),
    }
    for tool, contents in logs.items():
        expected = sorted(sa.read(save(LOGS[tool][0], "usual.json")).to_triples())
        for content in contents:
            study = sa.read(save(json.dumps(content), "log.json"))
            assert sorted(study.to_triples()) == expected
    file = save(pd.DataFrame(rows).to_csv(index=False), "traces.csv")
    assert sorted(sa.read(file).to_triples()) == expected
    file.write_text(file.read_text().replace("]", ""))  # as programs cut long cells
    with pytest.raises(sa.SetagreeError, match=r"line 2, assessments: not a list of assessments"):
        sa.read(file)


def test_the_epochs_of_a_sample_are_units(save):
    samples = [{**sample, "epoch": k} for sample in INSPECT["samples"] for k in (1, 2)]
    study = sa.read(save(json.dumps(INSPECT | {"samples": samples}), "log.json"))
    assert sorted(study.units) == ["0", "0 (epoch 2)", "1", "1 (epoch 2)"]


def binary_log(*, by_zstd):
    """Return the bytes of a binary log; `zipfile` stores what is compressed, without its name."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for sample in INSPECT["samples"]:
            text, name = json.dumps(sample).encode(), f"samples/{sample['id']}_epoch_1.json"
            if by_zstd:
                text = pytest.importorskip("pyarrow").compress(text, codec="zstd", asbytes=True)
            archive.writestr(name, text, zipfile.ZIP_STORED if by_zstd else zipfile.ZIP_DEFLATED)
    content = bytearray(packed.getvalue())
    # The method stands 8 bytes into a local header and 10 bytes into one of the directory.
    for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        for start in [k for k in range(len(content)) if content[k : k + 4] == mark]:
            if content[start + offset] == 0:
                content[start + offset] = 93
    return bytes(content)


@pytest.mark.parametrize("by_zstd", [False, True])
def test_binary_logs_of_inspect(by_zstd, tmp_path):
    (tmp_path / "log.eval").write_bytes(binary_log(by_zstd=by_zstd))
    (tmp_path / "log.json").write_text(json.dumps(INSPECT))
    study, same = (sa.read(tmp_path / name) for name in ("log.eval", "log.json"))
    assert sorted(study.to_triples()) == sorted(same.to_triples())
    assert marked_models(study) == ["model_graded_qa"]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["eval", "json"])
def test_logs_that_inspect_writes(ending, tmp_path):
    logs = pytest.importorskip("inspect_ai.log", reason="Inspect is not installed")
    scorer = pytest.importorskip("inspect_ai.scorer")
    samples = [
        logs.EvalSample(
            id=f"q{k}",
            epoch=1,
            input="?",
            target="4",
            scores={
                "model_graded_qa": scorer.Score(value="C"),
                "human": scorer.Score(value="I" if k else "C"),
            },
        )
        for k in range(2)
    ]
    spec = logs.EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="t",
        model="m",
        dataset=logs.EvalDataset(),
        config=logs.EvalConfig(),
    )
    path = tmp_path / f"log.{ending}"
    logs.write_eval_log(logs.EvalLog(eval=spec, samples=samples, status="success"), str(path))
    study = sa.read(path)
    answers = {(rater, unit): set(labels) for rater, unit, labels in study.to_triples()}
    graded = {("model_graded_qa", "q0"): {"C"}, ("model_graded_qa", "q1"): {"C"}}
    assert answers == graded | {("human", "q0"): {"C"}, ("human", "q1"): {"I"}}
    assert marked_models(study) == ["model_graded_qa"]


def of_inspect(*values):
    """Return an Inspect log of one sample, whose scorers s0, s1, ... gave these values."""
    scores = {f"s{k}": {"value": value} for k, value in enumerate(values)}
    return json.dumps(INSPECT | {"samples": [{"id": 1, "epoch": 1, "scores": scores}]})


def of_langfuse(*values):
    """Return Langfuse scores of one trace, of type BOOLEAN, with these fields."""
    score = {"traceId": "t", "name": "safe", "source": "ANNOTATION", "dataType": "BOOLEAN"}
    rows = [score | {"authorUserId": f"s{k}"} | fields for k, fields in enumerate(values)]
    return "\n".join(map(json.dumps, rows))


def labels(study):
    return [next(iter(found)) for _, _, found in sorted(study.to_triples(), key=lambda one: one[0])]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((1000000.5, 1000001.5), ["1000000.5", "1000001.5"]),
        ((0.1234561, 0.1234562), ["0.1234561", "0.1234562"]),
        ((1000000, 1000000.0, 2.0), ["1000000", "1000000", "2"]),
        ((0.5, float("nan"), None, 0.5), ["0.5", "0.5"]),
        ((True, False), ["pass", "fail"]),
        ((True, "yes", False, "no"), ["yes", "yes", "no", "no"]),
        ((True, "Yes", None), ["Yes", "Yes"]),
        ((False, "True", " True"), ["False", "True", "True"]),
    ],
)
def test_values_are_labels_without_rounding_and_in_one_spelling(values, expected, save):
    assert labels(sa.read(save(of_inspect(*values), "log.json"))) == expected


@pytest.mark.parametrize(
    ("values", "beside"),
    [(("C", True, "I"), "'C', 'I'"), (("yes", True, "No"), "'No', 'yes'"), ((1, True), "'1'")],
)
def test_true_and_false_beside_other_texts_are_refused(values, beside, save):
    sentence = rf"scores\.s1\.value: true or false, while other answers are {beside}; write"
    with pytest.raises(sa.SetagreeError, match=sentence):
        sa.read(save(of_inspect(*values), "log.json"))


def test_booleans_of_langfuse_have_one_spelling(save):
    said = [{"value": 1, "stringValue": "True"}, {"value": 1}, {"value": True}]
    said += [{"value": 0, "stringValue": "false"}, {"value": 0.0}, {"value": False}]
    study = sa.read(save(of_langfuse(*said), "scores.jsonl"))
    assert labels(study) == ["True"] * 3 + ["False"] * 3
    said = [{"dataType": "CATEGORICAL", "stringValue": "yes"}, {"value": 1}, {"value": 0}]
    study = sa.read(save(of_langfuse(*said), "scores.jsonl"))
    assert labels(study) == ["yes", "yes", "no"]


def test_several_questions(save):
    rows = [*LANGFUSE, LANGFUSE[0] | {"name": "toxic"}]
    file = save("\n".join(map(json.dumps, rows)), "scores.jsonl")
    with pytest.raises(sa.SetagreeError, match="2 questions, 'helpful', 'toxic'; choose one"):
        sa.read(file)
    assert sa.read(file, question="helpful").n_units == 2


def test_replaced_assessments_of_mlflow_are_no_repeats(tmp_path):
    traces = json.loads(json.dumps(MLFLOW))
    for trace in traces:
        old = trace["info"]["assessments"][1]
        replaced = {**old, "feedback": {"value": not old["feedback"]["value"]}, "valid": False}
        trace["info"]["assessments"].append(replaced)
    path = tmp_path / "traces.json"
    answers = []
    for some in (MLFLOW, traces):
        path.write_text(json.dumps(some), encoding="utf-8")
        answers.append(sa.read(path).to_triples())
    assert answers[0] == answers[1]
