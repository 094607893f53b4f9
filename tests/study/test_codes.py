"""Columns to integer codes: every sort of column, every sort of cell."""

import decimal
import fractions
import math
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from asking import alpha_of, long_table, sentence, the_warning
from cells import MISSING_CELLS, objects
from hypothesis import given
from hypothesis import strategies as st

import setagree as sa
from setagree.errors import (
    BlankLabelsWarning,
    DataError,
    DistanceError,
    LabelError,
    MixedScaleWarning,
    SeparatorWarning,
    SimilarLabelsWarning,
)
from setagree.study import codes as coding
from setagree.study import scalars
from setagree.study.assembly import warn_blanks
from setagree.study.labels import LabelSyntax


def place(row):
    """Word where a row is, as the layouts do."""
    return f"Row {row}"


def decoded(answers):
    """Return the answer of each row, None where it is missing."""
    return [None if code == coding.MISSING else answers.values[code] for code in answers.codes]


def sets_of(column, **options):
    return decoded(coding.code_label_sets(column, LabelSyntax(**options), place=place))


def scalars_of(column, blank="missing", **options):
    return scalars.code_scalars(column, blank, place=place, **options)


def refused_sets(column, **options):
    with pytest.raises(LabelError) as caught:
        sets_of(column, **options)
    return str(caught.value)


def refused_scalars(column, blank="missing"):
    with pytest.raises(DataError) as caught:
        scalars_of(column, blank)
    return str(caught.value)


A, B, AB, EMPTY = frozenset("a"), frozenset("b"), frozenset("ab"), frozenset()


class TestAsObjects:
    @pytest.mark.parametrize(
        "items", [[(1, 2), (3, 4)], [[1], [2]], [A, AB], ["a", 1], [], [np.array([1, 2])]]
    )
    def test_one_dimension(self, items):
        array = coding.as_objects(items)
        assert array.shape == (len(items),)
        assert all(one is other for one, other in zip(array, items, strict=True))

    def test_index(self):
        assert type(coding.as_objects(pd.Index([1, 2]))[0]) is int


