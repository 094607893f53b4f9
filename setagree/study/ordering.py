"""The order of times, and the answers of a rater to one unit in that order."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import (
    DataError,
    SetagreeWarning,
    counted,
    option,
    python_or_command,
    shorten,
    warn,
)
from setagree.study.assembly import code_ids, pick_column
from setagree.study.codes import Codes, as_objects, is_ordered
from setagree.study.frames import Frame, as_pandas
from setagree.study.names import tidied
from setagree.study.numbers import as_number, exact
from setagree.study.reading import Reading
from setagree.study.row_filter import CALENDAR_WORDS

_WHOLE_AT_MOST = 2.0**61
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_ZONED = re.compile(r"\d[T ]\d.*(Z|[+-]\d\d(?::?\d\d)?)$")
_NUMERAL = re.compile(r"(?:(?<!\S)[-\u2212])?[0-9]+(?:[.,][0-9]+)*")
_FRACTION = re.compile(r"([+-]?[0-9]*)\.([0-9]+)")
_VERSION = re.compile(r"\b(v|ver|version|rel|release|rev|revision)\.?\s*0", re.IGNORECASE)
_QUANTITY = re.compile(r"0\s?[^\W\d_]+")
_DAY_AND_MONTH = re.compile(r"(0?[1-9]|[12]\d|3[01])\.(0[1-9]|1[0-2])")
_CLOCK = re.compile(r"\d:\d")
_DATE_WORDS = CALENDAR_WORDS | {"am", "pm", "st", "nd", "rd", "th", "t"}
"""What stands in dates; names of other words may have a number that counts them."""


def in_order(data: Frame, reading: Reading) -> pd.DataFrame:
    """Return a long table in which a rater's answers to one unit stand in the order of a column.

    They exchange their rows with one another alone, so that units and raters keep their places.

    Raises
    ------
    DataError
        The column is absent; some answers have no time there, or the times have no known order.

    Examples
    --------
    >>> table = pd.DataFrame({"unit": [1, 2, 1], "rater": "ann", "at": [9, 1, 5], "labels": "abc"})
    >>> in_order(table, Reading(unit="unit", rater="rater", order_by="at"))["at"].tolist()
    [5, 1, 9]
    """
    table = as_pandas(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetagreeWarning)  # all said when the study is read
        units, raters = (
            code_ids(pick_column(table, name), role)[0].astype(np.int64)
            for name, role in ((reading.unit, "unit"), (reading.rater, "rater"))
        )
    pairs = units * (raters.max(initial=0) + 1) + raters
    cells = pick_column(table, reading.order_by)
    ranks = read_times(cells, option("order_by", reading.order_by)).ranks
    places = np.empty(len(table), dtype=np.int64)
    places[np.argsort(pairs, kind="stable")] = np.lexsort((ranks, pairs))
    return table.iloc[places]


@dataclass(frozen=True, eq=False)
class Times:
    """Times, or other things that have an order.

    Attributes
    ----------
    ranks : ndarray of int
        Place of each among the distinct ones, from 0.
    values : ndarray of numbers or datetime64, optional
        The times, in UTC if their zone is known; None for names, which have an order only.
    zone : tzinfo, optional
        The zone in which they were written.
    """

    ranks: Codes
    values: npt.NDArray[Any] | None
    zone: Any = None

    def shown(self, time: Any) -> Any:
        """Return a time as it was written: a number, or a Timestamp in its zone."""
        if not isinstance(time, np.datetime64):
            return time
        stamp = pd.Timestamp(time)
        return stamp if self.zone is None else stamp.tz_localize("UTC").tz_convert(self.zone)


def read_times(cells: pd.Series[Any], said: str, *, are_spans: bool = False) -> Times:
    """Return a column of numbers, dates or names in their order, which every function uses.

    Numbers are ordered by size and dates by time, also if they are text. Dates are those of
    ISO 8601 (2026-01-31), or have a year of four digits and read alike with the day or the month
    first. An ordered categorical has its own order. Names are ordered by the one number in which
    they differ ("batch 2" before "batch 10", "0.25 mm" before "0.5 mm"), or if they begin with a
    year, by all. Versions are ordered by their parts ("v1.9" before "v1.10"). Numbers that are
    equal and written differently (1 and 1.0) are one time, with a warning.

    Parameters
    ----------
    cells : Series
        The column.
    said : str
        The option that names it, for errors.
    are_spans : bool
        Whether only numbers and dates are allowed, because names in an order have no distances.

    Raises
    ------
    DataError
        A cell is blank or missing, or the order of the cells is not known, also because they may
        be decimals or versions (1.9 and 1.10).

    Examples
    --------
    >>> read_times(pd.Series(["10", "9.5", "1e2"]), "at=").ranks.tolist()
    [1, 0, 2]
    >>> read_times(pd.Series(["batch 10", "batch 9"]), "at=").ranks.tolist()
    [1, 0]
    >>> read_times(pd.Series(["05.01.24", "06.01.24"]), "at=")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    setagree.errors.DataError: at=: '05.01.24' cannot be put in order, because it is neither...
    """
    is_typed = cells.dtype != object and isinstance(cells.dtype, np.dtype | pd.DatetimeTZDtype)
    codes, listed = pd.factorize(cells if is_typed else as_objects(cells))
    distinct = pd.Series(listed).infer_objects()
    blank = [isinstance(one, str) and not one.strip() for one in distinct]
    missing = (codes < 0) | np.array([*blank, True])[codes]
    if missing.any():
        n = int(missing.sum())
        raise DataError(
            f"{said}: {counted(n, 'row')} of {len(cells):,} {'has' if n == 1 else 'have'} nothing "
            "in that column."
        )
    if is_ordered(cells.dtype) and not are_spans:
        return Times(np.asarray(cells.cat.codes, dtype=np.int64), None)
    texts = [tidied(one) for one in distinct if isinstance(one, str)]
    if (found := _numbers(distinct)) is not None:
        _check_unclear(texts, said, are_decimals=True)
    elif (found := _dates(distinct)) is None:
        found = None if are_spans else _names(distinct, said)
    if found is None:
        raise _no_order(distinct, said, are_spans=are_spans)
    if not are_spans and len(texts) == len(distinct):
        _warn_equal(texts, found, np.bincount(codes), said)
    values = None if found.values is None else found.values[codes]
    return Times(found.ranks[codes], values, found.zone)


def _numbers(cells: pd.Series[Any]) -> Times | None:
    """Return distinct cells that are numbers, or spell one, by size, or None for all others."""
    array = np.asarray(cells)
    if array.dtype.kind in "iuf":
        ranks = np.unique(array, return_inverse=True)[1].astype(np.int64)
        floats, is_whole = array.astype(np.float64), array.dtype.kind != "f"
    else:
        plain = [tidied(one) for one in cells]
        if any(isinstance(one, bool) or as_number(one) is None for one in plain):
            return None
        keys = [exact(one) for one in plain]
        place = {key: k for k, key in enumerate(sorted({*keys}))}
        ranks = np.array([place[key] for key in keys], dtype=np.int64)
        floats = np.array([*map(float, keys)])
        array, is_whole = floats, bool((floats == np.floor(floats)).all())
    # Differences of small whole numbers (int8) would run over.
    fits = is_whole and bool((np.abs(floats) < _WHOLE_AT_MOST).all())
    return Times(ranks, array.astype(np.int64) if fits else floats)


def _dates(cells: pd.Series[Any]) -> Times | None:
    """Return distinct dates by time, or None if some cells are not dates or have no zone."""
    if not pd.api.types.is_datetime64_any_dtype(cells):
        texts = pd.Series([tidied(str(one)) for one in cells], dtype=object)
        zones = {found and found[1] for found in map(_ZONED.search, texts)}
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
    """Return a date with a year of four digits that is the same with day or month first."""
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


def _names(cells: pd.Series[Any], said: str) -> Times | None:
    """Return distinct names by the number in which they differ, or by a year and what follows."""
    if len(cells) == 1:
        return Times(np.zeros(1, dtype=np.int64), None)
    texts = [tidied(str(one)) for one in cells]
    templates = {_NUMERAL.sub("0", text) for text in texts}
    words = {word.casefold() for text in templates for word in re.findall(r"[^\W\d_]+", text)}
    if len(templates) > 1 or not words - _DATE_WORDS or _CLOCK.search(texts[0]):
        return None
    template = min(templates)
    is_version, has_years = bool(_VERSION.search(template)), all(map(_YEAR.match, texts))
    is_quantity = bool(_QUANTITY.fullmatch(template)) and not has_years
    fields: list[list[tuple[Any, ...]]] = []
    n_varying = 0
    for found in zip(*map(_NUMERAL.findall, texts), strict=True):
        numerals = [one.replace(",", ".").replace("\u2212", "-") for one in found]
        keys: list[tuple[Any, ...]] = [tuple(map(int, one.split("."))) for one in numerals]
        if not is_version and all(len(key) < 3 for key in keys):
            are_decimals = is_quantity or not any(key[0] for key in keys)
            are_decimals &= not all(map(_DAY_AND_MONTH.fullmatch, numerals))
            _check_unclear(numerals, said, are_decimals=are_decimals)
            if are_decimals:
                keys = [(Fraction(one),) for one in numerals]
        n_varying += sum(len({*part}) > 1 for part in zip_longest(*keys))
        fields.append(keys)
    if n_varying > 1 and not (has_years or is_version):
        return None
    names = list(zip(*fields, strict=True))
    place = {key: k for k, key in enumerate(sorted({*names}))}
    return Times(np.array([place[key] for key in names], dtype=np.int64), None)


def _check_unclear(numerals: Sequence[str], said: str, *, are_decimals: bool) -> None:
    """Raise if numerals have one order as decimals and another one as versions: 1.9 and 1.10.

    Those that are known to be decimals have an order, unless the longer one ends in zero.
    """
    fractions: dict[str, list[str]] = {}
    for match in filter(None, map(_FRACTION.fullmatch, numerals)):
        fractions.setdefault(match[1], []).append(match[2])
    for whole, digits in fractions.items():
        least = ""  # of the shortest fractions so far, the least
        for one in sorted({*digits}, key=lambda text: (text.rstrip("0"), -len(text)), reverse=True):
            may_be_version = not are_decimals or (one[-1] == "0" and one[0] != "0")
            if least and len(one) > len(least) and int(one) >= int(least) and may_be_version:
                shorter, longer = f"{whole}.{least}", f"{whole}.{one}"
                relation = "equal to" if Fraction(shorter) == Fraction(longer) else "less than"
                raise DataError(
                    f"{said}: {longer} and {shorter} cannot be put in order, because {longer} is "
                    f"{relation} {shorter} as a decimal, but not as a version or month. Use "
                    "numbers with equally many digits after the point, or dates as in 2026-01-31"
                    + python_or_command(
                        ", or give the order as an ordered categorical: "
                        "pandas.Categorical(cells, categories=[...], ordered=True).",
                        ".",
                    )
                )
            if not least or len(one) <= len(least):
                least = one


def _warn_equal(texts: Sequence[str], times: Times, n_cells: Codes, said: str) -> None:
    """Warn if numbers, or names by their numbers, are written in several ways and read as one."""
    if times.values is not None and times.values.dtype.kind == "M":
        return
    spellings: dict[int, dict[str, int]] = {}
    for text, rank, n in zip(texts, times.ranks.tolist(), n_cells.tolist(), strict=True):
        spelled = spellings.setdefault(rank, {})
        spelled[text] = spelled.get(text, 0) + n
    equal = [[*one.items()] for one in spellings.values() if len(one) > 1]
    if equal:
        (first, n), (second, m) = equal[0][:2]
        more = f" So are {counted(len(equal) - 1, 'other time')}." if len(equal) > 1 else ""
        warn(
            f"{said}: {first!r} ({counted(n, 'cell')}) and {second!r} ({counted(m, 'cell')}) are "
            f"equal as numbers and are read as one time.{more} If they differ, give the order by "
            "numbers or dates that differ.",
            SetagreeWarning,
        )


def _no_order(cells: pd.Series[Any], said: str, *, are_spans: bool) -> DataError:
    """Return the error on cells whose order is not known."""
    each = (pd.Series([one], dtype=object) for one in cells)
    odd = [one[0] for one in each if (_numbers(one) or _dates(one)) is None]
    if not odd:
        return DataError(
            f"{said}: {shorten(cells.iloc[0])} and {shorten(cells.iloc[-1])} cannot be put in "
            "order. Use numbers only, or dates only, all with a time zone or none."
        )
    remedy = (
        "Use numbers or such dates."
        if are_spans
        else python_or_command(
            "Use numbers or such dates, or give the order as an ordered categorical: "
            "pandas.Categorical(cells, categories=[...], ordered=True).",
            f"Use {said.split()[0]} with a column of numbers or such dates.",
        )
    )
    return DataError(
        f"{said}: {shorten(odd[0])} cannot be put in order, because it is neither a number nor a "
        f"date as in 2026-01-31. {remedy}"
    )
