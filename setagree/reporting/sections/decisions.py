"""Decisions: answers to further questions, each in a sentence or two."""

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
    Column,
    Findings,
    Method,
    Picture,
    Section,
    Table,
    Topic,
)
from setagree.scoring.coefficients import distance_name
from setagree.study.labels import is_missing
from setagree.wording.sentences import Name, Sentence, Words, named

_ROWS = 40
"""Rows of the table of facets."""


@dataclass(frozen=True, eq=False)
class Decided:
    """A question and its answer.

    Attributes
    ----------
    question : tuple
        What was asked, the names that a user wrote apart.
    answer : tuple
        The verdict in pieces, the names that a user wrote apart.
    result : object
        The result behind it, or None if the data do not allow an answer.
    """

    question: Sentence
    answer: Sentence
    result: Any


def compute(f: Findings) -> list[Decided]:
    """Return the answers to the questions that were asked."""
    asked = f.asked
    if asked.margin is not None and not f.models:
        raise OptionError(f"{option('margin')} is for models; name them: {option('model')}.")
    found: list[Decided] = []
    if asked.threshold is not None:
        test = at_least(f.main, asked.threshold, level=f.level)
        question = f"Is {f.main.definition.short} at least {asked.threshold:g}?"
        found.append(Decided((question,), (test.verdict,), test))
    if asked.margin is not None:
        found += _in_the_place_of_humans(f, asked.margin)
    if asked.facets is not None:
        given: dict[str, Any] = {"facets": asked.facets, "model": _all_models(f, asked.facets)}
        question = "Do models agree with themselves?"
        found.append(_answered(question, f, facet_agreement, f.everyone, given))
    if f.study.repeats is not None:
        question = "Do raters agree with themselves?"
        found.append(_answered(question, f, intra_rater_agreement, f.study, {}))
    return found


def _in_the_place_of_humans(f: Findings, margin: float) -> Iterator[Decided]:
    """Yield what each model in the place of a human costs."""
    asked = f" in the place of a human lower agreement by {margin:g} or more?"
    try:
        tests = noninferiority_test(f.everyone, model=f.models, margin=margin, distance=f.distance)
    except DataError as error:
        yield Decided((f"Does a model{asked}",), (f"No verdict: {error}",), None)
        return
    for test in tests:
        yield Decided(("Does ", Name.of(test.model), asked), test.verdict_words, test)


def _all_models(f: Findings, facets: Sequence[str]) -> list[Any] | None:
    """Return the models, including unnamed raters that their facets identify as models.

    Warns
    -----
    SetagreeWarning
        Some were not named, and count as people in the rest of the report.
    """
    known = f.study.raters_frame.reindex(columns=[*facets])
    has_facets = (~known.map(is_missing)).any(axis=1).to_numpy(dtype=bool)
    if not has_facets.any() or has_facets.all():
        return f.models or None
    others = f.study.raters[has_facets].tolist()
    warn(
        f"{listing(others)} {'has' if len(others) == 1 else 'have'} {' and '.join(facets)} as "
        f"models do, and {'counts' if len(others) == 1 else 'count'} as people in the other "
        f"sections: name models by {option('model')}.",
        SetagreeWarning,
    )
    return [*f.models, *others]


def _answered(
    question: str, f: Findings, function: Callable[..., Any], study: Any, given: dict[str, Any]
) -> Decided:
    """Return the verdict of a function, or why there is none."""
    try:
        found = function(study, distance=f.distance, level=f.level, **given)
    except DataError as error:
        return Decided((question,), (f"No verdict: {error}",), None)
    is_of_facets = isinstance(found, FacetAgreement)
    return Decided((question,), found.verdict_words if is_of_facets else (found.verdict,), found)


def summary(f: Findings) -> Sentence:
    """Return the first verdict, and that on models in the place of a human if one was requested."""
    found: list[Decided] = f.results["decisions"]
    tests = [one.result for one in found if hasattr(one.result, "margin")]
    begins_with_models = bool(tests) and found[0].result is tests[0]
    if not tests or (begins_with_models and len(tests) == 1):
        return found[0].answer if found else ()
    return _costs(tests) if begins_with_models else (*found[0].answer, " ", *_costs(tests))


def _costs(tests: Sequence[Any]) -> Sentence:
    """Return a sentence on models that lower agreement by less than the margin."""
    said: list[Words] = []
    for outcome, verbs in OUTCOMES.items():
        models = [test.model for test in tests if test.outcome == outcome]
        if models:
            shown = verbs[len(models) > 1].format(f"{tests[0].margin:g}")
            said += [" " if said else "", *named(models), f" in the place of a human {shown}."]
    return tuple(piece for piece in said if piece)


def sections(f: Findings) -> list[Section]:
    """Return the questions with their answers, and the table of facets."""
    found: list[Decided] = f.results["decisions"]
    if not found:
        return []
    rows = tuple((one.question, one.answer) for one in found)
    columns = (Column("Question", "text"), Column("Answer", "text"))
    table = Table("What was asked", columns, rows, is_ranking=False, sortable=False)
    sections = [Section("decisions", "Decisions", (), table, None, _note(found))]
    return sections + [
        _facets(one.result) for one in found if isinstance(one.result, FacetAgreement)
    ]


def _note(found: list[Decided]) -> str:
    """Return the note on the sentences."""
    if not any(hasattr(one.result, "margin") for one in found):
        return ""
    return (
        "The alt-test asks how often a model is the nearer one; by how much agreement changes is "
        "asked here. p is corrected by Holm for several models."
    )


def _facets(found: FacetAgreement) -> Section:
    """Return the agreement of models with themselves, with one another and with people."""
    frame = found.to_frame()
    top = frame.head(_ROWS)
    rows = tuple(
        (
            (row.pairs,) if row.who == ALL else ("… ", Name.of(row.who)),
            (row.estimate, row.low, row.high),
            row.upper_bound,
            row.n_units,
        )
        for row in top.itertuples()
    )
    columns = (
        Column("Pairs of", "text"),
        Column("Agreement", "estimate"),
        Column("At most", "number"),
        Column("Units", "count"),
    )
    more = "" if len(top) == len(frame) else f"The first {len(top):,} of {len(frame):,}."
    caption = "Agreement of pairs of raters, the most alike first"
    table = Table(caption, columns, rows, more, is_ranking=False, sortable=False)
    picture = Picture(partial(draw_facets, found, limit=_ROWS), rows_height(len(top)), more=1.0)
    note = (
        "Agreement is 1 less the mean distance of such pairs over that of any two ratings "
        f"({distance_name(found.distance)}). At most: the mean of what both sides agree with "
        "themselves."
    )
    return Section("facets", "Agreement of models with themselves", (), table, picture, note)


def method(f: Findings) -> Method | None:
    """Return a sentence on the test of models in the place of humans, with the sources."""
    tests = [one.result for one in f.results["decisions"] if hasattr(one.result, "margin")]
    if not tests:
        return None
    said = (
        "By how much agreement changes where a model answers in the place of a human was tested "
        f"for non-inferiority with a margin of {tests[0].margin:g}, by t with the correction for "
        "skewness of Hall (1992)."
    )
    return said, ("Hall 1992",)


TOPIC = Topic(
    "decisions",
    sections,
    compute,
    about="Decisions",
    summary=summary,
    method=method,
    without_estimate=True,
)
