"""From a distance to the operator that fits it."""

import re

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.credit import WeightBuilder
from setagree.credit.base import DenseWeights
from setagree.credit.build import mid_ranks
from setagree.credit.dense import WeightedJaccardWeights
from setagree.credit.overlap import (
    AbsoluteWeights,
    NominalWeights,
    OverlapWeights,
    PointWeights,
    SquaredWeights,
)
from setagree.distances import Distance, get_distance
from setagree.errors import DistanceError

SETS = WeightBuilder((frozenset("a"), frozenset("ab"), frozenset()), "labels", np.ones(3))
MANY = WeightBuilder(tuple(frozenset([k]) for k in range(300)), "labels", np.ones(300))
SCORES = WeightBuilder((1, 5, 2), "number", np.array([2.0, 1.0, 3.0]))
SCALE = WeightBuilder((*range(1, 18), 30), "number", np.ones(18))
WORDS = WeightBuilder(("low", "high"), "category", np.ones(2))
MATRIX = pd.DataFrame(1 - np.eye(3), index=["a", "a, b", ""], columns=["a", "a, b", ""])


@pytest.mark.parametrize(
    ("builder", "distance", "kind"),
    [
        (SETS, "nominal", NominalWeights),
        (SETS, "masi", DenseWeights),
        (MANY, "masi", OverlapWeights),
        (SETS, MATRIX, DenseWeights),
        (SETS, lambda x, y: float(x != y), DenseWeights),
        (SETS, sa.distances.weighted_jaccard({"a": 1, "b": 1}), WeightedJaccardWeights),
        (SETS, sa.distances.taxonomy({"a": "b"}), DenseWeights),
        (MANY, sa.distances.taxonomy({1: 0}), OverlapWeights),
        (SETS, sa.distances.transport(lambda x, y: 1), DenseWeights),
        (SCORES, "nominal", NominalWeights),
        (SCORES, "interval", DenseWeights),
        (SCORES, "ordinal_gwet", DenseWeights),
        (SCALE, "interval", SquaredWeights),
        (SCALE, "ordinal", SquaredWeights),
        (SCALE, "linear", AbsoluteWeights),
        (SCALE, "ratio", PointWeights),
        (SCALE, "ordinal_gwet", PointWeights),
        (WORDS, "nominal", NominalWeights),
        (WORDS, lambda x, y: float(x != y), DenseWeights),
    ],
)
def test_each_distance_has_its_operator(builder, distance, kind):
    weights = builder.build(get_distance(distance))
    assert isinstance(weights, kind)
    assert weights.values == builder.values


@pytest.mark.parametrize(
    ("builder", "distance", "sentence"),
    [
        (SCORES, "masi", "'masi' compares label sets; these values are one number each, such as 1"),
        (
            WORDS,
            "dice",
            "'dice' compares label sets; these values are one category each, such as 'l",
        ),
        (SETS, "interval", "'interval' compares numbers; these values are label sets"),
        (
            WORDS,
            "ordinal",
            "'ordinal' compares numbers; these values are categories, such as 'low'",
        ),
        (SCORES, sa.distances.taxonomy({}), "'taxonomy' compares label sets"),
        (SETS, Distance("bare"), "<Distance 'bare'> has no weights; derive from a known kind"),
    ],
)
def test_wrong_kinds(builder, distance, sentence):
    """A distance that does not compare such values is refused by its name, with a value."""
    with pytest.raises(DistanceError, match=sentence):
        builder.build(get_distance(distance))


def test_a_mixed_column_shows_what_is_no_number():
    mixed = WeightBuilder(("3", "2", "high"), "category", np.ones(3))
    with pytest.raises(DistanceError, match="these values are categories, such as 'high'"):
        mixed.build(get_distance("linear"))


def test_negative_amounts():
    with pytest.raises(DistanceError, match=r"'ratio' needs amounts of zero or more; .* is -0.5"):
        WeightBuilder((1, -0.5), "number", np.ones(2)).build(get_distance("ratio"))


