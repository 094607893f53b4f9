"""The options of the command, in groups that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias, get_type_hints

import typer

from setagree.cli.config import load_config
from setagree.distances import distance_names
from setagree.scoring.coefficients import COEFFICIENTS

COLUMNS = "Columns (where not named: guessed, and the guess is printed)"
ANSWERS = "How the file is read"
SURE = "How sure"
PANEL = "Humans and models"
AGREED = "How answers become one"
LARGE = "Larger than memory (DuckDB reduces the file; rater identities are dropped)"
RESULTS = "Results (repeat -c and -d, or use commas)"


def option(
    panel: str,
    metavar: str,
    text: str,
    *names: str,
    known: Callable[[], Iterable[str]] | None = None,
) -> Any:
    """Return an option of a panel of the help; its name is that of the parameter, if not given.

    `known` lists the values that a shell completes.
    """
    look: dict[str, Any] = {"rich_help_panel": panel, "metavar": metavar, "show_default": False}
    if known is not None:
        look["autocompletion"] = lambda incomplete: _completed(incomplete, known())
    return typer.Option(*names, help=text, **look)


def _completed(incomplete: str, known: Iterable[str]) -> list[str]:
    """Return the values that go on from what is typed, after the last comma of it."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in known if name.startswith(last)]


def _format_names() -> list[str]:
    from setagree.large.recognition import formats  # loaded where they are asked for

    return ["table", *formats()["name"]]


Text: TypeAlias = str | None
Texts: TypeAlias = list[str] | None

_FILES = "Tables (joined), or an export."
Files = Annotated[list[str], typer.Argument(metavar="FILE", help=_FILES)]
Compared = Annotated[list[str], typer.Argument(metavar="FILE", help="Tables or exports of tools.")]

Unit = Annotated[Text, option(COLUMNS, "COLUMN", "What was rated.")]
Rater = Annotated[Text, option(COLUMNS, "COLUMN", "Who rated it.")]
Labels = Annotated[Text, option(COLUMNS, "COLUMN", "The answers, each a set of labels.")]
Value = Annotated[Text, option(COLUMNS, "COLUMN", "The answers, each one number or word.")]
Wide = Annotated[bool, option(COLUMNS, "", "Each rater has a column of answers.", "--wide")]
_OF_RATERS = "With --wide: their columns, if not all."
Raters = Annotated[Texts, option(COLUMNS, "COLUMN", _OF_RATERS)]
RaterColumns = Annotated[Texts, option(COLUMNS, "COLUMN", _OF_RATERS, "--rater-columns")]
People = Annotated[
    bool, option(COLUMNS, "", "Each row is a rater, each column a unit.", "--people-in-rows")
]
Kind = Annotated[Text, option(COLUMNS, "KIND", "With --wide: labels, number or category.")]
From = Annotated[
    Text,
    option(
        ANSWERS, "NAME", "A tool's format, or table. List: formats.", "--from", known=_format_names
    ),
]
Where = Annotated[Text, option(ANSWERS, "TEST", "Rows that count: 'repeat == 0'.", "--where")]
Sheet = Annotated[Text, option(ANSWERS, "NAME", "Of a workbook: a sheet, or its number.")]
FileColumn = Annotated[
    Text, option(COLUMNS, "COLUMN", "A new column: the file of each row.", "--source")
]
Cluster = Annotated[Text, option(SURE, "COLUMN", "Units of one are alike: document.")]
Question = Annotated[Text, option(ANSWERS, "NAME", "Of an export: which of its questions.")]
Roster = Annotated[Text, option(ANSWERS, "FILE", "Of an export: units and raters who answered.")]
Config = Annotated[
    Path | None,
    typer.Option(
        help="Options in TOML; those given here win.",
        rich_help_panel=ANSWERS,
        metavar="FILE",
        show_default=False,
        is_eager=True,
        callback=load_config,
    ),
]
Escape = Annotated[
    bool,
    option(RESULTS, "", "Escape formula-like cells.", "--escape"),
]
Sep = Annotated[Text, option(ANSWERS, "TEXT", "Between two labels (default: a comma).")]
Blank = Annotated[Text, option(ANSWERS, "HOW", "A blank cell: missing (default), empty, error.")]
Missing = Annotated[Texts, option(ANSWERS, "TEXT", "Answers that mean no annotation: NA,n/a.")]
Duplicates = Annotated[str, option(ANSWERS, "HOW", "Rated twice: error, first, last or union.")]
Case = Annotated[str, option(ANSWERS, "HOW", "keep (default), or lower to make Joy joy.")]
Codebook = Annotated[Text, option(ANSWERS, "LABELS", "All labels: a,b,c; or a file, one a line.")]
Encoding = Annotated[str, option(ANSWERS, "NAME", "How bytes spell text (default: utf-8).")]
Delimiter = Annotated[Text, option(ANSWERS, "CHAR", "Between two columns (default: guessed).")]

