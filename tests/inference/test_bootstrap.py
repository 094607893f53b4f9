"""The bootstrap: resamples against studies written out, intervals against scipy's."""

from __future__ import annotations

import itertools
import re
import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from inference_support import (
    DISTANCES,
    HARD,
    OUTLIERS,
    PAIRS,
    T1,
    VALUES,
    as_drawn,
    estimates,
    fitting,
    noisy_rows,
    one_line,
    rated_rows,
    score,
)
from scipy import stats
from small_studies import annotations, numbers, row_lists, text

import setagree as sa
from setagree.coefficients.sums import UnitSums
from setagree.distances import get_distance
from setagree.errors import DataError, OptionError, ResamplingWarning, UndefinedAgreementWarning
from setagree.inference import bootstrap as bootstrap_module
from setagree.inference import resampling
from setagree.inference.bootstrap import Bootstrap, TwoWay
from setagree.inference.resampling import block_sizes, draw_times, draw_units, row_weights
from setagree.inference.unit_order import rows_of_units
from setagree.scoring.coefficients import COEFFICIENTS, get_coefficient
from setagree.scoring.scorer import Scorer

every_coefficient = pytest.mark.parametrize("name", COEFFICIENTS)
every_pair = pytest.mark.parametrize(("name", "distance"), PAIRS)
two_warn = pytest.mark.filterwarnings("ignore:over='both' of 2 raters")


def drawn_alike(name, over):
    """Tell whether the coefficient has two raters and only they are drawn, which is refused."""
    return over == "raters" and COEFFICIENTS[name].raters == "two"


class TestReplicates:
    @every_pair
    def test_multiplicities_give_the_estimate(self, name, distance):
        agreement = score(fitting(name, HARD), name, distance)
        coefficient = COEFFICIENTS[name]
        case = agreement.case
        once = np.ones(case.tally.n_units) if coefficient.needs_raters else case.tally.multiplicity
        actual = UnitSums(case, coefficient.model).reweighted(once[None, :])
        assert actual == pytest.approx([agreement.estimate], rel=1e-13)

    @pytest.mark.parametrize(
        ("name", "distance"),
        [(name, distance) for name in COEFFICIENTS for distance in ("hamming", "passonneau_2004")]
        + [
            (n, d)
            for n in COEFFICIENTS
            if n != "mv_alpha"
            for d in ("ordinal", "bipolar", "linear")
        ],
    )
    def test_distances_that_depend_on_the_study(self, name, distance):
        sets = distance in {"hamming", "passonneau_2004"}
        rows = (
            HARD if sets else numbers("1 2 2 . / 5 5 4 . / 1 1 1 . / 3 4 . 2 / . 2 . . / 5 5 4 .")
        )
        agreement = Scorer(annotations(fitting(name, rows))).score(
            get_coefficient(name), get_distance(distance)
        )
        coefficient, tally = COEFFICIENTS[name], agreement.tally
        once = np.ones(tally.n_units) if coefficient.needs_raters else tally.multiplicity
        actual = UnitSums(agreement.case, coefficient.model).reweighted(once[None, :])
        assert actual == pytest.approx([agreement.estimate], rel=1e-13)

    @every_pair
    def test_a_resample_is_the_study_written_out(self, name, distance):
        rows = fitting(name, HARD)
        agreement = score(rows, name, distance)
        rows = as_drawn(rows, agreement)
        drawn = next(draw_units(len(rows), 12, np.random.default_rng(5)))
        by_hand = estimates([[rows[i] for i in draw] for draw in drawn], name, distance)
        result = sa.bootstrap(agreement, n_resamples=12, rng=5)
        assert result.distribution.tolist() == pytest.approx(by_hand, abs=1e-12, nan_ok=True)

    @pytest.mark.parametrize(("rows", "name"), OUTLIERS)
    def test_outliers(self, rows, name):
        """One number of 1e9 among 1 to 4: resamples without it are defined, and precise."""
        agreement = score(rows, name, "interval")
        rows = as_drawn(rows, agreement)
        drawn = next(draw_units(len(rows), 30, np.random.default_rng(5)))
        by_hand = estimates([[rows[i] for i in draw] for draw in drawn], name, "interval")
        result = sa.bootstrap(agreement, n_resamples=30, rng=5)
        assert np.isfinite(by_hand).sum() >= 28
        assert result.distribution.tolist() == pytest.approx(by_hand, abs=1e-10, nan_ok=True)

    @pytest.mark.slow
    @given(rows=row_lists(VALUES, units=6, raters=3), seed=st.integers(0, 99))
    def test_any_resample_of_any_study(self, rows, seed):
        rows = rated_rows(rows)
        drawn = next(draw_units(len(rows), 3, np.random.default_rng(seed)))
        for name in ("krippendorff_alpha", "fleiss_kappa", "conger_kappa", "gwet_ac"):
            agreement = score(rows, name)
            if agreement.reason is not None:
                continue
            ordered = as_drawn(rows, agreement)
            by_hand = estimates([[ordered[i] for i in draw] for draw in drawn], name)
            result = sa.bootstrap(agreement, n_resamples=3, rng=seed)
            assert result.distribution.tolist() == pytest.approx(by_hand, abs=1e-11, nan_ok=True)

    def test_counts_without_raters(self):
        frame = pd.DataFrame({"a": [2, 0, 1, 2, 2], "a, b": [1, 3, 1, 1, 0], "": [0, 0, 1, 0, 0]})
        tally = sa.Tally.from_counts(frame)
        rows = text("a a ab / ab ab ab / a ab {} / a a ab / a a .")
        one = sa.bootstrap(sa.krippendorff_alpha(tally), n_resamples=50, rng=1)
        two = sa.bootstrap(sa.krippendorff_alpha(annotations(rows)), n_resamples=50, rng=1)
        assert one.distribution.tolist() == pytest.approx(two.distribution.tolist(), nan_ok=True)

    def test_patterns_without_units(self):
        known = sa.krippendorff_alpha(annotations(text("a a / b b / a b / b b"))).tally
        unknown = sa.Tally(
            known.kind, known.values, known.indptr, known.indices, known.counts, known.multiplicity
        )
        rows, n_rows = rows_of_units(sa.krippendorff_alpha(unknown))
        assert (rows.tolist(), n_rows) == ([0, 1, 1, 2], 3)

    def test_units_by_fractions_are_refused(self):
        known = sa.krippendorff_alpha(annotations(text("a a / b b / a b"))).tally
        halves = sa.Tally(
            known.kind,
            known.values,
            known.indptr,
            known.indices,
            known.counts,
            np.array([1, 1.5, 1]),
        )
        with pytest.raises(DataError, match="units that count by fractions cannot be resampled"):
            sa.bootstrap(sa.krippendorff_alpha(halves), rng=1)


