"""Label Studio, Prodigy and Argilla, as JSON."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from pathlib import Path

from setagree.errors import DataError, SetagreeWarning, counted, listing, warn
from setagree.exports.format import Answers, Format, Peek, Request
from setagree.exports.gathering import (
    add,
    blank_answer,
    choose_question,
    nothing,
    refuse_useless,
)
from setagree.exports.nodes import Node, read_records, shown
from setagree.exports.rosters import Pair, check_roster, read_roster, text_pairs
from setagree.wording.label_sets import Label

_NOT_QUESTIONS = {
    *("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"),
    "comments",
}
# What only the choices for a region have beside them: where it is.
_REGIONAL = {"start", "end", "x", "y", "points", "vertices", "rle", "sequence", "globalOffsets"}


def _keys(peek: Peek) -> set[str]:
    return set(peek.record) if isinstance(peek.record, dict) else set()


# ---- Label Studio, JSON ---------------------------------------------------------------------


def read_label_studio(path: Path, request: Request) -> Answers:
    """Return the choices of each annotation of each task; cancelled ones are skipped."""
    refuse_useless(request, path, "roster")
    annotations = [
        (task.at("id").name(), each)
        for task in read_records(path, request.encoding, name="tasks")
        for each in task.at("annotations").items()
    ]
    questions = [
        choices.at("from_name").text() for _, each in annotations for choices in _choices(each)
    ]
    question = choose_question(request.question, questions, shown(path))
    if question is None:
        _refuse_other_types([each for _, each in annotations], path)
    several = len(set(questions)) > 1
    answers = nothing()
    for unit, each in annotations:
        labels = _chosen(each, question, request, several=several)
        add(answers, unit, _completed_by(each), labels, each.place)
    return answers


def _choices(annotation: Node) -> Iterator[Node]:
    """Yield the results of a cancelled or finished annotation that are choices."""
    for result in annotation.at("result").items():
        kind = result.get("type")
        if kind is not None and kind.value == "choices":
            yield result


def _chosen(
    annotation: Node, question: str | None, request: Request, *, several: bool
) -> frozenset[Label] | None:
    """Return what was chosen; nothing chosen in an annotation that was finished is the empty set.

    Where a project asks several questions, some may be shown under a condition.
    """
    if annotation.flag("was_cancelled"):
        return None
    mine = [each for each in _choices(annotation) if each.at("from_name").value == question]
    if len(mine) > 1:
        raise annotation.fail(
            f"{len(mine)} answers to {question!r}: they belong to regions, and a unit needs one."
        )
    if mine:
        value = mine[0].at("value")
        if not _REGIONAL.isdisjoint(value.members()):
            raise value.fail("the choices belong to a region, and a unit needs its own.")
        return value.at("choices").label_set()
    if not several:
        return frozenset()
    why = f"no answer to {question!r}, which was left empty or not shown"
    return blank_answer(request, annotation, why)


def _completed_by(annotation: Node) -> Hashable:
    """Return who annotated: the email, or the number where that is all there is."""
    rater = annotation.at("completed_by")
    if not isinstance(rater.value, dict):
        return rater.name()
    email = rater.get("email")
    return rater.at("id").name() if email is None or not email.value else email.name()


def _refuse_other_types(annotations: list[Node], path: Path) -> None:
    """Raise where there are results and none of them is a choice."""
    kinds = {
        str(result.members().get("type"))
        for each in annotations
        for result in each.at("result").items()
    }
    if kinds:
        raise DataError(
            f"{shown(path)} has results of type {listing(sorted(kinds))} and no choices; only "
            "choices for a whole task are label sets."
        )


def _is_label_studio(peek: Peek) -> bool:
    return {"id", "annotations", "data"} <= _keys(peek)


# ---- Label Studio, JSON-MIN -----------------------------------------------------------------


def read_label_studio_min(path: Path, request: Request) -> Answers:
    """Return the answers of the flat layout, in which an unanswered question has no key."""
    refuse_useless(request, path, "roster")
    rows = [
        row
        for row in read_records(path, request.encoding, name="rows")
        # A task without any annotation has a row all the same.
        if row.get("annotation_id") is not None or row.get("annotator") is not None
    ]
    question = _min_question(rows, request, path)
    several = _asks_more(rows, question)
    answers = nothing()
    for row in rows:
        labels = _min_labels(row, question, request, several=several)
        add(answers, row.at("id").name(), row.at("annotator").name(), labels, row.place)
    return answers


def _min_question(rows: list[Node], request: Request, path: Path) -> str:
    """Return the key of the answers; only a key with several choices is surely one."""
    keys = _min_keys(rows)
    if request.question is not None:
        choose_question(request.question, keys, shown(path))
        return request.question
    sure = [key for key in keys if any(_has_choices(row.members().get(key)) for row in rows)]
    found = choose_question(None, sure, shown(path))
    if found is None:
        raise DataError(
            f"{shown(path)} has no answer of several choices, so that questions cannot be told "
            f"from data; say which of {listing(list(keys))} it is with question=."
        )
    return found


def _min_keys(rows: list[Node]) -> dict[str, None]:
    """Return the keys of questions and data."""
    return dict.fromkeys(key for row in rows for key in row.members() if key not in _NOT_QUESTIONS)


def _asks_more(rows: list[Node], question: str) -> bool:
    """Say whether another key may be a question: data are the same in all rows of a task."""
    return any(_may_be_question(rows, key) for key in _min_keys(rows) if key != question)


def _may_be_question(rows: list[Node], key: str) -> bool:
    of_task: dict[str, object] = {}
    for row in rows:
        value = row.members().get(key)
        first = of_task.setdefault(repr(row.members().get("id")), value)
        if _has_choices(value) or first != value:
            return True
    return False


def _has_choices(value: object) -> bool:
    return isinstance(value, dict) and "choices" in value


def _min_labels(
    row: Node, question: str, request: Request, *, several: bool
) -> frozenset[Label] | None:
    answer = row.get(question)
    if answer is None:
        if request.blank is None and not several:
            return frozenset()
        why = f"no answer to {question!r}, which was left empty or not shown"
        return blank_answer(request, row, why)
    if isinstance(answer.value, dict):
        return answer.at("choices").label_set()
    return frozenset([answer.label()])


def _is_label_studio_min(peek: Peek) -> bool:
    keys = _keys(peek)
    return {"id", "annotation_id", "lead_time"} <= keys and "annotations" not in keys


# ---- Prodigy --------------------------------------------------------------------------------


def read_prodigy(path: Path, request: Request) -> Answers:
    """Return what was accepted in the choice interface; ignored examples are skipped."""
    refuse_useless(request, path, "question", "roster")
    answers = nothing()
    lines = read_records(path, request.encoding, name="examples")
    _doubt_tasks(lines, path)
    for line in lines:
        labels = _accepted(line, request)
        add(answers, line.at("_input_hash").name(), _session(line), labels, line.place)
    return answers


def _doubt_tasks(lines: list[Node], path: Path) -> None:
    """Say that an example was asked about in several ways, with other options or another label."""
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
        why = "rejected, which may say that no option applies or that the example is no good"
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


def _is_prodigy(peek: Peek) -> bool:
    return {"_input_hash", "_task_hash", "answer"} <= _keys(peek)


# ---- Argilla --------------------------------------------------------------------------------

_STATES = {"submitted", "discarded", "draft", "pending"}


def read_argilla_flat(path: Path, request: Request) -> Answers:
    """Return the submitted responses to a question; drafts and discarded ones are skipped."""
    refuse_useless(request, path, "roster")
    records = read_records(path, request.encoding, name="records")
    found = [
        key.removesuffix(".responses.users")
        for record in records
        for key in record.members()
        if key.endswith(".responses.users")
    ]
    question = choose_question(request.question, found, shown(path))
    answers = nothing()
    for record in records:
        _add_flat(answers, record, f"{question}.responses")
    return answers


def _add_flat(answers: Answers, record: Node, key: str) -> None:
    """Add the responses to one record, which stand in three parallel lists."""
    responses = record.get(key)
    if responses is None:
        return
    lists = [list(responses.items())]
    lists += [list(record.at(f"{key}.{name}").items()) for name in ("users", "status")]
    if len({len(each) for each in lists}) > 1:
        sizes = ", ".join(str(len(each)) for each in lists)
        raise responses.fail(f"values, users and status should be as many, not {sizes}.")
    unit = record.at("id").name()
    for value, user, status in zip(*lists, strict=True):
        # A discarded response may hold values all the same.
        if status.text() not in _STATES:
            raise status.fail(f"{status.value!r} is no status of a response.")
        labels = _response(value) if status.value == "submitted" else None
        add(answers, unit, user.name(), labels, value.place)


def _response(value: Node) -> frozenset[Label]:
    """Return the labels of a response: a list of a multi-label question, or one label."""
    return value.label_set() if isinstance(value.value, list) else frozenset([value.label()])


def _is_argilla_flat(peek: Peek) -> bool:
    keys = _keys(peek)
    return any(key.endswith(".responses") and f"{key}.users" in keys for key in keys)


def read_argilla_nested(path: Path, request: Request) -> Answers:
    """Return the responses of the nested layout whose authors the roster says submitted them."""
    roster = read_roster(request)
    if roster is None:
        raise DataError(
            f"{shown(path)} does not tell submitted responses from discarded ones: Argilla's "
            "nested layout drops their status. Export records.to_list(flatten=True) or "
            "records.to_datasets() instead, or name who submitted what with roster=."
        )
    records = read_records(path, request.encoding, name="records")
    found = [key for record in records for key in record.at("responses").members()]
    question = choose_question(request.question, found, shown(path))
    answers = nothing()
    seen: set[Pair] = set()
    for record in records:
        for name in record.at("responses").members():
            for each in _responses(record, name):
                pair = record.at("id").name(), each.at("user_id").name()
                seen.update(listed := text_pairs([pair[0]], [pair[1]]))
                if name == question:
                    labels = _response(each.at("value")) if listed[0] in roster else None
                    add(answers, *pair, labels, each.place)
    check_roster(roster, seen, shown(path))
    return answers


def _responses(record: Node, question: str) -> Iterator[Node]:
    """Yield the responses to a question, where there are any."""
    responses = record.at("responses").get(question)
    yield from responses.items() if responses is not None else ()


def _is_argilla_nested(peek: Peek) -> bool:
    return {"id", "fields", "suggestions", "responses"} <= _keys(peek)


FORMATS: tuple[Format, ...] = (
    Format(
        "label_studio_json",
        "Label Studio, JSON",
        "documented",
        _is_label_studio,
        read_label_studio,
        "With several questions: question= says which, blank= what an unanswered one means.",
    ),
    Format(
        "label_studio_json_min",
        "Label Studio, JSON-MIN",
        "tool",
        _is_label_studio_min,
        read_label_studio_min,
        "Questions look like data where no answer has two choices: question=. With several "
        "questions, blank= says what an unanswered one means.",
    ),
    Format(
        "prodigy",
        "Prodigy, JSONL (choice)",
        "documented",
        _is_prodigy,
        read_prodigy,
        "A rejected example may mean no label or no answer: blank=.",
    ),
    Format(
        "argilla_flat",
        "Argilla, flat records",
        "tool",
        _is_argilla_flat,
        read_argilla_flat,
        "With several questions: question= says which.",
    ),
    Format(
        "argilla_nested",
        "Argilla, nested records",
        "tool",
        _is_argilla_nested,
        read_argilla_nested,
        "Discarded responses look like submitted ones: roster=, or export the flat layout.",
    ),
)
