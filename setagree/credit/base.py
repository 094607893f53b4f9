"""Weights: credit between the observed values, as an operator."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.checks import Codes, Floats, cached_property
from setagree.errors import DataError
from setagree.lazy import pd
from setagree.wording.label_sets import display_labels
from setagree.wording.tables import html_table

FRAME_LIMIT = 5_000
"""Maximum number of values of a dense matrix for users."""

_IN_A_NOTEBOOK = 20
"""Values whose matrix a notebook shows."""

_ONE_THREAD, _MANY_THREADS = 2**18, 10**8
"""Multiplications up to which OpenBLAS keeps to one thread, and above which threads pay."""

_PIECE_ROWS = 32

BLOCK = 256
"""Rows and columns of a block; one block of doubles takes 0.5 MB, which fits in the cache."""


class Weights(ABC):
    """Credit w = 1 - d / d_max between K values, without a K x K array.

    Attributes
    ----------
    values : tuple
        The K values, in the order of their codes.
    max_distance : float
        d_max: 1 for a distance bounded by 1, else the largest among the values.

    Examples
    --------
    >>> import numpy as np
    >>> import setagree as sa
    >>> study = sa.Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "a, b"), ("ann", 2, "")],
    ...                                     blank="empty")
    >>> weights = sa.weights(study, "jaccard")
    >>> weights.at(np.array([0, 0]), np.array([1, 2]))
    array([0.5, 0. ])
    >>> weights.dot(np.array([1.0, 2.0, 4.0]))
    array([2. , 2.5, 4. ])
    """

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.n_values:,} values>"

    def _repr_html_(self) -> str:
        summary = f"<p>{html.escape(repr(self)[1:-1])}</p>"
        if self.n_values > _IN_A_NOTEBOOK:
            return f"{summary}<p>to_frame() returns the matrix.</p>"
        frame = self.to_frame().rename(index=str).rename_axis("value")  # no value is rounded
        return summary + html_table(frame.reset_index(allow_duplicates=True))

    @property
    def n_values(self) -> int:
        """K, how many values there are."""
        return len(self.values)

    @property
    @abstractmethod
    def max_distance(self) -> float:
        """d_max, the divisor of distances; never 0."""

    @abstractmethod
    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""

    def block(self, rows: Codes, columns: Codes) -> Floats:
        """Return the distances between all of some values and all of some others."""
        k, l = np.repeat(rows, len(columns)), np.tile(columns, len(rows))
        return self.distance_at(k, l).reshape(len(rows), len(columns))

    @abstractmethod
    def distance_dot(self, x: Floats) -> Floats:
        """Return D @ x for x of shape (K,) or (K, B)."""

    @abstractmethod
    def squares(self, x: Floats) -> float:
        """Return the sum of x_k x_l (d_kl / d_max)² for x of shape (K,)."""

    @cached_property
    def distance_total(self) -> float:
        """The sum of all K x K distances."""
        return float(self.distance_dot(np.ones(self.n_values)).sum())

    def at(self, k: Codes, l: Codes) -> Floats:
        """Return the credit between values k and l, elementwise."""
        k, l = np.broadcast_arrays(k, l)
        d = self.distance_at(k.ravel(), l.ravel()).reshape(k.shape)
        return np.asarray(1 - d / self.max_distance)

    def dot(self, x: Floats) -> Floats:
        """Return W @ x for x of shape (K,) or (K, B)."""
        x = np.asarray(x, dtype=np.float64)
        return np.asarray(x.sum(axis=0) - self.distance_dot(x) / self.max_distance)

    def to_frame(self, *, distance: bool = False) -> pd.DataFrame:
        """Return the labelled K x K matrix of credits (or distances), for people to read.

        Label sets are written as text, the empty set as ``{}``.

        Raises
        ------
        DataError
            There are more than 5,000 values.
        """
        if self.n_values > FRAME_LIMIT:
            size = 8 * self.n_values**2 / 1e9
            raise DataError(
                f"a matrix of {self.n_values:,} x {self.n_values:,} values would take {size:,.1f} "
                f"GB; the limit is {FRAME_LIMIT:,} values."
            )
        order = np.array(sorted(range(self.n_values), key=lambda c: reading_key(self.values[c])))
        grid = np.meshgrid(order, order, indexing="ij")
        entries = (self.distance_at if distance else self.at)(grid[0].ravel(), grid[1].ravel())
        names = pd.Index([display_value(self.values[code]) for code in order], tupleize_cols=False)
        return pd.DataFrame(entries.reshape(grid[0].shape), index=names, columns=names)


class DenseWeights(Weights):
    """Credit from a K x K matrix of distances: of few values, or of a distance without structure.

    With `relative`, the largest of them is d_max even if it is below 1.
    """

    def __init__(
        self, values: tuple[Any, ...], distances: Floats, *, relative: bool = False
    ) -> None:
        super().__init__(values)
        self.distances = distances
        self.relative = relative

    @cached_property
    def max_distance(self) -> float:
        """d_max: 1 if no distance is larger, else the largest; never 0."""
        largest = float(self.distances.max())
        return largest or 1.0 if self.relative else max(1.0, largest)

    def distance_at(self, k: Codes, l: Codes) -> Floats:
        """Return d between values k and l, elementwise."""
        return np.asarray(self.distances[k, l])

    def distance_dot(self, x: Floats) -> Floats:
        """Return D @ x for x of shape (K,) or (K, B)."""
        return _times(self.distances, x)

    def squares(self, x: Floats) -> float:
        """Return the sum of x_k x_l (d_kl / d_max)² for x of shape (K,)."""
        rows = (row / self.max_distance for row in self.distances)
        return float(sum(one * ((row * row) @ x) for one, row in zip(x, rows, strict=True)))


class BlockWeights(Weights):
    """Weights whose distances are computed on demand in blocks of rows x columns."""

    def distance_dot(self, x: Floats) -> Floats:
        """Return D @ x for x of shape (K,) or (K, B)."""
        out = np.zeros(x.shape)
        codes = np.arange(self.n_values)
        add_symmetric_blocks(self, codes, codes[:0], x, out)
        return out

    def squares(self, x: Floats) -> float:
        """Return the sum of x_k x_l (d_kl / d_max)² for x of shape (K,)."""
        used = np.flatnonzero(x)
        out = 0.0
        for i, rows in enumerate(chunks(used)):
            for j, columns in enumerate(chunks(used[i * BLOCK :])):
                part = (self.block(rows, columns) / self.max_distance) ** 2
                out += (2 if j else 1) * float(x[rows] @ part @ x[columns])
        return out

    @cached_property
    def max_distance(self) -> float:
        """d_max, the largest distance among the values; never 0."""
        return largest_in_blocks(self, np.arange(self.n_values)) or 1.0


def largest_in_blocks(weights: BlockWeights, codes: Codes) -> float:
    """Return the largest distance among some values."""
    largest = 0.0
    for i, rows in enumerate(chunks(codes)):
        for columns in chunks(codes[i * BLOCK :]):
            largest = max(largest, float(weights.block(rows, columns).max()))
    return largest


def add_symmetric_blocks(
    weights: BlockWeights, inner: Codes, outer: Codes, x: Floats, out: Floats
) -> None:
    """Add D @ x over inner x inner, inner x outer and outer x inner, each block made once."""
    for i, rows in enumerate(chunks(inner)):
        part = weights.block(rows, rows)
        out[rows] += _times(part, x[rows])
        for columns in (*chunks(inner[(i + 1) * BLOCK :]), *chunks(outer)):
            part = weights.block(rows, columns)
            out[rows] += _times(part, x[columns])
            out[columns] += _times(part.T, x[rows])


def _times(part: Floats, x: Floats) -> Floats:
    # With one column, BLAS threads cost more than they save.
    return np.asarray(np.einsum("ij,j->i", part, x)) if x.ndim == 1 else small_products(part, x)


def small_products(a: Floats, b: Floats) -> Floats:
    """Return a @ b of matrices, in pieces for which BLAS wakes no threads.

    Threads that wait between many small products take several times the processor time of these.
    A product of several milliseconds is passed undivided to BLAS, with all its allowed threads.
    """
    (m, k), n = a.shape, b.shape[1]
    if m * k * n <= _ONE_THREAD or m * k * n > _MANY_THREADS:
        return np.asarray(a @ b)
    rows = min(m, _PIECE_ROWS)
    columns = max(1, _ONE_THREAD // (rows * k))
    out = np.empty((m, n))
    for i in range(0, m, rows):
        for j in range(0, n, columns):
            np.matmul(
                a[i : i + rows], b[:, j : j + columns], out=out[i : i + rows, j : j + columns]
            )
    return out


def chunks(codes: Codes) -> Iterator[Codes]:
    """Yield the codes in runs of one block."""
    for start in range(0, len(codes), BLOCK):
        yield codes[start : start + BLOCK]


def in_blocks(
    function: Callable[[Codes, Codes], npt.NDArray[Any]], k: Codes, l: Codes, size: int
) -> npt.NDArray[Any]:
    """Return function(k, l), elementwise, computed for so many pairs at a time."""
    first = function(k[:size], l[:size])
    if len(k) <= size:
        return first
    out = np.empty(len(k), dtype=first.dtype)
    out[:size] = first
    for start in range(size, len(k), size):
        part = slice(start, start + size)
        out[part] = function(k[part], l[part])
    return out


def dense_if_few(weights: Weights, *, relative: bool = False, most: int = BLOCK) -> Weights:
    """Return the weights of at most `most` values as a matrix; `relative` as in `DenseWeights`."""
    if weights.n_values > most:
        return weights
    every = np.arange(weights.n_values)
    return DenseWeights(weights.values, weights.block(every, every), relative=relative)


def reading_key(value: Any) -> tuple[Any, ...]:
    """Return a sort key: numbers by size, sets by size then labels, the rest as text."""
    if isinstance(value, frozenset):
        return (1, len(value), display_labels(value))
    if isinstance(value, int | float | Decimal | Fraction):
        return (0, value, "")
    return (2, 0, str(value))


def display_value(value: Any) -> str:
    """Return a value as people read it."""
    return display_labels(value) if isinstance(value, frozenset) else str(value)


def neighbours(groups: Codes) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Yield the pairs of entries of the same group in blocks: k with k + 1, k + 2, ...

    Entries of one group are adjacent, so that the cost is the number of pairs within groups.
    """
    left, shift = np.arange(len(groups)), 0
    while left.size:
        shift += 1
        left = left[left + shift < len(groups)]
        left = left[groups[left + shift] == groups[left]]
        yield left, left + shift


def sums_to_others(
    groups: npt.NDArray[Any], values: npt.NDArray[Any], counts: Floats, weights: Weights
) -> Floats:
    """Return sum_l counts_l d_kl over the other entries l of the group of each entry k.

    Entries of one group must be adjacent.
    """
    out = np.zeros(len(values))
    for left, right in neighbours(groups):
        d = weights.distance_at(values[left], values[right])
        out[left] += d * counts[right]
        out[right] += d * counts[left]
    return out
