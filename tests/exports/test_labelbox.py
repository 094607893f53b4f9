"""Labelbox: questions, keys, projects, and labels that were skipped."""

import pytest
from exports.json_writers import TRUTH, found, labelbox, pairs, put, write

import setagree as sa
from setagree.errors import DataError, FileError, OptionError, SetagreeWarning


def test_labelbox_questions_radio_and_keys(tmp_path):
    rows = labelbox(TRUTH)
    rows[0]["data_row"]["global_key"] = None
    first = rows[0]["projects"]["project"]["labels"][0]["annotations"]["classifications"]
    first.append({"name": "age", "radio_answer": {"name": "old"}})
    path = write(tmp_path, "labelbox", rows)
    with pytest.raises(OptionError, match="answers to 2 questions, 'birds', 'age'"):
        sa.read(path)
    assert found(sa.read(path, question="age", blank="missing")) == {("row-p1", "mia"): {"old"}}
    with pytest.raises(DataError, match=r"labels\[1\]: no answer to 'age'"):
        sa.read(path, question="age")


def data_row(projects):
    """Return a data row with the labels of these projects: who gave which."""
    return {
        "data_row": {"id": "d"},
        "projects": {
            name: {
                "name": name.upper(),
                "labels": [
                    {
                        "label_details": {"created_by": who},
                        "performance_details": {"skipped": False},
                        "annotations": {
                            "classifications": [{"name": "q", "radio_answer": {"name": label}}]
                        },
                    }
                    for who, label in given.items()
                ],
            }
            for name, given in projects.items()
        },
    }


class TestLabelbox:
    def test_several_projects(self, tmp_path):
        """They are named; a project without labels does not count."""
        row = data_row({"p": {"ann": "joy"}, "r": {"bob": "fear"}})
        with pytest.warns(SetagreeWarning, match="labels of 2 projects, 'P', 'R', which are read"):
            study = sa.read(put(tmp_path, "two.ndjson", [row]))
        assert pairs(study) == {("d", "ann"): {"joy"}, ("d", "bob"): {"fear"}}
        row = data_row({"p": {"ann": "joy", "bob": "fear"}, "r": {}})
        assert sa.read(put(tmp_path, "one.ndjson", [row])).n_ratings == 2

    def test_skipped_is_true_or_false(self, tmp_path):
        row = data_row({"p": {"ann": "joy", "bob": "fear"}})
        row["projects"]["p"]["labels"][0]["performance_details"]["skipped"] = "no"
        with pytest.raises(FileError, match="skipped: expected true or false; got text"):
            sa.read(put(tmp_path, "rows.ndjson", [row]))
