"""Comparisons of models with humans and with their consensus, and of two panels."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from setagree.diagnosis.common import score_whole
from setagree.errors import OptionError, SetagreeWarning, counted
from setagree.inference.cross_replication import CrossReplication, cross_replication
from setagree.inference.panel_members import rater_codes
from setagree.inference.prevalence import PrevalenceTable, prevalence
from setagree.panels.alt_test import AltTest, alt_test
from setagree.panels.references import ConsensusScores, score_against_consensus
from setagree.plots.base import rows_height
from setagree.plots.panels import advantage
from setagree.plots.panels import prevalence as draw_prevalence
from setagree.reporting.sections.base import (
    Findings,
    Method,
    Models,
    Picture,
    Section,
    Table,
    Topic,
    table_of,
)
from setagree.scoring.coefficients import distance_name
from setagree.scoring.results import Agreement
from setagree.study.annotations import Annotations
from setagree.study.codes import have_degrees
from setagree.wording.number_format import interval, level_text, number, share
from setagree.wording.sentences import Name, Sentence, enumeration, named, short_text
from setagree.wording.tables import Column

MOST_ROWS = 40
"""Largest number of rows of a table; the function named below it returns all."""

MOST_MODELS = 5
"""Largest number of models with a separate section."""

_PEOPLE = 20
"""Largest number of people who are named."""

_SCORED = 2_000_000
"""Ratings times humans up to which the humans are scored in addition to the models."""

_EPSILONS = (0.1, 0.15, 0.2)
_ADVICE = (
    "A model must win over at least half of the humans. The authors of the test advise epsilon 0.2 "
    "for experts, 0.15 for skilled humans, 0.1 for a crowd; choose it before you see the results."
)
_AGREED = {
    "label_majority": "every label that more than half of the humans gave",
    "medoid": "the answer that is nearest to all of them",
}


@dataclass(frozen=True, eq=False)
class ModelFindings:
    """Models in the order of their alt-tests, with scores against the humans' consensus.

    `reason` explains why there are no tests; `together` is the coefficient of the report with the
    models as further raters.
    """

    models: list[Any]
    tests: tuple[AltTest, ...]
    scores: ConsensusScores
    reason: str
    together: Agreement

    @cached_property
    def score_table(self) -> pd.DataFrame:
        """The scores with the columns `rater` and `who` (model or human), the models first."""
        frame = self.scores.table
        n = len(self.models)
        who = ["model"] * n + ["human"] * (len(frame) - n)
        return frame.reset_index().assign(who=who)


def named_models(study: Annotations, names: Models) -> list[Any]:
    """Return the raters that are models, by their names in the study."""
    if names is None:
        return []
    codes = rater_codes(study, names if isinstance(names, list) else [names], "model")
    models: list[Any] = study.raters[codes].tolist()
    if len(models) == study.n_raters:
        raise OptionError("every rater is a model; name fewer, so that humans remain.")
    return models


def compute(f: Findings) -> ModelFindings | None:
    """Return the test of each model and its scores, or None if there is no model."""
    study, models, n_humans = f.everyone, f.models, f.study.n_raters
    if not models:
        return None
    together = score_whole(study, f.main.definition, f.distance, f.level)
    if n_humans < 3:
        n = counted(n_humans, "human")
        reason = f"The alt-test needs at least three humans; the study has {n}."
        return ModelFindings(models, (), _scores(study, models), reason, together)
    tests = alt_test(study, model=models, distance=f.distance).rows
    models = [test.model for test in tests]
    return ModelFindings(models, tests, _scores(study, models), "", together)


def _scores(study: Annotations, models: list[Any]) -> ConsensusScores:
    """Return the models against the humans' consensus, and the humans against one another."""
    humans = [rater for rater in study.raters.tolist() if rater not in models]
    few = len(humans) > 1 and len(humans) * study.n_ratings <= _SCORED
    scored = [*models, *humans] if few else models
    return score_against_consensus(study, raters=scored, panel=humans)


