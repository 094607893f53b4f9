"""Decisions: further questions that a report can answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from setagree.diagnosis.intra_rater import intra_rater_agreement
from setagree.errors import DataError, OptionError, SetagreeWarning, listing, option, warn
from setagree.inference.benchmark import at_least
from setagree.panels.facets import ALL, FacetAgreement, facet_agreement
from setagree.panels.noninferiority import OUTCOMES, noninferiority_test
from setagree.plots.base import rows_height
from setagree.plots.panels import facets as draw_facets
from setagree.reporting.sections.base import (
    Findings,
    Method,
    Picture,
    Section,
    Table,
    Topic,
    table_of,
)
from setagree.scoring.coefficients import distance_name
from setagree.study.codes import as_objects
from setagree.study.labels import is_missing
from setagree.wording.sentences import Name, Sentence, Words, named
from setagree.wording.tables import Column

_ROWS = 40
"""Rows of the table of facets."""


@dataclass(frozen=True, eq=False)
class Decided:
    """A question, its answer, and the result of its test, or None if there is none."""

    question: Sentence
    answer: Sentence
    result: Any


def compute(f: Findings) -> list[Decided]:
    """Return the questions with their answers."""
    margin, threshold, facets = f.options.margin, f.options.threshold, f.options.facets
    if margin is not None and not f.models:
        raise OptionError(f"{option('margin')} requires models; name them by {option('model')}.")
    decided: list[Decided] = []
    if threshold is not None:
        test = at_least(f.main, threshold, level=f.level)
        question = f"Is {f.main.definition.short} at least {threshold:g}?"
        decided.append(Decided((question,), (test.verdict,), test))
    if margin is not None:
        decided += _replacement(f, margin)
    if facets is not None:
        options: dict[str, Any] = {"facets": facets, "model": _all_models(f, facets)}
        question = "Do models agree with themselves?"
        decided.append(_answered(question, f, facet_agreement, f.everyone, options))
    if f.study.repeats is not None:
        question = "Do raters agree with themselves?"
        decided.append(_answered(question, f, intra_rater_agreement, f.study, {}))
    return decided


def _replacement(f: Findings, margin: float) -> Iterator[Decided]:
    """Yield the answer on each model in the place of a human."""
    question = f" in the place of a human lower agreement by {margin:g} or more?"
    try:
        tests = noninferiority_test(f.everyone, model=f.models, margin=margin, distance=f.distance)
    except DataError as error:
        yield Decided((f"Does a model{question}",), (f"No verdict: {error}",), None)
        return
    for test in tests:
        yield Decided(("Does ", Name.of(test.model), question), test.verdict_words, test)


def _all_models(f: Findings, facets: Sequence[str]) -> list[Any] | None:
    """Return the models, and all other raters that have facets.

    Warn about the latter, because the other sections treat them as people.
    """
    columns = f.study.raters_frame.reindex(columns=[*facets])
    has_facets = (~columns.map(is_missing)).any(axis=1).to_numpy(dtype=bool)
    if not has_facets.any() or has_facets.all():
        return f.models or None
    others = f.study.raters[has_facets].tolist()
    warn(
        f"{listing(others)} {'has' if len(others) == 1 else 'have'} {' and '.join(facets)} as "
        f"models do, but {'is' if len(others) == 1 else 'are'} treated as people in the other "
        f"sections; name models by {option('model')}.",
        SetagreeWarning,
    )
    return [*f.models, *others]


def _answered(
    question: str, f: Findings, function: Callable[..., Any], study: Any, options: dict[str, Any]
) -> Decided:
    """Return the verdict of a function, or the reason for none."""
    try:
        result = function(study, distance=f.distance, level=f.level, **options)
    except DataError as error:
        return Decided((question,), (f"No verdict: {error}",), None)
    is_of_facets = isinstance(result, FacetAgreement)
    return Decided((question,), result.verdict_words if is_of_facets else (result.verdict,), result)


def _margin_tests(decided: list[Decided]) -> list[Any]:
    """Return the tests of models in the place of a human."""
    return [one.result for one in decided if hasattr(one.result, "margin")]


def summary(_: Findings, decided: list[Decided]) -> Sentence:
    """Return the first verdict, and that on models in the place of a human if one was requested."""
    tests = _margin_tests(decided)
    begins_with_models = bool(tests) and decided[0].result is tests[0]
    if not tests or (begins_with_models and len(tests) == 1):
        return decided[0].answer
    costs: list[Words] = [] if begins_with_models else [*decided[0].answer]
    for outcome, verbs in OUTCOMES.items():
        models = [test.model for test in tests if test.outcome == outcome]
        if models:
            verb = verbs[len(models) > 1].format(f"{tests[0].margin:g}")
            costs += [" "] if costs else []
            costs += [*named(models), f" in the place of a human {verb}."]
    return tuple(costs)


def sections(_: Findings, decided: list[Decided]) -> list[Section]:
    """Return the questions with their answers, and the table of facets."""
    columns = (Column("Question", "text"), Column("Answer", "text"))
    rows = [(one.question, one.answer) for one in decided]
    table = Table("Questions and answers", columns, rows, sortable=False)
    note = (
        "The alt-test compares how often a model and a human are nearer to the other humans. This "
        "test is about the size of the change of agreement; for several models p is corrected by "
        "Holm."
    )
    facets = [one.result for one in decided if isinstance(one.result, FacetAgreement)]
    first = Section(table, note=note if _margin_tests(decided) else "", lead=())
    return [first, *map(_facets_section, facets)]


def _facets_section(found: FacetAgreement) -> Section:
    """Return the agreement of models with themselves, with one another and with people."""
    frame = found.to_frame()
    parts = zip(frame["pairs"], frame["who"], strict=True)
    pairs = [(pair,) if who == ALL else ("… ", Name.of(who)) for pair, who in parts]
    frame = frame.assign(**{"pairs of": as_objects(pairs)})
    caption = "Agreement of pairs of raters, the most alike first"
    table = table_of(frame, found.columns, caption, limit=_ROWS, function="facet_agreement")
    picture = Picture(partial(draw_facets, found), rows_height(len(table.rows)))
    note = f"Distance: {distance_name(found.distance)}."
    title = "Agreement of models with themselves"
    return Section(table, picture, note, (), title, "facets")


def method(_: Findings, decided: list[Decided]) -> Method | None:
    """Return a sentence on the test of models in the place of humans, with the source."""
    if not (tests := _margin_tests(decided)):
        return None
    sentence = (
        "The change of agreement if a model answers in the place of a human was tested for "
        f"non-inferiority with a margin of {tests[0].margin:g}, by t with the correction for "
        "skewness of Hall (1992)."
    )
    return sentence, ("Hall 1992",)


TOPIC = Topic(
    "decisions",
    "Decisions",
    sections,
    compute,
    about="Decisions",
    summary=summary,
    method=method,
    without_estimate=True,
)
