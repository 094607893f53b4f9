"""Zooniverse: tasks, workflows, and values that are no labels."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from exports.csv_writers import read, table

import setagree as sa
from setagree.errors import DataError, FileError


def zooniverse_rows(*annotations):
    rows = [[k, f"w{k}", cell, 7] for k, cell in enumerate(annotations)]
    return table([["classification_id", "user_name", "annotations", "subject_ids"], *rows])


def test_zooniverse_values(save):
    cells = ['[{"task": "T0", "value": "a"}]', '[{"task": "T0", "value": null}]']
    cells += ['[{"task": "T1", "value": ["b"]}]', '[{"task": "T0", "value": []}]']
    found = read(save(zooniverse_rows(*cells)), question="T0")
    assert list(found.values()) == [{"a"}, None, None, set()]


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ('[{"task": "T0", "val', "is not JSON"),
        ('{"task": "T0"}', "not a list of tasks"),
        ('[{"task": "T0"}]', "without 'task' or 'value'"),
        ("[1]", "without 'task' or 'value'"),
        ('[{"task": "T0", "value": [{"x": 1}]}]', "not a list of labels"),
    ],
)
def test_damaged_classifications(cell, sentence, save):
    with pytest.raises(FileError, match=f"export.csv, line 2, column 'annotations': .*{sentence}"):
        read(save(zooniverse_rows(cell)))


class TestZooniverse:
    @staticmethod
    def csv(folder, rows):
        """Write classifications: who, workflow, value."""
        table = pd.DataFrame(
            [
                (k, who, workflow, json.dumps([{"task": "T0", "value": value}]), "s1")
                for k, (who, workflow, value) in enumerate(rows)
            ],
            columns=["classification_id", "user_name", "workflow_id", "annotations", "subject_ids"],
        )
        table.to_csv(folder / "classifications.csv", index=False)
        return folder / "classifications.csv"

    def test_several_workflows(self, tmp_path):
        """T0 of one workflow is not T0 of another."""
        path = self.csv(tmp_path, [("ann", 12, ["joy"]), ("bob", 13, ["joy"])])
        with pytest.raises(DataError, match=r"2 workflows, '12', '13' .* export one workflow"):
            sa.read(path)
        assert sa.read(self.csv(tmp_path, [("ann", 12, []), ("bob", 12, ["joy"])])).n_ratings == 2

    @pytest.mark.parametrize("value", [0, False, {}])
    def test_values_that_are_no_labels(self, tmp_path, value):
        with pytest.raises(FileError, match="is not a list of labels"):
            sa.read(self.csv(tmp_path, [("ann", 12, value), ("bob", 12, ["joy"])]))


SURVEY = [{"choice": "ZEBRA", "answers": {"HOWMANY": "2"}}, {"choice": "LION", "answers": {}}]


def test_survey_tasks_are_sets_of_choices(save):
    cells = [json.dumps([{"task": "T0", "value": value}]) for value in (SURVEY, SURVEY[1:], [])]
    found = read(save(zooniverse_rows(*cells)))
    assert list(found.values()) == [{"ZEBRA", "LION"}, {"LION"}, set()]


def test_drawing_tasks_have_no_label_sets(save):
    mark = {"tool": 0, "x": 1.5, "y": 2.0, "tool_label": "nest"}
    drawing, question = {"task": "T1", "value": [mark]}, {"task": "T0", "value": "yes"}
    path = save(zooniverse_rows(json.dumps([question, drawing])))
    with pytest.raises(FileError, match="'T1' is a drawing task, whose marks have positions"):
        read(path, question="T1")
    assert list(read(path, question="T0").values()) == [{"yes"}]
