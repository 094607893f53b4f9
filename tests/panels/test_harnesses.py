"""The scorer of a panel in evaluation harnesses: the lines of the guide, run in the packages."""

import gc

import pytest

import setagree as sa

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

STUDY = sa.Annotations.from_triples(
    [("ann", "u1", "joy"), ("bob", "u1", "joy, fear"), ("ann", "u2", []), ("bob", "u2", [])]
)
ANSWERS = {"u1": "joy", "u2": ""}


@pytest.fixture
def scorer():
    return sa.panel_scorer(STUDY)


def test_mlflow(scorer):
    models = pytest.importorskip("mlflow.models", reason="mlflow is not installed")

    def kappa_x(predictions, targets):  # the targets are the units
        return scorer.score([*targets], [*predictions])

    metric = models.make_metric(eval_fn=kappa_x, greater_is_better=True)
    found = metric(predictions=[*ANSWERS.values()], targets=[*ANSWERS])
    assert found == pytest.approx(scorer.score([*ANSWERS], [*ANSWERS.values()]))
    assert metric.name == "kappa_x"


def test_inspect(scorer, tmp_path):
    inspect_ai = pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
    from inspect_ai import scorer as scoring
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    @scoring.metric
    def kappa_x():
        def compute(scores: list[scoring.SampleScore]) -> float:
            return scorer.score([s.sample_id for s in scores], [s.score.answer for s in scores])

        return compute

    @scoring.scorer(metrics=[kappa_x()])
    def labels():
        async def score(state, target):
            return scoring.Score(value=0, answer=state.output.completion)

        return score

    @solver
    def answered():
        async def solve(state, generate):
            state.output = ModelOutput.from_content("mock", ANSWERS[state.sample_id])
            return state

        return solve

    samples = [Sample(input="text", id=unit) for unit in ANSWERS]
    task = inspect_ai.Task(dataset=samples, solver=answered(), scorer=labels())
    (log,) = inspect_ai.eval(task, model="mockllm/model", display="none", log_dir=str(tmp_path))
    gc.collect()  # streams that Inspect leaves open are no matter of this test
    value = log.results.scores[0].metrics["kappa_x"].value
    assert value == pytest.approx(scorer.score([*ANSWERS], [*ANSWERS.values()]))