def summary(_: Findings, found: ModelFindings) -> Sentence:
    """Return sentences on the models that may replace a human, and on the best one."""
    tests = found.tests
    if not tests:
        return (found.reason,)
    if len(tests) == 1:
        return tests[0].verdict_words
    judged = [test for test in tests if test.reason is None]
    if not judged:
        return (f"No verdict on any of {len(tests):,} models: {tests[0].reason}.",)
    n = counted(len(judged), "model")
    if len(judged) < len(tests):
        n = f"{n} that could be tested (of {len(tests):,})"
    passing = [test.model for test in judged if test.passes]
    failing = [test.model for test in judged if not test.passes]
    untested = [test.model for test in tests if test.reason is not None]
    words: Sentence = (f"{len(passing):,} of {n} may replace a human: ", *named(passing))
    if not passing:
        words = (f"None of the {n} may replace a human: ", *named(failing))
    elif failing:
        words = (*words, "; ", *named(failing), " may not")
    if untested:
        words = (*words, "; no verdict on ", *named(untested))
    best = judged[0]
    wins = (". The best, ", Name.of(best.model), f", {best.wins}.")
    return (*words, *wins, *best.reservations)


def sections(f: Findings, found: ModelFindings) -> Iterator[Section]:
    """Yield the tests of the models, and their agreement with the consensus."""
    tests, together = found.tests, _together(f, found)
    names = named(f.study.raters.tolist(), limit=_PEOPLE)
    rest = " (all raters without the mark or the name of a model)."
    lead = (*summary(f, found), " Treated as people: ", *names, rest)
    if not tests:
        yield Section(note=together, lead=lead)
    elif len(tests) == 1:
        yield replace(_test_section(tests[0], together), lead=lead)
    else:
        yield Section(_ranking(tests), None, f"{_ADVICE} {together}", lead)
        for place, test in enumerate(tests[:MOST_MODELS], start=1):
            title = f"Model {place} compared with each human"
            yield replace(_test_section(test), title=title, id=f"model-{place}")
    yield _consensus_section(f, found)


def _together(f: Findings, found: ModelFindings) -> str:
    """Return the coefficient of the humans, and the one with the models among the raters."""
    both = (f.main, found.together)
    of_humans, together = (number(x.estimate) if x.reason is None else "undefined" for x in both)
    n = len(found.models)
    more = "the model as one more rater" if n == 1 else f"the {n:,} models as further raters"
    return (
        f"Among {counted(f.study.n_raters, 'human')}, {f.main.definition.short} is {of_humans}; "
        f"with {more} it would be {together}. The headline and all other sections describe only "
        "the humans."
    )


def _ranking(tests: tuple[AltTest, ...]) -> Table:
    """Return the models, the best first."""
    rows = []
    for test in tests:
        rates = test.by_epsilon(_EPSILONS)["winning_rate"].tolist()
        may = "not tested" if test.reason is not None else "yes" if test.passes else "no"
        advantage = test.average_advantage_probability
        rows.append((test.model, advantage, may, *rates, len(test.humans), test.n_units))
    columns = (
        Column("Model", "name"),
        Column("Average advantage", "number"),
        Column("May replace", "text"),
        *(Column(f"Winning rate, epsilon {epsilon:g}", "number") for epsilon in _EPSILONS),
        Column("Humans", "count"),
        Column("Units", "count"),
    )
    return Table("Models, the largest average advantage first", columns, rows)


def _test_section(test: AltTest, together: str = "") -> Section:
    """Return the comparison of a model with each human; `together` ends the note of one model."""
    n, skipped = len(test.skipped), ""
    if n:
        skipped = f"{counted(n, 'human')} with fewer than 30 shared units left out."
    if test.reason is not None:
        return Section(note=f"{skipped} {together}".strip(), lead=test.verdict_words)
    frame = test.humans.sort_values("difference", ascending=False, kind="stable").reset_index()
    caption = "Model and each human, compared with the other humans, the best human first"
    table = table_of(frame, test.columns, caption, limit=MOST_ROWS, function="alt_test")
    note = f"Distance: {distance_name(test.distance)}; epsilon {test.epsilon:g}. {skipped}"
    if together:
        rates = test.by_epsilon(_EPSILONS)["winning_rate"]
        listed = ", ".join(f"{number(rate)} at {epsilon:g}" for epsilon, rate in rates.items())
        average = f"Average advantage {number(test.average_advantage_probability)}."
        note = f"{note} {average} Winning rate {listed}. {_ADVICE} {together}"
    height = rows_height(len(test.humans) + 2)
    picture = Picture(partial(advantage, test), height)
    return Section(table, picture, " ".join(note.split()), test.verdict_words)


