"""SageMaker Ground Truth: a folder with one file per unit."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from setagree.errors import DataError, listing
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.json_nodes import Node, read_object, shown
from setagree.exports.reader_helpers import check_useless, choose_question
from setagree.wording.label_sets import Label

_RESPONSE = re.compile(r"(?P<job>.*?/)??(?:iteration-\d+/)?(?P<unit>\d+)/[^/]+\.json")


def read(path: Path, request: Request) -> Answers:
    """Return the answer of each worker; the unit is the position in the manifest, from 0."""
    check_useless(request, path, "roster")
    if not path.is_dir():
        raise DataError(
            f"{shown(path)} has consolidated answers, one per unit, without workers; pass the "
            "folder annotations/worker-response of the labeling job."
        )
    files = {
        file: match
        for file in sorted(path.rglob("*.json"))
        if (match := _RESPONSE.fullmatch(file.relative_to(path).as_posix()))
    }
    if len(jobs := list(dict.fromkeys(match["job"] or "" for match in files.values()))) > 1:
        raise DataError(
            f"{shown(path)} has the answers of {len(jobs)} jobs, in {listing(jobs)}; each numbers "
            "its units from 0: pass the folder of one job."
        )
    responses: list[tuple[int, Node]] = []
    for file, match in files.items():
        name = file.relative_to(path).as_posix()
        root = replace(read_object(file, request.encoding), file=name, key="")
        responses += [(int(match["unit"]), response) for response in root.at("answers").items()]
    contents = [response.at("answerContent") for _, response in responses]
    questions = [name for content in contents for name in content.members()]
    question = str(choose_question(request.question, questions, shown(path)))
    answers = Answers()
    for (unit, response), content in zip(responses, contents, strict=True):
        labels = _selected(content.at(question)) if content.get(question) is not None else None
        answers.add(unit, response.at("workerId").name(), labels, str(response))
    return answers


def _selected(content: Node) -> frozenset[Label]:
    """Return the labels of a multi-select question, or the label of a single-select question."""
    if "label" in content.members():
        return frozenset([content.at("label").label()])
    return content.at("labels").label_set()


def is_job(peek: Peek) -> bool:
    """Return whether a folder has answers of workers, by its path and those of its files."""
    folder = f"{peek.path.resolve().as_posix()}/"
    return any(
        _RESPONSE.fullmatch(name) and "worker-response/" in f"{folder}{name}" for name in peek.names
    )


def is_manifest(peek: Peek) -> bool:
    """Return whether a record is from an output manifest, whose answers are consolidated."""
    record = peek.record if isinstance(peek.record, dict) else {}
    return any(
        key.endswith("-metadata") and isinstance(value, dict) and "human-annotated" in value
        for key, value in record.items()
    )
