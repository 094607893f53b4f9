"""brat: one folder of standoff files per rater."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from setagree.errors import DataError, FileError, option, shorten
from setagree.exports.blank_answers import Found, settle
from setagree.exports.format import Answers, Request
from setagree.exports.json_nodes import shown
from setagree.exports.table_exports import pick_question
from setagree.files.streams import Source, readable
from setagree.study.spans import Span, Spans
from setagree.wording.label_sets import LabelSet

_WHY = "brat creates a file for every document, annotated or not."
_SPAN = re.compile(r"T\S*\t(?P<type>\S+) (?P<fragments>\d+ \d+(;\d+ \d+)*)\t(?P<quote>.*)")
_IGNORED = {"R": "relation", "E": "event", "A": "attribute", "M": "attribute", "#": "note"}
"""Kind of a line that is not a span, by its first letter."""


def read(path: Path, request: Request) -> Answers:
    """Return the attributes of one span per document, from one folder per rater."""
    files = sorted(path.rglob("*.ann"))
    if not files:
        raise FileError(f"{shown(path)} has no .ann files.")
    if any(file.parent == path for file in files):
        raise DataError(
            f"{shown(path)} has .ann files itself, so that their raters are unknown; pass the "
            "folder that has one folder per rater."
        )
    names = {file: file.relative_to(path).as_posix() for file in files}
    attributes = {file: _attributes(file, name, request) for file, name in names.items()}
    question = _brat_question([*attributes.values()], request, path.name)
    rows = (
        (*_unit_and_rater(file, path), _labels(pairs, question), names[file])
        for file, pairs in attributes.items()
    )
    return settle(Found.from_rows(path.name, rows), request, why=_WHY)


def read_spans(path: Path, request: Request, spans: Spans) -> None:
    """Add the text-bound annotations in one folder per rater; each fragment is a span."""
    files = sorted(path.rglob("*.ann"))
    # of the folder of a rater, or of several
    root = path.parent if any(file.parent == path for file in files) else path
    for file in files:
        name, text = shown(file), file.with_suffix(".txt")
        document, rater = _unit_and_rater(file, root)
        if not text.is_file():
            raise DataError(f"{name}: its text, {text.name}, is not in the folder.")
        content = "\n".join(_lines(text, shown(text), request))
        pair = spans.add_done(document, rater, name, content)
        for number, line in enumerate(_lines(file, name, request), start=1):
            if not (line := line.removesuffix("\r")).startswith("T"):
                if line.strip():
                    spans.ignored[_IGNORED.get(line[0], "other line")] += 1
                continue
            place = f"{name}, line {number}"
            if (match := _SPAN.fullmatch(line)) is None:
                problem = f"{shorten(line)} is not a span such as 'T1<tab>Type 0 5<tab>text'."
                raise FileError(f"{place}: {problem}")
            fragments = [fragment.split() for fragment in match["fragments"].split(";")]
            quote = match["quote"] if len(fragments) == 1 else None
            for start, end in fragments:
                spans.rows.append(Span(*pair, int(start), int(end), match["type"], place, quote))
    spans.why = _WHY


def _unit_and_rater(file: Path, root: Path) -> tuple[str, str]:
    """Return the document, and the rater, who is the name of the folder."""
    rater, *below = file.relative_to(root).with_suffix("").parts
    return "/".join(below), rater


def _attributes(file: Path, name: str, request: Request) -> list[tuple[str, str | None]]:
    """Return the attributes of a document as pairs of name and value; a flag has the value None."""
    pairs: list[tuple[str, str | None]] = []
    spans: set[str] = set()
    for number, line in enumerate(_lines(file, name, request), start=1):
        if line[:1] in {"A", "M"}:
            _, tab, text = line.partition("\t")
            parts = text.split(maxsplit=2)
            if not tab or len(parts) < 2:
                problem = f"{shorten(line)} is not an attribute such as 'A1<tab>joy T1'."
                raise FileError(f"{name}, line {number}: {problem}")
            spans.add(parts[1])
            pairs.append((parts[0], parts[2].strip() if len(parts) == 3 else None))
    if len(spans) > 1:
        raise DataError(
            f"{name} has attributes on {len(spans)} spans; the label set of a document must be the "
            "attributes of one span."
        )
    return pairs


def _lines(file: Path, name: str, request: Request) -> list[str]:
    try:
        with readable(Source(file)):
            # offsets count both characters of a Windows line break
            text = file.read_bytes().decode(request.encoding)
        return text.removeprefix("\ufeff").split("\n")
    except UnicodeDecodeError as error:
        raise FileError(
            f"{name} is not {request.encoding}: {error}; set {option('encoding')}."
        ) from error


def _brat_question(
    attributes: Sequence[list[tuple[str, str | None]]], request: Request, name: str
) -> str | None:
    """Return the attribute whose values are the labels, or None if the names are the labels."""
    pairs = {pair for of_file in attributes for pair in of_file}
    valued = sorted({kind for kind, value in pairs if value is not None})
    flags = sorted({kind for kind, value in pairs if value is None})
    if request.question is None and valued and flags:
        raise DataError(
            f"{name} has attributes with a value ({', '.join(valued)}) and without "
            f"({', '.join(flags)}); use {option('question')} to read the values of one."
        )
    if not valued and request.question is None:
        return None
    return pick_question(request.question, valued, name)


def _labels(pairs: list[tuple[str, str | None]], question: str | None) -> LabelSet:
    if question is None:
        return frozenset(kind for kind, _ in pairs)
    return frozenset(value for kind, value in pairs if kind == question and value is not None)
