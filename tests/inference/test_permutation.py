"""The permutation test: every reshuffle scored as if written down, exact means, p-values."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from inference_support import (
    HARD,
    OUTLIERS,
    PAIRS,
    T1,
    T2,
    VALUES,
    estimates,
    fitting,
    noisy_rows,
    one_line,
    rated_rows,
    score,
    score_study,
)
from measuring import peak
from small_studies import annotations, random_rows, row_lists, text

import setagree as sa
from setagree.coefficients.chance_models import Model
from setagree.errors import DataError, OptionError, UndefinedAgreementWarning
from setagree.inference import permutation
from setagree.inference import shuffler as shuffling
from setagree.inference.permutation import PermutationTest, exact_mean, shuffler_of
from setagree.inference.shuffler import Shuffler, arrangements
from setagree.scoring.coefficients import COEFFICIENTS

every_coefficient = pytest.mark.parametrize("name", COEFFICIENTS)
every_pair = pytest.mark.parametrize(("name", "distance"), PAIRS)
every_scheme = pytest.mark.parametrize("scheme", ["pooled", "within_rater", "table"])

TINY = text("a ab / b ab / c a")


def shuffled(rows, *, pairable, rng):
    """Return the rows with all answers (of the pairable units) exchanged at random."""
    places = [
        (i, g)
        for i, row in enumerate(rows)
        for g, x in enumerate(row)
        if x is not None and (not pairable or sum(y is not None for y in row) > 1)
    ]
    answers = [rows[i][g] for i, g in places]
    out = [list(row) for row in rows]
    for (i, g), k in zip(places, rng.permutation(len(places)), strict=True):
        out[i][g] = answers[k]
    return out


def codes_of(shuffler, agreement, rows):
    """Return the value codes of rewritten rows, in the order of the shuffler's ratings."""
    code = {value: k for k, value in enumerate(agreement.weights.values)}
    column = [int(name.removeprefix("r")) for name in agreement.study.raters]
    places = zip(shuffler.unit, shuffler.rater, strict=True)
    return [code[rows[i][column[g]]] for i, g in places]


def spy_on_tables(monkeypatch):
    """Return a list that gets every reshuffled table, units x raters, -1 where it is missing."""
    tables, evaluate = [], Shuffler.evaluate

    def spied(self, V):
        T = V.reshape(len(V), self.tally.n_units, -1)
        tables.extend(np.where(self.n_values > T, T, -1))
        return evaluate(self, V)

    monkeypatch.setattr(Shuffler, "evaluate", spied)
    return tables


class Unheard(Model):
    def of_rows(self, case):
        return 0.5, None


def chance_of_shuffles(agreement):
    return shuffler_of(agreement, "pooled").estimates(2, np.random.default_rng(1))


def chance_of_two_way(agreement):
    """Ask the resamples of raters for a coefficient."""
    return sa.bootstrap(agreement, n_resamples=2, over="raters", rng=1)


