"""Data used and left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from setagree.checks import Codes
from setagree.errors import counted, listing
from setagree.reporting.sections.base import Findings, Section, Table, Topic
from setagree.scoring.results import Agreement
from setagree.study.annotations import Annotations
from setagree.study.attributes import likely_models
from setagree.wording.label_sets import Degrees
from setagree.wording.number_format import share
from setagree.wording.sentences import Sentence
from setagree.wording.tables import Column

Counted: TypeAlias = tuple[str, float, str]
"""The name of a count, the count, and how the counted items are treated."""

_NAMED = 5
"""Largest number of raters that are named for a status."""

_KEPT = {
    "first": "dropped, the first rating was kept",
    "last": "dropped, the last rating was kept",
    "repeats": "the first answer counts, the later ones are kept separately",
    "union": "merged into the union of their labels",
}


def summary(f: Findings, _: None) -> Sentence:
    """Return a sentence on the number of units with one rating."""
    lone = f.main.n_units - f.main.n_pairable_units
    if not lone:
        return ()
    part = share(lone / f.main.n_units)
    have = "has" if lone == 1 else "have"
    single = f"{counted(lone, 'unit')} ({part}) {have} a single rating"
    return (f"{single} and cannot show agreement.",)


def sections(f: Findings, _: None) -> list[Section]:
    """Return the counts of the study and of omitted data, with the reasons."""
    columns = [Column("What", "text"), Column("Number", "count"), Column("Details", "text")]
    # Units that only models rated have a separate row.
    study = replace(f.study, unanswered=f.everyone.unanswered)
    counts = contents(study, f.main, people="Humans" if f.models else "Raters")
    rows = [*counts, *_statuses(f.everyone), *_models(f)]
    caption = "Contents of the study, and what was left out"
    if f.study.reading is not None and f.study.reading.where is not None:
        caption += f"; only rows of the table with {f.study.reading.where} were read"
    table = Table(caption, columns, rows, sortable=False)
    return [Section(table, lead=())]


def _statuses(study: Annotations) -> Iterator[Counted]:
    """Yield the number of ratings that are missing with a status, with the raters who have most."""
    if study.unobserved is None:
        return
    for status, counts in study.statuses.iloc[:, 1:].items():
        most = counts[counts > 0].sort_values(ascending=False, kind="stable")
        if len(most):
            named = ", ".join(f"{rater} {n:,}" for rater, n in most.head(_NAMED).items())
            rest = f", {counted(len(most) - _NAMED, 'other')}" if len(most) > _NAMED else ""
            yield f"Status “{status}”", int(most.sum()), f"missing ratings of {named}{rest}"


def _models(f: Findings) -> Iterator[Counted]:
    """Yield the number of models, of their ratings, and of units that only they answered."""
    if likely := likely_models(f.study):
        yield "Names of models", len(likely), f"counted as people: {listing(likely)}"
    if not f.models:
        return
    yield "Models", len(f.models), "left out of all numbers except those of their own sections"
    yield "Ratings of models", f.everyone.n_ratings - f.study.n_ratings, "left out with them"
    alone = f.everyone.n_units - f.study.n_units
    if alone:
        yield "Units that only models rated", alone, "left out with them"


def contents(study: Annotations, main: Agreement, *, people: str = "Raters") -> Iterator[Counted]:
    """Yield the counts of the study, and of the data that the coefficient leaves out."""
    yield "Units", study.n_units, _spread(study.unit_codes, study.n_units, "rating")
    lone = main.n_units - main.n_pairable_units
    if lone:
        fate = "used for the expected agreement only"
        if main.definition.model.weigh == "ratings":
            fate = "left out: no second rating"
        yield "Units with a single rating", lone, fate
    if n := study.unanswered.size:
        fate = f"left out, also of the grid below: {listing(study.unanswered.tolist())}"
        yield "Units without any rating", n, fate
    if silent := study.silent_raters:
        fate = f"left out, also of the grid below: {listing([*silent])}"
        yield f"{people} without any rating", len(silent), fate
    yield people, study.n_raters, _spread(study.rater_codes, study.n_raters, "unit")
    filled = study.n_ratings / (study.n_units * study.n_raters)
    grid = f"{share(filled)} of the unit × rater grid is filled"
    yield "Ratings", study.n_ratings, "every rater rated every unit" if filled == 1 else grid
    if study.n_repeated:
        kept = _KEPT.get(study.reading.duplicates if study.reading else "", "left out")
        yield "Repeated ratings", study.n_repeated, f"a rater rated a unit again: {kept}"
    if study.n_missing:
        n = sum(study.silent_raters.values())
        raters = f" ({n:,} of them of {people.lower()} without any rating)" if n else ""
        fate = f"cells without an answer{raters}: left out, never counted as an answer"
        yield "Missing ratings", study.n_missing, fate
    if study.kind == "labels":
        yield from _label_counts(study)
    else:
        yield "Distinct values", study.n_values, "in use"


def _spread(codes: Codes, n: int, noun: str) -> str:
    """Return the range and the median of the number of ratings, or of rated units."""
    each = np.bincount(codes, minlength=n)
    low, high = int(each.min()), int(each.max())
    if low == high:
        return f"{counted(low, noun)} each"
    return f"{low:,} to {high:,} {noun}s each, median {np.median(each):,.0f}"


def _label_counts(study: Annotations) -> Iterator[Counted]:
    summary = study.summary()
    n_empty = round(summary["share_empty"] * study.n_ratings)
    detail = "no rating is the empty set"
    if n_empty:
        detail = f"{share(n_empty / study.n_ratings)} of the ratings: an answer like any other"
    yield "Empty sets", n_empty, detail
    yield "Labels", summary["n_labels"], f"{summary['labels_per_rating']:.2f} per rating"
    degrees = {x for one in study.values if isinstance(one, Degrees) for x in one.degrees.values()}
    if degrees:
        yield "Distinct degrees", len(degrees), f"from {min(degrees):g} to {max(degrees):g}"
    yield "Distinct label sets", study.n_values, "in use"


TOPIC = Topic(
    "data",
    "Data used and left out",
    sections,
    about="Left out",
    summary=summary,
    rank=2,
    unweighted="Ratings and labels",
)
