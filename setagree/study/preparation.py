"""Preparation of the rows of a table: order of times, statuses and marks of queues."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from setagree.checks import Codes
from setagree.errors import (
    DataError,
    DroppedRowsWarning,
    RepeatsError,
    SetagreeWarning,
    counted,
    did_you_mean,
    listing,
    option,
    python_or_command,
    shorten,
    warn,
)
from setagree.lazy import pd
from setagree.study.assembly import code_ids, pick_column
from setagree.study.codes import TextFrame, as_objects, is_ordered
from setagree.study.columns import QUESTIONS, free_columns, plain_name, questions_hint
from setagree.study.frames import (
    Frame,
    as_pandas,
    column_names,
    numbered,
    open_frame,
    row_numbers,
)
from setagree.study.identifiers import tidied
from setagree.study.labels import is_missing
from setagree.study.numbers import as_number, exact
from setagree.study.reading import QUEUED, SAMPLING_WEIGHT, Reading
from setagree.study.row_filter import CALENDAR_WORDS, kept_rows

if TYPE_CHECKING:
    from setagree.study.annotations import Annotations


_MAX_WHOLE = 2.0**61
_TIME_NAMES = re.compile(
    r"time|date|created|submitted|completed|modified|saved|at$|zeit|datum|horodat|fecha"
)
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_ZONED = re.compile(r"\d[T ]\d.*(Z|[+-]\d\d(?::?\d\d)?)$")
_NUMERAL = re.compile(r"(?:(?<!\S)[-\u2212])?[0-9]+(?:[.,][0-9]+)*")
_FRACTION = re.compile(r"([+-]?[0-9]*)\.([0-9]+)")
_VERSION = re.compile(r"\b(v|ver|version|rel|release|rev|revision)\.?\s*0", re.IGNORECASE)
_QUANTITY = re.compile(r"0\s?[^\W\d_]+")
_DAY_AND_MONTH = re.compile(r"(0?[1-9]|[12]\d|3[01])\.(0[1-9]|1[0-2])")
_CLOCK = re.compile(r"\d:\d")
_DATE_WORDS = CALENDAR_WORDS | {"am", "pm", "st", "nd", "rd", "th", "t"}
"""Words in dates; names with other words may contain a serial number."""


def in_order(table: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Return a long table with a rater's answers to one unit in the order of a column.

    Only rows of the same unit and rater are exchanged, so that units and raters keep their order.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetagreeWarning)  # reading the study repeats all warnings
        units, raters = (
            code_ids(pick_column(table, name), role)[0]
            for name, role in ((reading.unit, "unit"), (reading.rater, "rater"))
        )
    cells = pick_column(table, reading.order_by)
    ranks = read_times(cells, option("order_by", reading.order_by)).ranks
    places = np.empty(len(table), dtype=np.int64)
    places[np.lexsort((raters, units))] = np.lexsort((ranks, raters, units))
    return table.iloc[places]


def with_order(error: RepeatsError, table: Frame, reading: Reading) -> RepeatsError:
    """Return the error with the option to order repeats by a column of their times.

    Such a column has the name of times and only dates, which differ within the first pair.
    """
    for cells, ranks in _date_columns(table, _time_names(table, reading)):
        ranks = ranks[np.isin(row_numbers(cells), error.rows)]
        if len({*ranks.tolist()}) == len(ranks):
            remedy = {"duplicates": "last", "order_by": cells.name}
            ways = " and ".join(option(*each) for each in remedy.items())
            hint = f" To keep the latest by the times in column {cells.name!r}, use {ways}."
            return error.worded(f"{error}{hint}").having(remedy=remedy)
    return error


def with_questions(error: RepeatsError, table: Frame, reading: Reading) -> RepeatsError:
    """Return the error with the option for questions if a column has another for each repeat."""
    names = [name for name in column_names(table) if isinstance(name, str)]
    for name in (x for x in names if plain_name(x) in QUESTIONS and x != reading.answer):
        with suppress(DataError, TypeError):  # two columns of one name, or lists
            cells = pick_column(as_pandas(table, [name]), name)
            asked = as_objects(cells)[np.isin(row_numbers(cells), error.rows)]
            if len({*asked}) == len(asked) > 0:
                return error.worded(f"{error.pairs}.{questions_hint([name])}").having(remedy={})
    return error


def row_number_remedy(table: pd.DataFrame, reading: Reading) -> Any:
    """Return the column that may have the units of a table whose units number the rows, or None.

    It has no times, and on average at least two raters per unit. Without a usual name, it has at
    least three units and one row per unit and rater, and raters have at least two rows on average.
    """
    usual, others = free_columns(table, reading)
    for name in [*usual, *others]:
        with suppress(DataError):  # blank cells, lists, or two columns of one name
            units, raters = (
                code_ids(pick_column(table, column), role)[0].astype(np.int64)
                for column, role in ((name, "unit"), (reading.rater, "rater"))
            )
            n_units, n_raters = units.max() + 1, raters.max() + 1
            n_pairs = len(np.unique(units * n_raters + raters))
            is_sure = n_units > 2 and n_pairs == len(table) and n_pairs >= 2 * n_raters
            is_rated = 2 <= n_units <= n_pairs / 2
            if is_rated and (is_sure or name in usual) and not any(_date_columns(table, [name])):
                return name
    return None


def order_remedy(study: Annotations, table: pd.DataFrame, reading: Reading) -> str | None:
    """Return the column of times whose order keeps other answers than that of the rows, or None."""
    for cells, ranks in _date_columns(table, _time_names(table, reading)):
        name = str(cells.name)
        ranked = table.assign(**{name: ranks})  # dates take long to read
        ordered = study.from_reading(ranked, replace(reading, order_by=name, where=None))
        if {*ordered.to_triples()} != {*study.to_triples()}:
            return name
    return None


def _time_names(table: Frame, reading: Reading) -> list[str]:
    """Return the columns with the name of times, unless another column orders the rows."""
    names = column_names(table) if reading.order_by is None else []
    texts = (n for n in names if isinstance(n, str) and n not in reading.columns.values())
    return [name for name in texts if _TIME_NAMES.search(plain_name(name))]


def _date_columns(table: Frame, names: Iterable[Any]) -> Iterator[tuple[pd.Series[Any], Codes]]:
    """Yield those of the columns that have dates in all cells, and the ranks of their cells."""
    for name in names:
        with suppress(DataError, TypeError):  # such as two columns of one name, or lists
            cells = pick_column(as_pandas(table, [name]), name)
            times = read_times(cells, str(name), are_spans=True)
            if times.values is not None and times.values.dtype.kind == "M":
                yield cells, times.ranks


@dataclass(frozen=True, eq=False)
class Times:
    """Times, or names, which have only an order.

    `ranks` count from 0. `values` are numbers, or times in UTC if their original zone is known.
    """

    ranks: Codes
    values: npt.NDArray[Any] | None
    zone: Any = None

    def shown(self, time: Any) -> Any:
        """Return a time as a number, or as a Timestamp in the original zone."""
        if not isinstance(time, np.datetime64):
            return time
        stamp = pd.Timestamp(time)
        return stamp if self.zone is None else stamp.tz_localize("UTC").tz_convert(self.zone)


def read_times(cells: pd.Series[Any], name: str, *, are_spans: bool = False) -> Times:
    """Return the order of a column of numbers, dates or names.

    Numbers are ordered by size and dates by time, also if they are text. Dates are those of
    ISO 8601 (2026-01-31), or have a year of four digits and are the same with the day or the month
    first. An ordered categorical has its own order. Names are ordered by the one number in which
    they differ ("batch 2" before "batch 10", "0.25 mm" before "0.5 mm"), or by all numbers if they
    begin with a year. Versions are ordered by their parts ("v1.9" before "v1.10"). Numbers that are
    equal and written differently (1 and 1.0) are one time, with a warning. Any other order raises
    `DataError`. `name` is the option that names the column. With `are_spans`, only numbers and
    dates have an order, because names have no distances in time.
    """
    is_typed = cells.dtype != object and isinstance(cells.dtype, np.dtype | pd.DatetimeTZDtype)
    codes, listed = pd.factorize(cells if is_typed else as_objects(cells))
    distinct = pd.Series(listed).infer_objects()
    blank = [isinstance(cell, str) and not cell.strip() for cell in distinct]
    missing = (codes < 0) | np.array([*blank, True])[codes]
    if missing.any():
        n = int(missing.sum())
        raise DataError(
            f"{name}: {counted(n, 'row')} of {len(cells):,} {'has' if n == 1 else 'have'} nothing "
            "in that column."
        )
    if is_ordered(cells.dtype) and not are_spans:
        return Times(np.asarray(cells.cat.codes, dtype=np.int64), None)
    texts = [tidied(cell) for cell in distinct if isinstance(cell, str)]
    if (times := _numbers(distinct)) is not None:
        _check_unclear(texts, name, are_decimals=True)
    elif (times := _dates(distinct)) is None:
        times = None if are_spans else _names(distinct, name)
    if times is None:
        raise _no_order(distinct, name, are_spans=are_spans)
    if not are_spans and len(texts) == len(distinct):
        _warn_equal(texts, times, np.bincount(codes), name)
    values = None if times.values is None else times.values[codes]
    return Times(times.ranks[codes], values, times.zone)


def _numbers(cells: pd.Series[Any]) -> Times | None:
    """Return distinct cells by size, or None if some are not numbers and do not spell one."""
    array = np.asarray(cells)
    if array.dtype.kind in "iuf":
        ranks = np.unique(array, return_inverse=True)[1].astype(np.int64)
        floats, is_whole = array.astype(np.float64), array.dtype.kind != "f"
    else:
        plain = [tidied(cell) for cell in cells]
        if any(isinstance(cell, bool) or as_number(cell) is None for cell in plain):
            return None
        keys = [exact(cell) for cell in plain]
        place = {key: k for k, key in enumerate(sorted({*keys}))}
        ranks = np.array([place[key] for key in keys], dtype=np.int64)
        floats = np.array([*map(float, keys)])
        array, is_whole = floats, bool((floats == np.floor(floats)).all())
    # int64, because differences of small integers (int8) would overflow.
    fits = is_whole and bool((np.abs(floats) < _MAX_WHOLE).all())
    return Times(ranks, array.astype(np.int64) if fits else floats)


def _dates(cells: pd.Series[Any]) -> Times | None:
    """Return distinct dates by time, or None if some are not dates or only some have zones."""
    if not pd.api.types.is_datetime64_any_dtype(cells):
        texts = pd.Series([tidied(str(cell)) for cell in cells], dtype=object)
        zones = {match and match[1] for match in map(_ZONED.search, texts)}
        if None in zones and len(zones) > 1:
            return None
        years_first = texts.where(texts.str.match(r"\d{4}"))  # pandas also reads "today"
        cells = pd.to_datetime(years_first, format="ISO8601", utc=True, errors="coerce")
        if (others := cells.isna()).any():
            read = [_unambiguous(text) for text in texts[others]]
            if None in read or None not in zones:
                return None
            cells[others] = pd.DatetimeIndex(read).tz_localize("UTC")
        if None in zones:
            cells = cells.dt.tz_localize(None)
        elif len(zones) == 1:  # times with several offsets are in UTC
            cells = cells.dt.tz_convert(pd.Timestamp(texts[0]).tz)
    zone = cells.dt.tz
    plain = cells if zone is None else cells.dt.tz_convert("UTC").dt.tz_localize(None)
    values = plain.to_numpy()
    return Times(np.unique(values, return_inverse=True)[1].astype(np.int64), values, zone)


def _unambiguous(text: str) -> pd.Timestamp | None:
    """Return a date with a year of four digits, or None if day and month are ambiguous."""
    words = {word.casefold() for word in re.findall(r"[^\W\d_]+", text)}
    if not _YEAR.search(text) or not words <= _DATE_WORDS:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a day above 12 contradicts the format
        try:
            read = [pd.to_datetime(text, dayfirst=day_first) for day_first in (False, True)]
        except (ValueError, OverflowError):
            return None
    same = read[0] == read[1] or _YEAR.match(text)
    return read[0] if same and read[0].tzinfo is None else None


def _names(cells: pd.Series[Any], name: str) -> Times | None:
    """Return distinct names by the number in which they differ, or by all if a year comes first.

    Return None for other names.
    """
    if len(cells) == 1:
        return Times(np.zeros(1, dtype=np.int64), None)
    texts = [tidied(str(cell)) for cell in cells]
    templates = {_NUMERAL.sub("0", text) for text in texts}
    words = {word.casefold() for text in templates for word in re.findall(r"[^\W\d_]+", text)}
    if len(templates) > 1 or not words - _DATE_WORDS or _CLOCK.search(texts[0]):
        return None
    template = min(templates)
    is_version, has_years = bool(_VERSION.search(template)), all(map(_YEAR.match, texts))
    is_quantity = bool(_QUANTITY.fullmatch(template)) and not has_years
    fields: list[list[tuple[Any, ...]]] = []
    n_varying = 0
    for field in zip(*map(_NUMERAL.findall, texts), strict=True):
        numerals = [text.replace(",", ".").replace("\u2212", "-") for text in field]
        keys: list[tuple[Any, ...]] = [tuple(map(int, text.split("."))) for text in numerals]
        if not is_version and all(len(key) < 3 for key in keys):
            are_decimals = is_quantity or not any(key[0] for key in keys)
            are_decimals &= not all(map(_DAY_AND_MONTH.fullmatch, numerals))
            _check_unclear(numerals, name, are_decimals=are_decimals)
            if are_decimals:
                keys = [(Fraction(text),) for text in numerals]
        n_varying += sum(len({*part}) > 1 for part in zip_longest(*keys))
        fields.append(keys)
    if n_varying > 1 and not (has_years or is_version):
        return None
    names = list(zip(*fields, strict=True))
    place = {key: k for k, key in enumerate(sorted({*names}))}
    return Times(np.array([place[key] for key in names], dtype=np.int64), None)


def _check_unclear(numerals: Sequence[str], name: str, *, are_decimals: bool) -> None:
    """Raise `DataError` if numerals sort differently as decimals and as versions: 1.9 and 1.10.

    With `are_decimals`, only a longer numeral that ends in zero is unclear.
    """
    fractions: dict[str, list[str]] = {}
    for match in filter(None, map(_FRACTION.fullmatch, numerals)):
        fractions.setdefault(match[1], []).append(match[2])
    for integer, digits in fractions.items():
        least = ""  # the smallest of the shortest fractions so far
        for part in sorted({*digits}, key=lambda x: (x.rstrip("0"), -len(x)), reverse=True):
            may_be_version = not are_decimals or (part[-1] == "0" and part[0] != "0")
            if least and len(part) > len(least) and int(part) >= int(least) and may_be_version:
                shorter, longer = f"{integer}.{least}", f"{integer}.{part}"
                relation = "equal to" if Fraction(shorter) == Fraction(longer) else "less than"
                raise DataError(
                    f"{name}: {longer} and {shorter} cannot be put in order, because {longer} is "
                    f"{relation} {shorter} as a decimal, but not as a version or month. Use "
                    "numbers with equally many digits after the point, or dates as in 2026-01-31"
                    f"{_or_categorical()}."
                )
            if not least or len(part) <= len(least):
                least = part


def _warn_equal(texts: Sequence[str], times: Times, n_cells: Codes, name: str) -> None:
    """Warn if several spellings of a number, or of a name by its number, are read as one time."""
    if times.values is not None and times.values.dtype.kind == "M":
        return
    spellings: dict[int, dict[str, int]] = {}
    for text, rank, n in zip(texts, times.ranks.tolist(), n_cells.tolist(), strict=True):
        spelled = spellings.setdefault(rank, {})
        spelled[text] = spelled.get(text, 0) + n
    equal = [[*spelled.items()] for spelled in spellings.values() if len(spelled) > 1]
    if equal:
        (first, n), (second, m) = equal[0][:2]
        more = f" So are {counted(len(equal) - 1, 'other time')}." if len(equal) > 1 else ""
        warn(
            f"{name}: {first!r} ({counted(n, 'cell')}) and {second!r} ({counted(m, 'cell')}) are "
            f"equal as numbers and are read as one time.{more} If they differ, give the order by "
            "numbers or dates that differ.",
            SetagreeWarning,
        )


def _no_order(cells: pd.Series[Any], name: str, *, are_spans: bool) -> DataError:
    """Return the error for cells without a known order."""
    columns = (pd.Series([cell], dtype=object) for cell in cells)
    odd = [column[0] for column in columns if (_numbers(column) or _dates(column)) is None]
    if not odd:
        return DataError(
            f"{name}: {shorten(cells.iloc[0])} and {shorten(cells.iloc[-1])} cannot be put in "
            "order. Use numbers only, or dates only, all with a time zone or none."
        )
    return DataError(
        f"{name}: {shorten(odd[0])} cannot be put in order, because it is neither a number nor a "
        f"date as in 2026-01-31. Use numbers or such dates{'' if are_spans else _or_categorical()}."
    )


def _or_categorical() -> str:
    """Return a further remedy for names in an unknown order; the command has none."""
    way = "pandas.Categorical(cells, categories=[...], ordered=True)"
    return python_or_command(f", or give the order as an ordered categorical: {way}", "")


STATUSES = ("observed", "abstained", "not applicable", "failed to parse", "refused")
"""Permitted statuses; a blank status is the first."""


@dataclass(frozen=True, eq=False)
class PreparedRows:
    """Rows of a long table, separated by use: `counted` are those that coefficients use.

    `with_queued` also has the rows that ``queued=`` marks, and is None if it marks none.
    `unobserved` are the rows with another status than observed, and their statuses.
    """

    counted: pd.DataFrame
    with_queued: pd.DataFrame | None = None
    unobserved: tuple[pd.DataFrame, npt.NDArray[np.object_]] | None = None


def prepare_rows(data: Frame, reading: Reading) -> PreparedRows:
    """Return the rows of a long table, separated by use.

    The steps are the same for every kind of table:

    1. rows that do not match `where` are dropped;
    2. rows of one unit and rater are put in the order of the times in `order_by`;
    3. rows with another `status` than observed are set apart;
    4. rows that `queued` marks are set apart.

    The rows keep their numbers, for errors. Afterwards the cells are coded, missing answers are
    dropped, `duplicates` settles the repeated ones, and named models (`model`) are set apart.
    """
    is_read, where = isinstance(data, pd.DataFrame | TextFrame), reading.condition
    frame: Any = data if is_read else open_frame(data)
    names = list(frame) if is_read else column_names(frame)
    warn_unread_weights(names, reading)
    has_marks = has_unnamed_marks(names, reading)
    table = frame if is_read else _named_columns(frame, names, reading, has_marks=has_marks)
    if not (where or has_marks or reading.order_by or reading.status or reading.queued):
        return PreparedRows(table)
    table, unobserved = numbered(table), None
    if where is not None:
        table = kept_rows(table, where)
    if has_marks:
        cells = as_objects(table[QUEUED])
        warn_marks(cells, np.ones(len(cells), dtype=np.int64))
    if reading.order_by is not None:
        table = in_order(table, reading)
    if reading.status is not None:
        statuses = _read_statuses(pick_column(table, reading.status), reading.status)
        observed = statuses == STATUSES[0]
        if not observed.any():
            raise DataError(f"no row has the status {STATUSES[0]!r} in column {reading.status!r}.")
        unobserved = table[~observed], statuses[~observed]
        table = table[observed]
        _warn_answers(unobserved[0], reading.answer)
    with_queued = None
    if reading.queued is not None:
        marks = _marks(pick_column(table, reading.queued), reading.queued)
        if marks.any():
            _warn_queued(table, reading, marks)
            table, with_queued = table[~marks], table
    return PreparedRows(table, with_queued, unobserved)


def _named_columns(
    frame: Any, names: Collection[Any], reading: Reading, *, has_marks: bool
) -> pd.DataFrame:
    """Return the columns that a reading names, or all of them if some are absent, for errors."""
    answers = reading.answer if isinstance(reading.answer, list) else [reading.answer]
    named = [reading.unit, reading.rater, *answers, *reading.further_columns, *[QUEUED] * has_marks]
    named += reading.condition.columns if reading.condition else ()
    return as_pandas(frame, named if {*map(str, named)} <= {*names} else None)


def with_unobserved(study: Annotations, rows: PreparedRows, reading: Reading) -> Annotations:
    """Return the study with the statuses of unobserved rows.

    A status is dropped if another row has an answer of the rater to the unit.
    """
    if rows.unobserved is None:
        return study
    frame = _without_answer(study, *rows.unobserved, reading)
    missing, answered = dict(study.missing_by_rater), {*study.units}
    for rater in frame["rater"]:
        missing[rater] = missing.get(rater, 0) + 1
    unanswered = [*study.unanswered, *(unit for unit in frame["unit"] if unit not in answered)]
    return replace(
        study,
        unanswered=as_objects(dict.fromkeys(unanswered)),
        unobserved=frame,
        n_missing=study.n_missing + len(frame),
        missing_by_rater=missing,
    )


def _without_answer(
    study: Annotations, rows: pd.DataFrame, statuses: npt.NDArray[np.object_], reading: Reading
) -> pd.DataFrame:
    """Return unit, rater and status of the rows whose unit and rater have no answer in the study.

    Of several rows of one unit and rater, such as repeated calls of a model, the last one counts:
    the latest with `order_by`.
    """
    ids = [code_ids(pick_column(rows, getattr(reading, role)), role) for role in ("unit", "rater")]
    units, raters = (names[codes] for codes, names in ids) if len(rows) else (statuses, statuses)
    rated = {*zip(study.units[study.unit_codes], study.raters[study.rater_codes], strict=True)}
    last = {pair: row for row, pair in enumerate(zip(units, raters, strict=True))}
    kept = sorted(row for pair, row in last.items() if pair not in rated)
    return pd.DataFrame({"unit": units[kept], "rater": raters[kept], "status": statuses[kept]})


def _read_statuses(column: Any, name: str) -> npt.NDArray[np.object_]:
    """Return the statuses in the spelling of `STATUSES`."""
    codes, cells = pd.factorize(as_objects(column), use_na_sentinel=False)
    out = []
    for code, cell in enumerate(cells):
        text = "" if is_missing(cell) else str(cell).strip().lower()
        status = " ".join(text.replace("_", " ").replace("-", " ").split()) or STATUSES[0]
        if status not in STATUSES:
            hint = did_you_mean(status, STATUSES) or (
                f" It must be one of {listing(STATUSES)}; {STATUSES[0]!r} or blank for an answer "
                "that counts."
            )
            row = row_numbers(column)[codes == code][0]
            raise DataError(
                f"column {name!r} must have the status of each annotation; row {row} has "
                f"{shorten(cell)}.{hint}"
            )
        out.append(status)
    return as_objects(out)[codes]


def _warn_answers(rows: pd.DataFrame, answer: Any) -> None:
    """Warn if unobserved rows have an answer."""
    if isinstance(answer, list) or not len(rows):
        return
    cells = as_objects(pick_column(rows, answer))
    n = sum(not is_missing(cell) and str(cell).strip() not in {"", "[]"} for cell in cells)
    if n:
        warn(
            f"{counted(n, 'row')} with another status than {STATUSES[0]!r} and an answer: the "
            "answer is ignored.",
            DroppedRowsWarning,
        )


def statuses(study: Annotations) -> pd.DataFrame:
    """Numbers of observed annotations and of each other status, with one row per rater.

    Raters without an observed annotation come last; see ``status=`` of `from_long`. Units without
    any annotation count too.
    """
    unobserved = study.unobserved
    others = [] if unobserved is None else unobserved["rater"].tolist()
    place = {rater: k for k, rater in enumerate(dict.fromkeys([*study.raters.tolist(), *others]))}
    cells = np.zeros((len(place), len(STATUSES)), dtype=np.int64)
    cells[: study.n_raters, 0] = np.bincount(study.rater_codes, minlength=study.n_raters)
    if unobserved is not None:
        columns = [STATUSES.index(status) for status in unobserved["status"]]
        np.add.at(cells, ([place[rater] for rater in others], columns), 1)
    index = pd.Index(as_objects(place), name="rater", tupleize_cols=False)
    return pd.DataFrame(cells, index=index, columns=[*STATUSES])


_YES, _NO = {"true", "yes", "y", "1", "x"}, {"false", "no", "n", "0", ""}


def _warn_queued(table: pd.DataFrame, reading: Reading, marks: npt.NDArray[np.bool_]) -> None:
    """Warn of the number of marked ratings; raise `DataError` if all or parts are marked."""
    n, n_ratings = int(marks.sum()), len(marks)
    if reading.degree is not None:
        n, n_ratings = _marked_ratings(table, reading, marks)
    if n == n_ratings:
        raise DataError(
            f"all {counted(n, 'rating')} are marked in column {reading.queued!r}, so that none "
            "remains for a coefficient."
        )
    warn(
        f"{n:,} of {counted(n_ratings, 'rating')} came from a queue that uses the answers (column "
        f"{reading.queued!r}): coefficients omit them, and the consensus uses them.",
        DroppedRowsWarning,
    )


def _marked_ratings(
    table: pd.DataFrame, reading: Reading, marks: npt.NDArray[np.bool_]
) -> tuple[int, int]:
    """Return the number of marked ratings of one or more rows, and the number of all ratings."""
    # As text: reading the ratings warns that 1 and "1" are different units.
    ids = [as_objects(pick_column(table, str(name))).astype(str)
           for name in (reading.unit, reading.rater)]  # fmt: skip
    of_row, _ = pd.MultiIndex.from_arrays(ids).factorize()
    n_rows, n_marked = np.bincount(of_row), np.bincount(of_row, marks)
    if (partly := np.flatnonzero((n_marked > 0) & (n_marked < n_rows))).size:
        first = np.flatnonzero(of_row == partly[0])[0]
        unit, rater = (shorten(names[first]) for names in ids)
        raise DataError(
            f"Unit {unit}, rater {rater}: column {reading.queued!r} marks some of the "
            f"{n_rows[partly[0]]} rows of this answer and others not; with {option('degree')} they "
            "are one rating."
        )
    return int((n_marked > 0).sum()), len(n_rows)


def _remedy() -> str:
    return option("queued", QUEUED) + python_or_command(" to setagree.read", "")


def _words(cells: Iterable[Any]) -> list[str]:
    """Return the cells of a column of marks as lower-case text, blank if they are missing."""
    words = ("" if is_missing(cell) else str(cell).strip().lower() for cell in cells)
    return [word.removesuffix(".0") for word in words]


def _marks(column: pd.Series[Any], name: str) -> npt.NDArray[np.bool_]:
    """Return whether each row is marked."""
    cells = as_objects(column)
    words = _words(cells)
    odd = [row for row, word in enumerate(words) if word not in _YES | _NO]
    if odd:
        raise DataError(
            f"{option('queued', name)}: the column must mark ratings by yes or no; row "
            f"{row_numbers(column)[odd[0]]}, counted from 1 below the header, has "
            f"{shorten(cells[odd[0]])}. Name another column, or omit {option('queued')}."
        )
    return np.array([word in _YES for word in words], dtype=bool)


def has_unnamed_marks(names: Collection[object], reading: Reading) -> bool:
    """Return whether a table has a column ``queued`` that neither an option nor `where` names."""
    is_filtered = reading.condition is not None and QUEUED in reading.condition.columns
    return QUEUED in names and not (is_filtered or reading.names_column(QUEUED))


def warn_unread_weights(names: Collection[object], reading: Reading) -> None:
    """Warn if a table has a column ``sampling_weight`` that no option names."""
    name = SAMPLING_WEIGHT
    if name in names and not reading.names_column(name):
        warn(
            f"column {name!r} is not used, so that all units weigh the same. If it has sampling "
            f"weights, pass {option(name, name)}{python_or_command(' to setagree.read', '')}.",
            SetagreeWarning,
        )


def warn_marks(cells: Iterable[Any], counts: Iterable[int]) -> None:
    """Warn of the number of rows that a column ``queued`` marks; `counts` are of its cells."""
    words, n = _words(cells), np.array([*counts], dtype=np.int64)
    n_marked = int(n[[word in _YES for word in words]].sum())
    if not n_marked or not {*words} <= _YES | _NO:
        return
    warn(
        f"column {QUEUED!r} marks {n_marked:,} of {counted(int(n.sum()), 'row')} by yes; they "
        "count like all others. If a queue requested them because of the answers, pass "
        f"{_remedy()}, which omits them from coefficients.",
        SetagreeWarning,
    )


def warn_unread_marks(names: Collection[object], reading: Reading) -> None:
    """Warn if a table that is reduced piece by piece has a column ``queued``."""
    if has_unnamed_marks(names, reading):
        warn(
            f"column {QUEUED!r} is not read in an engine. If it marks ratings that a queue "
            f"requested because of the answers, pass {_remedy()} and "
            f"read the table into memory, or omit them with {option('where')}.",
            SetagreeWarning,
        )
