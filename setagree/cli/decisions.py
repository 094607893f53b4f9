"""The commands that decide: what to rate next, when to stop, whether to accept, and why not."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any, cast

import pandas as pd

import setagree as sa
from setagree.cli import options as options
from setagree.cli.grouping import grouped
from setagree.cli.options import Delivery, Reading
from setagree.cli.output import Deliverer, say, sentences
from setagree.cli.reading import names, rater_names, read_study
from setagree.cli.tables import intervals, paragraphs, table_text, whole, wrapped
from setagree.errors import OptionError, counted, spelling
from setagree.wording.number_format import four, level_text
from setagree.wording.sentences import cut, visible

NEXT_HELP = """[bold]setagree next study.csv --budget 200 -o queue.csv[/bold]

[not dim]Which units to rate next, how often, by whom. Also:[/]

setagree next study.csv --budget 200 --goal agreement
setagree next study.csv --budget 200 --pool ann,ben,eva
"""

MONITOR_HELP = """[bold]setagree monitor study.csv --at batch --threshold 0.667[/bold]

[not dim]Alpha after each batch, with intervals that hold at every look. Also:[/]

setagree monitor study.csv --at week --threshold 0.8 --looks 50,100,200
"""

COMPONENTS_HELP = """[bold]setagree components study.csv[/bold]

[not dim]How much disagreement lies with the raters, how much with single answers. Also:[/]

setagree components scores.csv --value score -d interval
"""

REPEATS_HELP = """[bold]setagree repeats study.csv[/bold]

[not dim]How far raters agree with themselves where they rated a unit again. Also:[/]

setagree repeats study.csv --order-by created
"""

ACCEPT_HELP = """[bold]setagree accept --good 0.02 --bad 0.10[/bold]

[not dim]How many answers to check, and how many errors to allow. Then:[/]

