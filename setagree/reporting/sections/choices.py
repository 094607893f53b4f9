"""Whether another coefficient or distance leads to another conclusion."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from setagree.distances import get_distance
from setagree.plots.base import rows_height
from setagree.plots.inference import forest
from setagree.reporting.sections.base import (
    Column,
    Findings,
    Method,
    Picture,
    Section,
    Table,
    Topic,
)
from setagree.scoring.coefficients import CoefficientLike, coefficient_name, distance_name
from setagree.scoring.results import AgreementTable
from setagree.scoring.table import agreement
from setagree.scoring.table_notes import drawn_of
from setagree.study.codes import have_degrees
from setagree.wording.number_format import level_text, number, rough
from setagree.wording.sentences import Sentence, enumeration, plain

PANEL_COEFFICIENTS = (
    "krippendorff_alpha",
    "fleiss_kappa",
    "conger_kappa",
    "gwet_ac",
    "percent_agreement",
)
_OF_TWO = {"fleiss_kappa": "scott_pi", "conger_kappa": "cohen_kappa"}
PANEL_DISTANCES = {
    "labels": ("nominal", "masi", "jaccard", "overlap", "hamming"),
    "degrees": ("nominal", "ruzicka", "manhattan", "jaccard"),
    "number": ("nominal", "ordinal", "interval"),
    "category": ("nominal",),
}
"""Distances that the headline is compared with."""


def compute(f: Findings) -> AgreementTable:
    """Return the headline among its relatives."""
    two = f.study.n_raters == 2
    names: list[CoefficientLike] = [
        _OF_TWO.get(name, name) if two else name for name in PANEL_COEFFICIENTS
    ]
    if f.main.coefficient != "mv_alpha" and f.main.coefficient not in names:
        names.append(f.main.definition)
    kind = "degrees" if have_degrees(f.study.values) else f.study.kind
    others = [name for name in PANEL_DISTANCES[kind] if name != f.distance.name]
    return agreement(f.study, coefficient=names, distance=[f.distance, *others], level=f.level)


def summary(f: Findings) -> Sentence:
    """Return a sentence on the dependence of the estimate on the distance."""
    same = [
        row
        for row in f.results["choices"]
        if row.coefficient == f.main.coefficient and row.reason is None
    ]
    if len(same) < 2:
        return ()
    ends = [min(same, key=float), max(same, key=float)]
    low, high = (f"{number(row.estimate)} with {distance_name(row.distance)}" for row in ends)
    word = f.main.definition.short
    if number(ends[0].estimate) == number(ends[1].estimate):
        same_with_all = f"{word} is {number(f.main.estimate)} with each of them"
        return (f"The distance makes no difference: {same_with_all}.",)
    by_name = {row.distance: row.estimate for row in same}
    nested = by_name.get("overlap", np.nan) - by_name.get("jaccard", np.nan) > 0.1
    much = "; much of the disagreement is one set inside the other (labels left out or added)"
    return (
        f"The result depends on the distance: {word} is {low} and {high}{much if nested else ''}.",
    )


def sections(f: Findings) -> list[Section]:
    """Return the coefficients under several distances."""
    table: AgreementTable = f.results["choices"]
    found = {row.coefficient: row.definition for row in table}
    distances = list(dict.fromkeys(row.distance for row in table))
    heads = [Column(coefficient_name(c, distances), "estimate") for c in found.values()]
    of_distances = [[table[name, distance] for name in found] for distance in distances]
    rows = tuple(
        (distance_name(of[0].distance), *((row.estimate, *row.interval(f.level)) for row in of))
        for of in of_distances
    )
    caption = f"Coefficients by distance, with {level_text(f.level)} intervals"
    columns = (Column("Distance", "text"), *heads)
    shown = Table(caption, columns, rows, is_ranking=False)
    names = [coefficient_name(row.definition, distances) for row in table]
    over = f.main.drawn and f"Of the units: {drawn_of(table.rows, names)}. "
    kind = "Intervals are t intervals; the headline has the score interval. "
    note = (
        "The distance defines the credit for two answers that differ; the coefficient defines the "
        "agreement expected by chance. Percent agreement is not corrected for chance and is shown "
        "for comparison. "
        f"{over}{kind if f.main.best_method == 'score' else ''}"
        f"{rough(row.interval(f.level)[0] for row in table)}"
    ).strip()
    title = "Other coefficients and distances"
    # Drawn are the rows that differ from the headline in the distance or the coefficient alone.
    frame: pd.DataFrame = table.to_frame()
    same = frame["coefficient"] == f.main.coefficient
    others = (frame["distance"] == f.main.distance) & (frame["coefficient"] != "percent_agreement")
    nearest = frame[same | others]
    picture = Picture(partial(forest, nearest, level=f.level), rows_height(len(nearest)))
    return [Section("choices", title, summary(f), shown, picture, note)]


def method(f: Findings) -> Method | None:
    """Return a sentence on the other coefficients and distances, with their sources."""
    table: AgreementTable | None = f.results.get("choices")
    if table is None:
        return None
    sources: list[str] = []

    def named(name: str, source: str | None) -> Sentence:
        sources.extend([source] if source else [])
        return (f"{name} ({', '.join(source.rsplit(' ', 1))})" if source else name,)

    every = {row.coefficient: row.definition for row in table}
    beside = [one for one in every.values() if one != f.main.definition]
    names = [(coefficient_name(one, [f.distance.name]), one.source) for one in beside]
    listed = enumeration([named(name.replace("Percent", "percent"), x) for name, x in names])
    said = (f"In addition to {f.main.definition.short}, the report gives ", *listed)
    others = dict.fromkeys(row.distance for row in table if row.distance != f.main.distance)
    if others:
        known = [named(distance_name(one), get_distance(one).source) for one in others]
        said = (*said, "; the other distances are ", *enumeration(known))
    return plain((*said, ".")), tuple(sources)


TOPIC = Topic("choices", sections, compute, about="Choice", summary=summary, method=method, rank=1)
