"""A condition on the rows of a table: how it is written, what it keeps, what it says."""

import datetime as dt
import re
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

from setagree.errors import DataError, OptionError, SetagreeWarning
from setagree.study.row_filter import NO, NULL, YES, Counts, Where, kept_rows


def matches(text, *cells):
    """Return the cells that match a condition on the column x."""
    where = Where.parse(f"x {text}")
    return [cell for cell in cells if where.conditions[0].verdict(cell) == 1]


class TestGrammar:
    @pytest.mark.parametrize(
        ("text", "column", "operator", "values"),
        [
            ("repeat == 0", "repeat", "==", ("0",)),
            ("repeat==0", "repeat", "==", ("0",)),
            ("  a.b-c  <=  -1.5 ", "a.b-c", "<=", ("-1.5",)),
            ("`Time (s)` > 2", "Time (s)", ">", ("2",)),
            ("`a``b` != x", "a`b", "!=", ("x",)),
            ('split == "not used"', "split", "==", ("not used",)),
            ("split == 'say \"no\"'", "split", "==", ('say "no"',)),
            ("split == 'it''s'", "split", "==", ("it's",)),
            ('x in [a, "b, c", 3]', "x", "in", ("a", "b, c", "3")),
            ("x in[1]", "x", "in", ("1",)),
            ("in in ['a]']", "in", "in", ("a]",)),
            ("inn == 2", "inn", "==", ("2",)),
            ("größe >= 2024-05-01", "größe", ">=", ("2024-05-01",)),
        ],
    )
    def test_conditions(self, text, column, operator, values):
        (where,) = Where.parse(text).conditions
        assert (where.column, where.operator, where.values) == (column, operator, values)

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("repeat = 0", "at '= 0', expected == (the test for"),
            (
                "repeat",
                "expected one of ==, !=, <=, >=, <, >, in, not in after the column 'repeat'.",
            ),
            ("", "at its end, expected a column, or `a column` in backticks"),
            ("`ab == 3", "at '`ab == 3', expected a column"),
            (
                "E mail == x",
                "after the column 'E'; a name with spaces or signs must be in backticks",
            ),
            ("a ==", "at its end, expected a value"),
            ("a == b c", "at 'c', expected 'and', 'or' or the end; text with spaces or signs must"),
            ("a == 1 | b == 2", "at '| b == 2', expected 'and', 'or' or the end"),
            ("a == 1 and", "at its end, expected a column"),
            ("a == 1 and (b == 2", "at its end, expected a closing parenthesis, 'and' or 'or'"),
            ("(a == 1 b == 2)", "at 'b == 2)', expected a closing parenthesis"),
            ("a == 1)", "at ')', expected 'and', 'or' or the end"),
            ("()", "at ')', expected a column"),
            ("not", "at its end, expected one of"),
            ("a == [1]", "at '[1]', expected one value after '=='"),
            ("a in 1, 2", "at '1, 2', expected a list in square brackets"),
            ("a in [1, 2", "at its end, expected a comma or a closing bracket after '2'"),
            ("a in [1 2]", "at '2]', expected a comma or a closing bracket after '1'"),
            ("a in [1, 2,]", "at ']', expected a value"),
            ("a in []", "at ']', expected a value"),
            ("a in [1] or b", "at its end, expected one of ==, !=, <=, >=, <, >, in, not in"),
            ("a not in 1", "at '1', expected a list in square brackets after 'in'"),
            ("a not == 1", "at 'not == 1', expected one of"),
            ("a == null", "nulls never match; put the text in quotes"),
            ("a != NaN", "nulls never match"),
            ("a == ''", "blank cells never match, so every test drops them"),
            ("a < '10'", "at \"'10'\", expected a number without quotes after '<'"),
            ('a >= "1e1"', "expected a number without quotes after '>=' (quoted values are text)"),
            ("__import__('os')", "at \"('os')\", expected one of"),
        ],
    )
    def test_errors_point_at_the_place(self, text, sentence):
        with pytest.raises(OptionError) as caught:
            Where.parse(text)
        assert str(caught.value).startswith(f"where={text!r}: ")
        assert sentence in str(caught.value)

    def test_no_text(self):
        with pytest.raises(OptionError, match="must be a condition, such as 'repeat == 0'"):
            Where.parse(len)


