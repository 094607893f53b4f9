"""Opening of data of any kind as a study, or as a tally if they need not fit in memory."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from functools import wraps
from importlib.util import find_spec
from inspect import Parameter
from itertools import takewhile
from math import inf
from os import PathLike
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypedDict, TypeVar, cast

import numpy as np
import numpy.typing as npt

from setagree.checks import public
from setagree.errors import (
    BlankLabelsWarning,
    DataError,
    OptionError,
    RepeatsError,
    SetagreeError,
    SetagreeWarning,
    a_type,
    counted,
    listing,
    option,
    python_or_command,
    warn,
)
from setagree.lazy import pd
from setagree.study import layouts
from setagree.study.annotations import Annotations
from setagree.study.answer_warnings import as_spans, warn_agreed_rows
from setagree.study.answers import are_on_a_scale, is_record_table, long_answers
from setagree.study.assembly import LongColumns, assemble, code_ids, from_long
from setagree.study.attributes import named_raters, read_raters, read_units, set_apart
from setagree.study.codes import TextFrame
from setagree.study.columns import (
    answer_families,
    answer_parts,
    check_flags,
    check_one_header,
    detect_wide_layout,
    flag_columns,
    guess_people,
    guess_wide_unit,
    note_guessed,
    questions_hint,
    with_columns,
    with_missing_ids,
)
from setagree.study.frames import Frame, as_pandas, column_names, open_frame
from setagree.study.identifiers import find_names
from setagree.study.labels import Blank
from setagree.study.preparation import order_remedy, row_number_remedy, with_order, with_questions
from setagree.study.reading import (
    AnswerKind,
    Note,
    Paths,
    Plan,
    Reading,
    as_reading,
    is_files,
    no_note,
)
from setagree.study.row_filter import kept_rows
from setagree.study.spans import PLACE
from setagree.study.tally import Tally
from setagree.wording.label_sets import LabelSep

Study: TypeAlias = Annotations | Tally
RaterAnswers: TypeAlias = "Sequence[Any] | Mapping[Any, Any] | npt.NDArray[Any] | pd.Series[Any]"
"""Answers of one rater, one per unit, or a dict of unit to answer."""

Answers: TypeAlias = "Mapping[Any, Any] | Sequence[Any] | npt.NDArray[Any]"
Data: TypeAlias = "Study | Frame | Paths | Answers | Source"

F = TypeVar("F", bound=Callable[..., Any])

_OF_CELLS = (
    "kind wide raters_in_rows blank label_sep case codebook empty na_values duplicates model"
)
"""Options that apply to answers as Python objects."""


class ModelReadingOptions(TypedDict, total=False):
    """Options of `Reading` of every function of a study; `reading` has the others."""

    unit: str | None
    rater: str | None
    labels: str | list[str] | None
    value: str | None
    kind: AnswerKind | None
    wide: bool
    raters_in_rows: bool | None
    blank: Blank | None
    label_sep: LabelSep | None
    where: str | None
    reading: Reading | None


class ReadingOptions(ModelReadingOptions, total=False):
    """Options of `Reading` of every function of a study, with models that are set apart."""

    model: str | list[str] | None


class SeveralRaters(tuple[Any, ...]):
    """The answers of several raters, one sequence each."""

    __slots__ = ()


@dataclass(frozen=True)
class Source:
    """Data with the options for reading them that were passed to a function."""

    data: Any
    reading: Reading


def takes_data(function: F) -> F:
    """Make a function public whose first parameter is anything that `open_study` reads.

    The options of `ReadingOptions` are added by name, the answers of further raters by position: a
    second positional parameter comes last, after them, or is passed by name. After answers, an
    optional one is not a collection. Both reach the function in a `Source`.
    """
    signature = inspect.signature(function)
    variadic = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    parameters = [x for x in signature.parameters.values() if x.kind not in variadic]
    positional = [x for x in parameters if x.kind is not x.KEYWORD_ONLY]
    first, *others = positional
    names = [name for name in ReadingOptions.__annotations__ if name not in signature.parameters]

    @wraps(function)
    def opened(*args: Any, **kwargs: Any) -> Any:
        given = [name for name in names if name in kwargs]
        passed = {name: x for name in given if (x := kwargs.pop(name)) is not None}
        if not args and first.name in kwargs:
            args = (kwargs.pop(first.name),)
        of_study = ["model"] if args and isinstance(args[0], Annotations | Tally) else []
        built = bool(args) and type(args[0]).__module__.startswith("setagree.")
        if built and (useless := [option(name) for name in passed if name not in of_study]):
            raise OptionError(f"the study is already built; omit {', '.join(useless)}.")
        own = [x for x in others if args and x.name not in kwargs]
        is_new = bool(own) and not built
        if is_new and isinstance(args[-1], list | tuple | Mapping | np.ndarray | pd.Series):
            own = [x for x in own if x.default is x.empty]
        if (n_raters := len(args) - len(own)) > 1:
            args = (SeveralRaters(args[:n_raters]), *args[n_raters:])
        if passed and args:
            reading = replace(as_reading(passed.pop("reading", None)), **passed)
            args = (Source(args[0], reading), *args[1:])
        return function(*args, **kwargs)

    more = [Parameter("more", Parameter.VAR_POSITIONAL, annotation=RaterAnswers)] * (not others)
    options = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in names]
    listed = [*positional, *more, *parameters[len(positional) :], *options]
    opened.__signature__ = signature.replace(parameters=listed)  # type: ignore[attr-defined]
    return cast("F", public(opened))


def with_reading(source: Any, reading: Reading | None = None) -> tuple[Any, Reading]:
    """Return data and their reading, with the options of a `Source` and those in `reading`."""
    reading = as_reading(reading)
    several = isinstance(source, SeveralRaters)
    if isinstance(source, Mapping | list | tuple) and not several and is_record_table(source):
        source = pd.DataFrame(source)
    if not isinstance(source, Source):
        return source, reading
    changed = {
        x.name: value for x in fields(reading) if (value := getattr(reading, x.name)) != x.default
    }
    return with_reading(
        source.data, replace(source.reading, **changed) if changed else source.reading
    )


LARGE = 2**32
"""Memory in bytes beyond which files are reduced in DuckDB."""

_SHOWN = 8


P = ParamSpec("P")


def _reads(
    options: Callable[P, Reading],
) -> Callable[
    [Callable[[Any, Reading], Annotations]], Callable[Concatenate[Frame | Paths, P], Annotations]
]:
    """Give a function of data and a `Reading` the options of `Reading`, each by its name."""

    def decorated(function: Callable[[Any, Reading], Annotations]) -> Any:
        @wraps(function)
        def opened(path: Any, **passed: Any) -> Annotations:
            return function(path, options(**passed))  # type: ignore[call-arg]

        whole, named = inspect.signature(function), inspect.signature(options).parameters.values()
        listed = [whole.parameters["path"], *named]
        opened.__signature__ = whole.replace(parameters=listed)  # type: ignore[attr-defined]
        return public(opened)

    return decorated


@_reads(Reading)
def read(path: Frame | Paths, reading: Reading) -> Annotations:
    r"""Return the annotations of an annotation tool's export, or of a table.

    Parameters
    ----------
    path : path, several paths, or frame
        The export (some tools write a folder, with a file for each rater or unit), or a table: a
        file, a pattern such as ``"round-*.csv"``, or a list of both, joined in its order. Files
        that are read together have one format. A table may also be a frame, and answers may be
        Python objects, as in `agreement`.
    unit, rater, labels, value : str, optional
        The columns of a table; `labels` may be a list of columns of flags. Default: those with a
        usual name, such as ``doc``, ``annotator`` and ``tags``.
    kind, wide, raters_in_rows, raters, where, filename_column
        The type of the answers, the layout of the table, and the rows that count.
    model, unit_columns, rater_columns, status, queued, degree, cluster, sampling_weight, strata
        Raters that are models, and further columns of a table.
    sheet, header_row, sql, encoding, delimiter
        Options of workbooks, databases and text files.
    spans, tokens, tool, question, roster, predictions
        Options of files of spans and exports.
    label_sep, blank, case, codebook, empty, na_values, duplicates, order_by
        Options for cells and repeated ratings. The default of `blank` for an export depends on its
        format. An error is raised if the format does not distinguish "no label applies" from
        "no answer".

    Returns
    -------
    Annotations

    Raises
    ------
    FileError
        The file is absent or damaged.
    DataError
        It is not an export, and its columns are not those of a table of annotations; or the format
        does not include required information; the message names the option or export to use.
    OptionError
        The file fits several formats, or contains several questions.

    See Also
    --------
    Reading : The meaning and the default of each option.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> ann = '{"id": "u1", "annotator": "ann", "labels": ["joy"]}\n'
    >>> bob = '{"id": "u1", "annotator": "bob", "labels": []}\n'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "emotions.jsonl")
    ...     _ = file.write_text(ann + bob)
    ...     read(file)
    <Annotations: 2 ratings, 1 unit, 2 raters, 2 distinct label sets>
    """
    is_frame = not (is_files(path) or _are_objects(path))
    table = open_frame(path, also=" or a path") if is_frame else path
    return cast("Annotations", open_study(table, reading, Plan(in_memory=True)))


def open_study(
    source: Data,
    reading: Reading | None = None,
    plan: Plan | None = None,
    *,
    note: Note | None = None,
) -> Study:
    """Return the study of a study, a table, Python objects, or the path or pattern of files.

    A study is returned unchanged. Lazy tables and very large files become a tally, and so does any
    table if options of `plan` are passed. `note` receives sentences about the guessed columns and
    the detected format.
    """
    source, reading = with_reading(source, reading)
    if isinstance(source, list | tuple) and len(source) == 1 and is_files(source[0]):
        source = source[0]
    plan, note = plan or Plan(), note or no_note
    if isinstance(source, Annotations | Tally):
        passed = [option(name) for name in reading.passed if name != "model"]
        if useless := [*passed, *plan.passed]:
            raise OptionError(f"the study is already built; omit {', '.join(useless)}.")
        study: Study = source
    else:
        with _within_memory(source):
            study = _open_or_refuse(source, reading, plan, note)
    if reading.model is None:
        return study
    if isinstance(study, Tally):
        raise DataError(f"{option('model')} requires raters, which a tally lacks.")
    return set_apart(study, reading.model)


def _open_or_refuse(
    source: Any, reading: Reading, plan: Plan, note: Note, tried: frozenset[str] = frozenset()
) -> Study:
    """Return the study; raise one error for all doubts that have a remedy, with all remedies.

    An option that was `tried` as a remedy is not tried again.
    """
    try:
        return _open(source, reading, plan, note)
    except SetagreeError as error:
        # Nothing is checked after repeats, and standard input can be read only once.
        is_stdin = isinstance(source, str) and source == "-"
        tried |= {"where"} if reading.where is not None else set()
        is_last = not error.remedy or not tried.isdisjoint(error.remedy)
        if is_last or isinstance(error, RepeatsError) or is_stdin:
            raise
        first = error
    further: list[Any] = []
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always", SetagreeWarning)
        try:
            remedied = replace(reading, **first.remedy)
            _open_or_refuse(source, remedied, plan, no_note, tried.union(first.remedy))
        except SetagreeError as error:
            further = [error]
    doubts = [x.message for x in issued if isinstance(x.message, SetagreeWarning)]
    for then in [*doubts, *further]:
        both = {**first.remedy, **then.remedy}
        # the meaning of blank cells is never proposed
        is_new = len(both) > len(first.remedy) or isinstance(then, BlankLabelsWarning)
        if is_new and both == {**then.remedy, **first.remedy}:
            first.args = (f"{first} Then: {then}",)
            first.remedy = both
    raise first


def _open(source: Any, reading: Reading, plan: Plan, note: Note) -> Study:
    """Return the study of a table, of files, or of answers that are Python objects."""
    if _are_objects(source):
        return _from_answers(source, reading)
    from_files = not isinstance(source, pd.DataFrame) and is_files(source)
    if from_files and not plan.passed:
        return _from_path(cast("Paths", source), reading, plan, note)
    if not from_files and reading.tool not in ("auto", "table"):
        raise OptionError(f"{option('tool', reading.tool)} is for files, not for {a_type(source)}.")
    if not from_files:
        _check_of_exports(reading)
    if plan.passed or not (isinstance(source, pd.DataFrame) or plan.in_memory):
        # loads the engines
        from setagree.large.reduce import is_lazy, opened, reduce_table

        source = opened(source, also=", Annotations, Tally or path")
        if plan.passed or is_lazy(source, reading):
            return reduce_table(source, reading, plan, note)
    return _from_table(source, reading, note)


def _are_objects(source: object) -> bool:
    """Return whether data are Python objects: neither a table nor files."""
    return isinstance(source, Mapping | np.ndarray | list | tuple) and not is_files(source)


def _from_answers(source: Any, reading: Reading) -> Annotations:
    """Return the study of answers that are Python objects."""
    _check_of_exports(reading)
    if odd := [option(name) for name in reading.passed if name not in _OF_CELLS.split()]:
        raise OptionError(f"{odd[0]} is for tables, not for answers as Python objects; omit it.")
    in_rows = reading.raters_in_rows
    if in_rows is None and reading.wide and not isinstance(source, Mapping):
        in_rows = False
    data = source if isinstance(source, SeveralRaters) else (source,)
    long = long_answers(data, raters_in_rows=in_rows)
    if reading.kind is None and are_on_a_scale(long.answer):
        reading = replace(reading, kind="value")
    return assemble(Annotations, long, replace(reading, wide=False, raters_in_rows=None))


@contextmanager
def _within_memory(source: object) -> Iterator[None]:
    """Raise `FileError` with a remedy if the memory of the computer runs out."""
    try:
        yield
    except MemoryError:
        from setagree.files.streams import does_not_fit  # loads the readers of files

        what = repr(str(source)) if isinstance(source, str | PathLike) else "The table"
        raise does_not_fit(what) from None


def open_sampled(
    source: Data,
    reading: Reading | None = None,
    plan: Plan | None = None,
    *,
    drawn: Mapping[str, Any],
) -> Study:
    """Return the study with a sampling design: `drawn` are options of `Annotations.sampled`."""
    drawn = {role: x for role, x in drawn.items() if x is not None}
    columns: dict[str, Any] = {
        role: x for role, x in drawn.items() if isinstance(x, str) and role != "population_size"
    }
    if columns and not isinstance(source, Annotations | Tally):
        reading = replace(as_reading(reading), **columns)
    plan = plan or Plan()
    if drawn and not plan.passed:  # units have identities in memory only
        plan = replace(plan, in_memory=True)
    study = open_study(source, reading, plan)
    if isinstance(study, Tally) and drawn:
        raise DataError(
            f"{option(next(iter(drawn)))} requires the identities of the units, which a tally "
            "lacks: build the study in memory with Annotations.from_long."
        )
    return study.sampled(**drawn) if drawn and isinstance(study, Annotations) else study


def open_table(source: Any, reading: Reading) -> tuple[pd.DataFrame, Reading]:
    """Return the rows of a long table that count, with all columns, and how these are read."""
    rest, was_seen = replace(reading, where=None), False
    if not is_files(source):
        _check_of_exports(reading)
        return _kept(source, reading), rest
    with _within_memory(source):
        if not reading.is_table:
            from setagree.large import recognition  # loads the readers of all formats

            found, was_seen = recognition.find_export(source, reading)
            if found is not None:
                return recognition.export_table(source, found, reading), rest
        table: Any = _read_table(source, reading, was_seen=was_seen)
        return _kept(table.to_pandas() if isinstance(table, TextFrame) else table, reading), rest


def _kept(data: Frame, reading: Reading) -> pd.DataFrame:
    """Return the rows that match the condition of a reading, with all columns."""
    table = as_pandas(data)
    return table if reading.condition is None else kept_rows(table, reading.condition)


def _from_path(path: Paths, reading: Reading, plan: Plan, note: Note) -> Study:
    """Return the study of files: of the export of a tool, or of tables."""
    was_seen = False
    if not reading.is_table:
        from setagree.large import recognition  # loads the readers of all formats

        found, was_seen = recognition.find_export(path, reading)
        if found is not None:
            if reading.tool == "auto":
                note(f"Read as {found.title} ({option('tool', found.name)})")
            read = recognition.spans_of_export if reading.spans else recognition.read_export
            return read(path, found, reading)
    _check_of_exports(reading)
    frame = None
    if not (plan.in_memory or reading.in_memory_only) and find_spec("duckdb") is not None:
        frame = _read_unless_large(path, reading, was_seen=was_seen)
        if frame is None:
            from setagree.large.files import find_files  # loads the engines
            from setagree.large.reduce import reduce_table

            if find_files(path, encoding=reading.encoding) is not None:
                large = f"{LARGE / 2**30:,.3g} GiB of memory"
                note(f"{str(path)!r} would need over {large} and is reduced in DuckDB.")
                return reduce_table(path, replace(reading, tool="table"), plan, note)
    if frame is None:
        frame = _read_table(path, reading, was_seen=was_seen)
    try:
        return _from_table(frame, reading, note)
    except RepeatsError as error:
        from setagree.large.files import naming_places  # loads the readers of files

        raise naming_places(error, path, frame, reading) from None
    except DataError as error:
        if reading.spans:
            from setagree.files.streams import matching  # loads the readers of files
            from setagree.large.recognition import named_files  # loads the readers of all formats

            raise DataError(f"{named_files(matching(path))}: {error}") from None
        from setagree.large.files import naming_source  # loads the readers of files

        raise naming_source(error, path, list(frame), reading) from None


def _check_of_exports(reading: Reading) -> None:
    """Raise an error for options of exports if a table is read, except names of models."""
    for name, default in (("question", None), ("predictions", False)):
        value = getattr(reading, name)
        if value is not default and not (name == "predictions" and value is not True):
            listed = python_or_command("setagree.formats()", "'setagree formats'")
            raise OptionError(
                f"{option(name)} is for the export of a tool; see {listed} and {option('tool')}."
            )


def _read_unless_large(path: Paths, reading: Reading, *, was_seen: bool) -> pd.DataFrame | None:
    """Return the table in files, or None if it needs more memory than `LARGE`."""
    from setagree.files.streams import BYTE_MEMORY, LargeError, n_bytes  # the readers of files

    if BYTE_MEMORY * n_bytes(path) > LARGE:
        return None
    try:
        return _read_table(path, reading, was_seen=was_seen, most=LARGE)
    except LargeError:
        return None


def _read_table(
    path: Paths, reading: Reading, *, was_seen: bool, most: float = inf
) -> pd.DataFrame:
    """Return the table in files; raise an error for an export unless a table was requested."""
    from setagree.files.streams import is_stdin, matching  # loads the readers of files
    from setagree.files.tables import read_table

    is_known = was_seen or reading.is_table
    is_simple = not {*reading.in_memory_only} - {option("wide")}
    may_be_text = is_simple and reading.condition is None
    of_file = reading.of_file
    several_spans = bool(reading.spans) and not is_stdin(path) and len(matching(path)) > 1
    if several_spans and reading.filename_column is None:
        of_file["filename_column"] = PLACE
    frame = read_table(path, **of_file, most=most, may_be_text=may_be_text)
    if several_spans:  # for errors
        files = frame[of_file["filename_column"]]
        rows = frame.groupby(files, sort=False).cumcount() + 1
        frame[PLACE] = files + ", row " + rows.astype(str)
    if not is_known:
        from setagree.large.recognition import check_export  # loads the readers of all formats

        check_export(frame, path)
    return frame


def _from_table(frame: Any, reading: Reading, note: Note) -> Annotations:
    """Return the study of a table in memory."""
    if reading.spans:
        from setagree.large.recognition import spans_of_table  # loads the readers of all formats

        return spans_of_table(_kept(frame, reading), reading)
    if reading.wide:
        return _from_wide(_kept(frame, reading), reading, note)
    if reading.raters_in_rows:
        return _from_raters_in_rows(_kept(frame, reading), reading, note)
    if reading.rater_columns is not None:
        frame, reading = named_raters(frame, reading)
    try:
        is_read = isinstance(frame, pd.DataFrame | TextFrame)
        names = list(frame) if is_read else column_names(frame)
        found = with_columns(reading, names)
    except DataError:
        table = as_pandas(frame)
        if flags := flag_columns(table, reading):
            note_or_warn(f"Read as a table of flags: {_some(flags)} ({option('labels')}).", note)
            table = with_missing_ids(table, flags)
            return _from_table(table, replace(reading, labels=flags), note)
        check_one_header(table)
        check_flags(table, reading)
        eager = _kept(table, reading)
        are_names = all(isinstance(name, str | None) for name in (reading.unit, reading.rater))
        if (
            are_names
            and (layout := detect_wide_layout(_answered(eager, reading), reading)) is not None
        ):
            unit, raters = layout
            shown = f"unit = {unit or 'none, one per row'}, raters = {_some(raters)}"
            note_or_warn(f"Read as a wide table: {shown} ({option('wide')}).", note)
            return _from_wide(eager, replace(reading, wide=True, unit=unit, raters=raters), note)
        raise
    note_guessed(reading, found, note)
    how = found
    if reading.roster is not None:
        frame = _kept(frame, found)
        long = from_long(frame, found.unit, found.rater, found.answer)
        frame = frame.assign(**{found.answer: _by_roster(long, found).answer.array})
        how = replace(found, blank="missing", where=None)
    may_be_spans = {"start", "end"} <= {*names} and _are_offsets(frame)
    try:
        study = Annotations.from_reading(frame, how)
    except RepeatsError as error:
        hint = questions_hint([found.unit]) if reading.unit is None else ""
        if may_be_spans:
            hint = f" If the rows are labelled spans, read them with {as_spans()}."
        if not hint:
            raise with_questions(with_order(error, frame, found), frame, found) from None
        raise error.worded(f"{error}{hint}").having(remedy={}) from None
    _warn_of_columns(study, frame, how, is_guessed=reading.unit is None)
    study = study if how is found else replace(study, reading=found)
    if may_be_spans and reading.labels is None:
        ends = "Columns 'start' and 'end' may be of labelled spans, which were not read"
        note_or_warn(f"{ends}; to read them, use {as_spans()}.", note)
    return study


def _warn_of_columns(study: Annotations, frame: Any, reading: Reading, *, is_guessed: bool) -> None:
    """Warn if another column may have the order of repeats, or the units if they are guessed."""
    kept = "first" if reading.duplicates == "repeats" else reading.duplicates
    order = unit = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetagreeWarning)  # reading the study has raised them
        if study.n_repeated and kept != "union":
            order = order_remedy(study, _kept(frame, reading), reading)
        elif is_guessed and 1 < study.n_units == study.n_ratings:
            unit = row_number_remedy(_kept(frame, reading), reading)
    if order is not None:
        warn(
            f"repeated ratings are in another order in column {order!r} than in the rows, which "
            f"count; to keep the {kept} by its times, use {option('order_by', order)}.",
            SetagreeWarning,
            order_by=order,
        )
    if unit is not None:
        warn(
            f"column {reading.unit!r} has another unit in each row; if {unit!r} has the units, "
            f"use {option('unit', unit)}.",
            SetagreeWarning,
            unit=unit,
        )


def _by_roster(long: LongColumns, reading: Reading) -> LongColumns:
    """Return the columns with ``[]`` in the blank answers of the pairs of a roster."""
    from setagree.exports.blank_answers import listed_answers  # loads the readers of exports

    return long._replace(answer=listed_answers(long, reading.roster))


def _are_offsets(frame: Any) -> bool:
    """Return whether numbers in the column ``start`` lie below those in ``end``."""
    ends = as_pandas(frame, ["start", "end"]).head(100).apply(pd.to_numeric, errors="coerce")
    return bool((ends["start"] < ends["end"]).any())


def note_or_warn(sentence: str, note: Note | None) -> None:
    """Pass a sentence to `note`, or warn if it is `no_note` or None."""
    if note is None or note is no_note:
        warn(sentence, SetagreeWarning)
    else:
        note(sentence)


def _answered(frame: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Return a table without the columns of file names, conditions, units or raters."""
    tested = reading.condition.columns if reading.condition else ()
    unit = reading.unit
    if unit is None and tested and not reading.raters_in_rows:
        unit = guess_wide_unit(frame)
    others = {reading.filename_column, *tested, *reading.further_columns} - {unit, reading.rater}
    omitted = [name for name in frame if str(name) in others]
    return frame.drop(columns=omitted) if omitted else frame


