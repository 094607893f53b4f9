"""Groups of units that were drawn in clusters, or with weights: each is scored by itself."""

from __future__ import annotations

import numpy as np

from setagree.coefficients.chance import Floats
from setagree.diagnosis.common import Row, counts, named, uncertainty
from setagree.diagnosis.grouping import Grouped, is_constant_in
from setagree.inference.clusters import is_clustered
from setagree.inference.differences import linearised_difference
from setagree.progress import track
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score_part
from setagree.study.annotations import Annotations

LONG_WORK = 20_000_000
"""Ratings to be scored, in all, from which on progress is shown."""

BESIDE = ("difference", "difference_standard_error", "difference_p_value")
"""The columns that compare a group with all others together."""


def of_sampled_units(grouped: Grouped, whole: Agreement, level: float) -> list[Row]:
    """Return a row for each group of units that were drawn in clusters or with weights."""
    study, of_rating = grouped.study, grouped.of_rating
    parts = [score_part(whole, study.take(of_rating == g)) for g in range(len(grouped.names))]
    p = np.nan
    if not _share_clusters(whole, grouped):
        p = homogeneity(*np.array([_known(part) for part in parts]).T)
    rows = []
    long = len(parts) * study.n_ratings > LONG_WORK
    for g, part in track(enumerate(parts), total=len(parts), what="groups", long=long):
        columns = counts(part) | uncertainty(part, level)
        columns |= _beside(part, whole, study.take(of_rating != g))
        rows.append({**columns, "homogeneity_p_value": p, **named(part)})
    return rows


def _known(part: Agreement) -> tuple[float, float, float]:
    return part.estimate, part.standard_error, part.degrees_of_freedom


def _beside(part: Agreement, whole: Agreement, rest: Annotations) -> Row:
    """Return the difference of a group from all others together."""
    if not rest.n_ratings:
        return dict.fromkeys(BESIDE, float("nan"))
    others = score_part(whole, rest)
    if is_clustered(whole):
        places = np.arange(part.n_units), part.n_units + np.arange(others.n_units)
        gap = linearised_difference(part, others, design="same_units", places=places)
        return dict(zip(BESIDE, (gap.value, gap.standard_error, gap.p_value), strict=True))
    difference = part.estimate - others.estimate
    known = part.standard_error > 0 and others.standard_error > 0
    se = float(np.hypot(part.standard_error, others.standard_error)) if known else float("nan")
    p = _welch_p(difference, (part, others), se)
    return dict(zip(BESIDE, (difference, se, p), strict=True))


def _share_clusters(whole: Agreement, grouped: Grouped) -> bool:
    """Say whether a cluster has units in several groups."""
    sample = whole.case.sample
    if sample is None or sample.groups is None or not sample.is_clustered:
        return False
    return not is_constant_in(sample.groups[grouped.study.unit_codes], grouped.of_rating)


def _welch_p(difference: float, sides: tuple[Agreement, Agreement], se: float) -> float:
    """Return the two-sided p of Welch's t; nan where one has no standard error above 0."""
    from scipy.special import stdtr

    if np.isnan(se):
        return float("nan")
    terms = [x.standard_error**4 / x.degrees_of_freedom for x in sides]
    return float(2 * stdtr(se**4 / sum(terms), -abs(difference) / se))


def homogeneity(estimate: Floats, error: Floats, df: Floats) -> float:
    """Return Welch's p of one common value for all groups that have an estimate."""
    from scipy.special import fdtrc

    known = np.flatnonzero(np.isfinite(estimate))
    errors, G = error[known], len(known)
    if G < 2 or not (errors > 0).all():
        return float("nan")
    estimates, f = estimate[known], df[known]
    w = 1 / errors**2
    between = float(w @ (estimates - w @ estimates / w.sum()) ** 2) / (G - 1)
    L = float(((1 - w / w.sum()) ** 2 / f).sum())
    F = between / (1 + 2 * (G - 2) * L / (G**2 - 1))
    return float(fdtrc(G - 1, (G**2 - 1) / (3 * L), F))
