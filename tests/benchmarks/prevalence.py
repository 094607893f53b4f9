"""Prevalence: the time of a million units, and the coverage of its interval in 48 designs.

``python -m tests.benchmarks.prevalence`` prints each design.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import product

import numpy as np

import setagree as sa
from setagree.inference.prevalence import Checked
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects
from tests.benchmarks.table import Row
from tests.benchmarks.timing import seconds

PREVALENCES, SIZES, POPULATION = (0.01, 0.05, 0.2, 0.5), (50, 300), 20
"""Prevalences, numbers of checked units, and units of the corpus for each of them."""

MODELS = ((0.5, 0.9), (0.8, 0.95), (0.9, 0.99), (0.99, 0.5), (0.05, 0.95), (0.3, 0.3))
"""Sensitivity and specificity of the models: useless, usual, good, eager, blind, adverse."""

CELLS = [*product(PREVALENCES, SIZES, MODELS)]
NOMINAL, REQUIRED = 0.95, 0.94


def coverage(
    p: float, n: int, model: tuple[float, float], studies: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the share of studies whose interval covers, and the width relative to humans alone.

    Each study is a column: a corpus of `POPULATION` n units is drawn anew, and of it n units are
    checked without replacement.
    """
    N = POPULATION * n
    true = rng.binomial(N, p, studies)
    sensitivity, specificity = model
    both, wrong = rng.binomial(true, sensitivity), rng.binomial(N - true, 1 - specificity)
    cells = np.stack([true - both, both, N - true - wrong, wrong], axis=1)
    seen = np.stack([rng.multivariate_hypergeometric(row, n) for row in cells]).T
    size, positive, n_k = (
        np.concatenate([x, x.sum(axis=0, keepdims=True)]).astype(float)
        for x in (np.stack([N - both - wrong, both + wrong]), seen[:2], seen[:2] + seen[2:])
    )
    with np.errstate(invalid="ignore"):
        mean = positive / n_k
    squares = np.where(n_k > 0, n_k * mean * (1 - mean), 0.0)
    checked = Checked(n, N, size, n_k, mean, n_k, squares)
    found = checked.table(NOMINAL, "corpus")
    covers = (found["low"] <= true / N + 1e-12) & (true / N - 1e-12 <= found["high"])
    width = (found["high"] - found["low"]).mean()
    return float(covers.mean()), float(width / (found["humans_high"] - found["humans_low"]).mean())


def large_study(n_units: int, n_checked: int) -> Annotations:
    """Return three people on some of the units, and a model on all, with 100 labels."""
    rng = np.random.default_rng(0)
    triples = np.unique(np.sort(rng.integers(0, 100, (20_000, 3)), axis=1), axis=0)
    sets = tuple({frozenset(f"l{k}" for k in row): None for row in triples.tolist()})
    units = np.concatenate([np.arange(n_units), np.tile(np.arange(n_checked), 3)])
    raters = np.concatenate([np.zeros(n_units), np.repeat([1, 2, 3], n_checked)])
    values = rng.integers(0, len(sets), len(units))
    codes = (each.astype(np.int32) for each in (units, raters, values))
    names = np.arange(n_units).astype(object)
    return Annotations("labels", names, as_objects(["m", "a", "b", "c"]), sets, *codes)


def prevalence(*, quick: bool) -> Iterator[Row]:
    """Yield the time of a million units by 100 labels, and the worst coverage of the designs."""
    n = 100_000 if quick else 1_000_000
    for checked in (n // 1000, n):
        study = large_study(n, checked)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sa.SetagreeWarning)
            time = seconds(lambda study=study: sa.prevalence(study, model="m"))
        what = f"prevalence: {n:,} units, {checked:,} checked by three people, 100 labels"
        yield Row(what, f"{time:.2f} s", bar="3 s", holds=time <= 3)
    studies = 1_000 if quick else 4_000
    rng = np.random.default_rng(1)
    rows = [coverage(*cell, studies, rng) for cell in CELLS]
    least = min(share for share, _ in rows)
    allowed = REQUIRED - 3 * np.sqrt(REQUIRED * (1 - REQUIRED) / studies)
    yield Row(
        f"prevalence: least coverage of {len(CELLS)} designs ({studies:,} studies each)",
        f"{least:.3f}",
        bar=f"{REQUIRED}",
        holds=bool(least >= allowed),
    )


def main() -> None:
    """Print the coverage of each design."""
    rng = np.random.default_rng(1)
    for p, n, model in CELLS:
        share, width = coverage(p, n, model, 4_000, rng)
        print(f"p {p:<5} n {n:<4} model {model!s:<13} coverage {share:.4f} width {width:.3f}")


if __name__ == "__main__":
    main()
