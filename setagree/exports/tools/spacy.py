"""spaCy: JSONL with the categories of texts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from setagree.errors import DataError, listing
from setagree.exports.format import Answers, Request
from setagree.exports.gathering import check_useless
from setagree.exports.nodes import Node, read_records
from setagree.study.columns import guess_columns
from setagree.wording.label_sets import Label


def read(path: Path, request: Request) -> Answers:
    """Return the categories that are 1; unit and annotator are what ``meta`` says they are."""
    check_useless(request, path, "question", "roster")
    lines = read_records(path, request.encoding, name="examples")
    known = dict.fromkeys(label for line in lines for label in line.at("cats").members())
    unit, rater = _meta_keys(lines[0])
    answers = Answers()
    for line in lines:
        meta = line.at("meta")
        answers.add(meta.at(unit).name(), meta.at(rater).name(), _given(line, known), line.place)
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
