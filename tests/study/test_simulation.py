"""Synthetic annotations: what each parameter does, exactly where it is exact.

Bounds on random numbers are five standard deviations wide, which an honest generator leaves once in
1.7 million draws; the seeds are fixed.
"""

import math

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import LabelError, OptionError

ALMOST_0, ALMOST_1 = 1e-12, 1 - 1e-12


def shares(study):
    """Return how often each label was given by each rater: frame of raters x labels."""
    return study.to_indicators().groupby("rater").mean()


def five_sd(share, n):
    """Return five standard deviations of the share of n independent draws."""
    return 5 * math.sqrt(share * (1 - share) / n)


def same(one, other):
    """Say whether two studies hold the same annotations in the same order."""
    return one.to_long().equals(other.to_long())


class TestShape:
    STUDY = sa.simulate(12, 4, n_labels=3, rng=0)

    def test_names_and_order(self):
        frame = self.STUDY.to_long()
        expected = pd.MultiIndex.from_product(
            [[f"u{k}" for k in range(1, 13)], [f"r{k}" for k in range(1, 5)]]
        )
        assert frame.set_index(["unit", "rater"]).index.tolist() == expected.tolist()
        assert set(self.STUDY.labels) <= {"l1", "l2", "l3"}
        assert (self.STUDY.kind, self.STUDY.n_missing) == ("labels", 0)

    def test_values_are_the_distinct_answers(self):
        assert len(set(self.STUDY.values)) == self.STUDY.n_values
        assert set(self.STUDY.value_codes.tolist()) == set(range(self.STUDY.n_values))

    @pytest.mark.parametrize("n_labels", [1, 7, 8, 9, 17])
    def test_many_labels_keep_their_names(self, n_labels):
        prevalence = [ALMOST_1 if k == n_labels - 1 else ALMOST_0 for k in range(n_labels)]
        study = sa.simulate(3, 2, n_labels=n_labels, prevalence=prevalence, rng=0)
        assert study.values == (frozenset([f"l{n_labels}"]),)

    def test_given_names(self):
        names = ["a, b", '"', "é"]
        study = sa.simulate(3, 2, n_labels=3, prevalence=ALMOST_1, labels=names, rng=0)
        assert study.values == (frozenset(names),)

    def test_round_trip(self):
        again = sa.Annotations.from_long(self.STUDY.to_long())
        assert same(again, self.STUDY)


class TestSeed:
    def test_same_seed(self):
        options = {"prevalence": 0.4, "skill": 0.5, "missing": 0.2}
        one = sa.simulate(50, 3, **options, rng=7)
        assert same(one, sa.simulate(50, 3, **options, rng=7))
        assert same(one, sa.simulate(50, 3, **options, rng=np.random.default_rng(7)))

    def test_other_seeds(self):
        generator = np.random.default_rng(7)
        first, second = (sa.simulate(50, 3, rng=generator) for _ in range(2))
        assert not same(first, second)
        assert not same(first, sa.simulate(50, 3, rng=8))
        assert not same(sa.simulate(50, 3), sa.simulate(50, 3))

    def test_global_state(self):
        np.random.seed(0)  # noqa: NPY002 - the global state is what is looked at
        before = np.random.get_state()[1].tolist()  # noqa: NPY002
        sa.simulate(5, 2)
        assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


