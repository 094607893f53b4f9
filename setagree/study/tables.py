"""A coded study as tables: long, wide, flags, triples, counts."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import DataError
from setagree.study.codes import Codes, Kind, Value, as_objects
from setagree.study.numbers import inferred
from setagree.wording.label_sets import Label

DENSE_LIMIT = 100_000_000
"""Cells beyond which a dense table is refused."""


class Study(Protocol):
    """What is written: the fields of `Annotations`."""

    @property
    def kind(self) -> Kind:
        """Whether the values are label sets, numbers or categories."""

    @property
    def units(self) -> npt.NDArray[np.object_]:
        """The names of the units."""

    @property
    def raters(self) -> npt.NDArray[np.object_]:
        """The names of the raters."""

    @property
    def values(self) -> tuple[Value, ...]:
        """The distinct answers."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels in use, sorted."""

    @property
    def unit_codes(self) -> Codes:
        """The unit of each annotation."""

    @property
    def rater_codes(self) -> Codes:
        """The rater of each annotation."""

    @property
    def value_codes(self) -> Codes:
        """The answer of each annotation."""

    @property
    def n_missing(self) -> int:
        """How many cells held no annotation."""


def long_table(study: Study) -> pd.DataFrame:
    """Return one row an annotation."""
    answer = "labels" if study.kind == "labels" else "value"
    return pd.DataFrame(
        {
            "unit": study.units[study.unit_codes],
            "rater": study.raters[study.rater_codes],
            answer: inferred(_answers(study)),
        }
    )


def triples(study: Study) -> list[tuple[Any, Any, Value]]:
    """Return (rater, unit, answer) of every annotation."""
    raters = study.raters[study.rater_codes].tolist()
    units = study.units[study.unit_codes].tolist()
    return list(zip(raters, units, _answers(study).tolist(), strict=True))


def wide_table(study: Study) -> pd.DataFrame:
    """Return one row a unit and one column a rater."""
    shape = (len(study.units), len(study.raters))
    _refuse_large(*shape)
    cells = np.full(shape, None, dtype=object)
    cells[study.unit_codes, study.rater_codes] = _answers(study)
    frame = pd.DataFrame({k: inferred(column) for k, column in enumerate(cells.T)})
    frame.index = pd.Index(study.units, name="unit")
    frame.columns = pd.Index(study.raters, name="rater")
    return frame


def flag_table(study: Study) -> pd.DataFrame:
    """Return one row an annotation and one column of flags a label."""
    if study.kind != "labels":
        raise DataError("only label sets have indicators; these values are scalars.")
    _refuse_large(len(study.value_codes), len(study.labels))
    column = {label: position for position, label in enumerate(study.labels)}
    flags = np.zeros((len(study.values), len(study.labels)), dtype=bool)
    for code, label_set in enumerate(study.values):
        flags[code, [column[label] for label in label_set]] = True
    index = pd.MultiIndex.from_arrays(
        [study.units[study.unit_codes], study.raters[study.rater_codes]], names=["unit", "rater"]
    )
    return pd.DataFrame(flags[study.value_codes], index=index, columns=list(study.labels))


def summary(study: Study) -> pd.Series[Any]:
    """Return what was counted."""
    n_units, n_ratings = len(study.units), len(study.value_codes)
    ratings_of_unit = np.bincount(study.unit_codes, minlength=n_units)
    counts: dict[str, Any] = {
        "n_units": n_units,
        "n_pairable_units": int((ratings_of_unit >= 2).sum()),
        "n_raters": len(study.raters),
        "n_ratings": n_ratings,
        "n_missing": study.n_missing,
        "n_values": len(study.values),
        "ratings_per_unit": n_ratings / n_units,
    }
    if study.kind == "labels":
        sizes = np.array([len(value) for value in study.values])[study.value_codes]
        counts |= {
            "n_labels": len(study.labels),
            "labels_per_rating": float(sizes.mean()),
            "share_empty": float((sizes == 0).mean()),
        }
    return pd.Series(counts, dtype=object)


def _answers(study: Study) -> npt.NDArray[np.object_]:
    return as_objects(study.values)[study.value_codes]


def _refuse_large(rows: int, columns: int) -> None:
    if rows * columns > DENSE_LIMIT:
        raise DataError(
            f"a table of {rows:,} x {columns:,} cells is over {DENSE_LIMIT:,}; use to_long()."
        )
