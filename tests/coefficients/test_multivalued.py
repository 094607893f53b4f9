"""mv-alpha: the chance model that redraws labels, in polynomial time and by enumeration."""

import math
import re
import tracemalloc
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
    check_ways,
    label_ways,
    redrawn_disagreement,
    size_function,
)
from setagree.distances import get_distance
from setagree.errors import CostError, DataError, DistanceError
from setagree.scoring.coefficients import get_coefficient
from setagree.scoring.scorer import Scorer

SIZE_DISTANCES = [n for n, d in reference.SET_DISTANCES.items() if n != "nominal"]


def score(rows, distance="dice"):
    return Scorer(annotations(rows)).score(get_coefficient("mv_alpha"), get_distance(distance))


def totals_of(pool):
    """Return the distinct sets of a pool, and how often each occurs."""
    values = tuple(dict.fromkeys(pool))
    return values, np.array([pool.count(A) for A in values], dtype=float)


@pytest.mark.slow
@pytest.mark.parametrize("distance", ["nominal", *SIZE_DISTANCES])
@settings(max_examples=20)
@given(pool=st.lists(st.sampled_from(sets_of("abcde")), min_size=1, max_size=8))
def test_expected_disagreement_by_enumeration(distance, pool):
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


def exact_ways(n, top):
    """Multiply out prod (1 + n x + n (n - 1) z) in whole numbers, x to 2 top and z to top."""
    V = {(0, 0): 1}
    for count in n:
        out = dict(V)
        for (m, i), c in V.items():
            for key, factor in (((m + 1, i), count), ((m, i + 1), count * (count - 1))):
                if key[0] <= 2 * top and key[1] <= top:
                    out[key] = out.get(key, 0) + c * factor
        V = out
    return V


def mean_distance(n, s, t, d):
    """Return E_st in exact fractions, by V; 0 where no such sets can be drawn."""
    V = exact_ways(n, max(s, t))
    i = range(min(s, t) + 1)
    ways = [math.comb(s + t - 2 * k, s - k) * V.get((s + t - 2 * k, k), 0) for k in i]
    total = sum(w * d(k) for k, w in zip(i, ways, strict=True))
    return total / Fraction(sum(ways) or 1)


@pytest.mark.parametrize("n", [[3], [1, 1, 1], [5, 2, 7, 1, 40], [1000, 3, 999, 10_000, 1, 2, 77]])
@pytest.mark.parametrize("top", [0, 1, 3, 4])
def test_two_variables_are_enough(n, top):
    """W(p, q, i) = (p + q)! / (p! q!) V(p + q, i), in whole numbers."""
    V = exact_ways(n, top)
    for (p, q, i), c in exact_coefficients(n, top).items():
        assert c == math.comb(p + q, p) * V.get((p + q, i), 0)


@pytest.mark.parametrize("n", [[3], [1, 1, 1], [5, 2, 7, 1, 40], [1000, 3, 999, 10_000, 1, 2, 77]])
@pytest.mark.parametrize("top", [0, 1, 3, 4, 9])
def test_ways_are_exact(n, top):
    """Every V(m, i) has thirteen digits of the exact polynomial, and what it lacks is 0."""
    V, power = label_ways(np.array(n, dtype=float), top)
    exact = exact_ways(n, top)
    assert V.shape == (min(2 * top, len(n)) + 1, min(top, len(n)) + 1)
    for m, i in np.ndindex(V.shape):
        mine = Fraction(float(V[m, i])) * Fraction(2) ** int(power[m, i]) if V[m, i] else 0
        assert float(abs(mine - exact.get((m, i), 0))) <= 1e-13 * exact.get((m, i), 0)


def test_hundreds_of_labels_stay_finite():
    """300 labels used thousands of times, sets to 10: right at size 1 against 1.

    For singletons E = 1 - sum n_c (n_c - 1) / (N (N - 1)), the nominal chance of distinct draws.
    """
    n = np.random.default_rng(0).integers(1, 5_000, size=300).astype(float)
    V, power = label_ways(n, 10)
    assert np.isfinite(V).all()
    assert (V >= 0).all()
    equal, unequal = (math.ldexp(V[at], int(power[at])) for at in ((0, 1), (2, 0)))
    N = n.sum()
    share = float((n * (n - 1)).sum() / (N * N - (n * n).sum() + (n * (n - 1)).sum()))
    assert equal / (equal + 2 * unequal) == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize(
    ("sizes", "totals"),
    [
        ([(0, 8), (4, 8), (10, 5), (2, 30), (20, 1)], [900, 3, 17, 1, 450]),
        ([(0, 40), (20, 40), (50, 10), (59, 1)], [1, 2, 1, 30_000]),
        ([(0, 60), (0, 1)], [2, 10**9]),
    ],
)
def test_large_sets_agree_with_exact_arithmetic(sizes, totals):
    """De of sets of 1 to 60 of 60 labels has twelve digits of the exact fraction.

    In the last, ways to draw two sets span hundreds of orders of magnitude.
    """
    values = tuple(frozenset(range(start, start + size)) for start, size in sizes)
    n = {}
    for value, total in zip(values, totals, strict=True):
        for label in value:
            n[label] = n.get(label, 0) + total
    N, expected = sum(totals), Fraction(0)
    for A, one in zip(values, totals, strict=True):
        for B, two in zip(values, totals, strict=True):
            s, t = len(A), len(B)
            dice = [1 - Fraction(2 * k, s + t) for k in range(min(s, t) + 1)]
            share = Fraction(one * two, N**2)
            expected += share * mean_distance(list(n.values()), s, t, dice.__getitem__)
    function = size_function(get_distance("dice"))
    actual = redrawn_disagreement(values, np.array(totals, dtype=float), function)
    assert actual == pytest.approx(float(expected), rel=1e-12)


