"""Argilla: questions, states of responses, and who submitted."""

import pandas as pd
import pytest
from exports.json_writers import (
    OPTIONS,
    TRUTH,
    answered,
    argilla_flat,
    argilla_nested,
    found,
    put,
    write,
)

import setagree as sa
from setagree.errors import DataError, FileError, OptionError


def test_argilla_flat_questions_and_gaps(tmp_path):
    records = argilla_flat(TRUTH)
    records.append({"id": "p9", "birds.responses": None})
    assert found(sa.read(write(tmp_path, "argilla_flat", records))) == answered(TRUTH)
    kind = {
        f"kind.responses{end}": value
        for end, value in zip(
            ("", ".users", ".status"), (["big"], ["mia"], ["submitted"]), strict=True
        )
    }
    records[0] |= kind
    path = write(tmp_path, "argilla_flat", records)
    assert found(sa.read(path, question="kind")) == {("p1", "mia"): {"big"}}
    with pytest.raises(OptionError, match="'birds', 'kind'"):
        sa.read(path)
    records[0]["birds.responses.users"].pop()
    with pytest.raises(FileError, match=r"equal lengths, not 3, 2, 3"):
        sa.read(write(tmp_path, "argilla_flat", records), question="birds")


def test_argilla_nested_refuses_without_a_roster(tmp_path):
    path = write(tmp_path, "argilla_nested")
    with pytest.raises(
        DataError, match=r"drops their status\. Export records\.to_list\(flatten=Tr"
    ):
        sa.read(path)
    with pytest.raises(DataError, match="roster: there is no column 'unit'; the columns are"):
        sa.read(path, roster=pd.DataFrame({"who": ["mia"]}))
    with pytest.raises(
        DataError, match=r"roster: Expected a table, got an int.*'unit' and 'rater'"
    ):
        sa.read(path, roster=3)
    records = argilla_nested(TRUTH)
    records.append({"id": "p9", "responses": {}})
    study = sa.read(write(tmp_path, "argilla_nested", records), **OPTIONS["argilla_nested"])
    assert found(study) == answered(TRUTH)


class TestArgilla:
    @pytest.mark.parametrize("status", ["Submitted", "done", None])
    def test_unknown_status(self, tmp_path, status):
        """It is refused, not taken for a draft."""
        record = {"id": "u", "q.responses": [["a"], ["a"]], "q.responses.users": ["x", "y"]}
        records = [{**record, "q.responses.status": ["submitted", status]}]
        with pytest.raises(FileError, match=r"status\[1\]: "):
            sa.read(put(tmp_path, "records.jsonl", records))
