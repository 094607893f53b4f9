"""How often a test of a planned study succeeds."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, sqrt
from typing import Any

from setagree.coefficients.score_interval import Moments, moments
from setagree.errors import option
from setagree.inference.widths import ONE_BY_ONE, Drawing, least_units
from setagree.scoring.results import Agreement


@dataclass(frozen=True)
class PlannedTest:
    """The test that a coefficient is above a threshold, where it is what the pilot gave.

    It succeeds where the low end of the interval of ``2 level - 1`` lies above the threshold; with
    th = 1 - coefficient and th0 = 1 - threshold

    - the t interval's does where a noncentral t (n - 1 degrees of freedom, noncentrality
      (th0 - th) / SE) exceeds its quantile, reckoned as Johnson and Welch (1940) do;
    - the score interval's does where the estimate of th, normal about th with SE, lies below
      th0 - sqrt(k (sig th0 + B th0²)), with the moments of the pilot and k in proportion to n SE².

    The lower of both intervals is the score interval, so that the smaller probability is taken.

    Attributes
    ----------
    threshold : float
        What the coefficient is to exceed.
    level : float
        The confidence with which it is to, one-sided.
    th : float
        1 - coefficient of the pilot.
    score : Moments or None
        What the score interval takes from the pilot; None for coefficients without one.
    variance : float
        n SE² of the pilot, to which that of a plan is compared.
    """

    threshold: float
    level: float
    th: float
    score: Moments | None
    variance: float

    def power(self, variance: float, n: float, drawing: Drawing = ONE_BY_ONE) -> float:
        """Return how often n units succeed if each adds so much to the variance.

        nan where they leave no degrees of freedom for an interval.
        """
        from scipy.special import ndtr, ndtri, stdtrit

        df, error, th0 = drawing.freedom(n), sqrt(variance / n), 1 - self.threshold
        if isnan(df):
            return df
        t = float(stdtrit(df, self.level))
        ahead = (th0 - self.th) / error - t * (1 - 0.25 / df)
        by_t = float(ndtr(ahead / sqrt(1 + t * t / (2 * df))))
        if self.score is None:
            return by_t
        found, z = self.score, float(ndtri(self.level))
        p = min(1.0, found.Do / found.s)
        k = (z * z + 4 * p * (1 - p) * (t * t - z * z)) / n * variance / self.variance
        reach = sqrt(max(0.0, k * (found.s / found.E * th0 + found.B * th0 * th0)))
        return min(by_t, float(ndtr((th0 - reach - self.th) / error)))

    def units_for(self, variance: float, power: float, drawing: Drawing = ONE_BY_ONE) -> int:
        """Return the fewest units that succeed as often."""

        def enough(drawn: int) -> bool:
            return self.power(variance, drawn * drawing.size, drawing) >= power

        return least_units(enough, drawing.size, option("power", power))


def planned_test(plain: Agreement, threshold: float, level: float, variance: float) -> PlannedTest:
    """Return the test of a plan, from a pilot taken as if its units were drawn one by one."""
    model: Any = plain.definition.model
    scored = moments(plain.case, model) if plain.best_method == "score" else None
    return PlannedTest(threshold, level, 1 - plain.estimate, scored, variance)
