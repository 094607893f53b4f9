"""Comparisons: the differences of coefficients, against scipy's and statsmodels' tests."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference_support import HARD, T1, T2, estimates, noisy_rows, one_line, score
from scipy import stats
from small_studies import annotations, text, triples

import setagree as sa
from setagree.errors import (
    DataError,
    OptionError,
    SimilarLabelsWarning,
    UndefinedAgreementWarning,
)
from setagree.inference import comparison, resampling
from setagree.inference.comparison import Comparison, Difference, _plain, holm
from setagree.inference.unit_order import unit_places

COLUMNS = [
    "first",
    "second",
    "difference",
    "standard_error",
    "low",
    "high",
    "p_value",
    "n_undefined",
    "n_shared_units",
    "p_holm",
]
ROWS = noisy_rows(4, units=40, raters=3)
HOLES = noisy_rows(5, units=40, raters=3, missing=0.3)


def renamed(rows, prefix):
    """Code rows under other names of the units."""
    return sa.Annotations.from_triples([(g, prefix + i, x) for g, i, x in triples(rows)])


KINDS = (int, str)


def score_part(name, study, distance):
    return sa.agreement(study, coefficient=name, distance=distance).rows[0]


def part(rows, units):
    """Code some of the rows under the names that all of them would have."""
    kept = {f"u{i}" for i in units}
    return sa.Annotations.from_triples([t for t in triples(rows) if t[1] in kept])


class TestSameUnits:
    @pytest.mark.parametrize(
        ("one", "two"),
        [
            (("fleiss_kappa", "masi"), ("fleiss_kappa", "nominal")),
            (("fleiss_kappa", "masi"), ("gwet_ac", "masi")),
            (("conger_kappa", "matrix"), ("percent_agreement", "callback")),
            (("krippendorff_alpha", "masi"), ("krippendorff_alpha", "nominal")),
        ],
    )
    @pytest.mark.parametrize("rows", [ROWS, HOLES], ids=["complete", "missing"])
    def test_equals_the_t_test_of_the_differences(self, one, two, rows):
        """t, p and interval are those of scipy's t test of x_i1 - x_i2, with n - 1 degrees.

        The linearised values of alpha have another mean than alpha itself (a term of 1 / N): there
        the interval has the width of the t test's, around the difference of the estimates.
        """
        a, b = (score(rows, *names) for names in (one, two))
        gaps = a.influence.to_numpy() - b.influence.to_numpy()
        test = stats.ttest_1samp(gaps, 0.0)
        low, high = test.confidence_interval(0.9)
        result = sa.compare(a, b, level=0.9)
        assert result.design == "same_units"
        assert result.difference == a.estimate - b.estimate
        assert result.standard_error == pytest.approx(gaps.std(ddof=1) / math.sqrt(len(gaps)))
        off = result.difference - gaps.mean()
        assert result.interval() == pytest.approx((low + off, high + off), abs=1e-12)
        t = abs(result.difference) / result.standard_error
        assert result.p_value == pytest.approx(2 * stats.t.sf(t, len(gaps) - 1), rel=1e-9)
        if one[0] != "krippendorff_alpha":
            assert off == pytest.approx(0, abs=1e-12)
            assert result.p_value == pytest.approx(test.pvalue, rel=1e-9)

    def test_other_answers_to_the_same_units(self):
        """Two groups of raters, or two versions of guidelines: units are matched by their names.

        The second study lists its units in another order.
        """
        other = noisy_rows(9, units=40, raters=2)
        backwards = sa.Annotations.from_triples(triples(other)[::-1])
        a, b = score(ROWS, "fleiss_kappa"), sa.fleiss_kappa(backwards)
        gaps = a.influence - b.influence.loc[a.influence.index]
        result = sa.compare(a, b)
        assert result.design == "same_units"
        assert result.p_value == pytest.approx(stats.ttest_1samp(gaps, 0.0).pvalue, rel=1e-9)

    def test_a_unit_that_one_of_them_does_not_count(self):
        """Alpha drops units with one rating; there its deviation is 0, Fleiss' is not.

        psi_i = (x_i - mean) / sqrt(n (n - 1)) with the mean and n of each; SE² = sum of squares.
        """
        alpha, kappa = score(HOLES, "krippendorff_alpha"), score(HOLES, "fleiss_kappa")
        assert len(alpha.influence) < len(kappa.influence)
        total = 0.0
        for unit in kappa.influence.index:
            psi = [
                (x[unit] - x.mean()) / math.sqrt(len(x) * (len(x) - 1)) if unit in x.index else 0.0
                for x in (alpha.influence, kappa.influence)
            ]
            total += (psi[0] - psi[1]) ** 2
        result = sa.compare(alpha, kappa)
        assert result.standard_error == pytest.approx(math.sqrt(total))
        t = abs(result.difference) / math.sqrt(total)
        assert result.p_value == pytest.approx(2 * stats.t.sf(t, len(kappa.influence) - 1))

    def test_alone(self):
        """Beside a coefficient without spread the standard error is one's own."""
        a = score(ROWS, "fleiss_kappa")
        still = replace(a, sums=replace(a.sums))
        vars(still)["standard_error"] = a.standard_error
        values = np.zeros_like(a.sums.linearised.values)
        vars(still.sums)["linearised"] = a.sums.linearised._replace(values=values)
        assert sa.compare(a, still).standard_error == pytest.approx(a.standard_error)

    @given(seed=st.integers(0, 10_000), units=st.integers(3, 60))
    def test_rounding_is_no_difference(self, seed, units):
        """On single labels jaccard and nominal are the same distance: p is 1 for any rounding.

        Their estimates differ by 1e-16 and so do all linearised values, the same way. Only where
        one of the two has no spread there is no p.
        """
        rng = np.random.default_rng(seed)
        rows = [[frozenset(rng.choice(list("abcd"))) for _ in range(3)] for _ in range(units)]
        study = annotations(rows)
        for name in ("krippendorff_alpha", "fleiss_kappa", "conger_kappa"):
            a, b = (getattr(sa, name)(study, distance=d) for d in ("nominal", "jaccard"))
            for method in ("linearised", "bootstrap"):
                result = sa.compare(a, b, method=method, n_resamples=20, rng=seed)
                assert result.p_value == 1 or (result.reasons[0] and math.isnan(result.p_value))
                assert result.difference == pytest.approx(0, abs=1e-12)
                assert bool(result.reasons[0]) == math.isnan(result.p_value)

    def test_a_difference_without_spread(self):
        a = score(T1, "fleiss_kappa")
        result = sa.compare(a, replace(a, estimate=a.estimate - 0.25))
        assert (result.difference, result.standard_error) == (pytest.approx(0.25), 0)
        assert np.isnan([*result.interval(), result.p_value]).all()
        assert result.reasons == ("The difference shows no spread to judge it by",)
        assert "se 0.0000. The difference shows no spread to judge it by." in repr(result)

    @pytest.mark.parametrize(
        ("design", "method"),
        [
            ("same_units", "linearised"),
            ("same_units", "bootstrap"),
            ("independent", "bootstrap"),
        ],
    )
    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("a a / b b / a a / b b", "No disagreement was seen in 12 units"),
            ("a b / b a / a b / b a", "All units disagree alike"),
        ],
    )
    def test_with_one_of_no_spread(self, name, why, design, method):
        sure = score(text(name) * 3, "krippendorff_alpha")
        other = score(text("a b / b b / a a / b b") * 3, "krippendorff_alpha")
        for pair in ((sure, other), (other, sure), (sure, sure)):
            result = sa.compare(*pair, design=design, method=method, n_resamples=50, rng=1)
            assert result.difference == pair[0].estimate - pair[1].estimate
            assert np.isnan([*result.interval(), result.p_value, result.standard_error]).all()
            named = [
                f"{why} ({name})"
                for x, name in zip(pair, result.names[0], strict=True)
                if x is sure
            ]
            assert result.reasons == (named[0] if len(named) == 1 else why,)
            assert why in repr(result)
        several = sa.compare(sure, other, other)
        named = f"{why} ({several.names[0][0]})"
        assert several.reasons == (named, named, None)
        assert f"\n\n{named}.\n\n" in str(several)

    @pytest.mark.parametrize(
        ("one", "two"),
        [
            ({"population_size": 41}, {"population_size": 10_000}),
            ({"strata": "half"}, {"strata": "third"}),
            ({"strata": "half"}, {"strata": "half", "population_size": {0: 30, 1: 90}}),
            ({"strata": "half"}, {"population_size": 90}),
            ({}, {"population_size": 90}),
            ({}, {"strata": "half"}),
        ],
    )
    def test_different_populations_of_the_same_units(self, one, two):
        units = pd.DataFrame({"unit": [f"u{k}" for k in range(1, 41)]})
        units = units.assign(half=units.index % 2, third=units.index % 3)
        study = sa.simulate(40, 3, rng=1).with_units(units.set_index("unit"))
        alphas = [
            sa.krippendorff_alpha(study.sampled(**how) if how else study, distance=distance)
            for how, distance in ((one, "masi"), (two, "nominal"))
        ]
        for pair in (alphas, alphas[::-1]):
            with pytest.raises(DataError, match="give different ones for the same units"):
                sa.compare(*pair)

    def test_the_same_thing_twice(self):
        a = score(ROWS, "krippendorff_alpha")
        result = sa.compare(a, a)
        assert (result.difference, result.standard_error, result.p_value) == (0, 0, 1)


