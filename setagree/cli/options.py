"""The options of the command, in groups that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias, get_type_hints

import typer

from setagree.cli.config import load_config
from setagree.distances.registry import all_distance_names
from setagree.scoring.registry import coefficient_names

COLUMNS = "Columns (guessed where not named; the guess is printed)"
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


def member(
    *look: str, default: Any = None, known: Callable[[], Iterable[str]] | None = None
) -> Any:
    """Return a member of a group: an option, as `option` makes it, and what it is if not given."""
    return field(default=default, metadata={"option": option(*look, known=known)})


def flag(panel: str, text: str, name: str) -> Any:
    """Return a member that is given or not."""
    return member(panel, "", text, name, default=False)


def hidden(name: str) -> Any:
    """Return a member that has no line of its own, because that of another one shows it."""
    return field(default=None, metadata={"option": typer.Option(name, hidden=True)})


def _completed(incomplete: str, known: Iterable[str]) -> list[str]:
    """Return the values that go on from what is typed, after the last comma of it."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in known if name.startswith(last)]


def _format_names() -> list[str]:
    from setagree.large.recognition import formats  # loaded where they are asked for

    return ["table", *formats()["name"]]


Text: TypeAlias = str | None
Texts: TypeAlias = list[str] | None

Files = Annotated[list[str], typer.Argument(metavar="FILE", help="Tables (joined), or an export.")]
Compared = Annotated[list[str], typer.Argument(metavar="FILE", help="Tables or exports of tools.")]

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
_OF_RATERS = "With --wide: their columns, if not all."
Escape = Annotated[bool, option(RESULTS, "", "Escape formula-like cells.", "--escape")]
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
HowManyUnits = Annotated[Texts, option(SURE, "N,N", "Instead: what N units give.", "--units")]
HowManyTogether = Annotated[
    Texts, option(SURE, "N,N", "Of a cluster (default: as now).", "--units-per-cluster")
]
HowManyRaters = Annotated[
    Texts, option(SURE, "N,N", "Numbers of raters (default: as now).", "--raters")
]
_MODEL = option(
    PANEL, "NAME", "A model: a rater, or a file of its answers; repeatable.", "--model", "-m"
)
Models = Annotated[list[str], _MODEL]
AnyModels = Annotated[Texts, _MODEL]
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
    Text,
    option(
        PANEL,
        "NAME",
        "List: setagree distances.",
        "--distance",
        "-d",
        known=all_distance_names,
    ),
]
AgreedBy = Annotated[
    Text, option(AGREED, "NAME", "label_majority (default), medoid, dawid_skene, unanimous.")
]
Threshold = Annotated[
    float | None, option(AGREED, "SHARE", "Of raters that a label needs (default: 0.5).")
]
TieRule = Annotated[
    str,
    option(AGREED, "RULE", "No majority: missing (no answer, default), plurality, or empty ([])."),
]
AdjudicateBelow = Annotated[
    float, option(AGREED, "SHARE", "Flag units of less confidence (default: 0).")
]
MedoidDistance = Annotated[
    Text,
    option(
        AGREED,
        "NAME",
        "For the medoid. List: setagree distances.",
        "--distance",
        "-d",
        known=all_distance_names,
    ),
]
Level = Annotated[float, option(SURE, "SHARE", "Confidence level (default: 0.95).")]
Seed = Annotated[int | None, option(SURE, "N", "Repeats a run (default: random, printed).")]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a file becomes a study."""

    raters_option: ClassVar[str] = "raters"

    unit: Text = member(COLUMNS, "COLUMN", "What was rated.")
    rater: Text = member(COLUMNS, "COLUMN", "Who rated it.")
    labels: Text = member(COLUMNS, "COLUMN", "The answers, each a set of labels.")
    value: Text = member(COLUMNS, "COLUMN", "The answers, each one number or word.")
    wide: bool = flag(COLUMNS, "Each rater has a column of answers.", "--wide")
    raters: Texts = member(COLUMNS, "COLUMN", _OF_RATERS)
    kind: Text = member(COLUMNS, "KIND", "With --wide: labels, number or category.")
    people_in_rows: bool = flag(
        COLUMNS, "Each row is a rater, each column a unit.", "--people-in-rows"
    )
    source: Text = member(COLUMNS, "COLUMN", "A new column: the file of each row.", "--source")
    where: Text = member(ANSWERS, "TEST", "Rows that count: 'repeat == 0'.", "--where")
    sheet: Text = member(ANSWERS, "NAME", "Sheet of a workbook: name or number.")
    cluster: Text = member(SURE, "COLUMN", "Units of one are alike: document.")
    sampling_weight: Text = member(SURE, "COLUMN", "How many units each one stands for.")
    strata: Text = member(SURE, "COLUMN", "Part drawn from. --population-size a=9,b=5")
    population_size: Texts = hidden("--population-size")  # which the line above shows
    format: Text = member(
        ANSWERS, "NAME", "A tool's format, or table. List: formats.", "--from", known=_format_names
    )
    question: Text = member(ANSWERS, "NAME", "Of an export: the question to read.")
    roster: Text = member(ANSWERS, "FILE", "For an export: who rated which unit.")
    sep: Text = member(ANSWERS, "TEXT", "Between two labels (default: a comma).")
    blank: Text = member(ANSWERS, "HOW", "A blank cell: missing (default), empty, error.")
    missing: Texts = member(ANSWERS, "TEXT", "Answers that mean no annotation: NA,n/a.")
    duplicates: str = member(
        ANSWERS, "HOW", "Rated twice: error, first, last or union.", default="error"
    )
    case: str = member(ANSWERS, "HOW", "keep (default), or lower to make Joy joy.", default="keep")
    codebook: Text = member(ANSWERS, "LABELS", "All labels: a,b,c; or a file, one a line.")
    without: Texts = member(
        ANSWERS, "NAME", "A rater who does not count; repeat for more.", "--without"
    )
    encoding: str = member(ANSWERS, "NAME", "Text encoding (default: utf-8).", default="utf-8")
    delimiter: Text = member(ANSWERS, "CHAR", "Between two columns (default: guessed).")
    config: Config = None

    def option(self, name: str) -> str:
        """Return what an option is called on the command line."""
        return f"--{self.raters_option if name == 'raters' else name.replace('_', '-')}"


@dataclass(frozen=True, kw_only=True)
class PilotReading(Reading):
    """The same where --raters asks for numbers of raters."""

    raters_option: ClassVar[str] = "rater-columns"

    raters: Texts = member(COLUMNS, "COLUMN", _OF_RATERS, "--rater-columns")
    sampling_weight: Text = hidden("--sampling-weight")  # a plan refuses both
    strata: Text = hidden("--strata")


@dataclass(frozen=True, kw_only=True)
class Large:
    """How a file is reduced that need not fit in memory; where none is given, it is read."""

    memory_limit: Text = member(LARGE, "SIZE", "What DuckDB may hold in memory: 2GB.")
    spill: Text = member(LARGE, "FOLDER", "A folder for temporary files.")
    assume_unique: bool = flag(LARGE, "Skip the search for repeated ratings.", "--assume-unique")
    partitioned_by_unit: bool = flag(
        LARGE, "Each file has all ratings of its units.", "--partitioned-by-unit"
    )

    @property
    def asked(self) -> str:
        """The options that are given, for sentences; blank where none is."""
        given = [name.replace("_", "-") for name, value in vars(self).items() if value]
        return ", ".join(f"--{name}" for name in given)


@dataclass(frozen=True, kw_only=True)
class LabelFiles:
    """Which file about the labels states the distance, if one does."""

    label_weights: Text = member(RESULTS, "FILE", "Weighted Jaccard: label,weight.")
    taxonomy: Text = member(RESULTS, "FILE", "Taxonomy distance: child,parent.")
    label_distances: Text = member(RESULTS, "FILE", "Transport: a square table.")

    @property
    def given(self) -> dict[str, str]:
        """The files by the names of their options."""
        found = {each.name: getattr(self, each.name) for each in fields(LabelFiles)}
        return {name.replace("_", "-"): file for name, file in found.items() if file is not None}


@dataclass(frozen=True, kw_only=True)
class Asked(LabelFiles):
    """Which coefficients with which distances; none named is the default of the command."""

    coefficient: Texts = member(
        *(RESULTS, "NAME", "List: setagree coefficients.", "--coefficient", "-c"),
        known=coefficient_names,
    )
    distance: Texts = member(
        RESULTS, "NAME", "List: setagree distances.", "--distance", "-d", known=all_distance_names
    )


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """How often something is drawn, and from which seed."""

    resamples: int | None = member(SURE, "N", "How many resamples (default: 2000).")
    seed: Seed = None


@dataclass(frozen=True, kw_only=True)
class Reshuffling(Resampling):
    """The same for reshuffles."""

    resamples: int | None = member(SURE, "N", "How many (default: 9999).", "--resamples")


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """In what form the results come, and where they go."""

    form: Text = member(RESULTS, "AS", "table, json, csv, markdown.", "--format", "-f")
    output: Path | None = member(
        RESULTS, "FILE", "Write it as .json, .csv, .md or .txt.", "--output", "-o"
    )


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameters that are groups of options are spread into options."""
    hints = get_type_hints(command, include_extras=True)
    groups = {n: kind for n, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)}

    @wraps(command)
    def spread(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{each.name: given.pop(each.name) for each in fields(group)})
        command(**given)

    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        own = [parameter.replace(kind=_KEYWORD, annotation=hints[name])]
        parameters += _parameters(groups[name]) if name in groups else own
    vars(spread)["__signature__"] = inspect.Signature(parameters)
    spread.__annotations__ = {one.name: one.annotation for one in parameters}
    return spread


def _parameters(group: type[Any]) -> Iterator[inspect.Parameter]:
    """Yield the members of a group as the parameters that typer makes options of."""
    hints = get_type_hints(group, include_extras=True)
    for each in fields(group):
        look = each.metadata.get("option")
        hint = hints[each.name] if look is None else Annotated[hints[each.name], look]
        yield inspect.Parameter(each.name, _KEYWORD, default=each.default, annotation=hint)


_KEYWORD = inspect.Parameter.KEYWORD_ONLY
