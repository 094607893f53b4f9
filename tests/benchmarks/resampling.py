"""Bootstrap and permutation test beside one point estimate and a loop over NLTK."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

import setagree as sa
from setagree.coefficients.sums import UnitSums
from setagree.inference.resampling import row_weights
from setagree.inference.unit_order import rows_of_units
from setagree.scoring.coefficients import COEFFICIENTS
from tests.benchmarks import data
from tests.benchmarks.table import Row, at_least, at_most, duration
from tests.benchmarks.timing import alternate

LOOP_BAR = 1_000
BOOTSTRAP_BAR = 60
PERMUTATION_BAR = 400
SECONDS_BAR = 2.0
TOLERANCE = 1e-9
N_REPLICATES = 1_000
N_PERMUTATIONS = 10_000
# Short answers with a steep decline of prevalence: 257 distinct sets in 1,000 units x 3 raters.
RECIPE = data.Recipe(zipf=1.887, max_size=3)

LabelSet = frozenset[str]
Triples = list[tuple[str, str, LabelSet]]
Codes = npt.NDArray[np.int64]


def resampling(*, quick: bool) -> Iterator[Row]:
    """Time 1,000 bootstrap replicates and 10,000 pooled permutations of a MASI alpha."""
    ratings = data.simulate(1_000, 3, recipe=RECIPE)
    study = sa.Annotations.from_triples(ratings.triples())
    alpha = sa.krippendorff_alpha(study, distance="masi")
    rows = np.tile(np.arange(study.n_ratings), (N_PERMUTATIONS, 1))
    shuffle = np.random.default_rng(1).shuffle
    calls: dict[str, Callable[[], object]] = {
        "estimate": lambda: sa.krippendorff_alpha(study, distance="masi"),
        "bootstrap": lambda: sa.bootstrap(alpha, n_resamples=N_REPLICATES, rng=1),
        "permutation": lambda: sa.permutation_test(
            alpha, n_resamples=N_PERMUTATIONS, scheme="pooled", rng=1
        ),
        "shuffles": lambda: [shuffle(row) for row in rows],
    }
    best = alternate(calls, rounds=3 if quick else 7)
    what = f"1,000 units x 3, K = {study.n_values:,}: "
    yield from _against_nltk(what, ratings, alpha, best["bootstrap"], n_loops=2 if quick else 10)
    yield _beside(f"{what}{N_REPLICATES:,} bootstrap replicates", best, "bootstrap", BOOTSTRAP_BAR)
    shuffles = f"{what}{N_PERMUTATIONS:,} pooled permutations"
    yield _beside(shuffles, best, "permutation", PERMUTATION_BAR)
    yield Row(f"{shuffles}, numpy's shuffles alone", duration(best["shuffles"]))
    yield _on_the_clock(shuffles, calls["permutation"])


def _beside(what: str, best: dict[str, float], name: str, bar: float) -> Row:
    estimate = best["estimate"]
    return at_most(
        what,
        ours=duration(best[name]),
        other=f"one alpha of a coded study: {duration(estimate)}",
        ratio=best[name] / estimate,
        bar=bar,
    )


def _on_the_clock(what: str, call: Callable[[], object]) -> Row:
    """Return the row of a time on the wall; the rest of the run is in processor seconds."""
    start = time.perf_counter()
    call()
    taken = time.perf_counter() - start
    return Row(f"{what}, on the clock", duration(taken), bar="<= 2 s", holds=taken <= SECONDS_BAR)


def _against_nltk(
    what: str, ratings: data.Ratings, alpha: sa.Agreement, ours: float, *, n_loops: int
) -> Iterator[Row]:
    """Yield the rows of a loop that redraws units and calls NLTK, extrapolated from a few rounds.

    Its distances are exact, and its triples are made before the clock starts; both are in its
    favour or leave it as it is.
    """
    try:
        task: Any = importlib.import_module("nltk.metrics.agreement").AnnotationTask
        masi: Any = importlib.import_module("nltk.metrics").masi_distance
    except ImportError:
        yield Row(what + "nltk", other="not installed")
        return
    units = _by_unit(ratings)
    drawn = np.random.default_rng(1).integers(len(units), size=(n_loops, len(units)))
    found: list[float] = []

    def loop() -> None:
        found.extend(task(_redrawn(units, rows), distance=masi).alpha() for rows in drawn.tolist())

    taken = alternate({"nltk": loop}, rounds=1)["nltk"] / n_loops * N_REPLICATES
    yield at_least(
        f"{what}{N_REPLICATES:,} bootstrap replicates",
        ours=duration(ours),
        other=f"loop over nltk {version('nltk')}, from {n_loops} rounds: {duration(taken)}",
        ratio=taken / ours,
        bar=LOOP_BAR,
    )
    yield _same(what, alpha, drawn, found)


def _by_unit(ratings: data.Ratings) -> list[Triples]:
    units: dict[str, Triples] = {}
    for triple in ratings.triples():
        units.setdefault(triple[1], []).append(triple)
    return list(units.values())


def _redrawn(units: list[Triples], rows: list[int]) -> Triples:
    """Return the ratings of the drawn units; a unit drawn twice is two units."""
    return [
        (rater, f"{unit} in draw {k}", labels)
        for k, row in enumerate(rows)
        for rater, unit, labels in units[row]
    ]


def _same(what: str, alpha: sa.Agreement, drawn: Codes, theirs: list[float]) -> Row:
    """Return the row of the replicates: ours of the units that NLTK was given."""
    evaluate = UnitSums(alpha.case, COEFFICIENTS[alpha.coefficient].model).reweighted
    ours = evaluate(row_weights(drawn, *rows_of_units(alpha)))
    gap = float(np.abs(ours - theirs).max())
    return Row(
        f"{what}the same replicates as nltk",
        f"{ours[0]:.12f}",
        f"{theirs[0]:.12f}",
        f"differ by {gap:.1e}",
        f"<= {TOLERANCE:g}",
        gap <= TOLERANCE,
    )
