"""What a plan comes back as."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import Any

import pandas as pd

from setagree.errors import counted, option
from setagree.inference.clusters import is_clustered
from setagree.inference.wishes import Wishes
from setagree.scoring.intervals import ABOUT
from setagree.scoring.results import Agreement
from setagree.wording.results import Result

_FEW_UNITS = 30
"""Units below which a pilot is doubted."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """What interval to expect from how many units and raters.

    Attributes
    ----------
    agreement : Agreement
        The pilot, which the plan is made from.
    frame : DataFrame
        raters, units, standard_error, half_width, more_units, basis; of a pilot with clusters
        units_per_cluster (on average), clusters, degrees_of_freedom, and reason: why there is no
        interval, and no number that needs one; with `at_least` power, and with costs cost.
    wishes : Wishes
        What was asked for, and what was taken where nothing was said.
    pilot_half_width : float
        What the pilot has, its upper end not cut at 1.
    pilot_units : int
        The units that count in the pilot: for most coefficients those of two ratings.
    alike : float
        How alike units of a cluster are in the pilot (rho); nan where there are no clusters.
    unaffordable : tuple of (raters, units per cluster)
        What the budget buys too few units of for an interval.
    """

    agreement: Agreement
    frame: pd.DataFrame
    wishes: Wishes
    pilot_half_width: float
    pilot_units: int
    alike: float = nan
    unaffordable: tuple[tuple[float, float], ...] = ()

    @property
    def about(self) -> str:
        """What the intervals are about: these raters, judging a sample of units."""
        return ABOUT["units"]

    @property
    def level(self) -> float:
        """The level of the interval."""
        return self.wishes.level

    @property
    def half_width(self) -> float | None:
        """What was wanted; None where something else was."""
        return self.wishes.half_width

    @property
    def best(self) -> pd.Series[Any] | None:
        """The row of the smallest half width for the budget, or of the smallest cost.

        None where no costs were named, or numbers of units were.
        """
        if not self.wishes.chooses:
            return None
        by = self.frame["half_width" if self.wishes.budget is not None else "cost"]
        return self.frame.iloc[int(by.to_numpy().argmin())]

    @property
    def reached(self) -> str:
        """A sentence that says so where the pilot has what is wanted; else nothing."""
        if self.half_width is None or self.pilot_half_width > self.half_width:
            return ""
        return (
            f"The pilot as it is already gives ± {self.pilot_half_width:.4f}, within the "
            f"± {self.half_width:g} wanted: no more units are needed."
        )

    @property
    def too_few(self) -> str:
        """A sentence that says which clusters are too few for an interval; else nothing."""
        if "reason" not in self.frame or not self.frame["reason"].notna().any():
            return ""
        whys = "; ".join(self.frame["reason"].dropna().unique())
        return f"No interval can be had: {whys}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What intervals are about, what was planned for, and which row is best, in sentences."""
        wishes, said = self.wishes, [f"Intervals are about {self.about}."]
        if wishes.assurance is not None:
            said.append(
                f"half width: that which {100 * wishes.assurance:g} % of such studies do not "
                "exceed, allowing for the chance in the pilot, too."
            )
        if wishes.at_least is not None:
            other = "" if wishes.at_least else f" ({option('at_least')} names another bound)"
            said.append(
                f"power: how often such a study shows with {100 * wishes.level:g} % confidence "
                f"(one-sided) that {self.agreement.coefficient} is above {wishes.at_least:g}"
                f"{other}, if it is {self.agreement.estimate:.4f} as in the pilot."
            )
        said += filter(None, [self.too_few, self.left_out, self.larger_clusters, self.doubt])
        if (best := self.best) is not None:
            n, r = counted(int(best["units"]), "unit"), f"{best['raters']:g}"
            if "clusters" in best:
                n += f" in {counted(int(best['clusters']), 'cluster')}"
            what = (
                f"The smallest half width for {wishes.budget:.10g}, ± {best['half_width']:.4f}"
                if wishes.budget is not None
                else f"The smallest cost, {best['cost']:.10g}"
            )
            guess = " (extended: a rough guide)" if best["basis"] == "extended" else ""
            at_edge = wishes.raters is None and best["raters"] == self.frame["raters"].max()
            edge = " More raters were not tried." if at_edge else ""
            said.append(f"{what}: {n} with {r} ratings each{guess}.{edge}")
        return (*said, *filter(None, [self.reached]))

    @property
    def left_out(self) -> str:
        """A sentence on what the budget buys too few units of; nothing where there is no such."""
        if not self.unaffordable:
            return ""
        by_size: dict[float, list[str]] = {}
        for r, size in self.unaffordable:
            by_size.setdefault(size, []).append(f"{r:.3g}")
        is_plain = not is_clustered(self.agreement)
        what = [
            f"{'units' if is_plain else f'{m:.3g} units a cluster'} with {_either(r)} ratings each"
            for m, r in by_size.items()
        ]
        return (
            f"Left out, as {self.wishes.budget:.10g} buys too few units for an interval: "
            f"{'; '.join(what)}."
        )

    @property
    def larger_clusters(self) -> str:
        """A sentence on what clusters larger than any of the pilot rest on; else nothing."""
        found = self.agreement.spread.clusters
        if found is None or self.wishes.units_per_cluster is None:
            return ""
        if (most := int(self.frame["units_per_cluster"].max())) <= found.sizes.max():
            return ""
        wider = sqrt(1 + 0.1 * (most - 1) / (1 + (most - 1) * self.alike))
        return (
            "Clusters larger than those of the pilot rest on how alike its units are, rho "
            f"{self.alike:.2f}, which {found.n:,} clusters tell roughly: with "
            f"{self.alike + 0.1:.2f} intervals of clusters of {most:,} would be {wider:.1f} times "
            "as wide."
        )

    @property
    def doubt(self) -> str:
        """A sentence on how little a pilot of few units says; nothing where it has 30 or more."""
        if self.pilot_units >= _FEW_UNITS:
            return ""
        pilot, here = self.agreement, self.pilot_half_width
        low, high = pilot.interval(self.level, method=pilot.best_method)
        if isnan(low):
            low, high = pilot.estimate - here, min(1.0, pilot.estimate + here)
        asked = self.wishes.assurance is not None or self.wishes.power is not None
        room = (
            f" {option('assurance', 0.8)} leaves room for that; without it, half of such studies "
            "come out wider than planned."
        )
        return (
            f"A pilot of {counted(self.pilot_units, 'unit')} says little: its {pilot.coefficient} "
            f"may be anywhere from {low:.4f} to {high:.4f} ({100 * self.level:g} % interval), and "
            f"the spread of units that this plan rests on is as uncertain.{'' if asked else room}"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the plan, nothing rounded."""
        return self.frame.copy()

    def __repr__(self) -> str:
        drawn = f" in {self.agreement.drawn}" if is_clustered(self.agreement) else ""
        return (
            f"<Plan from {self.agreement.coefficient} [{self.agreement.distance}] "
            f"{self.agreement.estimate:.4f} on {self.agreement.n_units:,} units{drawn}: "
            f"{counted(len(self.frame), 'row')}, about {self.about}>"
        )

    def __str__(self) -> str:
        shown = self.frame.drop(columns="reason", errors="ignore").round(
            {"degrees_of_freedom": 1, "standard_error": 4, "half_width": 4, "power": 4}
        )
        return "\n\n".join([shown.to_string(index=False), *self.notes])


def _either(numbers: list[str]) -> str:
    """Return ``2, 3 or 5``."""
    return " or ".join(filter(None, [", ".join(numbers[:-1]), numbers[-1]]))
