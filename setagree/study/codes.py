"""Integer codes and distinct cells of columns, and label sets of distinct cells."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Literal, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from setagree.checks import Codes, no_collection
from setagree.errors import (
    DataError,
    LabelError,
    SetagreeError,
    SetagreeWarning,
    UnknownLabelsError,
    counted,
    listing,
    near_names,
    python_or_command,
    shorten,
    warn,
)
from setagree.lazy import pd
from setagree.study.answer_warnings import (
    MARKERS,
    NO_LABEL,
    n_cells,
    warn_absent,
    warn_blanks_as_empty,
    warn_brackets,
    warn_joined,
    warn_markers,
    warn_numeric_labels,
    warn_of_odd_labels,
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
    splitter,
)
from setagree.wording.label_sets import Degrees, Label, LabelSep, LabelSet

Column: TypeAlias = "pd.Series[Any]"
_MAX_PLACES = 20
"""Largest number of further unreadable rows whose places an error lists."""

Kind: TypeAlias = Literal["labels", "number", "category"]
Value: TypeAlias = Any
"""A label set, a number, or a category."""

MISSING = -1

_MANY = 5_000
"""Number of rows from which Arrow arrays and the search for runs of equal cells are faster."""

_LISTS: set[type] = {list, tuple, set, np.ndarray}

_CELLS_IN_CACHE = 4_000

_FEW = 300
"""Largest number of texts that a dictionary factorises faster than pandas."""

_USUAL_SEPARATORS = {",", ";", "|"}
_PLAIN = re.compile(r"[\w ./'-]*", re.ASCII)
_ODD_SPELLING = re.compile(r"\.0+$|  |[^\S\n ]", re.MULTILINE)


@dataclass(frozen=True)
class Answers:
    """A column of answers, coded.

    Attributes
    ----------
    codes : ndarray of shape (n_rows,)
        Position in `values`; -1 for a missing annotation.
    values : tuple
        The distinct answers.
    kind : {"labels", "number", "category"}
        Kind of the answers.
    n_blank : int
        Number of cells with blank text.
    is_text : bool
        Whether the answers are label sets and every cell is text; markers and nulls do not count.
    spells_empty : bool
        Whether some text spells out the empty set, such as ``[]``.
    order : tuple
        All categories of an ordered column in their order, including unused ones.
    """

    codes: Codes
    values: tuple[Value, ...]
    kind: Kind
    n_blank: int
    is_text: bool = False
    spells_empty: bool = False
    order: tuple[Value, ...] = ()


class TextColumn(np.ndarray[Any, np.dtype[np.object_]]):
    """A column of text; other attributes than those of arrays are those of pandas."""

    name: str | None = None

    def __new__(cls, cells: Iterable[object], name: str | None = None) -> Any:
        """Return a column with a name."""
        column = np.array([*cells], dtype=object).view(cls)
        column.name = name
        return column

    def __getattr__(self, attribute: str) -> Any:
        return getattr(pd.Series(self.tolist(), name=self.name), attribute)


class TextFrame(dict[str, TextColumn]):
    """Columns of text by name; other attributes than those of dicts are those of pandas."""

    def __len__(self) -> int:
        return len(next(iter(self.values())))

    def __getattr__(self, attribute: str) -> Any:
        return [*self] if attribute == "columns" else getattr(self.to_pandas(), attribute)

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as one of pandas."""
        return pd.DataFrame({name: cells.tolist() for name, cells in self.items()})