def words(line):
    """Code units of two ratings or more, a word each."""
    return annotations([[frozenset(letter) for letter in word] for word in line.split()])


FULL = "aa aa aa bb bb bb cc cc cc dd"
SK = "aa aa aa aa aa aa ab bb aa aa bb aa"
NEG = "ab ba ab bc ca ab ba cb ac aa"


class TestIndependentStudies:
    @pytest.mark.parametrize(
        ("one", "two", "distance", "difference", "low", "high", "p"),
        [
            (annotations(T1), annotations(T2), "masi", -0.137784153, -0.5846552655, 0.3533497123,
             0.589717454),
            (words(FULL), annotations(T1), "nominal", 0.6473317865, 0.1360942904, 0.9904927095,
             0.01619626827),
            (words(SK), words(NEG), "nominal", 1.10435143, 0.1544340875, 1.49120881,
             0.02513432907),
        ],
        ids=["T1 - T2", "full agreement - T1", "SK - NEG"],
    )  # fmt: skip
    def test_vectors(self, one, two, distance, difference, low, high, p):
        """The intervals are asked for, because SK has too few rarer answers for the default."""
        pair = [
            sa.agreement(
                study, coefficient="krippendorff_alpha", distance=distance, interval="score"
            )
            for study in (one, two)
        ]
        found = sa.compare(*pair, design="independent")
        assert found.difference == pytest.approx(difference, abs=5e-10)
        assert found.interval() == pytest.approx((low, high), abs=5e-10)
        assert found.p_value == pytest.approx(p, abs=5e-12 if p < 0.1 else 5e-10)
        other = sa.compare(*pair[::-1], design="independent")
        assert other.p_value == pytest.approx(found.p_value, abs=1e-12)

    def test_p_is_the_level_at_which_the_interval_reaches_0(self):
        found = sa.compare(
            *(sa.fleiss_kappa(annotations(rows)) for rows in (ROWS, T1)), design="independent"
        )
        assert min(map(abs, found.interval(1 - found.p_value))) < 1e-9

    @pytest.mark.parametrize("design", ["same_units", "independent"])
    def test_too_few_rarer_answers(self, design):
        rare = sa.krippendorff_alpha(words("aa " * 20 + "ab"))
        found = sa.compare(rare, rare, design=design)
        assert np.isnan([*found.interval(), found.p_value]).all()
        assert found.reasons[0].startswith("Too few rarer answers for an interval or a p-value")

    def test_all_units_disagree_alike(self):
        """Such a study has an interval and no p (STATISTICS 10.14), and so has the difference."""
        one = sa.krippendorff_alpha(words("ab ba " * 6))
        two = sa.krippendorff_alpha(annotations(T1))
        found = sa.compare(one, two, design="independent")
        (l1, u1), (l2, u2) = one.interval(), two.interval()
        d = one.estimate - two.estimate
        low = d - np.hypot(one.estimate - l1, u2 - two.estimate)
        high = d + np.hypot(u1 - one.estimate, two.estimate - l2)
        assert found.interval() == pytest.approx((low, high), abs=1e-12)
        assert np.isnan([one.p_value, found.p_value]).all()
        assert found.reasons == ("All units disagree alike (krippendorff_alpha [masi] #1)",)

    def test_clusters_and_strata_have_their_own_ends(self):
        studies = [sa.simulate(60, 3, rng=seed) for seed in (1, 2)]
        clusters = {unit: k // 5 for k, unit in enumerate(studies[0].units)}
        strata = {unit: k % 2 for k, unit in enumerate(studies[1].units)}
        a = sa.krippendorff_alpha(studies[0].sampled(cluster=clusters))
        b = sa.krippendorff_alpha(studies[1].sampled(strata=strata, population_size={0: 90, 1: 90}))
        assert (a.interval_method, b.interval_method) == ("t", "t")
        d, (low, high) = a.estimate - b.estimate, sa.compare(a, b, design="independent").interval()
        (l1, u1), (l2, u2) = a.interval(), b.interval()
        assert d - low == pytest.approx(math.hypot(a.estimate - l1, u2 - b.estimate))
        assert high - d == pytest.approx(math.hypot(u1 - a.estimate, b.estimate - l2))

    @pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")
    def test_ends_that_are_cut_at_one(self):
        study, plain = sa.simulate(20, 3, skill=0.95, rng=1), sa.simulate(60, 3, rng=1)
        clusters = {unit: k // 5 for k, unit in enumerate(study.units)}
        a, b = sa.krippendorff_alpha(study.sampled(cluster=clusters)), sa.krippendorff_alpha(plain)
        assert (a.interval_method, a.interval()[1]) == ("t", 1)
        d, (_, high) = a.estimate - b.estimate, sa.compare(a, b, design="independent").interval()
        expected = math.hypot(1 - a.estimate, b.estimate - b.interval()[0])
        assert high - d == pytest.approx(expected)


class TestWhichUnits:
    def test_partly_the_same_must_be_said(self):
        a = sa.fleiss_kappa(part(ROWS, range(30)))
        b = sa.fleiss_kappa(part(ROWS, range(10, 40)), distance="nominal")
        with pytest.raises(DataError, match="of 30 and 30 units, 20 are in all; use design="):
            sa.compare(a, b)
        same = sa.compare(a, b, design="same_units")
        psi = [
            ((x.influence - x.influence.mean()) / math.sqrt(30 * 29)).reindex(
                [f"u{i}" for i in range(40)], fill_value=0.0
            )
            for x in (a, b)
        ]
        se = math.sqrt(((psi[0] - psi[1]) ** 2).sum())
        assert same.standard_error == pytest.approx(se)
        t = abs(same.difference) / se
        assert same.p_value == pytest.approx(2 * stats.t.sf(t, 40 - 1))
        other = sa.compare(a, b, design="independent")
        assert other.standard_error == pytest.approx(math.hypot(a.standard_error, b.standard_error))
        # What the two share moves together.
        assert same.standard_error < other.standard_error

    @pytest.mark.parametrize("design", ["same_units", "independent"])
    def test_weights_of_one_study_alone(self, design):
        study = sa.simulate(40, 3, rng=1)
        weights = {unit: 1 + k % 3 for k, unit in enumerate(study.units)}
        found = sa.compare(study.sampled(sampling_weight=weights), study, design=design)
        assert ", weighted (not in all). About" in " ".join(str(found).split())

    def test_one_shared_unit(self):
        a, b = sa.simulate(9, 2, rng=1), sa.simulate(9, 2, rng=2)
        with pytest.warns(UndefinedAgreementWarning):
            found = sa.compare(a.take(a.unit_codes > 7), b, design="shared_units")
        assert "Only the unit that all studies share, recomputed" in str(found)

    @pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "conger_kappa"])
    @pytest.mark.parametrize("method", ["linearised", "bootstrap"])
    def test_the_shared_units_alone(self, name, method):
        """Cut down to units 10-29 by hand and compared, or by design="shared_units": the same."""
        options = {"method": method, "n_resamples": 50, "rng": 1}
        halves = [(ROWS, range(30), "masi"), (HOLES, range(10, 40), "masi")]
        a, b = (score_part(name, part(rows, units), d) for rows, units, d in halves)
        found = sa.compare(a, b, design="shared_units", **options)
        cut = [score_part(name, part(rows, range(10, 30)), d) for rows, _, d in halves]
        expected = sa.compare(*cut, **options)
        assert (found.design, expected.design) == ("shared_units", "same_units")
        pd.testing.assert_frame_equal(found.frame, expected.frame)
        assert found.frame["n_shared_units"].item() == 20

    def test_nothing_to_cut(self):
        a = sa.fleiss_kappa(part(ROWS, range(30)))
        b = sa.fleiss_kappa(part(HOLES, range(30)))
        c = sa.fleiss_kappa(part(ROWS, range(30)), distance="nominal")
        for pair in [(a, b), (b, c)]:
            found = sa.compare(*pair, design="shared_units")
            pd.testing.assert_frame_equal(found.frame, sa.compare(*pair).frame)
            assert found.frame["n_shared_units"].item() == 30
        table = sa.agreement(annotations(ROWS), distance=["masi", "nominal"])
        frame = sa.compare(*table, design="shared_units").frame
        assert (frame["n_shared_units"] == 40).all()

    def test_no_unit_is_shared(self):
        a, b = sa.fleiss_kappa(annotations(ROWS)), sa.fleiss_kappa(renamed(ROWS, "x"))
        with pytest.raises(DataError, match=r"^no unit is in all of the studies\.$"):
            sa.compare(a, b, design="shared_units")
        c = sa.fleiss_kappa(renamed(ROWS, "X "))
        with pytest.raises(DataError, match=r"studies\. But 40 units differ only in case"):
            sa.compare(b, c, design="shared_units")

    def test_a_tally_cannot_be_cut(self):
        table = pd.DataFrame({"a": [2, 0, 1], "b": [1, 3, 2]}, index=["u0", "u1", "u2"])
        tally = sa.Tally.from_counts(table)
        a, b = sa.fleiss_kappa(tally), sa.fleiss_kappa(part(ROWS, range(1, 9)))
        with pytest.raises(DataError, match="requires the rater"):
            sa.compare(a, b, design="shared_units")

    def test_undefined_on_the_shared_units(self):
        a, b = (sa.fleiss_kappa(part(ROWS, units)) for units in (range(11), range(10, 20)))
        with pytest.warns(UndefinedAgreementWarning, match="only one unit has two ratings"):
            result = sa.compare(a, b, design="shared_units")
        assert math.isnan(result.difference)

    @pytest.mark.parametrize(
        ("one", "two", "example"),
        [
            ("doc-", "DOC-", "'doc-u0' and 'DOC-u0'"),
            ("doc 1", "doc1", "'doc 1u0' and 'doc1u0'"),
            ("doc-007/", "doc-7/", "'doc-007/u0' and 'doc-7/u0'"),
        ],
    )
    def test_names_that_differ_in_case_or_space(self, one, two, example):
        a, b = (sa.fleiss_kappa(renamed(ROWS, prefix)) for prefix in (one, two))
        said = f"40 units differ only in case, space, zeros or type ({example} and others)"
        with pytest.warns(SimilarLabelsWarning, match=re.escape(said)):
            assert sa.compare(a, b).design == "independent"
        assert sa.compare(a, b, design="independent").design == "independent"

    def test_text_and_numbers(self):
        """1 and "1" are two names; that one study has the one and one the other is said."""
        triples_of = [[(g, kind(i), "ab"[i % 2]) for i in range(5) for g in "xy"] for kind in KINDS]
        a, b = (sa.fleiss_kappa(sa.Annotations.from_triples(one)) for one in triples_of)
        with pytest.warns(
            SimilarLabelsWarning, match=r"5 units differ only.*\(0 and '0' and others\)"
        ):
            sa.compare(a, b)

    @pytest.mark.parametrize(
        ("one", "two", "alike"),
        [
            ("01", "1", True),
            ("007", 7, True),
            ("0", "00", True),
            ("1.0", 1, True),
            (("A", 1), ("a", "01"), True),
            ("1.05", "1.5", False),
            ("10", "1", False),
            ("1.10", "1.1", False),
            ("a0", "a", False),
            ("v1.0.2", "v1.2", False),
        ],
    )
    def test_spelled_alike(self, one, two, alike):
        """Zeros in front of a number, and 0.0 behind one, are spelling; other zeros are not."""
        assert (_plain(one) == _plain(two)) is alike

    def test_names_that_differ_besides_shared_ones(self):
        a = sa.fleiss_kappa(part(ROWS, range(30)))
        rows = [(g, i.upper() if i == "u7" else i, x) for g, i, x in triples(ROWS[:30])]
        b = sa.fleiss_kappa(sa.Annotations.from_triples(rows))
        with pytest.raises(DataError, match=r"29 are in all; .*Besides, 1 unit differs only in"):
            sa.compare(a, b)

    def test_others_are_independent(self):
        a, b = (sa.krippendorff_alpha(x) for x in (annotations(T1), renamed(T2, "other ")))
        result = sa.compare(a, b)
        assert result.design == "independent"
        assert result.standard_error == pytest.approx(
            math.hypot(a.standard_error, b.standard_error)
        )
        (l1, u1), (l2, u2) = a.interval(), b.interval()
        low = math.hypot(a.estimate - l1, u2 - b.estimate)
        high = math.hypot(u1 - a.estimate, b.estimate - l2)
        d = result.difference
        assert result.interval() == pytest.approx((d - low, d + high), abs=1e-14)

    def test_several_of_which_some_overlap(self):
        a, b = sa.fleiss_kappa(annotations(ROWS)), sa.fleiss_kappa(renamed(ROWS, "x"))
        with pytest.raises(DataError, match="share some units and not others"):
            sa.compare(a, a, b)

    def test_sizes_of_many_studies(self):
        a, b = sa.fleiss_kappa(annotations(ROWS)), sa.fleiss_kappa(renamed(ROWS, "x"))
        sizes = rf"of the {a.n_units} to {a.n_units} units in each of 5 studies, 0 are in all"
        with pytest.raises(DataError, match=sizes):
            sa.compare(a, a, a, a, b)

    def test_identifiers_of_every_kind(self):
        frame = pd.DataFrame(
            {"ann": list("aabbacbc"), "bob": list("abbbabca")},
            index=[("x", 1), 2, "2", ("x", 2), 3, 4, 5, 6],
        )
        with pytest.warns(sa.SetagreeWarning, match="Units that look alike are kept apart"):
            one, two = (sa.Annotations.from_wide(part) for part in (frame, frame[::-1]))
        a, b = sa.fleiss_kappa(one), sa.fleiss_kappa(two, distance="nominal")
        assert sa.compare(a, b).design == "same_units"
        assert sa.compare(a, b).p_value == 1

    def test_one_tally_needs_no_identifiers(self):
        named = sa.Tally.from_counts(
            pd.DataFrame({"a": [2, 0, 1, 2, 2] * 3, "b": [0, 2, 1, 1, 0] * 3})
        )
        nameless = replace(named, units=None, unit_patterns=None)
        twice = named.merge(named)
        for tally, units in ((nameless, 15), (twice, 30)):
            a, b = sa.fleiss_kappa(tally), sa.gwet_ac(tally)
            result = sa.compare(a, b)
            assert result.design == "same_units"
            assert sa.compare(a, b, method="bootstrap", n_resamples=20, rng=1).difference == (
                result.difference
            )
            named_units = [f"{k}" for k in range(units)]
            x = [one.sums.linearised.values[rows_of(tally)] for one in (a, b)]
            gaps = pd.Series(x[0] - x[1], index=named_units)
            assert result.p_value == pytest.approx(stats.ttest_1samp(gaps, 0.0).pvalue)

    @pytest.mark.parametrize("method", ["linearised", "bootstrap"])
    def test_what_cannot_be_matched(self, method):
        one = sa.Tally.from_counts(pd.DataFrame({"a": [2, 0, 1], "b": [0, 2, 1]}))
        alpha = sa.krippendorff_alpha(one)
        nameless = sa.krippendorff_alpha(replace(one, units=None, indptr=one.indptr.copy()))
        with pytest.raises(DataError, match="have no identifiers and cannot be matched; use"):
            sa.compare(alpha, nameless, method=method)
        with pytest.raises(DataError, match="matched by their identifiers, and some have none"):
            sa.compare(alpha, nameless, design="same_units", method=method)
        assert (
            sa.compare(alpha, nameless, design="independent", method=method, rng=1).difference == 0
        )
        twice = sa.krippendorff_alpha(one.merge(one))
        said = r"3 units of krippendorff_alpha \[masi\] have that of another \(0, 1, 2\)"
        with pytest.raises(DataError, match=said):
            sa.compare(alpha, twice, method=method)


