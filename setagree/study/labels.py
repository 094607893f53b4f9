"""Label text to label set, and back."""

from __future__ import annotations

import ast
import io
import itertools
import json
import operator
import re
import tokenize
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from setagree.checks import public
from setagree.errors import (
    LabelError,
    OptionError,
    UnknownLabelsError,
    a_type,
    check_choice,
    check_list,
    did_you_mean,
    listing,
    option,
    shorten,
)
from setagree.lazy import pd
from setagree.study.identifiers import check_text, tidied
from setagree.wording.label_sets import (
    Degrees,
    Label,
    LabelSep,
    LabelSet,
    read_sep,
    sep_pattern,
    separators,
    sorted_labels,
)

Blank: TypeAlias = Literal["missing", "empty", "error"]
Case: TypeAlias = Literal["keep", "lower"]
NaValues: TypeAlias = Collection[str | float]

EMPTY: LabelSet = frozenset()
BLANKS, CASES = ("missing", "empty", "error"), ("keep", "lower")
_USUAL_SEPARATORS = (",", ";", "|")

_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
# Python does not convert integers of more than 4,300 digits to text.
_MAX_INTEGER = 10**4300
# Beginnings of a JSON list or a printed collection.
_OPENINGS = ("[", "{", "(", "set(", "frozenset(")
_SPACE = re.compile(r"\s*")
_BARE_LIST = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}|\([^()]*\)")


@dataclass(frozen=True)
class LabelSyntax:
    """Rules that read cells as label sets; the options are those of `Reading`."""

    label_sep: LabelSep = ","
    blank: Blank = "missing"
    case: Case = "keep"
    codebook: Collection[Label] | None = None
    na_values: NaValues | None = None
    empty: NaValues | None = None
    allowed: tuple[Label, ...] | None = field(init=False, repr=False, default=None)
    aliases: Mapping[Label, Label] = field(init=False, repr=False, default_factory=dict)
    markers: tuple[str | float, ...] = field(init=False, repr=False, default=())
    empty_markers: tuple[str | float, ...] = field(init=False, repr=False, default=())

    def __post_init__(self) -> None:
        if not (isinstance(self.label_sep, str) and self.label_sep in _USUAL_SEPARATORS):
            object.__setattr__(self, "label_sep", read_sep(self.label_sep))
            for one in separators(self.label_sep):
                check_text(one, f"{option('label_sep')}: the text", OptionError)
        for name, value, options in (("blank", self.blank, BLANKS), ("case", self.case, CASES)):
            if not isinstance(value, str) or value not in options:
                check_choice(name, value, options)
        if self.codebook is not None:
            aliases, allowed = _read_codebook(self.codebook, self.case)
            object.__setattr__(self, "allowed", allowed)
            object.__setattr__(self, "aliases", aliases)
        if self.na_values is not None:
            object.__setattr__(self, "markers", _read_markers("na_values", self.na_values))
        if self.empty is not None:
            object.__setattr__(self, "empty_markers", _read_markers("empty", self.empty))
            if both := [marker for marker in self.empty_markers if marker in self.markers]:
                raise OptionError(
                    f"{shorten(both[0])} is in {option('empty')} and in {option('na_values')}; "
                    "an answer either has no label or is missing."
                )


def _read_codebook(
    codebook: Collection[Label], case: Case
) -> tuple[Mapping[Label, Label], tuple[Label, ...]]:
    """Return the label of each spelling that is not a label itself, and the labels.

    The values of a mapping are labels if all are text; otherwise its keys are, as in a vocabulary.
    """
    check_list("codebook", codebook, "labels")
    pairs = {label: label for label in codebook}
    texts = [*codebook.values()] if isinstance(codebook, Mapping) else []
    if any(isinstance(text, str) for text in texts):
        pairs = dict(zip(codebook, texts, strict=True))
        if odd := [text for text in texts if not isinstance(text, str)]:
            raise OptionError(f"codebook: a label must be text, not {shorten(odd[0])}.")
    if blank := [spelling for spelling, x in pairs.items() if isinstance(x, str) and not x.strip()]:
        raise OptionError(
            f"codebook: the label of {shorten(blank[0])} is blank; list answers without labels in "
            f"{option('empty')}."
        )
    try:
        read = [tuple(clean_label(x, case) for x in pair) for pair in pairs.items()]
    except LabelError as error:
        raise OptionError(f"codebook: {error}") from error
    allowed = tuple(dict.fromkeys(label for _, label in read))
    aliases = {spelling: label for spelling, label in read if spelling != label}
    if both := [spelling for spelling in aliases if spelling in allowed]:
        raise OptionError(
            f"codebook: {shorten(both[0])} is both a label and a spelling of "
            f"{shorten(aliases[both[0]])}."
        )
    return aliases, allowed


