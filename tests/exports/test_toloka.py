"""Toloka: states of assignments, cells and control tasks."""

import pytest
from exports.csv_writers import answered, read

from setagree.errors import DataError, FileError, SetagreeWarning


def test_toloka_states(save):
    """Only what was handed in and not rejected counts; an unknown state is an error."""
    head = "ASSIGNMENT:worker_id\tASSIGNMENT:assignment_id\tASSIGNMENT:task_id"
    head += "\tASSIGNMENT:status\tOUTPUT:g\n"
    states = ["APPROVED", "SUBMITTED", "ACCEPTED", "SKIPPED", "EXPIRED", "REJECTED", "ACTIVE"]
    rows = [f"w{k}\ta{k}\tt1\t{state}\t" for k, state in enumerate(states)]
    path = save(head + "\n".join(row + '["a"]' for row in rows) + "\n", "x.tsv")
    with pytest.warns(SetagreeWarning, match=r"x\.tsv: 1 rejected answer left out\."):
        assert sorted(rater for _, rater in answered(read(path))) == ["w0", "w1", "w2"]
    bad = save(head + rows[0] + "[]\n" + rows[1].replace("SUBMITTED", "LOST") + "[]\n", "x.tsv")
    with pytest.raises(FileError, match=r"x.tsv, line 3, column 'ASSIGNMENT:status': 'LOST' is no"):
        read(bad)
    blank = save(head + rows[0] + "\n", "x.tsv")
    with pytest.raises(DataError, match=r"1 blank answer .*An empty list is written as \[\]"):
        read(blank)


def test_toloka_cells_and_control_tasks(save):
    """Lists are JSON, other text needs label_sep=; tasks with a known answer are left out."""
    head = "INPUT:x\tOUTPUT:g\tGOLDEN:g\tASSIGNMENT:worker_id\tASSIGNMENT:assignment_id\n"
    path = save(head + "1\ta;b\t\tkim\t1\n", "x.tsv")
    with pytest.raises(
        FileError, match=r"line 2, column 'OUTPUT:g': 'a;b' is not a JSON list; set label_sep"
    ):
        read(path)
    assert read(path, label_sep=";") == {("1", "kim"): {"a", "b"}}
    broken = save(head + "1\t[1]\t\tkim\t1\n", "x.tsv")
    with pytest.raises(FileError, match="not a list of labels"):
        read(broken)
    golden = save(head + '1\t["a"]\t["b"]\tkim\t1\n2\t["a"]\t\tkim\t1\n', "x.tsv")
    with pytest.warns(SetagreeWarning, match=r"x.tsv: 1 control-task answer left out\."):
        assert answered(read(golden)) == {("2", "kim"): {"a"}}
