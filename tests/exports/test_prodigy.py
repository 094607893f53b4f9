"""Prodigy: rejected examples, sessions, and several questions."""

import pytest
from exports.json_writers import TRUTH, answered, found, prodigy, put, write

import setagree as sa
from setagree.errors import DataError, FileError, SetagreeWarning


def test_prodigy_rejects_are_asked_about(tmp_path):
    records = prodigy(TRUTH)
    records[0] |= {"answer": "reject", "accept": []}
    path = write(tmp_path, "prodigy", records)
    with pytest.raises(DataError, match=r"line 1: rejected, .* use blank='empty' or blank='missi"):
        sa.read(path)
    assert found(sa.read(path, blank="empty"))["p1", "mia"] == set()
    assert ("p1", "mia") not in found(sa.read(path, blank="missing"))
    records[0]["answer"] = "perhaps"
    with pytest.raises(FileError, match="line 1, answer: 'perhaps' must be accept, reject or ign"):
        sa.read(write(tmp_path, "prodigy", records))


def test_prodigy_sessions_and_no_accept(tmp_path):
    records = prodigy(TRUTH)
    for record in records:
        del record["_annotator_id"]
        if not record["accept"]:
            del record["accept"]
    assert found(sa.read(write(tmp_path, "prodigy", records))) == answered(TRUTH)


def two_answers(*hashes):
    """Return one example that two people answered under these hashes of the task."""
    example = {"_input_hash": 1, "options": [], "answer": "accept", "accept": ["joy"]}
    return [
        {**example, "_task_hash": asked, "_session_id": who}
        for asked, who in zip(hashes, "ab", strict=True)
    ]


class TestProdigy:
    def test_several_questions(self, tmp_path):
        with pytest.warns(SetagreeWarning, match="1 example with several '_task_hash'"):
            assert sa.read(put(tmp_path, "two.jsonl", two_answers(1, 2))).n_units == 1
        assert sa.read(put(tmp_path, "one.jsonl", two_answers(1, 1))).n_units == 1