class TestSkill:
    @pytest.mark.parametrize("distance", ["masi", "nominal", "hamming"])
    def test_perfect(self, distance):
        study = sa.simulate(40, 3, skill=1, rng=1)
        assert (study.to_wide().nunique(axis=1) == 1).all()
        alpha = sa.krippendorff_alpha(study, distance=distance)
        assert alpha.estimate == pytest.approx(1, abs=1e-15)
        assert alpha.observed_disagreement == 0

    def test_perfect_whatever_the_bias(self):
        plain, biased = (sa.simulate(40, 3, skill=1, size_bias=b, rng=1) for b in (1, 50))
        assert same(plain, biased)

    def test_random(self):
        """Skill 0: raters are independent, so alpha is near 0.

        One label of prevalence 1/2 and two raters: each unit agrees with probability 1/2, so the
        observed agreement of n units has standard deviation 1 / (2 sqrt n). Expected disagreement
        is 1/2 but for terms of order 1/n, so alpha = 1 - Do / De has standard deviation 1 / sqrt n.
        """
        n = 10_000
        study = sa.simulate(n, 2, n_labels=1, prevalence=0.5, skill=0, rng=2)
        alpha = sa.krippendorff_alpha(study, distance="nominal")
        assert abs(alpha.observed_agreement - 0.5) < five_sd(0.5, n)
        assert abs(alpha.estimate) < 5 / math.sqrt(n)

    @pytest.mark.parametrize("distance", ["masi", "jaccard", "nominal"])
    def test_random_label_sets(self, distance):
        study = sa.simulate(3000, 3, skill=0, prevalence=[0.1, 0.3, 0.5, 0.7, 0.2], rng=3)
        alpha = sa.krippendorff_alpha(study, distance=distance)
        assert abs(alpha.estimate) < 5 * alpha.standard_error
        assert alpha.standard_error < 0.02

    @pytest.mark.parametrize(("one", "other"), [(0.8, 0.5), (0.9, 0.9), (1.0, 0.3)])
    def test_between(self, one, other):
        """The chance-corrected agreement of two raters on one label is the product of skills.

        Rater g reports the truth with probability s_g, else a guess of the same prevalence p; so
        two reports have covariance s_1 s_2 p (1 - p) and variance p (1 - p) each. At p = 1/2 they
        agree with probability (1 + s_1 s_2) / 2, and alpha has at most standard deviation
        1 / sqrt n, as above.
        """
        n = 10_000
        study = sa.simulate(n, 2, n_labels=1, prevalence=0.5, skill=[one, other], rng=4)
        alpha = sa.krippendorff_alpha(study, distance="nominal")
        assert abs(alpha.estimate - one * other) < 5 / math.sqrt(n)

    def test_each_rater_has_a_skill(self):
        wide = sa.simulate(60, 3, skill=[1, 0, 1], rng=5).to_wide()
        assert (wide["r1"] == wide["r3"]).all()
        assert not (wide["r1"] == wide["r2"]).all()


class TestPrevalence:
    @pytest.mark.parametrize("skill", [0, 0.5, 1])
    def test_extremes(self, skill):
        study = sa.simulate(50, 3, n_labels=2, prevalence=[ALMOST_0, ALMOST_1], skill=skill, rng=6)
        assert study.values == (frozenset(["l2"]),)
        nothing = sa.simulate(50, 3, n_labels=2, prevalence=ALMOST_0, skill=skill, rng=6)
        assert nothing.values == (frozenset(),)
        with pytest.warns(sa.UndefinedAgreementWarning, match="only one value was used"):
            assert math.isnan(sa.krippendorff_alpha(nothing).estimate)

    @pytest.mark.parametrize("skill", [0, 0.6, 1])
    def test_share_of_each_label(self, skill):
        prevalence, n = [0.05, 0.3, 0.5, 0.9], 5000
        found = shares(sa.simulate(n, 2, n_labels=4, prevalence=prevalence, skill=skill, rng=7))
        for label, p in zip(found.columns, prevalence, strict=True):
            assert (abs(found[label] - p) < five_sd(p, n)).all()

    def test_one_for_all(self):
        one = sa.simulate(30, 2, n_labels=3, prevalence=0.25, rng=8)
        assert same(one, sa.simulate(30, 2, n_labels=3, prevalence=[0.25, 0.25, 0.25], rng=8))


class TestSizeBias:
    def test_odds(self):
        """Odds of a guess are multiplied: p = 1/2 and b = 3 give 3/4, b = 1/3 gives 1/4."""
        n = 10_000
        found = shares(
            sa.simulate(n, 3, n_labels=1, prevalence=0.5, skill=0, size_bias=[3, 1 / 3, 1], rng=9)
        )["l1"]
        for rater, share in [("r1", 0.75), ("r2", 0.25), ("r3", 0.5)]:
            assert abs(found[rater] - share) < five_sd(share, n)

    def test_half_skilled(self):
        """With skill s the share is s p + (1 - s) q: 0.5 * 0.5 + 0.5 * 0.75 = 0.625 for b = 3."""
        n = 10_000
        study = sa.simulate(n, 1, n_labels=1, prevalence=0.5, skill=0.5, size_bias=3, rng=10)
        assert abs(shares(study).loc["r1", "l1"] - 0.625) < five_sd(0.625, n)

    def test_extremes(self):
        wide = sa.simulate(50, 2, n_labels=3, skill=0, size_bias=[1e12, 1e-12], rng=11).to_wide()
        assert set(wide["r1"]) == {frozenset(["l1", "l2", "l3"])}
        assert set(wide["r2"]) == {frozenset()}


