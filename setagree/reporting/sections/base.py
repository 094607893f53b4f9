"""Topics and sections of the report, and the tables that they show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import pandas as pd

from setagree.checks import Rng
from setagree.distances import Distance
from setagree.inference.benchmark import Benchmark
from setagree.plots.base import rows_height
from setagree.scoring.coefficients import coefficient_name
from setagree.scoring.results import Agreement
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects
from setagree.wording.number_format import (
    DASH,
    count,
    interval,
    is_nothing,
    number,
    p_value,
    rough,
    share,
)
from setagree.wording.sentences import Name, Sentence

Kind: TypeAlias = Literal[
    "name", "text", "count", "number", "signed", "share", "p", "estimate", "change"
]
"""A name is what a user wrote; a text is ours, perhaps a sentence with names in it; an estimate and
a change are triples that end with an interval."""

_signed = partial(number, signed=True)
_WITH_INTERVAL: dict[str, Callable[[Any], str]] = {"estimate": number, "change": _signed}
_FORMATS: dict[str, Callable[[Any], str]] = {
    "count": count,
    "number": number,
    "signed": _signed,
    "share": share,
    "p": p_value,
}


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, and the kind of its cells."""

    head: str
    kind: Kind
    source: str | tuple[str, str, str] = ""
    """The column of the frame that it shows, or three of them: the number and its interval."""
    is_part: bool = False
    """Whether its cells are parts of one whole, which the page shows with bars."""

    @property
    def is_number(self) -> bool:
        """Whether its cells are aligned to the right."""
        return self.kind not in {"name", "text"}