def _read_markers(name: str, markers: Iterable[Any]) -> tuple[str | float, ...]:
    check_list(name, markers, "answers")
    listed = [marker.strip() if isinstance(marker, str) else marker for marker in markers]
    for marker in listed:
        check_text(marker, f"{option(name)}: the answer", OptionError)
        if not isinstance(marker, str | int | float) or marker == "":
            raise OptionError(
                f"{option(name)} has {shorten(marker)}; it must list answers, as text or numbers. "
                f"For blank cells, use {option('blank')}."
            )
    return tuple(dict.fromkeys(listed))


@public
def parse_labels(
    cell: object,
    *,
    label_sep: LabelSep = ",",
    blank: Blank = "missing",
    case: Case = "keep",
    codebook: Collection[Label] | None = None,
) -> LabelSet | None:
    r"""Return the label set of a cell, or None if it is missing.

    Text is split at `label_sep`. Order, repeats and spaces around labels do not matter, and accents
    are composed (Unicode NFC). A label that contains the separator is written in double quotes (a
    quote inside is doubled), or the whole cell is a JSON or Python list.

    Parameters
    ----------
    cell : object
        Text, or a list, tuple, set, frozenset or one-dimensional array of labels. A null (None,
        NaN, ``pandas.NA``, ``pandas.NaT``) is missing.
    label_sep : str or list of str
        The separator of labels, or several.
    blank : {"missing", "empty", "error"}
        Meaning of blank text. A list without labels is always the empty set.
    case : {"keep", "lower"}
        ``"lower"`` makes ``"Joy"`` and ``"joy"`` one label.
    codebook : collection of labels, or mapping, optional
        The permitted labels, or the label of each spelling.

    Returns
    -------
    frozenset of labels, or None
        None is a missing annotation, unlike the empty set.

    Raises
    ------
    LabelError
        An unbalanced quote, a label outside the codebook, a number or a dict instead of labels.

    Examples
    --------
    >>> sorted(parse_labels(" l2, l1,l2, "))
    ['l1', 'l2']
    >>> sorted(parse_labels('"sad, a bit", joy'))
    ['joy', 'sad, a bit']
    >>> parse_labels([]), parse_labels("", blank="empty"), parse_labels("")
    (frozenset(), frozenset(), None)
    """
    return read_cell(
        cell, LabelSyntax(label_sep=label_sep, blank=blank, case=case, codebook=codebook)
    )


def read_cell(cell: object, syntax: LabelSyntax) -> LabelSet | None:
    """Return the label set of a cell, or None if it is missing."""
    if isinstance(cell, str):
        return _read_text(cell, syntax)
    if isinstance(
        cell, list | tuple | set | frozenset | np.ndarray | pd.api.extensions.ExtensionArray
    ):
        return _read_collection(cell, syntax)
    if is_missing(cell):
        return None
    hint = " If it is a label, make it text." if is_number(cell) else ""
    raise LabelError(f"{shorten(cell)} is {a_type(cell)}, not labels.{hint}")


def is_number(cell: object) -> bool:
    """Return whether a cell is a number or a flag."""
    return isinstance(cell, int | float | complex | Decimal | np.number | np.bool_)


def cell_reader(syntax: LabelSyntax) -> Callable[[object], LabelSet | None]:
    """Return a function that reads one cell, with a shorter path for plain text and lists of it."""
    split, strip, lists = splitter(syntax.label_sep), str.strip, (list, tuple, set, frozenset)
    is_default = syntax.allowed is None and syntax.case == "keep" and not syntax.empty_markers

    def read(cell: object) -> LabelSet | None:
        if is_default and type(cell) is str and _is_plain(cell):
            labels = frozenset(map(strip, split(cell)))
            if "" not in labels:
                return labels
        elif is_default and type(cell) in lists and {*map(type, cast(Any, cell))} == {str}:
            labels = frozenset(map(strip, cast(Any, cell)))
            if "" not in labels and "".join(labels).isascii():
                return labels
        return read_cell(cell, syntax)

    return read


def is_missing(cell: object) -> bool:
    """Return whether a cell is a missing scalar of pandas: None, NaN, NA or NaT."""
    if isinstance(cell, Decimal):
        return cell.is_qnan()  # comparing a signaling NaN raises an error
    if cell is None or isinstance(cell, str):
        return cell is None
    return pd.api.types.is_scalar(cell) and bool(pd.isna(cast(Any, cell)))


def is_blank(cell: object) -> bool:
    """Return whether a cell is missing or blank text."""
    return not cell.strip() if isinstance(cell, str) else is_missing(cell)