def test_equal_labels_are_drawn_at_random():
    """Labels used alike: how many labels two s-sets share is in closed form, at any size.

    With n_c = 2 for all L labels, sharing i of them weighs C(s, i) C(L - s, s - i) 2^(s - i): the
    first set is any, each label of the second weighs 2, or 1 where the first has it. 400 labels,
    sets of 200: the terms span 10^100, W itself 10^400.
    """
    L, s = 400, 200
    weights = [math.comb(s, i) * math.comb(L - s, s - i) * 2 ** (s - i) for i in range(s + 1)]
    mean = Fraction(sum(i * w for i, w in enumerate(weights)), sum(weights))
    values = frozenset(range(s)), frozenset(range(s, L))
    actual = redrawn_disagreement(values, np.array([2.0, 2.0]), lambda _a, _b, i: i)
    assert actual == pytest.approx(float(mean), rel=1e-12)


def test_memory_follows_the_sizes():
    rng = np.random.default_rng(3)
    rows = [
        [frozenset(rng.choice(300, rng.integers(1, 301), replace=False).tolist()) for _ in "abc"]
        for _ in range(200)
    ]
    scorer = Scorer(annotations(rows))
    case = scorer.case(get_distance("dice"))
    assert np.isfinite(case.disagreement).all()
    tracemalloc.start()
    estimate = scorer.score(get_coefficient("mv_alpha"), get_distance("dice")).estimate
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert abs(estimate) < 0.1
    assert peak < 40e6


def test_what_would_take_minutes_is_refused():
    values = (frozenset(range(5_000)), frozenset(range(2_500)))
    with pytest.raises(CostError, match=r"up to 5,000 of 5,000 labels would take about") as caught:
        redrawn_disagreement(values, np.ones(2), size_function(get_distance("dice")))
    passes = int(re.search(r"Sets of up to (\d+) labels pass", str(caught.value))[1])
    assert passes > 100
    check_ways(5_000, passes)
    with pytest.raises(CostError, match="use krippendorff_alpha"):
        check_ways(5_000, passes + 1)


@pytest.mark.parametrize("distance", ["nominal", *SIZE_DISTANCES])
def test_singletons_equal_nominal_alpha(distance):
    labels = [frozenset(label) for label in "abcd"]
    rows = random_rows(np.random.default_rng(2), labels, units=10, raters=3, missing=0.2)
    alpha = Scorer(annotations(rows)).score(
        get_coefficient("krippendorff_alpha"), get_distance("nominal")
    )
    assert score(rows, distance).estimate == pytest.approx(alpha.estimate, rel=1e-12)


def test_a_table_of_counts_is_enough():
    table = pd.DataFrame({"a, b": [2, 0], "b": [1, 2], "": [0, 1]})
    whole = sa.mv_alpha(sa.Tally.from_counts(table))
    assert whole.estimate == pytest.approx(score(text("ab ab b / b b {}")).estimate, rel=1e-12)
    assert math.isfinite(sa.mv_alpha(sa.Tally.from_counts(table + 0.25)).estimate)


def test_no_standard_error():
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
        ("a b", "only one unit has two ratings"),
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
    with pytest.raises(DataError, match=r"mv_alpha redraws labels .* Use krippendorff_alpha"):
        sa.mv_alpha(annotations(numbers("1 2 / 2 2")))
    study = annotations(text("a b / a a"))
    for distance in (lambda x, y: float(x != y), sa.distances.taxonomy({})):
        with pytest.raises(
            DistanceError, match=r"mv_alpha requires a distance of \|A\|, \|B\| and"
        ):
            sa.mv_alpha(study, distance=distance)
    with pytest.raises(TypeError, match="is not a function of set sizes"):
        size_function(sa.distances.taxonomy({}))


def test_large_sets_beside_frequent_labels():
    counts = np.array([1e4] * 5 + [1.0] * 100 + [2.0] * 100)
    V, _ = label_ways(counts, 100)
    assert np.isfinite(V).all()
    for i in range(101):
        # 105 labels are used twice or more: as many as are to be shared.
        assert V[200 - 2 * i, i] > 0
