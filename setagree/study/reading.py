"""How annotations are read: said once, checked once, remembered by the study."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, TypeAlias

from setagree.errors import OptionError, check_choice, check_type
from setagree.study.labels import Blank, Case, LabelSyntax, Missing
from setagree.study.where import Where
from setagree.wording.label_sets import Label

Duplicates: TypeAlias = Literal["error", "first", "last", "union"]
AnswerKind: TypeAlias = Literal["labels", "number", "category", "value"]
"""What answers are taken as; a "value" is a number where every one is, else a category."""

_DEFAULT_SYNTAX = LabelSyntax()

ANSWER_KINDS = ("labels", "number", "category", "value")


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """How a table, a file or an export is read.

    Attributes
    ----------
    unit, rater, labels, value : str, optional
        Columns of a long table; `labels` may be the list of columns of flags. Those not named are
        looked for under their usual names.
    kind : {"labels", "number", "category", "value"}, optional
        What answers are taken as. Default: scalars (a "value") where `value` names their column,
        else label sets.
    sep : str, optional
        What stands between the labels of a cell. Default: a comma; in an export what its format
        says.
    blank, case, codebook, missing, duplicates
        As in `Annotations.from_long`.
    encoding : str
        How the bytes of a file spell text.
    delimiter : str, optional
        What stands between two columns of a file. Default: what its beginning shows.
    format, question, roster
        Of the export of a tool, as in `read`; the format "table" says that it is none.
    wide, people_in_rows : bool
        Of a table that is not long: each rater has a column of answers (`unit` may be named), or
        each row is a rater and each other column a unit (`rater` may be named; `unit` is the
        pattern of the columns).
    raters : list of str, optional
        Of a wide table: the columns of the raters, if not all.
    where : str, optional
        Which rows count: a condition on one column, such as ``"repeat == 0"``.
    source : str, optional
        The name of a new column that says what file a row comes from.
    sheet : str or int, optional
        The sheet of a workbook, by its name or its number from 1.

    Examples
    --------
    >>> import setagree as sa
    >>> how = Reading(unit="doc", blank="empty")
    >>> study = sa.Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "")], blank="empty")
    >>> how.blank == study.reading.blank
    True
    """

    unit: str | None = None
    rater: str | None = None
    labels: str | list[str] | None = None
    value: str | None = None
    kind: AnswerKind | None = None
    sep: str | None = None
    blank: Blank | None = None
    case: Case = "keep"
    codebook: Collection[Label] | None = None
    missing: Missing | None = None
    duplicates: Duplicates = "error"
    encoding: str = "utf-8"
    delimiter: str | None = None
    format: str = "auto"
    question: str | None = None
    roster: Any = None
    where: str | None = None
    source: str | None = None
    sheet: str | int | None = None
    wide: bool = False
    people_in_rows: bool = False
    raters: list[str] | None = None

    def __post_init__(self) -> None:
        if self.labels is not None and self.value is not None:
            raise OptionError("name labels= (label sets) or value= (one scalar a cell), not both.")
        if self.kind is not None:
            check_choice("kind", self.kind, ANSWER_KINDS)
        if self.duplicates is not Reading.duplicates:
            check_choice("duplicates", self.duplicates, ("error", "first", "last", "union"))
        if self.format is not Reading.format:
            check_type("format", self.format, str, "the name of a format")
        if self.source is not None:
            check_type("source", self.source, str, "the name of a new column")
        if self.sheet is not None:
            check_type("sheet", self.sheet, str | int, "the name of a sheet, or its number")
        _ = self.condition
        if self.format not in ("auto", "table") and self._of_tables:
            raise OptionError(
                f"{self._of_tables[0]} is for tables: say format=table, or drop it with "
                f"format={self.format}."
            )
        self._check_layout()
        if self.syntax.codebook is not None and self.answers != "labels":
            raise OptionError("codebook= lists the labels of label sets; single values have none.")

    def _check_layout(self) -> None:
        """Refuse options of another layout."""
        odd: tuple[str, ...] = ("raters",)
        place = "with wide="
        if self.people_in_rows:
            odd, place = ("labels", "value", "wide", "raters"), "without people_in_rows="
        elif self.wide:
            odd, place = ("rater", "labels", "value"), "without wide="
        for name in odd:
            if getattr(self, name):
                raise OptionError(f"{name}= makes sense only {place}.")

    @cached_property
    def syntax(self) -> LabelSyntax:
        """How label cells are read; blank cells are missing unless something else was asked for."""
        asked = (self.sep, self.blank, self.codebook, self.missing)
        if self.case is Reading.case and all(option is None for option in asked):
            return _DEFAULT_SYNTAX  # which was checked once
        sep = "," if self.sep is None else self.sep
        blank: Blank = "missing" if self.blank is None else self.blank
        return LabelSyntax(sep, blank, self.case, self.codebook, self.missing)

    @cached_property
    def condition(self) -> Where | None:
        """Which rows count; None for all."""
        return None if self.where is None else Where.parse(self.where)

    @property
    def answers(self) -> AnswerKind:
        """What answers are taken as."""
        return self.kind or ("labels" if self.value is None else "value")

    @property
    def answer(self) -> Any:
        """The column of the answers, or the list of columns of flags."""
        return next((name for name in (self.value, self.labels) if name is not None), "labels")

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a long table by role, as far as they are named."""
        return {role: getattr(self, role) for role in ("unit", "rater", "labels", "value")}

    @property
    def is_table(self) -> bool:
        """Whether something says that a file is a table, not the export of a tool."""
        return self.format == "table" or bool(self._of_tables)

    @property
    def _of_tables(self) -> list[str]:
        """The options that are given and that only tables have."""
        names = (*self.columns, "wide", "raters", "kind", "delimiter", "people_in_rows")
        return [f"{name}=" for name in names if getattr(self, name)]

    @property
    def in_memory_only(self) -> list[str]:
        """The options that are given and that no engine knows, for sentences."""
        names = (
            *("wide", "raters", "kind", "people_in_rows", "question", "roster", "delimiter"),
            *("source", "sheet"),
        )
        given = [f"{name}=" for name in names if getattr(self, name)]
        return given + [f"format={self.format}"] * (self.format not in ("auto", "table"))

    @property
    def asked(self) -> list[str]:
        """The options that are given, for sentences."""
        named = []
        for name, default in _DEFAULTS:
            option = getattr(self, name)
            is_default = isinstance(option, str | bool) and option == default
            if option is not None and not is_default:
                named.append(f"{name}=")
        return named


_DEFAULTS = [(f.name, "," if f.name == "sep" else f.default) for f in fields(Reading)]


def as_reading(reading: Reading | None) -> Reading:
    """Return how something is read: as asked for, or with the usual names of columns.

    Raises
    ------
    OptionError
        It is no `Reading`.
    """
    if isinstance(reading, Reading):
        return reading
    check_type("reading", reading, type(None), "a Reading, such as Reading(unit='doc')")
    return Reading()