class TestEveryReshuffle:
    @every_pair
    def test_pooled(self, name, distance):
        """Pooled: the estimate of exchanged answers is that of the study with them written down."""
        rows = fitting(name, HARD)
        rng = np.random.default_rng(3)
        agreement = score(rows, name, distance)
        shuffler = shuffler_of(agreement, "pooled")
        moved = [
            shuffled(rows, pairable=shuffler.model.weigh == "ratings", rng=rng) for _ in range(10)
        ]
        V = np.array([codes_of(shuffler, agreement, one) for one in moved])
        by_hand = estimates(moved, name, distance)
        assert shuffler.evaluate(V).tolist() == pytest.approx(by_hand, abs=1e-12, nan_ok=True)

    @every_pair
    def test_within_raters(self, name, distance):
        """Within raters: the same, columns of the table exchanged each by itself."""
        rows = fitting(name, HARD)
        rng = np.random.default_rng(4)
        agreement = score(rows, name, distance)
        shuffler = shuffler_of(agreement, "within_rater")
        moved = []
        for _ in range(10):
            columns = [
                [row[0] for row in shuffled([[x] for x in column], pairable=False, rng=rng)]
                for column in zip(*rows, strict=True)
            ]
            moved.append([list(row) for row in zip(*columns, strict=True)])
        V = np.array([codes_of(shuffler, agreement, one) for one in moved])
        by_hand = estimates(moved, name, distance)
        assert shuffler.evaluate(V).tolist() == pytest.approx(by_hand, abs=1e-12, nan_ok=True)

    @pytest.mark.parametrize(("lists", "n_dense"), [(True, 1_500), (True, 0), (False, 1_500)])
    @every_coefficient
    def test_table(self, monkeypatch, name, lists, n_dense):
        """Table: the same for all cells of the table, the missing ones among them.

        Whether the pairs of a unit are listed, with all distances in memory or without, or its
        values counted.
        """
        monkeypatch.setattr(shuffling, "lists_pairs", lambda *_, **__: lists)
        monkeypatch.setattr(shuffling, "_DENSE_VALUES", n_dense)
        tables = spy_on_tables(monkeypatch)
        rows = fitting(name, HARD)
        agreement = score(rows, name)
        test = sa.permutation_test(agreement, n_resamples=10, scheme="table", rng=5)
        values = agreement.study.values
        moved = [
            [[None if code < 0 else values[code] for code in row] for row in table]
            for table in tables
        ]
        by_hand = estimates(moved, name)
        assert test.distribution.tolist() == pytest.approx(by_hand, abs=1e-12, nan_ok=True)

    @pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "conger_kappa"])
    def test_table_with_weights(self, monkeypatch, name):
        tables = spy_on_tables(monkeypatch)
        study = annotations(noisy_rows(4, units=12, raters=3, missing=0.2))
        weight = {unit: 1 + k % 4 for k, unit in enumerate(study.units)}
        given = getattr(sa, name)(study.sampled(sampling_weight=weight), distance="masi")
        test = sa.permutation_test(given, n_resamples=10, scheme="table", rng=5)
        for table, found in zip(tables, test.distribution, strict=True):
            u, g = np.nonzero(table >= 0)
            triples = [
                (study.raters[b], study.units[a], study.values[table[a, b]])
                for a, b in zip(u, g, strict=True)
            ]
            moved = sa.Annotations.from_triples(triples)
            kept = {unit: weight[unit] for unit in moved.units}
            expected = getattr(sa, name)(
                moved.sampled(sampling_weight=kept), distance="masi"
            ).estimate
            assert found == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize(("rows", "name"), OUTLIERS)
    def test_outliers(self, rows, name):
        """One number of 1e9 among 1 to 4: no reshuffle is undefined for that."""
        rng = np.random.default_rng(3)
        agreement = score(rows, name, "interval")
        shuffler = shuffler_of(agreement, "pooled")
        moved = [
            shuffled(rows, pairable=shuffler.model.weigh == "ratings", rng=rng) for _ in range(10)
        ]
        V = np.array([codes_of(shuffler, agreement, one) for one in moved])
        by_hand = estimates(moved, name, "interval")
        assert np.isfinite(by_hand).all()
        assert shuffler.evaluate(V).tolist() == pytest.approx(by_hand, abs=1e-10)

    @pytest.mark.slow
    @given(rows=row_lists(VALUES, units=5, raters=3).map(rated_rows), seed=st.integers(0, 99))
    def test_any_study(self, rows, seed):
        rng = np.random.default_rng(seed)
        for name in ("krippendorff_alpha", "fleiss_kappa", "conger_kappa", "gwet_ac"):
            agreement = score(rows, name)
            if agreement.reason is not None:
                continue
            shuffler = shuffler_of(agreement, "pooled")
            moved = shuffled(rows, pairable=shuffler.model.weigh == "ratings", rng=rng)
            actual = shuffler.evaluate(np.array([codes_of(shuffler, agreement, moved)]))
            by_hand = estimates([moved], name)
            assert actual.tolist() == pytest.approx(by_hand, abs=1e-11, nan_ok=True)

    def test_many_values(self, monkeypatch):
        alpha = score(HARD, "krippendorff_alpha")
        table = sa.permutation_test(alpha, n_resamples=20, rng=1).distribution
        monkeypatch.setattr(shuffling, "_DENSE_VALUES", 2)
        pairs = sa.permutation_test(alpha, n_resamples=20, rng=1).distribution
        np.testing.assert_allclose(pairs, table, rtol=0, atol=1e-14)