class TestLabelColumns:
    @pytest.mark.parametrize("dtype", ["str", "object", "string", "category"])
    def test_text(self, dtype):
        column = pd.Series(["a", "b, a", None, "a,b", "a"], dtype=dtype)
        assert sets_of(column) == [A, AB, None, AB, A]

    def test_arrow_text(self):
        pytest.importorskip("pyarrow")
        column = pd.Series(["a", "b, a", None], dtype="string[pyarrow]")
        assert sets_of(column) == [A, AB, None]

    def test_equal_sets_have_one_code(self):
        cells = ["a, b", "b,a", ["a", "b"], ("b", "a"), {"a", "b"}, AB, np.array(["a", "b", "a"])]
        answers = coding.code_label_sets(objects(*cells), LabelSyntax(), place=place)
        assert answers.values == (AB,)
        assert answers.codes.tolist() == [0] * len(cells)
        assert answers.kind == "labels"

    @pytest.mark.parametrize(
        "cells",
        [
            [["b", "a"], [], ["a", "b"], None],
            [("a", "b"), (), ("b", "a"), None],
            [{"a", "b"}, set(), {"b", "a"}, None],
            [AB, EMPTY, AB, None],
            [np.array(["a", "b"]), np.array([]), np.array(["b", "a"]), None],
            ["['a', 'b']", "[]", '["b", "a"]', None],
        ],
        ids=["lists", "tuples", "sets", "frozensets", "arrays", "written lists"],
    )
    def test_collections(self, cells):
        assert sets_of(objects(*cells)) == [AB, EMPTY, AB, None]

    @pytest.mark.parametrize("missing", MISSING_CELLS, ids=repr)
    @pytest.mark.parametrize("other", ["a", ["a"], A], ids=["text", "list", "frozenset"])
    def test_missing_of_every_sort(self, missing, other):
        answers = coding.code_label_sets(objects(other, missing), LabelSyntax(), place=place)
        assert decoded(answers) == [A, None]
        assert answers.n_blank == 0

    def test_column_of_missing_cells(self):
        assert sets_of(pd.Series([np.nan, np.nan])) == [None, None]

    @pytest.mark.parametrize(
        "blank", ["", "  ", ",", '""', "[''] ", [""], ("", " "), np.array([" "])], ids=repr
    )
    def test_blanks_are_counted(self, blank):
        column = objects("a", blank, blank, None)
        answers = coding.code_label_sets(column, LabelSyntax(), place=place)
        assert decoded(answers) == [A, None, None, None]
        assert answers.n_blank == 2
        assert sets_of(column, blank="empty") == [A, EMPTY, EMPTY, None]

    def test_one_hot_rows(self):
        column = objects([True, False], [True, True], [False, False])
        assert sets_of(column, codebook=["a", "b"]) == [A, AB, EMPTY]
        assert sets_of(column) == [{0}, {0, 1}, EMPTY]
        arrays = objects(np.array([True, False]), np.array([False, False]), None)
        assert sets_of(arrays, codebook=["a", "b"]) == [A, EMPTY, None]

    def test_one_hot_rows_of_different_lengths(self):
        sentence = refused_sets(objects([True, False], [True], None))
        assert sentence == "one-hot rows of different lengths, such as [True, False] and [True]."

    @pytest.mark.parametrize("cells", [([1, 0], [0, 0]), ((1.0, 0.0), (0.0, 1.0), None)], ids=repr)
    def test_rows_of_zeros_and_ones(self, cells):
        sentence = refused_sets(objects(*cells))
        assert "every cell is a list of 2 zeros and ones, such as " in sentence
        assert repr(cells[0]) in sentence
        assert "make them booleans" in sentence

    def test_lists_of_numbers(self):
        assert sets_of(objects([1, 2], [2, 1])) == [{1, 2}, {1, 2}]
        assert sets_of(objects([1], [0])) == [{1}, {0}]
        assert sets_of(objects([0, 1], [1], [])) == [{0, 1}, {1}, EMPTY]

    @pytest.mark.parametrize("dtype", ["int64", "float64", "Int64", "Float64", "bool", "boolean"])
    def test_numeric_columns(self, dtype):
        sentence = refused_sets(pd.Series([1, 0], dtype=dtype, name="tags"))
        assert sentence.startswith(f"column 'tags' has {dtype} numbers instead of labels; ")
        assert sentence.endswith("make the labels text.")

    def test_numeric_column_without_a_name(self):
        assert refused_sets(pd.Series([1, 2])).startswith("the table has int64 numbers")

    @pytest.mark.parametrize(
        ("cell", "words"),
        [
            ({"a": 1}, "{'a': 1} is a dict, not labels."),
            (7, "7 is an int, not labels. If it is a label, make it text."),
            (b"a", "b'a' is a bytes, not labels."),
            ('"a', "'\"a' has an unbalanced quote"),
            (["a", None], "a label inside a list is missing"),
            (pd.Timestamp("2020-01-01"), "Timestamp('2020-01-01 00:00:00') is a Timestamp"),
        ],
        ids=repr,
    )
    def test_failing_cells(self, cell, words):
        sentence = refused_sets(objects("a", None, cell))
        assert sentence.startswith(f"Row 2: {words}")
        assert "more row" not in sentence

    def test_failing_cells_are_counted(self):
        assert refused_sets(objects("a", 1, "b", 1)).endswith(" (1 more row fails: Row 3.)")
        more = " (3 more rows fail: Row 2; Row 3; Row 4.)"
        assert refused_sets(objects("a", 1, 2, 1, '"')).endswith(more)
        listed = "; ".join(f"Row {row}" for row in range(1, 21))
        sentence = refused_sets(objects(*[1] * 30))
        assert sentence.endswith(f" (29 more rows fail: {listed}; and 9 more.)")

    def test_codebook(self):
        sentence = refused_sets(objects("joy", "joy, suprise"), codebook=["joy", "surprise"])
        assert sentence == (
            "1 label is not in the codebook: 'suprise' (1 answer, near 'surprise'). First: Row 1. "
            "Correct the answers, add these labels to the codebook, or map them to labels of it, "
            "as in {'joy': 'joy', 'joyful': 'joy'}."
        )

    @pytest.mark.parametrize("cells", [["a", "b"], [["a"], ["b"]]], ids=["text", "lists"])
    def test_rows_not_index(self, cells):
        column = pd.Series([*cells, 5], index=[9, 9, 9], dtype=object)
        assert refused_sets(column).startswith("Row 2: 5")
        assert sets_of(column.iloc[:2]) == [A, B]

    @given(st.lists(st.none() | st.frozensets(st.sampled_from("abc")), min_size=1))
    def test_coding_loses_nothing(self, sets):
        assert sets_of(objects(*sets)) == sets
        lists = [None if one is None else sorted(one) for one in sets]
        assert sets_of(objects(*lists)) == sets