class TestDraws:
    @given(
        drawn=st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=1, max_size=4),
        rows=st.lists(st.integers(0, 2), min_size=5, max_size=5),
    )
    def test_row_weights_count(self, drawn, rows):
        actual = row_weights(np.array(drawn), np.array(rows), 3)
        counted = [[sum(rows[i] == row for i in draw) for row in range(3)] for draw in drawn]
        assert actual.tolist() == counted

    def test_blocks_stay_below_the_limit(self):
        assert list(block_sizes(20, 10, most=60)) == [6, 6, 6, 2]
        assert list(block_sizes(3, 100, most=60)) == [1, 1, 1]
        drawn = list(draw_units(10, 3, np.random.default_rng(1), width=4_000_000))
        assert [block.shape for block in drawn] == [(1, 10)] * 3

    @two_warn
    @pytest.mark.parametrize(
        ("name", "over"),
        [
            (name, over)
            for name in COEFFICIENTS
            for over in ("units", "raters", "both")
            if not drawn_alike(name, over)
        ],
    )
    def test_the_seed_alone_decides(self, monkeypatch, name, over):
        agreement = score(fitting(name, HARD), name, "overlap")
        whole = sa.bootstrap(agreement, n_resamples=40, over=over, rng=7).distribution
        monkeypatch.setattr(resampling, "BLOCK_ENTRIES", 30)
        parts = sa.bootstrap(agreement, n_resamples=40, over=over, rng=7).distribution
        np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-14)
        generator = np.random.default_rng(7)
        again = sa.bootstrap(agreement, n_resamples=40, over=over, rng=generator)
        np.testing.assert_array_equal(again.distribution, parts)

    def test_another_seed_gives_other_numbers(self):
        alpha = score(noisy_rows(1, units=30, raters=3), "krippendorff_alpha")
        found = {sa.bootstrap(alpha, n_resamples=5, rng=seed).standard_error for seed in (1, 2)}
        found |= {sa.bootstrap(alpha, n_resamples=5).standard_error for _ in range(2)}
        assert len(found) == 4


