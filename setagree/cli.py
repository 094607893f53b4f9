"""The command ``setagree``: options in, text out, no arithmetic."""

from __future__ import annotations

import glob
import inspect
import io
import json
import math
import os
import re
import shutil
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import pandas as pd
import typer
from rich.console import Console
from rich.table import Table

import setagree as sa
from setagree.distances import distance_names, get_distance
from setagree.errors import FileError, OptionError, SetagreeError, SetagreeWarning, check_choice
from setagree.labels import Label
from setagree.scoring import COEFFICIENTS
from setagree.sources import guess_columns, guess_wide_unit, read_table, with_missing_ids

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

HELP = """[bold]setagree score study.csv[/bold]

[not dim]How far do raters agree when each answer is a set of labels?[/]"""

SCORE_HELP = """[bold]setagree score study.csv[/bold]

[not dim]Alpha and Fleiss' kappa (MASI) of a table: a row for each unit and rater. Also:[/]

setagree score study.csv --unit doc --rater who --labels tags --blank empty
setagree score wide.csv --wide -d masi,jaccard --format json
setagree score 'round-*.csv' --value stars -c cohen_kappa -d nominal,linear
"""

COLUMNS = "Columns (where not named: guessed, and the guess is printed)"
ANSWERS = "How the file is read"
RESULTS = "Results (repeat -c and -d, or use commas)"


def _option(panel: str, metavar: str, text: str, *names: str) -> Any:
    look: dict[str, Any] = {"rich_help_panel": panel, "metavar": metavar, "show_default": False}
    return typer.Option(*names, help=text, **look)


Text: TypeAlias = str | None
Texts: TypeAlias = list[str] | None

File = Annotated[str, typer.Argument(metavar="FILE", help="CSV or TSV; or a pattern in quotes.")]
Unit = Annotated[Text, _option(COLUMNS, "COLUMN", "What was rated.")]
Rater = Annotated[Text, _option(COLUMNS, "COLUMN", "Who rated it.")]
Labels = Annotated[Text, _option(COLUMNS, "COLUMN", "The answers, each a set of labels.")]
Value = Annotated[Text, _option(COLUMNS, "COLUMN", "The answers, each one number or word.")]
Wide = Annotated[bool, _option(COLUMNS, "", "Each rater has a column of answers.", "--wide")]
Raters = Annotated[Texts, _option(COLUMNS, "COLUMN", "With --wide: their columns, if not all.")]
Kind = Annotated[Text, _option(COLUMNS, "KIND", "With --wide: labels (default) or value.")]
Sep = Annotated[str, _option(ANSWERS, "TEXT", "Between two labels (default: a comma).")]
Blank = Annotated[Text, _option(ANSWERS, "HOW", "A blank cell: missing (default), empty, error.")]
Duplicates = Annotated[str, _option(ANSWERS, "HOW", "Rated twice: error, first, last or union.")]
Case = Annotated[str, _option(ANSWERS, "HOW", "keep (default), or lower to make Joy joy.")]
Codebook = Annotated[Text, _option(ANSWERS, "LABELS", "All there are: a,b,c or a file of lines.")]
Encoding = Annotated[str, _option(ANSWERS, "NAME", "How bytes spell text (default: utf-8).")]
Delimiter = Annotated[Text, _option(ANSWERS, "CHAR", "Between two columns (default: guessed).")]
Coefficients = Annotated[
    Texts, _option(RESULTS, "NAME", "List: setagree coefficients.", "--coefficient", "-c")
]
Distances = Annotated[
    Texts, _option(RESULTS, "NAME", "List: setagree distances.", "--distance", "-d")
]
Level = Annotated[float, _option(RESULTS, "SHARE", "Of the interval (default: 0.95).")]
Format = Annotated[Text, _option(RESULTS, "AS", "table, json, csv, markdown.", "--format", "-f")]
Output = Annotated[
    Path | None,
    _option(RESULTS, "FILE", "Write it; .json, .csv, .md set the format.", "--output", "-o"),
]


