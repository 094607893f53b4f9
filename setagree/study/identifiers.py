"""Names of units and raters, and the numbers that stand for values."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from setagree.errors import DataError, OptionError, SetagreeError, shorten
from setagree.study.numbers import as_number
from setagree.wording.label_sets import Degrees

if TYPE_CHECKING:
    from setagree.study.codes import Value

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


Keys: TypeAlias = npt.NDArray[np.uint64]


def value_numbers(values: Iterable[Value]) -> Keys:
    """Return a number of 64 bits for each value: the digest of how it is spelled.

    Values that are equal (1 and 1.0) have the same one; 1 and '1', or the empty set and an empty
    text, have different ones.
    """
    spelled = [_spelled(value).encode("utf-8", "surrogatepass") for value in values]
    digests = b"".join(blake2b(text, digest_size=8).digest() for text in spelled)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _spelled(value: Any) -> str:
    """Return a text that equal values share, whatever their type; each kind has its own mark."""
    if isinstance(value, str):
        return f"'{value}"
    if isinstance(value, Degrees) and not value.is_plain:
        value = frozenset(value.degrees.items())
    if isinstance(value, frozenset | tuple):
        parts = [f"{len(text)}:{text}" for text in map(_spelled, value)]
        return f"({''.join(parts)}" if isinstance(value, tuple) else f"{{{''.join(sorted(parts))}"
    plain = value.item() if isinstance(value, np.generic) else value
    number = plain if isinstance(plain, int) else as_number(plain)
    if isinstance(number, int):
        # Digits of base 16, since Python refuses to write more than 4,300 of base 10.
        return f"#{number:x}"
    if number is not None and not math.isnan(number):
        return f"#{number!r}"
    return f"?{spelled_time(value) if hasattr(value, 'isoformat') else repr(value)}"


def spelled_time(value: Any) -> str:
    """Return a date or time as text that equal ones share, whatever zone they are told in.

    Examples
    --------
    >>> spelled_time(datetime.fromisoformat("2024-05-01T02:00:00+02:00"))
    '2024-05-01T00:00:00+00:00'
    """
    aware = isinstance(value, datetime) and value.utcoffset() is not None
    return str((value.astimezone(UTC) if aware else value).isoformat())
