"""Reduction of a large table to a tally."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from setagree.checks import public
from setagree.errors import (
    DataError,
    FileError,
    OptionError,
    RepeatsError,
    UnnamedError,
    check_flag,
    listing,
    option,
    python_or_command,
)
from setagree.files.streams import Paths, is_stdin, matching
from setagree.files.tables import read_table
from setagree.large import clusters, files
from setagree.large import steps as program
from setagree.large.engines import (
    DuckDB,
    Engine,
    fetch,
    find_engine,
    run_query,
    uncollated,
    without_uuids,
    wrapped,
)
from setagree.large.files import naming_parts
from setagree.large.filtering import Matching, find_matching, kept_lazy
from setagree.large.patterns import CodedCells, anonymous, merge_all, unspelled, with_answers
from setagree.large.steps import find_raters
from setagree.study.annotations import Annotations
from setagree.study.assembly import warn_exchanged
from setagree.study.codes import as_objects
from setagree.study.columns import note_guessed, with_columns
from setagree.study.frames import Frame, column_names, open_frame
from setagree.study.labels import Blank, Case, NaValues
from setagree.study.preparation import (
    has_unnamed_marks,
    warn_marks,
    warn_unread_marks,
    warn_unread_weights,
)
from setagree.study.reading import QUEUED, AnswerKind, Note, Plan, Reading, check_encoding, is_files
from setagree.study.row_filter import NO_ROWS, Where
from setagree.study.tally import Tally
from setagree.wording.label_sets import Label, LabelSep

if TYPE_CHECKING:
    import narwhals as nw

Large: TypeAlias = "Frame | Paths"

# Largest ratio of the units of all parts to the estimated units of the table (error about 5%).
_MAX_SPLIT = 1.25
_MARKS = 50


@public
def tally(
    data: Large,
    *,
    unit: str | None = None,
    rater: str | None = None,
    labels: str | None = None,
    value: str | None = None,
    kind: AnswerKind | None = None,
    label_sep: LabelSep = ",",
    blank: Blank | None = None,
    case: Case = "keep",
    codebook: Collection[Label] | None = None,
    empty: NaValues | None = None,
    na_values: NaValues | None = None,
    encoding: str = "utf-8",
    where: str | None = None,
    assume_unique: bool = False,
    partitioned_by_unit: bool = False,
    memory_limit: str | None = None,
    temp_directory: str | PathLike[str] | None = None,
    keep_raters: bool = False,
) -> Tally:
    """Return the patterns of a long table, computed in its engine; it need not fit in memory.

    Units whose raters gave the same answers are one pattern; a tally contains the patterns and
    their frequencies. Functions that do not use rater identities take a tally instead of a
    study: `agreement`, `krippendorff_alpha`, `fleiss_kappa`, `mv_alpha`, `bootstrap`, ...
    `conger_kappa` and `cohen_kappa` need a tally with ``keep_raters=True``.

    Parameters
    ----------
    data : path, or frame
        Files (the path of one or a pattern: Parquet, CSV, TSV, JSON lines), which DuckDB reduces; a
        relation of DuckDB, a lazy frame of Polars, a frame of Dask or of Spark, a table of Ibis,
        which stay in their engine; or a table in memory.
    unit, rater : str, optional
        The columns that identify the unit and the rater. Default: those with a usual name
        (``unit``, ``rater`` and their synonyms).
    labels, value, kind, label_sep
        The answers; see `Reading`. Default: label sets in the column with a usual name.
    blank : {"missing", "empty", "error"}, optional
        Meaning of blank text. Default: missing. Whether nulls have the same meaning, as in
        `Annotations.from_long`, depends on the column of all files or partitions.
    case, codebook, empty, na_values, encoding, where
        Options for cells and files, and the rows that count; see `Reading`.
    assume_unique : bool
        Skip the search for pairs of unit and rater that occur twice. It takes up to a quarter of
        the time with at most 40 raters, with more raters about as long as the rest.
    partitioned_by_unit : bool
        Each file, or each partition of Dask or Spark, contains all ratings of its units. They
        are reduced one by one and the tallies merged, without a shuffle. A unit that is in two of
        them counts as two units; for files an error is raised if this is so for many units, for
        other inputs it is not detected. (Spark may cut a large file into several partitions.)
        The workers of Dask, and here those of Spark, need setagree.
    memory_limit : str, optional
        Memory limit of DuckDB while it reduces files, such as ``"2GB"``; the patterns need
        further memory. Default: four fifths of the machine's memory.
    temp_directory : path, optional
        A folder for temporary data, and for a copy of the three columns of text files.
        Default: the folder for temporary files of the system.
    keep_raters : bool
        Units are one pattern only if each rater gave the same answer. There are then more
        patterns, which contain the raters.

    Returns
    -------
    Tally
        Without the identities of units, in no particular order.

    Raises
    ------
    DataError
        A column is absent, a unit or rater is missing, a rater annotated a unit twice; or the
        engine failed, or gave patterns that do not add up to the rows it counted before.
    FileError
        The files are absent or not tables, or they can only be read in memory.

    Notes
    -----
    ``examples/guide/how-reduction-works.md`` describes the steps, their exactness and their cost.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({
    ...     "unit": [1, 1, 2, 2, 3, 3], "rater": ["ann", "bob"] * 3,
    ...     "labels": ["a", "a, b", "b, a", "a", "b", "b"],
    ... })
    >>> tally(table)
    <Tally: 3 units in 2 patterns of 3 values>
    >>> by_rater = tally(table, keep_raters=True)
    >>> by_rater
    <Tally: 3 units in 3 patterns of 3 values by 2 raters>

    Units 1 and 2 now differ, because ann and bob exchanged their answers.
    """
    reading = Reading(
        unit=unit,
        rater=rater,
        labels=labels,
        value=value,
        kind=kind,
        label_sep=label_sep,
        blank=blank,
        empty=empty,
        case=case,
        codebook=codebook,
        na_values=na_values,
        encoding=encoding,
        where=where,
    )
    check_flag("keep_raters", keep_raters)
    plan = Plan(assume_unique, partitioned_by_unit, memory_limit, temp_directory, keep_raters)
    return reduce_table(opened(data, also=" or path"), reading, plan)


def reduce_table(data: Any, reading: Reading, plan: Plan, note: Note | None = None) -> Tally:
    """Return the tally of files, of a table in an engine or of one in memory.

    `note` receives a sentence on guessed columns.
    """
    _check_reducible(reading, plan)
    if is_files(data):
        try:
            return _reduce_files(data, reading, plan, note)
        except (RepeatsError, UnnamedError) as error:
            raise files.as_in_memory(error, data, reading) from None
    _check_plan(plan, "files", ("memory_limit", "temp_directory"))
    if clusters.is_dask(data):
        reading = _engine_columns(reading, list(data.columns))
        coded, part = clusters.reduce_dask(data, _roles(reading), reading, plan)
        part.repeats.check()
        return _finished(_unspelled(part.tallies[0]), coded, len(part.raters))
    frame, engine = data, find_engine(data)
    if engine is None:
        return _reduce_in_memory(frame, reading, plan)
    if engine.name != "Spark":
        _check_plan(plan, "files and frames of Dask or Spark", ("partitioned_by_unit",))
    reading = with_columns(reading, column_names(frame))
    warn_unread_weights(column_names(frame), reading)
    columns = _roles(reading)
    where = reading.condition
    tested = [] if where is None else where.columns_in(column_names(frame))
    if engine.name == "DuckDB":
        picked = {*columns.values(), *tested}
        frame = wrapped(without_uuids(uncollated(frame.to_native(), picked), picked))
    if where is not None:
        frame = kept_lazy(frame, engine, where, tested)
    _warn_marks(frame, engine, reading)
    rows = program.pick_rows(frame, engine, columns, kind=reading.answers)
    return _reduce_rows([rows], rows, reading, plan)


def _check_reducible(reading: Reading, plan: Plan) -> None:
    """Raise `OptionError` for options that apply only to tables that are read into memory."""
    if options := reading.in_memory_only:
        passed = ", ".join(plan.passed)
        what, other = ("files", passed) if passed else ("tables", "call setagree.read first")
        raise OptionError(
            f"{options[0]} is for {what} that are read into memory; omit it, or {other}."
        )


def _roles(reading: Reading) -> dict[str, Any]:
    return {"unit": reading.unit, "rater": reading.rater, "answer": reading.answer}


def _engine_columns(reading: Reading, names: list[Any]) -> Reading:
    """Return the reading with the columns of files or a Dask frame, and warn of unread columns."""
    warn_unread_marks(names, reading)
    warn_unread_weights(names, reading)
    return with_columns(reading, names)


def _warn_marks(frame: Any, engine: Engine, reading: Reading) -> None:
    """Warn if a lazy table marks ratings in a column that no option names."""
    import narwhals as nw

    if not has_unnamed_marks(column_names(frame), reading):
        return
    # With more distinct cells, not all are yes or no.
    cells = nw.col(QUEUED).cast(nw.String).alias("mark")
    counts = fetch(frame.group_by(cells).agg(nw.len().alias("times")).head(_MARKS), engine)
    warn_marks(counts["mark"].to_list(), counts["times"].to_list())


def is_lazy(data: Any, reading: Reading) -> bool:
    """Return whether a table is reduced by default, because it is lazy.

    With options that no engine supports, this is true only for tables on other machines, which are
    not read into memory by default; the reduction then raises an error for the options.
    """
    if clusters.is_dask(data):
        return True
    engine = find_engine(data)
    return engine is not None and (engine.is_remote or not reading.in_memory_only)


def opened(data: Any, *, also: str) -> Any:
    """Return a path or a Dask frame unchanged, and another table opened by `open_frame`.

    `also` describes other accepted types, for the error.
    """
    if is_files(data) or clusters.is_dask(data):
        return data
    return open_frame(data, also=also)


def _check_plan(plan: Plan, what: str, options: Collection[str]) -> None:
    if useless := [name for name in plan.passed if name in {*map(option, options)}]:
        raise OptionError(f"{' and '.join(useless)} is for {what}, not for this table.")


def _check_exports(data: Paths, reading: Reading) -> None:
    """Raise an error for files that `agreement` reads as an export, unless columns are named."""
    if is_stdin(data) or reading.is_table:
        return
    from setagree.large.recognition import find_export  # loads the readers of all formats

    for path in matching(data):
        if (tool := find_export(path, reading)[0]) is not None:
            raise FileError(
                f"{str(path)!r} looks like the export of a tool, {tool.title}, which is read into "
                f"memory as a whole: omit {option('memory_limit')} and similar options"
                f"{python_or_command(', or use setagree.read', '')}. If it is a plain table, name "
                f"the columns: {option('unit')}, {option('rater')} and {option('labels')}."
            )


def _reduce_files(data: Paths, reading: Reading, plan: Plan, note: Note | None) -> Tally:
    check_encoding(reading.encoding)
    _check_exports(data, reading)
    found = files.find_files(data, encoding=reading.encoding)
    if found is None:
        if not plan.passed:
            table = read_table(data, encoding=reading.encoding)
            return _reduce_in_memory(table, reading, plan)
        raise FileError(
            f"{listing(list(map(str, matching(data))))} is read into memory as a whole; only "
            "Parquet, CSV, TSV and JSON lines are read in pieces. Omit "
            f"{', '.join(plan.passed)} or convert it."
        )
    with (
        files.connect(plan.memory_limit, plan.temp_directory) as (connection, folder),
        found.unchanged(),
    ):
        ready, complete = _ready(found, reading, folder)
        if note is not None:
            note_guessed(reading, complete, note)
        reading = complete
        columns = _roles(reading)
        order = found.order(columns["answer"])

        engine = DuckDB(connection, folder)
        named = {"unit", "rater", *files.condition_columns(reading.condition)}

        def native(paths: list[str]) -> nw.LazyFrame[Any]:
            return wrapped(without_uuids(ready.rows(connection, paths), named))

        kept = _matching(ready, native, engine, reading.condition)

        def rows(paths: list[str]) -> program.Rows:
            frame = native(paths) if kept is None else kept.kept(native(paths), engine)
            return program.pick_rows(
                *(frame, engine, {role: role for role in columns}),
                names=columns,
                in_json=ready.in_json,
                kind=reading.answers,
                order=order,
            )

        whole = rows(ready.paths)
        parts = [rows([p]) for p in ready.paths] if plan.partitioned_by_unit else [whole]
        names = [] if plan.partitioned_by_unit else [str(source.path) for source in found.sources]
        with naming_parts(whole, lambda: [rows([p]) for p in ready.paths], names, reading):
            tally = _reduce_rows(parts, whole, reading, plan)
        if len(parts) > 1:
            _check_split_units(whole, connection, tally.n_units)
    # In copies of JSON, as in Dask, identifiers are text that distinguishes numbers from text.
    return _unspelled(tally) if ready.in_json else tally


def _matching(
    ready: files.Ready,
    native: Callable[[list[str]], nw.LazyFrame[Any]],
    engine: DuckDB,
    where: Where | None,
) -> Matching | None:
    """Return the condition with its verdicts, or None if the files have only matching rows."""
    if where is None:
        return None
    copied = ready.counts
    names = files.condition_columns(where)
    matching = None if copied else find_matching(native(ready.paths), engine, where, names)
    counts = copied or (matching.counts if matching else NO_ROWS)
    counts.report(where)
    return matching


def _check_split_units(rows: program.Rows, connection: Any, n_units: int) -> None:
    """Raise an error for parts with many common units, by an estimate of their number."""
    relation = rows.frame.to_native().aggregate("approx_count_distinct(unit)")
    estimate = run_query(relation.fetchall, connection)[0][0]
    if n_units > _MAX_SPLIT * estimate:
        raise DataError(
            f"{option('partitioned_by_unit', value=True)} requires whole units in each file; but "
            f"one by one the files have {n_units:,} units and together about {estimate:,}. Omit "
            "it, or write all ratings of a unit into one file."
        )


def _ready(table: files.Files, reading: Reading, folder: str) -> tuple[files.Ready, Reading]:
    """Return the files for DuckDB, and the reading with all columns.

    The columns of JSON lines are known only after all rows are read.
    """
    try:
        first = _engine_columns(reading, table.names)
    except DataError:
        first = _engine_columns(reading, table.all_names())
    ready = table.ready(folder, _roles(first), reading.condition)
    again = with_columns(reading, ready.names)
    same = _roles(again) == _roles(first)
    return (ready if same else table.ready(folder, _roles(again), reading.condition)), again


def _reduce_rows(
    parts: Sequence[program.Rows], whole: program.Rows, reading: Reading, plan: Plan
) -> Tally:
    """Return the tally of all rows, from the patterns of each part."""
    try:
        coded, cells, tidy = program.code_answers(whole, reading)
    except UnnamedError:
        parts, whole = [*map(program.without_blank_rows, parts)], program.without_blank_rows(whole)
        coded, cells, tidy = program.code_answers(whole, reading)
    names: set[Any] = set()
    tallies = []
    for part in parts:
        tally, raters = _patterns(program.code_rows(part, cells, coded, tidy), coded, plan)
        names.update(raters)
        tallies.append(tally)
    return _finished(merge_all(tallies), coded, len(names))


def _patterns(
    rows: program.CodedRows, coded: CodedCells, plan: Plan
) -> tuple[Tally, Sequence[Any]]:
    """Return the tally of rows and their raters; raise an error for repeats."""
    roster, engine = find_raters(rows), rows.engine
    searched, keeps = not plan.assume_unique, plan.keep_raters
    rows = roster.number(rows) if searched or keeps else rows
    if plan.partitioned_by_unit and engine.name == "Spark":
        tally = clusters.reduce_partitions(
            rows, assume_unique=plan.assume_unique, keep_raters=keeps
        )
    else:
        marked = searched and roster.is_short
        numbers = roster.numbers(coded, marked=marked, keep_raters=keeps)
        columns = ["unit", "code", *["who"] * (searched or keeps)]
        native, n_rows = rows.frame.select(*columns).to_native(), int(roster.totals.sum())
        with engine.pieces(native, n_rows) as natives:
            pieces = [*map(wrapped, natives)]
            is_long = searched and not (roster.is_short or keeps)
            repeated = is_long and program.has_repeats(pieces, engine)
            tally = None if repeated else program.find_patterns(pieces, engine, numbers)
    if tally is None:  # the search locates the repeats
        program.find_repeats(rows).check()
        raise DataError("the table changed while it was read, so there is no result.")
    return roster.name(tally), roster.names


def _unspelled(tally: Tally) -> Tally:
    """Return a tally whose raters have their original names."""
    if tally.given is None:
        return tally
    names = as_objects(map(unspelled, tally.given.raters))
    return replace(tally, given=replace(tally.given, raters=names))


def _finished(tally: Tally, coded: CodedCells, n_raters: int) -> Tally:
    tally = with_answers(tally, coded, n_raters=n_raters)
    warn_exchanged(tally.n_units, n_raters=n_raters, n_ratings=tally.n_ratings)
    return replace(tally, n_missing=coded.n_missing)


def _reduce_in_memory(frame: Any, reading: Reading, plan: Plan) -> Tally:
    _check_plan(plan, "files and lazy tables", ("partitioned_by_unit", "memory_limit"))
    study = Annotations.from_reading(frame, with_columns(reading, column_names(frame)))
    tally = anonymous(Tally.of(study, keep_raters=plan.keep_raters))
    return replace(tally, n_missing=study.n_missing)
