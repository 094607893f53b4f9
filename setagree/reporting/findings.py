"""Everything a report says, gathered once: numbers only, no words, no pictures."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from setagree.checks import Rng, as_generator, check_level, check_resamples
from setagree.diagnosis.common import known_raters
from setagree.distances import get_distance
from setagree.distances.registry import DistanceLike
from setagree.errors import UndefinedAgreementWarning
from setagree.inference.benchmark import benchmark
from setagree.large.opening import Data
from setagree.reporting.sections.base import Asked, Findings, Groups, Models, Panels
from setagree.reporting.sections.registry import find_all
from setagree.scoring.coefficients import CoefficientLike, get_coefficient
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import Scorer
from setagree.scoring.table import agreement as score_table
from setagree.study.annotations import Annotations


def gather(
    study: Data,
    *,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    groups: Groups | None = None,
    n_resamples: int = 999,
    model: Models = None,
    panels: Panels = None,
    rng: Rng = None,
) -> Findings:
    """Return all that is found about a study; a million ratings take about a minute.

    Parameters
    ----------
    study : Annotations
        Who gave which answer to which unit.
    coefficient, distance
        What is explained. Default: alpha, with the default distance of the kind of answers.
    level : float
        Of the intervals.
    groups : Series, mapping or DataFrame, optional
        The group of each unit (batches, sources, guideline versions), or what `by_group` returned.
    n_resamples : int
        How many reshuffles; fewer where that would take long.
    model : rater, or list of raters, optional
        Who is a model; everybody else is then a human.
    panels : mapping from names to lists of raters, optional
        Two panels to compare, or one that stands against everybody else.
    rng : int or numpy Generator, optional
        The seed of the reshuffles; drawn where none is given.
    """
    study = known_raters(study, "report")
    check_level(level)
    check_resamples(n_resamples)
    asked = Asked(groups, model, panels, n_resamples, secrets.randbits(32) if rng is None else rng)
    as_generator(asked.rng)  # refuses what is no seed before any work
    main = _headline(study, coefficient, distance, level)
    with _quiet():
        f = Findings(study, main, benchmark(main), level, asked)
        find_all(f)
    return f


@contextmanager
def _quiet() -> Iterator[None]:
    """Let the parts of a study be undefined without a warning each: the tables say so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedAgreementWarning)
        yield


def _headline(
    study: Annotations, coefficient: CoefficientLike, distance: DistanceLike | None, level: float
) -> Agreement:
    """Return the coefficient that is explained, with a warning where it is undefined."""
    scorer = Scorer(study)
    asked = None if distance is None else [get_distance(distance)]
    one = scorer.distances(get_coefficient(coefficient), asked)[0]
    return score_table(study, coefficient=coefficient, distance=one, level=level).rows[0]
