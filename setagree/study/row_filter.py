"""Conditions on the rows of a table, with the same meaning in memory, files and engines."""

from __future__ import annotations

import datetime as dt
import math
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import compress, islice, zip_longest
from typing import Any, TypeAlias, TypeVar, cast
from uuid import UUID

import numpy as np
import numpy.typing as npt

from setagree.checks import cached_property
from setagree.errors import (
    DataError,
    DroppedRowsWarning,
    OptionError,
    a_type,
    check_type,
    counted,
    listing,
    option,
    shorten,
    warn,
)
from setagree.lazy import pd
from setagree.study.codes import Column, distinct_cells
from setagree.study.frames import check_column, numbered, without_dictionary
from setagree.study.identifiers import tidied
from setagree.study.labels import is_missing
from setagree.study.numbers import as_number, exact, usual_spelling

Key: TypeAlias = Fraction | float | str
"""Value that is compared: an exact number (infinity is a float), or text."""

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

NO, NULL, YES = -1, 0, 1
"""Verdicts on a row. In Kleene's logic of three values, `and` is their minimum, `or` their maximum
and `not` their negative."""

Verdicts: TypeAlias = npt.NDArray[np.int8]
Tree: TypeAlias = "int | tuple[str, tuple[Tree, ...]]"
"""The number of a condition, or "and", "or" or "not" with its operands."""

V = TypeVar("V")

_BARE = r"[^\s`\"'\[\](),=!<>&|]+"
_COLUMN = re.compile(rf"\s*(?:`((?:[^`]|``)+)`|({_BARE}))\s*")
_OPERATOR = re.compile(r"(==|!=|<=|>=|<|>|(?:not\s+)?in(?![^\s\[]))\s*")
# A column may be called "not", so that an operator may follow the word.
_NOT = re.compile(rf"\s*not(?=[\s(`])(?!\s*{_OPERATOR.pattern})")
_VALUE = re.compile(rf"\s*(?:\"((?:[^\"]|\"\")*)\"|'((?:[^']|'')*)'|({_BARE}))\s*")
_OPENING, _CLOSING = re.compile(r"\s*\("), re.compile(r"\s*\)\s*")
_NULLS = {"null", "none", "nan", "nat", "<na>"}
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
_MAX_CELLS = 1000
_END = "; text with spaces or signs must be in quotes"


@dataclass(frozen=True)
class Condition:
    """A condition on one column: ``COLUMN OP VALUE``."""

    text: str
    column: str
    operator: str
    values: tuple[str, ...]
    quoted: tuple[bool, ...]

    @cached_property
    def keys(self) -> list[Key]:
        """Keys that cells are compared with; for a quoted value, only cells that are not text."""
        compared = zip(self.values, self.quoted, strict=True)
        return [_number_or_text(value, quoted=quoted) for value, quoted in compared]

    def verdict(self, cell: object) -> int:
        """Return whether a cell matches: `YES`, `NO`, or `NULL` if it is missing or blank."""
        key = key_of(cell)
        if key is None:
            return NULL
        # After other operators the parser rejects quoted numerals, so that the keys suffice.
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

    def _of_cells(self, cells: Iterable[object]) -> Verdicts:
        """Return the verdict on each cell; equal cells of one type are compared once."""
        verdict_of: dict[tuple[type, Any, int], int] = {}
        verdicts = []
        for cell in cells:
            # Times in the repeated hour at the end of summer time differ only in their fold.
            key = (type(cell), cell, getattr(cell, "fold", 0))
            try:
                verdict = verdict_of.get(key)
            except TypeError:  # a list, a dict
                verdict = self.verdict(cell)
            if verdict is None:
                verdict = verdict_of[key] = self.verdict(cell)
            verdicts.append(verdict)
        return np.array(verdicts, dtype=np.int8)

    def verdicts(self, column: Column | Sequence[object]) -> Verdicts:
        """Return the verdict on each row of a column of scalars."""
        try:
            if not isinstance(column, pd.Series):
                return self._of_cells(column)
            column = without_dictionary(column)
            if column.dtype == object:  # distinct_cells would merge 1 and True
                return self._of_cells(column)
            codes, distinct = distinct_cells(column)
            # A missing cell (code -1) picks the appended verdict.
            return np.append(self._of_cells(distinct), np.int8(NULL))[codes]
        except DataError as error:
            raise DataError(
                f"{option('where', self.text)}: column {self.column!r} {error}"
            ) from None


