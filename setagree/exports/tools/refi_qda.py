"""REFI-QDA projects (.qdpx) of ATLAS.ti, MAXQDA, NVivo and QualCoder.

The archive has `project.qde`, XML with users, codes and sources. A code applies to a whole source
(`Coding` in the source) or to a passage (`Coding` in a `PlainTextSelection`).
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

from setagree.errors import DataError, FileError
from setagree.exports.blank_answers import Found, settle
from setagree.exports.format import Answers, Request
from setagree.exports.json_nodes import shown
from setagree.exports.reader_helpers import check_useless, offsets, parse_xml
from setagree.study.spans import Span, Spans

_PROJECT = "project.qde"
_MAX_BYTES = 2**29


def read(path: Path, request: Request) -> Answers:
    """Return the codes of whole documents by each user."""
    check_useless(request, path, "question")
    codes: dict[tuple[str, str], set[str]] = {}
    codings = [*_codings(path)]
    for document, rater, code, selection in codings:
        if selection is None:
            codes.setdefault((document, rater), set()).add(code)
    if not codes:
        raise DataError(
            f"{shown(path)} has no codes of whole documents, and {len(codings):,} of passages."
        )
    rows = [(*key, frozenset(labels), f"document {key[0]!r}") for key, labels in codes.items()]
    why = "A project does not list users without a code in a document."
    return settle(Found.from_rows(path.name, rows), request, why=why, writes_empty=False)


def read_spans(path: Path, _: Request, spans: Spans) -> None:
    """Add the coded passages of text documents."""
    spans.why = None
    for document, rater, code, selection in _codings(path):
        if selection is not None:
            start, end = (selection.get(f"{name}Position", "") for name in ("start", "end"))
            place = f"{shown(path)}, document {document!r}, {start} to {end}"
            spans.done.setdefault((document, rater), place)
            ends = offsets(start, end, place)
            spans.rows.append(Span(document, rater, *ends, code, place))
    documents = {document for document, _ in spans.done}
    with zipfile.ZipFile(path) as archive:
        for source in _project(path).iterfind("{*}Sources/*"):
            text = source.findtext("{*}PlainTextContent")
            file = source.get("plainTextPath", "").replace("internal://", "sources/")
            if text is None and file in archive.namelist():
                text = archive.read(file).decode("utf-8-sig")
            if text is not None and (name := _name(source)) in documents:
                spans.add_of("text", name, text, shown(path))


def _name(source: ET.Element) -> str:
    return source.get("name", "") or source.get("guid", "")


def _codings(path: Path) -> Iterator[tuple[str, str, str, ET.Element | None]]:
    """Yield document, user, code and passage of each coding; None for a whole document."""
    root = _project(path)
    users = {user.get("guid"): user.get("name") for user in root.iterfind(".//{*}User")}
    codes = _code_names(root)
    guids: dict[tuple[str, str], str | None] = {}
    for source in root.iterfind("{*}Sources/*"):
        name = _name(source)
        for holder in (source, *source.iterfind("{*}PlainTextSelection")):
            for coding in holder.iterfind("{*}Coding"):
                user = coding.get("creatingUser") or holder.get("creatingUser")
                targets = coding.iterfind("{*}CodeRef")
                code_id = next((target.get("targetGUID") for target in targets), None)
                code = codes.get(code_id)
                if user is None or code is None:
                    raise FileError(f"{shown(path)}, {name!r}: a coding without user or code.")
                rater = users.get(user) or user
                named = ("document", name, source.get("guid")), ("user", rater, user)
                for key in (*named, ("code", code, code_id)):
                    if guids.setdefault(key[:2], key[2]) != key[2]:
                        raise FileError(
                            f"{shown(path)} has two {key[0]}s called {key[1]!r}; rename one."
                        )
                yield name, rater, code, None if holder is source else holder


def _code_names(root: ET.Element) -> dict[str | None, str]:
    """Return the name of each code by its identifier, with those above it if two have this name."""
    paths: dict[str | None, tuple[str, ...]] = {}
    for parent in root.iterfind("{*}CodeBook//*"):
        for code in parent.iterfind("{*}Code"):
            above = paths.get(parent.get("guid"), ())
            paths[code.get("guid")] = (*above, code.get("name", ""))
    times = Counter(path[-1] for path in paths.values())
    return {
        guid: path[-1] if times[path[-1]] == 1 else " > ".join(path) for guid, path in paths.items()
    }


def _project(path: Path) -> ET.Element:
    """Return the root of the project."""
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(_PROJECT).file_size > _MAX_BYTES:
                raise FileError(f"{shown(path)}: {_PROJECT} has more than {_MAX_BYTES:,} bytes.")
            with archive.open(_PROJECT) as stream:
                return parse_xml(stream, f"{shown(path)}, {_PROJECT}")
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise FileError(f"{shown(path)} is not a REFI-QDA project ({error}).") from error