MemoryLimit = Annotated[Text, option(LARGE, "SIZE", "What DuckDB may hold in memory: 2GB.")]
Spill = Annotated[Text, option(LARGE, "FOLDER", "For what does not fit meanwhile.")]
AssumeUnique = Annotated[
    bool, option(LARGE, "", "Repeated ratings are not looked for.", "--assume-unique")
]
ByUnit = Annotated[
    bool, option(LARGE, "", "Each file has all ratings of its units.", "--partitioned-by-unit")
]

Coefficients = Annotated[
    Texts,
    option(
        RESULTS,
        "NAME",
        "List: setagree coefficients.",
        "--coefficient",
        "-c",
        known=lambda: COEFFICIENTS,
    ),
]
Distances = Annotated[
    Texts,
    option(RESULTS, "NAME", "List: setagree distances.", "--distance", "-d", known=distance_names),
]
LabelWeights = Annotated[Text, option(RESULTS, "FILE", "Weighted Jaccard: label,weight.")]
Taxonomy = Annotated[Text, option(RESULTS, "FILE", "A Jaccard of: child,parent.")]
LabelDistances = Annotated[Text, option(RESULTS, "FILE", "Transport: a square table.")]
IntervalKind = Annotated[str, option(SURE, "KIND", "analytic (default), score, bootstrap.")]
IntervalMethod = Annotated[Text, option(SURE, "METHOD", "BCa (default), percentile or basic.")]
Over = Annotated[Text, option(SURE, "WHAT", "Sample: units (default), raters, both.", "--over")]
Scheme = Annotated[
    str, option(SURE, "WHAT", "pooled (default), within_rater, within_cluster, table.")
]
Alternative = Annotated[str, option(SURE, "SIDE", "greater (default), less or two-sided.")]
Design = Annotated[
    Text, option(SURE, "UNITS", "same_units, shared_units, independent (default: by names).")
]
Method = Annotated[str, option(SURE, "METHOD", "linearised (default) or bootstrap.")]
HalfWidth = Annotated[
    float | None, option(SURE, "WIDTH", "Half of the interval wanted (default: 0.05).")
]
HowManyUnits = Annotated[Texts, option(SURE, "N,N", "Instead: what so many give.", "--units")]
HowManyTogether = Annotated[
    Texts, option(SURE, "N,N", "Of a cluster (default: as now).", "--units-per-cluster")
]
HowManyRaters = Annotated[
    Texts, option(SURE, "N,N", "Numbers of raters (default: as now).", "--raters")
]
Models = Annotated[
    list[str],
    option(
        PANEL,
        "NAME",
        "A model: a rater, or a file of its answers; repeatable.",
        "--model",
        "-m",
    ),
]
Humans = Annotated[
    Texts, option(PANEL, "NAME", "Who are the humans (default: all others).", "--humans")
]
Epsilon = Annotated[
    float, option(PANEL, "SHARE", "0.1 crowd (default), 0.15 skilled, 0.2 experts.")
]
Q = Annotated[float, option(PANEL, "SHARE", "False discovery rate (default: 0.05).", "--q")]
MinUnits = Annotated[int, option(PANEL, "N", "Units a human must share (default: 30).")]
Equal = Annotated[str, option(PANEL, "HOW", "What counts as a tie: published (default) or exact.")]
OneDistance = Annotated[
    Text, option(PANEL, "NAME", "List: setagree distances.", "--distance", "-d")
]
AgreedBy = Annotated[
    Text, option(AGREED, "NAME", "label_majority (default), medoid, dawid_skene, unanimous.")
]
Threshold = Annotated[
    float | None, option(AGREED, "SHARE", "Of raters, for a label to be in (default: 0.5).")
]
TieRule = Annotated[
    str,
    option(AGREED, "RULE", "No majority: missing (no answer, default), plurality, or empty ([])."),
]
Without = Annotated[
    Texts, option(ANSWERS, "NAME", "A rater who does not count; repeat for more.", "--without")
]
AdjudicateBelow = Annotated[
    float, option(AGREED, "SHARE", "Flag units of less confidence (default: 0).")
]
MedoidDistance = Annotated[
    Text, option(AGREED, "NAME", "Of the medoid. List: setagree distances.", "--distance", "-d")
]
Level = Annotated[float, option(SURE, "SHARE", "Of the interval (default: 0.95).")]
Resamples = Annotated[int | None, option(SURE, "N", "How many resamples (default: 2000).")]
Reshuffles = Annotated[int | None, option(SURE, "N", "How many (default: 9999).", "--resamples")]
Seed = Annotated[int | None, option(SURE, "N", "Repeats a run (default: drawn, printed).")]
Format = Annotated[Text, option(RESULTS, "AS", "table, json, csv, markdown.", "--format", "-f")]
Output = Annotated[
    Path | None,
    option(RESULTS, "FILE", "Write it as .json, .csv, .md or .txt.", "--output", "-o"),
]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a file becomes a study."""

    raters_option: ClassVar[str] = "raters"

    unit: Unit = None
    rater: Rater = None
    labels: Labels = None
    value: Value = None
    wide: Wide = False
    raters: Raters = None
    kind: Kind = None
    people_in_rows: People = False
    file_column: FileColumn = None
    where: Where = None
    sheet: Sheet = None
    cluster: Cluster = None
    source: From = None
    question: Question = None
    roster: Roster = None
    sep: Sep = None
    blank: Blank = None
    missing: Missing = None
    duplicates: Duplicates = "error"
    case: Case = "keep"
    codebook: Codebook = None
    without: Without = None
    encoding: Encoding = "utf-8"
    delimiter: Delimiter = None
    config: Config = None

    def option(self, name: str) -> str:
        """Return what an option is called on the command line."""
        return f"--{self.raters_option if name == 'raters' else name.replace('_', '-')}"


@dataclass(frozen=True, kw_only=True)
class PilotReading(Reading):
    """The same where --raters asks for numbers of raters."""

    raters_option: ClassVar[str] = "rater-columns"

    raters: RaterColumns = None


@dataclass(frozen=True, kw_only=True)
class Large:
    """How a file is reduced that need not fit in memory; where none is given, it is read."""

    memory_limit: MemoryLimit = None
    spill: Spill = None
    assume_unique: AssumeUnique = False
    partitioned_by_unit: ByUnit = False

    @property
    def asked(self) -> str:
        """The options that are given, for sentences; blank where none is."""
        given = [name.replace("_", "-") for name, value in vars(self).items() if value]
        return ", ".join(f"--{name}" for name in given)


@dataclass(frozen=True, kw_only=True)
class LabelFiles:
    """Which file about the labels states the distance, if one does."""

    label_weights: LabelWeights = None
    taxonomy: Taxonomy = None
    label_distances: LabelDistances = None

    @property
    def given(self) -> dict[str, str]:
        """The files by the names of their options."""
        found = {each.name: getattr(self, each.name) for each in fields(LabelFiles)}
        return {name.replace("_", "-"): file for name, file in found.items() if file is not None}


@dataclass(frozen=True, kw_only=True)
class Asked(LabelFiles):
    """Which coefficients with which distances; none named is the default of the command."""

    coefficient: Coefficients = None
    distance: Distances = None


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """How often something is drawn, and from which seed."""

    resamples: Resamples = None
    seed: Seed = None


@dataclass(frozen=True, kw_only=True)
class Reshuffling(Resampling):
    """The same for reshuffles."""

    resamples: Reshuffles = None


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """In what form the results come, and where they go."""

    form: Format = None
    output: Output = None


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameters that are groups of options are spread into options."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if _is_group(kind)}

    @wraps(command)
    def spread(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{each.name: given.pop(each.name) for each in fields(group)})
        command(**given)

    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        parameters += _parameters(groups[name]) if name in groups else [parameter]
    for group in groups.values():
        hints |= get_type_hints(group, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [one.replace(kind=keyword, annotation=hints[one.name]) for one in parameters]
    vars(spread)["__signature__"] = inspect.Signature(parameters)
    spread.__annotations__ = {one.name: one.annotation for one in parameters}
    return spread


def _is_group(kind: object) -> bool:
    return isinstance(kind, type) and is_dataclass(kind)


def _parameters(group: type[Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(group).parameters.values())
