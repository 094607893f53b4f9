"""The kappas by hand; the reference and the golden tests hold them against everything else."""

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import reference
from small_studies import annotations, numbers, text

import setagree as sa
from setagree.coefficients.chance_models import GwetUrn, Uniform
from setagree.coefficients.sums import UnitSums, standard_error
from setagree.credit import cost_model
from setagree.distances import get_distance
from setagree.scoring.coefficients import COEFFICIENTS, get_coefficient
from setagree.scoring.scorer import Scorer

# Units {a b}, {a a}, {b b}, {a a}; raters x: a a b a, y: b a b a.
TWO = text("a b / a a / b b / a a")
# The same and a lone b of a third rater.
LONE = [[*row, None] for row in TWO] + [[None, None, frozenset("b")]]


def score(rows, name, distance="nominal", **options):
    return Scorer(annotations(rows), **options).score(get_coefficient(name), get_distance(distance))


# name, pa, pe, estimate; nominal. Shares: x (3/4, 1/4), y (1/2, 1/2), pooled (5/8, 3/8).
BY_HAND = [
    ("percent_agreement", 3 / 4, 0, 3 / 4),
    ("cohen_kappa", 3 / 4, 3 / 8 + 1 / 8, 1 / 2),
    ("conger_kappa", 3 / 4, 3 / 8 + 1 / 8, 1 / 2),
    ("scott_pi", 3 / 4, 34 / 64, (3 / 4 - 34 / 64) / (30 / 64)),
    ("fleiss_kappa", 3 / 4, 34 / 64, 14 / 30),
    # K = 2, T_w = 2: pe = sum pi (1 - pi) = 2 x 15/64
    ("gwet_ac", 3 / 4, 30 / 64, (3 / 4 - 30 / 64) / (34 / 64)),
    ("brennan_prediger", 3 / 4, 1 / 2, 1 / 2),
]


@pytest.mark.parametrize(("name", "pa", "pe", "estimate"), BY_HAND)
def test_two_raters_by_hand(name, pa, pe, estimate):
    result = score(TWO, name)
    assert result.observed_agreement == pytest.approx(pa, abs=1e-15)
    assert result.expected_agreement == pytest.approx(pe, abs=1e-15)
    assert result.estimate == pytest.approx(estimate, abs=1e-15)
    assert result.observed_disagreement == pytest.approx(1 - pa, abs=1e-15)
    assert result.expected_disagreement == pytest.approx(1 - pe, abs=1e-15)


def test_lone_ratings_count_in_chance():
    """A unit with one rating counts in the shares of Fleiss and AC, not in pa (Gwet).

    Five units: pi_a = (1/2 + 1 + 0 + 1 + 0) / 5 = 1/2, so pe is 1/2; pa stays 3/4.
    """
    fleiss, ac = score(LONE, "fleiss_kappa"), score(LONE, "gwet_ac")
    for result in (fleiss, ac):
        assert result.observed_agreement == pytest.approx(3 / 4, abs=1e-15)
        assert result.expected_agreement == pytest.approx(1 / 2, abs=1e-15)
        assert (result.n_units, result.n_pairable_units) == (5, 4)


def test_a_third_rater_of_one_unit_counts_in_conger():
    """Conger: p_z = (0, 1); pe = mean of p_x.p_y = 1/2, p_x.p_z = 1/4, p_y.p_z = 1/2 = 5/12."""
    result = score(LONE, "conger_kappa")
    assert result.expected_agreement == pytest.approx(5 / 12, abs=1e-15)
    assert result.estimate == pytest.approx((3 / 4 - 5 / 12) / (7 / 12), abs=1e-15)


def test_weights_in_every_part():
    """Linear weights on 1, 2, 4: observed and chance both lose |k - l| / 3, by hand.

    Raters x: 1 2 4, y: 2 2 1. pa = 1 - (1 + 0 + 3) / 9 = 5/9.
    Chance: y gives 2 twice as often as 1, so the mean of |k - l| over all pairs is
    (1 + 0 + 2) x 2/9 + (0 + 1 + 3) x 1/9 = 10/9, and pe = 1 - 10/27.
    """
    rows = [[1, 2], [2, 2], [4, 1]]
    result = score(rows, "cohen_kappa", "linear")
    assert result.observed_agreement == pytest.approx(5 / 9)
    assert result.expected_agreement == pytest.approx(17 / 27)
    assert result.estimate == pytest.approx(1 - (4 / 9) / (10 / 27))
    assert result.expected_disagreement == pytest.approx(10 / 9)
    plain = score(rows, "cohen_kappa")
    assert plain.estimate != pytest.approx(result.estimate)


def test_cohen_of_the_textbook_table():
    """20, 5, 10, 15 of 50: po = 0.7, pe = 0.5 x 0.6 + 0.5 x 0.4 = 0.5, kappa = .4."""
    table = pd.DataFrame([[20, 5], [10, 15]], index=["yes", "no"], columns=["yes", "no"])
    result = sa.cohen_kappa(sa.Annotations.from_contingency(table))
    assert result.observed_agreement == pytest.approx(0.7)
    assert result.expected_agreement == pytest.approx(0.5)
    assert result.estimate == pytest.approx(0.4)


