"""Linear-time algorithm for sums over pairs of sets, indexed by their sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from math import comb
from typing import Any, TypeAlias

import numpy as np

from setagree.checks import Codes, Floats, cached_property
from setagree.credit.geometry import SetGeometry, size_classes
from setagree.lazy import pd
from setagree.study.codes import ranges

SizeFunction: TypeAlias = Callable[[Any, Any, Any], Floats]

_CELL_BLOCK_SIZE = 4_000_000
"""Number of entries of the table of Y_b(S) in memory; 32 MB of doubles."""

_RANKED_CELLS = 6_000_000
"""Number of cells up to which the table of a level has one for every possible subset."""

_ENTRY_BLOCK_SIZE = 3_000_000
"""Number of pairs of a set and a subset by rank in one sparse array."""


@dataclass(frozen=True)
class SubsetTable:
    r"""Some subsets of one size, and the sets that contain them.

    Attributes
    ----------
    p : int
        The size of the subsets.
    n_cells : int
        Number of pairs of a set size and a subset.
    parts : list of (slice, sparse array)
        Blocks of the sets; an entry is 1 if set A contains subset S, in the column of (\|A\|, S).
    """

    p: int
    n_cells: int
    parts: list[tuple[slice, Any]]


@dataclass(frozen=True)
class _Alike:
    """Sets with equally many of the labels, and their subsets of one size.

    `ids` has one row per set, and one column per subset with its rank among all subsets; `last` is
    the position in the set of the subset's last label.
    """

    rows: slice
    members: Codes
    ids: Codes
    last: Codes


class SubsetIndex:
    """The subsets of the sets `codes` by level, for all distances.

    Only the `n_heavy` most frequent labels count (default: all). With `keeps`, subsets are kept for
    the next product; otherwise they are recomputed.
    """

    def __init__(
        self,
        geometry: SetGeometry,
        codes: Codes,
        n_heavy: int | None = None,
        *,
        keeps: bool = False,
    ) -> None:
        self.keeps = keeps
        self.ones = np.ones(0)
        self.n_labels = len(geometry.labels) if n_heavy is None else n_heavy
        ranks, rows = geometry.ranks, np.repeat(np.arange(geometry.n_values), geometry.sizes)
        heavy = np.bincount(rows[ranks < self.n_labels], minlength=geometry.n_values)[codes]
        # Sets with equally many heavy labels are adjacent.
        self.order = np.argsort(heavy, kind="stable")
        self.lengths = heavy[self.order]
        self.starts = geometry.indptr[codes[self.order]].astype(np.int32)
        self.ranks = ranks.astype(np.int32)
        self.sizes, size_codes = size_classes(geometry.sizes[codes])
        self.size_codes = size_codes[self.order]

    def dot(self, y: Floats, distance: SizeFunction) -> Floats:
        """Return D @ y over the sets, y of shape (n_sets, B), with i counted over the labels."""
        y = y[self.order]
        out, own = np.zeros(y.shape), np.zeros(len(y))
        p, g = -1, np.zeros(0)
        for table in self._kept or self._tables():
            if table.p != p:
                p, g = table.p, binomial_coefficients(self.sizes, table.p, distance)
            if g.any():
                self._add(table, g, y, out, own)
        # Subtract the terms of the distance of a set to itself, which is 0.
        result = np.empty(y.shape)
        result[self.order] = out - own[:, None] * y
        return result

    def _add(self, table: SubsetTable, g: Floats, y: Floats, out: Floats, own: Floats) -> None:
        width = max(1, _CELL_BLOCK_SIZE // table.n_cells)
        for start in range(0, y.shape[1], width):
            columns = slice(start, start + width)
            sums = (held.T @ y[rows, columns] for rows, held in table.parts)
            totals = next(sums)
            for more in sums:
                totals += more
            # Not matmul: the table is long and thin, and BLAS threads cost more than they save.
            credit = np.einsum("ab,bs->as", g, totals.reshape(len(g), -1)).reshape(totals.shape)
            for rows, held in table.parts:
                out[rows, columns] += held @ credit
        diagonal = np.diagonal(g)
        for rows, held in table.parts:
            own[rows] += np.diff(held.indptr) * diagonal[self.size_codes[rows]]

    @cached_property
    def _kept(self) -> list[SubsetTable] | None:
        return list(self._tables()) if self.keeps else None

    def _tables(self) -> Iterator[SubsetTable]:
        """Yield the levels, by rank while the tables are small, then as lists of shared subsets."""
        groups = list(self._alike())
        for p in count():
            n_entries = sum(len(each.ids) * comb(each.members.shape[1], p) for each in groups)
            if not n_entries:
                return
            n_cells = len(self.sizes) * comb(self.n_labels, p)
            if p and not ranked(n_cells, n_entries):
                break
            if p:
                groups = [_longer(each, p) for each in groups if each.members.shape[1] >= p]
            yield SubsetTable(p, n_cells, self._ranked_parts(groups, comb(self.n_labels, p)))
        yield from self._listed(groups, p)

    def _alike(self) -> Iterator[_Alike]:
        """Yield the sets with equally many labels together, with the empty subset."""
        for length in np.flatnonzero(np.bincount(self.lengths)):
            rows = slice(*np.searchsorted(self.lengths, [length, length + 1]).tolist())
            at = self.starts[rows][:, None] + np.arange(length)
            ids = np.zeros((len(at), 1), dtype=np.int32)
            yield _Alike(rows, self.ranks[at], ids, np.array([-1]))

    def _ranked_parts(self, groups: list[_Alike], n_subsets: int) -> list[tuple[slice, Any]]:
        """Return the ranks as sparse arrays; small arrays of several lengths are joined."""
        parts: list[tuple[slice, Any]] = []
        pieces: list[tuple[slice, Codes]] = []
        for each in groups:
            step = max(1, _ENTRY_BLOCK_SIZE // each.ids.shape[1])
            for start in range(each.rows.start, each.rows.stop, step):
                rows = slice(start, min(start + step, each.rows.stop))
                cells = each.ids[start - each.rows.start : rows.stop - each.rows.start]
                if len(self.sizes) > 1:
                    cells = cells + (self.size_codes[rows] * n_subsets).astype(np.int32)[:, None]
                n_entries = sum(piece.size for _, piece in pieces) + cells.size
                if pieces and n_entries > _ENTRY_BLOCK_SIZE:
                    parts.append(self._joined(pieces, n_subsets))
                    pieces = []
                pieces.append((rows, cells))
        return [*parts, self._joined(pieces, n_subsets)]

    def _joined(self, pieces: list[tuple[slice, Codes]], n_subsets: int) -> tuple[slice, Any]:
        cells = [piece.ravel() for _, piece in pieces]
        kept = np.repeat([piece.shape[1] for _, piece in pieces], [len(p) for _, p in pieces])
        one = cells[0] if len(cells) == 1 else np.concatenate(cells)
        held = self._held(one, kept, len(self.sizes) * n_subsets)
        return slice(pieces[0][0].start, pieces[-1][0].stop), held

    def _listed(self, groups: list[_Alike], p: int) -> Iterator[SubsetTable]:
        """Yield the levels from p up, with only the subsets of at least two sets."""
        rows = [np.arange(g.rows.start, g.rows.stop, dtype=np.int32) for g in groups]
        widths = [g.ids.shape[1] for g in groups]
        values = np.concatenate([np.repeat(*each) for each in zip(rows, widths, strict=True)])
        places = np.concatenate([np.tile(g.last.astype(np.int32), len(g.ids)) for g in groups])
        subsets = np.concatenate([g.ids.ravel() for g in groups])
        groups.clear()
        for size in count(p):
            values, places, keys = self._children(values, places, subsets)
            subsets, n_shared = _number_shared(keys)
            del keys
            if not n_shared:
                return
            keep = subsets >= 0
            values, places, subsets = values[keep], places[keep], subsets[keep]
            yield from self._listed_tables(size, values, subsets, n_shared)

    def _listed_tables(
        self, p: int, values: Codes, subsets: Codes, n_shared: int
    ) -> Iterator[SubsetTable]:
        """Yield the subsets in blocks, so that no table is large."""
        step = max(1, _CELL_BLOCK_SIZE // len(self.sizes))
        for start in range(0, n_shared, step):
            width = min(step, n_shared - start)
            within: Any = slice(None)
            if width < n_shared:
                within = np.flatnonzero((subsets >= start) & (subsets < start + width))
            chosen = values[within]
            cells = self.size_codes[chosen] * width + (subsets[within] - start)
            kept = np.bincount(chosen, minlength=len(self.order))
            n_cells = len(self.sizes) * width
            held = self._held(cells, kept, n_cells)
            yield SubsetTable(p, n_cells, [(slice(0, len(kept)), held)])

    def _held(self, cells: Codes, kept: Codes, n_cells: int) -> Any:
        """Return the sparse array of ones; all arrays share the longest run of ones so far."""
        from scipy import sparse

        if len(self.ones) < len(cells):
            self.ones = np.ones(len(cells))
        indptr = np.concatenate([[0], np.cumsum(kept)]).astype(np.int32)
        entries = (self.ones[: len(cells)], cells.astype(np.int32, copy=False), indptr)
        return sparse.csr_array(entries, shape=(len(kept), n_cells))

    def _children(self, values: Codes, places: Codes, subsets: Codes) -> tuple[Codes, Codes, Codes]:
        """Return sets, positions and keys of the subsets with one more label."""
        longer = (self.lengths[values] - 1 - places).astype(np.int32)
        starts = (np.cumsum(longer) - longer).astype(np.int32)
        parent = np.repeat(np.arange(len(values), dtype=np.int32), longer)
        more = np.arange(len(parent), dtype=np.int32)
        more -= np.repeat(starts - places - 1, longer)
        values = values[parent]
        keys = subsets[parent].astype(np.int64)
        keys *= self.n_labels
        keys += self.ranks[self.starts[values] + more]
        return values, more, keys


def _number_shared(keys: Codes) -> tuple[Codes, int]:
    """Return the numbers of the keys that occur at least twice, -1 for others, and their count.

    The keys are overwritten: one sort of keys with their positions is faster than a hash table.
    """
    bits = len(keys).bit_length()
    if int(keys.max(initial=0)).bit_length() + bits > 63:
        keys = pd.factorize(keys)[0].astype(np.int64)
    keys <<= bits
    keys |= np.arange(len(keys))
    keys.sort()
    out = np.full(len(keys), -1, dtype=np.int32)
    sorted_keys = keys >> bits
    repeats = np.zeros(len(keys), dtype=np.bool_)
    repeats[1:] = sorted_keys[1:] == sorted_keys[:-1]
    del sorted_keys
    shared = repeats.copy()
    shared[:-1] |= repeats[1:]
    keys &= (1 << bits) - 1
    numbers = np.cumsum(shared & ~repeats, dtype=np.int32)
    out[keys[shared]] = numbers[shared] - 1
    return out, int(numbers[-1]) if len(numbers) else 0


def ranked(n_cells: Any, n_entries: Any) -> Any:
    """Return whether a level has a table of all possible subsets, which must be filled."""
    return (n_cells <= _RANKED_CELLS) & (n_cells <= 50_000 + 2 * n_entries)


def _longer(each: _Alike, p: int) -> _Alike:
    r"""Return the subsets of size p from those of size p - 1.

    The rank of l_1 < ... < l_p is sum_k C(l_k, k), so that one more label is one addition.
    """
    n_labels = each.members.shape[1]
    later = n_labels - 1 - each.last
    parent = np.repeat(np.arange(len(each.last)), later)
    place = ranges(each.last + 1, later)
    top = int(each.members.max(initial=0)) + 1
    terms = np.array([comb(label, p) for label in range(top)], dtype=np.int32)[each.members]
    ids = each.ids.take(parent, axis=1)
    ids += terms.take(place, axis=1)
    return _Alike(each.rows, each.members, ids, place)


def binomial_coefficients(sizes: Codes, p: int, distance: SizeFunction) -> Floats:
    """Return g_p(a, b) for all pairs of sizes, or 0 if no subset of size p fits in both."""
    a, b = np.meshgrid(sizes, sizes, indexing="ij")
    fits = np.minimum(a, b) >= p
    a, b = a[fits], b[fits]
    d = distance(np.tile(a, p + 1), np.tile(b, p + 1), np.repeat(np.arange(p + 1), len(a)))
    signed = np.array([(-1) ** (p - j) * comb(p, j) for j in range(p + 1)], dtype=np.float64)
    terms = signed[:, None] * d.reshape(p + 1, -1)
    g = terms.sum(axis=0)
    out = np.zeros(fits.shape)
    # Nonzero coefficients from rounding would only cost time.
    out[fits] = np.where(np.abs(g) <= 1e-15 * np.abs(terms).sum(axis=0), 0.0, g)
    return out


_TABLE_LIMIT, _LOOKUPS_A_PAIR = 2_000_000, 8
"""Maximum number of entries of the table: in all, and per pair of values."""


_KINDS = (np.uint8, np.uint16, np.int32)


class SizeTable:
    r"""d(\|A\|, \|B\|, \|A ∩ B\|) over the sizes in use.

    Attributes
    ----------
    sizes : ndarray of shape (n_sizes,)
        The distinct sizes, ascending.
    codes : ndarray of shape (K,)
        Each set's position among them.
    """

    def __init__(self, function: SizeFunction, sizes: Codes) -> None:
        self.function = function
        self.sizes, self.codes = size_classes(sizes)

    @cached_property
    def entries(self) -> Floats | None:
        """The distances by size codes and overlap, or None if there would be too many.

        There are too many if the pairs of values themselves are fewer.
        """
        n, top = len(self.sizes), int(self.sizes[-1]) + 1
        if n * n * top > min(_TABLE_LIMIT, _LOOKUPS_A_PAIR * len(self.codes) ** 2):
            return None
        a, b, i = np.meshgrid(self.sizes, self.sizes, np.arange(top), indexing="ij")
        possible = i <= np.minimum(a, b)
        table = np.full(a.shape, np.nan)
        table[possible] = self.function(a[possible], b[possible], i[possible])
        return table.ravel()

    def at(self, a: Any, b: Any, i: Any) -> Floats:
        """Return the distances, elementwise, for codes of sizes, without `entries`."""
        shape = np.broadcast_shapes(a.shape, b.shape, i.shape)
        sizes_a, sizes_b = (np.broadcast_to(self.sizes[s], shape) for s in (a, b))
        return np.asarray(self.function(sizes_a, sizes_b, i.astype(np.int64)))

    def between(self, k: Codes, l: Codes, i: Any) -> Floats:
        """Return the distances, elementwise, for codes of values."""
        if self.entries is None:
            return self.at(self.codes[k], self.codes[l], i)
        first, second = self._offsets
        place = first.take(k)
        place += second.take(l)
        return np.asarray(self.entries.take(place + i))

    def across(self, rows: Codes, columns: Codes, i: Any) -> Floats:
        """Return the distances between all of some values and all of some others."""
        if self.entries is None:
            return self.at(self.codes[rows][:, None], self.codes[columns][None, :], i)
        first, second = self._offsets
        place = _once(first[rows])[:, None] + _once(second[columns])[None, :] + i
        return np.asarray(self.entries.take(place))

    @cached_property
    def _offsets(self) -> tuple[Codes, Codes]:
        """The start of the entries of each value, as the first of two and as the second.

        Bytes are used for few entries: sums of bytes take a quarter of the time.
        """
        n, top = len(self.sizes), int(self.sizes[-1]) + 1
        kind = next(kind for kind in _KINDS if n * n * top - 1 <= np.iinfo(kind).max)
        return (self.codes * (n * top)).astype(kind), (self.codes * top).astype(kind)

    def step(self, a: Any, b: Any, i: Any, more: Any) -> Floats:
        """Return the changes of the distances if `more` labels are shared in addition to i."""
        if self.entries is None:
            return self.at(a, b, i + more) - self.at(a, b, i)
        start = (a * len(self.sizes) + b) * (int(self.sizes[-1]) + 1) + i
        return np.asarray(self.entries.take(start + more) - self.entries.take(start))


def _once(offsets: Codes) -> Codes:
    """Return one offset instead of many equal ones, which saves one addition per pair."""
    return offsets[:1] if (offsets == offsets[0]).all() else offsets