class TestIntervals:
    @pytest.mark.slow
    @every_coefficient
    def test_equal_scipys(self, name):
        """Percentile, basic and BCa intervals are scipy.stats.bootstrap's on the same estimates.

        scipy is given the estimates as they are, and a statistic that writes the drawn units down
        and scores them. Both are rounded to 12 decimals, so that ties are ties in scipy, too.
        """
        rows = fitting(name, noisy_rows(3, units=14, raters=3, missing=0.1))
        agreement = score(rows, name)
        ours = sa.bootstrap(agreement, n_resamples=999, rng=2)
        assert ours.n_undefined == 0
        given = SimpleNamespace(bootstrap_distribution=np.round(ours.distribution, 12))
        for method in ("percentile", "basic", "BCa"):
            theirs = stats.bootstrap(
                (np.arange(len(rows)),),
                lambda units: round(estimates([[rows[int(i)] for i in units]], name)[0], 12),
                n_resamples=0,
                bootstrap_result=given,
                confidence_level=0.9,
                method=method,
                vectorized=False,
            )
            expected = theirs.confidence_interval
            assert ours.interval(0.9, method=method) == pytest.approx(expected, abs=1e-10)
            assert ours.standard_error == pytest.approx(theirs.standard_error, rel=1e-10)

    def test_by_hand(self):
        """Percentile and basic intervals of 0, 1, ..., 100 around an estimate of 60."""
        result = made_of(np.arange(101.0), estimate=60.0)
        assert result.interval(0.9, method="percentile") == pytest.approx((5, 95))
        assert result.interval(0.9, method="basic") == pytest.approx((120 - 95, 120 - 5))

    def test_nothing_is_cut(self):
        """A basic interval may end above 1, as 2 x 0.9 - 0.7 does."""
        result = made_of(np.linspace(0.7, 1, 101), estimate=0.9)
        assert result.interval(0.9999999, method="basic")[1] == pytest.approx(1.1, abs=1e-6)

    def test_probability_above(self):
        """The share of the defined estimates that are above, not at, the threshold."""
        result = made_of(np.array([0.1, 0.5, 0.5, 0.9, np.nan]), estimate=0.5)
        assert result.probability_above(0.5) == 0.25
        assert result.probability_above(0.0) == 1.0
        assert np.isnan(made_of(np.array([np.nan]), estimate=0.5).probability_above(0.5))

    @pytest.mark.parametrize("values", [[], [0.5], [np.nan, np.nan], [0.5, np.nan]])
    def test_too_little_for_an_interval(self, values):
        result = made_of(np.array(values), estimate=0.5)
        assert np.isnan([result.standard_error, *result.interval()]).all()

    def test_bca_of_a_perfect_study(self):
        rows = text("a a / b b / c c / a a / b b / c c")
        result = sa.bootstrap(score(rows, "krippendorff_alpha"), n_resamples=99, rng=1)
        assert result.standard_error == 0
        for method in ("BCa", "basic", "percentile"):
            assert np.isnan(result.interval(method=method)).all()
        assert np.isnan(result.probability_above(0.8))
        assert result.interval_reason == "No disagreement was seen in 6 units"
        assert "se 0.0000, undefined 0. No disagreement was seen in 6 units." in repr(result)

    def test_rare_answers_are_remarked(self):
        """All answers except a weigh as much as 12 (1 - 18 / 24) = 3 units."""
        rows = text(" / ".join(["a a"] * 8 + ["a b", "b a"] + ["b b"] * 2))
        result = sa.bootstrap(score(rows, "krippendorff_alpha"), n_resamples=99, rng=1)
        said = "The interval is rough: all answers except the commonest weigh as much as 3.0 units"
        assert result.remark.startswith(said)
        assert said in repr(result)
        assert said in " ".join(str(result).split())
        often = text(" / ".join(["a a", "b b", "a b", "b a"] * 10))
        fine = sa.bootstrap(score(often, "krippendorff_alpha"), n_resamples=99, rng=1)
        assert fine.remark is None

    def test_resamples_that_are_all_alike(self):
        result = Bootstrap(score(T1, "krippendorff_alpha"), np.full(9, 0.5), "units")
        assert np.isnan(result.interval(method="percentile")).all()
        assert result.interval_reason == "All resamples are equal"

    def test_bca_that_cannot_be_computed(self):
        alpha = score(T1, "krippendorff_alpha")
        for values in (
            alpha.estimate - np.array([0.1, 0.2]),
            alpha.estimate + np.array([0.1, 0.2]),
        ):
            result = Bootstrap(alpha, values, "units")
            assert np.isnan(result.interval(method="BCa")).all()

    def test_bca_without_a_jackknife(self):
        result = sa.bootstrap(score(text("a a / b b"), "krippendorff_alpha"), rng=1)
        assert np.isnan([*result.interval(), *result.interval(method="BCa")]).all()

    def test_bca_is_for_units(self):
        alpha = score(T1, "krippendorff_alpha")
        raters = sa.bootstrap(alpha, n_resamples=9, over="raters", rng=1)
        with pytest.raises(OptionError, match="requires a bootstrap over units"):
            raters.interval(method="BCa")

    def test_near_the_analytic_standard_error(self):
        """On 300 units the bootstrap, the jackknife and the linearisation agree within 10%.

        The bootstrap has an error of 1 / sqrt(2 x 999) = 2.2%; the rest is of order 1 / n.
        """
        rows = noisy_rows(8, units=300, raters=3, missing=0.1)
        for name in ("krippendorff_alpha", "fleiss_kappa", "gwet_ac", "conger_kappa"):
            agreement = score(rows, name)
            se = agreement.standard_error
            assert sa.bootstrap(agreement, n_resamples=999, rng=1).standard_error == pytest.approx(
                se, rel=0.1
            )
            assert sa.jackknife(agreement).standard_error == pytest.approx(se, rel=0.05)

    def test_mv_alpha_has_intervals_by_resampling(self):
        mv = score(noisy_rows(8, units=100, raters=3), "mv_alpha", "overlap")
        result = sa.bootstrap(mv, n_resamples=400, rng=1)
        assert np.isnan(mv.standard_error)
        assert result.standard_error == pytest.approx(sa.jackknife(mv).standard_error, rel=0.15)
        low, high = result.interval(method="BCa")
        assert low < mv.estimate < high


