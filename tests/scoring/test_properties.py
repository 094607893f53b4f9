"""What holds for every coefficient with every distance; a new one is caught by the registries."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from small_studies import annotations, numbers, random_rows, row_lists, sets_of, text, triples

import setagree as sa
from setagree.distances import NominalDistance, OverlapDistance, ScaleDistance, get_distance
from setagree.distances.degrees import DegreeDistance
from setagree.errors import SetagreeError
from setagree.scoring.coefficients import COEFFICIENTS, get_coefficient
from setagree.scoring.scorer import Scorer

NAMES = sa.distances.distance_names()
SCALES = [n for n in NAMES if isinstance(get_distance(n), ScaleDistance)]
SETS = [n for n in NAMES if n not in SCALES]
CORRECTED = [name for name in COEFFICIENTS if name != "percent_agreement"]

# Sums of a few dozen doubles against exact fractions; divided by 1 - pe, which is no rounding
# error in studies of this size, they keep more than 9 of 16 digits.
CLOSE = {"rel": 1e-9, "abs": 1e-9}

# Chance that is fixed beforehand says something about a single unit, all the others do not.
FIXED_CHANCE = {"brennan_prediger", "percent_agreement"}


def score(rows, coefficient, distance, **options):
    """Score without the door, which would warn of what is undefined."""
    return Scorer(annotations(rows), **options).score(
        get_coefficient(coefficient), get_distance(distance)
    )


def refused(coefficient, distance):
    """Say whether a coefficient is not defined for a distance: mv-alpha redraws labels of sets."""
    return coefficient == "mv_alpha" and distance in SCALES


# ---- (1) The slow reference ---------------------------------------------------------------------


def same_as_reference(rows, coefficient, distance, d):
    """Compare estimate, parts and standard error with exact fractions over the same rows."""
    d_max = reference.largest(reference.values_of(rows), d, distance)
    expected = reference.COEFFICIENTS[coefficient](rows, d, d_max)
    actual = score(rows, coefficient, distance)
    one_unit = reference.is_lone(rows, coefficient)
    if expected is None or one_unit:
        assert math.isnan(actual.estimate)
        assert actual.reason
        return
    assert actual.reason is None
    assert actual.estimate == pytest.approx(float(expected.estimate), **CLOSE)
    assert actual.observed_agreement == pytest.approx(float(expected.pa), **CLOSE)
    assert actual.expected_agreement == pytest.approx(float(expected.pe), **CLOSE)
    assert actual.observed_disagreement == pytest.approx(float(expected.observed), **CLOSE)
    assert actual.expected_disagreement == pytest.approx(float(expected.expected), **CLOSE)
    assert actual.standard_error == pytest.approx(expected.standard_error, nan_ok=True, **CLOSE)
    linear = [float(x) for x in expected.linear]
    assert actual.influence.to_list() == pytest.approx(linear, **CLOSE)


MANY_RATERS = [n for n, c in COEFFICIENTS.items() if c.raters != "two"]


def test_the_reference_knows_every_coefficient_and_distance():
    assert set(reference.COEFFICIENTS) == set(COEFFICIENTS)
    scale = reference.scale_distances(numbers("1 2"))
    assert set(reference.SET_DISTANCES) == set(SETS)
    assert set(scale) - {"nominal"} == set(SCALES)
    unbounded = {n for n in NAMES if not get_distance(n).bounded}
    assert unbounded == reference.UNBOUNDED


@pytest.mark.slow
@pytest.mark.parametrize("distance", SETS)
@settings(max_examples=4)
@given(rows=row_lists(sets_of("abc"), units=5, raters=4))
def test_label_sets_equal_the_reference(distance, rows):
    for coefficient in MANY_RATERS:
        same_as_reference(rows, coefficient, distance, reference.SET_DISTANCES[distance])


@pytest.mark.slow
@pytest.mark.parametrize("distance", SETS)
@settings(max_examples=6)
@given(rows=row_lists(sets_of("abc"), units=6, raters=2))
def test_two_raters_equal_the_reference(distance, rows):
    for coefficient in ("cohen_kappa", "scott_pi"):
        same_as_reference(rows, coefficient, distance, reference.SET_DISTANCES[distance])


@pytest.mark.slow
@pytest.mark.parametrize("distance", ["nominal", *SCALES])
@settings(max_examples=8)
@given(rows=row_lists([0, 1, 2, 5, 9], units=5, raters=3))
def test_numbers_equal_the_reference(distance, rows):
    d = reference.scale_distances(rows)[distance]
    for coefficient in MANY_RATERS:
        if coefficient != "mv_alpha":
            same_as_reference(rows, coefficient, distance, d)


SEEDED = [(0, 12, 5), (1, 7, 3), (2, 12, 5), (3, 7, 3)]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "units", "raters"), SEEDED)
def test_seeded_studies_equal_the_reference(seed, units, raters):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, sets_of("abcd"), units=units, raters=raters, missing=0.25)
    for coefficient in set(MANY_RATERS) - {"conger_kappa"}:
        for distance in ("masi", "hamming", "ochiai"):
            same_as_reference(rows, coefficient, distance, reference.SET_DISTANCES[distance])
    same_as_reference(rows, "conger_kappa", "dice", reference.dice)


CODEBOOKS = [sets_of("ab"), sets_of("abc"), [*sets_of("ab"), frozenset("xyz")]]
LISTING = [name for name, c in COEFFICIENTS.items() if c.model.lists_values]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("distance", "coefficient", "place"),
    [(d, c, (k + l) % 3) for k, d in enumerate(SETS) for l, c in enumerate(LISTING)],
)
@settings(max_examples=6)
@given(rows=row_lists(sets_of("ab"), units=4, raters=3))
def test_codebooks_equal_the_reference(distance, coefficient, place, rows):
    codebook = CODEBOOKS[place]
    d = reference.SET_DISTANCES[distance]
    d_max = reference.largest(codebook, d, distance)
    expected = reference.COEFFICIENTS[coefficient](rows, d, d_max, codebook)
    actual = score(rows, coefficient, distance, categories=codebook)
    one_unit = len(reference.rated(rows)) == 1 and coefficient not in FIXED_CHANCE
    if expected is None or one_unit:
        assert math.isnan(actual.estimate)
        return
    assert actual.n_values == len(codebook)
    assert actual.estimate == pytest.approx(float(expected.estimate), **CLOSE)
    assert actual.expected_agreement == pytest.approx(float(expected.pe), **CLOSE)
    assert actual.standard_error == pytest.approx(expected.standard_error, nan_ok=True, **CLOSE)


# ---- (2) Every coefficient with every distance --------------------------------------------------


@cache
def example(coefficient, distance, raters=3):
    """Return a seeded study that fits both: empty sets, missing and lone ratings among it."""
    raters = 2 if COEFFICIENTS[coefficient].raters == "two" else raters
    answers = [0, 1, 2, 3.5, 7] if distance in SCALES else sets_of("abcd")
    return random_rows(np.random.default_rng(5), answers, units=12, raters=raters, missing=0.2)


def figures(agreement):
    """Return what a result says, as one list of numbers."""
    return [
        agreement.estimate,
        agreement.standard_error,
        agreement.observed_agreement,
        agreement.expected_agreement,
        agreement.observed_disagreement,
        agreement.expected_disagreement,
        agreement.n_units,
        agreement.n_pairable_units,
        agreement.n_ratings,
    ]


def same_figures(one, other):
    """Compare two results that must agree to the rounding of sums in another order."""
    assert figures(one) == pytest.approx(figures(other), rel=1e-10, abs=1e-12, nan_ok=True)


def from_triples(study, kind):
    """Code (rater, unit, answer) triples and score without the door."""
    return Scorer(sa.Annotations.from_triples(study, kind=kind))


def kind_of(distance):
    """Say how the answers of `example` are read."""
    return "value" if distance in SCALES else "labels"


def with_every_distance(test):
    """Let the test of a pair run over all distances, once for each coefficient."""

    @pytest.mark.parametrize("coefficient", COEFFICIENTS)
    def over_distances(coefficient):
        for distance in NAMES:
            test(coefficient, distance)

    return over_distances


@with_every_distance
def test_every_pair_is_scored_or_refused_in_words(coefficient, distance):
    rows = example(coefficient, distance)
    if refused(coefficient, distance):
        with pytest.raises(SetagreeError, match="mv_alpha redraws labels"):
            score(rows, coefficient, distance)
        return
    result = score(rows, coefficient, distance)
    assert result.coefficient == coefficient
    assert result.distance == distance
    assert -math.inf < result.estimate <= 1
    has_error = coefficient != "mv_alpha"  # no analytic variance is known for it
    assert (result.standard_error > 0) == has_error


@with_every_distance
def test_names_and_the_order_of_rows_units_and_raters_do_not_matter(coefficient, distance):
    if refused(coefficient, distance):
        return
    rows = triples(example(coefficient, distance))
    names = {"a": "zebra", "b": 7, "c": "a", "d": "b, with a comma"}
    renamed = [
        (
            f"person {9 - int(rater[1:])}",
            (unit, "x"),
            answer if distance in SCALES else frozenset(names[label] for label in answer),
        )
        for rater, unit, answer in rows
    ]
    shuffled = [renamed[k] for k in np.random.default_rng(1).permutation(len(rows))]
    one, other = (
        from_triples(some, kind_of(distance)).score(
            get_coefficient(coefficient), get_distance(distance)
        )
        for some in (rows, shuffled)
    )
    same_figures(one, other)
    aligned = other.influence.loc[[(unit, "x") for unit in one.influence.index]]
    assert one.influence.to_list() == pytest.approx(aligned.to_list(), rel=1e-10, abs=1e-12)


@with_every_distance
def test_identical_answers_give_one(coefficient, distance):
    if refused(coefficient, distance):
        return
    answers = [1, 2, 5] if distance in SCALES else [frozenset("ab"), frozenset("c"), frozenset()]
    rows = [[answer, answer] for answer in (*answers, answers[0])]
    if COEFFICIENTS[coefficient].raters != "two":
        rows = [[*row, row[0]] for row in rows[:2]] + [[None, *row] for row in rows[2:]]
    result = score(rows, coefficient, distance)
    assert result.estimate == 1
    assert result.observed_disagreement == 0
    if coefficient != "mv_alpha":
        assert result.standard_error == 0
        assert np.isnan(result.interval(method="t")).all()
        assert result.standard_error_reason.startswith("No disagreement was seen in ")


RANDOM_UNITS = 2000


@cache
def random_bench(kind, raters):
    """Return 2,000 units answered at random, uniformly over 8 sets or 5 numbers."""
    answers = [1, 2, 3, 4, 5] if kind == "value" else sets_of("abc")
    rng = np.random.default_rng(20)
    return Scorer(annotations(random_rows(rng, answers, units=RANDOM_UNITS, raters=raters)))


def noise(agreement):
    """Return four standard deviations of 1 - x / y on random data, or more.

    The credit lost by a pair lies in [0, 1] and has mean y = 1 - pe, hence a variance of y (1 - y)
    at most; the mean x over the pairs of a unit varies no more, and there are 2,000 units.
    """
    y = 1 - agreement.expected_agreement
    return 4 * math.sqrt((1 - y) / (y * RANDOM_UNITS))


@with_every_distance
def test_random_answers_score_about_zero(coefficient, distance):
    if coefficient not in CORRECTED or refused(coefficient, distance):
        return
    raters = 2 if COEFFICIENTS[coefficient].raters == "two" else 3
    scorer = random_bench(kind_of(distance), raters)
    result = scorer.score(get_coefficient(coefficient), get_distance(distance))
    assert abs(result.estimate) < noise(result) < 0.3


@pytest.mark.parametrize("distance", [name for name in SETS if name != "nominal"])
def test_a_chance_term_that_forgets_the_distance_would_be_seen(distance):
    scorer = random_bench("labels", 3)
    observed = scorer.score(get_coefficient("fleiss_kappa"), get_distance(distance))
    forgetful = scorer.score(get_coefficient("fleiss_kappa"), get_distance("nominal"))
    y = 1 - forgetful.expected_agreement
    assert 1 - (1 - observed.observed_agreement) / y > noise(forgetful)


@with_every_distance
def test_singletons_equal_nominal(coefficient, distance):
    if distance in SCALES:
        return
    raters = 2 if COEFFICIENTS[coefficient].raters == "two" else 4
    labels = [frozenset(label) for label in "abcd"]
    rows = random_rows(np.random.default_rng(8), labels, units=15, raters=raters, missing=0.2)
    result, plain = score(rows, coefficient, distance), score(rows, coefficient, "nominal")
    # Disagreements are in units of the distance: Hamming counts 2 where nominal counts 1.
    unit = 2 if distance in {"hamming", "manhattan"} else 1
    assert figures(result)[:4] == pytest.approx(figures(plain)[:4], rel=1e-10, nan_ok=True)
    assert result.expected_disagreement == pytest.approx(unit * plain.expected_disagreement)
    if coefficient == "mv_alpha":
        alpha = score(rows, "krippendorff_alpha", "nominal")
        assert result.estimate == pytest.approx(alpha.estimate, rel=1e-10)


@with_every_distance
def test_a_tally_is_enough_where_raters_are_not_needed(coefficient, distance):
    if refused(coefficient, distance):
        return
    study = annotations(example(coefficient, distance))
    tally = Scorer(sa.Tally.from_annotations(study))
    if not COEFFICIENTS[coefficient].needs_raters:
        result = tally.score(get_coefficient(coefficient), get_distance(distance))
        same_figures(
            result, Scorer(study).score(get_coefficient(coefficient), get_distance(distance))
        )
    else:
        with pytest.raises(SetagreeError, match="requires the rater of each answer"):
            tally.score(get_coefficient(coefficient), get_distance(distance))


# ---- (3) Identities -----------------------------------------------------------------------------


@pytest.mark.parametrize("distance", NAMES)
@pytest.mark.parametrize("raters", [2, 3, 5])
def test_alpha_and_fleiss_on_complete_data(distance, raters):
    """On complete data alpha = Fleiss + (1 - Fleiss) / (U r), whatever the distance."""
    answers = [1, 2, 4, 8] if distance in SCALES else sets_of("abc")
    rows = random_rows(np.random.default_rng(raters), answers, units=9, raters=raters)
    alpha, fleiss = (score(rows, c, distance) for c in ("krippendorff_alpha", "fleiss_kappa"))
    identity = fleiss.estimate + (1 - fleiss.estimate) / (9 * raters)
    assert alpha.estimate == pytest.approx(identity, rel=1e-12, abs=1e-12)


@given(rows=row_lists(sets_of("abc"), units=6, raters=4))
def test_hamming_alpha_splits_by_label(rows):
    whole = score(rows, "krippendorff_alpha", "hamming")
    parts = [
        score(
            [[None if A is None else int(label in A) for A in row] for row in rows],
            "krippendorff_alpha",
            "nominal",
        )
        for label in "abc"
    ]
    observed = sum(part.observed_disagreement for part in parts)
    expected = sum(part.expected_disagreement for part in parts)
    same = pytest.approx(observed, abs=1e-12, nan_ok=True)
    assert whole.observed_disagreement == same
    assert whole.expected_disagreement == pytest.approx(expected, abs=1e-12, nan_ok=True)
    if whole.reason is None:
        assert whole.estimate == pytest.approx(1 - observed / expected, abs=1e-12)


@pytest.mark.parametrize("distance", NAMES)
@pytest.mark.parametrize(
    ("two", "many"), [("scott_pi", "fleiss_kappa"), ("cohen_kappa", "conger_kappa")]
)
def test_two_raters_are_a_case_of_many(two, many, distance):
    rows = example(many, distance, raters=2)
    same_figures(score(rows, two, distance), score(rows, many, distance))


@given(rows=row_lists(sets_of("ab"), units=6, raters=2, missing=False))
def test_cohen_by_the_table_of_two_raters(rows):
    po = np.mean([x == y for x, y in rows])
    p = [pd.Series([row[g] for row in rows]).value_counts(normalize=True) for g in (0, 1)]
    first, second = (side.reindex(sets_of("ab"), fill_value=0.0) for side in p)
    chance = {
        "cohen_kappa": (first * second).sum(),
        "scott_pi": (((first + second) / 2) ** 2).sum(),
    }
    for coefficient, pe in chance.items():
        result = score(rows, coefficient, "nominal")
        if result.reason is None:
            assert result.estimate == pytest.approx((po - pe) / (1 - pe), abs=1e-12)
        else:
            assert pe == pytest.approx(1) or len(rows) == 1


def pairings(ratings):
    """Yield every way to put ratings into units of two."""
    if not ratings:
        yield []
        return
    first, *rest = ratings
    for k, partner in enumerate(rest):
        for others in pairings(rest[:k] + rest[k + 1 :]):
            yield [[first, partner], *others]


@pytest.mark.slow
@pytest.mark.parametrize("distance", NAMES)
def test_alpha_is_zero_on_average_over_all_pooled_shuffles(distance):
    """Over all 15 ways to put 6 ratings into pairs, alpha is 0 and Fleiss -1/5 on average.

    Do is then the mean over all pairs of ratings, which is De; N - 1 = 5.
    """
    pool = [1, 1, 2, 4, 4, 9]
    if distance in SETS:
        pool = [frozenset(word) for word in ("", "a", "ab", "ab", "bc", "abc")]
    all_of_them = list(pairings(pool))
    assert len(all_of_them) == 15
    for coefficient, chance in (("krippendorff_alpha", 0), ("fleiss_kappa", -1 / 5)):
        scores = [score(rows, coefficient, distance).estimate for rows in all_of_them]
        assert np.mean(scores) == pytest.approx(chance, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("distance", NAMES)
def test_kappa_is_zero_on_average_over_all_shuffles_of_a_rater(distance):
    coefficient = ("cohen_kappa", "conger_kappa")[NAMES.index(distance) % 2]
    first = [1, 2, 2, 8]
    second = [1, 1, 2, 4]
    if distance in SETS:
        first = [frozenset(word) for word in ("", "ab", "abc", "c")]
        second = [frozenset(word) for word in ("a", "a", "ab", "bc")]
    orders = list(reference.permutations(second))
    # ordinal reads ranks off the pooled ratings, which no shuffle changes
    scores = [
        score([list(pair) for pair in zip(first, order, strict=True)], coefficient, distance)
        for order in orders
    ]
    assert np.mean([one.estimate for one in scores]) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("distance", NAMES)
@pytest.mark.parametrize("coefficient", ["fleiss_kappa", "conger_kappa", "percent_agreement"])
def test_repeating_the_study_changes_no_kappa(coefficient, distance):
    rows = example(coefficient, distance)
    once, twice = score(rows, coefficient, distance), score(rows * 2, coefficient, distance)
    if distance == "ordinal":  # twice the rank mass is four times the distance
        assert twice.estimate == pytest.approx(once.estimate, rel=1e-12)
        return
    assert figures(twice)[2:6] == pytest.approx(figures(once)[2:6], rel=1e-12)
    assert twice.estimate == pytest.approx(once.estimate, rel=1e-12)


@pytest.mark.parametrize(
    "coefficient",
    [n for n in CORRECTED if n != "mv_alpha" and not COEFFICIENTS[n].model.lists_values],
)
def test_the_unit_of_a_distance_does_not_matter(coefficient):
    rows = example(coefficient, "jaccard")
    scorer = Scorer(annotations(rows))
    one, seven = (
        scorer.score(
            get_coefficient(coefficient),
            sa.OverlapDistance(
                lambda a, b, i, by=by: by * sa.distances.jaccard.function(a, b, i),
                name=f"{by} jaccard",
                bounded=False,
            ),
        )
        for by in (1, 7)
    )
    assert figures(seven)[:4] == pytest.approx(figures(one)[:4], rel=1e-12)
    assert seven.expected_disagreement == pytest.approx(7 * one.expected_disagreement)


@pytest.mark.parametrize("distance", SETS)
def test_a_function_and_a_matrix_equal_the_named_distance(distance):
    rows = example("fleiss_kappa", distance)
    study = annotations(rows)
    named = get_distance(distance)
    assert isinstance(named, NominalDistance | OverlapDistance | DegreeDistance)
    matrix = sa.weights(study, named).to_frame(distance=True)
    for coefficient in ("krippendorff_alpha", "fleiss_kappa", "conger_kappa", "gwet_ac"):
        expected = Scorer(study).score(get_coefficient(coefficient), named)
        for same in (named.__call__, matrix.rename(index={"{}": ""}, columns={"{}": ""})):
            same_figures(
                Scorer(study).score(get_coefficient(coefficient), get_distance(same)), expected
            )


def test_missing_differs_from_empty():
    """A missing rating drops out; the empty set is an answer. Both by hand, nominal alpha.

    Missing: units {a a}, {b b}; Do = 0, alpha = 1. Empty: the third unit is {a, empty}: N = 6,
    Do = 2/6, n = (3, 2, 1), De = (36 - 9 - 4 - 1) / 30 = 22/30, alpha = 1 - (1/3) / (22/30) = 6/11.
    """
    missing = score(text("a a / b b / a ."), "krippendorff_alpha", "nominal")
    empty = score(text("a a / b b / a {}"), "krippendorff_alpha", "nominal")
    assert missing.estimate == 1
    assert empty.estimate == pytest.approx(6 / 11, abs=1e-15)


@given(
    rows=row_lists(sets_of("abc"), units=6, raters=3),
    distance=st.sampled_from(SETS),
)
def test_influence_averages_to_the_estimate(rows, distance):
    """The mean of the linearised values is the estimate (for alpha without its 1/N term)."""
    for coefficient in ("fleiss_kappa", "conger_kappa", "gwet_ac", "brennan_prediger"):
        result = score(rows, coefficient, distance)
        if result.reason is None:
            assert result.influence.mean() == pytest.approx(result.estimate, rel=1e-9, abs=1e-9)
            assert len(result.influence) == result.n_units
