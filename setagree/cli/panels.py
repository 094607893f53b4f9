"""The commands that set raters against raters: panel and consensus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

import setagree as sa
from setagree.cli import options as options
from setagree.cli.inference import DECISION_FORMS, decide
from setagree.cli.label_files import asked_distances
from setagree.cli.options import ApartReading, Delivery, LabelFiles, Reading, grouped
from setagree.cli.output import FORMS, Deliverer, sentences
from setagree.cli.reading import names, rater_names, read_study, read_with_models, unescaped
from setagree.cli.show import say
from setagree.cli.sources import row_a_label
from setagree.distances import Distance
from setagree.errors import DataError, OptionError, counted
from setagree.inference.panel_members import people_of, rater_codes
from setagree.large.joining import model_files
from setagree.wording.gates import Decision
from setagree.wording.result_base import paragraphs, wrapped
from setagree.wording.sentences import cut, visible

if TYPE_CHECKING:
    from setagree.panels.alt_test import AltTestTable
    from setagree.panels.facets import FacetAgreement
    from setagree.panels.noninferiority import ReplacementTable


PANEL_HELP = """[bold]setagree panel study.csv --model gpt[/bold]

[not dim]May a model replace a human? The alternative annotator test (MASI). Also:[/]

setagree panel study.csv --model gpt --model claude --epsilon 0.2 -d jaccard
setagree panel study.csv --model gpt --humans ann,ben,cem
setagree panel humans.csv --model gpt.csv --margin 0.1
setagree panel study.csv --facets model,prompt,run
"""

PREVALENCE_HELP = """[bold]setagree prevalence people.csv --model gpt.csv[/bold]

[not dim]How many units have each label: the model answered all, people some.[/]

setagree prevalence study.csv --model gpt --truth majority
setagree prevalence people.csv --model gpt.csv --half-width 0.05
"""

CONSENSUS_HELP = """[bold]setagree consensus study.csv -o gold.csv[/bold]

[not dim]One answer per unit, its support, and the units to review. Also:[/]