def made_of(values, *, estimate, over="units"):
    about = {"coefficient": "x", "distance": "d", "study": None, "reason": None}
    about["inference"] = SimpleNamespace(n_rarer=20.0, rarer="")
    agreement = SimpleNamespace(estimate=estimate, tally=SimpleNamespace(given=None), **about)
    return Bootstrap(agreement, np.asarray(values, dtype=float), over)


class TestUndefined:
    @pytest.mark.parametrize("n_resamples", [1, 200])
    def test_counted_exactly(self, n_resamples):
        drawn = next(draw_units(2, n_resamples, np.random.default_rng(3)))
        alone = int((drawn[:, 0] == drawn[:, 1]).sum())
        result = sa.bootstrap(
            score(text("a a / b b"), "krippendorff_alpha"), n_resamples=n_resamples, rng=3
        )
        assert result.n_undefined == alone == np.isnan(result.distribution).sum()
        assert len(result.distribution) == n_resamples
        assert result.to_frame()["n_undefined"].item() == alone
        assert f"undefined {alone}" in repr(result)

    @pytest.mark.parametrize(
        ("rows", "reason"),
        [
            ("a b", "only one unit has two ratings"),
            ("a a / a a", "only one value was used"),
            ("a . / . b", "no unit has two ratings"),
            ("a / b", "there is only one rater"),
        ],
    )
    @pytest.mark.parametrize("over", ["units", "raters", "both"])
    def test_an_undefined_study_has_no_interval(self, rows, reason, over):
        with pytest.warns(UndefinedAgreementWarning, match=reason):
            alpha = sa.krippendorff_alpha(annotations(text(rows)))
        result = sa.bootstrap(alpha, n_resamples=20, over=over, rng=1)
        assert result.n_undefined == 20
        assert np.isnan([*result.interval(), *result.interval(method="basic")]).all()
        assert np.isnan([result.standard_error, result.probability_above(0)]).all()


