"""Tables of every layout become three long columns, or are refused in words."""

import copy

import numpy as np
import pandas as pd
import pytest
from asking import sentence

import setagree as sa
from setagree.errors import (
    DataError,
    LabelError,
    NoTableError,
    OptionError,
    SetagreeWarning,
    a_type,
)
from setagree.study import assembly, layouts
from setagree.study.labels import is_missing


def refusal(function, *arguments, error=DataError):
    with pytest.raises(error) as caught:
        function(*arguments)
    assert type(caught.value) is error
    return str(caught.value)


def rows(long):
    """Return (unit, rater, answer) of each row, None where the answer is missing."""
    zipped = zip(*(column.tolist() for column in long[:3]), strict=True)
    return [(unit, rater, None if is_missing(one) else one) for unit, rater, one in zipped]


def wide(data, unit=None, raters=None):
    return rows(layouts.from_wide(pd.DataFrame(data), unit, raters))


def wide_refusal(data, unit=None, raters=None, error=DataError):
    return refusal(layouts.from_wide, pd.DataFrame(data), unit, raters, error=error)


class TestColumns:
    FRAME = pd.DataFrame([[1, 2, 3, 4]], columns=["doc", 0, "tags", "tags"])

    def test_found(self):
        assert assembly.pick_column(self.FRAME, "doc").tolist() == [1]
        assert assembly.pick_column(self.FRAME, 0).tolist() == [2]

    def test_absent(self):
        assert refusal(assembly.pick_column, self.FRAME, "dco") == (
            "there is no column 'dco'; the columns are 'doc', 0, 'tags', 'tags'. Did you mean "
            "'doc'?"
        )
        assert "there is no column '0'" in refusal(assembly.pick_column, self.FRAME, "0")
        assert "Did you mean 0?" in refusal(assembly.pick_column, self.FRAME, "0")

    def test_twice(self):
        assert refusal(assembly.pick_column, self.FRAME, "tags") == (
            "2 columns are called 'tags'; rename all but one."
        )

    def test_no_columns(self):
        assert refusal(assembly.pick_column, pd.DataFrame(), "doc") == (
            "there is no column 'doc'; the table has no columns."
        )

    def test_long(self):
        frame = pd.DataFrame({"d": [1, 2], "w": ["x", "y"], "t": ["a", "b"], "more": [0, 0]})
        assert rows(assembly.from_long(frame, "d", "w", "t")) == [(1, "x", "a"), (2, "y", "b")]

    @pytest.mark.parametrize("data", [[1, 2], {"unit": [1]}, pd.Series([1]), None, np.ones(2)])
    def test_no_table(self, data):
        is_plain = isinstance(data, list | dict | np.ndarray)
        also = ", or Python objects to setagree.read" * is_plain
        known = f"(pandas, Polars, Arrow, DuckDB, ...){also}"
        words = f"Expected a table, got {a_type(data)}; pass a DataFrame {known}."
        assert refusal(sa.Annotations.from_long, data, error=NoTableError) == words
        assert refusal(layouts.from_wide, data, None, None, error=NoTableError) == words


