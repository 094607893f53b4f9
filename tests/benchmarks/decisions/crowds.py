"""Consensus of a crowd: how often answers are right, in all units and where confidence is high."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np

import setagree as sa
from tests.benchmarks.coverage.worlds import Codes
from tests.benchmarks.decisions.cells import Decisions, Generator, Seen

DENSE, TEN, FIVE, POOR, SPAM = "dense", "10 answers", "5 answers", "poor raters", "spammers"
CROWDS = {
    DENSE: (150, 0.5, 0.95, 0.0),
    TEN: (10, 0.5, 0.95, 0.0),
    FIVE: (5, 0.5, 0.95, 0.0),
    POOR: (30, 0.1, 0.6, 0.0),
    SPAM: (30, 0.5, 0.95, 0.4),
}
"""Answers per rater, least and largest skill, and the share of raters without skill."""
RATINGS = 5
CLASSES = (4, 2)
SURE, GOOD = 0.95, 0.9
"""The confidence that is looked at, and the accuracy that is good enough there."""
METHODS = ("label_majority", "dawid_skene")


@dataclass(frozen=True)
class Crowds(Decisions):
    """Studies of units with a true class, each rated by five raters of a crowd.

    A rater gives the true class with the probability of a skill that depends on the class, and else
    draws from frequencies of their own. Two classes are label sets with a label or without it, more
    are categories.
    """

    crowd: str
    n_classes: int
    n_units: int = 300

    family: ClassVar[str] = "crowds"

    def _drawn(self, generator: Generator) -> tuple[Codes, Codes, Codes]:
        """Return the true class of each unit, its raters, and their answers."""
        n_answers, low, high, spam = CROWDS[self.crowd]
        n, K = self.n_units, self.n_classes
        R = max(RATINGS, n * RATINGS // n_answers)
        truth = generator.choice(K, n, p=generator.dirichlet(np.full(K, 5.0)))
        raters = generator.random((n, R)).argsort(axis=1)[:, :RATINGS]
        skill = generator.uniform(low, high, (R, K)) * (generator.random((R, 1)) >= spam)
        guesses = generator.dirichlet(np.ones(K), R).cumsum(axis=1)
        guess = (generator.random((n, RATINGS, 1)) > guesses[raters]).sum(axis=2)
        knows = generator.random((n, RATINGS)) < skill[raters, truth[:, None]]
        return truth, raters, np.where(knows, truth[:, None], guess)

    def seen(self, generator: Generator) -> Iterator[Seen]:
        """Yield accuracy, share above the confidence, and accuracy there; of the warning, too.

        The three counts are whether the accuracy above the confidence is not good enough, whether
        it is not and there was a warning, and whether it is and there was one.
        """
        classes = [frozenset(), frozenset("l")] if self.n_classes == 2 else [*"abcd"]
        for _ in range(self.n_studies):
            truth, raters, answers = self._drawn(generator)
            right = [classes[k] for k in truth]
            rows = [
                (int(g), i, classes[k])
                for i, (who, given) in enumerate(zip(raters, answers, strict=True))
                for g, k in zip(who, given, strict=True)
            ]
            kind = "labels" if self.n_classes == 2 else "category"
            study = sa.Annotations.from_triples(rows, kind=kind)
            yield {method: _judged(study, method, right) for method in METHODS}


def _judged(study: sa.Annotations, method: str, right: list[object]) -> tuple[float, ...]:
    if method == "label_majority" and study.kind != "labels":
        method = "medoid"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = sa.consensus(study, method=method, ties="plurality")
    is_warned = any("may be too high" in str(one.message) for one in caught)
    is_right = np.array([a == b for a, b in zip(found.answers, right, strict=True)])
    is_sure = found.confidence > SURE
    is_bad = is_sure.any() and is_right[is_sure].mean() < GOOD
    counts = is_bad, is_bad and is_warned, not is_bad and is_warned
    means = is_right.mean(), is_sure.mean(), (is_right & is_sure).mean()
    return (*map(float, counts), *map(float, means))


def crowd_cells() -> Iterator[Crowds]:
    for n_classes, crowd in product(CLASSES, CROWDS):
        yield Crowds(crowd, n_classes, n_studies=400)
