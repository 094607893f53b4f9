"""The reliability of agreed answers: exact cases, every split by hand, what it refuses."""

import itertools
from collections import Counter

import numpy as np
import pytest
from inference_support import one_line
from scipy import stats
from small_studies import annotations, numbers, random_rows, sets_of, text

import setagree as sa
from setagree.distances import get_distance
from setagree.errors import DataError, OptionError, UndefinedAgreementWarning
from setagree.inference.panel_members import part_of
from setagree.panels.consensus import Rule, consensus
from setagree.panels.k_rater import k_rater_reliability, random_split, spearman_brown, split_alphas

ALL_PAIRS = list(itertools.product(sets_of("abc"), repeat=2))


def majority(answers):
    labels = frozenset().union(*answers)
    return frozenset(x for x in labels if 2 * sum(x in a for a in answers) > len(answers))


class TestExact:
    def test_one_of_two_raters(self):
        """With k = 1 and two raters every split is the study itself: alpha."""
        rows = random_rows(np.random.default_rng(1), sets_of("abc"), units=30, raters=2)
        alpha = sa.krippendorff_alpha(annotations(rows)).estimate
        result = k_rater_reliability(annotations(rows), k=1, n_splits=5, rng=1)
        np.testing.assert_allclose(result.splits, alpha, rtol=0, atol=1e-14)
        assert result.estimate == pytest.approx(alpha, abs=1e-14)
        assert result.single == result.spearman_brown == pytest.approx(alpha, abs=1e-14)

    def test_full_agreement(self):
        result = k_rater_reliability(
            annotations(text("a a a a / b b b b / {} {} {} {}")), k=2, rng=1
        )
        assert (result.estimate, result.single, result.spearman_brown) == (1, 1, 1)
        assert np.isnan(result.interval()).all()

    def test_an_interval_of_rare_answers_is_marked(self):
        """One b among 153 answers: 51 (1 - 152 / 153) is 1/3 of a unit."""
        rows = text(" / ".join(["a a a"] * 50 + ["a a b"]))
        with pytest.warns(UndefinedAgreementWarning):
            result = k_rater_reliability(annotations(rows), k=1, n_splits=20, rng=1)
        assert np.isfinite(result.interval()).all()
        assert "The interval is rough: all answers except the commonest weigh as much as 0.3" in (
            str(result.remark)
        )
        assert "interval is rough" in repr(result)
        assert "interval is rough" in " ".join(str(result).split())

    @pytest.mark.slow
    def test_every_split(self):
        """The mean is that over all splits: each unit has 3 pairs of panels, taken either way.

        alpha of two raters does not ask who is first, so 3 choices for each of four units: 81
        studies. Within 4 standard errors of 1,000 draws.
        """
        rows = text("a ab b a / b b c c / {} a a c / abc a bc b")
        splits = [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))]
        every = []
        for chosen in itertools.product(splits, repeat=4):
            two = [
                [majority([row[g] for g in side]) for side in split]
                for row, split in zip(rows, chosen, strict=True)
            ]
            every.append(sa.krippendorff_alpha(annotations(two), distance="jaccard").estimate)
        result = k_rater_reliability(
            annotations(rows), k=2, distance="jaccard", n_splits=1000, rng=2
        )
        assert set(result.splits.round(9)) == set(np.round(every, 9))
        error = np.std(every) / np.sqrt(1000)
        assert abs(result.estimate - np.mean(every)) < 4 * error

    def test_more_raters_more_reliable(self):
        study = sa.simulate(200, 10, skill=0.5, rng=3)
        found = [k_rater_reliability(study, k=k, n_splits=20, rng=1).estimate for k in (1, 3, 5)]
        assert found == sorted(found)
        assert found[2] > found[0] + 0.2

    def test_units_with_enough(self):
        """Units with fewer than 2 k ratings are left out, of `single` too."""
        rows = text("a a b b / b b c a / a c . . / ab a ab c")
        result = k_rater_reliability(annotations(rows), k=2, n_splits=5, rng=1)
        assert result.n_units == 3
        full = [row for row in rows if None not in row]
        expected = sa.krippendorff_alpha(annotations(full)).estimate
        assert result.single == pytest.approx(expected, abs=1e-14)

    def test_scalars_by_medoid(self):
        rows = numbers("1 1 9 1 / 5 5 5 9 / 9 9 9 1 / 3 3 3 3")
        result = k_rater_reliability(annotations(rows), k=2, distance="linear", rng=1, n_splits=30)
        assert (result.method, result.distance) == ("medoid", "linear")
        assert result.estimate > result.single

    def test_means_of_numbers(self):
        """Truth and errors are -1 or 1, in every combination: Spearman and Brown give 2/3."""
        signs = itertools.product([-1, 1], repeat=5)
        rows = [[truth + error for error in errors] for truth, *errors in signs] * 10
        mean = k_rater_reliability(annotations(rows), k=2, aggregate="mean", n_splits=50, rng=1)
        assert (mean.method, mean.distance) == ("mean", "interval")
        assert [mean.single, mean.spearman_brown] == pytest.approx([1 / 2, 2 / 3], abs=0.001)
        assert mean.estimate == pytest.approx(2 / 3, abs=0.01)
        options = {"distance": "interval", "n_splits": 50, "rng": 1}
        assert (
            k_rater_reliability(annotations(rows), k=2, **options).estimate < mean.estimate - 0.03
        )

    @pytest.mark.parametrize("aggregate", ["consensus", "mean"])
    @pytest.mark.parametrize("distance", ["circular", "bipolar", "ordinal_gwet"])
    def test_ends_of_the_scale(self, distance, aggregate):
        """Panels of one rater of two give alpha itself, with 0, 6 and 9 of units left out."""
        rows = numbers("1 2 / 7 5 / 3 3 / 7 7 / 1 1 / 0 . / 9 . / 6 .")
        options = {"k": 1, "distance": distance, "n_splits": 3, "rng": 1}
        found = k_rater_reliability(annotations(rows), aggregate=aggregate, **options)
        alpha = sa.krippendorff_alpha(annotations(rows), distance=distance).estimate
        assert found.splits == pytest.approx(alpha, abs=1e-12)
        assert found.single == pytest.approx(alpha, abs=1e-12)
        without = sa.krippendorff_alpha(annotations(rows[:5]), distance=distance).estimate
        assert without != pytest.approx(alpha, abs=1e-3)

    def test_panels_have_the_scale_of_the_study(self):
        """On a circle of 10,000 numbers, 1 to 9 are nearly as far from each other as on a line."""
        rows = [*np.random.default_rng(1).integers(1, 10, (20, 6)).tolist(), [0], [9999]]
        one, two = (
            k_rater_reliability(annotations(rows), k=3, distance=name, n_splits=5, rng=1).splits
            for name in ("circular", "interval")
        )
        assert one == pytest.approx(two, abs=1e-4)

    @pytest.mark.parametrize(
        ("alpha", "k", "expected"), [(0.5, 2, 2 / 3), (0, 9, 0), (1, 3, 1), (-0.5, 2, -2)]
    )
    def test_spearman_brown(self, alpha, k, expected):
        """It is k a / (1 + (k - 1) a)."""
        assert spearman_brown(alpha, k) == pytest.approx(expected)
        assert np.isnan(spearman_brown(-0.5, 3))


