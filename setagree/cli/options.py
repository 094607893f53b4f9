"""Options of the command, in groups that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

import typer

from setagree.cli.config import load_config
from setagree.distances.hierarchy import is_separator
from setagree.distances.registry import all_distance_names
from setagree.scoring.coefficients import coefficient_names

_KEYWORD = inspect.Parameter.KEYWORD_ONLY


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


COLUMNS = "Columns (guessed where not named; the guess is printed)"
ANSWERS = "How the file is read"
SURE = "How sure"
PANEL = "Humans and models"
AGREED = "How answers become one"
_SAME = (
    "acceptable_rate adjudicate_below against alternative assume_unique assurance at_least batch "
    "blank budget by case cluster codebook coefficient consumer_risk degree delimiter design "
    "distance duplicates empty encoding epsilon exclude_raters facets filename_column format goal "
    "half_width header_row humans interval interval_method kind label_sep label_weights labels "
    "level looks lot margin max_units memory_limit method min_units model na_values order_by over "
    "partitioned_by_unit pool population_size power predictions producer_risk q question "
    "questions queued rater raters raters_in_rows rejectable_rate roster sampling_weight scheme "
    "sheet spans sql status strata target temp_directory threshold ties time tokens tool truth "
    "unit units units_per_cluster value where wide window"
)
CALLED = {name: f"--{name.replace('_', '-')}" for name in _SAME.split()} | {
    "n_resamples": "--resamples",
    "rng": "--seed",
    "per_unit": "--cost-unit",
    "per_rating": "--cost-rating",
    "rater_columns": "--facets",
    "parents": "--taxonomy",
    "path_separator": "--taxonomy",
    "credit": "--taxonomy-credit",
    "vectors": "--embeddings",
    "match": "--embedding-match",
}
"""What the command calls the options of the library; an option not listed is Python's alone."""

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


