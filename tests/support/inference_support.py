"""What the inference tests share: legible studies, distances that need no study, the brute force.

Brute force means: the answers are written down again, coded anew and scored by the door. None of
the distances below depends on which answers a study shows, and the list of values is said, so that
a part of a study (or a resample of it) is scored with the distance of the whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from small_studies import Rows, annotations, numbers, sets_of, text

import setagree as sa
from setagree.distances import Distance, NominalDistance, get_distance
from setagree.inference.unit_order import drawn_rows
from setagree.scoring.coefficients import COEFFICIENTS, get_coefficient
from setagree.scoring.scorer import Scorer
from setagree.study.codes import as_objects

# The published walk-through (Cross Validated 407453), and its two-rater cousin.
T1 = text(
    "ab a b / ab ab ab / a a a / c c . / c ac ac / d d d / b d e / ab a b / "
    "ab abc abci / a bd a / a a e"
)
T2 = text("ab a / ab ab / a a / c c / c ac / d d / b d / ab a / ab abc / a a / a a")

# Empty sets, missing ratings, units with one rating, equal units, a rater with a single rating.
HARD = text(
    "{} {} a . / a {} . . / a a ab . / ab ac b . / ab ac b . / . c . . / a a ab . / c . . . / "
    "bc b abc bc"
)
VALUES = sets_of("abc")


def _callback(A: frozenset[str], B: frozenset[str]) -> float:
    return 0.9 * len(A ^ B) / (1 + len(A | B))


def _matrix() -> pd.DataFrame:
    entries = [[abs(len(A) - len(B)) / 4 + 0.25 * (A != B) for B in VALUES] for A in VALUES]
    names = as_objects([sa.format_labels(A) for A in VALUES])
    return pd.DataFrame(entries, index=names, columns=names)


# Numbers of which one lies far out, in a unit of its own or beside another number.
LONE = numbers("1 2 / 3 3 / 2 2 / 4 3 / 1 1 / 1000000000 .")
FAR = numbers("1 2 / 3 3 / 2 2 / 4 3 / 1 1 / 1000000000 1 / 2 3")
OUTLIERS = [
    (rows, name)
    for rows in (LONE, FAR)
    for name in ("krippendorff_alpha", "fleiss_kappa", "conger_kappa", "scott_pi", "cohen_kappa")
]
"""Coefficients of the interval distance that do not ask which distance is the largest."""

DISTANCES: dict[str, Distance] = {
    "interval": get_distance("interval"),
    "nominal": get_distance("nominal"),
    "masi": get_distance("masi"),
    "callback": sa.CallableDistance(_callback, name="callback", bounded=True),
    "matrix": sa.distance_matrix(_matrix()),
    "overlap": sa.OverlapDistance(lambda a, b, i: (a + b - 2 * i) / (a + b - i + 1), name="ours"),
}

OWN = ("overlap", "callback", "matrix")
PAIRS = [
    (name, distance)
    for place, name in enumerate(COEFFICIENTS)
    for distance in ("nominal", "masi", OWN[place % 3])
    if name != "mv_alpha" or isinstance(DISTANCES[distance], NominalDistance | sa.OverlapDistance)
]
"""Each coefficient with two distances that have weights of their own, and with one of the others.

So small a study has a matrix of weights for all distances but the nominal one.
"""


def fitting(name: str, rows: Rows) -> Rows:
    """Return the rows, of the first two raters alone where the coefficient asks for two."""
    if COEFFICIENTS[name].raters != "two":
        return rows
    return rated_rows([row[:2] for row in rows])


def score(rows: Rows, name: str, distance: str = "masi") -> sa.Agreement:
    """Code the rows anew and score them; every subset of {a, b, c} is a category."""
    return score_study(annotations(rows), name, distance)


def score_study(study: sa.Annotations, name: str, distance: str = "masi") -> sa.Agreement:
    if study.kind == "number":
        return Scorer(study).score(get_coefficient(name), DISTANCES[distance])
    values = [*dict.fromkeys([*VALUES, *study.values])]
    return Scorer(study, categories=values).score(get_coefficient(name), DISTANCES[distance])


def estimates(studies: list[Rows], name: str, distance: str = "masi") -> list[float]:
    """Score one list of rows after the other; nan where nothing is rated."""
    rated = [any(x is not None for row in rows for x in row) for rows in studies]
    return [
        score(rows, name, distance).estimate if any_rating else float("nan")
        for rows, any_rating in zip(studies, rated, strict=True)
    ]


def as_drawn(rows: Rows, agreement: sa.Agreement) -> Rows:
    """Return the rows of a study in the order in which its units are drawn.

    Of units with equal counts, where a coefficient does not ask whose they are, one stands for all.
    """
    places, _ = drawn_rows(agreement)
    if not COEFFICIENTS[agreement.coefficient].needs_raters:
        patterns = agreement.tally.unit_patterns.tolist()
        places = [patterns.index(pattern) for pattern in places]
    return [rows[place] for place in places]


def noisy_rows(seed: int, *, units: int, raters: int, missing: float = 0.0) -> Rows:
    """Draw a true subset of {a, b, c} for each unit, which raters report with probability 0.6."""
    rng = np.random.default_rng(seed)
    rows: list[list[Any]] = []
    while len(rows) < units:
        truth = rng.integers(len(VALUES))
        seen = np.where(rng.random(raters) < 0.6, truth, rng.integers(len(VALUES), size=raters))
        row = [None if rng.random() < missing else VALUES[code] for code in seen]
        if any(x is not None for x in row):
            rows.append(row)
    return rows


def rated_rows(rows: Rows) -> Rows:
    return [row for row in rows if any(x is not None for x in row)]


def one_line(result: object) -> bool:
    """Tell whether a repr is one line between angle brackets."""
    shown = repr(result)
    return shown.startswith("<") and shown.endswith(">") and "\n" not in shown


def planned(pilot: Any, **options: Any) -> Any:
    """Return the plan of a pilot, with the goals and the costs as options."""
    goals = {name: options.pop(name) for name in vars(sa.PlanGoals()) if name in options}
    costs = {x: options.pop(x) for x in ("per_rating", "per_unit", "budget") if x in options}
    if goals:
        options["goals"] = sa.PlanGoals(**goals)
    if costs:
        options["costs"] = sa.PlanCosts(**costs)
    return sa.plan(pilot, **options)
