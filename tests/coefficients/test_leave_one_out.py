"""Every coefficient without one unit, in closed form, against the study without it."""

import math

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from small_studies import annotations, random_rows, row_lists, sets_of, text

from setagree.coefficients.leave_one_out import estimates_without
from setagree.distances import ScaleDistance, distance_names, get_distance
from setagree.scoring.coefficients import COEFFICIENTS
from setagree.scoring.scorer import Scorer

KNOWN = [name for name in COEFFICIENTS if name != "mv_alpha"]
PAIRS = [(coefficient, distance) for coefficient in KNOWN for distance in distance_names()]


def without(rows, coefficient, distance):
    """Return the estimates without each unit, by the closed form."""
    entry = COEFFICIENTS[coefficient]
    case = Scorer(annotations(rows)).case(get_distance(distance), listed=entry.model.lists_values)
    found = estimates_without(case, entry.model)
    return found if entry.asks_who else found[case.tally.unit_patterns]


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
    """Every coefficient but mv-alpha can leave a unit out in closed form."""
    case = Scorer(annotations(text("a b / b b / a a"))).case(get_distance("dice"))
    open_forms = {
        name for name, entry in COEFFICIENTS.items() if estimates_without(case, entry.model) is None
    }
    assert open_forms == {"mv_alpha"}


@pytest.mark.parametrize(("coefficient", "distance"), PAIRS)
def test_every_pair(coefficient, distance):
    """For each coefficient and distance, the closed form is the study without the unit."""
    rng = np.random.default_rng(9)
    raters = 2 if COEFFICIENTS[coefficient].raters == "two" else 3
    answers = (
        [0, 1, 3, 4, 8] if isinstance(get_distance(distance), ScaleDistance) else sets_of("abc")
    )
    rows = random_rows(rng, answers, units=6, raters=raters, missing=0.2)
    expected = by_leaving_out(rows, coefficient, distance)
    actual = without(rows, coefficient, distance)
    assert actual.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("coefficient", KNOWN)
@settings(max_examples=15, deadline=None)
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
