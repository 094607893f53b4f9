"""Tests of a model in the place of a human: how often a model passes that should not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from itertools import product
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtr

import setagree as sa
from setagree.errors import DataError, OptionError
from setagree.panels.noninferiority import FEW_LOST, FEW_UNITS
from tests.benchmarks.coverage.batch import Studies, counted
from tests.benchmarks.coverage.intervals import CHECKED, drawn_types
from tests.benchmarks.coverage.worlds import (
    URNS,
    Codes,
    Floats,
    Raters,
    Units,
    World,
    as_study,
    solved,
)
from tests.benchmarks.decisions.cells import (
    MOST,
    Decisions,
    Flags,
    Generator,
    Seen,
    in_batches,
    rejected,
)

MARGIN = 0.1
UNITS = (30, 50, 100, 200)
MISSED = 0.4
EXPERT, OTHERS = 1.0, 0.6
"""How well the best human knows, and the others, where one is better."""

MEAN, ALL, SAME, ANY = "mean", "all", "equivalence", "any of 3 models"


@cache
def world_of(distance: str, labels: str, units: str, humans: str, alpha: float) -> World:
    """Return humans, the first of whom may be better than the others; and no model yet.

    `units` says whether all are alike, or a quarter of them are hard.
    """
    urns = URNS[distance, labels]
    kinds = (Units(1.0, 1.0, urns),)
    if units == "hard":
        kinds = (Units(0.75, 1.0, urns), Units(0.25, 0.3, urns))
    if humans == "expert":
        return World(distance, kinds, (Raters(0.5, EXPERT), Raters(0.5, OTHERS)))
    world = solved(lambda x: World(distance, kinds, (Raters(1.0, x),)), alpha)
    return replace(world, raters=2 * world.raters)


def _pair(world: World, one: float, two: float) -> float:
    """Return the alpha of two raters, who have the same habits as all others."""
    both = (Raters(0.5, one), Raters(0.5, two))
    return replace(world, raters=both, crowd=2).alpha


@cache
def with_model(world: World, n_humans: int, change: float) -> World:
    """Return the world with a model that changes agreement so much in the place of the first.

    All raters answer alike often, so that the change is the alpha of the model with the other
    humans less that of the first human, whatever is missing.
    """
    first, other = (rater.skill for rater in world.raters)
    wanted = _pair(world, first, other) + change
    skill = brentq(lambda x: _pair(world, x, other) - wanted, 0.0, 1.0, xtol=1e-12)
    people = (world.raters[0], *[world.raters[1]] * (n_humans - 1), Raters(1.0, float(skill)))
    return replace(world, raters=people)


@dataclass(frozen=True)
class Models(Decisions):
    """Models that are worse (or better) than a human by exactly the margin.

    - humans: Whether one is better than the others, and the model at the margin in that place
      alone.
    - alpha: Of humans who are alike.
    - change: What the model changes in the place of the first human, or of every human.
    - n_models: Models that are all alike.
    - complete: Whether answers of humans alone are missing.
    """

    distance: str
    labels: str
    units: str
    humans: str
    alpha: float
    change: float
    n_humans: int
    n_units: int
    missing: float = 0.0
    n_models: int = 1
    n_studies: int = field(default=4_000, kw_only=True)
    complete: bool = field(default=False, kw_only=True)

    family: ClassVar[str] = "models"

    @property
    def name(self) -> str:
        named = super().name  # the seed of a cell, so that those of before keep theirs
        return named.replace(" n_models=", " complete n_models=") if self.complete else named

    @property
    def promised(self) -> dict[str, float]:
        """The size of all tests where no warning says that they do not hold."""
        # In the place of a human who is better than the others the model's few errors are skewed.
        least = FEW_LOST["all" if self.humans == "expert" else "mean"]
        return dict.fromkeys(self.tests, MOST) if self.worth >= least else {}

    @property
    def worth(self) -> float:
        """How many units in which the model alone is wrong the margin is worth."""
        world = world_of(self.distance, self.labels, self.units, self.humans, self.alpha)
        pi = reduce(np.kron, map(np.array, world.units[0].urns))
        De = float(pi @ world.distances @ pi)
        answered = 1 - self.missing
        shared = self.n_units * answered * (1.0 if self.complete else answered)
        return MARGIN * De * shared if shared >= FEW_UNITS else 0.0

    @property
    def tests(self) -> tuple[str, ...]:
        if self.n_models > 1:
            return (ANY,)
        if self.humans == "expert":
            return (ALL,)
        return (SAME,) if self.change > 0 else (MEAN, SAME)

    def seen(self, generator: Generator) -> Iterator[Seen]:
        people = world_of(self.distance, self.labels, self.units, self.humans, self.alpha)
        world = with_model(people, self.n_humans, self.change)
        raters = np.array([*range(self.n_humans), *[self.n_humans] * self.n_models])
        for start, n in enumerate(in_batches(self.n_studies)):
            types = drawn_types(world, (n, self.n_units, 1), generator)
            codes = world.draw(types, raters[None, None], generator)
            given = generator.random(codes.shape) >= self.missing
            given[..., self.n_humans :] |= self.complete
            p = self.batched(codes, given, world.distances)
            if not start:
                for k in range(min(n, CHECKED)):
                    self._check(
                        as_study(world.template, codes[k], given[k]), {t: p[t][k] for t in p}
                    )
            for k in range(n):
                yield {test: rejected(p[test][k]) for test in self.tests}

    def batched(self, codes: Codes, given: Flags, D: Floats) -> dict[str, Floats]:
        """Return the p of each test in many studies, answers of shape (B, n, raters)."""
        H = self.n_humans
        with np.errstate(divide="ignore", invalid="ignore"):
            alpha = Studies.of(counted(codes[..., :H], given[..., :H], len(D)), D).alpha
            found = []
            for m in range(H, codes.shape[2]):
                who = [*range(H), m]
                found.append(
                    _p_values([_change(codes[..., who], given[..., who], h, D) for h in range(H)])
                )
        refused = ~(alpha > MARGIN)
        each = {test: np.array([one[test] for one in found]) for test in found[0]}
        each |= {ANY: np.minimum(1, self.n_models * each[MEAN])}  # of Holm the smallest
        return {test: np.where(refused, np.nan, p.min(axis=0)) for test, p in each.items()}

    def _check(self, study: sa.Annotations, ours: dict[str, float]) -> None:
        models = [f"r{g}" for g in range(self.n_humans, self.n_humans + self.n_models)]
        p = dict.fromkeys(ours, np.nan)
        try:
            found = sa.noninferiority_test(
                study, model=models, margin=MARGIN, distance=self.distance
            )
        except (DataError, OptionError):  # by luck the humans agree by less than the margin
            pass
        else:
            row = found[models[0]]
            p[ANY] = min(one.p_holm for one in found)
            if self.n_models == 1:
                p[MEAN], p[ALL] = row.p_value, replace(row, against="all").p_value
                p[SAME] = replace(row, equivalence=True).p_value
        for test in self.tests:
            if not np.isclose(ours[test], p[test], rtol=0, atol=1e-9, equal_nan=True):
                raise AssertionError(f"{self.name}, {test}: {ours[test]} and {p[test]}")


class _Changed(NamedTuple):
    """What changes in B studies in the place of a human: Delta, the units' parts, which count."""

    change: Floats
    psi: Floats
    used: Flags


