"""Commands for decisions: which units to rate next, when to stop, what to accept."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import MISSING
from typing import Any, get_args

import setagree as sa
from setagree.cli import options as options
from setagree.cli.inference import whole_numbers
from setagree.cli.options import (
    ApartReading,
    BatchReading,
    Count,
    Delivery,
    Group,
    Reading,
    RepeatsReading,
    Texts,
    member,
)
from setagree.cli.output import Deliverer, command
from setagree.cli.reading import how_read, names, rater_names, read_study, read_with_models
from setagree.cli.show import say
from setagree.diagnosis.next_ratings import Goal
from setagree.errors import OptionError, check_choice, shorten, spelling
from setagree.large.joining import model_files
from setagree.large.recognition import find_export
from setagree.wording.result_base import wrapped

NEXT_HELP = """[bold]setagree next study.csv --budget 200 -o queue.csv[/bold]

[not dim]List the units to rate next, how often, and by which raters. Also:[/]

setagree next study.csv --budget 200 --goal agreement
setagree next gpt.csv --budget 100 --goal prevalence --model gpt
setagree next study.csv --budget 200 --pool ann,ben,eva
"""


class Request(Group, panel="Units to rate next"):
    """The number of further ratings, their purpose, and the raters."""

    budget: int = member("N", "Number of further ratings.", default=MISSING)
    goal: str = member(
        "WHAT", "consensus (default), agreement, or prevalence (of --model).", default="consensus"
    )
    pool: Texts = member("NAME", "Available raters (default: those of the file).")
    seed: options.Seed = None


@command
def queue(
    files: options.Files, *, reading: ApartReading, request: Request, delivery: Delivery
) -> None:
    """List the units to rate next."""
    models = model_files(reading.model)
    deliver = Deliverer(delivery, [*files, *models], reading)
    check_choice("goal", request.goal, get_args(Goal))
    if request.goal == "prevalence" and {*files} <= {*models}:
        raise OptionError(
            f"--model {shorten(files[0])} is also the file to read. Name the file with the ratings "
            "of people; if there are none, add a column of raters and name the model as in it: "
            f"setagree next {shlex.join(files)} --goal prevalence --model NAME."
        )
    how: dict[str, Any] = {"goal": request.goal, "budget": request.budget, "rng": request.seed}
    if request.goal == "prevalence":
        apart = ApartReading(**vars(reading) | {"model": None})
        study, how["model"] = read_with_models(files, apart, reading.model, all_units=True)
    else:
        study = read_study(files, reading)
    if request.pool is not None:
        how["pool"] = [*dict.fromkeys(rater_names(study, names(request.pool)))]
    found = sa.next_ratings(study, **how)
    deliver(found.to_frame(), str(found), result=found)
    if delivery.output is not None:
        say(f"Written: {delivery.output} ({found.asks})")
        if found.frame["queued"].any():
            say(_reading_again(files, reading))
        for note in found.notes:
            say(note)


def _reading_again(files: Sequence[str], reading: Reading) -> str:
    """Return the command that reads the new ratings together with the files."""
    if reading.wide:
        return "Enter the new ratings in the columns of the raters."
    how = how_read(reading)
    if not how.is_table and find_export([*files], how)[0] is not None:
        return (
            "With the new ratings in new.csv (columns unit, rater, labels and queued): setagree "
            f"convert {shlex.join(files)} -o ratings.csv, then setagree score ratings.csv new.csv "
            "--queued queued"
        )
    return (
        "With the new ratings in new.csv, and the same options for reading: setagree score "
        f"{shlex.join(files)} new.csv --queued queued"
    )


MONITOR_HELP = """[bold]setagree monitor study.csv --batch batch --threshold 0.667[/bold]

[not dim]Alpha of all units up to each batch. The level holds for all looks together.
Also:[/]

setagree monitor study.csv --batch week --threshold 0.8 --looks 50,100,200
"""


class Looks(Group, panel="Monitoring"):
    """The batches, the required alpha and the looks at it."""

    batch: str = member("COLUMN", "The batch, or the time, of each unit.", default=MISSING)
    threshold: float = member("VALUE", "The required alpha, such as 0.667.", default=MISSING)
    looks: Texts = member(
        "N,N", "Units at each planned look, or the number of looks (default: a look per batch)."
    )
    max_units: Count = member("N", "Units at the last look, if --looks is a number of looks.")
    level: options.Level = 0.95
    distance: options.OneDistance = None


@command
def watch(files: options.Files, *, reading: BatchReading, looks: Looks, delivery: Delivery) -> None:
    """Test after each batch whether alpha is high enough."""
    deliver = Deliverer(delivery, files, reading)
    planned = whole_numbers("looks", looks.looks, least=1)
    with spelling({"unit_columns": "--batch"}):
        study = read_study(files, reading, of_units=[looks.batch])
        # one number is the number of the looks
        sizes: Any = planned[0] if planned and len(planned) == 1 else planned
        found = sa.monitor(study, **vars(looks) | {"looks": sizes})
    deliver(found.to_frame(), str(found), result=found)


COMPONENTS_HELP = """[bold]setagree components study.csv[/bold]

[not dim]Shares of the disagreement due to raters and to single answers. Also:[/]

setagree components scores.csv --value score -d interval
"""

REPEATS_HELP = """[bold]setagree repeats study.csv[/bold]

[not dim]Agreement of raters with themselves, on units that they rated again. Also:[/]

setagree repeats study.csv --order-by created
"""


@command
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
    found = sa.variance_components(read_study(files, reading), distance=distance, level=level)
    deliver(found.to_frame(), str(found), result=found)


@command
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
        raise OptionError(
            f"repeated ratings are kept here; omit --duplicates {reading.duplicates}."
        )
    study = read_study(files, RepeatsReading(**vars(reading) | {"duplicates": "repeats"}))
    found = sa.intra_rater_agreement(study, distance=distance, level=level)
    deliver(found.to_frame(), str(found), result=found)


ACCEPT_HELP = """[bold]setagree accept --acceptable-rate 0.02 --rejectable-rate 0.1[/bold]

[not dim]Numbers of answers to check in a delivery, and of errors to allow. Then:[/]

setagree accept --acceptable-rate 0.02 --rejectable-rate 0.1 --checked 65 --errors 2
"""


class Acceptance(Group, panel="Acceptance sampling"):
    """Rates of errors and risks, and the result of the check."""

    acceptable_rate: float = member("SHARE", "Share of errors that is acceptable.", default=MISSING)
    rejectable_rate: float = member(
        "SHARE", "Share of errors that must be refused.", default=MISSING
    )
    producer_risk: float = member(
        "P", "Risk of refusing the acceptable share (default: 0.05).", default=0.05
    )
    consumer_risk: float = member(
        "P", "Risk of accepting the rejectable share (default: 0.1).", default=0.1
    )
    lot: Count = member("N", "Answers in the delivery (default: very many).")
    checked: Count = member("N", "Number of answers that were checked.")
    errors: Count = member("N", "Number of errors that were found.")


@command
def accept(*, acceptance: Acceptance, delivery: Delivery) -> None:
    """Plan the number of answers to check, and test whether to accept."""
    deliver = Deliverer(delivery, [])
    how = dict(vars(acceptance))
    checked, errors = how.pop("checked"), how.pop("errors")
    found: Any = sa.acceptance_plan(**how)
    if (checked is None) != (errors is None):
        raise OptionError("--checked and --errors belong together: use both, or neither.")
    if checked is not None:
        found = sa.acceptance_test(found, n_errors=errors, n_checked=checked)
    deliver(found.to_frame(), wrapped(str(found)), result=found)
