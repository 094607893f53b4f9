"""Distances between labels that have vectors: an embedding of the labels."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from setagree.checks import Floats, check_cost
from setagree.distances.base import Distance, as_label_set
from setagree.distances.transport import LabelDistances, TransportDistance
from setagree.errors import (
    DistanceError,
    OptionError,
    check_choice,
    check_type,
    counted,
    listing,
    option,
    shorten,
)
from setagree.lazy import pd
from setagree.study.frames import as_pandas
from setagree.study.identifiers import tidied
from setagree.study.labels import is_missing
from setagree.wording.label_sets import Label, LabelSet, display_labels, sorted_labels

Vectors: TypeAlias = pd.DataFrame | Mapping[Any, Any] | str | os.PathLike[str]
Match: TypeAlias = Literal["centroid", "transport"]
MATCHES = ("centroid", "transport")

ROUNDING = 1e-9
"""A centroid this much shorter than the vectors it is of has no direction: they cancel out.

A cosine this little below 0 is not negative.
"""


@dataclass(frozen=True, eq=False)
class LabelVectors(LabelDistances):
    """The vectors of labels: `rows`, of shape (L, D), and the row of each label."""

    rows: Floats = field(repr=False)
    place: Mapping[Any, int] = field(repr=False)

    def of(self, labels: Sequence[Label]) -> Floats:
        """Return the vectors of labels, of shape (n, D); raise if one has none."""
        missing = [label for label in labels if label not in self.place]
        if missing:
            raise DistanceError(
                f"no vector is given for {counted(len(missing), 'label')}: {listing(missing)}."
            )
        return self.rows[[self.place[label] for label in labels]]

    def among(self, labels: Sequence[Label]) -> Floats:
        """Return the cosine distances between labels, of shape (L, L)."""
        n = len(labels)
        check_cost(
            f"The distances between {counted(n, 'label')}",
            n_bytes=16 * n * n,
            instead=f"{option('match', 'centroid')} needs no such table.",
        )
        unit = self.of(labels)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        return without_rounding(1 - unit @ unit.T)


@dataclass(frozen=True, repr=False)
class CentroidDistance(Distance):
    """The cosine distance between the means of the vectors of two sets; made by `embedding`."""

    vectors: LabelVectors = field(repr=False)
    bounded: bool = field(default=False, kw_only=True)
    formula: str | None = field(
        default="1 − the cosine of the mean vectors of the labels of A and of B; "
        "d_max is 1, or 2 where two labels have a negative cosine",
        kw_only=True,
        compare=False,
    )

    def __call__(self, A: Iterable[Any], B: Iterable[Any]) -> float:
        """Return the distance between two label sets."""
        A, B = as_label_set(A), as_label_set(B)
        if A == B or not A or not B:
            return float(A != B)
        x, y = (self.vectors.of(sorted_labels(each)).mean(axis=0) for each in (A, B))
        lengths = [float(np.linalg.norm(each)) for each in (x, y)]
        check_directions(lengths, [self._longest(each) for each in (A, B)], [A, B].__getitem__)
        return float(without_rounding(np.array(1 - x @ y / (lengths[0] * lengths[1]))))

    def _longest(self, labels: LabelSet) -> float:
        return float(np.linalg.norm(self.vectors.of([*labels]), axis=1).max())


def check_directions(lengths: Any, longest: Any, named: Callable[[int], Iterable[Label]]) -> None:
    """Raise an error if the vectors of a set cancel, so that their mean has no direction.

    `lengths` are those of the means, `longest` those of the longest vector of each set, and `named`
    gives the labels of the set at a place.
    """
    for k in np.flatnonzero(np.asarray(lengths) <= ROUNDING * np.asarray(longest))[:1].tolist():
        raise DistanceError(
            f"the vectors of the labels {display_labels(named(k))} cancel out: their mean is 0 and "
            f"has no cosine. Use {option('match', 'transport')}."
        )


def without_rounding(distances: Floats) -> Floats:
    """Return cosine distances, set to 0 within rounding of 0."""
    return np.where(distances < 16 * np.finfo(np.float64).eps, 0.0, distances)


def embedding(
    vectors: Vectors | LabelVectors,
    *,
    match: Match = "centroid",
    name: str = "embedding",
) -> CentroidDistance | TransportDistance:
    """Return a distance between sets of labels that have vectors.

    The vectors are yours, from whatever model; none is downloaded. Free text works, too: each
    distinct text is a label, and needs its vector.

    Parameters
    ----------
    vectors : DataFrame, mapping or path
        The vector of each label, all of one length: a dict, a table with a column of labels (called
        label, or the first that is not a number; else the index), or a file with such a table. The
        other columns hold the numbers, or one column holds a list of them.
    match : {"centroid", "transport"}
        "centroid" compares the means of the two sets' vectors; "transport" moves the mass of one
        set, spread evenly over its labels, to the other's, as `transport` does, over the cosine
        distances between labels.

    Raises
    ------
    DistanceError
        A vector is zero, not finite or of another length than the others. When a study is scored:
        a label has no vector, or the vectors of a set cancel out.

    Notes
    -----
    "centroid" is ``1 - x y / (|x| |y|)``, with x and y the means of the two sets' vectors, or 0
    within rounding. The vectors are not scaled, so longer ones count more; scale them to equal
    length first to avoid this. Two sets whose means have the same direction have distance 0.
    "transport" is the 1-Wasserstein distance between the uniform measures (Rubner, Tomasi
    & Guibas 2000; over word vectors, Kusner et al. 2015) with ``1 - cos`` between labels. Either
    way the empty set, which has no vector, is at 0 from itself and at 1 from every other set.

    A cosine may be negative, and then the distance lies between 1 and 2. The credit of "centroid"
    is ``1 - d`` if no two labels in use have a negative cosine, and ``1 - d / 2`` if two
    have; that of "transport" is divided by the largest distance among the answers if that is above
    1. Alpha and the kappas do not depend on this; percent agreement, AC2 and Brennan-Prediger do.

    Examples
    --------
    >>> d = embedding({"happy": [1, 0.2], "glad": [0.9, 0.3], "angry": [-0.2, 1]})
    >>> round(d({"happy"}, {"glad"}), 4), round(d({"happy"}, {"angry", "glad"}), 4)
    (0.0077, 0.3624)
    >>> d({"happy"}, set()), d(set(), set())
    (1.0, 0.0)
    >>> d = embedding({"happy": [1, 0.2], "glad": [0.9, 0.3], "angry": [-0.2, 1]},
    ...               match="transport")
    >>> round(d({"happy"}, {"angry", "glad"}), 4)
    0.5039
    """
    check_type("name", name, str, "text")
    check_choice("match", match, MATCHES)
    known = read_vectors(vectors)
    if match == "centroid":
        return CentroidDistance(name, known)
    formula = "the least cost of moving the evenly spread mass of A to B, at 1 − cosine of labels"
    return TransportDistance(name, known, formula=formula)


def read_vectors(
    vectors: Vectors | LabelVectors,
    *,
    encoding: str = "utf-8",
    clean: Callable[[Any], Any] = tidied,
) -> LabelVectors:
    """Return the vectors of labels that a dict, a table or a file states."""
    if isinstance(vectors, LabelVectors):
        return vectors
    if isinstance(vectors, str | os.PathLike):
        from setagree.files.tables import read_table  # loads the readers of files

        vectors = read_table(vectors, encoding=encoding)
    if isinstance(vectors, Mapping):
        labels, cells = list(vectors), list(vectors.values())
    else:
        try:
            table = as_pandas(vectors)
        except Exception as error:
            raise OptionError(
                f"{option('vectors', vectors, limit=80)} must be a dict, a table or a file with "
                "the vector of each label."
            ) from error
        labels, cells = _of_table(table)
    return _checked([*map(clean, labels)], cells)


def _of_table(table: pd.DataFrame) -> tuple[list[Any], Any]:
    """Return the labels and the vectors of a table."""
    named = [c for c in table.columns if str(c).strip().casefold() == "label"]
    if not named and isinstance(table.index, pd.RangeIndex):
        others = [c for c in table.columns if not pd.api.types.is_numeric_dtype(table[c])]
        # All cells of a CSV file are text; what is neither a number nor a list is a label.
        named = [c for c in others if not all(map(_is_of_vector, table[c]))] or others
    labels = list(table[named[0]]) if named else list(table.index)
    rest = table.drop(columns=named[:1])
    if not rest.shape[1]:
        raise DistanceError("the table of vectors has no column of numbers next to the labels.")
    if rest.shape[1] == 1 and not pd.api.types.is_numeric_dtype(rest.iloc[:, 0]):
        return labels, [_listed(cell) for cell in rest.iloc[:, 0]]
    return labels, rest.to_numpy(dtype=object)


def _listed(cell: Any) -> Any:
    """Return a list of numbers that is written as text in a cell of a file."""
    try:
        return json.loads(cell) if isinstance(cell, str) else cell
    except ValueError:
        return cell


def _is_of_vector(cell: Any) -> bool:
    """Return whether a cell contains a number or a list, perhaps as text."""
    try:
        return np.asarray(_listed(cell), dtype=np.float64).size > 0
    except (TypeError, ValueError):
        return False


def _checked(labels: Sequence[Any], cells: Iterable[Any]) -> LabelVectors:
    rows: list[Floats] = []
    for label, cell in zip(labels, cells, strict=True):
        if is_missing(label) or label == "":
            raise DistanceError(f"the vector in row {len(rows) + 1:,} has no label.")
        try:
            row = np.atleast_1d(np.asarray(cell, dtype=np.float64))
        except (TypeError, ValueError):
            raise DistanceError(
                f"the vector of label {shorten(label)} is not a list of numbers: {shorten(cell)}."
            ) from None
        if row.ndim != 1 or (rows and len(row) != len(rows[0])):
            size = f" of {len(rows[0]):,} numbers" if rows else ""
            raise DistanceError(
                f"the vector of label {shorten(label)} has shape {row.shape}; it is one list{size}."
            )
        length = float(np.linalg.norm(row))
        if not 0 < length < np.inf:
            raise DistanceError(
                f"the vector of label {shorten(label)} has length {length:g}; its numbers are "
                "finite, and not all 0, so that it has a direction."
            )
        rows.append(row)
    if not rows:
        raise DistanceError("no vectors are given: there is not one label.")
    place = {label: k for k, label in enumerate(labels)}
    if len(place) < len(labels):
        twice = next(label for k, label in enumerate(labels) if place[label] != k)
        raise DistanceError(f"label {shorten(twice)} has two vectors.")
    return LabelVectors(np.array(rows), place)
