"""Three long columns become one coded study: missing rows, repeats, codes."""

import warnings

import numpy as np
import pandas as pd
import pytest
from asking import alpha_of, sentence

from setagree.errors import (
    BlankLabelsWarning,
    DataError,
    LabelError,
    OptionError,
    RepeatsError,
    SwappedColumnsWarning,
    UnnamedError,
)
from setagree.study.annotations import Annotations
from setagree.study.assembly import LongColumns, assemble
from setagree.study.codes import as_objects
from setagree.study.reading import Reading


def build(rows, *, quiet=True, **reading):
    """Return the study of (unit, rater, answer) rows; `quiet` says what blank cells mean."""
    long = LongColumns(*(pd.Series(as_objects(row[k] for row in rows)) for k in range(3)))
    if quiet:
        reading.setdefault("blank", "missing")
    return assemble(Annotations, long, Reading(**reading))


def rows_of(coded):
    """Return (unit, rater, answer) of each annotation."""
    columns = (
        coded.units[coded.unit_codes],
        coded.raters[coded.rater_codes],
        [coded.values[code] for code in coded.value_codes],
    )
    return list(zip(*columns, strict=True))


def refusal(rows, *, error=DataError, **options):
    with pytest.raises(error) as caught:
        build(rows, **options)
    assert type(caught.value) is error
    return str(caught.value)


class TestCoding:
    def test_codes(self):
        coded = build([("u2", "y", "a"), ("u1", "x", "a, b"), ("u2", "x", "b,a")])
        assert coded.units.tolist() == ["u2", "u1"]
        assert coded.raters.tolist() == ["y", "x"]
        assert coded.values == ({"a"}, {"a", "b"})
        assert coded.unit_codes.tolist() == [0, 1, 0]
        assert coded.rater_codes.tolist() == [0, 1, 1]
        assert coded.value_codes.tolist() == [0, 1, 1]
        assert (coded.kind, coded.n_missing) == ("labels", 0)

    def test_missing_rows_are_counted_and_forgotten(self):
        coded = build([("u1", "x", "a"), ("u2", "x", None), ("u1", "y", None), ("u3", "x", "b")])
        assert rows_of(coded) == [("u1", "x", {"a"}), ("u3", "x", {"b"})]
        assert coded.units.tolist() == ["u1", "u3"]
        assert coded.raters.tolist() == ["x"]
        assert coded.unit_codes.tolist() == [0, 1]
        assert coded.n_missing == 2

    def test_empty_set_is_no_missing_row(self):
        coded = build([("u", "x", []), ("u", "y", "")], blank="empty")
        assert rows_of(coded) == [("u", "x", frozenset()), ("u", "y", frozenset())]
        assert (coded.values, coded.n_missing) == ((frozenset(),), 0)

    def test_scalars(self):
        assert build([("u", "x", "2"), ("u", "y", 10)], kind="value").values == (2, 10)
        assert build([("u", "x", "low"), ("u", "y", "é")], kind="value").kind == "category"
        coded = build([("u", "x", "Low"), ("u", "y", "low")], kind="value", case="lower")
        assert coded.values == ("low",)

    def test_take(self):
        study = build([("u", "x", "a"), ("u", "y", "b"), ("v", "x", "a")])
        for rows in (np.array([False, True, False]), np.array([1])):
            part = study.take(rows)
            assert rows_of(part) == [("u", "y", {"b"})]
            assert (part.units.tolist(), part.raters.tolist()) == (["u"], ["y"])
            assert part.values == study.values
            assert part.value_codes.tolist() == [1]
            assert part.with_used_values().values == ({"b"},)
            assert part.with_used_values().value_codes.tolist() == [0]


class TestBlanks:
    ROWS = (("u", "x", "a"), ("u", "y", ""), ("v", "x", " "))

    def test_one_warning_that_counts(self):
        with pytest.warns(BlankLabelsWarning, match="^2 blank cells read as missing") as caught:
            coded = build(self.ROWS, quiet=False)
        assert len(caught) == 1
        assert coded.n_missing == 2

    def test_silent_on_request(self):
        assert build(self.ROWS, quiet=True).n_missing == 2
        assert build(self.ROWS, quiet=False, blank="empty").n_missing == 0

    def test_scalars_are_silent(self):
        rows = [("u", "x", "1"), ("u", "y", "")]
        assert build(rows, kind="value", quiet=False).n_missing == 1


