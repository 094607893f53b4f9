"""Labelled spans: documents, and quotes of the places with the largest disagreement."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from setagree.checks import Codes, Floats
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
from setagree.wording.number_format import share
from setagree.wording.sentences import Name, Sentence, enumeration
from setagree.wording.tables import Column

_MOST_PASSAGES, _MOST_RATERS, N_COLOURS = 3, 8, 6
_WHOLE, _AROUND = 400, 150
"""Characters of a document that is quoted in full, and on each side of a place in a longer one."""


def _sets(f: Findings) -> list[frozenset[Any]]:
    """Return the values of the study as sets of labels."""
    return [x if isinstance(x, frozenset) else frozenset([x]) for x in f.study.values]


def _documents(f: Findings) -> tuple[Codes, list[str], Floats]:
    """Return the document of each unit, the names of documents, and the sizes of units."""
    sample = f.main.case.sample
    assert sample is not None  # noqa: S101 - units have sizes
    assert sample.groups is not None  # noqa: S101
    return sample.groups, [*map(str, sample.names)], f.main.case.pairable_weights


def by_rater(f: Findings) -> pd.DataFrame:
    """Return the numbers of documents and spans and the covered share of the length by rater.

    Spans of one label that touch or overlap count as one.
    """
    study, (document, _, size) = f.study, _documents(f)
    sets = [*_sets(f), frozenset()]
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
    (_, names, size), study = _documents(f), f.study
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
    document, names, size = _documents(f)
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
    """Return quotes of the places with the main disagreements, and the table of places."""
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
    return [Section(table, None, note, passages=[*_passages(f)])]


def _passages(f: Findings) -> Iterator[Passage]:
    """Yield one document for each of the labels with most disagreement, at the worst place.

    The disagreement on a label at a unit of r ratings, k of which have it, is w k (r - k) / (r -
    1), in proportion to the pairs of ratings that differ in it.
    """
    study, (document, names, w) = f.study, _documents(f)
    labels, used = f.result("labels"), list[int]()
    if labels is None or "text" not in study.units_frame:
        return
    r = np.bincount(study.unit_codes, minlength=study.n_units)
    for label, part in zip(labels["label"], labels["share_of_disagreement"], strict=True):
        has = np.array([label in one for one in _sets(f)])[study.value_codes]
        k = np.bincount(study.unit_codes, has, study.n_units)
        q = w * k * (r - k) / np.maximum(r - 1, 1)
        of_document = np.bincount(document, q, len(names))
        of_document[used] = 0
        if not of_document.max() > 0 or len(used) >= _MOST_PASSAGES:
            return
        used.append(d := int(of_document.argmax()))
        about = f": {share(part)} of the disagreement. The document with most of that"
        most = f"{about} ({share(of_document[d] / q.sum())}) is "
        title = (Name.of(label), most, Name.of(names[d]), ".")
        units = np.flatnonzero(document == d)
        yield Passage(title, _lines(f, units, int(q[units].argmax()), [*labels["label"]]))


def _lines(
    f: Findings, units: Codes, worst: int, labels: list[Any]
) -> list[tuple[Name, list[Piece]]]:
    """Return the quotes of each rater from a document, or from the part of a long one at a unit."""
    study, sets = f.study, [*_sets(f), frozenset()]
    quotes = study.units_frame["text"].iloc[units].tolist()
    text, lengths = "".join(quotes), [*map(len, quotes)]
    low, high = 0, len(text)
    if high > _WHOLE:
        middle = int(sum(lengths[:worst]) + lengths[worst] / 2)
        low, high = max(0, middle - _AROUND), min(high, middle + _AROUND)
    rows = np.flatnonzero(np.isin(study.unit_codes, units))
    answers = np.full((len(units), study.n_raters), -1)
    at = np.searchsorted(units, study.unit_codes[rows]), study.rater_codes[rows]
    answers[at] = study.value_codes[rows]
    lines = []
    for g in np.unique(study.rater_codes[rows])[:_MOST_RATERS]:
        of_character = np.repeat(answers[:, g], lengths)[low:high]
        starts = np.flatnonzero(np.diff(of_character, prepend=-2))
        each = zip((starts + low).tolist(), of_character[starts], strict=True)
        runs = [(start, sets[k]) for start, k in each]
        pieces = [Piece("… ", [], [])] * (low > 0)
        for (start, one), (end, after) in pairwise([*runs, (high, frozenset())]):
            shown = [k for k, label in enumerate(labels) if label in one]
            last = [Name.of(labels[k]) for k in shown if labels[k] not in after]
            pieces.append(Piece(text[start:end], last, [min(k, N_COLOURS) for k in shown]))
        pieces += [Piece(" …", [], [])] * (high < len(text))
        lines.append((Name.of(study.raters[g]), pieces))
    return lines


CONTENTS = Topic("data", "Documents and spans", overview)
PLACES = Topic("places", "Places of disagreement", sections, compute, "Places", summary)
