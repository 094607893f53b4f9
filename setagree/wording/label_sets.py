"""A label set as text, for files and for people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Self, TypeAlias

import numpy as np

from setagree.checks import public
from setagree.errors import OptionError, check_list, check_type, option

Label: TypeAlias = str | int
LabelSet: TypeAlias = frozenset[Label]
LabelSep: TypeAlias = str | Sequence[str]
"""The separator of the labels in a cell, or several, at each of which cells are split."""


LARGEST_DEGREE = 1e100
"""Sums and squares of larger degrees could overflow."""


class Degrees(LabelSet):
    """The labels of an answer, each with its degree above 0; equal to a label set if all are 1."""

    __slots__ = ("degrees",)
    degrees: Mapping[Label, float]

    def __new__(cls, degrees: Mapping[Label, float]) -> Self:
        """Leave out the labels whose degree is 0."""
        given = {label: float(degree) for label, degree in degrees.items() if degree}
        self = super().__new__(cls, given)
        self.degrees = MappingProxyType(given)
        return self

    @classmethod
    def of(cls, labels: Iterable[Label]) -> Degrees:
        """Return an answer unchanged if it has degrees, else with the degree 1 for each label."""
        return labels if isinstance(labels, Degrees) else cls(dict.fromkeys(labels, 1.0))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, frozenset):
            return NotImplemented
        return bool(self.degrees == Degrees.of(other).degrees)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(frozenset(self if self.is_plain else self.degrees.items()))

    def __sub__(self, others: AbstractSet[object]) -> Degrees:
        """Return the other labels with their degrees."""
        return Degrees({one: x for one, x in self.degrees.items() if one not in others})

    @property
    def is_plain(self) -> bool:
        """Whether every degree is 1, as in a label set."""
        return set(self.degrees.values()) <= {1.0}

    def __repr__(self) -> str:
        return f"Degrees({dict(self.degrees)!r})"

    def __reduce__(self) -> tuple[type[Degrees], tuple[dict[Label, float]]]:
        return Degrees, (dict(self.degrees),)


@public
def format_labels(labels: Iterable[Label], *, label_sep: str = ",") -> str:
    """Return the text that `parse_labels` reads as this label set.

    Raises
    ------
    OptionError
        Labels are not text or whole numbers, or the separator is invalid.

    Examples
    --------
    >>> format_labels({"joy", "sad, a bit"}), format_labels(frozenset())
    ('joy, "sad, a bit"', '')
    """
    check_sep(label_sep)
    check_list("labels", labels, "labels")
    listed = list(labels)
    for label in listed:
        check_type("labels", label, str | int | np.integer, "a list of text or whole numbers")
    return _joined(listed, label_sep)


def written_set(labels: Iterable[Label] | None, label_sep: LabelSep) -> str | None:
    """Return the cell of a table that is read as this label set; None if there is no answer.

    The first of several separators is written; labels that have one of the others are quoted.
    """
    return None if labels is None else _joined(labels, read_sep(label_sep)) or "[]"


def check_sep(label_sep: object) -> None:
    """Raise `OptionError` if this cannot separate two labels."""
    if not isinstance(label_sep, str) or not label_sep or '"' in label_sep:
        raise OptionError(
            f"{option('label_sep', label_sep, limit=80)} must be text of one character or more "
            "without '\"'."
        )


def read_sep(label_sep: Any) -> LabelSep:
    """Return a separator, or a list of several; raise `OptionError` if it cannot be one."""
    listed: list[str] = [label_sep]
    if isinstance(label_sep, list | tuple):
        listed = [one for k, one in enumerate(label_sep) if one not in label_sep[:k]]
    for one in listed:
        check_sep(one)
    for one in listed:
        if inside := [other for other in listed if other != one and other in one]:
            raise OptionError(
                f"{option('label_sep', listed)}: {one!r} contains {inside[0]!r}, at which cells "
                "are split, too; omit one of the two."
            )
    if not listed:
        raise OptionError(f"{option('label_sep', [])} must list at least one separator.")
    return listed if len(listed) > 1 else listed[0]


def separators(label_sep: LabelSep) -> Sequence[str]:
    """Return the separators as a list; the first is the one that is written."""
    return [label_sep] if isinstance(label_sep, str) else label_sep


def sep_pattern(label_sep: LabelSep) -> re.Pattern[str]:
    """Return the pattern of the separators."""
    return re.compile("|".join(map(re.escape, separators(label_sep))))


def _joined(labels: Iterable[Label], label_sep: LabelSep) -> str:
    listed = tuple(separators(label_sep))
    glue = f"{listed[0]} " if listed[0] in {",", ";"} else listed[0]
    return glue.join(_quote(str(label), *listed) for label in sorted_labels(labels))


def sorted_labels(labels: Iterable[Label]) -> list[Label]:
    """Return the labels in reading order: numbers by size, then text; others by type and text."""
    listed = list(labels)
    try:
        return sorted(listed, key=lambda label: (isinstance(label, str), label))
    except TypeError:  # categories of types that cannot be compared
        return sorted(listed, key=lambda label: (type(label).__name__, str(label)))


def display_labels(labels: Iterable[Label]) -> str:
    """Return a label set as people read it: ``a, b``, ``a 1, b 0.7`` with degrees, or ``{}``."""
    if isinstance(labels, Degrees) and labels:
        degrees = labels.degrees
        named = ((_quote(str(one), ","), degrees[one]) for one in sorted_labels(degrees))
        return ", ".join(f"{label} {degree:g}" for label, degree in named)
    return _joined(labels, ",") or "{}"


@lru_cache(4_096)  # a study with few labels has thousands of sets of them
def _quote(label: str, *label_sep: str) -> str:
    followed = label + label_sep[0]
    opens_list = label[:1] in {"[", "{", "("} or followed.startswith(("set(", "frozenset("))
    is_split = any(_is_split_at(label, one) for one in label_sep)
    if is_split or '"' in label or opens_list:
        doubled = label.replace('"', '""')
        return f'"{doubled}"'
    return label


def _is_split_at(label: str, label_sep: str) -> bool:
    """Return whether a label has a separator, or completes one with the text beside it."""
    followed = label + label_sep
    core = label_sep.strip()  # which is taken off the ends of a cell
    at_ends = core not in {"", label_sep} and (
        followed.startswith(core) or (label_sep + label).endswith(core)
    )
    return followed.index(label_sep) < len(label) or at_ends