class TestWhatStays:
    def test_pooled_keeps_the_answers(self):
        shuffler = shuffler_of(score(HARD, "krippendorff_alpha"), "pooled")
        assert len(shuffler.value) == 23 - 2
        V = np.tile(shuffler.value, (50, 1))
        moved = shuffler.reshuffled(50, np.random.default_rng(1))
        assert (np.sort(moved, axis=1) == np.sort(V, axis=1)).all()
        assert len({tuple(row) for row in moved}) == 50

    def test_within_rater_keeps_each_raters_answers(self):
        shuffler = shuffler_of(score(HARD, "conger_kappa"), "within_rater")
        V = np.tile(shuffler.value, (50, 1))
        moved = shuffler.reshuffled(50, np.random.default_rng(1))
        for g in range(4):
            mine = shuffler.rater == g
            assert (np.sort(moved[:, mine], axis=1) == np.sort(V[:, mine], axis=1)).all()
        assert len({tuple(row) for row in moved}) == 50

    def test_table_moves_missing_cells(self, monkeypatch):
        """500 reshuffles of T1: the missing cell goes everywhere, the 32 answers stay the same.

        T1 has 33 cells. The chance that one of them never gets the missing one is
        33 x (32/33)^500 < 1e-5.
        """
        tables = spy_on_tables(monkeypatch)
        alpha = sa.krippendorff_alpha(annotations(T1))
        test = sa.permutation_test(alpha, n_resamples=500, scheme="table", rng=1)
        assert {int(np.flatnonzero(cells.ravel() < 0).item()) for cells in tables} == {*range(33)}
        assert len({tuple(np.sort(cells.ravel())) for cells in tables}) == 1
        assert (test.n_undefined, len(test.distribution), test.exact) == (0, 500, False)
        assert test.p_value < 0.01
        error = test.distribution.std() / math.sqrt(500)
        assert test.distribution.mean() == pytest.approx(0, abs=4 * error + 1e-3)

    def test_a_table_too_large(self, monkeypatch):
        monkeypatch.setattr(permutation, "MAX_TABLE_CELLS", 32)
        with pytest.raises(DataError, match="would move 33 cells; the limit is 32"):
            sa.permutation_test(sa.krippendorff_alpha(annotations(T1)), scheme="table")