def test_a_codebook_changes_what_depends_on_k():
    """With four categories listed Brennan-Prediger expects 1/4; Fleiss does not ask.

    AC1: sum pi (1 - pi) / (K - 1) = (30/64) / 3 with nominal T_w = K.
    """
    listed = [{"a"}, {"b"}, {"c"}, set()]
    uniform = score(TWO, "brennan_prediger", categories=listed)
    assert uniform.expected_agreement == pytest.approx(1 / 4)
    assert uniform.n_values == 4
    ac = score(TWO, "gwet_ac", categories=listed)
    assert ac.expected_agreement == pytest.approx(30 / 64 / 3)
    fleiss = score(TWO, "fleiss_kappa", categories=listed)
    assert fleiss.expected_agreement == pytest.approx(34 / 64)
    assert fleiss.n_values == 2


def test_listing_what_is_observed_changes_nothing():
    one, other = (score(TWO, "gwet_ac", "dice", categories=some) for some in (None, ["b", "a"]))
    assert one.estimate == other.estimate
    assert one.standard_error == other.standard_error


@pytest.mark.parametrize("name", ["fleiss_kappa", "conger_kappa", "gwet_ac", "scott_pi"])
@pytest.mark.parametrize(
    ("rows", "reason", "pa"),
    [
        ("a a / a a", "only one value was used", 1),
        ("a . / . b", "no unit has two ratings", math.nan),
        ("a b", "only one unit has two ratings", 0),
    ],
)
def test_undefined(name, rows, reason, pa):
    """Where chance cannot be told, the estimate is nan with a reason; pa is kept."""
    result = score(text(rows), name)
    assert math.isnan(result.estimate)
    assert math.isnan(result.standard_error)
    assert result.reason == reason
    assert result.observed_agreement == pytest.approx(pa, nan_ok=True)


@pytest.mark.parametrize(
    "name", ["fleiss_kappa", "conger_kappa", "cohen_kappa", "percent_agreement"]
)
def test_one_rater(name):
    rater = sa.Annotations.from_triples([("x", 1, "a"), ("x", 2, "b")])
    result = Scorer(rater).score(get_coefficient(name), get_distance("masi"))
    assert math.isnan(result.estimate)
    assert result.reason == "there is only one rater"


def test_nested_sets_under_overlap_leave_nothing_to_correct():
    result = score(text("a ab / ab abc"), "fleiss_kappa", "overlap")
    assert math.isnan(result.estimate)
    assert result.reason == "chance leaves no disagreement to correct for"
    assert result.expected_disagreement == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "conger_kappa"])
def test_rounding_is_no_disagreement(monkeypatch, name):
    monkeypatch.setattr(
        cost_model, "_PAIR_COST", 1e9
    )  # by subsets, whose sums cancel to about 1e-17
    chain = [frozenset(range(size)) for size in range(12, 0, -1)]
    result = score([list(pair) for pair in pairwise(chain)], name, "overlap")
    assert math.isnan(result.estimate)
    assert result.reason == "chance leaves no disagreement to correct for"


def test_fixed_chance_says_something_of_one_unit():
    one = text("a b a")
    assert score(one, "percent_agreement").estimate == pytest.approx(1 / 3)
    assert score(one, "brennan_prediger").estimate == pytest.approx((1 / 3 - 1 / 2) / (1 / 2))
    assert math.isnan(score(one, "percent_agreement").standard_error)


def test_all_identical_is_still_full_percent_agreement():
    same = text("a a / a a / a .")
    assert score(same, "percent_agreement").estimate == 1
    assert math.isnan(score(same, "brennan_prediger").estimate)
    assert score(same, "brennan_prediger", categories=["a", "b"]).estimate == 1
    assert score(same, "gwet_ac", categories=["a", "b"]).estimate == 1


def test_systematic_disagreement():
    """Two raters who never agree over two balanced values have kappa -1, AC1 -1."""
    rows = text("a b / b a / a b / b a")
    for name in ("cohen_kappa", "scott_pi", "gwet_ac", "brennan_prediger"):
        assert score(rows, name).estimate == pytest.approx(-1, abs=1e-15)