@app.callback(help=HELP, invoke_without_command=True)
def start(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Measure how far raters agree."""
    if version:
        sys.stdout.write(f"setagree {sa.__version__}\n")
    elif context.invoked_subcommand is None:
        sys.stdout.write(context.get_help())


@app.command(help=SCORE_HELP, short_help="Score how far the raters of a file agree.")
def score(
    file: File,
    *,
    unit: Unit = None,
    rater: Rater = None,
    labels: Labels = None,
    value: Value = None,
    wide: Wide = False,
    raters: Raters = None,
    kind: Kind = None,
    sep: Sep = ",",
    blank: Blank = None,
    duplicates: Duplicates = "error",
    case: Case = "keep",
    codebook: Codebook = None,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    coefficient: Coefficients = None,
    distance: Distances = None,
    level: Level = 0.95,
    form: Format = None,
    output: Output = None,
) -> None:
    """Score how far the raters of a file agree."""
    with _sentences():
        write = WRITERS[_format(form, output)]
        _check_output(output, file)
        sep = _unescaped(sep)
        reading: dict[str, Any] = {"sep": sep, "blank": blank, "case": case}
        reading["duplicates"] = duplicates
        reading["codebook"] = _codebook(codebook, sep, encoding)
        long_only: dict[str, Any] = {"rater": rater, "labels": labels, "value": value}
        wide_only: dict[str, Any] = {"raters": _names(raters), "kind": kind}
        _check_layout(wide_only if not wide else long_only, wide=wide)
        frame = read_table(file, encoding=encoding, sep=delimiter and _unescaped(delimiter))
        if wide:
            study = _wide(frame, unit, wide_only, reading)
        else:
            study = _long(frame, {"unit": unit, **long_only}, reading)
        asked = {"coefficients": _names(coefficient), "distances": _names(distance)}
        given: dict[str, Any] = {option: names for option, names in asked.items() if names}
        _deliver(write(sa.agreement(study, level=level, **given)), output)


@app.command("distances")
def list_distances() -> None:
    """List the distances by name."""
    _print_list({name: inspect.getdoc(get_distance(name)) for name in distance_names()})


@app.command("coefficients")
def list_coefficients() -> None:
    """List the coefficients by name."""
    _print_list({name: inspect.getdoc(getattr(sa, name)) for name in COEFFICIENTS})


def run() -> int:
    """Run the command and return its exit code; a wrong option is one sentence, too."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal may not know the sign for "squared"
    try:
        code = app(prog_name="setagree", standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return _hang_up()
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        _say(f"Error: {error.format_message().rstrip('.')}. See 'setagree --help'.")
        return 2
    return code or 0


def _long(
    frame: pd.DataFrame, named: Mapping[str, Any], reading: Mapping[str, Any]
) -> sa.Annotations:
    columns = guess_columns(frame.columns, **named)
    if columns.guessed:
        _say(f"Columns guessed: {columns}")
    names = {role: getattr(columns, role) for role in ("unit", "rater", "labels", "value")}
    frame = with_missing_ids(frame, [columns.unit, columns.rater])
    return sa.Annotations.from_long(frame, **names, **reading)


def _wide(
    frame: pd.DataFrame, unit: Text, options: Mapping[str, Any], reading: Mapping[str, Any]
) -> sa.Annotations:
    given = {option: value for option, value in options.items() if value}
    if unit is None:
        raters = given.get("raters")
        unit = guess_wide_unit(frame.drop(columns=raters or [], errors="ignore"))
        raters = raters or [name for name in frame if name != unit]
        shown = ", ".join(raters[:8]) + (", ..." if len(raters) > 8 else "")
        _say(f"Columns guessed: unit = {unit or 'none, one a row'}, raters = {shown}")
    frame = with_missing_ids(frame, [unit])
    return sa.Annotations.from_wide(frame, unit=unit, **given, **reading)


def _check_layout(misplaced: Mapping[str, Any], *, wide: bool) -> None:
    for option, value in misplaced.items():
        if value:
            place = "without" if wide else "with"
            raise OptionError(f"--{option} makes sense only {place} --wide.")


def _codebook(text: Text, sep: str, encoding: str) -> list[Label] | None:
    """Return the labels that are listed in a file, or in the text itself."""
    if text is None:
        return None
    is_file = sep not in text and (Path(text).suffix or os.sep in text)
    lines = _lines(Path(text), encoding) if is_file else [text]
    sets = [sa.parse_labels(line, sep=sep) for line in lines]
    return sorted(set().union(*(labels for labels in sets if labels)))


def _lines(path: Path, encoding: str) -> list[str]:
    try:
        return path.read_text(encoding=encoding).lstrip("\ufeff").splitlines()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"The codebook {str(path)!r} cannot be read: {reason}.") from error


def _names(given: Sequence[str] | None) -> list[str]:
    """Return the names of a repeated option, each of which may hold several."""
    return [name.strip() for names in given or () for name in names.split(",") if name.strip()]


def _unescaped(text: str) -> str:
    return {r"\t": "\t", r"\n": "\n"}.get(text, text)


def _as_table(table: sa.AgreementTable) -> str:
    return f"{table}\n"


def _as_json(table: sa.AgreementTable) -> str:
    rows = table.to_frame().astype(object).to_dict("records")
    plain = [{name: _json_value(value) for name, value in row.items()} for row in rows]
    return json.dumps(plain, indent=2, allow_nan=False) + "\n"


def _json_value(value: Any) -> Any:
    """Return what JSON can say: null for what is no finite number."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _as_csv(table: sa.AgreementTable) -> str:
    return table.to_frame().to_csv(index=False, lineterminator="\n")


def _as_markdown(table: sa.AgreementTable) -> str:
    frame = table.to_frame()
    rule = ["---:" if pd.api.types.is_numeric_dtype(kind) else ":---" for kind in frame.dtypes]
    rows = [
        [str(name) for name in frame],
        rule,
        *([_markdown_cell(v) for v in row] for row in frame.to_numpy()),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _markdown_cell(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value).replace("|", r"\|")


WRITERS = {"table": _as_table, "json": _as_json, "csv": _as_csv, "markdown": _as_markdown}
ENDINGS = {".json": "json", ".csv": "csv", ".md": "markdown"}


def _format(form: Text, output: Path | None) -> str:
    """Return the format that is asked for, or that the ending of the file asks for."""
    if form is None:
        return ENDINGS.get(output.suffix.lower(), "table") if output else "table"
    check_choice("format", form, list(WRITERS))
    return form


def _check_output(output: Path | None, file: str) -> None:
    """Refuse, before any work, an output that could not or should not be replaced."""
    if output is None:
        return
    if not output.parent.is_dir():
        raise FileError(f"There is no folder {str(output.parent)!r} to write {output.name!r} into.")
    if output.exists() and not output.is_file():
        raise FileError(f"{str(output)!r} is no file that could be replaced.")
    inputs = [Path(file), *map(Path, glob.glob(file, recursive=True))]  # noqa: PTH207
    if any(each.exists() and output.exists() and each.samefile(output) for each in inputs):
        raise FileError(f"{str(output)!r} is the input; it is never changed.")


def _deliver(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        _replace(output.resolve(), text)
    except OSError as error:
        reason = error.strerror or error
        raise FileError(f"{str(output)!r} cannot be written: {reason}.") from error


def _replace(path: Path, text: str) -> None:
    """Write a file beside the old one and let it take its place when it is whole."""
    beside = path.with_name(f".{path.name[:40]}.{os.getpid()}.tmp")
    try:
        with beside.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _print_list(docs: Mapping[str, str | None]) -> None:
    """Print names with the first line of what is written about them."""
    grid = Table.grid(padding=(0, 2))
    for name, doc in docs.items():
        grid.add_row(
            name, (doc or "").partition("\n")[0].removeprefix("Return ").replace("\\|", "|")
        )
    Console(markup=False, highlight=False).print(grid)


@contextmanager
def _sentences() -> Iterator[None]:
    """Say each warning in a line; turn bad input into a sentence and exit code 2."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", SetagreeWarning)
        warnings.showwarning = _show_warning
        try:
            yield
        except SetagreeError as error:
            _say(f"Error: {error}")
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        except BrokenPipeError:
            raise typer.Exit(_hang_up()) from None
        except OSError as error:
            _hang_up()
            _say(f"Error: the results cannot be written: {error.strerror or error}.")
            raise typer.Exit(2) from None


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    _say(f"Warning: {message}")


_PYTHON_OPTION = re.compile(
    r"\b(unit|raters?|labels|value|kind|sep|blank|case|codebook|duplicates|encoding|format|level)="
)


def _say(sentence: str) -> None:
    """Write one line to stderr, with options spelled as on the command line."""
    line = " ".join(_PYTHON_OPTION.sub(r"--\1 ", sentence).splitlines())
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    sys.stderr.write(f"{safe}\n")
    sys.stderr.flush()


def _hang_up() -> int:
    """Let nobody write to a pipe that nobody reads, not even Python at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
