"""LightTag: JSON of classifications.

Suggestions of models are not read, because they are spans, not classes.
"""

from __future__ import annotations

from pathlib import Path

from setagree.exports.format import Answers, Request
from setagree.exports.json_nodes import read_object
from setagree.exports.reader_helpers import check_useless
from setagree.wording.label_sets import Label


def read(path: Path, request: Request) -> Answers:
    """Return the classes from each annotator; the empty set if an example was seen without one."""
    check_useless(request, path, "question", "roster")
    answers = Answers()
    for example in read_object(path, request.encoding).at("examples").items():
        unit = example.at("example_id").name()
        seen = example.at("seen_by").items()
        labels_of = {entry.at("annotator").name(): set[Label]() for entry in seen}
        for classification in example.at("classifications").items():
            label = classification.at("classname").label()
            for entry in classification.at("annotated_by").items():
                labels_of.setdefault(entry.at("annotator").name(), set()).add(label)
        for rater, labels in labels_of.items():
            answers.add(unit, rater, frozenset(labels), example.place)
    return answers
