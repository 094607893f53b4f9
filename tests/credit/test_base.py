"""What every weights operator offers, and the matrix for people to read."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from asking import sentence
from small_studies import annotations, numbers, text

import setagree as sa
from setagree.credit import base
from setagree.credit.base import add_symmetric_blocks, chunks, display_value, reading_key
from setagree.credit.overlap import NominalWeights, PointWeights
from setagree.errors import DataError

SETS = annotations(text("ab {} / b a / c ab"))


class TestToFrame:
    def test_labels_and_order_of_sets(self):
        frame = sa.weights(SETS, "jaccard").to_frame()
        assert frame.index.tolist() == ["{}", "a", "b", "c", "a, b"]
        assert frame.columns.tolist() == frame.index.tolist()

    def test_entries_belong_to_their_labels(self):
        """Jaccard: {a} and {a, b} 1/2, {a} and {b} 0, the empty set 0 to all but itself."""
        credit = sa.weights(SETS, "jaccard").to_frame()
        assert credit.loc["a", "a, b"] == credit.loc["a, b", "a"] == 0.5
        assert credit.loc["a", "b"] == 0
        assert credit.loc["{}"].tolist() == [1, 0, 0, 0, 0]
        assert np.diag(credit).tolist() == [1] * 5

    def test_distances(self):
        """With distance=True the entries are in units of the distance: Hamming counts labels."""
        distance = sa.weights(SETS, "hamming").to_frame(distance=True)
        assert distance.loc["c", "a, b"] == 3
        assert distance.loc["{}", "a"] == 1
        credit = sa.weights(SETS, "hamming").to_frame()
        assert credit.to_numpy() == pytest.approx(1 - distance.to_numpy() / 3)

    def test_numbers_by_size_and_categories_by_name(self):
        on_scale = sa.weights(annotations(numbers("10 2 / -1 2")), "linear").to_frame()
        assert on_scale.index.tolist() == ["-1", "2", "10"]
        named = sa.Annotations.from_triples(
            [("x", 1, "low"), ("y", 1, "high"), ("x", 2, "mid")], kind="value"
        )
        assert sa.weights(named, "nominal").to_frame().index.tolist() == ["high", "low", "mid"]

    def test_over_the_limit(self, monkeypatch):
        monkeypatch.setattr(base, "FRAME_LIMIT", 4)
        with pytest.raises(
            DataError, match=r"5 x 5 values would take 0.0 GB; the limit is 4 values"
        ):
            sa.weights(SETS).to_frame()

    def test_the_limit_is_there(self):
        """5,001 values are refused without being compared: 8 bytes x 5,001² = 0.2 GB."""
        with pytest.raises(DataError, match=r"5,001 x 5,001 values would take 0.2 GB"):
            NominalWeights(tuple(range(5_001))).to_frame()

    def test_hostile_labels_stay_labels(self):
        study = sa.Annotations.from_triples(
            [("x", 1, ["a, b", "%s"]), ("y", 1, ["<b>"]), ("x", 2, ["{x}"])]
        )
        index = sa.weights(study).to_frame().index.tolist()
        assert index == ['"{x}"', "<b>", '%s, "a, b"']


def test_reading_order():
    values = ["b", frozenset("b"), 10, frozenset(), 2.5, frozenset("ab"), "a"]
    ordered = [2.5, 10, frozenset(), frozenset("b"), frozenset("ab"), "a", "b"]
    assert sorted(values, key=reading_key) == ordered
    assert [display_value(v) for v in (2.5, frozenset(), frozenset("ba"), "x")] == [
        "2.5",
        "{}",
        "a, b",
        "x",
    ]


def test_credit_is_one_minus_distance_by_the_largest():
    """W = 1 - D / d_max: numbers 0, 1, 4 on a linear scale have d_max 4."""
    weights = sa.weights(annotations(numbers("0 1 / 4 1")), "linear")
    assert weights.max_distance == 4
    assert weights.n_values == 3
    k, l = np.array([0, 0, 1, 2]), np.array([0, 1, 2, 2])
    assert weights.at(k, l).tolist() == [1, 3 / 4, 1 / 4, 1]
    # W of values 0, 1, 4: rows (1, 3/4, 0), (3/4, 1, 1/4), (0, 1/4, 1)
    assert weights.dot(np.array([1.0, 2.0, 4.0])) == pytest.approx([2.5, 3.75, 4.5])
    both = weights.dot(np.array([[1.0, 0], [2.0, 0], [4.0, 1]]))
    assert both == pytest.approx(np.array([[2.5, 0], [3.75, 0.25], [4.5, 1]]))
    assert weights.distance_total == 2 * (1 + 4 + 3)


def test_codes_and_columns_may_be_plain():
    weights = sa.weights(SETS, "jaccard")
    k, l = (weights.values.index(frozenset(label)) for label in ("a", "ab"))
    assert weights.at(k, l) == 0.5
    assert weights.at([k, l], l).tolist() == [0.5, 1]
    assert weights.at(np.array([[k], [l]]), np.array([k, l])).tolist() == [[1, 0.5], [0.5, 1]]
    assert weights.dot([1] * 5).tolist() == weights.dot(np.ones(5)).tolist()


@pytest.mark.parametrize("block", [1, 2, 3, 100])
def test_blocks(monkeypatch, block):
    """D @ x over blocks equals D @ x, with d_max, whatever the size of the blocks."""
    monkeypatch.setattr(base, "BLOCK", block)
    p = np.array([0.0, 1, 4, 2, 9])
    weights = PointWeights(tuple(p), p, sa.distances.radical)
    D = np.sqrt(np.abs(p[:, None] - p))
    x = np.arange(10.0).reshape(5, 2)
    assert weights.distance_dot(x) == pytest.approx(D @ x)
    assert weights.max_distance == 3


@pytest.mark.parametrize("block", [1, 2, 100])
def test_inner_and_outer_blocks(monkeypatch, block):
    monkeypatch.setattr(base, "BLOCK", block)
    p = np.array([0.0, 1, 3, 7, 15])
    weights = PointWeights(tuple(p), p, sa.distances.linear)
    inner, outer = np.array([1, 3, 4]), np.array([0, 2])
    D = np.abs(p[:, None] - p)
    D[np.ix_(outer, outer)] = 0
    out, x = np.zeros(5), np.array([1.0, 2, 3, 4, 5])
    add_symmetric_blocks(weights, inner, outer, x, out)
    assert out.tolist() == (D @ x).tolist()


def test_chunks(monkeypatch):
    """Codes come in runs of one block, the last one shorter."""
    monkeypatch.setattr(base, "BLOCK", 2)
    assert [c.tolist() for c in chunks(np.arange(5))] == [[0, 1], [2, 3], [4]]
    assert list(chunks(np.arange(0))) == []


def test_weights_of_a_table_of_counts():
    tally = sa.Tally.from_counts(pd.DataFrame({"a": [2], "b": [0], "a, b": [1]}))
    assert sa.weights(tally, "dice").to_frame().loc["a", "a, b"] == pytest.approx(2 / 3)


def test_dense_matrix_that_is_too_large():
    study = sa.Annotations.from_triples([(r, u, [f"l{u}"]) for u in range(5001) for r in "xy"])
    words = sentence(DataError, sa.weights(study, "masi").to_frame)
    assert words == (
        "a matrix of 5,001 x 5,001 values would take 0.2 GB; the limit is 5,000 values."
    )


class TestSmallProducts:
    @pytest.mark.parametrize("shape", [(1, 1, 1), (70, 90, 50), (33, 257, 133), (300, 20, 2)])
    @pytest.mark.parametrize("one_thread", [1, 500, 2**18])
    def test_pieces_are_the_whole(self, monkeypatch, shape, one_thread):
        monkeypatch.setattr(base, "_ONE_THREAD", one_thread)
        m, k, n = shape
        rng = np.random.default_rng(1)
        a, b = rng.random((m, k)), rng.random((n, k)).T
        np.testing.assert_allclose(base.small_products(a, b), a @ b, rtol=1e-13)

    @pytest.mark.slow
    def test_threads_are_not_woken(self):
        """Two hundred products of 257 values take no more processor time than the clock shows.

        Threads that wait take as much again on two cores, and more on more.
        """
        code = (
            "import time, numpy as np\n"
            "from setagree.credit.base import small_products\n"
            "a, b = np.ones((257, 257)), np.ones((257, 133))\n"
            "small_products(a, b)\n"
            "clock, cpu = time.perf_counter(), time.process_time()\n"
            "for _ in range(200): small_products(a, b)\n"
            "print((time.process_time() - cpu) / (time.perf_counter() - clock))\n"
        )
        free = {name: each for name, each in os.environ.items() if "NUM_THREADS" not in name}
        done = subprocess.run(
            [sys.executable, "-c", code], env=free, capture_output=True, text=True
        )
        assert float(done.stdout) < 1.2