@pytest.mark.parametrize("name", ["interval", "linear", "ratio", "bipolar", "radical", "circular"])
@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ((1e200, 3e200, 1), r"differences between 1e-150 and 1e\+150; .* from 1 to 3e\+200"),
        ((1e-200, 3e-200, 2e-200), r"differences between .* from 1e-200 to 3e-200"),
    ],
)
def test_numbers_that_double_precision_does_not_hold(name, values, sentence):
    builder = WeightBuilder(values, "number", np.ones(3))
    with pytest.raises(DistanceError, match=f"'{name}' .*{sentence}"):
        builder.build(get_distance(name))
    for by_rank in ("ordinal_gwet", "ordinal", "nominal"):
        assert builder.build(get_distance(by_rank)).n_values == 3


@pytest.mark.parametrize("name", ["ratio", "bipolar", "radical", "circular"])
@pytest.mark.parametrize("end", [1e160, 6e149])
def test_a_scale_too_wide_around_zero(name, end):
    wide = WeightBuilder((-end, end, 0.0), "number", np.ones(3))
    said = re.escape(f"between 1e-150 and 1e+150; the values go from {-end:g} to {end:g}.")
    with pytest.raises(DistanceError, match=said):
        wide.build(get_distance(name))
    study = sa.Annotations.from_triples(
        [("x", 1, -end), ("y", 1, end), ("x", 2, 0.0), ("y", 2, 0.0)], kind="value"
    )
    with pytest.raises(DistanceError, match=said):
        sa.krippendorff_alpha(study, distance=name)


def test_nothing_is_an_amount():
    weights = WeightBuilder((0, 3), "number", np.ones(2)).build(get_distance("ratio"))
    assert weights.distance_at(np.array([0]), np.array([1])).item() == 1


def test_the_greatest_difference():
    """A way of 1e150 itself is refused."""
    with pytest.raises(DistanceError, match=r"the values go from 0 to 1e\+150"):
        WeightBuilder((0.0, 1e150), "number", np.ones(2)).build(get_distance("radical"))


@pytest.mark.parametrize("name", ["bipolar", "radical", "circular"])
def test_a_scale_as_wide_as_it_may_be(name):
    fits = WeightBuilder((-4e149, 4e149, 0.0), "number", np.ones(3)).build(get_distance(name))
    assert np.isfinite(fits.distance_at(np.arange(3)[:, None], np.arange(3))).all()


@pytest.mark.parametrize("name", ["interval", "linear", "bipolar", "radical", "circular"])
@pytest.mark.parametrize("least", [1e-150, 1.01e-150])
def test_the_least_difference(name, least):
    """A difference of 1e-150 itself is refused, whichever of several it is; one above is served."""
    builder = WeightBuilder((0.0, 1e-120, 1e-120 + 1e-130, least), "number", np.ones(4))
    if least == 1e-150:
        with pytest.raises(DistanceError, match="needs differences between 1e-150"):
            builder.build(get_distance(name))
    else:
        weights = builder.build(get_distance(name))
        assert weights.distance_at(np.array([0]), np.array([3])).item() > 0


def test_geometry_is_made_once():
    one, two = MANY.build(get_distance("masi")), MANY.build(get_distance("dice"))
    assert one.geometry is two.geometry


def test_positions():
    """Ordinal sits at mid-ranks, Gwet's ordinal at ranks, interval at the values."""
    # counts 1: 2, 2: 3, 5: 1, hence mid-ranks 1, 2 + 1.5, 5 + 0.5
    for name, positions in {"ordinal": [1, 5.5, 3.5], "interval": [1, 5, 2]}.items():
        squared = np.subtract.outer(positions, positions) ** 2
        assert SCORES.build(get_distance(name)).distances.tolist() == squared.tolist()
    # ranks 0, 2, 1, and Gwet's (d + 1) d / 2 of ranks that are d apart
    found = SCORES.build(get_distance("ordinal_gwet")).distances
    assert found.tolist() == [[0, 3, 1], [3, 0, 1], [1, 1, 0]]


def test_mid_ranks_are_the_rank_mass():
    rng = np.random.default_rng(4)
    numbers = rng.permutation(np.array([-3.0, 0, 1, 2.5, 10, 40]))
    counts = rng.integers(0, 6, size=6).astype(float)
    ranks = mid_ranks(numbers, counts)
    for k in range(6):
        for l in range(6):
            low, high = sorted((numbers[k], numbers[l]))
            mass = counts[(numbers >= low) & (numbers <= high)].sum() - (counts[k] + counts[l]) / 2
            assert abs(ranks[k] - ranks[l]) == pytest.approx(mass if k != l else 0)
