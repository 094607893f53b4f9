"""The coded data: every way in, every way out, and back."""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
from asking import long_table, sentence
from hypothesis import given
from hypothesis import strategies as st

import setagree as sa
from setagree import Annotations
from setagree.errors import BlankLabelsWarning, DataError, LabelError, OptionError

# What nulls are read as, and the warning that says so, is the subject of test_nulls.
pytestmark = pytest.mark.filterwarnings("ignore:.* nulls? .*:setagree.errors.BlankLabelsWarning")

EMPTY = frozenset()

WALKTHROUGH = pd.DataFrame(
    {
        "doc": ["d1", "d1", "d1", "d2", "d2", "d2", "d3", "d3"],
        "who": ["ann", "bob", "cy", "ann", "bob", "cy", "ann", "bob"],
        "tags": ["a, b", "a", "b", "", "a", None, "b,a", "c"],
    }
)
"""Three units, three raters; one blank cell and one missing cell."""


def triples(study):
    """Return (unit, rater, answer) of each annotation, as a set."""
    answers = [study.values[code] for code in study.value_codes]
    units, raters = study.units[study.unit_codes], study.raters[study.rater_codes]
    return set(zip(units.tolist(), raters.tolist(), answers, strict=True))


def frames_equal(one, other):
    """Say whether two frames hold the same cells under the same names in the same dtypes."""
    try:
        pd.testing.assert_frame_equal(one, other)
    except AssertionError:
        return False
    return True


ANSWERS = st.frozensets(st.sampled_from(["a", "b", "c, d", 'e"', 7]), max_size=3)
STUDIES = st.dictionaries(
    st.tuples(st.sampled_from([1, 2, "u3", (4, 5)]), st.sampled_from(["x", "y", 3])),
    ANSWERS,
    min_size=1,
).map(lambda cells: [(rater, unit, answer) for (unit, rater), answer in cells.items()])


