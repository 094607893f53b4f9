"""Options for reading annotations: defined once, checked once, kept by the study."""

from __future__ import annotations

import encodings.aliases
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any, Literal, TypeAlias, TypeGuard, get_args

from setagree.checks import cached_property, public
from setagree.errors import (
    OptionError,
    a_type,
    check_choice,
    check_type,
    did_you_mean,
    option,
    shorten,
)
from setagree.lazy import pd
from setagree.study.labels import Blank, Case, LabelSyntax, NaValues
from setagree.study.row_filter import Where
from setagree.wording.label_sets import Label, LabelSep

Duplicates: TypeAlias = Literal["error", "first", "last", "union", "repeats"]
Tokens: TypeAlias = Literal["words", "tool"]
"""Tokens that are counted instead of the characters of spans."""

Predictions: TypeAlias = "bool | Collection[str]"
AnswerKind: TypeAlias = Literal["labels", "number", "category", "value"]
"""The type of answers; a "value" is a number if all answers are, otherwise a category."""

SAMPLING_WEIGHT = "sampling_weight"
"""The column of weights that `next_ratings` writes; no coefficient uses it without the option."""

QUEUED = "queued"
"""The column of marks that `next_ratings` writes; a table that has it may need ``queued=``."""

ANSWER_KINDS = ("labels", "number", "category", "value")

_PLAIN_SYNTAX: dict[str | None, LabelSyntax] = {None: LabelSyntax()}
_PLAIN_SYNTAX |= {blank: LabelSyntax(blank=blank) for blank in get_args(Blank)}
"""Syntax of each `blank` if the other options of cells have their defaults, without the checks."""

_OF_SPANS = {
    *("spans", "tokens", "unit", "rater", "labels", "case", "where", "tool", "encoding", "roster"),
    *("blank", "sheet", "header_row", "sql", "delimiter", "filename_column"),
}
"""Options that apply to spans."""

OF_ENGINES = {
    *("unit", "rater", "labels", "value", "kind", "label_sep", "blank", "case", "codebook"),
    *("na_values", "empty", "encoding", "where", "tool"),
}
"""Options of tables that an engine reduces. With any other option, or a list of `labels`, files and
the lazy tables of Polars and DuckDB are read into memory; tables of Dask, Spark and Ibis, which may
be on another machine, and options of memory (`Plan`) raise an error that names the option."""