class TestExactEnumeration:
    @pytest.mark.slow
    def test_pooled_equals_all_permutations(self):
        """The 6! = 720 orders of the answers a, a, ab, ab, b, c are 180 arrangements, 4 times each.

        The reference scores every order in fractions. The mean of alpha is 0 and that of Fleiss'
        kappa -1 / (N - 1) = -1/5, not nearly but exactly.
        """
        answers = [x for row in TINY for x in row]
        orders = list(itertools.permutations(answers))
        for name, mean in (("krippendorff_alpha", 0), ("fleiss_kappa", Fraction(-1, 5))):
            estimate = {
                order: reference.COEFFICIENTS[name](
                    [order[:2], order[2:4], order[4:]], reference.masi, 1
                ).estimate
                for order in set(orders)
            }
            by_hand = [estimate[order] for order in orders]
            assert sum(by_hand) / 720 == mean
            test = sa.permutation_test(score(TINY, name))
            assert (test.exact, len(test.distribution)) == (True, 180)
            assert test.distribution.mean() == pytest.approx(float(mean), abs=1e-12)
            fourfold = np.sort(np.repeat(test.distribution, 4)).tolist()
            assert fourfold == pytest.approx(sorted(map(float, by_hand)), abs=1e-12)
            extreme = sum(x >= estimate[tuple(answers)] for x in by_hand)
            assert test.p_value == pytest.approx(extreme / 720, abs=1e-15)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("rows", "name"),
        [("a ab / b ab / c a", "cohen_kappa"), ("a ab a / b b c / c c a", "conger_kappa")],
    )
    def test_within_raters_equals_all_permutations(self, rows, name):
        """Each rater's answers in all orders, independently: the mean of kappa is exactly 0.

        Two raters: 3! x 3! = 36 tables, twice each, for the second rater gave ab twice. Three
        raters: 6^3 = 216 tables, twice each, for the third gave a twice.
        """
        rows = text(rows)
        columns = list(zip(*rows, strict=True))
        tables = [
            [list(row) for row in zip(*orders, strict=True)]
            for orders in itertools.product(*map(itertools.permutations, columns))
        ]
        by_hand = [reference.conger_kappa(table, reference.masi, 1).estimate for table in tables]
        assert sum(by_hand) == 0
        test = sa.permutation_test(score(rows, name), scheme="within_rater")
        repeats = math.prod(math.prod(map(math.factorial, Counter(c).values())) for c in columns)
        assert repeats == 2
        assert (test.exact, len(test.distribution)) == (True, len(tables) / 2)
        assert test.distribution.mean() == pytest.approx(0, abs=1e-12)
        repeated = np.sort(np.repeat(test.distribution, repeats)).tolist()
        assert repeated == pytest.approx(sorted(map(float, by_hand)), abs=1e-12)

    @given(rows=row_lists(VALUES[:4], units=3, raters=3).map(rated_rows))
    def test_the_mean_of_alpha_is_zero(self, rows):
        alpha = score(rows, "krippendorff_alpha")
        if alpha.reason is None:
            test = sa.permutation_test(alpha, n_resamples=400_000, scheme="pooled")
            assert test.exact
            assert test.distribution.mean() == pytest.approx(test.exact_mean, abs=1e-12)
            assert test.exact_mean == 0

    def test_in_blocks(self, monkeypatch):
        alpha = score(TINY, "krippendorff_alpha")
        whole = sa.permutation_test(alpha).distribution
        monkeypatch.setattr(shuffling, "BLOCK_SIZE", 100)
        parts = sa.permutation_test(alpha).distribution
        np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-15)

    def test_taken_when_there_are_no_more(self):
        alpha = score(TINY, "krippendorff_alpha")
        assert shuffler_of(alpha, "pooled").n_arrangements() == 180
        assert sa.permutation_test(alpha, n_resamples=180).exact
        drawn = sa.permutation_test(alpha, n_resamples=179, rng=1)
        assert (drawn.exact, len(drawn.distribution)) == (False, 179)

    def test_the_table_is_always_drawn(self):
        assert not sa.permutation_test(
            score(TINY, "fleiss_kappa"), n_resamples=200, scheme="table", rng=1
        ).exact

    def test_too_many_to_count(self):
        alpha = score(noisy_rows(1, units=200, raters=3), "krippendorff_alpha")
        assert shuffler_of(alpha, "pooled").n_arrangements() == math.inf