def truth(text, **cells):
    """Return whether rows with such cells match, row by row."""
    where = Where.parse(text)
    kept, counts = where.match([cells[name] for name in where.columns])
    assert counts.n_kept == kept.sum()
    return kept.tolist()


class TestSeveral:
    A, B = [0, 0, 1, 1], [0, 1, 0, 1]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("a == 1 and b == 1", [0, 0, 0, 1]),
            ("a == 1 or b == 1", [0, 1, 1, 1]),
            ("not a == 1", [1, 1, 0, 0]),
            ("not not a == 1", [0, 0, 1, 1]),
            ("not a == 1 and b == 1", [0, 1, 0, 0]),
            ("not (a == 1 and b == 1)", [1, 1, 1, 0]),
            ("a == 0 or a == 1 and b == 1", [1, 1, 0, 1]),
            ("(a == 0 or a == 1) and b == 1", [0, 1, 0, 1]),
            ("((a==1)or(b==1))and not(a==1 and b==1)", [0, 1, 1, 0]),
            ("a == 1 AND b == 1 Or a == 0", [1, 1, 0, 1]),
            ("a not in [0] and b in [0, 1]", [0, 0, 1, 1]),
            ("a == 1 or `b` == 1 or a == 0", [1, 1, 1, 1]),
        ],
    )
    def test_truth(self, text, expected):
        assert truth(text, a=self.A, b=self.B) == list(map(bool, expected))

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            # Kleene (1952): an unknown part counts only if the other part does not decide.
            ("a == 1 and b == 1", [1, 0, 0, 0, 0]),
            ("a == 1 or b == 1", [1, 1, 1, 0, 0]),
            ("not (a == 1 and b == 1)", [0, 0, 0, 1, 0]),
            ("not (a == 1 or b == 1)", [0, 0, 0, 0, 0]),
            ("a != 1", [0, 0, 0, 1, 0]),
            ("not a == 1", [0, 0, 0, 1, 0]),
            ("a not in [1]", [0, 0, 0, 1, 0]),
        ],
    )
    def test_nulls(self, text, expected):
        cells = {"a": [1, 1, None, 0, None], "b": [1, None, 1, None, " "]}
        assert truth(text, **cells) == list(map(bool, expected))

    def test_words_as_names(self):
        assert truth("not == 1", **{"not": [1, 2]}) == [True, False]
        assert truth("not in [1]", **{"not": [1, 2]}) == [True, False]
        assert truth("not not == 1", **{"not": [1, 2]}) == [False, True]
        assert truth("and == or or or == and", **{"and": ["or", "x"], "or": ["x", "y"]}) == [
            *(True, False),
        ]

    def test_agrees_with_python(self):
        rng = np.random.default_rng(8)
        cells = {name: rng.integers(0, 3, 40).tolist() for name in "abc"}
        rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]

        def made(depth):
            if depth == 0 or rng.random() < 0.2:
                sign = rng.choice(["==", "!=", "<", ">=", "in", "not in"])
                value = "[0, 2]" if "in" in sign else rng.integers(0, 3)
                return f"{rng.choice(list('abc'))} {sign} {value}"
            if rng.random() < 0.3:
                return (
                    f"not {made(depth - 1)}" if rng.random() < 0.5 else f"not ({made(depth - 1)})"
                )
            parts = [made(depth - 1) for _ in range(rng.integers(2, 4))]
            text = f" {rng.choice(['and', 'or'])} ".join(parts)
            return f"({text})" if rng.random() < 0.5 else text

        for _ in range(200):
            text = made(3)
            expected = [bool(eval(text, {}, row)) for row in rows]  # noqa: S307 - made above
            assert truth(text, **cells) == expected, text

    def test_counts(self):
        frame = pd.DataFrame({"a": [1, 1, 0, 1], "b": ["x", None, "x", "y"], "row": range(4)})
        with pytest.warns(SetagreeWarning) as caught:
            rows = kept_rows(frame, Where.parse("a == 1 and b != y"))["row"].tolist()
        assert rows == [0]
        (warning,) = caught
        assert str(warning.message) == (
            "where='a == 1 and b != y' drops 3 of 4 rows; 1 of them has nothing in one of the "
            "columns 'a', 'b'."
        )

    def test_nothing_left(self):
        frame = pd.DataFrame({"a": [1, 1, 0], "b": ["x", "y", "z"]})
        with pytest.raises(DataError) as caught:
            kept_rows(frame, Where.parse("a == 0 and (b == x or b == w)"))
        assert str(caught.value).endswith(
            "keeps none of 3 rows; alone, 'a == 0' keeps 1, 'b == x' keeps 1, 'b == w' keeps 0."
        )


