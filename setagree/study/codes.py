"""Label sets to integer codes, and what every coded column needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import Guessable, no_collection
from setagree.errors import (
    DataError,
    LabelError,
    MixedScaleWarning,
    SeparatorWarning,
    SetagreeError,
    SimilarLabelsWarning,
    counted,
    listing,
    option,
    python_or_command,
    shorten,
    warn,
)
from setagree.study.doubts import (
    MARKERS,
    NO_LABEL,
    how_many,
    warn_absent,
    warn_blanks_as_empty,
    warn_brackets,
    warn_markers,
    warn_numeric_labels,
    warn_separator,
    warn_similar,
)
from setagree.study.labels import (
    Case,
    LabelSyntax,
    cell_reader,
    is_missing,
    is_number,
    read_cell,
)
from setagree.study.objects import distinct_lists, encoded, in_arrow, text_of
from setagree.wording.label_sets import Degrees, LabelSet

_JOINED, _JOINED_OR_COMMA = re.compile(r"[/+&]"), re.compile(r"[/+&,]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_ENOUGH = 100
"""Ratings from which numbers among words and misspellings are looked for."""
_RARE = 0.01
"""Share of the ratings below which a label may be a misspelling."""
_TIMES = 10
"""How much more frequent the label must be that a misspelling resembles."""
_LENGTHS = range(5, 81)
"""Characters of labels that may be misspellings of one another; longer ones are sentences."""
_MOST = 2_000
"""Distinct labels up to which these are looked at: more are not a codebook."""


def warn_of_odd_labels(
    values: Sequence[LabelSet], codes: Codes, label_sep: str, times: Codes | None
) -> None:
    """Warn of joined labels, numbers among words and rare misspellings, with their counts.

    Look at the distinct labels, and count ratings only if one of them is odd.
    """
    texts = {str(label): label for label in sorted(frozenset().union(*values), key=str)}
    if len(texts) > _MOST:
        return
    signs = _JOINED if "," in label_sep else _JOINED_OR_COMMA
    joined = [x for x in texts if signs.search(x) and _parts(x, signs) <= texts.keys()]
    numbers = [text for text in texts if _NUMBER.fullmatch(text)]
    numbers = numbers if 2 * len(numbers) < len(texts) else []
    alike = list(_alike(texts))
    if not (joined or numbers or alike):
        return

    rows = codes >= 0
    given = np.bincount(codes[rows], None if times is None else times[rows], len(values))
    n_ratings = dict.fromkeys(texts, 0)
    for value, n in zip(values, given.tolist(), strict=True):
        for label in value:
            n_ratings[str(label)] += round(n)
    is_used = max(map(len, values)) > 1
    # Of labels that differ only in the order of their parts, the separator has been warned of.
    if joined and (is_used or len({frozenset(_parts(x, signs)) for x in joined}) == len(joined)):
        _warn_joined(joined, n_ratings, label_sep, signs, is_used=is_used)
    is_large = (total := round(given.sum())) >= _ENOUGH
    if numbers and is_large:
        warn(
            f"{_counts(numbers, n_ratings)}: a number among words, read as a label. If it is a "
            f"slip, correct these cells; {option('codebook')} with the permitted labels refuses it "
            "and names its place.",
            MixedScaleWarning,
        )
    if alike and is_large:
        _warn_misspelt(alike, n_ratings, total)


def _warn_joined(
    joined: Sequence[str],
    n_ratings: Mapping[str, int],
    label_sep: str,
    signs: re.Pattern[str],
    *,
    is_used: bool,
) -> None:
    """Warn of labels whose parts are labels as well."""
    found = signs.search(joined[0])
    assert found is not None  # noqa: S101 - it is joined by one of these signs
    sign, parts = found[0], sorted(set().union(*(_parts(x, signs) for x in joined)))
    remedy = f"use {option('label_sep', sign)}"
    if is_used:
        replaced = f"df[column].str.replace({sign!r}, {label_sep!r}, regex=False)"
        everywhere = f"put {label_sep!r} between all labels in the file"
        remedy = python_or_command(
            f"use {option('label_sep', label_sep)} everywhere: {replaced}", everywhere
        )
    warn(
        f"{_counts(joined, n_ratings)}: read as one label, although the parts {listing(parts)} "
        f"are labels as well. If {sign!r} separates labels, {remedy}.",
        SeparatorWarning,
    )


def _warn_misspelt(
    alike: Sequence[tuple[str, str]], n_ratings: Mapping[str, int], total: int
) -> None:
    """Warn of rare labels that are one slip from a frequent one, as `_alike` defines it."""
    found = []
    for one, other in alike:
        (n, rare), (n_more, usual) = sorted([(n_ratings[one], one), (n_ratings[other], other)])
        if n < _RARE * total and n_more >= _TIMES * n:
            found.append(f"{shorten(rare)} ({n:,} of {counted(total, 'rating')}) and "
                         f"{shorten(usual)} ({n_more:,})")  # fmt: skip
    if found:
        rest = f" and {len(found) - 5:,} more" if len(found) > 5 else ""
        warn(
            "labels that differ in one character, or in the order of two, are kept apart: "
            f"{'; '.join(found[:5])}{rest}. If the rare one is a misspelling, correct these cells; "
            f"{option('codebook')} with the permitted labels refuses it and names its place.",
            SimilarLabelsWarning,
        )


def _parts(text: str, signs: re.Pattern[str]) -> set[str]:
    """Return the texts between the signs that may join labels; the text itself if one is blank."""
    parts = {part.strip() for part in signs.split(text)}
    return {text, ""} if "" in parts else parts


def _alike(words: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of words that differ in one letter more, in another one, or in two exchanged.

    Words without one of their letters are looked up, so that not all pairs are compared. Numbered
    labels, such as class1 and class2, are not misspellings of one another.
    """
    shorter: dict[tuple[int, str], str] = {}
    whole, seen = {*words}, set()
    for word in sorted(words):
        for k in range(len(word) if len(word) in _LENGTHS else 0):
            rest = word[:k] + word[k + 1 :]
            exchanged = word[:k] + word[k + 1 : k + 2] + word[k] + word[k + 2 :]
            others = [shorter.setdefault((k, rest), word), rest, exchanged]
            for other in others:
                pair = (min(word, other), max(word, other))
                if other != word and other in whole and pair not in seen and _letters(*pair):
                    seen.add(pair)
                    yield pair


