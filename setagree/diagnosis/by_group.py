"""Which batches, sources or times cost the agreement."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.annotations import Annotations
from setagree.assembly import Duplicates
from setagree.diagnosis.common import Row, counts, known_raters, named, score_whole, uncertainty
from setagree.diagnosis.grouping import group_of_units, study_of_table
from setagree.differences import linearised_difference
from setagree.distances.registry import DistanceLike
from setagree.errors import OptionError
from setagree.labels import Blank, Case, Label
from setagree.results import Agreement
from setagree.scoring import score_part
from setagree.substudies import of_ratings

Grouping: TypeAlias = "Mapping[Any, Any] | pd.Series[Any] | str"

_WINDOWS_AT_MOST = 2_000


def by_group(
    data: Annotations | pd.DataFrame,
    by: Grouping,
    *,
    coefficient: str = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    unit: str | None = None,
    rater: str | None = None,
    labels: str | None = None,
    value: str | None = None,
    sep: str = ",",
    blank: Blank | None = None,
    case: Case = "keep",
    codebook: Collection[Label] | None = None,
    duplicates: Duplicates = "error",
) -> pd.DataFrame:
    """Return the coefficient of each group of units: batches, sources, features, versions.

    Parameters
    ----------
    data : Annotations or DataFrame
        A study; or a long table, of which `by` is a further column.
    by : str, mapping or Series
        A column of the table; or what says of each unit of the study to which group it belongs.
        A unit that a table puts into several groups is compared inside each of them.
    coefficient, distance
        As in `setagree.agreement`. What a distance takes from the data (mid-ranks, the largest
        distance) and the list of values are those of the whole study.
    level : float
        The level of the intervals.
    unit, rater, labels, value, sep, blank, case, codebook, duplicates
        How a table is read, as in `setagree.agreement`.

    Returns
    -------
    DataFrame
        One row a group, in order of their first unit: group, n_units, n_pairable_units, n_raters,
        n_ratings, n_values; estimate, standard_error, low, high; difference (from the estimate of
        all other groups together), difference_standard_error, difference_p_value (z, independent
        units, not corrected for the number of groups); homogeneity_p_value (one test of all groups
        against one common value, the same in every row); reason, coefficient, distance.

    Raises
    ------
    DataError
        A unit or row has no group.

    Notes
    -----
    The test of homogeneity is ``Q = sum_g (k_g - k)² / SE_g²`` with ``k`` the mean weighted by
    ``1 / SE_g²``, against chi-square with G - 1 degrees of freedom (Fleiss, Levin & Paik 2003,
    section 18.1). It is nan where a group has no standard error above 0.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(90, 3, rng=1)
    >>> batch = {unit: "first" if k < 45 else "second" for k, unit in enumerate(study.units)}
    >>> frame = by_group(study, batch)
    >>> frame[["group", "n_units", "estimate", "difference", "difference_p_value"]].round(3)
        group  n_units  estimate  difference  difference_p_value
    0   first       45     0.426       0.124               0.079
    1  second       45     0.302      -0.124               0.079
    """
    reading = {
        "unit": unit,
        "rater": rater,
        "labels": labels,
        "value": value,
        "sep": sep,
        "blank": blank,
        "case": case,
        "codebook": codebook,
        "duplicates": duplicates,
    }
    study, of_unit = _grouped(data, by, reading, "by_group")
    whole = score_whole(study, coefficient, distance, level)
    codes, groups = pd.factorize(of_unit)
    of_rating = codes[study.unit_codes]
    parts = [score_part(whole, of_ratings(study, of_rating == g)) for g in range(len(groups))]
    p = _homogeneity(parts)
    rows = []
    for g, part in enumerate(parts):
        rest = of_ratings(study, of_rating != g)
        columns = counts(part) | uncertainty(part, level) | _beside(part, whole, rest, level)
        rows.append({"group": groups[g], **columns, "homogeneity_p_value": p, **named(part)})
    return pd.DataFrame(rows)


def over_time(
    data: Annotations | pd.DataFrame,
    at: Grouping,
    *,
    window: float | str | pd.Timedelta,
    step: float | str | pd.Timedelta | None = None,
    coefficient: str = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    unit: str | None = None,
    rater: str | None = None,
    labels: str | None = None,
    value: str | None = None,
    sep: str = ",",
    blank: Blank | None = None,
    case: Case = "keep",
    codebook: Collection[Label] | None = None,
    duplicates: Duplicates = "error",
) -> pd.DataFrame:
    """Return the coefficient in windows that roll over time.

    Parameters
    ----------
    data : Annotations or DataFrame
        As in `by_group`.
    at : str, mapping or Series
        When each unit was annotated: dates, times as text, or numbers.
    window, step : int, number, str or Timedelta
        How long a window is and how far the next one begins: in units of `at` for numbers, as
        ``"7D"`` for times. Default step: the window, so that windows do not overlap.
    coefficient, distance, level, unit, rater, labels, value, sep, blank, case, codebook, duplicates
        As in `by_group`.

    Returns
    -------
    DataFrame
        One row a window ``[start, end)`` that holds a unit: start, end, n_units, n_pairable_units,
        n_raters, n_ratings, n_values, estimate, standard_error, low, high, reason, coefficient,
        distance.

    Raises
    ------
    OptionError
        The window does not fit the times, or there would be more than 2,000 windows.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(90, 3, rng=1)
    >>> day = {unit: k // 3 for k, unit in enumerate(study.units)}
    >>> over_time(study, day, window=10)[["start", "end", "n_units", "estimate"]].round(3)
       start  end  n_units  estimate
    0      0   10       30     0.447
    1     10   20       30     0.336
    2     20   30       30     0.310
    """
    reading = {
        "unit": unit,
        "rater": rater,
        "labels": labels,
        "value": value,
        "sep": sep,
        "blank": blank,
        "case": case,
        "codebook": codebook,
        "duplicates": duplicates,
    }
    study, of_unit = _grouped(data, at, reading, "over_time")
    times = _as_times(of_unit)
    whole = score_whole(study, coefficient, distance, level)
    order = np.argsort(times, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    by_time = np.argsort(rank[study.unit_codes], kind="stable")
    when = times[study.unit_codes[by_time]]
    rows = []
    for start, end in _windows(times, window, step):
        first, last = np.searchsorted(when, [start, end])
        if first < last:
            part = score_part(whole, of_ratings(study, by_time[first:last]))
            columns = counts(part) | uncertainty(part, level) | named(part)
            rows.append({"start": start, "end": end, **columns})
    return pd.DataFrame(rows)


def _grouped(
    data: Annotations | pd.DataFrame, by: Grouping, reading: Mapping[str, Any], what: str
) -> tuple[Annotations, npt.NDArray[np.object_]]:
    """Return the study, and the group of each of its units."""
    if isinstance(by, str):
        if not isinstance(data, pd.DataFrame):
            raise OptionError(
                f"{what}: {by!r} names a column, so pass the table; a study keeps its units only, "
                "pass a mapping from unit to group with it."
            )
        return study_of_table(data, by, reading)
    study = known_raters(data, what)
    return study, group_of_units(study, by, what)


def _beside(part: Agreement, whole: Agreement, rest: Annotations, level: float) -> Row:
    """Return the difference of a group from all others together."""
    if not rest.n_ratings:
        numbers = (float("nan"),) * 3
    else:
        row = linearised_difference(
            part, score_part(whole, rest), design="independent", level=level
        )
        numbers = (row["difference"], row["standard_error"], row["p_value"])
    names = ("difference", "difference_standard_error", "difference_p_value")
    return dict(zip(names, numbers, strict=True))


def _homogeneity(parts: list[Agreement]) -> float:
    """Return the p of one common value for all groups that have an estimate."""
    from scipy.special import chdtrc

    known = [part for part in parts if part.reason is None]
    estimates = np.array([part.estimate for part in known])
    errors = np.array([part.standard_error for part in known])
    if len(known) < 2 or not (errors > 0).all():
        return float("nan")
    w = 1 / errors**2
    Q = float(w @ (estimates - w @ estimates / w.sum()) ** 2)
    return float(chdtrc(len(known) - 1, Q))


def _as_times(of_unit: npt.NDArray[np.object_]) -> npt.NDArray[Any]:
    """Return the times as numbers or as numpy datetimes, one a unit."""
    series = pd.Series(of_unit).infer_objects()
    if pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_bool_dtype(series):
        return series.to_numpy()
    try:
        parsed = pd.to_datetime(series, format="ISO8601", utc=True)
    except (ValueError, TypeError) as error:
        raise OptionError(
            f"the times are neither numbers nor dates as in 2026-01-31 ({error}); read others with "
            "pandas.to_datetime first."
        ) from error
    return parsed.dt.tz_localize(None).to_numpy()


def _windows(times: npt.NDArray[Any], window: Any, step: Any) -> Iterator[tuple[Any, Any]]:
    """Yield start and end of each window, from the first time on."""
    width = _length(times, window, "window")
    stride = width if step is None else _length(times, step, "step")
    first, last = times.min(), times.max()
    n = int((last - first) / stride) + 1
    if n > _WINDOWS_AT_MOST:
        raise OptionError(
            f"window={window!r}, step={step!r} would make {n:,} windows; the limit is "
            f"{_WINDOWS_AT_MOST:,}."
        )
    for k in range(n):
        start = first + k * stride
        yield start, start + width


def _length(times: npt.NDArray[Any], length: Any, name: str) -> Any:
    is_number = isinstance(length, int | float) and not isinstance(length, bool)
    if np.issubdtype(times.dtype, np.number):
        if not is_number or not length > 0:
            raise OptionError(f"{name}={length!r} must be a number above 0, as the times are.")
        return length
    try:
        span = None if is_number else pd.Timedelta(length)
    except ValueError:
        span = None
    if span is None or not span > pd.Timedelta(0):
        raise OptionError(f"{name}={length!r} must be a length of time, such as '7D'.")
    return span.to_timedelta64()
