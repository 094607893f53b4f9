"""A part of a study, or the study with its answers rewritten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.study.annotations import Annotations
from setagree.study.codes import Value


def of_ratings(study: Annotations, kept: npt.NDArray[Any]) -> Annotations:
    """Return the annotations that are kept; the units and raters left without any are forgotten.

    Parameters
    ----------
    kept : array of bool, shape (n_ratings,), or of positions

    Notes
    -----
    All K values stay listed, so that codes mean the same in the part and in the whole.
    """
    units, unit_codes = _compacted(study.unit_codes[kept], study.n_units)
    raters, rater_codes = _compacted(study.rater_codes[kept], study.n_raters)
    return replace(
        study,
        units=study.units[units],
        raters=study.raters[raters],
        unit_codes=unit_codes,
        rater_codes=rater_codes,
        value_codes=study.value_codes[kept],
    )


def places_of(study: Annotations, kept: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return where the units of a part stand among the units of the whole."""
    return _compacted(study.unit_codes[kept], study.n_units)[0]


def without_rater(study: Annotations, g: int) -> Annotations:
    """Return the annotations of all raters but one, over the same values."""
    return of_ratings(study, study.rater_codes != g)


def with_used_values(study: Annotations) -> Annotations:
    """Return the study without the values that no annotation has."""
    used, codes = _compacted(study.value_codes, study.n_values)
    return replace(study, values=tuple(study.values[k] for k in used), value_codes=codes)


def with_answers(study: Annotations, rewrite: Callable[[Any], Value]) -> Annotations:
    """Return the study with every distinct answer rewritten; answers that become equal are one."""
    codes: dict[Value, int] = {}
    moved = np.array([codes.setdefault(rewrite(v), len(codes)) for v in study.values])
    return replace(study, values=tuple(codes), value_codes=moved[study.value_codes])


def _compacted(
    codes: npt.NDArray[Any], size: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the codes in use, and each code's position among them."""
    used = np.bincount(codes, minlength=size) > 0
    return np.flatnonzero(used), (np.cumsum(used) - 1)[codes]