class TestWide:
    TABLE = pd.DataFrame({"doc": ["u1", "u2"], "ann": ["a", "b"], "bob": ["c", None]})

    def test_index_is_the_unit(self):
        assert wide(self.TABLE.set_index("doc")) == [
            ("u1", "ann", "a"),
            ("u2", "ann", "b"),
            ("u1", "bob", "c"),
            ("u2", "bob", None),
        ]

    def test_unit_column(self):
        assert wide(self.TABLE, "doc") == wide(self.TABLE.set_index("doc"))
        for units in (["u1", "u2"], [1, 2]):
            table = self.TABLE.assign(doc=units)
            assert layouts.from_wide(table, "doc", None).unit.name == "doc"

    def test_named_raters(self):
        assert wide(self.TABLE, "doc", ["bob"]) == [("u1", "bob", "c"), ("u2", "bob", None)]

    def test_numbered_columns_and_tuples(self):
        assert wide([["a", "b"]]) == [(0, 0, "a"), (0, 1, "b")]
        index = pd.MultiIndex.from_tuples([("d1", 1), ("d1", 2)])
        assert wide(pd.DataFrame({"ann": ["a", "b"]}, index=index)) == [
            (("d1", 1), "ann", "a"),
            (("d1", 2), "ann", "b"),
        ]

    def test_numbers_stay_numbers(self):
        frame = pd.DataFrame({"ann": [1, 2], "bob": [1.5, np.nan]})
        assert layouts.from_wide(frame, None, None).answer.dtype == float

    def test_cells_of_any_type(self):
        cells = [["a"], np.array(["a", "b"])], [("b", "a"), frozenset()]
        frame = pd.DataFrame({"ann": cells[0], "bob": cells[1]})
        answers = layouts.from_wide(frame, None, None).answer.tolist()
        assert all(one is other for one, other in zip(answers, cells[0] + cells[1], strict=True))

    def test_empty_tables(self):
        assert wide_refusal({"ann": []}) == "a wide table of 0 rows and 1 rater has no answers."
        assert wide_refusal(pd.DataFrame(index=[1, 2])) == (
            "a wide table of 2 rows and 0 raters has no answers."
        )

    def test_absent_columns(self):
        assert "no column 'docs'" in wide_refusal(self.TABLE, "docs")
        assert "no column 'bo'" in wide_refusal(self.TABLE, "doc", ["ann", "bo"])

    def test_raters_as_one_text(self):
        sentence = wide_refusal({"a": ["x"], "b": ["y"]}, None, "ab", error=OptionError)
        assert sentence == "raters='ab' must be a list of columns, not one text."

    @pytest.mark.parametrize("blank", ["", " "])
    def test_blank_unit(self, blank, tmp_path):
        table = {"unit": ["u1", blank, "u3"], "ann": ["a", "b", "a"], "bob": ["a", "b", "b"]}
        frame, path = pd.DataFrame(table), tmp_path / "blank.csv"
        frame.to_csv(path, index=False)
        for read in (
            lambda: sa.Annotations.from_wide(frame, unit="unit"),
            lambda: sa.agreement(path, wide=True),
        ):
            with pytest.raises(DataError, match=r"^1 row without a unit \(first: row 2, counted"):
                read()
        with (
            pytest.warns(sa.SetagreeWarning, match="drops 1 of 3"),
            pytest.raises(DataError, match=r"^1 row without a unit \(first: row 2, counted"),
        ):
            sa.agreement(path, wide=True, where='bob == "b"')

    @pytest.mark.parametrize("missing", [None, np.nan, pd.NaT, " "])
    def test_without_a_name(self, missing):
        frame = pd.DataFrame({"ann": ["a", "b"], "bob": ["a", "b"]}, index=["u", missing])
        with pytest.raises(DataError, match=r"^1 row without a unit \(first: row 2, counted from"):
            sa.Annotations.from_wide(frame)
        names = pd.Index(["ann", missing], dtype=object)  # so that None stays None
        assert wide_refusal(pd.DataFrame([["a", "b"]], columns=names)) == (
            "1 column of a rater without a name (first: number 2); name it or remove it."
        )

    @pytest.mark.parametrize(
        "stray",
        [
            ["u1", "u2", "u3", "u4"],
            [101, 102, 103, 104],
            [101.0, 102.0, np.nan, 104.0, 105.0],
            ["Good, really", "Bad; so bad", "Meh", "Hm"],
            list(pd.date_range("2020-01-01", periods=4)),
        ],
        ids=["text", "numbers", "numbers with a gap", "free text", "dates"],
    )
    def test_stray_column(self, stray):
        table = {"ann": ["a", "b"], "bob": ["b, a", "b"], "id": stray}
        columns = {name: (cells * 3)[: len(stray)] for name, cells in table.items()}
        n_cells = sum(not pd.isna(cell) for cell in stray)
        assert wide_refusal(columns) == (
            "column 'id' looks like unit identifiers or free text, not like the answers of a rater "
            f"({n_cells} of its {n_cells} cells are different, and most occur in no other column); "
            "use unit='id', or list the raters: raters=['ann', 'bob']."
        )
        named = wide(columns, None, ["ann", "bob"])
        assert {rater for _, rater, _ in named} == {"ann", "bob"}

    def test_numbered_rows_among_ratings(self):
        ratings = {"ann": [1, 2, 3, 4, 5, 4] * 2, "bob": [1, 2, 3, 3, 5, 5] * 2}
        assert "column 'row' looks" in wide_refusal({"row": range(1, 13), **ratings})

    def test_nearly_all_different(self):
        texts = [f"text {k}" for k in range(9)] + ["text 0"]
        assert "(9 of its 10 cells are different" in wide_refusal(
            {"tweet": texts, "ann": ["a", "b"] * 5, "bob": ["b", "b"] * 5}
        )

    @pytest.mark.parametrize("name", ["comment", "Date", " notes ", "batch"])
    def test_columns_that_do_not_sound_like_raters(self, name):
        table = {"ann": ["a", "b"], name: ["a", "b"], "bob": ["a", "b"]}
        assert wide_refusal(table) == (
            f"column {name!r} seems not to be a rater; if it is not one, list the raters: "
            "raters=['ann', 'bob']."
        )
        assert len(wide(table, None, ["ann", name])) == 4

    @pytest.mark.parametrize(
        "columns",
        [
            {"ann": ["a", "b", "c", "d"], "bob": ["a", "b", "e", "f"]},
            {"ann": ["a", "b", "c", "d"], "bob": ["d, c", "b, a", "a, c", "b, d"]},
            {"ann": [["a"], ["b"], ["c"], ["d"]], "bob": [["a"], ["b"], ["c"], {"d"}]},
            {"ann": [1, 2, 3, 4], "bob": [2, 3, 4, 5]},
            {"ann": [0.1, 0.2, 0.3, 0.4], "bob": [0.15, 0.25, 0.35, 0.45]},
            {"ann": ["a", "b", "c"], "bob": ["x", "y", "z"]},
            {"ann": ["a", "b", "c", "d"]},
            {"ann": ["a", "b", "c", "d"], "bob": [None, None, None, None]},
            {"ann": [{"a": k} for k in range(4)], "bob": ["a", "b", "c", "d"]},
        ],
        ids=["half", "sets", "lists", "scale", "continuous", "short", "alone", "silent", "dicts"],
    )
    def test_raters_who_seldom_repeat(self, columns):
        """Answers that are all different are answers where half of them stand elsewhere too.

        So they are on a continuous scale, in a table of three rows, and where no other rater
        answered; what is no answer at all is refused later, with its unit and rater.
        """
        assert len(wide(columns)) == sum(map(len, columns.values()))