@dataclass(frozen=True)
class Where:
    """A condition on the rows of a table, or several joined by ``and``, ``or`` and ``not``.

    A condition is written ``COLUMN OP VALUE``: a column; one of ==, !=, <, <=, >, >=, in, not in;
    and a value, or after ``in`` a list of values in square brackets. A column name with spaces or
    signs is written in backticks, such a value in single or double quotes (a quote within is
    doubled). Examples are ``repeat == 0``, ``split != "not used"``, ``round in [1, 2, "pilot b"]``
    and ```Time (s)` >= 2.5``. ``not`` binds more tightly than ``and``, and ``and`` more tightly
    than ``or``; parentheses override this, as in
    ``(round == 1 or split == test) and rater != ann``.

    A cell and a value without quotes are compared as numbers if both are numbers or spell one
    (007, 7 and 7.0 are equal), otherwise as text without the surrounding space. A value in quotes
    is text: ``version == "1.10"`` does not match 1.1, and ``version == 1.10`` matches both. The
    text of a cell that is a number is its shortest decimal form (1.1; 1, not 1.0). <, <=, > and >=
    compare numbers with numbers and text with text. Times are text with the year first, so that
    earlier ones are smaller; dates such as 31.01.2026 raise an error with <, <=, > and >=. Times
    are equal if they are written as 2024-05-01T10:30 or with a space, with or without trailing
    zeros in the seconds, and so are 10:30 and 10:30:00. A time with a zone or an offset (Z, +02:00,
    +0200, +02), in a cell or as the value, is the time in UTC; a value without one is read as UTC
    if the cells have zones. Without quotes, true and false match text in any case, because files
    spell them differently.

    Null and blank cells, which are nulls in a CSV file, never match a condition. They do not match
    ``not`` of the condition either: ``not x == 1`` keeps the rows that ``x != 1`` keeps.
    """

    text: str
    conditions: tuple[Condition, ...]
    tree: Tree

    @staticmethod
    def equality(column: str, value: object) -> str:
        """Return the condition that keeps the rows with a value, with quotes if needed."""
        text = str(value)
        is_bare = re.fullmatch(_BARE, text) and text.casefold() not in _NULLS
        quoted = text if is_bare else '"{}"'.format(text.replace('"', '""'))
        ticked = "`{}`".format(column.replace("`", "``"))
        return f"{column if re.fullmatch(_BARE, column) else ticked} == {quoted}"

    @classmethod
    def parse(cls, text: object) -> Where:
        """Parse conditions."""
        check_type("where", text, str, "a condition, such as 'repeat == 0'")
        parser = _Parser(str(text))
        tree = parser.either()
        if parser.rest.strip():
            raise parser.wrong(f"'and', 'or' or the end{_END}")
        return cls(str(text), tuple(parser.conditions), tree)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, each once."""
        return tuple(dict.fromkeys(condition.column for condition in self.conditions))

    def combined(
        self,
        verdicts: Sequence[V],
        *,
        least: Callable[[V, V], V],
        most: Callable[[V, V], V],
        minus: Callable[[V], V],
    ) -> V:
        """Return the verdict on the whole condition from those on single columns."""

        def of(tree: Tree) -> V:
            if isinstance(tree, int):
                return verdicts[tree]
            word, parts = tree
            if word == "not":
                return minus(of(parts[0]))
            return reduce(least if word == "and" else most, map(of, parts))

        return of(self.tree)

    def match(
        self, columns: Sequence[Column | Sequence[object]]
    ) -> tuple[npt.NDArray[np.bool_], Counts]:
        """Return whether each row matches, and the counts, from the cells of `self.columns`."""
        cells = dict(zip(self.columns, columns, strict=True))
        parts = [c.verdicts(cells[c.column]) for c in self.conditions]
        rows = self.combined(parts, least=np.minimum, most=np.maximum, minus=np.negative)
        n_alone = tuple(int((part == YES).sum()) for part in parts)
        counts = Counts(len(rows), int((rows == YES).sum()), int((rows == NULL).sum()), n_alone)
        if not counts.n_kept and len(columns) == 1:
            present = compress(columns[0], parts[0] != NULL)
            counts = replace(counts, examples=example_cells(present))
        return np.asarray(rows == YES), counts

    def columns_in(self, names: Sequence[Any]) -> list[Any]:
        """Return the names of the columns in a table; a name need not be text."""
        by_text = {str(name): name for name in names}
        try:
            for column in self.columns:
                check_column([str(name) for name in names], column)
        except DataError as error:
            raise DataError(f"{option('where', self.text)}: {error}") from None
        return [by_text[column] for column in self.columns]


@dataclass(frozen=True)
class Counts:
    """Numbers of rows, of matching rows, and of rows that are undecided because of nulls.

    Attributes
    ----------
    n, n_kept, n_null : int
        All rows, those that match, and those without a verdict because of a null or blank cell.
    n_alone : tuple of int
        Number of rows that match each condition alone.
    examples : tuple
        If no row matches conditions on one column, some of its cells: whether each is text, its
        key, and its spelling.
    """

    n: int
    n_kept: int
    n_null: int = 0
    n_alone: tuple[int, ...] = ()
    examples: tuple[tuple[bool, Key, str], ...] = ()

    def __add__(self, other: Counts) -> Counts:
        """Return the counts of two parts of a table together."""
        n_kept = self.n_kept + other.n_kept
        cells = () if n_kept else tuple(sorted({*self.examples, *other.examples})[: _SHOWN + 1])
        alone = tuple(map(sum, zip_longest(self.n_alone, other.n_alone, fillvalue=0)))
        return Counts(self.n + other.n, n_kept, self.n_null + other.n_null, alone, cells)

    def sentence(self, where: Where) -> str:
        """Return a sentence on the number of dropped rows."""
        has, names = "has" if self.n_null == 1 else "have", listing(where.columns)
        column = f"{'column' if len(where.columns) == 1 else 'one of the columns'} {names}"
        null = f"; {self.n_null:,} of them {has} nothing in {column}" if self.n_null else ""
        dropped = f"{self.n - self.n_kept:,} of {counted(self.n, 'row')}"
        return f"{option('where', where.text)} drops {dropped}{null}."

    def report(self, where: Where, name: str | None = None) -> None:
        """Raise `DataError` if no row of a table, with an optional name, is kept; else warn."""
        self.check(where)
        warn(f"{name}: " * (name is not None) + self.sentence(where), DroppedRowsWarning)

    def check(self, where: Where) -> None:
        """Raise `DataError` if no row is kept."""
        if self.n and not self.n_kept:
            shown = ", ".join(spelled for _, _, spelled in self.examples[:_SHOWN])
            more = " and more" if len(self.examples) > _SHOWN else ""
            detail = f"; column {where.columns[0]!r} holds {shown}{more}" if shown else ""
            if len(where.conditions) > 1:
                alone = zip(where.conditions, self.n_alone, strict=True)
                detail += "; alone, " + ", ".join(f"{c.text!r} keeps {n:,}" for c, n in alone)
            raise DataError(
                f"{option('where', where.text)} keeps none of {counted(self.n, 'row')}{detail}."
            )


NO_ROWS = Counts(0, 0)


def kept_rows(table: pd.DataFrame, where: Where, *, name: str | None = None) -> pd.DataFrame:
    """Return the matching rows of a table, and warn of the number of other rows.

    Rows keep their numbers, unless the table has an index, which may name units. `name` is the
    name of the table in the warning, if there are several tables.
    """
    has_index = not table.index.equals(pd.RangeIndex(len(table)))
    return (table if has_index else numbered(table))[matching_rows(table, where, name=name)]


def matching_rows(
    table: pd.DataFrame, where: Where, *, name: str | None = None
) -> npt.NDArray[np.bool_]:
    """Return which rows of a table match; see `kept_rows`."""
    kept, counts = where.match([table[column] for column in where.columns_in(list(table))])
    counts.report(where, name)
    return kept


def example_cells(cells: Iterable[object]) -> tuple[tuple[bool, Key, str], ...]:
    """Return the smallest of the first cells that are not missing, spelled as in a condition."""
    examples = set()
    for cell in islice(cells, _MAX_CELLS):
        if (key := key_of(cell)) is not None:
            number = str(cell) if isinstance(cell, Decimal) else shorten(cell)
            is_text = isinstance(key, str)
            text = _as_text(cell) if isinstance(cell, str) else key
            examples.add((is_text, key, shorten(text) if isinstance(text, str) else number))
    return tuple(sorted(examples)[: _SHOWN + 1])


def key_of(cell: object) -> Key | None:
    """Return the key by which a cell is compared, or None if it is missing or blank."""
    plain = cell.item() if isinstance(cell, np.bool_ | np.number) else cell
    if is_missing(plain):
        return None
    if isinstance(plain, bool):
        return str(plain).casefold()
    if isinstance(plain, str):
        plain = tidied(plain)
    if as_number(plain) is not None:
        return exact(cast("Any", plain))
    if isinstance(plain, str):
        return (plain.casefold() if plain.casefold() in _TRUTH else _timed(plain)) or None
    if isinstance(plain, _AS_WRITTEN):
        return _timed(str(plain))
    raise DataError(f"holds {a_type(cell)}; only text, numbers, flags and dates are compared.")


def _is_unsorted(text: str) -> bool:
    """Return whether text is a date or time that does not sort by time as text."""
    text = text.casefold()
    words = {*re.findall(r"[^\W\d_]+", text)}
    return bool(_UNSORTED.search(text) or (words & CALENDAR_WORDS and re.search(r"\d", text)))


def _check_order(cell: str, value: str) -> None:
    """Raise `DataError` if a cell is compared with a date or time of another format."""
    first = _YEAR_FIRST.match(value)
    if first is None and not _TIME.fullmatch(value):
        return
    other = _YEAR_FIRST.match(cell)
    if _is_unsorted(cell) or (first and other and first[1] != other[1]):
        raise DataError(
            f"holds {shorten(cell)}, in another format than {shorten(value)}; dates and times are "
            "compared as text, so write all of them as in 2026-01-31 or 2026-01-31T09:30."
        )


def _as_text(cell: Any) -> str:
    """Return tidied text for exact comparison; only times are normalised."""
    return _timed(tidied(str(cell)))


def _number_or_text(value: str, *, quoted: bool) -> Key:
    """Return the key of a value; a quoted numeral is a number only in the shortest decimal form."""
    text = tidied(value)
    if quoted and (number := as_number(text)) is not None:
        is_usual = math.isfinite(number) and usual_spelling(number) == text
        if not is_usual:
            return text
    key = key_of(value)
    assert key is not None  # noqa: S101 - the parser rejects blank values
    return key


def _timed(text: str) -> str:
    """Return a time of ISO 8601 in one spelling, and other text unchanged.

    Libraries write T or a space, and differ in trailing zeros of seconds. Midnight becomes the date
    alone. A time with an offset is converted to UTC, because some engines drop the zone.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        return text
    day, minute, second, fraction, zone = (part or "" for part in match.groups())
    spelled = f"{day} {minute}:{second or '00'}".strip()
    if zone:
        try:
            local = dt.datetime.fromisoformat(f"{spelled}{zone}")
            spelled = str(local.astimezone(dt.UTC).replace(tzinfo=None))
        except (ValueError, OverflowError):  # not a valid day or hour
            return text
    return (spelled + f".{fraction}".rstrip("0").rstrip(".")).removesuffix(" 00:00:00")


