"""Warnings about columns that look odd: each says what was seen, and changes nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from asking import long_table, the_warning
from hypothesis import given
from hypothesis import strategies as st

import setagree as sa
from setagree.errors import (
    BlankLabelsWarning,
    LabelError,
    MissingMarkerWarning,
    MixedScaleWarning,
    SeparatorWarning,
    SimilarLabelsWarning,
    SwappedColumnsWarning,
    spelling,
)
from setagree.study import codes
from setagree.study.answer_warnings import warn_similar
from setagree.study.labels import LabelSyntax


def study(labels, *, units=None, raters=None, **options):
    """Return a study of one unit for each two answers, by two raters."""
    n = len(labels)
    table = pd.DataFrame(
        {
            "unit": [f"u{k // 2}" for k in range(n)] if units is None else units,
            "rater": [("ann", "bob")[k % 2] for k in range(n)] if raters is None else raters,
            "labels": labels,
        }
    )
    return sa.Annotations.from_long(table, **options)


ODD_PARTS = [
    *(
        "a",
        "A",
        "b1",
        "7",
        "07",
        "7.0",
        "na",
        "N/A",
        "-",
        "a  b",
        "a b",
        "a\tb",
        "\u00e9",
        "(a, b)",
    ),
    *("[a]", "", " ", "a|b", "a/b", "b/a", "a;b", "a-b", '"a, b"', "1,5", "set()"),
    *("a\nb", "?"),
]


@given(
    st.lists(st.lists(st.sampled_from(ODD_PARTS), max_size=3), min_size=1, max_size=9),
    st.sampled_from([",", ";", "|", "/", "n", ", "]),
)
def test_the_test_for_odd_text_hides_no_doubt(parts, label_sep):
    column = pd.Series([label_sep.join(cell) for cell in parts], dtype=object)
    syntax = LabelSyntax(label_sep=label_sep)

    def warned():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                codes.code_label_sets(column, syntax, place=str)
            except LabelError:
                return None
        return [str(one.message) for one in caught]

    with pytest.MonkeyPatch.context() as patch:
        usual = warned()
        patch.setattr(codes, "_is_plain", lambda *_: False)
        assert warned() == usual


@given(
    st.lists(
        st.sampled_from([*filter(str.strip, ODD_PARTS), "", 7, 1, "1", "1.0", "B1"]), unique=True
    )
)
def test_the_test_for_like_names_hides_none(names):
    if not codes.may_look_alike(names):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warn_similar("Units", names, have_case=False)
            warn_similar("Labels", names)


def test_second_separator_in_some_cells():
    cells = ["a, b", "a", "a|b", "b|c", "c|a", "b, c"]
    with pytest.warns(
        SeparatorWarning, match=r"there is '\|' in 3 distinct cells of 6, such as 'a\|b'"
    ):
        seen = study(cells)
    assert frozenset({"a|b"}) in seen.values


@pytest.mark.parametrize("cells", [["a, b", "a|x", "c", "d"], ["a|b, c", "a|b, d"]])
def test_second_separator_in_few_cells_is_a_label(cells):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study(cells[:2])
        study(["a, b|c", "c|d", "e, f|g", "h, i|j"], label_sep="|")


def test_missing_markers_are_labels_with_a_warning():
    match = r"3 cells that may mean .*'n/a', 'NA'; .* na_values=\['n/a', 'NA'\]"
    with pytest.warns(MissingMarkerWarning, match=match):
        seen = study(["a", "n/a", "NA", "b", "n/a", "a"])
    assert frozenset({"NA"}) in seen.values


@pytest.mark.parametrize("label", ["None", "No label", "none of the above", "not applicable"])
def test_what_may_mean_no_label_is_a_label_with_a_warning(label):
    cells = ["a", label, "a, b", label]
    match = rf"^2 cells with '{label}' .* use empty=\['{label}'\]; .* na_values=\['{label}'\]"
    with pytest.warns(MissingMarkerWarning, match=match) as caught:
        seen = study(cells)
    assert len(caught) == 1
    assert frozenset({label}) in seen.values
    assert study(cells, na_values=[label]).n_missing == 2


def test_signs_in_place_of_the_separator():
    cells = ["a, b", "a", "b|c", "c;a", "b, c", "c"]
    there = "there is ';' or '|' in 2 distinct cells of 6, such as"
    with pytest.warns(SeparatorWarning) as caught, spelling({"label_sep": "--label-sep"}):
        study(cells)
    (said,) = [str(one.message) for one in caught if "In addition to" in str(one.message)]
    assert there in said
    assert said.endswith(
        "If it separates labels too, use --label-sep ',' --label-sep ';' --label-sep '|'."
    )


@pytest.mark.parametrize(
    ("cells", "cell"),
    [
        (["joy, fear", "joy; fear", "joy", *["fear"] * 9], "joy; fear"),
        (["joy", "fear", "joy|fear", *"abcdefghij"], r"joy\|fear"),
    ],
)
def test_a_second_separator_between_known_labels(cells, cell):
    with pytest.warns(SeparatorWarning, match=rf"in 1 distinct cell of \d+, such as '{cell}'"):
        study(cells)


def test_no_warning_prints_a_tuple():
    with pytest.warns(SimilarLabelsWarning) as caught:
        warn_similar("Raters", ["Ann", "ann", "bob"], have_case=False)
    assert str(caught[0].message) == (
        "Raters that look alike are kept apart: 'Ann' and 'ann'. If they are one, spell them in "
        "one way."
    )


@pytest.mark.parametrize("blank", ["empty", "error"])
def test_blank_policy_that_meets_no_blank(blank):
    with pytest.warns(
        BlankLabelsWarning, match=rf"^2 nulls .* read as missing, because blank='{blank}'"
    ):
        seen = study([["a"], None, ["b"], np.nan], blank=blank)
    assert seen.n_missing == 2


def test_blank_policy_beside_missing_cells():
    with pytest.warns(BlankLabelsWarning, match="^1 null .* and 1 blank text .* as missing, the"):
        assert study(["a", None, "b", ""], blank="empty").n_ratings == 3


def test_numbers_as_labels():
    with pytest.warns(MixedScaleWarning, match="every answer is one number, such as '4', '5', '3'"):
        study(["4", "5", "3", "4"])


def test_numbers_among_sets():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study(["1, 2", "2", "3", "1"])


def test_space_around_names_is_taken_off():
    with pytest.warns(SimilarLabelsWarning, match="1 rater is spelled .*'ann' and 'ann '"):
        seen = study(["a"] * 4, raters=["ann", "bob", "ann ", "bob"])
    assert seen.raters.tolist() == ["ann", "bob"]


def test_accents_in_names_are_composed():
    with pytest.warns(SimilarLabelsWarning, match="read as one"):
        seen = study(["a"] * 4, raters=["Chlo\u00e9", "bob", "Chloe\u0301", "bob"])
    assert seen.n_raters == 2


def test_space_that_hides_a_repeat():
    with (
        pytest.warns(SimilarLabelsWarning),
        pytest.raises(sa.SetagreeError, match="annotated more than once"),
    ):
        study(["a", "b"], units=["u1", "u1"], raters=["ann", "ann "])


def test_names_that_are_no_raters():
    table = pd.DataFrame({"ann": ["a", "b"], "bob": ["a", "b"], "Notes": ["", "hard one"]})
    with pytest.raises(sa.SetagreeError, match=r"'Notes' seems not to be.*\['ann', 'bob'\]"):
        sa.Annotations.from_wide(table)
    assert sa.Annotations.from_wide(table, raters=["ann", "bob"]).n_raters == 2


def test_case_accents_and_types_of_labels():
    rows = [(1, "x", "Joy"), (1, "y", "joy"), (2, "x", [1]), (2, "y", ["1"])]
    accents = [(3, "x", "\u00e9"), (3, "y", "e\u0301")]
    table = long_table(*rows, *accents)
    study, words = the_warning(SimilarLabelsWarning, sa.Annotations.from_long, table)
    assert set(study.labels) == {"Joy", "joy", 1, "1", "\u00e9"}
    assert words == (
        "Labels that look alike are kept apart: 1 and '1', 'Joy' and 'joy'. If they are one, use "
        "case='lower' if only the case differs, otherwise spell them in one way."
    )
    assert sa.Annotations.from_long(long_table(*rows[:2]), case="lower").labels == ("joy",)


def test_raters_and_units_swapped():
    table = long_table(*((unit, rater, "ab"[unit]) for unit in range(2) for rater in range(10)))
    table = table.assign(rater=table["rater"] + 10 * table["unit"])
    study, words = the_warning(SwappedColumnsWarning, sa.Annotations.from_long, table)
    assert words == "20 raters and only 2 units: are the unit and the rater column exchanged?"
    assert sa.krippendorff_alpha(study).estimate == 1


def test_a_reliability_matrix():
    matrix = pd.DataFrame(np.random.default_rng(1).integers(1, 4, (4, 12)))
    words = r"12 raters and only 4 units: rows are read as units .* pass table\.T\.$"
    for table in (matrix, matrix.set_axis([*"abcd"])):
        with pytest.warns(SwappedColumnsWarning, match=words):
            sa.Annotations.from_wide(table, kind="number")
    named = matrix.set_axis([*"abcdefghijkl"], axis="columns")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sa.Annotations.from_wide(matrix.T, kind="number").n_raters == 4
        assert sa.Annotations.from_wide(named, kind="number").n_raters == 12


def test_a_separator_with_spaces_misses_labels_without():
    match = (
        r"1 distinct cell with '\|' that is not ' \| ', such as 'joy\|fear', .* use label_sep='\|'"
    )
    with pytest.warns(SeparatorWarning, match=match):
        study(["joy | fear", "joy|fear", "joy"], label_sep=" | ")


def test_what_missing_names_is_not_doubted_in_a_file(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("unit,rater,labels\n1,ann,joy\n1,ben,n/a\n2,ann,none\n2,ben,fear\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = sa.read(path, na_values=["n/a", "none"], blank="missing")
    assert found.n_missing == 2
