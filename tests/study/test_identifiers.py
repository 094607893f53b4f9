"""Identifiers of units and raters to integer codes."""

import math

import numpy as np
import pandas as pd
import pytest
from asking import alpha_of, long_table, sentence
from cells import MISSING_CELLS, objects
from hypothesis import given
from hypothesis import strategies as st

import setagree as sa
from setagree.errors import DataError, SimilarLabelsWarning
from setagree.study import codes as coding
from setagree.study.assembly import code_ids


class TestIds:
    def test_order_of_the_first_row(self):
        codes, ids = code_ids(pd.Series(["b", "a", "b"]), "unit")
        assert codes.tolist() == [0, 1, 0]
        assert codes.dtype == np.int32
        assert ids.tolist() == ["b", "a"]
        assert ids.dtype == object

    def test_mixed_types(self):
        date = pd.Timestamp("2020-01-01")
        codes, ids = code_ids(objects(1, "u1", "1", (1, 2), date, 1), "unit")
        assert codes.tolist() == [0, 1, 2, 3, 4, 0]
        assert ids.tolist() == [1, "u1", "1", (1, 2), date]

    @pytest.mark.parametrize(
        "column",
        [
            pd.Series([7, 8, 7]),
            pd.Series([7.0, 8.0, 7.0]),
            pd.Series([7, 8, 7], dtype="Int64"),
            pd.Series(["x", "y", "x"], dtype="category"),
            pd.Series(["x", "y", "x"], dtype="string"),
            pd.Series([True, False, True]),
            pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-01"])),
        ],
        ids=lambda column: str(column.dtype),
    )
    def test_dtypes(self, column):
        codes, ids = code_ids(column, "unit")
        assert codes.tolist() == [0, 1, 0]
        assert ids.tolist() == column.drop_duplicates().tolist()

    @pytest.mark.parametrize("missing", [*MISSING_CELLS, "", " ", "\t\n"], ids=repr)
    def test_missing_and_blank(self, missing):
        with pytest.raises(DataError) as caught:
            code_ids(objects("x", missing, "y", missing), "rater")
        assert str(caught.value) == (
            "2 rows without a rater (first: rows 2, 4, counted from 1 below the header); name the "
            "rater or drop the rows, as setagree.read with where='`labels` != \"-\"' does, because "
            "blank cells never match."
        )

    @pytest.mark.parametrize("other", ["z", 7, (1, 2)], ids=["text", "number", "tuple"])
    def test_space_and_accents(self, other):
        """Space around a name and the composition of accents do not make another unit.

        Only where two spellings meet is there something to warn about.
        """
        codes, ids = code_ids(objects(" x", "e\u0301", other), "unit")
        assert ids.tolist() == ["x", "\u00e9", other]
        with pytest.warns(SimilarLabelsWarning) as caught:
            codes, ids = code_ids(objects("x ", other, "x", "\u00e9", "e\u0301"), "unit")
        assert codes.tolist() == [0, 1, 0, 2, 2]
        assert ids.tolist() == ["x", other, "\u00e9"]
        assert len(caught) == 1
        assert str(caught[0].message) == (
            "2 units are spelled in two ways and read as one: 'x ' and 'x', '\u00e9' and 'e\u0301'."
        )

    def test_one_missing(self):
        with pytest.raises(DataError, match=r"1 row without a unit \(first: row 2, counted"):
            code_ids(pd.Series([1.0, np.nan]), "unit")

    def test_lists(self):
        with pytest.raises(
            DataError, match=r"a unit is named by text or a number .*'list'.*df.explode"
        ):
            code_ids(objects(["x"], ["y"]), "unit")

    @pytest.mark.parametrize("dtype", ["str", "string[pyarrow]", "string[python]", object])
    @given(names=st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=6), data=st.data())
    def test_runs(self, dtype, names, data):
        pytest.importorskip("pyarrow", reason="runs are looked for in Arrow's text alone")
        times = data.draw(st.lists(st.integers(1, 5), min_size=len(names), max_size=len(names)))
        missing = data.draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names)))
        cells = [None if m else n for n, m in zip(names, missing, strict=True)]
        column = pd.Series(np.repeat(objects(*cells), times), dtype=dtype)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(coding, "_MANY", 2)
            codes, ids = coding.factorise(column)
        expected, distinct = pd.factorize(column)
        assert codes.tolist() == expected.tolist()
        assert list(ids) == list(distinct)


def test_mixed_type_ids():
    rows = [
        (unit, rater, "ab"[k > 0]) for k, unit in enumerate([1, "1", "u1"]) for rater in (7, "x")
    ]
    with pytest.warns(sa.SetagreeWarning, match="Units that look alike are kept apart"):
        alpha = alpha_of(*rows)
    assert (alpha.n_units, alpha.n_raters, alpha.estimate) == (3, 2, 1)


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, "", " "], ids=repr)
@pytest.mark.parametrize("role", ["unit", "rater"])
def test_ids_that_are_missing(role, missing):
    table = long_table(("u", "x", "a"), ("u", "y", "a"), ("v", "x", "b"), ("v", "y", "b"))
    table.loc[[1, 3], role] = missing
    words = sentence(DataError, sa.Annotations.from_long, table)
    assert words == (
        f"2 rows without a {role} (first: rows 2, 4, counted from 1 below the header); name the "
        f"{role} or drop the rows, as setagree.read with where='`{role}` != \"-\"' does, because "
        "blank cells never match."
    )
    with pytest.warns(sa.SetagreeWarning, match=f"2 of them have nothing in column '{role}'"):
        kept = sa.read(table, where=f'`{role}` != "-"')
    assert kept.n_ratings == 2
