"""LightTag, Labelbox and spaCy, as JSON."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path

from setagree.errors import DataError, SetagreeWarning, listing, warn
from setagree.exports.format import Answers, Format, Peek, Request
from setagree.exports.gathering import (
    add,
    blank_answer,
    choose_question,
    nothing,
    refuse_useless,
)
from setagree.exports.nodes import Node, read_object, read_records, shown
from setagree.files.columns import guess_columns
from setagree.wording.label_sets import Label


def _keys(peek: Peek) -> set[str]:
    return set(peek.record) if isinstance(peek.record, dict) else set()


# ---- LightTag -------------------------------------------------------------------------------


def read_lighttag(path: Path, request: Request) -> Answers:
    """Return the classes that each annotator gave; one who saw and gave none gave none."""
    refuse_useless(request, path, "question", "roster")
    root = read_object(path, request.encoding)
    answers = nothing()
    for example in root.at("examples").items():
        unit = example.at("example_id").name()
        given = {_annotator(each): set[Label]() for each in example.at("seen_by").items()}
        for one in example.at("classifications").items():
            label = one.at("classname").label()
            for each in one.at("annotated_by").items():
                given.setdefault(_annotator(each), set()).add(label)
        for rater, labels in given.items():
            add(answers, unit, rater, frozenset(labels), example.place)
    return answers


def _annotator(each: Node) -> Hashable:
    return each.at("annotator").name()


def _is_lighttag(peek: Peek) -> bool:
    return {"examples", "annotations_and_examples"} <= _keys(peek)


# ---- Labelbox -------------------------------------------------------------------------------


def read_labelbox(path: Path, request: Request) -> Answers:
    """Return the answers to a checklist or radio question; skipped labels are skipped."""
    refuse_useless(request, path, "roster")
    rows = read_records(path, request.encoding, name="rows")
    _doubt_projects(rows, path)
    labels = [(_data_row(row), label) for row in rows for label in _labels_of(row)]
    found = [each.at("name").text() for _, label in labels for each in _classifications(label)]
    question = choose_question(request.question, found, shown(path))
    several = len(set(found)) > 1
    answers = nothing()
    for unit, label in labels:
        rater = label.at("label_details").at("created_by").name()
        answer = _checked(label, question, request, several=several)
        add(answers, unit, rater, answer, label.place)
    return answers


def _doubt_projects(rows: Iterable[Node], path: Path) -> None:
    """Say that the labels of several projects are taken as one study."""
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


def _labels_of(row: Node) -> Iterator[Node]:
    projects = row.at("projects")
    for project in projects.members():
        yield from projects.at(project).at("labels").items()


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
    if label.at("performance_details").flag("skipped"):
        return None
    mine = [each for each in _classifications(label) if each.at("name").value == question]
    if mine:
        return frozenset().union(*(_ticked(each) for each in mine))
    if not several:
        return frozenset()
    why = f"no answer to {question!r}, which was left empty or not shown"
    return blank_answer(request, label, why)


def _ticked(classification: Node) -> frozenset[Label]:
    """Return the names of a checklist, or the one of a radio button."""
    if (radio := classification.get("radio_answer")) is not None:
        return frozenset([radio.at("name").label()])
    ticked = classification.at("checklist_answers").items()
    return frozenset([each.at("name").label() for each in ticked])


def _is_labelbox(peek: Peek) -> bool:
    return {"data_row", "projects"} <= _keys(peek)


# ---- spaCy ----------------------------------------------------------------------------------


def read_spacy_cats(path: Path, request: Request) -> Answers:
    """Return the categories that are 1; unit and annotator are what ``meta`` says they are."""
    refuse_useless(request, path, "question", "roster")
    lines = read_records(path, request.encoding, name="examples")
    known = dict.fromkeys(label for line in lines for label in line.at("cats").members())
    unit, rater = _meta_keys(lines[0])
    answers = nothing()
    for line in lines:
        meta = line.at("meta")
        add(answers, meta.at(unit).name(), meta.at(rater).name(), _given(line, known), line.place)
    return answers


def _meta_keys(line: Node) -> tuple[str, str]:
    """Return the keys of the unit and the rater in ``meta``, by their usual names."""
    keys = list(line.at("meta").members()) if "meta" in line.members() else []
    try:
        found = guess_columns([*keys, ""], labels="")
    except DataError:
        has = f"'meta' has {listing(keys)}" if keys else "there is no 'meta'"
        raise DataError(
            f"{line}: spaCy's categories do not tell unit and annotator, and {has}; give each "
            "record meta = {'unit': ..., 'rater': ...}."
        ) from None
    return found.unit, found.rater


def _given(line: Node, known: Iterable[str]) -> frozenset[Label]:
    cats = line.at("cats")
    for label in known:
        if label not in cats.members():
            raise cats.fail(f"no {label!r}, which is unknown then, not 0; write 0.0 or 1.0.")
        if cats.members()[label] not in (0, 1):
            raise cats.at(label).fail(
                f"{cats.members()[label]!r} is neither 0 nor 1; a score is not yet an answer."
            )
    return frozenset(label for label, flag in cats.members().items() if flag)


def _is_spacy_cats(peek: Peek) -> bool:
    keys = _keys(peek)
    return {"text", "cats"} <= keys and "_input_hash" not in keys


FORMATS: tuple[Format, ...] = (
    Format("lighttag", "LightTag, JSON", "documented", _is_lighttag, read_lighttag),
    Format(
        "labelbox",
        "Labelbox, NDJSON",
        "documented",
        _is_labelbox,
        read_labelbox,
        "With several questions: question= says which, blank= what an unanswered one means.",
    ),
    Format(
        "spacy_cats",
        "spaCy, JSONL with cats",
        "documented",
        _is_spacy_cats,
        read_spacy_cats,
        "Unit and rater must stand in each record's meta.",
    ),
)