_FURTHER_COLUMNS = ("unit_columns", "rater_columns", "order_by", "status", "queued", "degree")
_NAMES = (
    *("unit", "rater", "labels", "value", "cluster", "sampling_weight", "strata", "wide"),
    *("raters_in_rows", "raters", "question", "delimiter", "predictions", *_FURTHER_COLUMNS),
)
"""Options for further columns of a table; the last four are columns of rows."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """Options for reading a table, a file or an export.

    Attributes
    ----------
    unit, rater : str, optional
        The columns that identify the unit and the rater. Default: those with a usual name
        (``unit``, ``rater`` and their synonyms). With `tool`, of Label Studio: the field of the
        data that identifies a unit, instead of its id.
    labels : str or list of str, optional
        The column of label sets. If each label has a column of flags (0 and 1, or x and blanks),
        the list of these columns; such a table is read in memory. Default: the column with a usual
        name.
    value : str, optional
        Instead of `labels`, the column of scalars: numbers if every cell is one, otherwise
        categories. Numbers that are equal are one value, whatever their type or spelling; codes
        such as 007 and 7 are read as labels.
    kind : {"labels", "number", "category", "value"}, optional
        The type of the cells: label sets, numbers, or categories, whose text is kept (007 is not
        7); a "value" is a number if every cell is one, otherwise a category. Default: "value" if
        `value` names the column, otherwise label sets.
    label_sep : str or list of str, optional
        The separator of the labels in a cell; a list if a file has several, such as ``[",", "/"]``.
        Default: a comma; in an export that of its format.
    blank : {"missing", "empty", "error"}, optional
        The meaning of blank text. Default: missing, with one warning that gives the count. In the
        text column of a long table without blank text, nulls (None, NaN) have the same meaning,
        because pandas reads blanks as nulls (``keep_default_na=False`` keeps them). In other
        columns a null is missing. One warning gives both counts.
    case : {"keep", "lower"}
        ``"lower"`` makes ``"Joy"`` and ``"joy"`` one label.
    codebook : collection of labels, or mapping, optional
        The permitted labels: an error lists all others with their counts. A mapping gives the
        label of each spelling, as in ``{"joy": "joy", "joyful": "joy"}``.
    empty : collection of text, optional
        Answers that mean the empty set, such as ``["none", "nothing"]``; compared as those of
        `na_values`.
    na_values : collection of text or numbers, optional
        Answers that mean no annotation, such as ``["NA", "n/a"]``, for any `blank`. The space
        around a cell is ignored, as is its case under ``case="lower"``; a list of that one label is
        such an answer, too.
    duplicates : {"error", "first", "last", "union", "repeats"}
        The treatment of several annotations of a unit by one rater; `n_repeated` counts those that
        were dropped or united, and a warning is given if they are most of the table. ``"repeats"``
        takes the first answer, as ``"first"`` does, and keeps the later ones separately, for
        `intra_rater_agreement`.
    order_by : str, optional
        The column with the times of the answers, for the order of several answers of a rater to
        one unit: numbers, dates or names in an order, as in `monitor`. Each row needs a time. Of
        several statuses (`status`) of a rater for a unit, the latest one counts. Default: the order
        of rows.
    encoding : str
        The text encoding of a file.
    delimiter : str, optional
        The delimiter of the columns of a file. Default: detected from its beginning.
    tool : str
        A name that `formats` lists, or "table" for a file that is not an export. Default: detected
        from the beginning of the file; an error if several formats fit.
    question : str, optional
        The question to read, if the export has answers to several.
    roster : path or DataFrame, optional
        Columns ``unit`` and ``rater``: the units that each rater answered, if an export or a table
        does not distinguish the empty set from a missing answer.
    predictions : bool or list of str
        Whether the answers of models that an export has in addition to those of people (Label
        Studio's predictions, Argilla's suggestions, Labelbox' model runs) are read, or the names of
        the models to read. Each model is a rater; ``is_model`` in `raters_frame` marks it. Default:
        they are omitted, and a warning counts them.
    model : str or list of str, optional
        Raters that are models. The study has only the answers of the others, and tables name the
        models (`exclude_raters` omits raters without naming them). Models that are only marked, by
        an export or by a column of roles ("human", "model") in `rater_columns`, remain raters.
    wide : bool
        Whether each rater has a column of answers; `unit` may be named.
    raters_in_rows : bool, optional
        Whether each row is a rater and each other column a unit; of a table, `rater` may be named,
        and `unit` is the pattern of the columns. Default: false for tables, true for one array or
        list of lists. Of a dict, whether its keys are raters; false for a dict of dicts.
    raters : list of str, optional
        Of a wide table: the columns of the raters. Default: all columns except that of the unit.
    where : str, optional
        The rows of a table that count: ``COLUMN OP VALUE``, where OP is one of ==, !=, <, <=, >,
        >=, in and not in, as in ``"repeat == 0"`` and ``"split in [train, 'not used']"``.
        Conditions are joined by ``and``, ``or``, ``not`` and parentheses. A column name with spaces
        or signs is written in backticks, such a value in quotes. Two numbers, or texts that spell
        some, are compared as numbers, others as text; a null and a blank cell never match. A
        time with a zone or an offset, in a cell or as the value, is compared as the time in UTC; a
        value without one is read as UTC if the column has zones. A warning counts the dropped rows.
    filename_column : str, optional
        Of several files: the name of a new column with the file of each row.
    sheet : str or int, optional
        Of a workbook: the sheet, by its name or its number from 1.
    header_row : int, optional
        Of a CSV file or a workbook: the line, or the row of the sheet, with the names of the
        columns, counted from 1; lines above it are not read. Default: the first that is not blank;
        an error if it looks like a title above the names.
    sql : str, optional
        Of an SQLite database: the query whose rows are the table, as in ``"SELECT doc AS unit,
        rater, labels FROM ratings"``. The database is only read. Default: all rows of its only
        table.
    unit_columns : list of str, optional
        Further columns of a table with one value per unit: the study keeps them (`units_frame`), so
        that clusters, batches or times are named, not passed again.
    rater_columns : list of str, optional
        Further columns of a table with one value per rater: for models, such as the prompt and the
        run. The study keeps them (`raters_frame`).
    status : str, optional
        Of a long table: the column with the status of each annotation: "observed" (or blank), or
        the reason why it is missing: "abstained", "not applicable", "failed to parse", "refused".
        Such a row is a missing annotation, whatever its answer; the study's `statuses` counts them
        by rater, the last one of each unit.
    queued : str, optional
        Of a long table: the column that marks by yes or no (true, 1, x) the ratings that were
        requested because of the answers before them, as `next_ratings` does. Coefficients omit
        them; `consensus` and the next queue use them.
    degree : str, optional
        Of a long table with one row for each unit, rater and label: the column with the degree of
        the label, a number from 0 to 1e100, such as a confidence or the votes of several runs.
        The rows of a unit and a rater are one answer; 0 means that its label is not given. Such an
        answer is a frozenset of the labels whose ``degrees`` maps each to its degree: the distances
        "ruzicka" and "manhattan" compare degrees, and others compare the labels alone.
    cluster : str, optional
        The column of units that names their document, patient or conversation: units of one
        cluster are similar, and every interval accounts for that. See `Annotations.sampled`.
    sampling_weight : str, optional
        The column with the number of population units that each unit represents; not frequencies.
    strata : str, optional
        The column with the stratum of each unit: a part of the population that was sampled
        separately.
    spans : bool or str, optional
        Whether the file or the table has labelled spans of documents, which are read as
        `Annotations.from_spans` reads them; of a tool with several layers (from_name of Label
        Studio, Layer.feature of INCEpTION, key of spaCy) the one to read. A table has one row per
        span, with columns for the document (`unit`), the rater, the label (`labels`), ``start`` and
        ``end``, and the ``text`` or the ``length`` of the document. `roster` lists who annotated
        which document, and ``blank="empty"`` states that a rater without spans found nothing.
    tokens : {"words", "tool"}, optional
        Counts words, or the tokens of the export, instead of the characters of spans.

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
    label_sep: LabelSep | None = None
    blank: Blank | None = None
    case: Case = "keep"
    codebook: Collection[Label] | None = None
    empty: NaValues | None = None
    na_values: NaValues | None = None
    duplicates: Duplicates = "error"
    order_by: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    tool: str = "auto"
    question: str | None = None
    roster: str | PathLike[str] | pd.DataFrame | None = None
    predictions: Predictions = False
    model: str | list[str] | None = None
    where: str | None = None
    filename_column: str | None = None
    sheet: str | int | None = None
    header_row: int | None = None
    sql: str | None = None
    wide: bool = False
    raters_in_rows: bool | None = None
    raters: list[str] | None = None
    unit_columns: list[str] | None = None
    rater_columns: list[str] | None = None
    status: str | None = None
    queued: str | None = None
    degree: str | None = None
    cluster: str | None = None
    sampling_weight: str | None = None
    strata: str | None = None
    spans: bool | str | None = None
    tokens: Tokens | None = None

    def __post_init__(self) -> None:
        self._check_names()
        if isinstance(self.label_sep, list):
            object.__setattr__(self, "label_sep", tuple(self.label_sep))
        if self.labels is not None and self.value is not None:
            raise OptionError(
                f"name {option('labels')} (label sets) or {option('value')} (one scalar per cell), "
                "not both."
            )
        if self.kind is not None:
            check_choice("kind", self.kind, ANSWER_KINDS)
        if self.duplicates is not Reading.duplicates:
            check_choice("duplicates", self.duplicates, get_args(Duplicates))
        if self.filename_column is not None:
            check_type("filename_column", self.filename_column, str, "the name of a new column")
        if self.sheet is not None:
            check_type("sheet", self.sheet, str | int, "the name of a sheet, or its number")
        row = self.header_row
        if row is not None and (isinstance(row, bool) or not isinstance(row, int) or row < 1):
            raise OptionError(f"{option('header_row', row)} must be a whole number from 1.")
        if self.sql is not None:
            check_type("sql", self.sql, str, "a query, such as 'SELECT * FROM ratings'")
            if not self.sql.strip():
                raise OptionError(f"{option('sql', self.sql)} must be a query; omit it, or SELECT.")
        if self.spans is not None:
            check_type("spans", self.spans, bool | str, "True, or the name of a layer")
        if self.tokens is not None:
            check_choice("tokens", self.tokens, get_args(Tokens))
        _ = self.condition
        is_plain = self.answers == "labels" and not isinstance(self.labels, list)
        if self.roster is not None and (not is_plain or self.raters_in_rows):
            raise OptionError(
                f"{option('roster')} is for label sets in a column, or in a column per rater; "
                "omit it."
            )
        if self.tool not in ("auto", "table"):
            names = [x for x in self._layout if x != option("unit")] + self.column_options
            if names:
                raise for_tables(names[0], self.tool)
        self._check_layout()
        rows = {name: getattr(self, name) for name in ("status", "queued", "degree")}
        if any(rows.values()):
            answers = self.answer if isinstance(self.answer, list) else [self.answer]
            columns = [self.unit, self.rater, *answers, *self.of_units, *(self.rater_columns or ())]
            columns += [self.order_by, *rows.values()]
            for name, column in rows.items():
                if column is not None and columns.count(column) > 1:
                    raise OptionError(f"{option(name, column)} has another role, too.")
        if self.degree is not None:
            self._check_degree()
        if self.syntax.codebook is not None and self.answers != "labels":
            raise OptionError(
                f"{option('codebook')} lists the labels of label sets; single values have none."
            )
        if self.empty is not None and self.answers != "labels":
            raise OptionError(
                f"{option('empty')} is for label sets; a single value is never empty."
            )

    def _check_names(self) -> None:
        """Raise an error for values that are not a name, a list of names or a flag."""
        for name in _NAMES:
            value = getattr(self, name)
            try:
                bool(value)
            except (TypeError, ValueError):
                start = f"There is no column {shorten(value)}: " if name in self.columns else ""
                raise OptionError(
                    f"{start}{option(name)} must be text, a list of texts or a flag, not "
                    f"{a_type(value)}."
                ) from None
        if self.tool is not Reading.tool:
            check_type("tool", self.tool, str, "the name of a format")

    def _check_degree(self) -> None:
        """Raise an error for options that do not apply if each row is a label with its degree."""
        odd = [name for name in ("value", "order_by") if getattr(self, name) is not None]
        odd += ["labels"] * isinstance(self.labels, list) + ["kind"] * (self.answers != "labels")
        odd += ["duplicates"] * (self.duplicates != "error")
        if odd:
            raise OptionError(
                f"{option(odd[0], getattr(self, odd[0]), limit=80)} does not apply with "
                f"{option('degree')}, where all rows of a unit and a rater are one answer and each "
                "has one label; omit one of the two."
            )

    def _check_layout(self) -> None:
        """Raise an error for options of another layout."""
        of_rows = _FURTHER_COLUMNS[2:]
        odd: tuple[str, ...] = ("raters",)
        place, layout = "with", "wide"
        if self.spans:
            odd = tuple(name for name in self.passed if name not in _OF_SPANS)
            place, layout = "without", "spans"
        elif self.tokens:
            odd, layout = ("tokens",), "spans"
        elif self.raters_in_rows:
            odd = ("labels", "value", "wide", "raters", "unit_columns", *of_rows, *self.drawn)
            place, layout = "without", "raters_in_rows"
        elif self.wide:
            odd = ("rater", "labels", "value", "rater_columns", *of_rows)
            place = "without"
        for name in odd:
            if getattr(self, name):
                raise OptionError(f"{option(name)} makes sense only {place} {option(layout)}.")

    @cached_property
    def syntax(self) -> LabelSyntax:
        """Syntax of label cells; blank cells are missing by default."""
        options = (self.label_sep, self.codebook, self.na_values, self.empty)
        are_default = self.case is Reading.case and all(option is None for option in options)
        if are_default and isinstance(self.blank, str | None) and self.blank in _PLAIN_SYNTAX:
            return _PLAIN_SYNTAX[self.blank]
        label_sep = "," if self.label_sep is None else self.label_sep
        blank: Blank = "missing" if self.blank is None else self.blank
        return LabelSyntax(
            *(label_sep, blank, self.case, self.codebook, self.na_values, self.empty)
        )

    @cached_property
    def condition(self) -> Where | None:
        """The condition on the rows that count, or None if all count."""
        return None if self.where is None else Where.parse(self.where)

    @property
    def answers(self) -> AnswerKind:
        """The type of the answers."""
        return self.kind or ("labels" if self.value is None else "value")

    @property
    def answer(self) -> Any:
        """The column of the answers, or the list of columns of flags."""
        return next((name for name in (self.value, self.labels) if name is not None), "labels")

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a long table by role, or None if they are not named."""
        return {role: getattr(self, role) for role in ("unit", "rater", "labels", "value")}

    @property
    def drawn(self) -> dict[str, Any]:
        """The named columns of the sampling design."""
        roles = ("cluster", "sampling_weight", "strata")
        return {role: name for role in roles if (name := getattr(self, role)) is not None}

    def names_column(self, name: str) -> bool:
        """Return whether an option names a column."""
        answers = self.answer if isinstance(self.answer, list) else [self.answer]
        return name in {self.unit, self.rater, *answers, *self.further_columns}

    @property
    def of_file(self) -> dict[str, Any]:
        """The options of `read_table` by name."""
        names = ("encoding", "delimiter", "filename_column", "sheet", "header_row", "sql", "queued")
        return {name: getattr(self, name) for name in names}

    @property
    def of_units(self) -> list[str]:
        """All columns with one value per unit."""
        return [*dict.fromkeys([*(self.unit_columns or ()), *self.drawn.values()])]

    @property
    def further_columns(self) -> list[str]:
        """All columns other than those of unit, rater and answer."""
        of_rows = filter(None, [getattr(self, name) for name in _FURTHER_COLUMNS[2:]])
        return [*dict.fromkeys([*self.of_units, *(self.rater_columns or ()), *of_rows])]

    def option_of(self, column: str) -> str:
        """Return the option that names a further column, such as "cluster='doc'"."""
        values = {name: getattr(self, name) for name in (*self.drawn, *_FURTHER_COLUMNS)}
        lists = {name: [one] if isinstance(one, str) else one for name, one in values.items()}
        return next(
            option(name, values[name])
            for name, several in lists.items()
            if several and column in several
        )

    @property
    def is_table(self) -> bool:
        """Whether the options mean that a file is a table, not the export of a tool."""
        return self.tool == "table" or (self.tool == "auto" and bool(self._layout))

    @property
    def _layout(self) -> list[str]:
        """The passed options that describe the layout of a table."""
        names = (*self.columns, "wide", "raters", "kind", "raters_in_rows", "sql", "header_row")
        return [option(name) for name in names if getattr(self, name)]

    @property
    def column_options(self) -> list[str]:
        """The passed options for columns of a table other than that of its files."""
        of_source = (None, self.filename_column, [self.filename_column])
        return [
            option(name)
            for name in (*_FURTHER_COLUMNS, *self.drawn, "delimiter")
            if (value := getattr(self, name)) and value not in of_source
        ]

    @property
    def passed(self) -> list[str]:
        """The names of the options with another value than their default."""
        values = [(name, getattr(self, name), default) for name, default in _DEFAULTS]
        plain = (bool, str, list)
        return [
            name
            for name, value, default in values
            if not (value is None or value is default)
            and not (isinstance(value, plain) and (value == default or not value))
        ]

    @property
    def in_memory_only(self) -> list[str]:
        """The passed options that are not in `OF_ENGINES`, for sentences."""
        passed = [option(name) for name in self.passed if name not in OF_ENGINES]
        passed += [option("labels", self.labels, limit=80)] * isinstance(self.labels, list)
        return passed + [option("tool", self.tool)] * (self.tool not in ("auto", "table"))


Reading.__init__ = public(Reading.__init__)  # type: ignore[method-assign]

_DEFAULTS = [(f.name, "," if f.name == "label_sep" else f.default) for f in fields(Reading)]


def for_tables(name: str, tool: str) -> OptionError:
    """Return the error for an option that a tool's exports do not have."""
    return OptionError(
        f"{name} is for tables: use {option('tool', 'table')}, or omit it with "
        f"{option('tool', tool)}."
    )


_USUAL = Reading()


def as_reading(reading: Reading | None) -> Reading:
    """Return a `Reading`, by default with the usual names of columns."""
    if isinstance(reading, Reading):
        return reading
    check_type("reading", reading, type(None), "a Reading, such as Reading(unit='doc')")
    return _USUAL


def check_encoding(encoding: str) -> None:
    """Raise `OptionError` unless Python has the encoding."""
    try:
        "a".encode(encoding)
    except (LookupError, ValueError, TypeError):
        names = [name.replace("_", "-") for name in encodings.aliases.aliases.values()]
        hint = did_you_mean(str(encoding).replace("_", "-"), names)
        name = option("encoding", encoding, limit=80)
        raise OptionError(f"{name} is not a text encoding.{hint}") from None


Path: TypeAlias = str | PathLike[str]
Paths: TypeAlias = "Path | Sequence[Path]"
Note: TypeAlias = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """Options for the reduction of a table; see `tally`. With `in_memory` no table is reduced."""

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
    def passed(self) -> list[str]:
        """The passed options, for sentences."""
        names = [f.name for f in fields(self)[:-2] if getattr(self, f.name) is not f.default]
        return [option(name) for name in names]


def is_files(source: object) -> TypeGuard[Paths]:
    """Return whether a value is the path of a file, or a list of paths."""
    paths = list(source) if isinstance(source, list | tuple) else [source]
    return all(isinstance(path, str | PathLike) for path in paths)


def no_note(sentence: str) -> None:
    """Ignore a sentence."""
