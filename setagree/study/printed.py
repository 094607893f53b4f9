"""Text that is a JSON list or a printed Python collection to its items."""

from __future__ import annotations

import ast
import io
import itertools
import json
import re
import tokenize
import warnings

from setagree.errors import LabelError, shorten

_LIST_LIKE = re.compile(r"""[\[{(]\s*['"]|\[\s*\d+(?:\s+\d+)+\s*\]$""")
_ADJACENT_QUOTES = re.compile(r"""['"]\s*['"]""")


def printed_items(text: str) -> list[object] | None:
    """Return the items of a cell that is a JSON list or a printed Python collection, or None.

    A data frame whose cells are lists or sets is written to CSV as ``['a', 'b']`` or ``set()``.
    """
    called = _inside_call(text)
    inside = text if called is None else called
    if not inside:
        return []
    if called is None and text[0] in "sf":
        return None
    if text[0] == "(" and text[1:].lstrip()[:1] not in {"'", '"', ")"}:
        return None  # "(1), (2)" are two labels; only quotes make it a printed tuple
    items = _literal_items(inside) if inside[-1] in "]})" else None
    if items is None and _LIST_LIKE.match(inside):
        raise LabelError(f"{shorten(text)} looks like a list of labels and cannot be read as one.")
    return items


def _inside_call(text: str) -> str | None:
    """Return what stands inside a printed ``set(...)`` or ``frozenset(...)``; None elsewhere."""
    name, _, rest = text.partition("(")
    if name not in {"set", "frozenset"} or not rest.endswith(")"):
        return None
    return rest[:-1].strip()


def _literal_items(text: str) -> list[object] | None:
    for read in (json.loads, _python_literal):
        try:
            items = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        except TypeError:  # what stands in a set, or is the key of a dict, must be hashable
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
        warnings.simplefilter("ignore")  # "\\d" is an odd escape to Python, here it is a label
        return ast.literal_eval(text)


def _check_printed_array(text: str) -> None:
    """Raise an error for adjacent strings: Python reads the printed array ['a' 'b'] as "ab"."""
    if not _ADJACENT_QUOTES.search(text):
        return
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    kinds = [token.type for token in tokens if token.type != tokenize.NL]
    if (tokenize.STRING, tokenize.STRING) in itertools.pairwise(kinds):
        raise LabelError(f"{shorten(text)} is a printed array without commas; write it as a list.")