class TestSplits:
    @pytest.mark.parametrize("ties", ["empty", "plurality", "missing"])
    @pytest.mark.parametrize("method", ["label_majority", "medoid"])
    @pytest.mark.parametrize("distance", ["masi", "nominal", "hamming"])
    def test_as_written_out(self, ties, method, distance):
        rows = random_rows(np.random.default_rng(2), sets_of("abc"), units=12, raters=6)
        rows = [[*row[:5], None] if k % 3 else row for k, row in enumerate(rows)]
        study, found = annotations(rows), get_distance(distance)
        rule = Rule.of(study, method, None, ties, found if method == "medoid" else None)
        generator = np.random.default_rng(3)
        drawn = [random_split(study, 2, generator) for _ in range(7)]
        alphas, left_out, _ = split_alphas(np.stack(drawn), study, rule, found)
        for s, split in enumerate(drawn):
            sides = []
            for rows_of in split:
                mine = np.zeros(study.n_ratings, dtype=bool)
                mine[rows_of] = True
                panel = part_of(study, mine)
                options = {"distance": found} if method == "medoid" else {}
                sides.append(consensus(panel, method=method, ties=ties, **options).answers)
            kept = [[a, b] for a, b in zip(*sides, strict=True) if a is not None and b is not None]
            assert left_out[s] == pytest.approx(1 - len(kept) / 12, abs=1e-15)
            expected = np.nan
            if len(kept) > 1:
                expected = sa.krippendorff_alpha(annotations(kept), distance=found).estimate
            assert alphas[s] == pytest.approx(expected, abs=1e-12, nan_ok=True)

    @pytest.mark.parametrize("ties", ["empty", "missing"])
    def test_effects_of_units(self, ties):
        """They are the change of 1 - alpha of the splits with the weight of each unit.

        With a unit of weight 1 + e, N answers are 2 (n + e): De divides by N (N - 1).
        """
        rows = random_rows(np.random.default_rng(5), sets_of("abc"), units=9, raters=4)
        study, e = annotations(rows), 1e-6
        rule = Rule.of(study, "label_majority", None, ties, None)
        jaccard = get_distance("jaccard")
        generator = np.random.default_rng(6)
        drawn = np.stack([random_split(study, 2, generator) for _ in range(3)])
        expected = np.zeros(9)
        for split in drawn:
            sides = [
                consensus(part_of(study, np.isin(np.arange(36), side)), ties=ties).answers
                for side in split
            ]
            pairs = dict(enumerate(zip(*sides, strict=True)))
            kept = {u: pair for u, pair in pairs.items() if None not in pair}

            def apart(weight, kept=kept):
                d = {(a, b): 0 if a == b else 1 - len(a & b) / len(a | b) for a, b in ALL_PAIRS}
                N = 2 * sum(weight[u] for u in kept)
                observed = 2 * sum(weight[u] * d[pair] for u, pair in kept.items()) / N
                answers = [(weight[u], x) for u, pair in kept.items() for x in pair]
                by_chance = sum(v * w * d[x, y] for v, x in answers for w, y in answers)
                return observed / (by_chance / (N * (N - 1)))

            for u in kept:
                more = apart(np.ones(9) + e * (np.arange(9) == u))
                less = apart(np.ones(9) - e * (np.arange(9) == u))
                expected[u] += (more - less) / (2 * e)
        effects = split_alphas(drawn, study, rule, jaccard)[2]
        assert effects.tolist() == pytest.approx(expected.tolist(), abs=1e-7)

    def test_panels_are_apart(self):
        """Each panel has k raters of each unit, none is in both, and all splits are alike often.

        Of 4 raters there are 6 ordered splits into pairs: of 6,000 each has 1,000 within four
        standard deviations, sqrt(6000 x 5 / 36) = 29.
        """
        study = annotations(text("a b c a"))
        generator = np.random.default_rng(4)
        seen = Counter()
        for _ in range(6000):
            rows = random_split(study, 2, generator)[:, 0]
            assert sorted(rows.ravel()) == [0, 1, 2, 3]
            seen[tuple(map(frozenset, rows.tolist()))] += 1
        assert len(seen) == 6
        assert all(abs(n - 1000) < 4 * 29 for n in seen.values())


