"""Distances that a file about the labels states: their weights, a taxonomy, distances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from setagree.cli.inputs import Clean, two_columns
from setagree.cli.options import Asked, LabelFiles, Reading
from setagree.cli.reading import names
from setagree.distances import Distance, embedding, taxonomy, transport, weighted_jaccard
from setagree.distances.embeddings import read_vectors
from setagree.distances.hierarchy import is_separator, parents_table
from setagree.distances.labelled import PREVALENCE
from setagree.errors import DataError, OptionError, SetagreeError, shorten
from setagree.files.tables import read_table
from setagree.study.identifiers import tidied


def wished(asked: Asked, reading: Reading) -> dict[str, list[Any]]:
    """Return the coefficients and the distances that are asked for, without what nobody named."""
    found: dict[str, list[Any]] = {"coefficient": names(asked.coefficient)}
    found["distance"] = asked_distances(asked.distance, asked, reading)
    return {name: named for name, named in found.items() if named}


def asked_distances(
    named: Sequence[str] | None, files: LabelFiles, reading: Reading
) -> list[str | Distance]:
    """Return the distances that are named, or the one that a file about the labels states."""
    given, listed = files.given, names(named)
    options = [f"--{option}" for option in given]
    if len(options) > 1:
        raise OptionError(f"{' and '.join(options)} each select a distance; give one of them.")
    if options and listed:
        raise OptionError(
            f"{options[0]} selects its own distance; drop it, or --distance {','.join(listed)}."
        )
    for option, needed in _REFINED.items():
        if getattr(files, option.replace("-", "_")) is not None and needed not in given:
            raise OptionError(f"--{option} needs --{needed}.")
    return [*listed, *(_stated(option, value, files, reading) for option, value in given.items())]


_REFINED = {
    "taxonomy-credit": "taxonomy",
    "embedding-match": "embeddings",
}
"""Options that say more of a distance, and the one that selects it."""


def _stated(option: str, value: str, files: LabelFiles, reading: Reading) -> Distance:
    """Return the distance of a file, or of what stands for one, which its formula names."""

    def clean(label: Any) -> Any:
        text = tidied(label)
        return text.lower() if reading.case == "lower" and isinstance(text, str) else text

    try:
        distance = _OF_OPTIONS[option](value, files, reading.encoding, clean)
    except SetagreeError as error:
        raise type(error)(f"--{option} {value}: {error}") from error
    if value == PREVALENCE or (option == "taxonomy" and is_separator(value)):
        return distance
    said = f"{distance.formula}; the {option.replace('-', ' ')} are those of {Path(value).name}"
    return replace(distance, formula=said.replace("taxonomy are those", "taxonomy is that"))


def _of_weights(path: str, _: LabelFiles, encoding: str, clean: Clean) -> Distance:
    if path == PREVALENCE:
        return weighted_jaccard(PREVALENCE)
    frame = read_table(path, encoding=encoding)
    weights: dict[Any, float] = {}
    for label, weight in two_columns(frame, "label", "weight", clean):
        if label in weights:
            raise DataError(f"label {shorten(label)} has two weights.")
        try:
            weights[label] = float(weight)
        except (TypeError, ValueError):
            raise DataError(
                f"label {shorten(label)} has weight {shorten(weight)}; write a number such as 2.5."
            ) from None
    return weighted_jaccard(weights)


def _of_parents(path: str, files: LabelFiles, encoding: str, clean: Clean) -> Distance:
    credit: Any = "ancestors" if files.taxonomy_credit is None else files.taxonomy_credit
    if is_separator(path):
        return taxonomy(path_separator=path, credit=credit)
    return taxonomy(parents_table(path, encoding=encoding).map(clean), credit=credit)


def _of_vectors(path: str, files: LabelFiles, encoding: str, clean: Clean) -> Distance:
    known = read_vectors(path, encoding=encoding, clean=clean)
    match: Any = "centroid" if files.embedding_match is None else files.embedding_match
    return embedding(known, match=match)


def _of_distances(path: str, _: LabelFiles, encoding: str, clean: Clean) -> Distance:
    """Return the transport of a square table whose first column names the rows."""
    frame = read_table(path, encoding=encoding)
    if len(frame.columns) < 2:
        raise DataError("a square table names its rows in the first column, and has one a label.")
    table = (
        frame.iloc[:, 1:]
        .astype(object)
        .set_axis([clean(name) for name in frame.columns[1:]], axis=1)
    )
    return transport(table.set_axis([clean(name) for name in frame.iloc[:, 0]], axis=0))


_OF_OPTIONS: Mapping[str, Callable[[str, LabelFiles, str, Clean], Distance]] = {
    "label-weights": _of_weights,
    "taxonomy": _of_parents,
    "label-distances": _of_distances,
    "embeddings": _of_vectors,
}