class TestTriples:
    def test_rater_comes_first(self):
        assert rows(layouts.from_triples([("ann", 1, "a"), ["bob", 2, {"a"}]])) == [
            (1, "ann", "a"),
            (2, "bob", {"a"}),
        ]

    def test_any_iterable(self):
        assert rows(layouts.from_triples((r, 1, "a") for r in "xy")) == [
            (1, "x", "a"),
            (1, "y", "a"),
        ]

    @pytest.mark.parametrize("odd", [("ann", 1), ("ann", 1, "a", "b"), "abc", {"a", "b", "c"}, 5])
    def test_no_triple(self, odd):
        sentence = refusal(layouts.from_triples, [("ann", 1, "a"), odd])
        assert sentence == f"triple 1 is {odd!r}; write (rater, unit, labels)."

    def test_no_list(self):
        assert refusal(layouts.from_triples, 5) == (
            "Expected a list of (rater, unit, labels) triples, got an int."
        )


class TestContingency:
    def pairs(self, table, raters=("x", "y")):
        """Return how many units got each pair of answers."""
        long = layouts.from_contingency(table, raters)
        frame = pd.DataFrame({"unit": long.unit, "rater": long.rater, "answer": long.answer})
        assert frame.groupby("unit")["rater"].apply(list).map(lambda two: two == ["x", "y"]).all()
        first, second = (frame.answer[frame.rater == rater].tolist() for rater in ("x", "y"))
        return pd.Series(list(zip(first, second, strict=True))).value_counts().to_dict()

    def test_rows_are_the_first_rater(self):
        table = pd.DataFrame([[3, 1], [0, 2]], index=["a", "b"], columns=["a", "b"])
        assert self.pairs(table) == {("a", "a"): 3, ("a", "b"): 1, ("b", "b"): 2}

    def test_axes_need_not_match(self):
        table = pd.DataFrame([[1, 3, 2]], index=["a"], columns=["c", "a", "b"])
        assert self.pairs(table) == {("a", "a"): 3, ("a", "b"): 2, ("a", "c"): 1}

    def test_floats_and_flags(self):
        table = pd.DataFrame([[1.0, 0.0]], index=["a"], columns=["a", "b"])
        assert self.pairs(table) == self.pairs(table.astype(bool)) == {("a", "a"): 1}

    @pytest.mark.parametrize("count", [-1, 0.5, np.nan, np.inf])
    def test_no_counts(self, count):
        table = pd.DataFrame([[1, 2], [count, 3]], index=["a", "b"], columns=["c", "d"])
        assert refusal(layouts.from_contingency, table, ("x", "y")) == (
            f"a count must be a whole number of at least 0; row 'b', column 'c' has {float(count)}."
        )

    def test_text(self):
        table = pd.DataFrame([["a", 2]], index=["a"], columns=["c", "d"])
        assert refusal(layouts.from_contingency, table, ("x", "y")) == (
            "a table of counts must have only numbers; make the names of its rows the index."
        )

    @pytest.mark.parametrize(
        ("table", "sentence"),
        [
            (pd.DataFrame(), "the table of counts has no count above 0."),
            (
                pd.DataFrame([[0, 0]], index=["a"], columns=["a", "b"]),
                "the table of counts has no count above 0.",
            ),
            (
                pd.DataFrame([[10**12]], index=["a"], columns=["a"]),
                "the contingency table counts 1,000,000,000,000 units; at most 100,000,000 can",
            ),
        ],
        ids=["no cells", "zeros", "too many"],
    )
    def test_size(self, table, sentence):
        assert refusal(layouts.from_contingency, table, ("x", "y")).startswith(sentence)

    def test_not_labelled(self):
        sentence = refusal(layouts.from_contingency, np.eye(2), ("x", "y"))
        assert sentence == (
            "a contingency table needs its labels: pass a DataFrame with both axes."
        )

    def test_axis_without_a_name(self):
        table = pd.DataFrame([[1, 2]], index=["a"], columns=["a", None])
        assert refusal(layouts.from_contingency, table, ("x", "y")) == (
            "1 column of the contingency table without a name (first: number 2); name it or remove "
            "it."
        )
        assert "1 row of the contingency table without a name" in refusal(
            layouts.from_contingency, table.T, ("x", "y")
        )

    @pytest.mark.parametrize("name", ["All", "Total", "sum"])
    def test_margins(self, name):
        first, second = pd.Series(list("abab")), pd.Series(list("abba"))
        table = pd.crosstab(first, second, margins=True, margins_name=name)
        sentence = refusal(layouts.from_contingency, table, ("x", "y"))
        assert sentence == (
            f"the last row of the contingency table, {name!r}, is the sum of the others; "
            "remove the margins."
        )
        columns_only = table.iloc[:-1]
        assert "the last column" in refusal(layouts.from_contingency, columns_only, ("x", "y"))

    def test_no_margins(self):
        table = pd.DataFrame([[1, 1], [1, 1]], index=["a", "All"], columns=["a", "b"])
        with pytest.raises(DataError):
            layouts.from_contingency(table, ("x", "y"))  # here it is the sum
        table.loc["All", "b"] = 5
        assert self.pairs(table)["All", "b"] == 5

    @pytest.mark.parametrize("raters", [("x",), ("x", "y", "z"), "xy", ("x", "x")])
    def test_two_raters(self, raters):
        table = pd.DataFrame([[1]], index=["a"], columns=["a"])
        sentence = refusal(layouts.from_contingency, table, raters, error=OptionError)
        assert sentence == f"raters={raters!r} must name two raters."


