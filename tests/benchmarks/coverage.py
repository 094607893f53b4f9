"""How often a 95 % interval holds the true alpha, by simulation.

``python -m tests.benchmarks.coverage [--quick] [--output FILE]`` draws studies of units, raters and
five labels, and counts how often each kind of interval holds the true value. Every study is scored
and resampled by the library itself. A study is a set of rows, drawn with replacement, of one very
large simulated study whose alpha is the truth; that alpha is also computed from the model without
any simulation, as a check. The same seed gives the same table on any number of processes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache, partial, reduce
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import setagree as sa

Floats: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[np.integer[Any]]

SEED = 20
LEVEL = 0.95
BAR = (0.93, 0.97)
BAR_UNITS = 50
PREVALENCE = 0.3
N_LABELS = 5
SKILLS = (0.8, 0.95)
RATERS = (2, 3, 5)
UNITS = (20, 50, 100)
DISTANCES = ("nominal", "jaccard", "masi")
METHODS = ("analytic", "percentile", "BCa")
PROMISED = ("analytic", "BCa")
STUDIES_AT_ONCE = 250


@dataclass(frozen=True)
class Size:
    """How much is simulated.

    Parameters
    ----------
    n_pool : int
        Units of the large study that is the truth.
    n_studies : int
        Studies in each cell.
    n_resamples : int
        Resamples of each study.
    """

    n_pool: int
    n_studies: int
    n_resamples: int


FULL = Size(1_000_000, 5_000, 1_000)
QUICK = Size(200_000, 250, 500)


@dataclass(frozen=True)
class Design:
    """Which studies are drawn: equally skilled raters, complete data.

    Parameters
    ----------
    skill : float
        How often a rater reports the truth of a label instead of guessing.
    n_raters, n_units : int
        The size of a study.
    """

    skill: float
    n_raters: int
    n_units: int


@dataclass(frozen=True)
class Truth:
    """The alpha that the intervals are to hold.

    Parameters
    ----------
    alpha : float
        That of the large study.
    standard_error : float
        What the size of the large study leaves uncertain.
    exact : float
        That of the model.
    """

    alpha: float
    standard_error: float
    exact: float


Truths: TypeAlias = dict[tuple[float, int, str], Truth]


@dataclass(frozen=True)
class Cell:
    """What was seen of one kind of interval with one distance in one design.

    Parameters
    ----------
    design : Design
    distance, method : str
    n_studies : int
        Studies whose interval is defined.
    too_low, too_high : int
        Studies whose interval lies entirely below, or entirely above, the truth.
    width : float
        The mean width.
    """

    design: Design
    distance: str
    method: str
    n_studies: int
    too_low: int
    too_high: int
    width: float

    @property
    def coverage(self) -> float:
        """The share of intervals that hold the truth."""
        return 1 - (self.too_low + self.too_high) / self.n_studies

    @property
    def error(self) -> float:
        """The Monte-Carlo standard error of the coverage."""
        return float(np.sqrt(self.coverage * (1 - self.coverage) / self.n_studies))

    @property
    def holds(self) -> bool | None:
        """Whether the coverage is within the bar; None where the bar does not apply."""
        if self.method not in PROMISED or self.design.n_units < BAR_UNITS:
            return None
        return BAR[0] <= self.coverage <= BAR[1]


def main(arguments: list[str] | None = None) -> None:
    """Print the tables and write them where asked.

    Parameters
    ----------
    arguments : list of str, optional
        Command line; by default that of the process.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.coverage")
    parser.add_argument("--quick", action="store_true", help="fewer studies, under a minute")
    parser.add_argument("--output", type=Path, help="write the tables as Markdown to this file")
    options = parser.parse_args(arguments)
    size = QUICK if options.quick else FULL
    start = time.perf_counter()
    with ProcessPoolExecutor() as workers:
        truths = _merged(workers.map(partial(_truths, size=size), SKILLS))
        cells = _cells(workers, truths, size)
    text = report(truths, cells, size)
    print(text)
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    if options.output:
        options.output.write_text(text, encoding="utf-8")


def _merged(parts: Iterable[Truths]) -> Truths:
    """Return the entries of all mappings."""
    return {key: truth for part in parts for key, truth in part.items()}


def _truths(skill: float, size: Size) -> Truths:
    """Return the truth of each number of raters and distance."""
    pool, codes = _pool(skill, size.n_pool)
    found = {}
    for n_raters, distance in product(RATERS, DISTANCES):
        alpha = sa.krippendorff_alpha(_study(pool, codes[:, :n_raters]), distance=distance)
        exact = exact_alpha(skill, distance)
        found[skill, n_raters, distance] = Truth(alpha.estimate, alpha.standard_error, exact)
    return found


