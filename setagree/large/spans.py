"""Labelled spans in files: exports of tools, and tables with one row per span."""

from __future__ import annotations

from dataclasses import fields, replace

import pandas as pd

from setagree.errors import DataError, OptionError, option
from setagree.exports import Format, Request
from setagree.exports.blank_answers import settle_spans
from setagree.exports.json_nodes import shown
from setagree.files.streams import Paths, matching
from setagree.large.recognition import named_files
from setagree.study.annotations import Annotations
from setagree.study.columns import guess_columns
from setagree.study.reading import Reading
from setagree.study.spans import Spans, no_column, study_of_spans, table_spans, usual_columns

_OPTIONS = (
    "spans tokens unit rater labels case where tool encoding roster blank sheet header_row sql "
    "delimiter filename_column"
)
"""Options that apply to spans."""


def check_options(how: Reading) -> None:
    """Raise OptionError for an option that does not apply to spans."""
    for each in fields(how):
        if each.name in _OPTIONS.split() or not (value := getattr(how, each.name)):
            continue
        if value != each.default:
            raise OptionError(
                f"{option(each.name)} does not apply with {option('spans')}; omit it."
            )


def spans_of_export(path: Paths, found: Format, how: Reading) -> Annotations:
    """Return the study of the spans in the export of a tool, or in several."""
    files = matching(path)
    several, name = len(files) > 1, named_files(files)
    if found.read_spans is None:
        raise OptionError(
            f"{name}: {found.title} is not read as spans; write a table with one row per span."
        )
    spans = Spans()
    for file in files:
        spans.prefix = f"{shown(file)}, "
        found.read_spans(file, replace(_request(how), is_one_of_several=several), spans)
    settle_spans(spans, _request(how), name)
    study = study_of_spans(Annotations, spans, tokens=how.tokens, case=how.case)
    return replace(study, reading=replace(how, tool=found.name))


def spans_of_table(frame: pd.DataFrame, how: Reading) -> Annotations:
    """Return the study of a table with one row per span, by the usual names of its columns."""
    if how.tokens == "tool":
        raise OptionError(f"{option('tokens', 'tool')} is for exports; a table has no tokens.")
    named = usual_columns(frame)
    if missing := [role for role in ("start", "end") if named[role] is None]:
        raise no_column(missing[0])
    if named["text"] is None and named["length"] is None:
        raise DataError(
            "no column 'text' or 'length' of the documents, which the last end of a span does not "
            "tell; add one, or use Annotations.from_spans(..., length=...)."
        )
    rest = [str(name) for name in frame if name not in named.values()]
    labels = how.labels if isinstance(how.labels, str) else None
    found = guess_columns(rest, unit=how.unit, rater=how.rater, labels=labels)
    columns = {"document": found.unit, "rater": found.rater, "label": found.labels}
    columns |= {role: named[role] for role in ("start", "end")}
    length, text = (None, named["text"]) if named["text"] else (named["length"], None)
    spans = table_spans(frame, {role: str(x) for role, x in columns.items()}, length, text)
    spans.is_listed = False
    settle_spans(spans, _request(how), "the table")
    study = study_of_spans(Annotations, spans, tokens=how.tokens, case=how.case)
    return replace(study, reading=how)


def _request(how: Reading) -> Request:
    """Return the request of the layer, and of what documents without spans mean."""
    layer = how.spans if isinstance(how.spans, str) else None
    return Request(layer, how.blank, how.roster, encoding=how.encoding)
