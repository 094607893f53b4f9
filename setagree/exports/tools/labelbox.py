"""Labelbox: NDJSON of checklists and radio buttons.

The predictions of a model run are under `experiments`; the experiment and its run name the model.
A label that a model pre-filled and a person submitted is exported as the answer of the person.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from setagree.errors import SetagreeWarning, listing, warn
from setagree.exports.format import Answers, Request
from setagree.exports.json_nodes import Node, read_records, shown
from setagree.exports.reader_helpers import check_useless, choose_question, model_name, unanswered
from setagree.wording.label_sets import Label


def read(path: Path, request: Request) -> Answers:
    """Return the answers to a checklist or radio question, without skipped labels."""
    check_useless(request, path, "roster")
    rows = read_records(path, request.encoding, name="rows")
    _warn_projects(rows, path)
    labels = [
        (_data_row(row), label)
        for row in rows
        for project in row.at("projects").values()
        for label in project.at("labels").items()
    ]
    questions = [each.at("name").text() for _, label in labels for each in _classifications(label)]
    question = choose_question(request.question, questions, shown(path))
    several = len(set(questions)) > 1
    answers = Answers()
    for unit, label in labels:
        rater = label.at("label_details").at("created_by").name()
        is_skipped = label.at("performance_details").flag("skipped")
        answer = None if is_skipped else _checked(label, question, request, several=several)
        answers.add(unit, rater, answer, label.place)
    predicted = Answers()
    for row in rows:
        for model, label in _predictions(row):
            is_read = request.reads(model)
            answer = _checked(label, question, request, several=several) if is_read else None
            predicted.add(_data_row(row), model, answer, label.place)
    return replace(answers, predicted=predicted)


def _predictions(row: Node) -> Iterator[tuple[Hashable, Node]]:
    """Yield the name of the model and the label of each prediction of a model run."""
    for experiment in row.values_of("experiments"):
        for run in experiment.values_of("runs"):
            names = [node.get("name") for node in (experiment, run)]
            name = " / ".join(str(node.value) for node in names if node is not None)
            model = model_name(replace(run, value=name or run.key))
            yield from ((model, label) for label in run.each("predictions"))


def _warn_projects(rows: Iterable[Node], path: Path) -> None:
    """Warn that the labels of several projects are read as one study."""
    projects = {
        project.key: project.value.get("name") or project.key
        for row in rows
        for project in row.at("projects").values()
        if project.at("labels").value
    }
    if len(projects) > 1:
        warn(
            f"{shown(path)} has labels of {len(projects)} projects, "
            f"{listing([*projects.values()])}, which are read as one study; export one project if "
            "their questions differ.",
            SetagreeWarning,
        )


def _data_row(row: Node) -> Hashable:
    """Return the global key of a data row, or its id if it has no global key."""
    data = row.at("data_row")
    key = data.get("global_key")
    return data.at("id").name() if key is None else key.name()


def _classifications(label: Node) -> Iterable[Node]:
    return label.at("annotations").at("classifications").items()


def _checked(
    label: Node, question: str | None, request: Request, *, several: bool
) -> frozenset[Label] | None:
    """Return the labels of the answer to a question."""
    answers = [each for each in _classifications(label) if each.at("name").value == question]
    if answers:
        return frozenset().union(*map(_ticked, answers))
    return unanswered(request, label, question, several=several)


def _ticked(classification: Node) -> frozenset[Label]:
    """Return the names of a checklist, or the name of a radio button."""
    if (radio := classification.get("radio_answer")) is not None:
        return frozenset([radio.at("name").label()])
    ticked = classification.at("checklist_answers").items()
    return frozenset([each.at("name").label() for each in ticked])
