"""Argilla: records as JSON, flat or nested.

A suggestion is the answer of its agent.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from setagree.errors import DataError, option
from setagree.exports.format import Answers, Request
from setagree.exports.gathering import Predicted, check_useless, choose_question
from setagree.exports.nodes import Node, read_records, shown
from setagree.exports.rosters import Pair, check_roster, read_roster, text_pairs
from setagree.wording.label_sets import Label

_STATES = {"submitted", "discarded", "draft", "pending"}


def read_flat(path: Path, request: Request) -> Answers:
    """Return the submitted responses to a question; drafts and discarded ones are skipped."""
    check_useless(request, path, "roster")
    records = read_records(path, request.encoding, name="records")
    found = [
        key.removesuffix(".responses.users")
        for record in records
        for key in record.members()
        if key.endswith(".responses.users")
    ]
    question = choose_question(request.question, found, shown(path))
    answers, predicted = Answers(), Predicted(request)
    for record in records:
        _add_flat(answers, record, f"{question}.responses")
        if (value := record.get(key := f"{question}.suggestion")) is not None:
            agent, parse = record.get(f"{key}.agent"), partial(_response, value)
            predicted.add(record.at("id").name(), agent, parse, value.place)
    return replace(answers, predicted=predicted.answers)


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
            raise status.fail(f"{status.value!r} is not a status of a response.")
        labels = _response(value) if status.value == "submitted" else None
        answers.add(unit, user.name(), labels, value.place)


def _response(value: Node) -> frozenset[Label]:
    """Return the labels of a response: a list of a multi-label question, or one label."""
    return value.label_set() if isinstance(value.value, list) else frozenset([value.label()])


def read_nested(path: Path, request: Request) -> Answers:
    """Return the responses of the nested layout whose authors the roster says submitted them."""
    roster = read_roster(request)
    if roster is None:
        raise DataError(
            f"{shown(path)} does not tell submitted responses from discarded ones: Argilla's "
            "nested layout drops their status. Export records.to_list(flatten=True) or "
            f"records.to_datasets() instead, or name who submitted what with {option('roster')}."
        )
    records = read_records(path, request.encoding, name="records")
    found = [key for record in records for key in record.at("responses").members()]
    question = choose_question(request.question, found, shown(path))
    answers, predicted = Answers(), Predicted(request)
    seen: set[Pair] = set()
    for record in records:
        suggestions = record.get("suggestions")
        if suggestions is not None and (one := suggestions.get(str(question))) is not None:
            parse = partial(_response, one.at("value"))
            predicted.add(record.at("id").name(), one.get("agent"), parse, one.place)
        for name in record.at("responses").members():
            for each in record.at("responses").each(name):
                pair = record.at("id").name(), each.at("user_id").name()
                seen.update(listed := text_pairs([pair[0]], [pair[1]]))
                if name == question:
                    labels = _response(each.at("value")) if listed[0] in roster else None
                    answers.add(*pair, labels, each.place)
    check_roster(roster, seen, shown(path))
    return replace(answers, predicted=predicted.answers)
