"""Rare answers, thousands of ratings a unit, two raters alone: where inference once broke down."""

from __future__ import annotations

import itertools
import tracemalloc
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inference_support import HARD, PAIRS, VALUES, estimates, fitting, noisy_rows, rated_rows, score
from small_studies import annotations, numbers, text

import setagree as sa
from setagree.coefficients import leave_one_out
from setagree.errors import DataError, OptionError, ResamplingWarning
from setagree.inference import inside_units, pairs, two_way
from setagree.inference.shuffles import Shuffler, _arrangements

every_pair = pytest.mark.parametrize(("name", "distance"), PAIRS)

CROWD = pd.DataFrame({"a": [9000, 4000, 8000], "b": [1000, 6000, 2000]})
"""10,000 ratings a unit, of two values: 150 million pairs."""


def peak(compute):
    """Return the result of a computation and the most memory it held, in MB."""
    tracemalloc.start()
    try:
        return compute(), tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


@pytest.fixture
def no_list(monkeypatch):
    """Let nothing be few enough for a list of pairs."""
    monkeypatch.setattr(inside_units, "PAIRS_LISTED", 0)
    monkeypatch.setattr(pairs, "PAIRS_LISTED", 0)


def roads(monkeypatch, road):
    """Count the values of the units by a matrix, or meet the distinct ones pair by pair."""
    monkeypatch.setattr(inside_units, "_CELLS_A_LOOKUP", 1e9 if road == "matrix" else 0)
    monkeypatch.setattr(inside_units, "_CELLS_AT_ONCE", 20)


every_road = pytest.mark.parametrize("road", ["matrix", "lookups"])


class TestRareAnswers:
    """All arrangements of many answers, most of them the same."""

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=3))
    def test_arrangements(self, groups):
        """They are the distinct orders of each group, in all combinations, each once."""
        orders = [sorted(set(itertools.permutations(answers))) for answers in groups]
        expected = [list(itertools.chain(*chosen)) for chosen in itertools.product(*orders)]
        found = _arrangements([np.array(answers) for answers in groups])
        assert [answers.tolist() for answers in found] == expected

    @pytest.mark.parametrize(("scheme", "n"), [("pooled", 2000), ("within_rater", 1000)])
    def test_one_other_answer_among_many(self, scheme, n):
        """One b among 2,000 answers has 2,000 places (among its rater's, 1,000), all alike.

        Do = 2 / N and De = 2 (N - 1) / (N (N - 1)) = 2 / N: alpha is 0 wherever it stands.
        """
        rows = [(who, i, "b" if (i, who) == (0, "x") else "a") for i in range(1000) for who in "xy"]
        alpha = sa.krippendorff_alpha(sa.Annotations.from_triples(rows))
        test = sa.permutation_test(alpha, scheme=scheme)
        assert test.exact
        assert len(test.distribution) == n
        assert test.distribution.tolist() == pytest.approx([0.0] * n, abs=1e-12)
        assert test.p_value == 1.0

    def test_units_of_two_sizes(self):
        """One b among 100 pairs and 100 triples: 200 places in a pair, 300 in a triple.

        Of 200 units one agrees in none of its pairs, or in one of its three.
        """
        rows = [["a"] * 2 + [None]] * 100 + [["a"] * 3] * 100
        rows[0] = ["b", "a", None]
        test = sa.permutation_test(
            score([[x and frozenset(x) for x in r] for r in rows], "percent_agreement")
        )
        found, times = np.unique(test.distribution.round(12), return_counts=True)
        expected = [float(1 - Fraction(1, 200)), float(1 - Fraction(2, 3) / 200)]
        assert found.tolist() == pytest.approx(expected, abs=1e-11)
        assert times.tolist() == [200, 300]

    def test_memory(self):
        """Of 9,000 arrangements of 9,000 answers a block is held at a time, not 650 MB."""
        rows = [(who, i, "b" if (i, who) == (0, "x") else "a") for i in range(4500) for who in "xy"]
        alpha = sa.krippendorff_alpha(sa.Annotations.from_triples(rows))
        test, megabytes = peak(lambda: sa.permutation_test(alpha))
        assert len(test.distribution) == 9000
        assert megabytes < 60


