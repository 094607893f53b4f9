"""Best-of-several timings whose candidates take turns."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Mapping


def seconds(call: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    call()
    return time.process_time() - start


def alternate(calls: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, float]:
    """Time several calls in turn, each as often as the others."""
    best = dict.fromkeys(calls, math.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            best[name] = min(best[name], seconds(call))
    return best
