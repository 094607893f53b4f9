"""What a plan is asked for, and what it may cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor, inf, isfinite
from numbers import Real

import numpy as np

from setagree.checks import check_level
from setagree.errors import OptionError, option

_GOALS = {
    "half_width": "how many units?",
    "units": "what interval?",
    "power": "how many units for a test?",
    "budget": "which units and raters?",
}
"""The wishes of which a plan takes one, and what each asks."""

_HALF_WIDTH, _POWER = 0.05, 0.8


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """The options of `plan`, which explains them."""

    half_width: float | None = None
    units: Sequence[int] | None = None
    raters: Sequence[int] | None = None
    units_per_cluster: Sequence[int] | None = None
    level: float = 0.95
    assurance: float | None = None
    at_least: float | None = None
    power: float | None = None
    cost_unit: float | None = None
    cost_rating: float | None = None
    budget: float | None = None

    @property
    def chooses(self) -> bool:
        """Whether numbers of raters are weighed against one another by their cost."""
        return self.cost_rating is not None and self.units is None

    def cost(self, units: float, raters: float) -> float:
        """Return what so many units cost, each rated by so many raters."""
        return units * ((self.cost_unit or 0) + raters * (self.cost_rating or 0))

    def affordable(self, raters: float) -> int:
        """Return how many units the budget buys."""
        return floor((self.budget or 0) / self.cost(1, raters) * (1 + 1e-12))


def checked(wishes: Wishes) -> Wishes:
    """Return the wishes with what is not said filled in.

    Raises
    ------
    OptionError
        A number is out of range, or two of them do not go together.
    """
    check_level(wishes.level)
    _check_numbers(wishes)
    if (threshold := wishes.at_least) is not None and not -1 <= _number(threshold) < 1:
        raise OptionError(f"{option('at_least', threshold)} must be a number from -1 to below 1.")
    goals = [name for name in _GOALS if getattr(wishes, name) is not None]
    if len(goals) > 1:
        said = " or ".join(f"{option(name)} ({_GOALS[name]})" for name in goals[:2])
        raise OptionError(f"say {said}, not both.")
    _check_costs(wishes)
    if wishes.power is not None and wishes.at_least is None:
        return replace(wishes, at_least=0.0)
    if goals:
        return wishes
    if wishes.at_least is not None:
        return replace(wishes, power=_POWER)
    return replace(wishes, half_width=_HALF_WIDTH)


def _check_numbers(wishes: Wishes) -> None:
    for name in ("half_width", "assurance", "power"):
        share = getattr(wishes, name)
        if share is not None and not 0 < _number(share) < 1:
            raise OptionError(f"{option(name, share)} must lie between 0 and 1.")
    for name in ("units", "raters"):
        wanted = getattr(wishes, name)
        if wanted is not None and not _is_list_of_numbers(wanted, least=2):
            raise OptionError(
                f"{option(name, wanted)} must be a list of whole numbers of 2 or more."
            )
    sizes = wishes.units_per_cluster
    if sizes is not None and not _is_list_of_numbers(sizes, least=1):
        raise OptionError(
            f"{option('units_per_cluster', sizes)} must be a list of whole numbers above 0."
        )


def _check_costs(wishes: Wishes) -> None:
    for name, least in (("cost_unit", 0.0), ("cost_rating", 5e-324), ("budget", 5e-324)):
        cost = getattr(wishes, name)
        if cost is not None and not least <= _number(cost) < inf:
            which = "0 or more" if least == 0 else "above 0"
            raise OptionError(f"{option(name, cost)} must be a number {which}.")
    for name in ("cost_unit", "budget"):
        if getattr(wishes, name) is not None and wishes.cost_rating is None:
            raise OptionError(
                f"{option(name)} needs {option('cost_rating')}, what one rating costs."
            )


def _number(wanted: object) -> float:
    """Return a number as it is, nan for anything else."""
    if isinstance(wanted, bool) or not isinstance(wanted, Real | np.floating):
        return float("nan")
    return float(wanted) if isfinite(wanted) else float("nan")


def _is_list_of_numbers(wanted: object, *, least: int) -> bool:
    if not isinstance(wanted, Sequence | np.ndarray) or not len(wanted):
        return False
    return all(isinstance(n, int | np.integer) and n >= least for n in wanted)