class TestLong:
    def read(self, frame=WALKTHROUGH, **options):
        return Annotations.from_long(frame, unit="doc", rater="who", labels="tags", **options)

    def test_label_sets(self):
        study = self.read(blank="empty")
        assert triples(study) == {
            ("d1", "ann", frozenset("ab")),
            ("d1", "bob", frozenset("a")),
            ("d1", "cy", frozenset("b")),
            ("d2", "ann", EMPTY),
            ("d2", "bob", frozenset("a")),
            ("d3", "ann", frozenset("ab")),
            ("d3", "bob", frozenset("c")),
        }
        assert (study.kind, study.n_missing) == ("labels", 1)

    def test_counts(self):
        study = self.read(blank="empty")
        counts = (study.n_units, study.n_raters, study.n_ratings, study.n_values)
        assert counts == (3, 3, 7, 5)
        assert study.labels == ("a", "b", "c")
        assert repr(study) == ("<Annotations: 7 ratings, 3 units, 3 raters, 5 distinct label sets>")

    def test_blank_by_default(self):
        without_null = WALKTHROUGH.dropna(subset=["tags"])
        with pytest.warns(BlankLabelsWarning, match="^1 blank cell read as missing"):
            study = self.read(without_null)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert triples(study) == triples(self.read(without_null, blank="missing"))
        assert study.n_missing == 1

    def test_nulls_beside_blanks(self):
        for blank in (None, "missing", "empty"):
            with pytest.warns(BlankLabelsWarning, match="^1 null .* and 1 blank text") as caught:
                study = self.read(blank=blank)
            assert len(caught) == 1
            assert study.n_missing == (1 if blank == "empty" else 2)

    def test_usual_names(self):
        renamed = WALKTHROUGH.rename(columns={"doc": "unit", "who": "rater", "tags": "labels"})
        study = Annotations.from_long(renamed, blank="empty")
        assert triples(study) == triples(self.read(blank="empty"))

    def test_numbered_columns(self):
        frame = pd.DataFrame([["a, b", "ann", 1], ["b", "bob", 1]])
        study = Annotations.from_long(frame, labels=0, rater=1, unit=2)
        assert triples(study) == {(1, "ann", frozenset("ab")), (1, "bob", frozenset("b"))}
        assert Annotations.from_long(frame, value=0, rater=1, unit=2).kind == "category"

    def test_values(self):
        frame = WALKTHROUGH.assign(score=["1", "2", 2.5, None, 1, "", 3, 3])
        study = Annotations.from_long(frame, unit="doc", rater="who", value="score")
        assert (study.kind, study.values, study.labels) == ("number", (1, 2, 2.5, 3), ())
        assert repr(study).endswith("4 distinct values>")

    def test_labels_and_value(self):
        with pytest.raises(OptionError, match=r"name labels= .* or value= .*, not both"):
            self.read(value="doc")

    @pytest.mark.parametrize(
        ("options", "labels"),
        [
            ({"label_sep": ";"}, {"Joy, fear", "sad"}),
            ({"label_sep": ";", "case": "lower"}, {"joy, fear", "sad"}),
            ({"codebook": ["Joy", "fear; sad"]}, {"Joy", "fear; sad"}),
        ],
    )
    def test_reading_options(self, options, labels):
        frame = pd.DataFrame({"unit": [1], "rater": ["x"], "labels": ["Joy, fear; sad"]})
        assert set(Annotations.from_long(frame, **options).labels) == labels

    @pytest.mark.parametrize("index", [[0] * 8, list("abcdefgh"), range(8, 0, -1)])
    def test_index_does_not_matter(self, index):
        frame = WALKTHROUGH.set_axis(pd.Index(index), axis=0)
        assert triples(self.read(frame, blank="empty")) == triples(self.read(blank="empty"))

    def test_duplicates(self):
        twice = pd.concat([WALKTHROUGH, WALKTHROUGH])
        with pytest.raises(DataError, match="was the file appended to itself"):
            self.read(twice, blank="empty")
        for policy in ("first", "last", "union"):
            study = self.read(twice, blank="empty", duplicates=policy)
            assert triples(study) == triples(self.read(blank="empty"))

    def test_error_names_the_row(self):
        frame = WALKTHROUGH.assign(tags=[["a"], {"a": 1}, *"abcdef"])
        with pytest.raises(LabelError, match=r"^Unit 'd1', rater 'bob': .* is a dict, not labels"):
            self.read(frame)


class TestDtypes:
    @pytest.mark.parametrize("dtype", ["str", "object", "string", "category"])
    def test_text(self, dtype):
        frame = WALKTHROUGH.astype(dtype)
        study = Annotations.from_long(frame, unit="doc", rater="who", labels="tags", blank="empty")
        assert triples(study) == triples(TestLong().read(blank="empty"))
        assert all(type(one) is str for one in [*study.units, *study.raters, *study.labels])

    def test_arrow(self):
        pytest.importorskip("pyarrow")
        self.test_text("string[pyarrow]")

    @pytest.mark.parametrize("dtype", ["int64", "Int64", "float64", "Float64", "category", "str"])
    def test_numbers(self, dtype):
        frame = pd.DataFrame({"unit": [1, 1, 2], "rater": [1, 2, 1], "score": [4, 5, 4]})
        study = Annotations.from_long(frame.astype({"score": dtype}), value="score")
        assert triples(study) == {(1, 1, 4), (1, 2, 5), (2, 1, 4)}
        assert study.kind == "number"

    @pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean"])
    def test_missing_numbers(self, dtype):
        column = pd.array([1, None, 0], dtype=dtype)
        frame = pd.DataFrame({"unit": [1, 1, 2], "rater": [1, 2, 1], "score": column})
        study = Annotations.from_long(frame, value="score")
        assert triples(study) == {(1, 1, 1), (2, 1, 0)}
        assert study.n_missing == 1

    def test_nullable_ids(self):
        frame = pd.DataFrame(
            {"unit": pd.array([1, None], dtype="Int64"), "rater": 1, "labels": "a"}
        )
        with pytest.raises(DataError, match=r"^1 row without a unit \(first: row 2, counted"):
            Annotations.from_long(frame)


