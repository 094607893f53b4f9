"""brat: one folder of standoff files per rater."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from setagree.errors import DataError, FileError, option, shorten
from setagree.exports.format import Answers, Request
from setagree.exports.sheets import pick_question
from setagree.exports.unclear import Found, settle
from setagree.files.streams import Source, readable
from setagree.study.spans import Spans
from setagree.wording.label_sets import LabelSet


def read(path: Path, request: Request) -> Answers:
    """Read one folder a rater, with attributes on one span a document."""
    files = sorted(path.rglob("*.ann"))
    if not files:
        raise FileError(f"{str(path)!r} has no .ann files in it.")
    if any(file.parent == path for file in files):
        raise DataError(
            f"{str(path)!r} holds .ann files itself, so that nothing says who wrote them; name the "
            "folder that has one folder for each rater."
        )
    attributes = {
        file: _attributes(file, file.relative_to(path).as_posix(), request) for file in files
    }
    question = _brat_question(attributes, request, path.name)
    rows = (
        (*_unit_and_rater(file, path), _labels(found, question), file.relative_to(path).as_posix())
        for file, found in attributes.items()
    )
    why = "brat makes a file without attributes for every document, looked at or not."
    return settle(Found.of_rows(path.name, rows), request, why=why)


def read_spans(path: Path, request: Request, spans: Spans) -> None:
    """Add the text-bound annotations of one folder a rater; a piece of one is a span."""
    root, files = path, sorted(path.rglob("*.ann"))
    if request.is_one_of_several and any(file.parent == path for file in files):
        root = path.parent  # of the folder of a rater
    for file in files:
        name, text = file.relative_to(root).as_posix(), file.with_suffix(".txt")
        document, rater = _unit_and_rater(file, root)
        if not document or not text.is_file():
            lacks = "the text file is missing" if document else "no folder of a rater"
            raise DataError(
                f"{spans.prefix}{name}: {lacks}; name the folder that has one folder with .ann and "
                ".txt files for each rater."
            )
        content = "\n".join(_lines(text, text.relative_to(root).as_posix(), request))
        pair = spans.add_done(document, rater, name, content)
        for number, line in enumerate(_lines(file, name, request), start=1):
            if not (line := line.removesuffix("\r")).startswith("T"):
                if line.strip():
                    spans.ignored[_IGNORED.get(line[0], "other line")] += 1
                continue
            match = _SPAN.fullmatch(line)
            if match is None:
                raise FileError(
                    f"{spans.prefix}{name}, line {number}: {shorten(line)} is no 'T1<tab>Type 0 5'."
                )
            pieces = [piece.split() for piece in match["pieces"].split(";")]
            quote = match["quote"] if len(pieces) == 1 else None
            for ends in pieces:
                where = f"{name}, line {number}"
                spans.add(pair, map(int, ends), match["type"], where, quote=quote)
    spans.why = "brat makes a file for every document, looked at or not."


_SPAN = re.compile(r"T\S*\t(?P<type>\S+) (?P<pieces>\d+ \d+(;\d+ \d+)*)\t(?P<quote>.*)")
_IGNORED = {"R": "relation", "E": "event", "A": "attribute", "M": "attribute", "#": "note"}
"""What lines other than spans are, by their first letter."""


def _unit_and_rater(file: Path, root: Path) -> tuple[str, str]:
    """Return the document and the folder that is named by its rater."""
    rater, *below = file.relative_to(root).with_suffix("").parts
    return "/".join(below), rater


def _attributes(file: Path, name: str, request: Request) -> list[tuple[str, str | None]]:
    """Return (name, value) of the attributes of a document; the value of a plain one is None."""
    found: list[tuple[str, str | None]] = []
    spans: set[str] = set()
    for number, line in enumerate(_lines(file, name, request), start=1):
        if line[:1] in {"A", "M"}:
            kind, span, value = _attribute_parts(line, f"{name}, line {number}")
            spans.add(span)
            found.append((kind, value))
    if len(spans) > 1:
        raise DataError(
            f"{name} has attributes on {len(spans)} spans; the label set of a document is the "
            "attributes of one span."
        )
    return found


def _attribute_parts(line: str, where: str) -> tuple[str, str, str | None]:
    _, tab, text = line.partition("\t")
    parts = text.split(maxsplit=2)
    if not tab or len(parts) < 2:
        raise FileError(f"{where}: {shorten(line)} is not an attribute such as 'A1<tab>joy T1'.")
    return parts[0], parts[1], parts[2].strip() if len(parts) == 3 else None


def _lines(file: Path, name: str, request: Request) -> list[str]:
    try:
        with readable(Source(file)):
            # an offset counts both signs of a line break of Windows
            text = file.read_bytes().decode(request.encoding)
        return text.removeprefix("\ufeff").split("\n")
    except UnicodeDecodeError as error:
        raise FileError(
            f"{name} is not {request.encoding}: {error}; say {option('encoding')}."
        ) from error


def _brat_question(
    attributes: Mapping[Path, list[tuple[str, str | None]]], request: Request, name: str
) -> str | None:
    """Return the attribute whose values are the labels, or None if the names are the labels."""
    pairs = {pair for found in attributes.values() for pair in found}
    valued = sorted({kind for kind, value in pairs if value is not None})
    plain = sorted({kind for kind, value in pairs if value is None})
    if request.question is None and valued and plain:
        raise DataError(
            f"{name} has attributes with a value ({', '.join(valued)}) and without "
            f"({', '.join(plain)}); say {option('question')} to read the values of one."
        )
    if not valued and request.question is None:
        return None
    return pick_question(request.question, valued, name)


def _labels(found: list[tuple[str, str | None]], question: str | None) -> LabelSet:
    if question is None:
        return frozenset(kind for kind, _ in found)
    return frozenset(value for kind, value in found if kind == question and value is not None)