@dataclass(frozen=True)
class Table:
    """Unrounded cells; `more` is a sentence on the rows that are left out."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: str = ""
    is_ranking: bool = True
    """Whether its first rows matter most, so that a terminal shows no more than these."""

    sortable: bool = True
    """Whether a reader may order it by another column."""


def table_of(
    frame: pd.DataFrame, columns: Sequence[Column], caption: str, *, limit: int, function: str
) -> Table:
    """Return the first rows of a frame without the columns that have only gaps or rates of 0."""
    kept = tuple(column for column in columns if _says_something(frame, column))
    top = frame.head(limit)
    cells = [_cells(top, column) for column in kept]
    more = ""
    if len(top) < len(frame):
        more = f"The first {len(top):,} of {len(frame):,}; sa.{function} returns all."
    return Table(caption, kept, tuple(zip(*cells, strict=True)), more)


def _says_something(frame: pd.DataFrame, column: Column) -> bool:
    """Return whether a column is there and has anything but gaps, or rates that are all 0."""
    first = column.source if isinstance(column.source, str) else column.source[0]
    if first not in frame:
        return False
    known = frame[first].dropna()
    return len(known) > 0 and not (first.endswith("_rate") and bool((known == 0).all()))


def _cells(frame: pd.DataFrame, column: Column) -> list[Any]:
    if isinstance(column.source, tuple):
        return list(zip(*(frame[name].tolist() for name in column.source), strict=True))
    return list(frame[column.source])


def shown(value: Any, kind: Kind) -> Sentence:
    """Return a cell as pieces of a sentence.

    Examples
    --------
    >>> shown((0.25, 0.1, 0.4), "estimate"), shown(0.5, "number"), shown(("a", "b"), "name")
    (('0.250',), ('0.500',), (Name(text="('a', 'b')"),))
    """
    if kind == "name":
        return (DASH,) if is_nothing(value) else (Name.of(value),)
    if kind == "text":
        return (value,) if isinstance(value, str) else cast(Sentence, value)
    if kind in _WITH_INTERVAL:
        return (_WITH_INTERVAL[kind](value[0]),)
    return (_FORMATS[kind](value),)


def span(value: Any, kind: Kind) -> str:
    """Return the interval of a cell, or an empty text."""
    known = kind in _WITH_INTERVAL and bool(np.isfinite(value[1]))
    return interval(*value[1:]) if known else ""


def cell_text(value: Any, kind: Kind, render: Callable[[Sentence], str]) -> str:
    """Return a cell with its interval as a text."""
    ends = span(value, kind)
    return render(shown(value, kind)) + (f" ({ends})" if ends else "")


def sorts_as(value: Any, kind: Kind) -> str:
    """Return the sort key of a cell: a number as text, or empty to sort by its text."""
    if kind in {"name", "text"}:
        return ""
    x = value[0] if kind in _WITH_INTERVAL else value
    return "" if is_nothing(x) else repr(float(x))


Groups: TypeAlias = "pd.Series[Any] | Mapping[Any, Any] | pd.DataFrame"
"""The group of each unit; or what `by_group` returned."""

Models: TypeAlias = "Any | list[Any] | None"
"""A rater that is a model, or a list of them."""

Panels: TypeAlias = "Mapping[Any, Sequence[object]] | None"
"""Two names with their raters, or one name against everybody else."""

Method: TypeAlias = tuple[str, tuple[str, ...]]
"""A sentence of the methods paragraph, and the sources it cites."""

SURE = 0.05
"""The p-value below which a difference is called one."""

_REDRAWN = 100_000_000
"""Units that are redrawn in all for the interval of a panel of raters."""

MOST_DRAWN = 24
"""Rows of a picture: more do not help on a page that has the table below."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What else a report is asked, and how often answers are reshuffled from which seed."""

    groups: Groups | None
    models: Models
    panels: Panels
    n_resamples: int
    rng: Rng
    margin: float | None = None
    threshold: float | None = None
    facets: list[str] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """What was found about one study.

    Attributes
    ----------
    study : Annotations
        What was looked at: where models are named, the answers of the humans alone.
    main : Agreement
        The coefficient that is explained.
    verdict : Benchmark
        The words it deserves.
    level : float
        Of the intervals.
    asked : Asked
        What else was asked for.
    everyone : Annotations
        The study with the answers of the models.
    models : list
        The raters that are models.
    results : dict
        What each topic found, by its id; it fills in the order of the report.
    absent : dict
        Why a topic found nothing, by its id.
    """

    study: Annotations
    main: Agreement
    verdict: Benchmark
    level: float
    asked: Asked
    everyone: Annotations
    models: list[Any] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Findings about {self.main!r}>"

    @property
    def seed(self) -> int | None:
        """The seed of the reshuffles, or None if a Generator was passed."""
        rng = self.asked.rng
        return None if rng is None or isinstance(rng, np.random.Generator) else int(rng)

    @property
    def n_redraws(self) -> int:
        """Number of resamples of the units: fewer for many units."""
        return min(self.asked.n_resamples, max(99, _REDRAWN // self.study.n_units))

    @property
    def distance(self) -> Distance:
        """The distance of the coefficient that is explained."""
        assert self.main.case.distance is not None  # noqa: S101 - every scored case has one
        return self.main.case.distance

    @property
    def measure(self) -> dict[str, Any]:
        """The coefficient and the distance, as the diagnoses take them."""
        return {"coefficient": self.main.definition, "distance": self.distance}

    def frame(self, name: str) -> pd.DataFrame | None:
        """Return the frame that a topic found, or None if there is none, or it is empty."""
        found = self.results.get(name)
        return found if found is not None and len(found) else None


@dataclass(frozen=True)
class Picture:
    """What draws on axes, how many inches high these are, and how many more on a narrow page.

    ``columns`` are those of a matrix, whose names overlap if there are many.
    """

    draw: Callable[..., object]
    height: float
    more: float = 0.5
    columns: int = 0


@dataclass(frozen=True)
class Section:
    """A part of the report: its sentences, table and picture."""

    id: str
    title: str
    lead: Sentence
    table: Table | None = None
    picture: Picture | None = None
    note: str = ""


@dataclass(frozen=True)
class Topic:
    """A question that the report answers.

    Attributes
    ----------
    id : str
        Its name, and that of its first section.
    sections : callable
        Takes the findings and returns the sections, possibly none.
    compute : callable, optional
        Takes the findings so far and returns the result, which `Findings.results` keeps.
    about, summary : str and callable, optional
        The subject of its main finding, and the sentence, which may be empty.
    method : callable, optional
        Returns what the methods paragraph says, or None.
    optional : bool
        Whether the report is made without it, with the reason, if it cannot be computed.
    without_estimate : bool
        Whether its main finding is shown if the coefficient is undefined.
    rank : int
        Main findings of a higher rank come later: the costs before the choices.
    unweighted : str
        What of its sections leaves sampling weights out, as the subject of a sentence.
    one_by_one : str
        What of its sections ignores clusters, strata and a population size, as such a subject.
    """

    id: str
    sections: Callable[[Findings], Iterable[Section]]
    compute: Callable[[Findings], Any] | None = None
    about: str = ""
    summary: Callable[[Findings], Sentence] | None = None
    method: Callable[[Findings], Method | None] | None = None
    optional: bool = False
    without_estimate: bool = False
    rank: int = 0
    unweighted: str = ""
    one_by_one: str = ""


@dataclass(frozen=True)
class Listing:
    """The parts of a section of a frame, or the reason for a missing frame."""

    id: str
    title: str
    caption: str
    function: str
    limit: int
    note: str = ""

    def section(
        self,
        f: Findings,
        frame: pd.DataFrame | None,
        columns: Sequence[Column],
        *,
        lead: Sentence,
        picture: Picture | None = None,
    ) -> list[Section]:
        """Return the section, if there is one."""
        if frame is None or not len(frame):
            why = f.absent.get(self.id)
            return [] if why is None else [Section(self.id, self.title, (why,))]
        table = table_of(frame, columns, self.caption, limit=self.limit, function=self.function)
        triples = [column.source for column in table.columns if isinstance(column.source, tuple)]
        lows = [frame[low].head(self.limit).min() for _, low, _ in triples]
        note = f"{self.note} {rough(lows)}".strip()
        return [Section(self.id, self.title, lead, table, picture, note)]


def list_picture(f: Findings, draw: Callable[..., object], frame: pd.DataFrame) -> Picture:
    """Return the picture of a list of estimates, a row each."""
    drawn = partial(draw, frame, level=f.level, limit=MOST_DRAWN)
    return Picture(drawn, rows_height(min(len(frame), MOST_DRAWN)))


def with_sentences(frame: pd.DataFrame, said: Sequence[Sentence]) -> pd.DataFrame:
    """Return a frame with a column of sentences in its first rows."""
    column = as_objects([*said, *[()] * (len(frame) - len(said))])
    return frame.assign(said=pd.Series(column, index=frame.index))


def estimate_column(f: Findings) -> Column:
    """Return the column of the coefficient that is explained, under its name."""
    head = coefficient_name(f.main.definition, [f.main.distance])
    return Column(head, "estimate", ("estimate", "low", "high"))
