"""Labelbox: NDJSON of checklists and radio buttons.

The predictions of a model run are under `experiments`; the experiment and its run name the model.
A label that a model pre-filled and a person submitted is exported as the answer of the person.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from setagree.errors import SetagreeWarning, listing, warn
from setagree.exports.format import Answers, Request
from setagree.exports.gathering import Predicted, check_useless, choose_question, unanswered
from setagree.exports.nodes import Node, read_records, shown
from setagree.wording.label_sets import Label


def read(path: Path, request: Request) -> Answers:
    """Return the answers to a checklist or radio question; skipped labels are skipped."""
    check_useless(request, path, "roster")
    rows = read_records(path, request.encoding, name="rows")
    _warn_projects(rows, path)
    labels = [
        (_data_row(row), label)
        for row in rows
        for project in row.at("projects").members()
        for label in row.at("projects").at(project).at("labels").items()
    ]
    found = [each.at("name").text() for _, label in labels for each in _classifications(label)]
    question = choose_question(request.question, found, shown(path))
    several = len(set(found)) > 1
    answers = Answers()
    for unit, label in labels:
        rater = label.at("label_details").at("created_by").name()
        is_skipped = label.at("performance_details").flag("skipped")
        answer = None if is_skipped else _checked(label, question, request, several=several)
        answers.add(unit, rater, answer, label.place)
    predicted = Predicted(request)
    for row in rows:
        for model, label in _predictions(row):
            parse = partial(_checked, label, question, request, several=several)
            predicted.add(_data_row(row), model, parse, label.place)
    return replace(answers, predicted=predicted.answers)


def _predictions(row: Node) -> Iterator[tuple[Node, Node]]:
    """Yield the name of the model and the label of each prediction of a model run."""
    experiments = row.get("experiments")
    for experiment in () if experiments is None else experiments.values():
        runs = experiment.get("runs")
        for run in () if runs is None else runs.values():
            names = [each.get("name") for each in (experiment, run)]
            name = " / ".join(str(each.value) for each in names if each is not None)
            model = replace(run, value=name or run.key)
            if (predictions := run.get("predictions")) is not None:
                yield from ((model, label) for label in predictions.items())


def _warn_projects(rows: Iterable[Node], path: Path) -> None:
    """Warn that the labels of several projects are read as one study."""
    projects = {
        key: each.value.get("name") or key
        for row in rows
        for key in row.at("projects").members()
        if (each := row.at("projects").at(key)).at("labels").value
    }
    if len(projects) > 1:
        warn(
            f"{shown(path)} has labels of {len(projects)} projects, "
            f"{listing([*projects.values()])}, which are taken as one study; export one project if "
            "they ask different questions.",
            SetagreeWarning,
        )


def _data_row(row: Node) -> Hashable:
    """Return the key that people gave, or the one of the tool where they gave none."""
    data = row.at("data_row")
    key = data.get("global_key")
    return data.at("id").name() if key is None else key.name()


def _classifications(label: Node) -> Iterable[Node]:
    return label.at("annotations").at("classifications").items()


def _checked(
    label: Node, question: str | None, request: Request, *, several: bool
) -> frozenset[Label] | None:
    mine = [each for each in _classifications(label) if each.at("name").value == question]
    if mine:
        return frozenset().union(*(_ticked(each) for each in mine))
    if not several:
        return frozenset()
    return unanswered(request, label, question)


def _ticked(classification: Node) -> frozenset[Label]:
    """Return the names of a checklist, or the one of a radio button."""
    if (radio := classification.get("radio_answer")) is not None:
        return frozenset([radio.at("name").label()])
    ticked = classification.at("checklist_answers").items()
    return frozenset([each.at("name").label() for each in ticked])
