"""The linear-time road: binomial coefficients and shared subsets."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from small_studies import sets_of

from setagree.credit import subsets
from setagree.credit.geometry import SetGeometry
from setagree.credit.subsets import SubsetIndex, _number_shared, binomial_coefficients
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


def entries_of(index):
    """Return for each level how many subsets each set has there, in the order of the codes."""
    levels = []
    for table in index._tables():
        if table.p == len(levels):
            levels.append(np.zeros(len(index.order), dtype=int))
        for rows, held in table.parts:
            levels[-1][index.order[rows]] += np.diff(held.indptr)
    return [level.tolist() for level in levels]


def test_only_shared_subsets_are_listed(monkeypatch):
    monkeypatch.setattr(subsets, "_RANKED_CELLS", 0)
    index = SubsetIndex(SetGeometry(FAMILY), np.arange(len(FAMILY)))
    shared = {
        S
        for p in range(5)
        for S in combinations("abcde", p)
        if sum(A.issuperset(S) for A in FAMILY) > 1
    }
    levels = entries_of(index)
    assert len(levels) == max(map(len, shared)) + 1
    for p, kept in enumerate(levels[1:], start=1):
        assert kept == [sum(len(S) == p and A.issuperset(S) for S in shared) for A in FAMILY]
    assert levels[0] == [1] * len(FAMILY)  # the empty set is below all of them, shared or not


@pytest.mark.parametrize("factor", [1, 2**57])
def test_shared_keys_are_numbered(factor):
    keys = np.array([5, 1, 5, 0, 7, 1, 5]) * factor
    numbers, n_shared = _number_shared(keys)
    assert n_shared == 2
    assert sorted({numbers[0], numbers[1]}) == [0, 1]
    assert numbers.tolist() == [numbers[k] for k in (0, 1, 0, 3, 4, 1, 0)]
    assert numbers[[3, 4]].tolist() == [-1, -1]
    assert _number_shared(np.zeros(0, dtype=np.int64))[1] == 0


def test_ranked_levels_hold_all_subsets():
    index = SubsetIndex(SetGeometry(FAMILY), np.arange(len(FAMILY)))
    expected = [[comb(len(A), p) for A in FAMILY] for p in range(5)]
    assert entries_of(index) == expected


@pytest.mark.parametrize("ranked_cells", [0, 300, 6_000_000])
@pytest.mark.parametrize("entries_at_once", [5, 3_000_000])
@pytest.mark.parametrize("n_heavy", [0, 1, 3, 9])
def test_some_labels_only(monkeypatch, ranked_cells, entries_at_once, n_heavy):
    monkeypatch.setattr(subsets, "_RANKED_CELLS", ranked_cells)
    monkeypatch.setattr(subsets, "_ENTRY_BLOCK_SIZE", entries_at_once)
    rng = np.random.default_rng(4)
    share = np.arange(9, 0, -1) / 45
    sizes = rng.integers(0, 7, size=60)
    family = [frozenset(rng.choice(9, n, replace=False, p=share).tolist()) for n in sizes]
    counts = [sum(k in A for A in family) for k in range(9)]
    heavy = set(np.argsort(-np.array(counts), kind="stable")[:n_heavy].tolist())
    function = get_distance("jaccard").function
    D = np.array(
        [[float(function(len(A), len(B), len(A & B & heavy))) for B in family] for A in family]
    )
    np.fill_diagonal(D, 0)
    y = rng.random((60, 2))
    for keeps in (True, False):
        index = SubsetIndex(SetGeometry(family), np.arange(60), n_heavy, keeps=keeps)
        for _ in range(2):
            assert index.dot(y, function) == pytest.approx(D @ y, rel=1e-12)


@pytest.mark.parametrize("at_once", [1, 40, 4_000_000])
def test_any_number_of_columns_at_once(monkeypatch, at_once):
    monkeypatch.setattr(subsets, "_CELL_BLOCK_SIZE", at_once)
    distance = get_distance("masi")
    index = SubsetIndex(SetGeometry(FAMILY), np.arange(len(FAMILY)))
    D = np.array([[distance(A, B) for B in FAMILY] for A in FAMILY])
    y = np.random.default_rng(0).normal(size=(len(FAMILY), 6))
    assert index.dot(y, distance.function) == pytest.approx(D @ y, abs=1e-12)


def test_a_part_of_the_sets():
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


@pytest.mark.slow
def test_all_subsets_of_six_labels():
    family = sets_of("abcdef")
    index = SubsetIndex(SetGeometry(family), np.arange(64))
    y = np.random.default_rng(3).random((64, 1))
    for distance in SET_DISTANCES:
        D = np.array([[distance(A, B) for B in family] for A in family])
        assert index.dot(y, distance.function) == pytest.approx(D @ y, rel=1e-12)
