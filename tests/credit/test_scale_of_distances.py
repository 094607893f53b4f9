"""The unit in which an unbounded distance, or a number, is measured changes no coefficient."""

from functools import cache
from itertools import chain, combinations

import numpy as np
import pytest
from small_studies import annotations, random_rows, sets_of

import setagree as sa
from setagree.coefficients.sums import UnitSums
from setagree.distances import get_distance
from setagree.errors import DistanceError
from setagree.scoring.coefficients import COEFFICIENTS, get_coefficient
from setagree.scoring.scorer import Scorer

SCALES = [1e-8, 1e-149, 1e8, 1e140]
# By subsets the sums cancel a little; all other sums are shorter.
CLOSE = {"rel": 1e-9, "abs": 1e-12}


def hamming(scale):
    """Return hamming in another unit, of a kind that takes the fast road."""
    return sa.OverlapDistance(
        lambda a, b, i: scale * (a + b - 2 * i), name="scaled hamming", bounded=False
    )


def called(scale):
    """Return the same as a function that is called on two sets."""
    return sa.CallableDistance(lambda A, B: scale * len(A ^ B), name="scaled", bounded=False)


def figures(rows, coefficient, distance):
    """Return all that a unit must not change: figures, and estimates without each unit."""
    entry = COEFFICIENTS[coefficient]
    scorer = Scorer(rows if isinstance(rows, sa.Annotations) else annotations(rows))
    result = scorer.score(get_coefficient(coefficient), distance)
    assert result.reason is None
    parts = [result.estimate, result.observed_agreement, result.expected_agreement]
    parts += [] if coefficient == "mv_alpha" else [result.standard_error]
    parts += list(result.sums.linearised.values)
    case = scorer.case(distance, listed=entry.model.lists_values)
    without = UnitSums(case, entry.model).without_units()
    return [*parts, *([] if without is None else without)]


def drawn(answers, coefficient):
    """Draw a small study with holes where the coefficient bears them."""
    two = COEFFICIENTS[coefficient].raters == "two"
    rng = np.random.default_rng(3)
    return random_rows(rng, answers, units=25, raters=2 if two else 3, missing=0 if two else 0.2)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_sets_under_hamming(coefficient, scale):
    rows = drawn(sets_of("abcd"), coefficient)
    expected = figures(rows, coefficient, get_distance("hamming"))
    assert figures(rows, coefficient, hamming(scale)) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("scale", [1, *SCALES])
@pytest.mark.parametrize("coefficient", [name for name in COEFFICIENTS if name != "mv_alpha"])
def test_sets_under_a_function(coefficient, scale):
    rows = drawn(sets_of("abcd"), coefficient)
    expected = figures(rows, coefficient, get_distance("hamming"))
    assert figures(rows, coefficient, called(scale)) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("distance", ["interval", "linear", "ratio", "bipolar", "radical"])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("coefficient", [name for name in COEFFICIENTS if name != "mv_alpha"])
def test_numbers(coefficient, scale, distance):
    """Metres or nanometres: the numbers in another unit give the same."""
    rows = drawn([0.0, 1.0, 2.0, 5.0, 9.0], coefficient)
    scaled = [[None if x is None else scale * x for x in row] for row in rows]
    expected = figures(rows, coefficient, get_distance(distance))
    found = figures(scaled, coefficient, get_distance(distance))
    assert found == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("scale", [1e-8, 1e-149])
@pytest.mark.parametrize("coefficient", [name for name in COEFFICIENTS if name != "mv_alpha"])
def test_resamples(coefficient, scale):
    """Estimates of redrawn, reshuffled and left out units are the same in another unit."""
    study = annotations(drawn(sets_of("abcd"), coefficient))
    found = []
    for distance in (get_distance("hamming"), hamming(scale)):
        result = get_coefficient(coefficient)(study, distance=distance)
        redrawn = sa.bootstrap(result, n_resamples=40, rng=1).distribution
        shuffled = sa.permutation_test(result, n_resamples=40, rng=1).distribution
        found.append(np.concatenate([redrawn, shuffled, sa.jackknife(result).values]))
    assert np.isfinite(found[0]).all()
    assert found[1] == pytest.approx(found[0], **CLOSE)


@pytest.mark.parametrize("scale", [0.1, 1e-8, 1e8])
@pytest.mark.parametrize("coefficient", [name for name in COEFFICIENTS if name != "mv_alpha"])
def test_reshuffled_numbers(coefficient, scale):
    """Scores from 0 to 1 are reshuffled as those from 0 to 10 are: to the same p."""
    rows = drawn([0.0, 1.0, 2.0, 5.0, 9.0], coefficient)
    scaled = [[None if x is None else scale * x for x in row] for row in rows]
    tests = [
        sa.permutation_test(
            get_coefficient(coefficient)(annotations(each), distance="interval"),
            n_resamples=99,
            rng=1,
        )
        for each in (rows, scaled)
    ]
    assert tests[1].distribution == pytest.approx(tests[0].distribution, **CLOSE)
    assert tests[1].p_value == tests[0].p_value


