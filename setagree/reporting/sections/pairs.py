"""Pairs of raters: who agrees with whom."""

from __future__ import annotations

from functools import partial

import pandas as pd

from setagree.diagnosis.by_pair import by_pair
from setagree.errors import DataError
from setagree.plots import diagnosis
from setagree.plots.base import cells_height
from setagree.reporting.sections.base import (
    Column,
    Findings,
    Listing,
    Picture,
    Section,
    Topic,
    estimate_column,
)
from setagree.wording.number_format import number
from setagree.wording.sentences import Sentence

ENOUGH_SHARED = 10
"""Units that two raters must share to be listed, where any two do."""

_MANY_PAIRS = 10
"""Pairs of raters from which their middle 80% is given; of fewer, the whole range."""

_PAIRED = 400_000
"""Pairs of raters beyond which they are not compared one by one."""


def compute(f: Findings) -> pd.DataFrame:
    """Return the pairs of raters, unless there are too many to compare."""
    n = f.study.n_raters
    n_pairs = n * (n - 1) // 2
    if n_pairs > _PAIRED:
        raise DataError(
            f"{n:,} raters make {n_pairs:,} pairs, which are not compared here; sa.by_pair does it."
        )
    return by_pair(f.study, **f.measure, level=f.level)


def sections(f: Findings) -> list[Section]:
    """Return the pairs of raters, the lowest agreement first."""
    if f.study.n_raters < 3:
        return []
    frame, note, picture, n_pairs = f.frame("pairs"), "", None, 0
    if frame is not None:
        n_pairs = len(frame)
        if f.main.reason is None:
            n = f.study.n_raters
            picture = Picture(partial(diagnosis.pairs, frame), cells_height(n), columns=n)
        frame = frame[frame["estimate"].notna()]
        frame = frame.sort_values(
            ["estimate", "n_shared_units"], ascending=[True, False], kind="stable"
        )
        enough = frame[frame["n_shared_units"] >= ENOUGH_SHARED]
        if 0 < len(enough) < len(frame):
            note = f"Pairs that share {ENOUGH_SHARED} units or more; fewer are not informative."
            frame = enough
    columns = [
        Column("Rater", "name", "rater_a"),
        Column("and rater", "name", "rater_b"),
        estimate_column(f),
        Column("Shared units", "count", "n_shared_units"),
        Column("Mean distance", "number", "mean_distance"),
    ]
    caption = "Pairs of raters, the lowest agreement first"
    listing = Listing("pairs", "Pairs of raters", caption, "by_pair", 15, note)
    return listing.section(f, frame, columns, lead=_pair_lead(frame, n_pairs), picture=picture)


def _pair_lead(pairs: pd.DataFrame | None, n_pairs: int) -> Sentence:
    """Return the agreement of all pairs of raters that share units."""
    if pairs is None or not len(pairs):
        return ("No two raters share enough units for a coefficient of their own.",)
    if not (pairs["n_shared_units"] >= ENOUGH_SHARED).any():
        return (f"No two raters share {ENOUGH_SHARED} units or more: a pair alone shows little.",)
    estimates, n = pairs["estimate"], len(pairs)
    part = f" (of {n_pairs:,} that share units)" if n < n_pairs else ""
    if n == 1:
        one = f"One pair of raters{part} has an agreement of its own"
        return (f"{one}: {number(estimates.iloc[0])}.",)
    median = f"The median agreement of {n:,} pairs of raters{part} is {number(estimates.median())}"
    if n < _MANY_PAIRS:
        return (f"{median}, from {number(estimates.min())} to {number(estimates.max())}.",)
    tenth, last = estimates.quantile(0.1), estimates.quantile(0.9)
    inside = f"{int(estimates.between(tenth, last).sum()):,} of them"
    return (f"{median}; {inside} lie between {number(tenth)} and {number(last)}.",)


TOPIC = Topic("pairs", sections, compute, optional=True)