def _read_text(text: str, syntax: LabelSyntax) -> LabelSet | None:
    stripped = text.strip()
    for label_sep in separators(syntax.label_sep):
        if label_sep != label_sep.strip():
            stripped = _trimmed(stripped, label_sep)
    if _is_plain(stripped):
        parts = splitter(syntax.label_sep)(stripped)
        cased = map(str.lower, parts) if syntax.case == "lower" else parts
        labels = frozenset(map(str.strip, cased))
        return _checked(labels - {""} if "" in labels else labels, syntax, text)
    parts = _parts(stripped, syntax.label_sep)
    return _label_set(parts, syntax, cell=text) if parts else EMPTY


def listed_labels(text: str, label_sep: str) -> list[str]:
    """Return the distinct labels in text, in their order; labels in quotes may have separators."""
    read_sep(label_sep)
    parts = map(tidied, _parts(_trimmed(text, label_sep), label_sep))
    return [part for part in dict.fromkeys(parts) if part]


def _parts(text: str, label_sep: LabelSep) -> list[str]:
    """Return the labels in text as spelled; empty only for an empty list such as ``[]``."""
    items = printed_items(text) if text.startswith(_OPENINGS) else None
    if items is not None:
        return [_as_text(item, text) for item in items]
    if _BARE_LIST.fullmatch(text) and sep_pattern(label_sep).search(text):
        raise LabelError(f"{shorten(text)} looks like a list; remove the brackets or add quotes.")
    return _split(text, label_sep)


def _label_set(parts: Iterable[object], syntax: LabelSyntax, *, cell: object) -> LabelSet | None:
    """Return the cleaned labels of a cell; if all are blank, the result depends on `blank`."""
    return _checked(frozenset(clean_label(p, syntax.case) for p in parts) - {""}, syntax, cell)


def _is_plain(text: str) -> bool:
    """Return whether a cell only needs to be split at the separator, as most cells do."""
    ends = text[:1].isalnum() and text[-1:].isalnum()
    return ends and text.isascii() and '"' not in text


def _checked(labels: LabelSet, syntax: LabelSyntax, cell: object) -> LabelSet | None:
    if not labels and syntax.blank == "error":
        raise LabelError(
            f"{shorten(cell)} is blank; use {option('blank', 'missing')} (no annotation) or "
            "'empty' (no label applies)."
        )
    if not labels:
        return EMPTY if syntax.blank == "empty" else None
    if syntax.aliases and not isinstance(labels, Degrees):
        labels = frozenset(syntax.aliases.get(label, label) for label in labels)
    if syntax.empty_markers and not labels.isdisjoint(syntax.empty_markers) and len(labels) > 1:
        raise LabelError(
            f"{shorten(cell)} has both labels and a marker of {option('empty')}; correct the "
            "answer."
        )
    if syntax.allowed is not None and (rest := labels.difference(syntax.allowed)):
        listed = sorted_labels(rest)
        hint = did_you_mean(listed[0], syntax.allowed) or f" It has {listing(syntax.allowed)}."
        sentence = f"label {shorten(listed[0])} is not in the codebook.{hint}"
        raise UnknownLabelsError(sentence).having(labels=listed)
    return labels


def clean_label(label: object, case: Case = "keep") -> Label:
    """Return a label without the space around it; raise LabelError if it is not a label."""
    if isinstance(label, str):
        cased = label.lower() if case == "lower" else label
        if label.isascii():
            return cased.strip()
        check_text(label, "label", LabelError)
        return tidied(cased)
    if isinstance(label, int | np.integer) and not isinstance(label, bool):
        return int(label)
    if is_missing(label):
        raise LabelError("a label inside a list is missing; remove it, or make the cell missing.")
    raise LabelError(f"{shorten(label)} is {a_type(label)}; a label is text or a whole number.")


def _trimmed(text: str, label_sep: str) -> str:
    """Strip separators from the ends of a cell, also if their own outer space is missing."""
    text, head, tail = text.strip(), label_sep.lstrip(), label_sep.rstrip()
    start, end = 0, len(text)
    while head != label_sep and head and text.startswith(head, start):
        start = _past_space(text, start + len(head))
    while tail != label_sep and tail and text.endswith(tail, start, end):
        end -= len(tail)
        while end > start and text[end - 1].isspace():
            end -= 1
    return text[start:end]


def splitter(label_sep: LabelSep) -> Callable[[str], list[str]]:
    """Return a function that splits text at each separator."""
    if isinstance(label_sep, str):
        return operator.methodcaller("split", label_sep)
    return sep_pattern(label_sep).split


def _split(text: str, label_sep: LabelSep) -> list[str]:
    if '"' not in text:
        return splitter(label_sep)(text)
    parts: list[str] = []
    start: int | None = 0
    while start is not None:
        part, start = _next_part(text, _past_space(text, start), label_sep)
        parts.append(part)
    return parts