class TestTables:
    def table(self):
        names = ["krippendorff_alpha", "conger_kappa", "fleiss_kappa"]
        return sa.agreement(annotations(HARD), coefficient=names, distance=["masi", "nominal"])

    @pytest.mark.parametrize("over", ["units", "raters", "both"])
    def test_differences_are_paired(self, over):
        table = self.table()
        result = sa.bootstrap(table, n_resamples=60, over=over, rng=4)
        for agreement in table:
            alone = sa.bootstrap(agreement, n_resamples=60, over=over, rng=4)
            row = result[agreement.coefficient, agreement.distance]
            np.testing.assert_array_equal(row.distribution, alone.distribution)

    def test_the_distribution_of_a_difference(self):
        table = self.table()
        result = sa.bootstrap(table, n_resamples=15, rng=4)
        rows = as_drawn(HARD, table["conger_kappa", "masi"])
        drawn = next(draw_units(len(rows), 15, np.random.default_rng(4)))
        studies = [[rows[i] for i in draw] for draw in drawn]
        by_hand = np.subtract(
            estimates(studies, "conger_kappa", "masi"),
            estimates(studies, "conger_kappa", "nominal"),
        )
        actual = (
            result["conger_kappa", "masi"].distribution
            - result["conger_kappa", "nominal"].distribution
        )
        assert actual.tolist() == pytest.approx(by_hand.tolist(), abs=1e-12, nan_ok=True)

    def test_rows(self):
        """As many rows as the table, in its order, found by name."""
        result = sa.bootstrap(self.table(), n_resamples=20, rng=4)
        frame = result.to_frame(level=0.5)
        assert len(result) == len(frame) == 6
        assert frame["distance"].tolist() == ["masi", "nominal"] * 3
        assert frame["low"].iloc[0] == result["krippendorff_alpha", "masi"].interval(0.5)[0]
        assert repr(result).startswith("<BootstrapTable: 6 rows. ")
        assert result["alpha", "masi"] is result[0]
        with pytest.raises(KeyError, match=r"no row 'beta, masi'; the rows are \['kripp"):
            result["beta", "masi"]

    def test_as_text(self):
        """Printed, it is a table that shows the numbers: a line for each row below its name."""
        result = sa.bootstrap(self.table(), n_resamples=20, rng=4)
        table, note, rough = str(result).split("\n\n")
        names, *lines = table.splitlines()
        assert len(lines) == 6
        assert {"estimate", "se", "interval", "undefined"} <= set(names.split())
        assert "resamples of the units, BCa interval. About these raters." in note
        assert rough.startswith("The interval is rough")
        assert f"{result.rows[0].agreement.estimate:.4f}" in lines[0]

    def test_rows_of_several_studies_are_refused(self):
        one, two = (score(rows, "fleiss_kappa") for rows in (HARD, T1))
        with pytest.raises(DataError, match="rows of a table must have the same units"):
            sa.bootstrap(sa.AgreementTable((one, two), 0.95, 0), n_resamples=5)


def slow_two_way(rows, name, distance, m, w):
    """Score m[i] copies of unit i rated by w[g] copies of rater g, from the definition.

    A pair of ratings of one unit is compared where its raters are different people. Written out
    over the copies, with plain loops.
    """
    d = DISTANCES[distance]
    units = [
        [(g, x) for g, x in enumerate(row) if x is not None for _ in range(w[g])]
        for row, times in zip(rows, m, strict=True)
        for _ in range(times)
    ]
    compared = [
        [(x, y) for (g, x), (h, y) in itertools.permutations(unit, 2) if g != h] for unit in units
    ]
    pairable = [(unit, pairs) for unit, pairs in zip(units, compared, strict=True) if pairs]
    if not pairable:
        return np.nan
    means = [np.mean([d(x, y) for x, y in pairs]) for _, pairs in pairable]
    alpha_like = name in {"krippendorff_alpha", "mv_alpha"}
    shown = pairable if alpha_like else [unit for unit in units if unit]
    if len(shown) == 1 and name not in {"brennan_prediger", "percent_agreement"}:
        return np.nan
    sizes = [len(unit) if alpha_like else 1 for unit, _ in pairable]
    observed = np.average(means, weights=sizes)
    expected = slow_chance(name, d, [u for u in units if u], [unit for unit, _ in pairable])
    return 1 - observed / expected if expected > 1e-14 else np.nan


