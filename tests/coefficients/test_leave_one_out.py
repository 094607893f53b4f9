"""Every coefficient without one unit, in closed form, against the study without it."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from small_studies import annotations, numbers, random_rows, row_lists, sets_of, text

import setagree as sa
from setagree.coefficients import parts as parts_module
from setagree.coefficients.case import Case
from setagree.coefficients.parts import Parts, RaterParts
from setagree.coefficients.sums import UnitSums
from setagree.distances import ScaleDistance, distance_names, get_distance
from setagree.scoring.coefficients import COEFFICIENTS
from setagree.scoring.scorer import Scorer
from setagree.study.tally import Given

KNOWN = [name for name in COEFFICIENTS if name != "mv_alpha"]
PAIRS = [
    (coefficient, distance)
    for k, coefficient in enumerate(KNOWN)
    for l, distance in enumerate(distance_names())
    if (k + l) % 3 == 0
]
"""A third of all pairs: leaving out takes the sums that `test_replicates` weights with all."""


def without(rows, coefficient, distance):
    """Return the estimates without each unit, by the closed form."""
    entry = COEFFICIENTS[coefficient]
    case = Scorer(annotations(rows)).case(get_distance(distance), listed=entry.model.lists_values)
    found = UnitSums(case, entry.model).without_units()
    return found if entry.needs_raters else found[case.tally.unit_patterns]


def by_leaving_out(rows, coefficient, distance):
    """Return the same from the rows left, under the distance of the full study."""
    rows = [row for row in rows if any(x is not None for x in row)]
    on_scale = isinstance(get_distance(distance), ScaleDistance)
    known = reference.scale_distances(rows) if on_scale else reference.SET_DISTANCES
    d, values = known[distance], reference.values_of(rows)
    options = {"categories": values} if COEFFICIENTS[coefficient].model.lists_values else {}
    compute, d_max = reference.COEFFICIENTS[coefficient], reference.largest(values, d, distance)
    out = []
    for i in range(len(rows)):
        left = rows[:i] + rows[i + 1 :]
        found = compute(left, d, d_max, **options)
        lone = reference.is_lone(left, coefficient)
        out.append(math.nan if lone or found is None else float(found.estimate))
    return out


def test_only_mv_alpha_has_no_closed_form():
    case = Scorer(annotations(text("a b / b b / a a"))).case(get_distance("dice"))
    open_forms = {
        name
        for name, entry in COEFFICIENTS.items()
        if not UnitSums(case, entry.model).has_closed_form
    }
    assert open_forms == {"mv_alpha"}


@pytest.mark.parametrize(("coefficient", "distance"), PAIRS)
def test_every_pair(coefficient, distance):
    rng = np.random.default_rng(9)
    raters = 2 if COEFFICIENTS[coefficient].raters == "two" else 3
    answers = (
        [0, 1, 3, 4, 8] if isinstance(get_distance(distance), ScaleDistance) else sets_of("abc")
    )
    rows = random_rows(rng, answers, units=6, raters=raters, missing=0.2)
    expected = by_leaving_out(rows, coefficient, distance)
    actual = without(rows, coefficient, distance)
    assert actual.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("coefficient", KNOWN)
@settings(max_examples=15)
@given(data=st.data())
def test_any_study(coefficient, data):
    """The same for any small study; without a rater's only unit that rater is gone as well."""
    raters = 2 if COEFFICIENTS[coefficient].raters == "two" else 4
    rows = data.draw(row_lists(sets_of("ab"), units=6, raters=raters))
    if len(reference.rated(rows)) == 1:
        return
    expected = by_leaving_out(rows, coefficient, "masi")
    actual = without(rows, coefficient, "masi")
    assert actual.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


def test_by_hand():
    """Units {a a}, {b b}, {a b}, nominal alpha without each: N = 4 each time.

    Without {a b}: 1. Without {a a}: n = (1, 3), Do = 2/4, De = 2 x 3 / 12 = 1/2, alpha 0.
    """
    actual = without(text("a a / b b / a b"), "krippendorff_alpha", "nominal")
    assert actual.tolist() == pytest.approx([0, 0, 1], abs=1e-15)


