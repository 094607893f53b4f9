"""The command that says how large a study should be."""

from __future__ import annotations

from collections.abc import Sequence

import setagree as sa
from setagree.cli import options as options
from setagree.cli.grouping import grouped
from setagree.cli.inference import ALPHA, counts, seed_or_drawn
from setagree.cli.large import check_where_large, scored
from setagree.cli.options import Asked, Costs, Delivery, Large, PilotReading
from setagree.cli.output import Deliverer, sentences
from setagree.cli.reading import names
from setagree.errors import OptionError, spelling
from setagree.wording.result_base import paragraphs

PLAN_HELP = """[bold]setagree plan pilot.csv --half-width 0.05[/bold]

[not dim]How many units give alpha ± 0.05, judging by a pilot study. Also:[/]

setagree plan pilot.csv --units 100,200,400 --ratings 2,3,5
setagree plan pilot.csv --at-least 0.2 --power 0.9
setagree plan pilot.csv --budget 1000 --cost-unit 1 --cost-rating 0.5
"""


@grouped
@sentences()
def plan(
    files: options.Files,
    *,
    reading: PilotReading,
    large: Large,
    asked: Asked,
    half_width: options.HalfWidth = None,
    n_units: options.HowManyUnits = None,
    n_ratings: options.HowManyRatings = None,
    n_together: options.HowManyTogether = None,
    level: options.Level = 0.95,
    assurance: options.Assurance = None,
    at_least: options.AtLeast = None,
    power: options.Power = None,
    costs: Costs,
    seed: options.Seed = None,
    delivery: Delivery,
) -> None:
    """Plan the number of units for a wanted interval."""
    deliver = Deliverer(delivery, [*files, *asked.paths], reading)
    if not reading.wide and reading.raters and "".join(names(reading.raters)).isdecimal():
        said = "--raters names columns; numbers of ratings per unit are those of --ratings."
        raise OptionError(said)
    goals = sa.PlanGoals(
        half_width=half_width,
        n_units=_numbers("units", n_units),
        power=power,
        at_least=at_least,
        assurance=assurance,
        level=level,
    )
    price = _costs(costs)
    raters = _numbers("ratings", n_ratings)
    sizes = _numbers("units-per-cluster", n_together, least=1)
    drawn = seed_or_drawn(seed)
    by_raters = {"--ratings": n_ratings is not None}
    by_raters["--cost-rating"] = price is not None and n_units is None
    check_where_large(large, by_raters)
    table = scored(files, reading, large=large, asked=asked, coefficient=ALPHA, level=level)
    with spelling({"n_raters": "--ratings", "n_units": "--units"}):
        planned = sa.plan(
            table, goals, costs=price, n_raters=raters, units_per_cluster=sizes, rng=drawn
        )
    frame = planned.to_frame().assign(level=level)
    if any(by_raters.values()):
        frame["seed"] = drawn  # of the choice of raters who are left out, where there are many
    deliver(frame, paragraphs(counts(table), str(planned)), about=table[0].about, result=planned)


def _costs(costs: Costs) -> sa.PlanCosts | None:
    """Return the costs of the plan, or None if there are none."""
    if costs.cost_rating is not None:
        per_unit, budget = costs.cost_unit, costs.budget
        return sa.PlanCosts(per_rating=costs.cost_rating, per_unit=per_unit or 0, budget=budget)
    for name, cost in (("--cost-unit", costs.cost_unit), ("--budget", costs.budget)):
        if cost is not None:
            raise OptionError(f"{name} needs --cost-rating, the cost of a rating.")
    return None


def _numbers(name: str, given: Sequence[str] | None, *, least: int = 2) -> list[int] | None:
    """Return the whole numbers of an option."""
    if given is None:
        return None
    listed = names(given)
    numbers = [int(number) for number in listed if number.isdecimal()]
    if listed and len(numbers) == len(listed) and min(numbers) >= least:
        return numbers
    raise OptionError(
        f"--{name} {','.join(given)!r} must be whole numbers of {least} or more, such as 2,3,5."
    )
