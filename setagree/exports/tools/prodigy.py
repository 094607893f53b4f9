"""Prodigy: JSONL of its choice interface.

A line holds the final answer of a person. What was selected beforehand is not exported, and the
`response` of a language model (`llm`) is raw text: neither is read.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

from setagree.errors import SetagreeWarning, counted, warn
from setagree.exports.format import Answers, Request
from setagree.exports.gathering import blank_answer, check_useless
from setagree.exports.nodes import Node, read_records, shown
from setagree.study.spans import Spans
from setagree.wording.label_sets import Label


def read(path: Path, request: Request) -> Answers:
    """Return what was accepted in the choice interface; ignored examples are skipped."""
    check_useless(request, path, "question", "roster")
    answers = Answers()
    lines = read_records(path, request.encoding, name="examples")
    _warn_tasks(lines, path)
    for line in lines:
        labels = _accepted(line, request)
        answers.add(line.at("_input_hash").name(), _session(line), labels, line.place)
    return answers


def read_spans(path: Path, request: Request, spans: Spans) -> None:
    """Add the spans of accepted examples; rejected and ignored ones are no annotation."""
    for line in read_records(path, request.encoding, name="examples"):
        if line.at("answer").value != "accept":
            continue
        document = line.at("_input_hash").name()
        pair = spans.add_done(document, _session(line), line.place, line.at("text").text())
        if (tokens := line.get("tokens")) is not None:
            spans.tokens[document] = [one.ends() for one in tokens.items()]
        given = line.get("spans")
        for one in [] if given is None else given.items():
            spans.add(pair, one.ends(), one.at("label").label(), one.place)
        spans.ignored["relation"] += len(line.members().get("relations") or ())


def _warn_tasks(lines: list[Node], path: Path) -> None:
    """Warn that an example was shown in several ways, with other options or another label."""
    tasks: dict[str, set[str]] = {}
    for line in lines:
        asked = line.members().get("_task_hash")
        tasks.setdefault(repr(line.at("_input_hash").value), set()).add(repr(asked))
    if n := sum(len(asked) > 1 for asked in tasks.values()):
        warn(
            f"{shown(path)}: {counted(n, 'example')} with several '_task_hash', each of which is "
            "another question or list of options; all are taken as one question.",
            SetagreeWarning,
        )


def _accepted(line: Node, request: Request) -> frozenset[Label] | None:
    answer = line.at("answer")
    if answer.value == "ignore":
        return None
    accept = line.get("accept")
    if accept is None and line.get("options") is None:
        raise line.fail("no 'accept' and no 'options': only the choice interface has label sets.")
    if answer.value == "reject":
        why = "rejected, which may say that no option applies or that the example is unusable"
        return blank_answer(request, line, why)
    if answer.value != "accept":
        raise answer.fail(f"{answer.value!r} is not accept, reject or ignore.")
    return frozenset() if accept is None else accept.label_set()


def _session(line: Node) -> Hashable:
    """Return the annotator, who is known by the session."""
    for key in ("_annotator_id", "_session_id"):
        if (rater := line.get(key)) is not None:
            return rater.name()
    raise line.fail(
        "no '_annotator_id' and no '_session_id', so nobody knows who answered; let each person "
        "annotate under ?session=name."
    )