def hidden(name: str, *, default: Any = None) -> Any:
    """Return a member that has no line of its own, because that of another one shows it."""
    return field(default=default, metadata={"option": typer.Option(name, hidden=True)})


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
IntervalKind = Annotated[Text, option(SURE, "KIND", "score (default), t, bootstrap.")]
IntervalMethod = Annotated[Text, option(SURE, "METHOD", "BCa (default), percentile or basic.")]
Over = Annotated[Text, option(SURE, "WHAT", "Sample: units (default), raters, both.", "--over")]
Scheme = Annotated[
    Text,
    option(SURE, "WHAT", "pooled or within_rater (default: by the design), within_cluster, table."),
]
Alternative = Annotated[str, option(SURE, "SIDE", "greater (default), less or two-sided.")]
Design = Annotated[
    Text, option(SURE, "UNITS", "same_units, shared_units, independent (default: by names).")
]
Rounds = Annotated[Text, option(COLUMNS, "COLUMN", "In one file: rounds to compare.", "--by")]
Method = Annotated[str, option(SURE, "METHOD", "linearised (default) or bootstrap.")]
HalfWidth = Annotated[float | None, option(SURE, "WIDTH", "Half of the interval (default: 0.05).")]
HowManyUnits = Annotated[Texts, option(SURE, "N,N", "Instead: what N units give.", "--units")]
HowManyTogether = Annotated[
    Texts, option(SURE, "N,N", "Of a cluster (default: as now).", "--units-per-cluster")
]
HowManyRatings = Annotated[
    Texts, option(SURE, "N,N", "Of each unit (default: as now).", "--ratings")
]
Assurance = Annotated[
    float | None, option(SURE, "SHARE", "Of studies that reach it (default: half).")
]
AtLeast = Annotated[
    float | None, option(SURE, "VALUE", "Instead: test that it is above VALUE.", "--at-least")
]
Required = Annotated[float, option(SURE, "VALUE", "The value to exceed: 0.667.", "--at-least")]
CheckedGroups = Annotated[Text, option(COLUMNS, "COLUMN", "Check each group of rows.", "--by")]
OneSided = Annotated[float, option(SURE, "SHARE", "One-sided confidence (default: 0.95).")]
Power = Annotated[float | None, option(SURE, "SHARE", "Of that test (default: 0.8).")]
_MODEL = option(
    PANEL,
    "NAME",
    "A model: a rater by name (with --wide a column), or a file of its answers; repeatable.",
    "--model",
    "-m",
)
Models = Annotated[list[str], _MODEL]
AnyModels = Annotated[Texts, _MODEL]
Humans = Annotated[
    Texts, option(PANEL, "NAME", "Who are the humans (default: all others).", "--humans")
]
Facets = Annotated[
    Texts,
    option(PANEL, "COLUMNS", "Instead: do models agree with themselves? model,prompt,run."),
]
Epsilon = Annotated[
    float, option(PANEL, "SHARE", "0.1 crowd (default), 0.15 skilled, 0.2 experts.")
]
Q = Annotated[float, option(PANEL, "SHARE", "False discovery rate (default: 0.05).", "--q")]
MinUnits = Annotated[int, option(PANEL, "N", "Units a human must share (default: 30).")]
Truth = Annotated[str, option(PANEL, "WHAT", "share (default), majority, any, all of the humans.")]
Target = Annotated[
    str, option(PANEL, "WHAT", "corpus (default), or beyond: what it is a sample of.")
]
MoreUnits = Annotated[float | None, option(SURE, "WIDTH", "Also: units for half a width of this.")]
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
NEXT = "Units to rate next"
STOP = "When to stop"
ACCEPT = "Acceptance sampling"
Budget = Annotated[int, option(NEXT, "N", "Ratings that can be paid for.")]
Goal = Annotated[
    str, option(NEXT, "WHAT", "consensus (default), agreement or prevalence (--model).")
]
Pool = Annotated[Texts, option(NEXT, "NAME", "Who can be asked (default: the raters).", "--pool")]
Batch = Annotated[str, option(STOP, "COLUMN", "The batch, or the time, of each unit.", "--batch")]
Goalpost = Annotated[float, option(STOP, "ALPHA", "How high alpha has to be.", "--threshold")]
Looks = Annotated[
    Texts, option(STOP, "N,N", "Sizes of planned looks (default: after each batch).", "--looks")
]
MostUnits = Annotated[
    int | None, option(STOP, "N", "With a number of looks: units at the last.", "--max-units")
]
AcceptableRate = Annotated[float, option(ACCEPT, "RATE", "An error rate to accept.")]
RejectableRate = Annotated[float, option(ACCEPT, "RATE", "An error rate to refuse.")]
ProducerRisk = Annotated[
    float, option(ACCEPT, "P", "To refuse the acceptable one (default: 0.05).")
]
ConsumerRisk = Annotated[float, option(ACCEPT, "P", "To accept the other one (default: 0.1).")]
Lot = Annotated[int | None, option(ACCEPT, "N", "Answers in the delivery, if they are few.")]
Checked = Annotated[int | None, option(ACCEPT, "N", "Answers that were checked.")]
Errors = Annotated[int | None, option(ACCEPT, "N", "Errors that were found.")]
Margin = Annotated[
    float | None, option(PANEL, "ALPHA", "Also: may agreement fall by less than this?")
]
MORE = "Tables: --tables."
Tables = Annotated[bool, option(RESULTS, "", "Also print the tables.", "--tables")]
Require = Annotated[
    bool,
    option(PANEL, "", "Exit 1 unless every model may (line, json, junit, github).", "--require"),
]
Against = Annotated[str, option(PANEL, "WHOM", "The mean human (default), or all.", "--against")]
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

    unit: Text = member(COLUMNS, "COLUMN", "What was rated.")
    rater: Text = member(COLUMNS, "COLUMN", "Who rated it.")
    labels: Text = member(COLUMNS, "COLUMN", "Label sets; their degrees: --degree COLUMN.")
    degree: Text = hidden("--degree")  # which the line above shows
    value: Text = member(COLUMNS, "COLUMN", "The answers, each one number or word.")
    wide: bool = flag(COLUMNS, "Each rater has a column of answers.", "--wide")
    raters: Texts = member(COLUMNS, "COLUMN", _OF_RATERS)
    kind: Text = member(COLUMNS, "KIND", "With --wide: labels, number or category.")
    raters_in_rows: bool = flag(
        COLUMNS, "Each row is a rater, each column a unit.", "--raters-in-rows"
    )
    filename_column: Text = member(COLUMNS, "COLUMN", "New: the file of each row.")
    where: Text = member(ANSWERS, "TEST", "Rows: 'repeat == 0'; --queued COLUMN.", "--where")
    sheet: Text = member(ANSWERS, "NAME", "A workbook's sheet; SQLite: --sql QUERY.")
    sql: Text = hidden("--sql")  # which the line above shows
    cluster: Text = member(SURE, "COLUMN", "Units of one are alike: document.")
    sampling_weight: Text = member(SURE, "COLUMN", "How many units each one stands for.")
    strata: Text = member(SURE, "COLUMN", "Stratum; also --population-size a=9,b=5")
    population_size: Texts = hidden("--population-size")  # which the line above shows
    tool: Text = member(
        ANSWERS, "NAME", "A tool's format, or table. List: formats.", "--tool", known=_format_names
    )
    question: Text = member(ANSWERS, "NAME", "Of an export: which question.")
    roster: Text = member(ANSWERS, "FILE", "Who rated what, of an export. --predictions")
    predictions: bool = hidden("--predictions", default=False)  # which the line above shows
    label_sep: Text = member(ANSWERS, "TEXT", "Between two labels (default: a comma).")
    blank: Text = member(ANSWERS, "HOW", "Blank: missing (default), empty, error.")
    na_values: Texts = member(ANSWERS, "TEXT", "No answer; --empty TEXT: none; --status COL.")
    empty: Texts = hidden("--empty")  # which the line above shows
    status: Text = hidden("--status")  # which the line above shows
    queued: Text = hidden("--queued")  # which the line of --where shows
    duplicates: str = member(
        ANSWERS, "HOW", "first (--order-by T), last, union, repeats.", default="error"
    )
    order_by: Text = hidden("--order-by")  # which the line above shows
    case: str = member(ANSWERS, "HOW", "keep (default), or lower to make Joy joy.", default="keep")
    codebook: Text = member(ANSWERS, "LABELS", "Labels: a,b,B=b; or a file, one a line.")
    exclude_raters: Texts = member(
        ANSWERS, "NAME", "Who does not count; repeat for more.", "--exclude-raters"
    )
    encoding: str = member(ANSWERS, "NAME", "Text encoding (default: utf-8).", default="utf-8")
    delimiter: Text = member(ANSWERS, "CHAR", "Between columns (guessed); --header-row N.")
    header_row: int | None = hidden("--header-row")  # which the line above shows
    config: Config = None