def _letters(one: str, other: str) -> bool:
    """Return whether two words differ in a letter, not in case or in a digit, sign or space."""
    plain = [re.sub(r"[\W\d_]", "", word).casefold() for word in (one, other)]
    return plain[0] != plain[1]


def _counts(texts: Sequence[str], n_ratings: Mapping[str, int]) -> str:
    """Return labels with the numbers of their ratings."""
    shown = [f"{shorten(text)} ({counted(n_ratings[text], 'rating')})" for text in texts[:5]]
    rest = f" and {len(texts) - 5:,} more" if len(texts) > 5 else ""
    return f"label{'s' if len(texts) > 1 else ''} {', '.join(shown)}{rest}"


Codes: TypeAlias = npt.NDArray[np.integer[Any]]
Column: TypeAlias = "pd.Series[Any]"
_MOST_PLACES = 20
"""Further rows that cannot be read of which an error gives the places."""

Kind: TypeAlias = Literal["labels", "number", "category"]
Value: TypeAlias = Any
"""A label set, a number, or a category."""

MISSING = -1

_MANY_OBJECTS = 5_000
"""Python objects from which on it pays to hand them to Arrow."""

_USUAL_SEPARATORS = {",", ";", "|"}
_PLAIN = re.compile(r"[\w ./'-]*", re.ASCII)
_ODD_SPELLING = re.compile(r"\.0+$|  |[^\S\n ]", re.MULTILINE)


@dataclass(frozen=True)
class Answers:
    """A column of answers, coded.

    Attributes
    ----------
    codes : ndarray of shape (n_rows,)
        Position in `values`; -1 where there is no annotation.
    values : tuple
        The distinct answers.
    kind : {"labels", "number", "category"}
        What the answers are.
    n_blank : int
        Cells that were blank text.
    is_text : bool
        Whether the answers are label sets and every cell is text; markers and nulls do not count.
    spells_empty : bool
        Whether text says by itself that its label set is empty, such as ``[]``.
    order : tuple
        The categories of an ordered column in their order, also those that nobody gave.
    """

    codes: Codes
    values: tuple[Value, ...]
    kind: Kind
    n_blank: int
    is_text: bool = False
    spells_empty: bool = False
    order: tuple[Value, ...] = ()


