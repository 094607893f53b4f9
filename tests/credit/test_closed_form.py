"""Weights whose chance term needs no pairs, against the pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setagree as sa
from setagree.credit import WeightBuilder
from setagree.credit.base import DenseWeights
from setagree.credit.overlap import (
    AbsoluteWeights,
    NominalWeights,
    PointWeights,
    SquaredWeights,
)

KINDS = {
    "nominal": (lambda p: NominalWeights(tuple(p)), lambda x, y: 1.0 * (x != y)),
    "squared": (lambda p: SquaredWeights(tuple(p), p), lambda x, y: (x - y) ** 2),
    "absolute": (lambda p: AbsoluteWeights(tuple(p), p), lambda x, y: np.abs(x - y)),
    "radical": (
        lambda p: PointWeights(tuple(p), p, sa.distances.radical),
        lambda x, y: np.sqrt(np.abs(x - y)),
    ),
    "ratio": (
        lambda p: PointWeights(tuple(p), p, sa.distances.ratio),
        lambda x, y: ((x - y) / np.where(x + y == 0, 1, x + y)) ** 2,
    ),
    "bipolar": (
        lambda p: PointWeights(tuple(p), p, sa.distances.bipolar),
        lambda x, y: (
            (x - y) ** 2 / np.where(x == y, 1, (x + y - 2 * x.min()) * (2 * x.max() - x - y))
        ),
    ),
}
every_kind = pytest.mark.parametrize(("make", "formula"), KINDS.values(), ids=KINDS)
positions = st.lists(st.integers(0, 40), min_size=1, max_size=12, unique=True)


@every_kind
@given(p=positions, columns=st.sampled_from([None, 1, 3]))
def test_sums_equal_the_pairs(make, formula, p, columns):
    p = np.array(p, dtype=float)
    grid = np.meshgrid(p, p, indexing="ij")
    D = formula(*grid)
    weights = make(p)
    x = np.random.default_rng(0).normal(size=len(p) if columns is None else (len(p), columns))
    close = {"rel": 1e-10, "abs": 1e-10 * max(1, D.max())}
    assert weights.distance_dot(x) == pytest.approx(D @ x, **close)
    assert weights.distance_dot(x).shape == x.shape
    assert weights.dot(x) == pytest.approx((1 - D / weights.max_distance) @ x, **close)
    assert weights.distance_total == pytest.approx(D.sum(), **close)
    assert weights.max_distance == (1 if weights.__class__ is NominalWeights else D.max() or 1)
    k, l = np.indices(D.shape)
    assert weights.distance_at(k.ravel(), l.ravel()) == pytest.approx(D.ravel())


@pytest.mark.parametrize("name", ["squared", "absolute"])
def test_a_scale_far_from_zero_keeps_its_digits(name):
    make, formula = KINDS[name]
    p = 1e9 + np.array([0.0, 0.1, 0.3, 0.4])
    D = formula(*np.meshgrid(p, p, indexing="ij"))
    x = np.array([1.0, 2, 3, 4])
    assert make(p).distance_dot(x) == pytest.approx(D @ x, rel=1e-11)


@every_kind
def test_weights_of_either_sign(make, formula):
    p = np.array([2.0, 7.0, 3.0])
    D = formula(*np.meshgrid(p, p, indexing="ij"))
    x = np.array([[1.0, 0.5, 0.0], [-1.0, 0.5, 0.0], [0.0, -1.0, 0.0]])
    assert make(p).distance_dot(x) == pytest.approx(D @ x, abs=1e-13)
    assert make(p).distance_dot(x[:, 0]) == pytest.approx(D @ x[:, 0], abs=1e-13)
    y, d = np.array([2.0, -1.0, 0.5]), D / make(p).max_distance
    assert make(p).squares(y) == pytest.approx(y @ d**2 @ y, abs=1e-13)


@pytest.mark.parametrize("name", ["squared", "absolute"])
def test_a_value_without_weight_may_lie_anywhere(name):
    make, formula = KINDS[name]
    p = np.array([1e12, 0.25, 0.5, 1.75])
    D = formula(*np.meshgrid(p, p, indexing="ij"))
    x = np.array([0.0, 3, 4, 5])
    assert make(p).distance_dot(x)[1:] == pytest.approx((D @ x)[1:], rel=1e-13)


def test_a_rare_value_far_off_keeps_the_digits_of_the_others():
    """Positions are taken from their mean: from the lowest, six of sixteen digits would cancel."""
    p, x = np.array([0.0, 1e8, 1e8 + 1]), np.array([1.0, 1e6, 1e6])
    D = (p[:, None] - p) ** 2
    weights = SquaredWeights(tuple(p), p)
    assert weights.distance_dot(x) == pytest.approx(D @ x, rel=1e-13)
    squares = 2 * ((p[0] - p[1]) ** 2 * 1e6 + (p[0] - p[2]) ** 2 * 1e6 + 1e12)
    assert AbsoluteWeights(tuple(p), p).squares(x) == pytest.approx(squares / p[2] ** 2, rel=1e-13)


def test_equal_positions():
    """Two values at one place (mid-ranks of values nobody gave) are 0 apart."""
    p = np.array([1.0, 1.0, 2.5])
    for kind, far in ((SquaredWeights, 2.25), (AbsoluteWeights, 1.5)):
        weights = kind(("x", "y", "z"), p)
        assert weights.distance_at(np.array([0, 0]), np.array([1, 2])).tolist() == [0, far]
        expected = np.array([4 * far, 4 * far, 3 * far])
        assert weights.distance_dot(np.array([1.0, 2.0, 4.0])) == pytest.approx(expected)


def test_one_value_has_a_largest_distance_of_one():
    p = np.array([3.0])
    for make, _ in KINDS.values():
        assert make(p).max_distance == 1
        assert make(p).at(np.array([0]), np.array([0])).tolist() == [1]


def test_nominal_does_not_look_at_the_values():
    weights = NominalWeights(range(10_000_000))
    assert weights.distance_total == 1e7 * (1e7 - 1)


@pytest.mark.parametrize("name", ["interval", "ordinal", "linear", "ratio", "bipolar", "radical"])
def test_the_matrix_of_few_numbers_is_the_closed_form_of_many(name):
    # Unused values between the smallest and the largest change neither distances nor the chance
    # term, but there are then more numbers than a matrix is made for.
    few, many = (1, 2, 4, 7, 30), (1, 2, 4, 7, 30, *(k / 2 for k in range(16, 40)))
    x = np.array([3.0, 0.0, 5.0, 1.0, 2.0])
    matrix, closed = (
        WeightBuilder(values, "number", np.r_[x, np.zeros(len(values) - 5)]).build(
            sa.distances.get_distance(name)
        )
        for values in (few, many)
    )
    assert isinstance(matrix, DenseWeights)
    assert not isinstance(closed, DenseWeights)
    assert matrix.max_distance == pytest.approx(closed.max_distance, rel=1e-13)
    padded = np.r_[x, np.zeros(len(many) - 5)]
    assert matrix.distance_dot(x) == pytest.approx(closed.distance_dot(padded)[:5], rel=1e-12)
    assert matrix.squares(x) == pytest.approx(closed.squares(padded), rel=1e-12)