class TestWide:
    FRAME = pd.DataFrame({"ann": ["a, b", ""], "bob": ["a", None]}, index=["d1", "d2"])

    def test_label_sets(self):
        study = Annotations.from_wide(self.FRAME, blank="empty")
        assert triples(study) == {
            ("d1", "ann", frozenset("ab")),
            ("d2", "ann", EMPTY),
            ("d1", "bob", frozenset("a")),
        }

    def test_blank_by_default(self):
        with pytest.warns(BlankLabelsWarning):
            assert Annotations.from_wide(self.FRAME).n_missing == 2

    def test_unit_and_raters(self):
        frame = self.FRAME.reset_index(names="doc").assign(note=["x", "y"])
        study = Annotations.from_wide(frame, unit="doc", raters=["bob"])
        assert triples(study) == {("d1", "bob", frozenset("a"))}

    def test_values(self):
        frame = pd.DataFrame({"ann": [1, 2], "bob": [1.0, np.nan], "cy": ["2", None]})
        study = Annotations.from_wide(frame, kind="value")
        assert triples(study) == {(0, "ann", 1), (1, "ann", 2), (0, "bob", 1), (0, "cy", 2)}

    def test_reading_options(self):
        frame = pd.DataFrame({"ann": ["A;b", "b"]}, index=["d", "d"])
        study = Annotations.from_wide(
            frame, label_sep=";", case="lower", codebook=["a", "b"], duplicates="union"
        )
        assert triples(study) == {("d", "ann", frozenset("ab"))}

    def test_same_as_long(self):
        stacked = self.FRAME.melt(var_name="rater", value_name="labels", ignore_index=False)
        long = Annotations.from_long(stacked.reset_index(names="unit"), blank="empty")
        assert triples(long) == triples(Annotations.from_wide(self.FRAME, blank="empty"))