def as_objects(items: Iterable[object]) -> npt.NDArray[np.object_]:
    """Return a one-dimensional object array, whatever the items are."""
    if isinstance(items, pd.Index) and isinstance(items.dtype, pd.StringDtype):
        return np.array(items, dtype=object)
    if isinstance(items, pd.Index) and isinstance(items.dtype, pd.ArrowDtype):
        array: Any = items.array
        items = array.__arrow_array__().to_pylist()  # pandas makes a scalar of each first
    listed = items.tolist() if isinstance(items, pd.Index) else list(items)
    out = np.empty(len(listed), dtype=object)
    out[:] = listed
    return out


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a new array that is shared from now on, so that nobody writes to it."""
    array.flags.writeable = False
    return array


class ReadOnlyArrays(metaclass=Guessable):
    """Base of dataclasses whose arrays are read-only.

    Nothing is copied: the record holds a view of each array, so that an array of the caller stays
    as it is.
    """

    def __post_init__(self) -> None:
        """Take a read-only view of each array; one that is read-only stays the same object."""
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray) and value.flags.writeable:
                view = value.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy, or what was pickled: numpy makes its arrays writeable."""
        vars(self).update(state)
        ReadOnlyArrays.__post_init__(self)


def code_label_sets(
    column: Column,
    syntax: LabelSyntax,
    *,
    place: Callable[[int], str],
    times: Codes | None = None,
    scalars: Callable[[], str] = str,
) -> Answers:
    """Return the coded label sets of a column; each distinct cell is parsed once.

    `place` words where a row is, for error sentences. `times` says how many cells of the study each
    row stands for, where it is not one. `scalars` returns the option that reads one value per cell,
    for messages on numbers.
    """
    codes, cells = without_markers(*distinct_cells(column), syntax.markers, syntax.case)
    _check_flags(cells)
    _check_numbers(column, scalars)
    sets, failures = parse_all(cells, cell_reader(syntax))
    if failures:
        way = scalars() if any(is_number(cells[code]) for code in failures) else ""
        way = way and f" For one value per cell, use {way}."
        raise LabelError(f"{worded(failures, codes, place, times)}{way}")
    if have_degrees(sets):
        sets = [None if one is None else Degrees.of(one) for one in sets]
    merged, values = merge(sets)
    n_blank, spells_empty = _count_blanks(codes, cells, sets, syntax.label_sep, times)
    if syntax.blank == "empty" and spells_empty:
        warn_blanks_as_empty(n_blank)
    texts = [cell for cell in cells if isinstance(cell, str)]
    if not _is_plain(texts, values, syntax.label_sep):
        warn_separator(texts, syntax.label_sep)
        warn_brackets(texts, syntax.label_sep)
        warn_markers(codes, cells, times=times)
        warn_numeric_labels(values, scalars)
        warn_similar("Labels", used_labels(values))
    is_text, codes = len(texts) == len(cells), recode(codes, merged)
    if values and syntax.codebook is None:
        warn_of_odd_labels(values, codes, syntax.label_sep, times)
    return Answers(codes, values, "labels", n_blank, is_text, spells_empty)


def _is_plain(texts: Sequence[str], values: Sequence[LabelSet], label_sep: str) -> bool:
    """Return whether no label text can look odd, by one test before those of each warning."""
    together = "".join(texts)
    labels = used_labels(values)
    return (
        max(map(len, values), default=0) > 1
        and (not texts or (label_sep in _USUAL_SEPARATORS and label_sep in together))
        and _PLAIN.fullmatch(together.replace(label_sep, "")) is not None
        and (MARKERS | NO_LABEL).isdisjoint(str(label).lower() for label in labels)
        and not may_look_alike([*labels])
    )


def may_look_alike(names: Sequence[object]) -> bool:
    """Return whether two names without space around may look alike: cheap where none do.

    Most names have letters of one case only, or stay distinct without it: both are seen at once.
    """
    if not any(isinstance(name, str) for name in names):
        return False
    texts = [*map(str, names)]
    together = "\n".join(texts)
    one_case = together == together.casefold() and len({*texts}) == len(texts)
    return (
        not (one_case or len({*map(str.casefold, texts)}) == len(texts))
        or not together.isascii()
        or _ODD_SPELLING.search(together) is not None
        or together.count("\n") >= len(texts)
        or len({text.lstrip("0") for text in texts}) < len(texts)
    )


def have_degrees(values: Iterable[Any]) -> bool:
    """Return whether some answers give their labels a degree."""
    return Degrees in set(map(type, values))


def used_labels(values: Iterable[LabelSet]) -> LabelSet:
    """Return the union of the label sets."""
    return frozenset().union(*values)


