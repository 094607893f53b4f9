"""Labelled spans in files: exports of tools, and tables with one row per span."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from setagree.errors import DataError, OptionError
from setagree.exports import Format, Request
from setagree.exports.blank_answers import settle_spans
from setagree.files.streams import Paths, matching
from setagree.large.recognition import named_files
from setagree.study.annotations import Annotations
from setagree.study.columns import guess_columns
from setagree.study.reading import Reading
from setagree.study.spans import Spans, study_of_spans, table_spans

_USUAL = {
    "start": ("start", "begin", "start_offset", "start_char", "from"),
    "end": ("end", "stop", "end_offset", "end_char", "to"),
    "text": ("text", "document_text"),
    "length": ("length", "document_length", "n_characters"),
}
"""Usual names of the columns of spans besides document, rater and label."""


def spans_of_export(path: Paths, tool: Format, reading: Reading) -> Annotations:
    """Return the study of the spans in one or several exports of a tool."""
    files = matching(path)
    name = named_files(files)
    if tool.read_spans is None:
        raise OptionError(
            f"{name}: {tool.title} is not read as spans; write a table with one row per span."
        )
    spans = Spans()
    for file in files:
        tool.read_spans(file, _request(reading), spans)
    return _study(spans, replace(reading, tool=tool.name), name)


def spans_of_table(frame: pd.DataFrame, reading: Reading) -> Annotations:
    """Return the study of a table with one row per span, by the usual names of its columns."""
    usual = {role: next((x for x in names if x in frame), None) for role, names in _USUAL.items()}
    for role in ("start", "end"):
        if usual[role] is None:
            raise DataError(
                f"no column {role!r} of spans, such as {' or '.join(_USUAL[role][:3])}."
            )
    text, length = usual["text"], usual["length"]
    if text is None and length is None:
        raise DataError(
            "no column 'text' or 'length' of the documents, whose length is not the last end of a "
            "span; add one, or use Annotations.from_spans(..., length=...)."
        )
    rest = [str(name) for name in frame if name not in usual.values()]
    labels = reading.labels if isinstance(reading.labels, str) else None
    guess = guess_columns(rest, unit=reading.unit, rater=reading.rater, labels=labels)
    columns = {"document": guess.unit, "rater": guess.rater, "label": str(guess.labels)}
    columns |= {role: str(usual[role]) for role in ("start", "end")}
    spans = table_spans(frame, columns, None if text else length, text)
    spans.why = None
    return _study(spans, reading, "the table")


def _request(reading: Reading) -> Request:
    layer = reading.spans if isinstance(reading.spans, str) else None
    return Request(layer, reading.blank, reading.roster, encoding=reading.encoding)


def _study(spans: Spans, reading: Reading, name: str) -> Annotations:
    """Return the study of the annotated documents and of one layer of spans."""
    settle_spans(spans, _request(reading), name)
    study = study_of_spans(Annotations, spans, tokens=reading.tokens, case=reading.case)
    return replace(study, reading=reading)