def slow_chance(name, d, rated, pairable):
    """Return the chance disagreement over rated units, or over pairable ones for the alphas."""
    K = VALUES
    if name == "percent_agreement":
        return 1.0
    if name == "brennan_prediger":
        return np.mean([d(x, y) for x in K for y in K])
    if name == "krippendorff_alpha":
        pool = [(i, g, x) for i, unit in enumerate(pairable) for g, x in unit]
        # A rating and the copies that its rater's other draws made of it are no pair.
        others = [(x, y) for (i, g, x) in pool for (j, h, y) in pool if (i, g) != (j, h)]
        return np.mean([d(x, y) for x, y in others])
    if name == "mv_alpha":
        pool = [x for unit in pairable for _, x in unit]
        shares = {s: np.mean([len(x) == s for x in pool]) for s in map(len, pool)}
        redrawn = {(s, t): float(reference.redrawn(pool, s, t, d)) for s in shares for t in shares}
        return sum(shares[s] * shares[t] * redrawn[s, t] for s, t in redrawn)
    if name in {"conger_kappa", "cohen_kappa"}:
        given = [[x for unit in rated for h, x in unit if h == g] for g in range(4)]
        w = [max((sum(h == g for h, _ in unit) for unit in rated), default=0) for g in range(4)]
        people = [g for g in range(4) if given[g]]
        means = {
            (g, h): np.mean([d(x, y) for x in given[g] for y in given[h]])
            for g, h in itertools.permutations(people, 2)
        }
        weight = [w[g] * w[h] for g, h in means]
        return np.average(list(means.values()), weights=weight) if means else 0.0
    pi = {k: np.mean([np.mean([x == k for _, x in unit]) for unit in rated]) for k in K}
    if name == "gwet_ac":
        credit = sum(1 - d(x, y) for x in K for y in K)
        return 1 - credit / (len(K) * (len(K) - 1)) * sum(p * (1 - p) for p in pi.values())
    assert name in {"fleiss_kappa", "scott_pi"}, f"{name} needs a slow loop of its own"
    return sum(pi[k] * pi[l] * d(k, l) for k in K for l in K)


class TestManyUnits:
    @pytest.mark.parametrize("few", [0, 5, 20, 300])
    def test_times_are_multinomial(self, monkeypatch, few):
        """The counts of 12,000 draws have the mean and the covariance of a multinomial.

        However many units a pattern may have for its units to be drawn one by one.
        """
        monkeypatch.setattr(resampling, "_FEW_UNITS", few)
        times = np.array([1.0, 40.0, 3.0, 6.0, 0.0, 250.0])
        keys = np.array([5, 1, 3, 2, 4, 0], dtype=np.uint64)
        blocks = draw_times(times, keys, 12_000, np.random.default_rng(1))
        drawn = np.concatenate(list(blocks))
        assert (drawn.sum(axis=1) == 300).all()
        p = times / 300
        variances = 300 * p * (1 - p)
        error = np.sqrt(variances / len(drawn))
        assert (np.abs(drawn.mean(axis=0) - times) <= 4.5 * error).all()
        expected = np.diag(300 * p) - 300 * np.outer(p, p)
        # The standard error of a covariance is at most that of the product of the deviations.
        deviations = drawn - times
        spread = np.sqrt(np.square(deviations[:, :, None] * deviations[:, None]).mean(axis=0))
        gap = np.abs(np.cov(drawn.T) - expected)
        assert (gap <= 4.5 * spread / np.sqrt(len(drawn)) + 1e-12).all()

    @pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "gwet_ac"])
    def test_as_units_are_drawn(self, monkeypatch, name):
        agreement = score(noisy_rows(2, units=300, raters=2), name)
        one_by_one = sa.bootstrap(agreement, n_resamples=3000, rng=1)
        monkeypatch.setattr(bootstrap_module, "_MANY_UNITS", 0)
        monkeypatch.setattr(bootstrap_module, "_UNITS_PER_PATTERN", 0)
        at_once = sa.bootstrap(agreement, n_resamples=3000, rng=2)
        assert not np.array_equal(at_once.distribution, one_by_one.distribution)
        found = stats.ks_2samp(at_once.distribution, one_by_one.distribution)
        assert found.pvalue > 1e-3

    def test_as_many_units_as_there_are_people(self):
        tally = sa.Tally.from_counts(pd.DataFrame({"a": [2, 1, 0], "b": [0, 1, 2]}))
        times = np.array([5e7, 2e7, 3e7])
        many = replace(tally, multiplicity=times, units=None, unit_patterns=None)
        alpha = sa.krippendorff_alpha(many, distance="nominal")
        tracemalloc.start()
        result = sa.bootstrap(alpha, n_resamples=4000, rng=1)
        low, high = result.interval(method="BCa")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 10_000_000
        # The standard deviation of 4,000 draws is known to 1.1%.
        assert result.standard_error == pytest.approx(alpha.standard_error, rel=0.05)
        assert low < alpha.estimate < high


