"""Rows of Hugging Face data sets: nested annotators, ClassLabel integers, and flags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from setagree.errors import DataError, listing
from setagree.exports.blank_answers import settle
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.json_nodes import Node, parallel, read_records, shown
from setagree.exports.reader_helpers import check_useless
from setagree.exports.table_exports import FALSE, TRUE, Sheet, drop, flag_sets
from setagree.files.binary import dataset_rows, is_dataset
from setagree.files.records import class_name, class_names
from setagree.files.streams import Source, with_mark
from setagree.study.assembly import warn_nulls_left
from setagree.study.columns import Columns, guess_columns
from setagree.wording.label_sets import Label

_MAX_SHAPES = 100
"""Largest number of objects with different keys in a record that are tested."""


def _rows(path: Path, request: Request) -> list[Node]:
    """Return the rows of a file, or of the folder of a dataset, which names its classes."""
    if not is_dataset(path):
        return read_records(path, request.encoding, name="rows")
    rows = dataset_rows(Source(path)).to_pylist()
    return [Node(row, shown(path), f"rows[{place}]") for place, row in enumerate(rows)]


def _with_warning(answers: Answers, request: Request) -> Answers:
    """Return the answers; warn if nulls in place of lists are missing despite another `blank`."""
    if request.blank is not None:
        warn_nulls_left(answers.labels.count(None), request.blank, has_sets=True)
    return answers


def _check_flags(answers: Sequence[Node]) -> None:
    """Raise an error for lists of 0 and 1 of one length, which are flags, not labels."""
    lists = [node.value for node in answers if isinstance(node.value, list) and node.value]
    lengths = {*map(len, lists)}
    if len(lengths) != 1 or lengths == {1}:
        return
    if all(type(item) is int and item in {0, 1} for items in lists for item in items):
        raise answers[0].fail(
            f"each list of labels has {max(lengths)} zeros and ones; write the names of the labels "
            "that are 1."
        )


# ---- Nested annotators ----------------------------------------------------------------------


def read_nested(path: Path, request: Request) -> Answers:
    """Return units with the answers of all their raters, as parallel lists or objects."""
    check_useless(request, path, "question", "roster")
    rows = _rows(path, request)
    keys = _group(rows[0].members())
    if keys is None:
        raise DataError(
            f"{rows[0]}: no key with raters and their lists of labels among "
            f"{listing(list(rows[0].members()))}."
        )
    group, rater, labels = keys
    unit = _unit_key(rows[0], group)
    names = class_names(Source(path, with_mark(request.encoding)), labels)
    answers = Answers()
    pairs = [(row, *pair) for row in rows for pair in _pairs(row.at(group), rater, labels)]
    _check_flags([cell for _, _, cell in pairs])
    for row, name, cell in pairs:
        label_set = None if cell.value is None else _named(cell, names)
        answers.add(row.at(unit).name(), name.name(), label_set, cell.place)
    return _with_warning(answers, request)


def _pairs(group: Node, rater: str, labels: str) -> Iterator[tuple[Node, Node]]:
    """Yield the rater and the answer of each rating, from parallel lists or a list of objects."""
    if isinstance(group.value, list):
        yield from ((item.at(rater), item.at(labels)) for item in group.items())
    else:
        yield from parallel(group.at(rater), group.at(labels))


def _group(record: dict[str, Any]) -> tuple[str, str, str] | None:
    """Return the key of the group of ratings, and the keys of raters and labels within it."""
    guessed: dict[tuple[str, ...], Columns | None] = {}  # one guess for objects with equal keys
    for key, value in record.items():
        many = isinstance(value, list) and value and isinstance(value[0], dict)
        inside = value[0] if many else value
        if not isinstance(inside, dict):
            continue
        lists = [name for name, item in inside.items() if isinstance(item, list)]
        if tuple(inside) not in guessed and lists and len(guessed) < _MAX_SHAPES:
            try:
                guessed[*inside,] = guess_columns([*inside, ""], unit="")
            except DataError:
                guessed[*inside,] = None
        if not lists or (columns := guessed.get(tuple(inside))) is None:
            continue
        fits = columns.labels in lists and (many or columns.rater in lists)
        answers = [] if many else inside[str(columns.labels)]
        if fits and all(answer is None or isinstance(answer, list) for answer in answers):
            return key, columns.rater, str(columns.labels)
    return None


def _unit_key(row: Node, group: str) -> str:
    plain = [key for key, value in row.members().items() if isinstance(value, str | int)]
    try:
        return guess_columns([*plain, "", group], rater="", labels=group).unit
    except DataError:
        raise DataError(
            f"{row}: no key with a usual name for the unit among {listing(plain)}; rename it to "
            "unit."
        ) from None


def is_nested(peek: Peek) -> bool:
    """Return whether a record has raters and their lists of labels."""
    return isinstance(peek.record, dict) and _group(peek.record) is not None


def _named(labels: Node, names: list[str]) -> frozenset[Label]:
    """Return the labels, with integers replaced by their names if there are names."""
    if not names:
        return labels.label_set()
    return frozenset([_name(item, names) for item in labels.items()])


def _name(label: Node, names: list[str]) -> Label:
    try:
        name: Label = class_name(label.label(), names)
    except ValueError as error:
        raise label.fail(f"{error}.") from None
    return name


# ---- Flags in the layout of GoEmotions -----------------------------------------------------------

_UNCLEAR = "example_very_unclear"


def read_onehot(path: Path, request: Request) -> Answers:
    """Read one column per label; skip examples that are marked as very unclear."""
    sheet = Sheet.open(path, request)
    sheet.cells(_UNCLEAR)  # raises an error without that column
    problem = f"is neither {max(TRUE)!r} nor {max(FALSE)!r}."
    unclear = sheet.one_of(_UNCLEAR, TRUE, {*FALSE, ""}, problem)
    place = sheet.columns.index(_UNCLEAR)
    for name in sheet.columns[:place]:
        is_flag = sheet.among(name, {"0", "1"}).all()
        if is_flag and name not in {"id", "rater_id", "column 1"}:
            raise DataError(
                f"{sheet.name}: column {name!r} has 0 and 1 and is to the left of {_UNCLEAR!r}; "
                "labels must be to its right. Move or remove that column."
            )
    labels, blank = flag_sets(sheet, {n: n for n in sheet.columns[place + 1 :]})
    raters = sheet.ids("rater_id")
    found = sheet.found(sheet.ids("id"), raters, drop(labels, unclear), blank & ~unclear)
    return settle(found, request, why="All its labels are blank.")
