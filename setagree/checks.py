"""Checks of options that many functions share, and the limits on what one call may cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeAlias, TypeVar

import numpy as np

from setagree.errors import CostError, OptionError, counted

P = ParamSpec("P")
R = TypeVar("R")

Rng: TypeAlias = int | np.random.Generator | None

MOST_BYTES = 2_000_000_000
"""Memory that one step may ask for."""

MOST_STEPS = 10_000_000_000
"""Elementary steps (additions, comparisons) that one call may take; some minutes."""


def check_cost(what: str, *, n_bytes: float = 0, n_steps: float = 0, instead: str) -> None:
    """Raise `CostError` where the reckoned memory or the reckoned steps exceed the limits.

    Parameters
    ----------
    what : str
        What would be computed, as the subject of a sentence.
    n_bytes, n_steps : float
        What it would cost.
    instead : str
        A sentence with the smaller request that passes.

    Examples
    --------
    >>> check_cost("The table of all pairs", n_bytes=5e9, instead="Leave out rare values.")
    Traceback (most recent call last):
    setagree.errors.CostError: The table of all pairs would take about 5.0 GB of memory; the limit \
is 2.0 GB. Leave out rare values.
    """
    if n_bytes > MOST_BYTES:
        raise CostError(
            f"{what} would take about {n_bytes / 1e9:,.1f} GB of memory; the limit is "
            f"{MOST_BYTES / 1e9:.1f} GB. {instead}"
        )
    if n_steps > MOST_STEPS:
        raise CostError(
            f"{what} would take about {counted(round(n_steps), 'step')}; the limit is "
            f"{MOST_STEPS:,}. {instead}"
        )


def check_resamples(n_resamples: int) -> None:
    """Raise `OptionError` unless the number of resamples is a whole number of 1 or more."""
    whole = isinstance(n_resamples, int | np.integer) and not isinstance(n_resamples, bool)
    if not whole or n_resamples < 1:
        raise OptionError(f"n_resamples={n_resamples!r} must be a whole number of 1 or more.")


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


def renamed(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that answers old names of options with the new ones.

    Examples
    --------
    >>> @renamed(colours="colour")
    ... def paint(*, colour):
    ...     return colour
    >>> paint(colours="red")
    Traceback (most recent call last):
    setagree.errors.OptionError: colours= is called colour=.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in names.keys() & kwargs.keys():
                raise OptionError(f"{old}= is called {names[old]}=.")
            return function(*args, **kwargs)

        return checked

    return decorated
