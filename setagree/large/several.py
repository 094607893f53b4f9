"""Location of repeated ratings among several files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import (
    DataError,
    RepeatsError,
    SetagreeWarning,
    listing,
    option,
    python_or_command,
)
from setagree.files.streams import Paths, file_names, is_stdin, matching
from setagree.files.tables import read_table
from setagree.large import steps
from setagree.large.filtering import kept_where
from setagree.study.columns import guess_wide_unit, with_columns
from setagree.study.labels import is_missing
from setagree.study.names import tidied
from setagree.study.reading import Reading
from setagree.study.row_filter import Where

Flags: TypeAlias = npt.NDArray[np.bool_]

_FILE = "\0file"


def naming_files(error: RepeatsError, path: Paths, how: Reading) -> RepeatsError:
    """Return the error with the names of the files that the first pair stands in.

    They are read again: rows do not say which file they are from, and there is no result anyway.
    """
    if error.pair is None or _is_one(path):
        return error
    frame = read_table(
        path,
        encoding=how.encoding,
        delimiter=how.delimiter,
        filename_column=_FILE,
        sheet=how.sheet,
        header_row=how.header_row,
        sql=how.sql,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetagreeWarning)  # all said before
        if how.condition is not None and how.condition.columns != (how.filename_column,):
            frame = kept_where(frame, how.condition)
        return with_files(error, _files_of(frame, error.pair, how))


def naming_rows(
    error: RepeatsError, path: Paths, frame: pd.DataFrame, how: Reading
) -> RepeatsError:
    """Return the error with the rows of one file that the first pair stands in, if it is long.

    A column that is called like one that counts the attempts is named with a condition.
    """
    if error.pair is None or how.wide or how.raters_in_rows or not _is_one(path):
        return error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetagreeWarning)  # all said before
        here = _long_rows(frame, error.pair, how)
    if here is None or how.condition is not None:
        return error
    rows = [f"row {row + 1:,}" for row in np.flatnonzero(here).tolist()]
    where = " and ".join(rows) if len(rows) < 3 else f"{', '.join(rows[:3])} and more"
    said = f"{error} The first pair stands in {where}, counted from 1 below any header."
    if again := next((name for name in frame if tidied(str(name)).lower() in _AGAIN), None):
        only = Where.equality(str(again), frame[again][here].iloc[0])
        said += f" If column {again!r} tells them apart, keep one of them: {option('where', only)}."
    return RepeatsError(said, error.pair)


_AGAIN = {"repeat", "attempt", "version", "revision", "iteration", "try", "pass", "round"}
"""What a column is called that tells the repeats of an annotation apart."""


def naming_source(error: DataError, path: Paths, columns: Sequence[Any], how: Reading) -> DataError:
    """Return the error with the way out where several files lack a column of raters alone."""
    if how.filename_column is not None or how.wide or how.raters_in_rows or _is_one(path):
        return error
    try:
        with_columns(how, [*map(str, columns), "rater"])
    except DataError:
        return error
    way = python_or_command(
        "setagree.read(files, filename_column='rater')", "--filename-column rater"
    )
    hint = f"If each file holds the answers of one rater, use {way}."
    return type(error)(f"{error} {hint}")


def _is_one(path: Paths) -> bool:
    return is_stdin(path) or len(matching(path)) < 2


def with_files(error: RepeatsError, files: Sequence[str]) -> RepeatsError:
    """Return the error with the files that the first pair stands in, if they were found."""
    where = " and ".join(map(repr, files)) if len(files) < 3 else listing(files)
    said = f"{error} The first pair stands in {where}."
    return RepeatsError(said, error.pair) if files else error


@contextmanager
def naming_parts(
    whole: steps.Rows,
    parts: Callable[[], Sequence[steps.Rows]],
    files: Sequence[str],
    reading: Reading,
) -> Iterator[None]:
    """Name, in an error about repeats, the files whose rows are the parts, if there are several.

    An engine is asked for that again, as rows do not say which file they are from.
    """
    try:
        yield
    except RepeatsError as error:
        if len(files) < 2:
            raise
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SetagreeWarning)  # all said before
            coded, cells, tidy = steps.code_answers(whole, reading)
        rows, *alone = (steps.code_rows(part, cells, coded, tidy) for part in [whole, *parts()])
        names = file_names([*map(Path, files)])
        found = [names[place] for place in steps.places_of_repeat(rows, alone)]
        raise with_files(error, found) from None


def _files_of(frame: pd.DataFrame, pair: tuple[Any, Any], how: Reading) -> list[str]:
    """Return the files with an answer of a rater to a unit, as far as the table tells."""
    table = frame.drop(columns=_FILE)
    if how.filename_column is not None:
        table[how.filename_column] = frame[_FILE]
    if how.raters_in_rows:
        return []
    here = _long_rows(table, pair, how)
    here = _wide_rows(table, pair, how) if here is None else here
    return list(dict.fromkeys(frame[_FILE][here]))


def _long_rows(table: pd.DataFrame, pair: tuple[Any, Any], how: Reading) -> Flags | None:
    """Return which rows are of a unit and a rater, or None if the table is not long."""
    try:
        named = with_columns(replace(how, wide=False, raters=None), table.columns)
    except DataError:
        return None
    units, raters = (table[name].map(tidied) for name in (named.unit, named.rater))
    return np.asarray((units == pair[0]) & (raters == pair[1]))


def _wide_rows(table: pd.DataFrame, pair: tuple[Any, Any], how: Reading) -> Flags:
    """Return which rows are of a unit, and have an answer in the column of a rater."""
    name = how.unit or guess_wide_unit(table)
    here = np.zeros(len(table), dtype=bool) if name is None else table[name].map(tidied) == pair[0]
    for column in (column for column in table if tidied(column) == pair[1]):
        cells = table[column].map(tidied)
        here &= ~cells.map(is_missing) & ((cells != "") | (how.syntax.blank == "empty"))
    return np.asarray(here)
