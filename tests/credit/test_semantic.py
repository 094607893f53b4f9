"""Weights of distances between labels with vectors or ancestors, against the whole matrix."""

import numpy as np
import pytest
from small_studies import annotations, random_rows, sets_of, text

import setagree as sa
from setagree.credit import base, semantic
from setagree.distances import embedding, taxonomy

STUDY = annotations(
    random_rows(np.random.default_rng(5), sets_of("abcdef"), units=40, raters=3, missing=0.1)
)
CENTROIDS = embedding(
    dict(zip("abcdef", np.random.default_rng(3).normal(size=(6, 4)), strict=True))
)
BEST_MATCH = taxonomy({"a": "x", "b": "x", "c": "y"}, credit="wu_palmer")


def best_match(A, B):
    """Return `BEST_MATCH` by hand: a and b are the only labels with a common ancestor."""
    if not A or not B:
        return float(A != B)
    near = np.array([[(x == y) or 0.5 * ({x, y} == {"a", "b"}) for y in B] for x in A])
    return 1 - (near.max(axis=1).mean() + near.max(axis=0).mean()) / 2


@pytest.mark.parametrize(
    ("distance", "by_hand"), [(CENTROIDS, CENTROIDS), (BEST_MATCH, best_match)]
)
@pytest.mark.parametrize("block", [2, 7, 256, 10**5])
def test_products(monkeypatch, distance, by_hand, block):
    """Pairs, blocks, sums and sums of squares equal those of the whole matrix."""
    monkeypatch.setattr(base, "BLOCK", block)
    monkeypatch.setattr(semantic, "_NUMBERS_AT_ONCE", 10 * block)
    monkeypatch.setattr(semantic, "_PAIR_BLOCK_SIZE", 10 * block)
    weights = sa.weights(STUDY, distance)
    D = np.array([[by_hand(A, B) for B in STUDY.values] for A in STUDY.values])
    k, l = (grid.ravel() for grid in np.indices(D.shape))
    every = np.arange(len(D))
    assert frozenset() in STUDY.values
    assert weights.distance_at(k, l) == pytest.approx(D.ravel(), abs=1e-14)
    assert weights.distance_at(k[:0], l[:0]).size == 0
    assert weights.block(every, every[3:]) == pytest.approx(D[:, 3:], abs=1e-14)
    x = np.random.default_rng(1).normal(size=(len(D), 2))
    assert weights.distance_dot(x) == pytest.approx(D @ x, abs=1e-12)
    assert weights.distance_dot(x[:, 0]) == pytest.approx(D @ x[:, 0], abs=1e-12)
    squares = x[:, 0] @ D**2 @ x[:, 0] / weights.max_distance**2
    assert weights.squares(x[:, 0]) == pytest.approx(squares, abs=1e-12)


def test_only_empty_sets():
    weights = sa.weights(annotations(text("{} {} / {} {}")), CENTROIDS)
    assert weights.distance_dot(np.array([3.0])).tolist() == [0]
