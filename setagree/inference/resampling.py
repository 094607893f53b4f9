"""Resamples of units, drawn in blocks; a seed always gives the same draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.checks import Floats, check_drawing
from setagree.limits import BLOCK_ENTRIES
from setagree.progress import track
from setagree.scoring.results import ABOUT
from setagree.wording.result_base import Result

_FEW_UNITS = 20
"""Number of units per drawn row up to which drawing units one by one is faster."""


class Resampled(Result):
    """Estimates over resamples, of shape (n_resamples,); NaN if undefined in a resample."""

    distribution: Floats

    @cached_property
    def defined(self) -> Floats:
        """The estimates that are not NaN."""
        return self.distribution[np.isfinite(self.distribution)]

    @property
    def about(self) -> str | None:
        """Population of an interval: these raters, or raters like these; None for a test."""
        return ABOUT.get(getattr(self, "over", "units"))

    @property
    def n_undefined(self) -> int:
        """Number of resamples with an undefined estimate; they do not count."""
        return len(self.distribution) - len(self.defined)


def block_sizes(
    n_resamples: int, width: int, *, most: int | None = None, what: str = "resamples"
) -> Iterator[int]:
    """Yield the numbers of resamples in blocks of bounded memory, and show the progress.

    A block has one resample, or several with `most` entries in all, by default `BLOCK_ENTRIES`,
    `width` each.
    """
    at_once = max(1, (most or BLOCK_ENTRIES) // width)
    starts = range(0, n_resamples, at_once)
    for start in track(starts, total=n_resamples, at_once=at_once, what=what):
        yield min(at_once, n_resamples - start)


def draw_units(
    n_units: int, n_resamples: int, generator: np.random.Generator, *, width: int = 1
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield blocks of shape (b, n_units) of unit positions drawn with replacement.

    `width` is the cost of a draw in addition to the units: the number of values it is summed over.
    """
    width = max(n_units, width)
    check_drawing(n_resamples, width)
    for b in block_sizes(n_resamples, width):
        yield generator.integers(n_units, size=(b, n_units))


def draw_times(
    times: Floats,
    keys: npt.NDArray[Any],
    n_resamples: int,
    generator: np.random.Generator,
    *,
    width: int = 1,
) -> Iterator[Floats]:
    """Yield blocks of shape (b, n_rows): the number of draws of each row if units are resampled.

    The distribution is that of the counts of `draw_units`, without a list of the units: counts of
    rows with many units are multinomial, together with one row for all others, whose units are
    drawn. `times` is the number of units per row, and rows are drawn in the order of their keys.
    """
    width = max(len(times), width)
    check_drawing(n_resamples, width)
    order, n = np.argsort(keys, kind="stable"), int(times.sum())
    few = times[order] <= _FEW_UNITS
    light, heavy = order[few], order[~few]
    units = np.repeat(np.arange(len(light)), times[light].astype(np.intp))
    shares = np.append(times[heavy], len(units)) / n
    for b in block_sizes(n_resamples, width):
        out = np.empty((b, len(times)))
        drawn = generator.multinomial(n, shares, size=b)
        out[:, heavy] = drawn[:, :-1]
        for row, n_light in zip(out, drawn[:, -1].tolist(), strict=True):
            some = units[generator.integers(len(units), size=n_light)] if n_light else units[:0]
            row[light] = np.bincount(some, minlength=len(light))
        yield out


def over_resamples(
    evaluate: Callable[[npt.NDArray[np.int64]], Sequence[Floats]],
    n_units: int,
    n_resamples: int,
    generator: np.random.Generator,
    *,
    width: int,
) -> list[Floats]:
    """Return the concatenated results of a function of the blocks of `draw_units`."""
    blocks = draw_units(n_units, n_resamples, generator, width=width)
    return [np.concatenate(part) for part in zip(*map(evaluate, blocks), strict=True)]


def over_groups(
    evaluate: Sequence[Callable[[Floats], Floats]],
    of_row: Sequence[Any],
    n_resamples: int,
    generator: np.random.Generator,
    *,
    width: int,
) -> list[Floats]:
    """Return what functions of the numbers of draws of each row give if groups of rows are drawn.

    `of_row` has for each function the number of units by group and row, as a sparse array.
    """
    n = of_row[0].shape[0]

    def estimates(draws: npt.NDArray[np.int64]) -> list[Floats]:
        times = row_weights(draws, np.arange(n), n)
        return [of(times @ rows) for of, rows in zip(evaluate, of_row, strict=True)]

    return over_resamples(estimates, n, n_resamples, generator, width=width)


def random_ranks(units: npt.NDArray[Any], generator: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return the rank of each rating, from 0, in a random order of the ratings of its unit."""
    order, sizes = np.lexsort((generator.random(len(units)), units)), np.bincount(units)
    ranks = np.empty(len(units), dtype=np.intp)
    ranks[order] = np.arange(len(units)) - (np.cumsum(sizes) - sizes)[units[order]]
    return ranks


def row_weights(draws: npt.NDArray[Any], rows: npt.NDArray[Any], n_rows: int) -> Floats:
    """Return the number of draws of each row (pattern or unit), of shape (b, n_rows)."""
    b = len(draws)
    cells = rows[draws] + n_rows * np.arange(b)[:, None]
    return np.bincount(cells.ravel(), minlength=b * n_rows).reshape(b, n_rows).astype(np.float64)
