"""Small studies as lists of units x raters, and how they become annotations.

Nothing in here computes an agreement.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from hypothesis import strategies as st

import setagree as sa
from setagree.coefficients.score_interval import score_interval, z_of_level
from setagree.coefficients.sums import UnitSums

Rows = list[list[Any]]


def sets_of(labels: str) -> list[frozenset[str]]:
    """Return all subsets of some one-letter labels, the empty set first."""
    return [frozenset(s) for size in range(len(labels) + 1) for s in combinations(labels, size)]


def triples(rows: Rows) -> list[tuple[Any, Any, Any]]:
    """Return (rater, unit, answer) of every rating that is not missing."""
    return [
        (f"r{g}", f"u{i}", answer)
        for i, row in enumerate(rows)
        for g, answer in enumerate(row)
        if answer is not None
    ]


def annotations(rows: Rows) -> sa.Annotations:
    """Code units x raters rows of label sets, or of numbers."""
    answers = [answer for row in rows for answer in row if answer is not None]
    kind = "labels" if isinstance(answers[0], frozenset) else "value"
    return sa.Annotations.from_triples(triples(rows), kind=kind)


def text(words: str) -> Rows:
    """Read units ("/" between them) of one-letter labels: "ab" {a, b}, "{}" empty, "." missing."""
    meaning = {".": None, "{}": frozenset()}
    return [
        [meaning.get(word, frozenset(word)) for word in unit.split()] for unit in words.split("/")
    ]


def numbers(words: str) -> Rows:
    """Read units of whole numbers, "." a missing rating."""
    return [[None if w == "." else int(w) for w in unit.split()] for unit in words.split("/")]


def random_rows(
    rng: np.random.Generator, answers: list[Any], *, units: int, raters: int, missing: float = 0.0
) -> Rows:
    """Draw every rating on its own, uniformly from the answers; some are missing."""
    drawn = rng.integers(len(answers), size=(units, raters))
    gone = rng.random((units, raters)) < missing
    return [
        [None if hole else answers[code] for code, hole in zip(codes, holes, strict=True)]
        for codes, holes in zip(drawn, gone, strict=True)
    ]


def row_lists(
    answers: list[Any], *, units: int = 5, raters: int = 4, missing: bool = True
) -> st.SearchStrategy[Rows]:
    """Draw studies with two raters or more and one rating at least."""
    cell = st.sampled_from([None, *answers] if missing else answers)
    return (
        st.integers(2, raters)
        .flatmap(
            lambda r: st.lists(st.lists(cell, min_size=r, max_size=r), min_size=1, max_size=units)
        )
        .filter(lambda rows: any(x is not None for row in rows for x in row))
    )


def score_ends(case, model, level):
    """Return the ends of the score interval before the minimum with t and any cut."""
    found = score_interval(UnitSums(case, model))
    return found.roots(found.q(z_of_level(level)))
