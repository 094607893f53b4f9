"""The p-value of a score interval: microseconds of the processor per call."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time
from timeit import repeat

import setagree as sa
from tests.benchmarks.table import Row

P_BAR = 50  # microseconds
WORDS = {
    "12 units": "aa aa aa aa aa aa ab bb aa aa bb aa",
    "10 units, below chance": "ab ba ab bc ca ab ba cb ac aa",
    "30 units, below chance": " ".join(["ab ba ab bc ca ab ba cb ac aa"] * 3),
    "10 units in full agreement": "aa aa aa bb bb bb cc cc cc dd",
    "50 units, one answer dominates": " ".join(["aaaaa"] * 38 + ["aaaab"] * 8 + ["aaaac"] * 4),
}
"""Studies with a unit per word, whose letters are answers."""
SIMULATED = ((20, 0.1), (50, 0.2), (50, 0.9), (300, 0.05), (300, 0.6), (1_000, 0.02))
"""Units and skill."""


def p_values(*, quick: bool) -> Iterator[Row]:
    """Yield a row for each study, whose p takes at most 50 microseconds."""
    for name, words in WORDS.items():
        answers = zip(*words.split(), strict=True)
        yield _row(name, sa.krippendorff_alpha(*answers), quick=quick)
    for n, skill in SIMULATED:
        alpha = sa.krippendorff_alpha(sa.simulate(n, 3, skill=skill, rng=1))
        yield _row(f"{n:,} units, alpha {alpha.estimate:.2f}", alpha, quick=quick)


def _row(name: str, alpha: sa.Agreement, *, quick: bool) -> Row:
    """Return the row of the least time of several runs."""
    score = alpha.inference.score
    assert score is not None
    n = 50 if quick else 500
    time = 1e6 * min(repeat(score.p_value, timer=process_time, number=n, repeat=7)) / n
    what = f"p of a score interval, {name}, in microseconds"
    return Row(what, f"{time:.1f}", "", "", f"<= {P_BAR}", time <= P_BAR)