def _consensus_section(f: Findings, found: ModelFindings) -> Section:
    """Return the scores of models and humans against the consensus of the humans."""
    frame, (rater, *scores) = found.score_table, found.scores.columns
    if f.study.kind != "labels":  # each answer is one value
        scores = [column for column in scores if column.first not in {"jaccard", "micro_f1"}]
    columns = [rater, Column("who", "text"), *scores]
    caption = "Models, then humans, compared with the consensus of the humans"
    table = table_of(frame, columns, caption, limit=MOST_ROWS, function="score_against_consensus")
    note = (
        f"The consensus is {_AGREED[found.scores.method]}. Each human is compared with the "
        "consensus of the other humans, which has one vote fewer than that for models: the scores "
        "of models and humans are not directly comparable."
    )
    if have_degrees(f.study.values):
        note += " Jaccard and F1 use the labels without their degrees."
    title = "Agreement with the consensus of the humans"
    return Section(table, None, note, consensus_words(frame), title, "consensus")


def consensus_words(frame: pd.DataFrame) -> Sentence:
    """Return the shares of units in which the best model, and each human, give the consensus."""
    top = frame.iloc[0]
    if not top["n_units"]:
        return ("No unit has both an answer of the model and a consensus of the humans.",)
    exact = (
        f" gives exactly the consensus of the humans in {share(top['exact'])} of "
        f"{counted(int(top['n_units']), 'unit')}"
    )
    humans = frame.loc[frame["who"] == "human", "exact"].dropna()
    if not len(humans):
        return (Name.of(top["rater"]), f"{exact}.")
    low, high = share(humans.min()), share(humans.max())
    span = f"{low} to {high}" if low != high else low
    humans_exact = f"; each human gives exactly that of the other humans in {span}"
    return (Name.of(top["rater"]), f"{exact}{humans_exact}.")


def method(f: Findings, found: ModelFindings) -> Method:
    """Return sentences on the models and on their test against humans, with the sources."""
    n = len(f.models)
    models = (
        f"The raters are human; {counted(n, 'model')} {'is' if n == 1 else 'are'} left out of "
        "these numbers."
    )
    tests = [test for test in found.tests if test.reason is None]
    if not tests:
        return models, ()
    one = tests[0]
    rates = "; ".join(
        f"{short_text(test.model)} won over "
        f"{int(test.humans['rejected'].sum()):,} of {counted(len(test.humans), 'human')} "
        f"(winning rate {number(test.winning_rate)}, average advantage probability "
        f"{number(test.average_advantage_probability)})"
        for test in tests
    )
    sentences = (
        f"{models} Whether a model may replace a human was decided by the alternative annotator "
        f"test (Calderon et al., 2025) with the {distance_name(one.distance)} distance, epsilon "
        f"{one.epsilon:g} and a false discovery rate of {one.q:g} (Benjamini & Yekutieli, 2001). "
        f"{rates}."
    )
    return sentences, ("Calderon et al. 2025", "Benjamini & Yekutieli 2001")


def compute_replication(f: Findings) -> CrossReplication | None:
    """Return the agreement between two panels, or None if no panels are given."""
    panels = f.options.panels
    if panels is None:
        return None
    # Models are left out unless they are members of a panel.
    listed = panels.values() if isinstance(panels, Mapping) else ()
    members = [rater for panel in listed if isinstance(panel, Collection) for rater in panel]
    others = [model for model in f.models if model not in members]
    study = f.everyone.exclude_raters(others) if others else f.everyone
    n = min(f.options.n_resamples, f.max_redraws)
    resampling: dict[str, Any] = {"n_resamples": n, "rng": f.options.rng}
    return cross_replication(study, panels=panels, distance=f.distance, **resampling)


def replication_summary(f: Findings, found: CrossReplication) -> Sentence:
    """Return a sentence on the agreement between two panels."""
    first, second = map(Name.of, found.panels)
    if found.reason is not None:
        return ("Agreement between ", first, " and ", second, f" is undefined: {found.reason}.")
    low, high = found.interval(f.level)
    sure = f" ({level_text(f.level)} interval {interval(low, high)})" if np.isfinite(low) else ""
    estimate = f" agree with each other at kappa_x {number(found.estimate)}{sure}"
    if found.normalised_reason is not None:
        return (first, " and ", second, f"{estimate}.")
    normalised = f"; {number(found.normalised)} if divided by the root of both alphas."
    return (first, " and ", second, estimate, normalised)


