"""CVAT: a folder with the XML of each job, one job a rater."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from setagree.errors import DataError, FileError, SetagreeWarning, counted, warn
from setagree.exports.format import Answers, Request
from setagree.exports.unclear import Found, settle
from setagree.files.streams import Source, readable
from setagree.wording.label_sets import LabelSet


def read(path: Path, request: Request) -> Answers:
    """Read one or more jobs in the format "CVAT for images", whose tags are labels."""
    files = sorted(path.rglob("annotations.xml")) if path.is_dir() else [path]
    if not files:
        raise FileError(f"{str(path)!r} has no annotations.xml in it.")
    root = path if path.is_dir() else path.parent
    rows = (row for file in files for row in _job(file, file.relative_to(root).as_posix()))
    why = "CVAT exports an image without tags and one that nobody looked at alike."
    return settle(Found.of_rows(path.name, rows), request, why=why)


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