class TestRefusals:
    def test_no_rows(self):
        assert refusal([]) == "the table has 0 rows; there is nothing to score."

    @pytest.mark.parametrize("kind", ["labels", "value"])
    def test_all_missing(self, kind):
        sentence = refusal([("u", "x", None), ("u", "y", np.nan)], kind=kind)
        assert sentence == "all 2 cells are missing; there is nothing to score."

    def test_missing_ids(self):
        assert refusal([("u", "x", "a"), (None, "y", None)], error=UnnamedError) == (
            "1 row without a unit (first: row 2, counted from 1 below the header); name the unit "
            "or drop the rows."
        )
        assert refusal([("u", np.nan, "a")], error=UnnamedError).startswith(
            "1 row without a rater (first: row 1, counted"
        )

    @pytest.mark.parametrize(
        ("units", "are_merged"),
        [
            (["u", None, "v", None, "w", None], True),
            (["u", None, "v", None], False),
            (["u", "", "", "v", "", "w", "", "", "z"], True),  # z has one rater
            (["u", "v", None, "w", None, None], False),
            ([None, "u", None, "v", None, "w"], False),
        ],
    )
    def test_merged_cells(self, units, are_merged):
        """Only the first row of merged cells has the unit, so that its rows must not be dropped."""
        table = pd.DataFrame({"doc": units, "rater": range(len(units)), "labels": "a"})
        with pytest.raises(UnnamedError, match=r"rows? without a unit") as caught:
            Annotations.from_long(table, unit="doc", rater="rater", labels="labels")
        assert ("drop the rows" in str(caught.value)) == (not are_merged)
        assert (caught.value.remedy == {}) == are_merged
        if are_merged:
            assert str(caught.value).endswith(
                "; cells may be merged, with their text in the first row only. Write the unit in "
                "every row (in pandas: df['doc'].ffill())."
            )

    @pytest.mark.parametrize(("unit", "shown"), [(np.int64(7), "7"), ("u" * 999, "'uuu")])
    def test_place(self, unit, shown):
        sentence = refusal([(unit, "x", "a"), (unit, "y", 3)], error=LabelError)
        assert sentence.startswith(f"Unit {shown}")
        assert ", rater 'y': 3 is an int, not labels." in sentence
        assert len(sentence) < 250

    def test_place_in_other_dtypes(self):
        long = LongColumns(pd.Series([1, 1]), pd.Series(["x", "y"]), pd.Series(["1", "inf"]))
        with pytest.raises(DataError, match=r"^Unit 1, rater 'y': 'inf' is not a finite number\.$"):
            assemble(Annotations, long, Reading(kind="value"))

    @pytest.mark.parametrize(
        ("name", "value", "known"),
        [
            (
                "duplicates",
                "frist",
                "'error', 'first', 'last', 'union', 'repeats'. Did you mean 'first'?",
            ),
            ("kind", "lables", "'labels', 'number', 'category', 'value'. Did you mean 'labels'?"),
            ("duplicates", 1, "'error', 'first', 'last', 'union', 'repeats'."),
        ],
    )
    def test_options(self, name, value, known):
        sentence = refusal([], error=OptionError, **{name: value})
        assert sentence == f"{name}={value!r} is unknown; use {known}"

    def test_codebook_of_scalars(self):
        sentence = refusal([("u", "x", 1)], kind="value", codebook=["a"], error=OptionError)
        assert sentence == "codebook= lists the labels of label sets; single values have none."


class TestDuplicates:
    ROWS = (
        ("u", "x", "a"),
        ("u", "y", "q"),
        ("u", "x", "b"),
        ("v", "x", "c"),
        ("u", "x", "a"),
        ("v", "x", None),
    )

    def test_error(self):
        assert refusal(self.ROWS, error=RepeatsError) == (
            "1 pair of unit and rater annotated more than once (unit 'u', rater 'x': 3 times); use "
            "duplicates='last' (corrections), 'first' or 'union'; "
            "'repeats' compares raters with themselves."
        )

    def test_first_pairs_are_shown(self):
        rows = [(unit, "x", "a") for unit in [1, 2, 3, 4, 4, 3, 2, 2, 1, 5]]
        assert refusal(rows, error=RepeatsError) == (
            "4 pairs of unit and rater annotated more than once (unit 1, rater 'x': 2 times; unit "
            "2, rater 'x': 3 times; unit 3, rater 'x': 2 times); use duplicates='last' "
            "(corrections), 'first' or 'union'; 'repeats' compares raters with themselves."
        )

    def test_twice_the_same_file(self):
        rows = [("u", "x", "a"), ("u", "y", "b"), ("v", "x", "a")] * 2
        sentence = refusal(rows, error=RepeatsError)
        assert sentence.startswith("3 pairs of unit and rater annotated more than once (unit 'u', ")
        assert sentence.endswith(" Every pair occurs twice: was the file appended to itself?")

    def test_twice_with_other_answers(self):
        rows = [("u", "x", "a"), ("v", "x", "b"), ("u", "x", "a"), ("v", "x", "a")]
        assert "appended" not in refusal(rows, error=RepeatsError)

    def test_long_names_are_cut(self):
        assert len(refusal([("u" * 9999, "x" * 9999, "a")] * 2, error=RepeatsError)) < 400

    @pytest.mark.parametrize(
        ("policy", "kept"),
        [
            ("first", [("u", "x", {"a"}), ("u", "y", {"q"}), ("v", "x", {"c"})]),
            ("last", [("u", "y", {"q"}), ("v", "x", {"c"}), ("u", "x", {"a"})]),
            ("union", [("u", "x", {"a", "b"}), ("u", "y", {"q"}), ("v", "x", {"c"})]),
        ],
    )
    def test_policies(self, policy, kept):
        coded = build(self.ROWS, duplicates=policy)
        assert rows_of(coded) == kept
        assert coded.n_missing == 1

    @pytest.mark.parametrize("policy", ["first", "last", "union"])
    def test_appended_file_is_one_file(self, policy):
        rows = [("u", "x", "a"), ("u", "y", "b"), ("v", "x", [])]
        assert sorted(rows_of(build(rows * 2, duplicates=policy)), key=str) == sorted(
            rows_of(build(rows)), key=str
        )

    def test_values_that_nobody_gives_any_more(self):
        assert build(self.ROWS, duplicates="last").values == ({"a"}, {"q"}, {"c"})
        assert build(self.ROWS, duplicates="union").values == ({"q"}, {"c"}, {"a", "b"})

    @pytest.mark.filterwarnings("ignore:duplicates='union'. .* united with others")
    @pytest.mark.parametrize("n", [1, 2, 3, 7, 8])
    def test_any_number_of_answers_is_united(self, n):
        rows = [(unit, "x", {label}) for label in "abcdefgh"[:n] for unit in ("u", "v")]
        coded = build([*rows, ("v", "y", "z")], duplicates="union")
        assert [*coded.to_wide()["x"]] == [{*"abcdefgh"[:n]}] * 2
        assert [*coded.to_wide()["y"]] == [None, {"z"}]

    def test_union_with_the_empty_set(self):
        coded = build([("u", "x", []), ("u", "x", "a"), ("v", "x", [])], duplicates="union")
        assert rows_of(coded) == [("u", "x", {"a"}), ("v", "x", frozenset())]

    def test_union_of_scalars(self):
        rows = [("u", "x", 1), ("u", "x", 2)]
        assert refusal(rows, kind="value", duplicates="union") == (
            "duplicates='union' needs label sets; scalars have no union."
        )
        assert rows_of(build(rows, kind="value", duplicates="first")) == [("u", "x", 1)]
        assert rows_of(build(rows, kind="value", duplicates="last")) == [("u", "x", 2)]

    @pytest.mark.parametrize("n", [3, 40])
    def test_few_or_many_pairs(self, n):
        rows = [(unit, unit, "a") for unit in range(n)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SwappedColumnsWarning)
            assert len(rows_of(build(rows))) == n
            assert "1 pair of unit and rater" in refusal(
                [*rows, (n - 1, n - 1, "b")], error=RepeatsError
            )