class TestManyObjects:
    CELLS = st.one_of(
        st.none(),
        st.just(float("nan")),
        st.lists(st.sampled_from(["a", "b", " b", "c d", "é"]), max_size=4),
    )

    @given(cells=st.lists(CELLS, min_size=1, max_size=12))
    def test_lists_of_labels(self, cells):
        syntax = LabelSyntax(blank="empty")
        one_by_one = coding.code_label_sets(objects(*cells), syntax, place=place)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(coding, "_MANY", 0)
            together = coding.code_label_sets(objects(*cells), syntax, place=place)
        assert decoded(together) == decoded(one_by_one)
        assert {*together.values} == {*one_by_one.values}

    @pytest.mark.parametrize("missing", [float("nan"), pd.NA], ids=["nan", "NA"])
    @pytest.mark.parametrize("storage", ["python", "pyarrow"])
    def test_text_of_pandas(self, missing, storage, monkeypatch):
        dtype = pd.StringDtype(storage, na_value=missing)
        column = pd.Series(
            ["b", "b", "b", None, None, "a", "b, a", "b, a", "b, a", None], dtype=dtype
        )
        for many in (100, 5):
            monkeypatch.setattr(coding, "_MANY", many)
            codes, cells = coding.distinct_cells(column)
            assert codes.tolist() == [0, 0, 0, -1, -1, 1, 2, 2, 2, -1]
            assert cells == ["b", "a", "b, a"]

    @pytest.mark.parametrize(
        "other", ["b", None, 1, ["a", None], decimal.Decimal("sNaN"), "\ud800"]
    )
    @pytest.mark.parametrize("first", ["a", ["a"]])
    def test_other_kinds_go_one_by_one(self, first, other, monkeypatch):
        column = pd.Series([first, other, first], dtype=object)
        codes, cells = coding.distinct_cells(column)
        assert codes.tolist() == ([0, -1, 0] if other is None else [0, 1, 0])
        monkeypatch.setattr(coding, "_MANY", 0)
        again, same = coding.distinct_cells(column)
        assert again.tolist() == codes.tolist()
        assert repr(same) == repr(cells)

    def test_null_lists_with_items(self):
        pa = pytest.importorskip("pyarrow")
        items = pa.array(["x", "y", "a", "b", "b", "a", "z"])
        kind, sure = pa.list_(pa.string()), pa.array([True, False, True, True, True])
        lists = pa.ListArray.from_arrays(
            [0, 1, 2, 4, 6, 7], items, kind, mask=pa.compute.invert(sure)
        )
        column = pd.Series(pd.arrays.ArrowExtensionArray(lists[1:]))
        codes, cells = coding.distinct_cells(column)
        assert codes.tolist() == [-1, 0, 0, 1]
        assert cells == [["a", "b"], ["z"]]

    def test_lists_whose_first_sums_are_equal(self, monkeypatch):
        numbers = np.array([[1, 1, 0], [1, 2, 0]])
        drawn = SimpleNamespace(integers=lambda *_, **__: numbers)
        monkeypatch.setattr(coding.np.random, "default_rng", lambda _: drawn)
        monkeypatch.setattr(coding, "_MANY", 0)
        codes, cells = coding.distinct_cells(objects(["a"], ["b"]))
        assert codes.tolist() == [0, 1]
        assert cells == [["a"], ["b"]]


