"""Argilla: records as JSON, flat or nested.

A suggestion is the answer of a model, the agent of the suggestion.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from setagree.errors import DataError, option
from setagree.exports.blank_answers import Pair, check_roster, read_roster, text_pairs
from setagree.exports.format import Answers, Request
from setagree.exports.json_nodes import Node, read_records, shown
from setagree.exports.reader_helpers import check_useless, choose_question, model_name
from setagree.wording.label_sets import Label

_STATES = {"submitted", "discarded", "draft", "pending"}


def read_flat(path: Path, request: Request) -> Answers:
    """Return the submitted responses to a question; drafts and discarded ones are skipped."""
    check_useless(request, path, "roster")
    records = read_records(path, request.encoding, name="records")
    suffix = ".responses.users"
    keys = [key for record in records for key in record.members() if key.endswith(suffix)]
    questions = [key.removesuffix(suffix) for key in keys]
    question = choose_question(request.question, questions, shown(path))
    answers, predicted = Answers(), Answers()
    for record in records:
        _add_flat(answers, record, f"{question}.responses")
        if (value := record.get(key := f"{question}.suggestion")) is not None:
            model = model_name(record.get(f"{key}.agent"))
            labels = _response(value) if request.reads(model) else None
            predicted.add(record.at("id").name(), model, labels, value.place)
    return replace(answers, predicted=predicted)


def _add_flat(answers: Answers, record: Node, key: str) -> None:
    """Add the responses to one record, which are in three parallel lists."""
    responses = record.get(key)
    if responses is None:
        return
    lists = [list(responses.items())]
    lists += [list(record.at(f"{key}.{name}").items()) for name in ("users", "status")]
    if len({*map(len, lists)}) > 1:
        sizes = ", ".join(map(str, map(len, lists)))
        raise responses.fail(f"values, users and status must have equal lengths, not {sizes}.")
    unit = record.at("id").name()
    for value, user, status in zip(*lists, strict=True):
        if status.text() not in _STATES:
            raise status.fail(f"{status.value!r} is not a status of a response.")
        # A discarded response may have values, too.
        labels = _response(value) if status.value == "submitted" else None
        answers.add(unit, user.name(), labels, value.place)


def _response(value: Node) -> frozenset[Label]:
    """Return the labels of a response: a list, or one label."""
    return value.label_set() if isinstance(value.value, list) else frozenset([value.label()])


def read_nested(path: Path, request: Request) -> Answers:
    """Return the responses of the nested layout that the roster lists as submitted."""
    roster = read_roster(request)
    if roster is None:
        raise DataError(
            f"{shown(path)} does not distinguish submitted from discarded responses: Argilla's "
            "nested layout drops their status. Export records.to_list(flatten=True) or "
            f"records.to_datasets() instead, or list who submitted what with {option('roster')}."
        )
    records = read_records(path, request.encoding, name="records")
    questions = [key for record in records for key in record.at("responses").members()]
    question = choose_question(request.question, questions, shown(path))
    answers, predicted = Answers(), Answers()
    seen: set[Pair] = set()
    for record in records:
        for suggestion in record.values_of("suggestions"):
            if suggestion.key == question and suggestion.value is not None:
                model, value = model_name(suggestion.get("agent")), suggestion.at("value")
                labels = _response(value) if request.reads(model) else None
                predicted.add(record.at("id").name(), model, labels, suggestion.place)
        for name in record.at("responses").members():
            for response in record.at("responses").each(name):
                unit, rater = record.at("id").name(), response.at("user_id").name()
                seen.update(pairs := text_pairs([unit], [rater]))
                if name == question:
                    labels = _response(response.at("value")) if pairs[0] in roster else None
                    answers.add(unit, rater, labels, response.place)
    check_roster(roster, seen, shown(path))
    return replace(answers, predicted=predicted)
