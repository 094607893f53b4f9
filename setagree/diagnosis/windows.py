"""Times, and windows that roll over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.coefficients.chance import Codes
from setagree.coefficients.parts import Parts, are_known
from setagree.diagnosis.common import counts, named, own_columns, uncertainty, unit_case
from setagree.errors import DataError, OptionError, counted, option
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score_part
from setagree.study.annotations import Annotations
from setagree.study.ordering import Times, read_times

_WINDOWS_AT_MOST = 2_000

_RATINGS_AT_ONCE = 1_000_000
"""Annotations of windows that are scored together."""

_ROUNDING = 1e-9
"""The share of a step by which decimals such as 0.3 miss a multiple of it, three times 0.1."""


def windowed_times(cells: pd.Series[Any], said: str) -> Times:
    """Return cells as times that windows can roll over: finite numbers, or dates."""
    times = read_times(cells, said, are_spans=True)
    assert times.values is not None  # noqa: S101 - names have been refused
    if times.values.dtype.kind == "f" and not np.isfinite(times.values).all():
        n = int((~np.isfinite(times.values)).sum())
        raise DataError(f"{said}: {counted(n, 'time')} of {len(cells):,} are not finite numbers.")
    return times


def first_times(times: Times, unit_of_row: npt.NDArray[Any], n_units: int) -> Times:
    """Return the earliest time of each unit, from one time a row; rows of no unit have code -1."""
    rows = np.flatnonzero(unit_of_row >= 0)
    assert times.values is not None  # noqa: S101 - names have been refused
    order = rows[np.argsort(times.values[rows], kind="stable")[::-1]]
    first = np.empty(n_units, dtype=times.values.dtype)
    first[unit_of_row[order]] = times.values[order]
    ranks = np.empty(n_units, dtype=np.int64)
    ranks[unit_of_row[order]] = times.ranks[order]
    return Times(ranks, first, times.zone)


def windows(times: npt.NDArray[Any], window: Any, step: Any) -> Iterator[tuple[Any, Any]]:
    """Yield start and end of each window, from the first time on to past the last."""
    width = _length(times, window, "window")
    stride = width if step is None else _length(times, step, "step")
    first, last = times.min(), times.max()
    if not last - first < _WINDOWS_AT_MOST * stride:
        raise OptionError(
            f"{option('window', window)}, step={step!r} would make more than {_WINDOWS_AT_MOST:,} "
            "windows."
        )
    n = int((last - first) / stride) + 1
    # An end is the next start itself, so that no time falls between two.
    starts = [first + k * stride for k in range(n + 2)]
    for k, start in enumerate(starts[:-1]):
        end = starts[k + 1] if step is None else start + width
        if edges(start, end)[0] <= last:
            yield start, end


def edges(start: Any, end: Any) -> tuple[Any, Any]:
    """Return where a window is cut: a decimal that misses an end by rounding stands on it."""
    if not isinstance(end, float | np.floating):
        return start, end
    slack = max(_ROUNDING * float(end - start), 4 * float(np.spacing(abs(float(end)))))
    return start - slack, end - slack


def _length(times: npt.NDArray[Any], length: Any, name: str) -> Any:
    is_number = isinstance(length, int | float | np.integer | np.floating) and not isinstance(
        length, bool
    )
    if np.issubdtype(times.dtype, np.number):
        if not is_number or not 0 < length < np.inf:
            raise OptionError(f"{option(name, length)} must be a number above 0, as the times are.")
        return length
    try:
        span = None if is_number else pd.Timedelta(length)
    except ValueError:
        span = None
    if span is None or not span > pd.Timedelta(0):
        raise OptionError(
            f"{option(name, length)} must be a length of time, such as '7D', as the times are "
            "dates."
        )
    return span.to_timedelta64()


def score_windows(
    study: Annotations, windows: list[Codes], whole: Agreement, level: float
) -> pd.DataFrame:
    """Return the columns of each window, of which `windows` has the annotations.

    All windows are parts of one study, in which a unit of two of them is two units.
    """
    if not are_known(whole.definition.model) or whole.case.sample is not None:
        parts = (score_part(whole, study.take(rows)) for rows in windows)
        return pd.DataFrame([counts(p) | uncertainty(p, level) | named(p) for p in parts])
    done = np.cumsum([len(rows) for rows in windows]) // _RATINGS_AT_ONCE
    bounds = [0, *(np.flatnonzero(np.diff(done)) + 1).tolist(), len(windows)]
    blocks = [
        _scored_together(study, windows[first:last], whole, level)
        for first, last in pairwise(bounds)
    ]
    names = {"coefficient": whole.coefficient, "distance": whole.distance}
    return pd.concat(blocks, ignore_index=True).assign(**names)[[*_COLUMNS]]


def _scored_together(
    study: Annotations, windows: list[Codes], whole: Agreement, level: float
) -> pd.DataFrame:
    rows = np.concatenate(windows)
    of_rating = np.repeat(np.arange(len(windows)), [len(each) for each in windows])
    keys = of_rating * study.n_units + study.unit_codes[rows]
    units, unit_codes = np.unique(keys, return_inverse=True)
    together = replace(
        study,
        units=units.astype(object),
        unit_codes=unit_codes,
        rater_codes=study.rater_codes[rows],
        value_codes=study.value_codes[rows],
    )
    case = unit_case(whole, together)
    parts = Parts(case, whole.definition.model, units // study.n_units, len(windows))
    own = parts.estimates()
    return pd.DataFrame(own_columns(together, parts, own, of_rating, level))


_COLUMNS = (
    *("n_units", "n_pairable_units", "n_raters", "n_ratings", "n_values"),
    *("estimate", "standard_error", "low", "high", "reason", "coefficient", "distance"),
)
