"""SageMaker Ground Truth: units by number, jobs, and the manifest."""

import json

import pytest
from exports.json_writers import TRUTH, answered, as_lines, by_unit, found, put, sagemaker

import setagree as sa
from setagree.errors import DataError, FileError, OptionError


def test_sagemaker(tmp_path):
    """The units are the numbers of the folders, from whichever folder is named."""
    sagemaker(tmp_path, TRUTH)
    units = {unit: number for number, unit in enumerate(by_unit(answered(TRUTH)))}
    truth = {(units[unit], rater): labels for (unit, rater), labels in answered(TRUTH).items()}
    for folder in (
        tmp_path,
        tmp_path / "worker-response",
        tmp_path / "worker-response/iteration-1",
    ):
        assert found(sa.read(folder)) == truth


def test_sagemaker_other_answers(tmp_path):
    file = tmp_path / "worker-response/iteration-1/0/a.json"
    file.parent.mkdir(parents=True)
    contents = [{"kind": {"label": "crow"}}, {"kind": {"label": "gull"}, "age": {"labels": []}}]
    contents.append({"age": {"labels": ["old"]}})
    workers = [{"workerId": f"w{k}", "answerContent": c} for k, c in enumerate(contents)]
    file.write_text(json.dumps({"answers": workers}), encoding="utf-8")
    study = sa.read(tmp_path, question="kind")
    assert found(study) == {(0, "w0"): {"crow"}, (0, "w1"): {"gull"}}
    assert study.n_missing == 1
    with pytest.raises(OptionError, match="answers to 2 questions, 'kind', 'age'"):
        sa.read(tmp_path)
    file.write_text(json.dumps({"answers": [{"answerContent": {}}]}), encoding="utf-8")
    with pytest.raises(FileError, match=r"iteration-1/0/a\.json, answers\[0\]: no key 'workerId'"):
        sa.read(tmp_path)


def test_sagemaker_manifest_is_refused(tmp_path):
    path = tmp_path / "output.manifest"
    row = {"source": "p1", "birds": [1], "birds-metadata": {"human-annotated": "yes"}}
    path.write_text(as_lines([row]), encoding="utf-8")
    with pytest.raises(DataError, match=r"without workers; pass the folder annotations/worker"):
        sa.read(path)


class TestSageMaker:
    @staticmethod
    def answers(*workers):
        content = {"q": {"labels": ["joy"]}}
        return json.dumps({"answers": [{"workerId": w, "answerContent": content} for w in workers]})

    def test_several_jobs(self, tmp_path):
        """Unit 0 of one job is not unit 0 of another; iterations of one job are one study."""
        put(tmp_path, "one/worker-response/iteration-1/0/x.json", self.answers("ann", "bob"))
        put(tmp_path, "one/worker-response/iteration-2/1/x.json", self.answers("ann", "bob"))
        put(tmp_path, "two/worker-response/iteration-1/0/x.json", self.answers("cy", "di"))
        assert sa.read(tmp_path / "one").n_units == 2
        assert sa.read(tmp_path / "one" / "worker-response").n_units == 2
        with pytest.raises(DataError, match="answers of 2 jobs, in 'one/worker-response/', 'two/"):
            sa.read(tmp_path)
