"""Krippendorff's alpha: worked out by hand, and its two forms against each other."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import reference
from small_studies import annotations, numbers, random_rows, sets_of, text

import setagree as sa
from setagree.distances import get_distance
from setagree.scoring.coefficients import get_coefficient
from setagree.scoring.scorer import Scorer


def alpha(rows, distance):
    return Scorer(annotations(rows)).score(
        get_coefficient("krippendorff_alpha"), get_distance(distance)
    )


def test_by_hand():
    """Units {a ab}, {a a}, {b .}, {b b a}; Jaccard; the lone b drops out.

    N = 7 ratings in 3 pairable units. Distances: a-ab 1/2, b-ab 1/2, a-b 1.
    Do = [2 x 1/2 / 1 + 0 + (2 x (1 + 1)) / 2] / 7 = 3/7.
    n = (a 4, ab 1, b 2): De = 2 (4 x 1/2 + 4 x 2 x 1 + 2 x 1/2) / (7 x 6) = 22/42 = 11/21.
    alpha = 1 - (3/7) / (11/21) = 1 - 9/11 = 2/11.
    """
    result = alpha(text("a ab . / a a . / b . . / b b a"), "jaccard")
    assert result.observed_disagreement == pytest.approx(3 / 7, abs=1e-15)
    assert result.expected_disagreement == pytest.approx(11 / 21, abs=1e-15)
    assert result.estimate == pytest.approx(2 / 11, abs=1e-15)
    assert (result.n_units, result.n_pairable_units, result.n_ratings) == (4, 3, 8)
    assert result.influence.index.tolist() == ["u0", "u1", "u3"]


def test_agreements_and_disagreements_give_one_estimate():
    rng = np.random.default_rng(3)
    for distance in ("masi", "hamming"):
        result = alpha(random_rows(rng, sets_of("abc"), units=8, raters=3, missing=0.2), distance)
        pa, pe = result.observed_agreement, result.expected_agreement
        assert (pa - pe) / (1 - pe) == pytest.approx(result.estimate, rel=1e-12)
        ratio = result.observed_disagreement / result.expected_disagreement
        assert result.estimate == pytest.approx(1 - ratio, rel=1e-12)


def test_lone_ratings_change_nothing():
    rows = text("a ab b / a a . / b ab ab / c a b")
    lone = rows + text("d . . / . ab . / . . {}")
    one, other = alpha(rows, "masi"), alpha(lone, "masi")
    assert one.estimate == pytest.approx(other.estimate, rel=1e-14)
    assert one.standard_error == pytest.approx(other.standard_error, rel=1e-14)
    assert (other.n_units, other.n_pairable_units) == (7, 4)
    assert one.degrees_of_freedom == other.degrees_of_freedom == 3


def test_counts_of_any_size():
    """A million units of two patterns score like their shares, up to 1/N.

    Half {a a}, half {a b}, nominal: Do = 1/2, shares (3/4, 1/4), De -> 6/16, alpha -> -1/3.
    """
    table = pd.DataFrame({"a": [2, 1] * 500, "b": [0, 1] * 500})
    tally = sa.Tally.from_counts(table)
    for _ in range(10):
        tally = tally.merge(tally)
    N = tally.n_ratings
    assert N == 2 * 1000 * 2**10
    result = sa.krippendorff_alpha(tally, distance="nominal")
    expected = Fraction(6, 16) * N / (N - 1)
    assert result.estimate == pytest.approx(float(1 - Fraction(1, 2) / expected), rel=1e-12)


def test_alpha_does_not_cancel_near_one():
    """One slip in 100,000 units: 1 - alpha keeps its digits, for it is Do / De.

    99,999 units {a a} or {b b} by halves and one {a b}: Do = 2 / N, De about 1/2.
    """
    tally = sa.Tally.from_counts(
        pd.DataFrame({"a": [2.0, 0, 1], "b": [0.0, 2, 1]}, index=["x", "y", "z"])
    )
    many = sa.Tally(
        tally.kind,
        tally.values,
        tally.indptr,
        tally.indices,
        tally.counts,
        np.array([50_000.0, 49_999, 1]),
    )
    result = sa.krippendorff_alpha(many, distance="nominal")
    N, n_a, n_b = 200_000, 100_001, 99_999
    ratio = Fraction(2, N) / Fraction(2 * n_a * n_b, N * (N - 1))
    assert 1 - result.estimate == pytest.approx(float(ratio), rel=1e-10)


@pytest.mark.parametrize("distance", ["nominal", "ordinal", "interval", "ratio", "circular"])
def test_scales(distance):
    """Numbers on each scale equal the sums over all ordered pairs of ratings."""
    rows = numbers("1 2 . / 3 3 3 / 2 . 5 / 1 1 2 / 4 . . / 5 5 4")
    d = reference.scale_distances(rows)[distance]
    expected = reference.krippendorff_alpha(
        rows, d, reference.largest(reference.values_of(rows), d, distance)
    )
    result = alpha(rows, distance)
    assert result.estimate == pytest.approx(float(expected.estimate), rel=1e-12)
    assert result.standard_error == pytest.approx(expected.standard_error, rel=1e-10)


@pytest.mark.parametrize(
    ("rows", "reason", "observed", "expected"),
    [
        ("a a / a a / a .", "only one value was used", 0, 0),
        ("a . / . b", "no unit has two ratings", math.nan, math.nan),
        ("ab a / a ab", "chance leaves no disagreement to correct for", 0, 0),
        ("a b", "only one unit has two ratings", 1, 1),
    ],
)
def test_undefined(rows, reason, observed, expected):
    """0 / 0 and a single unit are nan with a reason; the parts that exist are kept.

    (overlap: {a} and {a, b} are at 0.)
    """
    result = alpha(text(rows), "overlap")
    assert math.isnan(result.estimate)
    assert math.isnan(result.standard_error)
    assert result.reason == reason
    assert result.observed_disagreement == pytest.approx(observed, nan_ok=True)
    assert result.expected_disagreement == pytest.approx(expected, nan_ok=True)
    assert result.influence.empty


def test_one_pairable_unit_among_lone_ones():
    """Alpha drops units with one rating, so that one pairable unit is as undefined as one unit.

    pa and pe are Gwet's here, too: pa' = 0, so that pa = 1/N = 1/3, and pe = 3 (1/3)² = 1/3.
    """
    with pytest.warns(sa.UndefinedAgreementWarning, match="only one unit has two ratings"):
        result = sa.krippendorff_alpha(annotations(text("a b c / a . . / . b .")))
    assert math.isnan(result.estimate)
    assert result.reason == "only one unit has two ratings"
    assert result.observed_disagreement == pytest.approx(1)
    assert result.expected_disagreement == pytest.approx(1)
    assert result.observed_agreement == pytest.approx(1 / 3)
    assert result.expected_agreement == pytest.approx(1 / 3)
