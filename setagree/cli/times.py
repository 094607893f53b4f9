"""Agreement in windows of time, as lines for the terminal."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Annotated, Any, cast

import pandas as pd

import setagree as sa
from setagree.cli import options as options
from setagree.cli.options import Reading, Text, option
from setagree.cli.population import with_population
from setagree.cli.reading import long_table
from setagree.diagnosis.grouping import first_times, study_and_column, windowed_times
from setagree.errors import OptionError, SetagreeWarning
from setagree.study.columns import with_missing_ids
from setagree.study.numbers import as_number
from setagree.wording.tables import Column, TextTable

OverTime = Annotated[Text, option(options.COLUMNS, "COLUMN", "Time of rating: dates or numbers.")]
Window = Annotated[Text, option(options.COLUMNS, "LENGTH", "With --time: 7D, 12h, or 50.")]


def time_lines(
    files: Sequence[str],
    reading: Reading,
    column: str | None,
    window: str | None,
    given: dict[str, Any],
    models: Sequence[Any] = (),
) -> list[str]:
    """Return a table of the humans' agreement in each window of time; nothing if none is asked."""
    if (column is None) != (window is None):
        raise OptionError("--time and --window belong together: --time date --window 7D.")
    if column is None or window is None:
        return []
    frame, how, without = long_table(files, reading, besides=column, option="--time")
    frame = with_missing_ids(frame, [column])
    number = as_number(window)
    length = window if number is None else number if isinstance(number, int) else float(number)
    with warnings.catch_warnings():
        # All of them have been said when the study was read.
        warnings.simplefilter("ignore", SetagreeWarning)
        gone = [*without, *models]
        study, cells, units = study_and_column(frame, column, how, without=gone)
        study = with_population(study, reading)
        times = windowed_times(cells, f"--time {column!r}")
        first = first_times(times, units, study.n_units)
        at = dict(zip(study.units, map(first.shown, cast("Any", first.values)), strict=True))
        found = sa.over_time(study, at, window=length, **given)
    found = found.assign(start=[*map(_moment, found["start"])], end=[*map(_moment, found["end"])])
    table = TextTable.of(found, _WINDOWS, given.get("level", 0.95))
    return ["", f"OVER TIME ({column}, {window})", *str(table).splitlines()]


_WINDOWS = (
    Column("start", "text", "from"),
    Column("end", "text", "to before"),
    Column("n_units", "count", "units"),
    Column("n_raters", "count", "raters"),
    Column("n_ratings", "count", "ratings"),
    Column("estimate"),
    Column(("low", "high"), "interval"),
)


def _moment(time: Any) -> str:
    """Return a number, or a date and the minute."""
    return f"{time:%Y-%m-%d %H:%M}" if isinstance(time, pd.Timestamp) else f"{time:g}"