def _from_wide(frame: pd.DataFrame, reading: Reading, note: Note) -> Annotations:
    """Return the study of a table with one row per unit and one column per rater."""
    table, frame = frame, frame if reading.raters else _answered(frame, reading)
    unit = reading.unit
    raters = [*dict.fromkeys(find_names(reading.raters or (), frame.columns))]
    if unit is None:
        unit = guess_wide_unit(frame.drop(columns=raters, errors="ignore") if raters else frame)
        shown = _some(raters or [name for name in frame if name != unit])
        note(f"Columns guessed: unit = {unit or 'none, one per row'}, raters = {shown}")
    long = layouts.from_wide(frame, unit, raters or None)
    if has_roster := reading.roster is not None:
        long = _by_roster(long, reading)
    kind = "value" if reading.kind is None and are_on_a_scale(long.answer) else reading.kind
    reading = replace(reading, unit=unit, raters=raters or None, kind=kind)
    how = replace(reading, blank="missing") if has_roster else reading
    study = assemble(Annotations, long, how)
    return read_units(replace(study, reading=reading) if has_roster else study, table, reading)


def _from_raters_in_rows(frame: pd.DataFrame, reading: Reading, note: Note) -> Annotations:
    """Return the study of a table with one row per rater and one column per unit."""
    check_one_header(frame)
    table, frame = frame, _answered(frame, reading)
    rater, units = guess_people(frame.columns, rater=reading.rater, units=reading.unit)
    omitted = [str(name) for name in frame if name not in {rater, *units}]
    end = f"; left out: {_some(omitted)}" if omitted else ""
    note(f"Columns: rater = {rater}, {counted(len(units), 'unit')} = {_some(units)}{end}")
    if reading.unit is None:
        _warn_odd_units(frame, units, reading.syntax.label_sep)
    people = frame[rater]
    code_ids(people, "rater")  # raises an error with the rows of the file without a name
    warn_agreed_rows(people)
    triples = (
        (who, unit, cell) for unit in units for who, cell in zip(people, frame[unit], strict=True)
    )
    reading = replace(reading, rater=rater)
    return read_raters(
        assemble(Annotations, layouts.from_triples(triples), reading), table, reading
    )


def _warn_odd_units(frame: pd.DataFrame, units: Sequence[str], label_sep: LabelSep) -> None:
    """Warn if a few columns are read as units that have no answer in common with the others."""
    families = answer_families([answer_parts(frame[name], label_sep) for name in units])
    usual = [units[k] for k in max(families, key=len, default=[])]
    odd = [units[k] for family in families for k in family if units[k] not in usual]
    if odd and len(usual) > max(len(odd), 1):
        letters = zip(min(usual), max(usual), strict=False)
        prefix = "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], letters))
        pattern = f"{prefix.partition('[')[0]}*"
        is_sure = not any(fnmatchcase(name, pattern) for name in odd)
        warn(
            "columns read as units that have no answer in common with the others: "
            f"{listing(odd)}. If they are not units, name the columns of the units by a pattern: "
            f"{option('unit', pattern if is_sure else '...')}.",
            SetagreeWarning,
            **({"unit": pattern} if is_sure else {}),
        )


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(str, names[:_SHOWN])) + (", ..." if len(names) > _SHOWN else "")
