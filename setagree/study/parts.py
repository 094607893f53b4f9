"""A study without some of its raters."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from setagree.checks import public
from setagree.errors import DataError, check_list, did_you_mean, listing
from setagree.study.names import tidied

if TYPE_CHECKING:
    from setagree.study.annotations import Annotations


@public
def without_raters(study: Annotations, raters: Sequence[object]) -> Annotations:
    """Return the annotations of all raters but these, as if these had never answered.

    Units and values that nobody else has are forgotten.

    Raises
    ------
    DataError
        One of them gave no answer in this study, or nobody is left.

    Examples
    --------
    >>> from setagree import Annotations
    >>> study = Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "b"), ("bob", 2, "b")])
    >>> study.without_raters(["bob"])
    <Annotations: 1 rating, 1 unit, 1 rater, 1 distinct label set>
    """
    check_list("raters", raters, "raters")
    place = {rater: k for k, rater in enumerate(study.raters.tolist())}
    names = [*map(tidied, raters)]
    for rater in names:
        if not isinstance(rater, Hashable) or rater not in place:
            hint = did_you_mean(rater, place) or f" The raters are {listing([*place])}."
            raise DataError(f"rater {rater!r} gave no answer in this study.{hint}")
    kept = ~np.isin(study.rater_codes, [place[rater] for rater in names])
    if not kept.any():
        raise DataError("every rater is named, so that nobody is left.")
    missing = {who: n for who, n in study.missing_by_rater.items() if who not in names}
    n_missing = study.n_missing - sum(study.missing_by_rater.values()) + sum(missing.values())
    part = study.take(kept).with_used_values()
    left = study.unobserved
    left = None if left is None else left[~left["rater"].isin(names)].reset_index(drop=True)
    part = replace(part, n_missing=n_missing, missing_by_rater=missing, unobserved=left)
    more = None if study.with_queued is None else study.with_queued.without_raters(raters)
    return replace(part, with_queued=more, repeats=_without(study.repeats, names))


def _without(repeats: Annotations | None, names: Sequence[object]) -> Annotations | None:
    """Return what was annotated again by others than those named; None where nothing was."""
    if repeats is None:
        return None
    others = np.array([rater not in names for _, rater in repeats.units])
    rows = others[repeats.unit_codes]
    return repeats.take(rows).with_used_values() if rows.any() else None
