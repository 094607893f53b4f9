"""Weights of distances that have no structure: Python functions, matrices, label weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from setagree.checks import Codes, Floats
from setagree.credit.base import BlockWeights, DenseWeights, display_value
from setagree.credit.geometry import SetGeometry
from setagree.distances.base import CallableDistance, Distance
from setagree.distances.embeddings import LabelVectors
from setagree.distances.labelled import WeightedJaccardDistance
from setagree.distances.matrix import ROUNDING, MatrixDistance, check_range
from setagree.distances.transport import TransportDistance
from setagree.errors import DistanceError, listing, option, shorten
from setagree.progress import track
from setagree.wording.label_sets import LabelSet

DENSE_LIMIT = 20_000
"""Maximum number of values of a distance without structure: K x K doubles take 3.2 GB."""

_ALL_PAIRS = 100
"""Number of values up to which every pair is computed in both orders."""

_FURTHER_CALLS = 0.15
"""Share of calls that the checks of a Python function may add if there are more values."""


class WeightedJaccardWeights(BlockWeights):
    """1 - weight(A ∩ B) / weight(A ∪ B), in blocks of sparse products."""

    def __init__(
        self, values: tuple[LabelSet, ...], geometry: SetGeometry, distance: WeightedJaccardDistance
    ) -> None:
        from scipy import sparse

        super().__init__(values)
        weights = np.array(distance.weights_of(geometry.labels))
        # Only their ratios count: a power of two brings huge ones near 1, and changes no digit.
        weights = np.ldexp(weights, -np.frexp(weights.max(initial=0.0))[1])
        indptr, indices = geometry.indptr, geometry.indices
        self._flags = geometry.flags.astype(np.float64)
        entries = (weights[indices], indices, indptr)
        self._weighted = sparse.csr_array(entries, shape=self._flags.shape)
        self._mass = np.asarray(self._weighted.sum(axis=1), dtype=np.float64)

    max_distance = 1.0

    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""
        products = self._weighted[k].multiply(self._flags[l])
        shared = np.asarray(products.sum(axis=1), dtype=np.float64).ravel()
        return _one_minus_share(shared, self._mass[k] + self._mass[l] - shared)

    def block(self, rows: Codes, columns: Codes) -> Floats:
        """Return the distances between all of some values and all of some others."""
        shared = (self._weighted[rows] @ self._flags[columns].T).toarray()
        return _one_minus_share(shared, self._mass[rows][:, None] + self._mass[columns] - shared)


def _one_minus_share(part: Floats, whole: Floats) -> Floats:
    return 1 - np.divide(part, whole, out=np.ones(np.shape(whole)), where=whole > 0)


def matrix_weights(values: tuple[Any, ...], distance: MatrixDistance) -> DenseWeights:
    """Align a labelled matrix with the values, by what they mean."""
    positions = [distance.position(value) for value in values]
    missing = [value for value, row in zip(values, positions, strict=True) if row is None]
    if missing:
        shown = listing([display_value(value) for value in missing])
        labels = frozenset().union(*(v for v in missing if isinstance(v, frozenset)))
        of_labels = labels and all(distance.position({label}) is not None for label in labels)
        hint = " If it compares labels, pass sa.distances.transport(table)." if of_labels else ""
        raise DistanceError(f"the distance matrix {distance.name!r} has no row for {shown}.{hint}")
    codes = np.array(positions, dtype=np.intp)
    return DenseWeights(values, distance.frame.to_numpy()[np.ix_(codes, codes)])


def callable_weights(values: tuple[Any, ...], distance: CallableDistance) -> DenseWeights:
    """Call a Python function once for each unordered pair of distinct values, checked.

    Every value is compared with itself, and up to 100 values every pair in both orders. For
    more values a random sample of pairs is used, so that the checks add 15% more calls.
    """
    fast = "write it as an OverlapDistance if it depends only on |A|, |B| and |A ∩ B|"
    _check_number(values, distance, "would be called for", fast)
    n = len(values)
    function = distance.function
    _check_diagonal(values, function)
    distances = np.zeros((n, n))
    for k in track(range(n), total=n, what=f"{distance.name} distances"):
        distances[k, k + 1 :] = _row(function, values[k], values[k + 1 :])
    distances = check_range(distances, list(values))
    distances += distances.T
    _check_symmetry(values, function, distances)
    if distance.bounded and (distances > 1).any():
        k, l = np.argwhere(distances > 1)[0]
        raise DistanceError(
            f"{distance.name!r} was declared to be bounded by 1; the pair {_text(values[k])}, "
            f"{_text(values[l])} has {distances[k, l]}. Leave out bounded=True."
        )
    return DenseWeights(values, distances, relative=distance.relative)


def transport_weights(
    values: tuple[Any, ...], sets: Sequence[LabelSet], distance: TransportDistance
) -> DenseWeights:
    """Solve the transport between all pairs of values, each of which represents a set."""
    of_vectors = isinstance(distance.between, LabelVectors)
    centroid = f"use {option('match', 'centroid')}, which needs no pairs, or "
    _check_number(
        values,
        distance,
        "would solve a transport for",
        f"{centroid if of_vectors else ''}merge or leave out rare labels",
    )
    supports = dict.fromkeys(map(frozenset, sets))  # degrees do not count here
    if len(supports) == len(sets):
        return DenseWeights(values, distance.among(sets))
    place = {one: k for k, one in enumerate(supports)}
    codes = np.array([place[frozenset(one)] for one in sets], dtype=np.intp)
    return DenseWeights(values, distance.among([*supports])[np.ix_(codes, codes)])


def _check_number(values: Sequence[Any], distance: Distance, does: str, instead: str) -> None:
    n = len(values)
    if n > DENSE_LIMIT:
        raise DistanceError(
            f"{distance.name!r} {does} {n * (n - 1) // 2:,} pairs of {n:,} values (the limit is "
            f"{DENSE_LIMIT:,}); {instead}."
        )


def _row(
    function: Callable[[Any, Any], float], x: object, others: Sequence[Any], *, back: bool = False
) -> Floats:
    """Return the distances from a value to others; back, from the others to it."""
    try:
        calls = [function(y, x) for y in others] if back else [function(x, y) for y in others]
        row = np.array(calls, dtype=float)
    except Exception:  # noqa: BLE001 - whatever the user's function raises is worded and chained
        row = np.array(np.nan)
    # None becomes NaN and lists become a table: call again per pair to locate the error.
    if row.ndim != 1 or np.isnan(row).any():
        pairs = ((y, x) if back else (x, y) for y in others)
        return np.array([_call(function, *pair) for pair in pairs])
    return row


def _call(function: Callable[[Any, Any], float], x: object, y: object) -> float:
    """Call the user's function on one pair; errors name the pair."""
    pair = f"the pair {_text(x)}, {_text(y)}"
    try:
        distance = function(x, y)
    except Exception as error:
        raise DistanceError(f"the distance raised {error!r} for {pair}.") from error
    try:
        return float(distance)
    except (TypeError, ValueError) as error:
        raise DistanceError(f"the distance gave {shorten(distance)} for {pair}.") from error


