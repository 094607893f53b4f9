"""Weights of overlap distances: every road gives what the definition gives."""

import dataclasses
from functools import cache
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_studies import sets_of

import setagree as sa
from setagree.credit import WeightBuilder, base, cost_model, geometry, overlap, subsets
from setagree.credit import subsets as subsets_module
from setagree.credit.base import DenseWeights
from setagree.credit.cost_model import CostModel, Plan
from setagree.credit.geometry import SetGeometry
from setagree.credit.overlap import OverlapWeights, check_overlap_function
from setagree.distances import OverlapDistance, get_distance
from setagree.distances.sets import SET_DISTANCES
from setagree.errors import CostError, DistanceError

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
FREE = dict.fromkeys(
    ["_RANKED_COST", "_LISTED_COST", "_LEVEL_COST", "_ENTRY_COLUMN", "_CELL_COLUMN"], 0.0
)
SUBSETS = {"_RANKED_COST": 1.0, "_LISTED_COST": 1.0}
ROADS = {
    "subsets": {**FREE, "_PAIR_COST": 1e9, "_TAIL_COST": 1e6},
    "tails": {**FREE, "_PAIR_COST": 1e9, "_RANKED_COST": 1e6, "_LISTED_COST": 1e6},
    "both": {**FREE, **SUBSETS, "_PAIR_COST": 1e9, "_TAIL_COST": 1.0},
    "blocks": {"_PAIR_COST": 0.0, "_WORD_COST": 0.0, "_PAIR_COLUMN": 0.0},
    "mixed": {**SUBSETS, "_LEVEL_COST": 0.0, "_PAIR_COST": 1.0, "_TAIL_COST": 1e6},
}


@cache
def random_family(seed, n, labels, largest):
    """Draw distinct sets of up to `largest` of the labels, the empty set among them."""
    rng = np.random.default_rng(seed)
    family = {frozenset()}
    while len(family) < n:
        size = rng.integers(1, largest + 1)
        family.add(frozenset(rng.choice(labels, size=size, replace=False).tolist()))
    return tuple(sorted(family, key=lambda A: (len(A), sorted(A))))