def rows_of(tally):
    if tally.unit_patterns is not None:
        return tally.unit_patterns
    return np.repeat(np.arange(tally.n_patterns), tally.multiplicity.astype(int))


class TestBootstrap:
    def test_the_draws_are_common(self, monkeypatch):
        drawn = []
        draw = resampling.draw_units

        def spied(*args, **options):
            for block in draw(*args, **options):
                drawn.append(block)
                yield block

        monkeypatch.setattr(resampling, "draw_units", spied)
        a, b = score(HARD, "conger_kappa", "masi"), score(HARD, "krippendorff_alpha", "nominal")
        result = sa.compare(a, b, method="bootstrap", n_resamples=40, level=0.8, rng=3)
        (places, _) = comparison._in_order([a, b], unit_places([a, b]))
        rows = [HARD[i] for i in np.argsort(places)]
        studies = [[rows[i] for i in units] for units in np.concatenate(drawn)]
        gaps = np.subtract(
            estimates(studies, "conger_kappa", "masi"),
            estimates(studies, "krippendorff_alpha", "nominal"),
        )
        kept = gaps[np.isfinite(gaps)]
        assert len(studies) == 40
        assert result.standard_error == pytest.approx(kept.std(ddof=1))
        df = min(x.degrees_of_freedom for x in (a, b))
        tail = stats.norm.cdf(stats.t.ppf(0.1, df) * math.sqrt((df + 1) / df))
        assert result.interval() == pytest.approx(tuple(np.quantile(kept, [tail, 1 - tail])))
        beyond = min((kept <= 1e-12).sum(), (kept >= -1e-12).sum())
        z = stats.norm.ppf(min(0.5, (1 + beyond) / (1 + len(kept))))
        assert result.p_value == pytest.approx(2 * stats.t.cdf(z * math.sqrt(df / (df + 1)), df))

    @pytest.mark.parametrize("names", [("masi", "nominal"), ("masi", "callback")])
    def test_agrees_with_the_linearised(self, names):
        """On 150 units the standard errors agree within 12% (Monte-Carlo 2%, the rest 1 / n)."""
        rows = noisy_rows(1, units=150, raters=3, missing=0.1)
        a, b = (score(rows, "fleiss_kappa", name) for name in names)
        one, two = sa.compare(a, b), sa.compare(a, b, method="bootstrap", rng=1)
        assert (one.design, two.design) == ("same_units", "same_units")
        assert two.difference == one.difference
        assert two.standard_error == pytest.approx(one.standard_error, rel=0.12)
        assert two.interval() == pytest.approx(one.interval(), abs=0.5 * one.standard_error)

    def test_independent_studies_are_drawn_apart(self):
        rows = noisy_rows(1, units=60, raters=3)
        a, b = score(rows, "fleiss_kappa"), sa.fleiss_kappa(renamed(rows, "x"))
        result = sa.compare(a, b, method="bootstrap", rng=1)
        assert (result.design, result.difference) == ("independent", 0)
        expected = math.hypot(a.standard_error, b.standard_error)
        assert result.standard_error == pytest.approx(expected, rel=0.12)
        assert result.p_value > 0.9

    def test_units_of_one_study_alone(self):
        a = sa.fleiss_kappa(part(ROWS, range(30)))
        b = sa.fleiss_kappa(part(ROWS, range(10, 40)), distance="nominal")
        one = sa.compare(a, b, design="same_units")
        two = sa.compare(a, b, design="same_units", method="bootstrap", rng=1)
        assert two.standard_error == pytest.approx(one.standard_error, rel=0.2)

    def test_mv_alpha(self):
        mv, alpha = score(ROWS, "mv_alpha"), score(ROWS, "krippendorff_alpha")
        with pytest.raises(
            OptionError, match="mv_alpha has no linearised values; use method='boot"
        ):
            sa.compare(mv, alpha)
        result = sa.compare(mv, alpha, method="bootstrap", n_resamples=99, rng=1)
        low, high = result.interval()
        assert low < result.difference < high

    def test_undefined_resamples_are_counted(self):
        a, b = (score(text("a a / b b"), name) for name in ("krippendorff_alpha", "fleiss_kappa"))
        frame = sa.compare(a, b, method="bootstrap", n_resamples=400, rng=1).to_frame()
        assert frame["n_undefined"].item() == pytest.approx(200, abs=4 * 10)
        assert sa.compare(a, b).to_frame()["n_undefined"].item() == 0

    @pytest.mark.parametrize("n_resamples", [1, 20])
    def test_too_few_defined(self, n_resamples):
        a = score(text("a a / b b / a b"), "percent_agreement")
        b = score(text("a a / a a / a a"), "krippendorff_alpha")
        row = sa.compare(a, b, method="bootstrap", n_resamples=n_resamples, rng=1).frame.iloc[0]
        assert row["n_undefined"] == n_resamples
        assert row[["difference", "standard_error", "low", "high", "p_value"]].isna().all()

    def test_a_single_resample(self):
        a, b = score(ROWS, "fleiss_kappa"), score(ROWS, "gwet_ac")
        result = sa.compare(a, b, method="bootstrap", n_resamples=1, rng=1)
        assert result.difference == a.estimate - b.estimate
        assert np.isnan([result.standard_error, result.p_value, *result.interval()]).all()

    @pytest.mark.parametrize("design", ["same_units", "independent"])
    @pytest.mark.parametrize("level", [0.95, 0.5])
    def test_two_resamples_make_an_interval(self, design, level):
        """Of two differences x < y: SE (y - x) / sqrt(2), an interval 1 - 2 tail (y - x) wide.

        Both ends lie the expanded tail Phi(t sqrt((df + 1) / df)) of the way inside x and y. The p
        is that of a tail of 1/3, or 1.
        """
        a, b = score(ROWS, "fleiss_kappa"), score(ROWS, "gwet_ac")
        result = sa.compare(
            a, b, design=design, method="bootstrap", n_resamples=2, rng=1, level=level
        )
        low, high = result.interval()
        assert low < high
        df = result.differences[0].degrees_of_freedom
        tail = stats.norm.cdf(stats.t.ppf((1 - level) / 2, df) * math.sqrt((df + 1) / df))
        wide = math.sqrt(2) * result.standard_error
        assert high - low == pytest.approx((1 - 2 * tail) * wide)
        sides = {low - tail * wide > 0, high + tail * wide > 0}
        third = 2 * stats.t.cdf(stats.norm.ppf(1 / 3) * math.sqrt(df / (df + 1)), df)
        assert result.p_value == pytest.approx(1 if len(sides) == 2 else third)

    @pytest.mark.parametrize("design", ["same_units", "independent"])
    def test_the_interval_reaches_0_at_the_level_of_its_p(self, design):
        a = score(ROWS, "fleiss_kappa", "nominal")
        b = score(HOLES, "fleiss_kappa", "masi")
        result = sa.compare(a, b, design=design, method="bootstrap", n_resamples=999, rng=1)
        gaps = np.sort(result.differences[0].resampled)
        ends = result.interval(1 - result.p_value)
        near = min(range(2), key=lambda k: abs(ends[k]))
        place = np.searchsorted(gaps, 0.0)
        assert gaps[max(place - 3, 0)] <= ends[near] <= gaps[min(place + 3, len(gaps) - 1)]

    def test_two_defined_of_many(self):
        a, b = (score(text("a a / a a / a b"), name) for name in ("fleiss_kappa", "gwet_ac"))
        results = [
            sa.compare(a, b, method="bootstrap", n_resamples=4, rng=seed) for seed in range(40)
        ]
        found = [result.frame.iloc[0] for result in results]
        defined = np.array([4 - row["n_undefined"] for row in found])
        assert {1, 2, 3, 4} <= set(defined)
        columns = ["standard_error", "low", "high", "p_value"]
        known = np.array([np.isfinite(row[columns].astype(float)).all() for row in found])
        still = np.array([bool(result.reasons[0]) for result in results])  # equal draws
        assert known[(defined >= 2) & ~still].all()
        assert not known[defined < 2].any()
        assert (known & (defined == 2)).any()

    @pytest.mark.parametrize("design", ["same_units", "independent"])
    def test_the_seed_decides(self, design):
        a, b = score(ROWS, "fleiss_kappa"), score(ROWS, "gwet_ac")
        found = [
            sa.compare(a, b, design=design, method="bootstrap", n_resamples=50, rng=rng)
            for rng in (1, 1, 2)
        ]
        assert found[0].standard_error == found[1].standard_error != found[2].standard_error


