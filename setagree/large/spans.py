"""Labelled spans in files: exports of tools, and tables with one row per span."""

from __future__ import annotations

from dataclasses import fields, replace

import pandas as pd

from setagree.errors import DataError, OptionError, SetagreeError, option
from setagree.exports import Format, Request
from setagree.exports.nodes import shown
from setagree.exports.rosters import read_roster
from setagree.files.streams import Paths, matching
from setagree.study.annotations import Annotations
from setagree.study.columns import guess_columns
from setagree.study.reading import Reading
from setagree.study.spans import study_of_spans

_OPTIONS = (
    "spans tokens unit rater labels where tool encoding roster blank sheet header_row sql delimiter"
)
"""Options that apply to spans."""

_USUAL = {
    "start": ("start", "begin", "start_offset", "start_char", "from"),
    "end": ("end", "stop", "end_offset", "end_char", "to"),
    "text": ("text", "document_text"),
    "length": ("length", "document_length", "n_characters"),
}
"""Usual names of the other columns of spans."""


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
        study = study_of_spans(Annotations, spans, tokens=how.tokens)
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
    named = {
        role: next((one for one in usual if one in frame), None) for role, usual in _USUAL.items()
    }
    if missing := [role for role in ("start", "end") if named[role] is None]:
        listed = " or ".join(_USUAL[missing[0]][:3])
        raise DataError(f"no column {missing[0]!r} of spans, such as {listed}.")
    if named["text"] is None and named["length"] is None:
        raise DataError(
            "no column 'text' or 'length' of the documents, which the last end of a span does not "
            "tell; add one, or use Annotations.from_spans(..., length=...)."
        )
    rest = [str(name) for name in frame if name not in named.values()]
    labels = how.labels if isinstance(how.labels, str) else None
    found = guess_columns(rest, unit=how.unit, rater=how.rater, labels=labels)
    roster = read_roster(Request(roster=how.roster, encoding=how.encoding))
    pairs = [*zip(frame[found.unit], frame[found.rater], strict=True)]
    if roster is not None:  # whose names are text
        name_of = {str(one): one for pair in pairs for one in pair}
        pairs = [(name_of.get(d, d), name_of.get(r, r)) for d, r in roster]
    is_stated = roster is not None or how.blank == "missing"
    size = "text" if named["text"] is not None else "length"
    study = Annotations.from_spans(
        frame,
        document=found.unit,
        rater=found.rater,
        start=str(named["start"]),
        end=str(named["end"]),
        label=str(found.labels),
        done=pairs if is_stated else "all" if how.blank == "empty" else None,
        tokens="words" if how.tokens else None,
        text=named["text"] if size == "text" else None,
        length=named["length"] if size == "length" else None,
    )
    return replace(study, reading=how)
