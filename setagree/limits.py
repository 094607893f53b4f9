"""The limits on what one call may cost, and the sentence that refuses more."""

from __future__ import annotations

from setagree.errors import CostError, counted

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
