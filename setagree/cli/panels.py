"""Commands that compare raters with raters: panel, prevalence and consensus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

import setagree as sa
from setagree.cli import options as options
from setagree.cli.inference import DECISION_FORMS, decide
from setagree.cli.label_files import chosen_distances
from setagree.cli.options import (
    INFERENCE,
    MODELS,
    ApartReading,
    Delivery,
    Group,
    LabelFiles,
    Number,
    Reading,
    Text,
    Texts,
    flag,
    member,
)
from setagree.cli.output import FORMS, Deliverer, command
from setagree.cli.reading import names, rater_names, read_study, read_with_models, written_seps
from setagree.cli.show import say
from setagree.cli.sources import label_rows
from setagree.distances import Distance
from setagree.errors import DataError, OptionError, counted
from setagree.inference.panel_members import people_of, rater_codes
from setagree.large.joining import model_files
from setagree.wording.gates import Decision
from setagree.wording.result_base import paragraphs, wrapped
from setagree.wording.sentences import cut, visible

if TYPE_CHECKING:
    from setagree.panels.alt_test import AltTestTable
    from setagree.panels.noninferiority import ReplacementTable


PANEL_HELP = """[bold]setagree panel study.csv --model gpt[/bold]

[not dim]Test whether a model may replace a human, by the alternative annotator test
with the MASI distance. Also:[/]

setagree panel study.csv --model gpt --model claude --epsilon 0.2 -d jaccard
setagree panel study.csv --model gpt --humans ann,ben,cem
setagree panel humans.csv --model gpt.csv --margin 0.1
setagree panel study.csv --facets model,prompt,run
"""

PREVALENCE_HELP = """[bold]setagree prevalence people.csv --model gpt.csv[/bold]

[not dim]Estimate the share of units with each label, from a model and people. Also:[/]

setagree prevalence study.csv --model gpt --truth majority
setagree prevalence people.csv --model gpt.csv --half-width 0.05
"""

CONSENSUS_HELP = """[bold]setagree consensus study.csv -o gold.csv[/bold]

[not dim]List one answer per unit, its support, and the units to adjudicate. Also:[/]

