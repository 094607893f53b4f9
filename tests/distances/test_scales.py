"""Distances between numbers."""

import pickle

import numpy as np
import pytest
import reference

import setagree as sa
from setagree.distances.scales import SCALE_DISTANCES
from setagree.errors import DistanceError

NUMBERS = [0, 1, 2, 3.5, 7, 12]
WHOLE_SCALE = {"ordinal", "ordinal_gwet", "bipolar", "circular"}
every_distance = pytest.mark.parametrize("distance", SCALE_DISTANCES, ids=lambda d: d.name)


@every_distance
def test_pairs_of_numbers_equal_the_formula(distance):
    formula = reference.scale_distances([NUMBERS])[distance.name]
    if distance.name in WHOLE_SCALE:
        with pytest.raises(DistanceError, match=f"'{distance.name}' depends on the whole scale"):
            distance(1, 2)
        return
    for x in NUMBERS:
        for y in NUMBERS:
            if x or y:
                assert distance(x, y) == pytest.approx(
                    float(np.float64(formula_value(formula, x, y)))
                )
    assert distance(0, 0) == 0


def formula_value(formula, x, y):
    """Evaluate a formula on halves as well, which fractions hold exactly."""
    return formula(reference.Fraction(x), reference.Fraction(y))


@every_distance
def test_the_study_gives_the_scale(distance):
    rows = [[0, 0, 1], [2, 7, None], [12, 12, 7], [2, 2, 1], [3, None, None]]
    study = sa.Annotations.from_triples(
        [(g, i, x) for i, row in enumerate(rows) for g, x in enumerate(row) if x is not None],
        kind="value",
    )
    formula = reference.scale_distances(rows)[distance.name]
    frame = sa.weights(study, distance).to_frame(distance=True)
    for x in study.values:
        for y in study.values:
            expected = float(formula(x, y)) if x != y else 0
            assert frame.loc[str(x), str(y)] == pytest.approx(expected, rel=1e-12), (x, y)


# By hand. Krippendorff 2011: ratio ((x-y)/(x+y))²; on hours 0 to 23, U = 24, 6 hours apart
# sin²(pi/4) = 1/2; bipolar on 1..5: (1-2)² / ((1+2-2)(10-1-2)) = 1/7.
BY_HAND = [
    ("interval", [1, 4], 1, 4, 9),
    ("quadratic", [1, 4], 1, 4, 9),
    ("linear", [1, 4], 1, 4, 3),
    ("radical", [1, 5], 1, 5, 2),
    ("ratio", [1, 3], 1, 3, 1 / 4),
    ("circular", [0, 6, 12, 23], 0, 6, 1 / 2),
    ("circular", [0, 6, 12, 23], 0, 23, np.sin(np.pi / 24) ** 2),
    ("bipolar", [1, 2, 5], 1, 2, 1 / 7),
    ("bipolar", [1, 2, 5], 1, 5, 1),
    ("ordinal_gwet", [1, 10, 1000], 1, 1000, 3),
    ("ordinal_gwet", [1, 10, 1000], 10, 1000, 1),
]


@pytest.mark.parametrize(("name", "used", "x", "y", "expected"), BY_HAND)
def test_values_by_hand(name, used, x, y, expected):
    study = sa.Annotations.from_triples(
        [(g, i, v) for g in "ab" for i, v in enumerate(used)], kind="value"
    )
    frame = sa.weights(study, name).to_frame(distance=True)
    assert frame.loc[str(x), str(y)] == pytest.approx(expected)
    assert frame.loc[str(y), str(x)] == pytest.approx(expected)


def test_ordinal_is_the_rank_mass_between():
    rows = [[1, 2, 2], [1, 2, 2], [9, 5, None]]
    study = sa.Annotations.from_triples(
        [(g, i, x) for i, row in enumerate(rows) for g, x in enumerate(row) if x is not None],
        kind="value",
    )
    frame = sa.weights(study, "ordinal").to_frame(distance=True)
    assert frame.loc["1", "2"] == (2 / 2 + 4 / 2) ** 2
    assert frame.loc["1", "5"] == (2 / 2 + 4 + 1 / 2) ** 2
    assert frame.loc["1", "9"] == (2 / 2 + 4 + 1 + 1 / 2) ** 2


def test_lone_ratings_have_no_rank_mass():
    pairs = [("a", 1, 1), ("b", 1, 3), ("a", 2, 3), ("b", 2, 1)]
    lone = [("a", 9, 2)]
    with_lone, without = (
        sa.weights(sa.Annotations.from_triples(rows, kind="value"), "ordinal").to_frame(
            distance=True
        )
        for rows in (pairs + lone, pairs)
    )
    assert with_lone.loc["1", "3"] == without.loc["1", "3"] == 4


def test_quadratic_is_interval():
    assert sa.distances.quadratic(2, 9) == sa.distances.interval(2, 9) == 49


@every_distance
def test_scale_distances_are_unbounded_documented_and_pickled(distance):
    assert not distance.bounded
    assert repr(distance) == f"<ScaleDistance {distance.name!r}>"
    assert len(distance.__doc__) > 20
    assert pickle.loads(pickle.dumps(distance)).name == distance.name  # noqa: S301
    assert getattr(sa.distances, distance.name) is distance
