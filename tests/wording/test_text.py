"""Names and sentences: how wide they are, how they are cut, what steers is spelled out."""

import pytest

from setagree.wording.label_sets import format_labels, written_set
from setagree.wording.sentences import (
    Name,
    capitalised,
    columns_of,
    cut,
    enumeration,
    escape_formula,
    named,
    plain,
    short_text,
    visible,
)


def test_invisible_signs_are_spelled_out():
    assert visible("a\u202eb\x00") == "a\\u202eb\\x00"
    assert visible("👩‍💻") == "👩‍💻"
    assert visible("half\ud800") == "half\\ud800"
    assert [*map(escape_formula, ("=1+1", "1+1", -1))] == ["'=1+1", "1+1", -1]


def test_columns():
    """Wide letters take two columns, marks above others none."""
    assert columns_of("多e\u0301") == 3
    assert columns_of("plain") == 5


def test_cut():
    """A cut text is as wide as it may be and ends in an ellipsis."""
    assert cut("x" * 60, 60) == "x" * 60
    assert cut("x" * 61, 60) == "x" * 59 + "…"
    assert cut("多标签", 6) == "多标签"
    assert cut("多标签", 5) == "多标…"
    assert cut("多标签", 4) == "多…"
    assert Name("x" * 10_000).short == "x" * 59 + "…"
    assert len(Name("x" * 10_000).title) == 400


def test_marks_are_cut_as_well():
    assert cut("e" + "\u0301" * 10_000, 30) == "e" + "\u0301" * 598 + "…"


def test_cut_where_signs_belong_together():
    assert cut(r"xx\$\$", 4) == "xx…"
    assert cut("a\u200d多b", 3) == "a…"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("joy", "joy"),
        (7, "7"),
        (("batch", 2), "('batch', 2)"),
        (frozenset({"b", "a"}), "a, b"),
        (frozenset(), "{}"),
        ("a\n\tb\u2028c", "a b c"),
        ("\u202eabc\u200f", "abc"),
        ("\ud800\uffff", "\ufffd\ufffd"),
        ("", "''"),
        ("\x00", r"'\x00'"),
        ("5 $ or 6 $", r"5 \$ or 6 \$"),
        ("x" * 30, "x" * 30),
        ("x" * 31, "x" * 29 + "…"),
        ("日" * 16, "日" * 14 + "…"),
        ("e\u0301" * 30, "e\u0301" * 30),
    ],
)
def test_short_text(value, text):
    """A name is one line of at most 30 columns, without what steers; two a Chinese character."""
    assert short_text(value) == text


def test_names():
    """Sets are shown as people read them, tuples and numbers as they are."""
    assert Name.of(frozenset("ba")).text == "a, b"
    assert Name.of(frozenset()).text == "{}"
    assert Name.of(("u", 1)).text == "('u', 1)"
    assert [capitalised("joy is"), capitalised(Name("joy"))] == ["Joy is", Name("joy")]


def test_labels_at_separators():
    """A label is quoted if it begins or ends with a separator without its spaces."""
    labels = {"/a", "b", "c/"}
    assert format_labels(labels, label_sep=" / ") == '"/a" / b / "c/"'
    assert format_labels(labels, label_sep="|") == "/a|b|c/"
    quoted = ["[a", "{a", "set(a", "frozenset(a"]
    assert [written_set([x], ",") for x in quoted] == [f'"{x}"' for x in quoted]
    several = [",", "/", " - "]
    assert written_set(["and/or", "a;b", "-x", "y"], several) == '"-x", a;b, "and/or", y'
    assert [written_set(x, ",") for x in (None, [], ["a"])] == [None, "[]", "a"]


def test_enumeration():
    assert "".join(enumeration([("a",)])) == "a"
    assert "".join(enumeration([("a",), ("b",)])) == "a and b"
    assert "".join(enumeration([("a",), ("b",), ("c",)])) == "a, b and c"
    assert plain(named([1, 2, 3])) == "“1”, “2” and “3”"
    assert plain(named(range(1234))) == "“0”, “1”, “2” and 1,231 more"
