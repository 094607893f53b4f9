"""How wide the interval of a planned study comes out, and how many units make it narrow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf, nan

import numpy as np

from setagree.coefficients.chance import Floats
from setagree.coefficients.spread import LEAST_DF, cluster_deviations, unit_values
from setagree.errors import OptionError, counted, option
from setagree.inference.clusters import is_clustered
from setagree.inference.jackknife import jackknife
from setagree.scoring.results import Agreement

MANY_UNITS = 100_000_000

_NORMAL = 3.0
"""The kurtosis of a normal distribution, where a pilot is too small to tell its own."""


@dataclass(frozen=True)
class Drawing:
    """How the units of a planned study are drawn: one by one, or in clusters.

    Attributes
    ----------
    size : float
        Units of a cluster, on average; the last one has what is left of them.
    shares : tuple of float
        Units of each cluster of the pilot, over their mean, where those of the plan are to differ
        as much; none where all have as many.
    """

    size: float = 1
    shares: tuple[float, ...] = ()

    def clusters(self, n: float) -> int:
        """Return how many clusters n units take; n where each is drawn on its own."""
        return ceil(n / self.size - 1e-9)

    def freedom(self, n: float) -> float:
        """Return the degrees of freedom of t for n units: Bell and McCaffrey's of such clusters.

        nan where they are too few for an interval.
        """
        c = self.clusters(n)
        if self.size == 1 and not self.shares:
            return n - 1.0 if n >= 2 else nan
        sizes, times = np.array([self.size, n - (c - 1) * self.size]), np.array([c - 1.0, 1.0])
        if self.shares:  # evenly spaced among them, in order: all of them where c are as many
            ranks = np.ceil(np.arange(len(self.shares) + 1) * c / len(self.shares) - 0.5)
            sizes, times = np.sort(self.shares), np.diff(ranks)
        sizes, times = sizes[times > 0], times[times > 0]
        total = float(times @ sizes)
        if sizes.max() >= total * (1 - 1e-9):
            return nan
        b = sizes**2 / (1 - sizes / total)
        among = ((times @ b) ** 2 - times @ b**2) / total**2
        df = float(total**2 / (times @ sizes**2 + among))
        return df if df > LEAST_DF - 1e-9 else nan

    def too_few(self, n: float) -> str | None:
        """Return why n units in clusters leave no interval; None where they leave one."""
        if not np.isnan(self.freedom(n)):
            return None
        few = counted(self.clusters(n), "cluster")
        return f"{n:,} units in {few} leave fewer than {LEAST_DF} degrees of freedom"


ONE_BY_ONE = Drawing()


@dataclass(frozen=True)
class Widths:
    """The half width to plan for.

    Without `assurance` it is t SE, which half of the studies exceed. With it, it is what that share
    of the studies does not exceed: t SE sqrt(F), F the quantile of s²_n / s²_pilot, a ratio of two
    variances that are both estimated. Each has the degrees of freedom of a chi-square with the
    variance that its own kurtosis K gives it (Satterthwaite), nu_n = 2 / [(K - 3) / n + 2/(n - 1)].

    Attributes
    ----------
    level : float
        The level of the interval.
    assurance : float or None
        The share of studies.
    kurtosis : float
        K of the linearised values of the pilot's units, or of its clusters.
    n_pilot : float
        How many units, or clusters, the pilot's variance comes from.
    df_pilot : float
        The degrees of freedom of the pilot's t: n_pilot - 1, of clusters those of Bell-McCaffrey.
    """

    level: float
    assurance: float | None = None
    kurtosis: float = _NORMAL
    n_pilot: float = inf
    df_pilot: float = inf

    def half_width(self, variance: float, n: float, drawing: Drawing = ONE_BY_ONE) -> float:
        """Return that of n units, each of which adds so much to the variance.

        nan where they leave no degrees of freedom for an interval.
        """
        from scipy.special import stdtrit

        df = drawing.freedom(n)
        wide = float(stdtrit(df, (1 + self.level) / 2) * np.sqrt(variance / n))
        if self.assurance is None or np.isnan(df):
            return wide
        return wide * self._more(drawing.clusters(n), df, self.assurance)

    def units_for(self, variance: float, half_width: float, drawing: Drawing = ONE_BY_ONE) -> int:
        """Return the fewest units whose interval is as narrow."""

        def narrow(drawn: int) -> bool:
            return self.half_width(variance, drawn * drawing.size, drawing) <= half_width

        return least_units(narrow, drawing.size, option("half_width", half_width))

    def _more(self, drawn: float, df: float, share: float) -> float:
        """Return by how much the interval is wider than expected, at most, in that share."""
        from scipy.special import fdtri

        pilot = self._freedom(self.n_pilot, self.df_pilot)
        return float(np.sqrt(fdtri(self._freedom(drawn, df), min(pilot, _MUCH), share)))

    def _freedom(self, n: float, df: float) -> float:
        wide = (self.kurtosis - 3) / n + 2 / df
        return min(_MUCH, 2 / wide) if wide > 0 else _MUCH


_MUCH = 1e9
"""Degrees of freedom that leave no doubt about a variance."""


def least_units(enough: Callable[[int], bool], m: float, wish: str) -> int:
    """Return the fewest units, in clusters of m, that are enough; m = 1 where there are none."""
    low, high = 2, MANY_UNITS
    if not enough(high):
        raise OptionError(f"{wish} takes more than {MANY_UNITS:,} units.")
    while low < high:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle + 1
    return ceil(low * m)


def shape_of(agreement: Agreement) -> tuple[float, float, float]:
    """Return K of what was drawn on its own, how many there were, and the degrees of freedom of t.

    Units or clusters were drawn. K is 3 more than the unbiased G2 of the linearised values (those
    that leave out one unit where the coefficient has none), 1 at least, and 3 for fewer than four
    of them.
    """
    x, times = _drawn_values(agreement)
    n = float(times.sum())
    df = agreement.degrees_of_freedom if is_clustered(agreement) else n - 1
    off = x - float(times @ x) / n
    squares = float(times @ off**2) / n
    if n < 4 or not squares > 0:
        return _NORMAL, n, df
    excess = float(times @ off**4) / n / squares**2 - 3
    return max(1.0, 3 + (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * excess + 6)), n, df


def _drawn_values(agreement: Agreement) -> tuple[Floats, Floats]:
    """Return the linearised values, and how often each is there."""
    parts, sample = agreement.parts, agreement.case.sample
    if is_clustered(agreement) and sample is not None and sample.groups is not None:
        units, x = unit_values(agreement.case, parts)
        _, groups = np.unique(sample.groups[units], return_inverse=True)
        each, _ = cluster_deviations(groups, x)
        return np.asarray(each, dtype=np.float64), np.ones(len(each))
    if parts.influence.size:
        counted = parts.counted > 0
        return parts.influence[counted], parts.counted[counted]
    values = jackknife(agreement).values.to_numpy(dtype=float)
    without: Floats = np.asarray(values[np.isfinite(values)], dtype=np.float64)
    return without, np.ones(len(without))