def kappa(rows, d):
    """Return Conger's kappa in exact fractions, by loops over units and pairs of raters."""
    n_raters = max(map(len, rows))
    columns = [[row[g] for row in rows if row[g] is not None] for g in range(n_raters)]
    columns = [column for column in columns if column]
    each = [[x for x in row if x is not None] for row in rows]
    each = [[d(x, y) for x, y in permutations(unit, 2)] for unit in each if len(unit) > 1]
    pairs = list(permutations(columns, 2))
    if not each or not pairs:
        return math.nan
    seen = sum(Fraction(sum(some), len(some)) for some in each) / len(each)
    by_pair = [
        Fraction(sum(d(x, y) for x in one for y in two), len(one) * len(two)) for one, two in pairs
    ]
    chance = sum(by_pair) / len(pairs)
    return 1 - seen / chance if chance else math.nan


def differ(x, y):
    return int(x != y)


def jackknife(rows, distance="nominal"):
    """Return the estimates without each unit, in closed form."""
    agreement = sa.conger_kappa(annotations(rows), distance=distance)
    return sa.jackknife(agreement).values.tolist()


# Raters x, y, z by unit; z answered the first unit alone.
ROWS = "a b b / a a . / b b . / a b ."


def test_single_ratings_by_hand():
    """All: x has shares (3/4, 1/4), y (1/4, 3/4), z (0, 1): chance (10 + 12 + 4)/48 = 13/24.

    Seen: (2/3 + 0 + 0 + 1)/4 = 5/12, kappa 1 - 10/13. Without the first unit z is gone: x (2/3,
    1/3) and y (1/3, 2/3) differ by chance in 5/9, seen 1/3: 2/5. Without the second: y is always
    b as z, chance (2/3 + 2/3 + 0)/3 = 4/9, seen 5/9: -1/4. Without the third: (2/3 + 1 + 1/3)/3,
    seen 5/9: 1/6. Without the last: (5/9 + 2/3 + 1/3)/3 = 14/27, seen 2/9: 4/7.
    """
    rows = text(ROWS)
    assert sa.conger_kappa(annotations(rows), distance="nominal").estimate == pytest.approx(3 / 13)
    assert jackknife(rows) == pytest.approx([2 / 5, -1 / 4, 1 / 6, 4 / 7], abs=1e-14)
    assert [kappa(rows[:i] + rows[i + 1 :], differ) for i in range(4)] == [
        Fraction(2, 5),
        Fraction(-1, 4),
        Fraction(1, 6),
        Fraction(4, 7),
    ]


def test_a_unit_that_one_rater_alone_answered():
    """The one answer of z is to a unit of its own: without it, x and y are as without z.

    x (a b a), y (a b b): 1 - (1/3) / (5/9) = 2/5. With z, who says b: without the first of the
    units of x and y, chance is (1/2 + 1/2 + 0)/3 = 1/3 and seen 1/2; without the second, x is
    always a, (1/2 + 1 + 1/2)/3 = 2/3 and 1/2; without the third, (1/2 + 1/2 + 1/2)/3 and 0.
    """
    rows = text("a a . / b b . / a b . / . . b")
    assert jackknife(rows) == pytest.approx([-1 / 2, 1 / 4, 1, 2 / 5], abs=1e-14)


def test_two_raters_who_leave_together():
    rows = text("a b b / a . . / b . . / b . .")
    assert math.isnan(jackknife(rows)[0])
    rest = [kappa(rows[:i] + rows[i + 1 :], differ) for i in (1, 2, 3)]
    assert jackknife(rows)[1:] == pytest.approx([float(x) for x in rest], abs=1e-14)


def test_two_units_leave_none_to_learn_chance_from():
    assert all(math.isnan(x) for x in jackknife(text("a b a / b b .")))


