"""Models compared with humans: replacement, and agreement with the humans' consensus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import pandas as pd

from setagree.diagnosis.common import score_whole
from setagree.errors import OptionError, counted
from setagree.inference.panel_members import rater_codes
from setagree.panels.alt_test import AltTest, alt_test
from setagree.panels.references import ConsensusScores, score_against_consensus
from setagree.plots.base import rows_height
from setagree.plots.panels import advantage
from setagree.reporting.sections.base import (
    MOST_DRAWN,
    Column,
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
from setagree.wording.number_format import number, share
from setagree.wording.sentences import Name, Sentence, named

MOST_ROWS = 40
"""Rows of a table; the functions that are named below it return them all."""

MOST_MODELS = 5
"""Models that have a section of their own."""

_PEOPLE = 20
"""People who are named."""

_SCORED = 2_000_000
"""Number of ratings up to which the humans are scored as the models are."""

_EPSILONS = (0.1, 0.15, 0.2)
_ADVICE = (
    "A model must win over half of the humans or more. The authors of the test advise epsilon 0.2 "
    "for experts, 0.15 for skilled humans, 0.1 for a crowd: choose "
    "before you look."
)
_AGREED = {
    "label_majority": "every label that more than half of the humans gave",
    "medoid": "the answer that is nearest to all of them",
}


@dataclass(frozen=True, eq=False)
class ModelFindings:
    """What was found about models.

    Attributes
    ----------
    models : list
        Who is a model, in the order of the tests.
    tests : tuple of AltTest
        The alt-test of each model, the one with the largest advantage first.
    scores : ConsensusScores or None
        The models, and the humans if that is fast, against the humans' consensus.
    why : str
        The reason for missing tests.
    together : Agreement or None
        The coefficient of the report where each model counts as one more rater.
    """

    models: list[Any] = field(default_factory=list)
    tests: tuple[AltTest, ...] = ()
    scores: ConsensusScores | None = None
    why: str = ""
    together: Agreement | None = None

    @cached_property
    def score_table(self) -> pd.DataFrame:
        """The scores with a column `rater`, and whether each is a model; the models first."""
        if self.scores is None:
            return pd.DataFrame()
        frame = self.scores.table
        n = len(self.models)
        who = ["model"] * n + ["human"] * (len(frame) - n)
        return frame.reset_index().assign(who=who)


def named_models(study: Annotations, asked: Models) -> list[Any]:
    """Return the raters that are models, as the study calls them."""
    if asked is None:
        return []
    named_ = asked if isinstance(asked, list) else [asked]
    models: list[Any] = study.raters[rater_codes(study, named_, "model")].tolist()
    if len(models) == study.n_raters:
        raise OptionError("every rater is a model, so that nobody is left to compare with.")
    return models


def compute(f: Findings) -> ModelFindings:
    """Return the test of each model, and how near it comes to the humans' consensus."""
    study, models, n_humans = f.everyone, f.models, f.study.n_raters
    if not models:
        return ModelFindings()
    together = score_whole(study, f.main.definition, f.distance, f.level)
    if n_humans < 3:
        verb = "is" if n_humans == 1 else "are"
        n = f"{verb} only {counted(n_humans, 'human')}"
        why = f"The alt-test needs three humans or more; apart from the models there {n}."
        return ModelFindings(models, (), _scores(study, models), why, together)
    tests = alt_test(study, model=models, distance=f.distance).rows
    models = [test.model for test in tests]
    return ModelFindings(models, tests, _scores(study, models), "", together)


def _scores(study: Annotations, models: list[Any]) -> ConsensusScores:
    """Return the models against the humans' consensus, and the humans against one another."""
    humans = [rater for rater in study.raters.tolist() if rater not in models]
    few = len(humans) > 1 and len(humans) * study.n_ratings <= _SCORED
    scored = [*models, *humans] if few else models
    return score_against_consensus(study, raters=scored, panel=humans)


