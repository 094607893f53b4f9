"""A label set as text, for files and for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from setagree.checks import public
from setagree.errors import OptionError, check_list, check_type, option

Label: TypeAlias = str | int
LabelSet: TypeAlias = frozenset[Label]


@public
def format_labels(labels: Iterable[Label], *, sep: str = ",") -> str:
    """Return the text that `parse_labels` reads as this label set.

    Raises
    ------
    OptionError
        They are no labels (text or whole numbers), or the separator is none.

    Examples
    --------
    >>> format_labels({"joy", "sad, a bit"}), format_labels(frozenset())
    ('joy, "sad, a bit"', '')
    """
    check_sep(sep)
    check_list("labels", labels, "labels")
    listed = list(labels)
    for label in listed:
        check_type("labels", label, str | int | np.integer, "a list of text or whole numbers")
    return _joined(listed, sep)


def check_sep(sep: object) -> None:
    """Raise `OptionError` unless this can stand between two labels."""
    if not isinstance(sep, str) or not sep or '"' in sep:
        raise OptionError(
            f"{option('sep', sep, limit=80)} must be text of one character or more without '\"'."
        )


def _joined(labels: Iterable[Label], sep: str) -> str:
    glue = f"{sep} " if sep in {",", ";"} else sep
    return glue.join(_quote(str(label), sep) for label in sorted_labels(labels))


def sorted_labels(labels: Iterable[Label]) -> list[Label]:
    """Return the labels in reading order: numbers by size, then text."""
    return sorted(labels, key=lambda label: (isinstance(label, str), label))


def display_labels(labels: Iterable[Label]) -> str:
    """Return a label set as people read it, the empty set as ``{}``.

    Examples
    --------
    >>> display_labels({"b", "a"}), display_labels(frozenset())
    ('a, b', '{}')
    """
    return _joined(labels, ",") or "{}"


def _quote(label: str, sep: str) -> str:
    followed = label + sep
    opens_list = label[:1] in {"[", "{", "("} or followed.startswith(("set(", "frozenset("))
    core = sep.strip()  # which is taken off the ends of a cell
    # The separators beside a label may complete what it begins or ends with.
    at_ends = core not in {"", sep} and (followed.startswith(core) or (sep + label).endswith(core))
    if followed.index(sep) < len(label) or '"' in label or opens_list or at_ends:
        doubled = label.replace('"', '""')
        return f'"{doubled}"'
    return label