setagree consensus study.csv --method dawid_skene --adjudicate-below 0.9
setagree consensus study.csv --threshold 0.6 --ties plurality --exclude-raters gpt
"""


@grouped
@sentences()
def panel(
    files: options.Files,
    *,
    reading: Reading,
    model: options.AnyModels = None,
    humans: options.Humans = None,
    distance: options.OneDistance = None,
    by_label: LabelFiles,
    epsilon: options.Epsilon = 0.1,
    q: options.Q = 0.05,
    min_units: options.MinUnits = 30,
    margin: options.Margin = None,
    against: options.Against = "mean",
    facets: options.Facets = None,
    tables: options.Tables = False,
    require: options.Require = False,
    delivery: Delivery,
) -> None:
    """Test whether a model may replace a human."""
    read = [*files, *by_label.paths, *model_files(model)]
    deliver = Deliverer(delivery, read, reading, forms=DECISION_FORMS if require else FORMS)
    if facets is not None:
        _refuse_margin(margin)
        if require:
            raise OptionError("--require is about models in the place of humans; drop --facets.")
        compared = _distance(distance, by_label, reading)
        found = _by_facet(files, reading, facets, model, humans, compared)
        taken = "" if humans or not found.people else _people(found.people)
        text = paragraphs(taken, _counts(found.study), str(found))
        deliver(found.to_frame(), text, result=found)
        return
    if model is None and not reading.predictions:
        raise OptionError(
            "name a model (--model): a rater, which with --wide is a column, or a file of its "
            "answers; or name columns that tell models apart (--facets)."
        )
    study, models = read_with_models(files, reading, model)
    people = _others(study, models) if humans is None else rater_names(study, humans)
    compared = _distance(distance, by_label, reading)
    given: dict[str, Any] = {"model": models, "humans": people, "distance": compared}
    frame, text, reasons = pd.DataFrame(), "", None
    decisions: list[Decision] = []
    result: AltTestTable | ReplacementTable | None = None
    try:
        table = sa.alt_test(study, **given, epsilon=epsilon, q=q, min_units=min_units)
    except DataError:
        if margin is None or len(people) != 2:
            raise
        say("No alt-test: with two humans, nothing is left to call the others' common view.")
    else:
        ranked = [row.model for row in table]
        scores = sa.score_against_consensus(study, raters=ranked, panel=people)
        frame, why = _panel_frame(table, scores.table), {row.model: row.reason for row in table}
        reasons = frame["model"].map(why.__getitem__)
        brief, result = table.summary(), table
        text = paragraphs(_counts(study), *((str(table), str(scores)) if tables else (brief,)))
        decisions += _decisions(table, "may replace a human")
    if margin is not None:
        tests = sa.noninferiority_test(study, margin=margin, against=cast(Any, against), **given)
        replaced = _replaced(tests)
        frame = frame.merge(replaced, how="left", on=["model", "human"]) if text else replaced
        shown, result = str(tests) if tables else tests.summary(), result or tests
        text = paragraphs(text, shown, wrapped(_BESIDE) if text and tables else "")
        decisions += _decisions(tests, f"agreement falls by less than {margin:g}")
    if require:
        decide(deliver, pd.DataFrame(), decisions)
    more = "" if tables else options.MORE
    text = paragraphs("" if humans else _people(people), text, more)
    deliver(frame, text, reasons=reasons, result=result)


@grouped
@sentences()
def share(
    files: options.Files,
    *,
    reading: Reading,
    model: options.AnyModels = None,
    humans: options.Humans = None,
    truth: options.Truth = "share",
    target: options.Target = "corpus",
    half_width: options.MoreUnits = None,
    level: options.Level = 0.95,
    delivery: Delivery,
) -> None:
    """Estimate how many units of a corpus have each label."""
    deliver = Deliverer(delivery, [*files, *model_files(model)], reading)
    study, models = read_with_models(files, reading, model, all_units=True)
    people = None if humans is None else rater_names(study, humans)
    kinds: dict[str, Any] = {"truth": truth, "target": target}
    found = sa.prevalence(study, model=models, humans=people, **kinds, level=level)
    frame, text = found.to_frame(), str(found)
    if half_width is not None:
        planned = sa.plan(found, sa.PlanGoals(half_width=half_width, level=level))
        more = planned.frame[["n_units", "n_additional_units"]].add_prefix("planned_")
        frame, text = frame.join(more), paragraphs(text, str(planned))
    deliver(frame, text, result=replace(found, frame=frame))


@grouped
@sentences()
def agree(
    files: options.Files,
    *,
    reading: ApartReading,
    method: options.AgreedBy = None,
    threshold: options.Threshold = None,
    ties: options.TieRule = "missing",
    distance: options.MedoidDistance = None,
    by_label: LabelFiles,
    adjudicate_below: options.AdjudicateBelow = 0.0,
    delivery: Delivery,
) -> None:
    """Estimate the agreed answer of each unit."""
    deliver = Deliverer(delivery, [*files, *by_label.paths], reading)
    study = read_study(files, reading)
    given: dict[str, Any] = {"method": method, "threshold": threshold, "ties": ties}
    given |= {
        "distance": _distance(distance, by_label, reading),
        "adjudicate_below": adjudicate_below,
    }
    found = sa.consensus(study, **given)
    label_sep = "," if reading.label_sep is None else unescaped(reading.label_sep)
    frame = found.to_written(label_sep=label_sep)
    if reading.degree is not None:
        frame = row_a_label(frame.assign(labels=found.to_frame()["labels"]), label_sep)
    deliver(frame, paragraphs(_counts(study), str(found)), result=found)
    if deliver.form in {"csv", "json"} and study.kind == "labels":
        _say_undecided(int((found.codes < 0).sum()))
    if delivery.output is not None:
        again = f"{int(found.adjudicate.sum()):,} to look at again"
        say(f"Written: {delivery.output} ({counted(len(found), 'unit')}, {again})")


def _decisions(tests: AltTestTable | ReplacementTable, required: str) -> list[Decision]:
    """Return whether each model meets a requirement. No test, no verdict."""
    return [
        Decision(f"{test.model}: {required}", None if test.reason else test.passes, test.verdict)
        for test in tests
    ]


_BESIDE = "The test above asks how often the model is the nearer of the two, this one by how much."

_MAX_PEOPLE = 20
"""Raters that are named."""


def _people(raters: Sequence[object]) -> str:
    """Return a sentence on the raters that a command took for people."""
    shown = ", ".join(cut(visible(str(rater))) for rater in raters[:_MAX_PEOPLE])
    rest = len(raters) - _MAX_PEOPLE
    more = f" and {rest:,} more" if rest > 0 else ""
    return wrapped(f"People: {shown}{more}; name them with --humans if one is a model.")


def _counts(study: sa.Annotations) -> str:
    """Return the line that counts units, raters and ratings of a study."""
    n = study.unanswered.size
    unanswered = f" ({n:,} more that nobody answered)" if n else ""
    return (
        f"{counted(study.n_units, 'unit')}{unanswered}, {counted(study.n_raters, 'rater')}, "
        f"{counted(study.n_ratings, 'rating')}"
    )


def _refuse_margin(margin: float | None) -> None:
    """Raise an error for a margin beside facets, which are another question."""
    if margin is not None:
        raise OptionError(
            "--margin puts one rater in the place of a human, and --facets compares groups of "
            "raters: run setagree panel once with --facets alone, and once with --model RATER "
            f"--margin {margin:g}."
        )


def _by_facet(
    files: Sequence[str],
    reading: Reading,
    facets: list[str],
    model: list[str] | None,
    humans: list[str] | None,
    distance: str | Distance | None,
) -> FacetAgreement:
    """Return how far models agree with themselves; their facets stand where their answers do."""
    columns = names(facets)
    study, models = read_with_models(files, reading, model, facets=columns)
    people = None if humans is None else rater_names(study, humans)
    return sa.facet_agreement(
        study, facets=columns, model=models or None, humans=people, distance=distance
    )


def _replaced(tests: ReplacementTable) -> pd.DataFrame:
    """Return what a model in the place of each human changes; the mean stands in each row."""
    parts = []
    for test in tests:
        low, high = test.interval()
        part = (
            test.to_frame()
            .drop(columns=["n_units", "n_shared_units"])
            .add_prefix("replaced_")
            .reset_index()
        )
        mean = {
            "mean_difference": test.difference,
            "mean_difference_low": low,
            "mean_difference_high": high,
        }
        own = {"margin": test.margin, "noninferiority_p_value": test.p_holm}
        part.insert(0, "model", test.model)
        parts.append(part.assign(**mean, **own, noninferior=test.passes))
    return pd.concat(parts, ignore_index=True)


def _say_undecided(n: int) -> None:
    """Print how to read the cells of units without an answer again."""
    if n:
        their, has, row = ("their", "have", "rows") if n > 1 else ("its", "has", "row")
        say(
            f"{counted(n, 'unit')} without an answer {has} a blank cell (null in JSON), and [] is "
            f"the empty set: read this again with --blank missing, or drop {their} {row}."
        )


def _distance(named: str | None, files: LabelFiles, reading: Reading) -> str | Distance | None:
    """Return the distance that is asked for, if one is."""
    found = asked_distances(None if named is None else [named], files, reading)
    return found[0] if files.given else named


def _others(study: sa.Annotations, names: Sequence[str]) -> list[str]:
    """Return all raters but the models: those named, those marked, and those called like one."""
    people = people_of(study, None, rater_codes(study, names, "model", "model"))
    rest: list[str] = study.raters[people].tolist()
    if not rest:
        raise OptionError("every rater is named; no rater remains.")
    return rest


def _panel_frame(table: AltTestTable, scores: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each model and human; what is of the model stands in each of its rows.

    A model without a human who could be tested has one row, with a blank human.
    """
    parts = []
    for row in table:
        humans = row.to_frame().reset_index().astype(object)
        # Cells of a human who is not there are None: whole numbers stay whole beside them.
        part = humans if len(humans) else humans.reindex([0]).where(lambda x: x.notna(), None)
        part.insert(0, "model", row.model)
        part.insert(1, "distance", row.distance)
        part.insert(2, "epsilon", row.epsilon)
        own = {"winning_rate": row.winning_rate, "passes": row.passes}
        own["average_advantage_probability"] = row.average_advantage_probability
        counts = {name: f"consensus_{name}" for name in ("n_units", "n_left_out")}
        against = scores.astype(object).loc[row.model].rename(counts).to_dict()
        power = {"power": row.power(), "units_for_80": row.units_for()}
        parts.append(part.assign(**own, **power, reference_alpha=row.reference_alpha, **against))
    frame = pd.concat(parts, ignore_index=True)
    full = frame.columns[frame.notna().all()]
    return frame.astype({name: frame[name].infer_objects().dtype for name in full})
