"""Worlds whose true agreement is known: types of units and of raters, and what raters answer.

A unit has a type, and with it an urn for each question: one question with four answers (nominal),
or five labels that may apply (label sets). A rater knows the true answer to a question with a
probability that belongs to the rater and the type of the unit, and otherwise draws from the urn,
which a habit may tilt. The distribution of two raters' answers is enumerated, so that the alpha of
the world is exact, with any distance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property, reduce
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

import setagree as sa
from setagree.scoring.scorer import score_part

Floats: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[np.integer[Any]]
Urns: TypeAlias = tuple[tuple[float, ...], ...]
"""The shares of the answers to each question."""


def _sets(*prevalences: float) -> Urns:
    return tuple((1 - p, p) for p in prevalences)


URNS: dict[tuple[str, str], Urns] = {
    ("nominal", "equal"): ((0.25, 0.25, 0.25, 0.25),),
    ("nominal", "skewed"): ((0.80, 0.12, 0.05, 0.03),),
    ("nominal", "rare"): ((0.94, 0.03, 0.02, 0.01),),
    ("masi", "equal"): _sets(0.3, 0.3, 0.3, 0.3, 0.3),
    ("masi", "skewed"): _sets(0.6, 0.25, 0.10, 0.05, 0.02),
    ("masi", "rare"): _sets(0.06, 0.03, 0.02, 0.01, 0.01),
}
"""By distance and by how often answers are."""


@dataclass(frozen=True)
class Units:
    """A type of units: its share, how well it is known, and its urns."""

    share: float
    skill: float
    urns: Urns


@dataclass(frozen=True)
class Raters:
    """A type of raters: its share, how well it knows, and how far it tilts the urns.

    A tilt of h multiplies the odds of the last answer to a question against the first by exp(h).
    """

    share: float
    skill: float = 1.0
    tilt: float = 0.0


ALIKE = (Raters(1.0),)


@dataclass(frozen=True)
class World:
    """What studies are drawn from.

    - crowd: The raters are these many, in equal parts of each type, instead of a population.
    """

    distance: str
    units: tuple[Units, ...]
    raters: tuple[Raters, ...] = ALIKE
    crowd: int | None = None

    @property
    def alpha(self) -> float:
        """1 - Do / De of endless units, and of endless raters where they are no crowd."""
        D = self.distances
        m = np.array([rater.share for rater in self.raters])
        pairs = np.outer(m, m)
        if self.crowd is not None:  # nobody is paired with himself
            pairs = (self.crowd * pairs - np.diag(m)) / (self.crowd - 1)
        both = sum(
            unit.share * pairs[g, h] * joint(unit, one, two)
            for unit in self.units
            for (g, one), (h, two) in product(enumerate(self.raters), repeat=2)
        )
        pi = np.asarray(both).sum(axis=0)
        return float(1 - (both * D).sum() / (pi @ D @ pi))

    @property
    def distances(self) -> Floats:
        """How far all possible answers are apart, of shape (values, values)."""
        return distances(self.distance, tuple(map(len, self.units[0].urns)))

    @cached_property
    def template(self) -> sa.Agreement:
        """A study in which every possible answer occurs; its weights serve all studies."""
        return _template(self.distance, tuple(map(len, self.units[0].urns)))

    def draw(
        self, types: Codes, raters: Codes, generator: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Return answers as codes.

        `types` has the type of each unit, of shape (B, n, 1), `raters` that of each rater, of a
        shape that fits (B, n, R).
        """
        shape = np.broadcast_shapes(types.shape, raters.shape)
        skill = np.array([u.skill for u in self.units])[types]
        skill = skill * np.array([g.skill for g in self.raters])[raters]
        codes = np.zeros(shape, dtype=np.int64)
        for q, answers in enumerate(map(len, self.units[0].urns)):
            urn = np.array([unit.urns[q] for unit in self.units])
            truth = _drawn(urn[types], generator, types.shape)
            tilted = np.array(
                [
                    [_tilted(unit.urns[q], rater.tilt) for rater in self.raters]
                    for unit in self.units
                ]
            )
            guess = _drawn(tilted[types, raters], generator, shape)
            knows = generator.random(shape) < skill
            codes = codes * answers + np.where(knows, truth, guess)
        return codes


def _drawn(shares: Floats, generator: np.random.Generator, shape: tuple[int, ...]) -> Codes:
    """Return a draw from each of the urns whose shares are the last axis."""
    edges = np.cumsum(shares, axis=-1)[..., :-1]
    u = generator.random(shape)
    return np.asarray(sum((u >= edges[..., k]).astype(np.int64) for k in range(edges.shape[-1])))


def _tilted(urn: tuple[float, ...], tilt: float) -> Floats:
    shares = np.array(urn) * np.exp(tilt * np.linspace(0, 1, len(urn)))
    return np.asarray(shares / shares.sum())


def joint(unit: Units, one: Raters, two: Raters) -> Floats:
    """Return how likely each pair of answers is, of shape (values, values)."""
    each = []
    for urn in unit.urns:
        p, a, b = np.array(urn), unit.skill * one.skill, unit.skill * two.skill
        knowing = [
            skill * np.eye(len(p)) + (1 - skill) * _tilted(urn, rater.tilt)
            for skill, rater in ((a, one), (b, two))
        ]
        each.append(np.einsum("t,ta,tb->ab", p, *knowing))
    return reduce(np.kron, each)


