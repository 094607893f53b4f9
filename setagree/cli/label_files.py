"""Distances that a file about the labels states: their weights, a taxonomy, distances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from setagree.cli.inputs import Clean, two_columns
from setagree.cli.options import Asked, LabelFiles, Reading
from setagree.cli.reading import names
from setagree.distances import Distance, taxonomy, transport, weighted_jaccard
from setagree.errors import DataError, OptionError, SetagreeError, shorten
from setagree.files.tables import read_table
from setagree.study.names import tidied


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
    return [*listed, *(_stated(option, path, reading) for option, path in given.items())]


def _stated(option: str, path: str, reading: Reading) -> Distance:
    """Return the distance of a file, which its formula names."""

    def clean(label: Any) -> Any:
        text = tidied(label)
        return text.lower() if reading.case == "lower" and isinstance(text, str) else text

    try:
        frame = read_table(path, encoding=reading.encoding)
        distance = _OF_FILES[option](frame, clean)
    except SetagreeError as error:
        raise type(error)(f"--{option} {path}: {error}") from error
    said = f"{distance.formula}; the {option.replace('-', ' ')} are those of {Path(path).name}"
    return replace(distance, formula=said.replace("taxonomy are those", "taxonomy is that"))


def _of_weights(frame: pd.DataFrame, clean: Clean) -> Distance:
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


def _of_parents(frame: pd.DataFrame, clean: Clean) -> Distance:
    parents: dict[Any, list[Any]] = {}
    for child, parent in two_columns(frame, "child", "parent", clean):
        above = parents.setdefault(child, [])
        if not pd.isna(parent) and clean(parent) != "":
            above.append(clean(parent))
    return taxonomy(parents)


def _of_distances(frame: pd.DataFrame, clean: Clean) -> Distance:
    """Return the transport of a square table whose first column names the rows."""
    if len(frame.columns) < 2:
        raise DataError("a square table names its rows in the first column, and has one a label.")
    table = (
        frame.iloc[:, 1:]
        .astype(object)
        .set_axis([clean(name) for name in frame.columns[1:]], axis=1)
    )
    return transport(table.set_axis([clean(name) for name in frame.iloc[:, 0]], axis=0))


_OF_FILES: Mapping[str, Callable[[pd.DataFrame, Clean], Distance]] = {
    "label-weights": _of_weights,
    "taxonomy": _of_parents,
    "label-distances": _of_distances,
}
