"""Rows as Hugging Face writes them: label lists, ClassLabel integers, nested annotators, flags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from setagree.errors import DataError, FileError, listing
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.gathering import check_useless, choose_question
from setagree.exports.nodes import Node, class_files, read_object, read_records, shown
from setagree.exports.sheets import Sheet, drop, flag_sets, ticked
from setagree.exports.unclear import settle
from setagree.files.binary import dataset_rows, is_dataset
from setagree.files.streams import Source
from setagree.study.assembly import warn_nulls_left
from setagree.study.columns import Columns, guess_columns
from setagree.wording.label_sets import Label

_MOST_SHAPES = 100
"""Objects with different keys in a record that are looked at; a record has few."""


def read_sequence(path: Path, request: Request) -> Answers:
    """Return rows with a unit, a rater and a list of labels."""
    check_useless(request, path, "roster")
    rows = _rows(path, request)
    columns = _columns(rows[0].members())
    if columns is None:
        raise DataError(
            f"{rows[0]}: no keys with usual names for unit, rater and a list of labels among "
            f"{listing(list(rows[0].members()))}; call them unit, rater and labels."
        )
    answer = _answer_key(request, columns, rows, path)
    names = class_names(path, answer, request.encoding)
    _check_flags([given for row in rows if (given := row.get(answer)) is not None])
    answers = Answers()
    known: dict[str, frozenset[Label]] = {}
    for row in rows:
        unit, rater = row.at(columns.unit).name(), row.at(columns.rater).name()
        answers.add(unit, rater, _labels_of(row, answer, names, known), row.place)
    return _doubted(answers, request)


def _rows(path: Path, request: Request) -> list[Node]:
    """Return the rows of a file, or of the folder of a dataset, whose classes have their names."""
    if not is_dataset(path):
        return read_records(path, request.encoding, name="rows")
    rows = dataset_rows(Source(path)).to_pylist()
    return [Node(row, shown(path), f"rows[{place}]") for place, row in enumerate(rows)]


def _doubted(answers: Answers, request: Request) -> Answers:
    """Warn that nulls in the place of lists are missing although `blank` is not "missing"."""
    if request.blank is not None:
        warn_nulls_left(answers.labels.count(None), request.blank, has_sets=True)
    return answers


def _check_flags(answers: Sequence[Node]) -> None:
    """Raise an error for lists of 0 and 1 of one length, which are flags, not labels."""
    lists = [each.value for each in answers if isinstance(each.value, list) and each.value]
    widths = {len(each) for each in lists}
    if len(widths) != 1 or widths == {1}:
        return
    if all(type(item) is int and item in {0, 1} for each in lists for item in each):
        raise answers[0].fail(
            f"like every list of labels, this is one of {max(widths)} zeros and ones; write the "
            "names of the labels that are 1."
        )


def _labels_of(
    row: Node, answer: str, names: list[str], known: dict[str, frozenset[Label]]
) -> frozenset[Label] | None:
    """Return the labels of a row; of the lists of a file, most were read before."""
    given = row.get(answer)
    if given is None:
        return None
    key = repr(given.value)
    if key not in known:
        known[key] = _named(given, names)
    return known[key]


def _answer_key(request: Request, columns: Columns, rows: list[Node], path: Path) -> str:
    """Return the key of the answers: the question that is asked for, or the usual name."""
    if request.question is None:
        return str(columns.labels)
    keys = dict.fromkeys(key for row in rows for key in row.members())
    return str(choose_question(request.question, keys, shown(path)))


def _columns(record: dict[str, Any]) -> Columns | None:
    """Return the keys of unit, rater and labels where they have usual names and a fitting look."""
    lists = [key for key, value in record.items() if isinstance(value, list)]
    plain = [key for key, value in record.items() if isinstance(value, str | int)]
    try:
        labels = guess_columns([*lists, "unit", "rater"], unit="unit", rater="rater").labels
        return guess_columns([*plain, labels], labels=labels) if labels in lists else None
    except DataError:
        return None


def is_sequence(peek: Peek) -> bool:
    """Return whether a record names a unit and a rater, and holds a list of labels."""
    record = peek.record if isinstance(peek.record, dict) else {}
    columns = None if _group(record) else _columns(record)
    answer = record.get(str(columns.labels)) if columns is not None else None
    return isinstance(answer, list) and all(isinstance(label, str | int) for label in answer)


# ---- Nested annotators ----------------------------------------------------------------------


def read_nested(path: Path, request: Request) -> Answers:
    """Return units that each hold the answers of all their raters, as parallel lists or objects."""
    check_useless(request, path, "question", "roster")
    rows = _rows(path, request)
    found = _group(rows[0].members())
    if found is None:
        raise DataError(
            f"{rows[0]}: no key that holds raters and their lists of labels among "
            f"{listing(list(rows[0].members()))}."
        )
    group, rater, labels = found
    unit = _unit_key(rows[0], group)
    names = class_names(path, labels, request.encoding)
    answers = Answers()
    pairs = [(row, *pair) for row in rows for pair in _pairs(row.at(group), rater, labels)]
    _check_flags([given for _, _, given in pairs])
    for row, who, given in pairs:
        label_set = None if given.value is None else _named(given, names)
        answers.add(row.at(unit).name(), who.name(), label_set, given.place)
    return _doubted(answers, request)


def _pairs(group: Node, rater: str, labels: str) -> Iterator[tuple[Node, Node]]:
    """Yield who annotated and what, from two parallel lists or a list of objects."""
    if isinstance(group.value, list):
        yield from ((each.at(rater), each.at(labels)) for each in group.items())
        return
    who, given = list(group.at(rater).items()), list(group.at(labels).items())
    if len(who) != len(given):
        raise group.fail(f"{len(who)} under {rater!r} and {len(given)} under {labels!r}.")
    yield from zip(who, given, strict=True)


def _group(record: dict[str, Any]) -> tuple[str, str, str] | None:
    """Return the key that holds the raters, and within it those of the raters and the labels."""
    guessed: dict[tuple[str, ...], Columns | None] = {}  # one guess for all objects that are alike
    for key, value in record.items():
        many = isinstance(value, list) and value and isinstance(value[0], dict)
        inside = value[0] if many else value
        if not isinstance(inside, dict):
            continue
        lists = [name for name, one in inside.items() if isinstance(one, list)]
        if tuple(inside) not in guessed and lists and len(guessed) < _MOST_SHAPES:
            try:
                guessed[*inside,] = guess_columns([*inside, ""], unit="")
            except DataError:
                guessed[*inside,] = None
        if not lists or (found := guessed.get(tuple(inside))) is None:
            continue
        fits = found.labels in lists and (many or found.rater in lists)
        answers = [] if many else inside[str(found.labels)]
        if fits and all(each is None or isinstance(each, list) for each in answers):
            return key, found.rater, str(found.labels)
    return None


def _unit_key(row: Node, group: str) -> str:
    plain = [key for key, value in row.members().items() if isinstance(value, str | int)]
    try:
        return guess_columns([*plain, "", group], rater="", labels=group).unit
    except DataError:
        raise DataError(
            f"{row}: no key with a usual name for the unit among {listing(plain)}; call it unit."
        ) from None


def is_nested(peek: Peek) -> bool:
    """Return whether a record holds raters and their lists of labels."""
    return isinstance(peek.record, dict) and _group(peek.record) is not None


# ---- ClassLabel -----------------------------------------------------------------------------


def class_names(path: Path, column: str, encoding: str) -> list[str]:
    """Return the names that integers of a column stand for; none where no file beside tells.

    They are looked for in ``<name>.features.json`` and ``dataset_info.json`` beside the file.
    """
    for beside in class_files(path):
        tree = read_object(beside, encoding)
        names = _find_names(tree.value, column, inside=False)
        if names is None:
            continue
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise FileError(f"{shown(beside)}: the names of a ClassLabel must be a list of text.")
        return names
    return []


def _find_names(tree: object, column: str, *, inside: bool) -> object | None:
    """Return the names of the first ClassLabel at or below a column."""
    if not isinstance(tree, dict):
        return None
    if inside and tree.get("_type") == "ClassLabel":
        return tree.get("names")
    for key, value in tree.items():
        found = _find_names(value, column, inside=inside or key == column)
        if found is not None:
            return found
    return None


def _named(labels: Node, names: list[str]) -> frozenset[Label]:
    """Return the labels, integers by their names where there are any."""
    if not names:
        return labels.label_set()
    return frozenset([_name(each, names) for each in labels.items()])


def _name(label: Node, names: list[str]) -> Label:
    code = label.label()
    if isinstance(code, str):
        return code
    if not 0 <= code < len(names):
        raise label.fail(f"{code} is not the number of a class; there are 0 to {len(names) - 1}.")
    return names[code]


# ---- Flags in the layout of GoEmotions -----------------------------------------------------------

_UNCLEAR = "example_very_unclear"


def read_onehot(path: Path, request: Request) -> Answers:
    """Read one column per label; skip examples that are marked as very unclear."""
    sheet = Sheet.open(path, request)
    unclear = ticked(sheet, _UNCLEAR)
    place = sheet.columns.index(_UNCLEAR)
    _check_stray_flags(sheet, sheet.columns[:place])
    labels, blank = flag_sets(sheet, {n: n for n in sheet.columns[place + 1 :]})
    found = sheet.found(
        sheet.ids("id"), sheet.ids("rater_id"), drop(labels, unclear), blank & ~unclear
    )
    return settle(found, request, why="All its labels are blank.")


def _check_stray_flags(sheet: Sheet, names: Sequence[str]) -> None:
    """Raise an error for labels to the left of the labels, where nobody would look for them."""
    for name in names:
        flags = sheet.among(name, {"0", "1"})
        if name not in {"id", "rater_id", "column 1"} and flags.all():
            raise DataError(
                f"{sheet.name}: column {name!r} holds 0 and 1 and stands to the left of "
                f"{_UNCLEAR!r}; labels stand to its right. Move or drop that column."
            )
