"""From a study and a distance to a result: demands, defaults, categories, warnings."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from small_studies import annotations, numbers, text

import setagree as sa
from setagree.distances import distance_names, get_distance
from setagree.errors import (
    AdaptiveRatingsWarning,
    DataError,
    DistanceError,
    FarAnswersWarning,
    FewClustersWarning,
    LabelError,
    OptionError,
)
from setagree.scoring.coefficients import COEFFICIENTS, get_coefficient
from setagree.scoring.scorer import DEFAULT_DISTANCES, Scorer, read_categories, score
from setagree.scoring.table_notes import drawn_beside

SETS = annotations(text("a ab b / a a . / b b b / ab {} a"))
SCORES = annotations(numbers("1 2 / 2 2 / 5 4"))
MASI = get_distance("masi")


class TestCatalogue:
    def test_names_are_public_functions(self):
        assert " ".join(COEFFICIENTS) == (
            "krippendorff_alpha fleiss_kappa conger_kappa cohen_kappa scott_pi gwet_ac "
            "brennan_prediger percent_agreement mv_alpha"
        )
        for name in COEFFICIENTS:
            assert getattr(sa, name).__name__ == name

    @pytest.mark.parametrize(
        ("wrong", "sentence"),
        [
            (
                "krippendorf_alpha",
                "'krippendorf_alpha' is unknown. Did you mean 'krippendorff_alpha'",
            ),
            ("Fleiss_Kappa", "Did you mean 'fleiss_kappa'"),
            ("xyz", r"'xyz' is unknown. Known: krippendorff_alpha, .*mv_alpha\."),
        ],
    )
    def test_unknown_names(self, wrong, sentence):
        with pytest.raises(OptionError, match=sentence):
            get_coefficient(wrong)

    def test_defaults_are_known(self):
        named = [name for names in DEFAULT_DISTANCES.values() for name in names]
        named += [c.default_distance for c in COEFFICIENTS.values() if c.default_distance]
        assert set(named) <= set(distance_names())
        assert set(DEFAULT_DISTANCES) == {"labels", "number", "category"}


class TestBench:
    def test_only_studies(self):
        """What is no table with known columns is refused: the error says what makes a study."""
        with pytest.raises(DataError, match=r"usual name for the unit, "):
            Scorer(pd.DataFrame({"a": [1]}))
        with pytest.raises(
            DataError, match=r"Expected a table, got an int; pass a DataFrame .* or path"
        ):
            Scorer(1)

    def test_a_case_is_made_once(self):
        scorer = Scorer(SETS)
        assert scorer.case(MASI) is scorer.case(MASI)
        assert (
            scorer.score(get_coefficient("fleiss_kappa"), MASI).case
            is scorer.score(get_coefficient("krippendorff_alpha"), MASI).case
        )
        assert scorer.case(get_distance("dice")) is not scorer.case(MASI)

    def test_a_codebook_of_the_observed_values_is_no_second_case(self):
        same = Scorer(SETS, categories=["a", "b", "a, b", ""])
        assert same.case(MASI, listed=True) is same.case(MASI)
        more = Scorer(SETS, categories=["a", "b", "a, b", "", "c"])
        assert more.case(MASI, listed=True).weights.n_values == 5
        assert more.case(MASI).weights.n_values == 4

    def test_distances_that_come_and_go(self):
        scorer = Scorer(SETS)
        seen = set()
        for factor in range(1, 30):
            distance = sa.CallableDistance(lambda x, y, f=factor: f * (x != y), name="scaled")
            seen.add(
                scorer.score(get_coefficient("krippendorff_alpha"), distance).observed_disagreement
            )
        assert len(seen) == 29

    @pytest.mark.parametrize(
        ("study", "name", "expected"),
        [
            (SETS, "fleiss_kappa", ["masi"]),
            (SETS, "mv_alpha", ["dice"]),
            (SCORES, "fleiss_kappa", ["nominal", "ordinal", "interval"]),
            (
                sa.Annotations.from_triples([("x", 1, "low"), ("y", 1, "high")], kind="value"),
                "fleiss_kappa",
                ["nominal"],
            ),
        ],
    )
    def test_default_distances(self, study, name, expected):
        assert [d.name for d in Scorer(study).distances(get_coefficient(name), None)] == expected
        asked = [get_distance("jaccard")]
        assert Scorer(study).distances(get_coefficient(name), asked) is asked


class TestRaters:
    @pytest.mark.parametrize("name", ["conger_kappa", "cohen_kappa", "scott_pi"])
    def test_a_tally_of_counts(self, name):
        tally = sa.Tally.from_counts(pd.DataFrame({"a": [2, 1], "b": [0, 1]}))
        with pytest.raises(DataError, match=f"{name} requires the rater of each answer"):
            Scorer(tally).score(get_coefficient(name), MASI)

    @pytest.mark.parametrize(
        ("name", "other"), [("cohen_kappa", "conger_kappa"), ("scott_pi", "fleiss_kappa")]
    )
    def test_more_than_two(self, name, other):
        sentence = rf"{name} compares two raters; these are 3 \('r0', 'r1', 'r2'\). Use {other}"
        with pytest.raises(DataError, match=sentence):
            Scorer(SETS).score(get_coefficient(name), MASI)


class TestCategories:
    def test_sets_as_sets_lists_or_text(self):
        tally = sa.Tally.from_annotations(SETS)
        written = [{"a"}, ["b", "a"], "b", "", "a,b", frozenset()]
        assert set(read_categories(tally, written)) == set(tally.values)
        assert len(read_categories(tally, written)) == 4

    def test_an_iterator_is_read_once(self):
        result = sa.gwet_ac(SETS, categories=(c for c in ["a", "b", "a, b", "", "c"]))
        assert result.n_values == 5

    def test_numbers(self):
        result = sa.brennan_prediger(SCORES, categories=[1, 2.0, np.int64(3), 4, 5])
        assert result.n_values == 5
        assert result.expected_agreement == pytest.approx(1 / 5)

    @pytest.mark.parametrize(
        ("study", "categories", "sentence"),
        [
            (SETS, ["a", "b"], "leaves out values that were given: .*'a, b'"),
            (SCORES, [1, 2], "leaves out values that were given: '5', '4'"),
            (SETS, "a", "categories='a' must be a list of values"),
            (SETS, 5, "categories=5 must be a list of values"),
            (SETS, ["a", "b", "a, b", "", None], "a category is missing; the empty set is written"),
            (SCORES, [1, 2, 4, 5, None], "category None is not one value"),
            (SCORES, [1, 2, 4, 5, float("nan")], "category nan is not one value"),
            (SCORES, [1, 2, 4, 5, [6]], r"category \[6\] is not one value"),
            (SCORES, [1, 2, 4, 5, "6"], "category '6' is not a finite number"),
            (SCORES, [1, 2, 4, 5, math.inf], "category inf is not a finite number"),
        ],
    )
    def test_refusals(self, study, categories, sentence):
        """What is left out, missing, or of another kind is named."""
        with pytest.raises(OptionError, match=sentence):
            Scorer(study, categories=categories)

    def test_what_is_no_label_set(self):
        with pytest.raises(LabelError, match="5 is an int, not labels"):
            Scorer(SETS, categories=["a", 5])

    def test_ordinal_ranks_over_the_listed_numbers(self):
        """Gwet's ordinal ranks the listed values: 1, 2, 4, 5 with 3 listed are 0, 1, 3, 4.

        d(1, 5) = C(5, 2) = 10 is the largest; the 3 stands between 2 and 4.
        """
        scorer = Scorer(SCORES, categories=[1, 2, 3, 4, 5])
        weights = scorer.case(get_distance("ordinal_gwet"), listed=True).weights
        frame = weights.to_frame(distance=True)
        assert frame.loc["1"].tolist() == [0, 1, 3, 6, 10]
        assert frame.loc["3"].tolist() == [3, 1, 0, 1, 3]


UNDEFINED = {
    "only one value was used": text("a a a / a a ."),
    "no unit has two ratings": text("a . . / . b ."),
    "only one unit has two ratings": text("a b a"),
    "there is only one rater": [[answer] for row in text("a b ab") for answer in row],
}
NEEDS_NO_CHANCE = {
    ("percent_agreement", "only one value was used"),
    ("percent_agreement", "only one unit has two ratings"),
    ("brennan_prediger", "only one unit has two ratings"),
}


class TestUndefined:
    @pytest.mark.parametrize("reason", UNDEFINED)
    @pytest.mark.parametrize("name", COEFFICIENTS)
    def test_one_warning_with_the_reason(self, name, reason):
        rows = UNDEFINED[reason]
        if COEFFICIENTS[name].raters == "two":
            rows = [row[:2] for row in rows]
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            result = getattr(sa, name)(annotations(rows))
        if (name, reason) in NEEDS_NO_CHANCE:
            assert given == []
            assert math.isfinite(result.estimate)
            assert result.reason is None
            return
        assert [w.category for w in given] == [sa.UndefinedAgreementWarning]
        expected = f"{name} [{result.distance}]: undefined (nan), because {reason}."
        assert str(given[0].message) == expected
        assert given[0].filename == __file__
        assert math.isnan(result.estimate)
        assert math.isnan(result.standard_error)
        assert result.reason == reason

    def test_a_table_warns_once(self):
        with pytest.warns(sa.UndefinedAgreementWarning) as given:
            sa.agreement(
                annotations(text("a a / a a")),
                coefficient=["krippendorff_alpha", "percent_agreement", "fleiss_kappa"],
                distance=["masi", "dice"],
            )
        [message] = [str(w.message) for w in given]
        assert message == (
            "krippendorff_alpha [masi], krippendorff_alpha [dice], fleiss_kappa [masi], "
            "fleiss_kappa [dice]: undefined (nan), because only one value was used."
        )

    def test_what_is_defined_warns_of_nothing(self):
        assert math.isfinite(score(SETS, get_coefficient("fleiss_kappa")).estimate)


def test_mv_alpha_is_refused_before_it_is_weighed():
    def never(x, y):
        raise AssertionError("called")

    with pytest.raises(DistanceError, match=r"'never' is not one\. OverlapDistance makes one"):
        score(SETS, get_coefficient("mv_alpha"), distance=never)


class TestRoughIntervals:
    """Where simulated intervals missed their coverage, the table says so; see the guide."""

    @pytest.mark.parametrize(("n_apart", "is_rough"), [(19, True), (20, False)])
    def test_strata(self, n_apart, is_rough):
        """The t interval of strata is rough if fewer than 20 units disagree."""
        pairs = [("a", "b")] * n_apart + [("a", "a"), ("b", "b")] * 30
        study = sa.Annotations.from_wide(pd.DataFrame(pairs, columns=["ann", "bob"]))
        drawn = study.sampled(strata={unit: k % 2 for k, unit in enumerate(study.units)})
        reason = "The interval and p are rough: they are those of t, and 19 units disagree, fewer"
        assert (reason in str(sa.agreement(drawn))) is is_rough
        assert "rough" not in str(sa.agreement(study))

    @pytest.mark.parametrize(("n_clusters", "is_rough"), [(7, True), (8, False)])
    def test_rare_answers_in_few_clusters(self, n_clusters, is_rough):
        """The interval of clusters is rough if the rarer answers lie in fewer than 8 of them."""
        rows = [
            (f"c{k}", "b" if k < n_clusters and j < 2 else "a", "a" if j == 1 else "b")
            for k in range(30)
            for j in range(4)
        ]
        rows = [(c, one, two if one == "b" else "a") for c, one, two in rows]
        frame = pd.DataFrame(rows, columns=["cluster", "ann", "bob"])
        study = sa.Annotations.from_wide(frame[["ann", "bob"]])
        of_unit = dict(zip(study.units, frame["cluster"], strict=True))
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            alpha = sa.krippendorff_alpha(study.sampled(cluster=of_unit))
        reason = "are spread only as evenly as over 7.0 equal clusters, fewer than 8"
        assert (reason in (alpha.remark or "")) is is_rough
        warned = [str(w.message) for w in given if w.category is FewClustersWarning]
        assert [reason in words for words in warned] == [True] * is_rough
        assert is_rough or "clusters" not in str(alpha.remark)

    @pytest.mark.parametrize(("high", "is_rough"), [(1, False), (3, False), (8, True)])
    def test_very_unequal_weights(self, high, is_rough):
        """The interval is rough if n_Kish is below 60 and below half of the units."""
        pairs = [("a", "a"), ("b", "b"), ("a", "b"), ("b", "b")] * 20
        study = sa.Annotations.from_wide(pd.DataFrame(pairs, columns=["ann", "bob"]))
        w = {unit: float(high) if k % 10 == 0 else 1.0 for k, unit in enumerate(study.units)}
        alpha = sa.krippendorff_alpha(study.sampled(sampling_weight=w))
        n_kish = sum(w.values()) ** 2 / sum(one * one for one in w.values())
        reason = f"with their unequal weights the 80 units count as {n_kish:.1f} of equal weight"
        assert (reason in (alpha.remark or "")) is is_rough
        assert is_rough or n_kish >= 40

    @pytest.mark.parametrize(
        ("n_apart", "sizes", "reason"),
        [
            (
                *((0, 28), (1000, 40)),
                "no disagreement was seen in stratum 's1', which has 96% of the weight",
            ),
            (
                *((1, 28), (1000, 40)),
                "the 29 units that disagree count as 1.0 units of equal weight, fewer than 20",
            ),
            ((1, 19), (1000, 40), "the 20 units that disagree count as 1.0 units of equal weight"),
            # c² is 50² (1 - 1/50) in s1 and 10² (1 - 1/10) in s2: 364.6² / (2 · 2450 + 28 · 90)
            (
                (2, 28),
                (1000, 400),
                "the 30 units that disagree count as 17.9 units of equal weight",
            ),
            ((20, 28), (1000, 40), None),
            ((0, 28), (20, 200), None),
            ((0, 28), (1000, 19_900), None),  # s1 has 4.8% of the weight
        ],
    )
    def test_strata_with_population_sizes(self, n_apart, sizes, reason):
        """Units that disagree count where they add variance: not in a stratum that is known."""
        first = [("a", "b")] * n_apart[0] + [("a", "a"), ("b", "b")] * 10
        pairs = first[:20] + [("a", "b")] * n_apart[1] + [("a", "a")] * (40 - n_apart[1])
        study = sa.Annotations.from_wide(pd.DataFrame(pairs, columns=["ann", "bob"]))
        strata = {unit: "s1" if k < 20 else "s2" for k, unit in enumerate(study.units)}
        of_population = dict(zip(("s1", "s2"), sizes, strict=True))
        drawn = study.sampled(strata=strata, population_size=of_population)
        alpha = sa.krippendorff_alpha(drawn)
        assert alpha.remark is None if reason is None else reason in alpha.remark
        assert alpha.inference.rarer_by_cluster.size == 0
        assert sa.benchmark(alpha).remark == sa.at_least(alpha, 0.999).remark == alpha.remark

    @pytest.mark.parametrize(
        ("last", "n_far", "reason"),
        [
            (1, 1, None),
            (0, 1, "30 units without disagreement do not exclude far answers"),
            (40, 1, "one unit disagrees {times:.0f} times as much as expected by chance"),
            (40, 4, "one unit disagrees {times:.0f} times as much as expected by chance"),
        ],
    )
    def test_squared_distances(self, last, n_far, reason):
        """The expected disagreement of squared distances is twice the variance of the answers."""
        ann = np.arange(30) % 5
        bob = ann + min(last, 1) * (np.arange(30) % 2)
        bob[-n_far:] = ann[-n_far:] + last
        frame = pd.DataFrame({"ann": ann, "bob": bob})
        text = str(
            sa.agreement(sa.Annotations.from_wide(frame, kind="number"), distance="interval")
        )
        if reason is None:
            assert "rough" not in text
        else:
            times = last**2 / (2 * frame.to_numpy().var(ddof=1))
            assert (
                f"The interval is rough: with squared distances {reason}".format(times=times)
                in text
            )

    def test_designs_beside_each_other(self):
        """A comparison has each design once, and whether all rows have it."""
        study = sa.simulate(24, 3, rng=1)
        by = {
            name: {u: k % n for k, u in enumerate(study.units)} for name, n in (("x", 12), ("y", 8))
        }
        with pytest.warns(FewClustersWarning):
            plain, *drawn = (
                sa.krippendorff_alpha(study if c is None else study.sampled(cluster=c))
                for c in (None, by["x"], by["y"])
            )
        one, two = (row.drawn for row in drawn)
        assert one != two
        assert drawn_beside([plain, plain], independent=True) == ""
        assert drawn_beside([drawn[0]] * 2, independent=False) == one
        assert drawn_beside([drawn[0]] * 2, independent=True) == f"{one} each"
        assert drawn_beside(drawn, independent=True) == f"{one} and {two}"
        assert drawn_beside([plain, drawn[0]], independent=True) == f"{one} (not in all)"


@pytest.mark.parametrize("method", ["score", "t", "fieller"])
def test_the_interval_of_level_1_minus_p_ends_at_0(method):
    study = sa.simulate(24, 3, skill=0.3, rng=1)
    if method == "fieller":
        document = {unit: k // 2 for k, unit in enumerate(study.units)}
        size = {unit: 1 + k % 3 for k, unit in enumerate(study.units)}
        study = study.sampled(cluster=document, size=size, chance="characters")
    alpha = sa.agreement(study, interval="t" if method == "t" else None)[0]
    assert alpha.interval_method == method
    low, high = alpha.interval(1 - alpha.p_value)
    assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-8)


def until_agreed(n):
    """Return ratings of which a third was asked for where the first two differed."""
    rows = []
    for k in range(n):
        rows += [("ann", k, "a"), ("ben", k, "ab"[k % 2])]
        rows += [("eva", k, "a")] if k % 2 else []
    return sa.Annotations.from_triples(rows)


def test_ratings_until_agreement_are_doubted():
    with pytest.warns(AdaptiveRatingsWarning, match="all 10 units with two ratings agree"):
        sa.agreement(until_agreed(20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.agreement(until_agreed(18))  # too few to be no accident
        sa.agreement(sa.simulate(200, 4, missing=0.4, rng=1))


class TestFarAnswers:
    @staticmethod
    def gaps(sizes):
        """Return two raters who differ by these amounts."""
        return pd.DataFrame({"ann": range(len(sizes)), "bob": np.arange(len(sizes)) + sizes})

    def test_a_unit_far_off(self):
        study = sa.Annotations.from_wide(self.gaps([1] * 24 + [30]), kind="number")
        with pytest.warns(FarAnswersWarning, match=r"one unit \(24\) of the 25") as found:
            sa.agreement(study, distance=["nominal", "interval", "ratio"])
        assert len(found) == 1

    def test_a_far_unit_in_which_all_agree(self):
        """It has what De, twice the variance of the answers, falls by without it."""
        table = self.gaps([1] * 24 + [0])
        table.loc[24] = 60
        values = table.to_numpy().astype(float)
        share = 100 * (1 - values[:-1].var(ddof=1) / values.var(ddof=1))
        message = rf"one unit \(24\) of the 24 that disagree has {share:.0f}% of .* by chance"
        with pytest.warns(FarAnswersWarning, match=message):
            sa.krippendorff_alpha(
                sa.Annotations.from_wide(table, kind="number"), distance="interval"
            )

    def test_its_share(self):
        """A gap of 4 beside 24 gaps of 1 is 16 / 40 of the squared distances: 40%."""
        study = sa.Annotations.from_wide(self.gaps([1] * 24 + [4]), kind="number")
        with pytest.warns(FarAnswersWarning, match="has 40% of the disagreement"):
            sa.krippendorff_alpha(study, distance="interval")

    def test_with_weights(self):
        """A gap of 2 with a weight of 10 beside 24 gaps of 1 is 40 / 64 of the disagreement.

        A gap of 30 with a weight of a thousandth is 0.9 / 24.9 of it, and not named.
        """
        for gap, weight, is_named in ((2, 10, True), (30, 0.001, False)):
            study = sa.Annotations.from_wide(self.gaps([1] * 24 + [gap]), kind="number")
            weights = dict.fromkeys(study.units, 1.0) | {study.units[24]: weight}
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                sa.krippendorff_alpha(study.sampled(sampling_weight=weights), distance="interval")
            said = [str(one.message) for one in found if one.category is FarAnswersWarning]
            assert ["(24) of the 25 that disagree has 62%" in one for one in said] == (
                [True] if is_named else []
            )

    def test_a_heavy_unit_of_label_sets(self):
        """Single labels are all equally far apart, by Hamming as by MASI.

        Of the 30 units that disagree one weighs 20 and the others 29 in all: it has 20 / 49.
        """
        rows = {"ann": [*"ab"] * 30, "bob": [*"ab"] * 15 + [*"ba"] * 15}
        study = sa.Annotations.from_wide(pd.DataFrame(rows))
        weights = dict.fromkeys(study.units, 1.0) | {study.units[-1]: 20.0}
        drawn = study.sampled(sampling_weight=weights)
        worst = sa.by_unit(drawn, distance="hamming").iloc[0]
        assert worst["share_of_disagreement"] == pytest.approx(20 / 49)
        with warnings.catch_warnings():
            warnings.simplefilter("error", FarAnswersWarning)
            sa.agreement(drawn, distance=["masi", "hamming"])

    def test_units_of_many_ratings(self):
        """A unit counts by its ratings for alpha, and once for Fleiss, not by its pairs of them.

        Four of five raters say 0 and one 3: 18 of 66 for alpha, where the 24 others have 2 each.
        """
        rows = [(f"u{k}", g, g) for k in range(24) for g in (0, 1)]
        rows += [("x", g, 3 * (g == 4)) for g in range(5)]
        table = pd.DataFrame(rows, columns=["unit", "rater", "value"])
        study = sa.Annotations.from_long(table, value="value")
        worst = sa.by_unit(study, distance="interval").iloc[0]
        assert worst["share_of_disagreement"] == pytest.approx(18 / 66)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sa.agreement(study, distance="interval")
        # With a 4 it is 32 of 80 for alpha, and 6.4 of 30.4 for Fleiss.
        table.loc[table["value"] == 3, "value"] = 4
        study = sa.Annotations.from_long(table, value="value")
        with pytest.warns(FarAnswersWarning, match=r"alpha .* one unit \('x'\) .* 40% of the dis"):
            sa.krippendorff_alpha(study, distance="interval")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sa.fleiss_kappa(study, distance="interval")

    def test_without_names(self):
        """A tally of counts does not know its units; the warning does without a name."""
        counts = pd.DataFrame({1: [1] * 25, 2: [1] * 24 + [0], 9: [0] * 24 + [1]})
        tally = sa.Tally.from_counts(counts.reset_index(drop=True), kind="number")
        with pytest.warns(FarAnswersWarning, match="one unit"):
            sa.krippendorff_alpha(tally, distance="interval")

    @pytest.mark.parametrize(
        ("sizes", "distance"),
        [
            ([1] * 24 + [3], "interval"),  # 9 of 33, below a third
            ([1] * 18 + [30], "interval"),  # 19 units: one of so few may hold a third by chance
            ([0] * 24 + [30], "interval"),
            ([1] * 24 + [30], "nominal"),
            ([1] * 24 + [30], "ordinal"),
        ],
    )
    def test_no_doubt(self, sizes, distance):
        study = sa.Annotations.from_wide(self.gaps(sizes), kind="number")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sa.krippendorff_alpha(study, distance=distance)


class TestRareAnswers:
    @staticmethod
    def counts(n_units, others, *, ratings=4, spread=()):
        """Return a tally of units in which all agree on "a", and of ratings of "b" elsewhere."""
        b = np.zeros(n_units, dtype=int)
        b[: len(spread)] = spread
        b[len(spread) : len(spread) + others] = ratings
        return sa.Tally.from_counts(pd.DataFrame({"a": ratings - b, "b": b}))

    def test_no_interval(self):
        """Of 40 units with four ratings 11 ratings are not "a": as much as 2.75 units, below 4."""
        table = sa.agreement(self.counts(40, 2, spread=[3]), distance="nominal")
        for row in table:
            assert np.isnan([*row.interval(), row.p_value]).all()
            assert "weigh as much as 2.8 units, fewer than 4; perm" in row.interval_reason
            assert np.isfinite([*row.interval(method="score"), *row.interval(method="t")]).all()
            assert row.interval_method is None
        assert str(table).count("Too few rarer answers") == 1
        assert not sa.at_least(table[0], 0.1).passes
        assert "No verdict: too few rarer answers" in sa.at_least(table[0], 0.1).verdict

    @pytest.mark.parametrize(("n", "has_interval"), [(4, True), (3, False)])
    def test_the_limit(self, n, has_interval):
        """Four of 40 units are enough, three are not."""
        alpha = sa.krippendorff_alpha(self.counts(40, n))
        assert alpha.inference.n_rarer == pytest.approx(n, rel=1e-12)
        assert np.isfinite(alpha.interval()[0]) == has_interval

    def test_on_request(self):
        table = sa.agreement(self.counts(40, 2, spread=[3]), interval="t")
        assert np.isfinite(table.to_frame()[["low", "high", "p_value"]]).all(axis=None)

    def test_rough(self):
        """With five ratings a unit and less than eight units of rarer answers, a note says so."""
        text = str(sa.agreement(self.counts(40, 6, ratings=5), distance="nominal"))
        assert "The interval is rough: all answers except the commonest weigh as much" in text
        assert "rough" not in str(sa.agreement(self.counts(40, 6, ratings=4), distance="nominal"))
        assert "rough" not in str(sa.agreement(self.counts(40, 8, ratings=5), distance="nominal"))