class _Parser:
    """Recursive descent over ``not``, ``and``, ``or`` and parentheses.

    `rest` is the remaining text.
    """

    def __init__(self, text: str) -> None:
        self.text, self.rest = text, text
        self.conditions: list[Condition] = []

    def either(self) -> Tree:
        """Parse conditions joined by ``or``."""
        return self._joined("or", lambda: self._joined("and", self._one))

    def _joined(self, word: str, operand: Callable[[], Tree]) -> Tree:
        parts = [operand()]
        while self._take(re.compile(rf"\s*{word}(?=[\s(`]|$)", re.IGNORECASE)):
            parts.append(operand())
        return parts[0] if len(parts) == 1 else (word, tuple(parts))

    def _one(self) -> Tree:
        if self._take(_NOT):
            return "not", (self._one(),)
        if not self._take(_OPENING):
            return self._condition()
        tree = self.either()
        if not self._take(_CLOSING):
            raise self.wrong(f"a closing parenthesis, 'and' or 'or'{_END}")
        return tree

    def _condition(self) -> Tree:
        start, column = self.rest, self._take(_COLUMN)
        if column is None:
            raise self.wrong("a column, or `a column` in backticks")
        match = self._take(_OPERATOR)
        if match is None:
            raise self._no_operator(column[0].strip())
        name = column[1].replace("``", "`") if column[1] else column[2]
        sign, negated = match[1], match[1].startswith("not")
        if is_list := sign.endswith("in"):
            sign = "in"
        values = self._listed() if is_list else [self._single(sign)]
        text = start[: len(start) - len(self.rest)].strip()
        self.conditions.append(Condition(text, name, sign, *zip(*values, strict=True)))
        number = len(self.conditions) - 1
        return ("not", (number,)) if negated else number

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match a pattern at the start of the rest, and remove the match."""
        if match := pattern.match(self.rest):
            self.rest = self.rest[match.end() :]
        return match

    def _single(self, sign: str) -> tuple[str, bool]:
        if self.rest.startswith("["):
            raise self.wrong(f"one value after {sign!r} (a list is written after 'in')")
        start = self.rest
        value, quoted = self._value()
        expected = None
        if sign not in _EQUALITY and quoted and as_number(tidied(value)) is not None:
            expected = f"a number without quotes after {sign!r} (quoted values are text)"
        elif sign not in _EQUALITY and _is_unsorted(value):
            expected = f"a date or time after {sign!r} as in 2026-01-31 or 2026-01-31T09:30"
        if expected is not None:
            self.rest = start
            raise self.wrong(expected)
        return value, quoted

    def _listed(self) -> list[tuple[str, bool]]:
        """Return the values of a list in square brackets, and whether each is quoted."""
        if not self.rest.startswith("["):
            raise self.wrong("a list in square brackets after 'in', such as [1, 'pilot b']")
        values, self.rest = [], "," + self.rest[1:]
        while self.rest.startswith(","):
            self.rest = self.rest[1:]
            values.append(self._value())
        if not self.rest.startswith("]"):
            raise self.wrong(f"a comma or a closing bracket after {values[-1][0]!r}")
        self.rest = self.rest[1:]
        return values

    def _value(self) -> tuple[str, bool]:
        """Return the value at the start of the rest, and whether it is quoted."""
        match = self._take(_VALUE)
        if match is None:
            raise self.wrong("a value (a number, a word, or text in quotes)")
        double, single, bare = match.groups()
        if double is not None:
            value = double.replace('""', '"')
        else:
            value = single.replace("''", "'") if single is not None else bare
        is_null = bool(bare) and bare.casefold() in _NULLS
        if is_null or not value.strip():
            self.rest = bare if is_null else match[0].strip()
            reason = "blank cells never match, so every test drops them"
            if is_null:
                reason = "nulls never match; put the text in quotes if it is one"
            raise self.wrong(f"a value ({reason})")
        return value, bare is None

    def _no_operator(self, column: str) -> OptionError:
        operators = ", ".join([*OPERATORS, "not in"])
        if re.match(r"=(?!=)", self.rest):
            return self.wrong("== (the test for equality)")
        hint = "" if not self.rest or column.startswith("`") else "; a name with spaces or signs "
        hint += f"must be in backticks: `{column} ...`" if hint else ""
        return self.wrong(f"one of {operators} after the column {column!r}{hint}")

    def wrong(self, expected: str) -> OptionError:
        """Return the error that quotes the rest and describes the expected text."""
        rest = self.rest.strip()
        place = f"at {shorten(rest)}" if rest else "at its end"
        return OptionError(f"{option('where', self.text)}: {place}, expected {expected}.")