class TestMeans:
    @pytest.mark.parametrize(
        ("name", "scheme", "complete"),
        [
            ("krippendorff_alpha", "pooled", True),
            ("krippendorff_alpha", "pooled", False),
            ("fleiss_kappa", "pooled", True),
            ("scott_pi", "pooled", True),
            ("conger_kappa", "within_rater", True),
            ("cohen_kappa", "within_rater", True),
        ],
    )
    @pytest.mark.parametrize("distance", ["masi", "matrix"])
    def test_monte_carlo(self, name, scheme, complete, distance):
        """The mean of 4,000 reshuffles is the exact one within four standard errors."""
        raters = 2 if COEFFICIENTS[name].raters == "two" else 3
        rows = noisy_rows(6, units=12, raters=raters, missing=0.0 if complete else 0.3)
        test = sa.permutation_test(
            score(rows, name, distance), n_resamples=4000, scheme=scheme, rng=3
        )
        expected = -1 / (12 * raters - 1) if name in {"fleiss_kappa", "scott_pi"} else 0
        assert test.exact_mean == expected
        error = test.distribution.std(ddof=1) / math.sqrt(4000)
        assert test.distribution.mean() == pytest.approx(expected, abs=4 * error)
        assert error < 0.004

    @pytest.mark.parametrize(
        ("rows", "name", "scheme"),
        [
            (HARD, "fleiss_kappa", "pooled"),
            (HARD, "conger_kappa", "within_rater"),
            (T2, "cohen_kappa", "pooled"),
            (T2, "krippendorff_alpha", "within_rater"),
            (T2, "krippendorff_alpha", "table"),
            (T2, "gwet_ac", "pooled"),
            # Complete units, but not everybody rated every one of them.
            (text("a b . / . c b / a . c"), "conger_kappa", "within_rater"),
        ],
    )
    def test_unknown(self, rows, name, scheme):
        """Elsewhere no formula is known, and none is invented."""
        assert math.isnan(exact_mean(score_study(annotations(rows), name), scheme))

    def test_undefined(self):
        """What is undefined in every reshuffle has no mean, 0 least of all."""
        with pytest.warns(UndefinedAgreementWarning):
            alone = sa.krippendorff_alpha(annotations(text("a a / a a")))
        test = sa.permutation_test(alone, n_resamples=5, rng=1)
        assert math.isnan(test.exact_mean)
        assert test.n_undefined == 5

    @pytest.mark.parametrize("door", [chance_of_shuffles, chance_of_two_way])
    def test_every_coefficient_is_named(self, door):
        kappa = score(T1, "fleiss_kappa")
        with pytest.raises(TypeError, match="is not a model of chance whose"):
            door(replace(kappa, definition=replace(kappa.definition, model=Unheard())))

    def test_fleiss_needs_equally_many_ratings_not_the_same_raters(self):
        """Two ratings a unit, whoever gave them: -1 / (6 - 1), here over all arrangements."""
        test = sa.permutation_test(score(text("a b . / . c b / a . c"), "fleiss_kappa"))
        assert test.exact
        assert test.exact_mean == -1 / 5
        assert test.distribution.mean() == pytest.approx(-1 / 5, abs=1e-12)

    def test_published_quantile(self):
        """The pooled 95% quantile of T2's MASI alpha is about 0.239.

        20,000 reshuffles place it to about sqrt(0.05 x 0.95 / 20000) / density = 0.002.
        """
        alpha = sa.krippendorff_alpha(annotations(T2))
        test = sa.permutation_test(alpha, n_resamples=20_000, rng=1)
        assert test.quantile(0.95) == pytest.approx(0.239, abs=0.006)
        assert test.to_frame()["null_95"].item() == test.quantile(0.95)


def made_of(values, *, estimate=0.5, alternative="greater", exact=False):
    alpha = replace(score(T1, "krippendorff_alpha"), estimate=estimate)
    return PermutationTest(alpha, np.array(values, dtype=float), "pooled", alternative, exact, 0.0)