class TestOtherLayouts:
    def test_triples(self):
        study = Annotations.from_triples(
            [("ann", 1, "A|b"), ("bob", 1, {"a"}), ("ann", 2, None), ("ann", 1, "b")],
            label_sep="|",
            case="lower",
            codebook=["a", "b"],
            duplicates="first",
        )
        assert triples(study) == {(1, "ann", frozenset("ab")), (1, "bob", frozenset("a"))}

    def test_triples_of_values(self):
        study = Annotations.from_triples([("ann", 1, "3"), ("bob", 1, 4)], kind="value")
        assert triples(study) == {(1, "ann", 3), (1, "bob", 4)}

    def test_triples_blank(self):
        rows = [("ann", 1, ""), ("bob", 1, "a")]
        with pytest.warns(BlankLabelsWarning):
            assert Annotations.from_triples(rows).n_missing == 1
        assert triples(Annotations.from_triples(rows, blank="empty")) == {
            (1, "ann", EMPTY),
            (1, "bob", frozenset("a")),
        }

    def test_cube(self):
        study = Annotations.from_indicators(
            [[[1, 0], [0, 0]], [[1, 1], [0, 0]]],
            labels=["a", "b"],
            units=["u", "v"],
            raters=["x", "y"],
            mask=[[False, False], [False, True]],
        )
        assert triples(study) == {
            ("u", "x", frozenset("a")),
            ("v", "x", EMPTY),
            ("u", "y", frozenset("ab")),
        }
        assert study.n_missing == 1

    def test_cube_of_hostile_labels(self):
        names = ["a, b", '"', "[x]", "=cmd()"]
        study = Annotations.from_indicators(np.ones((1, 1, 4)), labels=names)
        assert study.values == (frozenset(names),)

    @pytest.mark.parametrize("option", ["labels", "units", "raters", "mask"])
    def test_frame_with_names(self, option):
        frame = Annotations.from_triples([("x", 1, "a")]).to_indicators()
        with pytest.raises(OptionError, match="a frame names its labels, units and raters"):
            Annotations.from_indicators(frame, **{option: [0]})

    def test_contingency(self):
        table = pd.DataFrame([[3, 1, 0], [0, 2, 4]], index=["a", "a, b"], columns=["a", "b,a", ""])
        study = Annotations.from_contingency(table, raters=("ann", "bob"))
        wide = study.to_wide()
        assert wide.columns.tolist() == ["ann", "bob"]
        pairs = pd.Series(list(zip(wide["ann"], wide["bob"], strict=True))).value_counts()
        a, ab = frozenset("a"), frozenset("ab")
        assert pairs.to_dict() == {(a, a): 3, (a, ab): 1, (ab, ab): 2, (ab, EMPTY): 4}

    def test_contingency_of_sets(self):
        sets = pd.Index([frozenset("a"), EMPTY])
        study = Annotations.from_contingency(pd.DataFrame(np.eye(2), index=sets, columns=sets))
        assert set(study.values) == {frozenset("a"), EMPTY}
        table = pd.DataFrame([[1]], index=["A;b"], columns=["a"])
        study = Annotations.from_contingency(table, label_sep=";", case="lower")
        assert set(study.values) == {frozenset("ab"), frozenset("a")}

    @pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
    def test_contingency_in_another_order(self, order):
        # The 200 cases of Cohen (1960), table 1: po = (88 + 40 + 12) / 200 = 0.70 and
        # pe = (120 * 100 + 60 * 60 + 20 * 40) / 200**2 = 0.41, so kappa = 0.29 / 0.59.
        names = ["A", "B", "C"]
        table = pd.DataFrame([[88, 14, 18], [10, 40, 10], [2, 6, 12]], index=names, columns=names)
        shuffled = table.iloc[order, order[::-1]]
        study = Annotations.from_contingency(shuffled, kind="value")
        kappa = sa.cohen_kappa(study)
        assert kappa.observed_agreement == pytest.approx(0.70, abs=1e-15)
        assert kappa.expected_agreement == pytest.approx(0.41, abs=1e-15)
        assert kappa.estimate == pytest.approx(29 / 59, abs=1e-14)

    def test_contingency_of_values(self):
        table = pd.DataFrame([[2, 1]], index=["1"], columns=["1", "10"])
        assert Annotations.from_contingency(table, kind="value").values == (1, 10)
        with pytest.raises(DataError, match="the cell is blank"):
            Annotations.from_contingency(table.set_axis(["1", ""], axis=1), kind="value")