class TestCube:
    CUBE = np.array([[[1, 0], [0, 0], [1, 1]], [[1, 1], [0, 1], [0, 0]]])

    def read(self, cube=CUBE, labels=("a", "b"), units=None, raters=None, mask=None):
        return rows(layouts.from_cube(cube, labels, units, raters, mask))

    def refused(self, *arguments, error=DataError, **options):
        with pytest.raises(error) as caught:
            self.read(*arguments, **options)
        return str(caught.value)

    def test_axes(self):
        assert self.read(units=[10, 20, 30], raters="xy") == [
            (10, "x", {"a"}),
            (20, "x", frozenset()),
            (30, "x", {"a", "b"}),
            (10, "y", {"a", "b"}),
            (20, "y", {"b"}),
            (30, "y", frozenset()),
        ]

    def test_defaults(self):
        assert self.read(self.CUBE[:, :1], labels=None) == [(0, 0, {0}), (0, 1, {0, 1})]

    @pytest.mark.parametrize("dtype", [bool, int, float, object, "U1"])
    def test_flags_of_any_type(self, dtype):
        assert self.read(self.CUBE.astype(int).astype(dtype)) == self.read()
        assert self.read(self.CUBE.tolist()) == self.read()

    def test_mask(self):
        read = self.read(mask=[[0, 1, 0], [0, 0, 1]])
        assert [answer for *_, answer in read] == [
            {"a"},
            None,
            {"a", "b"},
            {"a", "b"},
            {"b"},
            None,
        ]

    def test_no_labels(self):
        assert self.read(np.zeros((2, 1, 0)), labels=None) == [
            (0, 0, frozenset()),
            (0, 1, frozenset()),
        ]

    def test_many_labels(self):
        flags = np.eye(19, dtype=bool)[None]
        names = [f"n{k}" for k in range(19)]
        assert [answer for *_, answer in self.read(flags, names)] == [{name} for name in names]

    @pytest.mark.parametrize(
        ("entry", "shown"), [(0.5, "0.5"), (np.nan, "nan"), (2, "2.0"), (-1, "-1.0")]
    )
    def test_other_entries(self, entry, shown):
        cube = self.CUBE.astype(float)
        cube[1, 2, 0] = entry
        assert self.refused(cube) == (
            f"indicators: 1 entry neither 0 nor 1 (first: {shown} at (1, 2, 0)); pass mask= for "
            "missing annotations."
        )
        cube[1, 2, 1] = entry
        assert "indicators: 2 entries neither" in self.refused(cube)

    @pytest.mark.parametrize("cube", [[[["a"]]], [[[1, 0], [1]]], [[[None]], [[{}]]]], ids=repr)
    def test_no_flags(self, cube):
        assert self.refused(cube, labels=None).startswith(
            "indicators must be flags, True and False or 1 and 0 ("
        )

    @pytest.mark.parametrize("shape", [(2,), (2, 2), (1, 2, 2, 2)])
    def test_other_shapes(self, shape):
        assert self.refused(np.zeros(shape)) == (
            f"indicators must have shape (raters, units, labels), not {shape}."
        )

    def test_lengths_that_do_not_fit(self):
        assert self.refused(labels=["a"], mask=[[0, 0]]) == (
            "flags of shape (2, 3, 2) (raters, units, labels) do not fit mask (1, 2), 2 raters, "
            "3 units, 1 labels."
        )
        assert "2 units" in self.refused(units=[1, 2])
        assert "3 raters" in self.refused(raters=[1, 2, 3])
        assert "mask (3, 2)" in self.refused(mask=np.zeros((3, 2)))

    @pytest.mark.parametrize("entry", [np.nan, 2])
    def test_mask_that_is_none(self, entry):
        assert self.refused(mask=[[0, entry, 0], [0, 0, 0]]).startswith(
            "mask: 1 entry neither 0 nor 1 (first:"
        )

    def test_masked_array(self):
        masked = np.ma.masked_array(self.CUBE, self.CUBE == 0)
        assert self.refused(masked) == (
            "indicators: a masked array; pass plain flags, and missing ones as mask=."
        )

    @pytest.mark.parametrize(
        "labels", [["a", "a"], ["a", " a"], ["a", ""], ["\u00e9", "e\u0301"], [True, False]]
    )
    def test_labels_that_are_the_same(self, labels):
        assert self.refused(labels=labels) == (
            f"2 labels need as many different names; these are {labels[0]!r}, {labels[1]!r}."
        )

    def test_labels_as_one_text(self):
        sentence = self.refused(labels="ab", error=OptionError)
        assert sentence == "labels='ab' must be a list of labels, not one text."

    def test_labels_that_are_none(self):
        assert "1.5 is a float" in self.refused(labels=["a", 1.5], error=LabelError)
        assert "is missing" in self.refused(labels=["a", None], error=LabelError)

    def test_input_is_not_changed(self):
        cube, mask = self.CUBE.copy(), np.array([[0, 1, 0], [0, 0, 1]])
        names = ["a", "b"]
        before = copy.deepcopy((cube, mask, names))
        self.read(cube, names, mask=mask)
        assert (cube == before[0]).all()
        assert (mask == before[1]).all()
        assert names == before[2]