def summary(f: Findings) -> Sentence:
    """Return sentences on the models that may replace a human, those that may not, and the best."""
    found: ModelFindings = f.results["models"]
    tests = found.tests
    if not tests:
        return (found.why,) if found.why else ()
    if len(tests) == 1:
        return model_verdict(tests[0])
    judged = [test for test in tests if test.reason is None]
    if not judged:
        return (f"No verdict on any of {len(tests):,} models: {tests[0].reason}.",)
    n = counted(len(judged), "model")
    if len(judged) < len(tests):
        n = f"{n} that could be tested (of {len(tests):,})"
    passing = [test.model for test in judged if test.passes]
    failing = [test.model for test in judged if not test.passes]
    untested = [test.model for test in tests if test.reason is not None]
    said: Sentence = (f"{len(passing):,} of {n} may replace a human: ", *named(passing))
    if not passing:
        said = (f"None of {n} may replace a human: ", *named(failing))
    elif failing:
        said = (*said, "; ", *named(failing), " may not")
    if untested:
        said = (*said, "; no verdict on ", *named(untested))
    return (*said, ". The best, ", Name.of(judged[0].model), ", ", *_standing(judged[0]))


def model_verdict(test: AltTest) -> Sentence:
    """Return the verdict on one model, and how near it comes to the humans."""
    who = Name.of(test.model)
    if test.reason is not None:
        return ("No verdict on ", who, f": {test.reason}.")
    may = "may" if test.passes else "may not"
    return (who, f" {may} replace a human: it ", *_standing(test))


def _standing(test: AltTest) -> Sentence:
    """Return over how many humans a model wins, and how near it comes to them."""
    near = share(test.average_advantage_probability)
    said = (
        f"{test.wins}. In {near} of the units, on average, it is at least as near to the other "
        "humans as the human is."
    )
    return (said, *test.reservations)


def sections(f: Findings) -> Iterator[Section]:
    """Yield what is asked about models: their tests, and how near they come to the consensus."""
    found: ModelFindings = f.results["models"]
    tests = found.tests
    if not found.models:
        return
    title, people = "May a model replace a human?", _people(f)
    if not tests:
        yield Section("models", title, (*summary(f), *people), None, None, _beside(f, found))
    elif len(tests) == 1:
        first = _test_section(tests[0], "models", title, _beside(f, found))
        yield replace(first, lead=(*first.lead, *people))
    else:
        note = f"{_ADVICE} {_beside(f, found)}"
        yield Section("models", title, (*summary(f), *people), _ranking(tests), None, note)
        for place, test in enumerate(tests[:MOST_MODELS], start=1):
            yield _test_section(test, f"model-{place}", f"Model {place} compared with each human")
    yield _consensus_section(f, found)


def _people(f: Findings) -> Sentence:
    """Return the people: everybody who was not called a model."""
    people = named(f.study.raters.tolist(), limit=_PEOPLE)
    return (" Treated as people: ", *people, " (all who were not named as models).")


