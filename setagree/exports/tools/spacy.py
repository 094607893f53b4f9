"""spaCy: JSONL with the categories of texts, and a folder with the DocBin of each rater."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from setagree.errors import DataError, FileError, MissingDependencyError, listing
from setagree.exports.format import Answers, Request
from setagree.exports.gathering import check_useless, choose_question
from setagree.exports.nodes import Node, read_records, shown
from setagree.exports.unclear import settle_spans
from setagree.study.columns import guess_columns
from setagree.study.spans import Span, Spans, as_spans
from setagree.wording.label_sets import Label


def read(path: Path, request: Request) -> Answers:
    """Return the categories that are 1; unit and annotator are what ``meta`` says they are."""
    check_useless(request, path, "question", "roster")
    lines = read_records(path, request.encoding, name="examples")
    known = dict.fromkeys(label for line in lines for label in line.at("cats").members())
    unit, rater = _meta_keys(lines[0])
    answers = Answers()
    for line in lines:
        meta = line.at("meta")
        answers.add(meta.at(unit).name(), meta.at(rater).name(), _given(line, known), line.place)
    return answers


def _meta_keys(line: Node) -> tuple[str, str]:
    """Return the keys of the unit and the rater in ``meta``, by their usual names."""
    keys = list(line.at("meta").members()) if "meta" in line.members() else []
    try:
        found = guess_columns([*keys, ""], labels="")
    except DataError:
        has = f"'meta' has {listing(keys)}" if keys else "there is no 'meta'"
        raise DataError(
            f"{line}: spaCy's categories do not tell unit and annotator, and {has}; give each "
            "record meta = {'unit': ..., 'rater': ...}."
        ) from None
    return found.unit, found.rater


def _given(line: Node, known: Iterable[str]) -> frozenset[Label]:
    cats = line.at("cats")
    for label in known:
        if label not in cats.members():
            raise cats.fail(f"no {label!r}, which is unknown then, not 0; write 0.0 or 1.0.")
        if cats.members()[label] not in (0, 1):
            raise cats.at(label).fail(
                f"{cats.members()[label]!r} is neither 0 nor 1; a score is not yet an answer."
            )
    return frozenset(label for label, flag in cats.members().items() if flag)


# ---- DocBin --------------------------------------------------------------------------------------


def read_docs(path: Path, _: Request) -> Answers:
    """Raise DataError: documents of spaCy are read as spans alone."""
    raise DataError(f"{shown(path)} has spans; read them with {as_spans()}.")


def read_spans(path: Path, request: Request) -> Spans:
    """Return ``doc.ents`` or one key of ``doc.spans`` of a folder with one file per rater.

    Documents have no names: equal texts are one document, numbered in the order of the files.
    """
    if not path.is_dir():
        raise DataError(
            f"{shown(path)} does not tell who annotated; name a folder with a .spacy file of each "
            "rater."
        )
    spans, number, found = Spans(), dict[str, int](), []
    for file in sorted(path.glob("*.spacy")):
        for k, doc in enumerate(_docs(file), start=1):
            document = number.setdefault(doc.text, len(number) + 1)
            place = f"{file.name}, document {k:,}"
            spans.add_done(document, file.stem, place, doc.text)
            spans.tokens[document] = [(one.idx, one.idx + len(one)) for one in doc]
            for layer, group in [("ents", doc.ents), *doc.spans.items()]:
                ends = ((one.start_char, one.end_char, one.label_) for one in group)
                found += [(layer, Span(document, file.stem, *one, place)) for one in ends]
    chosen = choose_question(request.question, [each[0] for each in found], path.name, name="spans")
    spans.rows = [one for layer, one in found if layer == chosen]
    why = "A document of spaCy does not tell whether somebody looked for spans."
    return settle_spans(spans, request, path.name, why)


def _docs(file: Path) -> list[Any]:
    """Return the documents of a file; spaCy itself reads them."""
    try:
        from spacy.tokens import DocBin
        from spacy.vocab import Vocab
    except ImportError as error:
        raise MissingDependencyError(
            "files of spaCy are read by spaCy; install it with pip install spacy, or write a table "
            "with one row per span."
        ) from error
    try:
        return [*DocBin().from_disk(file).get_docs(Vocab())]
    except Exception as error:  # of zlib, msgpack and spaCy
        raise FileError(f"{shown(file)} is not a file of DocBin ({error}).") from error
