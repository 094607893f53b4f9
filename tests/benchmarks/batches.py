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
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import setagree as sa
from tests.benchmarks import BLAS_THREADS, data, memory
from tests.benchmarks.table import Row, duration, megabytes
from tests.benchmarks.timing import alternate

ROOT = Path(__file__).resolve().parents[2]
_QUICK = 10
_TIMES = 100
FEW_VALUES = data.Recipe(zipf=1.887, max_size=3)


class Case(NamedTuple):
    """What is measured, beside what, and the bar: a ratio, or seconds where there is no other.

    `calls` takes how many times smaller the sizes are to be, and `scales` says whether ours alone
    then takes less; `times` is what ours is multiplied by in any case. A promise is kept by
    `or_seconds`, too. `most_bytes` is the bar of the memory that a call adds, where there is one.
    """

    what: str
    calls: Callable[[int], dict[str, Callable[[], object]]]
    other: str
    bar: float | None
    times: float = 1.0
    scales: bool = True
    or_seconds: float = 0.0
    most_bytes: float = 0.0


def batches(*, quick: bool) -> Iterator[Row]:
    """Time every case under default BLAS threads, and with one."""
    for name, case in CASES.items():
        for threads in ("default", "one"):
            best = _measured(name, threads, quick=quick)
            share = _QUICK if quick and case.scales else 1
            ours, other = best["ours"] * case.times * share, best.get("other")
            yield _row(case, threads, ours, other)
            if "peak" in best:
                said = f"{case.what}, memory, BLAS threads: {threads}"
                bar, holds = f"<= {megabytes(case.most_bytes)}", best["peak"] <= case.most_bytes
                yield Row(said, megabytes(best["peak"]), bar=bar, holds=holds)


def _row(case: Case, threads: str, ours: float, other: float | None) -> Row:
    """Return the row of the time, beside that of the other where there is one."""
    value = ours if other is None else ours / other
    bar, holds = "", None
    if case.bar is not None:
        bar = f"<= {case.bar:g}" if other is not None else f"<= {duration(case.bar)}"
        holds = value <= case.bar or ours <= case.or_seconds
    if case.or_seconds:
        bar += f" or <= {duration(case.or_seconds)}"
    return Row(
        f"{case.what}, BLAS threads: {threads}",
        duration(ours),
        "" if other is None else f"{case.other}: {duration(other)}",
        duration(value) if other is None else f"{value:.2f}",
        bar,
        holds,
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


def _few_groups(share: int) -> dict[str, Callable[[], object]]:
    ratings = data.simulate(100_000 // share, 5)
    study = sa.Annotations.from_triples(ratings.triples())
    group = {unit: k % 99 for k, unit in enumerate(study.units)}
    return {"ours": lambda: sa.by_group(study, group)}


def _scalars() -> dict[str, Callable[[], object]]:
    """Return a call on a hundred fresh studies of numbers, and on as many tables of the other."""
    values = np.random.default_rng(1).integers(1, 6, size=(3, 100)).astype(float)
    study = sa.Annotations.from_wide(pd.DataFrame(values.T), kind="value")
    alpha = importlib.import_module("krippendorff").alpha
    return {
        "ours": lambda: [
            sa.krippendorff_alpha(replace(study), distance="interval") for _ in range(_TIMES)
        ],
        "other": lambda: [
            alpha(reliability_data=values, level_of_measurement="interval") for _ in range(_TIMES)
        ],
    }


def _many_units(share: int) -> dict[str, Callable[[], object]]:
    """Return a bootstrap of a tally of 1e8 units in the patterns of 1e5."""
    ratings = data.simulate(100_000, 3, recipe=FEW_VALUES)
    tally = sa.krippendorff_alpha(sa.Annotations.from_triples(ratings.triples())).tally
    times = tally.multiplicity * 1_000
    alpha = sa.krippendorff_alpha(
        replace(tally, multiplicity=times, units=None, unit_patterns=None), distance="masi"
    )
    return {"ours": lambda: sa.bootstrap(alpha, n_resamples=2_000 // share, rng=1)}


def _on_study(n_units: int, name: str) -> dict[str, Callable[[], object]]:
    """Return a function of a study by name, beside one alpha of it."""
    study = sa.Annotations.from_triples(data.simulate(n_units, 3).triples())
    return {
        "ours": lambda: getattr(sa, name)(study),
        "other": lambda: sa.krippendorff_alpha(study, distance="masi"),
    }


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


def _reshuffles(
    scheme: str, *, n_units: int = 1_000, n: int = 2_000, beside: bool = True
) -> Callable[[int], dict[str, Callable[[], object]]]:
    def calls(share: int) -> dict[str, Callable[[], object]]:
        options = {"n_resamples": n // share, "scheme": scheme, "rng": 1}
        found = _alpha(n_units, lambda a: sa.permutation_test(a, **options))
        return found if beside else {"ours": found["ours"]}

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
        most_bytes=500e6,
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
    "large_pooled": Case(
        "one pooled reshuffle at 1e5 units (from 100)",
        _reshuffles("pooled", n_units=100_000, n=100, beside=False),
        "",
        0.01,
        0.01,
    ),
    "pooled_tests": Case(
        "pooled reshuffles, 9,999 at 1e4 units (from 1,000)",
        _reshuffles("pooled", n_units=10_000, n=1_000),
        _ONE,
        450.0,
        9.999,
    ),
    "what_if": Case(
        "what_if, 1e4 units", lambda _: _on_study(10_000, "what_if"), _ONE, 70.0, scales=False
    ),
    "by_unit": Case(
        "by_unit, 1e5 units", lambda _: _on_study(100_000, "by_unit"), _ONE, 8.0, scales=False
    ),
    "few_groups": Case("by_group, 99 groups of 1e5 units x 5", _few_groups, "", 2.0),
    "scalars": Case(
        "alpha of 100 units of numbers, fresh (a hundred times)",
        lambda _: _scalars(),
        "krippendorff",
        2.0,
        scales=False,
        or_seconds=0.3e-3 * _TIMES,
    ),
    "many_units": Case(
        "bootstrap of units, 2,000 at 1e8 units", _many_units, "", None, most_bytes=300e6
    ),
    "splits": Case("k_rater_reliability, 100 splits of 1e4 units", _splits, "", 1.0),
    "map": Case("rater_map, 500 raters, 199 reshuffles", _map, "", 8.0),
}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    name, is_quick = sys.argv[1:]
    share = _QUICK if int(is_quick) else 1
    calls = CASES[name].calls(share)
    best = alternate(calls, rounds=2 if share > 1 else 5)
    if CASES[name].most_bytes and memory.available():
        memory.settle()
        before = memory.resident()
        best["peak"] = memory.high_water(calls["ours"]) - before
    print(json.dumps(best))
