"""The map of the raters: exact geometry, scikit-learn's silhouettes, clusters and noise."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference_support import one_line
from small_studies import annotations, numbers, random_rows, row_lists, sets_of, text

import setagree as sa
from setagree.errors import DataError, OptionError
from setagree.panels import rater_map as rater_map_module
from setagree.panels.rater_map import (
    best_cuts,
    by_way_of_others,
    classical_scaling,
    cluster_sums,
    linkage_of,
    rater_map,
    silhouettes,
    unit_bimodality,
)


def two_camps(units=30, noise=0.1, seed=0):
    """Return rows of six raters: the first three give one set, the others another, with noise."""
    rng = np.random.default_rng(seed)
    answers = sets_of("abc")
    rows = []
    for _ in range(units):
        one, two = rng.integers(len(answers), size=2)
        row = [answers[one]] * 3 + [answers[two]] * 3
        rows.append([answers[rng.integers(8)] if rng.random() < noise else x for x in row])
    return rows


def mean_distances(rows, distance):
    """Return the mean distance of each pair of columns over the rows that have both; by loops."""
    n = len(rows[0])
    out = np.full((n, n), np.nan)
    for g, h in itertools.product(range(n), repeat=2):
        d = [distance(r[g], r[h]) for r in rows if r[g] is not None and r[h] is not None]
        out[g, h] = 0 if g == h else np.mean(d) if d else np.nan
    return out


class TestDistances:
    @given(rows=row_lists(sets_of("abc"), units=8, raters=5))
    def test_equal_the_loops(self, rows):
        rows = [[*row, frozenset("a")] for row in rows]
        named = [g for g in range(len(rows[0])) if any(row[g] is not None for row in rows)]
        result = rater_map(annotations(rows), distance="dice", n_resamples=0)
        order = [f"r{g}" for g in named]
        found = result.distances.loc[order, order].to_numpy()
        expected = mean_distances([[row[g] for g in named] for row in rows], sa.distances.dice)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        both = [
            [sum(r[g] is not None and r[h] is not None for r in rows) for h in named] for g in named
        ]
        shared = result.shared.loc[order, order].to_numpy()
        off = ~np.eye(len(named), dtype=bool)
        assert (shared[off] == np.array(both)[off]).all()

    @pytest.mark.parametrize("distance", ["nominal", "masi"])
    def test_is_kappa_of_the_pair(self, distance):
        study = sa.simulate(50, 5, skill=[0.9, 0.8, 0.7, 0.5, 0.2], rng=1)
        found = rater_map(study, distance=distance, n_resamples=0).disagreement
        pairs = sa.by_pair(study, coefficient="conger_kappa", distance=distance)
        for row in pairs.to_dict("records"):
            apart = found.loc[row["rater_a"], row["rater_b"]]
            assert apart == pytest.approx(1 - row["estimate"], abs=1e-12)

    def test_runs(self, monkeypatch):
        """Pairs in short runs, kept or not, give the same map and the same reshuffles."""
        study = annotations(two_camps())
        whole = rater_map(study, rng=1, n_resamples=5)
        monkeypatch.setattr(rater_map_module, "PAIR_BLOCK_SIZE", 7)
        monkeypatch.setattr(rater_map_module, "_KEPT_PAIRS", 0)
        parts = rater_map(study, rng=1, n_resamples=5)
        np.testing.assert_allclose(parts.distances, whole.distances, atol=1e-14)
        np.testing.assert_allclose(parts.null, whole.null, atol=1e-12)

    def test_bridges(self):
        """Raters without common units are placed by the shortest way; 0 is a way, too.

        r0 and r1 agree fully, r0 and r2 share nothing. r1 and r2 share one unit, at distance 1/2.
        r1 gave a, b and ab, r2 gave a: one answer of each is (0 + 1 + 1/2) / 3 = 1/2 apart by
        chance. Their disagreement is 1.
        """
        rows = text("a a . / b b . / . ab a")
        result = rater_map(annotations(rows), distance="jaccard", n_resamples=0)
        assert result.n_bridged == 1
        assert np.isnan(result.distances.loc["r0", "r2"])
        table = result.table
        gap = np.hypot(*(table.loc["r2", ["x", "y"]] - table.loc["r0", ["x", "y"]]))
        assert gap == pytest.approx(1, abs=1e-12)

    def test_islands(self):
        """Raters who share nothing with the rest, not even through others, are not placed."""
        result = rater_map(annotations(text("a a a . . / b b c . . / . . . a a")), n_resamples=0)
        assert result.table["cluster"].tolist() == [1, 1, 1, 0, 0]
        assert result.table.loc["r3", ["x", "y", "silhouette"]].isna().all()
        assert result.table.loc["r3", "mean_distance"] == 0
        assert result.unplaced == ["r3", "r4"]
        assert result.verdict == (
            "No verdict: fewer than four raters can form no clusters. 2 raters not placed, because "
            "they share no unit with the others: 'r3' and 'r4'."
        )
        assert "2 raters not placed, because" in repr(result)
        assert one_line(result)

    def test_two_groups_without_common_units(self):
        rows = [[*row, None, None, None, None] for row in two_camps()]
        rows += [[None] * 6 + row[1:5] for row in two_camps(seed=1)]
        result = rater_map(annotations(rows), rng=1)
        assert result.unplaced == ["r6", "r7", "r8", "r9"]
        assert result.verdict.startswith(
            "The raters form 2 clusters, of 3 ('r0', 'r1' and 'r2') and 3 ("
        )
        whole = rater_map(annotations(two_camps()), rng=1)
        assert whole.unplaced == []
        assert "placed" not in whole.verdict + repr(whole)

    def test_a_crowd(self):
        """More than 2,000 raters are refused before anything of their pairs is made."""
        crowd = [(f"r{g}", u, "a") for g in range(40_000) for u in (g, g + 1)]
        with pytest.raises(DataError, match=r"40,000 raters are too many \(the limit is 2,000\)"):
            rater_map(sa.Annotations.from_triples(crowd))


class TestGeometry:
    def test_points_of_a_plane(self):
        points = np.random.default_rng(1).normal(size=(12, 2))
        D = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
        found, explained = classical_scaling(D)
        again = np.hypot(*(found[:, None] - found[None]).transpose(2, 0, 1))
        np.testing.assert_allclose(again, D, atol=1e-12)
        assert explained == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)

    @pytest.mark.parametrize("seed", range(6))
    def test_the_farthest_point_has_positive_coordinates(self, seed):
        points = np.random.default_rng(seed).random(size=(6, 2)) / 2
        D = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
        for x in classical_scaling(D)[0].T:
            assert x[np.abs(x).argmax()] > 0

    def test_no_spread(self):
        """Points that coincide lie at 0; two points lie on a line."""
        found, explained = classical_scaling(np.zeros((3, 3)))
        assert (found == 0).all()
        assert explained == 1
        line, _ = classical_scaling(np.array([[0.0, 1.0], [1.0, 0.0]]))
        assert sorted(line[:, 0].tolist()) == pytest.approx([-0.5, 0.5])

    def test_small_distances(self):
        """Distances of a millionth are drawn as those of 1 are: the share held is the same."""
        points = np.random.default_rng(3).normal(size=(9, 4))
        D = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
        assert classical_scaling(D * 1e-7)[1] == pytest.approx(classical_scaling(D)[1], abs=1e-9)
        assert classical_scaling(D)[1] < 0.95

    def test_silhouettes_of_scikit_learn(self):
        metrics = pytest.importorskip("sklearn.metrics")
        rng = np.random.default_rng(2)
        points = rng.normal(size=(20, 3))
        D = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
        labels = np.concatenate([[1, 2], rng.integers(1, 4, size=17), [4]])
        expected = metrics.silhouette_samples(D, labels, metric="precomputed")
        np.testing.assert_allclose(
            silhouettes(cluster_sums(D, labels), labels), expected, atol=1e-12
        )

    def test_cuts(self):
        """Three groups far apart are found as three; clusters are numbered as they appear."""
        points = np.array([5.0, 0.0, 5.1, 9.0, 0.1, 9.1])
        D = np.abs(points[:, None] - points[None])
        (found,) = best_cuts([linkage_of(D)], D[None], range(2, 6))
        assert found.labels.tolist() == [1, 2, 1, 3, 2, 3]
        zeros = np.zeros((6, 6))
        halves, alike = best_cuts([linkage_of(D), linkage_of(zeros)], np.array([D, zeros]), [2])
        assert halves.labels.max() == 2
        assert alike.silhouette == 0

    @given(
        n=st.integers(2, 12),
        zeros=st.sampled_from([0, 0.1, 0.4]),
        missing=st.sampled_from([0.1, 0.5]),
        seed=st.integers(0, 999),
    )
    def test_ways_over_others(self, n, zeros, missing, seed):
        """A missing distance is that of the shortest way: Floyd and Warshall's, in three loops.

        Points at distance 0 of each other, too; known distances stay as they are.
        """
        rng = np.random.default_rng(seed)
        D = rng.random((n, n)) * (rng.random((n, n)) >= zeros)
        D[rng.random((n, n)) < missing] = np.nan
        D = np.triu(D, 1) + np.triu(D, 1).T
        ways = np.where(np.isnan(D), np.inf, D)
        for k, i, j in itertools.product(range(n), repeat=3):
            ways[i, j] = min(ways[i, j], ways[i, k] + ways[k, j])
        expected = np.where(np.isnan(D), ways, D)
        np.testing.assert_allclose(by_way_of_others(D), expected, atol=1e-12)

    @given(n=st.integers(3, 15), most=st.integers(2, 8), seed=st.integers(0, 999))
    def test_the_best_of_all_cuts(self, n, most, seed):
        """The best cut is that of the largest silhouette, each taken by itself; of ties the first.

        Whole numbers make points that coincide.
        """
        points = np.random.default_rng(seed).integers(0, 4, size=(n, 2)).astype(float)
        D = np.abs(points[:, None] - points[None]).sum(axis=2)
        tree = linkage_of(D)
        (found,) = best_cuts([tree], D[None], range(2, most + 1))
        each = [best_cuts([tree], D[None], [k])[0] for k in range(2, most + 1)]
        assert found.silhouette == pytest.approx(max(one.silhouette for one in each), abs=1e-12)
        again = silhouettes(cluster_sums(D, found.labels), found.labels)
        np.testing.assert_allclose(found.silhouettes, again, atol=1e-12)


class TestChance:
    @pytest.mark.parametrize(("kept", "sparse"), [(3_400, 1.0), (3_400, 0.0), (2, 1.0)])
    def test_equal_to_all_pairs(self, monkeypatch, kept, sparse):
        """It is the mean over all pairs of an answer of the one and an answer of the other.

        Whether distances are kept, raters gave few of the answers, or neither.
        """
        monkeypatch.setattr(rater_map_module, "_KEPT_VALUES", kept)
        monkeypatch.setattr(rater_map_module, "_SPARSE", sparse)
        monkeypatch.setattr(rater_map_module, "_LAST_VALUES", 3)
        rng = np.random.default_rng(5)
        study = annotations(random_rows(rng, sets_of("abcd"), units=30, raters=5, missing=0.3))
        weights = sa.weights(study, "masi")
        pairs = rater_map_module.SharedPairs(study, weights)
        raters = pairs.permuted(np.random.default_rng(1))
        order = np.argsort(study.unit_codes, kind="stable")
        values = study.value_codes[order]
        paired = np.bincount(study.unit_codes)[study.unit_codes[order]] > 1
        own = [values[paired & (raters == g)] for g in range(5)]
        for g, h in itertools.product(range(5), repeat=2):
            k, l = np.meshgrid(own[g], own[h])
            expected = weights.distance_at(k.ravel(), l.ravel()).mean()
            assert pairs.by_chance(raters)[g, h] == pytest.approx(expected, abs=1e-12)

    def test_five_hundred_raters_pass(self):
        """199 reshuffles of 500 raters who gave 2,000 different answers are not refused.

        They take seconds; the distances between the answers are kept.
        """
        rng = np.random.default_rng(1)
        triples = [(g, u, f"x{rng.integers(2000)}") for g in range(500) for u in range(g, g + 3)]
        study = sa.Annotations.from_triples(triples)
        pairs = rater_map_module.SharedPairs(study, sa.weights(study, "masi"))
        assert 199 * pairs.n_steps < 2e9


class TestVerdict:
    def test_two_camps(self):
        result = rater_map(annotations(two_camps()), rng=1)
        assert result.rater_clusters == [["r0", "r1", "r2"], ["r3", "r4", "r5"]]
        assert result.p_value == 1 / 200
        clusters = "3 ('r0', 'r1' and 'r2') and 3 ('r3', 'r4' and 'r5')"
        assert result.verdict == f"The raters form 2 clusters, of {clusters} (p = 0.005)."
        assert one_line(result)
        assert result.to_frame().equals(result.table)

    @pytest.mark.slow
    def test_noise_is_called_noise(self):
        """Under exchangeable raters p is uniform: at most 0.05 in about 3 of 60 studies.

        More than 9 of 60 has a probability of 0.1%.
        """
        found = 0
        for seed in range(60):
            rng = np.random.default_rng(seed)
            rows = random_rows(rng, sets_of("ab"), units=20, raters=6, missing=0.1)
            result = rater_map(annotations(rows), n_resamples=39, rng=seed)
            found += result.p_value <= 0.05
        assert found <= 9
        quiet = rater_map(
            annotations(random_rows(np.random.default_rng(3), sets_of("ab"), units=20, raters=6)),
            rng=1,
        )
        assert quiet.verdict.startswith("No clusters: the raters form no clearer groups")

    def test_base_rates_are_no_camps(self):
        """Raters who label little are alike in their blanks; that alone makes no cluster.

        Six raters see each label of a unit with the same errors; three of them then leave three of
        four units blank, each rater other ones. Their mean distances are the smallest of all, as
        blanks meet blanks, and yet any two of them agree less than two of the others do.
        """
        rng = np.random.default_rng(1)
        answers = [frozenset(x) for x in ("a", "b", "c", "d")]
        rows = []
        for true in rng.integers(4, size=300):
            seen = [answers[true if rng.random() < 0.6 else rng.integers(4)] for _ in range(6)]
            blank = rng.random(3) < 0.75
            rows.append(
                [
                    *seen[:3],
                    *(frozenset() if b else x for b, x in zip(blank, seen[3:], strict=True)),
                ]
            )
        study = annotations(rows)
        found = rater_map(study, distance="nominal", rng=1)
        blanks = found.distances.to_numpy()[3:, 3:]
        assert blanks.sum() < found.distances.to_numpy()[:3, :3].sum()
        assert ["r3", "r4", "r5"] not in found.rater_clusters

    def test_one_stands_apart(self):
        rng = np.random.default_rng(4)
        rows = [[*[sets_of("abc")[i % 8]] * 5, sets_of("abc")[rng.integers(8)]] for i in range(40)]
        result = rater_map(annotations(rows), rng=1)
        assert "No clusters, but 'r5' differs from the others" in result.verdict

    @pytest.mark.parametrize("skill", [[0.9] * 3 + [0.3] * 3, [0.6, 0.65, 0.7, 0.75, 0.8, 0.85]])
    def test_careless_raters_are_no_camp(self, skill):
        result = rater_map(sa.simulate(300, 6, skill=skill, rng=2), rng=1)
        assert result.p_value <= 0.05
        assert re.fullmatch(r"No clusters, but '.* from the others \(p = .*\)\.", result.verdict)
        assert "'r6'" in result.verdict or "'r1'" in result.verdict

    def test_all_alike(self):
        """Raters who never differ: one cluster, no sign of clusters."""
        result = rater_map(annotations(text("a a a a / b b b b")), rng=1, n_resamples=9)
        assert result.table["cluster"].tolist() == [1, 1, 1, 1]
        assert (result.silhouette, result.p_value) == (0, 1)
        assert result.verdict.startswith("No clusters: the raters form no clearer groups")

    def test_few_raters(self):
        result = rater_map(annotations(text("a a b / b b a")), rng=1)
        assert np.isnan(result.silhouette)
        assert np.isnan(result.p_value)
        assert len(result.null) == 0
        assert result.verdict == "No verdict: fewer than four raters can form no clusters."
        assert result.table.loc["r2", "x"] == pytest.approx(-2 * result.table.loc["r0", "x"])

    def test_no_reshuffles(self):
        result = rater_map(annotations(two_camps()), n_resamples=0)
        assert result.table["cluster"].nunique() == 2
        assert result.verdict.startswith("No verdict: n_resamples=0")

    def test_the_seed_decides(self):
        study = annotations(two_camps())
        one, two = (rater_map(study, n_resamples=5, rng=3).null for _ in range(2))
        np.testing.assert_array_equal(one, two)

    def test_reshuffles_keep_the_units(self):
        study = annotations(
            random_rows(np.random.default_rng(5), sets_of("ab"), units=15, raters=4, missing=0.3)
        )
        weights = sa.weights(study, "jaccard")
        pairs = rater_map_module.SharedPairs(study, weights)
        shuffled, seen = (
            pairs.sums(pairs.permuted(np.random.default_rng(1))),
            pairs.sums(pairs.raters),
        )
        assert shuffled.sum() == pytest.approx(seen.sum())
        assert not np.allclose(shuffled, seen)
        assert (shuffled[pairs.counts == 0] == 0).all()

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"n_resamples": -1}, "n_resamples=-1"),
            ({"rng": "x"}, "neither a seed"),
        ],
    )
    def test_refusals(self, options, words):
        with pytest.raises(OptionError, match=words):
            rater_map(annotations(text("a a b / b b a")), **options)

    def test_one_rater(self):
        with pytest.raises(DataError, match="a map needs pairs of raters"):
            rater_map(annotations(text("a / b")))


class TestUnits:
    def test_known_units(self):
        """Halves at distance 1: 1; agreement: 0; four answers apart: 1/4; one rater: nan and 0."""
        rows = text("a a b b / a a a a / a b c d / a . . . / a a a b")
        table = unit_bimodality(annotations(rows), sa.weights(annotations(rows), "nominal"))
        assert table["bimodality"].tolist() == pytest.approx([1, 0, 0.25, 0, 0.75])
        expected = [4 / 6, 0, 1, np.nan, 0.5]
        np.testing.assert_allclose(table["disagreement"], expected, atol=1e-15)
        assert table.loc[4, ["first", "second"]].tolist() == [frozenset("a"), frozenset("b")]
        assert table.loc[1, "first"] is None

    @given(rows=row_lists(sets_of("abc"), units=6, raters=6))
    def test_equals_the_loop(self, rows):
        """The largest 4 p q d over pairs of answers, and a pair with it, larger cluster first."""
        study = annotations(rows)
        table = unit_bimodality(study, sa.weights(study, "masi"))
        for _, found in table.iterrows():
            row = [x for x in rows[int(found["unit"][1:])] if x is not None]
            share = {x: row.count(x) / len(row) for x in row}

            def strength(x, y, share=share):
                return 4 * share[x] * share[y] * sa.distances.masi(x, y)

            best = max((strength(x, y) for x, y in itertools.product(share, repeat=2)), default=0)
            assert found["bimodality"] == pytest.approx(best, abs=1e-12)
            if best:
                assert strength(found["first"], found["second"]) == pytest.approx(best, abs=1e-12)
                assert share[found["first"]] >= share[found["second"]]

    def test_a_scale(self):
        study = annotations(numbers("1 1 5 5 / 1 1 3 3"))
        table = rater_map(study, distance="linear", n_resamples=0).units
        assert table["bimodality"].tolist() == pytest.approx([1, 0.5])
