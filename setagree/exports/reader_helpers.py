"""Helpers of readers: choice of a question, names of models, blank answers, offsets, XML."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import IO, Literal

from setagree.errors import (
    DataError,
    FileError,
    OptionError,
    SeveralQuestionsError,
    did_you_mean,
    listing,
    option,
    python_or_command,
)
from setagree.exports.format import Request
from setagree.exports.json_nodes import Node, shown
from setagree.wording.label_sets import Label


def choose_question(
    question: str | None, questions: Iterable[str], file: str, name: str = "question"
) -> str | None:
    """Return the requested question, or the only one, or None if there is none.

    `file` and the option `name` are for messages.
    """
    names = list(dict.fromkeys(questions))
    if question is not None and question not in names:
        none = "has no layers" if name == "spans" else "has none with answers"
        has = f"has {listing(names, limit=12)}" if names else none
        hint = did_you_mean(question, names)
        raise OptionError(f"{option(name, question)} is not in {file}; it {has}.{hint}")
    if question is None and len(names) > 1:
        what = "spans in {} layers" if name == "spans" else "answers to {} questions"
        every = "by_question(files, 'all')", "--questions all of 'score' or 'report'"
        more = "" if name == "spans" else f", or score each with {python_or_command(*every)}"
        raise SeveralQuestionsError(
            f"{file} has {what.format(len(names))}, {listing(names, limit=12)}; choose one with "
            f"{option(name, names[0])}{more}."
        ).having(names=names)
    return question if question is not None else next(iter(names), None)


def check_useless(request: Request, path: Path, *options: Literal["question", "roster"]) -> None:
    """Raise `OptionError` if an option is passed that does not apply to the format."""
    reasons = {"question": "has only one question", "roster": "lists the raters of each unit"}
    for name in options:
        if getattr(request, name) is not None:
            raise OptionError(f"{shown(path)} {reasons[name]}; omit {option(name)}.")


def model_name(model: Node | None) -> Hashable:
    """Return the name of a model, which is "model" if the export does not name it."""
    return "model" if model is None or model.value == "" else model.name()


def blank_answer(request: Request, node: Node, reason: str) -> frozenset[Label] | None:
    """Return a blank answer as ``blank=`` defines it: the empty set, or None (no annotation)."""
    if request.blank == "empty":
        return frozenset()
    if request.blank == "missing":
        return None
    raise DataError(
        f"{node}: {reason}; use {option('blank', 'empty')} or {option('blank', 'missing')}."
    )


def unanswered(
    request: Request, node: Node, question: str | None, *, several: bool
) -> frozenset[Label] | None:
    """Return the answer to a question without one: as ``blank=``, by default the empty set.

    With `several` questions there is no default, because this one may not have been shown.
    """
    if not several and request.blank is None:
        return frozenset()
    reason = f"no answer to {question!r}, which was left empty or not shown"
    return blank_answer(request, node, reason)


class _Tree(ET.TreeBuilder):
    """A tree builder that refuses document types, whose entities could expand without bound."""

    def doctype(self, *_declaration: object) -> None:
        raise FileError("it declares a document type (DOCTYPE), which exports do not have.")


def offsets(start: str, end: str, place: str) -> tuple[int, int]:
    """Return the offsets of an annotation as integers; raise FileError if they are not."""
    try:
        return int(start), int(end)
    except ValueError:
        raise FileError(f"{place}: offsets must be integers, not {start!r} and {end!r}.") from None


def parse_xml(stream: IO[bytes], name: str) -> ET.Element:
    """Return the root of XML; `name` is the file in messages."""
    parser = ET.XMLParser(target=_Tree())  # noqa: S314 - document types are refused
    try:
        return ET.parse(stream, parser).getroot()  # noqa: S314
    except ET.ParseError as error:
        line, column = error.position
        place = f"{name}, line {line}, column {column}"
        raise FileError(f"{place}: the XML is not well-formed ({error}).") from error
    except FileError as error:
        raise FileError(f"{name}: {error}") from error
    except (LookupError, ValueError) as error:  # an unknown encoding
        raise FileError(f"{name} is not well-formed XML: {error}.") from error
