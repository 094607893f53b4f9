"""Three long columns to one coded study: missing rows, repeats, codes."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import (
    DataError,
    OptionError,
    SwappedColumnsWarning,
    check_choice,
    check_list,
    counted,
    did_you_mean,
    listing,
    shorten,
    warn,
)
from setagree.study.codes import (
    MISSING,
    Answers,
    Codes,
    Column,
    Kind,
    Value,
    as_objects,
    code_label_sets,
    code_scalars,
)
from setagree.study.doubts import doubt_alike, doubt_repeats
from setagree.study.frames import inexact_ids, is_inexact
from setagree.study.identifiers import code_ids
from setagree.study.labels import Blank, Case, LabelSyntax, Missing
from setagree.study.layouts import LongColumns
from setagree.study.names import tidied
from setagree.study.nulls import read_nulls
from setagree.wording.label_sets import Label

Duplicates: TypeAlias = Literal["error", "first", "last", "union"]
AnswerKind: TypeAlias = Literal["labels", "value"]

_MANY_RATERS = 10


@dataclass(frozen=True)
class Coded:
    """A study as integers; the fields are those of `Annotations`."""

    kind: Kind
    units: npt.NDArray[np.object_]
    raters: npt.NDArray[np.object_]
    values: tuple[Value, ...]
    unit_codes: Codes
    rater_codes: Codes
    value_codes: Codes
    n_missing: int
    n_repeated: int = 0
    missing_by_rater: Mapping[Any, int] = field(default_factory=dict)

    def keep(self, rows: npt.NDArray[Any]) -> Coded:
        """Return the study of some of the rows."""
        return replace(
            self,
            unit_codes=self.unit_codes[rows],
            rater_codes=self.rater_codes[rows],
            value_codes=self.value_codes[rows],
        )


def label_syntax(
    sep: str,
    blank: Blank | None,
    case: Case,
    codebook: Collection[Label] | None,
    missing: Missing | None = None,
) -> LabelSyntax:
    """Return how label cells are read where blank=None means missing, but not on request."""
    blank = "missing" if blank is None else blank
    return LabelSyntax(sep=sep, blank=blank, case=case, codebook=codebook, missing=missing)


def assemble(
    long: LongColumns,
    *,
    kind: AnswerKind,
    syntax: LabelSyntax,
    duplicates: Duplicates,
    quiet: bool,
    is_long: bool = False,
) -> Coded:
    """Code the columns, drop what is missing, settle repeats.

    `quiet` says that what a blank cell means was asked for, not taken by default; `is_long` that
    the answers are one column of a long table, in which nulls may be blanks.
    """
    check_choice("kind", kind, ("labels", "value"))
    check_choice("duplicates", duplicates, ("error", "first", "last", "union"))
    check_codebook(kind, syntax)
    if not len(long.answer):
        raise DataError("the table has 0 rows; there is nothing to score.")
    unit_codes, units = _coded_ids(long.unit, "unit")
    rater_codes, raters = _coded_ids(long.rater, "rater")
    doubt_alike("Units", units)
    doubt_alike("Raters", raters)
    answers = _code_answers(long, kind, syntax, is_asked=quiet, is_long=is_long)
    coded = Coded(
        answers.kind, units, raters, answers.values, unit_codes, rater_codes, answers.codes, 0
    )
    kept = _settle_duplicates(_drop_missing(coded), duplicates)
    names = (long.unit.name, long.rater.name)
    doubt_repeats(duplicates, kept.n_repeated, len(kept.value_codes), names)
    # Factorised columns use all their codes; only dropped rows can leave one unused.
    return check_design(kept if len(kept.unit_codes) == len(unit_codes) else _compact(kept))


def check_codebook(kind: AnswerKind, syntax: LabelSyntax) -> None:
    """Raise `OptionError` where a codebook is given for what has no labels."""
    if kind == "value" and syntax.codebook is not None:
        raise OptionError("codebook= lists the labels of label sets; single values have none.")


def check_design(coded: Coded) -> Coded:
    """Warn where units and raters look exchanged."""
    doubt_exchanged(len(coded.units), n_raters=len(coded.raters), n_ratings=len(coded.value_codes))
    return coded


def doubt_exchanged(n_units: int, *, n_raters: int, n_ratings: int) -> None:
    """Warn where there are far more raters than units, or where every rater gave one rating."""
    one_each = n_raters == n_ratings
    if n_raters >= _MANY_RATERS and n_raters > n_units and (one_each or n_raters >= 4 * n_units):
        warn(
            f"{counted(n_raters, 'rater')} and only {counted(n_units, 'unit')}: are the unit and "
            "the rater column exchanged?",
            SwappedColumnsWarning,
        )


def leave_out(coded: Coded, raters: Sequence[object]) -> Coded:
    """Return the study of all raters but those named, who must be there."""
    check_list("raters", raters, "raters")
    raters = [tidied(rater) for rater in raters]
    place = {rater: k for k, rater in enumerate(coded.raters.tolist())}
    unknown = [who for who in raters if not isinstance(who, Hashable) or who not in place]
    if unknown:
        hint = did_you_mean(unknown[0], place) or f" The raters are {listing([*place])}."
        raise DataError(f"rater {unknown[0]!r} gave no answer in this study.{hint}")
    kept = ~np.isin(coded.rater_codes, [place[rater] for rater in raters])
    if not kept.any():
        raise DataError("every rater is named, so that nobody is left.")
    missing = {who: n for who, n in coded.missing_by_rater.items() if who not in {*raters}}
    n_missing = coded.n_missing - sum(coded.missing_by_rater.values()) + sum(missing.values())
    return replace(_compact(coded.keep(kept)), n_missing=n_missing, missing_by_rater=missing)


def _coded_ids(column: Column, role: str) -> tuple[Codes, npt.NDArray[np.object_]]:
    if is_inexact(column):
        raise inexact_ids(role)
    return code_ids(column, role)


def _code_answers(
    long: LongColumns, kind: AnswerKind, syntax: LabelSyntax, *, is_asked: bool, is_long: bool
) -> Answers:
    def place(row: int) -> str:
        unit, rater = (as_objects(ids.iloc[[row]])[0] for ids in (long.unit, long.rater))
        return f"Unit {shorten(unit)}, rater {shorten(rater)}"

    if kind == "labels":
        coded = code_label_sets(long.answer, syntax, place=place)
    else:
        coded = code_scalars(
            long.answer, syntax.blank, case=syntax.case, markers=syntax.markers, place=place
        )
    return read_nulls(
        coded, long.answer, syntax.blank, is_asked=is_asked, is_long=is_long, place=place
    )


def _drop_missing(coded: Coded) -> Coded:
    rated = coded.value_codes != MISSING
    n_rated = int(np.count_nonzero(rated))
    if not n_rated:
        raise DataError(
            f"all {counted(len(rated), 'cell')} are missing; there is nothing to score."
        )
    if n_rated == len(rated):
        return coded
    by_rater = np.bincount(coded.rater_codes[~rated], minlength=len(coded.raters)).tolist()
    return replace(
        coded.keep(rated),
        n_missing=len(rated) - n_rated,
        missing_by_rater={who: n for who, n in zip(coded.raters, by_rater, strict=True) if n},
    )


def _settle_duplicates(coded: Coded, policy: Duplicates) -> Coded:
    keys = coded.unit_codes.astype(np.int64) * len(coded.raters) + coded.rater_codes
    if not _has_repeats(keys, len(coded.units) * len(coded.raters)):
        return coded
    if policy == "error":
        raise DataError(_repeats_sentence(coded, pd.Series(keys)))
    if policy == "union":
        coded = _unite(coded, keys)
    repeated = pd.Series(keys).duplicated(keep="last" if policy == "last" else "first")
    return replace(coded.keep(~repeated.to_numpy()), n_repeated=int(repeated.sum()))


def _has_repeats(keys: npt.NDArray[np.int64], n_pairs: int) -> bool:
    if n_pairs <= 8 * len(keys):
        seen = np.zeros(n_pairs, dtype=bool)
        seen[keys] = True
        return int(np.count_nonzero(seen)) < len(keys)
    ordered = np.sort(keys)
    return bool((ordered[1:] == ordered[:-1]).any())


def _repeats_sentence(coded: Coded, keys: pd.Series[int]) -> str:
    times = keys.value_counts(sort=False)
    repeated = times[times > 1]
    places = "; ".join(
        f"unit {shorten(coded.units[key // len(coded.raters)])}, rater "
        f"{shorten(coded.raters[key % len(coded.raters)])}: {n} times"
        for key, n in zip(repeated.index[:3].tolist(), repeated, strict=False)
    )
    doubled = " Every pair stands twice: was the file appended to itself?"
    return (
        f"{counted(len(repeated), 'pair')} of unit and rater annotated more than once ({places}); "
        f"say duplicates='first', 'last' or 'union'.{doubled if (times == 2).all() else ''}"
    )


def _unite(coded: Coded, keys: npt.NDArray[np.int64]) -> Coded:
    """Give every repeat of a pair the union of its label sets."""
    if coded.kind != "labels":
        raise DataError("duplicates='union' needs label sets; scalars have no union.")
    rows = np.flatnonzero(pd.Series(keys).duplicated(keep=False))
    codes = {value: code for code, value in enumerate(coded.values)}
    value_codes = coded.value_codes.copy()
    for group in pd.Series(rows).groupby(keys[rows]).groups.values():
        members = rows[np.asarray(group)]
        united = frozenset().union(*(coded.values[c] for c in coded.value_codes[members]))
        value_codes[members] = codes.setdefault(united, len(codes))
    return replace(coded, values=tuple(codes), value_codes=value_codes)


def _compact(coded: Coded) -> Coded:
    """Forget units, raters and values without an annotation."""
    units, unit_codes = _used(coded.units, coded.unit_codes)
    raters, rater_codes = _used(coded.raters, coded.rater_codes)
    positions, value_codes = _used(np.arange(len(coded.values)), coded.value_codes)
    return replace(
        coded,
        units=units,
        raters=raters,
        values=tuple(coded.values[k] for k in positions),
        unit_codes=unit_codes,
        rater_codes=rater_codes,
        value_codes=value_codes,
    )


def _used(items: npt.NDArray[Any], codes: Codes) -> tuple[npt.NDArray[Any], Codes]:
    used = np.bincount(codes, minlength=len(items)) > 0
    if used.all():
        return items, codes
    new_codes = (np.cumsum(used) - 1).astype(np.int32)
    return items[used], new_codes[codes]
