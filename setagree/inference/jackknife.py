"""Leave-one-out estimates of a coefficient over units, raters or clusters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, Unpack

import numpy as np
import pandas as pd

from setagree.checks import Floats, check_level
from setagree.coefficients.sums import root
from setagree.coefficients.uncertain import jackknife_variance
from setagree.errors import check_choice
from setagree.inference.panel_members import require_study
from setagree.inference.unit_order import (
    check_weighted,
    is_clustered,
    rows_of_units,
    without_clusters,
)
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.scoring.intervals import t_interval
from setagree.scoring.result_tables import ResultTable, for_each_row, per_row
from setagree.scoring.results import Agreement, AgreementTable, raters_in_words, without_each_rater
from setagree.wording.result_base import Result
from setagree.wording.tables import Column

Over: TypeAlias = Literal["units", "raters"]


@dataclass(frozen=True, eq=False, repr=False)
class Jackknife(Result):
    """Leave-one-out estimates of a coefficient.

    Attributes
    ----------
    agreement : Agreement
        The coefficient of the whole study.
    over : {"units", "raters", "clusters"}
        What is left out.
    values : Series
        The estimates by unit, rater or cluster; NaN if undefined.
    """

    agreement: Agreement
    over: str
    values: pd.Series[float]

    columns = (
        Column("unit", "name"),
        Column("rater", "name"),
        Column("cluster", "name"),
        Column("estimate_without"),
        Column("difference", meaning="the estimate without it minus the full estimate"),
        Column("n_ratings", "count", "ratings"),
    )
    max_rows = 20

    def _to_print(self) -> pd.DataFrame:
        """Return the rows, the largest change first."""
        return self.to_frame().sort_values("difference", key=np.abs, ascending=False, kind="stable")

    @cached_property
    def _defined(self) -> Floats:
        values = self.values.to_numpy(dtype=float)
        return np.asarray(values[np.isfinite(values)], dtype=np.float64)

    @property
    def n_undefined(self) -> int:
        """Number of undefined estimates."""
        return len(self.values) - len(self._defined)

    @property
    def bias(self) -> float:
        """Return (n - 1) (mean of the values - estimate), or NaN for fewer than two values."""
        n = len(self._defined)
        if n < 2:
            return float("nan")
        return float((n - 1) * (self._defined.mean() - self.agreement.estimate))

    @property
    def standard_error(self) -> float:
        """Return sqrt((n - 1) / n sum (value - mean)²), or NaN for fewer than two values.

        Return 0 if the sum is within rounding of 0; this does not show certainty.
        """
        if len(self._defined) < 2:
            return float("nan")
        return float(root(jackknife_variance(self._defined)))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return estimate ± t SE with n - 1 degrees of freedom, truncated at 1.

        Return NaN if the standard error is not above 0.
        """
        check_level(level)
        df = len(self._defined) - 1
        return t_interval(self.agreement.estimate, self.standard_error, df, level)

    @property
    def acceleration(self) -> float:
        """Return sum d³ / (6 (sum d²)^1.5) of d = mean - value, for BCa (Efron 1987)."""
        return acceleration(self._defined, np.ones(len(self._defined)))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per unit, rater or cluster: the estimate without it, and the change.

        The change is the estimate without it minus the full estimate: above 0 if it disagrees with
        the others, below 0 if it agrees with them more than they agree among themselves. Over
        raters, ``n_ratings`` is the number of the rater's ratings.
        """
        frame = self.values.rename("estimate_without").to_frame()
        frame["difference"] = frame["estimate_without"] - self.agreement.estimate
        study = self.agreement.study
        if self.over == "raters" and study is not None:
            frame["n_ratings"] = np.bincount(study.rater_codes, minlength=study.n_raters)
        return frame

    def _heading(self) -> str:
        missed = f", {self.n_undefined:,} undefined" if self.n_undefined else ""
        raters = raters_in_words([self.agreement], self.over)
        about = f", {raters}" if self.standard_error > 0 else ""
        return (
            f"{self.agreement.coefficient} [{self.agreement.distance}] "
            f"{self.agreement.estimate:.4f}, se {self.standard_error:.4f} over "
            f"{len(self.values):,} {self.over}{about}{missed}"
        )


@per_row(Jackknife, ResultTable[Jackknife])
@takes_data
def jackknife(
    agreement: Agreement | AgreementTable | Data,
    *more: RaterAnswers,
    over: Over = "units",
    **options: Unpack[ReadingOptions],
) -> Jackknife | ResultTable[Jackknife]:
    """Return the coefficient without each unit, or without each rater.

    Over units this is a closed form: leaving out a unit with counts c changes n' D n by -2 c' D n +
    c' D c. Over raters the estimates are computed from each rater's units; only mv_alpha reshuffles
    labels again for each rater. The distance stays that of the full study, with its d_max,
    mid-ranks and values.

    Parameters
    ----------
    agreement : Agreement, AgreementTable, or a study
        Result of a coefficient function or of `agreement`. For a study, a table or a path,
        Krippendorff's alpha with its default distance.
    over : {"units", "raters"}
        What is left out. If units were drawn in clusters, "units" leaves out clusters.

    Returns
    -------
    Jackknife or ResultTable of Jackknife

    Raises
    ------
    DataError
        Raters are left out of a tally without rater identities.
    CostError
        A unit has tens of thousands of raters and as many answers, or mv_alpha as many raters.

    Examples
    --------
    >>> import setagree as sa
    >>> alpha = sa.krippendorff_alpha(sa.simulate(40, 3, rng=1))
    >>> sa.jackknife(alpha, over="raters").values.round(3).to_dict()
    {'r1': 0.412, 'r2': 0.238, 'r3': 0.302}
    """
    check_choice("over", over, ("units", "raters"))
    return for_each_row(agreement, lambda row: _jackknifed(row, over))


def _jackknifed(row: Agreement, over: Over) -> Jackknife:
    if over == "raters":
        study = require_study(row, "leaving out raters")
        raters = pd.Index(study.raters, name="rater")
        return Jackknife(row, over, pd.Series(without_each_rater(row, study), index=raters))
    check_weighted(row, "The jackknife")
    if is_clustered(row):
        return Jackknife(row, "clusters", without_clusters(row))
    # Over units, of which those of one pattern have one value.
    units = row.tally.units
    index = None if units is None else pd.Index(units, name="unit")
    without = row.sums.without_units()[rows_of_units(row)[0]]
    return Jackknife(row, over, pd.Series(without, index=index))


def acceleration(values: Floats, times: Floats) -> float:
    """Return sum d³ / (6 (sum d²)^1.5) of d = mean - value, for values with multiplicities."""
    times = np.where(np.isfinite(values), times, 0)
    n = float(times.sum())
    if n < 2:
        return float("nan")
    d = np.where(times > 0, values, 0)
    d = np.where(times > 0, float((times * d).sum()) / n - d, 0)
    spread = float((times * d**2).sum())
    return float((times * d**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0
