"""Topics and sections of the report, and the tables that they show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from setagree.checks import Floats, Rng
from setagree.diagnosis.common import SURE
from setagree.distances import Distance
from setagree.inference.benchmark import Benchmark
from setagree.limits import TIE
from setagree.plots.base import rows_height
from setagree.scoring.coefficients import coefficient_name
from setagree.scoring.results import Agreement
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects
from setagree.wording.number_format import p_four
from setagree.wording.sentences import Name, Sentence
from setagree.wording.tables import Column, with_intervals

R = TypeVar("R")

Groups: TypeAlias = "pd.Series[Any] | Mapping[Any, Any] | pd.DataFrame"
"""The group of each unit; or what `by_group` returned."""

Models: TypeAlias = "Any | list[Any] | None"
"""A rater that is a model, or a list of them."""

Panels: TypeAlias = "Mapping[Any, Sequence[object]] | None"
"""Two names with their raters, or one name for a panel that is compared with all others."""

Method: TypeAlias = tuple[str, tuple[str, ...]]
"""A sentence of the methods paragraph, and the sources it cites."""

_PER_CLAIM = 40
"""Reshuffles for each claim: the least p of one test, twice 1 / (40 m), holds for m claims."""

_FIRST = 99
"""Reshuffles after which a test stops if p is above 0.05 for all of its claims."""

_REDRAWN = 100_000_000
"""Units that are redrawn in all for the interval of a panel of raters."""

MOST_TRIED = 3
"""Mergers, labels and raters of which each change is tried."""


@dataclass(frozen=True)
class Table:
    """Rows of unrounded cells; `more` is a note on rows that are left out."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[tuple[Any, ...]]
    more: str = ""
    sortable: bool = True
    """Whether a reader may order it by another column."""


def table_of(
    frame: pd.DataFrame, columns: Iterable[Column], caption: str, *, limit: int, function: str
) -> Table:
    """Return the first rows of a frame, without columns that are missing, empty, or rates of 0.

    The columns may be those of a result.
    """
    kept = [
        replace(column, head=_heading(column.heading()))
        for column in with_intervals(columns)
        if column.is_in(frame)
        and not (column.first.endswith("_rate") and not frame[column.first].any())
    ]
    top, more = frame.head(limit), ""
    if len(top) < len(frame):
        more = f"The first {len(top):,} of {len(frame):,}; sa.{function} returns all."
    cells = [column.values(top) for column in kept]
    return Table(caption, kept, [*zip(*cells, strict=True)], more)


def unsized(f: Findings, columns: Iterable[Column]) -> list[Column]:
    """Return columns without the numbers of pieces of documents if pieces count by length."""
    omitted = {"n_ratings", "n_shared_units"} if f.main.case.is_sized else set[str]()
    return [one for one in columns if one.first not in omitted]


def _heading(head: str) -> str:
    """Return a heading with a capital letter, unless its first letter is a symbol such as p."""
    return head[:1].upper() + head[1:] if head[1:2].isalpha() else head