setagree accept --good 0.02 --bad 0.10 --checked 65 --errors 2
"""

_ROWS = 20
"""Units of a queue that are shown to people."""


@grouped
@sentences()
def queue(
    files: options.Files,
    *,
    reading: Reading,
    budget: options.Budget,
    goal: options.Goal = "consensus",
    pool: options.Pool = None,
    seed: options.Seed = None,
    delivery: Delivery,
) -> None:
    """Say which units to rate next."""
    deliver = Deliverer(delivery, files, reading)
    study = read_study(files, reading)
    asked = None if pool is None else [*dict.fromkeys(rater_names(study, names(pool)))]
    with spelling({"raters": "--pool"}):
        found = sa.next_ratings(study, budget=budget, goal=cast(Any, goal), raters=asked, rng=seed)
    frame = found.to_frame()
    first = frame.head(_ROWS)
    shown = {
        "unit": [cut(visible(str(one)), 24) for one in first["unit"]],
        "ratings": map(whole, first["n_ratings"]),
        "more": map(whole, first["more"]),
        "value": map(four, first["value"]),
        "raters": [cut(visible(one), 24) for one in first["raters"]],
        "why": first["why"],
    }
    rest = len(frame) - len(first)
    more = f" {rest:,} more units: write them with -o queue.csv." if rest else ""
    asks = f"{counted(found.n_asked, 'rating')} of {counted(len(frame), 'unit')}."
    with spelling({"raters": "--pool"}):
        notes = [*filter(None, [found.nobody_left, found.caution])]
    has_value = bool(first["value"].notna().any())
    means = "value: labels that a rating is expected to put right." if has_value else ""
    said = " ".join(filter(None, [asks, means, *notes]))
    deliver(frame, paragraphs(table_text(shown), wrapped(f"{said}{more}")))
    if delivery.output is not None:
        say(f"Written: {delivery.output} ({asks.removesuffix('.')})")
        if frame["queued"].any():
            say(
                "With the new ratings in new.csv, and the same options for reading: "
                f"setagree score {shlex.join(files)} new.csv --queued queued"
            )
        for note in notes:
            say(note)


@grouped
@sentences()
def watch(
    files: options.Files,
    *,
    reading: Reading,
    at: options.At,
    threshold: options.Goalpost,
    looks: options.Looks = None,
    max_units: options.MostUnits = None,
    level: options.Level = 0.95,
    distance: options.OneDistance = None,
    delivery: Delivery,
) -> None:
    """Say when enough is rated."""
    deliver = Deliverer(delivery, files, reading)
    with spelling({"at": "--at"}):
        study = read_study(files, reading, of_units=[at])
        found = sa.monitor(
            study,
            at=at,
            threshold=threshold,
            looks=_looks(looks),
            max_units=max_units,
            level=level,
            distance=distance,
        )
    frame = found.to_frame()
    shown = {
        "at": [cut(visible(str(one)), 24) for one in frame["at"]],
        "units": map(whole, frame["n_units"]),
        "estimate": map(four, frame["estimate"]),
        f"{level_text(level, gap='')} interval": intervals(frame),
        "verdict": frame["verdict"],
    }
    table = table_text(shown) if len(frame) else ""
    deliver(frame, paragraphs(*filter(None, [table, wrapped(f"{found.verdict} {found.method}")])))


@grouped
@sentences()
def divide(
    files: options.Files,
    *,
    reading: Reading,
    distance: options.OneDistance = None,
    level: options.Level = 0.95,
    delivery: Delivery,
) -> None:
    """Say where disagreement comes from."""
    deliver = Deliverer(delivery, files, reading)
    study = read_study(files, reading)
    found = sa.variance_components(study, distance=distance, level=level)
    frame, m = found.to_frame(), found.by_raters()
    shown = {
        "component": frame["component"],
        "variance": map(four, frame["estimate"]),
        "share": ["-" if pd.isna(x) else f"{100 * x:.1f} %" for x in frame["share"]],
        f"{level_text(level, gap='')} interval": intervals(frame),
    }
    means = {
        "raters": map(whole, m["raters"]),
        "dependability": map(four, m["dependability"]),
        "generalizability": map(four, m["generalizability"]),
    }
    about = (
        "Intervals are about raters and units like these. The second table is of means of raters."
    )
    said = [found.verdict, *([] if found.remark is None else [found.remark]), about]
    text = paragraphs(table_text(shown), table_text(means), wrapped(" ".join(said)))
    deliver(frame, text, reasons=frame["reason"])


@grouped
@sentences()
def rated_again(
    files: options.Files,
    *,
    reading: Reading,
    distance: options.OneDistance = None,
    level: options.Level = 0.95,
    delivery: Delivery,
) -> None:
    """Say how far raters agree with themselves."""
    deliver = Deliverer(delivery, files, reading)
    if reading.duplicates not in {"error", "repeats"}:
        raise OptionError(f"repeats are kept here; drop --duplicates {reading.duplicates}.")
    study = read_study(files, replace(reading, duplicates="repeats"))
    found = sa.intra_rater_agreement(study, distance=distance, level=level)
    frame = found.to_frame()
    shown = {
        "rater": [cut(visible(str(one)), 24) for one in frame["rater"]],
        "units": map(whole, frame["n_units"]),
        "alpha": map(four, frame["estimate"]),
        f"{level_text(level, gap='')} interval": intervals(frame),
    }
    text = paragraphs(table_text(shown), wrapped(found.verdict))
    deliver(frame, text, reasons=frame["reason"])


@grouped
@sentences()
def accept(
    *,
    good: options.Good,
    bad: options.Bad,
    producer_risk: options.ProducerRisk = 0.05,
    consumer_risk: options.ConsumerRisk = 0.1,
    checked: options.Checked = None,
    errors: options.Errors = None,
    delivery: Delivery,
) -> None:
    """Say how many answers to check, and whether to accept."""
    deliver = Deliverer(delivery, [])
    plan = sa.acceptance_plan(
        good=good, bad=bad, producer_risk=producer_risk, consumer_risk=consumer_risk
    )
    if checked is None and errors is None:
        text = (
            f"Check {plan.n:,} answers drawn at random; accept with at most "
            f"{counted(plan.c, 'error')}. An error rate of {good:g} is then accepted with "
            f"probability {four(plan.accepts(good))}, one of {bad:g} with "
            f"{four(plan.accepts(bad))}."
        )
        deliver(plan.to_frame(), wrapped(text))
        return
    if checked is None or errors is None:
        raise OptionError("--checked and --errors go together.")
    test = sa.acceptance_test(plan, n_errors=errors, n_checked=checked)
    deliver(test.to_frame(), wrapped(test.verdict))


def _looks(given: list[str] | None) -> list[int] | int | None:
    """Return planned sizes, or the number of looks where there is one number."""
    listed = names(given)
    if not listed:
        return None
    if not all(one.isdecimal() for one in listed):
        raise OptionError(f"--looks {','.join(listed)} must be whole numbers, such as 50,100,200.")
    sizes = [int(one) for one in listed]
    return sizes[0] if len(sizes) == 1 else sizes
