"""The jackknife against studies written out without the unit, or without the rater."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inference_support import (
    HARD,
    OUTLIERS,
    PAIRS,
    T1,
    VALUES,
    estimates,
    fitting,
    noisy_rows,
    one_line,
    rated_rows,
    score,
)
from small_studies import annotations, numbers, row_lists, sets_of, text

import setagree as sa
from setagree import checks as limits
from setagree.coefficients.chance_models import Redrawn
from setagree.errors import CostError, DataError, OptionError
from setagree.inference.jackknife import Jackknife
from setagree.scoring.coefficients import COEFFICIENTS, get_coefficient
from setagree.scoring.scorer import Scorer, score_part

every_pair = pytest.mark.parametrize(("name", "distance"), PAIRS)


def without_each(rows):
    return [rows[:i] + rows[i + 1 :] for i in range(len(rows))]


def without_rater(rows, g):
    """Return the rows without a rater, and without the units that nobody else rated."""
    return rated_rows([row[:g] + row[g + 1 :] for row in rows])


def without_rater_of(whole, rater):
    """Return the coefficient without a rater over the values and the distance of the whole."""
    study = whole.study
    part = study.take(study.rater_codes != study.raters.tolist().index(rater))
    return score_part(whole, part).estimate if part.n_ratings else np.nan


class TestUnits:
    @every_pair
    def test_equals_the_loop(self, name, distance):
        """The closed form equals scoring the rest, to 1e-10, for every coefficient.

        The study has empty sets, missing ratings, units with one rating, a rater whose only rating
        goes with its unit, and equal units that share one pattern.
        """
        rows = fitting(name, HARD)
        by_hand = estimates(without_each(rows), name, distance)
        actual = sa.jackknife(score(rows, name, distance)).values
        assert actual.tolist() == pytest.approx(by_hand, abs=1e-10, nan_ok=True)
        assert np.isfinite(by_hand).all()

    @pytest.mark.parametrize(("rows", "name"), OUTLIERS)
    def test_outliers(self, rows, name):
        """One number of 1e9 among 1 to 4: what is left without it keeps its digits.

        Subtracted from the sums of the whole study, the squares of 1e18 would take them along.
        """
        by_hand = estimates(without_each(rows), name, "interval")
        actual = sa.jackknife(score(rows, name, "interval")).values
        assert np.isfinite(by_hand).all()
        assert actual.tolist() == pytest.approx(by_hand, abs=1e-10)

    @pytest.mark.slow
    @given(rows=row_lists(VALUES, units=6, raters=4).map(rated_rows))
    def test_any_study(self, rows):
        if len(rows) < 2:
            return
        for name in ("krippendorff_alpha", "fleiss_kappa", "conger_kappa", "gwet_ac"):
            by_hand = estimates(without_each(rows), name)
            actual = sa.jackknife(score(rows, name)).values
            assert actual.tolist() == pytest.approx(by_hand, abs=1e-10, nan_ok=True)

    def test_mv_alpha_without_each_unit(self):
        mv = score(HARD, "mv_alpha", "overlap")
        study = mv.study
        parts = [
            score_part(mv, study.take(study.unit_codes != unit)).estimate
            for unit in range(study.n_units)
        ]
        found = sa.jackknife(mv).values.tolist()
        assert found == pytest.approx(parts, rel=1e-13, nan_ok=True)

    def test_by_hand(self):
        """Units {a a}, {b b}, {a b}, nominal alpha: 4/9; without each of them 0, 0, 1.

        Without {a b} nothing differs. Without {a a}: n = (1, 3), N = 4, Do = 2/4,
        De = 2 x 3 / 12 = 1/2. With all: Do = 2/6, De = 2 x 9 / 30 = 3/5.
        The mean of 0, 0, 1 is 1/3: bias 2 (1/3 - 4/9), SE sqrt(2/3 x 2/3) = 2/3; with
        d = 1/3, 1/3, -2/3, sum d³ = -6/27, sum d² = 6/9: a = -(6/27) / (6 (2/3)^1.5).
        """
        alpha = sa.krippendorff_alpha(annotations(text("a a / b b / a b")), distance="nominal")
        found = sa.jackknife(alpha)
        assert alpha.estimate == pytest.approx(4 / 9)
        assert found.values.tolist() == pytest.approx([0, 0, 1])
        assert found.bias == pytest.approx(2 * (1 / 3 - 4 / 9))
        assert found.standard_error == pytest.approx(2 / 3)
        assert found.acceleration == pytest.approx(-(6 / 27) / (6 * (2 / 3) ** 1.5))

    def test_names_of_the_units(self):
        frame = pd.DataFrame(
            {"ann": ["a", "b", "a"], "bob": ["a", "b", "b"]}, index=["x", ("y", 1), 3]
        )
        found = sa.jackknife(sa.krippendorff_alpha(sa.Annotations.from_wide(frame)))
        assert found.values.index.tolist() == ["x", ("y", 1), 3]
        assert found.values.index.name == "unit"

    def test_units_without_names(self):
        known = sa.krippendorff_alpha(annotations(text("a a / b b / a b / b b"))).tally
        unknown = sa.Tally(
            known.kind, known.values, known.indptr, known.indices, known.counts, known.multiplicity
        )
        names = sa.jackknife(sa.krippendorff_alpha(known)).values
        numbered = sa.jackknife(sa.krippendorff_alpha(unknown)).values
        assert numbered.index.tolist() == [0, 1, 2, 3]
        assert numbered.tolist() == pytest.approx(names.iloc[[0, 1, 3, 2]].tolist())


class TestRaters:
    @every_pair
    def test_equals_scoring_without_the_rater(self, name, distance):
        rows = fitting(name, HARD)
        by_hand = estimates([without_rater(rows, g) for g in range(len(rows[0]))], name, distance)
        actual = sa.jackknife(score(rows, name, distance), over="raters").values
        assert actual.tolist() == pytest.approx(by_hand, abs=1e-12, nan_ok=True)
        assert actual.index.tolist() == [f"r{g}" for g in range(len(rows[0]))]
        assert actual.index.name == "rater"

    @pytest.mark.slow
    @pytest.mark.parametrize("distance", ["masi", "hamming", "nominal"])
    @settings(max_examples=10)
    @given(rows=row_lists(sets_of("abc"), units=6, raters=6).map(rated_rows))
    def test_any_study(self, rows, distance):
        for name in COEFFICIENTS:
            if name in {"cohen_kappa", "scott_pi"}:
                continue
            whole = Scorer(annotations(rows)).score(
                get_coefficient(name), sa.distances.get_distance(distance)
            )
            actual = sa.jackknife(whole, over="raters").values
            parts = [without_rater_of(whole, rater) for rater in actual.index]
            assert actual.tolist() == pytest.approx(parts, abs=1e-11, nan_ok=True), name

    @pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "conger_kappa"])
    def test_the_rater_of_an_outlier(self, name):
        rows = [[1, 2, 2, 1], [3, 3, 4, 3], [2, 2, 1e9, 2], [4, 3, 4, 4], [1, 1, 2, 2]]
        whole = score(rows, name, "interval")
        actual = sa.jackknife(whole, over="raters").values
        parts = [without_rater_of(whole, rater) for rater in actual.index]
        assert actual.tolist() == pytest.approx(parts, abs=1e-11)
        assert abs(parts[2]) > 0.1

    @pytest.mark.parametrize("name", sorted(set(COEFFICIENTS) - {"cohen_kappa", "scott_pi"}))
    @pytest.mark.parametrize("weighted", [False, True])
    def test_thousands_of_raters(self, name, weighted):
        """1,000 raters: the ratings of all are read a few times, not once for each rater."""
        rng = np.random.default_rng(0)
        answers = [frozenset("a"), frozenset("ab"), frozenset("c"), frozenset()]
        study = sa.Annotations.from_triples(
            [(g, (g * 7 + k) % 300, answers[rng.integers(4)]) for g in range(1_000) for k in (0, 1)]
        )
        if weighted and name != "mv_alpha":
            study = study.sampled(
                sampling_weight=dict.fromkeys(study.units[::2], 3)
                | dict.fromkeys(study.units[1::2], 1)
            )
        whole = Scorer(study).score(get_coefficient(name), sa.distances.get_distance("dice"))
        read = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("setagree.scoring.scorer.score_part", lambda *_: read.append(1))
            found = sa.jackknife(whole, over="raters").values
        assert not read
        for rater in (0, 234, 999):
            assert found[rater] == pytest.approx(without_rater_of(whole, rater), abs=1e-12)

    def test_raters_who_gave_the_same(self, monkeypatch):
        answers = [frozenset("a"), frozenset("ab"), frozenset("c")]
        pairs = [(2 * u + k, u, answers[(u + k * (u % 2)) % 3]) for u in range(300) for k in (0, 1)]
        study = sa.Annotations.from_triples([*pairs, *[("all", u, answers[0]) for u in range(300)]])
        whole = sa.mv_alpha(study)
        seen, chance = [], Redrawn.of_samples
        monkeypatch.setattr(Redrawn, "of_samples", lambda *args: seen.append(1) or chance(*args))
        found = sa.jackknife(whole, over="raters").values
        assert len(seen) == len(answers) + 1
        monkeypatch.undo()
        for rater in (0, 1, 2, 598, "all"):
            assert found[rater] == pytest.approx(without_rater_of(whole, rater), abs=1e-12)

    def test_raters_beyond_all_measure(self):
        study = annotations(text("a ab b / ab b a"))
        alpha = sa.mv_alpha(study)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(limits, "MOST_STEPS", 100)
            with pytest.raises(CostError, match=r"mv_alpha without each rater would take about"):
                sa.jackknife(alpha, over="raters")
            with pytest.raises(CostError, match=r"Leaving out each rater would take about"):
                sa.jackknife(sa.fleiss_kappa(study), over="raters")

    def test_published_figures(self):
        """T1 without rater 1, 2 and 3: 0.30082147, 0.39107211, .43624161.

        From the R package irrCAC, its rounding removed, on two raters each.
        """
        found = sa.jackknife(sa.krippendorff_alpha(annotations(T1)), over="raters")
        assert found.values.tolist() == pytest.approx(
            [0.30082147, 0.39107211, 0.43624161], abs=6e-9
        )

    def test_the_only_rater(self):
        found = sa.jackknife(score(text("a / b / a"), "percent_agreement"), over="raters")
        assert (found.values.size, found.n_undefined) == (1, 1)

    def test_raters_must_be_known(self):
        alpha = sa.krippendorff_alpha(
            sa.Tally.from_counts(pd.DataFrame({"a": [2, 0], "b": [0, 2]}))
        )
        with pytest.raises(
            DataError, match="the rater and the unit of each answer, which a tally lacks"
        ):
            sa.jackknife(alpha, over="raters")


class TestResult:
    def test_frame(self):
        """One row per unit: the estimate without it, and the change from the estimate with it."""
        alpha = score(T1, "krippendorff_alpha")
        found = sa.jackknife(alpha)
        frame = found.to_frame()
        assert frame.columns.tolist() == ["estimate_without", "difference"]
        assert frame["estimate_without"].tolist() == found.values.tolist()
        assert (frame["difference"] + alpha.estimate).tolist() == pytest.approx(
            found.values.tolist()
        )

    def test_frame_of_raters(self):
        """A rater's row says how many answers it rests on; the change is without less with.

        In T1 the third rater left one unit out: 11, 11 and 10 answers.
        """
        alpha = score(T1, "krippendorff_alpha")
        frame = sa.jackknife(alpha, over="raters").to_frame()
        assert frame["n_ratings"].tolist() == [11, 11, 10]
        # Without raters 1, 2, 3: 0.30082147, 0.39107211, 0.43624161 (independent programs).
        change = np.array([0.30082147, 0.39107211, 0.43624161]) - 0.40257152
        assert frame["difference"].tolist() == pytest.approx(change.tolist(), abs=2e-8)

    def test_repr(self):
        """One line; what could not be computed is counted in it."""
        alpha = sa.krippendorff_alpha(annotations(text("a a / b b / a b")), distance="nominal")
        assert repr(sa.jackknife(alpha)) == (
            "<Jackknife: krippendorff_alpha [nominal] 0.4444, se 0.6667 over 3 units, "
            "these raters; 3 rows>"
        )
        perfect = sa.jackknife(score(text("a a / b b"), "krippendorff_alpha"))
        assert one_line(perfect)
        assert "1.0000, se nan over 2 units, 2 undefined; 2 rows" in repr(perfect)

    @pytest.mark.parametrize("values", [[], [0.5], [0.5, np.nan]])
    def test_fewer_than_two_values(self, values):
        alpha = score(T1, "krippendorff_alpha")
        found = Jackknife(alpha, "units", pd.Series(values, dtype=float))
        assert np.isnan([found.bias, found.standard_error, found.acceleration]).all()
        assert found.n_undefined == sum(map(np.isnan, values))

    def test_equal_values(self):
        found = sa.jackknife(score(text("a a / b b / c c"), "krippendorff_alpha"))
        assert (found.bias, found.standard_error, found.acceleration) == (0, 0, 0)

    def test_undefined_study(self):
        for name in COEFFICIENTS:
            found = sa.jackknife(score(text("a b"), name))
            assert found.n_undefined == 1, name


def test_refusals():
    """What is left out is units or raters; what it is left out of is an agreement."""
    alpha = score(T1, "krippendorff_alpha")
    with pytest.raises(OptionError, match=r"over='rater' is unknown; use .* Did you mean 'raters'"):
        sa.jackknife(alpha, over="rater")
    with pytest.raises(DataError, match="Expected an agreement, got a float"):
        sa.jackknife(0.8)


def test_interval():
    """Of a mean the jackknife is the t interval of the mean, which the analytic one is, too."""
    percent = sa.percent_agreement(sa.simulate(40, 3, rng=1))
    for level in (0.5, 0.95):
        low, high = sa.jackknife(percent).interval(level)
        assert (low, high) == pytest.approx(percent.interval(level, method="t"), abs=1e-12)
    alike = sa.jackknife(score(text("a a / b b / a a"), "krippendorff_alpha"))
    assert np.isnan(alike.interval()).all()


class TestPassingRaters:
    @pytest.mark.slow
    @given(seed=st.integers(0, 10**6), missing=st.sampled_from([0.4, 0.6, 0.75]))
    def test_equals_the_rest_scored(self, seed, missing):
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

    def test_a_rater_of_its_own_in_each_unit(self):
        rows = [(g, i, "abc"[i * 7 % 3]) for i in range(1000) for g in ("p", "q", f"w{i}")]
        rows[0] = ("p", 0, "b")
        kappa = sa.conger_kappa(sa.Annotations.from_triples(rows), distance="nominal")
        values = sa.jackknife(kappa).values
        assert values.iloc[0] == pytest.approx(1.0, abs=1e-12)
        assert (values.iloc[1:] < 1).all()

    def test_one_of_two_units(self):
        study = annotations(text("a b a / b b a"))
        weighted = study.sampled(sampling_weight=dict(zip(study.units, (1.5, 2.0), strict=True)))
        for name in ("krippendorff_alpha", "fleiss_kappa", "gwet_ac"):
            assert sa.jackknife(getattr(sa, name)(study)).n_undefined == 2
            found = sa.by_unit(weighted, coefficient=name)["estimate_without"]
            assert found.isna().all()


class TestRatersLeftOut:
    def test_the_distance_is_paid_for_once(self):
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
