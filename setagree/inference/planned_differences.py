"""How many units show that one coefficient is above another, or not below it by a margin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from setagree.errors import DataError, OptionError, counted, option
from setagree.inference.comparison import Comparison
from setagree.inference.planned_tests import PlannedTest
from setagree.inference.widths import Widths
from setagree.inference.wishes import Wishes
from setagree.wording.results import Result

_OTHERS = ("raters", "units_per_cluster", "assurance", "cost_unit", "cost_rating", "budget")


@dataclass(frozen=True, eq=False, repr=False)
class DifferencePlan(Result):
    """What interval of a difference, and which power, to expect from how many shared units.

    Attributes
    ----------
    comparison : Comparison
        The pilot.
    frame : DataFrame
        first, second, difference (that of the pilot), units, standard_error, half_width, with
        `at_least` power, and more_units.
    wishes : Wishes
        What was asked for, and what was taken where nothing was said.
    """

    comparison: Comparison
    frame: pd.DataFrame
    wishes: Wishes

    @property
    def about(self) -> str:
        """What the intervals are about: these raters, judging a sample of units."""
        return self.comparison.about

    def to_frame(self) -> pd.DataFrame:
        """Return the plan, nothing rounded."""
        return self.frame.copy()

    def __repr__(self) -> str:
        first, n = self.frame.iloc[0], counted(len(self.frame), "row")
        what = f"{first['first']} - {first['second']}"
        return f"<DifferencePlan of {what}: {n}, about {self.about}>"

    def __str__(self) -> str:
        about = f"Intervals are about {self.about}."
        shown = f"{self.frame.round(4).to_string(index=False)}\n\n{about}"
        if self.wishes.at_least is None:
            return shown
        return (
            f"{shown}\n\npower: how often such a study shows with {100 * self.wishes.level:g} % "
            f"confidence (one-sided) that the difference is above {self.wishes.at_least:g}, if it "
            "is as in the pilot."
        )


def planned_differences(comparison: Comparison, wishes: Wishes) -> DifferencePlan:
    """Return the plan of each pair; see `plan`."""
    named = [name for name in _OTHERS if getattr(wishes, name) is not None]
    if named:
        raise OptionError(f"{named[0]}= is for the plan of a coefficient, not of a difference.")
    if comparison.design == "independent" or comparison.drawn:
        raise OptionError(
            "a difference is planned where both stand on the same units, drawn one by one; here "
            f"{comparison.drawn or 'they are independent studies'}."
        )
    rows = []
    for (first, second), pair, shared in zip(
        comparison.names, comparison.differences, comparison.n_shared, strict=True
    ):
        if not pair.standard_error > 0:
            raise DataError(
                f"{first} - {second} has no standard error above 0, so nothing follows from it."
            )
        done = int(pair.degrees_of_freedom + 1) if np.isfinite(pair.degrees_of_freedom) else shared
        row = {"first": first, "second": second, "difference": pair.value}
        spread = pair.standard_error**2 * done
        rows += [row | each for each in _rows(pair.value, spread, done, wishes)]
    return DifferencePlan(comparison, pd.DataFrame(rows), wishes)


def _rows(value: float, variance: float, done: int, wishes: Wishes) -> list[dict[str, float]]:
    widths, test = Widths(wishes.level), None
    if wishes.at_least is not None:
        test = PlannedTest(wishes.at_least, wishes.level, 1 - value, None, variance)
    if wishes.units is not None:
        units = [*wishes.units]
    elif wishes.half_width is not None:
        units = [widths.units_for(variance, wishes.half_width)]
    elif wishes.power is not None and test is not None and value > test.threshold:
        units = [test.units_for(variance, wishes.power)]
    else:
        raise OptionError(
            f"{option('at_least', wishes.at_least)} is not below the difference of the pilot, "
            f"{value:.4f}: if that is the truth, no number of units shows more."
        )
    rows = []
    for n in units:
        row = {"units": n, "standard_error": float(np.sqrt(variance / n))}
        row["half_width"] = widths.half_width(variance, n)
        if test is not None:
            row["power"] = test.power(variance, n)
        rows.append({**row, "more_units": max(0, n - done)})
    return rows