@dataclass(frozen=True, eq=False)
class Options:
    """Options of `report` other than the study, the coefficient, the distance and the level."""

    groups: Groups | None = None
    model: Models = None
    panels: Panels = None
    n_resamples: int = 999
    rng: Rng = None
    margin: float | None = None
    threshold: float | None = None
    facets: list[str] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """The results about one study; if models are named, about its humans only.

    `everyone` is the study with the answers of the `models`. `results` maps the id of a topic to
    its result, and `absent` to the reason why it has none. `corrected` has the p-values of the
    claims of each topic, corrected by Holm over the claims of all topics.
    """

    study: Annotations
    main: Agreement
    verdict: Benchmark
    level: float
    options: Options
    everyone: Annotations
    models: list[Any] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    corrected: dict[str, Floats] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Findings about {self.main!r}>"

    @property
    def seed(self) -> int | None:
        """The seed of the reshuffles, or None if a Generator was passed."""
        rng = self.options.rng
        return None if rng is None or isinstance(rng, np.random.Generator) else int(rng)

    @property
    def max_redraws(self) -> int:
        """Largest number of resamples of the units: fewer if these are many."""
        return max(_FIRST, _REDRAWN // self.study.n_units)

    @property
    def n_claims(self) -> int:
        """Number of claims that were tested: those with a p-value."""
        return sum(int((~np.isnan(p)).sum()) for p in self.corrected.values())

    @property
    def holm_clause(self) -> str:
        """Clause ", corrected by ..." on the correction of p, empty for one claim."""
        n = self.n_claims
        return f", corrected by Holm over {n:,} claims" if n > 1 else ""

    @property
    def n_reshuffles(self) -> int:
        """Number of reshuffles of a test, B + 1 = 40 m for the m claims that there can be."""
        groups, m = self.options.groups, 3 + self.study.n_raters + 2 * MOST_TRIED
        if groups is not None:
            is_table = isinstance(groups, pd.DataFrame)
            m += 1 + len(groups if is_table else {*dict(groups).values()})
        return _PER_CLAIM * m - 1

    def tested(self, topic: str) -> pd.DataFrame:
        """Return the frame of a topic with `p_holm`, corrected over all claims."""
        frame: pd.DataFrame = self.results[topic]
        return frame.assign(p_holm=self.corrected[topic])

    @property
    def distance(self) -> Distance:
        """The distance of the headline's coefficient."""
        assert self.main.case.distance is not None  # noqa: S101 - `gather` scores with one
        return self.main.case.distance

    @property
    def measure(self) -> dict[str, Any]:
        """The coefficient and the distance, as options of the diagnoses."""
        return {"coefficient": self.main.definition, "distance": self.distance}

    def result(self, topic: str) -> Any:
        """Return the result of a topic, or None if there is none or it is empty."""
        result = self.results.get(topic)
        return None if isinstance(result, Sized) and not len(result) else result


def holds(p: Any) -> Any:
    """Return whether corrected p-values make a claim, elementwise."""
    return np.asarray(p, dtype=float) <= SURE + TIE


def resampled(f: Findings, test: Callable[[int], R], p: Callable[[R], Any], most: float) -> R:
    """Return a test with at most `most` reshuffles, or with few if no claim holds with these.

    A test with few reshuffles has p > 0.05, so that its claims are not made. The others are
    repeated with all reshuffles, independently of the first ones, so that they keep their level.
    """
    first = test(min(_FIRST, int(most)))
    n = min(f.n_reshuffles, int(most))
    may_hold = (np.asarray(p(first), dtype=float) <= SURE).any()
    return test(n) if may_hold and n > _FIRST else first


def least_p(f: Findings, p: Any, most: float) -> str:
    """Return a clause on the smallest p of `resampled`, if a claim holds, or a blank."""
    if not holds(p).any():
        return ""
    # Holm multiplies it by n_claims, or by less if other claims have smaller p.
    least = 1 / (1 + min(f.n_reshuffles, int(most)))
    return f"; {p_four(least)} is the smallest p that they can give, before the correction by Holm"


@dataclass(frozen=True)
class Picture:
    """A function that draws on axes, and their height in inches.

    ``columns`` are those of a matrix, which takes the width of the page if there are many.
    """

    draw: Callable[..., object]
    height: float
    columns: int = 0


class Piece(NamedTuple):
    """A part of a document with the labels of a rater, and the numbers of their colours."""

    text: str
    labels: Sequence[Name]
    colours: Sequence[int]


class Passage(NamedTuple):
    """A document, or a part of it, with the pieces of each rater."""

    title: Sentence
    lines: Sequence[tuple[Name, Sequence[Piece]]]


@dataclass(frozen=True)
class Section:
    """A part of the report. Id, title and lead are by default those of its topic."""

    table: Table | None = None
    picture: Picture | None = None
    note: str = ""
    lead: Sentence | None = None
    title: str = ""
    id: str = ""
    passages: Sequence[Passage] = ()
    design_note: str = ""
    """The sentence of the note on a sampling design that the numbers ignore."""


@dataclass(frozen=True)
class Topic:
    """A question that the report answers.

    Attributes
    ----------
    id, title : str
        Its name, which is that of its first section, and the title of that section.
    sections : callable
        Takes the findings and the result, and returns the sections.
    compute : callable, optional
        Takes the findings so far and returns the result, which `Findings.results` keeps. If that
        is None or empty, the topic has no summary, sections or method.
    about, summary : str and callable, optional
        The subject of its main finding, and the sentence, which is empty if there is no finding.
    p_values : callable, optional
        Takes the findings and the result, and returns the p-values of its possible claims, NaN
        for a claim that cannot be tested. A sentence makes only claims whose p-value, corrected
        over all topics, is at most 0.05.
    method : callable, optional
        Returns a sentence of the methods paragraph with its sources, or None.
    optional : bool
        Whether the report is made without it, and gives the reason, if it cannot be computed.
    without_estimate : bool
        Whether it has a main finding if the coefficient is undefined.
    rank : int
        The order of the main findings: lower ranks first.
    unweighted : str
        The numbers of its sections that ignore sampling weights, as the subject of a sentence.
    one_by_one : str
        The numbers that ignore clusters, strata and a population size, as such a subject.
    """

    id: str
    title: str
    sections: Callable[[Findings, Any], Iterable[Section]]
    compute: Callable[[Findings], Any] | None = None
    about: str = ""
    summary: Callable[[Findings, Any], Sentence] | None = None
    p_values: Callable[[Findings, Any], Sequence[float]] | None = None
    method: Callable[[Findings, Any], Method | None] | None = None
    optional: bool = False
    without_estimate: bool = False
    rank: int = 0
    unweighted: str = ""
    one_by_one: str = ""


def list_picture(f: Findings, draw: Callable[..., object], frame: pd.DataFrame) -> Picture:
    """Return the picture of a list of estimates, with one row per estimate."""
    return Picture(partial(draw, frame, level=f.level), rows_height(len(frame)))


def with_sentences(frame: pd.DataFrame, sentences: Sequence[Sentence]) -> pd.DataFrame:
    """Return a frame with a column of sentences for its first rows."""
    column = as_objects([*sentences, *[()] * (len(frame) - len(sentences))])
    return frame.assign(sentence=pd.Series(column, index=frame.index))


def estimate_column(f: Findings) -> Column:
    """Return the column of the headline's coefficient, under its name."""
    head = coefficient_name(f.main.definition, [f.main.distance])
    return Column(("estimate", "low", "high"), "estimate", head)
