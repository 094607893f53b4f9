"""The linear-time road: binomial coefficients and shared subsets."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from small_studies import sets_of

from setagree.credit import subsets
from setagree.credit.geometry import SetGeometry
from setagree.credit.subsets import SubsetIndex, binomial_coefficients
from setagree.distances import get_distance
from setagree.distances.sets import SET_DISTANCES

SIZES = np.array([0, 1, 2, 4, 7])


@pytest.mark.parametrize("distance", SET_DISTANCES, ids=lambda d: d.name)
def test_binomials_rebuild_the_distance(distance):
    """d(a, b, i) = sum_p g_p(a, b) C(i, p) for every possible i: the expansion is exact."""
    g = [binomial_coefficients(SIZES, p, distance.function) for p in range(8)]
    for k, a in enumerate(SIZES.tolist()):
        for l, b in enumerate(SIZES.tolist()):
            for i in range(min(a, b) + 1):
                rebuilt = sum(g[p][k, l] * comb(i, p) for p in range(i + 1))
                d = float(distance.function(*(np.array([n]) for n in (a, b, i)))[0])
                assert rebuilt == pytest.approx(d, abs=1e-13)


def test_hamming_needs_single_labels_only():
    """Hamming, a + b - 2 i, is linear in i: g_0 = a + b, g_1 = -2, and nothing above."""
    function = get_distance("hamming").function
    assert binomial_coefficients(SIZES, 0, function).tolist() == (SIZES[:, None] + SIZES).tolist()
    fits = np.minimum(SIZES[:, None], SIZES) >= 1
    assert binomial_coefficients(SIZES, 1, function).tolist() == (-2.0 * fits).tolist()
    for p in (2, 3, 7):
        assert not binomial_coefficients(SIZES, p, function).any()


FAMILY = [frozenset(s) for s in ("", "a", "ab", "abc", "bcd", "e", "abcd")]


def test_only_shared_subsets_are_kept():
    """Level p has a set once for each of its p-subsets that another set holds as well."""
    index = SubsetIndex(SetGeometry(FAMILY), np.arange(len(FAMILY)))
    shared = {
        S
        for p in range(5)
        for S in combinations("abcde", p)
        if sum(A.issuperset(S) for A in FAMILY) > 1
    }
    largest = max(map(len, shared))
    assert len(index.levels) == largest + 1
    for p, level in enumerate(index.levels):
        kept = [sum(len(S) == p and A.issuperset(S) for S in shared) for A in FAMILY]
        # the empty set is below all of them, shared or not
        assert level.kept.tolist() == ([1] * len(FAMILY) if p == 0 else kept)


@pytest.mark.parametrize("at_once", [1, 40, 4_000_000])
def test_any_number_of_columns_at_once(monkeypatch, at_once):
    """Columns are taken in runs of bounded memory; the runs do not change the sums."""
    monkeypatch.setattr(subsets, "_CELLS_AT_ONCE", at_once)
    distance = get_distance("masi")
    index = SubsetIndex(SetGeometry(FAMILY), np.arange(len(FAMILY)))
    D = np.array([[distance(A, B) for B in FAMILY] for A in FAMILY])
    y = np.random.default_rng(0).normal(size=(len(FAMILY), 6))
    assert index.dot(y, distance.function) == pytest.approx(D @ y, abs=1e-12)


def test_a_part_of_the_sets():
    """An index of some of the sets knows those alone, in the order of the codes given."""
    codes = np.array([6, 2, 3])
    distance = get_distance("jaccard")
    index = SubsetIndex(SetGeometry(FAMILY), codes)
    D = np.array([[distance(FAMILY[k], FAMILY[l]) for l in codes] for k in codes])
    y = np.array([[1.0], [2.0], [4.0]])
    assert index.dot(y, distance.function) == pytest.approx(D @ y, abs=1e-13)


def test_repeated_sets():
    """Equal sets (equal closures) share all their subsets, and are 0 apart."""
    family = [frozenset("ab"), frozenset("ab"), frozenset("c"), frozenset("ab")]
    distance = get_distance("dice")
    D = np.array([[distance(A, B) for B in family] for A in family])
    y = np.array([[1.0], [2.0], [3.0], [4.0]])
    index = SubsetIndex(SetGeometry(family), np.arange(4))
    assert index.dot(y, distance.function) == pytest.approx(D @ y, abs=1e-14)


def test_all_subsets_of_six_labels():
    """The full family of 64 sets, where every subset is shared, for each distance."""
    family = sets_of("abcdef")
    index = SubsetIndex(SetGeometry(family), np.arange(64))
    y = np.random.default_rng(3).random((64, 1))
    for distance in SET_DISTANCES:
        D = np.array([[distance(A, B) for B in family] for A in family])
        assert index.dot(y, distance.function) == pytest.approx(D @ y, rel=1e-12)
