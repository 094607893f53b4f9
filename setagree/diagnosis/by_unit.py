"""Units that lower the agreement: a queue for adjudication."""

from __future__ import annotations

from itertools import pairwise
from typing import Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import Codes, check_cost, check_least
from setagree.coefficients.case import divided
from setagree.coefficients.chance_models import Fixed, Urn
from setagree.coefficients.uncertain import patterns_of_units
from setagree.credit.base import display_value
from setagree.diagnosis.common import score_whole, steps_to_score
from setagree.distances.registry import DistanceLike
from setagree.inference.unit_order import rows_of_units
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, Study, open_study, takes_data
from setagree.scoring.coefficients import CoefficientLike
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score_part
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects
from setagree.study.sampling import warn_ignored
from setagree.wording.result_frames import ResultFrame
from setagree.wording.tables import Column

COLUMNS = (
    Column("unit", "name"),
    Column("answers", "name", longest=60),
    Column("share_of_disagreement", "share", "share of all", is_part=True),
    Column("disagreement"),
    Column("n_ratings", "count", "ratings"),
    Column("difference", "signed", "change without"),
)
"""The main columns, which notebooks show, and the report but for the last."""


@takes_data
def by_unit(
    study: Data,
    *more: RaterAnswers,
    limit: int | None = None,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    **options: Unpack[ReadingOptions],
) -> pd.DataFrame:
    """Return the disagreement of raters on each unit, with their answers.

    Parameters
    ----------
    study : Annotations, Tally, or a table or path as `agreement` takes it
        A tally has no raters, so that its answers are listed without names. A reduced table has no
        units either: they are None.
    limit : int, optional
        Number of units with the largest disagreement. Default: all pairable units.
    coefficient, distance
        As in `setagree.agreement`.

    Returns
    -------
    DataFrame
        One row per pairable unit, the worst first (the largest disagreement, then most ratings,
        then the largest weight or size): unit, n_ratings, n_distinct (answers), disagreement (the
        mean distance over its pairs of ratings), share_of_disagreement (of the observed
        disagreement Do, to which a unit contributes in proportion to its ratings, and to its
        sampling weight or size), influence (the linearised value of the unit, whose mean is the
        coefficient, for alpha up to its small-sample term), estimate_without (the coefficient
        without the unit, exact), difference (estimate_without - estimate: positive if the unit
        lowers agreement), answers (text, equal answers together), coefficient, distance. Both
        estimate_without and influence are NaN for mv_alpha, which has no closed form of them.

    Raises
    ------
    OptionError
        The limit is not a whole number of at least 1.
    CostError
        conger_kappa or cohen_kappa of many thousand units with sampling weights, or with those
        that follow from the sizes of strata.

    Warns
    -----
    SetagreeWarning
        The study has clusters, strata or a population size, which are ignored.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.Annotations.from_triples([
    ...     ("ann", "u1", "a"), ("ben", "u1", "a, b"), ("ann", "u2", "c"), ("ben", "u2", ""),
    ...     ("ann", "u3", "b"), ("ben", "u3", "b"),
    ... ], blank="empty")
    >>> by_unit(study, limit=2)[["unit", "disagreement", "answers"]].round(3)
      unit  disagreement             answers
    0   u2         1.000    c: ann | {}: ben
    1   u1         0.667  a: ann | a, b: ben
    """
    if limit is not None:
        check_least("limit", limit, 1)
    study = open_study(study)
    whole = score_whole(study, coefficient, distance, 0.95)
    if whole.study is not None and not whole.case.is_weighted:
        warn_ignored(whole.study.sampling, "by_unit")
    frame = disagreement_of_units(whole).iloc[:limit]
    units = frame.index.to_numpy()
    if whole.case.is_weighted:
        frame = frame.assign(estimate_without=_without_weighted(whole, units))
    answers = _answers(study, patterns_of_units(whole.tally), units)
    frame = frame.assign(
        difference=frame["estimate_without"] - whole.estimate,
        answers=as_objects(answers),  # a string backend may reject some text
        coefficient=whole.coefficient,
        distance=whole.distance,
    )
    return ResultFrame.of(frame.reset_index(drop=True), COLUMNS)


