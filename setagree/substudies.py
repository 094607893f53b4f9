"""A part of a study, or the study with its answers rewritten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.annotations import Annotations
from setagree.coding import Value


def of_ratings(study: Annotations, kept: npt.NDArray[np.bool_]) -> Annotations:
    """Return the annotations that are kept; the units and raters left without any are forgotten.

    Parameters
    ----------
    kept : array of bool, shape (n_ratings,)

    Notes
    -----
    All K values stay listed, so that codes mean the same in the part and in the whole.
    """
    units, unit_codes = np.unique(study.unit_codes[kept], return_inverse=True)
    raters, rater_codes = np.unique(study.rater_codes[kept], return_inverse=True)
    return replace(
        study,
        units=study.units[units],
        raters=study.raters[raters],
        unit_codes=unit_codes,
        rater_codes=rater_codes,
        value_codes=study.value_codes[kept],
    )


def without_rater(study: Annotations, g: int) -> Annotations:
    """Return the annotations of all raters but one, over the same values."""
    return of_ratings(study, study.rater_codes != g)


def with_used_values(study: Annotations) -> Annotations:
    """Return the study without the values that no annotation has."""
    used, codes = np.unique(study.value_codes, return_inverse=True)
    return replace(study, values=tuple(study.values[k] for k in used), value_codes=codes)


def with_answers(study: Annotations, rewrite: Callable[[Any], Value]) -> Annotations:
    """Return the study with every distinct answer rewritten; answers that become equal are one."""
    codes: dict[Value, int] = {}
    moved = np.array([codes.setdefault(rewrite(v), len(codes)) for v in study.values])
    return replace(study, values=tuple(codes), value_codes=moved[study.value_codes])