class TestDesign:
    def study(self, n_units, n_raters, each=1):
        """Return a study in which the raters take the units in turn, so many each."""
        turns = [(rater, rater * each + k) for rater in range(n_raters) for k in range(each)]
        return build([(turn % n_units, rater, "a") for rater, turn in turns])

    def test_one_rating_a_rater(self):
        rows = [(rater % 3, rater, "a") for rater in range(10)]
        with pytest.warns(SwappedColumnsWarning) as caught:
            coded = build(rows)
        assert len(caught) == 1
        assert str(caught[0].message) == (
            "10 raters and only 3 units: are the unit and the rater column exchanged?"
        )
        assert len(rows_of(coded)) == 10

    def test_four_times_as_many_raters(self):
        with pytest.warns(SwappedColumnsWarning, match="^12 raters and only 3 units"):
            self.study(3, 12, each=3)

    @pytest.mark.parametrize(
        ("n_units", "n_raters", "each"), [(3, 9, 1), (10, 10, 1), (3, 11, 3), (4, 12, 2)]
    )
    def test_no_warning(self, n_units, n_raters, each):
        assert self.study(n_units, n_raters, each).n_raters == n_raters


def test_same_unit_and_rater_twice():
    rows = [(1, "x", "a"), (1, "y", "a"), (2, "x", "b"), (2, "y", "b"), (2, "y", "a")]
    words = sentence(DataError, alpha_of, *rows)
    assert words == (
        "1 pair of unit and rater annotated more than once (unit 2, rater 'y': 2 times); use "
        "duplicates='last' (corrections), 'first' or 'union'; "
        "'repeats' compares raters with themselves. If each row has one label of a set, "
        "use duplicates='union', or for a file "
        "setagree.read(file, tool='plain_row_per_label'); if it has a degree of the label, too, "
        "name its column with degree=."
    )
    assert alpha_of(*rows, duplicates="first").estimate == 1
    # Units (a, a), (b, a): Do = 1/2, values 3 a, 1 b: De = 1/2.
    assert alpha_of(*rows, duplicates="last").estimate == 0
    # Units (a, a), (b, ab): Do = 1/2, values 2 a, 1 b, 1 ab: De = 5/6.
    assert alpha_of(*rows, duplicates="union").estimate == pytest.approx(2 / 5, abs=1e-15)


def test_file_concatenated_twice():
    rows = [(unit, rater, "ab"[unit % 2]) for unit in range(4) for rater in "xy"]
    words = sentence(DataError, alpha_of, *rows, *rows)
    assert words.startswith("8 pairs of unit and rater annotated more than once (unit 0, rater 'x'")
    assert words.endswith("Every pair occurs twice: was the file appended to itself?")
    assert alpha_of(*rows, *rows, duplicates="first").estimate == 1