class TestFlagFrame:
    def frame(self, names=("unit", "rater"), columns=("a", "b")):
        """Return flags of two units and two raters."""
        index = pd.MultiIndex.from_tuples([(1, "x"), (1, "y"), (2, "x")], names=names)
        return pd.DataFrame([[1, 0], [0, 0], [1, 1]], index=index, columns=columns)

    ROWS = ((1, "x", {"a"}), (1, "y", frozenset()), (2, "x", {"a", "b"}))

    def test_rows(self):
        assert tuple(rows(layouts.from_flag_frame(self.frame()))) == self.ROWS
        assert tuple(rows(layouts.from_flag_frame(self.frame().astype(bool)))) == self.ROWS

    def test_levels_by_name(self):
        swapped = self.frame().swaplevel()
        assert tuple(rows(layouts.from_flag_frame(swapped))) == self.ROWS
        assert tuple(rows(layouts.from_flag_frame(self.frame((None, None))))) == self.ROWS
        assert tuple(rows(layouts.from_flag_frame(self.frame(("doc", "who"))))) == self.ROWS

    def test_another_index(self):
        sentence = refusal(layouts.from_flag_frame, self.frame().reset_index())
        assert sentence == "a frame of flags needs an index of two levels: unit, rater."

    def test_labels_that_are_the_same(self):
        sentence = refusal(layouts.from_flag_frame, self.frame(columns=["a", "a "]))
        assert sentence == "2 labels need as many different names; these are 'a', 'a '."

    def test_missing_flags(self):
        frame = self.frame().astype(float)
        frame.iloc[1, 0] = np.nan
        assert "(first: nan at (1, 0))" in refusal(layouts.from_flag_frame, frame)


