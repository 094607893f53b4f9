"""Logs of judges of language models: Inspect, promptfoo, DeepEval, Langfuse and MLflow.

A sample is a unit; scorers, metrics and people are raters, which are marked as models if the log
states it. An answer is one label, the value of the score; true and false are pass and fail, or the
pair of texts among the other values, such as yes and no.
"""

from __future__ import annotations

import json
import os
import struct
import zipfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from setagree.errors import listing, needing
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.json_nodes import Node, read_object, read_records, shown
from setagree.exports.reader_helpers import check_useless, choose_question
from setagree.exports.table_exports import FALSE, TRUE, records_or_rows
from setagree.study.labels import printed_items
from setagree.wording.label_sets import Label

Score: TypeAlias = tuple[str, str, str, Node, bool]
"""Question (blank if there is one), unit, rater, the value, and whether the rater is a model."""

_ZSTD = 93
"""Compression method of the members of an archive."""

_WORDS = [
    (style(no), style(yes))
    for no, yes in (("fail", "pass"), ("no", "yes"), ("false", "true"))
    for style in (str.lower, str.capitalize, str.upper)
]
"""Texts for false and true."""


def read(path: Path, request: Request, tool: str) -> Answers:
    """Return the scores of units in the log of a tool, by scorer, metric or person."""
    if tool in {"inspect", "promptfoo", "deepeval"}:
        check_useless(request, path, "question", "roster")
    scores = list(_SCORES[tool](path, request))
    # the labels of false and true
    usual = ("False", "True") if tool == "langfuse" else ("fail", "pass")
    question = choose_question(request.question, (score[0] for score in scores), shown(path))
    selected = [score for score in scores if score[0] == question]
    words = _words([value for _, _, _, value, _ in selected], usual)
    answers = Answers()
    for _, unit, rater, value, is_model in selected:
        answers.add(unit, rater, _labels(value, words), value.place)
        answers.models.update([rater] * is_model)
    return answers


# ---- Inspect ------------------------------------------------------------------------------------


