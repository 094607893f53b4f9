"""mv-alpha: the chance model that redraws labels, in polynomial time and by enumeration."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from small_studies import annotations, numbers, random_rows, sets_of, text

import setagree as sa
from setagree.coefficients.multivalued import (
    pair_coefficients,
    redrawn_disagreement,
    size_function,
)
from setagree.distances import get_distance
from setagree.errors import DataError, DistanceError
from setagree.scoring import Bench

SIZE_DISTANCES = [n for n, d in reference.SET_DISTANCES.items() if n != "nominal"]


def score(rows, distance="dice"):
    """Score without the door."""
    return Bench(annotations(rows)).score("mv_alpha", get_distance(distance))


def totals_of(pool):
    """Return the distinct sets of a pool, and how often each occurs."""
    values = tuple(dict.fromkeys(pool))
    return values, np.array([pool.count(A) for A in values], dtype=float)


@pytest.mark.parametrize("distance", ["nominal", *SIZE_DISTANCES])
@settings(max_examples=20, deadline=None)
@given(pool=st.lists(st.sampled_from(sets_of("abcde")), min_size=1, max_size=8))
def test_expected_disagreement_by_enumeration(distance, pool):
    """De equals the omega sums over all pairs of subsets of the used labels."""
    d = reference.SET_DISTANCES[distance]
    shares = {s: Fraction(sum(len(A) == s for A in pool), len(pool)) for s in map(len, pool)}
    expected = sum(
        P_s * P_t * reference.redrawn(pool, s, t, d)
        for s, P_s in shares.items()
        for t, P_t in shares.items()
    )
    function = size_function(get_distance(distance))
    actual = redrawn_disagreement(*totals_of(pool), function)
    assert actual == pytest.approx(float(expected), rel=1e-11, abs=1e-13)


def exact_coefficients(n, top):
    """Multiply out prod (1 + n x + n y + n (n - 1) z) in whole numbers, up to a size."""
    W = {(0, 0, 0): 1}
    for count in n:
        out = dict(W)
        for (p, q, i), c in W.items():
            for step, factor in (
                ((1, 0, 0), count),
                ((0, 1, 0), count),
                ((0, 0, 1), count * (count - 1)),
            ):
                key = (p + step[0], q + step[1], i + step[2])
                if max(key) <= top:
                    out[key] = out.get(key, 0) + c * factor
        W = out
    return W


@pytest.mark.parametrize("n", [[3], [1, 1, 1], [5, 2, 7, 1, 40], [1000, 3, 999, 10_000, 1, 2, 77]])
@pytest.mark.parametrize("top", [0, 1, 3, 4])
def test_coefficients_in_proportion(n, top):
    """All W(p, q, i) of one p + q + 2 i stand in the proportions of the exact polynomial."""
    W = pair_coefficients(np.array(n, dtype=float), top)
    exact = exact_coefficients(n, top)
    by_degree = {}
    for key, c in exact.items():
        by_degree.setdefault(key[0] + key[1] + 2 * key[2], {})[key] = c
    for terms in by_degree.values():
        total = sum(terms.values())
        mine = sum(W[key] for key in terms)
        for key, c in terms.items():
            if total:
                share = W[key] / mine
                assert share == pytest.approx(float(Fraction(c, total)), rel=1e-11, abs=1e-300)


def test_hundreds_of_labels_stay_finite():
    """300 labels used thousands of times, sets to 10: finite, and right at size 1 against 1.

    For singletons E = 1 - sum n_c (n_c - 1) / (N (N - 1)), the nominal chance of distinct draws.
    """
    n = np.random.default_rng(0).integers(1, 5_000, size=300).astype(float)
    W = pair_coefficients(n, 10)
    assert np.isfinite(W).all()
    assert (W >= 0).all()
    equal, unequal = W[0, 0, 1], W[1, 1, 0]
    N = n.sum()
    share = float((n * (n - 1)).sum() / (N * N - (n * n).sum() + (n * (n - 1)).sum()))
    assert equal / (equal + unequal) == pytest.approx(share, rel=1e-10)


def test_large_sets_of_many_labels_agree_with_exact_arithmetic():
    """60 labels, sets of 8: floating point keeps 9 digits of the exact mean overlap."""
    n = [int(k) for k in np.random.default_rng(1).integers(1, 900, size=60)]
    exact = exact_coefficients(n, 5)
    W = pair_coefficients(np.array(n, dtype=float), 5)
    for s, t in ((5, 5), (3, 5)):
        i = range(min(s, t) + 1)
        ways = [exact.get((s - k, t - k, k), 0) for k in i]
        mean = float(Fraction(sum(k * w for k, w in zip(i, ways, strict=True)), sum(ways)))
        mine = np.array([W[s - k, t - k, k] for k in i])
        assert float(mine @ np.arange(len(mine)) / mine.sum()) == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize("distance", ["nominal", *SIZE_DISTANCES])
def test_singletons_equal_nominal_alpha(distance):
    """With one label in every set mv-alpha is nominal alpha, whatever the distance."""
    labels = [frozenset(label) for label in "abcd"]
    rows = random_rows(np.random.default_rng(2), labels, units=10, raters=3, missing=0.2)
    alpha = Bench(annotations(rows)).score("krippendorff_alpha", get_distance("nominal"))
    assert score(rows, distance).estimate == pytest.approx(alpha.estimate, rel=1e-12)


def test_a_table_of_counts_is_enough():
    """mv-alpha needs no raters, and takes fractions of counts."""
    table = pd.DataFrame({"a, b": [2, 0], "b": [1, 2], "": [0, 1]})
    whole = sa.mv_alpha(sa.Tally.from_counts(table))
    assert whole.estimate == pytest.approx(score(text("ab ab b / b b {}")).estimate, rel=1e-12)
    assert math.isfinite(sa.mv_alpha(sa.Tally.from_counts(table + 0.25)).estimate)


def test_no_standard_error():
    """No analytic variance is known, so there is none, no interval, no p, no influence."""
    result = score(text("a ab / b b / a a"))
    assert math.isnan(result.standard_error)
    assert all(math.isnan(end) for end in result.interval())
    assert math.isnan(result.p_value)
    assert result.influence.empty


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("a a / a a", "only one value was used"),
        ("{} {} / {} {}", "only one value was used"),
        ("a . / . b", "no unit has two ratings"),
        ("a b", "there is only one unit"),
        ("{} ab / ab {}", None),
    ],
)
def test_undefined(rows, reason):
    """What cannot be corrected is nan with its reason; the empty set alone is one value."""
    result = score(text(rows), "overlap")
    assert result.reason == reason
    assert math.isnan(result.estimate) == (reason is not None)


def test_nested_answers_can_be_redrawn_apart():
    """Overlap of {a} and {a, b} is 0, but chance draws {a} against {b} as well: mv-alpha is 1.

    4 pairable sets, n_a = 4, n_b = 2, P_1 = P_2 = 1/2. Of two 1-sets {a}{a} weighs 12, {a}{b} and
    {b}{a} 8 each, {b}{b} 2: E_11 = 16/30. All other pairs are nested, so De = 1/4 x 8/15 = 2/15.
    """
    result = score(text("a ab / ab a"), "overlap")
    assert result.expected_disagreement == pytest.approx(2 / 15, abs=1e-15)
    assert result.estimate == 1


def test_refusals():
    """Scalars have no labels to redraw; other distances do not follow from the three counts."""
    with pytest.raises(DataError, match=r"mv_alpha redraws labels; .* use krippendorff_alpha"):
        sa.mv_alpha(annotations(numbers("1 2 / 2 2")))
    study = annotations(text("a b / a a"))
    for distance in (lambda x, y: float(x != y), sa.distances.taxonomy({})):
        with pytest.raises(DistanceError, match=r"mv_alpha needs a distance of \|A\|, \|B\| and"):
            sa.mv_alpha(study, distance=distance)
    with pytest.raises(TypeError, match="is no function of set sizes"):
        size_function(sa.distances.taxonomy({}))