def as_objects(items: Iterable[object]) -> npt.NDArray[np.object_]:
    """Return a one-dimensional object array of items of any type."""
    if isinstance(items, pd.Index) and isinstance(items.dtype, pd.StringDtype):
        return np.array(items, dtype=object)
    if isinstance(items, pd.Index) and isinstance(items.dtype, pd.ArrowDtype):
        array: Any = items.array
        items = array.__arrow_array__().to_pylist()  # faster than the scalars of pandas
    listed = items.tolist() if isinstance(items, pd.Index) else list(items)
    out = np.empty(len(listed), dtype=object)
    out[:] = listed
    return out


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Make an array read-only and return it."""
    array.flags.writeable = False
    return array


class ReadOnlyArrays:
    """Base of dataclasses whose arrays are read-only.

    Nothing is copied. The record holds a view of each array, so an array of the caller stays
    writeable.
    """

    def __post_init__(self) -> None:
        """Replace each writeable array by a read-only view."""
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray) and value.flags.writeable:
                view = value.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copied or pickled record; numpy restores its arrays as writeable."""
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

    `place` returns the location of a row, for error messages. `times` is the number of cells of the
    study that each row represents (default: 1). `scalars` returns the option that reads one value
    per cell, for messages on numbers.
    """
    codes, cells = without_markers(*distinct_cells(column), syntax.markers, syntax.case)
    _check_flags(cells)
    texts = [cell for cell in cells if isinstance(cell, str)]
    is_text = len(texts) == len(cells)
    if not (texts and is_text):
        _check_numbers(column, scalars)
    if syntax.empty_markers:
        marked = _marked(cells, syntax.empty_markers, syntax.case, "empty")
        cells = [[] if is_empty else cell for cell, is_empty in zip(cells, marked, strict=True)]
        texts = [cell for cell in cells if isinstance(cell, str)]
    sets, failures = parse_all(cells, cell_reader(syntax))
    if failures:
        if (unknown := _unknown_labels(failures, codes, place, times, syntax)) is not None:
            raise unknown
        way = scalars() if any(is_number(cells[code]) for code in failures) else ""
        hint = way and f" For one value per cell, use {way}."
        raise LabelError(f"{failure_sentence(failures, codes, place, times)}{hint}")
    if have_degrees(sets):
        sets = [None if labels is None else Degrees.of(labels) for labels in sets]
    merged, values = merge(sets)
    n_blank, spells_empty = _count_blanks(codes, cells, sets, syntax.label_sep, times)
    if syntax.blank == "empty" and spells_empty:
        warn_blanks_as_empty(n_blank)
    other = label_sep = syntax.label_sep
    if not _is_plain(texts, values, label_sep):
        other = warn_separator(texts, label_sep)
        warn_brackets(texts, label_sep)
        warn_markers(codes, cells, times=times)
        warn_numeric_labels(texts, values, scalars)
        labels = used_labels(values)
        if other != label_sep:  # the labels that the other separator leaves
            split = splitter(other)
            labels = frozenset(part.strip() for text in texts for part in split(text))
        warn_similar("Labels", labels)
    codes = recode(codes, merged)
    if values and syntax.codebook is None and other == label_sep:
        split_at = partial(_split_labels, texts, syntax)
        warn_joined(values, codes, label_sep, times, split_at)
        warn_of_odd_labels(values, codes, times)
    return Answers(codes, values, "labels", n_blank, is_text, spells_empty)


def _split_labels(
    cells: Sequence[str], syntax: LabelSyntax, label_sep: LabelSep
) -> Collection[Label]:
    """Return the labels of cells that another separator splits."""
    before, after = (
        parse_all(cells, cell_reader(each))[0]
        for each in (syntax, replace(syntax, label_sep=label_sep))
    )
    pairs = zip(before, after, strict=True)
    return frozenset().union(*(one - other for one, other in pairs if one and other))


def _unknown_labels(
    failures: Mapping[int, SetagreeError],
    codes: Codes,
    place: Callable[[int], str],
    times: Codes | None,
    syntax: LabelSyntax,
) -> LabelError | None:
    """Return the error for labels outside the codebook, or None if there are none."""
    rows, count = codes >= 0, Counter[Any]()
    times_of = np.bincount(codes[rows], None if times is None else times[rows])
    for position, error in failures.items():
        for label in error.labels if isinstance(error, UnknownLabelsError) else ():
            count[label] += round(times_of[position])
    if not count:
        return None
    labels = sorted(count, key=lambda label: (-count[label], str(label)))
    shown = []
    for label in labels[:_MAX_LABELS]:
        near = near_names(label, syntax.allowed or (), limit=1)
        hint = "".join(f", near {shorten(other)}" for other in near)
        shown.append(f"{shorten(label)} ({counted(count[label], 'answer')}{hint})")
    rest = len(labels) - len(shown)
    first = int(np.flatnonzero(np.isin(codes, [*failures]))[0])
    way = python_or_command("{'joy': 'joy', 'joyful': 'joy'}", "--codebook joy,joyful=joy")
    verb = "is" if len(labels) == 1 else "are"
    return LabelError(
        f"{counted(len(labels), 'label')} {verb} not in the codebook: {', '.join(shown)}"
        f"{f' and {rest:,} more' if rest else ''}. First: {place(first)}. Correct the answers, "
        f"add these labels to the codebook, or map them to labels of it, as in {way}."
    )


_MAX_LABELS = 30


def _is_plain(texts: Sequence[str], values: Sequence[LabelSet], label_sep: LabelSep) -> bool:
    """Return whether the texts and labels rule out all warnings, by one inexpensive test."""
    together = "".join(texts)
    labels = used_labels(values)
    return (
        max(map(len, values), default=0) > 1
        and together.strip("0123456789+-.,") != ""
        and (isinstance(label_sep, str) and label_sep in _USUAL_SEPARATORS)
        and (not texts or label_sep in together)
        and _PLAIN.fullmatch(together.replace(label_sep, "")) is not None
        and (MARKERS | NO_LABEL).isdisjoint(str(label).lower() for label in labels)
        and not may_look_alike([*labels])
    )


def may_look_alike(names: Sequence[object]) -> bool:
    """Return whether two of the stripped names may look alike; a fast test before the exact one.

    Most names have letters of one case only, or are distinct without case.
    """
    if not any(issubclass(kind, str) for kind in set(map(type, names))):
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
    """Return whether some answers have degrees."""
    return Degrees in set(map(type, values))


def used_labels(values: Iterable[LabelSet]) -> LabelSet:
    """Return the union of the label sets."""
    return frozenset().union(*values)


def factorise(column: Column) -> tuple[Codes, npt.NDArray[np.object_]]:
    """Return codes in the order of first occurrence, -1 for missing, and the distinct cells.

    Cells that cannot be hashed raise `TypeError`, `ValueError` or `NotImplementedError`.
    """
    if _is_short_text(column):
        codes, cells = _factorise_text(column)
        return codes, as_objects(cells)
    return _factorise(column, in_arrow(column))


def _is_short_text(column: Column) -> bool:
    is_short = len(column) <= _FEW and isinstance(column.dtype, pd.StringDtype)
    return is_short or isinstance(column, TextColumn)


def _factorise_text(column: Column) -> tuple[Codes, list[Any]]:
    """Factorise a short column of text without the overhead of pandas."""
    arrow = in_arrow(column)
    cells = column.tolist() if arrow is None else arrow.to_pylist()
    texts = [cell for cell in dict.fromkeys(cells) if isinstance(cell, str)]
    code_of = {text: code for code, text in enumerate(texts)}
    return np.array([code_of.get(cell, MISSING) for cell in cells], dtype=np.int32), texts


def distinct_cells(column: Column) -> tuple[Codes, list[Any]]:
    """Return codes and distinct cells as `factorise`; cells may also be lists, sets or dicts."""
    if _is_short_text(column):
        return _factorise_text(column)
    arrow = in_arrow(column)
    try:
        if (lists := _factorise_lists(column, arrow)) is not None:
            return lists
        codes, cells = _factorise(column, arrow)
        return codes, cells.tolist()
    except (TypeError, ValueError, ArithmeticError, NotImplementedError):
        # Lists and signaling NaN cannot be hashed.
        listed = column.tolist()
    codes, _ = pd.factorize(as_objects(map(_key, listed)))
    first = pd.Series(codes).drop_duplicates()
    return codes, [listed[row] for row in first[first != MISSING].index]


def in_arrow(column: Column) -> Any:
    """Return a column of pyarrow as an Arrow array, or None."""
    dtype = column.dtype
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", "") == "pyarrow":
        array: Any = column.array
        return array.__arrow_array__()
    return None


def _factorise(column: Column, arrow: Any) -> tuple[Codes, npt.NDArray[np.object_]]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _renumbered(column)
    if arrow is not None and len(column) >= _MANY and is_text(arrow.type):
        column = pd.Series(pd.arrays.ArrowStringArray(arrow))
        # Factorising the first cell of each run takes half the time if runs are long. Comparing
        # neighbours takes a tenth of it.
        if np.count_nonzero(_run_heads(column[:_MANY])) * 2 < _MANY:
            heads = _run_heads(column)
            first = column[heads]
            coded: Any = np.arange(len(first)), pd.Index(first)
            ascends = first >= first.shift(fill_value="")
            if not ascends.to_numpy(dtype=bool, na_value=False).all():
                coded = first.factorize()  # with a table of hashes, which takes longer
            codes, cells = coded
            ends = np.append(np.flatnonzero(heads), len(heads))
            return np.repeat(codes.astype(np.int32), np.diff(ends)), as_objects(cells)
    if not (isinstance(column.dtype, np.dtype) and column.dtype.kind in "Obiuf"):
        codes, distinct = pd.factorize(column)
        return codes, as_objects(distinct)
    # An Index of distinct cells takes longer than the codes, and in pandas 2 cannot hold large
    # integers.
    codes, uniques = pd.factorize(column.to_numpy())
    return codes, uniques.astype(object)


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type is a text type."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _run_heads(column: Column) -> npt.NDArray[np.bool_]:
    """Return whether each row differs from the previous one; missing rows count as different."""
    return (column != column.shift()).to_numpy(dtype=bool, na_value=True)


def _renumbered(column: Column) -> tuple[Codes, npt.NDArray[np.object_]]:
    """Return the codes of a categorical in the order of first occurrence."""
    values: Any = column.array
    order = pd.unique(values.codes)
    order = order[order != MISSING]
    # A missing row (code -1) picks the additional last entry.
    places = np.full(len(values.categories) + 1, MISSING, dtype=np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places[values.codes], as_objects(values.categories.take(order))


def _factorise_lists(column: Column, arrow: Any) -> tuple[Codes, list[Any]] | None:
    """Return the codes of lists, tuples or sets of text, by sums of random numbers of their items.

    The order of items does not count. Return None if the cells are not lists of text, or if a
    second sum differs for two lists with equal first sums.
    """
    found = _items(column) if arrow is None else _items_in_arrow(arrow)
    if found is None:
        return None
    items, ends, present = found
    numbers = np.random.default_rng(0).integers(2**63, size=(2, items.max(initial=0) + 1))
    sums = np.zeros((2, len(items) + 1), dtype=np.uint64)
    for row, number in zip(sums, numbers.astype(np.uint64), strict=True):
        np.cumsum(number.take(items), out=row[1:])
    first_sum, second_sum = np.diff(sums.take(ends, axis=1))
    codes = np.full(len(column), MISSING)
    codes[present], _ = pd.factorize(first_sum[present])
    first = present[np.flatnonzero(np.diff(np.maximum.accumulate(codes[present]), prepend=MISSING))]
    if (second_sum[present] != second_sum[first][codes[present]]).any():
        return None
    cells = column.to_numpy()[first].tolist() if arrow is None else arrow.take(first).to_pylist()
    return codes, cells


def _items(column: Column) -> tuple[Codes, Codes, Codes] | None:
    """Return codes of the items of the cells, their start in each row, and the rows with cells.

    Return None if the cells are not lists, tuples, sets or arrays of text.
    """
    if column.dtype != object or _LISTS.isdisjoint(map(type, column.to_numpy()[:_MANY])):
        return None
    present = np.arange(len(column))
    found = _items_of_lists(column.to_numpy().tolist())
    if found is None:  # some may be missing
        present = np.flatnonzero(column.notna().to_numpy())
        found = _items_of_lists(column.to_numpy()[present].tolist())
    if found is None:
        return None
    codes, lengths = found
    ends = np.zeros(len(column) + 1, dtype=np.intp)
    ends[present + 1] = lengths
    return codes, ends.cumsum(), present


def _items_of_lists(cells: list[Any]) -> tuple[Codes, Codes] | None:
    """Return codes of the items of all cells, and their number in each cell.

    Return None if the cells are not lists, tuples, sets or arrays of text. Each block of cells is
    in the cache while its types, lengths and items are read, which saves a third of the time.
    """
    code_of: defaultdict[Any, int] = defaultdict(lambda: len(code_of))
    codes, lengths = ([np.zeros(0, dtype=np.intp)] for _ in range(2))
    for start in range(0, len(cells), _CELLS_IN_CACHE):
        block = cells[start : start + _CELLS_IN_CACHE]
        if not {*map(type, block)} <= _LISTS:
            return None
        lengths.append(np.fromiter(map(len, block), dtype=np.intp))
        items = map(code_of.__getitem__, chain.from_iterable(block))
        codes.append(np.fromiter(items, dtype=np.intp))
    are_text = all(isinstance(item, str) for item in code_of)
    return (np.concatenate(codes), np.concatenate(lengths)) if are_text else None


def _items_in_arrow(arrow: Any) -> tuple[Codes, Codes, Codes] | None:
    """Return the same as `_items` for an Arrow array."""
    if not hasattr(arrow.type, "value_type") or not is_text(arrow.type.value_type):
        return None
    if not hasattr(arrow, "offsets"):
        arrow = arrow.combine_chunks()
    if not hasattr(arrow, "offsets"):  # lists of a fixed length, dictionaries
        return None
    # Null lists may have items, so use values and offsets, not flatten().
    items = arrow.values.dictionary_encode()
    if items.null_count:
        return None
    present = np.flatnonzero(np.asarray(arrow.is_valid()))
    return items.indices.to_numpy(), arrow.offsets.to_numpy(), present


def is_ordered(dtype: Any) -> TypeGuard[pd.CategoricalDtype]:
    """Return whether a column is an ordered categorical."""
    return isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered)


def as_ordered(column: pd.Series[Any], order: Iterable[Any]) -> pd.Series[Any]:
    """Return a column as a categorical of this order, or unchanged if the order is empty."""
    categories = [*order]
    return column.astype(pd.CategoricalDtype(categories, ordered=True)) if categories else column


def order_of(column: pd.Series[Any] | pd.Index[Any]) -> tuple[Any, ...]:
    """Return the categories of an ordered categorical in their order; () for other columns."""
    return tuple(column.dtype.categories) if is_ordered(column.dtype) else ()


def common_order(orders: Iterable[tuple[Any, ...]], cells: Iterable[Any]) -> tuple[Any, ...]:
    """Return the common order of categories of joined columns or files, or ().

    `cells` are the answers without missing ones. Warn if the orders differ, or if an answer is not
    among the categories.
    """
    distinct = [*dict.fromkeys(filter(None, orders))]
    if not distinct:
        return ()
    categories = {*distinct[0]}
    odd = [cell for cell in cells if not (isinstance(cell, Hashable) and cell in categories)]
    if len(distinct) == 1 and not odd:
        return distinct[0]
    shown = " and ".join(listing([*order]) for order in distinct[:2])
    lacks = f"{listing([*dict.fromkeys(map(str, odd))])} not among {shown}"
    warn(
        "the columns or files that are joined do not have the same ordered categories "
        f"({shown if len(distinct) > 1 else lacks}): their order is ignored. Give all of them the "
        "same ordered categories to use it.",
        SetagreeWarning,
    )
    return ()


def without_markers(
    codes: Codes, cells: list[Any], markers: Sequence[str | float], case: Case
) -> tuple[Codes, list[Any]]:
    """Make answers that equal a marker missing, and warn of markers that do not occur."""
    if not markers:
        return codes, cells
    kept = ~np.array(_marked(cells, markers, case, "na_values"), dtype=bool)
    places = np.where(kept, np.cumsum(kept) - 1, MISSING).astype(np.int32)
    return recode(codes, places), [cell for cell, k in zip(cells, kept, strict=True) if k]


def _marked(
    cells: Sequence[Any], markers: Sequence[str | float], case: Case, name: str
) -> list[bool]:
    """Return whether each cell equals a marker of option `name`; warn of markers without a cell."""
    keys, marks = ([_scalar(x, case) for x in items] for items in (cells, markers))
    warn_absent(
        [x for x, mark in zip(markers, marks, strict=True) if mark not in keys], cells, name
    )
    return [key in marks for key in keys]


def _scalar(cell: object, case: Case) -> object:
    """Return a scalar, or the only item of a list, tuple or set, otherwise None."""
    if isinstance(cell, list | tuple | set | frozenset | np.ndarray):
        return _scalar(next(iter(cell)), case) if len(cell) == 1 else None
    if isinstance(cell, str):
        return cell.strip().lower() if case == "lower" else cell.strip()
    return cell if isinstance(cell, Hashable) and not isinstance(cell, bool | np.bool_) else None


def _key(cell: object) -> Hashable:
    """Return a hashable key that contains the types of items, so that (1,) and (True,) differ."""
    if isinstance(cell, list | tuple | set | frozenset | np.ndarray):
        items = sorted(cell, key=repr) if isinstance(cell, set | frozenset) else list(cell)
        return (isinstance(cell, set | frozenset), *((type(i).__name__, repr(i)) for i in items))
    if isinstance(cell, dict):
        return (type(cell).__name__, repr(cell))
    if is_missing(cell):
        return None
    try:
        hash(cell)
    except TypeError:  # not a label set: reading the cell raises the error
        return (type(cell).__name__, repr(cell))
    return cell


def parse_all(
    cells: Sequence[object], read: Callable[[object], Value | None]
) -> tuple[list[Value | None], dict[int, SetagreeError]]:
    """Return the answer of each cell, and the errors of unreadable cells by position."""
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


def failure_sentence(
    failures: dict[int, SetagreeError],
    codes: Codes,
    place: Callable[[int], str],
    times: Codes | None,
) -> str:
    """Return a sentence on the first failure, with the number and first places of the others.

    With `times` rows represent several cells, so only their number is given.
    """
    failing = np.isin(codes, list(failures))
    first, *rest = np.flatnonzero(failing).tolist()
    sentence = f"{place(first)}: {failures[int(codes[first])]}"
    if not (others := n_cells(failing, times) - 1):
        return sentence
    more = f"{counted(others, 'more row')} {'fail' if others > 1 else 'fails'}"
    if times is None:
        end = f"; and {others - _MAX_PLACES:,} more" if others > _MAX_PLACES else ""
        more += f": {'; '.join(map(place, rest[:_MAX_PLACES]))}{end}"
    return f"{sentence} ({more}.)"


def merge(answers: Sequence[Any]) -> tuple[Codes, tuple[Value, ...]]:
    """Return one code for equal answers (-1 for missing ones), and the distinct answers."""
    codes: dict[Any, int] = {}
    merged = [MISSING if a is None else codes.setdefault(a, len(codes)) for a in answers]
    return np.array(merged, dtype=np.int32), tuple(codes)


def recode(codes: Codes, merged: Codes) -> Codes:
    """Return the codes after a merge; missing rows stay missing."""
    if (merged == np.arange(len(merged))).all():
        return codes.astype(np.int32, copy=False)
    # A missing row (code -1) picks the appended -1.
    return np.append(merged, np.int32(MISSING))[codes].astype(np.int32, copy=False)


def _count_blanks(
    codes: Codes,
    cells: Sequence[object],
    sets: Sequence[LabelSet | None],
    label_sep: LabelSep,
    times: Codes | None,
) -> tuple[int, bool]:
    """Return the number of blank cells, and whether some text spells out the empty set."""
    may_be = [not s and not is_missing(cell) for s, cell in zip(sets, cells, strict=True)]
    if not any(may_be):
        return 0, False
    syntax = LabelSyntax(label_sep=label_sep)
    is_blank = [b and read_cell(c, syntax) is None for b, c in zip(may_be, cells, strict=True)]
    spells_empty = any(
        empty and not blank and isinstance(cell, str)
        for empty, blank, cell in zip(may_be, is_blank, cells, strict=True)
    )
    return n_cells(np.array([*is_blank, False])[codes], times), spells_empty


def _check_numbers(column: Column, scalars: Callable[[], str]) -> None:
    if pd.api.types.is_numeric_dtype(column.dtype) and column.notna().any():
        name = "the table" if column.name is None else f"column {column.name!r}"
        way = f"use {way} for one value per cell, or " if (way := scalars()) else ""
        raise LabelError(
            f"{name} has {column.dtype} numbers instead of labels; {way}make the labels text."
        )


def _check_flags(cells: Sequence[object]) -> None:
    """Raise an error for rows of flags with an ambiguous meaning or of different lengths."""
    rows: list[Any] = [
        cell for cell in cells if isinstance(cell, list | tuple | np.ndarray) and len(cell)
    ]
    if not rows:
        return
    flags = [row for row in rows if all(isinstance(f, bool | np.bool_) for f in row)]
    if other := [row for row in flags if len(row) != len(flags[0])]:
        raise LabelError(
            f"one-hot rows of different lengths, such as {shorten(flags[0])} and "
            f"{shorten(other[0])}."
        )
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


def in_use(items: npt.NDArray[Any], codes: Codes) -> tuple[npt.NDArray[Any], Codes]:
    """Return the items that occur in the codes, and the codes renumbered for them."""
    used = np.zeros(len(items), dtype=bool)
    used[codes] = True
    if used.all():
        return items, codes
    return items[used], (np.cumsum(used) - 1).astype(np.int32)[codes]


def entries_of(indptr: Codes, rows: Codes) -> npt.NDArray[np.int64]:
    """Return the positions of the entries of compressed rows, row after row."""
    return ranges(indptr[rows], indptr[rows + 1] - indptr[rows])


def ranges(starts: Codes | int, lengths: Codes) -> npt.NDArray[np.int64]:
    """Return start, start + 1, ... of each length, one range after the other."""
    places = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    places += np.arange(len(places))
    return places