setagree consensus study.csv --method dawid_skene --adjudicate-below 0.9
setagree consensus study.csv --threshold 0.6 --ties plurality
"""


class People(Group, panel=MODELS):
    """The models and the humans."""

    model: options.Models = None
    humans: Texts = member("NAME", "Raters who are humans (default: all others).")


class Panel(People, panel=MODELS):
    """How a model is compared with the humans."""

    epsilon: float = member(
        "SHARE",
        "Accepted advantage of a human: 0.1 for crowd workers (default), 0.15 for skilled raters, "
        "0.2 for experts.",
        default=0.1,
    )
    q: float = member(
        "SHARE", "False discovery rate over the humans (default: 0.05).", default=0.05
    )
    min_units: int = member(
        "N", "Units that a human must share with others (default: 30).", default=30
    )
    margin: options.Margin = None
    against: str = member(
        "WHOM", "With --margin: the mean human (default), or all humans.", default="mean"
    )
    facets: options.Facets = None
    require: bool = flag(
        "Exit with 1 unless every model passes (-f line, json, junit, github).", "--require"
    )
    distance: options.OneDistance = None


@command
def panel(
    files: options.Files,
    *,
    reading: Reading,
    members: Panel,
    label_files: LabelFiles,
    tables: options.Tables = False,
    delivery: Delivery,
) -> None:
    """Test whether a model may replace a human."""
    margin, require = members.margin, members.require
    read = [*files, *label_files.paths, *model_files(members.model)]
    deliver = Deliverer(delivery, read, reading, forms=DECISION_FORMS if require else FORMS)
    if members.facets is not None:
        _deliver_facets(files, reading, members, label_files, deliver)
        return
    study, models = read_with_models(files, reading, members.model)
    people = _humans(study, members)
    people = _others(study, models) if people is None else people
    distance = _distance(members.distance, label_files, reading)
    of_all: dict[str, Any] = {"model": models, "humans": people, "distance": distance}
    frame, text, reasons = pd.DataFrame(), "", None
    decisions: list[Decision] = []
    result: AltTestTable | ReplacementTable | None = None
    try:
        how = {"epsilon": members.epsilon, "q": members.q, "min_units": members.min_units}
        result = table = sa.alt_test(study, **of_all, **cast(Any, how))
    except DataError:
        if margin is None or len(people) != 2:
            raise
        say("No alternative annotator test: it requires three humans.")
    else:
        ranked = [row.model for row in table]
        scores = sa.score_against_consensus(study, raters=ranked, panel=people)
        frame = _panel_frame(table, scores.table)
        reasons = frame["model"].map({row.model: row.reason for row in table}.__getitem__)
        shown = [str(table), str(scores)] if tables else [table.summary()]
        text = paragraphs(_counts(study), *shown)
        decisions += _decisions(table, "alternative annotator test")
    if margin is not None:
        against = cast(Any, members.against)
        tests = sa.noninferiority_test(study, margin=margin, against=against, **of_all)
        replaced = _replaced(tests)
        frame = frame.merge(replaced, how="left", on=["model", "human"]) if text else replaced
        result = result or tests
        note = wrapped(_BOTH_TESTS) if text and tables else ""
        text = paragraphs(text, str(tests) if tables else tests.summary(), note)
        decisions += _decisions(tests, f"non-inferiority test, margin {margin:g}")
    if require:
        decide(deliver, pd.DataFrame(), decisions)
    named = "" if members.humans else _people(people)
    text = paragraphs(named, text, "" if tables else options.MORE)
    deliver(frame, text, reasons=reasons, result=result)


_BOTH_TESTS = (
    "The first test is about how often the model is nearer to the humans than a human is, the "
    "second about by how much."
)


def _deliver_facets(
    files: Sequence[str],
    reading: Reading,
    members: Panel,
    label_files: LabelFiles,
    deliver: Deliverer,
) -> None:
    """Deliver the agreement of models with themselves; facets are read where answers are."""
    if members.margin is not None:
        raise OptionError(
            "--margin replaces a human by a rater, and --facets compares groups of raters: run "
            "setagree panel once with --facets alone, and once with --model RATER --margin "
            f"{members.margin:g}."
        )
    if members.require:
        raise OptionError("--require applies to models in the place of humans; omit --facets.")
    columns = names(members.facets)
    distance = _distance(members.distance, label_files, reading)
    study, models = read_with_models(files, reading, members.model, facets=columns)
    people = _humans(study, members)
    found = sa.facet_agreement(
        study, facets=columns, model=models or None, humans=people, distance=distance
    )
    named = "" if people or not found.people else _people(found.people)
    deliver(found.to_frame(), paragraphs(named, _counts(found.study), str(found)), result=found)


class Prevalence(People, panel=MODELS):
    """What is estimated, and for which units."""

    truth: str = member("RULE", "Share of answers (default), majority, any, all.", default="share")
    target: str = member("WHAT", "For the corpus (default), or beyond it.", default="corpus")
    half_width: Number = member("WIDTH", "Also plan units for this half width.", panel=INFERENCE)
    level: options.Level = 0.95


@command
def share(files: options.Files, *, reading: Reading, terms: Prevalence, delivery: Delivery) -> None:
    """Estimate how many units of a corpus have each label."""
    deliver = Deliverer(delivery, [*files, *model_files(terms.model)], reading)
    study, models = read_with_models(files, reading, terms.model, all_units=True)
    how: dict[str, Any] = {**vars(terms), "model": models, "humans": _humans(study, terms)}
    half_width = how.pop("half_width")
    found = sa.prevalence(study, **how)
    frame, text = found.to_frame(), str(found)
    if half_width is not None:
        planned = sa.plan(found, sa.PlanGoals(half_width=half_width, level=found.level))
        more = planned.frame[["n_units", "n_additional_units"]].add_prefix("planned_")
        frame, text = frame.join(more), paragraphs(text, str(planned))
    deliver(frame, text, result=replace(found, frame=frame))


class Agreed(Group, panel="Consensus"):
    """How the answers to a unit are aggregated."""

    method: Text = member("NAME", "label_majority (default), medoid, dawid_skene or unanimous.")
    threshold: Number = member("SHARE", "Share of raters that a label requires (default: 0.5).")
    ties: str = member(
        "RULE",
        "Answer without a majority: missing (default), plurality or empty.",
        default="missing",
    )
    adjudicate_below: float = member(
        "SHARE", "Flag units with less confidence than this (default: 0).", default=0.0
    )


@command
def agree(
    files: options.Files,
    *,
    reading: ApartReading,
    agreed: Agreed,
    distance: options.OneDistance = None,
    label_files: LabelFiles,
    delivery: Delivery,
) -> None:
    """Estimate the consensus answer of each unit."""
    deliver = Deliverer(delivery, [*files, *label_files.paths], reading)
    study = read_study(files, reading)
    how: dict[str, Any] = {**vars(agreed), "distance": _distance(distance, label_files, reading)}
    found = sa.consensus(study, **how)
    label_sep = written_seps(reading)
    frame = found.to_written(label_sep=label_sep)
    if reading.degree is not None:
        frame = label_rows(frame.assign(labels=found.to_frame()["labels"]), label_sep)
    deliver(frame, paragraphs(_counts(study), str(found)), result=found)
    n = int((found.codes < 0).sum())
    if n and deliver.form in {"csv", "json"} and study.kind == "labels":
        has = "have" if n > 1 else "has"
        say(
            f"{counted(n, 'unit')} without an answer {has} a blank cell (null in JSON); [] is the "
            "empty set. To read the file again, use --blank missing, or remove such rows."
        )
    if delivery.output is not None:
        flagged = f"{int(found.adjudicate.sum()):,} to adjudicate"
        say(f"Written: {delivery.output} ({counted(len(found), 'unit')}, {flagged})")


def _decisions(tests: AltTestTable | ReplacementTable, required: str) -> list[Decision]:
    """Return whether each model meets a requirement; None if a test is missing or not reliable."""
    decisions = []
    for test in tests:
        is_open = test.reason or (test.passes and getattr(test, "caution", None))
        passes = None if is_open else test.passes
        decisions.append(Decision(f"{test.model}: {required}", passes, test.verdict))
    return decisions


_MAX_PEOPLE = 20
"""Number of raters that are named."""


def _people(raters: Sequence[object]) -> str:
    """Return a sentence on the raters that are treated as people."""
    shown = ", ".join(cut(visible(str(rater))) for rater in raters[:_MAX_PEOPLE])
    rest = len(raters) - _MAX_PEOPLE
    more = f" and {rest:,} more" if rest > 0 else ""
    return wrapped(f"People: {shown}{more}; if one is a model, name the people with --humans.")


def _counts(study: sa.Annotations) -> str:
    """Return the numbers of units, raters and ratings of a study."""
    n = study.unanswered.size
    unanswered = f" ({n:,} more without a rating)" if n else ""
    return (
        f"{counted(study.n_units, 'unit')}{unanswered}, {counted(study.n_raters, 'rater')}, "
        f"{counted(study.n_ratings, 'rating')}"
    )


def _replaced(tests: ReplacementTable) -> pd.DataFrame:
    """Return the change by the replacement of each human, and in each row that of their mean."""
    parts = []
    for test in tests:
        low, high = test.interval()
        part = (
            test.to_frame()
            .drop(columns=["n_units", "n_shared_units"])
            .add_prefix("replaced_")
            .reset_index()
        )
        part.insert(0, "model", test.model)
        parts.append(
            part.assign(
                mean_difference=test.difference,
                mean_difference_low=low,
                mean_difference_high=high,
                margin=test.margin,
                noninferiority_p_value=test.p_holm,
                noninferior=test.passes,
            )
        )
    return pd.concat(parts, ignore_index=True)


def _distance(named: str | None, files: LabelFiles, reading: Reading) -> str | Distance | None:
    """Return the distance that is named or defined by a file, or None."""
    chosen = chosen_distances(None if named is None else [named], files, reading)
    return chosen[0] if files.passed else named


def _humans(study: sa.Annotations, people: People) -> list[Any] | None:
    """Return the named humans, or None if --humans is not passed."""
    return None if people.humans is None else rater_names(study, people.humans)


def _others(study: sa.Annotations, models: Sequence[str]) -> list[str]:
    """Return all raters except the models: those named, those marked, and those named like one."""
    people = people_of(study, None, rater_codes(study, models, "model", "model"))
    rest: list[str] = study.raters[people].tolist()
    if not rest:
        raise OptionError("every rater is named as a model; no human remains.")
    return rest


def _panel_frame(table: AltTestTable, scores: pd.DataFrame) -> pd.DataFrame:
    """Return one row per model and human; values of the model are in each of its rows.

    A model without a testable human has one row, with a blank human.
    """
    parts = []
    for row in table:
        humans = row.to_frame().reset_index().astype(object)
        # Missing cells are None, so that the other cells of the column remain integers.
        part = humans if len(humans) else humans.reindex([0]).where(lambda x: x.notna(), None)
        part.insert(0, "model", row.model)
        part.insert(1, "distance", row.distance)
        part.insert(2, "epsilon", row.epsilon)
        counts = {name: f"consensus_{name}" for name in ("n_units", "n_left_out")}
        against = scores.astype(object).loc[row.model].rename(counts).to_dict()
        parts.append(
            part.assign(
                winning_rate=row.winning_rate,
                passes=row.passes,
                average_advantage_probability=row.average_advantage_probability,
                power=row.power(),
                units_for_80=row.needed,
                reference_alpha=row.reference_alpha,
                **against,
            )
        )
    frame = pd.concat(parts, ignore_index=True)
    full = frame.columns[frame.notna().all()]
    return frame.astype({name: frame[name].infer_objects().dtype for name in full})