class TestSeveral:
    @pytest.mark.slow
    def test_holm_equals_statsmodels(self):
        multitest = pytest.importorskip(
            "statsmodels.stats.multitest", reason="statsmodels, the reference, is not installed"
        )
        names = ("masi", "nominal", "callback", "matrix")
        result = sa.compare(*(score(ROWS, "fleiss_kappa", name) for name in names))
        frame = result.to_frame()
        expected = multitest.multipletests(frame["p_value"], method="holm")[1]
        assert frame["p_holm"].tolist() == pytest.approx(expected.tolist(), rel=1e-12)
        rng = np.random.default_rng(1)
        for n in (1, 2, 7, 20):
            p = rng.random(n) ** 3
            expected = multitest.multipletests(p, method="holm")[1]
            assert holm(p).tolist() == pytest.approx(expected.tolist(), rel=1e-12)

    def test_holm_by_hand(self):
        """0.01 x 4, 0.04 x 1 raised to 0.03 x 2; 0.02 x 3; never above 1."""
        assert holm(np.array([0.01, 0.04, 0.03, 0.02])) == pytest.approx([0.04, 0.06, 0.06, 0.06])
        assert holm(np.array([0.9, 0.8])).tolist() == [1, 1]

    def test_holm_counts_no_undefined_pairs(self):
        found = holm(np.array([0.01, np.nan, 0.03]))
        assert found == pytest.approx([0.02, np.nan, 0.03], nan_ok=True)

    def test_undefined_pairs(self):
        """A p of nan stays nan and is no comparison: the others are corrected as two, not three."""
        found = holm(np.array([np.nan, 0.01, 0.02]))
        assert found.tolist() == pytest.approx([np.nan, 0.02, 0.02], nan_ok=True)

    def test_an_undefined_estimate(self):
        a = score(text("a a / b b / a b"), "krippendorff_alpha")
        b = score(text("a a / a a / a a"), "krippendorff_alpha")
        for design in ("same_units", "independent"):
            result = sa.compare(a, b, design=design)
            assert np.isnan([result.difference, result.p_value, *result.interval()]).all()

    def test_pairs(self):
        """Three agreements are three pairs, each as if compared alone; alike ones are numbered."""
        a, b = score(T2, "fleiss_kappa"), score(T2, "cohen_kappa")
        result = sa.compare(a, b, a)
        frame = result.to_frame()
        first = ["fleiss_kappa [masi] #1", "fleiss_kappa [masi] #1", "cohen_kappa [masi]"]
        second = ["cohen_kappa [masi]", "fleiss_kappa [masi] #2", "fleiss_kappa [masi] #2"]
        assert frame.columns.tolist() == COLUMNS
        assert (frame["first"].tolist(), frame["second"].tolist()) == (first, second)
        for k, (one, two) in enumerate(itertools.combinations([a, b, a], 2)):
            alone = sa.compare(one, two).to_frame()
            assert frame.loc[k, "difference":"p_value"].tolist() == (
                alone.loc[0, "difference":"p_value"].tolist()
            )
        assert one_line(result)
        assert repr(result).startswith("<Comparison: 3 rows. ")