def many_sets():
    """Draw 1,100 different sets of one to three of 40 labels, each given twice by two raters."""
    labels = [f"l{k}" for k in range(40)]
    small = chain.from_iterable(combinations(labels, size) for size in (1, 2, 3))
    sets = [frozenset(next(small)) for _ in range(1_100)]
    rng = np.random.default_rng(4)
    first, second = rng.permutation(len(sets)), rng.permutation(len(sets))
    second[::2] = first[::2]  # else nobody agrees, and a slip could hide in what is left of 0
    return annotations([[sets[k], sets[l]] for k, l in zip(first, second, strict=True)])


@pytest.fixture(scope="module")
def many():
    """Code them once."""
    return many_sets()


@cache
def unscaled(study, coefficient):
    return figures(study, coefficient, get_distance("hamming"))


# mv-alpha takes seconds to redraw these sets, which `test_sets_under_hamming` scales.
@pytest.mark.parametrize(
    ("coefficient", "scale"),
    [(c, 1e8) for c in COEFFICIENTS if c != "mv_alpha"]
    + [(c, s) for c in ("krippendorff_alpha", "conger_kappa") for s in (1e-8, 1e-150)],
)
def test_many_sets(many, coefficient, scale):
    distance = hamming(scale)
    weights = Scorer(many).case(distance, listed=False).weights
    assert weights.algorithms.of(1).codes.size == len(many.values)  # all of them go by subsets
    expected = unscaled(many, coefficient)
    assert figures(many, coefficient, distance) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("scale", [1e-151, 1e151])
def test_beyond_what_is_promised(scale):
    rows = drawn(sets_of("ab"), "krippendorff_alpha")
    for distance in (hamming(scale), called(scale)):
        with pytest.raises(DistanceError, match=r"1e-150 and 1e\+150"):
            figures(rows, "krippendorff_alpha", distance)


PAIRS = [(1, 2), (2, 2), (3, 3), (4, 5), (5, 5), (1, 1), (2, 4)]


TRIPLES = [(g, i, x) for i, pair in enumerate(PAIRS) for g, x in zip("xy", pair, strict=True)]


def numbers(triples):
    return sa.Annotations.from_triples(triples, kind="value")


@pytest.mark.parametrize("outlier", [10**6, 10**8, 10**12])
@pytest.mark.parametrize("distance", ["interval", "linear", "ratio", "ordinal"])
def test_lone_outlier(outlier, distance):
    plain = sa.krippendorff_alpha(numbers(TRIPLES), distance=distance)
    beside = sa.krippendorff_alpha(numbers([*TRIPLES, ("x", 99, outlier)]), distance=distance)
    assert beside.estimate == pytest.approx(plain.estimate, abs=1e-12)
    assert beside.standard_error == pytest.approx(plain.standard_error, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-12, 1e-7, 1.0, 1e7])
def test_scale_of_a_callback(scale):
    alpha = sa.krippendorff_alpha(numbers(TRIPLES), distance=lambda x, y: scale * (x - y) ** 2)
    # 13/16 by hand: Do = 6/7, De = 32/7 (14 ratings, n'Dn = 832).
    assert alpha.estimate == pytest.approx(0.8125, abs=1e-12)
    plain = sa.krippendorff_alpha(numbers(TRIPLES), distance="interval")
    assert alpha.standard_error == pytest.approx(plain.standard_error, rel=1e-9)


def test_by_hand():
    alpha = sa.krippendorff_alpha(numbers(TRIPLES), distance="interval")
    values = np.array([x for pair in PAIRS for x in pair], dtype=float)
    within = np.mean([(a - b) ** 2 for a, b in PAIRS])
    between = ((values[:, None] - values) ** 2).sum() / (len(values) * (len(values) - 1))
    assert alpha.estimate == pytest.approx(1 - within / between, abs=1e-14)


@pytest.mark.parametrize("distance", ["interval", "linear"])
def test_large_whole_numbers(distance):
    """A shift by 2**60 changes nothing for numbers beyond 2**53 that are doubles."""
    values = [256 * k for k in (10, 13, 21, 21, 33, 35, 52, 49)]
    cells = [(rater, unit) for unit in "abcd" for rater in "xy"]
    near, far = (
        numbers([(g, u, shift + v) for (g, u), v in zip(cells, values, strict=True)])
        for shift in (0, 2**60)
    )
    one, two = (sa.krippendorff_alpha(s, distance=distance).estimate for s in (near, far))
    assert one == pytest.approx(two, abs=1e-13)
