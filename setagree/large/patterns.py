"""Survey and coding of distinct answers, tallies of patterns, and identifiers as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import Ints
from setagree.errors import DataError, RepeatsError, UnnamedError, counted, option
from setagree.study.assembly import code_answers, counted_repeats, no_answers, row_a_label
from setagree.study.codes import MISSING, Answers, as_objects, as_ordered, common_order, ranges
from setagree.study.frames import inexact_ids
from setagree.study.identifiers import spelled_time
from setagree.study.reading import Reading
from setagree.study.tally import Given, Tally

_BITS = 40
_SEED = 0

PRIME = 2**31 - 1
"""Modulus whose products of two residues fit in 64 bits."""


@dataclass(frozen=True)
class Held:
    """A cell that is a list, a set or an object and is compared by its text."""

    text: str
    cell: Any = field(compare=False)


@dataclass(frozen=True)
class Survey:
    """Counts of one pass over the rows.

    Attributes
    ----------
    cells : list
        The distinct cells of the answers, without nulls.
    times : ndarray of shape (n_cells,)
        Number of rows with each cell.
    n_null : int
        Number of rows with a null.
    n_bad : dict of str to int
        Numbers of rows without a unit and without a rater.
    inexact : tuple of str
        Roles whose identifiers are floats that are too large to be exact.
    order : tuple
        The categories of an ordered column of answers, in their order.
    """

    cells: list[Any]
    times: Ints
    n_null: int
    n_bad: dict[str, int]
    inexact: tuple[str, ...] = ()
    order: tuple[Any, ...] = ()

    def check(self) -> None:
        """Raise `DataError` if there are no rows, or rows without an exact unit and rater."""
        if not len(self.cells) and not self.n_null:
            raise no_answers(0)
        for role in self.inexact:
            raise inexact_ids(role)
        for role, n_bad in self.n_bad.items():
            if n_bad:
                raise UnnamedError(
                    f"{counted(n_bad, 'row')} without a {role}; name the {role} or drop the rows."
                )


@dataclass(frozen=True)
class CodedCells:
    """Coded distinct cells, and the numbers of their rows.

    Attributes
    ----------
    answers : Answers
        The values, and the code of each cell; -1 for a missing annotation.
    totals : ndarray of shape (n_values,)
        Number of annotations with each value.
    n_missing : int
        Number of rows without an annotation.
    null_code : int
        Code of nulls; -1 for a missing annotation.
    """

    answers: Answers
    totals: Ints
    n_missing: int
    null_code: int = MISSING

    def numbers(self, *, keep_raters: bool = False) -> Ints:
        """Return two random 40-bit numbers per value, shape (n_values, 2).

        To keep raters, return three numbers below `PRIME`, which are multiplied by those of a
        rater. The seed is fixed, so that all engines compute the same fingerprints.
        """
        n, below = (3, PRIME) if keep_raters else (2, 2**_BITS)
        shape = (len(self.answers.values), n)
        return np.random.default_rng(_SEED).integers(below, size=shape)


def code_cells(
    survey: Survey, reading: Reading, *, name: str, place: Callable[[int], str]
) -> CodedCells:
    """Return the coded distinct cells, by the rules of tables in memory.

    `place` returns the first place of the cell at a position, or of a null after the last one.
    """
    survey.check()
    cells = [cell.cell if isinstance(cell, Held) else cell for cell in survey.cells]
    column = pd.Series(as_objects(cells), name=name, dtype=object)
    times = survey.times
    if survey.n_null:
        column = pd.concat([column, pd.Series([None], dtype=object)], ignore_index=True)
        column.name, times = name, np.append(times, survey.n_null)
    column = as_ordered(column, common_order([survey.order], cells))
    answers = code_answers(column, reading, is_long=True, place=place, times=times)
    rated = answers.codes != MISSING
    if not rated.any():
        raise no_answers(int(times.sum()))
    totals = np.zeros(len(answers.values), dtype=np.int64)
    np.add.at(totals, answers.codes[rated], times[rated])
    null_code = int(answers.codes[-1]) if survey.n_null else MISSING
    return CodedCells(answers, totals, int(times[~rated].sum()), null_code)


_FEW = 3


@dataclass(frozen=True)
class Repeats:
    """Pairs of unit and rater with more than one annotation: their number, and up to three."""

    n: int
    few: list[tuple[Any, Any, int]]

    def __add__(self, other: Repeats) -> Repeats:
        return Repeats(self.n + other.n, (self.few + other.few)[:_FEW])

    def check(self) -> None:
        """Raise `RepeatsError` if there are any."""
        if self.n:
            raise RepeatsError(
                f"{counted_repeats(self.n, self.few)}; "
                "keep one row of each, or read the table into memory for "
                f"{option('duplicates', 'last')}, 'first' or 'union'.{row_a_label()}"
            )


@dataclass(frozen=True)
class Numbers:
    """Random numbers of values and raters, whose sums are the fingerprint of a unit.

    Attributes
    ----------
    of_values : dict of str to ndarray
        ``code``, and the random numbers of each value.
    of_raters : dict of str to ndarray, or None
        ``who``, and the ``mark`` of each rater, a power of two; to keep raters, as many random
        numbers as of a value.
    keep_raters : bool
        Whether the numbers of rater and value are multiplied, modulo a prime.
    """

    of_values: Mapping[str, Ints]
    of_raters: Mapping[str, Ints] | None
    keep_raters: bool

    @property
    def names(self) -> list[str]:
        """Names of the random numbers of a value."""
        return [name for name in self.of_values if name != "code"]

    @property
    def keys(self) -> list[str]:
        """The columns that a pattern consists of."""
        return ["code", *["who"] * self.keep_raters]

    @property
    def marks(self) -> list[str]:
        """The column of marks, if there is one."""
        return ["mark"] * (self.of_raters is not None and not self.keep_raters)

    @property
    def n_raters(self) -> int:
        """Number of raters with numbers of their own."""
        return 0 if self.of_raters is None else len(self.of_raters["who"])

    def sums(self, starts: Ints, codes: Ints, who: Ints | None) -> list[Ints]:
        """Return the fingerprints of runs of ratings, as engines compute them."""
        terms = [self.of_values[name][codes] for name in self.names]
        if who is not None and self.of_raters is not None:
            raters = [self.of_raters[f"{name}_of_rater"][who] for name in self.names]
            terms = [
                values * numbers % PRIME for values, numbers in zip(terms, raters, strict=True)
            ]
        return [np.add.reduceat(term, starts) % 2**62 for term in terms]


def tally_of_entries(entries: Any, pattern: Sequence[str]) -> Tally:
    """Return the tally of a table of entries; its values are the codes.

    An entry has the columns `pattern`, which identify the pattern, the number `times` of units with
    it, and the number `count` of their ratings with the value `code`. If there is a column `who`,
    these are the ratings of that rater, and the tally keeps raters, as codes.
    """
    who = ["who"] * ("who" in entries.columns)
    columns = {n: entries[n].to_numpy() for n in (*pattern, "times", "code", "count", *who)}
    order = np.lexsort([columns["code"], *(columns[name] for name in pattern)])
    columns = {name: column[order] for name, column in columns.items()}
    starts = _starts([columns[name] for name in pattern])
    lengths = np.diff(np.append(starts, len(order)))
    raters = columns["who"] if who else None
    times = columns["times"][starts]
    return _tally_of(lengths, columns["code"], columns["count"], raters, times)


def tally_of_lists(table: Any, numbers: Numbers) -> Tally:
    """Return the tally of a table of sorted lists of `keys` and their `times`.

    A key is the code of a value; to keep raters, that times the number of raters, plus the rater.
    """
    lists = table["keys"].to_arrow()
    offsets, times = lists.offsets.to_numpy().astype(np.int64), table["times"].to_numpy()
    keys = lists.values.to_numpy().astype(np.int64)
    starts, sizes, codes, who = offsets[:-1], np.diff(offsets), keys, None
    if numbers.keep_raters:
        codes, who = np.divmod(keys, numbers.n_raters)
    # The order of an engine depends on its threads; this is the order of `tally_of_entries`.
    order = np.lexsort([sizes, *numbers.sums(starts, codes, who)])
    lengths = sizes[order]
    place = ranges(starts[order], lengths)
    raters = None if who is None else who[place]
    return _tally_of(lengths, codes[place], np.ones_like(place), raters, times[order])


def _starts(columns: Sequence[npt.NDArray[Any]]) -> Ints:
    """Return the first positions of runs of rows that are equal in all columns."""
    differs = np.zeros(len(columns[0]), dtype=bool)
    differs[:1] = True
    for column in columns:
        differs[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(differs)


def _tally_of(lengths: Ints, codes: Ints, counts: Ints, who: Ints | None, times: Ints) -> Tally:
    """Return the tally of patterns from their numbers of entries, which are sorted by code."""
    rows = np.repeat(np.arange(len(lengths)), lengths)
    pattern_raters = None
    if who is not None:
        columns = [np.repeat(column, counts.astype(np.intp)) for column in (rows, who, codes)]
        pattern_raters = Given.of_answers(as_objects(range(int(who.max(initial=-1)) + 1)), *columns)
    entry = _starts([rows, codes])
    return Tally(
        "category",
        tuple(range(int(codes.max(initial=-1)) + 1)),
        np.searchsorted(rows[entry], np.arange(len(lengths) + 1)),
        codes[entry].astype(np.int32),
        np.add.reduceat(counts, entry).astype(np.float64),
        times.astype(np.float64),
        given=pattern_raters,
    )


def merge_all(tallies: Iterable[Tally]) -> Tally:
    """Return the merged tally of parts; tallies of similar size are merged first."""
    stack: list[Tally] = []
    for tally in tallies:
        stack.append(tally)
        while len(stack) > 1 and stack[-2].n_patterns <= stack[-1].n_patterns:
            last = stack.pop()
            stack.append(stack.pop().merge(last))
    while len(stack) > 1:
        last = stack.pop()
        stack.append(stack.pop().merge(last))
    return stack[0]


def anonymous(tally: Tally) -> Tally:
    """Return the tally without the identities of its units."""
    return replace(tally, units=None, unit_patterns=None)


def check_totals(totals: npt.NDArray[Any], expected: Ints, what: str) -> None:
    """Raise `DataError` if the patterns have other numbers of annotations than the rows.

    `what` describes what each number is of: a value, or a rater.
    """
    if n := int(np.count_nonzero(totals != expected)):
        raise DataError(
            f"the patterns hold {totals.sum():,.0f} annotations and the rows {expected.sum():,} "
            f"({counted(n, what)} differ), so there is no result: did the table change while it "
            "was read?"
        )


def with_answers(tally: Tally, coded: CodedCells, *, n_raters: int) -> Tally:
    """Return a tally of codes as a tally of values, with checked counts."""
    totals = np.zeros(len(coded.totals))
    totals[list(tally.values)] = tally.value_totals(tally.multiplicity)
    check_totals(totals, coded.totals, "value")
    return replace(
        tally,
        kind=coded.answers.kind,
        values=tuple(coded.answers.values[code] for code in tally.values),
        n_raters=n_raters,
        order=coded.answers.order,
    )


_NUMBER, _TIME, _ODD = "\0#", "\0@", "\0'"


def spelled(name: object) -> str:
    """Return a name as text that equal numbers or times share, and that differs from any text."""
    if isinstance(name, str):
        return f"{_ODD}{name}" if name.startswith("\0") else name
    if isinstance(name, tuple):
        return f"{_NUMBER}{tuple(map(spelled, name))!r}"
    if isinstance(name, Decimal | Fraction):
        exact = Fraction(name)
        name = float(exact) if Fraction(float(exact)) == exact else exact
    if isinstance(name, int | float | np.number):
        is_whole = isinstance(name, int | np.integer) or float(name).is_integer()
        return f"{_NUMBER}{int(name) if is_whole else float(name)!r}"
    if isinstance(name, date):
        return f"{_TIME}{spelled_time(name)}"
    return f"{_NUMBER}{name!r}"


def id_of_text(text: Any) -> Any:
    """Return the readable form of a text of `spelled`, and other objects unchanged."""
    if not isinstance(text, str):
        return text
    return text.removeprefix(_NUMBER).removeprefix(_TIME).removeprefix(_ODD)


def unspelled(text: Any) -> object:
    """Return the text, number, date or time of a text of `spelled`."""
    plain = id_of_text(text)
    if isinstance(text, str) and text.startswith(_TIME):
        return pd.Timestamp(plain) if "T" in plain else date.fromisoformat(plain)
    if not isinstance(text, str) or not text.startswith(_NUMBER):
        return plain
    for kind in (int, float):
        try:
            return kind(plain)
        except ValueError:
            continue
    return plain
