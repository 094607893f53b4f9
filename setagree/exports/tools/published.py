"""Layouts of published data sets with all annotations: LeWiDi, parallel lists, BRIGHTER, Potato."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from setagree.errors import DataError, listing, option
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.json_nodes import Node, parallel, read_object, shown
from setagree.exports.reader_helpers import blank_answer, check_useless, choose_question
from setagree.exports.registry import LIST_KEYS
from setagree.exports.table_exports import Sheet, records_or_rows
from setagree.study.columns import usual_roles
from setagree.study.labels import LabelSyntax, printed_items, read_cell
from setagree.wording.label_sets import Label, LabelSet

# ---- LeWiDi 2023 and 2025: an object keyed by unit ----------------------------------------------


def is_lewidi(peek: Peek) -> bool:
    """Return whether an object maps units to objects with annotators and annotations."""
    units = list(peek.record.values()) if isinstance(peek.record, dict) else []
    keys = {"annotations", "annotators"}
    return bool(units) and all(isinstance(x, dict) and keys <= {*x} for x in units)


def read_lewidi(path: Path, request: Request) -> Answers:
    """Return the answers of each unit: text with commas, or an object keyed by annotator."""
    check_useless(request, path, "question", "roster")
    answers = Answers()
    for unit in read_object(path, request.encoding).values():
        annotations = unit.at("annotations")
        if isinstance(annotations.value, dict):
            for answer in annotations.values():
                answers.add(unit.key, answer.key, _labels(answer, request), answer.place)
        else:
            for rater, answer in parallel(unit.at("annotators"), annotations, _items):
                answers.add(unit.key, rater.name(), _labels(answer, request), answer.place)
    return answers


def _labels(node: Node, request: Request) -> LabelSet | None:
    """Return the labels of an answer: a list, text, or one number; None if it is null."""
    if isinstance(node.value, list):
        return node.label_set()
    if not isinstance(node.value, str):
        return node.number_set()
    labels = read_cell(node.value, LabelSyntax(label_sep=request.sep_or(",")))
    return blank_answer(request, node, "blank") if labels is None else labels


def _items(node: Node, sep: str = ",") -> Iterator[Node]:
    """Yield the items of a list, or of text with a printed list or with separators."""
    if isinstance(node.value, str):
        node = Node(_parts(node.value, sep), node.file, node.key, node.parent)
    return node.items()


# ---- Parallel lists of annotators and answers, in JSON lines and in the cells of a table --------


def _parts(value: object, sep: str | None = None) -> list[Any]:
    """Return the items of a list or of a printed one, or those of text between separators."""
    if isinstance(value, str) and value.strip().startswith("["):
        with suppress(ValueError):
            value = printed_items(value.strip())
    elif isinstance(value, str) and sep and value.strip():
        value = [part.strip() for part in value.split(sep)]
    has_dicts = isinstance(value, list) and any(isinstance(item, dict) for item in value)
    return value if isinstance(value, list) and not has_dicts else []


def _separator(records: Iterable[Mapping[str, Any]]) -> str:
    """Return the separator of raters in cells: the first of | and ; that occurs, else a comma."""
    cells = [str(r[name]) for r in records for name in r if re.fullmatch(LIST_KEYS[0], name)]
    return next((sep for sep in "|;" if any(sep in cell for cell in cells)), ",")


def _parallel_keys(
    record: Mapping[str, Any], sep: str | None = None
) -> tuple[str, str, str] | None:
    """Return the keys of unit, raters and answers, if the last two have one length, not 0."""
    raters, answers = (
        [name for name in record if re.fullmatch(key, name) and _parts(record[name], sep)]
        for key in LIST_KEYS
    )
    unit = usual_roles(name for name in record if name not in {*raters, *answers}).get("unit")
    if unit is None or len(raters) != 1 or len(answers) != 1:
        return None
    n_raters, n_answers = (len(_parts(record[name], sep)) for name in (*raters, *answers))
    return (unit, raters[0], answers[0]) if n_raters == n_answers else None


def is_parallel(peek: Peek) -> bool:
    """Return whether a record or cells of a table are lists of annotators and of their answers.

    Or all rows of a table have text with the same number of separators in both columns.
    """
    if peek.record is not None:
        return isinstance(peek.record, dict) and _parallel_keys(peek.record) is not None
    rows = [dict(zip(peek.header, row, strict=True)) for row in peek.rows]
    if rows and _parallel_keys(rows[0]):
        return True
    sep = _separator(rows)
    keys = {_parallel_keys(row, sep) for row in rows}
    return len(keys) == 1 and any(
        k and len(_parts(row[k[1]], sep)) > 1 for row in rows for k in keys
    )


def read_parallel(path: Path, request: Request) -> Answers:
    """Return the answers of records, or of rows of a table, with parallel lists."""
    check_useless(request, path, "question", "roster")
    records = records_or_rows(path, request)
    sep = _separator(x.members() for x in records)
    found = (_parallel_keys(x.members(), s) for s in (None, sep) for x in records)
    keys = next(filter(None, found), None)
    if keys is None:
        raise DataError(f"{shown(path)} has no lists of annotators and of their answers.")
    unit, raters, labels = keys
    answers = Answers()
    for row in records:
        for rater, answer in parallel(row.at(raters), row.at(labels), partial(_items, sep=sep)):
            answers.add(row.at(unit).name(), rater.name(), _labels(answer, request), answer.place)
    return answers


# ---- BRIGHTER: a row per text and emotion, a column per annotator -------------------------------


def is_individuals(peek: Peek) -> bool:
    """Return whether a table has one label per row and one column of degrees per annotator."""
    return bool(peek.rows) and len(_annotator_columns(peek.header, peek.rows)) > 1


def _annotator_columns(names: Any, rows: Any) -> list[str]:
    """Return the columns of annotators, whose cells are degrees from 0 to 3, or blank."""
    cells = {name: {row[k].strip() for row in rows} for k, name in enumerate(names)}
    degrees = {"", "0", "1", "2", "3", "0.0", "1.0", "2.0", "3.0"}
    return [name for name, values in cells.items() if values <= degrees and values != {""}]


def read_individuals(path: Path, request: Request) -> Answers:
    """Return the labels with a degree above 0 of each annotator; None if all are blank."""
    check_useless(request, path, "question", "roster")
    sheet = Sheet.open(path, request)
    cells = {name: sheet.cells(name).tolist() for name in sheet.columns}
    raters = _annotator_columns(sheet.columns, list(zip(*cells.values(), strict=True)))
    label = next(name for name in sheet.columns if name.casefold() in {"emotion", "label"})
    unit = usual_roles([n for n in sheet.columns if n not in {*raters, label}]).get("unit")
    if unit is None:
        raise DataError(
            f"{shown(path)} has no column with a usual name for the texts; rename it to text, or "
            f"use {option('tool', 'table')}."
        )
    row_of: dict[tuple[Hashable, str], int] = {}
    for row, key in enumerate(zip(sheet.ids(unit), cells[label], strict=True)):
        if key in row_of:
            raise sheet.error(row, label, f"another row of {key[0]!r} and {key[1]!r}.")
        row_of[key] = row
    names = [*dict.fromkeys(cells[label])]
    answers = Answers()
    for text in dict.fromkeys(sheet.ids(unit)):
        if missing := [name for name in names if (text, name) not in row_of]:
            raise DataError(
                f"{shown(path)}: text {text!r} has no row for {listing(missing, limit=3)}, as "
                "other texts have; add the rows, or keep only the labels of all texts."
            )
        rows = [row_of[text, name] for name in names]
        for rater in raters:
            degrees = [cells[rater][row] for row in rows]
            if blank := [row for row, x in zip(rows, degrees, strict=True) if not x]:
                if len(blank) < len(rows):
                    raise sheet.partly_blank(blank[0], rater, "text")
                continue
            labels = frozenset(name for name, x in zip(names, degrees, strict=True) if float(x) > 0)
            answers.add(text, rater, labels, sheet.places[min(rows)])
    return answers


# ---- Potato: user_state.json of each user -------------------------------------------------------


def read_potato(path: Path, request: Request) -> Answers:
    """Return the labels of the instances of one user, or of a folder of users."""
    files = sorted(path.rglob("user_state.json")) if path.is_dir() else [path]
    answers_of: dict[str, Answers] = {}
    for file in files:
        state = read_object(file, request.encoding)
        user = state.get("user_id")
        rater = file.parent.name if user is None else user.name()
        for unit in state.at("instance_id_to_label_to_value").values():
            labels_of: dict[str, set[Label]] = {}
            # pairs of (schema, name) and value
            for pair in unit.items() if isinstance(unit.value, list) else ():
                key, value = pair.items()
                schema, name = (str(key.at(part).label()) for part in ("schema", "name"))
                is_chosen = value.value not in (None, False, "", "false")
                labels_of.setdefault(schema, set()).update([name] * is_chosen)
            for schema, labels in labels_of.items():
                answers = answers_of.setdefault(schema, Answers())
                answers.add(unit.key, rater, frozenset(labels), unit.place)
    question = choose_question(request.question, answers_of, shown(path))
    return Answers() if question is None else answers_of[question]
