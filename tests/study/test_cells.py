"""Cells and columns that look like answers and are none, and answers that hide another notation."""

import warnings

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import (
    DataError,
    LabelError,
    MissingMarkerWarning,
    MixedScaleWarning,
    SeparatorWarning,
    SetagreeWarning,
    SimilarLabelsWarning,
)


def long_study(labels, **options):
    """Return the study of two raters on as many units as there are pairs of answers."""
    n = len(labels)
    table = pd.DataFrame({"unit": [k // 2 for k in range(n)], "rater": ["a", "b"] * (n // 2)})
    return sa.Annotations.from_long(table.assign(labels=labels), **options)


def values(*answers):
    rows = [("ab"[k % 2], k // 2, answer) for k, answer in enumerate(answers)]
    return sa.Annotations.from_triples(rows, kind="value")


@pytest.fixture
def silent():
    """Make every warning of the test an error, also where it is caught by a filter elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


class TestLabelText:
    @pytest.mark.parametrize("cell", ["{joy,fear}", "(joy, fear)", "{joy, fear}"])
    def test_lists_of_other_languages(self, cell):
        with pytest.raises(LabelError, match="looks like a list; remove the brackets"):
            sa.parse_labels(cell)

    @pytest.mark.parametrize("cell", ["(1), (2)", "(joy) fear", "{joy}", "joy (much), fear"])
    def test_brackets_inside_labels(self, cell, silent):
        labels = sa.parse_labels(cell)
        assert labels == {part.strip() for part in cell.split(",")}
        assert long_study([cell, "x"]).n_ratings == 2

    def test_separator_in_brackets(self):
        with pytest.warns(SeparatorWarning, match=r"2 distinct cells with ',' in brackets, such"):
            study = long_study(["anger (mild, short), joy", "anger (mild, short)", "joy", "joy"])
        assert frozenset({"anger (mild", "short)"}) in study.values

    @pytest.mark.parametrize(
        "cell",
        [
            *('"anger (mild, short)", joy', ":(, joy, :)", "a (b), c (d)"),
            *("frozenset({'a', 'b'})", "set(['a', 'b'])", "['a', 'b']", "{'a', 'b'}"),
        ],
    )
    def test_brackets_that_are_no_doubt(self, cell, silent):
        assert long_study([cell, "joy"]).n_ratings == 2

    @pytest.mark.parametrize(
        "pair",
        [
            ("1", "1.0"),
            ("01", "1"),
            ("joy", "joy\u200b"),
            ("very sad", "very  sad"),
            ("very sad", "very\xa0sad"),
            ("\u2764", "\u2764\ufe0f"),
            ("joy", "\uff4a\uff4f\uff59"),
        ],
    )
    def test_labels_that_look_alike(self, pair):
        with pytest.warns(SimilarLabelsWarning, match="Labels that look alike are kept apart"):
            study = long_study([*pair, "x", "x"])
        assert study.n_values == 3

    @pytest.mark.parametrize("pair", [("1", "1.0"), ("a", "a\ufeff"), ("07", "7")])
    def test_units_that_look_alike(self, pair):
        rows = [("a", pair[0], "x"), ("b", pair[1], "x"), ("a", "u", "y"), ("b", "u", "y")]
        with pytest.warns(SimilarLabelsWarning, match="Units that look alike are kept apart"):
            assert sa.Annotations.from_triples(rows).n_units == 3

    def test_names_that_do_not_look_alike(self, silent):
        rows = [(who, unit, "x") for who in "ab" for unit in ("01", "02", "1.5", "é", "e", "1.0.0")]
        assert sa.Annotations.from_triples(rows).n_units == 6

    @pytest.mark.parametrize("mark", ["/", "+", "&", " ", "#"])
    def test_signs_that_may_separate(self, mark):
        cells = [f"joy{mark}fear", f"fear{mark}joy", "joy", "fear"]
        with pytest.warns(SeparatorWarning, match="differ only in order; did you mean label_sep='"):
            assert long_study(cells).n_values == 4
        assert long_study(cells, label_sep=mark).n_values == 3

    def test_signs_inside_labels(self, silent):
        for cells in (["and/or", "x/y"], ["a a", "a"], ["a b", "b a, c"], ["R&D", "D"]):
            assert long_study(cells).n_ratings == 2

    @pytest.mark.parametrize("mark", ["\uff0c", "\u3001", "\u060c"])
    def test_commas_of_other_scripts(self, mark):
        with pytest.warns(SeparatorWarning, match="did you mean label_sep="):
            long_study([f"a{mark}b", "a"])


class TestCells:
    @pytest.mark.parametrize("cell", [pd.Series(["x"]), pd.Index(["x"]), {"x": 1}.keys()])
    def test_cells_that_cannot_be_hashed(self, cell):
        with pytest.raises(
            LabelError, match=f"(?s)Unit 0, rater 'a': .* {type(cell).__name__}, not"
        ):
            long_study([cell, cell])

    def test_rounded_identifiers(self):
        """2**53 and 2**53 + 1 are one float: such identifiers may have met already."""
        table = pd.DataFrame(
            {"unit": [2.0**53, 2.0**53], "rater": ["a", "b"], "labels": ["x", "y"]}
        )
        with pytest.raises(DataError, match=r"units are floats of 2\*\*53 and more"):
            sa.Annotations.from_long(table)
        with pytest.raises(DataError, match="raters are floats"):
            sa.Annotations.from_long(table, unit="rater", rater="unit")
        whole = sa.Annotations.from_long(table.astype({"unit": np.int64}))
        assert whole.units.tolist() == [2**53]


class TestSingleValues:
    @pytest.mark.parametrize("odd", ["1,500", "1 500", "50%", "4/5", "$5", "1.500,5", "−1"])
    def test_numbers_in_another_spelling(self, odd):
        with pytest.warns(MixedScaleWarning, match="are not numbers as they are spelled"):
            assert values(odd, odd).kind == "category"

    @pytest.mark.parametrize(("other", "number"), [("3", 3), ("-2,25", -2.25), ("2,125", 2.125)])
    def test_decimal_commas(self, other, number):
        sentence = r"'1,5'.* were read as numbers with a decimal comma; if they are not, use kind="
        with pytest.warns(MixedScaleWarning, match=sentence):
            study = values("1,5", other)
        assert (study.kind, {*study.values}) == ("number", {1.5, number})
        rows = [("a", 1, "1,5"), ("b", 1, "3")]
        assert sa.Annotations.from_triples(rows, kind="category").kind == "category"

    @pytest.mark.parametrize("name", ["1.2.3", "2026-01-02", "12:30", "a1", "1st", ""])
    def test_categories_that_are_no_numbers(self, name, silent):
        assert values(name, "x").kind == "category"

    def test_markers_among_categories(self):
        with pytest.warns(MissingMarkerWarning, match=r"2 cells .* read as categories: 'NA'"):
            study = values("a", "NA", "NA", "b")
        assert "NA" in study.values
        rows = [("a", 1, "a"), ("b", 1, "NA"), ("a", 2, "b"), ("b", 2, "b")]
        assert sa.Annotations.from_triples(rows, kind="value", na_values=["NA"]).n_missing == 1


class TestWideTables:
    TABLE = pd.DataFrame(
        {"unit": list("abcd"), "ann": ["x", "y", "x", "y"], "bob": ["x", "x", "x", "y"]}
    )

    def test_column_beside_the_raters(self):
        table = self.TABLE.assign(source=["web", "print", "web", "web"])
        with pytest.warns(SetagreeWarning, match=r"'source' is read .* raters=\['ann', 'bob'\]"):
            assert sa.Annotations.from_wide(table, unit="unit").n_raters == 3
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            named = sa.Annotations.from_wide(table, unit="unit", raters=["ann", "bob"])
        assert named.n_raters == 2

    def test_raters_without_an_answer_in_common(self, silent):
        apart = self.TABLE.assign(bob=["p", "q", "p", "q"])
        assert sa.Annotations.from_wide(apart, unit="unit").n_raters == 2
        few = self.TABLE.assign(cy=["z", None, None, None])
        assert sa.Annotations.from_wide(few, unit="unit").n_raters == 3

    def test_numbers_and_text_are_one_answer(self, silent):
        table = pd.DataFrame({"ann": [1, 2, 1, 2], "bob": [1.0, 2, 2, 2], "cy": list("1212")})
        assert sa.Annotations.from_wide(table, kind="value").n_values == 2

    @pytest.mark.parametrize("name", ["gold", "Majority vote", "ground_truth", "consensus"])
    def test_column_made_of_the_others(self, name):
        table = self.TABLE.assign(**{name: self.TABLE["ann"]})
        with pytest.warns(
            SetagreeWarning, match=r"derived from the others' .* raters=\['ann', 'bob'\]"
        ):
            assert sa.Annotations.from_wide(table, unit="unit").n_raters == 3
        pair = table.drop(columns="bob")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert sa.Annotations.from_wide(pair, unit="unit").n_raters == 2

    def test_row_of_totals(self):
        rows = pd.DataFrame({"Item no.": ["u1", "u2", "Grand total"], "ann": [3, 4, 7], "bob": 3})
        with pytest.warns(
            SetagreeWarning, match="unit 'Grand total' is at the end of the table"
        ) as caught:
            assert sa.read(rows, wide=True, kind="value").n_units == 3
        way = {"unit": "Item no.", "where": '`Item no.` != "Grand total"'}
        advice = "omit it with unit={unit!r} and where={where!r}.".format(**way)
        assert str(caught[0].message).endswith(advice)
        with pytest.warns(SetagreeWarning, match="drops 1 of 3 rows"):
            study = sa.read(rows, wide=True, kind="value", **way)
        assert study.units.tolist() == ["u1", "u2"]
