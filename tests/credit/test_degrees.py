"""Weights of answers with degrees, against the distances pair by pair."""

import numpy as np
import pytest

from setagree import checks
from setagree.credit import WeightBuilder, semantic
from setagree.credit.semantic import DegreeWeights
from setagree.distances import manhattan, ruzicka
from setagree.errors import CostError
from setagree.wording.label_sets import Degrees


def random_values(rng, n, n_labels=6, levels=4):
    """Return distinct answers with degrees, the one without a label first."""
    found = {Degrees({})}
    while len(found) < n:
        labels = rng.choice(n_labels, size=rng.integers(1, 4), replace=False).tolist()
        found.add(Degrees({f"l{k}": rng.integers(1, levels + 1) / levels for k in labels}))
    return tuple(sorted(found, key=repr))


@pytest.mark.parametrize("distance", [ruzicka, manhattan])
@pytest.mark.parametrize("n", [40, pytest.param(260, marks=pytest.mark.slow)])
def test_equal_the_distances(monkeypatch, distance, n):
    monkeypatch.setattr(semantic, "_CELL_BLOCK_SIZE", 8 * n)
    rng = np.random.default_rng(n)
    values = random_values(rng, n)
    below = [[distance(x, y) for y in values[:k]] + [0] * (n - k) for k, x in enumerate(values)]
    expected = np.array(below) + np.array(below).T
    built = WeightBuilder(values, "labels", np.ones(n)).build(distance)
    assert isinstance(built, DegreeWeights) == (n > 256)
    x, close = rng.random((n, 3)) - 0.3, {"rtol": 1e-12, "atol": 1e-12}
    k, l = rng.integers(n, size=(2, 99))
    d_max = 1.0 if distance.bounded else expected.max()
    for weights in (built, DegreeWeights(values, distance)):
        assert weights.max_distance == pytest.approx(d_max, rel=1e-14)
        np.testing.assert_allclose(weights.distance_at(k, l), expected[k, l], **close)
        np.testing.assert_allclose(weights.block(k[:9], l), expected[np.ix_(k[:9], l)], **close)
        np.testing.assert_allclose(weights.distance_dot(x), expected @ x, **close)
        np.testing.assert_allclose(weights.distance_dot(x[:, 0]), expected @ x[:, 0], **close)
        squares = x[:, 0] @ (expected / d_max) ** 2 @ x[:, 0]
        assert weights.squares(x[:, 0]) == pytest.approx(squares, rel=1e-10)


def test_equal_values_are_at_no_distance():
    values = random_values(np.random.default_rng(3), 80, levels=7)
    every = np.arange(80)
    for distance in (ruzicka, manhattan):
        weights = DegreeWeights(values, distance)
        assert (weights.distance_at(every, every) == 0).all()
        assert (np.diag(weights.block(every, every)) == 0).all()
        assert (weights.block(every, every) >= 0).all()


def test_the_largest_distance_is_not_that_of_the_largest_sum(monkeypatch):
    """The first answer is at 4 from both others, which are at 8 from each other."""
    values = tuple(map(Degrees, ({"x": 4, "y": 4}, {"x": 4}, {"y": 4})))
    monkeypatch.setattr(semantic, "_CELL_BLOCK_SIZE", len(values))
    assert DegreeWeights(values, manhattan).max_distance == 8


def test_too_many_pairs(monkeypatch):
    monkeypatch.setattr(checks, "MOST_STEPS", 1_000_000)
    values = tuple(Degrees({"joy": 1 + k}) for k in range(1_500))
    with pytest.raises(CostError, match=r"1,500 answers with degrees would take about .*manhattan"):
        DegreeWeights(values, ruzicka).distance_dot(np.ones(len(values)))
    # The sum over labels needs no pairs: |1 - k| summed over k.
    total = DegreeWeights(values, manhattan).distance_dot(np.ones(len(values)))
    assert total[0] == pytest.approx(1_499 * 1_500 / 2)
