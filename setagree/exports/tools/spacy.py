"""spaCy: JSONL with the categories of texts, and folders with the spans of each rater."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from setagree.errors import DataError, FileError, MissingDependencyError, listing
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.gathering import check_useless
from setagree.exports.nodes import Node, first_object, read_records, shown
from setagree.study.columns import guess_columns
from setagree.study.spans import Spans, as_spans
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


# ---- spans ---------------------------------------------------------------------------------------


def read_docs(path: Path, _: Request) -> Answers:
    """Raise DataError: documents of spaCy are read as spans alone."""
    raise DataError(f"{shown(path)} has spans; read them with {as_spans()}.")


def holds(peek: Peek) -> bool:
    """Return whether the files of a folder have spans in the JSON of spaCy."""
    names = [name for name in peek.names if name.endswith(".jsonl")]
    if not names:
        return False
    with (peek.path / names[0]).open(encoding="utf-8-sig", errors="replace") as file:
        found = first_object(file.read(2**16)) or {}
    return {"text", "ents"} <= found.keys() and "_input_hash" not in found


def read_spans(path: Path, request: Request, spans: Spans) -> None:
    """Add ``ents`` or one key of ``spans`` of the documents of one file per rater.

    Documents have no names: equal texts are one document, numbered in the order of the files.
    """
    if not path.is_dir() and not request.is_one_of_several:
        raise DataError(
            f"{shown(path)} does not tell who annotated; name a folder with a .spacy or .jsonl "
            "file of each rater."
        )
    number = {text: name for name, text in spans.texts.items()}
    files = sorted([*path.glob("*.spacy"), *path.glob("*.jsonl")]) if path.is_dir() else [path]
    for file in files:
        is_json = file.suffix == ".jsonl"
        for k, doc in enumerate(read_records(file, request.encoding) if is_json else _docs(file)):
            text, place = doc.at("text").text(), f"{file.name}, document {k + 1:,}"
            document = number.setdefault(text, len(number) + 1)
            pair = spans.add_done(document, file.stem, place, text)
            if (tokens := doc.get("tokens")) is not None:
                spans.tokens[document] = [one.ends() for one in tokens.items()]
            groups = doc.get("spans")
            layers = [doc.at("ents"), *([] if groups is None else groups.values())]
            for layer in layers:
                for one in layer.items():
                    label = one.at("label").label()
                    spans.add(pair, one.ends(), label, place, layer=str(layer.key))
    spans.why = "A document of spaCy does not tell whether somebody looked for spans."


def _docs(file: Path) -> list[Node]:
    """Return the documents of a .spacy file in the JSON of spaCy, which itself reads them."""
    try:
        from spacy.tokens import DocBin
        from spacy.vocab import Vocab
    except ImportError as error:
        raise MissingDependencyError(
            "files of spaCy are read by spaCy; install it with pip install spacy, or write a table "
            "with one row per span."
        ) from error
    try:
        docs = DocBin().from_disk(file).get_docs(Vocab())
        return [Node({"ents": [], **doc.to_json()}, shown(file)) for doc in docs]
    except Exception as error:  # of zlib, msgpack and spaCy
        raise FileError(f"{shown(file)} is not a file of DocBin ({error}).") from error