def _packed_samples(path: Path) -> Iterator[Node]:
    """Yield the samples of a binary log, which is an archive with one JSON file per sample."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.filename.startswith("samples/"):
                sample = json.loads(_content(archive, member, path))
                yield Node(sample, shown(path), member.filename)


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> bytes:
    """Return a member of an archive; `zipfile` does not support those compressed with zstd."""
    if member.compress_type != _ZSTD:
        return archive.read(member)
    with needing("pyarrow", f"{shown(path)}, compressed with zstd,"):
        import pyarrow as pa
    # The local header has 30 bytes; the last four are the lengths of the name and of a field
    # before the content.
    file = cast("BinaryIO", archive.fp)
    file.seek(member.header_offset + 26)
    file.seek(sum(struct.unpack("<2H", file.read(4))), os.SEEK_CUR)
    packed = pa.py_buffer(file.read(member.compress_size))
    return bytes(pa.CompressedInputStream(packed, "zstd").read())


def _of_inspect(path: Path, request: Request) -> Iterator[Score]:
    """Yield the scores of the samples of a log, in JSON or binary (.eval)."""
    if zipfile.is_zipfile(path):
        samples = _packed_samples(path)
    else:
        samples = read_object(path, request.encoding).at("samples").items()
    for sample in samples:
        epoch = sample.get("epoch")
        unit = str(sample.at("id").name())
        unit += "" if epoch is None or epoch.value == 1 else f" (epoch {epoch.value})"
        for score in sample.values_of("scores"):
            yield "", unit, str(score.key), score.at("value"), not _is_human(str(score.key))


# ---- Other tools --------------------------------------------------------------------------------


def _of_promptfoo(path: Path, request: Request) -> Iterator[Score]:
    """Yield pass or fail of each assertion of a result."""
    for row in read_object(path, request.encoding).at("results").at("results").items():
        unit = f"test {row.at('testIdx').name()}, prompt {row.at('promptIdx').name()}"
        grading = row.get("gradingResult")
        for part in () if grading is None else grading.each("componentResults"):
            assertion = part.get("assertion") or part  # a person's verdict has none
            kind, metric = (assertion.get(key) for key in ("type", "metric"))
            name = metric or kind
            rater = "human" if name is None else str(name.name())
            is_human = kind is None or _is_human(str(kind.value))
            yield "", unit, rater, part.at("pass"), not is_human


def _of_deepeval(path: Path, request: Request) -> Iterator[Score]:
    """Yield success or failure of each metric of a test run."""
    run = read_object(path, request.encoding)
    for case in (run.get("testRunData") or run).at("testCases").items():
        unit = str(case.at("name").name())
        for metric in case.each("metricsData"):
            model = metric.get("evaluationModel")
            name = str(metric.at("name").name())
            rater = name if model is None else f"{name} / {model.name()}"
            yield "", unit, rater, metric.at("success"), not _is_human(name)


def _of_langfuse(path: Path, request: Request) -> Iterator[Score]:
    """Yield the exported scores of annotators, evaluators and the API."""
    records = read_records(path, request.encoding, name="scores")
    pages = [[*record.each("data")] if record.get("data") else [record] for record in records]
    for score in chain(*pages):
        subject = score.get("subject")
        ids = ["traceId", "observationId"] if subject is None else ["id"]
        parts = [(subject or score).get(key) for key in ids]
        unit = " / ".join(str(part.name()) for part in parts if part is not None)
        source, author = score.at("source").text(), score.get("authorUserId")
        rater = source if author is None else str(author.name())
        text = score.get("stringValue")
        value = score.at("value") if text is None else text
        kind, word = score.get("dataType"), str(value.value).casefold()
        if kind is not None and kind.value == "BOOLEAN" and word in TRUE | FALSE:
            value = Node(word in TRUE, value.file, value.key, score)
        yield str(score.at("name").name()), unit, rater, value, source == "EVAL"


def _of_mlflow(path: Path, request: Request) -> Iterator[Score]:
    """Yield the feedback in exported traces."""
    for record in records_or_rows(path, request, name="traces"):
        trace = record.get("info") or record
        unit = str(trace.at("trace_id").name())
        if isinstance(text := trace.members().get("assessments"), str):  # a cell of a table
            items = printed_items(text.strip() or "[]")
            if items is None:
                raise trace.at("assessments").fail(
                    "not a list of assessments; export JSON instead."
                )
            trace = Node({"assessments": items}, record.file, record.place)
        for assessment in trace.each("assessments"):
            is_replaced = assessment.members().get("valid") is False
            if (feedback := assessment.get("feedback")) is None or is_replaced:
                continue  # an expectation is not an answer of a rater
            source = assessment.at("source")
            name, kind = (source.get(key) for key in ("source_id", "source_type"))
            rater = str((name or kind or source).name())
            is_model = kind is not None and kind.value in {"LLM_JUDGE", "AI_JUDGE", "CODE"}
            question = (assessment.get("assessment_name") or assessment.at("name")).name()
            yield str(question), unit, rater, feedback.at("value"), is_model


_SCORES = {
    "inspect": _of_inspect,
    "promptfoo": _of_promptfoo,
    "deepeval": _of_deepeval,
    "langfuse": _of_langfuse,
    "mlflow": _of_mlflow,
}


def is_langfuse(peek: Peek) -> bool:
    """Return whether a record is a score of Langfuse."""
    record = peek.record if isinstance(peek.record, dict) else {}
    page = record.get("data", [record])
    first = page[0] if isinstance(page, list) and page and isinstance(page[0], dict) else {}
    has_unit = not {"traceId", "subject"}.isdisjoint(first)
    return has_unit and first.get("source") in {"ANNOTATION", "API", "EVAL"}


def is_mlflow(peek: Peek) -> bool:
    """Return whether a record is a trace of MLflow with assessments."""
    record = peek.record if isinstance(peek.record, dict) else {}
    info = record.get("info", record)
    return isinstance(info, dict) and {"trace_id", "assessments"} <= {*info}


def _is_human(name: str) -> bool:
    return "human" in name.casefold()


def _words(values: list[Node], usual: tuple[str, str]) -> tuple[str, str]:
    """Return the labels of false and true: a pair of texts among the values, or the usual one."""
    others = [value for value in values if not isinstance(value.value, bool)]
    texts = frozenset().union(*(_labels(value, usual) or () for value in others))
    words = next((words for words in (usual, *_WORDS) if texts <= {*words}), None)
    if words is None and len(others) < len(values):
        flag = next(value for value in values if isinstance(value.value, bool))
        raise flag.fail(
            f"true or false, while other answers are {listing(sorted(texts, key=str))}; write the "
            "answers to one question in one spelling."
        )
    return words or usual


def _labels(value: Node, words: tuple[str, str]) -> frozenset[Label] | None:
    """Return the value of a score as a label, or None if it is null or NaN."""
    if isinstance(value.value, bool):
        return frozenset([words[value.value]])
    if not isinstance(value.value, str):
        return value.number_set()
    return frozenset([str(value.label()).strip()])