def _check_diagonal(values: Sequence[Any], function: Callable[[Any, Any], float]) -> None:
    own = [float(_row(function, value, [value])[0]) for value in values]
    for value, distance in zip(values, own, strict=True):
        if not abs(distance) <= ROUNDING:
            hint = " It looks like a similarity: pass 1 - f instead." if set(own) == {1.0} else ""
            raise DistanceError(
                f"a distance is 0 between equal values; the pair {_text(value)}, {_text(value)} "
                f"has {distance}.{hint}"
            )


def _check_symmetry(
    values: Sequence[Any], function: Callable[[Any, Any], float], distances: Floats
) -> None:
    slack = ROUNDING * float(distances.max(initial=0.0))
    for k, others in enumerate(_checked_pairs(len(values))):
        back = _row(function, values[k], [values[l] for l in others.tolist()], back=True)
        there = distances[k, others]
        if (back == there).all():
            continue
        broken = ~np.isclose(back, there, rtol=ROUNDING, atol=slack)
        if broken.any():
            first = int(np.flatnonzero(broken)[0])
            raise DistanceError(
                f"a distance is symmetric; the pair {_text(values[k])}, "
                f"{_text(values[others[first]])} has {there[first]} one way and {back[first]} the "
                "other."
            )


def _checked_pairs(n: int) -> Iterator[Codes]:
    """Yield for each of n values which later ones it is compared with once more."""
    pairs = n * (n - 1) // 2
    # Each value was compared with itself, too.
    size = pairs if n <= _ALL_PAIRS else int(_FURTHER_CALLS * pairs) - n
    # One pair at random of each of as many runs of pairs, which are counted row by row.
    random = np.random.default_rng(0).random(size) if size < pairs else 0.0
    chosen = ((np.arange(size) + random) * (pairs / max(size, 1))).astype(np.int64)
    chosen = chosen[np.diff(chosen, prepend=-1) > 0]
    starts = np.append(0, np.cumsum(np.arange(n - 1, 0, -1)))
    bounds = np.searchsorted(chosen, starts)
    for k in range(n - 1):
        yield chosen[bounds[k] : bounds[k + 1]] - starts[k] + k + 1


def _text(value: object) -> str:
    return shorten(set(value) if isinstance(value, frozenset) else value)
