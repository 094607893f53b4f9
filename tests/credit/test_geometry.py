"""Label sets as arrays: members, sizes, bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setagree.credit import geometry
from setagree.credit.geometry import SetGeometry, size_classes

FAMILY = [frozenset("ca"), frozenset(), frozenset({7, "b"}), frozenset({-2, 7, "a"})]
families = st.lists(st.frozensets(st.integers(0, 300), max_size=40), min_size=1, max_size=8)


def test_members_are_sorted_positions():
    made = SetGeometry(FAMILY)
    assert made.labels == [-2, 7, "a", "b", "c"]
    assert made.sizes.tolist() == [2, 0, 2, 3]
    members = [
        made.indices[i:j].tolist() for i, j in zip(made.indptr, made.indptr[1:], strict=False)
    ]
    assert members == [[2, 4], [], [1, 3], [0, 1, 2]]
    assert (made.n_values, made.n_words) == (4, 1)


def test_only_empty_sets():
    made = SetGeometry([frozenset()])
    assert made.labels == []
    assert made.words.tolist() == [[0]]
    assert made.shared(np.array([0]), np.array([0])).tolist() == [0]
    assert made.shared_block(np.array([0]), np.array([0])).tolist() == [[0]]


@pytest.mark.parametrize(("labels", "words"), [(1, 1), (64, 1), (65, 2), (128, 2), (200, 4)])
def test_words(labels, words):
    """64 labels fill a word; each label has its own bit."""
    made = SetGeometry([frozenset([k]) for k in range(labels)])
    assert made.n_words == words
    assert made.words.shape == (words, labels)
    assert int(np.bitwise_count(made.words).sum()) == labels
    assert np.bitwise_or.reduce(made.words, axis=1)[0] == (1 << min(64, labels)) - 1


@pytest.mark.parametrize("chunk", [1, 3, 1_000_000])
@given(family=families)
def test_shared_counts_the_intersection(chunk, family):
    made = SetGeometry(family)
    n = len(family)
    expected = np.array([[len(A & B) for B in family] for A in family])
    k, l = (grid.ravel() for grid in np.indices((n, n)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(geometry, "_PAIR_CHUNK", chunk)
        assert made.shared(k, l).tolist() == expected.ravel().tolist()
    assert (
        made.shared_block(np.arange(n), np.arange(n)[::-1]).tolist() == expected[:, ::-1].tolist()
    )


@pytest.mark.parametrize("chunk", [1, 7, 50_000])
def test_many_labels(monkeypatch, chunk):
    """Sets of few of 1,000 labels are compared by members, with what Python's sets have."""
    monkeypatch.setattr(geometry, "_ROW_CHUNK", chunk)
    rng = np.random.default_rng(1)
    small = [frozenset(rng.choice(40, n, replace=False).tolist()) for n in range(12)]
    family = [*small, *(frozenset({40 + k, k % 40}) for k in range(960))]
    made = SetGeometry(family)
    assert made.n_words == 16
    k, l = rng.integers(len(family), size=(2, 60))
    k[:30], l[:30] = rng.integers(12, size=(2, 30))
    expected = [len(family[i] & family[j]) for i, j in zip(k, l, strict=True)]
    assert made.shared(k, l).tolist() == expected
    assert max(expected) > 3
    assert "words" not in vars(made)


def test_size_classes():
    sizes, codes = size_classes(np.array([3, 0, 3, 7]))
    assert sizes.tolist() == [0, 3, 7]
    assert codes.tolist() == [1, 0, 1, 2]
