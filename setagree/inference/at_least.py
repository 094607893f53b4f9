"""Whether a coefficient is at least as high as it has to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np
import pandas as pd

from setagree.checks import check_level, public
from setagree.errors import OptionError, SetagreeWarning, option, warn
from setagree.inference.raters import is_number
from setagree.large.opening import Data
from setagree.scoring.intervals import ABOUT
from setagree.scoring.names import coefficient_name
from setagree.scoring.result_tables import ResultTable, for_each_row
from setagree.scoring.results import Agreement, AgreementTable
from setagree.wording.numbers import four, level_text
from setagree.wording.results import Result


@dataclass(frozen=True, eq=False, repr=False)
class AtLeast(Result):
    """Whether a coefficient is at least as high as a threshold.

    Attributes
    ----------
    agreement : Agreement
        The coefficient.
    threshold : float
        How high it has to be.
    level : float
        The one-sided confidence.
    low, high : float
        The one-sided ends: the coefficient is at least `low`, and at most `high`.
    """

    agreement: Agreement
    threshold: float
    level: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether the low end reaches the threshold."""
        return self.low >= self.threshold

    @property
    def reason(self) -> str | None:
        """Why there are no ends, or None."""
        if not np.isnan(self.low):
            return None
        return self.agreement.interval_reason or "one unit shows no spread"

    @property
    def verdict(self) -> str:
        """The decision in words, with what it stands on."""
        name, goal = _name(self.agreement), f"{self.threshold:g}"
        if self.reason is not None:
            return f"No verdict: {self.reason}."
        sure = f"with {level_text(self.level)} confidence ({ABOUT['units']})"
        if self.holds:
            return f"{name} is at least {goal}: {sure} it is {four(self.low)} or more."
        if self.high < self.threshold:
            return f"{name} is below {goal}: {sure} it is {four(self.high)} or less."
        return (
            f"Not decided: {name} is {four(self.agreement.estimate)}, and {sure} only "
            f"{four(self.low)} or more; {goal} is within reach of these data."
        )

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the two-sided interval from which the ends are taken, at any level."""
        return self.agreement.interval(level, method=self.agreement.best_method)

    def to_frame(self) -> pd.DataFrame:
        """Return one row."""
        row = {
            "coefficient": self.agreement.coefficient,
            "distance": self.agreement.distance,
            "estimate": self.agreement.estimate,
            "threshold": self.threshold,
            "level": self.level,
            "low": self.low,
            "high": self.high,
            "holds": self.holds,
        }
        return pd.DataFrame([row])

    def __repr__(self) -> str:
        return f"<AtLeast {self.threshold:g}: {self.verdict}>"


@overload
def at_least(
    agreement: AgreementTable, threshold: float, *, level: float = ...
) -> ResultTable[AtLeast]: ...


@overload
def at_least(agreement: Agreement | Data, threshold: float, *, level: float = ...) -> AtLeast: ...


@public
def at_least(
    agreement: Agreement | AgreementTable | Data, threshold: float, *, level: float = 0.95
) -> AtLeast | ResultTable[AtLeast]:
    """Return whether a coefficient is at least a threshold, with a one-sided confidence.

    The low end is that of the two-sided interval of level 2 `level` - 1: of .90 for .95. It is the
    score interval where that is known to hold for the coefficient, else t (see
    `Agreement.best_method`).

    In simulated studies of 20 to 100 units whose alpha was exactly the threshold, the score
    interval said "at least" in 6 % of them at most, and "below" as well, where 5 % are promised.
    The t interval said "at least" in up to 13 % where agreement was high, which a warning says.

    Parameters
    ----------
    agreement : Agreement, AgreementTable, or a study
        Of a study, a table or a path, it is Krippendorff's alpha with its default distance.
    threshold : float
        How high the coefficient has to be, such as .667 or .8; below 1.
    level : float
        The one-sided confidence, above one half.

    Returns
    -------
    AtLeast or ResultTable of AtLeast

    Raises
    ------
    OptionError
        The threshold is no number below 1, or the level is not above one half.

    Warns
    -----
    SetagreeWarning
        The threshold is reached by a t interval.

    Examples
    --------
    >>> import setagree as sa
    >>> print(sa.at_least(sa.simulate(200, 3, skill=0.9, rng=1), 0.6).verdict)
    Krippendorff's alpha is at least 0.6: with 95 % confidence (these raters) it is 0.6775 or more.
    """
    check_level(level)
    if not level > 0.5:
        raise OptionError(
            f"{option('level', level)} must be above 0.5: the confidence is one-sided."
        )
    if not is_number(threshold) or not threshold < 1:
        raise OptionError(
            f"{option('threshold', threshold)} must be a number below 1, such as 0.667."
        )

    def judged(row: Agreement) -> AtLeast:
        low, high = row.interval(2 * level - 1, method=row.best_method)
        found = AtLeast(row, float(threshold), level, low, high)
        if found.holds and row.best_method == "t":
            warn(
                f"That {_name(row)} is at least {threshold:g} rests on its t interval, which "
                "promises too much where agreement is high: in simulated studies it said so of up "
                "to 13 % that were no better than the threshold, instead of 5 %.",
                SetagreeWarning,
            )
        return found

    return for_each_row(agreement, judged)


def _name(agreement: Agreement) -> str:
    """Return what papers call the coefficient."""
    return coefficient_name(agreement.definition, [agreement.distance])