class TestLabelWarnings:
    def test_case(self):
        with pytest.warns(SimilarLabelsWarning) as caught:
            sets = sets_of(objects("Joy", "joy", "a, B", "b"))
        assert sets == [{"Joy"}, {"joy"}, {"a", "B"}, {"b"}]
        assert len(caught) == 1
        assert str(caught[0].message) == (
            "Labels that look alike are kept apart: 'B' and 'b', 'Joy' and 'joy'. If they are one, "
            "use case='lower' if only the case differs, otherwise spell them in one way."
        )

    def test_number_and_text(self):
        with pytest.warns(SimilarLabelsWarning, match=r"are kept apart: 1 and '1'"):
            assert sets_of(objects([1], ["1"])) == [{1}, {"1"}]

    def test_lower_case_and_accents_are_silent(self):
        assert sets_of(objects("Joy", "joy"), case="lower") == [{"joy"}, {"joy"}]
        assert sets_of(objects("\u00e9", "e\u0301")) == [{"\u00e9"}, {"\u00e9"}]

    @pytest.mark.parametrize("other", [";", "|", "\n", "\t"])
    def test_another_separator(self, other):
        with pytest.warns(SeparatorWarning) as caught:
            sets_of(objects(f"a{other}b", "a", "b", "c"))
        assert str(caught[0].message) == (
            f"No cell contains ',', but there is {other!r} in 1 distinct cell of 4, such as "
            f"{f'a{other}b'!r}; did you mean label_sep={other!r}?"
        )

    def test_none_of_several_separators(self):
        with pytest.warns(SeparatorWarning, match="No cell contains ',' or '/', but there is ';'"):
            sets_of(objects("a;b", "a", "b", "c"), label_sep=[",", "/"])

    def test_several_separators(self):
        cells = objects("a, b", "a; b", "a;c", "b;c", "a|b", "a|c", "c|b")
        one = re.escape("If it separates labels too, use label_sep=[',', ';', '|'].")
        with pytest.warns(SeparatorWarning, match=one) as caught:
            sets_of(cells)
        assert caught[0].message.remedy == {"label_sep": [",", ";", "|"]}
        sets = sets_of(cells, label_sep=[",", ";", "|"])
        assert sets == [{*"ab"}, {*"ab"}, {*"ac"}, {*"bc"}, {*"ab"}, {*"ac"}, {*"bc"}]
        one = re.escape("',;' is one separator; if each of its characters is one, use label_sep=")
        with pytest.warns(SeparatorWarning, match=one) as caught:
            sets_of(objects("a, b", "a; b", "a"), label_sep=",;")
        assert caught[0].message.remedy == {"label_sep": [",", ";"]}

    def test_comma_where_it_is_not_the_separator(self):
        with pytest.warns(SeparatorWarning, match=r"did you mean label_sep=','\?"):
            sets_of(objects("a, b", "a"), label_sep=";")

    @pytest.mark.parametrize(
        "cells",
        [
            ("a; x", "a", "b", "c", "d"),
            ("a; x", "a, b"),
            ("a", "b\n"),
            (["a;b"],),
            ('["a;b"]', '["c"]'),
        ],
        ids=repr,
    )
    def test_no_other_separator(self, cells):
        assert len(sets_of(objects(*cells))) == len(cells)

    def test_blanks(self):
        with pytest.warns(BlankLabelsWarning) as caught:
            warn_blanks(1200)
        assert str(caught[0].message).startswith("1,200 blank cells read as missing; use blank=")
        warn_blanks(0)


