"""The results that a report describes, computed once, without words and pictures."""

from __future__ import annotations

import secrets
import warnings

from setagree.checks import Rng, as_generator, check_level, check_resamples
from setagree.distances import get_distance
from setagree.distances.registry import DistanceLike
from setagree.errors import DegreesWarning, RareAnswersWarning, UndefinedAgreementWarning
from setagree.inference.benchmark import benchmark
from setagree.inference.panel_members import require_raters
from setagree.large.joining import with_models
from setagree.large.opening import Data
from setagree.panels.facets import rater_reading
from setagree.reporting.sections.base import Asked, Findings, Groups, Models, Panels
from setagree.reporting.sections.models import named_models
from setagree.reporting.sections.registry import find_all
from setagree.scoring.coefficients import CoefficientLike, get_coefficient
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import Scorer
from setagree.scoring.table import agreement as score_table
from setagree.study.annotations import Annotations
from setagree.study.rater_columns import marked_models


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
    margin: float | None = None,
    threshold: float | None = None,
    facets: list[str] | None = None,
    rng: Rng = None,
) -> Findings:
    """Return all that is found about a study; a million ratings take about a minute.

    The options are those of `report`; a seed is drawn by default. Models are taken out
    first: only what compares them with the humans sees their answers.
    """
    reading = None if facets is None else rater_reading(study, facets, model)
    everyone = require_raters(study, "report", reading)
    if model is None:
        model = marked_models(everyone) or None
    else:
        everyone, model = with_models(everyone, model, rater_columns=facets)
    check_level(level)
    check_resamples(n_resamples)
    seed = secrets.randbits(32) if rng is None else rng
    asked = Asked(groups, model, panels, n_resamples, seed, margin, threshold, facets)
    as_generator(asked.rng)  # raises an error for an invalid seed before any work
    models = named_models(everyone, model)
    humans = everyone.without_raters(models) if models else everyone
    main = _headline(humans, coefficient, distance, level)
    with warnings.catch_warnings():
        # The parts of a study may be undefined without a warning each: the tables show it. Of a
        # rare answer the headline has warned, of rare labels it has not. What does not look at
        # degrees has a note in its section.
        warnings.simplefilter("ignore", DegreesWarning)
        warnings.simplefilter("ignore", UndefinedAgreementWarning)
        warnings.filterwarnings("ignore", message="(?!Label)", category=RareAnswersWarning)
        # The report shows how the units were drawn; these parts of it have no interval.
        warnings.filterwarnings("ignore", message="(by_unit|confusions|permutation_test) ")
        f = Findings(humans, main, benchmark(main), level, asked, everyone, models)
        find_all(f)
    return f


def _headline(
    study: Annotations, coefficient: CoefficientLike, distance: DistanceLike | None, level: float
) -> Agreement:
    """Return the coefficient that is explained, with a warning if it is undefined."""
    scorer = Scorer(study)
    asked = None if distance is None else [get_distance(distance)]
    one = scorer.distances(get_coefficient(coefficient), asked)[0]
    return score_table(study, coefficient=coefficient, distance=one, level=level).rows[0]
