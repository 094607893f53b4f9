"""REDCap: the status of a form, its fields, and records of several events."""

import pytest
from exports.csv_writers import read
from exports.json_writers import put

import setagree as sa
from setagree.errors import DataError, FileError, OptionError, SetagreeWarning


def test_redcap_without_a_status(save):
    text = "record_id,item,rater,g___1,g___2\n1,f1,kim,1,0\n2,f1,lee,0,0\n3,f1,max,,\n"
    path = save(text)
    with pytest.raises(DataError, match=r"1 blank answer \(first: line 3\).*<form>_complete"):
        read(path)
    found = read(path, blank="empty")
    assert found == {("f1", "kim"): {"1"}, ("f1", "lee"): set(), ("f1", "max"): None}


def test_redcap_ticks_in_forms_that_are_not_complete(save):
    text = "record_id,item,rater,g___1,g____99,g_complete\n1,f1,kim,1,1,2\n2,f1,lee,1,0,1\n"
    with pytest.warns(SetagreeWarning, match="1 record with ticks left out: 'g_complete'"):
        found = read(save(text))
    assert found == {("f1", "kim"): {"1", "-99"}, ("f1", "lee"): None}


def test_redcap_status_is_that_of_its_form(save):
    text = "record_id,item,rater,a_complete,g___1,g___2,g_complete,z_complete\n1,f1,kim,0,1,0,2,0\n"
    assert read(save(text)) == {("f1", "kim"): {"1"}}
    with pytest.raises(FileError, match=r"line 2, column 'g_complete': '7' is not a status"):
        read(save(text.replace("1,0,2,0", "1,0,7,0")))
    with pytest.raises(DataError, match="no column has a usual name for the rater"):
        read(save(text.replace(",rater,", ",x,")))


def test_redcap_records_are_units_where_nothing_else_is(save):
    text = "record_id,rater,g___1,g_complete\nr1,kim,1,2\nr1,lee,0,2\n"
    assert read(save(text)) == {("r1", "kim"): {"1"}, ("r1", "lee"): set()}


def test_redcap_questions(save):
    text = "record_id,item,rater,g___1,m___1,m___2,x_complete\n1,f1,kim,1,0,1,2\n"
    with pytest.raises(OptionError, match="2 questions, 'g', 'm'"):
        read(save(text))
    assert read(save(text), question="m") == {("f1", "kim"): {"2"}}


class TestRedcap:
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


REPEATS = """\
record_id,redcap_repeat_instrument,redcap_repeat_instance,item,photo_complete,rater,g___1,g___2,\
rating_complete
1,,,f1,2,,,,
1,rating,1,,,kim,1,0,2
1,rating,2,,,lee,0,0,2
2,,,f2,2,,,,
2,rating,1,,,kim,1,1,2
2,rating,2,,,lee,1,0,0
2,note,1,,,,,,
"""
RATED = {
    ("f1", "kim"): {"1"},
    ("f1", "lee"): set(),
    ("f2", "kim"): {"1", "2"},
    ("f2", "lee"): None,
}
UNFINISHED = "1 record with ticks left out: 'rating_complete' is not Complete"


class TestRepeats:
    def test_repeats_are_ratings(self, save):
        with pytest.warns(SetagreeWarning, match=UNFINISHED):
            assert read(save(REPEATS)) == RATED

    def test_boxes_that_are_not_blank_elsewhere(self, save):
        with pytest.warns(SetagreeWarning, match=UNFINISHED):
            assert read(save(REPEATS.replace(",,,,\n", ",,0,0,0\n"))) == RATED

    def test_who_repeats(self, save):
        text = (
            "record_id,redcap_repeat_instrument,redcap_repeat_instance,rater,who_complete,item,"
            "g___1,g_complete\n"
            "1,,,kim,2,,,\n1,g,1,,,f1,1,2\n1,g,2,,,f2,0,2\n2,,,lee,2,,,\n2,g,1,,,f1,1,2\n"
        )
        assert read(save(text)) == {
            ("f1", "kim"): {"1"},
            ("f2", "kim"): set(),
            ("f1", "lee"): {"1"},
        }
        twice = text + "1,,,max,2,,,\n"
        with pytest.raises(DataError, match="record '1' has rows without 'rater', and others with"):
            read(save(twice))

    def test_a_rater_who_repeats(self, tmp_path):
        path = put(tmp_path, "a.csv", REPEATS.replace("lee,1,0,0", "kim,1,0,2"))
        with pytest.raises(DataError, match=r"unit 'f2', rater 'kim': 2 times.*duplicates='last'"):
            sa.read(path)
        study = sa.read(path, duplicates="repeats")
        assert (study.n_ratings, study.n_repeated) == (3, 1)

    def test_instances_without_raters(self, save):
        text = REPEATS.replace(",rater,", ",mood,").replace("lee,1,0,0", "lee,1,0,2")
        with pytest.warns(SetagreeWarning, match="no column identifies the rater, so that"):
            found = read(save(text))
        assert found[("f2", "2")] == {"1"}
        assert {rater for _, rater in found} == {"1", "2"}

    def test_labels(self, save):
        """The export with labels has its own names for the same columns."""
        text = (
            "Record ID,Repeat Instrument,Repeat Instance,Rater,Mood (choice=joy),Complete?\n"
            "1,Rating,1,kim,Checked,Complete\n1,Rating,2,lee,Unchecked,Complete\n1,,,,,\n"
        )
        assert read(save(text)) == {("1", "kim"): {"joy"}, ("1", "lee"): set()}

    def test_a_form_that_is_not_repeated(self, save):
        text = (
            "record_id,item,rater,g___1,g_complete,redcap_repeat_instrument,"
            "redcap_repeat_instance\n1,f1,kim,1,2,,\n1,,,,,note,1\n2,f1,lee,1,2,,\n"
        )
        assert read(save(text)) == {("f1", "kim"): {"1"}, ("f1", "lee"): {"1"}}

    def test_visits(self, tmp_path):
        """Where one instance has several rows, instances may be visits: a word about it."""
        text = (
            "record_id,redcap_repeat_instance,unit,rater,f___1,f_complete\n"
            "1,1,p1,ann,1,2\n2,1,p1,bob,0,2\n3,2,p1,cem,1,2\n"
        )
        with pytest.warns(SetagreeWarning, match="1 unit with rows of several 'redcap_repeat_inst"):
            assert sa.read(put(tmp_path, "visits.csv", text)).n_units == 1
