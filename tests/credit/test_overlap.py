"""Weights of overlap distances: every road gives what the definition gives."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_studies import sets_of

import setagree as sa
from setagree.credit import base, geometry, overlap
from setagree.credit.geometry import SetGeometry
from setagree.credit.overlap import OverlapWeights, cheapest_size, check_overlap_function
from setagree.distances import OverlapDistance, get_distance
from setagree.distances.sets import SET_DISTANCES
from setagree.errors import DistanceError

# An unbounded distance of our own: its largest value is not where the sets are largest.
UNLIKE_SIZES = OverlapDistance(
    lambda a, b, i: np.abs(a - b) + 0.25 * ((a != i) | (b != i)), name="unlike sizes", bounded=False
)
SKEW = OverlapDistance(
    lambda a, b, i: (a + b - 2 * i) / (1 + a + b) ** 2, name="skew", bounded=False
)
EXPECTED = [*SET_DISTANCES, SKEW, UNLIKE_SIZES]
every_distance = pytest.mark.parametrize("distance", EXPECTED, ids=lambda d: d.name)

# The costs that send all sets one way, or the larger ones the other way.
ROADS = {
    "subsets": {"_PAIR_COST": 1e9, "_ENTRY_COST": 0.0, "_LEVEL_COST": 0.0},
    "blocks": {"_PAIR_COST": 0.0},
    "mixed": {"_PAIR_COST": 1.0, "_ENTRY_COST": 1.0, "_LEVEL_COST": 0.0},
}


def random_family(seed, n, labels, largest):
    """Draw distinct sets of up to `largest` of the labels, the empty set among them."""
    rng = np.random.default_rng(seed)
    family = {frozenset()}
    while len(family) < n:
        size = rng.integers(1, largest + 1)
        family.add(frozenset(rng.choice(labels, size=size, replace=False).tolist()))
    return tuple(sorted(family, key=lambda A: (len(A), sorted(A))))


FAMILIES = {
    "few labels": random_family(1, 40, 7, 6),
    "70 labels": random_family(2, 50, 70, 9),
    "250 labels": random_family(3, 30, 250, 10),
    "all subsets": tuple(sets_of("abcde")),
    "one": (frozenset("ab"),),
    "empty": (frozenset(),),
    "disjoint": tuple(frozenset([k]) for k in range(20)),
    "nested": tuple(frozenset(range(k)) for k in range(12)),
}
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


@cache
def definition(family, distance):
    """Return all distances, from the intersections that Python's sets have."""
    a = np.array([len(A) for A in family])[:, None]
    shared = np.array([[len(A & B) for B in family] for A in family])
    return np.asarray(distance.function(a + 0 * shared, a.T + 0 * shared, shared), dtype=float)


def road(monkeypatch, name, block=7):
    """Force one road, with blocks so small that many are needed."""
    for constant, cost in ROADS[name].items():
        monkeypatch.setattr(overlap, constant, cost)
    monkeypatch.setattr(base, "BLOCK", block)
    monkeypatch.setattr(geometry, "_PAIR_CHUNK", 11)


def weights_of(family, distance):
    """Make the weights of a family of sets."""
    return OverlapWeights(family, SetGeometry(family), distance)


def shares(weights):
    """Return how many sets go by subsets and how many by blocks."""
    return [len(part) for part in weights._split]


@pytest.mark.parametrize("name", ROADS)
@every_family
@every_distance
def test_every_road_equals_the_definition(monkeypatch, name, family, distance):
    """D @ x of one column and of many, and the sum of all distances, equal the dense D."""
    road(monkeypatch, name)
    weights, D = weights_of(family, distance), definition(family, distance)
    rng = np.random.default_rng(0)
    close = {"rel": 1e-10, "abs": 1e-10 * max(1, D.max())}
    for x in (rng.random(len(family)), rng.normal(size=(len(family), 5))):
        assert weights.distance_dot(x) == pytest.approx(D @ x, **close)
        assert weights.dot(x) == pytest.approx((1 - D / weights.max_distance) @ x, **close)
    assert weights.distance_total == pytest.approx(D.sum(), **close)
    assert weights.max_distance == (1 if distance.bounded else D.max() or 1)