class TestScalars:
    @pytest.mark.parametrize(
        ("column", "values"),
        [
            (pd.Series([2, 10, 2]), (2, 10)),
            (pd.Series([2.5, np.nan, 1.0]), (2.5, 1)),
            (pd.Series([2, None, 10], dtype="Int64"), (2, 10)),
            (pd.Series([2.5, None], dtype="Float64"), (2.5,)),
            (pd.Series([True, False]), (1, 0)),
            (pd.Series([True, None], dtype="boolean"), (1,)),
            (pd.Series([3, 1], dtype="category"), (3, 1)),
            (pd.Series(["2", "10", " 3 "]), (2, 10, 3)),
            (pd.Series(["1e3", "-.5", "+5", "2."]), (1000, -0.5, 5, 2)),
            (objects(np.int64(2), np.float32(0.5)), (2, 0.5)),
            (objects(decimal.Decimal("1.5"), fractions.Fraction(1, 4)), (1.5, 0.25)),
        ],
        ids=str,
    )
    def test_numbers(self, column, values):
        answers = scalars_of(column)
        assert answers.kind == "number"
        assert answers.values == values

    def test_equal_numbers_are_one_value(self):
        column = objects(1, 1.0, True, "1", "1.00", decimal.Decimal(1), np.float64(1))
        assert scalars_of(column).values == (1,)
        assert scalars_of(objects(0, "-0", -0.0, "0.")).values == (0,)

    def test_long_whole_numbers_are_refused(self):
        codes = ["900000000000207008", "900000000000207009"]
        assert float(codes[0]) == float(codes[1])  # which is what rounding would do
        for column in (pd.Series(codes), pd.Series(codes).astype("Int64")):
            sentence = refused_scalars(column)
            assert "has more digits than double precision holds" in sentence
            assert "If the answers are codes, use kind='category'" in sentence

    @pytest.mark.parametrize(
        "column",
        [
            pd.Series(["low", "high", None, " low "]),
            pd.Series(["low", "high", None, "low"], dtype="category"),
            pd.Series(["low", "high", None, "low"], dtype="string"),
        ],
        ids=str,
    )
    def test_categories(self, column):
        answers = scalars_of(column)
        assert answers.kind == "category"
        assert decoded(answers) == ["low", "high", None, "low"]

    def test_other_categories(self):
        dates = pd.Series(pd.to_datetime(["2020-01-01", None]))
        assert decoded(scalars_of(dates)) == [pd.Timestamp("2020-01-01"), None]
        assert scalars_of(objects(("a",), ("b", "c"))).values == (("a",), ("b", "c"))

    def test_accents_and_case(self):
        assert scalars_of(objects("\u00e9", "e\u0301")).values == ("\u00e9",)
        with pytest.warns(SimilarLabelsWarning, match=r"Categories that .* 'Joy' and 'joy'"):
            assert scalars_of(objects("Joy", "joy")).values == ("Joy", "joy")
        assert scalars_of(objects("Joy", "joy"), case="lower").values == ("joy",)

    def test_number_beside_its_text_among_categories(self):
        column = objects("low", "mid", "high", 1, "1")
        with pytest.warns(SimilarLabelsWarning, match=r"apart: 1 and '1'\."):
            assert scalars_of(column).values == ("low", "mid", "high", 1, "1")

    @pytest.mark.parametrize("odd", ["n/a", "1,500", "nan", "1_000", "--", "3 stars"])
    def test_something_among_numbers(self, odd):
        with pytest.warns(MixedScaleWarning) as caught:
            answers = scalars_of(pd.Series(["1", "2", "2", odd, odd]))
        assert answers.kind == "category"
        assert str(caught[0].message) == (
            f"2 answers among numbers cannot be read as one (Row 3: {odd!r}), so that all answers "
            "are read as categories; make them numbers, or make them missing with na_values=."
        )

    def test_half_numbers(self):
        with pytest.warns(MixedScaleWarning, match=r"^1 answer among numbers .* \(Row 1: 'low'\)"):
            scalars_of(pd.Series(["1", "low"]))

    def test_numbers_among_categories(self):
        assert scalars_of(pd.Series(["low", "mid", "high", "5"])).kind == "category"

    @pytest.mark.parametrize("odd", ["inf", "-Infinity", math.inf, decimal.Decimal("Infinity")])
    def test_infinity(self, odd):
        assert refused_scalars(objects(1, "2", odd)) == f"Row 2: {odd!r} is not a finite number."

    @pytest.mark.parametrize("odd", [10**400, "9" * 400, "1e400"], ids=["int", "digits", "power"])
    def test_numbers_beyond_all_floats(self, odd):
        sentence = refused_scalars(objects(1, odd))
        assert sentence.startswith("Row 1: ")
        assert "has more digits than double precision holds" in sentence

    def test_numbers_beyond_all_floats_among_words(self):
        answers = scalars_of(objects(1, 10**400, "low"))
        assert answers.values == (1, 10**400, "low")

    @pytest.mark.parametrize("odd", [decimal.Decimal("sNaN"), decimal.Decimal("-sNaN7")])
    @pytest.mark.parametrize("other", [1, "low"])
    def test_signaling_nan(self, odd, other):
        said = f"{odd!r} is a signaling NaN, which is not a number; use None for no answer."
        assert refused_scalars(objects(other, odd)) == f"Row 1: {said}"
        wide = pd.DataFrame({"ann": objects(other, odd), "bob": objects(other, 2)}, dtype=object)
        refused = sentence(DataError, sa.Annotations.from_wide, wide, kind="value")
        assert refused == f"Unit 1, rater 'ann': {said}"
        table = pd.DataFrame([[1, 2], [2, 0]], columns=objects(other, odd))
        assert said in sentence(DataError, sa.Tally.from_counts, table, kind="value")

    @pytest.mark.parametrize(
        "odd",
        [
            10**5000,
            fractions.Fraction(1, 10**5000),
            decimal.Decimal("1e-5000"),
            "9" * 5000,
            "1e5000",
        ],
        ids=["int", "fraction", "decimal", "digits", "power"],
    )
    def test_numbers_of_thousands_of_digits(self, odd):
        for cell in (odd, "1e-999999999999999999999"):
            assert "has more digits than double precision" in refused_scalars(objects(1, cell))

    def test_infinity_as_a_word(self):
        assert scalars_of(pd.Series(["inf", "sup", "max"])).values == ("inf", "sup", "max")
        assert "is not a finite number" in refused_scalars(objects("low", "mid", math.inf))

    def test_blank_is_missing(self):
        answers = scalars_of(pd.Series(["1", "", " ", None, "2", ""]))
        assert decoded(answers) == [1, None, None, None, 2, None]
        assert answers.n_blank == 3
        assert answers.kind == "number"
        assert scalars_of(pd.Series(["", "1", ""])).n_blank == 2

    @pytest.mark.parametrize("blank", ["empty", "error"])
    def test_blank_refused(self, blank):
        sentence = refused_scalars(pd.Series([None, "1", "", "2", " "]), blank)
        assert sentence.startswith("Row 2: the cell is blank; a scalar has no empty answer")
        assert sentence.endswith("(2 of them).")
        assert refused_scalars(pd.Series(["", "1"]), blank).startswith("Row 0: the cell is blank")

    def test_column_of_missing_cells(self):
        answers = scalars_of(objects(*MISSING_CELLS))
        assert answers.values == ()
        assert set(answers.codes.tolist()) == {coding.MISSING}

    @pytest.mark.parametrize("cell", [["a"], {"a"}, A, {"a": 1}, np.array(["a"])], ids=repr)
    def test_collections(self, cell):
        sentence = refused_scalars(objects("b", cell, cell))
        assert sentence == (
            f"Row 1: {cell!r} is a {type(cell).__name__}, not one value; use labels=. "
            "(1 more row fails: Row 2.)"
        )

    @given(st.lists(st.integers(-(2**53), 2**53), min_size=1))
    def test_whole_numbers_as_text(self, numbers):
        assert decoded(scalars_of(pd.Series([str(n) for n in numbers]))) == numbers

    @given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
    def test_floats_as_text(self, numbers):
        found = decoded(scalars_of(pd.Series([repr(x) for x in numbers])))
        for number, x in zip(found, numbers, strict=True):
            assert number == x


