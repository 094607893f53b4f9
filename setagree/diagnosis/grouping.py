"""Groups of ratings and windows of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.checks import MOST_STEPS, Codes, check_cost, is_number
from setagree.coefficients.parts import Parts, are_computed_together
from setagree.diagnosis.common import (
    counts,
    named,
    own_columns,
    steps_to_score,
    uncertainty,
    unit_sums,
)
from setagree.errors import (
    DataError,
    DroppedRowsWarning,
    OptionError,
    counted,
    listing,
    option,
    warn,
)
from setagree.lazy import pd
from setagree.limits import MAX_SCORED_GROUPS
from setagree.progress import track
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score_part
from setagree.study.annotations import Annotations
from setagree.study.assembly import code_ids, pick_column, warn_names
from setagree.study.attributes import OfUnits, read_column
from setagree.study.codes import as_objects
from setagree.study.columns import check_role, with_columns, with_missing_ids
from setagree.study.frames import numbered
from setagree.study.identifiers import check_text, tidied
from setagree.study.labels import is_missing
from setagree.study.preparation import Times, read_times
from setagree.study.reading import Reading

Compared: TypeAlias = Literal["units", "raters", "units and raters"]


@dataclass(frozen=True, eq=False)
class Grouped:
    """A study whose ratings belong to groups.

    Attributes
    ----------
    names : ndarray of object, shape (n_groups,)
        The groups, in order of their first unit, or rater.
    of_rating : ndarray of int, shape (n_ratings,)
        The group of each rating.
    compares : {"units", "raters", "units and raters"}
        The members of the groups: both if each rater and each unit is in one group.
    """

    study: Annotations
    names: npt.NDArray[np.object_]
    of_rating: npt.NDArray[np.integer[Any]]
    compares: Compared

    @classmethod
    def of_units(cls, study: Annotations, of_unit: npt.NDArray[np.object_]) -> Grouped:
        """Return the groups of units, and of raters too if each rater is in one group."""
        codes, names = factorized(of_unit)
        of_rating = codes[study.unit_codes]
        both = len(names) > 1 and is_constant_in(study.rater_codes, of_rating)
        return cls(study, names, of_rating, "units and raters" if both else "units")

    @classmethod
    def of_raters(cls, study: Annotations, of_rater: npt.NDArray[np.object_]) -> Grouped:
        """Return the groups of raters, and of units too if each unit is in one group."""
        codes, names = factorized(of_rater)
        of_rating = codes[study.rater_codes]
        both = is_constant_in(study.unit_codes, of_rating)
        return cls(study, names, of_rating, "units and raters" if both else "raters")

    @property
    def of_rater(self) -> npt.NDArray[np.integer[Any]]:
        """The group of each rater, if groups are of raters."""
        return _last_of(self.study.rater_codes, self.of_rating)


def is_constant_in(codes: npt.NDArray[Any], groups: npt.NDArray[Any]) -> bool:
    """Return whether all entries with the same code are in one group."""
    return bool((_last_of(codes, groups)[codes] == groups).all())


def _last_of(codes: npt.NDArray[Any], groups: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the group of the last entry with each code."""
    last = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    last[codes] = groups
    return last


def factorized(groups: npt.NDArray[np.object_]) -> tuple[npt.NDArray[Any], Any]:
    """Return the code of each group, and the groups; warn if names look alike."""
    try:
        codes, names = pd.factorize(groups)
    except TypeError as error:
        raise DataError(f"by_group: a group is named by text or a number ({error}).") from error
    for name in names:
        check_text(name, "by_group: the group")
    warn_names("Groups", names)
    return codes, names


def group_by_mapping(study: Annotations, by: OfUnits) -> Grouped:
    """Return the groups of units, or of raters if a mapping is from raters."""
    if isinstance(by, Mapping | pd.Series):
        group_of = {tidied(name): tidied(group) for name, group in by.items()}
        if group_of.keys() & {*study.raters} and group_of.keys().isdisjoint(study.units):
            groups = as_objects(group_of.get(rater) for rater in study.raters)
            without = [r for r, one in zip(study.raters, groups, strict=True) if is_missing(one)]
            if without:
                raise DataError(f"by_group: the raters {listing(without)} have no group.")
            return Grouped.of_raters(study, groups)
    return Grouped.of_units(study, as_objects(read_column(study, by, "group")))


