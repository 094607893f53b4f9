"""How often tests reject a hypothesis that is true, at 0.05 and at 0.01."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

import setagree as sa
from setagree.coefficients.uncertain import welch_df
from setagree.inference.comparison import Difference
from setagree.study.sampling import Sampling
from tests.benchmarks.coverage.record import Found
from tests.benchmarks.coverage.worlds import (
    Codes,
    World,
    as_study,
    clustered,
    scored,
    slips,
    two_parts,
    unlike_raters,
)

Generator: TypeAlias = np.random.Generator
P: TypeAlias = dict[str, float]
"""The p of each test of one study."""

UNITS = (10, 20, 50, 200)
N_RESHUFFLES = 199
N_RESAMPLES = 399
N_DEALT = 99
A_CLUSTER = 5
"""Units of a cluster."""


@dataclass(frozen=True)
class Null:
    """Studies in which a hypothesis is true, and the tests of it.

    - what: A name in `TESTS`.
    """

    what: str
    n_units: int
    n_studies: int = 1_000
    suffix: str = ""

    @property
    def name(self) -> str:
        """What is tested, in how many units."""
        return f"null {self.what} units={self.n_units}{self.suffix}"

    def misses(self, found: Found) -> bool:
        """Say whether a test rejects more often than its level by two Monte-Carlo errors."""
        return any(
            found.size(test, level) > level + 2 * np.sqrt(level * (1 - level) / found.n)
            for test, level in product(self.promised(found), (0.05, 0.01))
        )

    def promised(self, found: Found) -> list[str]:
        """Return the tests that must keep their level: not those that rest on t of few units."""
        rough = self.what == "over_time" and self.n_units < 50
        return [test for test in found.results if test not in UNPROMISED and not rough]

    def p_values(self, generator: Generator) -> P:
        return TESTS[self.what](self.n_units, generator)

    def run(self, generator: Generator) -> Found:
        seen: dict[str, list[float]] = {}
        for _ in range(self.n_studies):
            for test, p in self.p_values(generator).items():
                seen.setdefault(test, []).append(p)
        results = {
            test: (
                float(np.isnan(p).sum()),
                *(float((np.array(p) <= level + 1e-9).sum()) for level in (0.05, 0.01)),
            )
            for test, p in seen.items()
        }
        return Found(self.n_studies, 0, results)


def _study(
    world: World, n: int, n_raters: int, generator: Generator, *, types: Codes | None = None
) -> sa.Annotations:
    if types is None:
        types = generator.choice(len(world.units), n, p=[unit.share for unit in world.units])
    raters = np.arange(n_raters)[None, None] % len(world.raters)
    return as_study(world.template, world.draw(types[None, :, None], raters, generator)[0])


def in_clusters(study: sa.Annotations, cluster: Codes) -> sa.Annotations:
    table = pd.DataFrame({"cluster": cluster}, index=pd.Index(study.units, name="unit"))
    return replace(study, unit_table=table, sampling=Sampling("cluster"))


def _permuted(world: World, study: sa.Annotations, scheme: Any, generator: Generator) -> P:
    """Return the p of reshuffles of each side, and of the t test that a table prints."""
    row = scored(world.template, study)
    found = sa.permutation_test(row, n_resamples=N_RESHUFFLES, scheme=scheme, rng=generator)
    both = replace(found, alternative="two-sided")
    return {"greater": found.p_value, "two-sided": both.p_value, "t of the table": p_of_t(row)}


def p_of_t(row: sa.Agreement) -> float:
    """Return the p of the t test, whatever the default."""
    return replace(row, requested_method="t").p_value


def _pooled(n: int, generator: Generator) -> P:
    """Reshuffle all answers, which anybody might have given to anything."""
    world = slips("nominal", "skewed", 0.0)
    return _permuted(world, _study(world, n, 3, generator), "pooled", generator)


def _within_rater(n: int, generator: Generator) -> P:
    """Reshuffle the answers of each rater, who has habits but sees nothing."""
    world = unlike_raters("nominal", "equal", 0.0, (-1.0, 0.0, 1.0))
    return _permuted(world, _study(world, n, 3, generator), "within_rater", generator)


def _table(n: int, generator: Generator) -> P:
    """Reshuffle all cells, of which a third is missing."""
    world = slips("nominal", "skewed", 0.0)
    study = _study(world, n, 3, generator)
    study = study.take(generator.random(study.n_ratings) >= 0.3)
    return _permuted(world, study, "table", generator)


def _clusters(n: int, generator: Generator) -> P:
    """Reshuffle over clusters what has nothing to do with clusters."""
    world = slips("nominal", "skewed", 0.0)
    study = in_clusters(_study(world, n, 3, generator), np.arange(n) // A_CLUSTER)
    return _permuted(world, study, "pooled", generator)


def _within_cluster(n: int, generator: Generator) -> P:
    """Reshuffle inside clusters that lean, in which units do not differ."""
    world = _leaning()
    cluster = np.arange(n) // A_CLUSTER
    types = generator.integers(len(world.units), size=n)[cluster]
    study = in_clusters(_study(world, n, 3, generator, types=types), cluster)
    return _permuted(world, study, "within_cluster", generator)


def _leaning() -> World:
    world = clustered("nominal", 0.4)
    return replace(world, units=tuple(replace(unit, skill=0.0) for unit in world.units))


def _compared(one: sa.Agreement, two: sa.Agreement, design: Any, generator: Generator) -> P:
    def p(method: Literal["linearised", "bootstrap"]) -> float:
        found = sa.compare(
            one, two, design=design, method=method, n_resamples=N_RESAMPLES, rng=generator
        )
        return found.p_value

    return {"linearised": p("linearised"), "bootstrap": p("bootstrap")}


def _two_panels(n: int, generator: Generator, *, alike: bool = True) -> list[sa.Annotations]:
    """Return two panels of three raters, on the same units or on others; some units are hard."""
    world = two_parts("nominal", 0.5)
    types = generator.choice(2, (2, n), p=[unit.share for unit in world.units])
    if not alike:
        return [_study(world, n, 3, generator, types=one) for one in types]
    codes = world.draw(types[:1, :, None], np.zeros((1, 1, 6), dtype=np.int64), generator)[0]
    return [as_study(world.template, some) for some in (codes[:, :3], codes[:, 3:])]


def _independent(n: int, generator: Generator) -> P:
    """Compare panels on units of their own."""
    template = two_parts("nominal", 0.5).template
    one, two = (scored(template, s) for s in _two_panels(n, generator, alike=False))
    return _compared(one, two, "independent", generator)


def _same_units(n: int, generator: Generator) -> P:
    template = two_parts("nominal", 0.5).template
    one, two = (scored(template, study) for study in _two_panels(n, generator))
    return _compared(one, two, "same_units", generator)


def _shared_units(n: int, generator: Generator) -> P:
    """Compare panels that share n units, and have a third as many of their own each."""
    template = two_parts("nominal", 0.5).template
    more = n // 3
    one, two = _two_panels(n + 2 * more, generator)
    one = one.take(one.unit_codes < n + more)
    two = two.take(two.unit_codes >= more)
    return _compared(scored(template, one), scored(template, two), "shared_units", generator)


def _same_clusters(n: int, generator: Generator) -> P:
    """Compare panels on the same units in clusters of five, of which some are hard."""
    world = clustered("nominal", 0.5)
    cluster = np.arange(n) // A_CLUSTER
    types = generator.integers(len(world.units), size=n)[cluster]
    codes = world.draw(types[None, :, None], np.zeros((1, 1, 6), dtype=np.int64), generator)[0]
    studies = [in_clusters(as_study(world.template, c), cluster) for c in np.split(codes, 2, 1)]
    one, two = (scored(world.template, study) for study in studies)
    return _compared(one, two, "same_units", generator)


def _groups(n: int, generator: Generator) -> P:
    """Compare batches, two and five of them."""
    study = _study(two_parts("nominal", 0.5), n, 3, generator)
    found = {}
    for n_groups in (2, 5):
        by = {unit: k % n_groups for k, unit in enumerate(study.units)}
        frame = sa.by_group(study, by, n_resamples=N_RESHUFFLES, rng=generator)
        found[f"{n_groups} groups"] = float(frame["homogeneity_p_value"].iloc[0])
        found[f"one of {n_groups}"] = float(frame["difference_p_value"].iloc[0])
    return found


def _skewed_groups(n: int, generator: Generator) -> P:
    """Compare a fifth of the units with the others, where one label has 80% of the answers.

    Beside the test of `by_group` stands Welch's t on the standard errors.
    """
    world = slips("nominal", "skewed", 0.5)
    study = _study(world, n, 3, generator)
    is_one = study.unit_codes % 5 == 0
    by = {unit: k % 5 == 0 for k, unit in enumerate(study.units)}
    frame = sa.by_group(study, by, distance="nominal", n_resamples=N_RESHUFFLES, rng=generator)
    parts = [scored(world.template, study.take(rows)) for rows in (is_one, ~is_one)]
    welch = np.nan
    if all(part.standard_error > 0 for part in parts):
        errors = [part.standard_error for part in parts]
        df = welch_df([x**2 for x in errors], [part.degrees_of_freedom for part in parts])
        gap = parts[0].estimate - parts[1].estimate
        welch = Difference(gap, float(np.hypot(*errors)), df).p_value
    return {"one of 5": float(frame["difference_p_value"].iloc[0]), WELCH: welch}


def _dealing(n: int, generator: Generator) -> P:
    """Compare two groups of four raters who are all alike."""
    study = _study(two_parts("nominal", 0.5), n, 8, generator)
    by = {rater: int(k >= 4) for k, rater in enumerate(study.raters)}
    frame = sa.by_group(study, by, n_resamples=N_RESHUFFLES, rng=generator)
    return {"dealing": float(frame["permutation_p_value"].iloc[0])}


def _windows(n: int, generator: Generator) -> P:
    """Look for the truth in the intervals of ten windows of n units, none of which differs."""
    world = two_parts("nominal", 0.5)
    study = _study(world, 10 * n, 3, generator)
    at = {unit: k for k, unit in enumerate(study.units)}
    ends = {
        p: sa.over_time(study, at, window=n, level=1 - p)[["low", "high"]].to_numpy().T
        for p in (0.05, 0.01)
    }
    missed = {p: (low > world.alpha) | (high < world.alpha) for p, (low, high) in ends.items()}

    def level(which: Callable[[Any], Any]) -> float:
        return next((p for p in (0.01, 0.05) if which(missed[p])), 1.0)

    return {"the first of 10 windows": level(lambda x: x[0]), "any of 10 windows": level(np.any)}


def _map(n: int, generator: Generator) -> P:
    """Look for clusters among eight raters who are all alike."""
    study = _study(two_parts("nominal", 0.5), n, 8, generator)
    return {"clusters": sa.rater_map(study, n_resamples=N_DEALT, rng=generator).p_value}


def _alt(n: int, generator: Generator) -> P:
    """Ask whether a model is better than humans (epsilon 0) that is just as good."""
    study = _study(two_parts("nominal", 0.5), n, 4, generator)
    found = sa.alt_test(study, model="r3", epsilon=0.0, min_units=2)["r3"]
    frame = found.to_frame()
    strict = sa.alt_test(study, model="r3", epsilon=0.0, min_units=2, q=0.01)["r3"]
    passed = 0.01 if strict.winning_rate >= 0.5 else 0.05 if found.winning_rate >= 0.5 else 1.0
    return {"one human": float(frame["p_value"].iloc[0]), "verdict": passed}


WELCH = "Welch's t"
UNPROMISED = ("t of the table", "any of 10 windows", WELCH)
"""The published test of a table, what looks in many places, and what is too rough where groups are
small: these are shown as they come.
"""

TESTS: dict[str, Callable[[int, Generator], P]] = {
    "permutation pooled": _pooled,
    "permutation within_rater": _within_rater,
    "permutation table": _table,
    "permutation over clusters": _clusters,
    "permutation within_cluster": _within_cluster,
    "compare independent": _independent,
    "compare same_units": _same_units,
    "compare shared_units": _shared_units,
    "compare same_units clustered": _same_clusters,
    "by_group units": _groups,
    "by_group skewed": _skewed_groups,
    "by_group raters": _dealing,
    "over_time": _windows,
    "rater_map": _map,
    "alt_test": _alt,
}
"""What is tested, by name."""


def null_cells() -> Iterator[Null]:
    for what, n_units in product(TESTS, UNITS):
        if what != "rater_map":
            yield Null(what, n_units, 500)
    for n_units in UNITS[1::2]:  # a hundred reshuffles of eight raters take a tenth of a second
        yield Null("rater_map", n_units, 250)
