"""Recognition and reading of exports of annotation tools, and of labelled spans."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import compress
from pathlib import Path
from string import Template

import numpy as np

from setagree.checks import expanded, no_collection, public
from setagree.errors import (
    DataError,
    DroppedRowsWarning,
    FileError,
    OptionError,
    RepeatsError,
    SetagreeError,
    SetagreeWarning,
    counted,
    listing,
    option,
    warn,
)
from setagree.exports import FORMATS, Answers, Format, Request
from setagree.exports.detection import (
    format_of_name,
    other_formats,
    peek,
    peek_frame,
    peek_record,
    recognised,
    the_one,
)
from setagree.exports.json_nodes import shown
from setagree.files.streams import Paths, file_names, is_stdin, listable, matching
from setagree.files.tables import read_table
from setagree.lazy import pd
from setagree.study.annotations import Annotations
from setagree.study.answer_warnings import as_spans, warn_joined
from setagree.study.attributes import IS_MODEL
from setagree.study.codes import Column, as_objects
from setagree.study.columns import guess_columns
from setagree.study.reading import Duplicates, Reading, check_encoding, for_tables
from setagree.study.row_filter import NO_ROWS, Where, kept_rows
from setagree.study.spans import PLACE, Spans, study_of_spans, table_spans

_ROW_A_LABEL = "plain_row_per_label"
_ROLES = ("unit", "rater", "labels")
"""Columns of the table of an export."""
_BASIS = {
    "tool": "written by the tool's own code",
    "source": "from the tool's source",
    "documented": "from the documented format, not verified against a live export",
    "plain": "a plain table, not of a tool",
}
_OF_SPANS = {
    "start": ("start", "begin", "start_offset", "start_char", "from"),
    "end": ("end", "stop", "end_offset", "end_char", "to"),
    "text": ("text", "document_text"),
    "length": ("length", "document_length", "n_characters"),
}
"""Usual names of the columns of spans, besides document, rater and label."""


def read_export(path: Paths, tool: Format, reading: Reading) -> Annotations:
    """Return the annotations of one or several exports of a format."""
    if is_stdin(path):  # can be read only once
        raise FileError(
            "standard input: exports of tools are read from files or folders, and standard input "
            f"as a plain table. Omit {option('tool')}, or pass a path."
        )
    files = matching(path)
    named = named_files(files)
    check_encoding(reading.encoding)
    where = reading.condition
    if (
        where is not None
        and where.columns != (reading.filename_column,)
        and tool.shapes != {"table"}
    ):
        raise OptionError(
            f"{option('where')} is for tables, and {shown(files[0])} is read as {tool.title}; "
            "make a table of it first (setagree convert)."
        )
    if reading.roster is not None and len(files) > 1:
        raise OptionError(
            f"{option('roster')} is the roster of one export, and {len(files):,} files are passed; "
            "convert each with its roster (setagree convert), and join the tables."
        )
    frame, answers = _read_rows(path, tool, reading)
    # The format has read the cells, so that the answers are label sets.
    plain_reading = replace(reading, tool="auto", label_sep=None, blank=None, where=None)
    labels, value = (None, "value") if "value" in frame else ("labels", None)
    plain_reading = replace(plain_reading, unit="unit", rater="rater", labels=labels, value=value)
    try:
        study = Annotations.from_reading(frame, plain_reading)
    except RepeatsError as error:
        more = ""
        if len(files) > 1 and tool.has_unit and reading.unit is None:
            way = f"{option('tool', tool.name)} and {option('unit', 'text')}"
            more = f" If ids start anew in each file, name the field that identifies a unit: {way}."
        first, second, *_ = frame[PLACE].loc[np.array(error.rows) - 1]
        places = f" The first are in {first} and {second}."
        raise error.worded(f"{named}: {error}{places}{more}") from None
    except SetagreeError as error:
        raise error.worded(f"{named}: {error}") from None
    if answers.label_sep is not None and study.kind == "labels" and reading.codebook is None:
        warn_joined(study.values, study.value_codes, answers.label_sep)
    if answers.models:
        marks = {rater: rater in answers.models for rater in study.raters}
        study = study.with_raters({IS_MODEL: marks})
    return replace(study, reading=replace(reading, tool=tool.name))


def spans_of_export(path: Paths, tool: Format, reading: Reading) -> Annotations:
    """Return the study of the spans in one or several exports of a tool."""
    files = matching(path)
    name = named_files(files)
    if tool.read_spans is None:
        raise OptionError(
            f"{name}: {tool.title} is not read as spans; write a table with one row per span."
        )
    spans, request = Spans(), _request_of_spans(reading)
    for file in files:
        tool.read_spans(file, request, spans)
    return _study_of_spans(spans, replace(reading, tool=tool.name), name)


def spans_of_table(frame: pd.DataFrame, reading: Reading) -> Annotations:
    """Return the study of a table with one row per span, by the usual names of its columns."""
    usual = _OF_SPANS.values()
    start, end, text, length = (next((x for x in each if x in frame), None) for each in usual)
    if start is None or end is None:
        role = "start" if start is None else "end"
        names = " or ".join(_OF_SPANS[role][:3])
        raise DataError(f"no column {role!r} of spans, such as {names}.")
    if text is None and length is None:
        raise DataError(
            "no column 'text' or 'length' of the documents, whose length is not the last end of a "
            "span; add one, or use Annotations.from_spans(..., length=...)."
        )
    rest = [str(name) for name in frame if name not in {start, end, text, length, PLACE}]
    labels = reading.labels if isinstance(reading.labels, str) else None
    guess = guess_columns(rest, unit=reading.unit, rater=reading.rater, labels=labels)
    columns = {"document": guess.unit, "rater": guess.rater, "start": start, "end": end}
    columns["label"] = str(guess.labels)
    spans = table_spans(frame, columns, None if text else length, text)
    return _study_of_spans(spans, reading, "the table")


def _request_of_spans(reading: Reading) -> Request:
    layer = reading.spans if isinstance(reading.spans, str) else None
    return Request(layer, reading.blank, reading.roster, encoding=reading.encoding)


def _study_of_spans(spans: Spans, reading: Reading, name: str) -> Annotations:
    """Return the study of the annotated documents and of one layer of spans."""
    from setagree.exports.blank_answers import settle_spans  # loads pandas

    settle_spans(spans, _request_of_spans(reading), name)
    study = study_of_spans(Annotations, spans, tokens=reading.tokens, case=reading.case)
    return replace(study, reading=reading)


def export_table(path: Paths, tool: Format, reading: Reading) -> pd.DataFrame:
    """Return an export as a table of units, raters, label sets and, with an option, files."""
    return _read_rows(path, tool, reading)[0].drop(columns=PLACE)


def _read_rows(path: Paths, tool: Format, reading: Reading) -> tuple[pd.DataFrame, Answers]:
    """Return an export as a table with the place of each answer, and its answers."""
    files = matching(path)
    _check_source(path, tool, reading)
    answers = _answers(files, tool, reading)
    answers.models.update(_with_predictions(answers, named_files(files), reading))
    return _as_frame(answers, tool, reading), answers


def _check_source(path: Paths, tool: Format, reading: Reading) -> None:
    """Raise `OptionError` if the format has no units by name, or the column of files exists."""
    if reading.unit is not None and not tool.has_unit:
        raise for_tables(option("unit"), tool.name)
    if reading.filename_column is not None and (
        reading.filename_column in {*_ROLES, *table_columns(path, tool, reading)}
    ):
        raise OptionError(
            f"{option('filename_column', reading.filename_column)}: the table has a column of that "
            "name; use another."
        )


def named_files(files: Sequence[Path]) -> str:
    """Return the first of files, and the number of the others, for messages."""
    more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
    return f"{shown(files[0])}{more}"


def _with_predictions(answers: Answers, named: str, reading: Reading) -> set[Hashable]:
    """Add the answers of the requested models, warn of the others, and return the models."""
    request = Request(predictions=reading.predictions)
    predicted = answers.predicted or Answers()
    if reading.predictions is True and not predicted.units:
        spelled = option("predictions", value=True)
        raise OptionError(f"{spelled}: {named} has no answers of models; omit the option.")
    rest = Counter(model for model in predicted.raters if not request.reads(model))
    if rest and reading.predictions:
        _check_models(request, answers, predicted, named)
    if rest:
        way = option("predictions", value=True)
        warn(
            f"{named}: {counted(rest.total(), 'answer')} of {counted(len(rest), 'model')} "
            f"({listing([*rest])}) left out. To read models as raters, use {way}.",
            SetagreeWarning,
        )
    models = {*predicted.raters} - {*rest}
    people = {*map(str, answers.raters)}
    if both := [model for model in models if str(model) in people]:
        raise DataError(
            f"{named}: {listing(both)} is the name of a model and of a rater; rename one in the "
            f"export, or omit {option('predictions')}."
        )
    if models:
        kept = [model in models for model in predicted.raters]
        for column in ("units", "raters", "labels", "places", "files"):
            getattr(answers, column).extend(compress(getattr(predicted, column), kept))
    return models


def _check_models(request: Request, answers: Answers, predicted: Answers, named: str) -> None:
    """Raise `DataError` if a requested model is neither a model nor a rater of the file."""
    models = [*dict.fromkeys(map(str, predicted.raters))]
    names = {*models, *map(str, answers.raters)}
    for name in request.named_models(names):
        if name not in names:
            raise DataError(
                f"{named}: there is no model or rater {name!r}. The models are "
                f"{listing(models, limit=12)}."
            )


def _as_frame(answers: Answers, tool: Format, reading: Reading) -> pd.DataFrame:
    """Return answers as a table, without the rows of files that a condition drops."""
    source, where = reading.filename_column, reading.condition
    cells = [
        *(as_objects(answers.units), as_objects(answers.raters)),
        *(as_objects(answers.labels), as_objects(answers.places)),
    ]
    frame = pd.DataFrame(dict(zip([*_ROLES, PLACE], cells, strict=True)), dtype=object)
    if answers.are_numbers:
        numbers = [None if label is None else next(iter(label)) for label in answers.labels]
        frame["labels"] = as_objects(numbers)
        frame = frame.rename(columns={"labels": "value"})
    if source is None:
        return frame
    frame[source] = answers.files
    is_table = tool.shapes == {"table"}  # files of tables are selected before
    return frame if where is None or is_table else kept_rows(frame, where)


def _answers(files: Sequence[Path], tool: Format, reading: Reading) -> Answers:
    """Return the answers of files of one format, in their order."""
    kept, where = _kept_files(files, tool, reading)
    request = Request(
        *(reading.question, reading.blank, reading.roster, reading.label_sep, reading.encoding),
        *(where, reading.sheet, reading.predictions, reading.unit),
    )
    joined, predicted = Answers(), Answers()
    name_of = dict(zip(files, file_names(files), strict=True))
    for file in kept:
        with no_collection(), listable(file), warnings.catch_warnings():
            if len(files) > 1:  # one warning covers all files
                warnings.simplefilter("ignore", DroppedRowsWarning)
            try:
                answers = tool.read(file, request)
            except (DataError, FileError) as error:
                spans = Spans()
                if tool.read_spans is not None:
                    with suppress(ValueError):
                        tool.read_spans(file, request, spans)
                if not spans.rows:
                    raise
                hint = f"It has labelled spans; read them with {as_spans()}."
                raise error.worded(f"{error} {hint}") from None
        if not answers.units:
            raise DataError(f"{shown(file)} has no annotations; there is nothing to score.")
        prefix = f"{shown(file)}, " if len(files) > 1 else ""
        _check_data(joined, answers, file, tool)
        joined.extend(answers, name_of[file], prefix)
        if answers.predicted is not None:
            predicted.extend(answers.predicted, name_of[file], prefix)
    label_sep = request.used_seps[0] if request.used_seps else None
    return replace(joined, predicted=predicted, label_sep=label_sep)


def _check_data(joined: Answers, answers: Answers, file: Path, tool: Format) -> None:
    """Raise `DataError` if a unit of a file has other data in the files before it."""
    odd = [unit for unit, data in answers.data.items() if joined.data.get(unit, data) != data]
    if odd:
        fields = [k for k, x in answers.data[odd[0]].items() if isinstance(x, str)]
        way = f"{option('tool', tool.name)} and {option('unit', (fields or ['text'])[0])}"
        raise DataError(
            f"{shown(file)} has other data for {counted(len(odd), 'unit')} ({listing(odd)}) than a "
            "file before it, so that their ids start anew in each file. Name the field of the "
            f"data that identifies a unit: {way}. If the ids identify it: {option('unit', 'id')}."
        )


def _kept_files(
    files: Sequence[Path], tool: Format, reading: Reading
) -> tuple[Sequence[Path], Where | None]:
    """Return the files with matching rows, and the condition for reading them.

    The rows of several files are counted together. A condition on the file name keeps or drops
    whole files. Exports that are not tables have no rows before they are read.
    """
    where = reading.condition
    if where is None or tool.shapes != {"table"}:
        return files, None
    if len(files) == 1 and reading.filename_column not in where.columns:
        return files, where
    counts, kept = NO_ROWS, []
    for file, name in zip(files, file_names(files), strict=True):
        _, matched = where.match(_tested_columns(file, name, where, reading))
        kept += [file] * (matched.n_kept > 0)
        counts += matched
    counts.report(where)
    return kept, None if where.columns == (reading.filename_column,) else where


def _tested_columns(file: Path, name: str, where: Where, reading: Reading) -> list[Column]:
    """Return the columns of a condition in a file, one of which may be the file's name."""
    source, sheet = reading.filename_column, reading.sheet
    with listable(file):
        frame = read_table(file, encoding=reading.encoding, filename_column=source, sheet=sheet)
    if source is not None:
        frame[source] = name
    try:
        return [frame[column] for column in where.columns_in(list(frame))]
    except DataError as error:
        raise DataError(f"{shown(file)}: {error}") from error


