"""INCEpTION and WebAnno: UIMA CAS XMI or WebAnno TSV 3, a folder a document, a file a user."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from setagree.errors import DataError, FileError
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.gathering import choose_question
from setagree.exports.markup import parse_xml
from setagree.exports.unclear import Found, settle
from setagree.files.streams import Source, readable
from setagree.study.spans import Spans

_READ = {".xmi", ".tsv"}
_NO_USERS = {"INITIAL_CAS", "CURATION_USER"}
_IN_EXPORT = re.compile(r"([^/]+/)?annotation/[^/]+/[^/]+\.(xmi|tsv|zip|json)")
_HEAD = "#FORMAT=WebAnno TSV 3"
_MOST_BYTES = 2**28
_XMI_ID = "{http://www.omg.org/XMI}id"
_UIMA = "{http:///uima/"
_CUSTOM = "{http:///webanno/custom.ecore}"
_PLACE = ("sofa", "begin", "end")
_PART = re.compile(r"(?:\\.|[^\\|])+", re.DOTALL)
_VALUE = re.compile(r"((?:\\.|[^\\\[])*)(?:\[(\d+)\])?", re.DOTALL)
_ESCAPED = re.compile(r"\\(->|.)", re.DOTALL)
_SIGNS = {"t": "\t", "n": "\n", "r": "\r"}


class _Value(NamedTuple):
    """The value of a feature of one annotation.

    `question` is layer and feature with a dot between; `place` is what part of the text is
    annotated, None where it is the document; `where` is its place in the file.
    """

    question: str
    text: str
    place: tuple[int, int] | None
    where: str = ""


class _Document(NamedTuple):
    """The annotations of one user to one document, its text, and the offsets of its tokens."""

    name: str
    values: list[_Value]
    text: str
    tokens: list[tuple[int, int]]


def holds(peek: Peek) -> bool:
    """Return whether a folder has a folder for each document, with a file of each user."""
    if any(map(_IN_EXPORT.fullmatch, peek.names)):
        return True
    tsv = [name for name in peek.names if re.fullmatch(r"[^/]+/[^/]+\.tsv", name)]
    return bool(tsv) and _begins(peek.path / tsv[0], _HEAD)


def _begins(file: Path, head: str) -> bool:
    try:
        with readable(Source(file)), file.open("rb") as stream:
            return (
                stream.read(len(head) + 3).removeprefix(b"\xef\xbb\xbf").startswith(head.encode())
            )
    except FileError:  # which whoever reads it says
        return False


def read(path: Path, request: Request) -> Answers:
    """Read the annotations of documents: the values of one feature are the labels."""
    files = _files(path)
    opened = {file: _opened(file, path) for file in files}
    known = dict.fromkeys(value.question for each in opened.values() for value in each.values)
    question = choose_question(request.question, known, path.name)
    rows = []
    for file, each in opened.items():
        chosen = [value for value in each.values if value.question == question]
        _check_parts(chosen, each.name)
        rows.append((file.parent.name, file.stem, frozenset(v.text for v in chosen), each.name))
    return settle(Found.of_rows(path.name, rows), request, why=_WHY)


def read_spans(path: Path, request: Request, spans: Spans) -> None:
    """Add the spans of all features, whose offsets count UTF-16 units."""
    spans.utf16, spans.why = True, _WHY
    is_file = request.is_one_of_several and not path.is_dir()
    for file in [path] if is_file else _files(path):
        each = _opened(file, path.parents[1] if is_file else path, has_names=True)
        pair = spans.add_done(file.parent.name, file.stem, each.name, each.text)
        spans.tokens[pair[0]] = each.tokens
        for layer, label, ends, where in each.values:
            if ends is not None:
                spans.add(pair, ends, label, f"{each.name}, {where}", layer=layer)


_WHY = "INCEpTION writes a file without annotations for a document that was opened, done or not."


def _files(path: Path) -> list[Path]:
    """Return the file of each user to each document, in the folder "annotation" if there is one."""
    if not path.is_dir():
        raise DataError(
            f"{str(path)!r} holds the annotations of one user to one document, and no name of "
            "either; name the folder 'annotation' of the export of the project."
        )
    inside = sorted(path.glob("*/*")) + sorted(path.glob("**/annotation/*/*"))
    named = [file for file in inside if file.parents[1].name == "annotation"] or inside
    files = [f for f in dict.fromkeys(named) if f.is_file() and f.stem not in _NO_USERS]
    if others := [f for f in files if f.suffix not in {*_READ, ".zip"}]:
        raise FileError(
            f"{str(others[0])!r} is neither XMI nor TSV; export the project with the format 'UIMA "
            "CAS XMI (XML 1.0)' or 'WebAnno TSV v3.3'."
        )
    if not files:
        raise FileError(f"{str(path)!r} has no file of a user in the folder of a document.")
    return files


def _check_parts(values: Sequence[_Value], name: str) -> None:
    """Raise an error for annotations of parts of a text; the document has no label set."""
    if len(places := {value.place for value in values}) > 1:
        raise DataError(
            f"{name} has annotations of {values[0].question!r} in {len(places)} places; the label "
            "set of a document is the annotations of the document, or of one span. Make each "
            "passage that is rated a document of its own."
        )


def _opened(file: Path, root: Path, *, has_names: bool = False) -> _Document:
    """Return the content of a file, which may lie in a zip archive with its type system.

    `has_names` adds the layer of named entities of XMI.
    """
    name = file.relative_to(root).as_posix()
    with readable(Source(file)):
        content, suffix = _content(file, name)
    if suffix == ".xmi":
        return _of_xmi(parse_xml(BytesIO(content), name), name, has_names=has_names)
    try:
        return _of_tsv(content.decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        raise FileError(f"{name} is not UTF-8, as WebAnno TSV always is: {error}.") from error


def _content(file: Path, name: str) -> tuple[bytes, str]:
    if file.suffix != ".zip":
        return file.read_bytes(), file.suffix
    with zipfile.ZipFile(file) as archive:
        members = [n for n in archive.namelist() if PurePosixPath(n).suffix in _READ]
        if len(members) != 1:
            raise FileError(f"{name} holds {len(members)} files of XMI or TSV where one is due.")
        with archive.open(members[0]) as stream:
            content = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise FileError(f"{name} unpacks to more than {_MOST_BYTES:,} bytes.")
    return content, PurePosixPath(members[0]).suffix


# ---- XMI ----------------------------------------------------------------------------------------


def _of_xmi(root: ET.Element, name: str, *, has_names: bool) -> _Document:
    """Return the annotations of the document, and of spans in layers of the project.

    `has_names` adds the layer of named entities, which every project has.
    """
    sofa = root.find(f"{_UIMA}cas.ecore}}Sofa")
    text = "" if sofa is None else sofa.get("sofaString", "")
    found = (each for each in root if each.tag.endswith("}Token") and "begin" in each.attrib)
    tokens = [_ends(each.attrib["begin"], each.attrib["end"], name) for each in found]
    return _Document(name, [*_xmi_values(root, name, has_names=has_names)], text, tokens)


def _ends(begin: str, end: str, where: str) -> tuple[int, int]:
    """Return offsets that must be whole numbers."""
    try:
        return int(begin), int(end)
    except ValueError:
        raise FileError(f"{where}: {begin!r} and {end!r} are no offsets.") from None


def _xmi_values(root: ET.Element, name: str, *, has_names: bool) -> Iterator[_Value]:
    """Yield the values of annotations.

    A list of values stands inside its annotation, or elsewhere under a number that may be the text
    of another feature, too.
    """
    named: dict[str, str] = {}
    arrays = {
        each.get(_XMI_ID): [inside.text or "" for inside in each]
        for each in root.iter("{http:///uima/cas.ecore}StringArray")
    }
    for each in root:
        is_span = "begin" in each.attrib
        if "sofa" not in each.attrib or each.tag.startswith(_UIMA):
            continue
        is_named = has_names and each.tag.endswith("}NamedEntity")
        if is_span and not (is_named or each.tag.startswith(_CUSTOM)):  # tokens and the like
            continue
        layer = each.tag.rpartition("}")[2]
        place = _ends(each.get("begin", ""), each.get("end", ""), name) if is_span else None
        where = "" if place is None else f"offset {place[0]:,}"
        given = [(key, text) for key, text in each.items() if key[0] != "{" and key not in _PLACE]
        for key, text in given:
            if text in arrays and named.setdefault(text, f"{layer}.{key}") != f"{layer}.{key}":
                raise FileError(
                    f"{name}: {text!r} may be the number of a list, or a value itself, in "
                    f"{named[text]!r} and in '{layer}.{key}'; write a table with one row for each "
                    "unit and rater instead."
                )
        given = [(key, one) for key, text in given for one in arrays.get(text, [text])]
        given += [(inside.tag, inside.text or "") for inside in each]
        values = ((f"{layer}.{key}", text) for key, text in given if text.strip())
        yield from (_Value(*one, place, where) for one in values)


# ---- WebAnno TSV --------------------------------------------------------------------------------


def _of_tsv(text: str, name: str) -> _Document:
    """Return the values of spans; one that goes over several tokens has a number.

    The text is put together from the tokens, with spaces between them, in UTF-16 units, which
    offsets count.
    """
    lines = text.split("\n")
    if not lines[0].startswith(_HEAD):
        raise FileError(f"{name}, line 1: no {_HEAD!r}; only version 3 of WebAnno TSV is read.")
    columns: list[str] = []
    spans: dict[tuple[str, str], tuple[str, str, list[tuple[int, int]]]] = {}
    whole, tokens = bytearray(), []
    for number, line in enumerate(lines, start=1):
        line, where = line.removesuffix("\r"), f"line {number:,}"
        if line.startswith("#T_SP="):
            layer, *features = line.removeprefix("#T_SP=").split("|")
            columns += [f"{layer.rpartition('.')[2]}.{feature}" for feature in features or [""]]
        if not line.strip() or line.startswith("#"):
            continue
        token, *cells = line.split("\t")
        if len(cells) < 2 + len(columns):
            raise FileError(
                f"{name}, {where} has {len(cells) + 1} cells; {3 + len(columns)} are due."
            )
        begin, _, end = cells[0].partition("-")
        place = _ends(begin, end, f"{name}, {where}")
        if "." not in token:  # else a part of a token
            tokens.append(place)
            start, size = 2 * place[0], 2 * (place[1] - place[0])
            own = _ESCAPED.sub(_sign, cells[1]).encode("utf-16-le", "surrogatepass")
            whole += b" \0" * (place[0] - len(whole) // 2)
            whole[start:] = own.ljust(size)[:size]
        for question, cell in zip(columns, cells[2:], strict=False):
            for k, (value, key) in enumerate(_cell_values(cell)):
                one = (question, key or f"{token} {k}")
                spans.setdefault(one, (value, where, []))[2].append(place)
    values = [
        _Value(question, value, (min(ends)[0], max(end for _, end in ends)), where)
        for (question, _), (value, where, ends) in spans.items()
    ]
    return _Document(name, values, whole.decode("utf-16-le", "replace"), tokens)


def _sign(escaped: re.Match[str]) -> str:
    return _SIGNS.get(escaped[1], escaped[1])


def _cell_values(cell: str) -> Iterator[tuple[str, str | None]]:
    """Yield the values of a cell and their numbers; a feature without a value has none."""
    for part in _PART.findall(cell):
        if (match := _VALUE.fullmatch(part)) is None or match[1] in {"_", "*", ""}:
            continue
        yield _ESCAPED.sub(_sign, match[1]), match[2]
