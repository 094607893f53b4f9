"""The one way from what a person has to a study, or to a tally where it need not fit in memory."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from setagree.errors import DataError, OptionError
from setagree.files.columns import with_columns
from setagree.large.plan import Plan
from setagree.study.annotations import Annotations
from setagree.study.frames import Frame, as_pandas, column_names
from setagree.study.reading import Reading, as_reading
from setagree.study.tally import Tally

Study: TypeAlias = Annotations | Tally
Data: TypeAlias = "Study | Frame | str | PathLike[str]"

_USUAL: dict[str, Any] = {"unit": "unit", "rater": "rater", "labels": "labels"}
_BUILD = (
    "Where columns have other names, build the study first: "
    "setagree.Annotations.from_long(table, unit=..., rater=..., labels=...)."
)


def open_study(source: Data, reading: Reading | None = None, plan: Plan | None = None) -> Study:
    """Return the study of what a person has: a study, a table, the path or pattern of files.

    Parameters
    ----------
    source : Annotations, Tally, frame, or path
        A study is returned as it is. Lazy tables and very large files become a tally.
    reading : Reading, optional
        How it is read. Default: with the usual names of columns, and as `Annotations.from_long`
        reads cells.
    plan : Plan, optional
        How it is reduced where it need not fit in memory; asks for that.

    Raises
    ------
    DataError
        It is none of these, or its columns are not found.
    OptionError
        Options of tables for a study that is already built, or repeats in what is reduced.

    Examples
    --------
    >>> table = pd.DataFrame({"unit": [1, 1], "rater": ["ann", "bob"], "labels": ["a", "a, b"]})
    >>> open_study(table)
    <Annotations: 2 ratings, 1 unit, 2 raters, 2 distinct label sets>
    """
    how, plan = as_reading(reading), plan or Plan()
    if isinstance(source, Annotations | Tally):
        if useless := [*how.asked, *plan.asked]:
            raise OptionError(f"the study is already built; drop {', '.join(useless)}.")
        return source
    if isinstance(source, str | PathLike) and not plan.asked and not how.names_columns:
        export = _export(source, how)
        if export is not None:
            return export
    if plan.asked or not isinstance(source, pd.DataFrame):
        # loads what speaks to engines
        from setagree.large.reduce import is_large, opened, reduce_table

        source = opened(source, also=", Annotations, Tally or path")
        if plan.asked or is_large(source, how):
            _check_reducible(how)
            return reduce_table(source, how, plan)
    frame: Any = _table(source, how) if isinstance(source, str | PathLike) else source
    return Annotations.from_reading(frame, _found(frame, how, is_asked=reading is not None))


def open_table(source: Any, reading: Reading) -> pd.DataFrame:
    """Return all columns of a long table, of which more is to be known than who answered what."""
    return as_pandas(_table(source, reading) if isinstance(source, str | PathLike) else source)


def _found(frame: Any, reading: Reading, *, is_asked: bool) -> Reading:
    """Return the reading with the columns of a table; an error says the line that names them."""
    names = [*frame.columns] if isinstance(frame, pd.DataFrame) else column_names(frame)
    if len(names) == len(_USUAL) and {*names} == {*_USUAL} and not reading.names_columns:
        return replace(reading, **_USUAL)
    try:
        return with_columns(reading, names)
    except DataError as error:
        if is_asked:  # by a function with options for the columns
            raise
        raise DataError(f"{error} {_BUILD}") from error


def _check_reducible(reading: Reading) -> None:
    """Refuse what a table that is not read into memory cannot tell."""
    if reading.duplicates != "error":
        raise OptionError(
            f"duplicates={reading.duplicates!r} is not settled in an engine; if the table "
            "fits in memory, build the study with Annotations.from_long and score that."
        )


def _export(path: str | PathLike[str], reading: Reading) -> Annotations | None:
    """Return the study in the export of an annotation tool, or None where the file is a table."""
    from setagree.large.opening import read, seen_format  # loads the readers of all formats

    found = seen_format(Path(path), encoding=reading.encoding)
    if found is None:
        return None
    return read(
        path,
        format=found.name,
        sep=reading.sep,
        blank=reading.blank,
        case=reading.case,
        codebook=reading.codebook,
        missing=reading.missing,
        duplicates=reading.duplicates,
        encoding=reading.encoding,
    )


def _table(path: str | PathLike[str], reading: Reading) -> Frame:
    """Return the table in files; where no column is named, what is a tool's export is refused."""
    if reading.names_columns:
        from setagree.files.tables import read_table  # loads the readers of files

        return read_table(path, encoding=reading.encoding)
    from setagree.large.opening import plain_table  # loads the readers of all formats

    return plain_table(path, encoding=reading.encoding)
