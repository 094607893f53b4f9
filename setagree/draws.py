"""Seeds, and units drawn with replacement, block by block; a seed gives the same draws always."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.errors import OptionError, counted
from setagree.limits import MOST_BYTES, MOST_STEPS, check_cost
from setagree.progress import track

Floats: TypeAlias = npt.NDArray[np.float64]
Rng: TypeAlias = int | np.random.Generator | None

ENTRIES_AT_ONCE = 4_000_000
"""Entries of a block of draws; 32 MB."""

_LONG_WORK = 200_000_000


def check_resamples(n_resamples: int) -> None:
    """Raise `OptionError` unless the number of resamples is a whole number of 1 or more."""
    whole = isinstance(n_resamples, int | np.integer) and not isinstance(n_resamples, bool)
    if not whole or n_resamples < 1:
        raise OptionError(f"n_resamples={n_resamples!r} must be a whole number of 1 or more.")


def check_drawing(n_resamples: int, n_entries: int, *, name: str = "n_resamples") -> None:
    """Raise `CostError` where so many resamples of so many entries exceed the limits.

    Examples
    --------
    >>> check_drawing(999_999_999_999, 60)
    Traceback (most recent call last):
    setagree.errors.CostError: 999,999,999,999 resamples would take about 32,000.0 GB of memory; \
the limit is 2.0 GB. Ask for n_resamples=62500000 or fewer.
    """
    n, each = min(int(n_resamples), 10**18), max(n_entries, 1)
    most = min(MOST_BYTES // _KEPT, MOST_STEPS // each)
    instead = f"Ask for {name}={most} or fewer." if most else "Keep a part of the units."
    what = counted(n, name.removeprefix("n_").removesuffix("s"))
    check_cost(what, n_bytes=_KEPT * n, n_steps=n * each, instead=instead)


_KEPT = 32
"""Bytes that an estimate takes while the distribution is put together and read off."""

LOOPED = 3_000
"""Entries that a resample is worth at least where each is a round of its own; 0.1 ms."""


def check_level(level: object) -> None:
    """Raise `OptionError` unless the level is a number that lies strictly between 0 and 1."""
    if not isinstance(level, float | np.floating) or not 0 < level < 1:
        raise OptionError(f"level={level!r} must lie between 0 and 1, such as 0.95.")


def as_generator(rng: Rng) -> np.random.Generator:
    """Return the Generator of a seed, and a Generator as it is.

    Raises
    ------
    OptionError
        It is neither.
    """
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise OptionError(f"rng={rng!r} is neither a seed of 0 or more nor a Generator.") from error


def draw_units(
    n_units: int, n_resamples: int, generator: np.random.Generator, *, width: int = 1
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield blocks of shape (b, n_units) of unit positions drawn with replacement.

    `width` is what a draw costs besides the units: the values it is summed over.
    """
    check_drawing(n_resamples, max(n_units, width))
    at_once = max(1, ENTRIES_AT_ONCE // max(n_units, width))
    starts = range(0, n_resamples, at_once)
    long = n_resamples * max(n_units, width) > _LONG_WORK
    for start in track(starts, total=len(starts), what="resamples", long=long):
        yield generator.integers(n_units, size=(min(at_once, n_resamples - start), n_units))


def row_weights(draws: npt.NDArray[Any], rows: npt.NDArray[Any], n_rows: int) -> Floats:
    """Return how often each row (pattern or unit) was drawn, of shape (b, n_rows)."""
    b = len(draws)
    cells = rows[draws] + n_rows * np.arange(b)[:, None]
    return np.bincount(cells.ravel(), minlength=b * n_rows).reshape(b, n_rows).astype(np.float64)