class TestUsedLabels:
    def test_union(self):
        assert coding.used_labels([AB, frozenset("c"), EMPTY]) == {"a", "b", "c"}
        assert coding.used_labels([EMPTY]) == coding.used_labels([]) == EMPTY


def test_a_long_number_as_a_column_of_counts():
    table = pd.DataFrame([[1, 2], [0, 3]], columns=objects(10**4100, 3))
    said = sentence(DataError, sa.Tally.from_counts, table, kind="value")
    assert said.startswith("Column 1000")
    assert len(said) < 300


def test_one_hot_rows_beside_an_empty_list():
    cells = [[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], []]
    table = pd.DataFrame({"unit": [*"aabbcc"], "rater": [*"xyxyxy"], "labels": cells})
    with pytest.raises(sa.SetagreeError, match="zeros and ones"):
        sa.Annotations.from_long(table)


@pytest.mark.parametrize(
    "cells",
    [
        [["a", "b"], ["b", "a"], ["a"], []],
        [("a", "b"), ("b", "a"), ("a",), ()],
        [{"a", "b"}, {"b", "a"}, {"a"}, set()],
        [frozenset("ab"), frozenset("ba"), frozenset("a"), frozenset()],
        [np.array(["a", "b"]), np.array(["b", "a"]), np.array(["a"]), np.array([])],
        [[True, True], [True, True], [True, False], [False, False]],
    ],
    ids=["lists", "tuples", "sets", "frozensets", "arrays", "one-hot rows"],
)
def test_collections_as_cells(cells):
    """They are accepted, and mean the same: units (ab, ab), (a, {}) have nominal alpha 2/5.

    Do = 1/2, values 2 ab, 1 a, 1 {}: De = (12 - 2) / 12 = 5/6, alpha = 1 - (1/2) / (5/6) = 2/5.
    """
    places = [(1, "x"), (1, "y"), (2, "x"), (2, "y")]
    rows = [(*place, cell) for place, cell in zip(places, cells, strict=True)]
    alpha = alpha_of(*rows, codebook=["a", "b"])
    assert alpha.estimate == pytest.approx(2 / 5, abs=1e-15)


