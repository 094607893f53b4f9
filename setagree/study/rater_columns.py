"""What is known of each rater beside the answers: of a model, say, its prompt and its run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from setagree.errors import DataError, check_list
from setagree.study.beside import attribute_values, with_columns
from setagree.study.codes import as_objects
from setagree.study.columns import with_columns as with_roles
from setagree.study.frames import Frame, as_pandas, column_names
from setagree.study.labels import is_missing
from setagree.study.reading import Reading

if TYPE_CHECKING:
    from setagree.study.annotations import Annotations


IS_MODEL = "is_model"
"""The column that marks the raters that are models."""


def marked_models(study: Annotations) -> list[Any]:
    """Return the raters that are marked as models."""
    if IS_MODEL not in (known := study.raters_frame):
        return []
    return [rater for rater, mark in known[IS_MODEL].items() if str(mark) == "True"]


def raters_frame(study: Annotations) -> pd.DataFrame:
    """Return what is known of each rater beside the answers: a row a rater, a column each thing.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(4, 2, rng=1).with_raters({"model": {"r1": "gpt", "r2": "claude"}})
    >>> study.raters_frame.T
    rater   r1      r2
    model  gpt  claude
    """
    index = pd.Index(study.raters, dtype=object, name="rater", tupleize_cols=False)
    return (
        pd.DataFrame(index=index) if study.rater_table is None else study.rater_table.reindex(index)
    )


def with_raters(
    study: Annotations, columns: pd.DataFrame | Mapping[str, Mapping[Any, Any] | pd.Series[Any]]
) -> Annotations:
    """Return the study with further things known of its raters.

    Parameters
    ----------
    columns : DataFrame or mapping
        A table whose index names the raters; or for each column a mapping, or Series, from rater.
        It may say more than is asked, of raters that the study does not have.

    Raises
    ------
    DataError
        A rater has several entries.

    Examples
    --------
    >>> from setagree import Annotations
    >>> study = Annotations.from_triples([("gpt-1", 1, "a"), ("gpt-2", 1, "b"), ("ann", 1, "b")])
    >>> study.with_raters({"run": {"gpt-1": 1, "gpt-2": 2}}).raters_frame["run"].tolist()
    [1, 2, None]
    """
    return replace(study, rater_table=with_columns(study.raters_frame, columns, "rater"))


def read_raters(study: Annotations, data: Frame, reading: Reading) -> Annotations:
    """Return the study with the columns of its table that say one thing of each rater.

    Raises
    ------
    DataError
        A column is absent, or says several things of one rater.
    """
    names = reading.rater_columns or []
    check_list("rater_columns", names, "columns")
    if not names:
        return study
    said = attribute_values(study.raters, data, reading.rater, names, "rater")
    by_rater = {name: dict(zip(study.raters, said[name], strict=True)) for name in said}
    return study.with_raters(by_rater)


def named_raters(data: Frame, reading: Reading) -> tuple[Frame, Reading]:
    """Return a table with a column of raters: where it has none, their other columns name them.

    Examples
    --------
    >>> runs = pd.DataFrame({"unit": [1], "model": ["gpt"], "run": [2], "labels": ["a"]})
    >>> table, how = named_raters(runs, Reading(rater_columns=["model", "run"]))
    >>> table["rater"].tolist()
    ['gpt / 2']
    """
    names = reading.rater_columns or []
    check_list("rater_columns", names, "columns")
    if not names or reading.rater is not None:
        return data, reading
    listed = [*map(str, data if isinstance(data, pd.DataFrame) else column_names(data))]
    if not {*names} <= {*listed} or "rater" in listed:
        return data, reading
    try:
        with_roles(reading, listed)
    except DataError:
        table = as_pandas(data)
        said = [["" if is_missing(x) else text_of_cell(x) for x in table[name]] for name in names]
        parts = ([one for one in row if one] for row in zip(*said, strict=True))
        raters = as_objects(" / ".join(row) or None for row in parts)
        return table.assign(rater=raters), replace(reading, rater="rater")
    return data, reading


def text_of_cell(cell: Any) -> str:
    """Return the text of a cell; a run that is a number stays whole where others have none."""
    return f"{cell:g}" if isinstance(cell, float) else str(cell).strip()
