"""REFI-QDA projects (.qdpx) of ATLAS.ti, MAXQDA, NVivo and QualCoder.

The archive holds `project.qde`, XML with users, codes and sources. A code stands for a whole source
(`Coding` in the source) or for a passage (`Coding` in a `PlainTextSelection`).
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from setagree.errors import DataError, FileError
from setagree.exports.format import Answers, Request
from setagree.exports.gathering import check_useless
from setagree.exports.nodes import shown
from setagree.exports.unclear import Found, settle
from setagree.study.spans import Spans, as_spans
from setagree.wording.label_sets import LabelSet

PROJECT = "project.qde"
_MOST_BYTES = 2**29


def read(path: Path, request: Request) -> Answers:
    """Return the codes that each user gave to whole documents."""
    check_useless(request, path, "question")
    given: dict[tuple[str, str], set[str]] = {}
    passages = 0
    for source, coding, selection in _codings(path):
        passages += selection is not None
        if selection is None:
            given.setdefault((source, coding[0]), set()).add(coding[1])
    if not given:
        raise DataError(
            f"{shown(path)} has no codes of whole documents, and {passages:,} of passages; read "
            f"these with {as_spans()}."
        )
    units, raters = (list(names) for names in zip(*given, strict=True))
    labels: list[LabelSet | None] = [frozenset(codes) for codes in given.values()]
    places = [f"document {unit!r}" for unit in units]
    found = Found(path.name, units, raters, labels, places, np.zeros(len(units), dtype=bool))
    why = "A document to which a user gave no code is not in a project."
    return settle(found, request, why=why, writes_empty=False)


def read_spans(path: Path, _: Request, spans: Spans) -> None:
    """Add the coded passages of text documents."""
    spans.is_listed = False
    for source, (rater, code), selection in _codings(path):
        if selection is not None:
            ends = [int(selection.get(name, -1)) for name in _ENDS]
            place = f"document {source!r}, {ends[0]} to {ends[1]}"
            spans.done.setdefault((source, rater), spans.prefix + place)
            spans.add((source, rater), ends, code, place)
    spans.texts.update(_texts(path, {source for source, _ in spans.done}))


def _texts(path: Path, documents: set[Any]) -> Iterator[tuple[str, str]]:
    """Yield the text of documents, which is in the project or in a file of the archive."""
    sources: Any = _project(path).find("{*}Sources")
    with zipfile.ZipFile(path) as archive:
        for source in sources:
            name = source.get("name") or source.get("guid", "")
            text = source.findtext("{*}PlainTextContent")
            file = source.get("plainTextPath", "").replace("internal://", "sources/")
            if text is None and file in archive.namelist():
                text = archive.read(file).decode("utf-8-sig")
            if text is not None and name in documents:
                yield name, text


_ENDS = ("startPosition", "endPosition")


def _codings(path: Path) -> Iterator[tuple[str, tuple[str, str], ET.Element | None]]:
    """Yield document, (user, code) and passage of each coding; no passage for a whole document."""
    root = _project(path)
    users = {one.get("guid"): one.get("name") for one in root.iterfind(".//{*}User")}
    codes = {one.get("guid"): one.get("name") for one in root.iterfind(".//{*}Codes//{*}Code")}
    sources: Any = root.find("{*}Sources")
    for source in [] if sources is None else sources:
        name = source.get("name") or source.get("guid", "")
        for holder in (source, *source.iterfind("{*}PlainTextSelection")):
            for coding in holder.iterfind("{*}Coding"):
                user = coding.get("creatingUser") or holder.get("creatingUser")
                target = coding.find("{*}CodeRef")
                code = None if target is None else codes.get(target.get("targetGUID"))
                if user is None or code is None:
                    raise FileError(f"{shown(path)}, {name!r}: a coding without user or code.")
                selection = None if holder is source else holder
                yield name, (users.get(user) or user, code), selection


def _project(path: Path) -> ET.Element:
    """Return the root of the project; document types, which may hold entities, are refused."""
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(PROJECT).file_size > _MOST_BYTES:
                raise FileError(f"{shown(path)}: {PROJECT} has more than {_MOST_BYTES:,} bytes.")
            text = archive.read(PROJECT)
        if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
            raise FileError(f"{shown(path)}: {PROJECT} declares a document type.")
        return ET.fromstring(text)  # noqa: S314 - entities are refused above
    except (OSError, zipfile.BadZipFile, KeyError, ET.ParseError) as error:
        raise FileError(f"{shown(path)} is not a REFI-QDA project ({error}).") from error
