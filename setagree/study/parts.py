"""Parts of a study: some of its annotations, raters or values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from setagree.checks import public
from setagree.errors import DataError, check_list, did_you_mean, listing
from setagree.study.codes import Value, as_objects, in_use
from setagree.study.identifiers import tidied

if TYPE_CHECKING:
    from setagree.study.annotations import Annotations


def take(study: Annotations, rows: npt.NDArray[Any]) -> Annotations:
    """Return some of the annotations: those at a mask, or at positions.

    Units and raters without any are forgotten, with their statuses. All K values stay listed, so
    that codes mean the same in the part and in the whole.
    """
    units, unit_codes = in_use(study.units, study.unit_codes[rows])
    raters, rater_codes = in_use(study.raters, study.rater_codes[rows])
    if (left := study.unobserved) is not None:
        here = left["unit"].isin({*units}) & left["rater"].isin({*raters})
        left = left[here].reset_index(drop=True)
    missing = study.missing_by_rater
    if missing:
        rated = {*raters.tolist()}
        missing = {who: n for who, n in missing.items() if who in rated}
    return replace(
        study,
        units=units,
        raters=raters,
        unit_codes=unit_codes,
        rater_codes=rater_codes,
        value_codes=study.value_codes[rows],
        unanswered=as_objects([]),
        missing_by_rater=missing,
        unobserved=left,
        repeats=None,
        with_queued=None,
    )


def with_used_values(study: Annotations) -> Annotations:
    """Return the study without the values that no annotation has."""
    used, codes = in_use(np.arange(study.n_values), study.value_codes)
    return replace(study, values=tuple(study.values[k] for k in used), value_codes=codes)


def with_answers(study: Annotations, rewrite: Callable[[Any], Value]) -> Annotations:
    """Return the study with its distinct answers rewritten; those that become equal are one."""
    codes: dict[Value, int] = {}
    moved = np.array([codes.setdefault(rewrite(v), len(codes)) for v in study.values])
    order = tuple(dict.fromkeys(map(rewrite, study.order)))
    return replace(study, values=tuple(codes), value_codes=moved[study.value_codes], order=order)


@public
def exclude_raters(study: Annotations, raters: Sequence[object]) -> Annotations:
    """Return the annotations of all raters but these, as if these had never answered.

    Values that nobody else gave are forgotten; units that nobody else has are unanswered. A rater
    whose cells are all missing may be named.

    Raises
    ------
    DataError
        One of them is not in this study, or nobody is left.

    Examples
    --------
    >>> from setagree import Annotations
    >>> study = Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "b"), ("bob", 2, "b")])
    >>> study.exclude_raters(["bob"])
    <Annotations: 1 rating, 1 unit, 1 rater, 1 distinct label set>
    """
    check_list("raters", raters, "raters")
    place = {rater: k for k, rater in enumerate(study.raters.tolist())}
    names, silent = [*map(tidied, raters)], study.silent_raters
    for rater in names:
        if not isinstance(rater, Hashable) or not (rater in place or rater in silent):
            hint = did_you_mean(rater, place) or f" The raters are {listing([*place])}."
            raise DataError(f"rater {rater!r} gave no answer in this study.{hint}")
    kept = ~np.isin(study.rater_codes, [place[rater] for rater in names if rater in place])
    if not kept.any():
        raise DataError("every rater is named, so that nobody is left.")
    missing = {who: n for who, n in study.missing_by_rater.items() if who not in names}
    n_missing = study.n_missing - sum(study.missing_by_rater.values()) + sum(missing.values())
    part = study.take(kept).with_used_values()
    rated = np.isin(np.arange(study.n_units), study.unit_codes[kept])
    unanswered = np.concatenate([study.units[~rated], study.unanswered])
    part = replace(part, n_missing=n_missing, missing_by_rater=missing, unanswered=unanswered)
    if (left := study.unobserved) is not None:
        left = left[~left["rater"].isin(names)].reset_index(drop=True)
        part = replace(part, unobserved=left)
    more = None if study.with_queued is None else study.with_queued.exclude_raters(raters)
    return replace(part, with_queued=more, repeats=_without(study.repeats, names))


def _without(repeats: Annotations | None, names: Sequence[object]) -> Annotations | None:
    """Return what was annotated again by others than those named, or None if nothing was."""
    if repeats is None:
        return None
    others = np.array([rater not in names for _, rater in repeats.units])
    rows = others[repeats.unit_codes]
    return repeats.take(rows).with_used_values() if rows.any() else None
