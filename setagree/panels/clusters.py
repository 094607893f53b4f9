"""Points from distances, and the camps that they form: classical scaling, linkage, silhouettes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setagree.coefficients.chance import Floats
from setagree.inference.raters import Codes


@dataclass(frozen=True, eq=False)
class Partition:
    """A way to part points into clusters.

    Attributes
    ----------
    labels : ndarray of int, shape (n,)
        The cluster of each point, from 1 on, in the order of their first points.
    silhouettes : ndarray of shape (n,)
        How much nearer each point is to its own cluster than to the next one, in [-1, 1].
    """

    labels: Codes
    silhouettes: Floats

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return int(self.labels.max())

    @property
    def silhouette(self) -> float:
        """The mean over the points."""
        return float(self.silhouettes.mean())


def classical_scaling(D: Floats, n_axes: int = 2) -> tuple[Floats, float]:
    """Return points whose distances come near to D, and the share of its spread that they hold.

    B = -J D² J / 2 with J = I - 1/n; the points are the first eigenvectors of B times the roots of
    their eigenvalues (Torgerson 1952), the share is that of the positive eigenvalues. The largest
    coordinate of an axis is positive.
    """
    n = len(D)
    squares = D**2
    means = squares.mean(axis=0)
    B = -0.5 * (squares - means - means[:, None] + squares.mean())
    values, vectors = np.linalg.eigh(B)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    points = np.zeros((n, n_axes))
    used = min(n, n_axes)
    points[:, :used] = vectors[:, :used] * np.sqrt(values[:used])
    peaks = points[np.abs(points).argmax(axis=0), np.arange(n_axes)]
    total = float(values.sum())
    share = float(values[:used].sum()) / total if total > 0 else 1.0
    return points * np.where(peaks < 0, -1.0, 1.0), share


def by_way_of_others(D: Floats) -> Floats:
    """Return distances with the missing ones (nan) of two points by the shortest way over others.

    Points at distance 0 are one place: where points are many and some pairs missing, most are, and
    ways are looked for between places only.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, csgraph_from_dense, shortest_path

    _, place = connected_components(csr_array(D == 0), directed=False)
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    known = np.where(np.isnan(D), np.inf, D)
    apart = np.minimum.reduceat(known[order], starts)
    apart = np.minimum.reduceat(apart[:, order], starts, axis=1)
    ways = shortest_path(csgraph_from_dense(apart, null_value=np.inf), directed=False)
    return np.asarray(np.where(np.isnan(D), ways[np.ix_(place, place)], D))


def linkage_of(D: Floats) -> Floats:
    """Return the average linkage of a square of distances, as scipy has it."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    return np.asarray(linkage(squareform(D, checks=False), "average"))


def cut(tree: Floats, D: Floats, n_clusters: int) -> Partition:
    """Return the partition of a tree into so many clusters (fewer where points coincide)."""
    labels = _labels(tree, n_clusters)
    return Partition(labels, silhouettes(D, labels))


def best_cut(tree: Floats, D: Floats, most: int) -> Partition:
    """Return the partition into 2, 3, ... clusters with the largest mean silhouette."""
    finest = _labels(tree, most)
    _, first = np.unique(finest, return_index=True)
    by_finest, cuts = _sums(D, finest), []
    for k in range(2, most + 1):
        labels = _labels(tree, k)
        # Each cluster is made of some of the finest.
        sums = np.zeros((len(D), labels.max()))
        for own, column in zip(labels[first], by_finest.T, strict=True):
            sums[:, own - 1] += column
        cuts.append(Partition(labels, _silhouettes(sums, labels)))
    return max(cuts, key=lambda partition: partition.silhouette)


def _labels(tree: Floats, n_clusters: int) -> Codes:
    """Return the cluster of each point, from 1 on, in the order of their first points."""
    n, heights = len(tree) + 1, tree[:, 2]
    # What is joined at one height is joined together. scipy's `fcluster` finds the same, ten times
    # as slowly for a few raters, as it checks the tree at each call.
    joined = np.searchsorted(heights, heights[n - n_clusters - 1], "right") if n_clusters < n else 0
    root = np.arange(n + joined)
    for at, below in zip(range(n + joined - 1, n - 1, -1), tree[:joined, :2][::-1], strict=True):
        root[below.astype(np.intp)] = root[at]
    _, first, codes = np.unique(root[:n], return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))
    return np.asarray(place[codes] + 1)


def _sums(D: Floats, labels: Codes) -> Floats:
    """Return the summed distance of each point to those of each cluster, of shape (n, clusters)."""
    # Rows of a symmetric D are added, not D @ own: BLAS wakes threads for so little.
    order, sizes = np.argsort(labels, kind="stable"), np.bincount(labels)[1:]
    return np.asarray(np.add.reduceat(D[order], np.cumsum(sizes) - sizes).T)


def silhouettes(D: Floats, labels: Codes) -> Floats:
    """Return (b - a) / max(a, b) of each point, 0 where it is alone or nothing differs.

    a is the mean distance to the other points of its cluster, b the least mean distance to the
    points of another cluster (Rousseeuw 1987).
    """
    return _silhouettes(_sums(D, labels), labels)


def _silhouettes(sums: Floats, labels: Codes) -> Floats:
    """Return the same from the summed distances to each cluster, of shape (n, clusters)."""
    n = len(sums)
    own = labels[:, None] == np.arange(1, labels.max() + 1)
    sizes = own.sum(axis=0)
    a = sums[own] / np.maximum(sizes[labels - 1] - 1, 1)
    b = np.where(own, np.inf, sums / sizes).min(axis=1)
    largest = np.maximum(a, b)
    defined = (sizes[labels - 1] > 1) & np.isfinite(b) & (largest > 0)
    return np.asarray(np.divide(b - a, largest, out=np.zeros(n), where=defined))
