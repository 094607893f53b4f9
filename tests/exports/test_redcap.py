"""REDCap: the status of a form, its fields, and records of several events."""

import pytest
from exports.csv_writers import read
from exports.json_writers import put

import setagree as sa
from setagree.errors import DataError, FileError, OptionError, SetagreeWarning


def test_redcap_without_a_status(save):
    """No tick and no status: nobody can tell; ticks are answers."""
    text = "record_id,item,rater,g___1,g___2\n1,f1,kim,1,0\n2,f1,lee,0,0\n3,f1,max,,\n"
    path = save(text)
    with pytest.raises(DataError, match=r"1 blank answer \(first: line 3\).*<form>_complete"):
        read(path)
    found = read(path, blank="empty")
    assert found == {("f1", "kim"): {"1"}, ("f1", "lee"): set(), ("f1", "max"): None}


def test_redcap_ticks_in_forms_that_are_not_complete(save):
    """They are no annotations yet, and one warning counts them."""
    text = "record_id,item,rater,g___1,g____99,g_complete\n1,f1,kim,1,1,2\n2,f1,lee,1,0,1\n"
    with pytest.warns(SetagreeWarning, match="1 record with ticks left out, as 'g_complete'"):
        found = read(save(text))
    assert found == {("f1", "kim"): {"1", "-99"}, ("f1", "lee"): None}


def test_redcap_status_is_that_of_its_form(save):
    """The status to the right of a field is its own; an odd one is an error."""
    text = "record_id,item,rater,a_complete,g___1,g___2,g_complete,z_complete\n1,f1,kim,0,1,0,2,0\n"
    assert read(save(text)) == {("f1", "kim"): {"1"}}
    with pytest.raises(FileError, match=r"line 2, column 'g_complete': '7' is not a status"):
        read(save(text.replace("1,0,2,0", "1,0,7,0")))
    with pytest.raises(DataError, match="which column names the rater"):
        read(save(text.replace(",rater,", ",x,")))


def test_redcap_records_are_units_where_nothing_else_is(save):
    """The record comes first and is the unit where no other column is called like one."""
    text = "record_id,rater,g___1,g_complete\nr1,kim,1,2\nr1,lee,0,2\n"
    assert read(save(text)) == {("r1", "kim"): {"1"}, ("r1", "lee"): set()}


def test_redcap_questions(save):
    """Two fields of checkboxes: one is named."""
    text = "record_id,item,rater,g___1,m___1,m___2,x_complete\n1,f1,kim,1,0,1,2\n"
    with pytest.raises(OptionError, match="2 questions, 'g', 'm'"):
        read(save(text))
    assert read(save(text), question="m") == {("f1", "kim"): {"2"}}


class TestRedcap:
    """Records of several events."""

    def test_several_events(self, tmp_path):
        """Two visits of a patient are one unit only with a word about it."""
        text = (
            "record_id,redcap_event_name,unit,rater,f___1,f___2,f_complete\n"
            "1,one,p1,ann,1,0,2\n2,two,p1,bob,0,1,2\n3,one,p2,ann,1,0,2\n4,one,p2,bob,1,0,2\n"
        )
        with pytest.warns(SetagreeWarning, match="1 unit with rows of several 'redcap_event_name'"):
            assert sa.read(put(tmp_path, "events.csv", text)).n_units == 2
        one = text.replace(",two,", ",one,")
        assert sa.read(put(tmp_path, "event.csv", one)).n_units == 2
