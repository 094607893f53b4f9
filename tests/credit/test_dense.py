"""Weights without structure: Python functions, matrices, label weights."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_studies import annotations, numbers, sets_of, text

import setagree as sa
from setagree.credit import WeightBuilder, base, dense
from setagree.credit.dense import WeightedJaccardWeights, callable_weights
from setagree.credit.geometry import SetGeometry
from setagree.distances import CallableDistance, embedding, transport, weighted_jaccard
from setagree.errors import DistanceError

VALUES = tuple(sets_of("abc"))


def gap(A, B):
    """Return the difference of the sizes, and a little for other labels."""
    return abs(len(A) - len(B)) + 0.5 * (A != B)


class TestCallable:
    def test_equals_the_function(self):
        weights = callable_weights(VALUES, CallableDistance(gap))
        D = np.array([[gap(A, B) for B in VALUES] for A in VALUES])
        every = np.arange(len(VALUES))
        assert weights.distance_at(every, every[::-1]).tolist() == D[every, every[::-1]].tolist()
        x = np.random.default_rng(0).random((8, 3))
        assert weights.distance_dot(x) == pytest.approx(D @ x)
        assert weights.distance_dot(x[:, 0]) == pytest.approx(D @ x[:, 0])
        assert weights.max_distance == 3.5
        assert weights.dot(x) == pytest.approx((1 - D / 3.5) @ x)

    def test_small_distances_keep_one_as_the_largest(self):
        half = callable_weights(VALUES, CallableDistance(lambda A, B: 0.5 * (A != B)))
        assert half.max_distance == 1
        assert half.at(np.array([0]), np.array([1])).tolist() == [0.5]

    def test_asked_once_a_pair(self):
        """Each unordered pair is asked once; of more than 100 values some 15% are once more.

        These hold the calls that compare each value with itself, and no pair twice.
        """
        for n in (30, 100, 101, 400):
            asked = []

            def spy(x, y, asked=asked):
                asked.append((x, y))
                return abs(x - y)

            callable_weights(tuple(range(n)), CallableDistance(spy))
            forward = [pair for pair in asked if pair[0] < pair[1]]
            back = [pair for pair in asked if pair[0] > pair[1]]
            own = [pair for pair in asked if pair[0] == pair[1]]
            pairs = n * (n - 1) // 2
            assert len(forward) == len(set(forward)) == pairs
            assert len(own) == len(set(own)) == n
            assert len(back) == len(set(back))
            assert len(back) == pairs if n <= 100 else 0.14 * pairs <= len(back) + n
            assert n <= 100 or len(back) + n <= 0.2 * pairs

    def test_few_values_are_asked_both_ways_all(self):
        for wrong in [(0, 1), (37, 81), (98, 99)]:

            def lopsided(x, y, wrong=wrong):
                return 1.0 * (x != y) + 0.5 * ((y, x) == wrong)

            with pytest.raises(
                DistanceError, match=rf"pair {wrong[0]}, {wrong[1]} has 1.0 one way"
            ):
                callable_weights(tuple(range(100)), CallableDistance(lopsided))

    def test_many_values_are_sampled(self):
        with pytest.raises(DistanceError, match=r"symmetric; .* one way and .* the other"):
            callable_weights(tuple(range(160)), CallableDistance(lambda x, y: max(x - y, 0)))

    def test_every_value_is_compared_with_itself(self):
        for n in (3, 300):
            last = CallableDistance(lambda x, y, n=n: float(x != y or x == n - 1))
            with pytest.raises(DistanceError, match=f"the pair {n - 1}, {n - 1} has 1.0"):
                callable_weights(tuple(range(n)), last)

    @pytest.mark.parametrize("part", [0.05, 0.2])
    def test_what_a_sample_finds(self, part):
        wrong = np.random.default_rng(3).random((101, 101)) < part
        d = CallableDistance(lambda x, y: float(x != y) * (1 + 0.5 * (x > y and wrong[x, y])))
        with pytest.raises(DistanceError, match="symmetric"):
            callable_weights(tuple(range(101)), d)

    def test_rounding_is_no_asymmetry(self):
        noisy = CallableDistance(lambda x, y: abs(x - y) * (1 + 1e-13 * (x < y)))
        assert callable_weights((0, 1, 5), noisy).max_distance == pytest.approx(5)

    def test_too_many_values(self, monkeypatch):
        monkeypatch.setattr(dense, "DENSE_LIMIT", 4)
        with pytest.raises(
            DistanceError, match=r"'gap' would be called for 28 pairs of 8 values \("
        ):
            callable_weights(VALUES, CallableDistance(gap))

    def test_too_many_transports(self, monkeypatch):
        monkeypatch.setattr(dense, "DENSE_LIMIT", 4)
        vectors = {label: [1.0, k] for k, label in enumerate("abcd")}
        near = embedding(vectors, match="transport")
        with pytest.raises(DistanceError, match=r"28 pairs of 8 .*; use match='centroid', which"):
            WeightBuilder(VALUES, "labels", np.ones(8)).build(near)
        table = transport(lambda x, y: float(x != y))
        with pytest.raises(DistanceError, match=r"would solve a .*\); merge or leave out rare"):
            WeightBuilder(VALUES, "labels", np.ones(8)).build(table)

    def test_one_value(self):
        weights = callable_weights((frozenset("a"),), CallableDistance(gap))
        assert weights.distance_dot(np.array([5.0])).tolist() == [0]

    def test_long_work_is_tracked(self, monkeypatch):
        told = []

        def track(items, *, total, what):
            told.append((total, what))
            yield from items

        monkeypatch.setattr(dense, "track", track)
        callable_weights(VALUES, CallableDistance(gap))
        assert told == [(8, "gap distances")]


class TestMatrix:
    def test_only_the_values_in_use_count(self):
        frame = pd.DataFrame(
            [[0, 2, 9], [2, 0, 9], [9, 9, 0]], index=list("abc"), columns=list("abc")
        )
        weights = sa.weights(annotations(text("a b / b b")), frame)
        assert weights.max_distance == 2
        assert weights.to_frame(distance=True).loc["a", "b"] == 2

    def test_numbers(self):
        """Numbers are found as numbers, whatever their order."""
        frame = pd.DataFrame([[0.0, 0.25], [0.25, 0]], index=[10, 2], columns=[10, 2])
        weights = sa.weights(annotations(numbers("2 10 / 2 2")), frame)
        assert weights.to_frame(distance=True).loc["2", "10"] == 0.25


LABEL_WEIGHTS = {"a": 2.0, "b": 0.5, "c": 0.0}


class TestWeightedJaccard:
    @pytest.mark.parametrize("block", [1, 3, 100])
    def test_equals_the_distance(self, monkeypatch, block):
        monkeypatch.setattr(base, "BLOCK", block)
        distance = weighted_jaccard(LABEL_WEIGHTS)
        D = np.array([[distance(A, B) for B in VALUES] for A in VALUES])
        weights = WeightedJaccardWeights(VALUES, SetGeometry(VALUES), distance)
        k, l = (grid.ravel() for grid in np.indices(D.shape))
        assert weights.distance_at(k, l) == pytest.approx(D.ravel(), abs=1e-15)
        x = np.random.default_rng(1).random((8, 2))
        assert weights.distance_dot(x) == pytest.approx(D @ x)
        assert weights.distance_total == pytest.approx(D.sum())
        assert weights.max_distance == 1

    @given(
        family=st.lists(
            st.frozensets(st.integers(0, 30), max_size=12), min_size=1, max_size=12, unique=True
        )
    )
    def test_any_family(self, family):
        distance = weighted_jaccard({k: (k + 0.1) ** 0.5 for k in range(31)})
        D = np.array([[distance(A, B) for B in family] for A in family])
        weights = WeightedJaccardWeights(tuple(family), SetGeometry(family), distance)
        every = np.arange(len(family))
        assert weights.block(every, every) == pytest.approx(D, abs=1e-14)

    def test_only_empty_sets(self):
        weights = WeightedJaccardWeights(
            (frozenset(),), SetGeometry([frozenset()]), weighted_jaccard({})
        )
        assert weights.distance_dot(np.array([3.0])).tolist() == [0]
        assert weights.distance_at(np.array([0]), np.array([0])).tolist() == [0]

    def test_unweighted_labels(self):
        with pytest.raises(DistanceError, match="no weight is given for the labels 'b', 'c'"):
            sa.weights(annotations(text("ab c / a a")), weighted_jaccard({"a": 1}, default=None))