def distinct_cells(column: Column) -> tuple[Codes, list[Any]]:
    """Factorise cells; those that cannot be hashed stand for themselves through a key."""
    text = column
    factorise: Callable[[Column], tuple[Codes, Any]] = pd.factorize
    if len(column) >= _MANY_OBJECTS:
        arrow, factorise = in_arrow(column), encoded
        if (found := distinct_lists(column, arrow)) is not None:
            return found
        text = text_of(column, arrow)
    try:
        codes, cells = factorise(text)
        return codes, cells.tolist()
    except (TypeError, ValueError, ArithmeticError, NotImplementedError):
        # No value is hashed that is a list or a signaling NaN; Arrow codes no lists.
        listed = column.tolist()
    codes, _ = pd.factorize(as_objects(_keys(listed)))
    first = pd.Series(codes).drop_duplicates()
    return codes, [listed[row] for row in first[first != MISSING].index]


def without_markers(
    codes: Codes, cells: list[Any], markers: Sequence[str | float], case: Case
) -> tuple[Codes, list[Any]]:
    """Make the answers missing that mean no annotation; say which of them nobody gave."""
    if not markers:
        return codes, cells
    said, meant = ([_alone(one, case) for one in each] for each in (cells, markers))
    warn_absent([one for one, mark in zip(markers, meant, strict=True) if mark not in said], cells)
    kept = np.array([one not in meant for one in said], dtype=bool)
    places = np.where(kept, np.cumsum(kept) - 1, MISSING).astype(np.int32)
    return recode(codes, places), [cell for cell, k in zip(cells, kept, strict=True) if k]


def _alone(cell: object, case: Case) -> object:
    """Return a scalar, or the only item of a list, tuple or set, or None for all else."""
    if isinstance(cell, list | tuple | set | frozenset | np.ndarray):
        return _alone(next(iter(cell)), case) if len(cell) == 1 else None
    if isinstance(cell, str):
        return cell.strip().lower() if case == "lower" else cell.strip()
    return cell if isinstance(cell, Hashable) and not isinstance(cell, bool | np.bool_) else None


def _keys(cells: Sequence[Any]) -> list[Hashable]:
    """Return a hashable stand-in for each cell; lists of text, the usual case, take a short way."""
    items = chain.from_iterable(cell for cell in cells if type(cell) is list)
    if set(map(type, items)) <= {str}:
        return [tuple(cell) if type(cell) is list else _key(cell) for cell in cells]
    return [_key(cell) for cell in cells]


def _key(cell: object) -> Hashable:
    """Return a hashable stand-in; the type is part of it, so that (1,) and (True,) differ."""
    if isinstance(cell, list | tuple | set | frozenset | np.ndarray):
        items = sorted(cell, key=repr) if isinstance(cell, set | frozenset) else list(cell)
        return (isinstance(cell, set | frozenset), *((type(i).__name__, repr(i)) for i in items))
    if isinstance(cell, dict):
        return (type(cell).__name__, repr(cell))
    if is_missing(cell):
        return None
    try:
        hash(cell)
    except TypeError:  # it is not a label set, which its reading will say
        return (type(cell).__name__, repr(cell))
    return cell


def parse_all(
    cells: Sequence[object], read: Callable[[object], Value | None]
) -> tuple[list[Value | None], dict[int, SetagreeError]]:
    """Return what each cell is read as, and what went wrong where it cannot be read."""
    answers: list[Value | None] = []
    failures: dict[int, SetagreeError] = {}
    with no_collection():
        for position, cell in enumerate(cells):
            try:
                answers.append(read(cell))
            except (LabelError, DataError) as error:
                answers.append(None)
                failures[position] = error
    return answers, failures


def worded(
    failures: dict[int, SetagreeError],
    codes: Codes,
    place: Callable[[int], str],
    times: Codes | None,
) -> str:
    """Return the first failure, its place, and the number and first places of all rows that fail.

    Rows that are counted in `times` stand for several, so that only their number is given.
    """
    failing = np.isin(codes, list(failures))
    first, *rest = np.flatnonzero(failing).tolist()
    sentence = f"{place(first)}: {failures[int(codes[first])]}"
    if not (others := how_many(failing, times) - 1):
        return sentence
    more = f"{counted(others, 'more row')} {'fail' if others > 1 else 'fails'}"
    if times is None:
        end = f"; and {others - _MOST_PLACES:,} more" if others > _MOST_PLACES else ""
        more += f": {'; '.join(map(place, rest[:_MOST_PLACES]))}{end}"
    return f"{sentence} ({more}.)"


