"""Map of the raters, clusters of raters, and units on which they are divided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, Unpack

import numpy as np
import pandas as pd

from setagree.checks import LOOPED, Codes, Floats, Rng, as_generator, check_drawing, check_least
from setagree.coefficients.case import ROUNDING, divided
from setagree.credit.base import Weights, neighbours, sums_to_others
from setagree.distances.registry import DistanceLike
from setagree.errors import DataError, counted, option
from setagree.inference.panel_members import case_of, rater_index, ratings_by_unit, unweighted_units
from setagree.inference.permutation import share_reached
from setagree.inference.resampling import block_sizes
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.limits import TIE
from setagree.panels.consensus import Ballot
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects
from setagree.wording.number_format import p_phrase
from setagree.wording.result_base import Result
from setagree.wording.sentences import Sentence, enumeration, in_message, named
from setagree.wording.tables import Column


@dataclass(frozen=True, eq=False)
class Partition:
    """A partition of points into clusters, numbered from 1 in the order of their first points.

    The silhouette of a point is its closeness to its own cluster relative to the next one, in [-1,
    1].
    """

    labels: Codes
    silhouettes: Floats

    @property
    def silhouette(self) -> float:
        """Mean silhouette of the points."""
        return float(self.silhouettes.mean())


def classical_scaling(D: Floats) -> tuple[Floats, float]:
    """Return points in a plane whose distances approximate D, and the explained share of variance.

    B = -J D² J / 2 with J = I - 1/n; the points are the first eigenvectors of B times the square
    roots of their eigenvalues (Torgerson 1952), the share is that of the positive eigenvalues. The
    largest coordinate of an axis is positive.
    """
    n = len(D)
    squares = D**2
    means = squares.mean(axis=0)
    B = -0.5 * (squares - means - means[:, None] + squares.mean())
    values, vectors = np.linalg.eigh(B)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    points = np.zeros((n, 2))
    points[:, :n] = vectors[:, :2] * np.sqrt(values[:2])
    peaks = points[np.abs(points).argmax(axis=0), [0, 1]]
    total = float(values.sum())
    share = float(values[:2].sum()) / total if total > 0 else 1.0
    return points * np.where(peaks < 0, -1.0, 1.0), share


def by_way_of_others(D: Floats) -> Floats:
    """Return distances with missing ones (NaN) replaced by the shortest paths over other points.

    Points at distance 0 are merged first, which makes the search for paths cheap if there are many
    points and few distinct ones.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, csgraph_from_dense, shortest_path

    _, place = connected_components(csr_array(D == 0), directed=False)
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    direct = np.where(np.isnan(D), np.inf, D)
    apart = np.minimum.reduceat(direct[order], starts)
    apart = np.minimum.reduceat(apart[:, order], starts, axis=1)
    ways = shortest_path(csgraph_from_dense(apart, null_value=np.inf), directed=False)
    return np.asarray(np.where(np.isnan(D), ways[np.ix_(place, place)], D))