# Holes, a unit with one rating, a rater with one, a unit that nobody rated.
HOLES = "ab a . / a a a / . b bc / c . . / abc ab . / . . . / {} {} . / b ac ."
SCORES = "1 2 . / 2 2 2 / . 5 4 / 4 . . / 1 5 . / . . . / 3 3 . / 2 4 ."
KAPPAS = ["fleiss_kappa", "conger_kappa", "gwet_ac", "brennan_prediger", "percent_agreement"]


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize(
    ("rows", "distance"),
    [
        (text(HOLES), "nominal"),
        (text(HOLES), "jaccard"),
        (text(HOLES), "hamming"),
        (numbers(SCORES), "linear"),
        (numbers(SCORES), "interval"),
    ],
    ids=lambda some: some if isinstance(some, str) else "",
)
@pytest.mark.parametrize("name", KAPPAS)
def test_every_part_in_fractions(name, rows, distance, listed):
    scores = isinstance(rows[0][0], int)
    d = reference.scale_distances(rows)[distance] if scores else reference.SET_DISTANCES[distance]
    values, more = reference.values_of(rows), [9, 7] if scores else [frozenset("abcd")]
    known = [*values, *more] if listed and name in {"gwet_ac", "brennan_prediger"} else values
    options = {"categories": known} if known is not values else {}
    expected = reference.COEFFICIENTS[name](
        rows, d, reference.largest(known, d, distance), **options
    )
    found = score(rows, name, distance, categories=[*values, *more] if listed else None)
    assert found.estimate == pytest.approx(float(expected.estimate), abs=1e-14)
    assert found.observed_agreement == pytest.approx(float(expected.pa), abs=1e-14)
    assert found.expected_agreement == pytest.approx(float(expected.pe), abs=1e-14)
    assert found.observed_disagreement == pytest.approx(float(expected.observed), abs=1e-13)
    assert found.expected_disagreement == pytest.approx(float(expected.expected), abs=1e-13)
    linear = [float(x) for x in expected.linear]
    assert found.influence.tolist() == pytest.approx(linear, abs=1e-13)
    assert found.standard_error == pytest.approx(expected.standard_error, abs=1e-14)


@pytest.mark.parametrize("name", ["fleiss_kappa", "conger_kappa"])
@pytest.mark.parametrize("far", [1e9, 1e60])
def test_a_far_value_that_nobody_gave(name, far):
    """Where a listed value makes d_max huge, what differs among the used ones is no rounding.

    Pairs 0 0, 0 1, 1 1 and 1 0: seen 1/2; chance 1/2 too.
    """
    rows = numbers("0 0 / 0 1 / 1 1 / 1 0 / 0 0")
    plain = score(rows, name, "interval")
    scorer = Scorer(annotations(rows), categories=[0, 1, far])
    case = scorer.case(get_distance("interval"), listed=True)
    found = UnitSums(case, COEFFICIENTS[name].model)
    assert found.undefined is None
    assert found.estimate == pytest.approx(plain.estimate, rel=1e-12)
    assert found.figures[3] == pytest.approx(plain.expected_disagreement, rel=1e-12)
    assert standard_error(found) == pytest.approx(plain.standard_error, rel=1e-12)


@pytest.mark.parametrize("name", ["fleiss_kappa", "conger_kappa"])
def test_an_undefined_kappa_keeps_its_disagreements(name):
    """One unit, 1 against 4 of 1 to 4: they differ by 3, all there is; in agreements it is 0.

    By chance Fleiss' raters differ by 3/2, Conger's by 3.
    """
    found = score(numbers("1 4"), name, "linear")
    chance = 3 / 2 if name == "fleiss_kappa" else 3
    assert found.reason == "only one unit has two ratings"
    assert (found.observed_disagreement, found.expected_disagreement) == (3, chance)
    assert (found.observed_agreement, found.expected_agreement) == (0, 1 - chance / 3)


@pytest.mark.parametrize(
    ("name", "estimate"), [("fleiss_kappa", -1 / 3), ("conger_kappa", 0), ("gwet_ac", 1 / 5)]
)
def test_two_units_show_chance(name, estimate):
    """Units {a a}, {a b}: seen 1/2; by chance 3/8 of Fleiss' pairs differ, 1/2 of x y; AC 5/8."""
    assert score(text("a a / a b"), name).estimate == pytest.approx(estimate, abs=1e-15)


@pytest.mark.parametrize("K", [2, 3, 5])
def test_chance_of_listed_values(K):
    """Of K equidistant values two draws differ in K (K - 1) of K² cases; AC scales by 1/(K - 1)."""
    scorer = Scorer(annotations(TWO), categories=[*"abcde"[:K]])
    case = scorer.case(get_distance("nominal"), listed=True)
    assert Uniform().level(case) == pytest.approx(1 - 1 / K, abs=1e-15)
    assert GwetUrn().label_credit(case) == pytest.approx(1 / (K - 1), abs=1e-15)


def test_one_value_has_no_scale():
    case = Scorer(annotations(text("a a / a a"))).case(get_distance("nominal"))
    assert math.isnan(GwetUrn().label_credit(case))
    assert Uniform().level(case) == 0


def test_kappa_keeps_its_digits_near_one():
    """One slip in a million units: 1 - kappa = x / y, without cancellation.

    Scott: x = 1e-6, shares 1/2 each up to the slip, y = 2 p (1 - p).
    """
    tally = sa.Tally.from_counts(pd.DataFrame({"a": [2.0, 0, 1], "b": [0.0, 2, 1]}))
    many = sa.Tally(
        tally.kind,
        tally.values,
        tally.indptr,
        tally.indices,
        tally.counts,
        np.array([500_000.0, 499_999, 1]),
    )
    p = 1_000_001 / 2_000_000
    result = sa.fleiss_kappa(many, distance="nominal")
    assert 1 - result.estimate == pytest.approx(1e-6 / (2 * p * (1 - p)), rel=1e-9)
