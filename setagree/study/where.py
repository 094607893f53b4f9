"""Which rows of a table count: one condition on one column, read alike whatever the table is."""

from __future__ import annotations

import datetime as dt
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import compress, islice
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import (
    DataError,
    DroppedRowsWarning,
    OptionError,
    SetagreeError,
    a_type,
    check_type,
    counted,
    did_you_mean,
    listing,
    option,
    shorten,
    warn,
)
from setagree.study.codes import Column
from setagree.study.frames import as_pandas, column_names, without_dictionary
from setagree.study.labels import is_missing
from setagree.study.names import tidied
from setagree.study.numbers import as_number, exact, usual_spelling

Key: TypeAlias = Fraction | float | str
"""What is compared: an exact number (infinity is a float), or text."""

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "in": operator.eq,
}

_EQUALITY = {"==", "!=", "in"}

NULL, NO, YES = -1, 0, 1

_BARE = r"[^\s`\"'\[\](),=!<>&|]+"
_COLUMN = re.compile(rf"\s*(?:`((?:[^`]|``)+)`|({_BARE}))\s*")
_OPERATOR = re.compile(r"(==|!=|<=|>=|<|>|in(?![^\s\[]))\s*")
_VALUE = re.compile(rf"\s*(?:\"((?:[^\"]|\"\")*)\"|'((?:[^']|'')*)'|({_BARE}))\s*")
_NOTHING = {"null", "none", "nan", "nat", "<na>"}
_TRUTH = {"true", "false"}
_AS_WRITTEN = (dt.date, dt.time, UUID, pd.Period)
_CLOCK = r"(\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?"
_OFFSET = r"(Z|[+-]\d\d(?::?\d\d(?::\d\d)?)?)?"
_TIME = re.compile(rf"(?:(\d{{4}}-\d\d-\d\d)[T ])?{_CLOCK}{_OFFSET}")
_YEAR_FIRST = re.compile(r"\d{4}([./-])\d\d(?:\1\d\d)?(?!\d)")
_UNSORTED = re.compile(
    r"(?<!\d)\d\d?([./-])\d\d?\1(?:\d{4}|\d\d)(?!\d)"  # day or month first
    r"|(?<!\d)\d{4}([./-])(?:\d(?!\d)|\d\d\2\d(?!\d))"  # without leading zeros
    r"|(?<![\d:.])\d:\d\d|\d:\d\d.*[ap]m\b"
)
CALENDAR_WORDS = {
    *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
    *("january", "february", "march", "april", "june", "july", "august", "september", "october"),
    *("november", "december", "mon", "tue", "wed", "thu", "fri", "sat", "sun", "monday"),
    *("tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
}
_SHOWN = 5
_MOST_CELLS = 1000
_ROWS = re.compile(r"\brows? \d")
_ONE = (
    "; there is one condition (for several values: COLUMN in [1, 2]; for more, filter the table "
    "first), and text with spaces or signs stands in quotes"
)


@dataclass(frozen=True)
class Where:
    """A condition on the rows of a table.

    It is written ``COLUMN OP VALUE``: a column; one of ==, !=, <, <=, >, >=, in; a value, after
    ``in`` a list of them in square brackets. A column with spaces or signs stands in backticks, a
    value with such in single or double quotes (a quote within is doubled). So ``repeat == 0``,
    ``split != "not used"``, ``round in [1, 2, "pilot b"]`` are conditions, as is
    ```Time (s)` >= 2.5``. There is no ``and``: one condition is all.

    A cell and a value without quotes are compared as numbers if both are numbers or spell one
    (007, 7 and 7.0 are equal), else as text without the space around it. A value in quotes is
    text: ``version == "1.10"`` does not match 1.1, and ``version == 1.10`` matches both. The text
    of a cell that is a number is its shortest decimal form (1.1; 1, not 1.0). Only numbers among
    themselves, and texts among themselves, are smaller or larger. Times are text, year first, so
    that earlier ones are smaller; <, <=, > and >= refuse dates such as 31.01.2026. Times are the
    same if they are written as 2024-05-01T10:30 or with a space, with zeros behind the second or
    without, and so are 10:30 and 10:30:00. A time with a zone or an offset (Z, +02:00, +0200,
    +02), in a cell or as the value, is the time in UTC; a value
    without one is taken as UTC where the cells have zones. Without quotes, true and false match
    text in any case, as files spell them differently. A null never matches, and nor does a blank
    cell, which is what a null looks like in a CSV.

    Examples
    --------
    >>> Where.parse("round in [1, 'pilot b']").values
    ('1', 'pilot b')
    >>> [Where.parse("repeat != 0").verdict(cell) for cell in ("0.0", 1, "x", None)]
    [0, 1, 1, -1]
    >>> [Where.parse("repeat == '0'").verdict(cell) for cell in ("0.0", "0", 0.0)]
    [0, 1, 1]
    """

    text: str
    column: str
    operator: str
    values: tuple[str, ...]
    quoted: tuple[bool, ...]

    @staticmethod
    def equality(column: str, value: object) -> str:
        """Return the condition that keeps the rows with a value, with quotes where they are due.

        Examples
        --------
        >>> Where.equality("round", 1), Where.equality("my round", "pilot b")
        ('round == 1', '`my round` == "pilot b"')
        """
        text = str(value)
        is_bare = re.fullmatch(_BARE, text) and text.casefold() not in _NOTHING
        quoted = text if is_bare else '"{}"'.format(text.replace('"', '""'))
        ticked = "`{}`".format(column.replace("`", "``"))
        return f"{column if re.fullmatch(_BARE, column) else ticked} == {quoted}"

    @classmethod
    def parse(cls, text: object) -> Where:
        """Read a condition; what is none is refused, with the place."""
        check_type("where", text, str, "a condition, such as 'repeat == 0'")
        whole = str(text)
        column = _COLUMN.match(whole)
        if column is None:
            raise _wrong(whole, whole, "a column, or `a column` in backticks")
        rest = whole[column.end() :]
        found = _OPERATOR.match(rest)
        if found is None:
            raise _no_operator(whole, rest, column[0].strip())
        sign, rest = found[1], rest[found.end() :]
        values = _listed(whole, rest) if sign == "in" else [_single(whole, sign, rest)]
        name = column[1].replace("``", "`") if column[1] else column[2]
        return cls(whole, name, sign, *zip(*values, strict=True))

    @cached_property
    def keys(self) -> list[Key]:
        """What cells are compared with; if a value is quoted, only cells that are not text."""
        compared = zip(self.values, self.quoted, strict=True)
        return [_number_or_text(value, quoted=quoted) for value, quoted in compared]

    def verdict(self, cell: object) -> int:
        """Return whether a cell matches: `YES`, `NO`, or `NULL` if it is missing or blank."""
        key = key_of(cell)
        if key is None:
            return NULL
        # A numeral in quotes is refused after the other operators, and other text is a key.
        is_exact = isinstance(cell, str) and self.operator in _EQUALITY
        compared = zip(self.values, self.keys, self.quoted, strict=True)
        matches = (
            self.holds(_as_text(cell), _as_text(value))
            if is_exact and quoted
            else self.holds(key, value_key)
            for value, value_key, quoted in compared
        )
        return YES if any(matches) else NO

    def holds(self, key: Key, value: Key) -> bool:
        """Return whether the key of a cell matches the key of a value."""
        if isinstance(key, str) != isinstance(value, str):
            return self.operator == "!="
        if isinstance(key, str) and self.operator not in _EQUALITY:
            _check_order(key, str(value))
        return OPERATORS[self.operator](key, value)

    def verdicts(self, cells: Iterable[object]) -> npt.NDArray[np.int8]:
        """Return the verdict on each of several cells; equal ones of one type are read once."""
        known: dict[tuple[type, Any, int], int] = {}
        found = []
        try:
            for cell in cells:
                # To Python, the two hours at the end of summer time are equal but for the fold.
                pair = (type(cell), cell, getattr(cell, "fold", 0))
                try:
                    verdict = known.get(pair)
                except TypeError:  # a list, a dict
                    verdict = self.verdict(cell)
                if verdict is None:
                    verdict = known[pair] = self.verdict(cell)
                found.append(verdict)
        except DataError as error:
            raise DataError(
                f"{option('where', self.text)}: column {self.column!r} {error}"
            ) from None
        return np.array(found, dtype=np.int8)

    def of_column(self, column: Column) -> npt.NDArray[np.int8]:
        """Return the verdict on each row of a column."""
        column = without_dictionary(column)
        if column.dtype == object:  # to a table of distinct cells, 1 and True are one
            return self.verdicts(column)
        codes, distinct = pd.factorize(column)
        # A missing cell has code -1, which picks the last.
        return np.append(self.verdicts(distinct.tolist()), np.int8(NULL))[codes]

    @property
    def counted_from(self) -> str:
        """A sentence on how errors count rows after the condition."""
        return f"Rows are counted after {option('where', self.text)}."

    def found_in(self, names: Sequence[Any]) -> Any:
        """Return the column of a table that is meant, whose name need not be text."""
        meant = [name for name in names if str(name) == self.column]
        if len(meant) == 1:
            return meant[0]
        if meant:
            raise DataError(
                f"{option('where', self.text)}: {len(meant)} columns are called {meant[0]!r}."
            )
        raise DataError(
            f"{option('where', self.text)}: there is no column {self.column!r}; the columns are "
            f"{listing([str(name) for name in names], limit=12)}."
            f"{did_you_mean(self.column, names)}"
        )


@dataclass(frozen=True)
class Counts:
    """How many rows a condition was asked about, kept, and found nothing in.

    Where none is kept, `held` has some cells of the column: whether each is text, what it is
    compared by, and how it is written.

    Examples
    --------
    >>> Counts(10, 7, 1).sentence(Where.parse("repeat == 0"))
    "where='repeat == 0' drops 3 of 10 rows; 1 of them has nothing in column 'repeat'."
    """

    n: int
    n_kept: int
    n_null: int = 0
    held: tuple[tuple[bool, Key, str], ...] = ()

    def __add__(self, other: Counts) -> Counts:
        """Return what two parts of a table have together."""
        n_kept = self.n_kept + other.n_kept
        held = () if n_kept else tuple(sorted({*self.held, *other.held})[: _SHOWN + 1])
        return Counts(self.n + other.n, n_kept, self.n_null + other.n_null, held)

    @classmethod
    def of(
        cls,
        verdicts: npt.NDArray[np.int8],
        cells: Iterable[object],
        times: npt.NDArray[Any] | None = None,
    ) -> Counts:
        """Count the verdicts on cells, each of which may stand for several rows."""
        how_often = np.ones(len(verdicts), dtype=np.int64) if times is None else times
        n_kept, n_null = (int(how_often[verdicts == one].sum()) for one in (YES, NULL))
        held = () if n_kept else some_held(compress(cells, verdicts != NULL))
        return cls(int(how_often.sum()), n_kept, n_null, held)

    def sentence(self, where: Where) -> str:
        """Return how many rows were dropped, in words."""
        has = "has" if self.n_null == 1 else "have"
        null = f"; {self.n_null:,} of them {has} nothing in column {where.column!r}"
        dropped = f"{self.n - self.n_kept:,} of {counted(self.n, 'row')}"
        return f"{option('where', where.text)} drops {dropped}{null if self.n_null else ''}."

    def check(self, where: Where) -> None:
        """Raise `DataError` where no row is kept."""
        if self.n and not self.n_kept:
            shown = ", ".join(spelled for _, _, spelled in self.held[:_SHOWN])
            more = " and more" if len(self.held) > _SHOWN else ""
            holds = f"; column {where.column!r} holds {shown}{more}" if shown else ""
            raise DataError(
                f"{option('where', where.text)} keeps none of {counted(self.n, 'row')}{holds}."
            )

    def warn_dropped(self, where: Where, name: str | None = None) -> None:
        """Say in a warning how many rows a condition drops, of a table that has a name or not."""
        warn(f"{name}: " * (name is not None) + self.sentence(where), DroppedRowsWarning)


NO_ROWS = Counts(0, 0)


def kept_rows(frame: Any, where: Where, *, name: str | None = None) -> Any:
    """Return the rows of a table in memory that match; warn how many do not.

    The table is of pandas, or an eager one that narwhals has wrapped. `name` is what the warning
    calls it, where there are several.

    Raises
    ------
    DataError
        The column is absent or holds lists, or no row matches.
    """
    kept = matching_rows(frame, where, table=name)
    return frame[kept] if isinstance(frame, pd.DataFrame) else frame.filter(kept.tolist())


def matching_rows(frame: Any, where: Where, *, table: str | None = None) -> npt.NDArray[np.bool_]:
    """Return which rows of a table in memory match; see `kept_rows`."""
    name = where.found_in(column_names(frame))
    column = as_pandas(frame, [name])[name]
    verdicts = where.of_column(column)
    counts = Counts.of(verdicts, column)
    counts.check(where)
    counts.warn_dropped(where, table)
    return np.asarray(verdicts == YES)


@contextmanager
def counting_rows(counted_from: str) -> Iterator[None]:
    """Add a sentence to errors that count rows, if some rows were left out before."""
    try:
        yield
    except SetagreeError as error:
        if not _ROWS.search(str(error)):
            raise
        raise type(error)(f"{error} {counted_from}") from error


def some_held(cells: Iterable[object]) -> tuple[tuple[bool, Key, str], ...]:
    """Return the least of the first cells that hold something, spelled as in a condition."""
    found = set()
    for cell in islice(cells, _MOST_CELLS):
        if (key := key_of(cell)) is not None:
            number = str(cell) if isinstance(cell, Decimal) else shorten(cell)
            is_text = isinstance(key, str)
            text = _as_text(cell) if isinstance(cell, str) else key
            found.add((is_text, key, shorten(text) if isinstance(text, str) else number))
    return tuple(sorted(found)[: _SHOWN + 1])


def key_of(cell: object) -> Key | None:
    """Return what a cell is compared by; None where there is nothing in it."""
    plain = cell.item() if isinstance(cell, np.bool_ | np.number) else cell
    if is_missing(plain):
        return None
    if isinstance(plain, bool):
        return str(plain).casefold()
    if isinstance(plain, str):
        plain = tidied(plain)
    number = as_number(plain)
    if number is not None:
        return number if isinstance(number, float) and math.isinf(number) else exact(number)
    if isinstance(plain, str):
        return (plain.casefold() if plain.casefold() in _TRUTH else _timed(plain)) or None
    if isinstance(plain, _AS_WRITTEN):
        return _timed(str(plain))
    raise DataError(f"holds {a_type(cell)}; only text, numbers, flags and dates are compared.")


def _is_unsorted(text: str) -> bool:
    """Return whether text is a date or time whose order is not that of its characters."""
    text = text.casefold()
    words = {*re.findall(r"[^\W\d_]+", text)}
    return bool(_UNSORTED.search(text) or (words & CALENDAR_WORDS and re.search(r"\d", text)))


def _check_order(cell: str, value: str) -> None:
    """Raise if a cell is compared with a date or time, but is written in another form."""
    first = _YEAR_FIRST.match(value)
    if first is None and not _TIME.fullmatch(value):
        return
    other = _YEAR_FIRST.match(cell)
    if _is_unsorted(cell) or (first and other and first[1] != other[1]):
        raise DataError(
            f"holds {shorten(cell)}, which is not written as {shorten(value)} is; dates and times "
            "are compared as text, so write all of them as in 2026-01-31 or 2026-01-31T09:30."
        )


def _as_text(cell: Any) -> str:
    """Return a cell of text, or a quoted value, as they are compared: only times are respelled."""
    return _timed(tidied(str(cell)))


def _number_or_text(value: str, *, quoted: bool) -> Key:
    """Return the key of a value; a quoted numeral is a number only in the shortest decimal form."""
    number = as_number(tidied(value)) if quoted else None
    is_infinite = isinstance(number, float) and math.isinf(number)
    if number is not None and (is_infinite or usual_spelling(number) != tidied(value)):
        return tidied(value)
    key = key_of(value)
    assert key is not None  # noqa: S101 - blank values are refused by the parser
    return key


def _timed(text: str) -> str:
    """Return text as it is, but a time of ISO 8601 in one spelling, midnight as the date alone.

    Files and libraries write T or a space, and as many zeros behind the second as they like. A
    time with an offset is told in UTC, since some engines forget the zone of a column.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return text
    day, minute, second, fraction, zone = (part or "" for part in found.groups())
    spelled = f"{day} {minute}:{second or '00'}".strip()
    if zone:
        try:
            there = dt.datetime.fromisoformat(f"{spelled}{zone}")
            spelled = str(there.astimezone(dt.UTC).replace(tzinfo=None))
        except (ValueError, OverflowError):  # no day or hour that there is
            return text
    return (spelled + f".{fraction}".rstrip("0").rstrip(".")).removesuffix(" 00:00:00")


def _single(text: str, sign: str, rest: str) -> tuple[str, bool]:
    if rest.startswith("["):
        raise _wrong(text, rest, f"one value after {sign!r} (a list stands after 'in')")
    start = rest
    value, quoted, rest = _value(text, rest)
    if rest:
        raise _wrong(text, rest, f"nothing after the value {value!r}{_ONE}")
    if quoted and sign not in _EQUALITY and as_number(tidied(value)) is not None:
        raise _wrong(
            text, start, f"a number without quotes after {sign!r} (quoted values are text)"
        )
    if sign not in _EQUALITY and _is_unsorted(value):
        raise _wrong(
            text, start, f"a date or time after {sign!r} as in 2026-01-31 or 2026-01-31T09:30"
        )
    return value, quoted


def _listed(text: str, rest: str) -> list[tuple[str, bool]]:
    """Return the values of a list in square brackets, and whether each is quoted."""
    if not rest.startswith("["):
        raise _wrong(text, rest, "a list in square brackets after 'in', such as [1, 'pilot b']")
    values, rest = [], "," + rest[1:]
    while rest.startswith(","):
        value, quoted, rest = _value(text, rest[1:])
        values.append((value, quoted))
    if not rest.startswith("]"):
        raise _wrong(text, rest, f"a comma or a closing bracket after {values[-1][0]!r}")
    if rest[1:].strip():
        raise _wrong(text, rest[1:].strip(), f"nothing after the list{_ONE}")
    return values


def _value(text: str, rest: str) -> tuple[str, bool, str]:
    """Return the value that a text begins with, whether it is quoted, and the rest of the text."""
    found = _VALUE.match(rest)
    if found is None:
        raise _wrong(text, rest.strip(), "a value (a number, a word, or text in quotes)")
    double, single, bare = found.groups()
    if double is not None:
        value = double.replace('""', '"')
    else:
        value = single.replace("''", "'") if single is not None else bare
    if not value.strip():
        raise _wrong(text, found[0].strip(), "a value (blank cells never match)")
    if bare and bare.casefold() in _NOTHING:
        raise _wrong(text, bare, "a value (nulls never match; put the text in quotes if it is one)")
    return value, bare is None, rest[found.end() :]


def _no_operator(text: str, rest: str, column: str) -> OptionError:
    known = ", ".join(OPERATORS)
    if re.match(r"=(?!=)", rest):
        return _wrong(text, rest, "== (which tests whether two things are equal)")
    if re.match(r"not\s+in\b", rest):
        return _wrong(text, rest, f"one of {known} (there is no 'not in')")
    hint = "" if not rest or column.startswith("`") else "; a name with spaces or signs stands in"
    hint += f" backticks: `{column} ...`" if hint else ""
    return _wrong(text, rest, f"one of {known} after the column {column!r}{hint}")


def _wrong(text: str, rest: str, expected: str) -> OptionError:
    place = f"at {shorten(rest)}" if rest else "at its end"
    return OptionError(f"{option('where', text)}: {place}, expected {expected}.")