@lru_cache
def _pool(skill: float, n_units: int) -> tuple[sa.Annotations, Codes]:
    """Return a large study and its answers as an array of shape (n_units, raters)."""
    most = max(RATERS)
    seed = np.random.default_rng([SEED, round(1000 * skill)])
    pool = sa.simulate(
        n_units, most, n_labels=N_LABELS, prevalence=PREVALENCE, skill=skill, rng=seed
    )
    return pool, pool.value_codes.reshape(n_units, most)


def _study(pool: sa.Annotations, codes: Codes) -> sa.Annotations:
    """Return the study of some coded answers of shape (units, raters)."""
    n_units, n_raters = codes.shape
    return replace(
        pool,
        units=np.arange(n_units).astype(object),
        raters=pool.raters[:n_raters],
        unit_codes=np.repeat(np.arange(n_units), n_raters),
        rater_codes=np.tile(np.arange(n_raters), n_units),
        value_codes=codes.ravel(),
    )


def exact_alpha(skill: float, distance: str) -> float:
    """Return 1 - Do / De of the model: two raters' answers, enumerated."""
    answers = list(product((0, 1), repeat=N_LABELS))
    sets = [frozenset(k for k, flag in enumerate(answer) if flag) for answer in answers]
    d = getattr(sa.distances, distance)
    D = np.array([[d(A, B) for B in sets] for A in sets])
    share = np.array([1 - PREVALENCE, PREVALENCE])
    given_truth = skill * np.eye(2) + (1 - skill) * share
    one_label = np.einsum("t,ta,tb->ab", share, given_truth, given_truth)
    joint = reduce(np.kron, [one_label] * N_LABELS)
    pi = joint.sum(axis=0)
    return float(1 - (joint * D).sum() / (pi @ D @ pi))


