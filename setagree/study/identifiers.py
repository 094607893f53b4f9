"""Names of units and raters, and hashes of values."""

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
    """Return text without surrounding space and with composed accents (NFC), others unchanged."""
    if not isinstance(name, str):
        return name
    text = name.strip()
    return text if text.isascii() else unicodedata.normalize("NFC", text)  # type: ignore[return-value]


def check_text(name: object, what: str, error: type[SetagreeError] = DataError) -> None:
    """Raise `error` if text has a lone surrogate; `what` describes the text and its place."""
    if not is_whole(name):
        raise error(
            f"{what} {shorten(name)} holds half a character (a lone surrogate, as of an emoji that "
            "was cut in two), which UTF-8 files and most tables cannot hold; correct or remove it."
        )


def is_whole(name: object) -> bool:
    """Return whether a name is not text, or is text without lone surrogates."""
    if isinstance(name, tuple):
        return all(map(is_whole, name))
    if not isinstance(name, str) or name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def find_names(texts: Iterable[str], known: Iterable[object]) -> list[Any]:
    """Return the names that an option lists: one name per text, or several separated by commas.

    A name may contain commas: the longest of the `known` names at a position counts. A text selects
    all names with its spelling (1 and "1"); an unknown name remains text.
    """
    spelled: dict[str, list[object]] = {}
    for name in known:
        spelled.setdefault(tidied(str(name)), []).append(name)
    names: list[Any] = []
    for text in texts:
        check_text(text, "the name", OptionError)
        for name in _pieces(text, spelled):
            names += spelled.get(name, [name])
    return names


def _pieces(text: str, spelled: Mapping[str, object]) -> Iterator[str]:
    """Yield the names in a text: at each position the longest known name, or the next piece."""
    pieces = text.split(",")
    longest = 1 + max((name.count(",") for name in spelled), default=0)
    while pieces:
        runs = {n: tidied(",".join(pieces[:n])) for n in range(min(longest, len(pieces)), 0, -1)}
        n = next((n for n, name in runs.items() if name in spelled), 1)
        if runs[n]:
            yield runs[n]
        pieces = pieces[n:]


Keys: TypeAlias = npt.NDArray[np.uint64]


def value_numbers(values: Iterable[Value]) -> Keys:
    """Return a 64-bit hash of each value.

    Equal values (1 and 1.0) have the same hash; 1 and '1', or the empty set and an empty text, have
    different ones.
    """
    spelled = [_spelled(value).encode("utf-8", "surrogatepass") for value in values]
    digests = b"".join(blake2b(text, digest_size=8).digest() for text in spelled)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _spelled(value: Any) -> str:
    """Return a text that equal values of any type share, with a prefix for each kind."""
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
        # Hexadecimal, because Python does not write more than 4,300 decimal digits.
        return f"#{number:x}"
    if number is not None and not math.isnan(number):
        return f"#{number!r}"
    return f"?{spelled_time(value) if hasattr(value, 'isoformat') else repr(value)}"


def spelled_time(value: Any) -> str:
    """Return a date or time as text that equal times of any zone share."""
    aware = isinstance(value, datetime) and value.utcoffset() is not None
    return str((value.astimezone(UTC) if aware else value).isoformat())
