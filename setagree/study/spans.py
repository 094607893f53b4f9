"""Labelled spans of documents as a study of label sets.

Each document is cut at every boundary that one of its raters drew. Each piece (atom) is a unit,
with its length as its size and its document as its cluster; a rater's answer on it is the set of
labels whose spans cover it. A rater who did not annotate the document has no answer there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import check_cost, public
from setagree.errors import (
    DataError,
    OptionError,
    SetagreeWarning,
    a_type,
    check_choice,
    counted,
    listing,
    option,
    shorten,
    warn,
)
from setagree.study.assembly import code_ids, pick_column
from setagree.study.codes import Codes, as_objects
from setagree.study.frames import Frame, as_pandas, check_columns
from setagree.study.identifiers import tidied
from setagree.study.reading import Reading, Tokens
from setagree.study.sampling import Chance
from setagree.wording.label_sets import LabelSet

if TYPE_CHECKING:
    from setagree.study.annotations import Annotations

Floats: TypeAlias = npt.NDArray[np.float64]
OfDocuments: TypeAlias = "str | Mapping[Any, Any]"
"""A column of the table, or a mapping from documents."""
Done: TypeAlias = "Literal['all'] | Iterable[tuple[Any, Any]] | pd.DataFrame | None"

_WORD = re.compile(r"\w+|[^\w\s]")
_BYTES_PER_LABEL = 100
"""Memory of a label of a rater on an atom while the label sets are coded."""


@dataclass
class Spans:
    """Labelled spans as a reader collects them, one entry per span.

    Attributes
    ----------
    documents, raters, labels : list
        The document, the rater and the label of each span.
    starts, ends : list of numbers
        Its offsets in the document; the end is not part of it.
    places : list of str
        Where each is in the file.
    quotes : list of str or None
        Its text, if the export repeats it: it shows whether offsets count UTF-16 units.
    done : dict
        The place at which each (document, rater) is done, with or without spans.
    texts, lengths, tokens : dict
        Text, length, and offsets of the tokens of documents.
    ignored : Counter
        Other annotations that were ignored, by kind.
    utf16 : bool
        Whether the tool counts UTF-16 units. Default: as quotes and ends of spans show it.
    """

    documents: list[Hashable] = field(default_factory=list)
    raters: list[Hashable] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    quotes: list[str | None] = field(default_factory=list)
    done: dict[tuple[Hashable, Hashable], str] = field(default_factory=dict)
    texts: dict[Hashable, str] = field(default_factory=dict)
    lengths: dict[Hashable, float] = field(default_factory=dict)
    tokens: dict[Hashable, list[tuple[int, int]]] = field(default_factory=dict)
    ignored: Counter[str] = field(default_factory=Counter)
    utf16: bool = False

    def add(
        self,
        document: Hashable,
        rater: Hashable,
        span: tuple[float, float, str],
        place: str,
        quote: str | None = None,
    ) -> None:
        """Add a span (start, end, label)."""
        start, end, label = span
        self.documents.append(document)
        self.raters.append(rater)
        self.starts.append(start)
        self.ends.append(end)
        self.labels.append(label)
        self.places.append(place)
        self.quotes.append(quote)

    def add_done(
        self, document: Hashable, rater: Hashable, place: str, text: str | None = None
    ) -> None:
        """Add a document that a rater annotated; raise DataError if its text is another one."""
        if (document, rater) in self.done:
            raise DataError(
                f"{place}: rater {shorten(rater)} annotated document {shorten(document)} twice, "
                f"first in {self.done[document, rater]}; keep one of the two."
            )
        self.done[document, rater] = place
        if text is None:
            return
        if self.texts.setdefault(document, text) != text:
            other = next(where for (name, _), where in self.done.items() if name == document)
            raise DataError(
                f"{place}: the text of document {shorten(document)} differs from that in {other}, "
                "so that offsets do not mean the same places; export both from one text."
            )


@public
def from_spans(
    cls: type[Annotations],
    data: Frame,
    *,
    document: str = "document",
    rater: str = "rater",
    start: str = "start",
    end: str = "end",
    label: str = "label",
    length: OfDocuments | None = None,
    text: OfDocuments | None = None,
    done: Done = None,
    tokens: Literal["words"] | None = None,
    chance: Chance = "documents",
) -> Annotations:
    """Return the annotations of a table of labelled spans, with one unit per piece of document.

    Each document is cut at every boundary that one of its raters drew. Each piece (atom) is a unit
    such as ``doc1:0-40``; a rater's answer is the set of labels whose spans cover it, the empty set
    if none does, and missing if the rater did not annotate the document. Units have their length as
    `size` and their document as `cluster`; see `sampled`. Two spans of one label that overlap or
    touch are one.

    Parameters
    ----------
    data : DataFrame
        One labelled span per row. A row without start, end and label states that its rater
        annotated the document and found nothing.
    document, rater, start, end, label : str
        The columns. Offsets count from 0, and the end is not part of the span; they may also be
        seconds of a recording.
    length : str or mapping, optional
        The column with the length of the document, or a mapping from documents.
    text : str or mapping, optional
        Instead of `length`, the column or the mapping with the text of the document.
    done : {"all"}, pairs or DataFrame, optional
        Who annotated which document, with or without spans: (document, rater) pairs, a table with
        these two columns, or ``"all"`` if every rater annotated every document. Default: those with
        a row, and a warning counts the others.
    tokens : {"words"}, optional
        Counts words instead of characters: runs of letters and digits, and single other signs. A
        span is moved outward to the words that it touches. It requires `text`.
    chance : {"documents", "characters"}
        The pairs of answers that the disagreement expected by alpha leaves out; see `sampled`.

    Raises
    ------
    DataError
        A span is empty or ends beyond its document, its rater did not annotate the document, or the
        length of the document is unknown.

    Warns
    -----
    SetagreeWarning
        Some raters have no row in some documents; spans without a word were dropped.

    Examples
    --------
    >>> import pandas as pd
    >>> from setagree import Annotations
    >>> spans = pd.DataFrame({
    ...     "document": ["d1", "d1", "d1", "d2", "d2"],
    ...     "rater": ["ann", "ann", "bob", "ann", "bob"],
    ...     "start": [0, 5, 0, 2, None], "end": [10, 8, 10, 4, None],
    ...     "label": ["claim", "data", "claim", "claim", None],
    ... })
    >>> study = Annotations.from_spans(spans, length={"d1": 20, "d2": 10})
    >>> study
    <Annotations: 14 ratings, 7 units, 2 raters, 3 distinct label sets>
    >>> study.to_wide().loc["d1:5-8"].map(sorted).to_dict()
    {'ann': ['claim', 'data'], 'bob': ['claim']}
    """
    frame = as_pandas(data)
    named = {"document": document, "rater": rater, "start": start, "end": end, "label": label}
    check_columns(list(frame), list(named.values()))
    if (length is None) == (text is None):
        raise OptionError("use one of length= and text=.")
    spans = Spans()
    if not len(frame):
        raise DataError("the table has 0 rows; there is nothing to score.")
    coded = [code_ids(pick_column(frame, named[role]), role) for role in ("document", "rater")]
    documents, raters = (ids[codes] for codes, ids in coded)
    pairs = [*zip(documents.tolist(), raters.tolist(), strict=True)]
    if text is not None:
        spans.texts = _of_documents(text, frame, documents)
    if length is not None:
        spans.lengths = _of_documents(length, frame, documents)
    places = [f"row {k + 1}" for k in range(len(frame))]
    spans.done.update(zip(pairs, places, strict=True))
    _add_done(spans, done, (document, rater))
    _add_rows(spans, frame, pairs, places, (start, end, label))
    return study_of_spans(cls, spans, tokens=tokens, chance=chance)


def _of_documents(given: OfDocuments, frame: pd.DataFrame, documents: Any) -> dict[Any, Any]:
    """Return the text, or the length, of each document from a column or a mapping."""
    if isinstance(given, Mapping):
        return {tidied(name): one for name, one in given.items()}
    if not isinstance(given, str):
        raise OptionError(f"a column or a mapping from documents is needed, not {a_type(given)}.")
    found: dict[Any, Any] = {}
    check_columns(list(frame), [given])
    column = pick_column(frame, given)
    said = column.notna().to_numpy()
    for name, one in zip(documents[said].tolist(), column[said].tolist(), strict=True):
        if found.setdefault(name, one) != one:
            raise DataError(f"column {given!r} has several values for document {shorten(name)}.")
    return found


def _add_done(spans: Spans, done: Done, names: tuple[str, str]) -> None:
    """Add the documents that raters annotated without spans, or warn of those without a row."""
    raters = dict.fromkeys(rater for _, rater in spans.done)
    known = dict.fromkeys([*(d for d, _ in spans.done), *spans.texts, *spans.lengths])
    if isinstance(done, str):
        check_choice("done", done, ("all",))
        pairs: Iterable[Any] = [(document, rater) for document in known for rater in raters]
    elif done is None:
        if absent := len(known) * len(raters) - len(spans.done):
            warn(
                f"{counted(absent, 'pair')} of document and rater without a row: read as not "
                f"annotated. If these raters found nothing there, use done='all' or "
                "list who annotated what.",
                SetagreeWarning,
            )
        return
    elif isinstance(done, pd.DataFrame):
        check_columns(list(done), names)
        pairs = zip(*(done[name] for name in names), strict=True)
    else:
        pairs = done
    listed = dict.fromkeys((tidied(document), tidied(rater)) for document, rater in pairs)
    if rest := [pair for pair in spans.done if pair not in listed]:
        raise DataError(
            f"{spans.done[rest[0]]}: rater {shorten(rest[0][1])} has a span in document "
            f"{shorten(rest[0][0])}, which is not listed in done=."
        )
    for pair in listed:
        spans.done.setdefault(pair, "done=")


def _add_rows(
    spans: Spans,
    frame: pd.DataFrame,
    pairs: Sequence[tuple[Any, Any]],
    places: Sequence[str],
    names: tuple[str, str, str],
) -> None:
    """Add the rows that have a span; raise DataError for rows with a part of one."""
    cells = [pick_column(frame, name) for name in names]
    blank = np.array([column.isna() | (column.astype(object) == "") for column in cells])
    offsets = [pd.to_numeric(column, errors="coerce").to_numpy(dtype=float) for column in cells[:2]]
    whole = ~blank.any(axis=0) & np.isfinite(offsets[0]) & np.isfinite(offsets[1])
    if odd := np.flatnonzero(~whole & ~blank.all(axis=0)).tolist():
        raise DataError(
            f"{places[odd[0]]} has no span: a start and an end that are numbers, and a label, are "
            f"needed, or none of the three ({counted(len(odd), 'row')})."
        )
    rows = np.flatnonzero(whole).tolist()
    spans.documents, spans.raters = ([pairs[k][j] for k in rows] for j in (0, 1))
    spans.starts, spans.ends = (column[rows].tolist() for column in offsets)
    spans.labels = cells[2].iloc[rows].tolist()
    spans.places, spans.quotes = [places[k] for k in rows], [None] * len(rows)


def study_of_spans(
    cls: type[Annotations],
    spans: Spans,
    *,
    tokens: Tokens | None = None,
    chance: Chance = "documents",
) -> Annotations:
    """Return the study of spans: its units are the atoms of documents.

    Raises
    ------
    DataError
        A span is empty or ends beyond its document, its rater did not annotate the document, or the
        length of the document is unknown.
    """
    if tokens is not None:
        check_choice("tokens", tokens, get_args(Tokens))
    if spans.ignored:
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in spans.ignored.items())
        warn(f"ignored beside the labelled spans: {kinds}.", SetagreeWarning)
    names, raters = ([*dict.fromkeys(pair[k] for pair in spans.done)] for k in (0, 1))
    if len({*map(str, names)}) < len(names):
        twice = [name for name, n in Counter(map(str, names)).items() if n > 1]
        raise DataError(f"several documents are called {listing(twice)}; rename one of each.")
    code = {name: k for k, name in enumerate(names)}, {name: k for k, name in enumerate(raters)}
    doc = np.array([*map(code[0].__getitem__, _checked(spans))], dtype=np.int64)
    start, end = (np.array(x, dtype=np.float64) for x in (spans.starts, spans.ends))
    _to_code_points(spans, names, doc, start, end)
    lengths = np.array([_length(spans, name) for name in names], dtype=np.float64)
    _check_offsets(spans, doc, start, end, lengths)
    kept: Codes = np.arange(len(doc))
    if tokens is not None:
        start, end, lengths, kept = _in_tokens(spans, names, doc, start, end, tokens)
    atoms = _Atoms.of(lengths, doc[kept], start, end)
    who = np.array([code[1][rater] for rater in spans.raters], dtype=np.int64)[kept]
    pairs = np.array([(code[0][d], code[1][r]) for d, r in spans.done], dtype=np.int64)
    unit_codes, rater_codes, shift = atoms.ratings(pairs)
    labels = [tidied(spans.labels[k]) for k in kept.tolist()]
    value_codes, values = _label_sets(atoms, labels, shift[doc[kept], who], len(unit_codes))
    units = as_objects(atoms.names(names))
    columns = {"document": as_objects(names)[atoms.document], "length": atoms.high - atoms.low}
    if tokens is None and len(spans.texts) == len(names):
        bounds = zip(atoms.document, atoms.low.astype(int), atoms.high.astype(int), strict=True)
        columns["text"] = as_objects(spans.texts[names[d]][lo:hi] for d, lo, hi in bounds)
    table = pd.DataFrame(columns, index=pd.Index(units, dtype=object, name="unit"))
    study = cls(
        "labels",
        units,
        as_objects(raters),
        values,
        unit_codes.astype(np.int32),
        rater_codes.astype(np.int32),
        value_codes.astype(np.int32),
        unit_table=table,
        reading=Reading(spans=True, tokens=tokens),
    )
    return study.with_used_values().sampled(cluster="document", size="length", chance=chance)


def _checked(spans: Spans) -> list[Hashable]:
    """Return the document of each span; raise DataError if its rater did not annotate it."""
    pairs = zip(spans.documents, spans.raters, strict=True)
    for k, (document, rater) in enumerate(pairs):
        if (document, rater) not in spans.done:
            raise DataError(
                f"{spans.places[k]}: rater {shorten(rater)} has a span in document "
                f"{shorten(document)}, which that rater did not annotate."
            )
    if not spans.done:
        raise DataError("no rater annotated a document; there is nothing to score.")
    return spans.documents


def _length(spans: Spans, document: Hashable) -> float:
    """Return the length of a document: that of its text, if that is known."""
    if document in spans.texts:
        return len(spans.texts[document])
    length = spans.lengths.get(document)
    if length is None or not 0 <= float(length) < np.inf:
        raise DataError(
            f"document {shorten(document)} has no text and no length"
            f"{'' if length is None else f', but {shorten(length)}'}; give its "
            f"length=. The last end of a span does not tell it."
        )
    return float(length)


def _check_offsets(spans: Spans, doc: Codes, start: Floats, end: Floats, lengths: Floats) -> None:
    """Raise DataError for a span that is empty, or not inside its document."""
    limit = lengths[doc] if len(doc) else np.zeros(0)
    bad = np.flatnonzero(~((start >= 0) & (start < end) & (end <= limit)))
    if not bad.size:
        return
    k = int(bad[0])
    rule = "starts before it ends" if start[k] >= end[k] else f"lies in 0 to {limit[k]:g}"
    raise DataError(
        f"{spans.places[k]}: span {start[k]:g}-{end[k]:g} of document "
        f"{shorten(spans.documents[k])} by rater {shorten(spans.raters[k])} is no place of the "
        f"text: a span {rule} ({counted(bad.size, 'such span')}). Correct the offsets."
    )


def _to_code_points(
    spans: Spans, names: Sequence[Hashable], doc: Codes, start: Floats, end: Floats
) -> None:
    """Turn offsets that count UTF-16 units into code points, where quotes or ends show it.

    Both counts are equal unless a text has characters beyond U+FFFF, such as emoji.

    Raises
    ------
    DataError
        The text at the offsets of a span is not its quote.
    """
    order = np.argsort(doc, kind="stable")
    bounds = np.searchsorted(doc[order], np.arange(len(names) + 1))
    for k, name in enumerate(names):
        text, rows = spans.texts.get(name), order[bounds[k] : bounds[k + 1]]
        if text is None or not len(rows):
            continue
        wrong = _misquoted(spans, text, rows, start, end)
        if not text.isascii() and max(text) > "\uffff":
            # at[i] is the offset of code point i in UTF-16 units
            at = np.cumsum([0, *(1 + (sign > "\uffff") for sign in text)])
            moved = start.copy(), end.copy()
            for each in moved:
                each[rows] = np.searchsorted(at, each[rows])
            is_beyond = spans.utf16 or (wrong is None and end[rows].max() > len(text))
            if spans.utf16 and name in spans.tokens:
                cuts = np.searchsorted(at, np.array(spans.tokens[name]).reshape(-1, 2))
                spans.tokens[name] = [(int(lo), int(hi)) for lo, hi in cuts]
            if is_beyond or (wrong is not None and _misquoted(spans, text, rows, *moved) is None):
                start[rows], end[rows], wrong = moved[0][rows], moved[1][rows], None
        if wrong is not None:
            raise DataError(
                f"{spans.places[wrong]}: the text of document {shorten(name)} at {start[wrong]:g}-"
                f"{end[wrong]:g} is not {shorten(spans.quotes[wrong])}, the text of the span; "
                "are these the offsets of another text?"
            )


def _misquoted(spans: Spans, text: str, rows: Codes, start: Floats, end: Floats) -> int | None:
    """Return the first span whose quote is not the text at its offsets, or None.

    Runs of white space are equal, because tools write line breaks as spaces.
    """
    for k in rows.tolist():
        quote = spans.quotes[k]
        if quote is None or not 0 <= start[k] < end[k]:
            continue
        there = text[int(start[k]) : int(end[k])]
        if there != quote and there.split() != quote.split():
            return int(k)
    return None


def _in_tokens(
    spans: Spans,
    names: Sequence[Hashable],
    doc: Codes,
    start: Floats,
    end: Floats,
    tokens: Tokens,
) -> tuple[Floats, Floats, Floats, Codes]:
    """Return first and last token + 1 of each span, numbers of tokens, and the spans with some."""
    first, last, lengths = np.zeros(len(doc)), np.zeros(len(doc)), np.zeros(len(names))
    order = np.argsort(doc, kind="stable")
    bounds = np.searchsorted(doc[order], np.arange(len(names) + 1))
    for k, name in enumerate(names):
        known = spans.texts if tokens == "words" else spans.tokens
        if name not in known:
            needed = "text" if tokens == "words" else "offsets of its tokens"
            raise DataError(
                f"{option('tokens', tokens)} requires the {needed} of each document, which "
                f"document {shorten(name)} lacks."
            )
        cuts = (
            [match.span() for match in _WORD.finditer(spans.texts[name])]
            if tokens == "words"
            else spans.tokens[name]
        )
        starts, ends = np.array(cuts, dtype=np.float64).reshape(-1, 2).T
        rows = order[bounds[k] : bounds[k + 1]]
        first[rows] = np.searchsorted(ends, start[rows], side="right")
        last[rows] = np.searchsorted(starts, end[rows], side="left")
        lengths[k] = len(cuts)
    kept = np.flatnonzero(first < last)
    if n := len(doc) - len(kept):
        place = spans.places[int(np.flatnonzero(first >= last)[0])]
        warn(f"{counted(n, 'span')} without a token dropped (first: {place}).", SetagreeWarning)
    return first[kept], last[kept], lengths, kept


@dataclass(frozen=True)
class _Atoms:
    """The atoms of documents, and the atoms that each span covers.

    Attributes
    ----------
    document, low, high : ndarray of shape (n_atoms,)
        The document of each atom, its start and its end. Atoms of a document follow one another.
    offsets : ndarray of int, shape (n_documents + 1,)
        The first atom of each document.
    first, last : ndarray of int, shape (n_spans,)
        The first atom of each span, and the one behind its last.
    """

    document: Codes
    low: Floats
    high: Floats
    offsets: Codes
    first: Codes
    last: Codes

    @classmethod
    def of(cls, lengths: Floats, doc: Codes, start: Floats, end: Floats) -> _Atoms:
        """Return the atoms of documents whose spans have their document, start and end."""
        used = np.arange(len(lengths))
        document = np.concatenate([used, used, doc, doc])
        position = np.concatenate([np.zeros(len(used)), lengths, start, end])
        order = np.lexsort((position, document))
        d, x = document[order], position[order]
        is_new = np.r_[True, (np.diff(d) != 0) | (np.diff(x) != 0)]
        cut = np.empty(len(order), dtype=np.int64)
        cut[order] = np.cumsum(is_new) - 1
        d, x = d[is_new], x[is_new]
        inside = np.flatnonzero(np.diff(d) == 0)  # a cut that is not the last of its document
        offsets = np.searchsorted(d[inside], np.arange(len(lengths) + 1))
        # Each document has one cut more than atoms.
        first, last = (
            cut[k : k + len(doc)] - doc for k in (2 * len(used), 2 * len(used) + len(doc))
        )
        return cls(d[inside], x[inside], x[inside + 1], offsets, first, last)

    def names(self, documents: Sequence[Hashable]) -> list[str]:
        """Return names such as ``doc1:0-40``."""
        bounds = np.stack([self.low, self.high], axis=1)
        whole = bool((bounds == np.floor(bounds)).all())
        ends = (bounds.astype(np.int64) if whole else bounds).tolist()
        texts = [*map(str, documents)]
        return [
            f"{texts[d]}:{lo}-{hi}"
            for d, (lo, hi) in zip(self.document.tolist(), ends, strict=True)
        ]

    def ratings(self, pairs: Codes) -> tuple[Codes, Codes, Codes]:
        """Return the unit and the rater of each rating, and the first rating of each pair.

        `pairs` holds (document, rater), of shape (n_pairs, 2). The last result has the shape
        (n_documents, n_raters); an entry minus the first atom of its document is added to an atom.
        """
        documents, raters = pairs.T
        n = np.diff(self.offsets)[documents]
        starts = np.concatenate([[0], np.cumsum(n)])
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], n)
        units = np.repeat(self.offsets[documents], n) + within
        shift = np.zeros((len(self.offsets) - 1, int(raters.max()) + 1), dtype=np.int64)
        shift[documents, raters] = starts[:-1] - self.offsets[documents]
        return units, np.repeat(raters, n), shift


def _label_sets(
    atoms: _Atoms, labels: Sequence[object], shift: Codes, n_ratings: int
) -> tuple[Codes, tuple[LabelSet, ...]]:
    """Return the label set of each rating as codes of distinct sets, the empty set first.

    `labels` and `shift` are those of each span; see `_Atoms.ratings`.
    """
    codes, names = pd.factorize(as_objects(labels))
    n = atoms.last - atoms.first
    check_cost(
        "The label sets of all pieces",
        n_bytes=_BYTES_PER_LABEL * float(n.sum()),
        instead="Read some of the documents at a time.",
    )
    within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    rating = np.repeat(atoms.first + shift, n) + within
    keys = np.unique(rating * len(names) + np.repeat(codes, n))
    rating, label = np.divmod(keys, max(len(names), 1))
    rank = np.arange(len(rating)) - np.searchsorted(rating, rating)
    found, sets = np.zeros(n_ratings, dtype=np.int64), [frozenset[str]()]
    for k in range(int(rank.max(initial=-1)) + 1):  # one more label of each set at a time
        rows = rank == k
        before = found[rating[rows]] * len(names) + label[rows]
        distinct, place = np.unique(before, return_inverse=True)
        found[rating[rows]] = len(sets) + place
        sets += [sets[one // len(names)] | {names[one % len(names)]} for one in distinct.tolist()]
    return found, tuple(sets)
