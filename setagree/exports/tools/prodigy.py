"""Prodigy: JSONL of its choice interface.

A line has the final answer of a person. The `response` of a language model (`llm`) is not read,
because it is raw text; pre-selected options are not exported.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

from setagree.errors import SetagreeWarning, counted, warn
from setagree.exports.format import Answers, Request
from setagree.exports.json_nodes import Node, read_records, shown
from setagree.exports.reader_helpers import blank_answer, check_useless
from setagree.study.spans import Span, Spans
from setagree.wording.label_sets import Label


def read(path: Path, request: Request) -> Answers:
    """Return the accepted options of the choice interface; ignored examples are skipped."""
    check_useless(request, path, "question", "roster")
    answers = Answers()
    lines = read_records(path, request.encoding, name="examples")
    _warn_tasks(lines, path)
    for line in lines:
        labels = _accepted(line, request)
        answers.add(line.at("_input_hash").name(), _session(line), labels, line.place)
    return answers


def read_spans(path: Path, request: Request, spans: Spans) -> None:
    """Add the spans of accepted examples; rejected and ignored ones are not annotations."""
    for line in read_records(path, request.encoding, name="examples"):
        if line.at("answer").value != "accept":
            continue
        document = line.at("_input_hash").name()
        pair = spans.add_done(document, _session(line), str(line), line.at("text").text())
        spans.tokens[document] = [token.ends() for token in line.each("tokens")]
        for span in line.each("spans"):
            spans.rows.append(Span(*pair, *span.ends(), span.at("label").label(), str(span)))
        spans.ignored["relation"] += len(line.members().get("relations") or ())


def _warn_tasks(lines: list[Node], path: Path) -> None:
    """Warn if an example was shown with several questions or lists of options."""
    tasks: dict[str, set[str]] = {}
    for line in lines:
        task = line.members().get("_task_hash")
        tasks.setdefault(repr(line.at("_input_hash").value), set()).add(repr(task))
    if n := sum(len(hashes) > 1 for hashes in tasks.values()):
        warn(
            f"{shown(path)}: {counted(n, 'example')} with several '_task_hash', which are different"
            " questions or lists of options; all are read as one question.",
            SetagreeWarning,
        )


def _accepted(line: Node, request: Request) -> frozenset[Label] | None:
    """Return the accepted options of an example, or None if it is not annotated."""
    answer = line.at("answer")
    if answer.value == "ignore":
        return None
    accept = line.get("accept")
    if accept is None and line.get("options") is None:
        raise line.fail(
            "no key 'accept' and no 'options'; use the choice interface for label sets."
        )
    if answer.value == "reject":
        reason = "rejected, because no option applies or because the example is unusable"
        return blank_answer(request, line, reason)
    if answer.value != "accept":
        raise answer.fail(f"{answer.value!r} must be accept, reject or ignore.")
    return frozenset() if accept is None else accept.label_set()


def _session(line: Node) -> Hashable:
    """Return the annotator, who is identified by the session."""
    for key in ("_annotator_id", "_session_id"):
        if (rater := line.get(key)) is not None:
            return rater.name()
    raise line.fail(
        "no key '_annotator_id' and no '_session_id', so that the rater is unknown; let each "
        "person annotate under ?session=name."
    )
