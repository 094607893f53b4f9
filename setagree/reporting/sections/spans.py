"""Labelled spans: documents, and quotes of the places with the largest disagreement."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from setagree.checks import Codes, Floats
from setagree.diagnosis.by_unit import disagreement_of_units
from setagree.errors import counted
from setagree.plots.diagnosis import largest_share_first
from setagree.reporting.sections.base import (
    Findings,
    Passage,
    Piece,
    Section,
    Table,
    Topic,
    table_of,
    with_sentences,
)
from setagree.reporting.sections.units import MOST_ROWS, answers
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


def _n_spans(f: Findings) -> Codes:
    """Return the number of spans of each rater; those of one label that touch count as one."""
    study, document = f.study, _documents(f)[0]
    order = np.lexsort((study.unit_codes, document[study.unit_codes], study.rater_codes))
    units, raters = study.unit_codes[order], study.rater_codes[order]
    goes_on = (np.diff(raters) == 0) & (np.diff(document[units]) == 0)
    out, sets = np.zeros(study.n_raters, dtype=np.int64), _sets(f)
    for label in frozenset().union(*sets):
        has = np.array([label in one for one in sets])[study.value_codes[order]]
        begins = has & ~np.r_[False, goes_on & has[:-1]]
        out += np.bincount(raters[begins], minlength=study.n_raters)
    return out


def _length(f: Findings) -> str:
    """Return the length of all documents with its unit."""
    size, reading, sampling = _documents(f)[2].sum(), f.study.reading, f.study.sampling
    noun = "in all" if sampling is None or not sampling.size else f"in {sampling.size}"
    if reading is not None and reading.tokens is not None:
        noun = "words" if reading.tokens == "words" else "tokens"
    elif "text" in f.study.units_frame:
        noun = "characters"
    return f"{size:,.0f} {noun}" if float(size).is_integer() else f"{size:,.1f} {noun}"


def counts(f: Findings) -> list[str]:
    """Return the numbers of documents and spans, and the length."""
    n = int(_n_spans(f).sum())
    return [counted(len(_documents(f)[1]), "document"), _length(f), counted(n, "span")]


def overview(f: Findings, _: None) -> list[Section]:
    """Return the counts of documents, lengths and spans."""
    columns = [Column("What", "text"), Column("Number", "text"), Column("Details", "text")]
    caption = "Contents of the study, and what was left out"
    table = Table(caption, columns, [*_contents(f)], is_ranking=False, sortable=False)
    note = (
        "Each document is cut at every boundary of a span. A piece counts by its length, and the "
        "answer of a rater to it is the set of the labels whose spans cover it."
    )
    return [Section(table, None, note, lead=())]


def _contents(f: Findings) -> Iterator[tuple[str, str, str | Sentence]]:
    """Yield the name, the number and the details of each count."""
    study, (document, names, size) = f.study, _documents(f)
    n, n_documents = study.n_raters, len(names)
    pairs = np.unique(document[study.unit_codes] * n + study.rater_codes)
    missing = n * n_documents - len(pairs)
    who = "every rater annotated every document"
    who = f"{counted(missing, 'pair')} of document and rater missing" if missing else who
    yield "Documents", f"{n_documents:,}", who
    if lone := int((np.bincount(pairs // n, minlength=n_documents) < 2).sum()):
        yield "Documents of one rater", f"{lone:,}", "cannot show agreement"
    yield "Length", _length(f), f"{counted(study.n_units, 'piece')} between boundaries"
    done = [counted(k, "document") for k in np.bincount(pairs % n, minlength=n).tolist()]
    yield "Raters", f"{n:,}", _each(f, done)
    spans = _n_spans(f)
    touching = "those of one label that touch or overlap count as one"
    yield "Spans", f"{spans.sum():,}", (*_each(f, [f"{k:,}" for k in spans]), f"; {touching}")
    marked = np.array([bool(one) for one in _sets(f)])[study.value_codes]
    w = size[study.unit_codes]
    total, covered = (np.bincount(study.rater_codes, w * x, n) for x in (1, marked))
    parts = _each(f, [share(x) for x in covered / total])
    most = share(covered.sum() / total.sum())
    yield "Covered", most, ("of the length has a label: ", *parts)
    yield "Labels", f"{len(frozenset().union(*_sets(f))):,}", f"{study.n_values:,} distinct sets"


def _each(f: Findings, texts: list[str]) -> Sentence:
    """Return the text of each of at most eight raters, or one text if it is common to all."""
    if len({*texts}) == 1:
        return (f"{texts[0]} each",)
    raters = zip(f.study.raters[:_MOST_RATERS], texts, strict=False)
    named: list[Sentence] = [(Name.of(rater), f" {text}") for rater, text in raters]
    rest = len(texts) - _MOST_RATERS
    return enumeration([*named, *([(f"{rest:,} others",)] if rest > 0 else [])])


# ---- Places --------------------------------------------------------------------------------------


def compute(f: Findings) -> pd.DataFrame:
    """Return the disagreement on each piece, the largest share first."""
    return largest_share_first(disagreement_of_units(f.main))


def summary(f: Findings, pieces: pd.DataFrame) -> Sentence:
    """Return the part of the text on which raters differ, and the documents with most of that."""
    document, names, size = _documents(f)
    if not pieces["disagreement"].max() > 0:
        return (f"The raters agree fully in all {counted(len(names), 'document')}.",)
    units = pd.Index(f.study.units).get_indexer(pd.Index(pieces["unit"]))
    w = size[units]
    differ = share(w[pieces["disagreement"] > 0].sum() / w.sum())
    of_document = np.bincount(document[units], pieces["share_of_disagreement"], len(names))
    worst = [
        d for d in np.argsort(-of_document, kind="stable")[:_MOST_PASSAGES] if of_document[d] > 0
    ]
    named = [(Name.of(names[d]), f" ({share(of_document[d])})") for d in worst]
    start = f"Raters differ on {differ} of the length. The largest shares of the disagreement: "
    return (start, *enumeration(named), ".")


def sections(f: Findings, pieces: pd.DataFrame) -> list[Section]:
    """Return quotes of the places with the main disagreements, and the table of places."""
    frame = pieces[pieces["disagreement"] > 0]
    if not len(frame):
        return []
    texts = f.study.units_frame.get("text")
    quotes = frame["unit"] if texts is None else texts.loc[frame["unit"]].to_numpy()
    frame = with_sentences(frame, answers(f.study, [*frame["unit"].iloc[:MOST_ROWS]]))
    columns = [
        Column("unit", "name", "Place"),
        *([] if texts is None else [Column("quote", "name", "Text")]),
        Column("sentence", "text", "Answers"),
        Column("share_of_disagreement", "share", "Share of all", is_part=True),
    ]
    caption = "Places of the largest disagreement"
    frame = frame.assign(quote=np.asarray(quotes, dtype=object))
    table = table_of(frame, columns, caption, limit=MOST_ROWS, function="by_unit")
    note = "The share of a place increases with its length and with the distance of its answers."
    return [Section(table, None, note, passages=[*_passages(f)])]


def _passages(f: Findings) -> Iterator[Passage]:
    """Yield one document for each of the labels with most disagreement, at the worst place.

    The disagreement on a label at a unit of r ratings, k of which have it, is w k (r - k) / (r -
    1), in proportion to the pairs of ratings that differ in it.
    """
    study, (document, names, w) = f.study, _documents(f)
    labels, used = f.result("labels"), set[int]()
    if labels is None:
        return
    colours = {label: k for k, label in enumerate(labels["label"])}
    r = np.bincount(study.unit_codes, minlength=study.n_units)
    for label, part in zip(labels["label"], labels["share_of_disagreement"], strict=True):
        has = np.array([label in one for one in _sets(f)])[study.value_codes]
        k = np.bincount(study.unit_codes, has, study.n_units)
        q = w * k * (r - k) / np.maximum(r - 1, 1)
        of_document = np.bincount(document, q, len(names))
        of_document[[*used]] = 0
        if not of_document.max() > 0 or len(used) >= _MOST_PASSAGES:
            return
        used.add(d := int(of_document.argmax()))
        about = f": {share(part)} of the disagreement. The document with most of that"
        most = f"{about} ({share(of_document[d] / q.sum())}) is "
        title = (Name.of(label), most, Name.of(names[d]), ".")
        yield _quoted(f, d, int(np.where(document == d, q, -1).argmax()), title, colours)


def _quoted(f: Findings, d: int, worst: int, title: Sentence, colours: dict[Any, int]) -> Passage:
    """Return a document with the answers of each rater, or of a long one the part at a unit."""
    study, (document, _, size) = f.study, _documents(f)
    texts, sets, units = study.units_frame.get("text"), _sets(f), np.flatnonzero(document == d)
    quotes = [""] * len(units) if texts is None else texts.iloc[units].tolist()
    lengths = size[units] if texts is None else np.array([*map(len, quotes)])
    ends = np.cumsum(lengths)
    low, high = 0, len(text := "".join(quotes))
    if len(text) > _WHOLE:
        middle = int(ends[units == worst][0] - lengths[units == worst][0] / 2)
        low, high = max(0, middle - _AROUND), min(high, middle + _AROUND)
        low += text.find(" ", low, middle) - low + 1 if low else 0
        high = high if high == len(text) else max(text.rfind(" ", middle, high), middle)
        cuts = np.clip(np.stack([ends - lengths, ends]), low, high)
        quotes = [text[a:b] for a, b in cuts.T.tolist()]
    lines, rows = [], np.flatnonzero(np.isin(study.unit_codes, units))
    for g in np.unique(study.rater_codes[rows])[:_MOST_RATERS]:
        rated, value, pieces = rows[study.rater_codes[rows] == g], np.full(study.n_units, -1), []
        value[study.unit_codes[rated]] = study.value_codes[rated]
        places = zip(value[units].tolist(), quotes, lengths.tolist(), strict=True)
        shown = [one for one in places if one[1] or texts is None]
        for code, run in groupby(shown, key=itemgetter(0)):
            cells = [*run]
            labels = sorted(sets[code] if code >= 0 else (), key=colours.__getitem__)
            colour = [min(colours[label], N_COLOURS) for label in labels]
            quote = "".join(cell[1] for cell in cells)
            pieces.append(Piece(quote, labels, colour, sum(cell[2] for cell in cells)))
        following = [*pieces[1:], Piece("", [], [], 0)]
        pieces = [
            one._replace(ends=[Name.of(x) for x in one.ends if x not in after.ends])
            for one, after in zip(pieces, following, strict=True)
        ]
        lines.append((Name.of(study.raters[g]), pieces))
    seen = {label for v in {*study.value_codes[rows].tolist()} for label in sets[v]}
    key = [(min(colours[x], N_COLOURS), Name.of(x)) for x in colours if x in seen and texts is None]
    return Passage(title, lines, low > 0, high < len(text), key)


CONTENTS = Topic("data", "Documents and spans", overview)
PLACES = Topic(
    "places",
    "Places of disagreement",
    sections,
    compute,
    about="Places",
    summary=summary,
)