class TestOut:
    STUDY = Annotations.from_triples(
        [("x", 1, "b, a"), ("y", 1, []), ("x", 2, [10]), ("z", 2, None), ("y", 3, "c")]
    )

    def test_long(self):
        frame = self.STUDY.to_long()
        assert frame.to_dict("list") == {
            "unit": [1, 1, 2, 3],
            "rater": ["x", "y", "x", "y"],
            "labels": [frozenset("ab"), EMPTY, frozenset([10]), frozenset("c")],
        }

    def test_long_of_values(self):
        study = Annotations.from_triples([("x", 1, "2"), ("y", 1, 0.5)], kind="value")
        assert study.to_long()["value"].dtype == float
        assert study.to_long()["value"].tolist() == [2, 0.5]

    def test_wide(self):
        frame = self.STUDY.to_wide()
        assert (frame.index.name, frame.columns.name) == ("unit", "rater")
        assert frame.to_dict() == {
            "x": {1: frozenset("ab"), 2: frozenset([10]), 3: None},
            "y": {1: EMPTY, 2: None, 3: frozenset("c")},
        }

    def test_indicators(self):
        frame = self.STUDY.to_indicators()
        assert frame.columns.tolist() == [10, "a", "b", "c"]
        assert frame.index.names == ["unit", "rater"]
        assert frame.index.tolist() == [(1, "x"), (1, "y"), (2, "x"), (3, "y")]
        assert frame.to_numpy().tolist() == [
            [False, True, True, False],
            [False, False, False, False],
            [True, False, False, False],
            [False, False, False, True],
        ]
        assert set(map(str, frame.dtypes)) == {"bool"}

    def test_indicators_of_values(self):
        study = Annotations.from_triples([("x", 1, 2)], kind="value")
        with pytest.raises(DataError, match="only label sets have indicators"):
            study.to_indicators()

    def test_dense_tables_have_a_limit(self):
        codes = np.arange(10_001)
        names = codes.astype(object)
        study = Annotations(
            kind="labels",
            units=names,
            raters=names[:10_000],
            values=(frozenset(range(10_000)),),
            unit_codes=codes,
            rater_codes=codes % 10_000,
            value_codes=0 * codes,
        )
        for to_dense in (study.to_wide, study.to_indicators):
            with pytest.raises(DataError) as caught:
                to_dense()
            assert str(caught.value) == (
                "a table of 10,001 x 10,000 cells is over 100,000,000; use to_long()."
            )

    def test_summary(self):
        assert self.STUDY.summary().to_dict() == {
            "n_units": 3,
            "n_pairable_units": 1,
            "n_raters": 2,
            "n_ratings": 4,
            "n_missing": 1,
            "n_values": 4,
            "ratings_per_unit": 4 / 3,
            "share_unanimous": 0.0,
            "n_labels": 4,
            "labels_per_rating": 1.0,
            "share_empty": 0.25,
        }
        scalars = Annotations.from_triples([("x", 1, 2), ("y", 1, 2)], kind="value").summary()
        assert "share_empty" not in scalars
        assert scalars["n_pairable_units"] == 1
        assert scalars["share_unanimous"] == 1.0

    def test_only_empty_sets(self):
        study = Annotations.from_triples([("x", 1, set()), ("y", 1, [])])
        assert study.labels == ()
        assert study.to_indicators().shape == (2, 0)
        assert triples(Annotations.from_indicators(study.to_indicators())) == triples(study)


class TestRoundTrips:
    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore:.* read as .* no answer in common")
    @given(STUDIES)
    def test_long_wide_indicators(self, rows):
        study = Annotations.from_triples(rows)
        assert triples(study) == {(unit, rater, answer) for rater, unit, answer in rows}
        assert triples(Annotations.from_long(study.to_long())) == triples(study)
        assert triples(Annotations.from_indicators(study.to_indicators())) == triples(study)
        wide = study.to_wide()
        raters = wide.columns.tolist()
        assert triples(Annotations.from_wide(wide, raters=raters)) == triples(study)

    @pytest.mark.filterwarnings("ignore::setagree.errors.SeparatorWarning")
    @given(STUDIES, st.sampled_from(",;|"))
    def test_text(self, rows, label_sep):
        study = Annotations.from_triples(rows)
        text = [(r, u, sa.format_labels(answer, label_sep=label_sep)) for r, u, answer in rows]
        read = Annotations.from_triples(text, label_sep=label_sep, blank="empty")
        as_text = {(u, r, frozenset(map(str, answer))) for u, r, answer in triples(study)}
        assert triples(read) == as_text

    @pytest.mark.filterwarnings("ignore::setagree.errors.SeparatorWarning")
    def test_csv(self, tmp_path):
        study = Annotations.from_triples(
            [("x", 1, ["a, b", "c"]), ("y", 1, set()), ("x", 2, ["[d]"]), ("y", 2, ['"e"', "'"])]
        )
        study.to_long().to_csv(tmp_path / "study.csv", index=False)
        again = Annotations.from_long(pd.read_csv(tmp_path / "study.csv"))
        assert triples(again) == triples(study)

    @pytest.mark.slow
    @given(
        st.lists(
            st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=2, max_size=4
        ).filter(lambda rows: any(map(any, rows)))
    )
    def test_contingency(self, counts):
        names = ["a", "a, b", "", "c"][: len(counts)]
        table = pd.DataFrame(counts, index=names, columns=["", "c", "a,b"])
        wide = Annotations.from_contingency(table).to_wide()
        texts = wide.map(sa.format_labels)
        again = pd.crosstab(texts["rater 1"], texts["rater 2"])
        expected = table.rename(columns={"a,b": "a, b"})
        for row in names:
            for column in expected.columns:
                found = again.get(column, pd.Series(dtype=int)).get(row, 0)
                assert found == expected.loc[row, column]

    @given(STUDIES, st.randoms(use_true_random=False))
    def test_order_of_rows(self, rows, random):
        shuffled = rows.copy()
        random.shuffle(shuffled)
        one, other = Annotations.from_triples(rows), Annotations.from_triples(shuffled)
        assert triples(one) == triples(other)
        assert one.labels == other.labels
        assert one.summary().to_dict() == pytest.approx(other.summary().to_dict(), nan_ok=True)


