"""Sums of distances inside groups, against plain double loops in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_studies import sets_of

from setagree.credit import WeightBuilder
from setagree.credit.base import sums_to_others
from setagree.credit.overlap import AbsoluteWeights, SquaredWeights
from setagree.distances import get_distance

POSITIONS = [0, 1, 3, 7, 15]
"""Positions whose differences all differ, so that no entry passes for another."""


def by_loops(groups, values, counts, distance):
    """Return for each entry the sum over the other entries of its group, as fractions."""
    entries = list(zip(groups, values, counts, strict=True))
    return [
        sum(
            (
                Fraction(m) * Fraction(distance(v, w))
                for l, (h, w, m) in enumerate(entries)
                if h == g and l != k
            ),
            Fraction(0),
        )
        for k, (g, v, _) in enumerate(entries)
    ]


def gap(k, l):
    """Return the distance of two codes of `POSITIONS`."""
    return abs(POSITIONS[k] - POSITIONS[l])


def absolute():
    return AbsoluteWeights(tuple(POSITIONS), np.array(POSITIONS, dtype=float))


def found(groups, values, counts, weights):
    """Return what `sums_to_others` returns, as a list."""
    arrays = (np.array(groups, dtype=int), np.array(values, dtype=int), np.array(counts, float))
    return sums_to_others(*arrays, weights).tolist()


def test_by_hand():
    """Groups {0, 1, 7} counted 1, 2, 3 times and {3}: 2 + 21, 1 + 18, 7 + 12 and nothing."""
    sums = found([4, 4, 4, 9], [0, 1, 3, 2], [1, 2, 3, 5], absolute())
    assert sums == [2 * 1 + 3 * 7, 1 * 1 + 3 * 6, 1 * 7 + 2 * 6, 0]


def test_the_count_of_the_other_entry_weighs():
    assert found([0, 0], [0, 1], [5, 3], absolute()) == [3, 5]


def test_an_entry_does_not_meet_itself():
    assert found([0, 0, 1], [2, 2, 4], [1, 1, 1], absolute()) == [0, 0, 0]


def test_groups_that_follow_each_other_stay_apart():
    groups, values = [0, 0, 1, 1, 1, 2], [0, 4, 0, 4, 2, 3]
    assert found(groups, values, [1] * 6, absolute()) == [15, 15, 15 + 3, 15 + 12, 3 + 12, 0]


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_to_pair(n):
    assert found([0] * n, [1] * n, [1] * n, absolute()) == [0.0] * n


def test_one_group_is_a_product_with_the_matrix():
    counts = [1, 2, 4, 8, 16]
    expected = [sum(gap(k, l) * counts[l] for l in range(5)) for k in range(5)]
    assert found([7] * 5, range(5), counts, absolute()) == expected
    assert absolute().distance_dot(np.array(counts, float)).tolist() == pytest.approx(expected)


ENTRIES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 12)), max_size=14)


@given(entries=ENTRIES)
def test_any_entries(entries):
    entries.sort(key=lambda entry: entry[0])
    groups, values, eighths = ([entry[part] for entry in entries] for part in range(3))
    counts = [Fraction(n, 8) for n in eighths]
    expected = by_loops(groups, values, counts, gap)
    assert found(groups, values, counts, absolute()) == expected
    squared = SquaredWeights(tuple(POSITIONS), np.array(POSITIONS, dtype=float))
    expected = by_loops(groups, values, counts, lambda k, l: gap(k, l) ** 2)
    assert found(groups, values, counts, squared) == expected


@pytest.mark.parametrize("name", ["nominal", "masi", "hamming"])
def test_label_sets(name):
    sets, distance, rng = tuple(sets_of("abc")), get_distance(name), np.random.default_rng(0)
    groups, values = np.sort(rng.integers(6, size=40)), rng.integers(8, size=40)
    counts, weights = rng.random(40), WeightBuilder(sets, "labels", np.ones(8)).build(distance)
    expected = by_loops(groups, values, counts, lambda k, l: distance(sets[k], sets[l]))
    assert found(groups, values, counts, weights) == pytest.approx([float(x) for x in expected])