class TestMissing:
    def test_none(self):
        study = sa.simulate(20, 3, rng=12)
        assert (study.n_ratings, study.n_missing) == (60, 0)

    @pytest.mark.parametrize("missing", [0.1, 0.5, 0.9])
    def test_share(self, missing):
        n_units, n_raters = 4000, 3
        study = sa.simulate(n_units, n_raters, missing=missing, rng=13)
        n = n_units * n_raters
        assert study.n_missing + study.n_ratings == n
        assert abs(study.n_missing / n - missing) < five_sd(missing, n)

    def test_independent_of_the_answer(self):
        n = 20_000
        found = shares(sa.simulate(n, 1, n_labels=1, prevalence=0.3, missing=0.5, rng=14)).loc[
            "r1", "l1"
        ]
        assert abs(found - 0.3) < five_sd(0.3, 0.45 * n)  # more than 45% of the units are left

    def test_units_and_raters_without_annotations(self):
        study = sa.simulate(60, 2, missing=0.8, rng=15)
        assert study.n_units < 60
        assert study.n_units == study.to_long()["unit"].nunique()
        numbers = [int(name[1:]) for name in study.units]
        assert numbers == sorted(numbers)
        assert max(numbers) > study.n_units

    def test_nothing_left(self):
        with pytest.raises(
            OptionError, match=r"^missing=0\.999999 left no annotation of 1 unit\.$"
        ):
            sa.simulate(1, 1, missing=0.999999, rng=16)


class TestOptions:
    @pytest.mark.parametrize(
        ("name", "value", "range_"),
        [
            ("n_units", 0, "a whole number of 1 or more"),
            ("n_raters", -1, "a whole number of 1 or more"),
            ("n_labels", 0, "a whole number of 1 or more"),
            ("n_units", 2.5, "a whole number of 1 or more"),
            ("n_units", "3", "a whole number of 1 or more"),
            ("n_units", True, "a whole number of 1 or more"),
            ("prevalence", 0, "above 0 and below 1"),
            ("prevalence", 1, "above 0 and below 1"),
            ("prevalence", [0.1, 0.2, 0.3, 0.4, 1.5], "above 0 and below 1"),
            ("prevalence", "many", "numbers above 0 and below 1"),
            ("skill", 1.1, "0 to 1"),
            ("skill", [0.5, -0.1, 0.5], "0 to 1"),
            ("skill", math.nan, "0 to 1"),
            ("size_bias", 0, "above 0 and finite"),
            ("size_bias", math.inf, "above 0 and finite"),
            ("missing", 1, "0 or more and below 1"),
            ("missing", -0.1, "0 or more and below 1"),
            ("missing", math.nan, "0 or more and below 1"),
            ("missing", None, "0 or more and below 1"),
        ],
    )
    def test_range(self, name, value, range_):
        with pytest.raises(OptionError) as caught:
            sa.simulate(**{name: value})
        assert str(caught.value) == f"{name}={value!r} must be {range_}."

    @pytest.mark.parametrize(
        ("name", "value", "shape", "n"),
        [
            ("prevalence", [0.1, 0.2], "(2,)", 5),
            ("prevalence", [[0.1] * 5], "(1, 5)", 5),
            ("skill", [0.1], "(1,)", 3),
            ("size_bias", [1, 1, 1, 1], "(4,)", 3),
            ("missing", [0.1, 0.2], "(2,)", 1),
        ],
    )
    def test_length(self, name, value, shape, n):
        with pytest.raises(OptionError) as caught:
            sa.simulate(**{name: value})
        assert str(caught.value) == f"{name} has shape {shape}; one number or {n} are needed."

    @pytest.mark.parametrize("labels", ["abcde", ["a"], ["a"] * 6])
    def test_number_of_names(self, labels):
        with pytest.raises(OptionError) as caught:
            sa.simulate(labels=labels)
        text = ", not one text" if isinstance(labels, str) else ""
        assert str(caught.value) == f"labels={labels!r} must be a list of n_labels=5 names{text}."

    @pytest.mark.parametrize("odd", ["a", " b", "", "e\u0301"])
    def test_names_that_would_not_last(self, odd):
        with pytest.raises(OptionError, match="must be different labels without space around"):
            sa.simulate(labels=["a", "c", "d", "e", odd])

    def test_names_that_are_none(self):
        with pytest.raises(LabelError, match="missing"):
            sa.simulate(labels=[None, "b", "c", "d", "e"])

    @pytest.mark.parametrize("rng", [-1, "seed", 1.5])
    def test_seed(self, rng):
        with pytest.raises(OptionError) as caught:
            sa.simulate(rng=rng)
        assert str(caught.value) == f"rng={rng!r} is neither a seed of 0 or more nor a Generator."
