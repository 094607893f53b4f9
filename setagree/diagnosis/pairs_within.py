"""All pairs of ratings that stand in one unit, in blocks of bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.study.annotations import Annotations

_PAIRS_AT_ONCE = 150_000


@dataclass(frozen=True, eq=False)
class SortedRatings:
    """The ratings of a study, unit by unit, inside a unit by rater.

    Attributes
    ----------
    order : ndarray of int, shape (n_ratings,)
        The position in the study of each rating in this order.
    units, raters, values : ndarray of int, shape (n_ratings,)
        Codes, in this order.
    stop : ndarray of int, shape (n_ratings,)
        Where the unit of each rating ends.
    unit_ratings : ndarray of int, shape (n_ratings,)
        r_i of the unit of each rating.
    """

    order: npt.NDArray[Any]
    units: npt.NDArray[Any]
    raters: npt.NDArray[Any]
    values: npt.NDArray[Any]
    stop: npt.NDArray[Any]
    unit_ratings: npt.NDArray[Any]

    def pairs_by_first_rater(self) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """Yield blocks of pairs (left, right), rater of left before rater of right.

        A block holds all pairs of the raters that come first in it.
        """
        by_rater = np.argsort(self.raters, kind="stable")
        after = (self.stop - np.arange(len(self.stop)) - 1)[by_rater]
        ends = np.flatnonzero(np.diff(self.raters[by_rater], append=-1)) + 1
        done = np.cumsum(after)
        start = 0
        while start < len(by_rater):
            room = done[start] - after[start] + _PAIRS_AT_ONCE
            fits = ends[(ends > start) & (done[ends - 1] <= room)]
            end = int(fits[-1]) if len(fits) else int(ends[ends > start][0])
            left = np.repeat(by_rater[start:end], after[start:end])
            steps = np.arange(len(left)) - np.repeat(
                np.cumsum(after[start:end]) - after[start:end], after[start:end]
            )
            yield left, left + 1 + steps
            start = end


def sorted_ratings(study: Annotations) -> SortedRatings:
    """Return the ratings of a study in order of unit, then rater."""
    order = np.lexsort((study.rater_codes, study.unit_codes))
    units = study.unit_codes[order]
    r = np.bincount(study.unit_codes, minlength=study.n_units)
    return SortedRatings(
        order,
        units,
        study.rater_codes[order],
        study.value_codes[order],
        np.cumsum(r)[units],
        r[units],
    )
