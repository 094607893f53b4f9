"""CVAT: a folder with the XML of each job, one job a rater."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from setagree.errors import DataError, FileError, SetagreeWarning, counted, warn
from setagree.exports.format import Answers, Request
from setagree.exports.markup import parse_xml
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
    with readable(Source(file)), file.open("rb") as stream:
        root = parse_xml(stream, name)
    if root.find("track") is not None:
        raise DataError(
            f"{name} holds tracks through the frames of a video; agreement over frames needs "
            "matched objects, which setagree does not do. Label sets are tags on images: export "
            'the job as "CVAT for images".'
        )
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
