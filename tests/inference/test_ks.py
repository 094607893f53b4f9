"""The statistic of Kolmogorov and Smirnov: the published study, scipy's, every arrangement."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference_support import HARD, T1
from scipy import stats
from small_studies import annotations, numbers, row_lists, sets_of, text

import setagree as sa
from setagree.errors import CostError, DataError, SetagreeWarning, UndefinedAgreementWarning
from setagree.inference.ks import ks_statistic


def distances_of(study, distance):
    """Return the distances of all pairs of ratings of one unit, and of two."""
    sizes = np.bincount(study.unit_codes)
    rows = np.flatnonzero(sizes[study.unit_codes] >= 2)
    i, j = (rows[each] for each in np.triu_indices(len(rows), 1))
    d = sa.weights(study, distance).distance_at(study.value_codes[i], study.value_codes[j])
    same = study.unit_codes[i] == study.unit_codes[j]
    return d[same].round(12), d[~same].round(12)


def scipys(study, distance):
    """Return scipy's statistic of those two lists; nan without different units."""
    inside, between = distances_of(study, distance)
    if not len(inside) or not len(between):
        return np.nan
    return stats.ks_2samp(inside, between, alternative="greater").statistic


class TestStatistic:
    @pytest.mark.parametrize("distance", ["masi", "jaccard"])
    def test_the_walk_through(self, distance):
        """T1 has 31 pairs inside units, 465 between: ks_2samp of scipy 1.17 gives .3591397849."""
        found = ks_statistic(annotations(T1), distance=distance, n_resamples=0)
        assert found.estimate == pytest.approx(0.35913978494623655, abs=1e-15)
        assert (found.n_observed_pairs, found.n_expected_pairs) == (31, 465)
        assert found.n_units == 11
        assert np.isnan(found.p_value)

    @pytest.mark.filterwarnings("ignore::setagree.SetagreeWarning")
    @given(
        rows=row_lists(sets_of("abc"), units=6, raters=4),
        distance=st.sampled_from(["masi", "jaccard", "dice", "hamming", "nominal"]),
    )
    def test_equals_scipys(self, rows, distance):
        study = annotations([[*row, frozenset("a")] for row in rows])
        found = ks_statistic(study, distance=distance, n_resamples=0)
        assert found.estimate == pytest.approx(scipys(study, distance), abs=1e-12, nan_ok=True)

    def test_numbers(self):
        """Hundreds of distinct distances, some of them apart by rounding alone."""
        rng = np.random.default_rng(1)
        rows = [(0.1 * rng.integers(0, 60, size=3)).tolist() for _ in range(40)]
        study = annotations(rows)
        found = ks_statistic(study, distance="linear", n_resamples=0)
        assert found.estimate == pytest.approx(scipys(study, "linear"), abs=1e-12)
        assert len(found.curve) == len(set(np.concatenate(distances_of(study, "linear"))))

    def test_an_increasing_function_changes_nothing(self):
        study = annotations(numbers("1 2 / 3 3 / 2 2 / 4 3 / 1 1 / 9 1"))
        one, two = (
            ks_statistic(study, distance=d, n_resamples=99, rng=1) for d in ("linear", "interval")
        )
        assert one.estimate == two.estimate
        assert one.p_value == two.p_value

    def test_many_blocks(self):
        study = sa.simulate(400, 2, n_labels=14, prevalence=0.4, rng=1)
        assert study.n_values > 300
        found = ks_statistic(study, n_resamples=0)
        assert found.estimate == pytest.approx(scipys(study, "masi"), abs=1e-12)
        assert found.curve["expected"].iloc[-1] == 1

    def test_a_tally_says_the_same(self):
        study = annotations(HARD)
        tally = ks_statistic(sa.Tally.from_annotations(study), n_resamples=0)
        assert tally.estimate == ks_statistic(study, n_resamples=0).estimate

    def test_one_answer(self):
        """Where all answers are alike nothing is nearer than chance has it: 0, and p is 1."""
        found = ks_statistic(annotations(text("a a / a a / a a")), rng=1)
        assert (found.estimate, found.p_value) == (0, 1)

    @pytest.mark.parametrize(
        ("rows", "why"),
        [("a a / b .", "only one unit has two ratings"), ("a . / . b", "no unit has two ratings")],
    )
    def test_undefined(self, rows, why):
        """Without pairs of different units it is nan, with a reason."""
        with pytest.warns(UndefinedAgreementWarning, match=why):
            found = ks_statistic(annotations(text(rows)), rng=1)
        assert np.isnan([found.estimate, found.statistic_location, found.p_value]).all()
        assert (found.reason, found.verdict) == (why, f"Undefined, because {why}.")


class TestReshuffles:
    def test_exact(self):
        """Of few answers all arrangements are scored: p is the share that is as large."""
        rows = text("a a / b ab / b b")
        study = annotations(rows)
        found = ks_statistic(study, distance="jaccard", rng=1)
        flat = [x for row in rows for x in row]
        every = {tuple(map(tuple, map(sorted, order))) for order in itertools.permutations(flat)}
        scores = [
            scipys(
                annotations([[frozenset(x) for x in order[k : k + 2]] for k in (0, 2, 4)]),
                "jaccard",
            )
            for order in every
        ]
        assert found.exact
        assert len(found.distribution) == len(every)
        np.testing.assert_allclose(np.sort(found.distribution), np.sort(scores), atol=1e-12)
        assert found.p_value == np.mean(np.array(scores) >= found.estimate - 1e-12)

    def test_more_than_chance(self):
        assert ks_statistic(sa.simulate(60, 3, rng=1), rng=1).p_value == 0.001
        rng = np.random.default_rng(3)
        guessed = [[frozenset("abcd"[k]) for k in rng.integers(4, size=3)] for _ in range(60)]
        assert ks_statistic(annotations(guessed), rng=1).p_value > 0.05


class TestWords:
    def test_the_verdict(self):
        found = ks_statistic(annotations(T1), distance="jaccard", n_resamples=99, rng=1)
        row = found.curve.set_index("distance").loc[0.5]
        assert row["observed"] - row["expected"] == found.estimate
        assert found.verdict == (
            "71% of the pairs of answers to one unit are at most 0.5000 apart, "
            "and 35% of the pairs of answers to two units (p = 0.010)."
        )

    def test_no_lead(self):
        found = ks_statistic(annotations(text("a b / c d / e f")), n_resamples=0)
        assert found.estimate == 0
        assert found.verdict == (
            "At no distance are more of the pairs of answers to one unit as near as that than of "
            "the pairs of answers to two units."
        )

    def test_refusals(self):
        """Fractions of ratings, and more reshuffles than a machine can do."""
        counts = sa.Tally.from_counts(pd.DataFrame({"a": [1.5, 2.0], "b": [1.0, 0.0]}))
        with pytest.raises(DataError, match="counts that are fractions"):
            ks_statistic(counts)
        with pytest.raises(CostError, match="Use at most n_resamples="):
            ks_statistic(sa.simulate(60, 3, rng=1), n_resamples=10**9)

    def test_clusters_are_left_aside(self):
        study = sa.simulate(20, 3, rng=1)
        clustered = study.sampled(cluster={unit: k // 2 for k, unit in enumerate(study.units)})
        with pytest.warns(SetagreeWarning, match="ks_statistic treats the units as drawn one by"):
            found = ks_statistic(clustered, n_resamples=0)
        assert found.estimate == ks_statistic(study, n_resamples=0).estimate