def zipf_family(n, labels, least, most, seed=6):
    """Draw distinct sets of labels whose frequencies follow Zipf's law."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, labels + 1)
    ends = np.cumsum(share / share.sum())
    family = set()
    while len(family) < n:
        size = rng.integers(least, most + 1)
        drawn = dict.fromkeys(np.searchsorted(ends, rng.random(3 * most)).tolist())
        family.add(frozenset(list(drawn)[:size]))
    return tuple(sorted(family, key=sorted))


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
        monkeypatch.setattr(cost_model, constant, cost)
    monkeypatch.setattr(cost_model, "_FREE_BYTES", 1e12)
    monkeypatch.setattr(cost_model, "_MOST_BYTES", 1e12)
    monkeypatch.setattr(cost_model, "_STEP_COST", np.inf)
    monkeypatch.setattr(overlap, "_PRODUCT_BLOCK_SIZE", 50)
    monkeypatch.setattr(subsets, "_ENTRY_BLOCK_SIZE", 50)
    monkeypatch.setattr(base, "BLOCK", block)
    monkeypatch.setattr(geometry, "_PAIR_CHUNK", 11)


def weights_of(family, distance):
    return OverlapWeights(family, SetGeometry(family), distance)


def shares(weights):
    """Return how many sets go by shared labels and how many by blocks."""
    n_shared = len(weights.algorithms.of(1).codes)
    return [n_shared, weights.n_values - n_shared]


@pytest.mark.slow
@pytest.mark.parametrize("name", ROADS)
@every_family
@pytest.mark.parametrize("distance", [*SET_DISTANCES[:2], SKEW, UNLIKE_SIZES], ids=lambda d: d.name)
def test_every_road_equals_the_definition(monkeypatch, name, family, distance):
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
    monkeypatch.setattr(geometry, "_PAIR_CHUNK", 11)
    weights, D = weights_of(family, distance), definition(family, distance)
    k, l = np.random.default_rng(1).integers(len(family), size=(2, 200))
    assert weights.distance_at(k, l) == pytest.approx(D[k, l], rel=1e-15)
    assert weights.at(k, l) == pytest.approx(1 - D[k, l] / weights.max_distance, rel=1e-14)


@every_family
@every_distance
def test_few_values_have_a_matrix(family, distance):
    weights = WeightBuilder(family, "labels", np.ones(len(family))).build(distance)
    D = definition(family, distance)
    assert isinstance(weights, DenseWeights)
    assert weights.distances == pytest.approx(D, rel=1e-15)
    assert weights.max_distance == (1 if distance.bounded else D.max() or 1)


@pytest.mark.parametrize(("n", "kind"), [(256, DenseWeights), (257, OverlapWeights)])
def test_both_sides_of_few_values(n, kind):
    family = random_family(18, n, 30, 6)
    weights = WeightBuilder(family, "labels", np.ones(n)).build(get_distance("masi"))
    assert isinstance(weights, kind)
    x = np.random.default_rng(19).random((n, 2))
    D = definition(family, get_distance("masi"))
    assert weights.distance_dot(x) == pytest.approx(D @ x, rel=1e-13)
    assert weights.squares(x[:, 0]) == pytest.approx(x[:, 0] @ D**2 @ x[:, 0], rel=1e-13)


def test_the_roads_are_what_they_say(monkeypatch):
    family = FAMILIES["70 labels"]
    in_several = int((SetGeometry(family).counts > 1).sum())
    found = {}
    for name in ROADS:
        road(monkeypatch, name)
        weights = weights_of(family, get_distance("masi"))
        found[name] = (*shares(weights), weights.algorithms.of(1).plan.n_heavy)
        monkeypatch.undo()
    assert found["subsets"][:2] == (50, 0)
    assert found["subsets"][2] >= in_several  # no two sets share a tail label
    assert found["tails"] == (50, 0, 0)
    assert found["both"][:2] == (50, 0)
    assert 0 < found["both"][2] < in_several
    assert found["blocks"][:2] == (0, 50)
    assert min(found["mixed"][:2]) > 5


@pytest.mark.parametrize("name", ROADS)
@settings(max_examples=25)
@given(
    family=st.lists(
        st.frozensets(st.integers(0, 80), max_size=9), min_size=1, max_size=25, unique=True
    ),
    distance=st.sampled_from(EXPECTED),
)
def test_any_family_on_any_road(name, family, distance):
    with pytest.MonkeyPatch.context() as patch:
        road(patch, name, block=4)
        family = tuple(family)
        weights, D = weights_of(family, distance), definition(family, distance)
        x = np.arange(1.0, len(family) + 1)
        assert weights.distance_dot(x) == pytest.approx(D @ x, rel=1e-10, abs=1e-10)
        assert weights.max_distance == (1 if distance.bounded else D.max() or 1)


@pytest.mark.parametrize("name", ROADS)
def test_sets_with_equal_closures(monkeypatch, name):
    road(monkeypatch, name)
    parents = {"a": "x", "b": "x", "x": "top", "c": "top"}
    values = tuple(sets_of("abcx"))
    distance = sa.distances.taxonomy(parents)
    closed = [distance.hierarchy.close(A) for A in values]
    assert len(set(closed)) < len(values)
    weights = OverlapWeights(values, SetGeometry(closed), sa.distances.jaccard)
    D = np.array([[distance(A, B) for B in values] for A in values])
    assert D[values.index(frozenset("a")), values.index(frozenset("ax"))] == 0
    x = np.random.default_rng(2).random((len(values), 3))
    assert weights.distance_dot(x) == pytest.approx(D @ x, rel=1e-12, abs=1e-12)
    every = np.arange(len(values))
    assert weights.block(every, every) == pytest.approx(D)


def test_large_sets_among_many_small_ones(monkeypatch):
    monkeypatch.setattr(cost_model, "_LEVEL_COST", 0.0)
    monkeypatch.setattr(cost_model, "_PAIR_COST", 1e-5)
    monkeypatch.setattr(cost_model, "_TAIL_COST", 1.0)
    small = random_family(4, 120, 30, 3)
    large = tuple(frozenset(range(k, k + 60)) for k in range(8))
    family = small + large
    weights = weights_of(family, get_distance("masi"))
    assert shares(weights) == [120, 8]
    x = np.random.default_rng(5).random(128)
    expected = definition(family, get_distance("masi")) @ x
    assert weights.distance_dot(x) == pytest.approx(expected, rel=1e-11)


REGIMES = {
    "few labels": lambda: random_family(11, 400, 10, 8),
    "10,000 labels": lambda: zipf_family(400, 10_000, 5, 20),
    "10 of 30": lambda: tuple(A for A in random_family(12, 3_000, 30, 10) if len(A) == 10),
    "10 of 64": lambda: tuple(A for A in random_family(13, 3_000, 64, 10) if len(A) == 10),
    "2 to 300": lambda: tuple(A for A in random_family(14, 300, 600, 300) if len(A) > 1),
    "disjoint": lambda: tuple(frozenset(range(5 * k, 5 * k + 5)) for k in range(300)),
    "nested": lambda: tuple(frozenset(range(k)) for k in range(200)),
    "hundreds of sizes": lambda: random_family(15, 300, 1_500, 1_000),
}


@cache
def dense(regime):
    """Return the sets of a regime, numbers for them, and the sum of distances under each."""
    family = REGIMES[regime]()
    flags = SetGeometry(family).flags.astype(int)
    shared = (flags @ flags.T).toarray()
    a = np.broadcast_to(np.array([len(A) for A in family])[:, None], shared.shape)
    x = np.random.default_rng(16).random(len(family))
    sums = [x @ np.asarray(d.function(a, a.T, shared), dtype=float) @ x for d in EXPECTED]
    return family, x, sums


PLANS = [None, Plan(12, 0), Plan(12, 4), Plan(12, 12), Plan(10_000, 0), Plan(10_000, 3)]


@pytest.mark.slow
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_the_chance_term_in_every_regime(monkeypatch, regime, plan):
    family, x, sums = dense(regime)
    made = SetGeometry(family)
    if plan is not None:
        monkeypatch.setattr(CostModel, "cheapest", lambda *_: plan)
    for distance, expected in zip(EXPECTED, sums, strict=True):
        # A plan is one way for all distances: two that have no symmetry show it.
        if plan is not None and distance not in {SKEW, UNLIKE_SIZES}:
            continue
        weights = OverlapWeights(family, made, distance)
        assert x @ weights.distance_dot(x) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("regime", "memory"), [("few labels", 1e12), ("10,000 labels", 0.0)])
def test_many_products(monkeypatch, regime, memory):
    monkeypatch.setattr(cost_model, "_FREE_BYTES", memory)
    monkeypatch.setattr(cost_model, "_BYTE_COST", 3e-6)
    monkeypatch.setattr(cost_model, "_PAIR_COST", 1.0)
    family = REGIMES[regime]()
    weights, D = weights_of(family, UNLIKE_SIZES), definition(family, UNLIKE_SIZES)
    rng = np.random.default_rng(17)
    kept = []
    for n_columns in (1, 2, 40, 1, 64):
        x = rng.random((len(family), n_columns))
        assert weights.distance_dot(x) == pytest.approx(D @ x, rel=1e-12)
        kept.append(weights.algorithms.of(n_columns).plan.keeps)
    assert kept == [memory > 0] * 5
    assert weights.squares(x[:, 0]) == pytest.approx(
        x[:, 0] @ (D / weights.max_distance) ** 2 @ x[:, 0], rel=1e-12
    )


def test_too_many_sizes_for_a_table(monkeypatch):
    monkeypatch.setattr(subsets_module, "_TABLE_LIMIT", 0)
    family = FAMILIES["250 labels"]
    # An intersection of one byte would turn -i into something else.
    negative = OverlapDistance(lambda a, b, i: -i + (a + b) / 2, name="negative", bounded=False)
    weights, D = weights_of(family, negative), definition(family, negative)
    assert weights.table.entries is None
    every = np.arange(len(family))
    assert weights.block(every, every).tolist() == D.tolist()
    assert weights.distance_at(every, every[::-1]).tolist() == D[every, every[::-1]].tolist()
    assert weights.max_distance == D.max()


@pytest.mark.parametrize(
    "distance", [UNLIKE_SIZES, SKEW, get_distance("hamming")], ids=lambda d: d.name
)
@pytest.mark.parametrize("seed", range(5))
def test_largest_of_an_unbounded_distance(distance, seed):
    family = random_family(seed, 700, 12, 8)
    rows = [np.array([len(A) for A in family])] * 2
    flags = np.array([[k in A for k in range(12)] for A in family], dtype=int)
    a, b = np.meshgrid(*rows, indexing="ij")
    assert (
        weights_of(family, distance).max_distance == distance.function(a, b, flags @ flags.T).max()
    )


@pytest.mark.parametrize("n_pairs", [0, 2_000])
def test_largest_among_hundreds_of_sizes(n_pairs):
    calls = []

    def watched(a, b, i):
        calls.append(len(a))
        return np.asarray(a + b - 2 * i, dtype=float)

    distance = OverlapDistance(watched, name="watched", bounded=False)
    nested = tuple(frozenset(range(k)) for k in range(1, 400))
    pairs = tuple(frozenset({k, k + 1}) for k in range(500, 500 + n_pairs))
    weights = OverlapWeights(nested + pairs, SetGeometry(nested + pairs), distance)
    calls.clear()
    bounds = weights._bounds()
    assert len(calls) == 399
    n_labels, sizes = len(weights.geometry.labels), weights.sizes
    fewest = np.maximum(0, np.add.outer(sizes, sizes) - n_labels)
    assert bounds.tolist() == (np.add.outer(sizes, sizes) - 2 * fewest).tolist()
    assert weights.max_distance == (401 if n_pairs else 398)


def test_largest_where_all_distances_are_zero():
    assert weights_of((frozenset("ab"),), get_distance("hamming")).max_distance == 1


def plan_of(family, n_columns=1):
    """Return the cheapest plan for products of so many columns."""
    return CostModel(SetGeometry(family)).cheapest(n_columns)


@pytest.mark.slow
class TestPlan:
    def test_few_values_go_by_blocks(self):
        assert plan_of(random_family(1, 200, 30, 3)).largest == -1

    def test_many_small_sets_go_by_subsets(self):
        assert plan_of(random_family(2, 20_000, 30, 4)) == Plan(4, 30, keeps=True)

    def test_large_sets_stay_behind(self):
        large = [frozenset(range(40 + k)) for k in range(10)]
        family = [*random_family(2, 20_000, 30, 4), *large]
        assert plan_of(family).largest == 4

    def test_rare_labels_go_by_pairs(self):
        plan = plan_of(zipf_family(3_000, 5_000, 4, 12))
        assert plan.largest == 12
        assert 3 < plan.n_heavy < 200

    def test_memory_is_bounded(self, monkeypatch):
        for name in ("_RANKED_COST", "_LISTED_COST"):
            monkeypatch.setattr(cost_model, name, 0.0)
        family = [*random_family(2, 3_000, 30, 4), *(frozenset(range(k, k + 40)) for k in range(9))]
        assert plan_of(family).largest == 4

    def test_memory_is_worth_time(self, monkeypatch):
        drawn = np.argsort(np.random.default_rng(18).random((30_000, 64)), axis=1)[:, :10]
        family = set(map(frozenset, drawn.tolist()))
        assert plan_of(family).largest == -1
        monkeypatch.setattr(cost_model, "_N_PRODUCTS", 9)
        assert plan_of(family) == Plan(10, 64, keeps=True)
        monkeypatch.setattr(cost_model, "_MOST_BYTES", 64e6)
        assert plan_of(family).largest == -1

    def test_what_takes_too_long_is_refused(self, monkeypatch):
        monkeypatch.setattr(cost_model, "_STEP_COST", 1e-16)
        sentence = (
            "The distances between 400 label sets over 10 labels would take about .* steps; the "
            "limit is 10,000,000,000. Merge or leave out rare labels, or take a part of the units."
        )
        with pytest.raises(CostError, match=sentence):
            plan_of(REGIMES["few labels"]())

    def test_what_is_counted(self):
        family = [frozenset(s) for s in ("a", "ab", "abc", "bcd", "e", "abcd", "ae")]
        made = CostModel(SetGeometry(family))
        order = ["a", "b", "c", "d", "e"]  # 5, 4, 3 sets, and 2 each of d and e
        assert made.tried.tolist() == [0, 1, 2, 3, 4, 5]
        for counts in made.counts:
            small = [A for A in family if len(A) <= counts.largest]
            for h in made.tried:
                heavy = set(order[:h])
                for p in range(6):
                    held = sum(comb(len(A & heavy), p) for A in small)
                    assert counts.entries[p, h] == held
                shared = sum(len(A & B - heavy) for A, B in combinations(small, 2))
                assert counts.pairs[h] == shared


class TestCheck:
    def test_built_in_distances_pass(self):
        for distance in SET_DISTANCES:
            check_overlap_function(distance, np.arange(300))

    def test_only_possible_counts_are_tried(self):
        seen = []

        def watched(a, b, i):
            seen.append(((i <= a) & (i <= b) & (i >= 0)).all())
            return 1.0 * ((a != i) | (b != i))

        check_overlap_function(OverlapDistance(watched, name="watched"), np.array([2, 6, 90]))
        assert len(seen) == 2
        assert all(seen)

    def test_a_rule_broken_beyond_the_sizes_in_use_does_not_matter(self):
        late = OverlapDistance(lambda a, b, i: np.where(a == 3, -1.0, 0.0), name="late")
        check_overlap_function(late, np.array([1, 2]))
        with pytest.raises(DistanceError, match="is not negative"):
            check_overlap_function(late, np.array([1, 3]))

    def test_large_sets_are_tried_at_their_sizes(self):
        family = tuple(frozenset(range(k, k + 55)) for k in range(4))
        late = OverlapDistance(
            lambda a, b, i: np.where(a + b > 2 * i, 1 - (a > 50) * 2, 0), name="late"
        )
        with pytest.raises(DistanceError, match=r"is not negative; .* \|A\|=55"):
            WeightBuilder(family, "labels", np.ones(4)).build(late)

    def test_a_naive_formula_is_refused_without_numpy_warnings(self):
        """1 - i / (a + b - i) is 0 / 0 between empty sets: one sentence, no RuntimeWarning."""
        naive = OverlapDistance(lambda a, b, i: 1 - i / (a + b - i), name="naive")
        with pytest.raises(DistanceError, match=r"'naive' gives nan for \|A\|=0, \|B\|=0"):
            check_overlap_function(naive, np.array([3]))

    def test_studies_leave_nothing_in_a_distance(self):
        shrunk = OverlapDistance(  # 1e-17 between equal sets, which counts as 0
            lambda a, b, i: 1 - (i + 1) / (np.maximum(a, b) + 1) + 1e-17 * (a == b), name="shrunk"
        )
        families = [tuple(frozenset(range(n)) for n in range(k, k + 4)) for k in range(1, 30)]
        before, first = dict(vars(shrunk)), WeightBuilder(families[0], "labels", np.ones(4))
        every = np.arange(4)
        D = first.build(shrunk).block(every, every)
        assert (np.diag(D) == 0).all()
        for family in families:
            WeightBuilder(family, "labels", np.ones(4)).build(shrunk)
        assert vars(shrunk) == before
        np.testing.assert_array_equal(first.build(shrunk).block(every, every), D)

    def test_a_function_without_a_hash(self):
        @dataclasses.dataclass
        class Unequal:
            largest: float

            def __call__(self, a, b, i):
                """Return 0 for equal sets, else the same number."""
                return np.where((a == b) & (b == i), 0.0, self.largest)

        own = OverlapDistance(Unequal(1.0), name="unequal")
        study = sa.simulate(20, 3, rng=1)
        alpha, nominal = (sa.krippendorff_alpha(study, distance=d) for d in (own, "nominal"))
        assert alpha.estimate == pytest.approx(nominal.estimate)