class TestManyRatings:
    """Units whose pairs are too many to be listed."""

    @every_road
    @every_pair
    def test_reshuffles_equal_the_study_rewritten(self, monkeypatch, no_list, name, distance, road):
        """Each estimate is that of the reshuffled answers, written down and scored anew."""
        roads(monkeypatch, road)
        rows = fitting(name, HARD)
        shuffler = Shuffler(score(rows, name, distance), within_rater=True)
        V, rng = np.tile(shuffler.value, (8, 1)), np.random.default_rng(4)
        for mine in shuffler.groups():
            V[:, mine] = rng.permuted(V[:, mine], axis=1)
        places = list(zip(shuffler.unit, shuffler.rater, strict=True))
        rewritten = []
        for answers in V:
            new = [list(row) for row in rows]
            for (i, g), k in zip(places, answers, strict=True):
                column = int(shuffler.agreement.study.raters[g].removeprefix("r"))
                new[i][column] = shuffler.weights.values[k]
            rewritten.append(new)
        by_hand = estimates(rewritten, name, distance)
        assert shuffler.evaluate(V).tolist() == pytest.approx(by_hand, abs=1e-11, nan_ok=True)

    @every_road
    @pytest.mark.parametrize("scheme", ["pooled", "within_rater"])
    def test_same_reshuffles(self, monkeypatch, scheme, road):
        """Counted or listed, the same seed gives the same reshuffles."""
        alpha = score(noisy_rows(1, units=12, raters=5, missing=0.2), "krippendorff_alpha")
        listed = sa.permutation_test(alpha, n_resamples=50, scheme=scheme, rng=3).distribution
        monkeypatch.setattr(inside_units, "PAIRS_LISTED", 0)
        roads(monkeypatch, road)
        counted = sa.permutation_test(alpha, n_resamples=50, scheme=scheme, rng=3).distribution
        np.testing.assert_allclose(counted, listed, rtol=0, atol=1e-13)

    @every_road
    @every_pair
    def test_same_draws_of_raters(self, monkeypatch, name, distance, road):
        """Counted or listed, resamples of raters and units are the same."""
        agreement = score(fitting(name, HARD), name, distance)
        loaded = two_way.TwoWay(agreement, agreement.study)
        counted = two_way.TwoWay(agreement, agreement.study)
        rng = np.random.default_rng(5)
        for _ in range(10):
            m = rng.integers(3, size=agreement.n_units).astype(float)
            w = rng.integers(3, size=agreement.n_raters).astype(float)
            expected = loaded.estimate(m, w)
            with monkeypatch.context() as patch:
                patch.setattr(inside_units, "PAIRS_LISTED", 0)
                roads(patch, road)
                actual = counted.estimate(m, w)
            assert actual == pytest.approx(expected, abs=1e-12, nan_ok=True)
        assert not counted._lists_pairs

    def test_when_pairs_are_listed(self):
        """Few pairs are; so are many where counts of very many values would take longer."""
        r = np.full(1000, 3.0)
        assert inside_units.lists_pairs(r, 2)
        assert inside_units.lists_pairs(np.full(100, 60.0), 1000)
        assert not inside_units.lists_pairs(np.full(100, 60.0), 5)
        assert not inside_units.lists_pairs(np.full(3, 10_000.0), 50_000)

    def test_memory_of_reshuffles(self):
        """Ten thousand ratings a unit take no list of 150 million pairs.

        Two reshuffles, from the definition: sum of 2 n_a n_b / (r - 1) over units, of N De.
        """
        alpha = sa.krippendorff_alpha(sa.Tally.from_counts(CROWD), distance="nominal")
        test, megabytes = peak(lambda: sa.permutation_test(alpha, n_resamples=2, rng=1))
        assert megabytes < 60
        shuffler = Shuffler(alpha, within_rater=False)
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