@pytest.mark.parametrize(
    ("cell", "what"),
    [({"a": 1}, "dict"), (3, "int"), (2.5, "float"), (decimal.Decimal("sNaN"), "Decimal")],
)
def test_dict_or_number_where_labels_were_asked_for(cell, what):
    words = sentence(LabelError, alpha_of, (1, "x", "a"), (1, "y", cell), (2, "x", cell))
    article = "an" if what == "int" else "a"
    assert words.startswith(f"Unit 1, rater 'y': {cell!r} is {article} {what}, not labels.")
    more = "(1 more row fails: Unit 2, rater 'x'.)"
    text, way = " If it is a label, make it text.", " For one value per cell, use value=."
    is_dict = what == "dict"
    assert words.partition("labels.")[2] == f" {more}" if is_dict else f"{text} {more}{way}"


def test_column_of_numbers_where_labels_were_asked_for():
    table = long_table((1, "x", 3), (1, "y", 4))
    words = sentence(LabelError, sa.Annotations.from_long, table)
    assert words == (
        "column 'labels' has int64 numbers instead of labels; use value= for one value per "
        "cell, or make the labels text."
    )


def test_numbers_name_only_an_option_of_the_function():
    wide = pd.DataFrame({"x": [1.0, 2.0], "y": [1.0, 3.0]})
    triples = [("x", 1, 1), ("y", 1, 2)]
    texts = wide.astype(int).astype(str).assign(z=["4", "5"])
    assert "use kind='value' for" in sentence(LabelError, sa.Annotations.from_wide, wide)
    assert "use kind='value'." in sentence(LabelError, sa.Annotations.from_triples, triples)
    assert sa.read(wide, wide=True).kind == "number"
    with pytest.warns(MixedScaleWarning, match="use kind='value' if they are numbers"):
        sa.Annotations.from_wide(texts)


def test_numbers_as_text_on_a_numeric_scale():
    """They are numbers, never sorted as text: "10" is 8 from "2" and 1 from "9".

    Units (2, 2), (9, 10), interval: Do = (0 + 1) / 2; values 2, 2, 9, 10: the squared differences
    of the six pairs are 0, 49, 64, 49, 64, 1, so De = 2 * 227 / 12 and alpha = 1 - 3 / 227.
    """
    rows = [("x", 1, "2"), ("y", 1, " 2.0 "), ("x", 2, "9"), ("y", 2, "10")]
    study = sa.Annotations.from_triples(rows, kind="value")
    alpha = sa.krippendorff_alpha(study, distance="interval")
    assert alpha.observed_disagreement == 0.5
    assert alpha.estimate == pytest.approx(1 - 3 / 227, abs=1e-15)
    # Ordinal, by rank mass between values: counts 2, 1, 1 for 2 < 9 < 10, mid-ranks 1, 2.5, 3.5;
    # Do = 1/2, De = 2 * (2 * 1.5**2 + 2 * 2.5**2 + 1) / 12 = 3.
    ordinal = sa.krippendorff_alpha(study, distance="ordinal")
    assert ordinal.estimate == pytest.approx(5 / 6, abs=1e-15)


def test_text_on_a_numeric_scale():
    rows = [("x", 1, "2"), ("y", 1, "2"), ("x", 2, "10"), ("y", 2, "n/a")]
    study, words = the_warning(MixedScaleWarning, sa.Annotations.from_triples, rows, kind="value")
    assert words == (
        "1 answer among numbers cannot be read as one (Unit 2, rater 'y': 'n/a'), so that all "
        "answers are read as categories; make them numbers, or make them missing with na_values=."
    )
    words = sentence(DistanceError, sa.krippendorff_alpha, study, distance="interval")
    assert words == (
        "'interval' compares numbers; these values are categories, such as 'n/a'. Replace them by "
        "numbers."
    )


@pytest.mark.parametrize("odd", [math.inf, -math.inf, "inf", "-Infinity"])
def test_inf_on_a_numeric_scale(odd):
    rows = [("x", 1, 1), ("y", 1, 2), ("x", 2, odd)]
    words = sentence(DataError, sa.Annotations.from_triples, rows, kind="value")
    assert words == f"Unit 2, rater 'x': {odd!r} is not a finite number."
