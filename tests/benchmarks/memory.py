"""Resident memory of this process, as the kernel of Linux counts it."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


def available() -> bool:
    """Return whether the high-water mark of this process can be read and reset."""
    try:
        CLEAR.write_text("5", encoding="ascii")
    except OSError:
        return False
    return STATUS.exists()


def settle() -> None:
    """Give memory that is free inside the process back to the system."""
    gc.collect()
    if "pyarrow" in sys.modules:
        arrow: Any = sys.modules["pyarrow"]
        arrow.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def resident() -> int:
    return _read("VmRSS")


def high_water(call: Callable[[], object]) -> int:
    """Return the most bytes this process had in memory during a call."""
    settle()
    CLEAR.write_text("5", encoding="ascii")
    call()
    return _read("VmHWM")


def _read(field: str) -> int:
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(field + ":"))