class TestRaters:
    @pytest.mark.slow
    @two_warn
    @pytest.mark.parametrize(
        ("name", "distance", "over"),
        [
            (name, distance, over)
            for name, distance in PAIRS
            for over in ("raters", "both")
            if not drawn_alike(name, over)
        ],
    )
    def test_equal_the_slow_loop(self, monkeypatch, name, distance, over):
        drawn = []
        counts = bootstrap_module._counts

        def spied(n, generator):
            drawn.append(counts(n, generator))
            return drawn[-1]

        monkeypatch.setattr(bootstrap_module, "_counts", spied)
        rows = fitting(name, HARD)
        agreement = score(rows, name, distance)
        result = sa.bootstrap(agreement, n_resamples=12, over=over, rng=6)
        n_units = len(rows)
        w = [row for row in drawn if len(row) < n_units]
        m = [row for row in drawn if len(row) == n_units] or [np.ones(n_units)] * 12
        by_hand = [
            slow_two_way(rows, name, distance, mb.astype(int), wb.astype(int))
            for mb, wb in zip(m, w, strict=True)
        ]
        assert result.distribution.tolist() == pytest.approx(by_hand, abs=1e-12, nan_ok=True)
        assert np.isfinite(by_hand).any()

    @pytest.mark.slow
    @settings(max_examples=12)
    @given(
        m=st.lists(st.integers(0, 3), min_size=9, max_size=9),
        w=st.lists(st.integers(0, 3), min_size=4, max_size=4),
    )
    def test_any_weights(self, m, w):
        for name in ("krippendorff_alpha", "conger_kappa", "fleiss_kappa"):
            loaded = TwoWay(score(HARD, name), annotations(HARD))
            actual = loaded.estimates(np.array([m], dtype=float).T, np.array([w], dtype=float).T)
            by_hand = slow_two_way(HARD, name, "masi", m, w)
            assert actual.tolist() == pytest.approx([by_hand], abs=1e-12, nan_ok=True)

    @every_coefficient
    def test_everybody_once_is_the_study(self, name):
        rows = fitting(name, HARD)
        agreement = score(rows, name)
        loaded = TwoWay(agreement, annotations(rows))
        once = loaded.estimates(np.ones((len(rows), 1)), np.ones((len(rows[0]), 1)))
        assert once.tolist() == pytest.approx([agreement.estimate], rel=1e-13)

    @pytest.mark.parametrize(("rows", "name"), OUTLIERS)
    def test_outliers(self, rows, name):
        """Without the unit of an outlier, both raters once, it is the study without the unit."""
        loaded = TwoWay(score(rows, name, "interval"), annotations(rows))
        m = np.array([[i != 5] for i in range(len(rows))], dtype=float)
        by_hand = score(rows[:5] + rows[6:], name, "interval").estimate
        assert loaded.estimates(m, np.ones((2, 1))).tolist() == pytest.approx([by_hand], abs=1e-10)

    def test_copies_of_one_rater_are_never_compared(self):
        percent = sa.percent_agreement(annotations(text("a b / b c / c a")), distance="nominal")
        with pytest.warns(ResamplingWarning, match="the spread is that of the units alone"):
            result = sa.bootstrap(percent, n_resamples=100, over="both", rng=1)
        assert set(result.defined) == {0.0}
        # Each of the two draws takes one of two raters: half of the resamples are one rater.
        assert result.n_undefined == pytest.approx(50, abs=4 * 5)

    def test_raters_must_be_known(self):
        tally = sa.Tally.from_counts(pd.DataFrame({"a": [2, 1, 0], "b": [0, 1, 2]}))
        alpha = sa.krippendorff_alpha(tally)
        for over in ("raters", "both"):
            with pytest.raises(
                DataError, match="the rater and the unit of each answer, which a tally lacks"
            ):
                sa.bootstrap(alpha, over=over)