def disagreement_of_units(whole: Agreement) -> pd.DataFrame:
    """Return the columns of `by_unit` up to estimate_without, without sampling weights in it.

    The index has the place of each unit in the study.
    """
    tally, patterns, weight = (
        whole.tally,
        patterns_of_units(whole.tally),
        whole.case.pairable_weights,
    )
    q, r = np.where(tally.pairable, whole.case.disagreement, 0.0), tally.pattern_ratings
    share = (q / np.maximum(r - 1, 1))[patterns] * weight
    rows, _ = rows_of_units(whole)
    in_closed_form = whole.sums.has_closed_form and not whole.case.is_weighted
    nothing, influence = np.full(tally.n_units, np.nan), whole.sums.linearised.values
    if influence.size and not whole.sums.linearised.by_unit:
        influence = influence[rows]
    numbers = {
        "unit": np.full(tally.n_units, None) if tally.units is None else tally.units,
        "n_ratings": r.astype(np.int64)[patterns],
        "n_distinct": np.diff(tally.indptr)[patterns],
        "disagreement": (whole.case.mean_disagreement * whole.weights.max_distance)[patterns],
        "share_of_disagreement": divided(share, share.sum()),
        "influence": influence if influence.size else nothing,
        "estimate_without": whole.sums.without_units()[rows] if in_closed_form else nothing,
    }
    worst = np.lexsort((-weight, -numbers["n_ratings"], -numbers["disagreement"]))
    worst = worst[numbers["n_ratings"][worst] >= 2]
    return pd.DataFrame({name: column[worst] for name, column in numbers.items()}, index=worst)


def _without_weighted(whole: Agreement, units: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the estimates without each of some units that have sampling weights.

    Models without a closed form are recomputed without each of the units.
    """
    model, study, sample = whole.definition.model, whole.study, whole.case.sample
    without = np.full(len(units), np.nan)
    if isinstance(model, Fixed | Urn):
        without = whole.sums.without_weighted_units()[units]
    if study is None or sample is None or whole.reason is not None:
        return without
    anew = np.flatnonzero(~np.isfinite(without))
    check_cost(
        f"Leaving out each unit of a study with {sample.design.description}",
        n_steps=len(anew) * steps_to_score(study),
        instead="Use limit=100 for the worst ones.",
    )
    for place in anew:
        part = study.take(study.unit_codes != units[place])
        without[place] = score_part(whole, part).estimate
    return without


def _answers(study: Study, patterns: Codes, units: npt.NDArray[np.int64]) -> list[str]:
    """Return the answers of some units as text, equal answers together."""
    texts = [display_value(value) for value in study.values]
    if isinstance(study, Annotations):
        return _named_answers(study, texts, units)
    out = []
    for pattern in patterns[units]:
        part = slice(study.indptr[pattern], study.indptr[pattern + 1])
        found = zip(study.indices[part], study.counts[part], strict=True)
        out.append(" | ".join(f"{texts[k]}: {count:g} x" for k, count in found))
    return out


def _named_answers(study: Annotations, texts: list[str], units: npt.NDArray[np.int64]) -> list[str]:
    wanted = np.full(study.n_units, -1)
    wanted[units] = np.arange(len(units))
    rows = np.flatnonzero(wanted[study.unit_codes] >= 0)
    u, k, g = wanted[study.unit_codes[rows]], study.value_codes[rows], study.rater_codes[rows]
    order = np.lexsort((g, k, u))
    u, k, g = u[order], k[order], g[order]
    starts = np.flatnonzero(np.diff(u, prepend=-1) | np.diff(k, prepend=-1))
    ends = np.append(starts[1:], len(u))
    # The most frequent first, then as text.
    rank = np.unique(np.array(texts, dtype=object), return_inverse=True)[1]
    cells = np.lexsort((rank[k[starts]], starts - ends, u[starts]))
    starts, ends = starts[cells], ends[cells]
    names = as_objects([str(rater) for rater in study.raters])[g].tolist()
    each = (codes.tolist() for codes in (k[starts], starts, ends))
    answers = [
        f"{texts[code]}: {', '.join(names[start:end])}"
        for code, start, end in zip(*each, strict=True)
    ]
    bounds = np.searchsorted(u[starts], np.arange(len(units) + 1)).tolist()
    return [" | ".join(answers[first:last]) for first, last in pairwise(bounds)]
