"""The commands that decide: what to rate next, when to stop, whether to accept, and why not."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import setagree as sa
from setagree.cli import options as options
from setagree.cli.options import (
    ApartReading,
    BatchReading,
    Delivery,
    Reading,
    RepeatsReading,
    grouped,
)
from setagree.cli.output import Deliverer, sentences
from setagree.cli.reading import how_read, names, rater_names, read_study, read_with_models
from setagree.cli.show import say
from setagree.errors import OptionError, spelling
from setagree.large.joining import model_files
from setagree.large.recognition import find_export
from setagree.wording.result_base import wrapped

NEXT_HELP = """[bold]setagree next study.csv --budget 200 -o queue.csv[/bold]

[not dim]Which units to rate next, how often, by whom. Also:[/]

setagree next study.csv --budget 200 --goal agreement
setagree next gpt.csv --budget 100 --goal prevalence --model gpt
setagree next study.csv --budget 200 --pool ann,ben,eva
"""

MONITOR_HELP = """[bold]setagree monitor study.csv --batch batch --threshold 0.667[/bold]

[not dim]Alpha of all units up to each batch, with intervals that hold at every look. Also:[/]

setagree monitor study.csv --batch week --threshold 0.8 --looks 50,100,200
"""

COMPONENTS_HELP = """[bold]setagree components study.csv[/bold]

[not dim]How much disagreement lies with the raters, how much with single answers. Also:[/]

setagree components scores.csv --value score -d interval
"""

REPEATS_HELP = """[bold]setagree repeats study.csv[/bold]

[not dim]How far raters agree with themselves where they rated a unit again. Also:[/]

setagree repeats study.csv --order-by created
"""

ACCEPT_HELP = """[bold]setagree accept --acceptable-rate 0.02 --rejectable-rate 0.1[/bold]

[not dim]How many answers to check, and how many errors to allow. Then:[/]

setagree accept --acceptable-rate 0.02 --rejectable-rate 0.1 --checked 65 --errors 2
"""


@grouped
@sentences()
def queue(
    files: options.Files,
    *,
    reading: ApartReading,
    budget: options.Budget,
    goal: options.Goal = "consensus",
    pool: options.Pool = None,
    seed: options.Seed = None,
    delivery: Delivery,
) -> None:
    """List the units to rate next."""
    deliver = Deliverer(delivery, [*files, *model_files(reading.model)], reading)
    given: dict[str, Any] = {"goal": goal, "budget": budget, "rng": seed}
    if goal == "prevalence":
        people = replace(reading, model=None)
        study, models = read_with_models(files, people, reading.model or [], all_units=True)
        given["model"] = models or None
    else:
        study = read_study(files, reading)
    asked = None if pool is None else [*dict.fromkeys(rater_names(study, names(pool)))]
    found = sa.next_ratings(study, pool=asked, **given)
    notes = found.notes
    deliver(found.to_frame(), str(found), result=found)
    if delivery.output is not None:
        say(f"Written: {delivery.output} ({found.asks})")
        if found.frame["queued"].any():
            say(_reading_again(files, reading))
        for note in notes:
            say(note)


def _reading_again(files: Sequence[str], reading: Reading) -> str:
    """Return how the new ratings are read together with the files."""
    if reading.wide:
        return "Enter the new ratings in the columns of the raters."
    again = "setagree score {} new.csv --queued queued"
    how = how_read(reading)
    if not how.is_table and find_export([*files], how)[0] is not None:
        return (
            "With the new ratings in new.csv (columns unit, rater, labels and queued): setagree "
            f"convert {shlex.join(files)} -o ratings.csv, then {again.format('ratings.csv')}"
        )
    again = again.format(shlex.join(files))
    return f"With the new ratings in new.csv, and the same options for reading: {again}"


@grouped
@sentences()
def watch(
    files: options.Files,
    *,
    reading: BatchReading,
    batch: options.Batch,
    threshold: options.Goalpost,
    looks: options.Looks = None,
    max_units: options.MostUnits = None,
    level: options.Level = 0.95,
    distance: options.OneDistance = None,
    delivery: Delivery,
) -> None:
    """Test whether enough is rated."""
    deliver = Deliverer(delivery, files, reading)
    with spelling({"unit_columns": "--batch"}):
        study = read_study(files, reading, of_units=[batch])
        found = sa.monitor(
            study,
            batch=batch,
            threshold=threshold,
            looks=_looks(looks),
            max_units=max_units,
            level=level,
            distance=distance,
        )
    deliver(found.to_frame(), str(found), result=found)


@grouped
@sentences()
def divide(
    files: options.Files,
    *,
    reading: ApartReading,
    distance: options.OneDistance = None,
    level: options.Level = 0.95,
    delivery: Delivery,
) -> None:
    """Estimate the sources of disagreement."""
    deliver = Deliverer(delivery, files, reading)
    study = read_study(files, reading)
    found = sa.variance_components(study, distance=distance, level=level)
    deliver(found.to_frame(), str(found), result=found)


@grouped
@sentences()
def rated_again(
    files: options.Files,
    *,
    reading: RepeatsReading,
    distance: options.OneDistance = None,
    level: options.Level = 0.95,
    delivery: Delivery,
) -> None:
    """Estimate the agreement of raters with themselves."""
    deliver = Deliverer(delivery, files, reading)
    if reading.duplicates not in {"error", "repeats"}:
        raise OptionError(f"repeats are kept here; drop --duplicates {reading.duplicates}.")
    study = read_study(files, replace(reading, duplicates="repeats"))
    found = sa.intra_rater_agreement(study, distance=distance, level=level)
    deliver(found.to_frame(), str(found), result=found)


@grouped
@sentences()
def accept(
    *,
    acceptable_rate: options.AcceptableRate,
    rejectable_rate: options.RejectableRate,
    producer_risk: options.ProducerRisk = 0.05,
    consumer_risk: options.ConsumerRisk = 0.1,
    lot: options.Lot = None,
    checked: options.Checked = None,
    errors: options.Errors = None,
    delivery: Delivery,
) -> None:
    """Plan the number of answers to check, and test whether to accept."""
    deliver = Deliverer(delivery, [])
    plan = sa.acceptance_plan(
        acceptable_rate=acceptable_rate,
        rejectable_rate=rejectable_rate,
        producer_risk=producer_risk,
        consumer_risk=consumer_risk,
        lot=lot,
    )
    if checked is None and errors is None:
        deliver(plan.to_frame(), wrapped(str(plan)), result=plan)
        return
    if checked is None or errors is None:
        raise OptionError("--checked and --errors go together.")
    test = sa.acceptance_test(plan, n_errors=errors, n_checked=checked)
    deliver(test.to_frame(), wrapped(str(test)), result=test)


def _looks(given: list[str] | None) -> list[int] | int | None:
    """Return planned sizes, or the number of looks where there is one number."""
    listed = names(given)
    if not listed:
        return None
    if not all(one.isdecimal() for one in listed):
        raise OptionError(f"--looks {','.join(listed)} must be whole numbers, such as 50,100,200.")
    sizes = [int(one) for one in listed]
    return sizes[0] if len(sizes) == 1 else sizes
