"""Distances from files about the labels: their weights, a taxonomy, distances or vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from setagree.cli.inputs import Clean, numbers_by_name
from setagree.cli.options import LabelFiles, Measures, Reading
from setagree.cli.reading import names
from setagree.distances import Distance, embedding, taxonomy, transport, weighted_jaccard
from setagree.distances.embeddings import read_vectors
from setagree.distances.hierarchy import is_separator, parents_table
from setagree.distances.labelled import PREVALENCE
from setagree.errors import DataError, OptionError, SetagreeError
from setagree.files.tables import read_table
from setagree.study.identifiers import tidied


def chosen_measures(measures: Measures, reading: Reading) -> dict[str, list[Any]]:
    """Return the named coefficients and distances, without a key for what is not named."""
    chosen: dict[str, list[Any]] = {"coefficient": names(measures.coefficient)}
    chosen["distance"] = chosen_distances(measures.distance, measures, reading)
    return {name: values for name, values in chosen.items() if values}


def chosen_distances(
    named: Sequence[str] | None, files: LabelFiles, reading: Reading
) -> list[str | Distance]:
    """Return the named distances, or the one that a file about the labels defines."""
    passed, listed = files.passed, names(named)
    options = [f"--{option}" for option in passed]
    if len(options) > 1:
        raise OptionError(f"{' and '.join(options)} each select a distance; use one of them.")
    if options and listed:
        raise OptionError(
            f"{options[0]} selects its own distance; omit it, or --distance {','.join(listed)}."
        )
    for option, required in (("taxonomy-credit", "taxonomy"), ("embedding-match", "embeddings")):
        if getattr(files, option.replace("-", "_")) is not None and required not in passed:
            raise OptionError(f"--{option} requires --{required}.")
    return [*listed, *(_distance(option, text, files, reading) for option, text in passed.items())]


def _distance(option: str, text: str, files: LabelFiles, reading: Reading) -> Distance:
    """Return the distance of an option; its formula names the file."""

    def clean(label: Any) -> Any:
        name = tidied(label)
        return name.lower() if reading.case == "lower" and isinstance(name, str) else name

    try:
        distance = _OF_OPTIONS[option](text, files, reading.encoding, clean)
    except SetagreeError as error:
        raise error.worded(f"--{option} {text}: {error}") from None
    if text == PREVALENCE or (option == "taxonomy" and is_separator(text)):
        return distance
    verb = "taxonomy is that" if option == "taxonomy" else f"{option.replace('-', ' ')} are those"
    return replace(distance, formula=f"{distance.formula}; the {verb} of {Path(text).name}")


def _from_weights(path: str, _: LabelFiles, encoding: str, clean: Clean) -> Distance:
    if path == PREVALENCE:
        return weighted_jaccard(PREVALENCE)
    return weighted_jaccard(numbers_by_name(path, encoding, "label", "weight", clean))


def _from_parents(path: str, files: LabelFiles, encoding: str, clean: Clean) -> Distance:
    credit: Any = files.taxonomy_credit or "ancestors"
    table = path if is_separator(path) else parents_table(path, encoding=encoding).map(clean)
    return taxonomy(table, credit=credit)


def _from_vectors(path: str, files: LabelFiles, encoding: str, clean: Clean) -> Distance:
    match: Any = files.embedding_match or "centroid"
    return embedding(read_vectors(path, encoding=encoding, clean=clean), match=match)


def _from_distances(path: str, _: LabelFiles, encoding: str, clean: Clean) -> Distance:
    """Return the transport distance of a square table whose first column has the labels."""
    table = read_table(path, encoding=encoding)
    if len(table.columns) < 2:
        raise DataError(
            "a square table has the labels in its first column, and a further column per label."
        )
    rows, columns = map(clean, table.iloc[:, 0]), map(clean, table.columns[1:])
    square = table.iloc[:, 1:].astype(object).set_axis([*columns], axis=1)
    return transport(square.set_axis([*rows], axis=0))


_OF_OPTIONS: Mapping[str, Callable[[str, LabelFiles, str, Clean], Distance]] = {
    "label-weights": _from_weights,
    "taxonomy": _from_parents,
    "label-distances": _from_distances,
    "embeddings": _from_vectors,
}
