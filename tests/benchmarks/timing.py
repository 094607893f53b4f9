"""Best-of-several timings whose candidates take turns."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Mapping


def seconds(call: Callable[[], object]) -> float:
    """Return the time one call takes.

    Parameters
    ----------
    call : callable
        Called once without arguments; its result is dropped.

    Returns
    -------
    float
        Processor seconds, user and system.
    """
    gc.collect()
    start = time.process_time()
    call()
    return time.process_time() - start


def alternate(calls: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, float]:
    """Time several calls in turn, each as often as the others.

    Parameters
    ----------
    calls : mapping of str to callable
        The candidates by name.
    rounds : int
        How often each candidate runs.

    Returns
    -------
    dict of str to float
        The shortest time of each candidate.
    """
    best = dict.fromkeys(calls, math.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            best[name] = min(best[name], seconds(call))
    return best