def test_unit_column_among_raters():
    table = pd.DataFrame({"unit": [1, 2, 3], "r1": [1, 2, 3], "r2": [1, 2, 2]})
    with pytest.raises(sa.SetagreeError, match="use unit='unit'"):
        sa.Annotations.from_wide(table, kind="value")


def test_positions_are_no_values():
    with pytest.raises(sa.SetagreeError, match="not labelled"):
        sa.Annotations.from_contingency(pd.DataFrame([[3, 1], [0, 2]]), kind="value")


def annotated_texts(n=120):
    """Return ids, texts, the answers of three raters who mostly agree, and notes."""
    rng = np.random.default_rng(4)
    truth = rng.choice(["joy", "fear", "anger"], n)
    raters = {
        name: np.where(rng.random(n) < 0.3, rng.choice(["joy", "fear"], n), truth)
        for name in ("Anna", "Ben", "Cleo")
    }
    texts = [f"Post {k}: what a day, and what a night" for k in range(n)]
    return pd.DataFrame({"id": range(n), "Post": texts, **raters, "Notes": ["", "unsure"] * 60})


def test_texts_are_not_advised_as_a_rater():
    table = annotated_texts()
    message = sentence(DataError, lambda: sa.read(table, wide=True))
    assert message.startswith("column 'Notes' seems not to be a rater")
    assert message.endswith("raters=['Anna', 'Ben', 'Cleo'].")
    read = sa.read(table, wide=True, raters=["Anna", "Ben", "Cleo"])
    plain = sa.Annotations.from_wide(table[["Anna", "Ben", "Cleo"]])
    assert sa.krippendorff_alpha(read).estimate == sa.krippendorff_alpha(plain).estimate


@pytest.mark.parametrize("texts", ["Post", "Text"])
def test_texts_that_are_listed_as_a_rater(texts):
    table = annotated_texts().rename(columns={"Post": texts})
    listed = [texts, "Anna", "Ben", "Cleo"]
    with pytest.warns(SetagreeWarning, match="120 distinct texts in 120 rows, and most") as caught:
        assert sa.read(table, wide=True, unit="id", raters=listed).n_raters == 4
    assert f"use unit='{texts}', or list the raters without it: raters=['Anna', 'Ben', 'Cleo']" in (
        str(caught[0].message)
    )
    assert len(caught) == 1


