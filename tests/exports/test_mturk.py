"""Mechanical Turk: units, rejected assignments, and each way of writing answers."""

import json

import pandas as pd
import pytest
from exports.csv_writers import read, table
from exports.json_writers import pairs, put

import setagree as sa
from setagree.errors import FileError, OptionError, SeparatorWarning, SetagreeWarning


def test_the_same_input_is_the_same_unit(save):
    text = (
        "HITId,WorkerId,Input.id,Input.title,Answer.g\n"
        "h1,kim,s,Up,a\nh2,lee,s,Up,b\nh3,kim,s,Heat,a\n"
    )
    assert set(read(save(text))) == {("h1", "kim"), ("h1", "lee"), ("h3", "kim")}
    own = text.replace(",s,Heat", ",t,Heat")
    assert set(read(save(own))) == {("s", "kim"), ("s", "lee"), ("t", "kim")}
    bare = "HITId,WorkerId,Answer.g\nh1,kim,a\nh2,kim,b\n"
    assert set(read(save(bare))) == {("h1", "kim"), ("h2", "kim")}


def test_rejected_assignments_are_left_out(save):
    text = (
        "HITId,WorkerId,AssignmentStatus,Answer.g\nh1,kim,Approved,a\nh1,lee,Rejected,b\n"
        "h1,max,Submitted,\n"
    )
    with pytest.warns(SetagreeWarning, match=r"export.csv: 1 rejected assignment left out\."):
        found = read(save(text))
    assert found == {("h1", "kim"): {"a"}, ("h1", "lee"): None, ("h1", "max"): set()}


def test_checkboxes_of_one_question(save):
    text = "HITId,WorkerId,Answer.g.a.on,Answer.g.b.on,Answer.m.a.on\nh1,kim,TRUE,false,true\n"
    assert read(save(text), question="g") == {("h1", "kim"): {"a"}}
    assert read(save(text)) == {("h1", "kim"): {"g.a", "m.a"}}
    with pytest.raises(OptionError, match=r"question='x' is not in export.csv; it has 'g', 'm'"):
        read(save(text), question="x")
    with pytest.raises(FileError, match=r"no columns 'Answer.<label>.on'"):
        read(save("HITId,WorkerId\nh1,kim\n"), tool="mturk_checkboxes")


def test_checkboxes_must_be_flags(save):
    head = "HITId,WorkerId,Answer.a.on,Answer.b.on\nh1,kim,true,false\n"
    with pytest.raises(FileError, match=r"line 3, column 'Answer.b.on': 'x' is neither 'true' nor"):
        read(save(head + "h1,lee,true,x\n"))
    with pytest.raises(FileError, match=r"line 3, column 'Answer.a.on': the cell is blank, and"):
        read(save(head + "h1,lee,,true\n"))
    assert read(save(head + "h1,lee,,\n"))["h1", "lee"] == set()


@pytest.mark.parametrize(
    ("answer", "labels"),
    [
        ({"g": {"a": True, "b": False}}, {"a"}),
        ({"g": {"labels": ["a", "b"]}}, {"a", "b"}),
        ({"g": {"label": "a"}}, {"a"}),
        ({"g": ["a"]}, {"a"}),
        ({"g": "a|b"}, {"a", "b"}),
        ({"g": ""}, set()),
        ({"a": {"on": True}, "b": {"on": False}}, {"a"}),
    ],
)
def test_forms_of_task_answers(answer, labels, save):
    for record in (answer, [answer]):
        text = table([["HITId", "WorkerId", "Answer.taskAnswers"], ["h", "k", json.dumps(record)]])
        assert read(save(text)) == {("h", "k"): labels}


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ('[{"g": {"a": tr', "is not JSON"),
        ('[{"g": 1}, {}]', "not one JSON object"),
        ('[{"g": 1}]', "not a list of labels"),
        ('[{"g": {"x": 1}}]', "not a list of labels"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_damaged_task_answers(cell, sentence, save):
    text = table([["HITId", "WorkerId", "Answer.taskAnswers"], ["h", "k", cell]])
    with pytest.raises(
        FileError, match=f"export.csv, line 2, column 'Answer.taskAnswers': .*{sentence}"
    ):
        read(save(text))


def test_a_question_that_an_assignment_lacks_is_missing(save):
    rows = [["h", "k", '[{"g": ["a"]}]'], ["h", "l", '[{"m": "x"}]'], ["h", "m", ""]]
    path = save(table([["HITId", "WorkerId", "Answer.taskAnswers"], *rows]))
    assert read(path, question="g") == {("h", "k"): {"a"}, ("h", "l"): None, ("h", "m"): set()}


class TestMechanicalTurk:
    @staticmethod
    def boxes(folder, names):
        """Write two assignments with these boxes, all ticked by the first worker."""
        heads = ["HITId", "WorkerId", "Input.unit", *(f"Answer.{name}.on" for name in names)]
        rows = [["h", who, "u", *[ticked] * len(names)] for who, ticked in [(1, True), (2, False)]]
        pd.DataFrame(rows, columns=heads).to_csv(folder / "batch.csv", index=False)
        return folder / "batch.csv"

    def test_boxes_of_two_questions(self, tmp_path):
        path = self.boxes(tmp_path, ["q1.joy", "q1.fear", "q2.red", "q2.blue"])
        with pytest.raises(OptionError, match="2 questions, 'q1', 'q2'; choose one"):
            sa.read(path)
        assert pairs(sa.read(path, question="q2"))["u", "1"] == {"red", "blue"}
        one = sa.read(self.boxes(tmp_path, ["q.joy", "q.fear", "sad", "v1.0"]))
        assert pairs(one)["u", "1"] == {"q.joy", "q.fear", "sad", "v1.0"}

    @staticmethod
    def answers(folder, *records):
        rows = [("h", k, "u", json.dumps([record])) for k, record in enumerate(records)]
        heads = ["HITId", "WorkerId", "Input.unit", "Answer.taskAnswers"]
        pd.DataFrame(rows, columns=heads).to_csv(folder / "batch.csv", index=False)
        return folder / "batch.csv"

    def test_text_beside_boxes(self, tmp_path):
        boxes = {"joy": {"on": True}, "fear": {"on": False}}
        path = self.answers(tmp_path, {**boxes, "comment": "hm"}, {**boxes, "comment": ""})
        assert pairs(sa.read(path)) == {("u", "0"): {"joy"}, ("u", "1"): {"joy"}}
        with pytest.raises(OptionError, match="question='joy' is not in batch"):
            sa.read(path, question="joy")

    def test_another_question_beside_boxes(self, tmp_path):
        record = {"joy": {"on": True}, "topic": {"red": True}, "place": {"labels": ["in"]}}
        path = self.answers(tmp_path, record, record)
        with pytest.raises(OptionError, match="2 questions, 'topic', 'place'"):
            sa.read(path)
        assert pairs(sa.read(path, question="topic"))["u", "0"] == {"red"}


def test_separator_in_brackets(tmp_path):
    text = "HITId,WorkerId,Input.unit,Answer.q\nh,1,u,a (b|c)\nh,2,u,a|d\n"
    with pytest.warns(SeparatorWarning, match=r"1 distinct cell with '\|' in brackets"):
        sa.read(put(tmp_path, "mturk.csv", text))
