"""INCEpTION and WebAnno: UIMA CAS XMI or WebAnno TSV 3, a folder per document, a file per user."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeAlias

from setagree.errors import DataError, FileError
from setagree.exports.blank_answers import Found, settle
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.json_nodes import shown
from setagree.exports.reader_helpers import choose_question, offsets, parse_xml
from setagree.files.streams import Source, readable
from setagree.study.spans import Span, Spans

_READ = {".xmi", ".tsv"}
_NO_USERS = {"INITIAL_CAS", "CURATION_USER"}
_IN_EXPORT = re.compile(r"([^/]+/)?annotation/[^/]+/[^/]+\.(xmi|tsv|zip|json)")
_HEAD = "#FORMAT=WebAnno TSV 3"
_MAX_BYTES = 2**28
_XMI_ID = "{http://www.omg.org/XMI}id"
_UIMA = "{http:///uima/"
_CUSTOM = "{http:///webanno/custom.ecore}"
_ENDS = ("sofa", "begin", "end")
_PART = re.compile(r"(?:\\.|[^\\|])+", re.DOTALL)
_VALUE = re.compile(r"((?:\\.|[^\\\[])*)(?:\[(\d+)\])?", re.DOTALL)
_ESCAPED = re.compile(r"\\(->|.)", re.DOTALL)
_WHY = "INCEpTION also writes a file for a document that was opened and not annotated."
_SIGNS = {"t": "\t", "n": "\n", "r": "\r"}


class _Value(NamedTuple):
    """The value of a feature of one annotation.

    `question` is layer and feature, joined by a dot; `ends` are the offsets of the annotation, or
    None if it is of the whole document; `place` is its location in the file.
    """

    question: str
    text: str
    ends: tuple[int, int] | None
    place: str = ""


_Document: TypeAlias = tuple[list[_Value], str, list[tuple[int, int]]]
"""The annotations of one user in one document, its text, and the offsets of its tokens."""


def holds(peek: Peek) -> bool:
    """Return whether a folder has one folder per document, with one file per user."""
    if any(map(_IN_EXPORT.fullmatch, peek.names)):
        return True
    tsv = [name for name in peek.names if re.fullmatch(r"[^/]+/[^/]+\.tsv", name)]
    return bool(tsv) and peek.beginning(tsv[0]).startswith(_HEAD)


def read(path: Path, request: Request) -> Answers:
    """Return the values of one feature of the annotations of documents."""
    values_of = {file: _opened(file, path)[0] for file in _files(path)}
    questions = [value.question for values in values_of.values() for value in values]
    question = choose_question(request.question, questions, path.name)
    rows = []
    for file, all_values in values_of.items():
        name = file.relative_to(path).as_posix()
        values = [value for value in all_values if value.question == question]
        if len(parts := {value.ends for value in values}) > 1:
            raise DataError(
                f"{name} has annotations of {question!r} in {len(parts)} places; the label"
                " set of a document must be the annotations of the document, or of one span. Make "
                "each rated passage a document."
            )
        labels = frozenset(value.text for value in values)
        rows.append((file.parent.name, file.stem, labels, name))
    return settle(Found.from_rows(path.name, rows), request, why=_WHY)


def read_spans(path: Path, _: Request, spans: Spans) -> None:
    """Add the spans of all features, whose offsets count UTF-16 units."""
    spans.utf16, spans.why = True, _WHY
    for file in [path] if path.is_file() else _files(path):
        values, text, tokens = _opened(file, file.parents[1], has_names=True)
        pair = spans.add_done(file.parent.name, file.stem, shown(file), text)
        spans.tokens[pair[0]] = tokens
        for layer, label, ends, offset in values:
            if ends is not None:
                place = f"{shown(file)}, {offset}"
                spans.rows.append(Span(*pair, *ends, label, place, layer=layer))


def _files(path: Path) -> list[Path]:
    """Return the file of each user and document, in the folder "annotation" if there is one."""
    if not path.is_dir():
        raise DataError(
            f"{shown(path)} has the annotations of one user of one document, without the names of "
            "both; pass the folder 'annotation' of the project export."
        )
    inside = sorted(path.glob("*/*")) + sorted(path.glob("**/annotation/*/*"))
    named = [file for file in inside if file.parents[1].name == "annotation"] or inside
    files = [f for f in dict.fromkeys(named) if f.is_file() and f.stem not in _NO_USERS]
    if others := [f for f in files if f.suffix not in {*_READ, ".zip"}]:
        raise FileError(
            f"{shown(others[0])} is neither XMI nor TSV; export the project with the format 'UIMA "
            "CAS XMI (XML 1.0)' or 'WebAnno TSV v3.3'."
        )
    if not files:
        raise FileError(f"{shown(path)} has no file of a user in the folder of a document.")
    return files


def _opened(file: Path, root: Path, *, has_names: bool = False) -> _Document:
    """Return the content of a file, which may be in a zip archive with its type system.

    `has_names` adds the layer of named entities of XMI.
    """
    name = file.relative_to(root).as_posix()
    with readable(Source(file)):
        content, suffix = _content(file, name)
    if suffix == ".xmi":
        cas = parse_xml(BytesIO(content), name)
        sofa = cas.find(f"{_UIMA}cas.ecore}}Sofa")
        elements = (x for x in cas if x.tag.endswith("}Token") and "begin" in x.attrib)
        tokens = [offsets(x.attrib["begin"], x.attrib["end"], name) for x in elements]
        values = [*_xmi_values(cas, name, has_names=has_names)]
        return values, "" if sofa is None else sofa.get("sofaString", ""), tokens
    try:
        return _of_tsv(content.decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        raise FileError(f"{name} is not UTF-8, as WebAnno TSV must be: {error}.") from error


def _content(file: Path, name: str) -> tuple[bytes, str]:
    if file.suffix != ".zip":
        return file.read_bytes(), file.suffix
    with zipfile.ZipFile(file) as archive:
        members = [n for n in archive.namelist() if PurePosixPath(n).suffix in _READ]
        if len(members) != 1:
            raise FileError(f"{name}: expected one file of XMI or TSV; got {len(members)}.")
        with archive.open(members[0]) as stream:
            content = stream.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise FileError(f"{name} unpacks to more than {_MAX_BYTES:,} bytes.")
    return content, PurePosixPath(members[0]).suffix


# ---- XMI ----------------------------------------------------------------------------------------


def _xmi_values(root: ET.Element, name: str, *, has_names: bool) -> Iterator[_Value]:
    """Yield the values of annotations.

    A list of values is inside its annotation, or an array elsewhere. The identifier of an array
    may also be the text of another feature.
    """
    feature_of: dict[str, str] = {}
    arrays = {
        array.get(_XMI_ID): [item.text or "" for item in array]
        for array in root.iter("{http:///uima/cas.ecore}StringArray")
    }
    for element in root:
        is_span = "begin" in element.attrib
        if "sofa" not in element.attrib or element.tag.startswith(_UIMA):
            continue
        is_named = has_names and element.tag.endswith("}NamedEntity")
        if is_span and not (is_named or element.tag.startswith(_CUSTOM)):  # such as tokens
            continue
        layer = element.tag.rpartition("}")[2]
        ends = offsets(element.get("begin", ""), element.get("end", ""), name) if is_span else None
        place = "" if ends is None else f"offset {ends[0]:,}"
        texts = [(key, text) for key, text in element.items() if key[0] != "{" and key not in _ENDS]
        for key, text in texts:
            feature = f"{layer}.{key}"
            if text in arrays and feature_of.setdefault(text, feature) != feature:
                raise FileError(
                    f"{name}: {text!r} in {feature_of[text]!r} and in {feature!r} may be the "
                    "number of a list, or a value; write a table with one row per unit and rater "
                    "instead."
                )
        texts = [(key, item) for key, text in texts for item in arrays.get(text, [text])]
        texts += [(child.tag, child.text or "") for child in element]
        for key, text in texts:
            if text.strip():
                yield _Value(f"{layer}.{key}", text, ends, place)


# ---- WebAnno TSV --------------------------------------------------------------------------------


def _of_tsv(text: str, name: str) -> _Document:
    """Return the values of spans; a span of several tokens is identified by a number.

    The text is joined from the tokens, with spaces between them, in UTF-16 units, which offsets
    count.
    """
    lines = text.split("\n")
    if not lines[0].startswith(_HEAD):
        raise FileError(f"{name}, line 1: expected {_HEAD!r}; only WebAnno TSV 3 is supported.")
    columns: list[str] = []
    spans: dict[tuple[str, str], tuple[str, str, list[tuple[int, int]]]] = {}
    joined, tokens = bytearray(), []
    for number, line in enumerate(lines, start=1):
        line, place = line.removesuffix("\r"), f"line {number:,}"
        if line.startswith("#T_SP="):
            layer, *features = line.removeprefix("#T_SP=").split("|")
            columns += [f"{layer.rpartition('.')[2]}.{feature}" for feature in features or [""]]
        if not line.strip() or line.startswith("#"):
            continue
        token, *cells = line.split("\t")
        if len(cells) < 2 + len(columns):
            raise FileError(
                f"{name}, {place}: expected {3 + len(columns)} cells; got {len(cells) + 1}."
            )
        begin, _, end = cells[0].partition("-")
        ends = offsets(begin, end, f"{name}, {place}")
        if "." not in token:  # otherwise a part of a token
            tokens.append(ends)
            start, size = 2 * ends[0], 2 * (ends[1] - ends[0])
            encoded = _ESCAPED.sub(_sign, cells[1]).encode("utf-16-le", "surrogatepass")
            joined += b" \0" * (ends[0] - len(joined) // 2)
            joined[start:] = encoded.ljust(size)[:size]
        for question, cell in zip(columns, cells[2:], strict=False):
            for k, (value, key) in enumerate(_cell_values(cell)):
                span = (question, key or f"{token} {k}")
                spans.setdefault(span, (value, place, []))[2].append(ends)
    values = [
        _Value(question, value, (min(parts)[0], max(end for _, end in parts)), place)
        for (question, _), (value, place, parts) in spans.items()
    ]
    return values, joined.decode("utf-16-le", "replace"), tokens


def _sign(escaped: re.Match[str]) -> str:
    return _SIGNS.get(escaped[1], escaped[1])


def _cell_values(cell: str) -> Iterator[tuple[str, str | None]]:
    """Yield the values of a cell with their numbers; a feature without a value yields nothing."""
    for part in _PART.findall(cell):
        if (match := _VALUE.fullmatch(part)) is None or match[1] in {"_", "*", ""}:
            continue
        yield _ESCAPED.sub(_sign, match[1]), match[2]
