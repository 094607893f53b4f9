"""References of coefficients, distances and methods; the records are in ``references.csv``."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path

from setagree.distances import distance_names, get_distance
from setagree.scoring.results import Agreement
from setagree.wording.references import Reference

_RECORDS = csv.DictReader(Path(__file__).with_suffix(".csv").read_text("utf-8").splitlines())
REFERENCES = {f"{row['cited_as']} {row['year']}": Reference(**row) for row in _RECORDS}
"""By the name that texts cite them by, as ``Cohen 1968``."""


def cited(sources: Iterable[str]) -> list[Reference]:
    """Return the references of some sources, each once, sorted; other text is a note."""
    return sorted(set(map(_reference, sources)), key=attrgetter("text"))


def citation(source: str | None) -> str:
    """Return the citation of a source for a sentence, such as " (Cohen, 1968)"; blank if None."""
    return "" if source is None else f" ({_reference(source).in_sentence})"


def _reference(source: str) -> Reference:
    return REFERENCES.get(source) or Reference("misc", note=source)


def is_ours(row: Agreement) -> bool:
    """Return whether a distance is the built-in one of its name; users may reuse names."""
    if row.distance not in distance_names():
        return False
    return row.case.distance is None or row.case.distance == get_distance(row.distance)
