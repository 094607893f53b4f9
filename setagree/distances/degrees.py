"""Distances between answers whose labels have degrees; of plain label sets every degree is 1."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from setagree.distances.base import Distance, OverlapDistance, as_label_set
from setagree.distances.sets import hamming, jaccard
from setagree.errors import DistanceError, shorten
from setagree.study.numbers import as_float
from setagree.wording.label_sets import LARGEST_DEGREE, Degrees


@dataclass(frozen=True, repr=False)
class DegreeDistance(Distance):
    r"""The formula of a distance between sets, with sums of degrees in the place of sizes.

    \|A\| and \|B\| are the sums of the degrees, and \|A ∩ B\| is the sum over labels of the smaller
    degree. `text` is the docstring.
    """

    of_sets: OverlapDistance
    text: str = field(compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.text)
        names = {key: getattr(self, key) for key in ("name", "title", "formula", "source")}
        object.__setattr__(self, "of_sets", replace(self.of_sets, **names))

    def __call__(self, A: Any, B: Any) -> float:
        """Return the distance between two answers: mappings of labels to degrees, or label sets."""
        A, B = _as_degrees(A), _as_degrees(B)
        if A == B:
            return 0.0
        shared = math.fsum(min(A.degrees[label], B.degrees[label]) for label in A & B)
        a, b = (math.fsum(each.degrees.values()) for each in (A, B))
        of_sums: Any = self.of_sets.function  # which is written for sizes
        return max(0.0, float(of_sums(*np.array([[a], [b], [shared]]))[0]))


def _as_degrees(answer: Any) -> Degrees:
    """Return an answer with its degrees, for distances called by hand."""
    if not isinstance(answer, Mapping):
        return Degrees.of(answer if isinstance(answer, Degrees) else as_label_set(answer))
    for label, degree in answer.items():
        number = as_float(degree)
        if number is None or not 0 <= number <= LARGEST_DEGREE:
            raise DistanceError(
                f"the degree of label {shorten(label)} is {shorten(degree)}; it is a number from 0 "
                f"to {LARGEST_DEGREE:g}."
            )
    return Degrees(answer)


_RUZICKA = """1 - sum min(a, b) / sum max(a, b) over the degrees a and b of each label.

Ružička 1958, also called weighted Jaccard. A label that is not given has the degree 0, and those of
a plain label set have the degree 1, so that between label sets it is `jaccard`. Two answers without
a label are equal (0); such an answer shares nothing with another (1).

Examples
--------
>>> from setagree.distances import ruzicka
>>> ruzicka({"joy": 0.75, "fear": 0.25}, {"joy": 0.5, "calm": 0.5})
0.6666666666666667
>>> ruzicka({"joy"}, {"joy", "fear"}), ruzicka(set(), set()), ruzicka(set(), {"joy": 0.25})
(0.5, 0.0, 1.0)
"""

_MANHATTAN = r"""Sum of \|a - b\| over the degrees a and b of each label.

Not bounded by 1. A label that is not given has the degree 0, and those of a plain label set have
the degree 1, so that between label sets it is `hamming`.

Examples
--------
>>> from setagree.distances import manhattan
>>> manhattan({"joy": 0.75, "fear": 0.25}, {"joy": 0.5, "calm": 0.5})
1.0
>>> manhattan({"joy"}, {"joy", "fear"}), manhattan(set(), set()), manhattan(set(), {"joy": 3})
(1.0, 0.0, 3.0)
"""

ruzicka = DegreeDistance(
    "ruzicka",
    jaccard,
    _RUZICKA,
    title="Ružička (weighted Jaccard)",
    formula="1 − Σ min(a, b) / Σ max(a, b) over the degrees a and b of each label",
    source="Ružička 1958",
)
manhattan = DegreeDistance(
    "manhattan",
    hamming,
    _MANHATTAN,
    bounded=False,
    title="Manhattan",
    formula="Σ |a − b| over the degrees a and b of each label",
)

# doctest looks at functions; these are objects that carry a docstring.
__test__ = {"ruzicka": _RUZICKA, "manhattan": _MANHATTAN}
