"""Units drawn for a prevalence: coverage, and width relative to a simple random sample.

``python -m tests.benchmarks.decisions.checks`` prints one line per design. Of 3,000 units
160 are checked, of which 60 were drawn with equal probability before or none were.
"""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pandas as pd

import setagree as sa

STUDIES, N_UNITS, N_CHECKED = 200, 3_000, 160
LABELS = np.array(list("abcd"))

WORLDS = {
    # Shares of the labels; the model's sensitivity and its share of false labels, by label
    "one label, half of its marks are wrong": ([0.15], [0.9], [0.15]),
    "four labels, errors in one": ([0.3, 0.4, 0.2, 0.1], [0.9, 1, 1, 1], [0.25, 0, 0, 0]),
    "four labels, errors in all": ([0.3, 0.4, 0.2, 0.1], [0.8] * 4, [0.05] * 4),
    "four labels, useless model": ([0.3, 0.4, 0.2, 0.1], [0.3] * 4, [0.3] * 4),
}


def _table(flags: np.ndarray, units: np.ndarray) -> pd.DataFrame:
    sets = [frozenset(LABELS[: flags.shape[1]][flags[unit]]) for unit in units]
    return pd.DataFrame({"unit": units, "labels": sets})


def one_study(world: str, n_before: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return coverage and width by label, of the queue and of a simple random sample."""
    rng = np.random.default_rng([seed, n_before])
    shares, sensitivity, false = WORLDS[world]
    true = rng.random((N_UNITS, len(shares))) < shares
    answers = rng.random(true.shape) < np.where(true, sensitivity, false)
    of_model, every = _table(answers, np.arange(N_UNITS)), rng.permutation(N_UNITS)
    before = _table(true, every[:n_before]).assign(rater="ann")
    marked = of_model.assign(rater="gpt")
    pilot = sa.Annotations.from_long(pd.concat([before, marked]))
    budget = N_CHECKED - n_before
    queue = sa.next_ratings(pilot, goal="prevalence", model="gpt", budget=budget, rng=seed).frame
    units = queue["unit"].to_numpy()
    drawn = _table(true, units).assign(rater="ann", weight=queue["sampling_weight"].to_numpy())
    studies = (
        sa.read(drawn, sampling_weight="weight"),
        sa.read(_table(true, every[:N_CHECKED]).assign(rater="ann")),
    )
    found = []
    for study in studies:
        frame = sa.prevalence(study, model=of_model, labels=[*LABELS[: len(shares)]]).frame
        mean = true.mean(axis=0)
        covers = (frame["low"] <= mean + 1e-12) & (mean - 1e-12 <= frame["high"])
        found.append(pd.DataFrame({"covers": covers, "width": frame["high"] - frame["low"]}))
    return found[0], found[1]


def main() -> None:
    """Print coverage and relative width by label in each design."""
    for world, n_before in product(WORLDS, (0, 60)):
        with warnings.catch_warnings(action="ignore"):
            pairs = [one_study(world, n_before, seed) for seed in range(STUDIES)]
        queue, simple = (sum(each).astype(float) / STUDIES for each in zip(*pairs, strict=True))
        ratio = queue["width"] / simple["width"]
        print(
            f"{world}, {n_before} checked before: coverage {queue['covers'].round(3).tolist()} "
            f"(simple {simple['covers'].round(3).tolist()}), width {ratio.round(2).tolist()}, "
            f"mean {queue['width'].sum() / simple['width'].sum():.2f}"
        )


if __name__ == "__main__":
    main()