class TestPValues:
    @pytest.mark.parametrize(
        ("values", "alternative", "p"),
        [
            ([0.1] * 99, "greater", 1 / 100),
            ([0.1] * 99, "less", 1),
            ([0.1] * 99, "two-sided", 2 / 100),
            ([0.9] * 99, "greater", 1),
            ([0.9] * 99, "less", 1 / 100),
            ([0.9] * 99, "two-sided", 2 / 100),
            ([0.9] * 3 + [0.1] * 6, "greater", 4 / 10),
            ([0.9] * 3 + [0.1] * 6, "less", 7 / 10),
            ([0.9] * 3 + [0.1] * 6, "two-sided", 8 / 10),
            # Ties count on both sides; twice the smaller tail is at most 1.
            ([0.9] * 3 + [0.5] * 2 + [0.1] * 4, "greater", 6 / 10),
            ([0.9] * 3 + [0.5] * 2 + [0.1] * 4, "less", 7 / 10),
            ([0.9] * 3 + [0.5] * 2 + [0.1] * 4, "two-sided", 1),
            # What rounding makes of a tie is a tie.
            ([0.5 - 1e-15, 0.5 + 1e-15, 0.1], "greater", 3 / 4),
            ([0.5 - 1e-15, 0.5 + 1e-15, 0.9], "less", 3 / 4),
        ],
    )
    def test_by_hand(self, values, alternative, p):
        assert made_of(values, alternative=alternative).p_value == pytest.approx(p, abs=1e-15)

    def test_exact(self):
        """Where all arrangements are known the observed one is among them: no +1."""
        assert made_of([0.5, 0.9, 0.1, 0.2], exact=True).p_value == 2 / 4
        assert made_of([0.5, 0.9, 0.1, 0.2], exact=True, alternative="two-sided").p_value == 1

    def test_undefined_reshuffles_are_counted(self):
        test = made_of([0.9, 0.1, 0.1, np.nan])
        assert (test.n_undefined, test.p_value) == (1, 2 / 4)
        assert test.to_frame()["n_undefined"].item() == 1

    def test_undefined_reshuffles_occur(self):
        """Table a a / a b / . a: where b is the missing cell's partner, only a is left to compare.

        That is so in 6 of the 30 tables; of 500 the deviation is sqrt(500 x 0.2 x 0.8) = 9.
        """
        alpha = score(text("a a / a b / . a"), "krippendorff_alpha")
        test = sa.permutation_test(alpha, n_resamples=500, scheme="table", rng=1)
        assert test.n_undefined == pytest.approx(100, abs=36)
        assert 0 < test.p_value <= 1

    def test_nothing_defined(self):
        test = made_of([np.nan, np.nan])
        mean = test.to_frame()["null_mean"].item()
        assert np.isnan([test.p_value, test.quantile(0.5), mean]).all()

    @pytest.mark.slow
    def test_uniform_under_the_null(self):
        """Of 200 random studies the share with p <= 0.2 is 0.2, within four standard errors."""
        rng = np.random.default_rng(12)
        small = 0
        for seed in range(200):
            rows = random_rows(rng, VALUES, units=8, raters=2)
            test = sa.permutation_test(score(rows, "krippendorff_alpha"), n_resamples=99, rng=seed)
            small += test.p_value <= 0.2
        assert small / 200 == pytest.approx(0.2, abs=4 * math.sqrt(0.2 * 0.8 / 200))

    @every_scheme
    @every_coefficient
    def test_finds_agreement(self, name, scheme):
        raters = 2 if COEFFICIENTS[name].raters == "two" else 3
        rows = noisy_rows(5, units=40, raters=raters, missing=0.1)
        test = sa.permutation_test(score(rows, name), n_resamples=99, scheme=scheme, rng=1)
        assert test.p_value <= 2 / 100
        assert np.isfinite(test.distribution).all()
        assert abs(test.distribution.mean()) < 0.2 or name in {"percent_agreement", "mv_alpha"}


class TestSeeds:
    @every_scheme
    def test_whatever_the_blocks(self, monkeypatch, scheme):
        alpha = score(HARD, "krippendorff_alpha")
        whole = sa.permutation_test(alpha, n_resamples=40, scheme=scheme, rng=7).distribution
        monkeypatch.setattr(shuffling, "BLOCK_SIZE", 90)
        parts = sa.permutation_test(alpha, n_resamples=40, scheme=scheme, rng=7).distribution
        np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-14)
        again = sa.permutation_test(
            alpha, n_resamples=40, scheme=scheme, rng=np.random.default_rng(7)
        )
        np.testing.assert_array_equal(again.distribution, parts)

    def test_order_of_draws(self):
        shuffler = shuffler_of(score(HARD, "conger_kappa"), "within_rater")
        found = shuffler.reshuffled(3, np.random.default_rng(7))
        rng = np.random.default_rng(7)
        for row in found:
            expected = [rng.permutation(shuffler.value[shuffler.rater == g]) for g in range(4)]
            assert row.tolist() == np.concatenate(expected).tolist()

    @every_scheme
    def test_another_seed(self, scheme):
        alpha = score(HARD, "krippendorff_alpha")
        tests = [
            sa.permutation_test(alpha, n_resamples=20, scheme=scheme, rng=rng)
            for rng in (1, 2, None, None)
        ]
        assert len({test.distribution.mean() for test in tests}) == 4


