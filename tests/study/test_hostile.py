"""Studies made to get a wrong number: each was wrong once, or would be in a careless engine."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.coefficients.multivalued import label_ways

PAIRS = [(1, 2), (2, 2), (3, 3), (4, 5), (5, 5), (1, 1), (2, 4)]
TRIPLES = [(g, i, x) for i, pair in enumerate(PAIRS) for g, x in zip("xy", pair, strict=True)]


def numbers(triples):
    """Return a study of one number an answer."""
    return sa.Annotations.from_triples(triples, kind="value")


@pytest.mark.parametrize("outlier", [10**6, 10**8, 10**12])
@pytest.mark.parametrize("distance", ["interval", "linear", "ratio", "ordinal"])
def test_lone_outlier(outlier, distance):
    """A unit with one rating is no part of alpha, however far off its answer lies."""
    plain = sa.krippendorff_alpha(numbers(TRIPLES), distance=distance)
    beside = sa.krippendorff_alpha(numbers([*TRIPLES, ("x", 99, outlier)]), distance=distance)
    assert beside.estimate == pytest.approx(plain.estimate, abs=1e-12)
    assert beside.standard_error == pytest.approx(plain.standard_error, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-12, 1e-7, 1.0, 1e7])
def test_scale_of_a_callback(scale):
    """Alpha and its standard error do not depend on the unit in which a distance is measured."""
    alpha = sa.krippendorff_alpha(numbers(TRIPLES), distance=lambda x, y: scale * (x - y) ** 2)
    # 13/16 by hand: Do = 6/7, De = 32/7 (14 ratings, n'Dn = 832).
    assert alpha.estimate == pytest.approx(0.8125, abs=1e-12)
    plain = sa.krippendorff_alpha(numbers(TRIPLES), distance="interval")
    assert alpha.standard_error == pytest.approx(plain.standard_error, rel=1e-9)


def test_by_hand():
    """The hand calculation that the tests above rest on."""
    alpha = sa.krippendorff_alpha(numbers(TRIPLES), distance="interval")
    values = np.array([x for pair in PAIRS for x in pair], dtype=float)
    within = np.mean([(a - b) ** 2 for a, b in PAIRS])
    between = ((values[:, None] - values) ** 2).sum() / (len(values) * (len(values) - 1))
    assert alpha.estimate == pytest.approx(1 - within / between, abs=1e-14)


@pytest.mark.parametrize("distance", ["interval", "linear"])
def test_large_whole_numbers(distance):
    """Numbers beyond 2**53 differ exactly, so that a shift of all of them changes nothing."""
    values = [1000, 1300, 2100, 2100, 3300, 3500, 5200, 4900]
    cells = [(rater, unit) for unit in "abcd" for rater in "xy"]
    near, far = (
        numbers([(g, u, shift + v) for (g, u), v in zip(cells, values, strict=True)])
        for shift in (0, 17 * 10**17)
    )
    one, two = (sa.krippendorff_alpha(s, distance=distance).estimate for s in (near, far))
    assert one == pytest.approx(two, abs=1e-13)


def test_large_sets_beside_frequent_labels():
    """Terms of a high degree survive beside a few labels that are used very often."""
    counts = np.array([1e4] * 5 + [1.0] * 100 + [2.0] * 100)
    V, _ = label_ways(counts, 100)
    assert np.isfinite(V).all()
    for i in range(101):
        # 105 labels are used twice or more: as many as are to be shared.
        assert V[200 - 2 * i, i] > 0


def test_categories_are_read_like_the_labels():
    """categories= of a table uses its separator: with jaccard, pe = 5/9 and S = -1/2."""
    table = pd.DataFrame(
        {"unit": [1, 1, 2, 2, 3, 3], "rater": list("xyxyxy"), "labels": [*"aabaab"]}
    )
    found = sa.agreement(
        table,
        sep="|",
        categories=["a", "b", "a|b"],
        coefficient="brennan_prediger",
        distance="jaccard",
    )["brennan_prediger", "jaccard"]
    # Credits over {a}, {b}, {a, b}: 3 on the diagonal and 4 x 1/2 off it, so pe = 5/9; pa = 1/3.
    assert found.expected_agreement == pytest.approx(5 / 9, abs=1e-15)
    assert found.estimate == pytest.approx((1 / 3 - 5 / 9) / (4 / 9), abs=1e-14)


@pytest.mark.parametrize(("cell", "sep"), [("a; b; ", "; "), ("| a | b", " | "), ("a, b,", ", ")])
def test_separator_with_space_at_the_ends(cell, sep):
    """A separator at the end adds no label, also where its own space was trimmed."""
    assert sa.parse_labels(cell, sep=sep) == {"a", "b"}


def test_numbers_in_brackets_are_labels():
    """Only quotes make a printed tuple: "(1), (2)" are two labels."""
    assert sa.parse_labels("(1), (2)") == {"(1)", "(2)"}


def test_one_hot_rows_beside_an_empty_list():
    """Rows of 0 and 1 are refused as ambiguous also where one cell is an empty list."""
    cells = [[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], []]
    table = pd.DataFrame({"unit": [*"aabbcc"], "rater": [*"xyxyxy"], "labels": cells})
    with pytest.raises(sa.SetagreeError, match="zeros and ones"):
        sa.Annotations.from_long(table)


def test_unit_column_among_raters():
    """A column called unit is not scored as a rater, whatever its numbers look like."""
    table = pd.DataFrame({"unit": [1, 2, 3], "r1": [1, 2, 3], "r2": [1, 2, 2]})
    with pytest.raises(sa.SetagreeError, match="say unit='unit'"):
        sa.Annotations.from_wide(table, kind="value")


@pytest.mark.parametrize(
    ("extra", "words"),
    [({"unit": [1, 2]}, "sounds like the units"), ({"Total": [3, 3]}, "sum of the others")],
)
def test_odd_column_of_counts(extra, words):
    """A column of units or of sums is not counted as a value."""
    table = pd.DataFrame({"a": [2, 1], "b": [1, 2], **extra})
    with pytest.raises(sa.SetagreeError, match=words):
        sa.Tally.from_counts(table)


def test_repeated_rows_of_counts():
    """A table of counts that was appended to itself is refused."""
    table = pd.DataFrame({"a": [2, 1], "b": [1, 2]}, index=["u1", "u1"])
    with pytest.raises(sa.SetagreeError, match="several rows for the units 'u1'"):
        sa.Tally.from_counts(table)


def test_positions_are_no_values():
    """A contingency table without names is refused: its positions are not the values."""
    with pytest.raises(sa.SetagreeError, match="not labelled"):
        sa.Annotations.from_contingency(pd.DataFrame([[3, 1], [0, 2]]), kind="value")


def test_header_in_the_middle(tmp_path):
    """Two files in one repeat the header, which is no answer."""
    path = tmp_path / "both.csv"
    part = "unit,rater,labels\nu1,ann,a\nu1,bob,a\n"
    path.write_text(part + part)
    with pytest.raises(sa.SetagreeError, match="repeats its header in row 3"):
        sa.agreement(path)
