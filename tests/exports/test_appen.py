"""Appen: test questions, tainted judgments, and which column is the question."""

import pytest
from exports.csv_writers import answered, read

from setagree.errors import OptionError, SetagreeWarning


def test_test_questions_and_tainted_judgments_are_left_out(save):
    text = (
        "_unit_id,_golden,_tainted,_worker_id,g,g_gold\n"
        "1,false,false,kim,a,\n1,false,true,lee,a,\n2,true,false,kim,a,\n3,false,false,kim,a,b\n"
    )
    with pytest.warns(SetagreeWarning) as caught:
        found = read(save(text))
    assert [str(w.message) for w in caught] == [
        "export.csv: 1 tainted judgment left out.",
        "export.csv: 2 test-question judgments left out.",
    ]
    assert answered(found) == {("1", "kim"): {"a"}}


def test_appen_questions(save):
    path = save("_unit_id,_worker_id,g,title\n1,kim,a,Up\n")
    with pytest.raises(OptionError, match="2 questions, 'g', 'title'"):
        read(path)
    assert read(path, question="g") == {("1", "kim"): {"a"}}


def test_input_columns_are_no_questions(save):
    rows = "1,kim,a,Up\n1,lee,b,Up\n2,kim,a,In\n2,lee,a,In\n"
    found = read(save(f"_unit_id,_worker_id,g,title\n{rows}"))
    assert answered(found)["1", "lee"] == {"b"}
    with pytest.raises(OptionError, match="2 questions, 'g', 'title'"):
        read(save("_unit_id,_worker_id,g,title\n1,kim,a,Up\n1,lee,a,Up\n"))