class TestMeaning:
    def test_numbers(self):
        cells = ("7", " 007", 7.0, Decimal("7.00"), np.int64(7), "7a", True)
        assert matches("== 7", *cells) == list(cells[:5])
        assert matches("== 9007199254740993", 2**53, 2**53 + 1, "9007199254740992") == [2**53 + 1]
        assert matches("== 0.1", 0.1, Decimal("0.10"), "1e-1", 0.10000001) == [
            *(0.1, Decimal("0.10"), "1e-1"),
        ]
        assert matches("< 10", "9", "10", 9.5, -1) == ["9", 9.5, -1]

    @pytest.mark.parametrize(
        ("quoted", "cells"),
        [
            ("1.10", ["1.10"]),
            ("1.1", ["1.1", 1.1, Decimal("1.10")]),
            ("01", ["01"]),
            ("1", ["1", 1, 1.0]),
            ("1e1", ["1e1"]),
            ("10", ["10", np.int64(10)]),
            ("TRUE", ["TRUE", True]),
            ("True", ["True", True]),
            ("10:30", ["10:30", "10:30:00", dt.time(10, 30)]),
        ],
    )
    def test_quoted_values_are_text(self, quoted, cells):
        every = [
            *("1.10", "1.1", 1.1, Decimal("1.10"), "01", "1", 1, 1.0, "1e1", "10", np.int64(10)),
            *("TRUE", "True", True, "10:30", "10:30:00", dt.time(10, 30), None, " "),
        ]
        others = [one for one in every[:-2] if repr(one) not in set(map(repr, cells))]
        assert list(map(repr, matches(f"== '{quoted}'", *every))) == list(map(repr, cells))
        assert list(map(repr, matches(f"!= '{quoted}'", *every))) == list(map(repr, others))
        assert matches(f"in [pilot, '{quoted}']", *every) == matches(f"== '{quoted}'", *every)

    def test_text(self):
        assert matches("== ann", "ann", " ann ", "Ann") == ["ann", " ann "]
        assert matches("== 'caf\u00e9'", "cafe\u0301") == ["cafe\u0301"]
        assert matches("< b", "a", "b", "c") == ["a"]

    def test_numbers_and_text_have_no_order(self):
        for sign in ("<", "<=", ">", ">=", "=="):
            assert matches(f"{sign} 3", "n/a", "pilot") == []
            assert matches(f"{sign} pilot", 3, "3") == []
        assert matches("!= 3", "n/a", 3, 4) == ["n/a", 4]

    def test_nothing_never_matches(self):
        nothing = (None, float("nan"), pd.NA, pd.NaT, "", "  ", Decimal("nan"))
        for text in ("== 0", "!= 0", "< x", ">= x", "in [0, nothing]"):
            assert matches(text, *nothing) == []
        assert {Where.parse("x != 0").conditions[0].verdict(cell) for cell in nothing} == {NULL}

    def test_flags(self):
        assert matches("== true", True, "True", "TRUE", 1, "1") == [True, "True", "TRUE"]
        assert matches("== False", np.bool_(False), "false", 0) == [np.bool_(False), "false"]
        assert matches("== 1", True, 1) == [1]

    def test_dates(self):
        days = [dt.date(2024, 4, 30), dt.datetime(2024, 5, 1), pd.Timestamp(2024, 5, 1, 10)]
        assert matches(">= 2024-05-01", *days) == days[1:]
        assert matches("== 2024-05-01", *days) == days[1:2]
        assert len(matches("== 12345678-1234-5678-1234-567812345678", UUID(int=0), _UUID)) == 1

    @pytest.mark.parametrize(
        "value",
        [
            *("01.01.2024", "'1/5/2024'", "2024-5-1", "2024-05-1", "'5 Jan 2024'", "9:30"),
            *("'10:30 PM'", "05.01.24", "2024/1/05", "Jan-2024"),
        ],
    )
    def test_dates_that_text_does_not_order(self, value):
        for sign in ("<", "<=", ">", ">="):
            with pytest.raises(OptionError, match=f"expected a date or time after '{sign}' as in"):
                Where.parse(f"x {sign} {value}")
        assert matches(f"== {value}", value.strip("'"), "x") == [value.strip("'")]

    @pytest.mark.parametrize("cell", ["05.03.2023", "3/5/2023", "2024-3-5", "2024/03/05", "Mar 3"])
    def test_cells_that_text_does_not_order(self, cell):
        with pytest.raises(DataError, match=f"column 'x' holds '{cell}', in another format than"):
            Where.parse("x >= 2024-01-01").conditions[0].verdicts(["2024-05-01", cell])
        (since,) = Where.parse("x >= 2024-01-01").conditions
        assert since.verdicts(["n/a", "2024-05-01"]).tolist() == [YES, YES]
        assert Where.parse("x < b").conditions[0].verdicts(["a", cell]).tolist()[0] == 1

    def test_times(self):
        same = [
            dt.datetime(2024, 5, 1, 10, 30),
            pd.Timestamp(2024, 5, 1, 10, 30),
            *("2024-05-01 10:30", "2024-05-01T10:30:00", "2024-05-01T10:30:00.000"),
        ]
        for value in ("2024-05-01T10:30", "'2024-05-01 10:30:00'", "2024-05-01T10:30:00.000000"):
            assert matches(f"== {value}", *same) == same
        later = ["2024-05-01T10:30:00.500", dt.datetime(2024, 5, 1, 10, 30, 0, 500_000)]
        assert matches("> '2024-05-01 10:30'", *same, *later, "2024-05-01T09:59") == later
        assert matches("== 2024-05-01T10:30:00.5", *later) == later
        midnight = ["2024-05-01", "2024-05-01T00:00:00.000", dt.date(2024, 5, 1)]
        assert matches("== 2024-05-01", *midnight, "2024-05-01T00:01") == midnight

    def test_zones(self):
        east = dt.timezone(dt.timedelta(hours=2))
        same = [
            *("2024-05-01T21:00:00Z", "2024-05-01 23:00+02:00", "2024-05-01T23:00:00.000+0200"),
            *("2024-05-01 23:00:00+02", "2024-05-02T02:30+05:30", "2024-05-01 21:00"),
            dt.datetime(2024, 5, 1, 23, tzinfo=east),
            pd.Timestamp("2024-05-01 23:00", tz="Europe/Berlin"),
        ]
        for value in ("'2024-05-01 21:00'", "2024-05-01T23:00+02:00", "2024-05-01T19:00:00-02"):
            assert matches(f"== {value}", *same, "2024-05-01 23:00") == same
        assert matches("< '2024-05-02 00:00+02:00'", *same, "2024-05-01 22:00") == same
        assert matches("== 2024-05-01", "2024-05-01T02:00+02:00", "2024-05-01") == [
            *("2024-05-01T02:00+02:00", "2024-05-01")
        ]
        for odd in ("2024-13-01 10:30Z", "0001-01-01T00:00+01:00", "9999-12-31T23:59-01:00"):
            assert matches(f"== '{odd}'", odd, "x") == [odd]

    def test_end_of_summer_time(self):
        zone = ZoneInfo("Europe/Berlin")
        cells = [dt.datetime(2024, 10, 27, 2, 30, fold=fold, tzinfo=zone) for fold in (0, 1)]
        (where,) = Where.parse("x == '2024-10-27 01:30'").conditions
        assert cells[0] == cells[1]
        assert where.verdicts(cells).tolist() == [NO, YES]

    def test_times_of_day(self):
        same = ["10:30", "10:30:00", "10:30:00.000000000", dt.time(10, 30)]
        for value in ("10:30", "10:30:00", "10:30:00.000"):
            assert matches(f"== {value}", *same, "10:30:00.5", "10:31") == same
        assert matches("> 10:30", *same, "10:30:00.5", "09:59") == ["10:30:00.5"]

    def test_nanoseconds(self):
        cells = [pd.Timestamp("2024-05-01 10:30:00.123456789"), "2024-05-01T10:30:00.123456"]
        assert matches("== '2024-05-01 10:30:00.123456'", *cells) == cells[1:]
        assert matches("> '2024-05-01 12:30:00.123456+02'", *cells) == cells[:1]

    def test_infinity(self):
        assert matches("< inf", 1e300, "1e400", float("inf")) == [1e300, "1e400"]