@pytest.mark.filterwarnings("ignore::setagree.errors.ResamplingWarning")
class TestManyRedrawnPairs:
    """Krippendorff's bootstrap of more pairs than can be listed."""

    @pytest.mark.parametrize("waiting", [0, 10**6])
    def test_distinct_losses(self, monkeypatch, waiting):
        """Each loss has as many pairs as the list of them has, to 1e-15 of its size."""
        monkeypatch.setattr(pairs, "_WAITING", waiting)
        for rows in (HARD, noisy_rows(2, units=30, raters=6, missing=0.3)):
            alpha = score(rows, "krippendorff_alpha")
            loss, times = pairs._distinct_losses(alpha)
            listed = np.sort(pairs._pair_losses(alpha))
            np.testing.assert_allclose(np.repeat(loss, times.astype(int)), listed, rtol=1e-15)

    def test_mean_and_spread(self, no_list):
        """Two losses, 0 and e, of n pairs, p of them unequal: mean alpha, variance e² n p (1 - p).

        Units {a a a b} and {b b b a}: 12 pairs, of which 6 are unequal.
        """
        alpha = sa.krippendorff_alpha(annotations(text("a a a b / b b b a")), distance="nominal")
        result = sa.bootstrap(alpha, n_resamples=4000, method="krippendorff", rng=1)
        e = (1 - alpha.estimate) / 6
        spread = float(np.sqrt(e**2 * 12 * 0.25))
        error = spread / np.sqrt(4000)
        assert result.distribution.mean() == pytest.approx(alpha.estimate, abs=4 * error)
        assert result.standard_error == pytest.approx(spread, rel=4 / np.sqrt(2 * 4000))

    def test_memory(self):
        """150 million pairs are of two kinds; their spread is that of a binomial."""
        alpha = sa.krippendorff_alpha(sa.Tally.from_counts(CROWD), distance="nominal")
        result, megabytes = peak(
            lambda: sa.bootstrap(alpha, n_resamples=999, method="krippendorff", rng=1)
        )
        assert megabytes < 60
        n = 3 * 10_000 * 9_999 // 2
        unequal = 9000 * 1000 + 4000 * 6000 + 8000 * 2000
        e = (1 - alpha.estimate) / unequal
        spread = e * np.sqrt(unequal * (1 - unequal / n))
        assert result.standard_error == pytest.approx(spread, rel=4 / np.sqrt(2 * 999))


class TestPassingRaters:
    """Conger's kappa without a unit that holds the only rating of some raters."""

    @settings(max_examples=80, deadline=None)
    @given(seed=st.integers(0, 10**6), missing=st.sampled_from([0.4, 0.6, 0.75]))
    def test_equals_the_rest_scored(self, seed, missing):
        """Each value is that of the other units written down, where those raters are unknown."""
        rows = noisy_rows(seed, units=5, raters=6, missing=missing)
        by_hand = estimates([rows[:i] + rows[i + 1 :] for i in range(5)], "conger_kappa")
        actual = sa.jackknife(score(rows, "conger_kappa")).values
        assert actual.tolist() == pytest.approx(by_hand, abs=1e-10, nan_ok=True)

    def test_two_of_them_in_one_unit(self):
        """By hand: p says a b a b, q says a b b b, and unit 1 has two passers-by more.

        Without unit 1 (a, a and passers-by c, b): p b a b, q b b b; of three units two agree,
        and chance agrees as often: p says b in 2/3, q always. Kappa 0.
        """
        kappa = score(text("a a c b / b b . . / a b . . / b b . ."), "conger_kappa", "nominal")
        assert sa.jackknife(kappa).values.iloc[0] == pytest.approx(0, abs=1e-12)

    def test_in_closed_form(self, monkeypatch):
        """A thousand units with a rater each of its own are not scored one after the other."""

        def refuse(case, model):
            raise AssertionError("scored anew")

        monkeypatch.setattr(leave_one_out, "replicates", refuse)
        rows = [(g, i, "abc"[i * 7 % 3]) for i in range(1000) for g in ("p", "q", f"w{i}")]
        rows[0] = ("p", 0, "b")
        kappa = sa.conger_kappa(sa.Annotations.from_triples(rows), distance="nominal")
        values = sa.jackknife(kappa).values
        assert values.iloc[0] == pytest.approx(1.0, abs=1e-12)
        assert (values.iloc[1:] < 1).all()

    def test_made_once(self, monkeypatch):
        """What computes chance terms anew is made a single time, here for both of two units."""
        made = []

        def counted(case, model):
            made.append(case)
            return replicates(case, model)

        replicates = leave_one_out.replicates
        monkeypatch.setattr(leave_one_out, "replicates", counted)
        found = sa.jackknife(score(text("a a / b b"), "fleiss_kappa"))
        assert len(made) == 1
        assert found.n_undefined == 2


