"""How a table is reduced that need not fit in memory."""

from __future__ import annotations

from dataclasses import dataclass, fields
from os import PathLike

from setagree.errors import check_type


@dataclass(frozen=True)
class Plan:
    """How a table is reduced; see `tally`. `keep_raters` follows from what is to be computed."""

    assume_unique: bool = False
    partitioned_by_unit: bool = False
    memory_limit: str | None = None
    spill: str | PathLike[str] | None = None
    keep_raters: bool = False

    def __post_init__(self) -> None:
        for name in ("assume_unique", "partitioned_by_unit"):
            if getattr(self, name) is not False:
                check_type(name, getattr(self, name), bool, "True or False")

    @property
    def asked(self) -> list[str]:
        """The options that are given, for sentences."""
        given = [f.name for f in fields(self)[:-1] if getattr(self, f.name) is not f.default]
        return [f"{name}=" for name in given]