def test_three_units_leave_two():
    """Two units left are enough: x (b, a) against y (b, b) is seen in 1/2 and by chance in 1/2.

    Without the second unit x is always a: chance (1 + 1 + 0)/3, seen (2/3 + 1)/2, 1 - 5/4. Without
    the third chance is (1/2 + 1/2 + 0)/3 and seen (2/3 + 0)/2.
    """
    assert jackknife(text("a b b / b b . / a b .")) == pytest.approx([0, -1 / 4, 0], abs=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_any_place_of_the_single_rating(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 6, size=(7, 3)).tolist()
    for _ in range(1 + seed % 3):
        place = int(rng.integers(7))
        rows = [
            [*row, int(rng.integers(1, 6)) if i == place else None] for i, row in enumerate(rows)
        ]
    rest = [kappa(rows[:i] + rows[i + 1 :], lambda x, y: (x - y) ** 2) for i in range(7)]
    assert jackknife(rows, "interval") == pytest.approx([float(x) for x in rest], abs=1e-12)


@pytest.mark.parametrize("scale", [1, 10**9])
def test_a_rater_with_two_ratings_stays(scale):
    rows = numbers("1 2 2 / 1 1 3 / 3 3 . / 2 3 . / 1 2 .")
    rest = [kappa(rows[:i] + rows[i + 1 :], lambda x, y: abs(x - y)) for i in range(5)]
    rows = [[x and scale * x for x in row] for row in rows]
    assert jackknife(rows, "linear") == pytest.approx([float(x) for x in rest], abs=1e-13)


@pytest.mark.parametrize("text_of_rows", ["a b b a / a a b a / b b a b / a b a a / b b b a", ROWS])
def test_without_each_rater(text_of_rows):
    rows = text(text_of_rows)
    agreement = sa.conger_kappa(annotations(rows), distance="nominal")
    rest = [kappa([row[:g] + row[g + 1 :] for row in rows], differ) for g in range(len(rows[0]))]
    found = sa.jackknife(agreement, over="raters").values.tolist()
    assert found == pytest.approx([float(x) for x in rest], abs=1e-14)


ERRORS = ("krippendorff_alpha", "fleiss_kappa", "gwet_ac", "brennan_prediger", "percent_agreement")


def scored(rows, coefficient):
    """Return the agreement of a study by itself, whose possible values are those of "abc"."""
    lists = COEFFICIENTS[coefficient].model.lists_values
    options = {"categories": sets_of("abc")} if lists else {}
    return getattr(sa, coefficient)(annotations(rows), distance="masi", **options)


def deviations(agreement):
    """Return what each unit contributes to the standard error, whose squares add up to its own."""
    n = len(agreement.influence)
    return (agreement.influence - agreement.influence.mean()) / math.sqrt(n * (n - 1))


@pytest.mark.parametrize("in_blocks", [False, True])
@pytest.mark.parametrize("coefficient", ERRORS)
def test_errors_without_each_rater(coefficient, in_blocks, monkeypatch):
    """The change of a coefficient has the error of the units' differences of linearised values."""
    if in_blocks:
        monkeypatch.setattr(parts_module, "_MAX_DENSE_VALUES", 0)
        monkeypatch.setattr(parts_module, "BLOCK_ENTRIES", 40)
    rng = np.random.default_rng(12)
    rows = random_rows(rng, sets_of("abc"), units=20, raters=5, missing=0.3)
    whole = scored(rows, coefficient)
    codes, n_raters = whole.study.rater_codes, whole.study.n_raters
    of_change, is_lost = RaterParts(whole.sums, codes, n_raters).errors()
    assert not is_lost.any()
    for code, rater in enumerate(whole.study.raters):
        g = int(rater.removeprefix("r"))
        rest = scored([[*row[:g], None, *row[g + 1 :]] for row in rows], coefficient)
        change = deviations(rest).sub(deviations(whole), fill_value=0)
        assert of_change[code] == pytest.approx(math.sqrt((change**2).sum()), rel=1e-9)


@pytest.mark.parametrize("coefficient", [*ERRORS, "conger_kappa"])
def test_parts_are_studies_of_their_own(coefficient):
    rng = np.random.default_rng(13)
    rows = random_rows(rng, sets_of("abc"), units=24, raters=4, missing=0.3)
    whole = scored(rows, coefficient)
    study, tally = whole.study, whole.tally.unit_rows()
    if whole.definition.model.needs_raters:
        codes = study.unit_codes, study.rater_codes, study.value_codes
        tally = replace(tally, given=Given.of_answers(study.raters, *codes))
    sums = UnitSums(Case(tally, whole.weights, whole.case.distance), whole.definition.model)
    part = np.array([int(unit.removeprefix("u")) % 3 for unit in study.units])
    found = Parts(sums, part, 3).estimates()
    for k in range(3):
        alone = scored(rows[k::3], coefficient)
        assert found.estimate[k] == pytest.approx(alone.estimate, rel=1e-12)
        assert found.standard_error[k] == pytest.approx(alone.standard_error, rel=1e-10)
        assert found.observed[k] == pytest.approx(alone.observed_disagreement, rel=1e-12)
        assert found.counted[k] == len(alone.influence)
        assert found.undefined[k] is None