@dataclass(frozen=True, kw_only=True)
class ApartReading(Reading):
    """The same for commands that compare no models, and can set them apart."""

    exclude_raters: Texts = member(
        ANSWERS, "NAME", "Who does not count; --model NAME: set apart.", "--exclude-raters"
    )
    model: Texts = hidden("--model")  # which the line above shows


@dataclass(frozen=True, kw_only=True)
class SpanOptions:
    """The options of commands that take labelled spans, too."""

    question: Text = member(ANSWERS, "NAME", "Question; --spans auto --tokens words")
    spans: Text = hidden("--spans")  # which the line above shows
    tokens: Text = hidden("--tokens")


@dataclass(frozen=True, kw_only=True)
class SpanReading(SpanOptions, Reading):
    """How a file becomes a study, of labelled spans, too."""


@dataclass(frozen=True, kw_only=True)
class ApartSpanReading(SpanOptions, ApartReading):
    """The same for commands that can set models apart."""


@dataclass(frozen=True, kw_only=True)
class _Questions(SpanOptions):
    question: Text = member(ANSWERS, "NAME", "--questions a,b; --spans auto --tokens words")
    questions: Text = hidden("--questions")  # which the line above shows


@dataclass(frozen=True, kw_only=True)
class QuestionsReading(_Questions, SpanReading):
    """The same for a command that takes several questions."""


@dataclass(frozen=True, kw_only=True)
class QuestionReading(_Questions, ApartSpanReading):
    """The same for a command that takes several questions, and sets models apart."""


@dataclass(frozen=True, kw_only=True)
class PilotReading(ApartSpanReading):
    """The same for a plan, which refuses weights and strata."""

    sampling_weight: Text = hidden("--sampling-weight")
    strata: Text = hidden("--strata")


@dataclass(frozen=True, kw_only=True)
class BatchReading(ApartReading):
    """The same for a command with batches, which no table with a row per rater has."""

    raters_in_rows: bool = hidden("--raters-in-rows", default=False)


@dataclass(frozen=True, kw_only=True)
class RepeatsReading(ApartReading):
    """The same for a command that keeps repeated ratings."""

    duplicates: str = hidden("--duplicates", default="error")
    order_by: Text = member(ANSWERS, "COLUMN", "When a rating was given.", "--order-by")


@dataclass(frozen=True, kw_only=True)
class Large:
    """How a file is reduced that need not fit in memory; where none is given, it is read."""

    memory_limit: Text = member(LARGE, "SIZE", "Of DuckDB: 2GB. --temp-directory DIR")
    temp_directory: Text = hidden("--temp-directory")
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

    label_weights: Text = member(RESULTS, "FILE", "label,weight, or '-log prevalence'.")
    taxonomy: Text = member(RESULTS, "FILE", "child,parent. --taxonomy-credit lin")
    label_distances: Text = member(RESULTS, "FILE", "Transport: a square table.")
    embeddings: Text = member(RESULTS, "FILE", "label,x,y. --embedding-match transport")
    taxonomy_credit: Text = hidden("--taxonomy-credit")
    embedding_match: Text = hidden("--embedding-match")

    @property
    def given(self) -> dict[str, str]:
        """The files, or what stands for one, by the names of their options."""
        found = {each.name: getattr(self, each.name) for each in fields(LabelFiles)[:-2]}
        return {name.replace("_", "-"): file for name, file in found.items() if file is not None}

    @property
    def paths(self) -> list[str]:
        """The files that are read: what stands between the steps of paths in labels is none."""
        return [value for value in self.given.values() if not is_separator(value)]


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

    form: Text = member(RESULTS, "AS", "table, json, csv, markdown, latex.", "--format", "-f")
    output: Path | None = member(
        RESULTS, "FILE", "As .csv, .json, .md, .tex or .txt.", "--output", "-o"
    )
    escape: bool = flag(RESULTS, "Keep text from being run as a formula.", "--escape")


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What units and ratings cost, and what the study may."""

    cost_unit: float | None = member(SURE, "COST", "Of a unit, not rated (default: 0).")
    cost_rating: float | None = member(SURE, "COST", "Of a rating: which design is best?")
    budget: float | None = member(SURE, "COST", "Instead: the best design for it.")
