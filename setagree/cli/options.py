"""Options of the command, in groups that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, Field, field
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias, dataclass_transform, get_type_hints

import typer

from setagree.cli.config import load_config
from setagree.distances.hierarchy import is_separator
from setagree.distances.registry import all_distance_names
from setagree.scoring.coefficients import coefficient_names

_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameters that are groups of options are spread into options."""
    hints = get_type_hints(command, include_extras=True)
    groups = {
        n: kind for n, kind in hints.items() if isinstance(kind, type) and issubclass(kind, Group)
    }

    @wraps(command)
    def spread(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{each: values.pop(each) for each in group.members()})
        command(**values)

    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        single = [parameter.replace(kind=_KEYWORD, annotation=hints[name])]
        parameters += _parameters(groups[name]) if name in groups else single
    vars(spread)["__signature__"] = inspect.Signature(parameters)
    spread.__annotations__ = {each.name: each.annotation for each in parameters}
    return spread


def _parameters(group: type[Group]) -> Iterator[inspect.Parameter]:
    """Yield the members of a group as the parameters that typer turns into options."""
    hints = get_type_hints(group, include_extras=True)
    for name, declared in group.members().items():
        hint, default = hints[name], declared
        if isinstance(declared, Field):
            owner = next(base for base in group.__mro__ if name in base.__annotations__)
            hint = Annotated[hint, declared.metadata["option"](vars(owner)["panel"])]
            default = inspect.Parameter.empty if declared.default is MISSING else declared.default
        yield inspect.Parameter(name, _KEYWORD, default=default, annotation=hint)


COLUMNS = "Columns (detected by their names if not given, and printed)"
READING = "Reading the file"
INFERENCE = "Sampling and inference"
MODELS = "Humans and models"
LARGE = "Files larger than memory (reduced by DuckDB, without rater identities)"
MEASURES = "Coefficients and distances (repeat -c and -d, or use commas)"
OUTPUT = "Output"

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
    "credit": "--taxonomy-credit",
    "vectors": "--embeddings",
    "match": "--embedding-match",
}
"""Spelling of the library's options on the command line; the command lacks all others."""


def option(panel: str, metavar: str, text: str, *names: str, **more: Any) -> Any:
    """Return an option in a panel of the help. Default name: that of the parameter."""
    return typer.Option(
        *names, help=text, rich_help_panel=panel, metavar=metavar, show_default=False, **more
    )


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Group:
    """Base of records of options, which have a panel in the help.

    Dataclasses would double the time in which the options of a command are imported.
    """

    panel: ClassVar[str] = ""

    def __init_subclass__(cls, panel: str = "") -> None:
        cls.panel = panel

    def __init__(self, **values: Any) -> None:
        defaults = {name: getattr(x, "default", x) for name, x in self.members().items()}
        vars(self).update(defaults | values)

    @classmethod
    def members(cls) -> dict[str, Any]:
        """Return the declared members by name, those of the base classes first."""
        names = (name for base in cls.__mro__[-2::-1] for name in base.__annotations__)
        return {name: getattr(cls, name) for name in names if name != "panel"}


def member(*declaration: str, default: Any = None, panel: str | None = None, **more: Any) -> Any:
    """Return a member of a group: an option; `MISSING` as its default requires a value.

    Its panel is that of the class that declares it, unless it has its own.
    """

    def declared(panel_of_class: str) -> Any:
        metavar, text, *names = declaration
        return option(panel or panel_of_class, metavar, text, *names, **more)

    return field(default=default, metadata={"option": declared})


def flag(text: str, name: str) -> Any:
    """Return a member that is either passed or not."""
    return member("", text, name, default=False)


def hidden(name: str, *, default: Any = None) -> Any:
    """Return a member that the help of a command omits, because the command refuses it."""
    metadata = {"option": lambda _: typer.Option(name, hidden=True)}
    return field(default=default, metadata=metadata)


