"""Labelled spans in files: exports of tools, and tables with one row per span."""

from __future__ import annotations

from dataclasses import fields, replace

import pandas as pd

from setagree.errors import DataError, OptionError, SetagreeError, option
from setagree.exports import Format, Request
from setagree.exports.nodes import shown
from setagree.exports.unclear import settle_spans
from setagree.files.streams import Paths, matching
from setagree.study.annotations import Annotations
from setagree.study.columns import guess_columns
from setagree.study.reading import Reading
from setagree.study.spans import USUAL, Spans, study_of_spans, table_spans, usual_columns

_OPTIONS = (
    "spans tokens unit rater labels case where tool encoding roster blank sheet header_row sql "
    "delimiter"
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
    """Return the study of the spans in the export of a tool."""
    files = matching(path)
    if found.read_spans is None or len(files) > 1:
        what = f"{found.title} is not read as spans"
        what = what if len(files) == 1 else "one export is read as spans at a time"
        raise OptionError(f"{shown(files[0])}: {what}; write a table with one row per span.")
    layer = how.spans if isinstance(how.spans, str) else None
    request = Request(layer, how.blank, how.roster, encoding=how.encoding)
    spans = found.read_spans(files[0], request)
    try:
        study = _study(spans, how)
    except SetagreeError as error:
        raise type(error)(f"{shown(files[0])}: {error}") from error
    return replace(study, reading=replace(how, tool=found.name))


def spans_of_table(frame: pd.DataFrame, how: Reading) -> Annotations:
    """Return the study of a table with one row per span, by the usual names of its columns."""
    if isinstance(how.spans, str):
        raise OptionError(
            f"{option('spans', how.spans)} names a layer of an export; a table has none."
        )
    if how.tokens == "tool":
        raise OptionError(f"{option('tokens', 'tool')} is for exports; a table has no tokens.")
    named = usual_columns(frame)
    if missing := [role for role in ("start", "end") if named[role] is None]:
        listed = " or ".join(USUAL[missing[0]][:3])
        raise DataError(f"no column {missing[0]!r} of spans, such as {listed}.")
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
    request = Request(blank=how.blank, roster=how.roster, encoding=how.encoding)
    settle_spans(spans, request, "the table", is_listed=False)
    return replace(_study(spans, how), reading=how)


def _study(spans: Spans, how: Reading) -> Annotations:
    """Return the study of spans, with labels in lower case if that is asked for."""
    if how.case == "lower":
        spans.rows = [one._replace(label=str(one.label).lower()) for one in spans.rows]
    return study_of_spans(Annotations, spans, tokens=how.tokens)
