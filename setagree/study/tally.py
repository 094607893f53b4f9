"""Tally of a study: distinct patterns of values and their frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.checks import Codes, Floats, cached_property, public
from setagree.errors import DataError, a_type, check_flag, counted
from setagree.lazy import pd
from setagree.study.annotations import Annotations
from setagree.study.answer_warnings import warn_similar
from setagree.study.codes import (
    Kind,
    ReadOnlyArrays,
    Value,
    as_objects,
    common_order,
    entries_of,
    merge,
    read_only,
)
from setagree.study.identifiers import Keys, value_numbers
from setagree.study.labels import Case
from setagree.study.layouts import read_counts
from setagree.study.reading import AnswerKind
from setagree.study.sampling import warn_ignored
from setagree.wording.label_sets import LabelSep

_FEW_CELLS, _FEW_RATINGS = 30_000, 5_000
_NUMBERS = np.random.default_rng(0).integers(2**63, size=64, dtype=np.uint64)


@dataclass(frozen=True, eq=False, repr=False)
class Tally(ReadOnlyArrays):
    """Distinct unit patterns and their frequencies.

    A pattern is a row of counts: the number of raters who gave each value to a unit. Units with
    equal counts contribute equally to every coefficient that does not use rater identities. If
    raters are kept, a pattern is a set of pairs of rater and value.

    Attributes
    ----------
    kind : {"labels", "number", "category"}
        Type of the values.
    values : tuple
        The K values.
    indptr, indices, counts : ndarray
        The counts of shape (n_patterns, K) in compressed rows.
    multiplicity : ndarray of shape (n_patterns,)
        Number of units with each pattern.
    units : ndarray of object, or None
        Identifiers of the units, if they are known.
    unit_patterns : ndarray of shape (n_units,), or None
        The pattern of each unit, if it is known.
    n_raters : int or None
        Number of raters, if it is known.
    given : Given or None
        Answers of one unit of each pattern with their raters, if raters are kept. Patterns then
        differ by them, and several may have the same counts.
    n_missing : int
        Rows without an annotation in the table that was reduced.
    order : tuple
        The categories of an ordered column in their order, as in `Annotations`.

    Examples
    --------
    >>> import pandas as pd
    >>> counts = pd.DataFrame({"a": [2, 2, 0], "": [1, 1, 3]}, index=["u1", "u2", "u3"])
    >>> tally = Tally.from_counts(counts)
    >>> tally
    <Tally: 3 units in 2 patterns of 2 values>
    >>> tally.multiplicity
    array([2., 1.])
    """

    kind: Kind
    values: tuple[Value, ...]
    indptr: npt.NDArray[np.intp]
    indices: Codes
    counts: Floats
    multiplicity: Floats
    units: npt.NDArray[np.object_] | None = None
    unit_patterns: Codes | None = None
    n_raters: int | None = None
    given: Given | None = None
    n_missing: int = 0
    order: tuple[Value, ...] = ()

    def __repr__(self) -> str:
        who = "" if self.given is None else f" by {counted(len(self.given.raters), 'rater')}"
        return (
            f"<Tally: {self.n_units:,} units in {self.n_patterns:,} patterns of "
            f"{self.n_values:,} values{who}>"
        )

    @classmethod
    @public
    def from_annotations(cls, study: Annotations, *, keep_raters: bool = False) -> Tally:
        """Return the tally of coded annotations; `keep_raters` keeps the raters in the patterns."""
        if keep_raters is not False:
            check_flag("keep_raters", keep_raters)
        if not hasattr(study, "rater_codes"):
            raise DataError(
                f"Expected annotations, got {a_type(study)}; a tally is made from them."
            )
        warn_ignored(study.sampling, "Tally.from_annotations")
        return cls.of(study, keep_raters=keep_raters)

    @classmethod
    def of(cls, study: Annotations, *, keep_raters: bool = False) -> Tally:
        """Return the tally of coded annotations, without their sampling design."""
        few = study.n_units * study.n_values <= _FEW_CELLS and not keep_raters
        indptr, indices, counts, times, patterns = (_few_patterns if few else _counted)(study)
        coded = study.unit_codes, study.rater_codes, study.value_codes
        tally = cls(
            study.kind,
            study.values,
            indptr,
            indices,
            counts,
            times,
            study.units,
            patterns,
            study.n_raters,
            Given.of_answers(study.raters, *coded) if keep_raters else None,
            order=study.order,
        )
        return tally if few else _in_patterns(tally)

    @classmethod
    @public
    def from_counts(
        cls,
        table: pd.DataFrame | npt.ArrayLike,
        *,
        values: Sequence[object] | None = None,
        kind: AnswerKind = "labels",
        label_sep: LabelSep = ",",
        case: Case = "keep",
    ) -> Tally:
        """Return the tally of a table of counts: one row per unit, one column per value.

        Parameters
        ----------
        table : DataFrame, or array or list of lists of shape (n_units, K)
            Number of raters who gave each value to each unit. The columns name label sets (blank:
            the empty set) or scalars; columns that name the same value are added up. An unused
            value remains in the list of categories.
        values : sequence, optional
            The names of the columns of an array or of lists.
        kind : {"labels", "number", "category", "value"}
            Type of the values that the columns name, as in `Annotations.from_wide`.
        label_sep, case
            Syntax of the label sets; see `parse_labels`.

        Raises
        ------
        DataError
            A count is negative, missing or not a number, all counts are 0, or a column has no name.
        OptionError
            `values` is passed with a DataFrame.

        Examples
        --------
        >>> Tally.from_counts([[2, 1], [0, 3]], values=["a", "a, b"])
        <Tally: 2 units in 2 patterns of 2 values>
        """
        counts, units, answers = read_counts(
            table, values, kind=kind, label_sep=label_sep, case=case
        )
        rows, columns = np.nonzero(counts)
        tally = cls(
            answers.kind,
            answers.values,
            np.searchsorted(rows, np.arange(len(counts) + 1)),
            columns.astype(np.int32),
            counts[rows, columns],
            np.ones(len(counts)),
            units,
            np.arange(len(counts)),
            order=answers.order,
        )
        return _in_patterns(tally)

    @property
    def n_values(self) -> int:
        """K, the number of values."""
        return len(self.values)

    @property
    def n_patterns(self) -> int:
        """Number of distinct patterns."""
        return len(self.multiplicity)

    @property
    def n_units(self) -> int:
        """Number of units with a rating."""
        return int(self.multiplicity.sum())

    @cached_property
    def n_ratings(self) -> int:
        """Number of ratings."""
        return round(float((self.multiplicity * self.pattern_ratings).sum()))

    @cached_property
    def rows(self) -> Codes:
        """The pattern of each stored count."""
        return read_only(np.arange(self.n_patterns).repeat(self.indptr[1:] - self.indptr[:-1]))

    @cached_property
    def pattern_ratings(self) -> Floats:
        """r_i, the number of ratings of a unit of each pattern."""
        sums = np.bincount(self.rows, self.counts, self.n_patterns)
        return read_only(sums.astype(np.float64, copy=False))

    @cached_property
    def pairable(self) -> npt.NDArray[np.bool_]:
        """Whether a unit of each pattern has at least two ratings."""
        return read_only(self.pattern_ratings >= 2)

    @cached_property
    def n_pairable_units(self) -> int:
        """Number of units with at least two ratings."""
        return int(self.multiplicity[self.pairable].sum())

    @cached_property
    def pairable_totals(self) -> Floats:
        """X_k, the number of ratings of each value in units with at least two ratings."""
        return read_only(self.value_totals(self.multiplicity * self.pairable))

    @cached_property
    def keys(self) -> Keys:
        """Hash of the values and counts of each pattern, as a reproducible sort key."""
        keys = row_keys(value_numbers(self.values), self.counts, self.indices, self.indptr)
        return read_only(keys)

    def value_totals(self, pattern_weights: Floats) -> Floats:
        """Return the sum over patterns of weight x counts, one number per value."""
        weighted = self.counts * pattern_weights[self.rows]
        return np.bincount(self.indices, weighted, self.n_values).astype(np.float64, copy=False)

    def pattern_means(self, x: Floats) -> Floats:
        """Return sum_k c_ik x_k / r_i, the mean of x over the ratings of each pattern."""
        sums = np.bincount(self.rows, self.counts * x[self.indices], self.n_patterns)
        return np.asarray(sums / self.pattern_ratings)

    def unit_rows(self) -> Tally:
        """Return the tally with one row per unit, also for equal units, if the units are known."""
        if self.unit_patterns is None:
            raise DataError("the tally has no units, so that it has no row per unit.")
        units = np.arange(len(self.unit_patterns))
        return take_rows(self, self.unit_patterns, np.ones(len(units)), units)

    def with_values(self, values: tuple[Value, ...]) -> Tally:
        """Return the tally with further, unused values in its list of values."""
        if values is self.values:
            return self
        present = set(self.values)
        return replace(self, values=self.values + tuple(v for v in values if v not in present))

    def merge(self, other: Tally) -> Tally:
        """Return the tally of both sets of units together.

        Units of the two tallies are distinct, even if they have the same name. If both keep
        raters, raters with the same name are one rater; otherwise the raters are dropped.

        Raises
        ------
        DataError
            One contains label sets and the other scalars.

        Warns
        -----
        SimilarLabelsWarning
            One has numbers and the other categories, some of which are numbers as text.
        SetagreeWarning
            Their ordered categories differ; the order is dropped.

        Examples
        --------
        >>> import pandas as pd
        >>> one = Tally.from_counts(pd.DataFrame({"a": [2], "b": [1]}))
        >>> two = Tally.from_counts(pd.DataFrame({"b": [1, 3], "a": [2, 0]}))
        >>> one.merge(two)
        <Tally: 3 units in 2 patterns of 2 values>
        """
        if not hasattr(other, "multiplicity"):
            raise DataError(f"Expected a tally, got {a_type(other)}; pass another tally.")
        if (self.kind == "labels") != (other.kind == "labels"):
            raise DataError(f"a tally of {self.kind} does not merge with one of {other.kind}.")
        codes = {value: code for code, value in enumerate(self.values)}
        moved = np.array([codes.setdefault(v, len(codes)) for v in other.values], dtype=np.int32)
        if self.kind != other.kind:  # numbers of one tally may be text in the other
            warn_similar("Categories", {v for v in codes if isinstance(v, str | int | float)})
        units, unit_patterns = _joined_units(self, other) or (None, None)
        given = None
        if self.given is not None and other.given is not None:
            given = self.given.joined(other.given, moved)
        joined = Tally(
            self.kind if self.kind == other.kind else "category",
            tuple(codes),
            np.concatenate([self.indptr, other.indptr[1:] + self.indptr[-1]]),
            np.concatenate([self.indices, moved[other.indices]]),
            np.concatenate([self.counts, other.counts]),
            np.concatenate([self.multiplicity, other.multiplicity]),
            units,
            unit_patterns,
            None if given is None else len(given.raters),
            given,
            self.n_missing + other.n_missing,
            common_order([self.order, other.order], codes),
        )
        # Sort the entries of each row, so that equal rows are equal entry by entry.
        order = np.lexsort((joined.indices, joined.rows))
        indices, counts = joined.indices[order], joined.counts[order]
        return _in_patterns(replace(joined, indices=indices, counts=counts))


def row_keys(numbers: Keys, counts: Floats, indices: Codes, indptr: Codes) -> Keys:
    """Return a 64-bit hash of each row of counts: sum_k number_k h(count_k).

    Equal rows have equal hashes. Callers must be correct also if unequal rows collide, which is
    as rare as for random numbers.
    """
    # The bits of small counts differ only at the top, so spread them before the multiplication.
    # Compute in place, because each temporary costs as much as the arithmetic.
    mixed = counts.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    shifted = mixed >> np.uint64(32)
    mixed ^= shifted
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    np.right_shift(mixed, np.uint64(29), out=shifted)
    mixed ^= shifted
    mixed |= np.uint64(1)
    mixed *= np.take(numbers, indices, out=shifted, mode="clip")
    return np.add.reduceat(mixed, indptr[:-1])


_Rows: TypeAlias = tuple[npt.NDArray[np.intp], Codes, Floats, Floats, Codes]


def _few_patterns(study: Annotations) -> _Rows:
    """Return the arrays of `_counted` with merged rows, from the table of units by values."""
    n, K = study.n_units, study.n_values
    cells = study.unit_codes.astype(np.intp) * K + study.value_codes
    # A pattern is identified by the bytes of its row, so that a small type is faster.
    table = np.bincount(cells, minlength=n * K).astype(np.min_scalar_type(study.n_ratings))
    units = table.view(f"V{table.itemsize * K}").tolist()
    patterns = {row: code for code, row in enumerate(dict.fromkeys(units))}
    group = np.fromiter(map(patterns.__getitem__, units), dtype=np.intp, count=n)
    table = np.frombuffer(b"".join(patterns), dtype=table.dtype)
    entries = (table > 0).nonzero()[0]  # flags are searched three times as fast as counts
    rows, values = np.divmod(entries, K)
    indptr = rows.searchsorted(np.arange(len(patterns) + 1))
    counts, times = table[entries].astype(np.float64), np.bincount(group).astype(np.float64)
    return indptr, values, counts, times, group


def _counted(study: Annotations) -> _Rows:
    """Return the arrays of a tally (`indptr` to `unit_patterns`) with one row per unit."""
    shape = (study.n_units, study.n_values)
    of_units = np.ones(study.n_units), np.arange(study.n_units)
    if study.n_ratings < _FEW_RATINGS:  # faster than the import of scipy
        keys, n = np.unique(study.unit_codes * shape[1] + study.value_codes, return_counts=True)
        rows, values = np.divmod(keys, max(1, shape[1]))
        indptr = np.zeros(shape[0] + 1, dtype=np.intp)
        np.cumsum(np.bincount(rows, minlength=shape[0]), out=indptr[1:])
        return indptr, values, n.astype(np.float64), *of_units
    from scipy import sparse  # sorts by unit and sums repeats

    codes = study.unit_codes, study.value_codes
    matrix = sparse.coo_array((np.ones(study.n_ratings), codes), shape=shape).tocsr()
    matrix.sum_duplicates()
    return matrix.indptr.astype(np.intp), matrix.indices, matrix.data, *of_units


def _in_patterns(tally: Tally) -> Tally:
    """Return the tally with one pattern for equal units, in the order of their first unit."""
    rows = tally
    if (given := tally.given) is not None:  # rows of pairs of rater and value
        codes, n = given.tokens()
        ones = np.ones(len(codes))
        rows = Tally("category", (*range(n),), given.indptr, codes, ones, tally.multiplicity)
    keys = _fingerprints(rows)
    # Faster than the import of pandas.
    group, distinct = merge(keys.tolist()) if len(keys) < _FEW_RATINGS else pd.factorize(keys)
    first = np.empty(len(distinct), dtype=np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    if len(first) == tally.n_patterns or not _equal_rows(rows, first[group]):
        return tally
    patterns = None if tally.unit_patterns is None else group[tally.unit_patterns]
    times = np.bincount(group, tally.multiplicity).astype(np.float64)
    return take_rows(tally, first, times, patterns)


def _fingerprints(tally: Tally) -> Keys:
    """Return a hash of each row; `_equal_rows` detects collisions."""
    n = tally.n_values
    many = n > len(_NUMBERS)
    random = np.random.default_rng(0).integers(2**63, size=n, dtype=np.uint64) if many else _NUMBERS
    return row_keys(random[:n], tally.counts, tally.indices, tally.indptr)


def _equal_rows(tally: Tally, twin: Codes) -> bool:
    """Return whether every row equals its twin, value by value."""
    rows = np.flatnonzero(twin != np.arange(len(twin)))
    lengths = np.diff(tally.indptr)
    if (lengths[rows] != lengths[twin[rows]]).any():
        return False
    first, second = (entries_of(tally.indptr, some) for some in (rows, twin[rows]))
    return np.array_equal(tally.indices[first], tally.indices[second]) and np.array_equal(
        tally.counts[first], tally.counts[second]
    )


def take_rows(tally: Tally, rows: Codes, multiplicity: Floats, patterns: Codes | None) -> Tally:
    """Return the tally of some rows, which may be repeated."""
    entries = entries_of(tally.indptr, rows)
    return replace(
        tally,
        indptr=np.concatenate([[0], np.cumsum(np.diff(tally.indptr)[rows])]),
        indices=tally.indices[entries],
        counts=tally.counts[entries],
        multiplicity=multiplicity,
        unit_patterns=patterns,
        given=None if tally.given is None else tally.given.take(rows),
    )


def _joined_units(one: Tally, two: Tally) -> tuple[npt.NDArray[np.object_], Codes] | None:
    if one.units is None or two.units is None:
        return None
    if one.unit_patterns is None or two.unit_patterns is None:
        return None
    patterns = np.concatenate([one.unit_patterns, two.unit_patterns + one.n_patterns])
    return np.concatenate([one.units, two.units]), patterns


@dataclass(frozen=True, eq=False)
class Given(ReadOnlyArrays):
    """The answers of one unit of each pattern, with their raters.

    Attributes
    ----------
    raters : ndarray of object, shape (n_raters,)
        Identifiers of the raters.
    indptr : ndarray of shape (n_patterns + 1,)
        Start of the answers of each pattern.
    rater_codes, value_codes : ndarray of shape (n_answers,)
        Raters and values of the answers, in ascending order within a pattern, so that equal
        patterns are equal answer by answer.
    """

    raters: npt.NDArray[np.object_]
    indptr: npt.NDArray[np.intp]
    rater_codes: Codes
    value_codes: Codes

    @classmethod
    def of_answers(
        cls, raters: npt.NDArray[np.object_], rows: Codes, rater_codes: Codes, value_codes: Codes
    ) -> Given:
        """Return the sorted answers; every row must have at least one answer."""
        order = np.lexsort((value_codes, rater_codes, rows))
        indptr = np.append(0, np.cumsum(np.bincount(rows)))
        codes = [array[order].astype(np.int32) for array in (rater_codes, value_codes)]
        return cls(raters, indptr, *codes)

    @cached_property
    def rows(self) -> Codes:
        """The pattern of each answer."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def has_repeats(self) -> bool:
        """Return whether a rater gave several answers to one unit."""
        same = (np.diff(self.rows) == 0) & (np.diff(self.rater_codes) == 0)
        return bool(same.any())

    def tokens(self) -> tuple[Codes, int]:
        """Return one code per distinct pair of rater and value, and the number of codes."""
        n_values = int(self.value_codes.max(initial=0)) + 1
        keys = self.rater_codes.astype(np.int64) * n_values + self.value_codes
        distinct, codes = np.unique(keys, return_inverse=True)
        return codes, len(distinct)

    def take(self, patterns: Codes) -> Given:
        """Return the answers of some of the patterns."""
        kept = entries_of(self.indptr, patterns)
        return replace(
            self,
            indptr=np.append(0, np.cumsum(np.diff(self.indptr)[patterns])),
            rater_codes=self.rater_codes[kept],
            value_codes=self.value_codes[kept],
        )

    def joined(self, other: Given, moved: Codes) -> Given:
        """Return the answers of both, with those of `other` last; raters are matched by name.

        `moved` maps the value codes of `other` to those of this object.
        """
        codes = {rater: code for code, rater in enumerate(self.raters.tolist())}
        named = [codes.setdefault(rater, len(codes)) for rater in other.raters.tolist()]
        return self.of_answers(
            as_objects(codes),
            np.concatenate([self.rows, other.rows + len(self.indptr) - 1]),
            np.concatenate([self.rater_codes, np.array(named)[other.rater_codes]]),
            np.concatenate([self.value_codes, moved[other.value_codes]]),
        )