class TestRatersLeftOut:
    """The jackknife over raters, under the distance of the whole study."""

    def test_the_distance_is_paid_for_once(self):
        """A callback is asked while the study is scored, and not again without each rater."""
        asked = []

        def d(A, B):
            asked.append((A, B))
            return len(A ^ B) / max(len(A | B), 1)

        rows = noisy_rows(3, units=20, raters=5, missing=0.2)
        distance = sa.CallableDistance(d, name="ours", bounded=True)
        alpha = sa.krippendorff_alpha(annotations(rows), distance=distance)
        before = len(asked)
        values = sa.jackknife(alpha, over="raters").values
        assert len(asked) == before > 0
        for g in range(5):
            rest = annotations(rated_rows([row[:g] + row[g + 1 :] for row in rows]))
            by_hand = sa.krippendorff_alpha(rest, distance=distance).estimate
            assert values[f"r{g}"] == pytest.approx(by_hand, abs=1e-12)

    def test_ordinal_keeps_its_ranks(self):
        """Ordinal distances count the answers between two in the whole study.

        d(x, y) = (answers from x to y, the ends by half)², over all pairable ones.
        """
        rows = numbers("1 1 2 / 2 3 3 / 4 4 1 / 3 3 3 / 5 4 5 / 2 2 4")
        alpha = sa.krippendorff_alpha(annotations(rows), distance="ordinal")
        pool = Counter(x for row in rows for x in row)

        def d(x, y):
            low, high = sorted((x, y))
            between = sum(n for z, n in pool.items() if low <= z <= high)
            return float((between - (pool[x] + pool[y]) / 2) ** 2)

        fixed = sa.CallableDistance(d, name="fixed")
        by_hand = [
            sa.krippendorff_alpha(
                annotations([row[:g] + row[g + 1 :] for row in rows]), distance=fixed
            ).estimate
            for g in range(3)
        ]
        found = sa.jackknife(alpha, over="raters").values.tolist()
        assert found == pytest.approx(by_hand, abs=1e-12)

    @pytest.mark.parametrize("coefficient", [sa.gwet_ac, sa.brennan_prediger])
    def test_listed_categories(self, coefficient):
        """A category that nobody gave stays in the list without each rater."""
        rows = noisy_rows(4, units=15, raters=3)
        categories = [*VALUES, frozenset("xyz")]
        found = sa.jackknife(
            coefficient(annotations(rows), distance="jaccard", categories=categories), over="raters"
        ).values
        rests = [annotations([row[:g] + row[g + 1 :] for row in rows]) for g in range(3)]
        by_hand = [
            coefficient(rest, distance="jaccard", categories=categories).estimate for rest in rests
        ]
        assert found.tolist() == pytest.approx(by_hand, abs=1e-12)