def completing(values: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return the function that completes the text after the last comma for a shell."""

    def completed(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in values() if name.startswith(last)]

    return completed


def _format_names() -> list[str]:
    from setagree.large.recognition import formats  # loads all readers, only for completion

    return ["table", *formats()["name"]]


Text: TypeAlias = str | None
Texts: TypeAlias = list[str] | None
Number: TypeAlias = float | None
Count: TypeAlias = int | None

Files = Annotated[
    list[str], typer.Argument(metavar="FILE", help="Tables (joined), or an export of a tool.")
]
Compared = Annotated[
    list[str], typer.Argument(metavar="FILE", help="Tables or exports of tools, one per study.")
]

Level = Annotated[float, option(INFERENCE, "SHARE", "Confidence level (default: 0.95).")]
Seed = Annotated[Count, option(INFERENCE, "N", "Seed (default: random, printed).")]
Models = Annotated[
    Texts,
    option(
        MODELS, "NAME", "A model: a rater, or a file with its answers; repeatable.", "--model", "-m"
    ),
]
Margin = Annotated[
    Number, option(MODELS, "VALUE", "Also test whether a model lowers agreement by less than this.")
]
Facets = Annotated[
    Texts,
    option(MODELS, "COLUMNS", "Agreement of models with themselves, by columns: model,prompt,run."),
]
_DISTANCE = option(
    *(MEASURES, "NAME", "See setagree distances.", "--distance", "-d"),
    autocompletion=completing(all_distance_names),
)
OneDistance = Annotated[Text, _DISTANCE]
Distances = Annotated[Texts, _DISTANCE]
Coefficients = Annotated[
    Texts,
    option(
        *(MEASURES, "NAME", "See setagree coefficients.", "--coefficient", "-c"),
        autocompletion=completing(coefficient_names),
    ),
]
MORE = "For the tables, use --tables."
Tables = Annotated[bool, option(OUTPUT, "", "Also print the tables.", "--tables")]


class Columns(Group, panel=COLUMNS):
    """The columns of a table."""

    unit: Text = member("COLUMN", "The unit that was rated.")
    rater: Text = member("COLUMN", "The rater.")
    labels: Texts = member("COLUMN", "The label set of each rating; repeatable for flags.")
    value: Text = member("COLUMN", "The number or category, if no label set.")
    degree: Text = member("COLUMN", "The degree of the label in each row.")
    wide: bool = flag("Each rater has a column of answers.", "--wide")
    raters: Texts = member("COLUMN", "With --wide: rater columns (default: all).")
    kind: Text = member("KIND", "With --wide: labels, number or category.")
    raters_in_rows: bool = flag("Each row is a rater and each column a unit.", "--raters-in-rows")
    filename_column: Text = member("COLUMN", "Name of a new column: the file of each row.")
    status: Text = member("COLUMN", "The reason for a missing rating.")
    role: Text = member("COLUMN", "The role of each rater: human or model.")
    queued: Text = member("COLUMN", "Marks of ratings from setagree next.")
    order_by: Text = member("COLUMN", "The time of each rating, for --duplicates.")


class Parsing(Group, panel=READING):
    """The rows and the answers of a table, and the format of a file."""

    where: Text = member("TEST", "Rows to read, such as 'repeat == 0'.")
    sheet: Text = member("NAME", "Sheet of a workbook: its name or number.")
    sql: Text = member("QUERY", "Query of an SQLite database.")
    header_row: Count = member("N", "Line of the column names (default: the first).")
    delimiter: Text = member("CHAR", "Delimiter of columns (default: detected).")
    encoding: str = member("NAME", "Text encoding (default: utf-8).", default="utf-8")
    tool: Text = member(
        "NAME",
        "Format: see setagree formats; or table.",
        "--tool",
        autocompletion=completing(_format_names),
    )
    question: Text = member("NAME", "Question of an export that has several.")
    roster: Text = member("FILE", "Table of units and raters, for an export.")
    predictions: bool = flag("Also read a model's answers in an export.", "--predictions")
    label_sep: Texts = member("TEXT", "Separator of labels (default: a comma); repeatable.")
    blank: Text = member("RULE", "Blank cells: missing (default), empty or error.")
    na_values: Texts = member("TEXT", "Answers that mean missing, such as NA.")
    empty: Texts = member("TEXT", "Answers that mean the empty set: none,nothing.")
    duplicates: str = member(
        "RULE", "Repeated ratings: error (default), first, last, union or repeats.", default="error"
    )
    case: str = member("RULE", "Case of labels: keep (default) or lower.", default="keep")
    codebook: Text = member(
        "LABELS", "Permitted labels: a,b or a file with one per line; joyful=joy renames."
    )
    exclude_raters: Texts = member("NAME", "Raters to leave out.")
    config: Path | None = member(
        "FILE", "TOML file of default options.", is_eager=True, callback=load_config
    )


class Sample(Group, panel=INFERENCE):
    """The sampling design of the units."""

    cluster: Text = member("COLUMN", "Cluster of similar units (a document).")
    sampling_weight: Text = member("COLUMN", "Population units that each unit represents.")
    strata: Text = member("COLUMN", "Stratum of each unit.")
    population_size: Texts = member("N", "Population: 5000, strata a=90,b=40, or file.")


class Reading(Sample, Parsing, Columns):
    """Options for reading a study from files."""


class ApartReading(Reading, panel=MODELS):
    """Reading options of commands that can set models apart without comparing them."""

    model: Texts = member("NAME", "A rater who is a model: left out.", "--model", "-m")


class SpanReading(Reading, panel=READING):
    """Reading options of commands that also take labelled spans."""

    spans: Text = member("LAYER", "Labelled spans: auto, or the name of a layer.")
    tokens: Text = member("KIND", "With --spans: count words, or tokens (tool).")


class ApartSpanReading(SpanReading, ApartReading):
    """Reading options of commands that take spans and set models apart."""


class QuestionsReading(SpanReading, panel=READING):
    """Reading options of commands that take several questions."""

    questions: Texts = member("NAMES", "Questions, or answer columns: a,b or all.")


class QuestionReading(QuestionsReading, ApartSpanReading):
    """Reading options of commands that take several questions and set models apart."""


class PilotReading(ApartSpanReading):
    """Reading options of a plan, which refuses weights and strata."""

    sampling_weight: Text = hidden("--sampling-weight")
    strata: Text = hidden("--strata")
    population_size: Texts = hidden("--population-size")


class BatchReading(ApartReading):
    """Reading options of a command with batches, which a table of raters in rows cannot have."""

    raters_in_rows: bool = hidden("--raters-in-rows", default=False)


class RepeatsReading(ApartReading):
    """Reading options of a command that keeps repeated ratings."""

    duplicates: str = hidden("--duplicates", default="error")


class Large(Group, panel=LARGE):
    """Options for reducing a file that may not fit in memory; without any, it is read."""

    memory_limit: Text = member("SIZE", "Memory of DuckDB, such as 2GB.")
    temp_directory: Text = member("DIR", "Folder of DuckDB's temporary files.")
    assume_unique: bool = flag("Skip the search for repeated ratings.", "--assume-unique")
    partitioned_by_unit: bool = flag(
        "Each file has all ratings of its units.", "--partitioned-by-unit"
    )

    @property
    def passed(self) -> str:
        """The passed options, for sentences; blank if there are none."""
        names = [name.replace("_", "-") for name, value in vars(self).items() if value]
        return ", ".join(f"--{name}" for name in names)


class LabelFiles(Group, panel=MEASURES):
    """Files about the labels, of which one may define the distance."""

    label_weights: Text = member(
        "FILE", "Table label,weight for weighted Jaccard; or '-log prevalence'."
    )
    taxonomy: Text = member(
        "FILE", "Table child,parent of a taxonomy; or the separator of paths, such as '/'."
    )
    taxonomy_credit: Text = member("NAME", "ancestors (default), wu_palmer or lin.")
    label_distances: Text = member("FILE", "Square table of distances, for transport.")
    embeddings: Text = member("FILE", "Table with a vector per label.")
    embedding_match: Text = member("NAME", "centroid (default) or transport.")

    @property
    def passed(self) -> dict[str, str]:
        """The files, or what is passed in place of one, by the names of their options."""
        names = ("label_weights", "taxonomy", "label_distances", "embeddings")
        values = {name.replace("_", "-"): getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def paths(self) -> list[str]:
        """The files that are read; a separator of paths is not a file."""
        return [value for value in self.passed.values() if not is_separator(value)]


class _Named(Group):
    coefficient: Coefficients = None
    distance: Distances = None


class Measures(LabelFiles, _Named):
    """Coefficients and distances; without any, the defaults of the command."""


class Resampling(Group, panel=INFERENCE):
    """Number of random draws, and their seed."""

    resamples: Count = member("N", "Number of resamples (default: 2000).")
    seed: Seed = None


class Reshuffling(Resampling, panel=INFERENCE):
    """Number of reshuffles, and their seed."""

    resamples: Count = member("N", "Number of reshuffles (default: 9999, fewer for large files).")


class Delivery(Group, panel=OUTPUT):
    """Format and file of the results."""

    form: Text = member("AS", "table (default), json, csv, markdown or latex.", "--format", "-f")
    output: Path | None = member(
        "FILE", "File to write: .csv, .json, .md, .tex or .txt.", "--output", "-o"
    )
    escape: bool = flag("Keep spreadsheets from running text as formulas.", "--escape")
