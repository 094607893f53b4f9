"""Label Studio: JSON, JSON-MIN and CSV.

Predictions are in JSON alone. Each `model_version` is a model; a prediction that is exported as its
number has no answer.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from setagree.errors import DataError, FileError, listing, option, shorten
from setagree.exports.format import Answers, Request
from setagree.exports.gathering import Predicted, check_useless, choose_question, unanswered
from setagree.exports.nodes import Node, read_records, shown
from setagree.exports.sheets import Sheet, label_list, pick_question, read_json
from setagree.exports.unclear import settle
from setagree.study.spans import Spans
from setagree.wording.label_sets import Label, LabelSet

_NOT_QUESTIONS = {
    *("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"),
    "comments",
}
# What only the choices for a region have beside them: where it is.
_REGIONAL = {"start", "end", "x", "y", "points", "vertices", "rle", "sequence", "globalOffsets"}


# ---- JSON ----------------------------------------------------------------------------------------


def read_tasks(path: Path, request: Request) -> Answers:
    """Return the choices of each annotation of each task; cancelled ones are skipped."""
    check_useless(request, path, "roster")
    tasks = read_records(path, request.encoding, name="tasks")
    annotations = [
        (task.at("id").name(), each) for task in tasks for each in task.at("annotations").items()
    ]
    questions = [
        choices.at("from_name").text() for _, each in annotations for choices in _choices(each)
    ]
    question = choose_question(request.question, questions, shown(path))
    if question is None:
        _check_other_types([each for _, each in annotations], path)
    several = len(set(questions)) > 1
    answers = Answers()
    for unit, each in annotations:
        labels = _chosen(each, question, request, several=several)
        answers.add(unit, _completed_by(each), labels, each.place)
    predicted = Predicted(request)
    for task in tasks:
        for each in _predictions(task):
            parse = partial(_chosen, each, question, request, several=several)
            predicted.add(task.at("id").name(), each.get("model_version"), parse, each.place)
    return replace(answers, predicted=predicted.answers)


def _predictions(task: Node) -> Iterator[Node]:
    """Yield the predictions of a task that hold an answer."""
    predictions = task.get("predictions")
    found = () if predictions is None else predictions.items()
    yield from (each for each in found if isinstance(each.value, dict) and "result" in each.value)


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
    return unanswered(request, annotation, question)


def _completed_by(annotation: Node) -> Hashable:
    """Return who annotated: the email, or the number where that is all there is."""
    rater = annotation.at("completed_by")
    if not isinstance(rater.value, dict):
        return rater.name()
    email = rater.get("email")
    return rater.at("id").name() if email is None or not email.value else email.name()


def _check_other_types(annotations: list[Node], path: Path) -> None:
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


# ---- spans in JSON -------------------------------------------------------------------------------


def read_spans(path: Path, request: Request, spans: Spans) -> None:
    """Add the labelled spans of each annotation; one without results found nothing."""
    for task in read_records(path, request.encoding, name="tasks"):
        document, text = task.at("id").name(), _text_of(task.at("data"))
        for each in task.at("annotations").items():
            if each.flag("was_cancelled"):
                continue
            pair = spans.add_done(document, _completed_by(each), each.place, text)
            for result in each.at("result").items():
                kind = str(result.members().get("type"))
                if kind == "hypertextlabels":
                    raise result.fail(
                        "spans in HTML, whose text is not in the export; write a table of spans "
                        "with the lengths of the texts (Annotations.from_spans)."
                    )
                if kind != "labels":
                    spans.ignored[f"{kind!r} result"] += 1
                    continue
                layer, value = result.at("from_name").text(), result.at("value")
                seconds = result.get("original_length")  # of a recording
                if seconds is not None and request.question in {None, layer}:
                    spans.lengths[document] = seconds.number()
                quote = None if value.get("text") is None else value.at("text").text()
                quote = quote and quote.replace("\\n", "\n")  # as some versions write line breaks
                spans.ignored["unlabelled span"] += not value.at("labels").value
                for label in value.at("labels").items():
                    ends, place = value.ends(), result.place
                    spans.add(pair, ends, label.label(), place, quote=quote, layer=layer)
    if spans.lengths:  # the only text of a recording is its address
        spans.texts.clear()


def _text_of(data: Node) -> str | None:
    """Return the text of a task: its only text, or that which is called text."""
    texts = {key: one for key, one in data.members().items() if isinstance(one, str)}
    return next(iter(texts.values())) if len(texts) == 1 else texts.get("text")


# ---- JSON-MIN ------------------------------------------------------------------------------------


def read_min(path: Path, request: Request) -> Answers:
    """Return the answers of the flat layout, in which an unanswered question has no key."""
    check_useless(request, path, "roster")
    rows = [
        row
        for row in read_records(path, request.encoding, name="rows")
        # A task without any annotation has a row all the same.
        if row.get("annotation_id") is not None or row.get("annotator") is not None
    ]
    question = _min_question(rows, request, path)
    others = [key for key in _min_keys(rows) if key != question]
    several = any(_may_be_question(rows, key) for key in others)
    answers = Answers()
    for row in rows:
        labels = _min_labels(row, question, request, several=several)
        answers.add(row.at("id").name(), row.at("annotator").name(), labels, row.place)
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
            f"from data; say which of {listing(list(keys))} it is with {option('question')}."
        )
    return found


def _min_keys(rows: list[Node]) -> dict[str, None]:
    """Return the keys of questions and data."""
    return dict.fromkeys(key for row in rows for key in row.members() if key not in _NOT_QUESTIONS)


def _may_be_question(rows: list[Node], key: str) -> bool:
    """Return whether a key may be a question: data are the same in all rows of a task."""
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
        return unanswered(request, row, question)
    if isinstance(answer.value, dict):
        return answer.at("choices").label_set()
    return frozenset([answer.label()])


# ---- CSV -----------------------------------------------------------------------------------------


def read_csv(path: Path, request: Request) -> Answers:
    """Read a CSV export; a task that nobody annotated has a row without an annotator."""
    sheet = Sheet.open(path, request)
    sheet = sheet.keep(~(sheet.blank("annotation_id") & sheet.blank("annotator")))
    name = _csv_question(sheet, request)
    found = sheet.found(
        sheet.ids("id"),
        sheet.ids("annotator"),
        sheet.parse(name, _cell_choices),
        sheet.blank(name),
    )
    several = _columns_ask_more(sheet, name)
    why = f"It was submitted without a choice{', or not shown' if several else ''}."
    return settle(found, request, why=why, default=None if several else "empty")


def _columns_ask_more(sheet: Sheet, question: str) -> bool:
    """Return whether another column may be a question: data are the same in all rows of a task."""
    task = sheet.cells("id")
    others = [name for name in sheet.columns if name not in {*_NOT_QUESTIONS, question}]
    return any(
        sheet.cells(name).str.startswith('{"choices"').any()
        or (sheet.cells(name).groupby(task).nunique() > 1).any()
        for name in others
    )


def _csv_question(sheet: Sheet, request: Request) -> str:
    """Return the column of the answers: the one where somebody chose several labels."""
    known = [name for name in sheet.columns if name not in _NOT_QUESTIONS]
    if request.question is None:
        several = [n for n in known if sheet.cells(n).str.startswith('{"choices"').any()]
        known = several or known
        if not several:
            raise DataError(
                f"{sheet.name}: which column holds the choices? Nobody chose several labels, so "
                f"it may be any of {', '.join(map(repr, known))}; say {option('question', '...')}."
            )
    return pick_question(request.question, known, sheet.name)


def _cell_choices(cell: str) -> LabelSet:
    """Return the one choice that a cell is, or those of its JSON."""
    if cell.startswith(('{"choices"', "[")):
        try:
            found = read_json(cell)
        except FileError:
            if cell.startswith('{"choices"'):
                raise
            found = None
        if isinstance(found, dict):
            return label_list(found["choices"], cell)
        if isinstance(found, list) or cell.startswith("{"):
            raise FileError(
                f"{shorten(cell)} is neither a label nor a list of choices for the whole task; "
                "export JSON if the choices belong to regions."
            )
    return frozenset({cell})