def test_wide_table_with_a_stray_column():
    table = pd.DataFrame(
        {
            "tweet": ["so good", "so bad, really", "meh", "why?"],
            "ann": ["a", "b", "a", "a, b"],
            "bob": ["a", "b", "b", "a"],
        }
    )
    words = sentence(DataError, sa.Annotations.from_wide, table)
    assert words == (
        "column 'tweet' looks like unit identifiers or free text, not like the answers of a rater "
        "(4 of its 4 cells are different, and most occur in no other column); use unit='tweet', or "
        "list the raters: raters=['ann', 'bob']."
    )
    named = sa.Annotations.from_wide(table, unit="tweet")
    assert named.raters.tolist() == ["ann", "bob"]


def test_a_contingency_table_numbered_from_one_is_labelled():
    numbers = pd.RangeIndex(1, 4)
    table = pd.DataFrame(np.diag([3, 2, 1]), index=numbers, columns=numbers)
    study = sa.Annotations.from_contingency(table, kind="number")
    assert (study.n_units, set(study.values)) == (6, {1, 2, 3})
    with pytest.raises(DataError, match="not labelled, only numbered"):
        sa.Annotations.from_contingency(table.reset_index(drop=True).T.reset_index(drop=True))


def with_confidence(n=60):
    """Return ids, the answers of two raters, and how sure they are, from 1 to 5."""
    rng = np.random.default_rng(5)
    answers = {name: rng.choice(["joy", "fear"], n) for name in ("rater_1", "rater_2")}
    sure = {f"{name}_conf": rng.integers(1, 6, n).astype(str) for name in answers}
    return pd.DataFrame({"id": range(n), **answers, **sure})


def test_columns_without_an_answer_in_common_are_two_groups():
    table = with_confidence()
    message = "the columns 'rater_1', 'rater_2' are read as raters, and so are 'rater_1_conf', "
    with pytest.warns(SetagreeWarning, match=message) as caught:
        assert sa.read(table, wide=True, unit="id").n_raters == 4
    either = "raters=['rater_1', 'rater_2'] or raters=['rater_1_conf', 'rater_2_conf']."
    assert str(caught[0].message).endswith(either)
    assert sa.read(table, wide=True, unit="id", raters=["rater_1", "rater_2"]).n_raters == 2
    noted = table.assign(Notes="")
    assert sentence(DataError, lambda: sa.read(noted, wide=True, unit="id")).endswith(either)


def test_two_questions_per_rater_are_two_lists_of_raters():
    table = pd.DataFrame({
        "id": ["u1", "u2"], "ann topic": ["war", "art"], "ann stars": ["1", "2"],
        "ben topic": ["art", "art"], "ben stars": ["2", "2"], "comment": ["", "unclear"],
    })  # fmt: skip
    sentence = refusal(sa.agreement, table)
    lists = "raters=['ann topic', 'ben topic'] or raters=['ann stars', 'ben stars']"
    assert f"If each rater has a column, use wide=True and {lists}; if each row is" in sentence


def test_advice_has_no_column_that_shares_no_answer_or_is_made_of_the_others():
    rng = np.random.default_rng(6)
    table = annotated_texts()
    table["Length"] = rng.integers(10, 99, len(table)).astype(str)
    table["Gold"] = table["Majority"] = table["Anna"]
    message = sentence(DataError, lambda: sa.read(table, wide=True))
    assert message.endswith(
        "list the raters: raters=['Anna', 'Ben', 'Cleo'] (without 'Gold', 'Majority', which may be "
        "derived from the others' answers)."
    )
    two = sentence(DataError, lambda: sa.read(table.drop(columns="Cleo"), wide=True))
    assert "raters=['Anna', 'Ben'] (without 'Gold', 'Majority', which may be" in two
    listed = ["Anna", "Ben", "Cleo", "Length"]
    with pytest.warns(SetagreeWarning, match="'Length' is read as a rater and has no answer in"):
        assert sa.read(table, wide=True, unit="id", raters=listed).n_raters == 4
