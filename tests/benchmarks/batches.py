"""Many studies, pairs, resamples or splits in one call: what they cost beside one alpha or NLTK.

Each case runs in fresh processes: with as many BLAS threads as BLAS likes, and with one. Run as
``python -m tests.benchmarks.batches CASE``, it prints the findings of one case as JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import setagree as sa
from tests.benchmarks import BLAS_THREADS, data
from tests.benchmarks.table import Row, duration
from tests.benchmarks.timing import alternate

ROOT = Path(__file__).resolve().parents[2]
_QUICK = 10
FEW_VALUES = data.Recipe(zipf=1.887, max_size=3)


class Case(NamedTuple):
    """What is measured, beside what, and the bar: a ratio, or seconds where there is no other.

    `calls` takes how many times smaller the sizes are to be, and `scales` says whether ours alone
    then takes less; `times` is what ours is multiplied by in any case.
    """

    what: str
    calls: Callable[[int], dict[str, Callable[[], object]]]
    other: str
    bar: float
    times: float = 1.0
    scales: bool = True


def batches(*, quick: bool) -> Iterator[Row]:
    """Time every case under default BLAS threads, and with one.

    Parameters
    ----------
    quick : bool
        Whether a tenth of the groups, resamples and splits is enough; times are scaled up.

    Yields
    ------
    Row
        The time, or its ratio to that of the other.
    """
    for name, case in CASES.items():
        for threads in ("default", "one"):
            best = _measured(name, threads, quick=quick)
            share = _QUICK if quick and case.scales else 1
            ours, other = best["ours"] * case.times * share, best.get("other")
            value = ours if other is None else ours / other
            yield Row(
                f"{case.what}, BLAS threads: {threads}",
                duration(ours),
                "" if other is None else f"{case.other}: {duration(other)}",
                duration(value) if other is None else f"{value:.2f}",
                f"<= {case.bar:g}" + (" s" if other is None else ""),
                value <= case.bar,
            )


def _measured(name: str, threads: str, *, quick: bool) -> dict[str, float]:
    """Return the processor seconds of ours, and of the other, in a fresh process."""
    command = [sys.executable, "-m", "tests.benchmarks.batches", name, str(int(quick))]
    environment = os.environ | {BLAS_THREADS: threads}
    if threads == "default":
        for each in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
            environment.pop(each, None)
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "the child died").splitlines()[-1])
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _groups(share: int) -> dict[str, Callable[[], object]]:
    ratings = data.simulate(200_000 // share, 3)
    triples = ratings.triples()
    study = sa.Annotations.from_triples(triples)
    group = {unit: int(unit[1:]) // 20 for unit in study.units}
    task = importlib.import_module("nltk.metrics.agreement").AnnotationTask
    masi = importlib.import_module("nltk.metrics").masi_distance
    by_group: dict[int, list[object]] = {}
    for triple in triples:
        by_group.setdefault(group[triple[1]], []).append(triple)
    return {
        "ours": lambda: sa.by_group(study, group),
        "other": lambda: [task(each, distance=masi).alpha() for each in by_group.values()],
    }


def _alpha(n_units: int, call: Callable[[sa.Agreement], object]) -> dict[str, Callable[[], object]]:
    """Return a call on an alpha, beside this alpha."""
    ratings = data.simulate(n_units, 3, recipe=FEW_VALUES)
    study = sa.Annotations.from_triples(ratings.triples())
    alpha = sa.krippendorff_alpha(study, distance="masi")
    return {
        "ours": lambda: call(alpha),
        "other": lambda: sa.krippendorff_alpha(study, distance="masi"),
    }


def _pairs(coefficient: str) -> dict[str, Callable[[], object]]:
    ratings = data.simulate(1_000, 200, recipe=data.Recipe(missing=0.5))
    study = sa.Annotations.from_triples(ratings.triples())
    return {"ours": lambda: sa.by_pair(study, coefficient=coefficient)}


def _splits(share: int) -> dict[str, Callable[[], object]]:
    study = sa.simulate(10_000, 6, n_labels=8, rng=1)
    return {"ours": lambda: sa.k_rater_reliability(study, k=3, n_splits=100 // share, rng=1)}


def _map(share: int) -> dict[str, Callable[[], object]]:
    ratings = data.simulate(500, 500, recipe=data.Recipe(missing=0.9))
    study = sa.Annotations.from_triples(ratings.triples())
    return {"ours": lambda: sa.rater_map(study, n_resamples=199 // share, rng=1)}


def _bootstrap(n_units: int, over: str) -> Callable[[int], dict[str, Callable[[], object]]]:
    def calls(share: int) -> dict[str, Callable[[], object]]:
        n = 2_000 // share
        return _alpha(n_units, lambda a: sa.bootstrap(a, n_resamples=n, over=over, rng=1))

    return calls


def _reshuffles(scheme: str) -> Callable[[int], dict[str, Callable[[], object]]]:
    def calls(share: int) -> dict[str, Callable[[], object]]:
        n = 2_000 // share
        return _alpha(1_000, lambda a: sa.permutation_test(a, n_resamples=n, scheme=scheme, rng=1))

    return calls


_ONE = "one alpha of a coded study"
CASES = {
    "groups": Case("by_group, 10,000 groups of 20 units", _groups, "nltk", 1.0, scales=False),
    "pairs": Case(
        "by_pair, 200 raters, 1,000 units half full, alpha",
        lambda _: _pairs("krippendorff_alpha"),
        "",
        3.0,
        scales=False,
    ),
    "units": Case(
        "bootstrap of units, 2,000 at 1e5 units", _bootstrap(100_000, "units"), _ONE, 60.0
    ),
    "both": Case("two-way bootstrap, 2,000 at 1e3 units", _bootstrap(1_000, "both"), _ONE, 120.0),
    **{
        scheme: Case(
            f"{scheme} reshuffles, 10,000 at 1e3 units (from 2,000)",
            _reshuffles(scheme),
            _ONE,
            650.0,
            5.0,
        )
        for scheme in ("pooled", "within_rater", "table")
    },
    "splits": Case("k_rater_reliability, 100 splits of 1e4 units", _splits, "", 1.0),
    "map": Case("rater_map, 500 raters, 199 reshuffles", _map, "", 8.0),
}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    case, is_quick = sys.argv[1:]
    share = _QUICK if int(is_quick) else 1
    print(json.dumps(alternate(CASES[case].calls(share), rounds=2 if share > 1 else 3)))