@every_family
@every_distance
def test_single_pairs_equal_the_definition(monkeypatch, family, distance):
    """`at` and `distance_at` of any pairs of codes equal the dense matrices."""
    monkeypatch.setattr(geometry, "_PAIR_CHUNK", 11)
    weights, D = weights_of(family, distance), definition(family, distance)
    k, l = np.random.default_rng(1).integers(len(family), size=(2, 200))
    assert weights.distance_at(k, l) == pytest.approx(D[k, l], rel=1e-15)
    assert weights.at(k, l) == pytest.approx(1 - D[k, l] / weights.max_distance, rel=1e-14)


def test_the_roads_are_what_they_say(monkeypatch):
    """The costs do force the roads: all by subsets, none, or the small ones only."""
    family = FAMILIES["70 labels"]
    split = {}
    for name in ROADS:
        road(monkeypatch, name)
        split[name] = shares(weights_of(family, get_distance("masi")))
        monkeypatch.undo()
    assert split["subsets"] == [50, 0]
    assert split["blocks"] == [0, 50]
    assert min(split["mixed"]) > 5


@pytest.mark.parametrize("name", ROADS)
@settings(max_examples=25, deadline=None)
@given(
    family=st.lists(
        st.frozensets(st.integers(0, 80), max_size=9), min_size=1, max_size=25, unique=True
    ),
    distance=st.sampled_from(EXPECTED),
)
def test_any_family_on_any_road(name, family, distance):
    """The same for families that Hypothesis looks for."""
    with pytest.MonkeyPatch.context() as patch:
        road(patch, name, block=4)
        family = tuple(family)
        weights, D = weights_of(family, distance), definition(family, distance)
        x = np.arange(1.0, len(family) + 1)
        assert weights.distance_dot(x) == pytest.approx(D @ x, rel=1e-10, abs=1e-10)
        assert weights.max_distance == (1 if distance.bounded else D.max() or 1)


@pytest.mark.parametrize("name", ROADS)
def test_sets_with_equal_closures(monkeypatch, name):
    """Under a taxonomy different sets may have one closure; they are 0 apart on every road."""
    road(monkeypatch, name)
    parents = {"a": "x", "b": "x", "x": "top", "c": "top"}
    values = tuple(sets_of("abcx"))
    distance = sa.distances.taxonomy(parents)
    closed = [distance.close(A) for A in values]
    assert len(set(closed)) < len(values)
    weights = OverlapWeights(values, SetGeometry(closed), distance.inner)
    D = np.array([[distance(A, B) for B in values] for A in values])
    assert D[values.index(frozenset("a")), values.index(frozenset("ax"))] == 0
    x = np.random.default_rng(2).random((len(values), 3))
    assert weights.distance_dot(x) == pytest.approx(D @ x, rel=1e-12, abs=1e-12)
    every = np.arange(len(values))
    assert weights.block(every, every) == pytest.approx(D)


def test_large_sets_among_many_small_ones(monkeypatch):
    """Sets of 60 labels go by blocks, 2 and 3 labels by subsets, and together they are right."""
    monkeypatch.setattr(overlap, "_LEVEL_COST", 0.0)
    monkeypatch.setattr(overlap, "_PAIR_COST", 1e-7)
    small = random_family(4, 120, 30, 3)
    large = tuple(frozenset(range(k, k + 60)) for k in range(8))
    family = small + large
    weights = weights_of(family, get_distance("masi"))
    assert shares(weights) == [120, 8]
    x = np.random.default_rng(5).random(128)
    expected = definition(family, get_distance("masi")) @ x
    assert weights.distance_dot(x) == pytest.approx(expected, rel=1e-11)


def test_too_many_sizes_for_a_table(monkeypatch):
    """Where a table by sizes would be too large the function is called for each block."""
    monkeypatch.setattr(overlap, "_TABLE_LIMIT", 0)
    family = FAMILIES["250 labels"]
    weights, D = weights_of(family, UNLIKE_SIZES), definition(family, UNLIKE_SIZES)
    assert weights._table is None
    every = np.arange(len(family))
    assert weights.block(every, every).tolist() == D.tolist()
    assert weights.distance_at(every, every[::-1]).tolist() == D[every, every[::-1]].tolist()
    assert weights.max_distance == D.max()


@pytest.mark.parametrize(
    "distance", [UNLIKE_SIZES, SKEW, get_distance("hamming")], ids=lambda d: d.name
)
@pytest.mark.parametrize("seed", range(5))
def test_largest_of_an_unbounded_distance(distance, seed):
    """d_max is the largest distance among the values, wherever it is, also in families of 700."""
    family = random_family(seed, 700, 12, 8)
    rows = [np.array([len(A) for A in family])] * 2
    flags = np.array([[k in A for k in range(12)] for A in family], dtype=int)
    a, b = np.meshgrid(*rows, indexing="ij")
    assert (
        weights_of(family, distance).max_distance == distance.function(a, b, flags @ flags.T).max()
    )