class TestResult:
    def test_frame(self):
        """One row with the estimate, the standard error and the interval, and which one it is."""
        alpha = score(T1, "krippendorff_alpha")
        result = sa.bootstrap(alpha, n_resamples=100, rng=1)
        low, high = result.interval(0.8)
        assert result.to_frame(level=0.8).to_dict("records") == [
            {
                "coefficient": "krippendorff_alpha",
                "distance": "masi",
                "estimate": alpha.estimate,
                "standard_error": result.standard_error,
                "low": low,
                "high": high,
                "interval_method": "BCa",
                "over": "units",
                "n_resamples": 100,
                "n_undefined": 0,
            }
        ]
        one = result.to_frame(method="basic").iloc[0]
        assert (one["low"], one["high"]) == result.interval(method="basic")
        assert one["interval_method"] == "basic"

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ({}, "BCa"),
            ({"over": "raters"}, "percentile"),
            ({"over": "both"}, "percentile"),
        ],
    )
    @pytest.mark.filterwarnings("ignore::setagree.errors.ResamplingWarning")
    def test_the_default_interval(self, options, expected):
        result = sa.bootstrap(score(T1, "krippendorff_alpha"), n_resamples=50, rng=1, **options)
        assert result.default_method == expected
        assert result.interval() == result.interval(method=expected)
        assert result.to_frame()["interval_method"].item() == expected

    def test_repr(self):
        """One line that says what, over what, how sure, from how many."""
        result = made_of(np.arange(1.0, 1.0 + 40) / 40, estimate=0.5, over="both")
        assert one_line(result)
        assert repr(result) == (
            "<Bootstrap: coefficient x, distance d, estimate 0.5000, se 0.2923, "
            "95% interval 0.0494, 0.9756, undefined 0. se and interval: 40 resamples of the "
            "units and raters, percentile interval. About raters like these.>"
        )

    def test_the_study_is_left_alone(self):
        alpha = score(HARD, "krippendorff_alpha")
        before = alpha.tally.multiplicity.copy()
        sa.bootstrap(alpha, n_resamples=10, rng=1)
        assert (alpha.tally.multiplicity == before).all()


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"n_resamples": 0}, "n_resamples=0 must be a whole number of 1 or more"),
            ({"n_resamples": 10.0}, "n_resamples=10.0 must be a whole number"),
            ({"n_resamples": True}, "n_resamples=True must be a whole number"),
            ({"over": "unit"}, "over='unit' is unknown; use .* Did you mean 'units'"),
            ({"rng": "seed"}, "rng='seed' is neither a seed of 0 or more nor a Generator"),
            ({"rng": -1}, "rng=-1 is neither a seed of 0 or more nor a Generator"),
        ],
    )
    def test_options(self, options, said):
        """An option out of range is named with its value."""
        with pytest.raises(OptionError, match=said):
            sa.bootstrap(score(T1, "fleiss_kappa"), **options)

    def test_no_agreement(self):
        said = "Expected an agreement, got a float; pass what krippendorff_alpha, ..."
        with pytest.raises(DataError, match=re.escape(said)):
            sa.bootstrap(0.8)
        assert sa.bootstrap(annotations(T1), n_resamples=9, rng=1).agreement == (
            sa.krippendorff_alpha(annotations(T1))
        )

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"level": 95}, "level=95 must lie between 0 and 1"),
            ({"level": 0.0}, "level=0.0 must lie"),
            ({"method": "bca"}, "method='bca' is unknown; use 'percentile', 'basic', 'BCa'"),
        ],
    )
    def test_intervals(self, options, said):
        """So is an unknown kind of interval, or a level in percent."""
        result = made_of(np.arange(10.0), estimate=5)
        with pytest.raises(OptionError, match=said):
            result.interval(**options)


class TestTwoRaters:
    ROWS = noisy_rows(7, units=20, raters=2)

    @pytest.mark.parametrize("name", ["krippendorff_alpha", "cohen_kappa"])
    def test_raters_alone_are_refused(self, name):
        with pytest.raises(DataError, match=r"three or more of them, and there are 2: .*'units'"):
            sa.bootstrap(score(self.ROWS, name), over="raters", rng=1)

    def test_both_spread_as_units_do(self):
        alpha = score(self.ROWS, "krippendorff_alpha")
        drawn = []
        counts = bootstrap_module._counts
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                bootstrap_module, "_counts", lambda *args: drawn.append(counts(*args)) or drawn[-1]
            )
            with pytest.warns(ResamplingWarning, match="two raters cannot sho"):
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
        alpha = score(text("a a / a a"), "krippendorff_alpha")
        assert sa.bootstrap(alpha, n_resamples=5, over="raters", rng=1).n_undefined == 5

    def test_three_raters(self):
        alpha = score(noisy_rows(7, units=20, raters=3), "krippendorff_alpha")
        assert sa.bootstrap(alpha, n_resamples=50, over="raters", rng=1).standard_error > 0


class TestWhyThereIsNoInterval:
    def test_undefined(self):
        """What is undefined gives its own reason, a defined one gives none."""
        alpha = score(text("a a / a a"), "krippendorff_alpha")
        boot = sa.bootstrap(alpha, n_resamples=5, rng=1)
        assert boot.interval_reason == alpha.reason == "only one value was used"
        sound = sa.bootstrap(score(HARD, "krippendorff_alpha"), n_resamples=50, rng=1)
        assert sound.interval_reason is None

    def test_one_resample(self):
        boot = sa.bootstrap(score(HARD, "krippendorff_alpha"), n_resamples=1, rng=1)
        assert boot.interval_reason == "Fewer than two resamples are defined"