@public
def formats() -> pd.DataFrame:
    """Return the formats that `read` recognises: name, title, basis, and notes.

    The basis of a layout is a file written by the tool's own code, the tool's source code, or the
    documented format, which was not verified with a live export.

    An installed package adds formats as entry points of the group ``setagree.formats``, each the
    name of a `setagree.exports.Format`; they are tried if no other format fits.

    Examples
    --------
    >>> formats().set_index("name").loc["label_studio_json", "title"]
    'Label Studio, JSON'
    """
    options = ("question", "roster", "label_sep", "blank", "codebook")
    spelled = {name: option(name) for name in options}
    spelled["blank_missing"] = option("blank", "missing")
    rows = [
        (f.name, f.title, _BASIS[f.basis], Template(f.notes).safe_substitute(spelled))
        for f in (*FORMATS, *other_formats())
    ]
    return pd.DataFrame(rows, columns=["name", "title", "basis", "notes"])


def find_format(name: str, duplicates: Duplicates = "error") -> Format:
    """Return the format with a name, if it leaves repeated ratings for `duplicates` to drop."""
    if name == _ROW_A_LABEL and duplicates in {"first", "last"}:
        raise OptionError(
            f"{option('tool', name)} unites the rows of a unit and a rater, so that "
            f"{option('duplicates', duplicates)} has no rows to drop; use one of the two."
        )
    return format_of_name(name, FORMATS)