def test_largest_where_all_distances_are_zero():
    """One value only: d_max is 1, for nothing may be divided by 0."""
    assert weights_of((frozenset("ab"),), get_distance("hamming")).max_distance == 1


class TestCheapestSize:
    """The size up to which sets go by subsets."""

    @pytest.fixture(autouse=True)
    def _costs(self, monkeypatch):
        """Fix the costs: 100 ns an entry, 6 ns a pair, 0.4 ms a level."""
        monkeypatch.setattr(overlap, "_ENTRY_COST", 1e-7)
        monkeypatch.setattr(overlap, "_PAIR_COST", 6e-9)
        monkeypatch.setattr(overlap, "_LEVEL_COST", 4e-4)

    def test_few_values_go_by_blocks(self):
        """Below a few thousand values blocks always win."""
        assert cheapest_size(np.full(200, 3), 1) == -1

    def test_many_small_sets_go_by_subsets(self):
        """50,000 sets of three labels have 400,000 subsets and 1.25 thousand million pairs."""
        assert cheapest_size(np.full(50_000, 3), 1) == 3

    def test_large_sets_stay_behind(self):
        """Among them, sets of 40 labels, with 2^40 subsets each, go by blocks."""
        sizes = np.concatenate([np.full(50_000, 3), np.full(10, 40)])
        assert cheapest_size(sizes, 1) == 3

    def test_memory_is_bounded(self, monkeypatch):
        """However cheap, no more than the allowed number of entries is made."""
        monkeypatch.setattr(overlap, "_ENTRY_COST", 0.0)
        sizes = np.concatenate([np.full(50_000, 3), np.full(2_000, 15)])
        assert overlap._MAX_ENTRIES < 2_000 * 2**15
        assert cheapest_size(sizes, 1) == 3

    def test_more_words_make_blocks_dearer(self):
        """1,000 sets of 4: 3 ms by blocks, 3.6 by subsets; over 8 words blocks take 24 ms."""
        sizes = np.full(1_000, 4)
        assert cheapest_size(sizes, 1) == -1
        assert cheapest_size(sizes, 8) == 4


class TestCheck:
    """An overlap function is tried before it is used."""

    def test_built_in_distances_pass(self):
        """No built-in distance is refused, at any size."""
        for distance in SET_DISTANCES:
            check_overlap_function(distance, np.arange(300))

    def test_only_possible_counts_are_tried(self):
        """The function never sees an intersection larger than a set."""
        seen = []

        def watched(a, b, i):
            seen.append(((i <= a) & (i <= b) & (i >= 0)).all())
            return 1.0 * ((a != i) | (b != i))

        check_overlap_function(OverlapDistance(watched, name="watched"), np.array([2, 6, 90]))
        assert len(seen) == 2
        assert all(seen)

    def test_a_rule_broken_beyond_the_sizes_in_use_does_not_matter(self):
        """With sets of at most 2 labels, what happens at 3 does not count."""
        late = OverlapDistance(lambda a, b, i: np.where(a == 3, -1.0, 0.0), name="late")
        check_overlap_function(late, np.array([1, 2]))
        with pytest.raises(DistanceError, match="is not negative"):
            check_overlap_function(late, np.array([1, 3]))

    def test_large_sets_are_tried_at_their_sizes(self):
        """A rule broken by the large sets of a study alone is seen, not turned into a number."""
        family = tuple(frozenset(range(k, k + 55)) for k in range(4))
        late = OverlapDistance(
            lambda a, b, i: np.where(a + b > 2 * i, 1 - (a > 50) * 2, 0), name="late"
        )
        with pytest.raises(DistanceError, match=r"is not negative; .* \|A\|=55"):
            weights_of(family, late)

    def test_a_naive_formula_is_refused_without_numpy_warnings(self):
        """1 - i / (a + b - i) is 0 / 0 between empty sets: one sentence, no RuntimeWarning."""
        naive = OverlapDistance(lambda a, b, i: 1 - i / (a + b - i), name="naive")
        with pytest.raises(DistanceError, match=r"'naive' gives nan for \|A\|=0, \|B\|=0"):
            check_overlap_function(naive, np.array([3]))