def linkage_of(D: Floats) -> Floats:
    """Return the average linkage of a distance matrix, in the format of scipy."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    return np.asarray(linkage(squareform(D, checks=False), "average"))


def best_cuts(trees: Sequence[Floats], D: Floats, numbers: Sequence[int]) -> list[Partition]:
    """Return the partition of each tree with the largest mean silhouette among some numbers.

    A partition has fewer clusters if points coincide. `D` are the distances of each tree, of shape
    (n_trees, n, n).
    """
    labels = np.array([[_labels(tree, k) for k in numbers] for tree in trees])
    # Coarser clusters are unions of the finest ones.
    finest, clusters = labels[:, np.argmax(numbers)], np.arange(1, labels.max() + 1)
    parts = np.zeros((*finest.shape, len(clusters)))
    for each, apart, one in zip(parts, D, finest, strict=True):
        each[:, : one.max()] = cluster_sums(apart, one)
    first = (finest[:, None] == clusters[:, None]).argmax(axis=-1)
    union = np.take_along_axis(labels, first[:, None], axis=-1)[..., None] == clusters
    found = silhouettes(np.einsum("tif,tkfc->tkic", parts, union), labels)
    best = found.mean(axis=-1).argmax(axis=-1)
    return [Partition(labels[t, k], found[t, k]) for t, k in enumerate(best.tolist())]


def _labels(tree: Floats, n_clusters: int) -> Codes:
    """Return the cluster of each point, from 1, in the order of their first points."""
    n, heights = len(tree) + 1, tree[:, 2]
    # Clusters of equal height are joined together. The result is that of scipy's `fcluster`, which
    # is ten times slower for few raters because it checks the tree at each call.
    joined = np.searchsorted(heights, heights[n - n_clusters - 1], "right") if n_clusters < n else 0
    root, merged = [*range(n + joined)], tree[:joined, :2].astype(np.intp).tolist()
    for at, (left, right) in enumerate(reversed(merged), start=1):
        root[left] = root[right] = root[-at]
    place = {one: k for k, one in enumerate(dict.fromkeys(root[:n]), start=1)}
    return np.array([place[one] for one in root[:n]])


def cluster_sums(D: Floats, labels: Codes) -> Floats:
    """Return the summed distance of each point to those of each cluster, of shape (n, clusters)."""
    # Rows of a symmetric D are added, not D @ own: BLAS starts threads, which costs more.
    order, sizes = np.argsort(labels, kind="stable"), np.bincount(labels)[1:]
    return np.asarray(np.add.reduceat(D[order], np.cumsum(sizes) - sizes).T)


def silhouettes(sums: Floats, labels: Codes) -> Floats:
    """Return (b - a) / max(a, b) per point, or 0 if it is alone or all distances are 0.

    a is the mean distance to the other points of its cluster, b the least mean distance to the
    points of another cluster (Rousseeuw 1987); `sums` are `cluster_sums`, both of shape (..., n)
    where several partitions are given.
    """
    own = labels[..., None] == np.arange(1, sums.shape[-1] + 1)
    sizes = own.sum(axis=-2, keepdims=True)
    size = (own * sizes).sum(axis=-1)
    a = sums[own].reshape(labels.shape) / np.maximum(size - 1, 1)
    b = np.where(own | (sizes == 0), np.inf, sums / np.maximum(sizes, 1)).min(axis=-1)
    largest = np.maximum(a, b)
    defined = (size > 1) & np.isfinite(b) & (largest > 0)
    return np.asarray(np.divide(b - a, largest, out=np.zeros(labels.shape), where=defined))


_CUT = 64
"""Entries per point of the cuts of a tree: numbers of clusters times clusters."""

Run: TypeAlias = tuple[Codes, Codes, Floats]

PAIR_BLOCK_SIZE = 1_000_000

_KEPT_PAIRS = 10_000_000
"""Number of pairs of ratings up to which their distances are kept for reshuffles (240 MB)."""

_KEPT_VALUES = 3_400
"""Number of values up to which all their distances are kept (62 MB)."""

_STEPS_A_VALUE, _STEPS_BY_OPERATOR = 4, 100
"""Steps per value for a rater's expected distance, with kept distances and without."""

_FEW_VALUES = 200
"""Number of values up to which the expected distances are dense products."""

_LAST_VALUES = 64
"""Number of the most frequent values, whose distances are in one matrix."""

_SPARSE = 0.1
"""The share of all answers that raters may give on average for rows of distances to be added up."""


