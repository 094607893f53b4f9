"""What the library cannot do yet: a case that needs it is not run. The aim is an empty set."""

from __future__ import annotations

WAITING: set[str] = {"nulls alone", "exact numbers"}