@cache
def _values(distance: str, sizes: tuple[int, ...]) -> tuple[Any, ...]:
    answers = product(*map(range, sizes))
    if distance == "nominal":
        return tuple("abcd"[answer[0]] for answer in answers)
    return tuple(frozenset(f"l{k}" for k, flag in enumerate(answer) if flag) for answer in answers)


@cache
def distances(name: str, sizes: tuple[int, ...]) -> Floats:
    """Return the distances of all possible answers, of shape (values, values)."""
    values = _values(name, sizes)
    if name == "nominal":
        return 1.0 - np.eye(len(values))
    d: Callable[[Any, Any], float] = getattr(sa.distances, name)
    return np.array([[d(A, B) for B in values] for A in values])


@cache
def _template(distance: str, sizes: tuple[int, ...]) -> sa.Agreement:
    values = _values(distance, sizes)
    n = len(values)
    codes = np.concatenate([np.arange(n), np.roll(np.arange(n), 1)])
    study = sa.Annotations(
        "category" if distance == "nominal" else "labels",
        np.arange(n).astype(object),
        np.array(["r0", "r1"], dtype=object),
        values,
        np.tile(np.arange(n), 2),
        np.repeat([0, 1], n),
        codes,
    )
    return sa.krippendorff_alpha(study, distance=distance)


def as_study(
    template: sa.Agreement,
    codes: Codes,
    given: npt.NDArray[np.bool_] | None = None,
    raters: Codes | None = None,
    n_raters: int | None = None,
) -> sa.Annotations:
    """Return the study of coded answers of shape (n, R).

    `given` says which of them exist, `raters` who gave them where that is not the column.
    """
    n, R = codes.shape
    if raters is None:
        raters, n_raters = np.broadcast_to(np.arange(R), (n, R)), R
    if given is None:
        given = np.ones((n, R), dtype=bool)
    rows, columns = np.nonzero(given)
    units, unit_codes = np.unique(rows, return_inverse=True)
    names = np.array([f"r{g}" for g in range(int(n_raters or 0))], dtype=object)
    answers = codes[rows, columns]
    study = template.study
    assert study is not None
    return replace(
        study,
        units=units.astype(object),
        raters=names,
        unit_codes=unit_codes,
        rater_codes=raters[rows, columns],
        value_codes=answers,
    )


def scored(template: sa.Agreement, study: sa.Annotations) -> sa.Agreement:
    """Return alpha of a study with the weights of the template, a hundred times quicker."""
    return score_part(template, study)


def solved(make: Callable[[float], World], alpha: float, most: float = 1.0) -> World:
    """Return the world of a family, ordered by a number from 0 to `most`, that has this alpha."""
    if alpha == 0:
        return make(0.0)
    found = brentq(lambda x: make(x).alpha - alpha, 0.0, most, xtol=1e-13)
    return make(float(found))


@cache
def slips(distance: str, labels: str, alpha: float) -> World:
    """Return a world of units that are all alike, in which raters slip now and then."""
    urns = URNS[distance, labels]
    return solved(lambda x: World(distance, (Units(1.0, x, urns),)), alpha)


@cache
def hard_units(distance: str, labels: str, alpha: float) -> World:
    """Return a world of units that everybody knows, and of units that everybody guesses."""
    urns = URNS[distance, labels]
    hard = 1 - alpha
    return World(distance, (Units(1 - hard, 1.0, urns), Units(hard, 0.0, urns)))


@cache
def dominated(
    alpha: float, others: float, *, guessed: bool, shares: tuple[float, ...] = (0.5, 0.33, 0.17)
) -> World:
    """Return a world of one answer and of others that share what is left.

    Raters slip now and then; or units are known by all or guessed by all.
    """
    urns = ((1 - others, *(share * others for share in shares)),)
    if guessed:
        return World("nominal", (Units(alpha, 1.0, urns), Units(1 - alpha, 0.0, urns)))
    return solved(lambda x: World("nominal", (Units(1.0, x, urns),)), alpha)


SKILLS = (0.4, 0.7, 1.0, 1.5, 2.5)
"""Powers to which the skill of raters is raised that differ."""


@cache
def unlike_raters(
    distance: str, labels: str, alpha: float, tilts: tuple[float, ...], crowd: int | None = None
) -> World:
    """Return a world of raters who differ in skill, and in their habits where tilts do."""
    urns = URNS[distance, labels]

    def make(x: float) -> World:
        types = [*product(SKILLS, tilts)]
        people = tuple(Raters(1 / len(types), x**power, tilt) for power, tilt in types)
        return World(distance, (Units(1.0, 1.0, urns),), people, crowd)

    return solved(make, alpha)


LEANING = 2.0
"""By how much the odds of answers differ between the clusters that lean one way and the other."""


@cache
def clustered(distance: str, alpha: float) -> World:
    """Return a world of four types of clusters: which answers are likely, and how hard they are."""

    def make(x: float) -> World:
        types = [
            Units(0.25, x**power, tuple(tuple(_tilted(u, tilt)) for u in URNS[distance, "equal"]))
            for power, tilt in product((0.3, 1.7), (-LEANING, LEANING))
        ]
        return World(distance, tuple(types))

    return solved(make, alpha)


@cache
def two_parts(distance: str, alpha: float, hard: float = 0.25) -> World:
    """Return a world with a share of harder units, which have other answers, too."""
    urns = URNS[distance, "equal"]

    def make(x: float) -> World:
        other = tuple(tuple(_tilted(urn, 1.0)) for urn in urns)
        return World(distance, (Units(1 - hard, x**0.4, urns), Units(hard, x**3, other)))

    return solved(make, alpha)
