"""How the names of units, raters, groups and labels are read: one reading for every road."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from setagree.errors import DataError, OptionError, SetagreeError, shorten

Name = TypeVar("Name")


def tidied(name: Name) -> Name:
    """Return text without the space around it, its accents composed (NFC); all else as it is.

    Examples
    --------
    >>> tidied(" Ren\u0065\u0301 "), tidied(7)
    ('René', 7)
    """
    if not isinstance(name, str):
        return name
    text = name.strip()
    return text if text.isascii() else unicodedata.normalize("NFC", text)  # type: ignore[return-value]


def check_text(name: object, what: str, error: type[SetagreeError] = DataError) -> None:
    """Raise where text holds half a character; `what` says what is called so, and where."""
    if not is_whole(name):
        raise error(
            f"{what} {shorten(name)} holds half a character (a lone surrogate, as of an emoji that "
            "was cut in two), which no UTF-8 file and few tables can hold; mend or drop it."
        )


def is_whole(name: object) -> bool:
    r"""Return whether a name is no text, or text without halves of characters (lone surrogates).

    Examples
    --------
    >>> is_whole("\U0001f600"), is_whole("\ud83d"), is_whole(7)
    (True, False, True)
    """
    if isinstance(name, tuple):
        return all(map(is_whole, name))
    if not isinstance(name, str) or name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def find_names(given: Iterable[str], known: Iterable[object]) -> list[Any]:
    """Return what an option names: one name a text, or several with commas between them.

    A name may hold commas itself: of the names that are `known`, the one with the most pieces
    counts. All that are spelled alike (1 and "1") are named; what is not known stays text.

    Examples
    --------
    >>> find_names(["ann, bob,cy", "7"], ["ann, bob", 7, "ann"])
    ['ann, bob', 'cy', 7]
    """
    spelled: dict[str, list[object]] = {}
    for name in known:
        spelled.setdefault(tidied(str(name)), []).append(name)
    found: list[Any] = []
    for text in given:
        check_text(text, "the name", OptionError)
        for name in _pieces(text, spelled):
            found += spelled.get(name, [name])
    return found


def _pieces(text: str, spelled: Mapping[str, object]) -> Iterator[str]:
    """Yield the names in a text, of those that begin at one place the longest."""
    pieces = text.split(",")
    most = 1 + max((name.count(",") for name in spelled), default=0)
    while pieces:
        runs = {n: tidied(",".join(pieces[:n])) for n in range(min(most, len(pieces)), 0, -1)}
        n = next((n for n, name in runs.items() if name in spelled), 1)
        if runs[n]:
            yield runs[n]
        pieces = pieces[n:]
