"""Distances between answers with degrees, by hand and where every degree is 1."""

import re

import pytest
from small_studies import sets_of

from setagree.distances import get_distance, hamming, jaccard, manhattan, ruzicka
from setagree.errors import DistanceError

SETS = sets_of("abc")


@pytest.mark.parametrize(("degrees", "sets"), [(ruzicka, jaccard), (manhattan, hamming)])
def test_label_sets_are_the_special_case(degrees, sets):
    for A in SETS:
        for B in SETS:
            assert degrees(A, B) == sets(A, B)
            assert degrees(dict.fromkeys(A, 1), B) == sets(A, B)
            halves = degrees(dict.fromkeys(A, 0.5), dict.fromkeys(B, 0.5))
            assert halves == sets(A, B) * (1 if degrees.bounded else 0.5)
    assert get_distance(degrees.name) is degrees


def test_by_hand():
    """1 - sum min / sum max, and sum of |a - b|: (3/4, 1/4, 0) against (1/2, 0, 1/2)."""
    one, other = {"joy": 0.75, "fear": 0.25, "calm": 0}, {"joy": 0.5, "calm": 0.5}
    assert ruzicka(one, other) == ruzicka(other, one) == pytest.approx(1 - 0.5 / 1.5, abs=1e-15)
    assert manhattan(one, other) == manhattan(other, one) == 1.0
    assert ruzicka(one, one) == manhattan(one, dict(one)) == 0.0
    assert ruzicka({}, {"joy": 1e-300}) == 1.0
    assert manhattan({"joy": 5}, "joy, fear") == 5.0


@pytest.mark.parametrize("degree", [-1, float("nan"), float("inf"), "much"])
def test_no_degree(degree):
    """A degree is a finite number of 0 or more."""
    with pytest.raises(DistanceError, match=re.escape(f"label 'joy' is {degree!r}; it is a")):
        ruzicka({"joy": degree}, {})