class TestTallies:
    COUNTS = pd.DataFrame({"a": [2, 1, 0, 2], "b": [0, 1, 2, 0], "": [1, 0, 0, 1]})
    ROWS = text("a a {} / a b . / b b . / a a {}")

    @pytest.mark.parametrize(
        "name", [name for name, entry in COEFFICIENTS.items() if entry.raters == "any"]
    )
    def test_as_the_annotations_they_count(self, name):
        one = sa.permutation_test(score_study(annotations(self.ROWS), name), scheme="pooled")
        tally = sa.Tally.from_counts(self.COUNTS)
        options = {"distance": "masi"}
        if COEFFICIENTS[name].model.lists_values:
            options["categories"] = VALUES
        two = sa.permutation_test(getattr(sa, name)(tally, **options))
        assert one.exact
        assert two.exact
        assert np.sort(two.distribution).tolist() == pytest.approx(
            np.sort(one.distribution).tolist(), abs=1e-12, nan_ok=True
        )

    @pytest.mark.parametrize("scheme", ["within_rater", "table"])
    def test_raters_must_be_known(self, scheme):
        alpha = sa.krippendorff_alpha(sa.Tally.from_counts(self.COUNTS))
        with pytest.raises(DataError, match=f"scheme='{scheme}' requires the rater"):
            sa.permutation_test(alpha, scheme=scheme)
        with pytest.raises(DataError, match="scheme='table' requires the rater"):
            shuffler_of(alpha, "table")

    @pytest.mark.parametrize("what", ["counts", "multiplicity"])
    def test_fractions_are_refused(self, what):
        tally = sa.Tally.from_counts(self.COUNTS)
        halves = replace(tally, **{what: getattr(tally, what) * 1.5})
        with pytest.raises(DataError, match="counts that are fractions cannot be reshuffled"):
            sa.permutation_test(sa.krippendorff_alpha(halves))


def batches_by_panel(n_panels, rng, *, n_units=10):
    """Return units that three raters of their own answer at random, a label being theirs."""
    rows = []
    for panel in range(n_panels):
        shares = np.full(3, 0.15)
        shares[panel % 3] = 0.7
        for k in range(n_units):
            answers = rng.choice(3, 3, p=shares)
            rows += [(f"{panel}/{g}", f"{panel}/{k}", "abc"[x]) for g, x in enumerate(answers)]
    return sa.Annotations.from_triples(rows)


class TestDefaultScheme:
    @pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
    def test_the_larger_of_two(self, alternative):
        alpha = sa.krippendorff_alpha(annotations(text("a a . / b ab . / . b b / . a ab")))
        options = {"alternative": alternative, "n_resamples": 100_000}
        pooled, within = (
            sa.permutation_test(alpha, scheme=scheme, **options)
            for scheme in ("pooled", "within_rater")
        )
        found = sa.permutation_test(alpha, **options)
        assert found.exact
        assert found.p_value == max(pooled.p_value, within.p_value)
        assert found.scheme == ("pooled" if pooled.p_value >= within.p_value else "within_rater")
        for side in ("greater", "less"):
            assert found.tail(side) == max(pooled.tail(side), within.tail(side))
        assert found.other.p_value == min(pooled.p_value, within.p_value)
        assert "Not every rater rated every unit: p is the larger one of two" in str(found)

    @pytest.mark.parametrize(
        ("study", "reason"),
        [
            (annotations(TINY), ""),
            (sa.Tally.from_annotations(annotations(T1)), "The raters are unknown: if not all"),
            (
                annotations(text("a b . . . . / . . a a . . / . . . . b b")),
                "Each rater gave one answer, so that answers cannot be reshuffled within raters.",
            ),
        ],
    )
    def test_pooled_alone(self, study, reason):
        found = sa.permutation_test(sa.krippendorff_alpha(study), n_resamples=99, rng=1)
        assert (found.scheme, found.other) == ("pooled", None)
        assert found.scheme_reason.startswith(reason)
        assert bool(found.scheme_reason) == bool(reason)

    def test_the_kept_raters_of_a_tally(self):
        frame = annotations(T1).to_long()
        alpha = sa.krippendorff_alpha(sa.tally(frame, keep_raters=True))
        assert sa.permutation_test(alpha, n_resamples=99, rng=1).other is not None

    @pytest.mark.slow
    def test_panels_that_answer_by_chance(self):
        """Panels with a frequent label each, in batches of their own, agree by chance alone.

        The pooled test finds agreement in nearly all of them; P(X > 8) is below 0.01 for 80 studies
        at 0.05 two-sided (X is binomial).
        """
        rng, rejected = np.random.default_rng(5), {"pooled": 0, None: 0}
        for _ in range(80):
            alpha = sa.krippendorff_alpha(batches_by_panel(3, rng))
            for scheme in rejected:
                test = sa.permutation_test(
                    alpha, scheme=scheme, alternative="two-sided", n_resamples=199, rng=1
                )
                rejected[scheme] += test.p_value <= 0.05
        assert rejected["pooled"] > 60
        assert rejected[None] <= 8


