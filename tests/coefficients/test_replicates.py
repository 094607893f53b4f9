"""Every coefficient for many reweightings of the units, against the study with repeated units."""

import math

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from small_studies import annotations, random_rows, row_lists, sets_of, text

from setagree.coefficients.sums import UnitSums
from setagree.distances import ScaleDistance, distance_names, get_distance
from setagree.scoring.coefficients import COEFFICIENTS
from setagree.scoring.scorer import Scorer

PAIRS = [
    (coefficient, distance)
    for coefficient in COEFFICIENTS
    for distance in distance_names()
    if not (coefficient == "mv_alpha" and isinstance(get_distance(distance), ScaleDistance))
]


def reweighted(rows, coefficient, distance, unit_weights):
    """Return the estimates for weights of shape (B, n_units)."""
    entry = COEFFICIENTS[coefficient]
    case = Scorer(annotations(rows)).case(get_distance(distance), listed=entry.model.lists_values)
    M = np.asarray(unit_weights, dtype=float)
    if not entry.needs_raters:
        onto_patterns = np.eye(case.tally.n_patterns)[case.tally.unit_patterns]
        M = M @ onto_patterns
    return UnitSums(case, entry.model).reweighted(M)


def by_repetition(rows, coefficient, distance, unit_weights):
    """Return the same from the rows repeated, under the distance of the full study."""
    rows = [row for row in rows if any(x is not None for x in row)]
    on_scale = isinstance(get_distance(distance), ScaleDistance)
    known = reference.scale_distances(rows) if on_scale else reference.SET_DISTANCES
    d, values = known[distance], reference.values_of(rows)
    options = {"categories": values} if COEFFICIENTS[coefficient].model.lists_values else {}
    compute, d_max = reference.COEFFICIENTS[coefficient], reference.largest(values, d, distance)
    out = []
    for weights in unit_weights:
        repeated = [row for row, times in zip(rows, weights, strict=True) for _ in range(times)]
        found = compute(repeated, d, d_max, **options)
        lone = reference.is_lone(repeated, coefficient)
        out.append(math.nan if lone or found is None else float(found.estimate))
    return out


@pytest.mark.slow
@pytest.mark.parametrize(("coefficient", "distance"), PAIRS)
def test_every_pair(coefficient, distance):
    rng = np.random.default_rng(7)
    raters = 2 if COEFFICIENTS[coefficient].raters == "two" else 3
    on_scale = isinstance(get_distance(distance), ScaleDistance)
    answers = [0, 1, 3, 4, 8] if on_scale else sets_of("abc")
    rows = random_rows(rng, answers, units=6, raters=raters, missing=0.2)
    weights = [[1] * 6, *rng.multinomial(6, [1 / 6] * 6, size=3).tolist()]
    expected = by_repetition(rows, coefficient, distance, weights)
    actual = reweighted(rows, coefficient, distance, weights)
    assert actual.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@settings(max_examples=12)
@given(data=st.data())
def test_any_study_and_any_weights(coefficient, data):
    raters = 2 if COEFFICIENTS[coefficient].raters == "two" else 4
    rows = data.draw(row_lists(sets_of("ab"), units=5, raters=raters))
    n = len(reference.rated(rows))
    one = st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any)
    weights = data.draw(st.lists(one, min_size=1, max_size=4))
    expected = by_repetition(rows, coefficient, "dice", weights)
    actual = reweighted(rows, coefficient, "dice", weights)
    assert actual.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("coefficient", ["krippendorff_alpha", "conger_kappa", "fleiss_kappa"])
def test_undefined_replicates_are_nan(coefficient):
    rows = text("a a / b a / . b / a .")
    weights = [[1, 1, 1, 1], [2, 0, 0, 2], [0, 0, 3, 0], [0, 4, 0, 0]]
    actual = reweighted(rows, coefficient, "nominal", weights)
    expected = by_repetition(rows, coefficient, "nominal", weights)
    assert np.isnan(actual).tolist() == [False, True, True, False]
    assert actual.tolist() == pytest.approx(expected, abs=1e-12, nan_ok=True)
