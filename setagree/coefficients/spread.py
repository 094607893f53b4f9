"""The standard error from the linearised values, as the units were drawn.

Units drawn one by one, all alike: Gwet (2014). Clusters: the CR2 variance of a mean with the
degrees of freedom of Bell & McCaffrey (2002), as sums over clusters are few and not alike. Sampling
weights and strata: the variance of a ratio of totals (Särndal, Swensson & Wretman 1992, ch. 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from setagree.coefficients.chance import (
    ROUNDING,
    Case,
    Codes,
    Floats,
    dot,
)
from setagree.coefficients.sums import Estimate, standard_error
from setagree.errors import counted, shorten
from setagree.study.sampling import Sample

LEAST_DF, _LEAST_WEIGHTED_DF = 2, 1
"""Degrees of freedom below which there is no telling how wide an interval should be; of weights,
below which t has no mean."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """How the units that count are spread over clusters.

    Attributes
    ----------
    by : str
        The column that names them.
    sizes : ndarray of shape (n_clusters,)
        The units of each.
    names : ndarray of object, shape (n_clusters,)
        What they are called.
    """

    by: str
    sizes: Floats
    names: np.ndarray

    @property
    def n(self) -> int:
        """How many clusters there are."""
        return len(self.sizes)

    @property
    def largest_share(self) -> float:
        """The share of the units that the largest cluster holds."""
        return float(self.sizes.max() / self.sizes.sum())


@dataclass(frozen=True, eq=False)
class Spread:
    """A standard error and what it rests on.

    Attributes
    ----------
    standard_error : float
        nan where there is none; 0 where what is left is rounding.
    degrees_of_freedom : float
        Of t.
    reason : str or None
        Why there is none, where the way in which units were drawn is why.
    clusters : Clusters or None
        Where the units were drawn in clusters.
    """

    standard_error: float
    degrees_of_freedom: float
    reason: str | None = None
    clusters: Clusters | None = None


def spread(case: Case, parts: Estimate) -> Spread:
    """Return the standard error of an estimate; nan for fewer than two units."""
    n, sample = float(parts.counted.sum()), case.sample
    if n < 2 or parts.undefined is not None or not parts.influence.size:
        return Spread(float("nan"), n - 1)
    if sample is None:
        return Spread(standard_error(parts), n - 1)
    units, x = unit_values(case, parts)
    if sample.is_clustered:
        return _clustered(sample, units, x)
    return _weighted(case, sample, units, x, weights_of(case, parts, units))


def unit_values(case: Case, parts: Estimate) -> tuple[Codes, Floats]:
    """Return the positions of the units that count, and their linearised values.

    None count where the estimate is undefined.
    """
    x, counted_ = parts.influence, parts.counted > 0
    if not len(x):
        return np.zeros(0, dtype=np.int64), x
    if not parts.by_unit and case.tally.unit_patterns is not None:
        x, counted_ = x[case.tally.unit_patterns], counted_[case.tally.unit_patterns]
    units = np.flatnonzero(counted_)
    return units, x[units]


def weights_of(case: Case, parts: Estimate, units: Codes) -> Floats:
    """Return the sampling weights of the units that count, in the sums that their values are of."""
    return (case.pairable_weights if parts.pairable_only else case.unit_weights)[units]


def cluster_deviations(groups: Codes, x: Floats, n_groups: int = 0) -> tuple[Floats, float]:
    """Return S_g / (n sqrt(1 - h_g)) of each group, 0 for one without units, and Bell-McCaffrey df.

    S_g sums x_i - mean over cluster g of n_g units, h_g = n_g / n, b_g = n_g² / (1 - h_g) and
    df = n² / {sum n_g² + [(sum b)² - sum b²] / n²}. Their squares add up to the CR2 variance.
    """
    n, n_g = len(x), np.bincount(groups, minlength=n_groups).astype(np.float64)
    rest = 1 - n_g / n
    if not rest.all():
        return np.full(len(n_g), np.nan), 0.0
    b = n_g**2 / rest
    df = n**2 / (n_g @ n_g + (b.sum() ** 2 - b @ b) / n**2)
    sums = np.bincount(groups, x - x.mean(), len(n_g))
    return np.asarray(sums / (n * np.sqrt(rest))), float(df)


def _clustered(sample: Sample, units: Codes, x: Floats) -> Spread:
    assert sample.groups is not None  # noqa: S101 - clusters are groups
    used, groups = np.unique(sample.groups[units], return_inverse=True)
    sizes = np.bincount(groups).astype(np.float64)
    found = Clusters(sample.by, sizes, sample.names[used])
    if found.n == 1:
        why = f"all units are in one cluster ({sample.by} {shorten(found.names[0])})"
        return Spread(float("nan"), 0.0, why, found)
    each, df = cluster_deviations(groups, x)
    if df < LEAST_DF:
        why = f"{counted(found.n, 'cluster')} of such sizes leave {df:.2f} degrees of freedom"
        return Spread(float("nan"), df, why, found)
    return Spread(_root(dot(each, each)), df, None, found)


def units_drawn(case: Case, parts: Estimate) -> Mapping[Any, int] | None:
    """Return how many units of each stratum (or in all) count; None where nothing is said of it."""
    sample = case.sample
    if case.drawn is not None or sample is None or sample.is_clustered:
        return case.drawn
    units, _ = unit_values(case, parts)
    strata = np.zeros(len(units), dtype=np.intp) if sample.groups is None else sample.groups[units]
    n = np.bincount(strata, minlength=len(sample.names)).tolist()
    return dict(zip(sample.names, n, strict=True))


def _weighted(case: Case, sample: Sample, units: Codes, x: Floats, w: Floats) -> Spread:
    """Return the spread of a weighted mean of independent units, stratum by stratum.

    u_i = w_i (x_i - mean) / sum w, and 0 for a unit of the sample that is not in this part of it;
    Var = c sum_s (1 - n_s / N_s) n_s s²_u,s over all n_s units that were drawn of a stratum, those
    outside the part too, as a group has as many units of it as chance would have it (Särndal,
    Swensson & Wretman 1992, ch. 10). c = (m - p) / (m - 1) for m units of the part, the share p of
    those drawn of its strata: 1 for a whole sample, and of one stratum it makes the variance that
    of the part's own units times 1 - n / N. t with n_Kish - 1 degrees of freedom, less one for each
    further stratum.
    """
    u = w * (x - dot(w, x) / w.sum()) / w.sum()
    strata = np.zeros(len(units), dtype=np.intp) if sample.groups is None else sample.groups[units]
    own = np.bincount(strata, minlength=len(sample.names))
    n = own
    if case.drawn is not None:
        n = np.maximum(own, [case.drawn.get(name, 0) for name in sample.names]) * (own > 0)
    df = float(w.sum() ** 2 / (w @ w) - (n > 0).sum())
    if (n == 1).any():
        alone = sample.names[n == 1][0]
        why = f"stratum {shorten(alone)} has one unit that counts, which shows no spread"
        return Spread(float("nan"), df, why)
    if (n >= sample.sizes)[n > 0].all():
        return Spread(0.0, df, "All units of the population were rated, so that none is a sample")
    if df <= 0 or (sample.weights is not None and df < _LEAST_WEIGHTED_DF):
        why = f"the weights are so unequal that they leave {max(df, 0):.2g} degrees of freedom"
        if len(units) <= (n > 0).sum():
            why = f"{counted(len(units), 'unit')} of as many strata leave no degrees of freedom"
        return Spread(float("nan"), df, why)
    m = float(len(units))
    more = (m - m / n.sum()) / (m - 1)
    return Spread(_root(more * stratified_variance(u, strata, sample.sizes, n)), df)


def stratified_variance(
    u: Floats, strata: Codes, sizes: Floats, drawn: Codes | None = None
) -> float:
    """Return sum_s (1 - n_s / N_s) n_s s²_u,s of a total of u; nan where a stratum has one unit.

    Of `drawn` units of a stratum those that u does not list are 0.
    """
    own = np.bincount(strata, minlength=len(sizes)).astype(np.float64)
    n = own if drawn is None else drawn.astype(np.float64)
    means = np.bincount(strata, u, len(n)) / np.maximum(own, 1)
    inside = np.bincount(strata, (u - means[strata]) ** 2, len(n))
    squares = inside + own * means**2 * (1 - own / np.maximum(n, 1))
    each = (1 - np.minimum(n / sizes, 1)) * n / np.where(n == 1, np.nan, n - 1) * squares
    return float(each[n > 0].sum())


def _root(variance: float) -> float:
    """Return the standard error of a variance; 0 where what is left is rounding."""
    error = float(np.sqrt(variance))
    return error if error > ROUNDING else 0.0