def find_export(path: Paths, reading: Reading) -> tuple[Format | None, bool]:
    """Return the format of an export, or None for a table, and whether the detection is complete.

    The format is the named one, or the one that the beginning of a file or folder shows. All files
    must have the format of the first one. The detection is incomplete for several files, standard
    input and binary files.
    """
    if is_stdin(path) and reading.tool == "auto":
        return None, False
    files = [Path("-")] if is_stdin(path) else matching(path)
    if reading.tool != "auto":
        return find_format(reading.tool, reading.duplicates), True
    # Methods of Path raise an error for names that are too long.
    if not (os.path.isfile(files[0]) or os.path.isdir(files[0])):  # noqa: PTH112, PTH113
        return None, False
    peeked = peek(files[0], reading.encoding, reading.sheet)
    tool = the_one(recognised(peeked, FORMATS), peeked.path)
    for file in files[1:]:
        if tool is None:
            break
        other = the_one(recognised(peek(file, reading.encoding, reading.sheet), FORMATS), file)
        if other is not tool:
            raise OptionError(
                f"{shown(files[0])} is the export of a tool, {tool.title}, and {shown(file)} is "
                f"{'none' if other is None else f'one of {other.title}'}; only files of one "
                "format are read together."
            )
    if tool is not None and (refused := reading.column_options):
        raise OptionError(
            f"{refused[0]} is for tables, and {shown(files[0])} is read as {tool.title}. The name "
            f"of the file is a column with {option('filename_column')}; for others, write a table "
            "of it first (setagree convert). If it is a table already, name the columns with "
            f"{option('unit')}, {option('rater')} and {option('labels')}."
        )
    is_named = isinstance(path, str | os.PathLike) and files == [expanded(path)]
    return tool, is_named and not peeked.is_binary


def table_columns(path: Paths, tool: Format, reading: Reading) -> list[str]:
    """Return the columns of an export that is a table, or [] for other exports."""
    if tool.shapes != {"table"}:
        return []
    return [*peek(matching(path)[0], reading.encoding, reading.sheet).header]


def check_export(frame: pd.DataFrame, path: Paths) -> None:
    """Raise an error for an export that was not recognised from the beginning of its file."""
    files = [] if is_stdin(path) else matching(path)
    where = expanded(path) if isinstance(path, str | os.PathLike) else files[0]
    way = "name the file that the tool wrote, not a table made of it"
    named = shown(where)
    if not files:
        named = "standard input"
        way = "an export cannot be read from standard input; write it to a file and name that"
    for peeked in (peek_frame(frame, where), peek_record(frame, where)):
        if (tool := the_one(recognised(peeked, FORMATS), peeked.path)) is not None:
            raise DataError(
                f"{named} looks like the export of a tool, {tool.title}: {way} "
                f"({option('tool', tool.name)}). If it is a plain table, name the columns: "
                f"{option('unit')}, {option('rater')} and {option('labels')}."
            )