def merge(answers: Sequence[Any]) -> tuple[Codes, tuple[Value, ...]]:
    """Give equal answers one code and missing ones -1."""
    codes: dict[Any, int] = {}
    merged = [MISSING if a is None else codes.setdefault(a, len(codes)) for a in answers]
    return np.array(merged, dtype=np.int32), tuple(codes)


def recode(codes: Codes, merged: Codes) -> Codes:
    """Return the codes after a merge; missing rows stay missing."""
    if np.array_equal(merged, np.arange(len(merged))):
        return codes.astype(np.int32, copy=False)
    # The appended -1 is what a missing row (code -1) picks.
    return np.append(merged, np.int32(MISSING))[codes].astype(np.int32, copy=False)


def _count_blanks(
    codes: Codes,
    cells: Sequence[object],
    sets: Sequence[LabelSet | None],
    label_sep: str,
    times: Codes | None,
) -> tuple[int, bool]:
    """Return how many cells are blank, whatever that was taken as, and if text spells no label."""
    may_be = [not s and not is_missing(cell) for s, cell in zip(sets, cells, strict=True)]
    if not any(may_be):
        return 0, False
    syntax = LabelSyntax(label_sep=label_sep)
    is_blank = [b and read_cell(c, syntax) is None for b, c in zip(may_be, cells, strict=True)]
    spells_empty = any(
        empty and not blank and isinstance(cell, str)
        for empty, blank, cell in zip(may_be, is_blank, cells, strict=True)
    )
    return how_many(np.array([*is_blank, False])[codes], times), spells_empty


def _check_numbers(column: Column, scalars: Callable[[], str]) -> None:
    if pd.api.types.is_numeric_dtype(column.dtype) and column.notna().any():
        name = "the table" if column.name is None else f"column {column.name!r}"
        way = f"use {way} for one value per cell, or " if (way := scalars()) else ""
        raise LabelError(
            f"{name} holds {column.dtype} numbers where labels are due; {way}make the labels text."
        )


def _check_flags(cells: Sequence[object]) -> None:
    """Raise an error for rows of flags whose meaning is open."""
    rows: list[Any] = [
        cell for cell in cells if isinstance(cell, list | tuple | np.ndarray) and len(cell)
    ]
    if not rows:
        return
    _check_uneven_flags(rows)
    if not any(isinstance(cell, str) and cell.strip() for cell in cells):
        _check_numeric_flags(rows)


def _check_numeric_flags(rows: Sequence[Sequence[Any]]) -> None:
    """Raise an error for lists of 0 and 1, which may be one-hot rows or two labels."""
    widths = {len(row) for row in rows}
    if len(widths) != 1 or max(widths) < 2:
        return
    numbers = [item for row in rows for item in row]
    if all(
        isinstance(n, int | float | np.number) and not isinstance(n, bool) for n in numbers
    ) and (set(numbers) <= {0, 1}):
        raise LabelError(
            f"every cell is a list of {max(widths)} zeros and ones, such as {shorten(rows[0])}: "
            "make them booleans if they are one-hot rows, or text if they are labels."
        )


def _check_uneven_flags(rows: Sequence[Sequence[Any]]) -> None:
    """Raise an error for one-hot rows of different lengths."""
    flags = [row for row in rows if all(isinstance(f, bool | np.bool_) for f in row)]
    other = next((row for row in flags if len(row) != len(flags[0])), None)
    if other is not None:
        raise LabelError(
            f"one-hot rows of different lengths, such as {shorten(flags[0])} and {shorten(other)}."
        )


def in_use(items: npt.NDArray[Any], codes: Codes) -> tuple[npt.NDArray[Any], Codes]:
    """Return the items that a code stands for, and each code's position among them."""
    used = np.bincount(codes, minlength=len(items)) > 0
    if used.all():
        return items, codes
    return items[used], (np.cumsum(used) - 1).astype(np.int32)[codes]


def entries_of(indptr: npt.NDArray[np.int64], rows: Codes) -> npt.NDArray[np.int64]:
    """Return where the entries of some compressed rows stand, one row after the other.

    Examples
    --------
    >>> entries_of(np.array([0, 2, 3, 5]), np.array([2, 0])).tolist()
    [3, 4, 0, 1]
    """
    starts = indptr[rows]
    lengths = indptr[rows + 1] - starts
    entries = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    entries += np.arange(len(entries))
    return entries