def _change(codes: Codes, given: Flags, h: int, D: Floats) -> _Changed:
    """Replace human h by the model, which is the last rater, where both answered."""
    replaced, kept = codes[..., :-1].copy(), given[..., :-1].copy()
    kept[..., h] &= given[..., -1]
    replaced[..., h] = codes[..., -1]
    before, after = (
        Studies.of(counted(one, kept, len(D)), D) for one in (codes[..., :-1], replaced)
    )
    scale = before.N / 2 / (kept[..., h] & before.used).sum(axis=1)
    change = scale * (after.alpha - before.alpha)
    d = before.centred(scale[:, None] * (after.linearised - before.linearised))
    psi = d / np.sqrt(before.n * (before.n - 1))[:, None]
    psi[np.abs(psi) < 1e-12] = 0
    known = np.isfinite(change)[:, None]
    return _Changed(change, np.where(known, psi, 0), before.used & known)


def _p_values(changes: list[_Changed]) -> dict[str, Floats]:
    each = np.array([one.change for one in changes])
    errors = np.array([np.sqrt((one.psi**2).sum(axis=1)) for one in changes])
    df = np.array([one.used.sum(axis=1) - 1 for one in changes])
    skew = np.array([(one.psi**3).sum(axis=1) for one in changes]) / errors**3
    T = (each + MARGIN) / errors
    p = np.maximum(stdtr(df, -T), stdtr(df, -_hall(T, skew)))
    p = np.where(errors > 0, p, np.nan)
    psi = sum(one.psi for one in changes) / np.isfinite(each).sum(axis=0)[:, None]
    units = np.any([one.used for one in changes], axis=0).sum(axis=1)
    mean, error = np.nanmean(each, axis=0), np.sqrt((psi**2).sum(axis=1))
    k = (psi**3).sum(axis=1) / error**3

    def tail(margin: float) -> Floats:
        return np.asarray(stdtr(units - 1, -_hall((mean + margin) / error, k)))

    below = np.where(error > 0, tail(MARGIN), np.nan)
    return {MEAN: below, ALL: p.max(axis=0), SAME: np.maximum(below, 1 - tail(-MARGIN))}


def _hall(T: Floats, k: Floats) -> Floats:
    """Return T corrected for the skewness k (Hall 1992)."""
    return T + k * T**2 / 3 + k**2 * T**3 / 27 + k / 6


def model_cells() -> Iterator[Models]:
    both = (("nominal", "skewed"), ("masi", "equal"))
    for n, answers, H, missing in product(UNITS, both, (3, 5), (0.0, MISSED)):
        for alpha in (0.5, 0.8):
            yield Models(*answers, "alike", "alike", alpha, -MARGIN, H, n, missing)
            if missing:
                yield Models(
                    *answers, "alike", "alike", alpha, -MARGIN, H, n, missing, complete=True
                )
    for n, (distance, labels), missing in product(UNITS, both, (0.0, MISSED)):
        yield Models(distance, labels, "hard", "alike", 0.5, -MARGIN, 3, n, missing)
        yield Models(distance, "equal", "alike", "expert", 0.5, -MARGIN, 3, n, missing)
        yield Models(distance, labels, "alike", "alike", 0.5, MARGIN, 3, n, missing)
        yield Models(distance, labels, "alike", "alike", 0.5, -MARGIN, 3, n, missing, 3)
