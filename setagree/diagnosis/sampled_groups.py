"""Groups of units that were drawn in clusters, or with weights: each is scored by itself."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from setagree.coefficients.chance import Floats
from setagree.coefficients.spread import unit_values, units_drawn, weights_of
from setagree.diagnosis.common import Row, counts, named, uncertainty
from setagree.diagnosis.grouping import Grouped, is_constant_in
from setagree.inference.clusters import is_clustered
from setagree.inference.differences import linearised_difference
from setagree.progress import track
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score_part

LONG_WORK = 20_000_000
"""Ratings to be scored, in all, from which on progress is shown."""

BESIDE = ("difference", "difference_standard_error", "difference_p_value")
"""The columns that compare a group with all others together."""


def of_sampled_units(grouped: Grouped, whole: Agreement, level: float) -> list[Row]:
    """Return a row for each group of units that were drawn in clusters or with weights."""
    study, of_rating = grouped.study, grouped.of_rating
    masks = [of_rating == g for g in range(len(grouped.names))]
    parts = [score_part(whole, study.take(mask)) for mask in masks]
    tested: Row = {"homogeneity_p_value": np.nan}
    tested["no_test"] = "a cluster has units in several of the groups"
    if not _share_clusters(whole, grouped):
        sums = [_stratum_sums(part, mask, whole) for part, mask in zip(parts, masks, strict=True)]
        known = np.array([_known(part) for part in parts]).T
        tested = homogeneity(*known, covariance=_covariance(whole, np.array(sums)))
    rows = []
    long = len(parts) * study.n_ratings > LONG_WORK
    pairs = zip(masks, parts, strict=True)
    for mask, part in track(pairs, total=len(parts), what="groups", long=long):
        columns = counts(part) | uncertainty(part, level)
        columns |= _beside(part, whole, mask)
        rows.append({**columns, **tested, **named(part)})
    return rows


def _known(part: Agreement) -> tuple[float, float, float]:
    return part.estimate, part.standard_error, part.degrees_of_freedom


def _beside(part: Agreement, whole: Agreement, mask: npt.NDArray[np.bool_]) -> Row:
    """Return the difference of a group, which has these annotations, from all others together."""
    assert whole.study is not None  # noqa: S101 - it was drawn
    if mask.all():
        return dict.fromkeys(BESIDE, float("nan"))
    others = score_part(whole, whole.study.take(~mask))
    if is_clustered(whole):
        places = np.arange(part.n_units), part.n_units + np.arange(others.n_units)
        gap = linearised_difference(part, others, design="same_units", places=places)
        return dict(zip(BESIDE, (gap.value, gap.standard_error, gap.p_value), strict=True))
    difference, se = part.estimate - others.estimate, float("nan")
    if part.standard_error > 0 and others.standard_error > 0:
        sums = np.array([_stratum_sums(part, mask, whole), _stratum_sums(others, ~mask, whole)])
        both = _covariance(whole, sums)[0, 1]
        se = float(np.sqrt(part.standard_error**2 + others.standard_error**2 - 2 * both))
    p = _welch_p(difference, (part, others), se)
    return dict(zip(BESIDE, (difference, se, p), strict=True))


def _stratum_sums(part: Agreement, mask: npt.NDArray[np.bool_], whole: Agreement) -> Floats:
    """Return the sum of u_i = w_i (x_i - mean) / sum w of a part in each stratum of the whole."""
    sample, study = whole.case.sample, whole.study
    units, x = unit_values(part.case, part.parts)
    if study is None or sample is None or sample.groups is None or not len(x):
        return np.zeros(1 if sample is None else len(sample.names))
    w, places = weights_of(part.case, part.parts, units), np.unique(study.unit_codes[mask])[units]
    u = w * (x - w @ x / w.sum()) / w.sum()
    return np.asarray(np.bincount(sample.groups[places], u, len(sample.names)), dtype=np.float64)


def _covariance(whole: Agreement, sums: Floats) -> Floats:
    """Return the covariances of groups with such sums (G, n_strata); the variances are left 0.

    -sum_s (1 - n_s / N_s) (sum u)_gs (sum u)_hs / (n_s - 1): a stratum of which one group has more
    units than chance would have it leaves fewer to the others.
    """
    sample, drawn = whole.case.sample, units_drawn(whole.case, whole.parts)
    if sample is None or drawn is None:
        return np.zeros((len(sums), len(sums)))
    n = np.array([drawn[name] for name in sample.names])
    each = (1 - np.minimum(n / sample.sizes, 1)) / np.maximum(n - 1, 1)
    out = np.asarray(-(sums * each) @ sums.T)
    np.fill_diagonal(out, 0)
    return out


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


def homogeneity(
    estimate: Floats, error: Floats, df: Floats, *, covariance: Floats | None = None
) -> Row:
    """Return Welch's p of one common value for all groups that have an estimate; or why none.

    With covariances of the groups C = diag(SE²) + covariance takes the place of diag(SE²).
    """
    from scipy.special import fdtrc

    known = np.flatnonzero(np.isfinite(estimate))
    errors, G = error[known], len(known)
    why = "fewer than two groups can be scored" if G < 2 else None
    if why is None and not (errors > 0).all():
        why = "one of the groups has no standard error above 0"
    if why is not None:
        return {"homogeneity_p_value": np.nan, "no_test": why}
    estimates, f = estimate[known], df[known]
    w = 1 / errors**2
    off = estimates - w @ estimates / w.sum()
    between = float(w @ off**2) / (G - 1)
    if covariance is not None and covariance.any():
        C = np.diag(errors**2) + covariance[np.ix_(known, known)]
        both = np.linalg.solve(C, np.stack([off, np.ones(G)], axis=1))
        between = float(off @ both[:, 0] - both[:, 0].sum() ** 2 / both[:, 1].sum()) / (G - 1)
    L = float(((1 - w / w.sum()) ** 2 / f).sum())
    F = between / (1 + 2 * (G - 2) * L / (G**2 - 1))
    p = float(fdtrc(G - 1, (G**2 - 1) / (3 * L), F))
    return {"homogeneity_p_value": p, "no_test": None}