def grouped_table(
    table: pd.DataFrame, column: str, reading: Reading, *, without: Sequence[Any] = ()
) -> Grouped:
    """Return the study of a long table, and the groups that a further column makes in it.

    If the column has one value per rater, groups are of raters. Otherwise a unit with several
    values becomes one unit per value, named (unit, group): answers are compared only within a
    group. The raters `without` are left out after the table was read, so that their answers count
    for the meaning of nulls and numbers.
    """
    found, table, cells, kept = _columns(
        table, column, reading, without, option("by", column), leaves_out=True
    )
    unit_cells = pick_column(table, found.unit)
    units, names = code_ids(unit_cells[kept], "unit")
    groups, listed = code_ids(cells, "group")
    raters, people = code_ids(pick_column(table, str(found.rater))[kept], "rater")
    if len(listed) > 1 and is_constant_in(raters, groups):
        study = _without(Annotations.from_reading(table, found), without)
        of = dict(zip(people, listed[_last_of(raters, groups)], strict=True))
        return Grouped.of_raters(study, as_objects(of[rater] for rater in study.raters))
    first = np.zeros(len(names), dtype=np.int64)
    first[units[::-1]] = groups[::-1]
    if (first[units] == groups).all():
        study = _without(Annotations.from_reading(table, found), without)
        place = dict(zip(names, first, strict=True))
        return Grouped.of_units(study, listed[[place[unit] for unit in study.units]])
    pairs, which = np.unique(units.astype(np.int64) * len(listed) + groups, return_inverse=True)
    ids = as_objects((names[k // len(listed)], listed[k % len(listed)]) for k in pairs)
    called = as_objects(unit_cells)
    called[kept] = ids[which]
    renamed = table.assign(**{str(found.unit): called})
    study = _without(Annotations.from_reading(renamed, found), without)
    return Grouped.of_units(study, as_objects(group for _, group in study.units))


def study_and_column(
    table: pd.DataFrame, column: str, reading: Reading, *, without: Sequence[Any] = ()
) -> tuple[Annotations, pd.Series[Any], npt.NDArray[np.int64]]:
    """Return the study of a long table, a further column, and the unit of each row (-1: none).

    For `without` see `grouped_table`; the column and the units are those of the other rows.
    """
    found, table, cells, kept = _columns(table, column, reading, without, option("time", column))
    study = _without(Annotations.from_reading(table, found), without)
    units, names = code_ids(pick_column(table, found.unit)[kept], "unit")
    place = {unit: k for k, unit in enumerate(study.units)}
    return study, cells, np.array([place.get(name, -1) for name in names])[units]


def _without(study: Annotations, raters: Sequence[Any]) -> Annotations:
    """Return a study without some raters; names that are not in its table are ignored."""
    known = {*study.raters.tolist(), *study.missing_by_rater}
    return study.exclude_raters([rater for rater in raters if rater in known])


def _columns(
    table: pd.DataFrame,
    column: str,
    reading: Reading,
    without: Sequence[Any],
    described: str,
    *,
    leaves_out: bool = False,
) -> tuple[Reading, pd.DataFrame, pd.Series[Any], npt.NDArray[np.bool_]]:
    """Return the reading of a table, its rows, the cells of a further column, and a row filter.

    Rows of the raters in `without` do not count. Other rows with a blank in the column, which
    `described` names, are left out with a warning if `leaves_out`, and raise an error otherwise.
    """
    cells = pick_column(table, column)
    if column in reading.columns.values():
        check_role(reading, list(table.columns), column, described)
    try:
        resolved = with_columns(reading, [name for name in table.columns if name != column])
    except DataError:
        check_role(reading, list(table.columns), column, described)
        raise
    codes, names = code_ids(pick_column(table, str(resolved.rater)), "rater")
    kept = ~np.isin(codes, [code for code, name in enumerate(names) if name in without])
    if leaves_out:
        cells = pick_column(with_missing_ids(table, [column]), column)
    is_missing_cell = kept & cells.isna().to_numpy()
    nothing = int(is_missing_cell.sum())
    if nothing and leaves_out and nothing < kept.sum():
        _warn_nothing(nothing, column)
        has_cell = ~is_missing_cell
        table, cells, kept = numbered(table)[has_cell], cells[has_cell], kept[has_cell]
    elif nothing:
        raise DataError(
            f"{counted(nothing, 'row')} of {kept.sum():,} have nothing in column {column!r}; fill "
            "it in, or remove these rows."
        )
    return resolved, table, cells[kept], kept


def named_rows(table: pd.DataFrame, column: str) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Return the rows with something in a column, and its cells; warn of the other rows."""
    cells = pick_column(with_missing_ids(table, [column]), column)
    is_named = cells.notna().to_numpy()
    if nothing := int((~is_named).sum()):
        _warn_nothing(nothing, column)
    return numbered(table)[is_named], cells[is_named]


def _warn_nothing(n: int, column: str) -> None:
    warn(f"{counted(n, 'row')} with nothing in column {column!r} left out.", DroppedRowsWarning)


_MAX_WINDOWS = 2_000
"""Largest number of windows; a width that makes more is probably in a wrong unit."""

_BLOCK_RATINGS = 1_000_000
"""Annotations of windows that are scored together."""

_ROUNDING = 1e-9
"""Share of a step by which a decimal such as 0.3 can differ from a multiple of the step (0.1)."""


def windowed_times(cells: pd.Series[Any], described: str) -> Times:
    """Return cells as times that windows can roll over: finite numbers, or dates."""
    times = read_times(cells, described, are_spans=True)
    assert times.values is not None  # noqa: S101 - names raise an error above
    if times.values.dtype.kind == "f" and not np.isfinite(times.values).all():
        n = int((~np.isfinite(times.values)).sum())
        raise DataError(
            f"{described}: {counted(n, 'time')} of {len(cells):,} are not finite numbers."
        )
    return times


def first_times(times: Times, unit_of_row: npt.NDArray[Any], n_units: int) -> Times:
    """Return the earliest time of each unit from one time per row; rows without a unit are -1."""
    rows = np.flatnonzero(unit_of_row >= 0)
    assert times.values is not None  # noqa: S101 - names raise an error above
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
    with np.errstate(over="ignore"):  # a step near 0 makes infinitely many
        n_strides = (last - first) / stride
    if not n_strides < _MAX_WINDOWS:
        raise OptionError(
            f"{option('window', window)}, step={step!r} would make more than {_MAX_WINDOWS:,} "
            "windows."
        )
    n = int(n_strides) + 1
    # An end is equal to the next start, so that no time is between two windows.
    starts = [first + k * stride for k in range(n + 2)]
    for k, start in enumerate(starts[:-1]):
        end = starts[k + 1] if step is None else start + width
        if edges(start, end)[0] <= last:
            yield start, end


def edges(start: Any, end: Any) -> tuple[Any, Any]:
    """Return the ends of a window, less a tolerance for the rounding of decimals."""
    if not isinstance(end, float | np.floating):
        return start, end
    slack = max(_ROUNDING * float(end - start), 4 * float(np.spacing(abs(float(end)))))
    return start - slack, end - slack


def _length(times: npt.NDArray[Any], length: Any, name: str) -> Any:
    if np.issubdtype(times.dtype, np.number):
        if not is_number(length) or not 0 < length < np.inf:
            raise OptionError(f"{option(name, length)} must be a number above 0, as the times are.")
        return length
    try:
        span = None if is_number(length) else pd.Timedelta(length)
    except ValueError:
        span = None
    if span is None or not span > pd.Timedelta(0):
        raise OptionError(
            f"{option(name, length)} must be a length of time, such as '7D', as the times are "
            "dates."
        )
    return span.to_timedelta64()


def score_parts(
    study: Annotations, parts: Sequence[Codes], whole: Agreement, level: float
) -> tuple[pd.DataFrame, list[Agreement]]:
    """Return the columns of each part, of which `parts` has the ratings, and their agreements.

    All are parts of one study, in which a unit of two of them is two units. More than
    `MAX_SCORED_GROUPS` are scored together if possible, without agreements.
    """
    n, is_sampled = len(parts), whole.case.sample is not None
    if n <= MAX_SCORED_GROUPS or is_sampled or not are_computed_together(whole.definition.model):
        n_steps, few = n * steps_to_score(study), int(MOST_STEPS / steps_to_score(study))
        instead = f"About {few:,} are possible."
        check_cost(f"by_group of {n:,} groups", n_steps=n_steps, instead=instead)
        tracked = track(parts, total=n, what="groups")
        scored = [score_part(whole, study.take(rows)) for rows in tracked]
        columns = (counts(one) | uncertainty(one, level) | named(one) for one in scored)
        return pd.DataFrame(columns, columns=[*_COLUMNS]), scored
    done = np.cumsum([len(rows) for rows in parts]) // _BLOCK_RATINGS
    bounds = [0, *(np.flatnonzero(np.diff(done)) + 1).tolist(), n]
    blocks = [
        _scored_together(study, parts[first:last], whole, level) for first, last in pairwise(bounds)
    ]
    names = {"coefficient": whole.coefficient, "distance": whole.distance}
    return pd.concat(blocks, ignore_index=True).assign(**names)[[*_COLUMNS]], []


def _scored_together(
    study: Annotations, windows: Sequence[Codes], whole: Agreement, level: float
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
    parts = Parts(unit_sums(whole, together), units // study.n_units, len(windows))
    own = parts.estimates()
    return pd.DataFrame(own_columns(together, parts, own, of_rating, level))


_COLUMNS = (
    *("n_units", "n_pairable_units", "n_raters", "n_ratings", "n_values"),
    *("estimate", "standard_error", "low", "high", "interval_method"),
    *("reason", "remark", "coefficient", "distance"),
)
