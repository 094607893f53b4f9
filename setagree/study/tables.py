"""A coded study as tables: long, wide, flags, triples, counts; the methods of `Annotations`."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import DataError, counted
from setagree.study.codes import Value, as_objects, as_ordered
from setagree.study.numbers import inferred
from setagree.wording.label_sets import display_labels
from setagree.wording.tables import html_table

if TYPE_CHECKING:
    from setagree.study.annotations import Annotations
    from setagree.study.tally import Tally

_FIRST = 10
"""Units, raters, patterns, and answers of one, that a notebook shows."""

DENSE_LIMIT = 100_000_000
"""Cells beyond which a dense table is refused."""


def to_long(study: Annotations) -> pd.DataFrame:
    """Return one row per annotation: unit, rater, and labels (frozensets) or value.

    Examples
    --------
    >>> from setagree import Annotations
    >>> study = Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "a, b")])
    >>> Annotations.from_long(study.to_long())
    <Annotations: 2 ratings, 1 unit, 2 raters, 2 distinct label sets>
    """
    answer = "labels" if study.kind == "labels" else "value"
    return pd.DataFrame(
        {
            "unit": study.units[study.unit_codes],
            "rater": study.raters[study.rater_codes],
            answer: as_ordered(inferred(_answers(study)), study.order),
        }
    )


def to_triples(study: Annotations) -> list[tuple[Any, Any, Value]]:
    """Return one (rater, unit, answer) for each annotation, NLTK's order.

    Examples
    --------
    >>> from setagree import Annotations
    >>> Annotations.from_triples([("ann", 1, "a"), ("bob", 1, [])]).to_triples()
    [('ann', 1, frozenset({'a'})), ('bob', 1, frozenset())]
    """
    raters = study.raters[study.rater_codes].tolist()
    units = study.units[study.unit_codes].tolist()
    return list(zip(raters, units, _answers(study).tolist(), strict=True))


def to_wide(study: Annotations) -> pd.DataFrame:
    """Return one row per unit and one column per rater, with None for missing ratings.

    A table of more than 100 million cells is refused (`DataError`).
    """
    shape = (len(study.units), len(study.raters))
    _check_large(*shape)
    cells = np.full(shape, None, dtype=object)
    cells[study.unit_codes, study.rater_codes] = _answers(study)
    columns = (as_ordered(inferred(column), study.order) for column in cells.T)
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.index = pd.Index(study.units, name="unit")
    frame.columns = pd.Index(study.raters, name="rater")
    return frame


def to_indicators(study: Annotations) -> pd.DataFrame:
    """Return flags: one row per annotation (index: unit, rater), one column per label.

    The columns are sorted, as scikit-learn's ``MultiLabelBinarizer`` has them; a row without a
    True is the empty set, a missing annotation has no row.

    Raises
    ------
    DataError
        The values are scalars, or there would be more than 100 million cells.
    """
    if study.kind != "labels":
        raise DataError("only label sets have indicators; these values are scalars.")
    _check_large(len(study.value_codes), len(study.labels))
    column = {label: position for position, label in enumerate(study.labels)}
    flags = np.zeros((len(study.values), len(study.labels)), dtype=bool)
    for code, label_set in enumerate(study.values):
        flags[code, [column[label] for label in label_set]] = True
    index = pd.MultiIndex.from_arrays(
        [study.units[study.unit_codes], study.raters[study.rater_codes]], names=["unit", "rater"]
    )
    return pd.DataFrame(flags[study.value_codes], index=index, columns=list(study.labels))


def summary(study: Annotations) -> pd.Series[Any]:
    """Return what was counted: units, raters, ratings, values, missing and empty answers."""
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


def as_html(study: Annotations) -> str:
    """Return what a notebook shows: the answers to the first units, one column per rater."""
    part = study.take(study.unit_codes < _FIRST)
    part = part.take(part.rater_codes < _FIRST)
    wide = to_wide(part).map(lambda one: display_labels(one) if isinstance(one, frozenset) else one)
    shown = f" Shown: {counted(len(part.units), 'unit')}, {counted(len(part.raters), 'rater')}."
    said = f"{repr(study)[1:-1]}.{'' if len(part.value_codes) == len(study.value_codes) else shown}"
    return f"<p>{html.escape(said)}</p>{html_table(wide.reset_index(allow_duplicates=True))}"


def tally_as_html(tally: Tally) -> str:
    """Return what a notebook shows: the patterns that most units have, and their answers."""
    most = np.argsort(-tally.multiplicity, kind="stable")[:_FIRST]
    shown = f" Shown: the {len(most):,} most frequent." if len(most) < tally.n_patterns else ""
    answers = []
    for row in most:
        entries = slice(tally.indptr[row], tally.indptr[row + 1])
        given = [tally.values[code] for code in tally.indices[entries][:_FIRST]]
        names = [display_labels(one) if isinstance(one, frozenset) else str(one) for one in given]
        times = tally.counts[entries][:_FIRST]
        more = ", ..." if tally.indptr[row + 1] - tally.indptr[row] > _FIRST else ""
        pairs = zip(names, times, strict=True)
        answers.append("; ".join(f"{n:g} x {name}" for name, n in pairs) + more)
    frame = pd.DataFrame({"units": tally.multiplicity[most].astype(int), "answers": answers})
    return f"<p>{html.escape(repr(tally)[1:-1])}.{shown}</p>{html_table(frame)}"


def _answers(study: Annotations) -> npt.NDArray[np.object_]:
    return as_objects(study.values)[study.value_codes]


def _check_large(rows: int, columns: int) -> None:
    if rows * columns > DENSE_LIMIT:
        raise DataError(
            f"a table of {rows:,} x {columns:,} cells is over {DENSE_LIMIT:,}; use to_long()."
        )
