"""What is to be reduced and how, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any

from setagree.errors import check_type
from setagree.files.columns import guess_columns
from setagree.large.survey import Reading
from setagree.study.assembly import AnswerKind, check_codebook, label_syntax
from setagree.study.tally import Tally

_SYNTAX = ("sep", "blank", "case", "codebook", "missing")


@dataclass(frozen=True)
class Reduction:
    """A reduced table.

    Attributes
    ----------
    tally : Tally
        Its patterns.
    n_missing : int
        Rows without an annotation.
    """

    tally: Tally
    n_missing: int


@dataclass(frozen=True)
class Plan:
    """How a table is reduced; see `tally`."""

    assume_unique: bool = False
    partitioned_by_unit: bool = False
    memory_limit: str | None = None
    spill: str | PathLike[str] | None = None

    def __post_init__(self) -> None:
        for name in ("assume_unique", "partitioned_by_unit"):
            check_type(name, getattr(self, name), bool, "True or False")

    @property
    def asked(self) -> list[str]:
        """The options that are given, for sentences."""
        given = [one.name for one in fields(self) if getattr(self, one.name) is not one.default]
        return [f"{name}=" for name in given]


@dataclass(frozen=True)
class Task:
    """A table and how it is read.

    Attributes
    ----------
    data : frame, path
        The table.
    named : dict
        Columns by role, as far as they are named: unit, rater, labels, value.
    reading : dict
        How label cells are read: sep, blank, case, codebook, missing.
    plan : Plan
        How it is reduced.
    encoding : str
        How the bytes of files spell text.
    keep_raters : bool
        Whether patterns say who gave what.
    """

    data: Any
    named: Mapping[str, Any]
    reading: Mapping[str, Any]
    plan: Plan
    encoding: str = "utf-8"
    keep_raters: bool = False

    def columns(self, names: Iterable[str]) -> tuple[dict[str, str], Reading]:
        """Return the columns of the roles unit, rater and answer, and how answers are read."""
        found = guess_columns(names, **self.named)
        kind: AnswerKind = "labels" if found.value is None else "value"
        answer = str(found.labels if found.value is None else found.value)
        quiet = self.reading["blank"] is not None
        syntax = label_syntax(*(self.reading[name] for name in _SYNTAX))
        check_codebook(kind, syntax)
        reading = Reading(kind, syntax, quiet)
        return {"unit": found.unit, "rater": found.rater, "answer": answer}, reading
