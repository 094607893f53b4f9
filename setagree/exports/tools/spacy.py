"""spaCy: JSONL with categories of texts, and folders with the spans of each rater."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from setagree.errors import DataError, FileError, MissingDependencyError, listing
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.json_nodes import Node, first_object, read_records, shown
from setagree.exports.reader_helpers import check_useless
from setagree.study.columns import guess_columns
from setagree.study.spans import Span, Spans
from setagree.wording.label_sets import Label


def read(path: Path, request: Request) -> Answers:
    """Return the categories that are 1, with the unit and the rater from ``meta``."""
    check_useless(request, path, "question", "roster")
    lines = read_records(path, request.encoding, name="examples")
    names = dict.fromkeys(label for line in lines for label in line.at("cats").members())
    unit, rater = _meta_keys(lines[0])
    answers = Answers()
    for line in lines:
        meta, labels = line.at("meta"), _labels(line.at("cats"), names)
        answers.add(meta.at(unit).name(), meta.at(rater).name(), labels, line.place)
    return answers


def _meta_keys(line: Node) -> tuple[str, str]:
    """Return the keys of the unit and the rater in ``meta``, by their usual names."""
    keys = list(line.at("meta").members()) if "meta" in line.members() else []
    try:
        columns = guess_columns([*keys, ""], labels="")
    except DataError:
        has = f"'meta' has {listing(keys)}" if keys else "there is no 'meta'"
        raise DataError(
            f"{line}: unit and rater must be in 'meta', because spaCy's categories do not have "
            f"them, and {has}; add meta = {{'unit': ..., 'rater': ...}} to each record."
        ) from None
    return columns.unit, columns.rater


def _labels(cats: Node, names: Iterable[str]) -> frozenset[Label]:
    """Return the categories that are 1; all `names` must be present, and be 0 or 1."""
    flags = cats.members()
    for label in names:
        if label not in flags:
            raise cats.fail(f"no {label!r}, so that it is unknown, not 0; write 0.0 or 1.0.")
        if flags[label] not in (0, 1):
            raise cats.at(label).fail(
                f"{flags[label]!r} is neither 0 nor 1; convert scores to answers first."
            )
    return frozenset(label for label, flag in flags.items() if flag)


# ---- spans ---------------------------------------------------------------------------------------


def read_docs(path: Path, _: Request) -> Answers:
    """Raise DataError, because documents of spaCy are only read as spans."""
    raise DataError(f"{shown(path)} has spans and no label sets.")


def holds(peek: Peek) -> bool:
    """Return whether the files of a folder have spans in the JSON of spaCy."""
    first = next((name for name in peek.names if name.endswith(".jsonl")), None)
    record = {} if first is None else first_object(peek.beginning(first)) or {}
    return {"text", "ents"} <= record.keys() and "_input_hash" not in record


def read_spans(path: Path, request: Request, spans: Spans) -> None:
    """Add ``ents`` or one key of ``spans`` of the documents of one file per rater.

    Documents have no names: equal texts are one document, numbered in the order of the files.
    """
    number = {text: name for name, text in spans.texts.items()}
    files = sorted([*path.glob("*.spacy"), *path.glob("*.jsonl")]) if path.is_dir() else [path]
    for file in files:
        is_json = file.suffix == ".jsonl"
        for k, doc in enumerate(read_records(file, request.encoding) if is_json else _docs(file)):
            text, place = doc.at("text").text(), f"{shown(file)}, document {k + 1:,}"
            document = number.setdefault(text, len(number) + 1)
            pair = spans.add_done(document, file.stem, place, text)
            spans.tokens[document] = [token.ends() for token in doc.each("tokens")]
            for layer in (doc.at("ents"), *doc.values_of("spans")):
                for span in layer.items():
                    label, name = span.at("label").label(), str(layer.key)
                    spans.rows.append(Span(*pair, *span.ends(), label, place, layer=name))
    spans.why = "spaCy does not distinguish documents without spans from unannotated ones."


def _docs(file: Path) -> list[Node]:
    """Return the documents of a .spacy file, which spaCy reads and converts to JSON."""
    try:
        from spacy.tokens import DocBin
        from spacy.vocab import Vocab
    except ImportError as error:
        raise MissingDependencyError(
            "reading files of spaCy requires spaCy: pip install spacy. Or write a table with one "
            "row per span."
        ) from error
    try:
        docs = DocBin().from_disk(file).get_docs(Vocab())
        return [Node({"ents": [], **doc.to_json()}, shown(file)) for doc in docs]
    except Exception as error:  # errors of zlib, msgpack and spaCy
        raise FileError(f"{shown(file)} is not a DocBin file ({error}).") from error