def replication_sections(f: Findings, found: CrossReplication) -> list[Section]:
    """Return the table of agreement between two panels and inside each."""
    first, second = map(Name.of, found.panels)
    inside = [
        (name, f" {number(alpha)} ({counted(n, 'rating')})")
        for name, alpha, n in zip((first, second), found.alphas, found.n_ratings, strict=True)
    ]
    lead = (
        *replication_summary(f, found),
        " Alpha within ",
        *enumeration([(*x,) for x in inside]),
        ".",
    )
    frame = found.to_frame(level=f.level)
    caption = f"Agreement between two panels, with {level_text(f.level)} intervals"
    table = table_of(frame, found.columns, caption, limit=1, function="cross_replication")
    note = (
        "kappa_x is 1 if every answer of one panel equals that of the other, and 0 if they agree "
        "as expected by chance. Divided by the root of both alphas it is the normalised agreement. "
        f"Intervals: {len(found.distribution):,} resamples of the units."
    )
    if found.normalised_reason is not None and found.reason is None:
        note += " The normalised value is undefined if a panel has no alpha above 0."
    return [Section(table, None, note, lead)]


def replication_method(f: Findings, found: CrossReplication) -> Method | None:
    """Return a sentence on the comparison of two panels, with the source."""
    if found.reason is not None:
        return None
    low, high = found.interval(f.level)
    ends = ""
    if np.isfinite(low):
        n = f"{len(found.distribution):,} resamples of the units"
        ends = f", {level_text(f.level)} percentile interval of {n} {interval(low, high)}"
    normal = "" if np.isnan(found.normalised) else f"; normalised {number(found.normalised)}"
    sentence = (
        "Two panels were compared by cross-replication reliability (Wong et al., 2021) on "
        f"{counted(found.n_units, 'unit')} that both rated: kappa_x = "
        f"{number(found.estimate)}{ends}{normal}."
    )
    return sentence, ("Wong et al. 2021",)


def compute_prevalence(f: Findings) -> PrevalenceTable | None:
    """Return the prevalence, without its warnings, by the first model that answered more units."""
    study, checked = f.everyone, f.study.units
    for model in f.models if study.kind != "number" else []:
        units = study.unit_codes[study.rater_codes == study.raters.tolist().index(model)]
        if not np.isin(study.units[units], checked).all():
            with warnings.catch_warnings(action="ignore", category=SetagreeWarning):
                return prevalence(study, model=model, level=f.level)
    return None


def prevalence_sections(_: Findings, found: PrevalenceTable) -> Iterator[Section]:
    """Yield the table and the picture of the prevalence of labels."""
    frame = found.frame.nlargest(len(found.frame), "count").round({"count": 0, "worth": 0})
    caption = "People, the model, and both by prediction-powered inference, the most frequent first"
    table = table_of(frame, found.columns, caption, limit=40, function="prevalence")
    drawn = ", drawn as their weights state" if found.checked.is_weighted else ""
    note = f"Valid if the checked units are a random sample of all units{drawn}. {found.caution}"
    draw = partial(draw_prevalence, found)
    yield Section(table, Picture(draw, rows_height(len(table.rows))), note.strip(), found.words())


TOPIC = Topic(
    "models",
    "May a model replace a human?",
    sections,
    compute,
    about="Models",
    summary=summary,
    method=method,
    without_estimate=True,
    unweighted="Comparisons with models",
)
REPLICATION = Topic(
    "replication",
    "Agreement between the panels",
    replication_sections,
    compute_replication,
    about="Panels",
    summary=replication_summary,
    method=replication_method,
    without_estimate=True,
    unweighted="Both panels",
)
PREVALENCE = Topic(
    "prevalence",
    "How many units have each label?",
    prevalence_sections,
    compute_prevalence,
    about="Prevalence",
    summary=lambda _, found: found.words(),
    optional=True,
    without_estimate=True,
)
