"""Readers of folders, and of the files in them: CVAT and brat."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from setagree.errors import DataError, FileError, SetagreeWarning, counted, shorten, warn
from setagree.exports.format import Answers, Format, Peek, Request
from setagree.exports.sheets import pick_question
from setagree.exports.unclear import Found, settle
from setagree.files.streams import Source, readable
from setagree.wording.label_sets import LabelSet


def _collect(name: str, rows: Iterator[tuple[str, str, LabelSet, str]]) -> Found:
    """Return what stands in a folder; an answer without labels is open."""
    found = Found(name, [], [], [], [], np.zeros(0, dtype=bool))
    for unit, rater, labels, place in rows:
        found.units.append(unit)
        found.raters.append(rater)
        found.labels.append(labels or None)
        found.places.append(place)
    unclear = np.array([labels is None for labels in found.labels], dtype=bool)
    return Found(name, found.units, found.raters, found.labels, found.places, unclear)


# ---- CVAT ---------------------------------------------------------------------------------------


def _is_cvat(peek: Peek) -> bool:
    if peek.is_folder:
        return any(Path(name).name == "annotations.xml" for name in peek.names)
    return "<annotations>" in peek.head and "<meta>" in peek.head


def _read_cvat(path: Path, request: Request) -> Answers:
    """Read one or more jobs in the format "CVAT for images", whose tags are labels."""
    files = sorted(path.rglob("annotations.xml")) if path.is_dir() else [path]
    if not files:
        raise FileError(f"{str(path)!r} has no annotations.xml in it.")
    rows = (row for file in files for row in _job(file, _relative(file, path)))
    why = "CVAT exports an image without tags and one that nobody looked at alike."
    return settle(_collect(path.name, rows), request, why=why)


def _relative(file: Path, root: Path) -> str:
    return file.relative_to(root).as_posix() if file != root else file.name


def _job(file: Path, name: str) -> Iterator[tuple[str, str, LabelSet, str]]:
    """Yield the images of a job with its assignee."""
    root = _parse_xml(file, name)
    rater = _assignee(root, name)
    images = root.findall("image")
    if n := len(root.findall("image/tag[@source='auto']")):
        warn(f"{name}: {counted(n, 'tag')} set by a model, not by {rater!r}.", SetagreeWarning)
    if not root.findall("image/tag") and root.findall("image/*"):
        raise DataError(f"{name} has shapes and no tags; label sets are tags on whole images.")
    for place, image in enumerate(images):
        where = f"{name}, image[{place}]"
        unit = _attribute(image, "name", where)
        labels = frozenset(_attribute(tag, "label", where) for tag in image.findall("tag"))
        yield unit, rater, labels, where


def _attribute(element: ET.Element, attribute: str, where: str) -> str:
    found = element.get(attribute)
    if not found:
        raise FileError(f"{where}: <{element.tag}> has no {attribute!r}.")
    return found


def _assignee(root: ET.Element, name: str) -> str:
    found = root.find("meta/job/assignee/username")
    if found is None or not (found.text or "").strip():
        raise DataError(
            f"{name} does not say who annotated: it has no <job> with an <assignee>. Assign each "
            "job to its rater and export the jobs one by one, not the task or the project."
        )
    return str(found.text).strip()


class _Tree(ET.TreeBuilder):
    """A tree without declarations of entities, which could grow without bound."""

    def doctype(self, *_declared: object) -> None:
        raise FileError("it has a DOCTYPE, which no export has.")


def _parse_xml(file: Path, name: str) -> ET.Element:
    parser = ET.XMLParser(target=_Tree())  # noqa: S314 - a DOCTYPE is refused
    try:
        with readable(Source(file)), file.open("rb") as stream:
            return ET.parse(stream, parser).getroot()  # noqa: S314
    except ET.ParseError as error:
        line, column = error.position
        raise FileError(f"{name}, line {line}, column {column}: no whole XML ({error}).") from error
    except FileError as error:
        raise FileError(f"{name}: {error}") from error


# ---- brat ---------------------------------------------------------------------------------------


def _is_brat(peek: Peek) -> bool:
    return peek.is_folder and any(name.endswith(".ann") for name in peek.names)


def _read_brat(path: Path, request: Request) -> Answers:
    """Read one folder a rater, with attributes on one span a document."""
    files = sorted(path.rglob("*.ann"))
    if not files:
        raise FileError(f"{str(path)!r} has no .ann files in it.")
    if any(file.parent == path for file in files):
        raise DataError(
            f"{str(path)!r} holds .ann files itself, so that nothing says who wrote them; name the "
            "folder that has one folder for each rater."
        )
    attributes = {file: _attributes(file, _relative(file, path), request) for file in files}
    question = _brat_question(attributes, request, path.name)
    rows = (
        (*_unit_and_rater(file, path), _labels(found, question), _relative(file, path))
        for file, found in attributes.items()
    )
    why = "brat makes a file without attributes for every document, looked at or not."
    return settle(_collect(path.name, rows), request, why=why)


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
        raise FileError(f"{where}: {shorten(line)} is no attribute, as 'A1<tab>joy T1' is.")
    return parts[0], parts[1], parts[2].strip() if len(parts) == 3 else None


def _lines(file: Path, name: str, request: Request) -> list[str]:
    try:
        with readable(Source(file)):
            text = file.read_text(encoding=request.encoding)
        return text.removeprefix("\ufeff").split("\n")
    except UnicodeDecodeError as error:
        raise FileError(f"{name} is not {request.encoding}: {error}; say encoding=.") from error


def _brat_question(
    attributes: Mapping[Path, list[tuple[str, str | None]]], request: Request, name: str
) -> str | None:
    """Return the attribute whose values are the labels; None where the names are the labels."""
    pairs = {pair for found in attributes.values() for pair in found}
    valued = sorted({kind for kind, value in pairs if value is not None})
    plain = sorted({kind for kind, value in pairs if value is None})
    if request.question is None and valued and plain:
        raise DataError(
            f"{name} has attributes with a value ({', '.join(valued)}) and without "
            f"({', '.join(plain)}); say question= to read the values of one."
        )
    if not valued and request.question is None:
        return None
    return pick_question(request.question, valued, name)


def _labels(found: list[tuple[str, str | None]], question: str | None) -> LabelSet:
    if question is None:
        return frozenset(kind for kind, _ in found)
    return frozenset(value for kind, value in found if kind == question and value is not None)


FORMATS: tuple[Format, ...] = (
    Format(
        "cvat",
        "CVAT, one job a rater",
        "documented",
        _is_cvat,
        _read_cvat,
        "An image without tags needs blank= or roster=.",
    ),
    Format(
        "brat",
        "brat, one folder a rater",
        "documented",
        _is_brat,
        _read_brat,
        "A document without attributes needs blank= or roster=.",
    ),
)
