"""The reduction of one part of a table that fits in the memory of one worker."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from setagree.errors import shorten
from setagree.large.patterns import Held, Repeats, Survey, anonymous, merge_all
from setagree.study.annotations import Annotations
from setagree.study.assembly import code_ids
from setagree.study.codes import (
    MISSING,
    Codes,
    Column,
    as_objects,
    distinct_cells,
    factorise,
    merge,
    recode,
)
from setagree.study.frames import is_inexact, without_dictionary
from setagree.study.identifiers import spelled_time
from setagree.study.tally import Tally


@dataclass(frozen=True)
class Part:
    """What comes home from a part, or from several together.

    Attributes
    ----------
    tallies : list of Tally
        One or none; the values are codes.
    repeats : Repeats
        Pairs of unit and rater annotated more than once.
    raters : frozenset
        Who gave an annotation, as text.
    """

    tallies: list[Tally]
    repeats: Repeats
    raters: frozenset[Any]


def merge_parts(parts: Sequence[Part]) -> Part:
    """Return what several parts hold together."""
    tallies = [tally for part in parts for tally in part.tallies]
    return Part(
        [merge_all(tallies)] if tallies else [],
        sum((part.repeats for part in parts), Repeats(0, [])),
        frozenset().union(*(part.raters for part in parts)),
    )


def survey_part(part: pd.DataFrame) -> Survey:
    """Count the distinct answers of a part, and its rows without a unit or a rater."""
    codes, cells = _distinct(part["answer"])
    times = np.bincount(codes[codes != MISSING], minlength=len(cells)).astype(np.int64)
    n_bad = {role: _count_nameless(part[role]) for role in ("unit", "rater")}
    inexact = tuple(role for role in n_bad if is_inexact(part[role]))
    return Survey(cells, times, int(np.count_nonzero(codes == MISSING)), n_bad, inexact)


def merge_surveys(surveys: Sequence[Survey]) -> Survey:
    """Return what several parts hold together; the cells are sorted."""
    times: dict[Any, int] = {}
    for survey in surveys:
        for cell, n in zip(survey.cells, survey.times.tolist(), strict=True):
            times[cell] = times.get(cell, 0) + n
    cells = _sorted(times)
    return Survey(
        cells,
        np.array([times[cell] for cell in cells], dtype=np.int64),
        sum(survey.n_null for survey in surveys),
        {role: sum(survey.n_bad[role] for survey in surveys) for role in ("unit", "rater")},
        tuple(dict.fromkeys(role for survey in surveys for role in survey.inexact)),
    )


def find_cell(part: pd.DataFrame, cell: object) -> str:
    """Word where a cell, or None for a null, stands in a part; blank where it does not."""
    codes, cells = _distinct(part["answer"])
    first = part[codes == (cells.index(cell) if cell in cells else MISSING)].iloc[:1]
    if first.empty or (cell is not None and cell not in cells):
        return ""
    unit, rater = (as_objects(first[role])[0] for role in ("unit", "rater"))
    return f"Unit {shorten(unit)}, rater {shorten(rater)}"


def code_part(
    part: pd.DataFrame, codes: Mapping[Hashable, int], null_code: int = MISSING
) -> pd.DataFrame:
    """Return the annotations of a part: ``unit`` and ``rater`` as text, ``code``.

    `codes` are those of the cells, `null_code` that of nulls; -1 stands for no annotation.
    """
    places, cells = _distinct(part["answer"])
    of_cells = np.array([*(codes[cell] for cell in cells), null_code], dtype=np.int64)
    code = of_cells[places]
    rated = code != MISSING
    ids = {role: _as_text(part[role][rated], role) for role in ("unit", "rater")}
    return pd.DataFrame({**ids, "code": code[rated]})


def reduce_part(part: pd.DataFrame, *, assume_unique: bool, keep_raters: bool = False) -> Part:
    """Return the patterns of a part that holds whole units, from what `code_part` returns."""
    if not len(part):
        return Part([], Repeats(0, []), frozenset())
    units, unit_names = pd.factorize(part["unit"])
    raters, rater_names = pd.factorize(part["rater"])
    used, codes = np.unique(part["code"].to_numpy(), return_inverse=True)
    names = as_objects(unit_names), as_objects(rater_names)
    study = Annotations("category", *names, tuple(used.tolist()), units, raters, codes)
    tally = anonymous(Tally.from_annotations(study, keep_raters=keep_raters))
    # Where raters are kept repeats are seen anyway, and nothing can be computed with them.
    unique = assume_unique and (tally.given is None or not tally.given.has_repeats())
    repeats = Repeats(0, []) if unique else _find_repeats(study)
    return Part([tally], repeats, frozenset(rater_names))


def _find_repeats(study: Annotations) -> Repeats:
    keys = study.unit_codes.astype(np.int64) * study.n_raters + study.rater_codes
    pairs, times = np.unique(keys, return_counts=True)
    repeated = np.flatnonzero(times > 1)
    few = [
        (
            id_of_text(study.units[pairs[k] // study.n_raters]),
            id_of_text(study.raters[pairs[k] % study.n_raters]),
            int(times[k]),
        )
        for k in repeated[:3]
    ]
    return Repeats(len(repeated), few)


def _distinct(column: Column) -> tuple[Codes, list[Any]]:
    """Return codes and distinct cells; lists, sets and objects are held so that they compare."""
    codes, cells = distinct_cells(without_dictionary(column))
    merged, held = merge([*map(_held, cells)])
    return recode(codes, merged), [*held]


def _held(cell: Any) -> Any:
    """Return a cell that can be hashed, or one that holds it: [1] and [True] are two things."""
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    if isinstance(cell, set):
        return Held(f"{{{sorted(map(repr, cell))}}}", cell)
    return Held(repr(cell), cell) if isinstance(cell, list | dict) else cell


def _count_nameless(column: Column) -> int:
    codes, names = factorise(without_dictionary(column))
    blank = [k for k, name in enumerate(names) if isinstance(name, str) and not name.strip()]
    return int(np.isin(codes, [MISSING, *blank]).sum())


def _sorted(cells: Mapping[Any, int]) -> list[Any]:
    try:
        return sorted(cells)
    except TypeError:
        return sorted(cells, key=repr)


def _as_text(column: Column, role: str) -> Column:
    """Return identifiers as text, in which every machine sees the same ones as equal."""
    codes, names = code_ids(without_dictionary(column), role)
    return pd.Series(as_objects(map(spelled, names))[codes], dtype=object)


_NUMBER, _TIME, _ODD = "\0#", "\0@", "\0'"


def spelled(name: object) -> str:
    """Return a name as text: one for numbers or times that are equal, another for any text."""
    if isinstance(name, str):
        return f"{_ODD}{name}" if name.startswith("\0") else name
    if isinstance(name, tuple):
        return f"{_NUMBER}{tuple(map(spelled, name))!r}"
    if isinstance(name, Decimal | Fraction):
        exact = Fraction(name)
        name = float(exact) if Fraction(float(exact)) == exact else exact
    if isinstance(name, int | float | np.number):
        whole = isinstance(name, int | np.integer) or float(name).is_integer()
        return f"{_NUMBER}{int(name) if whole else float(name)!r}"
    if isinstance(name, date):
        return f"{_TIME}{spelled_time(name)}"
    return f"{_NUMBER}{name!r}"


def id_of_text(text: Any) -> Any:
    """Return an identifier as people read it; what is no text as it is."""
    if not isinstance(text, str):
        return text
    return text.removeprefix(_NUMBER).removeprefix(_TIME).removeprefix(_ODD)


def unspelled(text: Any) -> object:
    """Return what was spelled so: text, a number, a date or time; all else stays text."""
    plain = id_of_text(text)
    if isinstance(text, str) and text.startswith(_TIME):
        return pd.Timestamp(plain) if "T" in plain else date.fromisoformat(plain)
    if not isinstance(text, str) or not text.startswith(_NUMBER):
        return plain
    for kind in (int, float):
        try:
            return kind(plain)
        except ValueError:
            continue
    return plain
