"""CVAT: a folder with the XML of each job, one job per rater."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from setagree.errors import DataError, FileError, SetagreeWarning, counted, warn
from setagree.exports.blank_answers import Found, settle
from setagree.exports.format import Answers, Request
from setagree.exports.json_nodes import shown
from setagree.exports.reader_helpers import parse_xml
from setagree.files.streams import Source, readable
from setagree.wording.label_sets import LabelSet


def read(path: Path, request: Request) -> Answers:
    """Return the tags of one or more jobs in the format "CVAT for images"."""
    files = sorted(path.rglob("annotations.xml")) if path.is_dir() else [path]
    if not files:
        raise FileError(f"{shown(path)} has no file annotations.xml.")
    root = path if path.is_dir() else path.parent
    rows = (row for file in files for row in _job(file, file.relative_to(root).as_posix()))
    why = "CVAT does not distinguish images without tags from unannotated ones."
    return settle(Found.from_rows(path.name, rows), request, why=why)


def _job(file: Path, name: str) -> Iterator[tuple[str, str, LabelSet, str]]:
    """Yield the images of a job with its assignee."""
    with readable(Source(file)), file.open("rb") as stream:
        root = parse_xml(stream, name)
    if root.find("track") is not None:
        raise DataError(
            f"{name} has tracks through the frames of a video, which setagree does not match. Label"
            ' sets are tags on images: export the job as "CVAT for images".'
        )
    rater = root.findtext("meta/job/assignee/username", "").strip()
    if not rater:
        raise DataError(
            f"{name} does not identify the rater: it has no <job> with an <assignee>. Assign each "
            "job to its rater and export the jobs one by one, not the task or the project."
        )
    images = root.findall("image")
    if n := len(root.findall("image/tag[@source='auto']")):
        warn(f"{name}: {counted(n, 'tag')} set by a model, not by {rater!r}.", SetagreeWarning)
    if not root.findall("image/tag") and root.findall("image/*"):
        raise DataError(f"{name} has shapes and no tags; label sets are tags on whole images.")
    for k, image in enumerate(images):
        place = f"{name}, image[{k}]"
        labels = frozenset(_attribute(tag, "label", place) for tag in image.findall("tag"))
        yield _attribute(image, "name", place), rater, labels, place


def _attribute(element: ET.Element, attribute: str, place: str) -> str:
    value = element.get(attribute)
    if not value:
        raise FileError(f"{place}: <{element.tag}> has no {attribute!r}.")
    return value
