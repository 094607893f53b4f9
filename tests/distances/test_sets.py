"""Distances between label sets, as functions of (|A|, |B|, |A n B|)."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from small_studies import sets_of

import setagree as sa
from setagree.distances.base import OverlapDistance, distance_of
from setagree.distances.sets import SET_DISTANCES

# Every pair of subsets of five labels: all nestings and overlaps of sets up to that size.
SUBSETS = sets_of("abcde")
PAIRS = [(A, B) for A in SUBSETS for B in SUBSETS]
NAMES = [distance.name for distance in SET_DISTANCES]
every_distance = pytest.mark.parametrize("distance", SET_DISTANCES, ids=NAMES)


@every_distance
def test_every_pair_of_small_sets_equals_the_formula(distance):
    formula = reference.SET_DISTANCES[distance.name]
    for A, B in PAIRS:
        assert distance(A, B) == pytest.approx(float(formula(A, B)), rel=1e-15, abs=1e-15)


@every_distance
def test_arrays_of_counts_give_what_single_pairs_give(distance):
    counts = [np.array(c) for c in zip(*((len(A), len(B), len(A & B)) for A, B in PAIRS))]  # noqa: B905
    together = distance.function(*counts)
    assert together.dtype == float
    assert together.tolist() == [distance(A, B) for A, B in PAIRS]


@every_distance
@given(
    A=st.frozensets(st.integers(0, 250), max_size=220),
    B=st.frozensets(st.integers(0, 250), max_size=220),
)
def test_a_distance_is_a_distance(distance, A, B):
    d = distance(A, B)
    assert distance(A, A) == 0
    assert distance(B, A) == d
    assert d >= 0
    assert not distance.bounded or d <= 1
    assert d == pytest.approx(float(reference.SET_DISTANCES[distance.name](A, B)), abs=1e-14)


def test_equal_large_sets_do_not_differ_by_rounding():
    sizes = np.arange(3000)
    for distance in SET_DISTANCES:
        assert not distance.function(sizes, sizes, sizes).any()


# STATISTICS: 0 between empty sets, 1 to any other; nested for those who go by Passonneau 2004.
@every_distance
def test_the_empty_set_is_an_answer(distance):
    """The empty set is at 0 from itself, at 1 from others (Passonneau 2004: nested, so at 1/3)."""
    to_others = Fraction(1, 3) if distance.name in {"masi_dkpro", "passonneau_2004"} else 1
    assert distance(set(), set()) == 0
    assert distance(set(), {"a"}) == pytest.approx(float(to_others))
    assert distance({"a"}, set()) == distance(set(), {"a"})


def test_only_hamming_is_unbounded():
    assert [d.name for d in SET_DISTANCES if not d.bounded] == ["hamming"]


@every_distance
def test_lists_text_and_sets_mean_the_same(distance):
    expected = distance(frozenset("ab"), frozenset("bc"))
    same = [("a, b", "c,b"), (["a", "b", "a"], ("b", "c")), (np.array(["b", "a"]), {"c", "b"})]
    assert [distance(A, B) for A, B in same] == [expected] * 3


@every_distance
def test_docstrings_and_pickles_belong_to_the_distance(distance):
    assert ">>>" in distance.__doc__
    assert repr(distance) == f"<OverlapDistance {distance.name!r}>"
    assert pickle.loads(pickle.dumps(distance)).name == distance.name  # noqa: S301
    assert getattr(sa.distances, distance.name) is distance


def test_masi_has_exact_thirds():
    """MASI of {a, b} and {a} is 1 - 1/2 x 2/3 = 2/3; of {a, b} and {b, c} 1 - 1/3 x 1/3 = 8/9."""
    assert sa.distances.masi("a, b", "a") == pytest.approx(2 / 3, abs=3e-16)
    assert sa.distances.masi("a, b", "b, c") == pytest.approx(8 / 9, abs=3e-16)


def test_a_distance_is_made_of_a_function():
    @distance_of(OverlapDistance, formula="||A| - |B||", bounded=False)
    def size(a, b, i):
        return np.abs(a - b)

    assert size.name == "size"
    assert not size.bounded
    assert size({"a"}, set()) == 1
