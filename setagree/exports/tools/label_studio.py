"""Label Studio: JSON, JSON-MIN and CSV.

Only JSON has predictions. Each `model_version` is a model; a prediction that is exported as a
number has no answer.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from setagree.errors import DataError, FileError, listing, option, shorten
from setagree.exports.blank_answers import settle
from setagree.exports.format import Answers, Request
from setagree.exports.json_nodes import Node, read_records, shown
from setagree.exports.reader_helpers import (
    check_useless,
    choose_question,
    model_name,
    unanswered,
)
from setagree.exports.table_exports import Sheet, label_list, pick_question, read_json
from setagree.study.spans import Span, Spans
from setagree.wording.label_sets import Label, LabelSet

_NOT_QUESTIONS = {
    *("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"),
    "comments",
}
_SEVERAL = '{"choices"'
"""Beginning of a cell with several choices."""
# Keys next to choices that belong to a region, with its position.
_REGIONAL = {"start", "end", "x", "y", "points", "vertices", "rle", "sequence", "globalOffsets"}


# ---- JSON ----------------------------------------------------------------------------------------


def read_tasks(path: Path, request: Request) -> Answers:
    """Return the answers in the annotations of each task; cancelled annotations are skipped."""
    check_useless(request, path, "roster")
    records = read_records(path, request.encoding, name="tasks")
    tasks = [(_unit(task, task.at("data"), request), task) for task in records]
    annotations = [(u, item) for u, task in tasks for item in task.at("annotations").items()]
    results = [result for _, item in annotations for result in _results(item)]
    kinds = {result.at("from_name").text(): result.at("type").value for result in results}
    question = choose_question(request.question, kinds, shown(path))
    if question is None:
        _check_other_types([item for _, item in annotations], path)
    kind = kinds.get(str(question))
    chosen = partial(_chosen, question, request, several=len(kinds) > 1, is_number=kind == "rating")
    answers = Answers(controls={kind})
    if request.unit is None:
        answers.data.update((unit, task.at("data").members()) for unit, task in tasks)
    for unit, item in annotations:
        answers.add(unit, _completed_by(item), chosen(item), item.place)
    predicted = Answers()
    for unit, task in tasks:
        for item in task.each("predictions"):
            if isinstance(item.value, dict) and "result" in item.value:
                model = model_name(item.get("model_version"))
                is_read = request.reads(model)
                labels = chosen(item) if is_read else None
                predicted.add(unit, model, labels, item.place)
    return replace(answers, predicted=predicted)


def _unit(task: Node, data: Node, request: Request) -> Hashable:
    """Return the id of a task, or the requested field of its data."""
    return (task.at("id") if request.unit in (None, "id") else data.at(request.unit)).name()


def _results(annotation: Node) -> Iterator[Node]:
    """Yield the results of an annotation that are choices or ratings."""
    for result in annotation.at("result").items():
        kind = result.get("type")
        if kind is not None and kind.value in ("choices", "rating"):
            yield result


def _chosen(
    question: str | None,
    request: Request,
    annotation: Node,
    *,
    several: bool,
    is_number: bool,
) -> frozenset[Label] | None:
    """Return the choices of an annotation, or those of `unanswered` if it has none.

    A question about a number has the number, or no answer.
    """
    if annotation.flag("was_cancelled"):
        return None
    choices = [each for each in _results(annotation) if each.at("from_name").value == question]
    if len(choices) > 1:
        raise annotation.fail(
            f"{len(choices)} answers to {question!r}, which belong to regions; a unit must have "
            "one answer for the whole task."
        )
    if choices:
        value = choices[0].at("value")
        if not _REGIONAL.isdisjoint(value.members()):
            raise value.fail("the choices belong to a region; a unit must have its own.")
        if is_number:
            return value.at("rating").number_set()
        return value.at("choices").label_set()
    if is_number:
        return None
    return unanswered(request, annotation, question, several=several)


def _completed_by(annotation: Node) -> Hashable:
    """Return the email of the annotator, or the number if there is no email."""
    rater = annotation.at("completed_by")
    if not isinstance(rater.value, dict):
        return rater.name()
    email = rater.get("email")
    return rater.at("id").name() if email is None or not email.value else email.name()


def _check_other_types(annotations: list[Node], path: Path) -> None:
    """Raise an error if there are results and none is a choice."""
    kinds = {
        str(result.members().get("type"))
        for annotation in annotations
        for result in annotation.at("result").items()
    }
    if kinds:
        raise DataError(
            f"{shown(path)} has results of type {listing(sorted(kinds))} and no choices; only "
            "choices for a whole task are label sets."
        )


# ---- spans in JSON -------------------------------------------------------------------------------


def read_spans(path: Path, request: Request, spans: Spans) -> None:
    """Add the labelled spans of each annotation; one without results has no spans."""
    kinds = set[bool]()  # of a text, or of a recording
    for task in read_records(path, request.encoding, name="tasks"):
        document, data = task.at("id").name(), task.at("data").members()
        texts = {key: value for key, value in data.items() if isinstance(value, str)}
        text = next(iter(texts.values())) if len(texts) == 1 else texts.get("text")
        for annotation in task.at("annotations").items():
            if annotation.flag("was_cancelled"):
                continue
            pair = spans.add_done(document, _completed_by(annotation), str(annotation), text)
            for result in annotation.at("result").items():
                kind = str(result.members().get("type"))
                if kind == "hypertextlabels":
                    remedy = "use Annotations.from_spans with the lengths of the texts"
                    raise result.fail(f"spans in HTML, whose text is not exported; {remedy}.")
                if kind != "labels":
                    spans.ignored[f"{kind!r} result"] += 1
                    continue
                layer, value = result.at("from_name").text(), result.at("value")
                seconds = result.get("original_length")  # of a recording
                if request.question in {None, layer}:
                    kinds.add(seconds is None)
                    if seconds is not None:
                        spans.lengths[document] = seconds.number()
                if len(kinds) > 1:
                    raise result.fail("spans of texts and of recordings; export tasks of one kind.")
                quote = None if (text_of := value.get("text")) is None else text_of.text()
                quote = quote and quote.replace("\\n", "\n")  # some versions escape line breaks
                spans.ignored["unlabelled span"] += not value.at("labels").value
                for label in value.at("labels").items():
                    ends, place = value.ends(), str(result)
                    spans.rows.append(Span(*pair, *ends, label.label(), place, quote, layer))
    if spans.lengths:
        spans.texts.clear()  # the only text of a recording is its address


# ---- JSON-MIN ------------------------------------------------------------------------------------


def read_min(path: Path, request: Request) -> Answers:
    """Return the answers in the flat layout, where an unanswered question has no key."""
    check_useless(request, path, "roster")
    rows = [
        row
        for row in read_records(path, request.encoding, name="rows")
        # A task without annotations has a row, too.
        if row.get("annotation_id") is not None or row.get("annotator") is not None
    ]
    keys = dict.fromkeys(key for row in rows for key in row.members() if key not in _NOT_QUESTIONS)
    question = _min_question(rows, [*keys], request, path)
    several = any(_may_be_question(rows, key) for key in keys if key != question)
    answers = Answers()
    for row in rows:
        labels = _min_labels(row, question, request, several=several)
        answers.add(_unit(row, row, request), row.at("annotator").name(), labels, row.place)
    return answers


def _min_question(rows: list[Node], keys: list[str], request: Request, path: Path) -> str:
    """Return the key of the answers; only a key with several choices is certainly a question."""
    sure = [key for key in keys if any(_has_choices(row.members().get(key)) for row in rows)]
    questions = sure if request.question is None else keys
    question = choose_question(request.question, questions, shown(path))
    if question is None:
        raise _no_question(shown(path), keys)
    return question


def _no_question(file: str, names: list[str]) -> DataError:
    return DataError(
        f"{file} has no answer with several choices, so that questions cannot be distinguished "
        f"from data; name one of {listing(names)} with {option('question')}."
    )


def _may_be_question(rows: list[Node], key: str) -> bool:
    """Return whether a key may be a question: data are equal in all rows of a task."""
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
    """Return the labels of a row, as `_chosen` does for an annotation."""
    answer = row.get(question)
    if answer is None:
        return unanswered(request, row, question, several=several)
    if isinstance(answer.value, dict):
        return answer.at("choices").label_set()
    return frozenset([answer.label()])


# ---- CSV -----------------------------------------------------------------------------------------


def read_csv(path: Path, request: Request) -> Answers:
    """Read a CSV export, without its rows of tasks that were not annotated."""
    sheet = Sheet.open(path, request)
    sheet = sheet.keep(~(sheet.blank("annotation_id") & sheet.blank("annotator")))
    columns = [name for name in sheet.columns if name not in _NOT_QUESTIONS]
    sure = [name for name in columns if sheet.cells(name).str.startswith(_SEVERAL).any()]
    if request.question is None and not sure:
        raise _no_question(sheet.name, columns)
    questions = columns if request.question is not None else sure
    question = pick_question(request.question, questions, sheet.name)
    labels, blank = sheet.parse(question, _cell_choices), sheet.blank(question)
    found = sheet.found(sheet.ids(request.unit or "id"), sheet.ids("annotator"), labels, blank)
    # Data are equal in all rows of a task.
    several = any(
        name in sure or (sheet.cells(name).groupby(sheet.cells("id")).nunique() > 1).any()
        for name in columns
        if name != question
    )
    why = f"It was submitted without a choice{', or not shown' if several else ''}."
    return settle(found, request, why=why, default=None if several else "empty")


def _cell_choices(cell: str) -> LabelSet:
    """Return the only choice, which is the cell itself, or the choices in its JSON."""
    if cell.startswith((_SEVERAL, "[")):
        try:
            value = read_json(cell)
        except FileError:
            if cell.startswith(_SEVERAL):
                raise
            value = None
        if isinstance(value, dict):
            return label_list(value["choices"], cell)
        if isinstance(value, list) or cell.startswith("{"):
            raise FileError(
                f"{shorten(cell)} is neither a label nor a list of choices for the whole task; "
                "export JSON if the choices belong to regions."
            )
    return frozenset({cell})
