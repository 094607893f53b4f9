"""How annotations are read: said once, checked once, remembered by the study."""

from __future__ import annotations

import encodings.aliases
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from os import PathLike
from typing import Any, Literal, TypeAlias, TypeGuard, get_args

from setagree.checks import public
from setagree.errors import (
    OptionError,
    a_type,
    check_choice,
    check_type,
    did_you_mean,
    option,
    shorten,
)
from setagree.study.labels import Blank, Case, LabelSyntax, Missing
from setagree.study.row_filter import Where
from setagree.wording.label_sets import Label

Duplicates: TypeAlias = Literal["error", "first", "last", "union", "repeats"]
Predictions: TypeAlias = "bool | Collection[str]"
AnswerKind: TypeAlias = Literal["labels", "number", "category", "value"]
"""What answers are taken as; a "value" is a number where every one is, else a category."""

QUEUED = "queued"
"""The column of marks that `next_ratings` writes; a table that has it may need ``queued=``."""


_DEFAULT_SYNTAX = LabelSyntax()

ANSWER_KINDS = ("labels", "number", "category", "value")


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """How a table, a file or an export is read.

    Attributes
    ----------
    unit, rater : str, optional
        The columns that identify the unit and the rater. Default: those with a usual name
        (``unit``, ``rater`` and what goes for them).
    labels : str or list of str, optional
        The column of label sets. Where each label has a column of flags, the list of these columns;
        such a table is read in memory. Default: the column with a usual name.
    value : str, optional
        Instead of `labels`, the column of one scalar each: a number where every cell is one, else a
        category. Numbers that are equal are one value, whatever their type or spelling; codes such
        as 007 and 7 are read as labels.
    kind : {"labels", "number", "category", "value"}, optional
        What the cells are: label sets, numbers, or categories, whose text is kept (007 is not 7);
        a "value" is a number where every cell is one, else a category. Default: a "value" where
        `value` names the column, else label sets.
    label_sep : str, optional
        What stands between the labels of a cell. Default: a comma; in an export what its format
        says.
    blank : {"missing", "empty", "error"}, optional
        What blank text means. Default: missing, with one warning that counts. In the column of text
        of a long table, nulls (None, NaN) without blank text mean it too, as pandas makes nulls of
        blanks (``keep_default_na=False`` keeps them); else null is missing. One warning gives both
        counts.
    case : {"keep", "lower"}
        ``"lower"`` makes ``"Joy"`` and ``"joy"`` one label.
    codebook : collection of labels, optional
        The labels that may occur.
    missing : collection of text or numbers, optional
        Answers that mean no annotation, as ``["NA", "n/a"]``, whatever `blank` says. The space
        around a cell does not count, nor does its case under ``case="lower"``; a list of that one
        label is such an answer, too.
    duplicates : {"error", "first", "last", "union", "repeats"}
        What to do where a rater annotated a unit more than once; `n_repeated` counts what was
        dropped or united, and where that is most of the table, a warning says so. ``"repeats"``
        takes the first answer, as ``"first"`` does, and keeps the later ones apart, for
        `intra_rater_agreement`.
    order_by : str, optional
        The column with the times of the answers, for the order of several answers of a rater to
        one unit: numbers, dates or names in an order, as in `monitor`. Default: the order of rows.
    encoding : str
        How the bytes of a file spell text.
    delimiter : str, optional
        What stands between two columns of a file. Default: what its beginning shows.
    format : str
        A name that `formats` lists, or "table" for a file that is no export. Default: what the
        beginning of the file shows; where it could be several, that is an error.
    question : str, optional
        Which question, where the export holds answers to several.
    roster : path or DataFrame, optional
        Columns ``unit`` and ``rater``: who answered what, where the export cannot tell.
    predictions : bool or list of str
        Whether the answers of models that an export holds beside those of people (Label Studio's
        predictions, Argilla's suggestions, Labelbox' model runs) are read, or of which models. Each
        model is a rater; ``is_model`` in `raters_frame` marks it. Default: they are left out, and
        a warning counts them.
    wide : bool
        Whether each rater has a column of answers; `unit` may be named.
    raters_in_rows : bool
        Whether each row is a rater and each other column a unit; `rater` may be named, and `unit`
        is the pattern of the columns.
    raters : list of str, optional
        Of a wide table: the columns of the raters, if not all but the unit's.
    where : str, optional
        Which rows of a table count: ``COLUMN OP VALUE``, where OP is one of ==, !=, <, <=, >, >=,
        in and not in, as in ``"repeat == 0"`` and ``"split in [train, 'not used']"``. Conditions
        are joined by ``and``, ``or``, ``not`` and parentheses. A column name with spaces
        or signs is written in backticks, such a value in quotes. Two numbers, or texts that spell
        some, are compared as numbers, all else as text; a null and a blank cell never match. A
        time with a zone or an offset, in a cell or as the value, is compared as the time in UTC; a
        value without one is taken as UTC where the column has zones. A warning counts the rows that
        are dropped.
    source : str, optional
        Of several files: the name of a new column, which says what file a row comes from.
    sheet : str or int, optional
        Of a workbook: the sheet, by its name or its number from 1.
    header_row : int, optional
        Of a CSV file or a workbook: the line, or the row of the sheet, with the names of the
        columns, counted from 1; what stands above it is not read. Default: the first that is not
        blank; where it looks like a title above the names, that is an error.
    sql : str, optional
        Of an SQLite database: the query whose rows are the table, as in ``"SELECT doc AS unit,
        rater, labels FROM ratings"``. The database is only read. Default: all rows of its only
        table.
    unit_columns : list of str, optional
        Further columns of a table, which say one thing of each unit: the study keeps them
        (`units_frame`), so that clusters, batches or times are named, not passed again.
    rater_columns : list of str, optional
        Further columns of a table, which say one thing of each rater: of models, say, the prompt
        and the run. The study keeps them (`raters_frame`).
    status : str, optional
        Of a long table: the column that says of each row whether its annotation was "observed"
        (which a blank cell means, too), or why it was not: "abstained", "not applicable", "failed
        to parse", "refused". Such a row is a missing annotation, whatever its answer; the study's
        `statuses` counts them by rater.
    queued : str, optional
        Of a long table: the column that marks by yes or no (true, 1, x) the ratings that were asked
        for because of the answers before them, as `next_ratings` does. Coefficients leave them out;
        `consensus` and the next queue use them.
    degree : str, optional
        Of a long table with one row for each unit, rater and label: the column with the degree of
        the label, a number from 0 to 1e100, such as a confidence or the votes of several runs.
        The rows of a unit and a rater are one answer; 0 means that its label is not given. Such an
        answer is a frozenset of the labels whose ``degrees`` maps each to its degree: the distances
        "ruzicka" and "manhattan" compare degrees, and all that looks at labels alone sees which
        ones were given.
    cluster : str, optional
        The column of units that names their document, patient or conversation: units of one
        cluster are alike, and every interval respects it. See `Annotations.sampled`.
    sampling_weight : str, optional
        The column that says how many units of the population each stands for; no frequencies.
    strata : str, optional
        The column with the part of the population that each unit was drawn from on its own.

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
    label_sep: str | None = None
    blank: Blank | None = None
    case: Case = "keep"
    codebook: Collection[Label] | None = None
    missing: Missing | None = None
    duplicates: Duplicates = "error"
    order_by: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    format: str = "auto"
    question: str | None = None
    roster: Any = None
    predictions: Predictions = False
    where: str | None = None
    source: str | None = None
    sheet: str | int | None = None
    header_row: int | None = None
    sql: str | None = None
    wide: bool = False
    raters_in_rows: bool = False
    raters: list[str] | None = None
    unit_columns: list[str] | None = None
    rater_columns: list[str] | None = None
    status: str | None = None
    queued: str | None = None
    degree: str | None = None
    cluster: str | None = None
    sampling_weight: str | None = None
    strata: str | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Reading:
        """Return what a function's arguments say about reading; its other ones are left alone.

        `given` is ``locals()`` in the first line of the function.
        """
        return cls(**{each.name: given[each.name] for each in fields(cls) if each.name in given})

    def __post_init__(self) -> None:
        self._check_names()
        if self.labels is not None and self.value is not None:
            raise OptionError(
                f"name {option('labels')} (label sets) or {option('value')} (one scalar a cell), "
                "not both."
            )
        if self.kind is not None:
            check_choice("kind", self.kind, ANSWER_KINDS)
        if self.duplicates is not Reading.duplicates:
            check_choice("duplicates", self.duplicates, get_args(Duplicates))
        if self.source is not None:
            check_type("source", self.source, str, "the name of a new column")
        if self.sheet is not None:
            check_type("sheet", self.sheet, str | int, "the name of a sheet, or its number")
        row = self.header_row
        if row is not None and (isinstance(row, bool) or not isinstance(row, int) or row < 1):
            raise OptionError(f"{option('header_row', row)} must be a whole number from 1.")
        if self.sql is not None:
            check_type("sql", self.sql, str, "a query, such as 'SELECT * FROM ratings'")
            if not self.sql.strip():
                raise OptionError(f"{option('sql', self.sql)} is no query; drop it, or SELECT.")
        _ = self.condition
        if self.format not in ("auto", "table") and (names := self._layout + self.column_options):
            raise OptionError(
                f"{names[0]} is for tables: say {option('format', 'table')}, or "
                f"drop it with {option('format', self.format)}."
            )
        self._check_layout()
        if self.degree is not None:
            self._check_degree()
        if self.syntax.codebook is not None and self.answers != "labels":
            raise OptionError(
                f"{option('codebook')} lists the labels of label sets; single values have none."
            )

    def _check_names(self) -> None:
        """Raise an error for values that are not a name, a list of names or a flag."""
        names = ("wide", "raters_in_rows", "raters", "question", "delimiter", "predictions")
        beside = ("unit_columns", "rater_columns", "order_by", "status", "queued", "degree")
        for name in (*self.columns, *self.drawn, *names, *beside):
            asked = getattr(self, name)
            try:
                bool(asked)
            except (TypeError, ValueError):
                none = f"There is no column {shorten(asked)}: " if name in self.columns else ""
                raise OptionError(
                    f"{none}{option(name)} is {a_type(asked)}; give text, a list of texts or a "
                    "flag."
                ) from None
        if self.format is not Reading.format:
            check_type("format", self.format, str, "the name of a format")

    def _check_degree(self) -> None:
        """Raise an error for options that do not apply if each row is a label with its degree."""
        odd = [name for name in ("value", "order_by") if getattr(self, name) is not None]
        odd += ["labels"] * isinstance(self.labels, list) + ["kind"] * (self.answers != "labels")
        odd += ["duplicates"] * (self.duplicates != "error")
        if odd:
            raise OptionError(
                f"{option(odd[0], getattr(self, odd[0]), limit=80)} means nothing beside "
                f"{option('degree')}, where all rows of a unit and a rater are one answer and each "
                "has one label; drop one of the two."
            )

    def _check_layout(self) -> None:
        """Raise an error for options of another layout."""
        odd: tuple[str, ...] = ("raters",)
        place, layout = "with", "wide"
        if self.raters_in_rows:
            odd = (
                "labels",
                "value",
                "wide",
                "raters",
                "unit_columns",
                "order_by",
                "status",
                "queued",
                "degree",
            )
            odd += (*self.drawn,)
            place, layout = "without", "raters_in_rows"
        elif self.wide:
            odd = ("rater", "labels", "value", "rater_columns", "order_by")
            odd += ("status", "queued", "degree")
            place = "without"
        for name in odd:
            if getattr(self, name):
                raise OptionError(f"{option(name)} makes sense only {place} {option(layout)}.")

    @cached_property
    def syntax(self) -> LabelSyntax:
        """How label cells are read; blank cells are missing unless something else was asked for."""
        asked = (self.label_sep, self.blank, self.codebook, self.missing)
        if self.case is Reading.case and all(option is None for option in asked):
            return _DEFAULT_SYNTAX  # which was checked once
        label_sep = "," if self.label_sep is None else self.label_sep
        blank: Blank = "missing" if self.blank is None else self.blank
        return LabelSyntax(label_sep, blank, self.case, self.codebook, self.missing)

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
    def drawn(self) -> dict[str, Any]:
        """The columns that say how the units were drawn, as far as they are named."""
        given = {role: getattr(self, role) for role in ("cluster", "sampling_weight", "strata")}
        return {role: name for role, name in given.items() if name is not None}

    def names_column(self, name: str) -> bool:
        """Return whether an option names a column."""
        answers = self.answer if isinstance(self.answer, list) else [self.answer]
        return name in {self.unit, self.rater, *answers, *self.beside}

    @property
    def of_units(self) -> list[str]:
        """All columns that say one thing of each unit."""
        return [*dict.fromkeys([*(self.unit_columns or ()), *self.drawn.values()])]

    @property
    def beside(self) -> list[str]:
        """All columns of something else: of units, raters, times, degrees, or a status."""
        of_rows = filter(None, [self.order_by, self.status, self.queued, self.degree])
        more = [*(self.rater_columns or ()), *of_rows]
        return [*dict.fromkeys([*self.of_units, *more])]

    @property
    def is_table(self) -> bool:
        """Whether something says that a file is a table, not the export of a tool."""
        return self.format == "table" or bool(self._layout)

    @property
    def _layout(self) -> list[str]:
        """The options that are given and that describe the layout of a table."""
        names = (*self.columns, "wide", "raters", "kind", "raters_in_rows", "sql", "header_row")
        return [option(name) for name in names if getattr(self, name)]

    @property
    def column_options(self) -> list[str]:
        """The options that are given for other columns of a table than that of its files."""
        names = ("unit_columns", "rater_columns", "order_by", "status", "queued", "degree")
        of_source = (None, self.source, [self.source])
        return [
            option(name)
            for name in (*names, *self.drawn, "delimiter")
            if (asked := getattr(self, name)) and asked not in of_source
        ]

    @property
    def in_memory_only(self) -> list[str]:
        """The options that are given and that no engine knows, for sentences."""
        names = (
            *("wide", "raters", "kind", "raters_in_rows", "question", "delimiter"),
            *("source", "sheet", "header_row", "sql", "unit_columns", "rater_columns", "order_by"),
            *("status", "queued", "degree"),
            *self.drawn,
        )
        given = [option(name) for name in (*names, "predictions") if getattr(self, name)]
        given += [option("roster")] * (self.roster is not None)
        return given + [option("format", self.format)] * (self.format not in ("auto", "table"))

    @property
    def asked(self) -> list[str]:
        """The options that are given, for sentences."""
        named = []
        for name, default in _DEFAULTS:
            asked = getattr(self, name)
            is_default = isinstance(asked, str | bool) and asked == default
            if asked is not None and not is_default:
                named.append(option(name))
        return named


Reading.__init__ = public(Reading.__init__)  # type: ignore[method-assign]

_DEFAULTS = [(f.name, "," if f.name == "label_sep" else f.default) for f in fields(Reading)]


def as_reading(reading: Reading | None) -> Reading:
    """Return how something is read: as asked for, or with the usual names of columns."""
    if isinstance(reading, Reading):
        return reading
    check_type("reading", reading, type(None), "a Reading, such as Reading(unit='doc')")
    return Reading()


def check_encoding(encoding: str) -> None:
    """Raise `OptionError` unless Python knows the encoding."""
    try:
        "a".encode(encoding)
    except (LookupError, ValueError, TypeError):
        known = [name.replace("_", "-") for name in encodings.aliases.aliases.values()]
        hint = did_you_mean(str(encoding).replace("_", "-"), known)
        said = f"{option('encoding', encoding, limit=80)} is not a text encoding"
        raise OptionError(f"{said}.{hint}") from None


Path: TypeAlias = str | PathLike[str]
Paths: TypeAlias = "Path | Sequence[Path]"
Note: TypeAlias = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """How a table is reduced; see `tally`. `keep_raters` follows from what is to be computed.

    Under `in_memory` nothing is, however large.
    """

    assume_unique: bool = False
    partitioned_by_unit: bool = False
    memory_limit: str | None = None
    temp_directory: Path | None = None
    keep_raters: bool = False
    in_memory: bool = False

    def __post_init__(self) -> None:
        for name in ("assume_unique", "partitioned_by_unit"):
            if getattr(self, name) is not False:
                check_type(name, getattr(self, name), bool, "True or False")

    @property
    def asked(self) -> list[str]:
        """The options that are given, for sentences."""
        given = [f.name for f in fields(self)[:-2] if getattr(self, f.name) is not f.default]
        return [option(name) for name in given]


def is_files(source: object) -> TypeGuard[Paths]:
    """Return whether something is the path of a file, or a list of such."""
    listed = list(source) if isinstance(source, list | tuple) else [source]
    return all(isinstance(one, str | PathLike) for one in listed)


def no_note(sentence: str) -> None:
    """Ignore a sentence."""