class TestResult:
    def test_repr(self):
        """One line: which difference, its interval, its p."""
        names, difference = ("one [d]", "two [d]"), Difference(0.25, 0.125)
        found = Comparison((names,), (difference,), (40,), "same_units", "linearised", 0.9, (None,))
        # 0.25 -+ 1.64485 x 0.125, and twice the normal tail at -2.
        assert repr(found).startswith(
            "<Comparison: pair one [d] - two [d], difference 0.2500, se 0.1250, "
            "90% interval 0.0444, 0.4556, p 0.0455. "
        )
        assert found.to_frame().columns.tolist() == COLUMNS

    @pytest.mark.parametrize(("level", "said"), [(0.999, "99.9%"), (0.975, "97.5%")])
    def test_levels_are_not_rounded(self, level, said):
        several = [score(T1, name) for name in ("fleiss_kappa", "gwet_ac", "percent_agreement")]
        assert f" {said} interval " in repr(sa.compare(*several[:2], level=level))
        assert f" {said} interval " in str(sa.compare(*several, level=level))

    def test_undefined_resamples_are_shown(self):
        names = ("krippendorff_alpha", "fleiss_kappa", "percent_agreement")
        several = [score(text("a a / b b"), name) for name in names]
        options = {"method": "bootstrap", "n_resamples": 400, "rng": 1}
        one = sa.compare(*several[:2], **options)
        n = one.frame["n_undefined"].item()
        assert n > 100
        assert f"at most {n} undefined and left out" in " ".join(str(one).split())
        assert " undefined and left out, expanded" in str(sa.compare(*several, **options))
        assert "undefined" not in str(sa.compare(*several))

    def test_as_text(self):
        """A table with a line for each pair, and Holm's p if there are several."""
        names = ("fleiss_kappa", "gwet_ac", "percent_agreement")
        several = [score(T1, name) for name in names]
        one = sa.compare(*several[:2])
        assert "Holm" not in str(one)
        result = sa.compare(*several)
        columns, *lines = str(result).split("\n\n")[0].splitlines()
        assert " ".join(columns.split()) == "pair difference se 95% interval p p (Holm)"
        assert len(lines) == 3
        assert lines[0].startswith("fleiss_kappa [masi] - gwet_ac [masi] ")
        assert f"{result.difference:.4f}" in lines[0]
        assert f"{result.p_value:.4f}" in lines[0]

    def test_the_first_pair(self):
        result = sa.compare(score(T1, "fleiss_kappa"), score(T1, "gwet_ac"))
        row = result.frame.iloc[0]
        assert result.difference == row["difference"]
        assert result.standard_error == row["standard_error"]
        assert result.p_value == row["p_value"]
        assert result.interval() == (row["low"], row["high"])


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"design": "paired"}, "design='paired' is unknown; use 'same_units', 'shared_units'"),
            ({"method": "linear"}, "method='linear' is unknown; .* Did you mean 'linearised'"),
            ({"level": 1}, "level=1 must lie between 0 and 1"),
            ({"n_resamples": 0}, "n_resamples=0 must be a whole number"),
            ({"rng": "x"}, "rng='x' is neither a seed"),
        ],
    )
    def test_options(self, options, said):
        """An option out of range is named with its value."""
        with pytest.raises(OptionError, match=said):
            sa.compare(score(T1, "fleiss_kappa"), score(T1, "gwet_ac"), **options)

    def test_too_few(self):
        with pytest.raises(OptionError, match="needs two agreements or more"):
            sa.compare(score(T1, "fleiss_kappa"))

    def test_no_agreement(self):
        """A table beside one agreement is refused; the sentence says how to take a row."""
        with pytest.raises(DataError, match=r"pass one row: table\[name, distance\]"):
            sa.compare(score(T1, "fleiss_kappa"), sa.agreement(annotations(T1)))
