"""Labelled spans of documents as a study of label sets; see `from_spans`."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, product
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from setagree.checks import Codes, Floats, public
from setagree.errors import (
    DataError,
    LabelError,
    OptionError,
    SetagreeWarning,
    check_choice,
    counted,
    listing,
    option,
    shorten,
    warn,
)
from setagree.lazy import pd
from setagree.study.answer_warnings import warn_similar
from setagree.study.assembly import code_ids, pick_column, united, warn_names
from setagree.study.codes import as_objects, entries_of
from setagree.study.frames import Frame, as_pandas, check_columns, row_numbers
from setagree.study.identifiers import tidied
from setagree.study.labels import Case, clean_label
from setagree.study.reading import Reading, Tokens
from setagree.study.sampling import Chance

if TYPE_CHECKING:
    from setagree.study.annotations import Annotations

OfDocuments: TypeAlias = "str | Mapping[Any, Any]"
"""A column of the table, or a mapping from documents."""
Done: TypeAlias = "Literal['all'] | Iterable[tuple[Any, Any]] | None"

PLACE = "\0place"
"""Column of the file and the row of each row of a table, for errors."""

_LONG = re.compile("[\U00010000-\U0010ffff]")
_SECOND = "\udfff"
"""Sign for the second UTF-16 unit of a character such as an emoji."""
_WORD = re.compile(r"\w+|[^\w\s]")


class Span(NamedTuple):
    """A labelled span from `start` to `end`, which is not part of it, and its place in the file.

    The `quote` is its text, which shows whether offsets count UTF-16 units.
    """

    document: Hashable
    rater: Hashable
    start: float
    end: float
    label: object
    place: str
    quote: str | None = None
    layer: str | None = None


Pair: TypeAlias = tuple[Hashable, Hashable]
"""A document and a rater."""


@dataclass
class Spans:
    """Labelled spans as a reader collects them, from one file or from several.

    Attributes
    ----------
    rows : list of Span
    done : dict
        The annotated pairs of document and rater, with or without spans, and their places.
    texts, lengths, tokens : dict
        Text, length, and offsets of the tokens of documents.
    ignored : Counter
        Numbers of other annotations by kind.
    utf16 : bool
        Whether the tool counts UTF-16 units. Default: as quotes and ends of spans show.
    why : str or None
        A sentence on why documents without spans may not be annotated; blank if they are, and None
        if the file does not list them.
    """

    rows: list[Span] = field(default_factory=list)
    done: dict[Pair, str] = field(default_factory=dict)
    texts: dict[Hashable, str] = field(default_factory=dict)
    lengths: dict[Hashable, float] = field(default_factory=dict)
    tokens: dict[Hashable, Sequence[tuple[float, float]]] = field(default_factory=dict)
    ignored: Counter[str] = field(default_factory=Counter)
    utf16: bool = False
    why: str | None = ""

    def add_done(
        self, document: Hashable, rater: Hashable, place: str, text: str | None = None
    ) -> Pair:
        """Add a document that a rater annotated, and return both.

        Raise DataError if it was added before, or with another text.
        """
        if (pair := (document, rater)) in self.done:
            raise DataError(
                f"{place}: rater {shorten(rater)} annotated document {shorten(document)} twice, "
                f"first in {self.done[pair]}; keep one of the two."
            )
        self.done[pair] = place
        if text is not None:
            self.add_of("text", document, text, place)
        return pair

    def add_of(self, what: str, document: Hashable, value: Any, place: str) -> None:
        """Add the text or the length of a document; raise DataError if it has another one."""
        known: dict[Hashable, Any] = self.texts if what == "text" else self.lengths
        if known.setdefault(document, value) != value:
            raise DataError(
                f"{place}: the {what} of document {shorten(document)} differs from that in "
                f"{self.place_of(document)}, so that offsets are not comparable; use one for "
                "all raters."
            )

    def place_of(self, document: Hashable) -> str:
        """Return the place of a document by its first rater."""
        return next(place for (name, _), place in self.done.items() if name == document)

    @property
    def open_pairs(self) -> list[Pair]:
        """The pairs of document and rater that are not in `done`."""
        names = dict.fromkeys([*(d for d, _ in self.done), *self.texts, *self.lengths])
        raters = dict.fromkeys(rater for _, rater in self.done)
        return [pair for pair in product(names, raters) if pair not in self.done]

    def settle(
        self, listed: Collection[Pair] | None, blank: str | None, source: str, remedy: str
    ) -> None:
        """Define `done`: the pairs that are `listed`, or those in the file.

        `blank` defines whether pairs without a span are annotated, if the file does not; without it
        an error, or a warning if the file does not list them, gives the `remedy`. Raise DataError
        if a pair with a span is not listed.
        """
        marked = {(span.document, span.rater) for span in self.rows}
        no_span = self.open_pairs if self.why is None else [x for x in self.done if x not in marked]
        if listed is None and no_span and blank not in {"empty", "missing"} and self.why != "":
            first = "document {}, rater {}".format(*map(shorten, no_span[0]))
            pairs = f"{counted(len(no_span), 'pair')} of document and rater"
            what = f"{source}: {pairs} without a span (first: {first})"
            if self.why:
                raise DataError(f"{what}. {self.why} Use {remedy}.")
            warn(f"{what}: read as not annotated; use {remedy}.", SetagreeWarning)
        if listed is None:
            missing = {*no_span} if blank == "missing" else set()
            listed = [pair for pair in self.done if pair not in missing]
            listed += no_span if blank == "empty" else []
        listed = dict.fromkeys(listed)
        for span in self.rows:
            if (span.document, span.rater) not in listed:
                raise DataError(
                    f"{span.place}: rater {shorten(span.rater)} has a span in document "
                    f"{shorten(span.document)}, which is not listed in {source}."
                )
        kept = {pair: place for pair, place in self.done.items() if pair in listed}
        self.done = kept | {pair: source for pair in listed if pair not in kept}


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
    done : {"all"} or pairs, optional
        Who annotated which document, with or without spans: (document, rater) pairs, or ``"all"``
        if every rater annotated every document. Default: those with a row, and a warning counts
        the others.
    tokens : {"words"}, optional
        Counts words instead of characters: runs of letters and digits, and single other signs. A
        span is moved outward to the words that it touches. It requires `text`.
    chance : {"documents", "characters"}
        The pairs of answers that the disagreement expected by alpha leaves out; see `sampled`.

    Raises
    ------
    DataError
        A span is empty or ends beyond its document, its rater did not annotate the document, or the
        length of the document is unknown; or an offset of a text is not a whole number.

    Warns
    -----
    SetagreeWarning
        Some raters have no row in some documents; spans without a word were dropped; or offsets are
        read as UTF-16 units, because a span ends beyond its text otherwise.

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
    if tokens is not None:
        check_choice("tokens", tokens, ("words",))
    names = {"document": document, "rater": rater, "start": start, "end": end, "label": label}
    spans = table_spans(as_pandas(data), names, length, text)
    listed = None
    if isinstance(done, str):
        check_choice("done", done, ("all",))
    elif isinstance(done, Iterable) and not isinstance(done, Mapping | pd.DataFrame):
        listed = [*map(_pair, done)]
    elif done is not None:
        raise OptionError(f"done={shorten(done)} must be 'all' or (document, rater) pairs.")
    remedy = "done='all' if these raters found nothing there, or list who annotated what"
    spans.settle(listed, "empty" if done == "all" else None, "done=", remedy)
    return study_of_spans(cls, spans, tokens=tokens, chance=chance)


def _pair(pair: Any) -> Pair:
    """Return a pair of `done` with tidied names; raise OptionError if it is not a pair."""
    names = [*map(tidied, pair)] if isinstance(pair, Iterable) and not isinstance(pair, str) else []
    if len(names) != 2 or not all(isinstance(name, Hashable) for name in names):
        raise OptionError(f"done= must list (document, rater) pairs, not {shorten(pair)}.")
    return names[0], names[1]


def table_spans(
    frame: pd.DataFrame,
    names: Mapping[str, str],
    length: OfDocuments | None,
    text: OfDocuments | None,
) -> Spans:
    """Return the spans of a table with the columns of `from_spans`; other rows are annotated."""
    check_columns(list(frame), list(names.values()))
    if (length is None) == (text is None):
        raise OptionError("use one of length= and text=.")
    coded = [code_ids(pick_column(frame, names[role]), role) for role in ("document", "rater")]
    documents, raters = (ids[codes].tolist() for codes, ids in coded)
    places = [f"row {number}" for number in row_numbers(frame).tolist()]
    places = frame[PLACE].tolist() if PLACE in frame else places
    spans = Spans(why=None)
    for *pair, place in zip(documents, raters, places, strict=True):
        spans.done.setdefault((pair[0], pair[1]), place)
    for what, source in (("text", text), ("length", length)):
        if isinstance(source, str):
            column = pick_column(frame, source)
            rows = zip(documents, column.tolist(), places, strict=True)
            for name, value, place in compress(rows, column.notna()):
                spans.add_of(what, name, value, place)
        elif source is not None:
            of = spans.texts if what == "text" else spans.lengths
            of.update((tidied(name), value) for name, value in source.items())
    cells = frame[[names[role] for role in ("start", "end", "label")]]
    blank = cells.isna() | (cells.astype(str).apply(lambda column: column.str.strip()) == "")
    offsets = cells.iloc[:, :2].apply(pd.to_numeric, errors="coerce").astype(np.float64)
    has_span = (~blank).all(axis=1) & np.isfinite(offsets).all(axis=1)
    if odd := np.flatnonzero(~has_span & ~blank.all(axis=1)).tolist():
        raise DataError(
            f"{places[odd[0]]}: start and end must be numbers, with a label, or all three must be "
            f"blank ({counted(len(odd), 'row')})."
        )
    # a column of integers with blanks has floats
    labels = [
        int(x) if isinstance(x, float) and x.is_integer() else x for x in cells.iloc[:, 2].tolist()
    ]
    columns = (documents, raters, *offsets.to_numpy().T.tolist(), labels, places)
    spans.rows = [Span(*row) for row in compress(zip(*columns, strict=True), has_span)]
    return spans


def study_of_spans(
    cls: type[Annotations],
    spans: Spans,
    *,
    tokens: Tokens | None = None,
    case: Case = "keep",
    chance: Chance = "documents",
) -> Annotations:
    """Return the study of spans, whose units are the atoms of documents; see `from_spans`."""
    if kinds := ", ".join(counted(n, kind) for kind, n in spans.ignored.items() if n):
        warn(f"ignored annotations that are not labelled spans: {kinds}.", SetagreeWarning)
    names, raters = ([*dict.fromkeys(pair[k] for pair in spans.done)] for k in (0, 1))
    if twice := [name for name, n in Counter(map(str, names)).items() if n > 1]:
        raise DataError(f"several documents have the name {listing(twice)}; rename all but one.")
    warn_names("Raters", as_objects(raters))
    lengths = np.array([_length(spans, name) for name in names], dtype=np.float64)
    rows = _checked(spans, dict(zip(names, lengths.tolist(), strict=True)), case)
    texts = [*map(spans.texts.get, names)]
    ends: Any = [range(len(text or "") + 1) for text in texts]
    if tokens is not None:
        cuts = {name: _tokens_of(spans, name, tokens) for name in names}
        rows = _in_tokens(rows, cuts)
        lengths = np.array([*map(len, cuts.values())], dtype=np.float64)
        # from the start of a token to the start of the next one
        both = zip(cuts.values(), texts, strict=True)
        ends = [[0, *(low for low, _ in cut[1:]), len(text or "")] for cut, text in both]
    if not lengths.any():
        raise DataError("no rater annotated a document; there is nothing to score.")
    doc_code, rater_code = ({name: k for k, name in enumerate(ids)} for ids in (names, raters))
    doc = np.array([doc_code[span.document] for span in rows], dtype=np.int64)
    who = np.array([rater_code[span.rater] for span in rows], dtype=np.int64)
    start, end = (np.array([span[k] for span in rows], dtype=np.float64) for k in (2, 3))
    atoms, first, last = _atoms(lengths, doc, start, end)
    offsets = np.searchsorted(atoms["document"], np.arange(len(names) + 1))
    documents, rated = np.array([(doc_code[d], rater_code[r]) for d, r in spans.done]).T
    rated = np.repeat(rated, np.diff(offsets)[documents])
    # the empty set for each rating, and a label for each span that covers it
    label, labels = pd.factorize(as_objects([span.label for span in rows]))
    n = last - first
    covered = entries_of(np.stack([first, last], axis=1).ravel(), 2 * np.arange(len(n)))
    keys = np.concatenate([entries_of(offsets, documents), covered]) * len(raters)
    keys += np.concatenate([rated, np.repeat(who, n)])
    codes = np.concatenate([0 * rated, 1 + np.repeat(label, n)])
    sets = [frozenset[Any](), *(frozenset([name]) for name in labels)]
    keys, codes, values = united(sets, codes, keys)
    size = atoms["high"] - atoms["low"]
    if not (atoms % 1).any(axis=None):
        atoms = atoms.astype(np.int64)
    places = [*atoms.itertuples(index=False, name=None)]
    units = as_objects([f"{names[d]}:{low}-{high}" for d, low, high in places])
    columns: dict[str, Any] = {
        "document": as_objects(names)[atoms["document"].to_numpy()],
        "length": size.to_numpy(),
    }
    if None not in texts:
        columns["text"] = as_objects([str(texts[d])[ends[d][a] : ends[d][b]] for d, a, b in places])
    table = pd.DataFrame(columns, index=pd.Index(units, dtype=object, name="unit"))
    i, g, k = (x.astype(np.int32) for x in (*np.divmod(keys, len(raters)), codes))
    ids = (units, as_objects(raters), tuple(values))
    reading = Reading(spans=True, tokens=tokens)
    study = cls("labels", *ids, i, g, k, unit_table=table, reading=reading)
    return study.with_used_values().sampled(cluster="document", size="length", chance=chance)


def _length(spans: Spans, document: Hashable) -> float:
    """Return the length of a document: of its text, or as passed."""
    if isinstance(text := spans.texts.get(document), str):
        return len(text)
    length = spans.lengths.get(document) if text is None else text
    size = float(pd.to_numeric(as_objects([length]), errors="coerce")[0])
    if text is not None or not 0 <= size < np.inf:
        raise DataError(
            f"{spans.place_of(document)}: document {shorten(document)} has no text and no length"
            f"{'' if length is None else f', but {shorten(length)}'}; one of them is needed, as "
            "the last end of a span is not the length."
        )
    return size


def _checked(spans: Spans, lengths: Mapping[Hashable, float], case: Case) -> list[Span]:
    """Return spans with clean labels, in code points; raise DataError if one is invalid."""
    texts = _counted_texts(spans, lengths)
    long = {name: text for name, text in texts.items() if _SECOND in text}

    def at(document: Hashable, offset: float) -> float:
        return offset - long[document].count(_SECOND, 0, int(offset))

    rows, odd = [], []
    for span in spans.rows:
        try:
            label = clean_label(span.label, case)
        except LabelError as error:
            raise DataError(f"{span.place}: {error}") from None
        if rule := _fault(span, texts.get(span.document), lengths[span.document]):
            odd.append((span, rule))
        row = span if label is span.label else span._replace(label=label)
        if (name := span.document) in long:
            row = row._replace(start=at(name, span.start), end=at(name, span.end))
        rows.append(row)
    for span, rule in odd[:1]:  # offsets as the file has them
        raise DataError(
            f"{span.place}: span {span.start:.12g}-{span.end:.12g} of document "
            f"{shorten(span.document)} by rater {shorten(span.rater)} must {rule}. Correct the "
            f"offsets of {counted(len(odd), 'such span')}."
        )
    for name in long.keys() & spans.tokens.keys():
        spans.tokens[name] = [(at(name, low), at(name, high)) for low, high in spans.tokens[name]]
    warn_similar("labels", dict.fromkeys(span.label for span in rows))
    return rows


def _counted_texts(spans: Spans, lengths: Mapping[Hashable, float]) -> dict[Hashable, str]:
    """Return the texts of documents, with a second sign for each UTF-16 unit that offsets count.

    They count UTF-16 units if the tool does, or if fewer spans are invalid then.
    """
    plain = {name: text for name in lengths if (text := spans.texts.get(name)) is not None}
    texts = {name: _LONG.sub(rf"\g<0>{_SECOND}", text) for name, text in plain.items()}
    if spans.utf16 or texts == plain:
        return texts
    odd, odd_units = (
        [x for x in spans.rows if _fault(x, each.get(x.document), lengths[x.document])]
        for each in (plain, texts)
    )
    if len(odd) <= len(odd_units):
        return plain
    if odd[0].quote is None:
        sentence = "offsets are read as UTF-16 units, because a span ends beyond the text otherwise"
        warn(f"{sentence} (first: {odd[0].place}).", SetagreeWarning)
    return texts


def _fault(span: Span, text: str | None, length: float) -> str | None:
    """Return what a span must do and does not, or None if it is valid.

    Its quote may have other white space than the text, because tools write line breaks as spaces.
    """
    limit = length if text is None else len(text)
    if text is not None and (span.start % 1 or span.end % 1):
        return "start and end at whole numbers, as offsets of a text do"
    if span.start >= span.end:
        return "end after its start"
    if span.start < 0 or span.end > limit:
        return f"be within 0 to {limit:.12g}"
    if text is None:
        return None
    there = text[int(span.start) : int(span.end)].replace(_SECOND, "")
    if not there:  # the second half of a character
        return "cover a character"
    is_same = span.quote is None or there.split() == span.quote.split()
    return None if is_same else f"have its text {shorten(span.quote)}, and has {shorten(there)}"


def _tokens_of(spans: Spans, document: Hashable, tokens: Tokens) -> Sequence[tuple[float, float]]:
    """Return the offsets of the words of a document, or of the tokens of the tool."""
    if tokens == "words" and document in spans.texts:
        return [match.span() for match in _WORD.finditer(spans.texts[document])]
    if tokens == "tool" and (offsets := spans.tokens.get(document)):
        return offsets
    needed = "text" if tokens == "words" else "offsets of its tokens"
    raise DataError(
        f"{spans.place_of(document)}: {option('tokens', tokens)} requires the {needed} of each "
        f"document, which document {shorten(document)} does not have."
    )


def _in_tokens(
    rows: Sequence[Span], cuts: Mapping[Hashable, Sequence[tuple[float, float]]]
) -> list[Span]:
    """Return the spans that touch tokens, from the first one to the last one + 1."""
    moved = [
        span._replace(
            start=bisect_right(cuts[span.document], span.start, key=itemgetter(1)),
            end=bisect_left(cuts[span.document], span.end, key=itemgetter(0)),
        )
        for span in rows
    ]
    if lost := [span.place for span in moved if span.start >= span.end]:
        what = f"{counted(len(lost), 'span')} without a token"
        warn(f"{what} dropped (first: {lost[0]}).", SetagreeWarning)
    return [span for span in moved if span.start < span.end]


def _atoms(
    lengths: Floats, doc: Codes, start: Floats, end: Floats
) -> tuple[pd.DataFrame, Codes, Codes]:
    """Return the atoms of documents in order, and the first and last atom + 1 of each span."""
    used = np.arange(len(lengths))
    position = np.concatenate([0 * lengths, lengths, start, end])
    # complex numbers are ordered by their real parts, and then by their imaginary parts
    places = np.concatenate([used, used, doc, doc]) + 1j * position
    cuts, cut = np.unique(places, return_inverse=True)
    d, x = cuts.real.astype(np.int64), cuts.imag
    inside = np.flatnonzero(np.diff(d) == 0)  # a cut that is not the last of its document
    atoms = pd.DataFrame({"document": d[inside], "low": x[inside], "high": x[inside + 1]})
    # Each document has one cut more than atoms.
    first, last = cut[2 * len(used) :].reshape(2, -1) - doc
    return atoms, first, last
