"""Units of thousands of ratings: what is redrawn inside of them, counted or listed pair by pair."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from inference_support import HARD, PAIRS, estimates, fitting, noisy_rows, score
from measuring import peak

import setagree as sa
from setagree.inference import bootstrap
from setagree.inference import shuffler as shuffling
from setagree.inference.permutation import shuffler_of

every_pair = pytest.mark.parametrize(("name", "distance"), PAIRS)


CROWD = pd.DataFrame({"a": [9000, 4000, 8000], "b": [1000, 6000, 2000]})
"""10,000 ratings a unit, of two values: 150 million pairs."""


@pytest.fixture
def no_list(monkeypatch):
    """Let nothing be few enough for a list of pairs."""
    monkeypatch.setattr(shuffling, "PAIRS_LISTED", 0)


def roads(monkeypatch, road):
    """Count the values of the units by a matrix, or meet the distinct ones pair by pair."""
    monkeypatch.setattr(shuffling, "_CELLS_A_LOOKUP", 1e9 if road == "matrix" else 0)
    monkeypatch.setattr(shuffling, "_CELL_BLOCK_SIZE", 20)


every_road = pytest.mark.parametrize("road", ["matrix", "lookups"])


class TestManyRatings:
    @pytest.mark.slow
    @every_road
    @every_pair
    def test_reshuffles_equal_the_study_rewritten(self, monkeypatch, no_list, name, distance, road):
        roads(monkeypatch, road)
        rows = fitting(name, HARD)
        agreement = score(rows, name, distance)
        shuffler = shuffler_of(agreement, "within_rater")
        V, rng = np.tile(shuffler.value, (8, 1)), np.random.default_rng(4)
        for mine in shuffler.groups:
            V[:, mine] = rng.permuted(V[:, mine], axis=1)
        places = list(zip(shuffler.unit, shuffler.rater, strict=True))
        rewritten = []
        for answers in V:
            new = [list(row) for row in rows]
            for (i, g), k in zip(places, answers, strict=True):
                column = int(agreement.study.raters[g].removeprefix("r"))
                new[i][column] = shuffler.weights.values[k]
            rewritten.append(new)
        by_hand = estimates(rewritten, name, distance)
        assert shuffler.evaluate(V).tolist() == pytest.approx(by_hand, abs=1e-11, nan_ok=True)

    @every_road
    @pytest.mark.parametrize("scheme", ["pooled", "within_rater"])
    def test_same_reshuffles(self, monkeypatch, scheme, road):
        alpha = score(noisy_rows(1, units=12, raters=5, missing=0.2), "krippendorff_alpha")
        listed = sa.permutation_test(alpha, n_resamples=50, scheme=scheme, rng=3).distribution
        monkeypatch.setattr(shuffling, "PAIRS_LISTED", 0)
        roads(monkeypatch, road)
        counted = sa.permutation_test(alpha, n_resamples=50, scheme=scheme, rng=3).distribution
        np.testing.assert_allclose(counted, listed, rtol=0, atol=1e-13)

    @every_road
    @every_pair
    def test_same_draws_of_raters(self, monkeypatch, name, distance, road):
        agreement = score(fitting(name, HARD), name, distance)
        loaded = bootstrap.TwoWay(agreement, agreement.study)
        counted = bootstrap.TwoWay(agreement, agreement.study)
        rng = np.random.default_rng(5)
        m = rng.integers(3, size=(agreement.n_units, 10)).astype(float)
        w = rng.integers(3, size=(agreement.n_raters, 10)).astype(float)
        expected = loaded.estimates(m, w)
        monkeypatch.setattr(shuffling, "PAIRS_LISTED", 0)
        roads(monkeypatch, road)
        actual = counted.estimates(m, w)
        assert actual.tolist() == pytest.approx(expected.tolist(), abs=1e-12, nan_ok=True)
        assert not counted._lists_pairs

    def test_when_pairs_are_listed(self):
        r = np.full(1000, 3.0)
        assert shuffling.lists_pairs(r, 2)
        assert shuffling.lists_pairs(np.full(100, 60.0), 1000)
        assert not shuffling.lists_pairs(np.full(100, 60.0), 5)
        assert not shuffling.lists_pairs(np.full(3, 10_000.0), 50_000)

    def test_memory_of_reshuffles(self):
        """Ten thousand ratings a unit take no list of 150 million pairs.

        Two reshuffles, from the definition: sum of 2 n_a n_b / (r - 1) over units, of N De.
        """
        alpha = sa.krippendorff_alpha(sa.Tally.from_counts(CROWD), distance="nominal")
        test, megabytes = peak(lambda: sa.permutation_test(alpha, n_resamples=2, rng=1))
        assert megabytes < 60
        shuffler = shuffler_of(alpha, "pooled")
        V = np.tile(shuffler.value, (2, 1))
        V = np.random.default_rng(1).permuted(V, axis=1, out=V)
        for answers, found in zip(V, test.distribution, strict=True):
            ones = np.add.reduceat(answers, [0, 10_000, 20_000])
            do = sum(2 * int(k) * (10_000 - int(k)) / 9_999 for k in ones) / 30_000
            de = 2 * 21_000 * 9_000 / (30_000 * 29_999)
            assert found == pytest.approx(1 - do / de, abs=1e-12)

    def test_memory_of_raters(self):
        """300 raters of 500 units have 22 million pairs, which are not held either."""
        alpha = sa.krippendorff_alpha(sa.simulate(500, 300, rng=0))
        _, megabytes = peak(lambda: sa.bootstrap(alpha, n_resamples=2, over="raters", rng=1))
        assert megabytes < 60
