"""SageMaker Ground Truth: a folder with a file for each unit."""

from __future__ import annotations

import re
from pathlib import Path

from setagree.errors import DataError, listing
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.gathering import check_useless, choose_question
from setagree.exports.nodes import Node, read_object, shown
from setagree.wording.label_sets import Label

_RESPONSE = re.compile(r"(?P<job>.*?/)??(?:iteration-\d+/)?(?P<unit>\d+)/[^/]+\.json")


def read(path: Path, request: Request) -> Answers:
    """Return what each worker answered; the unit is the place in the manifest, from 0."""
    check_useless(request, path, "roster")
    if not path.is_dir():
        raise DataError(
            f"{shown(path)} holds consolidated answers, one for each unit, and no workers; name "
            "the folder annotations/worker-response of the labeling job."
        )
    files = {
        file: match
        for file in sorted(path.rglob("*.json"))
        if (match := _RESPONSE.fullmatch(file.relative_to(path).as_posix()))
    }
    _check_jobs([match["job"] or "" for match in files.values()], path)
    answers_of = [
        (int(match["unit"]), each)
        for file, match in files.items()
        for each in _worker_answers(file, path, request)
    ]
    found = [name for _, each in answers_of for name in each.at("answerContent").members()]
    question = choose_question(request.question, found, shown(path))
    answers = Answers()
    for unit, each in answers_of:
        content = each.at("answerContent").get(str(question))
        labels = None if content is None else _selected(content)
        answers.add(unit, each.at("workerId").name(), labels, str(each))
    return answers


def _check_jobs(folders: list[str], path: Path) -> None:
    """Raise an error for the answers of several jobs, whose units are numbered from 0 each."""
    if len(jobs := list(dict.fromkeys(folders))) > 1:
        raise DataError(
            f"{shown(path)} holds the answers of {len(jobs)} jobs, in {listing(jobs)}; the units "
            "of each are numbered from 0, so name the folder of one."
        )


def _worker_answers(file: Path, folder: Path, request: Request) -> list[Node]:
    """Return the answers in a file, which know its place in the folder."""
    root = read_object(file, request.encoding)
    inside = Node(root.value, file.relative_to(folder).as_posix())
    return list(inside.at("answers").items())


def _selected(content: Node) -> frozenset[Label]:
    """Return the labels of a multi-select, or the one of a classifier."""
    if "label" in content.members():
        return frozenset([content.at("label").label()])
    return content.at("labels").label_set()


def is_job(peek: Peek) -> bool:
    """Return whether a folder holds answers of workers: by its own path, and those in it."""
    inside = f"{peek.path.resolve().as_posix()}/"
    return any(
        _RESPONSE.fullmatch(name) and "worker-response/" in f"{inside}{name}" for name in peek.names
    )


def is_manifest(peek: Peek) -> bool:
    """Return whether a record is one of an output manifest, whose answers are consolidated."""
    record = peek.record if isinstance(peek.record, dict) else {}
    return any(
        key.endswith("-metadata") and isinstance(value, dict) and "human-annotated" in value
        for key, value in record.items()
    )