class TestLevels:
    """A confidence level is a number, and what is none is refused in a sentence."""

    @pytest.mark.parametrize("level", ["0.95", None, 95, 1, np.array([0.9]), [0.9], float("nan")])
    def test_refused(self, level):
        """Text, nothing, a list, or a number outside of (0, 1), wherever a level is asked for."""
        alpha = score(HARD, "krippendorff_alpha")
        other = score(HARD, "fleiss_kappa")
        ask = [
            alpha.interval,
            lambda level: alpha.to_frame(level=level),
            sa.bootstrap(alpha, n_resamples=10, rng=1).interval,
            lambda level: sa.compare(alpha, other, level=level),
        ]
        for one in ask:
            with pytest.raises(OptionError, match=r"level=.* must lie between 0 and 1, such as"):
                one(level)

    @pytest.mark.parametrize("level", [0.9, np.float64(0.9)])
    def test_taken(self, level):
        """Floats of Python and of numpy are levels."""
        alpha = score(HARD, "krippendorff_alpha")
        assert alpha.interval(level) == alpha.interval(0.9)


class TestNoVerdict:
    """A benchmark without a verdict says why."""

    def test_no_standard_error(self):
        """mv-alpha is defined and has no standard error: that is why there is no verdict."""
        mv = score(HARD, "mv_alpha", "nominal")
        found = sa.benchmark(mv)
        assert np.isfinite(mv.estimate)
        assert found.verdict == "none, because mv_alpha has no standard error here"
        assert "Verdict: none, because mv_alpha has no standard error here. " in str(found)

    def test_undefined(self):
        """What is nan stays undefined."""
        found = sa.benchmark(score(text("a a / a a"), "krippendorff_alpha"))
        assert found.verdict == "undefined"


class TestTwoRaters:
    """Resamples of raters where there are but two."""

    ROWS = noisy_rows(7, units=20, raters=2)

    @pytest.mark.parametrize("name", ["krippendorff_alpha", "cohen_kappa"])
    def test_raters_alone_are_refused(self, name):
        """Every defined resample would be the study: a standard error of 0 that means nothing."""
        with pytest.raises(DataError, match=r"three or more of them, and there are 2: .*'units'"):
            sa.bootstrap(score(self.ROWS, name), over="raters", rng=1)

    def test_both_spread_as_units_do(self):
        """Each defined resample is one of units, both raters once; the warning says so."""
        alpha = score(self.ROWS, "krippendorff_alpha")
        drawn = []
        counts = two_way._counts
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                two_way, "_counts", lambda *args: drawn.append(counts(*args)) or drawn[-1]
            )
            with pytest.warns(
                ResamplingWarning, match="whether other raters would agree, two canno"
            ):
                result = sa.bootstrap(alpha, n_resamples=40, over="both", rng=1)
        expected = [
            estimates(
                [[row for row, n in zip(self.ROWS, m, strict=True) for _ in range(int(n))]],
                "krippendorff_alpha",
            )[0]
            if (w == 1).all()
            else np.nan
            for w, m in zip(drawn[::2], drawn[1::2], strict=True)
        ]
        assert result.distribution.tolist() == pytest.approx(expected, abs=1e-12, nan_ok=True)
        assert 0 < result.n_undefined < 40

    def test_undefined_stays_undefined(self):
        """Of one value alone nothing is refused: nan, as without resampling."""
        alpha = score(text("a a / a a"), "krippendorff_alpha")
        assert sa.bootstrap(alpha, n_resamples=5, over="raters", rng=1).n_undefined == 5

    def test_three_raters(self):
        """Three vary: neither refused nor warned of."""
        alpha = score(noisy_rows(7, units=20, raters=3), "krippendorff_alpha")
        assert sa.bootstrap(alpha, n_resamples=50, over="raters", rng=1).standard_error > 0
