"""LightTag: JSON of classifications.

Suggestions of models are spans, not classes: there are none to read.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

from setagree.exports.format import Answers, Request
from setagree.exports.gathering import check_useless
from setagree.exports.nodes import Node, read_object
from setagree.wording.label_sets import Label


def read(path: Path, request: Request) -> Answers:
    """Return the classes that each annotator gave; one who saw and gave none gave none."""
    check_useless(request, path, "question", "roster")
    root = read_object(path, request.encoding)
    answers = Answers()
    for example in root.at("examples").items():
        unit = example.at("example_id").name()
        given = {_annotator(each): set[Label]() for each in example.at("seen_by").items()}
        for one in example.at("classifications").items():
            label = one.at("classname").label()
            for each in one.at("annotated_by").items():
                given.setdefault(_annotator(each), set()).add(label)
        for rater, labels in given.items():
            answers.add(unit, rater, frozenset(labels), example.place)
    return answers


def _annotator(each: Node) -> Hashable:
    return each.at("annotator").name()
