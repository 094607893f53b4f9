"""Plain tables: they are read as elsewhere, and their layouts are told apart."""

import pandas as pd
import pytest
from exports.csv_writers import SIMPLE, given_answers, labelled, long, read, table, wide

import setagree as sa
from setagree.errors import (
    BlankLabelsWarning,
    DataError,
    FileError,
    MissingMarkerWarning,
    SeparatorWarning,
    SimilarLabelsWarning,
)
from setagree.exports import FORMATS
from setagree.exports.detection import peek, recognised


def test_plain_tables_warn_as_elsewhere(save):
    with pytest.warns(BlankLabelsWarning, match="3 blank cells read as missing"):
        assert given_answers(save(long(SIMPLE))) == labelled(SIMPLE)
    with pytest.warns(MissingMarkerWarning, match="2 cells that may mean 'missing'"):
        found = given_answers(save(wide(SIMPLE)), blank="empty")
    assert found["f4", "lee"] == {"NA"}
    semicolons = "unit,rater,labels\n" + "".join(f"u{k},kim,a;b\n" for k in range(4))
    with pytest.warns(SeparatorWarning, match="did you mean label_sep=';'"):
        read(save(semicolons))
    assert read(save(semicolons), label_sep=";")["u0", "kim"] == {"a", "b"}


def test_space_around_names_is_said_as_elsewhere(save):
    file = save("unit,rater,labels\nu1,ann ,a\nu1,bob,a\nu2,ann,a\n u2,bob,a\n")
    with pytest.warns(SimilarLabelsWarning) as said:
        assert sa.read(file).n_units == 2
    assert [str(one.message) for one in said] == [
        "1 unit is spelled in two ways and read as one: 'u2' and ' u2'.",
        "1 rater is spelled in two ways and read as one: 'ann ' and 'ann'.",
    ]


def test_plain_cells_are_read_as_elsewhere(save):
    rows = [["u1", "kim", '"a, b", c'], ["u1", "lee", '["a, b"]'], ["u1", "max", "c, "]]
    found = read(save(table([["unit", "rater", "labels"], *rows])))
    assert list(found.values()) == [{"a, b", "c"}, {"a, b"}, {"c"}]
    with pytest.raises(FileError, match=r"line 2, column 'labels': .*quote"):
        read(save(table([["unit", "rater", "labels"], ["u1", "kim", 'a, "b']])))


def test_a_label_called_na_is_kept_by_the_roster(save):
    path = save("unit,kim,lee\nu1,NA,a\nu2,a,NA\nu3,a,\n")
    listed = pd.DataFrame([("u1", "kim"), ("u1", "lee"), ("u2", "kim"), ("u3", "kim")])
    found = read(path, roster=listed.set_axis(["unit", "rater"], axis=1))
    assert found["u1", "kim"] == {"NA"}
    assert found["u2", "lee"] is None
    assert found["u3", "lee"] is None


def test_values_are_no_label_sets(save):
    path = save("unit,rater,score\nu1,kim,3\nu1,lee,4\n")
    assert recognised(peek(path), FORMATS) == []
    with pytest.raises(DataError, match="'score' has single values"):
        read(path, tool="plain_long")
    assert read(path, tool="plain_long", question="score")["u1", "kim"] == {"3"}


def test_stray_columns_of_a_wide_table_are_refused(save):
    with pytest.raises(DataError, match="'notes' seems not to be a rater"):
        read(save("unit,kim,lee,notes\nu1,a,b,hm\nu2,a,b,hm\n"))


def test_one_row_a_label_twice(save):
    rows = "u1,kim,a\nu1,kim,b\n"
    with pytest.raises(DataError, match=r"line 4 repeats line 2; remove repeated rows"):
        read(save("unit,rater,tag\n" + 2 * rows), tool="plain_row_per_label", blank="missing")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("unit,rater,labels\nu1,kim,a\nu1,lee,b\n", "plain_long"),
        ("unit,rater,labels\nu1,kim,a\nu1,kim,a\n", "plain_long"),
        ('unit,rater,labels\nu1,kim,"a, b"\nu1,kim,b\n', "plain_long"),
        ("unit,rater,a,b\nu1,kim,0,1\n", "plain_onehot"),
        ("unit,rater,a,b\nu1,kim,0,maybe\n", None),
        ("unit,rater,score\nu1,kim,1\n", None),
        ("unit,kim,lee\nu1,a,b\n", "plain_wide"),
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


@pytest.mark.filterwarnings("ignore::setagree.errors.BlankLabelsWarning")
@pytest.mark.parametrize("other", ["x", ""])
@pytest.mark.parametrize("blank", [None, "missing", "empty"])
def test_a_null_of_json(tmp_path, other, blank):
    rows = [("u1", "a", other), ("u1", "b", None), ("u2", "a", "x"), ("u2", "b", "y")]
    path = tmp_path / "nulls.jsonl"
    frame = pd.DataFrame(rows, columns=["unit", "rater", "labels"])
    frame.to_json(path, orient="records", lines=True)
    study = sa.read(path, tool="plain_long", blank=blank)
    plain = sa.read(path, tool="table", blank=blank)
    assert {*study.to_triples()} == {*plain.to_triples()}
    assert study.n_missing == plain.n_missing
    wide = frame.pivot(index="unit", columns="rater", values="labels").reset_index()
    wide.to_json(path, orient="records", lines=True)
    study = sa.read(path, tool="plain_wide", blank=blank)
    plain = sa.read(path, tool="table", wide=True, blank=blank)
    assert {*study.to_triples()} == {*plain.to_triples()}