def _cells(workers: ProcessPoolExecutor, truths: Truths, size: Size) -> list[Cell]:
    """Return a cell for each design, distance and method."""
    designs = [Design(*one) for one in product(SKILLS, RATERS, UNITS)]
    chunks = range(-(-size.n_studies // STUDIES_AT_ONCE))
    jobs = list(product(designs, chunks))
    counted = workers.map(partial(_count, truths=truths, size=size), *zip(*jobs, strict=True))
    totals: dict[Design, Floats] = {}
    for (design, _), counts in zip(jobs, counted, strict=True):
        if design not in totals:
            print(f"{design} ...", file=sys.stderr)
        totals[design] = totals.get(design, 0) + counts
    return [
        Cell(design, distance, method, int(n), int(low), int(high), width / n)
        for design, counts in totals.items()
        for distance, of_distance in zip(DISTANCES, counts, strict=True)
        for method, (n, low, high, width) in zip(METHODS, of_distance, strict=True)
    ]


def _count(design: Design, chunk: int, truths: Truths, size: Size) -> Floats:
    """Return defined, too low and too high intervals and their summed width, by cell.

    The shape is (distances, methods, 4).
    """
    pool, codes = _pool(design.skill, size.n_pool)
    key = [SEED, chunk, round(1000 * design.skill), design.n_raters, design.n_units]
    generator = np.random.default_rng(key)
    alphas = [truths[design.skill, design.n_raters, name].alpha for name in DISTANCES]
    total = np.zeros((len(DISTANCES), len(METHODS), 4))
    for _ in range(min(STUDIES_AT_ONCE, size.n_studies - chunk * STUDIES_AT_ONCE)):
        rows = generator.integers(len(codes), size=design.n_units)
        study = _study(pool, codes[rows, : design.n_raters])
        ends = intervals(study, size.n_resamples, generator)
        total += _verdicts(ends, np.array(alphas)[:, None])
    return total


def intervals(study: sa.Annotations, n_resamples: int, generator: np.random.Generator) -> Floats:
    """Return the ends of each interval of a study, of shape (distances, methods, 2)."""
    table = sa.agreement(study, coefficient="krippendorff_alpha", distance=DISTANCES)
    resampled = sa.bootstrap(table, n_resamples=n_resamples, rng=generator)
    return np.array(
        [
            [
                row.agreement.interval(LEVEL),
                row.interval(LEVEL, method="percentile"),
                row.interval(LEVEL, method="BCa"),
            ]
            for row in resampled.rows
        ]
    )


def _verdicts(ends: Floats, truth: Floats) -> Floats:
    """Return 1 for defined, too low, too high; and the width; of shape (..., 4)."""
    low, high = ends[..., 0], ends[..., 1]
    defined = np.isfinite(low + high)
    found = np.stack([defined, high < truth, low > truth, high - low], axis=-1)
    return np.where(defined[..., None], found, 0.0)


def report(truths: Truths, cells: Sequence[Cell], size: Size) -> str:
    """Return the tables and what they say, as Markdown."""
    parts = [_introduction(size), _coverage_table(cells), _verdict(cells)]
    parts += ["The true alphas:", _truth_table(truths)]
    return "\n\n".join(parts) + "\n"


def _introduction(size: Size) -> str:
    """Return what was done, in a paragraph."""
    error = np.sqrt(LEVEL * (1 - LEVEL) / size.n_studies)
    return (
        f"Share of {size.n_studies:,} studies whose nominal {LEVEL:.0%} interval holds the true "
        f"alpha: {', '.join(METHODS)} (Monte-Carlo error of each ±{error:.4f}). "
        f"{size.n_resamples:,} resamples of the units of each study; {N_LABELS} labels of "
        f"prevalence {PREVALENCE}, raters of one skill, complete data. The truth is the alpha of "
        f"{size.n_pool:,} simulated units, of which the studies are random rows. `*`: outside "
        f"{BAR[0]:.2f}-{BAR[1]:.2f} at {BAR_UNITS} units or more, where {' and '.join(PROMISED)} "
        "are promised to lie inside."
    )


def _coverage_table(cells: Sequence[Cell]) -> str:
    """Return a row for each design, with the coverages of the methods side by side."""
    found = {(cell.design, cell.distance, cell.method): cell for cell in cells}
    rows = [["skill", "raters", "units", *DISTANCES]]
    for design in dict.fromkeys(cell.design for cell in cells):
        sides = [" ".join(_shown(found[design, d, m]) for m in METHODS) for d in DISTANCES]
        rows.append([f"{design.skill}", f"{design.n_raters}", f"{design.n_units}", *sides])
    return _markdown(rows)


def _shown(cell: Cell) -> str:
    """Return a coverage as three decimals, marked where the bar fails."""
    return f"{cell.coverage:.3f}".lstrip("0") + ("*" if cell.holds is False else "")


def _truth_table(truths: Truths) -> str:
    """Return the true alphas, how sure they are, and those of the model."""
    rows = []
    for (skill, raters, name), one in truths.items():
        numbers = (one.alpha, one.standard_error, one.exact)
        rows.append([f"{skill}", f"{raters}", name, *(f"{x:.4f}" for x in numbers)])
    return _markdown([["skill", "raters", "distance", "true alpha", "±", "of the model"], *rows])


def _verdict(cells: Sequence[Cell]) -> str:
    """Return how far each method keeps its level, and where a promise is not kept."""
    lines = []
    for method in METHODS:
        mine = [cell for cell in cells if cell.method == method]
        many = [cell for cell in mine if cell.design.n_units >= BAR_UNITS]
        few = [cell for cell in mine if cell.design.n_units < BAR_UNITS]
        lines.append(
            f"- {method}: {_range(many)} at {BAR_UNITS} units or more; {_range(few)} at fewer"
        )
        lines += [f"  - {_failure(cell)}" for cell in many if cell.holds is False]
    return "\n".join(lines)


def _range(cells: Sequence[Cell]) -> str:
    """Return how many coverages lie within the bar, and the least and the largest."""
    shares = [cell.coverage for cell in cells]
    inside = sum(BAR[0] <= share <= BAR[1] for share in shares)
    return f"{inside} of {len(shares)} within the bar ({min(shares):.3f} to {max(shares):.3f})"


def _failure(cell: Cell) -> str:
    """Return a cell outside the bar, and on which side its intervals miss."""
    n, design = cell.n_studies, cell.design
    outside = max(BAR[0] - cell.coverage, cell.coverage - BAR[1])
    noise = " (less than 2 ± outside)" if outside < 2 * cell.error else ""
    return (
        f"skill {design.skill}, {design.n_raters} raters, {design.n_units} units, {cell.distance}: "
        f"{cell.coverage:.3f} ± {cell.error:.3f}{noise}; the interval is too low in "
        f"{cell.too_low / n:.1%}, too high in {cell.too_high / n:.1%}; mean width {cell.width:.3f}"
    )


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return rows, the first of them the header, as an aligned Markdown table."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [[cell.rjust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    lines.insert(1, ["-" * (width - 1) + ":" for width in widths])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main()
