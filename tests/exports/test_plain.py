"""Plain tables: they are read as elsewhere, and their layouts are told apart."""

import pandas as pd
import pytest
from exports.csv_writers import read

import setagree as sa
from setagree.errors import (
    DataError,
    DroppedRowsWarning,
    FileError,
    OptionError,
    SimilarLabelsWarning,
)
from setagree.exports import FORMATS
from setagree.exports.detection import peek, recognised


def test_space_around_names_is_said_as_elsewhere(save):
    file = save("unit,rater,labels\nu1,ann ,a\nu1,bob,a\nu2,ann,a\n u2,bob,a\n")
    with pytest.warns(SimilarLabelsWarning) as said:
        assert sa.read(file).n_units == 2
    assert [str(one.message) for one in said] == [
        "1 unit is spelled in two ways and read as one: 'u2' and ' u2'.",
        "1 rater is spelled in two ways and read as one: 'ann ' and 'ann'.",
    ]


def of_roster(path, pairs, **options):
    listed = pd.DataFrame(pairs, columns=["unit", "rater"])
    study = sa.read(path, roster=listed, **options)
    assert study.reading.blank is None
    return {(unit, rater): labels for rater, unit, labels in study.to_triples()}


LISTED = [("u1", "kim"), ("u1", "lee"), ("u2", "kim"), ("u3", "kim")]
ANSWERS = {("u1", "kim"): {"NA"}, ("u1", "lee"): {"a"}, ("u2", "kim"): {"a"}}


@pytest.mark.filterwarnings("ignore::setagree.errors.MissingMarkerWarning")
def test_a_roster_of_a_table(save):
    """Its pairs have an answer, blank or called NA; other pairs have none."""
    path = save("unit,kim,lee\nu1,NA,a\nu2,a,NA\nu3,,\n")
    assert of_roster(path, LISTED, wide=True) == ANSWERS | {("u3", "kim"): set()}
    rows = ["u1,kim,NA", "u1,lee,a", "u2,kim,a", "u2,lee,NA", "u3,kim,", "u3,lee,", "u4,kim,b"]
    path = save("\n".join(["unit,rater,labels", *rows]) + "\n")
    with pytest.warns(DroppedRowsWarning):
        found = of_roster(path, LISTED, where="unit != u4")
    assert found == ANSWERS | {("u3", "kim"): set()}
    with pytest.raises(DataError, match=r"does not list \(first: row 7, unit 'u4', rater 'kim'\)"):
        of_roster(path, LISTED)
    with pytest.raises(DataError, match="lists 'max', who is not in the file"):
        of_roster(path, [*LISTED, ("u4", "kim"), ("u4", "max")])


@pytest.mark.parametrize(
    "options", [{"kind": "number"}, {"labels": ["a", "b"]}, {"raters_in_rows": True}]
)
def test_rosters_are_for_label_sets(options):
    with pytest.raises(OptionError, match=r"^roster= is for label sets in a column"):
        sa.Reading(roster="who.csv", **options)


def test_values_are_no_label_sets(save):
    path = save("unit,rater,score\nu1,kim,3\nu1,lee,4\n")
    assert recognised(peek(path), FORMATS) == []
    with pytest.raises(DataError, match="'score' has single values"):
        read(path, tool="plain_row_per_label")
    found = read(path, tool="plain_row_per_label", question="score", blank="missing")
    assert found["u1", "kim"] == {"3"}


def test_one_row_a_label_twice(save):
    rows = "u1,kim,a\nu1,kim,b\n"
    with pytest.raises(DataError, match=r"line 4 repeats line 2; remove repeated rows"):
        read(save("unit,rater,tag\n" + 2 * rows), tool="plain_row_per_label", blank="missing")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("unit,rater,labels\nu1,kim,a\nu1,lee,b\n", None),
        ("unit,rater,labels\nu1,kim,a\nu1,kim,a\n", None),
        ('unit,rater,labels\nu1,kim,"a, b"\nu1,kim,b\n', None),
        ("unit,rater,a,b\nu1,kim,0,1\n", None),
        ("unit,rater,a,b\nu1,kim,0,maybe\n", None),
        ("unit,rater,score\nu1,kim,1\n", None),
        ("unit,kim,lee\nu1,a,b\n", None),
        ("unit,kim\nu1,a\n", None),
        ("id,text,label\n1,Up,a\n", None),
        ("first,second,third\n1,Up,a\n", None),
        ("unit,rater,labels\n", None),
        ("just one column\nx\n", None),
    ],
)
def test_plain_layouts_are_told_apart(text, name, save):
    found = [each.name for each in recognised(peek(save(text)), FORMATS)]
    assert found == ([] if name is None else [name])


def test_second_header_with_a_byte_order_mark(save):
    one = "unit,rater,labels\nu1,ann,joy\nu1,bob,joy\n"
    with pytest.raises(FileError, match="repeats its header in row 3"):
        sa.read(save(f"\ufeff{one}\ufeff{one.replace('u1', 'u2')}"))
