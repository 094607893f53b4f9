"""Labelled spans: documents, and quotes of the places with the largest disagreement."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from setagree.checks import Codes
from setagree.errors import counted
from setagree.plots.diagnosis import largest_share_first
from setagree.reporting.sections.base import (
    Findings,
    Passage,
    Piece,
    Section,
    Topic,
    table_of,
    with_sentences,
)
from setagree.reporting.sections.units import MOST_ROWS, answers, compute
from setagree.study.annotations import Annotations
from setagree.wording.number_format import share
from setagree.wording.sentences import Name, Sentence, enumeration
from setagree.wording.tables import Column

_MOST_PASSAGES, _MOST_RATERS, N_COLOURS = 3, 8, 6
_AROUND, _LONGEST = 5, 160
"""Number of pieces that are quoted on each side of a place, and characters of each."""


def _as_set(value: Any) -> frozenset[Any]:
    """Return a value of a study as a set of labels."""
    return value if isinstance(value, frozenset) else frozenset([value])


def by_rater(f: Findings) -> pd.DataFrame:
    """Return the numbers of documents and spans and the covered share of the length by rater.

    Spans of one label that touch or overlap count as one.
    """
    study, document, size = f.study, f.main.case.clusters[0], f.main.case.pairable_weights
    sets = [*map(_as_set, study.values), frozenset()]
    codes = {"rater": study.rater_codes, "unit": study.unit_codes, "value": study.value_codes}
    rows = pd.DataFrame(codes).sort_values("unit")
    rows["document"], rows["size"] = document[rows["unit"]], size[rows["unit"]]
    before = rows.groupby(["rater", "document"])["value"].shift(fill_value=-1)
    rows["spans"] = [len(sets[k] - sets[j]) for k, j in zip(rows["value"], before, strict=True)]
    rows["covered"] = rows["size"] * [bool(sets[k]) for k in rows["value"]]
    groups = rows.groupby("rater")
    out = groups[["spans", "covered", "size"]].sum().assign(documents=groups["document"].nunique())
    return out.assign(rater=study.raters[out.index])


def counts(f: Findings) -> list[str]:
    """Return the numbers of documents and spans, and the length with its unit."""
    (_, names), size, study = f.main.case.clusters, f.main.case.pairable_weights, f.study
    noun = f"in {study.sampling.size}" if study.sampling is not None else ""
    if study.reading is not None and study.reading.tokens is not None:
        noun = "words" if study.reading.tokens == "words" else "tokens"
    elif "text" in study.units_frame:
        noun = "characters"
    total = float(size.sum())
    length = f"{total:,.0f} {noun}" if total.is_integer() else f"{total:,.1f} {noun}"
    n_spans = counted(int(by_rater(f)["spans"].sum()), "span")
    return [counted(len(names), "document"), length, n_spans]


def overview(f: Findings, _: None) -> list[Section]:
    """Return the counts of documents, lengths and spans."""
    frame = by_rater(f)
    n_pieces, covered = counted(f.study.n_units, "piece"), frame["covered"].sum()
    lead = (
        f"{', '.join(counts(f))}, cut into {n_pieces}; {share(covered / frame['size'].sum())} of "
        "the length has a label."
    )
    frame["covered"] /= frame["size"]
    columns = [
        *(Column("rater", "name"), Column("documents", "count"), Column("spans", "count")),
        Column("covered", "share"),
    ]
    table = table_of(frame, columns, "Raters", limit=len(frame), function="by_rater")
    note = (
        "Each document is cut at every boundary of a span. A piece counts by its length, and the "
        "answer of a rater to it is the set of the labels whose spans cover it. Spans of one label "
        "that touch or overlap count as one. Covered: the share of the length with a label."
    )
    return [Section(table, None, note, lead=(lead,))]


# ---- Places --------------------------------------------------------------------------------------


def summary(f: Findings, pieces: pd.DataFrame) -> Sentence:
    """Return the part of the text on which raters differ, and the documents with most of that."""
    (document, names), size = f.main.case.clusters, f.main.case.pairable_weights
    if not pieces["disagreement"].max() > 0:
        return (f"The raters agree fully in all {counted(len(names), 'document')}.",)
    units = pd.Index(f.study.units).get_indexer(pd.Index(pieces["unit"]))
    differ = share(size[units] @ (pieces["disagreement"] > 0) / size[units].sum())
    shares = pieces["share_of_disagreement"].groupby(document[units]).sum()
    worst = shares[shares > 0].nlargest(_MOST_PASSAGES)
    pairs = zip(worst.index, worst, strict=True)
    named = [(Name.of(names[d]), f" ({share(part)})") for d, part in pairs]
    start = f"Raters differ on {differ} of the length. The largest shares of the disagreement: "
    return (start, *enumeration(named), ".")


def sections(f: Findings, pieces: pd.DataFrame) -> list[Section]:
    """Return the table of places with the main disagreements, and quotes of the documents there."""
    frame = largest_share_first(pieces[pieces["disagreement"] > 0])
    if not len(frame):
        return []
    frame = with_sentences(frame, answers(f.study, [*frame["unit"].iloc[:MOST_ROWS]]))
    frame = frame.join(f.study.units_frame.filter(["text"]), on="unit")
    columns = [
        Column("unit", "name", "Place"),
        Column("text", "name", is_optional=True),
        Column("sentence", "text", "Answers"),
        Column("share_of_disagreement", "share", "Share of all", is_part=True),
    ]
    caption = "Places of the largest disagreement"
    table = table_of(frame, columns, caption, limit=MOST_ROWS, function="by_unit")
    note = "The share of a place increases with its length and with the distance of its answers."
    passages = [*_passages(f, frame)] if "text" in frame else []
    return [Section(table, None, note, passages=passages)]


def _passages(f: Findings, places: pd.DataFrame) -> Iterator[Passage]:
    """Yield the text around the worst place of each of the documents with the worst places."""
    document, labels = f.main.case.clusters[0], f.result("labels")
    codes = pd.Index(f.study.units).get_indexer(pd.Index(places["unit"]))
    places = places.assign(code=codes, document=document[codes]).drop_duplicates("document")
    columns = ["unit", "code", "document", "share_of_disagreement"]
    for unit, code, d, part in places[columns].head(_MOST_PASSAGES).to_numpy().tolist():
        units = np.flatnonzero(document == d)
        near = units[np.abs(units - code) <= _AROUND]
        title = (Name.of(unit), f": {share(part)} of the disagreement.")
        yield Passage(title, _lines(f.study, near, [] if labels is None else [*labels["label"]]))


def _lines(study: Annotations, units: Codes, labels: list[Any]) -> list[tuple[Name, list[Piece]]]:
    """Return the quotes of neighbouring units, joined where a rater has the same labels."""
    wide = study.take(np.isin(study.unit_codes, units)).to_wide().map(_as_set)
    texts = [
        text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"
        for text in study.units_frame["text"].iloc[units]
    ]
    lines = []
    for rater, sets in [*wide.items()][:_MOST_RATERS]:
        pieces = []
        for one, group in groupby(zip(sets, texts, strict=True), key=itemgetter(0)):
            shown = [(k, Name.of(label)) for k, label in enumerate(labels) if label in one]
            colours = [min(k, N_COLOURS) for k, _ in shown]
            pieces.append(Piece("".join(text for _, text in group), [x for _, x in shown], colours))
        lines.append((Name.of(rater), pieces))
    return lines


CONTENTS = Topic("data", "Documents and spans", overview)
PLACES = Topic("places", "Places of disagreement", sections, compute, "Places", summary)