class SharedPairs:
    """The pairs of ratings within units; each pair of raters has those of their shared units."""

    def __init__(self, study: Annotations, weights: Weights) -> None:
        self.weights, self.n_raters = weights, study.n_raters
        self.units, self.raters, self.values = ratings_by_unit(study)
        self.ratings = np.bincount(study.unit_codes).astype(np.int64)
        self.n_pairs = int((self.ratings * (self.ratings - 1) // 2).sum())

    @property
    def n_steps(self) -> int:
        """Number of elementary steps per reshuffle."""
        n, K = self.n_raters, self.weights.n_values
        a_value = _STEPS_A_VALUE if K <= _KEPT_VALUES else _STEPS_BY_OPERATOR
        return self.n_pairs + n * (n + a_value * K)

    @cached_property
    def _kept(self) -> list[Run]:
        return list(self._computed())

    def _computed(self) -> Iterator[Run]:
        """Yield runs of pairs: two positions in the order by unit, and the distance."""
        # Few long runs, because the sums of each run are a table of all pairs of raters.
        parts = list(neighbours(self.units)) if self.n_pairs <= _KEPT_PAIRS else None
        joined = neighbours(self.units) if parts is None else [np.concatenate(parts, axis=1)]
        for left, right in joined:
            for start in range(0, len(left), PAIR_BLOCK_SIZE):
                one, two = (each[start : start + PAIR_BLOCK_SIZE] for each in (left, right))
                yield one, two, self.weights.distance_at(self.values[one], self.values[two])

    @cached_property
    def counts(self) -> Floats:
        """Number of shared units of each pair of raters, of shape (n_raters, n_raters)."""
        return self.sums(self.raters, distances=False)

    def permuted(self, generator: np.random.Generator) -> Codes:
        """Return `raters` with the answers to each unit permuted among its raters.

        The shared units of each pair of raters do not change.
        """
        # A key below the next unit's, so that one sort of numbers permutes within all units; a
        # stable sort takes a quarter of the time, because the keys are almost in order.
        keys = self.units + generator.random(len(self.units)) / 2
        return np.asarray(self.raters[np.argsort(keys, kind="stable")])

    def sums(self, raters: Codes, *, distances: bool = True) -> Floats:
        """Return the summed distance, or the number, of the pairs of ratings of two raters."""
        n = self.n_raters
        out = np.zeros(n * n)
        for left, right, d in self._kept if self.n_pairs <= _KEPT_PAIRS else self._computed():
            cells = raters[left].astype(np.intp) * n + raters[right]
            out += np.bincount(cells, d if distances else None, n * n)
        table = out.reshape(n, n)
        return np.asarray(table + table.T)

    def by_chance(self, raters: Codes) -> Floats:
        """Return the mean distance expected by chance per pair, of shape (n_raters, n_raters).

        It is the mean over pairs of an answer of each, drawn independently from all units that were
        rated with others: Cohen's chance model, if both rated the same units.
        """
        from scipy import sparse

        shape, (paired, values) = (self.n_raters, self.weights.n_values), self._paired
        who = raters[paired]
        if shape[0] * shape[1] <= len(who) and shape[1] <= _FEW_VALUES:
            cells = np.bincount(who * shape[1] + values, minlength=shape[0] * shape[1])
            n_ratings = np.maximum(np.bincount(who, minlength=self.n_raters), 1)
            shares = cells.reshape(shape) / n_ratings[:, None]
            return np.asarray(np.maximum(shares @ self._all_distances @ shares.T, 0))
        each = 1 / np.bincount(who, minlength=self.n_raters)[who]
        rank, blocks = self._by_frequency
        parts: Any = sparse.coo_array((each, (who, rank[values])), shape=shape).tocsr()
        if not blocks or parts.nnz > _SPARSE * shape[0] * shape[1]:
            parts = sparse.coo_array((each, (who, values)), shape=shape).tocsr()
            far = self.weights.distance_dot(parts.T.toarray())
            return np.asarray(np.maximum(parts @ far, 0))
        far = np.zeros(shape)
        for first, last, block in blocks:
            far[:, first:] += parts[:, first:last] @ block
        half = parts @ np.ascontiguousarray(far.T)
        return np.asarray(np.maximum(half + half.T, 0))

    @cached_property
    def _paired(self) -> tuple[Codes, Codes]:
        """Positions of the ratings of pairable units, and their values."""
        paired = np.flatnonzero(self.ratings[self.units] > 1)
        return paired, self.values[paired].astype(np.intp)

    @cached_property
    def _all_distances(self) -> Floats:
        """Distances between all values, of shape (n_values, n_values)."""
        every = np.arange(self.weights.n_values)
        return np.asarray(self.weights.block(every, every))

    @cached_property
    def _by_frequency(self) -> tuple[Codes, list[tuple[int, int, Floats]]]:
        """The rank of each value, rare ones first, and the distances from each to all that follow.

        Rare values have long rows, which are seldom summed, and frequent ones have short rows.
        Reshuffles share the rows; they are omitted if there are too many.
        """
        K = self.weights.n_values
        order = np.argsort(np.bincount(self.values, minlength=K), kind="stable")
        blocks, last = [], 0
        while last < K <= _KEPT_VALUES:
            first, last = last, min(K, last + max(_LAST_VALUES, (K - last) // 2))
            block = self.weights.block(order[first:last], order[first:])
            blocks.append((first, last, np.triu(block)))
        return np.argsort(order), blocks


def unit_bimodality(study: Annotations, weights: Weights) -> pd.DataFrame:
    """Return the disagreement within each unit, and its bimodality.

    With p_k the share of the unit's raters who gave value k, `bimodality` is the largest 4 p_k p_l
    d_kl / d_max over pairs of values: 1 if two halves are at the largest distance, 0 if all agree,
    and small for scattered answers. `disagreement` is the mean distance of two different raters of
    the unit over d_max, or NaN for one rater. Similar answers are not combined into one pole.
    """
    ballot = Ballot(study)
    units, values, counts = ballot.cells
    shares = counts / ballot.ratings[units]
    to_others = sums_to_others(units, values, counts, weights)
    summed = np.bincount(units, counts * to_others, study.n_units)
    pairs = ballot.ratings * (ballot.ratings - 1) * weights.max_distance
    bimodality, one, two = _widest(units, values, shares, weights, study.n_units)
    named = as_objects([*study.values, None])
    return pd.DataFrame(
        {
            "unit": study.units,
            "n_ratings": ballot.ratings.astype(np.int64),
            "disagreement": divided(summed, pairs),
            "bimodality": bimodality,
            "first": named[one],
            "second": named[two],
        }
    )


def _widest(
    units: Codes, values: Codes, shares: np.ndarray, weights: Weights, n_units: int
) -> tuple[np.ndarray, Codes, Codes]:
    """Return the largest 4 p_k p_l d_kl / d_max per unit, and its two values; -1 for none."""
    best, held = np.zeros(n_units), np.zeros((2, n_units))
    poles = np.full((2, n_units), -1)
    for left, right in neighbours(units):
        d = weights.distance_at(values[left], values[right]) / weights.max_distance
        strength = 4 * shares[left] * shares[right] * d
        wider = np.flatnonzero(strength > best[units[left]])
        # Assignment keeps the last entry per unit: the strongest, or the first of ties.
        wider = wider[np.argsort(strength[wider], kind="stable")]
        at = units[left[wider]]
        best[at] = strength[wider]
        poles[:, at] = values[left[wider]], values[right[wider]]
        held[:, at] = shares[left[wider]], shares[right[wider]]
    # The more frequent pole is first.
    first, second = np.where(held[1] > held[0], poles[::-1], poles)
    return best, first, second


_MOST_CLUSTERS = 8
"""Maximum number of clusters that is tried."""

_MOST_RATERS = 2_000
"""Maximum number of raters of a map: a reshuffle of 2,000 takes 5 seconds and 440 MB."""


@dataclass(frozen=True, eq=False, repr=False)
class RaterMap(Result):
    """Map of raters by their chance-corrected disagreement.

    Attributes
    ----------
    distance : str
        Name of the distance.
    distances : DataFrame
        Mean distance of each pair of raters over their shared units; NaN without any.
    disagreement : DataFrame
        `distances` over those expected by chance, at most 2, from which the map is made: 0 for full
        agreement, 1 for agreement as expected by chance.
    shared : DataFrame
        Number of shared units of each pair of raters.
    table : DataFrame
        One row per rater: coordinates `x` and `y`, `cluster` from 1, `silhouette`, the mean
        distance to the others, and `n_ratings`. Raters who are not connected with the rest by
        shared units have NaN and cluster 0.
    linkage : ndarray
        The tree of the mapped raters, in the format of `scipy.cluster.hierarchy`.
    explained : float
        Share of the variance of the distances that two dimensions explain.
    n_bridged : int
        Number of pairs of raters without shared units, placed by the shortest path over others.
    silhouette : float
        Mean silhouette of the clusters; NaN without clusters.
    null : ndarray of shape (n_resamples,)
        Mean silhouettes with the answers to each unit permuted among its raters.
    units : DataFrame
        One row per unit: its disagreement, and its bimodality with the two opposed answers.
    """

    distance: str
    distances: pd.DataFrame
    disagreement: pd.DataFrame
    shared: pd.DataFrame
    table: pd.DataFrame
    linkage: Floats
    explained: float
    n_bridged: int
    silhouette: float
    null: Floats
    units: pd.DataFrame

    @property
    def p_value(self) -> float:
        """(1 + #{silhouettes of reshuffles >= the observed one}) / (B + 1), or NaN."""
        return share_reached(self.null - self.silhouette, exact=False)

    @property
    def rater_clusters(self) -> list[list[object]]:
        """The raters of each cluster with at least two, the largest first."""
        groups = [
            group.index.tolist()
            for name, group in self.table.groupby("cluster", sort=True)
            if name and len(group) > 1
        ]
        return sorted(groups, key=len, reverse=True)

    @property
    def unplaced(self) -> list[object]:
        """Raters who share no unit with the others, and are not placed on the map."""
        return self.table.index[self.table["cluster"] == 0].tolist()

    @property
    def verdict(self) -> str:
        """Sentences on the evidence for clusters, and on raters who are not placed."""
        return in_message(self.words_at(self.p_value))

    def words_at(self, p_value: float) -> Sentence:
        """Return the verdict in parts, for a p that may be corrected for other tests."""
        unplaced: Sentence = ()
        if self.unplaced:
            who = counted(len(self.unplaced), "rater")
            why = f" {who} not placed, because they share no unit with the others: "
            unplaced = (why, *named(self.unplaced, limit=5), ".")
        return (*self._cluster_words(p_value), *unplaced)

    def has_clusters(self, p_value: float) -> bool:
        """Whether a p is evidence of clusters; True for NaN, as the clusters are not tested."""
        is_tested = not np.isnan(p_value)
        return not is_tested or (p_value <= 0.05 + TIE and len(self.rater_clusters) > 1)

    def _cluster_words(self, p_value: float) -> Sentence:
        if np.isnan(self.silhouette):
            return ("No verdict: fewer than four raters can form no clusters.",)
        if np.isnan(p_value):
            why = f"{option('n_resamples', 0)} leaves out the comparison with chance"
            return (f"No verdict: {why}.",)
        p = p_phrase(p_value)
        if p_value > 0.05 + TIE:
            chance = "the answers to each unit were assigned to them at random"
            return (f"No clusters: the raters form no clearer groups than if {chance} ({p}).",)
        clusters = self.rater_clusters
        if self.has_clusters(p_value):
            sizes = [(f"{len(cluster):,} (", *named(cluster), ")") for cluster in clusters]
            return (
                f"The raters form {len(clusters):,} clusters, of ",
                *enumeration(sizes),
                f" ({p}).",
            )
        inside = set(clusters[0]) if clusters else set()
        placed = self.table.index[self.table["cluster"] > 0]
        apart = [rater for rater in placed if rater not in inside]
        verb = "differs" if len(apart) == 1 else "differ"
        return ("No clusters, but ", *named(apart), f" {verb} from the others ({p}).")

    frame_name = "table"
    columns = (
        Column("rater", "name"),
        Column("cluster", "count"),
        Column("silhouette", meaning="relative closeness to the own cluster, at most 1"),
        Column("mean_distance", head="distance to others"),
        Column("n_ratings", "count", "ratings"),
    )

    def _heading(self) -> str:
        n = counted(int(self.table["cluster"].max()), "cluster")
        share = f"{100 * self.explained:.0f}% in two dimensions"
        return f"{n} [{self.distance}], silhouette {self.silhouette:.4f}, {share}"


@takes_data
def rater_map(
    study: Data,
    *more: RaterAnswers,
    distance: DistanceLike | None = None,
    n_resamples: int = 199,
    rng: Rng = None,
    **options: Unpack[ReadingOptions],
) -> RaterMap:
    """Return a map of the raters by their disagreement, with a test for rater clusters.

    The distance of two raters is the mean distance of their answers to the shared units, over the
    mean distance expected by chance given the frequencies of both raters' answers. If both rated
    the same units, this is 1 minus Cohen's kappa, so that raters with similar label frequencies are
    close only if they agree beyond chance. Otherwise chance is computed from all their answers to
    units that others rated, too. Pairs without shared units have the length of the shortest path
    over other raters. The map is classical scaling in two dimensions. The clusters of four raters
    or more are average linkage, cut into 2 to 8 clusters at the largest mean silhouette. The test
    permutes the answers to each unit among its raters and clusters again: its p-value is exact
    under the hypothesis of exchangeable raters. Raters of unequal quality are not exchangeable
    either, but do not form clusters: evidence for rater clusters requires clusters of at least two
    and high silhouettes in addition to a small p.

    The cost per reshuffle is that of all pairs of ratings within units, plus raters times distinct
    answers, plus raters squared.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Who gave what.
    distance : name, callable, Distance or labelled matrix, optional
        Default: MASI for label sets, interval for numbers, else nominal.
    n_resamples : int
        Number of permutations; 0 for no test.
    rng : int or numpy Generator, optional
        The seed.

    Returns
    -------
    RaterMap

    Raises
    ------
    DataError
        There is one rater, no two raters share units, or there are more than 2,000 raters.
    OptionError
        An option is out of its range.

    References
    ----------
    Torgerson (1952) for the scaling, Rousseeuw (1987) for silhouettes.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.Annotations.from_triples([
    ...     (rater, unit, "ab"[(unit + (rater > "c")) % 2] if unit < 8 else "c")
    ...     for rater in "abcdef" for unit in range(12)
    ... ])
    >>> result = rater_map(study, rng=1)
    >>> result.rater_clusters, result.silhouette
    ([['a', 'b', 'c'], ['d', 'e', 'f']], 1.0)
    >>> result.verdict
    "The raters form 2 clusters, of 3 ('a', 'b' and 'c') and 3 ('d', 'e' and 'f') (p = 0.005)."
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    study = unweighted_units(study, "rater_map")
    check_least("n_resamples", n_resamples, 0)
    generator = as_generator(rng)
    if study.n_raters > _MOST_RATERS:
        raise DataError(
            f"a map has a distance between any two raters; {study.n_raters:,} raters are too many "
            f"(the limit is {_MOST_RATERS:,}). Keep those with the most ratings."
        )
    compared = case_of(study, distance)
    pairs = SharedPairs(study, compared.weights)
    # The map has the largest group of raters connected by shared units, directly or not.
    _, group = connected_components(csr_array(pairs.counts), directed=False)
    placed = np.flatnonzero(group == np.bincount(group).argmax())
    if len(placed) < 2:
        raise DataError(
            "no two raters share a unit; a map needs pairs of raters who rated the same units."
        )
    numbers = [*range(2, min(_MOST_CLUSTERS, len(placed) - 1) + 1)] if len(placed) >= 4 else []
    chart = _Chart(pairs, placed, numbers)
    n_resamples = n_resamples if numbers else 0
    check_drawing(n_resamples, pairs.n_steps + LOOPED)
    null = np.empty(0)
    for b in block_sizes(n_resamples, len(placed) ** 2 + _CUT * len(placed), what="reshuffles"):
        permuted = [chart.disagreement(pairs.permuted(generator)) for _ in range(b)]
        null = np.append(null, [one.silhouette for one in chart.clusters(permuted)])
    units = unit_bimodality(study, compared.weights)
    return _assembled(study, compared.name, chart, null, units)


@dataclass(frozen=True, eq=False)
class _Chart:
    """Data shared by all permutations: the raters on the map, and the numbers of clusters."""

    pairs: SharedPairs
    placed: Codes
    numbers: list[int]

    def means(self, raters: Codes) -> Floats:
        """Return the mean distances of all raters; NaN without a shared unit."""
        out = divided(self.pairs.sums(raters), self.pairs.counts)
        np.fill_diagonal(out, 0)
        return out

    def disagreement(self, raters: Codes) -> Floats:
        """Return the mean distances over those expected by chance, at most 2, or NaN.

        On the same units kappa of two raters is seldom below -1. On few shared units the distance
        can far exceed that expected from all their answers.
        """
        means, by_chance = self.means(raters), self.pairs.by_chance(raters)
        # Two raters with one common constant answer agree fully.
        out = np.where(np.isnan(means), np.nan, 0.0)
        np.divide(means, by_chance, out=out, where=(by_chance > ROUNDING) & (means > 0))
        return np.minimum(out, 2)

    def complete(self, disagreement: Floats) -> Floats:
        """Return the distances of the placed raters, with missing pairs by the shortest path."""
        D = disagreement[np.ix_(self.placed, self.placed)]
        return by_way_of_others(D) if np.isnan(D).any() else D

    def clusters(self, disagreements: Iterable[Floats]) -> list[Partition]:
        """Return the clusters of the placed raters by each matrix of disagreements."""
        D = np.array([*map(self.complete, disagreements)])
        if not self.numbers:
            return [Partition(np.ones(len(x), dtype=np.int64), np.full(len(x), np.nan)) for x in D]
        return best_cuts([*map(linkage_of, D)], D, self.numbers)


def _assembled(
    study: Annotations, distance: str, chart: _Chart, null: Floats, units: pd.DataFrame
) -> RaterMap:
    """Return the map with the names of raters."""
    raters, n = rater_index(study, np.arange(study.n_raters)), study.n_raters
    others = raters.rename("other")
    means, apart = (find(chart.pairs.raters) for find in (chart.means, chart.disagreement))
    D, (partition,) = chart.complete(apart), chart.clusters([apart])
    points, explained = classical_scaling(D)
    bridged = int(np.isnan(means[np.ix_(chart.placed, chart.placed)]).sum() // 2)
    # Raters who are not placed have the last entry of each column.
    place = np.full(n, -1)
    place[chart.placed] = np.arange(len(chart.placed))
    to_others = np.where(np.eye(n, dtype=bool), np.nan, means)
    n_others = np.isfinite(to_others).sum(axis=1)
    sums = np.nansum(to_others, axis=1)
    columns = {
        "x": np.append(points[:, 0], np.nan)[place],
        "y": np.append(points[:, 1], np.nan)[place],
        "cluster": np.append(partition.labels, 0)[place],
        "silhouette": np.append(partition.silhouettes, np.nan)[place],
        "mean_distance": divided(sums, n_others),
        "n_ratings": np.bincount(study.rater_codes, minlength=n),
    }
    return RaterMap(
        distance,
        pd.DataFrame(means, index=raters, columns=others),
        pd.DataFrame(apart, index=raters, columns=others),
        pd.DataFrame(chart.pairs.counts.astype(np.int64), index=raters, columns=others),
        pd.DataFrame(columns, index=raters),
        linkage_of(D),
        explained,
        bridged,
        partition.silhouette,
        null,
        units,
    )