def _next_part(cell: str, start: int, label_sep: LabelSep) -> tuple[str, int | None]:
    """Return the label that begins at `start`, and the start of the next one or None."""
    match = _QUOTED.match(cell, start)
    if match is None and cell.startswith('"', start):
        raise LabelError(f"{shorten(cell)} has an unbalanced quote; close it before the separator.")
    part_start = start if match is None else match.end()
    separator = sep_pattern(label_sep).search(cell, part_start)
    part = cell[part_start : None if separator is None else separator.start()]
    following = None if separator is None else separator.end()
    if match is None:
        if part.count('"') % 2:
            raise LabelError(f'{shorten(cell)} has an unbalanced quote; write a quote as two: "".')
        return part, following
    if part.strip():
        raise LabelError(
            f"{shorten(cell)} has text after a closing quote; put "
            f"{separators(label_sep)[0]!r} between labels."
        )
    return match.group(1).replace('""', '"'), following


def _past_space(text: str, start: int) -> int:
    """Return the position of the first character after the spaces at `start`."""
    return _SPACE.match(text, start).end()  # type: ignore[union-attr]  # it matches everywhere


def _as_text(item: object, cell: str) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, int) and not isinstance(item, bool) and abs(item) < _MAX_INTEGER:
        return str(item)
    raise LabelError(f"{shorten(cell)} holds {shorten(item)}; a label is text or a whole number.")


def _read_collection(cell: Any, syntax: LabelSyntax) -> LabelSet | None:
    if isinstance(cell, np.ndarray) and cell.ndim != 1:
        raise LabelError(f"an array of shape {cell.shape} is not a list of labels.")
    if isinstance(cell, Degrees):  # degrees are read before
        return _checked(cell, syntax, cell) if cell else cell
    if len(cell) == 0:
        return EMPTY
    if all(isinstance(item, bool | np.bool_) for item in cell):
        return _read_one_hot(cell, syntax)
    return _label_set(cell, syntax, cell=cell)


def _read_one_hot(row: Collection[object], syntax: LabelSyntax) -> LabelSet:
    names = syntax.allowed if syntax.allowed is not None else tuple(range(len(row)))
    if isinstance(row, set | frozenset):
        raise LabelError(f"{shorten(row)} is a set of flags, which has no order; use a list.")
    if len(names) != len(row):
        raise LabelError(
            f"{shorten(row)} has {len(row)} flags for {len(names)} labels of the codebook."
        )
    return frozenset(name for name, flag in zip(names, row, strict=True) if flag)


_LIST_LIKE = re.compile(r"""[\[{(]\s*['"]|\[\s*\d+(?:\s+\d+)+\s*\]$""")
_ADJACENT_QUOTES = re.compile(r"""['"]\s*['"]""")


def printed_items(text: str) -> list[object] | None:
    """Return the items of a cell that is a JSON list or a printed Python collection, or None.

    pandas writes cells that are lists or sets to CSV as ``['a', 'b']`` or ``set()``.
    """
    name, _, rest = text.partition("(")
    is_call = name in {"set", "frozenset"} and rest.endswith(")")
    inside = rest[:-1].strip() if is_call else text
    if not inside:
        return []
    if not is_call and text[0] in "sf":
        return None
    if text[0] == "(" and text[1:].lstrip()[:1] not in {"'", '"', ")"}:
        return None  # "(1), (2)" are two labels; a printed tuple begins with a quote
    items = _literal_items(inside) if inside[-1] in "]})" else None
    if items is None and _LIST_LIKE.match(inside):
        raise LabelError(f"{shorten(text)} looks like a list of labels and cannot be read as one.")
    return items


def _literal_items(text: str) -> list[object] | None:
    for read in (json.loads, _python_literal):
        try:
            items = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        except TypeError:  # items of sets and keys of dicts must be hashable
            raise LabelError(
                f"{shorten(text)} holds a set, a list or a dict inside another; a label is text or "
                "a whole number."
            ) from None
        if isinstance(items, dict):
            raise LabelError(f"{shorten(text)} is a dict, not labels.")
        if isinstance(items, list | tuple | set):
            if read is _python_literal:
                _check_printed_array(text)
            return list(items)
    return None


def _python_literal(text: str) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes such as "\\d" may be part of a label
        return ast.literal_eval(text)


def _check_printed_array(text: str) -> None:
    """Raise an error for adjacent strings: Python reads the printed array ['a' 'b'] as "ab"."""
    if not _ADJACENT_QUOTES.search(text):
        return
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    kinds = [token.type for token in tokens if token.type != tokenize.NL]
    if (tokenize.STRING, tokenize.STRING) in itertools.pairwise(kinds):
        raise LabelError(f"{shorten(text)} is a printed array without commas; write it as a list.")
