"""Logs of judges: made-up logs of each tool, their answers, and who is a model."""

import json

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
    answers = [(rater, *labels) for rater, _, labels in study.to_triples()]
    assert sorted(answers) == sorted([(model, good), (model, good), (other, good), (other, bad)])
    models = [model, other] if tool == "deepeval" else [model]
    assert marked_models(study) == models


def test_several_questions(save):
    rows = [*LANGFUSE, LANGFUSE[0] | {"name": "toxic"}]
    file = save("\n".join(map(json.dumps, rows)), "scores.jsonl")
    with pytest.raises(sa.SetagreeError, match="2 questions, 'helpful', 'toxic'; say which"):
        sa.read(file)
    assert sa.read(file, question="helpful").n_units == 2