def _beside(f: Findings, found: ModelFindings) -> str:
    """Return the coefficient of the humans, and the one with the models among the raters."""
    both = [one for one in (f.main, found.together) if one is not None]
    alone, together = (number(x.estimate) if x.reason is None else "undefined" for x in both)
    n = len(found.models)
    more = "the model as one more rater" if n == 1 else f"the {n:,} models as further raters"
    return (
        f"Among {counted(f.study.n_raters, 'human')} {f.main.definition.short} is {alone}; with "
        f"{more} it would be {together}. The headline and all other sections are about the humans "
        "alone."
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
    return Table("Models, the largest average advantage first", columns, tuple(rows))


def _test_section(test: AltTest, id_: str, title: str, beside: str = "") -> Section:
    """Return the humans that a model is compared with; `beside` ends the note of the first."""
    if test.reason is not None:
        note = f"{_skipped(test)} {beside}".strip()
        return Section(id_, title, model_verdict(test), None, None, note)
    frame = test.humans.sort_values("difference", ascending=False, kind="stable").reset_index()
    frame["wins"] = ["yes" if won else "no" for won in frame["rejected"]]
    columns = [
        Column("Human", "name", "human"),
        Column("Model at least as near", "estimate", ("advantage", "low", "high")),
        Column("Human at least as near", "number", "human_advantage"),
        Column("Human minus model", "signed", "difference"),
        Column("Human with the others", "signed", "agreement"),
        Column("p, corrected", "p", "p_adjusted"),
        Column("Model wins", "text", "wins"),
        Column("Units", "count", "n_units"),
    ]
    caption = "Model and human, each compared with the other humans, the best human first"
    table = table_of(frame, columns, caption, limit=MOST_ROWS, function="alt_test")
    note = (
        "At least as near: the share of the units where the answer is at least as near to the "
        f"other humans ({distance_name(test.distance)}); ties count for both. The model wins if it "
        f"is rejected that the human is better by {test.epsilon:g} or more (t-test; p corrected by "
        f"Benjamini and Yekutieli). {_skipped(test)}"
    )
    if id_ == "models":
        rates = test.by_epsilon(_EPSILONS)["winning_rate"]
        said = ", ".join(f"{number(rate)} at {epsilon:g}" for epsilon, rate in rates.items())
        note = f"{note} Winning rate {said}. {_ADVICE} {beside}"
    height = rows_height(len(test.humans) + 2) + 0.2 * len(test.reservations)
    # The verdict takes several lines below the title on a narrow page.
    picture = Picture(partial(advantage, test, limit=MOST_DRAWN), height, more=1.5)
    return Section(id_, title, model_verdict(test), table, picture, " ".join(note.split()))


def _skipped(test: AltTest) -> str:
    n = len(test.skipped)
    return f"Left out for fewer than 30 shared units: {counted(n, 'human')}." if n else ""


def _consensus_section(f: Findings, found: ModelFindings) -> Section:
    """Return models and humans against the agreed answer of the humans."""
    frame, labels = found.score_table, f.study.kind == "labels"
    columns = [
        Column("Rater", "name", "rater"),
        Column("Who", "text", "who"),
        Column("Same answer", "share", "exact"),
        *([Column("Jaccard", "number", "jaccard")] if labels else []),
        *([Column("Micro F1", "number", "micro_f1")] if labels else []),
        Column("Macro F1", "number", "macro_f1"),
        Column("Units", "count", "n_units"),
        Column("Without agreed answer", "count", "n_left_out"),
    ]
    caption = "Models, then humans, against the agreed answer of the humans"
    table = table_of(frame, columns, caption, limit=MOST_ROWS, function="score_against_consensus")
    assert found.scores is not None  # noqa: S101 - who has models has their scores
    note = (
        f"The agreed answer is {_AGREED[found.scores.method]}. A human never counts in the "
        "consensus that he or she is compared with, which has one vote fewer than that for models: "
        "the shares of models and humans are not directly comparable."
    )
    if have_degrees(f.study.values):
        note += " Jaccard and F1 look at which labels were given, not at their degrees."
    title = "Agreement with the consensus of the humans"
    return Section("consensus", title, consensus_words(found.score_table), table, None, note)


def consensus_words(frame: pd.DataFrame) -> Sentence:
    """Return the rates at which the best model and the humans give the humans' agreed answer."""
    top = frame.iloc[0]
    if not top["n_units"]:
        return ("No unit has both an answer of the model and an agreed answer of the humans.",)
    said = (
        f" gives exactly the agreed answer of the humans in {share(top['exact'])} of "
        f"{counted(int(top['n_units']), 'unit')}"
    )
    humans = frame.loc[frame["who"] == "human", "exact"].dropna()
    if not len(humans):
        return (Name.of(top["rater"]), f"{said}.")
    low, high = share(humans.min()), share(humans.max())
    span = f"{low} to {high}" if low != high else low
    return (Name.of(top["rater"]), f"{said}; the humans, each against the others alone, in {span}.")


def method(f: Findings) -> Method | None:
    """Return a sentence on the models and their test against humans, with the sources."""
    if not f.models:
        return None
    n = len(f.models)
    beside = (
        f"The raters are human; {counted(n, 'model')} that answered, too, "
        f"{'is' if n == 1 else 'are'} left out of these numbers."
    )
    tests = [test for test in f.results["models"].tests if test.reason is None]
    if not tests:
        return beside, ()
    one = tests[0]
    who = "The model" if len(tests) == 1 else "The models, by their advantage,"
    rates = "; ".join(
        f"won over {int(test.humans['rejected'].sum()):,} of {counted(len(test.humans), 'human')} "
        f"(winning rate {number(test.winning_rate)}, average advantage probability "
        f"{number(test.average_advantage_probability)})"
        for test in tests
    )
    said = (
        f"{beside} Whether a model may replace a human was decided by the alternative annotator "
        f"test (Calderon et al., 2025) with the {distance_name(one.distance)} distance, epsilon "
        f"{one.epsilon:g} and a false discovery rate of {one.q:g} (Benjamini & Yekutieli, 2001). "
        f"{who} {rates}."
    )
    return said, ("Calderon et al. 2025", "Benjamini & Yekutieli 2001")


TOPIC = Topic(
    "models",
    sections,
    compute,
    about="Models",
    summary=summary,
    method=method,
    without_estimate=True,
    unweighted="Comparisons with models",
)