class TestInputIsNeverChanged:
    def test_long(self):
        frame = WALKTHROUGH.assign(tags=[["b", "a"], {"a"}, " a,", "", "B", None, ("a",), "a"])
        before = copy.deepcopy(frame)
        Annotations.from_long(
            frame, unit="doc", rater="who", labels="tags", blank="empty", case="lower"
        )
        assert frames_equal(frame, before)

    def test_long_with_repeats(self):
        frame = pd.concat([WALKTHROUGH, WALKTHROUGH])
        before = copy.deepcopy(frame)
        Annotations.from_long(
            frame, unit="doc", rater="who", labels="tags", blank="empty", duplicates="union"
        )
        assert frames_equal(frame, before)

    @pytest.mark.parametrize("kind", ["labels", "value"])
    def test_wide(self, kind):
        frame = pd.DataFrame({"x": [" a", "b"], "y": [None, "b "]}, index=["u", "v"])
        before = copy.deepcopy(frame)
        Annotations.from_wide(frame, kind=kind)
        assert frames_equal(frame, before)

    def test_others(self):
        rows = [("x", 1, ["b", " a"]), ("y", 1, {"a"})]
        table = pd.DataFrame([[1, 2]], index=["a"], columns=["b", "a"])
        flags = Annotations.from_triples(rows).to_indicators()
        before = copy.deepcopy((rows, table, flags))
        Annotations.from_triples(rows)
        Annotations.from_contingency(table)
        Annotations.from_indicators(flags)
        assert rows == before[0]
        assert frames_equal(table, before[1])
        assert frames_equal(flags, before[2])

    def test_outputs_are_the_callers(self):
        study = Annotations.from_triples([("x", 1, "a"), ("y", 1, "b")])
        before = triples(study)
        long, wide, flags = study.to_long(), study.to_wide(), study.to_indicators()
        long.iloc[0, 0], wide.iloc[0, 0], flags.iloc[0, 0] = 9, None, False
        assert triples(study) == before


def test_no_rows_no_columns():
    nothing = "the table has 0 rows; there is nothing to score."
    assert sentence(DataError, sa.Annotations.from_long, long_table()) == nothing
    assert sentence(DataError, sa.Annotations.from_triples, []) == nothing
    assert sentence(DataError, sa.Annotations.from_indicators, np.zeros((2, 0, 3))) == nothing
    assert "the table has no columns" in sentence(
        DataError, sa.Annotations.from_long, pd.DataFrame()
    )
    assert "0 raters" in sentence(DataError, sa.Annotations.from_wide, pd.DataFrame(index=[1]))
    of_counts = sa.Annotations.from_contingency
    assert "no count above 0" in sentence(DataError, of_counts, pd.DataFrame())
    assert "has no counts" in sentence(DataError, sa.Tally.from_counts, pd.DataFrame())
    assert sentence(DataError, sa.agreement, long_table()) == nothing