_UUID = UUID("12345678-1234-5678-1234-567812345678")


def kept(frame, condition):
    """Return the rows that are kept, of which a warning counts those that are not."""
    with pytest.warns(SetagreeWarning, match=f"^where={re.escape(repr(condition))} drops"):
        return kept_rows(frame, Where.parse(condition))


class TestRows:
    def test_counts(self):
        frame = pd.DataFrame({"x": ["0", "1", "", "0"], "row": range(4)})
        with pytest.warns(SetagreeWarning) as told:
            assert kept_rows(frame, Where.parse("x == 0"))["row"].tolist() == [0, 3]
        assert [str(one.message) for one in told] == [
            "where='x == 0' drops 2 of 4 rows; 1 of them has nothing in column 'x'."
        ]
        assert Counts(1000, 1000).sentence(Where.parse("x == 0")) == (
            "where='x == 0' drops 0 of 1,000 rows."
        )

    def test_nothing_left(self):
        frame = pd.DataFrame({"x": ["1", "2", "1"]})
        with pytest.raises(DataError, match=r"keeps none of 3 rows; column 'x' holds '1', '2'\.$"):
            kept_rows(frame, Where.parse("x == 0"))

    def test_what_is_held(self):
        held = [
            *(None, "", pd.Timestamp("2024-05-01 12:00", tz="Europe/Berlin"), dt.date(2024, 5, 1)),
            *(np.float64(2.5), Decimal("0.10")),
        ]
        said = "holds 0.10, 2.5, '2024-05-01', '2024-05-01 10:00:00'."
        late = [*([None] * 1200), "a"]
        many = (range(6, 0, -1), "holds 1, 2, 3, 4, 5 and more.")
        for cells, end in ((held, said), many, (late, "holds 'a'.")):
            frame = pd.DataFrame({"x": pd.Series(list(cells), dtype=object)})
            with pytest.raises(DataError) as caught:
                kept_rows(frame, Where.parse("x == z"))
            assert str(caught.value).endswith(end)

    def test_columns(self):
        frame = pd.DataFrame({7: [1, 0], "spaced ": [0, 1]})
        assert len(kept(frame, "7 == 1")) == 1
        assert len(kept(frame, "`spaced ` == 1")) == 1
        with pytest.raises(DataError, match=r"no column 'space'; the columns .* Did you mean"):
            kept_rows(frame, Where.parse("space == 1"))
        with pytest.raises(DataError, match="2 columns are called 'x'"):
            kept_rows(pd.DataFrame([[1, 2]], columns=["x", "x"]), Where.parse("x == 1"))

    @pytest.mark.parametrize("cell", [[1], {"a"}, {"a": 1}, b"a", ("a",)])
    def test_lists(self, cell):
        with pytest.raises(DataError, match=r"where='x == 1': column 'x' holds an? \w+; only text"):
            kept_rows(pd.DataFrame({"x": [1, cell]}), Where.parse("x == 1"))

    def test_one_and_true(self):
        frame = pd.DataFrame({"x": [1, True, 1.0, False]})
        assert kept(frame, "x == 1").index.tolist() == [0, 2]
        assert kept(frame, "x == true").index.tolist() == [1]

    @pytest.mark.parametrize("dtype", ["str", "category", "object", "string"])
    def test_dtypes(self, dtype):
        frame = pd.DataFrame({"x": pd.Series(["a", None, "b", "a"], dtype=dtype)})
        assert kept(frame, "x == a").index.tolist() == [0, 3]


def test_conditions_of_a_value():
    assert Where.equality("round", 1) == "round == 1"
    assert Where.equality("my round", "pilot b") == '`my round` == "pilot b"'