class TestResult:
    def test_frame(self):
        """One row: the estimate, p, the null distribution in numbers."""
        alpha = score(TINY, "krippendorff_alpha")
        test = sa.permutation_test(alpha)
        assert test.to_frame().to_dict("records") == [
            {
                "coefficient": "krippendorff_alpha",
                "distance": "masi",
                "estimate": alpha.estimate,
                "p_value": test.p_value,
                "alternative": "greater",
                "scheme": "pooled",
                "null_mean": test.distribution.mean(),
                "exact_mean": 0.0,
                "null_95": sorted(test.distribution)[170],  # the 171st of 180: 95%
                "n_resamples": 180,
                "n_undefined": 0,
                "exact": True,
            }
        ]

    def test_repr(self):
        """One line that says what, how, and from how many."""
        test = made_of([0.9, 0.1, 0.1])
        assert one_line(test)
        assert repr(test).startswith(
            "<PermutationTest: coefficient krippendorff_alpha, distance masi, estimate 0.5000, "
        )
        assert "p: the share of 3 reshuffles" in repr(test)
        assert "of all 2 arrangements" in repr(made_of([0.9, 0.5], exact=True))

    @every_scheme
    def test_undefined_study(self, scheme):
        with pytest.warns(UndefinedAgreementWarning):
            alpha = sa.krippendorff_alpha(annotations(text("a a / a a")))
        test = sa.permutation_test(alpha, n_resamples=10, scheme=scheme)
        assert (test.n_undefined, len(test.distribution)) == (10, 10)
        assert np.isnan(test.p_value)

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"n_resamples": 0}, "n_resamples=0 must be a whole number of 1 or more"),
            ({"scheme": "rater"}, r"scheme='rater' is unknown; use .* Did you mean 'within_rater'"),
            (
                {"alternative": "two_sided"},
                r"'two_sided' is unknown; use .* Did you mean 'two-sided",
            ),
            ({"rng": "seed"}, "rng='seed' is neither a seed of 0 or more nor a Generator"),
        ],
    )
    def test_options(self, options, said):
        """An option out of range is named with its value."""
        with pytest.raises(OptionError, match=said):
            sa.permutation_test(score(TINY, "fleiss_kappa"), **options)

    def test_no_agreement(self):
        with pytest.raises(DataError, match="Expected an agreement, got a float"):
            sa.permutation_test(0.8)


class TestRareAnswers:
    @given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=3))
    def test_arrangements(self, groups):
        """They are the distinct orders of each group, in all combinations, each once."""
        orders = [sorted(set(itertools.permutations(answers))) for answers in groups]
        expected = [list(itertools.chain(*chosen)) for chosen in itertools.product(*orders)]
        found = arrangements([np.array(answers) for answers in groups])
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

    @pytest.mark.slow
    def test_memory(self):
        """Of 9,000 arrangements of 9,000 answers a block is held at a time, not 650 MB."""
        rows = [(who, i, "b" if (i, who) == (0, "x") else "a") for i in range(4500) for who in "xy"]
        alpha = sa.krippendorff_alpha(sa.Annotations.from_triples(rows))
        test, megabytes = peak(lambda: sa.permutation_test(alpha))
        assert len(test.distribution) == 9000
        assert megabytes < 60


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_the_smallest_p_is_called_that(alternative):
    studies = (sa.simulate(40, 3, skill=skill, rng=1) for skill in (0.9, 0.0))
    clear, none = (
        sa.permutation_test(
            sa.krippendorff_alpha(study), n_resamples=49, alternative=alternative, rng=1
        )
        for study in studies
    )
    assert clear.p_value == (0.02 if alternative == "greater" else 0.04)
    least = "This is the smallest p that so many reshuffles can give."
    assert least in " ".join(str(clear).split())
    assert "smallest" not in str(none)