class TestResult:
    def test_frame(self):
        """One row; the interval is that of t for the logarithm of 1 - estimate."""
        study = sa.simulate(40, 4, rng=1)
        result = k_rater_reliability(study, k=2, n_splits=50, rng=1)
        frame = result.to_frame(level=0.5)
        apart = 1 - result.estimate
        factor = np.exp(stats.t.ppf(0.75, 39) * result.standard_error / apart)
        ends = [1 - apart * factor, 1 - apart / factor]
        assert frame.loc[0, ["low", "high"]].tolist() == pytest.approx(ends)
        assert one_line(result)

    def test_two_raters(self):
        """Every split is the study, so that the standard error is that of alpha."""
        study = sa.simulate(60, 2, rng=1)
        alpha = sa.krippendorff_alpha(study)
        result = k_rater_reliability(study, k=1, n_splits=3, rng=1)
        # Gwet's linearised values leave out terms of order 1 / n.
        assert result.standard_error == pytest.approx(alpha.standard_error, rel=0.02)

    def test_the_chance_of_splits_averages_out(self):
        """Of two raters of ten, one split has far more noise than all raters together."""
        study = sa.simulate(100, 10, rng=1)
        few, many = (k_rater_reliability(study, k=1, n_splits=n, rng=1) for n in (1, 100))
        alpha = sa.krippendorff_alpha(study)
        assert many.standard_error == pytest.approx(alpha.standard_error, rel=0.1)
        assert few.standard_error > 1.5 * many.standard_error

    @pytest.mark.slow
    def test_coverage(self):
        """In 200 studies of 40 units (standard error 0.015)."""
        true = k_rater_reliability(sa.simulate(5_000, 4, rng=99), k=2, n_splits=10, rng=1).estimate
        held = []
        for seed in range(200):
            found = k_rater_reliability(sa.simulate(40, 4, rng=seed), k=2, n_splits=30, rng=1)
            low, high = found.interval()
            held.append(low < true < high)
        assert np.mean(held) == pytest.approx(0.95, abs=0.045)

    def test_the_seed_decides(self):
        study = sa.simulate(20, 4, rng=1)
        one, two = (k_rater_reliability(study, k=2, n_splits=5, rng=7) for _ in range(2))
        np.testing.assert_array_equal(one.splits, two.splits)
        assert one.interval() == two.interval()

    def test_ties_without_an_answer(self):
        """Under ties="missing" units without an answer of both panels drop out."""
        rows = text("a b c d / a a a a / b b b b / c c c c")
        result = k_rater_reliability(annotations(rows), k=2, ties="missing", n_splits=20, rng=1)
        assert result.splits.tolist() == [1] * 20
        assert result.share_left_out == 1 / 4
        assert result.to_frame()["share_left_out"].tolist() == [1 / 4]
        assert "25% of the units are left out of a split." in repr(result)

    def test_all_units_are_compared(self):
        result = k_rater_reliability(annotations(text("a b c d / a a a a")), k=2, n_splits=9, rng=1)
        assert result.share_left_out == 0

    def test_some_splits_are_undefined(self):
        """Splits whose agreed answers are one value are counted, and said to be left out.

        Two who say a and b agree on a, the first of tied medoids. So every split of a a a b has the
        answers a and a, and one value is left where the last unit is split as ab | ab.
        """
        rows = text("a a a b / a a a b / a a a b / a a b b")
        options = {"k": 2, "method": "medoid", "n_splits": 60, "rng": 1}
        with pytest.warns(UndefinedAgreementWarning, match=r"undefined in (\d+) of 60 splits"):
            result = k_rater_reliability(annotations(rows), **options)
        # It is so in two of three splits; the third is aa | bb, and alpha is 0.
        assert set(result.splits[~np.isnan(result.splits)].round(9)) == {0.0}
        assert result.n_undefined == np.isnan(result.splits).sum()
        assert 20 < result.n_undefined < 60
        frame = result.to_frame()
        assert frame.loc[0, ["n_splits", "n_undefined"]].tolist() == [60, result.n_undefined]
        assert f", undefined {result.n_undefined}. The interval is rough: " in repr(result)
        assert one_line(result)

    def test_all_splits_are_defined(self):
        result = k_rater_reliability(sa.simulate(40, 4, rng=1), k=2, n_splits=5, rng=1)
        assert result.n_undefined == 0
        assert "undefined 0." in repr(result)

    def test_undefined(self):
        """No agreed answer at all, or one value: nan, a reason, one warning."""
        for rows in ("a b c d / a b c d", "a a a a / a a a a"):
            with pytest.warns(UndefinedAgreementWarning, match="undefined in every split"):
                result = k_rater_reliability(
                    annotations(text(rows)), k=2, ties="missing", n_splits=3, rng=1
                )
            assert np.isnan(result.estimate)
            assert np.isnan(result.interval()).all()
            assert "No interval: alpha of the agreed answers" in repr(result)

    @pytest.mark.parametrize(
        ("options", "error", "words"),
        [
            ({"k": 0}, OptionError, "k=0 must be a whole number of 1 or more"),
            ({"k": 3}, DataError, "k=3 needs units with 6 ratings.* allows at most k=2"),
            ({"k": 1, "method": "unanimous"}, OptionError, "method='unanimous' is unknown"),
            ({"k": 1, "aggregate": "median"}, OptionError, "aggregate='median' is unknown"),
            ({"k": 1, "aggregate": "mean"}, DataError, "aggregate='mean' takes numbers"),
            (
                {"k": 1, "n_splits": 0},
                OptionError,
                "n_splits=0 must be a whole number of 1 or more",
            ),
        ],
    )
    def test_refusals(self, options, error, words):
        with pytest.raises(error, match=words):
            k_rater_reliability(annotations(text("a a b b / b b a a")), **options)

    def test_no_method_of_means(self):
        with pytest.raises(OptionError, match="method= is for a consensus"):
            k_rater_reliability(annotations(numbers("1 2")), k=1, aggregate="mean", method="medoid")


def test_no_interval_says_why():
    study = sa.Annotations.from_triples([(r, u, "xy"[u % 2]) for r in "abcd" for u in range(8)])
    found = sa.k_rater_reliability(study, k=2, n_splits=9, rng=1)
    assert found.interval_reason == "the standard error is 0"
    assert "No interval: the standard error is 0." in repr(found)
    panels = sa.cross_replication(study, panels={"x": ["a", "b"]}, n_resamples=9, rng=1)
    assert panels.interval_reason == panels.normalised_interval_reason
    assert panels.interval_reason == "all resamples are equal"
    assert "No interval: all resamples are equal." in repr(panels)
