"""How much memory a computation takes."""

from __future__ import annotations

import tracemalloc


def peak(compute):
    """Return the result of a computation and the most memory it held, in MB."""
    tracemalloc.start()
    try:
        return compute(), tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
