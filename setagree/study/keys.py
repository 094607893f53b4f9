"""Numbers that the answers of a unit decide alone, whatever rows, names and engines they came by.

Sorted by them, the units of a study stand in one order on every road and every machine, so that a
seed draws the same ones. Python's own hashes differ from run to run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.study.codes import Value
from setagree.study.numbers import as_number
from setagree.wording.label_sets import Degrees

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
